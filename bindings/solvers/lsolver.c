/* lsolver.c -- pn.solver{...}: a private solver of a user's own, planned and run as those of the library are.
 * Depends on: lsolver.h, lsolve.h.  Used by: lsolve.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/solvers/lsolver.h"
#include "core/vault.h"
#include "random/shared_stream.h"
#include "solvers/engine/first_order.h"

enum { KEPT_TABLE = 1 };

static const char boxes_key = 'd'; /* a weak table: from a definition to its box */

/* What a definition may say besides its functions. */
static const char *const fields[] = { "name", "doc",    "source",  "options",  "about",      "start",
                                      "step", "answer", "queries", "adaptive", "iterations", NULL };

static void scripted_free(void *object)
{
    pn_free(object);
}

static pnl_scripted *definition_of(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_solver_class);
}

/* ---- a plan ---- */

static void destroy_plan(pn_plan *plan)
{
    pnl_scripted_plan *self = (pnl_scripted_plan *)plan;

    pn_free(self->start);
    pn_free(self);
}

static pn_status first_point(pnl_scripted_plan *plan, const pn_arg *start, pn_err *err)
{
    const pn_set *set = pn_objective_set(plan->base.objective);
    size_t dim = pn_objective_dim(plan->base.objective);

    PN_TRY(pn_new_zeroed(&plan->start, dim, err, "%s: out of memory", plan->base.owner));
    if (start->given)
        memcpy(plan->start, start->vector.data, dim * sizeof(double));
    else if (set)
        set->ops->center(set, plan->start);
    return PN_OK;
}

/* As given, as the definition's function says, or its default. */
static pn_status choose_steps(pnl_scripted_plan *plan, const pn_arg *given, pn_err *err)
{
    const pnl_scripted *of = (const pnl_scripted *)plan->base.solver;

    if (!given->given && of->counts)
        return pnl_scripted_call(plan, &(pnl_job){ .kind = PNL_JOB_COUNT, .plan = plan }, err);
    plan->base.iterations = given->given ? given->count : of->iterations;
    if (plan->base.iterations == 0)
        return pn_fail(err, PN_EINVAL, "%s: say how many steps a run has: iterations=", plan->base.owner);
    return PN_OK;
}

static pn_status fill_plan(pnl_scripted_plan *plan, const pn_arg *common, pn_err *err)
{
    const pnl_scripted *of = (const pnl_scripted *)plan->base.solver;
    pnl_job job = { .kind = PNL_JOB_PLAN, .plan = plan };
    pn_status status;

    if (strcmp(common[PN_OPT_CALIBRATION].text, "tight") != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: calibration is \"tight\": there is no article that it follows",
                       plan->base.owner);
    PN_TRY(first_point(plan, &common[PN_OPT_START], err));
    PN_TRY(pn_first_order_time(&plan->time, &plan->noise, plan->base.objective, &plan->base.request,
                               &common[PN_OPT_START], err));
    PN_TRY(choose_steps(plan, &common[PN_OPT_ITERATIONS], err));
    status = pnl_scripted_call(plan, &job, err);
    if (job.ask) {
        pnl_ask_end(job.ask);
        pnl_ask_free(job.ask);
    }
    PN_TRY(status);
    plan->base.by_step = of->ops.adaptive;
    if (of->ops.adaptive)
        pn_plan_add_text(&plan->base, "may stop early", "yes",
                         "charged for what it asked; (epsilon, delta) hold wherever it stops: Feldman, Zrnic (2021)");
    return pn_plan_calibrate(&plan->base, plan->pld, err);
}

static pn_status scripted_plan(pn_plan **out, pn_objective *objective, const pn_request *request, const pn_arg *common,
                               const pn_arg *own, pn_err *err)
{
    pnl_scripted_plan *plan;
    pn_status status;

    PN_TRY(pn_new_zeroed(&plan, 1, err, "solve: out of memory"));
    pn_plan_begin(&plan->base, objective, request);
    (void)snprintf(plan->base.owner, sizeof plan->base.owner, "%s", plan->base.name);
    plan->back = (pnl_callback *)(size_t)own[0].object;
    status = fill_plan(plan, common, err);
    if (status != PN_OK) {
        pn_plan_free(&plan->base);
        return status;
    }
    *out = &plan->base;
    return PN_OK;
}

bool pnl_is_scripted(const pn_solver_ops *solver)
{
    return solver->plan == scripted_plan;
}

/* ---- options ---- */

/* Push the definition's options with those of the caller laid over them; names that it does not have are checked by
 * what reads the rest. */
static void push_options(lua_State *L, int table, int given)
{
    lua_newtable(L);
    if (lua_getfield(L, table, "options") == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, -2);) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, -5);
        }
    }
    lua_pop(L, 1);
    if (!lua_istable(L, given))
        return;
    for (lua_pushnil(L); lua_next(L, given);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
}

