/* calibrate.c -- the noise of all questions of a plan, so that the whole run costs what was asked for.
 * One multiplier z is looked for: each number gets noise of z/share times its sensitivity, each choice epsilon
 * 2 share/z, so that one asking of share s costs zCDP of s^2/(2 z^2) of either kind.  A plan of one question is
 * calibrated as the solvers of this library are that ask nothing else: by the exact curve of equal Gaussian releases,
 * or by the composition of equal choices.
 * Depends on: question.h, privacy/accounting.  Used by: plans of users' solvers, the oracle at the prompt. */
#include <math.h>
#include <stdio.h>

#include "oracle/question.h"
#include "privacy/accounting/allowance.h"
#include "privacy/accounting/calibrate_program.h"

/* ---- one multiplier for several questions ---- */

/* Of one question that question's event, taken *times. */
static pn_status event_of(const pn_asking *askings, size_t count, pn_event **out, size_t *times, pn_err *err)
{
    pn_event *parts[PN_PLAN_QUESTIONS] = { NULL };
    pn_status status = PN_OK;

    *times = 1;
    if (count == 1) {
        *times = pn_question_events(askings->question, askings->times);
        *out = pn_event_keep(askings->question->event);
        return PN_OK;
    }
    for (size_t i = 0; i < count && status == PN_OK; i++)
        status = pn_event_repeated(&parts[i], askings[i].question->event,
                                   pn_question_events(askings[i].question, askings[i].times), err);
    if (status == PN_OK)
        status = pn_event_compose(out, parts, count, err);
    for (size_t i = 0; i < count; i++)
        pn_event_free(parts[i]);
    return status;
}

pn_status pn_askings_event(const pn_asking *askings, size_t count, pn_event **out, pn_err *err)
{
    pn_event *each;
    size_t times;
    pn_status status;

    PN_TRY(event_of(askings, count, &each, &times, err));
    status = pn_event_repeated(out, each, times, err);
    pn_event_free(each);
    return status;
}

typedef struct several {
    const pn_asking *askings;
    size_t count;
} several;

/* A pn_program: the run's event at multiplier z. */
static pn_status event_at(void *self, double z, pn_event **event, size_t *times, pn_err *err)
{
    const several *of = self;

    for (size_t i = 0; i < of->count; i++) {
        if (!of->askings[i].priced)
            PN_TRY(pn_question_set_noise(of->askings[i].question, z, err));
    }
    return event_of(of->askings, of->count, event, times, err);
}

static bool all_gaussian(const pn_asking *askings, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (askings[i].question->ops->answer != PN_ANSWER_NUMBERS || askings[i].question->scheme)
            return false;
    }
    return true;
}

pn_run_budget pn_request_budget(const pn_request *request, const char *owner, const char *accountant)
{
    return (pn_run_budget){ .owner = owner,
                            .accountant = accountant,
                            .epsilon = request->epsilon,
                            .delta = request->delta,
                            .rho = request->kind == PN_RHO ? request->rho : NAN };
}

pn_status pn_askings_calibrate(const pn_asking *askings, size_t count, const pn_request *request, const char *owner,
                               const char *accountant, double *z, double *reached, pn_err *err)
{
    several of = { askings, count };
    pn_program program = { event_at, &of };
    pn_run_budget budget = pn_request_budget(request, owner, accountant ? accountant : "rdp");
    pn_allowance allowance;
    double found = NAN;

    PN_TRY(
        !accountant && all_gaussian(askings, count)
            ? pn_request_allowance(&allowance, &found, request, owner, pn_request_unit(request), false, &program, err)
            : pn_calibrate_run(&found, reached, &budget, &program, err));
    if (z)
        *z = found;
    for (size_t i = 0; i < count; i++) {
        if (!askings[i].priced)
            PN_TRY(pn_question_set_noise(askings[i].question, found, err));
    }
    return PN_OK;
}

