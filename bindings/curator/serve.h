/* serve.h -- the process that runs one script of somebody's who is not trusted.
 * Depends on: libc.  Used by: main.c (penumbra --curated), serve.c, confine.c. */
#ifndef PNL_CURATOR_SERVE_H
#define PNL_CURATOR_SERVE_H

#include <stdbool.h>

#include "core/status.h"

#define PNL_SERVE_DESCRIPTOR 3 /* where the curator's socket is */

/** Run the script that the curator at PNL_SERVE_DESCRIPTOR sends, answer, and end the process;
 *  returns an exit status where there is no curator. */
int pnl_serve(void);

/**
 * Give up what a script does not need, for the rest of the process: core dumps, privileges, being looked into by others
 * and, on Linux, all system calls but those for memory, time, random bytes and the descriptors that are open.
 *   threads  whether threads may still be started.
 * Errors: PN_EUNSUPPORTED when the system refuses to take them away.
 */
pn_status pnl_confine(bool threads, pn_err *err);

#endif
