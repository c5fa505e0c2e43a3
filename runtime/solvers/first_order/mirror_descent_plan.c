/* mirror_descent_plan.c -- potential, steps, noise and predicted risk of noisy mirror descent.
 * Depends on: mirror_descent.h, geometry.  Used by: mirror_descent.c.
 *
 * By default the steps of mirror_descent_bound.c; of preset="theory" those of mirror_descent_theory.c. */
#include <math.h>
#include <string.h>

#include "oracle/gradient_batch.h"
#include "solvers/engine/work.h"
#include "solvers/first_order/mirror_descent.h"

static const char *const potential_class[] = { "pn.potential", NULL };
static const char *const function_class[] = { "function", NULL };
static const char *const presets[] = { "practical", "theory", NULL };
static const char *const forms[] = { "lazy", "printed", NULL };
static const char *const averages[] = { "tail", "all", NULL };

enum { PRACTICAL, THEORY };
enum { LAZY, PRINTED };
enum { TAIL, ALL };

/* The part of U = s sqrt(2 D2 K) that is usually lost: 0 to 0.65 on several kinds of problems, mostly below this. */
#define USUAL 0.25
/* Projections are cheaper than other steps: the Euclidean potential may cost that much more. */
#define TIE 1.05

const pn_param md_params[] = {
    { "potential", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, potential_class,
      "distance generating function; by default the Euclidean one or the one that fits the set, its parts or one of "
      "its intersecting sets: that in which noise costs least.  Steps without a formula iterate up to 500 times" },
    PN_STEP_PARAM("eta of every iteration, in place of t / T, or of sqrt(2 D2 / (T M^2)) of the theory"),
    { "strongly_convex", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "Delta with l(x) >= l(y) + <l'(y), x - y> + Delta D(x, y): steps 2/(Delta (t+1)), weights t" },
    { "preset", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, presets,
      "practical: steps for the noise of the whole budget; theory: those of Theorem 3.2, printed, with the mean of all "
      "points.  By default theory beside strongly_convex and calibration=\"paper\"" },
    { "time", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL,
      "multiplies the time t = eta T of the practical preset: 2 to 4 suit answers at a vertex" },
    { "range", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "max - min of `potential` over the set, declared: steps and the bound rest on it, privacy does not" },
    { "form", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, forms,
      "lazy: steps from the sum of all gradients; printed: from the last point, as in the article" },
    { "average", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, averages,
      "the answer is the mean of the later half of the points, or of all" },
    { "noise.covariance", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "covariance of Gaussian noise on the gradient, without privacy: p x p, a row of p variances, or one number" },
    { "noise.oracle", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, function_class,
      "function(theta) -> an unbiased sample of the gradient, of that covariance, instead of the objective's "
      "gradient" },
    PN_BATCH_PARAMS,
    PN_WIDTH_PARAM(" of the theory"),
    PN_PARAM_END,
};

typedef struct problem {
    md_plan *plan;
    const pn_objective *objective;
    pn_set *set;
    const pn_bounds *bounds;
    pn_mirror_geometry geometry;
    double n;
    double L;     /* Lipschitz constant of records in l2 */
    double root;  /* sqrt(lambda_max) of noise without privacy */
    double noise; /* that of a gradient, whatever it is from */
    bool theory;
    double M, bound;     /* theory */
    md_terms terms;      /* practical */
    pn_noise_time along; /* what limits the time of smooth losses in the Euclidean geometry; gap: excess of the start */
    double time;         /* t */
    size_t given, most;  /* steps asked for, or 0; by default */
} problem;

/* ---- geometry ---- */

static md_theory theory_of(const problem *at, const pn_arg *steps)
{
    const md_plan *plan = at->plan;
    bool is_private = plan->base.request.kind != PN_NONPRIVATE;

    return (md_theory){ .lipschitz = plan->noise.lipschitz,
                        .sensitivity = plan->noise.sensitivity,
                        .rho = is_private ? pn_gradient_noise_rho(&plan->base.request) : NAN,
                        .given = steps->given ? steps->count : 0,
                        .most = at->most };
}

