/* frank_wolfe_plan.c -- noise, number of steps and predicted risk of private Frank-Wolfe on a polytope.
 * Depends on: frank_wolfe.h, privacy, geometry.  Used by: frank_wolfe.c.
 * Source: Talwar, Thakurta, Zhang (2014), Algorithm 4, corrected as stated beside each number.
 *
 * With k vertices, score sensitivity Delta, curvature Gamma and T steps of size 2/(t+2) the expected excess risk is at
 * most 2 Gamma/(T+2) + (2 Delta/eps0) c(k), where eps0 is the budget of one selection and c(k) belongs to the selection
 * law. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "privacy/accounting/calibrate.h"
#include "solvers/engine/work.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

static const char *const selections[] = { "best", "exponential", "permute_and_flip", "laplace", NULL };

const pn_param fw_params[] = {
    { "selection", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, selections,
      "law of the private choice; best: the smallest risk bound" },
    FW_STEP_PARAM,
    FW_PRESET_PARAM,
    { "gradient", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, fw_gradients,
      "exact: computed from all records at every step, or for the squared loss kept exactly; linearised: kept from "
      "step to step, with tangents for slopes (l1_ball, simplex and their products, sparse records); stale: kept with "
      "old slopes, for comparison, without a risk bound" },
    { "kappa", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.1, NULL,
      "with gradient=\"linearised\": how far a margin may move before its tangent is renewed" },
    PN_PARAM_END,
};

static pn_status check_problem(const pn_plan *plan, const fw_problem *at, pn_err *err)
{
    PN_TRY(pn_request_need_n(at->request, plan->owner, err));
    if (!isfinite(at->bounds->reg.gradient))
        return pn_fail(err, PN_EUNSUPPORTED, "the gradient of the regulariser is not bounded: %s",
                       at->bounds->reg.missing);
    return PN_OK;
}

/* ---- the three laws ---- */

static double harmonic(double k)
{
    double sum = 0.0;

    if (k > 1e6)
        return log(k) + 0.57721566490153286 + 0.5 / k;
    for (double i = 1.0; i <= k; i += 1.0)
        sum += 1.0 / i;
    return sum;
}

/* E e_t <= scale * c(k) with scale = 2 Delta / eps0. */
static double law_constant(pn_selection law, double k)
{
    switch (law) {
    case PN_SELECT_EXPONENTIAL:
        return log(k);
    case PN_SELECT_PERMUTE_AND_FLIP:
        return harmonic(k) - 1.0;
    case PN_SELECT_LAPLACE:
        return 1.0 + log(k);
    }
    return INFINITY;
}

/* Budget of one of `count` selections. */
static double budget_of_one(const fw_problem *at, pn_selection law, size_t count)
{
    bool bounded_range = law == PN_SELECT_EXPONENTIAL;

    if (at->request->kind == PN_RHO)
        return sqrt((bounded_range ? 8.0 : 2.0) * at->request->rho / (double)count);
    return pn_calibrate_exponential(at->request->epsilon, at->request->delta, count, bounded_range, NULL);
}

static bool is_pure(const fw_problem *at)
{
    return at->request->kind == PN_EPSILON_DELTA && at->request->delta == 0.0;
}

/* Scale at T = 1 times c(k), before calibration is refined. */
static double noise_of_one_step(const fw_problem *at, pn_selection law)
{
    const pn_request *request = at->request;
    double one = request->epsilon;

    if (!is_pure(at))
        one = sqrt((law == PN_SELECT_EXPONENTIAL ? 8.0 : 2.0) *
                   (request->kind == PN_RHO ? request->rho : pn_zcdp_rho(request->epsilon, request->delta)));
    return 2.0 * at->delta_q * law_constant(law, at->k) / one;
}

/* The number of steps that minimises the bound: for a zCDP budget T = (4 Gamma/a)^(2/3); for pure epsilon the scale
 * grows like T and T = sqrt(2 Gamma/a). */
