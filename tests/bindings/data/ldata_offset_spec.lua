-- ldata_offset_spec.lua -- d:offset_labels: what is left of the labels after a public prediction, and that its range holds.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal

local theta = pn.vec{0.25, -0.5, 1}

local function dense()
  return pn.data.from({{3, 0, 4}, {0, 0, 0}, {0, -0.5, 0}}, {5, -2, 0.5}):clip_rows("l2", 10)
end

local function sparse()
  local X = pn.sparse{rows = 3, cols = 3, i = {1, 1, 3}, j = {1, 3, 2}, x = {3, 4, -0.5}}
  return pn.data.from(X, {5, -2, 0.5}):clip_rows("l2", 10)
end

describe("d:offset_labels", function()
  it("takes the prediction from the labels and clamps what is left, of dense, sparse and float32 rows", function()
    for _, d in ipairs{dense(), sparse(), dense():float32(), sparse():float32()} do
      assert.same({0.25, -1.5, 0.25}, d:offset_labels(theta, 1.5).y:table()) -- 5 - 4.75, -2, 0.5 - 0.25
      assert.same({0.25, -2, 0.25}, d:offset_labels(theta, 8).y:table())
      assert.same({5, -2, 0.5}, d.y:table())
    end
  end)

  it("enforces the range, whatever was enforced before, and keeps the rows' bounds", function()
    local made = dense():clip_labels(-0.5, 0.5):offset_labels(theta, 8)
    assert.same({-8, 8}, {made.bounds.labels[1], made.bounds.labels[2]})
    assert.equal(10, made.bounds.l2)
    local signs = pn.data.from({{1}, {2}}, {-1, 1})
    made = signs:offset_labels({0}, 3) -- still -1 and 1, but that is no longer what holds of every record
    assert.same({-3, 3}, {made.bounds.labels[1], made.bounds.labels[2]})
  end)

  it("keeps the range where a prediction overflows", function()
    local d = pn.data.from({{1e200, 1e200}, {1e200, -1e200}}, {0, 0})
    for _, by in ipairs{{1e200, 1e200}, {1e200, -1e200}} do
      local y = d:offset_labels(by, 2).y
      for i = 1, 2 do assert.is_true(y[i] >= -2 and y[i] <= 2) end
    end
  end)

  it("changes one label alone when one record is another", function()
    local a = pn.data.from({{1, 2}, {3, 4}, {5, 6}}, {1, 2, 3}):offset_labels({0.5, 0.5}, 4)
    local b = pn.data.from({{1, 2}, {-9, 4}, {5, 6}}, {1, 70, 3}):offset_labels({0.5, 0.5}, 4)
    assert.same({a.y[1], a.y[3]}, {b.y[1], b.y[3]})
    assert.equal(4, b.y[2])
  end)

  it("refuses a theta or a bound that cannot be meant", function()
    local d = dense()
    assert.equal("offset_labels: theta has 2 entries, the data has 3 features", refusal(d.offset_labels, d, {1, 2}, 1))
    assert.equal("offset_labels: entry 2 of theta must be finite, got inf",
      refusal(d.offset_labels, d, pn.vec{1, 1e308, 1} * 10, 1))
    assert.equal("offset_labels: bound must be positive and finite, got 0", refusal(d.offset_labels, d, theta, 0))
    assert.matches("offset_labels: bound", refusal(d.offset_labels, d, theta, 1 / 0), 1, true)
  end)

  it("lowers the noise of a fit of sufficient statistics by the range that it saves", function()
    local all, truth = pn.data.synthetic.lasso{n = 2000, p = 5, sparsity = 5, seed = 3}
    local d = all:clip_rows("l2", math.sqrt(5)):clip_labels(-1, 1)
    local near, error_of = truth * 0.95, {plain = 0, offset = 0}
    local function fit(data, seed)
      return pn.solve.sufficient_statistics(pn.objective{data = data, loss = pn.loss.squared(),
        set = pn.set.l2_ball{dim = 5, radius = 2}}, {rho = 1e-4, rng = pn.rng.seeded(seed)})
    end
    local tight = d:offset_labels(near, 0.1)
    for seed = 1, 10 do
      local plain, offset = fit(d, seed), fit(tight, seed)
      assert.equal(0.1, offset.moments.label_bound)
      error_of.plain = error_of.plain + (plain.theta - truth):norm()
      error_of.offset = error_of.offset + (near + offset.theta - truth):norm()
    end
    assert.is_true(error_of.offset < 0.5 * error_of.plain)
  end)
end)
