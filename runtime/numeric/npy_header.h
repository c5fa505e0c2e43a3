/* npy_header.h -- what the header of a .npy file says.  Depends on: status.h.  Used by: npy.c. */
#ifndef PN_NUMERIC_NPY_HEADER_H
#define PN_NUMERIC_NPY_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"

#define PN_NPY_TYPES "'<f8', '<f4', whole numbers ('<i8', '<u2', '|u1' and the like) and '|b1' are read"

typedef struct pn_npy_header {
    char type[8]; /* "<f8" */
    bool fortran;
    size_t dims, shape[2];
} pn_npy_header;

/** From the dictionary's text.  Errors: PN_EPARSE; PN_EUNSUPPORTED for records, and for other than 1 or 2 dimensions.
 *  Messages start with the path. */
pn_status pn_npy_header_read(pn_npy_header *out, const char *path, const char *text, pn_err *err);

#endif
