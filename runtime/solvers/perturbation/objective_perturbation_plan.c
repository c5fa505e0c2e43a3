/* objective_perturbation_plan.c -- noise, quadratic term, tolerance and predicted risk of objective perturbation.
 * Depends on: objective_perturbation.h, oracle, privacy, geometry.  Used by: objective_perturbation.c.
 * Source: perturbation.md section 3, beside each number.
 *
 * Everything is in sums over records: Lam is n times the zeta of the mean form.  Of the total mu^2-like cost the
 * answer's noise gets the share 1 - split: both releases are charged by one loss distribution, or one Renyi curve where
 * other charges add to theirs, which costs less than giving each a part of epsilon and delta. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/blas.h"
#include "numeric/root.h"
#include "privacy/accounting/calibrate_program.h"
#include "privacy/event/perturbed_objective.h"
#include "solvers/perturbation/objective_perturbation.h"

const pn_param op_params[] = {
    { "lambda", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "weight of the added term lambda/2 ||theta - start||^2 in the mean objective; by default what the risk bound "
      "favours" },
    { "split", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL,
      "share of the squared noise ratios that the objective's linear term gets, the answer's noise has the rest; by "
      "default what their risk favours, at most 0.999" },
    { "tolerance", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "certified excess of the sum that is minimised; by default 2^-40 of its scale" },
    { "approximate", PN_FLAG, PN_OPTIONAL, PN_ANY, 1.0, NULL,
      "false: no noise on the answer, exact up to rounding, which is not private: simulated runs only" },
    { "unproven", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "true: take calibration=\"paper\" although its claim does not hold" },
    { "accountant", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_accountant_names,
      "pld: least noise, charged as a whole; rdp: adds up with a ledger's other charges.  Default: pld, but rdp with "
      "ledger= or rho=" },
    PN_WIDTH_PARAM(" and the default lambda"),
    PN_PARAM_END,
};

/* ---- the noise that a budget allows ---- */

typedef struct search {
    const op_problem *at;
    op_choice *made;
    bool failed; /* to make an event, whatever the noise */
} search;

/* What both releases cost at s = 1/x: a pn_program. */
static pn_status both_events(void *self, double x, pn_event **event, size_t *count, pn_err *err)
{
    search *by = self;

    *count = 1;
    by->failed = true;
    PN_TRY(op_follow(by->at, 1.0 / x, by->made, err));
    PN_TRY(pn_perturbation_event(event, &by->made->noise, err));
    by->failed = false;
    return PN_OK;
}

/* An s that the objective alone could have: no less than what both together can. */
static double most_s(const op_problem *at, double jacobian)
{
    const pn_request *request = at->request;
    double left = request->rho - jacobian;

    if (request->kind == PN_EPSILON_DELTA)
        return pn_perturbed_s(request->epsilon, request->delta, jacobian, at->rank);
    return left > 0.0 ? left / (at->rank == 1 ? 0.7978845608 : 1.2533141373) : 0.0;
}

/* The largest s that the budget covers, priced by `accountant`. */
static pn_status calibrate(const op_problem *at, const char *accountant, op_choice *made, pn_err *err)
{
    pn_run_budget budget = pn_request_budget(at->request, at->owner, accountant);
    search by = { at, made, false };
    pn_program program = { both_events, &by };
    double x = NAN;
    pn_status status = PN_EUNSUPPORTED;

    if (most_s(at, made->jacobian) > 0.0)
        status = pn_calibrate_run(&x, NULL, &budget, &program, err);
    if (status == PN_EUNSUPPORTED && !by.failed)
        return pn_fail(
            err, PN_EBUDGET,
            "the budget is too small for lambda = %.4g: ln(1 + beta/Lam) = %.4g alone is of its size; give a "
            "larger lambda",
            made->weight / at->n, made->jacobian);
    return status == PN_OK ? op_follow(at, 1.0 / x, made, err) : status;
}

/* ---- the quadratic term ---- */

static double slope_of_mean(const op_problem *at)
{
    return at->lipschitz + at->bounds->reg.gradient * sqrt(at->p);
}

