/* ranks.h -- several processes that run the same program and share the work of a pass (MPI, say).
 * The interface holds no library: whoever has one fills in the table (bindings/mpi/ does with MPI).  Every rank makes
 * the same calls in the same order.  Sums do not depend on the number of ranks: a pass is cut into the same chunks,
 * each rank computes some, all get all partial sums and add them in chunk order.
 * Depends on: status.h.  Used by: random/, objective/, federated/, bindings. */
#ifndef PN_CORE_RANKS_H
#define PN_CORE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "penumbra/ranks.h"

pn_ranks *pn_ranks_keep(pn_ranks *ranks);
size_t pn_ranks_rank(const pn_ranks *ranks); /* 0 for NULL */
size_t pn_ranks_size(const pn_ranks *ranks); /* 1 for NULL */
const char *pn_ranks_name(const pn_ranks *ranks);

/* ---- one piece of work for all: a share of its chunks each ---- */

/** Rank's share [*begin, *end) of `count` chunks: whole for NULL.  Rank 0 has chunk 0. */
void pn_ranks_share(const pn_ranks *ranks, size_t count, size_t *begin, size_t *end);
/** Which of n records [*begin, *end) rank has to have, so that it has its share of any cut into chunks of at most n /
 *  32 + 4096 of them, or `most` where that is more: whole for NULL, and where that may be one chunk.  Unless all ranks
 *  have all records none does. */
void pn_ranks_hold(const pn_ranks *ranks, size_t n, size_t most, size_t *begin, size_t *end);

/* What a chunk leaves behind. */
typedef struct pn_ranks_part {
    void *data;           /* chunk c's part is at data + c * bytes; NULL: nothing here */
    size_t bytes;         /* of one chunk */
    size_t total;         /* of all chunks, when the last has less; 0: count * bytes */
    size_t times, stride; /* so many arrays like that, `stride` bytes apart; 0: one */
    void *head;           /* chunk 0's part when it is elsewhere: data begins with chunk 1; else NULL */
} pn_ranks_part;

/**
 * Begin to work on a share, which ends with pn_ranks_complete: what calls back into the same work meanwhile is on its
 * own (false: there is nobody to share with, or a share is being worked on).
 */
bool pn_ranks_enter(pn_ranks *ranks);
/**
 * Every rank has worked on its share, with success or without (`mine`), and gets the parts of the others;
 * all succeed or all fail.
 *   cut   [size + 1] the first chunk of each rank, from 0 to `count`, the same on all ranks; of a part with a head
 *         rank 0 has chunk 0.  NULL: the shares of pn_ranks_share.
 *   what  the same on all ranks when they do the same: a digest of arguments, by pn_ranks_digest.
 * Errors: `mine`, with err as it is; what another rank failed with, its number before the message
 * (PN_EIO for its PN_ECALLBACK, whose error value is over there); PN_EIO when the ranks are at different calls,
 * or by the table.
 */
pn_status pn_ranks_complete(pn_ranks *ranks, size_t count, const size_t *cut, const pn_ranks_part *parts,
                            size_t part_count, uint64_t what, pn_status mine, pn_err *err);
/** Mix numbers into a digest, by their bits. */
uint64_t pn_ranks_digest(uint64_t digest, const double *x, size_t count);
uint64_t pn_ranks_digest_word(uint64_t digest, uint64_t more);

/** data[bytes] of rank 0 for all.  Errors: PN_EIO. */
pn_status pn_ranks_broadcast(const pn_ranks *ranks, void *data, size_t bytes, pn_err *err);

/* ---- messages between two ---- */

/** data[bytes] to rank `to`, from 0.  Errors: PN_EINVAL for a rank that there is not; PN_EIO. */
pn_status pn_ranks_send(const pn_ranks *ranks, size_t to, const void *data, size_t bytes, pn_err *err);
/** The size of the next message of rank `from`; *bytes 0: nothing within `seconds`.  Errors likewise. */
pn_status pn_ranks_probe(const pn_ranks *ranks, size_t from, double seconds, size_t *bytes, pn_err *err);
/** The next message of rank `from`, of exactly `bytes`, into data.  Errors likewise. */
pn_status pn_ranks_receive(const pn_ranks *ranks, size_t from, void *data, size_t bytes, pn_err *err);

#endif
