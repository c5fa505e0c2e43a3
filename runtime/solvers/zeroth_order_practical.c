/* zeroth_order_practical.c -- sizes of a private zeroth-order run for problems whose bounds say nothing.
 * Depends on: zeroth_order.h.  Used by: zeroth_order_plan.c.
 * Source: zeroth-order.md section 5. */
#include <math.h>

#include "solvers/zeroth_order.h"

#define ROUNDS 32

bool zo_practical(const zo_problem *problem, zo_method method, double distance, const zo_choice *fixed,
                  zo_choice *choice)
{
    static const zo_choice nothing;
    const zo_choice *keep = fixed ? fixed : &nothing;
    zo_choice at = { .method = method, .step = keep->step };
    double radius = problem->radius > 0.0 ? problem->radius : 0.15 * distance, an_epoch, others;

    at.rounds = keep->rounds > 0 ? keep->rounds : ROUNDS;
    at.smoothing = keep->smoothing > 0.0 ? keep->smoothing : radius / 2.0;
    at.ball = keep->ball > 0.0 ? keep->ball : at.smoothing / 10.0;
    others = ceil(problem->records / (15.0 * distance / at.ball * 1.5));
    at.others = keep->others > 0 ? keep->others : (size_t)fmax(1.0, others);
    at.first = keep->first > 0 ? keep->first : (at.rounds * at.others + 1) / 2;
    if (method.oracle == ZO_NAIVE)
        at.first = at.others = keep->first > 0 ? keep->first : at.others;
    an_epoch = (double)at.first + ((double)at.rounds - 1.0) * (double)at.others;
    at.epochs = keep->epochs > 0 ? keep->epochs : (size_t)(problem->records / an_epoch);
    if (at.epochs == 0 || (double)at.epochs * an_epoch > problem->records)
        return false;
    zo_evaluate(problem, &at);
    *choice = at;
    return true;
}
