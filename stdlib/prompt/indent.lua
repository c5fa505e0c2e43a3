-- indent.lua -- indent(before): by how many columns the last line of an unfinished entry and the line after it are to be indented.
-- Depends on: penumbra.prompt.tokens.  Used by: the prompt's Enter.
local tokens = require "penumbra.prompt.tokens"

local STEP = 2

local opens = {}
for word in ("do then function repeat else { ( ["):gmatch "%S+" do opens[word] = true end
local closes = {}
for word in ("end until else elseif } ) ]"):gmatch "%S+" do closes[word] = true end

-- What several brackets of one line open is one step.
local function level(open_lines)
  local count, last = 0, nil
  for _, line in ipairs(open_lines) do
    if line ~= last then count = count + 1 end
    last = line
  end
  return count
end

local function is_open_text(token)
  return token.open and (token.kind == "comment" or token.text:sub(1, 1) == "[")
end

-- The first is nil unless the line begins with what closes; both are where a long string or comment is open,
-- whose text is left alone.
return function(before)
  local open_lines, line, own, closing = {}, 1, 0, false
  local leading = true -- nothing but what closes so far in this line
  for _, token in ipairs(tokens(before)) do
    if is_open_text(token) then return nil end
    local code = (token.kind == "keyword" or token.kind == "operator") and token.text
    if closes[code] then
      table.remove(open_lines)
      closing = closing or leading
    elseif token.kind ~= "space" and leading then
      leading, own = false, level(open_lines)
    end
    if leading then own = level(open_lines) end
    if opens[code] then
      leading = false
      open_lines[#open_lines + 1] = line
    end
    local _, breaks = token.text:gsub("\n", "")
    if breaks > 0 then
      line, leading, closing, own = line + breaks, true, false, level(open_lines)
    end
  end
  return closing and own * STEP or nil, level(open_lines) * STEP
end
