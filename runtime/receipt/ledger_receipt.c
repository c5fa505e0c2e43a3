/* ledger_receipt.c -- the receipt of a budget, its slices and its parts.
 * Depends on: receipt.h, receipt_json.h, privacy/ledger.  Used by: bindings. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/text.h"
#include "privacy/text/ledger_text.h"
#include "receipt/receipt.h"
#include "receipt/receipt_json.h"

#define DEEPEST 32 /* of slices in slices */

/* ---- one ledger ---- */

/* A label is whatever the caller wrote; JSON takes UTF-8 only, so bytes that are none become "\xHH". */
static json_t *label_of(const char *label)
{
    static const char digits[] = "0123456789abcdef";
    json_t *made;
    char *plain, *to;

    if (pn_text_is_utf8(label, strlen(label)))
        return json_string(label);
    to = plain = pn_alloc(4 * strlen(label) + 1, 1);
    if (!plain)
        return NULL;
    for (const unsigned char *c = (const unsigned char *)label; *c; c++) {
        if (*c < 128) {
            *to++ = (char)*c;
            continue;
        }
        *to++ = '\\';
        *to++ = 'x';
        *to++ = digits[*c >> 4];
        *to++ = digits[*c & 15];
    }
    *to = '\0';
    made = json_string(plain);
    pn_free(plain);
    return made;
}

static json_t *entries_of(const pn_ledger *ledger)
{
    size_t count = pn_ledger_entries(ledger);
    json_t *list = json_array();

    for (size_t i = 0; list && i < count; i++) {
        pn_charge charge = pn_ledger_entry(ledger, i);
        json_t *row = pn_receipt_times(charge.event, charge.count);

        if (!row || !pn_receipt_set(row, "label", label_of(charge.label)) || json_array_append(list, row) != 0) {
            json_decref(list);
            list = NULL;
        }
        json_decref(row);
    }
    return list;
}

static json_t *orders_of(const pn_ledger *ledger)
{
    size_t count = pn_ledger_order_count(ledger);
    json_t *list = count ? json_array() : json_null();

    for (size_t i = 0; list && i < count; i++) {
        bool alive;
        double order = pn_ledger_order(ledger, i, &alive);

        if (json_array_append_new(list,
                                  json_pack("{s:o, s:b}", "order", pn_receipt_real(order), "alive", (int)alive)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static const char *unit_of(const pn_budget *budget)
{
    return !isnan(budget->rho) ? "rho" : budget->alpha > 0.0 ? "divergence" : "epsilon";
}

static json_t *budget_of(const pn_ledger *ledger)
{
    const pn_budget *budget = pn_ledger_budget(ledger);
    const char *filter = strcmp(unit_of(budget), "epsilon") != 0 || budget->delta == 0.0 ? "sum"
                         : pn_ledger_gaussian(ledger)                                    ? "gaussian"
                                                                                         : "renyi";

    return json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:s, s:b}", "unit", unit_of(budget), "epsilon", pn_receipt_real(budget->epsilon),
        "delta", pn_receipt_real(isnan(budget->epsilon) ? (double)NAN : budget->delta), "rho",
        pn_receipt_real(budget->rho), "alpha", pn_receipt_real(budget->alpha > 0.0 ? budget->alpha : (double)NAN),
        "filter", filter, "teaching", (int)budget->teaching);
}

static json_t *ledger_of(const pn_ledger *ledger, int depth);

static json_t *children_of(const pn_ledger *ledger, int depth)
{
    json_t *list = json_array();
    const pn_ledger *child;

    for (size_t i = 0; list && depth < DEEPEST && (child = pn_ledger_child(ledger, i)) != NULL; i++) {
        if (json_array_append_new(list, ledger_of(child, depth + 1)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

static json_t *ledger_of(const pn_ledger *ledger, int depth)
{
    pn_slack slack = pn_ledger_slack(ledger);
    const char *name = pn_ledger_name(ledger), *ended = pn_ledger_ended(ledger);

    return json_pack("{s:o, s:o, s:o, s:s, s:o, s:o, s:{s:o, s:o, s:o}, s:s?, s:o}", "name",
                     name ? label_of(name) : json_null(), "budget", budget_of(ledger), "orders", orders_of(ledger),
                     "theorem", pn_ledger_theorem(ledger), "entries", entries_of(ledger), "spent",
                     pn_receipt_real(pn_ledger_spent(ledger)), "slack", "epsilon", pn_receipt_real(slack.epsilon),
                     "tail", pn_receipt_real(slack.tail), "window", pn_receipt_real(slack.window), "ended", ended,
                     "children", children_of(ledger, depth));
}

/* ---- the whole ---- */

static json_t *odometer_of(const pn_ledger *ledger)
{
    pn_odometer options = pn_ledger_odometer_default(ledger);
    size_t level;
    double epsilon = pn_ledger_odometer(ledger, &options, &level);

    return json_pack("{s:o, s:o, s:o, s:I}", "epsilon", pn_receipt_real(epsilon), "delta",
                     pn_receipt_real(options.delta), "first", pn_receipt_real(options.first), "level",
                     (json_int_t)level);
}

/* The budget holds wherever the analyst stops; so does the odometer's level. */
static json_t *stops_of(const pn_ledger *ledger)
{
    const pn_budget *budget = pn_ledger_budget(ledger);
    bool order = budget->alpha > 0.0; /* no (epsilon, delta): its epsilon is a divergence */

    return json_pack("[{s:b, s:{s:o, s:o, s:o}, s:o}]", "charged", (int)(pn_ledger_entries(ledger) > 0), "price",
                     "epsilon", pn_receipt_real(order ? (double)NAN : budget->epsilon), "delta",
                     pn_receipt_real(order || isnan(budget->epsilon) ? (double)NAN : budget->delta), "rho",
                     pn_receipt_real(budget->rho), "odometer", odometer_of(ledger));
}

static json_t *charged_digest(const pn_ledger *ledger)
{
    size_t count = pn_ledger_entries(ledger);
    pn_text lines = { 0 };
    json_t *made = NULL;
    bool fine = true;

    for (size_t i = 0; fine && i < count; i++) {
        pn_charge charge = pn_ledger_entry(ledger, i);

        fine = pn_receipt_add_lines(&lines, charge.event, charge.count);
    }
    if (fine && !lines.failed)
        made = pn_receipt_digest(lines.data ? lines.data : "", lines.used);
    pn_text_clear(&lines);
    return made;
}

static bool fill(json_t *root, const pn_ledger *ledger)
{
    char chain[PN_LEDGER_CHAIN];
    bool kept = pn_ledger_chain(ledger, chain);
    bool fine = pn_receipt_set(root, "ledger", ledger_of(ledger, 0));

    fine = fine && pn_receipt_set(root, "stops", stops_of(ledger));
    return fine &&
           pn_receipt_set(root, "digests",
                          json_pack("{s:o, s:s?}", "charged", charged_digest(ledger), "chain", kept ? chain : NULL));
}

pn_status pn_ledger_receipt(char **out, const pn_ledger *ledger, const char *lua, pn_err *err)
{
    const pn_budget *budget = pn_ledger_budget(ledger);
    json_t *root;

    if (pn_ledger_is_linked(ledger))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "receipt: the budget is kept in another process, which does not show its charges; ask there");
    root = pn_receipt_begin("ledger", budget->neighbours, budget->teaching, lua);
    if (root && !fill(root, ledger)) {
        json_decref(root);
        root = NULL;
    }
    return pn_receipt_text(out, root, err);
}
