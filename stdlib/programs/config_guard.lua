-- config_guard.lua -- a configuration is data: its code runs among copies of what computes, writes nothing, changes nothing that
-- others use, and ends.
-- Depends on: penumbra, penumbra.sandbox.  Used by: penumbra.programs.config.
local pn = require "penumbra"
local sandbox = require "penumbra.sandbox"

-- What a configuration prints reaches terminals: control characters, but for tabs and ends of lines, as \xHH (as pnl_visible in C).
local function visible(text)
  local function show(c) return (string.gsub(c, ".", function(b) return string.format("\\x%02x", string.byte(b)) end)) end
  text = string.gsub(text, "[^%C\n\t]", show)
  return (string.gsub(text, "\xC2[\x80-\x9F]", show))
end

local guard = { visible = visible }

local STEPS = 10000000 -- instructions of Lua
local SECONDS = 10 -- of its own: what pn does for it is not counted
local MEGABYTES = 64 -- of Lua
local EVERY = 10 -- instructions between two looks

-- ---- what there is ----

local NOT_HERE = "%s is not available to a configuration: %s"

local missing = {
  io = "it is data, which opens no files",
  os = "it is data, which knows no clock and no system",
  coroutine = "it is data, and does one thing after the other",
}
for name in ("load loadstring loadfile dofile require package"):gmatch "%S+" do
  missing[name] = "it is data, and all of it stands in its file"
end
for name in ("debug collectgarbage warn getmetatable setmetatable rawget rawset rawequal rawlen xpcall"):gmatch "%S+" do
  missing[name] = "it is data, and needs no more than values and tables"
end

local function shallow(from)
  local to = {}
  for name, value in next, from do to[name] = value end
  return to
end

-- Strings' methods are the copy's while a configuration runs, and the real ones in what it calls of pn and print.
local strings = getmetatable ""

local function back(before, clock, ok, ...)
  strings.__index = before.strings
  before.away = before.away + os.clock() - clock
  if not ok then error(..., 0) end
  return ...
end

-- run: what is known of the run that the function is given to
local function outside(run, f)
  return function(...)
    local clock = os.clock()
    strings.__index = string
    return back(run, clock, pcall(f, ...))
  end
end

-- The functions of a table of the library, and of those in it; a name that is not there says so.
local function copy_library(run, library, name)
  local copy = {}
  for key, value in next, library do
    if type(value) == "function" then copy[key] = outside(run, value) end
    if type(value) == "table" then copy[key] = copy_library(run, value, name .. "." .. key) end
  end
  return setmetatable(copy, { __metatable = false, __index = function(_, key)
    error(string.format(NOT_HERE, name .. "." .. tostring(key), "it has " .. (name == "pn" and "pn.rng and pn.data" or name)), 2)
  end })
end

-- The globals, afresh for each run: what it does to them ends with it.
local function surroundings(run)
  local env = sandbox.basics()
  for name in next, missing do env[name] = nil end
  env.string, env.table, env.math, env.utf8 = shallow(env.string), shallow(env.table), shallow(env.math), shallow(utf8)
  for name, why in next, sandbox.refused do
    env.string[name] = function() error(string.format(NOT_HERE, "string." .. name, why), 2) end
  end
  env.table.move = function() error(string.format(NOT_HERE, "table.move", "it can be made to run for ever"), 2) end
  env.math.randomseed = nil -- the program's, too
  env.pn = copy_library(run, { rng = pn.rng, data = pn.data }, "pn")
  local show = outside(run, print)
  env.print = function(...)
    local said = table.pack(...)
    for i = 1, said.n do said[i] = visible(sandbox.text_of(said[i])) end
    show(table.unpack(said, 1, said.n))
  end
  run.strings = env.string
  return env
end

-- ---- limits ----

-- A hook; once a limit is reached every further instruction raises, so that a pcall cannot go on.
local function limits(run)
  collectgarbage() -- what waits for the collector would be room above the limit
  local steps, looks, started, before, why = 0, 0, os.clock(), collectgarbage "count", nil
  local function stop() error(why, 2) end -- where the configuration is
  return function()
    steps, looks = steps + EVERY, looks + 1
    if steps > STEPS then
      why = string.format("it takes more than %d million steps", STEPS // 1000000)
    elseif collectgarbage "count" - before > 1024 * MEGABYTES then
      collectgarbage()
      if collectgarbage "count" - before > 1024 * MEGABYTES then
        why = string.format("it takes more than %d megabytes of memory", MEGABYTES)
      end
    elseif looks % 32 == 0 and os.clock() - started - run.away > SECONDS then
      why = string.format("it takes more than %d seconds", SECONDS)
    end
    if not why then return end
    why = why .. "; a configuration is data, and is read at once"
    debug.sethook(stop, "", 1)
    error(why, 2)
  end
end

-- ---- running ----

-- As long as a configuration runs strings have the methods of its copy, and vectors and matrices write no files.  To be closed,
-- which ends that also where memory runs out.
local function rules_of(run)
  local kept, found = {}, {}
  for _, object in ipairs { pn.vec { 0 }, pn.mat { { 0 } } } do
    local metatable = debug.getmetatable(object)
    local find = metatable.__index
    kept[metatable] = find
    found[metatable] = function(self, name)
      if name == "save" then error(string.format(NOT_HERE, "save", "it is data, which writes no files"), 2) end
      return find(self, name)
    end
  end
  local rules = setmetatable({}, { __close = function()
    strings.__index = string
    for metatable, find in next, kept do metatable.__index = find end
  end })
  for metatable, find in next, found do metatable.__index = find end
  strings.__index = run.strings
  return rules
end

local plain -- below

local function message_of(value)
  return type(value) == "string" and value or "error value: a " .. type(value)
end

-- f(...) under the rules, in a coroutine of its own, as hooks belong to one: true and plain values, or false and a message.
local function call(run, f, ...)
  run.away = 0
  local routine = coroutine.create(f)
  debug.sethook(routine, limits(run), "", EVERY)
  local results
  do
    local _ <close> = rules_of(run)
    results = table.pack(coroutine.resume(routine, ...))
  end
  if not results[1] then return false, message_of(results[2]) end
  for i = 2, results.n do results[i] = plain(run, results[i], {}) end
  return true, table.unpack(results, 2, results.n)
end

local function finish(ok, ...)
  if not ok then error(..., 0) end
  return ...
end

-- A value without metatables; its functions obey the same rules whenever they are called.
function plain(run, value, seen)
  if seen[value] then return seen[value] end
  if type(value) == "function" then
    return function(...) return finish(call(run, value, ...)) end
  end
  if type(value) ~= "table" then return value end
  local copy = {}
  seen[value] = copy
  for key, item in next, value do copy[plain(run, key, seen)] = plain(run, item, seen) end
  return copy
end

-- Run the file at `path`: its globals and what it returns, as plain values; or nil and a message.
function guard.run(path)
  local run, fields = { away = 0 }, {}
  local seen = surroundings(run)
  local chunk, message = loadfile(path, "t", setmetatable({}, {
    __metatable = false,
    __index = function(_, name)
      if fields[name] ~= nil then return fields[name] end
      if missing[name] then error(string.format(NOT_HERE, "global '" .. name .. "'", missing[name]), 2) end
      return seen[name]
    end,
    __newindex = function(_, name, value) fields[name] = value end,
  }))
  if not chunk then return nil, message end
  local ok, result = call(run, chunk)
  if not ok then return nil, result end
  return plain(run, fields, {}), result
end

return guard
