/* svrg_plan.c -- epochs, steps, batches and predicted risk of SVRG and SVRG++.
 * Depends on: svrg.h, svrg_shape.c.  Used by: svrg.c.  See variance-reduced.md sections 3, 4 and 10. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/accounting/calibrate_program.h"
#include "solvers/variance_reduced/svrg.h"

static const char *const presets[] = { "practical", "theory", NULL };
static const char *const forms[] = { "anchored", "printed", NULL };
static const char *const restarts[] = { "auto", "average", "last", NULL };

const pn_param svrg_params[] = {
    { "epochs", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "T: gradients of all records; `iterations` is the same" },
    { "inner", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL, "m: steps in an epoch; svrg_pp: half of those in the first" },
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "b: records of an inner step: without replacement, under zero_out each by a coin of rate b/n" },
    PN_STEP_PARAM("eta of the inner steps; of a list or a function one for each epoch"),
    { "preset", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, presets,
      "practical: what works, with no claim; theory: eta and m for which an epoch provably halves the gap" },
    { "form", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, forms,
      "anchored: the snapshot's gradient is released once an epoch; printed: with every inner step, as in the "
      "article" },
    { "anchor_share", PN_REAL, PN_OPTIONAL, PN_FRACTION, 0.0, NULL,
      "share of the budget that the gradients at snapshots would take by themselves (anchored form); by default "
      "0.7 to 0.9" },
    { "tail", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "an epoch's average weighs iterate t like t^tail; 0: all the same, as in the article; by default 3" },
    { "restart", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, restarts,
      "where an epoch starts: at the average of the one before, as the article's svrg, or at its last iterate, as "
      "svrg_pp; auto: average, but last for private svrg without strong convexity" },
    { "reach", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, -1.0, NULL,
      "differences of gradients are clipped to reach L ||x - y||, and noise is in proportion; by default 1, but 1/2 "
      "for losses of one margin from p = 20 on" },
    { "c", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "the constant that calibration=\"paper\" leaves open" },
    { "accountant", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_accountant_names,
      "pld: least noise, the whole run is charged before its first step; rdp: charged as the run goes.  Default: pld, "
      "but rdp with ledger= or rho=" },
    PN_STRONG_CONVEXITY_PARAM,
    PN_PROX_PARAM,
    PN_PARAM_END,
};

/* ---- the shape ---- */

static pn_status check_shape(const svrg_plan *plan, const svrg_shape *shape, pn_err *err)
{
    size_t n = pn_objective_data(plan->base.objective)->n;

    if (n < 2)
        return pn_fail(err, PN_EINVAL, "the data set must have at least two records, got %zu", n);
    if (shape->batch > n)
        return pn_fail(err, PN_EINVAL, "batch = %zu is larger than the %zu records", shape->batch, n);
    if (shape->epochs > 1000000 || (shape->doubling && shape->epochs > 40))
        return pn_fail(err, PN_EINVAL, "epochs must be at most %d, got %zu", shape->doubling ? 40 : 1000000,
                       shape->epochs);
    if (svrg_all_steps(shape) > 1e12)
        return pn_fail(err, PN_EINVAL, "%.3g inner steps in all; at most 1e12 can be counted", svrg_all_steps(shape));
    return PN_OK;
}

/* ---- how long, how fast ---- */

/* A loss without curvature over the margins that can occur has L = 0: nothing says how long a step may be. */
static pn_status check_step(const svrg_plan *plan, pn_err *err)
{
    double step = plan->shape.step;

    if (step > 0.0 && isfinite(step))
        return PN_OK;
    return pn_fail(err, PN_EINVAL, "no step size can be derived for a loss without curvature; give step=");
}

/* A size for each epoch, once their number is known and in bounds. */
static pn_status read_step(svrg_plan *plan, const pn_arg *step, pn_err *err)
{
    PN_TRY(check_shape(plan, &plan->shape, err));
    plan->base.iterations = plan->shape.epochs;
    return pn_schedule_read(&plan->step, &plan->base, &svrg_params[SVRG_STEP], step, err);
}

static pn_status choose_shape(svrg_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    svrg_shape *shape = &plan->shape;
    const pn_arg *steps = &common[PN_OPT_ITERATIONS];

    if (steps->given && own[SVRG_EPOCHS].given)
        return pn_fail(err, PN_EINVAL, "give either epochs or iterations, which are the same, not both");
    *shape = (svrg_shape){ .doubling = shape->doubling,
                           .epochs = own[SVRG_EPOCHS].given ? own[SVRG_EPOCHS].count
                                     : steps->given         ? steps->count
                                                            : 0,
                           .inner = own[SVRG_INNER].count,
                           .batch = own[SVRG_BATCH].count };
    PN_TRY(read_step(plan, &own[SVRG_STEP], err));
    shape->step = pn_step_number(&plan->step, &own[SVRG_STEP]);
    svrg_complete_shape(plan, own[SVRG_PRESET].count == 1);
    PN_TRY(read_step(plan, &own[SVRG_STEP], err));
    if (plan->step.each)
        shape->step = plan->step.eta;
    plan->step.eta = shape->step;
    return check_step(plan, err);
}

