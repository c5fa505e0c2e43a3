-- k_support_spec.lua -- the k-support norm ball beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

describe("k_support", function()
  it("is the l1 ball for k = 1 and the l2 ball for k = dim", function()
    v.same_set(pn.set.k_support{dim = 7, k = 1, radius = 2}, pn.set.l1_ball{dim = 7, radius = 2}, 1e-13)
    v.same_set(pn.set.k_support{dim = 7, k = 7, radius = 2}, pn.set.l2_ball{dim = 7, radius = 2}, 1e-14)
  end)

  it("has the norm of Argyriou, Foygel and Srebro", function()
    local C = pn.set.k_support{dim = 3, k = 2}
    assert.is_near(3 / math.sqrt(2), C:gauge{1, -1, 1}, 1e-15) -- one tail: (1 + 1 + 1)/sqrt 2
    assert.is_near(math.sqrt(100 + 4), C:gauge{10, 1, -1}, 1e-14) -- 10 apart, then the l1 norm of the rest
    assert.is_near(3.5 / math.sqrt(2), C:gauge{1.5, 1, -1}, 1e-15) -- 1.5 is below 1 + 1
    assert.is_near(5, C:gauge{3, 0, 4}, 1e-15) -- k-sparse: the l2 norm
    assert.equal(0, C:gauge{0, 0, 0})
  end)

  it("has its support at the k largest entries", function()
    local value, x = pn.set.k_support{dim = 4, k = 2, radius = 2}:support{3, 1, -4, 3}
    assert.is_near(10, value, 1e-14)
    v.near({1.2, 0, -1.6, 0}, x, 1e-15)
  end)

  it("projects by a rule for large entries and another for small ones", function()
    -- z = (10, 1, 1), k = 2: theta_1 = 1 and theta_2 = theta_3 = 1/2, so x = (10/(1 + mu), t, t), t = 1/(1 + 2 mu), and the norm
    -- sqrt(x_1^2 + 4 t^2); at mu = 1 that is sqrt(25 + 4/9)
    local x = pn.set.k_support{dim = 3, k = 2, radius = math.sqrt(25 + 4 / 9)}:project{10, -1, 1}
    v.near({5, -1 / 3, 1 / 3}, x, 1e-14)
    v.near({0.6, 0.8, 0}, pn.set.k_support{dim = 3, k = 2}:project{6, 8, 0}, 1e-15)
  end)

  it("projects far points into the set, and no further than their rounding", function()
    local C = pn.set.k_support{dim = 3, k = 2}
    v.near({0.6, 0.8, 0}, C:project{6e8, 8e8, 1}, 1e-6)
    for _, far in ipairs{1e8, 1e20, 1e300} do
      assert.is_true(C:contains(C:project{6 * far, 8 * far, 1}, 1e-12))
    end
  end)

  it("refuses k above dim", function()
    v.refused(pn.set.k_support, {dim = 3, k = 4}, "set.k_support: k must be at most dim, which is 3, got 4")
  end)
end)
