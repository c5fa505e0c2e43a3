-- tokens.lua -- tokens(text): Lua text cut into tokens { kind=, text=, from=, to= }, in order and without gaps: name,
-- keyword, number, string, comment, operator, space, other.  An unfinished string or comment goes to the end and has `open`.
-- Text that is no Lua is cut as well as it goes: nothing raises.
-- Depends on: nothing.  Used by: penumbra.colour, penumbra.prompt, penumbra.prompt.complete, penumbra.errors.
local keywords = {}
for word in ([[and break do else elseif end false for function goto if in local nil not or repeat return then true
  until while]]):gmatch "%a+" do
  keywords[word] = true
end

local operators = {}
for word in ("... << >> // == ~= <= >= :: .."):gmatch "%S+" do
  operators[word] = true
end

-- The last byte of "[==[ ... ]==]" that begins at `from`, and whether it is open; nil when none begins there.
local function long_bracket(text, from)
  local level = text:match("^%[(=*)%[", from)
  if not level then return nil end
  local _, last = text:find("]" .. level .. "]", from + #level + 2, true)
  return last or #text, not last
end

local function quoted(text, from)
  local quote, at = text:sub(from, from), from + 1
  while at <= #text do
    local c = text:sub(at, at)
    if c == quote then return at, false end
    if c == "\n" then return at - 1, true end
    at = at + (c == "\\" and 2 or 1)
  end
  return #text, true
end

local function number_end(text, from)
  local hex = text:match("^0[xX][%x.]*()", from)
  local at = hex or text:match("^%d*%.?%d*()", from)
  local exponent = text:match(hex and "^[pP][+-]?%d*()" or "^[eE][+-]?%d*()", at)
  return (exponent or at) - 1
end

-- kind, last byte, open
local function token_at(text, from)
  local c = text:sub(from, from)
  if c:find "%s" then
    return "space", text:match("^%s+()", from) - 1
  elseif c:find "[%a_]" then
    local last = text:match("^[%w_]+()", from) - 1
    return keywords[text:sub(from, last)] and "keyword" or "name", last
  elseif c:find "%d" or text:find("^%.%d", from) then
    return "number", number_end(text, from)
  elseif c == '"' or c == "'" then
    return "string", quoted(text, from)
  elseif text:sub(from, from + 1) == "--" then
    local last, open = long_bracket(text, from + 2)
    if last then return "comment", last, open end
    return "comment", (text:find("\n", from, true) or #text + 1) - 1
  end
  local last, open = long_bracket(text, from)
  if last then return "string", last, open end
  for length = 3, 2, -1 do
    if operators[text:sub(from, from + length - 1)] then return "operator", from + length - 1 end
  end
  local character = text:match("^[\xC2-\xF4][\x80-\xBF]+()", from) -- of several bytes
  return c:find "[%p]" and "operator" or "other", character and character - 1 or from
end

return function(text)
  local list, at = {}, 1
  while at <= #text do
    local kind, last, open = token_at(text, at)
    list[#list + 1] = { kind = kind, text = text:sub(at, last), from = at, to = last, open = open or nil }
    at = last + 1
  end
  return list
end
