/* first_order.h -- what the plans and runs of gradient_descent, sgd, svrg and their relatives share: constants of the
 * problem, where to start, warnings, and when a run has diverged.
 * Depends on: solver.h, composite.h.  Used by: gradient_descent*.c, sgd*.c, svrg*.c,
 * accelerated*.c, output_perturbation*.c. */
#ifndef PN_SOLVERS_FIRST_ORDER_H
#define PN_SOLVERS_FIRST_ORDER_H

#include "minimise/composite.h"
#include "solvers/engine/solver.h"

typedef struct pn_first_order {
    pn_objective *objective;
    pn_composite composite;
    double n;
    size_t p;         /* length of theta */
    double lipschitz; /* G: every record's gradient has at most this l2 norm; +inf */
    /* L of what is taken by its gradient, every record's loss and the smooth part of r; +inf where not smooth */
    double smoothness;
    double strong_convexity; /* mu of F_r: the certified one, or the larger one that the user claims; >= 0 */
    double certified;        /* the certified one */
    double diameter;         /* of the set, l2; +inf */
    double usual;            /* root mean square of row norms to be expected, as a part of their bound; 1 */
    double margin_slope;     /* pn_margin_slope */
    double *start;           /* [p] owned: the given point, the set's centre, or 0 */
} pn_first_order;

/* `strong_convexity`, for the tables of solvers that use it. */
#define PN_STRONG_CONVEXITY_PARAM                                                                                      \
    {                                                                                                                  \
        "strong_convexity", PN_REAL, PN_OPTIONAL, PN_POSITIVE, 0.0, NULL,                                              \
            "mu, when it is known to be larger than what is certified: steps and predictions rest on it, privacy "     \
            "does "                                                                                                    \
            "not"                                                                                                      \
    }

/* `momentum`, for the tables of solvers that use it. */
#define PN_MOMENTUM_PARAM                                                                                              \
    {                                                                                                                  \
        "momentum", PN_REAL, PN_OPTIONAL, PN_BELOW_ONE, -1.0, NULL,                                                    \
            "beta of Nesterov's method: the next gradient is taken beta times the last step further on; by default 0 " \
            "where that many steps go far enough without"                                                              \
    }

/**
 * Read the problem.  `prox` and `claimed` (strong convexity): options, may be NULL or not given.
 * Clear it also after a failure.
 * Errors: as pn_composite_open; PN_ENOMEM.
 */
pn_status pn_first_order_read(pn_first_order *out, const char *owner, pn_objective *objective, const pn_arg *start,
                              const pn_arg *prox, const pn_arg *claimed, pn_err *err);
void pn_first_order_clear(pn_first_order *self);

/* How long noisy gradients are followed by default: t = eta T.  With s the noise of one release that takes the whole
 * budget, T of them move a coordinate by the deviation t s whatever T is, and the risk by p t s^2/2 at most.
 * So t is the least of
 *     D / (s sqrt(2 p))                          where D^2/(4 t) + p t s^2/2 is least,
 *         D the usual distance below or one that is proven;
 *     max(0.3 scale/(u s), 0.1 G scale/(p s^2))    noise has moved a margin, or the risk,
 *         by the part of their scale that does no harm;
 *     ln(1 + 8 mu gap/(p s^2)) / (4 mu)          what is left of the gap has come down to the noise,
 *         with strong convexity.
 * scale is G/L, the margin over which the slope of a loss changes by its bound (pn_margin_slope).
 * u is the root mean square of row norms as a part of their bound.  Noise moves the margin of a row by its norm times
 * t s: by the part 0.3 of its scale, of a row of the usual norm, in the time 0.3 scale/(u s).  Were rows divided by u,
 * so that the usual one has the norm of the bound, the slopes and theta's scale would change so that the time is this.
 * The other term of the risk does not change. */
typedef struct pn_noise_time {
    double scale, slope; /* slope: G */
    double usual;        /* u; 0: 1 */
    double distance;     /* +inf where nothing bounds it, as scale and slope */
    double strong_convexity, gap;
    double p, unit; /* unit: s */
} pn_noise_time;
double pn_time_of_noise(const pn_noise_time *of);
/* The part of `scale`: also what is guessed of distances. */
#define PN_NOISE_SHARE 0.3

