-- curvature_spec.lua -- fit:intervals from released Hessians: newton's covariance against the law of its noise and against a
-- computation written apart, coverage with a control that forgets the noise, bias, undetermined directions, analysts.
-- False alarms: 1e-6 a bound or less; of coverage by tests/tools/coverage.lua.
local pn = require "penumbra"
local floor = require("tests.tools.coverage").floor
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

local function sigmoid(z) return 1 / (1 + math.exp(-z)) end

-- Rows on the sphere, labels of a logistic model whose coefficients are all `one`.
local function sample(seed, n, p, one)
  local rng = pn.rng.seeded(seed)
  local X, y = {}, pn.vec.zeros(n)
  for i = 1, n do
    local x, z = rng:sphere(p), 0
    for j = 1, p do z = z + one * x[j] end
    X[i], y[i] = x, rng:uniform() < sigmoid(z) and 1 or -1
  end
  return pn.data.from(pn.mat(X), y):clip_rows("l2", 1)
end

local function objective(d, parts)
  local all = { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = d.p, radius = 40 } }
  for name, part in pairs(parts or {}) do all[name] = part end
  return pn.objective(all)
end

local function squared(d, parts)
  local o = objective(d:clip_labels(-1, 1), parts)
  return pn.objective { data = o.data, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = d.p, radius = 10 }, reg = o.reg }
end

local function line(plan, name)
  for _, at in ipairs(plan.lines) do
    if at.name == name then return at.value end
  end
end

