-- large_epsilon_refused_spec.lua -- at epsilon of 50 and more the price of a release left a little more room for the tails of
-- drawn noise than the filter of a ledger does, so a run was refused by the ledger of just its own price ("Difference 0").
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

describe("a ledger of just a plan's price", function()
  law("admits the plan at very large epsilon", function()
    for p = 1, 4, tier.times(3, 1) do
      local data = (pn.data.synthetic.logistic {n = 300, p = p, sparsity = 1, seed = p}):clip_rows("l2", 1)
      local obj = pn.objective {data = data, loss = pn.loss.logistic()}
      for _, epsilon in ipairs {30, 48, 50, 55, 80, 300} do
        local plan = pn.solve.objective_perturbation.plan(obj, {epsilon = epsilon, delta = 1e-6})
        assert.is_true(plan.epsilon <= epsilon)
        assert.is_true(plan:run().privacy.private)
        local ledger = pn.ledger {epsilon = plan.epsilon, delta = 1e-6}
        assert.is_true(plan:run {ledger = ledger}.privacy.private)
      end
    end
  end)

  it("admits Gaussian releases at very large epsilon", function()
    local data = (pn.data.synthetic.logistic {n = 300, p = 3, sparsity = 1, seed = 1}):clip_rows("l2", 1)
    local obj = pn.objective {data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball {dim = 3}}
    for _, epsilon in ipairs {30, 48, 50, 55, 70, 200, 1e5} do
      for _, delta in ipairs {1e-12, 1e-6, 0.1} do
        for _, steps in ipairs {1, 3} do
          local plan = pn.solve.mirror_descent.plan(obj, {epsilon = epsilon, delta = delta, iterations = steps})
          assert.is_true(plan.epsilon <= epsilon)
          assert.is_true(plan:run().privacy.private)
        end
      end
    end
  end)
end)
