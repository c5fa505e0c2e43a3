/* receipt_words.c -- a receipt for people: a few lines.
 * Depends on: receipt.h, receipt_json.h, core/text.h, jansson.  Used by: bindings. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/json.h"
#include "privacy/text/ledger_text.h"
#include "receipt/receipt.h"
#include "receipt/receipt_json.h"

static const char *word(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));

    return text ? text : "?";
}

/* "0.5", "inf", or "unknown". */
static void number(char *out, size_t size, const json_t *value)
{
    if (json_is_number(value))
        (void)snprintf(out, size, "%.6g", json_number_value(value));
    else
        (void)snprintf(out, size, "%s", json_is_string(value) ? json_string_value(value) : "unknown");
}

static void add_price(pn_text *text, const json_t *price)
{
    char epsilon[40], delta[40], rho[40];

    number(epsilon, sizeof epsilon, json_object_get(price, "epsilon"));
    number(delta, sizeof delta, json_object_get(price, "delta"));
    number(rho, sizeof rho, json_object_get(price, "rho"));
    if (json_is_null(json_object_get(price, "epsilon")))
        pn_text_add(text, "rho = %s", rho);
    else
        pn_text_add(text, "epsilon = %s, delta = %s", epsilon, delta);
}

static void add_charge(pn_text *text, const json_t *charge)
{
    json_t *event = json_object_get(charge, "event");

    if (!event) {
        pn_text_add(text, "nothing");
        return;
    }
    pn_text_add(text, "%lld x %.400s", (long long)json_integer_value(json_object_get(charge, "times")),
                word(event, "text"));
}

static void add_fit(pn_text *text, const json_t *root)
{
    json_t *plan = json_object_get(root, "plan"), *run = json_object_get(root, "run");

    pn_text_add(text, "\n  solver     %s, %lld of %lld steps%s%s", word(plan, "solver"),
                (long long)json_integer_value(json_object_get(run, "steps")),
                (long long)json_integer_value(json_object_get(plan, "steps")),
                json_is_string(json_object_get(run, "stopped")) ? ", stopped: " : "",
                json_is_string(json_object_get(run, "stopped")) ? word(run, "stopped") : "");
    pn_text_add(text, "\n  guarantee  ");
    add_price(text, json_object_get(json_object_get(root, "guarantee"), "price"));
    pn_text_add(text, ", by the %s accountant", word(plan, "accountant"));
    pn_text_add(text, "\n  planned    ");
    add_charge(text, json_object_get(plan, "charge"));
    pn_text_add(text, "\n  charged    ");
    add_charge(text, json_object_get(run, "paid"));
}

static void add_ledger(pn_text *text, const json_t *root)
{
    json_t *ledger = json_object_get(root, "ledger"), *entries = json_object_get(ledger, "entries");
    json_t *row;
    size_t i;

    pn_text_add(text, "\n  budget     ");
    add_price(text, json_object_get(json_array_get(json_object_get(root, "stops"), 0), "price"));
    pn_text_add(text, ": holds wherever the analyst stops");
    json_array_foreach(entries, i, row)
    {
        pn_text_add(text, "\n  charged    %.80s: ", word(row, "label"));
        add_charge(text, row);
    }
    pn_text_add(text, "\n  below it   %zu slices and parts", json_array_size(json_object_get(ledger, "children")));
}

static void add_stream(pn_text *text, const json_t *root)
{
    pn_text_add(text, "\n  sums       %.200s", word(json_object_get(root, "stream"), "words"));
    pn_text_add(text, "\n  guarantee  ");
    add_price(text, json_object_get(json_array_get(json_object_get(root, "stops"), 1), "price"));
    pn_text_add(text, ", for all leaves together");
    pn_text_add(text, "\n  charged    ");
    add_charge(text, json_object_get(json_object_get(root, "run"), "paid"));
}

static void add_head(pn_text *text, const json_t *root)
{
    json_t *neighbours = json_object_get(root, "neighbours");
    bool protects = json_is_true(json_object_get(json_object_get(root, "noise"), "protects"));

    pn_text_add(text, "receipt of a %s, penumbra %s, schema %d", word(root, "subject"),
                word(json_object_get(root, "versions"), "library"),
                (int)json_integer_value(json_object_get(root, "schema")));
    if (!protects)
        pn_text_add(text, "\n  simulated  the noise was seeded: nothing here protects anybody");
    pn_text_add(text, "\n  neighbours %s: %s", word(neighbours, "relation"), word(neighbours, "words"));
}

pn_status pn_receipt_words(char **out, const char *json, pn_err *err)
{
    json_error_t wrong;
    json_t *root = json_loads(json, 0, &wrong);
    pn_text text = { 0 };

    if (!root && pn_json_status(&wrong) == PN_ENOMEM)
        return pn_fail(err, PN_ENOMEM, "receipt: out of memory for the JSON");
    if (!root || strcmp(word(root, "format"), PN_RECEIPT_FORMAT) != 0) {
        json_decref(root);
        return pn_fail(err, PN_EPARSE, "receipt: this is no receipt");
    }
    add_head(&text, root);
    if (strcmp(word(root, "subject"), "fit") == 0)
        add_fit(&text, root);
    else if (strcmp(word(root, "subject"), "ledger") == 0)
        add_ledger(&text, root);
    else
        add_stream(&text, root);
    json_decref(root);
    if (text.failed) {
        pn_text_clear(&text);
        return pn_fail(err, PN_ENOMEM, "receipt: out of memory for its text");
    }
    *out = text.data;
    return PN_OK;
}
