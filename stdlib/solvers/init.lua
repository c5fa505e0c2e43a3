-- solvers/init.lua -- the private solvers that are written in Lua: an update rule and what it asks, each a file to read and to
-- learn from.  Here they become entries of pn.solve, made when one is first used, and of the reference.
-- Depends on: penumbra.shipped (bindings/solvers/lshipped.c), penumbra.solvers.NAME, and a pn with pn.solver.
-- Used by: penumbra (init.lua), penumbra.sandbox.
local shipped = require "penumbra.shipped"

local solvers = {}

solvers.names = {
  "adam", "adaptive_clipping", "coordinate_descent", "ftrl", "heavy_ball", "matrix_factorization_sgd", "nesterov", "noisy_sgd",
}

local function definition(name)
  return require("penumbra.solvers." .. name)
end

-- Into pn.solve, as those that are C: solve.NAME(obj, options) and solve.NAME.plan(obj, options).
function solvers.add(pn)
  local make = pn.solver -- now: a script of an analyst's may put another in its place
  for _, name in ipairs(solvers.names) do
    local made
    local function solver()
      made = made or make(definition(name))
      return made
    end
    rawset(pn.solve, name, shipped(solver))
  end
end

-- ---- the reference ----

local expects = { number = "a number", string = "text", boolean = "true or false" }

-- Options of every solver, as they stand with the others.
local function common(reference)
  local count, times, shared = 0, {}, {}
  for name, entry in pairs(reference) do
    if name:match "^solve%.[%w_]+%.plan$" then
      count = count + 1
      for _, param in ipairs(entry.params) do times[param.name] = (times[param.name] or 0) + 1 end
    end
  end
  for _, param in ipairs(reference["solve.auto"].params) do
    if times[param.name] == count then shared[#shared + 1] = param end
  end
  return shared
end

local function params_of(made, shared)
  local params, names = { table.unpack(shared) }, {}
  for name in pairs(made.options) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local default = made.options[name]
    params[#params + 1] = {
      name = name, doc = made.about[name], default = default, required = false,
      expects = default == "auto" and 'a number or "auto"' or expects[type(default)],
    }
  end
  return params
end

-- Entries for all of them, beside those of the C half.
function solvers.rows(reference)
  local rows, shared = {}, common(reference)
  for _, name in ipairs(solvers.names) do
    local made = definition(name)
    local call = "pn.solve." .. name
    local source = ("%s.  A pn.solver, to be read in stdlib/solvers/%s.lua."):format(made.source, name)
    local params = params_of(made, shared)
    rows["solve." .. name] = {
      signature = call .. "(obj, {options}) -> fit", doc = made.doc, source = source, kind = "function", reveals = "paid",
      params = params,
    }
    rows["solve." .. name .. ".plan"] = {
      signature = call .. ".plan(obj, {options}) -> plan", source = source, kind = "function", reveals = "nothing",
      doc = "Plan a run and spend nothing; tostring(plan) explains it.", params = params,
    }
  end
  return rows
end

return solvers
