-- ldata_spec.lua -- pn.data in Lua: making data sets, what is enforced about them, and what each method gives back.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal

local function rows(X)
  local out = {}
  for i = 1, X.rows do
    out[i] = {}
    for j = 1, X.cols do
      out[i][j] = X:get(i, j)
    end
  end
  return out
end

-- The same numbers of a sparse matrix, column by column.
local function dense_rows(S)
  local out = {}
  for j = 1, S.cols do
    local column = S * pn.vec.basis(S.cols, j)
    for i = 1, S.rows do
      out[i] = out[i] or {}
      out[i][j] = column[i]
    end
  end
  return out
end

local function small()
  return pn.data.from({ { 3, 4 }, { 0, 0.5 }, { -6, 8 } }, { 1, 2, 7 })
end

local function sparse()
  local X = pn.sparse { rows = 3, cols = 3, i = { 1, 1, 3 }, j = { 1, 3, 2 }, x = { 3, 4, -0.5 } }
  return pn.data.from(X, { 1, -1, 1 })
end

describe("a data set from Lua values", function()
  it("copies a table of rows, a matrix or a sparse matrix", function()
    local X, y = pn.mat { { 1, 2 }, { 3, 4 } }, pn.vec { 5, 6 }
    local d = pn.data.from(X, y)
    X:set(1, 1, 99)
    y[1] = 99
    assert.same({ { 1, 2 }, { 3, 4 } }, rows(d.X))
    assert.same({ 5, 6 }, d.y:table())
    assert.same({ { 3, 4 }, { 0, 0.5 }, { -6, 8 } }, rows(small().X))
    assert.same({ { 3, 0, 4 }, { 0, 0, 0 }, { 0, -0.5, 0 } }, dense_rows(sparse().X))
  end)

  it("knows its sizes, its storage and its name", function()
    local d, s = small(), sparse()
    assert.same({ 3, 2, false, "data" }, { d.n, d.p, d.sparse, d.name })
    assert.same({ 3, 3, true }, { s.n, s.p, s.sparse })
  end)

  it("refuses sizes that do not fit and numbers that are not finite", function()
    assert.equal("data.from: X has 2 rows, y has 3 labels", refusal(pn.data.from, { { 1 }, { 2 } }, { 1, 2, 3 }))
    local X, y = pn.mat { { 1, 2 }, { 3, 1e308 } }, pn.vec { 1, 1e308 }
    assert.equal("data: label 2 is not a finite number", refusal(pn.data.from, { { 1 }, { 2 } }, y * 10))
    assert.equal("data: entry (2, 2) is not a finite number", refusal(pn.data.from, X * 10, { 1, 2 }))
  end)

  it("shows its numbers as views that cannot be changed", function()
    local d = small()
    local X, y = d.X, d.y
    assert.has_error(function() X:set(1, 1, 0) end)
    assert.has_error(function() X[1][1] = 0 end)
    assert.has_error(function() y[1] = 0 end)
    assert.has_error(function() d.n = 4 end)
    assert.same({ { 3, 4 }, { 0, 0.5 }, { -6, 8 } }, rows(d.X))
  end)

  it("stays alive as long as a view of it", function()
    local X, S, y = small().X, sparse().X, small().y
    for _ = 1, 3 do
      collectgarbage()
    end
    assert.same({ { 3, 4 }, { 0, 0.5 }, { -6, 8 } }, rows(X))
    assert.same({ { 3, 0, 4 }, { 0, 0, 0 }, { 0, -0.5, 0 } }, dense_rows(S))
    assert.same({ 1, 2, 7 }, y:table())
  end)

  it("enforces nothing, not even of labels that happen to be all -1 or 1", function()
    assert.same({}, sparse().bounds)
    assert.same({}, pn.data.from({ { 1 } }, { 1 }).bounds)
    assert.same({}, small().bounds)
  end)
end)

