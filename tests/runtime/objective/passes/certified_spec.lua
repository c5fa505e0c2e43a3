-- certified_spec.lua -- the truth of certified sensitivities: no admissible record at any point of the set has a gradient longer
-- than the Lipschitz constant says, in any norm; and records exist that come within a hair of it.
local pn = require "penumbra"
local formulas = require "tests.runtime.objective.losses.formulas"

local p = 4
local dual = { l1 = "linf", l2 = "l2", linf = "l1" }
local order = { l1 = 1, l2 = 2, linf = math.huge }
local label_range = { -0.75, 1.5 }

-- Tukey's biweight c^2/6 (1 - (1 - u^2)^3), u = r/c, flat beyond c; slope r (1 - u^2)^2, largest at u = 1/sqrt 5.
local c = 2
formulas.tukey = function()
  return { labels = "real", residual = true, places = { c / math.sqrt(5), -c / math.sqrt(5), c, -c, 0 },
    slope = function(z, y)
      local u = ((z - y) / c) ^ 2
      return u <= 1 and (z - y) * (1 - u) ^ 2 or 0
    end }
end
local tukey = pn.loss.glm(function(z, y)
  local u = ((z - y) / c) ^ 2
  return c ^ 2 / 6 * (1 - pn.where(pn.le(u, 1), 1 - u, 0) ^ 3)
end)

