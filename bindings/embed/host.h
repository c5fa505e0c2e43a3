/* host.h -- the inside of a pnl_host: one Lua state, its account of memory, its limits.
 * Depends on: penumbra_lua.h, pnl.h.  Used by: host*.c, curator*.c. */
#ifndef PNL_HOST_H
#define PNL_HOST_H

#include <stdatomic.h>

#include "bindings/core/pnl.h"
#include "bindings/embed/penumbra_lua.h"
#include "core/account.h"

/* Why a run must end. */
typedef enum pnl_stop { PNL_GOES_ON = 0, PNL_STOP_CANCELLED, PNL_STOP_TIME, PNL_STOP_INSTRUCTIONS } pnl_stop;

#define PNL_WARNING_MAX 2048

struct pnl_host {
    pnl_host_options options;
    pn_account *account, *outer; /* outer: what the caller's thread charges outside of this host */
    lua_State *L;
    pn_task *task;        /* the module's */
    atomic_int cancelled; /* by any thread */
    atomic_int running;

    /* Of the run that goes on; its thread alone touches them. */
    pnl_stop stop;
    bool decided;                     /* how the run ends: no limit changes it any more */
    uint64_t instructions, uncounted; /* so far; of charges that are too small to look at the clock for */
    double deadline;                  /* seconds on the monotonic clock; infinity: none */
    int grain;                        /* instructions between two looks */
    pn_status failure;                /* of the runtime, when that is the error */

    char *message;            /* of the last failure, in full, by pn_alloc; NULL where there was no memory for it */
    char summary[PN_ERR_MAX]; /* of the last failure, as pn_err has it; "" when there was none */
    char warning[PNL_WARNING_MAX];
    size_t warning_size;
    bool warns, warning_cut;
};

/** The host whose state this is, or NULL. */
pnl_host *pnl_host_of(lua_State *L);

/* ---- limits (host_limits.c) ---- */

/** Let the hook count instructions, in the main coroutine and in all that will be made. */
void pnl_host_set_hook(pnl_host *host);
/** Start the clocks of a run. */
void pnl_host_start(pnl_host *host);
/** Charge instructions for work in C; raises when a limit is reached.  Nothing in other states. */
void pnl_host_charge(lua_State *L, uint64_t instructions);
/** See whether a limit is reached by now; PNL_GOES_ON or why the run must end. */
pnl_stop pnl_host_look(pnl_host *host);
/** The last such look of a run: whatever it says, no limit that is reached later, and no cancel,
 *  ends the run otherwise. */
pnl_stop pnl_host_decide(pnl_host *host);
/** "the limit of 2 seconds was reached" */
void pnl_host_stop_text(const pnl_host *host, char *text, size_t size);

/* ---- the standard libraries (host_guards.c, host_log.c) ---- */

/** Replace what would escape limits, end the process or run bytecode. */
void pnl_host_guard_libraries(lua_State *L);
/** print and warn go to the host. */
void pnl_host_open_log(pnl_host *host);

#endif
