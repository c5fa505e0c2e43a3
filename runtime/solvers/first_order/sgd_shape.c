/* sgd_shape.c -- batch and number of steps of stochastic gradient descent.
 * Depends on: sgd.h, first_order.h, work.h.  Used by: sgd_plan.c.
 *
 * The default.  With s = 2G/(n mu), mu the exact Gaussian's of the budget, T steps of size eta with noise s sqrt(T) on
 * all records add up to noise of deviation t s a coordinate, t = eta T: only t matters
 * (pn_time_of_noise says which is best).  T = L t steps of 1/L make it; of a loss with kinks, as many as have noise of
 * norm G each, so that kinks and noise count alike.
 * A batch of 8 n epsilon/sqrt(T ln(1/delta)) has that noise but for about 4 %.
 *
 * Where this is more than the default work, fewer steps with momentum take the same time.  Of T = 20, 28, 40, 57 ...
 * each with the largest batch that the work allows, the one with the least predicted risk is taken, its noise priced
 * exactly.  That grid does not depend on the budget, and for each T more budget means less noise and no shorter time,
 * so that the predicted risk falls with epsilon there, as it does by the rule.  Where the grid takes over,
 * it may lie up to 1 % above the rule. */
#include <math.h>
#include <string.h>

#include "oracle/gradient_noise.h"
#include "solvers/engine/work.h"
#include "solvers/first_order/sgd.h"

#define PLAIN_BATCH  100.0 /* without privacy */
#define LEAST_STEPS  20.0
#define BATCH_FACTOR 8.0
#define LEAST_EPOCHS 4.0 /* below, which records were drawn is seen in the answer */
#define RISES        3   /* of the predicted risk in a row, after which more steps are not looked at */

/* ---- scale and time ---- */

pn_status sgd_read_scale(sgd_problem *at, pn_err *err)
{
    const pn_first_order *first = &at->plan->problem;
    double c = at->is_private && at->plan->base.request.neighbours == PN_REPLACE_ONE ? 2.0 : 1.0;

    if (at->is_private)
        at->unit = c * first->lipschitz / (first->n * sqrt(2.0 * pn_gradient_noise_rho(&at->plan->base.request)));
    at->distance = first->diameter;
    at->guessed = !isfinite(at->distance);
    if (at->guessed)
        at->distance = pn_margin_scale(&at->plan->problem);
    if (!(at->distance > 0.0) || !isfinite(at->distance))
        at->distance = 1.0;
    at->travel = at->guessed ? pn_usual_distance(at->distance, first->usual, (double)first->p, INFINITY) / sqrt(2.0)
                             : at->distance;
    return pn_first_order_gap(first, first->strong_convexity, &at->gap, err);
}

/* Half of a diameter, or what strong convexity says of the start. */
static double proven_distance(const sgd_problem *at)
{
    return fmin(at->guessed ? INFINITY : at->distance / 2.0,
                pn_distance_of_gap(at->plan->problem.strong_convexity, at->gap));
}

static double usual_distance(const sgd_problem *at)
{
    const pn_first_order *first = &at->plan->problem;

    return pn_usual_distance(pn_margin_scale(first), first->usual, (double)first->p, proven_distance(at));
}

/* eta T/(1 - beta), unit the noise of one release that takes the whole budget. */
static double time_for(const sgd_problem *at, double unit)
{
    return pn_first_order_time_of_noise(&at->plan->problem, at->guessed ? INFINITY : at->distance / 2.0, at->gap, unit);
}

static bool tosses_coins(const sgd_problem *at)
{
    return strcmp(at->plan->noise.scheme, "poisson") == 0;
}

/* A variance, with what kinks add to it. */
static double with_kinks(const pn_first_order *first, double variance)
{
    return isfinite(first->smoothness) ? variance : variance + SGD_KINKS * first->lipschitz * first->lipschitz;
}

double sgd_time(const sgd_problem *at, double steps, double variance)
{
    const pn_first_order *first = &at->plan->problem;
    double time = time_for(at, sqrt(with_kinks(first, variance) / ((double)first->p * steps)));

    return isfinite(first->smoothness) ? fmin(time, pn_longest_time(first->smoothness, steps)) : time;
}

double sgd_expected_risk(const sgd_problem *at, double steps, double time, double variance)
{
    return pn_usual_excess(usual_distance(at), time, time / steps * with_kinks(&at->plan->problem, variance) / 2.0);
}

/* ---- by the rule ---- */

/* n epsilon/sqrt(ln(1/delta)): divided by sqrt(T) it is the batch whose noise is about 1.4 times that of all records;
 * +inf where nothing is gained by secrecy. */
static double batch_scale(const sgd_problem *at)
{
    const pn_request *request = &at->plan->base.request;

    if (request->kind == PN_RHO || request->delta == 0.0 || strcmp(at->plan->noise.scheme, "shuffled") == 0)
        return INFINITY;
    return at->plan->problem.n * request->epsilon / sqrt(log(1.0 / request->delta));
}

