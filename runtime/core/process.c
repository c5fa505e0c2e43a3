/* process.c -- see process.h.  Where the system does not empty pages in children (Linux before 4.14), it is asked every
 * time.
 * Depends on: process.h.  Used by: random, continual, privacy, bindings. */
#define _DEFAULT_SOURCE /* madvise */
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/process.h"

static _Atomic(_Atomic(pid_t) *) page; /* for the process's life; NULL: not made yet, or it cannot be */

/* Threads that come here at once make a page each and keep one. */
static void make_page(void)
{
    size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
    /* cppcheck-suppress invalidFunctionArg ; there is no file */
    void *made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    _Atomic(pid_t) *none = NULL;

    if (made == MAP_FAILED)
        return;
    if (madvise(made, bytes, MADV_WIPEONFORK) != 0 || !atomic_compare_exchange_strong(&page, &none, made))
        (void)munmap(made, bytes);
}

pid_t pn_process(void)
{
    _Atomic(pid_t) *kept = atomic_load_explicit(&page, memory_order_acquire);
    pid_t known = kept ? atomic_load_explicit(kept, memory_order_relaxed) : 0;

    if (known != 0)
        return known;
    if (!kept)
        make_page();
    known = getpid();
    if ((kept = atomic_load_explicit(&page, memory_order_acquire)))
        atomic_store_explicit(kept, known, memory_order_relaxed);
    return known;
}