static size_t best_steps(const fw_problem *at, pn_selection law)
{
    double a = noise_of_one_step(at, law);

    if (!is_pure(at))
        return fw_best_steps(at->gamma, a, FW_DEFAULT_STEPS);
    return (size_t)fmin(fmax(round(a > 0.0 ? sqrt(2.0 * at->gamma / a) : FW_DEFAULT_STEPS), 1.0), FW_MAX_STEPS);
}

static size_t default_steps(const fw_problem *at, pn_selection law)
{
    size_t best = best_steps(at, law);

    return is_pure(at) ? best : fw_practical_steps(at, noise_of_one_step(at, law), best);
}

typedef struct choice {
    pn_selection law;
    size_t steps, wanted; /* wanted: if work were no limit */
    double epsilon;       /* of one selection */
    double bound;
    size_t best; /* steps that minimise the bound, and their noise at T = 1; 0: as given */
    double one;
} choice;

/* Seconds of a step, and of what comes before the first. */
static double seconds_of(const fw_problem *at, pn_selection law, double *first)
{
    bool levels = law != PN_SELECT_LAPLACE, kept = levels && !at->passes;

    *first = kept ? at->first_seconds : 0.0;
    return kept ? at->kept_seconds : at->seconds + (levels ? PN_LEVEL_SECONDS : PN_VERTEX_SECONDS) * at->k;
}

static size_t within_work(const fw_problem *at, pn_selection law, size_t steps)
{
    double first, each = seconds_of(at, law, &first);
    size_t most = fw_steps_within(each, first);

    return steps < most ? steps : most;
}

static choice evaluate_law(const fw_problem *at, pn_selection law, size_t fixed_steps)
{
    choice made = { .law = law, .steps = fixed_steps ? fixed_steps : within_work(at, law, best_steps(at, law)) };

    made.epsilon = budget_of_one(at, law, made.steps); /* NaN, where a budget is too small, stays */
    if (made.epsilon > PN_SELECTION_EPSILON_MAX)
        made.epsilon = PN_SELECTION_EPSILON_MAX;
    made.bound =
        2.0 * at->gamma / ((double)made.steps + 2.0) + 2.0 * at->delta_q / made.epsilon * law_constant(law, at->k);
    return made;
}

static choice choose_law(const fw_problem *at, size_t selection, size_t fixed_steps)
{
    choice best = { .law = PN_SELECT_EXPONENTIAL, .steps = 1, .bound = INFINITY };

    for (int law = PN_SELECT_EXPONENTIAL; law <= PN_SELECT_LAPLACE; law++) {
        choice candidate;

        if (selection != 0 && selection != (size_t)law + 1)
            continue;
        candidate = evaluate_law(at, (pn_selection)law, fixed_steps);
        if (candidate.bound < best.bound || selection != 0)
            best = candidate;
    }
    return best;
}

/* The steps by the law of the least bound, then the law for that many. */
static choice choose_tight(const fw_problem *at, size_t selection, size_t fixed_steps)
{
    choice theory = choose_law(at, selection, fixed_steps), made = theory;

    if (fixed_steps)
        return made;
    theory.wanted = default_steps(at, theory.law);
    if (within_work(at, theory.law, theory.wanted) != theory.steps)
        made = choose_law(at, selection, within_work(at, theory.law, theory.wanted));
    made.wanted = theory.wanted;
    made.best = best_steps(at, theory.law);
    made.one = noise_of_one_step(at, theory.law);
    return made;
}

static size_t article_steps(const fw_problem *at)
{
    double article_sensitivity = at->delta_q / pn_contributions(at->request->neighbours);
    double steps = pow(at->gamma * at->request->epsilon / article_sensitivity, 2.0 / 3.0);

    return (size_t)fmin(fmax(round(steps), 1.0), FW_MAX_STEPS);
}

/* The article: Laplace noise of scale L1 C1 sqrt(8 T ln(1/delta)) / (n epsilon),
 * T = (Gamma n epsilon / (L1 C1))^(2/3). */
