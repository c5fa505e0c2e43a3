/* shared_stream.h -- one secure stream for several processes that do the same (core/ranks.h): all draw the same noise,
 * so that all hold the same model.  All ranks are one curator: who sees the memory of any of them,
 * or what passes between them, has the noise.
 * Depends on: core/ranks.h, rng.h.  Used by: solvers, bindings. */
#ifndef PN_RANDOM_SHARED_STREAM_H
#define PN_RANDOM_SHARED_STREAM_H

#include "core/ranks.h"
#include "random/rng.h"

/**
 * Every rank calls it, and gets the stream that the operating system of rank 0 has keyed; not simulated.  The ranks
 * stay together as long as they make the same draws in the same order.
 * A split of it is keyed by its next draws: every rank has to make it, too.
 * Errors: PN_ENOMEM; PN_EIO when the system gives no randomness, or of the ranks.
 */
pn_status pn_rng_shared(pn_rng **out, pn_ranks *ranks, pn_err *err);
/** Whether it is one, or a split of one. */
bool pn_rng_is_shared(const pn_rng *rng);

#endif
