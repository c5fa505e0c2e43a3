-- shown.lua -- shown(value): a wrong value as messages quote it: numbers, texts and booleans as they are, of others the type.
-- Depends on: nothing.  Used by: penumbra.evaluation, penumbra.intervals, penumbra.model.
local tostring, type = tostring, type

return function(value)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" then return tostring(value) end
  return kind == "nil" and "nothing" or "a " .. kind
end
