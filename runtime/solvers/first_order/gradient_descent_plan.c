/* gradient_descent_plan.c -- steps, step size, noise and risk of noisy gradient descent.
 * Depends on: gradient_descent.h, privacy, geometry.  Used by: descent.c.
 * Source: mirror-descent.md section 7, beside each number. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "oracle/gradient_batch.h"
#include "solvers/engine/work.h"
#include "solvers/first_order/gradient_descent.h"

const pn_param gd_params[] = {
    PN_STEP_PARAM("eta of every iteration, in place of 1/L or less"),
    { "output", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_descent_outputs,
      "which point is the answer; auto: last, average or random, as the theory has it; best is refused, as it would "
      "need a private selection" },
    { "tail", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "the average weighs point t like t^tail; 0: equally; by default 8, and 0 for a loss with kinks" },
    { "pl", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "mu with ||gradient||^2 >= 2 mu excess (Polyak-Lojasiewicz), when it is known: steps and predictions rest on it, "
      "privacy does not" },
    PN_STRONG_CONVEXITY_PARAM,
    PN_PROX_PARAM,
    PN_PAPER_C_PARAM,
    PN_MOMENTUM_PARAM,
    PN_BATCH_PARAMS,
    PN_PARAM_END,
};

#define PLAIN_STEPS 1000 /* without privacy */
#define FEWEST      10
#define MOST        1000000 /* that the best number of steps is looked for */

/* ---- the rule and the output ---- */

static bool subgradients(const gd_problem *at)
{
    return !at->bounds->loss.smooth && at->bounds->convex && at->own[GD_OUTPUT].count == PN_DESCENT_AVERAGE;
}

static pn_status check_smooth(const gd_problem *at, pn_err *err)
{
    const gd_constants *of = &at->of;

    if (subgradients(at)) {
        if (!at->own[GD_STEP].given && !isfinite(at->distance + of->slope))
            return pn_fail(
                err, PN_EINVAL,
                "no step size can be derived for a loss with kinks without a bounded set and bounded gradients; "
                "give step=");
        return PN_OK;
    }
    if (at->bounds->loss.smooth && at->own[GD_STEP].given) /* rows that nothing bounds, say */
        return PN_OK;
    return pn_first_order_need_smooth(&at->plan->problem, err);
}

static pn_status choose_output(gd_problem *at, pn_err *err)
{
    size_t wanted = at->own[GD_OUTPUT].count;
    pn_descent *plan = at->plan;
    bool is_private = plan->base.request.kind != PN_NONPRIVATE;
    gd_constants *of = &at->of;

    if (wanted == PN_DESCENT_BEST)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "output=\"best\" would compare the points on the data, which needs a private selection; use "
                       "last, average or random");
    if (wanted != PN_DESCENT_AUTO)
        plan->output = (pn_descent_output)wanted;
    else if (!is_private || of->rule == GD_RULE_LINEAR)
        plan->output = PN_DESCENT_LAST;
    else
        plan->output = of->rule == GD_RULE_STATIONARY ? PN_DESCENT_RANDOM : PN_DESCENT_AVERAGE;
    plan->subgradient = of->rule == GD_RULE_KINKS;
    plan->base.draws = plan->output == PN_DESCENT_RANDOM;
    return pn_descent_check(plan, &at->own[GD_TAIL], PN_DESCENT_TAIL, err);
}

static double convex_time(const gd_problem *at)
{
    const gd_constants *of = &at->of;
    double slope = at->plan->problem.margin_slope;
    double scale = of->smoothness > 0.0 && isfinite(slope / of->smoothness) ? slope / of->smoothness : 1.0;
    pn_noise_time time = { .scale = scale,
                           .slope = of->slope,
                           .usual = at->plan->problem.usual,
                           .distance = fmin(at->distance, pn_distance_of_gap(of->strong_convexity, of->gap)),
                           .strong_convexity = of->strong_convexity,
                           .gap = of->gap,
                           .p = of->p,
                           .unit = at->unit };

    return at->unit == 0.0 ? INFINITY : pn_time_of_noise(&time);
}

static double largest_step(const gd_constants *of)
{
    return 1.0 / of->smoothness;
}

