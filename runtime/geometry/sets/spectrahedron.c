/* spectrahedron.c -- sets of symmetric n x n matrices X by their eigenvalues, as row-major vectors of n^2 entries:
 * the spectrahedron {X >= 0, trace X = radius}, the hull of the radius x x^T with unit x, the same with trace X <=
 * radius, and the cone {X >= 0} of all positive semidefinite matrices.
 * Depends on: set.h, upper.h, simplex_project.h, lanczos.h, lapack.h, blas.h.  Used by: sets.c's table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/simplex_project.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/lanczos.h"
#include "numeric/lapack.h"

typedef struct psd_set {
    pn_set base;
    size_t n;
    double radius, tolerance;
} psd_set;

extern const pn_set_ops pn_set_spectrahedron, pn_set_unit_spectrahedron, pn_set_psd_cone;

enum { N, RADIUS, TOLERANCE };

static const pn_param spectrahedron_params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows and columns of a matrix" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the trace" },
    { "tolerance", PN_REAL, PN_OPTIONAL, PN_FRACTION, 1e-10, NULL,
      "what support points may miss of the maximum, relative to radius times the spectral norm of (g + g^T)/2" },
    PN_PARAM_END,
};

static const pn_param unit_params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows and columns of a matrix" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest trace" },
    { "tolerance", PN_REAL, PN_OPTIONAL, PN_FRACTION, 1e-10, NULL,
      "what support points may miss of the maximum, relative to radius times the spectral norm of (g + g^T)/2" },
    PN_PARAM_END,
};

static const pn_param cone_params[] = {
    { "n", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "rows and columns of a matrix" },
    PN_PARAM_END,
};

static const psd_set *as_psd(const pn_set *set)
{
    return (const psd_set *)set;
}

static double radius_of(const pn_set *self)
{
    return as_psd(self)->radius;
}

static bool shape_of(const pn_set *self, const char *name, double *value)
{
    if (strcmp(name, "rows") != 0 && strcmp(name, "cols") != 0)
        return false;
    *value = (double)as_psd(self)->n;
    return true;
}

static bool has_trace(const pn_set *self)
{
    return self->ops == &pn_set_spectrahedron;
}

static pn_status create(pn_set **out, const pn_set_ops *ops, const pn_arg *args, pn_err *err)
{
    size_t n = args[N].count;
    psd_set *set;

    if (n > (size_t)1 << 24)
        return pn_fail(err, PN_EINVAL, "set.%s: n must be at most 2^24, got %zu", ops->name, n);
    PN_TRY(pn_new(&set, 1, err, "set.%s: out of memory", ops->name));
    pn_set_init(&set->base, ops, n * n);
    set->n = n;
    set->radius = ops == &pn_set_psd_cone ? INFINITY : args[RADIUS].real;
    set->tolerance = ops == &pn_set_psd_cone ? 1e-15 : args[TOLERANCE].real;
    *out = &set->base;
    return PN_OK;
}

static pn_status spectrahedron_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_spectrahedron, args, err);
}

static pn_status unit_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_unit_spectrahedron, args, err);
}

static pn_status cone_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_psd_cone, args, err);
}

static void destroy(pn_set *self)
{
    pn_free(self);
}

static void describe(const pn_set *self, char *text, size_t size)
{
    const psd_set *set = as_psd(self);

    (void)snprintf(text, size, "%s(dim=%zu, n=%zu, radius=%.10g)", self->ops->name, self->dim, set->n, set->radius);
}

static void cone_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "psd_cone(dim=%zu, n=%zu)", self->dim, as_psd(self)->n);
}

/* The point of least Frobenius norm. */
static void center_of(const pn_set *self, double *x)
{
    size_t n = as_psd(self)->n;

    memset(x, 0, self->dim * sizeof *x);
    for (size_t i = 0; has_trace(self) && i < n; i++)
        x[i * n + i] = radius_of(self) / (double)n;
}

/* ---- support ---- */

/* Rounding may have made a matrix of the cone slightly asymmetric or given it a negative eigenvalue. */
static double rounding(const psd_set *set, const double *x)
{
    return 8.0 * DBL_EPSILON * (double)set->n * pn_lp_norm(PN_L2, set->base.dim, x);
}

static pn_mat as_matrix(const psd_set *set, const double *x)
{
    pn_mat X = { NULL, set->n, set->n };

    memcpy(&X.data, &x, sizeof x); /* read only */
    return X;
}

static void rank_one(const psd_set *set, const double *x, double *point)
{
    for (size_t i = 0; i < set->n; i++) {
        double factor = set->radius * x[i];

        for (size_t j = 0; j < set->n; j++)
            point[i * set->n + j] = factor * x[j];
    }
}

