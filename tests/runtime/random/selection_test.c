/* selection_test.c -- the laws of selection.h on real streams, and the rounding of epsilon.  selection_law_test.c has
 * the coins and permute-and-flip by enumeration; here are the parts whose draws cannot be enumerated, and the whole
 * calls.  Seeds are fixed; each check has a false-alarm rate of 1e-6 and is shown to reject a scale that is off by
 * 1.1. */
#include <inttypes.h>

#include "check.h"
#include "random/selection.h"
#include "runtime/random/chi_square.h"

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

/* ---- epsilon ---- */

static void epsilon_is_rounded_down_to_twenty_bits(void)
{
    static const double values[] = { 1.0, 0.1, 1.0 / 3.0, 0x1p-40, 1.7e-9, 1023.99, 1024.0, 0.99999999 };

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        pn_dyadic e = pn_dyadic_floor(values[i]);

        CHECK(pn_dyadic_value(e) <= values[i]);
        CHECK(pn_dyadic_value(e) > values[i] * (1.0 - 0x1p-19));
        CHECK(e.mantissa < 1u << 20 && e.exponent <= 60);
    }
    CHECK(pn_dyadic_value(pn_dyadic_floor(0.5)) == 0.5);
    CHECK(pn_dyadic_value(pn_dyadic_floor(nextafter(0x1p-40, 0.0))) == 0.0);
    CHECK(pn_dyadic_value(pn_dyadic_floor(-1.0)) == 0.0);
    CHECK(pn_dyadic_value(pn_dyadic_floor(NAN)) == 0.0);
    CHECK(pn_dyadic_value(pn_dyadic_floor(INFINITY)) == 0x1p20 - 1.0);
}

/* ---- coins ---- */

static void coin_is(pn_rng *rng, pn_u128 num, pn_u128 den, double g)
{
    enum { N = 1000000 };
    double heads = 0.0, p = exp(-g), tolerance = Z_MILLIONTH * sqrt(p * (1.0 - p) / N);

    for (int i = 0; i < N; i++)
        heads += pn_bernoulli_exp(rng, num, den);
    CHECK_CLOSE(heads / N, p, tolerance);
    CHECK(fabs(heads / N - exp(-1.1 * g)) > tolerance);
    CHECK(fabs(heads / N - exp(-g / 1.1)) > tolerance);
}

static void coins_keep_their_law_for_every_size_of_denominator(void)
{
    const pn_u128 wide = ((pn_u128)1 << 119) + 12345, two64 = (pn_u128)1 << 64;
    pn_rng *rng = seeded(11);

    coin_is(rng, 1, 2, 0.5); /* 0.606530660 */
    coin_is(rng, 3, 1, 3.0); /* 0.049787068 */
    coin_is(rng, wide / 2, wide, 0.5);
    coin_is(rng, 2 * wide + wide / 4, wide, 2.25);
    coin_is(rng, two64 / 2, two64, 0.5); /* the first that does not fit a word */
    coin_is(rng, two64 - 1, two64 + 1, 1.0);
    CHECK(pn_bernoulli_exp(rng, 0, wide));
    CHECK(!pn_bernoulli_exp(rng, (pn_u128)1 << 120, 1)); /* exp(-2^120), at once */
    pn_rng_free(rng);
}

/* ---- discrete Laplace ---- */

/* P(K = k) for rate r: (1 - q)/(1 + q) q^|k|, q = exp(-r). */
static double laplace_mass(double r, double k)
{
    return tanh(r / 2.0) * exp(-r * fabs(k));
}

#define CELLS 25 /* -12 or less, -11 .. 11, 12 or more */

static void laplace_cells(double *law, double r)
{
    double q = exp(-r);

    for (int k = -11; k <= 11; k++)
        law[k + 12] = laplace_mass(r, k);
    law[0] = law[24] = exp(-12.0 * r) / (1.0 + q);
}

static void discrete_laplace_is(pn_rng *rng, uint64_t num, pn_u128 den, double r)
{
    enum { N = 1000000 };
    double counts[CELLS] = { 0 }, law[CELLS];

    for (int i = 0; i < N; i++) {
        int64_t k = pn_discrete_laplace(rng, num, den);

        counts[k < -12 ? 0 : k > 12 ? 24 : k + 12]++;
    }
    laplace_cells(law, r);
    CHECK(chi_square(counts, law, CELLS) < CHI2_24);
    laplace_cells(law, r * 1.1);
    CHECK(chi_square(counts, law, CELLS) > CHI2_24);
    laplace_cells(law, r / 1.1);
    CHECK(chi_square(counts, law, CELLS) > CHI2_24);
}

