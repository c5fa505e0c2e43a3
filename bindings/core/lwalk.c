/* lwalk.c -- running a plan from Lua: to the end, or one step at a time.
 * Depends on: lsolve.h, progress.h.  Used by: lsolve.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/privacy/lsession.h"
#include "bindings/solvers/lsolve.h"
#include "core/vault.h"

/* ---- rows of the trace ---- */

static void set_number(lua_State *L, const char *name, double value)
{
    if (isnan(value))
        return;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void set_integer(lua_State *L, const char *name, size_t value)
{
    lua_pushinteger(L, (lua_Integer)value);
    lua_setfield(L, -2, name);
}

static void set_vector(lua_State *L, const char *name, const double *x, size_t p)
{
    if (!x)
        return;
    memcpy(pnl_new_vec(L, p), x, p * sizeof *x);
    lua_setfield(L, -2, name);
}

void pnl_push_row(lua_State *L, const pn_trace_row *row, const double *theta, size_t p)
{
    lua_createtable(L, 0, 12);
    set_integer(L, "step", row->step);
    if (row->atom)
        set_integer(L, "atom", row->atom);
    set_number(L, "step_size", row->step_size);
    if (!pnl_curated(L)) { /* NaN there in any case */
        set_number(L, "value", row->value);
        set_number(L, "gap", row->gap);
    }
    set_number(L, "certificate", row->certificate);
    set_number(L, "gradient_norm", row->gradient_norm);
    set_number(L, "eigenvalue", row->eigenvalue);
    if (row->kind) {
        lua_pushstring(L, row->kind);
        lua_setfield(L, -2, "kind");
    }
    if (!pnl_curated(L) &&
        row->gradients != PN_NOT_SAVED) /* of Poisson batches their sizes, on whose secrecy amplification rests */
        set_integer(L, "gradients", (size_t)row->gradients);
    if (theta) {
        set_vector(L, "theta", theta, p);
        set_vector(L, "point", row->point, p);
        set_vector(L, "estimate", row->estimate, p);
    }
}

/* ---- the user's on_step ---- */

typedef struct step_call {
    lua_State *L;
    int function; /* stack index */
    const pn_trace_row *row;
    const double *theta;
    size_t p;
} step_call;

/* Under lua_pcall: (call) -> keep going? */
static int step_body(lua_State *L)
{
    const step_call *call = lua_touserdata(L, 1);

    lua_pushvalue(L, 2);
    pnl_push_row(L, call->row, call->theta, call->p);
    lua_call(L, 1, 1);
    lua_pushboolean(L, lua_isnil(L, -1) || lua_toboolean(L, -1));
    return 1;
}

static pn_status on_step(void *self, const pn_trace_row *row, const double *theta, size_t p, pn_err *err)
{
    step_call *call = self;
    lua_State *L = call->L;
    bool go_on;

    call->row = row;
    call->theta = theta;
    call->p = p;
    lua_pushcfunction(L, step_body);
    lua_pushlightuserdata(L, call);
    lua_pushvalue(L, call->function);
    if (lua_pcall(L, 2, 1, 0) != LUA_OK) {
        pnl_set_error(L);
        return pn_fail(err, PN_ECALLBACK, "on_step raised an error");
    }
    go_on = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return go_on ? PN_OK : pn_fail(err, PN_ECANCELLED, "on_step returned false");
}

/* ---- run options ---- */

void pnl_check_run_names(lua_State *L, int options, const char *owner)
{
    static const pn_param none[] = { PN_PARAM_END };

    pnl_options(L, options, owner, none, NULL, pnl_run_option_names);
}

void pnl_run_options(lua_State *L, int options, const char *owner, pn_run_options *run)
{
    *run = (pn_run_options){ .task = pnl_task(L) };
    pnl_push_ledger(L, options, owner);
    if (!lua_isnil(L, -1)) {
        if (!pnl_test(L, -1, &pnl_ledger_class))
            luaL_error(L, "%s: ledger must be a pn.ledger, got %s", owner, luaL_typename(L, -1));
        run->ledger = pnl_check(L, -1, &pnl_ledger_class);
        pnl_pin(L, -1);
    }
    if (lua_istable(L, options) && lua_getfield(L, options, "rng") != LUA_TNIL) {
        if (!pnl_test(L, -1, &pnl_rng_class))
            luaL_error(L, "%s: rng must be a pn.rng, got %s", owner, luaL_typename(L, -1));
        run->rng = pnl_check(L, -1, &pnl_rng_class);
        pnl_pin(L, -1);
    }
}

/* Who pays for the run of `plan`, and what it counts as.  Where nobody named a ledger the budget of the data set is
 * charged, unless the noise is simulated; without one the run counts as its whole plan, which its fit states.  What
 * runs on a budget of its own has been charged and counted by who gave it that. */
static void begin_spending(lua_State *L, const pn_plan *plan, int options, const char *owner, pn_run_options *run,
                           pn_spending *out)
{
    const pn_dataset *data = pn_objective_data(plan->objective);
    pn_bill *account = plan->without_records || pnl_on_own_budget(L, options) ? NULL : pnl_bill(L, data);
    pn_ledger *given = run->ledger ? run->ledger : plan->request.ledger;
    bool simulated = run->rng && pn_rng_simulated(run->rng);

    pn_spending_init(out, account, simulated);
    if (account && plan->request.kind == PN_NONPRIVATE)
        account->exact++;
    if (plan->request.kind == PN_NONPRIVATE || simulated)
        return;
    given = pnl_bill_ledger(L, account, given, owner);
    if (!plan->request.ledger)
        run->ledger = given;
    if (!given) {
        out->whole = plan->event;
        out->times = pn_plan_charges(plan);
    }
}

/* Push the field, or nil without a table. */
static void push_option(lua_State *L, int options, const char *name)
{
    if (lua_istable(L, options))
        lua_getfield(L, options, name);
    else
        lua_pushnil(L);
}

/* Of a run without privacy all is raw. */
static void refuse_in_step(lua_State *L, const pn_plan *plan, const char *owner)
{
    if (plan->request.kind == PN_NONPRIVATE && !plan->without_records)
        pnl_refuse_in_step(L, owner);
}

int pnl_plan_run(lua_State *L, const char *owner, int plan_index, int options)
{
    pn_plan *plan = pnl_check(L, plan_index, &pnl_plan_class);
    step_call call = { .L = L };
    pn_spending spending;
    pn_run_options run;
    pn_fit **slot;
    pn_err err;
    pn_status status;

    plan_index = lua_absindex(L, plan_index);
    luaL_checkstack(L, 24, owner);
    refuse_in_step(L, plan, owner);
    pnl_run_options(L, options, owner, &run);
    push_option(L, options, "on_step");
    if (!lua_isnil(L, -1)) {
        pnl_refuse_analyst(L, "on_step", "walk through plan:steps() instead");
        if (!lua_isfunction(L, -1))
            return luaL_error(L, "%s: on_step must be a function, got %s", owner, luaL_typename(L, -1));
        call.function = lua_gettop(L);
        run.on_step = on_step;
        run.on_step_self = &call;
    }
    push_option(L, options, "progress");
    if (run.on_step && lua_isnil(L, -1)) { /* what on_step prints and a bar would overwrite each other */
        lua_pop(L, 1);
        lua_pushboolean(L, false);
    }
    slot = pnl_new_fit(L, plan_index);
    begin_spending(L, plan, options, owner, &run, &spending);
    pnl_run_begin_at(L, -2, owner);
    pnl_busy(L, plan_index, true);
    pn_plan_called(plan, owner);
    status = PN_SPENDING(&spending, PN_WITH_RECORDS(pn_plan_run(slot, plan, &run, &err)));
    pn_plan_called(plan, NULL);
    status = pnl_bill_refused(spending.account, run.ledger, owner, status, &err);
    pnl_busy(L, plan_index, false);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

/* ---- walks ---- */

enum { KEPT_PLAN = 1, KEPT_SPENDING };

int pnl_plan_walk(lua_State *L, int plan_index, int options)
{
    pn_plan *plan = pnl_check(L, plan_index, &pnl_plan_class);
    pn_spending *spending;
    pn_run_options run;
    pn_walk **slot;
    pn_err err;
    pn_status status;

    plan_index = lua_absindex(L, plan_index);
    refuse_in_step(L, plan, "plan:steps");
    pnl_check_run_names(L, options, "plan:steps");
    pnl_run_options(L, options, "plan:steps", &run);
    slot = (pn_walk **)pnl_newbox(L, &pnl_walk_class);
    pnl_keep(L, -1, plan_index);
    spending = lua_newuserdatauv(L, sizeof *spending, 0);
    begin_spending(L, plan, options, "plan:steps", &run, spending);
    pnl_keep(L, -2, -1);
    lua_pop(L, 1);
    for (int i = 0; i < 2; i++) { /* themselves: the table may change */
        if (i)
            push_option(L, options, "rng");
        else
            pnl_push_ledger(L, options, "plan:steps");
        if (!lua_isnil(L, -1))
            pnl_keep(L, -2, -1);
        lua_pop(L, 1);
    }
    pnl_run_begin(L, true);
    pn_plan_called(plan, "plan:steps");
    status = PN_SPENDING(spending, PN_WITH_RECORDS(pn_walk_new(slot, plan, &run, &err)));
    pn_plan_called(plan, NULL);
    status = pnl_bill_refused(spending->account, run.ledger, "plan:steps", status, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static pn_walk *walk_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_walk_class);
}

static pn_plan *plan_of_walk(lua_State *L)
{
    pn_plan *plan;

    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, KEPT_PLAN);
    plan = pnl_check(L, -1, &pnl_plan_class);
    lua_pop(L, 2);
    return plan;
}

static pn_spending *spending_of_walk(lua_State *L)
{
    pn_spending *spending;

    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, KEPT_SPENDING);
    spending = lua_touserdata(L, -1);
    lua_pop(L, 2);
    return spending;
}

