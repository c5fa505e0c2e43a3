/* l1_ball.c -- { x in R^dim : ||x - center||_1 <= radius }, the hull of the 2 dim points center +- radius e_j.
 * Atom 2j is +radius e_j, atom 2j+1 is -radius e_j (j from 0).  A center makes a shifted ball.
 * Depends on: ball.h, simplex_project.h, width_quadrature.h, draw.h, numeric/blas.h.  Used by: sets.c's table.
 * See geometry.md section 2.2. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/draw.h"
#include "geometry/kernels/simplex_project.h"
#include "geometry/width/width_quadrature.h"
#include "numeric/blas.h"

typedef struct l1_ball {
    pn_set base;
    double radius;
} l1_ball;

extern const pn_set_ops pn_set_l1_ball;

enum { DIM, RADIUS, CENTER };

static const pn_param l1_ball_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest l1 norm" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the middle, dim entries; the origin when absent" },
    PN_PARAM_END,
};

static double radius_of(const pn_set *self)
{
    return ((const l1_ball *)self)->radius;
}

static pn_status l1_ball_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    l1_ball *ball;

    PN_TRY(pn_new(&ball, 1, err, "set.l1_ball: out of memory"));
    pn_set_init(&ball->base, &pn_set_l1_ball, args[DIM].count);
    ball->radius = args[RADIUS].real;
    return pn_set_center_at(out, &ball->base, "set.l1_ball", &args[CENTER], err);
}

static void l1_ball_destroy(pn_set *self)
{
    pn_free(self);
}

static pn_status l1_ball_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double largest = pn_lp_norm(PN_LINF, self->dim, g), radius = radius_of(self);
    size_t best = 0;

    (void)err;
    while (fabs(g[best]) < largest)
        best++;
    if (point) {
        memset(point, 0, self->dim * sizeof *point);
        point[best] = g[best] < 0.0 ? -radius : radius;
    }
    *value = radius * largest;
    return PN_OK;
}

static double l1_ball_radius(const pn_set *self, pn_lp norm)
{
    (void)norm; /* at a vertex, whose norms agree */
    return radius_of(self);
}

static double l1_ball_diameter(const pn_set *self, pn_lp norm)
{
    (void)norm;
    return 2.0 * radius_of(self);
}

static pn_status l1_ball_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)err;
    *inside = pn_lp_norm(PN_L1, self->dim, x) <= radius_of(self) + tolerance;
    return PN_OK;
}

static void l1_ball_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

static pn_status l1_ball_project(const pn_set *self, double *x, pn_err *err)
{
    double *scratch;

    if (pn_lp_norm(PN_L1, self->dim, x) <= radius_of(self))
        return PN_OK;
    PN_TRY(pn_new(&scratch, self->dim, err, "set.l1_ball: out of memory in project"));
    pn_l1_sphere_project(x, self->dim, radius_of(self), scratch);
    pn_free(scratch);
    return PN_OK;
}

static double l1_ball_projection_error(const pn_set *self, double size)
{
    (void)size;
    return pn_simplex_project_error(self->dim, radius_of(self));
}

static pn_status l1_ball_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = pn_lp_norm(PN_L1, self->dim, x) / radius_of(self);
    return PN_OK;
}

static size_t l1_ball_atom_count(const pn_set *self)
{
    return 2 * self->dim;
}

static void l1_ball_atom_scores(const pn_set *self, const double *g, double *scores)
{
    double radius = radius_of(self);

    for (size_t j = 0; j < self->dim; j++) {
        double score = radius * g[j];

        scores[2 * j] = score;
        scores[2 * j + 1] = -score;
    }
}

static void l1_ball_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    (void)scratch;
    pn_atom_single(out, i / 2, i % 2 ? -radius_of(self) : radius_of(self));
}

static pn_status l1_ball_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)how;
    (void)err;
    *out = pn_width_times(pn_width_of_l1(self->dim), radius_of(self));
    return PN_OK;
}

static pn_status l1_ball_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    (void)err;
    pn_draw_l1_ball(rng, self->dim, x);
    for (size_t j = 0; j < self->dim; j++)
        x[j] *= radius_of(self);
    return PN_OK;
}

const pn_set_ops pn_set_l1_ball = {
    .name = "l1_ball",
    .doc = "The l1 ball {x in R^dim : ||x - center||_1 <= radius}: sparse solutions (lasso); 2 dim vertices.",
    .source = "Duchi, Shalev-Shwartz, Singer, Chandra (2008), Efficient projections onto the l1-ball",
    .params = l1_ball_params,
    .create = l1_ball_create,
    .destroy = l1_ball_destroy,
    .symmetric = true,
    .support = l1_ball_support,
    .radius = l1_ball_radius,
    .diameter = l1_ball_diameter,
    .contains = l1_ball_contains,
    .center = l1_ball_center,
    .project = l1_ball_project,
    .projection_error = l1_ball_projection_error,
    .gauge = l1_ball_gauge,
    .width = l1_ball_width,
    .sample = l1_ball_sample,
    .atom_count = l1_ball_atom_count,
    .atom_scores = l1_ball_atom_scores,
    .atom_radius = l1_ball_radius,
    .atom = l1_ball_atom,
    .scale = radius_of,
};
