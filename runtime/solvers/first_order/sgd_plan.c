/* sgd_plan.c -- batches, steps, noise, step sizes and risk of stochastic gradient descent.
 * Depends on: sgd.h, gradient_noise.h.  Used by: descent.c.  See mirror-descent.md section 8, accounting.md
 * section 4. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "solvers/engine/work.h"
#include "solvers/first_order/sgd.h"

static const char *const schedules[] = { "constant", "sqrt", "inverse", NULL };
static const char *const outputs[] = { "average", "last", NULL };
static const char *const accountants[] = { "rdp", "pld", NULL };

const pn_param sgd_params[] = {
    { "sampling", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, pn_batch_schemes,
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

#define MOST_STEPS   1e12
#define ARTICLE_MOST 1e9 /* steps that are taken without being asked for */

typedef sgd_problem problem;

/* ---- batches and steps ---- */

static pn_status choose_sampling(problem *at, pn_err *err)
{
    const pn_arg *given = &at->own[SGD_SAMPLING], *batch = &at->own[SGD_BATCH];
    pn_descent *plan = at->plan;
    bool zero_out = at->is_private && plan->base.request.neighbours == PN_ZERO_OUT;

    plan->noise.scheme = given->given ? given->text : zero_out ? "poisson" : "fixed";
    if (at->is_private && zero_out && strcmp(plan->noise.scheme, "fixed") == 0)
        return pn_fail(err, PN_EUNSUPPORTED,
                       "sampling=\"fixed\" has a proof for neighbours=\"replace_one\" only; use \"poisson\" under "
                       "\"zero_out\"");
    if (batch->given && batch->count > (size_t)plan->problem.n)
        return pn_fail(err, PN_EINVAL, "batch = %zu is larger than the number of records n = %zu", batch->count,
                       (size_t)plan->problem.n);
    if (at->own[SGD_EPOCHS].given && at->common[PN_OPT_ITERATIONS].given)
        return pn_fail(err, PN_EINVAL, "give either epochs or iterations, not both");
    if (at->paper && batch->given && batch->count != 1)
        return pn_fail(err, PN_EINVAL,
                       "calibration=\"paper\" is about steps on single records; batch must be 1, got %zu",
                       batch->count);
    if (at->paper && strcmp(plan->noise.scheme, "fixed") != 0)
        return pn_fail(err, PN_EINVAL, "calibration=\"paper\" draws single records; leave sampling out");
    return PN_OK;
}

static pn_status choose_steps(problem *at, pn_err *err)
{
    bool given = at->common[PN_OPT_ITERATIONS].given || at->own[SGD_EPOCHS].given;
    pn_descent *plan = at->plan;
    double n = plan->problem.n, T, batch;

    if (at->paper && !given && n * n > ARTICLE_MOST)
        return pn_fail(err, PN_EINVAL,
                       "the article takes T = n^2 = %.3g steps, which is too many; give iterations= "
                       "or epochs=",
                       n * n);
    sgd_choose_shape(at, &T, &batch);
    if (!(T <= MOST_STEPS))
        return pn_fail(err, PN_EINVAL, "%g steps are too many; use fewer epochs or a larger batch", T);
    plan->noise.records = batch;
    plan->base.iterations = T > 1.0 ? (size_t)T : 1;
    return PN_OK;
}

/* ---- noise ---- */

static bool by_loss_distribution(const problem *at)
{
    return strcmp(at->own[SGD_ACCOUNTANT].text, "pld") == 0;
}

/* 32 G^2 ln(n/delta) ln(1/delta) / epsilon^2 for steps on single records. */
static double article_sigma(const pn_descent *plan)
{
    const pn_request *request = &plan->base.request;

    return plan->problem.lipschitz * sqrt(32.0 * log(plan->problem.n / request->delta) * log(1.0 / request->delta)) /
           request->epsilon;
}

static pn_status check_request(const problem *at, pn_err *err)
{
    const pn_plan *plan = &at->plan->base;

    PN_TRY(pn_gradient_noise_check(plan, at->common, err));
    if (by_loss_distribution(at) && plan->request.kind != PN_EPSILON_DELTA)
        return pn_fail(err, PN_EUNSUPPORTED, "accountant=\"pld\" prices epsilon at delta; give both, or leave it out");
    if (by_loss_distribution(at) && at->paper)
        return pn_fail(err, PN_EUNSUPPORTED, "accountant=\"pld\" goes with calibration=\"tight\"");
    return PN_OK;
}

