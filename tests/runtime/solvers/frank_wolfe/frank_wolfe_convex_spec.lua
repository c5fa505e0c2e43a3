-- frank_wolfe_convex_spec.lua -- Frank-Wolfe on gradients with Gaussian noise: numbers of the plan, risk, sets without vertices.
local pn = require "penumbra"
local law = require("tests.tools.tier").law(it)

-- Rows of l2 norm at most 1 and labels in [-1, 1]: on the unit ball the squared loss has L = 2 and curvature 4.
local function regression(n, p, seed)
  local rng = pn.rng.seeded(seed)
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, n do
    local row = pn.vec.normal(p, rng)
    row = row / row:norm()
    for j = 1, p do X:set(i, j, row[j]) end
    y[i] = math.max(-1, math.min(1, 0.8 * row[1] + 0.1 * rng:uniform()))
  end
  return pn.data.from(X, y):clip_rows("l2", 1):clip_labels(-1, 1)
end

local function problem(n, p, set)
  return pn.objective {data = regression(n, p, 5), loss = pn.loss.squared(), set = set or pn.set.l2_ball {dim = p, radius = 1}}
end

describe("the plan of frank_wolfe_convex", function()
  it("has the noise, the steps and the risk of the theorem", function()
    -- frank-wolfe.md section 7: L = 2, Gamma = 4, l2-ball width at p = 20, n = 10000, rho = 0.1
    local plan = pn.solve.frank_wolfe_convex.plan(problem(10000, 20), {rho = 0.1, preset = "theory"})
    assert.equal(254, plan.iterations)
    assert.is_near(0.0142548237, plan.lines["noise sigma"], 1e-9)
    assert.is_near(0.0942079276, plan.bound, 1e-8)
    assert.is_near(4, plan.lines["curvature Gamma"], 1e-12)
    assert.is_true(plan.proven)
  end)

  law("has an eighth of those steps where their noise costs no more than there is to gain", function()
    local sigma, width = 0.0142548237 / math.sqrt(254), 4.4167 -- sqrt(2) Gamma(10.5)/Gamma(10) = 4.4167
    local seen = {}
    for _, rho in ipairs {1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1} do
      local plan = pn.solve.frank_wolfe_convex.plan(problem(10000, 20), {rho = rho})
      local a = sigma * width * math.sqrt(0.1 / rho)
      local best = math.max(1, math.floor((16 / a) ^ (2 / 3) + 0.5))
      local few = math.max(1, math.floor(best / 8 + 0.5))
      local pays = a * math.sqrt(few) <= 0.5 -- no loss at theta = 0 is above 1/2
      assert.equal(pays and few or best, plan.iterations, rho)
      assert.equal(pays and few < best, plan.lines["theory preset"] ~= nil)
      seen[pays] = true
    end
    assert.is_true(seen[true] and seen[false])
    -- of batches nothing was measured
    local batches = pn.solve.frank_wolfe_convex.plan(problem(2000, 20), {epsilon = 1, delta = 1e-6, batch = 100})
    assert.is_true(batches.iterations > 8)
    assert.equal(batches:with {preset = "theory"}.iterations, batches.iterations)
  end)

  it("warns where the noise is longer than any gradient, and there only, and names what would find its way", function()
    local function warned(plan) return (tostring(plan):gsub("%s+", " "):match("the noise on a gradient has .- would help")) end
    local seen = {}
    for _, rho in ipairs {1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1} do
      local plan = pn.solve.frank_wolfe_convex.plan(problem(400, 20), {rho = rho})
      local text, long = warned(plan), plan.lines["noise sigma"] * math.sqrt(20)
      assert.equal(long > plan.lines["Lipschitz L"], text ~= nil, rho)
      -- replacing a record moves the mean gradient by 2 L/n: the noise of one release is twice L long at rho = 20/400^2/2
      if text then assert.equal(rho >= 20 / 400 ^ 2 / 2, text:find("solve.gradient_descent", 1, true) ~= nil, rho) end
      seen[text ~= nil] = true
    end
    assert.is_true(seen[true] and seen[false])
    local weak = pn.solve.frank_wolfe_convex.plan(problem(400, 20), {rho = 1e-2, iterations = 1})
    assert.is_true(warned(weak) == nil and warned(weak:with {iterations = 1000}) ~= nil)
  end)

  it("never costs more than was asked for, and nearly that", function()
    local obj = problem(400, 5)
    for _, budget in ipairs {{epsilon = 1, delta = 1e-6}, {epsilon = 0.1, delta = 1e-8}, {epsilon = 8, delta = 1e-5}} do
      local plan = pn.solve.frank_wolfe_convex.plan(obj, budget)
      assert.is_true(plan.epsilon <= budget.epsilon)
      assert.is_true(plan.epsilon > 0.999999 * budget.epsilon)
    end
    local plan = pn.solve.frank_wolfe_convex.plan(obj, {rho = 0.3})
    assert.is_true(plan.rho <= 0.3 and plan.rho > 0.3 * (1 - 1e-9))
  end)

  it("works with the article's noise, whose true price it certifies", function()
    local plan = pn.solve.frank_wolfe_convex.plan(problem(400, 5),
      {epsilon = 1, delta = 1e-6, iterations = 100, calibration = "paper"})
    assert.is_near(math.sqrt(32 * 100) * 2 * math.log(100 / 1e-6) / 400, plan.lines["noise sigma"], 1e-9)
    assert.is_true(plan.epsilon < 0.2)
    -- L = 2, n = 400: what is printed has L where its proof has L^2, and n where it has T
    assert.is_near(math.sqrt(32 * 2 * 100) * math.log(400 / 1e-6) / 400, plan.lines["sigma as printed"], 1e-9)
    assert.truthy(tostring(plan):find("not used", 1, true))
    assert.is_nil(plan:with {calibration = "tight"}.lines["sigma as printed"])
  end)

  it("refuses what it cannot do, before anything is spent", function()
    local data = regression(50, 3, 1)
    local loss = pn.loss.squared()
    assert.error_matches(function()
      pn.solve.frank_wolfe_convex.plan(pn.objective {data = data, loss = loss}, {rho = 1})
    end, "no constraint set")
    assert.error_matches(function()
      pn.solve.frank_wolfe_convex.plan(problem(50, 3), {epsilon = 1})
    end, "needs a delta")
    assert.error_matches(function()
      pn.solve.frank_wolfe_convex.plan(problem(50, 3), {rho = 1, neighbours = "add_remove"})
    end, "makes n secret")
  end)
end)

