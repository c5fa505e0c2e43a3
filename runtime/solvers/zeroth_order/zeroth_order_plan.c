/* zeroth_order_plan.c -- a plan: the method with the smallest bound, its epochs, rounds, batches and radii, and what
 * the noise of its sums leaves of error, step and bound.
 * Depends on: zeroth_order.h.  Used by: zeroth_order.c.  See zeroth-order.md sections 3 to 6. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/size.h"
#include "objective/measures/directions.h"
#include "solvers/engine/work.h"
#include "solvers/zeroth_order/zeroth_order.h"

/* ---- the method ---- */

static void read_fixed(zo_work *at)
{
    zo_choice *fixed = &at->fixed;

    fixed->epochs = at->own[ZO_EPOCHS].count;
    fixed->rounds = at->own[ZO_ROUNDS].count;
    fixed->others = at->own[ZO_BATCH].count;
    fixed->first = at->naive ? at->own[ZO_BATCH].count : at->own[ZO_FIRST_BATCH].count;
    fixed->smoothing = at->own[ZO_SMOOTHING].real;
    fixed->ball = at->own[ZO_RADIUS].real;
    fixed->step = at->own[ZO_STEP].real;
}

/* Does the sum go with what prefix= says? */
static bool admits_sum(const zo_work *at, pn_sum_kind sum)
{
    const pn_prefix_options *prefix = &at->prefix;
    const char *factorization = prefix->factorization ? prefix->factorization : pn_prefix_implied(prefix);
    bool binary = sum == PN_SUM_TREE || sum == PN_SUM_HONAKER;

    if (sum == PN_SUM_HONAKER && prefix->memory == PN_PREFIX_REGENERATE)
        return false;
    if (!factorization)
        return !prefix->estimator_given || (binary && (sum == PN_SUM_TREE) == (prefix->estimator == PN_PREFIX_PLAIN));
    if (strcmp(factorization, "binary") == 0)
        return binary && (!prefix->estimator_given || (sum == PN_SUM_TREE) == (prefix->estimator == PN_PREFIX_PLAIN));
    if (strcmp(factorization, "blt") == 0)
        return sum == PN_SUM_BLT;
    return sum == PN_SUM_SQRT; /* and what is like it: the bound of the plan is that of what runs */
}

static bool admits(const zo_work *at, zo_method method)
{
    pn_directions asked = (pn_directions)at->own[ZO_DIRECTIONS].count;
    bool only_naive = at->naive || (zo_given(at, ZO_ORACLE) && at->own[ZO_ORACLE].count == ZO_NAIVE);

    if (only_naive && asked == PN_DIRECTIONS_IID) /* of one direction a record there is nothing else */
        asked = PN_DIRECTIONS_ONE;

    if (method.directions != PN_DIRECTIONS_ONE && at->plan->dim > PN_DIRECTION_DIM_MAX)
        return false;
    if (zo_given(at, ZO_LEVEL) && method.directions != PN_DIRECTIONS_IID)
        return false;
    if (zo_given(at, ZO_DIRECTIONS) && method.directions != asked)
        return false;
    if (at->naive)
        return method.oracle == ZO_NAIVE && (zo_given(at, ZO_DIRECTIONS) || method.directions == PN_DIRECTIONS_ONE);
    if (at->paper)
        return method.oracle == ZO_VARIANCE_REDUCED && method.directions == PN_DIRECTIONS_IID &&
               method.sum == PN_SUM_TREE;
    if (zo_given(at, ZO_ORACLE) && method.oracle != (zo_oracle)at->own[ZO_ORACLE].count)
        return false;
    if (method.oracle == ZO_NAIVE)
        return !zo_given(at, ZO_FIRST_BATCH) && !at->prefix_given;
    return admits_sum(at, method.sum);
}

#define MOST_NOISE_BYTES 67108864.0 /* kept by the sums of "sqrt" ... */
#define MOST_NOISE_WORK  2e11       /* ... and multiplications of a run, unless it is asked for */

