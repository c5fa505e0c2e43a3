/* svrg_shape.c -- how many epochs, steps and records SVRG takes when nobody says, and what its theorem gives for that.
 * Depends on: svrg.h.  Used by: svrg.c, svrg_plan.c, svrg_noise.c.  Spec: variance-reduced.md sections 3 and 4. */
#include <math.h>

#include "solvers/svrg.h"

size_t svrg_epoch_steps(const svrg_shape *shape, size_t epoch)
{
    return shape->doubling ? shape->inner << epoch : shape->inner;
}

double svrg_all_steps(const svrg_shape *shape)
{
    double m = (double)shape->inner;

    return shape->doubling ? m * (ldexp(1.0, (int)shape->epochs + 1) - 2.0) : m * (double)shape->epochs;
}

double svrg_gradients(const svrg_shape *shape, double n)
{
    return n * (double)shape->epochs + 2.0 * (double)shape->batch * svrg_all_steps(shape);
}

double svrg_sigma(const svrg_plan *plan, const svrg_shape *shape, double inner)
{
    double most = plan->printed ? 1.0 : 2.0 * plan->problem.lipschitz;

    return inner * most / (double)shape->batch;
}

/* ---- the theorem ---- */

double svrg_theory_inner(double condition)
{
    return floor(192.0 * condition + 2.0 / 3.0) + 1.0;
}

/* Xiao and Zhang (2014), Theorem 3.1, with batches of b without replacement and noise: if the direction errs from the gradient by
 * mean squares of at most A (gap(x) + gap(y)) + V, an epoch takes the gap to at most
 *     rate gap(y) + eta V / (1 - eta A),   rate = (1/(mu eta m) + eta A (m + 1)/m) / (1 - eta A).
 * Noise of 2 z tau/b on each coordinate with tau <= L ||x - y|| adds 16 p (z L/b)^2 / mu to A, since ||x - y||^2 <= (4/mu)(gap(x) +
 * gap(y)). */
typedef struct contraction {
    double rate, noise; /* noise: of V */
} contraction;

static contraction epoch_contraction(const svrg_plan *plan, double z)
{
    const svrg_shape *shape = &plan->shape;
    double L = plan->problem.smoothness, mu = plan->problem.strong_convexity, eta = shape->step;
    double b = (double)shape->batch, m = (double)shape->inner, n = plan->problem.n, p = (double)plan->problem.p;
    double A = 4.0 * L * (n - b) / (b * (n - 1.0)) + 16.0 * p * (z * L / b) * (z * L / b) / mu, left = 1.0 - eta * A;

    if (!(left > 0.0))
        return (contraction){ INFINITY, INFINITY };
    return (contraction){ (1.0 / (mu * eta * m) + eta * A * (m + 1.0) / m) / left, eta / left };
}

/* With the noise a on the snapshot's gradient an epoch contracts F_r + <a, x>, whose gap is within ||a||^2 terms of that of F_r: for any
 * beta in (0, 1)
 *     (1 - beta) gap' <= rate ((1 + beta) gap + (1 + 1/beta) ||a||^2/(2 mu)) + ||a||^2/(2 beta mu). */
static double anchored_gap(const svrg_plan *plan, contraction by, double gap)
{
    double a2 = (double)plan->problem.p * plan->anchor.sigma * plan->anchor.sigma;
    double mu = plan->problem.strong_convexity, best = INFINITY;

    for (double beta = 0.02; beta < 0.9; beta *= 1.2) {
        double next = (by.rate * ((1.0 + beta) * gap + (1.0 + 1.0 / beta) * a2 / (2.0 * mu)) + a2 / (2.0 * beta * mu)) /
                      (1.0 - beta);

        best = fmin(best, next);
    }
    return best;
}

double svrg_first_gap(const svrg_plan *plan)
{
    const pn_first_order *of = &plan->problem;
    double along = of->lipschitz * of->diameter, across = INFINITY;

    if (!plan->start_given && of->strong_convexity > 0.0)
        across = of->lipschitz * of->lipschitz / (2.0 * of->strong_convexity);
    return fmin(along, across);
}

