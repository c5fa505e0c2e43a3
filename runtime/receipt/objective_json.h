/* objective_json.h -- what is public and certified of an objective, as JSON.
 * Depends on: objective, jansson.  Used by: fit_receipt.c. */
#ifndef PN_RECEIPT_OBJECTIVE_JSON_H
#define PN_RECEIPT_OBJECTIVE_JSON_H

#include <jansson.h>

#include "objective/passes/objective.h"

/** knows_n: the number of records is public.  NULL without memory. */
json_t *pn_receipt_objective(const pn_objective *objective, bool knows_n);

#endif
