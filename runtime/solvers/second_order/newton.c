/* newton.c -- w <- argmin over the set of <g, v - w> + <v - w, A (v - w)>/2 + d ||v - w0||^2/2: private Newton.  A is
 * what is known of the Hessian of f from matrices that were released under Gaussian noise, a majorant of it at the
 * start w0 first, its eigenvalues raised above that noise; g the gradient of f as far as releases tell;
 * d what is expected to serve best.
 * Depends on: newton.h, oracle.  Used by: solvers.c's table.
 * Source: Ganesh, Haghifam, Steinke, Thakurta (2023); Stein (1981) for d; Kalman (1960) for gains.
 *
 * Gradients.  A step changes the gradient by H (w' - w), which the matrix known predicts with an error of variance
 * spread/2 ||w' - w||^2 a coordinate, spread the variance of its noise (isotropic in Frobenius norm; all of spread
 * where entries have the same).  A released gradient, of variance s^2, corrects g by the part P/(P + s^2) of what it
 * differs, P the variance of g before, which leaves (1 - P/(P + s^2)) P: as the steps become short the estimate becomes
 * the mean of all that was released.  Where the curvature is not the same everywhere, a prediction is off by a part of
 * what it says, too: a majorant is a few to twenty per cent above the Hessian.  MISFIT^2 of its square, spread over the
 * coordinates, goes into P.  Without it P fell below half of the mean square that g was off by after ten steps of a
 * logistic loss (n = 10^4, d = 5, epsilon = 1), and the excess risk was 1.7 times what it is with it.  A release that
 * differs by more than its noise and P explain says so, and P is raised to what it says (nw_gain).
 *
 * Matrices.  Likewise: a Hessian released later corrects the one known, so that all of them are averaged where their
 * noise is more than what the curvature changes, and the last one counts where it is less.
 *
 * Damping.  A released gradient of which little but noise is left would lead anywhere.  b, the gradient at w as
 * predictions carry it back to w0, has noise of a known variance, so how much better than w0 the point is to which
 * steps with d lead can be estimated from released numbers alone; the d that promises most is taken, 0 as a rule, and
 * where none promises anything the point is w0. */
#include <math.h>
#include <string.h>

#include "numeric/blas.h"
#include "numeric/symmetric.h"
#include "solvers/second_order/newton.h"

#define MISFIT 0.25 /* see "Gradients": risk is flat from 0.1 to 0.5, and least near this */

static const pn_regulariser *regulariser_of(const nw_state *self)
{
    return pn_objective_regulariser(self->base.plan->objective);
}

/* ---- life ---- */

static void nw_end(pn_state *state)
{
    nw_state *self = (nw_state *)state;

    pn_model_close(self->first);
    pn_model_close(self->again);
    pn_model_close(self->last);
    pn_raised_clear(&self->quadratic);
}

static void nw_rooms(pn_state *state, pn_room *room)
{
    nw_state *self = (nw_state *)state;

    PN_ROOM_TAKE(room, state->dim, &self->next, &self->g, &self->at_start, &self->regular, &self->along, &self->raw,
                 &self->seen, &self->origin, &self->pull);
    PN_ROOM_TAKE(room, nw_plan_of(self)->model.packed, &self->packed, &self->whole, &self->fresh, &self->hessian);
}

static pn_status nw_begin(pn_state *state, pn_oracle *ask, pn_err *err)
{
    nw_state *self = (nw_state *)state;
    const nw_plan *plan = nw_plan_of(self);

    self->task = pn_ask_task(ask);
    memcpy(self->base.theta, plan->problem.start, plan->model.dim * sizeof(double));
    PN_TRY(pn_raised_init(&self->quadratic, self->base.plan->owner, plan->model.dim, err));
    if (!plan->model.is_private)
        return PN_OK;
    PN_TRY(pn_model_open(&self->first, &plan->first, plan->first_z, plan->hessian_z, err));
    if (plan->matrices > 2)
        PN_TRY(pn_model_open(&self->again, &plan->again, 0.0, plan->hessian_z, err));
    return plan->matrices > 1 ? pn_model_open(&self->last, &plan->last, 0.0, plan->hessian_z, err) : PN_OK;
}

