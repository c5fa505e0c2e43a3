-- planning_could_not_be_stopped_spec.lua -- a plan drew its widths on one thread, out of reach of Ctrl-C and without progress, each
-- in up to a hundred thousand draws.
local pn = require "penumbra"

describe("planning", function()
  local p = 300
  local data = pn.data.synthetic.logistic {n = 50, p = p, seed = 1}:clip_rows("l2", 1)
  local set = pn.set.lp_ball {dim = p, q = 1.5} -- without a formula for its width
  local objective = pn.objective {data = data, loss = pn.loss.logistic(), set = set}

  for _, solver in ipairs {"mirror_descent", "frank_wolfe_convex", "objective_perturbation"} do
    local potential = solver == "mirror_descent" and pn.potential.custom {
      value = function(x) return x:dot(x) / 2 end, gradient = function(x) return x end, strong_convexity = 1,
      norm = pn.norm.lp(1.5),
    } or nil

    local function plan(progress)
      return pn.solve[solver].plan(objective,
        {epsilon = 1, delta = 1e-6, potential = potential, step = potential and 0.1,
          preset = potential and "theory", width = "monte_carlo", progress = progress})
    end

    it("shows its progress and can be stopped in " .. solver, function()
      local mark, seen = {}, nil
      local ok, stopped = pcall(plan, function(_, _, label)
        seen = label
        error(mark)
      end)
      assert.is_false(ok)
      assert.equal(mark, stopped)
      assert.equal("width", seen)
    end)

    it("takes no more draws than the bound of " .. solver .. " can see", function()
      local most = 0
      plan(function(_, total) most = math.max(most, total) end)
      -- G = E ||b||_3, about (300 sqrt(8/pi))^(1/3) = 7.8, at radius 1: 1% of sqrt(G^2 + 1) takes 2 ln(200)/0.0788^2 = 1,700
      -- draws, 1% of the radius 105,967.
      assert.is_true(most > 0 and most < 2000, most)
    end)
  end

  it("draws no width unless it is asked to", function()
    -- 12,000 draws of this set took seconds; it lies in the l1 ball.
    local capped = pn.set.l1_ball {dim = p}:intersect(pn.set.linf_ball {dim = p, radius = 0.05})
    local own = pn.objective {data = data, loss = pn.loss.logistic(), set = capped}
    local drawn = false
    local function plan(budget)
      budget.rho, budget.progress = 0.1, function() drawn = true end
      return pn.solve.frank_wolfe_convex.plan(own, budget)
    end
    for _, budget in ipairs {{iterations = 3}, {}, {width = "bound"}} do
      local made = plan(budget)
      assert.is_false(drawn)
      assert.is_near(pn.width(pn.set.l1_ball {dim = p}).value, made.lines["width G of C"], 1e-9)
      assert.is_number(made.bound)
    end
    local by_draws = plan {width = "monte_carlo", iterations = 3}
    assert.is_true(drawn)
    assert.is_true(by_draws.lines["width G of C"] < 0.9 * pn.width(pn.set.l1_ball {dim = p}).value)
  end)
end)
