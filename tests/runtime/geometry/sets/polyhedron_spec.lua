-- polyhedron_spec.lua -- projections, linear programs and boxes of A x <= b, beyond conformance_spec.lua.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local function close(want, got, tolerance)
  for i = 1, #want do
    assert.is_near(want[i], got[i], tolerance)
  end
end

local function row(n, entries)
  local out = {}
  for i = 1, n do
    out[i] = entries[i] or 0
  end
  return out
end

local function random_vector(rng, n)
  local out = {}
  for i = 1, n do
    out[i] = 2 * rng:uniform() - 1
  end
  return out
end

-- x >= 0 and every row and column of the n x n matrix x sums to 1: 2 n equations, one of them superfluous, each twice.
local function doubly_stochastic(n)
  local A, b = {}, {}
  for i = 1, n do
    local across, down = {}, {}
    for j = 1, n do
      across[(i - 1) * n + j] = 1
      down[(j - 1) * n + i] = 1
      A[#A + 1], b[#b + 1] = row(n * n, {[(i - 1) * n + j] = -1}), 0
    end
    for _, sum in ipairs{across, down} do
      for sign = -1, 1, 2 do
        local r = row(n * n, sum)
        for k = 1, n * n do
          r[k] = sign * r[k]
        end
        A[#A + 1], b[#b + 1] = r, sign
      end
    end
  end
  return pn.set.polyhedron{A = A, b = b}
end

-- max over permutations, by trying all.
local function best_assignment(g, n, i, used)
  if i > n then
    return 0
  end
  local best = -math.huge
  for j = 1, n do
    if not used[j] then
      used[j] = true
      best = math.max(best, g[(i - 1) * n + j] + best_assignment(g, n, i + 1, used))
      used[j] = nil
    end
  end
  return best
end

describe("polyhedron", function()
  it("projects as the simplex, the box and the l1 ball that it is", function()
    local rng, n = pn.rng.seeded(21), 4
    local A, b, signs, ones = {}, {}, {}, {}
    for i = 1, n do
      A[i], b[i] = row(n, {[i] = -1}), 0
    end
    A[n + 1], b[n + 1] = row(n, {1, 1, 1, 1}), 1
    A[n + 2], b[n + 2] = row(n, {-1, -1, -1, -1}), -1
    for mask = 0, 15 do
      signs[mask + 1], ones[mask + 1] = {}, 1
      for i = 1, n do
        signs[mask + 1][i] = mask >> (i - 1) & 1 == 1 and 1 or -1
      end
    end
    local pairs_of = {
      {pn.set.polyhedron{A = A, b = b}, pn.set.simplex{dim = n}},
      {pn.set.polyhedron{A = signs, b = ones}, pn.set.l1_ball{dim = n}}, -- degenerate: 8 facets meet in a vertex
    }
    for _, two in ipairs(pairs_of) do
      for k = 1, 100 do
        local z = random_vector(rng, n)
        for i = 1, n do
          z[i] = z[i] * 10 ^ (k % 5 - 1)
        end
        close(two[2]:project(z), two[1]:project(z), 1e-12 * 10 ^ (k % 5))
        assert.is_near(two[2]:support(z), (two[1]:support(z)), 1e-12 * 10 ^ (k % 5))
      end
      for _, kind in ipairs{"l2", "linf"} do
        assert.is_true(two[1]:radius_in(kind) >= two[2]:radius_in(kind) * (1 - 1e-15))
      end
      assert.is_near(1, two[1]:radius_in("linf"), 1e-12)
    end
  end)

  it("solves assignments, the most degenerate linear programs there are", function()
    for _, n in ipairs{2, 3, 4} do
      local C, rng = doubly_stochastic(n), pn.rng.seeded(n)
      assert.is_near(1, C:radius_in("linf"), 1e-12)
      for _ = 1, 20 do
        local g = random_vector(rng, n * n)
        local value, x = C:support(g)
        assert.is_near(best_assignment(g, n, 1, {}), value, 1e-12 * n)
        assert.is_true(C:contains(x, 1e-12))
      end
    end
  end)

  it("certifies projections and programs among many planes", function()
    local rng, n = pn.rng.seeded(5), 8
    local A, b = {}, {}
    for i = 1, 30 do
      A[i], b[i] = random_vector(rng, n), rng:uniform()
    end
    for j = 1, n do
      A[#A + 1], b[#b + 1] = row(n, {[j] = 1}), 3
      A[#A + 1], b[#b + 1] = row(n, {[j] = -1}), 3
    end
    local C = pn.set.polyhedron{A = A, b = b}
    for _ = 1, 30 do
      local z, gap, away = random_vector(rng, n), 0, {}
      for j = 1, n do
        z[j] = 10 * z[j]
      end
      local p = C:project(z)
      for j = 1, n do
        away[j] = z[j] - p[j]
      end
      local _, s = C:support(away)
      for j = 1, n do
        gap = gap + away[j] * (s[j] - p[j])
      end
      assert.is_true(math.abs(gap) <= 1e-11, gap)
      assert.is_true(C:contains(p, 1e-12))
    end
  end)

  it("bounds what is bounded and says of the rest that it is not", function()
    local C = pn.set.polyhedron{A = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}, b = {1, 2, 3, 0.5}}
    assert.is_near(3, C:radius_in("linf"), 1e-12)
    assert.is_near(5, C:radius_in("l1"), 1e-12)
    assert.is_near(math.sqrt(13), C.radius, 1e-12)
    assert.is_near(math.sqrt(16 + 6.25), C.diameter, 1e-12)
    assert.is_true(C:radius_in("linf") >= 3 and C.radius >= math.sqrt(13) and C:radius_in("l1") >= 5)
    local wedge = pn.set.polyhedron{A = {{-1, 0}, {0, -1}, {1, -1}}, b = {0, 0, 1}}
    assert.equal(math.huge, wedge.radius)
    assert.is_near(1, (wedge:support{1, -1}), 1e-12)
    assert.is_near(0.5, (wedge:support{0.5, -0.75}), 1e-12) -- at (1, 0)
    refused("unbounded over polyhedron", function(g) return wedge:support(g) end, {1, -0.9})
  end)

  it("projects where planes are nearly parallel or given many times", function()
    local C = pn.set.polyhedron{A = {{1, 0}, {1, 1e-9}, {2, 0}, {1, 0}, {0, 1}}, b = {1, 1, 2, 1, 5}}
    close({1, 3}, C:project{4, 3}, 1e-8) -- x <= 1 - 3e-9
    assert.is_true(C:contains(C:project{4, 3}, 1e-12))
    close({1, 0}, C:project{7, 0}, 1e-12)
  end)

  it("refuses what is empty", function()
    refused("the 2 inequalities contradict each other; the set is empty", pn.set.polyhedron,
      {A = {{1, 1}, {-1, -1}}, b = {1, -2}})
    refused("set is empty", pn.set.polyhedron, {A = {{1, 0}, {0, 1}, {-1, -1}}, b = {1, 1, -2.001}})
    assert.is_true(pn.set.polyhedron{A = {{1, 0}, {0, 1}, {-1, -1}}, b = {1, 1, -2}}:contains({1, 1}, 1e-12))
    refused("row 2 of A is 0 and b there is -1 < 0", pn.set.polyhedron, {A = {{1, 0}, {0, 0}}, b = {1, -1}})
    refused("A has 1 rows, b has 2 entries", pn.set.polyhedron, {A = {{1, 0}}, b = {1, -1}})
  end)

  it("has the gauge that its rows say", function()
    local C = pn.set.polyhedron{A = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}}, b = {2, 1, 4, 0}}
    assert.is_near(1.5, C:gauge{3, 1}, 1e-14)
    assert.is_near(2, C:gauge{-2, 8}, 1e-14)
    assert.equal(math.huge, C:gauge{0, -1})
    local off = pn.set.polyhedron{A = {{-1, 0}, {1, 0}, {0, 1}, {0, -1}}, b = {-1, 2, 1, 1}} -- x_1 from 1 to 2
    assert.is_near(3, off:gauge{6, 0}, 1e-14)
    assert.is_near(6, off:gauge{6, 6}, 1e-14)
    assert.equal(math.huge, off:gauge{6, 6.1})
    assert.equal(math.huge, off:gauge{-1, 0})
  end)
end)
