/* potential_signed_entropy.c -- the entropy of 2 dim weights on the vertices +-radius e_j of the l1 ball, as a function
 * of the point: with y = x / radius,
 *     Psi(x) = radius^2 min { sum_j a_j ln a_j + b_j ln b_j : a, b >= 0, sum (a + b) = 1, a - b = y }.
 * The map from weights to y has norm 1 from l1 to l1, and minima over fibres keep the modulus: Psi is 1-strongly convex
 * in the l1 norm.  Its conjugate is radius^2 ln(2 sum_j cosh u_j), u = c / radius, so that weights stay implicit:
 *     x_j = radius sinh(u_j) / sum cosh(u_i),   and back   u_j = asinh(y_j / nu),   sum_j sqrt(nu^2 + y_j^2) = 1.
 * Depends on: potential.h, simd.h.  Used by: potential.c's table.
 * Source: Kivinen and Warmuth (1997), EG with positive and negative weights. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/potentials/boxed_entropy.h"
#include "geometry/potentials/potential_parts.h"
#include "numeric/blas.h"
#include "numeric/simd/simd.h"

/* Points stay that far inside the ball, relatively: at its border the gradient is infinite. */
#define INSIDE 0x1p-48
#define ROUNDS 200
#define FAR    300.0 /* where e^(-2 u) is in range, to all digits */

typedef struct signed_entropy {
    pn_potential base;
    double radius;
} signed_entropy;

extern const pn_potential_ops pn_potential_signed_entropy;

enum { DIM, RADIUS, CENTER };

static const pn_param signed_entropy_params[] = {
    { "dim", PN_COUNT, PN_REQUIRED, PN_ANY, 0.0, NULL, "number of coordinates" },
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the largest l1 norm: that of the ball" },
    { "center", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "where Psi is least, dim entries; the origin when absent" },
    PN_PARAM_END,
};

static double radius_of(const pn_potential *self)
{
    return ((const signed_entropy *)self)->radius;
}

static pn_status signed_entropy_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    signed_entropy *self;
    pn_norm *norm = NULL;
    pn_status status;

    PN_TRY(pn_new(&self, 1, err, "potential.signed_entropy: out of memory"));
    status = pn_norm_from_args(&norm, "l1", (pn_arg[1]){ { .given = false } }, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    pn_potential_init(&self->base, &pn_potential_signed_entropy, args[DIM].count, 1.0, norm);
    self->base.keeps_sums = true;
    self->radius = args[RADIUS].real;
    return pn_potential_center_at(out, &self->base, "potential.signed_entropy", &args[CENTER], err);
}

static void signed_entropy_destroy(pn_potential *self)
{
    pn_free(self);
}

/* nu with sum sqrt(nu^2 + y_j^2) = 1 for y = x / radius; 0 where ||y||_1 >= 1.  The sum is convex and rises, and is at
 * least hypot(n nu, ||y||_1): Newton's steps from where that is 1 fall to the root. */
static double share_at(double radius, const double *x, size_t n)
{
    double size = pn_lp_norm(PN_L1, n, x) / radius, nu;

    if (!(size < 1.0))
        return 0.0;
    nu = sqrt((1.0 - size) * (1.0 + size)) / (double)n;
    for (int round = 0; round < ROUNDS; round++) {
        double above = 0.0, slope = 0.0, next; /* above: sum less ||y||_1, without cancellation */

        for (size_t j = 0; j < n; j++) {
            double y = fabs(x[j]) / radius, root = sqrt(nu * nu + y * y);

            above += nu * (nu / (root + y));
            slope += nu / root;
        }
        next = nu - (above - (1.0 - size)) / slope;
        if (!(next < nu) || !(next > 0.0))
            break;
        nu = next;
    }
    return nu;
}

static pn_status signed_entropy_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    double radius = radius_of(self), size = pn_lp_norm(PN_L1, n, x) / radius, nu = share_at(radius, x, n), sum = 0.0;

    (void)err;
    *value = INFINITY;
    if (size > 1.0 + 1e-12)
        return PN_OK;
    for (size_t j = 0; j < n; j++) {
        double y = fabs(x[j]) / radius;

        if (nu > 0.0)
            sum += y * asinh(y / nu);
        else if (y > 0.0) /* the limit: every weight has one sign */
            sum += y * log(y);
    }
    *value = radius * radius * (nu > 0.0 ? sum + log(0.5 * nu) : sum);
    return PN_OK;
}

