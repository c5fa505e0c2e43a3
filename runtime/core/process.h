/* process.h -- which process this is, asked at every draw, charge and parallel loop: what one process has paid for is
 * not drawn by another.
 * Depends on: nothing.  Used by: core/task.c, random, continual, privacy, bindings. */
#ifndef PN_CORE_PROCESS_H
#define PN_CORE_PROCESS_H

#include <sys/types.h>

/** The process's number, as getpid() has it, in the time of a load: kept on a page that the kernel empties in a child,
 *  whichever way it was made. */
pid_t pn_process(void);

#endif
