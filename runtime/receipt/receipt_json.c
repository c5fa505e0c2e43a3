/* receipt_json.c -- see receipt_json.h.
 * Depends on: receipt_json.h, privacy/text, recipe (pn_json_text), jansson, libsodium.  Used by: the receipts. */
#include <math.h>
#include <string.h>

#include <sodium.h>

#include "core/alloc.h"
#include "penumbra/version.h"
#include "privacy/event/event_leaf.h"
#include "privacy/text/event_text.h"
#include "receipt/receipt_json.h"
#include "recipe/recipe_spec.h"

#define DIGEST   32
#define MAX_ARGS 16

json_t *pn_receipt_real(double x)
{
    if (isnan(x))
        return json_null();
    return isinf(x) ? json_string(x > 0.0 ? "inf" : "-inf") : json_real(x);
}

json_t *pn_receipt_range(double low, double high)
{
    return json_pack("{s:o, s:o}", "low", pn_receipt_real(low), "high", pn_receipt_real(high));
}

json_t *pn_receipt_norms(const double *of)
{
    return json_pack("{s:o, s:o, s:o}", "l1", pn_receipt_real(of[PN_L1]), "l2", pn_receipt_real(of[PN_L2]), "linf",
                     pn_receipt_real(of[PN_LINF]));
}

bool pn_receipt_set(json_t *object, const char *name, json_t *value)
{
    return json_object_set_new(object, name, value) == 0; /* takes `value` over, also when it fails */
}

/* ---- events ---- */

