/* regulariser.h -- terms r(theta) of an objective that depend on no record, so that no privacy is involved.
 * Depends on: options.h, prox.h. */
#ifndef PENUMBRA_REGULARISER_H
#define PENUMBRA_REGULARISER_H

#include "penumbra/options.h"
#include "penumbra/prox.h"
#include "penumbra/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_regulariser pn_regulariser;

/** A regulariser by name.  Errors: PN_EUNSUPPORTED for an unknown name (lists the known); PN_EINVAL, PN_EDOMAIN
 *  for options; PN_ENOMEM. */
pn_status pn_regulariser_new(pn_regulariser **out, const char *name, const pn_options *options, pn_err *err);

void pn_regulariser_free(pn_regulariser *regulariser); /* NULL allowed */

/** *out = the proximal operator of r, a new reference, whose value is r's; NULL when r = 0.
 *  Errors: PN_EUNSUPPORTED for r without a closed form (nonconvex, typed formulas); PN_ENOMEM. */
pn_status pn_regulariser_prox(const pn_regulariser *regulariser, pn_prox **out, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
