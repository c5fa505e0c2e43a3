/* newton_exact.c -- Newton's method without privacy: a line search on values of f along Newton's direction, and along
 * that of the majorant where l'' is of no use, such as 0 for huber with all residuals beyond delta.
 * Depends on: newton.h.  Used by: newton.c.
 * Source: Nocedal, Wright (2006), chapter 3. */
#include <math.h>
#include <string.h>

#include "numeric/blas.h"
#include "solvers/second_order/newton.h"

#define DECREASE 1e-4  /* of what the slope promises, for a step to be taken (Armijo) */
#define FEW      8     /* halvings of Newton's step, before the majorant's is tried */
#define MANY     60    /* and of that */
#define ROUNDING 1e-13 /* of f, that is left to gain */

/* value, g and whole of f at w. */
static pn_status take_exact(nw_state *self, double *value, pn_err *err)
{
    const pn_model *model = &nw_plan_of(self)->model;
    double extra = 0.0;

    PN_TRY(
        pn_objective_quadratic(model->objective, NULL, self->base.theta, value, self->g, self->whole, self->task, err));
    PN_TRY(nw_take_regular(self, &extra, true, err));
    *value += extra;
    if (isnan(*value))
        return pn_objective_undefined(model->objective, self->base.plan->owner, err);
    pn_axpy(model->dim, 1.0, self->regular, self->g);
    return pn_raised_set(&self->quadratic, self->whole, 0.0, err);
}

/* From w along `along`, whose slope is `slope` < 0: w moves unless no step is found. */
static pn_status line_search(nw_state *self, int halvings, double here, double slope, double *step, pn_err *err)
{
    size_t dim = nw_plan_of(self)->model.dim;
    double value;

    *step = 1.0;
    for (int k = 0; k < halvings; k++, *step *= 0.5) {
        for (size_t j = 0; j < dim; j++)
            self->next[j] = self->base.theta[j] + *step * self->along[j];
        PN_TRY(pn_objective_evaluate(self->base.plan->objective, self->next, &value, NULL, self->task, err));
        if (value <= here + DECREASE * *step * slope) {
            memcpy(self->base.theta, self->next, dim * sizeof *self->base.theta);
            return PN_OK;
        }
    }
    *step = 0.0;
    return PN_OK;
}

/* To the least point of `quadratic`, or part of the way; *slope along it. */
static pn_status go(nw_state *self, int halvings, double here, double *slope, double *step, pn_err *err)
{
    size_t dim = nw_plan_of(self)->model.dim;

    *step = 0.0;
    PN_TRY(pn_raised_minimise(&self->quadratic, pn_objective_constraint(self->base.plan->objective), self->base.theta,
                              self->g, self->next, self->task, err));
    for (size_t j = 0; j < dim; j++)
        self->along[j] = self->next[j] - self->base.theta[j];
    *slope = pn_dot(dim, self->g, self->along);
    return *slope < 0.0 && isfinite(*slope) ? line_search(self, halvings, here, *slope, step, err) : PN_OK;
}

/* The same by the majorant. */
static pn_status go_by_majorant(nw_state *self, double here, double *slope, double *step, pn_err *err)
{
    PN_TRY(
        pn_objective_majorant(self->base.plan->objective, self->base.theta, NULL, NULL, self->fresh, self->task, err));
    nw_spread(self, self->fresh, self->whole);
    PN_TRY(nw_take_regular(self, NULL, true, err));
    PN_TRY(pn_raised_set(&self->quadratic, self->whole, 0.0, err));
    return go(self, MANY, here, slope, step, err);
}

pn_status nw_exact_step(nw_state *self, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    const pn_model *model = &nw_plan_of(self)->model;
    double slope = 0.0, value = NAN;

    PN_TRY(take_exact(self, &value, err));
    pn_ask_count(ask, model->n);
    row->value = value;
    row->gradient_norm = pn_lp_norm(PN_L2, model->dim, self->g);
    row->eigenvalue = self->quadratic.found[0];
    row->kind = "newton";
    PN_TRY(go(self, FEW, value, &slope, &row->step_size, err));
    if (row->step_size == 0.0 && row->gradient_norm > 0.0) {
        PN_TRY(go_by_majorant(self, value, &slope, &row->step_size, err));
        pn_ask_count(ask, model->n);
    }
    if (row->step_size == 0.0 || -slope <= ROUNDING * fmax(1.0, fabs(value)))
        self->base.finished = true;
    return PN_OK;
}
