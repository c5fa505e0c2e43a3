/* audit_test.c -- the statistics of audits: interval bounds against 40-digit ones, the one-run theorem against
 * mechanisms that attain it, and audits of mechanisms whose epsilon is known.  Seeded; each statistical check states
 * how often a correct program would fail it.  Depends on: check.h, fail_alloc.h. */
#include <stdlib.h>
#include <string.h>

#include "numeric/beta.h"
#include "privacy/audit/audit.h"
#include "random/rng.h"

#include "check.h"
#include "fail_alloc.h"

/* ---- Clopper-Pearson ---- */

static void interval_bounds_have_their_digits(void)
{
    static const struct {
        size_t hits, trials;
        double failure, lower, upper; /* bisection on sums of terms, mpmath, 40 digits */
    } cases[] = {
        { 3, 10, 0.05, 0.087264433914150306, 0.60662421610541343 },
        { 500, 1000, 5e-9, 0.40966130088261795, 0.59033869911738205 },
        { 12, 25000, 5e-9, 4.7091609579444391e-5, 0.0018045533706967609 },
        { 24950, 25000, 0.01, 0.99723836435482359, 0.99859831037329791 },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double confidence = 1.0 - cases[i].failure; /* which rounds the failure: 1e-16 of 5e-9 */

        CHECK_CLOSE(pn_binomial_lower(cases[i].hits, cases[i].trials, confidence), cases[i].lower,
                    1e-8 * cases[i].lower);
        CHECK_CLOSE(pn_binomial_upper(cases[i].hits, cases[i].trials, confidence), cases[i].upper,
                    1e-8 * cases[i].upper);
    }
    CHECK(pn_binomial_lower(0, 50, 0.95) == 0.0 && pn_binomial_upper(50, 50, 0.95) == 1.0);
    CHECK_CLOSE(pn_binomial_lower(50, 50, 0.95), pow(0.05, 1.0 / 50), 1e-14);
    CHECK_CLOSE(pn_binomial_upper(0, 50, 0.95), 1.0 - pow(0.05, 1.0 / 50), 1e-14);
}

/* ---- the one-run theorem ---- */

/* r guesses by the extreme mechanism: f_k = x f_{k-1} but for one jump of u at v.  f_k in units of f_0 = 1/(1+x)^r. */
static void the_one_run_bound_is_attained(void)
{
    static const double epsilons[] = { 0.0, 0.5, 1.0, 3.0 }, deltas[] = { 0.0, 1e-7, 1e-3 };

    for (size_t r = 1; r <= 60; r += r < 6 ? 1 : 9) {
        for (size_t v = 1; v <= r; v += 1 + r / 8) {
            for (size_t c = 0; c < 12; c++) {
                double epsilon = epsilons[c % 4], delta = deltas[c / 4], x = exp(epsilon), q = x / (1.0 + x);
                double below, b, jump, all = 0.0, won = 0.0, spent = 0.0, last = 0.0;

                pn_binomial_tails(v, r, q, &below, &b);
                /* chance moved by the jump: u_v c_v = delta (m = r), and what stays on the pure part */
                jump = delta * (double)r / ((double)v * pn_binomial_pmf(v, r, q));
                if (jump * b > 1.0)
                    continue;
                for (size_t k = 0; k <= r; k++) { /* g = P(C = k)/P(W = k), which f_k = x f_{k-1} keeps constant */
                    double g = (1.0 - jump * b) + (k >= v ? jump : 0.0), w = pn_binomial_pmf(k, r, q);

                    all += g * w;
                    won += k >= v ? g * w : 0.0;
                    spent += fmax(0.0, g - last) * w * (double)k / (double)r; /* over the k of r right ones */
                    last = g;
                }
                CHECK_CLOSE(all, 1.0, 1e-11);
                CHECK_CLOSE(spent, delta, 1e-13);
                CHECK_CLOSE(won, pn_audit_guess_tail(v, r, r, epsilon, delta), 1e-11);
            }
        }
    }
}

