/* potential_schatten.c -- for rows x cols matrices, row-major, with singular values s and m = min(rows, cols):
 *     Psi(X) = radius^2 c / (1 + q) sum (s_i / radius)^{1+q},   q = 1 / (2 ln 2m),   c = 4 sqrt(e) ln(2m) / 2^q,
 * 1-strongly convex in the nuclear norm where that is at most radius.  (The article's constant is read as (4 sqrt e) ln
 * 2m.) Steps change the singular values of the linear term and keep its vectors (von Neumann's trace inequality).
 * Depends on: potential.h, power_root.h, lapack.h.  Used by: potential.c's table.  See geometry.md section 3.4. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/potentials/potential_parts.h"
#include "geometry/potentials/power_root.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

typedef struct schatten {
    pn_potential base;
    size_t rows, cols, rank;
    double radius, q, constant;
} schatten;

extern const pn_potential_ops pn_potential_schatten;

enum { ROWS, COLS, RADIUS, CENTER };

static const pn_param schatten_params[] = {
    { "rows", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows of a matrix" },
    { "cols", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "columns of a matrix" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest nuclear norm: that of the set" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "where Psi is least, row-major; the origin when absent" },
    PN_PARAM_END,
};

static const schatten *as_schatten(const pn_potential *self)
{
    return (const schatten *)self;
}

static pn_status schatten_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    size_t rows = args[ROWS].count, cols = args[COLS].count, dim = 0;
    schatten *self;
    pn_arg shape[2] = { { .given = true, .count = rows }, { .given = true, .count = cols } };
    pn_norm *norm = NULL;
    pn_status status;
    double ln;

    PN_TRY(pn_size_product(&dim, "potential.schatten", "rows x cols", rows, cols, err));
    PN_TRY(pn_new(&self, 1, err, "potential.schatten: out of memory"));
    status = pn_norm_from_args(&norm, "nuclear", shape, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    pn_potential_init(&self->base, &pn_potential_schatten, dim, 1.0, norm);
    self->rows = rows;
    self->cols = cols;
    self->rank = rows < cols ? rows : cols;
    self->radius = args[RADIUS].real;
    ln = log(2.0 * (double)self->rank);
    self->q = 1.0 / (2.0 * ln);
    self->constant = 4.0 * exp(0.5) * ln / exp2(self->q);
    return pn_potential_center_at(out, &self->base, "potential.schatten", &args[CENTER], err);
}

static void schatten_destroy(pn_potential *self)
{
    pn_free(self);
}

/* ---- singular values ---- */

typedef struct parts {
    double *U, *s, *Vt; /* in one block that starts at U */
} parts;

static pn_status take_apart(const schatten *of, const double *x, parts *out, pn_err *err)
{
    size_t k = of->rank;
    pn_status status;

    *out = (parts){ NULL, NULL, NULL };
    out->U = pn_alloc(k, (of->rows + of->cols + 1) * sizeof(double));
    PN_TRY(pn_made(out->U, err, "potential.schatten: out of memory"));
    out->Vt = out->U + of->rows * k;
    out->s = out->Vt + of->cols * k;
    status = pn_svd(out->U, out->s, out->Vt, (pn_mat){ (double *)x, of->rows, of->cols }, err);
    if (status != PN_OK)
        pn_free(out->U);
    return status;
}

/* x = U diag(s) V' */
static void put_together(const schatten *of, const parts *from, double *x)
{
    memset(x, 0, of->base.dim * sizeof *x);
    for (size_t i = 0; i < of->rows; i++) {
        for (size_t k = 0; k < of->rank; k++) {
            double weight = from->U[i * of->rank + k] * from->s[k];

            for (size_t j = 0; weight != 0.0 && j < of->cols; j++)
                x[i * of->cols + j] += weight * from->Vt[k * of->cols + j];
        }
    }
}

/* out <- x with singular values factor (s / size)^exponent */
static pn_status raise_values(const schatten *of, const double *x, double size, double exponent, double factor,
                              double *out, pn_err *err)
{
    parts of_x;

    PN_TRY(take_apart(of, x, &of_x, err));
    (void)pn_signed_power(of->rank, of_x.s, size, exponent, factor, of_x.s);
    put_together(of, &of_x, out);
    pn_free(of_x.U);
    return pn_potential_finite("schatten", out, of->base.dim, err);
}

/* ---- operations ---- */

static pn_status schatten_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    const schatten *of = as_schatten(self);
    parts of_x;
    pn_status status = take_apart(of, x, &of_x, err);

    (void)n;
    if (status != PN_OK)
        return status;
    *value = of->radius * of->radius * of->constant / (1.0 + of->q) *
             pn_power_sum(of->rank, of_x.s, of->radius, 1.0 + of->q);
    pn_free(of_x.U);
    return PN_OK;
}

static pn_status schatten_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    const schatten *of = as_schatten(self);

    (void)n;
    return raise_values(of, x, of->radius, of->q, of->radius * of->constant, out, err);
}

static pn_status schatten_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    const schatten *of = as_schatten(self);

    (void)n;
    return raise_values(of, u, of->radius * of->constant, 1.0 / of->q, of->radius, out, err);
}

