/* frank_wolfe_choices.c -- noise, number of steps and predicted risk of private Frank-Wolfe over a set whose vertices
 * are made of several private choices: boxes, hypersimplices, products, sums and images.
 * Depends on: frank_wolfe.h, privacy, geometry.  Used by: frank_wolfe_plan.c.
 * Source: Talwar, Thakurta, Zhang (2014), Algorithm 4; Cesar, Rogers (2021) for the composition of choices.
 *
 * All choices of all steps have noise of one scale b (Gumbel).  A step costs rho = Delta2^2/(2 b^2), Delta2^2 the sum
 * over choices of what a record moves their scores by, squared, or epsilon = 2 Delta1/b by the plain sum Delta1
 * (selections.h); a vertex loses at most b c, c the sum over choices of W((K - 1)/e) (choice_loss.h).  Without a delta
 * they are made by permute-and-flip, whose price is the plain sum, too, and whose c is smaller.  So
 *     2 Gamma/(T+2) + b c
 * bounds the expected excess risk.  One scale for all is the exponential mechanism over all vertices at once: the
 * chance of a vertex is proportional to exp(score/b) where its choices do not follow from one another.
 *
 * The other way is Gaussian noise of sigma = Delta_2/sqrt(2 rho) on the gradient and its exact vertex
 * (frank_wolfe_convex).  Over a cube of half side h with gradients bounded in l2, b = h sigma: an entry g of the
 * gradient costs on average 2 h |g|/(1 + exp(2 |g|/sigma)) <= 0.279 h sigma by choice, 2 h |g| P(N(0, 1) > |g|/sigma)
 * <= 0.340 h sigma by Gaussian noise.  Choices also have a pure epsilon. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geometry/width/width.h"
#include "privacy/accounting/calibrate.h"
#include "solvers/engine/work.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

/* ---- the scale of the noise ---- */

/* The cost that one step may have: epsilon of what is charged as pure, else rho; NaN where the budget is too small. */
static double budget_of_step(const pn_request *request, bool pure, size_t steps)
{
    double total;

    if (pure)
        return pn_calibrate_exponential(request->epsilon, request->delta, steps, true, NULL);
    total = request->kind == PN_RHO ? request->rho : pn_zcdp_rho(request->epsilon, request->delta);
    return total / (double)steps * (1.0 - 0x1p-40);
}

/* ---- steps ---- */

typedef struct design {
    pn_selections_options options; /* its law, and b */
    size_t steps, wanted;          /* wanted: if work were no limit */
    double cost, bound, loss;      /* of a step; of the run; c */
} design;

static size_t best_steps(const fw_problem *at, const design *with)
{
    double one = budget_of_step(at->request, with->options.pure, 1), a;

    if (!at->bounded || !(one > 0.0))
        return FW_DEFAULT_STEPS;
    if (with->options.pure && at->request->delta == 0.0) {
        a = 2.0 * with->options.sum / one * with->loss;
        return a > 0.0 ? (size_t)fmin(fmax(round(sqrt(2.0 * at->gamma / a)), 1.0), FW_MAX_STEPS) : FW_DEFAULT_STEPS;
    }
    a = (with->options.pure ? 2.0 * with->options.sum / one : with->options.root / sqrt(2.0 * one)) * with->loss;
    return fw_best_steps(at->gamma, a, FW_DEFAULT_STEPS);
}

/* Of a step, and of what comes before the first. */
static double seconds_of(const fw_problem *at, const pn_question *question, double *first)
{
    *first = at->passes ? 0.0 : at->first_seconds;
    return at->passes ? at->seconds + PN_CHOICE_SECONDS * (double)question->choices->picks + PN_LEVEL_SECONDS * at->k
                      : at->kept_seconds;
}

static pn_status evaluate(design *out, const fw_problem *at, const pn_question *question, const pn_arg *given,
                          pn_err *err)
{
    double first, each = seconds_of(at, question, &first);
    size_t most = fw_steps_within(each, first);

    out->wanted = best_steps(at, out);
    out->steps = given->given ? given->count : out->wanted < most ? out->wanted : most;
    out->cost = budget_of_step(at->request, out->options.pure, out->steps);
    PN_TRY(pn_selections_scale(&out->options.scale, &out->options, out->cost, err));
    out->bound = 2.0 * at->gamma / ((double)out->steps + 2.0) + out->options.scale * out->loss;
    return PN_OK;
}

static bool only_pure(const fw_problem *at)
{
    return at->request->kind != PN_RHO && at->request->delta == 0.0;
}

/* By zCDP, or by the sum of pure epsilons: the smaller bound. */
static pn_status choose(design *out, const fw_problem *at, const pn_question *question, const pn_arg *given,
                        size_t selection, pn_err *err)
{
    design other;

    *out = (design){ .options = question->selections, .loss = question->choices->loss };
    other = *out;
    other.options.pure = true;
    other.options.flips = only_pure(at) && selection != (size_t)PN_SELECT_EXPONENTIAL + 1;
    other.loss = other.options.flips ? question->choices->flip_loss : other.loss;
    if (!only_pure(at))
        PN_TRY(evaluate(out, at, question, given, err));
    if (at->request->kind != PN_RHO) {
        PN_TRY(evaluate(&other, at, question, given, err));
        if (only_pure(at) || !(out->bound <= other.bound))
            *out = other;
    }
    if (!(out->options.scale > 0.0))
        return pn_fail(err, PN_EBUDGET,
                       "the budget is too small for %zu steps of %zu choices; use "
                       "fewer iterations",
                       out->steps, out->options.count);
    return PN_OK;
}

/* ---- explanation ---- */

