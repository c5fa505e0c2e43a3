/* start_value.h -- the mean loss at a point that is known beforehand, released once with noise of both signs: noise of
 * one sign would leave values that only one of two neighbours can give.
 * Depends on: oracle.h, privacy/accounting/allowance.h.  Used by: second_order*.c. */
#ifndef PN_ORACLE_START_VALUE_H
#define PN_ORACLE_START_VALUE_H

#include "oracle/oracle.h"
#include "privacy/accounting/allowance.h"

typedef struct pn_start_value {
    pn_objective *objective;
    pn_neighbours neighbours;
    pn_interval each;            /* of every record's loss there */
    double bound;                /* on its size: public */
    bool data_free;              /* `each` is of width 0 but for rounding */
    double cost, z, sensitivity; /* of releasing it, the cost in the allowance's unit; 0: not released */
} pn_start_value;

/** What is public of it; infinite where nothing is known.  Errors: PN_ENOMEM. */
pn_status pn_start_value_read(pn_start_value *out, pn_objective *objective, pn_neighbours neighbours,
                              const double *start, pn_err *err);
/** Its noise and price, for that share of the allowance; 0: it is not released.  Errors: as pn_allowance_noise. */
pn_status pn_start_value_pay(pn_start_value *self, const pn_allowance *allowance, double share, pn_err *err);
/** The plan asks for it, if it is paid for.  Errors: PN_ENOMEM. */
pn_status pn_start_value_ask(const pn_start_value *self, pn_plan *plan, const char *label, pn_err *err);
/** *value at that start.  Errors: as pn_objective_losses and pn_ask_masked. */
pn_status pn_ask_start_value(pn_oracle *ask, const pn_start_value *self, const double *start, double *value,
                             pn_err *err);

#endif
