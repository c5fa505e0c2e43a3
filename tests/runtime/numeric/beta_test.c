/* beta_test.c -- binomial probabilities and tails, and the normal quantile, against 40-digit sums.
 * Depends on: check.h. */
#include "numeric/beta.h"

#include "check.h"

static void probabilities_and_tails_have_their_digits(void)
{
    /* k, n, p, P(X = k), P(X < k), P(X >= k): term by term with mpmath, 40 digits */
    static const struct {
        size_t k, n;
        double p, pmf, below, above;
    } cases[] = {
        { 1, 10, 0.25, 0.187711715698242188, 0.0563135147094726562, 0.943686485290527344 },
        { 7, 10, 0.25, 0.00308990478515625, 0.996494293212890625, 0.003505706787109375 },
        { 60, 100, 0.5, 0.0108438667116379879, 0.971556033179509604, 0.0284439668204903958 },
        { 5100, 10000, 0.5, 0.00107986432943335574, 0.976707236147526306, 0.0232927638524736944 },
        { 30, 1000000, 0x1p-16, 0.000285163175821758905, 0.999452343254797542, 0.000547656745202458414 },
        { 700000, 1000000, 0.703125, 6.32876698412727067e-14, 4.12301835039433739e-12, 0.999999999995876982 },
        { 30, 50, 0.0625, 9.75250606315984593e-24, 1.0, 1.01891969470202519e-23 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double below, above;

        CHECK_CLOSE(pn_binomial_pmf(cases[i].k, cases[i].n, cases[i].p), cases[i].pmf, 2e-14 * cases[i].pmf);
        pn_binomial_tails(cases[i].k, cases[i].n, cases[i].p, &below, &above);
        CHECK_CLOSE(below, cases[i].below, 1e-13 * cases[i].below);
        CHECK_CLOSE(above, cases[i].above, 1e-13 * cases[i].above);
    }
}

static void the_ends_are_exact(void)
{
    double below, above;

    pn_binomial_tails(0, 5, 0.3, &below, &above);
    CHECK(below == 0.0 && above == 1.0);
    pn_binomial_tails(6, 5, 0.3, &below, &above);
    CHECK(below == 1.0 && above == 0.0);
    pn_binomial_tails(5, 5, 1.0, &below, &above);
    CHECK(below == 0.0 && above == 1.0);
    pn_binomial_tails(1, 5, 0.0, &below, &above);
    CHECK(below == 1.0 && above == 0.0);
    pn_binomial_tails(5, 5, 0.5, &below, &above);
    CHECK_CLOSE(above, 0x1p-5, 1e-16);
    pn_binomial_tails(1, 5, 0.5, &below, &above);
    CHECK_CLOSE(below, 0x1p-5, 1e-16);
    CHECK(pn_binomial_pmf(0, 3, 0.0) == 1.0 && pn_binomial_pmf(3, 3, 1.0) == 1.0);
    CHECK(pn_binomial_pmf(1, 3, 0.0) == 0.0 && pn_binomial_pmf(4, 3, 0.5) == 0.0);
    pn_binomial_tails(1, 3, 0.25, &below, &above);
    CHECK_CLOSE(above, 1.0 - 27.0 / 64.0, 1e-15);
}

/* Neighbouring tails differ by one probability, through the switch from one fraction to the other. */
static void tails_step_by_the_probability(void)
{
    for (size_t k = 1; k < 400; k++) {
        double here, there, below, pmf = pn_binomial_pmf(k, 400, 0.37);

        pn_binomial_tails(k, 400, 0.37, &below, &here);
        pn_binomial_tails(k + 1, 400, 0.37, &below, &there);
        CHECK_CLOSE(here - there, pmf, 1e-15 + 1e-12 * pmf);
    }
}

static void the_quantile_inverts_the_distribution(void)
{
    CHECK_CLOSE(pn_normal_quantile(0.5), 0.0, 1e-16);
    CHECK_CLOSE(pn_normal_quantile(0.25), -0.674489750196081743, 1e-15);
    CHECK_CLOSE(pn_normal_quantile(1e-9), -5.99780701500768687, 1e-14);
    CHECK_CLOSE(pn_normal_quantile(0.999), 3.09023230616781354, 1e-13);
    CHECK(pn_normal_quantile(0.0) == -INFINITY && pn_normal_quantile(1.0) == INFINITY);
}

int main(void)
{
    probabilities_and_tails_have_their_digits();
    the_ends_are_exact();
    tails_step_by_the_probability();
    the_quantile_inverts_the_distribution();
    return check_summary();
}
