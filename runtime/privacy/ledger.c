/* ledger.c -- the ledger: which filter a budget gets, charges, refusals, slices.
 * Depends on: ledger.h, ledger_filter.h, accountant.h.  Used by: mechanisms, solvers, bindings.
 *
 * A budget of rho is one sum of zCDP, a pure budget one sum at the order inf; both are fixed when the ledger is opened, as
 * are orders given by the owner.  Otherwise the first request chooses. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/accountant.h"
#include "privacy/conversion.h"
#include "privacy/ledger.h"
#include "privacy/ledger_filter.h"

#define CACHED_PARTS 8 /* of a composed event */

typedef struct entry {
    char *label;
    pn_event *event;
    size_t count;
} entry;

struct pn_ledger {
    int references;
    pn_budget budget;
    double *orders;   /* owned copy behind budget.orders; NULL without */
    pn_filter filter; /* its measures are owned, and enough for any choice */
    pn_filter_cache cache;
    bool fixed;        /* the filter was set when the ledger was opened */
    const char *ended; /* why nothing more is admitted, or NULL */
    entry *entries;
    size_t count, room;
};

/* ---- opening ---- */

static bool is_rho(const pn_ledger *ledger)
{
    return !isnan(ledger->budget.rho);
}

static pn_status check_budget(const pn_budget *budget, pn_err *err)
{
    if (isnan(budget->epsilon) == isnan(budget->rho))
        return pn_fail(err, PN_EINVAL, "ledger: give either epsilon (with delta, or 0 for pure) or rho");
    if (!isnan(budget->rho)) {
        if (!(budget->rho > 0.0 && isfinite(budget->rho)))
            return pn_fail(err, PN_EINVAL, "ledger: rho must be a positive number, got %g", budget->rho);
        if (budget->delta != 0.0)
            return pn_fail(err, PN_EINVAL, "ledger: a budget of rho has no delta, got %g; leave it out", budget->delta);
    } else if (!(budget->epsilon > 0.0 && isfinite(budget->epsilon))) {
        return pn_fail(err, PN_EINVAL, "ledger: epsilon must be a positive number, got %g", budget->epsilon);
    } else if (!(budget->delta >= 0.0 && budget->delta < 1.0)) {
        return pn_fail(err, PN_EINVAL, "ledger: delta must be a number from 0 up to but not including 1, got %g",
                       budget->delta);
    }
    if (budget->order_count > 0 && !(budget->delta > 0.0))
        return pn_fail(err, PN_EINVAL, "ledger: orders belong to a budget with epsilon and delta > 0; leave them out");
    for (size_t i = 0; i < budget->order_count; i++) {
        if (!(budget->orders[i] > 1.0))
            return pn_fail(err, PN_EINVAL, "ledger: every order must be greater than 1, got %g at entry %zu",
                           budget->orders[i], i + 1);
    }
    return PN_OK;
}

static pn_status fix_filter(pn_ledger *self, pn_err *err)
{
    const pn_budget *budget = &self->budget;
    const double rho_order = 0.0, pure_order = INFINITY;

    self->fixed = true;
    if (is_rho(self)) {
        pn_filter_start(&self->filter, PN_FILTER_RHO, budget->rho, 0.0, &rho_order, 1);
    } else if (budget->delta == 0.0) {
        pn_filter_start(&self->filter, PN_FILTER_RENYI, budget->epsilon, 0.0, &pure_order, 1);
    } else if (budget->order_count > 0) {
        bool any = false;

        pn_filter_start(&self->filter, PN_FILTER_RENYI, budget->epsilon, budget->delta, self->orders,
                        budget->order_count);
        for (size_t j = 0; j < budget->order_count; j++)
            any = any || self->filter.measure[j].alive;
        if (!any)
            return pn_fail(
                err, PN_EINVAL,
                "ledger: none of the %zu orders leaves anything to spend at epsilon %g, delta %g; give larger "
                "orders, or leave them out",
                budget->order_count, budget->epsilon, budget->delta);
    } else {
        self->fixed = false; /* the first request chooses */
    }
    return PN_OK;
}

