/* mutant.h -- deliberate faults that the test suite must catch: each stands beside the line that it breaks.
 * In a normal build PN_MUTANT is the constant false and nothing of this exists.  A build with -DPN_MUTANTS, made by the
 * tests and never installed, turns on the one fault that the environment variable PENUMBRA_MUTANT names.
 * Depends on: libc.  Used by: core/, random/, privacy/, continual/, objective/, oracle/, solvers/, federated/. */
#ifndef PN_CORE_MUTANT_H
#define PN_CORE_MUTANT_H

#include <stdbool.h>

#ifdef PN_MUTANTS
#include <stdlib.h>
#include <string.h>

static inline bool pn_mutant_on(const char *name)
{
    const char *wanted = getenv("PENUMBRA_MUTANT");

    return wanted && strcmp(wanted, name) == 0;
}
#define PN_MUTANT(name) pn_mutant_on(name)
#else
#define PN_MUTANT(name) false
#endif

/* A fault of its own kind: the process ends here, as by kill -9. */
#ifdef PN_MUTANTS
#include <signal.h>
#define PN_CRASH(point) ((void)(pn_mutant_on(point) && raise(SIGKILL)))
#else
#define PN_CRASH(point) ((void)0)
#endif

#endif
