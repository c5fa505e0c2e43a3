/* lsolver_run.c -- what happens in Lua while a solver of a user's own is planned and run: the state `s`, the oracle
 * `ask`, and the calls of start, step and answer.
 * Depends on: lsolver.h.  Used by: lsolver.c.
 *
 * Each plan has one function, a closure over the definition, the objective, the options and a table of its runs; the
 * runtime calls it with a job.  Before a step the fields of s are noted, so that a step that fails leaves them as they
 * were: it is tried again from there, and gets the answers that were paid for. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/solvers/lsolver.h"
#include "core/vault.h"
#include "geometry/sets/sets.h"
#include "solvers/engine/work.h"

enum { UP_DEFINITION = 1, UP_OBJECTIVE, UP_OPTIONS, UP_RUNS };
enum { RUN_STATE = 1, RUN_ASK, RUN_SAVED };

static const pnl_scripted_plan *plan_of(const pnl_scripted_state *self)
{
    return (const pnl_scripted_plan *)self->base.plan;
}

/* ---- the state ---- */

static void set_field(lua_State *L, int table, const char *name)
{
    lua_setfield(L, table, name);
}

/* Push what is public of the objective: {n=, dim=, bounds=, loss=}. */
static void push_facts(lua_State *L, const pn_objective *objective)
{
    lua_createtable(L, 0, 4);
    lua_pushinteger(L, (lua_Integer)pn_objective_data(objective)->n);
    set_field(L, -2, "n");
    lua_pushinteger(L, (lua_Integer)pn_objective_dim(objective));
    set_field(L, -2, "dim");
    lua_pushstring(L, pn_loss_name(pn_objective_loss(objective)));
    set_field(L, -2, "loss");
    lua_getfield(L, lua_upvalueindex(UP_OBJECTIVE), "bounds");
    set_field(L, -2, "bounds");
}

/* The constraint set, or all of R^dim. */
static void push_set(lua_State *L, const pn_objective *objective)
{
    pn_arg dim = { .given = true, .count = pn_objective_dim(objective) };
    pn_set **slot;
    pn_err err;

    if (lua_getfield(L, lua_upvalueindex(UP_OBJECTIVE), "set") != LUA_TNIL)
        return;
    lua_pop(L, 1);
    slot = (pn_set **)pnl_newbox(L, &pnl_set_class);
    pnl_status(L, pn_set_from_args(slot, "free", &dim, &err), &err);
}

/* Push s. */
static void push_state(lua_State *L, const pnl_scripted_plan *plan)
{
    const pn_objective *objective = plan->base.objective;
    size_t dim = pn_objective_dim(objective);
    int s = lua_gettop(L) + 1;

    lua_createtable(L, 0, 14);
    pnl_push_copy(L, plan->base.start, dim);
    set_field(L, s, "x");
    lua_pushstring(L, plan->base.name);
    set_field(L, s, "name");
    lua_pushstring(L, plan->base.owner);
    set_field(L, s, "called");
    lua_pushinteger(L, (lua_Integer)dim);
    set_field(L, s, "dim");
    lua_pushinteger(L, (lua_Integer)pn_objective_data(objective)->n);
    set_field(L, s, "n");
    if (plan->base.iterations) {
        lua_pushinteger(L, (lua_Integer)plan->base.iterations);
        set_field(L, s, "steps");
    }
    lua_pushnumber(L, plan->noise);
    set_field(L, s, "noise");
    lua_pushnumber(L, plan->time);
    set_field(L, s, "time");
    lua_pushinteger(L, (lua_Integer)pn_gradient_steps_max(objective));
    set_field(L, s, "passes");
    lua_pushinteger(L, 0);
    set_field(L, s, "step");
    push_set(L, objective);
    set_field(L, s, "set");
    push_facts(L, objective);
    set_field(L, s, "objective");
    lua_newtable(L); /* a copy: a run does not change the plan */
    pnl_add_all(L, lua_upvalueindex(UP_OPTIONS));
    set_field(L, s, "options");
}

