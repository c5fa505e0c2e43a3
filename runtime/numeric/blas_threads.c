/* blas_threads.c -- see blas_threads.h.  The number of OpenBLAS's threads belongs to the process, so the count of who
 * asked for one thread must, too: the only state of its kind in the runtime, and it describes that library, not ours.
 * Depends on: blas_threads.h, POSIX threads.  Used by: numeric, objective, bindings/prompt. */
#include <pthread.h>

#include "numeric/blas_threads.h"

#define SMALL_SIDE                                                                                                     \
    160 /* measured on two cores: below this a decomposition with two threads takes longer than with one */

/* Weak: absent from other BLAS libraries. */
extern void openblas_set_num_threads(int count) __attribute__((weak));
extern int openblas_get_num_threads(void) __attribute__((weak));

#define BUFFER ((size_t)128 << 20) /* that OpenBLAS maps for a thread, on x86-64 */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t users;
static int before;

bool pn_blas_alone(size_t side)
{
    if (side > SMALL_SIDE || !openblas_set_num_threads || !openblas_get_num_threads)
        return false;
    (void)pthread_mutex_lock(&lock);
    if (users++ == 0) {
        before = openblas_get_num_threads();
        if (before > 1)
            openblas_set_num_threads(1);
    }
    (void)pthread_mutex_unlock(&lock);
    return true;
}

void pn_blas_alone_end(bool alone)
{
    if (!alone)
        return;
    (void)pthread_mutex_lock(&lock);
    if (--users == 0 && before > 1)
        openblas_set_num_threads(before);
    (void)pthread_mutex_unlock(&lock);
}

size_t pn_blas_addresses(void)
{
    return openblas_get_num_threads ? (size_t)openblas_get_num_threads() * BUFFER : 0;
}
