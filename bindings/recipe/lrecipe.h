/* lrecipe.h -- shared by the parts of the recipe binding.  Depends on: pnl.h, recipe/recipe.h.  Used by: lrecipe*.c,
 * ldata.c, lfit*.c. */
#ifndef PNL_LRECIPE_H
#define PNL_LRECIPE_H

#include "bindings/core/ljson.h"
#include "bindings/core/pnl.h"
#include "recipe/recipe.h"

/** Push what a recipe prints. */
void pnl_recipe_push_text(lua_State *L, const pn_recipe *recipe);
/** r:data{age = {...}, ...}: the table at 2, options at 3. */
int pnl_recipe_table(lua_State *L, const pn_recipe *recipe);
/** Push the recipe of that JSON, which a recipe wrote, and return it; NULL: nil. */
const pn_recipe *pnl_push_recipe(lua_State *L, const char *json);
/** Options of a file of the table at 2: sep, decimal, encoding, header.  What the list of names points into stays on
 *  the stack. */
void pnl_recipe_read_file(lua_State *L, const char *owner, pn_recipe_file *file);
/** pn.recipe.columns, pn.recipe.texts */
int pnl_recipe_columns(lua_State *L);
int pnl_recipe_texts(lua_State *L);
/** The recipe at 1. */
const pn_recipe *pnl_recipe_check(lua_State *L);

#endif
