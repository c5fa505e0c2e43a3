/* hypersimplex.c -- the simplices with several ones: hypersimplex {0 <= x <= radius, sum x = k radius},
 * unit_hypersimplex {0 <= x <= radius, sum x <= k radius}, and with signs ksparse_polytope
 * {|x_j| <= radius, ||x||_1 <= k radius}.  Their vertices have k entries (at most k) of size radius; there are too many
 * for a list.  The projection is x_j = clip(z_j - tau, 0, radius) with the tau that makes the sum right.
 * Depends on: ball.h, order.h, numeric/root.h.  Used by: sets.c's table. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/order.h"
#include "numeric/root.h"

typedef struct hypersimplex {
    pn_ball ball;
    size_t k;
    bool whole, has_signs; /* the sum is k radius, not less; entries of both signs */
} hypersimplex;

extern const pn_set_ops pn_set_hypersimplex, pn_set_unit_hypersimplex, pn_set_ksparse_polytope;

enum { DIM, K, RADIUS };

static const pn_param hypersimplex_params[] = {
    PN_BALL_DIM,
    { "k", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "how many entries of a vertex are not 0, at most dim" },
    PN_BALL_RADIUS("the largest entry"),
    PN_PARAM_END,
};

static const hypersimplex *as_hyper(const pn_set *set)
{
    return (const hypersimplex *)set;
}

static pn_status create(pn_set **out, const pn_set_ops *ops, const pn_arg *args, pn_err *err)
{
    pn_status status = pn_ball_check_k(ops->name, args[K].count, args[DIM].count, err);
    hypersimplex *self;

    if (status != PN_OK)
        return status;
    self = pn_ball_new(sizeof *self, ops, args[DIM].count, args[RADIUS].real, err);
    if (!self)
        return PN_ENOMEM;
    self->k = args[K].count;
    self->whole = ops == &pn_set_hypersimplex;
    self->has_signs = ops == &pn_set_ksparse_polytope;
    *out = &self->ball.base;
    return PN_OK;
}

static pn_status hypersimplex_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_hypersimplex, args, err);
}

static pn_status unit_hypersimplex_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_unit_hypersimplex, args, err);
}

static pn_status ksparse_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    return create(out, &pn_set_ksparse_polytope, args, err);
}

/* The radius at the k largest entries (sizes), but at none below 0 where the sum may be less. */
static pn_status hypersimplex_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const hypersimplex *set = as_hyper(self);
    size_t n = self->dim;
    double *score = pn_alloc(n, 2 * sizeof *score), radius = set->ball.radius, sum = 0.0;
    bool *chosen = pn_alloc(n, sizeof *chosen);
    pn_status status = PN_OK;

    if (score && chosen) {
        for (size_t j = 0; j < n; j++)
            score[j] = set->has_signs ? fabs(g[j]) : g[j];
        pn_mark_largest(chosen, score, n, set->k, score + n);
        for (size_t j = 0; j < n; j++) {
            bool taken = chosen[j] && (set->whole || score[j] >= 0.0);

            sum += taken ? score[j] : 0.0;
            if (point)
                point[j] = !taken ? 0.0 : set->has_signs && g[j] < 0.0 ? -radius : radius;
        }
        *value = radius * sum;
    } else {
        status = pn_fail(err, PN_ENOMEM, "set.%s: out of memory in support", self->ops->name);
    }
    pn_free(score);
    pn_free(chosen);
    return status;
}

static double hypersimplex_radius(const pn_set *self, pn_lp norm)
{
    return pn_constant_norm(as_hyper(self)->k, pn_ball_scale(self), norm);
}

/* Between vertices that overlap as little as they can. */
static double hypersimplex_diameter(const pn_set *self, pn_lp norm)
{
    size_t k = as_hyper(self)->k, rest = self->dim - k, apart;

    if (as_hyper(self)->has_signs)
        return pn_ball_diameter(self, norm);
    apart = as_hyper(self)->whole ? 2 * (k < rest ? k : rest) : k < rest ? 2 * k : self->dim;
    return pn_constant_norm(apart, pn_ball_scale(self), norm);
}

/* The sum of the entries (sizes), the largest and the smallest. */
typedef struct extent {
    double sum, high, low;
} extent;

static extent measure(const pn_set *self, const double *x)
{
    extent out = { 0.0, -INFINITY, INFINITY };

    for (size_t j = 0; j < self->dim; j++) {
        double entry = as_hyper(self)->has_signs ? fabs(x[j]) : x[j];

        out.sum += entry;
        out.high = entry > out.high ? entry : out.high;
        out.low = entry < out.low ? entry : out.low;
    }
    return out;
}

static pn_status hypersimplex_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    extent at = measure(self, x);
    double radius = pn_ball_scale(self), excess = at.sum - (double)as_hyper(self)->k * radius;

    (void)err;
    *inside = at.low >= -tolerance && at.high <= radius + tolerance && excess <= tolerance &&
              (!as_hyper(self)->whole || excess >= -tolerance);
    return PN_OK;
}

