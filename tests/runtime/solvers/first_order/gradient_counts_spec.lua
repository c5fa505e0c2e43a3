-- gradient_counts_spec.lua -- plans state the per-record gradients that runs count, in one unit for all solvers: n a full pass.
local pn = require "penumbra"

local n, p, T = 150, 4, 7

local function objective(set)
  return pn.objective { data = pn.data.synthetic.logistic { n = n, p = p, seed = 1 }:clip_rows("l2", 1),
    loss = pn.loss.logistic(), set = set }
end

-- Full batches: one gradient of all records a step.
local full = { "frank_wolfe", "frank_wolfe_convex", "mirror_descent", "output_perturbation", "gradient_descent" }

describe("the gradients of a full-batch solver", function()
  for _, name in ipairs(full) do
    local known, solver = pcall(function() return pn.solve[name] end)
    if known and solver then
      it("are T n in the plan and in the fit: " .. name, function()
        local f = objective(pn.set.l1_ball { dim = p, radius = 1 })
        for _, options in ipairs { { epsilon = 1, delta = 1e-6 }, { rho = 0.5 }, { privacy = false } } do
          options.iterations = T
          local plan = solver.plan(f, options)
          local fit = plan:run()
          assert.equal(T * n, plan.gradients)
          assert.equal(T * n, fit.gradients)
          assert.equal(T * n, fit.trace[#fit.trace].gradients)
        end
      end)
    end
  end

  -- Both see all records in one pass, on a set of no bounds; an early end counts what was seen.
  it("are T n for a gradient and a Hessian in one pass: trust_region, newton", function()
    for _, name in ipairs { "trust_region", "newton" } do
      for _, options in ipairs { { epsilon = 1, delta = 1e-6 }, { rho = 0.5 } } do
        options.iterations = T
        options.tolerance = name == "trust_region" and { gradient = 1e-6 } or nil
        local plan = pn.solve[name].plan(objective(), options)
        local fit = plan:run()
        assert.equal(T * n, plan.gradients)
        assert.equal(T * n, fit.gradients)
        assert.equal(T * n, fit.trace[#fit.trace].gradients)
      end
    end
  end)

  it("are those of the releases that ran, where the records decide which: second_order", function()
    local data = pn.data.synthetic.logistic { n = n, p = p, seed = 1 }:clip_rows("l2", 1)
    local f = pn.objective { data = data, loss = pn.loss.logistic(), reg = pn.reg.nonconvex(0.01) }
    for _, batch in ipairs { n, 20 } do
      local plan = pn.solve.second_order.plan(f, { epsilon = 1, delta = 1e-6, iterations = T, batch = batch,
        tolerance = { gradient = 0.1 } })
      local fit = plan:run()
      local expected = 0
      for _, row in ipairs(fit.trace) do expected = expected + batch * (row.kind == "gradient" and 1 or 2) end
      assert.equal(expected, fit.gradients)
    end
  end)

  it("are not told of a minimum inside a private run, whose length depends on the records", function()
    local plan = pn.solve.objective_perturbation.plan(objective(), { epsilon = 1, delta = 1e-6 })
    assert.is_nil(plan.gradients)
    assert.equal(0, plan:run().gradients)
    assert.is_true(plan:run { rng = pn.rng.seeded(1) }.gradients > 0)
  end)
end)

describe("plan.sigma", function()
  it("is the noise on the mean gradient of those that add one noise to it", function()
    local f = objective(pn.set.l2_ball { dim = p, radius = 1 })
    for _, name in ipairs { "frank_wolfe_convex", "mirror_descent" } do
      local plan = pn.solve[name].plan(f, { rho = 0.5, iterations = T })
      assert.equal(plan.lines["noise sigma"], plan.sigma)
      -- 2 L/n sqrt(T/(2 rho)), and what rounding adds
      assert.is_near(2 * plan.lines["Lipschitz L"] / n * math.sqrt(T), plan.sigma, 1e-9)
    end
    assert.is_nil(pn.solve.frank_wolfe.plan(objective(pn.set.l1_ball { dim = p, radius = 1 }), { rho = 0.5 }).sigma)
    assert.is_nil(pn.solve.mirror_descent.plan(f, { privacy = false }).sigma)
  end)
end)
