/* sketch.h -- J: the public m x n matrix that shortens a column of n records to m numbers, before noise.
 *   identity  J = I, m = n: nothing is shortened
 *   gaussian  iid N(0, 1/m)
 *   sparse    s = min(m, 8) entries +-1/sqrt(s) in distinct rows of every column: ||J e_j|| = 1,
 *             and products take s n instead of m n
 * The matrix comes from a public seed, the same on every platform, in blocks of columns (records); it is kept while m n
 * is small and else made again block by block.  J is no secret and protects nobody: privacy rests on the noise that is
 * added to what J makes.
 * Depends on: core, numeric/blas.h, random.  Used by: party.h, server.h, federated_frank_wolfe*.c.
 * Source: Lou, Cheung (2018); Johnson, Lindenstrauss (1984); Kane, Nelson (2014) for the sparse one. */
#ifndef PN_FEDERATED_SKETCH_H
#define PN_FEDERATED_SKETCH_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "core/task.h"
#include "numeric/csr.h"

typedef enum pn_sketch_kind { PN_SKETCH_IDENTITY = 0, PN_SKETCH_GAUSSIAN, PN_SKETCH_SPARSE } pn_sketch_kind;
extern const char *const pn_sketch_names[]; /* "identity", "gaussian", "sparse", NULL */

#define PN_SKETCH_ROWS_MAX (1u << 24)

typedef struct pn_sketch_shape {
    pn_sketch_kind kind;
    size_t m, n; /* m = n for identity */
    uint64_t seed;
} pn_sketch_shape;

/** Errors: PN_EINVAL for m outside 1 .. PN_SKETCH_ROWS_MAX, n = 0 or above 2^48, m != n for identity,
 *  a kind that does not exist. */
pn_status pn_sketch_check(const pn_sketch_shape *shape, pn_err *err);

typedef struct pn_sketch pn_sketch;

/** Errors: as pn_sketch_check; PN_ENOMEM; PN_ECANCELLED.  The whole matrix is made here once,
 *  whether it is kept or not: O(m n). */
pn_status pn_sketch_new(pn_sketch **out, const pn_sketch_shape *shape, pn_task *task, pn_err *err);
void pn_sketch_free(pn_sketch *sketch);
const pn_sketch_shape *pn_sketch_shape_of(const pn_sketch *sketch);

/** max_j ||J e_j||_2, rounded up: what one record can move an uploaded column by, per unit of change. */
double pn_sketch_column_norm(const pn_sketch *sketch);

/** out[c][m] = J a_i for c columns, a_i = columns[i * n ...] (each column contiguous).  Sums in a fixed order, whatever
 *  the number of threads; but on another processor, or with other columns beside it, a product may have other last
 *  bits.  O(m n c) through BLAS; O(n s c) for sparse.  Errors: PN_ENOMEM, PN_ECANCELLED. */
pn_status pn_sketch_columns(const pn_sketch *sketch, const double *columns, size_t c, double *out, pn_task *task,
                            pn_err *err);
/** The same for sparse columns: the rows of `columns` (c x n), each by itself.  O(nnz m), O(nnz s) for sparse, and
 *  making the blocks of J that they touch.  Errors: PN_EDIM unless columns->cols is n; PN_ENOMEM, PN_ECANCELLED. */
pn_status pn_sketch_sparse_columns(const pn_sketch *sketch, const pn_csr *columns, double *out, pn_task *task,
                                   pn_err *err);
/** z[n] = J^T q, q[m].  Errors: PN_ENOMEM, PN_ECANCELLED. */
pn_status pn_sketch_transpose(const pn_sketch *sketch, const double *q, double *z, pn_task *task, pn_err *err);

/** Public bound on |computed - exact| of each entry of J a, for |a_j| <= bound. */
double pn_sketch_error(const pn_sketch *sketch, double bound);
/** Likewise of each entry of J^T q, given ||q||_2. */
double pn_sketch_transpose_error(const pn_sketch *sketch, double q_norm);

/** m = ceil(4 ln(4 N / beta) / (iota^2 - iota^3)), N = d (d + 1) / 2 pairs of columns: then |<Ju, Jv> - <u, v>| <= iota
 *  ||u|| ||v|| for all of them with probability 1 - beta (gaussian).  iota, beta in (0, 1). */
size_t pn_sketch_rows(double iota, double beta, size_t d);
/** The most rows that a party accepts for n records: 4 of each, and 1,024 in any case.  More would only cost memory. */
size_t pn_sketch_rows_most(size_t n);
/** The iota that m rows give for d columns at beta; 1 when none below 1 does; 0 for identity.  For sparse by
 *  Chebyshev's inequality, the only one with proven constants: much larger than what is seen. */
double pn_sketch_accuracy(pn_sketch_kind kind, size_t m, double beta, size_t d);

#endif