describe("clipping", function()
  it("scales only the rows that exceed the bound", function()
    local c = small():clip_rows("l2", 5.1)
    assert.same({ { 3, 4 }, { 0, 0.5 } }, { rows(c.X)[1], rows(c.X)[2] })
    local x = c.X[3]
    assert.near(-6 * 5.1 / 10, x[1], 1e-12)
    assert.near(8 * 5.1 / 10, x[2], 1e-12)
    assert.same({ { 3, 4 }, { 0, 0.5 }, { -6, 8 } }, rows(small().X))
    assert.near(-6 * 7 / 14, small():clip_rows("l1", 7).X:get(3, 1), 1e-12)
    assert.same({ { 3, 4 }, { 0, 0.5 }, { -3, 4 } }, rows(small():clip_rows("linf", 4).X))
  end)

  it("scales sparse rows as dense ones", function()
    local c = dense_rows(sparse():clip_rows("l2", 1).X)
    assert.near(0.6, c[1][1], 1e-12)
    assert.near(0.8, c[1][3], 1e-12)
    assert.equal(-0.5, c[3][2])
  end)

  it("records the bound and those that follow from it", function()
    local d = pn.data.from({ { 1, 2, 3, 4 } }, { 0 }) -- p = 4: sqrt(p) is exact
    assert.same({ l1 = 6, l2 = 3, linf = 3 }, d:clip_rows("l2", 3).bounds)
    assert.same({ l1 = 3, l2 = 3, linf = 3 }, d:clip_rows("l1", 3).bounds)
    assert.same({ l1 = 12, l2 = 6, linf = 3 }, d:clip_rows("linf", 3).bounds)
  end)

  it("keeps a smaller bound that stood before", function()
    local d = pn.data.from({ { 1, 2, 3, 4 } }, { 0 })
    assert.same({ l1 = 3, l2 = 2, linf = 1 }, d:clip_rows("l1", 3):clip_rows("linf", 1).bounds)
    assert.same({ l1 = 2, l2 = 1, linf = 1 }, d:clip_rows("l2", 1):clip_rows("l2", 9).bounds)
  end)

  it("takes a norm for its name", function()
    for _, name in ipairs { "l1", "l2", "linf" } do
      local named, normed = small():clip_rows(name, 5.1), small():clip_rows(pn.norm[name](), 5.1)
      assert.same(rows(named.X), rows(normed.X))
      assert.same(named.bounds, normed.bounds)
    end
    assert.same({ l1 = 3, l2 = 3, linf = 3 },
      pn.data.from({ { 1, 2, 3, 4 } }, { 0 }):clip_rows(pn.norm.linf():dual(), 3).bounds)
  end)

  it("scales rows to the unit ball of any set, and records what that implies", function()
    local norm = pn.norm.minkowski(pn.set.l1_ball { dim = 2, radius = 2 }) -- |x_1| + |x_2| <= 2
    local d = pn.data.from({ { 2, 3 }, { 1, 1 }, { 0, 0 }, { -1e300, 1e300 } }, { 1, 1, 1, 1 })
    local c = d:clip_rows(norm, 3)
    assert.same({ { 2, 3 }, { 1, 1 }, { 0, 0 } }, { table.unpack(rows(c.X), 1, 3) })
    assert.near(-3, c.X:get(4, 1), 1e-12)
    assert.same({ 6, 6, 6 }, { c.bounds.l1, c.bounds.l2, c.bounds.linf })
    c = d:clip_rows(norm, 1.5)
    assert.near(1.8, c.X:get(1, 2), 1e-12)
    assert.same({ 3, 3, 3 }, { c.bounds.l1, c.bounds.l2, c.bounds.linf })
  end)

  it("shows no record to functions of a user, which might clip one record by the others", function()
    local seen = 0
    local mine = pn.set.custom { dim = 2, radius = 1, symmetric = true,
      project = function(v) seen = seen + 1 return v:norm() <= 1 and v or v / v:norm() end,
      support = function(g) seen = seen + 1 return g / g:norm() end,
      contains = function(v) seen = seen + 1 return v:norm() <= 1 end }
    local d = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 1, -1 })
    for _, set in ipairs { mine, 2 * mine, mine:product(pn.set.l2_ball { dim = 1, radius = 1 }) } do
      local norm = pn.norm.minkowski(set)
      local data = set.dim == 2 and d or pn.data.from({ { 1, 2, 3 }, { 3, 4, 5 } }, { 1, -1 })
      seen = 0
      local ok, message = pcall(data.clip_rows, data, norm, 1)
      assert.is_false(ok)
      assert.matches("functions of yours", message, 1, true)
      assert.equal(0, seen)
    end
  end)

  it("refuses norms and bounds that are none", function()
    local d = small()
    assert.equal("clip_rows: the norm has 3 entries, the rows have 2",
      refusal(d.clip_rows, d, pn.norm.minkowski(pn.set.l1_ball { dim = 3 }), 1))
    assert.equal('clip_rows: norm must be "l1", "l2", "linf" or a pn.norm, got the string "l3"',
      refusal(d.clip_rows, d, "l3", 1))
    assert.equal('clip_rows: norm must be "l1", "l2", "linf" or a pn.norm, got 2', refusal(d.clip_rows, d, 2, 1))
    for _, bound in ipairs { 0, -1 } do
      assert.equal("clip_rows: bound must be a positive number (from 2^-400 to 2^400), got " .. bound,
        refusal(d.clip_rows, d, "l2", bound))
    end
    assert.matches("clip_rows: bound must be a finite number, got ", refusal(d.clip_rows, d, "l2", 0 / 0))
  end)

  it("clamps labels and records the range, or a narrower one that stood before", function()
    local d = small():clip_labels(0, 3)
    assert.same({ 1, 2, 3 }, d.y:table())
    assert.same({ labels = { 0, 3 } }, d.bounds)
    assert.same({ labels = { 1, 3 } }, d:clip_labels(1, 10).bounds)
    assert.same({ labels = { -2, 2 } }, sparse():clip_labels(-2, 2).bounds)
    assert.same({ labels = { 0, 1 } }, sparse():clip_labels(-1, 1):clip_labels(0, 2).bounds)
    assert.equal("clip_labels: low must be below high, both finite, got 2 and 1", refusal(d.clip_labels, d, 2, 1))
  end)
