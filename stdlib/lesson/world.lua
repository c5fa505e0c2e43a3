-- lesson_world.lua -- the environment in which a lesson runs what is typed: its own globals over copies of all libraries, so that
-- nothing typed there (math = nil, pn.set = 1, an edited metatable of strings) reaches the lesson or the session.
-- Depends on: penumbra.  Used by: penumbra.lesson.course, penumbra.lesson.files.
local pn = require "penumbra"

local world = {}
local worlds = setmetatable({}, { __mode = "k" }) -- what belongs to each environment

local getmetatable_of, loaded, next_key = (debug or {}).getmetatable or getmetatable, package.loaded, next

-- Globals of Lua that are safe to hand on as they are; the others are made new for each world.
local plain = {
  "assert", "error", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget", "rawlen", "rawset", "select", "tonumber", "tostring",
  "type", "warn", "xpcall", "_VERSION",
}

local libraries = { "string", "table", "math", "utf8", "coroutine" }

-- A copy of a library and of the libraries in it; `originals` remembers what each is a copy of.
local function copy_library(library, originals)
  local copy = {}
  originals[copy] = library
  for key, value in next_key, library do
    copy[key] = type(value) == "table" and copy_library(value, originals) or value
  end
  local metatable = getmetatable_of(library)
  if metatable then
    setmetatable(copy, metatable)
  end
  return copy
end

-- What is in pn goes by its own name where no name of Lua is in the way, as in the program.
local function add_penumbra(globals, library)
  globals.pn = library
  for name, value in next_key, library do
    local kind = type(value)
    if globals[name] == nil and (kind == "table" or kind == "function") then
      globals[name] = value
    end
  end
end

-- What lesson files themselves see: Lua as it was loaded and pn, whatever became of the session's globals.
function world.of_lessons()
  local globals = {}
  for _, name in ipairs(plain) do globals[name] = _G[name] end
  for _, name in ipairs { "collectgarbage", "getmetatable", "setmetatable", "load", "print", "require" } do
    globals[name] = _G[name]
  end
  for _, name in ipairs(libraries) do globals[name] = loaded[name] end
  globals.io, globals.os = loaded.io, loaded.os
  add_penumbra(globals, pn)
  return globals
end

local set_here = setmetatable({}, { __mode = "k" }) -- metatables that learners made

-- Metatables are shown as copies, but for those that were set in a lesson.
local function add_metatables(globals)
  local own = set_here

  function globals.setmetatable(t, metatable)
    if metatable ~= nil then own[metatable] = true end
    return setmetatable(t, metatable)
  end

  function globals.getmetatable(value)
    local metatable = getmetatable(value)
    if type(metatable) ~= "table" or own[metatable] then
      return metatable
    end
    local copy = {}
    for key, part in next_key, metatable do
      if type(part) ~= "table" then copy[key] = part end
    end
    return copy
  end
end

local function add_loading(globals, env, modules)
  function globals.load(chunk, name, _, place)
    return load(chunk, name or "=(load)", "t", place == nil and env or place)
  end

  function globals.loadfile(path, _, place)
    return loadfile(path, "t", place == nil and env or place)
  end

  function globals.dofile(path)
    return assert(loadfile(path, "t", env))()
  end

  function globals.require(name)
    if modules[name] then
      return modules[name]
    elseif tostring(name):match "^penumbra%." or name == "debug" or name == "package" or name == "_G" then
      error(("require: '%s' is not for lessons; `leave` goes back to the session"):format(tostring(name)), 2)
    end
    return require(name)
  end
end

local function add_system(globals, write)
  function globals.print(...)
    local texts = table.pack(...)
    for i = 1, texts.n do texts[i] = tostring(texts[i]) end
    write(table.concat(texts, "\t") .. "\n")
  end

  local stdout = {}
  function stdout.write(self, ...)
    write(table.concat { ... })
    return self
  end
  stdout.flush = function() end
  local files, system = loaded.io, loaded.os
  globals.io = {
    stdout = stdout, write = function(...) return stdout:write(...) end,
    read = files.read, lines = files.lines, open = files.open, type = files.type,
  }
  globals.os = {
    time = system.time, clock = system.clock, date = system.date, difftime = system.difftime, getenv = system.getenv,
    exit = function() error("`leave` ends the lesson", 2) end,
  }
  function globals.collectgarbage(what)
    return what == "count" and collectgarbage "count" or collectgarbage()
  end
  globals.debug = { traceback = (debug or {}).traceback }
