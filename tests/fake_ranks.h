/* fake_ranks.h -- ranks that are threads of this process, for tests: collectives by a barrier, messages by mailboxes.
 * Depends on: core/ranks.h, POSIX threads.  Used by: tests of ranks. */
#ifndef PN_TESTS_FAKE_RANKS_H
#define PN_TESTS_FAKE_RANKS_H

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "core/ranks.h"

#define FAKE_MOST 8

typedef struct fake_message {
    struct fake_message *next;
    size_t bytes;
    unsigned char data[];
} fake_message;

typedef struct fake_world {
    size_t size;
    pthread_barrier_t barrier;
    pthread_mutex_t lock;
    pthread_cond_t arrived;
    void *shown[FAKE_MOST];                    /* what each rank shows the others during a collective */
    fake_message *boxes[FAKE_MOST][FAKE_MOST]; /* [from][to], oldest first */
    int fails;                                 /* > 0: the code of every collective from now on */
    size_t gathers;                            /* counted by rank 0 */
} fake_world;

typedef struct fake_rank {
    fake_world *world;
    size_t rank;
} fake_rank;

static inline size_t fake_rank_of(void *self)
{
    return ((fake_rank *)self)->rank;
}

static inline size_t fake_size_of(void *self)
{
    return ((fake_rank *)self)->world->size;
}

static inline int fake_gather_all(void *self, void *data, const size_t *offsets)
{
    fake_rank *me = self;
    fake_world *world = me->world;

    if (world->fails)
        return world->fails;
    world->shown[me->rank] = data;
    if (me->rank == 0)
        world->gathers++;
    pthread_barrier_wait(&world->barrier);
    for (size_t r = 0; r < world->size; r++) {
        if (r != me->rank && offsets[r + 1] > offsets[r])
            memcpy((char *)data + offsets[r], (char *)world->shown[r] + offsets[r], offsets[r + 1] - offsets[r]);
    }
    pthread_barrier_wait(&world->barrier);
    return 0;
}

static inline int fake_broadcast(void *self, void *data, size_t bytes)
{
    fake_rank *me = self;
    fake_world *world = me->world;

    if (world->fails)
        return world->fails;
    world->shown[me->rank] = data;
    pthread_barrier_wait(&world->barrier);
    if (me->rank != 0)
        memcpy(data, world->shown[0], bytes);
    pthread_barrier_wait(&world->barrier);
    return 0;
}

static inline int fake_send(void *self, size_t to, const void *data, size_t bytes)
{
    fake_rank *me = self;
    fake_message *message = malloc(sizeof *message + bytes), **at;

    message->next = NULL;
    message->bytes = bytes;
    memcpy(message->data, data, bytes);
    pthread_mutex_lock(&me->world->lock);
    for (at = &me->world->boxes[me->rank][to]; *at; at = &(*at)->next)
        continue;
    *at = message;
    pthread_cond_broadcast(&me->world->arrived);
    pthread_mutex_unlock(&me->world->lock);
    return 0;
}

static inline int fake_probe(void *self, size_t from, double seconds, size_t *bytes)
{
    fake_rank *me = self;
    struct timespec until;
    int late = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&me->world->lock);
    while (!me->world->boxes[from][me->rank] && !late)
        late = pthread_cond_timedwait(&me->world->arrived, &me->world->lock, &until);
    *bytes = me->world->boxes[from][me->rank] ? me->world->boxes[from][me->rank]->bytes : 0;
    pthread_mutex_unlock(&me->world->lock);
    return 0;
}

static inline int fake_receive(void *self, size_t from, void *data, size_t bytes)
{
    fake_rank *me = self;
    fake_message *message;

    pthread_mutex_lock(&me->world->lock);
    message = me->world->boxes[from][me->rank];
    if (message)
        me->world->boxes[from][me->rank] = message->next;
    pthread_mutex_unlock(&me->world->lock);
    if (!message || message->bytes != bytes)
        return 7;
    memcpy(data, message->data, bytes);
    free(message);
    return 0;
}

static inline void fake_explain(void *self, int code, char *text, size_t size)
{
    (void)self;
    (void)snprintf(text, size, "fake error %d", code);
}

static const pn_ranks_ops fake_ops = {
    .version = PN_RANKS_VERSION,
    .name = "fake",
    .rank = fake_rank_of,
    .size = fake_size_of,
    .gather_all = fake_gather_all,
    .broadcast = fake_broadcast,
    .send = fake_send,
    .probe = fake_probe,
    .receive = fake_receive,
    .explain = fake_explain,
};

/* ---- a program of `size` ranks ---- */

static inline void fake_open(fake_world *world, size_t size)
{
    memset(world, 0, sizeof *world);
    world->size = size;
    pthread_barrier_init(&world->barrier, NULL, (unsigned)size);
    pthread_mutex_init(&world->lock, NULL);
    pthread_cond_init(&world->arrived, NULL);
}

/* With what nobody has read. */
static inline void fake_close(fake_world *world)
{
    for (size_t from = 0; from < world->size; from++) {
        for (size_t to = 0; to < world->size; to++) {
            for (fake_message *next, *at = world->boxes[from][to]; at; at = next) {
                next = at->next;
                free(at);
            }
        }
    }
    pthread_barrier_destroy(&world->barrier);
    pthread_mutex_destroy(&world->lock);
    pthread_cond_destroy(&world->arrived);
}

typedef void (*fake_main)(pn_ranks *ranks, void *argument);

typedef struct fake_start {
    fake_rank self;
    fake_main body;
    void *argument;
} fake_start;

static inline void *fake_thread(void *context)
{
    fake_start *start = context;
    pn_ranks *ranks = NULL;
    pn_err err;

    if (pn_ranks_new(&ranks, &fake_ops, &start->self, &err) != PN_OK)
        abort();
    start->body(ranks, start->argument);
    pn_ranks_free(ranks);
    return NULL;
}

/* body(ranks, argument) on `size` threads at once.  CHECK is not for threads: let them write what they found. */
static inline void fake_run(fake_world *world, size_t size, fake_main body, void *argument)
{
    pthread_t threads[FAKE_MOST];
    fake_start starts[FAKE_MOST];

    fake_open(world, size);
    for (size_t r = 0; r < size; r++) {
        starts[r] = (fake_start){ { world, r }, body, argument };
        if (pthread_create(&threads[r], NULL, fake_thread, &starts[r]) != 0)
            abort();
    }
    for (size_t r = 0; r < size; r++)
        pthread_join(threads[r], NULL);
    fake_close(world);
}

#endif
