/* noise_test.c -- the noise integers on real streams: tables, known answers, moments, cells, forks.  The laws to many
 * digits are in noise_law_test.c.  Seeds are fixed; each statistical check has a false-alarm rate of 1e-6.
 * PENUMBRA_DRAWS=1000000000 draws more for the moments (half a minute). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "random/stream.h"

/* A copy of the sampler that counts its words. */
static double words_used, extra_used;

static const unsigned char *counted_words(pn_rng *rng, size_t want, size_t *got)
{
    const unsigned char *words = pn_stream_words(rng, want, got);

    words_used += (double)*got;
    return words;
}

static uint64_t counted_extra(pn_rng *rng)
{
    extra_used++;
    return pn_stream_extra(rng);
}

#define pn_stream_words         counted_words
#define pn_stream_extra         counted_extra
#define pn_noise_gaussian       counted_gaussian
#define pn_noise_gaussian_exact counted_gaussian_exact
#define pn_discrete_gaussian    counted_discrete_gaussian
#include "runtime/random/noise.c"
#undef pn_stream_words
#undef pn_stream_extra
#undef pn_noise_gaussian
#undef pn_noise_gaussian_exact
#undef pn_discrete_gaussian
void pn_noise_gaussian(pn_rng *rng, size_t n, int64_t *out);
void pn_noise_gaussian_exact(pn_rng *rng, size_t n, int64_t *out);
int64_t pn_discrete_gaussian(pn_rng *rng, uint32_t num, uint32_t den);

#include "check.h"
#include "runtime/random/chi_square.h"

#define S 0x1p40

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

/* ---- tables ---- */

static long double half_line(size_t edge)
{
    return expl(-(long double)(edge * edge) / 8192.0L);
}

static void slots_cover_the_body(void)
{
    const long double s = 45154352202676.0L / 0x1p52L;
    unsigned owned[PN_NOISE_BODY] = { 0 }, sum = 1; /* the tail's one */
    long double expected = 0.0L;
    bool covered = true, tight = true, decides = true;

    for (size_t i = 0; i + 1 < 8192; i++)
        owned[pn_noise_slots[i]]++;
    for (size_t i = 0; i < PN_NOISE_BODY; i++) {
        long double weight = owned[i] * s;

        sum += owned[i];
        covered = covered && weight >= half_line(i);
        tight = tight && weight - s < half_line(i);
        decides = decides && pn_noise_low[i] <= 65536.0L * half_line(i + 1) / weight &&
                  pn_noise_high[i] >= 65536.0L * half_line(i) / weight;
        expected += owned[i] * (long double)(pn_noise_high[i] - pn_noise_low[i]) / 65536.0L / 8192.0L;
    }
    CHECK(owned[0] == 100 && owned[255] == 1 && sum == 8192 && pn_noise_slots[8191] == 255);
    CHECK(covered && tight && decides);
    CHECK_CLOSE((double)expected, 0.01231, 2e-4);
}

static void peaks_and_tail_agree_with_the_density(void)
{
    const long double s = 45154352202676.0L / 0x1p52L;
    unsigned owned[PN_NOISE_BODY] = { 0 };
    pn_u128 before = 0;
    bool covered = true;
    long double worst = 0.0L, tail = 0.0L;

    for (size_t i = 0; i + 1 < 8192; i++)
        owned[pn_noise_slots[i]]++;
    for (size_t b = 0; b < PN_NOISE_BINS; b++) {
        long double peak = (long double)pn_wide_value(pn_noise_peaks[b]) * 0x1p-128L, weight = 1.0L;

        if (b < PN_NOISE_BODY) {
            weight = owned[b] * s;
        } else {
            pn_u128 end = pn_wide_value(pn_noise_tail_ends[b - PN_NOISE_BODY]);

            covered = covered && end > before;
            weight = (long double)(end - before) * 0x1p-128L * s;
            covered = covered && weight * (1.0L + 0x1p-60L) >= half_line(b);
            tail += half_line(b);
            before = end;
        }
        worst = fmaxl(worst, fabsl(peak * weight / half_line(b) - 1.0L));
    }
    CHECK(covered);
    CHECK(worst < 1e-15L);
    CHECK_CLOSE((double)((long double)before * 0x1p-128L), (double)(tail / s), 1e-15);
    CHECK(tail <= s); /* it fits its slot */
}

