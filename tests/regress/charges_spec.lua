-- charges_spec.lua -- what several users of one ledger may do, and what a record can do to a gradient.
local pn = require "penumbra"

local data = pn.data.synthetic.lasso { n = 200, p = 5, seed = 1 }
local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 5, radius = 1 } }

local function plan_of(rho, iterations)
  return pn.solve.frank_wolfe.plan(objective, { rho = rho, iterations = iterations })
end

-- epsilon per step as charged: 20 significant bits of sqrt(8 rho / T), so a little less than rho / T.
local function one_step(plan)
  return plan.rho / plan.iterations
end

describe("a ledger shared by two walks", function()
  it("is charged for each step of both and refuses the first that it does not cover", function()
    local plan = plan_of(0.1, 5)
    local ledger = pn.ledger { rho = 0.15 } -- covers seven steps of 0.02
    local walks = { plan:steps { ledger = ledger }, plan:steps { ledger = ledger } }
    for k = 1, 7 do
      assert.is_truthy(walks[k % 2 + 1]:step())
      assert.near(k * one_step(plan), ledger.spent, 1e-12)
    end
    assert.error_matches(function() walks[1]:step() end, "Requested rho 0.02")
    assert.near(7 * one_step(plan), ledger.spent, 1e-12)
    assert.near(3 * one_step(plan), walks[1]:fit().privacy.rho, 1e-12)
    assert.near(4 * one_step(plan), walks[2]:fit().privacy.rho, 1e-12)
  end)

  it("stays charged for what was released before an error, and stays usable", function()
    local plan, ledger = plan_of(0.1, 5), pn.ledger { rho = 1 }
    local ok, problem = pcall(plan.run, plan, { ledger = ledger, on_step = function(state)
      if state.step == 3 then error("enough", 0) end
    end })
    assert.is_false(ok)
    assert.equal("enough", problem)
    assert.near(3 * one_step(plan), ledger.spent, 1e-12)
    local nested
    local fit = plan:run { ledger = ledger, on_step = function(state)
      if state.step == 2 then nested = plan:run { ledger = ledger } end
    end }
    assert.same({ 5, 5 }, { fit.steps, nested.steps })
    assert.near(13 * one_step(plan), ledger.spent, 1e-12)
  end)
end)

describe("the gradient of a certified objective", function()
  -- One record x = 1, y = 0, |y| <= 1, |theta| <= 1: slopes theta - y lie in [-2, 2], also where theta is out of the set.
  it("is made of slopes within their certified range", function()
    local one = pn.data.from({ { 1 } }, { 0 }):clip_rows("linf", 1):clip_labels(-1, 1)
    local certified = pn.objective { data = one, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 1 } }
    assert.near(0.5, certified:gradient({ 0.5 })[1], 1e-15)
    assert.near(2, certified:gradient({ 10 })[1], 1e-12)
    assert.near(-2, certified:gradient({ -10 })[1], 1e-12)
  end)
end)
