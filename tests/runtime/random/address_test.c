/* address_test.c -- streams with an address: the same place is the same noise, whenever it is asked for; another place
 * is another stream.  Seeds are fixed; a true law fails each statistical check with probability below 1e-6.
 * Depends on: check.h, chi_square.h, random/, fork. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random/address.h"
#include "random/noise.h"
#include "random/stream.h"

#include "check.h"
#include "runtime/random/chi_square.h"

enum { WORDS = 300 };

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static pn_address_key key_of(uint64_t seed)
{
    pn_address_key key;
    pn_rng *rng = seeded(seed);

    pn_address_key_draw(&key, rng);
    pn_rng_free(rng);
    return key;
}

/* What stands at an address: words of both streams, by way of the sampler that uses them. */
static void draw_at(pn_rng *rng, const pn_address_key *key, const uint64_t address[4], size_t words, int64_t *out)
{
    pn_rng_address(rng, key, address, words);
    pn_noise_gaussian(rng, WORDS, out);
}

static bool same(const int64_t *a, const int64_t *b)
{
    return memcmp(a, b, WORDS * sizeof *a) == 0;
}

static void gives_the_same_noise_whatever_was_drawn_before(void)
{
    static const uint64_t here[4] = { 1, 2, 3, 4 }, there[4] = { 4, 3, 2, 1 };
    pn_address_key key = key_of(5);
    pn_rng *one = seeded(1), *other = NULL;
    int64_t first[WORDS], again[WORDS], elsewhere[WORDS];
    unsigned char bytes[1001];

    CHECK(pn_rng_secure(&other, NULL) == PN_OK);
    draw_at(one, &key, here, WORDS, first);
    draw_at(one, &key, here, WORDS, again);
    CHECK(same(first, again));
    pn_rng_bytes(one, bytes, sizeof bytes); /* leaves the buffer at an odd place */
    draw_at(one, &key, there, WORDS, elsewhere);
    draw_at(one, &key, here, WORDS, again);
    CHECK(same(first, again) && !same(first, elsewhere));
    pn_rng_bytes(other, bytes, sizeof bytes);
    draw_at(other, &key, here, WORDS, again);
    CHECK(same(first, again));
    pn_rng_free(one);
    pn_rng_free(other);
}

/* Every bit of the key and of each word of the address counts, and so does the number of words. */
static void gives_other_noise_at_every_other_address(void)
{
    static const uint64_t here[4] = { 7, 0, UINT64_C(1) << 63, 9 };
    pn_address_key key = key_of(6);
    pn_rng *rng = seeded(1);
    int64_t first[WORDS], other[WORDS];

    draw_at(rng, &key, here, WORDS, first);
    for (size_t bit = 0; bit < 256; bit++) {
        uint64_t there[4];
        pn_address_key flipped = key;

        memcpy(there, here, sizeof there);
        there[bit / 64] ^= UINT64_C(1) << bit % 64;
        draw_at(rng, &key, there, WORDS, other);
        CHECK(!same(first, other));
        flipped.bytes[bit / 8] ^= (unsigned char)(1U << bit % 8);
        draw_at(rng, &flipped, here, WORDS, other);
        CHECK(!same(first, other));
    }
    draw_at(rng, &key, here, WORDS, other);
    CHECK(same(first, other));
    pn_rng_free(rng);
}

static void draws_a_key_from_the_stream_that_it_is_given(void)
{
    pn_address_key one = key_of(8), again = key_of(8), other = key_of(9);
    pn_rng *secure = NULL, *rng = seeded(8);
    unsigned char bytes[PN_ADDRESS_KEY_BYTES];

    pn_rng_bytes(rng, bytes, sizeof bytes);
    CHECK(memcmp(one.bytes, bytes, sizeof bytes) == 0);
    CHECK(memcmp(one.bytes, again.bytes, sizeof bytes) == 0 && memcmp(one.bytes, other.bytes, sizeof bytes) != 0);
    CHECK(one.simulated);
    CHECK(pn_rng_secure(&secure, NULL) == PN_OK);
    pn_address_key_draw(&one, secure);
    pn_address_key_draw(&again, secure);
    CHECK(!one.simulated && memcmp(one.bytes, again.bytes, sizeof bytes) != 0);
    pn_address_key_erase(&one);
    memset(bytes, 0, sizeof bytes);
    CHECK(memcmp(one.bytes, bytes, sizeof bytes) == 0);
    pn_rng_free(rng);
    pn_rng_free(secure);
}

static void is_simulated_when_its_key_is(void)
{
    static const uint64_t here[4] = { 0 };
    pn_address_key simulated = key_of(3), real = simulated;
    pn_rng *rng = NULL;

    real.simulated = false;
    CHECK(pn_rng_for_key(&rng, &real, NULL) == PN_OK);
    pn_rng_address(rng, &real, here, 1);
    CHECK(!pn_rng_simulated(rng));
    pn_rng_address(rng, &simulated, here, 1);
    CHECK(pn_rng_simulated(rng));
    pn_rng_free(rng);
}

