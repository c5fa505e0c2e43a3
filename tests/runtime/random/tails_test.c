/* tails_test.c -- exact samplers have no last value: given words that say so, they return numbers tens of deviations
 * out.  No sample shows that a law ends at four deviations, or at six.  A stream whose words are written here does: its
 * coins of probability exp(-1) come up as often as is asked, then fail once.
 * Depends on: check.h, random/stream.h. */
#include <string.h>

#include "check.h"
#include "random/noise.h"
#include "random/selection.h"
#include "random/stream.h"

/* Of 7 * 20! = 1.7e19 the first is between 1/6 and 1/2, so that coin 1/2 passes and coin 1/3 fails: exp(-1) comes up.
 * The second is above 1/2 and below 2^63, so that it does not; as a sign both mean "not negative", and of [0,
 * n) the first means 0.21684 n. */
#define UP   UINT64_C(4000000000000000000)
#define DOWN UINT64_C(9000000000000000000)

enum { LATER = 2000 };

static size_t successes; /* in a row, of the coins behind the first whole number */

static void store(unsigned char *bytes, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(word >> (8 * i));
}

/* A sign and `successes` coins that come up; one that fails; many that come up; and then an end. */
static void written(unsigned char *bytes, size_t n, const unsigned char key[PN_KEY_BYTES])
{
    (void)key;
    for (size_t i = 0; 8 * i + PN_KEY_BYTES + 8 <= n; i++)
        store(bytes + PN_KEY_BYTES + 8 * i, i == 1 + successes || i > LATER ? DOWN : UP);
}

static pn_rng *written_stream(size_t whole)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 1, NULL) == PN_OK);
    rng->fill = written;
    successes = whole;
    return rng;
}

/* 0.21684 t + t V for V successes; t = floor(sigma) + 1, sigma^2 = num/den.
 * `most`: what words above are enough for. */
static void has_no_last_value(uint32_t num, uint32_t den, uint64_t t, size_t most)
{
    int64_t fraction = (int64_t)(((pn_u128)UP * t) >> 64);

    for (size_t v = 0; v <= most; v++) {
        pn_rng *rng = written_stream(v);

        CHECK(pn_discrete_gaussian(rng, num, den) == fraction + (int64_t)(t * v));
        pn_rng_free(rng);
    }
}

static void gaussians_of_any_scale_reach_thirty_deviations(void)
{
    has_no_last_value(1, 1, 2, 20);
    has_no_last_value(1, 4, 1, 15);
    has_no_last_value(100, 1, 11, 30);
    has_no_last_value(INT32_MAX, 1, 46341, 30);
    has_no_last_value(7, 3, 2, 30);
}

static void the_exact_gaussian_of_the_lattice_reaches_thirty_deviations(void)
{
    const uint64_t scale = (uint64_t)1 << PN_LATTICE_BITS;

    for (size_t v = 0; v <= 30; v++) {
        pn_rng *rng = written_stream(v);
        int64_t k = 0;

        pn_noise_gaussian_exact(rng, 1, &k);
        CHECK(k == (int64_t)(((pn_u128)UP * scale) >> 64) + (int64_t)(scale * v));
        pn_rng_free(rng);
    }
}

static void laplace_numbers_go_on_until_they_saturate(void)
{
    for (size_t v = 0; v <= 600; v += 50) {
        pn_rng *rng = written_stream(v);

        CHECK(pn_discrete_laplace(rng, 1, 1000) == 216 + 1000 * (int64_t)v);
        pn_rng_free(rng);
    }
}

int main(void)
{
    gaussians_of_any_scale_reach_thirty_deviations();
    the_exact_gaussian_of_the_lattice_reaches_thirty_deviations();
    laplace_numbers_go_on_until_they_saturate();
    return check_summary();
}
