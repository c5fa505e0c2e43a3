/* task_test.c -- parallel loops: every block once, the same sums on any number of threads, cancel, nesting, fork.
 * Depends on: check.h, POSIX. */
#define _POSIX_C_SOURCE 200809L
#include <stdatomic.h>
#include <stdlib.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/task.h"

#include "check.h"
#include "fail_alloc.h"

#define BLOCKS 1000

static pn_task *new_task(unsigned threads)
{
    pn_task *task = NULL;
    pn_err err;

    if (!CHECK(pn_task_new(&task, threads, &err) == PN_OK))
        exit(check_summary());
    return task;
}

typedef struct tally {
    atomic_int seen[BLOCKS];
    atomic_int strangers; /* blocks whose worker number is out of range */
    unsigned threads;
} tally;

static void count_block(void *self, size_t block, unsigned worker)
{
    tally *count = self;

    atomic_fetch_add(&count->seen[block], 1);
    if (worker >= count->threads)
        atomic_fetch_add(&count->strangers, 1);
}

static bool each_seen(const tally *count, int times)
{
    bool all = true;

    for (size_t i = 0; i < BLOCKS; i++)
        all = all && atomic_load(&count->seen[i]) == times;
    return all;
}

static void every_block_runs_once_on_any_number_of_threads(void)
{
    for (unsigned threads = 1; threads <= 8; threads++) {
        pn_task *task = new_task(threads);
        tally *count = calloc(1, sizeof *count);

        if (CHECK(count != NULL)) {
            count->threads = pn_task_threads(task);
            CHECK(count->threads >= 1 && count->threads <= threads);
            for (int round = 1; round <= 20; round++) {
                CHECK(pn_parallel(task, BLOCKS, count_block, count, NULL) == PN_OK);
                CHECK(each_seen(count, round));
            }
            CHECK(atomic_load(&count->strangers) == 0);
        }
        free(count);
        pn_task_free(task);
    }
}

static void no_task_means_one_thread_that_cannot_be_stopped(void)
{
    static tally count;
    pn_err err;

    count.threads = 1;
    CHECK(pn_task_threads(NULL) == 1);
    CHECK(!pn_task_cancelled(NULL));
    CHECK(pn_parallel(NULL, BLOCKS, count_block, &count, &err) == PN_OK);
    CHECK(each_seen(&count, 1) && count.strangers == 0);
    CHECK(pn_parallel(NULL, 0, count_block, &count, &err) == PN_OK);
    CHECK(each_seen(&count, 1));
    CHECK(pn_task_report(NULL, "alone", 1, 2, &err) == PN_OK);
    pn_task_free(NULL);
}

static void default_threads_are_the_processors(void)
{
    pn_task *task = new_task(0);
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    CHECK(pn_task_threads(task) >= 1 && pn_task_threads(task) <= (unsigned)(online > 0 ? online : 1));
    pn_task_free(task);
}

/* ---- determinism: per-block results, combined in block order ---- */

static void harmonic_block(void *self, size_t block, unsigned worker)
{
    double sum = 0.0;

    (void)worker;
    for (size_t i = 1; i <= 100; i++)
        sum += 1.0 / (double)(100 * block + i);
    ((double *)self)[block] = sum;
}

static double harmonic(unsigned threads)
{
    static double part[BLOCKS];
    pn_task *task = new_task(threads);
    double sum = 0.0;

    memset(part, 0, sizeof part);
    CHECK(pn_parallel(task, BLOCKS, harmonic_block, part, NULL) == PN_OK);
    for (size_t i = 0; i < BLOCKS; i++)
        sum += part[i];
    pn_task_free(task);
    return sum;
}

static void sums_in_block_order_have_the_same_bits_on_any_number_of_threads(void)
{
    double one = harmonic(1);

    /* H_n = ln n + gamma + 1/(2n) - 1/(12 n^2) + ..., n = 100000 */
    CHECK_CLOSE(one, log(1e5) + 0.57721566490153286 + 0.5e-5 - 1e-10 / 12.0, 1e-11);
    for (unsigned threads = 2; threads <= 5; threads++) {
        double many = harmonic(threads);

        CHECK(memcmp(&one, &many, sizeof one) == 0);
    }
}

/* ---- cancel ---- */

typedef struct stopper {
    pn_task *task;
    atomic_size_t done;
} stopper;

