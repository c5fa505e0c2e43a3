-- l1_ball_spec.lua -- the l1 ball beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"

local function numbers(v)
  local out = {}
  for i = 1, #v do
    out[i] = v[i]
  end
  return out
end

-- An independent projection onto the l1 ball: by sorting (Duchi et al. 2008, figure 1).
local function project_by_sorting(z, radius)
  local sizes, total = {}, 0
  for i = 1, #z do
    sizes[i] = math.abs(z[i])
    total = total + sizes[i]
  end
  if total <= radius then
    return z
  end
  table.sort(sizes, function(a, b) return a > b end)
  local sum, tau = 0, 0
  for i = 1, #sizes do
    sum = sum + sizes[i]
    if sizes[i] > (sum - radius) / i then
      tau = (sum - radius) / i
    end
  end
  local out = {}
  for i = 1, #z do
    out[i] = math.max(math.abs(z[i]) - tau, 0) * (z[i] < 0 and -1 or 1)
  end
  return out
end

describe("l1_ball", function()
  it("lists its vertices as +r e_1, -r e_1, +r e_2, ...", function()
    local V = pn.set.l1_ball{dim = 2, radius = 3}:vertices()
    local want = {{3, 0}, {-3, 0}, {0, 3}, {0, -3}}
    for i = 1, 4 do
      assert.equal(want[i][1], V:get(i, 1))
      assert.equal(want[i][2], V:get(i, 2))
    end
  end)

  it("breaks ties of its support by the lowest index, and zero counts as positive", function()
    local C = pn.set.l1_ball{dim = 3, radius = 2}
    assert.same({0, -2, 0}, numbers(select(2, C:support{1, -4, 4})))
    assert.same({2, 0, 0}, numbers(select(2, C:support{0, 0, 0})))
  end)

  it("projects (3, -1, 0.5, 2) on the unit ball to (1, 0, 0, 0)", function() -- geometry.md section 4
    assert.same({1, 0, 0, 0}, numbers(pn.set.l1_ball{dim = 4}:project{3, -1, 0.5, 2}))
  end)

  it("projects as a sorting algorithm does, with ties and at every scale", function()
    local rng = pn.rng.seeded(7)
    for trial = 1, 60 do
      local z, n, scale = {}, 1 + trial % 23, 10 ^ (trial % 7 - 3)
      for i = 1, n do
        z[i] = scale * (2 * rng:uniform() - 1)
        if trial % 3 == 0 then
          z[i] = scale * (rng:integer(5) - 3)
        end
      end
      local got, want = pn.set.l1_ball{dim = n, radius = 0.7}:project(z), project_by_sorting(z, 0.7)
      for i = 1, n do
        assert.is_near(want[i], got[i], 1e-13 * math.max(1, scale))
      end
    end
  end)

  it("projects long vectors as a sorting algorithm does, wherever the large entries are", function()
    local rng, n = pn.rng.seeded(8), 20000
    for _, where in ipairs {"everywhere", "in one place", "at the start"} do
      local z = {}
      for i = 1, n do
        z[i] = 2 * rng:uniform() - 1
      end
      if where == "in one place" then
        z[12345] = 40
      elseif where == "at the start" then
        for i = 1, 300 do
          z[i] = 10 * z[i]
        end
      end
      local got, want = pn.set.l1_ball{dim = n, radius = 15}:project(z), project_by_sorting(z, 15)
      local worst = 0
      for i = 1, n do
        worst = math.max(worst, math.abs(got[i] - want[i]))
      end
      assert.is_true(worst <= 1e-12, where)
    end
  end)

  it("projects numbers that are too large for their sum", function()
    local p = pn.set.l1_ball{dim = 3, radius = 4}:project{1.5e308, -1.5e308, 1}
    assert.same({2, -2, 0}, numbers(p))
  end)

  it("projects within an even slope of thresholds in few passes", function()
    local z = {}
    for i = 1, 60 do
      z[i] = 2 ^ -i
    end
    local got, want = pn.set.l1_ball{dim = 60, radius = 0.5}:project(z), project_by_sorting(z, 0.5)
    for i = 1, 60 do
      assert.is_near(want[i], got[i], 1e-15)
    end
  end)

  it("has gauge ||v||_1 / r", function()
    assert.equal(3, pn.set.l1_ball{dim = 3, radius = 2}:gauge{1, -2, 3})
  end)

  it("has radius r and diameter 2r in every norm", function()
    local C = pn.set.l1_ball{dim = 5, radius = 3}
    for _, norm in ipairs {"l1", "l2", "linf"} do
      assert.equal(3, C:radius_in(norm))
      assert.equal(6, C:diameter_in(norm))
    end
  end)

  it("takes a center", function()
    local C = pn.set.l1_ball{dim = 3, radius = 2, center = {1, 2, -3}}
    assert.same({1, 2, -3}, numbers(C:center()))
    assert.is_near(8, C:radius_in("l1"), 1e-14) -- 1 + 2 + 3 + 2
    assert.is_near(math.sqrt(30), C.radius, 1e-14) -- at (1, 2, -5)
    assert.is_near(5, C:radius_in("linf"), 1e-14)
    assert.has_error(function() pn.set.l1_ball{dim = 3, center = {1, 2}} end,
      "set.l1_ball: center has 2 entries, dim is 3")
  end)

  it("refuses a radius that is not positive and finite", function()
    for _, radius in ipairs {0, -1, math.huge, 0 / 0} do
      local ok, message = pcall(pn.set.l1_ball, {dim = 2, radius = radius})
      assert.is_false(ok)
      assert.truthy(message:find("set.l1_ball: radius must be a positive number, got", 1, true), message)
    end
  end)
end)
