/* lask.c -- questions about the records from Lua, each certified, priced, charged and then drawn.
 * Depends on: lask.h, progress.h, oracle/oracle.h.  Used by: lask_class.c, lask_stream.c, lsolver_run.c.
 *
 * What is asked is read alike for all kinds (lask_call.c); what becomes of it depends on the oracle: a solver that is
 * being planned writes it down, a run answers what its plan has, and at the prompt each answer is a plan of one
 * step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/solvers/lask.h"
#include "core/vault.h"

void pnl_ask_free(pnl_ask *self)
{
    if (!self || --self->references > 0)
        return;
    pn_free(self->spare);
    pn_free(self);
}

void pnl_ask_end(pnl_ask *self)
{
    self->within = false;
    self->plan = NULL;
    self->oracle = NULL;
    self->ledger = NULL;
}

pnl_ask *pnl_new_ask(lua_State *L, int objective_index, pnl_ask_mode mode, const char *owner)
{
    pnl_ask **slot, *self;

    objective_index = lua_absindex(L, objective_index);
    slot = (pnl_ask **)pnl_newbox(L, &pnl_ask_class);
    if (!(self = pn_calloc(1, sizeof *self)))
        pnl_no_memory(L, "%s: out of memory", owner);
    self->references = 1;
    *slot = self;
    pnl_keep(L, -1, objective_index);
    self->mode = mode;
    self->objective = pnl_check(L, objective_index, &pnl_objective_class);
    self->value = NAN;
    (void)snprintf(self->owner, sizeof self->owner, "%s", owner);
    return self;
}

/* ---- a solver that is being planned ---- */

/* The question of the plan that is asked the same way; plan->question_count when there is none. */
static size_t find(const pn_plan *plan, const pn_question *question)
{
    size_t i = 0;

    while (i < plan->question_count &&
           (plan->questions[i].ops != question->ops || plan->questions[i].points != question->points ||
            strcmp(plan->questions[i].about, question->about) != 0))
        i++;
    return i;
}

static int write_down(lua_State *L, pnl_ask *self, const pnl_ask_call *of)
{
    size_t which = find(self->plan, &of->told.question);
    pn_answer nothing = { 0 };
    pn_question *question;

    if (which < self->plan->question_count) {
        question = &self->plan->questions[which];
        question->each += question->ops->answer != PN_ANSWER_ABOVE;
        question->share = fmax(question->share, of->told.question.share);
        question->budget = fmax(question->budget, of->told.question.budget);
    } else {
        question = pnl_ask_plan(L, self, &of->told);
    }
    return pnl_ask_push(L, self, of, &nothing, question->dim);
}

/* ---- a step of a run ---- */

static void refuse_unplanned(lua_State *L, const pnl_ask *self, const pnl_ask_call *of)
{
    const pn_plan *plan = self->plan;
    luaL_Buffer text;
    pn_err err;

    luaL_buffinit(L, &text);
    for (size_t i = 0; i < plan->question_count; i++) {
        luaL_addstring(&text, i ? ", " : "");
        luaL_addstring(&text, plan->questions[i].ops->name);
        if (plan->questions[i].scheme)
            luaL_addstring(&text, " of a batch");
    }
    luaL_pushresult(&text);
    pnl_status(L,
               pn_fail(&err, PN_EPRIVACY,
                       "%s: the step asks %s%s, which the plan does not have: it has %s; a step must ask the same "
                       "questions, with the same options, as when it was planned, or declare them in queries=",
                       self->owner, of->told.question.ops->name,
                       of->told.question.scheme ? " of that batch" : " in that form", lua_tostring(L, -1)),
               &err);
}

void pnl_ask_check_within(lua_State *L, const pnl_ask *self)
{
    pn_err err;

    if (self->within)
        return;
    pnl_status(L,
               pn_fail(&err, PN_EPRIVACY,
                       "%s: this oracle answers inside its own step only; ask in `step`, or make one "
                       "with pn.oracle",
                       self->owner),
               &err);
}

