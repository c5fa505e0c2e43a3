/* sampled_curve_test.c -- Renyi curves of subsampled Gaussians: against 40-digit quadrature, the numbers of
 * accounting.md, older bounds, and mixtures enumerated over every possible sample of small data sets.
 * Depends on: check.h, privacy/. */
#include <stddef.h>
#include <stdint.h>

#include "check.h"
#include "privacy/event/sampled_curve.h"

typedef double curve(double q, double z, double alpha);
static curve *const curves[] = { pn_curve_poisson, pn_curve_fixed_size, pn_curve_poisson_replace };

/* The curves promise 1e-12 above the truth, to 1e-13. */
static bool just_above(double got, double want)
{
    return got >= want * (1.0 + 0.8e-12) && got <= want * (1.0 + 1.2e-12);
}

/* q, z, alpha and the three curves: mpmath, 40 (the next to last row 100) digits,
 * adaptive quadrature of the defining integrals. */
static void test_against_many_digits(void)
{
    static const double row[][6] = {
        { 0.01, 1.1, 1.5, 9.55452857187483e-5, 0.000154383550012915, 0.000271838826468619 },
        { 0.01, 1.1, 4.7, 0.000317788071821947, 0.000488377163213794, 0.000857512565266376 },
        { 0.2, 0.7, 2.3, 0.347069179072239, 0.371127560728412, 0.509637553615143 },
        { 1e-07, 50, 1.3, 2.60052006926743e-18, 2.64201628640833e-18, 1.04000002769172e-17 },
        { 0.5, 3, 20.5, 0.54059977426722, 0.540599846539527, 1.11988681923632 },
        { 0.9, 1, 5.5, 2.62274100206838, 2.62274105833373, 4.89307210144402 },
        { 0.999, 0.5, 3.3, 6.59856464463697, 6.59856464470806, 13.5046161435214 },
        { 1e-12, 0.3, 7.7, 11.0227236594718, 11.0227236594718, 11.0227236594728 },
        { 0.3, 0.12, 2.2, 74.1816054142914, 74.1816054142914, 74.5382803582301 },
        { 0.0001, 10, 100.3, 5.04065840942486e-9, 5.44175441891355e-9, 2.00603143451651e-8 },
        { 0.001, 0.8, 1.001, 1.87198613428359e-6, 3.3817889265568e-6, 4.51904708634407e-6 },
        { 0.6, 0.3, 1.1, 3.55532058354604, 3.74839086860159, 4.43534312392765 },
        { 0.01, 0.03, 1.5, 819.517822775369, 819.517822775369, 819.527873111223 },
        { 1e-12, 0.049, 2.5, 474.564707969357, 474.564707969357, 474.564707969358 },
        { 0.5, 0.02, 1.01, 1192.49246363889, 1192.4924659264, 1193.18561081945 },
        { 1e-12, 1000000.0, 1.25, 6.25000000000312e-37, 6.25000498678163e-37, 2.5e-36 },
        { 0.25, 10000.0, 3.5, 1.09375000820313e-9, 1.09381545351884e-9, 4.37499999179688e-9 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        for (size_t k = 0; k < 3; k++) {
            double got = curves[k](row[i][0], row[i][1], row[i][2]);

            if (!CHECK(just_above(got, row[i][3 + k])))
                (void)fprintf(stderr, "    row %zu, curve %zu: %.17g\n", i, k, got);
        }
    }
}

/* Next to q = 1 what is left of 1 - q decides how far the second mode reaches.  mpmath, 40 digits. */
static void test_replace_next_to_full_samples(void)
{
    static const double row[][4] = {
        { 0.999999999999, 1.0, 20.0, 35.580904433041524 },
        { 0.999999999999, 1.0, 15.0, 29.35739790140943 },
        { 0.999999999999999, 0.7, 12.5, 45.198953496075511 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        CHECK(just_above(pn_curve_poisson_replace(row[i][0], row[i][1], row[i][2]), row[i][3]));
}

/* accounting.md, items 1, 2, 6 and 7; of item 6 it gives six digits. */
static void test_the_specification(void)
{
    static const double order1[] = { 1.5, 2.0, 4.7, 8.0, 16.0, 32.0, 64.0 };
    static const double first[] = { 9.55452857e-5, 1.285100816e-4, 3.1778807182e-4, 5.84070336e-4,
                                    1.69982673,    8.46941643,     21.7680129 };
    static const double order6[] = { 2.0, 3.5, 8.0, 24.0 };
    static const double sixth[3][4] = { { 5.596077e-5, 9.890338e-5, 2.331682e-4, 0.53177856 },
                                        { 8.295114e-5, 1.4524265e-4, 3.3324826e-4, 0.53177856 },
                                        { 1.8243518e-4, 3.1937763e-4, 7.3188356e-4, 0.54182861 } };
    static const double seventh[] = { 0.347069179, 0.371127561, 0.509637554 };

    for (size_t i = 0; i < 7; i++)
        CHECK_CLOSE(pn_curve_poisson(0.01, 1.1, order1[i]) / first[i], 1.0, 6e-9);
    CHECK_CLOSE(pn_curve_poisson(0.01, 1.1, 2.0), log1p(1e-4 * expm1(1.0 / 1.21)), 1e-15);
    CHECK_CLOSE(pn_curve_poisson(1e-7, 50.0, 1.3) / 2.60052007e-18, 1.0, 2e-9);
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < 4; i++)
            CHECK_CLOSE(curves[k](0.01, 1.5, order6[i]) / sixth[k][i], 1.0, 6e-7);
        CHECK_CLOSE(curves[k](0.2, 0.7, 2.3), seventh[k], 6e-10);
    }
}

/* Wang, Balle, Kasiviswanathan (2019), whole orders. */
static double wang(double q, double z, int alpha)
{
    double sum = 1.0, binomial = alpha * (alpha - 1) / 2.0, e = exp(1.0 / (z * z));

    sum += q * q * binomial * fmin(4.0 * (e - 1.0), 2.0 * e);
    for (int j = 3; j <= alpha; j++) {
        binomial *= (alpha - j + 1.0) / j;
        sum += 2.0 * pow(q, j) * binomial * exp((j - 1.0) * j / (2.0 * z * z));
    }
    return log(sum) / (alpha - 1.0);
}

static void test_fixed_size_is_between_poisson_and_wang(void)
{
    static const double q[] = { 0.001, 0.01, 0.1, 0.4 }, z[] = { 0.8, 1.5, 4.0 };

    CHECK_CLOSE(wang(0.01, 1.5, 2), 2.2382435e-4, 1e-11);
    CHECK_CLOSE(wang(0.01, 1.5, 8), 9.5591213e-4, 1e-11);
    CHECK_CLOSE(wang(0.01, 1.5, 24), 0.56195499, 1e-8);
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 3; j++) {
            for (int alpha = 2; alpha <= 40; alpha++) {
                double got = pn_curve_fixed_size(q[i], z[j], alpha), poisson = pn_curve_poisson(q[i], z[j], alpha);

                CHECK(got <= wang(q[i], z[j], alpha) * (1.0 + 1e-11));
                CHECK(got >= poisson * (1.0 - 1e-11) && got <= 2.0 * poisson);
            }
        }
    }
}

