/* lobjective.h -- how the parts of the objective binding open.  Depends on: Lua.  Used by: lobjective.c, lloss.c. */
#ifndef PNL_LOBJECTIVE_H
#define PNL_LOBJECTIVE_H

#include <lua.h>

/** Add `loss` to the pn table on the stack top. */
void pnl_open_loss(lua_State *L);
/** Add `reg` to the pn table on the stack top. */
void pnl_open_reg(lua_State *L);

/* lloss_custom.c */
int pnl_loss_glm(lua_State *L);
int pnl_loss_black_box(lua_State *L);

#endif
