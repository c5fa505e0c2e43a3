/* ledger_lock.c -- the lock of a family of ledgers.  Depends on: ledger_impl.h.  Used by: ledger*.c. */
#define _XOPEN_SOURCE 700 /* recursive locks */

#include <unistd.h>

#include "privacy/ledger/ledger_impl.h"

void pn_ledger_lock(const pn_ledger *ledger)
{
    pn_ledger *root = ledger->root;

    if (root->process == (long)getpid())
        (void)pthread_mutex_lock(&root->lock);
}

void pn_ledger_unlock(const pn_ledger *ledger)
{
    pn_ledger *root = ledger->root;

    if (root->process == (long)getpid())
        (void)pthread_mutex_unlock(&root->lock);
}

bool pn_ledger_make_lock(pthread_mutex_t *lock)
{
    pthread_mutexattr_t nests;
    bool made;

    if (pthread_mutexattr_init(&nests) != 0)
        return false;
    made = pthread_mutexattr_settype(&nests, PTHREAD_MUTEX_RECURSIVE) == 0 && pthread_mutex_init(lock, &nests) == 0;
    (void)pthread_mutexattr_destroy(&nests);
    return made;
}
