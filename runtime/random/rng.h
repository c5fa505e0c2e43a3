/* rng.h -- the random source.  Every draw of the runtime comes from a `pn_rng`; no other file calls a generator.
 * A stream is ChaCha20 keyed from the operating system (secure) or from a seed (simulated: for teaching and tests, and
 * everything that it touches is marked so).  Not to be shared between threads: give each its own by pn_rng_split.
 * Depends on: core/, libsodium.  Used by: data (synthetic), privacy, continual, solvers.  Spec: noise.md sections 2, 9. */
#ifndef PN_RANDOM_RNG_H
#define PN_RANDOM_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

typedef struct pn_rng pn_rng;

/** A stream keyed by the operating system.  Errors: PN_ENOMEM, PN_EIO when the system gives no randomness. */
pn_status pn_rng_secure(pn_rng **out, pn_err *err);

/** The same stream for the same seed on every platform.  pn_rng_simulated is true for ever.  Errors: PN_ENOMEM. */
pn_status pn_rng_seeded(pn_rng **out, uint64_t seed, pn_err *err);

/** From now on every secure stream of this process draws by a new key of the system's: what anybody may have read of its memory says nothing
 *  of the noise to come.  (Of the noise that was, no key is kept.) */
void pn_rng_renew(void);

/** An independent stream: of a secure parent newly keyed (by draws from one that ranks share, shared_stream.h), of a seeded one derived
 *  from its seed and `stream`, whatever has been drawn from the parent.  Errors: PN_ENOMEM. */
pn_status pn_rng_split(pn_rng **out, const pn_rng *parent, uint64_t stream, pn_err *err);

/** Whether nothing was drawn from this seeded stream yet; false for others. */
bool pn_rng_untouched(const pn_rng *rng);

/** Erases key and buffered stream. */
void pn_rng_free(pn_rng *rng);

/** True when noise from this stream protects nobody. */
bool pn_rng_simulated(const pn_rng *rng);

/** bytes[n]: uniform, independent.  Every draw checks for a fork: the child of a secure stream re-keys before it draws; a
 *  seeded stream goes on as its seed says, in parent and child alike.  Copies of a virtual machine are not noticed. */
void pn_rng_bytes(pn_rng *rng, void *bytes, size_t n);

/** 64 of these bits. */
uint64_t pn_rng_u64(pn_rng *rng);

/** Exactly uniform in [0, n), n >= 1 (Lemire's multiply-high with rejection). */
uint64_t pn_rng_below(pn_rng *rng, uint64_t n);

/** A uniformly random permutation of 0..n-1 (Fisher-Yates). */
void pn_rng_permutation(pn_rng *rng, size_t n, size_t *out);

/* The three below are floating-point transforms: for synthetic data, starts and tests.  Never for private noise. */

/** Uniform in [0, 1) with 53 bits. */
double pn_rng_uniform(pn_rng *rng);

/** out[n]: standard normal numbers. */
void pn_rng_normals(pn_rng *rng, size_t n, double *out);

/** The same law from other draws, at twice the speed from a few hundred numbers on.  The last bits depend on the table of
 *  numeric/simd/simd.h. */
void pn_rng_many_normals(pn_rng *rng, size_t n, double *out);

#endif
