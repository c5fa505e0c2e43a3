/* rng.h -- the random source.  A stream is ChaCha20, keyed from the operating system (secure) or from a seed
 * (simulated: for teaching and tests; everything that it touches says that it protects nobody).  One thread uses a
 * stream at a time: pn_rng_split gives others.  Depends on: status.h. */
#ifndef PENUMBRA_RNG_H
#define PENUMBRA_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "penumbra/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_rng pn_rng;

/** A stream keyed by the operating system.  Errors: PN_ENOMEM, PN_EIO when the system gives no randomness. */
pn_status pn_rng_secure(pn_rng **out, pn_err *err);

/** The same stream for the same seed on every platform.  pn_rng_simulated is true for ever.  Errors: PN_ENOMEM. */
pn_status pn_rng_seeded(pn_rng **out, uint64_t seed, pn_err *err);

/** An independent stream: of a secure parent newly keyed (by draws from one that ranks share, shared_stream.h), of a
 *  seeded one derived from its seed and `stream`, whatever has been drawn from the parent.  Errors: PN_ENOMEM. */
pn_status pn_rng_split(pn_rng **out, const pn_rng *parent, uint64_t stream, pn_err *err);

/** Erases key and buffered stream. */
void pn_rng_free(pn_rng *rng);

/** True when noise from this stream protects nobody. */
bool pn_rng_simulated(const pn_rng *rng);

/** Exactly uniform in [0, n), n >= 1 (Lemire's multiply-high with rejection). */
uint64_t pn_rng_below(pn_rng *rng, uint64_t n);

/* The two below are floating-point transforms: for synthetic data, starts and tests.  Never for private noise. */

/** Uniform in [0, 1) with 53 bits. */
double pn_rng_uniform(pn_rng *rng);

/** out[n]: standard normal numbers. */
void pn_rng_normals(pn_rng *rng, size_t n, double *out);

#ifdef __cplusplus
}
#endif

#endif
