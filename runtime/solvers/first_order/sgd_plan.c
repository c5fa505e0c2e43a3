/* sgd_plan.c -- batches, steps, step sizes and risk of stochastic gradient descent.
 * Depends on: sgd.h, gradient_noise.h.  Used by: sgd.c.  Spec: variance-reduced.md 7d and 7e.
 */
#include <math.h>
#include <string.h>

#include "core/alloc.h"
#include "privacy/accounting/calibrate_program.h"
#include "oracle/gradient_noise.h"
#include "solvers/engine/work.h"
#include "solvers/first_order/sgd.h"

static const char owner[] = "solve.sgd";
static const char *const samplings[] = { "fixed", "poisson", "shuffled", NULL };
static const char *const schedules[] = { "constant", "sqrt", "inverse", NULL };
static const char *const outputs[] = { "average", "last", NULL };
static const char *const accountants[] = { "rdp", "pld", NULL };

const pn_param sgd_params[] = {
    { "sampling", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, samplings,
      "how batches are drawn; by default fixed, under zero_out poisson" },
    { "batch", PN_COUNT, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "records in a batch, of poisson expected; by default as many as keep the noise near that of all records, of "
      "shuffled all" },
    { "epochs", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "iterations times batch / n, in place of iterations" },
    PN_STEP_PARAM("eta of the first iteration, in place of 1/L or less; of every one where each is given"),
    { "schedule", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, schedules,
      "step t is eta, eta/sqrt(t), or eta/t with eta = 1/mu by default" },
    { "output", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, outputs,
      "which point is the answer; by default the average, of sqrt and inverse schedules the last" },
    { "tail", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL,
      "the average weighs point t like t^tail; 0: equally; by default 8, and 0 for a loss with kinks" },
    { "accountant", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, accountants,
      "rdp: each step is charged; pld: less noise, for a run that is charged as a whole before its first step" },
    PN_PROX_PARAM,
    PN_STRONG_CONVEXITY_PARAM,
    PN_MOMENTUM_PARAM,
    PN_PARAM_END,
};

#define TAIL         8.0
#define MOST_STEPS   1e12
#define ARTICLE_MOST 1e9 /* steps that are taken without being asked for */

typedef sgd_problem problem;

/* ---- batches and steps ---- */

static pn_status choose_sampling(problem *at, pn_err *err)
{
    const pn_arg *given = &at->own[SGD_SAMPLING], *batch = &at->own[SGD_BATCH];
    sgd_plan *plan = at->plan;
    bool zero_out = at->is_private && plan->base.request.neighbours == PN_ZERO_OUT;

    plan->gradient.scheme = given->given ? samplings[given->count] : zero_out ? "poisson" : "fixed";
    if (at->is_private && zero_out && strcmp(plan->gradient.scheme, "fixed") == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "%s: sampling=\"fixed\" has a proof for neighbours=\"replace_one\" only; use \"poisson\" under "
                       "\"zero_out\"",
                       owner);
    if (batch->given && batch->count > (size_t)plan->first.n)
        return pn_fail(err, PN_EINVAL, "%s: batch = %zu is larger than the number of records n = %zu", owner,
                       batch->count, (size_t)plan->first.n);
    if (at->own[SGD_EPOCHS].given && at->common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL, "%s: give either epochs or iterations, not both", owner);
    if (at->paper && batch->given && batch->count != 1)
        return pn_fail(err, PN_EINVAL,
                       "%s: calibration=\"paper\" is about steps on single records; batch must be 1, got %zu", owner,
                       batch->count);
    if (at->paper && strcmp(plan->gradient.scheme, "fixed") != 0)
        return pn_fail(err, PN_EINVAL, "%s: calibration=\"paper\" draws single records; leave sampling out", owner);
    return PN_OK;
}

/* T b, but for the last batch of a shuffled pass, which has what is left. */
static double gradients_of(const sgd_plan *plan, double n)
{
    double T = (double)plan->base.iterations, b = plan->divisor, batches = ceil(n / b);

    if (strcmp(plan->gradient.scheme, "shuffled") != 0)
        return T * b;
    return floor(T / batches) * n + fmin(fmod(T, batches) * b, n);
}

