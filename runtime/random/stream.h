/* stream.h -- the inside of a pn_rng, for the samplers that draw word after word: ready words in bulk, single words
 * without a call, and a second stream for the rare draws that need more bits than their word had.  With the extra words
 * elsewhere, draw j of a fill comes from the same words whether a loop takes one at a time or eight.
 * Depends on: rng.h.  Used by: rng.c, noise*.c, selection.c, sample.c; not installed. */
#ifndef PN_RANDOM_STREAM_H
#define PN_RANDOM_STREAM_H

#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#include "random/rng.h"
#include "random/secret.h"

#define PN_KEY_BYTES    32
#define PN_REFILL_BYTES 65536
#define PN_EXTRA_BYTES  4096

/* Fill bytes[n] with the keystream of a key that is used for nothing else.  Another cipher needs only this. */
typedef void (*pn_keystream_fn)(unsigned char *bytes, size_t n, const unsigned char key[PN_KEY_BYTES]);

struct pn_rng {
    pn_secret memory; /* that holds all of this */
    pn_keystream_fn fill;
    unsigned generation; /* of the process that keyed it, see pn_process_generation */
    pid_t owner;         /* 0: an address, which is the same for everybody */
    bool simulated;
    bool shared;                     /* by several processes: splits are keyed by draws, which all make */
    size_t refill, refill_extra;     /* bytes generated at once: the ends of the buffers */
    size_t next, next_extra;         /* first unused byte of the buffers */
    unsigned char key[PN_KEY_BYTES]; /* of the next refill */
    unsigned char extra_key[PN_KEY_BYTES];
    unsigned char root[PN_KEY_BYTES]; /* seeded: what splits derive from; else zero */
    unsigned char straddling[8];      /* a word that began in one refill and ended in the next */
    unsigned char buffer[PN_REFILL_BYTES];
    unsigned char extra[PN_EXTRA_BYTES];
};

#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif
extern atomic_uint pn_process_generation;

uint64_t pn_stream_slow_word(pn_rng *rng); /* what pn_stream_word does when it cannot go on */

/** The next words of the main stream: the address of *got of them, 1 <= *got <= want, 8 little-endian bytes each.  They
 *  are consumed; the address holds until the next draw.  The caller has called pn_stream_enter. */
const unsigned char *pn_stream_words(pn_rng *rng, size_t want, size_t *got);

/** One word of the second stream. */
uint64_t pn_stream_extra(pn_rng *rng);

/** Notice a fork, one made without the handlers too.  At the entry of every fill. */
void pn_stream_enter(pn_rng *rng);
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

/* Little-endian on every platform; compilers do not see a plain load in the loop of bytes. */
static inline uint64_t pn_load_word(const unsigned char bytes[8])
{
    uint64_t x = 0;

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    memcpy(&x, bytes, sizeof x);
#else
    for (int i = 0; i < 8; i++)
        x |= (uint64_t)bytes[i] << (8 * i);
#endif
    return x;
}

/** k or -k, without a branch: half of all signs would be predicted wrongly. */
static inline int64_t pn_with_sign(int64_t k, bool negative)
{
    return (k ^ -(int64_t)negative) + (int64_t)negative;
}

/** pn_rng_u64, inline. */
static inline uint64_t pn_stream_word(pn_rng *rng)
{
    if (rng->generation == atomic_load_explicit(&pn_process_generation, memory_order_relaxed) &&
        PN_REFILL_BYTES - rng->next >= 8) {
        rng->next += 8;
        return pn_load_word(rng->buffer + rng->next - 8);
    }
    return pn_stream_slow_word(rng);
}

#endif
