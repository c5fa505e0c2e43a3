/* event_either.c -- one of two mechanisms, whichever is taken.
 * Depends on: event_leaf.h, base_curve.h.  Used by: the table in event.c.
 *
 * Which of the two is taken may be fixed or drawn, by a law that does not depend on the records, and is told.  With M_i
 * taken with probability p_i, the output (i, y) has the Renyi divergence
 *     exp((a - 1) D_a) = sum_i p_i exp((a - 1) D_a(M_i)) <= max_i exp((a - 1) D_a(M_i)),
 * and likewise its pure epsilon and its profile are at most the larger ones.  The same holds for what the lattice noise
 * adds: each bound on it is one on the mechanism that is taken. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "privacy/event/base_curve.h"
#include "privacy/event/event_leaf.h"

enum { FIRST, SECOND, PARTS };

typedef struct either {
    pn_event base;
    pn_event *parts[PARTS];
} either;

static pn_event *const *parts_of(const pn_event *self)
{
    return ((const either *)self)->parts;
}

static double rdp(const pn_event *self, double alpha)
{
    pn_event *const *parts = parts_of(self);
    double first = pn_base_rdp(parts[FIRST], alpha);

    return PN_MUTANT("either_first_only") ? first : fmax(first, pn_base_rdp(parts[SECOND], alpha));
}

static double zcdp(const pn_event *self)
{
    pn_sum first = { 0.0, 0.0 }, second = { 0.0, 0.0 };

    pn_event_add_zcdp(parts_of(self)[FIRST], 1, &first);
    pn_event_add_zcdp(parts_of(self)[SECOND], 1, &second);
    return fmax(first.high, second.high);
}

static pn_slack slack(const pn_event *self)
{
    pn_slack first = pn_event_slack(parts_of(self)[FIRST], 1), second = pn_event_slack(parts_of(self)[SECOND], 1);

    return (pn_slack){ fmax(first.epsilon, second.epsilon), fmax(first.tail, second.tail),
                       fmax(first.window, second.window) };
}

static void destroy(pn_event *self)
{
    for (size_t i = 0; i < PARTS; i++)
        pn_event_free(((either *)self)->parts[i]);
    pn_free(self);
}

static pn_status check(const pn_event *part, const char *name, pn_neighbours neighbours, pn_err *err)
{
    if (part->neighbours != neighbours)
        return pn_fail(
            err, PN_EPRIVACY,
            "event.either: %s is for \"%s\" neighbours, the event for \"%s\"; make all for the same relation", name,
            pn_neighbours_names[part->neighbours], pn_neighbours_names[neighbours]);
    if (pn_event_own_delta(part, 1) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "event.either: %s has a delta of its own, which a ledger could not see inside another event; "
                       "give its events themselves",
                       name);
    return PN_OK;
}

static pn_status create(pn_event **out, const pn_arg *args, pn_neighbours neighbours, pn_err *err)
{
    pn_event *parts[PARTS];
    either *made;

    *out = NULL;
    for (size_t i = 0; i < PARTS; i++) {
        parts[i] = (pn_event *)(size_t)args[i].object; /* shared by counting, which is no change that is seen */
        PN_TRY(check(parts[i], i == FIRST ? "first" : "second", neighbours, err));
    }
    PN_TRY(pn_new_zeroed(&made, 1, err, "event.either: out of memory"));
    made->base = (pn_event){ &pn_event_either_ops, neighbours, 1 };
    for (size_t i = 0; i < PARTS; i++)
        made->parts[i] = pn_event_keep(parts[i]);
    *out = &made->base;
    return PN_OK;
}

static void arguments(const pn_event *self, pn_arg *args)
{
    for (size_t i = 0; i < PARTS; i++)
        args[i] = (pn_arg){ .given = true, .object = parts_of(self)[i] };
}

static void describe(const pn_event *self, char *text, size_t size)
{
    char first[320], second[320];

    pn_event_describe(parts_of(self)[FIRST], first, sizeof first);
    pn_event_describe(parts_of(self)[SECOND], second, sizeof second);
    (void)snprintf(text, size, "either(%s, %s)", first, second);
}

static const char *const event_class[] = { "pn.event", NULL };

static const pn_param params[] = {
    { "first", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, event_class, "one of the two mechanisms" },
    { "second", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, event_class, "the other; may be another either" },
    PN_PARAM_END,
};

const pn_event_ops pn_event_either_ops = {
    .name = "either",
    .doc =
        "One of two mechanisms, fixed or drawn by a law that does not depend on the records: at each Renyi order the "
        "larger of the two divergences, and the larger pure epsilon.",
    .source = "joint convexity; derived beside the code",
    .params = params,
    .create = create,
    .destroy = destroy,
    .args = arguments,
    .rdp = rdp,
    .zcdp = zcdp,
    .describe = describe,
    .slack = slack,
};
