-- sufficient_statistics_spec.lua -- least squares by one release: what a record moves, the law of the noise, the model and all that
-- follows from what was released.
-- False alarms: audits at confidence 1 - 1e-8; the law of the noise below 1e-7 a bound; coverage 1e-6 a bound
-- (tests/tools/coverage.lua).
local pn = require "penumbra"
local coverage = require "tests.tools.coverage"
local refusal = require("tests.tools.refusal").refusal
local tier = require "tests.tools.tier"
local law = tier.law(it)

local solve = pn.solve.sufficient_statistics
local BUDGET = { epsilon = 1, delta = 1e-6 }

local function gauss(rng)
  return math.sqrt(-2 * math.log(1 - rng:uniform())) * math.cos(2 * math.pi * rng:uniform())
end

local function objective(rows, labels, rest, bias)
  local data = pn.data.from(rows, labels):clip_rows("l2", 1):clip_labels(-1, 1)
  local parts = { data = bias and data:add_bias() or data, loss = pn.loss.squared() }
  for key, value in pairs(rest or {}) do parts[key] = value end
  return pn.objective(parts)
end

local function run(obj, options, seed)
  local all = { rng = pn.rng.seeded(seed or 1), progress = false }
  for key, value in pairs(options) do all[key] = value end
  if all.privacy ~= false then
    all.ledger = all.rho and pn.ledger { rho = all.rho, neighbours = all.neighbours, teaching = true }
        or pn.ledger { epsilon = all.epsilon, delta = all.delta, neighbours = all.neighbours, teaching = true }
  end
  return solve(obj, all)
end

local function exact(obj) return run(obj, { privacy = false }) end

-- n rows of length up to 1, labels near <x, theta>, and theta.
local function linear(seed, n, d, noise, weight)
  local rng, rows, labels = pn.rng.seeded(seed), {}, {}
  for i = 1, n do
    local x, z = rng:sphere(d), 0
    rows[i] = {}
    for j = 1, d do
      rows[i][j] = x[j]
      z = z + x[j] * weight / math.sqrt(d)
    end
    labels[i] = z + noise * gauss(rng)
  end
  return rows, labels
end

-- ---- what a record moves ----

