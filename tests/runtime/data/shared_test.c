/* shared_test.c -- records that are handed to another process, when memory runs out: nothing stays mapped or made.
 * Depends on: data/shared.h, fail_alloc.h, Linux (/proc). */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>

#include "data/dataset.h"
#include "data/shared.h"
#include "fail_alloc.h"

static const double X[] = { 0.5, -0.25, 1.0, 0.0, 2.0, -3.0 }, y[] = { 1.0, -1.0, 1.0 };

static pn_dataset *records(void)
{
    pn_dataset *data = NULL;
    pn_err err;

    CHECK(pn_dataset_from_dense(&data, X, 3, 2, y, "three", &err) == PN_OK);
    return data;
}

/* How often the shared records are mapped. */
static int mappings(void)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[512];
    int n = 0;

    while (maps && fgets(line, sizeof line, maps))
        n += strstr(line, "penumbra-records") != NULL;
    if (maps)
        (void)fclose(maps);
    return n;
}

static int descriptors(void)
{
    int next = dup(STDIN_FILENO);

    (void)close(next);
    return next;
}

typedef struct exchange {
    pn_dataset *data;
    int fd;
} exchange;

static pn_status publish(void *self, pn_err *err)
{
    exchange *with = self;

    return pn_dataset_publish(&with->fd, with->data, err);
}

static pn_status attach(void *self, pn_err *err)
{
    exchange *with = self;

    return pn_dataset_attach(&with->data, with->fd, "shared", err);
}

/* The k-th call of the step fails, for k = 1, 2, ..., until it gets through. */
static void until_it_works(fail_alloc_fn step, exchange *with, pn_status failure)
{
    pn_status status = failure;

    for (long k = 1; status != PN_OK && k < 100; k++) {
        fail_alloc memory = { .fail_at = k, .all = true };
        int before = descriptors();

        status = fail_alloc_run(&memory, step, with);
        CHECK(status == (atomic_load(&memory.calls) >= k ? failure : PN_OK));
        if (status != PN_OK)
            CHECK(atomic_load(&memory.live) == 0 && mappings() == 0 && descriptors() == before);
    }
    CHECK(status == PN_OK);
}

static void records_arrive_once_there_is_memory(void)
{
    static exchange taker; /* keeps what is there for the life of the process */
    exchange giver = { records(), -1 };

    until_it_works(publish, &giver, PN_EIO);
    CHECK(mappings() == 0);
    taker.fd = giver.fd;
    until_it_works(attach, &taker, PN_ENOMEM);
    CHECK(mappings() == 1);
    (void)close(giver.fd);
    CHECK(taker.data && strcmp(pn_dataset_name(taker.data), "shared") == 0 && pn_dataset_records(taker.data) == 3);
    CHECK(memcmp(pn_dataset_labels(taker.data), y, sizeof y) == 0);
    pn_dataset_free(giver.data);
}

int main(void)
{
    records_arrive_once_there_is_memory();
    return check_summary();
}
