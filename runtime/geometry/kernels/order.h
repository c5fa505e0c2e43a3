/* order.h -- sorting and selecting the entries of a vector, and monotone regression.
 * Depends on: core.  Used by: the sets of vectors of this room. */
#ifndef PN_GEOMETRY_ORDER_H
#define PN_GEOMETRY_ORDER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct pn_ranked {
    double value;
    size_t index; /* of the entry that value came from, from 0 */
} pn_ranked;

/** items[n] <- the entries of x, or their sizes, from the largest; equal ones by index.  O(n log n). */
void pn_rank_down(pn_ranked *items, const double *x, size_t n, bool sizes);

/** The k-th largest of x[n], 1 <= k <= n; x is reordered.  Expected O(n), also with many equal entries. */
double pn_kth_largest(double *x, size_t n, size_t k);

/** which[n] <- true for the k largest entries of x[n]; of equal ones those of lowest index.  scratch[n]. */
void pn_mark_largest(bool *which, const double *x, size_t n, size_t k, double *scratch);

typedef struct pn_block {
    double sum;
    size_t count;
} pn_block;

/** Pool neighbours until the averages fall: the nearest v1 >= v2 >= .. to y[n] is constant on blocks[0 .. result),
 *  where it is sum / count.  blocks[n].  O(n).  Source: Barlow, Bartholomew, Bremner, Brunk (1972). */
size_t pn_pool_down(pn_block *blocks, const double *y, size_t n);

#endif
