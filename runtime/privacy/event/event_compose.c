/* event_compose.c -- several events together, or one event many times: a flat list of (event, count).
 * Depends on: event_leaf.h.  Used by: accountants, plans, bindings.
 *
 * Renyi divergences and rho add up under adaptive composition.  Nested compositions are flattened when they are
 * made. */
#include <stdio.h>

#include "core/alloc.h"
#include "core/size.h"
#include "privacy/event/event_leaf.h"

typedef struct composed {
    pn_event base;
    size_t repeats; /* > 0 for repeated(inner, repeats), 0 for compose */
    size_t count;
    pn_term terms[];
} composed;

static void destroy(pn_event *self)
{
    composed *all = (composed *)self;

    for (size_t i = 0; i < all->count; i++)
        pn_event_free(all->terms[i].event);
    pn_free(all);
}

static double composed_rdp(const pn_event *self, double alpha)
{
    pn_sum sum = { 0.0, 0.0 };

    pn_event_add_rdp(self, 1, alpha, &sum);
    return sum.high;
}

static double composed_zcdp(const pn_event *self)
{
    pn_sum sum = { 0.0, 0.0 };

    pn_event_add_zcdp(self, 1, &sum);
    return sum.high;
}

static size_t append(char *text, size_t size, size_t used, const char *more)
{
    int n = used < size ? snprintf(text + used, size - used, "%s", more) : 0;

    return used + (n > 0 ? (size_t)n : 0);
}

static size_t append_term(char *text, size_t size, size_t used, const pn_event *event, size_t count)
{
    char inner[320], number[32];

    pn_event_describe(event, inner, sizeof inner);
    if (count == 1)
        return append(text, size, used, inner);
    (void)snprintf(number, sizeof number, ", %zu)", count);
    used = append(text, size, used, "repeated(");
    used = append(text, size, used, inner);
    return append(text, size, used, number);
}

static void describe(const pn_event *self, char *text, size_t size)
{
    const composed *all = (const composed *)self;
    size_t divisor = all->repeats ? all->repeats : 1, used = 0;
    bool wrap = all->count > 1 || !all->repeats;
    char number[32];

    if (all->repeats)
        used = append(text, size, used, "repeated(");
    if (wrap)
        used = append(text, size, used, "compose(");
    for (size_t i = 0; i < all->count && used < size; i++) {
        used = append(text, size, used, i ? ", " : "");
        used = append_term(text, size, used, all->terms[i].event, all->terms[i].count / divisor);
    }
    if (wrap)
        used = append(text, size, used, ")");
    (void)snprintf(number, sizeof number, ", %zu)", all->repeats);
    if (all->repeats)
        (void)append(text, size, used, number);
}

static const pn_event_ops compose_ops = {
    .name = "compose",
    .doc = "All of the given events, in sequence or each chosen after seeing the ones before.",
    .source = "Mironov (2017), Proposition 1",
    .destroy = destroy,
    .rdp = composed_rdp,
    .zcdp = composed_zcdp,
    .describe = describe,
};

static const pn_event_ops repeated_ops = {
    .name = "repeated",
    .doc = "The same event many times.",
    .source = "Mironov (2017), Proposition 1",
    .destroy = destroy,
    .rdp = composed_rdp,
    .zcdp = composed_zcdp,
    .describe = describe,
};

const pn_term *pn_event_terms(const pn_event *event, size_t *count)
{
    const composed *all = (const composed *)event;

    *count = 0;
    if (event->ops != &compose_ops && event->ops != &repeated_ops)
        return NULL;
    *count = all->count;
    return all->terms;
}

void pn_event_add_rdp(const pn_event *event, size_t count, double alpha, pn_sum *sum)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);

    if (!terms)
        pn_sum_add(sum, (double)count, event->ops->rdp(event, alpha));
    for (size_t i = 0; i < parts; i++)
        pn_sum_add(sum, (double)count * (double)terms[i].count, terms[i].event->ops->rdp(terms[i].event, alpha));
}

