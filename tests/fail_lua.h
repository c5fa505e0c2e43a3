/* fail_lua.h -- Lua states under fail_calls.h: a call of Lua's that a sweep refuses raises "not enough memory", as it
 * does when its allocation fails, whether or not it needs one this time.
 * Depends on: fail_calls.h, Lua.  Used by: tests/bindings. */
#ifndef PN_TESTS_FAIL_LUA_H
#define PN_TESTS_FAIL_LUA_H

#include "fail_calls.h"

/** For the state's allocator: whether a block that grows is to be refused, for a wrapper is about to raise. */
bool fail_lua_refuses(void);

#endif
