/* ledger_filter.c -- sums of charges at orders fixed beforehand, and what they still admit.
 * Depends on: ledger_filter.h, accountant.h (conversions), gaussian.h.  Used by: ledger*.c. */
#include <math.h>

#include "privacy/accounting/accountant.h"
#include "privacy/accounting/conversion.h"
#include "privacy/event/gaussian.h"
#include "privacy/ledger/ledger_filter.h"

bool pn_within(double total, double limit, double slop)
{
    return total <= limit || total - limit <= slop * limit;
}

/* ---- one event at one measure ---- */

static double value_of(const pn_filter *filter, size_t j, const pn_event *leaf)
{
    double order = filter->measure[j].order;

    if (filter->kind == PN_FILTER_ORDER && leaf->ops == &pn_event_approximate_ops)
        return INFINITY; /* what it adds to delta has no place there */
    if (filter->kind == PN_FILTER_GAUSSIAN)
        return pn_gaussian_mu_squared(leaf);
    return order > 0.0 ? leaf->ops->rdp(leaf, order) : leaf->ops->zcdp(leaf);
}

static size_t parts_of(const pn_event *event, const pn_term **terms)
{
    size_t parts;

    *terms = pn_event_terms(event, &parts);
    return *terms ? parts : 1;
}

/* The values of `event` at measure j if they are at hand, after filling the cache if they fit. */
static const double *cached(const pn_filter *filter, size_t j, const pn_event *event)
{
    pn_filter_cache *cache = filter->cache;
    const pn_term *terms;
    size_t parts = parts_of(event, &terms);

    if (!cache || parts > cache->room)
        return NULL;
    if (cache->event != event) {
        bool same = cache->event && pn_event_same(cache->event, event);

        pn_event_free(cache->event);
        cache->event = pn_event_keep((pn_event *)(size_t)event);
        for (size_t m = 0; m < filter->count && !same; m++) {
            for (size_t i = 0; i < parts; i++)
                cache->values[m * cache->room + i] = value_of(filter, m, terms ? terms[i].event : event);
        }
    }
    return cache->values + j * cache->room;
}

/* sum += count * event at measure j, to the last bit as pn_event_add_rdp does. */
static void add(const pn_filter *filter, size_t j, const pn_event *event, size_t count, pn_sum *sum)
{
    const double *values = cached(filter, j, event);
    const pn_term *terms;
    size_t parts = parts_of(event, &terms);

    for (size_t i = 0; i < parts; i++) {
        double times = (double)count * (terms ? (double)terms[i].count : 1.0);

        pn_sum_add(sum, times, values ? values[i] : value_of(filter, j, terms ? terms[i].event : event));
    }
}

/* ---- totals against the limit ---- */

/* Noise as drawn, on a path of charges that may adapt to each other: exp(S/2) (delta (1 - share) + T) <= delta.  The
 * slack S of the exponents and the tails T may be largest on different paths, so each has its own part of the share: a
 * 128th is for S, which at 2^-76 a draw is plenty.  T is at most its largest value on any path, as a sum of chances
 * that are each known before the draw; where they are carried over by exp(epsilon), epsilon is the limit, since what a
 * path spends after a miss may depend on it.  Twice T has to fit: some paths may be bounded by their windows and others
 * by exp(epsilon).  Under a share above one half, fixed beforehand like any, T is the sum of the windows on every path,
 * once: that is the chance, under the law of the data set itself, that a draw leaves its neighbour's window or the coin
 * of an (epsilon, delta)-DP mechanism falls.  If the share is 1 the only order is inf: outside that event the density
 * ratio is at most exp(R + S), which is (epsilon, delta)-DP. */
static bool tails_fit(const pn_filter *filter, pn_slack slack)
{
    return pn_tails_fit(slack, filter->limit, filter->delta, filter->share, 1.0);
}

/* The share of epsilon that the Gaussian filter leaves for S. */
static double slack_share(const pn_filter *filter)
{
    return fmin(PN_SLACK_SHARE, filter->limit / 4.0);
}

/* A total at this measure in the unit of the limit, by the function that prices plans. */
static double convert(const pn_filter *filter, const pn_measure *measure, double total, pn_slack slack)
{
    double alpha = measure->order;

    switch (filter->kind) {
    case PN_FILTER_RENYI:
        total = isinf(alpha) ? total : pn_rdp_epsilon(alpha, total, filter->delta_each);
        return tails_fit(filter, slack) ? total + slack.epsilon : INFINITY;
    case PN_FILTER_ORDER: /* the density ratio moves by exp(slack/2) at most, in both laws */
        return total + slack.epsilon * (isinf(alpha) ? 1.0 : (alpha - 0.5) / (alpha - 1.0));
    case PN_FILTER_GAUSSIAN:
        if (!isfinite(total) || !tails_fit(filter, slack) || slack.epsilon > slack_share(filter))
            return INFINITY;
        return total > 0.0 ? pn_gaussian_epsilon(sqrt(total), filter->delta_each) + slack_share(filter) : 0.0;
    case PN_FILTER_RHO:
        break;
    }
    return total;
}

/* Under the Gaussian filter mu^2 is compared, which is exact; epsilon is for people. */
static bool holds(const pn_filter *filter, const pn_measure *measure, double total, pn_slack slack)
{
    if (filter->kind != PN_FILTER_GAUSSIAN)
        return pn_within(convert(filter, measure, total, slack), filter->limit, filter->slop);
    return pn_within(total, filter->reach, filter->slop) && tails_fit(filter, slack) &&
           slack.epsilon <= slack_share(filter);
}

