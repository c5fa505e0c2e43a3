/* rows.h -- the rows of a data set as doubles, however they are stored: to read them, or to change them while the data
 * set is being made.  Depends on: dataset.h.  Used by: data, objective. */
#ifndef PN_DATA_ROWS_H
#define PN_DATA_ROWS_H

#include "data/dataset.h"

#define PN_ROWS_GRAIN 64 /* rows between two looks at whether to go on */

typedef struct pn_rows {
    const pn_dataset *data; /* kept */
    double *wide;           /* [the longest row] for float32 storage, else NULL */
} pn_rows;

/** On failure nothing needs closing.  Errors: PN_ENOMEM; PN_EUNSUPPORTED when not all records are here. */
pn_status pn_rows_open(pn_rows *rows, const pn_dataset *data, pn_err *err);
/** The same of the rows first .. pn_dataset_held_end - 1, which may be some of them: others must not be asked for. */
pn_status pn_rows_open_held(pn_rows *rows, const pn_dataset *data, pn_err *err);
void pn_rows_close(pn_rows *rows);

/** The *count stored entries of row i (from 0): p of a dense row, those of csr.column[start[i]..] of a sparse one.
 *  Valid until the next call. */
const double *pn_rows_get(const pn_rows *rows, size_t i, size_t *count);
/** The same, to be changed: pn_rows_put stores the changes.  The data set must be the caller's own. */
double *pn_rows_edit(pn_rows *rows, size_t i, size_t *count);
/** float32: each entry is rounded toward zero, so that no norm grows.  |entry| <= FLT_MAX. */
void pn_rows_put(pn_rows *rows, size_t i);

/** Records first .. end - 1, or those that rows[first .. end - 1] name, will be read soon: where they are on disk, the
 *  system fetches them meanwhile. */
void pn_rows_ahead(const pn_dataset *data, const size_t *rows, size_t first, size_t end);
/** How many records are worth asking for at once: about a megabyte, at least 1. */
size_t pn_rows_at_once(const pn_dataset *data);

/** PN_OK, or why a pass over the rows is to end at row i: PN_ECANCELLED, PN_ELIMIT.
 *  It looks at every PN_ROWS_GRAIN-th row. */
pn_status pn_rows_stopped(size_t i, pn_err *err);

/** out[n] = x[n] rounded toward zero.  x finite; beyond FLT_MAX it becomes that. */
void pn_narrow(float *out, const double *x, size_t n);
/** out[n] = x[n], exactly. */
void pn_widen(double *out, const float *x, size_t n);

#endif
