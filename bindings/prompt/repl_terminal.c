/* repl_terminal.c -- penumbra.terminal: what the Lua half of the program cannot ask Lua for: terminals,
 * clocks, folders.
 * Depends on: repl.h, POSIX.  Used by: main.c, which preloads it; stdlib/{colour,complete,magic}.lua. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <lauxlib.h>

#include "bindings/prompt/repl.h"

/* is_terminal(number of the file) -> boolean */
static int is_terminal(lua_State *L)
{
    lua_pushboolean(L, isatty((int)luaL_checkinteger(L, 1)));
    return 1;
}

/* size() -> columns, rows of the terminal; 80, 24 where there is none */
static int size(lua_State *L)
{
    struct winsize window;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;

    lua_pushinteger(L, known ? window.ws_col : 80);
    lua_pushinteger(L, known && window.ws_row > 0 ? window.ws_row : 24);
    return 2;
}

static void push_clock(lua_State *L, clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    lua_pushnumber(L, (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
}

/* clocks() -> seconds of wall clock from some time on, seconds of all processors that this process took */
static int clocks(lua_State *L)
{
    push_clock(L, CLOCK_MONOTONIC);
    push_clock(L, CLOCK_PROCESS_CPUTIME_ID);
    return 2;
}

static bool is_folder(DIR *within, const char *name)
{
    struct stat about;

    return fstatat(dirfd(within), name, &about, 0) == 0 && S_ISDIR(about.st_mode);
}

/* Closed by what fills the table, also when that raises. */
typedef struct listing {
    DIR *within;
} listing;

static int close_listing(lua_State *L)
{
    listing *self = lua_touserdata(L, 1);

    if (self->within)
        closedir(self->within);
    self->within = NULL;
    return 0;
}

static listing *new_listing(lua_State *L)
{
    listing *self = lua_newuserdatauv(L, sizeof *self, 0);

    self->within = NULL;
    lua_createtable(L, 0, 2);
    lua_pushcfunction(L, close_listing);
    lua_setfield(L, -2, "__gc");
    lua_setmetatable(L, -2);
    return self;
}

/* files(folder) -> list of names in it, folders with a "/" behind; empty where there is no such folder, and where it
 * cannot be read, with why */
static int files(lua_State *L)
{
    const char *folder = luaL_checkstring(L, 1);
    listing *self = new_listing(L);
    lua_Integer count = 0;

    lua_newtable(L);
    self->within = opendir(folder);
    if (!self->within && errno == ENOMEM)
        return luaL_error(L, "not enough memory to list %s", folder);
    if (!self->within && errno != ENOENT && errno != ENOTDIR) {
        lua_pushstring(L, strerror(errno));
        return 2;
    }
    // cppcheck-suppress readdirCalled ; the stream is this call's own
    for (struct dirent *entry; self->within && (entry = readdir(self->within)) != NULL;) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        lua_pushfstring(L, "%s%s", entry->d_name, is_folder(self->within, entry->d_name) ? "/" : "");
        lua_rawseti(L, -2, ++count);
    }
    lua_pushcfunction(L, close_listing);
    lua_pushvalue(L, 2);
    lua_call(L, 1, 0);
    return 1;
}

int repl_open_terminal(lua_State *L)
{
    static const luaL_Reg functions[] = {
        { "is_terminal", is_terminal }, { "size", size }, { "clocks", clocks }, { "files", files }, { NULL, NULL },
    };

    luaL_newlib(L, functions);
    return 1;
}
