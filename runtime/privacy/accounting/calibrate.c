/* calibrate.c -- the largest privacy parameter per release that a total allows, by bisection on the accountant itself.
 * Depends on: calibrate.h, event_leaf.h, gaussian.h, numeric/root.h.  Used by: plans, bindings. */
#include <float.h>
#include <math.h>

#include "numeric/root.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/event_leaf.h"
#include "privacy/event/gaussian.h"

typedef struct target {
    double total, delta;
    size_t count;
    bool bounded_range, rho;
    double order;
} target;

/* Report noisy max is charged by the quotient of two numbers that the mechanism rounds: leave room for that. */
static const double quotient_room = 1.0 + 4.0 * DBL_EPSILON;

/* Below, costs are lost in what the curves add for their rounding, and no parameter would be found. */
static const double smallest = 1e-200;

static double cost(target *goal, double epsilon)
{
    pn_leaf leaf = { { &pn_event_exponential_ops, PN_REPLACE_ONE, 1 }, { epsilon }, epsilon };
    pn_sum rho = { 0.0, 0.0 };

    if (!goal->bounded_range) {
        leaf.base.ops = &pn_event_report_noisy_max_ops;
        leaf.level = epsilon * quotient_room;
    }
    if (!goal->rho)
        return pn_event_epsilon(&leaf.base, goal->count, goal->delta, &goal->order);
    pn_event_add_zcdp(&leaf.base, goal->count, &rho);
    return rho.high;
}

static bool too_costly(void *self, double epsilon)
{
    target *goal = self;

    return cost(goal, epsilon) > goal->total;
}

/* x or the first below it that is admissible: a few last bits, and by longer and longer steps should these not do. */
static double admissible(target *goal, double x)
{
    for (int i = 0; x > 0.0 && too_costly(goal, x); i++) /* evaluated afresh; also sets the order */
        x *= i < 1000 ? 1.0 - 1e-15 : 0.5;
    return x;
}

/* Largest admissible epsilon, starting from one that is admissible up to rounding. */
static double largest(target *goal, double start)
{
    double low = admissible(goal, start), high = start;

    while (high < 1e6 && !too_costly(goal, high))
        high *= 2.0;
    return admissible(goal, pn_bisect(too_costly, goal, low, high));
}

double pn_calibrate_exponential(double epsilon, double delta, size_t count, bool bounded_range, double *order)
{
    target goal = { epsilon, delta, count, bounded_range, false, 0.0 };
    double answer;

    if (!(epsilon / (double)count >= smallest && isfinite(epsilon) && delta >= 0.0 && delta < 1.0 && count > 0))
        return NAN;
    answer = largest(&goal, epsilon / (double)count);
    if (order)
        *order = goal.order;
    return answer;
}

double pn_calibrate_exponential_rho(double rho, size_t count, bool bounded_range)
{
    target goal = { rho, 0.0, count, bounded_range, true, 0.0 };

    if (!(rho / (double)count >= smallest && isfinite(rho) && count > 0))
        return NAN;
    return largest(&goal, sqrt((bounded_range ? 8.0 : 2.0) * rho / (double)count));
}

/* The least y with x/y <= bound, rounded upward as an event does. */
static double divide_upward(double x, double bound)
{
    double y = x / bound;

    while (isfinite(y) && pn_quotient_up(x, y) > bound)
        y = nextafter(y, INFINITY);
    return y > 0.0 && isfinite(y) ? y : NAN;
}

double pn_calibrate_gaussian(double epsilon, double delta, double sensitivity)
{
    if (!(epsilon >= 0.0 && isfinite(epsilon) && delta > 0.0 && delta < 1.0 && sensitivity > 0.0))
        return NAN;
    return divide_upward(sensitivity, pn_gaussian_mu(epsilon, pn_ideal_delta(delta)));
}

double pn_calibrate_laplace(double epsilon, double sensitivity)
{
    return epsilon > 0.0 && sensitivity > 0.0 ? divide_upward(sensitivity, epsilon) : NAN;
}