/* The multipliers of the proof: feasible, so no mechanism does better (weak duality). */
static void the_one_run_bound_has_its_certificate(void)
{
    for (size_t r = 1; r <= 40; r += 3) {
        for (size_t v = 1; v <= r; v++) {
            double x = exp(0.7), q = x / (1.0 + x), below, b, most = 0.0, at_v = 0.0;

            pn_binomial_tails(v, r, q, &below, &b);
            for (size_t k = 1; k <= r; k++) { /* l_k/c_k, over r */
                double under, over, ratio;

                pn_binomial_tails(k, r, q, &under, &over);
                ratio = (k <= v ? b * under : (1.0 - b) * over) / ((double)k * pn_binomial_pmf(k, r, q));
                most = fmax(most, ratio);
                at_v = k == v ? ratio : at_v;
            }
            CHECK(most <= at_v * (1.0 + 1e-12));
            CHECK_CLOSE(pn_audit_guess_tail(v, r, 2 * r, 0.7, 1e-6), fmin(1.0, b + 2e-6 * (double)r * at_v), 1e-13);
        }
    }
}

/* Any mechanism will do for a check from outside: m bits, each by itself through the (epsilon, delta) randomised
 * response that tells the truth for certain with chance delta.  Right guesses are then
 * Binomial(m, delta + (1 - delta) q). */
static void independent_randomised_response_obeys_the_one_run_bound(void)
{
    for (size_t m = 1; m <= 200; m += 13) {
        for (size_t v = 1; v <= m; v += 3) {
            double delta = 1e-3, q = 1.0 / (1.0 + exp(-0.5)), below, above;

            pn_binomial_tails(v, m, delta + (1.0 - delta) * q, &below, &above);
            CHECK(above <= pn_audit_guess_tail(v, m, m, 0.5, delta) * (1.0 + 1e-12));
        }
    }
    CHECK_CLOSE(pn_audit_guess_tail(1, 1, 1, 1.0, 0.01), (exp(1.0) + 0.01) / (1.0 + exp(1.0)), 1e-15);
    CHECK(pn_audit_guess_tail(0, 5, 5, 1.0, 0.0) == 1.0 && pn_audit_guess_tail(6, 5, 9, 1.0, 0.1) == 0.0);
    CHECK(pn_audit_guess_tail(5, 5, 9, 0.0, 0.9) == 1.0);
}

/* ---- audits of known mechanisms ---- */

enum { TRIALS = 4000 };

typedef void (*fill_fn)(pn_rng *rng, size_t n, double *first, double *second);

/* epsilon = 1: answers 1 with chance e/(1 + e), or 1/(1 + e). */
static void randomised_response(pn_rng *rng, size_t n, double *first, double *second)
{
    double truth = 1.0 / (1.0 + exp(-1.0));

    for (size_t i = 0; i < n; i++) {
        first[i] = pn_rng_uniform(rng) < truth ? 1.0 : 0.0;
        second[i] = pn_rng_uniform(rng) < truth ? 0.0 : 1.0;
    }
}

/* mu = 1 */
static void gaussian(pn_rng *rng, size_t n, double *first, double *second)
{
    pn_rng_normals(rng, n, first);
    pn_rng_normals(rng, n, second);
    for (size_t i = 0; i < n; i++)
        first[i] += 1.0;
}

/* At 90 % confidence more than 70 of 300 audits above the exact value happen with chance below P(Bin(300, 0.1) > 70) <
 * 1e-10, and more than 25 of 60 with less than P(Bin(60, 0.1) > 25) < 1e-10; the mean of the bounds is fixed by the
 * seed, and `least` is a tenth below what these had. */
static void bounds_hold_and_are_near(fill_fn fill, pn_audit_options options, double exact, double least)
{
    double *scores = malloc(2 * TRIALS * sizeof *scores), sum = 0.0;
    int audits = (int)check_times(60, 300), above = 0;
    pn_rng *rng = NULL;

    CHECK(scores && pn_rng_seeded(&rng, 11, NULL) == PN_OK);
    for (int i = 0; scores && i < audits; i++) {
        pn_audit_result result = { 0 };

        fill(rng, TRIALS, scores, scores + TRIALS);
        CHECK(pn_audit_two_sample(&result, scores, scores + TRIALS, TRIALS, &options, NULL) == PN_OK);
        above += result.epsilon > exact;
        sum += result.epsilon;
    }
    CHECK(above <= check_times(25, 70));
    CHECK(sum / audits > least * exact);
    CHECK(sum / audits < exact);
    pn_rng_free(rng);
    free(scores);
}

