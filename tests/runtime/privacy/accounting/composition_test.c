/* composition_test.c -- optimal and advanced composition of (epsilon, delta) statements.  Numbers: accounting.md item
 * 4, and the binomial sum in mpmath with 80 digits.  Depends on: check.h, privacy/. */
#include <stddef.h>

#include "check.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/composition.h"
#include "privacy/event/event_curve.h"

static void test_kov_delta(void)
{
    static const struct {
        double epsilon, delta;
        size_t count;
        double target, want;
    } row[] = {
        { 0.1, 0.0, 100, 1.0, 0.125688390240636 },       { 0.1, 0.0, 100, 4.774567588, 1.00000000081542e-6 },
        { 0.2, 1e-8, 30, 4.57430386, 1.00000000003e-5 }, { 1.0, 0.0, 7, 3.0, 0.358050601529239 },
        { 5.0, 0.0, 3, 14.5, 0.385621802907416 },        { 0.01, 0.0, 5000, 2.0, 0.00125767116641715 },
        { 0.3, 1e-3, 2, 0.0, 0.150586412441105 },        { 0.5, 0.0, 1, 0.25, 0.137687516631747 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double got = pn_kov_delta(row[i].epsilon, row[i].delta, row[i].count, row[i].target);

        CHECK_CLOSE(got / row[i].want, 1.0, 1e-10);
        CHECK(got >= row[i].want * (1.0 - 2e-15));
    }
    CHECK(pn_kov_delta(1.0, 0.0, 3, 3.0) == 0.0);
    CHECK_CLOSE(pn_kov_delta(1.0, 0.1, 3, 3.0), 1.0 - 0.9 * 0.9 * 0.9, 1e-13);
    CHECK_CLOSE(pn_kov_delta(1e3, 0.0, 1000, 0.0), 1.0, 1e-9);
    CHECK(isnan(pn_kov_delta(0.0, 0.0, 3, 1.0)));
    CHECK(isnan(pn_kov_delta(1.0, 1.0, 3, 1.0)));
    CHECK(isnan(pn_kov_delta(1.0, 0.0, 0, 1.0)));
    CHECK(isnan(pn_kov_delta(1.0, 0.0, 3, -1.0)));
}

/* Where the target is next to count epsilon only the digits behind those of the product are left.  mpmath,
 * 60 digits. */
static void test_kov_next_to_the_sum(void)
{
    static const double row[][4] = { { 15.892000592189735, 11, 174.81200273731142, 3.7767633269079959e-6 },
                                     { 14.573189948349704, 23, 335.1833688120409, 2.2914756175688874e-12 },
                                     { 0.0013105854589993509, 19, 0.024900148353537883, 1.8836645621057546e-12 } };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double got = pn_kov_delta(row[i][0], 0.0, (size_t)row[i][1], row[i][2]);

        CHECK(got >= row[i][3] && got <= row[i][3] * (1.0 + 1e-10));
    }
}

static void test_kov_epsilon(void)
{
    CHECK_CLOSE(pn_kov_epsilon(0.1, 0.0, 100, 1e-6), 4.774567588, 6e-10);
    CHECK_CLOSE(pn_kov_epsilon(0.2, 1e-8, 30, 1e-5), 4.574303860, 6e-10);
    CHECK(pn_kov_epsilon(0.7, 0.0, 1, 1e-300) <= 0.7);
    CHECK(pn_kov_epsilon(0.1, 0.0, 3, 0.9) == 0.0);
    CHECK(isinf(pn_kov_epsilon(0.1, 0.01, 10, 0.01)));
    CHECK(isnan(pn_kov_epsilon(0.1, 0.0, 10, 0.0)));
    CHECK(pn_kov_epsilon(15.892000592189735, 0.0, 11, 3.77e-6) <= 11 * 15.892000592189735 * (1.0 + 1e-15));
}

/* It knows that each release is no worse than randomised response, as the pure Renyi curve does,
 * and loses nothing after. */
static void test_kov_is_never_worse_than_renyi_or_advanced(void)
{
    for (double epsilon = 0.01; epsilon < 3.0; epsilon *= 2.3) {
        for (size_t count = 1; count < 3000; count = count * 5 + 1) {
            double k = (double)count, best = pn_kov_epsilon(epsilon, 0.0, count, 1e-6), renyi = INFINITY;
            double sums = pn_advanced_epsilon_sums(k * pn_advanced_drift(epsilon), k * epsilon * epsilon, 1e-6);

            for (double alpha = 1.01; alpha < 1e4; alpha = 1.0 + (alpha - 1.0) * 1.1)
                renyi = fmin(renyi, pn_rdp_epsilon(alpha, k * pn_curve_pure(epsilon, alpha), 1e-6));
            CHECK(best <= renyi * (1.0 + 1e-9) && best <= k * epsilon);
            CHECK(best <= sums && sums <= pn_advanced_epsilon(epsilon, count, 1e-6));
        }
    }
}

static void test_advanced(void)
{
    CHECK_CLOSE(pn_advanced_epsilon(0.1, 100, 1e-6), 6.308231, 6e-7);
    CHECK_CLOSE(pn_advanced_drift(1e-8), 5e-17, 1e-30);
    CHECK_CLOSE(pn_advanced_drift(100.0), 100.0, 1e-12);
}

int main(void)
{
    test_kov_delta();
    test_kov_next_to_the_sum();
    test_kov_epsilon();
    test_kov_is_never_worse_than_renyi_or_advanced();
    test_advanced();
    return check_summary();
}