/* Floor of 2^128 exp(-x), from mpmath with 400 bits. */
static void exp_is_right_to_120_bits(void)
{
    static const pn_wide cases[][2] = {
        { { 0x0000000000000000, 0x0000000000000000 }, { 0xffffffffffffffff, 0xffffffffffffffff } },
        { { 0x0000000000000000, 0x0000000000000001 }, { 0xffffffffffffffff, 0xffffffffffffffff } },
        { { 0x0000000000000001, 0x0000000000000000 }, { 0xffffffffffffffff, 0x0000000000000000 } },
        { { 0x8000000000000000, 0x0000000000000000 }, { 0x9b4597e37cb04ff3, 0xd675a35530cdd767 } },
        { { 0xffffffffffffffff, 0xffffffffffffffff }, { 0x5e2d58d8b3bcdf1a, 0xbadec7829054f90e } },
        { { 0x5555555555555555, 0x5555555555555555 }, { 0xb76e989179752689, 0xc5984c9c50ebe4c9 } },
        { { 0x0123456789abcdef, 0x0123456789abcdef }, { 0xfedd600d1e5410f6, 0x297656b60fac57ee } },
        { { 0x2000000000000000, 0xab54a98ceb1f0ad2 }, { 0xe1eb51276c110c3b, 0xa77e4092847ca1c5 } },
        { { 0xfedcba9876543210, 0xfedcba9876543210 }, { 0x5e98bcf96364c630, 0x701c3233364ca97b } },
        { { 0x0000001000000000, 0x0000000000000000 }, { 0xfffffff00000007f, 0xfffffd5555555fff } },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        pn_u128 got = pn_wide_exp(pn_wide_value(cases[i][0])), want = pn_wide_value(cases[i][1]);

        CHECK((got > want ? got - want : want - got) <= 8);
    }
    CHECK(pn_wide_times(PN_WIDE_ONE, PN_WIDE_ONE) == PN_WIDE_ONE - 1);
    CHECK(pn_wide_times((pn_u128)3 << 126, (pn_u128)5 << 125) == (pn_u128)15 << 123);
}

/* ---- known answers ---- */

static uint64_t fingerprint(const int64_t *k, size_t n)
{
    uint64_t h = 0;

    for (size_t i = 0; i < n; i++)
        h = h * UINT64_C(6364136223846793005) + (uint64_t)k[i];
    return h;
}

/* From a Python program: BLAKE2b, ChaCha20 written out from RFC 8439, the sampler in multiprecision. */
static void a_seed_means_the_same_integers_everywhere(void)
{
    enum { N = 4000 }; /* 52 and 54 words of these needed more bits */
    static int64_t k[N];
    pn_rng *rng = seeded(42), *other = seeded(42);

    pn_noise_gaussian(rng, N, k);
    CHECK(k[0] == INT64_C(1867452377539) && k[1] == INT64_C(84620894751));
    CHECK(k[2] == INT64_C(-378951983955) && k[3] == INT64_C(-760564100654));
    CHECK(fingerprint(k, N) == UINT64_C(0xc87cd102a8ba34e3));
    pn_noise_laplace(other, 1, N, k);
    CHECK(k[0] == INT64_C(1157690018914) && k[1] == INT64_C(298168568931));
    CHECK(fingerprint(k, N) == UINT64_C(0xb2d4f2d42d10c6d8));
    pn_rng_free(rng);
    pn_rng_free(other);
}

typedef void (*fill_fn)(pn_rng *rng, size_t n, int64_t *out);

static void laplace(pn_rng *rng, size_t n, int64_t *out)
{
    pn_noise_laplace(rng, 1, n, out);
}

static void wide_laplace(pn_rng *rng, size_t n, int64_t *out)
{
    pn_noise_laplace(rng, 1000, n, out);
}

