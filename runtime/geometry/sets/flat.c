/* flat.c -- flats: the whole space, a single point, and { x : A x = b }.
 * An affine set is kept as x0 + the orthogonal complement of r orthonormal rows V, from one singular value
 * decomposition: its projection is x - V^T V (x - x0).  A point is the same with V = I, so both share the gauge.
 * Depends on: cone.h, upper.h, blas.h, lapack.h.  Used by: sets.c's table. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/cone.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"

#define ROUNDING 1e-12

extern const pn_set_ops pn_set_free_space, pn_set_point, pn_set_affine;

/* ---- the whole space ---- */

enum { DIM };

static const pn_param free_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    PN_PARAM_END,
};

static pn_status free_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return pn_cone_new(out, &pn_set_free_space, args[DIM].count, err);
}

static pn_status free_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    (void)err;
    *value = pn_lp_norm(PN_LINF, self->dim, g) > 0.0 ? INFINITY : 0.0;
    if (point && *value == 0.0)
        memset(point, 0, self->dim * sizeof *point);
    return PN_OK;
}

static pn_status free_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)self;
    (void)x;
    (void)tolerance;
    (void)err;
    *inside = true;
    return PN_OK;
}

static pn_status free_project(const pn_set *self, double *x, pn_err *err)
{
    (void)self;
    (void)x;
    (void)err;
    return PN_OK;
}

static pn_status free_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)self;
    (void)x;
    (void)err;
    *value = 0.0;
    return PN_OK;
}

/* ---- the flats with a place ---- */

typedef struct flat {
    pn_set base;
    pn_set_ops ops; /* base.ops points here: a flat through the origin is symmetric */
    size_t rank;    /* rows of V */
    double *at;     /* [dim] the point of the flat nearest to the origin */
    double *rows;   /* [rank * dim] orthonormal; NULL: V = I */
} flat;

static const flat *as_flat(const pn_set *set)
{
    return (const flat *)set;
}

static void flat_destroy(pn_set *self)
{
    pn_free(((flat *)self)->at);
    pn_free(((flat *)self)->rows);
    pn_free(self);
}

static pn_status flat_new(flat **out, const pn_set_ops *ops, size_t dim, pn_err *err)
{
    flat *self = pn_calloc(1, sizeof *self);

    if (self)
        self->at = pn_calloc(dim, sizeof *self->at);
    if (!self || !self->at) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "set.%s: out of memory for %zu coordinates", ops->name, dim);
    }
    self->ops = *ops;
    pn_set_init(&self->base, &self->ops, dim);
    self->rank = dim;
    *out = self;
    return PN_OK;
}

static void flat_center(const pn_set *self, double *x)
{
    memcpy(x, as_flat(self)->at, self->dim * sizeof *x);
}

/* The t >= 0 with u = t w, inf when there is none. */
static double multiple(const double *u, const double *w, size_t n, double rounding)
{
    size_t largest = 0;
    double t;

    for (size_t j = 1; j < n; j++)
        largest = fabs(w[j]) > fabs(w[largest]) ? j : largest;
    if (n == 0 || w[largest] == 0.0)
        return pn_lp_norm(PN_LINF, n, u) <= rounding ? 0.0 : INFINITY;
    t = u[largest] / w[largest];
    for (size_t j = 0; j < n; j++) {
        if (!(fabs(u[j] - t * w[j]) <= rounding))
            return INFINITY;
    }
    return t >= 0.0 ? t : INFINITY;
}

/* ---- a single point ---- */

enum { AT };

static const pn_param point_params[] = {
    { "at", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the point" },
    PN_PARAM_END,
};

static pn_status point_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_vec at = args[AT].vector;
    flat *self = NULL;

    if (at.n == 0)
        return pn_fail(err, PN_EINVAL, "set.point: at must have at least one entry");
    PN_TRY(flat_new(&self, &pn_set_point, at.n, err));
    memcpy(self->at, at.data, at.n * sizeof *at.data);
    self->ops.symmetric = pn_lp_norm(PN_LINF, at.n, at.data) == 0.0;
    *out = &self->base;
    return PN_OK;
}

static pn_status point_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    (void)err;
    *value = pn_dot(self->dim, as_flat(self)->at, g);
    if (point)
        flat_center(self, point);
    return PN_OK;
}

static double point_radius(const pn_set *self, pn_lp norm)
{
    return pn_norm_upper(norm, as_flat(self)->at, self->dim);
}

static double point_image_radius(const pn_set *self, double factor, const double *shift, pn_lp norm)
{
    long double joined = 0.0L;

    for (size_t j = 0; j < self->dim; j++)
        joined = pn_norm_join(norm, joined, pn_norm_term(norm, (long double)factor * as_flat(self)->at[j] + shift[j]));
    return pn_norm_finish(norm, joined * (1.0L + 4.0L * LDBL_EPSILON), self->dim);
}

