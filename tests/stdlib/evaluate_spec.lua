-- evaluate_spec.lua -- pn.evaluate: figures and intervals from noisy counts, what is charged, and what is refused.
local pn = require "penumbra"
local figures = require "penumbra.evaluation.figures"
local people = require "tests.tools.people"
local refused = require("tests.tools.refusal").refused
local scores = require "penumbra.scores"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local Z = 1.959963984540054

-- A stream of standard normals, the same everywhere.
local function normals(seed)
  local rng = pn.rng.seeded(seed)
  return function() return math.sqrt(-2 * math.log(1 - rng:uniform())) * math.cos(2 * math.pi * rng:uniform()) end
end

-- Counts of n records, 30 % of label 1, whose scores are two overlapping triangles.
local function shapes(n, bins)
  local counts, P, N = {}, 0, 0
  for j = 1, bins do
    counts[j], counts[bins + j] = bins + 1 - j, j
    N, P = N + counts[j], P + counts[bins + j]
  end
  for j = 1, bins do counts[j], counts[bins + j] = 0.7 * n * counts[j] / N, 0.3 * n * counts[bins + j] / P end
  return counts
end

local function brute_auc(counts, bins)
  local sum, P, N = 0, 0, 0
  for i = 1, bins do
    P, N = P + counts[bins + i], N + counts[i]
    for j = 1, bins do
      sum = sum + counts[bins + i] * counts[j] * (i > j and 1 or i == j and 0.5 or 0)
    end
  end
  return sum / (P * N)
end

local function named(found)
  local out = {}
  for _, one in ipairs(found.list) do out[one.name] = one end
  return out
end

