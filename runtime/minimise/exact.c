/* exact.c -- the non-private minimum, as the yardstick for excess risk: Newton steps, as long as they stay in the set,
 * for smooth convex losses and regularisers that are smooth or have l1's kinks; else, and after them, accelerated
 * proximal gradients with backtracking and restart.  Three certificates bound value - minimum.  Over a bounded set,
 * without kinks: the Frank-Wolfe duality gap (plain Frank-Wolfe where the set has no projection).  Otherwise f = smooth
 * + h, h the kinked regulariser and the set's indicator together: a step x = prox_h(z) of size 1/M leaves M (z - x) in
 * the subdifferential of h, hence r = gradient(x) + M (z - x) in that of f, and
 *     f(x) - min f <= ||r|| diameter of the set,     f(x) - min f <= ||r||^2/(2 m) for f strongly convex with m,
 * of which the smaller counts.  Both hold up to what the operator is exact to: rounding, or for sums by Dykstra's
 * iteration, which end on the set, twice the l2 Lipschitz constant of the regulariser times 1e-12 (1 + ||z||).
 * Without a set or strong convexity f = L + l1 ||.||_1, L a mean of losses of margins that are at least `low`, has a
 * dual gap.  With g the gradient of L at x and a the slopes of the losses l there, l*(a) = a z - l(z) at the margin z
 * and l*(0) <= -low.  l* is convex, so that l*(s a) <= s (a z - l(z)) - (1 - s) low, and s a, s = min(1, l1/||g||_inf),
 * is feasible for the dual of min f:
 *     f(x) - min f <= (1 - s) (L(x) - low) + s <g, x> + l1 ||x||_1.
 * Where f is not convex but its Hessian's eigenvalues are at least -w, what the search ends at is a stationary point,
 * and the duality gap bounds value - minimum up to w/2 times the squared diameter;
 * so does the distance to what f is at least everywhere.
 * Depends on: descent.h, newton_descent.h, objective, geometry/prox/prox.h.  Used by: bindings, examples. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "minimise/descent.h"
#include "minimise/newton_descent.h"

#define NEWTON_STEPS 100

typedef struct problem {
    pn_objective *objective;
    pn_task *task;
    pn_prox *prox;                     /* of h; NULL: none, or the set's projection alone */
    bool kinked;                       /* the regulariser is in h */
    bool by_residual;                  /* certified by r */
    double diameter, strong_convexity; /* +inf, 0 where there is none */
    bool newton;                       /* Newton steps are worth trying: of l1 ||x||_1 + l2/2 ||x||^2 when kinked */
    double l1, l2;
    double tol, gap; /* wanted, of the last point that Newton steps reached */
} problem;

static pn_status gradient(void *self, const double *x, double *out, pn_err *err)
{
    const problem *at = self;
    size_t p = pn_objective_dim(at->objective);
    pn_status status = at->kinked ? pn_objective_losses(at->objective, NULL, x, NULL, out, at->task, err)
                                  : pn_objective_evaluate(at->objective, x, NULL, out, at->task, err);

    for (size_t j = 0; status == PN_OK && j < p; j++) {
        if (isnan(out[j]))
            status = pn_objective_undefined(at->objective, "solve.exact", err);
    }
    return status;
}

/* ---- what bounds value - minimum ---- */

static double gap_of(const problem *at, double certificate)
{
    double wide = at->diameter * certificate, curved = INFINITY;

    if (!at->by_residual)
        return certificate;
    if (at->strong_convexity > 0.0)
        curved = certificate * (certificate / (2.0 * at->strong_convexity));
    return certificate == 0.0 ? 0.0 : fmin(wide, curved);
}

/* The largest certificate with gap_of <= tol. */
static double tolerance_for(const problem *at, double tol)
{
    if (!at->by_residual)
        return tol;
    return fmax(tol / at->diameter, sqrt(2.0 * at->strong_convexity) * sqrt(tol));
}

