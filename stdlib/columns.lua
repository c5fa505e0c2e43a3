-- columns.lua -- columns(): how wide a text for the screen may be: 80, and less where the terminal is narrower.
-- Depends on: penumbra.terminal (in the program only).  Used by: penumbra.wrap, show, errors, prompt, magic, help.
local WIDTH, LEAST = 80, 30

local fine, terminal = pcall(require, "penumbra.terminal")

return function()
  if not fine or not terminal.is_terminal(1) then return WIDTH end
  return math.max(LEAST, math.min(WIDTH, (terminal.size())))
end
