/* lworkers.c -- `require "penumbra.workers"`: a Lua function called for 1 .. count in forked processes, one a
 * processor, each of which has everything that the program had; what a call is worth comes back as a string.  Ledgers
 * refuse to be charged in a child and secure streams take new keys there,
 * so that no budget is spent twice and no noise drawn twice.
 * Depends on: progress.h, numeric/blas_threads.h, libsodium (hash), POSIX.  Used by: stdlib/experiment/init.lua,
 * stdlib/course/grade.lua (map) and submission.lua (number); not part of pn. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sodium.h>

#include "bindings/core/progress.h"
#include "bindings/privacy/lsession.h"
#include "core/file.h"
#include "numeric/blas_threads.h"

#define MAX_WORKERS 256
#define WAIT_MS     100

enum { COUNT = 1, PROCESSES, BODY, COLLECT, PROGRESS, DONE, ARGUMENTS = DONE, POOL };

/* What stands before the bytes of an answer in a pipe. */
typedef struct head {
    uint64_t index, size;
    uint64_t kind;
} head;

enum { FAILED, FINE, SPENT }; /* the message of an error, the answer; for the session, before either */

typedef struct worker {
    pid_t pid;   /* 0: has been waited for */
    int answers; /* read end; -1: closed */
    char *bytes; /* what has come */
    size_t used, room;
} worker;

typedef struct pool {
    worker workers[MAX_WORKERS];
    size_t size;
    _Atomic uint64_t *next; /* shared by all processes: the next index to be taken */
    uint64_t count, collected;
    double done; /* by earlier runs, for progress */
} pool;

/* ---- a child ---- */

static bool write_all(int out, const void *bytes, size_t size)
{
    const char *at = bytes;

    while (size > 0) {
        ssize_t written = write(out, at, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        at += written;
        size -= (size_t)written;
    }
    return true;
}

/* Ends the process where nobody hears it. */
static void tell(int out, head top, const char *bytes, size_t size)
{
    top.size = size;
    (void)fflush(NULL);
    if (!write_all(out, &top, sizeof top) || !write_all(out, bytes, size))
        _exit(EXIT_FAILURE);
}

/* What the call has spent, before its answer; in place of one, on the top, that the session could not count, why. */
static void tell_spent(lua_State *L, int out, head *top)
{
    pn_text spent = { 0 };
    pn_err err;
    pn_status status = pnl_session_spent(L, &spent, &err);

    if (status == PN_OK && spent.used > 0)
        tell(out, (head){ .index = top->index, .kind = SPENT }, spent.data, spent.used);
    pn_text_clear(&spent);
    if (status == PN_OK)
        return;
    lua_pushfstring(L, "the session cannot be told what this run has spent: %s; give processes=1", err.message);
    top->kind = FAILED;
}

/* Under pcall: answer(body, write end, index). */
static int answer(lua_State *L)
{
    int out = (int)lua_tointeger(L, 2);
    head top = { .index = (uint64_t)lua_tointeger(L, 3) };
    const char *bytes;
    size_t size;

    lua_pushvalue(L, 1);
    lua_pushvalue(L, 3);
    top.kind = lua_pcall(L, 1, 1, 0) == LUA_OK ? FINE : FAILED;
    tell_spent(L, out, &top);
    bytes = luaL_tolstring(L, -1, &size);
    tell(out, top, bytes, size);
    return 0;
}

/* Until no index is left.  An answer that cannot be given, as where memory is short, is a call that failed. */
static void serve(lua_State *L, const pool *self, int out)
{
    uint64_t index;

    while ((index = atomic_fetch_add(self->next, 1)) <= self->count) {
        lua_pushcfunction(L, answer);
        lua_pushvalue(L, BODY);
        lua_pushinteger(L, out);
        lua_pushinteger(L, (lua_Integer)index);
        if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
            const char *why = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "the answer cannot be shown";

            tell(out, (head){ .index = index, .kind = FAILED }, why, strlen(why));
            lua_pop(L, 1);
        }
    }
}

