/* lobjective.c -- pn.objective: a loss over a data set and a constraint set, its value and its certified bounds.
 * Depends on: pnl.h, runtime/objective.  Used by: module.c. */
#include <math.h>
#include <stdio.h>

#include "lobjective.h"
#include "objective/objective.h"
#include "pnl.h"
#include "progress.h"

static const char *const data_name[] = { "pn.dataset", NULL };
static const char *const loss_name[] = { "pn.loss", NULL };
static const char *const set_name[] = { "pn.set", NULL };

enum { OPT_DATA = 0, OPT_LOSS, OPT_SET, OPT_COUNT };

static const pn_param objective_params[] = {
    { "data", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, data_name, "the records, n x p" },
    { "loss", PN_OBJECT, PN_REQUIRED, PN_ANY, 0.0, loss_name, "loss of one record, l(<x, theta>, y)" },
    { "set", PN_OBJECT, PN_OPTIONAL, PN_ANY, 0.0, set_name, "constraint set of dimension p; private solvers need one" },
    PN_PARAM_END,
};

/* Where pnl_keep has put the parts, in this order. */
enum { KEPT_DATA = 1, KEPT_LOSS, KEPT_SET };

static pn_objective *self_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_objective_class);
}

static int objective_new(lua_State *L)
{
    pn_arg args[OPT_COUNT];
    pn_objective **slot;
    pn_err err;

    pnl_options(L, 1, "objective", objective_params, args, NULL);
    pnl_status(L, pn_args_check("objective", objective_params, args, &err), &err);
    slot = (pn_objective **)pnl_newbox(L, &pnl_objective_class);
    for (int i = 0; i < OPT_COUNT; i++) {
        lua_getfield(L, 1, objective_params[i].name);
        if (!lua_isnil(L, -1))
            pnl_keep(L, -2, -1);
        lua_pop(L, 1);
    }
    pnl_status(L,
               pn_objective_new(slot, args[OPT_DATA].object, (pn_loss *)(size_t)args[OPT_LOSS].object,
                                (pn_set *)(size_t)args[OPT_SET].object, &err),
               &err);
    return 1;
}

/* Checks that argument 2 is a point of the right size. */
static pn_vec point_argument(lua_State *L, const pn_objective *objective, int index, const char *who, const char *what)
{
    pn_vec theta = pnl_check_vec(L, index);
    size_t p = pn_objective_data(objective)->p;

    if (theta.n != p)
        luaL_error(L, "%s: %s has %d entries, the data has %d features", who, what, (int)theta.n, (int)p);
    return theta;
}

static int objective_value(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = point_argument(L, self, 2, "objective:value", "theta");
    double value = 0.0;
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_evaluate(self, theta.data, &value, NULL, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, value);
    return 1;
}