static void hypersimplex_center(const pn_set *self, double *x)
{
    const hypersimplex *set = as_hyper(self);
    double share = (double)set->k / (double)self->dim * set->ball.radius;

    for (size_t j = 0; j < self->dim; j++)
        x[j] = set->has_signs ? 0.0 : set->whole ? share : 0.5 * share;
}

/* The cone over the set needs x >= 0 (but for signs); where the sum is fixed it fixes t,
 * which the largest entry must allow. */
static pn_status hypersimplex_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    const hypersimplex *set = as_hyper(self);
    extent at = measure(self, x);
    double by_sum = at.sum / (double)set->k / set->ball.radius, by_size = at.high / set->ball.radius;

    (void)err;
    if (at.low < 0.0 || (set->whole && by_size > by_sum * (1.0 + 64.0 * DBL_EPSILON)))
        *value = INFINITY;
    else
        *value = set->whole ? by_sum : fmax(by_sum, by_size);
    return PN_OK;
}

/* ---- projection, in units of the radius ---- */

typedef struct clipped {
    const double *z;
    size_t n;
    double target;
} clipped;

/* sum clip(z_j - tau, 0, 1) - target, in eight lanes, which compile to vector instructions */
static double clipped_excess(void *self, double tau, double *slope)
{
    const clipped *p = self;
    double sum[8] = { 0.0 }, inside[8] = { 0.0 };

    for (size_t j = 0; j < p->n; j += 8) {
        size_t lanes = p->n - j < 8 ? p->n - j : 8;

        for (size_t i = 0; i < lanes; i++) {
            double above = p->z[j + i] - tau, kept = above > 0.0 ? above : 0.0, size = kept < 1.0 ? kept : 1.0;

            inside[i] += size == above ? 1.0 : 0.0;
            sum[i] += size;
        }
    }
    for (size_t i = 1; i < 8; i++) {
        sum[0] += sum[i];
        inside[0] += inside[i];
    }
    *slope = -inside[0];
    return sum[0] - p->target;
}

static pn_status project_once(const pn_set *self, double *x, pn_err *err)
{
    const hypersimplex *set = as_hyper(self);
    double radius = set->ball.radius, *z = pn_alloc(self->dim, sizeof *z), tau = 0.0, slope;
    clipped p = { z, self->dim, (double)set->k };
    extent at = measure(self, x);

    PN_TRY(pn_made(z, err, "set.%s: out of memory in project", self->ops->name));
    for (size_t j = 0; j < self->dim; j++)
        z[j] = (set->has_signs ? fabs(x[j]) : x[j]) / radius;
    if (set->whole || clipped_excess(&p, 0.0, &slope) > 0.0)
        tau = pn_newton(clipped_excess, &p, set->whole ? at.low / radius - 1.0 : 0.0, at.high / radius);
    for (size_t j = 0; j < self->dim; j++) {
        double size = tau == 0.0 ? fmin(fmax(set->has_signs ? fabs(x[j]) : x[j], 0.0), radius)
                                 : radius * fmin(fmax(z[j] - tau, 0.0), 1.0);

        x[j] = size > 0.0 ? copysign(size, x[j]) : 0.0;
        if (!set->has_signs)
            x[j] = size;
    }
    pn_free(z);
    return PN_OK;
}

static pn_status hypersimplex_project(const pn_set *self, double *x, pn_err *err)
{
    return pn_project_from_far(self, x, project_once, err);
}

static bool hypersimplex_number(const pn_set *self, const char *name, double *value)
{
    *value = (double)as_hyper(self)->k;
    return strcmp(name, "k") == 0;
}

/* clang-format off */
#define SHARED                                                                                                         \
    .params = hypersimplex_params, .destroy = pn_ball_destroy, .support = hypersimplex_support,                        \
    .radius = hypersimplex_radius, .diameter = hypersimplex_diameter, .contains = hypersimplex_contains,               \
    .center = hypersimplex_center, .project = hypersimplex_project, .gauge = hypersimplex_gauge,                       \
    .describe = pn_ball_describe, .scale = pn_ball_scale, .number = hypersimplex_number
/* clang-format on */

const pn_set_ops pn_set_hypersimplex = {
    .name = "hypersimplex",
    .doc = "The hypersimplex {0 <= x <= radius, sum x = k radius}: the hull of all choices of k of dim coordinates.",
    .source = "Wang, Lu (2015), Projection onto the capped simplex",
    .create = hypersimplex_create,
    SHARED,
};

const pn_set_ops pn_set_unit_hypersimplex = {
    .name = "unit_hypersimplex",
    .doc = "The filled hypersimplex {0 <= x <= radius, sum x <= k radius}: the hull of all choices of at most k of dim "
           "coordinates.",
    .source = "Wang, Lu (2015), Projection onto the capped simplex",
    .create = unit_hypersimplex_create,
    SHARED,
};

const pn_set_ops pn_set_ksparse_polytope = {
    .name = "ksparse_polytope",
    .doc = "The k-sparse polytope {||x||_1 <= k radius, |x_j| <= radius for all j}: the hull of vectors with k entries "
           "+-radius.",
    .source = "Besancon, Carderera, Pokutta (2022), FrankWolfe.jl, section 3; Wang, Lu (2015) for the projection",
    .create = ksparse_create,
    .symmetric = true,
    SHARED,
};