/* ---- lines ---- */

/* The article counts with single records, for which its noise has no guarantee;
 * a guarantee of that order of noise takes batches. */
static void explain_counts(svrg_plan *plan)
{
    const pn_request *request = &plan->base.request;
    pn_run_budget budget = pn_request_budget(request, plan->base.owner, NULL);
    svrg_shape valid = plan->shape, single = plan->shape;
    double n = plan->problem.n;

    if (request->kind == PN_NONPRIVATE || (request->kind == PN_EPSILON_DELTA && !(request->delta > 0.0)))
        return;
    single.batch = 1;
    valid.batch = pn_batch_rule((size_t)n, svrg_all_steps(&valid), &budget);
    pn_plan_add(&plan->base, "valid count", svrg_gradients(&valid, n),
                "gradients where batches (%zu) bring the noise to the article's order with a guarantee; the article "
                "counts %.4g, b = 1",
                valid.batch, svrg_gradients(&single, n));
}

static void explain_shape(svrg_plan *plan, const pn_arg *own, const char *epochs)
{
    pn_plan *base = &plan->base;
    const svrg_shape *shape = &plan->shape;
    double n = plan->problem.n, steps = svrg_all_steps(shape);

    pn_plan_add(base, "epochs T", (double)shape->epochs, "%s", epochs);
    pn_plan_add(base, "inner steps m", (double)shape->inner, "%s%s",
                own[SVRG_INNER].given ? "as given" : plan->why_inner, shape->doubling ? "; epoch s has m 2^s" : "");
    pn_plan_add(base, "batch b", (double)shape->batch, "%s%s",
                base->request.kind == PN_NONPRIVATE || pn_contributions(plan->base.request.neighbours) == 2.0
                    ? ""
                    : "expected, by coins of rate b/n; ",
                own[SVRG_BATCH].given ? "as given" : plan->why_batch);
    pn_schedule_explain(&plan->step, base, "step eta", shape->step, "%s",
                        own[SVRG_STEP].given ? "as given" : plan->why_step);
    if (base->request.kind != PN_NONPRIVATE)
        pn_plan_add(base, "releases", steps + (plan->printed ? 0.0 : (double)shape->epochs),
                    plan->printed ? "one an inner step, of a batch's sum + v under one noise"
                                  : "T of v, and one an inner step of a batch's sum of differences");
    pn_plan_add(base, "gradients", base->gradients, "%s",
                shape->doubling ? "n T + 2 b m (2^(T+1) - 2)" : "T (n + 2 m b)");
    pn_plan_add(base, "evaluations", n * (double)shape->epochs + (double)shape->batch * steps,
                "of those, the ones that are computed: slopes at the snapshot are kept for the epoch");
    explain_counts(plan);
}

/* What an inner step on sparse data costs. */
static void explain_laziness(svrg_plan *plan)
{
    pn_lazy_options how;
    const char *obstacle = svrg_lazy_obstacle(plan, &how);

    if (!pn_objective_data(plan->base.objective)->sparse)
        return;
    if (obstacle)
        pn_plan_add_text(&plan->base, "steps are", "dense", "O(p + entries of the batch): %s", obstacle);
    else
        pn_plan_add_text(&plan->base, "steps are", "lazy",
                         "O(entries of the batch): coordinates catch up when a record has an entry there");
}

static void explain_noise(svrg_plan *plan)
{
    pn_plan *base = &plan->base;
    double n = plan->problem.n, G = plan->problem.lipschitz, moved = pn_contributions(plan->base.request.neighbours);

    if (plan->printed) {
        pn_plan_add(base, "noise sigma", base->sigma, "per coordinate and inner step, of the batch mean + v");
        return;
    }
    pn_plan_add(base, "snapshot noise", plan->anchor.sigma,
                "per coordinate; one record moves v by %g G/n = %.4g; %.3g times %s", moved, moved * G / n,
                plan->share > 0.0 ? plan->share : plan->inflation,
                plan->share > 0.0 ? "the budget would pay for it" : "what it would be without inner steps");
    pn_plan_add(base, "multiplier z", plan->inner / moved, "of inner steps, in units of their sensitivity %g tau/b",
                moved);
    pn_plan_add(base, "noise sigma", base->sigma,
                "of an inner step where tau = 2 G; tau = min(2 G, reach L ||x - y||), enforced: %g z tau/b", moved);
}

