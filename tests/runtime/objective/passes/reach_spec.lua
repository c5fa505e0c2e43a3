-- reach_spec.lua -- obj.bounds.reach: the most that the mean loss can fall below its value at the set's centre, against grids of
-- margins and labels, and against objectives over random records.
local pn = require "penumbra"

local p = 4

-- Labels in [low, high] where given, else -1 and 1.
local function objective(loss, set, labels)
  local data = pn.data.from({ { 1, 0, 0, 0 }, { 0, 1, 0, 0 } }, { -1, 1 }):clip_rows("l2", 1)
  if labels then data = data:clip_labels(labels[1], labels[2]) end
  return pn.objective { data = data, loss = loss, set = set }
end

-- max over the labels of l(0, y) less the least l(z, y) on a grid of [-m, m] whose points are m/400 apart.
local function on_grid(loss, m, labels)
  local best, z = 0, {}
  for i = -400, 400 do z[#z + 1] = i / 400 * m end
  for _, y in ipairs(labels) do
    local ys = {}
    for i = 1, #z do ys[i] = y end
    local value = loss:evaluate(z, ys)
    best = math.max(best, value[401] - value:min())
  end
  return best
end

-- 41 numbers from low to high.
local function between(low, high)
  local out = {}
  for i = 0, 40 do out[#out + 1] = low + i / 40 * (high - low) end
  return out
end

local real = { -1.5, 2 }
local cases = {
  { pn.loss.logistic() }, { pn.loss.hinge() }, { pn.loss.smooth_hinge() }, { pn.loss.sigmoid() },
  { pn.loss.squared(), real }, { pn.loss.huber { delta = 0.7 }, real }, { pn.loss.absolute(), real },
  { pn.loss.quantile { tau = 0.3 }, real }, { pn.loss.cauchy(), real }, { pn.loss.poisson(), { 0, 3 } },
  { pn.loss.glm(function(z, y) return pn.sin(3 * z) + (z - y) ^ 2 / 4 end), real },
  { pn.loss.glm(function(z) return pn.where(pn.gt(z, 0.3), 2 + z, -1) end), real }, -- jumps
}

describe("obj.bounds.reach", function()
  for _, case in ipairs(cases) do
    local loss, range = case[1], case[2]
    it(("is that of a grid for %s"):format(tostring(loss):match "^[^\n]*"), function()
      for _, radius in ipairs { 0.25, 1, 4 } do
        local grid = on_grid(loss, radius, range and between(range[1], range[2]) or { -1, 1 })
        local bounds = objective(loss, pn.set.l2_ball { dim = p, radius = radius }, range).bounds
        -- The grid misses a minimum in z by at most what the loss rises in half a step; a maximum in y, where the fall is a
        -- difference of two losses, by its curvature, of at most twice the loss's, over half a step.
        local missed = bounds.slope * radius / 800
        if range and bounds.smooth then missed = missed + bounds.smoothness * ((range[2] - range[1]) / 80) ^ 2 end
        assert.is_true(bounds.reach >= grid - 1e-12)
        assert.is_true(bounds.reach <= grid + missed + 1e-6 * math.max(grid, 1),
          ("%.17g for %.17g over radius %g"):format(bounds.reach, grid, radius))
      end
    end)
  end

  it("is below the range of the loss for labels far from 0: what they have in common does not fall", function()
    local bounds = objective(pn.loss.squared(), pn.set.l2_ball { dim = p, radius = 0.5 }, { -10, 10 }).bounds
    assert.is_near((10 ^ 2 - 9.5 ^ 2) / 2, bounds.reach, 1e-6)
    assert.is_true(bounds.value[2] - bounds.value[1] > 2 * bounds.reach)
  end)

  it("is that of the best margins in the ball for softmax", function()
    for _, classes in ipairs { 2, 3, 7 } do
      local data = pn.data.from({ { 1, 0, 0, 0 }, { 0, 1, 0, 0 } }, { 1, 2 }):clip_rows("l2", 1)
      local set = pn.set.l2_ball { dim = classes * p, radius = 1.5 }
      local loss, rng = pn.loss.softmax { classes = classes }, pn.rng.seeded(classes)
      local reach = pn.objective({ data = data, loss = loss, set = set }).bounds.reach
      local function fall(z)
        local columns = {}
        for k = 1, classes do columns[k] = { z[k] } end
        return math.log(classes) - loss:evaluate(pn.mat(columns), { 1 })[1]
      end
      for _ = 1, 300 do
        local z = pn.vec.normal(classes, rng)
        assert.is_true(fall(z * (1.5 / z:norm())) <= reach)
      end
      local best = pn.vec.zeros(classes) - 1 / (classes - 1)
      best[1] = 1
      assert.is_near(fall(best * (1.5 / best:norm())), reach, 1e-12)
    end
  end)

  it("is that of a grid for a formula of two margins", function()
    local loss = pn.loss.margins { k = 2, f = function(z, _, y) return (z[1] - y) ^ 2 + pn.cos(z[1] + 2 * z[2]) end }
    local data = pn.data.from({ { 1, 0, 0, 0 }, { 0, 1, 0, 0 } }, { -1, 1 }):clip_rows("l2", 1):clip_labels(-1, 1)
    local set = pn.set.linf_ball { dim = 2 * p, radius = 0.5 }
    local bounds = pn.objective({ data = data, loss = loss, set = set }).bounds
    local m, grid = bounds.margin, 0
    for _, y in ipairs(between(-1, 1)) do
      local start = y * y + 1
      for i = -60, 60 do
        for j = -60, 60 do
          local a, b = i / 60 * m, j / 60 * m
          grid = math.max(grid, start - (a - y) ^ 2 - math.cos(a + 2 * b))
        end
      end
    end
    assert.is_true(bounds.reach >= grid)
    assert.is_true(bounds.reach <= grid + 0.05, ("%g for %g"):format(bounds.reach, grid))
  end)

  it("bounds what the mean loss falls from the centre of sets that do not hold 0", function()
    local rng = pn.rng.seeded(3)
    local sets = { pn.set.simplex { dim = p, radius = 2 },
      pn.set.box { lower = { 1, 1, -1, -3 }, upper = { 2, 3, 1, -1 } }, pn.set.l1_ball { dim = p, radius = 2 } }
    local data = (pn.data.synthetic.logistic { n = 20, p = p, seed = 2 }):clip_rows("l2", 1)
    for _, set in ipairs(sets) do
      local f = pn.objective { data = data, loss = pn.loss.logistic(), set = set }
      local start, reach = f:value(set:center()), f.bounds.reach
      for _ = 1, 100 do
        assert.is_true(start - f:value(set:project(5 * pn.vec.normal(p, rng))) <= reach)
      end
      assert.is_true(reach <= f.bounds.value[2] - f.bounds.value[1])
    end
    -- one record, aligned so that the fall from the centre is more than that from margin 0
    local one = pn.data.from({ { 0.6, 0.8 } }, { 1 }):clip_rows("l2", 1)
    local box = pn.set.box { lower = { -3, -4 }, upper = { 1, 1 } }
    local f = pn.objective { data = one, loss = pn.loss.logistic(), set = box }
    local fell = f:value(box:center()) - f:value { 1, 1 }
    assert.is_true(fell > math.log(2))
    assert.is_true(fell <= f.bounds.reach)
  end)

  it("is the range of the loss where further parameters start nobody knows where", function()
    local loss = pn.loss.margins { k = 1, extra = 1, f = function(z, w, y) return (z[1] * w[1] - y) ^ 2 end }
    local bounds = objective(loss, pn.set.l2_ball { dim = p + 1 }, { -1, 1 }).bounds
    assert.equal(bounds.value[2] - bounds.value[1], bounds.reach)
  end)

  it("is nil where nothing certifies it, and finite without a set where the loss is bounded below", function()
    local ball = pn.set.l2_ball { dim = p }
    assert.is_nil(objective(pn.loss.squared(), ball).bounds.reach)
    assert.is_nil(objective(pn.loss.squared(), nil).bounds.reach)
    local box = pn.loss.black_box { lipschitz = 2, value = function(theta, x, y) return math.abs(x:dot(theta) - y) end }
    assert.is_nil(objective(box, ball).bounds.reach)
    assert.is_near(math.log(2), objective(pn.loss.logistic()).bounds.reach, 1e-9)
    assert.is_near(1, objective(pn.loss.hinge()).bounds.reach, 1e-9)
  end)
end)
