/* trust_region.c -- w <- w + argmin over ||h|| <= r of <g~, h> + <h, H~ h>/2, with the gradient g~ and the Hessian H~
 * of the mean loss released at w under Gaussian noise, until the multiplier of a step is at most sqrt(M a): DP-TR.
 * Depends on: trust_region.h, numeric/trust_region.h, model_release.h.  Used by: solvers.c's table.
 * Source: Wang, Xu, Escaping saddle points of empirical risk privately and scalably via DP-trust region method. */
#include <math.h>
#include <string.h>

#include "numeric/blas.h"
#include "solvers/second_order/trust_region.h"

#define UP (1.0 + 1e-9) /* beyond the rounding of steps, and of the multiplier */

typedef struct tr_state {
    pn_state base; /* first */
    pn_model_release *release;
    double *next;              /* [dim] what an update leaves unfinished when it fails */
    double *gradient, *packed; /* [dim], [packed] as released at w */
    tr_move last;              /* the step that led to w; NaN where none did */
} tr_state;

static const tr_plan *plan_of(const tr_state *self)
{
    return (const tr_plan *)self->base.plan;
}

static void tr_rooms(pn_state *state, pn_room *room)
{
    tr_state *self = (tr_state *)state;

    PN_ROOM_TAKE(room, state->dim, &self->next, &self->gradient);
    pn_room_take(room, &self->packed, plan_of(self)->model.packed);
}

static pn_status tr_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    tr_state *self = (tr_state *)state;
    const tr_plan *plan = plan_of(self);

    (void)ask;
    self->last = (tr_move){ NAN, NAN, NAN };
    memcpy(state->theta, plan->problem.start, state->dim * sizeof(double));
    return pn_model_open(&self->release, &plan->model, plan->gradient_z, plan->hessian_z, err);
}

static void tr_end(pn_state *state)
{
    pn_model_close(((tr_state *)state)->release);
}

static pn_status tr_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    tr_state *self = (tr_state *)state;
    const pn_model *model = &plan_of(self)->model;
    bool show = model->batch == model->n && pn_ask_shows(ask);
    uint64_t records = 0;

    PN_TRY(pn_model_both(self->release, pn_ask_context(ask), "trust_region", state->theta, show ? &row->value : NULL,
                         self->gradient, self->packed, &records, err));
    pn_ask_count(ask, records);
    return PN_OK;
}

/* Was that the last step? */
static void look(tr_state *self)
{
    pn_state *state = &self->base;

    if (self->last.multiplier <= tr_threshold(&plan_of(self)->of))
        state->stopped = "certified";
    else if (state->step + 1 >= state->plan->iterations)
        state->stopped = "budget";
    state->finished = state->stopped != NULL;
}

/* Everything happens in `next`, so that a step may be tried again from what has been paid for. */
static pn_status tr_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    tr_state *self = (tr_state *)state;
    size_t dim = state->dim;
    pn_trust_step step;

    PN_TRY(pn_trust_region(&step, self->next, dim, self->packed, self->gradient, plan_of(self)->of.radius, err));
    row->kind = step.hard ? "hard" : step.multiplier > 0.0 ? "boundary" : "interior";
    row->gradient_norm = sqrt(pn_dot(dim, self->gradient, self->gradient));
    row->eigenvalue = step.least;
    row->step_size = sqrt(pn_dot(dim, self->next, self->next));
    for (size_t j = 0; j < dim; j++)
        self->next[j] += state->theta[j];
    if (pn_has_diverged(state, self->next, dim)) /* the answer stays the point before */
        return PN_OK;
    memcpy(state->theta, self->next, dim * sizeof(double));
    self->last = (tr_move){ .multiplier = step.multiplier, .least = step.least, .length = row->step_size };
    look(self);
    return PN_OK;
}

void tr_certify(const tr_constants *of, const tr_move *move, double e, double E, double lowest, pn_certificate *out)
{
    double length = move->length * UP, bend = of->lipschitz * length;

    out->noisy_gradient_norm = move->multiplier * length;
    out->noisy_eigenvalue = move->least;
    out->gradient_error = (e + E * length + bend * length / 2.0) * UP;
    out->hessian_error = (E + bend) * UP;
    out->gradient_norm = out->noisy_gradient_norm * UP + out->gradient_error;
    out->eigenvalue = fmax(move->least - out->hessian_error, lowest);
    out->gradient_target = 1.75 * of->tolerance;
    out->eigenvalue_target = -13.0 / 6.0 * tr_threshold(of);
    out->failure = of->failure;
}

static void tr_certificate(const pn_state *state, pn_certificate *out)
{
    const tr_state *self = (const tr_state *)state;
    const tr_plan *plan = plan_of(self);

    *out = (pn_certificate){ .status = state->stopped ? state->stopped : "unfinished" };
    tr_certify(&plan->of, &self->last, plan->error.gradient, plan->error.hessian, plan->lowest, out);
}

static const char *const noise_params[] = { "hessian_noise", "hessian_bound", "hess_noise_factor", NULL };

const pn_solver_ops pn_solver_trust_region = {
    .name = "trust_region",
    .doc = "Every step releases gradient and Hessian of the mean loss under Gaussian noise, on all records or on "
           "fresh batches, and goes to the minimum of that quadratic model over a small ball, past saddle points "
           "too.  It ends where the ball no longer holds a step back, and certifies gradient and least eigenvalue "
           "there.",
    .source = "Wang, Xu, DP-trust region method, with all constants derived anew",
    .params = tr_params,
    .noise_params = noise_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .plan_size = sizeof(tr_plan),
    .fill = tr_fill,
    .destroy_plan = tr_plan_destroy,
    .state = sizeof(tr_state),
    .rooms = tr_rooms,
    .begin = tr_begin,
    .query = tr_query,
    .update = tr_update,
    .end = tr_end,
    .adaptive = true,
    .certify = tr_certificate,
};
