-- real_data_spec.lua -- the public data sets in the folder PENUMBRA_DATA, against the counts that their sources state.
local pn = require "penumbra"
local folder = os.getenv("PENUMBRA_DATA")

if not folder or folder == "" then
  io.stderr:write("skipped: PENUMBRA_DATA is not set\n")
  return
end

local function counts(d)
  local out = {}
  for _, entry in ipairs(d:summary().label_counts) do
    out[entry.label] = entry.count
  end
  return out
end

describe("public data sets", function()
  local function libsvm(name, options)
    return pn.data.libsvm(folder .. "/" .. name, options)
  end

  local function csv(name, options)
    return pn.data.csv(folder .. "/" .. name, options)
  end

  it("include covtype with the counts and the column means of covtype.info", function()
    local d = libsvm("covtype.libsvm.binary.gz")
    assert.same({ 581012, 54, false }, { d.n, d.p, d.sparse })
    assert.same({ [1] = 297711, [2] = 283301 }, counts(d))
    assert.near(9366.0, d:summary().max_l2, 0.05)
    local mean = d.X:t() * (pn.vec.ones(d.n) / d.n)
    local want = { 2959.36, 155.65, 14.10, 269.43, 46.42, 2350.15, 212.15, 223.32, 142.53, 1980.29 }
    for j, value in ipairs(want) do
      assert.near(value, mean[j], 0.01) -- two digits, some rounded, some cut
    end
    d = libsvm("covtype.libsvm.binary.gz", { labels = "binary" })
    assert.same({ [-1] = 297711, [1] = 283301 }, counts(d))
    assert.same({ -1, 1 }, d.bounds.labels)
  end)

  it("include a9a, sparse, with rows of at most 14 ones", function()
    local d = libsvm("a9a.gz")
    assert.same({ 32561, 123, true }, { d.n, d.p, d.sparse })
    assert.same({ [-1] = 24720, [1] = 7841 }, counts(d))
    assert.near(math.sqrt(14), d:summary().max_l2, 1e-14)
    assert.is_nil(d.bounds.labels) -- seen, not declared
    assert.same({ -1, 1 }, libsvm("a9a.gz", { labels = "binary" }).bounds.labels)
    local clipped = d:clip_rows("l2", 1):summary()
    assert.is_true(clipped.max_l2 <= 1 and clipped.max_l2 > 1 - 1e-12)
  end)

  it("include a9a's test part, whose largest index is below the width", function()
    assert.equal(122, libsvm("a9a.t.gz").p)
    local d = libsvm("a9a.t.gz", { cols = 123 })
    assert.same({ 16281, 123 }, { d.n, d.p })
    assert.same({ [-1] = 12435, [1] = 3846 }, counts(d))
  end)

  it("include wide, sparse ones", function()
    local d = libsvm("dorothea.train.libsvm.gz")
    assert.same({ 800, 88119, true }, { d.n, d.p, d.sparse })
    assert.equal(727760, d:summary().nonzeros)
  end)

  it("include CSV with commas, with semicolons, and with a first line that is no header", function()
    local wine = csv("winequality-red.csv.gz")
    assert.same({ 1599, 11 }, { wine.n, wine.p })
    assert.same({ 3, 8 }, { wine:summary().label_min, wine:summary().label_max })
    local diabetes = csv("diabetes.csv.gz", { label = "target" })
    assert.same({ 442, 10 }, { diabetes.n, diabetes.p })
    assert.same({ 25, 346 }, { diabetes:summary().label_min, diabetes:summary().label_max })
    local cancer = csv("breast_cancer.csv.gz", { header = true })
    assert.same({ 569, 30 }, { cancer.n, cancer.p })
    assert.same({ 12, "fixed acidity", "alcohol", "bias" },
      { wine.p + 1, wine.features[1], wine.features[11], wine:add_bias().features[12] })
    assert.is_nil(cancer.features)
    assert.same({ [0] = 212, [1] = 357 }, counts(cancer)) -- the counts that UCI states: 212 malignant, 357 benign
  end)

  it("include a column of codes, which one-hot features count as its labels do", function()
    local labels = csv("covtype.sample50k.csv.gz", { label = "Target", columns = { "V1" } }).y
    local coded = csv("covtype.sample50k.csv.gz", { label = "V1", columns = { "Target" }, one_hot = { "Target" } })
    local counted = {}
    for i = 1, coded.n do
      local k = math.tointeger(labels[i])
      counted[k] = (counted[k] or 0) + 1
    end
    assert.same({ "Target=1", "Target=2", "Target=3", "Target=4", "Target=5", "Target=6", "Target=7" }, coded.features)
    assert.same(counted, (coded.X:t() * pn.vec.ones(coded.n)):table())
  end)

  it("keep their bounds as float32", function()
    local wine = csv("winequality-red.csv.gz"):clip_rows("l2", 30)
    local single = wine:float32()
    assert.same(wine.bounds, single.bounds)
    assert.is_true(single:summary().max_l2 <= 30)
    assert.near(wine:summary().max_l1, single:summary().max_l1, 1e-4)
    local theta = pn.vec.linspace(-1, 1, 11)
    local set = pn.set.l2_ball { dim = 11, radius = 10 }
    local a = pn.objective { data = wine, loss = pn.loss.squared(), set = set }:gradient(theta)
    local b = pn.objective { data = single, loss = pn.loss.squared(), set = set }:gradient(theta)
    assert.is_true((a - b):norm() <= 1e-6 * a:norm() and (a - b):norm() > 0)
  end)
end)