typedef struct risk {
    const op_problem *at;
    double width; /* of the set */
    /* over a set: risk of the answer's noise, times s and the strong convexity; with the gap, the root of it */
    double answer;
    double radius; /* that the quadratic term is charged for */
} risk;

/* Over a set: sigma G + (Lam/2) reach^2, a bound on the excess of the sum.  On R^p nothing bounds the minimum, and the
 * same trade is made with the noise's worth where only Lam holds it, sigma^2 p/(2 Lam), against a minimum at a distance
 * of 4 L/beta.  L/beta is the margin over which the slope of a loss changes by its bound, and records are seldom
 * aligned with theta; the 4 was looked for on ijcnn1 and covtype, where half and twice of it cost little. */
#define DISTANCE 4.0

/* Of the noise on the answer, of the sum, on R^p: it is 2^-20 of how far the minimum may be at least,
 * which a small Lam lets be far. */
static double risk_of_answer(const op_problem *at, double weight, double s)
{
    op_choice made;

    op_begin(at, weight, &made);
    return op_follow(at, s, &made, NULL) == PN_OK ? 0.5 * at->n * at->beta * made.noise.sigma_out * made.noise.sigma_out
                                                  : 0.0; /* what fails is said of the weight that is chosen */
}

static double risk_of(void *self, double log_strong)
{
    const risk *by = self;
    const op_problem *at = by->at;
    double strong = exp(log_strong), s = most_s(at, log1p(at->beta / strong)), sigma = at->sensitivity / s;
    double weight = fmax(strong - at->regular, 0.0);

    if (!(s > 0.0))
        return INFINITY;
    if (at->set)
        return sigma * by->width + 0.5 * weight * by->radius * by->radius +
               by->answer / (s * (at->by_gap ? sqrt(strong) : strong));
    return sigma * sigma * at->p / (2.0 * strong) + 0.5 * weight * by->radius * by->radius +
           risk_of_answer(at, weight, s);
}

static double best_weight(const op_problem *at, double width)
{
    const pn_request *request = at->request;
    double budget = request->kind == PN_RHO ? request->rho : request->epsilon;
    double least = fmax(at->beta / expm1(fmin(0.98 * budget, 700.0)), at->n * at->lipschitz * 0x1p-60);
    risk by = { at, width, 0.0, at->set ? at->reach : at->beta > 0.0 ? DISTANCE * at->lipschitz / at->beta : 1.0 };
    double low = log(fmax(least, at->regular)), weight;

    /* sigma_o = 2a / (s/3), n sqrt(p) slope a unit; a = sqrt(2 tau/Lam) at the least tau, or 2^-40 n L/Lam */
    if (at->set)
        by.answer = 6.0 * sqrt(at->p) * at->n * slope_of_mean(at) *
                    (at->by_gap ? sqrt(0x1p-39 * at->n * at->lipschitz * at->set->ops->diameter(at->set, PN_L2))
                                : 0x1p-40 * at->n * at->lipschitz);
    weight = exp(pn_golden_min(risk_of, &by, low, low + 60.0, 1e-3)) - at->regular;
    return weight > 1e-6 * at->regular ? weight : 0.0;
}

/* ---- the answer's share ---- */

/* What both noises may cost in the mean objective.  On R^p by its curvature, beta in all, as if spread evenly: a shift
 * b/n of its slope costs (sigma/n)^2 p^2/(2 beta), noise on the answer beta sigma_o^2/2. */
static double noise_risk(const op_problem *at, const op_choice *made, double width)
{
    double b = made->noise.sigma / at->n, answer = made->noise.sigma_out;

    return at->set ? b * width + answer * sqrt(at->p) * slope_of_mean(at)
                   : b * b * at->p * at->p / (2.0 * at->beta) + at->beta * answer * answer / 2.0;
}

/* The offset shows over a set, by the gap above all, and where epsilon is large, so the share of the noise that hides
 * it is chosen by its risk; by Renyi curves, which take a thousandth of the time. */
