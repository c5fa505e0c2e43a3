/* release.h -- what a party releases and what that costs, from public numbers alone.  The plan prices a run and parties
 * draw and charge by the same functions, so that a run costs what its plan says to the last bit.
 *   selection  one of at most 2 tau + 1 candidates, by the exponential mechanism with epsilon0
 *              (PN_FEDERATED_PAPER: Laplace noise); of a block the choices that make a vertex
 *   feature    m numbers J a_i with Gaussian noise, once for each column
 *   score      (PN_FEDERATED_BALL) the best score in units of Delta_t, the round's sensitivity, with Gaussian noise;
 *              with `stay` also <ghat_k, x_k>
 * A charge names the run and the kind in its label, so that a ledger tells how many of a run it has paid for.
 * Depends on: terms.h, sketch.h, privacy.  Used by: party*.c, server_account.c, federated_frank_wolfe_plan*.c.  Spec:
 * distributed-frank-wolfe.md section 3. */
#ifndef PN_FEDERATED_RELEASE_H
#define PN_FEDERATED_RELEASE_H

#include "federated/wire/terms.h"
#include "privacy/ledger/ledger.h"
#include "privacy/mechanism/mechanism.h"

typedef enum pn_release_kind {
    PN_RELEASE_SELECTION = 0,
    PN_RELEASE_FEATURE,
    PN_RELEASE_SCORE,
    PN_RELEASE_KINDS
} pn_release_kind;
extern const char *const pn_release_names[PN_RELEASE_KINDS];

#define PN_RELEASE_LABEL 96

/** "federated RUN, party 2: selection"; party 0: of all of them, "federated RUN: selection".  RUN is half of the id, as
 *  hexadecimal digits. */
void pn_release_label(char text[PN_RELEASE_LABEL], const unsigned char run[PN_RUN_ID], size_t party,
                      pn_release_kind kind);
/** How many charges under this label the ledger holds. */
uint64_t pn_release_charges(const pn_ledger *ledger, const char *label);

/** How many records' contributions one neighbour moves: 2 for replace_one, 1 for zero_out. */
double pn_release_contributions(pn_neighbours neighbours);

/**
 * Delta_t: what one record moves any candidate's score by, radius (contributions) X s/n, where every |slope of the
 * loss| <= s: of the squared loss margin + Y, of the logistic loss 1, whatever q.  Rounded up; the rounding of scores
 * as they are computed comes on top.
 *   margin  public bound on every |(J^T q)_j|, or the level at which they are clipped.
 */
double pn_release_score_sensitivity(const pn_terms *terms, double margin);

/** Likewise any entry of the gradient. */
double pn_release_entry_sensitivity(const pn_terms *terms, double margin);

/** rho of a round of a party with a block: epsilon0^2/8, with epsilon0 rounded down as below.  Its choices have the one
 *  scale of noise at which they cost no more (privacy/mechanism/selections.h). */
double pn_release_round_rho(const pn_terms *terms);

/** Columns that a party uploads at most, of vertices with `width` entries that are not 0: min(c_k, T width). */
uint64_t pn_release_features(const pn_terms *terms, size_t width);

/** What one selection is charged, of a block all choices of a round.  epsilon0 is charged and drawn with as it is
 *  rounded down to 20 significant bits.  Of PN_FEDERATED_PAPER: the Laplace noise of a selection at the article's
 *  sensitivity, which is not proven.
 *  Errors: PN_EINVAL for epsilon0 below 2^-40; PN_ENOMEM. */
pn_status pn_release_selection(pn_event **out, const pn_terms *terms, pn_err *err);

/** s_J: what one record moves an uploaded column by in l2, (contributions) X max_j ||J e_j||,
 *  with the rounding of J a. */
double pn_release_feature_sensitivity(const pn_terms *terms, const pn_sketch *sketch);

/** Gaussian noise of sigma_feature on m numbers.  `sensitivity`: of the function above.
 *  Errors: PN_EINVAL, PN_ENOMEM. */
pn_status pn_release_feature(pn_mechanism **out, const pn_terms *terms, double sensitivity, pn_err *err);

/**
 * Gaussian noise of sigma_score on the best score and, with `stay`, on <ghat_k, x_k>, both divided by Delta_t
 * (which then includes the rounding of scores).
 *   weight  ||x_k||_1/r in [0, 1], public: the second number moves by that times Delta_t.  0 without `stay`.
 * Over all parties the weights of a round add up to at most 1, so that their releases cost most with 1/sqrt(K) each
 * (the cost is concave in the square of the weight): as much as K + 1 single scores.
 * Errors: PN_EINVAL, PN_ENOMEM.
 */
pn_status pn_release_score(pn_mechanism **out, const pn_terms *terms, double weight, pn_err *err);

/** The events of those two.  Errors: as they. */
pn_status pn_release_feature_event(pn_event **out, const pn_terms *terms, double sensitivity, pn_err *err);
pn_status pn_release_score_event(pn_event **out, const pn_terms *terms, double weight, pn_err *err);

#endif
