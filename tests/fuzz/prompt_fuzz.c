/* prompt_fuzz.c -- what is typed at the prompt, up to running it: whether it is finished, how it is indented, what may
 * follow, what it means, and what is said of an error in it.  Only looking: no entry is run.
 * Depends on: lua_kit.h. */
#include "fuzz/lua_kit.h"

static const char setup[] =
    "local prompt = require 'penumbra.prompt'\n"
    "local errors, magic = require 'penumbra.errors', require 'penumbra.prompt.magic'\n"
    "d = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 1, -1 })\n"
    "prompt.opened(false)\n"
    "return function(entry)\n"
    "  local names, start = prompt.complete(entry)\n"
    "  if names then assert(type(names) == 'string' and (not start or start >= 1 and start <= #entry + 1)) end\n"
    "  prompt.indent(entry)\n"
    "  assert(type(prompt.ready(entry)) == 'boolean')\n"
    "  prompt.as_statement(entry, 3)\n"
    "  magic.read(entry)\n"
    "  require 'penumbra.prompt.tokens'(entry)\n"
    "  local run, message = prompt.compile(entry, prompt.env())\n"
    "  if not run and message then assert(type(errors.syntax(message)) == 'string') end\n"
    "  require 'penumbra.prompt.habits'.unknown(entry, _G)\n"
    "end\n";

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    static lua_State *L;

    L = L ? L : fuzz_lua(setup);
    fuzz_lua_call(L, data, size);
    return 0;
}
