-- birkhoff_spec.lua -- doubly stochastic matrices beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

-- The largest total over all permutations, by trying them.
local function brute_force(g, n, row, used)
  row, used = row or 1, used or {}
  if row > n then
    return 0
  end
  local best = -math.huge
  for j = 1, n do
    if not used[j] then
      used[j] = true
      best = math.max(best, g[(row - 1) * n + j] + brute_force(g, n, row + 1, used))
      used[j] = nil
    end
  end
  return best
end

local function near(want, got, tolerance)
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.is_near(want[i], got[i], tolerance)
  end
end

-- Each row and each column has a single 1.
local function is_permutation(x, n)
  for i = 1, n do
    local row, col = 0, 0
    for j = 1, n do
      row, col = row + x[(i - 1) * n + j], col + x[(j - 1) * n + i]
      local entry = x[(i - 1) * n + j]
      assert.is_true(entry == 0 or entry == 1)
    end
    assert.equal(1, row)
    assert.equal(1, col)
  end
end

describe("birkhoff", function()
  it("supports at the best of all permutations", function()
    local rng = pn.rng.seeded(6)
    for n = 1, 6 do
      local C = pn.set.birkhoff{n = n}
      for round = 1, 30 do
        local g, sum = {}, 0
        for i = 1, n * n do
          g[i] = round % 2 == 0 and rng:integer(4) - 3 or 2 * rng:uniform() - 1 -- with ties, and without
        end
        local value, x = C:support(g)
        is_permutation(x, n)
        for i = 1, n * n do
          sum = sum + g[i] * x[i]
        end
        assert.is_near(brute_force(g, n), value, 1e-13 * n)
        assert.is_near(value, sum, 1e-13 * n)
      end
    end
  end)

  it("supports the zero matrix at the identity", function()
    local _, x = pn.set.birkhoff{n = 3}:support{0, 0, 0, 0, 0, 0, 0, 0, 0}
    near({1, 0, 0, 0, 1, 0, 0, 0, 1}, x, 0)
  end)

  it("supports numbers near both ends of the doubles", function()
    for _, size in ipairs {1e307, 1e-310} do
      local value, x = pn.set.birkhoff{n = 2}:support{-size, 3 * size, 3 * size, 4 * size}
      near({0, 1, 1, 0}, x, 0)
      assert.is_near(1, value / (6 * size), 1e-12)
    end
  end)

  it("projects 2 x 2 matrices onto a segment", function()
    -- X = (t 1-t; 1-t t) nearest to Z has t = (z11 + z22 - z12 - z21 + 2)/4, cut to [0, 1].
    local C = pn.set.birkhoff{n = 2}
    near({0.75, 0.25, 0.25, 0.75}, C:project{1, 0.25, 0.25, 0.5}, 1e-15)
    near({1, 0, 0, 1}, C:project{30, 1, -5, 4}, 1e-13)
    near({0.5, 0.5, 0.5, 0.5}, C:project{1e9, 1e9, 1e9, 1e9}, 1e-15)
  end)

  it("projects to points that no permutation improves, whatever the size of the numbers", function()
    local rng = pn.rng.seeded(7)
    for _, n in ipairs {3, 8, 30} do
      local C = pn.set.birkhoff{n = n}
      for _, size in ipairs {0.01, 1, 30, 1e4, 1e8} do
        for kind = 1, 3 do
          local z, away, square, gap = {}, {}, 0, 0
          for i = 1, n * n do
            local t = rng:uniform()
            z[i] = size * (kind == 1 and t or kind == 2 and math.floor(3 * t) or t ^ 8)
          end
          local p = C:project(z)
          for i = 1, n * n do
            assert.is_true(p[i] >= 0)
            away[i] = z[i] - p[i]
            square = square + away[i] ^ 2
          end
          local value = C:support(away)
          for i = 1, n * n do
            gap = gap - away[i] * p[i]
          end
          assert.is_true(value + gap <= 1e-12 * (math.sqrt(square) + math.sqrt(n)) ^ 2)
          assert.is_true(C:contains(p, 1e-13 * (n + size)))
        end
      end
    end
  end)

  it("attains its radii and diameters", function()
    local C = pn.set.birkhoff{n = 3}
    assert.is_near(math.sqrt(3), C.radius, 1e-15)
    assert.is_near(math.sqrt(6), C.diameter, 1e-15)
    assert.equal(3, C:radius_in("l1"))
    assert.equal(6, C:diameter_in("l1"))
    assert.equal(1, C:radius_in("linf"))
    assert.equal(1, C:diameter_in("linf"))
    assert.equal(0, pn.set.birkhoff{n = 1}.diameter)
    for n = 1, 40 do
      assert.is_true(pn.set.birkhoff{n = n}.radius ^ 2 >= n * (1 - 2 ^ -52))
    end
  end)

  it("has a gauge where all rows and columns have one sum", function()
    local C = pn.set.birkhoff{n = 2}
    assert.equal(3, C:gauge{1, 2, 2, 1})
    assert.equal(0, C:gauge{0, 0, 0, 0})
    assert.equal(math.huge, C:gauge{1, 2, 2, 2})
    assert.equal(math.huge, C:gauge{2, -1, -1, 2})
  end)
end)
