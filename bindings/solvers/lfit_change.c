/* lfit_change.c -- fit:in_terms_of: a fit of records that public numbers changed, as a model of the records before.
 * Depends on: lsolve.h, model/model.h.  Used by: lfit.c. */
#include "bindings/solvers/lsolve.h"

enum { MAP = 0, SHIFT };

#define DECLARED_MOST ((int)sizeof(((pn_model_about *)0)->declared) - 1)

static const pn_param change_params[] = {
    { "map", PN_MATRIX, PN_OPTIONAL, PN_ANY, 0.0, NULL, "P of data:transform(P)" },
    { "shift", PN_VECTOR, PN_OPTIONAL, PN_ANY, 0.0, NULL, "theta of data:offset_labels(theta, bound)" },
    PN_PARAM_END,
};

static const char *const further[] = { "declared", NULL };

/* The text of declared=, or one that says what is there; it stays on the stack. */
static const char *read_declared(lua_State *L, const pn_arg *args)
{
    const char *what = args[MAP].given && args[SHIFT].given ? "map and offset" : args[MAP].given ? "map" : "offset";

    lua_pushnil(L);
    if (lua_istable(L, 3))
        lua_getfield(L, 3, further[0]);
    if (lua_isnil(L, -1))
        return what;
    if (lua_type(L, -1) != LUA_TSTRING || lua_rawlen(L, -1) == 0 || lua_rawlen(L, -1) > (size_t)DECLARED_MOST)
        pnl_error(L, "in_terms_of: declared must be a text of 1 to %d bytes, got %s", DECLARED_MOST, pnl_got(L, -1));
    return lua_tostring(L, -1);
}

/* The plan's explanation; that of a fit which has none is its file's. */
static void take_plan_text(lua_State *L, pn_model_about *about)
{
    const pn_plan *plan = pnl_fit_plan(L);
    int length;
    char *text;

    if (!plan)
        return;
    length = pn_plan_describe(plan, NULL, 0);
    text = lua_newuserdatauv(L, (size_t)(length > 0 ? length : 0) + 1, 0);
    text[0] = '\0';
    (void)pn_plan_describe(plan, text, (size_t)(length > 0 ? length : 0) + 1);
    about->plan = text;
    about->receipt = pnl_fit_push_receipt(L);
}

int pnl_fit_in_terms_of(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    pn_model_change change = { .data = pnl_check(L, 2, &pnl_dataset_class) };
    pn_model_about about, **about_slot;
    pn_fit **slot;
    pn_arg args[2];
    pn_err err;

    lua_settop(L, 3);
    pnl_options(L, 3, "in_terms_of", change_params, args, further);
    change.declared = read_declared(L, args);
    if (args[MAP].given)
        change.map = args[MAP].matrix;
    if (args[SHIFT].given) {
        change.shift = args[SHIFT].vector.data;
        change.shift_count = args[SHIFT].vector.n;
    }
    pnl_fit_about(L, &about);
    take_plan_text(L, &about);
    about_slot = (pn_model_about **)pnl_newbox(L, &pnl_saved_plan_class);
    slot = pnl_new_fit(L, -1);
    pnl_status(L, pn_model_in_terms_of(slot, about_slot, fit, &about, &change, &err), &err);
    return 1;
}
