/* cross_polytope.c -- {x : sum_j |x_j| / reach_j <= 1}, the hull of the 2 dim points +-reach_j e_j: weighted_l1_ball
 * (reach = radius / weight) and diamond (reach = half of upper - lower, moved to the middle of the bounds; a reach of 0
 * fixes the coordinate).  Atom 2j is +reach_j e_j, atom 2j+1 is -reach_j e_j (j from 0).
 * Depends on: set.h, numeric/root.h, width_quadrature.h.  Used by: sets.c's table. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/draw.h"
#include "geometry/width/width_quadrature.h"
#include "numeric/root.h"

typedef struct cross_polytope {
    pn_set base;
    double radius;  /* the option of weighted_l1_ball; 1 for a diamond */
    double largest; /* of the reaches */
    double *reach;  /* [dim], owned */
} cross_polytope;

extern const pn_set_ops pn_set_weighted_l1_ball, pn_set_diamond;

enum { WEIGHTS, RADIUS, CENTER };

static const pn_param weighted_params[] = {
    { "weights", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "what each entry costs, positive" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest weighted l1 norm" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "the middle; the origin when absent" },
    PN_PARAM_END,
};

enum { LOWER, UPPER };

static const pn_param diamond_params[] = {
    { "lower", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the least value of each entry" },
    { "upper", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL, "the largest value of each entry" },
    PN_PARAM_END,
};

static const cross_polytope *as_cross(const pn_set *set)
{
    return (const cross_polytope *)set;
}

static void cross_destroy(pn_set *self)
{
    pn_free(((cross_polytope *)self)->reach);
    pn_free(self);
}

static cross_polytope *cross_new(const pn_set_ops *ops, size_t dim, pn_err *err)
{
    cross_polytope *self = pn_calloc(1, sizeof *self);

    if (self)
        self->reach = pn_alloc(dim, sizeof *self->reach);
    if (!self || !self->reach) {
        pn_free(self);
        (void)pn_fail(err, PN_ENOMEM, "set.%s: out of memory", ops->name);
        return NULL;
    }
    pn_set_init(&self->base, ops, dim);
    self->radius = 1.0;
    return self;
}

static void find_largest(cross_polytope *self)
{
    for (size_t j = 0; j < self->base.dim; j++)
        self->largest = fmax(self->largest, self->reach[j]);
}

static pn_status check_weights(pn_vec weights, double radius, pn_err *err)
{
    if (weights.n == 0)
        return pn_fail(err, PN_EINVAL, "set.weighted_l1_ball: weights must have at least one entry");
    for (size_t j = 0; j < weights.n; j++) {
        if (!(weights.data[j] > 0.0))
            return pn_fail(err, PN_EINVAL, "set.weighted_l1_ball: weights must be positive, got %g at entry %zu",
                           weights.data[j], j + 1);
        if (!isfinite(radius / weights.data[j]))
            return pn_fail(err, PN_EDOMAIN, "set.weighted_l1_ball: radius / weight is out of range at entry %zu",
                           j + 1);
    }
    return PN_OK;
}

static pn_status weighted_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_vec weights = args[WEIGHTS].vector;
    pn_status status = check_weights(weights, args[RADIUS].real, err);
    cross_polytope *self = status == PN_OK ? cross_new(&pn_set_weighted_l1_ball, weights.n, err) : NULL;

    if (!self)
        return status != PN_OK ? status : PN_ENOMEM;
    self->radius = args[RADIUS].real;
    for (size_t j = 0; j < weights.n; j++)
        self->reach[j] = self->radius / weights.data[j]; /* rounded: the set is the one with this reach */
    find_largest(self);
    return pn_set_center_at(out, &self->base, "set.weighted_l1_ball", &args[CENTER], err);
}

/* Takes over the reference to `self`. */
static pn_status move_to_middle(pn_set **out, cross_polytope *self, pn_vec lower, pn_vec upper, pn_err *err)
{
    double *middle = pn_alloc(lower.n, sizeof *middle);
    pn_status status;

    if (middle) {
        for (size_t j = 0; j < lower.n; j++)
            middle[j] = 0.5 * lower.data[j] + 0.5 * upper.data[j];
        status = pn_set_shift(out, &self->base, middle, lower.n, err);
    } else {
        status = pn_fail(err, PN_ENOMEM, "set.diamond: out of memory");
    }
    pn_free(middle);
    pn_set_free(&self->base);
    return status;
}

static pn_status diamond_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_vec lower = args[LOWER].vector, upper = args[UPPER].vector;
    pn_status status = pn_bounds_check("set.diamond", lower, upper, err);
    cross_polytope *self = status == PN_OK ? cross_new(&pn_set_diamond, lower.n, err) : NULL;
    bool moved = false;

    if (!self)
        return status != PN_OK ? status : PN_ENOMEM;
    for (size_t j = 0; j < lower.n; j++) {
        self->reach[j] = 0.5 * upper.data[j] - 0.5 * lower.data[j];
        moved = moved || lower.data[j] != -upper.data[j];
    }
    find_largest(self);
    if (moved)
        return move_to_middle(out, self, lower, upper, err);
    *out = &self->base;
    return PN_OK;
}

