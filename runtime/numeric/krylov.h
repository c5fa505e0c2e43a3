/* krylov.h -- Lanczos steps with full reorthogonalisation, and when they have seen the top of a spectrum: what
 * lanczos.c and symmetric.c
 * share.  Depends on: core, lapack.h, blas.h, simd.h, symmetric.h (pn_symmetric_fn).  Used by: lanczos.c, symmetric.c.
 *
 * When to stop.  k steps from q_1 give T_k, and with it the polynomials p_0 .. p_k that are orthonormal for the
 * spectral measure of q_1.  The mass of that measure at a point mu is at most 1 / sum_j p_j(mu)^2
 * (the Christoffel function).  If mu is an eigenvalue with eigenvector w, its mass is (w^T q_1)^2, and overlap^2 / n
 * bounds this below for nearly every start.  The sum rises beyond the largest Ritz value, so once it exceeds n /
 * overlap^2 at mu, no eigenvalue is as large as mu.  Sources: Golub, Meurant (2010), Matrices, Moments and Quadrature;
 * Kuczynski, Wozniakowski (1992) for random starts. */
#ifndef PN_NUMERIC_KRYLOV_H
#define PN_NUMERIC_KRYLOV_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "core/task.h"
#include "numeric/symmetric.h"

typedef struct pn_krylov {
    size_t n, limit, steps, room; /* room: rows of `basis` that there is memory for */
    double *basis;                /* [room * n] orthonormal rows */
    double *diagonal, *off;       /* [limit] T; off[j] joins steps j and j + 1 */
    double *ritz, *along;         /* [limit] */
    double *next;                 /* [n] */
    double norm;                  /* a lower bound of ||M||: the largest entry of T */
} pn_krylov;

/* The largest Ritz value is settled once no eigenvalue is above it by absolute + relative ||M|| (by rounding at
 * least). */
typedef struct pn_krylov_rule {
    double absolute, relative;
    double overlap; /* the start's cosine with a top eigenvector is at least overlap / sqrt(n) */
} pn_krylov_rule;

/** Room for `limit` >= 1 steps with vectors[n]; the basis itself grows as needed.  Errors: PN_ENOMEM,
 *  and nothing is to be cleared. */
pn_status pn_krylov_init(pn_krylov *space, size_t n, size_t limit, pn_err *err);
void pn_krylov_clear(pn_krylov *space);

/**
 * Steps over the symmetric M of `times` from space->next[n] of norm `length`, until settled or at the limit; *top: the
 * largest Ritz value, its coefficients in space->ritz.  Errors: PN_EDOMAIN for a product that is not finite; what
 * `times` returns; PN_ENOMEM; PN_ENUMERIC; PN_ECANCELLED.
 */
pn_status pn_krylov_run(pn_krylov *space, double *top, bool *settled, pn_symmetric_fn times, void *self, double length,
                        const pn_krylov_rule *rule, pn_task *task, pn_err *err);

/** x[n]: the unit Ritz vector that the last run ended with. */
void pn_krylov_vector(const pn_krylov *space, double *x);
/** The least e so that no eigenvalue is above top + e, as far as the start can tell;
 *  `settled` and `overlap` as of the run. */
double pn_krylov_error(const pn_krylov *space, double top, bool settled, double overlap);
/** ||M x - top x|| of that pair. */
double pn_krylov_residual(const pn_krylov *space);

#endif
