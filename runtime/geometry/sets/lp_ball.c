/* lp_ball.c -- {x in R^dim : ||x - center||_q <= radius}, 1 <= q <= inf; q = 1, 2 and inf make the l1,
 * l2 and linf balls.
 * Depends on: ball.h, draw.h, upper.h, numeric/root.h, numeric/simd/simd.h, numeric/blas.h.
 * Used by: sets.c's table. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/convex/ball.h"
#include "geometry/kernels/draw.h"
#include "geometry/kernels/upper.h"
#include "numeric/blas.h"
#include "numeric/root.h"
#include "numeric/simd/simd.h"

typedef struct lp_ball {
    pn_ball ball;
    double q; /* in (1, inf), not 2 */
} lp_ball;

extern const pn_set_ops pn_set_lp_ball, pn_set_l1_ball, pn_set_l2_ball, pn_set_linf_ball;

enum { DIM, Q, RADIUS, CENTER };

static const pn_param lp_ball_params[] = {
    PN_BALL_DIM,
    { "q", PN_REAL, PN_REQUIRED, PN_EXPONENT, 0.0, NULL, "the exponent of the norm" },
    PN_BALL_RADIUS("the largest norm"),
    PN_BALL_CENTER,
    PN_PARAM_END,
};

static double q_of(const pn_set *set)
{
    return ((const lp_ball *)set)->q;
}

static pn_status lp_ball_create(pn_set **out, const pn_arg *args, pn_err *err)
{
    const pn_arg known[] = { args[DIM], args[RADIUS], args[CENTER] };
    double q = args[Q].real;
    lp_ball *self;

    if (q == 1.0 || q == 2.0 || isinf(q))
        return (q == 1.0 ? &pn_set_l1_ball : q == 2.0 ? &pn_set_l2_ball : &pn_set_linf_ball)->create(out, known, err);
    self = pn_ball_new(sizeof *self, &pn_set_lp_ball, args[DIM].count, args[RADIUS].real, err);
    if (!self)
        return PN_ENOMEM;
    self->q = q;
    return pn_set_center_at(out, &self->ball.base, "set.lp_ball", &args[CENTER], err);
}

#define BATCH 512

/* sum (|x_j| / unit)^q */
static double sum_of_powers(const double *x, size_t n, double unit, double q)
{
    double batch[BATCH], sum = 0.0;

    for (size_t first = 0; first < n; first += BATCH) {
        size_t count = n - first < BATCH ? n - first : BATCH;

        for (size_t i = 0; i < count; i++)
            batch[i] = fabs(x[first + i]) / unit;
        pn_simd_best()->power(count, batch, 1, &q, 0, batch);
        sum += pn_sum(count, batch);
    }
    return sum;
}

/* In units of the largest entry, so that no power overflows or all vanish. */
static double norm_of(const double *x, size_t n, double q)
{
    double unit = pn_lp_norm(PN_LINF, n, x);

    return unit > 0.0 ? unit * pow(sum_of_powers(x, n, unit, q), 1.0 / q) : 0.0;
}

/* With u = |g| / max|g| and the dual exponent q' = q/(q - 1): x_j = radius sign(g_j) u_j^(q'-1) / (sum u^q')^(1/q). */
static pn_status lp_ball_support(const pn_set *self, const double *g, double *point, double *value, pn_err *err)
{
    double q = q_of(self), power = 1.0 / (q - 1.0), unit = pn_lp_norm(PN_LINF, self->dim, g), sum, factor;
    size_t n = self->dim;

    (void)err;
    *value = 0.0;
    if (unit == 0.0) {
        if (point)
            pn_ball_center(self, point);
        return PN_OK;
    }
    sum = sum_of_powers(g, n, unit, 1.0 + power);
    *value = pn_ball_scale(self) * (unit * pow(sum, 1.0 - 1.0 / q));
    if (!point)
        return PN_OK;
    factor = pn_ball_scale(self) / pow(sum, 1.0 / q);
    for (size_t j = 0; j < n; j++)
        point[j] = fabs(g[j]) / unit;
    pn_simd_best()->power(n, point, 1, &power, 0, point);
    for (size_t j = 0; j < n; j++)
        point[j] = copysign(factor * point[j], g[j]);
    return PN_OK;
}

