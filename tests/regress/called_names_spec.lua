-- called_names_spec.lua -- a message begins with the name of the function that was called, once.
-- frank_wolfe_convex used to report as solve.frank_wolfe, a plan as the run, and a run without the "solve.".
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local data = pn.data.synthetic.logistic { n = 50, p = 3, seed = 1 }:clip_rows("l2", 1)
local two = pn.data.from(pn.mat { { 1, 2, 3 }, { 3, 4, 1 } }, pn.vec { 1, 2 })
local ball = pn.set.l1_ball { dim = 3 }
local black_box = pn.loss.black_box { dim = 3, value = function() return 0 end }
local objectives = {
  pn.objective { data = data, loss = pn.loss.logistic(), set = ball },
  pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3 } },
  pn.objective { data = data, loss = pn.loss.squared() },
  pn.objective { data = data, loss = pn.loss.hinge(), set = pn.set.box { lower = { -1, -1, -1 }, upper = { 1, 1, 1 } } },
  pn.objective { data = data, loss = pn.loss.logistic(), reg = pn.reg.l1(0.1) },
  pn.objective { data = two, loss = pn.loss.squared(), set = ball },
  pn.objective { data = two:clip_rows("l2", 1), loss = pn.loss.softmax { classes = 2 }, set = pn.set.l2_ball { dim = 6 } },
  pn.objective { data = data, loss = black_box },
}
local budgets = {
  {}, { epsilon = 1 }, { delta = 0.1 }, { rho = 1, epsilon = 1 }, { epsilon = 1, delta = 1e-6 }, { rho = 1e-30 },
  { privacy = false }, { privacy = false, epsilon = 1 }, { epsilon = 1, delta = 1e-6, calibration = "paper" },
  { epsilon = 1, delta = 1e-6, neighbours = "add_remove" }, { epsilon = 1, delta = 1e-6, start = { 1 } },
}
local values = { "x", {}, -1, 0 / 0, 2.5, true, function() end, { 1, 2 } }

local function solver_names()
  local names = {}
  for name in pairs(pn.reference()) do
    if name:find "^solve%.[%w_]+%.plan$" then names[#names + 1] = name:match "^solve%.([%w_]+)" end
  end
  table.sort(names)
  return names
end

-- The message of the refused call, or nil; what stands inside, as what a solver in a solver says, is not its beginning.
local function refusal(f, ...)
  local fine, said = pcall(f, ...)
  return not fine and (tostring(said):gsub("^[^\n]-%.lua:%d+: ", "")) or nil
end

local found
local function expect(name, f, ...)
  local said = refusal(f, ...)
  if not said then return 0 end
  local lead = name .. ": "
  if said:sub(1, #lead) ~= lead or said:sub(#lead + 1, 2 * #lead) == lead then found[#found + 1] = name .. " said " .. said end
  return 1
end

local function with(options, name, value)
  local out = {}
  for key, of in pairs(options) do out[key] = of end
  local group, inner = name:match "^([^.]+)%.(.+)$"
  if group then out[group] = { [inner] = value } else out[name] = value end
  return out
end

describe("a refused call of a solver", function()
  before_each(function() found = {} end)

  local function try(name, f, objective, options)
    return expect(name, f, objective, options)
  end

  law("begins with the name that was called, for the run and for its plan", function()
    local refused = 0
    for _, solver in ipairs(solver_names()) do
      for _, is_plan in ipairs { false, true } do
        local name = "solve." .. solver .. (is_plan and ".plan" or "")
        local f = is_plan and pn.solve[solver].plan or pn.solve[solver]
        for _, objective in ipairs { 3, "x", {} } do refused = refused + try(name, f, objective, { epsilon = 1 }) end
        refused = refused + try(name, f, objectives[1]) + try(name, f, objectives[1], 3)
        refused = refused + try(name, f, objectives[1], { nonsense = 1, epsilon = 1 })
        for i = 1, is_plan and #objectives or 0 do
          for _, options in ipairs(budgets) do refused = refused + try(name, f, objectives[i], options) end
        end
      end
    end
    assert.equal("", table.concat(found, "\n"))
    assert.is_true(refused > 1000, refused)
  end)

  law("with a wrong value of any option begins with the name that was called", function()
    local refused = 0
    local budget = { epsilon = 1, delta = 1e-6 }
    for _, solver in ipairs(solver_names()) do
      local name = "solve." .. solver .. ".plan"
      for _, param in ipairs(pn.reference()[name].params) do
        for k = 1, tier.times(3, #values) do
          refused = refused + try(name, pn.solve[solver].plan, objectives[2], with(budget, param.name, values[k]))
        end
      end
    end
    assert.equal("", table.concat(found, "\n"))
    assert.is_true(refused > 800, refused)
  end)

  it("by a ledger begins with the name that was called", function()
    local small = pn.ledger { epsilon = 1e-3, delta = 1e-9 }
    local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3 } }
    local options = { epsilon = 1, delta = 1e-9, iterations = 2, ledger = small, progress = false }
    local plan = pn.solve.sgd.plan(obj, { epsilon = 1, delta = 1e-9, iterations = 2 })
    local real = { rng = pn.rng.seeded(1), ledger = pn.ledger { epsilon = 9, delta = 1e-6 }, progress = false }
    assert.equal(1, expect("solve.sgd", pn.solve.sgd, obj, options))
    assert.equal(1, expect("solve.sgd.plan", pn.solve.sgd.plan, obj, options))
    assert.equal(1, expect("solve.adam", pn.solve.adam, obj, options))
    assert.equal(1, expect("plan:with", plan.with, plan, { ledger = small }))
    assert.equal(1, expect("plan:run", plan.run, plan, { ledger = small, progress = false }))
    assert.equal(1, expect("plan:steps", plan.steps, plan, { ledger = small }))
    assert.equal(1, expect("plan:run", plan.run, plan, real))
    assert.equal(1, expect("query.count", pn.query.count, { data = data, columns = { 1 }, ledger = small, epsilon = 1 }))
    assert.equal("", table.concat(found, "\n"))
  end)

  it("after a run still begins with what is called then", function()
    local obj = objectives[2]
    local plan = pn.solve.sgd.plan(obj, { epsilon = 1, delta = 1e-6, iterations = 2 })
    plan:run { progress = false, rng = pn.rng.seeded(1) }
    local small = pn.ledger { epsilon = 0.01, delta = 1e-9 }
    assert.matches("^plan:run: ", refusal(plan.run, plan, { progress = false, ledger = small }))
  end)
end)

-- What takes options by name; positional arguments are named where the calling line can be seen (wrong_calls_spec).
describe("a refused call of a constructor", function()
  local groups = {}
  for group in ("set potential loss prox norm reg mechanism event accountant sampling sampler calibrate query"):gmatch "%a+" do
    groups[group] = true
  end

  it("begins with its own name", function()
    found = {}
    local refused = 0
    for name, row in pairs(pn.reference()) do
      local group, own = name:match "^(%w+)%.([%w_]+)$"
      local f = groups[group] and row.kind == "function" and pn[group][own]
      if f and row.params then
        refused = refused + expect(name, f, { nonsense = 1 })
        for _, param in ipairs(row.params) do
          for k = 1, tier.times(3, #values) do refused = refused + expect(name, f, { [param.name] = values[k] }) end
        end
      end
    end
    assert.equal("", table.concat(found, "\n"))
    assert.is_true(refused > 500, refused)
  end)
end)
