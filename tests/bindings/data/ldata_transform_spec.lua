-- ldata_transform_spec.lua -- d:transform(P): what becomes of rows, and that a bound of theirs is renewed and never carried over.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal

local P = pn.mat { { 3, 0, 1 }, { 0, 1, -1 } }

local function dense() return pn.data.from({ { 3, 0, 4 }, { 0, 0, 0 }, { 0, -0.5, 0 } }, { 5, -2, 0.5 }):clip_rows("l2", 5) end

local function sparse()
  local X = pn.sparse { rows = 3, cols = 3, i = { 1, 1, 3 }, j = { 1, 3, 2 }, x = { 3, 4, -0.5 } }
  return pn.data.from(X, { 5, -2, 0.5 }):clip_rows("l2", 5)
end

-- The largest singular value.
local function norm(A) return select(2, A:svd())[1] end

describe("d:transform", function()
  it("makes z = P x of dense, sparse and float32 rows, and leaves the labels", function()
    for _, d in ipairs { dense(), sparse(), dense():float32(), sparse():float32() } do
      local z = d:clip_labels(-1, 1):transform(P)
      for i, row in ipairs { { 13, -4 }, { 0, 0 }, { 0, -0.5 } } do
        for j, x in ipairs(row) do assert.near(x, z.X:get(i, j), 2e-6) end
      end
      assert.same({ 1, -1, 0.5 }, z.y:table())
      assert.same({ -1, 1 }, { z.bounds.labels[1], z.bounds.labels[2] })
      assert.same({ false, 2, 3 }, { z.sparse, z.p, z.n })
      assert.is_nil(z.features)
      assert.is_nil(z.recipe)
    end
  end)

  it("has the bound ||P|| R, of the other norms what follows from it, and no old one", function()
    local d = dense():clip_rows("linf", 1)
    local z = d:transform(P)
    assert.is_true(z.bounds.l2 >= norm(P) * d.bounds.l2 and z.bounds.l2 <= norm(P) * d.bounds.l2 * (1 + 1e-12))
    assert.equal(z.bounds.l2, z.bounds.linf)
    assert.near(z.bounds.l2 * 2 ^ 0.5, z.bounds.l1, 1e-12)
    local sharp = d:transform(pn.mat { { 1e-3, 0, 0 }, { 0, 1e3, 0 }, { 0, 0, 1 } })
    assert.near(1e3 * d.bounds.l2, sharp.bounds.l2, 1e-8)
    assert.equal(2, sharp:clip_rows("l2", 2).bounds.l2)
  end)

  it("holds of every row what it says, also of those that the bound is reached by", function()
    local rng = pn.rng.seeded(1)
    for _ = 1, 20 do
      local rows = {}
      for i = 1, 4 do rows[i] = pn.vec.normal(4, rng):table() end
      local A = pn.mat(rows)
      local _, s, Vt = A:svd()
      local first = Vt.rows == 4 and Vt or A
      local d = pn.data.from({ (7 * first[1]):table(), first:t()[1]:table(), rows[1] }, { 0, 0, 0 }):clip_rows("l2", 1)
      local z = d:transform(A)
      assert.is_true(z.bounds.l2 <= s[1] * (1 + 1e-12))
      for i = 1, 3 do assert.is_true(z.X[i]:norm() <= z.bounds.l2) end
    end
  end)

  it("changes one row alone when one record is another", function()
    local a = pn.data.from({ { 1, 2 }, { 3, 4 }, { 5, 6 } }, { 1, 2, 3 }):clip_rows("l2", 9):transform { { 1, 1 }, { 0, 2 } }
    local b = pn.data.from({ { 1, 2 }, { -9, 4 }, { 5, 6 } }, { 1, 2, 3 }):clip_rows("l2", 9):transform { { 1, 1 }, { 0, 2 } }
    for _, i in ipairs { 1, 3 } do assert.same(a.X[i]:table(), b.X[i]:table()) end
    assert.equal(a.bounds.l2, b.bounds.l2)
  end)

  it("gives an objective its own sensitivity, which the old bound would have understated", function()
    local d = dense():clip_rows("l2", 1):with_labels { 1, -1, 1 }
    local function slope(data) return pn.objective { data = data, loss = pn.loss.logistic() }.bounds.lipschitz.l2 end
    assert.near(1, slope(d), 1e-9)
    assert.near(norm(P), slope(d:transform(P)), 1e-9)
  end)

  it("refuses sizes that do not agree, rows without a bound and maps that are no numbers", function()
    local d = dense()
    assert.equal("transform: P is 2 x 2, the data has 3 features", refusal(d.transform, d, { { 1, 0 }, { 0, 1 } }))
    local free = pn.data.from({ { 1, 2, 3 } }, { 0 })
    assert.matches("transform: the rows have no public bound", refusal(free.transform, free, P), 1, true)
    assert.matches("transform: P times rows of norm 5 would have norm up to 0", refusal(d.transform, d, pn.mat.zeros(2, 3)), 1,
      true)
    assert.matches("transform", refusal(d.transform, d, P * (1 / 0)), 1, true)
  end)
end)

