-- public_spec.lua -- public= of pn.model: what records that are declared public do to a private fit, what they cannot do to its
-- price, and what is said of them.
local pn = require "penumbra"
local people = require "tests.tools.people"
local refusal = require "tests.tools.refusal"
local tier = require "tests.tools.tier"
local law = tier.law(it)
local refused = refusal.refused

local csv, open = people.write(400), people.write(60)
teardown(function()
  os.remove(csv)
  os.remove(open)
end)

local labels = { logistic = "logistic", linear = "squared", lasso = "squared", multinomial = "softmax" }

local function of_file(kind, public, changes)
  local all = { data = csv, recipe = people.recipe(people.labels[labels[kind]]), epsilon = 1, public = public }
  for name, value in pairs(changes or {}) do
    if value == people.none then all[name] = nil else all[name] = value end
  end
  return pn.model[kind](all)
end

-- n records of a linear or a logistic law whose columns have unlike scales, in the unit ball; far: another theta.
local function records(n, kind, seed, far)
  local rng, X, y = pn.rng.seeded(seed), {}, {}
  local theta = far and { -0.6, 3, -1 } or { 0.5, -4, 2 }
  for i = 1, n do
    local e = pn.vec.normal(4, rng)
    local x = { 0.5 + 0.2 * e[1], 0.1 * e[2], 0.2 * e[3] }
    local z = theta[1] * x[1] + theta[2] * x[2] + theta[3] * x[3]
    X[i], y[i] = x, kind == "linear" and z + 0.05 * e[4] or rng:uniform() < 1 / (1 + math.exp(-6 * z)) and 1 or -1
  end
  local d = pn.data.from(pn.mat(X), pn.vec(y)):clip_rows("l2", 1)
  return kind == "linear" and d:clip_labels(-2, 2) or d
end

local function fit(kind, public, seed, changes)
  local all = { data = records(1000, kind, 1), test = false, epsilon = 0.2, public = public, rng = pn.rng.seeded(seed or 1) }
  for name, value in pairs(changes or {}) do all[name] = value end
  return pn.model[kind](all)
end

local function risk(kind, theta)
  local loss = kind == "linear" and pn.loss.squared() or pn.loss.logistic()
  return pn.objective { data = records(4000, kind, 99), loss = loss }:value(theta)
end

-- Of so many runs the mean risk.
local function mean_risk(kind, public, runs)
  local sum = 0
  for seed = 1, runs do sum = sum + risk(kind, fit(kind, public, seed).fit.theta) / runs end
  return sum
end

local parts = { {}, { moment = true }, { moment = true, prior = false }, { prior = false } }

-- {data=, ...}, with offset = false where that is asked for.
local function asked(d, part, offset)
  local all = { data = d, offset = offset }
  for name, value in pairs(part) do all[name] = value end
  return all
end