/* The steps, and those that there would be if work were no limit.  Of batches the noise depends on the steps: once more
 * with theirs. */
static double choose_theory_steps(problem *at, const pn_arg *steps)
{
    md_plan *plan = at->plan;
    md_theory with = theory_of(at, steps);

    plan->base.iterations = md_theory_steps(&at->geometry, &with);
    if (!isnan(with.rho) && plan->noise.scheme) {
        with.sensitivity =
            pn_gradient_noise_unit(&plan->noise, &plan->base, plan->base.iterations) * sqrt(2.0 * with.rho);
        plan->base.iterations = md_theory_steps(&at->geometry, &with);
    }
    with.most = (size_t)1 << 53;
    return (double)md_theory_steps(&at->geometry, &with);
}

/* What limits the time besides noise, and the excess of the start; neither where the set has no projection. */
static pn_status read_problem(problem *at, const pn_arg *start, pn_err *err)
{
    pn_first_order first = { 0 };
    pn_objective *objective = at->plan->base.objective;
    pn_status status = pn_first_order_read(&first, at->plan->base.owner, objective, start, NULL, NULL, err);

    at->along = (pn_noise_time){ .scale = INFINITY, .slope = first.lipschitz, .gap = INFINITY };
    if (status == PN_OK)
        status = pn_first_order_gap(&first, first.strong_convexity, &at->along.gap, err);
    if (status == PN_OK) {
        at->along.scale = pn_margin_scale(&first);
        at->along.usual = first.usual;
        at->along.strong_convexity = first.strong_convexity;
    }
    pn_first_order_clear(&first);
    return status == PN_EUNSUPPORTED ? PN_OK : status;
}

/* What plans with that potential depend on. */
static md_terms terms_of(const pn_mirror_geometry *of, const problem *at)
{
    bool regular = pn_objective_regulariser(at->objective) != NULL;
    double slope = at->plan->noise.lipschitz * of->R + of->regular;
    md_terms terms = at->terms;

    terms.D2 = of->D2;
    terms.K = of->K;
    terms.dual_square = of->G2R2;
    terms.gradient = 0.5 * slope * slope;
    terms.smoothness =
        pn_mirror_geometry_smoothness(of, at->objective, INFINITY, regular ? at->bounds->reg.smoothness : 0.0);
    terms.along = at->along;
    if (!pn_mirror_geometry_euclidean(of) || !md_smooth(&terms)) { /* no time is known to be long enough there */
        terms.along.scale = INFINITY;
        terms.along.strong_convexity = 0.0;
    }
    return terms;
}

static double steps_within(const problem *at, const md_terms *terms)
{
    return at->given ? (double)at->given : fmin(md_steps(terms), (double)at->most);
}

/* What noise and the way cost in the steps that there will be: s sqrt(2 D2 K) where these are enough. */
static double usual_risk(const pn_mirror_geometry *of, const void *self)
{
    const problem *at = self;
    md_terms terms = terms_of(of, at);
    double T = steps_within(at, &terms);

    if (!(terms.unit > 0.0) && isfinite(md_time(&terms, T)))
        return md_bound(&terms, T, md_time(&terms, T), 1.0);
    return terms.unit > 0.0 ? md_usual(&terms, md_time(&terms, T)) : pn_mirror_geometry_cost(of);
}

static double choose_practical_steps(problem *at)
{
    pn_plan *base = &at->plan->base;
    double wanted = 0.0;

    for (int round = 0; round < 2; round++) {
        at->terms.unit = pn_gradient_noise_unit(&at->plan->noise, base, base->iterations);
        wanted = at->given ? (double)at->given : md_steps(&at->terms);
        base->iterations = (size_t)steps_within(at, &at->terms);
    }
    if (base->request.kind == PN_NONPRIVATE)
        at->terms.unit = at->root / sqrt((double)base->iterations);
    return wanted;
}

