-- box_spec.lua -- the box beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

describe("box", function()
  it("clips in a projection", function()
    local p = pn.set.box{lower = {-1, 0, 2}, upper = {1, 3, 2}}:project{-5, 2, 9}
    assert.equal(-1, p[1])
    assert.equal(2, p[2])
    assert.equal(2, p[3])
  end)

  it("takes radius and diameter from its corners", function()
    local C = pn.set.box{lower = {-3, 1}, upper = {1, 4}}
    assert.is_near(5, C.radius, 1e-14) -- (-3, 4)
    assert.is_near(7, C:radius_in("l1"), 1e-14)
    assert.equal(4, C:radius_in("linf"))
    assert.is_near(5, C.diameter, 1e-14) -- sides 4 and 3
    assert.is_near(math.sqrt(13), (C + {0, -4 - 1 + 2}).radius, 1e-14) -- [-3, 1] x [-2, 1]
  end)

  it("has as gauge the least multiple, also away from the origin", function()
    local C = pn.set.box{lower = {1, 1}, upper = {2, 2}}
    assert.equal(2, C:gauge{3, 4}) -- t <= 3, 4 and t >= 3/2, 4/2
    assert.equal(math.huge, C:gauge{1, 4})
    assert.equal(math.huge, C:gauge{-1, 1})
    assert.equal(0, pn.set.box{lower = {-1}, upper = {1}}:gauge{0})
  end)

  it("refuses bounds in the wrong order or of different lengths", function()
    assert.has_error(function() pn.set.box{lower = {0, 2}, upper = {1, 1}} end,
      "set.box: lower must be <= upper, got 2 > 1 at entry 2")
    assert.has_error(function() pn.set.box{lower = {0, 2}, upper = {1}} end,
      "set.box: lower has 2 entries, upper has 1")
    local ok, message = pcall(pn.set.box, {lower = {0, 0 / 0}, upper = {1, 1}})
    assert.is_false(ok)
    assert.truthy(message:find("entry 2", 1, true), message)
  end)

  it("is symmetric when its bounds are: then its gauge is a norm", function()
    local even = pn.set.box{lower = {-1, -2}, upper = {1, 2}}
    assert.equal(3, pn.norm.minkowski(even):value{-1, 6})
  end)
end)
