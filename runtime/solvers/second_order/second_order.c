/* second_order.c -- gradient steps, negative-curvature steps and the end of private second-order descent, as a machine
 * of stages: what a stage has released or paid for is kept, so that a step that failed goes on from there and draws
 * nothing twice.
 * Depends on: second_order_run.h, first_order.h, CBLAS.  Used by: solvers.c's table.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM, Algorithms 1 to 3. */
#include <math.h>
#include <string.h>

#include <cblas.h>

#include "geometry/kernels/upper.h"
#include "solvers/engine/first_order.h"
#include "solvers/second_order/second_order_run.h"

/* ---- life ---- */

static void so_end(pn_state *state)
{
    so_state *self = (so_state *)state;

    pn_model_close(self->phase.release);
    pn_line_search_free(self->search);
    pn_products_free(self->products);
}

static void so_rooms(pn_state *state, pn_room *room)
{
    so_state *self = (so_state *)state;
    const so_plan *plan = so_plan_of(self);

    PN_ROOM_TAKE(room, state->dim, &self->next, &self->gradient, &self->direction, &self->start);
    pn_room_take(room, &self->packed, plan->eigen != PN_EIGEN_MATRIX_FREE ? plan->model.packed : 0);
}

static pn_status check_stream(const so_plan *plan, pn_oracle *ask, pn_err *err)
{
    if (plan->eigen != PN_EIGEN_MATRIX_FREE || !plan->model.is_private ||
        (pn_ask_shows(ask) && pn_oracle_is_lesson(ask)))
        return PN_OK;
    return pn_fail(err, PN_EPRIVACY,
                   "eigen=\"matrix_free\" is for simulations: the rounding of a product depends on "
                   "the records, and no lattice hides it; use eigen=\"dense\" or \"lanczos\", or simulated noise");
}

static pn_status so_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    so_state *self = (so_state *)state;
    const so_plan *plan = so_plan_of(self);

    self->allowance = plan->allowance;
    self->iterations = plan->cap;
    return check_stream(plan, ask, err);
}

/* ---- releases ---- */

static pn_status take_gradient(so_state *self, pn_err *err)
{
    const pn_model *model = &so_plan_of(self)->model;
    bool shows = model->batch == model->n && pn_ask_shows(self->ask);
    double value = NAN;

    PN_TRY(pn_model_gradient(self->phase.release, pn_ask_context(self->ask), "second_order gradient", self->base.theta,
                             shows ? &value : NULL, self->gradient, &self->records, err));
    pn_allowance_take(&self->allowance, self->phase.noise.gradient_cost);
    self->value = value;
    self->norm = pn_norm_upper(PN_L2, self->gradient, self->base.dim);
    self->least = (pn_least){ .value = NAN, .error = NAN };
    self->in_phase++;
    self->stage = SO_HESSIAN;
    return PN_OK;
}

/* The direction of a step is known, and its length but for a search. */
static void set_out(so_state *self, const char *kind, double sure, double factor, size_t tests)
{
    const so_plan *plan = so_plan_of(self);
    pn_line_search *line = &self->line;

    self->kind = kind;
    self->step = sure;
    line->point = self->base.theta;
    line->direction = self->direction;
    line->otherwise = sure;
    line->first = plan->of.b0 * sure;
    line->factor = factor;
    line->tests = tests;
    line->slope = plan->slope;
    line->epsilon = self->phase.noise.search_epsilon;
    self->stage = plan->line_search ? SO_SEARCH : SO_NEXT;
}

static void set_out_downhill(so_state *self)
{
    const so_constants *of = &so_plan_of(self)->of;

    for (size_t j = 0; j < self->base.dim; j++)
        self->direction[j] = -self->gradient[j];
    self->line.linear = of->c_g * self->norm * self->norm;
    self->line.quadratic = 0.0;
    set_out(self, "gradient", so_plan_of(self)->line_search ? of->step_g : 1.0 / of->smoothness, of->beta_g,
            of->tests_g);
}

/* Along the eigenvector, on the side where the released gradient does not rise. */
static void set_out_along_curvature(so_state *self)
{
    const so_constants *of = &so_plan_of(self)->of;
    double bend = fabs(self->least.value);

    if (cblas_ddot((int)self->base.dim, self->direction, 1, self->gradient, 1) > 0.0)
        cblas_dscal((int)self->base.dim, -1.0, self->direction, 1);
    self->line.linear = 0.0;
    self->line.quadratic = of->c_h / 2.0 * bend;
    set_out(self, "curvature", (so_plan_of(self)->line_search ? of->t2 : 2.0) * bend / of->lipschitz, of->beta_h,
            of->tests_h);
}

