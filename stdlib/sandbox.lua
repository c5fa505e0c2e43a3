-- sandbox.lua -- the globals of an analyst's script: what is safe, and nothing that leads elsewhere.  Everything that a script
-- could make run long is Lua here, so that limits of instructions see it, or refuses what is too large.
-- Depends on: Lua's own libraries, as the host has guarded them (bindings/embed/host_guards.c); penumbra.evaluation,
-- penumbra.intervals (for fit:intervals), penumbra.model, penumbra.parts, penumbra.solvers, penumbra.tuning.
-- Used by: bindings/curator/inside.c, penumbra.programs.config_guard.
local error, getmetatable, ipairs, load, next, pairs, pcall = error, getmetatable, ipairs, load, next, pairs, pcall
local rawget, rawlen, rawset, select, setmetatable = rawget, rawlen, rawset, select, setmetatable
local tostring, type, unpack, pack = tostring, type, table.unpack, table.pack
local evaluation = require "penumbra.evaluation"
local model = require "penumbra.model"
local lua_half = require "penumbra.parts"
local solvers = require "penumbra.solvers"
local tuning = require "penumbra.tuning"
require "penumbra.intervals"
local S, concat, sort = {}, table.concat, table.sort
for name, f in pairs(string) do
  S[name] = f
end

local say = S.format -- not by methods of strings: those are the script's

local LONGEST = 1 << 20 -- bytes of a string that a function takes or makes
local MOST_OUTPUT = 1 << 16 -- bytes that a script prints, and that it answers
local MOST_ITEMS = 1 << 20 -- of a table that is sorted or joined

-- ---- texts ----

-- As tostring, without addresses: they say where things lie in the memory of the process.
local function text_of(value)
  local ok, text = pcall(tostring, value) -- called from here, it would name this file in its error
  if not ok then error(text, 0) end
  local kind = type(value)
  if kind == "string" or kind == "number" or kind == "boolean" or kind == "nil" then return text end
  return S.match(text, "^(.*): 0x%x+$") or S.match(text, "^(.*): builtin.*$") or text
end

local function refuse(what, why)
  return function() error(say("%s is not available to analysts: %s", what, why), 2) end
end

-- An error of a library function, where the script called it, and with the name that it has there.
local function finish(who, ok, ...)
  if ok then return ... end
  local message = ...
  if type(message) == "string" then message = S.gsub(message, "^(bad argument #%-?%d+ to )'.-'", "%1'" .. who .. "'") end
  error(message, 2)
end

local function named(who, f)
  return function(...) return finish(who, pcall(f, ...)) end
end

local function check_text(value, who)
  local kind = type(value)
  if kind == "number" then value = tostring(value) end
  if type(value) ~= "string" then error(say("%s: expected a string, got a %s", who, kind), 3) end
  if #value > LONGEST then error(say("%s: the string is longer than %d bytes", who, LONGEST), 3) end
  return value
end

-- ---- string ----

local safe_string = {}

for _, name in ipairs { "byte", "lower", "len", "reverse", "sub", "upper" } do
  local who, f = "string." .. name, S[name]
  safe_string[name] = function(text, ...) return finish(who, pcall(f, check_text(text, who), ...)) end
end

safe_string.char = named("string.char", S.char)

