/* erasure_test.c -- what has been drawn cannot be recomputed from memory, and a stream's second key is not its first.
 * Spent keys are in no byte of their stream; of exact values and the noise on them nothing stays behind on the stack,
 * which here is memory of the test's own that is looked through once the thread on it has ended.
 * Words of 64 random bits meet by chance in fewer than 1e-11 of runs.
 * Depends on: check.h, random/stream.h, POSIX threads. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "random/address.h"
#include "random/noise.h"
#include "random/stream.h"

/* ---- two keys ---- */

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* No word of one is a word of the other, and none is there twice, over several refills of both. */
static void streams_are_apart(pn_rng *rng, bool fresh)
{
    enum { MAIN = 2 * PN_REFILL_BYTES / 8 + 100, EXTRA = 2 * PN_EXTRA_BYTES / 8 + 100 };
    static uint64_t words[MAIN + EXTRA];
    size_t twice = 0;

    if (fresh)
        CHECK(memcmp(rng->key, rng->extra_key, PN_KEY_BYTES) != 0);
    for (size_t i = 0; i < MAIN; i++)
        words[i] = pn_rng_u64(rng);
    for (size_t i = 0; i < EXTRA; i++)
        words[MAIN + i] = pn_stream_extra(rng);
    CHECK(memcmp(rng->key, rng->extra_key, PN_KEY_BYTES) != 0);
    qsort(words, MAIN + EXTRA, sizeof *words, ascending);
    for (size_t i = 1; i < MAIN + EXTRA; i++)
        twice += words[i] == words[i - 1];
    CHECK(twice == 0);
    pn_rng_free(rng);
}

static pn_rng *secure(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    return rng;
}

static pn_rng *seeded(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    return rng;
}

static pn_rng *child_of(pn_rng *parent)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_split(&rng, parent, 3, NULL) == PN_OK);
    pn_rng_free(parent);
    return rng;
}

static pn_rng *addressed(pn_rng *rng, bool simulated)
{
    static const uint64_t address[PN_ADDRESS_WORDS] = { 1, 2, 3 };
    pn_address_key key;

    pn_address_key_draw(&key, rng);
    key.simulated = simulated;
    pn_rng_address(rng, &key, address, PN_REFILL_BYTES);
    pn_address_key_erase(&key);
    return rng;
}

static void a_second_key_is_not_the_first(void)
{
    pn_rng *shared = secure(), *renewed;

    streams_are_apart(secure(), true);
    streams_are_apart(seeded(), true);
    streams_are_apart(child_of(secure()), true);
    streams_are_apart(child_of(seeded()), true);
    shared->shared = true;
    streams_are_apart(child_of(shared), true);
    streams_are_apart(addressed(secure(), false), true);
    streams_are_apart(addressed(seeded(), true), true);
    renewed = secure();
    pn_rng_renew(); /* as in a child: keys come from the system again */
    streams_are_apart(renewed, false);
}

/* ---- spent keys ---- */

/* How often bytes[n] stand in the memory of the stream. */
static size_t found(const pn_rng *rng, const unsigned char *bytes, size_t n)
{
    const unsigned char *memory = (const unsigned char *)rng;
    size_t count = 0;

    for (size_t at = 0; at + n <= sizeof *rng; at++)
        count += memory[at] == bytes[0] && memcmp(memory + at, bytes, n) == 0;
    return count;
}

/* Half a key is enough to look for the rest of it. */
static void check_spent(const pn_rng *rng, const unsigned char spent[PN_KEY_BYTES], const unsigned char *next)
{
    CHECK(found(rng, spent, PN_KEY_BYTES / 2) == 0 && found(rng, spent + PN_KEY_BYTES / 2, PN_KEY_BYTES / 2) == 0);
    CHECK(found(rng, next, PN_KEY_BYTES) == 1); /* where it belongs, and not in the buffer */
}

static void a_spent_key_is_nowhere_in_its_stream(void)
{
    pn_rng *rng = secure();
    unsigned char spent[PN_KEY_BYTES];

    for (int refill = 0; refill < 3; refill++) {
        rng->next = PN_REFILL_BYTES;
        rng->next_extra = PN_EXTRA_BYTES;
        memcpy(spent, rng->key, sizeof spent);
        (void)pn_rng_u64(rng);
        check_spent(rng, spent, rng->key);
        memcpy(spent, rng->extra_key, sizeof spent);
        (void)pn_stream_extra(rng);
        check_spent(rng, spent, rng->extra_key);
    }
    pn_rng_free(rng);
}

/* What was there for other draws is not there for these: at a new address, and in another process. */
static void words_that_were_not_drawn_are_gone(void)
{
    for (int way = 0; way < 2; way++) {
        pn_rng *rng = secure();
        unsigned char main[64], extra[64], key[PN_KEY_BYTES], extra_key[PN_KEY_BYTES];

        (void)pn_rng_u64(rng);
        (void)pn_stream_extra(rng);
        memcpy(main, rng->buffer + rng->next + 1000, sizeof main);
        memcpy(extra, rng->extra + rng->next_extra + 1000, sizeof extra);
        memcpy(key, rng->key, sizeof key);
        memcpy(extra_key, rng->extra_key, sizeof extra_key);
        CHECK(found(rng, main, sizeof main) == 1 && found(rng, extra, sizeof extra) == 1);
        if (way == 0) {
            static const uint64_t address[PN_ADDRESS_WORDS] = { 7 };
            const pn_address_key given = { .bytes = "given" };

            pn_rng_address(rng, &given, address, 8);
        } else {
            rng->generation++;
            pn_stream_enter(rng);
        }
        CHECK(found(rng, main, 16) == 0 && found(rng, extra, 16) == 0);
        CHECK(found(rng, key, 16) == 0 && found(rng, extra_key, 16) == 0);
        pn_rng_free(rng);
    }
}