-- How near to the bound the worst record must come, in the norm that the set and the record bound share.
local shapes = { -- set, its norm, the norm that bounds records (dual: the margin's bound is attained)
  { set = "l1_ball", norm = "l1", record = "linf" }, { set = "l2_ball", norm = "l2", record = "l2" },
  { set = "linf_ball", norm = "linf", record = "l1" },
}
local radius, bound = 1.5, 0.8

-- A record on its bound and a point of the set on its edge whose inner product is s * radius * bound, by |s| <= 1.
local function aligned(shape, s, rng)
  local x, theta = pn.vec.zeros(p), pn.vec.zeros(p)
  if shape.norm == "l1" then
    x = pn.vec.normal(p, rng):map(function(t) return pn.where(pn.lt(t, 0), -bound, bound) end)
    local j = rng:integer(p)
    theta[j] = s * radius * (x[j] > 0 and 1 or -1)
  elseif shape.norm == "l2" then
    x = pn.vec.normal(p, rng)
    x = x * (bound / x:norm())
    theta = x * (s * radius / bound)
  else
    local j = rng:integer(p)
    x[j] = rng:uniform() < 0.5 and -bound or bound
    for k = 1, p do theta[k] = s * radius * (x[j] > 0 and 1 or -1) end
  end
  return x, theta
end

local function any(shape, rng)
  local x, theta = pn.vec.normal(p, rng), pn.vec.normal(p, rng)
  return x * (bound * rng:uniform() / x:norm(order[shape.record])), theta * (radius * rng:uniform() / theta:norm(order[shape.norm]))
end

-- Largest gradient norm / certified constant, by norm, over random and aligned records: the computed gradient of a batch of one.
local function worst(l, formula, shape)
  local rng, X, y, points = pn.rng.seeded(17), {}, {}, {}
  local values = formula.labels == "binary" and { -1, 1 } or { label_range[1], label_range[2], 0 }
  local function add(x, theta, label)
    X[#X + 1], y[#y + 1], points[#points + 1] = x:table(), label, theta
  end
  for k = 1, 250 do
    local x, theta = any(shape, rng)
    add(x, theta, formula.labels == "binary" and values[rng:integer(2)] or label_range[1] + rng:uniform() * 2.25)
    for _, label in ipairs(values) do
      x, theta = aligned(shape, k == 1 and 1 or k == 2 and -1 or 2 * rng:uniform() - 1, rng)
      add(x, theta, label)
    end
  end
  for _, place in ipairs(formula.places or {}) do -- where the slope is steepest
    for _, label in ipairs(values) do
      local z = (formula.residual and label + place or label * place) * (1 - 1e-12)
      if math.abs(z) <= radius * bound then
        local x, theta = aligned(shape, z / (radius * bound), rng)
        add(x, theta, label)
      end
    end
  end
  local data = pn.data.from(X, y):clip_rows(shape.record, bound)
  if formula.labels ~= "binary" then data = data:clip_labels(label_range[1], label_range[2]) end
  local set = pn.set[shape.set] { dim = p, radius = radius }
  local objective = pn.objective { data = data, loss = l, set = set }
  local bounds, found = objective.bounds, { l1 = 0, l2 = 0, linf = 0, set = 0 }
  assert.equal("certified", bounds.source)
  for i = 1, #X do
    local g = objective:gradient(points[i], { i })
    for norm, other in pairs(dual) do
      found[norm] = math.max(found[norm], g:norm(order[other]) / bounds.lipschitz[norm])
    end
    found.set = math.max(found.set, set:support(g) / bounds.lipschitz.set) -- in the norm whose unit ball is the set
  end
  return found, bounds
end

-- found / bound in the set's norm must reach this; 1e-6: the slope is tight, and the aligned record attains it.
local tight = { squared = 1 - 1e-6, logistic = 1 - 1e-6, hinge = 1 - 1e-6, huber = 1 - 1e-6, cauchy = 1 - 1e-6, tukey = 1 - 1e-6,
  smooth_hinge = 1 - 1e-6, absolute = 1 - 1e-6, quantile = 1 - 1e-6, poisson = 1 - 1e-6, sigmoid = 1 - 1e-6 }

local function check(name, l, formula, title)
  describe("the certified sensitivity of " .. title, function()
    for _, shape in ipairs(shapes) do
      it("holds for every record and is reached over an " .. shape.set, function()
        local found = worst(l, formula, shape)
        for norm, share in pairs(found) do
          assert.is_true(share <= 1, ("%s: %.17g of the constant"):format(norm, share))
        end
        -- so a constant that is 5 % smaller would be exceeded
        assert.is_true(found[shape.norm] >= tight[name], ("%s: only %.9g of it"):format(shape.norm, found[shape.norm]))
        assert.is_true(found[shape.norm] > 0.95 and found.set > 0.95)
      end)
    end
  end)
end

for name, l, formula, title in formulas.each(pn) do check(name, l, formula, title) end
check("tukey", tukey, formulas.tukey(), "Tukey's biweight, typed")

describe("a certified objective", function()
  local X, y = { { 1, 2 }, { -3, 1 }, { 0.5, 0 } }, { 1, -1, 1 }
  local set = pn.set.l1_ball { dim = 2, radius = 2 }

  it("has constants only in the norms whose dual bounds the records", function()
    local data = pn.data.from(X, y):clip_rows("linf", 1)
    local bounds = pn.objective { data = data, loss = pn.loss.hinge(), set = set }.bounds
    assert.is_near(1, bounds.lipschitz.l1, 1e-12)
    assert.is_near(math.sqrt(2), bounds.lipschitz.l2, 1e-12) -- l2 <= sqrt(p) linf
    assert.is_near(2, bounds.lipschitz.linf, 1e-12)
    assert.equal(math.huge, bounds.smoothness)
    assert.truthy(bounds.missing:find("slope: it jumps", 1, true), bounds.missing)
    assert.is_true(bounds.convex and bounds.continuous)
    assert.is_false(bounds.smooth)
  end)

  it("has numbers, not NaN, where records are not bounded but slopes are", function()
    local bounds = pn.objective { data = pn.data.from(X, y), loss = pn.loss.logistic(), set = set, clip = 0.5 }.bounds
    for name, value in pairs(bounds) do assert.is_true(value == value, name) end
    assert.equal(math.huge, bounds.hessian_lipschitz)
    assert.equal(math.huge, bounds.smoothness)
    assert.equal("clipped", bounds.source)
  end)

  it("says which of set, records, labels and formula is unbounded", function()
    local square, linf = pn.loss.squared(), pn.data.from(X, y):clip_rows("linf", 1)
    local function missing(parts) return tostring(pn.objective(parts).bounds.missing) end
    local slopes = missing { data = pn.data.from(X, y):clip_rows("l2", 1), loss = square }
    assert.truthy(slopes:find("has no constraint set.*give it clip=.*a set= would do, but models do not fit"), slopes)
    assert.truthy(slopes:find("with a large one$"), slopes)
    assert.truthy(missing { data = linf, loss = square }:find("has no constraint set", 1, true))
    assert.truthy(missing { data = pn.data.from(X, y), loss = square, set = set }:find("clip_rows", 1, true))
    assert.truthy(missing { data = pn.data.from(X, y), loss = pn.loss.hinge(), set = set }:find("clip_rows", 1, true))
    assert.truthy(missing { data = linf, loss = square, set = set }:find("clip_labels", 1, true))
    local pole = pn.loss.glm(function(z) return pn.sqrt(z + 3) ^ 0.5 + 1 / (4 - z * z) end, { labels = { -1, 1 } })
    local text = missing { data = linf, loss = pole, set = set }
    assert.truthy(text:find("4 - z", 1, true), text)
    local log = missing { data = linf, loss = pn.loss.glm(function(z) return pn.log(z + 2) end), set = set }
    assert.truthy(log:find("log", 1, true) and log:find("z", 1, true), log)
    local steep = missing { data = linf, loss = pn.loss.glm(function(z) return pn.exp(400 * z) end), set = set }
    assert.truthy(steep:find("clip=", 1, true), steep)
  end)

  it("takes listed labels without any range, and refuses a range that nothing enforces", function()
    local linf = pn.data.from(X, y):clip_rows("linf", 1)
    local function square(z, t) return (z - t) ^ 2 / 2 end
    local bounds = pn.objective { data = linf, loss = pn.loss.glm(square, { labels = { -1, 1 } }), set = set }.bounds
    assert.is_near(3, bounds.slope, 1e-9)
    local ranged = pn.loss.glm(square, { labels = { lo = -1, hi = 2 } })
    assert.error_matches(function() pn.objective { data = linf, loss = ranged, set = set } end,
      "takes labels in %[%-1, 2%]; enforce that with data:clip_labels%(%-1, 2%)")
    assert.error_matches(function() pn.objective { data = linf:clip_labels(-1, 2.5), loss = ranged, set = set } end, "clip_labels")
    assert.is_near(4, pn.objective { data = linf:clip_labels(-1, 2), loss = ranged, set = set }.bounds.slope, 1e-9)
    assert.is_near(3, pn.objective { data = linf:clip_labels(-1, 1), loss = ranged, set = set }.bounds.slope, 1e-9)
    assert.error_matches(function() pn.objective { data = linf, loss = pn.loss.glm(square, { labels = { 0, 1 } }) } end,
      "glm needs labels 0 and 1; map them with data:with_labels")
  end)

  -- A step has slope 0 wherever it has one: that bounds its gradient, which is 0, but not its loss.
  it("tells a loss that jumps from one that does not", function()
    local data = pn.data.from(X, y):clip_rows("linf", 1)
    local step = pn.loss.glm(function(z, t) return pn.where(pn.lt(t * z, 0.3), 5, z) end, { labels = { -1, 1 } })
    local objective = pn.objective { data = data, loss = step, set = set }
    local bounds = objective.bounds
    assert.is_false(bounds.continuous)
    assert.is_false(bounds.convex)
    assert.truthy(bounds.missing:find("value: it jumps", 1, true), bounds.missing)
    assert.is_near(1, bounds.slope, 1e-12)
    assert.is_near(-2, bounds.value[1], 1e-9)
    assert.is_near(5, bounds.value[2], 1e-9)
    assert.equal(math.huge, bounds.smoothness)
    assert.truthy(pn.reference()["pn.objective.bounds"].doc:find("where it jumps", 1, true))
  end)

  it("clamps a computed slope to the certified range", function()
    -- tanh is within 1 ulp: at 20 its square may round beyond; what counts is that factors never exceed the slope bound
    local rng, rows, labels = pn.rng.seeded(3), {}, {}
    for i = 1, 2000 do rows[i], labels[i] = { 2 * rng:uniform() - 1 }, rng:uniform() < 0.5 and -1 or 1 end
    local data = pn.data.from(rows, labels):clip_rows("l2", 1)
    local ball = pn.set.l2_ball { dim = 1, radius = 0.01 }
    local objective = pn.objective { data = data, loss = pn.loss.logistic(), set = ball }
    -- far outside of the set the slope is 1: the certified range ends below it
    local factors = objective:factors { 500 }
    assert.is_true(objective.bounds.slope < 0.51)
    assert.is_true(factors:norm(math.huge) <= objective.bounds.slope)
    assert.is_true(factors:norm(math.huge) > 0.9999 * objective.bounds.slope)
    -- the same for what a Hessian product adds: curvature at most 1/4, at least that at the end of the set
    local bent = objective:hvp({ 500 }, { 1 })
    local least = pn.loss.logistic():range({ -0.01, 0.01 }).curvature[1]
    local squares = 0
    for i = 1, 2000 do squares = squares + rows[i][1] ^ 2 / 2000 end
    assert.is_near(least * squares, bent[1], 1e-12)
  end)
end)