describe("figures of counts", function()
  it("are those of the records when there is no noise", function()
    local counts = shapes(1000, 20)
    local found = figures.two(counts, 20, 1e-9, 1000, Z)
    local by = named(found)
    local right, loss = 0, 0
    for j = 1, 20 do
      local p = (j - 0.5) / 20
      right = right + (j > 10 and counts[20 + j] or counts[j])
      loss = loss - counts[20 + j] * math.log(p) - counts[j] * math.log(1 - p)
    end
    assert.near(right / 1000, by.accuracy.value, 1e-12)
    assert.near(loss / 1000, by.log_loss.value, 1e-12)
    assert.near(0.3, by.positives.value, 1e-12)
    assert.near(brute_auc(counts, 20), by.auc.value, 1e-12)
    assert.near(math.sqrt(0.3 * 0.7 / 1000), by.positives.sampling, 1e-12)
    local c = found.confusion
    assert.near(right, c.true_positive + c.true_negative, 1e-9)
    assert.near(1000, c.true_positive + c.true_negative + c.false_positive + c.false_negative, 1e-9)
    assert.same({ 0, 0, 21 }, { found.roc.fpr[1], found.roc.tpr[1], #found.roc.fpr })
    assert.near(1, found.roc.tpr[21], 1e-12)
    assert.near(counts[20 + 5] / (counts[5] + counts[20 + 5]), found.calibration[5].share, 1e-12)
  end)

  law("have the noise that the delta method says, and no bias", function()
    for _, case in ipairs { { 5000, 0.2, 0.011 }, { 5000, 0.05, 0.04 } } do
      local n, mu, roughly = table.unpack(case)
      local counts, s, draw = shapes(n, 20), math.sqrt(2) / mu, normals(3)
      local sums, runs = {}, 3000
      for _ = 1, runs do
        local noisy = {}
        for c = 1, 40 do noisy[c] = counts[c] + s * draw() end
        for name, one in pairs(named(figures.two(noisy, 20, s, n, Z))) do
          local at = sums[name] or { 0, 0 }
          sums[name], at[1], at[2] = at, at[1] + one.value, at[2] + one.value ^ 2
        end
      end
      local exact = named(figures.two(counts, 20, s, n, Z))
      for _, name in ipairs { "accuracy", "auc", "log_loss", "positives" } do
        local mean = sums[name][1] / runs
        local deviation = math.sqrt(sums[name][2] / runs - mean ^ 2)
        assert.near(1, deviation / exact[name].noise, 0.05, name) -- 3.9 deviations of it; a factor of 1.1 is 7.7 of them
        assert.near(exact[name].value, mean, 0.12 * exact[name].noise, name)
      end
      assert.near(roughly, exact.auc.noise, 0.4 * roughly)
    end
  end)

  it("leave out an area of too few records, and bins of too few", function()
    local counts = shapes(100, 20)
    local found = figures.two(counts, 20, 5, 100, Z)
    assert.is_nil(named(found).auc)
    assert.truthy(found.no_auc:find "^too few: 30 records of a class")
    assert.is_nil(found.calibration[1].share)
  end)

  it("of several classes, one share and errors", function()
    local found = figures.several({ 30, 5, 5, 2, 20, 8, 1, 9, 20 }, 3, 1e-9, 100, Z)
    assert.near(0.7, found.list[1].value, 1e-9)
    assert.near(math.sqrt(0.7 * 0.3 / 100), found.list[1].sampling, 1e-9)
    assert.near(8, found.confusion[2][3], 1e-9)
    local share = figures.share(0.8, 0.01, 400, Z).list[1]
    assert.near(Z * math.sqrt(1e-4 + 0.16 / 400), share.high - share.value, 1e-12)
    local rmse = figures.error({ 0.04, 0.01 }, 1e-12, 100, Z, 10).list[1]
    assert.near(2, rmse.value, 1e-9)
    assert.near(10 * math.sqrt(0.04 + Z * math.sqrt((0.01 - 0.0016) / 100)), rmse.high, 1e-9)
  end)

  it("keep the spread of errors whose noisy second moment is below the square of the first", function()
    local s, n = 0.05, 100
    local hidden = figures.error({ 0.25, 0.04 }, s, n, Z, 10).list[1] -- the root of the first: 5, its slope 10
    assert.near(10 * math.sqrt((0.04 + s - 0.0625) / n), hidden.sampling, 1e-9)
    local most = figures.error({ 0.25, 0.9 }, s, n, Z, 10).list[1]
    assert.near(10 * math.sqrt(0.25 * 0.75 / n), most.sampling, 1e-9)
  end)

  it("have quantiles of the normal law", function()
    assert.near(Z, scores.quantile(0.975), 1e-12)
    assert.near(2.5758293035489004, scores.quantile(0.995), 1e-12)
    assert.near(0.6744897501960817, scores.quantile(0.75), 1e-12)
    assert.near(4.891638475698590, scores.quantile(1 - 0.5e-6), 1e-9)
  end)
end)

local data = pn.data.synthetic.logistic { n = 3000, p = 4, seed = 1 }:clip_rows("l2", 1)
local train, test = data:holdout(3)

local function fit_of(d, loss, k)
  local ball = pn.set.l2_ball { dim = (k or 1) * d.p, radius = 20 }
  return pn.solve.gradient_descent(pn.objective { data = d, loss = loss, set = ball }, { privacy = false, iterations = 50 })
end
local fit = fit_of(train, pn.loss.logistic())

local function counted(cells, width)
  local out = {}
  for c = 1, width do out[c] = 0 end
  for i = 1, cells.n do
    local c = math.tointeger(cells.X[i][1]) + 1
    out[c] = out[c] + 1
  end
  return out
end

describe("scores of records", function()
  it("are the model's bins, answers and errors, and those of a neighbour move one record", function()
    local z = fit:predict(test)
    local cells, right = scores.of(fit, test, "bins", 20, 1), scores.of(fit, test, "right", 2, 1)
    local sum = 0
    for i = 1, test.n do
      local want = math.min(19, math.floor(20 / (1 + math.exp(-z[i])))) + (test.y[i] > 0 and 20 or 0)
      assert.equal(want, cells.X[i][1])
      sum = sum + right.X[i][1]
      assert.equal((z[i] > 0) == (test.y[i] > 0) and 1 or 0, right.X[i][1])
    end
    assert.near(pn.objective { data = test, loss = pn.loss.logistic() }:accuracy(fit.theta), sum / test.n, 1e-12)
    local X, y = test.X:copy(), test.y:copy()
    y[7] = -y[7]
    local other = scores.of(fit, pn.data.from(X, y), "bins", 20, 1)
    local a, b, moved = counted(cells, 40), counted(other, 40), 0
    for c = 1, 40 do moved = moved + (a[c] - b[c]) ^ 2 end
    assert.equal(2, moved)
    local linear = fit_of(train, pn.loss.squared())
    local error = scores.of(linear, test, "error", 2, 1.5)
    local w = linear:predict(test)
    for i = 1, 50 do
      local u = math.min(1, ((w[i] - test.y[i]) / 1.5) ^ 2)
      assert.near(u, error.X[i][1], 1e-14)
      assert.near(u * u, error.X[i][2], 1e-14)
    end
  end)
end)

describe("pn.evaluate", function()
  it("finds the figures of the records when the price is high", function()
    local e = pn.evaluate { model = fit, data = test, rho = 1e9, bins = 1000 }
    assert.near(pn.objective { data = test, loss = pn.loss.logistic() }:accuracy(fit.theta), e.accuracy, 1e-4)
    assert.near(pn.objective { data = test, loss = pn.loss.logistic() }:value(fit.theta), e.log_loss, 1e-4)
    assert.is_true(e.auc > 0.5 and e.auc < 1)
    local linear = fit_of(train, pn.loss.squared())
    local r = pn.evaluate { model = linear, data = test, rho = 1e9, range = 10 }
    assert.near(math.sqrt(2 * pn.objective { data = test, loss = pn.loss.squared() }:value(linear.theta)), r.rmse, 1e-4)
    local several = pn.data.synthetic.classification { n = 900, p = 3, classes = 3, seed = 2 }:clip_rows("l2", 4)
    local soft = fit_of(several, pn.loss.softmax { classes = 3 }, 3)
    local c = pn.evaluate { model = soft, data = several, rho = 1e9 }
    local right = pn.objective { data = several, loss = pn.loss.softmax { classes = 3 } }:accuracy(soft.theta)
    assert.near(right, c.accuracy, 1e-4)
    assert.near(right, pn.evaluate { model = soft, data = several, rho = 1e9, figures = { "accuracy" } }.accuracy, 1e-4)
    assert.near(right * 900, c.confusion[1][1] + c.confusion[2][2] + c.confusion[3][3], 0.1)
  end)

  it("charges once, before the noise, what was asked for, and nothing when the ledger is short", function()
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    local e = pn.evaluate { model = fit, data = test, epsilon = 0.6, ledger = ledger }
    assert.equal(1, #ledger:report())
    assert.near(0.6, ledger.spent, 1e-6)
    assert.truthy(tostring(e):find("epsilon = 0.6, delta = 1e-06, replace_one", 1, true))
    refused("ledger", pn.evaluate, { model = fit, data = test, epsilon = 0.9, ledger = ledger })
    assert.equal(1, #ledger:report())
    local sigma, sensitivity = tostring(e.event):match "sigma=([%d.e+]+), sensitivity=([%d.]+)"
    assert.near(math.sqrt(2), tonumber(sensitivity), 1e-6)
    assert.near(pn.event.gaussian { sigma = tonumber(sigma), sensitivity = math.sqrt(2) }:epsilon(1e-6), 0.6, 1e-4)
  end)

  it("adds the noise that was charged", function()
    local exact, s, sum, runs = pn.evaluate { model = fit, data = test, rho = 1e9 }.counts, nil, 0, 100
    for run = 1, runs do
      local e = pn.evaluate { model = fit, data = test, epsilon = 1, delta = 1e-6, rng = pn.rng.seeded(run) }
      s = tonumber(tostring(e.event):match "sigma=([%d.e+]+)")
      for c = 1, 40 do sum = sum + (e.counts[c] - exact[c]) ^ 2 end
    end
    -- 39 of 40 directions are left by the public total: 3900 squares, whose mean has deviation .0226; a factor of 1.1 in the
    -- noise moves it by .21, and the bound is passed by chance once in 10^6
    assert.near(1, sum / (runs * 39) / s ^ 2, 0.115)
  end)

  it("marks seeded noise as a simulation", function()
    local e = pn.evaluate { model = fit, data = test, epsilon = 1, rng = pn.rng.seeded(5) }
    assert.is_true(e.simulated)
    assert.truthy(tostring(e):find("a simulation, seeded noise", 1, true))
    assert.truthy(tostring(e):find("none: the noise is seeded", 1, true))
    refused("seeded", pn.evaluate, { model = fit, data = test, epsilon = 1, rng = pn.rng.seeded(5),
      ledger = pn.ledger { epsilon = 9, delta = 1e-6 } })
  end)

  law("covers the figure of the population, noise and sampling together", function()
    local population = pn.data.synthetic.logistic { n = 60000, p = 4, seed = 1 }:clip_rows("l2", 1)
    local truth = pn.evaluate { model = fit, data = population, rho = 1e9, bins = 20 }
    local covered, runs = { accuracy = 0, auc = 0, log_loss = 0, positives = 0 }, 150
    local noise_alone = 0
    for run = 1, runs do
      local _, part = population:split(1 - 400 / 60000, pn.rng.seeded(run))
      local e = pn.evaluate { model = fit, data = part, epsilon = 4, rng = pn.rng.seeded(1000 + run), bins = 20 }
      for _, one in ipairs(e.figures) do
        if one.low <= truth[one.name] and truth[one.name] <= one.high then covered[one.name] = covered[one.name] + 1 end
        if one.name == "accuracy" and math.abs(one.value - truth.accuracy) <= Z * one.noise then noise_alone = noise_alone + 1 end
      end
    end
    -- of 150 at 95 %: below 125 with probability 3e-7; the control, which forgets the sampling, must fall short
    for name, count in pairs(covered) do assert.is_true(count >= 125, name .. ": " .. count .. " of 150") end
    assert.is_true(noise_alone < 125, noise_alone .. " of 150 by the noise alone")
  end)

  it("takes a file by the model's recipe, and m:evaluate the part that was held out", function()
    local csv = people.write(400)
    local m = pn.model.linear { data = csv, recipe = people.recipe(people.labels.squared), epsilon = 4 }
    local e = pn.evaluate { model = m, data = csv, epsilon = 4 }
    assert.same({ 400, "rmse" }, { e.records, e.figures[1].name })
    assert.is_true(e.rmse > 1000 and e.rmse < 90000, tostring(e))
    assert.equal(80, m:evaluate { epsilon = 4 }.records)
    refused("not of the model's recipe", pn.evaluate, { model = m, data = people.recipe(people.labels.logistic):data(csv),
      epsilon = 1, range = 1 })
    os.remove(csv)
  end)

  it("refuses what it cannot do, and says what would be right", function()
    local linear = fit_of(train, pn.loss.squared())
    local hinge = fit_of(train, pn.loss.smooth_hinge {})
    local function case(changes)
      local all = { model = fit, data = test, epsilon = 1 }
      for name, value in pairs(changes) do
        if value == people.none then all[name] = nil else all[name] = value end
      end
      return all
    end
    for _, row in ipairs {
      { "model must be a fit", { model = 3 } }, { "model must be a fit", { model = {} } }, { "data must be", { data = 3 } },
      { "no recipe", { data = "x.csv" } }, { "give epsilon", { epsilon = people.none } }, { "give epsilon", { rho = 1 } },
      { "not both", { epsilon = people.none, rho = 1, delta = 1e-6 } }, { "bins must be", { bins = 7 } },
      { "bins must be", { bins = 0 } },
      { "confidence must be", { confidence = 1 } }, { "figures must be", { figures = { "auc" } } },
      { "unknown option 'epsilom'", { epsilom = 1 } }, { "delta is missing", { neighbours = "add_remove" } },
      { "private", { neighbours = "add_remove", delta = 1e-6, figures = { "accuracy" } } },
      { "range must be", { model = linear, range = -1 } }, { "no accuracy", { model = linear, figures = { "accuracy" } } },
      { "features", { data = pn.data.from({ { 1 } }, { 1 }) } }, { "epsilon", { epsilon = -1 } },
      { "range is missing", { model = linear, data = pn.data.from({ { 1, 2, 3, 4 } }, { 2.5 }) } },
      { "the ledger's", { ledger = pn.ledger { epsilon = 1, delta = 1e-6 }, neighbours = "zero_out" } },
    } do
      local message = refused(row[1], pn.evaluate, case(row[2]))
      assert.equal(1, message:find("evaluate", 1, true), message)
    end
    assert.equal("accuracy", pn.evaluate { model = hinge, data = test, epsilon = 1 }.figures[1].name)
    local e = pn.evaluate { model = fit, data = test, epsilon = 1, delta = 1e-6, neighbours = "add_remove" }
    assert.equal("add_remove", e.neighbours)
    assert.is_true(e.records ~= test.n and math.abs(e.records - test.n) < 200, e.records) -- the noisy total, not the number
    assert.truthy(tostring(e):find "^evaluation of about %d+ records")
  end)

  it("is an analyst's, from the curator's ledger", function()
    local ledger = pn.ledger { epsilon = 8, delta = 1e-6 }
    local curator = pn.curator { data = { adult = data }, ledger = ledger, memory = 64, seconds = 20, instructions = 100000000,
      threads = 1 }
    local result = curator:run([[
      local m = pn.model.logistic{data=data.adult, epsilon=1, delta=1e-7}
      local e = m:evaluate{epsilon=1, delta=1e-7}
      print(e)
      return #e.figures, e.neighbours
    ]], "a")
    assert.is_true(result.ok, result.error)
    assert.equal("4\treplace_one", result.answer)
    assert.equal(2, #ledger:report())
    for _, code in ipairs {
      "return pn.evaluate{model=pn.model.logistic{data=data.adult, epsilon=.1, delta=1e-7}, data=data.adult, epsilon=1, "
        .. "delta=1e-7, rng=pn.rng.seeded(1)}",
      "return require('penumbra.scores')",
    } do
      assert.is_false(curator:run(code, "a").ok)
    end
  end)
end)
