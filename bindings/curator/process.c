/* process.c -- a script in a process of its own: the curator's end of the socket.  It starts the program, sends the
 * script and descriptors of the records, charges the ledger when it is asked to, and takes what the script printed and
 * returned as the words of a stranger.
 * Depends on: curator_impl.h, wire.h, data/shared.h, POSIX (posix_spawn), Linux (pidfd).  Used by: curator.c. */
#define _GNU_SOURCE /* posix_spawn's closefrom and setsid */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bindings/curator/curator_impl.h"
#include "bindings/curator/serve.h"
#include "bindings/curator/wire.h"
#include "core/file.h"
#include "core/mutant.h"
#include "core/stop.h"
#include "data/shared.h"

#define LOOK_MS      20   /* between two looks whether to stop */
#define START_LIMIT  60.0 /* seconds for the program to be ready */
#define GRACE        0.5  /* seconds beyond the limit, after which a process that has not ended by itself is killed */
#define MOST_SAID    ((size_t)1 << 20) /* bytes; the sandbox stops much earlier */
#define MOST_OPTIONS 16

typedef struct line {
    pnl_host_channel channel;
    char *text;
    size_t size;
} line;

typedef struct talk {
    pnl_curator *curator;
    const pnl_script *script;
    int fd; /* -1 once it is closed */
    pid_t pid;
    double deadline; /* on the monotonic clock */
    bool ready, timed_out;
    pnl_frame in, out;
    pnl_growth growth;
    line *lines; /* what was said, which is told when the script has ended */
    size_t count, room, said;
} talk;

static double now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* ---- starting ---- */

/* What the program needs of the environment to compute as this process does, and nothing else of it. */
static const char *const kept[] = {
    "OPENBLAS_CORETYPE",
    "OPENBLAS_L2_SIZE",
    "PN_SIMD",
    "LD_LIBRARY_PATH",
    "ASAN_OPTIONS",
    "UBSAN_OPTIONS",
#ifdef PN_MUTANTS
    "PENUMBRA_MUTANT",
#endif
    NULL,
};

static char *setting(const char *name, const char *value)
{
    size_t size = strlen(name) + strlen(value) + 2;
    char *text = pn_alloc(size, 1);

    if (text)
        (void)snprintf(text, size, "%s=%s", name, value);
    return text;
}

static void free_environment(char *env[MOST_OPTIONS])
{
    for (size_t i = 0; i < MOST_OPTIONS; i++)
        pn_free(env[i]);
}

static bool make_environment(char *env[MOST_OPTIONS], unsigned threads)
{
    char number[16];
    size_t count = 0;

    memset(env, 0, MOST_OPTIONS * sizeof *env);
    for (size_t i = 0; kept[i]; i++) {
        const char *value = getenv(kept[i]);

        if (value && !(env[count++] = setting(kept[i], value)))
            return false;
    }
    (void)snprintf(number, sizeof number, "%u", threads);
    return threads == 0 || (env[count] = setting("OPENBLAS_NUM_THREADS", number));
}

/* Standard streams lead nowhere, but for reports of sanitizers; the socket is PNL_SERVE_DESCRIPTOR,
 * and there are no others. */
static int add_descriptors(posix_spawn_file_actions_t *actions, int socket)
{
    int failed = posix_spawn_file_actions_addopen(actions, 0, "/dev/null", O_RDWR, 0);

    failed |= posix_spawn_file_actions_adddup2(actions, 0, 1);
#ifndef __SANITIZE_ADDRESS__
    failed |= posix_spawn_file_actions_adddup2(actions, 0, 2);
#endif
    failed |= posix_spawn_file_actions_adddup2(actions, socket, PNL_SERVE_DESCRIPTOR);
    failed |= posix_spawn_file_actions_addclosefrom_np(actions, PNL_SERVE_DESCRIPTOR + 1);
    return failed;
}

/* A session of its own: keys pressed at the host's terminal are not for it. */
static int spawn(pid_t *pid, const char *program, int socket, char **env)
{
    char *const argv[] = { (char *)"penumbra", (char *)"--curated", NULL };
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t how;
    sigset_t none;
    int failed;

    if (posix_spawn_file_actions_init(&actions) != 0)
        return ENOMEM;
    if (posix_spawnattr_init(&how) != 0) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return ENOMEM;
    }
    (void)sigemptyset(&none);
    failed = add_descriptors(&actions, socket);
    failed |= posix_spawnattr_setsigmask(&how, &none);
    failed |= posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
    if (failed == 0)
        failed = posix_spawn(pid, program, &actions, &how, argv, env);
    (void)posix_spawnattr_destroy(&how);
    (void)posix_spawn_file_actions_destroy(&actions);
    return failed;
}

