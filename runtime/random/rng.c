/* rng.c -- streams of ChaCha20 with fast key erasure: every refill spends the key and its first 32 bytes are the next one,
 * so what has been drawn cannot be recomputed from what is in memory.  Integers come from the bytes little-endian, so a
 * seed means the same draws on every platform.
 * Depends on: rng.h, core/, libsodium, POSIX threads (once, atfork).  Used by: every draw of the runtime. */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "random/rng.h"

#define KEY_BYTES    32
#define REFILL_BYTES 65536

/* Fill bytes[n] with the keystream of a key that is used for nothing else.  Another cipher needs only this. */
typedef void (*keystream_fn)(unsigned char *bytes, size_t n, const unsigned char key[KEY_BYTES]);

struct pn_rng {
    keystream_fn fill;
    unsigned generation; /* of the process that keyed it, see process_generation */
    pid_t owner;
    bool simulated;
    size_t next;                   /* first unused byte of the buffer */
    unsigned char key[KEY_BYTES];  /* of the next refill */
    unsigned char root[KEY_BYTES]; /* seeded: what splits derive from; else zero */
    unsigned char buffer[REFILL_BYTES];
};

static void chacha20_fill(unsigned char *bytes, size_t n, const unsigned char key[KEY_BYTES])
{
    static const unsigned char nonce[crypto_stream_chacha20_NONCEBYTES] = { 0 }; /* a key is used once */

    crypto_stream_chacha20(bytes, n, nonce, key);
}

/* ---- forks ----
 * A child inherits every buffer, and two processes that draw the same noise reveal the difference of their answers.  So
 * every call compares a counter that a fork handler advances in the child: one load, where asking the kernel for the pid
 * would cost more than the draw.  Fills and refills compare the pid as well, for a child made without the handlers.  The
 * counter is the one mutable global: it describes the process, which is global. */
static atomic_uint process_generation;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static pn_status process_status;

static void advance_generation(void)
{
    atomic_fetch_add_explicit(&process_generation, 1, memory_order_relaxed);
}

static void prepare_process(void)
{
    if (sodium_init() < 0)
        process_status = PN_EIO;
    else if (pthread_atfork(NULL, NULL, advance_generation) != 0)
        process_status = PN_ENOMEM;
}

static void discard_buffer(pn_rng *rng)
{
    sodium_memzero(rng->buffer, sizeof rng->buffer);
    rng->next = REFILL_BYTES;
}

/* A seeded stream stays what its seed says, in a child too. */
static void take_over(pn_rng *rng)
{
    rng->generation = atomic_load_explicit(&process_generation, memory_order_relaxed);
    rng->owner = getpid();
    if (rng->simulated)
        return;
    randombytes_buf(rng->key, KEY_BYTES);
    discard_buffer(rng);
}

static inline void check_generation(pn_rng *rng)
{
    if (rng->generation != atomic_load_explicit(&process_generation, memory_order_relaxed))
        take_over(rng);
}

static void check_process(pn_rng *rng)
{
    check_generation(rng);
    if (rng->owner != getpid())
        take_over(rng);
}

static void refill(pn_rng *rng)
{
    check_process(rng);
    rng->fill(rng->buffer, REFILL_BYTES, rng->key);
    memcpy(rng->key, rng->buffer, KEY_BYTES);
    sodium_memzero(rng->buffer, KEY_BYTES);
    rng->next = KEY_BYTES;
}

/* ---- making ---- */

static pn_status new_stream(pn_rng **out, pn_err *err)
{
    pn_rng *rng;

    (void)pthread_once(&process_once, prepare_process);
    if (process_status == PN_EIO)
        return pn_fail(err, PN_EIO, "rng: libsodium could not start; the system gives no randomness");
    rng = process_status == PN_OK ? pn_calloc(1, sizeof *rng) : NULL;
    if (!rng)
        return pn_fail(err, PN_ENOMEM, "rng: not enough memory for a stream of %zu bytes", sizeof *rng);
    rng->fill = chacha20_fill;
    rng->generation = atomic_load_explicit(&process_generation, memory_order_relaxed);
    rng->owner = getpid();
    rng->next = REFILL_BYTES;
    *out = rng;
    return PN_OK;
}

static void store_little_endian(unsigned char bytes[8], uint64_t x)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(x >> (8 * i));
}

