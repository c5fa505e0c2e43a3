-- ldata_float32_spec.lua -- float32 data sets in Lua: what they show, and that losses see the numbers that are stored.
local pn = require "penumbra"

local function dense()
  return (pn.data.synthetic.logistic { n = 500, p = 13, sparsity = 3 })
end

local function random(n, p, rng)
  return pn.vec.normal(n * p, rng):reshape(n, p)
end

-- Entries that no float holds, labels of -1 and 1; sparse with about every third entry.
local function sample(sparse)
  local rng = pn.rng.seeded(5)
  local n, p = 2100, 11 -- more records than a block of the Gram matrix holds
  local X, y = random(n, p, rng), {}
  for i = 1, n do
    y[i] = i % 3 == 0 and 1 or -1
  end
  if sparse then
    local i, j, x = {}, {}, {}
    for r = 1, n do
      for c = 1 + r % 3, p, 3 do
        i[#i + 1], j[#j + 1], x[#x + 1] = r, c, X:get(r, c)
      end
    end
    X = pn.sparse { rows = n, cols = p, i = i, j = j, x = x }
  end
  return pn.data.from(X, y)
end

local function objective(d, loss)
  return pn.objective { data = d, loss = loss, set = pn.set.l1_ball { dim = d.p, radius = 1 } }
end

describe("a float32 data set", function()
  it("says how it is stored", function()
    local d = sample()
    assert.equal("float64", d.storage)
    assert.equal("float32", d:float32().storage)
    assert.matches("2100 x 11, dense, float32\n", tostring(d:float32()))
    assert.matches("2100 x 11, sparse, float32\n", tostring(sample(true):float32()))
  end)

  it("is given back as it is when it is asked for again", function()
    local s = dense():float32()
    assert.equal(s, s:float32())
  end)

  it("shows its features as doubles that are cut off toward zero and cannot be changed", function()
    local s = pn.data.from({ { 0.1, -0.1, 0.5 } }, { 1 }):float32()
    assert.same({ 0x1.999998p-4, -0x1.999998p-4, 0.5 }, s.X[1]:table())
    assert.has_error(function() s.X:set(1, 1, 0) end)
    local S = sample(true):float32().X
    assert.equal(sample(true).X.nnz, S.nnz)
    local got, want = S * pn.vec.ones(11), sample(true).X * pn.vec.ones(11)
    assert.is_true((got - want):norm(math.huge) < 1e-6 and (got - want):norm(math.huge) > 0)
  end)

  it("stays valid and float32 through every method", function()
    local s = sample():clip_rows("l2", 1):float32()
    assert.same({ "float32", 1 }, { s.storage, s.bounds.l2 })
    for _, made in ipairs { s:take(3), s:shuffle(pn.rng.seeded(1)), (s:split(0.5, pn.rng.seeded(1))), s:add_bias(),
      s:clip_labels(-0.5, 0.5), s:with_labels(pn.vec.zeros(2100)), s:clip_rows("linf", 0.1),
      s:rescale(pn.vec.ones(11) * -2, pn.vec.ones(11) * 2) } do
      assert.equal("float32", made.storage)
    end
    assert.same(s.X[2]:table(), s:take(3).X[2]:table())
    assert.equal(1, s:add_bias().X:get(2100, 12))
    assert.equal(s.X:get(7, 11), s:add_bias().X:get(7, 11))
    assert.is_true(s:summary().max_l2 <= 1)
    assert.is_true(s:clip_rows("linf", 0.1):summary().max_linf <= 0.1) -- 0.1 lies below the float nearest to it
  end)

  it("refuses numbers that no float holds, with their position", function()
    local ok, message = pcall(function() return pn.data.from({ { 1, 2 }, { 3, 1e39 } }, { 1, 1 }):float32() end)
    assert.is_false(ok)
    assert.matches("float32: entry %(2, 2%) is beyond the range of float32, 3.4e38", message)
  end)
end)

describe("an objective over float32 data", function()
  for _, storage in ipairs { "dense", "sparse" } do
    it("is, bit for bit, that of the same numbers as doubles: " .. storage, function()
      local s = sample(storage == "sparse"):float32()
      local d = pn.data.from(s.X, s.y)
      local theta = pn.vec.linspace(-0.1, 0.2, 11)
      for _, loss in ipairs { pn.loss.logistic(), pn.loss.squared() } do
        local a, b = objective(s, loss), objective(d, loss)
        assert.equal(b:value(theta), a:value(theta))
        assert.equal(b:gradient(theta), a:gradient(theta))
        assert.equal(b:hvp(theta, theta), a:hvp(theta, theta))
      end
      local a, b = objective(s, pn.loss.squared()), objective(d, pn.loss.squared())
      assert.equal(b:exact_curvature(), a:exact_curvature()) -- by way of the Gram matrix, which is used from then on
      assert.equal(b:gradient(theta), a:gradient(theta))
    end)
  end
end)
