/* lsolver.c -- pn.solver{...}: a private solver of a user's own, planned and run as those of the library are.
 * Depends on: lsolver.h, lsolve.h.  Used by: lsolve.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/solvers/lsolver.h"
#include "core/vault.h"
#include "solvers/engine/first_order.h"

enum { KEPT_TABLE = 1 };

static const char boxes_key = 'd'; /* a weak table: from a definition to its box */

#define FUNCTION ((const char *const[]){ "function", NULL })
#define STRING   ((const char *const[]){ "string", NULL })
#define TABLE    ((const char *const[]){ "table", NULL })

/* What a definition may say. */
static const pn_param fields[] = {
    { "name", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, STRING, "what it is called: 1 to 31 letters, digits or _" },
    { "step", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, FUNCTION,
      "step(s, ask) makes one step: it asks `ask` and moves s.x; returns nothing, or with adaptive = true \"done\"" },
    { "start", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, FUNCTION, "start(s), before the first step, prepares s" },
    { "answer", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, FUNCTION,
      "answer(s), after every step, returns the model, a vector of s.dim numbers; by default it is s.x" },
    { "options", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, TABLE,
      "names and defaults of at most 24 options of its own, which callers may set and s.options has; iterations among "
      "them sets the default number of steps" },
    { "iterations", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, FUNCTION,
      "iterations(s) returns how many steps a run has where the caller does not say, and, where s.passes left fewer "
      "than there would have been, how many passes over the records those would take" },
    { "queries", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, (const char *const[]){ "table", "function", NULL },
      "what a step asks at most: {gradient = 1, hvp = {count = 2, share = 0.5}}, or a function of s that returns it; "
      "by default the step is tried once against an oracle that answers zeros" },
    { "adaptive", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL,
      "whether it may stop early by returning \"done\"; it then pays for the steps that ran" },
    { "doc", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, STRING, "one sentence about it, which tostring(solver) shows" },
    { "source", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, STRING, "where the method is from; the plan shows it" },
    { "about", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, TABLE, "what each option means, by name, for who reads the file" },
    PN_PARAM_END,
};

static pnl_scripted *definition_of(lua_State *L, int index)
{
    return pnl_check(L, index, &pnl_solver_class);
}

/* ---- a plan ---- */

/* As given, as the definition's function says, or its default. */
static pn_status choose_steps(pnl_scripted_plan *plan, const pn_arg *given, pn_err *err)
{
    const pnl_scripted *of = (const pnl_scripted *)plan->base.solver;

    if (!given->given && of->counts)
        return pnl_scripted_call(plan, &(pnl_job){ .kind = PNL_JOB_COUNT, .plan = plan }, err);
    plan->base.iterations = given->given ? given->count : of->iterations;
    if (plan->base.iterations == 0)
        return pn_fail(err, PN_EINVAL, "%s: the number of steps is missing; give iterations=", plan->base.owner);
    return PN_OK;
}

static pn_status scripted_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err)
{
    pnl_scripted_plan *plan = (pnl_scripted_plan *)base;
    pnl_job job = { .kind = PNL_JOB_PLAN, .plan = plan };
    pn_status status;

    plan->back = (pnl_callback *)(size_t)own[0].object;
    if (strcmp(common[PN_OPT_CALIBRATION].text, "tight") != 0)
        return pn_fail(err, PN_EUNSUPPORTED, "%s: calibration must be \"tight\": this solver follows no article",
                       base->owner);
    PN_TRY(pn_plan_start(&base->start, base->objective, &common[PN_OPT_START], err));
    PN_TRY(pn_first_order_time(&plan->time, &plan->noise, base->objective, &base->request, &common[PN_OPT_START], err));
    PN_TRY(choose_steps(plan, &common[PN_OPT_ITERATIONS], err));
    status = pnl_scripted_call(plan, &job, err);
    if (job.ask) {
        pnl_ask_end(job.ask);
        pnl_ask_free(job.ask);
    }
    PN_TRY(status);
    base->by_step = base->solver->adaptive;
    if (base->solver->adaptive)
        pn_plan_add_text(base, "may stop early", "yes",
                         "charged for what it asked; (epsilon, delta) hold wherever it stops: Feldman, Zrnic (2021)");
    return pn_plan_calibrate(base, plan->pld, err);
}

bool pnl_is_scripted(const pn_solver_ops *solver)
{
    return solver->fill == scripted_fill;
}

/* ---- options ---- */

