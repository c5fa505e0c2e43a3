/* lfit_export.c -- fit:export: a model as JSON, its coefficients as CSV, theta as a NumPy file.
 * Depends on: lfit_coefficients.h, model/model.h, core/file.h, numeric/npy.h.  Used by: lfit.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bindings/numeric/lnumbers.h"
#include "bindings/solvers/lfit_coefficients.h"
#include "core/file.h"
#include "numeric/npy.h"

/* ---- CSV ---- */

/* Quoted where it has to be. */
static void add_field(luaL_Buffer *text, const char *field)
{
    if (!field)
        return;
    if (!strpbrk(field, ",;\"\r\n\t")) {
        luaL_addstring(text, field);
        return;
    }
    luaL_addchar(text, '"');
    for (; *field; field++) {
        if (*field == '"')
            luaL_addchar(text, '"');
        luaL_addchar(text, *field);
    }
    luaL_addchar(text, '"');
}

static void add_number(luaL_Buffer *text, double x)
{
    char number[40], *comma;

    (void)snprintf(number, sizeof number, "%.17g", x);
    comma = strchr(number, ','); /* of the user's locale */
    if (comma)
        *comma = '.';
    luaL_addstring(text, isnan(x) ? "" : number);
}

static void push_csv(lua_State *L, const pnl_coefficients *self)
{
    luaL_Buffer text;
    char number[32];

    luaL_buffinit(L, &text);
    luaL_addstring(&text, "name,column,kind,class,scaled,original,per\n");
    for (size_t k = 0; k < self->count; k++) {
        pnl_coefficient row;

        pnl_coefficient_at(self, k, &row);
        add_field(&text, row.name);
        luaL_addchar(&text, ',');
        add_field(&text, row.column);
        luaL_addchar(&text, ',');
        add_field(&text, row.kind);
        luaL_addchar(&text, ',');
        add_field(&text, pnl_coefficients_class(self, row.class, number));
        luaL_addchar(&text, ',');
        add_number(&text, row.scaled);
        luaL_addchar(&text, ',');
        add_number(&text, row.original);
        luaL_addchar(&text, ',');
        add_field(&text, row.per);
        luaL_addchar(&text, '\n');
    }
    luaL_pushresult(&text);
}

static void put_csv(lua_State *L, const char *path)
{
    pnl_coefficients self;
    const char *text;
    size_t size;
    int error;

    pnl_coefficients_of(L, &self);
    push_csv(L, &self);
    text = lua_tolstring(L, -1, &size);
    error = pn_file_put(path, text, size, 0600, true);
    if (error)
        pnl_error(L, "fit:export: %s: cannot be written: %s", path, strerror(error));
}

/* ---- the others ---- */

static void put_json(lua_State *L, const char *path)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const pn_plan *plan = pnl_fit_plan(L);
    pn_model_about about;
    pn_err err;

    if (plan) {
        pnl_status(L, pn_model_export(path, fit, plan, &err), &err);
        return;
    }
    pnl_fit_about(L, &about);
    about.raw = false;
    pnl_status(L, pn_model_write(path, fit, &about, PN_MODEL_JSON, &err), &err);
}

static void put_npy(lua_State *L, const char *path)
{
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    pn_err err;

    pnl_status(L, pn_npy_save(path, fit->theta, 1, &fit->p, &err), &err);
}

/* ---- fit:export ---- */

static const char *const formats[] = { "json", "csv", "npy", NULL };
static void (*const writers[])(lua_State *L, const char *path) = { put_json, put_csv, put_npy };

static size_t format_of(lua_State *L, const char *name, const char *path)
{
    size_t k = 0;

    while (formats[k] && (!name || strcmp(name, formats[k]) != 0))
        k++;
    if (!formats[k])
        pnl_error(L,
                  "fit:export: the name %s must end in .json, .csv or .npy; rename the file, or give format = \"json\"",
                  path);
    return k;
}

int pnl_fit_export(lua_State *L)
{
    static const pn_param params[] = {
        { "format", PN_CHOICE, PN_OPTIONAL, PN_ANY, PN_DERIVED, formats, "what is written" },
        PN_PARAM_END,
    };
    const pn_fit *fit = pnl_check(L, 1, &pnl_fit_class);
    const char *path = pnl_check_path(L, 2), *dot = strrchr(path, '.');
    pn_arg args[1];
    size_t format;
    pn_err err;

    lua_settop(L, 3);
    pnl_options(L, 3, "fit:export", params, args, NULL);
    pnl_status(L, pn_args_check("fit:export", params, args, &err), &err);
    format = args[0].given ? args[0].count : format_of(L, dot ? dot + 1 : NULL, path);
    for (size_t j = 0; j < fit->p; j++) {
        if (!isfinite(fit->theta[j]))
            pnl_error(L, "fit:export: theta[%d] is not finite: the run diverged and left no model to save", (int)j + 1);
    }
    writers[format](L, path);
    lua_pushvalue(L, 2);
    return 1;
}
