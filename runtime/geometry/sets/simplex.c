/* simplex.c -- simplex {x in R^dim : x >= 0, sum x = radius}, the hull of radius e_1 .. radius e_dim, and unit_simplex
 * {x >= 0, sum x <= radius}, the hull of these and, as the last atom, the origin.
 * Depends on: ball.h, simplex_project.h, width_quadrature.h, draw.h.  Used by: sets.c's table.
 * See geometry.md section 2.3. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/draw.h"
#include "geometry/kernels/simplex_project.h"
#include "geometry/width/width_quadrature.h"
#include "numeric/blas.h"

extern const pn_set_ops pn_set_simplex, pn_set_unit_simplex;

enum { DIM, RADIUS };

static const pn_param simplex_params[] = {
    PN_BALL_DIM,
    PN_BALL_RADIUS("the sum of the entries"),
    PN_PARAM_END,
};

static const pn_param unit_simplex_params[] = {
    PN_BALL_DIM,
    PN_BALL_RADIUS("the largest sum of the entries"),
    PN_PARAM_END,
};

static bool is_filled(const pn_set *self)
{
    return self->ops == &pn_set_unit_simplex;
}

static pn_status create(pn_set **out, const pn_set_ops *ops, const pn_arg *args, pn_err *err)
{
    pn_ball *self = pn_ball_new(sizeof *self, ops, args[DIM].count, args[RADIUS].real, err);

    if (!self)
        return PN_ENOMEM;
    *out = &self->base;
    return PN_OK;
}

static pn_status simplex_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_simplex, args, err);
}

static pn_status unit_simplex_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_unit_simplex, args, err);
}

/* At the first largest entry, but at the origin when that is better. */
static pn_status simplex_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double radius = pn_ball_scale(self);
    size_t best = 0;

    (void)err;
    for (size_t j = 1; j < self->dim; j++)
        best = g[j] > g[best] ? j : best;
    if (is_filled(self) && g[best] < 0.0)
        radius = 0.0;
    if (point) {
        memset(point, 0, self->dim * sizeof *point);
        point[best] = radius;
    }
    *value = radius * g[best] + 0.0; /* never -0 */
    return PN_OK;
}

static double simplex_radius(const pn_set *self, pn_lp norm)
{
    (void)norm; /* at a vertex, whose norms agree */
    return pn_ball_scale(self);
}

/* Between two vertices radius e_i and radius e_j, or from one to the origin. */
static double simplex_diameter(const pn_set *self, pn_lp norm)
{
    double radius = pn_ball_scale(self);

    if (self->dim == 1)
        return is_filled(self) ? radius : 0.0;
    switch (norm) {
    case PN_L1:
        return 2.0 * radius;
    case PN_L2:
        return nextafter(sqrt(2.0) * radius, INFINITY);
    default:
        return radius;
    }
}

static pn_status simplex_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double excess = pn_sum(self->dim, x) - pn_ball_scale(self), least = 0.0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        least = fmin(least, x[j]);
    *inside = least >= -tolerance && excess <= tolerance && (is_filled(self) || excess >= -tolerance);
    return PN_OK;
}

static void simplex_center(const pn_set *self, double *x)
{
    for (size_t j = 0; j < self->dim; j++)
        x[j] = pn_ball_scale(self) / ((double)self->dim + (is_filled(self) ? 1.0 : 0.0));
}

/* In the filled simplex when the sum of the positive entries is small enough; else on its upper face. */
static bool clip_to_filled(const pn_set *self, double *x)
{
    double sum = 0.0;

    for (size_t j = 0; j < self->dim; j++)
        sum += x[j] > 0.0 ? x[j] : 0.0;
    if (!(sum <= pn_ball_scale(self)))
        return false;
    for (size_t j = 0; j < self->dim; j++)
        x[j] = x[j] > 0.0 ? x[j] : 0.0;
    return true;
}

static pn_status simplex_project(const pn_set *self, double *x, pn_err *err)
{
    double *scratch;

    if (is_filled(self) && clip_to_filled(self, x))
        return PN_OK;
    PN_TRY(pn_new(&scratch, self->dim, err, "set.%s: out of memory in project", self->ops->name));
    pn_simplex_project(x, self->dim, pn_ball_scale(self), scratch);
    pn_free(scratch);
    return PN_OK;
}

static double simplex_projection_error(const pn_set *self, double size)
{
    (void)size;
    return pn_simplex_project_error(self->dim, pn_ball_scale(self));
}

/* The cone over both is x >= 0; elsewhere no multiple of the set has x. */
static pn_status simplex_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    double least = 0.0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++)
        least = fmin(least, x[j]);
    *value = least < 0.0 ? INFINITY : pn_sum(self->dim, x) / pn_ball_scale(self);
    return PN_OK;
}

/* The hull of the set and its reflection is the l1 ball. */
static pn_status simplex_hull_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = pn_lp_norm(PN_L1, self->dim, x) / pn_ball_scale(self);
    return PN_OK;
}

static pn_status simplex_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)how;
    (void)err;
    *out = is_filled(self) ? pn_width_of_unit_simplex(self->dim) : pn_width_of_simplex(self->dim);
    *out = pn_width_times(*out, pn_ball_scale(self));
    return PN_OK;
}

static pn_status simplex_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    (void)err;
    if (is_filled(self))
        pn_draw_unit_simplex(rng, self->dim, x);
    else
        pn_draw_simplex(rng, self->dim, x);
    for (size_t j = 0; j < self->dim; j++)
        x[j] *= pn_ball_scale(self);
    return PN_OK;
}

static size_t simplex_atom_count(const pn_set *self)
{
    return self->dim + (is_filled(self) ? 1 : 0);
}

static void simplex_atom_scores(const pn_set *self, const double *g, double *scores)
{
    for (size_t j = 0; j < self->dim; j++)
        scores[j] = pn_ball_scale(self) * g[j];
    if (is_filled(self))
        scores[self->dim] = 0.0;
}

static void simplex_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    (void)scratch;
    pn_atom_single(out, i < self->dim ? i : 0, i < self->dim ? pn_ball_scale(self) : 0.0);
}

/* clang-format off */
#define SHARED                                                                                                         \
    .destroy = pn_ball_destroy, .support = simplex_support, .radius = simplex_radius, .diameter = simplex_diameter,    \
    .contains = simplex_contains, .center = simplex_center, .project = simplex_project, .gauge = simplex_gauge,        \
    .projection_error = simplex_projection_error, .hull_gauge = simplex_hull_gauge,                                    \
    .width = simplex_width, .sample = simplex_sample,                                                                  \
    .atom_count = simplex_atom_count, .atom_scores = simplex_atom_scores, .atom_radius = simplex_radius,               \
    .atom = simplex_atom, .scale = pn_ball_scale
/* clang-format on */

const pn_set_ops pn_set_simplex = {
    .name = "simplex",
    .doc = "The simplex {x in R^dim : x >= 0, sum x = radius}: mixtures and portfolios; dim vertices.",
    .source = "Michelot (1986); Condat (2016), Fast projection onto the simplex and the l1 ball",
    .params = simplex_params,
    .create = simplex_create,
    SHARED,
};

const pn_set_ops pn_set_unit_simplex = {
    .name = "unit_simplex",
    .doc = "The filled simplex {x in R^dim : x >= 0, sum x <= radius}: dim + 1 vertices, the origin last.",
    .source = "Michelot (1986); Condat (2016), Fast projection onto the simplex and the l1 ball",
    .params = unit_simplex_params,
    .create = unit_simplex_create,
    SHARED,
};