describe("newton's intervals", function()
  it("have the covariance that a computation written apart has", function()
    local d = sample(1, 500, 3, 0.5)
    local o = squared(d, { reg = pn.reg.l2(0.05) })
    local plan = pn.solve.newton.plan(o, { epsilon = 50, delta = 1e-6, iterations = 1 })
    local fit = plan:run { progress = false }
    local t = fit:intervals { target = "records", level = 0.9 }
    local c, length = fit.curvature, 0
    for j = 1, 3 do length = length + fit.theta[j] ^ 2 end
    -- of the gradient at 0, and of the matrix, which has made the one step; half of the variance beside the diagonal
    local s = math.sqrt(line(plan, "start noise") ^ 2 + line(plan, "majorant noise") ^ 2 / 2 * length)
    assert.near(s, c.gradient_noise, 1e-9 * s)
    assert.near(line(plan, "majorant noise"), c.noise, 1e-12 * c.noise)
    for j = 1, 3 do
      local A, e = c.matrix:copy(), pn.vec.basis(3, j)
      for i = 1, 3 do A:set(i, i, A:get(i, i) + 0.05 + c.damping) end
      local x, sum = A:solve(e), 0
      for i = 1, 3 do sum = sum + x[i] ^ 2 end
      assert.near(s * math.sqrt(sum), t[j].sd_privacy, 1e-9 * t[j].sd_privacy)
      assert.near(1.6448536269514722 * t[j].sd_privacy, t[j].high - fit.theta[j], 1e-9)
    end
  end)

  -- 1200 runs of 2 numbers: the mean of their squares, in deviations, has the deviation sqrt(2/2400) = .029, so that five of
  -- these see a sigma that is 10 % off (mean 1.21 or .81); what the first order leaves is below .005 at this budget.
  law("are as wide as its noise is, over seeded runs", function()
    local o, sum, runs = squared(sample(2, 300, 2, 0.5)), 0, 1200
    local exact = pn.solve.newton(o, { privacy = false, progress = false }).theta
    for run = 1, runs do
      local fit = pn.solve.newton(o, { epsilon = 500, delta = 1e-6, iterations = 1, rng = pn.rng.seeded(run), progress = false })
      for j, one in ipairs(fit:intervals { target = "records", debias = true }) do
        sum = sum + ((one.estimate - exact[j]) / one.sd_privacy) ^ 2
      end
    end
    assert.near(1, sum / runs / 2, 5 * math.sqrt(2 / (2 * runs)))
  end)

  -- The control takes the spread of the sample alone, as one would who forgets the noise; at epsilon 1 that spread is most of
  -- the whole, so that the control shows at .3.
  for _, case in ipairs { { n = 2000, p = 2, epsilon = 0.3, now = true, runs = 40 }, { n = 10000, p = 5, epsilon = 1, runs = 400 },
    { n = 10000, p = 5, epsilon = 0.3, runs = 400 } } do
    tier.it(law, case.now)(("cover the answer without noise and the population: n = %d, epsilon = %g"):format(case.n, case.epsilon),
      function()
        local p, one, runs = case.p, 1 / math.sqrt(case.p), case.runs
        local covered = { records = 0, population = 0, biased = 0, control = 0 }
        for run = 1, runs do
          local o = objective(sample(100 + run, case.n, p, one), { reg = pn.reg.l2(1e-3) })
          local exact = pn.solve.newton(o, { privacy = false, progress = false }).theta
          local fit = pn.solve.newton(o, { epsilon = case.epsilon, delta = 1e-6, rng = pn.rng.seeded(run), progress = false })
          local records, population = fit:intervals { target = "records" }, fit:intervals { debias = true }
          local biased = fit:intervals()
          assert.equal("approx", population.kind)
          for j = 1, p do
            local function count(name, low, value, high)
              if low <= value and value <= high then covered[name] = covered[name] + 1 / p / runs end
            end
            count("records", records[j].low, exact[j], records[j].high)
            count("population", population[j].low, one, population[j].high)
            count("biased", biased[j].low, one, biased[j].high)
            local width = 1.96 * population[j].sd_sampling
            count("control", fit.theta[j] - width, one, fit.theta[j] + width)
          end
        end
        if os.getenv "PN_SHOW" then
          print(("n %d epsilon %g: records %.3f population %.3f (not debiased %.3f) V_S alone %.3f"):format(case.n, case.epsilon,
            covered.records, covered.population, covered.biased, covered.control))
        end
        assert.is_true(covered.records >= floor(runs), covered.records)
        assert.is_true(covered.population >= floor(runs), covered.population)
        if case.epsilon < 1 then assert.is_true(covered.control < floor(runs), covered.control) end
      end)
  end

  it("say by how much the regulariser and the damping pull, and take it away", function()
    local d = sample(3, 4000, 3, 1)
    local o = objective(d, { reg = pn.reg.l2(0.02) })
    local fit = pn.solve.newton(o, { epsilon = 50, delta = 1e-6 })
    local plain, better = fit:intervals(), fit:intervals { debias = true }
    local free = pn.solve.newton(objective(d), { privacy = false, progress = false }).theta
    for j = 1, 3 do
      assert.near(plain[j].estimate - plain[j].bias, better[j].estimate, 1e-12)
      assert.is_true(math.abs(better[j].estimate - free[j]) < 0.3 * math.abs(fit.theta[j] - free[j]), j)
      assert.is_true(plain[j].bias < 0)
    end
    assert.truthy(tostring(plain):find("debias", 1, true))
    assert.is_nil(fit:intervals { target = "records" }.bias)
  end)

  it("are none where the Hessian is lost in its noise", function()
    local rows, y = {}, {}
    local rng = pn.rng.seeded(4)
    for i = 1, 2000 do
      rows[i] = { rng:uniform() - 0.5, 0 } -- a column that never moves has no curvature
      y[i] = rng:uniform() < 0.5 and 1 or -1
    end
    local fit = pn.solve.newton(objective(pn.data.from(rows, y):clip_rows("l2", 1)), { epsilon = 4, delta = 1e-6,
      rng = pn.rng.seeded(1) })
    local t = fit:intervals()
    assert.is_true(t[2].undetermined)
    assert.same({ nil, nil }, { t[2].low, t[2].sd_privacy })
    assert.is_nil(t[1].undetermined)
    assert.truthy(tostring(t):find("direction undetermined", 1, true))
  end)

  it("claim no coverage near the boundary of a set, of clipped gradients, and of a set that the file does not keep", function()
    local d = sample(5, 1000, 3, 1)
    local function kind(parts, ask)
      return pn.solve.newton(objective(d, parts), { epsilon = 8, delta = 1e-6 }):intervals(ask).kind
    end
    assert.equal("approx", kind())
    assert.equal("heuristic", kind { set = pn.set.l2_ball { dim = 3, radius = 0.5 } })
    local free = pn.objective { data = d, loss = pn.loss.logistic() }
    assert.equal("approx", pn.solve.newton(free, { epsilon = 8, delta = 1e-6 }):intervals().kind)
    assert.equal("heuristic", kind { clip = 0.7 })
    assert.equal("approx", kind({ clip = 0.7 }, { target = "records" }))
    local path = os.tmpname()
    local fit = pn.solve.newton(objective(d), { epsilon = 8, delta = 1e-6 })
    local loaded = pn.load(fit:save(path))
    os.remove(path)
    local a, b = fit:intervals(), loaded:intervals()
    assert.equal("heuristic", b.kind)
    for j = 1, 3 do assert.near(a[j].low, b[j].low, 1e-12) end
  end)

  it("cost nothing", function()
    local ledger = pn.ledger { rho = 1 }
    local fit = pn.solve.newton(objective(sample(6, 500, 2, 1)), { rho = 0.5, ledger = ledger })
    local spent = ledger.spent
    fit:intervals()
    assert.equal(spent, ledger.spent)
  end)

  it("refuse what nothing was released about", function()
    local d = sample(7, 500, 2, 1)
    local fit = pn.solve.newton(squared(d), { epsilon = 8, delta = 1e-6 })
    refused("solve.sufficient_statistics has both", fit.intervals, fit)
    assert.equal(2, #fit:intervals { target = "records" })
    local one = pn.solve.newton(objective(d), { epsilon = 8, delta = 1e-6, hessians = 1 })
    refused("released no Hessian near its end", one.intervals, one)
    refused("debias must be", fit.intervals, fit, { debias = 1 })
  end)
end)
