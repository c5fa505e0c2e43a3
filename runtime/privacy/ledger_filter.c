/* ledger_filter.c -- sums of charges at orders fixed beforehand, and what they still admit.
 * Depends on: ledger_filter.h, accountant.h (conversions).  Used by: ledger.c. */
#include <math.h>

#include "privacy/accountant.h"
#include "privacy/ledger_filter.h"

static void add(const pn_measure *measure, const pn_event *event, size_t count, pn_sum *sum)
{
    if (measure->order > 0.0)
        pn_event_add_rdp(event, count, measure->order, sum);
    else
        pn_event_add_zcdp(event, count, sum);
}

/* A total at this measure in the unit of the limit.  The same function prices plans. */
static double convert(const pn_filter *filter, const pn_measure *measure, double total)
{
    return measure->order > 0.0 ? pn_rdp_epsilon(measure->order, total, filter->delta) : total;
}

static double budget_at(const pn_filter *filter, const pn_measure *measure)
{
    return measure->order > 0.0 ? pn_rdp_budget(measure->order, filter->limit, filter->delta) : filter->limit;
}

void pn_filter_start(pn_filter *filter, double limit, double delta_each, const double *orders, size_t count)
{
    filter->limit = limit;
    filter->delta = delta_each;
    filter->count = count;
    for (size_t j = 0; j < count; j++) {
        filter->measure[j] = (pn_measure){ orders[j], { 0.0, 0.0 }, true };
        filter->measure[j].alive = convert(filter, &filter->measure[j], 0.0) <= limit;
    }
}

void pn_filter_default_orders(double epsilon, double delta, double orders[PN_FILTER_DEFAULT_ORDERS])
{
    double best = -2.0 * log(delta) / epsilon;

    for (int j = 0; j < PN_FILTER_DEFAULT_ORDERS; j++)
        orders[j] = 1.0 + best / 8.0 * pow(64.0, j / (PN_FILTER_DEFAULT_ORDERS - 1.0));
}

static double cost_after(const pn_filter *filter, const pn_measure *measure, const pn_event *event, size_t count)
{
    pn_sum total = measure->spent;

    add(measure, event, count, &total);
    return convert(filter, measure, total.high);
}

bool pn_filter_admits(const pn_filter *filter, const pn_event *event, size_t count)
{
    for (size_t j = 0; j < filter->count; j++) {
        const pn_measure *measure = &filter->measure[j];

        if (measure->alive && cost_after(filter, measure, event, count) <= filter->limit)
            return true;
    }
    return false;
}

void pn_filter_charge(pn_filter *filter, const pn_event *event, size_t count)
{
    for (size_t j = 0; j < filter->count; j++) {
        pn_measure *measure = &filter->measure[j];

        add(measure, event, count, &measure->spent);
        measure->alive = measure->alive && convert(filter, measure, measure->spent.high) <= filter->limit;
    }
}

double pn_filter_closest(const pn_filter *filter, const pn_event *event, size_t count, double *requested, double *left)
{
    const pn_measure *closest = NULL;
    double least = INFINITY;
    pn_sum sum = { 0.0, 0.0 };

    for (size_t j = 0; j < filter->count; j++) {
        const pn_measure *measure = &filter->measure[j];
        double cost = measure->alive ? cost_after(filter, measure, event, count) : INFINITY;

        if (measure->alive && (!closest || cost < least)) {
            closest = measure;
            least = cost;
        }
    }
    *requested = INFINITY;
    *left = 0.0;
    if (!closest)
        return 0.0;
    add(closest, event, count, &sum);
    *requested = sum.high;
    *left = fmax(0.0, budget_at(filter, closest) - closest->spent.high);
    return closest->order;
}

double pn_filter_remaining(const pn_filter *filter, double delta)
{
    double most = 0.0;

    for (size_t j = 0; j < filter->count; j++) {
        const pn_measure *measure = &filter->measure[j];
        double left = measure->alive ? fmax(0.0, budget_at(filter, measure) - measure->spent.high) : 0.0;

        if (measure->order > 0.0 && isfinite(measure->order))
            left = pn_zcdp_epsilon(left / measure->order, delta);
        most = fmax(most, left);
    }
    return fmin(most, filter->limit);
}
