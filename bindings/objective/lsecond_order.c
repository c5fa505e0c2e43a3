/* lsecond_order.c -- pn.second_order_gap: value, gradient norm and least eigenvalue of an objective at a point,
 * from the exact data.
 * Depends on: lobjective.h, progress.h, objective/passes/second_order.h.  Used by: lobjective.c. */
#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/objective/lobjective.h"
#include "objective/passes/second_order.h"

static const char signature[] =
    "pn.second_order_gap(obj, theta) -> {value=, gradient_norm=, eigenvalue=, error=, direction=, steps=}";

static const char doc[] =
    "How far theta [dim] is from a second-order stationary point of f (r included): value f(theta), gradient_norm "
    "its gradient's l2 norm, eigenvalue the least eigenvalue of its Hessian with the unit vec direction.  The least "
    "eigenvalue is in [eigenvalue - error, eigenvalue]: steps = 0 says that it was found in full, and error is "
    "rounding; otherwise by that many Lanczos steps, but for a probability of 1e-9.  Beyond 2048 coordinates the "
    "Hessian is not formed: each step is a pass over the records.  NOT private: computed from the exact data, and "
    "nothing is charged.  The constraint set is ignored.  Error for a black box, for a loss whose slope jumps, for "
    "an r without a Hessian, and for an objective with clip=.";

static const char source[] = "Kuczynski, Wozniakowski (1992); Golub, Meurant (2010)";

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

static void push_gap(lua_State *L, const pn_second_order_gap *gap, int direction)
{
    lua_createtable(L, 0, 6);
    set_number(L, "value", gap->value);
    set_number(L, "gradient_norm", gap->gradient_norm);
    set_number(L, "eigenvalue", gap->eigenvalue);
    set_number(L, "error", gap->error);
    lua_pushinteger(L, (lua_Integer)gap->steps);
    lua_setfield(L, -2, "steps");
    lua_pushvalue(L, direction);
    lua_setfield(L, -2, "direction");
    pnl_list(L);
}

static int second_order_gap(lua_State *L)
{
    pn_second_order_gap gap = { 0 };
    pn_objective *objective;
    double *direction;
    pn_status status;
    pn_vec theta;
    pn_err err;

    pnl_refuse_in_step(L, "second_order_gap");
    lua_settop(L, 2);
    objective = pnl_test(L, 1, &pnl_objective_class);
    if (!objective)
        return pnl_error(L, "second_order_gap: expected a pn.objective, got %s", pnl_got(L, 1));
    theta = pnl_objective_point(L, objective, 2, "second_order_gap", "theta");
    pnl_pin(L, 1);
    pnl_pin(L, 2);
    direction = pnl_new_vec(L, theta.n);
    pnl_run_begin(L, true);
    status = pn_second_order_gap_measure(&gap, objective, theta.data, direction, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    push_gap(L, &gap, lua_gettop(L));
    return 1;
}

void pnl_open_second_order(lua_State *L)
{
    lua_pushcfunction(L, second_order_gap);
    lua_setfield(L, -2, "second_order_gap");
    pnl_reference(L, "", "second_order_gap", PNL_RAW, signature, doc, source, NULL);
}