static int answer_in_run(lua_State *L, pnl_ask *self, const pnl_ask_call *of)
{
    size_t which = find(self->plan, &of->told.question);
    pn_answer got = { .wants_value = of->told.question.ops == &pn_question_gradient };
    const pn_question *question;
    bool before;
    pn_status status;

    if (which == self->plan->question_count)
        refuse_unplanned(L, self, of);
    question = &self->plan->questions[which];
    if (of->told.question.share > question->share * (1.0 + 1e-12))
        pnl_error(L, "%s: the step asks %s with share %g, and its plan has %g", self->owner, question->ops->name,
                  of->told.question.share, question->share);
    if (of->told.question.budget > question->budget * (1.0 + 1e-12))
        pnl_error(L, "%s: the step asks %s with budget %g, and its plan has %g", self->owner, question->ops->name,
                  of->told.question.budget, question->budget);
    before = pnl_private_step(L, false); /* what the pass calls back is the owner's own */
    status = PN_WITH_RECORDS(pn_oracle_ask(
        self->oracle, which, &(pn_asked){ .x = of->x, .v = of->v, .tau = of->told.length }, &got, &self->err));
    (void)pnl_private_step(L, before);
    self->failed = status;
    pnl_status(L, status, &self->err);
    if (got.wants_value && isnan(self->value))
        self->value = got.value;
    return pnl_ask_push(L, self, of, &got, question->dim);
}

/* ---- by itself ---- */

/* The request of a plan of one step for what one answer may cost; sigma: none. */
static pn_request request_of(lua_State *L, const pnl_ask *self, const pnl_told *told)
{
    bool sigma = !isnan(told->sigma), rho = !isnan(told->rho), epsilon = !isnan(told->epsilon);

    if (sigma + rho + epsilon != 1)
        pnl_error(L, "%s: say what this answer may cost: sigma=, or rho=, or epsilon= and delta=", self->owner);
    if (sigma && (told->question.ops->answer == PN_ANSWER_CHOICE || told->question.ops->answer == PN_ANSWER_ABOVE))
        pnl_error(L, "%s: a %s has no sigma; give rho=, or epsilon=", self->owner,
                  told->question.ops->answer == PN_ANSWER_ABOVE ? "watch" : "choice");
    return (pn_request){ .kind = rho ? PN_RHO : PN_EPSILON_DELTA,
                         .epsilon = told->epsilon,
                         .delta = told->delta,
                         .rho = told->rho,
                         .neighbours = self->neighbours };
}

/* One answer has no iterations to take fewer of. */
static pn_status price(pn_plan *plan, const pnl_told *told, pn_err *err)
{
    pn_question *question = &plan->questions[0];
    const pn_request *request = &plan->request;
    bool rho = request->kind == PN_RHO;
    pn_status status;

    if (isnan(told->sigma)) {
        status = pn_plan_calibrate(plan, false, err);
        if (status == PN_EBUDGET && question->ops->answer == PN_ANSWER_NUMBERS)
            return pn_fail(
                err, status,
                "%s: no noise that can be drawn makes %s cost as little as %s %g; give more %s, or ask for smaller "
                "numbers",
                plan->owner, question->ops->name, rho ? "rho" : "epsilon", rho ? request->rho : request->epsilon,
                rho ? "rho" : "epsilon or delta");
        return status;
    }
    if (question->ops->answer == PN_ANSWER_SUMS)
        PN_TRY(pn_question_set_horizon(question, plan->iterations, err));
    PN_TRY(pn_question_set_noise(question, 1.0, err));
    return pn_question_set_noise(question, told->sigma / pn_question_sigma(question), err);
}

void pnl_ask_free_plan(pn_plan *plan)
{
    if (!plan)
        return;
    for (size_t i = 0; i < plan->question_count; i++)
        pn_question_clear(&plan->questions[i]);
    pn_free(plan->questions);
    pn_event_free(plan->event);
    pn_free(plan);
}

static const pnl_class draft_class = { "pn.draft", (void (*)(void *))pnl_ask_free_plan,
                                       NULL,       "A plan of one answer.",
                                       NULL,       NULL };

/* count: the numbers that the answer has; of a choice none, since its scores are nobody's. */
static pn_status ask_and_close(pn_oracle *oracle, const pnl_ask_call *of, pn_answer *got, double *numbers, size_t count,
                               pn_err *err)
{
    pn_status status;

    pn_oracle_begin(oracle);
    status = pn_oracle_ask(oracle, 0, &(pn_asked){ .x = of->x, .v = of->v, .tau = of->told.length }, got, err);
    if (status == PN_OK)
        memcpy(numbers, got->numbers, count * sizeof *numbers);
    got->numbers = numbers;
    pn_oracle_close(oracle);
    return status;
}

int pnl_ask_in_step(lua_State *L, pnl_ask *self, const pnl_ask_call *of)
{
    return self->mode == PNL_ASK_RECORDS ? write_down(L, self, of) : answer_in_run(L, self, of);
}

