-- failing_step_spec.lua -- runs that a user's function breaks in the middle: what was drawn was paid for, is never drawn
-- again, and the statement covers it.
local pn = require "penumbra"

local p, n = 3, 60

-- A ball of functions; trouble.at counts down the calls until one of them raises, trouble.calls counts all.
local function troubled_ball(trouble)
  local function fail()
    trouble.calls = (trouble.calls or 0) + 1
    if trouble.at and trouble.calls == trouble.at then error("troubled", 0) end
  end
  return pn.set.custom {
    dim = p, radius = 1,
    project = function(v) fail() return v:norm() <= 1 and v or v / v:norm() end,
    support = function(g) fail() return g / g:norm() end,
  }
end

local function objective(C)
  local data = pn.data.synthetic.logistic {n = n, p = p, seed = 2}:clip_rows("l2", 1)
  return pn.objective {data = data, loss = pn.loss.logistic(), set = C}
end

local steps = 6

-- Walk to the end, trying a step that fails again; returns the fit, the ledger and how often it failed.
local function run(name, at, budget)
  local trouble = {}
  local plan = pn.solve[name].plan(objective(troubled_ball(trouble)), budget)
  local ledger = pn.ledger {rho = 1, teaching = true}
  trouble.calls, trouble.at = 0, at
  local walk, failures, done = plan:steps {ledger = ledger, rng = pn.rng.seeded(7)}, 0, 0
  while done < steps do
    local ok, state = pcall(walk)
    if ok then
      done = state.step
    else
      assert.matches("troubled", tostring(state), 1, true)
      failures = failures + 1
      assert.is_near(plan.rho / steps * (done + 1), 1 - ledger.remaining, 1e-12) -- paid for although it failed
    end
  end
  return walk:fit(), ledger, failures, plan
end

describe("a step that fails after its noise was drawn", function()
  for _, case in ipairs {
    {"mirror_descent"}, {"frank_wolfe_convex"}, {"accelerated_mirror_descent"}, {"gradient_descent"}, {"sgd"},
    {"mirror_descent", 20}, {"frank_wolfe_convex", 20}, {"accelerated_mirror_descent", 20}, {"gradient_descent", 20}, {"sgd", 20},
  } do
    local name, batch = case[1], case[2]
    it("goes on with the same noise and without a second charge: " .. name .. (batch and ", of batches" or ""), function()
      local budget = {rho = 0.5, iterations = steps, batch = batch}
      local smooth, whole = run(name, nil, budget)
      local failed = 0
      for at = 1, steps, 4 do
        local fit, ledger, failures, plan = run(name, at, budget)
        failed = failed + failures
        assert.is_true(fit.theta == smooth.theta)
        assert.is_near(whole.remaining, ledger.remaining, 1e-12)
        assert.is_near(plan.rho, 1 - ledger.remaining, 1e-12)
      end
      assert.is_true(failed >= 1)
    end)
  end

  it("is in the statement of a run that is given up there", function()
    local trouble = {}
    local plan = pn.solve.mirror_descent.plan(objective(troubled_ball(trouble)), {rho = 0.5, iterations = steps})
    local ledger = pn.ledger {rho = 1}
    local walk = plan:steps {ledger = ledger}
    walk()
    trouble.calls, trouble.at = 0, 1
    assert.is_false((pcall(walk)))
    assert.is_near(plan.rho / steps * 2, 1 - ledger.remaining, 1e-12)
    assert.is_near(plan.rho / steps * 2, walk:fit().privacy.charged_rho, 1e-12)
    assert.equal(plan.rho, walk:fit().privacy.rho)
  end)

  it("ends a whole run with the caller's error and what was drawn charged", function()
    local trouble = {}
    local ledger = pn.ledger {rho = 1}
    local plan = pn.solve.mirror_descent.plan(objective(troubled_ball(trouble)), {rho = 0.5, iterations = steps})
    trouble.calls, trouble.at = 0, 3
    local ok, message = pcall(plan.run, plan, {ledger = ledger})
    assert.is_false(ok)
    assert.equal("troubled", message)
    assert.is_true(1 - ledger.remaining >= plan.rho / steps * (1 - 1e-12))
    assert.is_true(1 - ledger.remaining <= plan.rho / steps * 3 * (1 + 1e-12))
  end)

  -- What it charges depends on its branch, so that the price of a step is looked up in the run that nothing breaks.
  it("goes on with the same noise and without a second charge: second_order", function()
    local options = {rho = 0.5, iterations = steps, tolerance = {gradient = 1e-4}}
    local function walk_all(at)
      local trouble, failures = {}, 0
      local plan = pn.solve.second_order.plan(objective(troubled_ball(trouble)), options)
      local ledger = pn.ledger {rho = 1, teaching = true}
      trouble.calls, trouble.at = 0, at
      local walk, done = plan:steps {ledger = ledger, rng = pn.rng.seeded(7)}, 0
      while done < steps do
        local ok, state = pcall(walk)
        if ok then done = state.step else
          assert.matches("troubled", tostring(state), 1, true)
          failures = failures + 1
        end
      end
      return walk:fit().theta, ledger.remaining, failures, trouble.calls
    end
    local smooth, left, none, calls = walk_all()
    assert.equal(0, none)
    for at = 1, calls do
      local theta, remaining, failures = walk_all(at)
      assert.equal(1, failures)
      assert.is_true(theta == smooth)
      assert.equal(left, remaining)
    end
  end)
end)
