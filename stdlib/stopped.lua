-- stopped.lua -- stopped(message): whether an error is that the user pressed Ctrl-C, which nothing may swallow.
-- Depends on: nothing.  Used by: penumbra.passing; penumbra.lesson, penumbra.programs.federated and others, which report other
-- errors as rows or text.
local find, type = string.find, type

return function(message)
  return type(message) == "string" and (find(message, "stopped by the user", 1, true) or find(message, "interrupted$")) ~= nil
end
