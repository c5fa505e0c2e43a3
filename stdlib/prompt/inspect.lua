-- inspect.lua -- what "x?" shows of a value: type, value, size in memory, its help in short; of a user's function where it is
-- defined, the comment before it and its source.  "?name" without such a value is help.
-- Depends on: penumbra.colour, penumbra.prompt.names, penumbra.prompt, penumbra.prompt.show, penumbra.wrap.
-- Used by: penumbra.prompt.magic.
local colour = require "penumbra.colour"
local names = require "penumbra.prompt.names"
local prompt = require "penumbra.prompt"
local show = require "penumbra.prompt.show"
local wrap = require "penumbra.wrap"

local WIDTH, SOURCE_LINES, MAX_ITEMS = 80, 20, 100000

local inspect = {}

-- ---- size ----

local function class_name(value)
  local metatable = debug.getmetatable(value)
  return type(value) == "userdata" and type(metatable) == "table" and rawget(metatable, "__name") or nil
end

local sizes = {
  ["pn.vec"] = function(v) return 8 * #v end,
  ["pn.mat"] = function(m) return 8 * m.rows * m.cols end,
  ["pn.sparse"] = function(s) return 16 * s.nnz + 8 * s.rows end,
  ["pn.dataset"] = function(d) return (d.storage == "float32" and 4 or 8) * d.n * (d.p + 1) end,
}

-- Bytes of a value and of what is in it, about: by what Lua 5.4 takes for headers, slots and entries.
local function bytes_of(value, seen, budget)
  local kind = type(value)
  if kind == "string" then return 24 + #value end
  if kind == "userdata" then
    local size = sizes[class_name(value)]
    local fine, bytes = pcall(size or error, value)
    return fine and bytes or nil
  end
  if kind ~= "table" or seen[value] then return kind == "function" and 40 or 0 end
  seen[value] = true
  local bytes = 56
  for key, inner in next, value do
    budget.left = budget.left - 1
    if budget.left < 0 then break end
    bytes = bytes + (math.type(key) == "integer" and 16 or 40) + (bytes_of(inner, seen, budget) or 0)
  end
  return bytes
end

function inspect.bytes_text(bytes)
  for _, unit in ipairs { { 1 << 30, "GiB" }, { 1 << 20, "MiB" }, { 1 << 10, "KiB" } } do
    if bytes >= unit[1] then return ("%.3g %s"):format(bytes / unit[1], unit[2]) end
  end
  return ("%d B"):format(bytes)
end

-- ---- in short ----

function inspect.cut(text, width)
  text = text:gsub("\n.*$", " ...")
  local length = utf8.len(text)
  if not length or length <= width then return length and text or text:sub(1, width) end
  return text:sub(1, utf8.offset(text, width - 3) - 1) .. "..."
end

local function type_of(value)
  return class_name(value) or math.type(value) or type(value)
end

-- { type=, short=, bytes= or nil }
function inspect.about(value)
  local kind = type(value)
  local short = kind == "function" and "function" or kind == "table" and inspect.cut(show.text(value), WIDTH) or show.text(value)
  local counted = kind == "table" or kind == "string" or kind == "userdata"
  return { type = type_of(value), short = short,
    bytes = counted and bytes_of(value, {}, { left = MAX_ITEMS }) or nil }
end

-- ---- functions of the user ----

local function text_of(source)
  local entry = tonumber(source:match "^=%[(%d+)%]$")
  if entry then return prompt.entries[entry] end
  local file = source:sub(1, 1) == "@" and io.open(source:sub(2), "r")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

-- A comment that was an entry of its own, before that of the function.
local function comment_before(source)
  local entry = tonumber(source:match "^=%[(%d+)%]$")
  local text = entry and prompt.entries[entry - 1]
  return text and text:find "^%s*%-%-[^\n]*$" and { text } or nil
end

-- The lines of a function and the comment right before it.
local function source_of(info)
  local text = text_of(info.source)
  if not text then return nil end
  local lines, comment, body = {}, {}, {}
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  local at = info.linedefined - 1
  while lines[at] and lines[at]:find "^%s*%-%-" do
    table.insert(comment, 1, (lines[at]:gsub("^%s*", "")))
    at = at - 1
  end
  if at == 0 then comment = comment_before(info.source) or comment end
  for i = info.linedefined, math.min(info.lastlinedefined, #lines) do body[#body + 1] = lines[i] end
  return body, comment
end

local function show_function(value, more)
  local info = debug.getinfo(value, "Su")
  local arguments = {}
  for i = 1, info.nparams do arguments[i] = debug.getlocal(value, i) end
  if info.isvararg then arguments[#arguments + 1] = "..." end
  io.write(colour.paint("function", "keyword"), "(", table.concat(arguments, ", "), ")")
  if info.what == "C" then return io.write(" in C\n") end
  io.write("  defined in ", info.short_src, ", line ", tostring(info.linedefined), "\n")
  local body, comment = source_of(info)
  if not body then return end
  for _, line in ipairs(comment) do io.write(colour.paint(line, "comment"), "\n") end
  local most = more and #body or SOURCE_LINES
  io.write(colour.code(table.concat(body, "\n", 1, math.min(most, #body))), "\n")
  if #body > most then io.write(colour.paint(("... %d more lines; ?? shows them"):format(#body - most), "dim"), "\n") end
end

-- ---- values ----

local function row(label, text)
  io.write(colour.paint(("%-7s"):format(label), "dim"), wrap((" "):rep(7), text, 7):sub(8))
end

local function show_help_in_short(class, more)
  local entry = require "penumbra".reference()[class]
  if more then
    io.write "\n"
    return require "penumbra".help(class)
  end
  row("class", (entry.doc or ""):match "^(.-%.)%s" or entry.doc or "")
  row("help", ('help "%s" lists fields and methods'):format(class))
end

-- The value that the text stands for in the environment of entries; nil when it does not compile or fails.
local function value_of(text)
  local run = load("return " .. text, "=?", "t", prompt.env())
  if not run then return nil end
  local fine, value = pcall(run)
  return fine and value or nil
end

-- "pn.fit.thta" for "f.thta" where f is a fit: so that help finds what is near.
local function as_member(text)
  local owner, last = text:match "^(.+)[.:]([%w_]+)$"
  local class = owner and class_name(value_of(owner))
  return class and ("%s.%s"):format(class, last) or text
end

local function show_value(text, value, more)
  local kind, bytes = type_of(value), inspect.about(value).bytes
  row("type", kind .. (type(value) == "table" and rawlen(value) > 0 and (", %d in its list"):format(rawlen(value)) or ""))
  local shown = show.text(value)
  io.write(colour.paint("value  ", "dim"), shown:find "\n" and "\n" or "", colour.result(shown), "\n")
  if bytes then row("memory", inspect.bytes_text(bytes)) end
  local number = text:match "^_(%d+)$"
  if number then row("from", ("result %s of the prompt"):format(number)) end
  local class, member = class_name(value), require "penumbra".reference()[as_member(text)]
  if member and member.kind == "field" then row("field", member.doc) end
  if class and require "penumbra".reference()[class] then show_help_in_short(class, more) end
end

-- Print all about the name or expression.
function inspect.show(text, more)
  if text == "" then return require "penumbra.prompt.magic".read("%help").run() end
  local value = value_of(text)
  local known = value ~= nil and (type(value) == "function" or type(value) == "table") and names.of(value)
  if known then
    require "penumbra".help(value)
  elseif value == nil then
    require "penumbra".help(as_member(text))
  elseif type(value) == "function" then
    show_function(value, more)
  else
    show_value(text, value, more)
  end
end

return inspect
