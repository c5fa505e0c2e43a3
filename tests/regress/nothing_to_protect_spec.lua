-- nothing_to_protect_spec.lua -- a loss whose certified slope is 0, or a set of one point: planning doubled a NaN for ever, out of
-- reach of Ctrl-C and of a curator's limits, or failed on numbers of its own ("contribution must be between 2^-900 ...").
local pn = require "penumbra"

local data = (pn.data.synthetic.logistic {n = 200, p = 3, sparsity = 1, seed = 1}):clip_rows("l2", 1)
local other = (pn.data.synthetic.logistic {n = 200, p = 3, sparsity = 1, seed = 2}):clip_rows("l2", 1)
local flat = {
  ["0 z"] = function(z) return 0 * z end,
  ["a constant"] = function() return 3 end,
  ["the 0-1 loss"] = function(z) return pn.where(pn.lt(z, 0), 1, 0) end,
  ["max(z, 5)"] = function(z) return pn.max(z, 5) end,
}
local point = pn.vec {.1, .2, .3}
local points = {
  box = pn.set.box {lower = point, upper = point},
  polytope = pn.set.polytope {vertices = pn.mat {{.1, .2, .3}}},
  ["flat"] = pn.set.affine {A = pn.mat {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, b = point},
}
-- Those that take a set of their own, and those that take none.
local over = {
  gradient_descent = "l2_ball", sgd = "l2_ball", svrg = "l2_ball", svrg_pp = "l2_ball", mirror_descent = "l2_ball",
  accelerated_mirror_descent = "l2_ball", frank_wolfe = "l1_ball", frank_wolfe_convex = "l2_ball",
  objective_perturbation = "l2_ball", output_perturbation = "l2_ball", newton = "l2_ball", second_order = "l2_ball",
}
local free = {"trust_region", "zeroth_order", "zeroth_order_naive"}
local one_step = {objective_perturbation = true}

local function options(solver, rho)
  return {
    epsilon = not rho and 1 or nil, delta = not rho and 1e-6 or nil, rho = rho,
    iterations = not one_step[solver] and not solver:find "zeroth" and 3 or nil,
  }
end

local function same(a, b)
  for j = 1, 3 do
    if a[j] ~= b[j] then return false end
  end
  return true
end

local function costs_nothing(solver, parts, more)
  local plan = pn.solve[solver].plan(pn.objective(parts), more)
  local text = tostring(plan)
  assert.equal(more.rho and 0 or nil, more.rho and plan.rho or nil)
  assert.equal(not more.rho and 0 or nil, plan.epsilon)
  assert.is_nil(plan.event)
  assert.truthy(text:find("sensitivity       0", 1, true), text)
  assert.truthy(text:find("nothing is released about the records", 1, true), text)
  local fit = plan:run()
  assert.is_true(fit.privacy.private)
  assert.equal(0, fit.privacy.rho)
  parts.data = other
  assert.is_true(same(fit.theta, pn.solve[solver].plan(pn.objective(parts), more):run().theta))
  parts.data = data
  return fit
end

describe("a loss whose certified slope is 0", function()
  for solver, set in pairs(over) do
    it("is planned and run at no price by " .. solver, function()
      for name, formula in pairs(flat) do
        local loss = pn.loss.glm(formula, {name = (name:gsub("[^%w]", " "))})
        local parts = {data = data, loss = loss, set = pn.set[set] {dim = 3}}
        costs_nothing(solver, parts, options(solver))
        costs_nothing(solver, parts, options(solver, 0.5))
        parts.reg = pn.reg.l2(0.1)
        costs_nothing(solver, parts, options(solver))
      end
    end)
  end

  for _, solver in ipairs(free) do
    it("is planned and run at no price by " .. solver, function()
      costs_nothing(solver, {data = data, loss = pn.loss.glm(flat["0 z"]), reg = pn.reg.l2(0.1)}, options(solver))
    end)
  end

  it("is not taken for constant by solvers that look at values, where it jumps", function()
    local obj = pn.objective {data = data, loss = pn.loss.glm(flat["the 0-1 loss"])}
    assert.error_matches(function() pn.solve.zeroth_order.plan(obj, {epsilon = 1, delta = 1e-6}) end, "lipschitz=")
  end)

  it("charges a ledger nothing, and leaves the regulariser's minimum", function()
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6}
    local fit = pn.solve.gradient_descent(
      pn.objective {data = data, loss = pn.loss.glm(flat["0 z"]), reg = pn.reg.l2(1)},
      {ledger = ledger, iterations = 300, start = pn.vec {1, 1, 1}})
    assert.equal(0, ledger.spent)
    assert.is_true(fit.theta:dot(fit.theta) < 1e-12)
  end)

  it("does not stop a curator", function()
    local curator = pn.curator {
      data = {d = data}, ledger = pn.ledger {epsilon = 1, delta = 1e-6}, instructions = 1000000, seconds = 20,
    }
    local result = curator:run([[
      local obj = pn.objective{data=data.d, loss=pn.loss.glm(function(z, y) return pn.max(z, 5) end),
        set=pn.set.l2_ball{dim=3}}
      local plan = pn.solve.mirror_descent.plan(obj, {epsilon=1, delta=1e-6, iterations=3})
      return budget:price(plan), budget:covers(plan), plan:run().privacy.epsilon
    ]], "a")
    assert.is_true(result.ok, result.error)
    assert.equal("0.0\ttrue\t0.0", result.answer)
  end)
end)

describe("a set of one point", function()
  for kind, set in pairs(points) do
    it("costs nothing: " .. kind, function()
      for solver in pairs(over) do
        do
          local parts = {data = data, loss = pn.loss.logistic(), set = set}
          assert.is_true(same(costs_nothing(solver, parts, options(solver)).theta, point), solver)
        end
      end
    end)
  end

  it("costs nothing with several classes", function()
    local labels, half = {}, pn.vec {.5, .5, .5, .5, .5, .5, .5, .5, .5}
    for i = 1, 200 do labels[i] = i % 3 + 1 end
    local classes, box = data:with_labels(pn.vec(labels)), pn.set.box {lower = half, upper = half}
    local obj = pn.objective {data = classes, loss = pn.loss.softmax {classes = 3}, set = box}
    assert.equal(0, pn.solve.sgd.plan(obj, {epsilon = 1, delta = 1e-6, iterations = 2}).epsilon)
  end)

  it("is not what a very small ball is", function()
    for solver, set in pairs(over) do
      local obj = pn.objective {data = data, loss = pn.loss.logistic(), set = pn.set[set] {dim = 3, radius = 1e-300}}
      local fine, result = pcall(function()
        return pn.solve[solver].plan(obj, options(solver)):run().privacy.epsilon
      end)
      local said = fine and result > 0 or not fine and tostring(result):find("solve%." .. solver .. "%.plan: ")
      assert.is_true(said and true or false, solver .. ": " .. tostring(result))
    end
  end)
end)

describe("a loss whose slope is too small or too large for noise", function()
  for solver, set in pairs(over) do
    it("is refused in the solver's words by " .. solver, function()
      for _, factor in ipairs {1e-300, 1e-200, 1e280} do
        local loss = pn.loss.glm(function(z) return factor * z end)
        local obj = pn.objective {data = data, loss = loss, set = pn.set[set] {dim = 3}}
        assert.error_matches(function() pn.solve[solver].plan(obj, options(solver)) end,
          "^solve%." .. solver .. "%.plan: a record's gradient is at most .*scale the loss")
      end
    end)
  end
end)
