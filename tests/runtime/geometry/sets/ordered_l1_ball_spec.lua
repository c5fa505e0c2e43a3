-- ordered_l1_ball_spec.lua -- ordered_l1_ball and top_k_ball beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

describe("ordered_l1_ball", function()
  it("is the l1 ball with equal weights and the linf ball with one weight", function()
    v.same_set(pn.set.ordered_l1_ball{weights = {2, 2, 2, 2}, radius = 3}, pn.set.l1_ball{dim = 4, radius = 1.5}, 1e-13)
    local rng, C = pn.rng.seeded(1), pn.set.ordered_l1_ball{weights = {2, 0, 0, 0}, radius = 3}
    for _ = 1, 20 do
      local z = v.random(rng, 4, 5)
      v.near(pn.set.linf_ball{dim = 4, radius = 1.5}:project(z), C:project(z), 1e-14)
      assert.is_near(pn.set.linf_ball{dim = 4, radius = 1.5}:support(z), C:support(z), 1e-14)
    end
  end)

  it("prices sizes by their rank", function()
    local C = pn.set.ordered_l1_ball{weights = {3, 2, 0.5}, radius = 2}
    assert.is_near((15 + 4 + 0.5) / 2, C:gauge{-1, 5, 2}, 1e-15)
    local value, x = C:support{-1, 5, 2} -- 5/3, 7/5, 8/5.5
    assert.is_near(10 / 3, value, 1e-15)
    v.near({0, 2 / 3, 0}, x, 1e-15)
    value, x = C:support{4, -5, 1} -- 5/3, 9/5, 10/5.5
    assert.is_near(20 / 5.5, value, 1e-14)
    v.near({2 / 5.5, -2 / 5.5, 2 / 5.5}, x, 1e-15)
  end)

  it("projects pooled entries to one size", function() -- (5, 4.5) less t (3, 1): at t = 1 pooled to 2.75 each, norm 4 * 2.75 = 11
    v.near({2.75, 2.75}, pn.set.ordered_l1_ball{weights = {3, 1}, radius = 11}:project{5, 4.5}, 1e-14)
  end)

  it("has its largest norms at vertices", function()
    local C = pn.set.ordered_l1_ball{weights = {2, 1, 1}, radius = 4}
    assert.is_near(2, C:radius_in("linf"), 1e-14) -- 4/2
    assert.is_near(3, C:radius_in("l1"), 1e-14) -- 3 * 4/4
    assert.is_near(2, C.radius, 1e-14)
  end)

  it("projects far points into the set, and no further than their rounding", function()
    local C = pn.set.ordered_l1_ball{weights = {3, 2.9}}
    v.near({1 / 5.9, 1 / 5.9}, C:project{3e8, 2.95e8}, 1e-6) -- the vertex: 5.95/5.9 > 3/3
    for _, far in ipairs{1e8, 1e20, 1e300} do
      assert.is_true(C:contains(C:project{3 * far, 2 * far}, 1e-12))
    end
  end)

  it("refuses weights that increase, are negative or begin with 0", function()
    local make = pn.set.ordered_l1_ball
    v.refused(make, {weights = {1, 2}}, "set.ordered_l1_ball: weights must be >= 0 and not increase, got 2 after 1 at entry 2")
    v.refused(make, {weights = {1, -1}}, "got -1 after 1 at entry 2")
    v.refused(make, {weights = {0, 0}}, "set.ordered_l1_ball: the first of the weights must be positive, got 0")
    v.refused(make, {weights = {}}, "set.ordered_l1_ball: the first of the weights must be positive")
  end)
end)

describe("top_k_ball", function()
  it("is the hull of the l1 ball and of the linf ball over k", function()
    local rng, C = pn.rng.seeded(6), pn.set.top_k_ball{dim = 5, k = 3, radius = 2}
    for _ = 1, 30 do
      local g = v.random(rng, 5, 1)
      local one, many = pn.set.l1_ball{dim = 5, radius = 2}:support(g), pn.set.linf_ball{dim = 5, radius = 2 / 3}:support(g)
      assert.is_near(math.max(one, many), (C:support(g)), 1e-14)
    end
    assert.is_near(5 * 2 / 3, C:radius_in("l1"), 1e-14)
    assert.is_near(2, C.radius, 1e-14)
    assert.is_near(2, C:radius_in("linf"), 1e-14)
    assert.is_near(math.sqrt(8) / 2, pn.set.top_k_ball{dim = 8, k = 2}.radius, 1e-14)
  end)

  it("sums the k largest sizes", function()
    assert.is_near(9 / 2, pn.set.top_k_ball{dim = 4, k = 2, radius = 2}:gauge{-5, 1, 4, 0.5}, 1e-15)
  end)

  it("refuses k above dim", function()
    v.refused(pn.set.top_k_ball, {dim = 3, k = 4}, "set.top_k_ball: k must be at most dim, which is 3, got 4")
  end)
end)
