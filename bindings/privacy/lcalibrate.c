/* lcalibrate.c -- pn.calibrate: the largest privacy parameter, the least noise and the most steps that a total allows.
 * Depends on: pnl.h, lprivacy_check.h, progress.h, privacy/accounting/calibrate.h.  Used by: lprivacy.c. */
#include "bindings/core/progress.h"
#include "bindings/privacy/lprivacy.h"
#include "bindings/privacy/lprivacy_check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"

static const pn_param rho_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "the target epsilon" },
    { "delta", PN_REAL, PN_REQUIRED, PN_FRACTION, 0.0, NULL, "the target delta" },
    PN_PARAM_END,
};

static int calibrate_rho(lua_State *L)
{
    pn_arg args[2];
    pn_err err;

    pnl_options(L, 1, "calibrate.rho", rho_params, args, NULL);
    pnl_status(L, pn_args_check("calibrate.rho", rho_params, args, &err), &err);
    lua_pushnumber(L, pn_zcdp_rho(args[0].real, args[1].real));
    return 1;
}

static const pn_param selection_params[] = {
    { "epsilon", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total epsilon (or give rho)" },
    { "delta", PN_REAL, PN_OPTIONAL, PN_UNIT_INTERVAL, 0.0, NULL, "the total delta, below 1; 0 for pure privacy" },
    { "rho", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL, "the total rho of zero-concentrated privacy" },
    { "count", PN_COUNT, PN_OPTIONAL, PN_ANY, 1.0, NULL, "how many selections share the total" },
    PN_PARAM_END,
};

static int selection(lua_State *L, const char *owner, bool bounded_range)
{
    enum { EPSILON, DELTA, RHO, COUNT };
    pn_arg args[4];
    double order = 0.0;
    pn_err err;

    pnl_options(L, 1, owner, selection_params, args, NULL);
    pnl_status(L, pn_args_check(owner, selection_params, args, &err), &err);
    if (args[EPSILON].given == args[RHO].given || (args[RHO].given && args[DELTA].given))
        return pnl_error(L, "%s: give either epsilon (with delta, or 0 for pure) or rho", owner);
    if (!(args[DELTA].real < 1.0))
        return pnl_error(L, "%s: delta must be below 1, got %g", owner, args[DELTA].real);
    if (args[RHO].given) {
        lua_pushnumber(L, pn_calibrate_exponential_rho(args[RHO].real, args[COUNT].count, bounded_range));
        return 1;
    }
    lua_pushnumber(
        L, pn_calibrate_exponential(args[EPSILON].real, args[DELTA].real, args[COUNT].count, bounded_range, &order));
    lua_pushnumber(L, order);
    return 2;
}

static int calibrate_exponential(lua_State *L)
{
    return selection(L, "calibrate.exponential", true);
}

static int calibrate_report_noisy_max(lua_State *L)
{
    return selection(L, "calibrate.report_noisy_max", false);
}

/* ---- closed forms ---- */

static const pn_param gaussian_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_NONNEGATIVE, 0.0, NULL, "the target epsilon, 0 included" },
    { "delta", PN_REAL, PN_REQUIRED, PN_FRACTION, 0.0, NULL, "the target delta" },
    { "sensitivity", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "l2 sensitivity of the query" },
    PN_PARAM_END,
};

static int push_noise(lua_State *L, const char *owner, double noise)
{
    if (!(noise > 0.0))
        return pnl_error(L, "%s: the noise that this budget needs is out of the range of numbers", owner);
    lua_pushnumber(L, noise);
    return 1;
}

static int calibrate_gaussian(lua_State *L)
{
    pn_arg args[3];
    pn_err err;

    pnl_options(L, 1, "calibrate.gaussian", gaussian_params, args, NULL);
    pnl_status(L, pn_args_check("calibrate.gaussian", gaussian_params, args, &err), &err);
    return push_noise(L, "calibrate.gaussian", pn_calibrate_gaussian(args[0].real, args[1].real, args[2].real));
}

static const pn_param laplace_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "the target epsilon" },
    { "sensitivity", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 1.0, NULL, "l1 sensitivity of the query" },
    PN_PARAM_END,
};

static int calibrate_laplace(lua_State *L)
{
    pn_arg args[2];
    pn_err err;

    pnl_options(L, 1, "calibrate.laplace", laplace_params, args, NULL);
    pnl_status(L, pn_args_check("calibrate.laplace", laplace_params, args, &err), &err);
    return push_noise(L, "calibrate.laplace", pn_calibrate_laplace(args[0].real, args[1].real));
}

/* ---- searches over a program ---- */

static const char *const extra[] = { "event", "accountant", "progress", NULL };

static const pn_param goal_params[] = {
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "the target epsilon" },
    { "delta", PN_REAL, PN_REQUIRED, PN_UNIT_INTERVAL, 0.0, NULL, "the target delta, below 1" },
    PN_PARAM_END,
};

/* Fills epsilon, delta, accountant and task; leaves the accountant's name,
 * the option progress and then event on the stack. */
