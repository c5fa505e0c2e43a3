/* plan.h -- plan, run, walk, fit.  A plan is everything computed and nothing spent: noise, steps, cost and bound.  A
 * run charges a ledger before each release; a fit is what came out, with its privacy statement.  Depends on:
 * ledger.h, objective.h, options.h, rng.h, task.h. */
#ifndef PENUMBRA_PLAN_H
#define PENUMBRA_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "penumbra/ledger.h"
#include "penumbra/objective.h"
#include "penumbra/options.h"
#include "penumbra/rng.h"
#include "penumbra/task.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_plan pn_plan;

/* A source of gradient samples that a caller gives: gradient[p] = an unbiased sample at theta[p].  Borrowed:
 * outlives the plan. */
typedef struct pn_gradient_oracle {
    void *self;
    pn_status (*sample)(void *self, const double *theta, size_t p, double *gradient, pn_err *err);
} pn_gradient_oracle;

/**
 * Plan a run of the solver of that name; options: those of every solver ("epsilon", "delta", "iterations", ...) and
 * its own.
 *   objective  must outlive the plan.
 *   ledger     what is to be charged, or NULL: then the plan's own (epsilon, delta) or rho is the budget.  Must
 *              outlive the plan.
 *   task       threads for what takes long, a width by Monte Carlo say, which it can stop; NULL: one thread.
 * Errors: PN_EUNSUPPORTED for a solver that there is not (lists the known); PN_EINVAL for options that contradict
 * each other or make no sense; PN_EPRIVACY when the objective's bounds are not certified; PN_EBUDGET when the ledger
 * does not cover the plan; PN_EUNSUPPORTED for a set, loss or relation that the solver cannot use; PN_ENUMERIC;
 * PN_ENOMEM; PN_ECANCELLED.
 */
pn_status pn_plan_new(pn_plan **out, const char *solver, pn_objective *objective, pn_ledger *ledger,
                      const pn_options *options, pn_task *task, pn_err *err);

/** Drop the plan and everything that it owns; NULL allowed. */
void pn_plan_free(pn_plan *plan);

/** The table of lines as text, 80 columns; returns the length needed as snprintf does. */
int pn_plan_describe(const pn_plan *plan, char *text, size_t size);

/* ---- what is planned; NaN where there is none ---- */

/** The name of the solver, of what "auto" chose too; static. */
const char *pn_plan_solver(const pn_plan *plan);
size_t pn_plan_iterations(const pn_plan *plan);
/** False: it gives no privacy. */
bool pn_plan_is_private(const pn_plan *plan);
/** False: a calibration of a paper whose claim is not proven. */
bool pn_plan_is_proven(const pn_plan *plan);
/** Certified for the whole run: epsilon at delta, and rho of zCDP (+inf when its event has none). */
double pn_plan_epsilon(const pn_plan *plan);
double pn_plan_delta(const pn_plan *plan);
double pn_plan_rho(const pn_plan *plan);
/** On the expected excess risk, by a theorem; NaN when none. */
double pn_plan_bound(const pn_plan *plan);
/** The excess risk to be expected, from public numbers alone and without guarantee; 0: unknown. */
double pn_plan_predicted(const pn_plan *plan);
/** Whether the noise is expected to leave the model no better than a constant prediction, by public numbers alone; the
 *  first warning says why, and what would help.  False where it is not judged: without privacy, from a start other than
 *  0, and for losses without gradients or with further parameters. */
bool pn_plan_hopeless(const pn_plan *plan);
/** Per-record gradients that a run will count; 0: unknown. */
double pn_plan_gradients(const pn_plan *plan);
/** The noise on each coordinate of the mean gradient in a step; 0: none, or not one number. */
double pn_plan_sigma(const pn_plan *plan);
/** Warning number `index` from 0; NULL past the last. */
const char *pn_plan_warning(const pn_plan *plan, size_t index);

/* ---- the run ---- */

/* What one step did.  `raw` figures are NaN in private runs unless the noise is simulated. */
typedef struct pn_trace_row {
    size_t step; /* from 1 */
    size_t atom; /* chosen vertex from 1, 0 when the solver has none; paid */
    double step_size;
    double value, gap; /* raw: objective before the step, duality gap */
    /* paid: norm of the mean of the released gradients of an epoch that this step ended; NaN without */
    double certificate;
    uint64_t gradients; /* per-record gradient evaluations so far; of solvers by values: of the loss */
    /* [p] borrowed until the next step, NULL where a solver shows none and in what is kept; paid */
    const double *point, *estimate; /* where this step took its gradient, and what was released of it */
    /* paid; static: what the step was, of solvers whose steps differ ("gradient", "curvature", "done"); NULL */
    const char *kind;
    double gradient_norm,
        eigenvalue; /* paid: of the released gradient, least one of the released Hessian; NaN without */
} pn_trace_row;

