/* cone.c -- what all cones share, and the self-dual ones: the nonnegative orthant, the second-order cone and its
 * rotation.  Everything follows from the projection P: the distance is ||x - P x||,
 * and the polar cone is where P g = 0 (Moreau).
 * Depends on: cone.h, blas.h.  Used by: sets.c's table, exponential_cone.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/cone.h"
#include "numeric/blas.h"

#define ROUNDING 1e-13 /* of the length of a vector, in a projection of it */

extern const pn_set_ops pn_set_nonnegative, pn_set_second_order_cone, pn_set_rotated_second_order_cone;

enum { DIM };

/* ---- what follows from a projection ---- */

double pn_unbounded_size(const pn_set *self, pn_lp norm)
{
    (void)self;
    (void)norm;
    return INFINITY;
}

pn_status pn_cone_new(pn_set **out, const pn_set_ops *ops, size_t dim, pn_err *err)
{
    pn_set *self;

    PN_TRY(pn_new(&self, 1, err, "set.%s: out of memory", ops->name));
    pn_set_init(self, ops, dim);
    *out = self;
    return PN_OK;
}

void pn_cone_destroy(pn_set *self)
{
    pn_free(self);
}

/* *near = ||P x||, *off = ||x - P x|| */
static pn_status split(const pn_set *self, const double *x, double *near, double *off, pn_err *err)
{
    double *p;
    pn_status status;

    PN_TRY(pn_new(&p, self->dim, err, "%s: out of memory", self->ops->name));
    memcpy(p, x, self->dim * sizeof *p);
    status = self->ops->project(self, p, err);
    if (status == PN_OK) {
        *near = pn_lp_norm(PN_L2, self->dim, p);
        pn_axpy(self->dim, -1.0, x, p);
        *off = pn_lp_norm(PN_L2, self->dim, p);
    }
    pn_free(p);
    return status;
}

pn_status pn_cone_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double near = 0.0, off = 0.0;

    PN_TRY(split(self, g, &near, &off, err));
    *value = near <= ROUNDING * off ? 0.0 : INFINITY;
    if (point && *value == 0.0)
        memset(point, 0, self->dim * sizeof *point);
    return PN_OK;
}

pn_status pn_cone_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double near = 0.0, off = INFINITY;
    pn_status status = split(self, x, &near, &off, err);

    *inside = status == PN_OK && off <= tolerance;
    return status;
}

pn_status pn_cone_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    double near = 0.0, off = 0.0;
    pn_status status = split(self, x, &near, &off, err);

    if (status == PN_OK)
        *value = off <= ROUNDING * near ? 0.0 : INFINITY;
    return status;
}

void pn_cone_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

/* ---- x >= 0 ---- */

static pn_status nonnegative_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return pn_cone_new(out, &pn_set_nonnegative, args[DIM].count, err);
}

static pn_status nonnegative_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double limit = ROUNDING * pn_lp_norm(PN_LINF, self->dim, g);

    (void)err;
    *value = 0.0;
    for (size_t j = 0; j < self->dim; j++)
        *value = g[j] > limit ? INFINITY : *value;
    if (point && *value == 0.0)
        memset(point, 0, self->dim * sizeof *point);
    return PN_OK;
}

static pn_status nonnegative_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)err;
    *inside = true;
    for (size_t j = 0; *inside && j < self->dim; j++)
        *inside = x[j] >= -tolerance;
    return PN_OK;
}

static pn_status nonnegative_project(const pn_set *self, double *x, pn_err *err)
{
    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        x[j] = x[j] > 0.0 ? x[j] : 0.0;
    return PN_OK;
}

static pn_status nonnegative_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    bool inside;

    (void)nonnegative_contains(self, x, 0.0, &inside, err);
    *value = inside ? 0.0 : INFINITY;
    return PN_OK;
}

/* ---- ||x||_2 <= t ---- */

static pn_status second_order_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return pn_cone_new(out, &pn_set_second_order_cone, args[DIM].count, err);
}

