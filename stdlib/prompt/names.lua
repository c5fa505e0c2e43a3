-- names.lua -- from a name or a value to its entry in the reference; nearest names for one that is not known.
-- Depends on: penumbra.core.  Used by: penumbra.prompt.help, penumbra.prompt.show, penumbra.prompt.complete.
local pn = require "penumbra.core"

local names = {}

-- The part after the last dot or colon: "dot" of "pn.vec:dot".
function names.last(name)
  return name:match "[^.:]*$"
end

-- Whether it is a table of functions that is not itself called: pn.set, not pn.vec.
function names.is_library(value)
  local metatable = type(value) == "table" and debug.getmetatable(value)
  return type(value) == "table" and not (metatable and rawget(metatable, "__call"))
end

-- All class metatables, by the name of the class.
function names.classes()
  local classes = {}
  for _, value in pairs(debug.getregistry()) do
    if type(value) == "table" and type(rawget(value, "__methods")) == "table" then
      classes[rawget(value, "__name")] = value
    end
  end
  return classes
end

-- Walk everything callable or a table under pn: visit(name, value), with names as in the reference.
local function walk(visit)
  for name, value in pairs(pn) do
    visit(name, value)
    if type(value) == "table" then
      for inner, part in pairs(value) do
        if type(inner) == "string" then
          visit(name .. "." .. inner, part)
          if type(part) == "table" then
            for leaf, thing in pairs(part) do
              if type(leaf) == "string" then
                visit(name .. "." .. inner .. "." .. leaf, thing)
              end
            end
          end
        end
      end
    end
  end
  for class, metatable in pairs(names.classes()) do
    for method, body in pairs(metatable.__methods) do
      visit(class .. ":" .. method, body)
    end
  end
end
names.walk = walk

-- The reference name of a function or library table, or of the class of an object; nil when it has none.
function names.of(value)
  local metatable = debug.getmetatable(value)
  local class = type(value) == "userdata" and metatable and rawget(metatable, "__name")
  if class and pn.reference()[class] then
    return class
  end
  if type(value) ~= "function" and type(value) ~= "table" then
    return nil
  end
  local found
  walk(function(name, thing)
    if rawequal(thing, value) and pn.reference()[name] and (not found or #name < #found) then
      found = name
    end
  end)
  return found
end

-- Names whose last part is `text`, sorted.
local function with_last_part(text)
  local found = {}
  for name in pairs(pn.reference()) do
    if names.last(name) == text or name:sub(-#text - 1):match "^[.:]" and name:sub(-#text) == text then
      found[#found + 1] = name
    end
  end
  table.sort(found)
  return found
end

-- Names whose signature is written so: "d:rescale" of "d:rescale(low, high) -> data".
local function as_in_signature(text)
  local found = {}
  for name, entry in pairs(pn.reference()) do
    local signature = entry.signature or ""
    if text:find "[.:]" and signature:sub(1, #text) == text and not signature:sub(#text + 1, #text + 1):find "[%w_]" then
      found[#found + 1] = name
    end
  end
  table.sort(found)
  return found
end

-- Every name that `text` may mean exactly: the entry itself, with or without "pn.", or entries that end in it or are written so;
-- "dataset.rescale" is as good as "dataset:rescale".
function names.matches(text)
  local reference = pn.reference()
  local plain = text:gsub("%s*[({].*$", ""):gsub("^%s+", ""):gsub("%s+$", "")
  local short = plain:gsub("^pn%.", "")
  for _, try in ipairs { plain, short, (short:gsub(":", ".")), (short:gsub("%.([^.]*)$", ":%1")) } do
    if reference[try] then
      return { try }
    end
  end
  if short == "" then return {} end
  local shown = as_in_signature(plain)
  if #shown > 0 then return shown end
  local found = with_last_part(short)
  return #found > 0 and found or with_last_part((short:gsub("%.([^.]*)$", ":%1")))
end

-- The functions that take an option of that name, "clip" or "clip=", as rows of the function and what the option does.
function names.with_option(text)
  local wanted, found = text:match "^%s*([%w_]+)%s*=?%s*$", {}
  for name, entry in pairs(pn.reference()) do
    for _, param in ipairs(entry.params or {}) do
      if param.name == wanted then
        found[#found + 1] = { name, param.doc or "" }
      elseif wanted and param.name:match "^[^.]*%." == wanted .. "." then
        found[#found + 1] = { name, "a table of options of its own" }
        break
      end
    end
  end
  table.sort(found, function(a, b) return a[1] < b[1] end)
  return found
end

-- Levenshtein's distance, with exchanged neighbours counted once.
local function distance(a, b)
  local before, last = {}, {}
  for j = 0, #b do last[j] = j end
  for i = 1, #a do
    local row = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      row[j] = math.min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
      if i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j) then
        row[j] = math.min(row[j], before[j - 2] + 1)
      end
    end
    before, last = last, row
  end
  return last[#b]
end
names.distance = distance

-- Whether `wanted` is, but for one letter, how `name` begins: "frnk" of "frank_wolfe".
local function begins_like(wanted, name)
  for length = #wanted - 1, #wanted + 1 do
    if #wanted >= 4 and distance(wanted, name:sub(1, length)) <= 1 then return true end
  end
  return false
end

-- How far `wanted` is from `name`; nil when it is not like it.  What is near comes first, then what contains it, then beginnings.
local function away_from(wanted, name, ...)
  local away = distance(wanted, name)
  for _, other in ipairs { ... } do away = math.min(away, distance(wanted, other)) end
  if away <= math.max(1, #wanted // 3) then return away end
  if #wanted >= 3 and name:find(wanted, 1, true) then return 1000 + #name end
  return begins_like(wanted, names.last(name)) and 2000 + #name or nil
end

-- Whether a name is written behind `owner`, or behind something that differs from it by a letter: "solve.sgd", "pn.fit.theta",
-- and, by its signature, "d:summary".
local function belongs_to(owner, name, entry)
  for _, text in ipairs { name, entry.signature or "" } do
    local own = text:lower():match "^([%w_.]+)[.:][%w_]+"
    if own and distance(owner, (own:gsub("^pn%.", ""))) <= (#owner >= 4 and 1 or 0) then return true end
  end
  return false
end

-- At most `count` names that look like `text`: those near it first, then those that contain it.  Of a name behind a dot or colon
-- the last part alone may be misspelt: "solve.frnk".
function names.suggest(text, count)
  local wanted = text:lower():gsub("^pn%.", "")
  local owner, last = wanted:match "^(.+)[.:]([^.:]+)$"
  local scored = {}
  for name, entry in pairs(pn.reference()) do
    local lower = name:lower()
    local away
    if owner and belongs_to(owner, lower, entry) then
      away = away_from(last, names.last(lower))
    else
      away = away_from(wanted, lower, names.last(lower))
    end
    if away then scored[#scored + 1] = { name, away } end
  end
  table.sort(scored, function(a, b)
    if a[2] ~= b[2] then return a[2] < b[2] end
    return a[1] < b[1]
  end)
  local found = {}
  for i = 1, math.min(count, #scored) do
    found[i] = scored[i][1]
  end
  return found
end

return names