/* The dual gap: that of (1 - s) (L(x) - low), which takes a pass, only when the rest is small enough. */
static pn_status dual_gap(const problem *at, const double *x, const double *g, double *gap, pn_err *err)
{
    size_t p = pn_objective_dim(at->objective);
    double low = pn_objective_bounds(at->objective)->loss.value.low, value = NAN;
    double s = fmin(1.0, at->l1 / pn_lp_norm(PN_LINF, p, g));
    pn_status status = PN_OK;

    *gap = fmax(s * pn_dot(p, g, x) + at->l1 * pn_lp_norm(PN_L1, p, x), 0.0);
    if (*gap <= at->tol && s < 1.0) {
        status = pn_objective_losses(at->objective, NULL, x, &value, NULL, at->task, err);
        *gap += (1.0 - s) * (value - low);
    }
    return status;
}

static bool has_dual_gap(const problem *at)
{
    return at->newton && at->l1 > 0.0 && at->l2 == 0.0 && isfinite(pn_objective_bounds(at->objective)->loss.value.low);
}

/* ---- the problem ---- */

static pn_status check_gap(const problem *at, pn_err *err)
{
    const pn_set *set = pn_objective_set(at->objective);
    const char *else_do = "the gap needs a bounded set or strong convexity: give set=, e.g. a large l2_ball around the "
                          "solution, or a regulariser with an l2 part";

    if (isfinite(at->diameter) || at->strong_convexity > 0.0 || (!set && has_dual_gap(at)))
        return PN_OK;
    if (!set)
        return pn_fail(err, PN_EUNSUPPORTED, "solve.exact: there is no constraint set; %s", else_do);
    return pn_fail(err, PN_EUNSUPPORTED, "solve.exact: the set %s is unbounded; %s", set->ops->name, else_do);
}

/* A projection that is computed from support points is not near enough to its exact value to certify by. */
static pn_status check_projection(const problem *at, pn_err *err)
{
    const pn_set *set = pn_objective_set(at->objective);

    if (!at->by_residual || !set || set->ops->project)
        return PN_OK;
    return pn_fail(
        err, PN_EUNSUPPORTED,
        "solve.exact: the regulariser %s needs a set with a projection, and %s has none; use an l2_ball or a box "
        "around it",
        pn_objective_regulariser(at->objective)->row->name, set->ops->name);
}

/* at->prox = that of the kinked regulariser and the set together, or NULL when there are no kinks. */
static pn_status find_prox(problem *at, pn_err *err)
{
    pn_set *set = pn_objective_set(at->objective);
    pn_prox *kinks = NULL, *inside = NULL;
    pn_status status = PN_OK;

    if (!at->kinked)
        return PN_OK;
    status = pn_regulariser_prox(pn_objective_regulariser(at->objective), &kinks, err);
    if (status != PN_OK)
        return pn_fail_in(err, status, "solve.exact: a regulariser with kinks needs its proximal map");
    if (!set) {
        at->prox = kinks;
        return PN_OK;
    }
    status = pn_prox_of_set(&inside, set, err);
    if (status == PN_OK)
        status = pn_prox_sum(&at->prox, kinks, inside, err);
    pn_prox_free(kinks);
    pn_prox_free(inside);
    return status;
}

static pn_status open_problem(problem *at, pn_err *err)
{
    const pn_set *set = pn_objective_set(at->objective);
    const pn_bounds *bounds = pn_objective_bounds(at->objective);
    pn_status status;

    at->diameter = set ? set->ops->diameter(set, PN_L2) : INFINITY;
    at->strong_convexity = fmax(bounds->strong_convexity, 0.0);
    at->kinked = pn_objective_regulariser(at->objective) && !isfinite(bounds->reg.largest_curvature);
    at->by_residual = at->kinked || !set || !pn_set_is_bounded(set);
    status = pn_newton_suits(at->objective, &at->newton, &at->l1, &at->l2, err);
    at->newton = at->newton && (!set || set->ops->project);
    if (status == PN_OK)
        status = check_gap(at, err);
    if (status == PN_OK)
        status = check_projection(at, err);
    if (status == PN_OK && at->by_residual && !bounds->convex && !(at->strong_convexity > 0.0))
        status = pn_fail(err, PN_EUNSUPPORTED,
                         "solve.exact: the regulariser %s needs a convex objective; this one is not known to be convex",
                         pn_objective_regulariser(at->objective)->row->name);
    return status == PN_OK ? find_prox(at, err) : status;
}