static pn_status choose_geometry(problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    md_plan *plan = at->plan;
    md_theory with = theory_of(at, &common[PN_OPT_ITERATIONS]);
    pn_mirror_wish wish = { .plan = &plan->base,
                            .potential = &own[MD_POTENTIAL],
                            .start = &common[PN_OPT_START],
                            .risk = at->theory ? md_theory_bound : usual_risk,
                            .self = at->theory ? (const void *)&with : at,
                            .range = own[MD_RANGE].given ? own[MD_RANGE].real : 0.0,
                            .favour = at->theory ? 1.0 : TIE,
                            .widths = at->theory ? &own[MD_WIDTH] : NULL };

    PN_TRY(read_problem(at, wish.start, err));
    at->given = with.given;
    at->terms =
        (md_terms){ .times = own[MD_TIME].real, .unit = pn_gradient_noise_unit(&plan->noise, &plan->base, with.given) };
    if (plan->base.request.kind == PN_NONPRIVATE)
        at->terms.unit = at->root / sqrt((double)(with.given ? with.given : MD_DEFAULT_STEPS));
    PN_TRY(pn_mirror_geometry_choose(&at->geometry, &plan->space, &wish, err));
    at->terms = terms_of(&at->geometry, at);
    pn_plan_work(&plan->base, pn_planned_seconds(at->objective, &plan->noise),
                 at->theory ? choose_theory_steps(at, &common[PN_OPT_ITERATIONS]) : choose_practical_steps(at));
    return pn_mirror_space_open(&plan->space, &wish, err);
}

/* ---- the preset ---- */

static pn_status read_preset(problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    const char *calibration = common[PN_OPT_CALIBRATION].text;
    bool convex = own[MD_STRONGLY_CONVEX].given, paper = calibration && strcmp(calibration, "paper") == 0;

    at->theory = own[MD_PRESET].given ? own[MD_PRESET].count == THEORY : convex || paper;
    if (convex && !at->theory)
        return pn_fail(err, PN_EINVAL, "strongly_convex sets the steps of the theory; leave preset=\"practical\" out");
    if (own[MD_TIME].given && (at->theory || own[MD_STEP].given))
        return pn_fail(err, PN_EINVAL, "time= multiplies the time that preset=\"practical\" chooses; leave it out");
    if (own[MD_WIDTH].given && !at->theory)
        return pn_fail(err, PN_EINVAL, "width= belongs to preset=\"theory\"; give that as well, or leave width out");
    if (own[MD_RANGE].given && !own[MD_POTENTIAL].given)
        return pn_fail(err, PN_EINVAL, "range= belongs to potential=; give both, or neither");
    at->plan->space.lazy = own[MD_FORM].given ? own[MD_FORM].count == LAZY : !at->theory;
    return PN_OK;
}

/* Which points the answer is made of, once their number is known. */
static void choose_points(problem *at, const pn_arg *average)
{
    bool tail = average->given ? average->count == TAIL : !at->theory;

    at->plan->after = !at->theory && md_smooth(&at->terms);
    at->plan->skipped = tail ? at->plan->base.iterations / 2 : 0;
}

/* ---- steps and risk ---- */

/* Why there is no bound on the excess risk, or NULL. */
static const char *no_bound(const problem *at, bool start_given, bool step_given)
{
    bool smooth = !at->theory && md_smooth(&at->terms);

    if (at->plan->noise.scheme)
        return PN_BATCH_NO_BOUND;
    if (at->bounds->source == PN_BOUND_CLIPPED && !at->bounds->convex)
        return "clipped gradients are not those of a convex function";
    if (!at->bounds->convex)
        return "f is not convex, or not shown to be";
    if (!smooth && (!isfinite(at->L) || !isfinite(at->geometry.regular)))
        return "the gradients are not bounded";
    if (at->geometry.rule == PN_RANGE_GUESSED)
        return "the range is a guess from 64 points of the set";
    if (start_given)
        return "it holds for the potential's own starting point";
    if (at->theory && at->plan->skipped > 0)
        return "the theorem is about the mean of all points";
    if (at->plan->step.each)
        return PN_SCHEDULE_NO_BOUND;
    if (at->theory)
        return step_given ? "the step size is given" : NULL;
    return isfinite(at->bound) ? NULL : "the steps are too long";
}

