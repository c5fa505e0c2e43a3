/* accountant.h -- from events to (epsilon, delta), and from a budget to the noise.  Depends on: event.h, task.h. */
#ifndef PENUMBRA_ACCOUNTANT_H
#define PENUMBRA_ACCOUNTANT_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/event.h"
#include "penumbra/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_accountant pn_accountant;

/** An accountant by name: "rdp", "zcdp", "pld", "advanced"; it has no event yet.  Errors: PN_EUNSUPPORTED for an
 *  unknown name (lists the known); PN_EINVAL for options; PN_ENOMEM. */
pn_status pn_accountant_new(pn_accountant **out, const char *name, const pn_options *options, pn_err *err);

void pn_accountant_free(pn_accountant *accountant);

/** Errors: PN_EPRIVACY when the event's relation is not that of the events before; PN_EINVAL for count 0; PN_ENOMEM. */
pn_status pn_accountant_add(pn_accountant *accountant, pn_event *event, size_t count, pn_err *err);

/** The smallest epsilon certified at delta in [0, 1), what the noise as drawn adds included; +inf when none.
 *  Errors: PN_EINVAL for delta; PN_EUNSUPPORTED for an event that it cannot take; PN_ENOMEM. */
pn_status pn_accountant_epsilon(const pn_accountant *accountant, double delta, double *epsilon, pn_err *err);
/** The smallest delta certified at epsilon >= 0; in [0, 1].  Errors: PN_EINVAL for epsilon; as above. */
pn_status pn_accountant_delta(const pn_accountant *accountant, double epsilon, double *delta, pn_err *err);

/** epsilon(delta) of `event` taken `count` times, slack included: the price that plans and ledgers use.  The exact
 *  curve when all of it is Gaussian noise, else the best Renyi order in (1, inf]; the order in *order (may be
 *  NULL), 0 for the exact curve. */
double pn_event_epsilon(const pn_event *event, size_t count, double delta, double *order);

/** zCDP rho -> epsilon, minimised over real alpha. */
double pn_zcdp_epsilon(double rho, double delta);

/** The largest rho with pn_zcdp_epsilon(rho, delta) <= epsilon: relative 1e-9 on the safe side. */
double pn_zcdp_rho(double epsilon, double delta);

/* ---- calibration ---- */

/**
 * The least sigma of Gaussian noise that is (epsilon, delta)-DP by its exact curve, a 2^-30 part of delta left to the
 * tails of drawn noise.  epsilon >= 0, delta in (0,1), sensitivity > 0, finite; NaN otherwise and when the answer is
 * not a number.
 * Source: Balle, Wang (2018).
 */
double pn_calibrate_gaussian(double epsilon, double delta, double sensitivity);

/** The least scale of Laplace noise that is epsilon-DP: sensitivity/epsilon, rounded upward.  Both > 0, else NaN. */
double pn_calibrate_laplace(double epsilon, double sensitivity);

/* A program as a function of one number: what it releases.  `*event` is a new reference, taken `*count` times (1 at
 * the call).  May fail; its status and message go to whoever calibrates. */
typedef struct pn_program {
    pn_status (*release)(void *self, double x, pn_event **event, size_t *count, pn_err *err);
    void *self;
} pn_program;

/* How the cost is found. */
typedef enum pn_price {
    PN_PRICE_ACCOUNTANT = 0, /* epsilon at delta by the named accountant */
    PN_PRICE_EVENT,          /* by pn_event_epsilon, with which ledgers admit */
    PN_PRICE_RHO             /* rho of zCDP; the goal's epsilon is then rho, its delta 0 */
} pn_price;

typedef struct pn_goal {
    const char *owner;     /* what messages start with: "calibrate.noise" */
    const char *parameter; /* "sigma" */
    pn_price price;
    const char *accountant; /* PN_PRICE_ACCOUNTANT: a name, as for pn_accountant_new */
    double epsilon, delta;  /* epsilon > 0; delta in [0, 1) */
    bool rises;             /* the cost grows with x, as with a rate; otherwise it falls, as with noise */
    bool whole;             /* x is a whole number */
    double low, start, high;
    double tolerance; /* of x, relative; 0: 1e-6 */
    pn_task *task;    /* hears how many costs were asked for and the latest, may stop the search; NULL: nobody does */
} pn_goal;

/**
 * The x in [low, high] where the cost reaches the goal: to the tolerance (to 1 for whole numbers), on the side that
 * fits, and asked afresh at the end.  The cost must be monotone.  When all of the range fits, the costlier end of it.
 * Accountants other than "rdp" and "zcdp" start from the answer of "rdp", so that they are asked about five times.
 *   reached  may be NULL: the epsilon that the answer costs.
 * Errors: what the program fails with; PN_EUNSUPPORTED for an accountant that is not there or cannot take the event,
 *         and when nothing in the range fits (the message has the least epsilon); PN_EINVAL for a goal outside its
 *         ranges; PN_ENUMERIC when a cost is not a number or not the same when asked again; PN_ENOMEM; PN_ECANCELLED,
 *         PN_ELIMIT.
 */
pn_status pn_calibrate(double *out, double *reached, const pn_goal *goal, const pn_program *program, pn_err *err);

#ifdef __cplusplus
}
#endif

#endif
