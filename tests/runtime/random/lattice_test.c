/* lattice_test.c -- rounding, clamping and charging of lattice releases.  Depends on: random/noise.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "random/noise.h"

#define TWO62 (INT64_C(1) << 62)

static pn_rng *seeded(uint64_t seed)
{
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, seed, NULL) == PN_OK);
    return rng;
}

static void far_values_keep_their_sign(void)
{
    const double step = pn_lattice_step(0.3);

    CHECK(step == ldexp(0.3, -40));
    CHECK(pn_lattice_round(0x1p63 * step, step, 0x1p62) == TWO62);
    CHECK(pn_lattice_round(-0x1p63 * step, step, 0x1p62) == -TWO62);
    CHECK(pn_lattice_round(1e300, step, 0x1p62) == TWO62);
    CHECK(pn_lattice_round(-1e300, step, 0x1p62) == -TWO62);
    CHECK(pn_lattice_round(1e300, pn_lattice_step(0x1p-900), 0x1p62) == TWO62); /* the quotient is infinite */
    CHECK(pn_lattice_round(-1e300, pn_lattice_step(0x1p-900), 0x1p61) == -TWO62 / 2);
    CHECK(pn_lattice_round(0x1p62 * step, step, 0x1p62) == TWO62);
    CHECK(pn_lattice_round(1e-300, step, 0x1p62) == 0);
}

/* Ties go to even, also where halves are the last thing that a double can say. */
static void rounding_is_to_nearest_even(void)
{
    CHECK(pn_lattice_round(0.5, 1.0, 0x1p62) == 0);
    CHECK(pn_lattice_round(1.5, 1.0, 0x1p62) == 2);
    CHECK(pn_lattice_round(-2.5, 1.0, 0x1p62) == -2);
    CHECK(pn_lattice_round(-1.5, 1.0, 0x1p62) == -2);
    CHECK(pn_lattice_round(0x1p52 - 0.5, 1.0, 0x1p62) == INT64_C(1) << 52);
    CHECK(pn_lattice_round(0x1p52 - 1.5, 1.0, 0x1p62) == (INT64_C(1) << 52) - 2);
    CHECK(pn_lattice_round(0x1p53 + 2.0, 1.0, 0x1p62) == (INT64_C(1) << 53) + 2);
    CHECK(pn_lattice_round(0x1p51 - 0.5, 1.0, 0x1p62) == INT64_C(1) << 51);
    CHECK(pn_lattice_round(-0x1p51 + 0.25, 1.0, 0x1p62) == -(INT64_C(1) << 51));
    CHECK(pn_lattice_round(7.3, 1.0, 4.0) == 4 && pn_lattice_round(-7.3, 1.0, 4.0) == -4);
    for (double x = 0.3; x < 0x1p70; x *= 1.7)
        CHECK(pn_lattice_round(-x, 3.0, 0x1p62) == llrint(fmax(-x / 3.0, -0x1p62)));
}

static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Neighbours by one unit of sensitivity, on both sides of 2^62 and 2^63 steps. */
static void neighbours_stay_neighbours_at_the_clamp(void)
{
    static const double edges[] = { 0x1p62, 0x1p63, -0x1p62, -0x1p63, 0x1p61 };
    const double sigma = 0.3, step = pn_lattice_step(sigma), sensitivity = 0.7;
    const double most = pn_lattice_l2(sensitivity, sigma, 1, INFINITY, 1) / step;

    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        for (int j = -4; j <= 4; j++) {
            double x = edges[i] * step * (1.0 + j * 0x1p-53), y = x + sensitivity * (j % 2 == 0 ? 1.0 : -1.0);
            uint64_t moved = distance(pn_lattice_round(x, step, 0x1p62), pn_lattice_round(y, step, 0x1p62));

            CHECK((double)moved <= most);
        }
    }
}

/* ---- far ---- */

