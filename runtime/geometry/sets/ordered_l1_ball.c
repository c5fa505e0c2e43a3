/* ordered_l1_ball.c -- {x in R^dim : sum_i w_i |x|_(i) <= radius}, |x|_(1) >= |x|_(2) >= .. the sorted sizes and w_1 >=
 * w_2 >= .. >= 0; and top_k_ball, whose weights are k ones: the sum of the k largest sizes.
 * With W_i = w_1 + .. + w_i the vertices have i entries of size radius/W_i;
 * the dual norm is max_i (|g|_(1) + .. + |g|_(i)) / W_i.
 * Depends on: ball.h, order.h, upper.h, numeric/root.h.  Used by: sets.c's table. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/order.h"
#include "geometry/kernels/upper.h"
#include "numeric/root.h"

typedef struct ordered_l1_ball {
    pn_ball ball;
    double *weights; /* [dim], owned */
    double size[PN_LP_COUNT];
    size_t k; /* top_k_ball only */
} ordered_l1_ball;

extern const pn_set_ops pn_set_ordered_l1_ball, pn_set_top_k_ball;

enum { WEIGHTS, WEIGHTS_RADIUS };

static const pn_param ordered_params[] = {
    { "weights", PN_VECTOR, PN_REQUIRED, PN_ANY, 0.0, NULL,
      "the price of the largest entry, the next, ..: not increasing, >= 0, the first > 0" },
    PN_BALL_RADIUS("the largest norm"),
    PN_PARAM_END,
};

enum { DIM, K, RADIUS };

static const pn_param top_k_params[] = {
    PN_BALL_DIM,
    { "k", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "how many of the largest entries count, at most dim" },
    PN_BALL_RADIUS("the largest sum of k sizes"),
    PN_PARAM_END,
};

static const ordered_l1_ball *as_ordered(const pn_set *set)
{
    return (const ordered_l1_ball *)set;
}

static void ordered_destroy(pn_set *self)
{
    pn_free(((ordered_l1_ball *)self)->weights);
    pn_free(self);
}

static ordered_l1_ball *ordered_new(const pn_set_ops *ops, size_t dim, double radius, pn_err *err)
{
    ordered_l1_ball *self = pn_ball_new(sizeof *self, ops, dim, radius, err);

    if (!self)
        return NULL;
    self->weights = pn_alloc(dim, sizeof *self->weights);
    if (!self->weights) {
        (void)pn_fail(err, PN_ENOMEM, "set.%s: out of memory", ops->name);
        pn_free(self);
        return NULL;
    }
    return self;
}

/* The norm of the vertex of i entries, i = 1 .. dim, at its largest; rounded up past the rounding of W_i. */
static void find_sizes(ordered_l1_ball *self)
{
    size_t n = self->ball.base.dim;

    for (int norm = 0; norm < PN_LP_COUNT; norm++) {
        long double sum = 0.0L;
        double largest = 0.0;

        for (size_t i = 1; i <= n; i++) {
            sum += self->weights[i - 1];
            largest = fmax(largest, pn_constant_norm(i, (double)(1.0L / sum), (pn_lp)norm));
        }
        self->size[norm] = pn_times_up(pn_times_up(largest, self->ball.radius), 1.0 + 4e-16 + (double)n * 6e-20);
    }
}

static pn_status check_weights(pn_vec weights, pn_err *err)
{
    if (weights.n == 0 || !(weights.data[0] > 0.0))
        return pn_fail(err, PN_EINVAL, "set.ordered_l1_ball: the first of the weights must be positive, got %g",
                       weights.n ? weights.data[0] : 0.0);
    for (size_t j = 1; j < weights.n; j++) {
        if (!(weights.data[j] >= 0.0) || weights.data[j] > weights.data[j - 1])
            return pn_fail(err, PN_EINVAL,
                           "set.ordered_l1_ball: weights must be >= 0 and not increase, got %g after %g at entry %zu",
                           weights.data[j], weights.data[j - 1], j + 1);
    }
    return PN_OK;
}

