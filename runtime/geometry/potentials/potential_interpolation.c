/* potential_interpolation.c -- for N(x) = (1 - alpha) ||x||_1 + alpha ||x||_2: with B = 1 /
 * ((1 - alpha) + alpha / sqrt dim), the largest l1 norm in the unit ball,
 * and w the block potential of single coordinates,
 *     Psi(x) = radius^2 ((1 - alpha) B^2 w(y / B) + alpha ||y||_2^2 / 2),   y = x / radius:
 * 1-strongly convex in N where N <= radius, since N^2 <= (1 - alpha) ||.||_1^2 + alpha ||.||_2^2.
 * (The article asserts a range of O(1), which alpha = 0 rules out.)  Depends on: potential.h, mixed_root.h.  Used by:
 * potential.c's table.  See geometry.md section 3.3. */
#include <math.h>
#include <stdio.h>

#include "core/alloc.h"
#include "geometry/potentials/mixed_root.h"
#include "geometry/potentials/potential_group.h"
#include "geometry/potentials/potential_parts.h"
#include "geometry/potentials/power_root.h"
#include "numeric/blas.h"

typedef struct interpolation {
    pn_potential base;
    double alpha, radius, reach; /* reach: B */
    pn_block_power power;
} interpolation;

extern const pn_potential_ops pn_potential_interpolation;

enum { DIM, ALPHA, RADIUS, CENTER };

static const pn_param interpolation_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "alpha", PN_REAL, PN_REQUIRED, PN_UNIT_INTERVAL, 0.0, NULL, "the weight of l2: 0 gives l1, 1 gives l2" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest norm: that of the set" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "where Psi is least, dim entries; the origin when absent" },
    PN_PARAM_END,
};

static const interpolation *as_interpolation(const pn_potential *self)
{
    return (const interpolation *)self;
}

static pn_status interpolation_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    interpolation *self;
    double alpha = args[ALPHA].real;
    pn_norm *norm = NULL;
    pn_status status;

    PN_TRY(pn_new(&self, 1, err, "potential.interpolation: out of memory"));
    status = pn_norm_from_args(&norm, "interpolation", (pn_arg[1]){ { .given = true, .real = alpha } }, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    pn_potential_init(&self->base, &pn_potential_interpolation, args[DIM].count, 1.0, norm);
    self->alpha = alpha;
    self->radius = args[RADIUS].real;
    self->reach = 1.0 / ((1.0 - alpha) + alpha / sqrt((double)args[DIM].count));
    self->power = pn_block_power_of(args[DIM].count);
    return pn_potential_center_at(out, &self->base, "potential.interpolation", &args[CENTER], err);
}

static void interpolation_destroy(pn_potential *self)
{
    pn_free(self);
}

static pn_status interpolation_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    const interpolation *of = as_interpolation(self);
    double l2 = pn_lp_norm(PN_L2, n, x) / of->radius, M = of->power.exponent;
    double w = pn_power_sum(n, x, of->radius * of->reach, M) / (M * of->power.xi);

    (void)err;
    *value = of->radius * of->radius * ((1.0 - of->alpha) * of->reach * of->reach * w + 0.5 * of->alpha * l2 * l2);
    return PN_OK;
}

/* (1 - alpha) B / xi (|y| / B)^{M-1} = power |y|^{M-1} for y = x / radius */
static double power_factor(const interpolation *of)
{
    return (1.0 - of->alpha) / of->power.xi * pow(of->reach, 2.0 - of->power.exponent);
}

static pn_status interpolation_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    const interpolation *of = as_interpolation(self);
    double piece[PN_POTENTIAL_PIECE], factor = of->radius * power_factor(of);

    for (size_t at = 0; at < n; at += PN_POTENTIAL_PIECE) {
        size_t count = n - at < PN_POTENTIAL_PIECE ? n - at : PN_POTENTIAL_PIECE;

        (void)pn_signed_power(count, x + at, of->radius, of->power.exponent - 1.0, factor, piece);
        for (size_t j = 0; j < count; j++)
            out[at + j] = piece[j] + of->alpha * x[at + j];
    }
    return pn_potential_finite("interpolation", out, n, err);
}

