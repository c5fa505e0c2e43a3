/* simd_steps_test.c -- the kernels of mirror steps of every simd table of this processor against plain loops, bit for
 * bit, and against expl.  Depends on: check.h, simd.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "check.h"
#include "numeric/simd/simd.h"

enum { MOST = 1203 };

static double x[MOST], out[MOST + 1], want[MOST];

static void fill(size_t n, double scale)
{
    unsigned state = 7;

    for (size_t j = 0; j < n; j++) {
        state = state * 1664525u + 1013904223u;
        x[j] = scale * ((double)state / 2147483648.0 - 1.0);
        if (j % 13 == 5 || (j > 40 && j < 90))
            x[j] = 0.0;
    }
}

static double entry_of(double entry, int magnitude)
{
    return magnitude ? fabs(entry) : entry;
}

static void check_largest(const pn_simd *simd, size_t n, int magnitude)
{
    for (size_t place = 0; place < n; place += n / 7 + 1) {
        double least = 0.0;

        fill(n, 1.0);
        for (size_t j = 0; j < n; j++) /* all below 0 */
            x[j] -= 3.0;
        x[place] = magnitude ? -5.0 : -1.5;
        for (size_t j = 0; j < n; j++)
            least = fmin(least, x[j]);
        CHECK(simd->largest(n, x, magnitude) == (magnitude ? -least : -1.5));
    }
}

static void check_threshold(const pn_simd *simd, size_t n, int magnitude, double top, double bound)
{
    size_t count = 0;

    fill(n, 1.0);
    for (size_t j = 0; j < n; j++) {
        if (entry_of(x[j], magnitude) - top > bound)
            want[count++] = entry_of(x[j], magnitude) - top;
    }
    out[n] = 77.0;
    CHECK(simd->above(n, x, magnitude, top, bound, out) == count);
    CHECK(memcmp(out, want, count * sizeof *out) == 0 && out[n] == 77.0); /* nothing is written behind the end */
    for (size_t j = 0; j < n; j++) {
        double over = (entry_of(x[j], magnitude) - top) - bound;

        want[j] = over > 0.0 ? (magnitude ? copysign(over, x[j]) : over) : 0.0;
    }
    simd->exceeding(n, x, magnitude, top, bound, out);
    CHECK(memcmp(out, want, n * sizeof *out) == 0 && out[n] == 77.0);
    memcpy(out, x, n * sizeof *x);
    simd->exceeding(n, out, magnitude, top, bound, out);
    CHECK(memcmp(out, want, n * sizeof *out) == 0);
    CHECK(simd->above(n, x, magnitude, top, bound, x) == count); /* in place */
}

/* An exponent of size u is off by some u units, and the sums by as much of what they add up. */
static void check_sines(const pn_simd *simd, size_t n, double radius, double far)
{
    double top = far, across = far < 300.0 ? exp(-2.0 * far) : 0.0, sums[2] = { 1.0, 2.0 }, unit;
    long double up_sum = 0.0L, down_sum = 0.0L;
    bool close = true;

    fill(n, far * radius);
    out[n] = 77.0;
    simd->sines(n, x, radius, top, across, out, sums);
    unit = 4.0 * (1.0 + far) * DBL_EPSILON;
    for (size_t j = 0; j < n; j++) {
        long double u = fabsl((long double)x[j]) / radius, up = expl(u - top), down = expl(-u - top);
        long double sine = x[j] < 0.0 ? down - up : up - down;

        close = close && fabsl(out[j] - sine) <= unit * (up + down);
        up_sum += up;
        down_sum += down;
    }
    CHECK(close);
    CHECK(out[n] == 77.0);
    CHECK_CLOSE(sums[0] - 1.0, (double)up_sum, (unit + 1e-13) * (1.0 + (double)up_sum));
    CHECK_CLOSE(sums[1] - 2.0, (double)down_sum, (unit + 1e-13) * (2.0 + (double)down_sum));
    simd->sines(n, x, radius, top, across, x, sums);
    CHECK(memcmp(x, out, n * sizeof *x) == 0); /* in place */
}

/* x^2 = u from random starts, clipped to [0.2, 0.9]: to the last bit, one entry no number. */
static void check_newton(const pn_simd *simd, size_t n)
{
    const double low = 0.2, high = 0.9, arrived = 0.25;
    double u[MOST], slope[MOST], curvature[MOST], beyond[MOST + 1], far[MOST];

    fill(n, 1.0);
    for (size_t j = 0; j < n; j++) {
        x[j] = fabs(x[j]) + 0.1;
        u[j] = (double)(j % 17) / 17.0;
        slope[j] = x[j] * x[j];
        curvature[j] = j % 11 == 3 ? NAN : 2.0 * x[j];
        want[j] = x[j] - (slope[j] - u[j]) / curvature[j];
        want[j] = want[j] < low ? low : want[j] > high ? high : want[j];
        far[j] = want[j] > low && want[j] < high ? fabs(want[j] - x[j]) - arrived * fabs(want[j]) : 1.0;
    }
    memcpy(out, x, n * sizeof *x);
    out[n] = beyond[n] = 77.0;
    simd->newton(n, low, high, arrived, u, slope, curvature, out, beyond);
    for (size_t j = 0; j < n; j++)
        CHECK(isnan(want[j]) ? isnan(out[j]) : out[j] == want[j]);
    CHECK(memcmp(beyond, far, n * sizeof *far) == 0 && beyond[n] == 77.0 && out[n] == 77.0);
}

int main(void)
{
    const size_t sizes[] = { 1, 2, 3, 7, 8, 9, 31, 32, 33, 511, 512, 513, MOST };

    for (size_t i = 0; pn_simd_at(i); i++) {
        const pn_simd *simd = pn_simd_at(i);

        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            for (int magnitude = 0; magnitude < 2; magnitude++) {
                check_largest(simd, sizes[s], magnitude);
                check_threshold(simd, sizes[s], magnitude, 0.75, -0.5);
                check_threshold(simd, sizes[s], magnitude, 0.75, -4.0); /* all */
                check_threshold(simd, sizes[s], magnitude, 0.75, 1.0);  /* none */
            }
            check_newton(simd, sizes[s]);
            check_sines(simd, sizes[s], 2.5, 3.0);
            check_sines(simd, sizes[s], 2.5, 280.0);
            check_sines(simd, sizes[s], 0.3, 650.0);  /* two exponentials */
            check_sines(simd, sizes[s], 1e-305, 3.0); /* no reciprocal */
        }
        CHECK(simd->above(0, x, 1, 0.0, 0.0, out) == 0);
    }
    return check_summary();
}
