/* recipe_spec.h -- what the JSON of a recipe says of one column.  Depends on: recipe.h, jansson.
 * Used by: recipe_read.c, recipe_spec.c, recipe_write.c, model_json.c. */
#ifndef PN_RECIPE_SPEC_H
#define PN_RECIPE_SPEC_H

#include <jansson.h>

#include "recipe/recipe.h"

/** PN_EINVAL for a key of the object that is not known; what: "a recipe". */
pn_status pn_recipe_check_keys(const json_t *object, const char *what, const char *const *known, pn_err *err);
/** From 1e-6 to 1e6: what rows are scaled by stays far from the ends of the doubles. */
bool pn_recipe_is_weight(double weight);
/** Nothing in it: what an empty table of Lua becomes. */
bool pn_recipe_is_empty(const json_t *value);
/** Is the text all of a finite number, with a point? */
bool pn_recipe_is_number(const pn_recipe_value *value, void *c_locale, double *number);

/** *out = the text of `root`, allocated, with all digits of its numbers; NULL is what a call without memory made.
 *  Errors: PN_ENOMEM, in words that begin with `owner`. */
pn_status pn_json_text(char **out, const json_t *root, size_t flags, const char *owner, pn_err *err);

/** Fill a zeroed column.  missing: what columns do that do not say; NULL: refuse.  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status pn_recipe_read_column(pn_recipe_column *column, const char *name, const json_t *spec, const json_t *missing,
                                pn_err *err);
/** The same for the label; NULL, null or false: none. */
pn_status pn_recipe_read_label(pn_recipe_label *label, const json_t *spec, pn_err *err);

/** recipe->estimated; NULL or null: nothing was. */
pn_status pn_recipe_read_estimated(pn_recipe *recipe, const json_t *spec, pn_err *err);
/** The same back; NULL when memory is short. */
json_t *pn_recipe_estimated_json(const pn_recipe *recipe);
/** A list of texts; NULL when memory is short. */
json_t *pn_recipe_words_json(const pn_words *words);

#endif