/* sqrt(2 D2 / (T M^2)) in units of the potential, whose strong convexity is not 1.  Where M or D2 is 0 every step is as
 * good; the second: a set of one point, or as small. */
static double default_step(const problem *at)
{
    double T = (double)at->plan->base.iterations;

    if (at->M == 0.0 || at->geometry.D2 == 0.0)
        return 1.0;
    return at->plan->space.potential->strong_convexity * sqrt(2.0 * at->geometry.D2 / (T * at->M * at->M));
}

static pn_status check_step(const problem *at, pn_err *err)
{
    if (isfinite(at->plan->step.eta) && at->plan->step.eta > 0.0)
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "no step size can be derived (%s); give step=",
                   isfinite(at->L)
                       ? "the range of the potential over the set is not bounded"
                       : "the gradients are not bounded: give clip= to pn.objective, or " PN_HOW_TO_BOUND_ROWS);
}

/* The noise that has been planned may differ from s sqrt(T): t is that of the planned one. */
static pn_status choose_time(problem *at, const pn_arg *step, pn_err *err)
{
    md_plan *plan = at->plan;
    double T = (double)plan->base.iterations, unit = plan->space.potential->strong_convexity;

    at->terms.unit = at->noise / sqrt(T);
    PN_TRY(pn_schedule_read(&plan->step, &plan->base, &md_params[MD_STEP], step, err));
    at->time = step->given ? pn_step_number(&plan->step, step) / unit * T : md_time(&at->terms, T);
    plan->step.eta = step->given ? pn_step_number(&plan->step, step) : at->time / T * unit;
    if (at->geometry.D2 == 0.0 && !step->given) /* a set of one point: any step will do */
        plan->step.eta = 1.0;
    at->bound = md_bound(&at->terms, T, at->time, md_tail_factor(&at->terms, plan->base.iterations, plan->skipped));
    return check_step(at, err);
}

/* (ii) of the schedules: eta_t = 2 / (Delta (t+1)) with weight t; else a constant step and equal weights. */
static pn_status choose_theory_step(problem *at, const pn_arg *own, pn_err *err)
{
    md_plan *plan = at->plan;
    const pn_arg *convex = &own[MD_STRONGLY_CONVEX], *step = &own[MD_STEP];
    double T = (double)plan->base.iterations;

    at->M = at->L * at->geometry.R + at->geometry.regular + at->noise * sqrt(at->geometry.G2R2);
    if (step->given && convex->given)
        return pn_fail(err, PN_EINVAL, "strongly_convex sets the steps; leave step out");
    if (convex->given) {
        plan->step = (pn_schedule){ .law = PN_STEP_HARMONIC, .eta = convex->real };
        at->bound = 2.0 * at->M * at->M / (plan->space.potential->strong_convexity * convex->real * (T + 1.0));
        return PN_OK;
    }
    at->bound = at->M * sqrt(2.0 * at->geometry.D2 / T);
    PN_TRY(pn_schedule_read(&plan->step, &plan->base, &md_params[MD_STEP], step, err));
    plan->step.eta = step->given ? pn_step_number(&plan->step, step) : default_step(at);
    return check_step(at, err);
}

/* ---- explanation ---- */

static void explain_lipschitz(problem *at)
{
    pn_plan *plan = &at->plan->base;

    pn_plan_add(plan, "records n", at->n, "public");
    if (at->bounds->source == PN_BOUND_CLIPPED)
        pn_plan_add(plan, "Lipschitz L", at->L,
                    "clip: each record's gradient is scaled down to that l2 norm, enforced");
    else if (isfinite(at->L))
        pn_plan_add(plan, "Lipschitz L", at->L, "max l2 norm of a record's gradient, certified");
    else
        pn_plan_add_text(plan, "Lipschitz L", "unbounded", "%.180s", at->bounds->missing);
}

/* Why that many steps; `rule`: what the preset does. */
static void explain_number(problem *at, bool given, const char *rule)
{
    pn_plan *plan = &at->plan->base;

    pn_plan_add(plan, "steps T", (double)plan->iterations, "%s",
                given                                 ? "as given"
                : plan->iterations == at->most        ? "capped: about 4 s of work"
                : plan->request.kind == PN_NONPRIVATE ? "the default"
                                                      : rule);
    if (at->root > 0.0)
        pn_plan_add(plan, "noise root", at->root, "square root of the largest eigenvalue of the covariance");
}