/* Whole orders up to 64 are sums, all others integrals. */
static void test_sum_and_integral_agree(void)
{
    static const double q[] = { 1e-5, 0.01, 0.3, 0.99 }, z[] = { 0.06, 0.5, 1.0, 3.0, 40.0 };

    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 5; j++) {
            for (double alpha = 2.0; alpha <= 64.0; alpha += alpha < 6.0 ? 1.0 : 7.0) {
                double below = pn_curve_poisson(q[i], z[j], alpha * (1.0 - 1e-9)),
                       above = pn_curve_poisson(q[i], z[j], alpha * (1.0 + 1e-9));

                CHECK_CLOSE(pn_curve_poisson(q[i], z[j], alpha) / (0.5 * (below + above)), 1.0, 2e-12);
            }
        }
    }
}

static void test_extremes_stay_numbers_in_order(void)
{
    static const double q[] = { 1e-300, 1e-12, 1e-3, 0.1, 0.7, 1.0 - 1e-6, 1.0 - 1e-12 };
    static const double z[] = { 1e-70, 1e-3, 0.03, 0.3, 1.0, 3.0, 30.0, 1e3, 1e6, 1e70 };
    static const double alpha[] = { 1.0 + 1e-9, 1.0009765625, 1.1, 1.5, 2.0, 2.5, 8.0, 64.0, 64.1, 1024.0, 65536.0 };

    for (size_t k = 0; k < 3; k++) {
        double before_q[10][11] = { { 0.0 } };

        for (size_t i = 0; i < 7; i++) {
            double before_z[11];

            for (size_t j = 0; j < 10; j++) {
                double before = 0.0;

                for (size_t a = 0; a < 11; a++) {
                    double got = curves[k](q[i], z[j], alpha[a]);

                    CHECK(got >= before * (1.0 - 1e-12) && got <= 2.0001 * alpha[a] / z[j] / z[j]);
                    CHECK(got >= before_q[j][a] * (1.0 - 1e-12));
                    CHECK(j == 0 || got <= before_z[a] * (1.0 + 1e-12));
                    before = before_z[a] = before_q[j][a] = got;
                }
            }
        }
        CHECK(isinf(curves[k](0.1, 1.0, INFINITY)));
        CHECK_CLOSE(curves[k](1.0 - 1e-15, 2.0, 3.5) / ((k == 2 ? 4.0 : 1.0) * 3.5 / 8.0), 1.0, 1e-12);
    }
}

