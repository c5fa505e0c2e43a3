/* spool.h -- records of unknown number and width, kept small until both are known.
 * A byte stream in chunks: for each record its label, then its non-zero entries as (column step, value), a value taking
 * 0, 1, 2, 4 or 8 bytes, whichever holds it exactly.  pn_spool_finish moves the chunks one by one, from the last, into
 * the final matrix and frees each at once, so that the peak stays near the size of the matrix.
 * Depends on: core, dataset.h.  Used by: libsvm.c, csv.c. */
#ifndef PN_DATA_SPOOL_H
#define PN_DATA_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "data/dataset.h"

#define PN_SPOOL_TOKEN 13 /* most bytes of one entry: tag, wide step, double */

typedef struct pn_chunk pn_chunk;

typedef struct pn_spool {
    pn_chunk *last;
    unsigned char *at, *end; /* free bytes of the last chunk */
    size_t records, entries;
    uint32_t column; /* of the last entry, counted from 1; 0 right after a label */
} pn_spool;

/** A new chunk; false when memory is short. */
bool pn_spool_grow(pn_spool *spool);
/** Frees what is held; a zeroed spool may be cleared. */
void pn_spool_clear(pn_spool *spool);

/* A tag holds the kind of value in the low 3 bits and the column step in the high 5. */
enum { PN_KIND_ONE, PN_KIND_8, PN_KIND_16, PN_KIND_32, PN_KIND_64 };
#define PN_STEP_LABEL 0u
#define PN_STEP_WIDE  31u /* four bytes with the step follow the tag */

/* Append tag, step and value; step 0 is a label. */
static inline bool pn_spool_token(pn_spool *spool, uint32_t step, double value)
{
    unsigned char *at;
    unsigned tag = (step < PN_STEP_WIDE ? step : PN_STEP_WIDE) << 3;

    if ((size_t)(spool->end - spool->at) < PN_SPOOL_TOKEN && !pn_spool_grow(spool))
        return false;
    at = spool->at + 1;
    if (step >= PN_STEP_WIDE) {
        memcpy(at, &step, sizeof step);
        at += sizeof step;
    }
    if (value == 1.0) {
        tag |= PN_KIND_ONE;
    } else if (value >= INT32_MIN && value <= INT32_MAX && value == (double)(int32_t)value) {
        int32_t whole = (int32_t)value;

        if (whole == (int8_t)whole) {
            *at++ = (unsigned char)(int8_t)whole;
            tag |= PN_KIND_8;
        } else if (whole == (int16_t)whole) {
            int16_t half = (int16_t)whole;

            memcpy(at, &half, sizeof half);
            at += sizeof half;
            tag |= PN_KIND_16;
        } else {
            memcpy(at, &whole, sizeof whole);
            at += sizeof whole;
            tag |= PN_KIND_32;
        }
    } else {
        memcpy(at, &value, sizeof value);
        at += sizeof value;
        tag |= PN_KIND_64;
    }
    *spool->at = (unsigned char)tag;
    spool->at = at;
    return true;
}

/** Begin a record; false when memory is short. */
static inline bool pn_spool_label(pn_spool *spool, double label)
{
    if (!pn_spool_token(spool, PN_STEP_LABEL, label))
        return false;
    spool->records++;
    spool->column = 0;
    return true;
}

/** One more entry of the record; columns are counted from 1 and rise strictly.  Zeros are left out. */
static inline bool pn_spool_entry(pn_spool *spool, uint32_t column, double value)
{
    if (value == 0.0)
        return true;
    if (!pn_spool_token(spool, column - spool->column, value))
        return false;
    spool->entries++;
    spool->column = column;
    return true;
}

/* For data whose stored columns are not yet its features: one may stand for several, of which a record has one. */
typedef struct pn_spool_layout {
    size_t columns;             /* stored ones */
    size_t *first;              /* [columns + 1] the feature (from 0) where each begins; first[columns] is p */
    const size_t *const *place; /* [columns] NULL: the value is the feature's; else the value v, from 1, sets feature
                                   first + place[v - 1] to 1 */
} pn_spool_layout;

/**
 * Make the data set and empty the spool (on failure too).  p >= every column, records >= 1.
 *   layout  NULL: column j is feature j.
 * Errors: PN_ENOMEM; PN_EDIM when p does not fit a sparse matrix.
 */
pn_status pn_spool_finish(pn_dataset **out, pn_spool *spool, size_t p, pn_storage storage,
                          const pn_spool_layout *layout, const char *name, pn_err *err);

#endif