static double any_double(pn_rng *rng, int least, int most)
{
    return ldexp((double)(pn_rng_u64(rng) >> 11 | UINT64_C(1) << 52),
                 least + (int)pn_rng_below(rng, (uint64_t)(most - least)) - 52);
}

/* For whole x and step, 128 bits know the quotient: within half a step and what nearbyint of a double leaves. */
static void far_values_are_divided_exactly(void)
{
    pn_rng *rng = seeded(41);

    for (int i = 0; i < 20000; i++) {
        double step = (double)(1 + pn_rng_below(rng, UINT64_C(1) << 20)),
               x = any_double(rng, 83, 125) * (i % 2 ? 1.0 : -1.0);
        pn_steps off = pn_lattice_round_far(x, step, PN_LATTICE_FARTHEST) * (pn_steps)step - (pn_steps)x;

        CHECK(2 * (off < 0 ? -off : off) <= (pn_steps)step);
    }
    CHECK(pn_lattice_round_far(0x1p62, 1.0, PN_LATTICE_FARTHEST) == (pn_steps)1 << 62);
    CHECK(pn_lattice_round_far(-0x1p124, 1.0, PN_LATTICE_FARTHEST) == -((pn_steps)1 << 124));
    CHECK(pn_lattice_round_far(1e300, 1.0, PN_LATTICE_FARTHEST) == (pn_steps)1 << 125);
    CHECK(pn_lattice_round_far(-INFINITY, 1.0, 0x1p90) == -((pn_steps)1 << 90));
    CHECK(pn_lattice_round_far(-1e300, pn_lattice_step(0x1p-900), 0x1p90) == -((pn_steps)1 << 90));
    CHECK(pn_lattice_round_far(1e200, pn_lattice_step(0x1p600), PN_LATTICE_FARTHEST) ==
          (pn_steps)ldexp(1e200, -560)); /* a power of two */
    for (double x = 0.3; x < 0x1p62; x *= 1.7)
        CHECK(pn_lattice_round_far(-x, 1.0, PN_LATTICE_FARTHEST) == pn_lattice_round(-x, 1.0, 0x1p62));
    CHECK(pn_lattice_round_far(7.3, 1.0, 4.0) == 4);
    pn_rng_free(rng);
}

/* What a record moves is what is charged, where doubles round most, where they stop, and far beyond. */
static void far_neighbours_stay_neighbours(void)
{
    const double sigma = 0.3, step = pn_lattice_step(sigma);
    pn_rng *rng = seeded(42);

    for (int i = 0; i < 20000; i++) {
        double x = any_double(rng, 60, i % 2 ? 64 : 110) * step, y = x * (1.0 + (double)pn_rng_below(rng, 9) * 0x1p-52);
        double most = pn_lattice_l2(y - x, sigma, 1, INFINITY, 1) / step; /* y - x is exact */
        pn_steps moved =
            pn_lattice_round_far(y, step, PN_LATTICE_FARTHEST) - pn_lattice_round_far(x, step, PN_LATTICE_FARTHEST);

        CHECK(moved >= 0 && (double)moved <= (y > x ? most : 0.0));
    }
    pn_rng_free(rng);
}

/* ---- releases ---- */

typedef void (*release_fn)(pn_rng *rng, double scale, const double *x, size_t n, double *out);

enum { N = 20000 };

/* out / step, when out is the double next to that integer times step. */
static bool steps_of(double out, double step, int64_t *k)
{
    *k = llrint(out / step);
    return (double)*k * step == out;
}

/* The same noise, other data: the outputs differ by the rounded values and by nothing else. */
static void outputs_are_whole_steps(release_fn release, double limit)
{
    static double x[N], moved[N], a[N], b[N];
    const double step = pn_lattice_step(0.3);
    pn_rng *first = seeded(31), *second = seeded(31);
    bool whole = true, same = true;

    for (int j = 0; j < N; j++) {
        x[j] = 1e-4 * j - 1.0;
        moved[j] = nextafter(x[j], 2.0);
    }
    release(first, 0.3, x, N, a);
    release(second, 0.3, moved, N, b);
    for (int j = 0; j < N; j++) {
        int64_t ka = 0, kb = 0;

        whole = whole && steps_of(a[j], step, &ka) && steps_of(b[j], step, &kb);
        same = same && ka - kb == pn_lattice_round(x[j], step, limit) - pn_lattice_round(moved[j], step, limit);
    }
    CHECK(whole && same);
    pn_rng_free(first);
    pn_rng_free(second);
}