end

local function add_help(globals, library, originals)
  local function in_lesson()
    error("a lesson is running; `leave` goes back, then lesson() lists the others", 2)
  end
  library.lesson, globals.lesson = in_lesson, in_lesson

  -- Help knows things by what they are, not by their copies.
  local function help(...)
    local what = ...
    if select("#", ...) > 0 and what ~= nil then
      return pn.help(originals[what] or what)
    end
    return pn.help(...)
  end
  library.help, globals.help = help, help
end

local function make_globals(env, self)
  local write, originals = self.write, self.originals
  local globals, modules = {}, {}
  for _, name in ipairs(plain) do globals[name] = _G[name] end
  for _, name in ipairs(libraries) do
    globals[name] = copy_library(loaded[name], originals)
    modules[name] = globals[name]
  end
  local library = copy_library(pn, originals)
  modules.penumbra, modules["penumbra.core"] = library, library
  add_metatables(globals)
  add_loading(globals, env, modules)
  add_system(globals, write)
  add_help(globals, library, originals)
  modules.io, modules.os = globals.io, globals.os
  add_penumbra(globals, library)
  globals._G = env
  for name, value in next_key, self.words do globals[name] = value end
  return globals
end

-- A new environment, and `originals`: originals[copy] is the library that a copy stands for.  What it prints goes to write(text);
-- `words`: globals that it has besides.
function world.new(write, words)
  local env, metatable, originals = {}, { __metatable = "the lesson's" }, setmetatable({}, { __mode = "k" })
  setmetatable(env, metatable)
  worlds[env] = { metatable = metatable, write = write, originals = originals, words = words or {} }
  world.renew(env)
  return env, originals
end

-- Put fresh libraries behind env, whose own names stay.
function world.renew(env)
  local self = worlds[env]
  self.metatable.__index = make_globals(env, self)
end

-- The name of a value's class, "pn.vec", or nil.
function world.class(value)
  local metatable = type(value) == "userdata" and getmetatable_of(value)
  return type(metatable) == "table" and rawget(metatable, "__name") or nil
end

local copied_by_method = { ["pn.vec"] = true, ["pn.mat"] = true }

-- Objects that remember what was done with them and cannot be copied: only a replay makes another.
local stateful = { ["pn.ledger"] = true, ["pn.accountant"] = true, ["pn.tree"] = true, ["pn.rng"] = true }

function world.is_stateful(value)
  local class = world.class(value)
  return stateful[class] and not (class == "pn.rng" and not value.simulated) or false
end

-- A copy of a value, deep for tables; `seen` keeps shared parts shared.  Functions and other objects are the same in the copy.
-- bare: metatables that learners made are left out, so that their operators cannot answer for a value.
function world.copy(value, seen, originals, bare)
  if seen[value] ~= nil then
    return seen[value]
  elseif copied_by_method[world.class(value)] then
    seen[value] = value:copy()
    return seen[value]
  elseif type(value) ~= "table" or originals[value] then
    return value
  end
  local copy = {}
  seen[value] = copy
  for key, part in next_key, value do
    copy[world.copy(key, seen, originals, bare)] = world.copy(part, seen, originals, bare)
  end
  local metatable = getmetatable_of(value)
  return metatable and not (bare and set_here[metatable]) and setmetatable(copy, metatable) or copy
end

-- A copy of the names in env.
function world.copy_names(env, originals, bare)
  local seen, names = { [env] = env }, {}
  for key, value in next_key, env do
    names[key] = world.copy(value, seen, originals, bare)
  end
  return names
end

-- Make `names` the names in env.
function world.set_names(env, names)
  for key in next_key, env do env[key] = nil end
  for key, value in next_key, names do rawset(env, key, value) end
end

-- What checks see: copies of the names in env over libraries that nobody touched.
function world.view(env, originals, lessons)
  return setmetatable(world.copy_names(env, originals, true), { __index = lessons })
end

return world
