/* zeroth_order_work.c -- what a zeroth-order run takes on one core, from public sizes: numbers only.
 * Depends on: zeroth_order.h.  Used by: zeroth_order_bound.c, zeroth_order_practical.c, zeroth_order_plan.c.
 *
 * Measured on one core of a 2.6 GHz server, d = 2 to 400 and 20,000 for one direction: within a factor of 1.5 of runs.
 * A black box is taken to cost what a loss of margins does. */
#include <math.h>

#include "solvers/zeroth_order/zeroth_order.h"

#define FRESH    5e-5   /* a round with a gradient and noise of its own, beside its values */
#define LINK     1.2e-5 /* a round with a difference, whose sums share their noise */
#define MOVE     4e-8   /* a coordinate of a round */
#define RECORD   2e-7
#define VALUE    3.5e-8
#define ROW      1e-8 /* an entry of a random direction */
#define ROTATION 5e-9 /* an entry of a random orthogonal matrix */
#define PRODUCT  2.5e-10
#define SHARE    0.25

/* Of a record, whose directions `group` share. */
static double record_seconds(const zo_problem *problem, pn_directions directions)
{
    double d = problem->dim, group = fmax(problem->group, 1.0);

    if (directions == PN_DIRECTIONS_ONE)
        return RECORD + 2.0 * VALUE + ROW * d / group;
    return RECORD + 2.0 * VALUE * d + (directions == PN_DIRECTIONS_IID ? ROW : ROTATION) * d * d / group;
}

/* Of the values of an epoch. */
static double values_seconds(const zo_problem *problem, const zo_choice *choice)
{
    double records = (double)choice->first + ((double)choice->rounds - 1.0) * (double)choice->others;

    return records * record_seconds(problem, choice->method.directions);
}

/* Of its rounds.  Noise of "sqrt" sums is T^2/2 products of vectors. */
static double rounds_seconds(const zo_problem *problem, const zo_choice *choice)
{
    double T = (double)choice->rounds, d = problem->dim;

    if (choice->method.oracle == ZO_NAIVE)
        return T * (FRESH + MOVE * d);
    return FRESH + T * (LINK + MOVE * d + (choice->method.sum == PN_SUM_SQRT ? PRODUCT * T * d / 2.0 : 0.0));
}

double zo_seconds(const zo_problem *problem, const zo_choice *choice)
{
    return (double)choice->epochs * (values_seconds(problem, choice) + rounds_seconds(problem, choice));
}

bool zo_fits(const zo_problem *problem, const zo_choice *choice)
{
    double epochs = (double)choice->epochs, values = epochs * values_seconds(problem, choice);

    return !zo_is_given(problem->seconds) ||
           epochs * rounds_seconds(problem, choice) <= fmax(problem->seconds - values, SHARE * values);
}
