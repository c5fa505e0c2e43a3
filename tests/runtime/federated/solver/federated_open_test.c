/* federated_open_test.c -- the federated solver is in the table once, whoever opens it, and however many at a time:
 * each Lua state of a host does, in a thread of its own.  `make SAN=thread` sees what a count may miss.
 * Depends on: check.h, federated_frank_wolfe.h, POSIX threads. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <string.h>

#include "check.h"
#include "federated/solver/federated_frank_wolfe.h"
#include "solvers/catalogue/solvers.h"

#define THREADS 16

static pthread_barrier_t together;

static void *open_with_others(void *self)
{
    (void)pthread_barrier_wait(&together);
    *(pn_status *)self = pn_federated_open(NULL);
    return NULL;
}

int main(void)
{
    pthread_t thread[THREADS];
    pn_status status[THREADS];
    int named = 0;

    CHECK(pn_solver_find("federated_frank_wolfe") == NULL);
    CHECK(pthread_barrier_init(&together, NULL, THREADS) == 0);
    for (int i = 0; i < THREADS; i++)
        CHECK(pthread_create(&thread[i], NULL, open_with_others, &status[i]) == 0);
    for (int i = 0; i < THREADS; i++) {
        CHECK(pthread_join(thread[i], NULL) == 0);
        CHECK(status[i] == PN_OK);
    }
    for (size_t i = 0; pn_solver_table()[i]; i++)
        named += strcmp(pn_solver_table()[i]->name, "federated_frank_wolfe") == 0;
    CHECK(named == 1);
    return check_summary();
}
