/* audit.c -- two-sample audits: an event that one data set makes more likely, and what both counts of it say together.
 * (epsilon, delta)-DP says P(E) <= exp(epsilon) P'(E) + delta for every event E,
 * so epsilon >= ln((P(E) - delta)/P'(E)).
 * Depends on: audit.h, audit_check.h, gaussian.h, numeric/beta.h.  Used by: bindings/privacy/laudit.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/alloc.h"
#include "numeric/beta.h"
#include "privacy/audit/audit.h"
#include "privacy/audit/audit_check.h"
#include "privacy/event/gaussian.h"

#define LEAST_TRIALS  100
#define GAUSSIAN_CUTS 512 /* quantiles are dear: look at so many cuts when mu is asked for */

/* ---- Clopper-Pearson ---- */

double pn_binomial_lower(size_t hits, size_t trials, double confidence)
{
    return pn_audit_lower(hits, trials, 1.0 - confidence);
}

double pn_binomial_upper(size_t hits, size_t trials, double confidence)
{
    return 1.0 - pn_binomial_lower(trials - hits, trials, confidence);
}

/* ---- what two probability bounds say ---- */

static double epsilon_of(double low, double high, double delta)
{
    return low > delta && high > 0.0 ? fmax(0.0, log((low - delta) / high)) : 0.0;
}

static double mu_of(double low, double high, double delta)
{
    (void)delta;
    return low > 0.0 && high < 1.0 ? fmax(0.0, pn_normal_quantile(low) - pn_normal_quantile(high)) : 0.0;
}

/* ---- choosing the event ---- */

typedef struct event {
    double threshold, worth;
    bool below;
    int likely;
} event;

/* Wilson's score bound, which is close to Clopper-Pearson's and cheap; only the choice of the event rests on it. */
static double wilson(double hits, double n, double z)
{
    double p = hits / n, middle = p + z * z / (2.0 * n);
    double half = fabs(z) * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));

    return (middle + (z > 0.0 ? half : -half)) / (1.0 + z * z / n);
}

