-- simplex_spec.lua -- the simplex beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

local function numbers(v)
  local out = {}
  for i = 1, #v do
    out[i] = v[i]
  end
  return out
end

describe("simplex", function()
  it("projects (3, -1, 0.5, 2) to (1, 0, 0, 0)", function() -- geometry.md section 4
    assert.same({1, 0, 0, 0}, numbers(pn.set.simplex{dim = 4}:project{3, -1, 0.5, 2}))
  end)

  it("projects by a common threshold", function() -- tau = (0.9 + 0.6 - 1) / 2 = 0.25
    local p = pn.set.simplex{dim = 3}:project{0.9, 0.6, 0.1}
    assert.is_near(0.65, p[1], 1e-15)
    assert.is_near(0.35, p[2], 1e-15)
    assert.equal(0, p[3])
  end)

  it("keeps its digits far from the origin", function()
    local p = pn.set.simplex{dim = 3}:project{2 ^ 52, 2 ^ 52, 2 ^ 52 - 8}
    assert.same({0.5, 0.5, 0}, numbers(p))
    p = pn.set.simplex{dim = 2}:project{-1e300, -1e300}
    assert.same({0.5, 0.5}, numbers(p))
  end)

  it("supports at the first largest entry", function()
    local value, x = pn.set.simplex{dim = 4, radius = 2}:support{-3, -1, -1, -2}
    assert.equal(-2, value)
    assert.same({0, 2, 0, 0}, numbers(x))
  end)

  it("has distance r sqrt 2 between vertices, and none when there is one vertex", function()
    local C = pn.set.simplex{dim = 3, radius = 2}
    assert.is_near(2 * math.sqrt(2), C.diameter, 1e-14)
    assert.is_true(C.diameter ^ 2 >= 8)
    assert.equal(4, C:diameter_in("l1"))
    assert.equal(2, C:diameter_in("linf"))
    assert.equal(0, pn.set.simplex{dim = 1}.diameter)
  end)

  it("is not the filled simplex: a point of smaller sum is outside but has a gauge", function()
    local C = pn.set.simplex{dim = 2}
    assert.is_false(C:contains{0.2, 0.2})
    assert.is_near(0.4, C:gauge{0.2, 0.2}, 1e-15)
    assert.equal(math.huge, C:gauge{1, -0.1})
  end)
end)
