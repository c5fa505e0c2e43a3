/* csr.h -- compressed sparse rows.  Depends on: core/.  Used by: data, objective, bindings. */
#ifndef PN_NUMERIC_CSR_H
#define PN_NUMERIC_CSR_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "penumbra/numbers.h"

/** Allocate for nnz entries, start[0..rows] zeroed, the rest uninitialised.  Errors: PN_ENOMEM, PN_EDIM (cols),
 *  PN_EINVAL for rows or nnz above 2^48. */
pn_status pn_csr_init(pn_csr *out, size_t rows, size_t cols, size_t nnz, pn_err *err);
void pn_csr_clear(pn_csr *matrix);

/** From triplets (row[k], column[k], value[k]), k < count, indices from 0, any order; duplicates are summed.
 *  Errors: PN_EDIM when an index is outside, PN_EDOMAIN for a non-finite value, PN_ENOMEM. */
pn_status pn_csr_from_triplets(pn_csr *out, size_t rows, size_t cols, size_t count, const size_t *row,
                               const size_t *column, const double *value, pn_err *err);

/** out = the transpose; O(nnz + rows + cols).  Errors: PN_ENOMEM. */
pn_status pn_csr_transpose(pn_csr *out, const pn_csr *matrix, pn_err *err);

/** y[rows] = A x, x[cols]. */
void pn_csr_times(const pn_csr *matrix, const double *x, double *y);

#endif
