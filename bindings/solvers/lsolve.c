/* lsolve.c -- pn.solve: one entry per row of the runtime's solver table, and how plans are made.
 * Depends on: lsolve.h, runtime/solvers.  Used by: module.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/lcallback.h"
#include "bindings/core/progress.h"
#include "bindings/solvers/lsolver.h"
#include "core/mutant.h"
#include "core/vault.h"
#include "solvers/catalogue/solvers.h"

#define MAX_OWN_OPTIONS 32
#define RUN_OPTIONS     4

const char *const pnl_run_option_names[] = { "ledger", "rng", "progress", "on_step", NULL };

/* The same for the reference: help and completion show them with the options that the runtime knows. */
static const pn_param run_options[RUN_OPTIONS] = {
    { "ledger", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "pn.ledger", NULL },
      "the budget that the run is charged to; by default the run's own cost is the budget" },
    { "rng", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "pn.rng", NULL },
      "the stream of the noise; by default a secure one, a seeded one makes the run a simulation" },
    { "progress", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "function or a boolean", NULL },
      "false: no bar on the terminal; a function is called now and then with done, total, label, value, spent, which "
      "is what the run has charged so far" },
    { "on_step", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "function", NULL },
      "called with the state after each step; stops the run by returning false" },
};

/* ---- making a plan ---- */