static void discrete_laplace_has_its_law(void)
{
    pn_rng *rng = seeded(12);

    discrete_laplace_is(rng, 1, 3, 1.0 / 3.0);
    discrete_laplace_is(rng, 2, 3, 2.0 / 3.0); /* a rate that does not divide */
    discrete_laplace_is(rng, 2, 7, 2.0 / 7.0);
    discrete_laplace_is(rng, UINT64_C(1) << 63, (pn_u128)5 << 64, 0.1); /* a denominator of two words */
    pn_rng_free(rng);
}

/* t = 3: P(0) = 0.165140412925, variance 17.8342551925 (noise.md); fourth moment by summing the law. */
static void discrete_laplace_has_its_moments(void)
{
    enum { N = 1000000 };
    const double variance = 17.8342551925;
    double zeros = 0.0, sum = 0.0, square = 0.0, fourth = 0.0, tolerance;
    pn_rng *rng = seeded(13);

    for (int k = -400; k <= 400; k++)
        fourth += pow(k, 4.0) * laplace_mass(1.0 / 3.0, k);
    for (int i = 0; i < N; i++) {
        double k = (double)pn_discrete_laplace(rng, 1, 3);

        zeros += k == 0.0;
        sum += k;
        square += k * k;
    }
    CHECK_CLOSE(zeros / N, 0.165140412925, Z_MILLIONTH * sqrt(0.1651 * 0.8349 / N));
    CHECK_CLOSE(sum / N, 0.0, Z_MILLIONTH * sqrt(variance / N));
    tolerance = Z_MILLIONTH * sqrt((fourth - variance * variance) / N); /* 0.2; a scale of 3.3 would give 21.6 */
    CHECK_CLOSE(square / N, variance, tolerance);
    CHECK(tolerance < 1.0);
    CHECK(imaxabs(pn_discrete_laplace(rng, 1, (pn_u128)1 << 119)) == (intmax_t)1 << 62); /* saturates, no overflow */
    pn_rng_free(rng);
}

/* ---- selections ---- */

#define COUNT 3
#define DRAWS 1000000
typedef void (*law_fn)(double *law, const int64_t *scores, double rate);

static void exponential_law(double *law, const int64_t *scores, double rate)
{
    double total = 0.0;

    for (int i = 0; i < COUNT; i++)
        total += law[i] = exp(rate * (double)scores[i]);
    for (int i = 0; i < COUNT; i++)
        law[i] /= total;
}

/* P(s + K < x) for an integer x. */
static double below(double rate, double s, double x)
{
    double q = exp(-rate), k = x - s;

    return k <= 0.0 ? exp(rate * (k - 1.0)) / (1.0 + q) : 1.0 - exp(-rate * k) / (1.0 + q);
}

/* Candidate i wins with the value x: those before it are below x, those after it at most x. */
static void laplace_law(double *law, const int64_t *scores, double rate)
{
    for (int i = 0; i < COUNT; i++) {
        law[i] = 0.0;
        for (int x = -400; x <= 400; x++) {
            double mass = laplace_mass(rate, x - (double)scores[i]);

            for (int j = 0; j < COUNT; j++) {
                if (j != i)
                    mass *= below(rate, (double)scores[j], j < i ? x : x + 1);
            }
            law[i] += mass;
        }
    }
}

/* As laplace_law when ties go to the highest index. */
static void wrong_ties_law(double *law, const int64_t *scores, double rate)
{
    int64_t reversed[COUNT] = { scores[2], scores[1], scores[0] };
    double first;

    laplace_law(law, reversed, rate);
    first = law[0];
    law[0] = law[2];
    law[2] = first;
}

static void selection_is(const double *counts, const int64_t *scores, law_fn law_of, double rate)
{
    double law[COUNT];

    law_of(law, scores, rate);
    CHECK_CLOSE(law[0] + law[1] + law[2], 1.0, 1e-9);
    CHECK(chi_square(counts, law, COUNT) < CHI2_2);
    law_of(law, scores, rate * 1.1);
    CHECK(chi_square(counts, law, COUNT) > CHI2_2);
    law_of(law, scores, rate / 1.1);
    CHECK(chi_square(counts, law, COUNT) > CHI2_2);
}

