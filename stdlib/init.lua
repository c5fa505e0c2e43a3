-- init.lua -- require "penumbra": the C half, finished by the Lua half.
-- Depends on: penumbra.core (bindings/), penumbra.help.  Used by: scripts, the program.
local pn = require "penumbra.core"

-- Loaded when it is first asked for, so that `require` stays quick.
function pn.help(...)
  return require "penumbra.help"(...)
end

pn.reference().help = {
  signature = 'pn.help(x)',
  doc = 'Print what is known about x: a name ("frank_wolfe", "set.l1_ball", "pn.vec:dot"), a function, a library, '
    .. 'an object (then its class), or nothing for an overview.  A name that is not known is answered with the '
    .. 'nearest ones.  Returns nothing.',
  reveals = 'nothing',
  kind = 'function',
}

return pn
