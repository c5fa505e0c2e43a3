/* npy.h -- arrays of numbers in NumPy's .npy files.  Depends on: core/.  Used by: data, bindings.
 * Source: numpy.lib.format, versions 1.0 to 3.0. */
#ifndef PN_NUMERIC_NPY_H
#define PN_NUMERIC_NPY_H

#include <stddef.h>

#include "core/ranks.h"
#include "core/status.h"
#include "core/task.h"

typedef struct pn_npy {
    double *data;       /* [rows * cols] row-major, owned: pn_free it, or pn_vault_free records */
    size_t dims;        /* 1 or 2 */
    size_t shape[2];    /* shape[1] is 1 for a vector */
    size_t first, rows; /* the rows that are here: 0 and shape[0], or those of this rank */
} pn_npy;

/**
 * Read a one- or two-dimensional array, in C or Fortran order, as doubles; the file gzip or plain, whatever its name.
 * Types: '<f8', '<f4'; '<i8', '<i4', '<i2', '|i1' and '<u8', '<u4', '<u2', '|u1'; '|b1' as 0 and 1.
 *   task  told of entries read; may be NULL.
 * Errors: PN_EIO, also for a gzip stream that is damaged or cut short; PN_EPARSE for a file that is no .npy file,
 * is cut
 *         short or has bytes to spare; PN_EUNSUPPORTED for another type or number of dimensions;
 *             PN_EDOMAIN for a NaN, an
 *         infinity, a whole number that no double equals, or a boolean that is neither 0 nor 1, with the position;
 *         PN_ENOMEM; PN_ECANCELLED.  Every message starts with the path.
 */
pn_status pn_npy_load(pn_npy *out, const char *path, pn_task *task, pn_err *err);
/** The same of records, whose numbers are a block of pn_vault_alloc: pn_vault_free it.  The rows of pn_ranks_hold only,
 *  all for NULL: from an uncompressed file no others are read.  With others left out,
 *  what follows the last of them in a compressed file, and its check sum, is not looked at. */
pn_status pn_npy_load_records(pn_npy *out, const char *path, const pn_ranks *ranks, pn_task *task, pn_err *err);

/**
 * Write shape[0] (dims = 1) or shape[0] x shape[1] (dims = 2) doubles as '<f8' in C order, version 1.0.  The file
 * appears under its name complete or not at all: it is written beside it first.
 * Errors: PN_EIO.
 */
pn_status pn_npy_save(const char *path, const double *data, size_t dims, const size_t *shape, pn_err *err);

#endif
