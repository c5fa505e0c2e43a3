/* query.h -- questions about a data set that are answered with noise: counts, sums, means, histograms and quantiles of
 * columns whose ranges are public.  Sensitivities follow from the ranges and the neighbouring relation, and are exact:
 * records are rounded to whole numbers before they are added up.  Depends on: data/dataset.h,
 * privacy/mechanism/mechanism.h.  Used by: bindings/objective/lquery.c.
 *
 * Columns are numbered from 1; 0 is the label.  Values beyond a range are clamped to it,
 * so what is asked is asked of the clamped ones.
 *
 * Sensitivity of what is added up, for k columns, in units in which a column's range has length 1
 * (for add_remove and zero_out: in which the largest |value| is 1): 1 for each column, so l1 k and l2 sqrt(k).  A count
 * moves by 1, a histogram by 1 in two bins (in one, for
 * add_remove).  A description is for each column a count, a sum of values, one of squares and a histogram, all in one
 * release: l1 k (3 + 2) and l2 sqrt(k (3 + 2)), with 1 in place of 2 for add_remove.  The scores of a quantile, minus
 * the distance of q n from the ranks of a candidate, move by 1.
 * Source: Dwork, Roth (2014), sections 3.3 and 3.4; Smith (2011) for quantiles. */
#ifndef PN_OBJECTIVE_QUERY_H
#define PN_OBJECTIVE_QUERY_H

#include <stddef.h>

#include "core/status.h"
#include "data/dataset.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"

typedef enum pn_query_kind {
    PN_QUERY_COUNT = 0,
    PN_QUERY_SUM,
    PN_QUERY_MEAN,
    PN_QUERY_HISTOGRAM,
    PN_QUERY_QUANTILE,
    PN_QUERY_DESCRIBE /* what describe.h reads */
} pn_query_kind;

/* What one query may cost: epsilon alone (Laplace noise, or the exponential mechanism), epsilon with delta, or rho
 * (Gaussian noise).  NaN where it is not given. */
typedef struct pn_query_price {
    double epsilon, delta, rho;
} pn_query_price;

typedef struct pn_query {
    pn_query_kind kind;
    const pn_dataset *data;
    const size_t *columns; /* [count] */
    size_t count;          /* 1 for histograms and quantiles */
    const double *low,
        *high; /* [count]: the public ranges.  Counts: of the records inside all of them.  Not read by the last two. */
    const double *points; /* [point_count], increasing: edges of the bins; candidates of the quantile */
    size_t point_count;
    double quantile; /* q in [0, 1] */
    /* of a quantile, >= 0: the exponential mechanism draws candidate c with weight exp(-lean |c - z|) times its usual
     * one, z the candidate nearest 0.  Candidates beyond all records tie, so a grid that reaches far would win by their
     * number; the weights are public, so they cost nothing. */
    double lean;
    size_t bins; /* of each column that is described */
    pn_query_price price;
} pn_query;

/* What came out. */
typedef struct pn_query_answer {
    double *values; /* [pn_query_values], the caller's buffer */
    /* [pn_query_values], the caller's: standard deviations of the noise; of a quantile: see rank_error */
    double *deviations;
    /* of a quantile: with probability 0.95 its rank is off by at most this beyond what the best candidate is */
    double rank_error;
    pn_event *event; /* what was charged; the caller frees it */
} pn_query_answer;

#define PN_QUERY_UNITS 0x1p24 /* of a range: what is added up is whole numbers of them */
#define PN_DESCRIBED   3      /* numbers of a described column before its bins */

/** How many values the answer has: columns, bins, or 1; of a description, in whole units, PN_DESCRIBED + bins for each
 *  column. */
size_t pn_query_values(const pn_query *query);

/**
 * Charge, then draw, then answer.
 *   label  what the ledger's report says.
 * Errors: PN_EINVAL for columns, ranges, points and prices; PN_EPRIVACY for a mean of data whose size is secret
 * (add_remove), for a
 *         simulated rng on a real ledger; PN_EUNSUPPORTED for other prices than epsilon for a quantile,
 *             and where not all records are here;
 *         PN_EBUDGET; PN_ENOMEM.  None depends on a record, all come before the charge, and then nothing was released.
 * Privacy: one event of answer->event, for the ledger's neighbours.
 */
pn_status pn_query_ask(const pn_query *query, pn_ledger *ledger, const char *label, pn_rng *rng,
                       pn_query_answer *answer, pn_err *err);

#endif