/* The question of a step and its noise, and the plan's event, charges, proven and sigma. */
static pn_status choose_noise(const problem *at, pn_err *err)
{
    pn_descent *plan = at->plan;

    if (at->is_private)
        PN_TRY(check_request(at, err));
    if (at->paper)
        plan->noise.paper.sigma = article_sigma(plan);
    PN_TRY(pn_batch_attach(&plan->base, &plan->noise, at->own[SGD_ACCOUNTANT].text, err));
    return at->paper ? pn_gradient_noise_check_paper(&plan->base, err) : PN_OK;
}

/* ---- risk ---- */

/* What a risk is made of; all public. */
typedef struct constants {
    double distance; /* bound on the distance of points from the minimiser, or a guess */
    double steps, eta, tail;
    double slope;      /* G */
    double smoothness; /* L; +inf for a loss with kinks */
    double convexity;  /* mu; 0 */
    double variance;   /* E ||g - mean gradient||^2: sampling and noise */
    double square;     /* E ||g||^2 */
} constants;

/* What the theory promises, without hidden constants.
 * With v = E ||g - gradient||^2, m = E ||g||^2, a the tail of the average and D at least the distance of every point
 * from the minimiser:
 *   eta <= 1/L       average of the points after steps          (1+a) D^2/(2 eta (T+a)) + c eta v,
 *                    c = min(1, 1/(2 (1 - eta L)))
 *   eta              average of the points of the gradients     (1+a) D^2/(2 eta (T+a)) + eta m/2
 *   eta/sqrt(t)      average (a = 0)  (D^2/(2 eta) + eta m)/sqrt(T);   last  (D^2/eta + eta m) (2 + ln T)/sqrt(T)
 *   1/(mu t)         average (a = 0)  m (1 + ln T)/(2 mu T);           last  17 m (1 + ln T)/(mu T)
 * The first two by summing E ||x_{t+1} - x*||^2 with growing weights; the lasts: Shamir, Zhang (2013),
 * Theorems 1 and 2. */
static double constant_risk(const pn_descent *plan, const constants *of)
{
    double a = of->tail, slack = 1.0 - of->eta * of->smoothness, c = slack > 0.5 ? 0.5 / slack : 1.0;
    double travel = (1.0 + a) * of->distance * of->distance / (2.0 * of->eta * (of->steps + a));

    if (plan->output == PN_DESCENT_LAST)
        return INFINITY;
    if (plan->subgradient)
        return travel + of->eta * of->square / 2.0;
    return slack >= -1e-9 ? travel + c * of->eta * of->variance : INFINITY; /* a step of 1/L may be rounded */
}

static double sqrt_risk(const pn_descent *plan, const constants *of)
{
    double D2 = of->distance * of->distance, root = sqrt(of->steps);

    if (plan->output == PN_DESCENT_LAST)
        return (D2 / of->eta + of->eta * of->square) * (2.0 + log(of->steps)) / root;
    return of->tail == 0.0 ? (D2 / (2.0 * of->eta) + of->eta * of->square) / root : INFINITY;
}

static double inverse_risk(const pn_descent *plan, const constants *of)
{
    double shared = of->square * (1.0 + log(of->steps)) / (of->convexity * of->steps);
    bool classical = of->convexity > 0.0 && fabs(of->eta * of->convexity - 1.0) < 1e-9;

    if (!classical || (plan->output != PN_DESCENT_LAST && of->tail > 0.0))
        return INFINITY;
    return plan->output == PN_DESCENT_LAST ? 17.0 * shared : shared / 2.0;
}

/* Bound on the expected excess risk of the plan's schedule and output; +inf where there is none. */
static double risk_of(const pn_descent *plan, const constants *of)
{
    switch (plan->step.law) {
    case PN_STEP_SQRT:
        return sqrt_risk(plan, of);
    case PN_STEP_INVERSE:
        return inverse_risk(plan, of);
    default:
        return constant_risk(plan, of);
    }
}

/* ---- step sizes ---- */