/* With s = |x| the power's factor is that of the unit radius times radius^(2 - M), and alpha and nu stay. */
static pn_status solve(const interpolation *of, const double *c, size_t n, double size, double *x, pn_err *err)
{
    pn_mixed_problem problem = { .c = c,
                                 .n = n,
                                 .alpha = of->alpha,
                                 .power = power_factor(of) * pow(of->radius, 2.0 - of->power.exponent),
                                 .exponent = of->power.exponent - 1.0,
                                 .size = size };

    pn_mixed_step(&problem, x);
    return isfinite(size) ? PN_OK : pn_potential_finite("interpolation", x, n, err);
}

static pn_status interpolation_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    return solve(as_interpolation(self), u, n, INFINITY, out, err);
}

static pn_status interpolation_step(const pn_potential *self, const pn_set *set, const double *c, double *x,
                                    pn_err *err)
{
    const interpolation *of = as_interpolation(self);
    double size, alpha;
    pn_status status;

    if (pn_set_is(set, "interpolation_ball", &size) && pn_set_number(set, "alpha", &alpha) && alpha == of->alpha)
        return solve(of, c, set->dim, size, x, err);
    if (!pn_set_is_free(set) && !pn_set_is_a_box(set))
        return PN_EUNSUPPORTED;
    status = solve(of, c, set->dim, INFINITY, x, err); /* a sum over coordinates: the box clips each */
    return status == PN_OK && pn_set_is_a_box(set) ? pn_set_project(set, x, set->dim, err) : status;
}

/* An upper bound of sum |y_i|^M over N(y) <= 1.  With t = ||y||_1 and s = ||y||_2 the sum is at most t^{2-M} s^{2(M-1)}
 * (Hoelder); on (1 - alpha) t + alpha s = 1, s <= t, that is largest at s = min(2(M-1) / (M alpha), 1).  Nor is the sum
 * above that of one coordinate of the largest l1 norm, B^M. */
static double largest_power_sum(const interpolation *of)
{
    double M = of->power.exponent, a = of->alpha, of_l1 = 2.0 - M, of_l2 = 2.0 * (M - 1.0), most = pow(of->reach, M);

    if (of_l2 >= M * a || a == 1.0)
        return fmin(most, 1.0);
    return fmin(most, pow(of_l1 / (M * (1.0 - a)), of_l1) * pow(of_l2 / (M * a), of_l2));
}

static pn_status interpolation_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    const interpolation *of = as_interpolation(self);
    double size, alpha, M = of->power.exponent, share;

    if (!(pn_set_is(set, "interpolation_ball", &size) && pn_set_number(set, "alpha", &alpha) && alpha == of->alpha))
        size = (1.0 - of->alpha) * set->ops->radius(set, PN_L1) + of->alpha * set->ops->radius(set, PN_L2);
    PN_TRY(pn_potential_reach("interpolation", of->radius, size, "mixed", err));
    share = size / of->radius;
    *range = pn_potential_up(
        of->radius * of->radius *
        ((1.0 - of->alpha) * pow(of->reach, 2.0 - M) * pow(share, M) * largest_power_sum(of) / (M * of->power.xi) +
         0.5 * of->alpha * share * share));
    return PN_OK;
}

/* Hess Psi is at least alpha I, and at least (1 - alpha) times that of the powers, whose trace is 1. */
static pn_status interpolation_trace(const pn_potential *self, const pn_set *set, double *trace, pn_err *err)
{
    double a = as_interpolation(self)->alpha;

    (void)err;
    *trace = pn_potential_up(fmin((double)set->dim / a, 1.0 / (1.0 - a)));
    return PN_OK;
}

static void interpolation_describe(const pn_potential *self, char *text, size_t size)
{
    const interpolation *of = as_interpolation(self);

    (void)snprintf(text, size, "interpolation(dim=%zu, alpha=%.10g, radius=%.10g)", self->dim, of->alpha, of->radius);
}

const pn_potential_ops pn_potential_interpolation = {
    .name = "interpolation",
    .doc = "A mixture of the single-coordinate powers and the squared l2 norm: 1-strongly convex in (1 - alpha) "
           "||x||_1 + alpha ||x||_2 where that is at most radius.",
    .source = "Talwar, Thakurta, Zhang (2014), section 3.3, with a potential in place of the one asserted there",
    .params = interpolation_params,
    .create = interpolation_create,
    .destroy = interpolation_destroy,
    .value = interpolation_value,
    .gradient = interpolation_gradient,
    .inverse_gradient = interpolation_inverse,
    .step = interpolation_step,
    .range = interpolation_range,
    .trace = interpolation_trace,
    .describe = interpolation_describe,
};