pn_status pn_ledger_new(pn_ledger **out, const pn_budget *budget, pn_err *err)
{
    pn_status status = check_budget(budget, err);
    size_t measures = budget->order_count > PN_FILTER_DEFAULT_ORDERS ? budget->order_count : PN_FILTER_DEFAULT_ORDERS;
    pn_ledger *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = pn_calloc(1, sizeof *self);
    if (!self)
        return pn_fail(err, PN_ENOMEM, "ledger: out of memory");
    self->references = 1;
    self->budget = *budget;
    self->filter.measure = pn_alloc(measures, sizeof *self->filter.measure);
    self->filter.cache = &self->cache;
    self->cache.room = CACHED_PARTS;
    self->cache.values = pn_alloc(measures * CACHED_PARTS, sizeof *self->cache.values);
    self->orders = budget->order_count ? pn_alloc(budget->order_count, sizeof *self->orders) : NULL;
    self->budget.orders = self->orders;
    if (!self->filter.measure || !self->cache.values || (budget->order_count && !self->orders)) {
        status = pn_fail(err, PN_ENOMEM, "ledger: out of memory for %zu orders", measures);
    } else {
        if (self->orders)
            memcpy(self->orders, budget->orders, budget->order_count * sizeof *self->orders);
        status = fix_filter(self, err);
    }
    if (status != PN_OK) {
        pn_ledger_free(self);
        return status;
    }
    *out = self;
    return PN_OK;
}

pn_ledger *pn_ledger_keep(pn_ledger *ledger)
{
    ledger->references++;
    return ledger;
}

void pn_ledger_free(pn_ledger *ledger)
{
    if (!ledger || --ledger->references > 0)
        return;
    for (size_t i = 0; i < ledger->count; i++) {
        pn_free(ledger->entries[i].label);
        pn_event_free(ledger->entries[i].event);
    }
    pn_free(ledger->entries);
    pn_event_free(ledger->cache.event);
    pn_free(ledger->cache.values);
    pn_free(ledger->filter.measure);
    pn_free(ledger->orders);
    pn_free(ledger);
}

/* ---- admission ---- */

/* Orders from the first request alone: the default ones with delta/J each when they cover it, else its own best order with
 * all of delta.  False when neither does; `filter` then holds nothing of use. */
static bool choose(const pn_ledger *ledger, const pn_event *event, size_t count, pn_filter *filter)
{
    const pn_budget *budget = &ledger->budget;
    double orders[PN_FILTER_DEFAULT_ORDERS], best;

    pn_filter_default_orders(budget->epsilon, budget->delta, orders);
    pn_filter_start(filter, PN_FILTER_RENYI, budget->epsilon, budget->delta, orders, PN_FILTER_DEFAULT_ORDERS);
    if (pn_filter_admits(filter, event, count))
        return true;
    if (!pn_within(pn_event_epsilon(event, count, budget->delta, &best), budget->epsilon))
        return false;
    pn_filter_start(filter, PN_FILTER_RENYI, budget->epsilon, budget->delta, &best, 1);
    return pn_filter_admits(filter, event, count);
}

static void amount(char *text, size_t size, const char *unit, double requested, double left)
{
    (void)snprintf(text, size, "Requested %s %.6g, Remaining %.6g, Difference %.6g", unit, requested, left,
                   requested - left);
}

/* In the user's unit where that shows the shortfall, with the Renyi order that comes closest. */
static pn_status refuse_by_filter(const pn_ledger *ledger, const pn_event *event, size_t count, double price,
                                  pn_err *err)
{
    double asked = price, left = 0.0, remaining = pn_ledger_remaining(ledger);
    double order = pn_filter_closest(&ledger->filter, event, count, &asked, &left);
    const char *unit = is_rho(ledger) ? "rho" : "epsilon";
    char numbers[160];

    if (!(order > 0.0 && isfinite(order))) {
        amount(numbers, sizeof numbers, unit, asked, left);
        return pn_fail(err, PN_EBUDGET, "ledger: %s", numbers);
    }
    if (price > remaining) {
        amount(numbers, sizeof numbers, unit, price, remaining);
        return pn_fail(err, PN_EBUDGET, "ledger: %s at delta %g (Renyi order %.4g: %.6g asked, %.6g left)", numbers,
                       ledger->budget.delta, order, asked, left);
    }
    amount(numbers, sizeof numbers, unit, asked, left);
    return pn_fail(err, PN_EBUDGET, "ledger: %s (Renyi epsilon at order %.4g, the filter's order that comes closest)",
                   numbers, order);
}

