-- ranges_spec.lua -- pn.recipe.estimate and ranges = "private": what is released, at which price, and what is refused; and the law
-- of pn.query.quantile with lean.
local pn = require "penumbra"
local people = require "tests.tools.people"
local refused = require("tests.tools.refusal").refused

-- A table of n records: age from 20 to 79, spent from 100 to 1099, in an order of its own.
local function shop(n)
  local age, spent = {}, {}
  for i = 1, n do age[i], spent[i] = 20 + (i * 37) % 60, 100 + (i * 613) % 1000 end
  return { age = age, spent = spent }
end

describe("pn.query.quantile with lean", function()
  it("draws candidates by the law: the usual one times weights that fall from 0", function()
    local points, lean, epsilon, q = { -8, -2, 0, 1, 2, 4, 8, 16, 32 }, 0.7, 0.3, 0.75
    local X = {}
    for i = 1, 30 do X[i] = { (i % 10) / 2 } end
    local d = pn.data.from(X, pn.vec.zeros(30))
    local weight, total = {}, 0
    for c, point in ipairs(points) do
      local upto, below = 0, 0
      for i = 1, 30 do
        if X[i][1] <= point then upto = upto + 1 end
        if X[i][1] < point then below = below + 1 end
      end
      local score = -math.max(0, below - q * 30, q * 30 - upto)
      weight[c] = math.exp(epsilon / 2 * score - lean * math.abs(c - 3))
      total = total + weight[c]
    end
    local counts, draws, rng = {}, 4000, pn.rng.seeded(8)
    local ledger = pn.ledger { epsilon = 1e4, teaching = true }
    for _ = 1, draws do
      local answer = pn.query.quantile { data = d, column = 1, candidates = points, q = q, epsilon = epsilon, lean = lean,
        ledger = ledger, rng = rng }
      counts[answer.value] = (counts[answer.value] or 0) + 1
    end
    local chi2 = 0
    for c, point in ipairs(points) do
      local expected = draws * weight[c] / total
      chi2 = chi2 + ((counts[point] or 0) - expected) ^ 2 / expected
    end
    assert.is_true(chi2 < 45, chi2) -- 8 degrees of freedom: 1e-6 lies above 42.7
    assert.is_true(counts[-8] ~= nil or weight[1] / total < 0.01)
  end)

  it("refuses a lean below 0", function()
    refused("lean", pn.query.quantile, { data = pn.data.from({ { 1 } }, { 1 }), column = 1, candidates = { 0, 1 }, q = 0.5,
      epsilon = 1, lean = -1, ledger = pn.ledger { epsilon = 9 } })
  end)
end)

