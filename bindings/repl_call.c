/* repl_call.c -- protected calls that Ctrl-C can stop, and how their errors are shown.
 * Depends on: repl.h, progress.h, POSIX signals.  Used by: main.c, repl.c.
 *
 * The handler touches only what is safe there: atomics, sig_atomic_t, write, and lua_sethook, which Lua allows. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>

#include "progress.h"
#include "repl.h"

static lua_State *main_state;
static pthread_t main_thread;

/* Shared with the handler, which runs on the main thread only. */
static volatile sig_atomic_t place = REPL_EDITING;
static volatile sig_atomic_t presses;       /* in this call */
static volatile sig_atomic_t dropped_line;  /* Ctrl-C while editing */
static volatile sig_atomic_t stopped_a_run; /* in this call */
static volatile sig_atomic_t raised;        /* in this call */
static int64_t last_press_ns;               /* the handler's own */

/* ---- Ctrl-C ---- */

static void raise_interrupt(lua_State *L, lua_Debug *where)
{
    (void)where;
    raised = 1;
    if (presses < 2)
        lua_sethook(L, NULL, 0, 0);
    luaL_error(L, "interrupted");
}

static void say(const char *text)
{
    ssize_t written = write(STDERR_FILENO, text, strlen(text));

    (void)written; /* nothing can be done about it in a handler */
}

static bool within_a_second(void)
{
    struct timespec now;
    int64_t before = last_press_ns;

    clock_gettime(CLOCK_MONOTONIC, &now);
    last_press_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    return presses > 1 && last_press_ns - before < 1000000000;
}

/* The first Ctrl-C stops a run and no more; what keeps on is told to stop in Lua, too.  From the second on the hook stays
 * until the call is over, so that a pcall in a loop cannot swallow it. */
static void stop_work(int signal_number)
{
    bool hurry, was_running;

    presses = presses < 2 ? presses + 1 : 2;
    hurry = within_a_second();
    if (hurry && place == REPL_SCRIPT) {
        signal(signal_number, SIG_DFL);
        raise(signal_number);
        return;
    }
    was_running = pnl_run_cancel();
    if (was_running && presses == 1) {
        stopped_a_run = 1;
        if (place == REPL_SCRIPT)
            say("\npenumbra: the running call was stopped and the script goes on; Ctrl-C again ends it\n");
    } else {
        lua_sethook(repl_running(), raise_interrupt, LUA_MASKCOUNT, 1);
        lua_sethook(main_state, raise_interrupt, LUA_MASKCOUNT, 1);
    }
}

static void on_interrupt(int signal_number)
{
    int saved = errno;

    if (!pthread_equal(pthread_self(), main_thread))
        pthread_kill(main_thread, signal_number); /* a helper thread caught it; only the main one may touch Lua */
    else if (place == REPL_EDITING)
        dropped_line = 1;
    else
        stop_work(signal_number);
    errno = saved;
}

static void catch_signal(int signal_number)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt; /* no SA_RESTART: a script that waits for input wakes up */
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void repl_catch_interrupts(lua_State *L)
{
    main_state = L;
    main_thread = pthread_self();
    repl_track_coroutines(L);
    catch_signal(SIGINT);
}

void repl_catch_termination(void)
{
    catch_signal(SIGTERM);
}

bool repl_take_interrupt(void)
{
    bool was = dropped_line != 0;

    dropped_line = 0;
    return was;
}

bool repl_was_interrupted(void)
{
    return raised != 0;
}

bool repl_stopped_a_run(void)
{
    return stopped_a_run != 0;
}

void repl_die_of_interrupt(void)
{
    (void)fflush(NULL);
    signal(SIGINT, SIG_DFL);
    raise(SIGINT);
}

/* ---- errors ---- */

/* Whether a function is the library's own Lua, in the build's folder or in an installed one: nothing to debug for its user. */
static bool in_library(const char *source)
{
    return strstr(source, "/lua/penumbra/") || strstr(source, "/lua/5.4/penumbra/");
}

/* At the prompt a traceback is shown only when a user's Lua function was on the way: the entry itself is on the screen. */
static bool traceback_helps(lua_State *L)
{
    lua_Debug frame;

    if (place != REPL_ENTRY)
        return true;
    for (int level = 1; lua_getstack(L, level, &frame); level++) {
        lua_getinfo(L, "S", &frame);
        if (strcmp(frame.what, "Lua") == 0 && !in_library(frame.source))
            return true;
    }
    return false;
}

/* Without the last line, "[C]: in ?", which is the program itself. */
static void push_traceback(lua_State *L, const char *message)
{
    static const char last[] = "\n\t[C]: in ?";
    size_t length;
    const char *text;

    luaL_traceback(L, L, message, 1);
    text = lua_tolstring(L, -1, &length);
    if (length >= sizeof last - 1 && strcmp(text + length - (sizeof last - 1), last) == 0)
        lua_pushlstring(L, text, length - (sizeof last - 1));
}

static int explain(lua_State *L)
{
    const char *message = lua_tostring(L, 1);

    if (!message) {
        if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
            return 1;
        message = lua_pushfstring(L, "(the error is a %s, not a message)", luaL_typename(L, 1));
    }
    if (traceback_helps(L))
        push_traceback(L, message);
    else
        lua_pushstring(L, message);
    return 1;
}

void repl_report(lua_State *L, const char *prefix)
{
    const char *message = lua_tostring(L, -1);

    (void)fflush(stdout);
    (void)fprintf(stderr, "%s%s\n", prefix, message ? message : "(the error is not a message)");
    lua_pop(L, 1);
}

int repl_call(lua_State *L, int arguments, int results, repl_place where)
{
    int base = lua_gettop(L) - arguments, status;
    sig_atomic_t outer = place;

    lua_pushcfunction(L, explain);
    lua_insert(L, base);
    presses = stopped_a_run = raised = 0;
    repl_set_running(L);
    place = (sig_atomic_t)where;
    status = lua_pcall(L, arguments, results, base);
    place = outer;
    lua_sethook(L, NULL, 0, 0);
    lua_remove(L, base);
    return status;
}
