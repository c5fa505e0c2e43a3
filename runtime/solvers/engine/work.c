/* work.c -- see work.h.  Depends on: work.h.  Used by: plans that choose their number of steps. */
#include <math.h>
#include <string.h>

#include "solvers/engine/work.h"

#define STEP          4e-6
#define RECORD        1.5e-8
#define DENSE_ENTRY   2.5e-10
#define SPARSE_ENTRY  2e-9
#define MOST          1e6
#define HESSIAN_ENTRY 5e-11
#define EIGEN         1.2e-9 /* measured for d from 500 to 2000 on a core of 2020 */
#define HOUR          3600.0
#define FETCH         5e-8
#define CACHE         0x1p25
#define GRAM_COLUMNS  2048.0 /* up to here a quadratic loss is summed up by its Gram matrix */

double pn_step_seconds(const pn_objective *objective, double records)
{
    const pn_dataset *data = pn_objective_data(objective);
    double p = (double)data->p, dim = (double)pn_objective_dim(objective);
    double margins = fmax((double)pn_objective_loss(objective)->margins, 1.0);
    double entries = data->sparse ? SPARSE_ENTRY * sqrt(p) : DENSE_ENTRY * p;

    double bytes = (double)data->n * (data->sparse ? 12.0 * sqrt(p) : 8.0 * p);
    double fetch = records < (double)data->n && bytes > CACHE ? FETCH : 0.0;

    return STEP + PN_COORDINATE_SECONDS * dim + records * (RECORD + fetch + entries * margins);
}

double pn_pass_seconds(const pn_objective *objective)
{
    double n = (double)pn_objective_data(objective)->n, p = (double)pn_objective_dim(objective);
    double seconds = pn_step_seconds(objective, n);

    if (pn_objective_loss(objective)->quadratic && pn_objective_clip(objective) == 0.0 && p <= GRAM_COLUMNS)
        seconds = fmin(seconds, pn_step_seconds(objective, 0.0) + DENSE_ENTRY * p * p);
    return seconds;
}

double pn_quiet_pass_seconds(const pn_objective *objective)
{
    return pn_pass_seconds(objective) - PN_COORDINATE_SECONDS * (double)pn_objective_dim(objective);
}

double pn_hessian_seconds(const pn_objective *objective, double records)
{
    const pn_dataset *data = pn_objective_data(objective);
    double d = (double)pn_objective_dim(objective), margins = fmax((double)pn_objective_loss(objective)->margins, 1.0);
    double entries = data->sparse ? SPARSE_ENTRY * (double)data->p * margins * margins : HESSIAN_ENTRY * d * d;

    return records * entries + EIGEN * d * d * d;
}

size_t pn_steps_within(double seconds)
{
    return (size_t)fmin(fmax(PN_WORK_SECONDS / seconds, PN_WORK_STEPS), MOST);
}

size_t pn_gradient_steps_max(const pn_objective *objective)
{
    return pn_steps_within(pn_pass_seconds(objective));
}

double pn_planned_seconds(const pn_objective *objective, const pn_gradient_noise *gradient)
{
    bool coins = gradient->scheme && strcmp(gradient->scheme, "poisson") == 0;

    if (!gradient->scheme)
        return pn_pass_seconds(objective);
    return pn_step_seconds(objective, gradient->records) +
           (coins ? PN_COIN_SECONDS * (double)pn_objective_data(objective)->n : 0.0);
}

size_t pn_planned_steps_max(const pn_objective *objective, const pn_gradient_noise *gradient)
{
    return pn_steps_within(pn_planned_seconds(objective, gradient));
}

void pn_plan_held_back(pn_plan *plan, double seconds)
{
    pn_plan_add(plan, "held back, s", seconds,
                "what the full plan would take, estimated; this one is limited to %g s. iterations= is not limited",
                PN_WORK_SECONDS);
}

void pn_plan_work(pn_plan *plan, double each, double wanted)
{
    plan->seconds = (double)plan->iterations * each;
    if (wanted > (double)plan->iterations)
        pn_plan_held_back(plan, wanted * each);
}

/* Where steps differ in their records this is about the mean one. */
static double estimate(const pn_plan *plan)
{
    double steps = (double)plan->iterations, records = plan->gradients / steps;
    bool passes = plan->solver->passes && records == (double)pn_objective_data(plan->objective)->n;

    if (!(plan->gradients > 0.0))
        return 0.0;
    return steps * (passes ? pn_pass_seconds(plan->objective) : pn_step_seconds(plan->objective, records));
}

void pn_plan_estimate(pn_plan *plan)
{
    if (plan->seconds == 0.0)
        plan->seconds = estimate(plan);
    if (plan->seconds > HOUR)
        pn_plan_warn(plan,
                     "a run would take about %.3g s (%.3g hours) on one core, estimated; fewer steps take less, and a "
                     "run that is interrupted keeps what it has paid for",
                     plan->seconds, plan->seconds / HOUR);
}
