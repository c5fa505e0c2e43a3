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

describe("obj:hessian", function()
  -- Its columns are products with unit vectors.
  local function is_that_of_products(obj, theta, batch)
    local H, dim = obj:hessian(theta, batch), #theta
    assert.equal(dim, H.rows)
    assert.equal(dim, H.cols)
    for j = 1, dim do
      local unit = pn.vec.zeros(dim)
      unit[j] = 1
      assert.is_true((H * unit - obj:hvp(theta, unit, batch)):norm() < 1e-14 * (1 + H:vec():norm()))
    end
    assert.is_true(H == H:t())
  end

  local rows = pn.data.synthetic.logistic {n = 40, p = 5, seed = 2}:clip_rows("l2", 1)

  it("is that of value: with r, and of a batch without", function()
    local theta = pn.vec {0.3, -1, 0, 2, 0.1}
    for _, reg in ipairs {false, pn.reg.l2(0.1), pn.reg.nonconvex {lambda = 0.2}} do
      local obj = pn.objective {data = rows, loss = pn.loss.logistic(), reg = reg or nil}
      is_that_of_products(obj, theta)
      is_that_of_products(obj, theta, {1, 7, 7, 40})
      is_that_of_products(obj, theta, {rows = {3}, denominator = 8})
    end
  end)

  it("is dim x dim for a loss of several margins", function()
    local d = pn.data.from(rows.X, rows.y:map(function(y) return y + 2 end)):clip_labels(1, 3)
    local obj = pn.objective {data = d, loss = pn.loss.softmax {classes = 3}, reg = pn.reg.l2(0.1)}
    is_that_of_products(obj, pn.vec.linspace(-1, 1, 15))
    assert.is_near(0.1, obj:hessian(pn.vec.zeros(15)):eigen()[1], 1e-14)
  end)

  it("is 0 where clip= acts, and that of the loss where it does not", function()
    local plain = pn.objective {data = rows, loss = pn.loss.logistic()}
    local theta = pn.vec.zeros(5)
    assert.is_true(pn.objective {data = rows, loss = pn.loss.logistic(), clip = 10}:hessian(theta) == plain:hessian(theta))
    assert.equal(0, pn.objective {data = rows, loss = pn.loss.logistic(), clip = 1e-3}:hessian(theta):vec():norm(math.huge))
  end)

  it("refuses what has none, and points of another size", function()
    local d = pn.data.from({{1, 0}, {0, 1}}, {1, -1})
    refused("black", function()
      pn.objective {data = d, loss = pn.loss.black_box {value = function(z, y) return z * y end}}:hessian {0, 0}
    end)
    refused("hinge", function() pn.objective {data = d, loss = pn.loss.hinge()}:hessian {0, 0} end)
    refused("reg.nuclear", function()
      pn.objective {data = d, loss = pn.loss.logistic(), reg = pn.reg.nuclear {lambda = 1, rows = 1, cols = 2}}:hessian {0, 0}
    end)
    refused("theta has 3 entries", function() pn.objective {data = d, loss = pn.loss.logistic()}:hessian {0, 0, 0} end)
    refused("must be a finite number", function() pn.objective {data = d, loss = pn.loss.logistic()}:hessian {0, 0 / 0} end)
  end)
end)