/* Push a new oracle for the plan or one of its runs. */
static pnl_ask *push_ask(lua_State *L, const pnl_scripted_plan *plan, pnl_ask_mode mode)
{
    pnl_ask *ask;

    lua_pushvalue(L, lua_upvalueindex(UP_OBJECTIVE));
    ask = pnl_new_ask(L, lua_gettop(L), mode, plan->base.owner);
    lua_remove(L, -2);
    ask->neighbours = plan->base.request.neighbours;
    ask->plan = (pn_plan *)(size_t)&plan->base;
    if (lua_getfield(L, lua_upvalueindex(UP_OPTIONS), "batch") != LUA_TNIL)
        pnl_ask_batch(L, -1, ask, &ask->batch);
    lua_pop(L, 1);
    return ask;
}

/* Call the definition's function of that name, if there is one, with the `count` values on the top; `results` are left.
 * False, and the values are gone, where there is none. */
static bool call_own(lua_State *L, const char *name, int count, int results)
{
    if (lua_getfield(L, lua_upvalueindex(UP_DEFINITION), name) == LUA_TNIL) {
        lua_pop(L, count + 1);
        return false;
    }
    lua_insert(L, -(count + 1));
    lua_call(L, count, results);
    return true;
}

/* s.x, or what `answer` makes of s, to x[dim]; false where it is not finite. */
static bool read_answer(lua_State *L, const pnl_scripted_plan *plan, int s, double *x)
{
    size_t dim = pn_objective_dim(plan->base.objective);
    pn_vec given;

    lua_pushvalue(L, s);
    if (!call_own(L, "answer", 1, 1))
        lua_getfield(L, s, "x");
    if (lua_type(L, -1) != LUA_TTABLE && !pnl_test(L, -1, &pnl_vec_class))
        pnl_error(L, "%s: s.x, or what answer returns, must be a vector of %zu numbers, got %s", plan->base.owner, dim,
                  pnl_got(L, -1));
    given = pnl_check_vec_of(L, -1, plan->base.owner);
    if (given.n != dim)
        pnl_error(L, "%s: s.x, or what answer returns, must have %zu entries, got %zu", plan->base.owner, dim, given.n);
    if (pn_first_nonfinite(given.data, dim) < dim)
        return false;
    memcpy(x, given.data, dim * sizeof *x);
    return true;
}

/* ---- planning ---- */

/* What the definition's `iterations` says of the problem: the steps, and passes of a plan that was held back. */
static void count_steps(lua_State *L, pnl_job *job)
{
    pn_plan *plan = &job->plan->base;
    lua_Number steps, passes;

    push_state(L, job->plan);
    (void)call_own(L, "iterations", 1, 2);
    steps = lua_type(L, -2) == LUA_TNUMBER ? lua_tonumber(L, -2) : NAN;
    if (!(steps >= 1.0 && steps <= 0x1p53 && steps == floor(steps)))
        pnl_error(L, "%s: iterations must return a whole number of steps from 1, got %s", plan->owner, pnl_got(L, -2));
    plan->iterations = (size_t)steps;
    if ((passes = lua_tonumber(L, -1)) > 0.0) /* 0 of nothing */
        pn_plan_held_back(plan, passes * pn_pass_seconds(plan->objective));
}

/* One step against an oracle that writes down what it is asked. */
static void record(lua_State *L, pnl_job *job)
{
    int s, ask;

    push_state(L, job->plan);
    s = lua_gettop(L);
    job->ask = push_ask(L, job->plan, PNL_ASK_RECORDS);
    job->ask->references++;
    ask = lua_gettop(L);
    lua_pushvalue(L, s);
    (void)call_own(L, "start", 1, 0);
    lua_pushinteger(L, 1);
    lua_setfield(L, s, "step");
    job->ask->within = true;
    lua_pushvalue(L, s);
    lua_pushvalue(L, ask);
    (void)call_own(L, "step", 2, 0);
}