/* ---- every possible sample of small data sets ---- */

#define MOST 64 /* components of a mixture */

typedef struct mixture {
    double mean[MOST], mass[MOST];
    size_t count;
} mixture;

static uint64_t state = 20240607;

static double uniform(double low, double high)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(state >> 11) * 0x1p-53;
}

static double density(const mixture *m, double sigma, double x)
{
    double sum = 0.0;

    for (size_t i = 0; i < m->count; i++) {
        double t = (x - m->mean[i]) / sigma;

        sum += m->mass[i] * exp(-0.5 * t * t);
    }
    return sum / (sigma * 2.50662827463100050242);
}

#define ORDERS 3
#define TICKS  6
static const double orders[ORDERS] = { 1.5, 2.3, 8.0 }, ticks[TICKS] = { 1.0, 1.05, 1.3, 2.0, 5.0, 20.0 };

/* Renyi divergences and hockey sticks of p from q on a grid, good to about 1e-12 and 1e-5. */
static void compare(const mixture *p, const mixture *q, double sigma, double renyi[ORDERS], double stick[TICKS])
{
    double step = sigma / 40.0, reach = 8.0 + 20.0 * sigma; /* at order 8 the integrand's peak is up to 16 away */

    for (size_t i = 0; i < ORDERS; i++)
        renyi[i] = 0.0;
    for (size_t i = 0; i < TICKS; i++)
        stick[i] = 0.0;
    for (double x = -reach; x <= reach; x += step) {
        double a = density(p, sigma, x), b = density(q, sigma, x);

        for (size_t i = 0; i < ORDERS && b > 0.0; i++)
            renyi[i] += step * b * pow(a / b, orders[i]);
        for (size_t i = 0; i < TICKS; i++)
            stick[i] += step * fmax(0.0, a - ticks[i] * b);
    }
    for (size_t i = 0; i < ORDERS; i++)
        renyi[i] = log(renyi[i]) / (orders[i] - 1.0);
}

static double upper(double x)
{
    return 0.5 * erfc(x * 0.70710678118654752440);
}

/* Hockey stick of (1-q) N(0, z^2) + q N(1, z^2) from N(0, z^2) at e >= 1. */
static double remove_stick(double q, double z, double e)
{
    double x = z * z * log((e - 1.0 + q) / q) + 0.5;

    return (1.0 - q - e) * upper(x / z) + q * upper((x - 1.0) / z);
}

/* Sums of `batch` of the n records, each subset equally likely. */
static void all_batches(const double *x, size_t n, size_t batch, mixture *out)
{
    out->count = 0;
    for (unsigned set = 0; set < 1u << n; set++) {
        size_t size = 0;
        double sum = 0.0;

        for (size_t i = 0; i < n; i++) {
            if (set >> i & 1u) {
                size++;
                sum += x[i];
            }
        }
        if (size == batch)
            out->mean[out->count++] = sum;
    }
    for (size_t i = 0; i < out->count; i++)
        out->mass[i] = 1.0 / (double)out->count;
}

static void check_fixed(const double *x, const double *y, size_t n, size_t batch, double sigma, double *closest)
{
    mixture p, q;
    double renyi[ORDERS], stick[TICKS], rate = (double)batch / (double)n, z = sigma / 2.0;

    all_batches(x, n, batch, &p);
    all_batches(y, n, batch, &q);
    compare(&p, &q, sigma, renyi, stick);
    for (size_t i = 0; i < ORDERS; i++)
        CHECK(renyi[i] <= (rate < 1.0 ? pn_curve_fixed_size(rate, z, orders[i]) : orders[i] / (2.0 * z * z)) + 1e-10);
    for (size_t i = 0; i < TICKS; i++) {
        double bound = remove_stick(rate, z, ticks[i]);

        CHECK(stick[i] <= bound + 2e-5);
        if (bound > 1e-3)
            *closest = fmax(*closest, stick[i] / bound);
    }
}