static void stop_at_ten(void *self, size_t block, unsigned worker)
{
    stopper *state = self;

    (void)block, (void)worker;
    if (atomic_fetch_add(&state->done, 1) + 1 == 10)
        pn_task_cancel(state->task);
}

/* More blocks than other threads can do while the one that cancels is kept from the processors. */
#define NO_END 1000000000

static void cancelling_stops_between_blocks_until_reset(void)
{
    for (unsigned threads = 1; threads <= 4; threads += 3) {
        stopper state = { .task = new_task(threads) };
        pn_err err;

        CHECK(pn_parallel(state.task, NO_END, stop_at_ten, &state, &err) == PN_ECANCELLED);
        CHECK(err.status == PN_ECANCELLED);
        CHECK(atomic_load(&state.done) >= 10 && atomic_load(&state.done) < NO_END);
        CHECK(pn_task_cancelled(state.task));
        atomic_store(&state.done, 100);
        CHECK(pn_parallel(state.task, 50, stop_at_ten, &state, &err) == PN_ECANCELLED);
        CHECK(atomic_load(&state.done) == 100); /* a cancelled task starts nothing */
        CHECK(pn_task_report(state.task, "work", 1, 2, &err) == PN_ECANCELLED);
        pn_task_reset(state.task);
        CHECK(pn_parallel(state.task, 50, stop_at_ten, &state, &err) == PN_OK);
        CHECK(atomic_load(&state.done) == 150);
        pn_task_free(state.task);
    }
}

/* ---- nesting ---- */

typedef struct nest {
    pn_task *task;
    atomic_int inner, strangers;
} nest;

static void inner_block(void *self, size_t block, unsigned worker)
{
    nest *state = self;

    (void)block;
    atomic_fetch_add(&state->inner, 1);
    if (worker != 0)
        atomic_fetch_add(&state->strangers, 1);
}

static void outer_block(void *self, size_t block, unsigned worker)
{
    nest *state = self;

    (void)block, (void)worker;
    if (pn_parallel(state->task, 7, inner_block, state, NULL) != PN_OK)
        atomic_fetch_add(&state->strangers, 1);
}

static void a_nested_loop_runs_on_its_own_thread(void)
{
    nest state = { .task = new_task(4) };

    CHECK(pn_parallel(state.task, 100, outer_block, &state, NULL) == PN_OK);
    CHECK(atomic_load(&state.inner) == 700);
    CHECK(atomic_load(&state.strangers) == 0);
    pn_task_free(state.task);
}

/* ---- fork ---- */

/* What the child finds: its threads are gone, so it works alone, and freeing does not wait for them. */
static int child_of_a_fork(pn_task *task)
{
    static tally count;

    count.threads = 1;
    if (pn_task_threads(task) != 1 || pn_parallel(task, BLOCKS, count_block, &count, NULL) != PN_OK)
        return 1;
    if (!each_seen(&count, 1) || count.strangers != 0)
        return 2;
    pn_task_free(task);
    return 0;
}