#define MOST_OPTIONS 40

/* The names that a call may give besides the common ones: of the run, of the definition, and batch. */
static void option_names(lua_State *L, int table, const char *names[MOST_OPTIONS + 1])
{
    size_t count = 0;

    for (size_t i = 0; pnl_run_option_names[i]; i++)
        names[count++] = pnl_run_option_names[i];
    names[count++] = "batch";
    names[count++] = "accountant";
    if (lua_getfield(L, table, "options") == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, -2) && count < MOST_OPTIONS; lua_pop(L, 1))
            names[count++] = lua_tostring(L, -2);
    }
    lua_settop(L, lua_gettop(L) - 1);
    names[count] = NULL;
}

static void *new_function(lua_State *L, int box, const pnl_plan_parts *parts)
{
    static const char *const names[] = { "step", NULL };
    pnl_callback *back;

    lua_createtable(L, 0, 1);
    pnl_push_scripted_function(L, parts->table, parts->objective, parts->effective);
    lua_setfield(L, -2, "step");
    back = pnl_new_paid_callback(L, box, lua_gettop(L), parts->owner, names);
    lua_pop(L, 1);
    return back;
}

static void push_definition_table(lua_State *L, int box)
{
    lua_getiuservalue(L, box, 1);
    lua_rawgeti(L, -1, KEPT_TABLE);
    lua_remove(L, -2);
}

int pnl_push_scripted_plan(lua_State *L, const pn_solver_ops *solver, int objective_index, int options_index)
{
    const pnl_scripted *self = (const pnl_scripted *)solver;
    const char *names[MOST_OPTIONS + 1];
    int box, table;

    objective_index = lua_absindex(L, objective_index);
    options_index = lua_absindex(L, options_index);
    luaL_checkstack(L, 60, self->name);
    pnl_push_weak(L, &boxes_key);
    lua_rawgetp(L, -1, self);
    box = lua_gettop(L);
    push_definition_table(L, box);
    table = lua_gettop(L);
    option_names(L, table, names);
    push_options(L, table, options_index);
    (void)pnl_push_plan_with(L, &(pnl_plan_parts){ .solver = solver,
                                                   .owner = self->name,
                                                   .objective = objective_index,
                                                   .options = options_index,
                                                   .names = names,
                                                   .table = table,
                                                   .effective = lua_gettop(L),
                                                   .prepare = new_function });
    pnl_keep(L, -1, box); /* the plan's solver: nobody else may hold it */
    return 1;
}

/* ---- a definition ---- */

static int solver_call(lua_State *L)
{
    const pnl_scripted *self = definition_of(L, 1);

    lua_settop(L, 3);
    pnl_push_scripted_plan(L, &self->ops, 2, 3);
    return pnl_plan_run(L, lua_gettop(L), 3);
}

/* ---- making one ---- */

static void check_fields(lua_State *L)
{
    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
        size_t i = 0;

        while (fields[i] && strcmp(fields[i], key) != 0)
            i++;
        if (!fields[i])
            pnl_error(L,
                      "solver: unknown field %s; it takes name, doc, source, options, about, iterations, start, step, "
                      "answer, queries, adaptive",
                      pnl_got(L, -2));
    }
}

static void check_function(lua_State *L, const char *name, bool needed)
{
    int type = lua_getfield(L, 1, name);

    if (type != LUA_TFUNCTION && (needed || type != LUA_TNIL))
        pnl_error(L, "solver: %s must be a function, got %s", name, pnl_got(L, -1));
    lua_pop(L, 1);
}

static void read_text(lua_State *L, const char *field, const char *otherwise, char *out, size_t size)
{
    int type = lua_getfield(L, 1, field);

    if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "solver: %s must be a string, got %s", field, pnl_got(L, -1));
    (void)snprintf(out, size, "%s", type == LUA_TSTRING ? lua_tostring(L, -1) : otherwise);
    lua_pop(L, 1);
}

/* Letters, digits and _, as a variable. */
static void read_name(lua_State *L, pnl_scripted *self)
{
    const char *name = lua_getfield(L, 1, "name") == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    size_t length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;

    if (!name || length == 0 || name[length] || length >= sizeof self->name)
        pnl_error(L, "solver: name must be 1 to 31 letters, digits or _, got %s", pnl_got(L, -1));
    (void)snprintf(self->name, sizeof self->name, "%s", name);
    lua_pop(L, 1);
    read_text(L, "doc", "", self->doc, sizeof self->doc);
    read_text(L, "source", "a solver of the user's", self->source, sizeof self->source);
}

