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
    assert.near(3 * one_step(plan), walks[1]:fit().privacy.charged_rho, 1e-12)
    assert.near(4 * one_step(plan), walks[2]:fit().privacy.charged_rho, 1e-12)
    assert.same({ plan.rho, plan.rho }, { walks[1]:fit().privacy.rho, walks[2]:fit().privacy.rho })
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

describe("the charge of a selection", function()
  -- Bounded range gives epsilon^2/8 zCDP to the exponential mechanism alone; the other two laws are only epsilon-DP.
  it("is epsilon^2/8 for the exponential mechanism and epsilon^2/2 for the other laws", function()
    local ledger = pn.ledger { rho = 1 }
    local mechanisms = {
      { pn.mechanism.exponential { epsilon = 0.5, sensitivity = 1 }, 0.25 / 8 },
      { pn.mechanism.permute_and_flip { epsilon = 0.5, sensitivity = 1 }, 0.25 / 2 },
      { pn.mechanism.report_noisy_max { scale = 4, sensitivity = 1 }, 0.25 / 2 },
    }
    for _, case in ipairs(mechanisms) do assert.near(case[2], ledger:price(case[1].event), 1e-12) end
  end)

  it("adds up to the rho of the plan under every law", function()
    for law, share in pairs { exponential = 8, permute_and_flip = 2, laplace = 2 } do
      local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.1, iterations = 10, selection = law })
      assert.near(math.sqrt(share * 0.1 / 10), plan.lines["epsilon per step"], 1e-12)
      assert.near(0.1, plan.rho, 1e-6) -- epsilon is rounded down to 20 bits
      assert.near(0.1, pn.ledger({ rho = 1 }):price(plan.event), 1e-6)
    end
  end)

  it("is refused with seeded noise before a walk on a real ledger begins", function()
    local ledger = pn.ledger { rho = 1 }
    assert.error_matches(function()
      plan_of(0.1, 5):steps { ledger = ledger, rng = pn.rng.seeded(1) }
    end, "seeded noise gives no privacy")
    assert.equal(0, ledger.spent)
  end)
end)

describe("the filter that a ledger chooses by itself", function()
  -- Eight orders from (a - 1)/8 to 8 (a - 1), a - 1 = 2 ln(1/delta)/epsilon, share delta; a Gaussian release with z = 50 has
  -- Renyi divergence alpha/(2 z^2).  The order that survives longest decides (accounting.md section 7).
  it("gives each of its eight orders an eighth of delta", function()
    local epsilon, delta, z, expected = 1, 1e-5, 50, 0
    for j = 0, 7 do
      local alpha = 1 + 2 * math.log(1 / delta) / epsilon / 8 * 64 ^ (j / 7)
      local penalty = math.log(1 - 1 / alpha) - (math.log(delta / 8) + math.log(alpha)) / (alpha - 1)
      expected = math.max(expected, math.floor((epsilon - penalty) * 2 * z * z / alpha))
    end
    local ledger, event = pn.ledger { epsilon = epsilon, delta = delta }, pn.event.gaussian { sigma = z, sensitivity = 1 }
    local admitted = 0
    while admitted < 1000 and pcall(ledger.spend, ledger, event) do admitted = admitted + 1 end
    assert.equal(expected, admitted)
  end)
end)
