/* zeroth_order_problem.c -- the options of zeroth-order optimization,
 * and what they and the objective say about the problem.
 * Depends on: zeroth_order.h.  Used by: zeroth_order_plan.c.  See zeroth-order.md sections 4 and 8. */
#include <math.h>
#include <string.h>

#include "continual/prefix_rows.h"
#include "core/alloc.h"
#include "numeric/blas.h"
#include "solvers/engine/first_order.h"
#include "oracle/gradient_noise.h"
#include "solvers/zeroth_order/zeroth_order.h"

static const char *const outputs[] = { "random", "best", "last", NULL };
static const char *const oracles[] = { "variance_reduced", "naive", NULL };

/* One option, one row. */
/* clang-format off */
#define SHARED_ROWS \
    { "smoothing", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "mu: gradients are those of the loss averaged over balls of this radius; by default half of stationarity" }, \
    { "directions", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_DERIVED, pn_directions_names, \
      "in which a record's loss is looked at: d orthonormal ones, d independent ones, or (naive only) one; by " \
      "default what the bound favours" }, \
    { "radius", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "D: the longest step of a round; by default what stationarity leaves room for" }, \
    { "lipschitz", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "L of a record's loss in theta, l2: enforced by clipping; by default what is certified or declared of the " \
      "loss" }, \
    { "stationarity", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "delta: radius of the Goldstein measure that the bound is about; by default half of distance" }, \
    { "target", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "eps: as many records are used as bring the bound down to it; by default all" }, \
    { "gap", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "bound on the objective at the start less its least value; by default from the loss, or L distance" }, \
    { "distance", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "how far from the start a good point may be; by default 1, or the norm of start= where that is larger" }, \
    { "epochs", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, \
      "K: of one pass; each has its own learner and its own sums" }, \
    { "rounds", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "T: steps of an epoch" }, \
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, \
      "B2: records of every round but an epoch's first; naive: of every round" }, \
    { "step", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "eta of the learner; by default D/(G sqrt(T))" }, \
    { "passes", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, \
      "how often each record may be used; each pass is paid for" }, \
    { "output", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, outputs, \
      "which epoch's mean point is the answer: random, what the bound is about; best, of the smallest mean released " \
      "gradient; last, the default where no bound is proved or says anything" }, \
    { "group", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, \
      "consecutive records of a batch that share their directions: faster, with more variance" }, \
    { "level", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, \
      "independent directions are drawn again until their largest singular value is at most this, > 1" }, \
    { "strict", PN_FLAG, PN_OPTIONAL, PN_ANY, PN_DERIVED, NULL, \
      "a loss that is NaN ends the run; by default only without privacy, with it such values count as 0" }
/* clang-format on */

const pn_param zo_naive_params[] = { SHARED_ROWS, PN_PARAM_END };

