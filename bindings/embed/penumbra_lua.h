/* penumbra_lua.h -- Penumbra in a host's Lua: open the module in any state, or let Penumbra make a state with limits,
 * run scripts in it, and give untrusted scripts of analysts to a curator.  There is no state outside of the objects
 * here: as many hosts as a program likes may run in as many threads, each in one thread at a time.
 * Depends on: Lua 5.4, penumbra.h.  Used by: programs outside this tree (examples/embed),
 * bindings/host*.c, bindings/curator*.c. */
#ifndef PENUMBRA_LUA_H
#define PENUMBRA_LUA_H

#include <stddef.h>
#include <stdint.h>

#include <lua.h>

#include "penumbra.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what is declared here is shown; the rest of the library hides */
#endif

/** Make `require "penumbra"` work in a state of the host's own, without any file: the Lua half is in the library.
 *  Lua's libraries have to be open there when it is used (luaL_openlibs), but for debug.  Raises (memory).
 *  Leaves the stack as it was. */
void pnl_open(lua_State *L);

/* ---- a state with limits ---- */

typedef struct pnl_host pnl_host;

/* Told of a run's progress on the thread that runs it.  A status other than PN_OK stops what is being computed, which
 * the script sees as an error. */
typedef pn_status (*pnl_host_progress)(void *self, const pn_progress *progress, pn_err *err);

/* One piece of text, without a newline at its end: what a script prints (print, plots, help; its own io.write goes to
 * stdout), or what it or the library warns of.  Both callbacks are called on the thread that runs the script and must
 * return: no longjmp, no lua_error. */
typedef enum pnl_host_channel { PNL_OUTPUT = 0, PNL_WARNING } pnl_host_channel;
typedef void (*pnl_host_log)(void *self, pnl_host_channel channel, const char *text, size_t size);

/* All zero: no limits, all processors, print goes to stdout and warnings to stderr. */
typedef struct pnl_host_options {
    size_t memory_bytes; /* of Lua and of the runtime together; 0: no limit */
    double seconds;      /* of wall clock for each run; 0: no limit */
    /* of Lua's machine for each run, coroutines included, to within some hundreds; 0: no limit */
    uint64_t instructions;
    unsigned threads;           /* of the runtime; 0: one per processor, 1: none but the caller's */
    pnl_host_progress progress; /* NULL: a bar on stderr where that is a terminal, as scripts ask for */
    pnl_host_log log;
    void *self; /* handed to both, kept */
} pnl_host_options;

/**
 * A Lua state with the standard libraries and `penumbra` as the global pn.
 * What is different from a plain state: load, loadfile and dofile take source text only; os.exit is refused; of `debug`
 * only traceback, getinfo, getlocal and gethook are there; and, with a limit of time or instructions, setmetatable
 * refuses a metatable with __gc, since Lua runs finalizers where no limit reaches.  One call into Lua's own C library
 * is not interrupted: io.read waits, and a pattern of many repetitions may take long (string.find and its like).
 * Counting instructions halves the speed of Lua's own loops, and costs those of the runtime nothing.  A finished call
 * to the runtime that was short of memory is not tried again, so a script may see "out of memory" while dead objects
 * wait for the collector; the next objects that are made find room.  Memory: all of Lua's, and what the runtime
 * allocates in pnl_host_new, _run, _call and _free on this thread and its helpers; not what BLAS, zlib or ZeroMQ take
 * for themselves, nor what the callbacks take.
 *   options  borrowed; NULL means all zero.
 * Errors:   PN_EINVAL for limits that make no sense (negative or not finite seconds, memory below 4 MiB); PN_ENOMEM.
 */
pn_status pnl_host_new(pnl_host **out, const pnl_host_options *options, pn_err *err);
/** NULL is allowed.  Not while a run is going on. */
void pnl_host_free(pnl_host *host);

/** The state, borrowed: to register functions, set globals, read results.  Outside of pnl_host_run nothing is limited
 *  but memory, and what raises there has nobody to catch it unless the host calls by lua_pcall. */
lua_State *pnl_host_state(pnl_host *host);

/**
 * Compile and run a chunk of source text (binary chunks are refused); what it returns is left on the state's stack.
 *   name     of the chunk, for messages: "report.lua".
 *   results  NULL, or where the number of values left on the stack goes.  On an error the stack is as it was.
 * Errors:   PN_ECALLBACK with the script's message and a traceback; PN_EINVAL for a syntax error,
 * and while a run is going on;
 *           PN_ENOMEM when memory or its limit ran out; PN_ECANCELLED for pnl_host_cancel;
 *               PN_ELIMIT when a limit of time or
 *           instructions was reached: the message says which and how much.
 *               The state can be used again after all of them.
 */
