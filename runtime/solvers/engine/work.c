/* work.c -- see work.h.  Depends on: work.h.  Used by: plans that choose their number of steps. */
#include <math.h>
#include <string.h>

#include "solvers/engine/work.h"

#define STEP         4e-6
#define COORDINATE   1e-8
#define RECORD       1.5e-8
#define DENSE_ENTRY  2.5e-10
#define SPARSE_ENTRY 2e-9
#define FEWEST       30.0
#define MOST         1e6
#define FETCH        5e-8
#define CACHE        0x1p25
#define GRAM_COLUMNS 2048.0 /* up to here a quadratic loss is summed up by its Gram matrix */

double pn_step_seconds(const pn_objective *objective, double records)
{
    const pn_dataset *data = pn_objective_data(objective);
    double p = (double)data->p, dim = (double)pn_objective_dim(objective);
    double margins = fmax((double)pn_objective_loss(objective)->margins, 1.0);
    double entries = data->sparse ? SPARSE_ENTRY * sqrt(p) : DENSE_ENTRY * p;

    double bytes = (double)data->n * (data->sparse ? 12.0 * sqrt(p) : 8.0 * p);
    double fetch = records < (double)data->n && bytes > CACHE ? FETCH : 0.0;

    return STEP + COORDINATE * dim + records * (RECORD + fetch + entries * margins);
}

size_t pn_gradient_steps_max(const pn_objective *objective)
{
    double n = (double)pn_objective_data(objective)->n, p = (double)pn_objective_dim(objective);
    double seconds = pn_step_seconds(objective, n);

    if (pn_objective_loss(objective)->quadratic && pn_objective_clip(objective) == 0.0 && p <= GRAM_COLUMNS)
        seconds = fmin(seconds, pn_step_seconds(objective, 0.0) + DENSE_ENTRY * p * p);
    return (size_t)fmin(fmax(PN_WORK_SECONDS / seconds, FEWEST), MOST);
}

double pn_planned_seconds(const pn_objective *objective, const pn_gradient_noise *gradient)
{
    bool coins = gradient->scheme && strcmp(gradient->scheme, "poisson") == 0;

    return pn_step_seconds(objective, gradient->records) +
           (coins ? PN_COIN_SECONDS * (double)pn_objective_data(objective)->n : 0.0);
}

size_t pn_planned_steps_max(const pn_objective *objective, const pn_gradient_noise *gradient)
{
    if (!gradient->scheme)
        return pn_gradient_steps_max(objective);
    return (size_t)fmin(fmax(PN_WORK_SECONDS / pn_planned_seconds(objective, gradient), FEWEST), MOST);
}

void pn_plan_held_back(pn_plan *plan, double seconds)
{
    pn_plan_add(plan, "held back, s", seconds,
                "what the full plan would take, estimated; this one is limited to %g s. iterations= is not limited",
                PN_WORK_SECONDS);
}
