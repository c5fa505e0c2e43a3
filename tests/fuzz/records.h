/* records.h -- what holds for records that a file gave, whatever was in it.
 * Depends on: fuzz.h, data/rows.h.  Used by: the targets of files of records. */
#ifndef PN_TESTS_FUZZ_RECORDS_H
#define PN_TESTS_FUZZ_RECORDS_H

#include <math.h>
#include <string.h>

#include "data/dataset.h"
#include "data/rows.h"
#include "fuzz/fuzz.h"
#include "recipe/recipe.h"

/* Sparse columns rise: a feature that a row had twice would count for more than the bound on its norm says. */
static inline void fuzz_row(const pn_dataset *records, const pn_rows *rows, size_t i)
{
    size_t count;
    const double *row = pn_rows_get(rows, i, &count);
    const uint32_t *columns = records->sparse ? records->csr.column + pn_csr_place(records, i) : NULL;

    FUZZ_HOLDS(count <= records->p);
    for (size_t k = 0; k < count; k++) {
        FUZZ_HOLDS(isfinite(row[k]));
        FUZZ_HOLDS(!columns || (columns[k] < records->p && (k == 0 || columns[k - 1] < columns[k])));
    }
}

static inline void fuzz_names(const pn_dataset *records)
{
    size_t names = 0;

    for (size_t k = 0; records->features && k < records->feature_bytes; k++)
        names += records->features[k] == '\0';
    FUZZ_HOLDS(!records->features || names == records->p);
}

/** Of a failed call: no records and a message; else records that are what they say. */
static inline void fuzz_records(const pn_dataset *records, pn_status status, const pn_err *err)
{
    pn_rows rows;

    FUZZ_HOLDS((status == PN_OK) == (records != NULL));
    if (status != PN_OK) {
        FUZZ_HOLDS(err->message[0] != '\0' && status != PN_ENUMERIC);
        return;
    }
    FUZZ_HOLDS(records->n > 0 && records->p > 0);
    FUZZ_HOLDS(pn_rows_open_held(&rows, records, NULL) == PN_OK);
    for (size_t i = 0; i < records->n; i++) {
        FUZZ_HOLDS(isfinite(records->y[i]));
        if (pn_dataset_holds(records, i))
            fuzz_row(records, &rows, i);
    }
    pn_rows_close(&rows);
    fuzz_names(records);
}

#endif