static bool is_of_runs(const char *name)
{
    size_t i = 0;

    while (pnl_run_option_names[i] && strcmp(pnl_run_option_names[i], name) != 0)
        i++;
    return pnl_run_option_names[i] != NULL;
}

/* A name of the definition's own must not be one that every solver takes, but for iterations, whose default it sets. */
static void read_options(lua_State *L, pnl_scripted *self)
{
    int type = lua_getfield(L, 1, "options");

    if (type != LUA_TNIL && type != LUA_TTABLE)
        pnl_error(L, "solver: options must be a table of names and defaults, got %s", pnl_got(L, -1));
    for (lua_pushnil(L); type == LUA_TTABLE && lua_next(L, -2); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;

        if (!name)
            pnl_error(L, "solver: options are named, got the key %s", pnl_got(L, -2));
        if (strcmp(name, "iterations") == 0)
            self->iterations = pnl_check_count(L, -1, "iterations");
        else if (pn_param_find(pn_solver_common, name) < pn_param_count(pn_solver_common) || is_of_runs(name))
            pnl_error(L, "solver: every solver has the option '%s'; take another name", name);
    }
    lua_pop(L, 1);
    lua_getfield(L, 1, "adaptive");
    self->ops.adaptive = lua_toboolean(L, -1);
    lua_getfield(L, 1, "iterations");
    self->counts = !lua_isnil(L, -1);
    lua_pop(L, 2);
}

