-- affine_spec.lua -- scaled and shifted sets beyond what conformance_spec.lua asks of them.
local pn = require "penumbra"

describe("a scaled or shifted set", function()
  local C = pn.set.l1_ball{dim = 3, radius = 2}

  it("scales from either side", function()
    assert.equal(6, (3 * C).radius)
    assert.equal(6, (C * 3).radius)
    assert.equal(1.5, (3 * C):gauge{4, -4, 1})
  end)

  it("folds nested wrappers: a (f C + s) + t = (a f) C + (a s + t)", function()
    local D = 2 * (0.5 * (3 * C + {2, 0, 0}) + {1, 1, 0}) - {0, 0, 5}
    local x = D:center()
    assert.equal(4, x[1])
    assert.equal(2, x[2])
    assert.equal(-5, x[3])
    assert.equal(12, D.diameter)
    assert.equal("3 * l1_ball(dim=3, radius=2) + shift", tostring(D):match "^[^:]*")
  end)

  it("takes the tolerance of contains in its own units, not in those of the set inside", function()
    local large, small = 1000 * C, 0.001 * C
    assert.is_true(large:contains({2000 + 1e-7, 0, 0}, 1e-6))
    assert.is_false(large:contains({2000 + 1e-7, 0, 0}, 1e-8))
    assert.is_true(small:contains({0.002 + 1e-7, 0, 0}, 1e-6))
    assert.is_false(small:contains({0.002 + 1e-7, 0, 0}, 1e-8))
  end)

  it("lives on when the set that it was made from is dropped", function()
    local D
    do
      local inner = pn.set.polytope{vertices = {{1, 2}, {3, 4}}}
      D = 2 * inner + {1, 1}
    end
    collectgarbage()
    collectgarbage()
    assert.equal(9, D:vertices():get(2, 2))
  end)

  it("finds the exact radius of a shifted ball in a million coordinates", function()
    local center = {}
    for i = 1, 1000000 do
      center[i] = i == 5 and 3 or 0
    end
    local D = pn.set.l1_ball{dim = 1000000, radius = 4, center = center}
    assert.is_near(7, D.radius, 1e-12)
    assert.is_near(7, D:radius_in("l1"), 1e-12)
  end)

  it("has a gauge when it is shifted, too, as long as the origin stays inside", function()
    -- ||x - (1, 0, 0)||_1 <= 2 for x = t (1, 1, 1): |t - 1| + 2 t <= 2 for t <= 1
    assert.is_near(1, (C + {1, 0, 0}):gauge{1, 1, 1}, 1e-8)
    assert.error_matches(function() return (C + {5, 0, 0}):gauge{1, 1, 1} end, "origin")
  end)

  it("is reflected by a negative factor", function()
    local D = -2 * pn.set.simplex{dim = 3}
    assert.is_true(D:contains{0, -2, 0})
    assert.is_false(D:contains{0, 2, 0})
    assert.equal(2, (D:support{-1, 0, 0}))
  end)

  it("refuses factors that are zero or not finite, and shifts that do not fit", function()
    for _, factor in ipairs {0, math.huge, 0 / 0} do
      local ok, message = pcall(function() return factor * C end)
      assert.is_false(ok)
      assert.truthy(message:find("factor must be", 1, true), message)
    end
    assert.has_error(function() return C + {1, 2} end, "C + v: v has 2 entries, the set has 3")
    assert.has_error(function() return C + 1 end, "C + v: v must be a vector or another pn.set, got 1")
    assert.error_matches(function() return C - C end, "C %- v: v must be a vector, got")
    local ok, message = pcall(function() return C + pn.vec{1, 1e308, 3} * 10 end)
    assert.is_false(ok)
    assert.truthy(message:find("at entry 2", 1, true), message)
  end)
end)
