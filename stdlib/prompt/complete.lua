-- complete.lua -- complete(before): what may stand at the end of an unfinished entry: globals, fields, methods, options and their
-- values, lessons, pages of the handbook, names that have help, files.
-- Depends on: penumbra.prompt.names, penumbra.prompt.context, penumbra.prompt.signature, penumbra.prompt (the environment),
-- penumbra.model (its class), penumbra.terminal (files).
-- Used by: the prompt's Tab.
--
-- Looking must not do anything: tables are read raw; of objects only documented fields that cost nothing and reveal nothing raw are
-- fetched, of the others the reference says what they are.
local names = require "penumbra.prompt.names"
local context = require "penumbra.prompt.context"
local signature = require "penumbra.prompt.signature"

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

local written = { data = "pn.dataset", d = "pn.dataset", acc = "pn.accountant", A = "pn.mat", v = "pn.vec", obj = "pn.objective",
  C = "pn.set", e = "pn.event", L = "pn.ledger", m = "pn.mechanism" } -- in signatures

-- The class that a signature calls so.
local function class_called(name)
  local classes = names.classes()
  return classes[written[name]] or classes[name] or classes["pn." .. name]
    or name == "model" and require "penumbra.model".class or nil
end

-- "d.X -> pn.mat or pn.sparse": an unknown value of the first; "-> {value=, low=}": a table with these names.
local function of_class(entry)
  local result = (entry.signature or ""):match ".*%->%s*(.-)$" or ""
  local name = result:match "^[%w_.]+"
  local class = name and class_called(name)
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

-- The value that a chain of names, literal keys and calls leads to; `assigned`: the chains of names that the entry sets.
local function follow(chain, assigned)
  local own = assigned and assigned[chain[1]]
  local value = environment()
  if own then value = follow(own) end
  for i = own and 2 or 1, #chain do
    if value == nil then return nil end
    if chain[i] then value = field(value, chain[i]) else value = result_of(value) end
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

-- What the prompt or the notebook had before its user set anything.
local function is_known(name)
  local prompt = package.loaded["penumbra.prompt"]
  return name ~= "pn" and type(prompt) == "table" and prompt.known[name] or false
end

-- Globals and words of Lua; before anything is typed only what the user has made, and pn.
local function globals(before, prefix)
  local found, seen, t = {}, {}, environment()
  for _ = 1, INHERITANCE do
    if type(t) ~= "table" then break end
    for name in next, t do
      if prefix ~= "" or not is_known(name) then add(found, seen, prefix, name) end
    end
    local metatable = class_of(t)
    t = metatable and rawget(metatable, "__index")
  end
  for _, word in ipairs(prefix ~= "" and keywords or {}) do add(found, seen, prefix, word) end
  add_locals(found, seen, before, prefix)
  return found
end

