/* recipe_read.c -- a recipe from its JSON.  Depends on: recipe.h, recipe_spec.h, core, jansson.  Used by: hosts. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/alloc.h"
#include "core/json.h"
#include "core/table.h"
#include "recipe/recipe.h"
#include "recipe/recipe_spec.h"

#define FORMAT  "penumbra recipe"
#define VERSION 1

/* ---- keys ---- */

pn_status pn_recipe_check_keys(const json_t *object, const char *what, const char *const *known, pn_err *err)
{
    const char *key, *nearest = NULL;
    json_t *value;

    json_object_foreach((json_t *)(size_t)object, key, value)
    {
        size_t k = 0;

        while (known[k] && strcmp(known[k], key) != 0)
            k++;
        if (known[k])
            continue;
        for (k = 0; known[k]; k++)
            nearest = pn_nearer(key, nearest, known[k]);
        return pn_fail(err, PN_EINVAL, "recipe: %s has no '%.60s'%s%s", what, key, nearest ? "; the nearest is " : "",
                       nearest ? nearest : "");
    }
    return PN_OK;
}

/* ---- what is said of the whole ---- */

static pn_status check_format(const json_t *root, pn_err *err)
{
    const json_t *format = json_object_get(root, "format"), *version = json_object_get(root, "version");

    if (format && !(json_is_string(format) && strcmp(json_string_value(format), FORMAT) == 0))
        return pn_fail(err, PN_EINVAL, "recipe: the format is not \"" FORMAT "\"");
    if (version && !(json_is_integer(version) && json_integer_value(version) == VERSION))
        return pn_fail(err, PN_EINVAL, "recipe: only version %d of recipes is known", VERSION);
    return PN_OK;
}

static pn_status read_norm(pn_recipe *recipe, const json_t *norm, pn_err *err)
{
    const char *name = json_string_value(norm);

    recipe->norm = PN_L2;
    if (!norm)
        return PN_OK;
    for (int lp = 0; name && lp < PN_LP_COUNT; lp++) {
        if (strcmp(name, pn_lp_name((pn_lp)lp)) == 0) {
            recipe->norm = (pn_lp)lp;
            return PN_OK;
        }
    }
    return pn_fail(err, PN_EINVAL, "recipe: norm must be \"l1\", \"l2\" or \"linf\", got %.60s",
                   name ? name : "no text");
}

static pn_status read_numbers(pn_recipe *recipe, const json_t *root, pn_err *err)
{
    const json_t *intercept = json_object_get(root, "intercept"), *clip = json_object_get(root, "clip");

    recipe->clip = INFINITY;
    recipe->intercept = !intercept || json_is_true(intercept) ? 1.0 : 0.0;
    if (json_is_number(intercept))
        recipe->intercept = json_number_value(intercept);
    else if (intercept && !json_is_boolean(intercept))
        return pn_fail(err, PN_EINVAL, "recipe: intercept must be true, false or its weight");
    if (recipe->intercept != 0.0 && !pn_recipe_is_weight(recipe->intercept))
        return pn_fail(err, PN_EINVAL, "recipe: the weight of the intercept must be from 1e-6 to 1e6, got %g",
                       recipe->intercept);
    if (!clip || json_is_null(clip))
        return PN_OK;
    if (!json_is_number(clip) || !pn_recipe_is_weight(json_number_value(clip)))
        return pn_fail(err, PN_EINVAL,
                       "recipe: clip must be a number from 1e-6 to 1e6, the largest norm of a row's "
                       "features before rows are scaled");
    recipe->clip = json_number_value(clip);
    return PN_OK;
}

/* ---- holes ---- */

static pn_status add_hole(pn_recipe *recipe, const json_t *word, void *c_locale, pn_err *err)
{
    pn_recipe_value value = { .text = json_string_value(word), .length = json_string_length(word) };
    double number;

    if (!value.text)
        return pn_fail(err, PN_EINVAL, "recipe: na must be a list of texts such as {\"\", \"NA\"}");
    PN_TRY(pn_made(pn_words_add(&recipe->na, value.text, value.length) != PN_NO_WORD, err, "recipe: out of memory"));
    if (pn_recipe_is_number(&value, c_locale, &number))
        recipe->na_numbers[recipe->na_count++] = number;
    return PN_OK;
}

