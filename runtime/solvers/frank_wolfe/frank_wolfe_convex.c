/* frank_wolfe_convex.c -- plan and table row of Frank-Wolfe over any convex set: the vertex of a gradient with Gaussian
 * noise.  The linear minimisation oracle is post-processing, so it may be a user's and inexact.
 * The steps are frank_wolfe.c's.
 * Depends on: frank_wolfe.h, geometry/width/width.h.  Used by: solvers.c's table.
 * Source: Talwar, Thakurta, Zhang (2014), Algorithm 5, corrected (frank-wolfe.md section 4).
 *
 * The vertex for g + b loses at most sigma G_C in expectation, G_C the Gaussian width: 2 Gamma/(T+2) + sigma G_C bounds
 * the excess risk, least at T = (4 Gamma/a)^(2/3) with a = sigma G_C at T = 1. */
#include <math.h>
#include <string.h>

#include "geometry/width/width.h"
#include "oracle/gradient_batch.h"
#include "solvers/engine/work.h"
#include "solvers/frank_wolfe/frank_wolfe.h"

const pn_param fw_convex_params[] = {
    FW_STEP_PARAM, FW_PRESET_PARAM, PN_BATCH_PARAMS, PN_WIDTH_PARAM(" and the default number of steps"), PN_PARAM_END,
};

/* A default T: what minimises the bound, what the plan wants and has within its work, and sigma G at T = 1. */
typedef struct steps {
    size_t best, wanted, planned;
    double one;
} steps;

static steps default_steps(const fw_plan *plan, const fw_problem *at, const pn_width *width, size_t most)
{
    steps made = { 0 };

    for (int round = 0; round < (plan->noise.scheme ? 2 : 1); round++) { /* of batches the noise follows the steps */
        made.one = pn_gradient_noise_unit(&plan->noise, &plan->base, made.planned) * width->high;
        made.best = at->bounded ? fw_best_steps(at->gamma, made.one, FW_DEFAULT_STEPS) : FW_DEFAULT_STEPS;
        made.wanted = plan->noise.scheme ? made.best : fw_practical_steps(at, made.one, made.best);
        made.planned = made.wanted < most ? made.wanted : most;
    }
    return made;
}

/* Sets plan->base.iterations, and the first line where work limits them. */
static steps choose_steps(fw_plan *plan, const fw_problem *at, const pn_width *width, const pn_arg *given)
{
    double each = pn_planned_seconds(at->objective, &plan->noise);
    steps made = { .planned = given->count };

    if (!given->given)
        made = default_steps(plan, at, width, pn_steps_within(each));
    plan->base.iterations = made.planned;
    pn_plan_work(&plan->base, each, (double)made.wanted);
    return made;
}

static void explain_risk(fw_plan *plan, const fw_problem *at, const pn_width *width)
{
    double from_steps = 2.0 * at->gamma / ((double)plan->base.iterations + 2.0);
    double from_noise = pn_gradient_noise_deviation(&plan->noise) * width->high;
    const char *none = plan->noise.scheme ? PN_BATCH_NO_BOUND : fw_no_bound(at);

    if (at->bounded && fw_is_standard(at))
        pn_plan_add(&plan->base, "risk from steps", from_steps, "2 Gamma / (T + 2)");
    pn_plan_add(&plan->base, "risk from noise", from_noise,
                plan->noise.scheme ? "sigma G, and as much of the draw's" : "sigma G");
    if (plan->noise.scheme && !fw_no_bound(at)) /* what it would be of all records: to compare by */
        plan->base.predicted = from_steps + from_noise;
    (void)pn_plan_bounds(&plan->base, from_steps + from_noise, none,
                         "expected, over the noise; sum of the two; Theorem 5.6, corrected");
}

/* calibration="paper" is what the article proves: what it prints is no noise for gradients of length L, but of
 * sqrt(L). */