describe("the sensitivity of second moments", function()
  local function line(plan, name)
    for _, at in ipairs(plan.lines) do
      if at.name == name then return at.value end
    end
  end

  -- Nearly without noise, in Frobenius norm.
  local function moved(a, b, neighbours)
    local A, B = run(a, { rho = 1e20, neighbours = neighbours }), run(b, { rho = 1e20, neighbours = neighbours }, 2)
    local sum, M, N = 0, A.moments.matrix, B.moments.matrix
    for i = 1, M.rows do
      for j = 1, M.rows do sum = sum + (M[i][j] - N[i][j]) ^ 2 end
    end
    return math.sqrt(sum)
  end

  local function pair(x1, y1, x2, y2, bias)
    local function of(x, y) return objective({ x, { 0, 0, 0 } }, { y, 0.5 }, nil, bias) end
    return of(x1, y1), of(x2, y2)
  end

  it("is as derived, and reached", function()
    local rho, square, n = 1.5, 0.25, 2
    local e = { 1, 0, 0 }
    for _, row in ipairs {
      { "replace_one", false, math.sqrt(2) * rho, { 0, 1, 0 }, 1, { e, 1 }, 2 * math.sqrt(2) / (math.sqrt(2) * rho) / 2 * 0.9 },
      { "replace_one", true, math.sqrt(2) * (rho + square), { -0.75, math.sqrt(1 - 0.75 ^ 2), 0 }, 1, { e, 1 }, 0.99 },
      { "zero_out", false, rho, { 0, 0, 0 }, 0, { e, 1 }, 0.99 },
      { "zero_out", true, math.sqrt(rho ^ 2 + 2 * square * rho), { 0, 0, 0 }, 0, { e, 1 }, 0.8 },
    } do
      local relation, bias, claimed, x, y, other, least = table.unpack(row, 1, 7)
      local a, b = pair(other[1], other[2], x, y, bias)
      local certified = line(solve.plan(a, { rho = 1, neighbours = relation }), "sensitivity")
      assert.near(claimed / n, certified, 1e-9)
      local by = moved(a, b, relation)
      assert.is_true(by <= certified * (1 + 1e-7), ("%s: %g of %g"):format(relation, by, certified))
      assert.is_true(by >= least * certified, ("%s: %g of %g"):format(relation, by, certified))
    end
  end)

  it("is not exceeded by any two records", function()
    local rng = pn.rng.seeded(4)
    for _ = 1, tier.times(60, 600) do
      local x1, x2 = rng:sphere(3), rng:sphere(3)
      local y1, y2 = rng:uniform() < 0.5 and 1 or -1, 2 * rng:uniform() - 1
      local bias = rng:uniform() < 0.5
      local a, b = pair({ x1[1], x1[2], x1[3] }, y1, { x2[1], x2[2], x2[3] }, y2, bias)
      local certified = line(solve.plan(a, { rho = 1 }), "sensitivity")
      assert.is_true(moved(a, b) <= certified * (1 + 1e-7))
    end
  end)

  it("is that of the whole row where the last column is not certainly constant", function()
    local rows, labels = linear(1, 50, 3, 0.1, 0.5)
    local biased = objective(rows, labels, nil, true)
    local clipped = pn.objective { data = biased.data:clip_rows("l2", 2), loss = pn.loss.squared() }
    assert.equal(0.5, run(biased, BUDGET).moments.kappa)
    assert.equal(0, run(clipped, BUDGET).moments.kappa)
    assert.near(math.sqrt(2), run(clipped, BUDGET).moments.row_bound, 1e-12)
    assert.near(1, run(biased, BUDGET).moments.row_bound, 1e-12)
  end)

  law("is audited: more than half of what is charged, and no more", function()
    local a, b = pair({ 1, 0, 0 }, 1, { 0, 1, 0 }, -1, false)
    local options = { rho = 0.5 }
    local one = pn.ledger { epsilon = 1e6, delta = 1e-3, teaching = true }
    solve(a, { rho = 0.5, ledger = one, rng = pn.rng.seeded(1), progress = false })
    local ledger = pn.ledger { rho = 1e12, teaching = true }
    local result = pn.audit(function(obj, rng)
      local M = solve(obj, { rho = options.rho, ledger = ledger, rng = rng, progress = false }).moments.matrix
      return M[1][1] - M[2][2] + 2 * math.sqrt(0.5) * (M[1][4] + M[2][4]) / 1
    end, { neighbours = { a, b }, trials = 8000, delta = 1e-3, epsilon = one.spent, gaussian = true, confidence = 1 - 1e-8,
      rng = pn.rng.seeded(5), progress = false })
    assert.is_false(result.violated)
    assert.is_true(result.epsilon_lower > 0.5 * result.claimed, ("%g of %g"):format(result.epsilon_lower, result.claimed))
  end)
end)

-- ---- the noise ----

