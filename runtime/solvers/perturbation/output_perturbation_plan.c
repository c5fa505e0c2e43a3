/* output_perturbation_plan.c -- options, noise, predicted risk and explanation of output perturbation.
 * Depends on: output_perturbation.h, privacy, objective.  Used by: output_perturbation.c. */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "core/mutant.h"
#include "oracle/question.h"
#include "solvers/engine/work.h"
#include "solvers/perturbation/output_perturbation.h"

static const char *const methods[] = { "gd", "exact", "sgd", NULL };

const pn_param output_params[] = {
    { "method", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, methods,
      "gd: gradient descent; exact: the minimum of a strongly convex objective, to a certificate; sgd: passes over "
      "batches in a fixed public order" },
    { "step", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "eta of every step, at most 2/L; by default 1/L or less, of sgd with strong convexity min(1/L, 1/(mu t))" },
    { "passes", PN_COUNT, PN_OPTIONAL, PN_ANY, (double)OUTPUT_PASSES, NULL, "of sgd over the data" },
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, (double)OUTPUT_BATCH, NULL,
      "of sgd: records of one step; the last records of the order, too few for a batch, are left out" },
    { "seed", PN_COUNT, PN_OPTIONAL, PN_WORD, 1.0, NULL, "of sgd: of the order of the records, which is public" },
    { "tolerance", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,
      "of exact: certified l2 distance to the minimum, public; by default what rounding allows" },
    PN_PARAM_END,
};

/* ---- options ---- */

static pn_status refuse(const output_plan *plan, const char *option, const char *instead, pn_err *err)
{
    return pn_fail(err, PN_EINVAL, "method=\"%s\" takes no %s%s", methods[plan->method], option, instead);
}

static pn_status check_options(const output_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    if (strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "the solver has no calibration=\"paper\", since the articles' constants are larger without "
                       "being safer; leave calibration out");
    if (common[PN_OPT_ITERATIONS].given && plan->method == OUTPUT_SGD)
        return refuse(plan, "iterations", "; give passes", err);
    if (common[PN_OPT_ITERATIONS].given && plan->method == OUTPUT_EXACT)
        return refuse(plan, "iterations", ": it ends at its certificate", err);
    if (own[OUTPUT_OPT_STEP].given && plan->method == OUTPUT_EXACT)
        return refuse(plan, "step", "", err);
    for (int i = OUTPUT_OPT_PASSES; i <= OUTPUT_OPT_SEED; i++) {
        if (own[i].given && plan->method != OUTPUT_SGD)
            return refuse(plan, output_params[i].name, "; give method=\"sgd\"", err);
    }
    if (own[OUTPUT_OPT_TOLERANCE].given && plan->method != OUTPUT_EXACT)
        return refuse(plan, "tolerance", "; give method=\"exact\"", err);
    return PN_OK;
}

/* ---- noise ---- */

/* Gradient steps: a record is worth `factor` times its gradient over the batch, by output_perturbation_bound.c. */
static void say_steps(const output_draft *of, pn_basis *basis)
{
    const output_schedule *s = &of->plan->schedule;

    basis->rule = "steps";
    basis->divisor = (double)s->batch;
    basis->factor = of->bounds.exact * basis->divisor / (basis->contributions * basis->contribution);
    pn_basis_add(basis, "passes", (double)s->passes);
    pn_basis_add(basis, "batches", (double)s->batches);
    pn_basis_add(basis, "step", s->step);
    pn_basis_add(basis, "decreasing", s->decreasing);
    pn_basis_add(basis, "smoothness", of->at.smooth);
    pn_basis_add(basis, "convexity", of->at.strong_smooth);
    pn_basis_add(basis, "prox_convexity", of->at.strong_prox);
}

/* The minimum of a strongly convex objective, and how far from it both data sets may end. */
static void say_minimum(const output_draft *of, pn_basis *basis)
{
    basis->rule = "minimum";
    basis->divisor = of->at.n * of->at.strong;
    basis->factor = of->bounds.exact * basis->divisor / (basis->contributions * basis->contribution);
    pn_basis_add(basis, "convexity", of->at.strong);
    pn_basis_add(basis, "tolerance", of->plan->certificate.noise.offset);
}

static pn_basis basis_of(const output_draft *of)
{
    pn_basis basis = {
        .norm = "l2", .contributions = of->at.records, .contribution = of->at.lipschitz, .value = of->bounds.sensitivity
    };

    (of->plan->method == OUTPUT_EXACT ? say_minimum : say_steps)(of, &basis);
    return basis;
}