/* ---- what is public ---- */

pn_status nw_take_regular(nw_state *self, double *value, bool hessian, pn_err *err)
{
    const pn_regulariser *reg = regulariser_of(self);
    size_t dim = nw_plan_of(self)->model.dim;

    memset(self->regular, 0, dim * sizeof *self->regular);
    if (!reg)
        return PN_OK;
    PN_TRY(reg->ops->evaluate(reg, dim, self->base.theta, value, self->regular, err));
    return hessian ? pn_objective_add_regular_hessian(self->base.plan->objective, self->base.theta, self->whole, err)
                   : PN_OK;
}

/* `quadratic` for the point w: anew when a matrix was released, or r has another Hessian. */
static pn_status refresh(nw_state *self, pn_err *err)
{
    const nw_plan *plan = nw_plan_of(self);
    bool keep = self->current && !regulariser_of(self);
    double least = nw_least(plan, self->matrices > 1 ? &plan->again : &plan->first, self->spread);

    self->current = false;
    memcpy(self->whole, self->packed, plan->model.packed * sizeof *self->whole);
    PN_TRY(nw_take_regular(self, NULL, !keep, err));
    PN_TRY(keep ? PN_OK : pn_raised_set(&self->quadratic, self->whole, least, err));
    self->current = true;
    return PN_OK;
}

void nw_spread(const nw_state *self, const double *from, double *to)
{
    size_t dim = nw_plan_of(self)->model.dim, p = pn_objective_data(self->base.plan->objective)->p;

    memset(to, 0, nw_plan_of(self)->model.packed * sizeof *to);
    for (size_t j = 0; j < dim; j++) {
        size_t in = j % p;

        memcpy(to + j * (j + 1) / 2 + (j - in), from + in * (in + 1) / 2, (in + 1) * sizeof *to);
    }
}

/* ---- releases ---- */

static double squared(double x)
{
    return x * x;
}

/* The mean loss's gradient at w, less that at the start where differences are released; and f, where it may be
 * shown. */
static pn_status compute(nw_state *self, pn_oracle *ask, double *value, pn_err *err)
{
    const nw_plan *plan = nw_plan_of(self);
    pn_objective *objective = plan->base.objective;
    double extra = 0.0;
    bool show = pn_ask_shows(ask);

    if (plan->differences && !self->begun)
        PN_TRY(pn_objective_losses(objective, NULL, plan->problem.start, NULL, self->origin, self->task, err));
    self->begun = true;
    PN_TRY(show ? nw_take_regular(self, &extra, false, err) : PN_OK);
    PN_TRY(pn_objective_losses(objective, NULL, self->base.theta, show ? value : NULL, self->raw, self->task, err));
    *value += extra;
    if (plan->differences)
        pn_axpy(plan->model.dim, -1.0, self->origin, self->raw);
    if (pn_first_nonfinite(self->raw, plan->model.dim) < plan->model.dim)
        return pn_objective_undefined(objective, self->base.plan->owner, err);
    return PN_OK;
}

/* Of those that are spread evenly over the steps. */
static bool wants_matrix(const nw_state *self)
{
    const nw_plan *plan = nw_plan_of(self);

    return self->matrices < self->base.step * plan->matrices / plan->base.iterations + 1;
}

/* Asked while one is due. */
static bool is_last_matrix(const nw_state *self)
{
    return self->matrices + 1 == nw_plan_of(self)->matrices;
}

