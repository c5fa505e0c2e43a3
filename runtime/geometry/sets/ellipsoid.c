/* ellipsoid.c -- { center + U diag(s) u : ||u||_2 <= 1 } with orthonormal columns U: the identity when semi-axes are
 * given, and the left singular vectors when a matrix is.  Axes of length 0 make it flat.
 * A center makes a shifted ellipsoid.
 * Depends on: set.h, upper.h, blas.h, lapack.h.  Used by: sets.c's table.
 * Source: More, Sorensen (1983) for the root of the secular equation. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/lapack.h"
#include "random/sample.h"

typedef struct ellipsoid {
    pn_set base;
    size_t count;   /* axes longer than 0 */
    double *length; /* [count] their halves, > 0 */
    size_t *index;  /* [count] coordinate of each, when they are parallel to the coordinates */
    double *axes;   /* [count * dim] unit vectors in rows; NULL: unit vector index[i] */
    double radius[PN_LP_COUNT];
} ellipsoid;

extern const pn_set_ops pn_set_ellipsoid;

enum { CENTER, AXES, MATRIX };

static const pn_param ellipsoid_params[] = {
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "the middle, one entry per coordinate; the origin when absent" },
    { "axes", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "semi-axes along the coordinates, >= 0" },
    { "matrix", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "instead of axes: A with a row for each coordinate; the set is center + {A u : ||u||_2 <= 1}" },
    PN_PARAM_END,
};

static const ellipsoid *as_ellipsoid(const pn_set *set)
{
    return (const ellipsoid *)set;
}

static void ellipsoid_destroy(pn_set *self)
{
    ellipsoid *set = (ellipsoid *)self;

    pn_free(set->length);
    pn_free(set->index);
    pn_free(set->axes);
    pn_free(set);
}

/* ---- construction ---- */

/* Along the coordinates all radii are closed: the largest |u_i| s_i, and by Cauchy-Schwarz sum |u_i| s_i <= ||s||_2. */
static pn_status from_axes(ellipsoid *self, pn_vec axes, pn_err *err)
{
    self->length = pn_alloc(axes.n, sizeof *self->length);
    self->index = pn_alloc(axes.n, sizeof *self->index);
    PN_TRY(pn_made(self->length && self->index, err, "set.ellipsoid: out of memory for %zu axes", axes.n));
    for (size_t j = 0; j < axes.n; j++) {
        if (axes.data[j] < 0.0)
            return pn_fail(err, PN_EINVAL, "set.ellipsoid: axes must be >= 0, got %g at entry %zu", axes.data[j],
                           j + 1);
        if (axes.data[j] > 0.0) {
            self->index[self->count] = j;
            self->length[self->count++] = axes.data[j];
        }
    }
    self->radius[PN_L1] = pn_norm_upper(PN_L2, axes.data, axes.n);
    self->radius[PN_L2] = self->radius[PN_LINF] = pn_norm_upper(PN_LINF, axes.data, axes.n);
    return PN_OK;
}

/* The l2 radius is the largest singular value, raised past its rounding; the linf radius the longest row.  The l1
 * radius is hard to find: the smaller of the sum of the rows' lengths and sqrt(dim) times the l2 radius bounds it. */
static void bound_matrix(ellipsoid *self, pn_mat A)
{
    double longest = 0.0, total = 0.0, size = (double)(A.rows + A.cols);

    for (size_t j = 0; j < A.rows; j++) {
        double row = pn_norm_upper(PN_L2, A.data + j * A.cols, A.cols);

        longest = fmax(longest, row);
        total = pn_plus_up(total, row);
    }
    self->radius[PN_L2] = self->count ? self->length[0] * (1.0 + 4.0 * size * DBL_EPSILON) : 0.0;
    self->radius[PN_LINF] = fmin(longest * (1.0 + 4.0 * size * DBL_EPSILON), self->radius[PN_L2]);
    self->radius[PN_L1] = fmin(total, sqrt((double)A.rows) * self->radius[PN_L2]) * (1.0 + 4.0 * size * DBL_EPSILON);
}

static pn_status from_matrix(ellipsoid *self, pn_mat A, pn_err *err)
{
    size_t k = A.rows < A.cols ? A.rows : A.cols;
    double *U = pn_alloc(A.rows * k, sizeof *U), *Vt = pn_alloc(k * A.cols, sizeof *Vt), noise;
    pn_status status = PN_OK;

    self->length = pn_alloc(k, sizeof *self->length);
    self->axes = pn_alloc(k * A.rows, sizeof *self->axes);
    if (!U || !Vt || !self->length || !self->axes)
        status = pn_fail(err, PN_ENOMEM, "set.ellipsoid: out of memory for %zu x %zu", A.rows, A.cols);
    else if ((status = pn_svd(U, self->length, Vt, A, err)) != PN_OK)
        status = pn_fail_in(err, status, "set.ellipsoid");
    if (status == PN_OK) {
        noise = (double)(A.rows > A.cols ? A.rows : A.cols) * DBL_EPSILON * self->length[0];
        while (self->count < k && self->length[self->count] > noise)
            self->count++;
        pn_mat_transpose(self->axes, (pn_mat){ U, A.rows, k });
        bound_matrix(self, A);
    }
    pn_free(U);
    pn_free(Vt);
    return status;
}

