-- model_spec.lua -- pn.model: what is chosen, held out, charged and told, and what is refused.
local pn = require "penumbra"
local people = require "tests.tools.people"
local refusal = require "tests.tools.refusal"
local law = require("tests.tools.tier").law(it)
local refused, refused_like = refusal.refused, refusal.refused_like

local csv = people.write(400)
teardown(function() os.remove(csv) end)

local function options(kind, changes)
  local all = { data = csv, recipe = people.recipe(people.labels[kind]), epsilon = 1 }
  for name, value in pairs(changes or {}) do
    if value == people.none then all[name] = nil else all[name] = value end
  end
  return all
end

local function rows(n, high)
  local d = pn.data.synthetic.logistic { n = n or 500, p = 4, seed = 1 }:clip_rows("l2", 1)
  return high and d:with_labels(d.y + 1):clip_labels(0, high) or d
end

describe("pn.model", function()
  it("trains on four fifths of a file, says what was chosen and predicts a file by names", function()
    local m = pn.model.logistic(options "logistic")
    assert.same({ "logistic", 320, 80, 5 }, { m.kind, m.train.n, m.test.n, m.every })
    assert.equal(1 / 400 ^ 2, m.delta)
    local price = m.fit.privacy
    assert.is_true(price.epsilon <= 1 and price.epsilon > 0.999)
    assert.same({ 1 / 400 ^ 2, "replace_one" }, { price.delta, price.neighbours })
    local names = m:predict(csv)
    assert.equal(400, #names)
    for _, name in ipairs(names) do assert.is_true(name == ">50K" or name == "<=50K") end
    assert.equal(m:predict(csv, { labels = false })[7] == 1, names[7] == ">50K")
    assert.equal(400, m:probabilities(csv).rows)
    assert.equal(m.fit:card(), m:card())
    assert.equal(tostring(m.fit:coefficients()), tostring(m:coefficients()))
    local text = tostring(m)
    for _, part in ipairs { "model: logistic regression, label income", m.plan.solver .. ": ",
      "320 train the model; of each 5 in a row one is held out",
      "privacy  epsilon = 1, delta = 6.25e-06, replace_one: holds", "6.25e-06 = 1/n^2, since none was given", "so far",
      'm:predict("new.csv")', "original" } do
      assert.truthy(text:find(part, 1, true), part .. " is not in\n" .. text)
    end
  end)

  it("is the fit that its solver makes of the same rows, bit for bit", function()
    local m = pn.model.linear(options("squared", { rng = pn.rng.seeded(4), delta = 1e-6 }))
    local train = people.recipe(people.labels.squared):data(csv):holdout(5)
    local again = pn.solve.auto(pn.objective { data = train, loss = pn.loss.squared(), clip = m.clip,
      set = pn.set.l2_ball { dim = train.p, radius = 10 } }, { epsilon = 1, delta = 1e-6, rng = pn.rng.seeded(4) })
    assert.same(again.theta:table(), m.fit.theta:table())
    assert.equal(0.4 * train.bounds.usual, m.clip) -- of a small file, whose noise is large
    assert.truthy(tostring(m):find("seeded noise: no privacy", 1, true))
  end)

  it("has the loss and the set of each kind", function()
    local function of(kind, more)
      local m = pn.model[kind](more)
      return tostring(m.plan):match "[%w_]+ loss", tostring(m.plan):match "over +([^\n]*)", m
    end
    local loss, set = of("logistic", { data = rows(), epsilon = 1 })
    assert.same({ "logistic loss", "l2_ball(dim=4, radius=40)" }, { loss, set })
    loss, set = of("linear", { data = rows(), epsilon = 1 })
    assert.same({ "squared loss", "l2_ball(dim=4, radius=10)" }, { loss, set })
    loss, set = of("multinomial", options "softmax")
    assert.same({ "softmax loss", "l2_ball(dim=27, radius=40)" }, { loss, set })
    loss, set = of("lasso", { data = rows(), epsilon = 1 })
    assert.same({ "squared loss", "l1_ball(dim=4, radius=2)" }, { loss, set })
    local m
    loss, set, m = of("poisson", { data = rows(500, 2), epsilon = 1, test = false })
    assert.same({ "poisson loss", ("l2_ball(dim=4, radius=%.10g)"):format(2 * math.log(3)), 1 }, { loss, set, m.clip })
    assert.is_nil(m.test)
    assert.truthy(tostring(m):find("all 500 train the model; none is held out", 1, true))
    loss, set = of("lasso", { data = rows(), epsilon = 1, radius = 3, clip = 0.25 })
    assert.same({ "squared loss", "l1_ball(dim=4, radius=3)" }, { loss, set })
  end)

  -- R = Y = 1; r = c sqrt(p) sigma/n, sigma = 1/mu.
  law("clips gradients by the row norm to be expected and the noise, both public, and not at all without privacy", function()
    local function clip(kind, changes) return pn.model[kind](options(kind == "linear" and "squared" or kind, changes)) end
    local m = clip("logistic", { rng = pn.rng.seeded(1) })
    local u, n, p = m.train.bounds.usual, m.train.n, m.train.p
    assert.is_true(u > 0.6 and u < 1)
    local sigma = pn.calibrate.gaussian { epsilon = 1, delta = m.delta, sensitivity = 1 }
    local function part(least, there, power, of, c)
      return math.max(least, math.min(there * (2e-3 * n / (of * c * p ^ 0.5)) ^ power, 1))
    end
    local expected = {
      { "logistic", {}, part(math.min(u, 0.8), u, 1 / 8, sigma, 2) },
      { "linear", { epsilon = people.none, rho = 10, neighbours = "zero_out" }, part(0.8 * u, 1, 1 / 2, 20 ^ -0.5, 1) / 2 },
      { "logistic", { epsilon = people.none, rho = 100 }, part(math.min(u, 0.8), u, 1 / 8, 200 ^ -0.5, 2) },
      { "linear", {}, part(0.8 * u, 1, 1 / 2, sigma, 2) / 2 },
      { "linear", { epsilon = people.none, rho = 30 }, part(0.8 * u, 1, 1 / 2, 60 ^ -0.5, 2) / 2 },
    }
    for k, row in ipairs(expected) do
      assert.near(row[3], clip(row[1], row[2]).clip, 1e-12, k)
      assert.is_true(row[3] < 1)
    end
    assert.near(0.5, clip("linear", { epsilon = people.none, rho = 1000 }).clip, 1e-12)
    assert.is_nil(clip("logistic", { epsilon = people.none, rho = 1000 }).clip)
    local other = m.train.bounds.l2 * 0.25
    for _, kind in ipairs { "logistic", "linear" } do
      assert.is_nil(clip(kind, { clip = false }).clip)
      assert.equal(other, clip(kind, { clip = other }).clip)
      local free = { epsilon = people.none, privacy = false }
      assert.equal(kind == "linear" and 0.5 or nil, clip(kind, free).clip)
    end
    assert.equal(0.8, pn.model.logistic { data = rows(), epsilon = 1 }.clip) -- no recipe says what rows are like
    for _, line in ipairs(clip("logistic", { clip = 0.25 }).plan.lines) do -- what a record moves follows the clip
      if line.name == "sensitivity Delta" then other = line.value end
    end
    assert.near(2 * 0.25 / n, other, 1e-6 / n)
  end)

  it("takes counts of a file by a recipe, and predicts counts, also from its files", function()
    local m = pn.model.poisson(options("poisson", { epsilon = 8 }))
    assert.same({ 0, 6 }, { m.train.bounds.labels[1], m.train.bounds.labels[2] })
    assert.same({ most = 6, name = "visits" }, m.recipe:label())
    local values, path = m:predict(csv), os.tmpname() .. ".json"
    local X = m.recipe:data(csv, { label = false }).X
    for i = 1, 400 do assert.near(math.exp(X[i]:dot(m.fit.theta)), values[i], 1e-12 * values[i]) end
    local low, high = 0, 0 -- of people of 10 to 40 and of 70 to 99, who have 0 to 4 and 5 to 9 visits
    for i = 1, 400 do
      local age = (i * 37) % 90 + 10
      if age < 40 and i % 11 ~= 0 then low = math.max(low, values[i]) end
      if age > 70 and i % 11 ~= 0 then high = math.max(high, values[i]) end
    end
    assert.is_true(high > low, ("%g, %g"):format(low, high))
    m:save(path)
    assert.same(values:table(), pn.load(path):predict(csv):table())
    m:export(path)
    assert.same(values:table(), pn.load(path):predict(csv):table())
    os.remove(path)
    local rmse = m:evaluate { epsilon = 1, delta = 1e-6 }
    assert.truthy(tostring(rmse):find("RMSE", 1, true))
  end)

  it("learns in an l1 ball of many columns, where the bound on gradients alone would drown it", function()
    local d = pn.data.synthetic.lasso { n = 5000, p = 200, sparsity = 5, seed = 1 }
    d = d:clip_rows("linf", 1):clip_rows("l2", 200 ^ 0.5):clip_labels(-1, 1)
    local m = pn.model.lasso { data = d, epsilon = 4, rng = pn.rng.seeded(1) }
    local held = pn.objective { data = m.test, loss = pn.loss.squared() }
    assert.is_true(held:value(m.fit.theta) < 0.5 * held:value(pn.vec.zeros(200)))
  end)

  it("shows the warnings of its plan first", function()
    local m = pn.model.logistic(options("logistic", { epsilon = 60 }))
    assert.same(m.plan.warnings, m.warnings)
    assert.truthy(m.warnings[1]:find("epsilon = 60 protects next to nothing", 1, true))
    assert.truthy(tostring(m):find("\n  warning  epsilon = 60 protects next to nothing", 1, true))
    for _, warning in ipairs(pn.model.logistic(options "logistic").warnings) do assert.is_nil(warning:find "protects") end
  end)

  it("charges one ledger, once, and nothing where it is refused", function()
    local ledger = pn.ledger { epsilon = 2, delta = 1e-5 }
    pn.model.logistic(options("logistic", { ledger = ledger }))
    assert.equal(1, #ledger:report())
    local spent = ledger.spent
    assert.is_true(spent > 0.5 and spent <= 1)
    for _, changes in ipairs { { epsilon = 5 }, { neighbours = "zero_out" }, { test = 1 }, { recipe = people.none } } do
      changes.ledger = ledger
      refused_like(".", pn.model.logistic, options("logistic", changes))
    end
    assert.equal(spent, ledger.spent)
  end)

  it("trains without noise as a control, by zCDP, and under the other relations", function()
    local control = pn.model.logistic(options("logistic", { epsilon = people.none, privacy = false }))
    assert.is_nil(control.fit.privacy)
    local m = pn.model.logistic(options("logistic", { epsilon = people.none, rho = 0.1 }))
    assert.is_true(m.fit.privacy.rho <= 0.1)
    m = pn.model.logistic(options("logistic", { neighbours = "zero_out" }))
    assert.equal("zero_out", m.fit.privacy.neighbours)
  end)

  it("saves what pn.load gives back", function()
    local path = os.tmpname() .. ".json"
    local m = pn.model.linear(options "squared")
    m:save(path)
    assert.same(m:predict(csv):table(), pn.load(path):predict(csv):table())
    m:export(path)
    assert.same(m:predict(csv):table(), pn.load(path):predict(csv):table())
    os.remove(path)
  end)

  it("refuses what it cannot do, and says what would be right", function()
    local none = people.none
    for _, case in ipairs {
      { "logistic", "data must be the path of a CSV file", options("logistic", { data = 3 }) },
      { "logistic", "recipe= is missing", options("logistic", { recipe = none }) },
      { "logistic", "recipe must be a pn.recipe", options("logistic", { recipe = "r.json" }) },
      { "logistic", "which pn.model.linear takes", options "squared" },
      { "logistic", "which pn.model.multinomial takes", options "softmax" },
      { "linear", "which pn.model.logistic takes", { data = csv, recipe = people.recipe(people.labels.logistic), epsilon = 1 } },
      { "linear", "takes; it must be a range", { data = csv, recipe = people.recipe(people.labels.softmax), epsilon = 1 } },
      { "multinomial", "three classes or more", options "logistic" },
      { "multinomial", "give classes=", { data = rows(), epsilon = 1 } },
      { "poisson", "is a range, which pn.model.linear takes; it must be a count, such as {price = {count = 20}}",
        options "squared" },
      { "poisson", "which pn.model.logistic takes; it must be a count", options "logistic" },
      { "linear", "is a count, which pn.model.poisson takes; it must be a range", options "poisson" },
      { "logistic", "is a count, which pn.model.poisson takes; it must name two classes", options "poisson" },
      { "poisson", "clip_labels(0, most)", { data = rows(), epsilon = 1 } },
      { "logistic", "no label", options("logistic", { recipe = pn.recipe { features = { age = { 17, 90 } } } }) },
      { "logistic", "recipe= reads a file", options("logistic", { data = rows() }) },
      { "logistic", "labels must be -1 and 1", { data = rows(50, 2), epsilon = 1 } },
      { "linear", "clip_labels(low, high)", { data = pn.data.from({ { 1 }, { 2 } }, { 1, 2.5 }):clip_rows("l2", 1), epsilon = 1 } },
      { "logistic", "no bound on the records is enforced: scale the columns by their public ranges",
        { data = pn.data.from({ { 1 }, { 2 } }, { 1, -1 }), epsilon = 1 } },
      { "logistic", "epsilon is missing", options("logistic", { epsilon = none }) },
      { "logistic", "not both", options("logistic", { rho = 1 }) },
      { "logistic", "neither epsilon nor rho", options("logistic", { privacy = false }) },
      { "logistic", "add_remove keeps the number of records secret",
        options("logistic", { neighbours = "add_remove", delta = 1e-6 }) },
      { "logistic", "test must be a whole number from 2", options("logistic", { test = 1 }) },
      { "logistic", "test must be a whole number from 2", options("logistic", { test = true }) },
      { "logistic", "fewer than test = 5", { data = rows(4), epsilon = 1 } },
      { "multinomial", "clip= is not needed", options("softmax", { clip = 1 }) },
      { "linear", "clip", options("squared", { clip = true }) },
      { "logistic", "unknown option 'epsilom'", options("logistic", { epsilom = 1 }) },
      { "logistic", "No such file", options("logistic", { data = "/nowhere" }) },
      { "logistic", "epsilon", options("logistic", { epsilon = -1 }) },
      { "linear", "radius", options("squared", { radius = -1 }) },
    } do
      local message = refused(case[2], pn.model[case[1]], case[3])
      assert.equal(1, message:find("model." .. case[1], 1, true), message)
    end
    refused("expected a table of options, got string", pn.model.linear, csv)
    refused("pn.model has no 'ridge'; it has lasso, linear", function() return pn.model.ridge end)
    refused("a model has no 'predicts'", function() return pn.model.logistic(options "logistic").predicts end)
  end)

  it("is an analyst's, on handles and from the ledger of the curator", function()
    local ledger = pn.ledger { epsilon = 4, delta = 1e-6 }
    local curator = pn.curator { data = { adult = rows(400) }, ledger = ledger, memory = 64, seconds = 20,
      instructions = 100000000, threads = 1 }
    local result = curator:run([[
      local m = pn.model.logistic{data=data.adult, epsilon=1, delta=1e-7}
      print(m)
      return #m.fit.theta, m.test.n, #m:coefficients()
    ]], "a")
    assert.is_true(result.ok, result.error)
    assert.equal("4\t80\t4", result.answer)
    assert.is_true(ledger.spent > 0.5 and ledger.spent <= 1)
    for code, why in pairs {
      ['pn.model.logistic{data="/etc/passwd", recipe={label={y={"0","1"}}, features={x={0,1}}}, epsilon=1}'] = "",
      ['pn.model.logistic{data=data.adult, privacy=false}'] = "",
      ['pn.model.logistic{data=data.adult, epsilon=1, delta=1e-7, rng=pn.rng.seeded(1)}'] = "",
      ['local m = pn.model.logistic{data=data.adult, epsilon=1, delta=1e-7} return m:predict(m.test)[1]'] = "",
    } do
      local spent = ledger.spent
      local refusal_of = curator:run(code, "a")
      assert.is_false(refusal_of.ok, code .. why)
      if not code:find "predict" then assert.equal(spent, ledger.spent) end
    end
  end)
end)
