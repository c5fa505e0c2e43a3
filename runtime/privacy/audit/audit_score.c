/* audit_score.c -- one number from an output that is not one: a score learned on the first half of the trials.
 * Depends on: audit.h.  Used by: bindings/privacy/laudit.c. */
#include <math.h>

#include "core/alloc.h"
#include "privacy/audit/audit.h"

pn_status pn_audit_score_categories(const size_t *first, const size_t *second, size_t n, size_t kinds,
                                    double *first_scores, double *second_scores, pn_err *err)
{
    double *count;

    PN_TRY(pn_new_zeroed(&count, 2 * kinds, err, "audit: out of memory for %zu kinds of output", kinds));
    for (size_t i = 0; i < n / 2; i++) {
        count[first[i]]++;
        count[kinds + second[i]]++;
    }
    for (size_t k = 0; k < kinds; k++)
        count[k] = log((count[k] + 0.5) / (count[kinds + k] + 0.5));
    for (size_t i = 0; i < n; i++) {
        first_scores[i] = count[first[i]];
        second_scores[i] = count[second[i]];
    }
    pn_free(count);
    return PN_OK;
}

static double dot(const double *x, const double *y, size_t dim)
{
    double sum = 0.0;

    for (size_t j = 0; j < dim; j++)
        sum += x[j] * y[j];
    return sum;
}

pn_status pn_audit_score_vectors(const double *first, const double *second, size_t n, size_t dim, double *first_scores,
                                 double *second_scores, pn_err *err)
{
    double *direction;

    PN_TRY(pn_new_zeroed(&direction, dim, err, "audit: out of memory for a vector of %zu entries", dim));
    for (size_t i = 0; i < n / 2; i++)
        for (size_t j = 0; j < dim; j++)
            direction[j] += (first[i * dim + j] - second[i * dim + j]) / (double)(n / 2);
    for (size_t i = 0; i < n; i++) {
        first_scores[i] = dot(first + i * dim, direction, dim);
        second_scores[i] = dot(second + i * dim, direction, dim);
    }
    pn_free(direction);
    return PN_OK;
}
