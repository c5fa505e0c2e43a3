/* event_text.c -- events as text that reads back to the same doubles: writing.  Depends on: event_text.h, core/.
 * Used by: ledger_record.c. */
#include <stdio.h>
#include <string.h>

#include "privacy/event/event_leaf.h"
#include "privacy/text/event_text.h"

#define MAX_PARAMS 16

static void add_number(pn_text *text, double value)
{
    char number[32];

    pn_shortest(value, number, sizeof number);
    pn_text_add(text, "%s", number);
}

static pn_status write_event(pn_text *text, const pn_event *event, pn_neighbours around, int depth, pn_err *err);

static bool is_fallback(const pn_param *param, const pn_arg *arg)
{
    if (!arg->given)
        return true;
    if (param->need == PN_REQUIRED)
        return false;
    switch (param->kind) {
    case PN_REAL:
        return arg->real == param->fallback;
    case PN_COUNT:
        return (double)arg->count == param->fallback;
    case PN_FLAG:
        return arg->flag == (param->fallback != 0.0);
    default:
        return false;
    }
}

static pn_status write_value(pn_text *text, const pn_event *event, const pn_param *param, const pn_arg *arg, int depth,
                             pn_err *err)
{
    pn_text_add(text, "%s=", param->name);
    switch (param->kind) {
    case PN_REAL:
        add_number(text, arg->real);
        return PN_OK;
    case PN_COUNT:
        pn_text_add(text, "%zu", arg->count);
        return PN_OK;
    case PN_FLAG:
        pn_text_add(text, "%s", arg->flag ? "true" : "false");
        return PN_OK;
    case PN_CHOICE:
        pn_text_add(text, "%s", arg->text ? arg->text : param->choices[arg->count]);
        return PN_OK;
    case PN_VECTOR:
        for (size_t i = 0; i < arg->vector.n; i++) {
            pn_text_add(text, i ? "," : "(");
            add_number(text, arg->vector.data[i]);
        }
        pn_text_add(text, ")");
        return PN_OK;
    case PN_OBJECT:
        if (strcmp(param->choices[0], "pn.event") == 0)
            return write_event(text, arg->object, event->neighbours, depth + 1, err);
        break;
    default:
        break;
    }
    return pn_fail(err, PN_EUNSUPPORTED, "an event %s cannot be written to a file: its %s has no text form",
                   event->ops->name, param->name);
}

static pn_status write_leaf(pn_text *text, const pn_event *event, int depth, pn_err *err)
{
    pn_arg args[MAX_PARAMS] = { 0 };
    pn_status status = PN_OK;
    const char *between = "";

    if (!event->ops->args || pn_param_count(event->ops->params) > MAX_PARAMS)
        return pn_fail(err, PN_EUNSUPPORTED, "an event %s cannot be written to a file: it does not tell its parameters",
                       event->ops->name);
    event->ops->args(event, args);
    for (size_t i = 0; event->ops->params[i].name && status == PN_OK; i++) {
        if (is_fallback(&event->ops->params[i], &args[i]))
            continue;
        pn_text_add(text, "%s", between);
        status = write_value(text, event, &event->ops->params[i], &args[i], depth, err);
        between = ",";
    }
    return status;
}

static size_t common_divisor(const pn_term *terms, size_t parts)
{
    size_t divisor = 0;

    for (size_t i = 0; i < parts; i++) {
        size_t a = terms[i].count, b = divisor;

        while (b) {
            size_t rest = a % b;

            a = b;
            b = rest;
        }
        divisor = a;
    }
    return divisor;
}

/* The terms are flat: repeated(compose(a,b),n) has n times each, and n is their common divisor. */
static pn_status write_terms(pn_text *text, const pn_event *event, const pn_term *terms, size_t parts, int depth,
                             pn_err *err)
{
    bool repeats = strcmp(event->ops->name, "repeated") == 0;
    size_t divisor = repeats ? common_divisor(terms, parts) : 1;
    bool wrap = repeats && (parts > 1 || terms[0].count != divisor);
    pn_status status = PN_OK;

    pn_text_add(text, "%s", wrap ? "compose(" : "");
    for (size_t i = 0; i < parts && status == PN_OK; i++) {
        size_t count = terms[i].count / divisor;

        pn_text_add(text, "%s%s", i ? "," : "", count > 1 ? "repeated(" : "");
        status = write_event(text, terms[i].event, event->neighbours, depth + 1, err);
        if (count > 1)
            pn_text_add(text, ",%zu)", count);
    }
    pn_text_add(text, "%s", wrap ? ")" : "");
    if (repeats)
        pn_text_add(text, ",%zu", divisor);
    return status;
}

static pn_status write_event(pn_text *text, const pn_event *event, pn_neighbours around, int depth, pn_err *err)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);
    pn_status status;

    if (depth > PN_EVENT_DEPTH)
        return pn_fail(err, PN_EUNSUPPORTED, "events inside events go deeper than %d", PN_EVENT_DEPTH);
    pn_text_add(text, "%s(", event->ops->name);
    status = terms ? write_terms(text, event, terms, parts, depth, err) : write_leaf(text, event, depth, err);
    pn_text_add(text, ")");
    if (event->neighbours != around)
        pn_text_add(text, "@%s", pn_neighbours_names[event->neighbours]);
    return status;
}

/* What is written must read back: a record that does not would lock its ledger out for good. */
static pn_status check_reading(const char *written, const pn_event *event, pn_neighbours around, pn_err *err)
{
    const char *cursor = written;
    pn_event *copy = NULL;
    pn_text again = { 0 };
    pn_status status = pn_event_read(&copy, &cursor, around, err);

    if (status == PN_OK)
        status = write_event(&again, copy, around, 0, err);
    if (status == PN_OK && again.failed)
        status = pn_fail(err, PN_ENOMEM, "out of memory for an event's text");
    else if (status == PN_OK && (*cursor != '\0' || strcmp(written, again.data) != 0))
        status = PN_EPARSE;
    pn_event_free(copy);
    pn_text_clear(&again);
    return status == PN_OK || status == PN_ENOMEM
               ? status
               : pn_fail(err, PN_EUNSUPPORTED, "an event %s cannot be written to a file: its text would not read back",
                         event->ops->name);
}

pn_status pn_event_write(pn_text *text, const pn_event *event, pn_neighbours around, pn_err *err)
{
    size_t start = text->used;
    pn_status status = write_event(text, event, around, 0, err);

    if (status == PN_OK && text->failed)
        return pn_fail(err, PN_ENOMEM, "out of memory for an event's text");
    return status == PN_OK ? check_reading(text->data + start, event, around, err) : status;
}
