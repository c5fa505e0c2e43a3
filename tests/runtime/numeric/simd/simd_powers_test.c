/* simd_powers_test.c -- the kernels of powers of every simd table of this processor against powl, entry by entry.
 * Depends on: check.h, simd.h. */
#include <math.h>
#include <string.h>

#include "check.h"
#include "numeric/simd/simd.h"

enum { MOST = 1203 };

static double x[MOST], out[MOST + 1];

/* Signs of both kinds, zeros, and whole vectors with nothing above the threshold. */
static void fill(size_t n)
{
    unsigned state = 7;

    for (size_t j = 0; j < n; j++) {
        state = state * 1664525u + 1013904223u;
        x[j] = (double)state / 2147483648.0 - 1.0;
        if (j % 13 == 0 || (j > 40 && j < 90))
            x[j] = 0.0;
    }
}

static long double shifted(const pn_powers *of, double entry)
{
    long double u = (((long double)(of->magnitude ? fabs(entry) : entry) - of->base) + of->add) / of->size;

    return u > 0.0L ? u : 0.0L;
}

static void check_one(const pn_simd *simd, const pn_powers *of, size_t n)
{
    double got[3] = { 1.0, 2.0, 3.0 }, written[2] = { 0.0 };
    long double want[3] = { 0.0L };
    bool close = true;

    fill(n);
    out[n] = 77.0;
    simd->power_sums(n, x, of, got);
    simd->powers(n, x, of, -2.0, out, written);
    for (size_t j = 0; j < n; j++) {
        long double u = shifted(of, x[j]), w = u > 0.0L ? powl(u, of->exponent) : 0.0L;
        double entry = (double)(-2.0L * w);

        if (of->magnitude && x[j] < 0.0)
            entry = -entry;
        close = close && fabs(out[j] - entry) <= 1e-13 * fabs(entry);
        for (int k = 0; k < 3; k++)
            want[k] += w * powl(u, k);
    }
    CHECK(close);
    CHECK(out[n] == 77.0); /* nothing is written behind the end */
    for (int k = 0; k < 3; k++)
        CHECK_CLOSE(got[k] - (k + 1.0), (double)want[k], 1e-12 * (1.0 + (double)want[k]));
    for (int k = 0; k < 2; k++)
        CHECK_CLOSE(written[k], (double)want[k], 1e-12 * (1.0 + (double)want[k]));
    simd->powers(n, x, of, -2.0, x, written);
    CHECK(memcmp(x, out, n * sizeof *x) == 0); /* in place */
}

int main(void)
{
    const double exponents[] = { 0.07, 1.0, 2.5, 13.8 };
    const size_t sizes[] = { 0, 1, 2, 3, 7, 8, 9, 511, 512, 513, MOST };

    for (size_t i = 0; pn_simd_at(i); i++) {
        for (size_t e = 0; e < 4; e++) {
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                for (int magnitude = 0; magnitude < 2; magnitude++) {
                    check_one(pn_simd_at(i), &(pn_powers){ magnitude, 0.0, 0.0, 1.0, exponents[e] }, sizes[s]);
                    check_one(pn_simd_at(i), &(pn_powers){ magnitude, 0.75, 0.25, 0.5, exponents[e] }, sizes[s]);
                }
            }
        }
        /* a divisor without a reciprocal, and exponent 0: how many are above */
        check_one(pn_simd_at(i), &(pn_powers){ 1, 0.0, 0.0, 1e-305, 0.5 }, 100);
        {
            double count[3] = { 0.0 };

            fill(100);
            pn_simd_at(i)->power_sums(100, x, &(pn_powers){ 1, 0.0, 0.0, 1.0, 0.0 }, count);
            CHECK(count[0] == 46.0); /* of 100 less entries 41 to 89 and, of the rest, 0, 13, 26, 39, 91 */
        }
    }
    return check_summary();
}