static void read_goal(lua_State *L, pn_goal *goal)
{
    pn_arg args[2];
    pn_err err;

    pnl_options(L, 1, goal->owner, goal_params, args, extra);
    pnl_status(L, pn_args_check(goal->owner, goal_params, args, &err), &err);
    goal->epsilon = args[0].real;
    goal->delta = args[1].real;
    goal->accountant = "rdp";
    if (lua_getfield(L, 1, "accountant") == LUA_TSTRING)
        goal->accountant = lua_tostring(L, -1);
    else if (!lua_isnil(L, -1))
        pnl_error(L, "%s: accountant must be a name, as \"rdp\", got %s", goal->owner, pnl_got(L, -1));
    goal->task = pnl_task(L);
    lua_getfield(L, 1, "progress");
    lua_getfield(L, 1, "event");
}

typedef struct call {
    lua_State *L;
    int function;
    const pn_goal *goal;
} call;

/* Nothing here raises: stack slots are reserved, and the user's function runs protected. */
static pn_status release(void *self, double x, pn_event **event, size_t *count, pn_err *err)
{
    call *c = self;
    pn_event *given;

    *count = 1;
    lua_pushvalue(c->L, c->function);
    lua_pushnumber(c->L, x);
    if (lua_pcall(c->L, 1, 1, 0) != LUA_OK) {
        pnl_set_error(c->L);
        return pn_fail(err, PN_ECALLBACK, "%s: the event function raised an error", c->goal->owner);
    }
    given = pnl_test(c->L, -1, &pnl_event_class);
    if (given)
        *event = pn_event_keep(given);
    else
        (void)pn_fail(err, PN_EINVAL, "%s: the event function must return a pn.event, got %s at %s = %.10g",
                      c->goal->owner, luaL_typename(c->L, -1), c->goal->parameter, x);
    lua_pop(c->L, 1);
    return given ? PN_OK : PN_EINVAL;
}

static int search(lua_State *L, pn_goal goal)
{
    call c = { L, 0, &goal };
    pn_program program = { release, &c };
    double x, reached;
    pn_status status;
    pn_err err;

    read_goal(L, &goal);
    if (!lua_isfunction(L, -1))
        return pnl_error(L, "%s: event must be a function(%s) that returns a pn.event, got %s", goal.owner,
                         goal.parameter, pnl_got(L, -1));
    c.function = lua_gettop(L);
    luaL_checkstack(L, LUA_MINSTACK, goal.owner);
    pnl_run_begin_at(L, -2, goal.owner);
    status = pn_calibrate(&x, &reached, &goal, &program, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, x);
    lua_pushnumber(L, reached);
    return 2;
}

static int calibrate_noise(lua_State *L)
{
    return search(
        L, (pn_goal){ .owner = "calibrate.noise", .parameter = "sigma", .low = 0x1p-10, .start = 1.0, .high = 0x1p20 });
}

static int calibrate_rate(lua_State *L)
{
    return search(
        L,
        (pn_goal){
            .owner = "calibrate.rate", .parameter = "q", .rises = true, .low = 0x1p-60, .start = 0x1p-7, .high = 1.0 });
}

static int calibrate_epsilon(lua_State *L)
{
    return search(L, (pn_goal){ .owner = "calibrate.epsilon",
                                .parameter = "x",
                                .rises = true,
                                .low = 0x1p-60,
                                .start = 1.0,
                                .high = 0x1p20 });
}

