-- call.lua -- what calls with a table of options share: unknown options are refused, wrong values are quoted, and errors name the
-- call that was made and the place of its caller, not a place inside the library.
-- Depends on: nothing.  Used by: penumbra.evaluation, penumbra.intervals, penumbra.model.
local error, ipairs, next, tostring, type = error, ipairs, next, tostring, type
local concat, find, format, gsub, sort = table.concat, string.find, string.format, string.gsub, table.sort

local call = {}

-- A value as messages quote it: numbers, texts and booleans as they are, of others the type.
function call.shown(value)
  local kind = type(value)
  if kind == "number" or kind == "string" or kind == "boolean" then return tostring(value) end
  return kind == "nil" and "nothing" or "a " .. kind
end

-- options is a table, and each of its keys the name of one of params.
function call.check(owner, params, options)
  if type(options) ~= "table" then error(format("%s: expected a table of options, got %s", owner, type(options)), 0) end
  local names, known = {}, {}
  for k, param in ipairs(params) do
    names[k], known[param.name] = param.name, true
  end
  sort(names)
  for name in next, options do
    if not known[name] then
      error(format("%s: unknown option '%s'; it takes %s", owner, call.shown(name), concat(names, ", ")), 0)
    end
  end
end

-- Of pcall(f, ...), where a function that a script calls calls this: the answers, or the error.  Values that are no texts pass.
function call.finish(owner, fine, ...)
  if fine then return ... end
  local message = ...
  if type(message) ~= "string" then error(message, 0) end
  message = gsub(gsub(message, "^%S-penumbra/%S-%.lua:%d+: ", ""), "^stdlib/%S-%.lua:%d+: ", "")
  if find(message, owner, 1, true) ~= 1 then message = owner .. ": " .. message end
  error(message, 3)
end

return call
