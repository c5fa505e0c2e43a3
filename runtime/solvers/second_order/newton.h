/* newton.h -- what the plan and the steps of private Newton share.  Private to newton*.c and their tests.
 * The first release is of the gradient and a majorant of the Hessian at the start; every later one is of a gradient, of
 * which only what a record's slope has moved since the start is released where that needs less noise,
 * and at some steps of a Hessian, too.
 * Depends on: first_order.h, model_release.h, privacy/accounting/allowance.h.
 * Source: Ganesh, Haghifam, Steinke, Thakurta (2023), Faster differentially private convex optimization via
 * second-order methods; the majorant, damping, differences, gains and shares of the budget are ours.
 * Files: newton_plan.c (steps, shares, noise, the plan's lines), newton.c (private steps),
 * newton_exact.c (steps without privacy).
 *
 * With l the loss of <x, w>, ||x|| <= R, and w0 the start:
 *   at w0        a record's gradient is l'(<x, w0>) x, at most s0 R; s0 = 1/2 for the logistic loss at 0,
 *                where elsewhere it is 1
 *   differences  (l'(<x, w>) - l'(<x, w0>)) x, at most s R for all w; s = 1/2 for the logistic loss
 * so the gradient at w, as the sum of two releases, has noise of (s0/z0, s/z) in place of 1/z,
 * and the part of w0 is paid for once. */
#ifndef PN_SOLVERS_NEWTON_H
#define PN_SOLVERS_NEWTON_H

#include "minimise/raised_quadratic.h"
#include "solvers/engine/first_order.h"
#include "oracle/model_release.h"

/* ---- the plan (newton_plan.c) ---- */

typedef struct nw_plan {
    pn_plan base;   /* first */
    pn_model model; /* as certified for every point */
    pn_model first; /* the majorant, with what a gradient at the start can be */
    pn_model again; /* matrices of later steps: the majorant of one margin, the Hessian of several; bare */
    pn_model last;  /* the last one of several: the Hessian, which says how far noise moves the answer; bare */
    pn_model later; /* with what a gradient, or a difference of it from that at the start, can be */
    pn_first_order problem;
    bool differences;
    size_t matrices;                    /* that are released: the majorant, and Hessians spread evenly over the steps */
    double first_z, hessian_z, later_z; /* noise multipliers, one for all matrices; 0 without privacy */
    double damping;                     /* least eigenvalue, in norms of the noise */
    /* norm of the noise of one gradient with all of the budget, as a part of a record's bound: sets T */
    double noise_part;
} nw_plan;

/** To which eigenvalues of a released matrix are raised whose noise has that variance on the diagonal: `damping` times
 *  the expected operator norm of the noise, or r's strong convexity. */
double nw_least(const nw_plan *plan, const pn_model *model, double variance);
enum { NW_HESSIANS = 0, NW_HESSIAN_SHARE, NW_START_SHARE, NW_DAMPING, NW_GRADIENTS, NW_HESSIAN_NOISE };
extern const pn_param nw_params[];

pn_status nw_fill(pn_plan *base, const pn_arg *common, const pn_arg *own, pn_err *err);
void nw_plan_destroy(pn_plan *plan);

/** Of the matrix from which intervals follow, on its diagonal: the last one that is released. */
double nw_hessian_deviation(const nw_plan *plan);
/** The losses are quadratic, so that the majorant is their Hessian. */
bool nw_majorant_is_hessian(const nw_plan *plan);
/** The part of what a release differs from what was predicted that is believed,
 *  with *variance that of the prediction, and of the result on
 *  return.  seen: mean square of the difference over `count` numbers; noise: variance of the release. */
double nw_gain(double *variance, double noise, double seen, double count);

/* ---- a run (newton.c; newton_exact.c) ---- */

typedef struct nw_state {
    pn_state base;           /* first */
    pn_model_release *first; /* of gradient and majorant at the start */
    pn_model_release *again; /* of later matrices; NULL where there are none */
    pn_model_release *last;  /* of the last one; likewise */
    pn_raised quadratic;
    double *next;            /* [dim] what a step leaves unfinished when it fails */
    double *g;               /* [dim] of the mean loss at w, as known from releases */
    double *at_start;        /* [dim] as released there */
    double *regular, *along; /* [dim] gradient of r at theta; of f; scratch */
    double *raw, *origin;    /* [dim] not released: the gradient at w; at the start, once `begun` */
    double *seen;            /* [dim] as just released */
    double *packed;          /* [packed] the matrix of the mean loss as known from releases, without r */
    double *whole;           /* [packed] and with r */
    double *fresh;           /* [packed] as just released */
    double *hessian;         /* [packed] of the mean loss, as released last */
    double *pull;            /* [dim] of the damping of the step that led to w */
    double variance;         /* of g; with differences of its difference from at_start */
    double damping;          /* of that step */
    double spread;           /* of the diagonal of `packed` */
    size_t matrices;         /* released */
    bool begun;              /* origin is there */
    bool has_hessian;
    bool current;  /* `quadratic` is that of `packed`, and of r at w */
    pn_task *task; /* for the work of updates */
} nw_state;

static inline const nw_plan *nw_plan_of(const nw_state *self)
{
    return (const nw_plan *)self->base.plan;
}

/** regular = gradient of r at w, *value += r (NULL: not asked for); `whole` += its Hessian where that is asked for. */
pn_status nw_take_regular(nw_state *self, double *value, bool hessian, pn_err *err);
/** to[packed] = the majorant from[packed of its order] in the block of each margin; not in place. */
void nw_spread(const nw_state *self, const double *from, double *to);
/** A step without privacy: Newton with a line search on values of f, by the majorant where l'' is of no use. */
pn_status nw_exact_step(nw_state *self, pn_oracle *ask, pn_trace_row *row, pn_err *err);

#endif