function safe_string.rep(text, count, separator)
  text, separator = check_text(text, "string.rep"), separator and check_text(separator, "string.rep") or ""
  if type(count) ~= "number" then error("string.rep: expected a number of times", 2) end
  if count * (#text + #separator) > LONGEST then
    error(say("string.rep: the result would be longer than %d bytes", LONGEST), 2)
  end
  return finish("string.rep", pcall(S.rep, text, count, separator))
end

-- %s as tostring is here; %p would be an address, and %q is made to be loaded.
function safe_string.format(format, ...)
  format = check_text(format, "string.format")
  local values, n = { ... }, select("#", ...)
  local at, size = 0, #format
  S.gsub(format, "%%[^%a%%]*[%a%%]?", function(item)
    local kind = S.sub(item, -1)
    if kind == "%" then return end
    at = at + 1
    if kind == "p" or kind == "q" then error("string.format: %" .. kind .. " is not available to analysts", 4) end
    if kind == "s" then
      if at > n then error(say("string.format: there is no value for item %d", at), 4) end
      values[at] = check_text(text_of(values[at]), "string.format")
      size = size + #values[at]
      if size > LONGEST then
        error(say("string.format: the result would be longer than %d bytes", LONGEST), 4)
      end
    end
  end)
  return finish("string.format", pcall(S.format, format, unpack(values, 1, n)))
end

-- Plain text only: patterns can be made to run for ever.
function safe_string.find(text, part, start)
  text, part = check_text(text, "string.find"), check_text(part, "string.find")
  if #text * #part > LONGEST * 64 then error("string.find: the strings are too long to be searched", 2) end
  return finish("string.find", pcall(S.find, text, part, start, true))
end

local refused = {}
for _, name in ipairs { "gmatch", "gsub", "match" } do
  refused[name] = "patterns can be made to run for ever; string.find finds plain text"
end
for _, name in ipairs { "dump", "pack", "packsize", "unpack" } do
  refused[name] = "it reaches below Lua's values"
end
for name, why in pairs(refused) do
  safe_string[name] = refuse("string." .. name, why)
end

-- ---- table ----

local safe_table = { insert = table.insert, remove = table.remove, move = table.move, pack = pack }

local function check_table(t, who)
  if type(t) ~= "table" then error(say("%s: expected a table, got a %s", who, type(t)), 3) end
  local n = rawlen(t)
  if n > MOST_ITEMS then error(say("%s: more than %d items", who, MOST_ITEMS), 3) end
  return n
end

function safe_table.concat(t, separator, first, last)
  local parts, size, n = {}, 0, check_table(t, "table.concat")
  separator, first, last = separator and check_text(separator, "table.concat") or "", first or 1, last or n
  if type(first) ~= "number" or type(last) ~= "number" then error("table.concat: expected numbers of items", 2) end
  for i = first, last do
    local part = rawget(t, i)
    if type(part) ~= "string" and type(part) ~= "number" then
      error(say("table.concat: item %s is a %s", text_of(i), type(part)), 2)
    end
    parts[#parts + 1] = part
    size = size + #tostring(part) + #separator
    if size > LONGEST then error(say("table.concat: the result would be longer than %d bytes", LONGEST), 2) end
  end
  return concat(parts, separator)
end

-- Of the items themselves, whatever the metatable says.
function safe_table.sort(t, before)
  local items, n = {}, check_table(t, "table.sort")
  if before ~= nil and type(before) ~= "function" then error("table.sort: the order must be a function", 2) end
  for i = 1, n do
    items[i] = rawget(t, i)
  end
  sort(items, before)
  for i = 1, n do
    rawset(t, i, items[i])
  end
end

function safe_table.unpack(t, first, last)
  local n = check_table(t, "table.unpack")
  first, last = first or 1, last or n
  if type(first) ~= "number" or type(last) ~= "number" or last - first >= 250 then
    error("table.unpack: at most 250 items", 2)
  end
  return unpack(t, first, last)
end

-- ---- the rest ----

local function safe_setmetatable(t, metatable)
  if type(metatable) == "table" and rawget(metatable, "__gc") ~= nil then
    error("setmetatable: __gc is not available to analysts: when it runs depends on memory; __close does not", 2)
  end
  return finish("setmetatable", pcall(setmetatable, t, metatable))
end

-- Without a seed Lua takes the time and an address, and shows both.
local function safe_randomseed(seed, more)
  if type(seed) ~= "number" then
    error("math.randomseed: expected a number; the clock is not available to analysts", 2)
  end
  return finish("math.randomseed", pcall(math.randomseed, seed, more or 0))
end

local function copy(from, names)
  local to = {}
  for name in S.gmatch(names, "%S+") do
    to[name] = from[name]
  end
  return to
end

local missing = {
  load = "text cannot become code",
  loadstring = "text cannot become code",
  loadfile = "there are no files",
  dofile = "there are no files",
  require = "what there is, is here already",
  package = "what there is, is here already",
  debug = "it reaches below Lua's values",
  io = "there are no files",
  os = "there is no clock and no system",
  collectgarbage = "how much memory is used depends on the records",
  utf8 = "texts are bytes here",
  warn = "print reaches the curator's log",
}

-- Globals that are not there say why; a script's own names are nil.
local function explain(_, name)
  if missing[name] then error(say("%s is not available to analysts: %s", name, missing[name]), 2) end
  return nil
end

local function basics()
  local env = copy(_G, "assert error getmetatable ipairs next pairs pcall rawequal rawget rawlen rawset select " ..
    "tonumber type xpcall _VERSION")
  env.setmetatable, env.tostring, env.string, env.table = safe_setmetatable, text_of, safe_string, safe_table
  env.math = copy(math, "abs acos asin atan ceil cos deg exp floor fmod huge log max maxinteger min mininteger modf pi " ..
    "rad random sin sqrt tan tointeger type ult")
  env.math.randomseed = safe_randomseed
  env.coroutine = copy(coroutine, "close create isyieldable resume running status wrap yield")
  return env
end

-- A table that a script reads and does not change, and that has nothing else.
local function sealed(values, what)
  return setmetatable({}, {
    __index = function(_, name)
      local value = values[name]
      if value == nil then error(say("%s has no '%s'; it has %s", what, text_of(name), values[1]), 2) end
      return value
    end,
    __newindex = function() error(what .. " cannot be changed", 2) end,
    __pairs = function()
      return function(_, name)
        local value
        repeat name, value = next(values, name) until name ~= 1
        return name, value
      end, nil, nil
    end,
    __tostring = function() return say("%s: %s", what, values[1]) end,
    __metatable = false,
  })
end

local function names_of(values)
  local names = {}
  for name in pairs(values) do
    names[#names + 1] = name
  end
  sort(names)
  return #names > 0 and concat(names, ", ") or "nothing"
end

-- What is left of the host's budget, and what something would cost: to look at, not to charge.
local function budget_of(ledger)
  local fields = { remaining = true, spent = true, epsilon = true, delta = true, rho = true, neighbours = true }
  local function event_of(of, who)
    local fine, event = pcall(function() return of.event end) -- a plan's or a mechanism's
    if fine and type(event) == "userdata" then return event end
    if fine and event == nil and type(of) == "userdata" then return nil end -- a plan that releases nothing about records
    if type(of) ~= "userdata" then error(say("budget:%s: expected an event, a plan or a mechanism", who), 3) end
    return of
  end
  local methods = {
    price = function(_, of, count)
      local event = event_of(of, "price")
      if not event then return 0.0 end
      return finish("budget:price", pcall(ledger.price, ledger, event, count))
    end,
    covers = function(_, of, count)
      local event = event_of(of, "covers")
      if not event then return true end
      return finish("budget:covers", pcall(ledger.covers, ledger, event, count))
    end,
  }
  return setmetatable({}, {
    __index = function(_, name)
      if methods[name] then return methods[name] end
      if fields[name] then return ledger[name] end
      error(say("budget has no '%s'; it has %s and budget:covers, budget:price", text_of(name), names_of(fields)), 2)
    end,
    __newindex = function() error("budget cannot be changed", 2) end,
    __tostring = function()
      return say("budget: %.6g remaining, %.6g spent, %s", ledger.remaining, ledger.spent, ledger.neighbours)
    end,
    __metatable = false,
  })
end

-- Texts of many values, by tabs, together at most so many bytes.
local function join(who, room, ...)
  local parts, size = {}, 0
  for i = 1, select("#", ...) do
    parts[i] = check_text(text_of((select(i, ...))), who)
    size = size + #parts[i] + 1
    if size > room then error(say("%s: more than %d bytes in all", who, MOST_OUTPUT), 3) end
  end
  return concat(parts, "\t"), size
end

-- What is printed is kept in `said`, from 1: its host is told when the script has ended.
local function printer(said)
  local room = MOST_OUTPUT
  return function(...)
    local text, size = join("print", room, ...)
    room = room - (size > 1 and size or 1)
    if room < 0 then error(say("print: more than %d bytes in all", MOST_OUTPUT), 2) end
    said[#said + 1] = text
  end
end

-- An error value as the host is told it.  Its __tostring is the script's, and may raise in turn.
local function message_of(value)
  if type(value) == "string" then return S.sub(value, 1, MOST_OUTPUT) end
  local ok, text = pcall(text_of, value)
  return "error value: " .. (ok and S.sub(text, 1, MOST_OUTPUT) or "a " .. type(value))
end

local function report(ok, ...)
  if not ok then return false, message_of((...)) end
  local fine, text = pcall(function(...) return (join("the answer", MOST_OUTPUT, ...)) end, ...)
  return fine, fine and text or message_of(text)
end

-- The parts of the Lua half, which load modules when they are called.
local function refuse_parts(pn)
  for _, part in ipairs(lua_half) do
    local name = part[1]
    local no = refuse("pn." .. name, name == "advise"
      and "it loads a module; the plans that it compares are there, as pn.solve.sgd.plan(obj, {rho = 1}).predicted"
      or "it loads a module")
    rawset(pn, name, part.functions and setmetatable({}, { __index = no, __call = no, __metatable = false }) or no)
  end
end

-- compile(code, name) -> function or nil, message; report(ok, ...): what it returned or raised -> true, answer or false, message;
-- and the globals of the script.
local function make(pn, data, ledger, said)
  local env = basics()
  math.randomseed(1, 2) -- nothing of the process: a stock Lua takes its time and addresses
  data[1] = names_of(data)
  solvers.add(pn)
  tuning.add(pn)
  evaluation.add(pn, ledger.neighbours)
  model.add(pn)
  refuse_parts(pn)
  env._G, env.pn, env.data, env.budget, env.print = env, pn, sealed(data, "data"), budget_of(ledger), printer(said)
  setmetatable(env, { __index = explain, __metatable = false })
  local strings = getmetatable ""
  strings.__index, strings.__metatable = safe_string, false
  local function compile(code, name)
    local chunk, message = load(code, "=" .. name, "t", env)
    return chunk, message and (S.gsub(message, "\nstack traceback:.*", "")) -- of a parser whose stack ends, and of this file
  end
  return compile, report, env
end

-- Besides make, what configurations share (penumbra.programs.config_guard).
return { make = make, basics = basics, refused = refused, text_of = text_of }