/* The one at the top, a count or a table of options. */
static void declare_one(lua_State *L, pnl_ask *ask, const pn_question_ops *ops)
{
    pnl_told told = { .question = { .ops = ops, .points = 1 } };

    if (ops == &pn_question_moment || ops == &pn_question_mean || ops == &pn_question_values ||
        ops == &pn_question_choose || ops == &pn_question_differences || ops == &pn_question_prefix ||
        ops == &pn_question_above)
        pnl_error(L, "%s: queries: %s is priced by its arguments; leave queries out, and the step is tried once",
                  ask->owner, ops->name);
    if (lua_type(L, -1) == LUA_TNUMBER) {
        lua_createtable(L, 0, 1);
        lua_pushvalue(L, -2);
        lua_setfield(L, -2, "count");
    }
    pnl_ask_options(L, lua_gettop(L), ask, &told);
    (void)pnl_ask_about(&told.question);
    (void)pnl_ask_plan(L, ask, &told);
}

/* queries = {gradient = 1, hessian = {count = 1, share = 2}}, in the order of the kinds. */
static void declare(lua_State *L, pnl_job *job, int queries)
{
    pnl_ask *ask = push_ask(L, job->plan, PNL_ASK_RECORDS);
    const pn_question_ops *const *kinds = pn_question_table();
    int top = lua_gettop(L);

    for (lua_pushnil(L); lua_next(L, queries); lua_pop(L, 1))
        (void)pnl_ask_question(L, lua_gettop(L) - 1, ask->owner, "queries: ");
    for (; *kinds; kinds++) {
        if (lua_getfield(L, queries, (*kinds)->name) != LUA_TNIL)
            declare_one(L, ask, *kinds);
        lua_settop(L, top);
    }
    pnl_ask_end(ask);
}

static void read_accountant(lua_State *L, pnl_scripted_plan *plan)
{
    int type = lua_getfield(L, lua_upvalueindex(UP_OPTIONS), "accountant");
    const char *name = type == LUA_TSTRING ? lua_tostring(L, -1) : type == LUA_TNIL ? "rdp" : "";

    plan->pld = strcmp(name, "pld") == 0;
    if (!plan->pld && strcmp(name, "rdp") != 0)
        pnl_error(L, "%s: accountant must be \"rdp\" or \"pld\", got %s", plan->base.owner, pnl_got(L, -1));
    lua_pop(L, 1);
}

static void plan_questions(lua_State *L, pnl_job *job)
{
    int type;

    read_accountant(L, job->plan);
    pnl_set_settings(L, &job->plan->base, lua_upvalueindex(UP_DEFINITION), lua_upvalueindex(UP_OPTIONS));
    type = lua_getfield(L, lua_upvalueindex(UP_DEFINITION), "queries");
    if (type == LUA_TNIL) {
        record(L, job);
        return;
    }
    if (type == LUA_TFUNCTION) {
        push_state(L, job->plan);
        lua_call(L, 1, 1);
    }
    if (!lua_istable(L, -1))
        pnl_error(L, "%s: queries must be a table, {gradient = 1}, or a function of s that returns one, got %s",
                  job->plan->base.owner, pnl_got(L, -1));
    declare(L, job, lua_gettop(L));
}

/* ---- a run ---- */

/* Runs that are over leave nothing behind. */
static void forget_ended(lua_State *L)
{
    for (lua_pushnil(L); lua_next(L, lua_upvalueindex(UP_RUNS)); lua_pop(L, 1)) {
        const pnl_ask *ask;

        lua_rawgeti(L, -1, RUN_ASK);
        ask = pnl_test(L, -1, &pnl_ask_class);
        lua_pop(L, 1);
        if (!ask || !ask->oracle) {
            lua_pushvalue(L, -2);
            lua_pushnil(L);
            lua_rawset(L, lua_upvalueindex(UP_RUNS));
        }
    }
}

