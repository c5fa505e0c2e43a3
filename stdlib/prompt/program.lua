-- program.lua -- what the program has as globals: pn, help and, unless strict, everything in pn that hides no name of
-- Lua.  Depends on: penumbra.  Used by: the program, before any script.
return function(strict)
  local pn = require "penumbra"
  local globals = strict and {} or pn
  rawset(_G, "pn", pn)
  rawset(_G, "help", pn.help)
  for name, value in pairs(globals) do
    local kind = type(value)
    if rawget(_G, name) == nil and (kind == "table" or kind == "function") then
      rawset(_G, name, value)
    end
  end
end