static bool is_origin(const pn_arg *center, size_t dim)
{
    return center->given && center->vector.n == dim && pn_lp_norm(PN_LINF, dim, center->vector.data) == 0.0;
}

static pn_status ellipsoid_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    static const pn_arg none = { .given = false };
    size_t dim = args[AXES].given ? args[AXES].vector.n : args[MATRIX].matrix.rows;
    ellipsoid *self;
    pn_status status;

    if (args[AXES].given == args[MATRIX].given)
        return pn_fail(err, PN_EINVAL, "set.ellipsoid: give axes, a vector of semi-axes, or matrix, %s",
                       args[AXES].given ? "not both" : "got neither");
    if (dim == 0 || (args[MATRIX].given && args[MATRIX].matrix.cols == 0))
        return pn_fail(err, PN_EINVAL, "set.ellipsoid: at least one coordinate and one axis are needed");
    PN_TRY(pn_new_zeroed(&self, 1, err, "set.ellipsoid: out of memory"));
    pn_set_init(&self->base, &pn_set_ellipsoid, dim);
    status = args[AXES].given ? from_axes(self, args[AXES].vector, err) : from_matrix(self, args[MATRIX].matrix, err);
    if (status == PN_OK && !isfinite(self->radius[PN_L1]))
        status = pn_fail(err, PN_EDOMAIN, "set.ellipsoid: the axes are out of the range of numbers");
    if (status != PN_OK) {
        ellipsoid_destroy(&self->base);
        return status;
    }
    return pn_set_center_at(out, &self->base, "set.ellipsoid", is_origin(&args[CENTER], dim) ? &none : &args[CENTER],
                            err);
}

/* ---- coordinates along the axes ---- */

/* z[count] <- U^T x */
static void along_axes(const ellipsoid *set, const double *x, double *z)
{
    if (set->axes)
        pn_mat_times_vec((pn_mat){ set->axes, set->count, set->base.dim }, x, z);
    else
        for (size_t i = 0; i < set->count; i++)
            z[i] = x[set->index[i]];
}

/* x <- U z */
static void from_coordinates(const ellipsoid *set, const double *z, double *x)
{
    memset(x, 0, set->base.dim * sizeof *x);
    for (size_t i = 0; i < set->count; i++) {
        if (set->axes)
            pn_axpy(set->base.dim, z[i], set->axes + i * set->base.dim, x);
        else
            x[set->index[i]] = z[i];
    }
}

/* *z: scratch with two places for each axis, at least one. */
static pn_status new_coordinates(double **z, const ellipsoid *set, pn_err *err)
{
    *z = pn_alloc(2 * set->count + 1, sizeof **z);
    return *z ? PN_OK : pn_fail(err, PN_ENOMEM, "set.ellipsoid: out of memory");
}

static pn_status ellipsoid_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const ellipsoid *set = as_ellipsoid(self);
    double *z;

    PN_TRY(new_coordinates(&z, set, err));
    along_axes(set, g, z);
    for (size_t i = 0; i < set->count; i++)
        z[i] *= set->length[i];
    *value = pn_lp_norm(PN_L2, set->count, z);
    for (size_t i = 0; i < set->count; i++)
        z[i] = *value > 0.0 ? set->length[i] * (z[i] / *value) : 0.0;
    if (point)
        from_coordinates(set, z, point);
    pn_free(z);
    return PN_OK;
}

/* ||(z_i / s_i)||_2; the quotients are written behind z. */
static double relative_size(const ellipsoid *set, double *z)
{
    for (size_t i = 0; i < set->count; i++)
        z[set->count + i] = z[i] / set->length[i];
    return pn_lp_norm(PN_L2, set->count, z + set->count);
}

/* *size = ||w||, w_i = s_i z_i / (s_i^2 + lambda), and *slope = -d||w||/dlambda / ||w||,
 * s and z in units of the largest axis. */
static void secular(const ellipsoid *set, const double *z, double unit, double lambda, double *size, double *slope)
{
    double squares = 0.0, bent = 0.0;

    for (size_t i = 0; i < set->count; i++) {
        double s = set->length[i] / unit, below = s * s + lambda, w = s * (z[i] / unit) / below;

        squares += w * w;
        bent += w * w / below;
    }
    *size = sqrt(squares);
    *slope = bent / squares;
}