/* ---- the stack ---- */

enum { STACK = 1 << 20, DRAWN = 6000 };

static double values[DRAWN], released[DRAWN];
static unsigned char address_keys[2 * PN_KEY_BYTES];

/* What was written on the stack by body(self), over zeros; freed by the caller. */
static unsigned char *stack_of(void *(*body)(void *), void *self)
{
    void *stack = NULL;
    pthread_attr_t attributes;
    pthread_t thread;

    if (!CHECK(posix_memalign(&stack, 65536, STACK) == 0))
        exit(1);
    memset(stack, 0, STACK);
    CHECK(pthread_attr_init(&attributes) == 0 && pthread_attr_setstack(&attributes, stack, STACK) == 0);
    CHECK(pthread_create(&thread, &attributes, body, self) == 0 && pthread_join(thread, NULL) == 0);
    (void)pthread_attr_destroy(&attributes);
    return stack;
}

/* Words of the stack that are equal to one of n sorted words. */
static size_t on_stack(const unsigned char *stack, const uint64_t *sorted, size_t n)
{
    size_t count = 0;

    for (size_t at = 0; at + 8 <= STACK; at += 8) {
        uint64_t word;

        memcpy(&word, stack + at, sizeof word);
        count += bsearch(&word, sorted, n, sizeof word, ascending) != NULL;
    }
    return count;
}

typedef void release_fn(pn_rng *rng, double scale, const double *x, size_t n, double *out);

static release_fn *releasing;

static void *release_values(void *self)
{
    releasing(self, 1.0, values, DRAWN, released);
    return NULL;
}

/* Registers may be spilled; arrays are erased. */
static void a_release_leaves_neither_values_nor_noise_on_the_stack(void)
{
    static release_fn *const releases[] = { pn_lattice_gaussian, pn_lattice_laplace, pn_lattice_gaussian_exact };
    static uint64_t quotients[DRAWN], noise[DRAWN];

    for (size_t i = 0; i < DRAWN; i++) {
        double quotient;

        values[i] = 100.0 + (double)i / 64.0; /* a quotient of its own each */
        quotient = values[i] / pn_lattice_step(1.0);
        memcpy(&quotients[i], &quotient, sizeof quotient);
    }
    for (size_t way = 0; way < sizeof releases / sizeof *releases; way++) {
        pn_rng *rng = seeded();
        unsigned char *stack;

        releasing = releases[way];
        stack = stack_of(release_values, rng);
        for (size_t i = 0; i < DRAWN; i++)
            noise[i] = (uint64_t)(int64_t)((released[i] - values[i]) / pn_lattice_step(1.0));
        qsort(noise, DRAWN, sizeof *noise, ascending);
        CHECK(on_stack(stack, quotients, DRAWN) < 64);
        CHECK(on_stack(stack, noise, DRAWN) < 64);
        free(stack);
        pn_rng_free(rng);
    }
}

static void *go_to_address(void *self)
{
    static const uint64_t address[PN_ADDRESS_WORDS] = { 1, 2, 3 };
    const pn_address_key given = { .bytes = "given", .simulated = true };
    pn_rng *rng = self;

    pn_rng_address(rng, &given, address, 100);
    memcpy(address_keys, rng->key, PN_KEY_BYTES);
    memcpy(address_keys + PN_KEY_BYTES, rng->extra_key, PN_KEY_BYTES);
    return NULL;
}

static pn_rng *child;

static void *split_stream(void *self)
{
    (void)pn_rng_split(&child, self, 1, NULL);
    return NULL; /* with nothing after it that would write over its stack */
}

/* Whoever reads a key later has all the noise that it made. */
static void keys_do_not_stay_on_the_stack(void)
{
    void *(*const bodies[])(void *) = { go_to_address, split_stream };

    for (size_t way = 0; way < 2; way++) {
        pn_rng *rng = seeded();
        unsigned char *stack = stack_of(bodies[way], rng);
        size_t whole = 0;

        if (way == 1) {
            memcpy(address_keys, child->root, PN_KEY_BYTES);
            memcpy(address_keys + PN_KEY_BYTES, child->extra_key, PN_KEY_BYTES);
        }
        for (size_t at = 0; at + PN_KEY_BYTES <= STACK; at++)
            whole += memcmp(stack + at, address_keys, PN_KEY_BYTES) == 0 ||
                     memcmp(stack + at, address_keys + PN_KEY_BYTES, PN_KEY_BYTES) == 0 ||
                     (way == 1 && memcmp(stack + at, rng->root, PN_KEY_BYTES) == 0);
        CHECK(whole == 0);
        free(stack);
        pn_rng_free(rng);
    }
    pn_rng_free(child);
}

int main(void)
{
    a_second_key_is_not_the_first();
    a_spent_key_is_nowhere_in_its_stream();
    words_that_were_not_drawn_are_gone();
    a_release_leaves_neither_values_nor_noise_on_the_stack();
    keys_do_not_stay_on_the_stack();
    return check_summary();
}
