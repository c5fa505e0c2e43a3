/* gaussian_test.c -- the analytic Gaussian and its inverses.  Numbers: accounting.md item 2, and mpmath with 80 digits.
 * Depends on: check.h, privacy/. */
#include <stddef.h>

#include "check.h"
#include "numeric/root.h"
#include "privacy/accounting/accountant.h"
#include "privacy/accounting/calibrate.h"
#include "privacy/event/gaussian.h"

/* Promised: 1e-12 above the truth, which the forms reach to about 2e-13. */
static void test_delta_to_full_relative_accuracy(void)
{
    static const double row[][3] = {
        { 1e-9, 0.0, 3.989422804014327e-10 },  { 1e-8, 1e-8, 8.331547100426365e-10 },
        { 1e-6, 1e-6, 8.331551224542539e-8 },  { 1e-4, 0.003, 1.634406504023721e-203 },
        { 0.05, 1.5, 1.726887670237942e-200 }, { 0.5, 0.1, 0.1592605074139917 },
        { 0.99, 8.0, 1.85571578411498e-15 },   { 1.0, 1.0, 0.1269367375066439 },
        { 1.0, 0.5, 0.2384217081348766 },      { 3.0, 4.5, 0.3784860516444378 },
        { 3.0, 4.4, 0.3906928558947529 },      { 3.0, 60.0, 1.433859702161108e-77 },
        { 20.0, 150.0, 0.9927919565629028 },   { 100.0, 8000.0, 3.773207040719912e-198 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double ratio = pn_gaussian_delta(row[i][0], row[i][1]) / row[i][2];

        CHECK_CLOSE(ratio, 1.0 + 1e-12, 5e-13);
        CHECK(ratio > 1.0);
    }
    CHECK(pn_gaussian_delta(INFINITY, 3.0) == 1.0);
    CHECK(pn_gaussian_delta(200.0, 0.0) == 1.0);
    CHECK(pn_gaussian_delta(1e-300, 1.0) < 1e-300);
    CHECK(isnan(pn_gaussian_delta(0.0, 1.0)));
    CHECK(isnan(pn_gaussian_delta(NAN, 1.0)));
    CHECK(isnan(pn_gaussian_delta(1.0, -1.0)));
}

static void test_delta_falls_with_epsilon_and_grows_with_mu(void)
{
    for (double mu = 1e-8; mu < 60.0; mu *= 1.9) {
        double before = 1.0;

        for (double t = -0.4; t < 30.0; t += 0.37) {
            double epsilon = fmax(0.0, mu * mu / 2.0 + mu * t), now = pn_gaussian_delta(mu, epsilon);

            CHECK(now <= before && now <= pn_gaussian_delta(mu * 1.001, epsilon));
            before = now;
        }
    }
}

static void test_epsilon(void)
{
    CHECK_CLOSE(pn_gaussian_epsilon(1.0, 1e-5), 4.3771780957, 1e-10);
    CHECK_CLOSE(pn_gaussian_epsilon(1.0, 1e-10), 6.5479240669, 1e-10);
    CHECK_CLOSE(pn_gaussian_epsilon(5.0, 1e-5), 33.1037323359, 1e-10);
    for (double mu = 1e-6; mu < 100.0; mu *= 7.3) {
        for (double delta = 1e-300; delta < 0.5; delta = delta * 1e20 + 1e-12) {
            double epsilon = pn_gaussian_epsilon(mu, delta);

            CHECK(pn_gaussian_delta(mu, epsilon) <= delta);
            CHECK(epsilon == 0.0 || pn_gaussian_delta(mu, epsilon * (1.0 - 1e-9)) > delta);
        }
    }
    CHECK(pn_gaussian_epsilon(0.1, 0.5) == 0.0);
    CHECK(pn_gaussian_epsilon(1.0, 1.0) == 0.0);
    CHECK(isinf(pn_gaussian_epsilon(1.0, 0.0)));
    CHECK(isnan(pn_gaussian_epsilon(-1.0, 0.1)));
    CHECK(isnan(pn_gaussian_epsilon(1.0, 1.5)));
}

static void test_mu_is_on_the_safe_side(void)
{
    static const double row[][3] = {
        { 1.0, 1e-5, 3.730631635 }, { 0.5, 1e-6, 8.057618481 }, { 8.0, 1e-6, 0.652935384 }, { 0.01, 1e-8, 412.356942 }
    };

    for (size_t i = 0; i < 4; i++) {
        double mu = pn_gaussian_mu(row[i][0], row[i][1]);

        CHECK_CLOSE(1.0 / (mu * row[i][2]), 1.0, 2e-9);
        CHECK(pn_gaussian_delta(mu, row[i][0]) <= row[i][1]);
        CHECK(pn_gaussian_delta(mu * (1.0 + 1e-9), row[i][0]) > row[i][1]);
    }
    CHECK(pn_gaussian_mu(1.0, 0.0) == 0.0);
    CHECK(isinf(pn_gaussian_mu(INFINITY, 0.1)));
    CHECK(isnan(pn_gaussian_mu(-1.0, 0.1)));
    CHECK(isnan(pn_gaussian_mu(1.0, 1.0)));
    CHECK(pn_gaussian_mu(0.0, 1e-5) > 2.5e-5 && pn_gaussian_mu(0.0, 1e-5) < 2.51e-5); /* delta = 2 Phi(mu/2) - 1 */
}

static void test_calibrated_noise(void)
{
    double sigma = pn_calibrate_gaussian(1.0, 1e-5, 2.0);

    CHECK_CLOSE(sigma, 2.0 * 3.730631635, 1e-8);
    CHECK(pn_gaussian_delta(2.0 / sigma, 1.0) <= pn_ideal_delta(1e-5));
    CHECK(2.0 / pn_calibrate_laplace(0.3, 2.0) <= 0.3);
    CHECK_CLOSE(pn_calibrate_laplace(0.3, 2.0), 2.0 / 0.3, 1e-14);
    CHECK(isnan(pn_calibrate_gaussian(1.0, 0.0, 1.0)));
    CHECK(isnan(pn_calibrate_gaussian(1.0, 1e-5, 0.0)));
    CHECK(isnan(pn_calibrate_gaussian(-1.0, 1e-5, 1.0)));
    CHECK(isnan(pn_calibrate_laplace(0.0, 1.0)));
    CHECK(isnan(pn_calibrate_laplace(1e-300, 1e300)));
}

/* mirror-descent.md section 5: mu and rho of (epsilon, delta), to the ten digits that are printed there. */
static void test_budgets_of_mirror_descent(void)
{
    static const struct {
        double epsilon, delta, mu, rho;
    } want[] = { { 1.0, 1e-6, 0.236704381, 0.0243559704 },
                 { 1.0, 1e-5, 0.268051123, 0.0305565952 },
                 { 0.1, 1e-6, 0.0275446502, 0.000321047690 } };

    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        CHECK_CLOSE(pn_gaussian_mu(want[i].epsilon, want[i].delta), want[i].mu, 1e-8 * want[i].mu);
        CHECK_CLOSE(pn_zcdp_rho(want[i].epsilon, want[i].delta), want[i].rho, 1e-8 * want[i].rho);
    }
}

