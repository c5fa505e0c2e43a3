-- group_ball_spec.lua -- the group ball beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

describe("group_ball", function()
  it("projects (3, -1, 0.5, 2) in blocks of two", function() -- geometry.md section 4
    v.near({0.9486833, -0.3162278, 0, 0}, pn.set.group_ball{dim = 4, k = 2}:project{3, -1, 0.5, 2}, 1e-7)
    local s = math.sqrt(10)
    v.near({3 / s, -1 / s, 0, 0}, pn.set.group_ball{dim = 4, k = 2}:project{3, -1, 0.5, 2}, 1e-15)
  end)

  it("is the l1 ball with blocks of one and the l2 ball with one block", function()
    v.same_set(pn.set.group_ball{dim = 7, k = 1, radius = 2}, pn.set.l1_ball{dim = 7, radius = 2}, 1e-14)
    v.same_set(pn.set.group_ball{dim = 7, k = 7, radius = 2}, pn.set.l2_ball{dim = 7, radius = 2}, 1e-14)
  end)

  it("has a shorter last block", function()
    local C = pn.set.group_ball{dim = 5, k = 3, radius = 2}
    assert.is_near((3 + 5) / 2, C:gauge{2, 2, 1, 3, 4}, 1e-15)
    local value, x = C:support{2, 2, 1, 3, 4}
    assert.is_near(10, value, 1e-14)
    v.near({0, 0, 0, 1.2, 1.6}, x, 1e-15)
    assert.is_near(2 * math.sqrt(3), C:radius_in("l1"), 1e-14)
    assert.equal(2, C.radius)
  end)

  it("takes the first of equal blocks, and the origin for no direction", function()
    local C = pn.set.group_ball{dim = 4, k = 2}
    v.near({0.6, 0.8, 0, 0}, select(2, C:support{3, 4, 4, 3}), 1e-15)
    assert.same({0, 0, 0, 0}, v.numbers(select(2, C:support{0, 0, 0, 0})))
  end)

  it("keeps numbers whose squares overflow or vanish", function()
    local C = pn.set.group_ball{dim = 4, k = 2}
    v.near({0.6, 0.8, 0, 0}, C:project{3e200, 4e200, 0, 1}, 1e-15)
    assert.is_near(5e-200, C:gauge{3e-200, 4e-200, 0, 0}, 1e-214)
  end)

  it("refuses blocks larger than the vector", function()
    v.refused(pn.set.group_ball, {dim = 3, k = 4}, "set.group_ball: k must be at most dim, which is 3, got 4")
  end)
end)
