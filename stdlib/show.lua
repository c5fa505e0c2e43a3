-- show.lua -- how the prompt shows the values of an entry: objects by their own tostring, strings quoted, tables one
-- level deep and cut where they grow long.
-- Depends on: penumbra.names.  Used by: the prompt.
local names = require "penumbra.names"

local WIDTH, MAX_ITEMS, MAX_TEXT = 80, 100, 2000
local SMALL_TABLE = 8 -- items of an inner table that is still shown in place

local show = {}

local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
  until while]]):gmatch "%a+" do
  keywords[word] = true
end

local escapes = { ["\n"] = "\\n", ["\t"] = "\\t", ["\r"] = "\\r", ["\\"] = "\\\\", ['"'] = '\\"' }

local function quote(text)
  local cut = ""
  if #text > MAX_TEXT then
    text, cut = text:sub(1, MAX_TEXT), (" ... (%d bytes)"):format(#text)
  end
  text = text:gsub('[%c\\"]', function(c)
    return escapes[c] or ("\\%03d"):format(c:byte())
  end)
  return '"' .. text .. '"' .. cut
end

local function key_text(key)
  if type(key) == "string" and key:match "^[%a_][%w_]*$" and not keywords[key] then
    return key
  end
  return "[" .. (type(key) == "string" and quote(key) or tostring(key)) .. "]"
end

local function own_text(value)
  local metatable = debug.getmetatable(value)
  return type(metatable) == "table" and rawget(metatable, "__name") ~= "pn.library" -- which shows what is in it
    and (rawget(metatable, "__tostring") or rawget(metatable, "__name"))
end

-- Keys that are not in the list part: strings first, in order, then the others.
local function other_keys(t, list)
  local keys = {}
  for key in next, t do
    if not (math.type(key) == "integer" and key >= 1 and key <= list) then
      keys[#keys + 1] = key
    end
  end
  table.sort(keys, function(a, b)
    local x, y = type(a), type(b)
    if x ~= y then return x > y end
    if x == "number" or x == "string" then return a < b end
    return tostring(a) < tostring(b)
  end)
  return keys
end

local value_text

local function item_text(value, depth)
  if type(value) == "function" then
    return "function"
  end
  if type(value) ~= "table" or own_text(value) then
    -- A matrix or a plan inside a table would tear it apart: its first line stands for it.
    return (value_text(value, depth):gsub("\n.*$", " ..."))
  end
  local count = 0
  for _ in next, value do count = count + 1 end
  if count == 0 then
    return "{}"
  end
  if depth > 0 or count > SMALL_TABLE then
    return ("{... %d item%s}"):format(count, count == 1 and "" or "s")
  end
  return value_text(value, depth + 1)
end

local function table_items(t, depth)
  local items, list = {}, rawlen(t)
  for i = 1, math.min(list, MAX_ITEMS) do
    items[#items + 1] = item_text(rawget(t, i), depth)
  end
  if list > MAX_ITEMS then
    items[#items + 1] = ("... %d more"):format(list - MAX_ITEMS)
  end
  local keys = other_keys(t, list)
  for i = 1, math.min(#keys, MAX_ITEMS) do
    items[#items + 1] = key_text(keys[i]) .. " = " .. item_text(rawget(t, keys[i]), depth)
  end
  if #keys > MAX_ITEMS then
    items[#items + 1] = ("... %d more"):format(#keys - MAX_ITEMS)
  end
  return items
end

-- Items on one line when they fit, filled into lines otherwise.
local function table_text(t, depth)
  local items = table_items(t, depth)
  local flat = "{" .. table.concat(items, ", ") .. "}"
  if depth > 0 or #flat <= WIDTH then
    return flat
  end
  local lines, line = {}, "  "
  for i, item in ipairs(items) do
    item = item .. (i < #items and "," or "")
    if #line > 2 and #line + 1 + #item > WIDTH then
      lines[#lines + 1] = line
      line = "  "
    end
    line = line .. (#line > 2 and " " or "") .. item
  end
  lines[#lines + 1] = line
  return "{\n" .. table.concat(lines, "\n") .. "\n}"
end

-- Words filled into lines, the later ones indented.
local function fill(lead, words)
  local lines, line = {}, lead
  for i, word in ipairs(words) do
    word = word .. (i < #words and "," or "")
    if #line + 1 + #word > WIDTH then
      lines[#lines + 1] = line
      line = " "
    end
    line = line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- A part of Penumbra shows its name: a function its signature, a library what is in it.
local function part_text(value)
  local pn = require "penumbra.core"
  local name = rawequal(value, pn) and "pn" or names.of(value)
  local entry = pn.reference()[name]
  if not name or (not entry and name ~= "pn") then
    return nil
  elseif type(value) == "function" then
    return "function " .. (entry.signature or name)
  end
  local parts = other_keys(value, 0)
  for i, key in ipairs(parts) do parts[i] = tostring(key) end
  return fill(("library %s:"):format(name), parts)
end

function value_text(value, depth)
  local kind = type(value)
  if kind == "string" then
    return quote(value)
  elseif kind == "function" or (kind == "table" and depth == 0 and not own_text(value)) then
    local part = part_text(value)
    if part then
      return part
    end
  end
  if kind == "table" and not own_text(value) then
    return table_text(value, depth)
  end
  return tostring(value)
end

-- The text of one value.
function show.text(value)
  return value_text(value, 0)
end

-- Print all values of an entry: side by side when they are short, else one below the other.
function show.print(...)
  local texts, flat = {}, true
  for i = 1, select("#", ...) do
    texts[i] = show.text((select(i, ...)))
    flat = flat and not texts[i]:find "\n"
  end
  local line = table.concat(texts, "\t")
  io.write(flat and #line <= WIDTH and line or table.concat(texts, "\n"), "\n")
end

return show
