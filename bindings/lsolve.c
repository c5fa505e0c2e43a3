/* lsolve.c -- pn.solve: one entry per row of the runtime's solver table, and plans.
 * Depends on: lsolve.h, runtime/solvers.  Used by: module.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lcallback.h"
#include "lsolve.h"
#include "progress.h"

#define MAX_OWN_OPTIONS 16

const char *const pnl_run_option_names[] = { "ledger", "rng", "progress", "on_step", NULL };

/* Where pnl_keep has put things in a plan's box. */
enum { KEPT_OBJECTIVE = 1, KEPT_OPTIONS, KEPT_LEDGER };

static pn_plan *plan_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_plan_class);
}

/* ---- making a plan ---- */

/* The ledger in the options table, or NULL; leaves the value on the stack. */
static pn_ledger *ledger_option(lua_State *L, int options, const char *owner)
{
    if (!lua_istable(L, options) || lua_getfield(L, options, "ledger") == LUA_TNIL)
        return NULL;
    if (!pnl_test(L, -1, &pnl_ledger_class))
        luaL_error(L, "%s: ledger must be a pn.ledger, got %s", owner, luaL_typename(L, -1));
    return pnl_check(L, -1, &pnl_ledger_class);
}

/* ---- functions among the options ---- */

static int function_tostring(lua_State *L)
{
    lua_pushliteral(L, "function of a plan");
    return 1;
}

static const pnl_row function_rows[] = {
    { "__tostring", function_tostring, PNL_META, PNL_NOTHING, "tostring(f) -> string", "What it is, in a few words." },
    PNL_ROW_END,
};

static const pnl_class function_class = { "pn.function", pn_free, function_rows, "A function that a plan calls back.",
                                          NULL,          NULL };

static pn_status sample_gradient(void *self, const double *theta, size_t p, double *gradient, pn_err *err)
{
    return pnl_call_for_vec(self, 0, theta, p, gradient, p, err);
}

/* Objects that the plan holds stay alive with its box at `box`, whatever becomes of the options table; a function becomes an oracle. */
static void keep_options(lua_State *L, int box, int options, const pn_param *params, pn_arg *own,
                         pn_gradient_oracle *oracle)
{
    static const char *const names[] = { "oracle", NULL };

    for (size_t i = 0; params && params[i].name; i++) {
        int top = lua_gettop(L);
        const char *dot = strchr(params[i].name, '.');

        if (params[i].kind != PN_OBJECT || !own[i].given)
            continue;
        lua_pushvalue(L, options);
        if (dot) {
            lua_pushlstring(L, params[i].name, (size_t)(dot - params[i].name));
            lua_gettable(L, -2);
        }
        if (strcmp(params[i].choices[0], "function") == 0) {
            void **holder = pnl_newbox(L, &function_class);

            oracle->self = *holder = pnl_new_callback(L, box, top + (dot ? 2 : 1), "solve: noise", names);
            oracle->sample = sample_gradient;
            own[i].object = oracle;
        } else {
            lua_getfield(L, -1, dot ? dot + 1 : params[i].name);
        }
        pnl_keep(L, box, -1);
        lua_settop(L, top);
    }
}

