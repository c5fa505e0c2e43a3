/* linf_ball.c -- { x in R^dim : |x_j - center_j| <= radius for all j }.  A center makes a shifted ball.
 * Its 2^dim vertices are not listed.  Depends on: ball.h, upper.h, width_quadrature.h.  Used by: sets.c's table.
 * See geometry.md section 2.4. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/upper.h"
#include "geometry/width/width_quadrature.h"

typedef struct linf_ball {
    pn_set base;
    double radius;
} linf_ball;

extern const pn_set_ops pn_set_linf_ball;

enum { DIM, RADIUS, CENTER };

static const pn_param linf_ball_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest absolute entry" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the middle, dim entries; the origin when absent" },
    PN_PARAM_END,
};

static double radius_of(const pn_set *self)
{
    return ((const linf_ball *)self)->radius;
}

static pn_status linf_ball_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    linf_ball *ball;

    PN_TRY(pn_new(&ball, 1, err, "set.linf_ball: out of memory"));
    pn_set_init(&ball->base, &pn_set_linf_ball, args[DIM].count);
    ball->radius = args[RADIUS].real;
    return pn_set_center_at(out, &ball->base, "set.linf_ball", &args[CENTER], err);
}

static void linf_ball_destroy(pn_set *self)
{
    pn_free(self);
}

static pn_status linf_ball_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double radius = radius_of(self), sum = 0.0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        sum += fabs(g[j]);
    for (size_t j = 0; point && j < self->dim; j++)
        point[j] = g[j] < 0.0 ? -radius : radius;
    *value = radius * sum;
    return PN_OK;
}

static double linf_ball_radius(const pn_set *self, pn_lp norm)
{
    return pn_constant_norm(self->dim, radius_of(self), norm);
}

static double linf_ball_diameter(const pn_set *self, pn_lp norm)
{
    return pn_constant_norm(self->dim, 2.0 * radius_of(self), norm);
}

/* The farthest vertex has the signs of the shift. */
static double linf_ball_image_radius(const pn_set *self, double factor, const double *shift, pn_lp norm)
{
    long double reach = (long double)factor * radius_of(self), joined = 0.0L;

    for (size_t j = 0; j < self->dim; j++)
        joined = pn_norm_join(norm, joined, pn_norm_term(norm, reach + fabsl((long double)shift[j])));
    return pn_norm_finish(norm, joined, self->dim);
}

static pn_status linf_ball_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        if (!(fabs(x[j]) <= radius_of(self) + tolerance)) {
            *inside = false;
            return PN_OK;
        }
    }
    *inside = true;
    return PN_OK;
}

static void linf_ball_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

static pn_status linf_ball_project(const pn_set *self, double *x, pn_err *err)
{
    double radius = radius_of(self);

    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        x[j] = x[j] > radius ? radius : x[j] < -radius ? -radius : x[j];
    return PN_OK;
}

/* Comparisons are exact. */
static double linf_ball_projection_error(const pn_set *self, double size)
{
    (void)self;
    (void)size;
    return 0.0;
}

static pn_status linf_ball_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    double largest = 0.0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        largest = fmax(largest, fabs(x[j]));
    *value = largest / radius_of(self);
    return PN_OK;
}

/* The general line would show the l2 radius, which is not what the user gave. */
static void linf_ball_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "linf_ball(dim=%zu, radius=%.10g)", self->dim, radius_of(self));
}

static pn_status linf_ball_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)how;
    (void)err;
    *out = pn_width_exactly((double)self->dim * radius_of(self) * 0.79788456080286535588 /* sqrt(2/pi) */);
    return PN_OK;
}

static pn_status linf_ball_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        x[j] = radius_of(self) * (2.0 * pn_rng_uniform(rng) - 1.0);
    return PN_OK;
}

const pn_set_ops pn_set_linf_ball = {
    .name = "linf_ball",
    .doc = "The cube {x in R^dim : |x_j - center_j| <= radius for all j}.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, section 8.1",
    .params = linf_ball_params,
    .create = linf_ball_create,
    .destroy = linf_ball_destroy,
    .symmetric = true,
    .support = linf_ball_support,
    .radius = linf_ball_radius,
    .diameter = linf_ball_diameter,
    .contains = linf_ball_contains,
    .center = linf_ball_center,
    .project = linf_ball_project,
    .projection_error = linf_ball_projection_error,
    .gauge = linf_ball_gauge,
    .width = linf_ball_width,
    .sample = linf_ball_sample,
    .image_radius = linf_ball_image_radius,
    .describe = linf_ball_describe,
    .scale = radius_of,
};
