-- flat_spec.lua -- points, affine sets, halfspaces, slabs and hyperplanes, beyond conformance_spec.lua.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local function close(want, got, tolerance)
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.is_near(want[i], got[i], tolerance or 1e-14)
  end
end

describe("affine", function()
  it("projects along the rows of A", function()
    local C = pn.set.affine{A = {{1, 1, 1}}, b = {3}}
    close({1, 1, 1}, C:project{0, 0, 0})
    close({2, 0, 1}, C:project{3, 1, 2}) -- sum 6: each entry loses 1
    close({1, 1, 1}, C:center())
  end)

  it("lets rows follow from others, and refuses a contradiction with its residual", function()
    local once = pn.set.affine{A = {{1, 2, 0}}, b = {4}}
    local thrice = pn.set.affine{A = {{1, 2, 0}, {2, 4, 0}, {-3, -6, 0}}, b = {4, 8, -12}}
    close(once:project{5, -1, 7}, thrice:project{5, -1, 7}, 1e-13)
    -- x = 1 and x = 3: the best is 2, off by 1 twice
    refused("set.affine: A x = b has no solution; the best x leaves a residual of 1.41421", pn.set.affine,
      {A = {{1}, {1}}, b = {1, 3}})
    refused("no solution", pn.set.affine, {A = {{0, 0}}, b = {1}})
    refused("A has 2 rows, b has 1 entries", pn.set.affine, {A = {{1, 2}, {3, 4}}, b = {1}})
  end)

  it("is the point that a regular system has, with its norms", function()
    local C = pn.set.affine{A = {{1, 1}, {1, -1}}, b = {7, -1}} -- (3, 4)
    close({3, 4}, C:project{100, -100}, 1e-12)
    assert.is_near(5, C.radius, 1e-13)
    assert.is_near(7, C:radius_in("l1"), 1e-13)
    assert.equal(0, C.diameter)
  end)

  it("has a support on the span of the rows", function()
    local C = pn.set.affine{A = {{1, 1, 0}, {0, 1, 1}}, b = {2, 5}}
    -- g = 2 row 1 - row 2: <g, x> = 4 - 5
    assert.is_near(-1, (C:support{2, 1, -1}), 1e-13)
    refused("unbounded over affine", function(g) return C:support(g) end, {1, 0, 0})
  end)

  it("has the gauge that its equations fix", function()
    local C = pn.set.affine{A = {{1, 1}}, b = {2}}
    assert.is_near(1.5, C:gauge{1, 2}, 1e-14)
    assert.equal(math.huge, C:gauge{-1, -2})
    assert.equal(math.huge, C:gauge{1, -1})
    assert.equal(math.huge, pn.set.affine{A = {{0, 1}}, b = {2}}:gauge{3, 0})
    assert.equal(0, C:gauge{0, 0})
    assert.equal(0, pn.set.affine{A = {{1, 1}}, b = {0}}:gauge{3, -3})
  end)
end)

describe("halfspaces and slabs", function()
  it("project along the normal, whatever its length", function()
    for _, scale in ipairs{1, 1e-3, 250} do
      local normal = {3 * scale, 4 * scale}
      close({3, 4}, pn.set.halfspace{normal = normal, offset = 25 * scale}:project{6, 8}, 1e-13)
      close({-1, 0}, pn.set.halfspace{normal = normal, offset = 25 * scale}:project{-1, 0}, 0)
      close({3, 4}, pn.set.hyperplane{normal = normal, offset = 25 * scale}:project{0, 0}, 1e-13)
      local slab = pn.set.hyperslab{normal = normal, lower = -25 * scale, upper = 50 * scale}
      close({-3, -4}, slab:project{-6, -8}, 1e-13)
      close({6, 8}, slab:project{9, 12}, 1e-13)
      close({1, 2}, slab:project{1, 2}, 0)
    end
  end)

  it("measure membership as a distance", function()
    local C = pn.set.halfspace{normal = {300, 400}, offset = 0}
    assert.is_true(C:contains({0.0006, 0.0008}, 0.00101))
    assert.is_false(C:contains({0.0006, 0.0008}, 0.00099))
  end)

  it("support along the normal only", function()
    local C = pn.set.hyperslab{normal = {0, 2}, lower = -2, upper = 6}
    assert.equal(9, (C:support{0, 3})) -- x_2 from -1 to 3
    assert.equal(3, (C:support{0, -3}))
    refused("unbounded over hyperslab", function(g) return C:support(g) end, {1e-9, 3})
    local H = pn.set.halfspace{normal = {0, 2}, offset = 6}
    assert.equal(9, (H:support{0, 3}))
    refused("unbounded over halfspace", function(g) return H:support(g) end, {0, -3})
  end)

  it("have the gauge of the height over the bound on its side", function()
    local C = pn.set.hyperslab{normal = {0, 1}, lower = -1, upper = 4}
    assert.equal(2, C:gauge{7, 8})
    assert.equal(3, C:gauge{7, -3})
    assert.equal(0, C:gauge{7, 0})
    local off = pn.set.halfspace{normal = {0, 1}, offset = -2} -- without the origin
    assert.equal(math.huge, off:gauge{0, 4})
    assert.equal(math.huge, off:gauge{1, 0})
    assert.equal(0, off:gauge{0, 0})
    assert.equal(2, pn.set.hyperplane{normal = {0, 1}, offset = 3}:gauge{1, 6})
  end)

  it("are intervals on the line", function()
    local C = pn.set.hyperslab{normal = {-2}, lower = -2, upper = 6} -- from -3 to 1
    assert.is_near(3, C.radius, 1e-14)
    assert.is_near(4, C.diameter, 1e-14)
    assert.equal(math.huge, pn.set.halfspace{normal = {-2}, offset = 6}.radius)
  end)

  it("refuse a normal of zeros and bounds in the wrong order", function()
    refused("set.halfspace: normal must have an entry other than 0, got 3 zeros", pn.set.halfspace,
      {normal = {0, 0, 0}, offset = 1})
    refused("set.hyperslab: lower must be <= upper, got 2 > 1", pn.set.hyperslab, {normal = {1}, lower = 2, upper = 1})
    refused("offset", pn.set.hyperplane, {normal = {1}})
  end)
end)

describe("a point", function()
  it("is as large as its norm, also when shifted", function()
    local C = pn.set.point{at = {3, -4}}
    assert.is_near(5, C.radius, 1e-14)
    assert.is_near(7, C:radius_in("l1"), 1e-14)
    assert.equal(4, C:radius_in("linf"))
    assert.equal(0, C.diameter)
    assert.is_near(1, (C + {-3, 3}).radius, 1e-14) -- (0, -1), where the triangle inequality says 9.2
    close({3, -4}, C:project{100, 7}, 0)
    assert.equal(2, C:gauge{6, -8})
    assert.equal(math.huge, C:gauge{-6, 8})
    assert.equal(math.huge, C:gauge{6, 8})
    refused("at must have at least one entry", pn.set.point, {at = {}})
  end)
end)

describe("the whole space", function()
  it("holds everything and moves nothing", function()
    local C = pn.set.free{dim = 2}
    close({1e300, -7}, C:project{1e300, -7}, 0)
    assert.is_true(C:contains({1e300, 1}, 0))
    assert.equal(0, (C:support{0, 0}))
    refused("unbounded over free", function(g) return C:support(g) end, {0, 1e-300})
    assert.equal("free(dim=2): unbounded", tostring(C))
  end)
end)
