/* process_test.c -- the process's number is right in it, in its children however they were made, and in theirs. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "core/process.h"
#include "fail_alloc.h"

/* The exit status of a child that looks: 0 when it is right there and in a child of its own. */
static int child_says(pid_t child)
{
    pid_t parent = getppid();
    int status = 0;

    if (child == 0) {
        bool right = pn_process() == getpid() && pn_process() != parent && pn_process() == getpid();
        pid_t next = fork();

        if (next == 0)
            _exit(pn_process() != getpid());
        if (waitpid(next, &status, 0) != next || status != 0)
            _exit(2);
        _exit(!right);
    }
    return waitpid(child, &status, 0) == child ? status : -1;
}

static void *ask(void *answer)
{
    *(pid_t *)answer = pn_process();
    return NULL;
}

/* The system has no page for the number: it is asked each time. */
static void right_without_a_page(void)
{
    fail_alloc memory = { .fail_at = 1, .for_good = true };

    fail_calls_ask(fail_alloc_asked, &memory);
    CHECK(pn_process() == getpid());
    CHECK(pn_process() == getpid());
    fail_calls_ask(NULL, NULL);
    CHECK(atomic_load(&memory.calls) == 2);
    CHECK(child_says(fork()) == 0);
}

int main(void)
{
    pid_t seen[4] = { 0 };
    pthread_t threads[4];

    right_without_a_page();
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, ask, &seen[i]) == 0);
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
        CHECK(seen[i] == getpid());
    }
    CHECK(pn_process() == getpid());
    CHECK(child_says(fork()) == 0);
    CHECK(child_says((pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) == 0); /* past every handler */
    CHECK(pn_process() == getpid());
    return check_summary();
}
