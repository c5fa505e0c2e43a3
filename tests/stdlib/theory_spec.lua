-- theory_spec.lua -- every line that a plan prints is explained: the document that derives the solver's constants, or the one that
-- all solvers share, has a row for it in a table of the columns "plan line | formula | section".
local pn = require "penumbra"
local theory = require "penumbra.theory"
local law = require("tests.tools.tier").law(it)

-- The lines that a document explains.
local function explained(path)
  local out, inside = {}, false
  for line in io.lines(path) do
    if line:find "^| *plan line *|" then inside = true elseif not line:find "^|" then inside = false end
    local first = inside and line:gsub("\\|", "\0"):match "^|([^|]*)|" or ""
    for name in first:gmatch "`([^`]+)`" do out[name:gsub("%z", "|")] = true end
  end
  return out
end

-- Objectives of several kinds, so that each solver takes some.
local function objectives()
  local linear = pn.data.synthetic.lasso{n = 500, p = 4, seed = 1}:clip_rows("l2", 1):clip_labels(-1, 1)
  local d = pn.data.synthetic.logistic{n = 500, p = 4, seed = 1}:clip_rows("l2", 1)
  local logistic = pn.loss.logistic()
  return {
    pn.objective{data = d, loss = logistic, set = pn.set.l1_ball{dim = d.p}},
    pn.objective{data = d, loss = logistic, set = pn.set.linf_ball{dim = d.p}, reg = pn.reg.l2(0.1)},
    pn.objective{data = d, loss = logistic, reg = pn.reg.l2(0.1)},
    pn.objective{data = d, loss = pn.loss.hinge(), set = pn.set.l2_ball{dim = d.p}, clip = 0.5},
    pn.objective{data = linear, loss = pn.loss.squared(), set = pn.set.l2_ball{dim = linear.p}},
    pn.objective{data = linear, loss = pn.loss.squared(), reg = pn.reg.l2(0.01)},
  }
end

local OPTIONS = {
  { epsilon = 1, delta = 1e-8 }, { rho = 0.1, iterations = 20 }, { privacy = false },
  { epsilon = 1, delta = 1e-8, calibration = "paper" },
}

describe("the theory", function()
  law("explains every line of every solver's plans", function()
    local missing, plans, shared = {}, {}, explained "runtime/solvers/engine/plans.md"
    local tried = objectives()
    for name in pairs(pn.reference()) do
      local solver = name:match "^solve%.([%w_]+)$"
      local path = solver and theory(name)
      local own = path and solver ~= "federated_frank_wolfe" and explained(path)
      for _, objective in ipairs(own and tried or {}) do
        for _, options in ipairs(OPTIONS) do
          local fine, plan = pcall(pn.solve[solver].plan, objective, options)
          for _, line in ipairs(fine and plan.lines or {}) do
            plans[solver] = true
            if not own[line.name] and not shared[line.name] then missing[name .. ": " .. line.name] = true end
          end
        end
      end
      if own then assert.is_true(plans[solver], solver .. " has no plan here") end
    end
    assert.same({}, missing)
  end)
end)
