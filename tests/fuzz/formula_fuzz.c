/* formula_fuzz.c -- formulas of losses: the text of one, over z, y and the functions of pn.  It is traced, simplified,
 * differentiated, bounded and compiled; values lie within what was certified.
 * Depends on: lua_kit.h. */
#include "fuzz/lua_kit.h"

static const char setup[] =
    "local names = {}\n"
    "for name in ('exp log log1p expm1 sqrt abs sign min max clamp relu tanh sigmoid softplus erf sin cos where lt le "
    "gt ge logsumexp'):gmatch '%l+' do names[name] = pn[name] end\n"
    "local LABELS = { values = { -1, 1 } }\n"
    "local function inside(value, bound)\n"
    "  local slack = 1e-9 * (1 + math.abs(value))\n"
    "  return value ~= value or value >= bound.min[1] - slack and value <= bound.max[2] + slack\n"
    "end\n"
    "local function check(e)\n"
    "  local fine, bound = pcall(e.bound, e, { z = { -2, 2 }, y = LABELS })\n"
    "  for _, z in ipairs { -2, -0.5, 0, 1, 2 } do\n"
    "    for _, y in ipairs { -1, 1 } do\n"
    "      local value = e(z, y)\n"
    "      if fine and not inside(value, bound) then\n"
    "        error(string.format('%s at %g, %g is %.17g, certified are %.17g to %.17g', e, z, y, value, bound.min[1], "
    "bound.max[2]))\n"
    "      end\n"
    "    end\n"
    "  end\n"
    "end\n"
    "local function read(whole)\n"
    "  local f = assert(load(whole, '=formula', 't', setmetatable({}, { __index = names })))\n"
    "  local function stop() error('too many steps', 0) end\n"
    "  debug.sethook(stop, '', 100000)\n"
    "  local fine, e = pcall(function() return pn.trace(f()) end)\n"
    "  debug.sethook()\n"
    "  if not fine then return end\n"
    "  local text = tostring(e)\n"
    "  check(e)\n"
    "  check(e:derivative 'z')\n"
    "  pcall(function()\n"
    "    local loss = pn.loss.glm(f(), { labels = { -1, 1 } })\n"
    "    return tostring(loss) .. loss.formula .. loss.slope_formula .. (loss.curvature_formula or '')\n"
    "  end)\n"
    "end\n"
    "return function(text)\n"
    "  local whole = 'return function(z, y) return ' .. text .. ' end'\n"
    "  if not text:find 'goto' and load(whole, '', 't') then read(whole) end\n"
    "end\n";

int FUZZ_TARGET(const uint8_t *data, size_t size)
{
    static lua_State *L;

    L = L ? L : fuzz_lua(setup);
    fuzz_lua_call(L, data, size);
    return 0;
}
