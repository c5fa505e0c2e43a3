-- complete.lua -- complete(before): what may stand at the end of an unfinished entry: globals, fields, methods, options and their
-- values, lessons, pages of the handbook, names that have help, files.
-- Depends on: penumbra.prompt.names, penumbra.prompt.context, penumbra.prompt (the environment), penumbra.terminal (files).
-- Used by: the prompt's Tab.
--
-- Looking must not do anything: tables are read raw; of objects only documented fields that cost nothing and reveal nothing raw are
-- fetched, of the others the reference says what they are.
local names = require "penumbra.prompt.names"
local context = require "penumbra.prompt.context"

local keywords = {
  "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in", "local", "nil", "not",
  "or", "repeat", "return", "then", "true", "until", "while",
}

local INHERITANCE = 8 -- tables behind __index that are looked into

-- What is known only by its class: a field that is not fetched.
local known_class = {}

local function class_of(value)
  local metatable = debug.getmetatable(value)
  if metatable == known_class then return rawget(value, "class") end
  return type(metatable) == "table" and metatable or nil
end

local function raw_field(t, key)
  for _ = 1, INHERITANCE do
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

local written = { data = "pn.dataset", acc = "pn.accountant", A = "pn.mat", v = "pn.vec" } -- in signatures

-- "d.X -> pn.mat or pn.sparse": an unknown value of the first; "-> {value=, low=}": a table with these names.
local function of_class(entry)
  local result = (entry.signature or ""):match ".*%->%s*(.-)$" or ""
  local name, classes = result:match "^[%w_.]+", names.classes()
  local class = name and (classes[written[name]] or classes[name] or classes["pn." .. name])
  if class then return setmetatable({ class = class }, known_class) end
  local record = result:match "^{(.*)}$"
  local fields = {}
  for field in (record or ""):gmatch "([%a_][%w_]*)%s*=" do fields[field] = true end
  return record and fields or nil
end

local function object_field(value, class, key)
  local methods, fields = rawget(class, "__methods"), rawget(class, "__fields")
  if type(methods) == "table" and methods[key] then
    return methods[key]
  elseif type(fields) ~= "table" or not fields[key] then
    return nil
  end
  local entry = require "penumbra".reference()[rawget(class, "__name") .. "." .. key] or {}
  local result = (entry.signature or ""):match "%->%s*([%w_.]+)"
  if result == "number" or result == "integer" or result == "boolean" then
    return nil -- nothing is in it
  elseif entry.reveals == "raw" or type(value) ~= "userdata" then
    return of_class(entry)
  end
  local fine, found = pcall(function() return value[key] end)
  return fine and found or nil
end

local function field(value, key)
  local class = class_of(value)
  if class and rawget(class, "__methods") then
    return type(key) == "string" and object_field(value, class, key) or nil
  elseif type(value) == "table" then
    return raw_field(value, key)
  end
  local index = type(value) == "string" and class and rawget(class, "__index")
  return type(index) == "table" and rawget(index, key) or nil
end

local function environment()
  local prompt = package.loaded["penumbra.prompt"]
  return type(prompt) == "table" and prompt.env() or _G
end

-- What a call of a function of the library gives, by its signature: nothing is called.
local function result_of(value)
  local name = names.of(value)
  local entry = name and require "penumbra".reference()[name]
  return entry and of_class(entry) or nil
end

-- The value that a chain of names, literal keys and calls leads to.
local function follow(chain)
  local value = environment()
  for _, key in ipairs(chain) do
    if key then value = field(value, key) else value = result_of(value) end
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
  local t = type(value) == "table" and debug.getmetatable(value) ~= known_class and value or class and rawget(class, "__index")
  for _ = 1, INHERITANCE do
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

-- Names that `local` and `for` made in this entry.
local function add_locals(found, seen, before, prefix)
  for list in before:gmatch "%f[%w_]local%s+([%w_,%s]+)" do
    for name in list:gmatch "[%a_][%w_]*" do
      if name ~= prefix then add(found, seen, prefix, name) end
    end
  end
  for list in before:gmatch "%f[%w_]function[%s%w_.:]*%(([%w_,%s]*)%)" do
    for name in list:gmatch "[%a_][%w_]*" do add(found, seen, prefix, name) end
  end
  for list in before:gmatch "%f[%w_]for%s+([%w_,%s]-)%s*[=i]" do
    for name in list:gmatch "[%a_][%w_]*" do add(found, seen, prefix, name) end
  end