/* The distance D of the minimiser for which default times are made: sqrt(2 p) max(0.3/u, 15/p) scale, or `most`;
 * then t = max(0.3/u, 15/p)
 * scale/s.  Between 0.2 and 0.5 in place of 0.3 the risk is flat on a9a, covtype, usps, breast cancer and reuters.  For
 * few columns 0.3 is too short a way to minimisers that are far in directions of little curvature, while curvature
 * holds noise down in the others: at epsilon 0.1 to 10 the least risk lies between 1.2 and 5 on abalone and cal_housing
 * (8 columns), 0.6 and 1.2 on ijcnn1 (22).
 * That way does not depend on u: on 22 tables which recipes read it is neither too long nor too short, while 0.3/u for
 * many columns takes up to 21 % of the excess risk off tables of numbers (tests/bench/utility/front_door.md). */
double pn_usual_distance(double scale, double usual, double p, double most);
/* ||start - minimiser|| is at most sqrt(2 gap/mu); +inf without strong convexity. */
double pn_distance_of_gap(double strong_convexity, double gap);
/* What comes about in convex problems rather than what can be ruled out, for predictions: on data sets of several kinds
 * about a third of the terms D^2/(4 t) and `noise` of the bound. */
double pn_usual_excess(double distance, double time, double noise);

/** pn_time_of_noise of a problem whose minimiser is at most `far` away (+inf: unknown), with `gap` the excess of the
 *  start. */
double pn_first_order_time_of_noise(const pn_first_order *of, double far, double gap, double unit);

/* G of the loss without the clip of its objective, for the scale G/L: a clip makes gradients and their noise smaller,
 * but the minimiser is as far away as it was, and the time to it that noise allows is longer in proportion.  Of losses
 * whose slopes nothing bounds half of the largest slope at margin 0, or the clip where that is more: predictions worse
 * than 0 are not the rule.  Measured in tests/bench/utility/front_door.md.
 * Errors: PN_ENOMEM; as the task of this thread when that is stopped. */
pn_status pn_margin_slope(double *out, const pn_objective *objective, pn_err *err);
/* The margin over which the slope of a loss changes by its bound, G/L; a guess for losses without an L. */
double pn_margin_scale(const pn_first_order *of);
/**
 * *unit: the deviation on a coordinate of the mean gradient's noise if one release of it took the whole budget, and
 * *time: pn_time_of_noise for that.  Without privacy 0 and +inf; +inf, too, for problems that have no such rule.
 * Errors: PN_ENOMEM, what the set or the regulariser fails with.
 */
pn_status pn_first_order_time(double *time, double *unit, pn_objective *objective, const pn_request *request,
                              const pn_arg *start, pn_err *err);

/* T steps of 1/L make the time T/L; with Nesterov's momentum beta each lasts 1/(1 - beta) times as long, and the noise
 * is that of plain steps which take the same time.  1 - beta is at least 10/T, so that the start is forgotten: on a9a
 * and abalone the risk with 10/T and with 20/T is the same.  Momentum is for plans whose work is limited: the theory's
 * bounds are those of plain steps. */
double pn_longest_time(double smoothness, double steps);
/** beta with which `steps` steps of size `step` take `time`; 0 where they do without. */
double pn_momentum_for(double time, double step, double steps);
/** The fewest steps of 1/L that take `time`, with momentum. */
double pn_fewest_steps(double smoothness, double time);

/** *gap: the mean loss at the start, at most, less the least value that losses have; +inf when none is known.
 *  Errors: as pn_margin_slope. */
pn_status pn_first_order_loss_gap(const pn_first_order *self, double *gap, pn_err *err);
/**
 * *gap bounds the excess of the start: the least of (G + ||r'||) times the diameter where F_r is convex,
 * (G + ||r'||)^2/(2 mu) with mu of strong convexity or Polyak-Lojasiewicz (0: none), and the loss there, at most, less
 * the least that losses can be, plus r less its
 * minimum.  r' is that of the start.  +inf where nothing is known.  Errors: PN_ENOMEM, what r fails with.
 */
pn_status pn_first_order_gap(const pn_first_order *self, double mu, double *gap, pn_err *err);

/** PN_EUNSUPPORTED unless every record's loss is smooth, with what to do instead. */
pn_status pn_first_order_need_smooth(const pn_first_order *self, pn_err *err);
/** Lines about G, L, mu and r; the warning about a claimed mu; records n. */
void pn_first_order_explain(const pn_first_order *self, pn_plan *plan);
/** A line for the usual norm of rows, in plans whose time is longer by it. */
void pn_first_order_explain_usual(const pn_first_order *self, pn_plan *plan);
/** The warning for a step beyond `limit` (1/L, 2/L, ...), which is `because`. */
void pn_first_order_check_step(pn_plan *plan, double step, double limit, const char *because);

/** True, with state->finished and stopped = "diverged" set, when x[p] has left every reasonable range: not finite or
 *  beyond 2^300. */
bool pn_has_diverged(pn_state *state, const double *x, size_t p);

#endif
