/* zeroth_order_plan.c -- options to a plan: the problem, the method with the smallest bound, its epochs, rounds, batches and radii.
 * Depends on: zeroth_order.h.  Used by: zeroth_order.c.  Spec: zeroth-order.md sections 5 and 6. */
#include <math.h>
#include <string.h>

#include "continual/prefix_rows.h"
#include "core/alloc.h"
#include "continual/prefix_rows.h"
#include "objective/directions.h"
#include "solvers/first_order.h"
#include "solvers/noisy_gradient.h"
#include "solvers/zeroth_order.h"

static const char *const outputs[] = { "random", "best", "last", NULL };
static const char *const oracles[] = { "variance_reduced", "naive", NULL };

/* clang-format off: one option, one row */
#define SHARED_ROWS                                                                                                         \
    { "smoothing",                                                                                                          \
      PN_REAL,                                                                                                              \
      PN_OPTIONAL,                                                                                                          \
      PN_POSITIVE,                                                                                                          \
      0.0,                                                                                                                  \
      NULL,                                                                                                                 \
      "mu: gradients are those of the loss averaged over balls of this radius; by default half of stationarity" },          \
        { "directions",                                                                                                     \
          PN_CHOICE,                                                                                                        \
          PN_OPTIONAL,                                                                                                      \
          PN_ANY,                                                                                                           \
          0.0,                                                                                                              \
          pn_directions_names,                                                                                              \
          "in which a record's loss is looked at: d orthonormal ones, d independent ones, or (naive only) one; by "         \
          "default what the bound favours" },                                                                               \
        { "radius",                                                                                                         \
          PN_REAL,                                                                                                          \
          PN_OPTIONAL,                                                                                                      \
          PN_POSITIVE,                                                                                                      \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "D: the longest step of a round; by default what stationarity leaves room for" },                                 \
        { "lipschitz",                                                                                                      \
          PN_REAL,                                                                                                          \
          PN_OPTIONAL,                                                                                                      \
          PN_POSITIVE,                                                                                                      \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "L of a record's loss in theta, l2: enforced by clipping; by default what is certified or declared of the "       \
          "loss" },                                                                                                         \
        { "stationarity",                                                                                                   \
          PN_REAL,                                                                                                          \
          PN_OPTIONAL,                                                                                                      \
          PN_POSITIVE,                                                                                                      \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "delta: radius of the Goldstein measure that the bound is about; by default half of distance" },                  \
        { "target",                                                                                                         \
          PN_REAL,                                                                                                          \
          PN_OPTIONAL,                                                                                                      \
          PN_POSITIVE,                                                                                                      \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "eps: as many records are used as bring the bound down to it; by default all" },                                  \
        { "gap",                                                                                                            \
          PN_REAL,                                                                                                          \
          PN_OPTIONAL,                                                                                                      \
          PN_POSITIVE,                                                                                                      \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "bound on the objective at the start less its least value; by default from the loss, or L distance" },            \
        { "distance", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "how far from the start a good point may be" },         \
        { "epochs",                                                                                                         \
          PN_COUNT,                                                                                                         \
          PN_OPTIONAL,                                                                                                      \
          PN_ANY,                                                                                                           \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "K: of one pass; each has its own learner and its own sums" },                                                    \
        { "rounds", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "T: steps of an epoch" },                                     \
        { "batch",                                                                                                          \
          PN_COUNT,                                                                                                         \
          PN_OPTIONAL,                                                                                                      \
          PN_ANY,                                                                                                           \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "B2: records of every round but an epoch's first; naive: of every round" },                                       \
        { "step", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "eta of the learner; by default D/(G sqrt(T))" },           \
        { "passes", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "how often each record may be used; each pass is paid for" }, \
        { "output",                                                                                                         \
          PN_CHOICE,                                                                                                        \
          PN_OPTIONAL,                                                                                                      \
          PN_ANY,                                                                                                           \
          0.0,                                                                                                              \
          outputs,                                                                                                          \
          "which epoch's mean point is the answer: random: what the bound is about; best: of the smallest mean "            \
          "released gradient" },                                                                                            \
        { "group",                                                                                                          \
          PN_COUNT,                                                                                                         \
          PN_OPTIONAL,                                                                                                      \
          PN_ANY,                                                                                                           \
          1.0,                                                                                                              \
          NULL,                                                                                                             \
          "consecutive records of a batch that share their directions: faster, with more variance" },                       \
        { "level",                                                                                                          \
          PN_REAL,                                                                                                          \
          PN_OPTIONAL,                                                                                                      \
          PN_POSITIVE,                                                                                                      \
          0.0,                                                                                                              \
          NULL,                                                                                                             \
          "independent directions are drawn again until their largest singular value is at most this, > 1" },               \
    {                                                                                                                       \
        "strict", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,                                                                  \
            "a loss that is no number ends the run; by default only without privacy, with it such values count as 0"        \
    }