static double batch_for(const sgd_problem *at, double steps)
{
    double n = at->plan->problem.n;

    return fmin(n, ceil(fmax(BATCH_FACTOR * batch_scale(at) / sqrt(steps), LEAST_EPOCHS * n / steps)));
}

/* Plain steps, of any number. */
static double plain_steps(const sgd_problem *at)
{
    const pn_first_order *first = &at->plan->problem;
    double beta = at->own[SGD_MOMENTUM].given ? at->own[SGD_MOMENTUM].real : 0.0;
    double T = isfinite(first->smoothness)
                   ? first->smoothness * time_for(at, at->unit) * (1.0 - beta)
                   : first->lipschitz * first->lipschitz / ((double)first->p * at->unit * at->unit);

    return fmax(ceil(T), LEAST_STEPS);
}

/* Where epochs or steps are given. */
static double batch_by_rule(const sgd_problem *at, double steps)
{
    const pn_arg *epochs = &at->own[SGD_EPOCHS];
    double n = at->plan->problem.n, scale = batch_scale(at);

    if (at->own[SGD_BATCH].given)
        return (double)at->own[SGD_BATCH].count;
    if (at->paper)
        return 1.0;
    if (!at->is_private)
        return fmin(n, PLAIN_BATCH);
    if (epochs->given && isfinite(scale)) /* T = epochs n/b solved for b */
        return fmin(n, fmax(1.0, ceil(BATCH_FACTOR * BATCH_FACTOR * scale * scale / (epochs->real * n))));
    return epochs->given ? n : batch_for(at, steps);
}

/* ---- within the default work ---- */

/* Of one step. */
static double step_seconds(const sgd_problem *at, double batch)
{
    return pn_step_seconds(at->plan->base.objective, batch) +
           (tosses_coins(at) ? PN_COIN_SECONDS * at->plan->problem.n : 0.0);
}

static double seconds(const sgd_problem *at, double steps, double batch)
{
    return steps * step_seconds(at, batch);
}

/* The largest batch for which the work is enough; one that is given, or has to be all records, whatever it takes. */
static double batch_in(const sgd_problem *at, double steps)
{
    double n = at->plan->problem.n, none = step_seconds(at, 0.0), one = step_seconds(at, 1.0) - none;

    if (at->own[SGD_BATCH].given)
        return (double)at->own[SGD_BATCH].count;
    if (!isfinite(batch_scale(at)))
        return n;
    return fmin(n, fmax(1.0, floor((PN_WORK_SECONDS / steps - none) / one)));
}

static double predict(sgd_problem *at, double steps, double batch)
{
    const pn_first_order *first = &at->plan->problem;
    double sigma = pn_batch_noise_at(&at->plan->base, at->plan->noise.scheme, (size_t)batch, (size_t)steps), variance;

    if (isnan(sigma))
        return INFINITY;
    variance =
        pn_batch_variance(at->plan->noise.scheme, first->n, batch, first->lipschitz) + (double)first->p * sigma * sigma;
    return sgd_expected_risk(at, steps, sgd_time(at, steps, variance), variance);
}

static void search(sgd_problem *at, double most, double *steps, double *batch)
{
    double least = INFINITY;
    int rises = 0;

    *steps = LEAST_STEPS;
    *batch = batch_in(at, LEAST_STEPS);
    for (double grid = LEAST_STEPS; grid <= 2.0 * most && rises < RISES; grid *= sqrt(2.0)) {
        double T = round(grid), b = batch_in(at, T), risk;

        if (T > LEAST_STEPS && seconds(at, T, b) > PN_WORK_SECONDS * (1.0 + 1e-6))
            return;
        risk = predict(at, T, b);
        rises = risk < least ? 0 : rises + 1;
        if (risk < least) {
            least = risk;
            *steps = T;
            *batch = b;
        }
    }
}

/* What the rule says, or where that is too much work the best that is not;
 * at->wanted is what even momentum would take beyond it. */
static void choose(sgd_problem *at, double *steps, double *batch)
{
    double plain = plain_steps(at), L = at->plan->problem.smoothness, fewest;

    *steps = plain;
    *batch = batch_by_rule(at, plain);
    if (seconds(at, plain, *batch) <= PN_WORK_SECONDS)
        return;
    fewest = isfinite(L) ? fmax(ceil(pn_fewest_steps(L, plain / L)), LEAST_STEPS) : plain;
    at->wanted = seconds(at, fewest, batch_by_rule(at, fewest));
    search(at, plain, steps, batch);
}

void sgd_choose_shape(sgd_problem *at, double *steps, double *batch)
{
    const pn_arg *given = &at->common[PN_OPT_ITERATIONS], *epochs = &at->own[SGD_EPOCHS];
    double n = at->plan->problem.n;

    if (at->is_private && !at->paper && !given->given && !epochs->given) {
        choose(at, steps, batch);
        return;
    }
    *batch = batch_by_rule(at, (double)given->count);
    *steps = given->given    ? (double)given->count
             : epochs->given ? ceil(epochs->real * n / *batch * (1.0 - 1e-12))
             : at->paper     ? n * n
                             : ceil(SGD_PLAIN_EPOCHS * n / *batch);
}
