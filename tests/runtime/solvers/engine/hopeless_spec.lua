-- hopeless_spec.lua -- plans whose noise is expected to leave the model no better than a constant say so first.
-- The rule is r >= 1/2, r = c sqrt(d)/(n mu) max(1, G/(2 g)): runtime/solvers/engine/hopeless.c.  A plan reads no record, so
-- synthetic records of the same numbers stand for the measured data sets; the truth about these is in tests/bench/README.md.
local pn = require "penumbra"

local made = {}
local function rows(n, p)
  local key = n .. "x" .. p
  made[key] = made[key] or pn.data.synthetic.logistic { n = n, p = p, seed = 1 }:clip_rows("l2", 1)
  return made[key]
end

local function ball(p, radius) return pn.set.l2_ball { dim = p, radius = radius } end

-- As pn.model has them.
local kinds = {
  logistic = function(d) return pn.objective { data = d, loss = pn.loss.logistic(), set = ball(d.p, 40) } end,
  squared = function(d) return pn.objective { data = d, loss = pn.loss.squared(), set = ball(d.p, 10), clip = 0.5 } end,
  moments = function(d) return pn.objective { data = d, loss = pn.loss.squared(), set = ball(d.p, 10) } end,
}

local function plan(solver, obj, epsilon, more)
  local options = { epsilon = epsilon, delta = 1 / obj.data.n ^ 2 }
  for name, value in pairs(more or {}) do options[name] = value end
  return pn.solve[solver].plan(obj, options)
end

local function says(made_plan)
  local first = made_plan.warnings[1]
  return first ~= nil and first:find("no better than a constant", 1, true) ~= nil
end

-- Both faces of the answer, which have to agree.
local function hopeless(made_plan)
  assert.equal(made_plan.hopeless, says(made_plan))
  return made_plan.hopeless
end

-- r of d columns, by the closed form; the epsilon at which it is 1/2.
local function share(n, d, epsilon, c)
  return (c or 2) * math.sqrt(d) / n * pn.calibrate.gaussian { epsilon = epsilon, delta = 1 / n ^ 2 }
end

local function edge(n, d, c)
  local low, high = 1e-4, 50
  for _ = 1, 60 do
    local middle = math.sqrt(low * high)
    if share(n, d, middle, c) > 0.5 then low = middle else high = middle end
  end
  return low
end

