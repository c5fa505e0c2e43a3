/* rng.c -- streams of ChaCha20 with fast key erasure: every refill spends the key and its first 32 bytes are the next
 * one, so what has been drawn cannot be recomputed from what is in memory.  Integers come from the bytes little-endian,
 * so a seed means the same draws on every platform.
 * Depends on: rng.h, keystream.h, core/, libsodium, POSIX threads (once, atfork).
 * Used by: every draw of the runtime. */
#include <math.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <sodium.h>

#include "core/alloc.h"
#include "core/process.h"
#include "random/address.h"
#include "random/keystream.h"
#include "random/stream.h"

/* ---- forks ----
 * A child inherits every buffer, and two processes that draw the same noise reveal the difference of their answers.  So
 * every call compares a counter that a fork handler advances in the child: one load, where asking the kernel for the
 * pid would cost more than the draw.  Fills and refills compare the pid as well, for a child made without the handlers.
 * The counter is the one mutable global: it describes the process, which is global. */
atomic_uint pn_process_generation;
static pthread_once_t process_once = PTHREAD_ONCE_INIT;
static pn_status process_status;

static void advance_generation(void)
{
    atomic_fetch_add_explicit(&pn_process_generation, 1, memory_order_relaxed);
}

void pn_rng_renew(void)
{
    advance_generation();
}

static void prepare_process(void)
{
    if (!pn_keystream_start())
        process_status = PN_EIO;
    else if (pthread_atfork(NULL, NULL, advance_generation) != 0)
        process_status = PN_ENOMEM;
}

static void discard_buffers(pn_rng *rng)
{
    sodium_memzero(rng->buffer, sizeof rng->buffer);
    sodium_memzero(rng->extra, sizeof rng->extra);
    rng->next = PN_REFILL_BYTES;
    rng->next_extra = PN_EXTRA_BYTES;
}

static void key_from_system(pn_rng *rng)
{
    randombytes_buf(rng->key, PN_KEY_BYTES);
    randombytes_buf(rng->extra_key, PN_KEY_BYTES);
}

/* A seeded stream stays what its seed says, in a child too. */
static void take_over(pn_rng *rng)
{
    rng->generation = atomic_load_explicit(&pn_process_generation, memory_order_relaxed);
    rng->owner = pn_process();
    if (rng->simulated)
        return;
    key_from_system(rng);
    discard_buffers(rng);
}

static inline void check_generation(pn_rng *rng)
{
    if (rng->generation != atomic_load_explicit(&pn_process_generation, memory_order_relaxed))
        take_over(rng);
}

void pn_stream_enter(pn_rng *rng)
{
    check_generation(rng);
    if (rng->owner != 0 && rng->owner != pn_process())
        take_over(rng);
}

/* Returns the first byte to use: the key that was spent is replaced by the first bytes. */
static size_t spend_key(pn_rng *rng, unsigned char *buffer, size_t n, unsigned char key[PN_KEY_BYTES])
{
    rng->fill(buffer, n, key);
    memcpy(key, buffer, PN_KEY_BYTES);
    sodium_memzero(buffer, PN_KEY_BYTES);
    return PN_KEY_BYTES;
}

static void refill(pn_rng *rng)
{
    pn_stream_enter(rng);
    rng->next = PN_REFILL_BYTES - rng->refill;
    rng->next += spend_key(rng, rng->buffer + rng->next, rng->refill, rng->key);
}

/* ---- making ---- */

/* A seed is no secret, nor is what follows from it. */
static pn_status new_stream(pn_rng **out, bool secret, pn_err *err)
{
    pn_secret memory = { 0 };
    pn_rng *rng;

    (void)pthread_once(&process_once, prepare_process);
    if (process_status == PN_EIO)
        return pn_fail(err, PN_EIO, "rng: libsodium could not start; the system gives no randomness");
    if (process_status == PN_OK)
        memory = secret ? pn_secret_new(sizeof *rng) : pn_secret_none(sizeof *rng);
    rng = memory.bytes;
    PN_TRY(pn_made(rng, err, "rng: not enough memory for a stream of %zu bytes", sizeof *rng));
    rng->memory = memory;
    rng->fill = pn_keystream;
    rng->refill = PN_REFILL_BYTES;
    rng->refill_extra = PN_EXTRA_BYTES;
    rng->generation = atomic_load_explicit(&pn_process_generation, memory_order_relaxed);
    rng->owner = pn_process();
    rng->next = PN_REFILL_BYTES; /* nothing is ready */
    rng->next_extra = PN_EXTRA_BYTES;
    *out = rng;
    return PN_OK;
}