static pn_status choose_split(op_problem *at, double width, op_choice *made, pn_err *err)
{
    static const double shares[] = { 0.99, 0.97, 0.93, 0.87, 0.8, 0.7, 0.6, 0.5 };
    pn_status status = calibrate(at, "rdp", made, err);
    op_choice other = *made;

    for (size_t i = 0; status == PN_OK && i < sizeof shares / sizeof shares[0]; i++) {
        double before = at->split;

        at->split = shares[i];
        status = calibrate(at, "rdp", &other, err);
        if (status == PN_OK && !(noise_risk(at, &other, width) < noise_risk(at, made, width))) {
            at->split = before;
            break;
        }
        *made = other;
    }
    return status;
}

/* ---- the plan ---- */

static void explain_problem(pn_plan *plan, const op_problem *at)
{
    const bool replaces = at->request->neighbours == PN_REPLACE_ONE;

    pn_plan_add(plan, "records n", at->n, "public");
    pn_plan_add(plan, "Lipschitz L", at->lipschitz, "l2 norm of one record's gradient, %s",
                at->bounds->source == PN_BOUND_CLIPPED ? "enforced: the loss goes on in a straight line beyond"
                                                       : "certified");
    pn_plan_add(plan, "curvature beta", at->beta, "max l'' x (record bound)^2, certified");
    pn_plan_add(plan, "sensitivity", at->sensitivity, "%s of the sum of gradients", replaces ? "2 L" : "L");
}

static void explain_choice(pn_plan *plan, const op_problem *at, const op_choice *made, const char *rule, bool paper)
{
    pn_plan_add(plan, "lambda = Lam/n", made->weight / at->n, "%s", rule);
    pn_plan_add(plan, "Jacobian Jl", made->jacobian, "ln(1 + beta/Lam)%s",
                at->regular > 0.0 ? ", Lam with the regulariser's strong convexity" : "");
    if (paper)
        pn_plan_add(plan, "noise ratio s", made->s, "sensitivity/sigma, sigma = L sqrt(2 ln(1/delta))/epsilon");
    else
        pn_plan_add(plan, "noise ratio s", made->s,
                    "largest whose cost, Jl + s^2/2 + s chi_%d and the answer's noise together, is covered, by %s",
                    at->rank,
                    at->whole                     ? "its privacy loss distribution"
                    : at->request->kind == PN_RHO ? "its zCDP"
                                                  : "its Renyi curve");
    pn_plan_add(plan, "std of b, sigma/n", made->noise.sigma / at->n,
                "sensitivity / (s n), of the linear term <b, theta>");
    pn_plan_add(plan, "tolerance tau", made->tau,
                at->by_gap ? "certified by the Frank-Wolfe gap of the sum"
                : at->set  ? "certified by ||gradient + normal of the set||^2 / (2 Lam) of the sum"
                           : "certified by ||gradient||^2 / (2 Lam) of the sum");
    pn_plan_add(plan, "offset a", made->noise.offset, "sqrt(2 tau/Lam), from the exact minimum");
    if (made->noise.sigma_out > 0.0)
        pn_plan_add(plan, "answer noise", made->noise.sigma_out,
                    "std sigma_o, hides 2 (a + sqrt(p) 2^-41 sigma/Lam); mu_o = %.3g of s = %.3g",
                    pn_perturbation_masked(&made->noise) / made->noise.sigma_out, made->s);
}

/* (sigma/n) G_C + (lambda/2) max ||theta - start||^2, and what stopping early and the answer's noise may add. */
static void explain_risk(pn_plan *plan, const op_problem *at, const op_choice *made, double width)
{
    double answer = made->tau / at->n + made->noise.sigma_out * sqrt(at->p) * slope_of_mean(at);
    double noise = made->noise.sigma / at->n * width, weight = 0.5 * made->weight / at->n * at->reach * at->reach;
    const char *none = !at->set            ? "without a set nothing bounds the distance to the minimum"
                       : !isfinite(answer) ? "the regulariser has no slope bound"
                       : at->bounds->source == PN_BOUND_CLIPPED ? "clipped gradients are not those of f"
                                                                : NULL;

    if (at->set) {
        pn_plan_add(plan, "risk from b", noise, "(sigma/n) x Gaussian width %.6g", width);
        pn_plan_add(plan, "risk from lambda", weight, "(lambda/2) max ||theta - start||^2, at most %.4g^2", at->reach);
    }
    if (!none)
        pn_plan_add(plan, "risk from the end", answer, "tau/n + sigma_o sqrt(p) x slope of f");
    (void)pn_plan_bounds(plan, noise + weight + answer, none, "expected, over the noise; sum of the three");
}

