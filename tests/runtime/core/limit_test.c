/* limit_test.c -- what a host does to a task: a limit of wall clock, a stop that nothing forgets, a second listener.
 * Depends on: check.h, POSIX. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <time.h>

#include "core/task.h"

#include "check.h"

static void rest(double seconds)
{
    struct timespec pause = { (time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds)) };

    (void)nanosleep(&pause, NULL);
}

static void nothing(void *self, size_t block, unsigned worker)
{
    (void)self;
    (void)block;
    (void)worker;
}

static void past_the_deadline_all_work_stops(unsigned threads)
{
    pn_task *task;
    pn_err err;

    CHECK(pn_task_new(&task, threads, NULL) == PN_OK);
    pn_task_govern(task, 3600.0);
    CHECK(pn_task_report(task, "work", 1.0, 2.0, &err) == PN_OK);
    CHECK(pn_parallel(task, 10, nothing, NULL, &err) == PN_OK);
    pn_task_govern(task, 1e-6);
    rest(2e-3);
    CHECK(pn_task_cancelled(task));
    CHECK(pn_task_report(task, "work", 1.0, 2.0, &err) == PN_ELIMIT && err.status == PN_ELIMIT);
    CHECK(strcmp(err.message, "work: the limit of time was reached") == 0);
    CHECK(pn_parallel(task, 10, nothing, NULL, &err) == PN_ELIMIT);
    pn_task_reset(task); /* forgets a cancel, not the limit */
    CHECK(pn_task_stopped(task, NULL, &err) == PN_ELIMIT);
    CHECK(strcmp(err.message, "the limit of time was reached") == 0);
    pn_task_cancel(task);
    CHECK(pn_task_report(task, "work", 1.0, 2.0, &err) == PN_ECANCELLED); /* who asked, before what ran out */
    pn_task_reset(task);
    pn_task_govern(task, 0.0);
    CHECK(pn_task_report(task, "work", 1.0, 2.0, &err) == PN_OK);
    pn_task_free(task);
}

typedef struct slow_loop {
    double seconds;
    size_t done[4];
} slow_loop;

static void slow_block(void *self, size_t block, unsigned worker)
{
    slow_loop *loop = self;

    (void)block;
    rest(loop->seconds);
    loop->done[worker]++;
}

static void a_loop_ends_soon_after_its_deadline(unsigned threads)
{
    slow_loop loop = { 1e-3, { 0 } };
    size_t done = 0;
    pn_task *task;

    CHECK(pn_task_new(&task, threads, NULL) == PN_OK);
    pn_task_govern(task, 5e-3);
    CHECK(pn_parallel(task, 1000000, slow_block, &loop, NULL) == PN_ELIMIT);
    for (size_t i = 0; i < 4; i++)
        done += loop.done[i];
    CHECK(done <= 4 * 6); /* each took a millisecond at least */
    pn_task_free(task);
}

static void a_halt_holds_until_the_next_piece_of_work(void)
{
    pn_task *task;
    pn_err err;

    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    pn_task_halt(task);
    pn_task_reset(task);
    CHECK(pn_task_cancelled(task));
    CHECK(pn_task_report(task, "work", 0.0, 1.0, &err) == PN_ECANCELLED);
    pn_task_govern(task, 0.0);
    CHECK(!pn_task_cancelled(task));
    CHECK(pn_task_stopped(NULL, "work", &err) == PN_OK);
    CHECK(pn_is_stop(PN_ECANCELLED) && pn_is_stop(PN_ELIMIT) && !pn_is_stop(PN_OK) && !pn_is_stop(PN_ENOMEM));
    pn_task_free(task);
}

typedef struct ear {
    int heard, order;
    int *clock;
    pn_status answer;
} ear;

static pn_status listen(void *self, const pn_progress *progress, pn_err *err)
{
    ear *one = self;

    one->heard += progress->done == progress->total;
    one->order = ++*one->clock;
    return one->answer == PN_OK ? PN_OK : pn_fail(err, one->answer, "enough");
}

static void a_watcher_hears_before_the_listener_and_may_stop_the_work(void)
{
    int clock = 0;
    ear watcher = { 0, 0, &clock, PN_OK }, listener = { 0, 0, &clock, PN_OK };
    pn_task *task;
    pn_err err;

    CHECK(pn_task_new(&task, 1, NULL) == PN_OK);
    CHECK(!pn_task_watched(task) && !pn_task_watched(NULL));
    pn_task_watch(task, listen, &watcher);
    CHECK(pn_task_watched(task));
    CHECK(pn_task_report(task, "work", 1.0, 1.0, &err) == PN_OK && watcher.heard == 1);
    pn_task_listen(task, listen, &listener);
    CHECK(pn_task_report(task, "work", 1.0, 1.0, &err) == PN_OK);
    CHECK(watcher.heard == 2 && listener.heard == 1 && watcher.order < listener.order);
    watcher.answer = PN_ECALLBACK;
    CHECK(pn_task_report(task, "work", 1.0, 1.0, &err) == PN_ECALLBACK && strcmp(err.message, "enough") == 0);
    CHECK(listener.heard == 1);
    pn_task_watch(task, NULL, NULL);
    CHECK(pn_task_report(task, "work", 1.0, 1.0, &err) == PN_OK && listener.heard == 2 && watcher.heard == 3);
    pn_task_free(task);
}

int main(void)
{
    past_the_deadline_all_work_stops(1);
    past_the_deadline_all_work_stops(3);
    a_loop_ends_soon_after_its_deadline(1);
    a_loop_ends_soon_after_its_deadline(4);
    a_halt_holds_until_the_next_piece_of_work();
    a_watcher_hears_before_the_listener_and_may_stop_the_work();
    return check_summary();
}