static pn_status take_hessian(so_state *self, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    const so_phase *phase = &self->phase;
    pn_step_context *context = pn_ask_context(self->ask);

    if (self->norm > plan->of.eps_g) {
        set_out_downhill(self);
        return PN_OK;
    }
    if (plan->eigen == PN_EIGEN_MATRIX_FREE)
        PN_TRY(pn_products_open(&self->products, plan->base.owner, &plan->model, phase->noise.z, self->base.theta,
                                context, "second_order hessian", err));
    else
        PN_TRY(pn_model_hessian(phase->release, context, "second_order hessian", self->base.theta, self->packed,
                                &self->records, err));
    pn_allowance_take(&self->allowance, phase->noise.hessian_cost);
    self->started = false;
    self->stage = SO_EIGENPAIR;
    return PN_OK;
}

/* ---- the least eigenpair ---- */

/* Of a bound that has to hold at whichever release turns out to be the last: one part in all that can be released in
 * the phase.  Parts are noise and sampling of gradient and Hessian, and Lanczos. */
static double share_of_failure(const so_state *self)
{
    const so_plan *plan = so_plan_of(self);
    const pn_model *model = &plan->model;
    size_t parts = (model->is_private ? 2u : 0u) + (model->batch < model->n ? 2u : 0u) +
                   (pn_least_needs_start(plan->eigen, model->dim) ? 1u : 0u);

    return plan->of.failure / ((double)plan->phases * (parts ? (double)parts : 1.0) * (double)self->phase.most);
}

/* A random direction, drawn once for a Hessian. */
static pn_status draw_start(so_state *self, pn_err *err)
{
    size_t dim = self->base.dim;
    pn_rng *own = NULL;
    pn_rng *rng = pn_ask_context(self->ask)->rng;

    if (self->started || !pn_least_needs_start(so_plan_of(self)->eigen, dim))
        return PN_OK;
    if (!rng)
        PN_TRY(pn_rng_seeded(&own, 0x9e3779b9u + self->base.step, err));
    pn_rng_many_normals(own ? own : rng, dim, self->start);
    pn_rng_free(own);
    self->started = true;
    return PN_OK;
}

/* At least the operator norm of a Hessian that is not stored. */
static double product_norm(const so_state *self, double failure)
{
    const so_plan *plan = so_plan_of(self);
    const pn_model *model = &plan->model;

    return plan->of.smoothness + pn_model_hessian_noise(model, self->phase.noise.z, failure) +
           (model->batch < model->n ? model->bounds.record : 0.0);
}

static pn_status find_least(so_state *self, pn_err *err)
{
    const so_plan *plan = so_plan_of(self);
    double failure = share_of_failure(self);
    pn_task *task = pn_ask_task(self->ask);
    pn_least_options options = { .owner = plan->base.owner,
                                 .how = plan->eigen,
                                 .tau = 0.1 * plan->of.eps_h,
                                 .failure = failure,
                                 .start = self->start };

    PN_TRY(draw_start(self, err));
    if (self->products)
        PN_TRY(pn_products_least(&self->least, self->direction, self->products, product_norm(self, failure), &options,
                                 task, &self->records, err));
    else
        PN_TRY(pn_least_stored(&self->least, self->direction, self->packed, self->base.dim, &options, task, err));
    pn_products_free(self->products);
    self->products = NULL;
    if (self->least.value < -plan->of.eps_h) {
        set_out_along_curvature(self);
        return PN_OK;
    }
    self->kind = "done";
    self->step = 0.0;
    self->certified = true;
    so_finish(self, "certified", false);
    return PN_OK;
}

/* ---- the step ---- */

static pn_status search(so_state *self, pn_err *err)
{
    pn_step_context *context = pn_ask_context(self->ask);
    size_t tested;
    bool charged = false;

    if (!self->search)
        PN_TRY(pn_line_search_open(&self->search, &self->line, &so_plan_of(self)->model, context, "second_order search",
                                   &charged, err));
    if (charged)
        pn_allowance_take(&self->allowance, self->phase.noise.search_cost);
    PN_TRY(pn_line_search_ask(self->search, context, &self->step, &tested, &self->records, err));
    pn_line_search_free(self->search);
    self->search = NULL;
    self->stage = SO_NEXT;
    return PN_OK;
}

