/* receipt_json.h -- what the receipts of fits, ledgers and streams share: events, digests and bases as JSON.  As in
 * recipe_write.c a call without memory gives NULL, which json_pack and pn_receipt_put refuse.
 * Depends on: oracle/basis.h, privacy, jansson.  Used by: fit_receipt.c, ledger_receipt.c, stream_receipt.c. */
#ifndef PN_RECEIPT_JSON_H
#define PN_RECEIPT_JSON_H

#include <stdbool.h>

#include <jansson.h>

#include "core/status.h"
#include "oracle/basis.h"
#include "privacy/event/event.h"
#include "privacy/text/ledger_text.h"

#define PN_RECEIPT_FORMAT "penumbra receipt"
#define PN_RECEIPT_SCHEMA 1

/** null is "not known" or "none", "inf" no bound; else a real number, with a point. */
json_t *pn_receipt_real(double x);
/** {"low": ..., "high": ...} */
json_t *pn_receipt_range(double low, double high);
/** {"l1": ..., "l2": ..., "linf": ...} of numbers in that order. */
json_t *pn_receipt_norms(const double *of);
/** The event with all its parameters, by the table of its kind. */
json_t *pn_receipt_event(const pn_event *event);
/** {"times": ..., "event": ...} */
json_t *pn_receipt_times(const pn_event *event, size_t times);
/** Null where nobody has said. */
json_t *pn_receipt_basis(const pn_basis *basis);
/** BLAKE2b-256 in hexadecimal. */
json_t *pn_receipt_digest(const void *bytes, size_t size);
/** Add the lines of a charge, for such a digest of several; false without memory. */
bool pn_receipt_add_lines(pn_text *lines, const pn_event *event, size_t times);
/** The digest of what was charged: of the lines "TIMES TEXT" and a line feed each, TEXT as in the event. */
json_t *pn_receipt_charge_digest(const pn_event *event, size_t times);

/** Format, schema, versions, relation and noise: what every receipt begins with.  lua: its version, NULL for hosts
 *  without. */
json_t *pn_receipt_begin(const char *subject, pn_neighbours neighbours, bool simulated, const char *lua);
/** Set a member, for members that are made one by one; false without memory. */
bool pn_receipt_set(json_t *object, const char *name, json_t *value);

/** *out = the document, allocated: sorted names, indented, and a line feed at its end.  Frees `root`.
 *  Errors: PN_ENOMEM. */
pn_status pn_receipt_text(char **out, json_t *root, pn_err *err);

#endif
