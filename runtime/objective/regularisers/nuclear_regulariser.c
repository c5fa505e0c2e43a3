/* nuclear_regulariser.c -- r(W) = lambda ||W||_*, the sum of singular values, theta being W row by row.
 * Depends on: regulariser.h, numeric/lapack.h, numeric/blas.h.  Used by: regulariser.c's table.
 * Source: Fazel (2002), Matrix rank minimization with applications; Watson (1992) for the subdifferential. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "core/size.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "objective/regularisers/regulariser.h"

#define OWNER "reg.nuclear"

extern const pn_regulariser_ops pn_regulariser_nuclear;

typedef struct nuclear_regulariser {
    pn_regulariser base;
    double lambda;
    size_t rows, cols;
} nuclear_regulariser;

enum { LAMBDA = 0, ROWS, COLS };

static const pn_param nuclear_params[] = {
    { "lambda", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "weight against the mean loss" },
    { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows of the matrix; softmax has one for each class" },
    { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "columns of the matrix" },
    PN_PARAM_END,
};

static pn_status nuclear_create(pn_regulariser **out, const pn_arg *args, pn_err *err)
{
    nuclear_regulariser *self;
    size_t dim;

    PN_TRY(pn_size_product(&dim, OWNER, "rows x cols", args[ROWS].count, args[COLS].count, err));
    PN_TRY(pn_new_zeroed(&self, 1, err, OWNER ": out of memory"));
    *self = (nuclear_regulariser){
        .base = { .ops = &pn_regulariser_nuclear, .row = &pn_regulariser_nuclear, .references = 1 },
        .lambda = args[LAMBDA].real,
        .rows = args[ROWS].count,
        .cols = args[COLS].count,
    };
    *out = &self->base;
    return PN_OK;
}

static void nuclear_destroy(pn_regulariser *regulariser)
{
    pn_free(regulariser);
}

static pn_status nuclear_fits(const pn_regulariser *regulariser, size_t dim, pn_err *err)
{
    const nuclear_regulariser *self = (const nuclear_regulariser *)regulariser;

    if (dim != self->rows * self->cols)
        return pn_fail(err, PN_EDIM, OWNER ": a matrix of %zu x %zu has %zu entries, w has %zu", self->rows, self->cols,
                       self->rows * self->cols, dim);
    return PN_OK;
}

/* gradient += lambda U V' over the singular values that are not 0 to rounding: of the subgradients, which add any W
 * with norm at most 1 on the null spaces, the smallest. */
static void add_gradient(const nuclear_regulariser *self, const double *U, const double *s, const double *Vt,
                         double *gradient)
{
    size_t k = self->rows < self->cols ? self->rows : self->cols, larger = self->rows + self->cols - k;
    double zero = s[0] * DBL_EPSILON * (double)larger;

    for (size_t i = 0; i < self->rows; i++) {
        for (size_t r = 0; r < k && s[r] > zero; r++)
            pn_axpy(self->cols, self->lambda * U[i * k + r], Vt + r * self->cols, gradient + i * self->cols);
    }
}

static pn_status nuclear_evaluate(const pn_regulariser *regulariser, size_t dim, const double *theta, double *value,
                                  double *gradient, pn_err *err)
{
    const nuclear_regulariser *self = (const nuclear_regulariser *)regulariser;
    size_t k = self->rows < self->cols ? self->rows : self->cols;
    double *U = pn_alloc(self->rows * k, sizeof *U), *s = pn_alloc(k, sizeof *s);
    double *Vt = pn_alloc(k * self->cols, sizeof *Vt);
    pn_mat W = { (double *)(size_t)theta, self->rows, self->cols };
    pn_status status = nuclear_fits(regulariser, dim, err);

    if (status == PN_OK && (!U || !s || !Vt))
        status = pn_fail(err, PN_ENOMEM, OWNER ": out of memory");
    if (status == PN_OK)
        status = pn_svd(U, s, Vt, W, err);
    if (status == PN_OK && value)
        *value = self->lambda * pn_sum(k, s);
    if (status == PN_OK && gradient)
        add_gradient(self, U, s, Vt, gradient);
    pn_free(U);
    pn_free(s);
    pn_free(Vt);
    return status;
}

static pn_status nuclear_curve(const pn_regulariser *regulariser, size_t dim, const double *theta, const double *v,
                               double *out, pn_err *err)
{
    (void)regulariser;
    (void)dim;
    (void)theta;
    (void)v;
    (void)out;
    return pn_fail(err, PN_EUNSUPPORTED,
                   OWNER ": there are no Hessian-vector products; reg.l2 and reg.nonconvex have them");
}

/* Entries of U V' are products of unit vectors. */
static pn_status nuclear_certify(pn_regulariser *regulariser, pn_interval coordinate, pn_regulariser_bounds *out,
                                 pn_err *err)
{
    const nuclear_regulariser *self = (const nuclear_regulariser *)regulariser;

    (void)err;
    *out = (pn_regulariser_bounds){ self->lambda, INFINITY, INFINITY, 0.0, INFINITY, true, "" };
    (void)snprintf(out->missing, sizeof out->missing,
                   "the sum of singular values has a kink where one of them is 0, whatever the entries in [%g, %g]",
                   coordinate.low, coordinate.high);
    return PN_OK;
}

static void nuclear_describe(const pn_regulariser *regulariser, char *text, size_t size)
{
    const nuclear_regulariser *self = (const nuclear_regulariser *)regulariser;

    (void)snprintf(text, size, "%g times the sum of the singular values of w as a %zu x %zu matrix", self->lambda,
                   self->rows, self->cols);
}

static pn_status nuclear_prox(const pn_regulariser *regulariser, pn_prox **out, pn_err *err)
{
    const nuclear_regulariser *self = (const nuclear_regulariser *)regulariser;
    pn_arg args[3] = { [LAMBDA] = { .given = true, .real = self->lambda },
                       [ROWS] = { .given = true, .count = self->rows },
                       [COLS] = { .given = true, .count = self->cols } };

    return pn_prox_from_args(out, "nuclear", args, err);
}

const pn_regulariser_ops pn_regulariser_nuclear = {
    .name = "nuclear",
    .doc = "r(W) = lambda ||W||_*, the sum of the singular values of the rows x cols matrix whose rows follow one "
           "another in w; subgradient lambda U V' without the parts of singular values 0; convex, not smooth, no "
           "Hessian.",
    .source = "Fazel (2002), Matrix rank minimization with applications; Watson (1992) for the subgradients",
    .params = nuclear_params,
    .create = nuclear_create,
    .destroy = nuclear_destroy,
    .fits = nuclear_fits,
    .evaluate = nuclear_evaluate,
    .curve = nuclear_curve,
    .certify = nuclear_certify,
    .describe = nuclear_describe,
    .prox = nuclear_prox,
};
