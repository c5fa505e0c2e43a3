/* zeroth_order_explain.c -- the lines, warnings and settings of a zeroth-order plan.
 * Depends on: zeroth_order.h.  Used by: zeroth_order_plan.c.  See zeroth-order.md sections 4 to 6. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/zeroth_order/zeroth_order.h"

static const char *as_given(const zo_work *at, int option, const char *otherwise)
{
    return at->own[option].given ? "as given" : otherwise;
}

static bool is_naive(const zo_work *at)
{
    return at->plan->choice.method.oracle == ZO_NAIVE;
}

/* ---- the problem ---- */

static void explain_problem(zo_work *at)
{
    pn_plan *plan = &at->plan->base;
    const pn_regulariser *reg = pn_objective_regulariser(plan->objective);

    pn_plan_add(plan, "records M", at->problem.records, "%s; public",
                at->own[ZO_TARGET].given ? "for the target, or all" : "that a pass may use");
    pn_plan_add(plan, "dimension d", at->problem.dim, "of theta");
    pn_plan_add(plan, "Lipschitz L", at->problem.lipschitz, "%s", at->slope_source);
    if (reg)
        pn_plan_add(plan, "regulariser slope", at->regulariser_slope, "%s is public: its gradient is added",
                    reg->row->name);
    pn_plan_add(plan, "gap", at->problem.gap, "F(x0) - inf F at most, %s",
                at->own[ZO_GAP].given ? "as given"
                : at->gap_known       ? "from the loss's range and slope"
                                      : "guessed: L times distance; give gap=");
}

/* ---- sizes ---- */

static void explain_radii(zo_work *at)
{
    pn_plan *plan = &at->plan->base;
    const zo_choice *choice = &at->plan->choice;
    double reach = choice->ball * ((double)choice->rounds + 1.0) / 2.0;

    pn_plan_add(plan, "smoothing mu", choice->smoothing, "%s",
                as_given(at, ZO_SMOOTHING,
                         at->practical                                               ? "what does well in practice"
                         : fabs(choice->smoothing / at->problem.radius - 0.5) > 1e-9 ? "what the ball leaves of delta"
                                                                                     : "half of delta"));
    pn_plan_add(plan, "ball D", choice->ball, "%s; longest step of a round",
                as_given(at, ZO_RADIUS,
                         at->paper       ? "delta/(2 T)"
                         : at->practical ? "what does well in practice"
                                         : "2 (delta - mu)/(T + 1)"));
    pn_plan_add(plan, "Goldstein delta", choice->smoothing + reach, "mu + D (T + 1)/2: what the bound is about");
    pn_plan_set(plan, "smoothing", choice->smoothing, false);
    pn_plan_set(plan, "radius", choice->ball, false);
}

static void explain_sizes(zo_work *at)
{
    zo_plan *plan = at->plan;
    const zo_choice *choice = &plan->choice;
    const char *rule = at->paper ? "the article's" : at->practical ? "what does well in practice" : "least bound";
    double K = (double)choice->epochs, T = (double)choice->rounds;
    double used = K * ((double)choice->first + (T - 1.0) * (double)choice->others);

    pn_plan_add(&plan->base, "epochs K", K, "%s", as_given(at, ZO_EPOCHS, "as many as there are records for"));
    pn_plan_add(&plan->base, "rounds T", T, "%s", as_given(at, ZO_ROUNDS, rule));
    if (is_naive(at)) {
        pn_plan_add(&plan->base, "batch B", (double)choice->first, "%s; of every round", as_given(at, ZO_BATCH, rule));
    } else {
        pn_plan_add(&plan->base, "first batch B1", (double)choice->first, "%s; gradients",
                    as_given(at, ZO_FIRST_BATCH, rule));
        pn_plan_add(&plan->base, "batch B2", (double)choice->others, "%s; differences", as_given(at, ZO_BATCH, rule));
    }
    pn_plan_add(&plan->base, "records used", used, "each once a pass, in %s; %zu pass%s",
                is_naive(at) ? "one round" : "one leaf of one epoch's sums", at->question->slices.passes,
                at->question->slices.passes > 1 ? "es" : "");
    pn_plan_add(&plan->base, "step eta", choice->step, "%s",
                as_given(at, ZO_STEP, at->practical ? "D/(G sqrt(T)), G with noise and slope" : "D/(G sqrt(T))"));
    pn_plan_add(&plan->base, "loss values", plan->base.gradients,
                "function values of single records; what fit.gradients counts");
    if (choice->rounds == 1)
        pn_plan_warn(&plan->base, "rounds = 1: the first step of every epoch is 0, so nothing moves; give at least 2");
    pn_plan_set(&plan->base, "epochs", K, true);
    pn_plan_set(&plan->base, "rounds", T, true);
    pn_plan_set(&plan->base, "batch", (double)choice->others, true);
    if (!is_naive(at))
        pn_plan_set(&plan->base, "first_batch", (double)choice->first, true);
    pn_plan_set(&plan->base, "step", choice->step, false);
}