const pn_param zo_params[] = {
    SHARED_ROWS,
    { "first_batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "B1: records of an epoch's first round" },
    { "oracle", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_DERIVED, oracles,
      "variance_reduced: a gradient, then differences in a private prefix sum; naive: fresh gradients; by default what "
      "the bound favours" },
    PN_PREFIX_ROWS("prefix."),
    PN_PARAM_END,
};

bool zo_given(const zo_work *at, int option)
{
    return (option < ZO_NAIVE_COUNT || !at->naive) && at->own[option].given;
}

/* ---- the problem ---- */

static pn_status check_problem(const zo_work *at, pn_err *err)
{
    const pn_request *request = &at->plan->base.request;
    const pn_set *set = pn_objective_set(at->plan->base.objective);

    if (set && strcmp(set->ops->name, "free") != 0)
        return pn_fail(
            err, PN_EUNSUPPORTED,
            "the solver moves without constraints, and the objective has the set %s; leave set= out, and give reg= "
            "for points that stay small",
            set->ops->name);
    if (request->kind == PN_NONPRIVATE)
        return PN_OK;
    if (request->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "neighbours=\"add_remove\" makes n secret, and batches are cut from all n records; use "
                       "\"replace_one\" or \"zero_out\"");
    return pn_request_need_delta(request, at->owner, err);
}

static pn_status read_lipschitz(zo_work *at, pn_err *err)
{
    const pn_bounds *bounds = pn_objective_bounds(at->plan->base.objective);
    pn_smoothing *how = &at->question->smoothing;
    double known = bounds->lipschitz[PN_L2];
    bool about_values = bounds->source == PN_BOUND_DECLARED || bounds->loss.continuous;

    how->lipschitz = zo_given(at, ZO_LIPSCHITZ) ? at->own[ZO_LIPSCHITZ].real : known;
    if (zo_given(at, ZO_LIPSCHITZ)) {
        at->slope_source = known <= how->lipschitz ? "as given, above what is known" : "as given, enforced by clipping";
        at->slope_holds = !(bounds->source == PN_BOUND_CERTIFIED && known > how->lipschitz);
    } else if (bounds->source == PN_BOUND_NONE || !(known > 0.0) || !isfinite(known)) {
        if (at->is_private)
            return pn_fail(err, PN_EPRIVACY,
                           "nothing bounds how far a record's loss moves with theta; give lipschitz=, which is "
                           "enforced by clipping, or " PN_HOW_TO_BOUND_ROWS);
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
        return pn_fail(err, PN_EINVAL, "lipschitz must be in [2^-400, 2^400], got %g", how->lipschitz);
    at->problem.lipschitz = at->slope_guessed ? 1.0 : how->lipschitz;
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
                             .start = plan->base.start,
                             .diameter = INFINITY };
    double known = INFINITY;

    at->distance = zo_given(at, ZO_DISTANCE) ? at->own[ZO_DISTANCE].real
                                             : fmax(1.0, pn_lp_norm(PN_L2, plan->dim, plan->base.start));
    at->gap_known = true;
    if (zo_given(at, ZO_GAP)) {
        at->problem.gap = at->own[ZO_GAP].real;
        return PN_OK;
    }
    if (pn_objective_loss(objective)->margins > 0)
        PN_TRY(pn_first_order_gap(&first, 0.0, &known, err));
    at->gap_known = isfinite(known) && known >= 0.0;
    at->problem.gap = at->gap_known ? known : at->problem.lipschitz * at->distance;
    return PN_OK;
}

static pn_status read_smoothing(zo_work *at, pn_err *err)
{
    pn_smoothing *how = &at->question->smoothing;

    how->group = at->own[ZO_GROUP].count;
    how->level = zo_given(at, ZO_LEVEL) ? at->own[ZO_LEVEL].real : 0.0;
    how->strict = zo_given(at, ZO_STRICT) ? at->own[ZO_STRICT].flag : !at->is_private;
    if (zo_given(at, ZO_LEVEL) && !(how->level > 1.0))
        return pn_fail(err, PN_EINVAL, "level must be above 1, got %g", how->level);
    if (at->paper && zo_given(at, ZO_DIRECTIONS) && at->own[ZO_DIRECTIONS].count != PN_DIRECTIONS_IID)
        return pn_fail(err, PN_EINVAL, "calibration=\"paper\" has directions=\"iid\", got \"%s\"",
                       pn_directions_names[at->own[ZO_DIRECTIONS].count]);
    if (at->paper && !at->naive && zo_given(at, ZO_ORACLE) && at->own[ZO_ORACLE].count == ZO_NAIVE)
        return pn_fail(err, PN_EINVAL,
                       "calibration=\"paper\" has oracle=\"variance_reduced\", got \"naive\"; the article's "
                       "comparison is solve.zeroth_order_naive");
    return PN_OK;
}

static double article_rho(const zo_work *at)
{
    if (!at->is_private)
        return INFINITY;
    return sqrt(2.0 * pn_gradient_noise_rho(&at->plan->base.request) / (double)at->question->slices.passes);
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
    const char *implied;

    PN_TRY(pn_prefix_read_options(&at->prefix, at->owner, args, err));
    for (size_t i = 0; pn_prefix_params[i].name; i++)
        at->prefix_given = at->prefix_given || args[i].given;
    if (at->prefix.estimator_given && at->prefix.estimator == PN_PREFIX_FULL)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "prefix.estimator=\"full\" uses noise that comes later, and a round cannot wait for it; use "
                       "\"honaker\"");
    implied = pn_prefix_implied(&at->prefix);
    if (!at->prefix.factorization && implied && strcmp(implied, "binary") != 0) /* which has two estimators */
        at->prefix.factorization = implied;
    return PN_OK;
}

pn_status zo_read_problem(zo_work *at, pn_err *err)
{
    zo_plan *plan = at->plan;

    PN_TRY(check_problem(at, err));
    at->question->slices.passes = at->own[ZO_PASSES].count;
    PN_TRY(read_lipschitz(at, err));
    PN_TRY(pn_plan_start(&plan->base.start, plan->base.objective, &at->common[PN_OPT_START], err));
    PN_TRY(read_gap(at, err));
    PN_TRY(read_smoothing(at, err));
    PN_TRY(at->naive ? PN_OK : read_prefix(at, err));
    at->regulariser_slope = regulariser_slope(at);
    at->problem.records = (double)pn_objective_data(plan->base.objective)->n;
    at->problem.dim = (double)plan->dim;
    at->problem.rho = article_rho(at);
    at->problem.zero_out = plan->base.request.neighbours == PN_ZERO_OUT;
    at->problem.published = at->paper;
    at->problem.group = (double)at->own[ZO_GROUP].count;
    at->problem.radius = zo_given(at, ZO_STATIONARITY) ? at->own[ZO_STATIONARITY].real : 0.5 * at->distance;
    return PN_OK;
}
