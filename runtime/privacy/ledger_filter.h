/* ledger_filter.h -- sums of charges at orders fixed beforehand, and what they still admit.  Private to privacy/.
 * Depends on: accountant.h, event_leaf.h.  Used by: ledger.c.  Spec: accounting.md section 7. */
#ifndef PN_PRIVACY_LEDGER_FILTER_H
#define PN_PRIVACY_LEDGER_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "privacy/event_leaf.h"

#define PN_FILTER_DEFAULT_ORDERS 8

/* One sum: of Renyi divergences at `order`, or of rho where order is 0. */
typedef struct pn_measure {
    double order;
    pn_sum spent;
    bool alive;
} pn_measure;

typedef struct pn_filter {
    double limit; /* epsilon, or rho */
    double delta; /* of each order; 0 for pure budgets and rho */
    size_t count; /* 0: the orders have not been chosen */
    pn_measure *measure;
} pn_filter;

/** Start with nothing spent at orders[count]; an order that has no budget is dead from the start. */
void pn_filter_start(pn_filter *filter, double limit, double delta_each, const double *orders, size_t count);

/** alpha - 1 geometric between an eighth and eight times the best order of a Gaussian. */
void pn_filter_default_orders(double epsilon, double delta, double orders[PN_FILTER_DEFAULT_ORDERS]);

/** Would some order be alive after this charge? */
bool pn_filter_admits(const pn_filter *filter, const pn_event *event, size_t count);

/** Charge; orders that it exhausts are dead from now on. */
void pn_filter_charge(pn_filter *filter, const pn_event *event, size_t count);

/** What a charge costs and what is left at the live measure that comes closest to admitting it, in that measure's unit;
 *  returns its order (0 for rho). */
double pn_filter_closest(const pn_filter *filter, const pn_event *event, size_t count, double *requested, double *left);

/** See pn_ledger_remaining; `delta` is the whole of it. */
double pn_filter_remaining(const pn_filter *filter, double delta);

#endif
