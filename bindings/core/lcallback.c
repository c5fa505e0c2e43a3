/* lcallback.c -- the runtime calls Lua.
 * Depends on: lcallback.h, progress.h.  Used by: bindings of losses, sets and potentials of a user's own. */
#include <math.h>
#include <string.h>

#include "bindings/core/lcallback.h"
#include "bindings/core/progress.h"

#define HOOK_STEPS 20000 /* of Lua between two looks for Ctrl-C: a fraction of a millisecond */

/* ---- where the functions live ----
 * A registry table with weak values leads from the callback to the box of its object; the table of functions is kept
 * there, under the address of the callback. */

static const char boxes_key = 'b';

static void push_function(lua_State *L, const pnl_callback *back, unsigned which)
{
    pnl_push_weak(L, &boxes_key);
    if (lua_rawgetp(L, -1, back) != LUA_TUSERDATA)
        pnl_error(L, "%s: the functions are gone", back->owner);
    lua_getiuservalue(L, -1, 1);
    lua_rawgetp(L, -1, back);
    lua_rawgeti(L, -1, (lua_Integer)which + 1);
}

/* The functions, in a table of their own on the stack top. */
static unsigned take_functions(lua_State *L, int options, const char *owner, const char *const *names)
{
    unsigned given = 0;

    lua_newtable(L);
    for (int i = 0; names[i]; i++) {
        if (lua_getfield(L, options, names[i]) == LUA_TNIL) {
            lua_pop(L, 1);
            continue;
        }
        if (!lua_isfunction(L, -1) && luaL_getmetafield(L, -1, "__call") != LUA_TNIL)
            lua_pop(L, 1);
        else if (!lua_isfunction(L, -1))
            pnl_error(L, "%s: %s must be a function, got %s", owner, names[i], pnl_got(L, -1));
        lua_rawseti(L, -2, i + 1);
        given |= 1u << i;
    }
    return given;
}

/* Under lua_pcall: (box, functions, callback) */
static int attach(lua_State *L)
{
    const pnl_callback *back = lua_touserdata(L, 3);

    pnl_keep(L, 1, 2); /* makes the table of kept values */
    lua_getiuservalue(L, 1, 1);
    lua_pushvalue(L, 2);
    lua_rawsetp(L, -2, back);
    pnl_push_weak(L, &boxes_key);
    lua_pushvalue(L, 1);
    lua_rawsetp(L, -2, back);
    return 0;
}

pnl_callback *pnl_new_callback(lua_State *L, int box, int options, const char *owner, const char *const *names)
{
    pnl_refuse_analyst(L, owner,
                       "it hands values that were not released to a function of yours; use one that is traced");
    return pnl_new_paid_callback(L, box, options, owner, names);
}

pnl_callback *pnl_new_paid_callback(lua_State *L, int box, int options, const char *owner, const char *const *names)
{
    pnl_callback *back;
    unsigned given;

    box = lua_absindex(L, box);
    given = take_functions(L, lua_absindex(L, options), owner, names);
    lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_MAINTHREAD);
    luaL_checkstack(L, 4, owner);
    back = pn_alloc(1, sizeof *back);
    if (!back) {
        pnl_no_memory(L, "%s: out of memory", owner);
        return NULL; /* pnl_error does not return */
    }
    *back = (pnl_callback){ lua_tothread(L, -1), owner, names, given };
    lua_pop(L, 1);
    lua_pushcfunction(L, attach);
    lua_pushvalue(L, box);
    lua_pushvalue(L, -3);
    lua_pushlightuserdata(L, back);
    if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
        pn_free(back);
        lua_error(L);
    }
    lua_pop(L, 1);
    return back;
}

typedef struct wanted {
    const char *owner;
    const char *const *names;
    pnl_callback *made;
} wanted;

/* (box, options, wanted) */
static int make_callback(lua_State *L)
{
    wanted *of = lua_touserdata(L, 3);

    of->made = pnl_new_callback(L, 1, 2, of->owner, of->names);
    return 0;
}

