/* pld_part.h -- a part of a composition, by its largest loss, as a Fourier series.  Private to privacy/.
 * Depends on: pld_law.h, core.  Used by: pld*.c. */
#ifndef PN_PRIVACY_PLD_PART_H
#define PN_PRIVACY_PLD_PART_H

#include "privacy/accounting/pld_law.h"

/* Of all outcomes of the composition those with no loss above `to`, and, unless `from` is -inf, one above `from`. */
typedef struct pn_part {
    pn_law *laws; /* [n], borrowed */
    size_t n;
    bool upper;
    double from, to;
    double tilt, log_scale;                      /* t, and ln E exp(t L) over the part */
    double guess;                                /* the epsilon that it is made for */
    double period;                               /* W */
    double left, left_scale, right, right_scale; /* Chernoff: tilts away from t, and ln of the ratio of the functions */
    double *re, *im, *error; /* [room]: E~ exp(i w_k L), w_k = 2 pi k/W, of the tilted part; and what they are off by */
    size_t frequencies, room;
    double step;                   /* s when it is given; 0: as fine as the frequencies allow */
    double smoothing, shift;       /* s, and b or 0 */
    double *payoff_re, *payoff_im; /* [room]: coefficients times those of the payoff */
    double slack, wave;            /* what the sum over them is off by: slack + wave |epsilon| */
} pn_part;

#define PN_PART_LARGEST 1e5 /* of log_scale: 2^-35 beside it is not lost */
#define PN_TURN         6.28318530717958647692

void pn_part_init(pn_part *out, pn_law *laws, size_t n, bool upper, double from, double to);
void pn_part_clear(pn_part *part);

/** ln of the moment generating function of the part at s; -inf for a part that is empty. */
double pn_part_log_mgf(const pn_part *part, double s);

/** Sets the tilt, for a question near epsilon. */
void pn_part_tilt(pn_part *part, double tilt, double epsilon);

/** Sets the period: a good one, or that of another part with the same tilt. */
void pn_part_place(pn_part *part);
void pn_part_place_like(pn_part *part, const pn_part *other);

/** Sets s; returns how many coefficients it takes, a whole number or infinite. */
double pn_part_set_step(pn_part *part, double step);

/** The first n coefficients; those that are there stay.  Sets the payoff.  Errors: PN_ENOMEM. */
pn_status pn_part_extend(pn_part *part, size_t n, pn_err *err);

/** A bound on what the part adds to delta at epsilon: above it for an upper part, below it, and at least 0, for a lower
 *  one.  *slope is its derivative, about. */
double pn_part_delta(const pn_part *part, double epsilon, double *slope);

/** What rounding and copies add to an upper bound, or take from a lower one. */
double pn_part_slack(const pn_part *part, double epsilon);

/* ---- pld_series.c ---- */

/** re, im, error [from ... to).  Errors: PN_ENOMEM. */
pn_status pn_part_coefficients(pn_part *part, size_t from, size_t to, pn_err *err);

/** Re sum_k (re[k] + i im[k]) exp(i k angle), k < n, and minus its derivative by the angle in *fall. */
double pn_series_at(const double *re, const double *im, size_t n, double angle, double *fall);

#endif
