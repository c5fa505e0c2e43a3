-- boundary_calls.lua -- catches the call that an example makes, puts a number into it, and asks everything of the object that it
-- answers: what boundary.lua needs in an ordinary state and in a curator's, without anything that a curated script lacks.
-- Depends on: globals that boundary.lua sets.  Used by: boundary.lua, as text.
-- luacheck: globals examples method_of classes proxied stand_ins late cases data CALL PROBE pn print
-- luacheck: ignore 211
local values = { 0, 1, -1, 2147483648, 4294967296, 281474976710656, 9007199254740992, 4611686018427387904, 9223372036854775807,
  1e300, 5e-324, 0 / 0, math.huge }
local caught, wanted, method_wanted
local DONE = {} -- raised when the wanted call has been caught

local originals = setmetatable({}, { __mode = "k" }) -- wrapper -> what it wraps
local function copy(value)
  if originals[value] ~= nil then return originals[value] end
  if type(value) ~= "table" or getmetatable(value) then return value end
  local out = {}
  for k, v in pairs(value) do out[k] = copy(v) end
  return out
end

local function catch(f, ...)
  caught = { f = f, n = select("#", ...) }
  for i = 1, caught.n do caught[i] = copy((select(i, ...))) end
  error(DONE, 0)
end

-- What examples take that is larger than a test needs, or that analysts do not have.
local function smaller(place, options)
  if type(options) ~= "table" or getmetatable(options) then return end
  if string.find(place, "data.synthetic.", 1, true) == 1 and (options.n or 0) > 40 then options.n = 40 end
  if string.find(place, "solve.", 1, true) == 1 then
    if (options.batch or 0) > 10 then options.batch = 10 end
    if (options.iterations or 0) > 10 then options.iterations = 10 end
    if (options.inner or 0) > 5 then options.inner = 5 end
  end
end

local proxy
local function wrap(f, place)
  local function wrapped(...)
    smaller(place, (...))
    smaller(place, (select(2, ...)))
    if place == wanted then catch(f, ...) end
    local instead = stand_ins and stand_ins[place]
    if instead then return instead(...) end
    local args = table.pack(...)
    for i = 1, args.n do if originals[args[i]] ~= nil then args[i] = originals[args[i]] end end
    return f(table.unpack(args, 1, args.n))
  end
  originals[wrapped] = f
  return wrapped
end
function proxy(library, place)
  local seen = {}
  local made = setmetatable({}, {
    __index = function(_, key)
      local value = library[key]
      if type(value) ~= "function" and type(value) ~= "table" then return value end
      local name = place == "" and key or place .. "." .. key
      seen[key] = seen[key] or (type(value) == "function" and wrap(value, name) or proxy(value, name))
      return seen[key]
    end,
    __call = function(_, ...) return wrap(library, place)(...) end,
  })
  originals[made] = library
  return made
end

-- The examples' x:name(...) is CALL(x, "name", ...).
function CALL(object, name, ...)
  local f = object[name]
  if name == method_wanted and type(object) == "userdata" then catch(f, object, ...) end
  return f(object, ...)
end
function PROBE(f, ...) catch(f, ...) end

-- The call that the example of `name` makes, not yet made; or nil and why.
local function capture(name)
  local own_pn, own_print = pn, print
  caught, wanted, method_wanted = nil, name, method_of[name]
  pn, print = proxied, function() end
  local ok, why = pcall(examples[name])
  pn, print = own_pn, own_print
  if caught then return caught end
  return nil, ok and "its example does not call it" or why
end

-- Noise for rho has a formula, that for epsilon and delta is searched for.
local function price_by_rho(args)
  local options = args[2]
  options.rho, options.epsilon, options.delta = 0.5, nil, nil
end

-- Put values[v] at a path of keys into the arguments.
local function put(args, path, value)
  local at = args
  for i = 1, #path - 1 do
    if type(at[path[i]]) ~= "table" then at[path[i]] = {} end
    at = at[path[i]]
  end
  at[path[#path]] = value
  if #path >= 1 and path[1] > args.n then args.n = path[1] end
end

local operators = {
  function(r, s) return r + s end, function(r, s) return r - s end, function(r, s) return r * s end,
  function(r, s) return r / s end,
  function(r, s) return r ^ s end, function(r, s) return r == s end, function(r, s) return r(s) end, function(r, s) return s(r) end,
  function(r, s) return r[s] end, function(r, s) r[s] = 1 end, function(r) return -r end, function(r) return #r end,
  function(r, s) return s + r end, function(r, s) return s * r end,
}
local last = { close = true, retire = true }
local never = { save = true, serve = true, data = true, run = true, barrier = true }

local points = { { 0.5 }, { 0.5, 0.25 }, { 0.5, 0.25, 1 }, { 0.5, 0.25, 1, 2 } }

-- Asks what such a method made about points that are short: an object whose size has wrapped around takes one of them for its own.
local function ask_about(made, methods)
  if type(made) ~= "userdata" then return end
  pcall(tostring, made)
  for _, name in ipairs(methods) do
    for _, point in ipairs(points) do pcall(function() return made[name](made, point) end) end
  end
end

-- The object with itself, twice as large each time, and each of them with the small one that the valid call answers.
local function doubled(object, small, name, methods)
  local made = object
  for _ = 1, 17 do
    for _, pair in ipairs { { made, small }, { small, made } } do
      local ok, more = pcall(function() return pair[1][name](pair[1], pair[2]) end)
      ask_about(ok and more, methods)
    end
    local ok, more = pcall(function() return made[name](made, made) end)
    if not ok or type(more) ~= "userdata" then return end
    made = more
    ask_about(made, methods)
  end
end

-- Everything that can be asked of an object without thinking, in steps.
local function steps_of(object, class, small)
  local steps, about = {}, classes[class] or { fields = {}, methods = {}, points = {} }
  local function step(f, other)
    steps[#steps + 1] = function()
      local results = table.pack(pcall(f, object, other))
      if not results[1] or other ~= object then return end
      for i = 2, results.n do -- what two make is asked for its size and points, too
        local made = results[i]
        if type(made) == "userdata" then
          pcall(tostring, made)
          for _, name in ipairs(about.methods) do
            if not never[name] and not last[name] then
              local has, method = pcall(function() return made[name] end)
              if has and type(method) == "function" then
                pcall(method, made)
                pcall(method, made, { 0.5, 0.25 })
              end
            end
          end
        end
      end
    end
  end
  step(function() return tostring(object) end)
  step(function() return ask_about(object, about.points) end)
  for _, name in ipairs(about.fields) do step(function() return object[name] end) end
  for _, ends in ipairs { false, true } do
    for _, name in ipairs(about.methods) do
      if not never[name] and (last[name] or false) == ends then
        local function ask(_, ...) return object[name](object, ...) end
        step(function() return ask() end)
        if not ends then
          for _, other in ipairs { object, { 0.5, 0.25 }, 1, "l1" } do step(ask, other) end
          step(function() return doubled(object, small, name, about.points) end)
        end
      end
    end
  end
  for _, f in ipairs(operators) do
    step(f, object)
    step(f, 2)
    step(f, 9223372036854775807)
  end
  return steps
end
