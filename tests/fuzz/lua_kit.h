/* lua_kit.h -- readers that are Lua: a state with the module in which nothing reaches the system, for all inputs.
 * Depends on: fuzz.h, Lua, bindings/.  Used by: the targets of Lua's readers. */
#ifndef PN_TESTS_FUZZ_LUA_KIT_H
#define PN_TESTS_FUZZ_LUA_KIT_H

#include <lauxlib.h>
#include <lua.h>

#include "fuzz/fuzz.h"

/** A state that has penumbra as pn, and on its stack the function that the chunk `setup` returns.  Its Lua may take
 *  256 MB; more is an error like any other. */
lua_State *fuzz_lua(const char *setup);
/** Call that function with the bytes, as a string.  What it raises ends the process. */
void fuzz_lua_call(lua_State *L, const uint8_t *data, size_t size);

#endif
