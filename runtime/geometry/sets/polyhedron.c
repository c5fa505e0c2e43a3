/* polyhedron.c -- { x in R^dim : A x <= b }, kept with rows of length 1, so that a violation is a distance.
 * Projection, emptiness and linear programs by the active-set method.  Small ones are enclosed in a box when they are
 * made, which tells whether they are bounded; the box holds for certain, by the dual solutions.
 * Depends on: active_set.h, cone.h, upper.h, blas.h.  Used by: sets.c's table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/active_set.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"

#define BOX_WORK 1e9 /* multiplications that the box may cost */
#define ROUNDING 1e-13

typedef struct polyhedron {
    pn_set base;
    pn_inequalities in;
    double *A, *b; /* owned: in.A.data and in.b */
    double *at;    /* [dim] the point nearest to the origin */
    double radius[PN_LP_COUNT], diameter[PN_LP_COUNT];
} polyhedron;

extern const pn_set_ops pn_set_polyhedron;

enum { MATRIX, RIGHT_SIDE };

static const pn_param polyhedron_params[] = {
    { "A", PN_MATRIX, PN_REQUIRED, PN_ANY, 0.0, NULL, "one inequality in each row" },
    { "b", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the right side, one entry per row of A" },
    PN_PARAM_END,
};

static const polyhedron *as_polyhedron(const pn_set *set)
{
    return (const polyhedron *)set;
}

static void polyhedron_destroy(pn_set *self)
{
    polyhedron *set = (polyhedron *)self;

    pn_free(set->A);
    pn_free(set->b);
    pn_free(set->at);
    pn_free(set);
}

/* ---- the box ---- */

/* <c, x> <= bound + slope max |x_j| over the set, for c = sign e_j and A^T weight near c. */
typedef struct half_width {
    double bound, slope;
} half_width;

static half_width certify(const polyhedron *set, const double *weight, const double *c, double *rest)
{
    size_t rows = set->in.A.rows, dim = set->base.dim;
    long double sum = 0.0L, size = 0.0L, total = 0.0L, off = 0.0L;

    memcpy(rest, c, dim * sizeof *rest);
    for (size_t i = 0; i < rows; i++) {
        sum += (long double)weight[i] * set->b[i];
        size += (long double)weight[i] * fabs(set->b[i]);
        total += weight[i];
        if (weight[i] > 0.0)
            pn_axpy(dim, -weight[i], set->A + i * dim, rest);
    }
    for (size_t j = 0; j < dim; j++)
        off += fabs(rest[j]);
    /* Rows and right sides have been divided by lengths, and the sums round. */
    return (half_width){ (double)(sum + 8.0L * DBL_EPSILON * size),
                         (double)(off + 8.0L * DBL_EPSILON * (long double)(dim + rows) * (total + 1.0L)) };
}

/* widths[2 j] and [2 j + 1] are for e_j and -e_j.  *bounded: all are finite. */
static pn_status measure(const polyhedron *set, half_width *widths, bool *bounded, pn_err *err)
{
    size_t rows = set->in.A.rows, dim = set->base.dim;
    double *block = pn_calloc(rows + 3 * dim, sizeof *block), *weight = block, *c, *x, *rest;
    pn_status status = PN_OK;

    PN_TRY(pn_made(block, err, "set.polyhedron: out of memory"));
    c = weight + rows;
    x = c + dim;
    rest = x + dim;
    *bounded = true;
    for (size_t k = 0; *bounded && status == PN_OK && k < 2 * dim; k++) {
        double value = INFINITY;

        memcpy(x, set->at, dim * sizeof *x);
        c[k / 2] = k % 2 ? -1.0 : 1.0;
        status = pn_maximise_in(&value, x, weight, c, set->in, err);
        *bounded = status == PN_OK && isfinite(value);
        if (*bounded)
            widths[k] = certify(set, weight, c, rest);
        c[k / 2] = 0.0;
    }
    pn_free(block);
    return status;
}

/* From widths to sizes: max |x_j| = R satisfies R <= max bound + max slope R. */
static void take_sizes(polyhedron *set, const half_width *widths)
{
    double bound = 0.0, slope = 0.0, reach;

    for (size_t k = 0; k < 2 * set->base.dim; k++) {
        bound = fmax(bound, widths[k].bound);
        slope = fmax(slope, widths[k].slope);
    }
    if (!(slope < 0.5))
        return;
    reach = bound / (1.0 - slope) * (1.0 + 4.0 * DBL_EPSILON);
    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        long double radius = 0.0L, diameter = 0.0L;

        for (size_t j = 0; j < set->base.dim; j++) {
            long double high = widths[2 * j].bound + (long double)widths[2 * j].slope * reach;
            long double low = widths[2 * j + 1].bound + (long double)widths[2 * j + 1].slope * reach;
            pn_lp lp = (pn_lp)norm;

            radius = pn_norm_join(lp, radius, pn_norm_term(lp, fmaxl(fmaxl(high, low), 0.0L)));
            diameter = pn_norm_join(lp, diameter, pn_norm_term(lp, fmaxl(high + low, 0.0L)));
        }
        set->radius[norm] = pn_norm_finish((pn_lp)norm, radius * (1.0L + 4.0L * LDBL_EPSILON), set->base.dim);
        set->diameter[norm] = pn_norm_finish((pn_lp)norm, diameter * (1.0L + 4.0L * LDBL_EPSILON), set->base.dim);
    }
}

