-- lfit_model_spec.lua -- fits of a recipe: what they know, predictions in the label's units, probabilities, coefficients in
-- those of the columns, the card, and what is exported.
local pn = require "penumbra"
local people = require "tests.tools.people"
local refusal = require("tests.tools.refusal").refusal

local path, out = people.write(400), os.tmpname()
teardown(function()
  os.remove(path)
  os.remove(out)
end)

local function text_of(file)
  local handle = assert(io.open(file, "rb"))
  local text = handle:read "a"
  handle:close()
  return text
end

describe("a data set of a recipe", function()
  local recipe = people.recipe(people.labels.squared)
  local d = recipe:data(path)

  local function keeps(made) return made.recipe ~= nil and made.recipe:json() == recipe:json() end

  it("knows it, and what leaves columns, scales and units alone keeps it", function()
    assert.is_true(keeps(d) and keeps(d:take(1, 50)) and keeps(d:take(7, 9)) and keeps(d:clip_labels(-0.5, 0.5)))
    assert.is_true(keeps(d:float32()) and keeps(d:clip_rows("l2", 1)))
    local train, test = d:split(0.8, pn.rng.seeded(1))
    assert.is_true(keeps(train) and keeps(test))
  end)

  it("loses it when columns, scales or labels change", function()
    assert.is_nil(d:add_bias().recipe)
    assert.is_nil(d:clip_rows("l2", 0.5).recipe)
    assert.is_nil(d:clip_rows("l1", 0.5).recipe)
    assert.is_nil(d:with_labels(d.y).recipe)
    local low, high = {}, {}
    for j = 1, d.p do low[j], high[j] = -1, 1 end
    assert.is_nil(d:rescale(low, high).recipe)
    assert.is_nil(pn.data.synthetic.logistic { n = 10, p = 2, seed = 1 }.recipe)
  end)
end)

