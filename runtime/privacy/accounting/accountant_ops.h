/* accountant_ops.h -- the table in accountant.c, for others of the room.  Private to privacy/.
 * Depends on: accountant.h. */
#ifndef PN_PRIVACY_ACCOUNTANT_OPS_H
#define PN_PRIVACY_ACCOUNTANT_OPS_H

#include "privacy/accounting/accountant.h"

#define PN_DECLARE(name) extern const pn_accountant_ops pn_accountant_##name##_ops;
PN_ACCOUNTANTS(PN_DECLARE)
#undef PN_DECLARE

/** pn_accountant_from_args for another function, which messages about the name then name. */
pn_status pn_accountant_open(pn_accountant **out, const char *caller, const char *name, pn_arg *args, pn_err *err);

#endif