void pnl_add_all(lua_State *L, int from)
{
    for (lua_pushnil(L); lua_next(L, from);) {
        lua_pushvalue(L, -2);
        lua_insert(L, -2);
        lua_rawset(L, -4);
    }
}

/* Push the definition's options with those of the caller laid over them; names that it does not have are checked by
 * what reads the rest. */
static void push_options(lua_State *L, int table, int given)
{
    int own = lua_gettop(L) + 1;
    bool has = lua_getfield(L, table, "options") == LUA_TTABLE;

    lua_newtable(L);
    if (has)
        pnl_add_all(L, own);
    lua_remove(L, own);
    if (lua_istable(L, given))
        pnl_add_all(L, given);
}

#define MOST_OPTIONS 24 /* of a definition's own */
#define NAMES        (MOST_OPTIONS + 8)

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Appends the names of the options in the definition at `table`, sorted; they live as long as that. */
static size_t own_names(lua_State *L, int table, const char *names[static MOST_OPTIONS])
{
    size_t count = 0;

    if (lua_getfield(L, table, "options") == LUA_TTABLE) {
        for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
            names[count++] = lua_tostring(L, -2);
    }
    lua_pop(L, 1);
    qsort(names, count, sizeof *names, by_name);
    return count;
}

/* Say what the options are that are numbers, of the definition at `table` as the effective ones have them. */
void pnl_set_settings(lua_State *L, pn_plan *plan, int table, int effective)
{
    const char *names[MOST_OPTIONS];
    size_t count = own_names(L, table, names);

    pn_plan_set(plan, "iterations", (double)plan->iterations, true);
    for (size_t i = 0; i < count; i++) {
        if (lua_getfield(L, effective, names[i]) == LUA_TNUMBER && strcmp(names[i], "iterations") != 0)
            pn_plan_set(plan, names[i], lua_tonumber(L, -1), lua_isinteger(L, -1));
        lua_pop(L, 1);
    }
}

/* The names that a call may give besides the common ones: of the run, batch, and of the definition, in order. */
static void option_names(lua_State *L, int table, const char *names[NAMES])
{
    const char *own[MOST_OPTIONS];
    size_t count = 0, most = own_names(L, table, own);

    for (size_t i = 0; pnl_run_option_names[i]; i++)
        names[count++] = pnl_run_option_names[i];
    names[count++] = "batch";
    names[count++] = "accountant";
    for (size_t i = 0; i < most && count < NAMES - 1; i++) {
        if (strcmp(own[i], "iterations") != 0) /* which is common */
            names[count++] = own[i];
    }
    names[count] = NULL;
}

static void *new_function(lua_State *L, int box, const pnl_plan_parts *parts)
{
    static const char *const names[] = { "step", NULL };
    pnl_callback *back;

    lua_createtable(L, 0, 1);
    pnl_push_scripted_function(L, parts->table, parts->objective, parts->effective);
    lua_setfield(L, -2, "step");
    back = pnl_new_paid_callback(L, box, lua_gettop(L), parts->solver->name, names); /* which outlives the call */
    lua_pop(L, 1);
    return back;
}

static void push_definition_table(lua_State *L, int box)
{
    lua_getiuservalue(L, box, 1);
    lua_rawgeti(L, -1, KEPT_TABLE);
    lua_remove(L, -2);
}

int pnl_push_scripted_plan(lua_State *L, const pn_solver_ops *solver, const char *owner, int objective_index,
                           int options_index)
{
    const pnl_scripted *self = (const pnl_scripted *)solver;
    const char *names[NAMES];
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
                                                   .owner = owner,
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
    pnl_push_scripted_plan(L, &self->ops, self->name, 2, 3);
    return pnl_plan_run(L, self->name, lua_gettop(L), 3);
}

/* ---- making one ---- */

static void check_fields(lua_State *L)
{
    luaL_Buffer names;

    for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
        const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";

        if (pn_param_find(fields, key) < pn_param_count(fields))
            continue;
        luaL_buffinit(L, &names);
        for (size_t i = 0; fields[i].name; i++) {
            luaL_addstring(&names, i ? ", " : "");
            luaL_addstring(&names, fields[i].name);
        }
        luaL_pushresult(&names);
        pnl_error(L, "pn.solver: unknown field %s; it takes %s", pnl_got(L, -3), lua_tostring(L, -1));
    }
}

