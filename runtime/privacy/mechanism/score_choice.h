/* score_choice.h -- from scores that are doubles to whole ones, and choices among them: by the exponential mechanism,
 * of a few by a proposal each and of many by their levels, with one law; and by permute-and-flip, by levels.  Of
 * levels only the scores that are proposed are rounded.
 * Depends on: random/score_levels.h.  Used by: selection_mechanism.c, selections.c. */
#ifndef PN_PRIVACY_SCORE_CHOICE_H
#define PN_PRIVACY_SCORE_CHOICE_H

#include "random/score_levels.h"

typedef struct pn_score_choice {
    double bound;    /* on |score|: what is beyond is cut to it, and a NaN is the least */
    double per_unit; /* a power of two: scores are floor(score per_unit), bound per_unit <= 2^52 */
    double pairs;    /* not 0: a number x is two candidates, 2j of score pairs x and 2j + 1 of -pairs x */
    size_t capacity; /* of scores */
    int64_t *scores; /* [capacity] */
    pn_score_levels levels;
    const double *input; /* of the draw at hand */
} pn_score_choice;

/** Candidates that n numbers stand for. */
size_t pn_score_choice_candidates(const pn_score_choice *self, size_t n);
/** Room for draws by pn_score_choice_exponential among up to n numbers.  Errors: PN_ENOMEM, PN_EUNSUPPORTED beyond
 *  2^30 numbers. */
pn_status pn_score_choice_reserve(pn_score_choice *self, size_t n, pn_dyadic epsilon, uint64_t shift, pn_err *err);
/** Room for the scores of n numbers.  Errors: PN_ENOMEM. */
pn_status pn_score_choice_reserve_scores(pn_score_choice *self, size_t n, pn_err *err);
/** Room for draws by pn_score_choice_flip.  Errors: as pn_score_choice_reserve. */
pn_status pn_score_choice_reserve_flip(pn_score_choice *self, size_t n, pn_err *err);
void pn_score_choice_clear(pn_score_choice *self); /* zeroed is allowed */

/** The whole number of a score. */
int64_t pn_score_choice_round(const pn_score_choice *self, double score);
/** self->scores of all candidates. */
void pn_score_choice_scores(pn_score_choice *self, const double *input, size_t n);
/** *chosen: a candidate from 0, with probability proportional to exp(epsilon score / (2 shift)).
 *  Errors: as pn_score_levels_draw. */
pn_status pn_score_choice_exponential(pn_score_choice *self, pn_rng *rng, const double *input, size_t n,
                                      pn_dyadic epsilon, uint64_t shift, size_t *chosen, pn_err *err);
/** The same by permute-and-flip, at that rate.  Errors: as pn_score_levels_flip. */
pn_status pn_score_choice_flip(pn_score_choice *self, pn_rng *rng, const double *input, size_t n, pn_dyadic epsilon,
                               uint64_t shift, size_t *chosen, pn_err *err);

#endif
