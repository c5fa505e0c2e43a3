/* host_limits.c -- limits of time and instructions, and cancelling: a hook that counts.  Once a limit is reached every
 * further instruction raises, in whatever coroutine, so that a script's pcall only gets it nearer to its end.
 *
 * Lua runs two things without hooks: finalizers, which host_guards.c refuses under limits, and a message handler for an
 * error that a hook raised, which it does not let run once a limit is reached.  A coroutine takes the hook over from
 * the one that makes it, with a count of its own, which is why making one is charged.
 * Depends on: host.h, core/task.h.  Used by: host.c, host_guards.c. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <time.h>

#include "bindings/embed/host.h"

#define GRAIN 200 /* instructions: some microseconds, against which a look at the clock is cheap */

static double now(void)
{
    struct timespec at;

    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

pnl_stop pnl_host_look(pnl_host *host)
{
    if (host->stop == PNL_GOES_ON && !host->decided) {
        if (atomic_load_explicit(&host->cancelled, memory_order_relaxed))
            host->stop = PNL_STOP_CANCELLED;
        else if (host->options.instructions > 0 && host->instructions >= host->options.instructions)
            host->stop = PNL_STOP_INSTRUCTIONS;
        else if (host->deadline < INFINITY && now() >= host->deadline)
            host->stop = PNL_STOP_TIME;
        if (host->stop != PNL_GOES_ON)
            pn_task_halt(host->task);
    }
    return host->stop;
}

pnl_stop pnl_host_decide(pnl_host *host)
{
    pnl_stop stop = pnl_host_look(host);

    host->decided = true;
    return stop;
}

void pnl_host_stop_text(const pnl_host *host, char *text, size_t size)
{
    if (host->stop == PNL_STOP_CANCELLED)
        (void)snprintf(text, size, "stopped by the host");
    else if (host->stop == PNL_STOP_TIME)
        (void)snprintf(text, size, "the limit of %g second%s was reached", host->options.seconds,
                       host->options.seconds == 1.0 ? "" : "s");
    else
        (void)snprintf(text, size, "the limit of %llu instructions was reached",
                       (unsigned long long)host->options.instructions);
}

static void count(lua_State *L, lua_Debug *where);

/* Where level 0 is a C function, what called it is at fault. */
static void raise_stop(lua_State *L, const pnl_host *host)
{
    char text[100];

    lua_sethook(L, count, LUA_MASKCOUNT, 1);
    lua_sethook(host->L, count, LUA_MASKCOUNT, 1);
    pnl_host_stop_text(host, text, sizeof text);
    luaL_where(L, 0);
    if (lua_rawlen(L, -1) == 0)
        luaL_where(L, 1);
    lua_pushstring(L, text);
    lua_concat(L, 2);
    lua_error(L);
}

static void count(lua_State *L, lua_Debug *where)
{
    pnl_host *host = pnl_host_of(L);
    int counted = lua_gethookcount(L);

    (void)where;
    if (!atomic_load_explicit(&host->running, memory_order_relaxed)) {
        if (counted != host->grain)
            lua_sethook(L, count, LUA_MASKCOUNT, host->grain);
        return;
    }
    host->instructions += (uint64_t)counted;
    if (pnl_host_look(host) != PNL_GOES_ON)
        raise_stop(L, host);
    if (counted != host->grain) /* left from an earlier run that was stopped */
        lua_sethook(L, count, LUA_MASKCOUNT, host->grain);
}

void pnl_host_charge(lua_State *L, uint64_t instructions)
{
    pnl_host *host = pnl_host_of(L);

    if (!host || !atomic_load_explicit(&host->running, memory_order_relaxed))
        return;
    host->instructions += instructions;
    host->uncounted += instructions;
    if (host->uncounted < (uint64_t)host->grain)
        return;
    host->uncounted = 0;
    if (pnl_host_look(host) != PNL_GOES_ON)
        raise_stop(L, host);
}

void pnl_host_set_hook(pnl_host *host)
{
    uint64_t limit = host->options.instructions;

    host->grain = limit > 0 && limit < GRAIN ? (int)limit : GRAIN;
    lua_sethook(host->L, count, LUA_MASKCOUNT, host->grain);
}

void pnl_host_start(pnl_host *host)
{
    host->stop = PNL_GOES_ON;
    host->decided = false;
    host->instructions = host->uncounted = 0;
    host->failure = PN_OK;
    host->deadline = host->options.seconds > 0.0 ? now() + host->options.seconds : INFINITY;
    atomic_store(&host->cancelled, 0);
    pn_task_govern(host->task, host->options.seconds);
    lua_sethook(host->L, count, LUA_MASKCOUNT, host->grain);
}
