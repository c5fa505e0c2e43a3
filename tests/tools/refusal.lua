-- refusal.lua -- calls that must raise, and what they say.
-- Depends on: nothing.  Used by: specs.
local refusal = {}

-- The message of f(...), which must raise, without the line of a spec or a script in front.
local function message_of(level, f, ...)
  local accepted, message = pcall(f, ...)
  if accepted then error("the call was accepted", level + 1) end
  return (tostring(message):gsub("^%S*%.lua:%d+: ", ""))
end

local function expect(holds, message, wanted)
  if not holds then error(("the call was refused by\n  %s\nand not by\n  %s"):format(message, wanted), 3) end
  return message
end

function refusal.refusal(f, ...)
  return (message_of(2, f, ...))
end

-- f(...) raises and says `text`, among other things; the message.
function refusal.refused(text, f, ...)
  local message = message_of(2, f, ...)
  return expect(message:find(text, 1, true), message, text)
end

-- The same of a pattern.
function refusal.refused_like(pattern, f, ...)
  local message = message_of(2, f, ...)
  return expect(message:find(pattern), message, pattern)
end

-- f(...) raises and says `text`, and nothing else.
function refusal.refused_with(text, f, ...)
  local message = message_of(2, f, ...)
  return expect(message == text, message, text)
end

return refusal
