-- complete.lua -- the names that may stand at the end of an unfinished line: globals, fields, methods, options.
-- Depends on: penumbra.names.  Used by: the prompt's Tab.
--
-- Looking must not do anything: tables are read raw, and of objects only documented fields are fetched.
local names = require "penumbra.names"

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not",
  "or", "repeat", "return", "then", "true", "until", "while",
}

local function class_of(value)
  local metatable = debug.getmetatable(value)
  return type(metatable) == "table" and metatable or nil
end

local function raw_field(t, key)
  for _ = 1, 8 do -- as far as inheritance by tables goes
    local value = rawget(t, key)
    if value ~= nil then
      return value
    end
    local metatable = class_of(t)
    t = metatable and rawget(metatable, "__index")
    if type(t) ~= "table" then
      return nil
    end
  end
end

local function field(value, key)
  if type(value) == "table" then
    return raw_field(value, key)
  end
  local class = class_of(value)
  local methods, fields = class and rawget(class, "__methods"), class and rawget(class, "__fields")
  if type(methods) == "table" and methods[key] then
    return methods[key]
  end
  if type(fields) == "table" and fields[key] then
    local fine, result = pcall(function() return value[key] end)
    return fine and result or nil
  end
end

-- What stands before the last dot or colon, "pn.set", followed from the globals.
local function follow(path)
  local value = _G
  for part in path:gmatch "[^.:]+" do
    value = field(value, part)
    if value == nil then
      return nil
    end
  end
  return value
end

local function add(into, seen, prefix, name, ending)
  if type(name) == "string" and name:sub(1, #prefix) == prefix and not seen[name] and name:match "^[%a_][%w_]*$"
    and (prefix ~= "" or name:sub(1, 1) ~= "_") then
    seen[name] = true
    into[#into + 1] = name .. (ending or "")
  end
end

-- Names in a value after "." or ":"; after ":" only what can be called.
local function members(value, separator, prefix)
  local found, seen = {}, {}
  local class = class_of(value)
  if class then
    for name in pairs(rawget(class, "__methods") or {}) do
      add(found, seen, prefix, name)
    end
    for name in pairs(separator == "." and rawget(class, "__fields") or {}) do
      add(found, seen, prefix, name)
    end
  end
  local t = type(value) == "table" and value or class and rawget(class, "__index")
  for _ = 1, 8 do
    if type(t) ~= "table" then break end
    for name, part in next, t do
      if separator == "." or type(part) == "function" then
        add(found, seen, prefix, name)
      end
    end
    class = class_of(t)
    t = class and rawget(class, "__index")
  end
  return found
end

local function globals(prefix)
  local found, seen = {}, {}
  for name in next, _G do add(found, seen, prefix, name) end
  if prefix ~= "" then
    for _, word in ipairs(keywords) do add(found, seen, prefix, word) end
  end
  return found
end

-- The options of an entry: its parameters, and what its signature shows as `name=`, as m:release(x, {ledger=, rng=}).
local function option_names(entry)
  local list = {}
  for _, param in ipairs(entry and entry.params or {}) do list[#list + 1] = param.name end
  for name in (entry and entry.signature or ""):gmatch "([%a_][%w_]*)=" do list[#list + 1] = name end
  return list
end

-- What is called at the end of the line, and what stands in its table so far: set.l1_ball{di
local function open_call(before)
  local callee, inside = before:match "([%a_][%w_.:]*)%s*{([^{}]*)$"
  if not callee then
    callee, inside = before:match "([%a_][%w_.:]*)%s*%([^(){}]*{([^{}]*)$"
  end
  return callee, inside
end

-- Options, when the line ends inside the table of a call whose options are known, or inside a group of them:
-- solve.zeroth_order(o, {prefix={fac, where the option's name is prefix.factorization.
local function options(before)
  before = before:gsub("function%s*%b().-%f[%w]end%f[%W]", ""):gsub("%b{}", "")
  local callee, inside = open_call(before)
  local group = ""
  if not callee then
    local outer, name, inner = before:match "^(.-)([%a_][%w_]*)%s*=%s*{([^{}]*)$"
    if outer then
      callee, inside, group = open_call(outer), inner, name .. "."
    end
  end
  local prefix = callee and (inside:match "^%s*([%a_]?[%w_]*)$" or inside:match ",%s*([%a_]?[%w_]*)$")
  local value = prefix and follow(callee)
  local name = value ~= nil and names.of(value)
  local found, seen = {}, {}
  for _, full in ipairs(option_names(name and require "penumbra.core".reference()[name])) do
    local option = full:sub(1, #group) == group and full:sub(#group + 1):match "^[^.]*"
    if option and not inside:find("%f[%w_]" .. option .. "%s*=") then
      add(found, seen, prefix, option, full:sub(#group + #option + 1, #group + #option + 1) == "." and "={" or "=")
    end
  end
  return #found > 0 and found or nil
end

-- `before`: the line up to the cursor.  The answer: complete last words, sorted, one a line.
return function(before)
  local path, separator, prefix = before:match "([%a_][%w_.:]*)([.:])([%w_]*)$"
  local found
  if path then
    local value = follow(path)
    found = value ~= nil and members(value, separator, prefix) or {}
  elseif before:match "[.:]%s*[%w_]*$" or before:match "%d[%w_]*$" and not before:match "[%a_][%w_]*$" then
    found = {} -- after a call or a number: what it is is not known
  else
    found = options(before) or globals(before:match "[%w_]*$")
  end
  table.sort(found)
  return table.concat(found, "\n")
end
