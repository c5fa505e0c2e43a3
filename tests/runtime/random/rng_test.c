/* rng_test.c -- streams: known answers, forks, splits, uniformity, erasure.
 * Statistical checks use fixed seeds; each has a false-alarm rate of 1e-6 and is shown to reject a wrong law. */
#define _DEFAULT_SOURCE /* mincore */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "core/account.h"
#include "random/rng.h"
#include "random/stream.h"
#include "runtime/random/chi_square.h"

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static pn_rng *secure(void)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    return rng;
}

static bool next_are(pn_rng *rng, const char *hex)
{
    unsigned char bytes[16];
    char text[33];

    pn_rng_bytes(rng, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        (void)snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    return strcmp(text, hex) == 0;
}

/* The constants are from a Python program: hashlib.blake2b, and ChaCha20 written out from RFC 8439. */
static void a_seed_means_the_same_bytes_everywhere(void)
{
    static unsigned char skipped[65480];
    pn_rng *rng = seeded(42), *words = seeded(42), *split = NULL, *wide = seeded(UINT64_MAX);

    CHECK(pn_rng_u64(words) == UINT64_C(0xe6c2ccd5e9c3e6b6)); /* little-endian words */
    CHECK(next_are(rng, "b6e6c3e9d5ccc2e6b71a1f62ccb38b0d"));
    pn_rng_bytes(rng, skipped, sizeof skipped);
    CHECK(next_are(rng, "839f47c55b24dbde9be1e218a74b6157")); /* bytes 65496 on: crosses a refill */
    CHECK(next_are(wide, "b2f2b4be4982794687a6357b31395bd3"));
    CHECK(pn_rng_split(&split, rng, 7, NULL) == PN_OK); /* of the seed, whatever was drawn */
    CHECK(next_are(split, "dd340cafe79fb1aecdf235d37a731475"));
    CHECK(pn_rng_simulated(rng) && pn_rng_simulated(split));
    pn_rng_free(rng);
    pn_rng_free(words);
    pn_rng_free(split);
    pn_rng_free(wide);
}

/* However a stream is cut, it is the same stream. */
static void pieces_join_to_the_same_stream(void)
{
    static unsigned char whole[200000], pieces[200000];
    pn_rng *a = seeded(5), *b = seeded(5);
    size_t used = 0;

    pn_rng_bytes(a, whole, sizeof whole);
    for (size_t take = 1; used < sizeof pieces; take = take * 3 % 65537) {
        size_t n = take < sizeof pieces - used ? take : sizeof pieces - used;

        pn_rng_bytes(b, pieces + used, n);
        used += n;
    }
    CHECK(memcmp(whole, pieces, sizeof whole) == 0);
    pn_rng_free(a);
    pn_rng_free(b);
}

static void secure_streams_never_repeat(void)
{
    pn_rng *a = secure(), *b = secure(), *c = NULL, *d = NULL;
    uint64_t words[4];

    CHECK(pn_rng_split(&c, a, 1, NULL) == PN_OK);
    CHECK(pn_rng_split(&d, a, 1, NULL) == PN_OK);
    words[0] = pn_rng_u64(a);
    words[1] = pn_rng_u64(b);
    words[2] = pn_rng_u64(c);
    words[3] = pn_rng_u64(d);
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++)
            CHECK(words[i] != words[j]);
    }
    CHECK(!pn_rng_simulated(a) && !pn_rng_simulated(c));
    pn_rng_free(a);
    pn_rng_free(b);
    pn_rng_free(c);
    pn_rng_free(d);
    pn_rng_free(NULL);
}

/* What a child draws from `rng`, in words or as bytes. */
static bool child_draws(pn_rng *rng, bool as_bytes, uint64_t *words, size_t count)
{
    int ends[2], exit_status = 1;
    ssize_t got;
    pid_t child;

    if (!CHECK(pipe(ends) == 0))
        return false;
    child = fork();
    if (child == 0) {
        for (size_t i = 0; i < count && !as_bytes; i++)
            words[i] = pn_rng_u64(rng);
        if (as_bytes)
            pn_rng_bytes(rng, words, count * sizeof *words);
        got = write(ends[1], words, count * sizeof *words);
        _exit(got == (ssize_t)(count * sizeof *words) ? 0 : 1);
    }
    (void)close(ends[1]);
    got = read(ends[0], words, count * sizeof *words);
    (void)close(ends[0]);
    return CHECK(child > 0 && waitpid(child, &exit_status, 0) == child && exit_status == 0) &&
           CHECK(got == (ssize_t)(count * sizeof *words));
}