/* eta T: less than the time where momentum is given, which makes steps last longer. */
static double plain_time(const gd_problem *at)
{
    return at->own[GD_MOMENTUM].given ? at->time * (1.0 - at->own[GD_MOMENTUM].real) : at->time;
}

static double given_step(const gd_problem *at)
{
    return pn_step_number(&at->plan->step, &at->own[GD_STEP]);
}

/* eta for T steps. */
static double step_for(const gd_problem *at, double steps)
{
    const gd_constants *of = &at->of;
    double noise = of->p * at->unit * at->unit * steps;

    if (given_step(at) > 0.0)
        return given_step(at);
    if (of->rule == GD_RULE_KINKS)
        return of->distance / sqrt(steps * (of->slope * of->slope + noise));
    if (of->rule == GD_RULE_CONVEX)
        return fmin(largest_step(of), plain_time(at) / steps);
    return largest_step(of);
}

/* beta: of the convex rule, where that many steps are too few for the time. */
static double momentum_for(const gd_problem *at, double steps, double eta)
{
    if (at->own[GD_MOMENTUM].given)
        return at->own[GD_MOMENTUM].real;
    return at->of.rule == GD_RULE_CONVEX && isfinite(at->time) && !at->own[GD_STEP].given
               ? pn_momentum_for(at->time, eta, steps)
               : 0.0;
}

static size_t count(double steps, size_t most)
{
    return steps >= (double)most ? most : steps > 1.0 ? (size_t)ceil(steps) : 1;
}

/* What the other rules favour, looked for up to `most`; 0 where nothing is promised. */
static double favoured_steps(const gd_problem *at, size_t most)
{
    const gd_constants *of = &at->of;
    double variance = at->unit * at->unit;

    if (of->rule == GD_RULE_KINKS && given_step(at) == 0.0)
        return of->slope * of->slope / (of->p * variance);
    return (double)gd_best_steps(of, step_for(at, 1.0), variance, most);
}

static size_t steps_for(const gd_problem *at)
{
    const gd_constants *of = &at->of;
    double favoured;
    size_t most = pn_planned_steps_max(at->objective, &at->plan->noise);

    if (at->common[PN_OPT_ITERATIONS].given)
        return at->common[PN_OPT_ITERATIONS].count;
    if (at->unit == 0.0)
        return most < PLAIN_STEPS ? most : PLAIN_STEPS;
    if (of->rule == GD_RULE_CONVEX)
        return given_step(at) > 0.0 ? count(plain_time(at) / given_step(at), most)
                                    : count(fmax(plain_time(at) / largest_step(of) * (1.0 - 1e-12), FEWEST), most);
    favoured = favoured_steps(at, most);
    return count(favoured > 0.0 ? favoured : at->time / step_for(at, 1.0), most);
}

/* The theory's, but what is usual where it is for the average of a smooth convex problem: that is too far above what
 * comes about. */
static double expected_risk(const gd_problem *at, double steps, double eta, double variance)
{
    const gd_constants *of = &at->of;
    const pn_first_order *problem = &at->plan->problem;
    double D;

    if (of->rule != GD_RULE_CONVEX || !(of->smoothness > 0.0) || !isfinite(of->slope))
        return gd_risk(of, steps, eta, variance);
    D = pn_usual_distance(problem->margin_slope / of->smoothness, problem->usual, of->p,
                          fmin(problem->diameter / 2.0, pn_distance_of_gap(of->strong_convexity, of->gap)));
    eta /= 1.0 - momentum_for(at, steps, eta);
    return fmin(pn_usual_excess(D, eta * steps, eta * of->p * variance / 2.0), of->gap);
}

/* What the rule promises of the plan that it would make. */
static double promise(const gd_problem *at)
{
    double steps = (double)steps_for(at);

    return gd_risk(&at->of, steps, step_for(at, steps), at->unit * at->unit * steps);
}

/* The linear rule where it promises something: less than the convex one, and less than half of the gap at the start.
 * Where it does not, it would hardly move, for fear of noise in directions without curvature;
 * the convex rule fares better in practice. */