/* ---- noise ---- */

static void explain_noise(zo_work *at)
{
    static const char *const norms[] = { "sqrt(d) L", "d L", "d L" };
    zo_plan *plan = at->plan;
    const zo_choice *choice = &plan->choice;
    const char *norm = at->question->smoothing.level > 0.0 && at->question->smoothing.directions == PN_DIRECTIONS_IID
                           ? "sqrt(d) L level"
                           : norms[at->question->smoothing.directions];
    bool replace = plan->base.request.neighbours == PN_REPLACE_ONE;
    double first, others;
    char method[160];

    pn_plan_add_text(&plan->base, "directions", pn_directions_names[at->question->smoothing.directions],
                     "of a record's differences, independent of the data");
    if (!at->is_private)
        return;
    pn_smoothed_sensitivities(at->question, &first, &others);
    pn_plan_add(&plan->base, "sensitivity s1", first, "%s%s/%s, enforced", replace ? "2 " : "", norm,
                is_naive(at) ? "B" : "B1");
    if (others > 0.0)
        pn_plan_add(&plan->base, "sensitivity s2", others, "%s%s min(2 D/mu, 2)/B2, enforced", replace ? "2 " : "",
                    norm);
    pn_prefix_design_describe(at->question->design, method, sizeof method);
    pn_plan_add(&plan->base, "noise sigma", choice->sigma, "s %.6g/sqrt(2 rho); %s",
                pn_prefix_gain(at->question->design), is_naive(at) ? "fresh in every round" : method);
    pn_plan_add(&plan->base, "noise of a round", choice->noise, "sqrt(d) times that of a coordinate, rms over rounds");
    if (at->question->slices.passes > 1)
        pn_plan_add(&plan->base, "passes", (double)at->question->slices.passes, "each is charged when it begins");
}

/* ---- bounds ---- */

const char *zo_no_bound(const zo_work *at)
{
    if (at->slope_guessed)
        return "L is guessed";
    if (!at->slope_holds)
        return "L is what is enforced, not what holds of the loss";
    if (!at->gap_known)
        return "nothing bounds the gap; give gap=";
    if (at->question->slices.passes > 1)
        return "records of a second pass are not fresh";
    if (!isfinite(at->regulariser_slope))
        return "the slope of the regulariser is not bounded";
    if (at->common[PN_OPT_ITERATIONS].given)
        return "the run is cut short by iterations=";
    if (at->plan->output != ZO_RANDOM)
        return "it is proved for output=\"random\"";
    return NULL;
}

/* Where a run's end is as likely worse than its start as better (the study of zeroth_order_practical.c). */
static void warn_of_noise(zo_work *at)
{
    double limit = at->problem.lipschitz * (is_naive(at) ? 1.0 : 0.5);

    if (at->practical && at->plan->choice.noise > limit)
        pn_plan_warn(&at->plan->base,
                     "the noise of a round, %.3g, is large beside gradients of norm at most L = %.3g: a run may end no "
                     "better than it starts; more records, a larger budget or fewer dimensions would help",
                     at->plan->choice.noise, at->problem.lipschitz);
}