static pn_status enclose(polyhedron *set, pn_err *err)
{
    double dim = (double)set->base.dim, rows = (double)set->in.A.rows;
    half_width *widths;
    bool bounded = false;
    pn_status status;

    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        set->radius[norm] = set->diameter[norm] = INFINITY;
    if (10.0 * dim * dim * (rows * dim + dim * dim * dim) > BOX_WORK)
        return PN_OK;
    PN_TRY(pn_new(&widths, 2 * set->base.dim, err, "set.polyhedron: out of memory"));
    status = measure(set, widths, &bounded, err);
    if (status == PN_OK && bounded)
        take_sizes(set, widths);
    pn_free(widths);
    return status == PN_ENUMERIC ? PN_OK : status; /* nothing is known of its size then */
}

/* ---- construction ---- */

/* Rows of length 1; a row of zeros is kept when it says nothing. */
static pn_status normalise(polyhedron *set, pn_mat A, pn_vec b, pn_err *err)
{
    for (size_t i = 0; i < A.rows; i++) {
        const double *from = A.data + i * A.cols;
        double length = pn_lp_norm(PN_L2, A.cols, from), unit = length > 0.0 ? length : 1.0;

        if (length == 0.0 && b.data[i] < 0.0)
            return pn_fail(err, PN_EINVAL, "set.polyhedron: row %zu of A is 0 and b there is %g < 0; the set is empty",
                           i + 1, b.data[i]);
        set->b[i] = b.data[i] / unit;
        for (size_t j = 0; j < A.cols; j++)
            set->A[i * A.cols + j] = from[j] / unit;
        if (!isfinite(set->b[i]) || !isfinite(length))
            return pn_fail(err, PN_EDOMAIN, "set.polyhedron: row %zu is out of the range of numbers", i + 1);
    }
    return PN_OK;
}

static pn_status fill(polyhedron *set, pn_mat A, pn_vec b, pn_err *err)
{
    bool empty = false;
    pn_status status;

    set->A = pn_alloc(A.rows * A.cols, sizeof *set->A);
    set->b = pn_alloc(A.rows, sizeof *set->b);
    set->at = pn_calloc(A.cols, sizeof *set->at);
    PN_TRY(pn_made(set->A && set->b && set->at, err, "set.polyhedron: out of memory for %zu x %zu", A.rows, A.cols));
    set->in = (pn_inequalities){ { set->A, A.rows, A.cols }, set->b };
    status = normalise(set, A, b, err);
    if (status == PN_OK)
        status = pn_nearest_in(set->at, NULL, &empty, set->in, err);
    if (status == PN_OK && empty)
        return pn_fail(err, PN_EINVAL, "set.polyhedron: the %zu inequalities contradict each other; the set is empty",
                       A.rows);
    return status == PN_OK ? enclose(set, err) : status;
}

