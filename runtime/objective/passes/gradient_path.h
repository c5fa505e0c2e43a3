/* gradient_path.h -- the gradient along the iterates of Frank-Wolfe over sets whose vertices have few entries beside a
 * shift that is common to them, kept in whole numbers and changed by a vertex at a time, in the records alone whose
 * slopes it renews.
 *
 * With steps 2/(t+1) the iterate after t vertices is (1/tau) sum (k+1) s_k, k < t, tau = t (t+1)/2: so its margins
 * are, but for the shift's, M_i/tau with whole M_i, to which an entry w of a vertex adds (t+1) w/r times a column, r
 * being the most that its entries add up to.  w/r is a whole number of 2^-30, cut toward 0, and so is its product with
 * a feature.  Features are X = 2^30 x/xmax, cut to whole numbers, and the slope of record i is T_i/tau - Y_i with whole
 * T_i and Y_i (slope_lines.h: for the squared loss T is M and Y the label less the shift's margin).  So
 *     S_j = sum_i (X_ij T_i >> h) - tau sum_i (X_ij Y_i >> h)
 * is the gradient's entry j times a public factor, up to the cuts and to what the slopes are taken to be.  What is
 * kept is T, Y and the two sums, which are whole: after any history they are those of a computation from the start,
 * bit for bit, in whatever order records come.
 *
 * What record i adds to S_j is a function of it and of the vertices alone, and at most
 *     C = tau (ceil(2^30 L/2^h) + 2)
 * in size, L the limit of |T/tau - Y|, since each shift loses less than 1 and 1 + tau <= 2 tau.  So a record that is
 * replaced moves every S_j by at most 2 C, exactly, one that is left out by C, and no rounding is left to pay for.
 * h is public: the least at which the sums of all records fit 62 bits for all steps.
 * Depends on: slope_lines.h, data.  Used by: oracle. */
#ifndef PN_OBJECTIVE_GRADIENT_PATH_H
#define PN_OBJECTIVE_GRADIENT_PATH_H

#include "objective/passes/slope_lines.h"

typedef struct pn_gradient_path pn_gradient_path;

/** Whether these steps have room in these numbers, their shifts costing less than 2^-10 of the noise: sparse records
 *  that are here, in memory, with bounds on features and labels or slopes.  Public. */
bool pn_gradient_path_suits(const pn_path_options *options);

/** At the start, before any vertex, of options that suit.  O(entries + p) time and memory.
 *  Errors: PN_ENOMEM; PN_EINVAL for options that do not suit. */
pn_status pn_gradient_path_new(pn_gradient_path **out, const pn_path_options *options, pn_err *err);
void pn_gradient_path_free(pn_gradient_path *self); /* NULL allowed */

/** C of the iterate at hand. */
uint64_t pn_gradient_path_contribution(const pn_gradient_path *self);
/** S_j, |S_j| <= 2^62. */
int64_t pn_gradient_path_entry(const pn_gradient_path *self, size_t j);
/** Vertices taken so far. */
size_t pn_gradient_path_taken(const pn_gradient_path *self);
/* An entry of a vertex: radius e_j times share 2^-30.  The sizes of all shares of a vertex add up to 2^30 at most. */
typedef struct pn_path_entry {
    size_t j;
    int64_t share;
} pn_path_entry;

#define PN_PATH_WHOLE ((int64_t)1 << PN_PATH_BITS)

/** The next vertex: the shift and these entries; no more than `steps`. */
void pn_gradient_path_take(pn_gradient_path *self, const pn_path_entry *entries, size_t count);

/* Until a line that it is made of is renewed, S_j/tau is linear in 1/tau, and so largest in size at one end. */

/** At least |S_j|/C (side 0), S_j/C (side 1) or -S_j/C (side -1) now and up to when `until` vertices were taken, as
 *  long as none of them moves it; rounded up. */
double pn_gradient_path_reach(const pn_gradient_path *self, size_t j, size_t until, int side);
/** That of j from `first` on, `count` of them, times `by`; borrowed, until the next call. */
const double *pn_gradient_path_reaches(pn_gradient_path *self, size_t first, size_t count, size_t until, int side,
                                       double by);
/** Call `moved` for every feature of every record whose line the last vertex renewed: their entries have moved, some of
 *  them several times. */
void pn_gradient_path_moved(const pn_gradient_path *self, void (*moved)(void *of, size_t k), void *of);
/** How many calls that are. */
size_t pn_gradient_path_moves(const pn_gradient_path *self);

#endif