static pn_status cross_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const double *reach = as_cross(self)->reach;
    double largest = -1.0;
    size_t best = 0;

    (void)err;
    for (size_t j = 0; j < self->dim; j++) {
        double score = reach[j] * fabs(g[j]);

        if (score > largest) {
            largest = score;
            best = j;
        }
    }
    if (point) {
        memset(point, 0, self->dim * sizeof *point);
        point[best] = g[best] < 0.0 ? -reach[best] : reach[best];
    }
    *value = largest;
    return PN_OK;
}

static double cross_radius(const pn_set *self, pn_lp norm)
{
    (void)norm; /* at a vertex, whose norms agree */
    return as_cross(self)->largest;
}

/* Between the two ends of the longest axis: |a| + |b| is no more in any norm. */
static double cross_diameter(const pn_set *self, pn_lp norm)
{
    (void)norm;
    return 2.0 * as_cross(self)->largest;
}

/* sum |x_j| / reach_j over the coordinates that are free */
static double cross_norm(const pn_set *self, const double *x)
{
    const double *reach = as_cross(self)->reach;
    double sum = 0.0;

    for (size_t j = 0; j < self->dim; j++)
        sum += reach[j] > 0.0 ? fabs(x[j]) / reach[j] : 0.0;
    return sum;
}

/* How far x is from 0 where the set is 0. */
static double off_flat(const pn_set *self, const double *x)
{
    double most = 0.0;

    for (size_t j = 0; j < self->dim; j++)
        most = as_cross(self)->reach[j] > 0.0 ? most : fmax(most, fabs(x[j]));
    return most;
}

static pn_status cross_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double radius = as_cross(self)->radius;

    (void)err;
    *inside = cross_norm(self, x) * radius <= radius + tolerance && off_flat(self, x) <= tolerance;
    return PN_OK;
}

static void cross_center(const pn_set *self, double *x)
{
    memset(x, 0, self->dim * sizeof *x);
}

static pn_status cross_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = off_flat(self, x) > 0.0 ? INFINITY : cross_norm(self, x);
    return PN_OK;
}

/* ---- projection: |x_j| = max(|z_j| - tau / reach_j, 0) with tau such that the norm is 1,
 * in units of the largest reach ---- */

typedef struct shrunk {
    const cross_polytope *set;
    const double *z;
} shrunk;

/* What is left of coordinate j; *price is 1 / reach_j, 0 for a coordinate that is fixed. */
static double shrink(const shrunk *p, size_t j, double tau, double *price)
{
    double reach = p->set->reach[j] / p->set->largest;

    *price = reach > 1e-150 ? 1.0 / reach : 0.0;
    return *price > 0.0 ? fmax(fabs(p->z[j]) / p->set->largest - tau * *price, 0.0) : 0.0;
}

static double shrunk_excess(void *self, double tau, double *slope)
{
    const shrunk *p = self;
    double sum = 0.0, squares = 0.0, price;

    for (size_t j = 0; j < p->set->base.dim; j++) {
        double left = shrink(p, j, tau, &price);

        sum += left * price;
        squares += left > 0.0 ? price * price : 0.0;
    }
    *slope = -squares;
    return sum - 1.0;
}

