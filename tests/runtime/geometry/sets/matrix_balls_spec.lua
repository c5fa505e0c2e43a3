-- matrix_balls_spec.lua -- the nuclear and spectral balls beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

local function dot(a, b)
  local sum = 0
  for i = 1, #a do
    sum = sum + a[i] * b[i]
  end
  return sum
end

local function random_vector(rng, n)
  local out = {}
  for i = 1, n do
    out[i] = 2 * rng:uniform() - 1
  end
  return out
end

local function norm(x, kind)
  local l1, l2, linf = 0, 0, 0
  for i = 1, #x do
    local size = math.abs(x[i])
    l1, l2, linf = l1 + size, l2 + size * size, math.max(linf, size)
  end
  return ({l1 = l1, l2 = math.sqrt(l2), linf = linf})[kind]
end

local function near(want, got, tolerance)
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.is_near(want[i], got[i], tolerance)
  end
end

local shapes = {{1, 1}, {1, 7}, {7, 1}, {2, 3}, {6, 4}, {120, 100}, {100, 130}}

describe("nuclear_ball", function()
  it("projects diag(3, 1) to diag(1, 0)", function() -- geometry.md section 4
    near({1, 0, 0, 0}, pn.set.nuclear_ball{rows = 2, cols = 2}:project{3, 0, 0, 1}, 1e-15)
  end)

  it("projects by a common threshold of the singular values", function() -- (4, 3, 1) - 5/2 at radius 2, cut at 0
    local C = pn.set.nuclear_ball{rows = 3, cols = 4, radius = 2}
    near({0, 1.5, 0, 0, -0.5, 0, 0, 0, 0, 0, 0, 0}, C:project{0, 4, 0, 0, -3, 0, 0, 0, 0, 0, 1, 0}, 1e-14)
  end)

  it("leaves what is inside as it is, to the bit", function()
    local inside = {0.1, 0.2, -0.3, 0.05, 0, 0.1}
    local p = pn.set.nuclear_ball{rows = 2, cols = 3}:project(inside)
    for i = 1, 6 do
      assert.equal(inside[i], p[i])
    end
  end)

  it("takes the sum of singular values of [[3, 0], [4, 5]], 3 sqrt 5 + sqrt 5, as its gauge", function()
    local C = pn.set.nuclear_ball{rows = 2, cols = 2, radius = 2}
    assert.is_near(2 * math.sqrt(5), C:gauge{3, 0, 4, 5}, 1e-14)
    assert.is_near(6 * math.sqrt(5), (C:support{3, 0, 4, 5}), 1e-13)
  end)

  it("supports at radius times the product of the top singular vectors", function()
    local value, x = pn.set.nuclear_ball{rows = 2, cols = 3, radius = 2}:support{0, 0, -5, 1, 0, 0}
    assert.is_near(10, value, 1e-14)
    near({0, 0, -2, 0, 0, 0}, x, 1e-14)
  end)

  it("supports the zero matrix at the first entry", function()
    for _, shape in ipairs(shapes) do
      local zero = {}
      for i = 1, shape[1] * shape[2] do
        zero[i] = 0
      end
      local value, x = pn.set.nuclear_ball{rows = shape[1], cols = shape[2], radius = 3}:support(zero)
      assert.equal(0, value)
      assert.equal(3, x[1])
      assert.equal(3, norm(x, "l1"))
    end
  end)

  -- By duality the spectral norm, which the spectral ball takes from LAPACK's full decomposition.
  it("keeps to its tolerance in support", function()
    local rng = pn.rng.seeded(3)
    for _, shape in ipairs(shapes) do
      local rows, cols = shape[1], shape[2]
      local top = pn.set.spectral_ball{rows = rows, cols = cols}
      for _, tolerance in ipairs {1e-10, 1e-2} do
        local C = pn.set.nuclear_ball{rows = rows, cols = cols, tolerance = tolerance}
        local g = random_vector(rng, rows * cols)
        local value, x = C:support(g)
        local want = top:gauge(g)
        assert.is_true(value <= want * (1 + 1e-13) and value >= want * (1 - tolerance - 1e-13))
        assert.is_near(value, dot(g, x), 1e-12 * want)
        assert.is_true(C:contains(x, 1e-12))
      end
    end
  end)

  it("has radius r, r sqrt(rows cols) in l1, all attained", function()
    local C = pn.set.nuclear_ball{rows = 3, cols = 4, radius = 2}
    local ones = {}
    for i = 1, 12 do
      ones[i] = 1
    end
    local _, flat = C:support(ones)
    assert.is_near(C:radius_in("l1"), norm(flat, "l1"), 1e-13)
    assert.is_near(2 * math.sqrt(12), C:radius_in("l1"), 1e-14)
    assert.is_true(C:radius_in("l1") >= 2 * math.sqrt(12))
    assert.equal(2, C.radius)
    assert.equal(2, C:radius_in("linf"))
    assert.equal(4, C.diameter)
    assert.equal("nuclear_ball(dim=12, rows=3, cols=4, radius=2)", tostring(C):match "^[^:\n]*")
  end)

  it("refuses what it cannot be", function()
    assert.has_error(function() pn.set.nuclear_ball{rows = 2} end)
    assert.has_error(function() pn.set.nuclear_ball{rows = 0, cols = 2} end)
    assert.has_error(function() pn.set.nuclear_ball{rows = 2, cols = 2, tolerance = 0} end)
    local ok, message = pcall(pn.set.nuclear_ball, {rows = 2, cols = 3, center = {1, 2, 3}})
    assert.is_false(ok)
    assert.truthy(message:find("center has 3 entries, dim is 6", 1, true), message)
    ok, message = pcall(pn.set.nuclear_ball, {rows = 2 ^ 40, cols = 2 ^ 40})
    assert.is_false(ok)
    assert.truthy(message:find("rows x cols, ", 1, true), message)
    ok, message = pcall(function() pn.set.nuclear_ball{rows = 1, cols = 2}:support{1, 0 / 0} end)
    assert.is_false(ok)
    assert.truthy(message:find("entry 2", 1, true), message)
  end)
end)

describe("spectral_ball", function()
  it("is the polar of the nuclear ball", function()
    local rng = pn.rng.seeded(4)
    for _, shape in ipairs(shapes) do
      local options = {rows = shape[1], cols = shape[2]}
      local g = random_vector(rng, shape[1] * shape[2])
      local want = pn.set.nuclear_ball(options):gauge(g)
      assert.is_near(want, (pn.set.spectral_ball(options):support(g)), 1e-12 * want)
    end
  end)

  it("cuts singular values at the radius in projection", function()
    local C = pn.set.spectral_ball{rows = 2, cols = 3, radius = 2}
    near({0, 2, 0, -1, 0, 0}, C:project{0, 4, 0, -1, 0, 0}, 1e-14)
  end)

  it("attains r sqrt(rows) in l2, and in l1 at a Hadamard matrix", function()
    local C = pn.set.spectral_ball{rows = 2, cols = 2, radius = 3}
    local _, x = C:support{1, 1, 1, -1}
    assert.is_near(C:radius_in("l1"), norm(x, "l1"), 1e-13)
    assert.is_near(3 * math.sqrt(8), C:radius_in("l1"), 1e-14)
    assert.is_near(C.radius, norm(x, "l2"), 1e-13)
    assert.is_near(3 * math.sqrt(2), C.radius, 1e-14)
    assert.equal(3, C:radius_in("linf"))
    assert.equal(3, pn.set.spectral_ball{rows = 1, cols = 5, radius = 3}.radius) -- the l2 ball
  end)
end)
