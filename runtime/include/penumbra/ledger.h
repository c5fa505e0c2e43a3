/* ledger.h -- a privacy budget that is charged before noise is drawn and refuses what it does not cover.
 *
 * Budgets.  epsilon alone (delta 0): sums of pure epsilon.  rho: sums of zCDP.  (alpha, epsilon): sums of the Renyi
 * divergence of one order. (epsilon, delta): a fully adaptive Renyi filter (Feldman, Zrnic 2021; Lecuyer 2021), or
 * the Gaussian filter where it is asked for or nothing else fits the first request (Smith, Thakurta 2022; Koskela,
 * Tobaben, Honkela 2023).  Slices and parts.  A slice has a budget of its own and passes its charges on to the ledger
 * above; the parts of a split share it out.  Files.  A ledger with a file writes each charge durably before it
 * returns.  Threads.  Several may charge one ledger, its slices and its parts.  Closing and freeing are one thread's
 * business.  A child process does not charge: two copies of a budget would be twice the budget.
 * Depends on: event.h. */
#ifndef PENUMBRA_LEDGER_H
#define PENUMBRA_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "penumbra/event.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_ledger pn_ledger;

typedef struct pn_budget {
    double epsilon; /* NaN when the budget is rho */
    double delta;   /* 0 for pure */
    double rho;     /* NaN unless the budget is rho */
    double alpha;   /* 0, or the order > 1 (inf allowed) of which epsilon is the Renyi divergence */
    pn_neighbours neighbours;
    bool teaching; /* accepts seeded noise; every statement then says "simulated: no privacy" */
    bool gaussian; /* (epsilon, delta) by the Gaussian filter: admits gaussian events only */
    /* NULL, or order_count Renyi orders > 1 (inf allowed) for an (epsilon, delta) filter; copied */
    const double *orders;
    size_t order_count; /* each order then has delta/order_count */
} pn_budget;

/** Errors: PN_EINVAL unless exactly one of epsilon > 0 (delta in [0,1)) and rho > 0 is given and the other is NaN,
 *  for an alpha with delta or rho, and for orders that are not above 1, that come without delta, or that all leave
 *  nothing to spend; PN_ENOMEM. */
pn_status pn_ledger_new(pn_ledger **out, const pn_budget *budget, pn_err *err);

/**
 * A ledger kept in a file: opened when there is one, else started with `budget`.
 *   key     path of the key; NULL: path with ".key".
 *   budget  NULL: the file's own.  Otherwise it must be the file's.
 * Errors: PN_EINVAL when the budgets differ (names both); PN_EIO; PN_EPARSE for a file that was changed; PN_EPRIVACY
 *         for a copy; as pn_ledger_new.
 * Only one ledger has a file open at a time; pn_ledger_free of the last reference lets go of it.
 */
pn_status pn_ledger_open(pn_ledger **out, const char *path, const char *key, const pn_budget *budget, pn_err *err);

/**
 * A slice of `parent` with a budget of its own (any kind), whose charges need room in both and are charged to both.
 *   name    what the parent's report calls it; unique below the parent.  An existing name gives that slice again.
 *           NULL: "slice N".
 *   budget  NULL to open an existing slice; otherwise it must be the slice's.  Relation and teaching must be the
 *           parent's.
 * Errors: PN_EPRIVACY for another relation or teaching; PN_EBUDGET when the parent takes no more charges; PN_EINVAL.
 */
pn_status pn_ledger_slice(pn_ledger **out, pn_ledger *parent, const char *name, const pn_budget *budget, pn_err *err);

#define PN_LEDGER_PARTS 10000 /* of a split, at most */

/** k ledgers of one k-th of the budget each: epsilon/k and delta/k, rho/k, to the nearest double, by basic
 *  composition; uses this ledger up.  A request for epsilon/k is admitted, whatever way the quotient was rounded:
 *  totals that differ in the last digit are equal.  The report of this ledger goes on to list what its parts spend.
 *  out[k] receives them, all or (on failure) none.  A ledger that was split into k parts (before its file was last
 *  closed, say) gives the same parts again.
 *  Errors: PN_EINVAL for k 0 or above PN_LEDGER_PARTS; PN_EUNSUPPORTED once something has been spent or split
 *          otherwise, or closed; PN_ENOMEM; PN_EIO. */