/* The state after the next step, or nil after the last. */
static int walk_step(lua_State *L)
{
    pn_walk *walk = walk_of(L);
    pn_plan *plan = plan_of_walk(L);
    pn_spending *spending = spending_of_walk(L);
    pn_trace_row row = { 0 };
    bool done = false;
    pn_err err;
    pn_status status;

    refuse_in_step(L, plan, "walk:step");
    pnl_run_begin(L, true);
    pnl_busy(L, 1, true);
    pn_plan_called(plan, "walk:step");
    status = PN_SPENDING(spending, PN_WITH_RECORDS(pn_walk_step(walk, &row, &done, &err)));
    pn_plan_called(plan, NULL);
    pnl_busy(L, 1, false);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    if (row.step == 0)
        lua_pushnil(L);
    else
        pnl_push_row(L, &row, pn_walk_theta(walk), pn_objective_dim(plan->objective));
    return 1;
}

static int walk_fit(lua_State *L)
{
    pn_walk *walk = walk_of(L);
    pn_fit **slot;
    pn_err err;

    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, KEPT_PLAN);
    slot = pnl_new_fit(L, lua_gettop(L));
    pnl_status(L, PN_WITH_RECORDS(pn_walk_fit(walk, NULL, slot, &err)), &err);
    return 1;
}

