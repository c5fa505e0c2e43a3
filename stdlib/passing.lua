-- passing.lua -- passing(message): whether an error says nothing of what was tried: the user pressed Ctrl-C, or memory ran out.
-- No method of a string is called, as in penumbra.intervals.
-- Depends on: penumbra.stopped.  Used by: penumbra.advise, .check, .intervals, .model, .tune and penumbra.programs.predict, to
-- which other errors are answers.
local stopped = require "penumbra.stopped"

local find, type = string.find, type

return function(message)
  if stopped(message) then return true end
  if type(message) ~= "string" then return false end
  return (find(message, "not enough memory", 1, true) or find(message, "out of memory", 1, true)) ~= nil
end
