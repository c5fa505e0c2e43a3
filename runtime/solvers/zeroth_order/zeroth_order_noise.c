/* zeroth_order_noise.c -- the method of a plan's prefix sums, and what their noise leaves of its error, step and bound.
 * Depends on: zeroth_order.h, question.h.  Used by: zeroth_order_plan.c.  Spec: zeroth-order.md sections 3 to 6. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "solvers/zeroth_order/zeroth_order.h"

/* ---- the method ---- */

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
    PN_TRY(pn_new(&all, rounds, err, "%s: out of memory for %zu rounds", at->owner, rounds));
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

pn_status zo_make_design(zo_work *at, pn_err *err)
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