static void audits_of_known_mechanisms_are_true_and_near(void)
{
    bounds_hold_and_are_near(randomised_response, (pn_audit_options){ 0.0, 0.9, false, NULL }, 1.0, 0.83);
    /* mu = 1 has epsilon 1.5688777812338255 at 0.05, 4.37717809568122463 at 1e-5 (mpmath) */
    bounds_hold_and_are_near(gaussian, (pn_audit_options){ 0.05, 0.9, false, NULL }, 1.5688777812338255, 0.66);
    bounds_hold_and_are_near(gaussian, (pn_audit_options){ 0.05, 0.9, true, NULL }, 1.5688777812338255, 0.70);
    bounds_hold_and_are_near(gaussian, (pn_audit_options){ 1e-5, 0.9, true, NULL }, 4.37717809568122463, 0.75);
}

static void the_event_and_its_counts_are_told(void)
{
    double first[400], second[400];
    pn_audit_options options = { 0.0, 0.95, false, NULL };
    pn_audit_result result = { 0 };

    for (size_t i = 0; i < 400; i++) { /* scores 0 under the first; under the second 0 or 5: the event is >= 5 */
        first[i] = 0.0;
        second[i] = i % 2 ? 5.0 : 0.0;
    }
    CHECK(pn_audit_two_sample(&result, first, second, 400, &options, NULL) == PN_OK);
    CHECK(result.threshold == 5.0 && !result.below && result.likely == 1);
    CHECK(result.hits[0] == 0 && result.hits[1] == 100 && result.trials == 200);
    /* more than two bounds of half the level each say, less than one of all of it with p known */
    CHECK(result.epsilon > log(pn_binomial_lower(100, 200, 0.975) / pn_binomial_upper(0, 200, 0.975)));
    CHECK(result.epsilon < log(0.5 / pn_binomial_upper(0, 200, 0.95)));
    CHECK(isnan(result.mu));
    CHECK(pn_audit_two_sample(&result, first, first, 400, &options, NULL) == PN_OK && result.epsilon == 0.0);
}

/* m bits through randomised response with epsilon = 2 have Binomial right guesses;
 * the bound sits where the tail is 1 - c. */
static void one_run_of_randomised_response_is_tight(void)
{
    enum { CANARIES = 5000 };
    static double scores[CANARIES];
    static unsigned char included[CANARIES];
    double sum = 0.0;
    int above = 0;
    pn_rng *rng = NULL;

    CHECK(pn_rng_seeded(&rng, 5, NULL) == PN_OK);
    for (int run = 0; run < 200; run++) {
        pn_audit_options options = { 1e-6, 0.9, false, NULL };
        pn_audit_result result = { 0 };

        for (size_t i = 0; i < CANARIES; i++) {
            included[i] = pn_rng_u64(rng) & 1;
            scores[i] = (pn_rng_uniform(rng) < 1.0 / (1.0 + exp(-2.0))) == (included[i] != 0);
        }
        CHECK(pn_audit_one_run(&result, scores, included, CANARIES, 2000, 2000, &options, NULL) == PN_OK);
        CHECK(result.hits[1] == 4000 && result.trials == CANARIES);
        above += result.epsilon > 2.0;
        sum += result.epsilon;
    }
    CHECK(above <= 55); /* P(Bin(200, 0.1) > 55) < 1e-11 */
    CHECK(sum / 200 > 1.85 && sum / 200 < 2.0);
    pn_rng_free(rng);
}

static void a_perfect_run_gives_the_closed_form(void)
{
    double scores[100];
    unsigned char included[100];
    pn_audit_options options = { 0.0, 0.95, false, NULL };
    pn_audit_result result = { 0 };
    double root = pow(0.05, 1.0 / 100);

    for (size_t i = 0; i < 100; i++) {
        included[i] = i < 50;
        scores[i] = 100.0 - (double)i;
    }
    CHECK(pn_audit_one_run(&result, scores, included, 100, 0, 0, &options, NULL) == PN_OK);
    CHECK(result.hits[0] == 100 && result.hits[1] == 100 && result.threshold == 51.0);
    CHECK_CLOSE(result.epsilon, log(root / (1.0 - root)), 1e-12); /* q^100 = 0.05 */
    options.delta = 1e-3;                                         /* tail q^100 + 100 delta (1 - q^100)/100 */
    root = pow((0.05 - 1e-3) / (1.0 - 1e-3), 1.0 / 100);
    CHECK(pn_audit_one_run(&result, scores, included, 100, 0, 0, &options, NULL) == PN_OK);
    CHECK_CLOSE(result.epsilon, log(root / (1.0 - root)), 1e-12);
    options.delta = 0.06; /* delta alone could do it */
    CHECK(pn_audit_one_run(&result, scores, included, 100, 0, 0, &options, NULL) == PN_OK && result.epsilon == 0.0);
}

