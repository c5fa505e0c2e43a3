/* potential_lp.c -- Psi(x) = ||x||_q^2 / (2 (q - 1)), 1 < q <= 2: exactly 1-strongly convex in the lq norm.
 * With `dim` it is multiplied by dim^(2 - 2/q) and measured in the l1 norm, which is at most dim^(1 - 1/q) times the lq
 * norm: that is e^2 at q = ln dim / (ln dim - 1), and dim at q = 2.  (The article has 1/(4 (q - 1)), which is
 * 1/2-strongly convex only.)
 * Depends on: potential.h, power_root.h.  Used by: potential.c's table.  See geometry.md section 3.1. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "geometry/potentials/potential_parts.h"
#include "geometry/potentials/power_root.h"

typedef struct lp {
    pn_potential base;
    double q, scale;
} lp;

extern const pn_potential_ops pn_potential_lp;

enum { Q, DIM };

static const pn_param lp_params[] = {
    { "q", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "the exponent, above 1 and at most 2; ln dim / (ln dim - 1) when absent (2 for dim < 8)" },
    { "dim", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "number of entries: then Psi is scaled by dim^(2 - 2/q) to be 1-strongly convex in the l1 norm" },
    PN_PARAM_END,
};

static const lp *as_lp(const pn_potential *self)
{
    return (const lp *)self;
}

/* The smallest range over the l1 ball among 1 < q <= 2, and q = 2 where that formula leaves the interval. */
static double best_exponent(size_t dim)
{
    return dim >= 8 ? log((double)dim) / (log((double)dim) - 1.0) : 2.0;
}

static pn_status lp_create(pn_potential **out, const pn_arg *args, pn_err *err)
{
    bool in_l1 = args[DIM].given;
    double q = args[Q].real;
    lp *self;
    pn_norm *norm = NULL;
    pn_status status;

    if (!args[Q].given && !in_l1)
        return pn_fail(err, PN_EINVAL,
                       "potential.lp: give q, from above 1 to 2, or dim, which chooses it for the l1 norm");
    if (!args[Q].given)
        q = best_exponent(args[DIM].count);
    if (!(q > 1.0 && q <= 2.0))
        return pn_fail(err, PN_EINVAL, "potential.lp: q must be above 1 and at most 2, got %g", q);
    PN_TRY(pn_new(&self, 1, err, "potential.lp: out of memory"));
    status = pn_norm_from_args(&norm, in_l1 ? "l1" : "lp", (pn_arg[1]){ { .given = true, .real = q } }, err);
    if (status != PN_OK) {
        pn_free(self);
        return status;
    }
    pn_potential_init(&self->base, &pn_potential_lp, in_l1 ? args[DIM].count : 0, 1.0, norm);
    self->q = q;
    self->scale = in_l1 ? pow((double)args[DIM].count, 2.0 - 2.0 / q) : 1.0;
    *out = &self->base;
    return PN_OK;
}

static void lp_destroy(pn_potential *self)
{
    pn_free(self);
}

/* ||x||_q, 0 for the zero vector */
static double q_norm(double q, const double *x, size_t n)
{
    double size = pn_potential_magnitude(x, n);

    return size > 0.0 ? size * pow(pn_power_sum(n, x, size, q), 1.0 / q) : 0.0;
}

static pn_status lp_value(const pn_potential *self, const double *x, size_t n, double *value, pn_err *err)
{
    double norm = q_norm(as_lp(self)->q, x, n);

    (void)err;
    *value = as_lp(self)->scale * norm * norm / (2.0 * (as_lp(self)->q - 1.0));
    return PN_OK;
}

/* x <- factor x; the first entry that is not finite, or n. */
static size_t times(size_t n, double factor, double *x)
{
    for (size_t at = 0; at < n; at += PN_POTENTIAL_PIECE) {
        size_t count = n - at < PN_POTENTIAL_PIECE ? n - at : PN_POTENTIAL_PIECE, bad;

        for (size_t j = at; j < at + count; j++)
            x[j] = factor * x[j] + 0.0; /* no -0 */
        bad = pn_first_nonfinite(x + at, count);
        if (bad < count)
            return at + bad;
    }
    return n;
}

/* sign(x) |x|^{q-1} ||x||_q^{2-q} / (q-1) = sign(x) (|x| / ||x||_q)^{q-1} ||x||_q / (q-1) */
static pn_status lp_gradient(const pn_potential *self, const double *x, size_t n, double *out, pn_err *err)
{
    double q = as_lp(self)->q, size = pn_potential_magnitude(x, n), share, factor;

    if (!(size > 0.0)) {
        memset(out, 0, n * sizeof *out);
        return PN_OK;
    }
    share = pow(pn_signed_power_sum(n, x, size, q - 1.0, out), 1.0 / q); /* ||x||_q / size */
    factor = as_lp(self)->scale * size / (q - 1.0) * pow(share, 2.0 - q);
    return pn_potential_finite_to("lp", times(n, factor, out), n, err);
}