/* clang-format on */

const pn_param zo_naive_params[] = { SHARED_ROWS, PN_PARAM_END };

const pn_param zo_params[] = {
    SHARED_ROWS,
    { "first_batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "B1: records of an epoch's first round" },
    { "oracle", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, oracles,
      "variance_reduced: a gradient, then differences in a private prefix sum; naive: fresh gradients; by default what "
      "the bound favours" },
    PN_PREFIX_ROWS("prefix."),
    PN_PARAM_END,
};

static bool given(const zo_work *at, int option)
{
    return (option < ZO_NAIVE_COUNT || !at->naive) && at->own[option].given;
}

/* ---- the problem ---- */

static pn_status check_problem(const zo_work *at, pn_err *err)
{
    const pn_request *request = &at->plan->base.request;
    const pn_set *set = pn_objective_set(at->plan->base.objective);

    if (set && strcmp(set->ops->name, "free") != 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: it walks without constraints, and the objective has the set %s; leave set= out and give "
                       "reg= for points that stay small",
                       at->owner, set->ops->name);
    if (request->kind == PN_NONPRIVATE)
        return PN_OK;
    if (request->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: neighbours=\"add_remove\" makes n secret, and batches are cut from all n records; use "
                       "\"replace_one\" or \"zero_out\"",
                       at->owner);
    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: Gaussian noise needs a delta; give delta= as well, 1/n^2 say",
                       at->owner);
    return PN_OK;
}

static pn_status read_lipschitz(zo_work *at, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(at->plan->base.objective);
    pn_smoothing *how = &at->plan->smoothing;
    double known = bounds->lipschitz[PN_L2];
    bool about_values = bounds->source == PN_BOUND_DECLARED || bounds->loss.continuous;

    how->lipschitz = given(at, ZO_LIPSCHITZ) ? at->own[ZO_LIPSCHITZ].real : known;
    if (given(at, ZO_LIPSCHITZ)) {
        at->slope_source = known <= how->lipschitz ? "as given, above what is known" : "as given, enforced by clipping";
        at->slope_holds = !(bounds->source == PN_BOUND_CERTIFIED && known > how->lipschitz);
    } else if (bounds->source == PN_BOUND_NONE || !(known > 0.0) || !isfinite(known)) {
        if (at->is_private)
            return pn_fail(err, PN_EPRIVACY,
                           "%s: nothing bounds how far a record's loss moves with theta; give lipschitz=, which is "
                           "enforced by clipping, or clip the rows",
                           at->owner);
        how->lipschitz = INFINITY;
        at->slope_guessed = true;
        at->slope_source = "guessed: nothing is known, and nothing is clipped";
    } else {
        at->slope_source = bounds->source == PN_BOUND_CLIPPED    ? "the objective's clip, enforced on differences"
                           : bounds->source == PN_BOUND_DECLARED ? "declared of the loss, enforced by clipping"
                                                                 : "certified, and enforced by clipping";
        at->slope_holds = about_values && bounds->source != PN_BOUND_CLIPPED;
    }
    if (!at->slope_guessed && !(how->lipschitz >= 0x1p-400 && how->lipschitz <= 0x1p400))
        return pn_fail(err, PN_EINVAL, "%s: lipschitz must be in [2^-400, 2^400], got %g", at->owner, how->lipschitz);
    at->problem.lipschitz = at->slope_guessed ? 1.0 : how->lipschitz;
    return PN_OK;
}

