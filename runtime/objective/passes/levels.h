/* levels.h -- which texts a column holds often, when nobody knows them: a stability histogram over the texts that were
 * seen.  Each gets Laplace noise on its count, and those that stay above a threshold are released; one that a single
 * record has alone is released with probability delta at most.  Depends on: data/word_counts.h, privacy/ledger.
 * Used by: bindings/objective/llevels.c. */
#ifndef PN_OBJECTIVE_LEVELS_H
#define PN_OBJECTIVE_LEVELS_H

#include <stddef.h>

#include "core/status.h"
#include "data/word_counts.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"

/* A text that was released, borrowed from those that were counted, and its count with noise. */
typedef struct pn_level {
    const char *name;
    double count;
} pn_level;

/* Of one column. */
typedef struct pn_levels {
    pn_level *level; /* [count], owned, in the order of their bytes */
    size_t count;
} pn_levels;

typedef struct pn_levels_query {
    const pn_word_counts *counts; /* [columns]: a record is in at most one word of each */
    size_t columns;               /* from 1 to 4096 */
    size_t most;                  /* levels of a column: of more that stay, those with the largest noisy counts */
    double epsilon, delta;        /* of each column; epsilon in [1e-5, 1e3], delta in [1e-100, 0.5] */
} pn_levels_query;

/* A public number: how often a text has to come, with noise, to be released.  Errors: PN_EINVAL for the prices. */
pn_status pn_levels_threshold(double *threshold, double epsilon, double delta, pn_neighbours neighbours, pn_err *err);

/**
 * Charge, then draw, then keep.
 *   out     [columns]; cleared by pn_levels_clear.     event   of one column: the caller frees it.
 *   label   what the ledger's report says.
 * Errors: PN_EINVAL for prices and columns; PN_EPRIVACY for a simulated rng on a real ledger; PN_EBUDGET; PN_ENOMEM.
 *         All come before the charge, and then nothing is released.
 * Privacy: `columns` events approximate(epsilon, delta), for the ledger's neighbours.  Texts that are not released
 *          leave no trace: their number does not show either.
 * Source:  Korolova, Kenthapadi, Mishra, Ntoulas (2009); Bun, Nissim, Stemmer (2016).
 */
pn_status pn_levels_ask(const pn_levels_query *query, pn_ledger *ledger, const char *label, pn_rng *rng, pn_levels *out,
                        pn_event **event, pn_err *err);
void pn_levels_clear(pn_levels *levels);

#endif
