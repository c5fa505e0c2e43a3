/* svrg_shape.c -- how many epochs, steps and records SVRG takes when nobody says, and what its theorem gives for that.
 * Depends on: svrg.h.  Used by: svrg.c, svrg_plan.c, svrg_noise.c.  See variance-reduced.md sections 3 to 5. */
#include <math.h>

#include "privacy/accounting/calibrate_program.h"
#include "solvers/engine/work.h"
#include "solvers/variance_reduced/svrg.h"

size_t svrg_epoch_steps(const svrg_shape *shape, size_t epoch)
{
    return shape->doubling ? shape->inner << epoch : shape->inner;
}

double svrg_all_steps(const svrg_shape *shape)
{
    double m = (double)shape->inner;
    int epochs =
        shape->epochs < 2000 ? (int)shape->epochs : 2000; /* asked before more than 40 are refused: infinitely many */

    return shape->doubling ? m * (ldexp(1.0, epochs + 1) - 2.0) : m * (double)shape->epochs;
}

double svrg_gradients(const svrg_shape *shape, double n)
{
    return pn_anchored_gradients((double)shape->epochs, svrg_all_steps(shape), n, (double)shape->batch);
}

double svrg_seconds(const svrg_plan *plan, const svrg_shape *shape)
{
    const pn_objective *objective = plan->base.objective;
    const pn_request *request = &plan->base.request;
    bool coins = request->kind != PN_NONPRIVATE && pn_contributions(request->neighbours) == 1.0;
    double step =
        pn_step_seconds(objective, 2.0 * (double)shape->batch) + (coins ? PN_COIN_SECONDS * plan->problem.n : 0.0);

    return (double)shape->epochs * pn_step_seconds(objective, plan->problem.n) + svrg_all_steps(shape) * step;
}

double svrg_sigma(const svrg_plan *plan, const svrg_shape *shape, double inner)
{
    double most = plan->printed ? 1.0 : 2.0 * plan->problem.lipschitz;

    return inner * most / (double)shape->batch;
}

/* ---- the theorem ---- */

/* m for condition number kappa at eta = 1/(48 L): the least above 192 kappa + 2/3. */
static double theory_inner(double condition)
{
    return floor(192.0 * condition + 2.0 / 3.0) + 1.0;
}

/* Xiao and Zhang (2014), Theorem 3.1, with batches of b without replacement (of coins (n - b)/(b n) is in place of (n -
 * b)/(b (n - 1)), which is less) and noise: if the direction errs from the gradient by
 * mean squares of at most A (gap(x) + gap(y)) + V, an epoch takes the gap to at most
 *     rate gap(y) + eta V / (1 - eta A),   rate = (1/(mu eta m) + eta A (m + 1)/m) / (1 - eta A).
 * Noise of 2 z tau/b on each coordinate with tau <= L ||x - y|| adds 16 p (z L/b)^2 / mu to A, since ||x - y||^2 <=
 * (4/mu)(gap(x) + gap(y)). */
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

/* With the noise a on the snapshot's gradient an epoch contracts F_r + <a, x>, whose gap is within ||a||^2 terms of
 * that of F_r: for any beta in (0, 1)
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

double svrg_bound(const svrg_plan *plan)
{
    bool noisy = plan->inner > 0.0, printed = plan->printed;
    double gap = plan->first_gap, V = 0.0;
    contraction by;

    if (plan->shape.doubling || plan->goes_on || plan->reach < 1.0 || !(plan->problem.strong_convexity > 0.0) ||
        !isfinite(gap))
        return NAN;
    by = epoch_contraction(plan, noisy && !printed ? plan->inner / 2.0 : 0.0);
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
        shape->inner = shape->doubling ? 4 : whole(theory_inner(L / mu), 1.0, 1e12);
    if (shape->epochs == 0)
        shape->epochs = shape->doubling ? 6 : 8;
    plan->why_step = shape->doubling ? "1/(13 L)" : "1/(48 L)";
    plan->why_inner = shape->doubling ? "the default" : "the least above 192 kappa + 2/3";
    plan->why_epochs = "the default";
}

/* Without privacy there is nothing to trade: two passes an epoch, as many epochs as make the error small. */
static void free_shape(svrg_plan *plan, svrg_shape *shape)
{
    if (shape->step == 0.0)
        shape->step = 1.0 / (4.0 * plan->problem.smoothness);
    if (shape->batch == 0)
        shape->batch = 1;
    if (shape->inner == 0)
        shape->inner = shape->doubling ? whole(plan->problem.n / (4.0 * (double)shape->batch), 1.0, 1e12)
                                       : whole(2.0 * plan->problem.n / (double)shape->batch, 1.0, 1e12);
    if (shape->epochs == 0)
        shape->epochs = shape->doubling ? 6 : 8; /* at lambda = 1/n, L = 1/4 five leave 3e-11 of the excess (a9a) */
    plan->why_step = "1/(4 L)";
    plan->why_inner = shape->doubling ? "a quarter of the records" : "twice the records";
    plan->why_epochs = "the default";
}

