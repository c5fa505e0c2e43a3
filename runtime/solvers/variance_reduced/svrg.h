/* svrg.h -- what the plans, the noise and the steps of stochastic variance-reduced gradients share.
 * Private to svrg*.c.
 * Depends on: first_order.h, lazy_steps.h, oracle.
 * See variance-reduced.md sections 3 and 4.
 *
 * An epoch takes the gradient v of all records at the snapshot y once; its inner steps correct it by the difference of
 * gradients of a small batch between x and y.  Two forms of a private epoch:
 *     anchored  v + noise is released once; an inner step releases the batch's differences, each clipped to tau =
 *               min(2 G, reach L ||x - y||), with noise in proportion to tau.  x and y are public, so tau is.  No
 *               difference is longer than L ||x - y||, and few are nearly so long: a smaller reach trades a little bias
 *               for less noise.
 *     printed   an inner step releases differences + v under one noise: v is released as often as steps are made. */
#ifndef PN_SOLVERS_SVRG_H
#define PN_SOLVERS_SVRG_H

#include "minimise/lazy_steps.h"
#include "oracle/question.h"
#include "solvers/engine/first_order.h"
#include "solvers/engine/schedule.h"
#include "oracle/gradient_noise.h"

#define SVRG_FAR 0x1p300 /* distance from the snapshot beyond which a run has diverged */

enum {
    SVRG_EPOCHS = 0,
    SVRG_INNER,
    SVRG_BATCH,
    SVRG_STEP,
    SVRG_PRESET,
    SVRG_FORM,
    SVRG_ANCHOR,
    SVRG_TAIL,
    SVRG_RESTART,
    SVRG_REACH,
    SVRG_C,
    SVRG_ACCOUNTANT,
    SVRG_STRONG_CONVEXITY,
    SVRG_PROX
};
extern const pn_param svrg_params[];

/* How long and how fast. */
typedef struct svrg_shape {
    bool doubling; /* SVRG++: epoch s has inner 2^s steps and starts where the last one ended; else each has `inner` */
    size_t epochs, inner; /* T, m */
    size_t batch;         /* b */
    double step;          /* eta */
} svrg_shape;

/* Inner steps of epoch s = 1..T, and of all. */
size_t svrg_epoch_steps(const svrg_shape *shape, size_t epoch);
double svrg_all_steps(const svrg_shape *shape);
/** Per-record gradients as the article counts them: T n + 2 b for each inner step. */
double svrg_gradients(const svrg_shape *shape, double n);

typedef struct svrg_plan {
    pn_plan base; /* first */
    pn_first_order problem;
    svrg_shape shape;
    pn_schedule step; /* of the inner steps, a size for each epoch; shape.step where that is one number */
    bool printed;
    double first_gap; /* bound on the excess of the start; +inf when there is none */
    bool limited;     /* planned as if there were no strong convexity, of which noise leaves nothing */
    bool goes_on;     /* an epoch starts where the last one ended, not at its average */
    double tail;      /* a: iterate t of an epoch weighs like t^a in its average */
    double reach;     /* differences are clipped to min(2 G, reach L ||x - y||) */
    double share;     /* of the budget, for the anchors; 0: by `inflation` */
    double inflation; /* noise of the anchors, in units of what they would need alone; 0: by a share of the budget */
    double batch_factor;
    const char *why_inner, *why_batch, *why_step, *why_epochs; /* the defaults, for people */
    bool whole_price;         /* paid once, as one event, before the first draw (accountant "pld") */
    pn_gradient_noise anchor; /* of v; sigma 0: no noise of its own */
    double inner;             /* noise on a batch's sum of differences; anchored: in units of tau; 0: none */
} svrg_plan;

/* Of svrg_plan.c. */

/** The noise and the predicted risk of other shapes. */
void svrg_what_if(const pn_plan *base, pn_plan_lines *out);

/* Of svrg.c. */

/** How inner steps are made lazily; NULL, or what forbids it, in a few words for people. */
const char *svrg_lazy_obstacle(const svrg_plan *plan, pn_lazy_options *how);

/* Of svrg_shape.c. */

/** Fill in what is 0 in plan->shape. */
void svrg_complete_shape(svrg_plan *plan, bool theory);
/** n epsilon / sqrt(steps ln(1/delta)): the batch from which on sampling makes the noise of inner steps hardly
 *  larger. */
double svrg_batch_rule(const svrg_plan *plan, const svrg_shape *shape);
/** What a run takes on one core, estimated (work.h). */
double svrg_seconds(const svrg_plan *plan, const svrg_shape *shape);
/** Standard deviation of the noise on a batch mean at its largest, from `inner`. */
double svrg_sigma(const svrg_plan *plan, const svrg_shape *shape, double inner);
/** Excess risk to be expected with noise `anchor` on the snapshots' gradients and `inner` as plan->inner.  At most
 *  the gap at the start. */
double svrg_predict(const svrg_plan *plan, const svrg_shape *shape, double anchor, double inner);
/** About the noise as plan->inner that the budget leaves to inner steps when the anchors have `inflation` times the
 *  noise of a run without any.  rho is pn_gradient_noise_rho of the request,
 *  which takes long to find: once for all shapes. */
double svrg_guess_inner(const svrg_plan *plan, const svrg_shape *shape, double inflation, double rho);
/** Bound on the expected gap at the end; NaN when none is proven. */
double svrg_bound(const svrg_plan *plan);

/* Of svrg_noise.c. */

/**
 * What plan->shape asks; of a private request with noise, events and price, too: sets anchor.sigma, inner, base.event,
 * charges, proven.
 *   paper  the article's sigma with constant c.
 * Errors: PN_EBUDGET when no noise fits, with the least epsilon that would do; PN_EUNSUPPORTED for relations and
 * requests without a price; PN_ENOMEM.
 */
pn_status svrg_noise(svrg_plan *plan, bool paper, double c, pn_err *err);
typedef struct svrg_noises {
    double anchor, inner; /* sigma of v, 0 without noise of its own; as plan->inner */
    double reached;       /* what the run costs with them */
} svrg_noises;

/** The noise that another shape would take, as `accountant` ("pld" or "rdp") prices it.  Errors: as svrg_noise. */
pn_status svrg_noise_of(const svrg_plan *plan, const svrg_shape *shape, const char *accountant, svrg_noises *out,
                        pn_err *err);

/* Of svrg_plan.c. */
pn_status svrg_fill(pn_plan *plan, const pn_arg *common, const pn_arg *own, pn_err *err);
void svrg_plan_destroy(pn_plan *plan);

#endif
