/* ledger.h -- a privacy budget that is charged before noise is drawn and refuses what it does not cover.
 * Depends on: accountant.h.  Used by: mechanism.h, solvers, bindings.  Spec: accounting.md section 7.
 *
 * Budgets.  pure epsilon (delta 0): sums of pure epsilon.  rho: sums of zCDP.  (alpha, epsilon): sums of the Renyi divergence
 * of one order.  (epsilon, delta): the fully adaptive Renyi filter over orders that are fixed at the FIRST charge, before
 * anything has been released: the default J orders with delta/J each when the first request fits them, else the request's own
 * best order alone with all of delta.  Either choice looks at the first request only, so the orders are fixed beforehand as the
 * theorem asks (Feldman, Zrnic 2021; Lecuyer 2021).  For Gaussian noise only, when asked for or when the first request fits
 * nothing else, the Gaussian filter: sums of mu^2 up to the mu of the budget, no loss at all (Smith, Thakurta 2022; Koskela,
 * Tobaben, Honkela 2023); it then admits no other event.
 *
 * Why the filter is valid.  Whether order j survives release i is known before release i is drawn, so its lifetime is a
 * stopping time and the interaction cut there is RDP(alpha_j, B_j).  A release is admitted only if some order survives it,
 * so the last one falls within one of the J lifetimes, and the J failure probabilities of delta/J add up to delta.  An order
 * that failed on an admitted release stays dead, whatever is asked later; a refused request kills nothing.
 *
 * Noise as drawn is not quite the ideal law (event.h, pn_slack).  The share of delta that pays for its tails is fixed
 * beforehand like the orders, which share the rest: PN_TAIL_SHARE, or a larger one where the first request is of an epsilon so
 * large that its price needs it (pn_event_epsilon), or has a delta of its own (event approximate): up to all of delta, where only the
 * order inf is left and (epsilon, delta) add up.  The slack of the exponents
 * that adaptive charges have gathered, s_i in step i, is known before step i is drawn, like eps_i; with R and S their sums, an
 * order survives while R + S stays within B.  Then (1 - exp(eps - S - L))_+ is at most delta/J exp((alpha - 1)(L - R)), a
 * supermartingale, on every path: the proof above holds with S beside R.  A pure budget adds S to its sum.  The Gaussian filter
 * leaves a share of epsilon for S that is fixed beforehand too (PN_SLACK_SHARE, see ledger_filter.h).  A budget of rho, or of
 * one Renyi order up to the tails, says that what ran is within exp(+-S/2) of a rho-zCDP interaction but for tails:
 * approximate zCDP, of which reports give S and the tails.
 *
 * Slices.  A slice (pn_ledger_slice) has a budget of its own and passes its charges through: each needs room in the slice and
 * in every budget above it, and is charged to all of them.  The filter of a slice bounds what its own interaction reveals;
 * the filter above bounds everything, because slices that interleave are one adaptive interaction with it, whoever chooses
 * which slice speaks next.  The parts of a split (pn_ledger_split) are separate budgets that add up, by basic composition,
 * which holds however their charges interleave (Lyu 2022; Vadhan, Zhang 2023).
 *
 * Files.  A ledger with a file writes each charge durably before it returns (ledger_file.h says what that survives, and what
 * the authentication is good for).  Slices and parts live in the file of the ledger above.
 *
 * Threads: several may charge one ledger, its slices and its parts.  What is charged in between is what remains: a run may be refused a
 * step that its plan had found covered, and has paid for what it released.  Closing and freeing are one thread's business.
 *
 * A child process does not charge: two copies of a budget would be twice the budget.
 *
 * Sums are exact (event_curve.h), and admission converts them with the function that prices plans: what
 * pn_event_epsilon(event, count, delta) <= epsilon promises on an empty ledger is admitted, at once or step by step. */
#ifndef PN_PRIVACY_LEDGER_H
#define PN_PRIVACY_LEDGER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/event/event.h"

typedef struct pn_ledger pn_ledger;