describe("the noise on second moments", function()
  law("has half the variance beside the diagonal, and none on the public corner", function()
    local rows, labels = linear(2, 20, 3, 0.1, 0.5)
    local obj = objective(rows, labels, nil, true)
    local truth, runs, on, beside = nil, 3000, 0, 0
    local ledger = pn.ledger { rho = 1e6, teaching = true }
    for k = 0, runs do
      local options = { rho = k == 0 and 1e5 or 1, ledger = ledger, rng = pn.rng.seeded(k + 1), progress = false }
      local moments = solve(obj, options).moments
      local M = moments.matrix
      assert.equal(0.25, M[4][4])
      if k == 0 then
        truth = M
      else
        on = on + ((M[1][1] - truth[1][1]) ^ 2 + (M[5][5] - truth[5][5]) ^ 2) / moments.noise ^ 2 / 2
        beside = beside + ((M[1][2] - truth[1][2]) ^ 2 + (M[4][5] - truth[4][5]) ^ 2) / moments.noise ^ 2 / 2
      end
    end
    -- deviation of a mean of 6000 squares: sqrt(2/6000) = 0.018 of it; 0.1 is more than five of these, and rounding of `truth`
    assert.near(1, on / runs, 0.1)
    assert.near(0.5, beside / runs, 0.05)
  end)

  it("is that of the Gaussian mechanism", function()
    local rows, labels = linear(3, 1000, 4, 0.1, 0.5)
    local plan = solve.plan(objective(rows, labels), BUDGET)
    assert.near(math.sqrt(2) * 1.5 / 1000 / 0.236704381, plan.sigma, 1e-6 * plan.sigma)
    assert.is_true(plan.epsilon <= 1)
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    local fit = solve(objective(rows, labels), { ledger = ledger })
    assert.near(1, fit.privacy.epsilon, 1e-6)
    assert.is_true(fit.privacy.private)
    assert.near(1, ledger.spent, 1e-6)
    assert.is_nil(fit.certificate)
  end)
end)

-- ---- the model ----

