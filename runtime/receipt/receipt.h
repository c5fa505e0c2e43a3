/* receipt.h -- what was done to the records, for whoever was not there: JSON from which every sensitivity and every
 * price can be worked out again.  receipt.md is the schema.  No number in it depends on the records but for what was
 * released: of a private run theta's digest, how many steps were made and why it ended.
 * Depends on: solvers, continual, privacy/ledger, jansson, libsodium.  Used by: model, bindings. */
#ifndef PN_RECEIPT_RECEIPT_H
#define PN_RECEIPT_RECEIPT_H

#include "continual/prefix.h"
#include "core/status.h"
#include "privacy/ledger/ledger.h"
#include "solvers/engine/solver.h"

/* lua: the version of the host's Lua, NULL without.  *out: allocated, the caller's to free. */

/** Of a run.  Errors: PN_EUNSUPPORTED for one without privacy, whose numbers nothing protects; PN_ENOMEM. */
pn_status pn_fit_receipt(char **out, const pn_fit *fit, const pn_plan *plan, const char *lua, pn_err *err);

/** Of a stream, whatever it has pushed.  Errors: PN_EUNSUPPORTED for one without noise; PN_ENOMEM. */
pn_status pn_prefix_receipt(char **out, const pn_prefix *stream, const char *lua, pn_err *err);

/** Of a ledger, with its slices and parts.  Errors: PN_EUNSUPPORTED for one that is kept in another process, which does
 *  not show its charges; PN_ENOMEM. */
pn_status pn_ledger_receipt(char **out, const pn_ledger *ledger, const char *lua, pn_err *err);

/** What a receipt says, in a few lines for people.  Errors: PN_EPARSE for text that is no receipt; PN_ENOMEM. */
pn_status pn_receipt_words(char **out, const char *json, pn_err *err);

/** What the relation's neighbours differ in, as a receipt and the card of a model say it. */
const char *pn_relation_in_words(pn_neighbours relation);

#endif