static pn_status attach_noise(output_draft *of, pn_err *err)
{
    pn_plan *plan = &of->plan->base;
    pn_question *point;

    PN_TRY(pn_plan_ask(&point, plan, &pn_question_point, err));
    point->dim = (size_t)of->at.p;
    point->noise = (pn_gradient_noise){ .lipschitz = of->at.lipschitz,
                                        .sensitivity = of->bounds.sensitivity,
                                        .bound = of->bounds.entry,
                                        .dim = point->dim,
                                        .neighbours = plan->request.neighbours };
    point->noise.basis = basis_of(of);
    if (PN_MUTANT("output_sensitivity"))
        point->noise.sensitivity /= 2.0;
    PN_TRY(pn_point_noise(point, &plan->request, plan->owner, err));
    plan->event = pn_event_keep(point->event);
    plan->charges = 1;
    plan->sigma = point->noise.sigma;
    of->point = point;
    return PN_OK;
}

/* ---- explanation ---- */

static void explain_problem(const output_draft *of)
{
    const output_problem *at = &of->at;
    pn_plan *plan = &of->plan->base;

    pn_plan_add(plan, "records n", at->n, "public");
    if (isfinite(at->lipschitz))
        pn_plan_add(plan, "gradient bound G", at->lipschitz, "%s",
                    at->bounds->source == PN_BOUND_CLIPPED ? "l2 norm to which each record's gradient is clipped"
                                                           : "max l2 norm of a record's gradient, certified");
    pn_plan_add(plan, "smoothness L", at->smooth, "of every record's loss%s, certified",
                at->smooth > at->loss_smooth ? " and the regulariser" : "");
    if (at->strong > 0.0)
        pn_plan_add(plan, "convexity mu", at->strong, "certified; of the regulariser");
}

static void explain_steps(const output_draft *of, bool given)
{
    const output_plan *plan = of->plan;
    const output_schedule *s = &plan->schedule;
    pn_plan *base = &of->plan->base;

    pn_plan_add_text(base, "method", methods[plan->method], "%s%s",
                     plan->method == OUTPUT_GD      ? "full gradients"
                     : plan->method == OUTPUT_EXACT ? "the minimum to a certificate"
                                                    : "batches in a fixed public order",
                     base->request.kind == PN_NONPRIVATE ? "" : "; noise once, on the last point");
    if (plan->method == OUTPUT_EXACT) {
        pn_plan_set(base, "tolerance", plan->certificate.noise.offset, false);
        pn_plan_add(base, "tolerance tau", plan->certificate.noise.offset,
                    "certified distance to the exact minimum, public");
        return;
    }
    pn_plan_set(base, "iterations", (double)s->passes, true);
    if (plan->method == OUTPUT_SGD)
        pn_plan_set(base, "batch", (double)s->batch, true);
    if (!(s->decreasing > 0.0))
        pn_plan_set(base, "step", s->step, false);
    pn_plan_add(base, plan->method == OUTPUT_GD ? "steps T" : "passes k", (double)s->passes, "%s", of->rule);
    if (plan->method == OUTPUT_SGD)
        pn_plan_add(base, "batch b", (double)s->batch, "%zu batches a pass, %zu records left out", s->batches,
                    (size_t)of->at.n - s->batches * s->batch);
    if (s->decreasing > 0.0)
        pn_plan_add(base, "first step eta", s->step, "step t is min(1/L, 1/(mu t))");
    else
        pn_plan_add(base, "step eta", s->step, "%s",
                    given                       ? "as given"
                    : plan->method == OUTPUT_GD ? "1/L"
                                                : "at most 1/L");
}

static const char *sensitivity_rule(const output_draft *of)
{
    const output_plan *plan = of->plan;
    bool two = of->at.records == 2.0;

    if (plan->method == OUTPUT_EXACT)
        return two ? "2 G/(n mu) + 2 tau" : "G/(n mu) + 2 tau";
    if (plan->schedule.decreasing > 0.0)
        return two ? "at most 2 G/(mu b m), m batches a pass" : "at most G/(mu b m), m batches a pass";
    if (of->at.strong_prox > 0.0)
        return two ? "(2 G/n) (1 - c^T)/mu, c = 1/(1 + eta mu)" : "(G/n) (1 - c^T)/mu, c = 1/(1 + eta mu)";
    if (plan->method == OUTPUT_SGD)
        return of->at.strong > 0.0 ? "sum over passes of eta k G/b x what later steps leave"
               : two               ? "2 k G eta/b"
                                   : "k G eta/b";
    if (of->at.strong > 0.0)
        return two ? "(2 G eta/n) (1 - (1 - eta mu)^T)/(eta mu)" : "(G eta/n) (1 - (1 - eta mu)^T)/(eta mu)";
    return two ? "2 G eta T/n" : "G eta T/n";
}

static void explain_noise(const output_draft *of)
{
    pn_plan *plan = &of->plan->base;
    const pn_gradient_noise *noise = &of->point->noise;

    pn_plan_add(plan, "exact sensitivity", of->bounds.exact, "%s", sensitivity_rule(of));
    pn_plan_add(plan, "sensitivity Delta", noise->sensitivity, "l2, of the point as computed: %.3g is for rounding",
                noise->sensitivity - of->bounds.exact);
    if (of->point->laplace)
        pn_plan_add(plan, "noise scale", noise->sigma,
                    "Laplace, per coordinate: sqrt(p) Delta/epsilon, on the lattice");
    else
        pn_plan_add(plan, "noise sigma", noise->sigma, "per coordinate, once: Delta %s, on the lattice",
                    plan->request.kind == PN_RHO ? "/ sqrt(2 rho)" : "/ mu(epsilon, delta)");
}

