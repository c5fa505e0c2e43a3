/* lask.c -- pn.oracle: questions about the records from Lua, each certified, priced, charged and then drawn.
 * Depends on: lask.h, lsymbol.h, progress.h, oracle/oracle.h.  Used by: lsolve.c, lsolver.c.
 *
 * What is asked is read alike for all kinds (lask_call.c); what becomes of it depends on the oracle: a solver that is
 * being planned writes it down, a run answers what its plan has, and at the prompt each answer is a plan of one
 * step. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/solvers/lask.h"
#include "core/vault.h"

enum { KEPT_OBJECTIVE = 1 };

static pnl_ask *ask_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_ask_class);
}

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

static void ask_free(void *object)
{
    pnl_ask_free(object);
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
    if (sigma && told->question.ops->answer == PN_ANSWER_CHOICE)
        pnl_error(L, "%s: a choice has no sigma; give rho=, or epsilon=", self->owner);
    return (pn_request){ .kind = rho ? PN_RHO : PN_EPSILON_DELTA,
                         .epsilon = told->epsilon,
                         .delta = told->delta,
                         .rho = told->rho,
                         .neighbours = self->neighbours };
}

static pn_status price(pn_plan *plan, const pnl_told *told, pn_err *err)
{
    pn_question *question = &plan->questions[0];

    if (isnan(told->sigma))
        return pn_plan_calibrate(plan, false, err);
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

static pn_status ask_and_close(pn_oracle *oracle, const pnl_ask_call *of, pn_answer *got, double *numbers, size_t dim,
                               pn_err *err)
{
    pn_status status;

    pn_oracle_begin(oracle);
    status = pn_oracle_ask(oracle, 0, &(pn_asked){ .x = of->x, .v = of->v, .tau = of->told.length }, got, err);
    if (status == PN_OK)
        memcpy(numbers, got->numbers, dim * sizeof *numbers);
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
    pn_answer got = { 0 };
    pn_oracle *oracle = NULL;
    double *numbers;
    pn_rng *rng;
    pn_status status;
    pn_err err;

    numbers = pnl_new_vec(L, dim);
    rng = pnl_ask_rng(L, self); /* may raise: before anything is busy */
    pnl_run_begin(L, true);
    pnl_busy(L, 1, true);
    status = pn_oracle_open(&oracle, plan, self->ledger, rng, pnl_task(L), &err);
    if (status == PN_OK)
        status = PN_WITH_RECORDS(ask_and_close(oracle, of, &got, numbers, dim, &err));
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return pnl_ask_push(L, self, of, &got, dim);
}

/* ---- the questions as methods ---- */

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

