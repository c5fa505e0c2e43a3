/* quadratic_regulariser.c -- r(w) = (lambda/2) (w - c)^T A (w - c), A symmetric and positive semidefinite: a Gaussian
 * prior around public numbers.  Of several margins, each block of theta as long as A has rows has one such term.
 * Depends on: regulariser.h, numeric/lapack.h.  Used by: regulariser.c's table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "objective/regularisers/regulariser.h"

#define OWNER   "reg.quadratic"
#define OUTWARD (1.0 + 8 * DBL_EPSILON) /* a few roundings, taken upward */

extern const pn_regulariser_ops pn_regulariser_quadratic;

typedef struct quadratic {
    pn_regulariser base;
    size_t n;                 /* rows of A */
    double *matrix;           /* [n * n] lambda A, symmetric to the bit */
    double *center;           /* [count], or NULL for 0 */
    size_t count;             /* a multiple of n; 0: any */
    double low, high, lambda; /* eigenvalues of lambda A lie in [low, high] */
} quadratic;

enum { MATRIX = 0, CENTER, LAMBDA };

static const pn_param quadratic_params[] = {
    { "A", PN_MATRIX, PN_REQUIRED, PN_ANY, 0.0, NULL, "symmetric, positive semidefinite" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "where r is 0: as many entries as A has rows, or that for each margin; absent: 0" },
    { "lambda", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "weight against the mean loss" },
    PN_PARAM_END,
};

static void quadratic_destroy(pn_regulariser *regulariser)
{
    quadratic *self = (quadratic *)regulariser;

    pn_free(self->matrix);
    pn_free(self->center);
    pn_free(self);
}

static pn_status quadratic_fits(const pn_regulariser *regulariser, size_t dim, pn_err *err)
{
    const quadratic *self = (const quadratic *)regulariser;

    if (self->count && dim != self->count)
        return pn_fail(err, PN_EDIM, OWNER ": center has %zu entries, w has %zu", self->count, dim);
    if (dim % self->n != 0)
        return pn_fail(err, PN_EDIM, OWNER ": the %zu rows of A do not divide the %zu entries of w", self->n, dim);
    return PN_OK;
}

/* ---- evaluation ---- */

/* from[n] = block k of theta less the centre, to[n] = lambda A from */
static void image(const quadratic *self, size_t k, const double *theta, double *from, double *to)
{
    for (size_t j = 0; j < self->n; j++)
        from[j] = theta[k * self->n + j] - (self->center ? self->center[k * self->n + j] : 0.0);
    pn_mat_times_vec((pn_mat){ self->matrix, self->n, self->n }, from, to);
}

static pn_status quadratic_evaluate(const pn_regulariser *regulariser, size_t dim, const double *theta, double *value,
                                    double *gradient, pn_err *err)
{
    const quadratic *self = (const quadratic *)regulariser;
    double *from, *to, total = 0.0;

    PN_TRY(pn_new(&from, 2 * self->n, err, OWNER ": out of memory"));
    to = from + self->n;
    for (size_t k = 0; k < dim / self->n; k++) {
        image(self, k, theta, from, to);
        total += 0.5 * pn_dot(self->n, from, to);
        if (gradient)
            pn_axpy(self->n, 1.0, to, gradient + k * self->n);
    }
    if (value)
        *value = fmax(total, 0.0); /* but for rounding */
    pn_free(from);
    return PN_OK;
}

static pn_status quadratic_curve(const pn_regulariser *regulariser, size_t dim, const double *theta, const double *v,
                                 double *out, pn_err *err)
{
    const quadratic *self = (const quadratic *)regulariser;
    double *to;

    (void)theta;
    PN_TRY(pn_new(&to, self->n, err, OWNER ": out of memory"));
    for (size_t k = 0; k < dim / self->n; k++) {
        pn_mat_times_vec((pn_mat){ self->matrix, self->n, self->n }, v + k * self->n, to);
        pn_axpy(self->n, 1.0, to, out + k * self->n);
    }
    pn_free(to);
    return PN_OK;
}

/* ---- bounds ---- */

/* The largest |entry| of lambda A (w - c), w_j in `range`. */
static double largest_slope(const quadratic *self, pn_interval range)
{
    size_t blocks = self->count ? self->count / self->n : 1;
    double largest = 0.0;

    for (size_t k = 0; k < blocks; k++) {
        for (size_t i = 0; i < self->n; i++) {
            double sum = 0.0;

            for (size_t j = 0; j < self->n; j++) {
                double c = self->center ? self->center[k * self->n + j] : 0.0, a = fabs(self->matrix[i * self->n + j]);

                if (a > 0.0)
                    sum += a * fmax(fabs(range.low - c), fabs(range.high - c));
            }
            largest = fmax(largest, sum);
        }
    }
    return largest * (1.0 + 4.0 * (double)self->n * DBL_EPSILON) * OUTWARD;
}

