-- lsecond_order_spec.lua -- pn.second_order_gap: numbers in closed form, what is in the table, refusals, help.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

-- z^2 y/2 with x = (2, 0), y = 1 and x = (0, 3), y = -1: the Hessian is diag(4, -9)/2 everywhere.
local function saddle(options)
  local parts = {data = pn.data.from({{2, 0}, {0, 3}}, {1, -1}), loss = pn.loss.glm(function(z, y) return z * z * y / 2 end)}
  for name, value in pairs(options or {}) do parts[name] = value end
  return pn.objective(parts)
end

describe("pn.second_order_gap", function()
  it("gives value, gradient norm, least eigenvalue and its direction", function()
    local gap = pn.second_order_gap(saddle(), {1, -1})
    assert.is_near((4 - 9) / 4, gap.value, 1e-15)
    assert.is_near(math.sqrt(2 ^ 2 + 4.5 ^ 2), gap.gradient_norm, 1e-14)
    assert.is_near(-4.5, gap.eigenvalue, 1e-14)
    assert.is_true(gap.error >= 0 and gap.error < 1e-13)
    assert.is_near(1, math.abs(gap.direction[2]), 1e-15)
    assert.is_near(0, gap.direction[1], 1e-15)
    assert.equal(2, #gap.direction)
    assert.equal(0, gap.steps)
    assert.equal("integer", math.type(gap.steps))
  end)

  it("includes the regulariser, at its most concave where w = 1", function()
    local obj = saddle {reg = pn.reg.nonconvex {lambda = 0.1}}
    local theta = pn.vec {0, 1}
    local gap = pn.second_order_gap(obj, theta)
    assert.is_near(-4.5 - 0.05, gap.eigenvalue, 1e-14)
    assert.is_near(obj:value(theta), gap.value, 1e-15)
    assert.is_near(obj:gradient(theta):norm(), gap.gradient_norm, 1e-14)
  end)

  it("measures a point of several classes by products, given as a matrix", function()
    local d = pn.data.from({{1, 0}, {0, 1}, {1, 1}}, {1, 2, 3})
    local obj = pn.objective {data = d, loss = pn.loss.softmax {classes = 3}, reg = pn.reg.l2 {lambda = 0.1}}
    local gap = pn.second_order_gap(obj, pn.mat {{0, 0}, {1, 0}, {0, 1}})
    assert.is_near(0.1, gap.eigenvalue, 1e-9) -- the same shift of all classes costs nothing but r
    assert.is_true(gap.steps > 0 and gap.error < 1e-8)
    assert.equal(6, #gap.direction)
  end)

  it("finds the direction again by products with the Hessian, also where the Hessian is not formed", function()
    for _, p in ipairs {300, 3000} do
      local rng, rows, labels = pn.rng.seeded(5), {}, {}
      for i = 1, 20 do
        local x = {}
        for j = 1, p do x[j] = rng:uniform() - 0.5 end
        rows[i], labels[i] = x, i % 2 * 2 - 1
      end
      local obj = pn.objective {data = pn.data.from(rows, labels), loss = pn.loss.sigmoid()}
      local theta = {}
      for j = 1, p do theta[j] = math.sin(j) / 4 end
      local gap = pn.second_order_gap(obj, theta)
      assert.is_true(gap.steps > 0 and gap.error < 1e-8 and gap.eigenvalue < -1e-3)
      local left = obj:hvp(theta, gap.direction) - gap.eigenvalue * gap.direction
      assert.is_near(0, left:norm(), 1e-4)
      assert.is_near(1, gap.direction:norm(), 1e-12)
    end
  end)

  it("refuses what has no Hessian, in words", function()
    local function no_gap(text, ...)
      refused(text, pn.second_order_gap, ...)
    end
    no_gap("expected a pn.objective, got 3", 3, {1, 2})
    no_gap("expected a pn.objective, got nil")
    no_gap("second_order_gap: theta", saddle(), {1, 2, 3})
    no_gap("second_order_gap: theta", saddle())
    no_gap("entry 2 must be a finite number", saddle(), {1, 0 / 0})
    no_gap("without clip=", saddle {clip = 1}, {1, 1})
    no_gap("its slope jumps", saddle {loss = pn.loss.absolute()}, {1, 1})
    no_gap("black box", saddle {loss = pn.loss.black_box {lipschitz = 1, value = function() return 0 end}}, {1, 1})
    no_gap("Hessian", saddle {reg = pn.reg.nuclear {lambda = 1, rows = 1, cols = 2}}, {1, 1})
  end)

  it("is entered as raw, and says so", function()
    local entry = pn.reference().second_order_gap
    assert.equal("raw", entry.reveals)
    assert.truthy(entry.doc:find("NOT private", 1, true))
  end)
end)