/* Whoever reads neighbouring or freed memory finds no key there. */
static void keeps_secrets_in_guarded_memory(void)
{
    static const uint64_t here[4] = { 0 };
    pn_address_key simulated = key_of(3), real = simulated;
    pn_rng *guarded = NULL, *plain = NULL, *secure = NULL;
    int status = 0;
    pid_t child;

    real.simulated = false;
    CHECK(pn_rng_for_key(&guarded, &real, NULL) == PN_OK && !guarded->memory.open_to_all);
    CHECK(pn_rng_for_key(&plain, &simulated, NULL) == PN_OK && plain->memory.open_to_all);
    CHECK(pn_rng_secure(&secure, NULL) == PN_OK && !secure->memory.open_to_all);
    child = fork();
    if (child == 0) {
        pn_rng_address(guarded, &real, here, 1);
        pn_rng_address(plain, &simulated, here, 1);
        status = pn_rng_exposed() == 0 ? 0 : 1;
        pn_rng_address(plain, &real, here, 1);
        _exit(pn_rng_exposed() == 1 ? status : 2);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pn_rng_free(guarded);
    pn_rng_free(plain);
    pn_rng_free(secure);
}

/* In the child of a fork the same address is the same noise: who draws by address has to look. */
static void stays_what_it_is_in_a_child(void)
{
    static const uint64_t here[4] = { 1, 1, 1, 1 };
    pn_address_key key = key_of(4);
    pn_rng *rng = NULL;
    int64_t first[WORDS], again[WORDS];
    int result = -1;
    pid_t child;

    key.simulated = false; /* a secure stream would be keyed anew in a child */
    CHECK(pn_rng_for_key(&rng, &key, NULL) == PN_OK);
    draw_at(rng, &key, here, WORDS, first);
    child = fork();
    if (child == 0) {
        draw_at(rng, &key, here, WORDS, again);
        _exit(same(first, again) ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &result, 0) == child && WIFEXITED(result) && WEXITSTATUS(result) == 0);
    pn_rng_free(rng);
}

/* However few words are asked for beforehand, all that are drawn come out right: across refills too. */
static void does_not_run_out_when_more_is_drawn_than_was_said(void)
{
    enum { MANY = 40000 };
    static const uint64_t here[4] = { 2, 0, 0, 0 };
    static const size_t said[] = { 0, 1, 64, 4096, MANY };
    static int64_t out[MANY];
    pn_address_key key = key_of(12);
    pn_rng *rng = seeded(1);

    for (size_t s = 0; s < sizeof said / sizeof *said; s++) {
        double sum = 0.0, squares = 0.0;

        pn_rng_address(rng, &key, here, said[s]);
        pn_noise_gaussian(rng, MANY, out);
        for (size_t i = 0; i < MANY; i++) {
            double x = (double)out[i] * 0x1p-40;

            sum += x;
            squares += x * x;
        }
        CHECK(fabs(sum) <= Z_MILLIONTH * sqrt((double)MANY));
        CHECK(fabs(squares - MANY) <= 5.1 * sqrt(2.0 * MANY)); /* chi^2 with 40000 degrees: 1e-6 at 4.93 and 4.86 */
    }
    pn_rng_free(rng);
}

/* The first word at neighbouring addresses, by its highest ten values: uniform,
 * and independent from one address to the next. */
static void neighbouring_addresses_have_independent_streams(void)
{
    enum { PLACES = 20000 };
    static const double law[10] = { .1, .1, .1, .1, .1, .1, .1, .1, .1, .1 };
    double counts[10] = { 0 }, product = 0.0, last = 0.0;
    pn_address_key key = key_of(21);
    pn_rng *rng = seeded(1);

    for (uint64_t i = 0; i < PLACES; i++) {
        const uint64_t here[4] = { 0, i % 4, i / 4, 0 };
        double u;

        pn_rng_address(rng, &key, here, 8);
        u = pn_rng_uniform(rng);
        counts[(size_t)(10.0 * u)]++;
        product += (u - 0.5) * last; /* variance 1/144 each */
        last = u - 0.5;
    }
    CHECK(chi_square(counts, law, 10) <= CHI2_9);
    CHECK(fabs(product) <= Z_MILLIONTH * sqrt((double)PLACES / 144.0));
    pn_rng_free(rng);
}

int main(void)
{
    gives_the_same_noise_whatever_was_drawn_before();
    gives_other_noise_at_every_other_address();
    draws_a_key_from_the_stream_that_it_is_given();
    is_simulated_when_its_key_is();
    keeps_secrets_in_guarded_memory();
    stays_what_it_is_in_a_child();
    does_not_run_out_when_more_is_drawn_than_was_said();
    neighbouring_addresses_have_independent_streams();
    return check_summary();
}