static void explain_choices(pn_plan *plan, const fw_problem *at, const pn_question *question)
{
    const pn_choices *made = question->choices;

    pn_plan_add(plan, "records n", at->n, "public");
    pn_plan_add(plan, "choices of a step", (double)made->picks,
                "that make a vertex of %s, among %.10g candidates in all", at->set->ops->name, made->candidates);
    fw_explain_gradient(plan, at);
    fw_explain_curvature(plan, at);
    pn_plan_add(plan, "sensitivity l2", question->selections.root,
                "%s record: l2 norm of what it moves the choices' scores by",
                at->request->neighbours == PN_REPLACE_ONE ? "replacing a" : "one");
    pn_plan_add(plan, "sensitivity l1", question->selections.sum, "likewise, l1 norm");
}

/* What Gaussian noise of the same budget on the gradient would lose, by public bounds; +inf where it cannot be had. */
static double gradient_loss(const fw_problem *at, size_t steps)
{
    double rho = budget_of_step(at->request, false, steps), L = at->bounds->lipschitz[PN_L2];
    pn_width width;

    if (!(rho > 0.0) || !isfinite(L) || pn_plan_width_at_most(&width, at->set, NULL) != PN_OK)
        return INFINITY;
    return pn_contributions(at->request->neighbours) * L / at->n / sqrt(2.0 * rho) * width.high;
}

static void explain_noise(pn_plan *plan, const fw_problem *at, const design *made, bool given)
{
    double noise = made->options.scale * made->loss, other = gradient_loss(at, made->steps);
    bool pure = made->options.pure;

    pn_plan_add(plan, "steps T", (double)made->steps, "%s",
                given                        ? "as given"
                : made->steps < made->wanted ? "as many as about 4 s of work allow"
                : !at->bounded               ? "the default, since there is no risk bound to minimise"
                                             : "minimises the risk bound");
    pn_plan_add_text(plan, "selection", made->options.flips ? "permute_and_flip" : "exponential",
                     "one scale for all choices of a step, which are charged together");
    pn_plan_add(plan, pure ? "epsilon per step" : "rho per step", made->cost,
                pure ? "2 (sensitivity l1)/beta, rounding included" : "(sensitivity l2/beta)^2/2, rounding included");
    pn_plan_add(plan, made->options.flips ? "noise scale" : "Gumbel scale beta", made->options.scale,
                "of every score <v, gradient>");
    if (at->bounded && fw_is_standard(at))
        pn_plan_add(plan, "risk from steps", 2.0 * at->gamma / ((double)made->steps + 2.0), "2 Gamma / (T + 2)");
    pn_plan_add(plan, "risk from noise", noise, "scale x sum over choices of %s, K candidates",
                made->options.flips ? "max_p ln(1/p) (1 - (1 - (1-p)^K)/(K p))" : "W((K - 1)/e)");
    fw_explain_lag(plan, at);
    (void)pn_plan_bounds(plan, made->bound + at->lag, fw_no_bound(at), "expected, over the noise; sum of %s",
                         at->lag > 0.0 ? "the three" : "the two");
    if (other < noise)
        pn_plan_add_text(plan, "smaller noise", "frank_wolfe_convex",
                         "at most %.4g at as many steps, from noise of the gradient", other);
}

/* ---- the plan ---- */

static pn_status check(const fw_problem *at, const pn_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    const char *set = at->set->ops->name;
    size_t selection = own[FW_SELECTION].count;

    PN_TRY(pn_request_need_n(at->request, plan->owner, err));
    if (selection == (size_t)PN_SELECT_LAPLACE + 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "selection=\"laplace\" is for a list of vertices; over %s leave it out, or say \"exponential\"",
                       set);
    if (selection == (size_t)PN_SELECT_PERMUTE_AND_FLIP + 1 && !only_pure(at))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "selection=\"permute_and_flip\" over %s needs a pure epsilon; give epsilon without delta, or "
                       "leave selection out",
                       set);
    if (own[FW_PRESET].given && own[FW_PRESET].count == FW_PRACTICAL)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "preset=\"practical\" is for a list of vertices; over %s the steps are those that minimise the "
                       "risk bound: leave preset out, or say \"theory\"",
                       set);
    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        return pn_fail(err, PN_EUNSUPPORTED, "calibration=\"paper\" is for a list of vertices; over %s leave it out",
                       set);
    return PN_OK;
}

pn_status fw_plan_choices(fw_plan *plan, fw_problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    const pn_arg *given = &common[PN_OPT_ITERATIONS];
    pn_question *question;
    double first;
    design made;
    bool kept;

    PN_TRY(check(at, &plan->base, common, own, err));
    PN_TRY(pn_plan_ask(&question, &plan->base, &pn_question_choices, err));
    PN_TRY(pn_question_certify(question, err));
    plan->several = true;
    at->k = question->choices->candidates;
    at->seconds = pn_quiet_pass_seconds(at->objective);
    PN_TRY(fw_read_kept(at, question, own, err));
    PN_TRY(choose(&made, at, question, given, own[FW_SELECTION].count, err));
    if (!at->passes && !at->asked && !fw_keeps(at, question, PN_SELECT_EXPONENTIAL, made.steps)) {
        at->passes = true;
        PN_TRY(choose(&made, at, question, given, own[FW_SELECTION].count, err));
    }
    plan->base.iterations = made.steps;
    plan->base.proven = true;
    pn_plan_work(&plan->base, seconds_of(at, question, &first), given->given ? 0.0 : (double)made.wanted);
    plan->base.seconds += first;
    explain_choices(&plan->base, at, question);
    explain_noise(&plan->base, at, &made, given->given);
    question->selections = made.options;
    PN_TRY(fw_keep(plan, at, question, made.steps, &kept, err));
    PN_TRY(pn_question_price(question, err));
    plan->base.event = pn_event_keep(question->event);
    return PN_OK;
}