static pn_status project_once(const pn_set *self, double *x, pn_err *err)
{
    const cross_polytope *set = as_cross(self);
    shrunk p = { set, x };
    double tau = 0.0, high = 0.0, price;

    (void)err;
    if (set->largest == 0.0) {
        cross_center(self, x);
        return PN_OK;
    }
    for (size_t j = 0; j < self->dim; j++)
        high = fmax(high, fabs(x[j]) / set->largest * (set->reach[j] / set->largest));
    if (cross_norm(self, x) > 1.0)
        tau = pn_newton(shrunk_excess, &p, 0.0, high);
    else if (off_flat(self, x) == 0.0)
        return PN_OK;
    for (size_t j = 0; j < self->dim; j++) {
        double left = shrink(&p, j, tau, &price);

        x[j] = left > 0.0 ? copysign(left * set->largest, x[j]) : 0.0;
    }
    return PN_OK;
}

static pn_status cross_project(const pn_set *self, double *x, pn_err *err)
{
    return pn_project_from_far(self, x, project_once, err);
}

static pn_status cross_width(const pn_set *self, const pn_width_options *how, pn_width *out, pn_err *err)
{
    (void)how;
    (void)err;
    *out = pn_width_of_reaches(as_cross(self)->reach, self->dim);
    return PN_OK;
}

/* As in the l1 ball, stretched. */
static pn_status cross_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    (void)err;
    pn_draw_l1_ball(rng, self->dim, x);
    for (size_t j = 0; j < self->dim; j++)
        x[j] *= as_cross(self)->reach[j];
    return PN_OK;
}

/* ---- vertices ---- */

static size_t cross_atom_count(const pn_set *self)
{
    return 2 * self->dim;
}

static void cross_atom_scores(const pn_set *self, const double *g, double *scores)
{
    for (size_t j = 0; j < self->dim; j++) {
        double score = as_cross(self)->reach[j] * g[j];

        scores[2 * j] = score;
        scores[2 * j + 1] = -score;
    }
}

static void cross_atom(const pn_set *self, size_t i, pn_atom *out, double *scratch)
{
    double reach = as_cross(self)->reach[i / 2];

    (void)scratch;
    pn_atom_single(out, i / 2, i % 2 ? -reach : reach);
}

static double weighted_scale(const pn_set *self)
{
    return as_cross(self)->radius;
}

/* clang-format off */
#define SHARED                                                                                                         \
    .destroy = cross_destroy, .symmetric = true, .support = cross_support, .radius = cross_radius,                     \
    .diameter = cross_diameter, .contains = cross_contains, .center = cross_center, .project = cross_project,          \
    .gauge = cross_gauge, .width = cross_width, .sample = cross_sample, .atom_count = cross_atom_count,                \
    .atom_scores = cross_atom_scores, .atom_radius = cross_radius, .atom = cross_atom
/* clang-format on */

const pn_set_ops pn_set_weighted_l1_ball = {
    .name = "weighted_l1_ball",
    .doc = "The weighted l1 ball {x : sum_j weights_j |x_j - center_j| <= radius}: the adaptive lasso; 2 dim vertices.",
    .source = "Zou (2006), The adaptive lasso; Duchi, Shalev-Shwartz, Singer, Chandra (2008) for the projection",
    .params = weighted_params,
    .create = weighted_create,
    .scale = weighted_scale,
    SHARED,
};

const pn_set_ops pn_set_diamond = {
    .name = "diamond",
    .doc = "The diamond in a box {x : sum_j |x_j - m_j| / h_j <= 1} with m = (lower + upper)/2, h = (upper - lower)/2: "
           "its 2 dim vertices are the middles of the box's faces.",
    .source = "Besancon, Carderera, Pokutta (2022), FrankWolfe.jl, section 3 (ScaledBoundL1NormBall)",
    .params = diamond_params,
    .create = diamond_create,
    SHARED,
};
