/* accountant.h -- from events to (epsilon, delta).  An accountant adds events up and converts.
 * Depends on: event.h, numeric.  Used by: ledger, plans, bindings.  Spec: accounting.md sections 2, 3 and 8. */
#ifndef PN_PRIVACY_ACCOUNTANT_H
#define PN_PRIVACY_ACCOUNTANT_H

#include <stddef.h>

#include "core/param.h"
#include "core/status.h"
#include "privacy/event.h"

typedef struct pn_accountant pn_accountant;

typedef struct pn_accountant_ops {
    const char *name; /* "rdp", "zcdp" */
    const char *doc;
    const char *source;
    const pn_param *params;
    pn_status (*create)(pn_accountant **out, const pn_arg *args, pn_err *err);
    void (*destroy)(pn_accountant *self);
    pn_status (*add)(pn_accountant *self, pn_event *event, size_t count, pn_err *err); /* keeps the event */
    /* Smallest epsilon >= 0 certified at delta in [0,1); +inf when none.  order (may be NULL): the minimising order, or 0. */
    double (*epsilon)(const pn_accountant *self, double delta, double *order);
    double (*delta)(const pn_accountant *self, double epsilon); /* smallest delta certified at epsilon; in [0, 1] */
    double (*rdp)(const pn_accountant *self, double alpha);     /* composed curve; +inf where unknown */
    double (*zcdp)(const pn_accountant *self);                  /* composed rho; +inf where unknown */
} pn_accountant_ops;

struct pn_accountant {
    const pn_accountant_ops *ops;
    pn_neighbours neighbours; /* of the first event; later ones must agree */
    size_t events;
};

const pn_accountant_ops *const *pn_accountant_table(void);
pn_status pn_accountant_new(pn_accountant **out, const char *name, pn_arg *args, pn_err *err);
void pn_accountant_free(pn_accountant *accountant);

/** Errors: PN_EPRIVACY when the event's relation is not that of the events before; PN_EINVAL for count 0; PN_ENOMEM. */
pn_status pn_accountant_add(pn_accountant *accountant, pn_event *event, size_t count, pn_err *err);

/* Conversions (Canonne, Kamath, Steinke 2020, Proposition 12). */

/** RDP of order alpha -> epsilon at delta in (0,1); >= 0.  alpha = inf gives rdp itself. */
double pn_rdp_epsilon(double alpha, double rdp, double delta);
/** The largest rdp at order alpha whose epsilon at delta is <= epsilon (may be negative: no budget at this order). */
double pn_rdp_budget(double alpha, double epsilon, double delta);
/** zCDP rho -> epsilon, minimised over real alpha. */
double pn_zcdp_epsilon(double rho, double delta);
/** The largest rho with pn_zcdp_epsilon(rho, delta) <= epsilon: relative 1e-9 on the safe side. */
double pn_zcdp_rho(double epsilon, double delta);

/** epsilon(delta) of `event` taken `count` times under the tightest accountant of this build, minimised over orders in
 *  (1, inf]; the minimising order in *order (may be NULL). */
double pn_event_epsilon(const pn_event *event, size_t count, double delta, double *order);

#endif