static pn_status refuse(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    const char *unit = is_rho(ledger) ? "rho" : "epsilon";
    double requested = pn_ledger_price(ledger, event, count);
    char numbers[160];

    if (ledger->ended) {
        amount(numbers, sizeof numbers, unit, requested, 0.0);
        return pn_fail(err, PN_EBUDGET, "ledger: %s (%s)", numbers, ledger->ended);
    }
    if (!ledger->fixed && ledger->count == 0) { /* by itself it exceeds the whole budget */
        amount(numbers, sizeof numbers, unit, requested, ledger->budget.epsilon);
        return pn_fail(err, PN_EBUDGET, "ledger: %s (at delta %g)", numbers, ledger->budget.delta);
    }
    return refuse_by_filter(ledger, event, count, requested, err);
}

/* Finds the filter under which the request is admitted: the ledger's own, or (while nothing is charged) a new choice in
 * `scratch`, whose measures the caller provides.  NULL when it is refused. */
static const pn_filter *admitting(const pn_ledger *ledger, const pn_event *event, size_t count, pn_filter *scratch)
{
    if (ledger->ended)
        return NULL;
    if (ledger->filter.count > 0 && pn_filter_admits(&ledger->filter, event, count))
        return &ledger->filter;
    if (!ledger->fixed && ledger->count == 0 && choose(ledger, event, count, scratch))
        return scratch;
    return NULL;
}

static pn_status check_request(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    if (count == 0)
        return pn_fail(err, PN_EINVAL, "ledger: count must be a whole number from 1, got 0");
    if (event->neighbours != ledger->budget.neighbours)
        return pn_fail(
            err, PN_EPRIVACY,
            "ledger: the event is for \"%s\" neighbours, the budget for \"%s\"; make both for the same relation",
            pn_neighbours_names[event->neighbours], pn_neighbours_names[ledger->budget.neighbours]);
    return PN_OK;
}

static pn_status find_filter(const pn_ledger *ledger, const pn_event *event, size_t count, pn_filter *scratch,
                             const pn_filter **found, pn_err *err)
{
    pn_status status = check_request(ledger, event, count, err);

    if (status != PN_OK)
        return status;
    *found = admitting(ledger, event, count, scratch);
    return *found ? PN_OK : refuse(ledger, event, count, err);
}

/* Make the choice in `scratch` the ledger's own. */
static void adopt(pn_ledger *ledger, const pn_filter *found)
{
    pn_measure *measure = ledger->filter.measure;

    if (found == &ledger->filter)
        return;
    memcpy(measure, found->measure, found->count * sizeof *measure);
    ledger->filter = *found;
    ledger->filter.measure = measure;
    ledger->filter.cache = &ledger->cache;
    pn_event_free(ledger->cache.event);
    ledger->cache.event = NULL;
}

pn_status pn_ledger_covers(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    pn_measure measures[PN_FILTER_DEFAULT_ORDERS];
    pn_filter scratch = { .measure = measures };
    const pn_filter *found;

    return find_filter(ledger, event, count, &scratch, &found, err);
}

pn_status pn_ledger_reserve(pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err)
{
    pn_measure measures[PN_FILTER_DEFAULT_ORDERS];
    pn_filter scratch = { .measure = measures };
    const pn_filter *found;
    pn_status status = find_filter(ledger, event, count, &scratch, &found, err);

    if (status == PN_OK)
        adopt(ledger, found);
    return status;
}

/* ---- charging ---- */

/* Room for one more entry and its label, before anything is charged. */
static pn_status prepare_entry(pn_ledger *ledger, const pn_event *event, size_t count, const char *label, char **copy,
                               pn_err *err)
{
    const entry *last = ledger->count ? &ledger->entries[ledger->count - 1] : NULL;

    *copy = NULL;
    if (last && last->count <= SIZE_MAX - count && strcmp(last->label, label) == 0 && pn_event_same(last->event, event))
        return PN_OK;
    if (ledger->count == ledger->room) {
        size_t room = ledger->room ? 2 * ledger->room : 8;
        entry *entries = pn_resize(ledger->entries, room, sizeof *entries);

        if (!entries)
            return pn_fail(err, PN_ENOMEM, "ledger: out of memory for %zu entries", room);
        ledger->entries = entries;
        ledger->room = room;
    }
    *copy = pn_strdup(label);
    return *copy ? PN_OK : pn_fail(err, PN_ENOMEM, "ledger: out of memory for a label");
}

pn_status pn_ledger_spend(pn_ledger *ledger, pn_event *event, size_t count, const char *label, pn_err *err)
{
    pn_measure measures[PN_FILTER_DEFAULT_ORDERS];
    pn_filter scratch = { .measure = measures };
    const pn_filter *found;
    char *copy;
    pn_status status = find_filter(ledger, event, count, &scratch, &found, err);

    if (status == PN_OK)
        status = prepare_entry(ledger, event, count, label ? label : "", &copy, err);
    if (status != PN_OK)
        return status;
    adopt(ledger, found);
    pn_filter_charge(&ledger->filter, event, count);
    if (copy)
        ledger->entries[ledger->count++] = (entry){ copy, pn_event_keep(event), count };
    else
        ledger->entries[ledger->count - 1].count += count;
    return PN_OK;
}