/* Those of a plan, each as often as its iterations say. */
static size_t askings_of(const pn_plan *plan, pn_asking *out)
{
    for (size_t i = 0; i < plan->question_count; i++)
        out[i] = (pn_asking){ &plan->questions[i], plan->iterations * plan->questions[i].each, false };
    return plan->question_count;
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
                  (double)pn_question_events(question, plan->iterations * question->each);
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

static pn_status plain_noise(pn_plan *plan, pn_question *one, const pn_request *request, pn_err *err)
{
    one->noise.sigma = pn_gradient_noise_tight(&one->noise, request, plan->iterations * one->each);
    if (!(one->noise.sigma >= 0x1p-900 && one->noise.sigma <= 0x1p900))
        return pn_fail(err, PN_EBUDGET, "%s: the budget is too small for %zu answers of %s; use fewer iterations",
                       plan->owner, plan->iterations * one->each, one->ops->name);
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
    case PN_ANSWER_VERTEX:
    case PN_ANSWER_MASKED: /* of no plan that is calibrated here */
    case PN_ANSWER_NUMBERS:
        pn_plan_add(plan, name, pn_question_sigma(question), "noise on each of %zu number%s%s, %s%s", question->dim,
                    question->dim == 1 ? "" : "s", scaled ? ", times the length asked for" : "", times, batch);
    }
    if (question->budget > 0.0)
        pn_plan_add(plan, "  budget", question->budget, "of the whole, for its answers alone");
    else if (question->share != 1.0)
        pn_plan_add(plan, "  share", question->share, "its noise multiplier is z/share");
}

static void explain_all(pn_plan *plan, double z)
{
    const pn_question *one = &plan->questions[0];

    pn_plan_add(plan, "records n", (double)pn_objective_data(plan->objective)->n, "public");
    pn_plan_add(plan, "steps T", (double)plan->iterations, "what the solver was given, or chose");
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

    for (size_t i = 0; i < plan->question_count; i++) {
        if (plan->questions[i].ops->answer != PN_ANSWER_ABOVE && /* of which one charge pays for any number */
            (double)plan->iterations * (double)plan->questions[i].each > 0x1p48)
            return pn_fail(err, PN_EINVAL, "%s: %zu steps of %zu times %s are too many; a run asks at most 2^48 times",
                           plan->owner, plan->iterations, plan->questions[i].each, plan->questions[i].ops->name);
    }
    if (plan->question_count == 0)
        return pn_fail(err, PN_EINVAL,
                       "%s: the step asks nothing of the records; ask, for example, "
                       "ask:gradient(s.x)",
                       plan->owner);
    if (request->kind == PN_EPSILON_DELTA && request->delta == 0.0 && !all_pure(plan))
        return pn_fail(err, PN_EUNSUPPORTED, "%s: Gaussian noise needs a delta; give delta= as well, 1/n^2 say",
                       plan->owner);
    return PN_OK;
}

/* A choice of less than the least epsilon that can be drawn costs that. */
static pn_status check_choices(const pn_plan *plan, pn_err *err)
{
    const pn_request *request = &plan->request;
    bool rho = request->kind == PN_RHO;
    double most = rho ? request->rho : request->epsilon;
    double cost = rho ? (double)plan->charges * plan->event->ops->zcdp(plan->event)
                      : pn_event_epsilon(plan->event, plan->charges, request->delta, NULL);

    if (cost <= most * (1.0 + 0x1p-40))
        return PN_OK;
    return pn_fail(err, PN_EBUDGET, "%s: %s = %g does not pay for %zu choice%s: give %g or more", plan->owner,
                   rho ? "rho" : "epsilon", most, plan->charges, plan->charges == 1 ? "" : "s", cost);
}

/* Beside batches an answer about all records is one of everybody: one kind of event, as svrg has it. */
static pn_status join_batches(pn_asking *askings, size_t count, pn_err *err)
{
    bool batches = false;

    for (size_t i = 0; i < count; i++)
        batches |= askings[i].question->scheme && askings[i].question->ops->answer == PN_ANSWER_NUMBERS;
    for (size_t i = 0; batches && i < count; i++) {
        pn_question *question = askings[i].question;

        if (question->ops->answer != PN_ANSWER_NUMBERS || question->batches.scheme)
            continue;
        pn_question_join_whole(question);
        PN_TRY(askings[i].priced ? pn_question_price(question, err) : PN_OK);
    }
    return PN_OK;
}