static json_t *vector_of(const pn_vec *of)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < of->n; i++) {
        if (json_array_append_new(list, pn_receipt_real(of->data[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* A function of the caller's has no text: null. */
static json_t *parameter_of(const pn_param *param, const pn_arg *arg)
{
    switch (param->kind) {
    case PN_REAL:
        return pn_receipt_real(arg->real);
    case PN_COUNT:
        return json_integer((json_int_t)arg->count);
    case PN_FLAG:
        return json_boolean(arg->flag);
    case PN_CHOICE:
        return json_string(arg->text ? arg->text : param->choices[arg->count]);
    case PN_VECTOR:
        return arg->given ? vector_of(&arg->vector) : json_null();
    case PN_OBJECT:
        if (arg->object && strcmp(param->choices[0], "pn.event") == 0)
            return pn_receipt_event(arg->object);
        return json_null();
    default:
        return json_null();
    }
}

static json_t *parameters_of(const pn_event *event)
{
    pn_arg args[MAX_ARGS] = { 0 };
    json_t *all = json_object();
    bool fine = all != NULL;

    event->ops->args(event, args);
    for (size_t i = 0; fine && event->ops->params[i].name; i++)
        fine = pn_receipt_set(all, event->ops->params[i].name, parameter_of(&event->ops->params[i], &args[i]));
    if (fine)
        return all;
    json_decref(all);
    return NULL;
}

static json_t *parts_of(const pn_term *terms, size_t count)
{
    json_t *list = json_array();

    for (size_t i = 0; list && i < count; i++) {
        if (json_array_append_new(list, pn_receipt_times(terms[i].event, terms[i].count)) != 0) {
            json_decref(list);
            return NULL;
        }
    }
    return list;
}

/* As ledgers write it; one that has no text is described. */
static json_t *text_of(const pn_event *event)
{
    pn_plain_numbers plain;
    pn_text text = { 0 };
    char described[512];
    json_t *made = NULL;
    pn_status status;

    if (pn_plain_begin(&plain, NULL) != PN_OK)
        return NULL;
    pn_event_describe(event, described, sizeof described);
    status = pn_event_write(&text, event, event->neighbours, NULL);
    if (status == PN_OK)
        made = json_string(text.data);
    else if (status != PN_ENOMEM)
        made = json_string(described);
    pn_text_clear(&text);
    pn_plain_end(&plain);
    return made;
}

json_t *pn_receipt_event(const pn_event *event)
{
    size_t count;
    const pn_term *terms = pn_event_terms(event, &count);

    return json_pack("{s:s, s:s, s:o, s:o}", "kind", terms ? "compose" : event->ops->name, "neighbours",
                     pn_neighbours_names[event->neighbours], terms ? "parts" : "parameters",
                     terms ? parts_of(terms, count) : parameters_of(event), "text", text_of(event));
}

json_t *pn_receipt_times(const pn_event *event, size_t times)
{
    return json_pack("{s:I, s:o}", "times", (json_int_t)times, "event", pn_receipt_event(event));
}

/* ---- bases ---- */

json_t *pn_receipt_basis(const pn_basis *basis)
{
    json_t *numbers = json_object();
    bool fine = numbers != NULL;

    for (size_t i = 0; fine && i < basis->count; i++)
        fine = pn_receipt_set(numbers, basis->numbers[i].name, pn_receipt_real(basis->numbers[i].value));
    if (!fine || !basis->rule) {
        json_decref(numbers);
        return fine ? json_null() : NULL;
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "rule", basis->rule, "norm", basis->norm,
                     "contributions", pn_receipt_real(basis->contributions), "contribution",
                     pn_receipt_real(basis->contribution), "factor", pn_receipt_real(basis->factor), "divisor",
                     pn_receipt_real(basis->divisor), "rounding", pn_receipt_real(pn_basis_rounding(basis)), "value",
                     pn_receipt_real(basis->value), "numbers", numbers);
}

/* ---- digests ---- */

json_t *pn_receipt_digest(const void *bytes, size_t size)
{
    unsigned char digest[DIGEST];
    char hex[2 * DIGEST + 1];

    (void)crypto_generichash(digest, sizeof digest, bytes, size, NULL, 0);
    (void)sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
    return json_string(hex);
}

bool pn_receipt_add_lines(pn_text *lines, const pn_event *event, size_t times)
{
    size_t count;
    const pn_term *terms = pn_event_terms(event, &count);
    const pn_term alone = { (pn_event *)event, 1 };

    if (!terms) {
        terms = &alone;
        count = 1;
    }
    for (size_t i = 0; i < count; i++) {
        json_t *text = text_of(terms[i].event);

        if (!text)
            return false;
        pn_text_add(lines, "%zu %s\n", terms[i].count * times, json_string_value(text));
        json_decref(text);
    }
    return !lines->failed;
}

json_t *pn_receipt_charge_digest(const pn_event *event, size_t times)
{
    pn_text lines = { 0 };
    bool fine = !event || pn_receipt_add_lines(&lines, event, times);
    json_t *made = fine ? pn_receipt_digest(lines.data ? lines.data : "", lines.used) : NULL;

    pn_text_clear(&lines);
    return made;
}

/* ---- the whole ---- */

const char *pn_relation_in_words(pn_neighbours relation)
{
    switch (relation) {
    case PN_REPLACE_ONE:
        return "two data sets that differ in the values of one record; their number is public";
    case PN_ADD_REMOVE:
        return "two data sets of which one has one record more";
    case PN_ZERO_OUT:
        return "two data sets of which one has a null record in place of a record; their number is public";
    }
    return "neighbours";
}

json_t *pn_receipt_begin(const char *subject, pn_neighbours neighbours, bool simulated, const char *lua)
{
    return json_pack("{s:s, s:i, s:s, s:{s:s, s:s?}, s:{s:s, s:o, s:s}, s:{s:s, s:b}}", "format", PN_RECEIPT_FORMAT,
                     "schema", PN_RECEIPT_SCHEMA, "subject", subject, "versions", "library", pn_version(), "lua", lua,
                     "neighbours", "relation", pn_neighbours_names[neighbours], "contributions",
                     pn_receipt_real(pn_contributions(neighbours)), "words", pn_relation_in_words(neighbours), "noise",
                     "source", simulated ? "simulated" : "secure", "protects", (int)!simulated);
}

pn_status pn_receipt_text(char **out, json_t *root, pn_err *err)
{
    char *made = NULL, *ended;
    pn_status status = pn_json_text(&made, root, JSON_INDENT(1) | JSON_SORT_KEYS, "receipt", err);
    size_t size;

    json_decref(root);
    if (status != PN_OK)
        return status;
    size = strlen(made);
    ended = pn_resize(made, size + 2, 1);
    if (!ended) {
        pn_free(made);
        return pn_fail(err, PN_ENOMEM, "receipt: out of memory for its JSON");
    }
    memcpy(ended + size, "\n", 2);
    *out = ended;
    return PN_OK;
}
