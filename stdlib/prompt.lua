-- prompt.lua -- what only the prompt has: printing, completion, and a way out that people try first.
-- Depends on: penumbra.show, penumbra.complete.  Used by: the program, before it shows the prompt.
require "penumbra.show"
require "penumbra.complete"

local leave = setmetatable({}, {
  __call = function(_, status) os.exit(status, true) end,
  __tostring = function() return "exit() or Ctrl-D leaves" end,
})

for _, name in ipairs { "exit", "quit" } do
  if rawget(_G, name) == nil then
    rawset(_G, name, leave)
  end
end

return true