pnl_callback *pnl_begin_callback(lua_State *L, int box, int options, const char *owner, const char *const *names)
{
    wanted of = { owner, names, NULL };

    box = lua_absindex(L, box);
    options = lua_absindex(L, options);
    pnl_run_begin(L, false);
    lua_pushcfunction(L, make_callback);
    lua_pushvalue(L, box);
    lua_pushvalue(L, options);
    lua_pushlightuserdata(L, &of);
    if (lua_pcall(L, 3, 0, 0) != LUA_OK) {
        pnl_run_end(L);
        (void)lua_error(L);
    }
    return of.made;
}

bool pnl_callback_has(const pnl_callback *back, unsigned which)
{
    return back->given >> which & 1u;
}

/* ---- the call ---- */

/* The first Ctrl-C asks the runtime to stop; a function that does not end would keep it waiting. */
static void stop_when_cancelled(lua_State *L, lua_Debug *where)
{
    (void)where;
    if (pn_task_cancelled(pnl_task(L)))
        luaL_error(L, "stopped by the user");
}

typedef struct call {
    const pnl_callback *back;
    unsigned which;
    pnl_call_body body;
    void *args;
} call;

/* Under lua_pcall: (call) */
static int run_body(lua_State *L)
{
    const call *self = lua_touserdata(L, 1);

    push_function(L, self->back, self->which);
    self->body(L, self->back, self->which, self->args);
    return 0;
}

static int remember_error(lua_State *L)
{
    pnl_set_error(L);
    return 0;
}

/* The error is on the top; remembering it may need memory, so that is protected, too. */
static pn_status raised(lua_State *L, const call *self, pn_err *err)
{
    const char *owner = self->back->owner;

    if (pn_task_cancelled(pnl_task(L))) {
        lua_pop(L, 1);
        return pn_task_stopped(pnl_task(L), owner, err);
    }
    lua_pushcfunction(L, remember_error);
    lua_insert(L, -2);
    if (lua_pcall(L, 1, 0, 0) != LUA_OK)
        lua_pop(L, 1);
    return pn_fail(err, PN_ECALLBACK, "%s: %s raised an error", owner, self->back->names[self->which]);
}

pn_status pnl_call_back(const pnl_callback *back, unsigned which, pnl_call_body body, void *args, pn_err *err)
{
    lua_State *L = pnl_run_state(back->main);
    call self = { back, which, body, args };
    bool hooked = !lua_gethook(L);
    int status;

    if (!lua_checkstack(L, 4))
        return pn_fail(err, PN_ENOMEM, "%s: out of memory for the stack", back->owner);
    lua_pushcfunction(L, run_body);
    lua_pushlightuserdata(L, &self);
    if (hooked)
        lua_sethook(L, stop_when_cancelled, LUA_MASKCOUNT, HOOK_STEPS);
    status = lua_pcall(L, 1, 0, 0);
    if (hooked && lua_gethook(L) == stop_when_cancelled) /* not what a second Ctrl-C has put there */
        lua_sethook(L, NULL, 0, 0);
    return status == LUA_OK ? PN_OK : raised(L, &self, err);
}

/* ---- pieces of bodies ---- */

void pnl_push_copy(lua_State *L, const double *numbers, size_t n)
{
    double *copy = pnl_new_vec_unset(L, n);

    if (n > 0)
        memcpy(copy, numbers, n * sizeof *copy);
}

double pnl_result_number(lua_State *L, const pnl_callback *back, unsigned which)
{
    double value = lua_tonumber(L, -1);

    if (lua_type(L, -1) != LUA_TNUMBER)
        pnl_error(L, "%s: %s must return a number, got %s", back->owner, back->names[which], pnl_got(L, -1));
    lua_pop(L, 1);
    return value;
}

bool pnl_result_boolean(lua_State *L, const pnl_callback *back, unsigned which)
{
    bool value = lua_toboolean(L, -1);

    if (lua_type(L, -1) != LUA_TBOOLEAN)
        pnl_error(L, "%s: %s must return true or false, got %s", back->owner, back->names[which], pnl_got(L, -1));
    lua_pop(L, 1);
    return value;
}

static int wrong_vec(lua_State *L, const pnl_callback *back, unsigned which, size_t n, const char *got)
{
    return pnl_error(L, "%s: %s must return a vector of %zu number%s, got %s", back->owner, back->names[which], n,
                     n == 1 ? "" : "s", got);
}

