/* lfiles.c -- `require "penumbra.files"`: how the Lua half writes files, whole or not at all, and makes folders.
 * Depends on: pnl.h, core/file.h.  Used by: module.c; whatever writes files in stdlib/. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <lauxlib.h>

#include "bindings/core/pnl.h"
#include "core/file.h"

static const char *path_at_1(lua_State *L)
{
    size_t length;
    const char *path = luaL_checklstring(L, 1, &length);

    luaL_argcheck(L, strlen(path) == length, 1, "a file name must not contain a zero byte");
    return path;
}

/* true, or nil and the system's words */
static int outcome(lua_State *L, const char *path, int error)
{
    if (error) {
        luaL_pushfail(L);
        lua_pushfstring(L, "%s: %s", path, strerror(error));
        return 2;
    }
    lua_pushboolean(L, 1);
    return 1;
}

/* put(path, text): the whole file, or nothing */
static int put(lua_State *L)
{
    const char *path = path_at_1(L);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);

    return outcome(L, path, pn_file_put(path, text, size, 0666, true));
}

/* append(path, text [, durable]): all of it at the end of the file, or nothing */
static int append(lua_State *L)
{
    const char *path = path_at_1(L);
    size_t size;
    const char *text = luaL_checklstring(L, 2, &size);

    return outcome(L, path, pn_file_append(path, text, size, 0666, lua_toboolean(L, 3)));
}

static int make_folder(const char *path)
{
    struct stat info;

    if (mkdir(path, 0777) == 0)
        return 0;
    return errno == EEXIST && stat(path, &info) == 0 && !S_ISDIR(info.st_mode) ? ENOTDIR : errno == EEXIST ? 0 : errno;
}

/* folder(path): the folder, and those that it is in, unless they are there */
static int folder(lua_State *L)
{
    const char *path = path_at_1(L);
    int error = 0;

    for (const char *slash = strchr(path, '/'); slash && !error; slash = strchr(slash + 1, '/')) {
        lua_pushlstring(L, path, (size_t)(slash - path));
        error = slash > path ? make_folder(lua_tostring(L, -1)) : 0;
        lua_pop(L, 1);
    }
    return outcome(L, path, error ? error : make_folder(path));
}

static int open_files(lua_State *L)
{
    static const luaL_Reg functions[] = { { "put", put }, { "append", append }, { "folder", folder }, { NULL, NULL } };

    luaL_newlib(L, functions);
    return 1;
}

void pnl_open_files(lua_State *L)
{
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_PRELOAD_TABLE);
    lua_pushcfunction(L, open_files);
    lua_setfield(L, -2, "penumbra.files");
    lua_pop(L, 1);
}
