/* accountant.h -- from events to (epsilon, delta).  An accountant adds events up and converts.
 * Depends on: event.h, numeric.  Used by: ledger, plans, bindings.  See accounting.md sections 2, 3 and 8. */
#ifndef PN_PRIVACY_ACCOUNTANT_H
#define PN_PRIVACY_ACCOUNTANT_H

#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "privacy/event/event.h"
#include "penumbra/accountant.h"

typedef struct pn_accountant_ops {
    const char *name; /* "rdp", "zcdp" */
    const char *doc;
    const char *source;
    const pn_param *params;
    pn_status (*create)(pn_accountant **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_accountant *self);
    pn_status (*add)(pn_accountant *self, pn_event *event, size_t count, pn_err *err); /* keeps the event */
    /* Smallest epsilon >= 0 certified at delta in [0,1), slack included; +inf when none.  order (may be NULL): the
     * minimising Renyi order, 0 when there is none.  Errors: PN_ENOMEM,
     * PN_EUNSUPPORTED for an event that it cannot take. */
    pn_status (*epsilon)(const pn_accountant *self, double delta, double *epsilon, double *order, pn_err *err);
    /* Smallest delta certified at epsilon >= 0; in [0, 1]. */
    pn_status (*delta)(const pn_accountant *self, double epsilon, double *delta, pn_err *err);
    /* Certified bounds on epsilon at delta; NULL: none.  high is what `epsilon` gives; low is below the epsilon of the
     * composed loss pairs of the events (pn_event_ops.pairs, attained), so no analysis of these pairs gets below it. */
    pn_status (*interval)(const pn_accountant *self, double delta, double *low, double *high, pn_err *err);
    /* How the last answer was found, and what the last interval is, with the reason when it is wide; false: nothing was
     * asked since the last event.  NULL: neither says more than the accountant's name. */
    bool (*method)(const pn_accountant *self, char *text, size_t size);
    bool (*width)(const pn_accountant *self, char *text, size_t size);
    double (*rdp)(const pn_accountant *self, double alpha); /* composed curve; +inf where unknown */
    double (*zcdp)(const pn_accountant *self);              /* composed rho; +inf where unknown */
} pn_accountant_ops;

struct pn_accountant {
    const pn_accountant_ops *ops;
    pn_neighbours neighbours; /* of the first event; later ones must agree */
    size_t events;            /* calls of add */
    double releases;          /* counts and all */
};

/* One row, one line. */
#define PN_ACCOUNTANTS(X)                                                                                              \
    X(rdp)                                                                                                             \
    X(zcdp)                                                                                                            \
    X(pld)                                                                                                             \
    X(advanced)
/** Of these, ended by NULL. */
const pn_accountant_ops *const *pn_accountant_table(void);
/** pn_accountant_new with its arguments, one for each row of its table. */
pn_status pn_accountant_from_args(pn_accountant **out, const char *name, pn_arg *args, pn_err *err);

/* Conversions (Canonne, Kamath, Steinke 2020, Proposition 12). */

/** RDP of order alpha -> epsilon at delta in (0,1); >= 0.  alpha = inf gives rdp itself. */
double pn_rdp_epsilon(double alpha, double rdp, double delta);
/** The largest rdp at order alpha whose epsilon at delta is <= epsilon (may be negative: no budget at this order). */
double pn_rdp_budget(double alpha, double epsilon, double delta);

/* Sampled noise (pn_slack).  Every conversion leaves a 2^-30th part of delta for the tails, so that a plan and the
 * ledger that is charged for it agree to the last bit whatever is drawn. */
#define PN_TAIL_SHARE 0x1p-30

/** What the cut of sampled noise adds to delta at an ideal epsilon: see pn_slack. */
double pn_slack_tail(pn_slack slack, double epsilon);
/** delta (1 - PN_TAIL_SHARE), rounded downward; 0 stays 0. */
double pn_ideal_delta(double delta);
/** What an ideal epsilon at pn_ideal_delta(delta) means for the noise as drawn: epsilon + slack.epsilon, or +inf when
 *  the tails need more than their share of delta. */
double pn_slack_epsilon(double epsilon, double delta, pn_slack slack);
/** What an ideal delta at epsilon - slack.epsilon means for the noise as drawn, at epsilon; in [0, 1]. */
double pn_slack_delta(double delta, double epsilon, pn_slack slack);

#endif