static pn_status polyhedron_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_mat A = args[MATRIX].matrix;
    pn_vec b = args[RIGHT_SIDE].vector;
    polyhedron *set;
    pn_status status;

    if (A.rows == 0 || A.cols == 0)
        return pn_fail(err, PN_EINVAL, "set.polyhedron: A must have at least one row and column, got %zu x %zu", A.rows,
                       A.cols);
    if (A.rows != b.n)
        return pn_fail(err, PN_EDIM, "set.polyhedron: A has %zu rows, b has %zu entries", A.rows, b.n);
    PN_TRY(pn_new_zeroed(&set, 1, err, "set.polyhedron: out of memory"));
    pn_set_init(&set->base, &pn_set_polyhedron, A.cols);
    status = fill(set, A, b, err);
    if (status == PN_OK)
        *out = &set->base;
    else
        polyhedron_destroy(&set->base);
    return status;
}

/* ---- operations ---- */

static pn_status polyhedron_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const polyhedron *set = as_polyhedron(self);
    double *x;
    pn_status status;

    PN_TRY(pn_new(&x, self->dim, err, "set.polyhedron: out of memory in support"));
    memcpy(x, set->at, self->dim * sizeof *x);
    status = pn_maximise_in(value, x, NULL, g, set->in, err);
    if (status == PN_OK && point && isfinite(*value))
        memcpy(point, x, self->dim * sizeof *x);
    pn_free(x);
    return status;
}

static double polyhedron_radius(const pn_set *self, pn_lp norm)
{
    return as_polyhedron(self)->radius[norm];
}

static double polyhedron_diameter(const pn_set *self, pn_lp norm)
{
    return as_polyhedron(self)->diameter[norm];
}

static pn_status polyhedron_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const polyhedron *set = as_polyhedron(self);

    (void)err;
    *inside = true;
    for (size_t i = 0; *inside && i < set->in.A.rows; i++)
        *inside = pn_dot(self->dim, set->A + i * self->dim, x) - set->b[i] <= tolerance;
    return PN_OK;
}

static void polyhedron_center(const pn_set *self, double *x)
{
    memcpy(x, as_polyhedron(self)->at, self->dim * sizeof *x);
}

static pn_status polyhedron_project(const pn_set *self, double *x, pn_err *err)
{
    bool empty;
    pn_status status = pn_nearest_in(x, NULL, &empty, as_polyhedron(self)->in, err);

    if (status == PN_OK && empty)
        return pn_fail(err, PN_ENUMERIC, "set.polyhedron: the inequalities contradict each other up to rounding");
    return status;
}

/* <a, x> <= t b, row by row: an interval of t. */
static pn_status polyhedron_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const polyhedron *set = as_polyhedron(self);
    double low = 0.0, high = INFINITY, noise = ROUNDING * pn_lp_norm(PN_L2, self->dim, x);

    (void)err;
    for (size_t i = 0; i < set->in.A.rows; i++) {
        double along = pn_dot(self->dim, set->A + i * self->dim, x);

        if (set->b[i] > 0.0)
            low = fmax(low, along / set->b[i]);
        else if (set->b[i] < 0.0)
            high = fmin(high, along / set->b[i]);
        else if (along > noise)
            high = -INFINITY;
    }
    *value = low <= high * (1.0 + ROUNDING) ? low : INFINITY;
    return PN_OK;
}

/* Steps that end by tolerances; far more than was ever seen. */
static double polyhedron_shortfall(const pn_set *self)
{
    return 1e-10 * polyhedron_radius(self, PN_L2);
}

const pn_set_ops pn_set_polyhedron = {
    .name = "polyhedron",
    .doc = "The polyhedron {x : A x <= b} for small dense systems; an empty one is refused.  Radius and diameter are "
           "those of a box around it, computed when it is made; +inf where it is unbounded, or too large for that (10 "
           "dim^3 (rows + dim^2) above 1e9).",
    .source = "Goldfarb, Idnani (1983), A numerically stable dual method for strictly convex quadratic programs",
    .params = polyhedron_params,
    .create = polyhedron_create,
    .destroy = polyhedron_destroy,
    .support = polyhedron_support,
    .radius = polyhedron_radius,
    .diameter = polyhedron_diameter,
    .contains = polyhedron_contains,
    .center = polyhedron_center,
    .project = polyhedron_project,
    .shortfall = polyhedron_shortfall,
    .gauge = polyhedron_gauge,
};
