/* perturbed_minimum.c -- the minimum of a perturbed objective.  Depends on: perturbed_minimum.h.
 * Used by: objective_perturbation.c, output_perturbation.c.
 * Source: Nocedal, Wright (2006), chapters 3 and 7, for Newton steps by conjugate gradients. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "minimise/descent.h"
#include "minimise/perturbed_minimum.h"

#define DIRECT_MAX   2000 /* features up to which the Hessian is formed */
#define NEWTON_STEPS 60
#define HALVINGS     30
#define CG_STEPS     200
#define QUICK_STEPS  2000 /* of gradients with backtracking, before the steps of the worst case */
#define LAST_STEPS   4    /* of known size, that certify what the quick ones found */

typedef struct search {
    const pn_perturbed_problem *problem;
    size_t p;
    double n;
    pn_task *task;
    uint64_t gradients;
} search;

/* ---- the gradient ---- */

static pn_status gradient(void *self, const double *x, double *out, pn_err *err)
{
    search *at = self;
    const pn_perturbed_problem *problem = at->problem;
    bool undefined = false;

    PN_TRY(pn_objective_evaluate(problem->objective, x, NULL, out, at->task, err));
    at->gradients += (uint64_t)at->n;
    for (size_t j = 0; j < at->p; j++) {
        out[j] = at->n * out[j] + problem->weight * (x[j] - problem->center[j]) + problem->linear[j];
        undefined |= isnan(out[j]);
    }
    return undefined ? pn_objective_undefined(problem->objective, problem->owner, err) : PN_OK;
}

/* ---- Newton steps on R^p ---- */

typedef struct newton {
    search *at;
    double *x, *g, *direction, *trial, *trial_g; /* [p] each, one block with what conjugate gradients need */
    double *residual, *scaled, *along, *image;
    double *matrix; /* [p * p], or NULL: products only */
    double norm;    /* of g */
} newton;

#define VECTORS 9

/* matrix += n times the regulariser's Hessian, column by column. */
static pn_status add_regulariser(newton *self, pn_err *err)
{
    const pn_regulariser *reg = pn_objective_regulariser(self->at->problem->objective);
    size_t p = self->at->p;
    pn_status status = PN_OK;

    memset(self->along, 0, p * sizeof(double));
    for (size_t i = 0; reg && i < p && status == PN_OK; i++) {
        memset(self->image, 0, p * sizeof(double));
        self->along[i] = 1.0;
        status = reg->ops->curve(reg, p, self->x, self->along, self->image, err);
        self->along[i] = 0.0;
        pn_axpy(p, self->at->n, self->image, self->matrix + i * p);
    }
    return status;
}

static pn_status form_matrix(newton *self, pn_err *err)
{
    const pn_perturbed_problem *problem = self->at->problem;
    size_t p = self->at->p;
    pn_status status = pn_objective_hessian(problem->objective, self->x, self->matrix, self->at->task, err);

    for (size_t i = 0; status == PN_OK && i < p * p; i++)
        self->matrix[i] *= self->at->n;
    if (status == PN_OK)
        status = add_regulariser(self, err);
    if (status != PN_OK)
        return status;
    for (size_t i = 0; i < p; i++)
        self->matrix[i * p + i] += problem->weight;
    return PN_OK;
}

/* out = H v, by the matrix where there is one: our own kernel on this thread, since a threaded BLAS call on so small a
 * matrix waits longer than it works. */
static pn_status hessian_times(const newton *self, const double *v, double *out, pn_err *err)
{
    const search *at = self->at;
    pn_status status;

    if (self->matrix) {
        pn_mat_times_vec((pn_mat){ self->matrix, at->p, at->p }, v, out);
        return PN_OK;
    }
    status = pn_objective_hessian_times(at->problem->objective, NULL, self->x, v, out, at->task, err);
    for (size_t j = 0; status == PN_OK && j < at->p; j++)
        out[j] = at->n * out[j] + at->problem->weight * v[j];
    return status;
}