describe("fit:in_terms_of", function()
  local d = pn.data.synthetic.logistic { n = 300, p = 3, seed = 1 }:clip_rows("l2", 1)
  local A = pn.mat { { 2, 0, 0 }, { 1, 1, 0 }, { 0, 0, 4 } }

  local function fit(data, options)
    local all = { epsilon = 1, delta = 1e-6, iterations = 5, rng = pn.rng.seeded(1) }
    for name, value in pairs(options or {}) do all[name] = value end
    return pn.solve.gradient_descent(pn.objective { data = data, loss = pn.loss.logistic(),
      set = pn.set.l2_ball { dim = data.p, radius = 9 } }, all)
  end

  it("predicts of the records before what the fit predicts of the changed ones", function()
    local shift = pn.vec { 1, -2, 3 }
    local z = d:transform(A)
    local run = fit(z)
    local back = run:in_terms_of(d, { map = A, shift = shift })
    local before, after = run:predict(z.X), back:predict(d.X)
    for i = 1, d.n do assert.near(before[i] + d.X[i]:dot(shift), after[i], 1e-12) end
    assert.same((A:t() * run.theta + shift):table(), back.theta:table())
    assert.same(run.theta:table(), run:in_terms_of(z, {}).theta:table())
  end)

  it("maps each margin of several by itself", function()
    local three = d:with_labels(d.y:map(function(y) return 2 + y * pn.gt(y, 0) end)):clip_labels(1, 3)
    local z = three:transform(A)
    local run = pn.solve.gradient_descent(pn.objective { data = z, loss = pn.loss.softmax { classes = 3 },
      set = pn.set.l2_ball { dim = 9, radius = 9 } }, { epsilon = 1, delta = 1e-6, iterations = 5 })
    local before, after = run:predict(z.X), run:in_terms_of(three, { map = A }):predict(three.X)
    for k = 1, 3 do assert.near(before:get(7, k), after:get(7, k), 1e-12) end
  end)

  it("keeps the privacy statement, and says in every text and file what was declared public", function()
    local path = os.tmpname()
    local run = fit(d, { rng = pn.rng.secure() })
    local back = run:in_terms_of(d, { shift = { 1, 1, 1 }, declared = "offset from 40 records" })
    assert.same(run.privacy, back.privacy)
    local says = "offset from 40 records: declared public by the caller, not covered by"
    for _, suffix in ipairs { "", ".json" } do
      if suffix == "" then back:save(path) else back:export(path .. suffix) end
      for _, one in ipairs { back, pn.load(path .. suffix) } do
        assert.same(back.theta:table(), one.theta:table())
        assert.equal(run.privacy.epsilon, one.privacy.epsilon)
        for _, text in ipairs { tostring(one), one:card() } do
          assert.truthy(text:gsub("\n%s*", " "):find(says, 1, true), text)
        end
      end
      os.remove(path .. suffix)
    end
    assert.is_nil(tostring(run):find("declared public", 1, true))
    assert.is_nil(run:card():find("declared public", 1, true))
    assert.is_nil(tostring(back):find("loaded", 1, true))
    local default = run:in_terms_of(d, { map = A })
    assert.truthy(tostring(default):find("public   map: declared", 1, true))
  end)

  it("claims nothing that is of the run's coordinates: value, moments, set", function()
    local run = pn.solve.sufficient_statistics(pn.objective { data = d, loss = pn.loss.squared(),
      set = pn.set.l2_ball { dim = 3, radius = 1 } }, { epsilon = 1, delta = 1e-6 })
    local back = run:in_terms_of(d, { shift = { 1, 1, 1 } })
    assert.truthy(run.moments)
    assert.is_nil(back.moments)
    assert.matches("fit.value: the run's objective is in other coordinates", refusal(function() return back.value end), 1, true)
    assert.is_nil(back:card():find("l2_ball", 1, true))
    assert.matches("the fit keeps no second moments", refusal(back.path, back), 1, true)
  end)

  it("refuses what does not fit, and leaves the fit as it was", function()
    local run = fit(d)
    local theta = run.theta:table()
    for message, options in pairs {
      ["in_terms_of: map has 2 rows, the run had 3 features"] = { map = P },
      ["in_terms_of: data has 3 features, map has columns for 1"] = { map = { { 1 }, { 2 }, { 3 } } },
      ["in_terms_of: shift has 2 entries, theta of these records has 3"] = { shift = { 1, 2 } },
      ["in_terms_of: entry 2 of shift must be finite, got inf"] = { shift = pn.vec { 1, 1e308, 2 } * 10 },
      ["in_terms_of: unknown option 'offset'"] = { offset = { 1, 2, 3 } },
      ["in_terms_of: declared must be a text of 1 to 255 bytes"] = { declared = ("x"):rep(256) },
    } do
      assert.matches(message, refusal(run.in_terms_of, run, d, options), 1, true)
    end
    assert.equal("in_terms_of: data has 20 records, the run had 300", refusal(run.in_terms_of, run, d:take(20), {}))
    assert.same(theta, run.theta:table())
  end)
end)
