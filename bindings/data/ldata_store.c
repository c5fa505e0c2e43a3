/* ldata_store.c -- pn.data.store: data sets that stay on disk.
 * Depends on: pnl.h, progress.h, ldata.h, core/vault.h.  Used by: ldata_load.c. */
#include <string.h>

#include "bindings/core/pnl.h"
#include "bindings/core/progress.h"
#include "bindings/data/ldata.h"
#include "core/vault.h"

/* Push the folder that the file is in. */
static const char *push_folder(lua_State *L, const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return lua_pushliteral(L, ".");
    return lua_pushlstring(L, path, slash == path ? 1 : (size_t)(slash - path));
}

/* The function at 2 and its arguments become what it returns, made on disk. */
static void call_maker(lua_State *L, const char *path)
{
    int arguments = lua_gettop(L) - 2, outcome;
    const char *before, *folder = push_folder(L, path);

    lua_insert(L, 2); /* kept while it is in use */
    before = pn_vault_place(folder);
    outcome = lua_pcall(L, arguments, 1, 0);
    (void)pn_vault_place(before);
    if (outcome != LUA_OK)
        (void)lua_error(L);
    lua_remove(L, 2);
}

static void write_data(lua_State *L, const char *path, const pn_dataset *data)
{
    pn_status status;
    pn_err err;

    pnl_run_begin(L, true);
    pnl_run_lend_task(L);
    status = pn_dataset_store(data, path, pnl_task(L), &err);
    pnl_run_end(L);
    pnl_status(L, status, &err);
}

int pnl_data_store(lua_State *L)
{
    const char *path = pnl_data_path(L, 1, "data.store");
    pn_dataset **slot;
    pn_status status;
    pn_err err;

    if (lua_gettop(L) > 1) {
        const pn_dataset *data;

        if (lua_type(L, 2) == LUA_TFUNCTION)
            call_maker(L, path);
        data = pnl_test(L, 2, &pnl_dataset_class);
        if (!data)
            return pnl_error(L, "data.store: needs a data set to write, or a function that returns one, got %s",
                             luaL_typename(L, 2));
        write_data(L, path, data);
    }
    slot = pnl_new_data(L);
    pnl_run_begin(L, true);
    pnl_run_lend_task(L);
    status = pn_dataset_open(slot, path, pnl_task(L), &err);
    pnl_run_end(L);
    return pnl_data_made(L, slot, status, &err);
}
