/* least_squares_impl.h -- what least_squares.c and least_squares_law.c share: the problem of some columns, in units of
 * v, without its constant.  Private to these. */
#ifndef PN_MINIMISE_LEAST_SQUARES_IMPL_H
#define PN_MINIMISE_LEAST_SQUARES_IMPL_H

#include "minimise/least_squares.h"
#include "numeric/lapack.h"

typedef struct pn_ls_part {
    size_t k; /* columns, the constant left out */
    size_t *columns;
    double *numbers;                          /* owned: the arrays below */
    double *matrix, *vectors;                 /* [k * k] S, and its eigenvectors, one in each row */
    double *values, *b, *a;                   /* [k] eigenvalues, rising; with the label; with the constant */
    double *w, *turned, *turned_a, *turned_b; /* [k] the answer; scratch */
    double b0, c, w0, ridge, noise;           /* noise: about the norm of that on S */
} pn_ls_part;

double pn_ls_moment(const pn_least_squares *self, size_t i, size_t j);
/** Clear it also after a failure. */
pn_status pn_ls_open(pn_ls_part *part, const pn_least_squares *self, const pn_submodel *which, pn_err *err);
void pn_ls_clear(pn_ls_part *part);
/** The ridge in units of v: as wanted, or (NaN) by the rule where others add `strong`, in the same units. */
pn_status pn_ls_ridge(pn_ls_part *part, const pn_least_squares *self, double wanted, double strong, pn_err *err);
/** out[k] = (S + ridge)^-1 in. */
void pn_ls_inverse(const pn_ls_part *part, const double *in, double *out);
/** w and w0 with that ridge; |u|^2 = |w|^2 + w0^2 + 1. */
double pn_ls_solve(pn_ls_part *part, const pn_least_squares *self);

#endif
