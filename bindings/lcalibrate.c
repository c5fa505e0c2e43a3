/* lcalibrate.c -- pn.calibrate: the largest privacy parameter that a total allows.
 * Depends on: pnl.h, lprivacy_check.h, privacy/calibrate.h.  Used by: lprivacy.c. */
#include "lprivacy.h"
#include "lprivacy_check.h"
#include "privacy/accountant.h"
#include "privacy/calibrate.h"

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

static const pnl_row calibrate_rows[] = {
    { "rho", calibrate_rho, PNL_FUNCTION, PNL_NOTHING, "pn.calibrate.rho{epsilon=, delta=} -> rho",
      "The largest rho of zero-concentrated privacy that is (epsilon, delta) by the optimal conversion, to 1e-9 on the "
      "safe "
      "side. Source: Canonne, Kamath, Steinke (2020)." },
    { "exponential", calibrate_exponential, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.exponential{epsilon=, delta=, count=} or {rho=, count=} -> epsilon per selection, order",
      "The largest epsilon of one exponential mechanism such that count of them stay within the total; with the Renyi "
      "order of "
      "the conversion (math.huge for pure composition; none under rho)." },
    { "report_noisy_max", calibrate_report_noisy_max, PNL_FUNCTION, PNL_NOTHING,
      "pn.calibrate.report_noisy_max{epsilon=, delta=, count=} or {rho=, count=} -> epsilon per selection, order",
      "The largest 2 sensitivity/scale of one report noisy max such that count of them stay within the total; with the "
      "Renyi "
      "order of the conversion (math.huge for pure composition; none under rho)." },
    PNL_ROW_END,
};

void pnl_open_calibrate(lua_State *L)
{
    pnl_library(L, "calibrate", "The largest privacy parameter of one release that a total allows.", calibrate_rows);
    lua_setfield(L, -2, "calibrate");
}