/* The inverse gradient of c after the threshold nu: that of psi_q at c / scale. */
static pn_power_problem problem_of(const pn_potential *self, const double *c, size_t n, bool magnitude)
{
    double q = as_lp(self)->q;
    pn_power_problem problem = { .c = c,
                                 .n = n,
                                 .magnitude = magnitude,
                                 .dual = true,
                                 .t = 1.0 / (q - 1.0),
                                 .gain = (q - 1.0) / as_lp(self)->scale };

    pn_power_open(&problem);
    return problem;
}

static double factor_at(const pn_power_problem *problem, pn_power_root at)
{
    return at.mu > 0.0 ? pn_power_size(problem, &at) / at.sum : 0.0;
}

static pn_status lp_inverse(const pn_potential *self, const double *u, size_t n, double *out, pn_err *err)
{
    pn_power_problem problem = problem_of(self, u, n, true);
    pn_power_root at = pn_power_write(&problem, problem.top, 1.0, out);

    return pn_potential_finite_to("lp", times(n, factor_at(&problem, at), out), n, err);
}

/* Over the l1 ball nu >= 0, over the simplex nu is free; then the entries add up to `size`. */
static void threshold_step(pn_power_problem *problem, double size, double most, double *x)
{
    bool met = false;
    double mu = 0.0;

    if (most > 0.0)
        mu = pn_power_solve(problem, size, most, &met);
    if (met)
        pn_power_write_total(problem, mu, size, x);
    else
        (void)times(problem->n, factor_at(problem, pn_power_write(problem, mu, 1.0, x)), x);
}

static pn_status ball_step(const pn_potential *self, double radius, const double *c, size_t n, double *x, pn_err *err)
{
    pn_status status = lp_inverse(self, c, n, x, err);
    double norm = status == PN_OK ? q_norm(as_lp(self)->q, x, n) : 0.0;

    for (size_t j = 0; norm > radius && j < n; j++)
        x[j] *= radius / norm;
    return status;
}

static bool is_own_ball(const pn_potential *self, const pn_set *set, double *radius)
{
    double q;

    if (as_lp(self)->q == 2.0)
        return pn_set_is(set, "l2_ball", radius);
    return pn_set_is(set, "lp_ball", radius) && pn_set_number(set, "q", &q) && q == as_lp(self)->q;
}

static pn_status lp_step(const pn_potential *self, const pn_set *set, const double *c, double *x, pn_err *err)
{
    size_t n = set->dim;
    double size;

    if (pn_set_is(set, "l1_ball", &size)) {
        pn_power_problem problem = problem_of(self, c, n, true);

        threshold_step(&problem, size, problem.top, x);
    } else if (pn_set_is(set, "simplex", &size)) {
        pn_power_problem problem = problem_of(self, c, n, false);

        threshold_step(&problem, size, INFINITY, x);
    } else if (pn_set_is(set, "unit_simplex", &size)) {
        pn_power_problem problem = problem_of(self, c, n, false);

        threshold_step(&problem, size, problem.top, x);
    } else if (is_own_ball(self, set, &size)) {
        return ball_step(self, size, c, n, x, err);
    } else if (pn_set_is_free(set)) {
        return lp_inverse(self, c, n, x, err);
    } else {
        return PN_EUNSUPPORTED;
    }
    return PN_OK;
}

/* ||x||_q is largest at a vertex of the l1 ball and the simplex, and least at the middle of the simplex.  Other sets:
 * the lq norm is at most the l1 norm, and at most dim^{1/q - 1/2} times the l2 norm. */
static pn_status lp_range(const pn_potential *self, const pn_set *set, double *range, pn_err *err)
{
    double q = as_lp(self)->q, p = (double)set->dim, most, least = 0.0;

    (void)err;
    if (pn_set_is(set, "simplex", &most))
        least = most * pow(p, 1.0 / q - 1.0) * (1.0 - 1e-14);
    else if (!pn_set_is(set, "l1_ball", &most) && !is_own_ball(self, set, &most)) {
        if (pn_set_is_polytope(set))
            return PN_EUNSUPPORTED;
        most = fmin(set->ops->radius(set, PN_L1), set->ops->radius(set, PN_L2) * pow(p, 1.0 / q - 0.5));
    }
    *range = pn_potential_up(as_lp(self)->scale * (most * most - least * least) / (2.0 * (q - 1.0)));
    return PN_OK;
}

static void lp_describe(const pn_potential *self, char *text, size_t size)
{
    if (self->dim)
        (void)snprintf(text, size, "lp(q=%.10g, dim=%zu)", as_lp(self)->q, self->dim);
    else
        (void)snprintf(text, size, "lp(q=%.10g)", as_lp(self)->q);
}

const pn_potential_ops pn_potential_lp = {
    .name = "lp",
    .doc = "||x||_q^2 / (2 (q - 1)), 1-strongly convex in the lq norm; with `dim` scaled by dim^(2 - 2/q) (e^2 at the "
           "default q), so that it is 1-strongly convex in the l1 norm.",
    .source = "Ball, Carlen, Lieb (1994); Talwar, Thakurta, Zhang (2014), section 3, with the constant corrected",
    .params = lp_params,
    .create = lp_create,
    .destroy = lp_destroy,
    .value = lp_value,
    .gradient = lp_gradient,
    .inverse_gradient = lp_inverse,
    .step = lp_step,
    .range = lp_range,
    .describe = lp_describe,
};