/* The entries of a plain table at the top into out. */
static void read_table(lua_State *L, const pnl_callback *back, unsigned which, double *out, size_t n)
{
    for (size_t j = 0; j < n; j++) {
        if (lua_rawgeti(L, -1, (lua_Integer)j + 1) != LUA_TNUMBER)
            wrong_vec(L, back, which, n, lua_pushfstring(L, "%s at entry %I", pnl_got(L, -1), (lua_Integer)j + 1));
        out[j] = lua_tonumber(L, -1);
        lua_pop(L, 1);
    }
}

void pnl_result_numbers(lua_State *L, const pnl_callback *back, unsigned which, double *out, size_t n)
{
    bool plain = lua_istable(L, -1);
    pn_vec given = { NULL, 0 };

    if (!plain && !pnl_test(L, -1, &pnl_vec_class))
        wrong_vec(L, back, which, n, pnl_got(L, -1));
    if (!plain)
        given = pnl_check_vec(L, -1);
    else
        given.n = (size_t)lua_rawlen(L, -1);
    if (given.n != n)
        wrong_vec(L, back, which, n, lua_pushfstring(L, "%I of them", (lua_Integer)given.n));
    if (plain)
        read_table(L, back, which, out, n);
    else if (n > 0)
        memcpy(out, given.data, n * sizeof *out);
    lua_pop(L, 1);
}

static void need_finite(lua_State *L, const pnl_callback *back, unsigned which, const double *x, size_t n)
{
    size_t bad = pn_first_nonfinite(x, n);

    if (bad < n)
        pnl_error(L, "%s: %s must return finite numbers, got %s at entry %zu", back->owner, back->names[which],
                  isnan(x[bad]) ? "nan" : (x[bad] > 0.0 ? "inf" : "-inf"), bad + 1);
}

void pnl_result_vec(lua_State *L, const pnl_callback *back, unsigned which, double *out, size_t n)
{
    pnl_result_numbers(L, back, which, out, n);
    need_finite(L, back, which, out, n);
}

/* ---- whole calls ---- */

typedef struct vec_call {
    const double *x;
    size_t n, out_n;
    double *out;
    bool *truth;
} vec_call;

static void call_with_vec(lua_State *L, const vec_call *args)
{
    pnl_push_copy(L, args->x, args->n);
    lua_call(L, 1, 1);
}

static void for_number(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    vec_call *args = ud;

    call_with_vec(L, args);
    *args->out = pnl_result_number(L, back, which);
}

static void for_boolean(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    vec_call *args = ud;

    call_with_vec(L, args);
    *args->truth = pnl_result_boolean(L, back, which);
}

/* The entries of a table are read into a vector of Lua's first: what raises half way leaves `out` as it was. */
static void for_vec(lua_State *L, const pnl_callback *back, unsigned which, void *ud)
{
    vec_call *args = ud;
    double *read;

    call_with_vec(L, args);
    if (pnl_test(L, -1, &pnl_vec_class)) {
        pn_vec given = pnl_check_vec(L, -1);

        if (given.n == args->out_n)
            need_finite(L, back, which, given.data, given.n);
        pnl_result_numbers(L, back, which, args->out, args->out_n);
        return;
    }
    read = pnl_new_vec(L, args->out_n);
    lua_insert(L, -2);
    pnl_result_vec(L, back, which, read, args->out_n);
    if (args->out_n > 0)
        memcpy(args->out, read, args->out_n * sizeof *read);
}

pn_status pnl_call_for_vec(const pnl_callback *back, unsigned which, const double *x, size_t n, double *out,
                           size_t out_n, pn_err *err)
{
    vec_call args = { .x = x, .n = n, .out = out, .out_n = out_n };

    return pnl_call_back(back, which, for_vec, &args, err);
}

pn_status pnl_call_for_number(const pnl_callback *back, unsigned which, const double *x, size_t n, double *out,
                              pn_err *err)
{
    vec_call args = { .x = x, .n = n, .out = out };

    return pnl_call_back(back, which, for_number, &args, err);
}

pn_status pnl_call_for_boolean(const pnl_callback *back, unsigned which, const double *x, size_t n, bool *out,
                               pn_err *err)
{
    vec_call args = { .x = x, .n = n, .truth = out };

    return pnl_call_back(back, which, for_boolean, &args, err);
}