/* Convex: as much time as gradient descent would take, since noise adds up over it,
 * in epochs that go on where the last one ended. */
static void convex_shape(svrg_plan *plan, svrg_shape *shape)
{
    double L = plan->problem.smoothness, s = pn_gradient_noise_tight(&plan->anchor, &plan->base.request, 1);
    pn_noise_time time;
    double all, parts;

    if (shape->step == 0.0)
        shape->step = 0.5 / L;
    if (shape->epochs == 0)
        shape->epochs = shape->doubling ? 4 : 16;
    time = (pn_noise_time){ .scale = plan->problem.lipschitz / L,
                            .slope = plan->problem.lipschitz,
                            .usual = plan->problem.usual,
                            .distance = plan->problem.diameter / 2.0,
                            .p = (double)plan->problem.p,
                            .unit = s };
    all = 0.5 * pn_time_of_noise(&time) /
          shape->step; /* half: its noise is larger, and more is lost by it than by a shorter way */
    parts =
        shape->doubling ? ldexp(1.0, (int)(shape->epochs < 40 ? shape->epochs : 40) + 1) - 2.0 : (double)shape->epochs;
    if (shape->inner == 0)
        shape->inner = whole(all / parts, 1.0, 1e9);
    plan->inflation = shape->doubling ? 1.4 : 1.2;
    plan->batch_factor = shape->doubling ? 4.0 : 2.0;
    plan->why_step = "1/(2 L)";
    plan->why_epochs = "the default";
    plan->why_inner = "eta times all steps is half of what gradient_descent takes";
}

/* A shape of the grid of epochs, steps and noise of snapshots, what it is predicted to reach, and its gradients. */
typedef struct candidate {
    svrg_shape shape;
    double inflation, risk, cost;
} candidate;

#define CANDIDATES (7 * 8 * 3)

/* anchor: noise of one snapshot that takes the whole budget, of rho.  What is not 0 in `given` is kept. */
static candidate candidate_at(const svrg_plan *plan, const svrg_shape *given, size_t i, double anchor, double rho)
{
    static const double inflations[] = { 1.1, 1.2, 1.4 }, lengths[] = { 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0 };
    candidate at = { .shape = *given, .inflation = inflations[i % 3] };

    if (given->epochs == 0)
        at.shape.epochs = 2 + i / 3 % 7;
    if (given->inner == 0)
        at.shape.inner = whole(lengths[i / 21] * (plan->problem.smoothness / plan->problem.strong_convexity), 1.0, 1e9);
    if (given->batch == 0)
        at.shape.batch = whole(0.5 * svrg_batch_rule(plan, &at.shape), 1.0, plan->problem.n);
    at.risk = svrg_predict(plan, &at.shape, at.inflation * anchor * sqrt((double)at.shape.epochs),
                           svrg_guess_inner(plan, &at.shape, at.inflation, rho));
    at.cost = svrg_gradients(&at.shape, plan->problem.n);
    return at;
}

/* Strongly convex: the cheapest that is predicted within 10 % of the least risk. */
static void strongly_convex_shape(svrg_plan *plan, svrg_shape *shape)
{
    bool chosen = shape->step > 0.0;
    double anchor = pn_gradient_noise_tight(&plan->anchor, &plan->base.request, 1), least = INFINITY;
    double rho = pn_gradient_noise_rho(&plan->base.request);
    candidate all[CANDIDATES];
    const candidate *best = NULL;

    if (!chosen)
        shape->step = 0.25 / plan->problem.smoothness;
    plan->batch_factor = 0.5;
    plan->why_step = "1/(4 L)";
    plan->why_epochs = plan->why_inner =
        "with T, m and the snapshots' noise: cheapest within 10 % of the least predicted risk";
    for (size_t i = 0; i < CANDIDATES; i++) {
        all[i] = candidate_at(plan, shape, i, anchor, rho);
        least = fmin(least, all[i].risk);
    }
    for (const candidate *at = all; at < all + CANDIDATES; at++) {
        if (at->risk <= 1.1 * least && at->risk < plan->first_gap && (!best || at->cost < best->cost))
            best = at;
    }
    if (best) {
        *shape = best->shape;
        plan->inflation = best->inflation;
        return;
    }
    convex_shape(plan, shape); /* noise would undo what strong convexity gives: stop as early as without it */
    plan->limited = true;
    if (!chosen) /* else the step may be too long, of which another warning tells */
        pn_plan_warn(&plan->base,
                     "strong convexity is too weak for this budget and this many records; the plan does without it");
}

