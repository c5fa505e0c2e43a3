/* k_support.c -- the ball of the k-support norm: the hull of the vectors with at most k entries and l2 norm radius.  k
 * = 1 makes the l1 ball, k = dim the l2 ball.  The norm is also (min sum_i x_i^2 / theta_i)^(1/2) over 0 < theta <= 1,
 * sum theta <= k, from which the projection follows: see project_sorted.
 * Depends on: ball.h, order.h, numeric/root.h, numeric/blas.h.  Used by: sets.c's table. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/order.h"
#include "numeric/blas.h"
#include "numeric/root.h"

typedef struct k_support {
    pn_ball ball;
    size_t k;
} k_support;

extern const pn_set_ops pn_set_k_support;

enum { DIM, K, RADIUS, CENTER };

static const pn_param k_support_params[] = {
    PN_BALL_DIM,
    { "k", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "how many entries an extreme point has, at most dim" },
    PN_BALL_RADIUS("the l2 norm of the extreme points"),
    PN_BALL_CENTER,
    PN_PARAM_END,
};

static size_t k_of(const pn_set *self)
{
    return ((const k_support *)self)->k;
}

static pn_status k_support_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_status status = pn_ball_check_k("k_support", args[K].count, args[DIM].count, err);
    k_support *self;

    if (status != PN_OK)
        return status;
    self = pn_ball_new(sizeof *self, &pn_set_k_support, args[DIM].count, args[RADIUS].real, err);
    if (!self)
        return PN_ENOMEM;
    self->k = args[K].count;
    return pn_set_center_at(out, &self->ball.base, "set.k_support", &args[CENTER], err);
}

static pn_status no_memory(pn_err *err)
{
    return pn_fail(err, PN_ENOMEM, "set.k_support: out of memory");
}

/* The k largest entries, normalised. */
static pn_status k_support_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    size_t n = self->dim;
    double *size = pn_alloc(n, 2 * sizeof *size), norm;
    bool *chosen = pn_alloc(n, sizeof *chosen);
    pn_status status = PN_OK;

    if (size && chosen) {
        for (size_t j = 0; j < n; j++)
            size[j] = fabs(g[j]);
        pn_mark_largest(chosen, size, n, k_of(self), size + n);
        for (size_t j = 0; j < n; j++)
            size[j] = chosen[j] ? g[j] : 0.0;
        norm = pn_lp_norm(PN_L2, n, size);
        for (size_t j = 0; point && j < n; j++)
            point[j] = norm > 0.0 ? pn_ball_scale(self) * (size[j] / norm) : 0.0;
        *value = pn_ball_scale(self) * norm;
    } else {
        status = no_memory(err);
    }
    pn_free(size);
    pn_free(chosen);
    return status;
}

static double k_support_radius(const pn_set *self, pn_lp norm)
{
    if (norm != PN_L1 || k_of(self) == 1)
        return pn_ball_scale(self);
    return nextafter(nextafter(sqrt((double)k_of(self)) * pn_ball_scale(self), INFINITY), INFINITY);
}

/* With T_r the sum of all sizes but the k - r - 1 largest: the squares of these, and T_r^2 / (r + 1), for the first r
 * at which the smallest of these is above T_r / (r + 1). */
static pn_status k_support_norm(const pn_set *self, const double *x, double *value, pn_err *err)
{
    size_t n = self->dim, k = k_of(self), r = 0;
    pn_ranked *items = pn_alloc(n, sizeof *items);
    double unit, tail = 0.0, squares;

    if (!items)
        return no_memory(err);
    pn_rank_down(items, x, n, true);
    unit = items[0].value > 0.0 ? items[0].value : 1.0;
    for (size_t i = n; i-- > k - 1;)
        tail += items[i].value / unit;
    for (; r + 1 < k && items[k - r - 2].value / unit <= tail / (double)(r + 1); r++)
        tail += items[k - r - 2].value / unit;
    squares = tail * tail / (double)(r + 1);
    for (size_t i = 0; i + r + 1 < k; i++)
        squares += items[i].value / unit * (items[i].value / unit);
    *value = unit * sqrt(squares);
    pn_free(items);
    return PN_OK;
}

static pn_status k_support_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double norm;
    pn_status status = k_support_norm(self, x, &norm, err);

    if (status == PN_OK)
        *inside = norm <= pn_ball_scale(self) + tolerance;
    return status;
}

static pn_status k_support_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    pn_status status = k_support_norm(self, x, value, err);

    *value /= pn_ball_scale(self);
    return status;
}

/* ---- projection ---- */

typedef struct shares {
    const pn_ranked *items; /* sizes, from the largest */
    const double *sums;     /* [n + 1], of the first sizes in units of `unit` */
    size_t n, k;
    double unit, radius; /* unit: the largest size; radius in it */
    double mu, c;
    size_t full, some; /* theta = 1 below full, 0 from some */
} shares;

