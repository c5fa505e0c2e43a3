-- ellipsoid_spec.lua -- ellipsoids by axes and by matrices, beyond conformance_spec.lua.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local function close(want, got, tolerance)
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.is_near(want[i], got[i], tolerance or 1e-13)
  end
end

local function no_ellipsoid(text, options)
  refused(text, pn.set.ellipsoid, options)
end

describe("ellipsoid", function()
  it("has the support sqrt(sum (a g)^2) + <center, g>", function()
    local value, x = pn.set.ellipsoid{axes = {3, 4}, center = {10, 20}}:support{1, 1}
    assert.is_near(35, value, 1e-13)
    close({10 + 9 / 5, 20 + 16 / 5}, x)
    assert.is_near(math.sqrt(2 * 2 + 7 * 7), (pn.set.ellipsoid{matrix = {{1, 3}, {1, 4}}}:support{1, 1}), 1e-13)
  end)

  it("projects along an axis and along a normal", function()
    local C = pn.set.ellipsoid{axes = {2, 1}}
    close({2, 0}, C:project{5, 0})
    close({0, -1}, C:project{0, -9})
    close({0.3, 0.4}, C:project{0.3, 0.4}, 0)
    -- (2 cos t, sin t) plus s times its normal (cos t / 2, sin t): the nearest point is where the normal starts
    for _, t in ipairs{0.1, 1, 2.5, 4} do
      for _, s in ipairs{1e-6, 0.1, 3, 1e6} do
        local c, d = math.cos(t), math.sin(t)
        close({2 * c, d}, C:project{2 * c + s * c / 2, d + s * d}, 1e-10)
      end
    end
  end)

  it("is the same by a matrix of orthogonal columns, turned or not", function()
    local rng, c, s = pn.rng.seeded(4), math.cos(0.7), math.sin(0.7)
    local plain = pn.set.ellipsoid{axes = {3, 0.5}}
    local turned = pn.set.ellipsoid{matrix = {{3 * c, -0.5 * s}, {3 * s, 0.5 * c}}}
    for _ = 1, 50 do
      local a, b = 8 * rng:uniform() - 4, 8 * rng:uniform() - 4
      local p, q = plain:project{a, b}, turned:project{c * a - s * b, s * a + c * b}
      close({c * p[1] - s * p[2], s * p[1] + c * p[2]}, q, 1e-12)
      assert.is_near(plain:gauge{a, b}, turned:gauge{c * a - s * b, s * a + c * b}, 1e-12)
    end
  end)

  it("has exact radii along the coordinates and bounds them for a matrix", function()
    local C = pn.set.ellipsoid{axes = {3, 4}}
    assert.equal(4, C.radius)
    assert.equal(4, C:radius_in("linf"))
    assert.is_near(5, C:radius_in("l1"), 1e-14) -- max 3 u + 4 v over the unit circle
    local M = pn.set.ellipsoid{matrix = {{1, 1}, {1, 1}}} -- the segment up to sqrt(2) (1, 1)
    assert.is_near(2, M.radius, 1e-13)
    assert.is_near(math.sqrt(2), M:radius_in("linf"), 1e-13)
    assert.is_near(2 * math.sqrt(2), M:radius_in("l1"), 1e-12)
    for _, kind in ipairs{"l1", "l2", "linf"} do
      assert.is_true(M:radius_in(kind) >= ({l1 = 2 * math.sqrt(2), l2 = 2, linf = math.sqrt(2)})[kind])
    end
  end)

  it("may be flat: then other directions are dropped", function()
    local C = pn.set.ellipsoid{axes = {2, 0, 1}}
    close({2, 0, 0}, C:project{5, 7, 0})
    close({1, 0, 0.5}, C:project{1, -3, 0.5})
    assert.is_true(C:contains({1, 0.01, 0}, 0.0101))
    assert.is_false(C:contains({1, 0.01, 0}, 0.0099))
    assert.equal(0.5, C:gauge{1, 0, 0})
    assert.equal(math.huge, C:gauge{1, 1e-6, 0})
    close({0, 0}, pn.set.ellipsoid{axes = {0, 0}}:project{3, 4}, 0)
  end)

  it("projects when the axes differ by ten powers of ten", function()
    local C = pn.set.ellipsoid{axes = {1e5, 1, 1e-5}}
    for _, v in ipairs{{2e5, 3, 1}, {1, 1, 1}, {1e5, 1e5, 1e5}, {0, 0, 1e-3}} do
      local p, outward = C:project(v), {}
      assert.is_near(1, C:gauge(p), 1e-9)
      for i = 1, 3 do
        outward[i] = v[i] - p[i]
      end
      local h, along = C:support(outward), 0
      for i = 1, 3 do
        along = along + outward[i] * p[i]
      end
      assert.is_true(h - along <= 1e-9 * h)
    end
  end)

  it("has a gauge about its center only when that is the origin", function()
    assert.equal(2, pn.set.ellipsoid{axes = {1, 2}, center = {0, 0}}:gauge{0, 4})
  end)

  it("refuses what is no ellipsoid", function()
    no_ellipsoid("axes must be >= 0, got -1 at entry 2", {axes = {1, -1}})
    no_ellipsoid("give axes, a vector of semi-axes, or matrix, got neither", {})
    no_ellipsoid("give axes, a vector of semi-axes, or matrix, not both", {axes = {1}, matrix = {{1}}})
    no_ellipsoid("center has 3 entries, dim is 2", {axes = {1, 1}, center = {1, 2, 3}})
    no_ellipsoid("at least one coordinate", {axes = {}})
  end)
end)
