/* lfederated_log.c -- the user's log function of a server or a party over sockets.
 * Depends on: lfederated.h, progress.h.  Used by: lfederated_open.c, lfederated_party.c.
 *
 * Events come from inside long calls of the runtime, where nothing may raise: the function is called protected,
 * and its error becomes a
 * warning.  A registry table with weak values leads from the log to its userdata,
 * so that a transport that outlives its box says nothing. */
#include <stdio.h>
#include <string.h>

#include "bindings/core/progress.h"
#include "bindings/federated/lfederated.h"

static const char logs_key = 'l';

pnl_event_log *pnl_new_event_log(lua_State *L, int options, const char *owner)
{
    pnl_event_log *self;

    if (lua_getfield(L, options, "log") == LUA_TNIL)
        return NULL;
    if (!lua_isfunction(L, -1))
        pnl_error(L, "%s: log must be a function(line, what), got %s", owner, pnl_got(L, -1));
    self = lua_newuserdatauv(L, sizeof *self, 1);
    lua_insert(L, -2);
    lua_setiuservalue(L, -2, 1);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    self->main = lua_tothread(L, -1);
    lua_pop(L, 1);
    pnl_push_weak(L, &logs_key);
    lua_pushvalue(L, -2);
    lua_rawsetp(L, -2, self);
    lua_pop(L, 1);
    return self;
}

typedef struct log_call {
    const pnl_event_log *log;
    const pn_zeromq_event *event;
} log_call;

/* Under lua_pcall: (call) */
static int log_body(lua_State *L)
{
    const log_call *call = lua_touserdata(L, 1);
    const pn_zeromq_event *event = call->event;

    pnl_push_weak(L, &logs_key);
    if (lua_rawgetp(L, -1, call->log) != LUA_TUSERDATA)
        return 0;
    lua_getiuservalue(L, -1, 1);
    lua_pushfstring(L, "%s %s%s%s", event->who ? event->who : "?", event->what, event->why ? ": " : "",
                    event->why ? event->why : "");
    lua_pushstring(L, event->what);
    lua_call(L, 2, 0);
    return 0;
}

void pnl_log_event(void *self, const pn_zeromq_event *event)
{
    pnl_event_log *log = self;
    log_call call = { log, event };
    lua_State *L;

    if (!log || !pnl_run_active(log->main))
        return;
    L = pnl_run_state(log->main);
    if (!lua_checkstack(L, LUA_MINSTACK))
        return;
    lua_pushcfunction(L, log_body);
    lua_pushlightuserdata(L, &call);
    if (lua_pcall(L, 1, 0, 0) == LUA_OK)
        return;
    lua_warning(L, "the log function of a federated run raised: ", 1);
    lua_warning(L, lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "an error that is no message", 0);
    lua_pop(L, 1);
}