static choice choose_paper(const fw_problem *at, size_t fixed_steps)
{
    const pn_request *request = at->request;
    double article_sensitivity = at->delta_q / pn_contributions(request->neighbours);
    choice made = { .law = PN_SELECT_LAPLACE, .steps = fixed_steps, .wanted = article_steps(at) };
    double scale;

    if (!fixed_steps)
        made.steps = within_work(at, made.law, made.wanted);
    scale = article_sensitivity * sqrt(8.0 * (double)made.steps * log(1.0 / request->delta)) / request->epsilon;
    made.epsilon = 2.0 * at->delta_q / scale;
    made.bound = 2.0 * at->gamma / ((double)made.steps + 2.0) + scale * law_constant(made.law, at->k);
    return made;
}

static pn_status check_paper(const pn_plan *plan, const pn_arg *common, size_t selection, pn_err *err)
{
    PN_TRY(pn_gradient_noise_check(plan, common, err));
    if (selection != 0 && selection != (size_t)PN_SELECT_LAPLACE + 1)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "calibration=\"paper\" is Laplace noise; leave selection out or \"laplace\"");
    return PN_OK;
}

/* ---- whether it pays ---- */

/* Where one choice has more noise than a vertex gains, runs kept within 3 % of the start's risk (a9a within 14 %) and
 * reached a few per cent of what the set allows; where it has a quarter, a tenth to all of that.  Looked for on a9a,
 * ijcnn1, reuters and five synthetic sparse problems, n = 1000 to 50,000, p = 22 to 20,000, epsilon 0.03 to 30, radius
 * 1 to 50, the default steps and a sixteenth of them. */
#define PAYS 0.25

/* Slopes are taken to spread over all coordinates: the largest of k normal scores of deviation ||v|| G/sqrt(p),
 * at most the largest score. */
static double gain_of_vertex(const fw_problem *at)
{
    double spread = at->set->ops->atom_radius(at->set, PN_L2) * at->bounds->lipschitz[PN_L2];
    double most = at->delta_q * at->n / pn_contributions(at->request->neighbours);

    return isfinite(spread) ? fmin(most, spread * sqrt(fmin(1.0, 2.0 * log(at->k) / (double)at->set->dim))) : most;
}

static double noise_of_choice(const fw_problem *at, const choice *made)
{
    return 2.0 * at->delta_q / made->epsilon * law_constant(made->law, at->k);
}

static bool pays_at(const fw_problem *at, double budget, size_t selection, size_t fixed_steps)
{
    pn_request request = *at->request;
    fw_problem with = *at;
    choice made;

    *(request.kind == PN_RHO ? &request.rho : &request.epsilon) = budget;
    with.request = &request;
    made = choose_tight(&with, selection, fixed_steps);
    return noise_of_choice(&with, &made) <= PAYS * gain_of_vertex(&with);
}

/* The epsilon, or rho, at which choices find their way, to 2 %: each half of the ratio's logarithm is asked whether it
 * has it, 16 times at most.  The request's own is too small. */
static double budget_that_pays(const fw_problem *at, size_t selection, size_t fixed_steps)
{
    double low = at->request->kind == PN_RHO ? at->request->rho : at->request->epsilon, high = fmax(2.0 * low, 1e6);

    while (high > 1.02 * low) {
        double middle = sqrt(low) * sqrt(high);

        *(pays_at(at, middle, selection, fixed_steps) ? &high : &low) = middle;
    }
    return high;
}

static void warn_of_noise(pn_plan *plan, const fw_problem *at, const choice *made, size_t selection, size_t fixed_steps)
{
    double noise = noise_of_choice(at, made), gain = gain_of_vertex(at);
    char instead[96] = "";

    if (!(noise > gain))
        return;
    if (fw_descent_pays(at))
        (void)snprintf(instead, sizeof instead, "solve.gradient_descent over l2_ball{radius=%.3g}, or ",
                       at->set->ops->atom_radius(at->set, PN_L2));
    pn_plan_warn_hopeless(
        plan,
        "choices are mostly noise: %.3g against the %.3g that a vertex gains when slopes spread over %zu "
        "coordinates; expect little better than the start. Take %s%s >= %.3g",
        noise, gain, at->set->dim, instead, at->request->kind == PN_RHO ? "rho" : "epsilon",
        budget_that_pays(at, selection, fixed_steps));
}

