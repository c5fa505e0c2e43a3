/* custom_set.c -- a set that is given by functions: a support function, a projection, or both, and perhaps a membership
 * test.  What is returned is looked at every time: finite, and within the declared radius.
 * Depends on: set.h, fallback.h, support_by_project.h, upper.h.  Used by: bindings, hosts. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "geometry/convex/fallback.h"
#include "geometry/convex/support_by_project.h"
#include "geometry/kernels/upper.h"
#include "geometry/convex/set.h"
#include "numeric/blas.h"

#define SLACK 1e-9 /* of the radius, for the rounding of a user's function */

typedef struct custom_set {
    pn_set base;
    pn_set_ops ops;
    pn_custom_set parts; /* name and center point to what follows */
    char name[64];
    double *center; /* [dim] */
} custom_set;

static const custom_set *as_custom(const pn_set *set)
{
    return (const custom_set *)set;
}

static void custom_destroy(pn_set *self)
{
    custom_set *set = (custom_set *)self;

    if (set->parts.destroy)
        set->parts.destroy(set->parts.self);
    pn_free(set->center);
    pn_free(set);
}

/* ---- what the functions return ---- */

static pn_status check_point(const custom_set *set, const char *function, const double *x, pn_err *err)
{
    size_t bad = pn_first_nonfinite(x, set->base.dim);
    double size;

    if (bad < set->base.dim)
        return pn_fail(err, PN_EDOMAIN, "set.custom: %s must return finite numbers, got %g at entry %zu", function,
                       x[bad], bad + 1);
    size = pn_lp_norm(PN_L2, set->base.dim, x);
    if (size > set->parts.radius * (1.0 + SLACK))
        return pn_fail(
            err, PN_EDOMAIN,
            "set.custom: %s returned a point of l2 norm %.10g, but the radius of the set is said to be %.10g", function,
            size, set->parts.radius);
    return PN_OK;
}

static pn_status custom_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const custom_set *set = as_custom(self);
    double *x = pn_alloc(self->dim, sizeof *x);
    pn_status status;

    if (set->center &&
        pn_lp_norm(PN_LINF, self->dim, g) == 0.0) { /* any point; functions tend to divide by the length of g */
        *value = 0.0;
        if (point)
            memcpy(point, set->center, self->dim * sizeof *point);
        pn_free(x);
        return PN_OK;
    }
    PN_TRY(pn_made(x, err, "set.custom: out of memory"));
    status = set->parts.support(set->parts.self, g, self->dim, x, err);
    if (status == PN_OK)
        status = check_point(set, "support", x, err);
    if (status == PN_OK) {
        *value = pn_dot(self->dim, g, x);
        if (point)
            memcpy(point, x, self->dim * sizeof *x);
    }
    pn_free(x);
    return status;
}

static pn_status custom_project(const pn_set *self, double *x, pn_err *err)
{
    const custom_set *set = as_custom(self);
    double *nearest;
    pn_status status;

    PN_TRY(pn_new(&nearest, self->dim, err, "set.custom: out of memory"));
    memcpy(nearest, x, self->dim * sizeof *x);
    status = set->parts.project(set->parts.self, nearest, self->dim, err);
    if (status == PN_OK)
        status = check_point(set, "project", nearest, err);
    if (status == PN_OK)
        memcpy(x, nearest, self->dim * sizeof *x);
    pn_free(nearest);
    return status;
}

/* ---- what follows from them ---- */

static double custom_radius(const pn_set *self, pn_lp norm)
{
    double radius = as_custom(self)->parts.radius;

    if (norm != PN_L1 || isinf(radius))
        return radius;
    return pn_times_up(nextafter(sqrt((double)self->dim), INFINITY), radius);
}

static double custom_diameter(const pn_set *self, pn_lp norm)
{
    return 2.0 * custom_radius(self, norm);
}

static void custom_center(const pn_set *self, double *x)
{
    memcpy(x, as_custom(self)->center, self->dim * sizeof *x);
}

static pn_status contains_by_project(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double radius = as_custom(self)->parts.radius, size = isinf(radius) ? pn_lp_norm(PN_L2, self->dim, x) : radius;
    double *nearest;
    pn_status status;

    PN_TRY(pn_new(&nearest, self->dim, err, "set.custom: out of memory"));
    memcpy(nearest, x, self->dim * sizeof *x);
    status = custom_project(self, nearest, err);
    for (size_t j = 0; j < self->dim; j++)
        nearest[j] -= x[j];
    *inside = status == PN_OK && pn_lp_norm(PN_L2, self->dim, nearest) <= tolerance + 1e-12 * size;
    pn_free(nearest);
    return status;
}