static const char *points_of(const problem *at)
{
    return at->plan->skipped > 0 ? "the mean of the points after T/2" : "the mean of all points";
}

static void explain_theory_steps(problem *at, const pn_arg *own)
{
    pn_plan *plan = &at->plan->base;

    pn_plan_add(plan, "size M", at->M, "L R + noise sqrt(G^2 + R^2)%s: bounds the gradients in the dual norm",
                at->geometry.regular > 0.0 ? " + |r'|" : "");
    if (at->plan->step.law == PN_STEP_HARMONIC)
        pn_plan_add(plan, "first step eta", 1.0 / at->plan->step.eta, "2 / (Delta (t + 1)), iterate t weighs t");
    else
        pn_schedule_explain(&at->plan->step, plan, "step eta", at->plan->step.eta, "%s",
                            own[MD_STEP].given ? "as given" : "sqrt(2 D2 / (T M^2))");
}

static void explain_time(problem *at, bool given, bool step_given)
{
    const md_terms *of = &at->terms;
    pn_plan *plan = &at->plan->base;
    double usual = of->times * sqrt(2.0 * of->D2 / of->K) / of->unit;

    if (md_smooth(of))
        pn_plan_add(plan, "smoothness beta", of->smoothness, "of the objective in that norm, certified");
    if (of->unit > 0.0)
        pn_plan_add(plan, "noise of all s", of->unit, "sigma / sqrt(T): one release with the whole budget");
    if (!at->plan->step.each)
        pn_plan_add(plan, "time t", at->time, "%s",
                    step_given                           ? "eta T"
                    : at->time >= usual * (1.0 - 1e-9)   ? "sqrt(2 D2 / K) / s"
                    : !(of->unit > 0.0) && md_smooth(of) ? "T / (2 beta)"
                    : !(of->unit > 0.0)                  ? "sqrt(2 D2 T) / |g|, |g| <= L R"
                    : !md_smooth(of)                     ? "shorter than sqrt(2 D2 / K) / s: too few steps for that"
                    : at->time * of->smoothness >= 0.499 * (double)plan->iterations
                        ? "T / (2 beta): too few steps for more"
                        : "limited by the margins that noise moves, or by strong convexity");
    explain_number(at, given,
                   md_smooth(of) ? "4 beta t: steps of at most 1/(4 beta), and at least 64"
                                 : "where half of sigma^2 (G^2 + R^2) is (L R)^2/2, at least 64");
    pn_schedule_explain(
        &at->plan->step, plan, "step eta", at->plan->step.eta, "%s; %s, %s", step_given ? "as given" : "t / T",
        at->plan->space.lazy ? "from the sum of the gradients (lazy)" : "from the last point (printed)", points_of(at));
}

/* What Theorem 3.2 has to say: its least bound. */
static void explain_theory(problem *at, const pn_arg *steps)
{
    md_theory with = theory_of(at, steps);
    double T = (double)md_theory_steps(&at->geometry, &with), bound = md_theory_bound(&at->geometry, &with);

    if (isnan(with.rho) || !isfinite(bound) || at->plan->noise.scheme || !(bound > 0.0))
        return;
    pn_plan_add(&at->plan->base, "theory preset", bound,
                "the bound of preset=\"theory\", at most (T = %.0f, eta = %.4g)", T,
                2.0 * at->geometry.D2 / (bound * T));
}

