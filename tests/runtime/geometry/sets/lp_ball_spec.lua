-- lp_ball_spec.lua -- the lp balls beyond what conformance_spec.lua asks of every set.
local pn = require "penumbra"
local v = require "tests.tools.vectors"

describe("lp_ball", function()
  it("is the l1, l2 and linf ball for q = 1, 2 and infinity", function()
    for name, q in pairs{l1_ball = 1, l2_ball = 2, linf_ball = math.huge} do
      local C = pn.set.lp_ball{dim = 3, q = q, radius = 2, center = {1, 0, -1}}
      assert.equal(tostring(pn.set[name]{dim = 3, radius = 2, center = {1, 0, -1}}), tostring(C))
    end
  end)

  it("comes close to them as q does", function()
    v.same_set(pn.set.lp_ball{dim = 6, q = 2 + 1e-12}, pn.set.l2_ball{dim = 6}, 1e-10)
    v.same_set(pn.set.lp_ball{dim = 6, q = 2 - 1e-12}, pn.set.l2_ball{dim = 6}, 1e-10)
    local rng = pn.rng.seeded(3)
    for _ = 1, 20 do
      local z = v.random(rng, 6, 3)
      v.near(pn.set.linf_ball{dim = 6}:project(z), pn.set.lp_ball{dim = 6, q = 1e9}:project(z), 1e-7)
      v.near(pn.set.l1_ball{dim = 6}:project(z), pn.set.lp_ball{dim = 6, q = 1 + 1e-9}:project(z), 1e-6)
    end
  end)

  it("has the dual exponent in its support", function() -- q = 3: q' = 3/2
    local value, x = pn.set.lp_ball{dim = 2, q = 3, radius = 2}:support{4, -9}
    assert.is_near(2 * (8 + 27) ^ (2 / 3), value, 1e-13)
    v.near({2 * 2 / 35 ^ (1 / 3), -2 * 3 / 35 ^ (1 / 3)}, x, 1e-14)
  end)

  it("has its largest norms at unit and at constant vectors", function()
    local C, D = pn.set.lp_ball{dim = 16, q = 4, radius = 3}, pn.set.lp_ball{dim = 16, q = 1.5, radius = 3}
    assert.is_near(3 * 16 ^ 0.75, C:radius_in("l1"), 1e-12)
    assert.is_near(3 * 16 ^ 0.25, C.radius, 1e-12)
    assert.equal(3, C:radius_in("linf"))
    assert.is_near(3 * 16 ^ (1 / 3), D:radius_in("l1"), 1e-12)
    assert.equal(3, D.radius)
  end)

  it("projects along symmetries", function()
    local C = pn.set.lp_ball{dim = 2, q = 4}
    v.near({2 ^ -0.25, -2 ^ -0.25}, C:project{7, -7}, 1e-15)
    v.near({1, 0}, C:project{50, 0}, 1e-15)
    v.near({0.3, 0.4}, C:project{0.3, 0.4}, 0)
  end)

  it("projects where the gap is along the gradient of the norm", function() -- z - x = lambda sign(x) |x|^(q-1)
    local rng = pn.rng.seeded(5)
    for _, q in ipairs{1.05, 1.5, 3, 10, 80} do
      for trial = 1, 10 do
        local z = v.random(rng, 8, 10 ^ (trial % 4))
        z[1] = 10 ^ (trial % 4)
        local x, lambda = pn.set.lp_ball{dim = 8, q = q, radius = 0.5}:project(z), nil
        for i = 1, 8 do
          lambda = lambda or (z[1] - x[1]) / x[1] ^ (q - 1)
          local size = lambda * math.abs(x[i]) ^ (q - 1)
          assert.is_near(math.abs(z[i]), math.abs(x[i]) + size, 1e-10 * math.abs(z[1]))
        end
      end
    end
  end)

  it("keeps numbers whose powers overflow or vanish", function()
    local C = pn.set.lp_ball{dim = 2, q = 40, radius = 2}
    assert.is_near(1e200, C:gauge{2e200, 1e100} , 1e186)
    assert.is_near(1e-200, C:gauge{2e-200, 0}, 1e-214)
    v.near({2, 0}, C:project{1e250, 0}, 1e-14)
    assert.is_near(2e-200, (C:support{1e-200, 0}), 1e-214)
    v.near({2 * 2 ^ (-2 / 3), 2 * 2 ^ (-2 / 3)}, pn.set.lp_ball{dim = 2, q = 1.5, radius = 2}:project{1e250, 1e250}, 1e-14)
  end)

  it("refuses exponents below 1 and what is no number", function()
    for _, q in ipairs{0.99, 0, -1, -math.huge, 0 / 0} do
      v.refused(pn.set.lp_ball, {dim = 2, q = q}, "set.lp_ball: q must be a number from 1, or infinity, got")
    end
  end)
end)