/* From an odd byte on, so that words lie across refills. */
static void pieces_are(fill_fn fill)
{
    enum { N = 60000 };
    static int64_t whole[N], pieces[N];
    pn_rng *a = seeded(6), *b = seeded(6);
    unsigned char bytes[3];
    size_t done = 0;

    pn_rng_bytes(a, bytes, sizeof bytes);
    pn_rng_bytes(b, bytes, sizeof bytes);
    fill(a, N, whole);
    for (size_t take = 1; done < N; take = take * 3 % 4001) {
        size_t n = take < N - done ? take : N - done;

        fill(b, n, pieces + done);
        done += n;
    }
    CHECK(memcmp(whole, pieces, sizeof whole) == 0);
    CHECK(pn_rng_u64(a) == pn_rng_u64(b));
    pn_rng_free(a);
    pn_rng_free(b);
}

static void however_a_vector_is_cut_it_is_the_same(void)
{
    pieces_are(pn_noise_gaussian);
    pieces_are(laplace);
    pieces_are(wide_laplace);
}

/* ---- laws ---- */

typedef struct moments {
    double n, mean, square, fourth, cells[6];
} moments;

static double low_bits[1024];

static moments measure(fill_fn fill, pn_rng *rng, double draws, double scale)
{
    enum { BLOCK = 4096 };
    static int64_t k[BLOCK];
    moments m = { 0 };

    memset(low_bits, 0, sizeof low_bits);
    for (; m.n < draws; m.n += BLOCK) {
        double sum = 0.0, square = 0.0, fourth = 0.0;

        fill(rng, BLOCK, k);
        for (int i = 0; i < BLOCK; i++) {
            double x = (double)k[i] / scale;

            sum += x;
            square += x * x;
            fourth += x * x * x * x;
            m.cells[fabs(x) < 6.0 ? (int)fabs(x) : 5]++;
            low_bits[(uint64_t)k[i] & 1023]++;
        }
        m.mean += sum;
        m.square += square;
        m.fourth += fourth;
    }
    m.mean /= m.n;
    m.square /= m.n;
    m.fourth /= m.n;
    return m;
}

static void low_bits_are_uniform(void)
{
    const double center = 1.0 - 2.0 / (9.0 * 1023.0), spread = sqrt(2.0 / (9.0 * 1023.0)); /* Wilson and Hilferty */
    double law[1024];

    for (int i = 0; i < 1024; i++)
        law[i] = 1.0 / 1024.0;
    CHECK_CLOSE(cbrt(chi_square(low_bits, law, 1024) / 1023.0), center, Z_MILLIONTH * spread);
}

static void gaussian_moments_are(moments m)
{
    static const double cells[6] = { 0.682689492, 0.271810244, 0.0428004678, 0.00263645, 6.2769e-5, 5.7133e-7 };

    CHECK_CLOSE(m.mean, 0.0, Z_MILLIONTH / sqrt(m.n));
    CHECK_CLOSE(m.square, 1.0, Z_MILLIONTH * sqrt(2.0 / m.n)); /* a scale of 1.1 would give 1.21 */
    CHECK_CLOSE(m.fourth, 3.0, Z_MILLIONTH * sqrt(96.0 / m.n));
    CHECK_CLOSE(m.fourth / (m.square * m.square), 3.0, Z_MILLIONTH * sqrt(24.0 / m.n));
    CHECK(Z_MILLIONTH * sqrt(96.0 / m.n) < 0.2);
    for (int i = 0; i < 5; i++)
        CHECK_CLOSE(m.cells[i] / m.n, cells[i], Z_MILLIONTH * sqrt(cells[i] * (1.0 - cells[i]) / m.n));
    CHECK(m.cells[5] < 20.0 + m.n * cells[5] + 6.0 * sqrt(m.n * cells[5])); /* Poisson: P(more) < 1e-6 at every n */
    low_bits_are_uniform();
}

static double wanted_draws(void)
{
    const char *text = getenv("PENUMBRA_DRAWS");
    double draws = text ? strtod(text, NULL) : 0.0;

    return draws > 0.0 ? draws : 2e7;
}

