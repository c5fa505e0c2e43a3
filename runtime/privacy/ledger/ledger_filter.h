/* ledger_filter.h -- sums of charges at orders fixed beforehand, and what they still admit.  Private to privacy/.
 * Depends on: accountant.h, event_leaf.h.  Used by: ledger*.c.  See accounting.md section 7. */
#ifndef PN_PRIVACY_LEDGER_FILTER_H
#define PN_PRIVACY_LEDGER_FILTER_H

#include <stdbool.h>
#include <stddef.h>

#include "privacy/event/event_leaf.h"

#define PN_FILTER_DEFAULT_ORDERS 8

/* What is added up, and in which unit the limit is. */
typedef enum pn_filter_kind {
    PN_FILTER_RENYI = 0, /* Renyi divergences; the limit is epsilon at delta */
    PN_FILTER_RHO,       /* rho of zCDP */
    PN_FILTER_ORDER,     /* the Renyi divergence of one order */
    PN_FILTER_GAUSSIAN   /* mu^2 of Gaussian noise; the limit is epsilon at delta */
} pn_filter_kind;

/* One sum, at `order` (0 for rho and mu^2). */
typedef struct pn_measure {
    double order;
    pn_sum spent;
    bool alive;
} pn_measure;

/* What the last event costs at every measure, so that equal charges in a row do not integrate again. */
typedef struct pn_filter_cache {
    pn_event *event; /* kept; NULL: empty */
    size_t room;     /* parts of a composed event that fit */
    double *values;  /* room for each measure */
} pn_filter_cache;

typedef struct pn_filter {
    pn_filter_kind kind;
    double limit;
    double slop;       /* relative: totals this close to the limit are the limit */
    double delta;      /* the whole of it */
    double share;      /* of delta, for the tails of sampled noise */
    double delta_each; /* of each order; 0 for pure budgets */
    double reach;      /* of mu^2, under the Gaussian filter */
    size_t count;      /* 0: the orders have not been chosen */
    pn_measure *measure;
    pn_sum slack, tail, window; /* of the noise as drawn, added up */
    pn_filter_cache *cache;     /* NULL: none */
} pn_filter;

/* A double stands for a number to its last digit: w/3, w/3 and w/3 are w. */
#define PN_FILTER_SLOP 0x1p-50

/** Does a total stay within a limit, which it may exceed by slop, relative? */
bool pn_within(double total, double limit, double slop);

/** Start with nothing spent at orders[count]; an order that has no budget is dead from the start.  `delta` is the
 *  whole, of which the tails of sampled noise have the `share`.  measure, cache and slop stay as they are. */
void pn_filter_start(pn_filter *filter, pn_filter_kind kind, double limit, double delta, double share,
                     const double *orders, size_t count);

/** alpha - 1 geometric between an eighth and eight times the best order of a Gaussian, 2^-23 at least. */
void pn_filter_default_orders(double epsilon, double delta, double orders[PN_FILTER_DEFAULT_ORDERS]);

/** Would some order be alive after this charge? */
bool pn_filter_admits(const pn_filter *filter, const pn_event *event, size_t count);

/** Charge; orders that it exhausts are dead from now on. */
void pn_filter_charge(pn_filter *filter, pn_event *event, size_t count);

/** What a charge costs and what is left at the live measure that comes closest to admitting it, in that measure's unit;
 *  returns its order (0 for rho). */
double pn_filter_closest(const pn_filter *filter, const pn_event *event, size_t count, double *requested, double *left);

/** What has been charged, in the unit of the limit, where there is one measure that says it. */
double pn_filter_spent(const pn_filter *filter);

/** See pn_ledger_remaining. */
double pn_filter_remaining(const pn_filter *filter);

/** What has been charged, of the noise as drawn. */
pn_slack pn_filter_slack(const pn_filter *filter);

#endif
