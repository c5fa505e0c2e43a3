/* lnorm.h -- what the parts of the binding of norms share.  Depends on: pnl.h.  Used by: lnorm*.c. */
#ifndef PNL_LNORM_H
#define PNL_LNORM_H

#include "bindings/core/pnl.h"

/* lnorm_custom.c: pn.norm.custom and what it takes */
int pnl_norm_custom(lua_State *L);
extern const char pnl_norm_custom_signature[], pnl_norm_custom_doc[];
extern const pn_param pnl_norm_custom_params[];

#endif
