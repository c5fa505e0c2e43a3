/* address.h -- noise that has an address: the same place under the same key is the same stream, whenever and in
 * whatever order it is asked for.  So a vector of noise can be drawn once, forgotten,
 * and drawn again instead of being kept.
 * Depends on: rng.h.  Used by: continual/, objective/ (directions), federated/.
 * Spec: tree-mechanism.md section 2.1. */
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

/**
 * Make `rng` the stream at address[4] under `key`, from its beginning; it is simulated when the key is.  Any pn_rng
 * will do; what was left in it is lost.  One hash: about 0.3 us.
 *   words  about how many words will be drawn, public: what is generated at once.  It is part of the address: another
 *          number is another stream.
 * A fork does not change what stands at an address: whoever draws noise by address refuses to go on in a child process.
 */
void pn_rng_address(pn_rng *rng, const pn_address_key *key, const uint64_t address[PN_ADDRESS_WORDS], size_t words);

#endif
