/* work.h -- how long steps on records take, estimated from public sizes, and how much of that is worth it by default.
 * Depends on: solver.h.  Used by: plans that choose their number of steps. */
#ifndef PN_SOLVERS_WORK_H
#define PN_SOLVERS_WORK_H

#include "oracle/gradient_noise.h"
#include "solvers/engine/solver.h"

/* Of a run, by default and by the estimate below. */
#define PN_WORK_SECONDS 4.0

/* For a coordinate of a gradient, its Gaussian noise. */
#define PN_COORDINATE_SECONDS 1e-8

/* For a candidate among which one is chosen privately: by levels (random/score_levels.h), its part of the gradient and
 * of the step included; and by Laplace noise, which is drawn for each.  And for each choice among a few.  Measured for
 * 1e5 and 1e6 coordinates: 2e-9 over an l1 ball, 3e-9 over products and sums, 6e-9 to 11e-9 over a simplex; 3e-9 to
 * 11e-9 by Laplace noise. */
#define PN_LEVEL_SECONDS  4e-9
#define PN_VERTEX_SECONDS 1e-8
#define PN_CHOICE_SECONDS 5e-8

/* For the coin of one record in a Poisson batch: two bytes of a stream, whether it takes part or not.  Measured: 39
 * microseconds for 32,561 records on the server below. */
#define PN_COIN_SECONDS 1e-9

/**
 * Seconds of one core for a step on that many records: 4e-6, 1e-8 a coordinate for its noise, and for a record 1.5e-8
 * and as much as its entries take, 2.5e-10 each when dense and 2e-9 when sparse, times the margins of the loss; 5e-8
 * more for a record of a batch where all of them have over 32 MB, since its row is seldom in a cache.  Measured on one
 * core of a 2.6 GHz server; a pass over all records has two where there are two.
 * A sparse record is taken to have sqrt(p) entries.  How many are stored is no public number: with a record replaced it
 * is another one, and steps that depend on it would tell.  Storage and p are public.
 * Text has 44 to 910 where sqrt(p) is 91 to 297.
 */
double pn_step_seconds(const pn_objective *objective, double records);

/** Seconds of a step on all records: as above, or less where a quadratic loss is summed up by its Gram matrix. */
double pn_pass_seconds(const pn_objective *objective);
/** The same of a step without Gaussian noise. */
double pn_quiet_pass_seconds(const pn_objective *objective);

/** Seconds of a Hessian of that many records, 5e-11 an entry of it for each, or 2e-9 for each pair of entries of a
 *  sparse one, and of its eigenvalues, 1.2e-9 d^3. */
double pn_hessian_seconds(const pn_objective *objective, double records);

/** The most steps of that many seconds by default: PN_WORK_SECONDS of them, at least PN_WORK_STEPS and at most 1e6. */
#define PN_WORK_STEPS 30
size_t pn_steps_within(double seconds);
/** The same for steps on all records. */
size_t pn_gradient_steps_max(const pn_objective *objective);
/** The same for gradients as they are planned, of all records or of batches; and the seconds of one. */
size_t pn_planned_steps_max(const pn_objective *objective, const pn_gradient_noise *gradient);
double pn_planned_seconds(const pn_objective *objective, const pn_gradient_noise *gradient);

/** The line of a plan that would take `seconds` if work were no limit.
 *  To be called first: it is what a reader should see first. */
void pn_plan_held_back(pn_plan *plan, double seconds);

/** The work of plan->iterations steps of `each` seconds; the line above where that is less than the `wanted` steps that
 *  the plan would have if work were no limit. */
void pn_plan_work(pn_plan *plan, double each, double wanted);

/** Once a plan is made: plan->seconds, from its steps and gradients unless its solver has said, and a warning where a
 *  run would take more than an hour. */
void pn_plan_estimate(pn_plan *plan);

#endif