/* ---- the plan ---- */

static void explain_problem(pn_plan *plan, const fw_problem *at)
{
    double per_record = at->delta_q / pn_contributions(at->request->neighbours) * at->n;

    pn_plan_add(plan, "records n", at->n, "public");
    pn_plan_add(plan, "vertices k", at->k, "of %s", at->set->ops->name);
    fw_explain_gradient(plan, at);
    fw_explain_curvature(plan, at);
    pn_plan_add(plan, "sensitivity Delta", at->delta_q, "%s %.4g/n of every score <v, gradient>",
                at->request->neighbours == PN_REPLACE_ONE ? "2 x" : "1 x", per_record);
}

static void explain_choice(pn_plan *plan, const fw_problem *at, const choice *made, bool paper, bool fixed_steps)
{
    static const char *const constants[] = { "ln k", "H_k - 1", "1 + ln k" };
    double scale = 2.0 * at->delta_q / made->epsilon;
    bool practical = made->wanted < made->best;
    const char *rule = fixed_steps                  ? "as given"
                       : made->steps < made->wanted ? "as many as about 4 s of work allow"
                       : !at->bounded               ? "the default, since there is no risk bound to minimise"
                       : paper                      ? "(Gamma n epsilon / (L1 C1))^(2/3), the article's"
                       : practical                  ? FW_PRACTICAL_RULE
                       : is_pure(at)                ? "sqrt(Gamma epsilon / (Delta c(k))), minimises the risk bound"
                                     : "(4 Gamma / (scale at T=1 x c(k)))^(2/3), minimises the risk bound";

    pn_plan_add(plan, "steps T", (double)made->steps, "%s", rule);
    pn_plan_add_text(plan, "selection", pn_selection_names[made->law],
                     "noise scale x c(k), c(k) = %s, bounds each loss", constants[made->law]);
    pn_plan_add(plan, "epsilon per step", made->epsilon,
                paper                         ? "2 Delta / scale"
                : at->request->kind == PN_RHO ? "%s"
                                              : "largest whose T-fold composition is covered",
                made->law == PN_SELECT_EXPONENTIAL ? "sqrt(8 rho / T): bounded range" : "sqrt(2 rho / T)");
    pn_plan_add(plan, made->law == PN_SELECT_EXPONENTIAL ? "Gumbel scale beta" : "noise scale", scale,
                "2 Delta / epsilon per step%s", paper ? " = L1 C1 sqrt(8 T ln(1/delta)) / (n epsilon)" : "");
    if (at->bounded && fw_is_standard(at))
        pn_plan_add(plan, "risk from steps", 2.0 * at->gamma / ((double)made->steps + 2.0), "2 Gamma / (T + 2)");
    pn_plan_add(plan, "risk from noise", scale * law_constant(made->law, at->k), "scale x c(k)");
    fw_explain_lag(plan, at);
    (void)pn_plan_bounds(plan, made->bound + at->lag, fw_no_bound(at), "expected, over the noise; sum of %s",
                         at->lag > 0.0 ? "the three" : "the two");
    if (practical)
        fw_explain_theory(plan, at, made->one, made->best);
}

/* Where no bound tells which law is best. */
static pn_selection usual_law(const fw_problem *at, bool paper, size_t selection)
{
    if (paper)
        return PN_SELECT_LAPLACE;
    return selection ? (pn_selection)(selection - 1) : is_pure(at) ? PN_SELECT_PERMUTE_AND_FLIP : PN_SELECT_EXPONENTIAL;
}

static void explain_lattice(pn_plan *plan, const pn_selection_options *selection)
{
    pn_plan_add(plan, "score lattice", pn_selection_unit(selection),
                "scores are floored to this unit; rounding is in the charge");
}

