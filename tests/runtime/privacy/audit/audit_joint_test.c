/* audit_joint_test.c -- the level of an audit on two samples, by summing over all pairs of counts: a true claim is
 * refuted with at most the chance that is stated, and with more than a third of it where claims are tight; and bounds
 * are better than those of two halves of the level.  Nothing is drawn.  Depends on: check.h,
 * numeric/beta.h, privacy/audit/audit_check.h. */
#include "check.h"
#include "numeric/beta.h"
#include "privacy/audit/audit_check.h"

enum { N = 30, LARGE = 5000 };

static double epsilon_of(double p, double other, double delta)
{
    return p > delta && other > 0.0 ? fmax(0.0, log((p - delta) / other)) : 0.0;
}

static double mu_of(double p, double other, double delta)
{
    (void)delta;
    return p > 0.0 && other < 1.0 ? fmax(0.0, pn_normal_quantile(p) - pn_normal_quantile(other)) : 0.0;
}

/* bounds[a][b] of a and b of N */
static void all_bounds(double bounds[N + 1][N + 1], pn_audit_counts counts, double failure)
{
    counts.trials = N;
    counts.near = 3e-3;
    for (counts.hits = 0; counts.hits <= N; counts.hits++) {
        for (counts.others = 0; counts.others <= N; counts.others++)
            bounds[counts.hits][counts.others] = pn_audit_joint(&counts, failure);
    }
}

/* P(bound > truth) when A ~ Bin(N, p) and B ~ Bin(N, other). */
static double false_alarm(double bounds[N + 1][N + 1], double p, double other, double truth)
{
    double sum = 0.0;

    for (size_t a = 0; a <= N; a++) {
        for (size_t b = 0; b <= N; b++) {
            if (bounds[a][b] > truth * (1.0 + 1e-12) + 1e-12)
                sum += pn_binomial_pmf(a, N, p) * pn_binomial_pmf(b, N, other);
        }
    }
    return sum;
}

static void true_claims_are_refuted_as_seldom_as_is_said(void)
{
    static const double weights[] = { 0.5, 0.25, 0.9375 }, failures[] = { 0.05, 0.3 };
    static double bounds[N + 1][N + 1];

    for (int way = 0; way < 24; way++) {
        bool gaussian = way % 2, apart = way / 2 % 2;
        double failure = failures[way / 4 % 2], delta = gaussian ? 0.0 : 0.1, most = 0.0;
        pn_audit_counts counts = {
            .worth = gaussian ? mu_of : epsilon_of, .delta = delta, .weight = weights[way / 8], .apart = apart
        };

        all_bounds(bounds, counts, failure);
        for (double other = 0.005; other < 1.0; other += 0.03) {
            for (double p = other + delta; p < 1.0; p += 0.03) {
                double alarm = false_alarm(bounds, p, other, counts.worth(p, other, delta));

                CHECK(alarm <= failure * (1.0 + 1e-9));
                most = fmax(most, alarm);
            }
        }
        CHECK(apart || gaussian || counts.weight > 0.5 || most > failure / 3.0);
    }
}

/* The statements that were made before: of two bounds at half the level. */
static void bounds_say_more_than_two_halves(void)
{
    static const double failures[] = { 0.05, 1e-8 };

    for (size_t i = 0; i < 2; i++) {
        pn_audit_counts counts = { .hits = LARGE * 7 / 10,
                                   .others = LARGE / 4,
                                   .trials = LARGE,
                                   .worth = epsilon_of,
                                   .weight = 0.5,
                                   .near = 1e-4 };
        double together = pn_audit_joint(&counts, failures[i]), exact = log(0.7 / 0.25), halves, own, rest;

        counts.apart = true;
        halves = epsilon_of(pn_audit_lower(counts.hits, LARGE, failures[i] / 2.0),
                            1.0 - pn_audit_lower(LARGE - counts.others, LARGE, failures[i] / 2.0), 0.0);
        CHECK(pn_audit_joint(&counts, failures[i]) >= halves);
        own = 0.5 * failures[i]; /* both hold with chance 1 - alpha: not a bit more may fail */
        rest = 1.0 - (1.0 - failures[i]) / (1.0 - own);
        CHECK_CLOSE(pn_audit_joint(&counts, failures[i]),
                    epsilon_of(pn_audit_lower(counts.hits, LARGE, own),
                               1.0 - pn_audit_lower(LARGE - counts.others, LARGE, rest), 0.0),
                    1e-9);
        CHECK(exact - together < 0.8 * (exact - halves));
    }
}

static void an_answer_is_within_what_may_be_lost(void)
{
    pn_audit_counts counts = {
        .hits = 30, .others = 12, .trials = N, .worth = epsilon_of, .weight = 0.3, .near = 1e-4
    };
    double fine = pn_audit_joint(&counts, 0.05), coarse;

    counts.near = 0.02;
    coarse = pn_audit_joint(&counts, 0.05);
    CHECK(coarse <= fine + 1e-4 * (1.0 + fine) && coarse >= fine - 0.02 * (1.0 + fine));
    counts.hits = 0;
    CHECK(pn_audit_joint(&counts, 0.05) == 0.0);
    counts.hits = counts.others = N;
    CHECK(pn_audit_joint(&counts, 0.05) == 0.0);
}

int main(void)
{
    true_claims_are_refuted_as_seldom_as_is_said();
    bounds_say_more_than_two_halves();
    an_answer_is_within_what_may_be_lost();
    return check_summary();
}
