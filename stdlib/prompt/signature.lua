-- signature.lua -- what a function takes, by its entry in the reference: its positional arguments, the options of its tables, the
-- values of those that are a closed list, and which of them are paths of files.
-- A group names a table within the options: "cage" of {cage={bars=}}, "*" for the tables of a list, as in {{x=, y=}, ..., title=}.
-- Depends on: penumbra.prompt.tokens.  Used by: penumbra.prompt.complete.
local tokens = require "penumbra.prompt.tokens"

local signature = {}

local openers = { ["("] = true, ["{"] = true }
local closers = { [")"] = true, ["}"] = true }

-- The part before the arrow that stands outside of all brackets: what a function gives is no option of it.
local function taken(text)
  local depth = 0
  for at = 1, #text do
    local c = text:sub(at, at)
    depth = depth + (openers[c] and 1 or closers[c] and -1 or 0)
    if depth == 0 and text:sub(at, at + 1) == "->" then return text:sub(1, at - 1) end
  end
  return text
end

-- The group of the table that opens at token `at` within group `outer` (nil: within none).
local function group_of(code, at, outer)
  local before, assigned = code[at - 1], code[at - 2]
  if not outer then return "" end
  local own = before.text == "=" and assigned.text or "*"
  return outer == "" and own or outer .. "." .. own
end

-- Calls tell(what, ...) for each option, "option", group, name; each string that an option may be, "choice", group, name, text; and
-- each word of a positional argument, "argument", its number, word.
local function walk(text, tell)
  local code, open, last, number = {}, {}, nil, 1
  for _, token in ipairs(tokens(taken(text))) do
    if token.kind ~= "space" then code[#code + 1] = token end
  end
  for i, token in ipairs(code) do
    local inside, after = open[#open], code[i + 1]
    if openers[token.text] then
      open[#open + 1] = { text = token.text, group = token.text == "{" and group_of(code, i, inside and inside.group) or nil }
    elseif closers[token.text] then
      open[#open] = nil
    elseif token.kind == "name" and after and after.text == "=" and after.from == token.to + 1 then
      last = token.text
      tell("option", inside and inside.group or "", last)
    elseif #open == 1 and inside.text == "(" then
      if token.text == "," then number = number + 1 end
      if token.kind == "name" then tell("argument", number, token.text) end
    elseif token.text == "," then
      last = nil
    elseif token.kind == "string" and last and inside and inside.group then
      tell("choice", inside.group, last, token.text:sub(2, -2))
    end
  end
end

-- The name of an option within its group, as in params: "cage.bars".
local function full(group, name)
  return group == "" and name or group .. "." .. name
end

local function param_of(entry, name)
  for _, param in ipairs(entry.params or {}) do
    if param.name == name then return param end
  end
end

-- The names of a group, those of params, those of the signature and those that the text of an option lists, as "{sep=, header=}" or
-- "of {name=, key=}"; a name that is a group of its own ends in ".".
function signature.options(entry, group)
  local list, lead = {}, group == "" and "" or group .. "."
  for _, param in ipairs(entry.params or {}) do
    local name = param.name:sub(1, #lead) == lead and param.name:sub(#lead + 1)
    if name then list[#list + 1] = name:match "^[^.]*%." or name end
  end
  walk(entry.signature or "", function(what, where, name)
    if what == "option" and where == group then list[#list + 1] = name end
  end)
  local own = param_of(entry, (group:gsub("%.%*$", "")))
  for name in ((own and own.doc or ""):match "%b{}" or ""):gmatch "([%a_][%w_]*)=" do list[#list + 1] = name end
  return list
end

-- The quoted words of a text.
local function quoted(text, into)
  for word in text:gmatch '"([%a_][%w_]*)"' do into[#into + 1] = word end
  return into
end

-- The strings that an option may be, and the words that are no strings; empty where it is no closed list.
function signature.values(entry, group, name)
  local param, list = param_of(entry, full(group, name)), {}
  if param then
    if param.choices then return param.choices, {} end
    local expects = param.expects or ""
    if expects:find "true or false" or expects:find "boolean" then return {}, { "false", "true" } end
    quoted(expects, list)
    if (param.doc or ""):find '^"' then quoted(param.doc, list) end
  end
  walk(entry.signature or "", function(what, where, option, text)
    if what == "choice" and where == group and option == name then list[#list + 1] = text end
  end)
  return list, {}
end

-- The words of positional argument `number`: "path" of f(path), "data" and "make" of f(data | make).
local function argument(entry, number)
  local words = {}
  walk(entry.signature or "", function(what, at, word)
    if what == "argument" and at == number then words[#words + 1] = word end
  end)
  return words
end
signature.argument = argument

-- The strings that a positional argument may be: those of params, or those that the text lists: norm is "l2", "l1" or a pn.norm.
function signature.argument_values(entry, number)
  local list = {}
  for _, word in ipairs(argument(entry, number)) do
    local param = param_of(entry, word)
    table.move(param and param.choices or {}, 1, #(param and param.choices or {}), #list + 1, list)
    local said = ("\n" .. (entry.doc or "")):match("%f[%w_]" .. word .. ' is ("[^.;:]*)')
    if said then quoted(said, list) end
  end
  return list
end

local function is_path(name, param)
  local expects = param and param.expects or ""
  local doc = param and expects == "a string" and param.doc or ""
  return name:find "path$" and (not param or expects:find "path" or expects == "a string") or expects:find "%f[%a]path%f[%A]"
    or doc:find "%f[%a]file%f[%A]" and name ~= "label" or false
end

-- Whether an option, or a positional argument, may be the path of a file.
function signature.option_is_path(entry, group, name)
  local param = param_of(entry, full(group, name))
  return (param or group == "" and name == "path") and is_path(name, param) and true or false
end

function signature.argument_is_path(entry, number)
  for _, word in ipairs(argument(entry, number)) do
    local said = (entry.doc or ""):find("%f[%w_]" .. word .. " is the path")
    if said or is_path(word, param_of(entry, word)) then return true end
  end
  return false
end

-- The classes of objects that an option may be: "pn.loss".
function signature.classes(entry, group, name)
  local param, list = param_of(entry, full(group, name)), {}
  for class in (param and param.expects or ""):gmatch "pn%.[%w_]+" do list[#list + 1] = class end
  return list
end

return signature
