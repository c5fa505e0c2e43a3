/* potential_quadratic.c -- Psi(x) = x' A x / 2 for a symmetric positive definite A; its constant in the l2 norm is A's
 * least eigenvalue.  Steps over sets are numeric.  Depends on: potential.h, lapack.h, blas.h.
 * Used by: potential.c's table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

typedef struct quadratic {
    pn_potential base;
    double *matrix;  /* [dim * dim] */
    double *vectors; /* [dim * dim] eigenvectors, one in each row */
    double *values;  /* [dim] eigenvalues, rising */
} quadratic;

extern const pn_potential_ops pn_potential_quadratic;

enum { MATRIX };

static const pn_param quadratic_params[] = {
    { "A", PN_MATRIX, PN_REQUIRED, PN_ANY, 0.0, NULL, "symmetric and positive definite, dim x dim" },
    PN_PARAM_END,
};

static const quadratic *as_quadratic(const pn_potential *self)
{
    return (const quadratic *)self;
}

static void quadratic_destroy(pn_potential *self)
{
    quadratic *of = (quadratic *)self;

    pn_free(of->matrix);
    pn_free(of->vectors);
    pn_free(of->values);
    pn_free(of);
}

static pn_status check_symmetric(pn_mat A, pn_err *err)
{
    double largest = 0.0;

    if (A.rows != A.cols || A.rows == 0)
        return pn_fail(err, PN_EDIM, "potential.quadratic: A must be square, got %zu x %zu", A.rows, A.cols);
    for (size_t i = 0; i < A.rows * A.cols; i++)
        largest = fmax(largest, fabs(A.data[i]));
    for (size_t i = 0; i < A.rows; i++) {
        for (size_t j = 0; j < i; j++) {
            double a = A.data[i * A.cols + j], b = A.data[j * A.cols + i];

            if (fabs(a - b) > 1e-12 * largest)
                return pn_fail(err, PN_EINVAL,
                               "potential.quadratic: A must be symmetric, got %g at (%zu, %zu) and %g at (%zu, %zu)", a,
                               i + 1, j + 1, b, j + 1, i + 1);
        }
    }
    return PN_OK;
}

static pn_status decompose(quadratic *of, pn_mat A, pn_err *err)
{
    size_t n = A.rows;
    double least;

    of->matrix = pn_alloc(n * n, sizeof(double));
    of->vectors = pn_alloc(n * n, sizeof(double));
    of->values = pn_alloc(n, sizeof(double));
    PN_TRY(pn_made(of->matrix && of->vectors && of->values, err, "potential.quadratic: out of memory"));
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++)
            of->matrix[i * n + j] = 0.5 * A.data[i * n + j] + 0.5 * A.data[j * n + i];
    }
    PN_TRY(pn_eigen_symmetric(of->values, of->vectors, A, err));
    least = of->values[0] - 4.0 * (double)n * DBL_EPSILON * of->values[n - 1]; /* a lower bound past its rounding */
    if (!(least > 0.0))
        return pn_fail(err, PN_EINVAL, "potential.quadratic: A must be positive definite, its least eigenvalue is %g",
                       of->values[0]);
    of->base.strong_convexity = least;
    return PN_OK;
}

static pn_status quadratic_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    pn_mat A = args[MATRIX].matrix;
    quadratic *self;
    pn_norm *norm = NULL;
    pn_status status;

    PN_TRY(check_symmetric(A, err));
    PN_TRY(pn_new_zeroed(&self, 1, err, "potential.quadratic: out of memory"));
    status = pn_norm_from_args(&norm, "l2", (pn_arg[1]){ { .given = false } }, err);
    pn_potential_init(&self->base, &pn_potential_quadratic, A.rows, 0.0, norm);
    if (status == PN_OK)
        status = decompose(self, A, err);
    if (status == PN_OK)
        *out = &self->base;
    else
        pn_potential_free(&self->base);
    return status;
}

/* A x, new; NULL when memory is short. */
static double *product(const quadratic *of, const double *x, size_t n)
{
    double *y = pn_alloc(n, sizeof *y);

    if (y)
        pn_mat_times_vec((pn_mat){ of->matrix, n, n }, x, y);
    return y;
}

static pn_status quadratic_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    double *y = product(as_quadratic(self), x, n);

    PN_TRY(pn_made(y, err, "potential.quadratic: out of memory"));
    *value = 0.5 * pn_dot(n, x, y);
    pn_free(y);
    return PN_OK;
}

static pn_status quadratic_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    double *y = product(as_quadratic(self), x, n);

    PN_TRY(pn_made(y, err, "potential.quadratic: out of memory"));
    memcpy(out, y, n * sizeof *out);
    pn_free(y);
    return pn_potential_finite("quadratic", out, n, err);
}

/* A^{-1} u = V' diag(1 / values) V u */
static pn_status quadratic_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    const quadratic *of = as_quadratic(self);
    double *y;

    PN_TRY(pn_new(&y, n, err, "potential.quadratic: out of memory"));
    pn_mat_times_vec((pn_mat){ of->vectors, n, n }, u, y);
    memset(out, 0, n * sizeof *out);
    for (size_t i = 0; i < n; i++)
        pn_axpy(n, y[i] / of->values[i], of->vectors + i * n, out);
    pn_free(y);
    return pn_potential_finite("quadratic", out, n, err);
}

static pn_status quadratic_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    return pn_set_is_free(set) ? quadratic_inverse(self, c, set->dim, x, err) : PN_EUNSUPPORTED;
}

static pn_status quadratic_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    double radius = set->ops->radius(set, PN_L2), largest = as_quadratic(self)->values[self->dim - 1];

    (void)err;
    if (pn_set_is_polytope(set))
        return PN_EUNSUPPORTED;
    *range = 0.5 * largest * (1.0 + 4.0 * (double)self->dim * DBL_EPSILON) * radius * radius;
    return PN_OK;
}

static pn_status quadratic_trace(const pn_potential *self, const pn_set *set, double *trace, pn_err *err)
{
    const quadratic *of = as_quadratic(self);
    double sum = 0.0;

    (void)set;
    (void)err;
    for (size_t j = 0; j < self->dim; j++) /* rounding moves an eigenvalue by as much as it may move the least one */
        sum += 1.0 / (of->values[j] - of->values[0] + self->strong_convexity);
    *trace = pn_potential_up(sum);
    return PN_OK;
}

static void quadratic_describe(const pn_potential *self, char *text, size_t size)
{
    const quadratic *of = as_quadratic(self);

    (void)snprintf(text, size, "quadratic(dim=%zu, eigenvalues from %.10g to %.10g)", self->dim, of->values[0],
                   of->values[self->dim - 1]);
}

const pn_potential_ops pn_potential_quadratic = {
    .name = "quadratic",
    .doc = "x' A x / 2 for a symmetric positive definite A: strongly convex in the l2 norm with A's least eigenvalue; "
           "steps over sets are numeric.",
    .source = "Nemirovski and Yudin (1983)",
    .params = quadratic_params,
    .create = quadratic_create,
    .destroy = quadratic_destroy,
    .value = quadratic_value,
    .gradient = quadratic_gradient,
    .inverse_gradient = quadratic_inverse,
    .step = quadratic_step,
    .range = quadratic_range,
    .trace = quadratic_trace,
    .describe = quadratic_describe,
};
