-- rescale_spec.lua -- features brought to [-1, 1] by public ranges.
local pn = require "penumbra"

describe("rescale", function()
  local data = pn.data.from({ { 0, 5, 1 }, { 10, 100, 0 }, { -3, 7.5, -1 } }, { 1, -1, 1 })
  local ranged = data:rescale({ 0, 5, -1 }, { 10, 10, 1 })

  it("maps each range to [-1, 1] and clamps what lies outside", function()
    local expected = pn.mat { { -1, -1, 1 }, { 1, 1, 0 }, { -1, 0, -1 } }
    assert.is_true(ranged.X == expected)
  end)

  it("enforces that bound and forgets those of before", function()
    assert.equal(1, ranged.bounds.linf)
    assert.equal(3, ranged.bounds.l1)
    assert.equal(1, data:clip_rows("l2", 0.5):rescale({ 0, 0, 0 }, { 1, 1, 1 }).bounds.linf)
    assert.is_nil(data.bounds.linf)
  end)

  it("keeps labels and their bounds", function()
    assert.is_true(ranged.y == data.y)
    assert.same(data.bounds.labels, ranged.bounds.labels)
  end)

  it("reads sparse data as well", function()
    local sparse = pn.data.from(pn.sparse { rows = 2, cols = 2, i = { 1 }, j = { 2 }, x = { 4 } }, { 1, 1 })
    assert.is_true(sparse:rescale({ -1, 0 }, { 1, 8 }).X == pn.mat { { 0, 0 }, { 0, -1 } })
  end)

  it("never leaves [-1, 1], whatever the rounding", function()
    local rng = pn.rng.seeded(6)
    for _ = 1, 200 do
      local low = (rng:uniform() - 0.5) * 10 ^ rng:integer(12)
      local high = low + rng:uniform() * 10 ^ (rng:integer(12) - 6) + 1e-3
      local one = pn.data.from({ { low }, { high }, { low + (high - low) * rng:uniform() } }, { 1, 1, 1 })
      assert.is_true(one:rescale({ low }, { high }).X:vec():norm(math.huge) <= 1)
    end
  end)

  it("names what is wrong with a range", function()
    local function message(...) return select(2, pcall(data.rescale, data, ...)) end
    assert.is_truthy(message({ 0, 0 }, { 1, 1 }):find("2 entries, the data has 3", 1, true))
    assert.is_truthy(message({ 0, 0 }, { 1, 1, 1 }):find("low has 2 entries, high has 3", 1, true))
    assert.is_truthy(message({ 0, 3, 0 }, { 1, 3, 1 }):find("got 3 and 3 for feature 2", 1, true))
  end)
end)
