/* audit_curve_test.c -- one run against a claimed trade-off curve: the chance that a true claim is refuted, summed over
 * all numbers of right guesses of mechanisms whose law of them is binomial;
 * and false claims are refuted nearly always.  Nothing is drawn.
 * Depends on: check.h, numeric/beta.h, privacy/audit/audit_check.h, privacy/event/gaussian.h. */
#include "check.h"
#include "numeric/beta.h"
#include "numeric/special.h"
#include "privacy/audit/audit_check.h"
#include "privacy/event/gaussian.h"

enum { POINTS = 40 };

/* P(refuted) at that level, of m canaries guessed right with chance q each. */
static double refuted(size_t m, double q, const pn_audit_curve *curve, double failure)
{
    double sum = 0.0;

    for (size_t correct = m; correct > 0; correct--) {
        pn_guesses guesses = { correct, m, m };

        if (pn_audit_run_chance(&guesses, curve) > failure)
            break; /* fewer right ones are likelier */
        sum += pn_binomial_pmf(correct, m, q);
    }
    return sum;
}

/* Each canary by randomised response that tells the truth for certain with chance delta. */
static void a_point_is_refuted_as_seldom_as_is_said(void)
{
    static const double failures[] = { 0.05, 1e-6 };

    for (int way = 0; way < 8; way++) {
        double epsilon = way & 1 ? 0.5 : 2.0, delta = way & 2 ? 0.0 : 0.01, failure = failures[way / 4];
        pn_audit_curve claim = { &epsilon, &delta, 1 };
        double q = delta + (1.0 - delta) / (1.0 + exp(-epsilon)), less = 0.5 * epsilon;
        pn_audit_curve wrong = { &less, &delta, 1 };

        for (size_t m = 1; m <= 200; m = 3 * m + 1)
            CHECK(refuted(m, q, &claim, failure) <= failure);
        CHECK(refuted(400, q, &wrong, 0.05) > (epsilon > 1.0 ? 0.99 : 0.1));
    }
    for (size_t m = 1; m <= 60; m += 7) {
        for (size_t v = 1; v <= m; v += 3) { /* the sharp bound is for this curve alone, and never above */
            double epsilon = 0.7, delta = 1e-3;
            pn_guesses guesses = { v, m, 2 * m };

            CHECK(pn_audit_run_chance(&guesses, &(pn_audit_curve){ &epsilon, &delta, 1 }) >=
                  pn_audit_guess_tail(v, m, 2 * m, epsilon, delta) * (1.0 - 1e-9));
        }
    }
}

/* The profile of mu-Gaussian-DP at some points: no more is claimed than is true.
 * Each canary is told by the sign of N(+-mu/2, 1). */
static void a_profile_is_sharper_than_its_points(void)
{
    enum { M = 600 };
    double epsilon[POINTS], delta[POINTS], mu = 1.0, q = exp(pn_log_normal_cdf(mu / 2.0)), alone = 1.0;
    pn_audit_curve curve = { epsilon, delta, POINTS };
    pn_guesses guesses = { (size_t)(0.97 * M), M, M };

    for (int i = 0; i < POINTS; i++) {
        epsilon[i] = 0.1 * i;
        delta[i] = pn_gaussian_delta(mu, epsilon[i]);
    }
    CHECK(refuted(M, q, &curve, 0.05) <= 0.05);
    CHECK(refuted(M, q, &curve, 1e-6) <= 1e-6);
    CHECK(refuted(M, exp(pn_log_normal_cdf(3.0)), &curve, 0.05) > 0.99); /* mu = 6 */
    for (int i = 0; i < POINTS; i++)
        alone = fmin(alone, pn_audit_run_chance(&guesses, &(pn_audit_curve){ epsilon + i, delta + i, 1 }));
    CHECK(pn_audit_run_chance(&guesses, &curve) < 0.7 * alone);
    CHECK(pn_audit_run_chance(&guesses, &(pn_audit_curve){ epsilon, delta, 0 }) == 1.0); /* nothing is claimed */
    /* about what the Gaussian's own curve gives: mu that just allows this */
    CHECK_CLOSE(pn_audit_run_mu(&guesses, pn_audit_run_chance(&guesses, &curve)), mu, 0.02);
}

static void an_audit_tells_its_p_value(void)
{
    double scores[100], epsilon[] = { 1.0 }, delta[] = { 0.0 };
    unsigned char included[100];
    pn_audit_curve curve = { epsilon, delta, 1 };
    pn_audit_options options = { .delta = 0.0, .confidence = 0.95, .curve = &curve };
    pn_audit_result result;
    pn_err err;

    for (int i = 0; i < 100; i++) {
        scores[i] = 100.0 - i;
        included[i] = i < 50; /* every guess is right */
    }
    CHECK(pn_audit_one_run(&result, scores, included, 100, 0, 0, &options, NULL) == PN_OK);
    CHECK(result.p_value < 1e-12 && result.hits[0] == 100);
    options.curve = NULL;
    CHECK(pn_audit_one_run(&result, scores, included, 100, 0, 0, &options, NULL) == PN_OK && isnan(result.p_value));
    options.curve = &curve;
    delta[0] = NAN;
    CHECK(pn_audit_one_run(&result, scores, included, 100, 0, 0, &options, &err) == PN_EINVAL);
}

int main(void)
{
    a_point_is_refuted_as_seldom_as_is_said();
    a_profile_is_sharper_than_its_points();
    an_audit_tells_its_p_value();
    return check_summary();
}
