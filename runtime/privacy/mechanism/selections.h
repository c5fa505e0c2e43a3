/* selections.h -- several selections by the exponential mechanism with one scale of noise, charged together by what a
 * record does to all of their scores: pay, then select, as often as was paid for.  The counterpart of
 * pn_mechanism_release for answers that are made of many small choices, such as an end of each of a thousand intervals.
 *
 * Selection r takes candidate i with chance proportional to exp(score_i/b).  Where a record moves its scores by at most
 * d_r, log ratios of chances between neighbours lie in an interval of length 2 d_r/b: it is (2 d_r/b)-DP and
 * (2 d_r/b)^2/8 = d_r^2/(2 b^2)-zCDP (Cesar, Rogers 2021).  Selections add up, also where scores and candidates of one
 * follow from the outcomes before:
 *     rho     = (sum d_r^2)/(2 b^2),
 *     epsilon = 2 (sum d_r)/b.
 * Permute-and-flip of the same b is (2 d_r/b)-DP, too, and chooses no worse candidate on average, but not of bounded
 * range: its price is the plain sum.
 * Scores are rounded down to multiples of a unit u; with an error e of each score, rounded ones move by at most
 * d_r + 2e + u, for which sum d_r becomes sum d_r + m (2e + u), and sqrt(sum d_r^2) sqrt(sum d_r^2) + sqrt(m) (2e + u).
 * Depends on: mechanism.h, ledger.h, random/selection.h.  Used by: oracle, solvers/frank_wolfe, federated. */
#ifndef PN_PRIVACY_SELECTIONS_H
#define PN_PRIVACY_SELECTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/event/event.h"
#include "privacy/ledger/ledger.h"
#include "random/rng.h"
#include "random/score_levels.h"

/* All public, fixed before the data are looked at. */
typedef struct pn_selections_options {
    double scale;       /* b, in units of the scores, > 0; rounded up */
    size_t count;       /* selections that one charge pays for */
    size_t most;        /* candidates of one */
    double sum, root;   /* bounds on sum d_r and on sqrt(sum d_r^2): certified by the caller, > 0 */
    double score_error; /* bound on |computed - exact| of every score, >= 0 */
    double score_bound; /* bound on |score|, > 0; scores beyond it are clamped, a NaN counts as the least */
    bool pure;          /* charged as exponential(epsilon), which they are together; else as zcdp(rho) */
    bool flips;         /* pure ones alone: by permute-and-flip, charged as pure(epsilon) */
    pn_neighbours neighbours;
} pn_selections_options;

typedef struct pn_selections pn_selections;

/** Errors: PN_EINVAL for numbers outside [2^-900, 2^900] and for a scale below 2^-40 of `root`; PN_ENOMEM. */
pn_status pn_selections_new(pn_selections **out, const pn_selections_options *options, pn_err *err);
void pn_selections_free(pn_selections *self); /* NULL allowed; what was paid for and not selected stays paid for */

/** *scale = the least at which `count` selections cost at most `budget`, to what rounding adds: rho, or epsilon of a
 *  pure price; NaN where there is none.  options->scale is not looked at.  Errors: PN_ENOMEM. */
pn_status pn_selections_scale(double *scale, const pn_selections_options *options, double budget, pn_err *err);

/** What `count` selections cost, rounding included; borrowed. */
pn_event *pn_selections_event(const pn_selections *self);
/** The epsilon of that event, or its rho. */
double pn_selections_cost(const pn_selections *self);

/** Charge `count` selections.  What is left of an earlier charge is lost.  Errors: as pn_mechanism_release, before its
 *  draw. */
pn_status pn_selections_pay(pn_selections *self, pn_ledger *ledger, const char *label, const pn_rng *rng, pn_err *err);
/** The caller has charged for `count` selections, at least the event's price, in an account of its own: as after
 *  pn_selections_pay. */
void pn_selections_paid(pn_selections *self);
/** One of scores[n], from 0, n >= 1 and at most `most`; by the law above, exactly, over the rounded scores.  Errors:
 *  PN_EPRIVACY when nothing is left of what was paid for; nothing is drawn then. */
pn_status pn_selections_pick(pn_selections *self, pn_rng *rng, const double *scores, size_t n, size_t *chosen,
                             pn_err *err);

/* Scores that are whole already and stand on levels (random/score_levels.h), of a choice that a record moves by at most
 * `moves` <= d_r, which are `moved` units of them. */

/** The rate at which levels are to be made: rounded down, so that the choice costs no more than its part. */
pn_rate pn_selections_rate(const pn_selections *self, double moves, uint64_t moved);
/** pn_selections_pick of one of them; of selections that flip view->best is looked at.  Errors: PN_EPRIVACY where
 *  choices together move by more than was paid for; PN_EINVAL for levels of another rate; as pn_score_levels_draw. */
pn_status pn_selections_choose(pn_selections *self, pn_rng *rng, const pn_level_view *view, double moves,
                               uint64_t moved, size_t *j, bool *second, pn_err *err);

#endif
