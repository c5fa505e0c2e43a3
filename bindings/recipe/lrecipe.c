/* lrecipe.c -- pn.recipe: columns of a file become features with a bound.
 * Depends on: lrecipe.h, ldata.h, progress.h, recipe/recipe.h.  Used by: module.c. */
#include <math.h>
#include <string.h>

#include "bindings/core/getter.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "bindings/recipe/lrecipe.h"

const pn_recipe *pnl_recipe_check(lua_State *L)
{
    return pnl_check(L, 1, &pnl_recipe_class);
}

/* ---- making one ---- */

static int make_recipe(lua_State *L, const char *json)
{
    pn_recipe **slot = (pn_recipe **)pnl_newbox(L, &pnl_recipe_class);
    pn_err err;

    pnl_status(L, pn_recipe_new(slot, json, &err), &err);
    return 1;
}

const pn_recipe *pnl_push_recipe(lua_State *L, const char *json)
{
    if (json)
        (void)make_recipe(L, json);
    else
        lua_pushnil(L);
    return json ? pnl_check(L, -1, &pnl_recipe_class) : NULL;
}

/* __call: (library, table) */
static int new_recipe(lua_State *L)
{
    if (lua_type(L, 2) != LUA_TTABLE)
        return pnl_error(L, "recipe: takes a table such as {label = {...}, features = {...}}, got %s", pnl_got(L, 2));
    lua_settop(L, 2);
    pnl_push_json(L, 2, "recipe");
    return make_recipe(L, lua_tostring(L, -1));
}

static int from_json(lua_State *L)
{
    size_t length;
    const char *text = lua_type(L, 1) == LUA_TSTRING ? lua_tolstring(L, 1, &length) : NULL;

    if (!text)
        return pnl_wrong_argument(L, 1, "the JSON of a recipe");
    if (strlen(text) != length)
        return pnl_error(L, "recipe.from_json: the text contains a zero byte");
    return make_recipe(L, text);
}

/* ---- files ---- */

static void read_label(lua_State *L, pn_recipe_file *file)
{
    int type = pnl_data_option(L, "label");

    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        pnl_error(L, "recipe.data: label must be true, or false to ignore the column of labels, got %s",
                  pnl_text(L, -1));
    file->no_label = type == LUA_TBOOLEAN && !lua_toboolean(L, -1);
}

/* The table of options is at 2, for pnl_data_option; the recipe is at 3. */
static int load(lua_State *L, const pn_recipe *recipe, const char *path)
{
    static const char *const known[] = { "label", "sep", "decimal", "encoding", "header", NULL };
    pn_recipe_file file = { 0 };
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    pnl_options(L, 2, "recipe.data", NULL, NULL, known);
    read_label(L, &file);
    pnl_recipe_read_file(L, "recipe.data", &file);
    slot = pnl_new_data(L);
    pnl_run_begin(L, true);
    pnl_run_lend_task(L);
    status = pn_recipe_load(slot, recipe, path, &file, pnl_task(L), &err);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}

static int recipe_data(lua_State *L)
{
    const pn_recipe *recipe = pnl_recipe_check(L);
    const char *path;

    lua_settop(L, 3);
    if (lua_istable(L, 2))
        return pnl_recipe_table(L, recipe);
    if (lua_type(L, 2) != LUA_TSTRING)
        return pnl_wrong_argument(L, 2, "the path of a file, or a table of columns");
    path = pnl_data_path(L, 2, "recipe.data");
    lua_pushvalue(L, 1);
    lua_pushvalue(L, 2); /* what the call needs stays on the stack, options where loaders have them */
    lua_pushvalue(L, 3);
    lua_replace(L, 2);
    return load(L, recipe, path);
}

/* ---- what is known of it ---- */

static void set_text(lua_State *L, const char *key, const char *text)
{
    if (!text)
        return;
    lua_pushstring(L, text);
    lua_setfield(L, -2, key);
}

