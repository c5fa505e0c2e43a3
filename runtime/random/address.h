/* address.h -- noise that has an address: the same place under the same key is the same stream, whenever and in
 * whatever order it is asked for.  So a vector of noise can be drawn once, forgotten,
 * and drawn again instead of being kept.
 * Depends on: rng.h.  Used by: continual/, objective/ (directions), federated/.
 * See tree-mechanism.md section 2.1. */
#ifndef PN_RANDOM_ADDRESS_H
#define PN_RANDOM_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "random/rng.h"

#define PN_ADDRESS_KEY_BYTES 32
#define PN_ADDRESS_WORDS     4

/* Plain bytes, so that they can be kept in a file; whoever has them has the noise. */
typedef struct pn_address_key {
    unsigned char bytes[PN_ADDRESS_KEY_BYTES];
    bool simulated;
} pn_address_key;

/** A key drawn from `rng` (32 bytes of its stream). */
void pn_address_key_draw(pn_address_key *key, pn_rng *rng);
void pn_address_key_erase(pn_address_key *key);
/** The key that everybody makes of `words` [count], at most 8: public randomness, simulated for ever.  Another
 *  `purpose`, at most 16 characters, is another key. */
void pn_address_key_public(pn_address_key *key, const char *purpose, const uint64_t *words, size_t count);

/** A stream to be put to addresses of `key`, in guarded memory unless the key is simulated; free with pn_rng_free.
 *  Errors: as pn_rng_secure. */
pn_status pn_rng_for_key(pn_rng **out, const pn_address_key *key, pn_err *err);

/**
 * Make `rng` the stream at address[4] under `key`, from its beginning; it is simulated when the key is.  What was
 * left in `rng` is lost.  A stream that was simulated when it was made lies in plain memory, where no secret may be:
 * for a key that is not simulated give one of pn_rng_for_key or a secure one.  One hash: about 0.3 us.
 *   words  about how many words will be drawn, public: what is generated at once.  It is part of the address: another
 *          number is another stream.
 * A fork does not change what stands at an address: whoever draws noise by address refuses to go on in a child process.
 */
void pn_rng_address(pn_rng *rng, const pn_address_key *key, const uint64_t address[PN_ADDRESS_WORDS], size_t words);

/** How often in this process a secret key met a stream in plain memory: 0, or a caller above is wrong.  Every C test
 *  asks at its end (tests/check.h). */
size_t pn_rng_exposed(void);

#endif