-- Names of objects of one of the classes, and where the library makes more: "pn.loss.", "pn.ledger{".
local function objects(classes, prefix)
  local found, seen = {}, {}
  for name, value in next, environment() do
    local class = class_of(value)
    if class and classes[rawget(class, "__name")] then add(found, seen, prefix, name) end
  end
  local pn = environment().pn == require "penumbra" and require "penumbra" or {}
  for class in pairs(classes) do
    local name = class == "pn.dataset" and "data" or class:match "^pn%.(.*)$"
    local maker = ("pn.%s%s"):format(name, names.is_library(rawget(pn, name)) and "." or "{")
    if rawget(pn, name) and maker:sub(1, #prefix) == prefix then found[#found + 1] = maker end
  end
  return found
end

-- ---- options ----

-- The entry of the reference of the function that a chain leads to, and that function: nil and nil when nothing is there.
local function entry_of(call, assigned)
  local owner = call and #call > 1 and follow(table.move(call, 1, #call - 1, 1, {}), assigned)
  local class = owner and class_of(owner)
  local as = class and rawget(class, "__as") and rawget(class, "__as")[call[#call]]
  local value = call and follow(call, assigned)
  local name = as or value ~= nil and names.of(value)
  return name and require "penumbra".reference()[name] or nil, value
end

-- Options that are not yet given, or those within a group: solve.zeroth_order(o, {prefix={fac, where the option's name is
-- prefix.factorization.
local function options(at)
  local entry, found, seen = entry_of(at.call, at.assigned), {}, {}
  for _, name in ipairs(entry and signature.options(entry, at.group) or {}) do
    local option = name:match "^[^.]*"
    if not at.given[option] then add(found, seen, at.prefix, option, option ~= name and "={" or "=") end
  end
  return found
end

-- The values of the option that is being given, strings and other words, where they are a closed list.
local function values(at)
  local entry = at.value_of and entry_of(at.call, at.assigned)
  if entry then return signature.values(entry, at.group, at.value_of) end
  entry = at.argument and entry_of(at.callee, at.assigned)
  return entry and signature.argument_values(entry, at.argument) or {}, {}
end

-- The classes of which the value may be that stands here.
local function classes_here(at)
  local wanted, entry = {}, at.value_of and entry_of(at.call, at.assigned)
  for _, class in ipairs(entry and signature.classes(entry, at.group, at.value_of) or {}) do wanted[class] = true end
  entry = at.argument and entry_of(at.callee, at.assigned)
  for _, word in ipairs(entry and signature.argument(entry, at.argument) or {}) do
    local class = class_called(word)
    if class then wanted[rawget(class, "__name")] = true end
  end
  return wanted
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

-- Functions of Lua that open the file they are given.
local function opens_file(value)
  for _, f in ipairs { io.open, io.lines, io.input, io.output, os.remove, os.rename, dofile, loadfile } do
    if rawequal(f, value) then return true end
  end
  local prompt = package.loaded["penumbra.prompt"]
  local own = names.of(value) or type(prompt) == "table" and prompt.known[value]
  for _, library in ipairs { _G, string, table, math, os, io, utf8, coroutine } do
    for _, f in next, library do own = own or rawequal(f, value) and type(f) == "function" end
  end
  return not own
end

-- Whether the string may be a path: not where the reference says that something else is meant, nor in tables of other things.
local function may_be_path(at)
  if at.compared then return false end
  local entry, value
  if at.argument then
    entry, value = entry_of(at.callee, at.assigned)
    if entry then return signature.argument_is_path(entry, at.argument) end
  elseif at.call then
    entry, value = entry_of(at.call, at.assigned)
    if entry then return at.value_of ~= nil and signature.option_is_path(entry, at.group, at.value_of) end
  end
  if at.given and not at.argument then return (at.value_of or ""):find "path" or (at.value_of or ""):find "file" end
  return value == nil or opens_file(value)
end

local function in_string(at)
  local callee, start = at.argument == 1 and at.callee and at.callee[#at.callee], at.start
  if at.index and #at.quote == 1 then return keys(follow(at.index, at.assigned), at) end
  local found
  local choices = values(at)
  if #choices > 0 then
    found = starting_with(choices, at.prefix)
  elseif callee == "help" then
    found = reference_names(at.prefix)
  elseif callee == "lesson" then
    found = starting_with(lesson_names(), at.prefix)
  elseif callee == "guide" then
    found = starting_with(page_titles(), at.prefix:lower())
  elseif may_be_path(at) then
    found, start = files(at)
  else
    found = {}
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
  local value = at and at.chain and follow(at.chain)
  if value ~= nil and value then
    for _, member in ipairs(members(value, at.separator, at.prefix)) do found[#found + 1] = name:sub(1, at.start - 1) .. member end
  elseif not name:find "[.:]" then
    local own = globals(name, name)
    table.move(own, 1, #own, #found + 1, found)
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
    local value = at.chain and follow(at.chain, at.assigned)
    return value ~= nil and members(value, at.separator, at.prefix) or {}, at.start
  end
  local found = at.call and at.key and options(at) or {}
  local choices, words = values(at)
  for _, choice in ipairs(at.prefix == "" and choices or {}) do found[#found + 1] = ("%q"):format(choice) end
  table.move(starting_with(words, at.prefix), 1, #words, #found + 1, found)
  local classes = #found == 0 and classes_here(at) or {}
  if next(classes) then found = objects(classes, at.prefix) end
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