static void choose_rule(gd_problem *at)
{
    size_t wanted = at->own[GD_OUTPUT].count;
    gd_constants *of = &at->of;
    bool convex = at->bounds->convex && wanted != PN_DESCENT_RANDOM;
    bool linear =
        of->strong_convexity > 0.0 && wanted != PN_DESCENT_RANDOM && !(wanted == PN_DESCENT_AVERAGE && convex);
    double other, risk, steps;

    of->rule = subgradients(at) ? GD_RULE_KINKS : convex ? GD_RULE_CONVEX : GD_RULE_STATIONARY;
    at->time = convex_time(at);
    if (!linear || of->rule == GD_RULE_KINKS)
        return;
    other = promise(at);
    steps = (double)steps_for(at);
    at->usual = of->rule == GD_RULE_CONVEX ? expected_risk(at, steps, step_for(at, steps), at->unit * at->unit * steps)
                                           : INFINITY;
    of->rule = GD_RULE_LINEAR;
    if (!convex || at->unit == 0.0)
        return;
    risk = promise(at);
    if (!(risk <= other && risk <= of->gap / 2.0))
        of->rule = GD_RULE_CONVEX;
}

static pn_status choose_steps(gd_problem *at, pn_err *err)
{
    pn_descent *plan = at->plan;

    if (at->common[PN_OPT_ITERATIONS].given)
        plan->base.iterations = at->common[PN_OPT_ITERATIONS].count;
    PN_TRY(pn_schedule_read(&plan->step, &plan->base, &gd_params[GD_STEP], &at->own[GD_STEP], err));
    choose_rule(at);
    if (plan->noise.scheme && !at->common[PN_OPT_ITERATIONS].given) {
        at->unit = pn_gradient_noise_unit(&plan->noise, &plan->base, steps_for(at));
        choose_rule(at);
    }
    plan->base.iterations = steps_for(at);
    plan->step.eta = step_for(at, (double)plan->base.iterations);
    PN_TRY(pn_schedule_read(&plan->step, &plan->base, &gd_params[GD_STEP], &at->own[GD_STEP], err));
    plan->momentum = momentum_for(at, (double)plan->base.iterations, plan->step.eta);
    PN_TRY(pn_descent_need_smooth(plan, at->of.rule == GD_RULE_KINKS, err));
    if (!(plan->step.eta > 0.0) || !isfinite(plan->step.eta))
        return pn_fail(err, PN_EINVAL, "no step size can be derived for a loss without curvature; give step=");
    return choose_output(at, err);
}

/* ---- explanation ---- */

static const char *const rule_formulas[] = {
    "gap0 q^T + noise (1 - q^T)/(1 - q): mu eta of the excess is gone after a step",
    "D^2/(2 eta T) and noise, of the average",
    "D^2/(2 eta T) + eta (G^2 + p sigma^2)/2, of the average",
    "expected squared gradient at a random point",
};

/* Steps that would be taken if work were no limit. */
static double steps_wanted(const gd_problem *at)
{
    const gd_constants *of = &at->of;

    if (of->rule == GD_RULE_CONVEX && given_step(at) == 0.0 && !at->own[GD_MOMENTUM].given)
        return pn_fewest_steps(of->smoothness, at->time);
    if (of->rule == GD_RULE_CONVEX)
        return plain_time(at) / step_for(at, 1.0);
    return favoured_steps(at, MOST);
}

/* First of all lines. */
static void explain_limit(const gd_problem *at)
{
    const pn_plan *plan = &at->plan->base;
    size_t most = pn_planned_steps_max(at->objective, &at->plan->noise);
    double wanted;

    if (at->common[PN_OPT_ITERATIONS].given || at->plan->step.each || at->unit == 0.0 || plan->iterations < most)
        return;
    wanted = steps_wanted(at);
    if (wanted > (double)most)
        pn_plan_held_back(&at->plan->base, wanted * pn_planned_seconds(at->objective, &at->plan->noise));
}

