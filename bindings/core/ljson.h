/* ljson.h -- values of Lua as JSON text and back, by jansson.  Depends on: pnl.h.  Used by: the recipe binding, the
 * kernel. */
#ifndef PNL_LJSON_H
#define PNL_LJSON_H

#include "bindings/core/pnl.h"

/** Push the JSON of the value at `index`: of a table with a list alone an array, with names an object, sorted; the
 *  list of a table with both is its entry "values".  An empty table is {}, pnl_json_empty_list [], and the light
 *  userdata NULL null.  Raises, with `owner` in front, for what JSON cannot say. */
void pnl_push_json(lua_State *L, int index, const char *owner);
/** Push a table that stands for []. */
void pnl_json_empty_list(lua_State *L);
/** Push the value of that JSON; null is nil, in tables a missing entry.  False: it is none, and the reason is
 *  pushed. */
bool pnl_push_of_json(lua_State *L, const char *text, size_t length);

#endif