static pn_status quadratic_certify(pn_regulariser *regulariser, pn_interval coordinates, pn_regulariser_bounds *out,
                                   pn_err *err)
{
    const quadratic *self = (const quadratic *)regulariser;

    (void)err;
    *out =
        (pn_regulariser_bounds){ largest_slope(self, coordinates), self->high, self->high, self->low, 0.0, true, "" };
    if (!isfinite(out->gradient))
        (void)snprintf(out->missing, sizeof out->missing, "the gradient grows with w, in [%g, %g]", coordinates.low,
                       coordinates.high);
    return PN_OK;
}

static void quadratic_describe(const pn_regulariser *regulariser, char *text, size_t size)
{
    const quadratic *self = (const quadratic *)regulariser;

    (void)snprintf(text, size, "%g/2 (w - c)^T A (w - c), c %s, eigenvalues of %g A from %.4g to %.4g", self->lambda,
                   self->center ? "given" : "= 0", self->lambda, self->low, self->high);
}

/* ---- construction ---- */

static pn_status check_square(pn_mat A, pn_err *err)
{
    if (A.rows != A.cols || A.rows == 0)
        return pn_fail(err, PN_EDIM, OWNER ": A must be square, got %zu x %zu", A.rows, A.cols);
    for (size_t i = 0; i < A.rows; i++) {
        for (size_t j = 0; j < i; j++) {
            double a = A.data[i * A.cols + j], b = A.data[j * A.cols + i];

            if (fabs(a - b) > 1e-9 * fmax(fabs(a), fabs(b)))
                return pn_fail(err, PN_EINVAL, OWNER ": A must be symmetric, got %g at (%zu, %zu) and %g at (%zu, %zu)",
                               a, i + 1, j + 1, b, j + 1, i + 1);
        }
    }
    return PN_OK;
}

/* The ends of the spectrum, outward by its rounding; below 0 by no more than that is 0. */
static pn_status find_ends(quadratic *self, pn_err *err)
{
    pn_mat A = { self->matrix, self->n, self->n };
    double *values = pn_alloc(self->n, sizeof *values), *vectors = pn_alloc(self->n * self->n, sizeof *vectors), slack;
    pn_status status = pn_made(values && vectors, err, OWNER ": out of memory");

    if (status == PN_OK)
        status = pn_eigen_symmetric(values, vectors, A, err);
    if (status == PN_OK) {
        slack = 16.0 * (double)self->n * DBL_EPSILON * fmax(fabs(values[0]), fabs(values[self->n - 1]));
        self->low = fmax(values[0] - slack, 0.0);
        self->high = values[self->n - 1] + slack;
        if (values[0] < -slack)
            status = pn_fail(err, PN_EINVAL, OWNER ": A must be positive semidefinite, its least eigenvalue is %g",
                             values[0] / self->lambda);
    }
    pn_free(values);
    pn_free(vectors);
    return status;
}

static pn_status take_matrix(quadratic *self, pn_mat A, pn_err *err)
{
    self->n = A.rows;
    PN_TRY(pn_new(&self->matrix, self->n * self->n, err, OWNER ": out of memory"));
    for (size_t i = 0; i < self->n; i++) {
        for (size_t j = 0; j < self->n; j++)
            self->matrix[i * self->n + j] =
                self->lambda * (0.5 * A.data[i * self->n + j] + 0.5 * A.data[j * self->n + i]);
    }
    return find_ends(self, err);
}

static pn_status take_center(quadratic *self, pn_vec center, pn_err *err)
{
    if (center.n == 0 || center.n % self->n != 0)
        return pn_fail(err, PN_EDIM, OWNER ": center has %zu entries, which is no multiple of the %zu rows of A",
                       center.n, self->n);
    self->count = center.n;
    PN_TRY(pn_new(&self->center, center.n, err, OWNER ": out of memory"));
    memcpy(self->center, center.data, center.n * sizeof *self->center);
    return PN_OK;
}

static pn_status quadratic_create(pn_regulariser **out, const pn_arg *args, pn_err *err)
{
    quadratic *self;
    pn_status status = check_square(args[MATRIX].matrix, err);

    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&self, 1, err, OWNER ": out of memory"));
    self->base =
        (pn_regulariser){ .ops = &pn_regulariser_quadratic, .row = &pn_regulariser_quadratic, .references = 1 };
    self->lambda = args[LAMBDA].real;
    status = take_matrix(self, args[MATRIX].matrix, err);
    if (status == PN_OK && args[CENTER].given)
        status = take_center(self, args[CENTER].vector, err);
    if (status == PN_OK)
        *out = &self->base;
    else
        quadratic_destroy(&self->base);
    return status;
}

const pn_regulariser_ops pn_regulariser_quadratic = {
    .name = "quadratic",
    .doc =
        "r(w) = (lambda/2) (w - c)^T A (w - c), a prior around public numbers c whose precision is A: smooth, convex, "
        "lambda times A's least eigenvalue strongly convex; of several margins for each block of theta.",
    .source = "Hoerl, Kennard (1970), Ridge regression: biased estimation for nonorthogonal problems",
    .params = quadratic_params,
    .create = quadratic_create,
    .destroy = quadratic_destroy,
    .fits = quadratic_fits,
    .evaluate = quadratic_evaluate,
    .curve = quadratic_curve,
    .certify = quadratic_certify,
    .describe = quadratic_describe,
};
