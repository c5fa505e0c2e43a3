-- options_without_effect_spec.lua -- an option that a plan cannot follow is refused.
-- Without privacy frank_wolfe took selection= and preset=, and other solvers what shapes their noise, and none had an
-- effect; width=, kappa=, reach= and anchor_share= were passed over where the plan has no use for them.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local rows = pn.data.synthetic.logistic { n = 400, p = 3, seed = 1 }:clip_rows("l2", 1)
local line = pn.data.synthetic.lasso { n = 400, p = 3, seed = 1 }
local ball = pn.set.l1_ball { dim = 3 }
local constrained = pn.objective { data = rows, loss = pn.loss.logistic(), set = ball }
local free = pn.objective { data = rows, loss = pn.loss.logistic() }
local ridge = pn.objective { data = rows, loss = pn.loss.logistic(), reg = pn.reg.l2(0.1) }
local squares = pn.objective { data = line, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 3 } }

local function with(options, name, value)
  local out = {}
  for key, of in pairs(options) do out[key] = of end
  out[name] = value
  return out
end

-- Solver, objective, options with which it plans, and options of private runs with a value that these take.
local plain = {
  { "frank_wolfe", constrained, {}, { selection = "laplace", preset = "theory", gradient = "exact", kappa = 0.1 } },
  { "frank_wolfe_convex", constrained, {}, { preset = "practical", width = "bound" } },
  { "gradient_descent", free, {}, { c = 2 } },
  { "sgd", free, {}, { accountant = "pld" } },
  { "svrg", ridge, {}, { form = "printed", anchor_share = 0.5, reach = 0.5, accountant = "rdp" } },
  { "svrg_pp", free, {}, { form = "anchored", anchor_share = 0.5, reach = 0.5, accountant = "rdp" } },
  { "objective_perturbation", ridge, {},
    { split = 0.5, approximate = false, unproven = true, accountant = "rdp", width = "bound" } },
  { "sufficient_statistics", squares, {}, { tau = 0.5, kappa = 0.5, damping = 2 } },
  { "newton", free, {}, { hessians = 2, hessian_share = 0.3, start_share = 0.3, damping = 2, gradients = "full",
    hessian_noise = "packed" } },
  { "second_order", free, {}, { phases = 2, first_share = 0.5, first_iterations = 2, use_filter = true, value_share = 0.1,
    hessian_noise = "packed", hessian_bound = "generic" } },
  { "trust_region", free, { tolerance = { gradient = 0.1 } },
    { hessian_noise = "packed", hessian_bound = "generic", hess_noise_factor = 2 } },
}

describe("an option without effect", function()
  it("is refused without privacy where it shapes noise alone", function()
    for _, case in ipairs(plain) do
      local plan, objective = pn.solve[case[1]].plan, case[2]
      local bare = with(case[3], "privacy", false)
      assert(plan(objective, bare))
      for name, value in pairs(case[4]) do
        refused(name .. " is an option of private runs; without privacy, leave it out", plan, objective, with(bare, name, value))
      end
    end
  end)

  it("is refused without privacy where it is the noise of an article", function()
    for _, case in ipairs(plain) do
      refused("calibration=\"paper\" is noise for epsilon and delta", pn.solve[case[1]].plan, case[2],
        with(with(case[3], "privacy", false), "calibration", "paper"))
    end
    refused("calibration=\"paper\" is noise", pn.solve.auto.plan, free, { privacy = false, calibration = "paper" })
  end)

  it("is refused where the plan has no use for it", function()
    local budget = { epsilon = 1, delta = 1e-6 }
    refused("width= belongs to preset=\"theory\"", pn.solve.mirror_descent.plan, constrained, with(budget, "width", "bound"))
    assert(pn.solve.mirror_descent.plan(constrained, with(with(budget, "width", "bound"), "preset", "theory")))
    refused("kappa= weighs the feature of add_bias()", pn.solve.sufficient_statistics.plan, squares, with(budget, "kappa", 0.5))
    local biased = pn.objective { data = line:add_bias(), loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 4 } }
    assert(pn.solve.sufficient_statistics.plan(biased, with(budget, "kappa", 0.5)))
    for _, name in ipairs { "reach", "anchor_share" } do
      local anchored = with(budget, name, 0.5)
      assert(pn.solve.svrg.plan(ridge, anchored))
      refused(name .. "= belongs to form=\"anchored\"", pn.solve.svrg.plan, ridge, with(anchored, "form", "printed"))
    end
  end)
end)