static size_t count_above(const shares *p, double c, double level)
{
    size_t low = 0, high = p->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (c * (p->items[middle].value / p->unit) > level)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* sum_i clip(c z_i - mu, 0, 1) - k */
static double share_gap(void *self, double c, double *slope)
{
    shares *p = self;

    p->full = count_above(p, c, 1.0 + p->mu);
    p->some = count_above(p, c, p->mu);
    *slope = p->sums[p->some] - p->sums[p->full];
    return (double)p->full + c * *slope - p->mu * (double)(p->some - p->full) - (double)p->k;
}

/* The squared norm at mu less the squared radius: sum_i theta_i z_i^2 / (theta_i + mu)^2. */
static double norm_gap(void *self, double mu, double *slope)
{
    shares *p = self;
    double sum = 0.0, unused;

    p->mu = mu;
    p->c = pn_newton(share_gap, p, mu, (1.0 + mu) / (p->items[p->k - 1].value / p->unit));
    (void)share_gap(p, p->c, &unused);
    for (size_t i = 0; i < p->full; i++) {
        double kept = p->items[i].value / p->unit / (1.0 + mu);

        sum += kept * kept;
    }
    sum += ((p->sums[p->some] - p->sums[p->full]) - mu / p->c * (double)(p->some - p->full)) / p->c;
    *slope = 0.0;
    return sum - p->radius * p->radius;
}

/* min ||x - z||^2/2 + (mu/2) sum x_i^2/theta_i has x_i = theta_i z_i / (theta_i + mu) and then, over theta, theta_i =
 * clip(c z_i - mu, 0, 1) with the c at which they sum to k: large entries are divided by 1 + mu, others lose mu / c.
 * mu is what makes the norm the radius; the norm is at most N*(z) / mu. */
static void project_sorted(shares *p, double dual, double *x)
{
    double mu = pn_newton(norm_gap, p, 0.0, dual / p->radius * (1.0 + 1e-12)), slope;

    (void)norm_gap(p, mu, &slope);
    for (size_t i = 0; i < p->n; i++) {
        double z = p->items[i].value / p->unit, size = i < p->full ? z / (1.0 + mu) : z - mu / p->c;
        size_t j = p->items[i].index;

        x[j] = i < p->some && size > 0.0 ? copysign(size * p->unit, x[j]) : 0.0;
    }
}

/* With at most k entries the norm is the l2 norm, and the projection a multiple. */
static void project_few(const pn_set *self, double *x)
{
    double norm = pn_lp_norm(PN_L2, self->dim, x);

    for (size_t j = 0; j < self->dim; j++)
        x[j] = pn_ball_scale(self) * (x[j] / norm);
}

static void project_ranked(const pn_set *self, const pn_ranked *items, double *sums, double *x)
{
    shares p = { items, sums, self->dim, k_of(self), items[0].value, 0.0, 0.0, 0.0, 0, 0 };
    double squares = 0.0;

    if (k_of(self) == self->dim || items[k_of(self)].value == 0.0) {
        project_few(self, x);
        return;
    }
    sums[0] = 0.0;
    for (size_t i = 0; i < p.n; i++)
        sums[i + 1] = sums[i] + items[i].value / p.unit;
    for (size_t i = 0; i < p.k; i++)
        squares += items[i].value / p.unit * (items[i].value / p.unit);
    p.radius = pn_ball_scale(self) / p.unit;
    project_sorted(&p, sqrt(squares), x);
}

static pn_status project_once(const pn_set *self, double *x, pn_err *err)
{
    double norm;
    pn_status status = k_support_norm(self, x, &norm, err);
    pn_ranked *items;
    double *sums;

    if (status != PN_OK || norm <= pn_ball_scale(self))
        return status;
    items = pn_alloc(self->dim, sizeof *items);
    sums = pn_alloc(self->dim + 1, sizeof *sums);
    if (items && sums) {
        pn_rank_down(items, x, self->dim, true);
        project_ranked(self, items, sums, x);
    } else {
        status = no_memory(err);
    }
    pn_free(items);
    pn_free(sums);
    return status;
}

static pn_status k_support_project(const pn_set *self, double *x, pn_err *err)
{
    return pn_project_from_far(self, x, project_once, err);
}

static void k_support_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "k_support(dim=%zu, k=%zu, radius=%.10g)", self->dim, k_of(self), pn_ball_scale(self));
}

const pn_set_ops pn_set_k_support = {
    .name = "k_support",
    .doc = "The hull of the vectors with at most k entries that are not 0 and l2 norm <= radius (about center): "
           "sparse, less biased than the l1 ball.",
    .source =
        "Argyriou, Foygel, Srebro (2012), Sparse prediction with the k-support norm; McDonald, Pontil, Stamos (2016)",
    .params = k_support_params,
    .create = k_support_create,
    .destroy = pn_ball_destroy,
    .symmetric = true,
    .support = k_support_support,
    .radius = k_support_radius,
    .diameter = pn_ball_diameter,
    .contains = k_support_contains,
    .center = pn_ball_center,
    .project = k_support_project,
    .gauge = k_support_gauge,
    .describe = k_support_describe,
    .scale = pn_ball_scale,
};