static pn_status no_program(const char *program, int failure, pn_err *err)
{
    if (failure == ENOMEM)
        return pn_fail(err, PN_ENOMEM, "curator: out of memory for the script's process");
    if (!program)
        return pn_fail(err, PN_EIO,
                       "curator: the program penumbra, which runs a script in a process of its own, is not beside this "
                       "library; give its path (program=), or let scripts run in this process (process=false)");
    return pn_fail(err, PN_EIO,
                   "curator: %.200s could not be started: %s; give the path of penumbra (program=), or let scripts run "
                   "in this process (process=false)",
                   program, strerror(failure));
}

static pn_status start_program(talk *self, int socket, pn_err *err)
{
    pnl_curator *curator = self->curator;
    char *found = NULL, *env[MOST_OPTIONS];
    bool made = make_environment(env, curator->limits.threads) && (curator->program || pnl_find_program(&found));
    const char *program = curator->program ? curator->program : found;
    int failure = !made ? ENOMEM : program ? spawn(&self->pid, program, socket, env) : ENOENT;
    pn_status status = failure == 0 ? PN_OK : no_program(program, failure, err);

    free_environment(env);
    pn_free(found);
    return status;
}

/* Whoever cancels may do so from now on. */
static pn_status announce(talk *self, pn_err *err)
{
    pnl_curator *curator = self->curator;
    int process = (int)syscall(SYS_pidfd_open, self->pid, 0);

    if (process < 0)
        return pn_fail(err, PN_EIO, "curator: the script's process cannot be watched: %s", strerror(errno));
    (void)pthread_mutex_lock(&curator->lock);
    curator->process = process;
    (void)pthread_mutex_unlock(&curator->lock);
    return PN_OK;
}

static pn_status start(talk *self, pn_err *err)
{
    int ends[2];
    pn_status status;

    if (!pn_file_socket_pair(ends))
        return pn_fail(err, PN_EIO, "curator: cannot open a socket to the script's process: %s", strerror(errno));
    self->fd = ends[0];
    status = start_program(self, ends[1], err);
    (void)close(ends[1]);
    return status == PN_OK ? announce(self, err) : status;
}

/* ---- the end of the process, whatever it was ---- */