/* Law and steps; of a gradient that is kept, where so many steps can be. */
static choice choose(fw_problem *at, const pn_question *vertex, bool paper, size_t selection, size_t given)
{
    size_t fixed = given || at->bounded ? given : within_work(at, usual_law(at, paper, selection), FW_DEFAULT_STEPS);
    choice made = paper ? choose_paper(at, fixed) : choose_tight(at, selection, fixed);

    if (at->passes || at->asked || fw_keeps(at, vertex, made.law, made.steps))
        return made;
    at->passes = true;
    return choose(at, vertex, paper, selection, given);
}

static pn_status plan_private(fw_plan *plan, fw_problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    bool paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0;
    size_t given = common[PN_OPT_ITERATIONS].given ? common[PN_OPT_ITERATIONS].count : 0;
    size_t selection = own[FW_SELECTION].count;
    pn_question *vertex = &plan->base.questions[0];
    double each, first;
    bool kept;
    choice made;

    if (paper)
        PN_TRY(check_paper(&plan->base, common, selection, err));
    made = choose(at, vertex, paper, selection, given);
    if (!(made.epsilon >= 0x1p-39))
        return pn_fail(err, PN_EBUDGET, "the budget is too small for %zu steps; use fewer iterations", made.steps);
    plan->base.iterations = made.steps;
    plan->base.proven = !paper;
    made.wanted = at->bounded || given ? made.wanted : FW_DEFAULT_STEPS;
    each = seconds_of(at, made.law, &first);
    pn_plan_work(&plan->base, each, given ? 0.0 : (double)made.wanted);
    plan->base.seconds += first;
    explain_problem(&plan->base, at);
    vertex->selection.law = made.law;
    vertex->selection.epsilon = made.epsilon;
    if (!paper)
        warn_of_noise(&plan->base, at, &made, selection, given || at->bounded ? given : made.steps);
    explain_choice(&plan->base, at, &made, paper, given != 0);
    PN_TRY(fw_keep(plan, at, vertex, made.steps, &kept, err));
    if (!kept)
        explain_lattice(&plan->base, &vertex->selection);
    if (paper)
        pn_plan_warn(&plan->base,
                     "the article's (epsilon, delta) claim is unproven under %s; the cost above is what is proven",
                     pn_neighbours_names[at->request->neighbours]);
    PN_TRY(pn_question_price(vertex, err));
    plan->base.event = pn_event_keep(vertex->event);
    return PN_OK;
}

static pn_status measure_scores(fw_plan *plan, fw_problem *at, pn_err *err)
{
    pn_question *vertex;

    PN_TRY(check_problem(&plan->base, at, err));
    PN_TRY(pn_plan_ask(&vertex, &plan->base, &pn_question_vertex, err));
    PN_TRY(pn_question_certify(vertex, err));
    at->k = (double)vertex->dim;
    at->delta_q = vertex->selection.sensitivity;
    at->seconds = pn_quiet_pass_seconds(at->objective);
    if (at->delta_q < 0x1p-900 || (at->delta_q > 0x1p900 && isfinite(at->delta_q)))
        return pn_fail(err, PN_EUNSUPPORTED,
                       "one record moves scores by at most %g, and noise is drawn for 2^-900 to 2^900; scale "
                       "the set, or the loss",
                       at->delta_q);
    return PN_OK;
}

pn_status fw_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    fw_plan *plan = (fw_plan *)base;
    fw_problem at;

    PN_TRY(fw_read(&at, base, &common[PN_OPT_START], &own[FW_STEP], err));
    if (base->request.kind == PN_NONPRIVATE) {
        fw_plan_nonprivate(plan, &at, common);
    } else if (!pn_set_is_polytope(at.set)) {
        PN_TRY(fw_plan_choices(plan, &at, common, own, err));
    } else {
        PN_TRY(measure_scores(plan, &at, err));
        PN_TRY(fw_read_kept(&at, &base->questions[0], own, err));
        PN_TRY(fw_read_preset(&at, base, &own[FW_PRESET], common, err));
        PN_TRY(plan_private(plan, &at, common, own, err));
    }
    base->gradients = at.n * (double)base->iterations;
    return fw_choose_step(plan, &at, err);
}