describe("public= of pn.model", function()
  law("costs nothing and changes no statement, whatever the public records are and however they are used", function()
    for _, kind in ipairs { "linear", "logistic" } do
      for _, part in ipairs(parts) do
        for _, far in ipairs { false, true } do
          local plain, with = pn.ledger { epsilon = 2, delta = 1e-6 }, pn.ledger { epsilon = 2, delta = 1e-6 }
          local a = fit(kind, nil, 1, { ledger = plain, delta = 1e-6, rng = pn.rng.secure() })
          local b = fit(kind, asked(records(50, kind, 2, far), part), 1, { ledger = with, delta = 1e-6, rng = pn.rng.secure() })
          assert.near(a.fit.privacy.epsilon, b.fit.privacy.epsilon, 1e-4)
          assert.is_true(b.fit.privacy.epsilon <= 0.2 and with.spent <= 0.2 and #with:report() == 1)
          for _, name in ipairs { "delta", "neighbours", "accountant", "simulated", "private" } do
            assert.equal(a.fit.privacy[name], b.fit.privacy[name])
          end
          assert.same(b.trained.privacy, b.fit.privacy)
        end
      end
    end
  end)

  it("takes nothing from the private records but what is enforced: others give the same plan and numbers", function()
    for _, kind in ipairs { "linear", "logistic" } do
      local d, other = records(1000, kind, 1), records(1000, kind, 7, true)
      for _, part in ipairs(parts) do
        local a = fit(kind, asked(records(50, kind, 2), part), 1, { data = d })
        local b = fit(kind, asked(records(50, kind, 2), part), 1, { data = other })
        assert.equal(tostring(a.plan), tostring(b.plan))
        assert.same(a.public.theta:table(), b.public.theta:table())
        for _, name in ipairs { "bound", "inside", "weight", "quantile", "text" } do
          assert.equal(a.public[name], b.public[name])
        end
        assert.is_false(a.fit.theta == b.fit.theta)
      end
    end
  end)

  it("has the sensitivity of the residuals' range and of rows as they are clipped in new coordinates", function()
    local public = records(200, "linear", 2)
    local m = fit("linear", { data = public, moment = true })
    assert.same({ true, true, true, 0.95 }, { m.public.offset, m.public.moment, m.public.prior, m.public.quantile })
    assert.is_true(m.public.bound < 0.4)
    assert.near(0.8 * m.public.inside * m.public.bound / 2, m.clip, 1e-12) -- of the bounds of new rows and labels; r = 0.03
    local function sensitivity(of) return tonumber(of.plan.event and tostring(of.plan.event):match "sensitivity=([%d.e+-]+)") end
    assert.near(2 * m.clip / 1000, sensitivity(m), 1e-3 * m.clip / 1000)
    local z = m.train:transform(m.public.map)
    assert.is_true(z.bounds.l2 > 2 * m.public.inside and z.bounds.l2 > m.train.bounds.l2)
    local plain = fit("linear", public)
    assert.same({ true, false, true }, { plain.public.offset, plain.public.moment, plain.public.prior })
    assert.near(0.8 * m.train.bounds.l2 * plain.public.bound / 2, plain.clip, 1e-12)
    assert.near(2 * plain.clip / 1000, sensitivity(plain), 1e-3 * plain.clip / 1000)
    -- about .95 of new public records are within
    local within, fresh = 0, records(2000, "linear", 3):transform(m.public.map)
    for i = 1, fresh.n do within = within + (fresh.X[i]:norm() <= m.public.inside and 1 or 0) end
    assert.near(0.95, within / fresh.n, 0.06) -- 200 public records: four standard errors
  end)

  it("speaks of the file's columns: predictions, coefficients, card and files are of the map folded in", function()
    local path = os.tmpname()
    for _, kind in ipairs { "linear", "logistic", "multinomial" } do
      local m = of_file(kind, { data = open, moment = true })
      local train, z = m.train, m.train:transform(m.public.map)
      local margins = kind == "multinomial" and 3 or 1
      local new, old = m.trained:predict(z.X), m.fit:predict(train.X)
      for i = 1, 20 do
        for k = 1, margins do
          local a = margins == 1 and new[i] or new:get(i, k)
          local b = margins == 1 and old[i] or old:get(i, k)
          if kind == "linear" then a = a + train.X[i]:dot(m.public.theta) end
          assert.near(a, b, 1e-9 * math.max(1, math.abs(a)))
        end
      end
      assert.equal(m.recipe:json(), m.fit.recipe:json())
      assert.equal(tostring(m.fit:coefficients()), tostring(m:coefficients()))
      m:save(path)
      assert.same(m:predict(csv), pn.load(path):predict(csv, kind ~= "linear" and { labels = true } or nil))
      m:export(path .. ".json")
      assert.same(m.fit.theta:table(), pn.load(path .. ".json").theta:table())
      os.remove(path .. ".json")
      local says = (kind == "linear" and "offset" or "start") .. ", second moment, prior from 60 records: declared public by the "
        .. "caller, not covered by the guarantee"
      for _, text in ipairs { m:card(), pn.load(path):card(), tostring(m.fit) } do
        assert.truthy(text:gsub("\n%s*", " "):find(says, 1, true), text)
      end
      assert.truthy(tostring(m):gsub("\n%s*", " "):find("60 records, declared public by the caller: not covered by the guarantee.",
        1, true), tostring(m))
      assert.truthy(tostring(m):find("so far", 1, true))
    end
    os.remove(path)
    assert.is_nil(of_file "logistic":card():find("declared public", 1, true))
  end)

  law("predicts clearly better at the same price where public records are of the same law, and less where not", function()
    -- 12 runs each at epsilon = .2, n = 1000; the factors were fixed before the runs
    for _, kind in ipairs { "linear", "logistic" } do
      local none, good = mean_risk(kind, nil, 12), mean_risk(kind, records(50, kind, 2), 12)
      local floor = risk(kind, pn.solve.exact(pn.objective { data = records(4000, kind, 99), reg = pn.reg.l2(1e-4),
        loss = kind == "linear" and pn.loss.squared() or pn.loss.logistic() }).theta)
      assert.is_true(good - floor < 0.5 * (none - floor), ("%s: %g, %g, %g"):format(kind, none, good, floor))
      assert.is_true(mean_risk(kind, records(50, kind, 2, true), 12) > good) -- the control: another law
    end
  end)

  it("trains without noise, by zCDP, under zero_out and in an l1 ball as without it", function()
    local control = fit("linear", records(50, "linear", 2), 1, { epsilon = nil })
    assert.truthy(control.fit)
    control = pn.model.linear { data = records(500, "linear", 1), privacy = false, public = records(50, "linear", 2) }
    assert.is_nil(control.fit.privacy)
    assert.near(50 / 400, control.public.weight, 1e-12)
    local m = pn.model.logistic { data = records(500, "logistic", 1), rho = 0.1, public = records(50, "logistic", 2) }
    assert.is_true(m.fit.privacy.rho <= 0.1)
    local half = pn.model.logistic { data = records(500, "logistic", 1), rho = 0.1, neighbours = "zero_out",
      public = records(50, "logistic", 2) }
    assert.equal("zero_out", half.fit.privacy.neighbours)
    assert.is_true(half.public.weight < m.public.weight)
    local l1 = of_file("lasso", open)
    assert.same({ true, false, true }, { l1.public.offset, l1.public.moment, l1.public.prior })
    assert.truthy(tostring(l1.plan):find("l1_ball", 1, true))
  end)

  it("says of hopeless noise that it hides what is new, not that a constant were as good", function()
    local m = fit("linear", records(50, "linear", 2), 1, { epsilon = 1e-3 })
    assert.is_true(m.plan.hopeless)
    assert.truthy(m.warnings[1]:find("hide what the private records add to the public model", 1, true))
    assert.is_nil(tostring(m):find("better than a constant", 1, true))
    m = fit("linear", records(50, "linear", 2), 1, { epsilon = 2 })
    assert.same(m.plan.warnings, m.warnings)
  end)

  it("takes counts, whose mean is exp of a number, and classes", function()
    local d = records(600, "linear", 1)
    local visits = d:with_labels(d.y:map(function(y) return pn.clamp(3 * pn.exp(y / 2), 0, 8) end)):clip_labels(0, 8)
    local train, public = visits:split(0.8, pn.rng.seeded(1))
    local m = pn.model.poisson { data = train, test = false, epsilon = 1, public = public }
    assert.same({ false, true }, { m.public.offset, m.public.prior })
    assert.is_true(m.fit.privacy.epsilon <= 1)
    local three = visits:with_labels(visits.y:map(function(y) return 1 + pn.gt(y, 2) + pn.gt(y, 4) end)):clip_labels(1, 3)
    train, public = three:split(0.8, pn.rng.seeded(1))
    m = pn.model.multinomial { data = train, test = false, epsilon = 1, classes = 3, public = { data = public, moment = true } }
    assert.equal(9, #m.fit.theta)
  end)

  it("has no intervals, and neither has newton about a prior: nothing there counts what these do", function()
    local m = fit("linear", records(50, "linear", 2))
    assert.equal("offset, prior from 50 records", m.fit.declared)
    assert.is_nil(m.trained.declared)
    refused("(offset, prior from 50 records), and intervals do not count what these do to theta; ask the fit that it was made of "
      .. "(m.trained of a model), or fit without public=", m.fit.intervals, m.fit)
    local run = pn.solve.newton(pn.objective { data = records(2000, "logistic", 1), loss = pn.loss.logistic(),
      reg = pn.reg.quadratic { A = { { 1, 0.5, 0 }, { 0.5, 1, 0 }, { 0, 0, 1 } } } }, { epsilon = 4, delta = 1e-6 })
    assert.is_nil(run.curvature)
    refused("such as reg.quadratic", run.intervals, run)
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    refused("fit without it, which in public= of a model is the prior: prior = false", m.trained.intervals, m.trained,
      { ledger = ledger, epsilon = 1, delta = 1e-6 })
    assert.equal(0, ledger.spent)
  end)

  it("is not for analysts, whose scripts would have exact models of the records by it", function()
    local ledger = pn.ledger { epsilon = 4, delta = 1e-5 }
    local curator = pn.curator { data = { d = records(300, "logistic", 1) }, ledger = ledger, memory = 128, seconds = 20,
      instructions = 10 ^ 8, threads = 1 }
    local answer = curator:run([[return pn.model.logistic{data=data.d, epsilon=1, delta=1e-6, public=data.d:take(100)}]], "a")
    assert.is_false(answer.ok)
    assert.truthy(answer.error:find("model.logistic: public= is not available to analysts", 1, true), answer.error)
    assert.equal(0, ledger.spent)
  end)

  law("weighs the prior by what a private gradient tells: less as the budget grows, m/n at last", function()
    local function weight(epsilon, more)
      return fit("logistic", asked(records(100, "logistic", 2), more or {}), 1, { epsilon = epsilon }).public.weight
    end
    assert.is_true(weight(0.1) > 10 * weight(0.5) and weight(0.5) > weight(5) and weight(5) > 0.1)
    assert.near(0.1, weight(500), 0.005)
    assert.equal(3, weight(0.1, { prior = 3 }))
    assert.is_nil(weight(0.1, { prior = false }))
  end)

  it("is refused in words where it cannot be meant, and nothing is charged", function()
    local d, ledger = records(200, "logistic", 1), pn.ledger { epsilon = 3, delta = 1e-5 }
    local function wrong(text, public, kind, more)
      local all = { data = d, epsilon = 1, public = public, ledger = ledger }
      for name, value in pairs(more or {}) do all[name] = value end
      return refused("model." .. (kind or "logistic") .. ": " .. text, pn.model[kind or "logistic"], all)
    end
    wrong("public.data and data are the same", d)
    wrong("public.data is a file, and the private data set has no recipe", open)
    wrong("public.data must be the path of a CSV file, a table of columns or a pn.dataset, got 3", 3)
    wrong("public.data has 2 features, the private one 3", (pn.data.synthetic.logistic { n = 90, p = 2, seed = 1 }))
    wrong("public.data has 19 records; 20 are the fewest", records(19, "logistic", 2))
    wrong("public: unknown option 'use'; it takes data, moment, offset, prior, quantile",
      { data = records(50, "logistic", 2), use = 1 })
    wrong("public.moment must be true or false, got 1", { data = records(50, "logistic", 2), moment = 1 })
    wrong("public.prior must be true, false or a number above 0, its weight, got -1",
      { data = records(50, "logistic", 2), prior = -1 })
    wrong("public.offset is for the squared loss, of model.linear and model.lasso; leave it out",
      { data = records(50, "logistic", 2), offset = true })
    local line = records(200, "linear", 1)
    wrong("public.moment changes the coordinates, in which an l1 ball is no longer one; leave it out",
      { data = records(50, "linear", 2), moment = true }, "lasso", { data = line })
    wrong("public.quantile must be a number between 0 and 1, got 1", { data = records(50, "linear", 2), quantile = 1 }, "linear",
      { data = line })
    wrong("public.data and data are the same", csv, "logistic", { data = csv, recipe = people.recipe(people.labels.logistic) })
    wrong("public.data is not of the private data set's recipe", people.recipe(people.labels.squared):data(open), "logistic",
      { data = csv, recipe = people.recipe(people.labels.logistic) })
    refused('with public=, state the ranges of columns from the public records', pn.model.linear, { data = csv, epsilon = 1,
      public = open, recipe = { label = people.labels.squared, features = { age = "number" }, ranges = "private" } })
    assert.equal(0, ledger.spent)
  end)
end)
