/* child.h -- another program with a pipe to its input and one from its output.
 * It runs in a process group of its own: Ctrl-C at the terminal is for us, who then decide; and what it has started
 * ends with it.  It belongs to the process that started it: in a forked child of ours, ending it only forgets it.
 * Depends on: core/status.h, POSIX (posix_spawn).  Used by: program_loss.c. */
#ifndef PN_OBJECTIVE_CHILD_H
#define PN_OBJECTIVE_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "core/status.h"

typedef struct pn_child {
    pid_t pid, owner;
    int input, output; /* our ends: what it reads, what it writes; do not block */
} pn_child;

/**
 * Start command[0], looked up in PATH, with the words of the NULL-terminated command.  Its errors go where ours go, it
 * inherits no other file of ours that is closed on exec, and no signal is blocked or ignored in it but SIGHUP as we
 * have it.
 * Errors: PN_EIO "cannot be started: ..."; the message has no owner.
 */
pn_status pn_child_start(pn_child *out, const char *const *command, pn_err *err);

/** Whether this process started it. */
bool pn_child_ours(const pn_child *child);

/** As write(2) to its input, with no SIGPIPE: -1 with EAGAIN when the pipe is full, EPIPE when it no longer reads. */
ssize_t pn_child_write(const pn_child *child, const void *bytes, size_t count);

/**
 * Close the pipes, wait up to `patience` seconds for it to exit, then kill it and what it started, and reap it.  `fate`
 * (may be NULL) says how it went: "it ended with exit code 3", "it was ended by signal 11",
 * "it closed its output" (and had to be killed).
 */
void pn_child_end(pn_child *child, double patience, char *fate, size_t size);

#endif