static void begin(lua_State *L, pnl_job *job)
{
    pnl_scripted_state *self = job->state;
    int s;

    forget_ended(L);
    lua_createtable(L, 3, 0);
    push_state(L, job->plan);
    s = lua_gettop(L);
    self->ask = push_ask(L, job->plan, PNL_ASK_RUNS);
    self->ask->references++;
    self->ask->oracle = job->oracle;
    self->ask->ledger = pn_oracle_ledger(job->oracle);
    lua_rawseti(L, -3, RUN_ASK);
    lua_pushvalue(L, s);
    lua_rawseti(L, -3, RUN_STATE);
    lua_newtable(L);
    lua_rawseti(L, -3, RUN_SAVED);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, lua_upvalueindex(UP_RUNS), self);
    lua_pushvalue(L, s);
    (void)call_own(L, "start", 1, 0);
}

/* Make the table at `to` hold the fields of the one at `from`, and no others. */
static void copy_fields(lua_State *L, int from, int to)
{
    for (lua_pushnil(L); lua_next(L, to); lua_pop(L, 1)) { /* what is gone goes: clearing is allowed on the way */
        lua_pushvalue(L, -2);
        if (lua_rawget(L, from) == LUA_TNIL) {
            lua_pushvalue(L, -3);
            lua_pushnil(L);
            lua_rawset(L, to);
        }
        lua_pop(L, 1);
    }
    for (lua_pushnil(L); lua_next(L, from);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, to);
    }
}

/* Push the run's state, its oracle and what its state was. */
static int push_run(lua_State *L, const pnl_job *job)
{
    int run;

    lua_rawgetp(L, lua_upvalueindex(UP_RUNS), job->state);
    run = lua_gettop(L);
    for (int i = RUN_STATE; i <= RUN_SAVED; i++)
        lua_rawgeti(L, run, i);
    return run + 1;
}

static void finish_early(lua_State *L, pnl_job *job)
{
    pn_state *state = &job->state->base;

    if (lua_isnil(L, -1))
        return;
    if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), "done") != 0)
        pnl_error(L, "%s: step must return nothing, or \"done\", got %s", job->plan->base.owner, pnl_got(L, -1));
    if (!state->plan->solver->adaptive)
        pnl_error(L, "%s: step returned \"done\"; a solver that may stop early must be made with adaptive = true",
                  job->plan->base.owner);
    state->finished = true;
    state->stopped = "done";
}

static void step(lua_State *L, pnl_job *job)
{
    pnl_scripted_state *self = job->state;
    int s = push_run(L, job);

    copy_fields(L, s, s + 2);
    lua_pushinteger(L, (lua_Integer)self->base.step + 1);
    lua_setfield(L, s, "step");
    lua_pushvalue(L, s);
    lua_pushvalue(L, s + 1);
    (void)call_own(L, "step", 2, 1);
    finish_early(L, job);
    if (!read_answer(L, job->plan, s, self->base.theta)) { /* the answer stays the point before */
        self->base.finished = true;
        self->base.stopped = "diverged";
    }
    if (lua_getfield(L, s, "step_size") == LUA_TNUMBER)
        job->row->step_size = lua_tonumber(L, -1);
    job->row->value = self->ask->value;
}

static void restore(lua_State *L, pnl_job *job)
{
    int s = push_run(L, job);

    if (lua_istable(L, s) && lua_istable(L, s + 2))
        copy_fields(L, s + 2, s);
}

/* The function of a plan: (job) */
static int run_job(lua_State *L)
{
    pnl_job *job = lua_touserdata(L, 1);

    luaL_checkstack(L, 40, job->plan->base.owner);
    switch (job->kind) {
    case PNL_JOB_COUNT:
        count_steps(L, job);
        break;
    case PNL_JOB_PLAN:
        plan_questions(L, job);
        break;
    case PNL_JOB_BEGIN:
        begin(L, job);
        break;
    case PNL_JOB_STEP:
        step(L, job);
        break;
    case PNL_JOB_RESTORE:
        restore(L, job);
        break;
    }
    return 0;
}

