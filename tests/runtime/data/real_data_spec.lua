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
    assert.same({ [0] = 212, [1] = 357 }, counts(cancer)) -- the counts that UCI states: 212 malignant, 357 benign
  end)
end)