static pn_status support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const psd_set *set = as_psd(self);
    double *x = pn_alloc(set->n, sizeof *x), top = 0.0;
    pn_status status;

    PN_TRY(pn_made(x, err, "set.%s: out of memory in support", self->ops->name));
    status = pn_top_eigen(&top, x, as_matrix(set, g), set->tolerance, err);
    if (status == PN_OK) {
        bool zero = !has_trace(self) && !(top > 0.0);

        *value = zero ? 0.0 : set->radius * top;
        if (point && zero)
            memset(point, 0, self->dim * sizeof *point);
        else if (point)
            rank_one(set, x, point);
    }
    pn_free(x);
    return status;
}

/* 0 at the zero matrix for a negative semidefinite g, to rounding; no maximum for others. */
static pn_status cone_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const psd_set *set = as_psd(self);
    double *x = pn_alloc(set->n, sizeof *x), top = 0.0;
    pn_status status;

    PN_TRY(pn_made(x, err, "set.psd_cone: out of memory in support"));
    status = pn_top_eigen(&top, x, as_matrix(set, g), set->tolerance, err);
    pn_free(x);
    if (status != PN_OK)
        return status;
    *value = top > rounding(set, g) ? INFINITY : 0.0;
    if (point && *value == 0.0)
        memset(point, 0, self->dim * sizeof *point);
    return PN_OK;
}

/* ---- sizes ---- */

static double unbounded(const pn_set *self, pn_lp norm)
{
    (void)self;
    (void)norm;
    return INFINITY;
}

/* At radius x x^T: l2 and linf radius, l1 radius ||x||_1^2 <= radius n. */
static double radius(const pn_set *self, pn_lp norm)
{
    return norm == PN_L1 ? pn_times_up(radius_of(self), (double)as_psd(self)->n) : radius_of(self);
}

/* l2: orthogonal x and y.  linf: entries of the diagonal differ by at most radius, others by 2 radius/2.  l1: radius
 * times the difference of the extreme eigenvalues of a symmetric matrix of signs,
 * whose squares sum to at most n^2 (exact for even n). */
static double diameter(const pn_set *self, pn_lp norm)
{
    double root2 = nextafter(sqrt(2.0), INFINITY), r = radius_of(self);

    if (as_psd(self)->n == 1)
        return has_trace(self) ? 0.0 : r;
    switch (norm) {
    case PN_L1:
        return pn_times_up(pn_times_up(r, root2), (double)as_psd(self)->n);
    case PN_L2:
        return pn_times_up(r, root2);
    default:
        return r;
    }
}

/* ---- eigenvalues ---- */

typedef struct spectrum {
    double *values;   /* [n], rising */
    double *vectors;  /* [n * n], one in each row */
    double *room;     /* [n * n] */
    double asymmetry; /* max |x_ij - x_ji| */
} spectrum;

static void spectrum_clear(spectrum *s)
{
    pn_free(s->vectors);
}

static double asymmetry_of(const double *x, size_t n)
{
    double largest = 0.0;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            largest = fmax(largest, fabs(x[i * n + j] - x[j * n + i]));
    }
    return largest;
}

static pn_status find_spectrum(spectrum *s, const psd_set *set, const double *x, pn_err *err)
{
    size_t n = set->n;
    pn_status status;

    *s = (spectrum){ .asymmetry = asymmetry_of(x, n) };
    PN_TRY(pn_new(&s->vectors, 2 * n * n + n, err, "set.%s: out of memory for eigenvectors", set->base.ops->name));
    s->room = s->vectors + n * n;
    s->values = s->room + n * n;
    status = pn_eigen_symmetric(s->values, s->vectors, as_matrix(set, x), err);
    if (status != PN_OK)
        spectrum_clear(s);
    return status;
}

static pn_status contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const psd_set *set = as_psd(self);
    double trace = 0.0;
    spectrum s;

    PN_TRY(find_spectrum(&s, set, x, err));
    for (size_t i = 0; i < set->n; i++)
        trace += x[i * set->n + i];
    *inside = s.asymmetry <= tolerance && s.values[0] >= -tolerance && trace <= set->radius + tolerance &&
              (!has_trace(self) || trace >= set->radius - tolerance);
    spectrum_clear(&s);
    return PN_OK;
}

