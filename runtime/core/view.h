/* view.h -- borrowed views of numbers.  A view never owns; who made the buffer frees it.  Depends on: libc. */
#ifndef PN_CORE_VIEW_H
#define PN_CORE_VIEW_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pn_vec {
    double *data; /* [n], contiguous */
    size_t n;
} pn_vec;

typedef struct pn_mat {
    double *data; /* row-major: entry (i, j), from 0, is data[i * cols + j] */
    size_t rows, cols;
} pn_mat;

/* The norms in which records and sets are bounded.  The dual of L1 is LINF and the reverse; L2 is its own. */
typedef enum pn_lp { PN_L1 = 0, PN_L2 = 1, PN_LINF = 2, PN_LP_COUNT = 3 } pn_lp;

/** Index (from 0) of the first NaN or infinity in x[n], or n when all are finite. */
size_t pn_first_nonfinite(const double *x, size_t n);

/** The norm's name: "l1", "l2", "linf". */
const char *pn_lp_name(pn_lp norm);

/** The norm of that name; false, and *norm untouched, when there is none (or name is NULL). */
bool pn_lp_find(pn_lp *norm, const char *name);

/** The norm whose unit ball is the polar of `norm`'s. */
pn_lp pn_lp_dual(pn_lp norm);

#endif
