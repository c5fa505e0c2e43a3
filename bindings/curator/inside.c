/* inside.c -- a script in this process: a fresh state with limits whose globals are stdlib/sandbox.lua's and whose
 * module is curated
 * (lcurated.c).  Depends on: curator_impl.h.  Used by: curator.c, for hosts that cannot start processes; serve.c,
 * in the script's own. */
#include <stdio.h>
#include <string.h>

#include "bindings/curator/curator_impl.h"

typedef struct script {
    pnl_curator *curator;
    const pnl_script *given;
} script;

/* A limit was reached, or the host cancelled.  Said from C, where no further instruction raises.  With the place in the
 * script for instructions, whose number is the same in every run; the place where time ended it would be a clock. */
static int raise_stop(lua_State *L, const script *self, pnl_stop stop)
{
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    bool placed = stop == PNL_STOP_INSTRUCTIONS && strncmp(message, self->given->name, strlen(self->given->name)) == 0;
    char why[100];

    pnl_host_stop_text(pnl_host_of(L), why, sizeof why);
    if (!placed || !strstr(message, why))
        lua_pushfstring(L, "%s: %s", self->given->name, why);
    return lua_error(L);
}

enum { PRINT = 1, SAID, REPORT, COMPILE }; /* where things lie on the stack of run_script */

/* On an empty stack, leave these four. */
static void make_sandbox(lua_State *L, const pnl_curator *curator)
{
    lua_getglobal(L, "print");
    lua_newtable(L);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra.sandbox");
    lua_call(L, 1, 1);
    lua_getfield(L, -1, "make");
    pnl_open_curated(L, curator->ledger);
    lua_createtable(L, 0, (int)curator->count + 1);
    for (size_t i = 0; i < curator->count; i++) {
        pnl_borrow(L, &pnl_dataset_class, &curator->data[i]->view);
        lua_setfield(L, -2, curator->data[i]->name);
    }
    pnl_borrow(L, &pnl_ledger_class, curator->ledger);
    lua_pushvalue(L, SAID);
    lua_call(L, 4, 2);
    lua_insert(L, REPORT);
    lua_replace(L, COMPILE);
    lua_settop(L, COMPILE);
    lua_newtable(L); /* what finds its globals here finds none */
    lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

/* Tell the host what was printed.  Not when time ended the script: how far it got would be a clock,
 * of what depends on the records. */
static void publish(lua_State *L, pnl_stop stop)
{
    for (lua_Integer i = 1; stop != PNL_STOP_TIME && stop != PNL_STOP_CANCELLED; i++) {
        lua_pushvalue(L, PRINT);
        if (lua_rawgeti(L, SAID, i) == LUA_TNIL) {
            lua_pop(L, 2);
            break;
        }
        lua_call(L, 1, 0);
    }
}

/* (script) -> true and the answer, false and the error, or nil and a syntax error.
 * Everything from here on is within the limits. */
static int run_script(lua_State *L)
{
    const script *self = lua_touserdata(L, 1);
    pnl_stop stop;
    int outcome;

    lua_settop(L, 0);
    make_sandbox(L, self->curator);
    lua_pushlstring(L, self->given->code, self->given->size);
    lua_pushstring(L, self->given->name);
    lua_call(L, 2, 2);
    if (lua_isnil(L, -2))
        return 2;
    lua_pop(L, 1);
    outcome = lua_pcall(L, 0, LUA_MULTRET, 0);
    luaL_checkstack(L, LUA_MINSTACK, "the answer");
    if (pnl_host_look(pnl_host_of(L)) == PNL_GOES_ON) {
        lua_pushboolean(L, outcome == LUA_OK);
        lua_insert(L, REPORT + 1);
        outcome = lua_pcall(L, lua_gettop(L) - REPORT, 2, 0);
    }
    stop = pnl_host_decide(pnl_host_of(L)); /* what is told of the end must be the same to both that hear of it */
    publish(L, stop);
    if (stop != PNL_GOES_ON)
        return raise_stop(L, self, stop);
    return outcome == LUA_OK ? 2 : lua_error(L);
}

/* What the script's end means: its first value is below the top, and `text` is the other one, taken over. */
static pn_status conclude(pnl_host *host, char *text, char **answer, pn_err *err)
{
    lua_State *L = pnl_host_state(host);
    pn_status status = PN_EINVAL; /* of syntax */

    PN_TRY(pn_made(text, err, "curator: out of memory for the answer"));
    if (lua_toboolean(L, -2)) {
        if (answer)
            *answer = text;
        else
            pn_free(text);
        return PN_OK;
    }
    if (!lua_isnil(L, -2)) {
        status = strstr(text, "not enough memory")              ? PN_ENOMEM
                 : strstr(text, "is not available to analysts") ? PN_EPRIVACY
                                                                : pnl_failure_of(L, -1);
        status = status == PN_OK ? PN_ECALLBACK : status;
    }
    (void)pn_fail(err, status, "%s", text);
    pn_free(text);
    return status;
}

static char *visible_value(lua_State *L)
{
    size_t size;
    const char *text = lua_tolstring(L, -1, &size);

    return pnl_visible(text, size);
}

/* Of a run that could not be concluded: no traceback, which is of the sandbox, and not how much memory was in use,
 * which may depend on the records. */
static void tidy(const script *self, const pnl_host *host, pn_status status, pn_err *err)
{
    char *trace = err ? strstr(err->message, "\nstack traceback:") : NULL;
    char why[100];

    if (trace)
        *trace = '\0';
    if (status == PN_ENOMEM) {
        (void)pn_fail(err, status, "%.100s: out of memory: the limit is %zu bytes", self->given->name,
                      self->curator->limits.memory_bytes);
    } else if (err && host->stop != PNL_GOES_ON &&
               strncmp(err->message, self->given->name, strlen(self->given->name)) != 0) {
        pnl_host_stop_text(host, why, sizeof why); /* while the script was made ready */
        (void)pn_fail(err, status, "%.100s: %s", self->given->name, why);
    }
}

static void set_host(pnl_curator *curator, pnl_host *host)
{
    (void)pthread_mutex_lock(&curator->lock);
    curator->host = host;
    (void)pthread_mutex_unlock(&curator->lock);
}

pn_status pnl_script_inside(pnl_curator *curator, const pnl_script *given, char **answer, pn_err *err)
{
    script self = { curator, given };
    pnl_host *host = NULL;
    pn_status status;

    PN_TRY(pnl_host_new(&host, &curator->limits, err));
    set_host(curator, host);
    lua_pushcfunction(pnl_host_state(host), run_script);
    lua_pushlightuserdata(pnl_host_state(host), &self);
    status = pnl_host_call(host, 1, 2, err);
    if (status == PN_OK)
        status = conclude(host, visible_value(pnl_host_state(host)), answer, err);
    else
        tidy(&self, host, status, err);
    set_host(curator, NULL);
    pnl_host_free(host);
    return status;
}
