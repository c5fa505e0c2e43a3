/* task.c -- progress, cancellation, and a small pool of threads that wait between parallel loops.
 * Depends on: task.h, account.h, alloc.h, process.h, POSIX threads.  Used by: every room. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "core/account.h"
#include "core/alloc.h"
#include "core/process.h"
#include "core/task.h"
#include "core/vault.h"

#define REPORT_INTERVAL_NS 20000000 /* 20 ms: smooth to the eye, free to the loop */
#define MAX_THREADS        256

typedef struct worker {
    pn_task *task;
    pthread_t thread;
    unsigned index;
} worker;

struct pn_task {
    atomic_int cancelled, halted;
    _Atomic int64_t deadline_ns; /* 0: none */
    pn_progress_fn listener, watcher;
    void *listener_self, *watcher_self;
    int64_t last_report_ns;
    pid_t owner; /* threads do not survive fork: a child works alone */

    unsigned helpers;
    worker *workers;
    pthread_mutex_t lock;
    pthread_cond_t work_ready, work_done;
    unsigned long generation; /* counts parallel loops; a helper sleeps until it changes */
    unsigned running;
    bool closing, in_parallel;
    pn_block_fn body;
    void *body_self;
    pn_account *account; /* of who started the loop */
    size_t blocks;
    atomic_size_t next_block;
};

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void work_on_blocks(pn_task *task, unsigned index)
{
    while (!pn_task_cancelled(task)) {
        size_t block = atomic_fetch_add_explicit(&task->next_block, 1, memory_order_relaxed);

        if (block >= task->blocks)
            return;
        task->body(task->body_self, block, index);
    }
}

static void *helper_main(void *argument)
{
    worker *self = argument;
    pn_task *task = self->task;
    unsigned long seen = 0;

    pthread_mutex_lock(&task->lock);
    for (;;) {
        while (task->generation == seen && !task->closing)
            pthread_cond_wait(&task->work_ready, &task->lock);
        if (task->closing)
            break;
        seen = task->generation;
        pthread_mutex_unlock(&task->lock);
        (void)pn_account_enter(task->account);
        work_on_blocks(task, self->index);
        pn_vault_burn();
        (void)pn_account_enter(NULL);
        pthread_mutex_lock(&task->lock);
        if (--task->running == 0)
            pthread_cond_signal(&task->work_done);
    }
    pthread_mutex_unlock(&task->lock);
    return NULL;
}

