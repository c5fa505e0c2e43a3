/* host.c -- a Lua state with limits for a program that embeds Penumbra: its memory is an account's, its runs are
 * stopped by host_limits.c, and every failure comes back as a status with a message.
 * Depends on: host.h, core/account.h.  Used by: hosts, bindings/curator*.c. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <lualib.h>

#include "bindings/embed/host.h"

#define LEAST_MEMORY ((size_t)4 << 20) /* opened and idle it takes 0.15 MB, with all parts of the module loaded 1.3 */

static void *allocate(void *self, void *block, size_t old_size, size_t new_size)
{
    return pn_account_resize(((pnl_host *)self)->account, block, old_size, new_size);
}

pnl_host *pnl_host_of(lua_State *L)
{
    void *self;

    return lua_getallocf(L, &self) == allocate ? self : NULL;
}

/* ---- making ---- */

static pn_status check(const pnl_host_options *options, pn_err *err)
{
    if (!(options->seconds >= 0.0 && isfinite(options->seconds)))
        return pn_fail(err, PN_EINVAL, "host: seconds must be finite and not negative (0: no limit), got %g",
                       options->seconds);
    if (options->memory_bytes > 0 && options->memory_bytes < LEAST_MEMORY)
        return pn_fail(err, PN_EINVAL, "host: memory_bytes must be at least %zu (0: no limit), got %zu", LEAST_MEMORY,
                       options->memory_bytes);
    return PN_OK;
}

static pn_status hear(void *self, const pn_progress *progress, pn_err *err)
{
    pnl_host *host = self;
    pn_account *inside = pn_account_enter(host->outer);
    pn_status status = host->options.progress(host->options.self, progress, err);

    (void)pn_account_enter(inside);
    return status;
}

static int open_state(lua_State *L)
{
    pnl_host *host = pnl_host_of(L);

    luaL_openlibs(L);
    pnl_host_open_log(host);
    pnl_set_threads(L, host->options.threads);
    pnl_open(L);
    lua_getglobal(L, "require");
    lua_pushliteral(L, "penumbra");
    lua_call(L, 1, 1);
    lua_setglobal(L, "pn");
    host->task = pnl_task(L);
    if (host->options.progress)
        pn_task_watch(host->task, hear, host);
    pnl_host_guard_libraries(L);
    pnl_host_set_hook(host);
    return 0;
}

static pn_status out_of_memory(const pnl_host *host, const char *where, pn_err *err)
{
    size_t used;

    pnl_host_memory(host, &used, NULL);
    if (host->options.memory_bytes == 0)
        return pn_fail(err, PN_ENOMEM, "%.100s: out of memory", where);
    return pn_fail(err, PN_ENOMEM, "%.100s: out of memory: the limit is %zu bytes, of which %zu are in use", where,
                   host->options.memory_bytes, used);
}

static pn_status open_host(pnl_host *host, pn_err *err)
{
    pn_status status = pn_account_new(&host->account, host->options.memory_bytes, err);
    int outcome;

    if (status != PN_OK)
        return status;
    host->outer = pn_account_enter(host->account);
    host->L = lua_newstate(allocate, host);
    if (host->L)
        lua_pushcfunction(host->L, open_state);
    outcome = host->L ? lua_pcall(host->L, 0, 0, 0) : LUA_ERRMEM;
    if (outcome == LUA_ERRMEM || (outcome != LUA_OK && pnl_failure_of(host->L, -1) == PN_ENOMEM))
        status = out_of_memory(host, "host", err);
    else if (outcome != LUA_OK)
        status = pn_fail(err, PN_ECALLBACK, "host: %s", lua_tostring(host->L, -1));
    (void)pn_account_enter(host->outer);
    return status;
}

pn_status pnl_host_new(pnl_host **out, const pnl_host_options *options, pn_err *err)
{
    static const pnl_host_options none;
    pn_status status = check(options ? options : &none, err);
    pnl_host *host;

    if (status != PN_OK)
        return status;
    PN_TRY(pn_new_zeroed(&host, 1, err, "host: out of memory"));
    host->options = options ? *options : none;
    atomic_init(&host->cancelled, 0);
    atomic_init(&host->running, 0);
    status = open_host(host, err);
    if (status == PN_OK)
        *out = host;
    else
        pnl_host_free(host);
    return status;
}

void pnl_host_free(pnl_host *host)
{
    if (!host)
        return;
    host->outer = pn_account_enter(host->account);
    if (host->L)
        lua_close(host->L);
    (void)pn_account_enter(host->outer);
    pn_account_free(host->account);
    pn_free(host->message);
    pn_free(host);
}

lua_State *pnl_host_state(pnl_host *host)
{
    return host->L;
}

void pnl_host_memory(const pnl_host *host, size_t *used, size_t *peak)
{
    pn_account_usage(host->account, used, peak);
}

const char *pnl_host_message(const pnl_host *host)
{
    return host->message ? host->message : host->summary;
}

/* ---- running ---- */

void pnl_host_cancel(pnl_host *host)
{
    if (!atomic_load(&host->running))
        return;
    atomic_store(&host->cancelled, 1);
    pn_task_halt(host->task);
}