/* At a unit vector for norms of larger exponents, else at a constant vector: dim^(1/p - 1/q). */
static double lp_ball_radius(const pn_set *self, pn_lp norm)
{
    double excess = (norm == PN_L1 ? 1.0 : norm == PN_L2 ? 0.5 : 0.0) - 1.0 / q_of(self);

    if (excess <= 0.0 || self->dim == 1)
        return pn_ball_scale(self);
    return pn_times_up(pn_ball_scale(self), pow((double)self->dim, excess) * (1.0 + 2e-14));
}

static pn_status lp_ball_contains(const pn_set *self, const double *x, double tolerance, bool *inside, pn_err *err)
{
    (void)err;
    *inside = norm_of(x, self->dim, q_of(self)) <= pn_ball_scale(self) + tolerance;
    return PN_OK;
}

static pn_status lp_ball_gauge(const pn_set *self, const double *x, double *value, pn_err *err)
{
    (void)err;
    *value = norm_of(x, self->dim, q_of(self)) / pn_ball_scale(self);
    return PN_OK;
}

/* ---- projection: |x_j| + lambda |x_j|^(q-1) = |z_j|, for the lambda at which the norm is the radius;
 * in its units ---- */

/* x + lambda x^p = z for each of z[n] >= 0, p > 1, lambda > 0, by Newton's steps from above, which fall to the root of
 * a convex function. */
static void solve_batch(size_t n, const double *z, double lambda, double p, double *x)
{
    const pn_simd *simd = pn_simd_best();
    double power[BATCH], inverse = 1.0 / p, less = p - 1.0, change = 1.0;

    for (size_t i = 0; i < n; i++)
        x[i] = z[i] / lambda;
    simd->power(n, x, 1, &inverse, 0, x);
    for (size_t i = 0; i < n; i++)
        x[i] = z[i] < x[i] ? z[i] : x[i];
    for (int step = 0; step < 100 && change > 4.0 * DBL_EPSILON; step++) {
        simd->power(n, x, 1, &less, 0, power);
        change = 0.0;
        for (size_t i = 0; i < n; i++) {
            double slope = lambda * power[i], next = (z[i] + less * slope * x[i]) / (1.0 + p * slope);
            double moved = x[i] > 0.0 ? fabs(next - x[i]) / x[i] : 0.0;

            x[i] = next;
            change = moved > change ? moved : change;
        }
    }
}

typedef struct problem {
    const double *z; /* sizes, in units of the radius */
    double *x;
    size_t n;
    double q, tiny; /* a lambda below tiny changes nothing */
} problem;

