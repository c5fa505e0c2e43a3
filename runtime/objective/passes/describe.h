/* describe.h -- what a noisy description of columns says: post-processing of one release of query.h, so free.
 * Depends on: query.h.  Used by: bindings/objective/ldescribe.c. */
#ifndef PN_OBJECTIVE_DESCRIBE_H
#define PN_OBJECTIVE_DESCRIBE_H

#include "objective/passes/query.h"
#include "privacy/event/event.h"

/* Of one column, its values clamped to the public range. */
typedef struct pn_column_facts {
    double outside;        /* values beyond the range, noisy: may be below 0 */
    double mean, sd;       /* within what the range allows */
    double mean_deviation; /* standard deviation of the noise in the mean */
} pn_column_facts;

/**
 * Read an answer to PN_QUERY_DESCRIBE.
 *   answer     of this query, under these neighbours.
 *   facts      [query->count]
 *   shares     [share_count] in [0, 1]: of which quantiles.
 *   quantiles  [query->count * share_count], column after column: where the noisy histogram, made to rise, reaches the
 *              share, on the line within the bin.
 * Under add_remove neighbours the number of records is secret, and the noisy histogram's total stands for it.
 */
void pn_describe_columns(const pn_query *query, pn_neighbours neighbours, const pn_query_answer *answer,
                         const double *shares, size_t share_count, pn_column_facts *facts, double *quantiles);
/** Standard deviation of the noise in a count of the description. */
double pn_describe_count_deviation(const pn_query_answer *answer);

#endif