/* How noise and cost depend on the choices: other shapes, and what is predicted for them.  Their noise by Renyi orders,
 * which take a thousandth of the time, as a multiple of what these say of this shape. */
void svrg_what_if(const pn_plan *base, pn_plan_lines *out)
{
    const svrg_plan *plan = (const svrg_plan *)base;
    static const char *const names[] = { "with b/2", "with 2 b", "with m/2", "with 2 m", "with 2 T" };
    svrg_noises here, there;
    pn_err err; /* a shape that the budget does not pay for has no line */

    if (svrg_noise_of(plan, &plan->shape, "rdp", &here, &err) != PN_OK)
        return;

    for (int i = 0; i < 5; i++) {
        svrg_shape other = plan->shape;
        double inner;

        other.batch = i == 0 ? other.batch / 2 : i == 1 ? 2 * other.batch : other.batch;
        other.inner = i == 2 ? other.inner / 2 : i == 3 ? 2 * other.inner : other.inner;
        other.epochs = i == 4 && !other.doubling ? 2 * other.epochs : other.epochs;
        if (other.batch < 1 || other.inner < 1 || (i == 4 && other.doubling) ||
            check_shape(plan, &other, NULL) != PN_OK)
            continue;
        if (svrg_noise_of(plan, &other, "rdp", &there, &err) != PN_OK)
            return;
        inner = plan->inner * (there.inner / here.inner);
        pn_lines_add(out, names[i], svrg_sigma(plan, &other, inner), "",
                     "noise sigma%s, %.4g gradients, predicted %.3g", plan->whole_price ? ", about" : "",
                     svrg_gradients(&other, plan->problem.n), svrg_predict(plan, &other, there.anchor, inner));
    }
}

static void explain_risk(svrg_plan *plan)
{
    pn_plan *base = &plan->base;
    double bound = svrg_bound(plan);
    const char *none = plan->step.each                           ? PN_SCHEDULE_NO_BOUND
                       : isfinite(bound)                         ? NULL
                       : plan->shape.doubling                    ? "for this method only its order is known"
                       : !(plan->problem.strong_convexity > 0.0) ? "needs strong convexity"
                       : !isfinite(plan->first_gap)              ? "the gap at the start is unknown: no bounded set"
                                                                 : "no contraction is proven for this m, b and eta";

    if (plan->inner > 0.0 && !plan->step.each) {
        base->predicted = svrg_predict(plan, &plan->shape, plan->anchor.sigma, plan->inner);
        pn_plan_add(base, "predicted excess", base->predicted, "%s",
                    plan->problem.strong_convexity > 0.0 && !plan->shape.doubling && !plan->limited
                        ? "of a quadratic with curvatures from mu to L; no bound"
                        : "a third of D^2/(4 eta M) and noise over M steps; no bound");
    }
    (void)pn_plan_bounds(base, bound, none,
                         "expected; epochs contract from %.4g (Xiao and Zhang, Theorem 3.1, with this noise)",
                         plan->first_gap);
}

/* ---- the plan ---- */

static pn_status check_theory(const svrg_plan *plan, const pn_arg *own, pn_err *err)
{
    double L = plan->problem.smoothness, limit = 1.0 / (24.0 * L);

    if (own[SVRG_PRESET].count != 1 || plan->shape.doubling)
        return PN_OK;
    if (!(plan->problem.strong_convexity > 0.0))
        return pn_fail(err, PN_EINVAL,
                       "preset=\"theory\" needs strong convexity: add reg.l2(lambda), give strong_convexity=, or use "
                       "svrg_pp");
    if (pn_arg_lists(&own[SVRG_STEP]))
        return pn_fail(err, PN_EINVAL, "preset=\"theory\" is about steps of one size; give step one number");
    if (own[SVRG_STEP].given && own[SVRG_STEP].real >= limit)
        return pn_fail(err, PN_EINVAL, "preset=\"theory\" needs step < 1/(24 L) = %g, got %g", limit,
                       own[SVRG_STEP].real);
    return PN_OK;
}

/* Loss distributions give less noise but charge the run at once, and take long for many steps on very small batches. */
static bool prices_whole(const svrg_plan *plan, const pn_arg *accountant)
{
    const pn_request *request = &plan->base.request;

    return pn_accountant_is_pld(accountant,
                                !plan->printed && request->kind == PN_EPSILON_DELTA && request->delta > 0.0 &&
                                    !request->ledger && svrg_all_steps(&plan->shape) <= 20000.0 &&
                                    (double)plan->shape.batch >= 0.25 * svrg_batch_rule(plan, &plan->shape));
}

