/* symmetric.h -- packed symmetric matrices and the least eigenpair of a symmetric operator.
 * Packed: columns of the upper triangle, entry (i, j), i <= j, from 0, at j (j + 1)/2 + i (LAPACK's 'U').
 * Depends on: core, lapack.h.  Used by: random (symmetric noise), objective, solvers.
 * Source: Golub, Van Loan (2013), chapter 10; Kuczynski, Wozniakowski (1992). */
#ifndef PN_NUMERIC_SYMMETRIC_H
#define PN_NUMERIC_SYMMETRIC_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/task.h"

/** n (n + 1)/2; 0 when that is above 2^48 (size.h). */
size_t pn_packed_size(size_t n);
/** y[n] = alpha A x + beta y.  n within BLAS's index type.  Source: BLAS dspmv. */
void pn_packed_times(double alpha, const double *packed, size_t n, const double *x, double beta, double *y);
/** full[n * n] = A, both triangles. */
void pn_packed_unpack(const double *packed, size_t n, double *full);
/** Multiply off-diagonal entries by `factor`, in place: with sqrt(2) the vector's l2 norm is the matrix's Frobenius
 *  norm. */
void pn_packed_scale_off(double *packed, size_t n, double factor);

/** PN_EDIM for an order that is 0 or beyond BLAS's index type, PN_EDOMAIN for NaN or infinity,
 *  with its position; `what` begins the message. */
pn_status pn_packed_check(const char *what, const double *packed, size_t n, pn_err *err);

/* y[n] = A x for a symmetric A. */
typedef pn_status (*pn_symmetric_fn)(void *self, const double *x, double *y, pn_err *err);

typedef struct pn_smallest_options {
    double tolerance; /* tau, absolute: value - least eigenvalue <= tau + relative ||A|| wanted; not both 0 */
    double relative;
    double failure; /* with probability at least 1 - failure over the start, in (0, 1) */
    double norm;    /* U >= ||A||_2: after pn_lanczos_steps it is enough; 0: unknown */
    size_t limit;   /* most Lanczos steps; 0: n */
} pn_smallest_options;

typedef struct pn_smallest {
    double value; /* Ritz value theta = x^T A x >= least eigenvalue */
    /* value - least eigenvalue is at most this with probability 1 - failure, whatever became of the steps */
    double error;
    double residual; /* ||A x - value x||: some eigenvalue is this near.  0 where solved in full */
    size_t steps;    /* Lanczos steps; 0: in full by LAPACK */
    /* value - least eigenvalue <= tau with probability 1 - failure: else only the residual says something */
    bool reached;
    bool fell_back; /* Lanczos did not get there, LAPACK did */
} pn_smallest;

/** min(n, 1 + ceil(ln(2.75 n/failure^2)/2 sqrt(norm/(2 tau)))): steps from a random unit start after which theta -
 *  least eigenvalue <= tau with probability >= 1 - failure.  Source: Kuczynski, Wozniakowski (1992), Theorem 4.2. */
size_t pn_lanczos_steps(size_t n, double norm, double tau, double failure);

/**
 * Lanczos with full reorthogonalisation, twice, from start[n] (a random direction that does not depend on A, not 0).
 * x[n]: unit.  Stops as soon as the spectrum seen from the start leaves room for no eigenvalue below value - tau
 * (krylov.h; a tau below 2^-48 ||A|| counts as that), after the steps of the theorem where the norm is known, or at the
 * limit, then not `reached`.  A small residual alone is no reason: it may belong to another eigenvalue.
 * Memory: steps x n doubles, grown as needed.
 * Errors: PN_EDOMAIN for a start or product that is not finite; PN_EINVAL for options; what `times` returns; PN_ENOMEM;
 * PN_ENUMERIC; PN_ECANCELLED.
 */
pn_status pn_smallest_lanczos(pn_smallest *out, double *x, size_t n, pn_symmetric_fn times, void *self,
                              const pn_smallest_options *options, const double *start, pn_task *task, pn_err *err);

/** The least eigenpair of a stored packed matrix, which is not changed, in full by LAPACK
 *  (dsyevr, that pair only; n^2 doubles more).
 *  Errors: PN_EDOMAIN for NaN or infinity, with its position; PN_EDIM; PN_ENOMEM; PN_ENUMERIC. */
pn_status pn_smallest_in_full(pn_smallest *out, double *x, const double *packed, size_t n, pn_err *err);

/**
 * The same, to a tolerance: orders up to PN_SYMMETRIC_DIRECT in full (`start` may be NULL); beyond by at most 32 + n/4
 * Lanczos steps, and where these do not reach the tolerance in full after all (fell_back).  Errors: as above.
 */
#define PN_SYMMETRIC_DIRECT 128 /* beyond, steps to a tau of 1e-2 ||A|| cost a third and less (eigen_bench.c) */
pn_status pn_smallest_eigen(pn_smallest *out, double *x, const double *packed, size_t n,
                            const pn_smallest_options *options, const double *start, pn_task *task, pn_err *err);

#endif
