/* l2_ball.c -- { x in R^dim : ||x - center||_2 <= radius }.  A center makes a shifted ball.
 * Depends on: set.h, width_quadrature.h, numeric/blas.h, random/sample.h.  Used by: sets.c's table.
 * See geometry.md section 2.1. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/set.h"
#include "geometry/width/width_quadrature.h"
#include "numeric/blas.h"
#include "random/sample.h"

typedef struct l2_ball {
    pn_set base;
    double radius;
} l2_ball;

extern const pn_set_ops pn_set_l2_ball;

enum { DIM, RADIUS, CENTER };

static const pn_param l2_ball_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest l2 norm" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the middle, dim entries; the origin when absent" },
    PN_PARAM_END,
};

static double radius_of(const pn_set *self)
{
    return ((const l2_ball *)self)->radius;
}

static pn_status l2_ball_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    l2_ball *ball;

    PN_TRY(pn_new(&ball, 1, err, "set.l2_ball: out of memory"));
    pn_set_init(&ball->base, &pn_set_l2_ball, args[DIM].count);
    ball->radius = args[RADIUS].real;
    return pn_set_center_at(out, &ball->base, "set.l2_ball", &args[CENTER], err);
}

static void l2_ball_destroy(pn_set *self)
{
    pn_free(self);
}

static pn_status l2_ball_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double norm = pn_lp_norm(PN_L2, self->dim, g), radius = radius_of(self);

    (void)err; /* a set of a user's may fail here */
    for (size_t j = 0; point && j < self->dim; j++)
        point[j] = norm > 0.0 ? radius * (g[j] / norm) : 0.0;
    *value = radius * norm;
    return PN_OK;
}

static double l2_ball_radius(const pn_set *self, pn_lp norm)
{
    if (norm != PN_L1 || self->dim == 1)
        return radius_of(self);
    return nextafter(nextafter(sqrt((double)self->dim) * radius_of(self), INFINITY), INFINITY);
}

static double l2_ball_diameter(const pn_set *self, pn_lp norm)
{
    return 2.0 * l2_ball_radius(self, norm);
}

static pn_status l2_ball_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)err;
    *inside = pn_lp_norm(PN_L2, self->dim, x) <= radius_of(self) + tolerance;
    return PN_OK;
}

static void l2_ball_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

static pn_status l2_ball_project(const pn_set *self, double *x, pn_err *err)
{
    double norm = pn_lp_norm(PN_L2, self->dim, x), radius = radius_of(self);

    (void)err;
    if (norm > radius && radius / norm >= DBL_MIN) {
        double factor = radius / norm;

        for (size_t j = 0; j < self->dim; j++)
            x[j] *= factor;
    } else if (norm > radius) { /* the factor alone would lose digits */
        for (size_t j = 0; j < self->dim; j++)
            x[j] = radius * (x[j] / norm);
    }
    return PN_OK;
}

/* The norm is off by (dim/2 + 2) 2^-53 of it, the factor and its product with x by two more roundings of what has the
 * size of the radius; a point that is left alone is outside by the norm's error. */
static double l2_ball_projection_error(const pn_set *self, double size)
{
    (void)size;
    return ((double)self->dim + 8.0) * 0x1p-53 * radius_of(self);
}

static pn_status l2_ball_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = pn_lp_norm(PN_L2, self->dim, x) / radius_of(self);
    return PN_OK;
}

static pn_status l2_ball_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)how;
    (void)err;
    *out = pn_width_times(pn_width_of_l2(self->dim), radius_of(self));
    return PN_OK;
}

static pn_status l2_ball_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    (void)err;
    pn_sample_ball(rng, self->dim, x);
    for (size_t j = 0; j < self->dim; j++)
        x[j] *= radius_of(self);
    return PN_OK;
}

const pn_set_ops pn_set_l2_ball = {
    .name = "l2_ball",
    .doc = "The Euclidean ball {x in R^dim : ||x - center||_2 <= radius}: ridge-like constraints.",
    .source = "Talwar, Thakurta, Zhang (2014), section 3",
    .params = l2_ball_params,
    .create = l2_ball_create,
    .destroy = l2_ball_destroy,
    .symmetric = true,
    .support = l2_ball_support,
    .radius = l2_ball_radius,
    .diameter = l2_ball_diameter,
    .contains = l2_ball_contains,
    .center = l2_ball_center,
    .project = l2_ball_project,
    .projection_error = l2_ball_projection_error,
    .gauge = l2_ball_gauge,
    .width = l2_ball_width,
    .sample = l2_ball_sample,
    .scale = radius_of,
};
