/* progress.h -- the frame around a long call into the runtime: it can be stopped, and it shows how far it is.
 * Depends on: pnl.h.  Used by: bindings whose calls take long (loaders, solvers), the program's Ctrl-C. */
#ifndef PNL_PROGRESS_H
#define PNL_PROGRESS_H

#include "bindings/core/pnl.h"

/**
 * Begin a long call: forget an earlier cancel of the module's task, let Ctrl-C in the program stop it,
 * and listen to its
 * progress.  May raise (memory), so call it before the runtime holds anything that no box owns.  Every begin needs its
 * pnl_run_end, before pnl_status and with no Lua call between that can raise.  Frames nest: a callback may start a run
 * of its own; what stops the outer one also stops the inner one.
 *   progress  true: a bar on stderr when that is a terminal and the work has lasted 0.3 s; false: silence.
 */
void pnl_run_begin(lua_State *L, bool progress);

/**
 * As pnl_run_begin, by what a user gave as `progress=`: nil or true asks for the bar, false for silence, and a function
 * is called as f(done, total, label, value, spent) under a protected call, at most fifty times a second; what is not
 * known is nil.
 * An error in it stops the work with PN_ECALLBACK and reaches the user as their own value through pnl_status.
 *   owner  "solve.frank_wolfe", for the message when the value is something else.
 */
void pnl_run_begin_at(lua_State *L, int index, const char *owner);

/** Let work that is handed no task (core/stop.h) stop with the frame that was just begun, until it ends. */
void pnl_run_lend_task(lua_State *L);

/** End the frame: clear the bar, forget a cancel, hand the task back to the outer frame.  Never raises. */
void pnl_run_end(lua_State *L);

/** The state that began the innermost frame; L itself when there is none.  For callbacks that the runtime makes. */
lua_State *pnl_run_state(lua_State *L);

/** Whether a frame is open: runtime callbacks that may come at any time call Lua only then. */
bool pnl_run_active(lua_State *L);

/** Take the bar off the screen until the next report draws it again: for who prints while a call runs. */
void pnl_run_hide_bar(lua_State *L);
/** Let the global `print` of a program's own state hide the bar first. */
void pnl_run_print_beside_bar(lua_State *L);

/** From now on show(ud, line) has the bar, also without a terminal, with an empty line to take it away; it does not
 *  raise. */
void pnl_run_show_bar(lua_State *L, void (*show)(void *ud, const char *line), void *ud);

/** Say that the innermost frame is around Lua code, which nothing but the interpreter can stop at once. */
void pnl_run_mark_lua(lua_State *L);

/** Preload the module penumbra.frame, for the Lua half: frame(label, total, progress, body) opens a frame around
 *  body(tell), in which tell(done, value) reports and raises when the work is to stop. */
void pnl_open_frame(lua_State *L);

/* What stops the calls of one Lua state from outside of it. */
typedef struct pnl_run_stop pnl_run_stop;

/** The state's, which lives as long as the state.  May raise (memory) the first time. */
pnl_run_stop *pnl_run_stopper(lua_State *L);
/** Stop the call that is running.  False when none is, or when it is Lua code in a frame, which sees it at its next
 *  report only: then interrupt the interpreter as well.  Safe in a signal handler and from any thread. */
bool pnl_run_cancel(pnl_run_stop *stop);

#endif
