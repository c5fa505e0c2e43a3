/* audit_one_run.c -- how many canaries may be guessed right in one private run.
 * Depends on: audit.h, gaussian.h, numeric/beta.h, numeric/root.h.  Used by: bindings/privacy/laudit.c.
 *
 * The bound.  S is uniform in {0,1}^m, T = M(S) in {0, 1, no guess}^m with exactly r guesses, C of them right.  For the
 * chance of C >= v the worst M may be taken symmetric (average over a public flip of coordinates and a public
 * permutation, undone on T: both keep privacy and C), so that all T with k right guesses have the same chance,
 * f_k/C(m,r) with f_k = P(C = k)/C_k, C_k = C(r,k).  Turning round one canary turns a right guess on it into a wrong
 * one, and a canary is guessed on with chance r/m; so privacy says, with x = exp(epsilon) and c_k = C(r-1,k-1),
 *     sum_k c_k u_k <= m delta/r,     u_k = max(0, f_k - x f_{k-1}).
 * Let W ~ Binomial(r, x/(1 + x)), b = P(W >= v), and l_k = b P(W < k) for k <= v, (1 - b) P(W >= k) for k > v, over
 * P(W = k)/C_k.  Then l_k - x l_{k+1} = C_k (1[k >= v] - b), and l_k/c_k, proportional to P(W < k)/(k P(W = k)) below v
 * and to P(W >= k)/(k P(W = k)) above, is largest at v because binomials are log-concave.  So
 *     P(C >= v) - b = sum_k C_k (1[k >= v] - b) f_k = sum_k l_k (f_k - x f_{k-1}) <= sum_k l_k u_k
 *                   <= (l_v/c_v) m delta/r = m delta b (1 - b)/(v P(W = v)).
 * Equality: f_k = x f_{k-1} but for one jump, at v.  (m = r = v = 1: (x + delta)/(1 + x), randomised response.) */
#include <math.h>
#include <stdlib.h>

#include "core/alloc.h"
#include "numeric/beta.h"
#include "numeric/root.h"
#include "privacy/audit/audit.h"
#include "privacy/audit/audit_check.h"
#include "privacy/event/gaussian.h"

#define GREATEST_EPSILON 64.0
#define SCAN_STEP        0.0625

/* P(W >= v)/P(W = v), also where both have no double: at most a geometric sum there. */
static double tail_ratio(double tail, double probability, size_t v, size_t r, double odds)
{
    double shrink = (double)(r - v) / (double)(v + 1) * odds;

    if (probability > 1e-290)
        return tail / probability;
    return shrink < 1.0 ? 1.0 / (1.0 - shrink) : (double)r;
}

double pn_audit_guess_tail(size_t correct, size_t guesses, size_t m, double epsilon, double delta)
{
    /* In wrong guesses, whose chance keeps its digits: C >= v is "at most guesses - v wrong". */
    double wrong = 1.0 / (1.0 + exp(epsilon)), tail, rest, ratio;

    if (correct == 0)
        return 1.0;
    if (correct > guesses)
        return 0.0;
    pn_binomial_tails(guesses - correct + 1, guesses, wrong, &tail, &rest);
    ratio = tail_ratio(tail, pn_binomial_pmf(guesses - correct, guesses, wrong), correct, guesses, exp(epsilon));
    return fmin(1.0, tail + (double)m * delta * rest * ratio / (double)correct);
}

/* ---- the bound on epsilon ---- */

typedef struct guess_question {
    pn_guesses guesses;
    double delta, failure;
} guess_question;

static bool plausible(void *self, double epsilon)
{
    const guess_question *q = self;

    return pn_audit_guess_tail(q->guesses.correct, q->guesses.guesses, q->guesses.m, epsilon, q->delta) > q->failure;
}

/* Any epsilon that is not plausible is a bound: what is private at less is private at it.  The tail need not grow with
 * epsilon when delta has the larger part in it, so look for the last such epsilon on a grid, then beyond it. */
static double greatest_implausible(guess_question *q)
{
    double epsilon = GREATEST_EPSILON;

    while (epsilon >= 0.0 && plausible(q, epsilon))
        epsilon -= SCAN_STEP;
    return epsilon < 0.0 ? 0.0 : pn_bisect(plausible, q, epsilon, epsilon + SCAN_STEP);
}

/* ---- the guesses ---- */

typedef struct ranked {
    double score;
    size_t index;
} ranked;

static int by_score(const void *a, const void *b)
{
    const ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score < y->score ? 1 : -1;
    return x->index < y->index ? -1 : 1;
}

static pn_status check(const double *scores, size_t m, size_t positive, size_t negative,
                       const pn_audit_options *options, pn_err *err)
{
    pn_status status = pn_audit_check(options, err);

    if (status == PN_OK && (m < 1 || positive > m || negative > m - positive))
        return pn_fail(err, PN_EDIM, "audit: %zu + %zu guesses do not fit %zu canaries", positive, negative, m);
    for (size_t i = 0; status == PN_OK && options->curve && i < options->curve->n; i++) {
        double epsilon = options->curve->epsilon[i], delta = options->curve->delta[i];

        if (!(epsilon >= 0.0 && delta >= 0.0 && delta <= 1.0))
            return pn_fail(err, PN_EINVAL, "audit: point %zu of the curve, (%g, %g), is no (epsilon, delta)", i + 1,
                           epsilon, delta);
    }
    return status == PN_OK ? pn_audit_check_scores(scores, m, err) : status;
}

pn_status pn_audit_one_run(pn_audit_result *out, const double *scores, const unsigned char *included, size_t m,
                           size_t positive, size_t negative, const pn_audit_options *options, pn_err *err)
{
    guess_question q = { { 0, 0, m }, options->delta, 1.0 - options->confidence };
    ranked *order;

    if (positive == 0 && negative == 0) {
        positive = m - m / 2;
        negative = m / 2;
    }
    PN_TRY(check(scores, m, positive, negative, options, err));
    PN_TRY(pn_new(&order, m, err, "audit: out of memory for %zu scores", m));
    for (size_t i = 0; i < m; i++)
        order[i] = (ranked){ scores[i], i };
    qsort(order, m, sizeof *order, by_score);
    for (size_t i = 0; i < positive; i++)
        q.guesses.correct += included[order[i].index] != 0;
    for (size_t i = m - negative; i < m; i++)
        q.guesses.correct += included[order[i].index] == 0;
    q.guesses.guesses = positive + negative;
    *out = (pn_audit_result){ .mu = NAN, .p_value = NAN, .confidence = options->confidence, .trials = m };
    if (options->curve)
        out->p_value = pn_audit_run_chance(&q.guesses, options->curve);
    out->threshold = order[positive > 0 ? positive - 1 : m - negative].score;
    out->hits[0] = q.guesses.correct;
    out->hits[1] = q.guesses.guesses;
    if (options->gaussian) {
        out->mu = pn_audit_run_mu(&q.guesses, q.failure);
        out->epsilon = out->mu > 0.0 ? pn_gaussian_epsilon(out->mu, options->delta) : 0.0;
    } else {
        out->epsilon = greatest_implausible(&q);
    }
    pn_free(order);
    return PN_OK;
}