describe("a plan that predicts a model no better than a constant", function()
  it("is hopeless where measured models were, and not where they were better, at the numbers of real data sets", function()
    -- n, columns, the largest epsilon measured that is hopeless, the smallest that is not
    for name, of in pairs {
      diabetes = { 354, 11, 0.1, 0.3 }, wine = { 1280, 12, 0.03, 0.3 }, breast_cancer = { 456, 31, 0.03, 0.3 },
      abalone = { 3342, 9, 0.01, 0.1 }, usps = { 5833, 256, 0.03, 0.1 },
    } do
      local d = rows(of[1], of[2])
      for _, case in ipairs { { "auto", "logistic" }, { "auto", "squared" }, { "auto", "moments" }, { "newton", "logistic" } } do
        local obj = kinds[case[2]](d)
        assert.is_true(hopeless(plan(case[1], obj, of[3])), name .. " " .. case[2])
        assert.is_false(hopeless(plan(case[1], obj, of[4])), name .. " " .. case[2])
      end
    end
  end)

  it("is so for every solver of gradients or moments, on both sides of r = 1/2", function()
    local n, p = 400, 16
    local d, at = rows(n, p), edge(n, p)
    for solver, kind in pairs { gradient_descent = "squared", sgd = "logistic", newton = "logistic",
      output_perturbation = "logistic", objective_perturbation = "logistic", sufficient_statistics = "moments",
      accelerated_mirror_descent = "logistic", heavy_ball = "logistic" } do
      local obj = kinds[kind](d)
      assert.is_true(hopeless(plan(solver, obj, at * 0.999)), solver)
      assert.is_false(hopeless(plan(solver, obj, at * 1.001)), solver)
    end
  end)

  it("counts half of the noise under zero_out, and rho as what it is", function()
    local n, p = 400, 16
    local obj, at = kinds.logistic(rows(n, p)), edge(n, p, 1)
    assert.is_true(hopeless(plan("gradient_descent", obj, at * 0.999, { neighbours = "zero_out" })))
    assert.is_false(hopeless(plan("gradient_descent", obj, at * 1.001, { neighbours = "zero_out" })))
    local rho = (2 * math.sqrt(p) / (0.5 * n)) ^ 2 / 2
    assert.is_true(pn.solve.gradient_descent.plan(obj, { rho = rho * 0.999 }).hopeless)
    assert.is_false(pn.solve.gradient_descent.plan(obj, { rho = rho * 1.001 }).hopeless)
    assert.truthy(pn.solve.gradient_descent.plan(obj, { rho = rho / 2 }).warnings[1]:find("2 times the rho", 1, true))
  end)

  it("counts at most 400 columns, and 2 ln k over k vertices", function()
    local n = 900
    local d = rows(n, 500)
    assert.is_true(hopeless(plan("sgd", kinds.logistic(d), edge(n, 400) * 0.999)))
    assert.is_false(hopeless(plan("sgd", kinds.logistic(d), edge(n, 400) * 1.001)))
    local obj = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 500, radius = 10 } }
    local at = edge(n, 2 * math.log(1000))
    assert.is_true(hopeless(plan("sgd", obj, at * 0.999)))
    assert.is_false(hopeless(plan("sgd", obj, at * 1.001)))
  end)

  it("counts slopes that a set without clip= leaves too large, and says which clip would do", function()
    local d = rows(400, 16)
    local wide = pn.objective { data = d, loss = pn.loss.squared(), set = ball(16, 10) } -- slopes to 11, at the start to 1
    local at
    for step = 0, 400 do
      at = 0.05 * 1.01 ^ step
      if share(400, 16, at) * 5.5 < 0.5 then break end
    end
    local made_plan = plan("gradient_descent", wide, at / 1.02)
    assert.is_true(hopeless(made_plan))
    assert.truthy(made_plan.warnings[1]:find("clip=1 or a smaller set", 1, true))
    assert.is_false(hopeless(plan("gradient_descent", wide, at * 1.001)))
    assert.is_false(hopeless(plan("gradient_descent", kinds.squared(d), at / 1.02)))
    assert.is_false(hopeless(plan("sufficient_statistics", wide, at / 1.02)))
  end)

  it("says by how much, first of all warnings, in one that is not cut", function()
    local obj = kinds.logistic(rows(354, 11))
    local made_plan = pn.solve.auto.plan(obj, { epsilon = 0.005, delta = 0.003 })
    local r = 2 * math.sqrt(11) / 354 * pn.calibrate.gaussian { epsilon = 0.005, delta = 0.003 }
    assert.truthy(made_plan.warnings[1]:find(("it is %.3g times"):format(r), 1, true), made_plan.warnings[1])
    assert.truthy(made_plan.warnings[1]:find(("%.2g times the records"):format(2 * r), 1, true), made_plan.warnings[1])
    assert.truthy(made_plan.warnings[1]:find("would help$"))
    assert.truthy(made_plan.warnings[2]:find("delta = 0.003 is above 1/n", 1, true))
  end)

  it("is what a model of pn.model prints before all else", function()
    local m = pn.model.logistic { data = rows(354, 11), epsilon = 0.05 }
    assert.is_true(m.plan.hopeless)
    assert.truthy(tostring(m):find("^model: [^\n]*\n  warning  the noise is predicted to leave the model no better than"))
    assert.is_false(pn.model.logistic { data = rows(3342, 9), epsilon = 1 }.plan.hopeless)
  end)

  it("is told of Frank-Wolfe by its own rule, first too", function()
    local d = rows(354, 11)
    local obj = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 11, radius = 40 } }
    local bad = pn.solve.frank_wolfe.plan(obj, { epsilon = 0.1, delta = 0.01 })
    assert.is_true(bad.hopeless)
    assert.truthy(bad.warnings[1]:find("choices are mostly noise", 1, true))
    assert.is_false(plan("frank_wolfe", obj, 4).hopeless)
  end)

  it("is not looked for where reg.quadratic pulls to a model that is no constant", function()
    local d, H = rows(2000, 16), pn.mat.zeros(16, 16)
    for j = 1, 16 do H:set(j, j, 1) end
    local function towards(center)
      return plan("gradient_descent", pn.objective { data = d, loss = pn.loss.logistic(), set = ball(16, 40),
        reg = pn.reg.quadratic { A = H, center = center, lambda = 0.1 } }, 0.01)
    end
    assert.is_true(hopeless(towards(pn.vec.zeros(16))))
    assert.is_false(hopeless(towards(pn.vec.ones(16))))
  end)

  it("is not looked for without privacy, from another start or of a solver that asks for no gradient", function()
    local obj = kinds.logistic(rows(400, 16))
    local budget = { epsilon = 0.01, delta = 1 / 400 ^ 2 }
    assert.is_false(pn.solve.gradient_descent.plan(obj, { privacy = false }).hopeless)
    assert.is_true(pn.solve.gradient_descent.plan(obj, { epsilon = 0.01, delta = 1e-6, start = pn.vec.zeros(16) }).hopeless)
    assert.is_false(plan("gradient_descent", obj, 0.01, { start = pn.vec.zeros(16) + 0.1 }).hopeless)
    local none = pn.solver { name = "none", step = function(s, ask) ask:value(s.x) end }
    assert.is_false(none.plan(obj, { epsilon = 0.01, delta = 1e-6, iterations = 1 }).hopeless)
    local one = pn.solver { name = "one", step = function(s, ask) s.x = s.x - ask:gradient(s.x) end }
    assert.is_true(one.plan(obj, { epsilon = budget.epsilon, delta = budget.delta, iterations = 1 }).hopeless)
  end)
end)

describe("a price that protects little", function()
  it("is remarked upon once, wherever it is said", function()
    local obj = kinds.logistic(rows(400, 16))
    local text = "epsilon = 60 protects next to nothing"
    local function count(of) return select(2, tostring(of):gsub("protects", "")) end
    local made_plan = plan("gradient_descent", obj, 60)
    assert.equal(1, count(made_plan))
    assert.truthy(made_plan.warnings[1]:find(text, 1, true))
    assert.truthy(plan("gradient_descent", obj, 20).warnings[1]:find("epsilon = 20 protects little", 1, true))
    assert.equal(0, count(plan("gradient_descent", obj, 5)))
    local search = { solver = "gradient_descent", objective = obj, grid = { iterations = { 2, 3 } }, score = "accuracy",
      epsilon = 60, delta = 1e-6 }
    assert.equal(1, count(pn.tune.plan(search)))
    assert.equal(1, count(pn.tune(search)))
    local d = pn.query.describe { data = rows(400, 16), columns = { 1 }, low = -1, high = 1, epsilon = 60,
      ledger = pn.ledger { epsilon = 60, delta = 1e-6 } }
    assert.equal(1, count(d))
    assert.truthy(tostring(d):find(text, 1, true))
    local m = pn.model.logistic { data = rows(400, 16), epsilon = 1 }
    assert.equal(1, count(m:evaluate { epsilon = 20 }))
    assert.equal(0, count(m:evaluate { epsilon = 6 }))
  end)
end)
