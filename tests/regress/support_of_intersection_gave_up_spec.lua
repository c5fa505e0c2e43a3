-- support_of_intersection_gave_up_spec.lua -- where a second entry of the direction is hardly larger than the rest,
-- the proximal steps
-- over an intersection creep along a face; the support gave up at a gap of 1e-8 and took the width of the set with it.
local pn = require "penumbra"

describe("the support function of an intersection", function()
  it("is found along a face that is nearly normal to the direction", function()
    local p = 2000
    local C = pn.set.l1_ball {dim = p}:intersect(pn.set.linf_ball {dim = p, radius = 0.5})
    local g = pn.vec.ones(p)
    g[1], g[2] = 3, 1 + 1e-6
    local value, point = C:support(g)
    assert.is_near(0.5 * (g[1] + g[2]), value, 1e-6 * g:norm())
    assert.is_near(value, g:dot(point), 1e-12)
    assert.is_true(C:contains(point, 1e-9))
  end)
end)