static pn_status second_order_project(const pn_set *self, double *x, pn_err *err)
{
    size_t n = self->dim - 1;
    double norm = pn_lp_norm(PN_L2, n, x), t = x[n], height, factor;

    (void)err;
    if (norm <= t)
        return PN_OK;
    height = norm <= -t ? 0.0 : 0.5 * norm + 0.5 * t;
    factor = height > 0.0 ? height / norm : 0.0;
    for (size_t j = 0; j < n; j++)
        x[j] *= factor;
    x[n] = height;
    return PN_OK;
}

/* ---- ||x||^2 <= 2uv: the second-order cone after turning (u, v) by 45 degrees ---- */

static pn_status rotated_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    if (args[DIM].count < 2)
        return pn_fail(err, PN_EINVAL, "set.rotated_second_order_cone: dim must be at least 2, for u and v, got %zu",
                       args[DIM].count);
    return pn_cone_new(out, &pn_set_rotated_second_order_cone, args[DIM].count, err);
}

/* (v - u, v + u) / sqrt(2), a reflection, so its own inverse; 2uv = (v + u)^2 / 2 - (v - u)^2 / 2. */
static void turn(double *pair)
{
    double u = pair[0], v = pair[1];

    pair[0] = (v - u) / sqrt(2.0);
    pair[1] = (v + u) / sqrt(2.0);
}

/* A point of the cone is left as it is, without the rounding of two turns. */
static pn_status rotated_project(const pn_set *self, double *x, pn_err *err)
{
    size_t n = self->dim - 2;
    double u = x[n], v = x[n + 1];

    if (u >= 0.0 && v >= 0.0 && pn_lp_norm(PN_L2, n, x) <= sqrt(2.0 * u) * sqrt(v))
        return PN_OK;
    turn(x + n);
    (void)second_order_project(self, x, err);
    turn(x + n);
    x[n] = fmax(x[n], 0.0);
    x[n + 1] = fmax(x[n + 1], 0.0);
    return PN_OK;
}

static const pn_param cone_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    PN_PARAM_END,
};

const pn_set_ops pn_set_nonnegative = {
    .name = "nonnegative",
    .doc = "The orthant {x in R^dim : x >= 0}.  Unbounded.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, section 8.1",
    .params = cone_params,
    .create = nonnegative_create,
    .destroy = pn_cone_destroy,
    .cone = true,
    .support = nonnegative_support,
    .radius = pn_unbounded_size,
    .diameter = pn_unbounded_size,
    .contains = nonnegative_contains,
    .center = pn_cone_center,
    .project = nonnegative_project,
    .gauge = nonnegative_gauge,
};

const pn_set_ops pn_set_second_order_cone = {
    .name = "second_order_cone",
    .doc = "The cone {(x, t) in R^dim : ||x||_2 <= t}; t is the last coordinate.  Unbounded.",
    .source = "Parikh, Boyd (2014), Proximal Algorithms, section 6.3.2",
    .params = cone_params,
    .create = second_order_create,
    .destroy = pn_cone_destroy,
    .cone = true,
    .support = pn_cone_support,
    .radius = pn_unbounded_size,
    .diameter = pn_unbounded_size,
    .contains = pn_cone_contains,
    .center = pn_cone_center,
    .project = second_order_project,
    .gauge = pn_cone_gauge,
};

const pn_set_ops pn_set_rotated_second_order_cone = {
    .name = "rotated_second_order_cone",
    .doc = "The cone {(x, u, v) in R^dim : ||x||_2^2 <= 2uv, u >= 0, v >= 0}; u and v come last.  Unbounded.",
    .source = "Alizadeh, Goldfarb (2003), Second-order cone programming, section 2",
    .params = cone_params,
    .create = rotated_create,
    .destroy = pn_cone_destroy,
    .cone = true,
    .support = pn_cone_support,
    .radius = pn_unbounded_size,
    .diameter = pn_unbounded_size,
    .contains = pn_cone_contains,
    .center = pn_cone_center,
    .project = rotated_project,
    .gauge = pn_cone_gauge,
};