static void gaussian_integers_have_their_moments(void)
{
    pn_rng *rng = seeded(21);
    moments m = measure(counted_gaussian, rng, wanted_draws(), S);
    double slow = extra_used / words_used - 1.52366 / 8192; /* a word of the tail takes 2.52366 more, on average */

    gaussian_moments_are(m);
    CHECK_CLOSE(m.n / words_used, 0.976585175, Z_MILLIONTH * sqrt(0.0229 / words_used));
    CHECK_CLOSE(slow, 0.01231, 2e-4);
    if (m.n > 1e8)
        printf("n %.0f: mean %.3g, variance - 1 %.3g, fourth - 3 %.3g, kurtosis - 3 %.3g, acceptance %.7f, slow %.6f\n",
               m.n, m.mean, m.square - 1.0, m.fourth - 3.0, m.fourth / (m.square * m.square) - 3.0, m.n / words_used,
               slow);
    pn_rng_free(rng);
}

static void exact_integers_have_the_same_moments(void)
{
    pn_rng *rng = seeded(22);

    gaussian_moments_are(measure(pn_noise_gaussian_exact, rng, 1e6, S));
    pn_rng_free(rng);
}

/* |x| >= j has probability exp(-j); variance 2, fourth moment 24, eighth 40320. */
static void laplace_is(fill_fn fill, double scale, uint64_t seed)
{
    pn_rng *rng = seeded(seed);
    moments m = measure(fill, rng, 4e6, scale);
    double beyond = m.n;

    CHECK_CLOSE(m.mean, 0.0, Z_MILLIONTH * sqrt(2.0 / m.n));
    CHECK_CLOSE(m.square, 2.0, Z_MILLIONTH * sqrt(20.0 / m.n)); /* 0.011; a scale of 1.1 would give 2.42 */
    CHECK_CLOSE(m.fourth, 24.0, Z_MILLIONTH * sqrt((40320.0 - 576.0) / m.n));
    for (int j = 1; j < 6; j++) {
        double p = exp(-j);

        beyond -= m.cells[j - 1];
        CHECK_CLOSE(beyond / m.n, p, Z_MILLIONTH * sqrt(p * (1.0 - p) / m.n));
    }
    low_bits_are_uniform();
    pn_rng_free(rng);
}

static void laplace_integers_have_their_law_at_every_scale(void)
{
    laplace_is(laplace, S, 23);
    laplace_is(wide_laplace, 1000.0 * S, 24);
}

/* ---- the reference sampler ---- */

#define CELLS 7 /* -3 or less ... 3 or more */

static void reference_law(double *law, double variance)
{
    double total = 0.0;

    memset(law, 0, CELLS * sizeof *law);
    for (int k = -100; k <= 100; k++) {
        double mass = exp(-(double)(k * k) / (2.0 * variance));

        law[k < -3 ? 0 : k > 3 ? 6 : k + 3] += mass;
        total += mass;
    }
    for (int i = 0; i < CELLS; i++)
        law[i] /= total;
}

static void reference_is(uint32_t num, uint32_t den, double zero, double variance, double n)
{
    double counts[CELLS] = { 0 }, law[CELLS], square = 0.0, parameter = (double)num / den;
    pn_rng *rng = seeded(25);

    for (double i = 0; i < n; i++) {
        int64_t k = pn_discrete_gaussian(rng, num, den);

        counts[k < -3 ? 0 : k > 3 ? 6 : k + 3]++;
        square += (double)(k * k);
    }
    reference_law(law, parameter);
    CHECK_CLOSE(law[3], zero, 1e-12);
    CHECK_CLOSE(square / n, variance, Z_MILLIONTH * sqrt(3.0 * variance / n)); /* fourth moment below 3 + v^2 */
    CHECK(chi_square(counts, law, CELLS) < CHI2_6);
    reference_law(law, parameter * 1.21);
    CHECK(chi_square(counts, law, CELLS) > CHI2_6);
    reference_law(law, parameter / 1.21);
    CHECK(chi_square(counts, law, CELLS) > CHI2_6);
    pn_rng_free(rng);
}

