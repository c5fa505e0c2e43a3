/* ledger.h -- a privacy budget that is charged before noise is drawn and refuses what it does not cover.
 * Depends on: accountant.h.  Used by: mechanism.h, solvers, bindings.  See accounting.md section 7.
 *
 * Budgets.  pure epsilon (delta 0): sums of pure epsilon.  rho: sums of zCDP.  (alpha, epsilon): sums of the Renyi
 * divergence of one order.  (epsilon, delta): the fully adaptive Renyi filter over orders that are fixed at the FIRST
 * charge, before anything has been released: the default J orders with delta/J each when the first request fits them,
 * else the request's own best order alone with all of delta.  Either choice looks at the first request only, so the
 * orders are fixed beforehand as the theorem asks (Feldman, Zrnic 2021; Lecuyer 2021).  For Gaussian noise only, when
 * asked for or when the first request fits nothing else, the Gaussian filter: sums of mu^2 up to the mu of the budget,
 * no loss at all (Smith, Thakurta 2022; Koskela, Tobaben, Honkela 2023); it then admits no other event.
 *
 * Why the filter is valid.  Whether order j survives release i is known before release i is drawn, so its lifetime is a
 * stopping time and the interaction cut there is RDP(alpha_j, B_j).  A release is admitted only if some order survives
 * it, so the last one falls within one of the J lifetimes, and the J failure probabilities of delta/J add up to delta.
 * An order that failed on an admitted release stays dead, whatever is asked later; a refused request kills nothing.
 *
 * Noise as drawn is not quite the ideal law (event.h, pn_slack).  The share of delta that pays for its tails is fixed
 * beforehand like the orders, which share the rest: PN_TAIL_SHARE, or a larger one where the first request is of an
 * epsilon so large that its price needs it (pn_event_epsilon), or has a delta of its own (event approximate): up to all
 * of delta, where only the order inf is left and (epsilon, delta) add up.  The slack of the exponents
 * that adaptive charges have gathered, s_i in step i, is known before step i is drawn, like eps_i; with R and S their
 * sums, an order survives while R + S stays within B.  Then (1 - exp(eps - S - L))_+ is at most delta/J
 * exp((alpha - 1)(L - R)), a supermartingale, on every path: the proof above holds with S beside R.  A pure budget adds
 * S to its sum.  The Gaussian filter leaves a share of epsilon for S that is fixed beforehand too
 * (PN_SLACK_SHARE, see ledger_filter.h).  A budget of rho, or of one Renyi order up to the tails, says that what ran is
 * within exp(+-S/2) of a rho-zCDP interaction but for tails: approximate zCDP, of which reports give S and the tails.
 *
 * Slices.  A slice (pn_ledger_slice) has a budget of its own and passes its charges through: each needs room in the
 * slice and in every budget above it, and is charged to all of them.  The filter of a slice bounds what its own
 * interaction reveals; the filter above bounds everything, because slices that interleave are one adaptive interaction
 * with it, whoever chooses which slice speaks next.  The parts of a split (pn_ledger_split) are separate budgets that
 * add up, by basic composition, which holds however their charges interleave (Lyu 2022; Vadhan, Zhang 2023).
 *
 * Files.  A ledger with a file writes each charge durably before it returns (ledger_file.h says what that survives, and
 * what the authentication is good for).  Slices and parts live in the file of the ledger above.
 *
 * Threads: several may charge one ledger, its slices and its parts.  What is charged in between is what remains: a run
 * may be refused a step that its plan had found covered, and has paid for what it released.
 * Closing and freeing are one thread's business.
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
#include "penumbra/ledger.h"

/** As pn_ledger_open, for files that were copied to another place (another machine, another file system, a restored
 *  disk) and are the only ones from now on: their owner answers for it, and the ledger records it.  Errors: PN_EINVAL
 *  where nothing was moved. */
pn_status pn_ledger_open_moved(pn_ledger **out, const char *path, const char *key, const pn_budget *budget,
                               pn_err *err);

pn_ledger *pn_ledger_keep(pn_ledger *ledger);
/** The theorem by which everything admitted stays within the budget, with its source. */
const char *pn_ledger_theorem(const pn_ledger *ledger);
/** Whether opening the file cut off a torn last record: a charge that did not return,
 *  so nothing was released for it. */
bool pn_ledger_recovered(const pn_ledger *ledger);

/** Whether sums of mu^2 are kept, asked for or chosen at the first charge; other events are then refused. */
bool pn_ledger_gaussian(const pn_ledger *ledger);
/** The orders of the filter and how many there are; 0 before they are chosen and for rho. */
size_t pn_ledger_order_count(const pn_ledger *ledger);
/** Order `index`, and whether it is alive (may be NULL). */
double pn_ledger_order(const pn_ledger *ledger, size_t index, bool *alive);

/** As pn_ledger_covers, and fix the orders of the filter for a run of `count` steps whose charges follow one by one:
 *  all of them are then admitted if nothing else is charged in between.  Charges nothing.  While nothing has been
 *  charged a later request that these orders do not cover may still choose anew. */
pn_status pn_ledger_reserve(pn_ledger *ledger, const pn_event *event, size_t count, pn_err *err);

/** What `count` times `event` costs by itself in the budget's own unit (epsilon at the budget's delta, or rho). */
double pn_ledger_price(const pn_ledger *ledger, const pn_event *event, size_t count);

/** What the noise as drawn may add to the ideal statement, in total. */
pn_slack pn_ledger_slack(const pn_ledger *ledger);

/** What pn_ledger_odometer reads without options: delta of the budget and first = epsilon/32
 *  (so that level 5 is the budget); for a budget without delta 1e-6, and for rho its epsilon there. */
pn_odometer pn_ledger_odometer_default(const pn_ledger *ledger);

/** Whether a charge to `ledger` is one to `above`: it is that, or a slice or part of it, at any depth. */
bool pn_ledger_is_within(const pn_ledger *ledger, const pn_ledger *above);

/** Whether its charges are made in another process (ledger_link.h): it has no entries to look at. */
bool pn_ledger_is_linked(const pn_ledger *ledger);

#define PN_LEDGER_CHAIN 33
/** The MAC of the last line of the ledger's file, in hexadecimal; false without a file. */
bool pn_ledger_chain(const pn_ledger *ledger, char chain[PN_LEDGER_CHAIN]);

/** Slice or part number `index` from 0 below this ledger, which owns it; NULL past the last. */
const pn_ledger *pn_ledger_child(const pn_ledger *ledger, size_t index);

#endif