/* at_least[i] of n scores under data set i are at the cut or above. */
static void consider(event *best, double threshold, const size_t at_least[2], size_t n, double z,
                     const pn_audit_options *options)
{
    for (int below = 0; below < 2; below++) {
        for (int likely = 0; likely < 2; likely++) {
            size_t a = below ? n - at_least[likely] : at_least[likely];
            size_t b = below ? n - at_least[1 - likely] : at_least[1 - likely];
            double low, high, worth;

            if (a <= b)
                continue;
            low = wilson((double)a, (double)n, -z);
            high = wilson((double)b, (double)n, z);
            worth = options->gaussian ? mu_of(low, high, 0.0) : epsilon_of(low, high, options->delta);
            if (worth > best->worth)
                *best = (event){ threshold, worth, below != 0, likely };
        }
    }
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Cuts at every distinct score.  sorted[0][n] and sorted[1][n] descend.  The best of so many events is lucky, mostly a
 * rare one that the other half does not confirm: its bound is taken as for four events of each size,
 * sizes being doublings up to n. */
static event choose(const double *const sorted[2], size_t n, const pn_audit_options *options)
{
    double z = -pn_normal_quantile((1.0 - options->confidence) / (2.0 * 4.0 * log2(2.0 * (double)n)));
    size_t at_least[2] = { 0, 0 }, skip = options->gaussian ? 2 * n / GAUSSIAN_CUTS : 0, last = 0;
    event best = { sorted[0][0], 0.0, false, 0 };

    z = fmax(z, 0.0);
    while (at_least[0] < n || at_least[1] < n) {
        double cut = at_least[0] == n                                  ? sorted[1][at_least[1]]
                     : at_least[1] == n                                ? sorted[0][at_least[0]]
                     : sorted[0][at_least[0]] > sorted[1][at_least[1]] ? sorted[0][at_least[0]]
                                                                       : sorted[1][at_least[1]];

        for (int i = 0; i < 2; i++)
            while (at_least[i] < n && sorted[i][at_least[i]] >= cut)
                at_least[i]++;
        if (at_least[0] + at_least[1] < last + skip)
            continue;
        last = at_least[0] + at_least[1];
        consider(&best, cut, at_least, n, z, options);
    }
    return best;
}

static pn_status learn(event *out, const double *const scores[2], size_t n, const pn_audit_options *options,
                       pn_err *err)
{
    double *copy;
    const double *sorted[2];

    PN_TRY(pn_new(&copy, 2 * n, err, "audit: out of memory for %zu scores", 2 * n));
    for (size_t i = 0; i < 2; i++) {
        memcpy(copy + i * n, scores[i], n * sizeof *copy);
        qsort(copy + i * n, n, sizeof *copy, descending);
        sorted[i] = copy + i * n;
    }
    *out = choose(sorted, n, options);
    pn_free(copy);
    return PN_OK;
}

/* ---- testing it ---- */

static size_t count(const double *scores, size_t n, const event *e)
{
    size_t hits = 0;

    for (size_t i = 0; i < n; i++)
        hits += (scores[i] < e->threshold) == e->below;
    return hits;
}

pn_status pn_audit_check(const pn_audit_options *options, pn_err *err)
{
    if (!(options->delta >= 0.0 && options->delta < 1.0))
        return pn_fail(err, PN_EINVAL, "audit: delta must be from 0 up to but not including 1, got %g", options->delta);
    if (options->gaussian && options->delta == 0.0)
        return pn_fail(err, PN_EINVAL,
                       "audit: gaussian needs a delta above 0: no Gaussian mechanism has a pure epsilon");
    if (!(options->confidence > 0.0 && options->confidence < 1.0))
        return pn_fail(err, PN_EINVAL, "audit: confidence must be between 0 and 1, got %g", options->confidence);
    return PN_OK;
}

pn_status pn_audit_check_scores(const double *scores, size_t n, pn_err *err)
{
    for (size_t i = 0; i < n; i++)
        if (isnan(scores[i]))
            return pn_fail(err, PN_EDOMAIN, "audit: score %zu is not a number", i + 1);
    return PN_OK;
}

static pn_status check(const double *const scores[2], size_t n, const pn_audit_options *options, pn_err *err)
{
    pn_status status = pn_audit_check(options, err);

    if (status == PN_OK && n < LEAST_TRIALS)
        return pn_fail(err, PN_EDIM, "audit: trials must be at least %d, got %zu", LEAST_TRIALS, n);
    for (int i = 0; i < 2 && status == PN_OK; i++)
        status = pn_audit_check_scores(scores[i], n, err);
    return status;
}

/* Of the first half the event happened that often: share the level as would have said most. */
static void share_level(pn_audit_counts *counts, double failure)
{
    static const double weights[] = { 0.5, 0.25, 0.75, 0.0625, 0.9375 };
    pn_audit_counts tried = *counts;
    double most = -1.0;

    tried.near = 0.01;
    for (size_t i = 0; i < 2 * sizeof weights / sizeof *weights; i++) {
        double worth;

        tried.weight = weights[i / 2];
        tried.apart = i % 2;
        worth = pn_audit_joint(&tried, failure);
        if (worth > most) {
            counts->weight = tried.weight;
            counts->apart = tried.apart;
            most = worth;
        }
    }
}

/* What the second half shows, the first having chosen the event and how to share the level. */
static double tested_worth(const pn_audit_result *found, const double *const scores[2], size_t learned, const event *e,
                           const pn_audit_options *options)
{
    double failure = 1.0 - options->confidence;
    pn_audit_counts counts = { .hits = count(scores[e->likely], learned, e),
                               .others = count(scores[1 - e->likely], learned, e),
                               .trials = learned,
                               .delta = options->delta,
                               .worth = options->gaussian ? mu_of : epsilon_of };

    share_level(&counts, failure);
    counts.near = 5e-4;
    counts.hits = found->hits[e->likely];
    counts.others = found->hits[1 - e->likely];
    counts.trials = found->trials;
    return pn_audit_joint(&counts, failure);
}

pn_status pn_audit_two_sample(pn_audit_result *out, const double *first, const double *second, size_t n,
                              const pn_audit_options *options, pn_err *err)
{
    const double *scores[2] = { first, second };
    size_t learned = n / 2, tested = n - learned;
    double least;
    event e = { 0 };
    pn_status status = check(scores, n, options, err);

    if (status == PN_OK)
        status = learn(&e, scores, learned, options, err);
    if (status != PN_OK)
        return status;
    *out = (pn_audit_result){ .threshold = e.threshold, .mu = NAN, .p_value = NAN, .confidence = options->confidence };
    out->below = e.below;
    out->likely = e.likely;
    out->trials = tested;
    for (int i = 0; i < 2; i++)
        out->hits[i] = count(scores[i] + learned, tested, &e);
    least = tested_worth(out, scores, learned, &e, options);
    out->epsilon = least;
    if (options->gaussian) {
        out->mu = least;
        out->epsilon = least > 0.0 ? pn_gaussian_epsilon(least, options->delta) : 0.0;
    }
    return PN_OK;
}
