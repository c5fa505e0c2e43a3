/* host_usage_test.c -- every example of the reference runs in a host with limits,
 * as it does with files and all of Lua's libraries.
 * Depends on: penumbra_lua.h, check.h. */
#define _DEFAULT_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bindings/embed/penumbra_lua.h"
#include "check.h"

#include <lauxlib.h>
#include <lualib.h>

/* What needs mpirun says that this process stands alone. */
static const char examples[] =
    "local usage, names = require 'penumbra.usage', {}\n"
    "for name in pairs(pn.reference()) do names[#names + 1] = usage[name] and name end\n"
    "table.sort(names)\n"
    "for _, name in ipairs(names) do\n"
    "  local ok, why = pcall(assert(load(usage[name], '=' .. name, 't', setmetatable({}, { __index = _G }))))\n"
    "  if not ok and not tostring(why):find('stands alone', 1, true) then\n"
    "    error(name .. ': ' .. tostring(why), 0)\n"
    "  end\n"
    "end\n"
    "return #names\n";

/* Plots and help are heard as what is printed. */
static void hear(void *self, pnl_host_channel channel, const char *text, size_t size)
{
    bool *plotted = self;

    CHECK(text[size] == '\0');
    *plotted = *plotted || (channel == PNL_OUTPUT && strncmp(text, "excess risk\n", 12) == 0);
}

static void examples_run(void)
{
    bool plotted = false;
    pnl_host_options options = { .instructions = UINT64_C(1) << 40, .threads = 1, .log = hear, .self = &plotted };
    pnl_host *host = NULL;
    pn_err err;

    if (!CHECK(pnl_host_new(&host, &options, &err) == PN_OK))
        return;
    if (!CHECK(pnl_host_run(host, examples, strlen(examples), "examples", NULL, &err) == PN_OK))
        (void)fprintf(stderr, "%s\n", pnl_host_message(host));
    else
        CHECK(lua_tointeger(pnl_host_state(host), -1) > 300 && plotted);
    pnl_host_free(host);
}

/* The modules do without what a state of the host's own leaves out. */
static void a_state_without_debug_will_do(void)
{
    static const char code[] =
        "local pn = require 'penumbra'\n"
        "return pn.plot.line { y = pn.vec { 1, 3, 2 }, as = 'text' }, pn.check(pn.set.l1_ball { dim = 2 }).ok";
    static const luaL_Reg libraries[] = {
        { "_G", luaopen_base },     { "package", luaopen_package },     { "string", luaopen_string },
        { "table", luaopen_table }, { "math", luaopen_math },           { "io", luaopen_io },
        { "os", luaopen_os },       { "coroutine", luaopen_coroutine }, { "utf8", luaopen_utf8 },
    };
    lua_State *L = luaL_newstate();

    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        luaL_requiref(L, libraries[i].name, libraries[i].func, 1);
    lua_settop(L, 0);
    pnl_open(L);
    CHECK(lua_gettop(L) == 0);
    if (!CHECK(luaL_dostring(L, code) == LUA_OK))
        (void)fprintf(stderr, "%s\n", lua_tostring(L, -1));
    CHECK(lua_isstring(L, 1) && lua_toboolean(L, 2));
    CHECK(lua_getglobal(L, "debug") == LUA_TNIL);
    lua_close(L);
}

int main(void)
{
    char folder[] = "/tmp/host_usage_XXXXXX", command[64];

    if (!CHECK(mkdtemp(folder) && chdir(folder) == 0)) /* some write files */
        return check_summary();
    examples_run();
    a_state_without_debug_will_do();
    (void)snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(chdir("/") == 0 && system(command) == 0);
    return check_summary();
}