/* T^2/2 products of vectors an epoch. */
static bool too_slow(const zo_work *at, const zo_choice *choice)
{
    double T = (double)choice->rounds, d = at->problem.dim;

    if (choice->method.oracle == ZO_NAIVE || choice->method.sum != PN_SUM_SQRT || at->prefix.factorization)
        return false;
    return 8.0 * T * d > MOST_NOISE_BYTES ||
           T * T / 2.0 * d * (double)choice->epochs * (double)at->question->slices.passes > MOST_NOISE_WORK;
}

/* The article's parameters, of which the number of rounds alone is free. */
static bool search_article(const zo_work *at, zo_choice *best)
{
    bool found = false;
    double delta = at->problem.radius, M = at->problem.records;

    for (size_t T = 2; 2.0 * (double)T - 1.0 <= M; T *= 2) {
        zo_choice now = at->fixed;
        double rounds = (double)(now.rounds = now.rounds ? now.rounds : T), leaf;

        now.method = (zo_method){ ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, PN_SUM_TREE };
        now.first = now.first ? now.first : now.rounds;
        now.others = now.others ? now.others : 1;
        now.smoothing = now.smoothing > 0.0 ? now.smoothing : delta / 2.0;
        now.ball = now.ball > 0.0 ? now.ball : delta / (2.0 * rounds);
        leaf = (double)now.first + (rounds - 1.0) * (double)now.others;
        now.epochs = now.epochs ? now.epochs : (size_t)(M / leaf);
        if (now.epochs == 0 || (double)now.epochs * leaf > M)
            continue;
        zo_evaluate(&at->problem, &now);
        if (!found || now.bound < best->bound)
            *best = now;
        found = true;
    }
    return found;
}

static void search_all(zo_work *at)
{
    for (int i = 0; i < ZO_METHODS; i++) {
        at->found[i] = at->paper && at->allowed[i] ? search_article(at, &at->best[i])
                                                   : zo_search(&at->problem, zo_methods[i], &at->fixed, &at->best[i]);
        at->allowed[i] = at->allowed[i] && !(at->found[i] && too_slow(at, &at->best[i]));
    }
}

static double bound_of(const zo_choice *choice)
{
    return choice->bound;
}

/* The method whose `score` is least. */
static bool pick_best(zo_work *at, const bool *found, const zo_choice *of, double (*score)(const zo_choice *))
{
    bool any = false;

    for (int i = 0; i < ZO_METHODS; i++) {
        if (!at->allowed[i] || !found[i] || (any && !(score(&of[i]) < score(&at->plan->choice))))
            continue;
        at->plan->choice = of[i];
        any = true;
    }
    return any;
}

/* Where every bound is trivial: sizes that do well in practice. */
static bool pick_practical(zo_work *at)
{
    zo_choice of[ZO_METHODS];
    bool found[ZO_METHODS];

    for (int i = 0; i < ZO_METHODS; i++)
        found[i] = at->allowed[i] && zo_practical(&at->problem, zo_methods[i], at->distance, &at->fixed, &of[i]);
    return pick_best(at, found, of, zo_practical_error);
}

/* As few records as the target needs with the method that needs fewest. */
static void read_target(zo_work *at)
{
    double least = INFINITY, n = at->problem.records;

    if (!zo_given(at, ZO_TARGET))
        return;
    for (int i = 0; i < ZO_METHODS; i++) {
        if (at->allowed[i])
            least = fmin(least, zo_records_for(&at->problem, zo_methods[i], at->own[ZO_TARGET].real));
    }
    at->problem.records = fmin(least, n);
    if (isinf(least))
        pn_plan_warn(&at->plan->base, "no number of records promises target = %g; there are %.0f",
                     at->own[ZO_TARGET].real, n);
    else if (least > n)
        pn_plan_warn(&at->plan->base, "target = %g would need %.3g records, there are %.0f", at->own[ZO_TARGET].real,
                     least, n);
}

