/* calibrate.c -- the noise of all questions of a plan, so that the whole run costs what was asked for.
 * One multiplier z is looked for: each number gets noise of z/share times its sensitivity, each choice epsilon
 * 2 share/z, so that one asking of share s costs zCDP of s^2/(2 z^2) of either kind.  A plan of one question is
 * calibrated as the solvers of this library are that ask nothing else: by the exact curve of equal Gaussian releases,
 * or by the composition of equal choices.
 * Depends on: question.h, privacy/accounting.  Used by: plans of users' solvers, the oracle at the prompt. */
#include <math.h>
#include <stdio.h>

#include "oracle/question.h"
#include "privacy/accounting/calibrate_program.h"

/* All that a run is charged, as one event: of a plan of one question that question's, taken *count times. */
static pn_status whole_event(const pn_plan *plan, pn_event **out, size_t *count, pn_err *err)
{
    pn_event *parts[PN_PLAN_QUESTIONS] = { NULL };
    size_t used = plan->question_count;
    pn_status status = PN_OK;

    *count = 1;
    if (used == 1) {
        *count = pn_question_events(&plan->questions[0], plan->iterations);
        *out = pn_event_keep(plan->questions[0].event);
        return PN_OK;
    }
    for (size_t i = 0; i < used && status == PN_OK; i++)
        status = pn_event_repeated(&parts[i], plan->questions[i].event,
                                   pn_question_events(&plan->questions[i], plan->iterations), err);
    if (status == PN_OK)
        status = pn_event_compose(out, parts, used, err);
    for (size_t i = 0; i < used; i++)
        pn_event_free(parts[i]);
    return status;
}

/* ---- one multiplier for all ---- */

/* A pn_program: the run's event at multiplier z. */
static pn_status event_at(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    pn_plan *plan = self;

    for (size_t i = 0; i < plan->question_count; i++)
        PN_TRY(pn_question_set_noise(&plan->questions[i], z, err));
    return whole_event(plan, event, count, err);
}

static pn_status by_search(pn_plan *plan, double *z, pn_err *err)
{
    const pn_request *request = &plan->request;
    pn_run_budget budget = { .owner = plan->owner,
                             .accountant = "rdp",
                             .epsilon = request->epsilon,
                             .delta = request->delta,
                             .rho = request->kind == PN_RHO ? request->rho : NAN };
    pn_program program = { event_at, plan };

    return pn_calibrate_run(z, NULL, &budget, &program, err);
}

typedef struct one_question {
    pn_question *question;
    size_t steps;
} one_question;

static pn_status question_at(void *self, double z, pn_event **event, size_t *count, pn_err *err)
{
    one_question *of = self;

    PN_TRY(pn_question_set_noise(of->question, z, err));
    *event = pn_event_keep(of->question->event);
    *count = pn_question_events(of->question, of->steps);
    return PN_OK;
}

pn_status pn_question_calibrate(pn_question *self, const pn_request *request, size_t steps, const char *owner,
                                const char *accountant, double *reached, pn_err *err)
{
    one_question of = { self, steps };
    pn_program program = { question_at, &of };
    pn_run_budget budget = { .owner = owner,
                             .accountant = accountant,
                             .epsilon = request->epsilon,
                             .delta = request->delta,
                             .rho = request->kind == PN_RHO ? request->rho : NAN };
    double z = NAN;

    PN_TRY(pn_calibrate_run(&z, reached, &budget, &program, err));
    return pn_question_set_noise(self, z, err);
}

/* ---- plans of one question, and of choices alone ---- */

static bool all_pure(const pn_plan *plan)
{
    for (size_t i = 0; i < plan->question_count; i++) {
        pn_answer_kind answer = plan->questions[i].ops->answer;

        if (answer != PN_ANSWER_CHOICE && answer != PN_ANSWER_ABOVE)
            return false;
    }
    return true;
}

/* z of a pure budget: what choices and watches cost adds up. */
static double pure_multiplier(const pn_plan *plan)
{
    double shares = 0.0;

    for (size_t i = 0; i < plan->question_count; i++) {
        const pn_question *question = &plan->questions[i];

        shares += (question->ops->answer == PN_ANSWER_CHOICE ? 2.0 : 1.0) * question->share *
                  (double)pn_question_events(question, plan->iterations);
    }
    return shares / plan->request.epsilon * (1.0 + 0x1p-40);
}

static double choice_epsilon(const pn_plan *plan)
{
    const pn_request *request = &plan->request;
    size_t count = plan->iterations * plan->questions[0].each;

    if (request->kind == PN_RHO)
        return pn_calibrate_exponential_rho(request->rho, count, true);
    return pn_calibrate_exponential(request->epsilon, request->delta, count, true, NULL);
}

/* z of a plan that needs no search; NaN where one is needed, or nothing fits. */
static double direct(const pn_plan *plan)
{
    const pn_question *one = &plan->questions[0];

    if (plan->question_count == 1 && one->ops->answer == PN_ANSWER_CHOICE)
        return 2.0 * one->share / choice_epsilon(plan);
    if (all_pure(plan) && plan->request.kind == PN_EPSILON_DELTA && plan->request.delta == 0.0)
        return pure_multiplier(plan);
    return NAN;
}

/* Numbers about all records, and nothing else: sigma is what gradient_descent has. */
static bool plain_numbers(const pn_plan *plan)
{
    const pn_question *one = &plan->questions[0];

    return plan->question_count == 1 && one->ops->answer == PN_ANSWER_NUMBERS && !one->batches.scheme;
}