static void store_little_endian(unsigned char bytes[8], uint64_t x)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(x >> (8 * i));
}

/* A hash leaves its state, which is the key, below on the stack. */
#define HASH_STACK 4096

/* BLAKE2b-256 under a personal string that no other use shares. */
static void hash_key(unsigned char key[PN_KEY_BYTES], const unsigned char *message, size_t n, const char *purpose)
{
    unsigned char personal[crypto_generichash_blake2b_PERSONALBYTES] = { 0 };

    memcpy(personal, purpose, strlen(purpose));
    (void)crypto_generichash_blake2b_salt_personal(key, PN_KEY_BYTES, message, n, NULL, 0, NULL, personal);
    sodium_stackzero(HASH_STACK);
}

static void key_from(pn_rng *rng, const unsigned char *message, size_t n, const char *purpose)
{
    hash_key(rng->root, message, n, purpose);
    memcpy(rng->key, rng->root, PN_KEY_BYTES);
    hash_key(rng->extra_key, rng->root, PN_KEY_BYTES, "teaching-extra");
    rng->simulated = true;
}

pn_status pn_rng_secure(pn_rng **out, pn_err *err)
{
    pn_status status = new_stream(out, true, err);

    if (status == PN_OK)
        key_from_system(*out);
    return status;
}

pn_status pn_rng_seeded(pn_rng **out, uint64_t seed, pn_err *err)
{
    unsigned char message[8];
    pn_status status = new_stream(out, false, err);

    if (status == PN_OK) {
        store_little_endian(message, seed);
        key_from(*out, message, sizeof message, "teaching-only");
    }
    return status;
}

static void key_from_draws(pn_rng *rng, pn_rng *parent)
{
    pn_rng_bytes(parent, rng->key, PN_KEY_BYTES);
    pn_rng_bytes(parent, rng->extra_key, PN_KEY_BYTES);
    rng->shared = true;
}

pn_status pn_rng_split(pn_rng **out, const pn_rng *parent, uint64_t stream, pn_err *err)
{
    unsigned char message[PN_KEY_BYTES + 8];
    pn_status status;

    if (!parent->simulated && !parent->shared)
        return pn_rng_secure(out, err);
    status = new_stream(out, !parent->simulated, err);
    if (status == PN_OK && parent->shared) {
        key_from_draws(*out, (pn_rng *)parent); /* keying a child is a draw */
        return PN_OK;
    }
    if (status == PN_OK) {
        memcpy(message, parent->root, PN_KEY_BYTES);
        store_little_endian(message + PN_KEY_BYTES, stream);
        key_from(*out, message, sizeof message, "teaching-split");
        sodium_memzero(message, sizeof message);
    }
    return status;
}

pn_status pn_rng_for_key(pn_rng **out, const pn_address_key *key, pn_err *err)
{
    pn_status status = new_stream(out, !key->simulated, err);

    if (status == PN_OK && key->simulated)
        key_from(*out, (const unsigned char *)"", 0, "teaching-only"); /* until it has an address */
    else if (status == PN_OK)
        key_from_system(*out);
    return status;
}

bool pn_rng_untouched(const pn_rng *rng)
{
    return rng->simulated && !rng->shared && rng->next == PN_REFILL_BYTES && rng->next_extra == PN_EXTRA_BYTES &&
           memcmp(rng->key, rng->root, PN_KEY_BYTES) == 0;
}

void pn_rng_free(pn_rng *rng)
{
    pn_secret memory = rng ? rng->memory : (pn_secret){ 0 };

    pn_secret_clear(&memory);
}

bool pn_rng_simulated(const pn_rng *rng)
{
    return rng->simulated;
}

/* ---- addresses ---- */

#define PUBLIC_WORDS 8

void pn_address_key_draw(pn_address_key *key, pn_rng *rng)
{
    pn_rng_bytes(rng, key->bytes, sizeof key->bytes);
    key->simulated = rng->simulated;
}

void pn_address_key_erase(pn_address_key *key)
{
    sodium_memzero(key, sizeof *key);
}

void pn_address_key_public(pn_address_key *key, const char *purpose, const uint64_t *words, size_t count)
{
    unsigned char message[8 * PUBLIC_WORDS];

    for (size_t i = 0; i < count; i++)
        store_little_endian(message + 8 * i, words[i]);
    hash_key(key->bytes, message, 8 * count, purpose);
    key->simulated = true;
}

/* One word in forty asks for two or three more, each from here. */
static size_t refill_extra_for(size_t words)
{
    size_t bytes = words > PN_EXTRA_BYTES ? PN_EXTRA_BYTES : 128 + words / 2;

    bytes -= bytes % 64;
    return bytes < PN_EXTRA_BYTES ? bytes : PN_EXTRA_BYTES;
}