/* The ledger of the options, or NULL; leaves the value on the stack. */
static pn_ledger *ledger_option(lua_State *L, int options, const char *owner)
{
    pnl_push_ledger(L, options, owner);
    if (lua_isnil(L, -1))
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

/* A function of the step, while the plan is made. */
typedef struct step_function {
    pn_sequence sequence;
    const pnl_callback *back;
    const char *owner;
    size_t count; /* of the call under way, and where its numbers go */
    double *out;
} step_function;

static void each_step(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    const step_function *self = ud;

    for (size_t t = 1; t <= self->count; t++) {
        lua_pushvalue(L, -1);
        lua_pushinteger(L, (lua_Integer)t);
        lua_call(L, 1, 1);
        if (lua_type(L, -1) != LUA_TNUMBER)
            pnl_error(L, "%s: %s must return a number, got %s at step %zu", self->owner, back->names[which],
                      pnl_got(L, -1), t);
        self->out[t - 1] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
}

/* Records are out of reach while Lua runs. */
static pn_status fill_steps(void *ud, size_t count, double *out, pn_err *err)
{
    step_function *self = ud;
    pn_status status;

    self->count = count;
    self->out = out;
    pn_vault_leave();
    status = pnl_call_back(self->back, 0, each_step, self, err);
    pn_vault_enter();
    return status;
}

/* It sees the number of a step and nothing that is secret, so analysts have it.  The options are on the top. */
static void keep_schedule(lua_State *L, int box, const char *owner, pn_arg *arg, step_function *of)
{
    static const char *const names[] = { "step", NULL };
    int options = lua_gettop(L);
    void **holder;

    if (lua_getfield(L, options, names[0]) != LUA_TFUNCTION)
        return;
    holder = pnl_newbox(L, &function_class);
    of->back = *holder = pnl_new_paid_callback(L, box, options, "solve", names);
    of->owner = owner;
    of->sequence = (pn_sequence){ of, fill_steps };
    arg->object = &of->sequence;
    pnl_keep(L, box, -1);
}

/* What functions among the options become. */
typedef struct functions {
    pn_gradient_oracle oracle;
    step_function step;
} functions;

/* Objects that the plan holds stay alive with its box at `box`, whatever becomes of the options table;
 * functions become an oracle or a schedule. */
static void keep_options(lua_State *L, int box, const pnl_plan_parts *parts, pn_arg *own, functions *of)
{
    static const char *const names[] = { "oracle", NULL };
    const pn_param *params = parts->solver->params;

    for (size_t i = 0; params && params[i].name; i++) {
        int top = lua_gettop(L);
        const char *dot = strchr(params[i].name, '.');

        if ((params[i].kind != PN_OBJECT && params[i].kind != PN_SCHEDULE) || !own[i].given)
            continue;
        lua_pushvalue(L, parts->options);
        if (params[i].kind == PN_SCHEDULE) {
            keep_schedule(L, box, parts->owner, &own[i], &of->step);
            lua_settop(L, top);
            continue;
        }
        if (dot) {
            lua_pushlstring(L, params[i].name, (size_t)(dot - params[i].name));
            lua_gettable(L, -2);
        }
        if (strcmp(params[i].choices[0], "function") == 0) {
            void **holder = pnl_newbox(L, &function_class);

            of->oracle.self = *holder =
                pnl_new_callback(L, box, top + (dot ? 2 : 1), dot ? "solve: noise" : "solve", names);
            of->oracle.sample = sample_gradient;
            own[i].object = &of->oracle;
        } else {
            lua_getfield(L, -1, dot ? dot + 1 : params[i].name);
        }
        pnl_keep(L, box, -1);
        lua_settop(L, top);
    }
}

/* A plan of nothing but a ledger takes all that is left of it: from a curator's, which is given unasked,
 * only on request. */
static void need_price(lua_State *L, const char *owner, const pn_arg *common)
{
    bool none = common[PN_OPT_PRIVACY].given && !common[PN_OPT_PRIVACY].flag; /* refused for that */
    pn_err err;

    if (none)
        pnl_refuse_in_step(L, owner);
    if (!pnl_curated(L) || none || common[PN_OPT_EPSILON].given || common[PN_OPT_RHO].given)
        return;
    (void)pn_fail(&err, PN_EINVAL,
                  "%s: say what it may cost: epsilon and delta, or rho; without, it would take all that remains of the "
                  "curator's budget",
                  owner);
    pnl_status(L, PN_EINVAL, &err);
}

int pnl_push_plan(lua_State *L, const pn_solver_ops *solver, const char *owner, int objective_index, int options_index)
{
    if (pnl_is_scripted(solver))
        return pnl_push_scripted_plan(L, solver, owner, objective_index, options_index);
    return pnl_push_plan_with(L, &(pnl_plan_parts){ .solver = solver,
                                                    .owner = owner,
                                                    .names = pnl_run_option_names,
                                                    .objective = objective_index,
                                                    .options = options_index });
}

/* Keep the function of a plan of a user's solver alive with the plan's box, on the top. */
static void keep_function(lua_State *L, const pnl_plan_parts *parts, pn_arg *own)
{
    int box = lua_gettop(L);
    void **holder = pnl_newbox(L, &function_class);

    *holder = parts->prepare(L, box, parts);
    own[0] = (pn_arg){ .given = true, .object = *holder };
    pnl_keep(L, box, -1);
    lua_settop(L, box);
}

int pnl_push_plan_with(lua_State *L, const pnl_plan_parts *parts)
{
    const pn_solver_ops *solver = parts->solver;
    const char *owner = parts->owner;
    int objective_index = parts->objective, options_index = parts->options;
    pn_objective *objective;
    pn_arg common[PN_OPT_COUNT], own[MAX_OWN_OPTIONS];
    functions made = { 0 };
    pn_ledger *ledger;
    int ledger_at;
    pn_plan **slot;
    pn_status status;
    pn_err err;

    if (!pnl_test(L, objective_index, &pnl_objective_class))
        luaL_error(L, "%s: expected a pn.objective and then options, as in %s(obj, {epsilon=1}), got %s first", owner,
                   owner, luaL_typename(L, objective_index));
    objective = pnl_check(L, objective_index, &pnl_objective_class);
    pnl_options2(L, options_index, owner, pn_solver_common, common, solver->params, own, parts->names);
    /* a run that ends at the first record whose loss is no number tells of it, unpaid */
    pnl_refuse_strict(L, owner, solver->params, own, "whether the run ends early depends on the records");
    need_price(L, owner, common);
    ledger = ledger_option(L, options_index, owner);
    ledger_at = lua_gettop(L);
    slot = (pn_plan **)pnl_newbox(L, &pnl_plan_class);
    pnl_keep(L, -1, objective_index);
    if (lua_istable(L, options_index))
        lua_pushvalue(L, options_index);
    else
        lua_newtable(L);
    pnl_keep(L, -2, -1);
    lua_pop(L, 1);
    if (ledger) {
        pnl_keep(L, -1, ledger_at);
    }
    if (parts->prepare)
        keep_function(L, parts, own);
    else
        keep_options(L, lua_gettop(L), parts, own, &made);
    if (lua_istable(L, options_index))
        lua_getfield(L, options_index, "progress");
    else
        lua_pushnil(L);
    pnl_run_begin_at(L, -1, owner);
    status = PN_WITH_RECORDS(pn_plan_by(slot, solver, objective, owner, ledger, common, own, pnl_task(L), &err));
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pop(L, 1);
    if ((*slot)->request.kind == PN_NONPRIVATE && !(*slot)->without_records)
        pnl_refuse_analyst(L, owner,
                           "privacy = false shows values that were not released; give epsilon and delta, or rho");
    return 1;
}

static const pn_solver_ops *solver_upvalue(lua_State *L)
{
    return lua_touserdata(L, lua_upvalueindex(1));
}

static int solver_plan(lua_State *L)
{
    const pn_solver_ops *solver = solver_upvalue(L);
    char owner[64];

    (void)snprintf(owner, sizeof owner, "solve.%s.plan", solver->name);
    lua_settop(L, 2);
    return pnl_push_plan(L, solver, owner, 1, 2);
}

/* __call: (library, objective, options) */
static int solver_call(lua_State *L)
{
    const pn_solver_ops *solver = solver_upvalue(L);
    char owner[64];

    (void)snprintf(owner, sizeof owner, "solve.%s", solver->name);
    lua_settop(L, 3);
    pnl_push_plan(L, solver, owner, 2, 3);
    return pnl_plan_run(L, owner, lua_gettop(L), 3);
}

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
    pn_bill *account;
    pn_arg args[2];
    double *theta, value = 0.0, gap = 0.0;
    pn_err err;
    pn_status status;

    lua_settop(L, 2);
    pnl_options(L, 2, "solve.exact", exact_params, args, extra);
    pnl_status(L, pn_args_check("solve.exact", exact_params, args, &err), &err);
    theta = pnl_new_vec(L, pn_objective_dim(objective));
    account = pnl_bill(L, pn_objective_data(objective));
    if (account)
        account->exact++;
    lua_pushnil(L);
    if (lua_istable(L, 2)) {
        lua_getfield(L, 2, "progress");
        lua_replace(L, -2);
    }
    pnl_run_begin_at(L, -1, "solve.exact");
    pnl_busy(L, 1, true);
    status = pn_objective_minimise(objective, args[0].real, args[1].count, theta, &value, &gap, pnl_task(L), &err);
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
    pnl_list(L);
    return 1;
}

/* ---- the library ---- */

/* Enter `name` with the common options, the solver's own and those of the run in one list. */
static void enter_solver(lua_State *L, const pn_solver_ops *solver, const char *name, pnl_reveals reveals,
                         const char *signature, const char *doc)
{
    pn_param all[PN_OPT_COUNT + MAX_OWN_OPTIONS + RUN_OPTIONS + 1];
    size_t own = pn_param_count(solver->params);

    memcpy(all, pn_solver_common, PN_OPT_COUNT * sizeof *all);
    memcpy(all + PN_OPT_COUNT, solver->params, own * sizeof *all);
    memcpy(all + PN_OPT_COUNT + own, run_options, sizeof run_options);
    all[PN_OPT_COUNT + own + RUN_OPTIONS] = (pn_param)PN_PARAM_END;
    pnl_reference(L, "solve", name, reveals, signature, doc, solver->source, all);
}

/* With `plan`: of what only plans.  0, for a solver that nobody has judged, is refused to analysts. */
static pnl_reveals reveals_of(const pn_solver_ops *solver, bool plan)
{
    static const pnl_reveals touches[] = { 0, 0, PNL_FAILS, PNL_PROCESSES };

    if (solver->reveals == PN_REVEALS_UNJUDGED || PN_MUTANT("no_solver_judged"))
        return 0;
    return (plan ? PNL_NOTHING : PNL_PAID) | touches[solver->reveals];
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
    enter_solver(L, solver, solver->name, reveals_of(solver, false), signature, solver->doc);
    (void)snprintf(name, sizeof name, "%s.plan", solver->name);
    (void)snprintf(signature, sizeof signature, "pn.solve.%s.plan(obj, {options}) -> plan", solver->name);
    enter_solver(L, solver, name, reveals_of(solver, true), signature,
                 "Plan a run and spend nothing; tostring(plan) explains it.");
}

void pnl_open_solve(lua_State *L)
{
    static const pnl_row rows[] = {
        { "exact", solve_exact, PNL_FUNCTION, PNL_RAW,
          "pn.solve.exact(obj, {tol=, max_iterations=}) -> {theta=, value=, gap=}",
          "The non-private minimum, for excess risk; gap bounds value - min.  Smooth convex losses, with l2, l1 or "
          "elastic net or no regulariser, take Newton steps as long as these stay in the set; what is left takes "
          "accelerated gradients.  Other regularisers with kinks are taken by their proximal map (r:prox()), over sets "
          "with a projection.  The gap is the Frank-Wolfe duality gap over a bounded set without kinks; else the norm "
          "of a subgradient, times the set's diameter or squared over twice the strong convexity, whichever is less: "
          "so an unbounded set, or none, will do where obj.bounds.strong_convexity is positive.  With l1 and a smooth "
          "loss that is bounded below, the dual gap does without a set, too.  Where obj.bounds.convex is false, theta "
          "is a stationary point found from the set's centre, and gap is what is certified all the same: "
          "-strong_convexity/2 times the squared diameter more, or value less the loss's least value.  Source: Beck, "
          "Teboulle (2009); Jaggi (2013); Lee, Sun, Saunders (2014)." },
        PNL_ROW_END,
    };
    const pn_solver_ops *const *table = pn_solver_table();

    pnl_open_class(L, &function_class);
    pnl_open_class(L, &pnl_plan_class);
    pnl_open_class(L, &pnl_walk_class);
    pnl_open_class(L, &pnl_fit_class);
    pnl_open_class(L, &pnl_saved_plan_class);
    pnl_library(L, "solve", "Solvers: solve.NAME(obj, options) runs, solve.NAME.plan(obj, options) only plans.", rows);
    for (size_t i = 0; table[i]; i++)
        add_solver(L, table[i]);
    lua_setfield(L, -2, "solve");
    pnl_open_solver(L);
}