describe("fit:predict", function()
  it("says the label of a range in its unit, for a file, its data set and its columns", function()
    local fit, recipe, d = people.fit(path, "squared")
    local z, got = fit:predict(d.X), fit:predict(path)
    for i = 1, d.n do assert.near(55000 + 45000 * z[i], got[i], 1e-9) end
    assert.is_true(got == fit:predict(d))
    assert.is_true(got == fit:predict(recipe:data(path, { label = false })))
    local one = fit:predict { age = { 31 }, job = { "cook" }, born = { "1980-05-01" }, member = { true } }
    assert.equal(1, #one)
    assert.matches("options are for files", refusal(fit.predict, fit, d.X, { sep = ";" }))
    assert.matches("label has classes", refusal(fit.predict, fit, path, { labels = true }))
  end)

  it("says classes as data sets have them, or by name", function()
    local fit, _, d = people.fit(path, "logistic")
    local z, got, names = fit:predict(d.X), fit:predict(path), fit:predict(path, { labels = true })
    for i = 1, d.n do
      assert.equal(z[i] > 0 and 1 or -1, got[i])
      assert.equal(z[i] > 0 and ">50K" or "<=50K", names[i])
    end
    local many, _, e = people.fit(path, "softmax")
    local m, codes, letters = many:predict(e.X), many:predict(path), many:predict(path, { labels = true })
    for i = 1, e.n do
      local best = 1
      for k = 2, 3 do if m[i][k] > m[i][best] then best = k end end
      assert.equal(best, codes[i])
      assert.equal(({ "a", "b", "c" })[best], letters[i])
    end
  end)

  it("refuses what is not of its recipe, and files without one", function()
    local fit, _, d = people.fit(path, "logistic")
    assert.matches("not of the fit's recipe", refusal(fit.predict, fit, d:clip_rows("l2", 0.5)))
    assert.matches("of another recipe", refusal(fit.predict, fit, people.recipe(people.labels.squared):data(path)))
    assert.matches("no column 'age'", refusal(fit.predict, fit, "tests/tools/people.lua"))
    assert.matches("labels must be true or false", refusal(fit.predict, fit, path, { labels = 1 }))
    assert.matches("unknown option", refusal(fit.predict, fit, path, { moon = 1 }))
    local plain = pn.solve.gradient_descent(pn.objective { data = d:clip_rows("l2", 0.5), loss = pn.loss.logistic(),
      set = pn.set.l2_ball { dim = d.p } }, { rho = 1, iterations = 2 })
    assert.is_nil(plain.recipe)
    assert.matches("the fit has no recipe", refusal(plain.predict, plain, path))
    assert.equal(d.n, #plain:predict(d)) -- as it was before recipes
  end)
end)

describe("fit:probabilities", function()
  it("are those of the logistic and softmax models, in the order of the classes", function()
    local fit, _, d = people.fit(path, "logistic")
    local z, got, names = fit:predict(d.X), fit:probabilities(path)
    assert.same({ "<=50K", ">50K" }, { names[1], names[2] })
    for i = 1, d.n do
      assert.near(1 / (1 + math.exp(-z[i])), got[i][2], 1e-15)
      assert.near(1, got[i][1] + got[i][2], 1e-15)
    end
    local many, _, e = people.fit(path, "softmax")
    local m, p, letters = many:predict(e.X), many:probabilities(e)
    assert.same({ "a", "b", "c" }, { letters[1], letters[2], letters[3] })
    local row = many:probabilities(e.X[7])
    for k = 1, 3 do
      local sum = math.exp(m[7][1]) + math.exp(m[7][2]) + math.exp(m[7][3])
      assert.near(math.exp(m[7][k]) / sum, p[7][k], 1e-15)
      assert.equal(p[7][k], row[k])
    end
  end)

  it("neither overflow nor become no numbers", function()
    local fit = people.fit(path, "logistic")
    local far = {}
    for j = 1, #fit.theta do far[j] = fit.theta[j] > 0 and 1e5 or -1e5 end
    local x = pn.vec(far)
    local p = fit:probabilities(x)
    assert.same({ 0, 1 }, { p[1], p[2] })
  end)

  it("are refused of losses that are no likelihood of classes", function()
    local fit = people.fit(path, "squared")
    assert.matches("squared is no likelihood of classes", refusal(fit.probabilities, fit, path))
    local d = pn.data.synthetic.logistic { n = 100, p = 3, seed = 1 }:clip_rows("l2", 1)
    local hinge = pn.solve.gradient_descent(pn.objective { data = d, loss = pn.loss.smooth_hinge(),
      set = pn.set.l2_ball { dim = 3 } }, { rho = 1, iterations = 2 })
    assert.matches("smooth_hinge is no likelihood", refusal(hinge.probabilities, hinge, d.X))
  end)
end)

describe("fit:coefficients", function()
  local function day(y, m, d) return os.time { year = y, month = m, day = d, hour = 12 } // 86400 end

  it("in original units give the prediction", function()
    local fit = people.fit(path, "squared")
    local at = {}
    for _, row in ipairs(fit:coefficients()) do at[row.name] = row end
    assert.equal("day", at.born.per)
    assert.is_nil(at.intercept.original)
    local function by_hand(age, job, born, member)
      return at["(constant)"].original + (age or 53.5) * at.age.original + (age and 0 or at["age=missing"].original)
        + at["job=" .. job].original + born * at.born.original + (member and at.member.original or 0)
    end
    local got = fit:predict { age = { 31, "", 200 }, job = { "cook", "b,oss", "who" },
      born = { "1980-05-01", "2010-12-31", "1930-01-01" }, member = { true, false, true } }
    assert.near(by_hand(31, "cook", day(1980, 5, 1), true), got[1], 1e-6)
    assert.near(by_hand(nil, "b,oss", day(2010, 12, 31), false), got[2], 1e-6)
    assert.near(by_hand(90, "other", day(1930, 1, 1), true), got[3], 1e-6)
  end)

  it("are a table that prints within 80 columns, by class where there are several", function()
    local fit = people.fit(path, "softmax")
    local rows = fit:coefficients()
    assert.equal(3 * 10, #rows) -- 9 features and the constant
    assert.equal("c", rows[30].class)
    assert.equal(fit.theta[9 + 1], rows[11].scaled)
    local text = tostring(rows)
    assert.matches("class b", text)
    for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
  end)

  it("without a recipe have names or numbers, and no original units", function()
    local d = pn.data.synthetic.logistic { n = 100, p = 3, seed = 1 }:clip_rows("l2", 1)
    local fit = pn.solve.gradient_descent(pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3 } },
      { rho = 1, iterations = 2 })
    local rows = fit:coefficients()
    assert.same({ 3, "x1", fit.theta[1] }, { #rows, rows[1].name, rows[1].scaled })
    assert.is_nil(rows[1].original)
    assert.matches("original units are not known", tostring(rows))
  end)
end)

describe("fit:card", function()
  it("says what it is, on what, at which price, and what it is not, in 80 columns", function()
    local card = people.fit(path, "logistic"):card()
    for _, words in ipairs { "label income", "l2_ball(dim=9, radius=5)", "400, a record is a row", "l2 <= 1", "17 to 90",
      "epsilon = 4, delta = 1e-06, replace_one: holds", "covers one record", "penumbra " .. pn.version, "cook, clerk",
      "gradient_descent, 60 of 60 steps", "were clipped to them", "covers this training alone" } do
      assert.truthy(card:find(words, 1, true), words .. "\n" .. card)
    end
    for line in card:gmatch "[^\n]+" do assert.is_true(utf8.len(line) <= 80, line) end
  end)

  it("says when nothing protects: simulated noise, no privacy", function()
    local function with(options)
      return (people.fit(path, "logistic", nil, options):card():gsub("%s+", " "))
    end
    assert.matches("simulated .seeded.: whoever knows the seed", with { rng = pn.rng.seeded(1) })
    local exact = with { privacy = false, epsilon = people.none, delta = people.none }
    assert.matches("Nothing protects the records", exact)
  end)
end)

describe("a model that was exported", function()
  it("as JSON, or saved, is loaded with recipe, names, bounds and statement, and predicts the same", function()
    for _, loss in ipairs { "logistic", "squared", "softmax" } do
      local fit, recipe, d = people.fit(path, loss, loss == "squared" and { clip = 1.5 } or nil)
      for _, write in ipairs { function() fit:export(out, { format = "json" }) end, function() fit:save(out) end } do
        write()
        local got = pn.load(out)
        assert.is_true(got.theta == fit.theta)
        assert.same(fit.privacy, got.privacy)
        assert.equal(recipe:json(), got.recipe:json())
        assert.is_true(got:predict(path) == fit:predict(path) and got:predict(d) == fit:predict(d))
        assert.equal(fit:card(), got:card())
        assert.equal(tostring(fit:coefficients()), tostring(got:coefficients()))
        got:export(out, { format = "json" })
        assert.is_true(pn.load(out):predict(path) == fit:predict(path))
      end
    end
  end)

  it("keeps names without a recipe", function()
    local d = people.recipe(people.labels.logistic):data(path)
    local fit = pn.solve.gradient_descent(pn.objective { data = d:clip_rows("l2", 0.5), loss = pn.loss.logistic(),
      set = pn.set.l2_ball { dim = d.p } }, { rho = 1, iterations = 2 })
    for _, way in ipairs { "export", "save" } do
      fit[way](fit, out, way == "export" and { format = "json" } or nil)
      assert.equal("job=cook", pn.load(out):coefficients()[4].name)
      assert.is_nil(pn.load(out).recipe)
    end
  end)

  it("as CSV has a line for each coefficient, and as npy is theta", function()
    local fit = people.fit(path, "logistic")
    fit:export(out, { format = "csv" })
    local text = text_of(out)
    assert.matches("^name,column,kind,class,scaled,original,per\nage,age,number,,", text)
    assert.truthy(text:find('"job=b,oss",job,category,,', 1, true))
    fit:export(out, { format = "npy" })
    assert.is_true(pn.load(out) == fit.theta)
  end)

  it("goes by the end of the path, and refuses others, with nothing written", function()
    local fit = people.fit(path, "logistic")
    local named = out .. ".json"
    assert.equal(named, fit:export(named))
    assert.matches('^{\n "format": "penumbra model"', text_of(named))
    os.remove(named)
    assert.matches("must end in .json", refusal(fit.export, fit, out .. ".txt"))
    assert.matches('format must be "json", "csv" or "npy", got "xml"', refusal(fit.export, fit, out, { format = "xml" }))
    assert.matches("cannot be written", refusal(fit.export, fit, "/nowhere/m.json"))
    assert.is_nil(io.open(out .. ".txt"))
  end)
end)

describe("an analyst", function()
  it("may look at coefficients and card of a fit, and at neither files nor records", function()
    local d = people.recipe(people.labels.logistic):data(path)
    local c = pn.curator { data = { people = d }, ledger = pn.ledger { epsilon = 8, delta = 1e-6 }, process = false }
    local answer = c:run [[
      local d = data.people
      local fit = pn.solve.gradient_descent(pn.objective{data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = d.p}},
        {epsilon = 1, delta = 1e-7, iterations = 5})
      print(d.recipe, fit.recipe, #fit:coefficients(), #fit:card() > 500)
      print(pcall(fit.predict, fit, d))
      print(pcall(fit.predict, fit, "/etc/passwd"))
      print(pcall(fit.probabilities, fit, d))
      print(pcall(fit.export, fit, "/tmp/x.json"))
      print(#fit:probabilities(fit.theta))
    ]]
    local text = tostring(answer.output or answer)
    assert.matches("nil\tnil\t9\ttrue", text)
    local refused = 0
    for _ in text:gmatch "false\t" do refused = refused + 1 end
    assert.equal(4, refused, text)
    assert.is_nil(text:find("cook", 1, true))
  end)
end)