static void test_fixed_size_by_enumeration(void)
{
    double closest = 0.0;

    for (int trial = 0; trial < 300; trial++) {
        size_t n = 2 + (size_t)uniform(0.0, 6.0), batch = 1 + (size_t)uniform(0.0, (double)n);
        double x[7], y[7], sigma = exp(uniform(-0.2, 1.4));

        for (size_t i = 0; i < n; i++)
            x[i] = y[i] = trial % 10 ? uniform(-1.0, 1.0) : -1.0;
        y[0] = trial % 10 ? uniform(-1.0, 1.0) : 1.0;
        check_fixed(x, y, n, batch, sigma, &closest);
        check_fixed(y, x, n, batch, sigma, &closest);
    }
    CHECK(closest > 1.0 - 1e-3); /* all others at the opposite extreme: the bound is attained */
}

/* Sums over Poisson samples of n fixed records and one more, that contributes `extra`. */
static void all_samples(const double *x, size_t n, double extra, double rate, mixture *out)
{
    out->count = (size_t)2 << n;
    for (unsigned set = 0; set < out->count; set++) {
        double sum = 0.0, mass = 1.0;

        for (size_t i = 0; i <= n; i++) {
            bool in = (set >> i & 1u) != 0;

            mass *= in ? rate : 1.0 - rate;
            sum += !in ? 0.0 : i < n ? x[i] : extra;
        }
        out->mean[set] = sum;
        out->mass[set] = mass;
    }
}

static void check_poisson(const mixture *p, const mixture *q, double rate, double sigma, curve *bound, double *closest)
{
    double renyi[ORDERS], stick[TICKS];

    compare(p, q, sigma, renyi, stick);
    for (size_t i = 0; i < ORDERS; i++) {
        double most = bound(rate, sigma, orders[i]);

        CHECK(renyi[i] <= most * (1.0 + 1e-9) + 1e-10);
        *closest = fmax(*closest, renyi[i] / most);
    }
}

static void test_poisson_by_enumeration(void)
{
    double closest_zero = 0.0, closest_replace = 0.0;

    for (int trial = 0; trial < 120; trial++) {
        size_t n = (size_t)uniform(0.0, 5.0);
        double x[4], rate = uniform(0.02, 0.98), sigma = exp(uniform(-0.2, 1.2));
        mixture none, one, other;

        for (size_t i = 0; i < n; i++)
            x[i] = uniform(-1.0, 1.0);
        all_samples(x, n, 0.0, rate, &none);
        all_samples(x, n, n ? uniform(-1.0, 1.0) : 1.0, rate, &one);
        all_samples(x, n, n ? uniform(-1.0, 1.0) : -1.0, rate, &other);
        check_poisson(&one, &none, rate, sigma, pn_curve_poisson, &closest_zero);
        check_poisson(&none, &one, rate, sigma, pn_curve_poisson, &closest_zero);
        check_poisson(&one, &other, rate, sigma, pn_curve_poisson_replace, &closest_replace);
        check_poisson(&other, &one, rate, sigma, pn_curve_poisson_replace, &closest_replace);
    }
    CHECK_CLOSE(closest_zero, 1.0, 1e-9);
    CHECK_CLOSE(closest_replace, 1.0, 1e-9);
}

/* Ledgers of tiny budgets ask for orders of 1e20, where the quadrature never ended. */
static void test_huge_orders_cost_what_the_whole_does(void)
{
    for (int k = 0; k < 3; k++) {
        for (double alpha = 1e13; alpha < 1e30; alpha *= 1e3) {
            double whole = (k == 2 ? 4.0 : 1.0) * alpha / 2.0;

            CHECK_CLOSE(curves[k](0.1, 1.0, alpha), whole, 1e-14 * whole);
        }
        CHECK(curves[k](0.1, 1.0, 1e12) <= curves[k](0.1, 1.0, 1e13));
    }
}

int main(void)
{
    test_huge_orders_cost_what_the_whole_does();
    test_against_many_digits();
    test_replace_next_to_full_samples();
    test_the_specification();
    test_fixed_size_is_between_poisson_and_wang();
    test_sum_and_integral_agree();
    test_extremes_stay_numbers_in_order();
    test_fixed_size_by_enumeration();
    test_poisson_by_enumeration();
    return check_summary();
}
