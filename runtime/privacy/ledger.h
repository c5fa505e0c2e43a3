/* ledger.h -- a privacy budget that is charged before noise is drawn and refuses what it does not cover.
 * Depends on: accountant.h.  Used by: mechanism.h, solvers, bindings.  Spec: accounting.md section 7.
 *
 * Three kinds of budget.  pure epsilon (delta 0): sums of pure epsilon.  rho: sums of zCDP.  (epsilon, delta): the fully
 * adaptive Renyi filter over orders that are fixed at the FIRST charge, before anything has been released: the default J
 * orders with delta/J each when the first request fits them, else the request's own best order alone with all of delta.
 * Either choice looks at the first request only, so the orders are fixed beforehand as the theorem asks
 * (Feldman, Zrnic 2021; Lecuyer 2021).
 *
 * Why the filter is valid.  Whether order j survives release i is known before release i is drawn, so its lifetime is a
 * stopping time and the interaction cut there is RDP(alpha_j, B_j).  A release is admitted only if some order survives it,
 * so the last one falls within one of the J lifetimes, and the J failure probabilities of delta/J add up to delta.  An order
 * that failed on an admitted release stays dead, whatever is asked later; a refused request kills nothing.
 *
 * Noise as drawn is not quite the ideal law (event.h, pn_slack).  The share of delta that pays for its tails, PN_TAIL_SHARE,
 * is fixed beforehand and the same for every ledger: the orders share delta (1 - PN_TAIL_SHARE).  The slack of the exponents
 * that adaptive charges have gathered, s_i in step i, is known before step i is drawn, like eps_i; with R and S their sums, an
 * order survives while R + S stays within B.  Then (1 - exp(eps - S - L))_+ is at most delta/J exp((alpha - 1)(L - R)), a
 * supermartingale, on every path: the proof above holds with S beside R.  A pure budget adds S to its sum; a budget of rho
 * (or of one Renyi order, up to the tails) says that what ran is within exp(+-S/2) of a rho-zCDP interaction but for tails:
 * approximate zCDP, of which reports give S and the tails.
 *
 * Sums are exact (event_curve.h), and admission converts them with the function that prices plans: what
 * pn_event_epsilon(event, count, delta) <= epsilon promises on an empty ledger is admitted, at once or step by step. */
#ifndef PN_PRIVACY_LEDGER_H
#define PN_PRIVACY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/event.h"

typedef struct pn_ledger pn_ledger;

typedef struct pn_budget {
    double epsilon; /* NaN when the budget is rho */
    double delta;   /* 0 for pure */
    double rho;     /* NaN unless the budget is rho */
    pn_neighbours neighbours;
    bool teaching; /* accepts seeded noise; every statement then says "simulated: no privacy" */
    const double
        *orders;        /* NULL, or order_count Renyi orders > 1 (inf allowed) for an (epsilon, delta) filter; copied */
    size_t order_count; /* each order then has delta/order_count */
} pn_budget;

/** Errors: PN_EINVAL unless exactly one of epsilon > 0 (delta in [0,1)) and rho > 0 is given, and for orders that are not
 *  above 1, that come without delta, or that all leave nothing to spend; PN_ENOMEM. */
pn_status pn_ledger_new(pn_ledger **out, const pn_budget *budget, pn_err *err);
pn_ledger *pn_ledger_keep(pn_ledger *ledger);
void pn_ledger_free(pn_ledger *ledger);
/** What was opened (after a split: the slice).  `orders` are the ones that were passed, not the filter's choice. */
const pn_budget *pn_ledger_budget(const pn_ledger *ledger);

/** The orders of the filter and how many there are; 0 before they are chosen and for rho. */
size_t pn_ledger_order_count(const pn_ledger *ledger);
/** Order `index`, and whether it is alive (may be NULL). */
double pn_ledger_order(const pn_ledger *ledger, size_t index, bool *alive);

/** Would `count` times `event` be admitted now?  Changes nothing.
 *  Errors: PN_EBUDGET with Requested, Remaining and Difference; PN_EPRIVACY when the relations differ. */
pn_status pn_ledger_covers(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err);

/** As pn_ledger_covers, and fix the orders of the filter for a run of `count` steps whose charges follow one by one: all of
 *  them are then admitted if nothing else is charged in between.  Charges nothing.  While nothing has been charged a later
 *  request that these orders do not cover may still choose anew. */
pn_status pn_ledger_reserve(pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err);

/** Charge `count` times `event` under `label` (copied); call it before drawing.  Refusals charge nothing. */
pn_status pn_ledger_spend(pn_ledger *ledger, pn_event *event, size_t count, const char *label, pn_err *err);

/** What `count` times `event` costs by itself in the budget's own unit (epsilon at the budget's delta, or rho). */
double pn_ledger_price(const pn_ledger *ledger, const pn_event *event, size_t count);

/** Spent so far and still admissible, in the budget's own unit; the sum may be less than the budget under a filter.
 *  Spent is the plain composition of what was charged ("at fixed stopping").
 *  Remaining under a filter: the largest epsilon at delta of a rho-zCDP release that the filter would still admit (of a pure
 *  release where the only order is inf); before the first charge the budget itself; 0 once closed or split. */
double pn_ledger_spent(const pn_ledger *ledger);
double pn_ledger_remaining(const pn_ledger *ledger);

/** k ledgers of 1/k of the budget each (epsilon/k and delta/k, or rho/k, rounded so that k of them are not more than
 *  the budget), by basic composition, which also holds when their charges interleave (Lyu 2022; Vadhan, Zhang 2023); uses
 *  this ledger up.  out[k] receives them, all or (on failure) none.
 *  Errors: PN_EINVAL for k 0; PN_EUNSUPPORTED once something has been spent or split, or closed; PN_ENOMEM. */
pn_status pn_ledger_split(pn_ledger *ledger, size_t k, pn_ledger **out, pn_err *err);

/** No more charges: every later one is PN_EBUDGET. */
void pn_ledger_close(pn_ledger *ledger);

/* The record of charges; consecutive charges of the same event under the same label are one entry with a count. */
typedef struct pn_charge {
    const char *label;
    const pn_event *event;
    size_t count;
} pn_charge;
size_t pn_ledger_entries(const pn_ledger *ledger);
pn_charge pn_ledger_entry(const pn_ledger *ledger, size_t index);

#endif