static pn_status read_start(zo_work *at, pn_err *err)
{
    const pn_arg *start = &at->common[PN_OPT_START];
    zo_plan *plan = at->plan;

    plan->start = pn_calloc(plan->dim, sizeof(double));
    if (!plan->start)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory for %zu coordinates", at->owner, plan->dim);
    if (start->given)
        memcpy(plan->start, start->vector.data, plan->dim * sizeof(double));
    return PN_OK;
}

/* What is known of F(x0) - inf F. */
static pn_status read_gap(zo_work *at, pn_err *err)
{
    const zo_plan *plan = at->plan;
    pn_objective *objective = plan->base.objective;
    const pn_bounds *bounds = pn_objective_bounds(objective);
    pn_first_order first = { .objective = objective,
                             .p = plan->dim,
                             .lipschitz = bounds->lipschitz[PN_L2],
                             .start = plan->start,
                             .diameter = INFINITY };
    double known = INFINITY;
    pn_status status = PN_OK;

    at->distance_given = given(at, ZO_DISTANCE);
    at->distance = at->own[ZO_DISTANCE].real;
    at->gap_known = true;
    if (given(at, ZO_GAP)) {
        at->problem.gap = at->own[ZO_GAP].real;
        return PN_OK;
    }
    if (pn_objective_loss(objective)->margins > 0)
        status = pn_first_order_gap(&first, 0.0, &known, err);
    if (status != PN_OK)
        return status;
    at->gap_known = isfinite(known) && known >= 0.0;
    at->problem.gap = at->gap_known ? known : at->problem.lipschitz * at->distance;
    return PN_OK;
}

static pn_status read_smoothing(zo_work *at, pn_err *err)
{
    pn_smoothing *how = &at->plan->smoothing;

    how->group = at->own[ZO_GROUP].count;
    how->level = given(at, ZO_LEVEL) ? at->own[ZO_LEVEL].real : 0.0;
    how->strict = given(at, ZO_STRICT) ? at->own[ZO_STRICT].flag : !at->is_private;
    if (given(at, ZO_LEVEL) && !(how->level > 1.0))
        return pn_fail(err, PN_EINVAL, "%s: level must be above 1, got %g", at->owner, how->level);
    if (at->paper && given(at, ZO_DIRECTIONS) && at->own[ZO_DIRECTIONS].count != PN_DIRECTIONS_IID)
        return pn_fail(err, PN_EINVAL, "%s: calibration=\"paper\" has directions=\"iid\", got \"%s\"", at->owner,
                       pn_directions_names[at->own[ZO_DIRECTIONS].count]);
    return PN_OK;
}

static double article_rho(const zo_work *at)
{
    if (!at->is_private)
        return INFINITY;
    return sqrt(2.0 * pn_gradient_noise_rho(&at->plan->base.request) / (double)at->plan->passes);
}

/* Subgradients of r, entry by entry. */
static double regulariser_slope(const zo_work *at)
{
    const pn_bounds *bounds = pn_objective_bounds(at->plan->base.objective);

    if (!pn_objective_regulariser(at->plan->base.objective))
        return 0.0;
    return bounds->reg.gradient * sqrt((double)at->plan->dim);
}

static pn_status read_prefix(zo_work *at, pn_err *err)
{
    const pn_arg *args = at->own + ZO_PREFIX;
    pn_status status = pn_prefix_read_options(&at->prefix, at->owner, args, err);

    for (size_t i = 0; pn_prefix_params[i].name; i++)
        at->prefix_given = at->prefix_given || args[i].given;
    if (status == PN_OK && at->prefix.estimator_given && at->prefix.estimator == PN_PREFIX_FULL)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: prefix.estimator=\"full\" uses noise that comes later, and a round cannot wait for it; use "
                       "\"honaker\"",
                       at->owner);
    return status;
}