/* The membership test knows no tolerance: a point that it refuses may still be near. */
static pn_status custom_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    const custom_set *set = as_custom(self);

    *inside = false;
    if (set->parts.contains) {
        pn_status status = set->parts.contains(set->parts.self, x, self->dim, inside, err);

        if (status != PN_OK || *inside || tolerance == 0.0 || !pn_set_can_project(self))
            return status;
    }
    return set->parts.project ? contains_by_project(self, x, tolerance, inside, err)
                              : pn_contains_by_support(self, x, tolerance, inside, err);
}

static void custom_describe(const pn_set *self, char *text, size_t size)
{
    const custom_set *set = as_custom(self);
    int used = snprintf(text, size, "%s(dim=%zu, ", set->name, self->dim);

    if (used < 0 || (size_t)used >= size)
        return;
    if (isinf(set->parts.radius))
        (void)snprintf(text + used, size - (size_t)used, "unbounded)");
    else
        (void)snprintf(text + used, size - (size_t)used, "radius=%.10g)", set->parts.radius);
}

static void fill_ops(custom_set *set)
{
    const pn_custom_set *parts = &set->parts;
    bool far = parts->project && isfinite(parts->radius);

    set->ops = (pn_set_ops){
        .name = set->name,
        .doc = "A set that is given by functions.",
        .source = "the caller",
        .destroy = custom_destroy,
        .symmetric = parts->symmetric,
        .single_thread = true,
        .support = parts->support ? custom_support
                   : far          ? pn_support_by_project
                                  : NULL,
        .radius = custom_radius,
        .diameter = custom_diameter,
        .contains = custom_contains,
        .center = custom_center,
        .project = parts->project ? custom_project : NULL,
        .describe = custom_describe,
    };
}

/* ---- creation: every function is tried once ---- */

/* A direction without symmetries: (1, -1/2, 1/3, ..) of length 1. */
static void probe_direction(double *g, size_t dim)
{
    double size;

    for (size_t j = 0; j < dim; j++)
        g[j] = (j % 2 ? -1.0 : 1.0) / (double)(j + 1);
    size = pn_lp_norm(PN_L2, dim, g);
    for (size_t j = 0; j < dim; j++)
        g[j] /= size;
}

static bool same_point(const double *a, const double *b, size_t dim)
{
    double size = 0.0, apart = 0.0;

    for (size_t j = 0; j < dim; j++) {
        size = fmax(size, fmax(fabs(a[j]), fabs(b[j])));
        apart = fmax(apart, fabs(a[j] - b[j]));
    }
    return apart <= 1e-6 * size;
}

/* x is known to be in the set: the projection must leave it there.  at[dim]: scratch. */
static pn_status probe_stays(const custom_set *set, const double *x, const char *whence, double *at, pn_err *err)
{
    pn_status status;

    memcpy(at, x, set->base.dim * sizeof *at);
    status = custom_project(&set->base, at, err);
    if (status == PN_OK && !same_point(at, x, set->base.dim))
        return pn_fail(err, PN_EINVAL,
                       "set.custom: project must leave points of the set where they are; it moves one that %s returned",
                       whence);
    return status;
}

/* x, at, g: [dim] scratch */
static pn_status probe_project(const custom_set *set, double *x, double *at, double *g, pn_err *err)
{
    double far = isinf(set->parts.radius) ? 2.0 : 2.0 * set->parts.radius;
    pn_status status;

    for (size_t j = 0; j < set->base.dim; j++)
        x[j] = far * g[j];
    status = custom_project(&set->base, x, err);
    return status == PN_OK ? probe_stays(set, x, "it", at, err) : status;
}

static pn_status probe_support(const custom_set *set, double *x, double *at, double *g, pn_err *err)
{
    double there, back;
    pn_status status = custom_support(&set->base, g, x, &there, err);

    if (status == PN_OK && set->parts.project)
        status = probe_stays(set, x, "support", at, err);
    for (size_t j = 0; j < set->base.dim; j++)
        g[j] = -g[j];
    if (status == PN_OK)
        status = custom_support(&set->base, g, at, &back, err);
    if (status != PN_OK)
        return status;
    if (there + back < -1e-9 * (fabs(there) + fabs(back)))
        return pn_fail(err, PN_EINVAL,
                       "set.custom: support must return the point with the largest <g, x>; the point for -g does "
                       "better for g (is it the smallest?)");
    if (set->parts.symmetric && fabs(there - back) > 1e-6 * (fabs(there) + fabs(back)))
        return pn_fail(err, PN_EINVAL,
                       "set.custom: symmetric says that C = -C, but max <g, x> is %.10g and %.10g for one g and -g",
                       there, back);
    /* between two points of the set: a center, should none be known */
    for (size_t j = 0; j < set->base.dim; j++)
        x[j] = 0.5 * (x[j] + at[j]);
    return PN_OK;
}