static int walk_tostring(lua_State *L)
{
    (void)walk_of(L);
    lua_pushfstring(L, "walk: %s, %d steps; step() makes the next, fit() gives the result so far",
                    plan_of_walk(L)->solver->name, (int)plan_of_walk(L)->iterations);
    return 1;
}

static const pnl_row walk_rows[] = {
    { "step", walk_step, PNL_METHOD, PNL_PAID, "walk:step() -> state or nil",
      "One step: charges, draws, moves. nil after the last. state: step, atom, step_size, gradients, theta; value and "
      "gap only without privacy or with simulated noise; certificate where an epoch of zeroth_order ended; of "
      "second-order solvers kind, gradient_norm and eigenvalue as released; of zeroth_order point, where the gradient "
      "was taken, and estimate, what was released of it." },
    { "fit", walk_fit, PNL_METHOD, PNL_PAID, "walk:fit() -> fit",
      "The result of the steps made so far; the walk may go on.  Before the last step fit.privacy states the whole "
      "plan's epsilon: whoever looks at the steps may stop because of what they show." },
    { "__call", walk_step, PNL_META, PNL_PAID, "for state in plan:steps() do ... end", "As walk:step()." },
    { "__tostring", walk_tostring, PNL_META, PNL_NOTHING, "tostring(walk)",
      "One line: the solver and its planned steps." },
    PNL_ROW_END,
};

const pnl_class pnl_walk_class = { "pn.walk", (void (*)(void *))pn_walk_free,
                                   walk_rows, "A solver run that is walked one step at a time.",
                                   NULL,      NULL };
