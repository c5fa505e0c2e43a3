/* newton_step.c -- the quadratic model of a Newton step, how much it is damped, and its least point, over R^d in closed
 * form or over a set by accelerated projected gradients; gains.  All that it sees is public, or has been released.
 * Depends on: newton.h, descent.h, numeric.  Used by: newton.c, newton_exact.c.
 * Source: Nocedal, Wright (2006), section 3.4 for raised eigenvalues; Lee, Sun, Saunders (2014), steps over a set;
 * Stein (1981) for the estimate of what noise costs; Kalman (1960) for gains. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"
#include "minimise/descent.h"
#include "solvers/second_order/newton.h"

static const char owner[] = "solve.newton";

#define SOUND      1e-13 /* least eigenvalue as a part of the largest one */
#define STEPS_MOST 20000
#define TOLERANCE  1e-10 /* of the step over a set, relative to its length */

pn_status nw_quadratic_init(nw_quadratic *self, size_t dim, pn_err *err)
{
    *self = (nw_quadratic){ .dim = dim };
    self->values = pn_calloc(dim, sizeof(double));
    self->found = pn_calloc(dim, sizeof(double));
    self->part = pn_calloc(dim, sizeof(double));
    self->vectors = pn_calloc(dim, dim * sizeof(double));
    PN_TRY(pn_made(self->found && self->values && self->part && self->vectors, err,
                   "%s: out of memory for a Hessian of %zu coordinates", owner, dim));
    return PN_OK;
}

void nw_quadratic_clear(nw_quadratic *self)
{
    pn_free(self->values);
    pn_free(self->found);
    pn_free(self->part);
    pn_free(self->vectors);
    *self = (nw_quadratic){ 0 };
}

pn_status nw_quadratic_set(nw_quadratic *self, const double *packed, double least, pn_err *err)
{
    size_t dim = self->dim;

    pn_packed_unpack(packed, dim, self->vectors);
    PN_TRY(pn_eigen_symmetric(self->values, self->vectors, (pn_mat){ self->vectors, dim, dim }, err));
    memcpy(self->found, self->values, dim * sizeof(double));
    least = fmax(fmax(least, SOUND * self->values[dim - 1]), 0x1p-500);
    for (size_t j = 0; j < dim; j++)
        self->values[j] = fmax(self->values[j], least);
    return PN_OK;
}

/* part = V x, the coordinates of x along eigenvectors. */
static void decompose(nw_quadratic *self, const double *x)
{
    pn_mat_times_vec((pn_mat){ self->vectors, self->dim, self->dim }, x, self->part);
}

/* y = V^T part */
static void assemble(const nw_quadratic *self, double *y)
{
    memset(y, 0, self->dim * sizeof *y);
    for (size_t j = 0; j < self->dim; j++)
        pn_axpy(self->dim, self->part[j], self->vectors + j * self->dim, y);
}

void nw_quadratic_times(nw_quadratic *self, const double *x, double *y)
{
    decompose(self, x);
    for (size_t j = 0; j < self->dim; j++)
        self->part[j] *= self->values[j];
    assemble(self, y);
}

/* An eigenvalue below the noise may be anything from 0 to about that: predictions take no less than half of what it is
 * raised to, so that steps along it end, and no more than a step that is to be repeated does not cover. */
static double predicted(const nw_quadratic *self, size_t j)
{
    return fmax(self->found[j], 0.5 * self->values[0]);
}

void nw_quadratic_predict(nw_quadratic *self, const double *x, double *y)
{
    decompose(self, x);
    for (size_t j = 0; j < self->dim; j++)
        self->part[j] *= predicted(self, j);
    assemble(self, y);
}

/* ---- damping ---- */

/* Steps that go on as predicted end at x = w0 - (P + d)^-1 b, P the matrix of predictions.  That changes the value by
 * <b*, x> + <x, H x>/2, b* the gradient without its noise; since E <b - b*, x> is minus the noise's variance times the
 * trace of (P + d)^-1, this is an unbiased estimate of the change (Stein 1981), with H as it was found: raised
 * eigenvalues would charge what raising them avoids. */
