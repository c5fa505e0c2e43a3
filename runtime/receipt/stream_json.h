/* stream_json.h -- what is public of a running sum, as JSON.  Depends on: continual, jansson.
 * Used by: fit_receipt.c, stream_receipt.c. */
#ifndef PN_RECEIPT_STREAM_JSON_H
#define PN_RECEIPT_STREAM_JSON_H

#include <jansson.h>

#include "continual/prefix.h"

/** NULL without memory. */
json_t *pn_receipt_design(const pn_prefix_design *design);

#endif
