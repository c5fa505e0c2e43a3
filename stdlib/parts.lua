-- parts.lua -- what the Lua half adds to pn, a line each: the name, the module that has it, and the functions when it is a library.
-- A module has `rows`, its entries in the reference, and `run` (a function of pn) or the functions by their names (a library); it
-- is loaded when it is first asked for, so that `require "penumbra"` stays quick.
-- Depends on: nothing.  Used by: penumbra (init.lua), penumbra.sandbox.
return {
  { "help", "penumbra.prompt.help" },
  { "guide", "penumbra.guide" },
  { "advise", "penumbra.advise" },
  { "check", "penumbra.check" },
  { "plot", "penumbra.plot", functions = { "line", "scatter", "heat", "histogram", "set2d", "trace", "privacy" } },
  { "lesson", "penumbra.lesson" },
  { "experiment", "penumbra.experiment" },
}