/* ---- looking ---- */

const pn_budget *pn_ledger_budget(const pn_ledger *ledger)
{
    return &ledger->budget;
}

size_t pn_ledger_order_count(const pn_ledger *ledger)
{
    return is_rho(ledger) ? 0 : ledger->filter.count;
}

double pn_ledger_order(const pn_ledger *ledger, size_t index, bool *alive)
{
    if (alive)
        *alive = ledger->filter.measure[index].alive;
    return ledger->filter.measure[index].order;
}

double pn_ledger_price(const pn_ledger *ledger, const pn_event *event, size_t count)
{
    pn_sum rho = { 0.0, 0.0 };

    if (!is_rho(ledger))
        return pn_event_epsilon(event, count, ledger->budget.delta, NULL);
    pn_event_add_zcdp(event, count, &rho);
    return rho.high;
}

static double entries_rdp(const void *self, double alpha)
{
    const pn_ledger *ledger = self;
    pn_sum sum = { 0.0, 0.0 };

    for (size_t i = 0; i < ledger->count; i++)
        pn_event_add_rdp(ledger->entries[i].event, ledger->entries[i].count, alpha, &sum);
    return sum.high;
}

double pn_ledger_spent(const pn_ledger *ledger)
{
    double delta = ledger->budget.delta, ideal = pn_ideal_delta(delta), epsilon;
    pn_curve curve = { entries_rdp, ledger };
    pn_sum rho = { 0.0, 0.0 };

    if (ledger->count == 0)
        return 0.0;
    if (is_rho(ledger))
        return ledger->filter.measure[0].spent.high;
    for (size_t i = 0; i < ledger->count; i++)
        pn_event_add_zcdp(ledger->entries[i].event, ledger->entries[i].count, &rho);
    epsilon = pn_curve_epsilon(&curve, ideal, ideal > 0.0 ? pn_zcdp_guess(rho.high, ideal) : 0.0, NULL);
    return pn_slack_epsilon(epsilon, delta, pn_filter_slack(&ledger->filter));
}

double pn_ledger_remaining(const pn_ledger *ledger)
{
    if (ledger->ended)
        return 0.0;
    if (!ledger->fixed && ledger->count == 0)
        return ledger->budget.epsilon;
    return pn_filter_remaining(&ledger->filter);
}

size_t pn_ledger_entries(const pn_ledger *ledger)
{
    return ledger->count;
}

pn_charge pn_ledger_entry(const pn_ledger *ledger, size_t index)
{
    const entry *e = &ledger->entries[index];

    return (pn_charge){ e->label, e->event, e->count };
}

/* ---- slices ---- */

/* The largest part that is the whole again, k times over, in doubles. */
static double part_of(double whole, size_t k)
{
    double part = whole / (double)k;

    while ((double)k * part > whole)
        part = nextafter(part, 0.0);
    return part;
}

pn_status pn_ledger_split(pn_ledger *ledger, size_t k, pn_ledger **out, pn_err *err)
{
    pn_budget part = ledger->budget;
    pn_status status = PN_OK;
    size_t made = 0;

    if (k == 0)
        return pn_fail(err, PN_EINVAL, "ledger: split needs a whole number from 1, got 0");
    if (ledger->ended || ledger->count > 0)
        return pn_fail(err, PN_EUNSUPPORTED, "ledger: only an untouched budget can be split; this one %s",
                       ledger->ended ? "is used up" : "has been charged already");
    part.epsilon = part_of(part.epsilon, k); /* NaN stays NaN */
    part.rho = part_of(part.rho, k);
    part.delta = part_of(part.delta, k);
    while (made < k && status == PN_OK) {
        status = pn_ledger_new(&out[made], &part, err);
        made += status == PN_OK;
    }
    if (status == PN_OK) {
        ledger->ended = "the budget was split";
        return PN_OK;
    }
    while (made > 0) {
        pn_ledger_free(out[--made]);
        out[made] = NULL;
    }
    return status;
}

void pn_ledger_close(pn_ledger *ledger)
{
    if (!ledger->ended)
        ledger->ended = "the ledger is closed";
}