/* Of the first step gradient and matrix; of the others a gradient, and a matrix where one is due. */
static pn_status release(nw_state *self, pn_oracle *ask, double *value, pn_err *err)
{
    const nw_plan *plan = nw_plan_of(self);
    pn_step_context *context = pn_ask_context(ask);
    uint64_t records = 0;

    if (self->base.step == 0) {
        PN_TRY(pn_model_both(self->first, context, "newton", self->base.theta, pn_ask_shows(ask) ? value : NULL,
                             self->seen, self->fresh, &records, err));
        pn_ask_count(ask, records);
        return PN_OK;
    }
    PN_TRY(compute(self, ask, value, err));
    PN_TRY(pn_ask_masked(ask, self->raw, self->seen, err));
    if (wants_matrix(self))
        PN_TRY(pn_model_hessian(is_last_matrix(self) ? self->last : self->again, context, "newton", self->base.theta,
                                self->fresh, NULL, err));
    pn_ask_count(ask, plan->model.n);
    return PN_OK;
}

/* ---- what is known after them ---- */

/* A release that differs from its prediction by more than both their variances explain tells that the prediction was
 * off: then by what is left.  By more than six deviations of a mean of squares, which noise alone brings about in 2 of
 * 1,000 releases of one number and in 1 of 10,000 of nine: a false alarm loses what is known, and most where it is
 * known better than a release tells; where the prediction is off, it is by far. */
double nw_gain(double *variance, double noise, double seen, double count)
{
    double gain;

    if (seen > (*variance + noise) * (1.0 + 6.0 * sqrt(2.0 / count)))
        *variance = seen - noise;
    gain = *variance / (*variance + noise);
    *variance = gain * noise;
    return gain;
}

static void keep_hessian(nw_state *self, const double *packed)
{
    memcpy(self->hessian, packed, nw_plan_of(self)->model.packed * sizeof *packed);
    self->has_hessian = true;
}

static void take_first(nw_state *self)
{
    const nw_plan *plan = nw_plan_of(self);

    memcpy(self->g, self->seen, plan->model.dim * sizeof *self->g);
    memcpy(self->at_start, self->g, plan->model.dim * sizeof *self->g);
    nw_spread(self, self->fresh, self->packed);
    /* differences all share what is off there */
    self->variance = plan->differences ? 0.0 : squared(plan->first.gradient_sensitivity * plan->first_z);
    self->spread = squared(plan->first.hessian_sensitivity * plan->hessian_z);
    self->matrices = 1;
    self->current = false;
    if (plan->matrices == 1 && nw_majorant_is_hessian(plan))
        keep_hessian(self, self->packed);
}

static void take_later(nw_state *self)
{
    const nw_plan *plan = nw_plan_of(self);
    size_t dim = plan->model.dim;
    double gain, off = 0.0;

    if (plan->differences)
        pn_axpy(dim, 1.0, self->at_start, self->seen);
    for (size_t j = 0; j < dim; j++)
        off += squared(self->seen[j] - self->g[j]);
    gain = nw_gain(&self->variance, squared(plan->later.gradient_sensitivity * plan->later_z), off / (double)dim,
                   (double)dim);
    for (size_t j = 0; j < dim; j++)
        self->g[j] += gain * (self->seen[j] - self->g[j]);
}

/* The matrix known is corrected by the fresh one.  Frobenius noise: entries beside the diagonal count twice, with half
 * of the variance. */
static void correct(nw_state *self)
{
    const pn_model *model = is_last_matrix(self) ? &nw_plan_of(self)->last : &nw_plan_of(self)->again;
    double d = (double)model->dim, count = model->frobenius ? d * (d + 1.0) / 2.0 : d * d, off = 0.0, gain;

    if (is_last_matrix(self))
        keep_hessian(self, self->fresh);
    pn_axpy(model->packed, -1.0, self->packed, self->fresh);
    for (size_t j = 0, k = 0; j < model->dim; j++) {
        for (size_t i = 0; i <= j; i++, k++)
            off += (i < j ? 2.0 : 1.0) * squared(self->fresh[k]);
    }
    gain =
        nw_gain(&self->spread, squared(model->hessian_sensitivity * nw_plan_of(self)->hessian_z), off / count, count);
    pn_axpy(model->packed, gain, self->fresh, self->packed);
    self->matrices++;
    self->current = false;
}