/* Scores (0, 1, 2) at epsilon/(2 shift) = 1: 0.66524, 0.24473, 0.09003 from the largest (frank-wolfe.md, section 7). */
static void the_exponential_mechanism_is_softmax(void)
{
    static const int64_t scores[COUNT] = { 0, 1, 2 },
                         high[COUNT] = { -((int64_t)1 << 52), ((int64_t)1 << 52) - 4, (int64_t)1 << 52 };
    double counts[COUNT] = { 0 }, coarse[COUNT] = { 0 }, law[COUNT];
    pn_rng *rng = seeded(14);

    for (int i = 0; i < DRAWS; i++)
        counts[pn_select_exponential(rng, scores, COUNT, pn_dyadic_floor(2.0), 1)]++;
    selection_is(counts, scores, exponential_law, 1.0);
    exponential_law(law, scores, 1.0);
    CHECK_CLOSE(law[0], 0.09003, 5e-6);
    CHECK_CLOSE(law[1], 0.24473, 5e-6);
    CHECK_CLOSE(law[2], 0.66524, 5e-6);
    for (int i = 0; i < DRAWS; i++) /* extreme scores, a shift that is no power of two: rate 0.75/(2 * 3) */
        coarse[pn_select_exponential(rng, high, COUNT, pn_dyadic_floor(0.75), 3)]++;
    CHECK(coarse[0] == 0.0);
    CHECK_CLOSE(coarse[1] / DRAWS, 1.0 / (1.0 + exp(0.5)), Z_MILLIONTH * sqrt(0.2351 / DRAWS));
    pn_rng_free(rng);
}

static void laplace_selection_has_its_summed_law(void)
{
    static const int64_t scores[COUNT] = { 3, 1, 2 }, tied[COUNT] = { 2, 0, 2 }, spread[COUNT] = { -2, 0, -1 };
    double counts[COUNT] = { 0 }, ties[COUNT] = { 0 }, steep[COUNT] = { 0 }, law[COUNT];
    pn_rng *rng = seeded(16);

    for (int i = 0; i < DRAWS; i++)
        counts[pn_select_laplace(rng, scores, COUNT, pn_dyadic_floor(1.5), 1)]++;
    selection_is(counts, scores, laplace_law, 0.75);
    for (int i = 0; i < DRAWS; i++)
        ties[pn_select_laplace(rng, tied, COUNT, pn_dyadic_floor(3.0), 2)]++;
    selection_is(ties, tied, laplace_law, 0.75);
    for (int i = 0; i < DRAWS; i++) /* a rate above 1, where the sign's coin is drawn whole */
        steep[pn_select_laplace(rng, spread, COUNT, pn_dyadic_floor(2.5), 1)]++;
    selection_is(steep, spread, laplace_law, 1.25);
    wrong_ties_law(law, tied, 0.75);
    CHECK(chi_square(ties, law, COUNT) > CHI2_2);
    pn_rng_free(rng);
}

/* epsilon 0 is no information at all; one candidate is no choice. */
static void nothing_to_tell_apart_is_uniform(void)
{
    static const int64_t scores[COUNT] = { 0, 100, -7 };
    const double third[COUNT] = { 1.0 / 3, 1.0 / 3, 1.0 / 3 };
    const pn_dyadic zero = { 0, 0 };
    double counts[2][COUNT] = { { 0 } };
    pn_rng *rng = seeded(17);

    for (int i = 0; i < 100000; i++) {
        counts[0][pn_select_exponential(rng, scores, COUNT, zero, 1)]++;
        counts[1][pn_select_laplace(rng, scores, COUNT, zero, 1)]++;
    }
    for (int law = 0; law < 2; law++)
        CHECK(chi_square(counts[law], third, COUNT) < CHI2_2);
    CHECK(pn_select_exponential(rng, scores, 1, pn_dyadic_floor(1.0), 1) == 0);
    CHECK(pn_select_laplace(rng, scores, 1, pn_dyadic_floor(1.0), 1) == 0);
    pn_rng_free(rng);
}

int main(void)
{
    epsilon_is_rounded_down_to_twenty_bits();
    coins_keep_their_law_for_every_size_of_denominator();
    discrete_laplace_has_its_law();
    discrete_laplace_has_its_moments();
    the_exponential_mechanism_is_softmax();
    laplace_selection_has_its_summed_law();
    nothing_to_tell_apart_is_uniform();
    return check_summary();
}