/* The table, copied: what its maker changes later is not what was planned. */
static void keep_table(lua_State *L, int box)
{
    lua_newtable(L);
    for (lua_pushnil(L); lua_next(L, 1);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
    pnl_keep(L, box, -1);
    lua_pop(L, 1);
}

static const char *const function_name[] = { "pn.function", NULL };

/* Not for callers: the plan's function is handed to it here. */
static const pn_param function_param[] = {
    { " ", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, function_name, "the function of the plan" },
    PN_PARAM_END,
};

static int solver_new(lua_State *L)
{
    pnl_scripted **slot, *self;

    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    check_fields(L);
    check_function(L, "step", true);
    check_function(L, "start", false);
    check_function(L, "answer", false);
    check_function(L, "iterations", false);
    slot = (pnl_scripted **)pnl_newbox(L, &pnl_solver_class);
    if (!(self = *slot = pn_calloc(1, sizeof *self)))
        pnl_no_memory(L, "solver: out of memory");
    read_name(L, self);
    read_options(L, self);
    self->ops.name = self->name;
    self->ops.doc = self->doc;
    self->ops.source = self->source;
    self->ops.params = function_param;
    self->ops.reveals = PN_REVEALS_PAID;
    self->ops.is_private = self->ops.by_questions = true;
    self->ops.plan = scripted_plan;
    self->ops.destroy_plan = destroy_plan;
    pnl_scripted_ops(&self->ops);
    keep_table(L, 2);
    pnl_push_weak(L, &boxes_key);
    lua_pushvalue(L, 2);
    lua_rawsetp(L, -2, self);
    lua_settop(L, 2);
    return 1;
}

static int solver_tostring(lua_State *L)
{
    const pnl_scripted *self = definition_of(L, 1);

    lua_pushfstring(L, "solver %s%s%s: call it as %s(obj, {epsilon=, delta=, iterations=}), or %s.plan(obj, ...)",
                    self->name, self->doc[0] ? ": " : "", self->doc, self->name, self->name);
    return 1;
}

/* heavy_ball.plan(obj, options), as of the library's solvers: a function that knows its solver. */
static int plan_of_upvalue(lua_State *L)
{
    const pnl_scripted *self = definition_of(L, lua_upvalueindex(1));

    lua_settop(L, 2);
    return pnl_push_scripted_plan(L, &self->ops, 1, 2);
}

static int solver_plan_field(lua_State *L)
{
    (void)definition_of(L, 1);
    lua_settop(L, 1);
    lua_pushcclosure(L, plan_of_upvalue, 1);
    return 1;
}

static int solver_name(lua_State *L)
{
    lua_pushstring(L, definition_of(L, 1)->name);
    return 1;
}

static const pnl_row solver_rows[] = {
    { "plan", solver_plan_field, PNL_FIELD, PNL_NOTHING, "solver.plan(obj, {options}) -> plan",
      "Plan a run and spend nothing: its step is tried once against an oracle that answers zeros and writes down "
      "what is asked; tostring(plan) explains it." },
    { "name", solver_name, PNL_FIELD, PNL_NOTHING, "solver.name -> string", "What it is called." },
    { "__call", solver_call, PNL_META, PNL_PAID, "solver(obj, {options}) -> fit",
      "Plan and run: as the solvers of pn.solve." },
    { "__tostring", solver_tostring, PNL_META, PNL_NOTHING, "tostring(solver)", "Its name, and how to call it." },
    PNL_ROW_END,
};

const pnl_class pnl_solver_class = { "pn.solver", scripted_free,
                                     solver_rows, "A private solver of a user's own: an update rule, and what it asks.",
                                     NULL,        NULL };

/* ---- pn.oracle ---- */

static const char *const objective_name[] = { "pn.objective", NULL };

static const pn_param oracle_params[] = {
    { "objective", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, objective_name, "what is asked about" },
    PN_PARAM_END,
};

/* Ranks that draw different noise would each release an answer, and pay for one: as walks have it. */
static void check_ranks(lua_State *L, const pnl_ask *self)
{
    size_t ranks = pn_ranks_size(pn_objective_ranks(self->objective));
    pn_err err;

    if (ranks > 1 && !(self->rng && (pn_rng_simulated(self->rng) || pn_rng_is_shared(self->rng))))
        pnl_status(L,
                   pn_fail(&err, PN_EPRIVACY,
                           "oracle: %zu ranks share the work, and each would draw noise of its own; give "
                           "rng=ranks:rng(), which is the same stream for all",
                           ranks),
                   &err);
}

static int oracle_new(lua_State *L)
{
    static const char *const extra[] = { "ledger", "rng", "batch", NULL };
    pn_arg args[1];
    pnl_ask *self;
    pn_err err;

    lua_settop(L, 1);
    pnl_options(L, 1, "oracle", oracle_params, args, extra);
    pnl_status(L, pn_args_check("oracle", oracle_params, args, &err), &err);
    pnl_push_ledger(L, 1, "oracle");
    if (!pnl_test(L, -1, &pnl_ledger_class))
        return pnl_error(L, "oracle: ledger must be a pn.ledger, which its answers are charged to, got %s",
                         pnl_got(L, -1));
    lua_getfield(L, 1, "objective");
    self = pnl_new_ask(L, -1, PNL_ASK_ONCE, "oracle");
    self->ledger = pnl_check(L, -3, &pnl_ledger_class);
    self->neighbours = pn_ledger_budget(self->ledger)->neighbours;
    pnl_keep(L, -1, -3);
    if (lua_getfield(L, 1, "rng") != LUA_TNIL) {
        self->rng = pnl_check(L, -1, &pnl_rng_class);
        pnl_keep(L, -2, -1);
    }
    lua_pop(L, 1);
    check_ranks(L, self);
    if (lua_getfield(L, 1, "batch") != LUA_TNIL)
        pnl_ask_batch(L, -1, self, &self->batch);
    lua_pop(L, 1);
    return 1;
}

void pnl_open_solver(lua_State *L)
{
    pnl_open_class(L, &pnl_ask_class);
    pnl_open_class(L, &pnl_sums_class);
    pnl_open_class(L, &pnl_watch_class);
    pnl_open_class(L, &pnl_solver_class);
    pnl_open_shipped(L);
    lua_pushcfunction(L, solver_new);
    lua_setfield(L, -2, "solver");
    pnl_reference(
        L, "", "solver", PNL_NOTHING,
        "pn.solver{name=, step=, start=, answer=, options=, iterations=, queries=, adaptive=, doc=, ...} -> solver",
        "A private solver of your own.  step(s, ask) makes one step: it asks `ask`, whose answers are certified, "
        "charged and noisy, and moves s.x, the point; start(s) prepares s, answer(s) returns the model (by "
        "default s.x).  s: x, dim, n, set (all of R^dim where there is none), steps, step (from 1), options, name, "
        "objective (public facts), noise (deviation of a mean gradient that takes the whole budget; 0 without "
        "privacy) and time (step size x steps that the solvers of the library favour for that noise; infinite "
        "without privacy).  iterations(s) returns how many steps there are by default, options.iterations is a "
        "constant.  queries = {gradient = 1} says what a step asks; without it the step is tried "
        "once against an oracle that answers zeros.  A step may ask less than was planned, and pays for what it "
        "asks; more is refused.  adaptive = true: it may stop early by returning \"done\".  source says where the "
        "method is from, about what each option is.  The solver is called, and planned by .plan, as those of pn.solve.",
        NULL, NULL);
    lua_pushcfunction(L, oracle_new);
    lua_setfield(L, -2, "oracle");
    pnl_reference(
        L, "", "oracle", PNL_NOTHING, "pn.oracle{objective=, ledger=, batch=, rng=} -> oracle",
        "Questions about the records by themselves: each answer takes its price, is charged to the ledger, and "
        "then drawn.  In a solver of your own (pn.solver) the oracle is the step's `ask`.",
        NULL, oracle_params);
}