static pn_status choose_steps(problem *at, pn_err *err)
{
    bool given = at->common[PN_OPT_ITERATIONS].given || at->own[SGD_EPOCHS].given;
    sgd_plan *plan = at->plan;
    double n = plan->first.n, T, batch;

    if (at->paper && !given && n * n > ARTICLE_MOST)
        return pn_fail(err, PN_EINVAL, "%s: the article takes T = n^2 = %.3g steps; give iterations= or epochs=", owner,
                       n * n);
    sgd_choose_shape(at, &T, &batch);
    if (!(T <= MOST_STEPS))
        return pn_fail(err, PN_EINVAL, "%s: %g steps are too many; use fewer epochs or a larger batch", owner, T);
    plan->divisor = batch;
    plan->base.iterations = T > 1.0 ? (size_t)T : 1;
    plan->base.gradients = gradients_of(plan, n);
    return sgd_set_batch(plan, &plan->gradient, (size_t)batch, err);
}

/* ---- step sizes ---- */

static sgd_constants constants(const problem *at)
{
    const sgd_plan *plan = at->plan;
    const pn_first_order *first = &plan->first;
    bool poisson = strcmp(plan->gradient.scheme, "poisson") == 0;
    double G2 = first->lipschitz * first->lipschitz, sampling = sgd_sampling(at, plan->divisor);
    double noise = (double)first->p * plan->base.sigma * plan->base.sigma;

    return (sgd_constants){ .distance = at->distance,
                            .steps = (double)plan->base.iterations,
                            .eta = plan->step.eta,
                            .tail = plan->tail,
                            .slope = first->lipschitz,
                            .smoothness = first->smoothness,
                            .convexity = first->strong_convexity,
                            .variance = sampling + noise,
                            .square = G2 + (poisson ? sampling : 0.0) + noise };
}

/* 1 - beta, of a momentum that is given. */
static double lasting(const problem *at)
{
    return at->own[SGD_MOMENTUM].given ? 1.0 - at->own[SGD_MOMENTUM].real : 1.0;
}

static double default_step(const problem *at)
{
    const sgd_plan *plan = at->plan;
    const pn_first_order *first = &plan->first;
    sgd_constants of = constants(at);
    double T = of.steps, L = first->smoothness, eta;

    if (plan->step.law == PN_STEP_INVERSE)
        return 1.0 / first->strong_convexity;
    if (plan->step.law == PN_STEP_SQRT)
        return at->travel / sqrt(of.square);
    if (!at->is_private)
        return isfinite(L) ? 1.0 / L : at->travel / sqrt(T * of.square);
    eta = sgd_time(at, T, of.variance) * lasting(at) / T;
    return isfinite(L) ? fmin(1.0 / L, eta) : eta;
}

/* Where the steps are too few for the time that they are to take. */
static double default_momentum(const problem *at)
{
    const sgd_plan *plan = at->plan;
    double T = (double)plan->base.iterations;

    if (at->own[SGD_MOMENTUM].given)
        return at->own[SGD_MOMENTUM].real;
    if (!at->is_private || at->own[SGD_STEP].given || plan->step.law != PN_STEP_CONSTANT || plan->subgradient)
        return 0.0;
    return pn_momentum_for(sgd_time(at, T, constants(at).variance), plan->step.eta, T);
}

static pn_status choose_schedule(problem *at, pn_err *err)
{
    const pn_arg *given = &at->own[SGD_SCHEDULE], *output = &at->own[SGD_OUTPUT], *tail = &at->own[SGD_TAIL];
    sgd_plan *plan = at->plan;
    bool inverse = plan->first.strong_convexity > 0.0;

    if (given->given && pn_arg_lists(&at->own[SGD_STEP]))
        return pn_fail(err, PN_EINVAL, "%s: step gives each step its size; leave schedule out, got \"%s\"", owner,
                       given->text);
    plan->step.law = given->given                                     ? (pn_step_law)given->count
                     : at->paper && !pn_arg_lists(&at->own[SGD_STEP]) ? inverse ? PN_STEP_INVERSE : PN_STEP_SQRT
                                                                      : PN_STEP_CONSTANT;
    plan->last = output->given ? output->count == 1 : plan->step.law != PN_STEP_CONSTANT;
    if (tail->given && plan->last)
        return pn_fail(err, PN_EINVAL, "%s: tail= is the weight of points in an average; give output=\"average\"",
                       owner);
    plan->subgradient = !isfinite(plan->first.smoothness);
    plan->tail = tail->given ? tail->real : plan->subgradient || plan->step.law != PN_STEP_CONSTANT ? 0.0 : TAIL;
    if (plan->step.law == PN_STEP_INVERSE && !inverse && !at->own[SGD_STEP].given)
        return pn_fail(err, PN_EINVAL,
                       "%s: schedule=\"inverse\" steps by 1/(mu t); give strong_convexity= or step=", owner);
    PN_TRY(pn_schedule_read(&plan->step, &plan->base, &sgd_params[SGD_STEP], &at->own[SGD_STEP], err));
    plan->step.eta = at->own[SGD_STEP].given ? pn_step_number(&plan->step, &at->own[SGD_STEP]) : default_step(at);
    if (!(plan->step.eta > 0.0) || !isfinite(plan->step.eta))
        return pn_fail(
            err, PN_EINVAL,
            "%s: no step size follows from what is known (the gradients are not bounded); give step=", owner);
    plan->momentum = default_momentum(at);
    if (plan->momentum > 0.0 && plan->subgradient)
        return pn_fail(err, PN_EINVAL, "%s: momentum= needs a smooth loss; leave it out, or use smooth_hinge or huber",
                       owner);
    return PN_OK;
}