/* scaled = residual over the diagonal of the matrix, or over 1. */
static double precondition(newton *self)
{
    size_t p = self->at->p;

    for (size_t j = 0; j < p; j++)
        self->scaled[j] = self->matrix ? self->residual[j] / self->matrix[j * p + j] : self->residual[j];
    return pn_dot(p, self->residual, self->scaled);
}

/* direction = -H^-1 g to a relative residual of `share`. */
static pn_status conjugate_gradients(newton *self, double share, size_t most, pn_err *err)
{
    size_t p = self->at->p;
    double product;

    for (size_t j = 0; j < p; j++) {
        self->direction[j] = 0.0;
        self->residual[j] = -self->g[j];
    }
    product = precondition(self);
    memcpy(self->along, self->scaled, p * sizeof(double));
    for (size_t i = 0; i < most && pn_lp_norm(PN_L2, p, self->residual) > share * self->norm; i++) {
        pn_status status = hessian_times(self, self->along, self->image, err);
        double bend, next;

        if (status != PN_OK)
            return status;
        bend = pn_dot(p, self->along, self->image);
        if (!(bend > 0.0))
            break;
        pn_axpy(p, product / bend, self->along, self->direction);
        pn_axpy(p, -product / bend, self->image, self->residual);
        next = precondition(self);
        for (size_t j = 0; j < p; j++)
            self->along[j] = self->scaled[j] + next / product * self->along[j];
        product = next;
    }
    return PN_OK;
}

/* The share lets the steps converge superlinearly; where the matrix is formed, products cost little beside it. */
static pn_status find_direction(newton *self, pn_err *err)
{
    PN_TRY(self->matrix ? form_matrix(self, err) : PN_OK);
    if (self->matrix)
        return conjugate_gradients(self, 1e-6, 2 * self->at->p + 20, err);
    return conjugate_gradients(self, fmin(0.1, sqrt(self->norm / (self->at->n + self->norm))), CG_STEPS, err);
}

/* Along a convex function the slope at the new point tells whether it was overshot; unlike values, it does not drown in
 * rounding.  *moved is false when no step helps: the rest is for the steps that need no luck. */
static pn_status line_search(newton *self, bool *moved, pn_err *err)
{
    size_t p = self->at->p;
    double slope = pn_dot(p, self->g, self->direction), size = 1.0;

    *moved = false;
    for (int i = 0; slope < 0.0 && i < HALVINGS && !*moved; i++, size *= 0.5) {
        pn_status status;

        memcpy(self->trial, self->x, p * sizeof(double));
        pn_axpy(p, size, self->direction, self->trial);
        if ((status = gradient(self->at, self->trial, self->trial_g, err)) != PN_OK)
            return status;
        *moved = pn_dot(p, self->trial_g, self->direction) <= -0.5 * slope &&
                 (i > 0 || pn_lp_norm(PN_L2, p, self->trial_g) <= 2.0 * self->norm);
    }
    if (*moved) {
        memcpy(self->x, self->trial, p * sizeof(double));
        memcpy(self->g, self->trial_g, p * sizeof(double));
        self->norm = pn_lp_norm(PN_L2, p, self->g);
    }
    return PN_OK;
}

static pn_status newton_steps(newton *self, bool *reached, pn_err *err)
{
    double tolerance = self->at->problem->tolerance;
    bool moved = true;
    pn_status status = gradient(self->at, self->x, self->g, err);

    self->norm = pn_lp_norm(PN_L2, self->at->p, self->g);
    for (int i = 0; status == PN_OK && moved && self->norm > tolerance && i < NEWTON_STEPS; i++) {
        status = self->at->problem->quiet
                     ? pn_look_for_cancel(self->at->task, self->at->problem->owner, err)
                     : pn_task_report(self->at->task, self->at->problem->label, (double)i, 0.0, err);
        if (status == PN_OK)
            status = find_direction(self, err);
        if (status == PN_OK)
            status = line_search(self, &moved, err);
    }
    *reached = status == PN_OK && self->norm <= tolerance;
    return status;
}

static bool has_hessian(const search *at)
{
    const pn_objective *objective = at->problem->objective;
    bool direct_one = at->p <= DIRECT_MAX;

    return !pn_objective_set(objective) && (direct_one || pn_objective_clip(objective) == 0.0);
}

