/* curator.c -- analysts' scripts over private records: each runs in a fresh state with limits whose globals are stdlib/sandbox.lua's and
 * whose module is curated (lcurated.c).  CURATOR.md is the threat model.
 * Depends on: host.h, penumbra_lua.h, data/dataset.h, privacy/ledger.h.  Used by: hosts, lcurator.c. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "data/dataset.h"
#include "host.h"
#include "privacy/ledger.h"

/* A data set under the curator's name for it: a view, so that neither its file's name nor the names of its features are shown. */
typedef struct registered {
    pn_dataset view;
    char *name;
} registered;

struct pnl_curator {
    pnl_host_options limits;
    pn_ledger *ledger;
    registered **data;
    size_t count;
    pthread_mutex_t lock; /* of the two below */
    bool running;
    pnl_host *host; /* of the script that runs, or NULL */
};

/* ---- making ---- */

static void ignore(void *self, pnl_host_channel channel, const char *text, size_t size)
{
    (void)self, (void)channel, (void)text, (void)size;
}

static pn_status check(const pnl_host_options *limits, const pn_ledger *ledger, pn_err *err)
{
    if (!limits || limits->memory_bytes == 0 || !(limits->seconds > 0.0 && isfinite(limits->seconds)) ||
        limits->instructions == 0)
        return pn_fail(err, PN_EINVAL, "curator: memory_bytes, seconds and instructions must all be limited");
    if (!ledger)
        return pn_fail(err, PN_EINVAL, "curator: there is no ledger to charge");
    if (pn_ledger_budget(ledger)->neighbours == PN_ADD_REMOVE)
        return pn_fail(err, PN_EINVAL,
                       "curator: the number of records is shown to analysts, which \"add_remove\" neighbours keep "
                       "secret; open the ledger for \"replace_one\"");
    if (pn_ledger_budget(ledger)->teaching)
        return pn_fail(err, PN_EINVAL, "curator: a teaching ledger accepts noise that protects nobody");
    return PN_OK;
}

PNL_API pn_status pnl_curator_new(pnl_curator **out, const pnl_host_options *limits, pn_ledger *ledger, pn_err *err)
{
    pn_status status = check(limits, ledger, err);
    pnl_curator *self;

    *out = NULL;
    if (status != PN_OK)
        return status;
    self = pn_calloc(1, sizeof *self);
    if (!self || pthread_mutex_init(&self->lock, NULL) != 0) {
        pn_free(self);
        return pn_fail(err, PN_ENOMEM, "curator: out of memory");
    }
    self->limits = *limits;
    if (!self->limits.log)
        self->limits.log = ignore;
    self->ledger = pn_ledger_keep(ledger);
    *out = self;
    return PN_OK;
}

static void free_registered(registered *self)
{
    if (self)
        pn_free(self->name);
    pn_free(self);
}

PNL_API void pnl_curator_free(pnl_curator *curator)
{
    if (!curator)
        return;
    for (size_t i = 0; i < curator->count; i++)
        free_registered(curator->data[i]);
    pn_free(curator->data);
    pn_ledger_free(curator->ledger);
    (void)pthread_mutex_destroy(&curator->lock);
    pn_free(curator);
}

/* ---- data ---- */

static bool is_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";

    return name && name[0] && !strchr("0123456789", name[0]) && strspn(name, letters) == strlen(name) &&
           strlen(name) <= 64;
}

static pn_status check_data(const pnl_curator *self, const char *name, const pn_dataset *data, pn_err *err)
{
    bool bounded = false;

    if (!is_name(name))
        return pn_fail(err, PN_EINVAL, "curator: a data set needs a name that Lua takes for a field, got \"%.64s\"",
                       name ? name : "");
    for (size_t i = 0; i < self->count; i++) {
        if (strcmp(self->data[i]->name, name) == 0)
            return pn_fail(err, PN_EINVAL, "curator: there is a data set \"%s\" already", name);
    }
    for (int norm = 0; norm < PN_LP_COUNT; norm++)
        bounded = bounded || isfinite(data->bounds.norm[norm]);
    if (!bounded)
        return pn_fail(err, PN_EINVAL, "curator: no bound on the rows of %s is enforced; clip them first (clip_rows)",
                       name);
    if (data->absent || data->partial)
        return pn_fail(err, PN_EINVAL, "curator: the records of %s are not all here", name);
    return PN_OK;
}

PNL_API pn_status pnl_curator_data(pnl_curator *curator, const char *name, const pn_dataset *data, pn_err *err)
{
    pn_status status = check_data(curator, name, data, err);
    registered **more, *made;

    if (status != PN_OK)
        return status;
    more = pn_resize(curator->data, curator->count + 1, sizeof(registered *));
    if (more)
        curator->data = more;
    made = more ? pn_calloc(1, sizeof *made) : NULL;
    if (made)
        made->name = pn_strdup(name);
    if (!made || !made->name) {
        free_registered(made);
        return pn_fail(err, PN_ENOMEM, "curator: out of memory");
    }
    made->view = *data;
    made->view.name = made->name;
    made->view.features = NULL;
    made->view.feature_bytes = 0;
    curator->data[curator->count++] = made;
    return PN_OK;
}

