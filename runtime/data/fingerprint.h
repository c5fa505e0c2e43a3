/* fingerprint.h -- the instance on which no private algorithm can do LASSO well: a Tardos fingerprinting code hidden
 * among constant columns, padded with Hadamard rows, and the attack that traces the users of whatever minimises the
 * loss.
 * Depends on: core, random, dataset.h.  Used by: bindings, examples.
 * Source: Talwar, Thakurta, Zhang (2014), Theorems 5.8 and 5.9, Lemma 5.10, with its misprints corrected
 * (frank-wolfe.md section 6); Tardos (2008); Bun, Ullman, Vadhan (2014). */
#ifndef PN_DATA_FINGERPRINT_H
#define PN_DATA_FINGERPRINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "data/dataset.h"

typedef struct pn_fingerprint_options {
    size_t users;       /* w: the code has w + 1 of them, a data set leaves one out; >= 1 */
    size_t p;           /* columns */
    size_t informative; /* p0 of them carry the code, 1 .. p; the others are constant, half +1 and half -1 */
    size_t ridge;       /* k Hadamard rows, a power of two >= p, at most 2^20 */
    uint64_t seed;
} pn_fingerprint_options;

typedef struct pn_fingerprint {
    size_t users, p, informative, ridge;
    double *code;  /* [(users + 1) * p] of -1 and 1, row-major */
    double *bias;  /* [p] P(+1) of an informative column; NaN for a constant one */
    size_t *place; /* [p] where column j of the construction went: the secret permutation */
} pn_fingerprint;

/** The instance of size m of the article, scaled down so that it fits in memory: w = m/ln m users, k the power of two
 *  at or above m^3/ln m, p = min(k, m^2) columns of which one in 32 is informative.  3 <= m <= 40.
 *  Errors: PN_EINVAL. */
pn_status pn_fingerprint_scaled(pn_fingerprint_options *out, size_t m, pn_err *err);

/** Errors: PN_EINVAL for sizes that do not fit together (says which); PN_ENOMEM. */
pn_status pn_fingerprint_new(pn_fingerprint **out, const pn_fingerprint_options *options, pn_err *err);
void pn_fingerprint_free(pn_fingerprint *code);

/** D_i: k records (z_j, 0), z_j the Hadamard rows cut to p columns, and the users' rows with label 1 but for user
 *  `without` (from 0, <= users).  n = k + w; D_i and D_j differ in one record.  Bounds enforced: linf 1, labels [0,
 *  1].  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status pn_fingerprint_dataset(pn_dataset **out, const pn_fingerprint *code, size_t without, pn_err *err);

/** s[p]: the sign that all users but `without` agree on in a column, 0 where they do not.  Returns tau',
 *  the fraction of columns without
 *  consensus.  theta* is s/p. */
double pn_fingerprint_consensus(const pn_fingerprint *code, size_t without, double *s);

/* Lemma 5.10 at a point theta, with kappa = loss/(tau w). */
typedef struct pn_fingerprint_lemma {
    double loss;      /* sum over users of (<x, theta> - 1)^2 + k ||theta||^2: 2 n times f */
    double l1;        /* ||theta||_1; the lemma is for <= 1 */
    double tau;       /* k / (w p) */
    double disagreed; /* tau' */
    /* q: on at least q p consensus columns the sign of theta is the consensus; 0 when the lemma is void */
    double guaranteed;
    double agreed; /* the fraction of all p columns where it is */
    bool holds;    /* agreed >= guaranteed, or l1 > 1 */
} pn_fingerprint_lemma;

/** Errors: PN_ENOMEM. */
pn_status pn_fingerprint_check(const pn_fingerprint *code, size_t without, const double *theta,
                               pn_fingerprint_lemma *out, pn_err *err);

/** scores[users + 1]: Tardos' scores of sign(theta[p]).  The scores of users in the data are high when theta follows
 *  them; that of the user left out has mean 0 and variance at most p0. */
void pn_fingerprint_trace(const pn_fingerprint *code, const double *theta, double *scores);

#endif
