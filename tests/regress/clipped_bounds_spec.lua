-- clipped_bounds_spec.lua -- what is claimed of clipped objectives.  A softmax record whose gradient is scaled down has a field
-- that need not be monotone: nothing but its smoothness bounds its curvature from below.
local pn = require "penumbra"

describe("bounds of a clipped objective", function()
  local data = pn.data.from({ { 1, 0 }, { 0, 1 }, { 0.5, 0.5 } }, { 1, 2, 3 }):clip_rows("l2", 1)
  local set = pn.set.l2_ball { dim = 6, radius = 2 }

  local function bounds(loss, clip, reg)
    return pn.objective({ data = data, loss = loss, set = set, clip = clip, reg = reg }).bounds
  end

  it("claim no convexity for several margins", function()
    local plain = bounds(pn.loss.softmax { classes = 3 })
    local clipped = bounds(pn.loss.softmax { classes = 3 }, 0.3)
    assert.is_true(plain.convex)
    assert.equal(0, plain.strong_convexity)
    assert.is_false(clipped.convex)
    assert.is_true(clipped.strong_convexity <= -clipped.smoothness)
    assert.is_true(bounds(pn.loss.softmax { classes = 3 }, 0.3, pn.reg.l2(1)).strong_convexity < 1)
  end)

  it("keep convexity for one margin", function()
    local one = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 1, -1 }):clip_rows("l2", 1)
    local ball = pn.set.l2_ball { dim = 2, radius = 2 }
    local b = pn.objective({ data = one, loss = pn.loss.logistic(), set = ball, clip = 0.3, reg = pn.reg.l2(0.5) }).bounds
    assert.is_true(b.convex)
    assert.near(0.5, b.strong_convexity, 1e-12)
  end)

  it("still say why a loss has no curvature", function()
    local one = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 1, -1 }):clip_rows("l2", 1)
    local ball = pn.set.l1_ball { dim = 2, radius = 1 }
    local objective = pn.objective { data = one, loss = pn.loss.glm(function(z) return pn.log(z) end), set = ball, clip = 1 }
    local plan = pn.solve.frank_wolfe.plan(objective, { epsilon = 1, delta = 1e-5, iterations = 5 })
    assert.is_truthy(tostring(plan):find("log(z)", 1, true))
  end)
end)
