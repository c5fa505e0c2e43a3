/* slab.c -- { x : lower <= <normal, x> <= upper }: halfspaces (lower = -inf), slabs, and hyperplanes (lower = upper).
 * Kept with a unit normal, so that a violation is a distance.  Depends on: cone.h, blas.h.  Used by: sets.c's table. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/cone.h"
#include "geometry/sets/sets.h"
#include "numeric/blas.h"

typedef struct slab {
    pn_set base;
    pn_set_ops ops; /* base.ops points here: whether it is symmetric is known when it is made */
    double *normal; /* [dim] of length 1 */
    double lower, upper;
} slab;

extern const pn_set_ops pn_set_halfspace, pn_set_hyperslab, pn_set_hyperplane;

enum { NORMAL, OFFSET, LOWER = 1, UPPER };

static const slab *as_slab(const pn_set *set)
{
    return (const slab *)set;
}

static void slab_destroy(pn_set *self)
{
    pn_free(((slab *)self)->normal);
    pn_free(self);
}

static pn_status make(pn_set **out, const pn_set_ops *ops, pn_vec normal, double lower, double upper, pn_err *err)
{
    double length = pn_lp_norm(PN_L2, normal.n, normal.data);
    slab *self;

    if (!(length > 0.0))
        return pn_fail(err, PN_EINVAL, "set.%s: normal must have an entry other than 0, got %zu zeros", ops->name,
                       normal.n);
    if (isinf(length) || (isinf(lower / length) && isfinite(lower)) || (isinf(upper / length) && isfinite(upper)))
        return pn_fail(err, PN_EDOMAIN, "set.%s: normal and offset are out of the range of numbers", ops->name);
    self = pn_alloc(1, sizeof *self);
    if (self)
        self->normal = pn_alloc(normal.n, sizeof *self->normal);
    if (!self || !self->normal) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "set.%s: out of memory", ops->name);
    }
    self->ops = *ops;
    self->ops.symmetric = lower == -upper;
    pn_set_init(&self->base, &self->ops, normal.n);
    for (size_t j = 0; j < normal.n; j++)
        self->normal[j] = normal.data[j] / length;
    self->lower = lower / length;
    self->upper = upper / length;
    *out = &self->base;
    return PN_OK;
}

static pn_status halfspace_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return make(out, &pn_set_halfspace, args[NORMAL].vector, -INFINITY, args[OFFSET].real, err);
}

static pn_status hyperplane_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return make(out, &pn_set_hyperplane, args[NORMAL].vector, args[OFFSET].real, args[OFFSET].real, err);
}

static pn_status hyperslab_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    if (args[LOWER].real > args[UPPER].real)
        return pn_fail(err, PN_EINVAL, "set.hyperslab: lower must be <= upper, got %g > %g", args[LOWER].real,
                       args[UPPER].real);
    return make(out, &pn_set_hyperslab, args[NORMAL].vector, args[LOWER].real, args[UPPER].real, err);
}

/* The nearest allowed height to `height`. */
static double clamp(const slab *set, double height)
{
    return fmax(set->lower, fmin(set->upper, height));
}

/* Finite only along the normal: what is left of g beside it must be rounding. */
static pn_status slab_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const slab *set = as_slab(self);
    double along = pn_dot(self->dim, set->normal, g), beside = 0.0, height;

    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        beside = fmax(beside, fabs(g[j] - along * set->normal[j]));
    height = along > 0.0 ? set->upper : along < 0.0 ? set->lower : clamp(set, 0.0);
    *value = along == 0.0 ? 0.0 : along * height;
    if (beside > 1e-13 * fabs(along))
        *value = INFINITY;
    for (size_t j = 0; point && isfinite(*value) && j < self->dim; j++)
        point[j] = height * set->normal[j];
    return PN_OK;
}

/* Bounded only on the line.  The bounds have been divided by the length of the normal. */
static double slab_radius(const pn_set *self, pn_lp norm)
{
    double height = fmax(fabs(as_slab(self)->lower), fabs(as_slab(self)->upper));

    (void)norm;
    return self->dim > 1 ? INFINITY : height * (1.0 + 4.0 * DBL_EPSILON);
}