static void explain_bound(zo_work *at)
{
    zo_plan *plan = at->plan;
    const zo_choice *choice = &plan->choice;
    const char *none = zo_no_bound(at);
    double slope = at->problem.lipschitz + at->regulariser_slope;

    pn_plan_add(&plan->base, "oracle error e", choice->error, "rms over rounds: sampling and noise");
    if (!is_naive(at) && !at->problem.published) {
        pn_plan_add(&plan->base, "past error", choice->past, "rms of what earlier rounds have seen of it");
        pn_plan_add(&plan->base, "mean error", choice->drift, "rms of its mean over an epoch");
    }
    plan->base.bound = none ? NAN : choice->bound;
    if (none)
        pn_plan_add(&plan->base, "would-be bound", choice->bound, "no bound: %s", none);
    else
        pn_plan_add(&plan->base, "BOUND", choice->bound, "expected norm of the smoothed population gradient: %s",
                    is_naive(at)            ? "(gap + L mu)/(D T K) + (G + e)/sqrt(T)"
                    : at->problem.published ? "(gap + L mu)/(D T K) + G/sqrt(T) + 2 e"
                                            : "(gap + L mu)/(D T K) + G/sqrt(T) + past error + mean error");
    if (!(choice->bound < slope))
        pn_plan_warn(&plan->base,
                     "the bound, %.4g, promises nothing: every point has a gradient of norm at most L = %.4g.  %s",
                     choice->bound, slope,
                     at->practical ? "Sizes are those that do well in practice; tune radius= and smoothing= on public "
                                     "data"
                                   : "More records or a larger budget would help");
}

/* M >= the larger of two terms; the article's words: privacy is free where the second is the smaller. */
static void explain_complexity(zo_work *at)
{
    pn_plan *plan = &at->plan->base;
    double eps =
        at->own[ZO_TARGET].given ? at->own[ZO_TARGET].real : fmin(at->plan->choice.bound, at->problem.lipschitz);
    double without, with;

    if (!at->is_private || !(eps > 0.0) || !isfinite(eps))
        return;
    zo_complexity(&at->problem, at->plan->choice.method, eps, &without, &with);
    pn_plan_add(plan, "M without noise", without,
                "records that a gradient of norm eps = %.3g takes without privacy, up to constants and logarithms",
                eps);
    pn_plan_add(plan, "M for privacy", with, "records that the noise at sqrt(2 rho) = %.4g takes, likewise",
                at->problem.rho);
    pn_plan_add_text(plan, "privacy is free", with <= without ? "yes" : "no",
                     "M for privacy is %s M without noise; the article's rule for iid directions: sqrt(2 rho) >= "
                     "sqrt(d) eps = %.4g",
                     with <= without ? "at most" : "above", sqrt(at->problem.dim) * eps);
}

/* Every method with the sizes that make its bound least; where bounds are trivial the one that runs has others. */
static void explain_methods(zo_work *at)
{
    static const char *const names[ZO_METHODS] = { "VR orth tree", "VR orth honaker", "VR orth sqrt", "VR orth blt",
                                                   "VR iid tree",  "VR iid honaker",  "VR iid sqrt",  "VR iid blt",
                                                   "naive one",    "naive orth" }; /* as wide as those of lines are */
    const zo_method *runs = &at->plan->choice.method;

    for (int i = 0; i < ZO_METHODS; i++) {
        const zo_choice *best = &at->best[i];
        const zo_method *of = &zo_methods[i];
        bool chosen = of->oracle == runs->oracle && of->directions == runs->directions && of->sum == runs->sum;

        if (at->found[i])
            pn_plan_add(&at->plan->base, names[i], best->bound, "%sleast bound at K=%zu T=%zu B1=%zu B2=%zu%s",
                        !chosen         ? ""
                        : at->practical ? "* runs, with the sizes above; "
                                        : "* runs: ",
                        best->epochs, best->rounds, best->first, best->others,
                        at->allowed[i] || chosen ? "" : "; only where asked for");
    }
}

static void explain_output(zo_work *at)
{
    static const char *const words[] = { "mean point of an epoch drawn at random",
                                         "mean point of the epoch with the smallest mean released gradient",
                                         "mean point of the last epoch" };
    static const char *const names[] = { "random", "best", "last" };
    zo_plan *plan = at->plan;

    pn_plan_add_text(&plan->base, "output", names[plan->output], "%s", words[plan->output]);
    if (at->is_private && at->question->smoothing.strict)
        pn_plan_warn(&plan->base, "strict=true: whether the run ends early depends on records and is not paid for");
}

void zo_explain(zo_work *at)
{
    explain_problem(at);
    explain_radii(at);
    explain_sizes(at);
    explain_noise(at);
    explain_output(at);
    explain_bound(at);
    warn_of_noise(at);
    explain_complexity(at);
    explain_methods(at);
}
