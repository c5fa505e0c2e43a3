-- config.lua -- configuration files of the programs: Lua that returns a table, or sets its fields as globals, run as the data that
-- it is, and checked field by field against a list of {name=, kinds=, required=, doc=}.
-- Depends on: penumbra.programs.config_guard.  Used by: penumbra.programs.federated, .federated_fields and .federated_sets.
local guard = require "penumbra.programs.config_guard"

local config = {}

-- An error of the configuration: raised as a table, so that programs can tell it from others.
local failure = { __tostring = function(self) return self.message end }

function config.fail(format, ...)
  error(setmetatable({ message = format:format(...) }, failure), 0)
end

function config.failed(value)
  return getmetatable(value) == failure
end

-- The table of the file at `path`.
function config.read(path)
  local fields, result = guard.run(path)
  if not fields then config.fail("%s", result) end
  if result ~= nil and type(result) ~= "table" then
    config.fail("%s: a configuration returns a table, or sets its fields; this one returned %s", path, type(result))
  end
  for name, value in pairs(result or {}) do
    if fields[name] ~= nil then config.fail("%s: field '%s' is set twice", path, tostring(name)) end
    fields[name] = value
  end
  if next(fields) == nil then config.fail("%s: the configuration is empty", path) end
  return fields
end

local function names_of(known)
  local names = {}
  for i, field in ipairs(known) do names[i] = field.name end
  return table.concat(names, ", ")
end

local function has_kind(value, kinds)
  for kind in kinds:gmatch "[^|]+" do
    if kind == "number" and math.type(value) and value == value then return true end
    if kind == "count" and math.type(value) == "integer" and value >= 1 then return true end
    if kind == "positive" and math.type(value) and value > 0 and value < math.huge then return true end
    if kind == "fraction" and math.type(value) and value > 0 and value < 1 then return true end
    if kind == "path" and type(value) == "string" and #value > 0 then return true end
    if kind == "text" and type(value) == "string" and #value > 0 then return true end
    if kind == type(value) then return true end
    local metatable = debug.getmetatable(value)
    if type(value) == "userdata" and metatable and rawget(metatable, "__name") == kind then return true end
  end
  return false
end

local words = {
  count = "a whole number from 1", fraction = "a number between 0 and 1, both excluded",
  positive = "a positive number", path = "the path of a file", text = "a text",
  number = "a number", boolean = "true or false", table = "a table", ["function"] = "a function",
  ["pn.rng"] = "a pn.rng", ["pn.vec"] = "a pn.vec", list = "a list",
}

local function kinds_in_words(kinds)
  local parts = {}
  for kind in kinds:gmatch "[^|]+" do parts[#parts + 1] = words[kind] or kind end
  return table.concat(parts, " or ")
end
config.kinds_in_words = kinds_in_words

local function shown(value)
  if type(value) == "string" then return ('"%s"'):format(value) end
  if type(value) == "userdata" or type(value) == "table" or type(value) == "function" then
    local metatable = debug.getmetatable(value)
    return "a " .. (type(value) == "userdata" and metatable and rawget(metatable, "__name") or type(value))
  end
  return tostring(value)
end

-- Of what an option of the library expects: what a configuration takes, so that a slip is seen when it is read.
local kinds_of = {
  ["a positive number"] = "positive", ["a whole number from 1"] = "count", ["true or false"] = "boolean",
  ["a vector"] = "table|pn.vec", ["a matrix"] = "table", ["one of the listed names"] = "text",
  ["a number between 0 and 1, both excluded"] = "fraction",
}

-- The field for an option, a row of `params` in the reference.
function config.field_of(name, param)
  return { name = name, kinds = kinds_of[param.expects] or "number", choices = param.choices, doc = param.doc }
end

-- Every field of `given` is known and of its kind, and none that is required is missing.  place: "clinic_a.lua", or "... : ledger".
function config.check(given, known, place)
  local by_name = {}
  for _, field in ipairs(known) do by_name[field.name] = field end
  for name, value in pairs(given) do
    local field = by_name[name]
    if not field then
      config.fail("%s: unknown field '%s'; it takes %s", place, tostring(name), names_of(known))
    end
    if not has_kind(value, field.kinds) then
      config.fail("%s: %s must be %s, got %s", place, name, kinds_in_words(field.kinds), shown(value))
    end
    if field.choices then
      local found = false
      for _, choice in ipairs(field.choices) do found = found or choice == value end
      if not found then
        config.fail('%s: %s must be one of %s, got "%s"', place, name, table.concat(field.choices, ", "), value)
      end
    end
    if field.fields and type(value) == "table" then config.check(value, field.fields, place .. ": " .. name) end
  end
  for _, field in ipairs(known) do
    if field.required and given[field.name] == nil then
      config.fail("%s: field '%s' is missing: %s", place, field.name, field.doc)
    end
  end
  return given
end

-- `path` of a configuration is meant from the folder of its file.
function config.resolve(file, path)
  local folder = file:match "^(.*)/[^/]*$"
  if not folder or path:sub(1, 1) == "/" then return path end
  return folder .. "/" .. path
end

-- The file must be there to be read.
function config.readable(path, place, name)
  local file, message = io.open(path, "rb")
  if not file then config.fail("%s: %s: %s", place, name, message) end
  file:close()
  return path
end

-- A file can be written at `path`: nothing is spent on a run that has nowhere to leave its result.
function config.writable(path, place, name)
  local there = io.open(path, "rb")
  if there then there:close() end
  local probe = there and path or path .. ".probe" -- never the file itself: another process may be about to make it
  local file, message = io.open(probe, "ab")
  if not file then config.fail("%s: %s: %s", place, name, (message:gsub("%.probe:", ":", 1))) end
  file:close()
  if not there then os.remove(probe) end
  return path
end

return config
