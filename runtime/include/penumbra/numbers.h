/* numbers.h -- views of numbers, which never own them, sparse matrices, and the three norms in which records and
 * sets are bounded.  Depends on: libc. */
#ifndef PENUMBRA_NUMBERS_H
#define PENUMBRA_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pn_vec {
    double *data; /* [n], contiguous */
    size_t n;
} pn_vec;

typedef struct pn_mat {
    double *data; /* row-major: entry (i, j), from 0, is data[i * cols + j] */
    size_t rows, cols;
} pn_mat;

/* Compressed sparse rows.  Columns rise strictly inside a row; explicit zeros are allowed.  cols <= 2^32 - 1. */
typedef struct pn_csr {
    size_t rows, cols;
    size_t *start;    /* [rows + 1]; row i is entries start[i] .. start[i+1]-1; start[rows] = nnz */
    uint32_t *column; /* [nnz], from 0 */
    double *value;    /* [nnz] */
} pn_csr;

/* The norms in which records and sets are bounded.  The dual of L1 is LINF and the reverse; L2 is its own. */
typedef enum pn_lp { PN_L1 = 0, PN_L2 = 1, PN_LINF = 2, PN_LP_COUNT = 3 } pn_lp;

/** The norm's name: "l1", "l2", "linf". */
const char *pn_lp_name(pn_lp norm);

#ifdef __cplusplus
}
#endif

#endif