/* A table, or nothing: what is in it is read where it is used. */
static void check_table(lua_State *L, const char *name)
{
    int type = lua_getfield(L, 1, name);

    if (type != LUA_TNIL && type != LUA_TTABLE)
        pnl_error(L, "pn.solver: %s must be a table with names as keys, got %s", name, pnl_got(L, -1));
    lua_pop(L, 1);
}

static void check_function(lua_State *L, const char *name, bool needed)
{
    int type = lua_getfield(L, 1, name);

    if (type != LUA_TFUNCTION && (needed || type != LUA_TNIL))
        pnl_error(L, "pn.solver: %s must be a function, got %s", name, pnl_got(L, -1));
    lua_pop(L, 1);
}

static void read_text(lua_State *L, const char *field, const char *otherwise, char *out, size_t size)
{
    int type = lua_getfield(L, 1, field);

    if (type != LUA_TNIL && type != LUA_TSTRING)
        pnl_error(L, "pn.solver: %s must be a string, got %s", field, pnl_got(L, -1));
    (void)snprintf(out, size, "%s", type == LUA_TSTRING ? lua_tostring(L, -1) : otherwise);
    lua_pop(L, 1);
}

/* Letters, digits and _, as a variable. */
static void read_name(lua_State *L, pnl_scripted *self)
{
    const char *name = lua_getfield(L, 1, "name") == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
    size_t length = name ? strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") : 0;

    if (!name || length == 0 || name[length] || length >= sizeof self->name)
        pnl_error(L, "pn.solver: name must be 1 to 31 letters, digits or _, got %s", pnl_got(L, -1));
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
    size_t count = 0;

    if (type != LUA_TNIL && type != LUA_TTABLE)
        pnl_error(L, "pn.solver: options must be a table of names and defaults, got %s", pnl_got(L, -1));
    for (lua_pushnil(L); type == LUA_TTABLE && lua_next(L, -2); lua_pop(L, 1)) {
        const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;

        if (!name)
            pnl_error(L, "pn.solver: options are named, got the key %s", pnl_got(L, -2));
        if (++count > MOST_OPTIONS)
            pnl_error(L, "pn.solver: options has more than %d names; put some of them into a table", MOST_OPTIONS);
        if (strcmp(name, "iterations") == 0)
            self->iterations = pnl_check_count(L, -1, "pn.solver: options.iterations");
        else if (pn_param_find(pn_solver_common, name) < pn_param_count(pn_solver_common) || is_of_runs(name))
            pnl_error(L, "pn.solver: every solver has the option '%s'; take another name", name);
    }
    lua_pop(L, 1);
    lua_getfield(L, 1, "adaptive");
    self->ops.adaptive = lua_toboolean(L, -1);
    lua_getfield(L, 1, "iterations");
    self->counts = !lua_isnil(L, -1);
    lua_pop(L, 2);
}

/* The table, copied with its options and what it says about them: what its maker changes later was not checked. */
static void keep_table(lua_State *L, int box)
{
    static const char *const inner[] = { "options", "about" };

    lua_newtable(L);
    pnl_add_all(L, 1);
    for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
        if (lua_getfield(L, -1, inner[i]) == LUA_TTABLE) {
            lua_newtable(L);
            pnl_add_all(L, lua_gettop(L) - 1);
            lua_setfield(L, -3, inner[i]);
        }
        lua_pop(L, 1);
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

    lua_settop(L, 1);
    if (!lua_istable(L, 1))
        pnl_error(L, "pn.solver: expected a table, as pn.solver{name=, step=}, got %s", pnl_got(L, 1));
    check_fields(L);
    check_function(L, "step", true);
    check_function(L, "start", false);
    check_function(L, "answer", false);
    check_function(L, "iterations", false);
    check_table(L, "about");
    slot = (pnl_scripted **)pnl_newbox(L, &pnl_solver_class);
    if (!(self = *slot = pn_calloc(1, sizeof *self)))
        pnl_no_memory(L, "pn.solver: out of memory");
    read_name(L, self);
    read_options(L, self);
    self->ops.name = self->name;
    self->ops.doc = self->doc;
    self->ops.source = self->source;
    self->ops.params = function_param;
    self->ops.reveals = PN_REVEALS_PAID;
    self->ops.is_private = self->ops.by_questions = true;
    self->ops.plan_size = sizeof(pnl_scripted_plan);
    self->ops.fill = scripted_fill;
    pnl_scripted_ops(&self->ops);
    keep_table(L, 2);
    pnl_push_weak(L, &boxes_key);
    lua_pushvalue(L, 2);
    lua_rawsetp(L, -2, self);
    lua_settop(L, 2);
    return 1;
}