describe("a run of frank_wolfe_convex", function()
  it("stays in the set and below its bound on average", function()
    local obj = problem(4000, 10)
    local plan = pn.solve.frank_wolfe_convex.plan(obj, {rho = 0.5})
    local best, sum = pn.solve.exact(obj, {tol = 1e-10}).value, 0
    for seed = 1, 30 do
      local fit = plan:run {rng = pn.rng.seeded(seed)}
      assert.is_true(obj.set:contains(fit.theta, 1e-12))
      sum = sum + fit.value - best
    end
    assert.is_true(sum / 30 < plan.bound)
    assert.is_true(sum > 0)
  end)

  it("repeats with its seed, differs with another, and charges its own ledger once a step", function()
    local obj = problem(300, 4)
    local plan = pn.solve.frank_wolfe_convex.plan(obj, {rho = 0.5, iterations = 7})
    local a, b, c = plan:run {rng = pn.rng.seeded(1)}, plan:run {rng = pn.rng.seeded(1)}, plan:run {rng = pn.rng.seeded(2)}
    assert.is_true(a.theta == b.theta)
    assert.is_false(a.theta == c.theta)
    local ledger = pn.ledger {rho = 0.5}
    local fit = plan:run {ledger = ledger}
    assert.is_true(fit.privacy.private)
    assert.is_near(plan.rho, 0.5 - ledger.remaining, 1e-12)
  end)

  it("has no gap to show when it is private, and one when it is not", function()
    local obj = problem(300, 4)
    local private = pn.solve.frank_wolfe_convex(obj, {rho = 0.5, iterations = 3})
    assert.is_nil(private.trace[1].gap)
    assert.is_nil(private.trace[1].value)
    local open = pn.solve.frank_wolfe_convex(obj, {privacy = false, iterations = 200})
    assert.is_true(open.trace[200].gap < open.trace[1].gap)
    assert.is_true(open.value - pn.solve.exact(obj).value <= open.plan.bound)
  end)
end)
