-- auto_spec.lua -- solve.auto: which solver is picked, from what, and that nothing else happens.
local pn = require "penumbra"
local law = require("tests.tools.tier").law(it)

local BUDGET = { epsilon = 1, delta = 1e-8 }

local function logistic(seed, n, p)
  return pn.data.synthetic.logistic { n = n or 5000, p = p or 10, seed = seed or 1 }:clip_rows("l2", 1)
end

local function objective(loss, rest)
  local parts = { data = logistic(1, 100000), loss = loss }
  for key, value in pairs(rest or {}) do parts[key] = value end
  return pn.objective(parts)
end

describe("solve.auto", function()
  law("picks by the loss, the set and the kind of budget", function()
    local ball, polytope = pn.set.l2_ball { dim = 10 }, pn.set.l1_ball { dim = 10 }
    local rows = {
      { objective(pn.loss.logistic()), BUDGET, "newton" },
      { objective(pn.loss.squared(), { clip = 1 }), BUDGET, "newton" },
      { objective(pn.loss.squared()), BUDGET, "sufficient_statistics" },
      { objective(pn.loss.squared(), { set = ball }), BUDGET, "sufficient_statistics" },
      { objective(pn.loss.logistic()), { rho = 0.1 }, "newton" },
      { objective(pn.loss.logistic(), { set = polytope }), { epsilon = 1 }, "frank_wolfe" },
      { objective(pn.loss.logistic(), { set = ball }), { epsilon = 1 }, "output_perturbation" },
    }
    for k, row in ipairs(rows) do
      assert.equal(row[3], pn.solve.auto.plan(row[1], row[2]).solver, "row " .. k)
    end
    local few = pn.objective { data = logistic(1, 500), loss = pn.loss.logistic() }
    assert.equal("gradient_descent", pn.solve.auto.plan(few, BUDGET).solver) -- few columns and large noise, r = 0.067
    local many = pn.objective { data = logistic(1, 5000, 100), loss = pn.loss.logistic() }
    assert.equal("newton", pn.solve.auto.plan(many, BUDGET).solver) -- many columns and large noise, r = 0.02
    for p, solver in pairs { [29] = "gradient_descent", [30] = "newton" } do -- r = 0.11
      local about = pn.objective { data = logistic(1, 500, p), loss = pn.loss.logistic() }
      assert.equal(solver, pn.solve.auto.plan(about, BUDGET).solver, p .. " columns")
    end
    for clip, solver in pairs { [0.8] = "gradient_descent", [2] = "newton" } do -- below the slopes of the loss, and above
      local clipped = pn.objective { data = many.data, loss = pn.loss.logistic(), clip = clip }
      assert.equal(solver, pn.solve.auto.plan(clipped, BUDGET).solver, clip)
    end
    local classes = many.data:with_labels((many.data.y + 3) / 2):clip_labels(1, 2)
    local softmax = pn.objective { data = classes, loss = pn.loss.softmax { classes = 2 } } -- 200 coordinates
    assert.equal("gradient_descent", pn.solve.auto.plan(softmax, BUDGET).solver)
    local wide = pn.objective { data = logistic(1, 200, 1001), loss = pn.loss.logistic() }
    assert.equal("gradient_descent", pn.solve.auto.plan(wide, BUDGET).solver) -- a Hessian of order 1001
    local first_order = { gradient_descent = true, sgd = true }
    for name, loss in pairs { hinge = pn.loss.hinge(), sigmoid = pn.loss.sigmoid() } do
      assert.truthy(first_order[pn.solve.auto.plan(objective(loss, { set = ball }), BUDGET).solver], name)
    end
    local kinks = objective(pn.loss.logistic(), { reg = pn.reg.l1(0.01) })
    assert.truthy(first_order[pn.solve.auto.plan(kinks, BUDGET).solver])
  end)

  it("takes gradient_descent where a recipe makes rows mostly of flags and categories, and newton of numbers", function()
    for solver, flags in pairs { gradient_descent = 30, newton = 20 } do
      local features, columns = {}, { label = {} }
      for i = 1, 1000 do columns.label[i] = i % 3 == 0 and "yes" or "no" end
      for j = 1, 50 do
        features["x" .. j], columns["x" .. j] = j <= flags and "flag" or { 0, 1 }, {}
        for i = 1, 1000 do columns["x" .. j][i] = (i * j) % 2 end
      end
      local data = pn.recipe { label = { label = { "no", "yes" } }, features = features }:data(columns)
      assert.equal(solver, pn.solve.auto.plan(pn.objective { data = data, loss = pn.loss.logistic() }, BUDGET).solver)
    end
  end)

  it("says the solver and why in the first line of the plan", function()
    local plan = pn.solve.auto.plan(objective(pn.loss.logistic()), BUDGET)
    assert.equal("solver", plan.lines[1].name)
    assert.equal(plan.solver, plan.lines[1].value)
    assert.truthy(#plan.lines[1].formula > 20)
  end)

  it("plans what the solver itself would plan", function()
    local obj = objective(pn.loss.logistic())
    local plan = pn.solve.auto.plan(obj, BUDGET)
    local own = pn.solve[plan.solver].plan(obj, BUDGET)
    assert.equal(own.epsilon, plan.epsilon)
    assert.equal(tostring(own.event), tostring(plan.event))
    assert.equal(#own.lines + 1, #plan.lines)
    local a, b = plan:run { rng = pn.rng.seeded(3) }, own:run { rng = pn.rng.seeded(3) }
    for j = 1, 10 do assert.equal(b.theta[j], a.theta[j]) end
  end)

  it("does not look at the records", function()
    for _, p in ipairs { 3, 40, 300 } do
      for _, epsilon in ipairs { 0.1, 1, 10 } do
        local texts = {}
        for seed = 1, 2 do
          local obj = pn.objective { data = logistic(seed, 2000, p), loss = pn.loss.logistic() }
          texts[seed] = tostring(pn.solve.auto.plan(obj, { epsilon = epsilon, delta = 1e-8 }))
        end
        assert.equal(texts[1], texts[2])
      end
    end
  end)

  it("charges the ledger as the solver does, once", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-8 }
    local fit = pn.solve.auto(objective(pn.loss.logistic()), { epsilon = 0.5, delta = 1e-8, ledger = ledger })
    assert.truthy(fit.privacy.epsilon <= 0.5)
    assert.truthy(ledger.spent > 0.4 and ledger.spent <= 0.5)
  end)

  it("keeps its choice when the plan is changed", function()
    local plan = pn.solve.auto.plan(objective(pn.loss.logistic()), BUDGET)
    assert.equal(plan.solver, plan:with { epsilon = 2 }.solver)
  end)

  it("names itself, the solver and the remedy when no plan can be made", function()
    local free = pn.objective { data = pn.data.from({ { 1 }, { 0 } }, { 3, 4 }), loss = pn.loss.squared() }
    local ok, message = pcall(pn.solve.auto.plan, free, BUDGET)
    assert.falsy(ok)
    assert.matches("^solve%.auto%.plan: solve%.sufficient_statistics: nothing bounds how long a row is", message)
    assert.matches("clip_rows", message)
    ok, message = pcall(pn.solve.auto.plan, objective(pn.loss.logistic()), { epsilon = -1, delta = 1e-8 })
    assert.falsy(ok)
    assert.matches("^solve%.auto%.plan: epsilon must be a positive number, got %-1$", message)
    ok, message = pcall(pn.solve.auto.plan, objective(pn.loss.logistic()), { epsilon = 1, delta = 1e-8, batch = 3 })
    assert.falsy(ok)
    assert.matches("^solve%.auto%.plan: unknown option 'batch'", message)
  end)
end)
