-- hypersimplex_spec.lua -- hypersimplex, unit_hypersimplex and ksparse_polytope beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

describe("hypersimplex", function()
  it("is the simplex for k = 1", function()
    v.same_set(pn.set.hypersimplex{dim = 6, k = 1, radius = 2}, pn.set.simplex{dim = 6, radius = 2}, 1e-13)
    v.same_set(pn.set.unit_hypersimplex{dim = 6, k = 1, radius = 2}, pn.set.unit_simplex{dim = 6, radius = 2}, 1e-13)
    v.same_set(pn.set.ksparse_polytope{dim = 6, k = 1, radius = 2}, pn.set.l1_ball{dim = 6, radius = 2}, 1e-13)
  end)

  it("is a cube for k = dim where the sum may be less", function()
    v.same_set(pn.set.ksparse_polytope{dim = 5, k = 5, radius = 2}, pn.set.linf_ball{dim = 5, radius = 2}, 1e-14)
    local C = pn.set.unit_hypersimplex{dim = 3, k = 3, radius = 2}
    v.near({2, 0, 1}, C:project{5, -1, 1}, 0)
    v.near({2, 2, 2}, pn.set.hypersimplex{dim = 3, k = 3, radius = 2}:project{5, -1, 1}, 0)
  end)

  it("projects by clipping at a threshold", function() -- tau = 0.5: 1 + 0.5 + 0.5 = 2
    v.near({1, 0.5, 0.5, 0}, pn.set.hypersimplex{dim = 4, k = 2}:project{9, 1, 1, 0.25}, 1e-15)
    v.near({-1, 0.5, -0.5, 0}, pn.set.ksparse_polytope{dim = 4, k = 2}:project{-9, 1, -1, 0.25}, 1e-15)
    v.near({1, 0.5, 0.25, 0}, pn.set.unit_hypersimplex{dim = 4, k = 2}:project{9, 0.5, 0.25, -3}, 0)
  end)

  it("chooses the first of equal entries, and none below 0 when it need not", function()
    local _, x = pn.set.hypersimplex{dim = 4, k = 2}:support{-1, -3, -1, -1}
    assert.same({1, 0, 1, 0}, v.numbers(x))
    _, x = pn.set.unit_hypersimplex{dim = 4, k = 3}:support{-1, 3, -1, 2}
    assert.same({0, 1, 0, 1}, v.numbers(x))
    _, x = pn.set.ksparse_polytope{dim = 4, k = 2, radius = 3}:support{-1, 3, -5, 2}
    assert.same({0, 3, -3, 0}, v.numbers(x))
  end)

  it("has the diameter between vertices that overlap least", function()
    assert.is_near(2, pn.set.hypersimplex{dim = 5, k = 2}.diameter, 1e-15) -- sqrt(2 * 2)
    assert.is_near(2, pn.set.hypersimplex{dim = 5, k = 3}.diameter, 1e-15)
    assert.equal(0, pn.set.hypersimplex{dim = 5, k = 5}.diameter)
    assert.is_near(math.sqrt(5), pn.set.unit_hypersimplex{dim = 5, k = 3}.diameter, 1e-14)
    assert.equal(4, pn.set.unit_hypersimplex{dim = 5, k = 2}:diameter_in("l1"))
    assert.equal(12, pn.set.ksparse_polytope{dim = 5, k = 3, radius = 2}:diameter_in("l1"))
  end)

  it("has a gauge that is infinite off its cone", function()
    local C = pn.set.hypersimplex{dim = 3, k = 2}
    assert.is_near(2, C:gauge{1, 2, 1}, 1e-15)
    assert.equal(math.huge, C:gauge{1, 0, 0}) -- t = 1/2 has no entry 1
    assert.equal(math.huge, C:gauge{1, 1, -1})
    assert.equal(3, pn.set.unit_hypersimplex{dim = 3, k = 2}:gauge{3, 0, 0})
    assert.equal(3, pn.set.ksparse_polytope{dim = 3, k = 2}:gauge{2, -2, -2})
  end)

  it("keeps its digits for far points", function()
    v.near({1, 0, 1}, pn.set.hypersimplex{dim = 3, k = 2}:project{3e18, -1e18, 2e18}, 0)
  end)

  it("refuses k above dim", function()
    for _, name in ipairs{"hypersimplex", "unit_hypersimplex", "ksparse_polytope"} do
      v.refused(pn.set[name], {dim = 3, k = 4}, "set." .. name .. ": k must be at most dim, which is 3, got 4")
    end
  end)
end)

describe("unit_simplex", function()
  it("has the origin as its last vertex", function()
    local V = pn.set.unit_simplex{dim = 2, radius = 3}:vertices()
    local want = {{3, 0}, {0, 3}, {0, 0}}
    assert.equal(3, V.rows)
    for i = 1, 3 do
      assert.equal(want[i][1], V:get(i, 1))
      assert.equal(want[i][2], V:get(i, 2))
    end
  end)

  it("supports at the origin where all entries are negative", function()
    local value, x = pn.set.unit_simplex{dim = 2}:support{-3, -1}
    assert.equal(0, value)
    assert.same({0, 0}, v.numbers(x))
  end)

  it("projects inside by clipping, outside on the simplex", function()
    local C = pn.set.unit_simplex{dim = 3}
    assert.same({0.25, 0, 0.5}, v.numbers(C:project{0.25, -7, 0.5}))
    v.near({0.65, 0.35, 0}, C:project{0.9, 0.6, 0.1}, 1e-15)
  end)
end)