/* ---- explanation ---- */

static const char *no_bound(const problem *at)
{
    const sgd_plan *plan = at->plan;
    const pn_composite *composite = &plan->first.composite;

    if (plan->step.each)
        return PN_SCHEDULE_NO_BOUND;
    if (at->bounds->source == PN_BOUND_CLIPPED)
        return "clipped gradients are those of another function";
    if (!at->bounds->convex)
        return "f is not convex, or not shown to be";
    if (composite->extra)
        return "of the term behind prox= only its operator is known";
    if (strcmp(plan->gradient.scheme, "shuffled") == 0)
        return "batches of a pass are not independent";
    if (!isfinite(plan->first.lipschitz))
        return "the gradients are not bounded";
    if (plan->momentum > 0.0)
        return "the theory is about steps without momentum";
    if (at->guessed && plan->step.law != PN_STEP_INVERSE)
        return "nothing bounds the distance to the minimiser; a bounded set would";
    if (plan->step.law == PN_STEP_INVERSE && plan->first.strong_convexity > plan->first.certified)
        return "mu is claimed, not certified";
    if (pn_objective_regulariser(plan->base.objective) && (plan->subgradient || plan->step.law != PN_STEP_CONSTANT))
        return "it is known without a regulariser";
    return NULL;
}

static void explain_risk(problem *at)
{
    pn_plan *plan = &at->plan->base;
    sgd_constants of = constants(at);
    double risk = sgd_risk(at->plan, &of);
    const char *none = no_bound(at);
    bool kinks = at->plan->subgradient, usual = at->plan->step.law == PN_STEP_CONSTANT && (at->is_private || !kinks);

    if (!none && !isfinite(risk))
        none = "none for this schedule with this output or step";
    plan->bound = none ? NAN : risk;
    if (none)
        pn_plan_add_text(plan, "excess risk bound", "none", "%s", none);
    else
        pn_plan_add(plan, "excess risk bound", risk, "expected over batches and noise");
    if (at->plan->step.each)
        return;
    if (usual)
        risk =
            fmin(sgd_expected_risk(at, of.steps, of.eta * of.steps / (1.0 - at->plan->momentum), of.variance), at->gap);
    else if (isfinite(risk))
        risk = fmin(risk, of.slope * of.distance);
    plan->predicted = isfinite(risk) ? risk : 0.0;
    if (isfinite(risk))
        pn_plan_add(plan, "predicted excess", risk, "%s",
                    !usual  ? "the theory's, at most G D"
                    : kinks ? "(D^2/(4 t) + t (p sigma^2 + G^2/b + G^2/10)/(2 T))/3, t = eta T; no guarantee"
                            : "(D^2/(4 t) + t (p sigma^2 + G^2/b)/(2 T))/3, t = eta T/(1 - beta); no guarantee");
}

static void explain_step(problem *at)
{
    static const char *const forms[] = { "every step", "eta/sqrt(t)", "eta/t" };
    sgd_plan *plan = at->plan;

    if (plan->step.each) {
        pn_schedule_explain(&plan->step, &plan->base, "step eta");
        return;
    }
    pn_plan_set(&plan->base, "step", plan->step.eta, false);
    pn_plan_add(&plan->base, "step eta", plan->step.eta, "%s; %s", at->own[SGD_STEP].given ? "as given" : "the rule's",
                forms[plan->step.law]);
}

