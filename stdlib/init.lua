-- init.lua -- require "penumbra": the C half, finished by the parts of the Lua half.
-- Depends on: penumbra.core (bindings/), penumbra.evaluation, penumbra.model, penumbra.parts, penumbra.solvers,
-- penumbra.tuning.  Used by: scripts, the program.
local pn = require "penumbra.core"
local evaluation = require "penumbra.evaluation"
local model = require "penumbra.model"
local parts = require "penumbra.parts"
local solvers = require "penumbra.solvers"
local tuning = require "penumbra.tuning"

local function later(module, name)
  return function(...)
    return require(module)[name](...)
  end
end

local function library(name, module, functions)
  local made = setmetatable({}, {
    __name = "pn.library",
    __index = function(_, key)
      error(("pn.%s has no '%s'; help \"%s\" lists what it has"):format(name, tostring(key), name), 2)
    end,
    __tostring = function() return ('library %s: help "%s" lists what it has'):format(name, name) end,
  })
  for _, key in ipairs(functions) do
    rawset(made, key, later(module, key))
  end
  return made
end

for _, part in ipairs(parts) do
  local name, module, functions = part[1], part[2], part.functions
  pn[name] = functions and library(name, module, functions) or later(module, "run")
end

solvers.add(pn)
tuning.add(pn)
evaluation.add(pn)
model.add(pn)

local core_reference, complete = pn.reference, false

-- The C half's entries and, from the first time on, those of the parts.
function pn.reference()
  local all = core_reference()
  if not complete then
    complete = true
    for _, part in ipairs(parts) do
      for name, row in pairs(require(part[2]).rows) do
        all[name] = row
      end
    end
    for _, own in ipairs { tuning, model, evaluation } do
      for name, row in pairs(own.rows) do
        all[name] = row
      end
    end
    for name, row in pairs(solvers.rows(all)) do
      all[name] = row
    end
  end
  return all
end

return pn