/* Whether `x` is in the set, by the membership test or else the projection; *known: by either. */
static pn_status ask_inside(const custom_set *set, const double *x, bool *known, bool *inside, pn_err *err)
{
    *known = set->parts.contains || set->parts.project;
    *inside = false;
    return *known ? custom_contains(&set->base, x, SLACK, inside, err) : PN_OK;
}

/* `between` is a point of the set. */
static pn_status find_center(custom_set *set, const double *between, pn_err *err)
{
    bool known, inside;
    pn_status status;

    memset(set->center, 0, set->base.dim * sizeof *set->center);
    if (set->parts.center)
        memcpy(set->center, set->parts.center, set->base.dim * sizeof *set->center);
    status = ask_inside(set, set->center, &known, &inside, err);
    if (status == PN_OK && set->parts.center && known && !inside)
        return pn_fail(err, PN_EINVAL, "set.custom: center is not in the set");
    if (status != PN_OK || set->parts.center || inside)
        return status;
    memcpy(set->center, between, set->base.dim * sizeof *set->center);
    if (!set->parts.contains)
        return PN_OK;
    status = custom_contains(&set->base, between, 1e-6 * pn_lp_norm(PN_L2, set->base.dim, between), &inside, err);
    if (status == PN_OK && !inside)
        return pn_fail(err, PN_EINVAL, "set.custom: contains refuses a point made of what %s returned",
                       set->parts.support ? "support" : "project");
    return status;
}

static pn_status probe(custom_set *set, pn_err *err)
{
    size_t dim = set->base.dim;
    double *x = pn_alloc(dim, 3 * sizeof *x), *at, *g;
    pn_status status = PN_OK;

    PN_TRY(pn_made(x, err, "set.custom: out of memory"));
    at = x + dim;
    g = at + dim;
    probe_direction(g, dim);
    if (set->parts.project)
        status = probe_project(set, x, at, g, err);
    if (status == PN_OK && set->parts.support)
        status = probe_support(set, x, at, g, err);
    if (status == PN_OK)
        status = find_center(set, x, err);
    pn_free(x);
    return status;
}

static pn_status check_parts(const pn_custom_set *parts, pn_err *err)
{
    pn_status status = pn_size_check("set.custom", "dim", parts->dim, err);
    size_t bad;

    if (status != PN_OK)
        return status;
    if (parts->dim == 0)
        return pn_fail(err, PN_EINVAL, "set.custom: dim must be a whole number from 1, got 0");
    if (!(parts->radius >= 0.0))
        return pn_fail(err, PN_EINVAL, "set.custom: radius must be a number >= 0, got %g", parts->radius);
    if (!parts->support && !parts->project)
        return pn_fail(err, PN_EINVAL,
                       "set.custom: give support=function(g) -> point, project=function(v) -> point, or both");
    bad = parts->center ? pn_first_nonfinite(parts->center, parts->dim) : parts->dim;
    if (bad < parts->dim)
        return pn_fail(err, PN_EDOMAIN, "set.custom: center must hold finite numbers, got %g at entry %zu",
                       parts->center[bad], bad + 1);
    return PN_OK;
}

pn_status pn_set_custom(pn_set **out, const pn_custom_set *parts, pn_err *err)
{
    pn_status status = check_parts(parts, err);
    custom_set *set;

    *out = NULL;
    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&set, 1, err, "set.custom: out of memory"));
    set->parts = *parts;
    (void)snprintf(set->name, sizeof set->name, "%s", parts->name ? parts->name : "custom");
    pn_set_init(&set->base, &set->ops, parts->dim);
    fill_ops(set);
    set->center = pn_calloc(parts->dim, sizeof *set->center);
    status = set->center ? probe(set, err) : pn_fail(err, PN_ENOMEM, "set.custom: out of memory");
    set->parts.center = NULL; /* the caller's */
    if (status == PN_OK) {
        *out = &set->base;
    } else {
        set->parts.destroy = NULL; /* `self` stays with the caller */
        custom_destroy(&set->base);
    }
    return status;
}
