/* lset.h -- how the parts of the binding of sets open.  Depends on: pnl.h, geometry/convex/set.h.  Used by: lset*.c. */
#ifndef PNL_LSET_H
#define PNL_LSET_H

#include "bindings/core/pnl.h"
#include "geometry/convex/set.h"

/** The set at `index`, or an error. */
pn_set *pnl_check_set(lua_State *L, int index);

/* Around a call that may reach functions of the user's: all arguments survive what those close, Ctrl-C stops them, and
 * they run on the state that is running.  For other sets: nothing. */
void pnl_set_begin(lua_State *L, const pn_set *set);
void pnl_set_end(lua_State *L, const pn_set *set, pn_status status, const pn_err *err); /* raises what status says */

/** A method C:name(v) -> number. */
int pnl_set_number(lua_State *L,
                   pn_status (*number)(const pn_set *set, const double *v, size_t n, double *value, pn_err *err));
/** The box on the top holds a set made of the one at `part`. */
void pnl_set_keep(lua_State *L, int part);

#define PNL_SET_VERTEX_NUMBERS 1e7 /* of a list of vertices that goes between Lua and the library */

/* lset_vertices.c: the options of pn.set.polytope at 1, with a matrix in place of vertices=function(i), count= */
void pnl_set_call_vertices(lua_State *L);

/* lset_custom.c: pn.set.custom and what it takes */
int pnl_set_custom(lua_State *L);
extern const char pnl_set_custom_signature[], pnl_set_custom_doc[];
extern const pn_param pnl_set_custom_params[];

/* lset_algebra.c: operators and methods that make sets of sets */
int pnl_set_mul(lua_State *L);
int pnl_set_unm(lua_State *L);
int pnl_set_add(lua_State *L);
int pnl_set_sub(lua_State *L);
int pnl_set_intersect(lua_State *L);
int pnl_set_product(lua_State *L);
int pnl_set_hull(lua_State *L);
int pnl_set_image(lua_State *L);
int pnl_set_polar(lua_State *L);

/* lset_measure.c: norms, widths and samples of sets */
int pnl_set_radius_in(lua_State *L);
int pnl_set_diameter_in(lua_State *L);
int pnl_set_norm(lua_State *L);
int pnl_set_dual_norm(lua_State *L);
int pnl_set_sample(lua_State *L);
int pnl_set_width(lua_State *L);
/** Add `width` to the pn table on the stack top. */
void pnl_open_width(lua_State *L);

/* lset_print.c */
int pnl_set_tostring(lua_State *L);

#endif