pn_status pnl_host_run(pnl_host *host, const char *code, size_t size, const char *name, int *results, pn_err *err);

/**
 * Call the function below `arguments` values on the state's stack, in the same way; `results` values (or LUA_MULTRET)
 * are left there, none on an error.  Errors: as pnl_host_run.
 */
pn_status pnl_host_call(pnl_host *host, int arguments, int results, pn_err *err);

/** The whole message of the last failure, which pn_err may have cut, with its traceback; "" when there was none.
 *  Until the next call. */
const char *pnl_host_message(const pnl_host *host);

/** Stop the run that is going on, if any.  From any thread, also from a signal handler. */
void pnl_host_cancel(pnl_host *host);

/** Bytes in use by Lua and the runtime for this host, and the most that there have been; either may be NULL. */
void pnl_host_memory(const pnl_host *host, size_t *used, size_t *peak);

/* ---- a curator: untrusted scripts over private records ---- */

typedef struct pnl_curator pnl_curator;

/**
 * A curator answers scripts of analysts that it does not trust: they see what was paid for from `ledger` and public
 * facts, nothing else.  CURATOR.md is the threat model (installed in share/doc/penumbra).
 *   limits  borrowed; all three limits must be set.  log hears what a script printed when it ends (NULL: nobody does),
 *           and nothing of one that the limit of time or the host stopped: how far it got would be a clock.
 *   ledger  a reference of its own is taken; may be shared by curators in several threads.  One for "add_remove"
 *           neighbours is refused, since scripts see how many records there are; so is one for teaching,
 *           which accepts noise that protects nobody.
 * Errors:   PN_EINVAL when a limit is missing, and for such ledgers; PN_ENOMEM.
 */
pn_status pnl_curator_new(pnl_curator **out, const pnl_host_options *limits, pn_ledger *ledger, pn_err *err);
/** NULL is allowed. */
void pnl_curator_free(pnl_curator *curator);

/** Register a data set, which scripts then find as data.NAME.  `data` is kept: must outlive the curator.  Its sizes,
 *  what is enforced of it, and whether its labels are all -1 or 1 are public from then on.  Errors: PN_EINVAL for a
 *  name that is no Lua name or is taken, or a data set without an enforced bound on its rows (clip_rows);
 *  PN_ENOMEM.  Not while a script runs. */
pn_status pnl_curator_data(pnl_curator *curator, const char *name, const pn_dataset *data, pn_err *err);

/**
 * Which program runs the scripts.  Each script runs in a process of its own: `penumbra` with the records mapped for
 * reading and locked but while the library computes from them, without the ledger, its key, other scripts' answers or
 * anything of the host's memory, files and environment; where the system is Linux it may then make no system calls but
 * for memory, time and its pipe.  A charge is made here before the process draws the noise for it.
 * A memory error ends that process, and nothing else.
 *   program  path of `penumbra`, of the version of this library; NULL, as at first: looked for in the folder of this
 *            library and those above it, and in their bin/.
 * Errors: PN_ENOMEM.
 */
pn_status pnl_curator_program(pnl_curator *curator, const char *program, pn_err *err);
/** Run scripts in this process instead, each in a state of its own, where the host cannot start others: what then
 *  stands between a script and the host's memory is the code of this library and of Lua alone. */
void pnl_curator_in_process(pnl_curator *curator, bool here);

/**
 * Run a script in a fresh state: nothing is left of the scripts before but what they spent.
 *   answer   where the text of what the script returned goes (tostring of each value, by tabs), or NULL; owned by the
 *            caller: pn_free.  Control characters are shown as \xHH, there, in messages and in what is printed.
 * Errors:    those of pnl_host_run; the message is fit to be shown to the analyst.
 * PN_EPRIVACY for a call that is not there for
 *            analysts, PN_EBUDGET for a budget that does not suffice, and other statuses of the runtime as they are.
 */
pn_status pnl_curator_run(pnl_curator *curator, const char *code, size_t size, const char *name, char **answer,
                          pn_err *err);
/** Stop the script that runs.  From any thread. */
void pnl_curator_cancel(pnl_curator *curator);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