static pn_status try_newton(search *at, double *theta, bool *reached, pn_err *err)
{
    size_t p = at->p;
    newton self = { .at = at, .x = pn_calloc(VECTORS, p * sizeof(double)) };
    pn_status status = PN_OK;

    if (p <= DIRECT_MAX)
        self.matrix = pn_alloc(p, p * sizeof(double));
    if (!self.x || (p <= DIRECT_MAX && !self.matrix)) {
        status = pn_fail(err, PN_ENOMEM, "%s: out of memory for %zu coordinates", at->problem->owner, p);
    } else {
        self.g = self.x + p;
        self.direction = self.x + 2 * p;
        self.trial = self.x + 3 * p;
        self.trial_g = self.x + 4 * p;
        self.residual = self.x + 5 * p;
        self.along = self.x + 6 * p;
        self.image = self.x + 7 * p;
        self.scaled = self.x + 8 * p;
        memcpy(self.x, theta, p * sizeof(double));
        status = newton_steps(&self, reached, err);
        if (status == PN_OK && *reached)
            memcpy(theta, self.x, p * sizeof(double));
    }
    pn_free(self.matrix);
    pn_free(self.x);
    return status;
}

/* ---- all together ---- */

/* From theta.  `sure`: with steps of the known size, whose number the worst case bounds. */
static pn_status descend(search *at, bool sure, double most, double *theta, bool *reached, pn_err *err)
{
    const pn_perturbed_problem *problem = at->problem;
    double certificate = NAN;
    pn_descent how = { .owner = problem->owner,
                       .label = problem->label,
                       .gradient = gradient,
                       .self = at,
                       .set = pn_objective_set(problem->objective),
                       .p = at->p,
                       .tolerance = problem->tolerance,
                       .residual = problem->residual,
                       .most_steps = (size_t)fmin(most, 0x1p60),
                       .smooth = true,
                       .task = at->task,
                       .quiet = problem->quiet };
    pn_status status;

    if (sure) {
        how.strong_convexity = problem->strong_convexity;
        how.smoothness = problem->smoothness;
    }
    status = pn_descend(&how, theta, &certificate, reached, err);
    return !sure && status == PN_ENUMERIC ? PN_OK : status; /* near the minimum a search for a step may find none */
}

/* Quick steps first.  A residual counts for a step of the known size only, since rounding in a projection weighs more
 * the longer the step is (objective_perturbation_problem.c): one such step from x has a residual no larger than that of
 * x, because x is the projection of x plus its normal, and projecting does not lengthen.
 * The worst case is bounded from the center. */
static pn_status descend_in_turn(search *at, double *theta, bool *reached, pn_err *err)
{
    const pn_perturbed_problem *problem = at->problem;
    size_t size = at->p * sizeof(double);
    pn_status status;

    memcpy(theta, problem->center, size);
    status = descend(at, false, QUICK_STEPS, theta, reached, err);
    if (status == PN_OK && *reached && problem->residual)
        status = descend(at, true, LAST_STEPS, theta, reached, err);
    if (status != PN_OK || *reached)
        return status;
    memcpy(theta, problem->center, size);
    return descend(at, true, problem->most_steps, theta, reached, err);
}

pn_status pn_perturbed_minimum(const pn_perturbed_problem *problem, double *theta, uint64_t *gradients, pn_task *task,
                               pn_err *err)
{
    search at = { .problem = problem,
                  .p = pn_objective_dim(problem->objective),
                  .n = (double)pn_objective_data(problem->objective)->n,
                  .task = task };
    bool reached = false;
    pn_status status = PN_OK;

    memcpy(theta, problem->center, at.p * sizeof(double));
    if (has_hessian(&at))
        status = try_newton(&at, theta, &reached, err);
    if (status == PN_OK && !reached)
        status = descend_in_turn(&at, theta, &reached, err);
    *gradients += at.gradients;
    if (status == PN_OK && !reached)
        status = pn_fail(err, PN_ENUMERIC, "%s: the minimum was not found to the tolerance; nothing is released",
                         problem->owner);
    return status;
}
