/* host_log.c -- what a script prints and what the library warns of, handed to the host a line at a time.
 * Depends on: host.h.  Used by: host.c. */
#include <stdio.h>
#include <string.h>

#include <lualib.h>

#include "bindings/embed/host.h"
#include "bindings/embed/open.h"

/* The host's own memory is not the script's. */
static void tell(pnl_host *host, pnl_host_channel channel, const char *text, size_t size)
{
    pn_account *inside = pn_account_enter(host->outer);

    host->options.log(host->options.self, channel, text, size);
    (void)pn_account_enter(inside);
}

/* As Lua's print. */
static int print(lua_State *L)
{
    int arguments = lua_gettop(L);
    luaL_Buffer line;
    size_t size;
    const char *text;

    luaL_checkstack(L, 8, "print");
    luaL_buffinit(L, &line);
    for (int i = 1; i <= arguments; i++) {
        if (i > 1)
            luaL_addchar(&line, '\t');
        luaL_tolstring(L, i, NULL);
        luaL_addvalue(&line);
    }
    luaL_pushresult(&line);
    text = lua_tolstring(L, -1, &size);
    tell(pnl_host_of(L), PNL_OUTPUT, text, size);
    return 0;
}

/* io.write of the modules, whose help and plots are for who reads what scripts print.
 * The end of a line is not part of it. */
static int module_write(lua_State *L)
{
    int arguments = lua_gettop(L);
    luaL_Buffer text;
    const char *bytes;
    size_t size;

    luaL_buffinit(L, &text);
    for (int i = 1; i <= arguments; i++) {
        luaL_checkstring(L, i);
        lua_pushvalue(L, i);
        luaL_addvalue(&text);
    }
    luaL_pushresult(&text);
    bytes = lua_tolstring(L, -1, &size);
    if (size > 0 && bytes[size - 1] == '\n')
        bytes = lua_pushlstring(L, bytes, --size);
    tell(pnl_host_of(L), PNL_OUTPUT, bytes, size);
    return 0;
}

/* Modules find it in an `io` of their own. */
static void give_modules_write(lua_State *L)
{
    pnl_module_environment(L);
    lua_createtable(L, 0, 1);
    lua_pushcfunction(L, module_write);
    lua_setfield(L, -2, "write");
    lua_createtable(L, 0, 1);
    lua_getglobal(L, LUA_IOLIBNAME);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, -2);
    lua_setfield(L, -2, LUA_IOLIBNAME);
    lua_pop(L, 1);
}

static void flush_warning(pnl_host *host)
{
    if (host->options.log) {
        tell(host, PNL_WARNING, host->warning, host->warning_size);
    } else {
        (void)fflush(stdout);
        (void)fprintf(stderr, "warning: %s\n", host->warning);
    }
    host->warning_size = 0;
}

/* Pieces come one after another; "@on" and "@off" alone are for us.  What is too long is cut. */
static void warn(void *self, const char *piece, int to_be_continued)
{
    pnl_host *host = self;
    size_t size = strlen(piece), room = sizeof host->warning - 1 - host->warning_size;

    if (host->warning_size == 0 && !to_be_continued && piece[0] == '@') {
        if (strcmp(piece, "@on") == 0)
            host->warns = true;
        else if (strcmp(piece, "@off") == 0)
            host->warns = false;
        return;
    }
    size = size < room ? size : room;
    memcpy(host->warning + host->warning_size, piece, size);
    host->warning_size += size;
    host->warning[host->warning_size] = '\0';
    if (to_be_continued)
        return;
    if (host->warns)
        flush_warning(host);
    host->warning_size = 0;
}

void pnl_host_open_log(pnl_host *host)
{
    host->warns = true;
    lua_setwarnf(host->L, warn, host);
    if (host->options.log) {
        lua_register(host->L, "print", print);
        give_modules_write(host->L);
    }
}