/* Push a plan for the objective at `objective_index` and the options at `options_index` (a table or nil). */
static int push_plan(lua_State *L, const pn_solver_ops *solver, int objective_index, int options_index)
{
    pn_objective *objective = pnl_check(L, objective_index, &pnl_objective_class);
    pn_arg common[PN_OPT_COUNT], own[MAX_OWN_OPTIONS];
    pn_gradient_oracle oracle = { NULL, NULL };
    char owner[64];
    pn_ledger *ledger;
    pn_plan **slot;
    pn_status status;
    pn_err err;

    (void)snprintf(owner, sizeof owner, "solve.%s", solver->name);
    pnl_options2(L, options_index, owner, pn_solver_common, common, solver->params, own, pnl_run_option_names);
    ledger = ledger_option(L, options_index, owner);
    slot = (pn_plan **)pnl_newbox(L, &pnl_plan_class);
    pnl_keep(L, -1, objective_index);
    if (lua_istable(L, options_index))
        lua_pushvalue(L, options_index);
    else
        lua_newtable(L);
    pnl_keep(L, -2, -1);
    lua_pop(L, 1);
    if (ledger) {
        lua_getfield(L, options_index, "ledger");
        pnl_keep(L, -2, -1);
        lua_pop(L, 1);
    }
    keep_options(L, lua_gettop(L), options_index, solver->params, own, &oracle);
    if (lua_istable(L, options_index))
        lua_getfield(L, options_index, "progress");
    else
        lua_pushnil(L);
    pnl_run_begin_at(L, -1, owner);
    status = pn_plan_new(slot, solver->name, objective, ledger, common, own, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pop(L, 1);
    return 1;
}

static const pn_solver_ops *solver_upvalue(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int solver_plan(lua_State *L)
{
    lua_settop(L, 2);
    return push_plan(L, solver_upvalue(L), 1, 2);
}

/* __call: (library, objective, options) */
static int solver_call(lua_State *L)
{
    lua_settop(L, 3);
    push_plan(L, solver_upvalue(L), 2, 3);
    return pnl_plan_run(L, lua_gettop(L), 3);
}

/* ---- the plan's rows ---- */

static int plan_run(lua_State *L)
{
    (void)plan_of(L);
    lua_settop(L, 2);
    pnl_check_run_names(L, 2, "plan:run");
    return pnl_plan_run(L, 1, 2);
}

static int plan_steps(lua_State *L)
{
    (void)plan_of(L);
    lua_settop(L, 2);
    return pnl_plan_walk(L, 1, 2);
}

/* The options that made this plan, with changes laid over them. */
static int plan_with(lua_State *L)
{
    pn_plan *plan = plan_of(L);

    luaL_checktype(L, 2, LUA_TTABLE);
    lua_settop(L, 2);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, 3, KEPT_OBJECTIVE); /* 4 */
    lua_newtable(L);                   /* 5 */
    for (int from = 0; from < 2; from++) {
        if (from == 0)
            lua_rawgeti(L, 3, KEPT_OPTIONS);
        else
            lua_pushvalue(L, 2);
        lua_pushnil(L);
        while (lua_next(L, -2)) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_settable(L, 5);
        }
        lua_pop(L, 1);
    }
    return push_plan(L, plan->solver, 4, 5);
}

/* The search is Lua (stdlib/tune.lua): it makes plans and compares them. */
static int plan_tune(lua_State *L)
{
    (void)plan_of(L);
    lua_settop(L, 2);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra.tune");
    lua_call(L, 1, 1);
    lua_insert(L, 1);
    lua_call(L, 2, 2);
    return 2;
}

static int push_or_nil(lua_State *L, double value)
{
    if (isnan(value))
        lua_pushnil(L);
    else
        lua_pushnumber(L, value);
    return 1;
}

static int plan_iterations(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)plan_of(L)->iterations);
    return 1;
}

static int plan_epsilon(lua_State *L)
{
    const pn_plan *plan = plan_of(L);

    return push_or_nil(L, plan->worthless && !isnan(plan->epsilon) ? INFINITY : plan->epsilon);
}

static int plan_delta(lua_State *L)
{
    return push_or_nil(L, plan_of(L)->delta);
}

static int plan_rho(lua_State *L)
{
    const pn_plan *plan = plan_of(L);

    return push_or_nil(L, plan->worthless ? INFINITY : plan->rho);
}

static int plan_bound(lua_State *L)
{
    return push_or_nil(L, plan_of(L)->bound);
}

static int plan_predicted(lua_State *L)
{
    double predicted = plan_of(L)->predicted;

    return push_or_nil(L, predicted > 0.0 ? predicted : NAN);
}

static int plan_gradients(lua_State *L)
{
    double gradients = plan_of(L)->gradients;

    return push_or_nil(L, gradients > 0.0 ? gradients : NAN);
}

