/* lfit_save.c -- fits in files: fit:save, what pn.load makes of them, and the plans that they had.
 * Depends on: lsolve.h, lnumbers.h, progress.h, model/model.h.  Used by: lfit.c, lnpy.c. */
#include <math.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/privacy/lreceipt.h"
#include "bindings/solvers/lsolve.h"

/* ---- fit:save ---- */

static const pn_param save_params[] = {
    { "raw", PN_FLAG, PN_OPTIONAL, PN_ANY, 0.0, NULL, "keep what is not private, too" },
    PN_PARAM_END,
};

/* What was loaded is written again: nothing can be added to it. */
static void save_again(lua_State *L, const char *path, const pn_fit *fit, bool raw)
{
    pn_model_about about;
    pn_err err;

    pnl_fit_about(L, &about);
    if (raw && !about.raw)
        pnl_error(L,
                  "fit:save: raw = true, but the file that this fit was loaded from holds nothing that is not private");
    about.raw = raw;
    pnl_status(L, pn_model_write(path, fit, &about, PN_MODEL_FILE, &err), &err);
}

int pnl_fit_save(lua_State *L)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const char *path = pnl_check_path(L, 2);
    const pn_plan *plan;
    double value = NAN;
    pn_arg args[1];
    bool raw;
    pn_err err;

    lua_settop(L, 3);
    pnl_options(L, 3, "fit:save", save_params, args, NULL);
    raw = args[0].given && args[0].flag;
    plan = pnl_fit_plan(L);
    if (plan) {
        if (raw)
            value = pnl_fit_evaluate(L);
        pnl_status(L, pn_model_save_by(path, fit, plan, raw ? &value : NULL, PNL_LUA_VERSION, &err), &err);
    } else {
        save_again(L, path, fit, raw);
    }
    lua_pushvalue(L, 2);
    return 1;
}

/* ---- pn.load ---- */

int pnl_load_model(lua_State *L, const char *path)
{
    pn_model_about **about = (pn_model_about **)pnl_newbox(L, &pnl_saved_plan_class);
    pn_fit **fit = pnl_new_fit(L, -1);
    pn_err err;

    pnl_status(L, pn_model_load(fit, about, path, &err), &err);
    return 1;
}

/* ---- the plan of a fit that was loaded ---- */

static const pn_model_about *about_of(lua_State *L)
{
    return pnl_check(L, 1, &pnl_saved_plan_class);
}

PNL_GETTER(saved_solver, about_of(L)->solver);
PNL_GETTER(saved_loss, about_of(L)->loss);
PNL_GETTER(saved_accountant, about_of(L)->accountant);
PNL_GETTER(saved_iterations, about_of(L)->iterations);
PNL_GETTER(saved_records, about_of(L)->records);
PNL_GETTER(saved_margins, about_of(L)->margins);
PNL_GETTER(saved_extra, about_of(L)->extra);
PNL_GETTER(saved_bias, about_of(L)->bias);
PNL_GETTER(saved_raw, about_of(L)->raw);
PNL_GETTER(saved_version, about_of(L)->version);

static int saved_set(lua_State *L)
{
    const char *set = about_of(L)->set;

    if (set[0])
        lua_pushstring(L, set);
    else
        lua_pushnil(L);
    return 1;
}

static int saved_tostring(lua_State *L)
{
    const char *text = about_of(L)->plan;
    size_t length = 0;

    while (text[length])
        length++;
    while (length > 0 && text[length - 1] == '\n') /* as plans print */
        length--;
    lua_pushlstring(L, text, length);
    return 1;
}

static const pnl_row saved_rows[] = {
    { "solver", saved_solver, PNL_FIELD, PNL_NOTHING, "plan.solver -> string", "The solver's name." },
    { "loss", saved_loss, PNL_FIELD, PNL_NOTHING, "plan.loss -> string",
      "The loss's name; a loss of the user's own is not in the file." },
    { "accountant", saved_accountant, PNL_FIELD, PNL_NOTHING, "plan.accountant -> string or nil",
      "What priced the run, as plan.accountant; nil without privacy." },
    { "iterations", saved_iterations, PNL_FIELD, PNL_NOTHING, "plan.iterations -> integer",
      "Steps that were planned." },
    { "records", saved_records, PNL_FIELD, PNL_NOTHING, "plan.records -> integer", "n, the number of records." },
    { "set", saved_set, PNL_FIELD, PNL_NOTHING, "plan.set -> string or nil",
      "The set that theta is in, in words; nil for all of space." },
    { "margins", saved_margins, PNL_FIELD, PNL_NOTHING, "plan.margins -> integer",
      "Linear predictors of a record: theta is margins x features, and then `extra` further parameters.  0: a loss "
      "that was called back." },
    { "extra", saved_extra, PNL_FIELD, PNL_NOTHING, "plan.extra -> integer",
      "Further parameters of the loss: theta's last entries." },
    { "bias", saved_bias, PNL_FIELD, PNL_NOTHING, "plan.bias -> boolean",
      "The last feature is known to be 1 in every record (d:add_bias() of data whose features have names): predict "
      "wants it, too." },
    { "raw", saved_raw, PNL_FIELD, PNL_NOTHING, "plan.raw -> boolean",
      "The file holds values of the records besides what was released: it is not private." },
    { "version", saved_version, PNL_FIELD, PNL_NOTHING, "plan.version -> string",
      "Of the library that wrote the file." },
    { "__tostring", saved_tostring, PNL_META, PNL_NOTHING, "tostring(plan)",
      "The plan's explanation, as it was when the fit was saved." },
    PNL_ROW_END,
};

const pnl_class pnl_saved_plan_class = { "pn.saved_plan",
                                         (void (*)(void *))pn_model_about_free,
                                         saved_rows,
                                         "The plan of a fit that pn.load read: what it said.",
                                         NULL,
                                         NULL };