typedef struct pn_budget {
    double epsilon; /* NaN when the budget is rho */
    double delta;   /* 0 for pure */
    double rho;     /* NaN unless the budget is rho */
    double alpha;   /* 0, or the order > 1 (inf allowed) of which epsilon is the Renyi divergence */
    pn_neighbours neighbours;
    bool teaching; /* accepts seeded noise; every statement then says "simulated: no privacy" */
    bool gaussian; /* (epsilon, delta) by the Gaussian filter: admits gaussian events only */
    const double
        *orders;        /* NULL, or order_count Renyi orders > 1 (inf allowed) for an (epsilon, delta) filter; copied */
    size_t order_count; /* each order then has delta/order_count */
} pn_budget;

/** Errors: PN_EINVAL unless exactly one of epsilon > 0 (delta in [0,1)) and rho > 0 is given and the other is NaN, for an alpha with delta or rho,
 *  and for orders that are not above 1, that come without delta, or that all leave nothing to spend; PN_ENOMEM. */
pn_status pn_ledger_new(pn_ledger **out, const pn_budget *budget, pn_err *err);

/**
 * A ledger kept in a file: opened when there is one, else started with `budget`.
 *   key     path of the key; NULL: path with ".key".
 *   budget  NULL: the file's own.  Otherwise it must be the file's.
 * Errors: PN_EINVAL when the budgets differ (names both); PN_EIO, PN_EPARSE, PN_EPRIVACY (a copy) as pn_store_open; as pn_ledger_new.
 * Only one ledger has a file open at a time; pn_ledger_free of the last reference lets go of it.
 */
pn_status pn_ledger_open(pn_ledger **out, const char *path, const char *key, const pn_budget *budget, pn_err *err);
/** As pn_ledger_open, for files that were copied to another place (another machine, another file system, a restored disk) and are the only
 *  ones from now on: their owner answers for it, and the ledger records it.  Errors: PN_EINVAL where nothing was moved. */
pn_status pn_ledger_open_moved(pn_ledger **out, const char *path, const char *key, const pn_budget *budget,
                               pn_err *err);

/**
 * A slice of `parent` with a budget of its own (any kind), whose charges need room in both and are charged to both.
 *   name    what the parent's report calls it; unique below the parent.  An existing name gives that slice again.  NULL: "slice N".
 *   budget  NULL to open an existing slice; otherwise it must be the slice's.  Relation and teaching must be the parent's.
 * Errors: PN_EPRIVACY for another relation or teaching; PN_EBUDGET when the parent takes no more charges; PN_EINVAL.
 */
pn_status pn_ledger_slice(pn_ledger **out, pn_ledger *parent, const char *name, const pn_budget *budget, pn_err *err);

pn_ledger *pn_ledger_keep(pn_ledger *ledger);
/** A slice keeps what is above it.  Slices and parts themselves live as long as anything of their family is held. */
void pn_ledger_free(pn_ledger *ledger);
/** What was opened (after a split: the slice).  `orders` are the ones that were passed, not the filter's choice. */
const pn_budget *pn_ledger_budget(const pn_ledger *ledger);
/** The slice's name; NULL for what is no slice. */
const char *pn_ledger_name(const pn_ledger *ledger);
/** The file's path; NULL without. */
const char *pn_ledger_path(const pn_ledger *ledger);
/** Why no charge will be admitted any more ("the ledger is closed"), or NULL. */
const char *pn_ledger_ended(const pn_ledger *ledger);
/** The theorem by which everything admitted stays within the budget, with its source. */
const char *pn_ledger_theorem(const pn_ledger *ledger);
/** Whether opening the file cut off a torn last record: a charge that did not return, so nothing was released for it. */
bool pn_ledger_recovered(const pn_ledger *ledger);

/** Whether sums of mu^2 are kept, asked for or chosen at the first charge; other events are then refused. */
bool pn_ledger_gaussian(const pn_ledger *ledger);
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

/** Charge `count` times `event` under `label` (copied); call it before drawing.  Refusals charge nothing.  With a file: the
 *  charge is durable on return.
 *  Errors: as pn_ledger_covers; PN_EUNSUPPORTED in a child process, and for an event that has no text form (file only);
 *          PN_EIO when the file cannot be written: nothing is to be released, and nothing was charged unless the message says
 *          that the charge counts as made. */