static int recipe_features(lua_State *L)
{
    const pn_recipe *recipe = pnl_recipe_check(L);

    lua_createtable(L, (int)recipe->p, 0);
    for (size_t k = 0; k < recipe->p; k++) {
        pn_recipe_feature feature;
        pn_err err;

        pnl_status(L, pn_recipe_describe(recipe, k, &feature, &err), &err);
        lua_createtable(L, 0, 6);
        set_text(L, "name", feature.name);
        set_text(L, "column", feature.column);
        set_text(L, "kind", feature.kind);
        set_text(L, "category", feature.category);
        lua_pushnumber(L, feature.offset);
        lua_setfield(L, -2, "offset");
        lua_pushnumber(L, feature.scale);
        lua_setfield(L, -2, "scale");
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    return 1;
}

static void push_classes(lua_State *L, const pn_recipe_label *label)
{
    lua_createtable(L, (int)label->classes.count, 0);
    for (size_t k = 0; k < label->classes.count; k++) {
        bool swapped = label->classes.count == 2 && label->positive == 0;

        lua_pushstring(L, pn_words_at(&label->classes, swapped ? 1 - k : k));
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "classes");
}

static int recipe_label(lua_State *L)
{
    const pn_recipe_label *label = &pnl_recipe_check(L)->label;

    if (label->kind == PN_LABEL_NONE) {
        lua_pushnil(L);
        return 1;
    }
    lua_createtable(L, 0, 4);
    set_text(L, "name", label->name);
    if (label->kind == PN_LABEL_CLASSES) {
        push_classes(L, label);
        return 1;
    }
    if (label->kind == PN_LABEL_COUNT) {
        lua_pushinteger(L, (lua_Integer)label->high);
        lua_setfield(L, -2, "most");
        return 1;
    }
    lua_pushnumber(L, label->low);
    lua_setfield(L, -2, "low");
    lua_pushnumber(L, label->high);
    lua_setfield(L, -2, "high");
    return 1;
}

PNL_GETTER(recipe_p, pnl_recipe_check(L)->p);

static int recipe_bounds(lua_State *L)
{
    const pn_recipe *recipe = pnl_recipe_check(L);

    lua_createtable(L, 0, PN_LP_COUNT);
    for (int lp = 0; lp < PN_LP_COUNT; lp++) {
        lua_pushnumber(L, recipe->bound[lp]);
        lua_setfield(L, -2, pn_lp_name((pn_lp)lp));
    }
    pnl_list(L);
    return 1;
}

static int recipe_estimated(lua_State *L)
{
    const pn_recipe_estimated *from = &pnl_recipe_check(L)->estimated;

    lua_pushnil(L);
    if (from->columns.count == 0)
        return 1;
    lua_createtable(L, 0, 6);
    lua_createtable(L, (int)from->columns.count, 0);
    for (size_t k = 0; k < from->columns.count; k++) {
        lua_pushstring(L, pn_words_at(&from->columns, k));
        lua_rawseti(L, -2, (lua_Integer)k + 1);
    }
    lua_setfield(L, -2, "columns");
    lua_pushnumber(L, from->epsilon);
    lua_setfield(L, -2, "epsilon");
    lua_pushnumber(L, from->delta);
    lua_setfield(L, -2, "delta");
    if (!isnan(from->rho)) {
        lua_pushnumber(L, from->rho);
        lua_setfield(L, -2, "rho");
    }
    set_text(L, "neighbours", from->neighbours);
    lua_pushboolean(L, from->simulated);
    lua_setfield(L, -2, "simulated");
    pnl_list(L);
    return 1;
}

static int recipe_json(lua_State *L)
{
    lua_pushstring(L, pnl_recipe_check(L)->json);
    return 1;
}

static int recipe_tostring(lua_State *L)
{
    pnl_recipe_push_text(L, pnl_recipe_check(L));
    return 1;
}

/* ---- the class ---- */

static const pnl_row recipe_rows[] = {
    { "data", recipe_data, PNL_METHOD, PNL_NOTHING | PNL_FILES,
      "r:data(path, {label=, sep=, decimal=, encoding=, header=}) -> data",
      "The data set that the recipe makes of a CSV file, gzip or plain: RFC 4180 quoting, quoted texts may hold "
      "newlines; columns are found by name in the first line, others are not looked at.  All records, in the order "
      "of the file, with row bounds and the label's range enforced.  label = false leaves the label alone: for a "
      "file to predict, whose features are the same numbers.  sep: one character; default: found among , ; tab.  "
      "decimal = \",\" reads 1,5.  encoding: \"utf-8\" (default) or \"windows-1252\".  header: the names of a file "
      "that has none.  Errors name file, line, column and value; a column that is not there, with the file's names "
      "and the nearest; one that is twice in the header.  A first line sep=; names the separator.  In place of the "
      "path stands a table of columns, {age = {31, 58}, ...}, whose values are numbers, texts, true, false; \"\" is "
      "a missing value." },
    { "features", recipe_features, PNL_METHOD, PNL_NOTHING, "r:features() -> table",
      "The features in their order: name (\"age\", \"job=cook\", \"job=other\", \"age=missing\", \"intercept\"), "
      "column, kind (\"number\", \"date\", \"flag\", \"category\", \"missing\", \"intercept\"), category, offset and "
      "scale: the feature of a number x, clipped to its range, is (x - offset) * scale, of a date with x in days since "
      "1970-01-01, of a flag with 0 or 1; that of a category is scale or 0.  clip= scales rows after that." },
    { "label", recipe_label, PNL_METHOD, PNL_NOTHING, "r:label() -> table or nil",
      "The label: name, and classes (of two, the first is -1 and the second 1; of more, 1, 2, ...), or low and high, "
      "which are -1 and 1 in the data set: a prediction t is low + (t + 1) / 2 * (high - low), or most, of counts, "
      "which stay what they are." },
    { "json", recipe_json, PNL_METHOD, PNL_NOTHING, "r:json() -> string",
      "The recipe as JSON, with what was left out filled in; pn.recipe.from_json makes the same recipe of it." },
    { "p", recipe_p, PNL_FIELD, PNL_NOTHING, "r.p -> integer", "Number of features, the intercept among them." },
    { "bounds", recipe_bounds, PNL_FIELD, PNL_NOTHING, "r.bounds -> {l1=, l2=, linf=}",
      "What is enforced for every row: 1 in the recipe's norm, and what follows from it and the weights." },
    { "estimated", recipe_estimated, PNL_FIELD, PNL_NOTHING,
      "r.estimated -> {columns=, epsilon=, delta=, rho=, neighbours=, simulated=} or nil",
      "What pn.recipe.estimate, or a model with ranges = \"private\", paid for ranges and levels of these columns; nil "
      "where all are stated.  rho is nil where levels are among them.  It changes no number that the recipe makes." },
    { "__tostring", recipe_tostring, PNL_META, PNL_NOTHING, "tostring(r) -> string",
      "The columns as a table: kind, range or categories, what becomes of missing values, into how many features, "
      "weight; the label; the bound of rows." },
    PNL_ROW_END
};

static void free_recipe(void *recipe)
{
    pn_recipe_free(recipe);
}

const pnl_class pnl_recipe_class = {
    "pn.recipe", free_recipe,
    recipe_rows, "How the columns of a file become features with a bound, from public facts about the columns alone.",
    NULL,        NULL
};

/* ---- the library ---- */

static const pnl_row functions[] = {
    { "from_json", from_json, PNL_FUNCTION, PNL_NOTHING, "pn.recipe.from_json(text) -> recipe",
      "The recipe that r:json() wrote, or one written by hand: an object with label, features (a list of {\"name\": "
      "\"age\", \"values\": [17, 90]}, or an object of columns), missing, na, intercept, norm and clip, which mean "
      "what they mean to pn.recipe.  Errors name the line and column of malformed JSON, or the recipe's column." },
    { "columns", pnl_recipe_columns, PNL_FUNCTION, PNL_RAW | PNL_FILES,
      "pn.recipe.columns(path, {sep=, encoding=}) -> list",
      "The names in the first line of a CSV file, gzip or plain, in their order: what a recipe can name.  The records "
      "are not looked at.  sep and encoding as for r:data.  For the file's owner: nothing says that the names are "
      "public." },
    { "texts", pnl_recipe_texts, PNL_FUNCTION, PNL_RAW | PNL_FILES,
      "pn.recipe.texts(path, columns, {sep=, decimal=, encoding=, header=}) -> table",
      "What a CSV file holds in columns that no recipe turns into numbers, such as the ids beside predictions: for "
      "each name in the list `columns` the list of its texts, without quotes and the blanks around them, of the "
      "records that r:data makes of the file.  Options as for r:data; decimal=\",\" keeps commas from being found as "
      "separators.  For the file's owner: what it holds is not protected.  Errors as of r:data; for a name that is "
      "twice in the list." },
    PNL_ROW_END
};

static const char recipe_doc[] =
    "Declares how the columns of a file become features.  A recipe holds public facts only, so it costs no "
    "budget, and it bounds every row by construction.  features: a table of columns by name, taken in "
    "alphabetical order, or a list of {name = \"age\", 17, 90} in its own order.  {17, 90} is a public range: "
    "values are clipped to it and scaled.  {\"Private\", \"State-gov\"} are categories: each gets a 0/1 feature, and "
    "everything else goes to the feature \"other\".  {\"date\", from = \"2001-01-01\", to = \"2020-12-31\"} is a "
    "column of days.  \"flag\" is true or false (t/f, yes/no, y/n, on/off, 1/0).  weight = w (default 1) of a column "
    "lets it add at most norm w to a row before rows are scaled.  label: of two names, as in {income = {\"<=50K\", "
    "\">50K\"}}, positive = (default: the second) becomes 1 and the other -1; three names or more become 1, 2, ..., "
    "K; {price = {0, 1e6}} is a range, clipped and mapped to [-1, 1]; {visits = {count = 20}} is a count, which "
    "stays what it is, those above 20 become 20; without label=, labels are 0.  missing, of "
    "the recipe or of one column: \"refuse\" (default: an error names column and line), \"indicator\" (the column "
    "always gets one more 0/1 feature, and the missing value itself becomes 0), or the value to fill in.  na: the "
    "texts that count as missing; default \"\", NA, N/A, NaN, nan, null, NULL, ?; a declared category never does.  "
    "intercept: true (default: a constant feature, the last), false, or its weight.  norm: the norm in which rows "
    "are at most 1: \"l2\" (default), \"l1\" or \"linf\"; rows are divided by the norm of the weights.  clip: scales "
    "the features of a row down to this norm, in units of weights, before that division; less of the bound is "
    "wasted where numbers seldom reach the ends of their ranges.  Errors name the column and what is wrong.";

void pnl_open_recipe(lua_State *L)
{
    pnl_open_class(L, &pnl_recipe_class);
    lua_newtable(L);
    for (const pnl_row *row = functions; row->name; row++) {
        pnl_push_function(L, "recipe", ".", row);
        lua_setfield(L, -2, row->name);
    }
    lua_newtable(L);
    lua_pushcfunction(L, new_recipe);
    lua_setfield(L, -2, "__call");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, "recipe");
    pnl_reference(L, "", "recipe", PNL_NOTHING,
                  "pn.recipe{label=, features=, missing=, na=, intercept=, norm=, clip=} -> recipe", recipe_doc, NULL,
                  NULL);
    for (const pnl_row *row = functions; row->name; row++)
        pnl_reference(L, "recipe", row->name, row->reveals, row->signature, row->doc, NULL, NULL);
}