static int plan_sigma(lua_State *L)
{
    double sigma = plan_of(L)->sigma;

    return push_or_nil(L, sigma > 0.0 ? sigma : NAN);
}

static int plan_proven(lua_State *L)
{
    lua_pushboolean(L, plan_of(L)->proven);
    return 1;
}

static int plan_solver(lua_State *L)
{
    lua_pushstring(L, plan_of(L)->solver->name);
    return 1;
}

static int plan_event(lua_State *L)
{
    pn_plan *plan = plan_of(L);
    pn_event **slot;

    if (!plan->event) {
        lua_pushnil(L);
        return 1;
    }
    slot = (pn_event **)pnl_newbox(L, &pnl_event_class);
    pn_err err;
    pnl_status(L, pn_event_repeated(slot, plan->event, pn_plan_charges(plan), &err), &err);
    return 1;
}

static int plan_objective(lua_State *L)
{
    (void)plan_of(L);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, KEPT_OBJECTIVE);
    return 1;
}

static int plan_settings(lua_State *L)
{
    const pn_plan *plan = plan_of(L);

    lua_createtable(L, 0, (int)plan->setting_count);
    for (size_t i = 0; i < plan->setting_count; i++) {
        if (plan->settings[i].whole)
            lua_pushinteger(L, (lua_Integer)plan->settings[i].value);
        else
            lua_pushnumber(L, plan->settings[i].value);
        lua_setfield(L, -2, plan->settings[i].name);
    }
    return 1;
}

