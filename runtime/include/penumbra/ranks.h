/* ranks.h -- several processes that run the same program and share the work of a pass, over a library of the host's
 * (MPI, say).  The host fills in the table; every rank makes the same calls in the same order.  Results do not depend
 * on the number of ranks.  Depends on: status.h. */
#ifndef PENUMBRA_RANKS_H
#define PENUMBRA_RANKS_H

#include <stddef.h>

#include "penumbra/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_ranks_ops {
    unsigned version; /* PN_RANKS_VERSION */
    const char *name; /* "mpi" */
    size_t (*rank)(void *self);
    size_t (*size)(void *self);
    /* 0, or an error code for `explain`. */
    int (*gather_all)(void *self, void *data, const size_t *offsets /* [size + 1] bytes: rank r's part, in place */);
    int (*broadcast)(void *self, void *data, size_t bytes); /* from rank 0 */
    int (*send)(void *self, size_t to, const void *data, size_t bytes);
    /* Waits for a message of rank `from`, at most `seconds`, without spinning; *bytes is its size, 0 when none came. */
    int (*probe)(void *self, size_t from, double seconds, size_t *bytes);
    int (*receive)(void *self, size_t from, void *data, size_t bytes);
    void (*explain)(void *self, int code, char *text, size_t size);
} pn_ranks_ops;
#define PN_RANKS_VERSION 1

typedef struct pn_ranks pn_ranks;

/** `ops` and `self` must outlive it.  One thread of a process calls it.  Errors: PN_EINVAL for another version of the
 *  table, or ranks that make no sense; PN_ENOMEM. */
pn_status pn_ranks_new(pn_ranks **out, const pn_ranks_ops *ops, void *self, pn_err *err);

void pn_ranks_free(pn_ranks *ranks); /* drops one reference; NULL allowed */

#ifdef __cplusplus
}
#endif

#endif
