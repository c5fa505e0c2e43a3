/* keystream.h -- the bytes of ChaCha20 under a key that is used once.
 * Depends on: libsodium, or libcrypto as well where the build asks for it (KEYSTREAM=openssl).  Used by: rng.c. */
#ifndef PN_RANDOM_KEYSTREAM_H
#define PN_RANDOM_KEYSTREAM_H

#include <stdbool.h>
#include <stddef.h>

#define PN_KEYSTREAM_KEY 32

/** Once in a process, before anything else and before it is confined; false when it has no source of bytes. */
bool pn_keystream_start(void);
/** bytes[n] = the stream of ChaCha20 with nonce 0, from block 0; n below 2^38.  The same whatever makes them. */
void pn_keystream(unsigned char *bytes, size_t n, const unsigned char key[PN_KEYSTREAM_KEY]);

#endif
