-- cone_spec.lua -- the second-order, rotated and exponential cones and the orthant, beyond conformance_spec.lua.
local pn = require "penumbra"

local function plain(v)
  local out = {}
  for i = 1, #v do
    out[i] = v[i]
  end
  return out
end

local function negated(v)
  local out = plain(v)
  for i = 1, #out do
    out[i] = -out[i]
  end
  return out
end

local function dot(a, b)
  local sum = 0
  for i = 1, #a do
    sum = sum + a[i] * b[i]
  end
  return sum
end

local function close(want, got, tolerance)
  for i = 1, #want do
    assert.is_near(want[i], got[i], tolerance or 1e-13)
  end
end

local function random_vector(rng, n)
  local out = {}
  for i = 1, n do
    out[i] = (2 * rng:uniform() - 1) * 10 ^ (6 * rng:uniform() - 3)
  end
  return out
end

-- Moreau: v = P v + (v - P v), the parts orthogonal, and the second one in the polar cone: its negative in the dual cone.
local function check_moreau(C, in_dual, draws)
  local rng = pn.rng.seeded(77)
  for _ = 1, draws do
    local v = random_vector(rng, C.dim)
    local p = plain(C:project(v))
    local rest = {}
    for i = 1, C.dim do
      rest[i] = p[i] - v[i]
    end
    local size = math.sqrt(dot(v, v))
    assert.is_true(math.abs(dot(p, rest)) <= 1e-12 * size * size)
    assert.is_true(C:contains(p, 1e-12 * size))
    assert.is_true(in_dual(rest, 1e-12 * size), table.concat(v, " "))
  end
end