static int objective_gradient(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = point_argument(L, self, 2, "objective:gradient", "theta");
    double *gradient = pnl_new_vec(L, theta.n);
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_evaluate(self, theta.data, NULL, gradient, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static int objective_hvp(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = point_argument(L, self, 2, "objective:hvp", "theta");
    pn_vec v = point_argument(L, self, 3, "objective:hvp", "v");
    double *out = pnl_new_vec(L, theta.n);
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_hessian_times(self, theta.data, v.data, out, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    return 1;
}

static int objective_accuracy(lua_State *L)
{
    pn_objective *self = self_of(L);
    pn_vec theta = point_argument(L, self, 2, "objective:accuracy", "theta");
    double accuracy = 0.0;
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_accuracy(self, theta.data, &accuracy, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, accuracy);
    return 1;
}

static int objective_curvature(lua_State *L)
{
    pn_objective *self = self_of(L);
    double curvature = 0.0;
    pn_err err;
    pn_status status;

    pnl_run_begin(L, true);
    status = pn_objective_exact_curvature(self, &curvature, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
    lua_pushnumber(L, curvature);
    return 1;
}

static int objective_n(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)pn_objective_data(self_of(L))->n);
    return 1;
}

static int objective_p(lua_State *L)
{
    lua_pushinteger(L, (lua_Integer)pn_objective_data(self_of(L))->p);
    return 1;
}

static int push_kept(lua_State *L, int which)
{
    (void)self_of(L);
    lua_getiuservalue(L, 1, 1);
    lua_rawgeti(L, -1, which);
    return 1;
}

static int objective_data(lua_State *L)
{
    return push_kept(L, KEPT_DATA);
}

static int objective_loss(lua_State *L)
{
    return push_kept(L, KEPT_LOSS);
}

static int objective_set(lua_State *L)
{
    return push_kept(L, KEPT_SET);
}

static void set_number(lua_State *L, const char *name, double value)
{
    lua_pushnumber(L, value);
    lua_setfield(L, -2, name);
}

/* {lipschitz={l1=,l2=,linf=}, smoothness=, ..., source="certified"}; source is nil and missing says why when it is not. */
static int objective_bounds(lua_State *L)
{
    const pn_bounds *bounds = pn_objective_bounds(self_of(L));

    lua_createtable(L, 0, 8);
    if (!bounds->certified) {
        lua_pushstring(L, bounds->missing);
        lua_setfield(L, -2, "missing");
        return 1;
    }
    lua_createtable(L, 0, PN_LP_COUNT);
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        set_number(L, pn_lp_name((pn_lp)norm), bounds->lipschitz[norm]);
    lua_setfield(L, -2, "lipschitz");
    set_number(L, "slope", bounds->slope);
    set_number(L, "smoothness", bounds->smoothness);
    set_number(L, "strong_convexity", bounds->strong_convexity);
    set_number(L, "curvature", bounds->curvature);
    set_number(L, "margin", bounds->margin.high);
    lua_pushliteral(L, "certified");
    lua_setfield(L, -2, "source");
    return 1;
}

static int objective_tostring(lua_State *L)
{
    pn_objective *self = self_of(L);
    const pn_dataset *data = pn_objective_data(self);
    const pn_bounds *bounds = pn_objective_bounds(self);
    char where[128] = "unconstrained", text[512];

    if (pn_objective_set(self))
        pn_set_describe(pn_objective_set(self), where, sizeof where);
    if (bounds->certified)
        (void)snprintf(text, sizeof text, "certified: |slope| <= %.4g, curvature %.4g", bounds->slope,
                       bounds->curvature);
    else
        (void)snprintf(text, sizeof text, "not certified: %s", bounds->missing);
    lua_pushfstring(L, "objective: %s loss over %s, %d x %d records\n  %s", pn_objective_loss(self)->ops->name, where,
                    (int)data->n, (int)data->p, text);
    return 1;
}

static const pnl_row objective_rows[] = {
    { "value", objective_value, PNL_METHOD, PNL_RAW, "obj:value(theta) -> number",
      "The mean loss at theta [p], computed from the exact data." },
    { "gradient", objective_gradient, PNL_METHOD, PNL_RAW, "obj:gradient(theta) -> vec",
      "The gradient of the mean loss at theta [p]: one fused pass over the data, the same for any number of threads." },
    { "hvp", objective_hvp, PNL_METHOD, PNL_RAW, "obj:hvp(theta, v) -> vec",
      "The Hessian of the mean loss at theta [p] times v [p], without forming the Hessian." },
    { "accuracy", objective_accuracy, PNL_METHOD, PNL_RAW, "obj:accuracy(theta) -> number",
      "Fraction of records whose label -1 or 1 is the sign of <x, theta>; a margin of 0 counts as 1." },
    { "exact_curvature", objective_curvature, PNL_METHOD, PNL_RAW, "obj:exact_curvature() -> number",
      "max ||X (a - b)||^2 / n over pairs of vertices of the set, for the squared loss: the Frank-Wolfe curvature of "
      "this very "
      "data, for diagnosis. Private plans use obj.bounds.curvature, the worst case." },
    { "n", objective_n, PNL_FIELD, PNL_NOTHING, "obj.n -> integer", "Number of records; public under replace_one." },
    { "p", objective_p, PNL_FIELD, PNL_NOTHING, "obj.p -> integer", "Number of features." },
    { "data", objective_data, PNL_FIELD, PNL_NOTHING, "obj.data -> pn.dataset",
      "The data set; what its own fields reveal is said there." },
    { "loss", objective_loss, PNL_FIELD, PNL_NOTHING, "obj.loss -> pn.loss", "The loss of one record." },
    { "set", objective_set, PNL_FIELD, PNL_NOTHING, "obj.set -> pn.set or nil", "The constraint set." },
    { "bounds", objective_bounds, PNL_FIELD, PNL_NOTHING, "obj.bounds -> table",
      "What is certified for every admissible record and every theta in the set: lipschitz={l1=,l2=,linf=} of the loss "
      "in "
      "theta, slope = max |dl/dz|, smoothness (l2), strong_convexity, curvature (Frank-Wolfe, worst case), margin = "
      "max "
      "|<x, theta>|, source. When nothing is certified only `missing`, which says what to do." },
    { "__tostring", objective_tostring, PNL_META, PNL_NOTHING, "tostring(obj)",
      "Two lines: loss, set and size; what is certified." },
    PNL_ROW_END,
};

const pnl_class pnl_objective_class = {
    "pn.objective", (void (*)(void *))pn_objective_free,
    objective_rows, "f(theta) = (1/n) sum_i l(<x_i, theta>, y_i) over a constraint set.",
    NULL,           NULL
};

void pnl_open_objective(lua_State *L)
{
    pnl_open_loss(L);
    pnl_register(L, &pnl_objective_class);
    lua_pushcfunction(L, objective_new);
    lua_setfield(L, -2, "objective");
    pnl_reference(L, "", "objective", PNL_NOTHING, "pn.objective{data=, loss=, set=} -> objective",
                  "The mean loss over a data set, with bounds certified from the record bounds, the set and the loss. "
                  "Errors when the set's dimension is not the number of features or the labels do not suit the loss.",
                  NULL, objective_params);
}