/* The mean of |noise|, whose variance is known, is within 1/20 of what it should be; 1.1 is more. */
static void the_scale_is_the_one_asked_for(release_fn release, double mean, double variance)
{
    static double x[N];
    const double sigma = 12.5, center = 100.0, spread = 4.891639 * sqrt(variance / N);
    double sum = 0.0;
    pn_rng *rng = seeded(32);

    for (int j = 0; j < N; j++)
        x[j] = center;
    release(rng, sigma, x, N, x);
    for (int j = 0; j < N; j++)
        sum += fabs(x[j] - center) / sigma;
    CHECK_CLOSE(sum / N, mean, spread);
    CHECK(spread < 0.05 * mean);
    pn_rng_free(rng);
}

/* Two releases from one stream share no noise. */
static void releases_are_independent(release_fn release)
{
    static double zero[N], a[N], b[N];
    pn_rng *rng = seeded(33);
    int equal = 0;

    release(rng, 1.0, zero, N, a);
    release(rng, 1.0, zero, N, b);
    for (int j = 0; j < N; j++)
        equal += a[j] == b[j];
    CHECK(equal == 0); /* one pair agrees with probability below 2^-40 */
    pn_rng_free(rng);
}

/* The sum of a clamped value and its noise stays in its range and keeps its sign. */
static void extremes_do_not_overflow(release_fn release, double limit)
{
    double x[4] = { 1e300, -1e300, INFINITY, -INFINITY };
    pn_rng *rng = seeded(34);

    for (int i = 0; i < 100; i++) {
        double out[4];

        release(rng, 1.0, x, 4, out);
        for (int j = 0; j < 4; j++)
            CHECK(fabs(fabs(out[j]) - ldexp(limit, -40)) < 60.0 && out[j] * x[j] > 0.0);
    }
    pn_rng_free(rng);
}

static void every_release_is_sound(release_fn release, double limit, double mean, double variance)
{
    outputs_are_whole_steps(release, limit);
    the_scale_is_the_one_asked_for(release, mean, variance);
    releases_are_independent(release);
    extremes_do_not_overflow(release, PN_LATTICE_FARTHEST);
}

/* ---- what is charged ---- */

static void sensitivities_are_rounded_upward(void)
{
    const double step = pn_lattice_step(1.0), bounded = pn_lattice_l2(1.0, 1.0, 1000000, 4096.0, 1);

    /* noise.md: p = 1e6, |a| <= 2^12 sigma: 1.82e-9 more; A 2^-52 = 1 there */
    CHECK_CLOSE(bounded - 1.0, 1000.0 * step * 2.0, 1e-14);
    CHECK(bounded > 1.0 + 1000.0 * step * 2.0);
    CHECK_CLOSE(pn_lattice_l1(1.0, 1.0, 1000000, 4096.0, 1) - 1.0, 1e6 * step * 2.0, 1e-14);
    CHECK_CLOSE(pn_lattice_l2(1.0, 1.0, 1000000, 4096.0, 4) - 1.0, 1000.0 * step * 5.0, 1e-14);
    CHECK(pn_lattice_l2(1.0, 1.0, 1000000, 4096.0, 4) > 1.0 + 0x1p-50 + 1000.0 * step * 5.0);
    CHECK_CLOSE(pn_lattice_l2(1.0, 1.0, 1, INFINITY, 1) - 1.0, step * 1025.0, 1e-14);
    CHECK_CLOSE(pn_lattice_l2(1.0, 1.0, 1, 1e300, 1) - 1.0, step * 1025.0, 1e-14);
    CHECK_CLOSE(pn_lattice_l2(3.0, 2.0, 4, 0.0, 1) - 3.0, 4.0 * step, 1e-14);
    /* sums that were rounded on the way err in proportion to their bound, however far that is */
    CHECK_CLOSE(pn_lattice_l2(1.0, 1.0, 1, 0x1p40, 4), 1.0 + (1025.0 + 3.0 * 0x1p28) * step, 1e-14);
    CHECK(pn_lattice_l2(0x1p-800, 0x1p-900, 1, 0.0, 1) > 0x1p-800);
}

