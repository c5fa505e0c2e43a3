/* lfit_predict.c -- what a fit says of records: margins, labels in their own unit, probabilities of classes.
 * Depends on: lsolve.h, lrecipe.h, lnumbers.h, progress.h, model/model_use.h.  Used by: lfit.c. */
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/numeric/lnumbers.h"
#include "bindings/recipe/lrecipe.h"
#include "bindings/solvers/lsolve.h"
#include "data/dataset.h"
#include "model/model_use.h"

/* What is asked of: the fit is at 1, X at 2, options at 3, the recipe or nil at 4. */
typedef struct question {
    const pn_fit *fit;
    pn_model_about about;
    const pn_recipe *recipe;
    const char *owner;
    bool labels;  /* asked for names */
    bool records; /* X is records of the recipe */
} question;

/* ---- margins ---- */

/* Push what stands at 2 times the vector theta[p]: a vec, or a number for one vec. */
static void push_margins(lua_State *L, const double *theta, size_t p)
{
    const pn_dataset *data = pnl_test(L, 2, &pnl_dataset_class);
    double *z;
    pn_err err;
    pn_status status;

    if (data) {
        z = pnl_new_vec(L, data->n);
        pnl_run_begin(L, true);
        status = pn_dataset_predict(data, theta, p, z, pnl_task(L), &err);
        pnl_run_end(L);
        pnl_status(L, status, &err);
        return;
    }
    lua_pushvalue(L, 2); /* a vec, mat or sparse */
    pnl_view_vec(L, (double *)(uintptr_t)theta, p, 1);
    if (pnl_test(L, 2, &pnl_vec_class)) {
        lua_getfield(L, 2, "dot");
        lua_insert(L, -3);
        lua_call(L, 2, 1);
    } else {
        lua_arith(L, LUA_OPMUL);
    }
}

/* Push the margins of all classes: a row for each record, or a vec of the classes for one vec. */
static void push_classes(lua_State *L, const pn_fit *fit, size_t classes, size_t p)
{
    bool one = pnl_test(L, 2, &pnl_vec_class) != NULL;
    size_t n = 0;
    double *out = NULL;

    for (size_t k = 0; k < classes; k++) {
        double number;
        pn_vec z;

        push_margins(L, fit->theta + k * p, p);
        number = one ? lua_tonumber(L, -1) : 0.0;
        z = one ? (pn_vec){ &number, 1 } : pnl_check_vec(L, -1);
        if (!out) {
            n = z.n;
            out = one ? pnl_new_vec(L, classes) : pnl_new_mat(L, n, classes);
            lua_insert(L, -2);
        }
        for (size_t i = 0; i < n; i++)
            out[i * classes + k] = z.data[i];
        lua_pop(L, 1);
    }
}

static void check_features(lua_State *L, const question *self, size_t p)
{
    const pn_dataset *data = pnl_test(L, 2, &pnl_dataset_class);
    const pnl_vec *vec = pnl_test(L, 2, &pnl_vec_class);
    const pnl_mat *mat = pnl_test(L, 2, &pnl_mat_class);
    const pnl_sparse *sparse = pnl_test(L, 2, &pnl_sparse_class);
    size_t got = data ? data->p : vec ? vec->n : mat ? mat->cols : sparse ? sparse->csr.cols : 0;

    if (!data && !vec && !mat && !sparse)
        pnl_error(L,
                  "%s: X must be a data set, a matrix, a sparse matrix, a list of rows or a vector, or, for a fit of a "
                  "recipe, the path of a file or a table of columns, got %s",
                  self->owner, pnl_got(L, 2));
    if (got != p)
        pnl_error(L, "%s: the rows have %zu features, the model has %zu", self->owner, got, p);
}

/* Push the margins of what stands at 2. */
static void push_all_margins(lua_State *L, const question *self)
{
    size_t classes = self->about.margins, own = self->fit->p - self->about.extra;
    size_t p = classes > 1 ? own / classes : own;

    check_features(L, self, p);
    if (classes > 1)
        push_classes(L, self->fit, classes, p);
    else
        push_margins(L, self->fit->theta, p);
}

/* ---- records of the recipe ---- */

static bool is_columns(lua_State *L)
{
    bool named;

    if (!lua_istable(L, 2))
        return false;
    lua_pushnil(L);
    if (!lua_next(L, 2))
        return false;
    named = lua_type(L, -2) == LUA_TSTRING;
    lua_pop(L, 2);
    return named;
}

/* Push the options at 3 that are the recipe's, and label = false. */
static void push_options(lua_State *L)
{
    lua_newtable(L);
    if (lua_istable(L, 3)) {
        for (lua_pushnil(L); lua_next(L, 3); lua_pop(L, 1)) {
            lua_pushvalue(L, -2);
            lua_pushvalue(L, -2);
            lua_rawset(L, -5);
        }
    }
    lua_pushnil(L);
    lua_setfield(L, -2, "labels");
    lua_pushboolean(L, false);
    lua_setfield(L, -2, "label");
}

/* The file or columns at 2 become a data set there. */
static void load_records(lua_State *L, const question *self)
{
    if (lua_type(L, 2) == LUA_TSTRING)
        pnl_refuse_analyst(L, "a prediction for a file", "files are the owner's; give a table of columns");
    if (!self->recipe)
        pnl_error(L,
                  "%s: the fit has no recipe, which says what the columns of a file mean; fit a data set of "
                  "pn.recipe",
                  self->owner);
    lua_getfield(L, 4, "data");
    lua_pushvalue(L, 4);
    lua_pushvalue(L, 2);
    push_options(L);
    lua_call(L, 3, 1);
    lua_replace(L, 2);
}

