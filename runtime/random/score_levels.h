/* score_levels.h -- the exponential mechanism and permute-and-flip over many candidates, exact and without a draw for
 * each: candidates stand on levels e apart in weight, a proposal takes a level by the number that stand there, and an
 * exact coin corrects it.
 *
 * Scores are integers, and a candidate has weight exp(rate score).  Nothing is above the top, and on the level d
 * below it rate score <= top - d.  A coordinate is proposed with mass E = ceil(2^96 exp(-d)), of which a first coin
 * keeps 2^96 exp(-d), and is taken with probability exp(rate score - top + d).  So the law is that of the weights
 * whatever the levels are, as long as no score is above its level; a tighter level saves proposals.  On tight levels
 * 1.86 to 2.81 proposals are made on average, for any number of candidates.
 *
 * Of coordinates with two candidates each, the second (whose score is not above 0) needs no level of its own: all
 * second candidates stand on one, that of the score 0.
 *
 * Permute-and-flip goes by the same levels, but its coins are exp(rate (score - best)), best the largest score itself:
 * a level tells how far behind the best its candidates are at least (permute_and_flip.c).
 *
 * Proposals of the exponential law are evaluated sixteen at a time, so that their number is seldom seen from outside;
 * what a look-up costs depends on the candidate, and how many permute-and-flip makes on the scores, which is outside
 * the guarantee, as in selection.h.
 * Depends on: selection.h.  Used by: privacy/ (the selection mechanisms).
 * Source: rejection from exp of integers, by a table of exact masses, of the library. */
#ifndef PN_RANDOM_LEVELS_H
#define PN_RANDOM_LEVELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "random/tables/noise_table.h"
#include "random/selection.h"

#define PN_SCORE_LEVELS_MOST ((size_t)1 << 30) /* coordinates */

__extension__ typedef __int128 pn_i128;

/* What a draw looks at.  All of it is borrowed. */
typedef struct pn_level_view {
    const void *of, *levels; /* for score and locate */
    /* The coordinate of that rank, from 0, among the counts[below]. */
    size_t (*locate)(const void *levels, unsigned below, size_t rank);
    /* The integer score, |score| <= 2^62, of the coordinate's candidate; `second`: of its other one. */
    int64_t (*score)(const void *of, size_t j, bool second);
    /* NULL, or: called when many proposals were turned down; may make the levels tighter, in this view. */
    void (*tighten)(void *owner);
    void *owner;
    size_t counts[PN_LEVEL_COUNT]; /* coordinates so many levels below the top; of the last, so many or more */
    size_t pairs;                  /* coordinates from 0 that have a second candidate */
    unsigned second_below;         /* the level of all those */
    pn_rate rate;
    pn_i128 top;  /* times rate.den */
    int64_t best; /* of pn_score_levels_flip: the largest score, exactly */
} pn_level_view;

/**
 * One candidate, with probability proportional to exp(rate score).  The only error, that of the table's last digit,
 * moves no log of a probability by more than 2^-318: far less than the rounding of any sensitivity upward.
 *   *j, *second  which.
 * Errors: PN_EPRIVACY where a score is found above its level: a fault of the caller's, whose law would be another.
 */
pn_status pn_score_levels_draw(pn_rng *rng, const pn_level_view *view, size_t *j, bool *second, pn_err *err);

/**
 * One candidate by permute-and-flip: of those for which an independent coin exp(rate (score - best)) comes up, any
 * alike.  It takes a word for each level and slice of time, one to three slices and one to seven proposals on average
 * where levels are tight.  tighten() is called after a draw of many proposals.  Errors and arguments: as
 * pn_score_levels_draw; view->best is looked at, and a score above it is the same fault.
 */
pn_status pn_score_levels_flip(pn_rng *rng, const pn_level_view *view, size_t *j, bool *second, pn_err *err);

/* ---- levels of an array of numbers: two passes over it, and a byte a coordinate ---- */

typedef struct pn_score_levels {
    size_t capacity, count;
    uint8_t *place;     /* [count] levels above the base; 0: at it or below */
    uint16_t *in_block; /* [blocks][PN_LEVEL_COUNT] coordinates at each place */
    size_t at_place[PN_LEVEL_COUNT];
    double *highest; /* [blocks] of levels that are kept: the largest bound since they were made */
    double largest;  /* of an array's: the largest x, or |x| of pairs; of singles cut at +-most */
    double base;     /* a level */
    bool paired;     /* of levels that are kept: coordinates have a second candidate */
    unsigned top;    /* the highest place */
    pn_level_view view;
} pn_score_levels;

/** Room for so many coordinates.  Errors: PN_ENOMEM, PN_EUNSUPPORTED beyond PN_SCORE_LEVELS_MOST; self is then as it
 *  was. */
pn_status pn_score_levels_reserve(pn_score_levels *self, size_t count, pn_err *err);
void pn_score_levels_clear(pn_score_levels *self); /* zeroed is allowed */

/* x[n], n <= capacity, gives bounds on scores, which are integers of up to 2^52:
 *   steps  > 0: a unit of x in units of the score, to 2^-50 of it; of singles a power of two.
 *   most   >= 0: x_j is cut at +-most, and a NaN counts as 0 (pairs), as -most (singles);
 *          most x steps <= 2^52, and times the rate <= 2^50: beyond, levels are looser.
 * view.of, .score and .rate are the caller's, and the draw is from view. */

/** Of pairs the first score is at most |x_j| steps and the second at most 0. */
void pn_score_levels_of_pairs(pn_score_levels *self, const double *x, size_t n, double steps, double most);
/** Of singles the score is in (x_j steps - 1, x_j steps]. */
void pn_score_levels_of_singles(pn_score_levels *self, const double *x, size_t n, double steps, double most);

/* ---- levels that are kept from draw to draw: of singles, or of pairs whose first score is at least 0 ---- */

/** Of coordinate j rate x score (of a pair the first one) is at most bounds[j], up to 2^50; >= 0 of pairs. */
void pn_score_levels_of_bounds(pn_score_levels *self, const double *bounds, size_t n, bool pairs);
/** It is at most that from now on.  False, and nothing is changed, where the bound is above all places: then levels
 *  are to be made anew. */
bool pn_score_levels_set(pn_score_levels *self, size_t j, double bound);
/** The view of a draw, at the rate that view.rate is now. */
void pn_score_levels_arrange(pn_score_levels *self);
/** The largest score of all candidates, by view.score: of the blocks of coordinates that a bound does not rule out. */
int64_t pn_score_levels_best(const pn_score_levels *self);

#endif