/* Those that a part of the budget pays for by itself; the others share what these leave. */
static pn_status price_apart(pn_plan *plan, pn_asking *askings, size_t count, pn_err *err)
{
    double parts = 0.0;
    size_t apart = 0;

    for (size_t i = 0; i < count; i++) {
        parts += askings[i].question->budget;
        apart += askings[i].question->budget > 0.0;
    }
    if (apart > 0 && (apart == count || !(parts < 1.0)))
        return pn_fail(err, PN_EINVAL,
                       "%s: questions with budget= take %g of the budget, and %zu of %zu questions share the rest; "
                       "leave some of it to a question without budget=",
                       plan->owner, parts, count - apart, count);
    if (apart > 0 && plan->request.kind == PN_EPSILON_DELTA && plan->request.delta == 0.0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: budget= divides epsilon and delta; give delta=", plan->owner);
    for (size_t i = 0; i < count; i++) {
        pn_question *question = askings[i].question;
        pn_request part = pn_request_part(&plan->request, question->budget);

        if (question->budget == 0.0)
            continue;
        if (question->ops->answer == PN_ANSWER_NUMBERS && !question->batches.scheme)
            PN_TRY(plain_noise(plan, question, &part, err));
        else
            PN_TRY(pn_askings_calibrate(&askings[i], 1, &part, plan->owner, NULL, NULL, NULL, err));
        askings[i].priced = true;
    }
    return join_batches(askings, count, err);
}

/* By its loss distribution a run is charged at once: what its answers charge by themselves has no place in it. */
static pn_status price_whole(pn_plan *plan, pn_asking *askings, size_t count, double *z, pn_err *err)
{
    const pn_request *request = &plan->request;
    double reached = NAN;

    PN_TRY(pn_request_need_epsilon(request, plan->owner, err));
    for (size_t i = 0; i < count; i++) {
        pn_question *question = askings[i].question;

        if (question->ops->answer != PN_ANSWER_NUMBERS || plan->by_step)
            return pn_fail(err, PN_EUNSUPPORTED,
                           "%s: accountant=\"pld\" charges a run at once, for Gaussian answers; %s needs "
                           "accountant=\"rdp\"",
                           plan->owner, plan->by_step ? "adaptive=true" : question->ops->name);
        if (!question->batches.scheme)
            pn_question_join_whole(question);
    }
    PN_TRY(pn_askings_calibrate(askings, count, request, plan->owner, "pld", z, &reached, err));
    plan->whole = true;
    plan->charges = 1;
    plan->accountant = "pld";
    return pn_event_approximate(&plan->event, reached, request->delta, request->neighbours, err);
}

static pn_status by_multiplier(pn_asking *askings, size_t count, double z, pn_err *err)
{
    for (size_t i = 0; i < count; i++)
        PN_TRY(pn_question_set_noise(askings[i].question, z, err));
    return PN_OK;
}

static pn_status price_all(pn_plan *plan, pn_asking *askings, size_t count, double *z, pn_err *err)
{
    pn_question *one = &plan->questions[0];

    if (plain_numbers(plan)) {
        PN_TRY(plain_noise(plan, one, &plan->request, err));
        *z = one->noise.sigma / one->noise.sensitivity * one->share;
    } else if (one_stream(plan)) {
        PN_TRY(pn_question_design(one, &plan->request, err));
        *z = one->share / pn_prefix_design_mu(one->design);
    } else if (!isnan(*z = direct(plan))) {
        PN_TRY(by_multiplier(askings, count, *z, err));
    } else {
        PN_TRY(pn_askings_calibrate(askings, count, &plan->request, plan->owner, NULL, z, NULL, err));
    }
    return event_of(askings, count, &plan->event, &plan->charges, err);
}

static pn_status find_noise(pn_plan *plan, bool pld, pn_err *err)
{
    pn_asking askings[PN_PLAN_QUESTIONS];
    size_t count = askings_of(plan, askings);
    double z = NAN;

    PN_TRY(price_apart(plan, askings, count, err));
    PN_TRY((pld ? price_whole : price_all)(plan, askings, count, &z, err));
    explain_all(plan, z);
    return all_pure(plan) ? check_choices(plan, err) : PN_OK;
}

pn_status pn_plan_calibrate(pn_plan *plan, bool pld, pn_err *err)
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
    PN_TRY(find_noise(plan, pld, err));
    if (plan->question_count == 1)
        plan->sigma =
            plan->questions[0].ops->answer == PN_ANSWER_NUMBERS ? pn_question_sigma(&plan->questions[0]) : 0.0;
    return PN_OK;
}
