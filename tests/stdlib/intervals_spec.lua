-- intervals_spec.lua -- fit:intervals: coverage of the answer without noise and of the population, with a control that forgets the
-- noise; units; what is refused.
local pn = require "penumbra"
local floor = require("tests.tools.coverage").floor
local people = require "tests.tools.people"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

local P, N = 5, 2000
local truth = 0.6 / math.sqrt(P)

-- Rows on the sphere, labels of a linear model with errors of deviation .15.
local function sample(seed, n)
  n = n or N
  local rng = pn.rng.seeded(seed)
  local X, y = {}, pn.vec.zeros(n)
  for i = 1, n do
    local x = rng:sphere(P)
    X[i] = x
    local sum = 0
    for j = 1, P do sum = sum + truth * x[j] end
    y[i] = sum + 0.15 * math.sqrt(-2 * math.log(1 - rng:uniform())) * math.cos(2 * math.pi * rng:uniform())
  end
  return pn.data.from(pn.mat(X), y):clip_rows("l2", 1):clip_labels(-1, 1)
end

local function objective(d)
  return pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = d.p, radius = 5 } }
end

describe("fit:intervals", function()
  law("covers the answer without noise and the population; the sample's spread alone does not", function()
    local covered, runs = { records = 0, population = 0, control = 0 }, 60
    for run = 1, runs do
      local o = objective(sample(run))
      local fit = pn.solve.sufficient_statistics(o, { epsilon = 1, delta = 1e-6, rng = pn.rng.seeded(100 + run) })
      local exact = pn.solve.sufficient_statistics(o, { privacy = false }).theta
      local records, population = fit:intervals { target = "records" }, fit:intervals()
      for j = 1, P do
        local one = population[j]
        if math.abs(exact[j] - fit.theta[j]) <= records[j].high - fit.theta[j] then covered.records = covered.records + 1 end
        if one.low <= truth and truth <= one.high then covered.population = covered.population + 1 end
        if math.abs(truth - one.estimate) <= 1.96 * one.sd_sampling then covered.control = covered.control + 1 end
      end
    end
    local least = floor(runs) * P * runs
    assert.is_true(covered.records >= least, covered.records)
    assert.is_true(covered.population >= least, covered.population)
    assert.is_true(covered.control <= 200 and covered.control >= 60, covered.control) -- 40.6 % by the law
  end)

  law("counts the sample beside the noise: where that is small, the noise alone does not cover the population", function()
    local covered, control, spread, runs, n = 0, 0, 0, 30, 10000
    for run = 1, runs do
      local fit = pn.solve.sufficient_statistics(objective(sample(run, n)), { epsilon = 8, delta = 1e-6, rng = pn.rng.seeded(run) })
      for _, one in ipairs(fit:intervals()) do
        if one.low <= truth and truth <= one.high then covered = covered + 1 end
        if math.abs(truth - one.estimate) <= 1.96 * one.sd_privacy then control = control + 1 end
        spread = spread + one.sd_sampling / (runs * P)
      end
    end
    assert.is_true(covered >= floor(runs) * P * runs, covered)
    assert.is_true(control < floor(runs) * P * runs, control)
    -- of rows on the sphere, mean x x^T = I/P: the deviation is .15 sqrt(P/n)
    assert.near(1, spread / (0.15 * math.sqrt(P / n)), 0.1)
  end)

  it("knows the law of output perturbation", function()
    local o = pn.objective { data = sample(1), loss = pn.loss.squared(), set = pn.set.l2_ball { dim = P, radius = 5 },
      reg = pn.reg.l2(0.1) }
    local fit = pn.solve.output_perturbation(o, { epsilon = 1, delta = 1e-6 })
    local t = fit:intervals { target = "records", level = 0.9 }
    assert.same({ "heuristic", P }, { t.kind, #t }) -- the noise is projected
    assert.near(fit.plan.sigma, t[1].sd_privacy, 1e-12)
    assert.near(1.6448536269514722 * fit.plan.sigma, t[1].high - fit.theta[1], 1e-9)
    refused("target = \"records\" says", fit.intervals, fit)
    assert.near(2.3263478740408408 * fit.plan.sigma, fit:intervals { target = "records", level = 0.9, joint = "bonferroni" }[1].high
      - fit.theta[1], 1e-9)
  end)

  it("is exact for output perturbation without a set, and after the release alone", function()
    local d = pn.data.synthetic.logistic { n = 500, p = 3, seed = 1 }:clip_rows("l2", 1)
    local o = pn.objective { data = d, loss = pn.loss.logistic(), reg = pn.reg.l2(0.1) }
    local options = { epsilon = 1, delta = 1e-6, method = "gd", iterations = 3 }
    local fit = pn.solve.output_perturbation(o, options)
    assert.equal("exact", fit:intervals { target = "records" }.kind)
    local walk = pn.solve.output_perturbation.plan(o, options):steps()
    walk:step()
    local stopped = walk:fit()
    refused("after 1 of 3 steps, before it released anything", stopped.intervals, stopped, { target = "records" })
    local path = os.tmpname()
    os.remove(path)
    fit:save(path)
    local loaded = pn.load(path)
    os.remove(path)
    refused("a fit that was loaded does not keep", loaded.intervals, loaded, { target = "records" })
  end)

  it("says that noise was seeded", function()
    local options = { epsilon = 1, delta = 1e-6, rng = pn.rng.seeded(1) }
    local t = pn.solve.sufficient_statistics(objective(sample(1)), options):intervals()
    assert.is_true(t.simulated)
    assert.truthy(tostring(t):find("the noise is seeded: a simulation", 1, true))
    assert.is_false(pn.solve.sufficient_statistics(objective(sample(1)), { epsilon = 1, delta = 1e-6 }):intervals().simulated)
  end)

  it("claims no coverage for an answer that a set or a regulariser moved", function()
    local d = sample(1)
    local small = pn.set.l2_ball { dim = P, radius = 0.01 }
    for _, o in ipairs { pn.objective { data = d, loss = pn.loss.squared(), set = small },
      pn.objective { data = d, loss = pn.loss.squared(), reg = pn.reg.l2(1) } } do
      local t = pn.solve.sufficient_statistics(o, { epsilon = 1, delta = 1e-6 }):intervals()
      assert.equal("heuristic", t.kind)
      assert.truthy(table.concat(t.notes, "; "):find("no coverage is claimed", 1, true)) -- noise may add a note before it
    end
    assert.equal("approx", pn.solve.sufficient_statistics(objective(d), { epsilon = 1, delta = 1e-6 }):intervals().kind)
  end)

  it("speaks the units of the file", function()
    local csv = people.write(600)
    local recipe = people.recipe(people.labels.squared)
    local d = recipe:data(csv)
    local fit = pn.solve.sufficient_statistics(objective(d), { epsilon = 50, delta = 1e-6 })
    local t, all = fit:intervals(), fit:coefficients()
    assert.equal(#fit.theta + 1, #t)
    local V = fit:covariance { of = "total" }
    for j, one in ipairs(t) do
      assert.near(all[j].original or one.estimate, one.estimate, 1e-9 * math.max(1, math.abs(one.estimate)), one.name)
      if one.unit == "file" and one.name ~= "(constant)" then
        assert.near(math.abs(all[j].original / all[j].scaled) * math.sqrt(V[j][j]), (one.high - one.low) / 2 / 1.959963984540054,
          1e-6 * (one.high - one.low), one.name)
      end
    end
    assert.near(all[#all].original, t[#t].estimate, 1e-6 * math.abs(t[#t].estimate))
    assert.truthy(tostring(t):find("not covered: ", 1, true))
    os.remove(csv)
  end)

  it("refuses what has no interval", function()
    local o = objective(sample(1))
    local fit = pn.solve.sufficient_statistics(o, { epsilon = 1, delta = 1e-6 })
    local other = pn.solve.mirror_descent(o, { epsilon = 1, delta = 1e-6 })
    refused("mirror_descent releases nothing", other.intervals, other)
    refused("cost nothing; leave ledger", fit.intervals, fit, { rho = 1 })
    refused("without privacy", function() pn.solve.sufficient_statistics(o, { privacy = false }):intervals() end)
    refused("level must be", fit.intervals, fit, { level = 1 })
    refused("target must be", fit.intervals, fit, { target = "me" })
    refused("joint must be", fit.intervals, fit, { joint = true })
    refused("unknown option 'leval'", fit.intervals, fit, { leval = 0.9 })
    refused("expected a table", fit.intervals, fit, 0.9)
  end)
end)