void pn_event_add_zcdp(const pn_event *event, size_t count, pn_sum *sum)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);

    if (!terms)
        pn_sum_add(sum, (double)count, event->ops->zcdp(event));
    for (size_t i = 0; i < parts; i++)
        pn_sum_add(sum, (double)count * (double)terms[i].count, terms[i].event->ops->zcdp(terms[i].event));
}

/* Takes over a reference of `event`; equal neighbours in the list become one term. */
static void push(composed *all, pn_event *event, size_t count)
{
    pn_term *last = all->count ? &all->terms[all->count - 1] : NULL;

    if (!last || last->event != event || !pn_size_add(&last->count, last->count, count))
        all->terms[all->count++] = (pn_term){ pn_event_keep(event), count };
}

/* As push, flattening; false when a count would not fit. */
static bool push_all(composed *all, pn_event *event, size_t count)
{
    size_t parts;
    const pn_term *terms = pn_event_terms(event, &parts);

    if (!terms)
        push(all, event, count);
    for (size_t i = 0; i < parts; i++) {
        size_t times;

        if (!pn_size_multiply(&times, count, terms[i].count))
            return false;
        push(all, terms[i].event, times);
    }
    return true;
}

static composed *new_composed(const pn_event_ops *ops, pn_neighbours neighbours, size_t repeats, size_t room)
{
    composed *all = NULL;
    size_t bytes;

    if (pn_size_multiply(&bytes, room, sizeof(pn_term)))
        all = pn_alloc(1, sizeof *all + bytes);
    if (!all)
        return NULL;
    all->base = (pn_event){ ops, neighbours, 1 };
    all->repeats = repeats;
    all->count = 0;
    return all;
}

static size_t room_for(const pn_event *event)
{
    size_t parts;

    return pn_event_terms(event, &parts) ? parts : 1;
}

pn_status pn_event_compose(pn_event **out, pn_event *const *events, size_t count, pn_err *err)
{
    size_t room = 0;
    composed *all;

    *out = NULL;
    if (count == 0)
        return pn_fail(err, PN_EINVAL, "event.compose: needs at least one event");
    for (size_t i = 0; i < count; i++) {
        if (events[i]->neighbours != events[0]->neighbours)
            return pn_fail(
                err, PN_EPRIVACY,
                "event.compose: event 1 is for \"%s\" neighbours and event %zu for \"%s\"; what they protect differs, "
                "so they do not add up",
                pn_neighbours_names[events[0]->neighbours], i + 1, pn_neighbours_names[events[i]->neighbours]);
        if (!pn_size_add(&room, room, room_for(events[i])))
            return pn_fail(err, PN_ENOMEM, "event.compose: more than 2^48 events");
    }
    all = new_composed(&compose_ops, events[0]->neighbours, 0, room);
    PN_TRY(pn_made(all, err, "event.compose: out of memory for %zu events", room));
    for (size_t i = 0; i < count; i++)
        (void)push_all(all, events[i], 1);
    *out = &all->base;
    return PN_OK;
}

pn_status pn_event_repeated(pn_event **out, pn_event *event, size_t count, pn_err *err)
{
    composed *all;

    *out = NULL;
    if (count == 0)
        return pn_fail(err, PN_EINVAL, "event.repeated: count must be a whole number from 1, got 0");
    if (count > PN_SIZE_MAX)
        return pn_size_check("event.repeated", "count", count, err);
    all = new_composed(&repeated_ops, event->neighbours, count, room_for(event));
    PN_TRY(pn_made(all, err, "event.repeated: out of memory"));
    if (!push_all(all, event, count)) {
        destroy(&all->base);
        return pn_fail(err, PN_EINVAL,
                       "event.repeated: %zu times an event that is repeated itself must be at most 2^48 times in all",
                       count);
    }
    *out = &all->base;
    return PN_OK;
}
