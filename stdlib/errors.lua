-- errors.lua -- what is shown of an error: the message, the user's own line with the place marked, the nearest known name, and the
-- user's functions that were on the way.  Frames and positions inside the library are left out.
-- Depends on: penumbra.colour, penumbra.columns, penumbra.prompt.tokens, .near, .habits, penumbra.wrap.
-- Used by: the prompt; the program, for scripts (bindings/prompt/repl_call.c).
local colour = require "penumbra.colour"
local columns = require "penumbra.columns"
local habits = require "penumbra.prompt.habits"
local near = require "penumbra.prompt.near"
local tokens = require "penumbra.prompt.tokens"

local MAX_FRAMES = 8
local MAX_LEVELS = 100 -- looked at: an endless recursion has 200000

local errors = {}

-- ---- source lines ----

local function read_file(path)
  local file = io.open(path, "r")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

-- The text of the chunk with that source: an entry of the prompt, or a file.
local function text_of(source)
  local entry = tonumber(source:match "^=?%[(%d+)%]$")
  local prompt = package.loaded["penumbra.prompt"]
  if entry then
    return type(prompt) == "table" and (prompt.sources[entry] or prompt.entries[entry]) or nil
  end
  return source:sub(1, 1) == "@" and read_file(source:sub(2)) or nil
end

local function line_of(text, number)
  local at = 1
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    if at == number then return line end
    at = at + 1
  end
end

-- ---- frames ----

local function in_library(source)
  return source:find "/lua/penumbra/" or source:find "/lua/5%.4/penumbra/" or source:find "^=%[C%]"
end

