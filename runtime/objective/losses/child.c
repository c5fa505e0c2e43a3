/* child.c -- starting, writing to and ending another program.  Depends on: child.h.  Used by: program_loss.c. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/process.h"
#include "objective/losses/child.h"

extern char **environ;

/* ---- pipes ---- */

static void close_both(const int ends[2])
{
    for (int i = 0; i < 2; i++) {
        if (ends[i] >= 0)
            (void)close(ends[i]);
    }
}

static bool never_block(int fd)
{
    int flags = fcntl(fd, F_GETFL);

    return flags >= 0 && fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
}

/* ---- start ---- */

/* An errno. */
static int spawn(pid_t *pid, const char *const *command, int input, int output)
{
    static const int plain[] = { SIGPIPE, SIGINT, SIGQUIT, SIGTERM, SIGCHLD };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, defaults;
    int code = posix_spawn_file_actions_init(&files);

    if (code != 0)
        return code;
    code = posix_spawnattr_init(&how);
    if (code != 0) {
        (void)posix_spawn_file_actions_destroy(&files);
        return code;
    }
    (void)sigemptyset(&none);
    (void)sigemptyset(&defaults);
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        (void)sigaddset(&defaults, plain[i]);
    code = posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    code = code ? code : posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    code = code ? code : posix_spawnattr_setsigmask(&how, &none);
    code = code ? code : posix_spawnattr_setsigdefault(&how, &defaults);
    code = code ? code : posix_spawnattr_setpgroup(&how, 0);
    code = code
               ? code
               : posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    /* the words are not written to: exec's type is older than const */
    code = code ? code : posix_spawnp(pid, command[0], &files, &how, (char *const *)(const void *)command, environ);
    (void)posix_spawnattr_destroy(&how);
    (void)posix_spawn_file_actions_destroy(&files);
    return code;
}

pn_status pn_child_start(pn_child *out, const char *const *command, pn_err *err)
{
    int input[2] = { -1, -1 }, output[2] = { -1, -1 };
    pid_t pid = 0;
    int code = 0;

    if (!pn_file_pipe(input) || !pn_file_pipe(output) || !never_block(input[1]) || !never_block(output[0]))
        code = errno;
    if (code == 0)
        code = spawn(&pid, command, input[0], output[1]);
    if (code != 0) {
        close_both(input);
        close_both(output);
        return pn_fail(err, PN_EIO, "cannot be started: %s", strerror(code));
    }
    (void)close(input[0]);
    (void)close(output[1]);
    *out = (pn_child){ .pid = pid, .owner = pn_process(), .input = input[1], .output = output[0] };
    return PN_OK;
}

bool pn_child_ours(const pn_child *child)
{
    return child->owner == pn_process();
}

/* ---- write ---- */

/* A library must not change how its host treats SIGPIPE: it is blocked on this thread for the length of the write, and
 * one that the write itself has raised is taken away again. */
ssize_t pn_child_write(const pn_child *child, const void *bytes, size_t count)
{
    const struct timespec at_once = { 0, 0 };
    sigset_t pipes, before, pending;
    ssize_t written;
    bool waits;
    int code;

    (void)sigemptyset(&pipes);
    (void)sigaddset(&pipes, SIGPIPE);
    (void)pthread_sigmask(SIG_BLOCK, &pipes, &before);
    (void)sigpending(&pending);
    waits = sigismember(&pending, SIGPIPE) == 1;
    written = write(child->input, bytes, count);
    code = errno;
    if (written < 0 && code == EPIPE && !waits) {
        while (sigtimedwait(&pipes, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = code;
    return written;
}

/* ---- end ---- */

typedef enum state { RUNS, ENDED, GONE } state;

/* Looked for every millisecond.  ENDED: a zombie still, so that its number stays its own;
 * GONE: our host has reaped it. */
static state wait_for_end(pid_t pid, double patience)
{
    const struct timespec pause = { 0, 1000000 };

    for (double waited = 0.0;; waited += 1e-3) {
        siginfo_t info = { 0 };
        int code = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);

        if (code == 0 && info.si_pid == pid)
            return ENDED;
        if (code != 0 && errno == ECHILD)
            return GONE;
        if (waited >= patience)
            return RUNS;
        (void)nanosleep(&pause, NULL);
    }
}

static void tell(state at, bool reaped, int how, char *fate, size_t size)
{
    if (at == RUNS)
        (void)snprintf(fate, size, "it closed its output");
    else if (reaped && WIFEXITED(how))
        (void)snprintf(fate, size, "it ended with exit code %d", WEXITSTATUS(how));
    else if (reaped && WIFSIGNALED(how))
        (void)snprintf(fate, size, "it was ended by signal %d", WTERMSIG(how));
    else
        (void)snprintf(fate, size, "it ended");
}

void pn_child_end(pn_child *child, double patience, char *fate, size_t size)
{
    pid_t reaped = 0;
    int how = 0;
    state at;

    (void)close(child->input);
    (void)close(child->output);
    if (!pn_child_ours(child))
        return;
    at = wait_for_end(child->pid, patience);
    if (at != GONE) {
        (void)kill(-child->pid, SIGKILL); /* what it has started, too */
        do {
            reaped = waitpid(child->pid, &how, 0);
        } while (reaped < 0 && errno == EINTR);
    }
    if (fate)
        tell(at, reaped == child->pid, how, fate, size);
}