/* What a release adds is a stream's noise to values rounded one by one,
 * near the border of what a quick way may take as well. */
static void a_release_is_its_rounding_and_its_noise(void)
{
    const double sigma = 0.7, step = pn_lattice_step(sigma);
    static double x[N], out[N];
    static int64_t noise[N];

    for (int scale = 0; scale < 4; scale++) {
        pn_rng *one = seeded(11), *other = seeded(11);

        for (size_t j = 0; j < N; j++)
            x[j] = ((double)(j % 401) - 200.37) * ldexp(step, scale == 0 ? -9 : 40 + scale); /* to 2^51 steps */
        pn_noise_gaussian(one, N, noise);
        pn_lattice_gaussian(other, sigma, x, N, out);
        for (size_t j = 0; j < N; j++)
            CHECK(out[j] == (double)(pn_lattice_round(x[j], step, 0x1p62) + noise[j]) * step);
        pn_rng_free(one);
        pn_rng_free(other);
    }
}

/* The same from 2^55 to 2^100 steps, alone and with a second query under the same noise. */
static void far_releases_carry_their_values(void)
{
    enum { SOME = 300 };
    const double sigma = 0.7, step = pn_lattice_step(sigma);
    double x[SOME], out[SOME];
    int64_t noise[SOME];
    pn_steps whole[SOME];

    for (int with = 0; with < 2; with++) {
        pn_rng *one = seeded(12), *other = seeded(12), *values = seeded(13);

        for (size_t j = 0; j < SOME; j++) {
            x[j] = any_double(values, 55, 100) * step * (j % 3 ? 1.0 : -1.0);
            whole[j] = with ? -pn_lattice_round_far(x[j], step, PN_LATTICE_FARTHEST) + (pn_steps)j : 0;
        }
        pn_noise_gaussian(one, SOME, noise);
        if (with)
            pn_lattice_gaussian_sum(other, sigma, x, whole, SOME, out);
        else
            pn_lattice_gaussian(other, sigma, x, SOME, out);
        for (size_t j = 0; j < SOME; j++) {
            pn_steps sum = pn_lattice_round_far(x[j], step, PN_LATTICE_FARTHEST) + whole[j] + noise[j];

            CHECK(out[j] == (double)sum * step);
            CHECK(fabs(out[j] - (with ? (double)j * step : x[j])) <= 10.0 * sigma + 0x1p-51 * fabs(out[j]));
        }
        pn_rng_free(one);
        pn_rng_free(other);
        pn_rng_free(values);
    }
}

int main(void)
{
    const double half_normal = sqrt(2.0 / acos(-1.0));

    far_values_keep_their_sign();
    rounding_is_to_nearest_even();
    neighbours_stay_neighbours_at_the_clamp();
    far_values_are_divided_exactly();
    far_neighbours_stay_neighbours();
    far_releases_carry_their_values();
    every_release_is_sound(pn_lattice_gaussian, 0x1p62, half_normal, 1.0 - half_normal * half_normal);
    every_release_is_sound(pn_lattice_gaussian_exact, 0x1p62, half_normal, 1.0 - half_normal * half_normal);
    every_release_is_sound(pn_lattice_laplace, 0x1p61, 1.0, 1.0);
    sensitivities_are_rounded_upward();
    a_release_is_its_rounding_and_its_noise();
    return check_summary();
}
