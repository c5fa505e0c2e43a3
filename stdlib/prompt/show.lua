-- show.lua -- how the prompt shows the values of an entry: objects by their own tostring, strings quoted, tables one
-- level deep and cut where they grow long.
-- Depends on: penumbra.columns, penumbra.prompt.names.  Used by: the prompt.
local columns = require "penumbra.columns"
local names = require "penumbra.prompt.names"

local MAX_ITEMS, MAX_TEXT = 100, 2000
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
    text, cut = text:sub(1, MAX_TEXT):gsub("[\xC2-\xF4][\x80-\xBF]*$", ""), (" ... (%d bytes)"):format(#text)
  end
  local function in_digits(c)
    return escapes[c] or ("\\%03d"):format(c:byte())
  end
  text = text:gsub('[%c\\"]', in_digits):gsub("[\x80-\xFF]+", function(run)
    return not utf8.len(run) and run:gsub(".", in_digits) or run -- no characters that a terminal could show
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

-- ---- lists of records ----

local ROWS, FIRST_ROWS, LAST_ROWS, CELL = 20, 12, 3, 30
local leading = { step = 1, round = 1, i = 1, name = 2, label = 2 } -- columns that say which row it is

local place_of_kind = { string = 2, table = 4, userdata = 4 }

-- What tells the rows apart comes first, then numbers, then what is wide.
local function columns_of(rows)
  local place, keys = {}, {}
  for _, row in ipairs(rows) do
    for key, value in next, row do
      if not place[key] then
        place[key] = leading[key] or place_of_kind[type(value)] or 3
        keys[#keys + 1] = key
      end
    end
  end
  table.sort(keys, function(a, b)
    local x, y = place[a], place[b]
    if x ~= y then return x < y end
    return a < b
  end)
  return keys
end

-- Rows with string keys, of which every row has at least one of the first row's.
local function is_record_list(t, count)
  if count < 2 or #other_keys(t, count) > 0 then return false end
  local first = rawget(t, 1)
  for i = 1, count do
    local row, shared = rawget(t, i), false
    if type(row) ~= "table" or own_text(row) or next(row) == nil then return false end
    for key, value in next, row do
      if type(key) ~= "string" or type(value) == "table" and not own_text(value) then return false end
      shared = shared or rawget(first, key) ~= nil
    end
    if not shared then return false end
  end
  return true
end

-- In columns; a tab goes to the next multiple of eight.
local function width_of(text)
  local width = 0
  for part, tab in text:gmatch "([^\t]*)(\t?)" do
    width = width + (utf8.len(part) or #part)
    if tab ~= "" then width = (width // 8 + 1) * 8 end
  end
  return width
end
show.width = width_of

-- At most `width` characters of one line.
local function cut(text, width)
  text = text:gsub("\n.*$", " ...")
  if width_of(text) <= width then return text end
  local stop = utf8.len(text) and utf8.offset(text, width - 3) or width - 3
  return text:sub(1, stop - 1) .. " ..."
end

local function cell_text(value)
  if value == nil then return "-" end
  if type(value) == "string" then return cut(value:gsub("%c", " "), CELL) end
  if math.type(value) == "float" then return ("%.6g"):format(value) end
  return cut(type(value) == "function" and "function" or tostring(value), CELL)
end

-- Numbers to the right, the rest to the left; columns beyond the last place of a line are named below.
local function records_text(t, count)
  local shown, gap = {}, count > ROWS and FIRST_ROWS
  for i = 1, count do
    if not gap or i <= gap or i > count - LAST_ROWS then shown[#shown + 1] = rawget(t, i) end
  end
  local keys, lines, left, width = columns_of(shown), {}, {}, 0
  for i = 0, #shown do lines[i] = "" end
  for k, key in ipairs(keys) do
    local cells, widest, right = { [0] = cut(key, CELL) }, 0, true
    for i, row in ipairs(shown) do
      local value = rawget(row, key)
      cells[i] = cell_text(value)
      right = right and (value == nil or type(value) == "number")
    end
    for i = 0, #shown do widest = math.max(widest, width_of(cells[i])) end
    if #left > 0 or width + 2 + widest > columns() and k > 1 then
      left[#left + 1] = key
    else
      for i = 0, #shown do
        local blanks = (" "):rep(widest - width_of(cells[i]))
        lines[i] = lines[i] .. "  " .. (right and blanks .. cells[i] or cells[i] .. blanks)
      end
      width = width + 2 + widest
    end
  end
  local text = { ("%d rows:"):format(count) }
  for i = 0, #shown do
    text[#text + 1] = lines[i]:gsub("%s+$", "")
    if gap and i == gap then text[#text + 1] = "  ..." end
  end
  if #left > 0 then text[#text + 1] = cut("  and " .. table.concat(left, ", "), columns()) end
  return table.concat(text, "\n")
end

-- Items on one line when they fit, filled into lines otherwise.
local function table_text(t, depth)
  local count = rawlen(t)
  if depth == 0 and is_record_list(t, count) then return records_text(t, count) end
  local items = table_items(t, depth)
  local flat = "{" .. table.concat(items, ", ") .. "}"
  if depth > 0 or width_of(flat) <= columns() then
    return flat
  end
  local lines, line = {}, "  "
  for i, item in ipairs(items) do
    item = cut(item, columns() - 3) .. (i < #items and "," or "")
    if #line > 2 and width_of(line) + 1 + width_of(item) > columns() then
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
    if #line + 1 + #word > columns() then
      lines[#lines + 1] = line
      line = " "
    end
    line = line .. " " .. word
  end
  lines[#lines + 1] = line
  return table.concat(lines, "\n")
end

-- A long signature, broken at its blanks.
local function filled(text)
  return width_of(text) <= columns() and text or require "penumbra.wrap"("", text, 4):sub(1, -2)
end

-- A part of Penumbra shows its name: a function its signature, a library what is in it.
local function part_text(value)
  local pn = require "penumbra.core"
  local name = rawequal(value, pn) and "pn" or names.of(value)
  local entry = pn.reference()[name]
  if not name or (not entry and name ~= "pn") then
    return nil
  elseif type(value) == "function" then
    return filled("function " .. (entry.signature or name))
  end
  local parts = other_keys(value, 0)
  for i, key in ipairs(parts) do parts[i] = tostring(key) end
  local call = entry and entry.signature and entry.signature:find "[({]"
  return call and filled("function " .. entry.signature) .. "\n" .. fill("  and in it:", parts)
    or fill(("library %s:"):format(name), parts)
end

-- ---- what the owner of the records may see besides ----

local ENTRIES = 2e7 -- of the records that are read for a text: a hundredth of a second or so

-- The risk of a private fit, where reading the records for it is quick.
local function fit_text(fit)
  local text = tostring(fit)
  local before, after = text:match "^(.*\n  risk     )not released[^\n]*(.*)$"
  local fine, value = pcall(function()
    local data = fit.plan.objective.data
    local entries = data.sparse and data.X.nnz or data.n * data.p
    return before and entries <= ENTRIES and not package.loaded["penumbra.mpi"] and fit.value
  end)
  return fine and value and ("%s%.6g at theta (of the records: not for publication)%s"):format(before, value, after) or text
end

-- How full a sparse data set is: a fact of its records.
local function data_text(data)
  local text = tostring(data)
  local fine, share = pcall(function() return data.sparse and data.X.nnz / (data.n * data.p) end)
  return fine and share and (text:gsub("sparse", ("sparse (%.3g%%%% of the entries are stored)"):format(100 * share), 1)) or text
end

local own_view = { ["pn.fit"] = fit_text, ["pn.dataset"] = data_text }

function value_text(value, depth)
  local kind = type(value)
  local metatable = kind == "userdata" and depth == 0 and debug.getmetatable(value)
  local view = metatable and own_view[rawget(metatable, "__name")]
  if view then
    return view(value)
  end
  if kind == "string" then
    return quote(value)
  elseif value ~= value and kind == "number" then
    return "nan" -- without the sign that means nothing
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

-- The text of all values of an entry: side by side when they are short, else one below the other.
function show.texts(...)
  local texts, flat = {}, true
  for i = 1, select("#", ...) do
    texts[i] = show.text((select(i, ...)))
    flat = flat and not texts[i]:find "\n"
  end
  local line = table.concat(texts, "\t")
  return flat and width_of(line) <= columns() and line or table.concat(texts, "\n")
end

function show.print(...)
  io.write(show.texts(...), "\n")
end

return show
