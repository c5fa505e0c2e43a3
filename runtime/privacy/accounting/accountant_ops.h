/* accountant_ops.h -- the accountants of the table in accountant.c.  Private to privacy/.  Depends on: accountant.h. */
#ifndef PN_PRIVACY_ACCOUNTANT_OPS_H
#define PN_PRIVACY_ACCOUNTANT_OPS_H

#include "privacy/accounting/accountant.h"

extern const pn_accountant_ops pn_accountant_rdp_ops, pn_accountant_zcdp_ops, pn_accountant_pld_ops,
    pn_accountant_advanced_ops;

#endif