describe("cones", function()
  it("project on the second-order cone in closed form", function()
    local C = pn.set.second_order_cone{dim = 3}
    close({1.5, 2, 2.5}, C:project{3, 4, 0}) -- (5 + 0) / 2 in height, along (3, 4) / 5
    close({3, 4, 6}, C:project{3, 4, 6})
    close({0, 0, 0}, C:project{3, 4, -5})
    close({0, 0, 0}, C:project{0, 0, -2})
    close({2.4, 3.2, 4}, C:project{3, 4, 3})
  end)

  it("project on the rotated cone as its definition asks", function()
    local C = pn.set.rotated_second_order_cone{dim = 3}
    assert.is_true(C:contains({2, 1, 2}, 1e-15)) -- 4 <= 2 * 1 * 2
    assert.is_false(C:contains({2.1, 1, 2}, 1e-3))
    assert.is_false(C:contains({0, -1, -1}, 0.5)) -- uv > 0, but on the wrong side
    close({0, 2, 0}, C:project{0, 2, -3})
    close({0, 0, 0}, C:project{0.5, -1, -1})
    -- with u = v it is |x| <= sqrt(2) u: (1, 0, 0) goes to height 1/2 on the axis (u + v)/sqrt(2)
    close({0.5, 0.25 * math.sqrt(2), 0.25 * math.sqrt(2)}, C:project{1, 0, 0})
  end)

  it("split every vector into orthogonal parts of the cone and of its polar", function()
    for _, n in ipairs{1, 2, 5} do
      local C = pn.set.second_order_cone{dim = n}
      check_moreau(C, function(v, tol) return C:contains(v, tol) end, 200) -- its own dual
    end
    for _, n in ipairs{2, 3, 6} do
      local C = pn.set.rotated_second_order_cone{dim = n}
      check_moreau(C, function(v, tol) return C:contains(v, tol) end, 200)
    end
  end)

  it("split every vector into parts of the exponential cone and of its polar", function()
    local C = pn.set.exponential_cone{}
    -- the dual cone is the closure of u < 0, -u exp(v/u) <= e w; inside or within tol of the closure, by moving inward
    local function in_dual(g, tol)
      local u, v, w = g[1] - tol, g[2] + tol, g[3] + tol
      return u <= 0 and w >= 0 and (-u * math.exp(v / u) <= math.exp(1) * w * (1 + 1e-9) + 30 * tol)
    end
    check_moreau(C, in_dual, 3000)
  end)

  it("project on the exponential cone in closed form where there is one", function()
    local C = pn.set.exponential_cone{}
    close({-2, 0, 3}, C:project{-2, -1, 3}) -- the flat face
    close({-2, 0, 0}, C:project{-2, -1, -3})
    close({0, 1, 1}, C:project{0, 1, 1}) -- 1 exp(0) = 1: on the cone
    close({0, 0, 0}, C:project{1, 1, -1 - 1e-9}, 0) -- the polar cone
    close({0, 0, 0}, C:project{1, 1, -1.5}, 0)
    close({0, 0, 0}, C:project{2, -3, -0.2}, 0) -- 2 exp(-2.5) = 0.164
    -- a = 2 on the ray q = 0, (0, 1, 1), plus b = 3 on the ray (1, 1, -1): v = (3, 5, -1)
    close({0, 2, 2}, C:project{3, 5, -1})
    -- q = 1: a = 1 on (1, 1, e), b = 2 on (1, 0, -1/e)
    local e = math.exp(1)
    close({1, 1, e}, C:project{3, 1, e - 2 / e})
    -- q = -2 and q = 5, with a = b = 1
    close({-2, 1, math.exp(-2)}, C:project{-1, 4, math.exp(-2) - math.exp(2)})
    close({5, 1, math.exp(5)}, C:project{6, -3, math.exp(5) - math.exp(-5)}, 1e-12)
  end)

  it("project on the exponential cone from any distance and at any scale", function()
    local C, rng = pn.set.exponential_cone{}, pn.rng.seeded(9)
    for _, size in ipairs{1e-300, 1e-30, 1, 1e30, 1e300} do
      for _ = 1, 50 do
        local v = random_vector(rng, 3)
        local unit = plain(C:project(v))
        for i = 1, 3 do
          v[i] = v[i] * size
        end
        local p = C:project(v)
        for i = 1, 3 do
          assert.is_true(math.abs(p[i] / size - unit[i]) <= 1e-12 * 1000)
        end
      end
    end
    local edges = {
      {1e-300, -1, 2}, {1, 1e-300, 0}, {-1, 1e-9, -1}, {1e-9, -1, 1}, {1e-9, -1, -1}, {0, 1, -5}, {1, 0, 0},
    }
    for _, v in ipairs(edges) do
      local p = C:project(v)
      assert.is_true(p[1] == p[1] and p[2] >= 0 and p[3] >= 0)
      assert.is_true(C:contains(p, 1e-12))
    end
  end)

  it("have a finite support on the polar cone only", function()
    local C = pn.set.second_order_cone{dim = 3}
    assert.equal(0, (C:support{3, 4, -5}))
    assert.equal(0, (C:support{0, 0, -1}))
    for _, g in ipairs{{3, 4, -4.99}, {0, 0, 1}, {1, 0, 0}} do
      local ok, message = pcall(C.support, C, g)
      assert.is_false(ok)
      assert.truthy(message:find("<g, x> is unbounded over second_order_cone", 1, true), message)
    end
    assert.equal(0, (pn.set.nonnegative{dim = 2}:support{-1, 0}))
    assert.is_false(pcall(C.support, pn.set.nonnegative{dim = 2}, {-1, 1e-3}))
    assert.equal(0, (pn.set.exponential_cone{}:support(negated{-1, 1, 1 / math.exp(1)})))
    assert.is_false(pcall(C.support, pn.set.exponential_cone{}, {0, 0, 1e-3}))
  end)

  it("have the gauge 0 inside and infinity outside", function()
    local C = pn.set.second_order_cone{dim = 3}
    assert.equal(0, C:gauge{3, 4, 5})
    assert.equal(math.huge, C:gauge{3, 4, 4.9})
    assert.equal(math.huge, pn.set.nonnegative{dim = 2}:gauge{1, -1e-9})
  end)

  it("refuse a rotated cone without room for u and v", function()
    local ok, message = pcall(pn.set.rotated_second_order_cone, {dim = 1})
    assert.is_false(ok)
    assert.truthy(message:find("dim must be at least 2, for u and v, got 1", 1, true), message)
  end)
end)
