-- stopped.lua -- stopped(message): whether an error is that the user pressed Ctrl-C, which nothing may swallow.
-- Depends on: nothing.  Used by: penumbra.advise, penumbra.check, which report other errors as rows.
return function(message)
  return type(message) == "string"
    and (message:find("stopped by the user", 1, true) or message:find "interrupted$") ~= nil
end
