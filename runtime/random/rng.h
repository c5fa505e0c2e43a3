/* rng.h -- the random source.  Every draw of the runtime comes from a `pn_rng`; no other file calls a generator.
 * A stream is ChaCha20 keyed from the operating system (secure) or from a seed (simulated: for teaching and tests, and
 * everything that it touches is marked so).  Not to be shared between threads: give each its own by pn_rng_split.
 * Depends on: core/, libsodium.  Used by: data (synthetic), privacy, continual, solvers.
 * See noise.md sections 2, 9. */
#ifndef PN_RANDOM_RNG_H
#define PN_RANDOM_RNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "penumbra/rng.h"

/** From now on every secure stream of this process draws by a new key of the system's: what anybody may have read of
 *  its memory says nothing of the noise to come.  (Of the noise that was, no key is kept.) */
void pn_rng_renew(void);

/** Whether nothing was drawn from this seeded stream yet; false for others. */
bool pn_rng_untouched(const pn_rng *rng);

/** bytes[n]: uniform, independent.  Every draw checks for a fork: the child of a secure stream re-keys before it draws;
 *  a seeded stream goes on as its seed says, in parent and child alike.
 *  Copies of a virtual machine are not noticed. */
void pn_rng_bytes(pn_rng *rng, void *bytes, size_t n);

/** 64 of these bits. */
uint64_t pn_rng_u64(pn_rng *rng);

/** A uniformly random permutation of 0..n-1 (Fisher-Yates). */
void pn_rng_permutation(pn_rng *rng, size_t n, size_t *out);

/** pn_rng_normals from other draws, at twice the speed from a few hundred numbers on.  The last bits depend on the
 *  table of numeric/simd/simd.h. */
void pn_rng_many_normals(pn_rng *rng, size_t n, double *out);

#endif
