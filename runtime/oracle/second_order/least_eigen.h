/* least_eigen.h -- the least eigenpair of a released Hessian, and how sure it is.
 * Stored Hessians of moderate order go to LAPACK; larger ones to Lanczos steps, as many as the theorem asks for or
 * until the start leaves room for no smaller eigenvalue (symmetric.h): a small residual says that some eigenvalue is
 * near, not that it is the least one, so no run of steps is cut short on it.
 * Products without a stored Hessian are for simulations.
 * Depends on: second_order.h, numeric/symmetric.h, random/symmetric_noise.h, objective.  Used by: second_order.c.
 * Source: Kuczynski, Wozniakowski (1992), Theorem 4.2. */
#ifndef PN_ORACLE_LEAST_EIGEN_H
#define PN_ORACLE_LEAST_EIGEN_H

#include "numeric/symmetric.h"
#include "random/rng.h"
#include "oracle/model_release.h"

/* How the least eigenpair of a released Hessian is found. */
typedef enum pn_eigen { PN_EIGEN_AUTO = 0, PN_EIGEN_DENSE, PN_EIGEN_LANCZOS, PN_EIGEN_MATRIX_FREE } pn_eigen;

typedef struct pn_least {
    double value; /* x^T H x for a unit x: at least the least eigenvalue of the Hessian as released */
    double error; /* value - least eigenvalue is at most this, by Lanczos with probability >= 1 - failure */
    bool steps;   /* by Lanczos */
} pn_least;

typedef struct pn_least_options {
    const char *owner;   /* what messages begin with */
    pn_eigen how;        /* not PN_EIGEN_MATRIX_FREE where the Hessian is stored */
    double tau, failure; /* > 0; in (0, 1) */
    const double *start; /* [n] a random direction; looked at by Lanczos only */
} pn_least_options;

/** Whether a stored Hessian of that order goes to Lanczos, and `start` has to be drawn. */
bool pn_least_needs_start(pn_eigen how, size_t n);

/** x[n]: the unit vector.  Errors: PN_EDOMAIN for NaN or infinity; PN_ENOMEM; PN_ENUMERIC; PN_ECANCELLED. */
pn_status pn_least_stored(pn_least *out, double *x, const double *packed, size_t n, const pn_least_options *options,
                          pn_task *task, pn_err *err);

/* A Hessian that is known by its products only, with simulated noise: one draw of noise and one batch for all
 * products. */
typedef struct pn_products pn_products;

/**
 * Charge a Hessian at multiplier z (0: none), draw the key of its noise and its batch.  theta[dim] is borrowed.
 * Errors: PN_EPRIVACY where the stream is not simulated: the rounding of products depends on the data and there is no
 * lattice for them; PN_EBUDGET; PN_ENOMEM.
 */
pn_status pn_products_open(pn_products **out, const char *owner, const pn_model *model, double z, const double *theta,
                           pn_step_context *context, const char *label, pn_err *err);
/** norm: at least the operator norm of the Hessian with its noise.  *records += records seen, once a product. */
pn_status pn_products_least(pn_least *out, double *x, pn_products *self, double norm, const pn_least_options *options,
                            pn_task *task, uint64_t *records, pn_err *err);
void pn_products_free(pn_products *self); /* NULL allowed */

#endif