static void stop(talk *self)
{
    pnl_curator *curator = self->curator;
    int process;

    (void)pthread_mutex_lock(&curator->lock);
    process = curator->process;
    curator->process = -1;
    (void)pthread_mutex_unlock(&curator->lock);
    if (self->fd >= 0)
        (void)close(self->fd);
    if (self->pid > 0 && process >= 0)
        (void)syscall(SYS_pidfd_send_signal, process, SIGKILL, NULL, 0);
    else if (self->pid > 0)
        (void)kill(self->pid, SIGKILL);
    while (self->pid > 0 && waitpid(self->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    if (process >= 0)
        (void)close(process);
    for (size_t i = 0; i < self->count; i++)
        pn_free(self->lines[i].text);
    pn_free(self->lines);
    pnl_frame_clear(&self->in);
    pnl_frame_clear(&self->out);
}

static bool is_cancelled(pnl_curator *curator)
{
    bool cancelled;

    (void)pthread_mutex_lock(&curator->lock);
    cancelled = curator->cancelled;
    (void)pthread_mutex_unlock(&curator->lock);
    return cancelled;
}

/* In the words of a script that ran in this process and was stopped (host_limits.c). */
static pn_status stopped(const talk *self, pn_status status, pn_err *err)
{
    double seconds = self->curator->limits.seconds;

    if (status == PN_ECANCELLED)
        return pn_fail(err, status, "%.100s: stopped by the host", self->script->name);
    return pn_fail(err, PN_ELIMIT, "%.100s: the limit of %g second%s was reached", self->script->name, seconds,
                   seconds == 1.0 ? "" : "s");
}

static pn_status look(talk *self, pn_err *err)
{
    if (is_cancelled(self->curator))
        return stopped(self, PN_ECANCELLED, err);
    if (now() >= self->deadline)
        return self->ready
                   ? stopped(self, PN_ELIMIT, err)
                   : pn_fail(err, PN_ELIMIT, "curator: the script's process was not ready in %g seconds", START_LIMIT);
    return pn_stop_asked(err) == PN_OK ? PN_OK : stopped(self, PN_ECANCELLED, err);
}

static pn_status until_ready(void *object, int fd, short events, pn_err *err)
{
    struct pollfd at = { .fd = fd, .events = events };
    pn_status status = PN_OK;

    while (status == PN_OK && poll(&at, 1, LOOK_MS) <= 0)
        status = look(object, err);
    return status;
}

/* ---- sending what it needs ---- */

static void write_start(pnl_frame *out, const pnl_curator *curator, const pnl_script *script)
{
    const pnl_host_options *limits = &curator->limits;
    const pn_budget *budget = pn_ledger_budget(curator->ledger);

    pnl_frame_begin(out, PNL_FRAME_START);
    pnl_put_text(out, pn_version(), strlen(pn_version()));
    pnl_put_count(out, limits->memory_bytes);
    pnl_put_real(out, limits->seconds);
    pnl_put_count(out, limits->instructions);
    pnl_put_count(out, limits->threads);
    pnl_put_count(out, limits->progress != NULL);
    pnl_put_real(out, budget->epsilon);
    pnl_put_real(out, budget->delta);
    pnl_put_real(out, budget->rho);
    pnl_put_real(out, budget->alpha);
    pnl_put_count(out, budget->neighbours);
    pnl_put_count(out, budget->gaussian);
    pnl_put_text(out, script->name, strlen(script->name));
    pnl_put_text(out, script->code, script->size);
    pnl_put_count(out, curator->count);
}

static pn_status send_data(talk *self, pnl_registered *data, pn_err *err)
{
    PN_TRY(data->shared >= 0 ? PN_OK : pn_dataset_publish(&data->shared, &data->view, err));
    pnl_frame_begin(&self->out, PNL_FRAME_DATA);
    pnl_put_text(&self->out, data->name, strlen(data->name));
    return pnl_frame_send(&self->out, self->fd, data->shared, until_ready, self, err);
}

static pn_status send_everything(talk *self, pn_err *err)
{
    pnl_curator *curator = self->curator;
    pn_status status;

    write_start(&self->out, curator, self->script);
    status = pnl_frame_send(&self->out, self->fd, -1, until_ready, self, err);
    for (size_t i = 0; status == PN_OK && i < curator->count; i++)
        status = send_data(self, curator->data[i], err);
    return status;
}

/* ---- taking what comes ---- */

static pn_status strange(pn_err *err)
{
    return pn_fail(err, PN_EIO,
                   "curator: the script's process sent a message that is not of the protocol, and was "
                   "killed");
}

static pn_status take_question(talk *self, pn_err *err)
{
    pn_ledger_question question;
    pn_ledger_answer answer = { 0 };
    pn_err own;

    pnl_get_question(&self->in, &question);
    if (!pnl_frame_done(&self->in))
        return strange(err);
    if (question.wish == PN_WISH_SPEND && !pnl_growth_allowed(&self->growth, self->curator->ledger)) {
        answer.status = pnl_growth_refused(&own);
        (void)snprintf(answer.text, sizeof answer.text, "%s", own.message);
    } else {
        pn_ledger_answer_to(self->curator->ledger, &question, &answer);
    }
    pnl_frame_begin(&self->out, PNL_FRAME_ANSWER);
    pnl_put_answer(&self->out, &answer);
    return pnl_frame_send(&self->out, self->fd, -1, until_ready, self, err);
}

static pn_status take_progress(talk *self, pn_err *err)
{
    const pnl_host_options *limits = &self->curator->limits;
    pn_progress progress = { 0 };
    pn_err own = { 0 };
    pn_status status;

    progress.label = pnl_get_text(&self->in, NULL);
    progress.done = pnl_get_real(&self->in);
    progress.total = pnl_get_real(&self->in);
    progress.value = pnl_get_real(&self->in);
    progress.spent = pnl_get_real(&self->in);
    progress.budget = pnl_get_real(&self->in);
    progress.unit = pnl_get_text(&self->in, NULL);
    if (!pnl_frame_done(&self->in) || !limits->progress)
        return strange(err);
    progress.label = progress.label ? progress.label : "";
    status = limits->progress(limits->self, &progress, &own);
    pnl_frame_begin(&self->out, PNL_FRAME_HEARD);
    pnl_put_count(&self->out, status);
    pnl_put_text(&self->out, own.message, status == PN_OK ? 0 : strlen(own.message));
    return pnl_frame_send(&self->out, self->fd, -1, until_ready, self, err);
}

static pn_status take_output(talk *self, pn_err *err)
{
    uint64_t channel = pnl_get_count(&self->in);
    size_t size;
    const char *text = pnl_get_text(&self->in, &size);
    line *more;

    if (!pnl_frame_done(&self->in) || !text || channel > PNL_WARNING || size > MOST_SAID - self->said)
        return strange(err);
    if (self->count == self->room) {
        more = pn_resize(self->lines, 2 * self->room + 16, sizeof *more);
        PN_TRY(pn_made(more, err, "curator: out of memory for what the script printed"));
        self->lines = more;
        self->room = 2 * self->room + 16;
    }
    self->said += size + 1;
    self->lines[self->count] = (line){ (pnl_host_channel)channel, pn_alloc(size + 1, 1), size };
    PN_TRY(pn_made(self->lines[self->count].text, err, "curator: out of memory for what the script printed"));
    memcpy(self->lines[self->count++].text, text, size + 1);
    return self->said <= MOST_SAID ? PN_OK : strange(err);
}

static void tell_lines(const talk *self)
{
    const pnl_host_options *limits = &self->curator->limits;

    for (size_t i = 0; i < self->count; i++)
        limits->log(limits->self, self->lines[i].channel, self->lines[i].text, self->lines[i].size);
}

/* What was printed is told as inside.c tells it: not of a script that time or the host ended. */
static pn_status take_end(talk *self, char **answer, pn_err *err)
{
    pn_status status = pnl_get_status(&self->in);
    const char *text = pnl_get_text(&self->in, NULL);
    bool by_time = text && status == PN_ELIMIT && strstr(text, "second"), cancelled = is_cancelled(self->curator);

    if (!pnl_frame_done(&self->in) || !text || (status == PN_OK && !self->ready)) /* no answer before the question */
        return strange(err);
    if (cancelled)
        return stopped(self, PN_ECANCELLED, err);
    if (!by_time && status != PN_ECANCELLED)
        tell_lines(self);
    if (status != PN_OK)
        return pn_fail(err, status, "%s", text);
    if (!answer)
        return PN_OK;
    *answer = pn_strdup(text);
    return *answer ? PN_OK : pn_fail(err, PN_ENOMEM, "curator: out of memory for the answer");
}

/* The socket was closed at the other end. */
static pn_status ended_by_itself(talk *self, pn_err *err)
{
    siginfo_t how = { 0 };

    if (is_cancelled(self->curator))
        return stopped(self, PN_ECANCELLED, err);
    (void)waitid(P_PIDFD, (id_t)self->curator->process, &how, WEXITED | WNOWAIT);
    if (how.si_code == CLD_KILLED || how.si_code == CLD_DUMPED)
        return pn_fail(err, PN_EIO, "%.100s: its process was ended by the system: %s", self->script->name,
                       strsignal(how.si_status));
    return pn_fail(err, PN_EIO, "%.100s: its process ended before the script did", self->script->name);
}

static pn_status converse(talk *self, char **answer, pn_err *err)
{
    for (;;) {
        pn_status status = pnl_frame_receive(&self->in, self->fd, PNL_FRAME_FROM_SCRIPT, NULL, until_ready, self, err);

        if (status != PN_OK)
            return status;
        if (self->in.kind == PNL_FRAME_END)
            return take_end(self, answer, err);
        if (self->in.kind == PNL_FRAME_READY && !self->ready) {
            self->ready = true;
            self->deadline = now() + self->curator->limits.seconds + GRACE;
        } else if (self->in.kind == PNL_FRAME_QUESTION && self->ready) {
            status = take_question(self, err);
        } else if (self->in.kind == PNL_FRAME_PROGRESS && self->ready) {
            status = take_progress(self, err);
        } else if (self->in.kind == PNL_FRAME_OUTPUT && self->ready) {
            status = take_output(self, err);
        } else {
            return strange(err);
        }
        if (status == PN_OK)
            status = look(self, err);
        if (status != PN_OK)
            return status;
    }
}

pn_status pnl_script_elsewhere(pnl_curator *curator, const pnl_script *script, char **answer, pn_err *err)
{
    talk self = { .curator = curator, .script = script, .fd = -1, .deadline = now() + START_LIMIT };
    pn_status status;

    self.growth = (pnl_growth){ pn_ledger_entries(curator->ledger), 0 };
    status = start(&self, err);
    if (status == PN_OK)
        status = send_everything(&self, err);
    if (status == PN_OK)
        status = converse(&self, answer, err);
    if (status != PN_OK && (self.in.gone || self.out.gone))
        status = ended_by_itself(&self, err);
    stop(&self);
    return status;
}
