-- no_number_spec.lua -- a loss that jumps was said to have a slope of 0 and no more; a delta that no noise pays for took seconds to
-- be refused; newton took points of iterative projections to be in the set.
local pn = require "penumbra"

local data = (pn.data.synthetic.logistic {n = 300, p = 4, sparsity = 1, seed = 1}):clip_rows("l2", 1)

describe("a loss that jumps", function()
  it("says so beside the bound of its slope", function()
    local step = pn.loss.glm(function(z) return pn.where(pn.lt(z, 0), 1, 0) end)
    local ball = pn.set.l2_ball {dim = 4}
    local text = tostring(pn.objective {data = data, loss = step, set = ball})
    assert.truthy(text:find("|slope| <= 0 but for jumps of the loss", 1, true), text)
    assert.is_nil(tostring(pn.objective {data = data, loss = pn.loss.hinge(), set = ball}):find("jumps", 1, true))
  end)

  it("is not taken for Lipschitz where a bound rests on that", function()
    local loss = pn.loss.glm(function(z) return pn.where(pn.lt(z, 0), 1, 0) + 0.01 * pn.tanh(z) end)
    local obj = pn.objective {data = data, loss = loss, set = pn.set.l2_ball {dim = 4}}
    for _, solver in ipairs {"objective_perturbation", "output_perturbation"} do
      assert.error_matches(function() pn.solve[solver].plan(obj, {epsilon = 1, delta = 1e-6}) end, "it jumps at z = 0")
    end
    local plan = pn.solve.mirror_descent.plan(obj, {epsilon = 1, delta = 1e-6, iterations = 2})
    assert.is_nil(plan.bound)
    assert.is_nil(tostring(plan):find("L x diameter", 1, true))
  end)
end)

describe("a delta that no noise pays for", function()
  it("is refused in words", function()
    for _, solver in ipairs {"mirror_descent", "gradient_descent", "frank_wolfe_convex", "output_perturbation"} do
      local obj = pn.objective {data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball {dim = 4}}
      assert.error_matches(function() pn.solve[solver].plan(obj, {epsilon = 1, delta = 1e-100}) end, "delta this small")
    end
  end)
end)

describe("newton", function()
  it("keeps points within the radii of the set, whatever its projection does", function()
    local set = pn.set.custom {
      dim = 4, radius = 0.05,
      contains = function(x) return x:norm() <= 0.05 end,
      project = function(x) return x:norm() <= 0.05 and x or x * (0.05 * (1 + 9e-10) / x:norm()) end,
      support = function(g) return g * (0.05 / g:norm()) end,
    }
    local obj = pn.objective {data = data, loss = pn.loss.logistic(), set = set}
    local fit = pn.solve.newton(obj, {epsilon = 5, delta = 1e-6, iterations = 3, rng = pn.rng.seeded(1)})
    assert.is_true(fit.theta:norm() > 0.0499)
    assert.is_true(fit.theta:norm() <= 0.05 * (1 + 5e-10), fit.theta:norm() / 0.05 - 1)
  end)
end)
