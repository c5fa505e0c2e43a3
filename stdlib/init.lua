-- init.lua -- require "penumbra": the C half, finished by the Lua half (help, printing).
-- Depends on: penumbra.core (bindings/).  Used by: scripts, the program.
local pn = require "penumbra.core"

return pn