static void a_forked_child_works_alone_and_frees(void)
{
    pn_task *task = new_task(3);
    static tally count;
    int how = -1;
    pid_t child = fork();

    if (child == 0)
        _exit(child_of_a_fork(task));
    CHECK(child > 0 && waitpid(child, &how, 0) == child);
    CHECK(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    count.threads = pn_task_threads(task);
    CHECK(pn_parallel(task, BLOCKS, count_block, &count, NULL) == PN_OK); /* and the parent goes on */
    CHECK(each_seen(&count, 1));
    pn_task_free(task);
}

/* ---- progress ---- */

typedef struct listener {
    int calls;
    double done, total, value, spent, budget;
    const char *unit;
    pn_status answer;
} listener;

static pn_status listen(void *self, const pn_progress *progress, pn_err *err)
{
    listener *state = self;

    state->calls++;
    state->done = progress->done;
    state->total = progress->total;
    state->value = progress->value;
    state->spent = progress->spent;
    state->budget = progress->budget;
    state->unit = progress->unit;
    return state->answer == PN_OK ? PN_OK : pn_fail(err, state->answer, "%s: the listener said so", progress->label);
}

static void listeners_hear_the_end_and_may_stop_the_work(void)
{
    pn_task *task = new_task(1);
    listener state = { .answer = PN_OK };
    bool went_on = true;
    pn_err err;

    pn_task_listen(task, listen, &state);
    for (int i = 0; i < 10000; i++)
        went_on = went_on && pn_task_report(task, "count", i, 10000, &err) == PN_OK;
    CHECK(went_on);
    CHECK(state.calls >= 1 && state.calls < 10000); /* rate-limited */
    CHECK(pn_task_report(task, "count", 10000, 10000, &err) == PN_OK);
    CHECK(state.done == 10000.0 && state.total == 10000.0); /* never swallowed */
    state.answer = PN_ECALLBACK;
    CHECK(pn_task_report(task, "count", 10000, 10000, &err) == PN_ECALLBACK);
    CHECK(strcmp(err.message, "count: the listener said so") == 0);
    pn_task_listen(task, NULL, NULL);
    CHECK(pn_task_report(task, "count", 10000, 10000, &err) == PN_OK);
    pn_task_free(task);
}

static void listeners_hear_value_and_budget_of_work_that_has_them(void)
{
    const pn_progress all = { "work", 3.0, 3.0, 0.5, 0.25, 1.0, "epsilon" };
    pn_task *task = new_task(1);
    listener state = { .answer = PN_OK };

    pn_task_listen(task, listen, &state);
    CHECK(pn_task_tell(task, &all, NULL) == PN_OK);
    CHECK(state.value == 0.5 && state.spent == 0.25 && state.budget == 1.0 && strcmp(state.unit, "epsilon") == 0);
    CHECK(pn_task_report(task, "work", 3.0, 3.0, NULL) == PN_OK);
    CHECK(isnan(state.value) && isnan(state.spent) && isnan(state.budget) && !state.unit);
    CHECK(pn_task_tell(NULL, &all, NULL) == PN_OK);
    pn_task_free(task);
}

static void reports_are_limited_in_rate_when_the_total_is_not_known(void)
{
    pn_task *task = new_task(1);
    listener state = { .answer = PN_OK };
    int heard = 0;

    CHECK(!pn_task_heard(NULL) && !pn_task_heard(task)); /* nobody listens */
    pn_task_listen(task, listen, &state);
    CHECK(pn_task_heard(task));
    for (int i = 0; i < 10000; i++) {
        heard += pn_task_heard(task);
        CHECK(pn_task_report(task, "count", i, 0, NULL) == PN_OK);
    }
    CHECK(state.calls >= 1 && state.calls < 10000);
    CHECK(heard <= state.calls); /* time passes between the question and the report, never back */
    pn_task_free(task);
}

/* ---- short memory ---- */

static pn_status make_and_run(void *self, pn_err *err)
{
    pn_task *task = NULL;
    pn_status status = pn_task_new(&task, 3, err);

    (void)self;
    pn_task_free(task);
    return status;
}

typedef struct short_of_threads {
    int allowed, asked;
} short_of_threads;

static bool no_more_threads(void *self, const void *site)
{
    short_of_threads *state = self;

    if (state->asked++ < state->allowed)
        return false;
    fail_calls_failed(site);
    return true;
}

/* As many helpers as the system gives, and at least the caller. */
static void threads_that_do_not_start_are_done_without(void)
{
    for (int allowed = 0; allowed <= 3; allowed++) {
        short_of_threads state = { allowed + 2, 0 }; /* the task and its list are two blocks */
        static tally count;
        pn_task *task;

        memset(&count, 0, sizeof count);
        fail_calls_ask(no_more_threads, &state);
        task = new_task(4);
        fail_calls_ask(NULL, NULL);
        count.threads = pn_task_threads(task);
        CHECK(count.threads == (unsigned)allowed + 1);
        CHECK(pn_parallel(task, BLOCKS, count_block, &count, NULL) == PN_OK);
        CHECK(each_seen(&count, 1) && atomic_load(&count.strangers) == 0);
        pn_task_free(task);
    }
}

int main(void)
{
    every_block_runs_once_on_any_number_of_threads();
    no_task_means_one_thread_that_cannot_be_stopped();
    default_threads_are_the_processors();
    sums_in_block_order_have_the_same_bits_on_any_number_of_threads();
    cancelling_stops_between_blocks_until_reset();
    a_nested_loop_runs_on_its_own_thread();
    a_forked_child_works_alone_and_frees();
    listeners_hear_the_end_and_may_stop_the_work();
    listeners_hear_value_and_budget_of_work_that_has_them();
    reports_are_limited_in_rate_when_the_total_is_not_known();
    fail_alloc_sweep("task", make_and_run, NULL);
    threads_that_do_not_start_are_done_without();
    return check_summary();
}