static double point_diameter(const pn_set *self, pn_lp norm)
{
    (void)self;
    (void)norm;
    return 0.0;
}

static pn_status point_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)err;
    *inside = true;
    for (size_t j = 0; *inside && j < self->dim; j++)
        *inside = fabs(x[j] - as_flat(self)->at[j]) <= tolerance;
    return PN_OK;
}

static pn_status point_project(const pn_set *self, double *x, pn_err *err)
{
    (void)err;
    flat_center(self, x);
    return PN_OK;
}

static pn_status point_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = multiple(x, as_flat(self)->at, self->dim, 4.0 * DBL_EPSILON * pn_lp_norm(PN_LINF, self->dim, x));
    return PN_OK;
}

static pn_status point_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)self;
    (void)how;
    (void)err;
    *out = (pn_width){ .method = PN_WIDTH_EXACT, .confidence = 1.0 };
    return PN_OK;
}

static pn_status point_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    (void)rng;
    (void)err;
    flat_center(self, x);
    return PN_OK;
}

/* ---- A x = b ---- */

enum { MATRIX, RIGHT_SIDE };

static const pn_param affine_params[] = {
    { "A", PN_MATRIX, PN_REQUIRED, PN_ANY, 0.0, NULL, "one equation in each row; rows may follow from others" },
    { "b", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the right side, one entry per row of A" },
    PN_PARAM_END,
};

/* ||A x - b|| against ||b||: a system that holds up to rounding passes. */
static pn_status check_consistent(pn_mat A, pn_vec b, const double *x, double *residual, pn_err *err)
{
    double size = pn_lp_norm(PN_L2, b.n, b.data), off;

    pn_mat_times_vec(A, x, residual);
    pn_axpy(b.n, -1.0, b.data, residual);
    off = pn_lp_norm(PN_L2, b.n, residual);
    if (!(off <= 1e-10 * size))
        return pn_fail(err, PN_EINVAL,
                       "set.affine: A x = b has no solution; the best x leaves a residual of %g, b has length %g", off,
                       size);
    return PN_OK;
}

/* at <- V^T diag(1/s) U^T b, the solution of least length; the first `rank` rows of Vt stay as V. */
static pn_status solve(flat *self, pn_mat A, pn_vec b, double *U, double *s, double *residual, pn_err *err)
{
    size_t k = A.rows < A.cols ? A.rows : A.cols;
    double noise = (double)(A.rows > A.cols ? A.rows : A.cols) * DBL_EPSILON;
    pn_status status = pn_svd(U, s, self->rows, A, err);

    if (status != PN_OK)
        return pn_fail_in(err, status, "set.affine");
    for (self->rank = 0; self->rank < k && s[self->rank] > noise * s[0];)
        self->rank++;
    for (size_t i = 0; i < self->rank; i++) {
        double along = 0.0;

        for (size_t row = 0; row < A.rows; row++)
            along += U[row * k + i] * b.data[row];
        pn_axpy(A.cols, along / s[i], self->rows + i * A.cols, self->at);
    }
    if (pn_first_nonfinite(self->at, A.cols) < A.cols)
        return pn_fail(err, PN_EDOMAIN, "set.affine: the solution of A x = b is out of the range of numbers");
    self->ops.symmetric = pn_lp_norm(PN_LINF, A.cols, self->at) == 0.0;
    return check_consistent(A, b, self->at, residual, err);
}

static pn_status affine_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_mat A = args[MATRIX].matrix;
    pn_vec b = args[RIGHT_SIDE].vector;
    size_t k = A.rows < A.cols ? A.rows : A.cols;
    double *U = NULL, *s = NULL, *residual = NULL;
    flat *self = NULL;
    pn_status status;

    if (k == 0)
        return pn_fail(err, PN_EINVAL, "set.affine: A must have at least one row and column, got %zu x %zu", A.rows,
                       A.cols);
    if (A.rows != b.n)
        return pn_fail(err, PN_EDIM, "set.affine: A has %zu rows, b has %zu entries", A.rows, b.n);
    status = flat_new(&self, &pn_set_affine, A.cols, err);
    if (status != PN_OK)
        return status;
    self->rows = pn_alloc(k * A.cols, sizeof *self->rows);
    U = pn_alloc(A.rows * k, sizeof *U);
    s = pn_alloc(k, sizeof *s);
    residual = pn_alloc(A.rows, sizeof *residual);
    if (!self->rows || !U || !s || !residual)
        status = pn_fail(err, PN_ENOMEM, "set.affine: out of memory for %zu x %zu", A.rows, A.cols);
    else
        status = solve(self, A, b, U, s, residual, err);
    pn_free(U);
    pn_free(s);
    pn_free(residual);
    if (status == PN_OK)
        *out = &self->base;
    else
        flat_destroy(&self->base);
    return status;
}