static double budget_at(const pn_filter *filter, const pn_measure *measure)
{
    switch (filter->kind) {
    case PN_FILTER_RENYI:
        return pn_rdp_budget(measure->order, filter->limit, filter->delta_each);
    case PN_FILTER_GAUSSIAN:
        return filter->reach;
    default:
        return filter->limit;
    }
}

pn_slack pn_filter_slack(const pn_filter *filter)
{
    return (pn_slack){ filter->slack.high, filter->tail.high, filter->window.high };
}

void pn_filter_start(pn_filter *filter, pn_filter_kind kind, double limit, double delta, double share,
                     const double *orders, size_t count)
{
    const pn_slack none = { 0.0, 0.0, 0.0 };

    filter->kind = kind;
    filter->limit = limit;
    filter->delta = delta;
    filter->share = share;
    filter->delta_each = delta * (1.0 - share) / (double)count;
    filter->reach = 0.0;
    filter->count = count;
    filter->slack = filter->tail = filter->window = (pn_sum){ 0.0, 0.0 };
    if (kind == PN_FILTER_GAUSSIAN) {
        filter->reach = pn_gaussian_mu(limit - slack_share(filter), filter->delta_each);
        filter->reach *= filter->reach;
    }
    for (size_t j = 0; j < count; j++) {
        filter->measure[j] = (pn_measure){ orders[j], { 0.0, 0.0 }, true };
        filter->measure[j].alive = holds(filter, &filter->measure[j], 0.0, none);
    }
    if (filter->cache) {
        pn_event_free(filter->cache->event);
        filter->cache->event = NULL;
    }
}

/* Of a limit so large that alpha - 1 would vanish beside 1, log(1/delta) / LEAST_BEST is less than half. */
#define LEAST_BEST 0x1p-20

void pn_filter_default_orders(double epsilon, double delta, double orders[PN_FILTER_DEFAULT_ORDERS])
{
    double best = fmax(-2.0 * log(delta) / epsilon, LEAST_BEST);

    for (int j = 0; j < PN_FILTER_DEFAULT_ORDERS; j++)
        orders[j] = 1.0 + best / 8.0 * pow(64.0, j / (PN_FILTER_DEFAULT_ORDERS - 1.0));
}

/* ---- charges ---- */

static pn_slack slack_after(const pn_filter *filter, const pn_event *event, size_t count)
{
    pn_slack sum = pn_filter_slack(filter);

    pn_slack_add(&sum, 1.0, pn_event_slack(event, count));
    return sum;
}

static double total_after(const pn_filter *filter, size_t j, const pn_event *event, size_t count)
{
    pn_sum total = filter->measure[j].spent;

    add(filter, j, event, count, &total);
    return total.high;
}

bool pn_filter_admits(const pn_filter *filter, const pn_event *event, size_t count)
{
    pn_slack slack = slack_after(filter, event, count);

    for (size_t j = 0; j < filter->count; j++) {
        const pn_measure *measure = &filter->measure[j];

        if (measure->alive && holds(filter, measure, total_after(filter, j, event, count), slack))
            return true;
    }
    return false;
}

void pn_filter_charge(pn_filter *filter, pn_event *event, size_t count)
{
    pn_slack one = pn_event_slack(event, count);

    pn_sum_add_one(&filter->slack, one.epsilon);
    pn_sum_add_one(&filter->tail, one.tail);
    pn_sum_add_one(&filter->window, one.window);
    for (size_t j = 0; j < filter->count; j++) {
        pn_measure *measure = &filter->measure[j];

        add(filter, j, event, count, &measure->spent);
        measure->alive = measure->alive && holds(filter, measure, measure->spent.high, pn_filter_slack(filter));
    }
}

double pn_filter_closest(const pn_filter *filter, const pn_event *event, size_t count, double *requested, double *left)
{
    size_t closest = filter->count;
    double least = INFINITY;
    pn_slack slack = slack_after(filter, event, count);
    pn_sum sum = { 0.0, 0.0 };

    for (size_t j = 0; j < filter->count; j++) {
        const pn_measure *measure = &filter->measure[j];
        double cost = measure->alive ? convert(filter, measure, total_after(filter, j, event, count), slack) : INFINITY;

        if (measure->alive && (closest == filter->count || cost < least)) {
            closest = j;
            least = cost;
        }
    }
    *requested = INFINITY;
    *left = 0.0;
    if (closest == filter->count)
        return 0.0;
    add(filter, closest, event, count, &sum);
    *requested = sum.high;
    *left = fmax(0.0, budget_at(filter, &filter->measure[closest]) - filter->measure[closest].spent.high);
    return filter->measure[closest].order;
}

double pn_filter_spent(const pn_filter *filter)
{
    return convert(filter, &filter->measure[0], filter->measure[0].spent.high, pn_filter_slack(filter));
}

double pn_filter_remaining(const pn_filter *filter)
{
    double most = 0.0;

    for (size_t j = 0; j < filter->count; j++) {
        const pn_measure *measure = &filter->measure[j];
        double left = measure->alive ? fmax(0.0, budget_at(filter, measure) - measure->spent.high) : 0.0;

        if (filter->kind == PN_FILTER_RENYI && isfinite(measure->order))
            left = pn_zcdp_epsilon(left / measure->order, pn_ideal_delta(filter->delta));
        else if (filter->kind == PN_FILTER_GAUSSIAN && left > 0.0)
            left = pn_gaussian_epsilon(sqrt(left), filter->delta_each);
        most = fmax(most, left);
    }
    return fmin(most, filter->limit);
}
