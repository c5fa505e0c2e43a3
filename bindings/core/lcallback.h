/* lcallback.h -- how the runtime calls a user's Lua functions: protected, stoppable, their own errors kept, and alive
 * as long as the object that was made of them.  Depends on: pnl.h.  Used by: bindings of losses,
 * sets and potentials of a user's own. */
#ifndef PNL_LCALLBACK_H
#define PNL_LCALLBACK_H

#include "bindings/core/pnl.h"

/* The `self` that the runtime hands to its callbacks: memory of pn_alloc, so that pn_free is its release.  The
 * functions live in the box of the object that they make (a function may mention that object: both can be collected),
 * so whatever else holds a reference to that object in the runtime keeps its box, by pnl_keep. */
typedef struct pnl_callback {
    lua_State *main;
    const char *owner;        /* "set.custom": starts messages; static */
    const char *const *names; /* of the functions, ended by NULL; static */
    unsigned given;           /* bit i: names[i] was given */
} pnl_callback;

/**
 * Take the fields `names` (at most 32) of the table at `options`, each a function or something that can be called, or
 * nil.  Raises "owner: support must be a function, got ...".  The caller pn_frees the result unless the runtime takes
 * it over, and raises nothing before that is settled.
 *   box  the new box of the object, still empty; the runtime may call back from here on.
 */
pnl_callback *pnl_new_callback(lua_State *L, int box, int options, const char *owner, const char *const *names);

/** The same for functions that see only what was released: curated states have them, too. */
pnl_callback *pnl_new_paid_callback(lua_State *L, int box, int options, const char *owner, const char *const *names);

/** pnl_new_callback after pnl_run_begin(L, false), so that the runtime may try the functions while the object is made;
 *  the caller ends the run.  What raises has ended it. */
pnl_callback *pnl_begin_callback(lua_State *L, int box, int options, const char *owner, const char *const *names);

bool pnl_callback_has(const pnl_callback *back, unsigned which);

/* The middle of a call: the function is on the stack top; push arguments, lua_call, read results.  May raise. */
typedef void (*pnl_call_body)(lua_State *L, const pnl_callback *back, unsigned which, void *args);

/**
 * Call function `which` by `body`, on the state of the running call, on the thread that runs Lua
 * (never inside pn_parallel).
 * Errors: PN_ECANCELLED after Ctrl-C, which also interrupts the function;
 * PN_ECALLBACK when anything in body raised: the error
 *         value is kept for pnl_status; PN_ENOMEM.
 */
pn_status pnl_call_back(const pnl_callback *back, unsigned which, pnl_call_body body, void *args, pn_err *err);

/* ---- pieces of bodies ---- */

/** A new pn.vec with the numbers. */
void pnl_push_copy(lua_State *L, const double *numbers, size_t n);
/** The result on the stack top, popped.  Raises "owner: support must return a vector of 3 numbers, got ...", also for
 *  entries that are not finite, with their position; a number may be infinite or NaN,
 *  which is for the caller to refuse. */
double pnl_result_number(lua_State *L, const pnl_callback *back, unsigned which);
bool pnl_result_boolean(lua_State *L, const pnl_callback *back, unsigned which);
void pnl_result_vec(lua_State *L, const pnl_callback *back, unsigned which, double *out, size_t n);
/** The same, but its entries may be infinite or NaN. */
void pnl_result_numbers(lua_State *L, const pnl_callback *back, unsigned which, double *out, size_t n);

/* ---- whole calls: one vector in (a copy), one result out ---- */

pn_status pnl_call_for_vec(const pnl_callback *back, unsigned which, const double *x, size_t n, double *out,
                           size_t out_n, pn_err *err); /* out may be x; untouched on failure */
pn_status pnl_call_for_number(const pnl_callback *back, unsigned which, const double *x, size_t n, double *out,
                              pn_err *err);
pn_status pnl_call_for_boolean(const pnl_callback *back, unsigned which, const double *x, size_t n, bool *out,
                               pn_err *err);

#endif
