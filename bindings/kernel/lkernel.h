/* lkernel.h -- the loader of penumbra.kernel.  Depends on: Lua 5.4.  Used by: main.c. */
#ifndef PNL_LKERNEL_H
#define PNL_LKERNEL_H

#include <lua.h>

int pnl_open_kernel(lua_State *L);

#endif
