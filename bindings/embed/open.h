/* open.h -- the Lua half of the module as C data; build/bindings/lua_half.c is made from stdlib/ by
 * tests/tools/embed.lua.
 * Depends on: Lua.  Used by: open.c, host_log.c. */
#ifndef PNL_OPEN_H
#define PNL_OPEN_H

#include <stddef.h>

#include <lua.h>

typedef struct pnl_lua_file {
    const char *module; /* "penumbra.prompt.show"; NULL ends the table */
    const char *chunk;  /* "@stdlib/prompt/show.lua": how messages name it */
    size_t size;
    const char *text;
} pnl_lua_file;

extern const pnl_lua_file pnl_lua_half[];

/** Push what the modules of the Lua half see as globals: those of the state, and a debug library of their own.  They
 *  ask it for the class of a value; the state's may be guarded, or not be there.  One table a state.
 *  Raises (memory). */
void pnl_module_environment(lua_State *L);

#endif