pn_status pn_ledger_spend(pn_ledger *ledger, pn_event *event, size_t count, const char *label, pn_err *err);

/** What `count` times `event` costs by itself in the budget's own unit (epsilon at the budget's delta, or rho). */
double pn_ledger_price(const pn_ledger *ledger, const pn_event *event, size_t count);

/** Spent so far and still admissible, in the budget's own unit; the sum may be less than the budget under a filter.
 *  Spent is the plain composition of what was charged: naive, not valid at data-dependent stopping.
 *  Remaining under a filter: the largest epsilon at delta of a rho-zCDP release that the filter would still admit (of a pure
 *  release where the only order is inf; of a Gaussian one under the Gaussian filter); before the first charge the budget itself;
 *  for a slice not more than what remains above it where the budgets have the same unit; 0 once closed or split. */
double pn_ledger_spent(const pn_ledger *ledger);
double pn_ledger_remaining(const pn_ledger *ledger);

/** What the noise as drawn may add to the ideal statement, in total. */
pn_slack pn_ledger_slack(const pn_ledger *ledger);

/* The odometer: how much has been spent, valid wherever the analyst stops.  Filters at levels first 2^k, k = 1, 2, ..., with
 * delta/(k(k+1)) each; the answer is the smallest level that is not exhausted.
 * Guarantee: for every rule that stops by looking at the transcript, E (1 - exp(epsilon_K - L))_+ <= delta with K the level then
 * reported.  `uniform`: with probability 1 - delta the loss is below the reported level at all times (Ville's inequality).
 * Both need first and delta to be fixed beforehand. */
typedef struct pn_odometer {
    double first; /* > 0 */
    double delta; /* in (0, 1) */
    bool uniform;
} pn_odometer;

/** What pn_ledger_odometer reads without options: delta of the budget and first = epsilon/32 (so that level 5 is the budget); for
 *  a budget without delta 1e-6, and for rho its epsilon there. */
pn_odometer pn_ledger_odometer_default(const pn_ledger *ledger);
/** The level as epsilon (0 before any charge, +inf when no level holds) and its number k in *level (may be NULL). */
double pn_ledger_odometer(const pn_ledger *ledger, const pn_odometer *options, size_t *level);

#define PN_LEDGER_PARTS 10000 /* of a split, at most */

/** k ledgers of one k-th of the budget each: epsilon/k and delta/k, rho/k, to the nearest double, by basic composition; uses this
 *  ledger up.  A request for epsilon/k is admitted, whatever way the quotient was rounded: totals that differ in the last digit
 *  are equal (pn_within).  The report of this ledger goes on to list what its parts spend.  out[k] receives them, all or (on
 *  failure) none.  A ledger that was split into k parts (before its file was last closed, say) gives the same parts again.
 *  Errors: PN_EINVAL for k 0 or above PN_LEDGER_PARTS; PN_EUNSUPPORTED once something has been spent or split otherwise, or closed; PN_ENOMEM; PN_EIO. */
pn_status pn_ledger_split(pn_ledger *ledger, size_t k, pn_ledger **out, pn_err *err);

/** Slice or part number `index` from 0 below this ledger, which owns it; NULL past the last. */
const pn_ledger *pn_ledger_child(const pn_ledger *ledger, size_t index);

/** No more charges through this object and, at the root, its slices and parts; lets go of the file.  What is left of a budget
 *  in a file can be spent after opening it again.  Once closed, again nothing. */
void pn_ledger_close(pn_ledger *ledger);

/** No more charges, for good: every later one is PN_EBUDGET, also in its slices and parts, also after the file is opened again.
 *  Errors: PN_EIO when the file cannot say so. */
pn_status pn_ledger_retire(pn_ledger *ledger, pn_err *err);

/* The record of charges; consecutive charges of the same event under the same label are one entry with a count. */
typedef struct pn_charge {
    const char *label;
    const pn_event *event;
    size_t count;
} pn_charge;
size_t pn_ledger_entries(const pn_ledger *ledger);
pn_charge pn_ledger_entry(const pn_ledger *ledger, size_t index);

#endif
