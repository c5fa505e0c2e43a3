/* blas_threads.h -- keeps OpenBLAS from using its threads where they cost more than they give: small matrices, and
 * calls from our own parallel regions.  Depends on: OpenBLAS (if it is another BLAS, nothing is done).
 * Used by: numeric, objective, bindings/prompt. */
#ifndef PN_NUMERIC_BLAS_THREADS_H
#define PN_NUMERIC_BLAS_THREADS_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Before a BLAS or LAPACK call whose matrices have at most `side` rows and columns: for small ones OpenBLAS has one
 * thread from now on.  side 0 also before a parallel region of ours that calls it,
 * where its threads and ours would wait for each other.
 * Returns whether pn_blas_alone_end is due.  Calls nest and may come from several threads: the number of threads that a
 * host has set is back after the last.
 */
bool pn_blas_alone(size_t side);
void pn_blas_alone_end(bool alone);

/** Bytes of addresses that OpenBLAS takes, a buffer for each of its threads: where the system refuses one, the thread
 *  asks again for ever.  0 of another BLAS. */
size_t pn_blas_addresses(void);

#endif