static pn_status fill_noise(svrg_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    bool paper = common[PN_OPT_CALIBRATION].count == 1;

    plan->share = own[SVRG_ANCHOR].real;
    plan->whole_price = prices_whole(plan, &own[SVRG_ACCOUNTANT]);
    PN_TRY(svrg_noise(plan, paper, own[SVRG_C].real, err));
    if (plan->base.request.kind == PN_NONPRIVATE)
        return PN_OK;
    plan->base.sigma = svrg_sigma(plan, &plan->shape, plan->inner);
    explain_noise(plan);
    if (!paper && !plan->step.each)
        pn_plan_later(&plan->base);
    return PN_OK;
}

/* How the steps of a shape are made. */
static pn_status read_manner(svrg_plan *plan, const pn_arg *own, pn_err *err)
{
    bool theory = own[SVRG_PRESET].count == 1, single = pn_loss_inputs(pn_objective_loss(plan->base.objective)) == 1;
    size_t p = pn_objective_dim(plan->base.objective);

    plan->tail = own[SVRG_TAIL].given ? own[SVRG_TAIL].real : theory ? 0.0 : 3.0;
    /* Below a half an epoch may run away: where all rows point one way the clipped differences cannot turn the steps
     * before they have gone more than twice as far as they should.  At a half noise is halved, at next to no bias. */
    if (plan->printed && (own[SVRG_REACH].given || own[SVRG_ANCHOR].given))
        return pn_fail(err, PN_EINVAL, "%s= belongs to form=\"anchored\"; leave it out, or the other form",
                       own[SVRG_REACH].given ? "reach" : "anchor_share");
    plan->reach = theory || plan->printed || !single || p < 20 ? 1.0 : 0.5;
    if (own[SVRG_REACH].given && !(own[SVRG_REACH].real > 0.0))
        return pn_fail(err, PN_EINVAL, "reach must be in (0, 1], got %g", own[SVRG_REACH].real);
    if (own[SVRG_REACH].given)
        plan->reach = own[SVRG_REACH].real;
    return PN_OK;
}

static bool goes_on(const svrg_plan *plan, const pn_arg *own)
{
    if (own[SVRG_RESTART].count > 0)
        return own[SVRG_RESTART].count == 2;
    return plan->shape.doubling || (own[SVRG_PRESET].count == 0 && plan->base.request.kind != PN_NONPRIVATE &&
                                    (plan->limited || !(plan->problem.strong_convexity > 0.0)));
}

/* What is known of the problem, and what forbids the options. */
static pn_status read_problem(svrg_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    const char *owner = plan->base.owner;
    pn_first_order *problem = &plan->problem;

    PN_TRY(read_manner(plan, own, err));
    PN_TRY(pn_gradient_noise_read(&plan->anchor, owner, plan->base.objective, &plan->base.request, err));
    PN_TRY(pn_first_order_read(problem, owner, plan->base.objective, &common[PN_OPT_START], &own[SVRG_PROX],
                               &own[SVRG_STRONG_CONVEXITY], err));
    PN_TRY(pn_first_order_need_smooth(problem, err));
    PN_TRY(pn_first_order_gap(problem, problem->strong_convexity, &plan->first_gap, err));
    PN_TRY(pn_paper_c_check(owner, common, &own[SVRG_C], err));
    return check_theory(plan, own, err);
}

pn_status svrg_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    svrg_plan *plan = (svrg_plan *)base;
    bool given = own[SVRG_EPOCHS].given || common[PN_OPT_ITERATIONS].given;

    plan->shape.doubling = strcmp(base->name, "svrg_pp") == 0;
    plan->printed = own[SVRG_FORM].count == 1 || common[PN_OPT_CALIBRATION].count == 1;
    PN_TRY(read_problem(plan, common, own, err));
    PN_TRY(choose_shape(plan, common, own, err));
    plan->goes_on = goes_on(plan, own);
    pn_plan_set(base, common[PN_OPT_ITERATIONS].given ? "iterations" : "epochs", (double)plan->shape.epochs, true);
    pn_plan_set(base, "inner", (double)plan->shape.inner, true);
    pn_plan_set(base, "batch", (double)plan->shape.batch, true);
    if (!plan->step.each)
        pn_plan_set(base, "step", plan->shape.step, false);
    base->gradients = svrg_gradients(&plan->shape, plan->problem.n);
    base->seconds = svrg_seconds(plan, &plan->shape);
    pn_first_order_explain(&plan->problem, base);
    pn_first_order_explain_usual(&plan->problem, base);
    explain_shape(plan, own, given ? "as given" : plan->why_epochs);
    explain_laziness(plan);
    pn_first_order_check_step(base, plan->shape.step, 1.0 / plan->problem.smoothness, "1/L");
    PN_TRY(fill_noise(plan, common, own, err));
    explain_risk(plan);
    return PN_OK;
}

void svrg_plan_destroy(pn_plan *plan)
{
    svrg_plan *self = (svrg_plan *)plan;

    pn_first_order_clear(&self->problem);
    pn_schedule_clear(&self->step);
    pn_free(self);
}
