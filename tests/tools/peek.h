/* peek.h -- planted memory errors, in the tests' program with faults.  Depends on: Lua.  Used by:
 * bindings/embed/module.c, bindings/curator/serve.c, tests/tools/peek.c. */
#ifndef PN_TESTS_PEEK_H
#define PN_TESTS_PEEK_H

#include <lua.h>

/** Enter pn.peek in the module on the top. */
void pnl_open_peek(lua_State *L);
/** Note which memory there is, before the process gives up files. */
void pnl_peek_read_map(void);

#endif