/* ---- a private step ---- */

#define OUTSIDE 0x1p-31 /* beyond the set's radii, which slopes leave room for (SLACK of model_noise.c) */

/* Differences of slopes rest on margins, and these on the radii of the set in l1, l2 and linf.  Iterative projections
 * may end further outside than rounding takes others: such a point, which is public,
 * is drawn toward the origin until the radii hold. */
static void keep_within(const pn_set *set, double *x, size_t dim)
{
    double over = 1.0;

    for (int norm = 0; set && norm < PN_LP_COUNT; norm++) {
        double radius = set->ops->radius(set, (pn_lp)norm), size = pn_lp_norm((pn_lp)norm, dim, x);

        if (isfinite(radius) && size > radius * over)
            over = size / radius;
    }
    for (size_t j = 0; over > 1.0 + OUTSIDE && j < dim; j++)
        x[j] /= over;
}

/* Where the run stands after the step to `next`: the gradient there is what the losses' part of A predicts. */
static pn_status arrive(nw_state *self, pn_err *err)
{
    const nw_plan *plan = nw_plan_of(self);
    size_t dim = plan->model.dim;
    const pn_regulariser *reg = regulariser_of(self);
    double moved = 0.0;

    for (size_t j = 0; j < dim; j++) {
        self->along[j] = self->next[j] - self->base.theta[j];
        moved += squared(self->along[j]);
    }
    pn_raised_predict(&self->quadratic, self->along, self->raw);
    if (reg) {
        memset(self->regular, 0, dim * sizeof *self->regular);
        PN_TRY(reg->ops->curve(reg, dim, self->base.theta, self->along, self->regular, err));
        pn_axpy(dim, -1.0, self->regular, self->raw);
    }
    pn_axpy(dim, 1.0, self->raw, self->g);
    self->variance += self->spread * (plan->model.frobenius ? 0.5 : 1.0) * moved;
    if (!nw_majorant_is_hessian(plan))
        self->variance += squared(MISFIT) * pn_dot(dim, self->raw, self->raw) / (double)dim;
    memcpy(self->base.theta, self->next, dim * sizeof *self->base.theta);
    return PN_OK;
}

/* d, with along[dim] the gradient of f at w; the noise of differences is that of the start and their own. */
static double find_damping(nw_state *self)
{
    const nw_plan *plan = nw_plan_of(self);
    size_t dim = plan->model.dim;
    double shared = plan->differences ? squared(plan->first.gradient_sensitivity * plan->first_z) : 0.0;

    for (size_t j = 0; j < dim; j++)
        self->next[j] = plan->problem.start[j] - self->base.theta[j];
    pn_raised_predict(&self->quadratic, self->next, self->raw);
    pn_axpy(dim, 1.0, self->along, self->raw);
    return pn_raised_damping(&self->quadratic, self->raw, self->variance + shared);
}

/* next = the least point of the damped quadratic, whose gradient at w is along + d (w - w0). */
static pn_status find_next(nw_state *self, double damping, pn_err *err)
{
    const double *start = nw_plan_of(self)->problem.start;
    size_t dim = nw_plan_of(self)->model.dim;
    pn_status status;

    if (isinf(damping)) {
        memcpy(self->next, start, dim * sizeof *self->next);
        return PN_OK;
    }
    for (size_t j = 0; j < dim; j++) {
        self->along[j] += damping * (self->base.theta[j] - start[j]);
        self->quadratic.values[j] += damping;
    }
    status = pn_raised_minimise(&self->quadratic, pn_objective_constraint(self->base.plan->objective), self->base.theta,
                                self->along, self->next, self->task, err);
    for (size_t j = 0; j < dim; j++)
        self->quadratic.values[j] -= damping;
    return status;
}

/* ---- the interface ---- */