describe("pn.recipe.estimate", function()
  it("closes open columns and the label around the records, for one price", function()
    local ledger = pn.ledger { rho = 1 }
    local recipe, found = pn.recipe.estimate { data = shop(4000), rho = 0.5, ledger = ledger,
      recipe = { label = { spent = "number" }, features = { age = { range = "private", missing = "indicator" } } } }
    assert.near(0.5, ledger.spent, 1e-5)
    assert.equal(1, #ledger:report())
    assert.equal(4, ledger:report()[1].count)
    assert.same({ "age", "spent" }, { found[1].name, found[2].name })
    assert.near(math.sqrt(8 * 0.5 / 4), found.epsilon, 1e-12)
    -- at this price the noise is far below a step of the grid: the candidates next to the quantiles
    assert.near(22.627, found[1].low, 1e-2)
    -- candidates beyond 79 tie, and fall by exp(-1/2) a step: above 2^30 with probability 1e-10
    assert.is_true(found[1].high > 90 and found[1].high < 2 ^ 30)
    local label = recipe:label()
    assert.near(128, label.low, 1e-9)
    assert.near(1024, label.high, 1e-9)
    assert.equal(3, recipe.p)
    assert.truthy(tostring(found):find("ranges, estimated: quantiles 0.05 and 0.95", 1, true))
    assert.equal("age=missing", recipe:features()[2].name)
  end)

  it("reads a file, keeps the order of a list", function()
    local csv = people.write(2000)
    local recipe, found = pn.recipe.estimate { data = csv, epsilon = 20, ledger = pn.ledger { epsilon = 20 }, recipe = {
      label = { income = { "<=50K", ">50K" } }, features = { { name = "price", range = "private" }, { name = "member", "flag" },
        { name = "age", range = "private", missing = "indicator" } } } }
    assert.same({ "price", "member", "age" }, { recipe:features()[1].name, recipe:features()[2].name, recipe:features()[3].name })
    assert.equal(400 * 5, recipe:data(csv).n)
    assert.same({ 2, 20 / 4 }, { #found, found.epsilon })
    os.remove(csv)
  end)

  it("writes into the recipe what it cost, which changes no number", function()
    local ledger = pn.ledger { rho = 1, neighbours = "zero_out" }
    local recipe = pn.recipe.estimate { data = shop(4000), rho = 0.5, ledger = ledger,
      recipe = { label = { spent = "number" }, features = { age = "number" } } }
    local paid = recipe.estimated
    assert.same({ { "age", "spent" }, "zero_out", false, 0 }, { paid.columns, paid.neighbours, paid.simulated, paid.delta })
    assert.near(0.5, paid.rho, 1e-12)
    assert.near(4 * math.sqrt(8 * 0.5 / 4), paid.epsilon, 1e-12)
    assert.truthy(tostring(recipe):find("estimated from records: age, spent, for epsilon = 4 (rho = 0.5),\n    zero_out", 1, true),
      tostring(recipe))
    local again = pn.recipe.from_json(recipe:json())
    assert.equal(recipe:json(), again:json())
    assert.same(paid, again.estimated)
    local old = pn.recipe.from_json((recipe:json():gsub(',"estimated":%b{}', "")))
    assert.is_nil(old.estimated)
    assert.same(old:data(shop(9)).X:vec():table(), recipe:data(shop(9)).X:vec():table())
    local seeded = pn.recipe.estimate { data = shop(4000), epsilon = 4, ledger = pn.ledger { epsilon = 4, teaching = true },
      rng = pn.rng.seeded(1), recipe = { features = { age = "number" } } }
    assert.is_true(seeded.estimated.simulated)
    assert.truthy(tostring(seeded):find("seeded", 1, true))
  end)

  it("refuses a recipe that says nonsense of what was estimated", function()
    local fine = { columns = { "a" }, epsilon = 1, delta = 0, neighbours = "replace_one", simulated = false }
    local function with(name, value)
      local said = {}
      for k, v in pairs(fine) do said[k] = v end
      said[name] = value
      return { features = { a = { 0, 1 } }, estimated = said }
    end
    assert.equal(1, pn.recipe(with("delta", 0)).estimated.epsilon)
    for name, values in pairs { columns = { {}, "a", { 1 } }, epsilon = { 0, -1, "1" }, delta = { 1, -1 },
      rho = { 0, -1, "x" }, neighbours = { "all", 3 }, simulated = { 1 } } do
      for _, value in ipairs(values) do refused("recipe: estimated must have", pn.recipe, with(name, value)) end
    end
    refused("has no 'epsilom'; the nearest is epsilon", pn.recipe, with("epsilom", 1))
  end)

  it("finds the levels of columns that nobody knows, at its price", function()
    local data, ledger = shop(4000), pn.ledger { epsilon = 2, delta = 1e-5 }
    data.job, data.town = {}, {}
    for i = 1, 4000 do
      data.job[i] = i % 40 == 0 and "one" .. i or i % 9 == 0 and "missing" or ({ "cook", "clerk", "other" })[i % 3 + 1]
      data.town[i] = i % 2 == 0 and "NA" or "only " .. i
    end
    local recipe, found = pn.recipe.estimate { data = data, epsilon = 1.5, delta = 1e-6, ledger = ledger, recipe = {
      features = { age = "number", job = { levels = "private", missing = "indicator", weight = 2 }, town = "category" } } }
    local names = {}
    for k, feature in ipairs(recipe:features()) do names[k] = feature.name end
    -- "missing" is the indicator's name; of town no level is left
    assert.same({ "age", "job=clerk", "job=cook", "job=other", "job=missing", "intercept" }, names)
    assert.is_true(ledger.spent <= 1.5 and ledger.spent > 1.45, tostring(ledger.spent))
    local entries = ledger:report()
    assert.same({ 2, 2, 2 }, { #entries, entries[1].count, entries[2].count })
    assert.near(0.5, recipe.estimated.epsilon / 3, 1e-12)
    assert.same({ 1e-6, { "age", "job", "town" } }, { recipe.estimated.delta, recipe.estimated.columns })
    assert.is_nil(recipe.estimated.rho)
    local text = tostring(found)
    assert.truthy(text:find("job              2 and \"other\"", 1, true), text)
    assert.truthy(text:find("town             none: the column was left out", 1, true), text)
    assert.is_nil(text:find("one", 60, true) and text:find("one40", 1, true))
    for _, case in ipairs {
      { "levels need delta", { delta = people.none } }, { "levels need delta", { delta = 2 } },
      { "levels need a delta", { ledger = pn.ledger { epsilon = 9 } } },
      { "records are too few: a level", { delta = 1e-60, epsilon = 0.1,
        recipe = { features = { job = { levels = "private", missing = "indicator" } } } } },
      { "one of its categories or \"other\"", { recipe = { features = { job = { levels = "private", missing = "cook" } } } } },
      { "no level of any column", { recipe = { features = { town = "category" } },
        ledger = pn.ledger { epsilon = 9, delta = 1e-5 } } },
    } do
      local options = { data = data, epsilon = 0.1, delta = 1e-7, ledger = ledger,
        recipe = { features = { job = "category" } } }
      if case[1]:find "no level" then options.epsilon = 1 end
      for name, value in pairs(case[2]) do
        if value == people.none then options[name] = nil else options[name] = value end
      end
      local spent = ledger.spent
      refused(case[1], pn.recipe.estimate, options)
      assert.equal(spent, ledger.spent)
    end
  end)

  it("refuses before anything is spent", function()
    local ledger, data, open = pn.ledger { epsilon = 1 }, shop(4000), { features = { age = "number" } }
    for _, case in ipairs {
      { "no column is open", { recipe = { features = { age = { 1, 2 } } } } }, { "are too few", { data = shop(40) } },
      { "are too few: a quantile at epsilon", { epsilon = 1e-300 } }, { "are too few", { tail = 5e-324 } },
      { "give epsilon or rho", { epsilon = people.none } }, { "give epsilon or rho", { rho = 1 } },
      { "epsilon must be", { epsilon = -1 } }, { "ledger is missing", { ledger = people.none } },
      { "does not cover", { epsilon = 2 } }, { "tail must be", { tail = 0.5 } }, { "unknown option 'tial'", { tial = 0.1 } },
      { "add_remove", { ledger = pn.ledger { epsilon = 1, neighbours = "add_remove" } } }, { "data must be", { data = 3 } },
      { "recipe must be a table", { recipe = "r" } }, { "features", { recipe = {} } },
      { "column 'weight'", { recipe = { features = { weight = "number" } } } },
    } do
      local options = { data = data, recipe = open, epsilon = 1, ledger = ledger }
      for name, value in pairs(case[2]) do
        if value == people.none then options[name] = nil else options[name] = value end
      end
      local message = refused(case[1], pn.recipe.estimate, options)
      assert.equal(1, message:find("recipe.estimate", 1, true), message)
      assert.equal(0, ledger.spent)
    end
  end)
end)

describe("a model with private ranges", function()
  it("costs what was asked, ranges and fit together", function()
    local m = pn.model.linear { data = shop(4000), epsilon = 2, share = 0.3,
      recipe = { ranges = "private", label = { spent = { 0, 1200 } }, features = { age = "number" } } }
    assert.is_true(m.together.spent <= 2 and m.together.remaining < 0.05, tostring(m.together))
    assert.is_true(m.fit.privacy.epsilon < 1.67 and m.fit.privacy.epsilon > 1.3, m.fit.privacy.epsilon) -- 1.67: sqrt(.7) of 2
    assert.equal(1 / 4000 ^ 2, m.default_delta)
    assert.truthy(tostring(m):find("ranges, estimated", 1, true))
    local r = pn.model.linear { data = shop(4000), rho = 0.4,
      recipe = { ranges = "private", label = { spent = { 0, 1200 } }, features = { age = "number" } } }
    assert.is_true(r.together.spent <= 0.4 and r.together.spent > 0.39)
  end)

  it("pays for levels, too, and says so on the card and in its files", function()
    local data, job = shop(4000), {}
    for i = 1, 4000 do job[i] = ({ "cook", "clerk" })[i % 2 + 1] end
    data.job = job
    local recipe = { ranges = "private", label = { spent = { 0, 1200 } }, features = { age = "number", job = "category" } }
    local m = pn.model.linear { data = data, epsilon = 4, recipe = recipe }
    assert.is_true(m.together.spent <= 4, tostring(m.together))
    assert.is_true(m.fit.privacy.epsilon > 2.4 and m.fit.privacy.epsilon < 4)
    assert.same({ "clerk", "cook" }, { m.recipe:features()[2].category, m.recipe:features()[3].category })
    assert.near(0.2 / 4000 ^ 2, m.recipe.estimated.delta, 1e-20)
    assert.truthy(tostring(m):find("levels, estimated: those of", 1, true))
    local card = m:card()
    assert.truthy(card:find("estimated from records: age, job, for epsilon = ", 1, true), card)
    assert.truthy(card:gsub("%s+", " "):find("were estimated cost what is said above, beside the training", 1, true), card)
    local path = os.tmpname() .. ".json"
    m:export(path)
    assert.same(m.recipe.estimated, pn.load(path).recipe.estimated)
    os.remove(path)
    refused("a budget of rho has none: state the levels", pn.model.linear, { data = data, rho = 0.5, recipe = recipe })
    recipe.features.age, recipe.ranges = { 20, 80 }, nil
    refused('column \'job\' has no levels: list them, {"a", "b"}', pn.model.linear, { data = data, epsilon = 2, recipe = recipe })
  end)

  it("pays for no range where the rest of the call is wrong", function()
    local d = shop(4000)
    local recipe = { ranges = "private", label = { spent = { 0, 1200 } }, features = { age = "number" } }
    local function spent() return tostring(pn.session()) end
    local before = spent()
    for _, case in ipairs {
      { "test must be", { test = 1 } }, { "radius", { radius = -1 } }, { "epsilon", { epsilon = -1 } },
      { "neighbours must be", { neighbours = "add_remove" } },
      { "which pn.model.logistic takes",
        { recipe = { ranges = "private", label = { spent = { "a", "b" } }, features = recipe.features } } },
      { "column 'weight'",
        { recipe = { ranges = "private", label = recipe.label, features = { age = "number", weight = { 0, 1 } } } } },
    } do
      local options = { data = d, recipe = recipe, epsilon = 2 }
      for name, value in pairs(case[2]) do options[name] = value end
      refused(case[1], pn.model.linear, options)
    end
    assert.equal(before, spent())
  end)

  it("refuses what has no price, no file, or its own ledger", function()
    local recipe = { ranges = "private", label = { spent = { 0, 1200 } }, features = { age = "number" } }
    local d = pn.data.synthetic.logistic { n = 100, p = 2, seed = 1 }
    refused("with ledger=, estimate", pn.model.linear, { data = shop(4000), recipe = recipe, epsilon = 1,
      ledger = pn.ledger { epsilon = 1, delta = 1e-6 } })
    refused("reads a file", pn.model.linear, { data = d, recipe = recipe, epsilon = 1 })
    refused("privacy = false", pn.model.linear, { data = shop(4000), recipe = recipe, privacy = false })
    refused("column 'age' has no range: state one", pn.model.linear, { data = shop(4000), epsilon = 1,
      recipe = { label = { spent = { 0, 1200 } }, features = { age = "number" } } })
    refused("share must be", pn.model.linear, { data = shop(4000), recipe = recipe, epsilon = 1, share = 1 })
    refused("too few", pn.model.linear, { data = shop(100), recipe = recipe, epsilon = 1 })
  end)
end)