/* plan->choice: the least bound, or what does well where none says anything.  False where nothing has records
 * enough. */
static bool search(zo_work *at)
{
    bool any;

    for (int i = 0; i < ZO_METHODS; i++)
        at->allowed[i] = admits(at, zo_methods[i]);
    search_all(at);
    any = pick_best(at, at->found, at->best, bound_of);
    at->practical = !at->paper && (!any || !(at->plan->choice.bound < at->problem.lipschitz));
    return (at->practical && pick_practical(at)) || any;
}

/* The same within the usual work: larger batches in fewer rounds.  Batches that are given stay, with what they take. */
static void limit_work(zo_work *at)
{
    zo_problem *problem = &at->problem;
    const zo_choice whole = at->plan->choice;
    double passes = (double)at->question->slices.passes, full = passes * zo_seconds(problem, &whole);

    if (at->paper || zo_given(at, ZO_TARGET) || zo_given(at, ZO_BATCH) || at->common[PN_OPT_ITERATIONS].given)
        return;
    problem->seconds = PN_WORK_SECONDS / passes;
    if (zo_fits(problem, &whole))
        return;
    if (search(at)) {
        pn_plan_held_back(&at->plan->base, full);
        return;
    }
    problem->seconds = 0.0;
    (void)search(at);
}

static pn_status choose(zo_work *at, pn_err *err)
{
    bool any = false;

    read_fixed(at);
    for (int i = 0; i < ZO_METHODS; i++) {
        at->allowed[i] = admits(at, zo_methods[i]);
        any = any || at->allowed[i];
    }
    read_target(at);
    if (!any)
        return pn_fail(err, PN_EINVAL,
                       "directions, oracle, first_batch, level and prefix do not go together; directions=\"one\" is "
                       "of the naive oracle and the only one beyond dimension %d, level= of directions=\"iid\", "
                       "first_batch= and prefix= of the variance-reduced oracle",
                       PN_DIRECTION_DIM_MAX);
    if (!search(at))
        return pn_fail(err, PN_EINVAL,
                       "%.0f record%s too few for these epochs, rounds and batches; each is used once a pass",
                       at->problem.records, at->problem.records == 1.0 ? " is" : "s are");
    limit_work(at);
    return PN_OK;
}

/* ---- the noise ---- */

/* Of each pn_sum_kind, the row of pn_prefix_table. */
static const char *const factorizations[PN_SUM_COUNT] = {
    [PN_SUM_TREE] = "binary", [PN_SUM_HONAKER] = "binary", [PN_SUM_SQRT] = "sqrt", [PN_SUM_BLT] = "blt"
};

static void name_method(zo_work *at)
{
    pn_prefix_options *prefix = &at->prefix;
    pn_sum_kind sum = at->plan->choice.method.sum;

    if (at->plan->choice.method.oracle == ZO_NAIVE) { /* one leaf a stream: the sum is the leaf */
        *prefix = (pn_prefix_options){ .factorization = "binary", .estimator_given = true };
        return;
    }
    if (!prefix->factorization)
        prefix->factorization = factorizations[sum];
    if ((sum == PN_SUM_TREE || sum == PN_SUM_HONAKER) && !prefix->estimator_given) {
        prefix->estimator = sum == PN_SUM_TREE ? PN_PREFIX_PLAIN : PN_PREFIX_HONAKER;
        prefix->estimator_given = true;
    }
    prefix->keep_root =
        prefix->keep_root || (sum == PN_SUM_TREE && !at->prefix_given); /* as the article's tree is priced */
}

/* ---- error, step and bound ---- */

/* The mean over rounds of the variance of a coordinate's noise. */
static pn_status mean_variance(const zo_work *at, double *mean, pn_err *err)
{
    size_t rounds = at->question->slices.leaves;
    double *all, sum = 0.0;

    *mean = 0.0;
    if (!at->is_private)
        return PN_OK;
    PN_TRY(pn_new(&all, rounds, err, "out of memory for %zu rounds", rounds));
    pn_prefix_variances(at->question->design, rounds, all);
    for (size_t t = 0; t < rounds; t++)
        sum += all[t];
    pn_free(all);
    *mean = sum / (double)rounds;
    return PN_OK;
}

