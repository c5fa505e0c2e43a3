/* lfit_moments.c -- what follows from the second moments that a fit keeps, without another look at the records: ridges,
 * models of some columns, their errors and how far noise moved them.
 * Depends on: lsolve.h, minimise/least_squares.h.  Used by: lfit.c. */
#include <math.h>
#include <string.h>

#include "bindings/solvers/lask.h"
#include "bindings/solvers/lsolve.h"
#include "numeric/symmetric.h"

static const pn_least_squares *moments_of(lua_State *L, const char *owner)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);

    if (!fit->moments)
        pnl_error(L, "%s: the fit keeps no second moments; fit with solve.sufficient_statistics", owner);
    return fit->moments;
}

/* Numbers of features from 1 to size_t from 0, on the stack; NULL for all. */
static const size_t *read_columns(lua_State *L, const char *owner, const pn_least_squares *of, const pn_arg *arg)
{
    size_t *columns;

    if (!arg->given)
        return NULL;
    columns = lua_newuserdatauv(L, (arg->vector.n + 1) * sizeof *columns, 0);
    for (size_t k = 0; k < arg->vector.n; k++) {
        double number = arg->vector.data[k];

        if (!(number >= 1.0 && number <= (double)(of->p - of->constant) && number == floor(number)))
            pnl_error(L, "%s: columns must be numbers of features from 1 to %zu, got %g", owner, of->p - of->constant,
                      number);
        columns[k] = (size_t)number - 1;
    }
    return columns;
}

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

/* ---- fit:path ---- */

static const pn_param path_params[] = {
    { "ridge", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "ridges, from 0, as lambda of pn.reg.l2" },
    { "columns", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "numbers of the features to use, rising" },
    PN_PARAM_END,
};

static void push_model(lua_State *L, const pn_least_squares *of, const pn_submodel *which)
{
    pn_submodel_fit about;
    double *theta;
    pn_err err;

    lua_createtable(L, 0, 4);
    theta = pnl_new_vec(L, of->p);
    if (pn_least_squares_solve(of, which, theta, &about, &err) != PN_OK)
        pnl_status(L, pn_fail_in(&err, err.status, "fit:path"), &err);
    lua_setfield(L, -2, "theta");
    set_number(L, "ridge", about.ridge);
    set_number(L, "mse", about.mse);
    set_number(L, "mse_noise", about.mse_deviation);
    pnl_list(L);
}

int pnl_fit_path(lua_State *L)
{
    const pn_least_squares *of = moments_of(L, "fit:path");
    pn_submodel which = { .ridge = NAN };
    pn_arg args[2];
    size_t count;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "fit:path", path_params, args, NULL);
    pnl_status(L, pn_args_check("fit:path", path_params, args, &err), &err);
    which.columns = read_columns(L, "fit:path", of, &args[1]);
    which.count = args[1].given ? args[1].vector.n : 0;
    count = args[0].given ? args[0].vector.n : 1;
    luaL_checkstack(L, 8, "fit:path");
    lua_createtable(L, (int)count, 0);
    for (size_t k = 0; k < count; k++) {
        which.ridge = args[0].given ? args[0].vector.data[k] : NAN;
        push_model(L, of, &which);
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    pnl_list(L);
    return 1;
}

/* ---- fit:covariance ---- */

static const char *const spreads[] = { "privacy", "total", NULL };

static const pn_param covariance_params[] = {
    { "of", PN_CHOICE, PN_OPTIONAL, PN_ANY, 1.0, spreads,
      "privacy: of the noise, about the answer without it; total: and of the draw of the records" },
    { "ridge", PN_REAL, PN_OPTIONAL, PN_NONNEGATIVE, -1.0, NULL, "as in fit:path; by default the fit's rule" },
    { "columns", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "numbers of the features to use, rising" },
    PN_PARAM_END,
};

int pnl_fit_covariance(lua_State *L)
{
    const pn_least_squares *of = moments_of(L, "fit:covariance");
    pn_submodel which = { .ridge = NAN };
    pn_arg args[3];
    double *covariance;
    pn_err err;

    lua_settop(L, 2);
    pnl_options(L, 2, "fit:covariance", covariance_params, args, NULL);
    pnl_status(L, pn_args_check("fit:covariance", covariance_params, args, &err), &err);
    if (args[1].given)
        which.ridge = args[1].real;
    which.columns = read_columns(L, "fit:covariance", of, &args[2]);
    which.count = args[2].given ? args[2].vector.n : 0;
    covariance = pnl_new_mat(L, of->p, of->p);
    if (pn_least_squares_covariance(of, &which, (pn_spread)args[0].count, covariance, &err) != PN_OK)
        pnl_status(L, pn_fail_in(&err, err.status, "fit:covariance"), &err);
    return 1;
}

/* Analysts, who load nothing, find it loaded (stdlib/sandbox.lua). */
static void push_module(lua_State *L, const char *name)
{
    (void)luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (lua_getfield(L, -1, name) == LUA_TNIL) {
        lua_getglobal(L, "require");
        lua_pushstring(L, name);
        lua_call(L, 1, 1);
        lua_replace(L, -2);
    }
    lua_remove(L, -2);
}

/* The rest is Lua's; what it releases goes through an oracle like any other. */
int pnl_fit_intervals(lua_State *L)
{
    (void)pnl_check(L, 1, &pnl_fit_class);
    lua_settop(L, 2);
    push_module(L, "penumbra.intervals");
    lua_insert(L, 1);
    lua_pushcfunction(L, pnl_oracle_new);
    lua_call(L, 3, 1);
    return 1;
}

/* ---- fit.moments ---- */

int pnl_fit_moments(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const pn_least_squares *of = fit->moments;

    if (!of) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 7);
    pn_packed_unpack(of->moments, of->p + 1, pnl_new_mat(L, of->p + 1, of->p + 1));
    lua_setfield(L, -2, "matrix");
    set_number(L, "noise", of->deviation);
    set_number(L, "row_bound", of->row);
    set_number(L, "label_bound", of->label);
    set_number(L, "middle", of->middle);
    set_number(L, "tau", of->tau);
    set_number(L, "kappa", of->constant ? of->kappa : 0.0);
    pnl_list(L);
    return 1;
}

/* ---- fit.curvature ---- */

static void set_vec(lua_State *L, const char *name, const double *from, size_t count)
{
    memcpy(pnl_new_vec(L, count), from, count * sizeof *from);
    lua_setfield(L, -2, name);
}

int pnl_fit_curvature(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const pn_curvature *of = fit->curvature;

    if (!of) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 8);
    pn_packed_unpack(of->packed, of->p, pnl_new_mat(L, of->p, of->p));
    lua_setfield(L, -2, "matrix");
    set_number(L, "noise", of->deviation);
    lua_pushboolean(L, of->frobenius);
    lua_setfield(L, -2, "frobenius");
    set_number(L, "gradient_noise", of->gradient);
    set_number(L, "damping", of->damping);
    set_number(L, "clip", of->clip);
    set_vec(L, "pull", of->pull, of->p);
    set_vec(L, "regular_gradient", of->slope, of->p);
    set_vec(L, "regular_diagonal", of->diagonal, of->p);
    pnl_list(L);
    return 1;
}
