/* lplan.c -- the rows of a plan: what it says, and what makes runs and other plans of it.
 * Depends on: lsolve.h, runtime/solvers.  Used by: lsolve.c. */
#include <math.h>

#include "bindings/core/getter.h"
#include "bindings/solvers/lsolve.h"

static pn_plan *plan_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_plan_class);
}

static int plan_run(lua_State *L)
{
    (void)plan_of(L);
    lua_settop(L, 2);
    pnl_check_run_names(L, 2, "plan:run");
    return pnl_plan_run(L, "plan:run", 1, 2);
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

    if (!lua_istable(L, 2))
        return pnl_wrong_argument(L, 2, "a table of options");
    lua_settop(L, 2);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, 3, PNL_PLAN_OBJECTIVE); /* 4 */
    lua_newtable(L);                       /* 5 */
    for (int from = 0; from < 2; from++) {
        if (from == 0)
            lua_rawgeti(L, 3, PNL_PLAN_OPTIONS);
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
    return pnl_push_plan(L, plan->solver, "plan:with", 4, 5);
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

PNL_GETTER(plan_iterations, plan_of(L)->iterations);
PNL_GETTER_KNOWN(plan_epsilon,
                 plan_of(L)->simulation_only && !isnan(plan_of(L)->epsilon) ? INFINITY : plan_of(L)->epsilon);
PNL_GETTER_KNOWN(plan_delta, plan_of(L)->delta);
PNL_GETTER_KNOWN(plan_rho, plan_of(L)->simulation_only ? INFINITY : plan_of(L)->rho);
PNL_GETTER_KNOWN(plan_bound, plan_of(L)->bound);
PNL_GETTER_IF(plan_predicted, plan_of(L)->predicted > 0.0, plan_of(L)->predicted);
PNL_GETTER(plan_hopeless, plan_of(L)->hopeless);
PNL_GETTER_IF(plan_gradients, plan_of(L)->gradients > 0.0, plan_of(L)->gradients);
PNL_GETTER_IF(plan_seconds, plan_of(L)->seconds > 0.0, plan_of(L)->seconds);
PNL_GETTER_IF(plan_sigma, plan_of(L)->sigma > 0.0, plan_of(L)->sigma);
PNL_GETTER(plan_proven, plan_of(L)->proven);

static int plan_accountant(lua_State *L)
{
    pn_model_about about;

    pn_model_about_of(&about, plan_of(L));
    lua_pushstring(L, about.accountant); /* nil for NULL */
    return 1;
}

PNL_GETTER(plan_solver, plan_of(L)->solver->name);

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
    lua_rawgeti(L, -1, PNL_PLAN_OBJECTIVE);
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
    pnl_list(L);
    return 1;
}

