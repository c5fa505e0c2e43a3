/* config_fuzz.c -- configuration files, which are Lua that is run as data, and the lessons' file of progress.
 * The first byte says which.  So that many fit a second, a configuration gets 20,000 steps instead of its ten million,
 * and the collector, which goes through all of the library's objects before each one, does so before every 256th.
 * Depends on: lua_kit.h. */
#include <string.h>

#include "fuzz/lua_kit.h"

static const char configuration[] =
    "local path, collect, calls = ..., collectgarbage, 0\n"
    "function collectgarbage(what, ...)\n"
    "  if what then return collect(what, ...) end\n"
    "  calls = calls + 1\n"
    "  return calls % 256 == 0 and collect() or 0\n"
    "end\n"
    "local config, guard = require 'penumbra.programs.config', require 'penumbra.programs.config_guard'\n"
    "local seen = {}\n"
    "local function shorten(f)\n"
    "  for i = 1, 60 do\n"
    "    local name, value = debug.getupvalue(f, i)\n"
    "    if name == 'STEPS' then debug.setupvalue(f, i, 20000) end\n"
    "    if type(value) == 'function' and not seen[value] then seen[value] = true; shorten(value) end\n"
    "  end\n"
    "end\n"
    "shorten(guard.run)\n"
    "local known = {}\n"
    "for _, kind in ipairs { 'count', 'positive', 'fraction', 'path', 'text', 'table', 'boolean', 'function' } do\n"
    "  known[#known + 1] = { name = kind, kinds = kind, doc = kind }\n"
    "end\n"
    "return function()\n"
    "  local string_before, print_before = string.rep, print\n"
    "  local fine, fields = pcall(config.read, path)\n"
    "  assert(string.rep == string_before and print == print_before and getmetatable('').__index == string)\n"
    "  assert(fine or config.failed(fields), fields)\n"
    "  if fine then\n"
    "    local known_now, why = pcall(config.check, fields, known, 'here')\n"
    "    assert(known_now or config.failed(why), why)\n"
    "  end\n"
    "end\n";

static const char lessons[] = "local path = ...\n"
                              "local progress = require 'penumbra.lesson.progress'\n"
                              "return function()\n"
                              "  for name, record in pairs(progress.read(path)) do\n"
                              "    assert(type(name) == 'string' and type(record.done) == 'table')\n"
                              "  end\n"
                              "end\n";

static lua_State *open_state(const char *text, const char *path)
{
    char setup[4096];

    (void)snprintf(setup, sizeof setup, "return (function(...) %s end)(%s%s%s)", text, "'", path, "'");
    return fuzz_lua(setup);
}

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    static lua_State *states[2];
    size_t which;
    const char *path;

    if (size == 0)
        return 0;
    which = *data & 1;
    path = fuzz_file("text.lua", data + 1, size - 1);
    states[which] = states[which] ? states[which] : open_state(which ? lessons : configuration, path);
    fuzz_lua_call(states[which], data, 0);
    return 0;
}
