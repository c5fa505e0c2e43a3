/* event.c -- the table of events, their references and their text.
 * Depends on: event.h, event_leaf.h, event_sampled.h.  Used by: the accountants, the ledger, mechanisms,
 * plans, bindings. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "core/options.h"
#include "core/table.h"
#include "core/text.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/event_sampled.h"

const char *const pn_neighbours_names[] = { "replace_one", "add_remove", "zero_out", NULL };

const pn_param pn_neighbours_params[] = {
    { "neighbours", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_neighbours_names,
      "what two neighbouring data sets differ in: one record replaced, one added or removed, one made null" },
    PN_PARAM_END,
};

pn_status pn_neighbours_read(pn_neighbours *neighbours, const pn_options *options, const pn_table *table,
                             const char *caller, const char *name, pn_arg args[PN_ARGS_MAX], pn_err *err)
{
    const pn_row *row = pn_table_find(table->rows, name);
    pn_arg relation;
    char owner[80];
    pn_status status;

    if (!row)
        return pn_table_refuse(table, caller, name, err);
    (void)snprintf(owner, sizeof owner, "%s.%s", table->library, name);
    status = pn_options_spread(
        options, owner, (const pn_option_rows[]){ { row->params, args }, { pn_neighbours_params, &relation } }, 2, err);
    if (status == PN_OK)
        status = pn_args_check(owner, pn_neighbours_params, &relation, err);
    if (status == PN_OK)
        *neighbours = (pn_neighbours)relation.count;
    return status;
}

#define ROW(name) &pn_event_##name##_ops,
static const pn_event_ops *const rows[] = { PN_EVENTS(ROW) NULL };
PN_TABLE(events, pn_event_ops, "event", "event", rows);

const pn_event_ops *const *pn_event_table(void)
{
    return rows;
}

pn_status pn_event_from_args(pn_event **out, const char *name, pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_status status;
    const pn_event_ops *row = pn_table_open(&events, __func__, name, args, &status, err);

    return row ? row->create(out, args, neighbours, err) : status;
}

pn_status pn_event_new(pn_event **out, const char *name, const pn_options *options, pn_err *err)
{
    pn_arg args[PN_ARGS_MAX];
    pn_neighbours neighbours = PN_REPLACE_ONE;
    pn_status status = pn_neighbours_read(&neighbours, options, &events, __func__, name, args, err);

    *out = NULL;
    return status == PN_OK ? pn_event_from_args(out, name, args, neighbours, err) : status;
}

pn_event *pn_event_keep(pn_event *event)
{
    (void)__atomic_add_fetch(&event->references, 1, __ATOMIC_RELAXED);
    return event;
}

void pn_event_free(pn_event *event)
{
    if (event && __atomic_sub_fetch(&event->references, 1, __ATOMIC_ACQ_REL) == 0)
        event->ops->destroy(event);
}

void pn_event_describe(const pn_event *event, char *text, size_t size)
{
    event->ops->describe(event, text, size);
    pn_text_say_cut(text, size);
}

double pn_event_releases(const pn_event *event)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);
    double sum = terms ? 0.0 : 1.0;

    for (size_t i = 0; i < parts; i++)
        sum += (double)terms[i].count;
    return sum;
}

void pn_slack_add(pn_slack *sum, double count, pn_slack one)
{
    sum->epsilon += count * one.epsilon;
    sum->tail += count * one.tail;
    sum->window += count * one.window;
}

pn_slack pn_event_slack(const pn_event *event, size_t count)
{
    pn_slack sum = { 0.0, 0.0, 0.0 };
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);

    if (!terms && event->ops->slack)
        pn_slack_add(&sum, (double)count, event->ops->slack(event));
    for (size_t i = 0; i < parts; i++) {
        const pn_event *one = terms[i].event;

        if (one->ops->slack)
            pn_slack_add(&sum, (double)count * (double)terms[i].count, one->ops->slack(one));
    }
    return sum;
}

#define MAX_PARAMS 8

static bool same_numbers(pn_vec a, pn_vec b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.data, b.data, a.n * sizeof *a.data) == 0);
}

static bool same_arguments(const pn_event *a, const pn_event *b)
{
    const pn_param *params = a->ops->params;
    pn_arg first[MAX_PARAMS], second[MAX_PARAMS];

    if (pn_param_count(params) > MAX_PARAMS)
        return false;
    a->ops->args(a, first);
    b->ops->args(b, second);
    for (size_t i = 0; params[i].name; i++) {
        bool same = params[i].kind == PN_OBJECT   ? pn_event_same(first[i].object, second[i].object)
                    : params[i].kind == PN_VECTOR ? same_numbers(first[i].vector, second[i].vector)
                    : params[i].kind == PN_COUNT || params[i].kind == PN_CHOICE ? first[i].count == second[i].count
                                                                                : first[i].real == second[i].real;

        if (!same)
            return false;
    }
    return true;
}

bool pn_event_same(const pn_event *a, const pn_event *b)
{
    size_t parts, others;
    const pn_term *first, *second;
    bool same;

    if (a == b || !a || !b)
        return a == b;
    first = pn_event_terms(a, &parts);
    second = pn_event_terms(b, &others);
    same = a->ops == b->ops && a->neighbours == b->neighbours && parts == others;
    if (same && !first)
        return same_arguments(a, b);
    for (size_t i = 0; same && i < parts; i++)
        same = first[i].count == second[i].count && pn_event_same(first[i].event, second[i].event);
    return same;
}

/* ---- one number for an event ---- */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* The bits of a number; 0 and -0 are equal, and so they are here. */
static uint64_t bits_of(double x)
{
    uint64_t bits;

    x += 0.0;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static uint64_t hash_arguments(uint64_t hash, const pn_event *event)
{
    const pn_param *params = event->ops->params;
    pn_arg args[MAX_PARAMS];

    if (pn_param_count(params) > MAX_PARAMS)
        return hash;
    event->ops->args(event, args);
    for (size_t i = 0; params[i].name; i++) {
        if (params[i].kind == PN_VECTOR)
            hash = mix(hash, args[i].vector.n);
        else
            hash = mix(hash, params[i].kind == PN_OBJECT  ? pn_event_hash(args[i].object)
                             : params[i].kind == PN_COUNT ? args[i].count
                                                          : bits_of(args[i].real));
    }
    return hash;
}

uint64_t pn_event_hash(const pn_event *event)
{
    size_t parts;
    const pn_term *terms = event ? pn_event_terms(event, &parts) : NULL;
    uint64_t hash = event ? mix((uint64_t)(uintptr_t)event->ops, (uint64_t)event->neighbours) : 0;

    if (!terms)
        return event ? hash_arguments(hash, event) : hash;
    for (size_t i = 0; i < parts; i++)
        hash = mix(mix(hash, terms[i].count), pn_event_hash(terms[i].event));
    return hash;
}

/* ---- leaves ---- */

pn_status pn_leaf_new(pn_event **out, const pn_event_ops *ops, const pn_arg *args, double level,
                      pn_neighbours neighbours, pn_err *err)
{
    pn_leaf *self;

    *out = NULL;
    if (!(level >= 1e-150 && level <= 1e150))
        return pn_fail(err, PN_EINVAL,
                       "event.%s: a privacy loss of %g is outside what can be accounted for (1e-150 to 1e150)",
                       ops->name, level);
    PN_TRY(pn_new_zeroed(&self, 1, err, "event.%s: out of memory", ops->name));
    self->base = (pn_event){ ops, neighbours, 1 };
    self->level = level;
    for (size_t i = 0; ops->params[i].name; i++)
        self->values[i] = ops->params[i].kind == PN_COUNT ? (double)args[i].count : args[i].real;
    *out = &self->base;
    return PN_OK;
}

void pn_leaf_destroy(pn_event *self)
{
    pn_free(self);
}

void pn_shortest(double value, char *text, size_t size)
{
    for (int digits = 6; digits <= 17; digits++) {
        (void)snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            return;
    }
}

void pn_leaf_args(const pn_event *self, pn_arg *args)
{
    const pn_leaf *leaf = (const pn_leaf *)self;

    for (size_t i = 0; self->ops->params[i].name; i++) {
        args[i] = (pn_arg){ .given = true, .real = leaf->values[i] };
        if (self->ops->params[i].kind == PN_COUNT) /* a real one may be more than any size */
            args[i].count = (size_t)leaf->values[i];
    }
}

void pn_leaf_describe(const pn_event *self, char *text, size_t size)
{
    const pn_leaf *leaf = (const pn_leaf *)self;
    size_t used = (size_t)snprintf(text, size, "%s(", self->ops->name);
    bool first = true;

    for (size_t i = 0; self->ops->params[i].name && used < size; i++) {
        const pn_param *param = &self->ops->params[i];
        char number[32];

        if (param->need == PN_OPTIONAL && leaf->values[i] == param->fallback)
            continue;
        pn_shortest(leaf->values[i], number, sizeof number);
        used += (size_t)snprintf(text + used, size - used, "%s%s=%s", first ? "" : ", ", param->name, number);
        first = false;
    }
    if (used < size)
        (void)snprintf(text + used, size - used, ")");
}

/* ---- what is known of it ---- */

const char *pn_neighbours_name(pn_neighbours neighbours)
{
    return pn_neighbours_names[neighbours];
}

pn_neighbours pn_event_neighbours(const pn_event *event)
{
    return event->neighbours;
}

double pn_event_rdp(const pn_event *event, double alpha)
{
    return event->ops->rdp(event, alpha);
}

double pn_event_zcdp(const pn_event *event)
{
    return event->ops->zcdp(event);
}