/* ---- running ---- */

typedef struct script {
    pnl_curator *curator;
    const char *code, *name;
    size_t size;
} script;

/* A limit was reached, or the host cancelled.  Said from C, where no further instruction raises.  With the place in the script for
 * instructions, whose number is the same in every run; the place where time ended it would be a clock. */
static int raise_stop(lua_State *L, const script *self, pnl_stop stop)
{
    const char *message = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
    bool placed = stop == PNL_STOP_INSTRUCTIONS && strncmp(message, self->name, strlen(self->name)) == 0;
    char why[100];

    pnl_host_stop_text(pnl_host_of(L), why, sizeof why);
    if (!placed || !strstr(message, why))
        lua_pushfstring(L, "%s: %s", self->name, why);
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

/* Tell the host what was printed.  Not when time ended the script: how far it got would be a clock, of what depends on the records. */
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

/* (script) -> true and the answer, false and the error, or nil and a syntax error.  Everything from here on is within the limits. */
static int run_script(lua_State *L)
{
    const script *self = lua_touserdata(L, 1);
    pnl_stop stop;
    int outcome;

    lua_settop(L, 0);
    make_sandbox(L, self->curator);
    lua_pushlstring(L, self->code, self->size);
    lua_pushstring(L, self->name);
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

/* Whether the curator was free for this run. */
static bool claim(pnl_curator *curator)
{
    bool was_free;

    (void)pthread_mutex_lock(&curator->lock);
    was_free = !curator->running;
    curator->running = true;
    (void)pthread_mutex_unlock(&curator->lock);
    return was_free;
}

static void set_host(pnl_curator *curator, pnl_host *host)
{
    (void)pthread_mutex_lock(&curator->lock);
    curator->host = host;
    curator->running = host != NULL;
    (void)pthread_mutex_unlock(&curator->lock);
}

static char *copy_text(lua_State *L, int index)
{
    size_t size;
    const char *text = lua_tolstring(L, index, &size);
    char *copy = pn_alloc(size + 1, 1);

    if (copy)
        memcpy(copy, text, size + 1);
    return copy;
}

/* What the script's end means; its two values are on the top. */
static pn_status conclude(pnl_host *host, char **answer, pn_err *err)
{
    lua_State *L = pnl_host_state(host);
    const char *text = lua_tostring(L, -1);
    pn_status failure;

    if (lua_isnil(L, -2))
        return pn_fail(err, PN_EINVAL, "%s", text);
    if (!lua_toboolean(L, -2)) {
        failure = strstr(text, "not enough memory")              ? PN_ENOMEM
                  : strstr(text, "is not available to analysts") ? PN_EPRIVACY
                                                                 : pnl_failure_of(L, -1);
        return pn_fail(err, failure == PN_OK ? PN_ECALLBACK : failure, "%s", text);
    }
    if (!answer)
        return PN_OK;
    *answer = copy_text(L, -1);
    return *answer ? PN_OK : pn_fail(err, PN_ENOMEM, "curator: out of memory for the answer");
}

/* Of a run that could not be concluded: no traceback, which is of the sandbox, and not how much memory was in use, which may depend on
 * the records. */
static void tidy(const script *self, const pnl_host *host, pn_status status, pn_err *err)
{
    char *trace = err ? strstr(err->message, "\nstack traceback:") : NULL;
    char why[100];

    if (trace)
        *trace = '\0';
    if (status == PN_ENOMEM) {
        (void)pn_fail(err, status, "%.100s: out of memory: the limit is %zu bytes", self->name,
                      self->curator->limits.memory_bytes);
    } else if (err && host->stop != PNL_GOES_ON && strncmp(err->message, self->name, strlen(self->name)) != 0) {
        pnl_host_stop_text(host, why, sizeof why); /* while the script was made ready */
        (void)pn_fail(err, status, "%.100s: %s", self->name, why);
    }
}

PNL_API pn_status pnl_curator_run(pnl_curator *curator, const char *code, size_t size, const char *name, char **answer,
                                  pn_err *err)
{
    script given = { curator, code, name, size };
    pnl_host *host = NULL;
    pn_status status;

    if (answer)
        *answer = NULL;
    if (!claim(curator))
        return pn_fail(err, PN_EINVAL, "curator: a script runs already; take a curator for each thread");
    status = pnl_host_new(&host, &curator->limits, err);
    set_host(curator, host);
    if (status != PN_OK)
        return status;
    lua_pushcfunction(pnl_host_state(host), run_script);
    lua_pushlightuserdata(pnl_host_state(host), &given);
    status = pnl_host_call(host, 1, 2, err);
    if (status == PN_OK)
        status = conclude(host, answer, err);
    else
        tidy(&given, host, status, err);
    set_host(curator, NULL);
    pnl_host_free(host);
    return status;
}

PNL_API void pnl_curator_cancel(pnl_curator *curator)
{
    (void)pthread_mutex_lock(&curator->lock);
    if (curator->host)
        pnl_host_cancel(curator->host);
    (void)pthread_mutex_unlock(&curator->lock);
}