/* Options that leave the noise of a sum as pn_sum_noise_of has it. */
static bool is_harmless(const char *option)
{
    static const char *const harmless[] = { "factorization", "estimator", "keep_root", "memory" };

    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++) {
        if (strcmp(option, harmless[i]) == 0)
            return true;
    }
    return false;
}

/* The shape of the noise of what runs.  Of sums whose shape is not known all of it may be past and drift. */
static pn_sum_noise shape_of(const zo_work *at)
{
    static const pn_sum_noise unknown = { .gain = 1.0, .spread = 1.0, .past = 1.0, .drift = 1.0 };
    const zo_choice *choice = &at->plan->choice;
    pn_sum_noise noise;

    if (choice->method.oracle == ZO_NAIVE || strcmp(at->prefix.factorization, factorizations[choice->method.sum]) != 0)
        return unknown;
    for (size_t i = 0; pn_prefix_params[i].name; i++) {
        if (at->own[ZO_PREFIX + i].given && !is_harmless(pn_prefix_params[i].name))
            return unknown;
    }
    return pn_sum_noise_of(choice->method.sum, at->prefix.keep_root, choice->rounds, &noise) ? noise : unknown;
}

/* From what runs: this smoothing with its groups, these batches, this design.  The gradient of r is added to what is
 * estimated of the loss: both slopes count. */
static void finish_choice(zo_work *at)
{
    pn_smoothing how = at->question->smoothing;
    zo_choice *choice = &at->plan->choice;
    pn_sum_noise noise = shape_of(at);
    zo_problem whole = at->problem;

    how.lipschitz = at->problem.lipschitz; /* also where nothing is clipped */
    zo_set_errors(&at->problem, &how, &noise, choice);
    if (isfinite(at->regulariser_slope))
        whole.lipschitz += at->regulariser_slope;
    if (!at->own[ZO_STEP].given && !at->practical)
        choice->step = 0.0;
    zo_finish(&whole, choice);
}

/* Sensitivities and design of the question, which knows its smoothing and slices; the plan's event, charges and sigma,
 * and what the noise makes of step, error and bound. */
static pn_status make_design(zo_work *at, pn_err *err)
{
    zo_plan *plan = at->plan;
    zo_choice *choice = &plan->choice;
    pn_question *question = at->question;
    double variance;

    name_method(at);
    question->prefix = at->prefix;
    question->reach = 2.0 * choice->ball;
    PN_TRY(pn_question_certify(question, err));
    choice->sensitivity = question->prefix.sensitivity;
    PN_TRY(pn_smoothed_design(question, &plan->base.request, at->owner, err));
    PN_TRY(mean_variance(at, &variance, err));
    choice->sigma = pn_prefix_design_sigma(question->design);
    choice->noise = sqrt((double)plan->dim * variance);
    plan->base.sigma = sqrt(variance);
    plan->base.event = question->event ? pn_event_keep(question->event) : NULL;
    plan->base.charges = question->slices.passes;
    finish_choice(at);
    return PN_OK;
}

/* ---- the plan ---- */

static void set_slices(zo_work *at)
{
    const zo_choice *choice = &at->plan->choice;
    bool naive = choice->method.oracle == ZO_NAIVE;
    pn_single_pass_options *slices = &at->question->slices;

    slices->n = pn_objective_data(at->plan->base.objective)->n;
    slices->first = choice->first;
    slices->others = naive ? choice->first : choice->others;
    slices->leaves = naive ? 1 : choice->rounds;
    slices->epochs = naive ? choice->epochs * choice->rounds : choice->epochs;
    at->question->smoothing.directions = choice->method.directions;
    at->question->smoothing.radius = choice->smoothing;
}

