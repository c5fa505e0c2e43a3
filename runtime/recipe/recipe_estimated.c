/* recipe_estimated.c -- what a recipe says of ranges and levels that were estimated from records, and what that cost.
 * It changes no number that the recipe makes.  Depends on: recipe_spec.h, core, jansson.
 * Used by: recipe_read.c, recipe_write.c. */
#include <math.h>
#include <string.h>

#include <jansson.h>

#include "core/alloc.h"
#include "recipe/recipe_spec.h"

static const char *const relations[] = { "replace_one", "add_remove", "zero_out" };

static pn_status refuse(pn_err *err)
{
    return pn_fail(err, PN_EINVAL,
                   "recipe: estimated must have columns (a list of names), epsilon (above 0), delta "
                   "(from 0, below 1), rho (above 0, or null), neighbours (\"replace_one\", \"add_remove\" or "
                   "\"zero_out\") and simulated (true or false), as pn.recipe.estimate writes it");
}

/* A column of which no level was kept is in the price and not in the recipe. */
static pn_status read_names(pn_recipe *recipe, const json_t *columns, pn_err *err)
{
    for (size_t k = 0; k < json_array_size(columns); k++) {
        const json_t *name = json_array_get(columns, k);

        if (!json_is_string(name))
            return refuse(err);
        PN_TRY(pn_made(pn_words_add(&recipe->estimated.columns, json_string_value(name), json_string_length(name)) !=
                           PN_NO_WORD,
                       err, "recipe: out of memory"));
    }
    return recipe->estimated.columns.count > 0 ? PN_OK : refuse(err);
}

static const char *relation_of(const json_t *value)
{
    for (size_t k = 0; json_is_string(value) && k < sizeof relations / sizeof relations[0]; k++) {
        if (strcmp(json_string_value(value), relations[k]) == 0)
            return relations[k];
    }
    return NULL;
}

pn_status pn_recipe_read_estimated(pn_recipe *recipe, const json_t *spec, pn_err *err)
{
    static const char *const known[] = { "columns", "epsilon", "delta", "rho", "neighbours", "simulated", NULL };
    const json_t *rho = json_object_get(spec, "rho"), *simulated = json_object_get(spec, "simulated");
    pn_recipe_estimated *out = &recipe->estimated;

    if (!spec || json_is_null(spec))
        return PN_OK;
    if (!json_is_object(spec))
        return refuse(err);
    PN_TRY(pn_recipe_check_keys(spec, "what was estimated", known, err));
    PN_TRY(read_names(recipe, json_object_get(spec, "columns"), err));
    out->epsilon = json_number_value(json_object_get(spec, "epsilon"));
    out->delta = json_number_value(json_object_get(spec, "delta"));
    out->rho = json_is_number(rho) ? json_number_value(rho) : NAN;
    out->neighbours = relation_of(json_object_get(spec, "neighbours"));
    out->simulated = json_is_true(simulated);
    if (!(out->epsilon > 0.0) || !(out->delta >= 0.0 && out->delta < 1.0) || out->rho <= 0.0 || !out->neighbours ||
        (rho && !json_is_number(rho) && !json_is_null(rho)) || (simulated && !json_is_boolean(simulated)))
        return refuse(err);
    return PN_OK;
}

json_t *pn_recipe_estimated_json(const pn_recipe *recipe)
{
    const pn_recipe_estimated *from = &recipe->estimated;

    return json_pack("{s:o, s:f, s:f, s:o, s:s, s:b}", "columns", pn_recipe_words_json(&from->columns), "epsilon",
                     from->epsilon, "delta", from->delta, "rho", isnan(from->rho) ? json_null() : json_real(from->rho),
                     "neighbours", from->neighbours, "simulated", from->simulated);
}