-- The user's own frames, innermost first.
local function user_frames(level)
  local frames = {}
  for at = level, level + MAX_LEVELS do
    local info = debug.getinfo(at, "Sln")
    if not info then break end
    if info.what ~= "C" and not in_library(info.source) then
      frames[#frames + 1] = info
    end
  end
  return frames
end

local function place_of(frame)
  return ("%s:%d:"):format(frame.short_src, frame.currentline)
end

local function frame_text(frame)
  if frame.what == "main" then
    return place_of(frame) .. (frame.source:find "^=" and " in the entry" or " in main chunk")
  end
  local name = frame.name and ("'%s'"):format(frame.name) or ("<%s:%d>"):format(frame.short_src, frame.linedefined)
  return ("%s in function %s"):format(place_of(frame), name)
end

local function way_here(frames)
  if #frames < 2 then return nil end
  local lines = { "stack traceback:" }
  for i, frame in ipairs(frames) do
    if i > MAX_FRAMES and i < #frames then
      if i == MAX_FRAMES + 1 then lines[#lines + 1] = ("\t... %d more"):format(#frames - MAX_FRAMES - 1) end
    else
      lines[#lines + 1] = "\t" .. frame_text(frame)
    end
  end
  return table.concat(lines, "\n")
end

-- ---- the place in the line ----

-- Whether the token at `i` is a name used in the way that the message says.
local function is_meant(list, i, what)
  local before = list[i - 1] and list[i - 1].text or ""
  local after = list[i + 1]
  if after and after.kind == "space" then after = list[i + 2] end
  if what.kind == "option" then
    return after and after.text == "="
  elseif what.kind == "field" or what.kind == "constant" then
    return before == "." or list[i].kind == "string"
  elseif what.kind == "method" then
    return before == ":"
  elseif what.kind == "member" then
    return before == "." or before == ":"
  end
  return before ~= "." and before ~= ":"
end

local function line_number(text, at)
  local _, breaks = text:sub(1, at - 1):gsub("\n", "")
  return breaks + 1
end

-- The token that a message means, in the line of the error or, as calls go over several, in a later one.
local function find_token(text, number, what)
  local list = tokens(text)
  for i, token in ipairs(list) do
    local spelt = token.text == what.name or token.kind == "string" and token.text:sub(2, -2) == what.name
    if spelt and is_meant(list, i, what) then
      local line = line_number(text, token.from)
      if line == number or line > number and what.kind == "option" then
        return token, line
      end
    end
  end
end

-- The text up to the first place where it cannot go on as Lua, at the token that the message says.
local function find_syntax(text, number, name)
  for _, token in ipairs(tokens(text)) do
    if (token.text == name or token.text:sub(1, 1) == name) and line_number(text, token.from) == number then
      local _, message = load(text:sub(1, token.to), "=x", "t")
      local _, expression = load("return " .. text:sub(1, token.to), "=x", "t")
      if message and not message:find "<eof>$" and (not expression or not expression:find "<eof>$") then
        return token
      end
    end
  end
end

-- ---- what a message means ----

-- { kind=, name= } of the name that a message complains of, with the known names for it in `known` (a list, or nil).
local function meaning(message)
  local kind, name = message:match "nil value %((%a+) '([^']*)'%)"
  if kind then return { kind = kind, name = name } end
  local library
  library, name = message:match "pn%.([%w_.]+) has no '([^']*)'"
  if library then return { kind = "member", name = name, known = near.of_library(library) } end
  local class
  class, name = message:match "(pn%.[%w_]+) has no field '([^']*)'"
  if class then return { kind = "member", name = name, known = near.of_class(class) } end
  local list
  name, list = message:match "unknown option '([^']*)'; .-takes (.*)$"
  if not name then name, list = message:match "unknown field '([^']*)'; .-takes (.*)$" end
  if name then
    return { kind = "option", name = name:match "[^.]*$", known = near.of_list(list) }
  end
  name = message:match "^%S- ?[%w_.]+: ([%a_][%w_.]*) must be .- got " or message:match "^%S- ?[%w_.]+: ([%a_][%w_]*) = %S+ is "
  if name then return { kind = "option", name = name:match "[^.]*$" } end
end

-- The chain of names before the token in its line: solve of solve.svrg.
local function owner_of(text, token)
  local chain = {}
  local before = text:sub(1, token.from - 1):match "([%a_][%w_.]*)[.:]$"
  for part in (before or ""):gmatch "[^.]+" do chain[#chain + 1] = part end
  return #chain > 0 and chain or nil
end

local function suggestion(what, text, token, env)
  local known = what.known
  if what.kind == "global" then
    known = near.globals(env)
  elseif (what.kind == "field" or what.kind == "method") and token then
    known = near.fields(owner_of(text, token), env)
  end
  return known and near.nearest(what.name, known)
end

-- ---- text ----

local function paint(text, role)
  return colour.paint(text, role, io.stderr)
end

-- The line, cut to the screen around the place, and a caret line below.
local function marked(line, from, to)
  local room, shift = columns() - 2, 0
  line = line:gsub("\t", " "):gsub("%s+$", "")
  if #line > room then
    shift = math.max(0, math.min((from or 1) - room // 3, #line - room))
    while (line:byte(shift + 1) or 0) & 0xC0 == 0x80 do shift = shift + 1 end -- not within a character
    line = line:sub(shift + 1, shift + room):gsub("[\xC2-\xF4][\x80-\xBF]*$", function(last)
      return utf8.len(last) and last or ""
    end)
  end
  local out = paint("> ", "dim") .. colour.code(line, io.stderr)
  if from then
    local first = from - shift
    local last = math.max(first, math.min(to - shift, room))
    local count = utf8.len(line:sub(first, last)) or last - first + 1
    local lead = utf8.len(line:sub(1, first - 1)) or first - 1
    out = out .. "\n  " .. (" "):rep(lead) .. paint(("^"):rep(count), "error")
  end
  return out
end

local function mark_in(text, number, token)
  local line = line_of(text, number)
  if not line or not line:find "%S" then return nil end
  if not token then return marked(line) end
  local start = token.from - #text:sub(1, token.from - 1):match "[^\n]*$"
  local to = math.min(token.to, start + #line - 1)
  return marked(line, token.from - start + 1, to - start + 1)
end

local function on_screen()
  local prompt = package.loaded["penumbra.prompt"]
  if type(prompt) == "table" and prompt.terminal then return true end
  local fine, terminal = pcall(require, "penumbra.terminal")
  return fine and terminal.is_terminal(2)
end

-- Lines of the message that are too long for the screen are filled.
local function filled(message)
  if not on_screen() then return message end
  local out = {}
  for line in (message .. "\n"):gmatch "([^\n]*)\n" do
    local long = (utf8.len(line) or 0) > columns() and not line:find "^%s"
    out[#out + 1] = long and require "penumbra.wrap"("", line, 2):sub(1, -2) or line
  end
  return table.concat(out, "\n")
end

local function hint_text(name)
  return name and paint(("did you mean `%s`?"):format(name), "warning") or nil
end

-- For a name that other languages have, or one that is near to a known one.
local function name_hint(what, near_one)
  local known = what.kind == "global" and habits.of_name(what.name)
    or (what.kind == "field" or what.kind == "method") and habits.of_field(what.name)
  return known and paint(known, "warning") or hint_text(near_one)
end

local function join(...)
  local parts = {}
  for i = 1, select("#", ...) do
    parts[#parts + 1] = (select(i, ...)) or nil
  end
  return table.concat(parts, "\n")
end

-- ---- the two kinds ----

local function environment()
  local prompt = package.loaded["penumbra.prompt"]
  return type(prompt) == "table" and prompt.env() or _G
end

local function message_of(value)
  if type(value) == "string" or type(value) == "number" then return tostring(value) end
  local metatable = debug.getmetatable(value)
  if type(metatable) == "table" and metatable.__tostring then
    local fine, text = pcall(tostring, value)
    if fine then return text end
  end
  if value == nil then return "(the error is nil, not a message)" end
  return ("(the error is a %s, not a message: %s)"):format(type(value), require "penumbra.prompt.show".text(value))
end

-- Whether the library's Lua half raised the error: it gives no place.
local function is_ours(level)
  for at = level, level + MAX_LEVELS do
    local info = debug.getinfo(at, "S")
    if not info or info.what ~= "C" then return info and in_library(info.source) end
  end
end

-- With the user's place in front, not one inside of the library, and the user's frame that it happened in.
local function placed(message, frames, ours)
  for _, frame in ipairs(frames) do
    if message:sub(1, #place_of(frame)) == place_of(frame) then return message, frame end
  end
  local path, rest = message:match "^(%S-%.lua):%d+: (.*)$"
  if path and in_library("@" .. path) or path and path:find "^%.%.%." and path:find "/penumbra/" then message = rest end
  if ours and frames[1] and message ~= "interrupted" and not message:find "^[^\n:]+:%d+: " then
    message = place_of(frames[1]) .. " " .. message
  end
  return message, frames[1]
end

-- The whole text for an error value; to be called where it was raised (a message handler).  `errors.message` is the bare message.
function errors.explain(value)
  local frames = user_frames(3)
  local message, frame = placed(message_of(value), frames, is_ours(3))
  local interrupted = message:find "interrupted$"
  if message == "interrupted" and frame then message = place_of(frame) .. " interrupted" end
  errors.message = message
  local text = frame and text_of(frame.source)
  local what, token, line = meaning(message), nil, frame and frame.currentline
  if text and what then
    local found, on = find_token(text, line, what)
    token, line = found, on or line
  end
  local habit = text and line and habits.of_error(message, line_of(text, line) or "")
  return join(paint(filled(message), "error"), text and not interrupted and mark_in(text, line, token) or nil,
    habit and paint(habit, "warning") or what and name_hint(what, suggestion(what, text, token, environment())) or nil,
    way_here(frames))
end

-- The same for the message of load: "[3]:1: unexpected symbol near '='".
function errors.syntax(message)
  errors.message = message
  local chunk, number, rest = message:match "^(.-):(%d+): (.*)$"
  local text = chunk and (text_of("=" .. chunk) or text_of("@" .. chunk))
  if not text then return paint(filled(message), "error") end
  local name = rest:match "near '(.*)'$"
  local byte = name and name:match "^<\\(%d+)>$" -- of a character that Lua does not know
  local token = name and find_syntax(text, tonumber(number), byte and string.char(byte) or name)
  local hint = habits.of_code(text, line_of(text, tonumber(number)), token)
  if byte and token and #token.text > 1 then message = message:gsub("<\\%d+>", token.text) end
  return join(paint(filled(message), "error"), mark_in(text, tonumber(number), token),
    hint and paint(hint, "warning") or nil)
end

-- The known global that a name which is nil is near to.
function errors.near_global(name, env)
  return near.nearest(name, near.globals(env))
end

function errors.report(text)
  io.stdout:flush()
  io.stderr:write(text, "\n")
end

return errors
