-- recipe_spec.lua -- columns become features with a bound.  The expected features are worked out by hand: blocks of
-- weight w divided by the norm of the weights.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match("^@(.*)recipe/recipe_spec.lua$")
local files = dofile(here .. "data/files.lua")

local function near(expected, found)
  assert.equal(#expected, #found)
  for i, row in ipairs(expected) do
    assert.equal(#row, #found[i])
    for j, x in ipairs(row) do
      assert.near(x, found[i][j], 1e-14)
    end
  end
end

local function load(recipe, text, options)
  return recipe:data(files.write(text), options)
end

local function error_of(recipe, text, options)
  local path = files.write(text)
  return files.error_of(path, recipe.data, recipe, path, options)
end

local function refusal(recipe)
  return select(2, pcall(pn.recipe, recipe)):match "recipe: .*"
end

local function names(recipe)
  local made = {}
  for i, feature in ipairs(recipe:features()) do made[i] = feature.name end
  return made
end

-- The largest row norms, in doubles.
local function norms(d)
  local l1, l2, linf = 0, 0, 0
  for i = 1, d.n do
    local row = d.X[i]
    l1, l2, linf = math.max(l1, row:norm(1)), math.max(l2, row:norm(2)), math.max(linf, row:norm(math.huge))
  end
  return l1, l2, linf
end

local people = {
  label = { income = { "<=50K", ">50K" } },
  features = { age = { 17, 90, missing = "indicator" }, work = { "Private", "State" },
    born = { "date", from = "1970-01-01", to = "1970-01-11" }, member = "flag" },
}

describe("a recipe", function()
  after_each(files.clear)

  it("scales ranges, days and flags to [-1, 1] and categories to 0 and 1, by the norm of the weights", function()
    local r, s = pn.recipe(people), 1 / math.sqrt(5)
    assert.same({ "age", "age=missing", "born", "member", "work=Private", "work=State", "work=other", "intercept" }, names(r))
    local d = load(r, "work,age,born,member,income\nPrivate,90,1970-01-06,yes,>50K\nBaker,NA,1969-01-01,F,<=50K\n"
      .. "State,35.25,2020-05-05T10:00,1,<=50K\n")
    near({ { s, 0, 0, s, s, 0, 0, s }, { 0, s, -s, -s, 0, 0, s, s }, { -s / 2, 0, s, s, 0, s, 0, s } }, files.rows(d.X))
    assert.same({ 1, -1, -1 }, d.y:table())
    assert.same(names(r), d.features)
    assert.equal(1, d.bounds.l2)
    assert.near(math.sqrt(5), d.bounds.l1, 1e-13)
    assert.near(s, d.bounds.linf, 1e-13)
    assert.same({ -1, 1 }, { d.bounds.labels[1], d.bounds.labels[2] })
  end)

  it("says of each feature how it comes from its column", function()
    local r = pn.recipe { features = { a = { 10, 30, weight = 2 }, c = { "x" } }, intercept = 3, norm = "l1" }
    local all = r:features()
    assert.same({ name = "a", column = "a", kind = "number", offset = 20, scale = all[1].scale }, all[1])
    assert.near(2 / 6 / 10, all[1].scale, 1e-15)
    assert.same({ "category", "x", "c" }, { all[2].kind, all[2].category, all[2].column })
    assert.same({ "category", nil, "c" }, { all[3].kind, all[3].category, all[3].column })
    assert.near(1 / 6, all[2].scale, 1e-15)
    assert.same({ "intercept", nil }, { all[4].kind, all[4].column })
    assert.near(3 / 6, all[4].scale, 1e-15)
    assert.equal(4, r.p)
  end)

  it("keeps every row within its bounds, which rows attain", function()
    local rng = pn.rng.seeded(3)
    for _, norm in ipairs { "l1", "l2", "linf" } do
      for _, clip in ipairs { false, 0.9 } do
        local r = pn.recipe { norm = norm, clip = clip or nil, intercept = 0.3, missing = "indicator",
          features = { a = { -1, 3, weight = 0.7 }, b = { 0, 1e-3 }, c = { "u", "v" }, d = "flag" } }
        local lines = { "a,b,c,d", "3,1e-3,u,1" }
        for _ = 1, 300 do
          lines[#lines + 1] = ("%s,%s,%s,%s"):format(rng:uniform() < 0.1 and "" or -2 + 6 * rng:uniform(),
            rng:uniform() < 0.1 and "NA" or 2e-3 * rng:uniform(), ({ "u", "v", "w", "" })[1 + math.floor(4 * rng:uniform())],
            ({ "yes", "no", "" })[1 + math.floor(3 * rng:uniform())])
        end
        local d = load(r, table.concat(lines, "\n"))
        local l1, l2, linf = norms(d)
        assert.is_true(l1 <= d.bounds.l1 * (1 + 1e-15) and l2 <= d.bounds.l2 * (1 + 1e-15) and linf <= d.bounds.linf)
        assert.equal(1, d.bounds[norm])
        assert.is_true(({ l1 = l1, l2 = l2, linf = linf })[norm] > 1 - 1e-12)
        for i = 1, d.n do assert.equal(d.X[1][r.p], d.X[i][r.p]) end -- the intercept is public
      end
    end
  end)

  it("clips the features of a row and leaves the intercept", function()
    local r = pn.recipe { features = { a = { -1, 1 }, b = { -1, 1 } }, clip = 0.5, intercept = 1 }
    local size = math.sqrt(1.25)
    local rows = files.rows(load(r, "a,b\n1,0\n0.25,0\n-1,1\n").X)
    local half = math.sqrt(0.125) / size
    for i, row in ipairs { { 0.5 / size, 0, 1 / size }, { 0.25 / size, 0, 1 / size }, { -half, half, 1 / size } } do
      for j, x in ipairs(row) do assert.near(x, rows[i][j], 1e-14) end
    end
    assert.equal("recipe: clip = 2 clips nothing: the features of a row have norm 1.41421 at most, by their weights",
      refusal { features = { a = { -1, 1 }, b = { -1, 1 } }, clip = 2 })
  end)

  it("makes the same numbers of a file without labels", function()
    local r = pn.recipe(people)
    local d = load(r, "work,age,born,member,income\nPrivate,33,1970-01-04,yes,>50K\nState,,1970-01-02,0,<=50K\n")
    local text = "member;born;x;age;work\nyes;1970-01-04;;33;Private\n0;1970-01-02;;;State\n"
    local p = load(r, text, { label = false })
    assert.same(files.rows(d.X), files.rows(p.X))
    assert.is_nil(p.bounds.labels)
    assert.equal("FILE: there is no column 'income' (label = false reads a table without labels); it has member, born, x, age, "
      .. "work", error_of(r, text))
  end)

  it("makes the same numbers of a table of columns", function()
    local r = pn.recipe(people)
    local d = load(r, "work,age,born,member,income\nPrivate,33.5,1970-01-04,yes,>50K\nx,,1970-01-02,0,<=50K\n")
    local columns = { work = { "Private", "x" }, age = { 33.5, "" }, born = { "1970-01-04", "1970-01-02" },
      member = { true, 0 }, income = { ">50K", "<=50K" } }
    local t = r:data(columns)
    assert.same(files.rows(d.X), files.rows(t.X))
    assert.same(d.y:table(), t.y:table())
    columns.age[2] = "old"
    assert.has_error(function() r:data(columns) end, "recipe.data: row 2: column 'age': expected a finite number, found 'old'")
    columns.age = { 1 }
    assert.has_error(function() r:data(columns) end,
      "recipe.data: column 'age' has 1 rows, another has 2; write \"\" for a missing value")
  end)

  it("maps labels of a range to [-1, 1], of two classes to the one that is 1, and more to their numbers", function()
    local features = { a = { 0, 1 } }
    local d = load(pn.recipe { features = features, label = { y = { 100, 300 } } }, "a,y\n0,50\n0,250\n1,1e9\n")
    assert.same({ -1, 0.5, 1 }, d.y:table())
    assert.same({ -1, 1 }, { d.bounds.labels[1], d.bounds.labels[2] })
    local two = pn.recipe { features = features, label = { y = { "a", "b", positive = "a" } } }
    assert.same({ 1, -1 }, load(two, "a,y\n0,a\n0,b\n").y:table())
    assert.same({ "b", "a" }, two:label().classes)
    assert.equal("FILE:2:3: column 'y': expected one of 'a', 'b', found 'c'", error_of(two, "a,y\n0,c\n"))
    d = load(pn.recipe { features = features, label = { y = { "1", "2", "3" } } }, "a,y\n0,3\n0,1\n")
    assert.same({ 3, 1 }, d.y:table())
    assert.same({ 1, 3 }, { d.bounds.labels[1], d.bounds.labels[2] })
    assert.is_nil(load(pn.recipe { features = features }, "a,y\n0,3\n").bounds.labels)
  end)

  it("leaves counts what they are, up to the largest", function()
    local r = pn.recipe { features = { a = { 0, 1 } }, label = { y = { count = 20 } } }
    local d = load(r, "a,y\n0,0\n0,3.0\n1,20\n1,1e9\n")
    assert.same({ 0, 3, 20, 20 }, d.y:table())
    assert.same({ 0, 20 }, { d.bounds.labels[1], d.bounds.labels[2] })
    assert.same({ 7 }, r:data({ a = { 1 }, y = { 7 } }).y:table())
    for _, bad in ipairs { "-1", "2.5", "-0.5" } do
      assert.equal("FILE:2:3: column 'y': expected a count: a whole number from 0, found '" .. bad .. "'",
        error_of(r, "a,y\n0," .. bad .. "\n"))
    end
    assert.truthy(tostring(r):find("label y: counts, those above 20 become 20", 1, true))
    for _, spec in ipairs { { count = 0 }, { count = 2.5 }, { count = -3 }, { count = "20" }, { 0, 20, count = 20 },
      { count = 20, positive = "a" }, { count = 1e300 } } do
      assert.truthy(refusal { features = { a = { 0, 1 } }, label = { y = spec } }:find("the count of label 'y' must be", 1, true))
    end
    assert.equal("recipe: a label has no 'cuont'; the nearest is count", refusal { features = { a = { 0, 1 } },
      label = { y = { cuont = 20 } } })
  end)

  it("fills a hole with a constant, refuses it, or marks it, whatever the file holds", function()
    local r = pn.recipe { intercept = false, missing = "indicator", norm = "linf",
      features = { a = { 0, 10, missing = 5 }, b = { "x", "y", missing = "y" }, c = { "x", missing = "other" },
        d = { "flag", missing = true }, e = { "date", from = "2000-01-01", to = "2000-01-03", missing = "2000-01-02" },
        f = { 0, 2 }, g = { "x" }, h = { 0, 1, missing = "refuse" } } }
    assert.same({ "a", "b=x", "b=y", "b=other", "c=x", "c=other", "d", "e", "f", "f=missing", "g=x", "g=other", "g=missing", "h" },
      names(r))
    local header = "a,b,c,d,e,f,g,h\n"
    assert.same({ { 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 1, 1 }, { 1, 1, 0, 0, 1, 0, -1, 1, -1, 0, 1, 0, 0, -1 } },
      files.rows(load(r, header .. ",NA,?,,N/A,null,NaN,1\n10,x,x,no,2000-01-03,0,x,0\n").X))
    assert.equal("FILE:2:24: column 'h': expected a finite number, not a missing value (missing= says what becomes of those), "
      .. "found 'NA'",
      error_of(r, header .. "10,x,x,no,2000-01-03,,,NA\n"))
  end)

  it("takes other words for holes, numbers among them, and a declared category for none", function()
    local r = pn.recipe { intercept = false, norm = "linf", na = { "-9", "none" }, missing = "indicator",
      features = { a = { -10, 10 }, b = { "none", "x" } } }
    assert.same({ { 0, 1, 1, 0, 0, 0 }, { 0, 1, 0, 0, 1, 0 }, { 0, 1, 0, 1, 0, 0 } },
      files.rows(load(r, "a,b\n-9,none\n-9.0,NA\nnone,x\n").X))
    assert.equal("FILE:2:1: column 'a': expected a finite number, found 'NA'", error_of(r, "a,b\nNA,x\n"))
  end)

  it("comes back from its JSON as it was", function()
    for _, spec in ipairs { people,
      { features = { a = { 0.1, 1 / 3, weight = 0.7 } }, intercept = 0.25, norm = "l1", clip = 0.3, na = {} },
      { features = { { name = "z", 0, 1 },
        { name = "a", "date", from = "2000-02-29", to = "2001-01-01", missing = "2000-12-31" },
        { name = "f", "flag", missing = false }, { name = 'quo"te\\', "ü", "\t", missing = "\t" } }, label = { y = { -1e300,
        7 } } },
      { features = { a = { 0, 1 } }, label = { y = { "u", "v", positive = "u" } } },
      { features = { a = { 0, 1 } }, label = { name = "y", count = 9007199254740992 } },
      { features = { a = { 0, 1 } }, label = { name = "y", values = { "u", "v", "w" } }, intercept = false } } do
      local r = pn.recipe(spec)
      local again = pn.recipe.from_json(r:json())
      assert.equal(r:json(), again:json())
      assert.same(r:features(), again:features())
      assert.same(r:label(), again:label())
      assert.equal(tostring(r), tostring(again))
    end
    local text = '{"features": {"z": [0, 1], "a": {"values": ["x"], "missing": "indicator"}}}'
    assert.same({ "z", "a=x", "a=other", "a=missing", "intercept" }, names(pn.recipe.from_json(text)))
  end)

  it("says what is wrong with what is no recipe", function()
    local ok = { a = { 0, 1 } }
    for _, case in ipairs {
      { {}, "recipe: features must be a table of columns such as {age = {17, 90}}" },
      { { features = {} }, "recipe: features is empty; give at least one column" },
      { { features = ok, mising = 1 }, "recipe: a recipe has no 'mising'; the nearest is missing" },
      { { features = { a = { 1, 1 } } }, "recipe: the range of column 'a' must go from low to high, got 1 and 1" },
      { { features = { a = { 1, "x" } } },
        "recipe: column 'a': a range is two numbers, categories are texts; value 1 is neither" },
      { { features = { a = { "x", "y", "x" } } }, "recipe: column 'a' has 'x' twice" },
      { { features = { a = { "x", "x" } } }, "recipe: column 'a' has 'x' twice" },
      { { features = { a = { "x", "other" } } },
        "recipe: column 'a': \"other\" is there without being declared; leave it out" },
      { { features = { a = { "missing", missing = "indicator" } } },
        "recipe: column 'a' has a category \"missing\" and an indicator, which has that name" },
      { { features = { a = { 0, 1, missing = 2 } } },
        "recipe: missing of column 'a' must be \"refuse\", \"indicator\", or a number of its range that fills a hole" },
      { { features = { a = { 0, 1, wieght = 2 } } }, "recipe: a column has no 'wieght'; the nearest is weight" },
      { { features = { a = { 0, 1, weight = 0 } } }, "recipe: the weight of column 'a' must be a number from 1e-6 to 1e6" },
      { { features = { a = { 0, 1, from = "2000-01-01" } } },
        "recipe: column 'a': from= and to= are of dates, as in {\"date\", from = \"2001-01-01\", to = \"2020-12-31\"}" },
      { { features = { a = { "date", from = "2001-02-29", to = "2002-01-01" } } },
        "recipe: column 'a' of dates needs from= and to=, "
        .. "two days such as \"2001-12-31\", the first before the second" },
      { { features = ok, label = { a = { 0, 1 } } }, "recipe: column 'a' is the label and cannot be a feature too" },
      { { features = ok, label = { y = { "u" } } }, "recipe: label 'y' must be a range {0, 100}, at least two classes, or "
        .. "{count = 20}, counts up to the largest" },
      { { features = ok, norm = "l3" }, "recipe: norm must be \"l1\", \"l2\" or \"linf\", got l3" },
      { { features = ok, intercept = -1 }, "recipe: the weight of the intercept must be from 1e-6 to 1e6, got -1" },
      { { features = { { 0, 1 } } }, "recipe: feature 1 of the list has no name, as in {name = \"age\", 17, 90}" },
      { { features = { a = { 0, math.huge } } }, "recipe: numbers must be finite, got inf" },
      { { features = { a = print } }, "recipe: expected strings, numbers, booleans and tables of them, got a function" },
    } do
      assert.equal(case[2], refusal(case[1]))
    end
    assert.equal("recipe: line 1, column 16 of the JSON: ']' expected near '}'",
      select(2, pcall(pn.recipe.from_json, '{"features": [1}')))
    for _, text in ipairs { "", "[]", "3", '{"features": 3}', '{"features": {"a": [0, 1], "a": [0, 2]}}', '{"version": 2}',
      '"\\u0000"', ("["):rep(5000), '{"features": {"a": null}}', '{"features": {"a": {}}}', '{"features": [3]}', '{"label": 3}',
      '{"label": {"y": null}}',
      '{"na": 3}', '{"clip": "x", "features": {"a": [0, 1]}}' } do
      assert.is_false((pcall(pn.recipe.from_json, text)))
    end
  end)

  it("prints its columns within 80 characters", function()
    local r = pn.recipe(people)
    for line in tostring(r):gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
    assert.truthy(tostring(r):find("label income: '>50K' is 1, '<=50K' is -1", 1, true))
    assert.truthy(tostring(r):find("l2 <= 1 by construction", 1, true))
  end)
end)
