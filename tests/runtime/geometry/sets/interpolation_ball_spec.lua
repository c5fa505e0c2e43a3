-- interpolation_ball_spec.lua -- between l1 and l2, beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

local z = {3, -1, 0.5, 2}

-- The dual norm by bisection on its definition.
local function dual_by_bisection(g, alpha)
  local low, high = 0, 0
  for i = 1, #g do
    high = high + math.abs(g[i])
  end
  for _ = 1, 200 do
    local t, sum = (low + high) / 2, 0
    for i = 1, #g do
      sum = sum + math.max(math.abs(g[i]) - t * (1 - alpha), 0) ^ 2
    end
    if math.sqrt(sum) > t * alpha then low = t else high = t end
  end
  return low
end

describe("interpolation_ball", function()
  it("has the numbers of the specification at alpha = 1/2", function() -- geometry.md section 4
    local C = pn.set.interpolation_ball{dim = 4, alpha = 0.5}
    assert.is_near(5.137458609, C:gauge(z), 1e-9 * 5.2)
    local value = C:support(z)
    assert.is_near(3.071796770, value, 1e-9 * 3.1)
    local _, lmo = C:support{-3, 1, -0.5, -2}
    v.near({-0.8452995, 0, 0, -0.2679492}, lmo, 5e-8)
    v.near({0.7826663, 0, 0, 0.3570651}, C:project(z), 5e-8)
  end)

  it("is the l1 ball at alpha = 0 and the l2 ball at alpha = 1", function()
    assert.equal(tostring(pn.set.l1_ball{dim = 4, radius = 2}), tostring(pn.set.interpolation_ball{dim = 4, alpha = 0, radius = 2}))
    assert.equal(tostring(pn.set.l2_ball{dim = 4, radius = 2}), tostring(pn.set.interpolation_ball{dim = 4, alpha = 1, radius = 2}))
    v.same_set(pn.set.interpolation_ball{dim = 6, alpha = 1 - 1e-13}, pn.set.l2_ball{dim = 6}, 1e-11)
  end)

  it("has the dual norm of its definition, at every alpha", function()
    local rng = pn.rng.seeded(2)
    for trial = 1, 60 do
      local g = v.random(rng, 1 + trial % 9, 10 ^ (trial % 5 - 2))
      local alpha = trial % 3 == 0 and 10 ^ -(trial % 7) or 0.01 + 0.98 * rng:uniform()
      local value = pn.set.interpolation_ball{dim = #g, alpha = alpha, radius = 3}:support(g)
      assert.is_near(3 * dual_by_bisection(g, alpha), value, 1e-13 * (1 + value))
    end
  end)

  it("has its support between those of the l1 and the l2 ball", function()
    local rng = pn.rng.seeded(4)
    for _ = 1, 20 do
      local g = v.random(rng, 8, 1)
      local h = pn.set.interpolation_ball{dim = 8, alpha = 0.3}:support(g)
      local one, two = pn.set.l1_ball{dim = 8}:support(g), pn.set.l2_ball{dim = 8}:support(g)
      assert.is_true(one <= h and h <= 0.7 * one + 0.3 * two + 1e-15) -- geometry.md section 2.6
    end
  end)

  it("has its largest l1 norm at a constant vector", function()
    local C = pn.set.interpolation_ball{dim = 16, alpha = 0.4, radius = 3}
    assert.is_near(3 / (0.6 + 0.4 / 4), C:radius_in("l1"), 1e-13)
    assert.equal(3, C.radius)
    assert.equal(3, C:radius_in("linf"))
    local constant = {}
    for i = 1, 16 do
      constant[i] = C:radius_in("l1") / 16
    end
    assert.is_near(1, C:gauge(constant), 1e-14)
  end)

  it("keeps its digits for far, huge and tiny vectors", function()
    local C = pn.set.interpolation_ball{dim = 4, alpha = 0.5}
    v.near({0.8452995, 0, 0, 0.2679492}, C:project{3e8, -1e8, 0.5e8, 2e8}, 1e-6) -- the support point, but for 1/3e8
    for _, far in ipairs{1e8, 1e20, 1e300} do
      local p = C:project{3 * far, -far, far / 2, 2 * far}
      assert.is_true(C:contains(p, 1e-13) and p[1] > 0.8)
    end
    assert.is_near(3.0717967697244906e-300, (C:support{3e-300, -1e-300, 5e-301, 2e-300}), 1e-314)
  end)

  it("refuses an alpha outside 0 to 1", function()
    for _, alpha in ipairs{-0.1, 1.1, 0 / 0} do
      v.refused(pn.set.interpolation_ball, {dim = 2, alpha = alpha},
        "set.interpolation_ball: alpha must be a number from 0 to 1, got")
    end
  end)
end)
