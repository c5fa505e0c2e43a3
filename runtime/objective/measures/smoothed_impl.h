/* smoothed_impl.h -- what the files of smoothed.h share: how a call is cut into units and chunks,
 * and one worker's directions.
 *
 * A unit is a run of consecutive positions that are drawn from one address: the records of a group, or so many records
 * that a hash and a vector function are worth it.  A chunk is a run of units with a sum of its own; chunks are added in
 * order.  Both depend on count, dim and the options only, so that neither directions nor sums depend on threads or on
 * the kind of loss.
 * Depends on: directions.h, objective_impl.h.  Used by: smoothed*.c only. */
#ifndef PN_OBJECTIVE_SMOOTHED_IMPL_H
#define PN_OBJECTIVE_SMOOTHED_IMPL_H

#include "objective/measures/directions.h"
#include "objective/passes/objective_impl.h"

typedef struct pn_smoothed_cut {
    size_t unit;               /* positions of a unit */
    size_t chunks, chunk_rows; /* chunk_rows: a multiple of unit */
} pn_smoothed_cut;

typedef struct pn_smoothed_run {
    pn_objective *objective;
    const pn_smoothing *how;
    const pn_smoothed_call *call;
    const double *theta, *other; /* other: NULL for gradients */
    double limit;                /* of coefficients */
    pn_direction_kind kind;
    pn_smoothed_cut cut;
    size_t lines; /* directions of a record */
    size_t sides; /* values of a direction: 2 or 4 */
    bool shared;  /* a unit is a group with one U */
    size_t workers;
    double *partial;  /* [chunks * dim] */
    uint64_t *bad;    /* [chunks] coefficients that were no numbers */
    pn_rng **streams; /* [workers] */
    double *scratch;  /* [workers * size] */
    size_t size;
} pn_smoothed_run;

/* ---- smoothed_bounds.c ---- */

pn_smoothed_cut pn_smoothed_cut_of(const pn_smoothing *how, size_t dim, size_t count);
/* What coefficients of differences are clipped to. */
double pn_smoothed_limit(const pn_smoothing *how, double distance);

/* ---- smoothed.c ---- */

/* Doubles of a unit's directions. */
size_t pn_smoothed_unit_room(const pn_smoothed_run *run);
/* Draw the directions of the unit at position `first`, of `count` positions, in `room`. */
void pn_smoothed_draw(const pn_smoothed_run *run, size_t first, size_t count, double *room, pn_rng *rng);
/* Those of the unit's position r. */
pn_direction_set pn_smoothed_set(const pn_smoothed_run *run, size_t count, size_t r, double *room);
/* Positions first..end-1 of a chunk. */
size_t pn_smoothed_chunk_end(const pn_smoothed_run *run, size_t chunk);

/* c = the coefficient of values at theta + mu u, theta - mu u, and those at the other point, clipped;
 * 0 when one of them is no number. */
double pn_smoothed_coefficient(const pn_smoothed_run *run, const double *values, size_t stride, uint64_t *bad);

/* smoothed_margins.c */
size_t pn_smoothed_margins_room(const pn_smoothed_run *run);
void pn_smoothed_margins_chunk(void *context, size_t chunk, unsigned worker);

/* smoothed_records.c: black boxes */
size_t pn_smoothed_records_room(const pn_smoothed_run *run);
/* The `run` of a pn_shared over a pn_smoothed_run. */
pn_status pn_smoothed_records(void *context, size_t first_chunk, size_t end_chunk, pn_task *task, pn_err *err);

#endif