static int plan_lines(lua_State *L)
{
    pn_plan *plan = plan_of(L);
    pn_plan_lines lines;

    pn_plan_explain(plan, &lines);
    lua_createtable(L, (int)lines.count, (int)lines.count);
    for (size_t i = 0; i < lines.count; i++) {
        const pn_plan_line *line = &lines.line[i];

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

static int plan_warnings(lua_State *L)
{
    const pn_plan *plan = plan_of(L);
    const char *text;

    lua_newtable(L);
    for (size_t i = 0; (text = pn_plan_warning(plan, i)) != NULL; i++) {
        lua_pushstring(L, text);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}

static int plan_tostring(lua_State *L)
{
    pn_plan *plan = plan_of(L);
    const int room = 16384; /* more than most: a second call makes the lines again */
    luaL_Buffer buffer;
    char *text = luaL_buffinitsize(L, &buffer, (size_t)room);
    int size = pn_plan_describe(plan, text, (size_t)room);

    if (size >= room) {
        text = luaL_prepbuffsize(&buffer, (size_t)size + 1);
        size = pn_plan_describe(plan, text, (size_t)size + 1);
    }
    luaL_pushresultsize(&buffer, (size_t)(size > 0 ? size - 1 : 0)); /* without the last newline */
    return 1;
}

static const pnl_row plan_rows[] = {
    { "run", plan_run, PNL_METHOD, PNL_PAID, "plan:run{progress=, on_step=, ledger=, rng=} -> fit",
      "Run to the end. on_step(state) is called after each step and may return false to stop. Without a ledger the "
      "plan's own cost is the budget; without an rng the noise is secure. Ctrl-C ends the run with the partial "
      "result. A run that was stopped has charged its ledger for what it released; fit.privacy states the whole "
      "plan's epsilon, because whoever stopped it could see that." },
    { "steps", plan_steps, PNL_METHOD, PNL_PAID, "for state in plan:steps{ledger=, rng=} do ... end",
      "Walk the algorithm one step at a time; state has step, atom, step_size, gradients and theta. The walk's fit() "
      "gives the result so far." },
    { "with", plan_with, PNL_METHOD, PNL_NOTHING, "plan:with{option = value, ...} -> plan",
      "A new plan with some options changed; spends nothing." },
    { "tune", plan_tune, PNL_METHOD, PNL_NOTHING | PNL_LOADS,
      "plan:tune{option = {values}, ..., within=1.02} -> plan, tried",
      "Plan with every combination of the values and return the plan of the least predicted risk; among those within "
      "that factor of it, the one with the fewest gradients.  Without options: half, once and twice each of "
      "plan.settings.  Spends nothing and looks at no record.  tried: one row for each combination, {plan=, "
      "predicted=, gradients=, sigma=, reason=} and its options, best first; it prints itself.  What predicted risks "
      "cannot decide, pn.tune{...} decides by training and scoring, for a price." },
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
      "The excess risk to be expected, from public numbers alone: not a bound, but what tune compares." },
    { "hopeless", plan_hopeless, PNL_FIELD, PNL_NOTHING, "plan.hopeless -> boolean",
      "Whether the noise is expected to leave the model no better than a constant prediction, by public numbers alone: "
      "the first warning then says why, and what would help.  False does not promise a good model.  Not judged, and "
      "false: plans without privacy, from a start other than 0 or with a regulariser that pulls elsewhere "
      "(reg.quadratic with a center), losses without gradients or with further parameters." },
    { "gradients", plan_gradients, PNL_FIELD, PNL_NOTHING, "plan.gradients -> number or nil",
      "Per-record gradient evaluations that the run will count." },
    { "seconds", plan_seconds, PNL_FIELD, PNL_NOTHING, "plan.seconds -> number or nil",
      "What the run would take on one core, estimated from public sizes, in seconds; nil where there is no estimate." },
    { "sigma", plan_sigma, PNL_FIELD, PNL_NOTHING, "plan.sigma -> number or nil",
      "Standard deviation of the noise on each coordinate of the mean gradient in a step." },
    { "proven", plan_proven, PNL_FIELD, PNL_NOTHING, "plan.proven -> boolean",
      "False when a paper's calibration claims less than what is proven; the printed cost is the proven one." },
    { "accountant", plan_accountant, PNL_FIELD, PNL_NOTHING, "plan.accountant -> string or nil",
      "What priced the run: rdp, gaussian (its exact curve), pld (as a whole) or zcdp." },
    { "solver", plan_solver, PNL_FIELD, PNL_NOTHING, "plan.solver -> string", "The solver's name." },
    { "event", plan_event, PNL_FIELD, PNL_NOTHING, "plan.event -> pn.event or nil",
      "What the whole run is charged as; nil when nothing is: without privacy, or where no record has a part in the "
      "answer (sensitivity 0), and epsilon is 0." },
    { "objective", plan_objective, PNL_FIELD, PNL_NOTHING, "plan.objective -> pn.objective", "The objective." },
    { "lines", plan_lines, PNL_FIELD, PNL_NOTHING, "plan.lines -> table",
      "The rows of the printed table as {name=, value=, formula=}, and by name." },
    { "warnings", plan_warnings, PNL_FIELD, PNL_NOTHING, "plan.warnings -> table",
      "The warnings that the plan prints first, each a text: a price that protects little, noise that hides the "
      "answer." },
    { "__tostring", plan_tostring, PNL_META, PNL_NOTHING, "tostring(plan)",
      "The plan as a table: guarantee, events, every number with its formula." },
    PNL_ROW_END,
};

const pnl_class pnl_plan_class = { "pn.plan", (void (*)(void *))pn_plan_free,
                                   plan_rows, "What a run will do and cost: everything computed, nothing spent.",
                                   NULL,      NULL };