describe("the model", function()
  local rows, labels = linear(5, 300, 4, 0.2, 0.8)

  local function same(a, b, tol)
    for j = 1, #b do assert.near(b[j], a[j], tol or 1e-7) end
  end

  it("is the least squares solution without privacy", function()
    for _, bias in ipairs { false, true } do
      local obj = objective(rows, labels, nil, bias)
      same(exact(obj).theta, pn.solve.newton(obj, { privacy = false, progress = false }).theta)
    end
  end)

  it("takes the objective's regulariser and set", function()
    for _, rest in ipairs {
      { reg = pn.reg.l2(0.1) }, { reg = pn.reg.l1(0.02) }, { reg = pn.reg.elastic_net { l1 = 0.01, l2 = 0.05 } },
      { set = pn.set.l2_ball { dim = 5, radius = 0.2 } },
      { set = pn.set.linf_ball { dim = 5, radius = 0.1 }, reg = pn.reg.l2(0.05) },
    } do
      local obj = objective(rows, labels, rest, true)
      local fit = exact(obj)
      local bounded = rest.set or pn.set.l2_ball { dim = 5, radius = 10 }
      rest.set = bounded
      local best = pn.solve.exact(objective(rows, labels, rest, true), { tol = 1e-11 })
      assert.near(best.value, fit.value, 1e-8)
      if obj.set then assert.is_true(obj.set:contains(fit.theta, 1e-9)) end
    end
  end)

  it("is the same of sparse and float32 rows, within their rounding", function()
    local obj = objective(rows, labels, nil, true)
    local data = obj.data:float32()
    same(exact(pn.objective { data = data, loss = pn.loss.squared() }).theta, exact(obj).theta, 1e-5)
  end)

  it("moves the labels' middle into the intercept", function()
    local raised = {}
    for i = 1, #labels do raised[i] = 50 + 10 * math.max(-1, math.min(1, labels[i])) end
    local data = pn.data.from(rows, raised):clip_rows("l2", 1):clip_labels(40, 60):add_bias()
    local obj = pn.objective { data = data, loss = pn.loss.squared() }
    local fit = run(obj, { epsilon = 20, delta = 1e-6 })
    assert.equal(50, fit.moments.middle)
    assert.equal(10, fit.moments.label_bound)
    local plain = run(objective(rows, labels, nil, true), { epsilon = 20, delta = 1e-6 })
    for j = 1, 5 do assert.near(plain.theta[j] * 10 + (j == 5 and 50 or 0), fit.theta[j], 1e-9) end
  end)

  it("moves it within a set, too", function()
    local raised = {}
    for i = 1, #labels do raised[i] = 50 + 10 * math.max(-1, math.min(1, labels[i])) end
    local data = pn.data.from(rows, raised):clip_rows("l2", 1):clip_labels(40, 60):add_bias()
    local obj = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 5, radius = 45 } }
    local fit = exact(obj)
    assert.near(pn.solve.exact(obj, { tol = 1e-9 }).value, fit.value, 1e-6)
    assert.is_true(obj.set:contains(fit.theta, 1e-9))
  end)

  it("clips labels to label_bound", function()
    local wide, clipped = {}, {}
    for i = 1, #labels do
      wide[i] = 100 * labels[i]
      clipped[i] = math.max(-5, math.min(5, wide[i]))
    end
    local function of(y) return pn.objective { data = pn.data.from(rows, y):clip_rows("l2", 1), loss = pn.loss.squared() } end
    local options = { epsilon = 20, delta = 1e-6, label_bound = 5 }
    same(run(of(wide), options).theta, run(of(clipped), options).theta, 1e-9)
  end)

  it("refuses what it has no bound for, and what it is not about", function()
    local free = pn.data.from(rows, labels)
    local function refused(text, obj, options)
      assert.truthy(refusal(function() return solve.plan(obj, options or BUDGET) end):find(text, 1, true))
    end
    refused("nothing bounds how long a row is", pn.objective { data = free:clip_labels(-1, 1), loss = pn.loss.squared() })
    refused("nothing bounds the labels", pn.objective { data = free:clip_rows("l2", 1), loss = pn.loss.squared() })
    local obj = objective(rows, labels)
    refused("second moments determine loss.squared", pn.objective { data = obj.data, loss = pn.loss.huber { delta = 1 } })
    refused("clip=", pn.objective { data = obj.data, loss = pn.loss.squared(), clip = 1 })
    refused("makes n secret", obj, { epsilon = 1, delta = 1e-6, neighbours = "add_remove" })
    refused("needs a delta", obj, { epsilon = 1 })
    refused("one release", obj, { epsilon = 1, delta = 1e-6, iterations = 2 })
    refused("not known to be convex", objective(rows, labels, { reg = pn.reg.nonconvex(0.1) }))
  end)

  it("charges once, also where a step is made again", function()
    local ledger = pn.ledger { rho = 1 }
    local plan = solve.plan(objective(rows, labels), { rho = 0.25 })
    local walk = plan:steps { ledger = ledger }
    for _ in walk do end
    assert.near(0.25, ledger.spent, 1e-6)
    assert.is_true(ledger.spent <= 0.25)
  end)

  it("is picked by solve.auto where gradients would carry the width of the set", function()
    local function picked(rest, options) return pn.solve.auto.plan(objective(rows, labels, rest), options or BUDGET).solver end
    assert.equal("sufficient_statistics", picked())
    assert.equal("sufficient_statistics", picked { set = pn.set.l2_ball { dim = 4, radius = 2 } })
    assert.not_equal("sufficient_statistics", picked { clip = 1 })
    assert.not_equal("sufficient_statistics", picked { set = pn.set.l1_ball { dim = 4 } })
    assert.not_equal("sufficient_statistics", picked({ set = pn.set.l2_ball { dim = 4 } }, { epsilon = 1 }))
  end)
end)

-- ---- how good it is ----