/* ---- risk, for people ---- */

/* Why there is no bound, or NULL.  With a set the noisy point is projected,
 * and only the slope tells what that may cost. */
static const char *no_bound(const output_draft *of, double slope)
{
    const output_problem *at = &of->at;
    const output_plan *plan = of->plan;

    if (at->bounds->source == PN_BOUND_CLIPPED)
        return "clipped gradients are not those of f";
    if (plan->method == OUTPUT_SGD)
        return "none is proven for the last iterate of passes in a fixed order";
    if (plan->method == OUTPUT_GD && plan->schedule.step * at->smooth > 1.0 + 0x1p-20)
        return "the step is longer than 1/L";
    if (!isfinite(of->proven))
        return "without a set or strong convexity nothing bounds the distance to the minimum";
    return at->set && !isfinite(slope) ? "the slope of the regulariser is not bounded" : NULL;
}

static void explain_risk(output_draft *of)
{
    const output_problem *at = &of->at;
    pn_plan *plan = &of->plan->base;
    double sigma = plan->sigma * (of->point && of->point->laplace ? sqrt(2.0) : 1.0);
    double noise = output_noise_risk(at, sigma);
    double slope = at->lipschitz + (at->smooth > at->loss_smooth ? at->bounds->reg.gradient * sqrt(at->p) : 0.0);
    const char *none = no_bound(of, slope);

    if (of->plan->method != OUTPUT_EXACT)
        pn_plan_add(plan, "distance D", of->assumed, "to the minimum: %s",
                    of->assumed < of->distance ? "assumed, 3 G/L of the loss; for predictions only"
                                               : "at most, by the set or strong convexity");
    pn_plan_add(plan, "risk before noise", of->bias, "%s",
                of->plan->method == OUTPUT_EXACT ? "of stopping at the tolerance" : "predicted: how far steps get");
    if (plan->request.kind != PN_NONPRIVATE)
        pn_plan_add(plan, "risk from noise", noise, "sigma^2/2 x trace of curvature%s",
                    at->kink > 0.0 ? " + sigma r(1, ..., 1)" : "");
    plan->predicted = of->bias + noise;
    (void)pn_plan_bounds(plan, of->proven + (at->set ? slope * sigma * sqrt(at->p) : noise), none,
                         "expected: D^2/(2 eta T) or less%s",
                         plan->request.kind == PN_NONPRIVATE ? ""
                         : at->set                           ? " + slope x sqrt(p) sigma"
                                                             : " + risk from noise");
}

/* ---- the plan ---- */

/* Steps, and what a record moves the point that they end at. */
static pn_status measure(output_draft *of, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    output_plan *plan = of->plan;
    const output_schedule *s = &plan->schedule;

    PN_TRY(output_choose(of, common, own, err));
    plan->base.iterations = s->passes;
    if (plan->method == OUTPUT_EXACT) {
        plan->base.seconds = op_seconds(&plan->minimum);
        return PN_OK;
    }
    if (plan->method == OUTPUT_GD)
        pn_plan_work(&plan->base, pn_pass_seconds(of->at.objective), of->wanted);
    plan->base.gradients = (double)s->passes * (double)s->batches * (double)s->batch;
    of->bias = output_expected_risk(&of->at, s, of->assumed);
    of->proven = output_step_risk(&of->at, s, of->distance);
    return plan->base.request.kind == PN_NONPRIVATE ? PN_OK : output_measure(&of->at, s, &of->bounds, err);
}

pn_status output_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    output_plan *plan = (output_plan *)base;
    output_draft of = { .plan = plan };

    plan->method = (output_method)own[OUTPUT_OPT_METHOD].count;
    PN_TRY(pn_plan_start(&base->start, base->objective, &common[PN_OPT_START], err));
    PN_TRY(check_options(plan, common, own, err));
    PN_TRY(output_read(&of.at, plan, err));
    output_measure_distance(&of);
    PN_TRY(measure(&of, common, own, err));
    PN_TRY(base->request.kind == PN_NONPRIVATE ? PN_OK : attach_noise(&of, err));
    explain_problem(&of);
    explain_steps(&of, own[OUTPUT_OPT_STEP].given);
    if (base->gradients > 0.0)
        pn_plan_add(base, "gradients", base->gradients, "of single records; none of them is released by itself");
    if (of.point)
        explain_noise(&of);
    explain_risk(&of);
    return PN_OK;
}

void output_plan_destroy(pn_plan *plan)
{
    output_plan *self = (output_plan *)plan;

    pn_prox_free(self->prox);
    pn_free(self->order);
    pn_free(self);
}