/* Its name and doc, how to call it, and a line for each of its options: the default, and what `about` says. */
static int solver_tostring(lua_State *L)
{
    enum { OPTIONS = 3, ABOUT, TEXT };
    const pnl_scripted *self = definition_of(L, 1);
    const char *names[MOST_OPTIONS];
    size_t count;

    lua_settop(L, 1);
    push_definition_table(L, 1);
    count = own_names(L, 2, names);
    lua_getfield(L, 2, "options");
    lua_getfield(L, 2, "about");
    lua_pushfstring(L, "solver %s%s%s\n    %s(obj, {epsilon=, delta=, iterations=}) fits, %s.plan(obj, ...) plans",
                    self->name, self->doc[0] ? ": " : "", self->doc, self->name, self->name);
    for (size_t i = 0; i < count; i++) {
        lua_pushfstring(L, "\n    %s = ", names[i]);
        lua_getfield(L, OPTIONS, names[i]);
        luaL_tolstring(L, -1, NULL);
        lua_remove(L, -2);
        lua_concat(L, 3);
        if (lua_istable(L, ABOUT) && lua_getfield(L, ABOUT, names[i]) == LUA_TSTRING)
            lua_pushfstring(L, "%s: %s", lua_tostring(L, TEXT), lua_tostring(L, -1));
        else
            lua_pushvalue(L, TEXT);
        lua_replace(L, TEXT);
        lua_settop(L, TEXT);
    }
    return 1;
}

/* heavy_ball.plan(obj, options), as of the library's solvers: a function that knows its solver. */
static int plan_of_upvalue(lua_State *L)
{
    const pnl_scripted *self = definition_of(L, lua_upvalueindex(1));
    char owner[64];

    (void)snprintf(owner, sizeof owner, "%s.plan", self->name);
    lua_settop(L, 2);
    return pnl_push_scripted_plan(L, &self->ops, owner, 1, 2);
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
      "Plan a run and spend nothing.  Its step is tried once against an oracle that answers zeros and writes down "
      "what is asked, or queries= says so; tostring(plan) shows every question, its noise and the price.  Options: "
      "epsilon= and delta=, or rho=, neighbours=, iterations=, start=, ledger= as for pn.solve, batch= for questions "
      "that take one and name none, and the solver's own." },
    { "name", solver_name, PNL_FIELD, PNL_NOTHING, "solver.name -> string", "What it is called." },
    { "__call", solver_call, PNL_META, PNL_PAID, "solver(obj, {options}) -> fit",
      "Plan a run and make it: the options of solver.plan, and rng=, progress= and on_step= as for pn.solve.  A step "
      "that asks more than was planned raises, with nothing drawn for the question." },
    { "__tostring", solver_tostring, PNL_META, PNL_NOTHING, "tostring(solver)", "Its name, and how to call it." },
    PNL_ROW_END,
};

const pnl_class pnl_solver_class = {
    "pn.solver",
    pn_free,
    solver_rows,
    "A private solver of a user's own, made by pn.solver: called, and planned by .plan, as those of pn.solve.",
    NULL,
    NULL
};

void pnl_open_solver(lua_State *L)
{
    pnl_open_oracle(L);
    pnl_open_class(L, &pnl_solver_class);
    (void)pnl_private_step(L, false); /* so that in a run, where nothing may be raised, its key is there */
    pnl_open_shipped(L);
    pnl_open_selection(L);
    pnl_open_scores(L);
    lua_pushcfunction(L, solver_new);
    lua_setfield(L, -2, "solver");
    pnl_reference(L, "", "solver", PNL_NOTHING, "pn.solver{name=, step=, start=, answer=, options=, ...} -> solver",
                  "A private solver of your own: an update rule, and what it asks of the records.  It is called, and "
                  "planned by .plan, as those of pn.solve.  s, which its functions get, is a table of what is public: "
                  "x (the point, a vector), dim, n, set (all of R^dim where the objective has none), step (from 1), "
                  "steps, options, name, called (the function that was called, for messages), objective ({n=, dim=, "
                  "loss=, bounds=}), noise (deviation of a mean gradient that takes the whole budget; 0 without "
                  "privacy), time (step size x steps that the library's own solvers favour for that noise; infinite "
                  "without privacy) and passes (over all records, that fit into about 4 s, at least 30); other names "
                  "in it are yours.  guide \"write a solver\" says what may be asked, and what is refused.",
                  NULL, fields);
}