/* The Gaussian width of the set, from above. */
static pn_status measure_width(const op_problem *at, const pn_arg *how, double *width, pn_err *err)
{
    pn_width found = { .high = NAN };

    PN_TRY(at->set ? pn_plan_width(&found, at->set, how, at->request->task, err) : PN_OK);
    *width = found.high;
    return PN_OK;
}

/* The article's constants: zeta = 2 lambda_max/(n epsilon), b ~ N(0, 2 L^2 ln(1/delta)/(n epsilon)^2). */
static pn_status choose_paper(const op_problem *at, const pn_arg *own, op_choice *made, pn_err *err)
{
    const pn_request *request = at->request;
    double sigma;

    if (!own[OP_UNPROVEN].flag)
        return pn_fail(
            err, PN_EPRIVACY,
            "calibration=\"paper\" is not (epsilon, delta)-DP for replaced records (its noise is too small by half "
            "and more); to run it all the same, at its real cost, give unproven=true");
    if (request->kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED, "calibration=\"paper\" is stated for epsilon and delta; give both");
    op_begin(at, fmax(2.0 * at->beta / request->epsilon - at->regular, 0.0), made);
    if (!(made->strong > 0.0))
        return pn_fail(err, PN_EUNSUPPORTED, "calibration=\"paper\" adds no quadratic term for a linear loss");
    sigma = at->lipschitz * sqrt(-2.0 * log(request->delta)) / request->epsilon;
    return op_follow(at, at->sensitivity / sigma, made, err);
}

static pn_status choose(op_problem *at, const pn_arg *common, const pn_arg *own, double width, op_choice *made,
                        const char **rule, pn_err *err)
{
    bool given = own[OP_LAMBDA].given;

    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0) {
        *rule = "max(2 beta/(n epsilon) - strong convexity, 0), the article's";
        return choose_paper(at, own, made, err);
    }
    op_begin(at, given ? own[OP_LAMBDA].real * at->n : best_weight(at, width), made);
    *rule = given     ? "as given"
            : at->set ? "minimises the risk bound"
                      : "balances sigma^2 p/(2 Lam), (Lam/2) (4 L/beta)^2 and the answer's noise: by n, p, L, beta and "
                        "the budget";
    if (!(made->strong > 0.0))
        return pn_fail(err, PN_EINVAL, "lambda must be positive, since the regulariser is not strongly convex");
    PN_TRY(own[OP_SPLIT].given ? PN_OK : choose_split(at, width, made, err));
    return calibrate(at, at->whole ? "pld" : "rdp", made, err);
}

/* The run's price by its loss distribution is its whole (epsilon, delta),
 * which is least where nothing else is charged. */
static pn_status choose_accountant(op_problem *at, const pn_arg *accountant, bool paper, pn_err *err)
{
    const pn_request *request = at->request;
    bool whole = pn_accountant_is_pld(accountant, request->kind == PN_EPSILON_DELTA && !request->ledger);

    at->whole = whole && !paper;
    return whole ? pn_request_need_epsilon(request, at->owner, err) : PN_OK;
}

static void explain(op_plan *plan, const char *rule, double width, bool paper)
{
    pn_plan *base = &plan->base;

    explain_problem(base, &plan->problem);
    explain_choice(base, &plan->problem, &plan->choice, rule, paper);
    explain_risk(base, &plan->problem, &plan->choice, width);
    if (paper)
        pn_plan_warn(base, "the article's (epsilon, delta) claim is false for replaced records; the cost above is what "
                           "is proven");
    if (base->simulation_only)
        pn_plan_warn(base, "approximate=false has no guarantee, since its answer is exact up to rounding only; it "
                           "takes teaching ledgers and seeded noise");
}