static void explain_practical_bound(problem *at, const char *none, const pn_arg *steps)
{
    pn_plan *plan = &at->plan->base;
    const md_terms *of = &at->terms;
    double U = md_cost(of), factor = md_tail_factor(of, plan->iterations, at->plan->skipped);

    if (of->unit > 0.0 && !at->plan->step.each && isfinite(of->D2) && at->time > 0.0)
        plan->predicted = USUAL * md_usual(of, at->time);
    (void)pn_plan_bounds(plan, at->bound, none,
                         md_smooth(of) ? "D2/t + %.4g t s^2 K / (2 (1 - eta beta)), expected over the noise"
                                       : "D2/t + %.4g (t s^2 K + (t/T) (L R)^2) / 2, expected over the noise",
                         factor);
    if (plan->predicted > 0.0) {
        plan->predicted = fmin(plan->predicted, at->along.gap);
        pn_plan_add(plan, "predicted", plan->predicted, "a quarter of D2/t + t s^2 K/2: the usual size, not a bound");
    }
    if (U > at->along.gap)
        pn_plan_warn(plan,
                     "the noise may be larger than all there is to gain (U = s sqrt(2 D2 K) = %.3g, at most %.3g to "
                     "gain); more records, more budget or a smaller set",
                     U, at->along.gap);
    explain_theory(at, steps);
}

static void explain_theory_bound(problem *at, const char *none)
{
    pn_plan *plan = &at->plan->base;

    if (at->plan->noise.scheme && isfinite(at->bound)) /* what it would be of all records: to compare by */
        plan->predicted = at->bound;
    (void)pn_plan_bounds(plan, at->bound, none, "%s",
                         at->plan->step.law == PN_STEP_HARMONIC
                             ? "2 M^2 / (Delta (T + 1)), expected; strong convexity as declared"
                             : "M sqrt(2 D2 / T), expected over the noise; Theorem 3.2");
}

/* ---- the plan ---- */

/* What inexact steps are measured by: the bound, or what is usual where the steps have none. */
static double asked_risk(const problem *at)
{
    return isfinite(at->bound) ? at->bound : md_usual(&at->terms, at->time);
}

/* Steps and bound, once the noise is known. */
static pn_status plan_steps(problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    bool given = common[PN_OPT_ITERATIONS].given, start = common[PN_OPT_START].given, step = own[MD_STEP].given;

    choose_points(at, &own[MD_AVERAGE]);
    if (at->theory) {
        PN_TRY(choose_theory_step(at, own, err));
        explain_number(at, given, "where L R = sigma sqrt(G^2 + R^2)");
        explain_theory_steps(at, own);
        explain_theory_bound(at, no_bound(at, start, step));
        pn_mirror_space_ask(&at->plan->space, &at->geometry, at->bound, at->L * at->geometry.R + at->geometry.regular,
                            at->plan->base.iterations);
        return PN_OK;
    }
    PN_TRY(choose_time(at, &own[MD_STEP], err));
    pn_mirror_space_ask(&at->plan->space, &at->geometry, asked_risk(at), sqrt(2.0 * at->terms.gradient),
                        at->plan->base.iterations);
    explain_time(at, given, step);
    explain_practical_bound(at, no_bound(at, start, step), &common[PN_OPT_ITERATIONS]);
    return PN_OK;
}

pn_status md_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    md_plan *plan = (md_plan *)base;
    problem *at = &(problem){ .plan = plan,
                              .objective = base->objective,
                              .set = pn_objective_set(base->objective),
                              .bounds = pn_objective_bounds(base->objective),
                              .n = (double)pn_objective_data(base->objective)->n };

    PN_TRY(pn_plan_need_bounded_set(base, err));
    PN_TRY(pn_gradient_noise_batch(&plan->noise, base, common, &own[MD_BATCH], err));
    PN_TRY(read_preset(at, common, own, err));
    PN_TRY(md_read_noise(plan, own, &at->root, err));
    at->most = pn_planned_steps_max(at->objective, &plan->noise);
    at->L = plan->noise.lipschitz;
    PN_TRY(choose_geometry(at, common, own, err));
    explain_lipschitz(at);
    pn_mirror_geometry_explain(&at->geometry, base);
    PN_TRY(pn_gradient_noise_attach(base, &plan->noise, common, err));
    at->noise = hypot(at->root, pn_gradient_noise_deviation(&plan->noise));
    PN_TRY(plan_steps(at, common, own, err));
    md_set_settings(plan, own, at->theory);
    if (at->root > 0.0)
        pn_plan_warn(base, "this noise is not private: no lattice, no ledger, no guarantee");
    return PN_OK;
}
