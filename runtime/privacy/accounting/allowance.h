/* allowance.h -- the budget of one run whose releases depend on what it releases, in one unit that adds up.
 * A run that ends early, takes one branch or the other and gives what it saved to its next phase is an adaptive
 * composition.  Its bound is one inequality, sum of costs <= total, in a unit that is fixed before anything is
 * released:
 *     rho     zCDP; for budgets of rho, for calibration by the article, and where asked for
 *     mu^2/2  of Gaussian releases only, on all records: the exact curve
 *     Renyi   divergence of one order, chosen with the plan; total = epsilon less the conversion at that order
 * Ledgers admit the same runs: in a ledger of just the plan's budget the releases fit in any order that the allowance
 * does.
 * Depends on: event.h, calibrate.h, conversion.h.  Used by: solvers.
 * Source: Feldman, Zrnic (2021); Rogers, Roth, Ullman, Vadhan (2016); Smith, Thakurta (2022) for Gaussian releases. */
#ifndef PN_PRIVACY_ALLOWANCE_H
#define PN_PRIVACY_ALLOWANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "privacy/accounting/calibrate_program.h"
#include "privacy/event/event.h"

typedef enum pn_unit { PN_UNIT_RHO = 0, PN_UNIT_GAUSSIAN, PN_UNIT_RENYI } pn_unit;
extern const char *const pn_unit_names[]; /* "rho", "gaussian", "renyi" */

typedef struct pn_allowance {
    pn_unit unit;
    double order;          /* of PN_UNIT_RENYI */
    double total;          /* in the unit */
    double epsilon, delta; /* what spending all of it proves; NaN epsilon for a budget of rho */
    double limit;          /* the epsilon that was asked for; NaN likewise */
    double spent, carry;   /* in the unit: what was taken is the sum of the two, exact whatever the order */
} pn_allowance;

/**
 * The allowance of a run.
 *   budget   epsilon and delta, or rho; `accountant` is not looked at.
 *   unit     what to count in; PN_UNIT_GAUSSIAN is for runs of plain Gaussian events only.
 *   program  (PN_UNIT_RENYI only, else NULL) the worst-case run as a function of its noise multiplier: the order is the
 *            one that prices it best, so that the run calibrated by pn_allowance_noise loses nothing.
 *   paper    total by rho = (sqrt(epsilon + ln 1/delta) - sqrt(ln 1/delta))^2, with the unit rho.
 * Errors: PN_EBUDGET for a budget that leaves nothing to spend in the unit; PN_EINVAL;
 * as pn_calibrate_run (PN_EUNSUPPORTED where no noise
 *         suffices); what the program returns.
 */
pn_status pn_allowance_open(pn_allowance *out, const pn_run_budget *budget, pn_unit unit, bool paper,
                            const pn_program *program, pn_err *err);

/** One event that costs all of the allowance (gaussian, zcdp or rdp): what a plan shows,
 *  a ledger reserves and converts.
 *    draws  no run makes more scalar draws of lattice noise: their tails have to fit the part of delta that ledgers set
 *           aside.
 *  Errors: PN_EBUDGET where they do not, at epsilon above about 20 to 40; PN_ENOMEM. */
pn_status pn_allowance_event(const pn_allowance *self, size_t draws, pn_neighbours neighbours, pn_event **out,
                             pn_err *err);

/** What `count` times `event` costs in the unit, with what drawing it on the lattice adds to exponents; +inf for an
 *  event that the unit cannot count (not Gaussian in PN_UNIT_GAUSSIAN; with a delta of its own). */
double pn_allowance_cost(const pn_allowance *self, const pn_event *event, size_t count);
/** total - spent, >= 0. */
double pn_allowance_left(const pn_allowance *self);
/** Whether `cost` more fits: spent + cost <= total but for the rounding of sums and shares
 *  (2^-45 relative; totals are lowered by 2^-40). */
bool pn_allowance_fits(const pn_allowance *self, double cost);
/** Count it.  The caller has asked whether it fits and then charges the ledger. */
void pn_allowance_take(pn_allowance *self, double cost);

/**
 * The least noise multiplier z with cost(program(z)) <= share, on the side that fits, to 1e-6 relative; of
 * PN_UNIT_GAUSSIAN also such that the program by itself costs at most the epsilon that was asked for, tails of draws
 * included, which decides at epsilon above about 50.  The cost may be infinite, and the program may refuse
 * (PN_EINVAL, PN_EUNSUPPORTED), below some z.
 * Errors: PN_EBUDGET where no z from 2^-30 to 2^60 does, or what the program says there; what else it returns.
 */
pn_status pn_allowance_noise(const pn_allowance *self, double share, const pn_program *program, double *z, pn_err *err);

#endif
