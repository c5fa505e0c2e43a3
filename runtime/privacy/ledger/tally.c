/* tally.c -- see tally.h.  Depends on: tally.h, event_leaf.h, accountant.h.  Used by: session.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "privacy/accounting/accountant.h"
#include "privacy/event/event_leaf.h"
#include "privacy/ledger/tally.h"

#define FIRST_PLACES 16

void pn_tally_clear(pn_tally *tally)
{
    for (size_t i = 0; i < tally->count; i++)
        pn_event_free(tally->entry[i].event);
    pn_free(tally->entry);
    pn_free(tally->place);
    *tally = (pn_tally){ 0 };
}

static size_t place_of(const pn_tally *tally, const pn_event *event)
{
    return (size_t)pn_event_hash(event) & (tally->places - 1);
}

/* Places for as many entries as there is room for. */
static void sort_in(pn_tally *tally)
{
    memset(tally->place, 0, tally->places * sizeof *tally->place);
    for (size_t i = 0; i < tally->count; i++) {
        size_t *first = &tally->place[place_of(tally, tally->entry[i].event)];

        tally->entry[i].next = *first;
        *first = i + 1;
    }
}

static pn_status make_room(pn_tally *tally, pn_err *err)
{
    size_t room = tally->room ? 2 * tally->room : FIRST_PLACES;
    pn_tally_entry *entry;
    size_t *place;

    if (tally->count < tally->room)
        return PN_OK;
    PN_TRY(pn_new(&place, room, err, "session: out of memory for %zu kinds of releases", room));
    entry = pn_resize(tally->entry, room, sizeof *entry);
    if (!entry) {
        pn_free(place);
        return pn_fail(err, PN_ENOMEM, "session: out of memory for %zu kinds of releases", room);
    }
    pn_free(tally->place);
    tally->entry = entry;
    tally->place = place;
    tally->room = tally->places = room;
    sort_in(tally);
    return PN_OK;
}

pn_status pn_tally_add(pn_tally *tally, pn_event *event, size_t count, pn_err *err)
{
    size_t *first;

    PN_TRY(make_room(tally, err));
    tally->priced = false;
    first = &tally->place[place_of(tally, event)];
    for (size_t i = *first; i > 0; i = tally->entry[i - 1].next) {
        pn_tally_entry *at = &tally->entry[i - 1];

        if (pn_event_same(at->event, event)) {
            if (!pn_size_add(&at->count, at->count, count))
                at->count = PN_SIZE_MAX;
            return PN_OK;
        }
    }
    tally->entry[tally->count] = (pn_tally_entry){ pn_event_keep(event), count, *first };
    *first = ++tally->count;
    return PN_OK;
}

pn_status pn_tally_event(const pn_tally *tally, pn_event **out, pn_err *err)
{
    pn_event **parts = NULL;
    pn_status status = PN_OK;
    size_t made = 0;

    *out = NULL;
    if (tally->count == 0)
        return PN_OK;
    PN_TRY(pn_new_zeroed(&parts, tally->count, err, "session: out of memory"));
    for (; made < tally->count && status == PN_OK; made++)
        status = pn_event_repeated(&parts[made], tally->entry[made].event, tally->entry[made].count, err);
    if (status == PN_OK)
        status = pn_event_compose(out, parts, tally->count, err);
    for (size_t i = 0; i < made; i++)
        pn_event_free(parts[i]);
    pn_free(parts);
    return status;
}

/* Events approximate take their deltas whole; what else there is, is stated at the delta that was wanted, or at a 16th
 * of theirs: a conversion has no room for less beside them (pn_tails_fit). */
static double delta_of(const pn_tally *tally, double wanted)
{
    double own = 0.0, rest = 0.0;

    for (size_t i = 0; i < tally->count; i++) {
        double part = pn_event_own_delta(tally->entry[i].event, tally->entry[i].count);

        own += part;
        if (part == 0.0)
            rest = wanted;
    }
    return fmax(wanted, own + (rest > 0.0 ? fmax(rest, own / 16.0) : 0.0));
}

pn_status pn_tally_epsilon(pn_tally *tally, double *delta, double *epsilon, pn_err *err)
{
    pn_event *all = NULL;

    *epsilon = 0.0;
    if (tally->count == 0)
        return PN_OK;
    *delta = delta_of(tally, *delta);
    if (!(tally->priced && tally->at == *delta)) {
        PN_TRY(pn_tally_event(tally, &all, err));
        tally->epsilon = *delta < 1.0 ? pn_event_epsilon(all, 1, *delta, NULL) : INFINITY;
        tally->at = *delta;
        tally->priced = true;
        pn_event_free(all);
    }
    *epsilon = tally->epsilon;
    return PN_OK;
}

double pn_tally_rho(const pn_tally *tally)
{
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < tally->count; i++)
        pn_event_add_zcdp(tally->entry[i].event, tally->entry[i].count, &sum);
    return sum.high;
}