static pn_status signed_entropy_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    double radius = radius_of(self), nu = share_at(radius, x, n);

    if (!(nu > 0.0))
        return pn_fail(err, PN_EDOMAIN,
                       "potential.signed_entropy: there is no gradient where the l1 norm is radius = %.10g or more",
                       radius);
    for (size_t j = 0; j < n; j++)
        out[j] = radius * asinh(x[j] / radius / nu);
    return PN_OK;
}

/* x_j = radius sinh(u_j) / sum cosh(u_i), all divided by e^top so that nothing overflows. */
static void from_sums(double radius, const double *c, size_t n, double *x)
{
    const pn_simd *simd = pn_simd_best();
    double top = simd->largest(n, c, 1) / radius, sums[2] = { 0.0 }, whole, factor;

    simd->sines(n, c, radius, top, top < FAR ? exp(-2.0 * top) : 0.0, x, sums);
    whole = sums[0] + sums[1];
    factor = radius * (2.0 * sums[1] < INSIDE * whole ? 1.0 - INSIDE : 1.0) / whole;
    for (size_t j = 0; j < n; j++)
        x[j] *= factor;
}

/* Its domain is the ball: all of space, and larger balls, are no other constraint. */
static pn_status signed_entropy_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    (void)err;
    from_sums(radius_of(self), u, n, out);
    return PN_OK;
}

/* The domain is the ball of the potential's radius. */
static bool is_no_constraint(const pn_potential *self, const pn_set *set)
{
    double size;

    return pn_set_is_free(set) || (pn_set_is(set, "l1_ball", &size) && size >= radius_of(self));
}

static pn_status signed_entropy_step(const pn_potential *self, const pn_set *set, const double *c, double *x,
                                     pn_err *err)
{
    const pn_set *other, *box;

    if (is_no_constraint(self, set))
        return signed_entropy_inverse(self, c, set->dim, x, err);
    if (pn_set_is_a_box(set))
        return pn_signed_entropy_boxed_step(radius_of(self), set, c, x, err);
    if (pn_set_boxed_parts(set, &other, &box) && is_no_constraint(self, other))
        return pn_signed_entropy_boxed_step(radius_of(self), box, c, x, err);
    return PN_EUNSUPPORTED;
}

/* Largest at the vertices of the ball, 0, least with all weights equal; of a set inside it, at most that. */
static pn_status signed_entropy_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    double radius = radius_of(self);

    PN_TRY(pn_potential_reach("signed_entropy", radius, set->ops->radius(set, PN_L1), "l1", err));
    *range = pn_potential_up(radius * radius * log(2.0 * (double)set->dim));
    return PN_OK;
}

/* Hess phi = diag(a + b) - y y', so that tr A (Hess phi) A' is at most the largest ||A e_j||^2. */
static pn_status signed_entropy_trace(const pn_potential *self, const pn_set *set, pn_mat A, double *trace, pn_err *err)
{
    (void)self;
    (void)set;
    *trace = 1.0;
    if (A.data)
        PN_TRY(pn_potential_largest_column(A, false, trace, err));
    *trace = A.data ? pn_potential_up(*trace) : 1.0;
    return PN_OK;
}

static void signed_entropy_describe(const pn_potential *self, char *text, size_t size)
{
    (void)snprintf(text, size, "signed_entropy(dim=%zu, radius=%.10g)", self->dim, radius_of(self));
}

const pn_potential_ops pn_potential_signed_entropy = {
    .name = "signed_entropy",
    .doc = "radius^2 times the entropy of 2 dim weights on the vertices of the l1 ball whose mean is x, at its least: "
           "1-strongly convex in the l1 norm where that is at most radius; x_j = radius sinh(u_j) / sum cosh(u_i).",
    .source = "Kivinen and Warmuth (1997), Exponentiated gradient versus gradient descent",
    .params = signed_entropy_params,
    .create = signed_entropy_create,
    .destroy = signed_entropy_destroy,
    .value = signed_entropy_value,
    .gradient = signed_entropy_gradient,
    .inverse_gradient = signed_entropy_inverse,
    .step = signed_entropy_step,
    .range = signed_entropy_range,
    .trace_through = signed_entropy_trace,
    .describe = signed_entropy_describe,
};
