-- spectrahedron_spec.lua -- the spectrahedra and the positive semidefinite cone beyond what conformance_spec.lua asks.
local pn = require "penumbra"

local function near(want, got, tolerance)
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.is_near(want[i], got[i], tolerance)
  end
end

describe("spectrahedron", function()
  it("supports at the top eigenvector of the symmetric part", function() -- (1 2; 2 1) has 3 at (1, 1)/sqrt 2
    local value, x = pn.set.spectrahedron{n = 2, radius = 4}:support{1, 5, -1, 1}
    assert.is_near(12, value, 1e-13)
    near({2, 2, 2, 2}, x, 1e-14)
  end)

  it("supports below 0 where every eigenvalue is negative", function()
    local value, x = pn.set.spectrahedron{n = 2}:support{-3, 0, 0, -1}
    assert.is_near(-1, value, 1e-15)
    near({0, 0, 0, 1}, x, 1e-15)
    value, x = pn.set.unit_spectrahedron{n = 2}:support{-3, 0, 0, -1}
    assert.equal(0, value)
    near({0, 0, 0, 0}, x, 0)
  end)

  it("projects eigenvalues onto the simplex", function() -- eigenvalues 3 and 1 of (2 1; 1 2): (1, 0); trace 3: (2.5, 0.5)
    near({0.5, 0.5, 0.5, 0.5}, pn.set.spectrahedron{n = 2}:project{2, 3, -1, 2}, 1e-14)
    near({1.5, 1, 1, 1.5}, pn.set.spectrahedron{n = 2, radius = 3}:project{2, 1, 1, 2}, 1e-14)
  end)

  it("raises the trace where it is too small, which the filled one does not", function()
    near({0.55, 0, 0, 0.45}, pn.set.spectrahedron{n = 2}:project{0.2, 0, 0, 0.1}, 1e-15)
    near({0.2, 0, 0, 0.1}, pn.set.unit_spectrahedron{n = 2}:project{0.2, 0, 0, 0.1}, 1e-15)
    near({0.2, 0, 0, 0}, pn.set.unit_spectrahedron{n = 2}:project{0.2, 0, 0, -0.1}, 1e-15)
  end)

  it("holds symmetric positive semidefinite matrices of its trace and no others", function()
    local C, D = pn.set.spectrahedron{n = 2}, pn.set.unit_spectrahedron{n = 2}
    assert.is_true(C:contains{0.5, 0.5, 0.5, 0.5})
    assert.is_false(C:contains{0.5, 0.6, 0.6, 0.5})
    assert.is_false(C:contains{0.5, 0.1, -0.1, 0.5})
    assert.is_false(C:contains{0.5, 0, 0, 0.4})
    assert.is_true(D:contains{0.5, 0, 0, 0.4})
    assert.is_false(D:contains{0.5, 0, 0, 0.6})
    near({0.5, 0, 0, 0.5}, C:center(), 0)
    near({0, 0, 0, 0}, D:center(), 0)
  end)

  it("has no gauge outside of the cone", function()
    local C = pn.set.spectrahedron{n = 2, radius = 2}
    assert.is_near(1.5, C:gauge{2, 1, 1, 1}, 1e-15)
    assert.equal(math.huge, C:gauge{2, 1, -1, 1})
    assert.equal(math.huge, C:gauge{1, 2, 2, 1})
  end)

  it("attains its radii and diameters", function()
    local C = pn.set.spectrahedron{n = 2, radius = 3}
    local function distance(g, power)
      local _, x = C:support(g)
      local _, y = C:support(-pn.vec(g))
      local sum = 0
      for i = 1, 4 do
        sum = sum + math.abs(x[i] - y[i]) ^ power
      end
      return sum ^ (1 / power)
    end
    assert.is_near(C.diameter, distance({1, 0, 0, -1}, 2), 1e-13)
    assert.is_near(C:diameter_in("l1"), distance({1, 1, 1, -1}, 1), 1e-13)
    assert.equal(3, C:diameter_in("linf"))
    assert.equal(6, C:radius_in("l1")) -- at 3/2 (1 1; 1 1)
    assert.equal(0, pn.set.spectrahedron{n = 1}.diameter)
    assert.equal(1, pn.set.unit_spectrahedron{n = 1}.diameter)
  end)

  it("attains the support of a matrix that takes Lanczos steps", function()
    local n, rng = 110, pn.rng.seeded(5)
    local g = {}
    for i = 1, n * n do
      g[i] = 2 * rng:uniform() - 1
    end
    local C = pn.set.spectrahedron{n = n}
    local value, x = C:support(g)
    local top = pn.set.spectrahedron{n = n, tolerance = 1e-15}:support(g)
    local sum = 0
    for i = 1, n * n do
      sum = sum + g[i] * x[i]
    end
    assert.is_near(value, sum, 1e-12)
    assert.is_true(value <= top + 1e-12 and value >= top - 1e-10 * top * 1.5)
    assert.is_true(C:contains(x))
  end)
end)

describe("psd_cone", function()
  it("cuts negative eigenvalues", function() -- (1 2; 2 1): 3 at (1, 1)/sqrt 2
    near({1.5, 1.5, 1.5, 1.5}, pn.set.psd_cone{n = 2}:project{1, 4, 0, 1}, 1e-14)
    near({0, 0, 0, 0}, pn.set.psd_cone{n = 2}:project{-1, 0, 0, -2}, 0)
  end)

  it("has a support for negative semidefinite matrices only", function()
    local C = pn.set.psd_cone{n = 2}
    local value, x = C:support{-1, 3, -1, -1} -- symmetric part (-1 1; 1 -1)
    assert.equal(0, value)
    near({0, 0, 0, 0}, x, 0)
    local ok, message = pcall(C.support, C, {-1, 0, 0, 1e-3})
    assert.is_false(ok)
    assert.truthy(message:find("unbounded over psd_cone", 1, true), message)
    assert.equal(math.huge, C.radius)
    assert.equal("psd_cone(dim=4, n=2): unbounded", tostring(C))
  end)
end)