/* ---- learned scores ---- */

static void scores_are_learned_on_the_first_half_only(void)
{
    size_t first[] = { 0, 0, 0, 1, 2, 2, 2, 2 }, second[] = { 1, 1, 1, 0, 2, 2, 2, 0 };
    double a[8], b[8], x[] = { 1, 0, 3, 0, 9, 9, 0, 2 }, y[] = { 0, 0, 0, 4, 1, 1, 1, 1 };

    CHECK(pn_audit_score_categories(first, second, 8, 3, a, b, NULL) == PN_OK);
    CHECK_CLOSE(a[0], log(3.5 / 1.5), 1e-15);
    CHECK_CLOSE(b[0], log(1.5 / 3.5), 1e-15);
    CHECK(a[4] == 0.0 && b[7] == a[0]);
    CHECK(pn_audit_score_vectors(x, y, 4, 2, a, b, NULL) == PN_OK); /* means (2, 0) and (0, 2) */
    CHECK(a[0] == 2.0 && b[1] == -8.0 && a[2] == 0.0 && a[3] == -4.0 && b[3] == 0.0);
}

/* ---- errors ---- */

static pn_status both(void *self, pn_err *err)
{
    static const double scores[200];
    static const unsigned char included[200];
    static const size_t kinds[200];
    double a[200], b[200];
    pn_audit_options options = { 0.0, 0.95, false, NULL };
    pn_audit_result result;
    pn_status status = pn_audit_two_sample(&result, scores, scores, 200, &options, err);

    (void)self;
    if (status == PN_OK)
        status = pn_audit_one_run(&result, scores, included, 200, 0, 0, &options, err);
    if (status == PN_OK)
        status = pn_audit_score_categories(kinds, kinds, 200, 1, a, b, err);
    return status == PN_OK ? pn_audit_score_vectors(scores, scores, 100, 2, a, b, err) : status;
}

static void wrong_calls_are_named(void)
{
    double scores[200] = { 0 };
    unsigned char included[200] = { 0 };
    pn_audit_options good = { 0.0, 0.95, false, NULL }, bad_delta = { 1.0, 0.95, false, NULL },
                     sure = { 0.0, 1.0, false, NULL };
    pn_audit_options pure_gaussian = { 0.0, 0.95, true, NULL };
    pn_audit_result result;
    pn_err err;

    CHECK(pn_audit_two_sample(&result, scores, scores, 99, &good, &err) == PN_EDIM);
    CHECK(pn_audit_two_sample(&result, scores, scores, 200, &bad_delta, &err) == PN_EINVAL);
    CHECK(pn_audit_two_sample(&result, scores, scores, 200, &sure, &err) == PN_EINVAL);
    CHECK(pn_audit_two_sample(&result, scores, scores, 200, &pure_gaussian, &err) == PN_EINVAL);
    CHECK(strstr(err.message, "above 0") != NULL);
    CHECK(pn_audit_one_run(&result, scores, included, 200, 150, 51, &good, &err) == PN_EDIM);
    CHECK(pn_audit_one_run(&result, scores, included, 200, 0, 0, &pure_gaussian, &err) == PN_EINVAL);
    scores[7] = NAN;
    CHECK(pn_audit_two_sample(&result, scores, scores, 200, &good, &err) == PN_EDOMAIN);
    CHECK(strstr(err.message, "score 8 ") != NULL);
    CHECK(pn_audit_one_run(&result, scores, included, 200, 0, 0, &good, &err) == PN_EDOMAIN);
    CHECK(pn_audit_one_run(&result, scores, included, 0, 0, 0, &good, &err) == PN_EDIM);
}

int main(void)
{
    interval_bounds_have_their_digits();
    the_one_run_bound_is_attained();
    the_one_run_bound_has_its_certificate();
    independent_randomised_response_obeys_the_one_run_bound();
    audits_of_known_mechanisms_are_true_and_near();
    the_event_and_its_counts_are_told();
    one_run_of_randomised_response_is_tight();
    a_perfect_run_gives_the_closed_form();
    scores_are_learned_on_the_first_half_only();
    wrong_calls_are_named();
    fail_alloc_sweep("audit", both, NULL);
    return check_summary();
}