static _Noreturn void be_a_child(lua_State *L, const pool *self, int out)
{
#ifdef __linux__
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    (void)signal(SIGINT, SIG_IGN); /* the parent hears Ctrl-C and ends its children */
    for (size_t i = 0; i < self->size; i++)
        if (self->workers[i].answers >= 0)
            (void)close(self->workers[i].answers);
    (void)pn_blas_alone(0); /* a thread a process */
    pnl_session_restart(L);
    serve(L, self, out);
    (void)fflush(NULL);
    _exit(EXIT_SUCCESS);
}

/* ---- the parent ---- */

static void start_worker(lua_State *L, pool *self)
{
    worker *w = &self->workers[self->size];
    int ends[2];

    if (!pn_file_pipe(ends))
        luaL_error(L, "experiment: cannot open a pipe to a worker process: %s", strerror(errno));
    (void)fflush(NULL); /* or children would write it once more */
    w->pid = fork();
    if (w->pid == 0) {
        (void)close(ends[0]);
        be_a_child(L, self, ends[1]);
    }
    (void)close(ends[1]);
    if (w->pid < 0) {
        w->pid = 0;
        (void)close(ends[0]);
        luaL_error(L, "experiment: cannot start a worker process: %s", strerror(errno));
    }
    w->answers = ends[0];
    self->size++;
}

/* Hands the whole answers at the beginning of the buffer to collect(index, fine, bytes). */
static void collect(lua_State *L, pool *self, worker *w)
{
    size_t at = 0;
    head top;

    while (w->used - at >= sizeof top) {
        memcpy(&top, w->bytes + at, sizeof top);
        if (w->used - at - sizeof top < top.size)
            break;
        lua_pushlstring(L, w->bytes + at + sizeof top, top.size);
        at += sizeof top + top.size;
        if (top.kind == SPENT) {
            pnl_session_absorb(L, lua_tostring(L, -1));
            lua_pop(L, 1);
            continue;
        }
        lua_pushvalue(L, COLLECT);
        lua_insert(L, -2);
        lua_pushinteger(L, (lua_Integer)top.index);
        lua_insert(L, -2);
        lua_pushboolean(L, top.kind == FINE);
        lua_insert(L, -2);
        self->collected++;
        lua_call(L, 3, 0);
    }
    memmove(w->bytes, w->bytes + at, w->used - at);
    w->used -= at;
}

static void note_end(lua_State *L, worker *w)
{
    int status = 0;

    (void)close(w->answers);
    w->answers = -1;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    w->pid = 0;
    if (WIFSIGNALED(status))
        luaL_error(L, "experiment: signal %d (%s) killed a worker process in a call of run", WTERMSIG(status),
                   strsignal(WTERMSIG(status)));
    if (w->used > 0)
        luaL_error(L, "experiment: a worker process exited in the middle of an answer");
}

static void read_some(lua_State *L, pool *self, worker *w)
{
    ssize_t got;

    if (w->room - w->used < 4096) {
        char *more = pn_resize(w->bytes, w->room + w->room / 2 + 65536, 1);

        if (!more)
            pnl_no_memory(L, "experiment: out of memory");
        w->bytes = more;
        w->room += w->room / 2 + 65536;
    }
    got = read(w->answers, w->bytes + w->used, w->room - w->used);
    if (got > 0) {
        w->used += (size_t)got;
        collect(L, self, w);
    } else if (got == 0) {
        note_end(L, w);
    } else if (errno != EINTR) {
        luaL_error(L, "experiment: cannot read from a worker process: %s", strerror(errno));
    }
}

static size_t list_open(const pool *self, struct pollfd *waiting, size_t *which)
{
    size_t open = 0;

    for (size_t i = 0; i < self->size; i++) {
        if (self->workers[i].answers >= 0) {
            which[open] = i;
            waiting[open++] = (struct pollfd){ self->workers[i].answers, POLLIN, 0 };
        }
    }
    return open;
}

