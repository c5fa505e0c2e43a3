/* assignment.h -- the permutation of largest total.  Depends on: core.  Used by: birkhoff.c. */
#ifndef PN_GEOMETRY_ASSIGNMENT_H
#define PN_GEOMETRY_ASSIGNMENT_H

#include <stddef.h>

#include "core/status.h"

/**
 * column[n] <- the permutation (from 0) that maximises sum_i G[i][column[i]], G [n * n] row-major and finite.  O(n^3);
 * among equal totals the one that rows take in order, each the lowest column it can, as far as later rows do not
 * displace them: the identity for the zero matrix.  price[2 n] (or NULL) <- what certifies it: G[i][j] <= price[i] +
 * price[n + j], with equality on the permutation, to rounding.  The total is the largest to rounding,
 * about n 1e-16 max|G|.
 * Errors: PN_EDOMAIN for a G that is not finite; PN_ENOMEM.
 * Source: Jonker, Volgenant (1987), shortest augmenting paths with dual prices.
 */
pn_status pn_assignment(size_t *column, double *price, const double *G, size_t n, pn_err *err);

#endif
