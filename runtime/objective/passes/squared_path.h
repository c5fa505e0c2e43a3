/* squared_path.h -- the gradient of the squared loss along the iterates of Frank-Wolfe over an l1 ball, kept in whole
 * numbers and changed by a vertex at a time, in the records alone that have its feature.
 *
 * With steps 2/(t+1) the iterate after t vertices is (1/tau) sum (k+1) s_k, k < t, tau = t (t+1)/2: so its margins
 * are M_i/tau with whole M_i, to which a vertex adds (t+1) times a column.  With features X = 2^30 x/xmax and labels
 * Y = 2^30 y/(r xmax), both cut to whole numbers,
 *     S_j = sum_i (X_ij M_i >> h) - tau sum_i (X_ij Y_i >> h)
 * is the gradient's entry j times a public factor, up to the cuts.  What is kept is M and the two sums, which are
 * whole: after any history they are those of a computation from the start, bit for bit, in whatever order records
 * come.
 *
 * What record i adds to S_j is a function of it and of the vertices alone, and at most
 *     C = tau (ceil((2^60 + 2^30 max |Y|)/2^h) + 2)
 * in size, since each shift loses less than 1 and 1 + tau <= 2 tau.  So a record that is replaced moves every S_j by
 * at most 2 C, exactly, one that is left out by C, and no rounding is left to pay for.  h is public: the least at
 * which n C fits 62 bits for all steps.
 * Depends on: data.  Used by: oracle. */
#ifndef PN_OBJECTIVE_SQUARED_PATH_H
#define PN_OBJECTIVE_SQUARED_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "data/dataset.h"

typedef struct pn_squared_path pn_squared_path;

/** Whether `steps` vertices of a ball of that radius have room in these numbers, their shifts costing less than 2^-10
 *  of the noise: sparse records that are here, in memory, with bounds on features and labels.  Public. */
bool pn_squared_path_suits(const pn_dataset *data, double radius, size_t steps);

/** At the start, before any vertex: of data that suits, which is kept.  O(entries + p) time and memory.
 *  Errors: PN_ENOMEM; PN_EINVAL for data that does not suit. */
pn_status pn_squared_path_new(pn_squared_path **out, const pn_dataset *data, double radius, size_t steps, pn_err *err);
void pn_squared_path_free(pn_squared_path *self); /* NULL allowed */

/** C of the iterate at hand. */
uint64_t pn_squared_path_contribution(const pn_squared_path *self);
/** S_j, |S_j| <= 2^62. */
int64_t pn_squared_path_entry(const pn_squared_path *self, size_t j);
/** Vertices taken so far. */
size_t pn_squared_path_taken(const pn_squared_path *self);
/** The next vertex: +radius e_j, or -radius e_j; no more than `steps`. */
void pn_squared_path_take(pn_squared_path *self, size_t j, bool negative);

/* Between vertices that move it, S_j/tau = A_j/tau - b_j is linear in 1/tau, and so largest in size at one end. */

/** At least |S_j|/C now and up to when `until` vertices were taken, as long as none of them moves it; rounded up. */
double pn_squared_path_reach(const pn_squared_path *self, size_t j, size_t until);
/** That of all j, times `by`; borrowed, until the next call. */
const double *pn_squared_path_reaches(pn_squared_path *self, size_t until, double by);
/** Call `moved` for every feature of every record that has feature j: those whose entries a vertex moves, some of
 *  them several times. */
void pn_squared_path_moved(const pn_squared_path *self, size_t j, void (*moved)(void *of, size_t k), void *of);
/** How many calls that are, were all records of one length. */
double pn_squared_path_moves(const pn_squared_path *self, size_t j);

#endif
