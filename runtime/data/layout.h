/* layout.h -- the arrays of a data set in one piece of memory, or in one file: a description of PN_LAYOUT_FIRST bytes,
 * which is its owner's, then each array where the sizes say.
 * Depends on: dataset.h.  Used by: shared.c, files/stored.c, files/stored_open.c. */
#ifndef PN_DATA_LAYOUT_H
#define PN_DATA_LAYOUT_H

#include "data/dataset.h"

#define PN_LAYOUT_FIRST ((size_t)1 << 16) /* a whole number of pages anywhere: what stands behind it can be locked */

/* The arrays of struct pn_dataset, then texts: the name, the names of features, the recipe. */
typedef enum pn_array {
    PN_ARRAY_LABELS,
    PN_ARRAY_DENSE,
    PN_ARRAY_SINGLE,
    PN_ARRAY_START,
    PN_ARRAY_COLUMN,
    PN_ARRAY_VALUE,
    PN_ARRAY_CSR_SINGLE,
    PN_ARRAY_NAME,
    PN_ARRAY_FEATURES,
    PN_ARRAY_RECIPE,
    PN_ARRAYS
} pn_array;

/* What the offsets follow from. */
typedef struct pn_layout_sizes {
    uint64_t n, p, entries;          /* entries: stored ones of sparse features, else 0 */
    uint64_t first, held;            /* features of rows first .. first + held - 1 alone; 0 and 0: all */
    uint64_t sparse, float32;        /* 0 or 1 */
    uint64_t name, features, recipe; /* bytes of the texts; 0: none */
} pn_layout_sizes;

typedef struct pn_layout {
    size_t offset[PN_ARRAYS], bytes[PN_ARRAYS]; /* from the start; bytes 0: there is no such array */
    size_t end;                                 /* of the last, rounded up */
} pn_layout;

/** The sizes of `data`, whose records are here, all of them or a rank's share; texts only where asked for. */
pn_layout_sizes pn_layout_sizes_of(const pn_dataset *data, bool texts);
/** False for sizes that no memory has, or that contradict each other. */
bool pn_layout_find(pn_layout *out, const pn_layout_sizes *sizes);
/** Where the arrays are now; NULL: there is none. */
void pn_layout_arrays(const pn_dataset *data, const void *from[PN_ARRAYS]);
/** Sizes and arrays of a data set that is zeroed become those at `base`. */
void pn_layout_view(pn_dataset *data, char *base, const pn_layout *layout, const pn_layout_sizes *sizes);

#endif