static pn_status plan_private(op_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    op_problem *at = &plan->problem;
    op_choice *made = &plan->choice;
    pn_question *minimum;
    bool paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0, exact = !own[OP_APPROXIMATE].flag;
    double width;
    const char *rule;

    PN_TRY(choose_accountant(at, &own[OP_ACCOUNTANT], paper, err));
    PN_TRY(measure_width(at, &own[OP_WIDTH], &width, err));
    if (exact && at->request->ledger && !pn_request_is_lesson(at->request))
        return pn_fail(err, PN_EPRIVACY,
                       "approximate=false is exact up to rounding only, which no real budget can pay for");
    PN_TRY(choose(at, common, own, width, made, &rule, err));
    if (exact)
        made->noise.sigma_out = 0.0;
    if (at->whole) {
        made->noise.delta = at->request->delta;
        plan->base.accountant = "pld";
    }
    plan->base.proven = !paper && !exact;
    plan->base.simulation_only = exact;
    explain(plan, rule, width, paper);
    PN_TRY(pn_plan_ask(&minimum, &plan->base, &pn_question_minimum, err));
    minimum->dim = made->noise.dim;
    minimum->perturbation = made->noise;
    minimum->basis = (pn_basis){ .rule = "gradient",
                                 .norm = "l2",
                                 .contributions = pn_contributions(at->request->neighbours),
                                 .contribution = at->lipschitz,
                                 .factor = 1.0,
                                 .divisor = 1.0,
                                 .value = made->noise.sensitivity };
    PN_TRY(pn_question_price(minimum, err));
    plan->base.event = pn_event_keep(minimum->event);
    return PN_OK;
}

/* The slope of the mean at the start stands for L where nothing bounds the records' slopes: it bounds how far the
 * minimum is. */
static pn_status measure_slope(op_problem *at, pn_err *err)
{
    size_t p = (size_t)at->p;
    double *g;
    pn_status status;

    PN_TRY(pn_new(&g, p, err, "out of memory"));
    status = pn_objective_losses(at->objective, NULL, at->start, NULL, g, NULL, err);
    if (status == PN_OK)
        at->lipschitz = fmax(pn_lp_norm(PN_L2, p, g) * (1.0 + 1e-9), 0x1p-500);
    pn_free(g);
    return status;
}

/* The minimum with lambda as given and no noise. */
static pn_status plan_nonprivate(op_plan *plan, const pn_arg *own, pn_err *err)
{
    op_problem *at = &plan->problem;
    double weight = own[OP_LAMBDA].given ? own[OP_LAMBDA].real * at->n : 0.0;

    if (plan->base.request.without_records && !own[OP_LAMBDA].given && !(at->regular > 0.0))
        weight = at->n; /* the minimum must exist, and any will do */
    if (!(weight + at->regular > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "without noise give lambda > 0, or a strongly convex regulariser: the minimum must exist");
    op_begin(at, weight, &plan->choice);
    PN_TRY(isfinite(at->lipschitz) ? PN_OK : measure_slope(at, err));
    PN_TRY(op_tolerance(at, &plan->choice, err));
    pn_plan_add(&plan->base, "records n", at->n, "public");
    pn_plan_add(&plan->base, "lambda = Lam/n", weight / at->n, "as given");
    pn_plan_add(&plan->base, "tolerance tau", plan->choice.tau, "certified excess of the sum");
    return PN_OK;
}

pn_status op_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    op_plan *plan = (op_plan *)base;

    base->iterations = 1;
    PN_TRY(pn_plan_start(&base->start, base->objective, &common[PN_OPT_START], err));
    PN_TRY(op_gather(plan, common, own, err));
    base->seconds = op_seconds(&plan->problem);
    PN_TRY(base->request.kind == PN_NONPRIVATE ? plan_nonprivate(plan, own, err)
                                               : plan_private(plan, common, own, err));
    pn_plan_set(base, "lambda", plan->choice.weight / plan->problem.n, false);
    if (plan->base.proven && base->request.kind != PN_NONPRIVATE)
        pn_plan_set(base, "split", plan->problem.split, false);
    if (own[OP_TOLERANCE].given)
        pn_plan_set(base, "tolerance", own[OP_TOLERANCE].real, false);
    return PN_OK;
}