describe("the excess risk", function()
  -- n, d, epsilon, 1/condition of the rows' deviations; the median of a program written apart, with the ridge of damping 1.5.
  local cases = {
    { 10000, 10, 1, 1, 1.1e-4 }, { 10000, 10, 1, 10, 4.0e-4 }, { 1000, 5, 1, 1, 2.3e-3 }, { 2000, 10, 1, 10, 4.5e-3 },
    { 1000, 20, 1, 1, 0.0169 }, { 2000, 20, 0.2, 3, 0.0250 },
  }

  local function problem(seed, n, d, condition)
    local rng, rows, labels = pn.rng.seeded(seed), {}, {}
    for i = 1, n do
      local x, norm, z = {}, 0, 0
      for j = 1, d do
        x[j] = gauss(rng) * condition ^ (-(j - 1) / (d - 1))
        norm = norm + x[j] ^ 2
      end
      norm = math.max(1, math.sqrt(norm))
      for j = 1, d do
        x[j] = x[j] / norm
        z = z + x[j] * 0.8 / math.sqrt(d)
      end
      rows[i], labels[i] = x, z + 0.25 * gauss(rng)
    end
    return objective(rows, labels)
  end

  for k, case in ipairs(cases) do
    local n, d, epsilon, condition, expected = table.unpack(case)
    tier.it(it, k == 3)(("is that of the reference: n = %d, d = %d, epsilon = %g, condition %g"):format(n, d, epsilon, condition),
      function()
        local found = { {}, {} }
        for seed = 1, 25 do
          local obj = problem(seed, n, d, condition)
          local best = exact(obj).value
          for i, damping in ipairs { 1.5, false } do
            local fit = run(obj, { epsilon = epsilon, delta = 1e-6, damping = damping or nil }, seed)
            found[i][seed] = 2 * (fit.value - best)
          end
        end
        table.sort(found[1])
        table.sort(found[2])
        assert.is_true(found[1][13] > 0.6 * expected and found[1][13] < 1.6 * expected, found[1][13])
        assert.is_true(found[2][13] < 1.6 * expected, found[2][13])
      end)
  end

  law("has a ridge by estimate that is about as good as the best of those that are given", function()
    local obj = problem(3, 1000, 20, 3)
    local best, runs = exact(obj).value, 40
    local function mean(options)
      local sum = 0
      for seed = 1, runs do
        options.epsilon, options.delta = 0.5, 1e-6
        sum = sum + 2 * (run(obj, options, seed).value - best) / runs
      end
      return sum
    end
    local estimated, given = mean {}, math.huge
    for _, damping in ipairs { 0.3, 0.6, 1.2, 2.4, 4.8 } do given = math.min(given, mean { damping = damping }) end
    assert.is_true(estimated < 1.4 * given, ("%g, %g given"):format(estimated, given))
  end)

  it("is predicted from public numbers within a factor of two", function()
    local rows, labels = linear(8, 20000, 10, 0.25, 1)
    local obj = objective(rows, labels)
    local best, sum = exact(obj).value, 0
    for seed = 1, 20 do sum = sum + run(obj, BUDGET, seed).value - best end
    local predicted = solve.plan(obj, BUDGET).predicted
    assert.is_true(sum / 20 < 2 * predicted and sum / 20 > predicted / 2, ("%g, %g predicted"):format(sum / 20, predicted))
  end)
end)

-- ---- what follows from the moments ----

