/* calibrate_program.h -- the least noise of a whole run, the least budget that has any, and the batch that fits a run.
 * Depends on: calibrate.h.  Used by: solvers (plans).  See variance-reduced.md section 3, accounting.md section 6. */
#ifndef PN_PRIVACY_CALIBRATE_PROGRAM_H
#define PN_PRIVACY_CALIBRATE_PROGRAM_H

#include "privacy/accounting/calibrate.h"

/* What a run may cost.  "rdp" prices by pn_event_epsilon, with which a ledger admits: one of just (epsilon, delta)
 * admits the event of the run, reserved at once (pn_ledger_reserve) and then charged in parts of any size and order.
 * "pld" prices by the upper end of the privacy loss distribution, which no ledger adds up: the run is charged at once
 * as pn_event_approximate(reached, delta). */
typedef struct pn_run_budget {
    const char *owner;      /* what messages start with: "solve.svrg" */
    const char *accountant; /* "rdp" or "pld", or another of the table in accountant.c; not looked at under rho */
    double epsilon, delta;  /* epsilon > 0, delta in (0, 1) */
    double rho;             /* instead: zCDP of the run; NaN when epsilon and delta are given */
} pn_run_budget;

/**
 * The least noise multiplier, from 2^-30 to 2^60, with which the event of the run stays within the budget: to 1e-5
 * ("pld": 3e-4), on the side that fits.
 *   program  makes the event of the whole run (count included) for a noise multiplier; the cost must fall as it grows.
 *   reached  may be NULL: what the run then costs, in epsilon or rho; at most the budget.
 * Errors: as pn_calibrate; PN_EUNSUPPORTED when no noise suffices names the least cost.
 */
pn_status pn_calibrate_run(double *noise, double *reached, const pn_run_budget *budget, const pn_program *program,
                           pn_err *err);

/**
 * The least epsilon at want->delta (or the least rho where want->rho is not NaN) for which
 * pn_calibrate_gaussian_releases(want) finds a sigma, to 1e-3 on the side that has one: what messages about a budget
 * that is too small name.  Rounding to the lattice moves values in proportion to the noise, which bounds what noise can
 * hide; it grows with the square root of dim.  +inf when no budget up to 40 suffices.
 */
double pn_smallest_budget(const pn_gaussian_releases *want);

/* ---- batches ---- */

/** n epsilon/sqrt(steps ln(1/delta)) rounded to a whole number in [1, n]: from about there on the noise no longer falls
 *  with the batch.  Under rho, with epsilon/sqrt(ln(1/delta)) = 2 sqrt(rho).  NaN rho: epsilon and delta count. */
size_t pn_batch_rule(size_t n, double steps, const pn_run_budget *budget);

/** Gradients of single records that the run evaluates: anchors n + 2 inner batch.  With batch 1 it is the figure of the
 *  paper, which holds only while epsilon <= c inner/n^2. */
double pn_anchored_gradients(double anchors, double inner, double n, double batch);

#endif