/* root = key = BLAKE2b-256(message), under a personal string that no other use shares. */
static void key_from(pn_rng *rng, const unsigned char *message, size_t n, const char *purpose)
{
    unsigned char personal[crypto_generichash_blake2b_PERSONALBYTES] = { 0 };

    memcpy(personal, purpose, strlen(purpose));
    (void)crypto_generichash_blake2b_salt_personal(rng->root, KEY_BYTES, message, n, NULL, 0, NULL, personal);
    memcpy(rng->key, rng->root, KEY_BYTES);
    rng->simulated = true;
}

pn_status pn_rng_secure(pn_rng **out, pn_err *err)
{
    pn_status status = new_stream(out, err);

    if (status == PN_OK)
        randombytes_buf((*out)->key, KEY_BYTES);
    return status;
}

pn_status pn_rng_seeded(pn_rng **out, uint64_t seed, pn_err *err)
{
    unsigned char message[8];
    pn_status status = new_stream(out, err);

    if (status == PN_OK) {
        store_little_endian(message, seed);
        key_from(*out, message, sizeof message, "teaching-only");
    }
    return status;
}

pn_status pn_rng_split(pn_rng **out, const pn_rng *parent, uint64_t stream, pn_err *err)
{
    unsigned char message[KEY_BYTES + 8];
    pn_status status;

    if (!parent->simulated)
        return pn_rng_secure(out, err);
    status = new_stream(out, err);
    if (status == PN_OK) {
        memcpy(message, parent->root, KEY_BYTES);
        store_little_endian(message + KEY_BYTES, stream);
        key_from(*out, message, sizeof message, "teaching-split");
        sodium_memzero(message, sizeof message);
    }
    return status;
}

void pn_rng_free(pn_rng *rng)
{
    if (!rng)
        return;
    sodium_memzero(rng, sizeof *rng);
    pn_free(rng);
}

bool pn_rng_simulated(const pn_rng *rng)
{
    return rng->simulated;
}

/* ---- drawing ---- */

static void draw_bytes(pn_rng *rng, unsigned char *bytes, size_t n)
{
    while (n > 0) {
        size_t take;

        if (rng->next == REFILL_BYTES)
            refill(rng);
        take = REFILL_BYTES - rng->next < n ? REFILL_BYTES - rng->next : n;
        memcpy(bytes, rng->buffer + rng->next, take);
        rng->next += take;
        bytes += take;
        n -= take;
    }
}

void pn_rng_bytes(pn_rng *rng, void *bytes, size_t n)
{
    check_process(rng);
    draw_bytes(rng, bytes, n);
}

static inline uint64_t load_little_endian(const unsigned char bytes[8])
{
    uint64_t x = 0;

    for (int i = 0; i < 8; i++)
        x |= (uint64_t)bytes[i] << (8 * i);
    return x;
}

uint64_t pn_rng_u64(pn_rng *rng)
{
    unsigned char bytes[8];

    check_generation(rng);
    if (REFILL_BYTES - rng->next >= sizeof bytes) {
        rng->next += sizeof bytes;
        return load_little_endian(rng->buffer + rng->next - sizeof bytes);
    }
    draw_bytes(rng, bytes, sizeof bytes);
    return load_little_endian(bytes);
}

/* The high half of word * n is uniform once the 2^64 mod n products with the smallest low halves are drawn again. */
uint64_t pn_rng_below(pn_rng *rng, uint64_t n)
{
    __extension__ typedef unsigned __int128 u128;
    u128 product = (u128)pn_rng_u64(rng) * n;

    if ((uint64_t)product < n) {
        uint64_t surplus = (0 - n) % n;

        while ((uint64_t)product < surplus)
            product = (u128)pn_rng_u64(rng) * n;
    }
    return (uint64_t)(product >> 64);
}

void pn_rng_permutation(pn_rng *rng, size_t n, size_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t j = (size_t)pn_rng_below(rng, i), swap = out[i - 1];

        out[i - 1] = out[j];
        out[j] = swap;
    }
}

double pn_rng_uniform(pn_rng *rng)
{
    return (double)(pn_rng_u64(rng) >> 11) * 0x1p-53;
}

/* Marsaglia's polar method: two numbers from a point of the unit disc. */
void pn_rng_normals(pn_rng *rng, size_t n, double *out)
{
    for (size_t i = 0; i < n; i += 2) {
        double u, v, s, factor;

        do {
            u = 2.0 * pn_rng_uniform(rng) - 1.0;
            v = 2.0 * pn_rng_uniform(rng) - 1.0;
            s = u * u + v * v;
        } while (!(s > 0.0 && s < 1.0));
        factor = sqrt(-2.0 * log(s) / s);
        out[i] = u * factor;
        if (i + 1 < n)
            out[i + 1] = v * factor;
    }
}