describe("models from the released moments", function()
  local rows, labels = linear(6, 400, 4, 0.2, 0.8)
  local obj = objective(rows, labels)

  it("are those of the ridge, and of some columns", function()
    local fit = exact(obj)
    local models = fit:path { ridge = { 0, 0.01, 0.1 } }
    for _, model in ipairs(models) do
      local with = objective(rows, labels, model.ridge > 0 and { reg = pn.reg.l2(model.ridge) } or nil)
      local best = pn.solve.newton(with, { privacy = false, progress = false })
      for j = 1, 4 do assert.near(best.theta[j], model.theta[j], 1e-8) end
      assert.near(2 * obj:value(model.theta), model.mse, 1e-10)
      assert.equal(0, model.mse_noise)
    end
    local few = {}
    for i = 1, #rows do few[i] = { rows[i][1], rows[i][3] } end
    local own = exact(objective(few, labels, nil, true)).theta
    local part = exact(objective(rows, labels, nil, true)):path { columns = { 1, 3 } }[1].theta
    for at, j in ipairs { 1, 3, 5 } do assert.near(own[at], part[j], 1e-8) end
    assert.same({ 0, 0 }, { part[2], part[4] })
  end)

  it("is fit.theta where nothing is asked for", function()
    local fit = run(objective(rows, labels, nil, true), BUDGET)
    local own = fit:path()[1]
    for j = 1, 5 do assert.equal(fit.theta[j], own.theta[j]) end
    assert.is_true(own.ridge >= 0 and own.mse_noise > 0)
  end)

  it("costs nothing and is kept in the file", function()
    local ledger = pn.ledger { rho = 1 }
    local fit = solve(obj, { rho = 0.5, ledger = ledger })
    local spent, path = ledger.spent, os.tmpname()
    local model, covariance = fit:path { ridge = { 1 }, columns = { 2, 3 } }[1], fit:covariance()
    local again = pn.load(fit:save(path))
    os.remove(path)
    local other = again:path { ridge = { 1 }, columns = { 2, 3 } }[1]
    for j = 1, 4 do
      assert.equal(model.theta[j], other.theta[j])
      assert.equal(covariance[j][j], again:covariance()[j][j])
    end
    assert.equal(model.mse, other.mse)
    assert.equal(spent, ledger.spent)
    assert.same({ fit.moments.noise, fit.moments.tau }, { again.moments.noise, again.moments.tau })
  end)

  it("is not in the file of a run without privacy, but with raw = true", function()
    local fit, path = exact(obj), os.tmpname()
    assert.is_nil(pn.load(fit:save(path)).moments)
    assert.is_not_nil(pn.load(fit:save(path, { raw = true })).moments)
    os.remove(path)
  end)

  it("refuses what it cannot make", function()
    local fit = run(obj, { epsilon = 0.05, delta = 1e-6 })
    local function refused(text, f) assert.truthy(refusal(f):find(text, 1, true)) end
    refused("from 1 to 4, got 7", function() fit:path { columns = { 7 } } end)
    refused("columns must increase", function() fit:path { columns = { 2, 2 } } end)
    refused("columns must be numbers", function() fit:path { columns = { 0 } } end)
    refused("has no minimum", function() fit:path { ridge = { 0 } } end)
    refused(">= 0", function() fit:path { ridge = { -1 } } end)
    refused("keeps no second moments", function()
      pn.solve.newton(obj, { privacy = false, progress = false }):path()
    end)
  end)

  -- The control leaves the spread of the sample out, which shows where the noise is small.
  for k, case in ipairs { { 2000, 8, true }, { 2000, 1 }, { 10000, 1 }, { 10000, 0.2 } } do
    tier.it(law, k == 1)(("cover as they say: n = %d, epsilon = %g"):format(case[1], case[2]), function()
      local runs, noise, population, control = tier.times(100, 400), 0, 0, 0
      for seed = 1, runs do
        local x, y = linear(1000 + seed, case[1], 5, 0.15, 0.6)
        local here = objective(x, y)
        local best, fit = exact(here).theta, run(here, { epsilon = case[2], delta = 1e-6 }, seed)
        local private, total = fit:covariance { of = "privacy", ridge = 0 }, fit:covariance { ridge = 0 }
        local theta = fit:path { ridge = { 0 } }[1].theta
        for j = 1, 5 do
          local off, each = math.abs(theta[j] - 0.6 / math.sqrt(5)), 1 / (5 * runs)
          noise = noise + (math.abs(theta[j] - best[j]) <= 1.96 * math.sqrt(private[j][j]) and each or 0)
          population = population + (off <= 1.96 * math.sqrt(total[j][j]) and each or 0)
          control = control + (off <= 1.96 * math.sqrt(private[j][j]) and each or 0)
        end
      end
      for _, share in ipairs { noise, population } do
        assert.is_true(share >= coverage.floor(runs) and share <= coverage.ceiling(runs), share)
      end
      if case[3] then assert.is_true(control < coverage.floor(runs), control) end
    end)
  end
end)
