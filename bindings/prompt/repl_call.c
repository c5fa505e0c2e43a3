/* repl_call.c -- protected calls that Ctrl-C can stop, and how their errors are shown.
 * Depends on: repl.h, progress.h, POSIX signals.  Used by: main.c, repl.c.
 *
 * The handler touches only what is safe there: atomics, sig_atomic_t, write, alarm, and lua_sethook,
 * which Lua allows. */
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

#include "bindings/core/progress.h"
#include "bindings/prompt/repl.h"

#define WAIT_SECONDS 1 /* after Ctrl-C, before it is said what is waited for */

static lua_State *main_state;
static pnl_run_stop *main_runs;
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

/* The first Ctrl-C stops a run and no more; what keeps on is told to stop in Lua, too.  From the second on the hook
 * stays until the call is over, so that a pcall in a loop cannot swallow it. */
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
    was_running = pnl_run_cancel(main_runs);
    if (was_running && presses == 1) {
        stopped_a_run = 1;
        if (place == REPL_SCRIPT)
            say("\npenumbra: the running call was stopped and the script goes on; Ctrl-C again ends it\n");
    } else {
        lua_sethook(repl_running(), raise_interrupt, LUA_MASKCOUNT, 1);
        lua_sethook(main_state, raise_interrupt, LUA_MASKCOUNT, 1);
    }
}

/* A second after Ctrl-C nothing has stopped: somebody is to know what is waited for, and how to leave.  Looking at the
 * running function changes nothing, and where the hook is set and has not been called, the interpreter stands still in
 * it; without the hook it may be anywhere, and is not looked at. */
static void say_what_runs(void)
{
    lua_Debug running_call;
    const char *name = NULL;

    if (lua_gethook(repl_running()) && lua_getstack(repl_running(), 0, &running_call) &&
        lua_getinfo(repl_running(), "n", &running_call))
        name = running_call.name;
    say("\n(waiting for ");
    say(name ? "'" : "a call");
    say(name ? name : "");
    say(name ? "'" : "");
    say(presses == 1 ? "; Ctrl-C again stops what follows, Ctrl-\\ ends the program)\n"
                     : ", which cannot be stopped at once; Ctrl-\\ ends the program)\n");
}

static void on_interrupt(int signal_number)
{
    int saved = errno;

    if (!pthread_equal(pthread_self(), main_thread)) {
        pthread_kill(main_thread, signal_number); /* a helper thread caught it; only the main one may touch Lua */
    } else if (signal_number == SIGALRM) {
        if (place != REPL_EDITING && presses > 0)
            say_what_runs();
    } else if (place == REPL_EDITING) {
        dropped_line = 1;
    } else {
        stop_work(signal_number);
        if (isatty(STDERR_FILENO))
            alarm(WAIT_SECONDS);
    }
    errno = saved;
}

static void catch_signal(int signal_number, int flags)
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = on_interrupt;
    action.sa_flags = flags; /* of Ctrl-C not SA_RESTART: a script that waits for input wakes up */
    sigemptyset(&action.sa_mask);
    sigaction(signal_number, &action, NULL);
}

void repl_catch_interrupts(lua_State *L)
{
    main_state = L;
    main_runs = pnl_run_stopper(L);
    main_thread = pthread_self();
    repl_track_coroutines(L);
    catch_signal(SIGINT, 0);
    catch_signal(SIGALRM, SA_RESTART);
}

void repl_catch_termination(void)
{
    catch_signal(SIGTERM, 0);
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

/* Call it protected, with the error value and the name of the function of penumbra.errors that makes a text of it. */
static int explain_in_lua(lua_State *L)
{
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra.errors");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, lua_touserdata(L, 2));
    lua_pushvalue(L, 1);
    lua_call(L, 1, 1);
    return 1;
}

/* The message handler.  Where the stack or the memory is short, or the Lua half is not there yet, the message alone. */
static int explain(lua_State *L)
{
    lua_settop(L, 1);
    if (lua_checkstack(L, LUA_MINSTACK)) {
        lua_pushcfunction(L, explain_in_lua);
        lua_pushvalue(L, 1);
        lua_pushlightuserdata(L, "explain");
        if (lua_pcall(L, 2, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING)
            return 1;
    }
    lua_settop(L, 1);
    if (lua_type(L, 1) == LUA_TSTRING)
        return 1;
    lua_pushfstring(L, "(the error is a %s, not a message)", luaL_typename(L, 1));
    return 1;
}

void repl_explain_syntax(lua_State *L)
{
    lua_pushcfunction(L, explain_in_lua);
    lua_pushvalue(L, -2);
    lua_pushlightuserdata(L, "syntax");
    if (lua_pcall(L, 2, 1, 0) == LUA_OK && lua_type(L, -1) == LUA_TSTRING)
        lua_replace(L, -2);
    else
        lua_pop(L, 1);
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
    alarm(0);
    lua_sethook(L, NULL, 0, 0);
    lua_remove(L, base);
    return status;
}