static int calibrate_steps(lua_State *L)
{
    pn_goal goal = { .owner = "calibrate.steps", .parameter = "steps" };
    pn_event *event;
    size_t steps;
    double reached;
    pn_status status;
    pn_err err;

    read_goal(L, &goal);
    event = pnl_test(L, -1, &pnl_event_class);
    if (!event)
        return pnl_error(L, "calibrate.steps: event must be a pn.event, got %s", pnl_got(L, -1));
    pnl_run_begin_at(L, -2, goal.owner);
    status = pn_calibrate_steps(&steps, &reached, &goal, event, &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushinteger(L, (lua_Integer)steps);
    lua_pushnumber(L, reached);
    return 2;
}

/* ---- the library ---- */

#define NAME(name) #name,
static const char *const accountant_choices[] = { PN_ACCOUNTANTS(NAME) NULL };
static const char *const function_name[] = { "function", NULL };
static const char *const event_name[] = { "pn.event", NULL };

/* For help and completion; read_goal reads the last two itself. */
#define SEARCH_PARAMS                                                                                                  \
    { "epsilon", PN_REAL, PN_REQUIRED, PN_POSITIVE, 0.0, NULL, "the target epsilon" },                                 \
        { "delta", PN_REAL, PN_REQUIRED, PN_UNIT_INTERVAL, 0.0, NULL, "the target delta, below 1" },                   \
    {                                                                                                                  \
        "accountant", PN_CHOICE, PN_OPTIONAL, PN_ANY, 0.0, accountant_choices, "who adds up"                           \
    }

static const pn_param search_params[] = {
    SEARCH_PARAMS,
    { "event", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, function_name,
      "from the unknown number to the event that it makes" },
    PN_PARAM_END,
};

static const pn_param steps_params[] = {
    SEARCH_PARAMS,
    { "event", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, event_name, "one step" },
    PN_PARAM_END,
};

static const pnl_row calibrate_rows[] = {
    { "rho", calibrate_rho, PNL_FUNCTION, PNL_NOTHING, "pn.calibrate.rho{epsilon=, delta=} -> rho",
      "The largest rho for which every rho-zCDP mechanism is (epsilon, delta)-DP by the optimal conversion: the least "
      "over alpha of rho alpha + ln(1 - 1/alpha) - ln(alpha delta)/(alpha - 1) is epsilon, to 1e-9 on the safe side." },
    { "exponential", calibrate_exponential, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.exponential{epsilon=, delta=, count=} or {rho=, count=} -> epsilon per selection, order",
      "The largest epsilon of one exponential mechanism such that count of them, each chosen after the ones before, "
      "stay within the total; with the Renyi order of the conversion (math.huge for pure composition; none under rho, "
      "where epsilon^2/8 is what one costs)." },
    { "report_noisy_max", calibrate_report_noisy_max, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.report_noisy_max{epsilon=, delta=, count=} or {rho=, count=} -> epsilon per selection, order",
      "The largest epsilon = 2 sensitivity/scale of one report noisy max or permute and flip such that count of them "
      "stay within the total; with the Renyi order of the conversion (math.huge for pure composition; none under rho, "
      "where epsilon^2/2 is what one costs)." },
    { "gaussian", calibrate_gaussian, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.gaussian{epsilon=, delta=, sensitivity=} -> sigma",
      "The least standard deviation of ideal Gaussian noise that makes one release of this l2 sensitivity (1 when left "
      "out), between neighbours of whichever kind it was computed for, (epsilon, delta)-DP: with mu = "
      "sensitivity/sigma, delta = Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu).  Right for epsilon above "
      "1 too, where the rule sqrt(2 ln(1.25/delta)) is not.  pn.mechanism.analytic_gaussian also covers rounding and "
      "sampling." },
    { "laplace", calibrate_laplace, PNL_FUNCTION, PNL_NOTHING, "pn.calibrate.laplace{epsilon=, sensitivity=} -> scale",
      "The least scale of Laplace noise that makes one release of this l1 sensitivity (1 when left out), between "
      "neighbours of whichever kind it was computed for, epsilon-DP: sensitivity/epsilon." },
    { "noise", calibrate_noise, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.noise{epsilon=, delta=, accountant=, event=function(sigma) return e end, progress=} -> sigma, "
      "epsilon",
      "The least noise for which the event that the function describes costs at most (epsilon, delta) by the named "
      "accountant, and what it then costs; sigma from 2^-10 to 2^20, to 1e-6 on the safe side.  The cost must fall as "
      "sigma grows.  Errors that the function raises come back as they are; a target out of reach names the least "
      "epsilon." },
    { "rate", calibrate_rate, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.rate{epsilon=, delta=, accountant=, event=function(q) return e end, progress=} -> q, epsilon",
      "The largest sampling rate, at most 1, for which the event costs at most (epsilon, delta), and what it then "
      "costs; otherwise as calibrate.noise." },
    { "epsilon", calibrate_epsilon, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.epsilon{epsilon=, delta=, accountant=, event=function(x) return e end, progress=} -> x, epsilon",
      "The largest x, at most 2^20, for which the event costs at most (epsilon, delta), and what it then costs: the "
      "epsilon of one release, or any parameter whose cost grows with it; otherwise as calibrate.noise." },
    { "steps", calibrate_steps, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.steps{epsilon=, delta=, accountant=, event=e, progress=} -> count, epsilon",
      "How many times the event can be taken within (epsilon, delta), and what that costs.  Errors: an event that "
      "does not fit once (the message names its cost), or that costs nothing." },
    PNL_ROW_END,
};

typedef struct addition {
    const char *source;
    const pn_param *params;
} addition;

#define RENYI "Mironov (2017); Canonne, Kamath, Steinke (2020), Proposition 12"

/* What a row has no place for: by the order of the rows. */
static const addition additions[] = {
    { "Bun, Steinke (2016); Canonne, Kamath, Steinke (2020), Proposition 12", rho_params },
    { "Cesar, Rogers (2021); Dong, Durfee, Rogers (2020)", selection_params },
    { "Dwork, Roth (2014), section 3.3; McKenna, Sheldon (2020)", selection_params },
    { "Balle, Wang (2018), Theorem 8", gaussian_params },
    { "Dwork, McSherry, Nissim, Smith (2006)", laplace_params },
    { RENYI, search_params },
    { RENYI, search_params },
    { RENYI, search_params },
    { RENYI, steps_params },
};

void pnl_open_calibrate(lua_State *L)
{
    pnl_library(L, "calibrate",
                "The largest privacy parameter, the least noise and the most steps that a total allows.",
                calibrate_rows);
    for (size_t i = 0; calibrate_rows[i].name; i++)
        pnl_reference(L, "calibrate", calibrate_rows[i].name, calibrate_rows[i].reveals, calibrate_rows[i].signature,
                      calibrate_rows[i].doc, additions[i].source, additions[i].params);
    lua_setfield(L, -2, "calibrate");
}