static pn_status set_iterations(zo_work *at, pn_err *err)
{
    pn_plan *plan = &at->plan->base;
    size_t rounds = at->plan->choice.epochs * at->plan->choice.rounds, asked = at->common[PN_OPT_ITERATIONS].count;

    PN_TRY(pn_size_product(&plan->iterations, at->owner, "passes x rounds", at->question->slices.passes, rounds, err));
    if (!at->common[PN_OPT_ITERATIONS].given)
        return PN_OK;
    if (asked > plan->iterations)
        return pn_fail(err, PN_EINVAL,
                       "iterations = %zu is more than the %zu rounds for which there are records; use smaller "
                       "batches or more passes",
                       asked, plan->iterations);
    plan->iterations = asked;
    plan->charges = (asked + rounds - 1) / rounds;
    return PN_OK;
}

/* Two values a direction, four of a difference. */
static double values_of_run(const zo_plan *plan)
{
    const zo_choice *choice = &plan->choice;
    bool naive = choice->method.oracle == ZO_NAIVE, one = choice->method.directions == PN_DIRECTIONS_ONE;
    double directions = one ? 1.0 : (double)plan->dim, T = (double)choice->rounds;
    double epochs = floor((double)plan->base.iterations / T), rest = (double)plan->base.iterations - epochs * T;
    double first = 2.0 * directions * (double)choice->first;
    double other = naive ? first : 4.0 * directions * (double)choice->others;

    return epochs * (first + (T - 1.0) * other) + (rest > 0.0 ? first + (rest - 1.0) * other : 0.0);
}

/* Cut short where iterations= says so. */
static double seconds_of_run(const zo_work *at)
{
    const zo_choice *choice = &at->plan->choice;

    return zo_seconds(&at->problem, choice) * (double)at->plan->base.iterations /
           ((double)choice->epochs * (double)choice->rounds);
}

/* What a run would refuse after it was paid for. */
static pn_status check_radii(const zo_work *at, pn_err *err)
{
    const zo_choice *choice = &at->plan->choice;

    if (!(choice->smoothing >= 0x1p-400 && choice->smoothing <= 0x1p400))
        return pn_fail(err, PN_EINVAL, "smoothing must be in [2^-400, 2^400], got %g", choice->smoothing);
    if (!(choice->ball >= 0x1p-400 && choice->ball <= 0x1p290))
        return pn_fail(err, PN_EINVAL, "radius must be in [2^-400, 2^290], got %g", choice->ball);
    if (!isfinite(choice->step) && at->own[ZO_STEP].given)
        return pn_fail(err, PN_EINVAL, "step must be a positive number, got %g", choice->step);
    return PN_OK;
}

static pn_status make(zo_work *at, pn_err *err)
{
    zo_plan *plan = at->plan;

    PN_TRY(pn_plan_ask(&at->question, &plan->base, &pn_question_smoothed, err));
    PN_TRY(zo_read_problem(at, err));
    PN_TRY(choose(at, err));
    plan->output = (zo_output)at->own[ZO_OUTPUT].count;
    if (!at->own[ZO_OUTPUT].given && (at->practical || zo_no_bound(at)))
        plan->output = ZO_LAST; /* there is no bound to keep, and a random epoch does four times worse */
    PN_TRY(check_radii(at, err));
    set_slices(at);
    PN_TRY(make_design(at, err));
    PN_TRY(set_iterations(at, err));
    plan->base.gradients = values_of_run(plan);
    plan->base.seconds = seconds_of_run(at);
    zo_explain(at);
    return PN_OK;
}

pn_status zo_fill(pn_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    bool naive = plan->solver->params == zo_naive_params;
    zo_work at = { .plan = (zo_plan *)plan,
                   .owner = plan->owner,
                   .common = common,
                   .own = own,
                   .naive = naive,
                   .is_private = plan->request.kind != PN_NONPRIVATE,
                   .paper = !naive && strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0 };

    plan->samples = !at.is_private;
    at.plan->dim = pn_objective_dim(plan->objective);
    return make(&at, err);
}