static pn_status ordered_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    pn_vec weights = args[WEIGHTS].vector;
    pn_status status = check_weights(weights, err);
    ordered_l1_ball *self;

    if (status != PN_OK)
        return status;
    self = ordered_new(&pn_set_ordered_l1_ball, weights.n, args[WEIGHTS_RADIUS].real, err);
    if (!self)
        return PN_ENOMEM;
    for (size_t j = 0; j < weights.n; j++)
        self->weights[j] = weights.data[j];
    find_sizes(self);
    *out = &self->ball.base;
    return PN_OK;
}

static pn_status top_k_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    size_t dim = args[DIM].count, k = args[K].count;
    pn_status status = pn_ball_check_k("top_k_ball", k, dim, err);
    ordered_l1_ball *self;

    if (status != PN_OK)
        return status;
    self = ordered_new(&pn_set_top_k_ball, dim, args[RADIUS].real, err);
    if (!self)
        return PN_ENOMEM;
    for (size_t j = 0; j < dim; j++)
        self->weights[j] = j < k ? 1.0 : 0.0;
    self->k = k;
    find_sizes(self);
    *out = &self->ball.base;
    return PN_OK;
}

static pn_ranked *ranked(const pn_set *self, const double *x, pn_err *err)
{
    pn_ranked *items = pn_alloc(self->dim, sizeof *items);

    if (items)
        pn_rank_down(items, x, self->dim, true);
    else
        (void)pn_fail(err, PN_ENOMEM, "set.%s: out of memory", self->ops->name);
    return items;
}

static pn_status ordered_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    const ordered_l1_ball *set = as_ordered(self);
    double sum = 0.0, total = 0.0, largest = -1.0, entry = 0.0;
    pn_ranked *items = ranked(self, g, err);
    size_t best = 0;

    if (!items)
        return PN_ENOMEM;
    for (size_t i = 0; i < self->dim; i++) {
        sum += items[i].value;
        total += set->weights[i];
        if (sum / total > largest) {
            largest = sum / total;
            entry = set->ball.radius / total;
            best = i + 1;
        }
    }
    for (size_t i = 0; point && i < self->dim; i++) {
        size_t j = items[i].index;

        point[j] = i >= best ? 0.0 : g[j] < 0.0 ? -entry : entry;
    }
    *value = set->ball.radius * largest;
    pn_free(items);
    return PN_OK;
}

static double ordered_radius(const pn_set *self, pn_lp norm)
{
    return as_ordered(self)->size[norm];
}

static pn_status ordered_norm(const pn_set *self, const double *x, double *value, pn_err *err)
{
    pn_ranked *items = ranked(self, x, err);

    if (!items)
        return PN_ENOMEM;
    *value = 0.0;
    for (size_t i = 0; i < self->dim; i++)
        *value += as_ordered(self)->weights[i] * items[i].value;
    pn_free(items);
    return PN_OK;
}

static pn_status ordered_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    double norm;
    pn_status status = ordered_norm(self, x, &norm, err);

    if (status == PN_OK)
        *inside = norm <= pn_ball_scale(self) + tolerance;
    return status;
}

static pn_status ordered_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    pn_status status = ordered_norm(self, x, value, err);

    *value /= pn_ball_scale(self);
    return status;
}

/* ---- projection: the sorted sizes minus t w, pooled until they fall and cut at 0,
 * for the t that gives the norm ---- */

typedef struct sorted_prox {
    const ordered_l1_ball *set;
    const pn_ranked *items;
    double unit; /* the largest size */
    double *gap; /* [dim] */
    pn_block *blocks;
    size_t used;
} sorted_prox;

/* The norm of the prox at t less the radius, in units of `unit`.  The prox falls by sum w over each of its blocks, the
 * norm by its square. */