static bool one_stream(const pn_plan *plan)
{
    return plan->question_count == 1 && plan->questions[0].ops->answer == PN_ANSWER_SUMS;
}

static pn_status plain_noise(pn_plan *plan, double *z, pn_err *err)
{
    pn_question *one = &plan->questions[0];

    one->noise.sigma = pn_gradient_noise_tight(&one->noise, &plan->request, plan->iterations * one->each);
    if (!(one->noise.sigma >= 0x1p-900 && one->noise.sigma <= 0x1p900))
        return pn_fail(err, PN_EBUDGET, "%s: the budget is too small for %zu steps; use fewer iterations", plan->owner,
                       plan->iterations);
    *z = one->noise.sigma / one->noise.sensitivity * one->share;
    return pn_question_price(one, err);
}

/* ---- explanation ---- */

static void explain(pn_plan *plan, const pn_question *question)
{
    const char *name = question->ops->name;
    bool scaled = question->ops->scale && (question->ops->two || question->clips);
    char times[32], batch[64] = "", method[128];

    (void)snprintf(times, sizeof times, question->each == 1 ? "once a step" : "%zu times a step", question->each);
    if (question->scheme)
        (void)snprintf(batch, sizeof batch, ", of %s batches of %zu", question->scheme, question->batch);
    switch (question->ops->answer) {
    case PN_ANSWER_CHOICE:
        pn_plan_add(plan, name, question->selection.epsilon, "epsilon of a choice among %zu, %s; scores move by %.4g",
                    question->dim, times, question->selection.sensitivity);
        break;
    case PN_ANSWER_ABOVE:
        pn_plan_add(plan, name, question->selection.epsilon, "epsilon of a watch that says above %zu times; %.4g",
                    question->answers, question->noise.sensitivity);
        break;
    case PN_ANSWER_SUMS:
        pn_prefix_design_describe(question->design, method, sizeof method);
        pn_plan_add(plan, name, pn_question_sigma(question), "noise on each of %zu numbers of the last sum%s; %s",
                    question->dim, batch, method);
        break;
    case PN_ANSWER_SMOOTHED:
    case PN_ANSWER_MASKED: /* of no plan that is calibrated here */
    case PN_ANSWER_NUMBERS:
        pn_plan_add(plan, name, pn_question_sigma(question), "noise on each of %zu number%s%s, %s%s", question->dim,
                    question->dim == 1 ? "" : "s", scaled ? ", times the length asked for" : "", times, batch);
    }
    if (question->share != 1.0)
        pn_plan_add(plan, "  share", question->share, "its noise multiplier is z/share");
}

static void explain_all(pn_plan *plan, double z)
{
    const pn_question *one = &plan->questions[0];

    pn_plan_add(plan, "records n", (double)pn_objective_data(plan->objective)->n, "public");
    pn_plan_add(plan, "steps T", (double)plan->iterations, "as given");
    pn_plan_add(plan, "multiplier z", z, "of the noise of every question, in sensitivities");
    if (plain_numbers(plan)) {
        pn_plan_add(plan, "sensitivity Delta", one->noise.sensitivity,
                    "what one record moves an answer of %zu numbers in l2, rounding included", one->dim);
    }
    for (size_t i = 0; i < plan->question_count; i++)
        explain(plan, &plan->questions[i]);
}

/* ---- the whole ---- */

static pn_status check_request(const pn_plan *plan, pn_err *err)
{
    const pn_request *request = &plan->request;

    if (plan->question_count == 0)
        return pn_fail(err, PN_EINVAL, "%s: its step asks nothing of the records; ask:gradient(s.x), say", plan->owner);
    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0 && !all_pure(plan))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: Gaussian noise needs a delta; give delta= as well, 1/n^2 say",
                       plan->owner);
    return PN_OK;
}

static pn_status find_noise(pn_plan *plan, pn_err *err)
{
    double z = direct(plan);

    if (plain_numbers(plan)) {
        PN_TRY(plain_noise(plan, &z, err));
    } else if (one_stream(plan)) {
        PN_TRY(pn_question_design(&plan->questions[0], &plan->request, err));
        z = plan->questions[0].share / pn_prefix_design_mu(plan->questions[0].design);
    } else {
        PN_TRY(isnan(z) ? by_search(plan, &z, err) : PN_OK);
        for (size_t i = 0; i < plan->question_count; i++)
            PN_TRY(pn_question_set_noise(&plan->questions[i], z, err));
    }
    explain_all(plan, z);
    return whole_event(plan, &plan->event, &plan->charges, err);
}

pn_status pn_plan_calibrate(pn_plan *plan, pn_err *err)
{
    PN_TRY(check_request(plan, err));
    for (size_t i = 0; i < plan->question_count; i++) {
        pn_question *question = &plan->questions[i];
        double n = (double)pn_objective_data(plan->objective)->n, each = (double)question->each;

        if (question->ops->answer == PN_ANSWER_SUMS)
            PN_TRY(pn_question_set_horizon(question, plan->iterations, err));
        if (question->ops->answer != PN_ANSWER_ABOVE)
            plan->gradients += (double)plan->iterations * each * (question->scheme ? (double)question->batch : n);
    }
    if (plan->request.kind == PN_NONPRIVATE) {
        for (size_t i = 0; i < plan->question_count; i++)
            plan->samples |= plan->questions[i].scheme != NULL;
        return PN_OK;
    }
    PN_TRY(find_noise(plan, err));
    if (plan->question_count == 1)
        plan->sigma =
            plan->questions[0].ops->answer == PN_ANSWER_NUMBERS ? pn_question_sigma(&plan->questions[0]) : 0.0;
    return PN_OK;
}