static void explain_steps(gd_problem *at)
{
    pn_descent *plan = at->plan;
    const gd_constants *of = &at->of;
    bool given = at->common[PN_OPT_ITERATIONS].given;
    size_t most = pn_planned_steps_max(at->objective, &at->plan->noise);
    double L = of->smoothness, time = plan->step.eta * (double)plan->base.iterations / (1.0 - plan->momentum);
    const char *rule = given                                                ? "as given"
                       : plan->base.iterations == most && at->unit > 0.0    ? "as many as 4 s of work allow, estimated"
                       : at->unit == 0.0                                    ? "the default"
                       : of->rule == GD_RULE_CONVEX                         ? "eta T in steps of at most 1/L"
                       : of->rule == GD_RULE_KINKS && given_step(at) == 0.0 ? "where G^2 = p sigma^2"
                                                                            : "the least predicted risk";

    pn_plan_add(&plan->base, "steps T", (double)plan->base.iterations, "%s", rule);
    pn_schedule_explain(&plan->step, &plan->base, "step eta", plan->step.eta, "%s",
                        at->own[GD_STEP].given           ? "as given"
                        : of->rule == GD_RULE_KINKS      ? "D / sqrt(T (G^2 + p sigma^2))"
                        : plan->step.eta >= 0.999999 / L ? "1/L"
                                                         : "time / T, at most 1/L");
    pn_descent_explain_momentum(plan, &at->own[GD_MOMENTUM]);
    if (of->rule == GD_RULE_CONVEX && at->unit > 0.0 && !plan->step.each)
        pn_plan_add(&plan->base, "time eta T", time, "%snoise alone then has deviation %.3g a coordinate",
                    plan->momentum > 0.0 ? "/(1 - beta); " : "",
                    time * (plan->noise.scheme ? plan->noise.sigma / sqrt((double)plan->base.iterations) : at->unit));
    if (isfinite(L))
        pn_first_order_check_step(&plan->base, plan->step.eta, 2.0 / L, "2/L");
    pn_descent_explain_output(plan);
}

static const char *no_bound(const gd_problem *at, double risk)
{
    const pn_descent *plan = at->plan;
    bool plain = at->unit == 0.0;

    if (plan->noise.scheme)
        return PN_BATCH_NO_BOUND;
    if (plan->step.each)
        return PN_SCHEDULE_NO_BOUND;
    if (at->bounds->source == PN_BOUND_CLIPPED)
        return "clipped gradients are those of another function";
    if (plan->problem.composite.extra)
        return "of the term behind prox= only its operator is known";
    if (at->of.rule == GD_RULE_STATIONARY)
        return "f is not convex, or not shown to be: there may be several minima";
    if (at->claimed)
        return "mu is claimed, not certified";
    if (plan->momentum > 0.0)
        return "the theory is about steps without momentum";
    if (at->of.rule != GD_RULE_LINEAR && !isfinite(at->distance))
        return "nothing bounds the distance from the start to the minimiser; a bounded set would";
    if (plan->output != (at->of.rule == GD_RULE_LINEAR || plain ? PN_DESCENT_LAST : PN_DESCENT_AVERAGE))
        return plan->output == PN_DESCENT_LAST ? "the theory is about the average"
                                               : "the theory is about another output";
    return isfinite(risk) ? NULL : "none for a step of that size, or without a bounded set";
}

/* What the same plan would be with another number of steps. */
static void explain_other(gd_problem *at, const char *name, size_t steps)
{
    double T = (double)steps, eta = step_for(at, T), risk = expected_risk(at, T, eta, at->unit * at->unit * T);
    char text[48];

    if (!isfinite(risk)) /* with a step that is too long */
        return;
    (void)snprintf(text, sizeof text, "%.4g", risk);
    pn_plan_add_text(&at->plan->base, name, text, "predicted, with sigma %.4g, %.4g gradients, eta %.4g",
                     at->unit * sqrt(T), T * at->plan->problem.n, eta);
}

/* With weights that grow the distance of every point counts, not only that of the first. */
static double proven_risk(const gd_problem *at)
{
    const pn_descent *plan = at->plan;
    gd_constants of = at->of;

    of.tail = plan->output == PN_DESCENT_AVERAGE ? plan->tail : 0.0;
    of.distance = of.tail > 0.0 ? plan->problem.diameter : at->distance;
    return gd_risk(&of, (double)plan->base.iterations, plan->step.eta, plan->noise.sigma * plan->noise.sigma);
}

static void explain_bound(gd_problem *at)
{
    pn_plan *plan = &at->plan->base;
    double risk = proven_risk(at);

    (void)pn_plan_bounds(plan, risk, no_bound(at, risk), "expected over the noise%s",
                         at->plan->output == PN_DESCENT_AVERAGE && at->plan->tail > 0.0
                             ? "; (1 + tail) D^2/(2 eta (T + tail)) with the diameter as D"
                             : "");
}

