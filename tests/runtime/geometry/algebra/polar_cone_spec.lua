-- polar_cone_spec.lua -- polars of cones: Moreau's decomposition, the dual exponential cone, polars of polars.
local pn = require "penumbra"

local cones = {
  pn.set.nonnegative {dim = 3}, pn.set.second_order_cone {dim = 3}, pn.set.rotated_second_order_cone {dim = 4},
  pn.set.exponential_cone {}, pn.set.psd_cone {n = 2},
}

describe("the polar of a cone", function()
  it("splits every point into two orthogonal projections", function()
    local rng = pn.rng.seeded(3)
    for _, K in ipairs(cones) do
      local P = K:polar()
      for _ = 1, 30 do
        local z = pn.vec.normal(K.dim, rng)
        local a, b = K:project(z), P:project(z)
        assert.is_true((a + b - z):norm() < 1e-12)
        assert.is_true(math.abs(a:dot(b)) < 1e-10)
        assert.is_true(P:contains(b, 1e-10))
        assert.is_true(a:norm() < 1e-9 or not P:contains(z, 1e-12))
      end
    end
  end)

  it("holds what has no positive inner product with the cone", function()
    local P = pn.set.nonnegative {dim = 2}:polar()
    assert.is_true(P:contains {-1, 0})
    assert.is_false(P:contains {-1, 0.1})
    assert.equal(0, P:gauge {-3, -1})
    assert.equal(math.huge, P:gauge {3, -1})
    assert.equal(math.huge, P.radius)
  end)

  it("is the dual exponential cone, reflected", function()
    -- The dual is the closure of {(u, v, w): u < 0, -u exp(v/u) <= e w}.
    local D = -1 * pn.set.exponential_cone {}:polar()
    assert.is_true(D:contains({-1, 0, 1 / math.exp(1) + 1e-9}, 1e-12))
    assert.is_false(D:contains({-1, 0, 1 / math.exp(1) - 1e-6}, 1e-9))
    assert.is_true(D:contains({-2, 1, 2 * math.exp(-0.5 - 1) + 1e-9}, 1e-12))
    assert.is_false(D:contains({1, 0, 5}, 1e-6))
  end)

  it("is undone by taking it again", function()
    for _, K in ipairs(cones) do
      assert.equal(tostring(K), tostring(K:polar():polar()))
    end
  end)
end)