pn_rng *pnl_ask_rng(lua_State *L, const pnl_ask *self)
{
    return self->rng ? self->rng : pnl_rng(L, lua_gettop(L) + 1);
}

void pnl_ask_spending(lua_State *L, const pnl_ask *self, const pn_rng *rng, pn_spending *out)
{
    bool simulated = pn_rng_simulated(rng);

    pn_spending_init(out, pnl_bill(L, pn_objective_data(self->objective)), simulated);
    if (!simulated)
        (void)pnl_bill_ledger(L, out->account, self->ledger, self->owner);
}

pn_plan *pnl_ask_price(lua_State *L, pnl_ask *self, const pnl_told *told, size_t steps, pn_plan **slot)
{
    pn_plan *plan = *slot = pn_calloc(1, sizeof *plan);
    pn_err err;

    if (!plan)
        pnl_no_memory(L, "%s: out of memory", self->owner);
    plan->name = "oracle";
    (void)snprintf(plan->owner, sizeof plan->owner, "%s", self->owner);
    plan->objective = self->objective;
    plan->iterations = steps;
    plan->request = request_of(L, self, told);
    self->plan = plan;
    (void)pnl_ask_plan(L, self, told);
    self->plan = NULL;
    pnl_status(L, price(plan, told, &err), &err);
    return plan;
}

static int answer_once(lua_State *L, pnl_ask *self, const pnl_ask_call *of)
{
    pn_plan *plan = pnl_ask_price(L, self, &of->told, 1, (pn_plan **)pnl_newbox(L, &draft_class));
    size_t dim = plan->questions[0].dim;
    size_t count = plan->questions[0].ops->answer == PN_ANSWER_CHOICE ? 0 : dim;
    pn_answer got = { 0 };
    pn_oracle *oracle = NULL;
    double *numbers;
    pn_spending spending;
    pn_rng *rng;
    pn_status status;
    pn_err err;

    numbers = pnl_new_vec(L, dim);
    rng = pnl_ask_rng(L, self); /* may raise: before anything is busy */
    pnl_ask_spending(L, self, rng, &spending);
    pnl_run_begin(L, true);
    pnl_busy(L, 1, true);
    status = pn_oracle_open(&oracle, plan, self->ledger, rng, pnl_task(L), &err);
    if (status == PN_OK)
        status = PN_SPENDING(&spending, PN_WITH_RECORDS(ask_and_close(oracle, of, &got, numbers, count, &err)));
    status = pnl_bill_refused(spending.account, self->ledger, self->owner, status, &err);
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    self->last = plan->questions[0].ops;
    self->noise = pn_question_sigma(&plan->questions[0]);
    return pnl_ask_push(L, self, of, &got, dim);
}

/* ---- all three ---- */

/* Room for the question: the oracle's own, or on the stack while that is in use. */
static pnl_ask_call *take_room(lua_State *L, pnl_ask *self)
{
    size_t dim = pn_objective_dim(self->objective), p = pn_objective_data(self->objective)->p;
    pnl_ask_call *of;

    if (!self->spare)
        self->spare = pn_alloc(1, sizeof *of + 2 * (dim > p ? dim : p) * sizeof(double));
    if (!self->spare || self->lent) {
        of = lua_newuserdatauv(L, sizeof *of, 0);
        *of = (pnl_ask_call){ 0 };
        return of;
    }
    self->lent = true;
    of = self->spare;
    *of = (pnl_ask_call){ .room = (double *)(void *)(of + 1) };
    return of;
}

int pnl_ask_kind(lua_State *L, const pn_question_ops *ops)
{
    pnl_ask *self = pnl_check(L, 1, &pnl_ask_class);
    pnl_ask_call *of;
    int count;

    luaL_checkstack(L, 32, self->owner);
    lua_settop(L, 6);
    of = take_room(L, self);
    if (self->mode != PNL_ASK_ONCE)
        pnl_ask_check_within(L, self);
    pnl_ask_read(L, self, ops, of);
    if (self->mode != PNL_ASK_ONCE && !(isnan(of->told.sigma) && isnan(of->told.rho) && isnan(of->told.epsilon)))
        pnl_error(L,
                  "%s: %s is given a price in a step, where the plan's budget pays; share= says how precise it is "
                  "beside other questions",
                  self->owner, ops->name);
    count = self->mode == PNL_ASK_ONCE ? answer_once(L, self, of) : pnl_ask_in_step(L, self, of);
    if (of == self->spare)
        self->lent = false;
    return count;
}