/* ||w|| = 1: 1/||w|| is concave in lambda and nearly straight, so Newton's steps on it rise to the root without passing
 * it. */
static double find_lambda(const ellipsoid *set, const double *z, double unit)
{
    double lambda = 0.0;

    for (int turn = 0; turn < 200; turn++) {
        double size, slope, step;

        secular(set, z, unit, lambda, &size, &slope);
        step = (size - 1.0) / slope;
        if (!(step > 2.0 * DBL_EPSILON * lambda))
            break;
        lambda += step;
    }
    return lambda;
}

/* In coordinates: y_i = s_i^2 z_i / (s_i^2 + lambda). */
static void project_coordinates(const ellipsoid *set, double *z)
{
    double unit = 0.0, lambda;

    for (size_t i = 0; i < set->count; i++)
        unit = fmax(unit, set->length[i]);
    lambda = find_lambda(set, z, unit);
    for (size_t i = 0; i < set->count; i++) {
        double s = set->length[i] / unit;

        z[i] *= s * s / (s * s + lambda);
    }
}

/* A point inside stays bit for bit unless the ellipsoid is flat. */
static pn_status ellipsoid_project(const pn_set *self, double *x, pn_err *err)
{
    const ellipsoid *set = as_ellipsoid(self);
    double *z;
    bool inside;

    PN_TRY(new_coordinates(&z, set, err));
    along_axes(set, x, z);
    inside = relative_size(set, z) <= 1.0;
    if (!inside)
        project_coordinates(set, z);
    if (!inside || set->count < self->dim)
        from_coordinates(set, z, x);
    pn_free(z);
    return PN_OK;
}

/* By the distance. */
static pn_status ellipsoid_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double *nearest = pn_alloc(self->dim, sizeof *nearest);
    pn_status status;

    *inside = false;
    PN_TRY(pn_made(nearest, err, "set.ellipsoid: out of memory"));
    memcpy(nearest, x, self->dim * sizeof *x);
    status = ellipsoid_project(self, nearest, err);
    if (status == PN_OK) {
        pn_axpy(self->dim, -1.0, x, nearest);
        *inside = pn_lp_norm(PN_L2, self->dim, nearest) <= tolerance;
    }
    pn_free(nearest);
    return status;
}

/* inf for a point that is off the span of the axes by more than rounding. */
static pn_status ellipsoid_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const ellipsoid *set = as_ellipsoid(self);
    double *z, *rest = NULL;
    pn_status status = new_coordinates(&z, set, err);

    if (status != PN_OK)
        return status;
    along_axes(set, x, z);
    *value = relative_size(set, z);
    if (set->count < self->dim && (rest = pn_alloc(self->dim, sizeof *rest))) {
        from_coordinates(set, z, rest);
        pn_axpy(self->dim, -1.0, x, rest);
        if (pn_lp_norm(PN_L2, self->dim, rest) > 1e-13 * pn_lp_norm(PN_L2, self->dim, x))
            *value = INFINITY;
    } else if (set->count < self->dim) {
        status = pn_fail(err, PN_ENOMEM, "set.ellipsoid: out of memory");
    }
    pn_free(rest);
    pn_free(z);
    return status;
}

/* The image of a uniform point of the unit ball. */
static pn_status ellipsoid_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    const ellipsoid *set = as_ellipsoid(self);
    double *z;

    PN_TRY(new_coordinates(&z, set, err));
    if (set->count > 0)
        pn_sample_ball(rng, set->count, z);
    for (size_t i = 0; i < set->count; i++)
        z[i] *= set->length[i];
    from_coordinates(set, z, x);
    pn_free(z);
    return PN_OK;
}

static double ellipsoid_radius(const pn_set *self, pn_lp norm)
{
    return as_ellipsoid(self)->radius[norm];
}

static double ellipsoid_diameter(const pn_set *self, pn_lp norm)
{
    return 2.0 * as_ellipsoid(self)->radius[norm];
}

static void ellipsoid_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

const pn_set_ops pn_set_ellipsoid = {
    .name = "ellipsoid",
    .doc = "The ellipsoid {center + A u : ||u||_2 <= 1}, A = diag(axes) or a matrix.  Axes of length 0 make it flat.  "
           "The l1 radius of a matrix is an upper bound, others are exact; with a center away from the origin all are "
           "bounds.",
    .source = "More, Sorensen (1983), Computing a trust region step, section 3",
    .params = ellipsoid_params,
    .create = ellipsoid_create,
    .destroy = ellipsoid_destroy,
    .symmetric = true,
    .support = ellipsoid_support,
    .radius = ellipsoid_radius,
    .diameter = ellipsoid_diameter,
    .contains = ellipsoid_contains,
    .center = ellipsoid_center,
    .project = ellipsoid_project,
    .gauge = ellipsoid_gauge,
    .sample = ellipsoid_sample,
};
