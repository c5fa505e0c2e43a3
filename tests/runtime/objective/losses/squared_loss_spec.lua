-- squared_loss_spec.lua -- (z - y)^2 / 2, beyond what conformance_spec.lua asks of every loss.
local pn = require "penumbra"

describe("the squared loss", function()
  local l = pn.loss.squared()

  it("is half the square, so that its slope is the residual", function()
    local value, slope, curvature = l:evaluate({3, -1}, {1, 1})
    assert.equal(2, value[1])
    assert.equal(2, value[2])
    assert.equal(2, slope[1])
    assert.equal(-2, slope[2])
    assert.equal(1, curvature[1])
  end)

  it("has the range of (z - y) over both intervals", function()
    local range = l:range({-2, 3}, {-1, 1}) -- z - y in [-3, 4]
    assert.is_near(-3, range.slope[1], 1e-13)
    assert.is_near(4, range.slope[2], 1e-13)
    assert.equal(0, range.value[1])
    assert.is_near(8, range.value[2], 1e-13)
    assert.same({1, 1}, range.curvature)
    assert.is_near(0.5, l:range({2, 3}, {0, 1}).value[1], 1e-13)
    assert.is_near(2, l:range({-4, -3}, {-1, 0}).value[1], 1e-13)
  end)

  it("says what is unbounded when labels are", function()
    local range = l:range({-1, 1}, {-math.huge, math.huge})
    assert.same({-math.huge, math.huge}, range.slope)
    assert.same({1, 1}, range.curvature)
    assert.truthy(range.missing:find("is unbounded where z - y is in [-inf, inf]", 1, true), range.missing)
  end)

  it("has a value without an upper bound where its square overflows, and a slope with one", function()
    local range = l:range({-1e200, 1}, {0, 1})
    assert.equal(math.huge, range.value[2])
    assert.is_near(-1, range.slope[1] / 1e200, 1e-9)
  end)

  it("is convex and takes real labels", function()
    assert.is_true(l.convex)
    assert.equal("real", l.labels)
  end)
end)