static double expected_change(const nw_quadratic *self, double variance, double d)
{
    double sum = 0.0;

    for (size_t j = 0; j < self->dim; j++) {
        double whole = predicted(self, j) + d, step = self->part[j] / whole;

        sum += variance / whole - self->part[j] * step + 0.5 * self->found[j] * step * step;
    }
    return sum;
}

/* From 2^-25 to 2^25 of the largest eigenvalue; nothing is gained by a finer search. */
double nw_quadratic_damping(nw_quadratic *self, const double *b, double variance)
{
    double best = INFINITY, least = 0.0, top = self->values[self->dim - 1];

    decompose(self, b);
    for (int k = -51; k <= 50; k++) {
        double d = k < -50 ? 0.0 : top * exp2(0.5 * (double)k), change = expected_change(self, variance, d);

        if (change < least) {
            least = change;
            best = d;
        }
    }
    return best;
}

/* ---- gains ---- */

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

/* ---- over a set ---- */

typedef struct step_over_set {
    nw_quadratic *quadratic;
    const double *w, *g;
    double *away; /* [dim] */
} step_over_set;

static pn_status slope(void *ud, const double *x, double *gradient, pn_err *err)
{
    step_over_set *at = ud;
    size_t dim = at->quadratic->dim;

    (void)err;
    for (size_t j = 0; j < dim; j++)
        at->away[j] = x[j] - at->w[j];
    nw_quadratic_times(at->quadratic, at->away, gradient);
    pn_axpy(dim, 1.0, at->g, gradient);
    return PN_OK;
}

/* The answer need not be exact: what is missing is a part of the step, and the next one goes on from it. */
static pn_status minimise_over_set(nw_quadratic *self, const pn_set *set, const double *w, const double *g,
                                   double *next, pn_task *task, pn_err *err)
{
    double low = self->values[0], high = self->values[self->dim - 1], certificate;
    step_over_set at = { self, w, g, pn_alloc(self->dim, sizeof(double)) };
    pn_descent how = { .owner = owner,
                       .label = "step",
                       .gradient = slope,
                       .self = &at,
                       .set = set,
                       .p = self->dim,
                       .strong_convexity = low,
                       .smoothness = high,
                       .tolerance = fmax(TOLERANCE * pn_lp_norm(PN_L2, self->dim, g), 0x1p-900),
                       .residual = set->ops->project != NULL,
                       .most_steps = STEPS_MOST,
                       .smooth = true,
                       .task = task,
                       .quiet = true };
    bool reached;
    pn_status status;

    PN_TRY(pn_made(at.away, err, "%s: out of memory for %zu coordinates", owner, self->dim));
    memcpy(next, w, self->dim * sizeof *next);
    status = pn_descend(&how, next, &certificate, &reached, err);
    pn_free(at.away);
    return status;
}

pn_status nw_quadratic_minimise(nw_quadratic *self, const pn_set *set, const double *w, const double *g, double *next,
                                pn_task *task, pn_err *err)
{
    if (set)
        return minimise_over_set(self, set, w, g, next, task, err);
    decompose(self, g);
    for (size_t j = 0; j < self->dim; j++)
        self->part[j] /= -self->values[j];
    assemble(self, next);
    pn_axpy(self->dim, 1.0, w, next);
    return PN_OK;
}

/* ---- in the set ---- */

#define OUTSIDE 0x1p-31 /* beyond the set's radii, which slopes leave room for (SLACK of newton_plan.c) */

/* Differences of slopes rest on margins, and these on the radii of the set in l1, l2 and linf.  Iterative projections
 * may end further outside than rounding takes others: such a point, which is public,
 * is drawn toward the origin until the radii hold. */
void nw_keep_within(const pn_set *set, double *x, size_t dim)
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
