/* audit_gaussian_run_test.c -- the recursion for trade-off curves, against the closed formula of (epsilon, delta)-DP
 * and against runs that are Gaussian-DP.  The source is compiled here for its recursion.  Depends on: check.h. */
#include "runtime/privacy/audit/audit_gaussian_run.c"

#include "privacy/audit/audit.h"

#include "check.h"

/* a = exp(epsilon) w + delta, or 1 - exp(-epsilon) (1 - delta - w) where that is less: the other side of the curve. */
static double approximate_least(const void *self, double a)
{
    const double *parameters = self;
    double x = exp(parameters[0]), delta = parameters[1];

    return fmax(0.0, fmax((a - delta) / x, a * x - delta - (x - 1.0)));
}

/* Never below it, equal when all guesses are right, and at most a quarter above where a bound is decided. */
static void the_recursion_agrees_with_the_formula(void)
{
    static const double parameters[][2] = { { 0.0, 0.0 }, { 0.5, 0.0 }, { 1.0, 1e-3 }, { 3.0, 1e-6 }, { 0.2, 1e-2 } };

    for (size_t c = 0; c < sizeof parameters / sizeof parameters[0]; c++) {
        for (size_t r = 1; r <= 60; r += 1 + r / 4) {
            for (size_t v = 1; v <= r; v += 1 + r / 8) {
                pn_guesses g = { v, r, r + r / 2 };
                double p = pn_audit_guess_tail(v, r, g.m, parameters[c][0], parameters[c][1]);

                if (p < 0.999)
                    CHECK(possible(&g, p * (1.0 - 1e-9), approximate_least, parameters[c]));
                if (p < 0.999 && v == r)
                    CHECK(!possible(&g, p * (1.0 + 1e-9), approximate_least, parameters[c]));
                if (p < 0.1)
                    CHECK(!possible(&g, p * 1.25, approximate_least, parameters[c]));
            }
        }
    }
}

/* Independent canaries, each seen through N(0 or 1, 1/mu^2) and guessed by its side: right with chance Phi(mu/2). */
static void independent_gaussian_canaries_are_possible(void)
{
    static const double mus[] = { 0.1, 1.0, 3.0 };

    for (size_t c = 0; c < 3; c++) {
        double right = exp(pn_log_normal_cdf(mus[c] / 2.0));

        for (size_t m = 1; m <= 1000; m = m * 2 + 5) {
            for (size_t v = 1; v <= m; v += 1 + m / 20) {
                pn_guesses g = { v, m, m };
                double below, above;

                pn_binomial_tails(v, m, right, &below, &above);
                CHECK(possible(&g, above, gaussian_least, &mus[c]));
            }
        }
    }
    /* 692 of 1000 is what mu = 1 gives in the mean, but a run that tells much once in 20 times needs less: the chance
     * of "right" and "wrong" in such runs, 0.05 * 0.692 and 0.05 * 0.308, are 0.339 apart in quantiles. */
    CHECK_CLOSE(pn_audit_run_mu(&(pn_guesses){ 692, 1000, 1000 }, 0.05), 0.34, 0.01);
    CHECK_CLOSE(pn_audit_run_mu(&(pn_guesses){ 497, 500, 5000 }, 0.05), 1.3598434114828706, 1e-8); /* in Python */
}

static void one_canary_has_the_closed_form(void)
{
    /* right with chance Phi(mu/2) at most: more than 0.95 only when mu > 2 quantile(0.95) */
    CHECK_CLOSE(pn_audit_run_mu(&(pn_guesses){ 1, 1, 1 }, 0.95), 2.0 * pn_normal_quantile(0.95), 1e-9);
    CHECK(pn_audit_run_mu(&(pn_guesses){ 0, 5, 5 }, 0.05) == 0.0);
    CHECK(pn_audit_run_mu(&(pn_guesses){ 250, 500, 500 }, 0.05) == 0.0);
}

int main(void)
{
    the_recursion_agrees_with_the_formula();
    independent_gaussian_canaries_are_possible();
    one_canary_has_the_closed_form();
    return check_summary();
}