static void a_child_never_draws_its_parents_noise(void)
{
    enum { WORDS = 4 };
    uint64_t mine[WORDS], first[WORDS] = { 0 }, second[WORDS] = { 0 };
    unsigned char half[32000];
    pn_rng *rng = secure();

    pn_rng_bytes(rng, half, sizeof half); /* the buffer is half full at the fork */
    for (int as_bytes = 0; as_bytes < 2; as_bytes++) {
        (void)child_draws(rng, as_bytes, first, WORDS);
        (void)child_draws(rng, as_bytes, second, WORDS);
        for (int i = 0; i < WORDS; i++)
            mine[i] = pn_rng_u64(rng);
        for (int i = 0; i < WORDS; i++)
            CHECK(first[i] != mine[i] && second[i] != mine[i] && first[i] != second[i]);
    }
    pn_rng_free(rng);
}

static void a_seeded_stream_stays_its_own_in_a_child(void)
{
    uint64_t mine[4], child[4] = { 0 };
    pn_rng *rng = seeded(9);

    (void)pn_rng_u64(rng);
    (void)child_draws(rng, false, child, 4);
    for (int i = 0; i < 4; i++)
        mine[i] = pn_rng_u64(rng);
    CHECK(memcmp(mine, child, sizeof mine) == 0);
    pn_rng_free(rng);
}

/* n = 3 * 2^62: taking the high half without rejection, or a remainder, would give one third twice its share. */
static void bounded_integers_are_uniform(void)
{
    const double third[3] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 }, naive[3] = { 0.5, 0.25, 0.25 };
    double counts[3] = { 0 }, seven[7] = { 0 }, seventh[7];
    pn_rng *rng = seeded(1);

    for (int i = 0; i < 100000; i++)
        counts[pn_rng_below(rng, UINT64_C(3) << 62) % 3]++;
    CHECK(chi_square(counts, third, 3) < CHI2_2);
    CHECK(chi_square(counts, naive, 3) > CHI2_2);
    for (int i = 0; i < 7; i++)
        seventh[i] = 1.0 / 7;
    for (int i = 0; i < 1000000; i++)
        seven[pn_rng_below(rng, 7)]++;
    CHECK(chi_square(seven, seventh, 7) < CHI2_6);
    CHECK(pn_rng_below(rng, 1) == 0);
    pn_rng_free(rng);
}

/* Swapping each place with any other (a common mistake) gives orders of three the law 4, 5, 5, 5, 4, 4 of 27. */
static void every_order_is_equally_likely(void)
{
    const double wrong[6] = { 4.0 / 27, 5.0 / 27, 5.0 / 27, 5.0 / 27, 4.0 / 27, 4.0 / 27 };
    double counts[6] = { 0 }, sixth[6];
    bool seen[100] = { false };
    size_t order[100];
    pn_rng *rng = seeded(2);

    for (int i = 0; i < 6; i++)
        sixth[i] = 1.0 / 6;
    for (int i = 0; i < 60000; i++) {
        pn_rng_permutation(rng, 3, order);
        counts[2 * order[0] + (order[1] > order[2])]++;
    }
    CHECK(chi_square(counts, sixth, 6) < CHI2_5);
    CHECK(chi_square(counts, wrong, 6) > CHI2_5);
    pn_rng_permutation(rng, 100, order);
    for (size_t i = 0; i < 100; i++) {
        CHECK(order[i] < 100 && !seen[order[i]]);
        seen[order[i]] = true;
    }
    pn_rng_permutation(rng, 0, NULL);
    pn_rng_free(rng);
}

