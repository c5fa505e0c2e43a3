/* usage_alloc_test.c -- every example of stdlib/usage, and so each public function, when memory runs out
 * (fail_scripts.h).
 * Depends on: fail_scripts.h, bindings/. */
#define _XOPEN_SOURCE 700
#include "bindings/core/pnl.h"
#include "bindings/embed/penumbra_lua.h"

#include "fail_scripts.h"

static const char setup[] =
    "pn = require 'penumbra'\n"
    "usage = require 'penumbra.usage'\n"
    "more = dofile 'tests/bindings/core/usage_alloc_more.lua'\n"
    "io.output '/dev/null'\n"
    "local function show(...)\n"
    "  for i = 1, select('#', ...) do tostring((select(i, ...))) end\n"
    "end\n"
    "local slow = ' accountant.selftest advise check curator experiment plot.heat plot.histogram plot.line '\n"
    "  .. 'plot.privacy plot.scatter plot.set2d plot.trace pn.curator:run solve.objective_perturbation '\n"
    "  .. 'solve.objective_perturbation.plan solve.trust_region solve.trust_region.plan solve.zeroth_order_naive '\n"
    "local function takes(name)\n"
    "  if name == 'budget' then return false end -- what it has charged stands, and the next round is refused\n"
    "  return os.getenv 'PN_THOROUGH' or not slow:find(' ' .. name .. ' ', 1, true)\n"
    "end\n"
    "function names()\n"
    "  local list = {}\n"
    "  for name in pairs(more) do list[#list + 1] = name end\n"
    "  for name in pairs(pn.reference()) do\n"
    "    if usage[name] and not usage[name]:find '^%-%- mpirun' and takes(name) then list[#list + 1] = name end\n"
    "  end\n"
    "  table.sort(list)\n"
    "  return list\n"
    "end\n"
    "function prepare(name)\n"
    "  if more[name] then return more[name] end\n"
    "  local text = usage[name]:gsub('%f[%w]n = [2-9]000%f[%D]', 'n = 1000')\n"
    "  return assert(load(text, '=' .. name, 't', setmetatable({ print = show }, { __index = _G })))\n"
    "end\n";

int main(void)
{
    fail_scripts_sweep(setup, pnl_open);
    return check_summary();
}
