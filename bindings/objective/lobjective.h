/* lobjective.h -- how the parts of the objective binding open.  Depends on: Lua, objective/.  Used by: lobjective*.c,
 * lloss*.c, lstationarity.c, lsecond_order.c. */
#ifndef PNL_LOBJECTIVE_H
#define PNL_LOBJECTIVE_H

#include <stddef.h>

#include <lua.h>

#include "core/view.h"
#include "objective/passes/objective.h"

/** Add `loss` to the pn table on the stack top. */
void pnl_open_loss(lua_State *L);
/** Add `reg` to the pn table on the stack top. */
void pnl_open_reg(lua_State *L);

/** Add `stationarity` to the pn table on the stack top. */
void pnl_open_stationarity(lua_State *L);
/** Add `second_order_gap` to the pn table on the stack top. */
void pnl_open_second_order(lua_State *L);

/** The argument at `index`, checked to be a point of the right size: a vec, a list, or a mat with a row for each class.
 *  A callback may not close it, nor the objective, which stands at 1, while the call runs. */
pn_vec pnl_objective_point(lua_State *L, const pn_objective *objective, int index, const char *who, const char *what);

/* lobjective_bounds.c */
int pnl_objective_bounds(lua_State *L);
void pnl_objective_describe_bounds(const pn_objective *self, char *text, size_t size);

/* lloss_custom.c */
int pnl_loss_glm(lua_State *L);
int pnl_loss_margins(lua_State *L);
/** The option `name` of the table at `options`, left on the stack; NULL when absent. */
const char *pnl_loss_name(lua_State *L, int options, const char *owner);

/* lloss_black_box.c */
int pnl_loss_black_box(lua_State *L);
int pnl_loss_program(lua_State *L);

#endif