/* Signals are for the threads of the host. */
static void start_helpers(pn_task *task, unsigned wanted)
{
    sigset_t all, before;

    (void)sigfillset(&all);
    if (pthread_sigmask(SIG_SETMASK, &all, &before) != 0)
        return;
    while (task->helpers < wanted) {
        worker *next = &task->workers[task->helpers];

        next->task = task;
        next->index = task->helpers + 1; /* worker 0 is the caller */
        if (pthread_create(&next->thread, NULL, helper_main, next) != 0)
            break;
        task->helpers++;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

pn_status pn_task_new(pn_task **out, unsigned threads, pn_err *err)
{
    pn_task *task = pn_calloc(1, sizeof *task);
    long online = sysconf(_SC_NPROCESSORS_ONLN);

    if (threads == 0)
        threads = online > 0 ? (unsigned)online : 1;
    if (threads > MAX_THREADS)
        threads = MAX_THREADS;
    if (task)
        task->workers = pn_calloc(threads, sizeof *task->workers);
    if (!task || !task->workers) {
        pn_free(task);
        return pn_fail(err, PN_ENOMEM, "task: out of memory");
    }
    atomic_init(&task->cancelled, 0);
    atomic_init(&task->halted, 0);
    atomic_init(&task->deadline_ns, 0);
    atomic_init(&task->next_block, 0);
    task->owner = pn_process();
    task->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; /* unlike pthread_mutex_init, it cannot fail */
    task->work_ready = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    task->work_done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    start_helpers(task, threads - 1);
    *out = task;
    return PN_OK;
}

static void join_helpers(pn_task *task)
{
    pthread_mutex_lock(&task->lock);
    task->closing = true;
    pthread_cond_broadcast(&task->work_ready);
    pthread_mutex_unlock(&task->lock);
    for (unsigned i = 0; i < task->helpers; i++)
        pthread_join(task->workers[i].thread, NULL);
    pthread_cond_destroy(&task->work_ready);
    pthread_cond_destroy(&task->work_done);
    pthread_mutex_destroy(&task->lock);
}

void pn_task_free(pn_task *task)
{
    if (!task)
        return;
    if (task->owner == pn_process()) /* in a forked child there is nobody to join */
        join_helpers(task);
    pn_free(task->workers);
    pn_free(task);
}

void pn_task_listen(pn_task *task, pn_progress_fn listener, void *self)
{
    task->listener = listener;
    task->listener_self = self;
    task->last_report_ns = 0;
}

void pn_task_cancel(pn_task *task)
{
    atomic_store(&task->cancelled, 1);
}

void pn_task_reset(pn_task *task)
{
    atomic_store(&task->cancelled, 0);
}

bool pn_task_cancelled(const pn_task *task)
{
    int64_t deadline;

    if (!task)
        return false;
    if (atomic_load_explicit(&task->cancelled, memory_order_relaxed) ||
        atomic_load_explicit(&task->halted, memory_order_relaxed))
        return true;
    deadline = atomic_load_explicit(&task->deadline_ns, memory_order_relaxed);
    return deadline && now_ns() >= deadline;
}

pn_status pn_task_stopped(const pn_task *task, const char *owner, pn_err *err)
{
    const char *between = owner ? ": " : "";

    if (!pn_task_cancelled(task))
        return PN_OK;
    owner = owner ? owner : "";
    if (atomic_load(&task->cancelled) || atomic_load(&task->halted))
        return pn_fail(err, PN_ECANCELLED, "%.200s%sstopped by the user", owner, between);
    return pn_fail(err, PN_ELIMIT, "%.200s%sthe limit of time was reached", owner, between);
}

bool pn_is_stop(pn_status status)
{
    return status == PN_ECANCELLED || status == PN_ELIMIT;
}

void pn_task_govern(pn_task *task, double seconds)
{
    int64_t end = seconds > 0.0 && seconds < 1e9 ? now_ns() + (int64_t)(seconds * 1e9) : 0;

    atomic_store(&task->deadline_ns, end);
    atomic_store(&task->halted, 0);
}

void pn_task_halt(pn_task *task)
{
    atomic_store(&task->halted, 1);
}

void pn_task_watch(pn_task *task, pn_progress_fn watcher, void *self)
{
    task->watcher = watcher;
    task->watcher_self = self;
}

bool pn_task_watched(const pn_task *task)
{
    return task && task->watcher;
}

unsigned pn_task_threads(const pn_task *task)
{
    return task && task->owner == pn_process() ? task->helpers + 1 : 1;
}

bool pn_task_heard(const pn_task *task)
{
    return task && (task->listener || task->watcher) && now_ns() - task->last_report_ns >= REPORT_INTERVAL_NS;
}

/* The end is always heard. */
pn_status pn_task_tell(pn_task *task, const pn_progress *progress, pn_err *err)
{
    bool end = progress->total > 0.0 && progress->done >= progress->total;
    pn_status status = pn_task_stopped(task, progress->label, err);
    int64_t now;

    if (status != PN_OK || !task || !(task->listener || task->watcher))
        return status;
    now = now_ns();
    if (!end && now - task->last_report_ns < REPORT_INTERVAL_NS)
        return PN_OK;
    task->last_report_ns = now;
    if (task->watcher)
        status = task->watcher(task->watcher_self, progress, err);
    if (status == PN_OK && task->listener)
        status = task->listener(task->listener_self, progress, err);
    return status;
}

pn_status pn_task_report(pn_task *task, const char *label, double done, double total, pn_err *err)
{
    const pn_progress progress = { label, done, total, NAN, NAN, NAN, NULL };

    return pn_task_tell(task, &progress, err);
}

static void run_alone(pn_task *task, size_t blocks, pn_block_fn body, void *self)
{
    for (size_t block = 0; block < blocks && !pn_task_cancelled(task); block++)
        body(self, block, 0);
}

static void run_together(pn_task *task, size_t blocks, pn_block_fn body, void *self)
{
    task->in_parallel = true;
    pthread_mutex_lock(&task->lock);
    task->body = body;
    task->body_self = self;
    task->account = pn_account_current();
    task->blocks = blocks;
    atomic_store(&task->next_block, 0);
    task->running = task->helpers;
    task->generation++;
    pthread_cond_broadcast(&task->work_ready);
    pthread_mutex_unlock(&task->lock);

    work_on_blocks(task, 0);

    pthread_mutex_lock(&task->lock);
    while (task->running > 0)
        pthread_cond_wait(&task->work_done, &task->lock);
    pthread_mutex_unlock(&task->lock);
    task->in_parallel = false;
}

pn_status pn_parallel(pn_task *task, size_t blocks, pn_block_fn body, void *self, pn_err *err)
{
    if (pn_task_threads(task) == 1 || blocks < 2 || task->in_parallel)
        run_alone(task, blocks, body, self);
    else
        run_together(task, blocks, body, self);
    return pn_task_stopped(task, NULL, err);
}