double svrg_batch_rule(const svrg_plan *plan, const svrg_shape *shape)
{
    const pn_request *request = &plan->base.request;

    return plan->problem.n * request->epsilon / sqrt(svrg_all_steps(shape) * log(1.0 / request->delta));
}

/* The anchors' noise is what counts: batches for which sampling makes the noise of inner steps somewhat larger save
 * gradients. */
static void choose_batch(svrg_plan *plan, svrg_shape *shape)
{
    const pn_request *request = &plan->base.request;
    double n = plan->problem.n, factor = plan->batch_factor > 0.0 ? plan->batch_factor : 1.0;

    plan->why_batch = factor == 0.5   ? "half of n epsilon / sqrt(steps ln(1/delta))"
                      : factor == 2.0 ? "2 n epsilon / sqrt(steps ln(1/delta)), at most n"
                      : factor == 4.0 ? "4 n epsilon / sqrt(steps ln(1/delta)), at most n"
                                      : "n epsilon / sqrt(steps ln(1/delta)), at most n";
    if (request->kind == PN_RHO)
        plan->why_batch = "all: zCDP gains nothing from sampling";
    shape->batch = request->kind == PN_RHO ? (size_t)n : whole(factor * svrg_batch_rule(plan, shape), 1.0, n);
}

/* What noise alone may move the margin of a unit record by, where nothing better than the start is predicted:
 * gradient_descent's moves it by 1.2.  Of 1.5 and 2.1 on reuters at epsilon 0.1 the first ends below the start and the
 * second above it. */
#define MARGIN_NOISE 1.6
/* Where the answer is a last point, whose noise no average has taken part of: the loss of a margin that noise moves by
 * m grows by up to m^2/8, what steps gain falls with m.  On news20 at epsilon 0.1 steps to 1.1 end above the start. */
#define MARGIN_NOISE_LAST 1.0

/* Fewer steps, then epochs, then shorter steps, where the prediction is no better than the start and noise would carry
 * the answer away from it: in dimensions where differences are clipped at 2 G.  `given`: what a user chose stays. */
static void keep_near_start(svrg_plan *plan, svrg_shape *shape, const svrg_shape *given)
{
    double s = pn_gradient_noise_tight(&plan->anchor, &plan->base.request, 1);
    double rho = pn_gradient_noise_rho(&plan->base.request);
    double most = shape->doubling ? MARGIN_NOISE_LAST : MARGIN_NOISE;

    for (;;) {
        double inner = svrg_guess_inner(plan, shape, plan->inflation, rho);
        double anchor = plan->inflation * s * sqrt((double)shape->epochs);
        double moved = shape->step * svrg_sigma(plan, shape, inner) * sqrt(svrg_all_steps(shape));

        if (!(moved > most) || svrg_predict(plan, shape, anchor, inner) < plan->first_gap)
            return;
        if (!given->inner && shape->inner > 1) {
            shape->inner = (shape->inner + 1) / 2;
        } else if (!given->epochs && shape->epochs > 1) {
            shape->epochs = shape->doubling ? shape->epochs - 1 : (shape->epochs + 1) / 2;
        } else if (given->step == 0.0) {
            shape->step /= 2.0;
            plan->why_step = "so short that noise leaves the answer near the start";
        } else {
            return;
        }
        if (!given->batch)
            choose_batch(plan, shape);
        plan->why_inner = "so few that noise leaves the answer near the start, since nothing better is predicted";
    }
}

/* Batches are at least of so many records where work is the limit: steps of 1/(2 L) diverge with fewer than four. */
#define LEAST_BATCH 8.0

/* The largest batch with which the shape is within the default work, at most that of the rule. */
static size_t batch_within_work(svrg_plan *plan, const svrg_shape *of)
{
    svrg_shape none = *of, one = *of, rule = *of;
    double record, left;

    none.batch = 0;
    one.batch = 1;
    choose_batch(plan, &rule);
    record = svrg_seconds(plan, &one) - svrg_seconds(plan, &none);
    left = PN_WORK_SECONDS - svrg_seconds(plan, &none);
    return whole(floor(left / record), fmin(LEAST_BATCH, (double)rule.batch), (double)rule.batch);
}