static void explain_steps(problem *at)
{
    sgd_plan *plan = at->plan;
    bool counted = at->common[PN_OPT_ITERATIONS].given || at->own[SGD_EPOCHS].given;
    double T = (double)plan->base.iterations, L = plan->first.smoothness;

    pn_plan_add(&plan->base, "batch b", plan->divisor, "%s",
                at->own[SGD_BATCH].given ? "as given"
                : !at->is_private        ? "the default"
                : at->paper              ? "the article's"
                : at->wanted > 0.0       ? "what 4 s of work, estimated, allow for T steps"
                                         : "noise near that of all records: 8 n epsilon/sqrt(T ln(1/delta)), at least "
                                           "4 epochs");
    pn_plan_add(&plan->base, "steps T", T, "%s; %.4g epochs",
                counted            ? "as given"
                : !at->is_private  ? "the default"
                : at->paper        ? "n^2, the article's"
                : at->wanted > 0.0 ? "the least predicted risk with 4 s of work, estimated"
                : at->plan->subgradient
                    ? "as many as give each step noise of norm G on all records: a loss with kinks has no L"
                    : "the time of the noise s sqrt(T) of all records, in steps of 1/L",
                T * plan->divisor / plan->first.n);
    pn_plan_add(&plan->base, "gradients", plan->base.gradients, "T b, of single records");
    pn_plan_set(&plan->base, "batch", plan->divisor, true);
    if (at->own[SGD_EPOCHS].given)
        pn_plan_set(&plan->base, "epochs", at->own[SGD_EPOCHS].real, false);
    else
        pn_plan_set(&plan->base, "iterations", T, true);
    explain_step(at);
    if (plan->momentum > 0.0)
        pn_plan_add(&plan->base, "momentum beta", plan->momentum, "%s",
                    at->own[SGD_MOMENTUM].given ? "as given" : "each step lasts 1/(1 - beta) times as long");
    if (isfinite(L) && plan->step.law != PN_STEP_INVERSE) /* whose first steps are long by design */
        pn_first_order_check_step(&plan->base, plan->step.eta, 2.0 / L, "2/L");
    pn_plan_add_text(&plan->base, "output", plan->last ? "last" : "average", "%s",
                     plan->last         ? "the last point"
                     : plan->tail > 0.0 ? "of all points, later ones weigh more: t^tail"
                                        : "of all points");
}

/* ---- the plan ---- */

static pn_status fill(problem *at, pn_err *err)
{
    sgd_plan *plan = at->plan;
    const char *accountant = at->own[SGD_ACCOUNTANT].text;
    pn_status status = pn_first_order_read(&plan->first, owner, plan->base.objective, &at->common[PN_OPT_START],
                                           &at->own[SGD_PROX], &at->own[SGD_STRONG_CONVEXITY], err);

    if (status == PN_OK)
        status = choose_sampling(at, err);
    if (status == PN_OK)
        status = sgd_read_sensitivity(plan, err);
    if (status != PN_OK)
        return status;
    status = sgd_read_scale(at, err);
    if (status == PN_OK)
        status = choose_steps(at, err);
    if (status == PN_OK)
        status = sgd_choose_noise(plan, at->paper, accountant, err);
    if (status == PN_OK)
        status = choose_schedule(at, err);
    if (status != PN_OK)
        return status;
    if (at->wanted > PN_WORK_SECONDS)
        pn_plan_held_back(&plan->base, at->wanted);
    pn_first_order_explain(&plan->first, &plan->base);
    explain_steps(at);
    sgd_explain_noise(plan, at->paper, accountant);
    explain_risk(at);
    return PN_OK;
}

pn_status sgd_plan_new(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                       const pn_arg *own, pn_err *err)
{
    sgd_plan *plan = pn_calloc(1, sizeof *plan);
    problem at = { .plan = plan,
                   .bounds = pn_objective_bounds(objective),
                   .common = common,
                   .own = own,
                   .is_private = request->kind != PN_NONPRIVATE,
                   .paper = strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0 };
    pn_status status;

    PN_TRY(pn_made(plan, err, "%s: out of memory", owner));
    pn_plan_begin(&plan->base, objective, request);
    plan->base.draws = !at.is_private;
    at.paper = at.paper && at.is_private;
    status = fill(&at, err);
    if (status != PN_OK) {
        pn_plan_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return PN_OK;
}

void sgd_plan_destroy(pn_plan *plan)
{
    sgd_plan *self = (sgd_plan *)plan;

    pn_first_order_clear(&self->first);
    pn_schedule_clear(&self->step);
    pn_free(self);
}
