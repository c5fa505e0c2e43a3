-- margin_bounds_spec.lua -- the range of <x, theta> by the set's radius and the record bound in the dual norm, against exact
-- maxima; products of bounds lie above the exact product; curvature of either sign counts.
local pn = require "penumbra"

local p, records = 4, { { 1, 0, 0, 0 }, { 0, 1, 0, 0 } }

local function bounds(loss, set, norm, size)
  local data = pn.data.from(records, { -1, 1 }):clip_rows(norm, size)
  return pn.objective({ data = data, loss = loss, set = set }).bounds
end

-- max |<x, theta>| over ||x||_norm <= 1 and the set, by hand: sup over theta of its dual norm.
local sets = {
  { "l1_ball", pn.set.l1_ball { dim = p, radius = 3 }, { l1 = 3, l2 = 3, linf = 3 } },
  { "l2_ball", pn.set.l2_ball { dim = p, radius = 3 }, { l1 = 3, l2 = 3, linf = 6 } },
  { "linf_ball", pn.set.linf_ball { dim = p, radius = 3 }, { l1 = 3, l2 = 6, linf = 12 } },
  { "simplex", pn.set.simplex { dim = p, radius = 3 }, { l1 = 3, l2 = 3, linf = 3 } },
  { "box away from 0", pn.set.box { lower = { 2, 2, -6, 2 }, upper = { 5, 5, -5, 5 } },
    { l1 = 6, l2 = math.sqrt(36 + 3 * 25), linf = 21 } },
  { "polytope away from 0", pn.set.polytope { vertices = pn.mat { { 7, 1, 0, 0 }, { 5, -5, 0, 0 } } },
    { l1 = 7, l2 = math.sqrt(50), linf = 10 } },
}

describe("the range of the margin", function()
  for _, case in ipairs(sets) do
    for norm, exact in pairs(case[3]) do
      it(("is that of %s with records in the unit ball of %s"):format(case[1], norm), function()
        local margin = bounds(pn.loss.logistic(), case[2], norm, 1).margin
        assert.is_true(margin >= exact)
        assert.is_true(margin <= exact * (1 + 1e-9), ("%.17g for %.17g"):format(margin, exact))
      end)
    end
  end
end)

describe("a product of bounds", function()
  it("is rounded upward", function()
    local s, r = 1 + 2 ^ -52, 1 + 2 ^ -52 -- s r = 1 + 2^-51 + 2^-104, a little above the nearest double
    local b = bounds(pn.loss.glm(function(z) return s * z end), pn.set.l2_ball { dim = p, radius = 1 }, "l2", r)
    assert.equal(s, b.slope)
    assert.is_true(b.lipschitz.l2 > s * r)
    assert.is_true(b.margin > r)
  end)
end)

describe("smoothness", function()
  it("counts curvature of either sign", function()
    local ball = pn.set.l2_ball { dim = p, radius = 1 }
    local down = bounds(pn.loss.glm(function(z) return -3 * z * z end), ball, "l2", 2)
    assert.is_true(down.smoothness >= 24 and down.smoothness <= 24 * (1 + 1e-9))
    assert.is_true(down.strong_convexity <= -24)
    assert.is_false(down.convex)
  end)
end)
