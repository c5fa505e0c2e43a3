-- cross_polytope_spec.lua -- weighted_l1_ball and diamond beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

describe("weighted_l1_ball", function()
  it("is the l1 ball with equal weights", function()
    v.same_set(pn.set.weighted_l1_ball{weights = {2, 2, 2, 2, 2}, radius = 3}, pn.set.l1_ball{dim = 5, radius = 1.5}, 1e-14)
  end)

  it("lists radius / weight along the axes", function()
    local V = pn.set.weighted_l1_ball{weights = {1, 4}, radius = 2}:vertices()
    local want = {{2, 0}, {-2, 0}, {0, 0.5}, {0, -0.5}}
    for i = 1, 4 do
      assert.is_near(want[i][1], V:get(i, 1), 1e-15)
      assert.is_near(want[i][2], V:get(i, 2), 1e-15)
    end
  end)

  it("projects by thresholds in proportion to the weights", function() -- tau = 1: (3 - 1) + 2 (3 - 2) = 4
    v.near({2, -1}, pn.set.weighted_l1_ball{weights = {1, 2}, radius = 4}:project{3, -3}, 1e-15)
  end)

  it("takes weights that differ by many orders, and far points", function()
    local C = pn.set.weighted_l1_ball{weights = {1e-12, 1, 1e12}}
    assert.is_true(C:contains(C:project{1e13, 5, 1}, 1e-12))
    v.near({1, 0}, pn.set.weighted_l1_ball{weights = {1, 1}}:project{3e20, 2e20}, 1e-15)
  end)

  it("refuses weights that are not positive, with their place", function()
    v.refused(pn.set.weighted_l1_ball, {weights = {1, 0}}, "set.weighted_l1_ball: weights must be positive, got 0 at entry 2")
    v.refused(pn.set.weighted_l1_ball, {weights = {}}, "set.weighted_l1_ball: weights must have at least one entry")
    v.refused(pn.set.weighted_l1_ball, {weights = {1, 1e-320}, radius = 1e100}, "out of range at entry 2")
  end)
end)

describe("diamond", function()
  it("has the middles of the faces of its box as vertices", function()
    local V = pn.set.diamond{lower = {-1, 2}, upper = {3, 4}}:vertices()
    local want = {{3, 3}, {-1, 3}, {1, 4}, {1, 2}}
    for i = 1, 4 do
      assert.equal(want[i][1], V:get(i, 1))
      assert.equal(want[i][2], V:get(i, 2))
    end
  end)

  it("keeps a coordinate whose bounds agree", function()
    local C = pn.set.diamond{lower = {-1, 2}, upper = {1, 2}}
    v.near({1, 2}, C:project{5, -7}, 1e-15)
    assert.is_false(C:contains{0, 2.1})
    assert.equal(1 / 2, pn.set.diamond{lower = {-2, 0}, upper = {2, 0}}:gauge{1, 0})
    assert.equal(math.huge, pn.set.diamond{lower = {-2, 0}, upper = {2, 0}}:gauge{1, 1e-9})
    assert.equal(0, pn.set.diamond{lower = {0, 0}, upper = {0, 0}}.radius)
    assert.same({0, 0}, v.numbers(pn.set.diamond{lower = {0, 0}, upper = {0, 0}}:project{3, 4}))
  end)

  it("refuses bounds that cross or differ in length", function()
    v.refused(pn.set.diamond, {lower = {0, 2}, upper = {1, 1}}, "set.diamond: lower must be <= upper, got 2 > 1 at entry 2")
    v.refused(pn.set.diamond, {lower = {0, 2}, upper = {1}}, "set.diamond: lower has 2 entries, upper has 1")
  end)
end)