end

local function globals(before, prefix)
  local found, seen, t = {}, {}, environment()
  for _ = 1, INHERITANCE do
    if type(t) ~= "table" then break end
    for name in next, t do add(found, seen, prefix, name) end
    local metatable = class_of(t)
    t = metatable and rawget(metatable, "__index")
  end
  if prefix ~= "" then
    for _, word in ipairs(keywords) do add(found, seen, prefix, word) end
    add_locals(found, seen, before, prefix)
  end
  return found
end

-- ---- options ----

-- The entry of the reference of the function that a table is given to.
local function entry_of(call)
  local value = call and follow(call)
  local name = value ~= nil and names.of(value)
  return name and require "penumbra".reference()[name]
end

-- The options of an entry: its parameters, and what its signature shows as `name=`, as m:release(x, {ledger=, rng=}).
local function option_names(entry)
  local list = {}
  for _, param in ipairs(entry and entry.params or {}) do list[#list + 1] = param.name end
  for name in (entry and entry.signature or ""):gmatch "([%a_][%w_]*)=" do list[#list + 1] = name end
  return list
end

-- Options that are not yet given, or those within a group: solve.zeroth_order(o, {prefix={fac, where the option's name is
-- prefix.factorization.
local function options(at)
  local group = at.group and at.group .. "." or ""
  local found, seen = {}, {}
  for _, full in ipairs(option_names(entry_of(at.call))) do
    local option = full:sub(1, #group) == group and full:sub(#group + 1):match "^[^.]*"
    if option and not at.given[option] then
      add(found, seen, at.prefix, option, full:sub(#group + #option + 1, #group + #option + 1) == "." and "={" or "=")
    end
  end
  return found
end

local function choices_of(at)
  local entry, wanted = entry_of(at.call), (at.group and at.group .. "." or "") .. (at.value_of or "")
  for _, param in ipairs(at.value_of and entry and entry.params or {}) do
    if param.name == wanted then return param.choices, param.expects == "true or false" and { "false", "true" } or nil end
  end
end

-- ---- strings ----

local function starting_with(list, prefix)
  local found = {}
  for _, name in ipairs(list) do
    if name:sub(1, #prefix) == prefix then found[#found + 1] = name end
  end
  return found
end

local function reference_names(prefix)
  local found, seen = {}, {}
  for name in pairs(require "penumbra".reference()) do
    for _, text in ipairs { name, names.last(name) } do
      if text:sub(1, #prefix) == prefix and not seen[text] and text:find "^%a" then
        seen[text] = true
        found[#found + 1] = text
      end
    end
  end
  return found
end

-- "gaussian" of "02_gaussian".
local function lesson_names()
  local fine, files = pcall(require, "penumbra.lessons")
  local found = {}
  for i, name in ipairs(fine and files or {}) do found[i] = name:gsub("^%d+_", "") end
  return found
end

-- "train a model" of "Train a model".
local function page_titles()
  local found = {}
  for i, page in ipairs(require "penumbra.guide".pages()) do found[i] = page.title:lower() end
  return found
end

local function closing(quote)
  return (quote:gsub("%[", "]"))
end

-- Names of files: in place of "~" stands the home, for nothing else opens it.
local function files(at)
  local fine, terminal = pcall(require, "penumbra.terminal")
  if not fine then return {}, at.start end
  local short = #at.quote == 1
  local path = short and at.prefix:gsub("\\(.)", "%1") or at.prefix
  local home = path:match "^~/" and os.getenv "HOME"
  if home then path = home .. path:sub(2) end
  local folder, base = path:match "^(.*/)([^/]*)$"
  folder, base = folder or "", base or path
  local found, kept = {}, home and folder or ""
  for _, name in ipairs(terminal.files(folder == "" and "." or folder)) do
    if name:sub(1, #base) == base and (base ~= "" or name:sub(1, 1) ~= ".") and not name:find "%c" then
      name = kept .. name
      found[#found + 1] = short and name:gsub("[\\" .. at.quote .. "]", "\\%0") or name
    end
  end
  local typed = at.prefix:match "^.*/()"
  return found, home and at.start or at.start + (typed or 1) - 1
end

-- Keys of a table that need no backslash, for t["ke.
local function keys(value, at)
  local found = {}
  for key in next, type(value) == "table" and value or {} do
    if type(key) == "string" and not key:find("[%c\\" .. at.quote .. "]") then found[#found + 1] = key end
  end
  found = starting_with(found, at.prefix)
  if #found == 1 then found[1] = found[1] .. closing(at.quote) .. "]" end
  return found, at.start
end

local function in_string(at)
  local callee, start = at.callee and at.callee[#at.callee], at.start
  if at.index and #at.quote == 1 then return keys(follow(at.index), at) end
  local found
  local choices = choices_of(at)
  if choices then
    found = starting_with(choices, at.prefix)
  elseif callee == "help" then
    found = reference_names(at.prefix)
  elseif callee == "lesson" then
    found = starting_with(lesson_names(), at.prefix)
  elseif callee == "guide" then
    found = starting_with(page_titles(), at.prefix:lower())
  else
    found, start = files(at)
  end
  if #found == 1 and found[1]:sub(-1) ~= "/" then
    found[1] = found[1] .. closing(at.quote)
  end
  return found, start
end

-- ---- the whole ----

-- What has help and begins so: names of the reference and the user's own, fields of values.
local function of_help(name, start)
  local found, at = reference_names(name), context(name)
  if #found == 0 and at and at.chain then
    local value = follow(at.chain)
    return value ~= nil and members(value, at.separator, at.prefix) or {}, start + at.start - 1
  elseif not name:find "[.:]" then
    table.move(globals(name, name), 1, #globals(name, name), #found + 1, found)
  end
  return found, start
end

-- "%ti", "?sv", "help sv", "lesson ga" and "guide tr" are no Lua.
local function of_commands(before)
  local start, name = before:match "^%s*()%%(%a*)$"
  if name then
    return starting_with(require "penumbra.prompt.magic".names(), "%" .. name), start
  end
  start, name = before:match "^%s*%?%??%s*()([%w_.:]*)$"
  if not name or not before:find "?" then
    start, name = before:match "^%s*help%s+()([%w_.:]*)$"
  end
  if name then return of_help(name, start) end
  local word, rest, words = before:match "^%s*%%(%a+)%s+()(.*)$"
  if word == "run" or word == "save" then
    local quote, path = words:match "^([\"']?)(.*)$"
    return files { quote = quote, prefix = path, start = rest + #quote }
  elseif word and word ~= "time" and word ~= "bench" then
    return {}, #before + 1
  end
  start, name = before:match "^%s*lesson%s+()([%w_]*)$"
  if name then return starting_with(lesson_names(), name), start end
  start, name = before:match "^%s*guide%s+()([%w -]*)$"
  if name then return starting_with(page_titles(), name:lower()), start end
end

local function of_code(before)
  local at = context(before)
  if not at then return {}, #before + 1 end
  if at.string then return in_string(at) end
  if at.separator then
    local value = at.chain and follow(at.chain)
    return value ~= nil and members(value, at.separator, at.prefix) or {}, at.start
  end
  local found = at.call and at.key and options(at) or {}
  local choices, words = choices_of(at)
  for _, choice in ipairs(at.prefix == "" and choices or {}) do found[#found + 1] = ("%q"):format(choice) end
  table.move(words and starting_with(words, at.prefix) or {}, 1, 2, #found + 1, found)
  return #found > 0 and found or globals(before, at.prefix), at.start
end

local function unique(list)
  table.sort(list)
  local out = {}
  for _, name in ipairs(list) do
    if name ~= out[#out] then out[#out + 1] = name end
  end
  return out
end

-- `before`: the entry up to the cursor.  What may replace its last word, sorted, one a line; and where that word begins.
return function(before)
  local magic = before:match "^%s*%%%a+%s+()"
  local found, start = of_commands(before)
  if not found then
    found, start = of_code(magic and (" "):rep(magic - 1) .. before:sub(magic) or before)
  end
  return table.concat(unique(found), "\n"), start
end
