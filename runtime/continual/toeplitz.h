/* toeplitz.h -- lower-triangular Toeplitz factorizations A = R C of the prefix-sum matrix: coefficients, errors,
 * sensitivities.  Numbers only: no data, no noise.
 * C has the coefficients c_0 = 1, c_1, ... >= 0; R those of the partial sums of 1/c(x).  Factor: Var of one coordinate
 * of N_t at sensitivity 1 and mu = 1.
 * Depends on: core/.  Used by: banded_prefix.c, blt_prefix.c, tests.
 * Sources: Fichtenberger, Henzinger, Upadhyay (2023); Choquette-Choo et al. (2023); Dvijotham et al. (2024).
 * See tree-mechanism.md 3, 6. */
#ifndef PN_CONTINUAL_TOEPLITZ_H
#define PN_CONTINUAL_TOEPLITZ_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

/** c[count]: binom(2j, j) / 4^j; here R = C. */
void pn_toeplitz_sqrt(size_t count, double *c);
/** c[count] of buffers theta[m], omega[m]: c_0 = 1, c_j = sum_i omega_i theta_i^(j-1). */
void pn_toeplitz_blt(size_t m, const double *theta, const double *omega, size_t count, double *c);

/** x[count] <- C^-1 x for c[bands], c_0 = 1, zero from `bands` on.  O(count * bands),
 *  hours at the most that there can be.
 *  Errors: of pn_stop_asked; x is then of no use. */
pn_status pn_toeplitz_solve(size_t bands, const double *c, size_t count, double *x, pn_err *err);
/** r[count]: the first column of R for c[bands], zero from `bands` on.  O(count * bands).
 *  Errors: as pn_toeplitz_solve. */
pn_status pn_toeplitz_inverse_sums(size_t bands, const double *c, size_t count, double *r, pn_err *err);
/** The same of m <= PN_BLT_BUFFERS_MAX buffers, by recursion.  O(count * m). */
void pn_toeplitz_blt_sums(size_t m, const double *theta, const double *omega, size_t count, double *r);
/** The next of these numbers at each call.  buffer[m]: zeros before the first. */
double pn_toeplitz_blt_next(size_t m, const double *theta, const double *omega, double *buffer);

/** ||c||^2 over the first `count` coefficients: c[bands] zero from there on; of buffers in closed form. */
double pn_toeplitz_square(size_t bands, const double *c, size_t count);
double pn_toeplitz_blt_square(size_t m, const double *theta, const double *omega, size_t count);

/**
 * Upper bound on the l2 sensitivity over `horizon` leaves of C r, for at most q participations at least b leaves apart,
 * each of norm 1: || sum_{j<q} C[:, 1 + j b] ||, which is the worst for coefficients that are >= 0 and do not increase.
 * c[bands].  q >= 1, b >= 1.  Errors: PN_EUNSUPPORTED for q > 1 and coefficients that increase somewhere; PN_ENOMEM.
 */
pn_status pn_toeplitz_sensitivity(double *out, size_t bands, const double *c, size_t horizon, size_t q, size_t b,
                                  pn_err *err);

#define PN_BLT_BUFFERS_MAX 8

/**
 * PN_EINVAL, with the parameter, unless 1 <= m <= PN_BLT_BUFFERS_MAX, 0 < theta < 1, all different, omega > 0, and
 * c(-1) = 1 - sum_i omega_i / (1 + theta_i) > 0: just then the sums of 1/c(x) stay bounded however many there are.
 */
pn_status pn_toeplitz_blt_check(const char *owner, size_t m, const double *theta, const double *omega, pn_err *err);

/* ---- the best coefficients (toeplitz_best.c, blt_table.c) ---- */

/** Minimise the largest factor F_horizon over c_1 .. c_{bands-1} > 0; out: c[bands], zero from the horizon on.  Starts
 *  at the sqrt coefficients; the same numbers on every run.  Some hundred steps of O(horizon + bands^2) where sums
 *  settle, else of O(horizon * bands); after 2^34 multiplications, seconds, the best so far.
 *  Errors: PN_ENOMEM; of pn_stop_asked. */
pn_status pn_toeplitz_best_banded(size_t bands, size_t horizon, double *c, pn_err *err);
/** Buffers to start from, 1 <= m <= PN_BLT_BUFFERS_MAX: the sqrt coefficients, an integral over decays,
 *  by m of them. */
void pn_toeplitz_blt_start(size_t m, size_t horizon, double *theta, double *omega);
/** Minimise the largest factor over theta[m], omega[m], which hold the start; sorted by falling theta.  O(horizon * m)
 *  for each of some hundred steps, and no more work than above.  Errors: PN_ENOMEM; of pn_stop_asked. */
pn_status pn_toeplitz_best_blt(size_t m, size_t horizon, double *theta, double *omega, pn_err *err);
/** The table's parameters of the smallest tabulated horizon >= `horizon` for m buffers
 *  (1 .. PN_BLT_BUFFERS_MAX, fewer where the table has fewer); false past its last row.  theta and omega have room for
 *  m; *found is how many there are. */
bool pn_toeplitz_blt_table(size_t horizon, size_t m, size_t *found, double *theta, double *omega);
/** The longest horizon of the table. */
size_t pn_toeplitz_blt_longest(void);

#endif
