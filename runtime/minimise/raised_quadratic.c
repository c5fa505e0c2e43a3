/* raised_quadratic.c -- see raised_quadratic.h.
 * Depends on: raised_quadratic.h, descent.h, numeric.  Used by: newton.c, newton_exact.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "numeric/symmetric.h"
#include "minimise/descent.h"
#include "minimise/raised_quadratic.h"

#define SOUND      1e-13 /* least eigenvalue as a part of the largest one */
#define STEPS_MOST 20000
#define TOLERANCE  1e-10 /* of the step over a set, relative to its length */

pn_status pn_raised_init(pn_raised *self, const char *owner, size_t dim, pn_err *err)
{
    *self = (pn_raised){ .owner = owner, .dim = dim };
    self->values = pn_calloc(dim, sizeof(double));
    self->found = pn_calloc(dim, sizeof(double));
    self->part = pn_calloc(dim, sizeof(double));
    self->vectors = pn_calloc(dim, dim * sizeof(double));
    PN_TRY(pn_made(self->found && self->values && self->part && self->vectors, err,
                   "%s: out of memory for a Hessian of %zu coordinates", owner, dim));
    return PN_OK;
}

void pn_raised_clear(pn_raised *self)
{
    pn_free(self->values);
    pn_free(self->found);
    pn_free(self->part);
    pn_free(self->vectors);
    *self = (pn_raised){ 0 };
}

pn_status pn_raised_set(pn_raised *self, const double *packed, double least, pn_err *err)
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
static void decompose(pn_raised *self, const double *x)
{
    pn_mat_times_vec((pn_mat){ self->vectors, self->dim, self->dim }, x, self->part);
}

/* y = V^T part */
static void assemble(const pn_raised *self, double *y)
{
    memset(y, 0, self->dim * sizeof *y);
    for (size_t j = 0; j < self->dim; j++)
        pn_axpy(self->dim, self->part[j], self->vectors + j * self->dim, y);
}

void pn_raised_times(pn_raised *self, const double *x, double *y)
{
    decompose(self, x);
    for (size_t j = 0; j < self->dim; j++)
        self->part[j] *= self->values[j];
    assemble(self, y);
}

/* An eigenvalue below the noise may be anything from 0 to about that: predictions take no less than half of what it is
 * raised to, so that steps along it end, and no more than a step that is to be repeated does not cover. */
static double predicted(const pn_raised *self, size_t j)
{
    return fmax(self->found[j], 0.5 * self->values[0]);
}

void pn_raised_predict(pn_raised *self, const double *x, double *y)
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
static double expected_change(const pn_raised *self, double variance, double d)
{
    double sum = 0.0;

    for (size_t j = 0; j < self->dim; j++) {
        double whole = predicted(self, j) + d, step = self->part[j] / whole;

        sum += variance / whole - self->part[j] * step + 0.5 * self->found[j] * step * step;
    }
    return sum;
}

/* From 2^-25 to 2^25 of the largest eigenvalue; nothing is gained by a finer search. */
double pn_raised_damping(pn_raised *self, const double *b, double variance)
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

/* ---- over a set ---- */

typedef struct step_over_set {
    pn_raised *quadratic;
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
    pn_raised_times(at->quadratic, at->away, gradient);
    pn_axpy(dim, 1.0, at->g, gradient);
    return PN_OK;
}

/* The answer need not be exact: what is missing is a part of the step, and the next one goes on from it. */
static pn_status minimise_over_set(pn_raised *self, const pn_set *set, const double *w, const double *g, double *next,
                                   pn_task *task, pn_err *err)
{
    step_over_set at = { self, w, g, NULL };
    pn_descent how = { .owner = self->owner,
                       .label = "step",
                       .gradient = slope,
                       .self = &at,
                       .set = set,
                       .p = self->dim,
                       .strong_convexity = self->values[0],
                       .smoothness = self->values[self->dim - 1],
                       .tolerance = fmax(TOLERANCE * pn_lp_norm(PN_L2, self->dim, g), 0x1p-900),
                       .residual = set->ops->project != NULL,
                       .most_steps = STEPS_MOST,
                       .smooth = true,
                       .task = task,
                       .quiet = true };
    double certificate;
    bool reached;
    pn_status status;

    PN_TRY(pn_new(&at.away, self->dim, err, "%s: out of memory for %zu coordinates", self->owner, self->dim));
    memcpy(next, w, self->dim * sizeof *next);
    status = pn_descend(&how, next, &certificate, &reached, err);
    pn_free(at.away);
    return status;
}

pn_status pn_raised_minimise(pn_raised *self, const pn_set *set, const double *w, const double *g, double *next,
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