/* What is released is taken in at once: an update that is tried again finds it done. */
static pn_status nw_query(pn_state *state, pn_oracle *ask, pn_trace_row *row, pn_err *err)
{
    nw_state *self = (nw_state *)state;
    bool due = wants_matrix(self);
    double value = NAN;

    if (!nw_plan_of(self)->model.is_private)
        return nw_exact_step(self, ask, row, err);
    PN_TRY(release(self, ask, &value, err));
    row->value = value;
    row->kind = due ? "newton" : "gradient";
    if (state->step == 0) {
        take_first(self);
        return PN_OK;
    }
    take_later(self);
    if (due)
        correct(self);
    return PN_OK;
}

static pn_status nw_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    nw_state *self = (nw_state *)state;
    size_t dim = nw_plan_of(self)->model.dim;
    double damping;

    if (!nw_plan_of(self)->model.is_private)
        return PN_OK;
    PN_TRY(refresh(self, err));
    for (size_t j = 0; j < dim; j++)
        self->along[j] = self->g[j] + self->regular[j];
    row->gradient_norm = pn_lp_norm(PN_L2, dim, self->along);
    row->eigenvalue = self->quadratic.found[0];
    damping = find_damping(self);
    row->step_size = isinf(damping) ? 0.0 : 1.0;
    PN_TRY(find_next(self, damping, err));
    self->damping = damping;
    if (pn_has_diverged(state, self->next, dim)) /* the answer stays the point before */
        return PN_OK;
    keep_within(pn_objective_constraint(self->base.plan->objective), self->next, dim);
    return arrive(self, err);
}

/* ---- how far noise moves the answer ---- */

/* The answer is off by the Hessian's inverse times what the gradient there is off, as predicted: by noise of releases
 * and by what the matrix's noise makes of the last step.  With differences the noise at the start is in all of them.
 * Where the last step went back to the start, and where the range of numbers ended it, nothing is known. */
static bool nw_curvature(const pn_state *state, pn_curvature *out)
{
    const nw_state *self = (const nw_state *)state;
    const nw_plan *plan = nw_plan_of(self);
    double shared = plan->differences ? squared(plan->first.gradient_sensitivity * plan->first_z) : 0.0;

    if (!self->has_hessian || state->finished || !isfinite(self->damping))
        return false;
    for (size_t j = 0; j < state->dim; j++)
        self->pull[j] = self->damping * (state->theta[j] - plan->problem.start[j]);
    out->packed = self->hessian;
    out->pull = self->pull;
    out->damping = self->damping;
    out->deviation = nw_hessian_deviation(plan);
    out->frobenius = plan->model.frobenius;
    out->gradient = sqrt(self->variance + shared);
    return true;
}

static const char *const noise_params[] = { "hessians",  "hessian_share", "start_share", "damping",
                                            "gradients", "hessian_noise", NULL };

const pn_solver_ops pn_solver_newton = {
    .name = "newton",
    .doc = "Private Newton for smooth convex losses: a few steps, each with a fresh noisy gradient and every other one "
           "with a fresh noisy Hessian (at the start a majorant of it), whose eigenvalues are raised above its noise.  "
           "Steps are damped, and the start is kept, as released numbers advise.  Regression with loss.squared: give "
           "the objective clip=, e.g. clip=1, rather than a wide set.  Without privacy: Newton with a line search.",
    .source =
        "Ganesh, Haghifam, Steinke, Thakurta (2023), with the Hessian's sensitivity, differences of gradients and "
        "gains, majorant and damping derived anew",
    .params = nw_params,
    .noise_params = noise_params,
    .reveals = PN_REVEALS_PAID,
    .is_private = true,
    .plan_size = sizeof(nw_plan),
    .fill = nw_fill,
    .destroy_plan = nw_plan_destroy,
    .state = sizeof(nw_state),
    .rooms = nw_rooms,
    .begin = nw_begin,
    .query = nw_query,
    .update = nw_update,
    .end = nw_end,
    .curvature = nw_curvature,
};
