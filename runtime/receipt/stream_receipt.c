/* stream_receipt.c -- the receipt of a running sum.  Depends on: receipt.h, receipt_json.h, stream_json.h.
 * Used by: bindings. */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "receipt/receipt.h"
#include "receipt/receipt_json.h"
#include "receipt/stream_json.h"

/* (epsilon, delta) where that was asked for; else rho. */
static json_t *price_of(const pn_prefix_options *options, const pn_event *event)
{
    bool curve = options->epsilon > 0.0;

    return json_pack("{s:o, s:o, s:o}", "epsilon",
                     pn_receipt_real(curve ? pn_event_epsilon(event, 1, options->delta, NULL) : (double)NAN), "delta",
                     pn_receipt_real(curve ? options->delta : (double)NAN), "rho",
                     pn_receipt_real(event->ops->zcdp(event)));
}

/* One price for all leaves, of whatever number, chosen adaptively; before the first nothing is paid. */
static json_t *stops_of(const pn_prefix_options *options, const pn_event *event)
{
    bool curve = options->epsilon > 0.0;
    double none = curve ? 0.0 : (double)NAN;

    return json_pack("[{s:b, s:I, s:I, s:{s:o, s:o, s:o}}, {s:b, s:I, s:o, s:o}]", "charged", 0, "from", (json_int_t)0,
                     "to", (json_int_t)0, "price", "epsilon", pn_receipt_real(none), "delta", pn_receipt_real(none),
                     "rho", pn_receipt_real(0.0), "charged", 1, "from", (json_int_t)1, "to",
                     options->horizon ? json_integer((json_int_t)options->horizon) : json_null(), "price",
                     price_of(options, event));
}

static bool fill(json_t *root, const pn_prefix *stream)
{
    const pn_prefix_design *design = pn_prefix_design_of(stream);
    const pn_prefix_options *options = pn_prefix_options_of(design);
    const pn_event *event = pn_prefix_design_event(design), *paid = pn_prefix_is_paid(stream) ? event : NULL;
    bool fine = pn_receipt_set(root, "stream", pn_receipt_design(design));

    fine = fine && pn_receipt_set(root, "charge", pn_receipt_times(event, 1));
    fine = fine && pn_receipt_set(root, "stops", stops_of(options, event));
    fine = fine && pn_receipt_set(root, "run",
                                  json_pack("{s:I, s:o}", "leaves", (json_int_t)pn_prefix_count(stream), "paid",
                                            paid ? pn_receipt_times(paid, 1) : json_null()));
    return fine && pn_receipt_set(root, "digests",
                                  json_pack("{s:o, s:o}", "plan", pn_receipt_charge_digest(event, 1), "paid",
                                            pn_receipt_charge_digest(paid, 1)));
}

pn_status pn_prefix_receipt(char **out, const pn_prefix *stream, const char *lua, pn_err *err)
{
    const pn_prefix_design *design = pn_prefix_design_of(stream);
    json_t *root;

    if (!pn_prefix_design_event(design))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "receipt: the stream has no noise, so there is nothing that a receipt could state");
    root = pn_receipt_begin("stream", pn_prefix_options_of(design)->neighbours, pn_prefix_simulated(stream), lua);
    if (root && !fill(root, stream)) {
        json_decref(root);
        root = NULL;
    }
    return pn_receipt_text(out, root, err);
}