/* Under pcall, with the arguments of map and the pool. */
static int run_pool(lua_State *L)
{
    pool *self = lua_touserdata(L, POOL);
    size_t wanted = pnl_check_count(L, PROCESSES, "processes"), which[MAX_WORKERS], open;
    struct pollfd waiting[MAX_WORKERS];
    pn_err err;

    while (self->size < wanted && self->size < self->count)
        start_worker(L, self);
    while ((open = list_open(self, waiting, which)) > 0) {
        pn_status status = pn_task_report(pnl_task(L), "experiment", self->done + (double)self->collected,
                                          self->done + (double)self->count, &err);

        pnl_status(L, status, &err);
        if (poll(waiting, open, WAIT_MS) <= 0)
            continue;
        for (size_t i = 0; i < open; i++)
            if (waiting[i].revents)
                read_some(L, self, &self->workers[which[i]]);
    }
    if (self->collected < self->count)
        luaL_error(L, "experiment: %d of %d calls have no answer: a worker process exited in the middle of run",
                   (int)(self->count - self->collected), (int)self->count);
    return 0;
}

static void close_pool(pool *self)
{
    for (size_t i = 0; i < self->size; i++) {
        worker *w = &self->workers[i];

        if (w->pid > 0) {
            (void)kill(w->pid, SIGKILL);
            while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
                ;
        }
        if (w->answers >= 0)
            (void)close(w->answers);
        pn_free(w->bytes);
    }
    if (self->next)
        (void)munmap((void *)self->next, sizeof *self->next);
}

/* The same within a frame of progress. */
static int guarded(lua_State *L)
{
    int status;

    pnl_run_begin_at(L, PROGRESS, "experiment");
    lua_pushcfunction(L, run_pool);
    for (int i = 1; i <= POOL; i++)
        lua_pushvalue(L, i);
    status = lua_pcall(L, POOL, 0, 0);
    pnl_run_end(L);
    return status == LUA_OK ? 0 : lua_error(L);
}

/* map(count, processes, body, collect, progress, done): body(i) in some child, collect(i, fine, answer) here,
 * in any order. */
static int map(lua_State *L)
{
    size_t count = pnl_check_count(L, COUNT, "count");
    size_t processes = pnl_check_count(L, PROCESSES, "processes");
    pool *self;
    void *shared;
    int status;

    luaL_argcheck(L, processes <= MAX_WORKERS, PROCESSES, "at most 256 processes");
    lua_settop(L, ARGUMENTS);
    self = lua_newuserdatauv(L, sizeof *self, 0);
    memset(self, 0, sizeof *self);
    self->count = count;
    self->done = lua_tonumber(L, DONE);
    // cppcheck-suppress invalidFunctionArg ; -1 is how a mapping of no file is asked for
    shared = mmap(NULL, sizeof *self->next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return pnl_no_memory(L, "experiment: out of memory");
    self->next = shared;
    atomic_init(self->next, 1);
    lua_pushcfunction(L, guarded);
    for (int i = 1; i <= ARGUMENTS + 1; i++)
        lua_pushvalue(L, i);
    status = lua_pcall(L, ARGUMENTS + 1, 0, 0);
    close_pool(self);
    return status == LUA_OK ? 0 : lua_error(L);
}

/* ---- the module ---- */

/* processors() -> number */
static int processors(lua_State *L)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);

    lua_pushinteger(L, count < 1 ? 1 : count > MAX_WORKERS ? MAX_WORKERS : count);
    return 1;
}

/* seconds() -> seconds on the monotonic clock. */
static int seconds(lua_State *L)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    lua_pushnumber(L, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
    return 1;
}

/* number(text) -> a whole number that stands for the text: the first 8 bytes of BLAKE2b. */
static int number_of(lua_State *L)
{
    size_t size;
    const char *text = luaL_checklstring(L, 1, &size);
    unsigned char hash[crypto_generichash_BYTES];
    uint64_t number = 0;

    (void)crypto_generichash(hash, sizeof hash, (const unsigned char *)text, size, NULL, 0);
    for (int i = 0; i < 8; i++)
        number = number << 8 | hash[i];
    lua_pushinteger(L, (lua_Integer)(number >> 1));
    return 1;
}

static int open_workers(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "map", map }, { "processors", processors }, { "seconds", seconds }, { "number", number_of }, { NULL, NULL }
    };

    luaL_newlib(L, functions);
    return 1;
}

void pnl_open_workers(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_workers);
    lua_setfield(L, -2, "penumbra.workers");
    lua_pop(L, 1);
}