static pn_status read_holes(pn_recipe *recipe, const json_t *na, void *c_locale, pn_err *err)
{
    static const char *const usual[] = { "", "NA", "N/A", "NaN", "nan", "null", "NULL", "?" };

    if (!na) {
        for (size_t k = 0; k < sizeof usual / sizeof usual[0]; k++)
            PN_TRY(pn_made(pn_words_add(&recipe->na, usual[k], strlen(usual[k])) != PN_NO_WORD, err,
                           "recipe: out of memory"));
        return PN_OK;
    }
    if (!json_is_array(na) && !pn_recipe_is_empty(na))
        return pn_fail(err, PN_EINVAL, "recipe: na must be a list of texts such as {\"\", \"NA\"}");
    PN_TRY(pn_new_zeroed(&recipe->na_numbers, json_array_size(na), err, "recipe: out of memory"));
    for (size_t k = 0; k < json_array_size(na); k++)
        PN_TRY(add_hole(recipe, json_array_get(na, k), c_locale, err));
    return PN_OK;
}

/* ---- columns ---- */

static pn_status add_column(pn_recipe *recipe, const char *name, const json_t *spec, const json_t *missing, pn_err *err)
{
    if (pn_recipe_find(recipe, name) < recipe->count)
        return pn_fail(err, PN_EINVAL, "recipe: column '%.80s' is given twice", name);
    if (recipe->label.name && strcmp(recipe->label.name, name) == 0)
        return pn_fail(err, PN_EINVAL, "recipe: column '%.80s' is the label and cannot be a feature too", name);
    return pn_recipe_read_column(&recipe->columns[recipe->count++], name, spec, missing, err);
}

static pn_status read_columns(pn_recipe *recipe, const json_t *root, pn_err *err)
{
    const json_t *missing = json_object_get(root, "missing");
    json_t *features = json_object_get(root, "features"), *spec;
    size_t count = json_is_array(features) ? json_array_size(features) : json_object_size(features), k;
    const char *name;

    if (!json_is_array(features) && !json_is_object(features))
        return pn_fail(err, PN_EINVAL, "recipe: features must be a table of columns such as {age = {17, 90}}");
    if (count == 0)
        return pn_fail(err, PN_EINVAL, "recipe: features is empty; give at least one column");
    PN_TRY(pn_new_zeroed(&recipe->columns, count, err, "recipe: out of memory for %zu columns", count));
    if (json_is_object(features)) {
        json_object_foreach(features, name, spec)
        {
            PN_TRY(add_column(recipe, name, spec, missing, err));
        }
        return PN_OK;
    }
    json_array_foreach(features, k, spec)
    {
        name = json_string_value(json_object_get(spec, "name"));
        if (!name)
            return pn_fail(err, PN_EINVAL,
                           "recipe: feature %zu of the list has no name, as in {name = \"age\", 17, 90}", k + 1);
        PN_TRY(add_column(recipe, name, spec, missing, err));
    }
    return PN_OK;
}

static pn_status read_root(pn_recipe *recipe, const json_t *root, void *c_locale, pn_err *err)
{
    static const char *const known[] = { "label", "features", "missing", "na",        "norm", "intercept",
                                         "clip",  "format",   "version", "estimated", NULL };

    if (!json_is_object(root))
        return pn_fail(err, PN_EINVAL, "recipe: must be a table such as {label = {...}, features = {...}}");
    PN_TRY(pn_recipe_check_keys(root, "a recipe", known, err));
    PN_TRY(check_format(root, err));
    PN_TRY(read_norm(recipe, json_object_get(root, "norm"), err));
    PN_TRY(read_numbers(recipe, root, err));
    PN_TRY(read_holes(recipe, json_object_get(root, "na"), c_locale, err));
    PN_TRY(pn_recipe_read_label(&recipe->label, json_object_get(root, "label"), err));
    PN_TRY(read_columns(recipe, root, err));
    PN_TRY(pn_recipe_read_estimated(recipe, json_object_get(root, "estimated"), err));
    PN_TRY(pn_recipe_lay_out(recipe, err));
    return pn_recipe_write(recipe, err);
}

pn_status pn_recipe_new(pn_recipe **out, const char *json, pn_err *err)
{
    json_error_t wrong;
    json_t *root = json_loads(json, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &wrong);
    void *c_locale = pn_recipe_locale();
    pn_recipe *recipe = NULL;
    pn_status status = pn_made(c_locale, err, "recipe: out of memory");

    if (status == PN_OK && !root)
        status = pn_json_status(&wrong) == PN_ENOMEM
                     ? pn_fail(err, PN_ENOMEM, "recipe: out of memory for the JSON")
                     : pn_fail(err, PN_EPARSE, "recipe: line %d, column %d of the JSON: %.120s", wrong.line,
                               wrong.column, wrong.text);
    if (status == PN_OK)
        status = pn_new_zeroed(&recipe, 1, err, "recipe: out of memory");
    if (status == PN_OK)
        status = read_root(recipe, root, c_locale, err);
    json_decref(root);
    pn_recipe_free_locale(c_locale);
    if (status != PN_OK) {
        pn_recipe_free(recipe);
        return status;
    }
    *out = recipe;
    return PN_OK;
}