/* Enough for `words` words, the key of the next refill and the 5 % of words that samplers reject; whole lines. */
static size_t refill_for(size_t words)
{
    size_t bytes = words > PN_REFILL_BYTES / 8 ? PN_REFILL_BYTES : 8 * (words + words / 16) + PN_KEY_BYTES + 64;

    bytes -= bytes % 64;
    return bytes < PN_REFILL_BYTES ? bytes : PN_REFILL_BYTES;
}

static atomic_size_t exposed;

size_t pn_rng_exposed(void)
{
    return atomic_load_explicit(&exposed, memory_order_relaxed);
}

void pn_rng_address(pn_rng *rng, const pn_address_key *key, const uint64_t address[PN_ADDRESS_WORDS], size_t words)
{
    static const char purpose[crypto_generichash_blake2b_PERSONALBYTES] = "noise-address";
    unsigned char message[8 * PN_ADDRESS_WORDS], keys[2 * PN_KEY_BYTES];

    if (rng->memory.open_to_all && !key->simulated)
        atomic_fetch_add_explicit(&exposed, 1, memory_order_relaxed);
    for (size_t i = 0; i < PN_ADDRESS_WORDS; i++)
        store_little_endian(message + 8 * i, address[i]);
    (void)crypto_generichash_blake2b_salt_personal(keys, sizeof keys, message, sizeof message, key->bytes,
                                                   sizeof key->bytes, NULL, (const unsigned char *)purpose);
    sodium_stackzero(HASH_STACK);
    sodium_memzero(rng->buffer + rng->next, PN_REFILL_BYTES - rng->next);
    sodium_memzero(rng->extra + rng->next_extra, PN_EXTRA_BYTES - rng->next_extra);
    memcpy(rng->key, keys, PN_KEY_BYTES);
    memcpy(rng->extra_key, keys + PN_KEY_BYTES, PN_KEY_BYTES);
    if (key->simulated)
        memcpy(rng->root, keys, PN_KEY_BYTES);
    rng->refill = refill_for(words);
    rng->refill_extra = refill_extra_for(words);
    rng->next = PN_REFILL_BYTES;
    rng->next_extra = PN_EXTRA_BYTES;
    rng->simulated = key->simulated;
    rng->generation = atomic_load_explicit(&pn_process_generation, memory_order_relaxed);
    rng->owner = 0;
    sodium_memzero(keys, sizeof keys);
}

/* ---- drawing ---- */

static void draw_bytes(pn_rng *rng, unsigned char *bytes, size_t n)
{
    while (n > 0) {
        size_t take;

        if (rng->next == PN_REFILL_BYTES)
            refill(rng);
        take = PN_REFILL_BYTES - rng->next < n ? PN_REFILL_BYTES - rng->next : n;
        memcpy(bytes, rng->buffer + rng->next, take);
        rng->next += take;
        bytes += take;
        n -= take;
    }
}

void pn_rng_bytes(pn_rng *rng, void *bytes, size_t n)
{
    pn_stream_enter(rng);
    draw_bytes(rng, bytes, n);
}

uint64_t pn_stream_slow_word(pn_rng *rng)
{
    unsigned char bytes[8];

    check_generation(rng);
    draw_bytes(rng, bytes, sizeof bytes);
    return pn_load_word(bytes);
}

uint64_t pn_rng_u64(pn_rng *rng)
{
    return pn_stream_word(rng);
}

const unsigned char *pn_stream_words(pn_rng *rng, size_t want, size_t *got)
{
    size_t ready;

    if (rng->next == PN_REFILL_BYTES)
        refill(rng);
    ready = (PN_REFILL_BYTES - rng->next) / 8;
    if (ready == 0) {
        draw_bytes(rng, rng->straddling, sizeof rng->straddling);
        *got = 1;
        return rng->straddling;
    }
    *got = ready < want ? ready : want;
    rng->next += 8 * *got;
    return rng->buffer + rng->next - 8 * *got;
}

uint64_t pn_stream_extra(pn_rng *rng)
{
    check_generation(rng);
    if (rng->next_extra == PN_EXTRA_BYTES) {
        pn_stream_enter(rng);
        rng->next_extra = PN_EXTRA_BYTES - rng->refill_extra;
        rng->next_extra += spend_key(rng, rng->extra + rng->next_extra, rng->refill_extra, rng->extra_key);
    }
    rng->next_extra += 8;
    return pn_load_word(rng->extra + rng->next_extra - 8);
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