/* For q < 2 in y = x^(q-1), which has the larger power: y + y^(1/(q-1)) / lambda = z / lambda. */
static void solve(problem *p, double lambda)
{
    double scaled[BATCH], power = 1.0 / (p->q - 1.0);

    for (size_t first = 0; first < p->n; first += BATCH) {
        size_t count = p->n - first < BATCH ? p->n - first : BATCH;
        double *x = p->x + first;

        if (p->q > 2.0) {
            solve_batch(count, p->z + first, lambda, p->q - 1.0, x);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            scaled[i] = p->z[first + i] / lambda;
        solve_batch(count, scaled, 1.0 / lambda, power, x);
        pn_simd_best()->power(count, x, 1, &power, 0, x);
    }
}

/* -sum_j x_j^(q-1) dx_j/dlambda, where dx = -m x / (x + (q - 1) lambda m) with m = x^(q-1). */
static double fall_of_powers(const problem *p, double lambda)
{
    double batch[BATCH], less = p->q - 1.0, sum = 0.0;

    for (size_t first = 0; first < p->n; first += BATCH) {
        size_t count = p->n - first < BATCH ? p->n - first : BATCH;
        const double *x = p->x + first;

        pn_simd_best()->power(count, x, 1, &less, 0, batch);
        for (size_t i = 0; i < count; i++)
            batch[i] = x[i] > 0.0 ? batch[i] * batch[i] * (x[i] / (x[i] + less * lambda * batch[i])) : 0.0;
        sum += pn_sum(count, batch);
    }
    return sum;
}

/* ||x||_q - 1 */
static double norm_gap(void *self, double lambda, double *slope)
{
    problem *p = self;
    double norm;

    if (lambda > p->tiny)
        solve(p, lambda);
    else
        memcpy(p->x, p->z, p->n * sizeof *p->x);
    norm = norm_of(p->x, p->n, p->q);
    *slope = -fall_of_powers(p, lambda) / pow(norm, p->q - 1.0); /* where it is not finite, it is not used */
    return norm - 1.0;
}

/* lambda is at most the dual norm of z, where the terms lambda x^(q-1) <= z alone make the norm 1. */
static void project_outside(problem *p)
{
    double high = norm_of(p->z, p->n, p->q / (p->q - 1.0)) * (1.0 + 1e-12), lambda, slope, excess;

    p->tiny = 1e-100 * high;
    lambda = pn_newton(norm_gap, p, 0.0, high);
    excess = norm_gap(p, lambda, &slope);
    for (size_t j = 0; excess > 0.0 && j < p->n; j++)
        p->x[j] /= 1.0 + excess;
}

static pn_status lp_ball_project(const pn_set *self, double *x, pn_err *err)
{
    double radius = pn_ball_scale(self), *z;
    problem p = { NULL, NULL, self->dim, q_of(self), 0.0 };

    if (norm_of(x, self->dim, p.q) <= radius)
        return PN_OK;
    z = pn_alloc(self->dim, 2 * sizeof *z);
    PN_TRY(pn_made(z, err, "set.lp_ball: out of memory in project"));
    for (size_t j = 0; j < self->dim; j++)
        z[j] = fabs(x[j]) / radius;
    p.z = z;
    p.x = z + self->dim;
    project_outside(&p);
    for (size_t j = 0; j < self->dim; j++)
        x[j] = copysign(radius * p.x[j], x[j]);
    pn_free(z);
    return PN_OK;
}

/* Entries with density exp(-|x|^q), and one exponential for what is left of the radius.
 * Source: Barthe, Guedon, Mendelson, Naor (2005). */
static pn_status lp_ball_sample(const pn_set *self, pn_rng *rng, double *x, pn_err *err)
{
    double q = q_of(self), inverse = 1.0 / q, sum;

    (void)err;
    pn_draw_exponentials(rng, 1, &sum);
    for (size_t j = 0; j < self->dim; j++) {
        double size = pn_draw_gamma(rng, inverse);

        sum += size;
        x[j] = size;
    }
    for (size_t j = 0; j < self->dim; j++)
        x[j] /= sum;
    pn_simd_best()->power(self->dim, x, 1, &inverse, 0, x);
    for (size_t j = 0; j < self->dim; j++)
        x[j] *= pn_rng_uniform(rng) < 0.5 ? -pn_ball_scale(self) : pn_ball_scale(self);
    return PN_OK;
}

static void lp_ball_describe(const pn_set *self, char *text, size_t size)
{
    (void)snprintf(text, size, "lp_ball(dim=%zu, q=%.10g, radius=%.10g)", self->dim, q_of(self), pn_ball_scale(self));
}

static bool lp_number(const pn_set *self, const char *name, double *value)
{
    if (strcmp(name, "q") != 0)
        return false;
    *value = q_of(self);
    return true;
}

const pn_set_ops pn_set_lp_ball = {
    .name = "lp_ball",
    .doc = "The ball {x in R^dim : ||x - center||_q <= radius}, 1 <= q <= math.huge; q = 1, 2 and math.huge give the "
           "l1, l2 and linf balls.",
    .source = "Boyd, Vandenberghe (2004), Convex Optimization, section 2.2; Liu, Ye (2010), Efficient l1/lq norm "
              "regularization",
    .params = lp_ball_params,
    .create = lp_ball_create,
    .destroy = pn_ball_destroy,
    .symmetric = true,
    .support = lp_ball_support,
    .radius = lp_ball_radius,
    .diameter = pn_ball_diameter,
    .contains = lp_ball_contains,
    .center = pn_ball_center,
    .project = lp_ball_project,
    .gauge = lp_ball_gauge,
    .sample = lp_ball_sample,
    .describe = lp_ball_describe,
    .scale = pn_ball_scale,
    .number = lp_number,
};