void pnl_push_scripted_function(lua_State *L, int definition, int objective, int options)
{
    lua_pushvalue(L, definition);
    lua_pushvalue(L, objective);
    lua_pushvalue(L, options);
    lua_newtable(L);
    lua_pushcclosure(L, run_job, 4);
}

/* ---- the calls ---- */

static void body(lua_State *L, const pnl_callback *back, unsigned which, void *args)
{
    (void)back;
    (void)which;
    lua_pushlightuserdata(L, args);
    lua_call(L, 1, 0);
}

/* Records are out of reach while Lua runs, but for what the oracle answers.  A function of the definition that plans or
 * runs the same solver would do so again, without end. */
pn_status pnl_scripted_call(const pnl_scripted_plan *plan, pnl_job *job, pn_err *err)
{
    pnl_scripted *of = (pnl_scripted *)(size_t)plan->base.solver;
    lua_State *L = pnl_run_state(plan->back->main);
    bool before;
    pn_status status;

    if (of->within)
        return pn_fail(err, PN_EINVAL, "%s: a step of %s plans or runs %s; it asks `ask`, and moves s.x", of->name,
                       of->name, of->name);
    before = pnl_private_step(L, plan->base.request.kind != PN_NONPRIVATE);
    of->within = true;
    pn_vault_leave();
    status = pnl_call_back(plan->back, 0, body, job, err);
    pn_vault_enter();
    of->within = false;
    (void)pnl_private_step(L, before);
    return status;
}

static pn_status scripted_begin(pn_state *state, pn_oracle *oracle, pn_err *err)
{
    pnl_scripted_state *self = (pnl_scripted_state *)state;
    pnl_job job = { PNL_JOB_BEGIN, (pnl_scripted_plan *)(size_t)plan_of(self), self, oracle, NULL, NULL };

    return pnl_scripted_call(plan_of(self), &job, err);
}

/* A budget that others have used up, and a stop, end the run as they end others, unless the step has caught them. */
static pn_status scripted_query(pn_state *state, pn_oracle *oracle, pn_trace_row *row, pn_err *err)
{
    pnl_scripted_state *self = (pnl_scripted_state *)state;
    pnl_job job = { PNL_JOB_STEP, (pnl_scripted_plan *)(size_t)plan_of(self), self, oracle, NULL, row };
    pnl_ask *ask = self->ask;
    pn_status status;

    ask->failed = PN_OK;
    ask->value = NAN;
    ask->lent = false; /* what an error has left */
    ask->within = true;
    status = pnl_scripted_call(plan_of(self), &job, err);
    ask->within = false;
    if (status == PN_OK)
        return PN_OK;
    job.kind = PNL_JOB_RESTORE;
    (void)pnl_scripted_call(plan_of(self), &job, NULL);
    self->base.finished = false;
    if (status != PN_ECALLBACK || !(ask->failed == PN_EBUDGET || pn_is_stop(ask->failed)))
        return status;
    if (err)
        *err = ask->err;
    return ask->failed;
}

static pn_status scripted_update(pn_state *state, pn_trace_row *row, pn_err *err)
{
    (void)state;
    (void)row;
    (void)err;
    return PN_OK;
}

static void scripted_end(pn_state *state)
{
    pnl_scripted_state *self = (pnl_scripted_state *)state;

    if (self->ask)
        pnl_ask_end(self->ask);
    pnl_ask_free(self->ask);
}

void pnl_scripted_ops(pn_solver_ops *ops)
{
    ops->state = sizeof(pnl_scripted_state);
    ops->begin = scripted_begin;
    ops->query = scripted_query;
    ops->update = scripted_update;
    ops->end = scripted_end;
}