/* x <- x - sum_i v_i <v_i, x - from>; from NULL: the origin.  Returns the length of what was taken away. */
static double remove_rows(const flat *set, const double *from, double *x)
{
    double total = 0.0;

    for (size_t i = 0; i < set->rank; i++) {
        const double *row = set->rows + i * set->base.dim;
        double along = pn_dot(set->base.dim, row, x) - (from ? pn_dot(set->base.dim, row, from) : 0.0);

        pn_axpy(set->base.dim, -along, row, x);
        total = hypot(total, along);
    }
    return total;
}

static pn_status affine_project(const pn_set *self, double *x, pn_err *err)
{
    (void)err;
    (void)remove_rows(as_flat(self), as_flat(self)->at, x);
    return PN_OK;
}

/* A copy of x for a question about it. */
static pn_status copy_of(double **copy, const double *x, size_t n, pn_err *err)
{
    PN_TRY(pn_new(copy, n, err, "set.affine: out of memory"));
    memcpy(*copy, x, n * sizeof *x);
    return PN_OK;
}

static pn_status affine_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double *copy;
    pn_status status = copy_of(&copy, x, self->dim, err);

    *inside = false;
    if (status != PN_OK)
        return status;
    *inside = remove_rows(as_flat(self), as_flat(self)->at, copy) <= tolerance;
    pn_free(copy);
    return PN_OK;
}

/* Finite on the span of the rows. */
static pn_status affine_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double *rest;

    PN_TRY(copy_of(&rest, g, self->dim, err));
    (void)remove_rows(as_flat(self), NULL, rest);
    if (pn_lp_norm(PN_L2, self->dim, rest) > ROUNDING * pn_lp_norm(PN_L2, self->dim, g)) {
        *value = INFINITY;
    } else {
        *value = pn_dot(self->dim, as_flat(self)->at, g);
        if (point)
            flat_center(self, point);
    }
    pn_free(rest);
    return PN_OK;
}

/* Bounded when there are as many independent equations as coordinates. */
static double affine_radius(const pn_set *self, pn_lp norm)
{
    return as_flat(self)->rank < self->dim ? INFINITY : point_radius(self, norm);
}

static double affine_diameter(const pn_set *self, pn_lp norm)
{
    (void)norm;
    return as_flat(self)->rank < self->dim ? INFINITY : 0.0;
}

/* x in t C is V x = t V x0; at t = 0 only the origin is, unless C contains it. */
static pn_status affine_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const flat *set = as_flat(self);
    double *u = pn_alloc(2 * set->rank + 1, sizeof *u), size = pn_lp_norm(PN_L2, self->dim, x);

    PN_TRY(pn_made(u, err, "set.affine: out of memory"));
    for (size_t i = 0; i < set->rank; i++) {
        u[i] = pn_dot(self->dim, set->rows + i * self->dim, x);
        u[set->rank + i] = pn_dot(self->dim, set->rows + i * self->dim, set->at);
    }
    *value = multiple(u, u + set->rank, set->rank, ROUNDING * size);
    if (!self->ops->symmetric && *value <= ROUNDING * size && pn_lp_norm(PN_LINF, set->rank, u) <= ROUNDING * size)
        *value = size == 0.0 ? 0.0 : INFINITY;
    pn_free(u);
    return PN_OK;
}

#define PLANES "Boyd, Vandenberghe (2004), Convex Optimization, section 8.1"

const pn_set_ops pn_set_free_space = {
    .name = "free",
    .doc = "All of R^dim: no constraint.  Unbounded.",
    .source = PLANES,
    .params = free_params,
    .create = free_create,
    .destroy = pn_cone_destroy,
    .symmetric = true,
    .support = free_support,
    .radius = pn_unbounded_size,
    .diameter = pn_unbounded_size,
    .contains = free_contains,
    .center = pn_cone_center,
    .project = free_project,
    .gauge = free_gauge,
};

const pn_set_ops pn_set_point = {
    .name = "point",
    .doc = "The single point {at}: a coordinate block that is fixed, or the neutral element of sums.",
    .source = PLANES,
    .params = point_params,
    .create = point_create,
    .destroy = flat_destroy,
    .support = point_support,
    .radius = point_radius,
    .diameter = point_diameter,
    .contains = point_contains,
    .center = flat_center,
    .project = point_project,
    .gauge = point_gauge,
    .width = point_width,
    .sample = point_sample,
    .image_radius = point_image_radius,
};

const pn_set_ops pn_set_affine = {
    .name = "affine",
    .doc = "The flat {x : A x = b}; rows of A that follow from others do no harm, a b without solution is refused.  "
           "Unbounded unless A has full column rank; tolerances are distances.",
    .source = PLANES,
    .params = affine_params,
    .create = affine_create,
    .destroy = flat_destroy,
    .support = affine_support,
    .radius = affine_radius,
    .diameter = affine_diameter,
    .contains = affine_contains,
    .center = flat_center,
    .project = affine_project,
    .gauge = affine_gauge,
};
