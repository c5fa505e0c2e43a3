-- lobjective_spec.lua -- how pn.objective takes its parts, hands them back, keeps them alive and prints itself.
local pn = require "penumbra"

local function data() return pn.data.from({ { 3, 4 }, { 1, 0 }, { 0, 2 } }, { 1, -1, 1 }) end

describe("pn.objective", function()
  it("names a part that is missing, of another kind, or unknown", function()
    local d, l = data(), pn.loss.logistic()
    assert.error_matches(function() pn.objective { loss = l } end, "data")
    assert.error_matches(function() pn.objective { data = d } end, "loss")
    assert.error_matches(function() pn.objective { data = l, loss = l } end, "data must be a pn.dataset, got a pn.loss")
    assert.error_matches(function() pn.objective { data = d, loss = "logistic" } end, "loss must be a pn.loss, got the string")
    assert.error_matches(function() pn.objective { data = d, loss = l, set = l } end, "set must be a pn.set")
    assert.error_matches(function() pn.objective { data = d, loss = l, reg = l } end, "reg must be a pn.reg")
    assert.error_matches(function() pn.objective { data = d, loss = l, clip = "x" } end, "clip")
    assert.error_matches(function() pn.objective { data = d, loss = l, clipp = 1 } end, "unknown option 'clipp'")
  end)

  it("hands back the parts that it was given, and nil for those that it was not", function()
    local d, l, C, r = data(), pn.loss.logistic(), pn.set.l2_ball { dim = 2 }, pn.reg.l2(1)
    local all = pn.objective { data = d, loss = l, set = C, reg = r }
    assert.equal(d, all.data)
    assert.equal(l, all.loss)
    assert.equal(C, all.set)
    local some = pn.objective { data = d, loss = l, reg = r }
    assert.is_nil(some.set)
    assert.is_nil(pn.objective({ data = d, loss = l }).set)
    assert.equal(3, some.n)
    assert.equal(2, some.p)
  end)

  it("keeps its parts alive and open", function()
    local objective
    do
      local d <close> = data()
      local l <close> = pn.loss.huber()
      local C <close> = pn.set.l2_ball { dim = 2 }
      local r <close> = pn.reg.l2(1)
      objective = pn.objective { data = d, loss = l, set = C, reg = r }
    end
    collectgarbage()
    collectgarbage()
    local theta = pn.vec { 0.5, 0.25 }
    -- margins 2.5, 0.5, 0.5 against 1, -1, 1: residuals 1.5, 1.5, -0.5
    assert.is_near((1 + 1 + 0.125) / 3 + theta:dot(theta) / 2, objective:value(theta), 1e-15)
    assert.equal(1, objective.set.radius)
  end)

  it("prints its loss, size and what is certified", function()
    local d, C = data():clip_rows("l2", 1), pn.set.l2_ball { dim = 2 }
    local function text(parts) return tostring(pn.objective(parts)) end
    local l = pn.loss.logistic()
    assert.truthy(text { data = d, loss = l, set = C }:find("certified: |slope| <= 0.7311, curvature 1", 1, true))
    assert.truthy(text { data = d, loss = l, reg = pn.reg.l1(1), clip = 2 }:find("logistic loss + l1 over unconstrained", 1, true))
    assert.truthy(text { data = d, loss = l, clip = 2 }:find("clipped: each record's gradient to l2 norm 2", 1, true))
    assert.truthy(text { data = data(), loss = l, set = C }:find("not certified: no bound on the records", 1, true))
    assert.truthy(text { data = d, loss = pn.loss.sigmoid(), set = C }:find("not convex", 1, true))
  end)

  it("has bounds of loss and regulariser together", function()
    local d, C = data():clip_rows("l2", 1), pn.set.l2_ball { dim = 2, radius = 2 }
    local plain = pn.objective({ data = d, loss = pn.loss.logistic(), set = C }).bounds
    local more = pn.objective({ data = d, loss = pn.loss.logistic(), set = C, reg = pn.reg.l2(0.5) }).bounds
    assert.equal(plain.lipschitz.l2, more.lipschitz.l2) -- the regulariser is public
    assert.is_near(plain.smoothness + 0.5, more.smoothness, 1e-9)
    assert.is_near(0.5, more.strong_convexity, 1e-12)
    assert.is_near(plain.curvature + 0.5 * 4 ^ 2, more.curvature, 1e-8)
    local kinked = pn.objective({ data = d, loss = pn.loss.logistic(), set = C, reg = pn.reg.l1(0.5) }).bounds
    assert.equal("certified", kinked.source)
    assert.equal(math.huge, kinked.smoothness)
    assert.is_true(kinked.convex)
    local bent = pn.objective({ data = d, loss = pn.loss.logistic(), set = C, reg = pn.reg.nonconvex(0.5) }).bounds
    assert.is_false(bent.convex)
    assert.is_true(bent.strong_convexity < 0)
  end)
end)