static int ask_kind(lua_State *L, const pn_question_ops *ops)
{
    pnl_ask *self = ask_of(L);
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

#define METHOD(name)                                                                                                   \
    static int ask_##name(lua_State *L)                                                                                \
    {                                                                                                                  \
        return ask_kind(L, &pn_question_##name);                                                                       \
    }
METHOD(gradient)
METHOD(moment)
METHOD(difference)
METHOD(hessian)
METHOD(hvp)
METHOD(mean)
METHOD(within)
METHOD(value)
METHOD(values)
METHOD(differences)
METHOD(vertex)
METHOD(choose)

/* ---- what is public ---- */

static int objective_field(lua_State *L, const char *field)
{
    (void)ask_of(L);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, KEPT_OBJECTIVE);
    lua_getfield(L, -1, field);
    return 1;
}

static int ask_set(lua_State *L)
{
    return objective_field(L, "set");
}

static int ask_bounds(lua_State *L)
{
    return objective_field(L, "bounds");
}

PNL_GETTER(ask_n, pn_objective_data(ask_of(L)->objective)->n);
PNL_GETTER(ask_dim, pn_objective_dim(ask_of(L)->objective));
PNL_GETTER(ask_relation, (char *)(size_t)pn_neighbours_names[ask_of(L)->neighbours]);
PNL_GETTER_IF(ask_spent, ask_of(L)->ledger != NULL, pn_ledger_spent(ask_of(L)->ledger));
PNL_GETTER_IF(ask_left, ask_of(L)->ledger != NULL, pn_ledger_remaining(ask_of(L)->ledger));

/* ask:noise(name): of the plan. */
static int ask_noise(lua_State *L)
{
    const pnl_ask *self = ask_of(L);
    const char *name = luaL_checkstring(L, 2);
    const pn_question_ops *ops = pn_question_find(name);

    if (!ops)
        return pnl_error(L, "%s: there is no question '%s'", self->owner, name);
    if (self->mode != PNL_ASK_RUNS || !self->plan) {
        lua_pushnumber(L, 0.0); /* while a solver is planned, and where each answer has its own */
        return 1;
    }
    for (size_t i = 0; i < self->plan->question_count; i++) {
        if (self->plan->questions[i].ops == ops) {
            lua_pushnumber(L, self->plan->questions[i].exact ? 0.0 : pn_question_sigma(&self->plan->questions[i]));
            return 1;
        }
    }
    return pnl_error(L, "%s: the plan does not ask %s", self->owner, name);
}

static int ask_tostring(lua_State *L)
{
    const pnl_ask *self = ask_of(L);

    lua_pushfstring(L, "oracle: %s neighbours, %d records, theta of %d numbers; %s",
                    pn_neighbours_names[self->neighbours], (int)pn_objective_data(self->objective)->n,
                    (int)pn_objective_dim(self->objective),
                    self->mode == PNL_ASK_ONCE ? "every answer is charged to its ledger" : "of a solver's step");
    return 1;
}

#define PRICE                                                                                                          \
    "By itself it takes its price, {sigma=} of the noise, or {rho=}, or {epsilon=, delta=}; in a step of pn.solver "   \
    "{share=}, its precision relative to the step's other questions.  "

static const pnl_row ask_rows[] = {
    { "gradient", ask_gradient, PNL_METHOD, PNL_PAID, "ask:gradient(x, {options}) -> vec",
      "The gradient of f at x with Gaussian noise: of the mean loss, certified or clipped, with the regulariser's "
      "added after.  clip=c, any public number, scales every record's down to length c, with noise in proportion: "
      "sigma is then that for clip 1.  " PRICE "batch={scheme=, size=} asks a batch that nobody knows." },
    { "moment", ask_moment, PNL_METHOD, PNL_PAID, "ask:moment(phi, x, {options}) -> vec",
      "The mean of phi(z, y) x_i over the records, z = <x_i, x>, with noise.  phi is traced, and refused where its "
      "range is not bounded over the margins and labels that can occur.  " PRICE },
    { "difference", ask_difference, PNL_METHOD, PNL_PAID, "ask:difference(x, y, {options}) -> vec",
      "The mean gradient at x less that at y, every record's part clipped to reach x smoothness x ||x - y|| (reach 1), "
      "with noise in proportion: of smooth losses.  sigma is that for length 1.  " PRICE },
    { "hessian", ask_hessian, PNL_METHOD, PNL_PAID, "ask:hessian(x, {options}) -> mat",
      "The Hessian of f at x with symmetric noise, isotropic in Frobenius norm.  " PRICE
      "Its batches are of a fixed size." },
    { "hvp", ask_hvp, PNL_METHOD, PNL_PAID, "ask:hvp(x, v, {options}) -> vec",
      "The Hessian of f at x times v, with noise in proportion to ||v||: of smooth losses.  sigma is that for length "
      "1.  " PRICE },
    { "mean", ask_mean, PNL_METHOD, PNL_PAID, "ask:mean(phi, x, {options}) -> number",
      "The mean of phi(z, y) over the records, z = <x_i, x>, with noise; phi is traced and bounded as for moment, or "
      "clip={low, high} clips it.  " PRICE },
    { "within", ask_within, PNL_METHOD, PNL_PAID, "ask:within(x, length, {options}) -> number",
      "The share of records whose gradient of the loss at x has an l2 norm of at most `length`, any public number, "
      "with noise.  " PRICE },
    { "value", ask_value, PNL_METHOD, PNL_PAID, "ask:value(x, {options}) -> number",
      "f(x) with noise: every record's loss is clipped to its certified range, or to clip={low, high}.  " PRICE },
    { "values", ask_values, PNL_METHOD, PNL_PAID, "ask:values(points, {options}) -> vec",
      "f at the rows of a mat, or at a list of vectors, as one release.  " PRICE },
    { "differences", ask_differences, PNL_METHOD, PNL_PAID, "ask:differences(x, U, {radius=, options}) -> vec",
      "(f(x + radius u) - f(x - radius u))/(2 radius) of the mean loss for each row u of U, every record's clipped to "
      "its Lipschitz constant, or to clip=, with noise.  " PRICE },
    { "vertex", ask_vertex, PNL_METHOD, PNL_PAID, "ask:vertex(x, {options}) -> vec, integer",
      "The vertex v of the set, and its number, with the least <v, gradient of f at x>, by private choice.  " PRICE },
    { "choose", ask_choose, PNL_METHOD, PNL_PAID, "ask:choose(points, {options}) -> integer",
      "The number of the point with the least mean loss, by private choice.  " PRICE },
    { "prefix", pnl_ask_prefix, PNL_METHOD, PNL_PAID, "ask:prefix{factorization=, bands=, batch=, ...} -> sums",
      "A running sum of gradients: sums:push(x) adds the mean gradient of the losses at x and gives the sum so far, "
      "with noise by a factorization of prefix sums (the options of pn.tree that name it), and one charge pays for "
      "all pushes of the run.  batch= takes batches of an order that is drawn once, each record once a pass, in "
      "place of all records.  In a step it is the same stream every time; by itself it takes horizon=, how often it "
      "is pushed, and a price." },
    { "watch", pnl_ask_watch, PNL_METHOD, PNL_PAID, "ask:watch{threshold=, answers=, phi=, clip=, ...} -> watch",
      "watch:above(x): whether the mean loss at x, or the mean of phi(z, y), is at or above the threshold, with noise; "
      "one charge pays until it has said so `answers` times (1).  In a step it is the same watch every time; by itself "
      "it takes a price, epsilon= or rho=." },
    { "noise", ask_noise, PNL_METHOD, PNL_NOTHING, "ask:noise(question) -> number",
      "The standard deviation of the noise on each number of an answer, in the plan of this run (of difference, hvp "
      "and clipped gradients for length 1; of a choice the Gumbel scale); 0 without privacy and while the solver is "
      "planned." },
    { "n", ask_n, PNL_FIELD, PNL_NOTHING, "ask.n -> integer", "Number of records; public." },
    { "dim", ask_dim, PNL_FIELD, PNL_NOTHING, "ask.dim -> integer", "Entries of theta." },
    { "set", ask_set, PNL_FIELD, PNL_NOTHING, "ask.set -> pn.set or nil", "The constraint set." },
    { "bounds", ask_bounds, PNL_FIELD, PNL_NOTHING, "ask.bounds -> table", "What is certified: obj.bounds." },
    { "relation", ask_relation, PNL_FIELD, PNL_NOTHING, "ask.relation -> string", "The neighbouring relation." },
    { "spent", ask_spent, PNL_FIELD, PNL_NOTHING, "ask.spent -> number or nil",
      "What its ledger has been charged, by everybody; nil in a run without privacy." },
    { "left", ask_left, PNL_FIELD, PNL_NOTHING, "ask.left -> number or nil", "What its ledger has left." },
    { "__tostring", ask_tostring, PNL_META, PNL_NOTHING, "tostring(ask)", "What it is about." },
    PNL_ROW_END,
};

const pnl_class pnl_ask_class = { "pn.oracle", ask_free,
                                  ask_rows,    "Questions about the records, answered with noise and charged.",
                                  NULL,        NULL };