static double predict_within_work(const svrg_plan *plan, const svrg_shape *shape, double unit, double rho)
{
    if (svrg_seconds(plan, shape) > PN_WORK_SECONDS * (1.0 + 1e-9))
        return INFINITY;
    return svrg_predict(plan, shape, plan->inflation * unit * sqrt((double)shape->epochs),
                        svrg_guess_inner(plan, shape, plan->inflation, rho));
}

/* Where a run would take longer than the default work: fewer epochs until their gradients of all records take at most
 * half of it, and then as many steps, on batches as large, as are predicted to reach the least risk in the rest.
 * `given`: what a user chose stays. */
static void keep_within_work(svrg_plan *plan, svrg_shape *shape, const svrg_shape *given)
{
    double unit = pn_gradient_noise_tight(&plan->anchor, &plan->base.request, 1), least = INFINITY, risk;
    double rho = pn_gradient_noise_rho(&plan->base.request), wanted = svrg_seconds(plan, shape);
    double snapshot = pn_step_seconds(plan->base.objective, plan->problem.n);
    svrg_shape now = *shape;

    if (!(wanted > PN_WORK_SECONDS) || (given->inner && given->batch))
        return;
    while (!given->epochs && now.epochs > 1 && (double)now.epochs * snapshot > PN_WORK_SECONDS / 2.0)
        now.epochs = now.doubling ? now.epochs - 1 : (now.epochs + 1) / 2;
    for (;; now.inner = (now.inner + 1) / 2) {
        if (!given->batch)
            now.batch = batch_within_work(plan, &now);
        risk = predict_within_work(plan, &now, unit, rho);
        if (risk < least)
            *shape = now;
        least = fmin(least, risk);
        if (given->inner || now.inner == 1)
            break;
    }
    if (isinf(least)) /* the least that there can be takes longer */
        *shape = now;
    pn_plan_held_back(&plan->base, wanted);
    plan->why_epochs = given->epochs ? plan->why_epochs : "as many as about 4 s of work allow, at most the default";
    plan->why_inner = plan->why_batch = "with m and b: of what about 4 s of work allow, the least predicted risk";
}

/* Without privacy: batches double while that saves a tenth of the time, for as many records in an epoch; then fewer
 * epochs. */
static void free_within_work(svrg_plan *plan, svrg_shape *shape, const svrg_shape *given)
{
    double wanted = svrg_seconds(plan, shape), seconds = wanted, then;
    svrg_shape now;

    while (seconds > PN_WORK_SECONDS && !given->batch && !given->inner && shape->inner > 1) {
        now = *shape;
        now.batch *= 2;
        now.inner = (now.inner + 1) / 2;
        then = svrg_seconds(plan, &now);
        if (then > 0.9 * seconds)
            break;
        *shape = now;
        seconds = then;
        plan->why_inner = plan->why_batch = "with m and b: an epoch's records in about 4 s of work";
    }
    for (; seconds > PN_WORK_SECONDS && !given->epochs && shape->epochs > 1; seconds = svrg_seconds(plan, shape)) {
        shape->epochs--;
        plan->why_epochs = "as many as about 4 s of work allow, at most the default";
    }
    if (seconds < wanted)
        pn_plan_held_back(&plan->base, wanted);
}

void svrg_complete_shape(svrg_plan *plan, bool theory)
{
    svrg_shape *shape = &plan->shape, given = plan->shape;
    const pn_request *request = &plan->base.request;
    bool is_private = request->kind == PN_RHO || (request->kind == PN_EPSILON_DELTA && request->delta > 0.0);

    plan->inflation = 1.1;
    if (theory)
        theory_shape(plan, shape);
    else if (!is_private)
        free_shape(plan, shape);
    else if (plan->problem.strong_convexity > 0.0 && !shape->doubling)
        strongly_convex_shape(plan, shape);
    else
        convex_shape(plan, shape);
    if (!is_private)
        plan->why_batch = "the default";
    if (!is_private && !theory)
        free_within_work(plan, shape, &given);
    if (is_private && !given.batch)
        choose_batch(plan, shape);
    if (is_private && !theory)
        keep_near_start(plan, shape, &given);
    if (is_private && !theory)
        keep_within_work(plan, shape, &given);
    if (shape->batch == 0)
        shape->batch = 1;
}