static void check_recipe(lua_State *L, const question *self)
{
    const pn_dataset *data = pnl_check(L, 2, &pnl_dataset_class);

    if (!data->recipe || strcmp(data->recipe, self->about.recipe) != 0)
        pnl_error(L, "%s: the data set %s; %s(d.X) gives <x, theta> for rows as they are", self->owner,
                  data->recipe ? "is of another recipe than the fit"
                               : "is not of the fit's recipe, or was changed since",
                  self->owner);
}

static void ask(lua_State *L, const char *owner, question *self)
{
    bool given;

    lua_settop(L, 3);
    *self = (question){ .fit = pnl_check(L, 1, &pnl_fit_class), .owner = owner };
    pnl_fit_about(L, &self->about);
    self->recipe = pnl_push_recipe(L, self->about.recipe);
    if (!lua_isnoneornil(L, 3) && !lua_istable(L, 3))
        pnl_error(L, "%s: options must be a table, got %s", owner, pnl_got(L, 3));
    if (lua_istable(L, 3)) {
        lua_pushliteral(L, "labels");
        if (lua_rawget(L, 3) != LUA_TNIL && !lua_isboolean(L, -1))
            pnl_error(L, "%s: labels must be true or false, got %s", owner, pnl_got(L, -1));
        self->labels = lua_toboolean(L, -1);
        lua_pop(L, 1);
    }
    given = lua_type(L, 2) == LUA_TSTRING || is_columns(L);
    if (given)
        load_records(L, self);
    else if (lua_istable(L, 2))
        (void)pnl_check_mat_of(L, 2, owner);
    if (pnl_test(L, 2, &pnl_dataset_class) && !given)
        pnl_refuse_analyst(L, owner,
                           "what the model says of each record is not released; give vectors or matrices of your own");
    self->records = self->recipe && pnl_test(L, 2, &pnl_dataset_class);
    if (self->records && !given)
        check_recipe(L, self);
    if (!given && lua_istable(L, 3) && !self->records)
        pnl_error(L, "%s: options are for files, columns and data sets of the fit's recipe", owner);
}

/* ---- predict ---- */

static const double *margins_of(lua_State *L, size_t *n)
{
    pn_vec vec;
    pn_mat mat;

    if (pnl_test(L, -1, &pnl_mat_class)) {
        mat = pnl_check_mat(L, lua_gettop(L));
        *n = mat.rows;
        return mat.data;
    }
    vec = pnl_check_vec(L, lua_gettop(L));
    *n = vec.n;
    return vec.data;
}

/* Push the name of class `code`: a text, or without a recipe's names the code. */
static void push_class(lua_State *L, const question *self, double code)
{
    const pn_recipe_label *label = self->recipe ? &self->recipe->label : NULL;
    size_t k;

    if (!label || label->kind != PN_LABEL_CLASSES) {
        lua_pushinteger(L, (lua_Integer)code);
        return;
    }
    if (label->classes.count == 2)
        k = code > 0.0 ? label->positive : 1 - label->positive;
    else
        k = (size_t)code - 1;
    lua_pushstring(L, pn_words_at(&label->classes, k));
}

static void push_names(lua_State *L, const question *self, const double *codes, size_t n)
{
    if (!self->recipe || self->recipe->label.kind != PN_LABEL_CLASSES)
        pnl_error(L, "%s: labels = true is for a fit of a recipe whose label has classes", self->owner);
    lua_createtable(L, (int)n, 0);
    for (size_t i = 0; i < n; i++) {
        push_class(L, self, codes[i]);
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
}

int pnl_fit_predict(lua_State *L)
{
    question self;
    const double *margins;
    double *values;
    pn_err err;
    size_t n;

    ask(L, "fit:predict", &self);
    push_all_margins(L, &self);
    if (!self.records)
        return 1;
    margins = margins_of(L, &n);
    values = pnl_new_vec(L, n);
    pnl_status(L, pn_model_values(&self.about, self.recipe, margins, n, values, &err), &err);
    if (self.labels)
        push_names(L, &self, values, n);
    return 1;
}

/* ---- probabilities ---- */

static void push_class_names(lua_State *L, const question *self, size_t classes)
{
    lua_createtable(L, (int)classes, 0);
    for (size_t k = 0; k < classes; k++) {
        push_class(L, self, self->about.margins == 1 ? (k == 0 ? -1.0 : 1.0) : (double)(k + 1));
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
}

int pnl_fit_probabilities(lua_State *L)
{
    question self;
    const double *margins;
    double *out, number;
    size_t classes, n;
    bool one;
    pn_err err;

    ask(L, "fit:probabilities", &self);
    pnl_status(L, pn_model_classes(&self.about, self.recipe, &classes, &err), &err);
    one = pnl_test(L, 2, &pnl_vec_class) != NULL;
    push_all_margins(L, &self);
    if (one && self.about.margins == 1) {
        number = lua_tonumber(L, -1);
        margins = &number;
    } else {
        margins = margins_of(L, &n);
    }
    if (one)
        n = 1;
    out = one ? pnl_new_vec(L, classes) : pnl_new_mat(L, n, classes);
    pn_model_probabilities(&self.about, margins, n, out);
    push_class_names(L, &self, classes);
    return 2;
}
