/* line_search.h -- the largest step of a falling sequence that lowers f enough, found by the sparse vector technique:
 * one price however many steps are tried, and nothing but the index of the accepted one leaves.
 * Depends on: objective/passes/second_order.h, privacy/mechanism/batch_sparse.h, model_release.h.
 * Used by: second_order*.c.
 * Source: Gao, Wright, Differentially private optimization for smooth nonconvex ERM; Dwork, Roth (2014),
 * Algorithm 1. */
#ifndef PN_ORACLE_LINE_SEARCH_H
#define PN_ORACLE_LINE_SEARCH_H

#include "oracle/model_release.h"

/* All public: functions of what has been released.  The test of step t: f(w) - f(w + t u) - required(t) >= 0, with the
 * mean loss's part clipped per record to +- lipschitz ||u|| t (that never acts where the constant is certified) and the
 * regulariser's part exact. */
typedef struct pn_line_search {
    const double *point, *direction; /* w, u [dim]; borrowed until the search is freed */
    double first, factor;            /* gamma_0 > 0; beta in (0, 1) */
    size_t tests;                    /* i_max; 0: none, and nothing is charged */
    double otherwise;                /* the step when none passes */
    double linear, quadratic;        /* required(t) = linear t + quadratic t^2 */
    bool slope;     /* tests q(t)/t, of sensitivity 2 lipschitz ||u||/n; false: q(t), of that times gamma_0 */
    double epsilon; /* of the run; 0: no noise (without privacy) */
} pn_line_search;

/* A search that has been paid for, with the batch that all its tests are about. */
typedef struct pn_line_run pn_line_run;

/**
 * Charge the search before any record is looked at; *charged says whether it was (tests and epsilon above 0).
 *   context  its rng is borrowed until the run is freed; without privacy only a true batch needs one.
 * Errors: PN_EINVAL for numbers outside of their ranges; as pn_batch_sparse_open and what the regulariser returns:
 * nothing is charged then.
 */
pn_status pn_line_search_open(pn_line_run **out, const pn_line_search *self, const pn_model *model,
                              pn_step_context *context, const char *label, bool *charged, pn_err *err);
/** *step = the accepted one, or `otherwise`; *tested how many tests were asked; *records += records of the batch.
 *  After a failure it may be asked again: the same batch, the same noise.
 *  Errors: as pn_objective_line and pn_batch_sparse_above. */
pn_status pn_line_search_ask(pn_line_run *run, pn_step_context *context, double *step, size_t *tested,
                             uint64_t *records, pn_err *err);
void pn_line_search_free(pn_line_run *run); /* NULL allowed */

/** The event of one search of that epsilon before amplification.  Errors: as pn_batch_sparse_price. */
pn_status pn_line_search_event(const pn_model *model, double epsilon, pn_event **out, pn_err *err);

#endif