/* perturbation.md section 3.5: with l = L x theta, x in {-1, 1}, the article's b of deviation L
 * sqrt(2 ln(1/delta))/epsilon is a Gaussian mechanism of sensitivity 2 L,
 * and far from the (epsilon, 1e-6) that is claimed. */
static void test_the_article_of_objective_perturbation_is_refuted(void)
{
    double per_epsilon = 2.0 / sqrt(2.0 * log(1e6));

    CHECK_CLOSE(pn_gaussian_delta(per_epsilon, 1.0), 8.26e-4, 0.005e-4);
    CHECK_CLOSE(pn_gaussian_delta(0.1 * per_epsilon, 0.1), 5.35e-5, 0.005e-5);
}

typedef struct asked {
    double mu, epsilon, delta;
} asked;

static bool private_at(void *self, double epsilon)
{
    const asked *of = self;

    return pn_gaussian_delta(of->mu, epsilon) <= of->delta;
}

static bool not_private_at(void *self, double mu)
{
    const asked *of = self;

    return pn_gaussian_delta(mu, of->epsilon) > of->delta;
}

/* Inverses look at most points in a cheaper form. */
static void test_inverses_are_those_of_the_full_form_to_the_last_bit(void)
{
    for (double mu = 3e-9; mu < 40.0; mu *= 2.3) {
        for (double delta = 1e-250; delta < 0.4; delta = pow(delta, 0.6) * 0.7) {
            asked of = { .mu = mu, .epsilon = pn_gaussian_epsilon(mu, delta), .delta = delta };
            double high = (mu * mu / 2.0 + mu * sqrt(-2.0 * log(delta))) * (1.0 + 1e-9);

            if (!(of.epsilon > 0.0))
                continue;
            CHECK(of.epsilon == nextafter(pn_bisect(private_at, &of, 0.0, high), INFINITY));
            CHECK(pn_gaussian_mu(of.epsilon, delta) == pn_bisect(not_private_at, &of, mu / 2.0, mu * 2.0));
        }
    }
}

int main(void)
{
    test_delta_to_full_relative_accuracy();
    test_delta_falls_with_epsilon_and_grows_with_mu();
    test_epsilon();
    test_inverses_are_those_of_the_full_form_to_the_last_bit();
    test_mu_is_on_the_safe_side();
    test_calibrated_noise();
    test_budgets_of_mirror_descent();
    test_the_article_of_objective_perturbation_is_refuted();
    return check_summary();
}