static void explain_paper(fw_plan *plan, const fw_problem *at, const pn_arg *common)
{
    const pn_request *request = at->request;
    double T = (double)plan->base.iterations;

    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        pn_plan_add(&plan->base, "sigma as printed",
                    sqrt(32.0 * plan->noise.lipschitz * T) * log(at->n / request->delta) / (at->n * request->epsilon),
                    "not used: sqrt(32 L T) ln(n/delta) / (n epsilon) has L for L^2; the article's proof has L^2 and "
                    "ln(T/delta)");
}

/* A vertex gains at most the support function of a gradient, L G/sqrt(p) where slopes spread over all coordinates, and
 * noise costs sigma G whatever the set: it is the larger where sigma sqrt(p), its length, is above L.  Of 280 plans
 * on ten data sets, epsilon 0.01 to 10, 132 have that: runs of 116 kept nine tenths of the excess of the start and
 * more, of the others two thirds; of the 148 without it 8 did.  Noise beside all there is to gain tells less: sigma G
 * is above ln 2 in 146, and 42 of them gained more than a tenth. */
static void warn_of_noise(pn_plan *plan, const fw_problem *at, const pn_gradient_noise *noise)
{
    double length = pn_gradient_noise_deviation(noise) * sqrt((double)at->set->dim), L = noise->lipschitz;
    const char *instead = fw_descent_pays(at) ? ", or solve.gradient_descent," : "";

    if (length > L)
        pn_plan_warn(plan,
                     "the noise on a gradient has length %.3g, and no gradient is longer than %.3g: vertices follow "
                     "the noise, and the answer may be little better than the start; more records, more budget%s or "
                     "fewer columns would help",
                     length, L, instead);
}

static pn_status plan_private(fw_plan *plan, const fw_problem *at, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    pn_width width;
    steps made;
    pn_status status;

    PN_TRY(pn_plan_width(&width, at->set, &own[FW_CONVEX_WIDTH], at->request->task, err));
    made = choose_steps(plan, at, &width, &common[PN_OPT_ITERATIONS]);
    pn_plan_add(&plan->base, "records n", at->n, "public");
    pn_plan_add(&plan->base, "Lipschitz L", plan->noise.lipschitz, "max l2 norm of a record's gradient, %s",
                at->bounds->source == PN_BOUND_CLIPPED ? "by clipping" : "certified");
    fw_explain_curvature(&plan->base, at);
    pn_plan_explain_width(&plan->base, "width G of C", "C", &width);
    pn_plan_add(&plan->base, "steps T", (double)plan->base.iterations, "%s",
                common[PN_OPT_ITERATIONS].given ? "as given"
                : made.planned < made.wanted    ? "as many as about 4 s of work allow"
                : made.wanted < made.best       ? FW_PRACTICAL_RULE
                : at->bounded                   ? "(4 Gamma / (sigma G at T = 1))^(2/3), minimises the risk bound"
                                                : "the default, since there is no risk bound to minimise");
    status = pn_gradient_noise_attach(&plan->base, &plan->noise, common, err);
    if (status != PN_OK)
        return status;
    if (!plan->noise.scheme)
        warn_of_noise(&plan->base, at, &plan->noise);
    explain_paper(plan, at, common);
    explain_risk(plan, at, &width);
    if (made.wanted < made.best)
        fw_explain_theory(&plan->base, at, made.one, made.best);
    return PN_OK;
}

pn_status fw_convex_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    fw_plan *plan = (fw_plan *)base;
    fw_problem at;

    PN_TRY(fw_read(&at, base, &common[PN_OPT_START], &own[FW_CONVEX_STEP], err));
    PN_TRY(pn_gradient_noise_batch(&plan->noise, base, common, &own[FW_CONVEX_BATCH], err));
    at.seconds = pn_planned_seconds(base->objective, &plan->noise);
    PN_TRY(fw_read_preset(&at, base, &own[FW_CONVEX_PRESET], common, err));
    if (base->request.kind == PN_NONPRIVATE) {
        fw_plan_nonprivate(plan, &at, common);
        PN_TRY(pn_gradient_noise_attach(base, &plan->noise, common, err));
    } else {
        PN_TRY(plan_private(plan, &at, common, own, err));
    }
    return fw_choose_step(plan, &at, err);
}