static double sorted_prox_gap(void *self, double t, double *slope)
{
    sorted_prox *p = self;
    const double *weights = p->set->weights;
    size_t n = p->set->ball.base.dim, i = 0;
    double norm = 0.0;

    for (size_t j = 0; j < n; j++)
        p->gap[j] = p->items[j].value / p->unit - t * weights[j];
    p->used = pn_pool_down(p->blocks, p->gap, n);
    *slope = 0.0;
    for (size_t b = 0; b < p->used && p->blocks[b].sum > 0.0; b++) {
        double weight = 0.0;

        for (size_t end = i + p->blocks[b].count; i < end; i++)
            weight += weights[i];
        norm += weight * (p->blocks[b].sum / (double)p->blocks[b].count);
        *slope -= weight * (weight / (double)p->blocks[b].count);
    }
    return norm - p->set->ball.radius / p->unit;
}

/* At t = unit / w_1 nothing is left: no average of the sorted sizes less t w is positive. */
static void project_sorted(sorted_prox *p, double *x)
{
    double t = pn_newton(sorted_prox_gap, p, 0.0, (double)p->set->ball.base.dim / p->set->weights[0]), slope;
    size_t i = 0;

    (void)sorted_prox_gap(p, t, &slope);
    for (size_t b = 0; b < p->used; b++) {
        double size = fmax(p->blocks[b].sum / (double)p->blocks[b].count * p->unit, 0.0);

        for (size_t end = i + p->blocks[b].count; i < end; i++)
            x[p->items[i].index] = size > 0.0 ? copysign(size, x[p->items[i].index]) : 0.0;
    }
}

static pn_status project_once(const pn_set *self, double *x, pn_err *err)
{
    const ordered_l1_ball *set = as_ordered(self);
    pn_ranked *items = ranked(self, x, err);
    double *gap = pn_alloc(self->dim, sizeof *gap), slope;
    pn_block *blocks = pn_alloc(self->dim, sizeof *blocks);
    pn_status status = PN_OK;

    if (items && gap && blocks) {
        sorted_prox p = { set, items, items[0].value, gap, blocks, 0 };

        if (p.unit > 0.0 && sorted_prox_gap(&p, 0.0, &slope) > 0.0)
            project_sorted(&p, x);
    } else {
        status = pn_fail(err, PN_ENOMEM, "set.%s: out of memory in project", self->ops->name);
    }
    pn_free(items);
    pn_free(gap);
    pn_free(blocks);
    return status;
}

static pn_status ordered_project(const pn_set *self, double *x, pn_err *err)
{
    return pn_project_from_far(self, x, project_once, err);
}

static void top_k_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "top_k_ball(dim=%zu, k=%zu, radius=%.10g)", self->dim, as_ordered(self)->k,
                   pn_ball_scale(self));
}

/* clang-format off */
#define SHARED                                                                                                         \
    .destroy = ordered_destroy, .symmetric = true, .support = ordered_support, .radius = ordered_radius,               \
    .diameter = pn_ball_diameter, .contains = ordered_contains, .center = pn_ball_center, .project = ordered_project,  \
    .gauge = ordered_gauge, .scale = pn_ball_scale
/* clang-format on */

const pn_set_ops pn_set_ordered_l1_ball = {
    .name = "ordered_l1_ball",
    .doc = "The ball of the sorted l1 norm {x : sum_i weights_i |x|_(i) <= radius}, |x|_(1) >= |x|_(2) >= ..: OWL, "
           "OSCAR, SLOPE.",
    .source = "Bogdan, van den Berg, Sabatti, Su, Candes (2015), SLOPE; Zeng, Figueiredo (2014), The ordered weighted "
              "l1 norm",
    .params = ordered_params,
    .create = ordered_create,
    .describe = pn_ball_describe,
    SHARED,
};

const pn_set_ops pn_set_top_k_ball = {
    .name = "top_k_ball",
    .doc = "{x in R^dim : the k largest |x_j| have sum <= radius}: the hull of the l1 ball and the linf ball over k.",
    .source = "Wu, Ding, Sun, Toh (2014), On the Moreau-Yosida regularization of the vector k-norm",
    .params = top_k_params,
    .create = top_k_create,
    .describe = top_k_describe,
    SHARED,
};
