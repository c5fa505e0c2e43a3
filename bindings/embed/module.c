/* module.c -- luaopen_penumbra_core: builds the `pn` table from the parts, then lets the Lua half finish it.
 * Depends on: pnl.h, every l*.c.  Used by: stdlib/init.lua (require "penumbra"), the program. */
#include <stdlib.h>

#include "bindings/core/pnl.h"
#include "bindings/core/lprint.h"
#include "bindings/core/progress.h"
#ifdef PN_MUTANTS
#include "tools/peek.h"
#endif

static const char task_key = 't', threads_key = 'n';

static const pnl_class task_class = { "pn.task", (void (*)(void *))pn_task_free,
                                      NULL,      "The module's worker threads, progress and cancel flag.",
                                      NULL,      NULL };

pn_task *pnl_task(lua_State *L)
{
    pn_task *task;

    lua_rawgetp(L, LUA_REGISTRYINDEX, &task_key);
    task = pnl_check(L, -1, &task_class);
    lua_pop(L, 1);
    return task;
}

void pnl_set_threads(lua_State *L, unsigned threads)
{
    lua_pushinteger(L, (lua_Integer)threads);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &threads_key);
}

/* PENUMBRA_THREADS=1 keeps the module to the caller's thread; unset, empty or odd values mean one per processor. */
static unsigned wanted_threads(void)
{
    const char *text = getenv("PENUMBRA_THREADS");
    long wanted = text ? strtol(text, NULL, 10) : 0;

    return wanted > 0 && wanted <= 256 ? (unsigned)wanted : 0;
}

/* One for the life of the state, however often the module is opened: a host knows its address. */
static void make_task(lua_State *L)
{
    pn_task **slot;
    unsigned threads;
    pn_err err;

    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &task_key) != LUA_TNIL) {
        lua_pop(L, 1);
        return;
    }
    lua_pop(L, 1);
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &threads_key) == LUA_TNUMBER)
        threads = (unsigned)lua_tointeger(L, -1);
    else
        threads = wanted_threads();
    lua_pop(L, 1);
    slot = (pn_task **)pnl_newbox(L, &task_class);
    pnl_status(L, pn_task_new(slot, threads, &err), &err);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &task_key);
}

static int reference(lua_State *L)
{
    pnl_push_reference(L);
    return 1;
}

/* Into the table on the top. */
static void open_parts(lua_State *L)
{
    void (*const parts[])(lua_State *) = { pnl_open_numbers,  pnl_open_expression, pnl_open_rng,   pnl_open_data,
                                           pnl_open_geometry, pnl_open_norm,       pnl_open_prox,  pnl_open_potential,
                                           pnl_open_privacy,  pnl_open_tree,       pnl_open_ranks, pnl_open_objective,
                                           pnl_open_sampling, pnl_open_federated,  pnl_open_solve, pnl_open_query,
                                           pnl_open_curator,  pnl_open_recipe };

    pnl_open_class(L, &task_class);
    lua_pushstring(L, pn_version());
    lua_setfield(L, -2, "version");
    pnl_reference(L, "", "version", PNL_NOTHING, "pn.version -> string", "The version of Penumbra.", NULL, NULL);
    lua_pushcfunction(L, reference);
    lua_setfield(L, -2, "reference");
    pnl_reference(L, "", "reference", PNL_NOTHING, "pn.reference() -> table",
                  "Every public function, method and field: signature, doc, what it reveals, options, source.", NULL,
                  NULL);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        parts[i](L);
#ifdef PN_MUTANTS
    pnl_open_peek(L);
#endif
}

int pnl_document(lua_State *L)
{
    lua_newtable(L); /* what is opened goes; its descriptions stay */
    open_parts(L);
    return 0;
}

PNL_API int luaopen_penumbra_core(lua_State *L)
{
    make_task(L);
    pnl_open_cell(L);
    pnl_open_frame(L);
    if (!pnl_curated(L)) {
        pnl_open_workers(L);
        pnl_open_files(L);
    }
    lua_newtable(L);
    open_parts(L);
    pnl_curate_library(L);
    return 1;
}

void pnl_open_curated(lua_State *L, struct pn_ledger *ledger)
{
    pnl_forget_classes(L, &task_class);
    pnl_curate(L, ledger);
    lua_pushcfunction(L, luaopen_penumbra_core);
    lua_call(L, 0, 1);
}