/* Zero's probability and the variance are those of noise.md. */
static void the_reference_sampler_has_its_law(void)
{
    double n = wanted_draws() > 1e8 ? 1e7 : 1e6, total = 0.0;
    pn_rng *rng = seeded(26);

    reference_is(1, 1, 0.398942278267, 0.999999788768, n);
    reference_is(1, 4, 0.786570707042, 0.215012675088, n);
    for (int i = 0; i < 100000; i++) { /* the largest sigma there is */
        double x = (double)pn_discrete_gaussian(rng, INT32_MAX, 1) / sqrt(INT32_MAX);

        total += x * x;
    }
    CHECK_CLOSE(total / 1e5, 1.0, Z_MILLIONTH * sqrt(2.0 / 1e5));
    for (int i = 0; i < 1000; i++)
        CHECK(pn_discrete_gaussian(rng, 1, INT32_MAX) == 0); /* exp(-2^30) beside it */
    pn_rng_free(rng);
}

/* ---- forks ---- */

enum { DRAWN = 64, EXTRA = 4 };

static void draw(pn_rng *rng, int64_t out[DRAWN + EXTRA])
{
    pn_noise_gaussian(rng, DRAWN, out);
    for (int i = 0; i < EXTRA; i++)
        out[DRAWN + i] = (int64_t)pn_stream_extra(rng);
}

static bool child_draws(pn_rng *rng, int64_t out[DRAWN + EXTRA])
{
    const ssize_t size = (DRAWN + EXTRA) * (ssize_t)sizeof *out;
    int ends[2], status = 1;
    ssize_t got;
    pid_t child;

    if (!CHECK(pipe(ends) == 0))
        return false;
    child = fork();
    if (child == 0) {
        draw(rng, out);
        _exit(write(ends[1], out, (size_t)size) == size ? 0 : 1);
    }
    (void)close(ends[1]);
    got = read(ends[0], out, (size_t)size);
    (void)close(ends[0]);
    return CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0 && got == size);
}

/* Both buffers are about half used at the fork: 4000 words of 8188, and about 150 more words of 508 by hand. */
static void a_child_never_draws_its_parents_noise(void)
{
    static int64_t used[4000];
    int64_t mine[DRAWN + EXTRA], first[DRAWN + EXTRA] = { 0 }, second[DRAWN + EXTRA] = { 0 };
    pn_rng *rng = NULL;

    CHECK(pn_rng_secure(&rng, NULL) == PN_OK);
    pn_noise_gaussian(rng, 4000, used);
    for (int i = 0; i < 150; i++)
        (void)pn_stream_extra(rng);
    CHECK(rng->next > PN_KEY_BYTES && rng->next < PN_REFILL_BYTES);
    CHECK(rng->next_extra > PN_KEY_BYTES && rng->next_extra < PN_EXTRA_BYTES);
    (void)child_draws(rng, first);
    (void)child_draws(rng, second);
    draw(rng, mine);
    for (int i = 0; i < DRAWN + EXTRA; i++)
        CHECK(first[i] != mine[i] && second[i] != mine[i] && first[i] != second[i]);
    pn_rng_free(rng);
}

static void unseeded_streams_never_repeat(void)
{
    int64_t mine[DRAWN + EXTRA], other[DRAWN + EXTRA];
    pn_rng *a = NULL, *b = NULL;

    CHECK(pn_rng_secure(&a, NULL) == PN_OK && pn_rng_secure(&b, NULL) == PN_OK);
    draw(a, mine);
    draw(b, other);
    for (int i = 0; i < DRAWN + EXTRA; i++)
        CHECK(mine[i] != other[i]);
    pn_rng_free(a);
    pn_rng_free(b);
}

int main(void)
{
    slots_cover_the_body();
    peaks_and_tail_agree_with_the_density();
    exp_is_right_to_120_bits();
    a_seed_means_the_same_integers_everywhere();
    however_a_vector_is_cut_it_is_the_same();
    gaussian_integers_have_their_moments();
    exact_integers_have_the_same_moments();
    laplace_integers_have_their_law_at_every_scale();
    the_reference_sampler_has_its_law();
    a_child_never_draws_its_parents_noise();
    unseeded_streams_never_repeat();
    return check_summary();
}