static double slab_diameter(const pn_set *self, pn_lp norm)
{
    const slab *set = as_slab(self);

    (void)norm;
    return self->dim > 1 ? INFINITY : (set->upper - set->lower) * (1.0 + 4.0 * DBL_EPSILON);
}

static pn_status slab_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const slab *set = as_slab(self);
    double height = pn_dot(self->dim, set->normal, x);

    (void)err;
    *inside = fabs(height - clamp(set, height)) <= tolerance;
    return PN_OK;
}

static void slab_center(const pn_set *self, double *x)
{
    const slab *set = as_slab(self);

    for (size_t j = 0; j < self->dim; j++)
        x[j] = clamp(set, 0.0) * set->normal[j];
}

static pn_status slab_project(const pn_set *self, double *x, pn_err *err)
{
    const slab *set = as_slab(self);
    double height = pn_dot(self->dim, set->normal, x), move = clamp(set, height) - height;

    (void)err;
    if (move != 0.0)
        pn_axpy(self->dim, move, set->normal, x);
    return PN_OK;
}

/* The smallest t >= 0 with t lower <= height <= t upper. */
static pn_status slab_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const slab *set = as_slab(self);
    double height = pn_dot(self->dim, set->normal, x);
    bool origin = set->lower <= 0.0 && set->upper >= 0.0;

    (void)err;
    if (height > 0.0)
        *value = set->upper > 0.0 ? height / set->upper : INFINITY;
    else if (height < 0.0)
        *value = set->lower < 0.0 ? height / set->lower : INFINITY;
    else
        *value = origin || pn_lp_norm(PN_LINF, self->dim, x) == 0.0 ? 0.0 : INFINITY;
    return PN_OK;
}

static const pn_param offset_params[] = {
    { "normal", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the direction that is bounded, one entry per coordinate" },
    { "offset", PN_REAL, PN_REQUIRED, PN_ANY, 0.0, NULL, "what <normal, x> is compared with" },
    PN_PARAM_END,
};

static const pn_param hyperslab_params[] = {
    { "normal", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the direction that is bounded, one entry per coordinate" },
    { "lower", PN_REAL, PN_REQUIRED, PN_ANY, 0.0, NULL, "the least <normal, x>" },
    { "upper", PN_REAL, PN_REQUIRED, PN_ANY, 0.0, NULL, "the largest <normal, x>" },
    PN_PARAM_END,
};

#define SLAB_OPERATIONS                                                                                                \
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, section 8.1", .destroy = slab_destroy,                  \
    .support = slab_support, .radius = slab_radius, .diameter = slab_diameter, .contains = slab_contains,              \
    .center = slab_center, .project = slab_project, .gauge = slab_gauge

const pn_set_ops pn_set_halfspace = {
    .name = "halfspace",
    .doc = "The halfspace {x : <normal, x> <= offset}.  Unbounded; tolerances are distances.",
    .params = offset_params,
    .create = halfspace_create,
    SLAB_OPERATIONS,
};

const pn_set_ops pn_set_hyperslab = {
    .name = "hyperslab",
    .doc = "The slab {x : lower <= <normal, x> <= upper}.  Unbounded but on the line; tolerances are distances.",
    .params = hyperslab_params,
    .create = hyperslab_create,
    SLAB_OPERATIONS,
};

const pn_set_ops pn_set_hyperplane = {
    .name = "hyperplane",
    .doc = "The hyperplane {x : <normal, x> = offset}.  Unbounded but on the line; several at once: affine.",
    .params = offset_params,
    .create = hyperplane_create,
    SLAB_OPERATIONS,
};

bool pn_set_slab_bounds(const pn_set *set, const double **normal, double *lower, double *upper)
{
    const double *shift;
    double factor, moved;
    const pn_set *inner = pn_set_unwrap(set, &factor, &shift);

    if (inner->ops->destroy != slab_destroy)
        return false;
    *normal = as_slab(inner)->normal;
    moved = shift ? pn_dot(set->dim, *normal, shift) : 0.0;
    *lower = moved + factor * (factor > 0.0 ? as_slab(inner)->lower : as_slab(inner)->upper);
    *upper = moved + factor * (factor > 0.0 ? as_slab(inner)->upper : as_slab(inner)->lower);
    return true;
}
