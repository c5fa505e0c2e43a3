/* gradient_descent.h -- what the parts of a plan of noisy gradient descent share.
 * Private to gradient_descent*.c and their tests.
 * Depends on: descent.h. */
#ifndef PN_SOLVERS_GRADIENT_DESCENT_H
#define PN_SOLVERS_GRADIENT_DESCENT_H

#include "solvers/first_order/descent.h"

/* What the theory rests on, and says. */
typedef enum gd_rule {
    /* Polyak-Lojasiewicz or strong convexity: the excess of the last point shrinks by a factor a step */
    GD_RULE_LINEAR,
    GD_RULE_CONVEX,    /* the average of the points */
    GD_RULE_KINKS,     /* the same for subgradients */
    GD_RULE_STATIONARY /* the squared gradient at a random point */
} gd_rule;

/* The constants that a risk is made of.  All public. */
typedef struct gd_constants {
    gd_rule rule;
    double p;
    double smoothness;       /* L of what is taken by its gradient; +inf */
    double strong_convexity; /* mu, or the constant of Polyak-Lojasiewicz; 0 */
    double prox_convexity;   /* the part of mu that lies in what the proximal step takes */
    bool proximal;           /* there is a proximal step */
    double slope;            /* G of records; +inf */
    double gap;              /* bound on the excess of the start; +inf */
    double distance;         /* bound on ||start - minimiser||, and with a tail on that of every point; +inf */
    double tail;             /* of the average */
    double kick;             /* bound on r(start) - r(any other point) */
} gd_constants;

/**
 * The bound of the rule for `steps` steps of size eta with noise of variance `variance` a coordinate: on the expected
 * excess risk, or on the expected squared gradient (with a proximal step: gradient mapping) for GD_RULE_STATIONARY.
 * +inf where the theory is silent.
 *   linear      gap_{t+1} <= q gap_t + e:  without a proximal step q = 1 - mu eta (2 - L eta), e = L eta^2 p v/2, eta <
 *               2/L; with one q = 1 - mu eta/(1 + mu_r eta), e = eta p v/(2 (1 + mu_r eta)), eta <= 1/L
 *   convex      (1 + a) D^2/(2 eta (T + a)) + c eta p v, a the tail, c = min(1, 1/(2 (1 - eta L))), eta <= 1/L
 *   kinks       (1 + a) (D^2/(2 eta) + r)/(T + a) + eta (G^2 + p v)/2
 *   stationary  without a proximal step (gap/(eta T) + L eta p v/2) / (1 - L eta/2), eta < 2/L;
 *               with one 2 (gap/(eta T) + p v) / (1 - L eta/2) + 2 p v
 * Source: mirror-descent.md section 7; the proximal forms by the 1/eta strong convexity of the step's own
 * problem.
 */
double gd_risk(const gd_constants *of, double steps, double eta, double variance);

/** Steps in [1, most] with the least gd_risk, the variance being steps * unit; 0 where it is never finite. */
size_t gd_best_steps(const gd_constants *of, double eta, double unit, size_t most);

/* A problem while its plan is made. */
typedef struct gd_problem {
    pn_descent *plan;
    pn_objective *objective;
    const pn_bounds *bounds;
    const pn_arg *common, *own;
    gd_constants of;
    double unit;  /* s: a gradient's noise, and of batches their draw, is s sqrt(T); 0 without privacy */
    double time;  /* eta T that the convex rule takes; +inf without privacy */
    bool claimed; /* mu is */
    bool gap_guessed;
    /* from the start to the minimiser, as far as that is proven; of.distance may be a guess below it */
    double distance;
    double risk;  /* by the rule */
    double usual; /* of the linear rule: the excess to be expected of the convex one, over which it was taken */
} gd_problem;

/** Fill at->of, claimed and distance: constants of the problem, from public numbers.  Errors: PN_ENOMEM;
 *  what a regulariser fails with. */
pn_status gd_read_constants(gd_problem *at, pn_err *err);
/** Noise of a gradient, and at->unit, before the steps are chosen.  Errors: as pn_gradient_noise_read,
 *  pn_gradient_noise_batch and pn_gradient_noise_wang. */
pn_status gd_read_noise(gd_problem *at, pn_err *err);

extern const pn_param gd_params[];
enum { GD_STEP = 0, GD_OUTPUT, GD_TAIL, GD_PL, GD_STRONG_CONVEXITY, GD_PROX, GD_C, GD_MOMENTUM, GD_BATCH };

pn_status gd_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);

#endif