static pn_status read_problem(zo_work *at, pn_err *err)
{
    zo_plan *plan = at->plan;
    pn_status status = check_problem(at, err);

    plan->passes = at->own[ZO_PASSES].count;
    if (status == PN_OK)
        status = read_lipschitz(at, err);
    if (status == PN_OK)
        status = read_start(at, err);
    if (status == PN_OK)
        status = read_gap(at, err);
    if (status == PN_OK)
        status = read_smoothing(at, err);
    if (status == PN_OK && !at->naive)
        status = read_prefix(at, err);
    if (status != PN_OK)
        return status;
    at->regulariser_slope = regulariser_slope(at);
    at->problem.records = (double)pn_objective_data(plan->base.objective)->n;
    at->problem.dim = (double)plan->dim;
    at->problem.rho = article_rho(at);
    at->problem.radius = given(at, ZO_STATIONARITY) ? at->own[ZO_STATIONARITY].real : 0.5 * at->distance;
    return PN_OK;
}

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

/* Is its method in the table of prefix sums? */
static bool is_built(zo_sum sum)
{
    const pn_prefix_ops *const *row = pn_prefix_table();

    while (*row && strcmp(pn_prefix_name(*row), zo_sum_factorizations[sum]) != 0)
        row++;
    return *row != NULL;
}

/* Does the sum go with what prefix= says? */
static bool admits_sum(const zo_work *at, zo_sum sum)
{
    const pn_prefix_options *prefix = &at->prefix;
    bool binary = sum == ZO_TREE || sum == ZO_HONAKER;

    if (!prefix->factorization)
        return !prefix->estimator_given || (binary && (sum == ZO_TREE) == (prefix->estimator == PN_PREFIX_PLAIN));
    if (strcmp(prefix->factorization, "binary") == 0)
        return binary && (!prefix->estimator_given || (sum == ZO_TREE) == (prefix->estimator == PN_PREFIX_PLAIN));
    if (strcmp(prefix->factorization, "blt") == 0)
        return sum == ZO_BLT;
    return sum == ZO_SQRT; /* and what is like it: the bound of the plan is that of what runs */
}

static bool admits(const zo_work *at, zo_method method)
{
    pn_directions asked = (pn_directions)at->own[ZO_DIRECTIONS].count;
    bool only_naive = at->naive || (given(at, ZO_ORACLE) && at->own[ZO_ORACLE].count == ZO_NAIVE);

    if (only_naive && asked == PN_DIRECTIONS_IID) /* of one direction a record there is nothing else */
        asked = PN_DIRECTIONS_ONE;

    if (method.directions != PN_DIRECTIONS_ONE && at->plan->dim > PN_DIRECTION_DIM_MAX)
        return false;
    if (given(at, ZO_LEVEL) && method.directions != PN_DIRECTIONS_IID)
        return false;
    if (given(at, ZO_DIRECTIONS) && method.directions != asked)
        return false;
    if (at->naive)
        return method.oracle == ZO_NAIVE && (given(at, ZO_DIRECTIONS) || method.directions == PN_DIRECTIONS_ONE);
    if (at->paper)
        return method.oracle == ZO_VARIANCE_REDUCED && method.directions == PN_DIRECTIONS_IID && method.sum == ZO_TREE;
    if (given(at, ZO_ORACLE) && method.oracle != (zo_oracle)at->own[ZO_ORACLE].count)
        return false;
    if (method.oracle == ZO_NAIVE)
        return !given(at, ZO_FIRST_BATCH) && !at->prefix_given;
    return is_built(method.sum) && admits_sum(at, method.sum);
}

#define MOST_NOISE_BYTES 67108864.0 /* kept by the sums of "sqrt" ... */
#define MOST_NOISE_WORK  2e11       /* ... and multiplications of a run, unless it is asked for */

/* T^2/2 products of vectors an epoch. */
static bool too_slow(const zo_work *at, const zo_choice *choice)
{
    double T = (double)choice->rounds, d = at->problem.dim;

    if (choice->method.oracle == ZO_NAIVE || choice->method.sum != ZO_SQRT || at->prefix.factorization)
        return false;
    return 8.0 * T * d > MOST_NOISE_BYTES ||
           T * T / 2.0 * d * (double)choice->epochs * (double)at->plan->passes > MOST_NOISE_WORK;
}