pn_status pn_ledger_split(pn_ledger *ledger, size_t k, pn_ledger **out, pn_err *err);

/** A slice keeps what is above it.  Slices and parts themselves live as long as anything of their family is held. */
void pn_ledger_free(pn_ledger *ledger);

/** No more charges through this object and, at the root, its slices and parts; lets go of the file.  What is left of
 *  a budget in a file can be spent after opening it again.  Once closed, again nothing. */
void pn_ledger_close(pn_ledger *ledger);

/** No more charges, for good: every later one is PN_EBUDGET, also in its slices and parts, also after the file is
 *  opened again.
 *  Errors: PN_EIO when the file cannot say so. */
pn_status pn_ledger_retire(pn_ledger *ledger, pn_err *err);

/** Would `count` times `event` be admitted now?  Changes nothing.
 *  Errors: PN_EBUDGET with Requested, Remaining and Difference; PN_EPRIVACY when the relations differ. */
pn_status pn_ledger_covers(const pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err);

/** Charge `count` times `event` under `label` (copied); call it before drawing.  Refusals charge nothing.  With a
 *  file: the charge is durable on return.
 *  Errors: as pn_ledger_covers; PN_EUNSUPPORTED in a child process, and for an event that has no text form (file
 *          only); PN_EIO when the file cannot be written: nothing is to be released, and nothing was charged unless
 *          the message says that the charge counts as made. */
pn_status pn_ledger_spend(pn_ledger *ledger, pn_event *event, size_t count, const char *label, pn_err *err);

/** Spent so far and still admissible, in the budget's own unit; the sum may be less than the budget under a filter.
 *  Spent is the plain composition of what was charged: naive, not valid at data-dependent stopping.
 *  Remaining under a filter: the largest epsilon at delta of a rho-zCDP release that the filter would still admit (of
 *  a pure release where the only order is inf; of a Gaussian one under the Gaussian filter); before the first charge
 *  the budget itself; for a slice not more than what remains above it where the budgets have the same unit; 0 once
 *  closed or split. */
double pn_ledger_spent(const pn_ledger *ledger);
double pn_ledger_remaining(const pn_ledger *ledger);

/* The odometer: how much has been spent, valid wherever the analyst stops.  Filters at levels first 2^k, k = 1, 2,
 * ..., with delta/(k(k+1)) each; the answer is the smallest level that is not exhausted.
 * Guarantee: for every rule that stops by looking at the transcript, E (1 - exp(epsilon_K - L))_+ <= delta with K the
 * level then reported.  `uniform`: with probability 1 - delta the loss is below the reported level at all times
 * (Ville's inequality).  Both need first and delta to be fixed beforehand. */
typedef struct pn_odometer {
    double first; /* > 0 */
    double delta; /* in (0, 1) */
    bool uniform;
} pn_odometer;

/** The level as epsilon (0 before any charge, +inf when no level holds) and its number k in *level (may be NULL). */
double pn_ledger_odometer(const pn_ledger *ledger, const pn_odometer *options, size_t *level);

/* The record of charges; consecutive charges of the same event under the same label are one entry with a count. */
typedef struct pn_charge {
    const char *label;
    const pn_event *event;
    size_t count;
} pn_charge;
size_t pn_ledger_entries(const pn_ledger *ledger);
pn_charge pn_ledger_entry(const pn_ledger *ledger, size_t index);

/** What was opened (after a split: the slice).  `orders` are the ones that were passed, not the filter's choice. */
const pn_budget *pn_ledger_budget(const pn_ledger *ledger);

/** The slice's name; NULL for what is no slice. */
const char *pn_ledger_name(const pn_ledger *ledger);

/** The file's path; NULL without. */
const char *pn_ledger_path(const pn_ledger *ledger);

/** Why no charge will be admitted any more ("the ledger is closed"), or NULL. */
const char *pn_ledger_ended(const pn_ledger *ledger);

#ifdef __cplusplus
}
#endif

#endif