/* x <- sum_i values[i] v_i v_i^T over the positive values, symmetric to the bit */
static pn_status rebuild(spectrum *s, size_t n, double *x, pn_err *err)
{
    size_t first = 0, count;
    double *rows;
    pn_status status;

    while (first < n && !(s->values[first] > 0.0))
        first++;
    count = n - first;
    rows = s->vectors + first * n;
    if (count == 0) {
        memset(x, 0, n * n * sizeof *x);
        return PN_OK;
    }
    for (size_t i = 0; i < count; i++) {
        double root = sqrt(s->values[first + i]);

        for (size_t j = 0; j < n; j++)
            rows[i * n + j] *= root;
    }
    pn_mat_transpose(s->room, (pn_mat){ rows, count, n });
    status = pn_mat_times_mat((pn_mat){ x, n, n }, (pn_mat){ s->room, n, count }, (pn_mat){ rows, count, n }, err);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < i; j++)
            x[j * n + i] = x[i * n + j];
    }
    return status;
}

/* Of the largest eigenvalue, which the Frobenius norm bounds. */
static double shortfall(const pn_set *self)
{
    return as_psd(self)->tolerance * as_psd(self)->radius;
}

static pn_status project(const pn_set *self, double *x, pn_err *err)
{
    const psd_set *set = as_psd(self);
    double sum = 0.0;
    spectrum s;
    pn_status status;

    PN_TRY(find_spectrum(&s, set, x, err));
    for (size_t i = 0; i < set->n; i++)
        sum += fmax(s.values[i], 0.0);
    if (has_trace(self) || sum > set->radius)
        pn_simplex_project(s.values, set->n, set->radius, s.room);
    status = rebuild(&s, set->n, x, err);
    spectrum_clear(&s);
    return status;
}

static pn_status gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const psd_set *set = as_psd(self);
    spectrum s;

    PN_TRY(find_spectrum(&s, set, x, err));
    *value = 0.0;
    for (size_t i = 0; i < set->n; i++)
        *value += x[i * set->n + i] / set->radius;
    *value = fmax(*value, 0.0);
    if (s.asymmetry > rounding(set, x) || s.values[0] < -rounding(set, x))
        *value = INFINITY;
    spectrum_clear(&s);
    return PN_OK;
}

/* 0 or infinity */
static pn_status cone_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    bool inside = false;
    pn_status status = contains(self, x, rounding(as_psd(self), x), &inside, err);

    *value = inside ? 0.0 : INFINITY;
    return status;
}

/* conv(C u -C) is the symmetric matrices with sum |eigenvalue| <= radius. */
static pn_status hull_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const psd_set *set = as_psd(self);
    spectrum s;

    PN_TRY(find_spectrum(&s, set, x, err));
    *value = s.asymmetry > rounding(set, x) ? INFINITY : pn_lp_norm(PN_L1, set->n, s.values) / set->radius;
    spectrum_clear(&s);
    return PN_OK;
}

const pn_set_ops pn_set_spectrahedron = {
    .name = "spectrahedron",
    .doc = "The spectrahedron {X symmetric n x n, positive semidefinite, trace X = radius}, X as a row-major vector of "
           "n^2 entries: covariances and density matrices.  Its width is at most radius sqrt(2 n).",
    .source = "Hazan (2008), Sparse approximate solutions to semidefinite programs; Jaggi (2013), section 4",
    .params = spectrahedron_params,
    .create = spectrahedron_create,
    .destroy = destroy,
    .support = support,
    .radius = radius,
    .diameter = diameter,
    .contains = contains,
    .center = center_of,
    .project = project,
    .shortfall = shortfall,
    .gauge = gauge,
    .hull_gauge = hull_gauge,
    .scale = radius_of,
    .number = shape_of,
    .describe = describe,
};

const pn_set_ops pn_set_unit_spectrahedron = {
    .name = "unit_spectrahedron",
    .doc = "The filled spectrahedron {X symmetric n x n, positive semidefinite, trace X <= radius}, X as a row-major "
           "vector of n^2 entries.",
    .source = "Jaggi (2013), Revisiting Frank-Wolfe, section 4",
    .params = unit_params,
    .create = unit_create,
    .destroy = destroy,
    .support = support,
    .radius = radius,
    .diameter = diameter,
    .contains = contains,
    .center = center_of,
    .project = project,
    .shortfall = shortfall,
    .gauge = gauge,
    .hull_gauge = hull_gauge,
    .scale = radius_of,
    .number = shape_of,
    .describe = describe,
};

const pn_set_ops pn_set_psd_cone = {
    .name = "psd_cone",
    .doc = "The cone {X symmetric n x n, positive semidefinite}, X as a row-major vector of n^2 entries; unbounded.",
    .source = "Higham (1988), Computing a nearest symmetric positive semidefinite matrix",
    .params = cone_params,
    .create = cone_create,
    .destroy = destroy,
    .cone = true,
    .support = cone_support,
    .radius = unbounded,
    .diameter = unbounded,
    .contains = contains,
    .center = center_of,
    .project = project,
    .gauge = cone_gauge,
    .describe = cone_describe,
};