/* The article's parameters, of which the number of rounds alone is free. */
static bool search_article(const zo_work *at, zo_choice *best)
{
    bool found = false;
    double delta = at->problem.radius, M = at->problem.records;

    for (size_t T = 2; 2.0 * (double)T - 1.0 <= M; T *= 2) {
        zo_choice now = at->fixed;
        double rounds = (double)(now.rounds = now.rounds ? now.rounds : T), leaf;

        now.method = (zo_method){ ZO_VARIANCE_REDUCED, PN_DIRECTIONS_IID, ZO_TREE };
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
        at->allowed[i] = admits(at, zo_methods[i]);
        at->found[i] = at->paper && at->allowed[i] ? search_article(at, &at->best[i])
                                                   : zo_search(&at->problem, zo_methods[i], &at->fixed, &at->best[i]);
        if (at->found[i] && too_slow(at, &at->best[i]))
            at->allowed[i] = false;
    }
}

static bool pick_best(zo_work *at, const bool *found, const zo_choice *of)
{
    bool any = false;

    for (int i = 0; i < ZO_METHODS; i++) {
        if (!at->allowed[i] || !found[i] || (any && !(of[i].bound < at->plan->choice.bound)))
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
    return pick_best(at, found, of);
}

/* As few records as the target needs with the method that needs fewest. */
static void read_target(zo_work *at)
{
    double least = INFINITY, n = at->problem.records;

    if (!given(at, ZO_TARGET))
        return;
    for (int i = 0; i < ZO_METHODS; i++) {
        if (admits(at, zo_methods[i]))
            least = fmin(least, zo_records_for(&at->problem, zo_methods[i], at->own[ZO_TARGET].real));
    }
    at->problem.records = fmin(least, n);
    if (least > n)
        pn_plan_warn(&at->plan->base, "target = %g would need %.3g records, there are %.0f", at->own[ZO_TARGET].real,
                     least, n);
}

static pn_status choose(zo_work *at, pn_err *err)
{
    bool any = false;

    read_fixed(at);
    read_target(at);
    for (int i = 0; i < ZO_METHODS; i++)
        any = any || admits(at, zo_methods[i]);
    if (!any)
        return pn_fail(err, PN_EINVAL,
                       "%s: no method fits directions, oracle, first_batch, level and prefix together; "
                       "directions=\"one\" is of the naive oracle and the only one beyond dimension %d, level= of "
                       "directions=\"iid\", first_batch= and prefix= of the variance-reduced oracle",
                       at->owner, PN_DIRECTION_DIM_MAX);
    search_all(at);
    any = pick_best(at, at->found, at->best);
    at->practical = !at->paper && (!any || !(at->plan->choice.bound < at->problem.lipschitz));
    if (at->practical)
        any = pick_practical(at) || any;
    if (!any)
        return pn_fail(err, PN_EINVAL,
                       "%s: %.0f records are too few for the epochs, rounds and batches that were asked for", at->owner,
                       at->problem.records);
    return PN_OK;
}

/* ---- the plan ---- */

static pn_status set_slices(zo_work *at, pn_err *err)
{
    zo_plan *plan = at->plan;
    const zo_choice *choice = &plan->choice;
    bool naive = choice->method.oracle == ZO_NAIVE;
    size_t rounds = choice->epochs * choice->rounds, asked = at->common[PN_OPT_ITERATIONS].count;

    plan->slices = (pn_single_pass_options){ .design = plan->design,
                                             .n = pn_objective_data(plan->base.objective)->n,
                                             .passes = plan->passes,
                                             .first = choice->first,
                                             .others = naive ? choice->first : choice->others,
                                             .leaves = naive ? 1 : choice->rounds,
                                             .epochs = naive ? rounds : choice->epochs };
    if (plan->passes > ((size_t)1 << 52) / rounds)
        return pn_fail(err, PN_EINVAL, "%s: %zu passes of %zu rounds are too many", at->owner, plan->passes, rounds);
    plan->base.iterations = rounds * plan->passes;
    if (!at->common[PN_OPT_ITERATIONS].given)
        return PN_OK;
    if (asked > plan->base.iterations)
        return pn_fail(err, PN_EINVAL,
                       "%s: iterations = %zu is more than the %zu rounds for which there are records; use smaller "
                       "batches or more passes",
                       at->owner, asked, plan->base.iterations);
    plan->base.iterations = asked;
    plan->base.charges = (asked + rounds - 1) / rounds;
    return PN_OK;
}

/* Two values a direction, four of a difference. */
static double values_of_run(const zo_plan *plan)
{
    const zo_choice *choice = &plan->choice;
    bool naive = choice->method.oracle == ZO_NAIVE, one = plan->smoothing.directions == PN_DIRECTIONS_ONE;
    double directions = one ? 1.0 : (double)plan->dim, T = (double)choice->rounds;
    double epochs = floor((double)plan->base.iterations / T), rest = (double)plan->base.iterations - epochs * T;
    double first = 2.0 * directions * (double)choice->first;
    double other = naive ? first : 4.0 * directions * (double)choice->others;

    return epochs * (first + (T - 1.0) * other) + (rest > 0.0 ? first + (rest - 1.0) * other : 0.0);
}

/* What a run would refuse after it was paid for. */
static pn_status check_radii(const zo_work *at, pn_err *err)
{
    const zo_choice *choice = &at->plan->choice;

    if (!(choice->smoothing >= 0x1p-400 && choice->smoothing <= 0x1p400))
        return pn_fail(err, PN_EINVAL, "%s: smoothing must be in [2^-400, 2^400], got %g", at->owner,
                       choice->smoothing);
    if (!(choice->ball >= 0x1p-400 && choice->ball <= 0x1p290))
        return pn_fail(err, PN_EINVAL, "%s: radius must be in [2^-400, 2^290], got %g", at->owner, choice->ball);
    if (!isfinite(choice->step) && at->own[ZO_STEP].given)
        return pn_fail(err, PN_EINVAL, "%s: step must be a positive number, got %g", at->owner, choice->step);
    return PN_OK;
}

static pn_status fill(zo_work *at, pn_err *err)
{
    zo_plan *plan = at->plan;
    pn_status status = read_problem(at, err);

    if (status == PN_OK)
        status = choose(at, err);
    if (status != PN_OK)
        return status;
    plan->output = (zo_output)at->own[ZO_OUTPUT].count;
    plan->smoothing.directions = plan->choice.method.directions;
    plan->smoothing.radius = plan->choice.smoothing;
    status = check_radii(at, err);
    if (status == PN_OK)
        status = zo_make_design(at, err);
    if (status == PN_OK)
        status = set_slices(at, err);
    if (status != PN_OK)
        return status;
    plan->base.gradients = values_of_run(plan);
    zo_explain(at);
    return PN_OK;
}

static pn_status new_plan(pn_plan **out, bool naive, pn_objective *objective, const pn_request *request,
                          const pn_arg *common, const pn_arg *own, pn_err *err)
{
    const char *name = naive ? "zeroth_order_naive" : "zeroth_order";
    zo_plan *plan = pn_calloc(1, sizeof *plan);
    zo_work at = { .plan = plan,
                   .owner = naive ? "solve.zeroth_order_naive" : "solve.zeroth_order",
                   .common = common,
                   .own = own,
                   .naive = naive,
                   .is_private = request->kind != PN_NONPRIVATE,
                   .paper = !naive && strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0 };
    pn_status status;

    if (!plan)
        return pn_fail(err, PN_ENOMEM, "%s: out of memory", at.owner);
    plan->base.solver = pn_solver_find(name);
    plan->base.objective = objective;
    plan->base.request = *request;
    plan->base.proven = true;
    plan->base.bound = NAN;
    plan->base.samples = !at.is_private;
    plan->dim = pn_objective_dim(objective);
    status = fill(&at, err);
    if (status != PN_OK) {
        pn_plan_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return PN_OK;
}

pn_status zo_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                      const pn_arg *own, pn_err *err)
{
    return new_plan(out, false, objective, request, common, own, err);
}

pn_status zo_naive_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                            const pn_arg *own, pn_err *err)
{
    return new_plan(out, true, objective, request, common, own, err);
}

void zo_plan_destroy(pn_plan *plan)
{
    zo_plan *self = (zo_plan *)plan;

    pn_prefix_design_free(self->design);
    pn_free(self->start);
    pn_free(self);
}
