-- linf_ball_spec.lua -- the cube beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

describe("linf_ball", function()
  it("supports at the vertex with the signs of g, and zero counts as positive", function()
    local value, x = pn.set.linf_ball{dim = 3, radius = 2}:support{-1, 0, 5}
    assert.equal(12, value)
    assert.equal(-2, x[1])
    assert.equal(2, x[2])
    assert.equal(2, x[3])
  end)

  it("has norms of (r, .., r) as radii", function()
    local C = pn.set.linf_ball{dim = 4, radius = 3}
    assert.is_near(12, C:radius_in("l1"), 1e-14)
    assert.is_near(6, C.radius, 1e-14)
    assert.equal(3, C:radius_in("linf"))
    assert.is_near(12, C.diameter, 1e-14)
  end)

  it("takes the exact radius of a shifted cube, not the sum of two radii", function()
    local C = pn.set.linf_ball{dim = 2, radius = 1, center = {3, 0}}
    assert.is_near(math.sqrt(17), C.radius, 1e-14) -- at (4, 1)
  end)

  it("prints the radius that it was given", function()
    assert.equal("linf_ball(dim=4, radius=3)", tostring(pn.set.linf_ball{dim = 4, radius = 3}):match "^[^:]*")
  end)
end)
