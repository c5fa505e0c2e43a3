/* stored.h -- a data set as a file that is mapped, not read into memory: records may be more than memory holds.
 *
 * The file holds what struct pn_dataset does, or the share of it that a rank keeps: a header, then the arrays as they
 * are used (layout.h), then a check sum (XXH3, 128 bits) of each PN_STORED_BLOCK bytes of each array.  It is made for
 * the machine it is read on: byte order and sizes are that machine's, and a file of another kind is refused.
 *
 * Whoever opens one relies on nothing that the header says of the records.  One reading compares every check sum and
 * looks at every number: that entries and labels are finite, sparse rows in order, and every row and label within the
 * bounds that the header calls enforced.  From then on the size of the file and the time of its last change are looked
 * at before each pass: a file that was changed or cut is refused before anything is spent.  A file that is cut WHILE a
 * pass reads it ends the process (SIGBUS), as it does for whoever maps files.
 * Depends on: dataset.h.  Used by: data, bindings. */
#ifndef PN_DATA_STORED_H
#define PN_DATA_STORED_H

#include <stdint.h>

#include "core/origin.h"
#include "data/dataset.h"
#include "data/layout.h"
#include "data/rows.h"

#define PN_STORED_BLOCK ((size_t)1 << 20)
#define PN_STORED_MAGIC 0x31736472636e70u /* "pncrds1": format 1 */

/* The first bytes of the file; numbers of this machine. */
typedef struct pn_stored_header {
    uint64_t magic, bytes; /* bytes: of this structure */
    pn_layout_sizes sizes;
    double norm[PN_LP_COUNT], label_low, label_high, usual;
    uint64_t labels_binary, constant, categories_found;
    uint64_t has_origin, origin_records;
    pn_content origin;
    pn_content checks; /* of all check sums */
    pn_content self;   /* of this structure with zeros here */
} pn_stored_header;

_Static_assert(sizeof(pn_stored_header) <= PN_LAYOUT_FIRST, "the header has its own pages");

/** How many check sums an array of so many bytes has. */
static inline size_t pn_stored_blocks(size_t bytes)
{
    return (bytes + PN_STORED_BLOCK - 1) / PN_STORED_BLOCK;
}

/** Of count bytes.  Errors: PN_ENOMEM. */
pn_status pn_stored_sum(pn_content *out, const void *bytes, size_t count, pn_err *err);
/** The header's own sum, whatever stands there.  Errors: PN_ENOMEM. */
pn_status pn_stored_header_sum(pn_content *out, const pn_stored_header *header, pn_err *err);

/** Whether all that the header calls enforced holds for the records first .. end - 1 of `rows`, and their numbers are
 *  finite and in order, where they are held; csr.start has been checked.  Errors: PN_EDOMAIN with the record's number,
 *  but no value. */
pn_status pn_stored_check_rows(const pn_rows *rows, size_t first, size_t end, pn_err *err);

#endif
