-- frank_wolfe_sparse_spec.lua -- private Frank-Wolfe on sparse records, whose gradient is kept in whole numbers, of the squared
-- loss as it is and of others by tangents: beside the same records stored densely, where it is computed anew in every step.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local shared = require "tests.runtime.solvers.frank_wolfe.sparse_records"
local N, P, RADIUS = shared.N, shared.P, 2
local X, y, rows = shared.X, shared.y, shared.rows
local sparse, dense, bounded = shared.sparse, shared.dense, shared.bounded

local function objective(data, set, loss)
  return pn.objective { data = data, loss = loss or pn.loss.squared(), set = set or pn.set.l1_ball { dim = P, radius = RADIUS } }
end

local function ledger() return pn.ledger { rho = 1e14, teaching = true } end

local function fit(data, rho, set, steps)
  return pn.solve.frank_wolfe(objective(data, set),
    { rho = rho, iterations = steps or 60, rng = pn.rng.seeded(3), ledger = ledger() })
end

local function kept(plan) return plan.lines.gradient == "whole numbers" end

local nowhere = pn.vec.zeros(P)

-- The likeliest vertex at theta, and its probability.
local function likeliest(f, theta, plan)
  local chances_of, scale = shared.law_of(plan)
  local g, best, weights = f:gradient(theta), { score = -math.huge }, {}
  for j = 1, P do
    for sign = -1, 1, 2 do
      local score = -sign * RADIUS * g[j] / scale
      weights[#weights + 1] = score
      if score > best.score then best = { j = j, sign = sign, score = score, at = #weights } end
    end
  end
  for i, score in ipairs(weights) do weights[i] = math.exp(score - best.score) end
  return best, chances_of(weights)[best.at]
end

-- 4000 runs of two steps, which end at v/3 + 2 w/3: how often v is the likeliest vertex at 0, and then w that at v, of those
-- chances that leave something to see.  The false alarm is 1e-6 a count at 4.9 standard errors; noise times 0.8 moves each
-- by five or more.
local function check_law(f, options, seen)
  options.iterations = 2
  local plan, runs, book = pn.solve.frank_wolfe.plan(f, options), 4000, ledger()
  local first, second, at = 0, 0, pn.vec.zeros(P)
  assert.truthy(plan.lines.gradient)
  assert.equal(options.rho and "exponential" or "permute_and_flip", plan.lines.selection)
  local v, p = likeliest(f, nowhere, plan)
  at[v.j] = v.sign * RADIUS
  local w, q = likeliest(f, at, plan)
  local function is(theta, one, part) return math.abs(theta[one.j] - part * one.sign * RADIUS) < 1e-9 end
  for seed = 1, runs do
    local theta = plan:run { rng = pn.rng.seeded(seed), ledger = book }.theta
    local back = is(theta, v, -1 / 3) and theta:norm(1) < RADIUS / 2
    if is(theta, v, 1) or is(theta, v, 1 / 3) and theta:norm(1) > RADIUS / 2 or back then
      first = first + 1
      if is(theta, w, w.j ~= v.j and 2 / 3 or w.sign == v.sign and 1 or 1 / 3) then second = second + 1 end
    end
  end
  local checked = 0
  local function check(name, count, of, chance)
    if chance > 0.15 and chance < 0.85 then
      local off = math.abs(count / of - chance) / math.sqrt(chance * (1 - chance) / of)
      assert.is_true(off < 4.9, ("%s: %g, not %g"):format(name, count / of, chance))
      checked = checked + 1
    end
  end
  check("first", first, runs, p)
  check("second", second, first, q)
  assert.equal(seen, checked, ("chances %g, %g"):format(p, q))
end

describe("private Frank-Wolfe on sparse records", function()
  it("keeps its gradient where it can, and says so before it runs", function()
    local function plan(data, set, options, loss)
      local with = { rho = 1, iterations = 30 }
      for name, value in pairs(options or {}) do with[name] = value end
      return pn.solve.frank_wolfe.plan(objective(data, set, loss), with)
    end
    assert.is_true(kept(plan(sparse)))
    assert.is_true(kept(plan(sparse, -2 * pn.set.l1_ball { dim = P })))
    assert.is_true(kept(plan(sparse:float32())))
    assert.is_false(kept(plan(dense)))
    assert.is_false(kept(plan(sparse, pn.set.unit_simplex { dim = P })))
    assert.is_false(kept(plan(sparse, pn.set.l1_ball { dim = P } + pn.set.simplex { dim = P })))
    assert.is_false(kept(plan(sparse, nil, { selection = "laplace" })))
    assert.is_false(kept(plan(sparse, nil, { step = "paper" })))
    assert.is_false(kept(plan(sparse, nil, { iterations = 65536 })))
    assert.is_false(kept(plan(sparse, nil, nil, pn.loss.huber())))
  end)

  it("walks as over dense records where the noise is next to nothing, also in a reflected ball", function()
    for _, set in ipairs { pn.set.l1_ball { dim = P, radius = RADIUS }, -RADIUS * pn.set.l1_ball { dim = P } } do
      local exact = pn.solve.frank_wolfe(objective(dense, set), { privacy = false, iterations = 60 })
      local theta = fit(sparse, 1e13, set).theta
      assert.is_true((theta - exact.theta):norm(math.huge) < 1e-12)
      assert.is_true((fit(dense, 1e13, set).theta - exact.theta):norm(math.huge) < 1e-12)
      assert.is_true(theta:norm(1) <= RADIUS * (1 + 1e-12))
    end
  end)

  it("is charged and priced as over dense records", function()
    local a, b = fit(sparse, 0.5), fit(dense, 0.5)
    assert.equal(tostring(b.privacy), tostring(a.privacy))
    local plan = pn.solve.frank_wolfe.plan(objective(sparse), { rho = 0.5, iterations = 60 })
    local twin = pn.solve.frank_wolfe.plan(objective(dense), { rho = 0.5, iterations = 60 })
    for _, name in ipairs { "epsilon per step", "sensitivity Delta", "Gumbel scale beta", "risk from noise" } do
      assert.equal(twin.lines[name], plan.lines[name])
    end
    assert.equal(twin.bound, plan.bound)
    local budget = pn.ledger { rho = 1 }
    pn.solve.frank_wolfe(objective(sparse), { ledger = budget, rho = 0.25, iterations = 7 })
    assert.is_true(math.abs(budget.remaining - 0.75) < 1e-5)
  end)

  it("shows the loss of every step under seeded noise", function()
    local a = fit(sparse, 0.5)
    local f = objective(sparse)
    assert.is_true(math.abs(a.trace[1].value - f:value(nowhere)) < 1e-12)
    assert.is_true(a.trace[60].value == a.trace[60].value)
  end)

  law("takes its vertices by the law of its plan", function()
    check_law(objective(sparse), { rho = 0.35 }, 2)
    check_law(objective(sparse), { epsilon = 2 }, 2)
  end)

  law("chooses among all vertices alike where records say nothing", function()
    -- Empty features, 2000 runs: half of the vertices are negative, a quarter of the features come first; 4.9 standard errors.
    local empty = bounded(pn.data.from(pn.sparse { rows = N, cols = P, i = {}, j = {}, x = {} }, y))
    local plan = pn.solve.frank_wolfe.plan(objective(empty), { rho = 1, iterations = 1 })
    local negative, early, book = 0, 0, ledger()
    for seed = 1, 2000 do
      local theta = plan:run { rng = pn.rng.seeded(seed), ledger = book }.theta
      for j = 1, P do
        if theta[j] ~= 0 then
          negative = negative + (theta[j] < 0 and 1 or 0)
          early = early + (j <= P / 4 and 1 or 0)
        end
      end
    end
    assert.is_true(math.abs(negative / 2000 - 0.5) < 4.9 * math.sqrt(0.25 / 2000))
    assert.is_true(math.abs(early / 2000 - 0.25) < 4.9 * math.sqrt(0.1875 / 2000))
  end)
end)

-- ---- tangents ----

local signs = {}
for r = 1, N do signs[r] = y[r] >= 0 and 1 or -1 end
local clicks = pn.data.from(X, signs):clip_rows("linf", 1)

local function logistic(data, set) return objective(data or clicks, set, pn.loss.logistic()) end

local function plan_of(options, f)
  local with = { rho = 0.5, iterations = 60 }
  for name, value in pairs(options) do with[name] = value end
  if with.rho == false then with.rho = nil end
  return pn.solve.frank_wolfe.plan(f or logistic(), with)
end

describe("private Frank-Wolfe by tangents", function()
  it("says what they cost, and is priced as by passes", function()
    local exact, tangents, stale = plan_of {}, plan_of { gradient = "linearised" }, plan_of { gradient = "stale" }
    assert.is_nil(exact.lines.gradient)
    assert.equal("linearised", tangents.lines.gradient)
    assert.equal("stale", stale.lines.gradient)
    -- 2 r xmax max |l'''| kappa^2/2, of the logistic loss 1/(6 sqrt 3)
    local lag = 2 * RADIUS * 0.1 ^ 2 / 2 / (6 * math.sqrt(3))
    assert.is_near(lag, tangents.lines["risk of tangents"], 1e-6 * lag)
    assert.is_near(exact.bound + lag, tangents.bound, 1e-9)
    assert.is_near(lag / 4, plan_of { gradient = "linearised", kappa = 0.05 }.lines["risk of tangents"], 1e-6 * lag)
    assert.is_nil(stale.bound)
    for _, name in ipairs { "epsilon per step", "sensitivity Delta", "Gumbel scale beta", "risk from noise" } do
      assert.equal(exact.lines[name], tangents.lines[name])
      assert.equal(exact.lines[name], stale.lines[name])
    end
    assert.equal(tostring(exact.event), tostring(tangents.event))
    assert.equal("whole numbers", plan_of({ gradient = "linearised" }, objective(sparse)).lines.gradient) -- its own tangent
    assert.equal("permute_and_flip", plan_of { gradient = "linearised", rho = false, epsilon = 1 }.lines.selection)
  end)

  it("ends as low as by passes, to what they cost, where the noise is next to nothing", function()
    local f = logistic()
    local function ends(gradient, kappa)
      return pn.solve.frank_wolfe(f, { rho = 1e13, iterations = 60, gradient = gradient, kappa = kappa,
        rng = pn.rng.seeded(3), ledger = ledger() }).theta
    end
    local exact, lag = pn.solve.frank_wolfe(f, { privacy = false, iterations = 60 }).theta, RADIUS / (6 * math.sqrt(3))
    for _, kappa in ipairs { 0.3, 0.1, 0.01 } do
      assert.is_true(math.abs(f:value(ends("linearised", kappa)) - f:value(exact)) <= lag * kappa ^ 2)
    end
    assert.is_true((ends("linearised", 1e-9) - exact):norm(math.huge) < 1e-12) -- renewed at every step
    assert.is_true((ends("stale") - exact):norm(math.huge) > 1e-3)
  end)

  law("takes its vertices by the law of its plan", function()
    check_law(logistic(), { rho = 0.08, gradient = "linearised" }, 1)
    check_law(logistic(), { rho = 0.5, gradient = "linearised" }, 1)
    check_law(logistic(), { epsilon = 2.5, gradient = "linearised" }, 1)
  end)

  it("says what they need", function()
    local filled = logistic(nil, pn.set.unit_simplex { dim = P })
    local box = pn.set.box { lower = nowhere - 1, upper = nowhere + 1 }
    local ridge = { data = clicks, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = P, radius = 1 }, reg = pn.reg.l2(0.1) }
    for _, case in ipairs {
      { "needs an l1_ball, a simplex, or a product of these", { gradient = "linearised" }, filled },
      { "needs sparse records", { gradient = "stale" }, logistic(pn.data.from(rows, signs):clip_rows("linf", 1)) },
      { "needs the standard step", { gradient = "linearised", step = "paper" } },
      { 'needs selection="exponential" or "permute_and_flip"', { gradient = "linearised", selection = "laplace" } },
      { "without privacy, leave it out", { gradient = "linearised", rho = false, privacy = false } },
      { "needs an l1_ball, a simplex, or a product", { gradient = "stale" }, logistic(nil, box) },
      { "kappa is for", { kappa = 0.2 } }, { "kappa", { gradient = "linearised", kappa = 0 } },
      { "65536", { gradient = "linearised", iterations = 65536 } },
      { "without a regulariser", { gradient = "linearised" }, pn.objective(ridge) },
    } do
      local fine, message = pcall(plan_of, case[2], case[3])
      assert.is_false(fine, case[1])
      assert.truthy(tostring(message):find(case[1], 1, true), message)
      assert.truthy(tostring(message):find("solve.frank_wolfe", 1, true), message)
    end
  end)
end)