/* ---- Newton steps ---- */

static pn_status smooth_gradient(void *self, const double *x, double *out, pn_err *err)
{
    const problem *at = self;
    pn_status status;

    if (!at->kinked)
        return pn_objective_evaluate(at->objective, x, NULL, out, at->task, err);
    status = pn_objective_losses(at->objective, NULL, x, NULL, out, at->task, err);
    if (status == PN_OK)
        pn_axpy(pn_objective_dim(at->objective), at->l2, x, out);
    return status;
}

/* The Frank-Wolfe duality gap at x, with gradient g. */
static pn_status vertex_gap(const problem *at, const double *x, const double *g, double *gap, pn_err *err)
{
    const pn_set *set = pn_objective_set(at->objective);
    size_t p = set->dim;
    double *away = pn_alloc(2 * p, sizeof(double)), across = NAN;
    pn_status status;

    PN_TRY(pn_made(away, err, "solve.exact: out of memory for %zu coordinates", p));
    for (size_t j = 0; j < p; j++)
        away[j] = -g[j];
    status = set->ops->support(set, away, away + p, &across, err);
    *gap = pn_dot(p, g, x) + across;
    pn_free(away);
    return status;
}

/* Inside the set what holds of a minimum over R^p holds of it all the more. */
static pn_status judge(void *self, const double *x, const double *g, double subgradient, pn_verdict *verdict,
                       double *certificate, pn_err *err)
{
    problem *at = self;
    const pn_set *set = pn_objective_set(at->objective);
    bool inside = true;
    double other = INFINITY;
    pn_status status = set ? set->ops->contains(set, x, 0.0, &inside, err) : PN_OK;

    *verdict = PN_LEAVE;
    if (status != PN_OK || !inside)
        return status;
    at->gap = INFINITY;
    if (at->by_residual)
        at->gap = gap_of(at, subgradient);
    else
        status = vertex_gap(at, x, g, &at->gap, err);
    if (status == PN_OK && at->gap > at->tol && !at->by_residual && at->strong_convexity > 0.0)
        other = subgradient * (subgradient / (2.0 * at->strong_convexity));
    else if (status == PN_OK && at->gap > at->tol && has_dual_gap(at))
        status = dual_gap(at, x, g, &other, err);
    *certificate = at->gap = fmin(at->gap, other);
    *verdict = at->gap <= at->tol ? PN_REACHED : PN_GO_ON;
    return status;
}

/* From x as long as the set has the points that are reached; back to its center from one outside of it. */
static pn_status newton_steps(problem *at, size_t *most, double *x, bool *reached, pn_err *err)
{
    pn_newton_descent how = { .owner = "solve.exact",
                              .label = "exact minimum",
                              .gradient = smooth_gradient,
                              .judge = judge,
                              .self = at,
                              .objective = at->objective,
                              .l1 = at->l1,
                              .l2 = at->l2,
                              .most_steps = *most < NEWTON_STEPS ? *most : NEWTON_STEPS,
                              .task = at->task };
    pn_verdict verdict;
    size_t steps;
    pn_status status = pn_newton_descend(&how, x, &verdict, &steps, err);

    *reached = status == PN_OK && verdict == PN_REACHED;
    *most -= steps;
    if (verdict == PN_LEAVE)
        pn_objective_set(at->objective)->ops->center(pn_objective_set(at->objective), x);
    return status;
}

/* ---- the search ---- */

