/* lconfined.c -- `require "penumbra.confined"`: run(body, seconds, megabytes) -> text, why; a Lua function called in a
 * forked process that has limits of time and memory, opens no file and no socket and starts no other process.
 * Depends on: curator/serve.h (pnl_confine), lsession.h, numeric/blas_threads.h, POSIX.
 * Used by: stdlib/course/replay.lua. */
#define _GNU_SOURCE /* close_range */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bindings/core/pnl.h"
#include "bindings/curator/serve.h"
#include "bindings/privacy/lsession.h"
#include "bindings/prompt/repl.h"
#include "core/file.h"
#include "numeric/blas_threads.h"

#define MOST_TEXT 65536 /* bytes that a body may tell */
#define PATIENCE  4     /* seconds on the clock for each second of processor time: the machine may be busy */

enum { BODY = 1, SECONDS, MEGABYTES };
enum { ENDED = 0, RAISED, NOT_CONFINED }; /* exit statuses */

/* ---- the child ---- */

/* tell(text): the parent has it, whatever becomes of this process.  Upvalue 1 is the pipe. */
static int tell(lua_State *L)
{
    int out = (int)lua_tointeger(L, lua_upvalueindex(1));
    size_t size;
    const char *at = luaL_checklstring(L, 1, &size);

    while (size > 0) {
        ssize_t written = write(out, at, size);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            _exit(RAISED);
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Nothing stands at 0, 1 and 2, and no other descriptor than the pipe is open. */
static bool close_others(unsigned out)
{
    int nothing = pn_file_open("/dev/null", O_RDWR, 0);
    bool done = nothing >= 0;

    for (int k = 0; k <= 2; k++)
        done = done && pn_file_stand_in(k, nothing, NULL);
    return done && (out == 3 || close_range(3, out - 1, 0) == 0) && close_range(out + 1, ~0u, 0) == 0;
}

/* Bytes of addresses that the process has: what the parent had already does not count as the body's. */
static rlim_t addresses(void)
{
    char text[64] = "";
    int file = pn_file_open("/proc/self/statm", O_RDONLY, 0);

    if (file < 0)
        return 0;
    if (read(file, text, sizeof text - 1) < 0)
        text[0] = '\0';
    (void)close(file);
    return (rlim_t)strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* A macro, for the kind of `what` is an enumeration in one library and int in another. */
#define LIMIT(what, most) (setrlimit((what), &(struct rlimit){ (most), (most) }) == 0)

static bool give_up_rights(lua_Integer seconds, lua_Integer megabytes)
{
    rlim_t memory = addresses() + ((rlim_t)megabytes << 20);

    return LIMIT(RLIMIT_CPU, (rlim_t)seconds) && LIMIT(RLIMIT_AS, memory) && LIMIT(RLIMIT_FSIZE, 0) &&
           pnl_confine(false, NULL) == PN_OK;
}

static _Noreturn void be_confined(lua_State *L, int out)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)signal(SIGINT, SIG_IGN); /* the parent hears Ctrl-C */
    (void)signal(SIGTERM, SIG_DFL);
    if (!close_others((unsigned)out))
        _exit(NOT_CONFINED);
    (void)pn_blas_alone(0); /* no threads */
    pnl_session_restart(L);
    if (!give_up_rights(lua_tointeger(L, SECONDS), lua_tointeger(L, MEGABYTES)))
        _exit(NOT_CONFINED);
    lua_pushvalue(L, BODY);
    lua_pushinteger(L, out);
    lua_pushcclosure(L, tell, 1);
    _exit(lua_pcall(L, 1, 0, 0) == LUA_OK ? ENDED : RAISED);
}

/* ---- the parent ---- */

static double now(void)
{
    struct timespec at;

    (void)clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

/* Read until the other end is closed: how much came, at most MOST_TEXT.
 * *why is set when the process has to be killed. */
static size_t listen_to(int in, char *text, double until, const char **why)
{
    size_t used = 0;

    for (;;) {
        struct pollfd at = { in, POLLIN, 0 };
        double left = until - now();
        ssize_t got;

        if (!(left > 0.0)) {
            *why = "time";
            return used;
        }
        if (poll(&at, 1, (int)(1000.0 * (left < 60.0 ? left : 60.0)) + 1) <= 0)
            continue;
        if (used == MOST_TEXT) {
            *why = "output";
            return used;
        }
        got = read(in, text + used, MOST_TEXT - used);
        if (got == 0 || (got < 0 && errno != EINTR))
            return used;
        used += got > 0 ? (size_t)got : 0;
    }
}

/* What a status of waitpid means: NULL for a process that came to its end. */
static const char *reason(int status)
{
    if (WIFEXITED(status))
        return WEXITSTATUS(status) == ENDED ? NULL : "error";
    /* RLIMIT_CPU sends SIGKILL where both of its limits are the same, as the system does where memory runs out. */
    return WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL ? "time" : "crash";
}

/* run(body, seconds, megabytes) -> text, why: body(tell) in a process of its own, what it told,
 * and nil, "time", "output", "error" (of body) or "crash". */
static int run(lua_State *L)
{
    lua_Integer seconds = luaL_checkinteger(L, SECONDS), megabytes = luaL_checkinteger(L, MEGABYTES);
    char text[MOST_TEXT];
    const char *why = NULL;
    int ends[2], status = 0;
    size_t size;
    pid_t pid;

    luaL_checktype(L, BODY, LUA_TFUNCTION);
    luaL_argcheck(L, seconds >= 1 && seconds <= 86400, SECONDS, "expected 1 to 86400 seconds");
    luaL_argcheck(L, megabytes >= 1 && megabytes <= 1 << 20, MEGABYTES, "expected 1 to 1048576 megabytes");
    if (!pn_file_pipe(ends))
        return luaL_error(L, "confined: cannot open a pipe: %s", strerror(errno));
    (void)fflush(NULL);
    pid = fork();
    if (pid == 0)
        be_confined(L, ends[1]);
    (void)close(ends[1]);
    size = pid < 0 ? 0 : listen_to(ends[0], text, now() + (double)(PATIENCE * seconds) + 1.0, &why);
    (void)close(ends[0]);
    if (pid < 0)
        return luaL_error(L, "confined: cannot start a process: %s", strerror(errno));
    if (why)
        (void)kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) == NOT_CONFINED)
        return luaL_error(L, "confined: this system does not let a process give up its rights (setrlimit, seccomp)");
    lua_pushlstring(L, text, size);
    lua_pushstring(L, why ? why : reason(status));
    return 2;
}

int repl_open_confined(lua_State *L)
{
    static const luaL_Reg functions[] = { { "run", run }, { NULL, NULL } };

    luaL_newlib(L, functions);
    return 1;
}