static int plan_lines(lua_State *L)
{
    pn_plan *plan = plan_of(L);

    lua_createtable(L, (int)plan->line_count, (int)plan->line_count);
    for (size_t i = 0; i < plan->line_count; i++) {
        const pn_plan_line *line = &plan->lines[i];

        lua_createtable(L, 0, 3);
        lua_pushstring(L, line->name);
        lua_setfield(L, -2, "name");
        if (line->text[0])
            lua_pushstring(L, line->text);
        else
            lua_pushnumber(L, line->value);
        lua_pushvalue(L, -1);
        lua_setfield(L, -4, line->name); /* lines["sensitivity Delta"] is the value */
        lua_setfield(L, -2, "value");
        lua_pushstring(L, line->formula);
        lua_setfield(L, -2, "formula");
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int plan_tostring(lua_State *L)
{
    pn_plan *plan = plan_of(L);
    int size = pn_plan_print(plan, NULL, 0) + 1;
    luaL_Buffer buffer;
    char *text = luaL_buffinitsize(L, &buffer, (size_t)size);

    size = pn_plan_print(plan, text, (size_t)size);
    luaL_pushresultsize(&buffer, (size_t)(size > 0 ? size - 1 : 0)); /* without the last newline */
    return 1;
}

static const pnl_row plan_rows[] = {
    { "run", plan_run, PNL_METHOD, PNL_PAID, "plan:run{progress=, on_step=, ledger=, rng=} -> fit",
      "Run to the end. on_step(state) is called after each step and may return false to stop. Without a ledger the "
      "plan's own "
      "cost is the budget; without an rng the noise is secure. Ctrl-C ends the run with the partial result." },
    { "steps", plan_steps, PNL_METHOD, PNL_PAID, "for state in plan:steps{ledger=, rng=} do ... end",
      "Walk the algorithm one step at a time; state has step, atom, step_size, gradients and theta. The walk's fit() "
      "gives "
      "the result so far." },
    { "with", plan_with, PNL_METHOD, PNL_NOTHING, "plan:with{option = value, ...} -> plan",
      "A new plan with some options changed; spends nothing." },
    { "tune", plan_tune, PNL_METHOD, PNL_NOTHING, "plan:tune{option = {values}, ..., within=1.02} -> plan, tried",
      "Plan with every combination of the values and return the plan of the least predicted risk; among those within "
      "that factor of it, the one with the fewest gradients.  Without options: half, once and twice each of "
      "plan.settings.  "
      "Spends nothing and looks at no record.  tried: one row for each combination, {plan=, predicted=, gradients=, "
      "sigma=, reason=} and its options, best first; it prints itself." },
    { "settings", plan_settings, PNL_FIELD, PNL_NOTHING, "plan.settings -> table",
      "The numbers that shape the run, by the name of their option, given or chosen: batch, step ..." },
    { "iterations", plan_iterations, PNL_FIELD, PNL_NOTHING, "plan.iterations -> integer", "Number of steps." },
    { "epsilon", plan_epsilon, PNL_FIELD, PNL_NOTHING, "plan.epsilon -> number or nil",
      "Certified epsilon of the whole run at plan.delta; nil for rho budgets and non-private plans." },
    { "delta", plan_delta, PNL_FIELD, PNL_NOTHING, "plan.delta -> number or nil", "The delta of the guarantee." },
    { "rho", plan_rho, PNL_FIELD, PNL_NOTHING, "plan.rho -> number or nil", "Certified zCDP of the whole run." },
    { "bound", plan_bound, PNL_FIELD, PNL_NOTHING, "plan.bound -> number or nil",
      "Bound on the expected excess risk, from the theorem, worst case over data." },
    { "predicted", plan_predicted, PNL_FIELD, PNL_NOTHING, "plan.predicted -> number or nil",
      "The excess risk to be expected, from public numbers alone: no bound, but what tune compares." },
    { "gradients", plan_gradients, PNL_FIELD, PNL_NOTHING, "plan.gradients -> number or nil",
      "Per-record gradient evaluations that the run will count." },
    { "sigma", plan_sigma, PNL_FIELD, PNL_NOTHING, "plan.sigma -> number or nil",
      "Standard deviation of the noise on each coordinate of the mean gradient in a step." },
    { "proven", plan_proven, PNL_FIELD, PNL_NOTHING, "plan.proven -> boolean",
      "False when a paper's calibration claims less than what is proven; the printed cost is the proven one." },
    { "solver", plan_solver, PNL_FIELD, PNL_NOTHING, "plan.solver -> string", "The solver's name." },
    { "event", plan_event, PNL_FIELD, PNL_NOTHING, "plan.event -> pn.event or nil",
      "What the whole run is charged as." },
    { "objective", plan_objective, PNL_FIELD, PNL_NOTHING, "plan.objective -> pn.objective", "The objective." },
    { "lines", plan_lines, PNL_FIELD, PNL_NOTHING, "plan.lines -> table",
      "The rows of the printed table as {name=, value=, formula=}, and by name." },
    { "__tostring", plan_tostring, PNL_META, PNL_NOTHING, "tostring(plan)",
      "The plan as a table: guarantee, events, every number with its formula." },
    PNL_ROW_END,
};

const pnl_class pnl_plan_class = { "pn.plan", (void (*)(void *))pn_plan_free,
                                   plan_rows, "What a run will do and cost: everything computed, nothing spent.",
                                   NULL,      NULL };

/* ---- the exact minimum ---- */

static const pn_param exact_params[] = {
    { "tol", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1e-8, NULL,
      "stop when the duality gap, which bounds the error, is below" },
    { "max_iterations", PN_COUNT, PN_OPTIONAL, PN_ANY, 100000.0, NULL, "give up after so many" },
    PN_PARAM_END,
};

static int solve_exact(lua_State *L)
{
    static const char *const extra[] = { "progress", NULL };
    pn_objective *objective = pnl_check(L, 1, &pnl_objective_class);
    pn_arg args[2];
    double *theta, value = 0.0, gap = 0.0;
    pn_err err;
    pn_status status;

    lua_settop(L, 2);
    pnl_options(L, 2, "solve.exact", exact_params, args, extra);
    pnl_status(L, pn_args_check("solve.exact", exact_params, args, &err), &err);
    theta = pnl_new_vec(L, pn_objective_dim(objective));
    lua_pushnil(L);
    if (lua_istable(L, 2)) {
        lua_getfield(L, 2, "progress");
        lua_replace(L, -2);
    }
    pnl_run_begin_at(L, -1, "solve.exact");
    pnl_busy(L, 1, true);
    status = pn_solve_exact(objective, args[0].real, args[1].count, theta, &value, &gap, pnl_task(L), &err);
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_createtable(L, 0, 3);
    lua_pushvalue(L, -3);
    lua_setfield(L, -2, "theta");
    lua_pushnumber(L, value);
    lua_setfield(L, -2, "value");
    lua_pushnumber(L, gap);
    lua_setfield(L, -2, "gap");
    return 1;
}

/* ---- the library ---- */

/* Enter `name` with the common options and the solver's own in one list. */
static void enter_solver(lua_State *L, const pn_solver_ops *solver, const char *name, pnl_reveals reveals,
                         const char *signature, const char *doc)
{
    pn_param both[PN_OPT_COUNT + MAX_OWN_OPTIONS + 1];
    size_t own = pn_param_count(solver->params);

    memcpy(both, pn_solver_common, PN_OPT_COUNT * sizeof *both);
    memcpy(both + PN_OPT_COUNT, solver->params, (own + 1) * sizeof *both); /* with the end row */
    pnl_reference(L, "solve", name, reveals, signature, doc, solver->source, both);
}

/* A callable table: solve.frank_wolfe(obj, options), solve.frank_wolfe.plan(obj, options). */
static void add_solver(lua_State *L, const pn_solver_ops *solver)
{
    char name[64], signature[96];

    lua_newtable(L);
    lua_pushlightuserdata(L, (void *)(size_t)solver);
    lua_pushcclosure(L, solver_plan, 1);
    lua_setfield(L, -2, "plan");
    lua_newtable(L);
    lua_pushlightuserdata(L, (void *)(size_t)solver);
    lua_pushcclosure(L, solver_call, 1);
    lua_setfield(L, -2, "__call");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, solver->name);

    (void)snprintf(signature, sizeof signature, "pn.solve.%s(obj, {options}) -> fit", solver->name);
    enter_solver(L, solver, solver->name, PNL_PAID, signature, solver->doc);
    (void)snprintf(name, sizeof name, "%s.plan", solver->name);
    (void)snprintf(signature, sizeof signature, "pn.solve.%s.plan(obj, {options}) -> plan", solver->name);
    enter_solver(L, solver, name, PNL_NOTHING, signature, "Plan a run and spend nothing; tostring(plan) explains it.");
}

void pnl_open_solve(lua_State *L)
{
    static const pnl_row rows[] = {
        { "exact", solve_exact, PNL_FUNCTION, PNL_RAW,
          "pn.solve.exact(obj, {tol=, max_iterations=}) -> {theta=, value=, gap=}",
          "The non-private minimum, for excess risk; gap bounds value - min.  Regularisers with kinks are taken by "
          "their "
          "proximal map (r:prox()), over sets with a projection.  The gap is the Frank-Wolfe duality gap over a "
          "bounded set "
          "without kinks; else the norm of a subgradient, times the set's diameter or squared over twice the strong "
          "convexity, "
          "whichever is less: so an unbounded set, or none, will do where obj.bounds.strong_convexity is positive.  "
          "Source: Beck, Teboulle (2009); Jaggi (2013)." },
        PNL_ROW_END,
    };
    const pn_solver_ops *const *table = pn_solver_table();

    pnl_register(L, &function_class);
    pnl_register(L, &pnl_plan_class);
    pnl_register(L, &pnl_walk_class);
    pnl_register(L, &pnl_fit_class);
    pnl_library(L, "solve", "Solvers: solve.NAME(obj, options) runs, solve.NAME.plan(obj, options) only plans.", rows);
    for (size_t i = 0; table[i]; i++)
        add_solver(L, table[i]);
    lua_setfield(L, -2, "solve");
}
