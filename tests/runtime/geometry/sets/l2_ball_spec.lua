-- l2_ball_spec.lua -- the Euclidean ball beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

describe("l2_ball", function()
  it("projects (3, -1, 0.5, 2) on the unit ball as geometry.md section 4 says", function()
    local p = pn.set.l2_ball{dim = 4}:project{3, -1, 0.5, 2}
    for i, want in ipairs {0.7947194, -0.2649065, 0.1324532, 0.5298129} do
      assert.is_near(want, p[i], 5e-8)
    end
  end)

  it("supports along g, and at its middle when g is zero", function()
    local C = pn.set.l2_ball{dim = 2, radius = 10}
    local value, x = C:support{3, -4}
    assert.is_near(50, value, 1e-13)
    assert.is_near(6, x[1], 1e-14)
    assert.is_near(-8, x[2], 1e-14)
    value, x = C:support{0, 0}
    assert.equal(0, value)
    assert.equal(0, x[1])
    assert.equal(0, x[2])
  end)

  it("does not overflow or vanish where the squares would", function()
    local C = pn.set.l2_ball{dim = 2, radius = 1}
    for _, size in ipairs {1e300, 1e-300} do
      local p, x = C:project{3e300, 4e300}, select(2, C:support{3 * size, 4 * size})
      assert.is_near(0.6, p[1], 1e-15)
      assert.is_near(0.8, x[2], 1e-15)
    end
  end)

  it("has l1 radius r sqrt(dim), rounded up", function()
    local C = pn.set.l2_ball{dim = 3, radius = 2}
    assert.is_near(2 * math.sqrt(3), C:radius_in("l1"), 1e-14)
    assert.is_true(C:radius_in("l1") ^ 2 >= 12)
    assert.equal(2, C:radius_in("linf"))
  end)

  it("has no list of vertices", function()
    assert.is_nil(pn.set.l2_ball{dim = 3}:vertices())
  end)
end)
