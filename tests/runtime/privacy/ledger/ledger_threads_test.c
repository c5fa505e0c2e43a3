/* ledger_threads_test.c -- one budget that many threads charge at once: what is admitted never exceeds it, in memory,
 * in a slice and in a file, and nothing is lost.  Depends on: check.h, privacy/ledger/ledger.h. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "privacy/ledger/ledger.h"

#define THREADS 8
#define EACH    200 /* charges that a thread tries; the budget covers 400 of 1600 */
#define ROOM    400

typedef struct worker {
    pn_ledger *ledger;
    size_t admitted, refused, odd;
    pthread_barrier_t *start;
} worker;

static pn_event *small_event(void)
{
    pn_arg args[4] = { 0 };
    pn_event *event = NULL;
    pn_err err;

    args[0].given = true;
    args[0].real = 0.125; /* exact in binary: sums are */
    CHECK(pn_event_from_args(&event, "pure", args, PN_REPLACE_ONE, &err) == PN_OK);
    return event;
}

/* Asks, looks and charges as curators do. */
static void *charge(void *self)
{
    worker *me = self;
    pn_event *event = small_event();

    (void)pthread_barrier_wait(me->start);
    for (size_t i = 0; i < EACH; i++) {
        pn_err err;
        pn_status status;
        size_t entries = pn_ledger_entries(me->ledger);

        if (entries > 0 && strpbrk(pn_ledger_entry(me->ledger, entries - 1).label, "ab") == NULL)
            me->odd++;
        if (pn_ledger_remaining(me->ledger) < 0.0 || pn_ledger_spent(me->ledger) > 0.125 * ROOM)
            me->odd++;
        status = pn_ledger_spend(me->ledger, event, 1, i % 2 ? "a" : "b", &err);
        me->admitted += status == PN_OK;
        me->refused += status == PN_EBUDGET;
        if (i == 0) /* nobody is through with all of his before everybody has had one */
            (void)pthread_barrier_wait(me->start);
    }
    pn_event_free(event);
    return NULL;
}

static size_t charged(const pn_ledger *ledger)
{
    size_t count = 0;

    for (size_t i = 0; i < pn_ledger_entries(ledger); i++)
        count += pn_ledger_entry(ledger, i).count;
    return count;
}

/* Half of the threads charge `other`, which may be the same.  How many charges it admitted. */
static size_t race(pn_ledger *ledger, pn_ledger *other)
{
    worker workers[THREADS];
    pthread_t threads[THREADS];
    pthread_barrier_t start;
    size_t admitted = 0, by_other = 0, refused = 0, odd = 0;

    CHECK(pthread_barrier_init(&start, NULL, THREADS) == 0);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (worker){ i % 2 ? other : ledger, 0, 0, 0, &start };
        CHECK(pthread_create(&threads[i], NULL, charge, &workers[i]) == 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        admitted += workers[i].admitted;
        by_other += i % 2 ? workers[i].admitted : 0;
        refused += workers[i].refused;
        odd += workers[i].odd;
    }
    (void)pthread_barrier_destroy(&start);
    CHECK(admitted == ROOM);
    CHECK(admitted + refused == THREADS * EACH);
    CHECK(odd == 0);
    CHECK(charged(ledger) == ROOM);
    CHECK(pn_ledger_spent(ledger) == 0.125 * ROOM);
    CHECK(pn_ledger_remaining(ledger) == 0.0);
    return by_other;
}

static const pn_budget pure = { .epsilon = 0.125 * ROOM, .rho = NAN, .neighbours = PN_REPLACE_ONE };

static void test_one_budget(void)
{
    pn_ledger *ledger = NULL;
    pn_err err;

    CHECK(pn_ledger_new(&ledger, &pure, &err) == PN_OK);
    (void)race(ledger, ledger);
    pn_ledger_free(ledger);
}

static void test_a_slice_and_what_is_above_it(void)
{
    pn_ledger *ledger = NULL, *slice = NULL;
    pn_budget more = pure;
    size_t by_slice;
    pn_err err;

    more.epsilon = 1000.0;
    CHECK(pn_ledger_new(&ledger, &pure, &err) == PN_OK);
    CHECK(pn_ledger_slice(&slice, ledger, "s", &more, &err) == PN_OK);
    by_slice = race(ledger, slice);
    CHECK(charged(slice) == by_slice && by_slice > 0);
    CHECK(by_slice < ROOM); /* the other half went past it */
    pn_ledger_free(slice);
    pn_ledger_free(ledger);
}

static void test_a_file(void)
{
    char path[] = "/tmp/ledger_threads_XXXXXX", beside[64];
    static const char *const ends[] = { "", ".key", ".head" };
    pn_ledger *ledger = NULL;
    pn_err err;
    int file = mkstemp(path);

    CHECK(file >= 0);
    (void)close(file);
    CHECK(pn_ledger_open(&ledger, path, NULL, &pure, &err) == PN_OK);
    (void)race(ledger, ledger);
    pn_ledger_free(ledger);
    CHECK(pn_ledger_open(&ledger, path, NULL, NULL, &err) == PN_OK);
    CHECK(charged(ledger) == ROOM);
    pn_ledger_free(ledger);
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(beside, sizeof beside, "%s%s", path, ends[i]);
        (void)unlink(beside);
    }
}

int main(void)
{
    test_one_budget();
    test_a_slice_and_what_is_above_it();
    test_a_file();
    return check_summary();
}