static pn_status descend(problem *at, size_t most, double *x, bool *reached, pn_err *err)
{
    pn_descent how = { .owner = "solve.exact",
                       .label = "exact minimum",
                       .gradient = gradient,
                       .self = at,
                       .set = pn_objective_set(at->objective),
                       .prox = at->prox,
                       .p = pn_objective_dim(at->objective),
                       .tolerance = tolerance_for(at, at->tol),
                       .residual = at->by_residual,
                       .most_steps = most,
                       .smooth = pn_objective_bounds(at->objective)->loss.smooth,
                       .task = at->task };
    double certificate = NAN;
    pn_status status = PN_OK;

    if (how.tolerance > 0.0)
        status = pn_descend(&how, x, &certificate, reached, err);
    at->gap = gap_of(at, certificate);
    return status;
}

static pn_status search(problem *at, size_t max_iterations, double *x, pn_err *err)
{
    const pn_set *set = pn_objective_set(at->objective);
    size_t most = max_iterations;
    bool reached = false;
    pn_status status = pn_objective_prepare(at->objective, 500, at->task, err);

    if (set)
        set->ops->center(set, x);
    if (status == PN_OK && at->newton)
        status = newton_steps(at, &most, x, &reached, err);
    if (status == PN_OK && !reached)
        status = descend(at, most, x, &reached, err);
    if (status == PN_OK && !reached)
        status = pn_fail(err, PN_ENUMERIC,
                         "solve.exact: the %s is still above tol = %g after %zu iterations; give a larger tol or "
                         "max_iterations",
                         at->by_residual ? "gap" : "duality gap", at->tol, max_iterations);
    return status;
}

static pn_status check_options(const pn_objective *objective, double tol, pn_err *err)
{
    if (!(tol > 0.0))
        return pn_fail(err, PN_EINVAL, "solve.exact: tol must be a positive number, got %g", tol);
    if (pn_objective_clip(objective) > 0.0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "solve.exact: clipped gradients are not gradients of f; leave clip= "
                       "out of the objective");
    return PN_OK;
}

/* At least value - minimum, given the certificate's bound for convex f. */
static double gap_beyond_convexity(const problem *at, double value, double gap)
{
    const pn_bounds *bounds = pn_objective_bounds(at->objective);
    const pn_regulariser *reg = pn_objective_regulariser(at->objective);
    bool at_least_zero = !reg || pn_regulariser_in_table(reg);
    double floor = at_least_zero ? bounds->loss.value.low : -INFINITY, bent = fmax(-bounds->strong_convexity, 0.0);

    if (bounds->convex || at->strong_convexity > 0.0)
        return gap;
    gap += isnan(bounds->strong_convexity) ? INFINITY : bent / 2.0 * at->diameter * at->diameter;
    return isfinite(floor) ? fmin(gap, fmax(value - floor, 0.0)) : gap;
}

pn_status pn_objective_minimise(pn_objective *objective, double tol, size_t max_iterations, double *theta,
                                double *value, double *gap, pn_task *task, pn_err *err)
{
    problem at = { .objective = objective, .task = task, .tol = tol };
    size_t p = pn_objective_dim(objective);
    double *x;
    pn_status status = check_options(objective, tol, err);

    if (status == PN_OK)
        status = open_problem(&at, err);
    if (status != PN_OK)
        return status;
    x = pn_calloc(p, sizeof(double));
    if (!x)
        status = pn_fail(err, PN_ENOMEM, "solve.exact: out of memory for %zu coordinates", p);
    if (status == PN_OK)
        status = search(&at, max_iterations, x, err);
    if (status == PN_OK)
        status = pn_objective_evaluate(objective, x, value, NULL, task, err);
    if (status == PN_OK) {
        memcpy(theta, x, p * sizeof(double));
        *gap = gap_beyond_convexity(&at, *value, at.gap);
    }
    pn_free(x);
    pn_prox_free(at.prox);
    return status;
}