/* radius ((d_i / radius - nu)_+ / constant)^{1/q}, adding up to at most `size`, or to that when exact */
static void threshold(const schatten *of, bool exact, double size, double *values)
{
    pn_power_problem problem = {
        .c = values, .n = of->rank, .t = 1.0 / of->q, .gain = 1.0 / (of->constant * of->radius)
    };
    bool met = false;
    double mu = 0.0;

    pn_power_open(&problem);
    if (exact || problem.top > 0.0)
        mu = pn_power_solve(&problem, pow(size / of->radius, of->q), exact ? INFINITY : problem.top, &met);
    if (met)
        pn_power_write_total(&problem, mu, size, values);
    else
        (void)pn_power_write(&problem, mu, of->radius * pow(problem.gain * mu, problem.t), values);
}

static bool has_shape(const schatten *of, const pn_set *set)
{
    double rows, cols;

    return pn_set_number(set, "rows", &rows) && pn_set_number(set, "cols", &cols) && rows == (double)of->rows &&
           cols == (double)of->cols;
}

/* A spectrahedron: eigenvalues of the symmetric part, nu of any sign when the trace is given exactly. */
static pn_status psd_step(const schatten *of, bool exact, double size, const double *c, double *x, pn_err *err)
{
    size_t n = of->rows;
    double *values = pn_alloc(n + 1, n * sizeof *values), *vectors = values ? values + n : NULL;
    pn_status status;

    PN_TRY(pn_made(values, err, "potential.schatten: out of memory"));
    status = pn_eigen_symmetric(values, vectors, (pn_mat){ (double *)c, n, n }, err);
    if (status == PN_OK) {
        threshold(of, exact, size, values);
        memset(x, 0, n * n * sizeof *x);
        for (size_t k = 0; k < n; k++) {
            const double *v = vectors + k * n;

            for (size_t i = 0; values[k] > 0.0 && i < n; i++)
                pn_axpy(n, values[k] * v[i], v, x + i * n);
        }
    }
    pn_free(values);
    return status;
}

static pn_status schatten_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    const schatten *of = as_schatten(self);
    double size;
    parts of_c;

    if (pn_set_is_free(set))
        return schatten_inverse(self, c, set->dim, x, err);
    if (!has_shape(of, set))
        return PN_EUNSUPPORTED;
    if (pn_set_is(set, "spectrahedron", &size) || pn_set_is(set, "unit_spectrahedron", &size))
        return psd_step(of, pn_set_is(set, "spectrahedron", &size), size, c, x, err);
    if (!pn_set_is(set, "nuclear_ball", &size))
        return PN_EUNSUPPORTED;
    PN_TRY(take_apart(of, c, &of_c, err));
    threshold(of, false, size, of_c.s);
    put_together(of, &of_c, x);
    pn_free(of_c.U);
    return PN_OK;
}

static pn_status schatten_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    const schatten *of = as_schatten(self);
    double size;
    pn_status status;

    if (!has_shape(of, set) || !(pn_set_is(set, "nuclear_ball", &size) || pn_set_is(set, "spectrahedron", &size) ||
                                 pn_set_is(set, "unit_spectrahedron", &size)))
        size = sqrt((double)of->rank) * set->ops->radius(set, PN_L2); /* at least the nuclear norm */
    status = pn_potential_reach("schatten", of->radius, size, "nuclear", err);
    if (status == PN_OK)
        *range = pn_potential_up(of->radius * of->radius * of->constant / (1.0 + of->q) *
                                 pow(size / of->radius, 1.0 + of->q));
    return status;
}

/* In the basis of singular vectors the inverse Hessian has, over `constant`, s_i^(1-q)/q for each value,
 * (x - y)/(x^q - y^q) and (x + y)/(x^q + y^q) for each pair x > y, and s_i^(1-q) for each column beyond a square.
 * With x, y = e^z, e^-z up to scale the first of a pair is at most (x^(1-q) + y^(1-q))/(2q), as sinh((1-2q) z) <=
 * (1-2q) sinh z for q <= 1/2, and the second at most x^(1-q) + y^(1-q), as cosh z <= 2 cosh(qz) cosh((1-q)z).
 * sum s_i^(1-q) <= m^q.  Symmetric matrices have no second, nor further columns. */
static pn_status schatten_trace(const pn_potential *self, const pn_set *set, double *trace, pn_err *err)
{
    const schatten *of = as_schatten(self);
    double m = (double)of->rank, beyond = (double)(of->rows > of->cols ? of->rows : of->cols) - m, size;
    bool symmetric = pn_set_is(set, "spectrahedron", &size) || pn_set_is(set, "unit_spectrahedron", &size);

    (void)err;
    *trace = (m + 1.0) / (2.0 * of->q) + (symmetric ? 0.0 : m - 1.0 + beyond);
    *trace = pn_potential_up(pow(m, of->q) * *trace / of->constant);
    return PN_OK;
}

static void schatten_describe(const pn_potential *self, char *text, size_t size)
{
    const schatten *of = as_schatten(self);

    (void)snprintf(text, size, "schatten(rows=%zu, cols=%zu, radius=%.10g)", of->rows, of->cols, of->radius);
}

const pn_potential_ops pn_potential_schatten = {
    .name = "schatten",
    .doc = "radius^2 c / (1 + q) sum (s_i / radius)^(1 + q) of the singular values s, with q = 1 / (2 ln 2m) for m = "
           "min(rows, cols): 1-strongly convex in the nuclear norm where that is at most radius.",
    .source = "Baes, Buergisser, Nemirovski (2013); Talwar, Thakurta, Zhang (2014), section 3",
    .params = schatten_params,
    .create = schatten_create,
    .destroy = schatten_destroy,
    .value = schatten_value,
    .gradient = schatten_gradient,
    .inverse_gradient = schatten_inverse,
    .step = schatten_step,
    .range = schatten_range,
    .trace = schatten_trace,
    .describe = schatten_describe,
};