static constants constants_of(const problem *at)
{
    const pn_descent *plan = at->plan;
    const pn_first_order *first = &plan->problem;
    bool poisson = strcmp(plan->noise.scheme, "poisson") == 0;
    double G2 = first->lipschitz * first->lipschitz,
           sampling = pn_batch_variance(plan->noise.scheme, first->n, plan->noise.records, first->lipschitz);
    double noise = (double)first->p * plan->base.sigma * plan->base.sigma;

    return (constants){ .distance = at->distance,
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
    const pn_descent *plan = at->plan;
    const pn_first_order *first = &plan->problem;
    constants of = constants_of(at);
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
    const pn_descent *plan = at->plan;
    double T = (double)plan->base.iterations;

    if (at->own[SGD_MOMENTUM].given)
        return at->own[SGD_MOMENTUM].real;
    if (!at->is_private || at->own[SGD_STEP].given || plan->step.law != PN_STEP_CONSTANT || plan->subgradient)
        return 0.0;
    return pn_momentum_for(sgd_time(at, T, constants_of(at).variance), plan->step.eta, T);
}

static pn_status choose_schedule(problem *at, pn_err *err)
{
    const pn_arg *given = &at->own[SGD_SCHEDULE], *output = &at->own[SGD_OUTPUT];
    pn_descent *plan = at->plan;
    bool inverse = plan->problem.strong_convexity > 0.0;

    if (given->given && pn_arg_lists(&at->own[SGD_STEP]))
        return pn_fail(err, PN_EINVAL, "step gives each step its size; leave schedule out, got \"%s\"", given->text);
    plan->step.law = given->given                                     ? (pn_step_law)given->count
                     : at->paper && !pn_arg_lists(&at->own[SGD_STEP]) ? inverse ? PN_STEP_INVERSE : PN_STEP_SQRT
                                                                      : PN_STEP_CONSTANT;
    plan->output = (output->given ? output->count == 1 : plan->step.law != PN_STEP_CONSTANT) ? PN_DESCENT_LAST
                                                                                             : PN_DESCENT_AVERAGE;
    plan->subgradient = !isfinite(plan->problem.smoothness);
    PN_TRY(pn_descent_check(plan, &at->own[SGD_TAIL], plan->step.law == PN_STEP_CONSTANT ? PN_DESCENT_TAIL : 0.0, err));
    if (plan->step.law == PN_STEP_INVERSE && !inverse && !at->own[SGD_STEP].given)
        return pn_fail(err, PN_EINVAL, "schedule=\"inverse\" steps by 1/(mu t); give strong_convexity= or step=");
    PN_TRY(pn_schedule_read(&plan->step, &plan->base, &sgd_params[SGD_STEP], &at->own[SGD_STEP], err));
    plan->step.eta = at->own[SGD_STEP].given ? pn_step_number(&plan->step, &at->own[SGD_STEP]) : default_step(at);
    if (!(plan->step.eta > 0.0) || !isfinite(plan->step.eta))
        return pn_fail(err, PN_EINVAL, "no step size can be derived, since the gradients are not bounded; give step=");
    plan->momentum = default_momentum(at);
    return pn_descent_need_smooth(plan, plan->subgradient, err);
}

/* ---- explanation ---- */

static const char *no_bound(const problem *at)
{
    const pn_descent *plan = at->plan;
    const pn_composite *composite = &plan->problem.composite;

    if (plan->step.each)
        return PN_SCHEDULE_NO_BOUND;
    if (at->bounds->source == PN_BOUND_CLIPPED)
        return "clipped gradients are those of another function";
    if (!at->bounds->convex)
        return "f is not convex, or not shown to be";
    if (composite->extra)
        return "of the term behind prox= only its operator is known";
    if (strcmp(plan->noise.scheme, "shuffled") == 0)
        return "batches of a pass are not independent";
    if (!isfinite(plan->problem.lipschitz))
        return "the gradients are not bounded";
    if (plan->momentum > 0.0)
        return "the theory is about steps without momentum";
    if (at->guessed && plan->step.law != PN_STEP_INVERSE)
        return "nothing bounds the distance to the minimiser; a bounded set would";
    if (plan->step.law == PN_STEP_INVERSE && plan->problem.strong_convexity > plan->problem.certified)
        return "mu is claimed, not certified";
    if (pn_objective_regulariser(plan->base.objective) && (plan->subgradient || plan->step.law != PN_STEP_CONSTANT))
        return "it is known without a regulariser";
    return NULL;
}

static void explain_risk(problem *at)
{
    pn_plan *plan = &at->plan->base;
    constants of = constants_of(at);
    double risk = risk_of(at->plan, &of);
    const char *none = no_bound(at);
    bool kinks = at->plan->subgradient, usual = at->plan->step.law == PN_STEP_CONSTANT && (at->is_private || !kinks);

    if (!none && !isfinite(risk))
        none = "none for this schedule with this output or step";
    (void)pn_plan_bounds(plan, risk, none, "expected over batches and noise");
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
    pn_descent *plan = at->plan;

    if (!plan->step.each)
        pn_plan_set(&plan->base, "step", plan->step.eta, false);
    pn_schedule_explain(&plan->step, &plan->base, "step eta", plan->step.eta, "%s; %s",
                        at->own[SGD_STEP].given ? "as given" : "the rule's", forms[plan->step.law]);
}

static void explain_steps(problem *at)
{
    pn_descent *plan = at->plan;
    bool counted = at->common[PN_OPT_ITERATIONS].given || at->own[SGD_EPOCHS].given;
    double T = (double)plan->base.iterations, L = plan->problem.smoothness;

    pn_plan_add(&plan->base, "batch b", plan->noise.records, "%s",
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
                T * plan->noise.records / plan->problem.n);
    pn_plan_add(&plan->base, "gradients", plan->base.gradients, "T b, of single records");
    pn_plan_set(&plan->base, "batch", plan->noise.records, true);
    if (at->own[SGD_EPOCHS].given)
        pn_plan_set(&plan->base, "epochs", at->own[SGD_EPOCHS].real, false);
    else
        pn_plan_set(&plan->base, "iterations", T, true);
    explain_step(at);
    pn_descent_explain_momentum(plan, &at->own[SGD_MOMENTUM]);
    if (isfinite(L) && plan->step.law != PN_STEP_INVERSE) /* whose first steps are long by design */
        pn_first_order_check_step(&plan->base, plan->step.eta, 2.0 / L, "2/L");
    pn_descent_explain_output(plan);
}

static void explain_noise(const problem *at)
{
    pn_plan *plan = &at->plan->base;

    pn_batch_explain(plan, &plan->questions[0],
                     at->paper     ? "; sqrt(32 ln(n/delta) ln(1/delta)) G/epsilon, the article's"
                     : plan->whole ? ", by the privacy loss distribution of the run: charged at once"
                                   : ", by the Renyi curve of the sampling");
    if (at->is_private && !at->paper && !by_loss_distribution(at))
        pn_plan_later(plan);
}

static void explain_other(const pn_plan *plan, pn_plan_lines *out, const char *name, size_t batch, size_t steps)
{
    const pn_question *gradient = &plan->questions[0];
    double sigma;
    char text[48];

    if (batch < 1 || batch > gradient->batches.n || steps < 1)
        return;
    sigma = pn_batch_noise_at(plan, gradient->scheme, batch, steps);
    if (isnan(sigma))
        return;
    (void)snprintf(text, sizeof text, "sigma %.4g", sigma);
    pn_lines_add(out, name, NAN, text, "batch %zu, T = %zu: %.4g gradients", batch, steps,
                 (double)batch * (double)steps);
}

void sgd_what_if(const pn_plan *plan, pn_plan_lines *out)
{
    size_t batch = plan->questions[0].batch, steps = plan->iterations;

    explain_other(plan, out, "with b/2", batch / 2, steps);
    explain_other(plan, out, "with 2 b", 2 * batch, steps);
    explain_other(plan, out, "with 2 T", batch, 2 * steps);
}

/* ---- the plan ---- */

pn_status sgd_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    pn_descent *plan = (pn_descent *)base;
    bool is_private = base->request.kind != PN_NONPRIVATE;
    problem *at = &(problem){ .plan = plan,
                              .bounds = pn_objective_bounds(base->objective),
                              .common = common,
                              .own = own,
                              .is_private = is_private,
                              .paper = is_private && strcmp(common[PN_OPT_CALIBRATION].text, "paper") == 0 };

    base->draws = !is_private;
    PN_TRY(pn_first_order_read(&plan->problem, base->owner, plan->base.objective, &at->common[PN_OPT_START],
                               &at->own[SGD_PROX], &at->own[SGD_STRONG_CONVEXITY], err));
    PN_TRY(pn_gradient_noise_read(&plan->noise, base->owner, plan->base.objective, &plan->base.request, err));
    PN_TRY(choose_sampling(at, err));
    PN_TRY(sgd_read_scale(at, err));
    PN_TRY(choose_steps(at, err));
    PN_TRY(choose_noise(at, err));
    PN_TRY(choose_schedule(at, err));
    if (at->wanted > PN_WORK_SECONDS)
        pn_plan_held_back(&plan->base, at->wanted);
    pn_first_order_explain(&plan->problem, &plan->base);
    pn_first_order_explain_usual(&plan->problem, &plan->base);
    explain_steps(at);
    explain_noise(at);
    explain_risk(at);
    return PN_OK;
}