double svrg_bound(const svrg_plan *plan)
{
    bool noisy = plan->release.sigma > 0.0, printed = plan->printed;
    double gap = svrg_first_gap(plan), V = 0.0;
    contraction by;

    if (plan->shape.doubling || !(plan->problem.strong_convexity > 0.0) || !isfinite(gap))
        return NAN;
    by = epoch_contraction(plan, noisy && !printed ? plan->release.sigma / 2.0 : 0.0);
    if (!(by.rate < 1.0))
        return NAN;
    if (noisy && printed)
        V = (double)plan->problem.p * plan->base.sigma * plan->base.sigma;
    for (size_t s = 0; s < plan->shape.epochs; s++) {
        double next = noisy && !printed ? anchored_gap(plan, by, gap) : by.rate * gap + by.noise * V;

        if (!(fabs(next - gap) > 1e-12 * gap))
            break;
        gap = next;
    }
    return gap;
}

/* ---- defaults ---- */

static size_t whole(double x, double low, double high)
{
    return (size_t)fmin(fmax(ceil(x), low), high);
}

static void theory_shape(svrg_plan *plan, svrg_shape *shape)
{
    double L = plan->problem.smoothness, mu = plan->problem.strong_convexity;

    if (shape->step == 0.0)
        shape->step = shape->doubling ? 1.0 / (13.0 * L) : 1.0 / (48.0 * L);
    if (shape->inner == 0)
        shape->inner = shape->doubling ? 4 : whole(svrg_theory_inner(L / mu), 1.0, 1e12);
    plan->why_step = shape->doubling ? "1/(13 L)" : "1/(48 L)";
    plan->why_inner = shape->doubling ? "the default" : "the least above 192 kappa + 2/3";
}

/* Four epochs of about four times the condition number, found in simulations of well and badly conditioned regressions; without strong
 * convexity the curvature that the noise hides, L s/G, takes its place. */
static void practical_shape(svrg_plan *plan, svrg_shape *shape)
{
    double L = plan->problem.smoothness, mu = plan->problem.strong_convexity, condition = mu > 0.0 ? L / mu : 100.0;

    if (shape->step == 0.0)
        shape->step = 1.0 / (4.0 * L);
    if (shape->inner == 0)
        shape->inner = whole(fmax(2.0 * condition, fmin(4.0 * condition, 600.0)), 16.0, 1e6);
    plan->why_step = "1/(4 L)";
    plan->why_inner = "4 kappa up to 600, then 2 kappa";
}

double svrg_batch_rule(const svrg_plan *plan, const svrg_shape *shape)
{
    const pn_request *request = &plan->base.request;

    return plan->problem.n * request->epsilon / sqrt(svrg_all_steps(shape) * log(1.0 / request->delta));
}

/* The anchors' noise is what counts; batches that are half of what would make inner noise its least cost half of the gradients. */
static size_t default_batch(svrg_plan *plan, const svrg_shape *shape)
{
    const pn_request *request = &plan->base.request;
    double n = plan->problem.n;

    plan->why_batch = "half of n epsilon / sqrt(steps ln(1/delta))";
    if (request->kind == PN_EPSILON_DELTA && request->delta > 0.0)
        return whole(0.5 * svrg_batch_rule(plan, shape), 1.0, n);
    plan->why_batch = request->kind == PN_RHO ? "all: zCDP gains nothing from sampling" : "the default";
    return request->kind == PN_RHO ? (size_t)n : 1;
}

void svrg_complete_shape(svrg_plan *plan, bool theory)
{
    svrg_shape *shape = &plan->shape;

    if (shape->epochs == 0)
        shape->epochs = 4;
    if (theory)
        theory_shape(plan, shape);
    else
        practical_shape(plan, shape);
    if (shape->batch == 0)
        shape->batch = default_batch(plan, shape);
}
