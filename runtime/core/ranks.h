/* ranks.h -- several processes that run the same program and share the work of a pass (MPI, say).
 * The interface holds no library: whoever has one fills in the table (bindings/mpi/ does with MPI).  Every rank makes the same calls in the
 * same order.  Sums do not depend on the number of ranks: a pass is cut into the same chunks, each rank computes some, all get all
 * partial sums and add them in chunk order.
 * Depends on: status.h.  Used by: objective/, federated/. */
#ifndef PN_CORE_RANKS_H
#define PN_CORE_RANKS_H

#include <stddef.h>

#include "core/status.h"

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

/** Errors: PN_EINVAL for another version of the table; PN_ENOMEM. */
pn_status pn_ranks_new(pn_ranks **out, const pn_ranks_ops *ops, void *self, pn_err *err);
pn_ranks *pn_ranks_keep(pn_ranks *ranks);
void pn_ranks_free(pn_ranks *ranks);         /* NULL allowed */
size_t pn_ranks_rank(const pn_ranks *ranks); /* 0 for NULL */
size_t pn_ranks_size(const pn_ranks *ranks); /* 1 for NULL */

/** Rank's share [*begin, *end) of `count` chunks: whole for NULL. */
void pn_ranks_share(const pn_ranks *ranks, size_t count, size_t *begin, size_t *end);
/** data[count] of `bytes` each: every rank has filled in its share, and gets the rest.  Errors: PN_EIO. */
pn_status pn_ranks_complete(const pn_ranks *ranks, void *data, size_t count, size_t bytes, pn_err *err);
pn_status pn_ranks_broadcast(const pn_ranks *ranks, void *data, size_t bytes, pn_err *err);
pn_status pn_ranks_send(const pn_ranks *ranks, size_t to, const void *data, size_t bytes, pn_err *err);
/** *bytes 0: nothing within `seconds`. */
pn_status pn_ranks_probe(const pn_ranks *ranks, size_t from, double seconds, size_t *bytes, pn_err *err);
pn_status pn_ranks_receive(const pn_ranks *ranks, size_t from, void *data, size_t bytes, pn_err *err);

#endif