/* Uniform: mean 1/2, variance 1/12.  Normal: mean 0, variance 1 (standard error sqrt(2/N)), 0.682689 within one. */
static void the_transforms_have_their_moments(void)
{
    enum { N = 1000000 };
    static double x[N];
    double sum = 0.0, square = 0.0, inside = 0.0;
    pn_rng *rng = seeded(3);

    for (int i = 0; i < N; i++) {
        double u = pn_rng_uniform(rng);

        sum += u;
        inside += u >= 0.0 && u < 1.0;
    }
    CHECK(inside == N);
    CHECK_CLOSE(sum / N, 0.5, Z_MILLIONTH * sqrt(1.0 / 12 / N));
    pn_rng_normals(rng, N - 1, x); /* odd on purpose */
    sum = inside = 0.0;
    for (int i = 0; i < N - 1; i++) {
        sum += x[i];
        square += x[i] * x[i];
        inside += fabs(x[i]) < 1.0;
    }
    CHECK_CLOSE(sum / N, 0.0, Z_MILLIONTH / sqrt(N));
    CHECK_CLOSE(square / N, 1.0, Z_MILLIONTH * sqrt(2.0 / N)); /* 0.007: a scale of 1.1 would give 1.21 */
    CHECK_CLOSE(inside / N, 0.682689492, Z_MILLIONTH * sqrt(0.6827 * 0.3173 / N));
    CHECK(x[N - 1] == 0.0);
    pn_rng_free(rng);
}

/* ---- memory ---- */

/* libsodium erases, and the pages are then gone. */
static void freeing_takes_key_and_buffer_out_of_memory(void)
{
    pn_rng *rng = secure();
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *at = (void *)((uintptr_t)rng / page * page);
    unsigned char there;

    (void)pn_rng_u64(rng);
    CHECK(mincore(at, page, &there) == 0);
    pn_rng_free(rng);
    CHECK(mincore(at, page, &there) != 0);
}

static void short_memory_is_an_error_that_makes_nothing(void)
{
    pn_rng *parent = seeded(1), *rng = NULL;
    pn_account *account = NULL;

    CHECK(pn_account_new(&account, 4096, NULL) == PN_OK);
    (void)pn_account_enter(account);
    CHECK(pn_rng_secure(&rng, NULL) == PN_ENOMEM);
    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_ENOMEM);
    CHECK(pn_rng_split(&rng, parent, 1, NULL) == PN_ENOMEM);
    CHECK(rng == NULL);
    (void)pn_account_enter(NULL);
    pn_account_free(account);
    pn_rng_free(parent);
}

static void what_a_stream_takes_is_charged_and_given_back(void)
{
    pn_account *account = NULL;
    pn_rng *rng;
    size_t used;

    CHECK(pn_account_new(&account, (size_t)1 << 20, NULL) == PN_OK);
    (void)pn_account_enter(account);
    rng = secure();
    pn_account_usage(account, &used, NULL);
    CHECK(used > 65536);
    pn_rng_free(rng);
    pn_account_usage(account, &used, NULL);
    CHECK(used == 0);
    (void)pn_account_enter(NULL);
    pn_account_free(account);
}

/* What somebody has read of the memory of a stream before says nothing of what it draws after. */
static void renewed_streams_take_new_keys(void)
{
    pn_rng *rng = secure(), *taught = seeded(5), *again = seeded(5);
    pn_rng before;

    (void)pn_rng_u64(rng);
    before = *rng;
    CHECK(pn_rng_u64(&before) == pn_rng_u64(rng)); /* a copy is as good as the stream, */
    pn_rng_renew();
    before.generation++;                           /* and goes on as it was, */
    CHECK(pn_rng_u64(&before) != pn_rng_u64(rng)); /* but the stream does not */
    CHECK(pn_rng_u64(taught) == pn_rng_u64(again));
    pn_rng_free(rng);
    pn_rng_free(taught);
    pn_rng_free(again);
}

int main(void)
{
    a_seed_means_the_same_bytes_everywhere();
    pieces_join_to_the_same_stream();
    secure_streams_never_repeat();
    a_child_never_draws_its_parents_noise();
    a_seeded_stream_stays_its_own_in_a_child();
    bounded_integers_are_uniform();
    every_order_is_equally_likely();
    the_transforms_have_their_moments();
    freeing_takes_key_and_buffer_out_of_memory();
    short_memory_is_an_error_that_makes_nothing();
    what_a_stream_takes_is_charged_and_given_back();
    renewed_streams_take_new_keys();
    return check_summary();
}