/* What the error value says of itself; the address of a table says nothing. */
static const char *text_of(lua_State *L)
{
    if (luaL_callmeta(L, 1, "__tostring") && lua_type(L, -1) == LUA_TSTRING)
        return lua_tostring(L, -1);
    return lua_pushfstring(L, "(the error is a %s, not a message)", luaL_typename(L, 1));
}

/* The error becomes a string with a traceback.  Nothing of the script's runs once it was stopped. */
static int explain(lua_State *L)
{
    pnl_host *host = pnl_host_of(L);
    const char *message = lua_tostring(L, 1);

    host->failure = pnl_failure_of(L, 1);
    if (!message && host->stop == PNL_GOES_ON)
        message = text_of(L);
    luaL_traceback(L, L, message ? message : "stopped", 1);
    return 1;
}

/* The error is on the top. */
static pn_status describe(pnl_host *host, int outcome, const char *name, pn_err *err)
{
    const char *message = lua_type(host->L, -1) == LUA_TSTRING ? lua_tostring(host->L, -1) : "no message";
    char reason[100];

    if (host->stop != PNL_GOES_ON) {
        pn_status status = host->stop == PNL_STOP_CANCELLED ? PN_ECANCELLED : PN_ELIMIT;

        pnl_host_stop_text(host, reason, sizeof reason);
        if (outcome != LUA_OK && strstr(message, reason))
            return pn_fail(err, status, "%s", message);
        return pn_fail(err, status, "%.100s: %s", name, reason);
    }
    if (outcome == LUA_ERRMEM)
        return out_of_memory(host, name, err);
    if (outcome == LUA_ERRSYNTAX)
        return pn_fail(err, PN_EINVAL, "%s", message);
    return pn_fail(err, host->failure == PN_ENOMEM ? PN_ENOMEM : PN_ECALLBACK, "%s", message);
}

/* Keep the whole message; the short one is kept when there is no memory for that.  Pops the error. */
static void keep_message(pnl_host *host, int outcome, const pn_err *err)
{
    const char *message = outcome == LUA_ERRRUN || outcome == LUA_ERRERR ? lua_tostring(host->L, -1) : NULL;
    pn_account *inside = pn_account_enter(host->outer);

    if (!message || strncmp(message, err->message, strlen(err->message)) != 0)
        message = err->message;
    host->message = pn_strdup(message);
    memcpy(host->summary, err->message, sizeof host->summary);
    (void)pn_account_enter(inside);
}

static pn_status begin(pnl_host *host, pn_err *err)
{
    if (atomic_load(&host->running))
        return pn_fail(err, PN_EINVAL, "host: a run is going on; a function that it calls cannot start another");
    pn_free(host->message);
    host->message = NULL;
    host->summary[0] = '\0';
    host->outer = pn_account_enter(host->account);
    pnl_host_start(host);
    atomic_store(&host->running, 1);
    return PN_OK;
}

/* `base` is the height of the stack without what the run took and left there. */
static pn_status end(pnl_host *host, int outcome, int base, const char *name, pn_err *err)
{
    pn_status status = PN_OK;
    pn_err own;

    atomic_store(&host->running, 0);
    /* Also when nothing raised: a fit that was stopped returns what it has reached. */
    if (pnl_host_look(host) != PNL_GOES_ON || outcome != LUA_OK) {
        err = err ? err : &own;
        status = describe(host, outcome, name, err);
        keep_message(host, outcome, err);
        lua_settop(host->L, base);
    }
    pn_task_govern(host->task, 0.0);
    (void)pn_account_enter(host->outer);
    return status;
}

/* The function and its arguments are on the top, with room for one value more. */
static int call(lua_State *L, int arguments, int results)
{
    int handler = lua_gettop(L) - arguments, outcome;

    lua_pushcfunction(L, explain);
    lua_insert(L, handler);
    outcome = lua_pcall(L, arguments, results, handler);
    lua_remove(L, handler);
    return outcome;
}

pn_status pnl_host_run(pnl_host *host, const char *code, size_t size, const char *name, int *results, pn_err *err)
{
    lua_State *L = host->L;
    char chunk[128];
    pn_status status = begin(host, err);
    int base = lua_gettop(L), outcome = LUA_ERRMEM;

    if (status != PN_OK)
        return status;
    /* Lua gives up a finalizer for which the stack of C is one call too short: what earlier scripts left behind must
     * not wait for a script that goes so deep. */
    lua_gc(L, LUA_GCCOLLECT);
    (void)snprintf(chunk, sizeof chunk, "@%s", name);
    if (lua_checkstack(L, LUA_MINSTACK))
        outcome = luaL_loadbufferx(L, code, size, chunk, "t");
    if (outcome == LUA_OK)
        outcome = call(L, 0, LUA_MULTRET);
    status = end(host, outcome, base, name, err);
    if (results)
        *results = lua_gettop(L) - base;
    return status;
}

pn_status pnl_host_call(pnl_host *host, int arguments, int results, pn_err *err)
{
    lua_State *L = host->L;
    pn_status status = begin(host, err);
    int base = lua_gettop(L) - arguments - 1, outcome = LUA_ERRMEM;

    if (status != PN_OK)
        return status;
    if (lua_checkstack(L, LUA_MINSTACK))
        outcome = call(L, arguments, results);
    return end(host, outcome, base, "call", err);
}
