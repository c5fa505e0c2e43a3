-- permutahedron_spec.lua -- the permutahedron beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

describe("permutahedron", function()
  it("is the simplex of (1, 0, 0) and the hypersimplex of (1, 1, 0, 0)", function()
    v.same_set(pn.set.permutahedron{vector = {0, 1, 0}}, pn.set.simplex{dim = 3}, 1e-13)
    v.same_set(pn.set.permutahedron{vector = {0, 1, 0, 1}}, pn.set.hypersimplex{dim = 4, k = 2}, 1e-13)
  end)

  it("permutes 1, .., dim unless it is given a vector", function()
    local C = pn.set.permutahedron{dim = 4}
    local value, x = C:support{0.5, -2, 3, 0.5}
    assert.same({3, 1, 4, 2}, v.numbers(x)) -- the first of equal entries gets more
    assert.equal(12 + 1.5 + 1 - 2, value)
    assert.is_near(math.sqrt(30), C.radius, 1e-14)
    assert.is_near(math.sqrt(9 + 1 + 1 + 9), C.diameter, 1e-14) -- to the reverse
    assert.is_near(8, C:diameter_in("l1"), 1e-14)
    assert.is_near(3, C:diameter_in("linf"), 1e-14)
  end)

  it("projects a segment as a segment", function() -- conv{(1, 3), (3, 1)}
    local C = pn.set.permutahedron{vector = {3, 1}}
    v.near({2.5, 1.5}, C:project{1.25, 0.25}, 1e-15)
    v.near({3, 1}, C:project{9, 0}, 0)
    assert.is_true(C:contains{1.5, 2.5})
    assert.is_false(C:contains{0.5, 3.5})
    assert.is_false(C:contains{2, 2.1})
  end)

  it("projects far points into the set, and no further than their rounding", function()
    local C = pn.set.permutahedron{dim = 3}
    v.near({3, 1, 2}, C:project{3e8, -1e8, 2e8}, 1e-6)
    for _, z in ipairs{{3e8, -1e8, 2e8}, {3e20, -1e20, 2e20}, {1.7e308, -1.7e308, 2e304}} do
      assert.is_true(C:contains(C:project(z), 1e-12))
    end
  end)

  it("needs dim or vector, and both only of one length", function()
    v.refused(pn.set.permutahedron, {}, "set.permutahedron: give dim or vector")
    v.refused(pn.set.permutahedron, {vector = {}}, "set.permutahedron: vector must have at least one entry")
    v.refused(pn.set.permutahedron, {dim = 2, vector = {1, 2, 3}}, "set.permutahedron: vector has 3 entries, dim is 2")
  end)
end)