/* Called after each step on the caller's thread; theta[p] is the current answer.  Not PN_OK ends the run with that
 * status. */
typedef pn_status (*pn_step_fn)(void *self, const pn_trace_row *row, const double *theta, size_t p, pn_err *err);

typedef struct pn_run_options {
    pn_ledger *ledger;  /* NULL: the plan's; where it has none, one that holds exactly the plan's budget */
    pn_rng *rng;        /* NULL: a secure one */
    pn_task *task;      /* NULL: one thread, not to be stopped */
    pn_step_fn on_step; /* NULL: none */
    void *on_step_self;
} pn_run_options;

/* What a run reached. */
typedef struct pn_fit pn_fit;

/**
 * Run to the end; options are borrowed, NULL for none of them.  A cancelled task is not an error: the fit holds what
 * was reached and paid for, stopped = "interrupted", or "limit"; it states the whole plan's epsilon, since who stops
 * a run may have seen what it released.
 * Errors: PN_EBUDGET before anything is computed; PN_ECALLBACK; what a step returns.
 */
pn_status pn_plan_run(pn_fit **out, const pn_plan *plan, const pn_run_options *options, pn_err *err);

/** A run that can be walked step by step: new, then step until finished or enough, then fit. */
typedef struct pn_walk pn_walk;

/** `plan` is kept; options are borrowed, NULL for none of them.  Nothing is charged yet.
 *  Errors: PN_EBUDGET when the ledger does not cover the run; PN_EPRIVACY for seeded noise on a ledger that is not
 *  teaching, and for a plan that proves no epsilon; PN_ENOMEM; what the solver's start fails with. */
pn_status pn_walk_new(pn_walk **out, const pn_plan *plan, const pn_run_options *options, pn_err *err);

/** One step; *done becomes true after the last.  Errors leave the walk usable for pn_walk_fit; PN_EINVAL from
 *  inside of its own step. */
pn_status pn_walk_step(pn_walk *walk, pn_trace_row *row, bool *done, pn_err *err);
const double *pn_walk_theta(pn_walk *walk); /* [p], valid until the next step */

/** What has been reached; the caller owns the fit.  Before the last step its epsilon is the whole plan's. */
pn_status pn_walk_fit(pn_walk *walk, const char *stopped, pn_fit **out, pn_err *err);
void pn_walk_free(pn_walk *walk);

void pn_fit_free(pn_fit *fit);

/* ---- what came out ---- */

/** theta [dim]; as long as the fit lives. */
const double *pn_fit_theta(const pn_fit *fit);
size_t pn_fit_dim(const pn_fit *fit);
/** Steps that were made, per-record gradients that were evaluated, and how long it took. */
size_t pn_fit_steps(const pn_fit *fit);
uint64_t pn_fit_gradients(const pn_fit *fit);
double pn_fit_seconds(const pn_fit *fit);
/** NULL, or why it ended early: "interrupted", "limit" (of time), "converged", ...; static. */
const char *pn_fit_stopped(const pn_fit *fit);
/** One row a step, of long runs every k-th and the last. */
const pn_trace_row *pn_fit_trace(const pn_fit *fit, size_t *rows);

/** Whether something is guaranteed: a private run, by a proven calibration, with noise that was not seeded. */
bool pn_fit_is_private(const pn_fit *fit);
/** What holds of the run wherever and why it ended: the plan's epsilon at delta, and rho; 0 when nothing was
 *  released; NaN when it was not private.  Of seeded noise, and of a calibration that is not proven, what would
 *  hold otherwise. */
double pn_fit_epsilon(const pn_fit *fit);
double pn_fit_delta(const pn_fit *fit);
double pn_fit_rho(const pn_fit *fit);
pn_neighbours pn_fit_neighbours(const pn_fit *fit);

/* What released numbers prove of the answer, with probability >= 1 - failure over the noise; paid. */
typedef struct pn_certificate {
    /* static: "certified" where the run's own test was passed at the answer, else why not ("budget"); NULL: the
     * solver gives no certificate */
    const char *status;
    double gradient_norm; /* || gradient of f || at the answer is at most this; NaN where nothing is proven */
    double eigenvalue;    /* the least eigenvalue of f's Hessian there is at least this; NaN likewise */
    double failure;
    double noisy_gradient_norm, noisy_eigenvalue; /* as released */
    double gradient_error, hessian_error; /* what separates the released from the true ones: noise, batches, Lanczos */
    double gradient_target, eigenvalue_target; /* what was asked for: a_g, -a_H; NaN without */
} pn_certificate;

/** What released numbers prove of the answer; its status is NULL where the solver gives no certificate. */
const pn_certificate *pn_fit_certificate(const pn_fit *fit);

#ifdef __cplusplus
}
#endif

#endif