end)

describe("new data sets from old ones", function()
  it("adds a feature that is always 1 and widens the bounds", function()
    local d = small():clip_rows("linf", 0.5):add_bias()
    assert.equal(3, d.p)
    assert.same({ 0.375, 0.5, 1 }, rows(d.X)[1])
    assert.same({ l1 = 2, linf = 1 }, { l1 = d.bounds.l1, linf = d.bounds.linf })
    assert.near(math.sqrt(1.5), d.bounds.l2, 1e-15)
    assert.same({ { 3, 0, 4, 1 }, { 0, 0, 0, 1 }, { 0, -0.5, 0, 1 } }, dense_rows(sparse():add_bias().X))
    local bounds = small():clip_rows("l1", 2):add_bias().bounds
    assert.same({ 3, 2 }, { bounds.l1, bounds.linf })
    assert.near(math.sqrt(5), bounds.l2, 1e-15)
  end)

  it("replaces labels, forgets their bounds and keeps those of the rows", function()
    local d = sparse():clip_rows("l1", 1)
    local changed = d:with_labels { 4, 5, 6 }
    assert.same({ 4, 5, 6 }, changed.y:table())
    assert.same({ l1 = 1, l2 = 1, linf = 1 }, changed.bounds)
    assert.is_nil(small():clip_labels(-1, 1):with_labels { 1, 1, -1 }.bounds.labels)
    assert.equal("with_labels: got 2 labels, the data set has 3 records", refusal(d.with_labels, d, { 1, 2 }))
  end)

  it("takes the first records", function()
    assert.same({ { 3, 4 }, { 0, 0.5 } }, rows(small():take(2).X))
    assert.same({ 1, 2 }, small():take(2).y:table())
    assert.same({ { 3, 0, 4 }, { 0, 0, 0 } }, dense_rows(sparse():take(2).X))
    assert.same({ labels = { -1, 1 } }, sparse():clip_labels(-1, 1):take(1).bounds)
    assert.equal("take: n must be at most 3, the number of records, got 4", refusal(small().take, small(), 4))
    assert.equal("take: n must be a whole number from 1, got 0", refusal(small().take, small(), 0))
  end)

  it("shuffles records with their labels, the same way for the same seed", function()
    local X, y = {}, {}
    for i = 1, 100 do
      X[i], y[i] = { i, -i }, i
    end
    local d = pn.data.from(X, y)
    local s = d:shuffle(pn.rng.seeded(5))
    local seen, moved = {}, 0
    for i = 1, 100 do
      assert.equal(s.y[i], s.X:get(i, 1))
      assert.equal(-s.y[i], s.X:get(i, 2))
      seen[s.y[i]] = true
      moved = moved + (s.y[i] ~= i and 1 or 0)
    end
    assert.equal(100, #seen)
    assert.is_true(moved > 50) -- fixed points of a permutation: about 1; over 49 has probability below 1 / 50!
    assert.same(s.y:table(), d:shuffle(pn.rng.seeded(5)).y:table())
    assert.are_not.same(s.y:table(), d:shuffle(pn.rng.seeded(6)).y:table())
    assert.equal(100, d:shuffle().n)
  end)

  it("splits into the fraction for training and the rest for testing", function()
    local y = {}
    for i = 1, 10 do
      y[i] = i
    end
    local d = pn.data.from(pn.mat.zeros(10, 2), y):clip_rows("l2", 1)
    local train, test = d:split(0.7, pn.rng.seeded(1))
    assert.same({ 7, 3 }, { train.n, test.n })
    assert.equal(55, train.y:sum() + test.y:sum())
    assert.equal(1, train.bounds.l2)
    assert.equal(1, test.bounds.l2)
    assert.equal("split: fraction must be a number in (0, 1), got 1", refusal(d.split, d, 1))
    assert.equal("split: fraction 0.01 of 10 records gives parts of 0 and 10; both must hold at least one",
      refusal(d.split, d, 0.01))
    assert.equal("split: fraction 0.99 of 10 records gives parts of 10 and 0; both must hold at least one",
      refusal(d.split, d, 0.99))
  end)
end)

describe("looking at a data set", function()
  it("prints its size, then what is enforced", function()
    assert.equal("data: 3 x 2, dense\n  rows not bounded; labels not bounded", tostring(small()))
    assert.equal("data: 3 x 3, sparse\n  rows l1 <= 2, l2 <= 2, linf <= 2; labels -1 or 1",
      tostring(sparse():clip_rows("l1", 2)))
    assert.equal("data: 3 x 2, dense\n  rows not bounded; labels in [0, 3]", tostring(small():clip_labels(0, 3)))
  end)

  it("summarises what is there", function()
    local s = small():summary()
    assert.same({ 3, 2, 5, 14, 10, 8 }, { s.n, s.p, s.nonzeros, s.max_l1, s.max_l2, s.max_linf })
    assert.near(5 / 6, s.density, 1e-15)
    assert.same({ 1, 7, 1 }, { s.label_min, s.label_max, s.other_labels })
    assert.near(10 / 3, s.label_mean, 1e-15)
    assert.same({ { label = 1, count = 1 }, { label = 2, count = 1 } }, s.label_counts)
    assert.matches("3 records, 2 features", tostring(s))
    assert.matches("not private", tostring(s))
    s = sparse():summary()
    assert.same({ { label = -1, count = 1 }, { label = 1, count = 2 } }, s.label_counts)
    assert.same({ 3, 5 }, { s.nonzeros, s.max_l2 })
  end)

  it("shows the first records with their names", function()
    local d = pn.data.from({ { 1, 0, -2.5 }, { 0, 7, 0 }, { 3, 4, 1e300 } }, { 1, -1, 2 })
    local shown = d:head(2)
    assert.same({ { 1, 0, -2.5, 1 }, { 0, 7, 0, -1 } }, { shown[1], shown[2] })
    assert.equal(2, #shown)
    assert.same({ "x1", "x2", "x3", "label" }, shown.columns)
    assert.equal(3, #d:head())
    assert.matches("^ +x1 +x2 +x3 +label\n +1 +1 +0 +%-2.5 +1\n +2 +0 +7 +0 +%-1\nThese are records: not private.$",
      tostring(shown))
    local narrow = sparse()
    local entries = narrow.X:dense()
    for i, row in ipairs(narrow:head()) do
      for j = 1, narrow.p do assert.equal(entries:get(i, j), row[j]) end
      assert.equal(narrow.y[i], row[narrow.p + 1])
    end
    local float = d:take(2):float32():head(1)
    assert.same({ 1, 0, -2.5, 1 }, float[1])
    local wide = tostring(pn.data.synthetic.logistic({ n = 9, p = 40, seed = 1 }):head(3))
    assert.matches("x5 +%.%.%. +label\n", wide)
    for line in wide:gmatch "[^\n]+" do assert.is_true(#line <= 80, line) end
    for _, k in ipairs { 0, -1, 1.5, 10 ^ 6, "2x" } do assert.has_error(function() d:head(k) end) end
    assert.equal("raw", pn.reference()["pn.dataset:head"].reveals)
    assert.equal("paid", pn.reference()["pn.dataset:describe"].reveals)
  end)

  it("measures rows whose squares overflow", function()
    local d = pn.data.from({ { 3e300, 4e300 } }, { 0 })
    assert.near(1, d:summary().max_l2 / 5e300, 1e-15)
    local c = d:clip_rows("l2", 1)
    assert.near(0.6, c.X:get(1, 1), 1e-12)
  end)

  it("says of every method and field what it reveals", function()
    local reference = pn.reference()
    for _, name in ipairs { "X", "y" } do
      assert.equal("raw", reference["pn.dataset." .. name].reveals)
    end
    assert.equal("raw", reference["pn.dataset:summary"].reveals)
    for _, name in ipairs { ".n", ".p", ".sparse", ".bounds", ".name", ":clip_rows", ":take", ":split" } do
      assert.equal("nothing", reference["pn.dataset" .. name].reveals, name)
    end
    for _, name in ipairs { "libsvm", "csv", "from", "synthetic.lasso", "synthetic.logistic" } do
      assert.is_truthy(reference["data." .. name].doc, name)
    end
  end)
end)