static void explain_prediction(gd_problem *at)
{
    pn_descent *plan = at->plan;
    const gd_constants *of = &at->of;
    double T = (double)plan->base.iterations, sigma = pn_gradient_noise_deviation(&plan->noise);

    at->risk = gd_risk(of, T, plan->step.eta, sigma * sigma);
    if (of->rule == GD_RULE_STATIONARY)
        pn_plan_add(&plan->base, "squared gradient", at->risk, "%s: %s", rule_formulas[of->rule],
                    of->proximal ? "4 L gap0/T + 6 p sigma^2 at eta = 1/L" : "2 L gap0/T + p sigma^2 at eta = 1/L");
    else if (isfinite(at->risk)) {
        plan->base.predicted = expected_risk(at, T, plan->step.eta, sigma * sigma);
        if (of->rule == GD_RULE_LINEAR && at->unit > 0.0)
            plan->base.predicted = fmin(plan->base.predicted, at->usual);
        pn_plan_add(&plan->base, "predicted excess", plan->base.predicted, "%s",
                    of->rule != GD_RULE_KINKS && plan->base.predicted < at->risk
                        ? "(D^2/(4 t) + p t sigma^2/(2 T))/3 of the convex rule, D its usual distance"
                        : rule_formulas[of->rule]);
    }
    if (at->unit > 0.0 && !plan->noise.scheme) {
        explain_other(at, "with T/2", (plan->base.iterations + 1) / 2);
        explain_other(at, "with 2 T", 2 * plan->base.iterations);
    }
}

static void explain_risk(gd_problem *at)
{
    pn_descent *plan = at->plan;
    const gd_constants *of = &at->of;
    double T = (double)plan->base.iterations;

    pn_plan_add(&plan->base, "start gap", of->gap, "%s",
                at->gap_guessed ? "of the excess at the start, a guess: G times the distance D"
                                : "bound on the excess of the start, from public numbers");
    if (of->rule == GD_RULE_CONVEX || of->rule == GD_RULE_KINKS)
        pn_plan_add(&plan->base, "distance D", of->distance, "%s",
                    of->distance < at->distance ? "from the start to the minimiser: a guess, at most 4 G/L"
                                                : "from the start to the minimiser, at most");
    pn_plan_set(&plan->base, "iterations", T, true);
    if (!plan->step.each)
        pn_plan_set(&plan->base, "step", plan->step.eta, false);
    pn_plan_add(&plan->base, "gradients", plan->base.gradients, plan->noise.scheme ? "T b" : "T n");
    if (!plan->step.each)
        explain_prediction(at);
    explain_bound(at);
}

/* ---- the plan ---- */

pn_status gd_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    pn_descent *plan = (pn_descent *)base;
    gd_problem *at = &(gd_problem){ .plan = plan,
                                    .objective = base->objective,
                                    .bounds = pn_objective_bounds(base->objective),
                                    .common = common,
                                    .own = own };
    const pn_arg *pl = &at->own[GD_PL];

    PN_TRY(pn_first_order_read(&plan->problem, base->owner, at->objective, &at->common[PN_OPT_START], &at->own[GD_PROX],
                               &at->own[GD_STRONG_CONVEXITY], err));
    PN_TRY(gd_read_noise(at, err));
    PN_TRY(gd_read_constants(at, err));
    PN_TRY(check_smooth(at, err));
    PN_TRY(choose_steps(at, err));
    explain_limit(at);
    pn_first_order_explain(&plan->problem, &plan->base);
    pn_first_order_explain_usual(&plan->problem, &plan->base);
    if (pl->given && pl->real > plan->problem.certified)
        pn_plan_warn(&plan->base,
                     "pl = %g is claimed, certified is %g: predictions rest on the claim, privacy does not", pl->real,
                     plan->problem.certified);
    if (base->request.kind != PN_NONPRIVATE)
        PN_TRY(pn_gradient_noise_wang(&plan->noise, base, common, base->iterations, &own[GD_C], err));
    PN_TRY(pn_gradient_noise_attach(base, &plan->noise, common, err));
    explain_steps(at);
    explain_risk(at);
    return PN_OK;
}