/* What fails, or is stopped, goes on at the stage where it was. */
static pn_status so_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    static pn_status (*const stages[])(so_state *, pn_err *) = {
        [SO_VALUE] = so_take_value,  [SO_OPEN] = so_first_phase,  [SO_GRADIENT] = take_gradient,
        [SO_HESSIAN] = take_hessian, [SO_EIGENPAIR] = find_least, [SO_SEARCH] = search,
        [SO_NEXT] = so_next,
    };
    so_state *self = (so_state *)state;
    pn_status status = PN_OK;

    self->ask = ask;
    while (status == PN_OK && self->stage < SO_MOVE)
        status = stages[self->stage](self, err);
    pn_ask_count(ask, self->records);
    self->records = 0;
    row->kind = self->kind;
    row->value = self->value;
    row->step_size = self->step;
    row->gradient_norm = self->norm;
    row->eigenvalue = self->least.value;
    return status;
}

static pn_status move(so_state *self, pn_err *err)
{
    const pn_set *set = pn_objective_set(self->base.plan->objective);
    size_t dim = self->base.dim;

    for (size_t j = 0; j < dim; j++)
        self->next[j] = self->base.theta[j] + self->step * self->direction[j];
    if (pn_has_diverged(&self->base, self->next, dim)) { /* the answer stays the point before */
        self->ending = NULL;
        return PN_OK;
    }
    PN_TRY(set ? pn_set_project(set, self->next, dim, err) : PN_OK);
    memcpy(self->base.theta, self->next, dim * sizeof(double));
    return PN_OK;
}

static pn_status so_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    so_state *self = (so_state *)state;

    (void)row;
    PN_TRY(self->stage == SO_MOVE ? move(self, err) : PN_OK);
    self->stage = SO_GRADIENT;
    if (self->ending) {
        state->finished = true;
        state->stopped = self->ending;
    }
    return PN_OK;
}

/* ---- what it proves ---- */

static double proven(double x)
{
    return isfinite(x) ? x : NAN;
}

static void so_certify(const pn_state *state, pn_certificate *out)
{
    const so_state *self = (const so_state *)state;
    const so_plan *plan = so_plan_of(self);
    const pn_model *model = &plan->model;
    double failure, z = self->phase.noise.z, lowest = pn_objective_bounds(plan->base.objective)->strong_convexity;

    *out = (pn_certificate){ .status = state->finished                        ? state->stopped
                                       : state->step >= plan->base.iterations ? so_out_of_iterations(self)
                                                                              : "unfinished",
                             .gradient_norm = NAN,
                             .eigenvalue = NAN,
                             .failure = so_is_exact(plan) ? 0.0 : plan->of.failure,
                             .noisy_gradient_norm = NAN,
                             .noisy_eigenvalue = NAN,
                             .gradient_error = NAN,
                             .hessian_error = NAN,
                             .gradient_target = plan->of.gradient,
                             .eigenvalue_target = -plan->of.hessian };
    if (!self->certified) /* the point has moved since its gradient was released */
        return;
    failure = share_of_failure(self);
    out->gradient_error = pn_model_gradient_sampling(model, failure) + pn_model_gradient_noise(model, z, failure);
    out->hessian_error =
        pn_model_hessian_sampling(model, failure) + self->least.error + pn_model_hessian_noise(model, z, failure);
    out->noisy_gradient_norm = self->norm;
    out->noisy_eigenvalue = self->least.value;
    out->gradient_norm = proven(self->norm + out->gradient_error);
    out->eigenvalue = proven(fmax(self->least.value - out->hessian_error, lowest));
}

static const char *const noise_params[] = { "phases",      "first_share",   "first_iterations", "use_filter",
                                            "value_share", "hessian_noise", "hessian_bound",    NULL };

const pn_solver_ops pn_solver_second_order = {
    .name = "second_order",
    .doc =
        "Approximate second-order points of nonconvex losses: steps along noisy gradients while these are large, then "
        "along the most negative direction of a noisy Hessian, until neither is left.  Short steps or a private line "
        "search, all records or batches, one phase or two; ends as soon as its point is certified and pays only for "
        "what it released.",
    .source = "Gao, Wright, Differentially private optimization for smooth nonconvex ERM, with constants derived anew",
    .params = so_params,
    .noise_params = noise_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .plan_size = sizeof(so_plan),
    .fill = so_fill,
    .passes = true,
    .state = sizeof(so_state),
    .rooms = so_rooms,
    .begin = so_begin,
    .query = so_query,
    .update = so_update,
    .end = so_end,
    .adaptive = true,
    .certify = so_certify,
};
