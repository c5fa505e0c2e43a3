-- softmax_loss_spec.lua -- ln sum_k exp(z_k) - z_y: numbers, derivatives of its objective, and its bounds against brute force.
local pn = require "penumbra"

-- value and gradient in the margins, in plain Lua
local function softmax(z, y)
  local top, sum, g = math.max(table.unpack(z)), 0, {}
  for k = 1, #z do sum = sum + math.exp(z[k] - top) end
  for k = 1, #z do g[k] = math.exp(z[k] - top) / sum - (k == y and 1 or 0) end
  return math.log(sum) + (top - z[y]), g
end

-- H v with H = diag(p) - p p^T
local function bend(z, v)
  local _, p = softmax(z, 1)
  p[1] = p[1] + 1
  local mean, out = 0, {}
  for k = 1, #z do mean = mean + p[k] * v[k] end
  for k = 1, #z do out[k] = p[k] * (v[k] - mean) end
  return out
end

local function norms(x)
  local l1, l2, linf = 0, 0, 0
  for _, v in ipairs(x) do l1, l2, linf = l1 + math.abs(v), l2 + v * v, math.max(linf, math.abs(v)) end
  return { l1 = l1, l2 = math.sqrt(l2), linf = linf }
end

local function random_data(n, p, classes, seed, norm, bound)
  local rng, X, y = pn.rng.seeded(seed), {}, {}
  for i = 1, n do
    X[i], y[i] = {}, rng:integer(classes)
    for j = 1, p do X[i][j] = 4 * rng:uniform() - 2 end
  end
  return pn.data.from(X, y):clip_rows(norm or "l2", bound or 1.5)
end

local function margins_of(row, theta, classes)
  local z, p = {}, #row
  for k = 1, classes do
    z[k] = 0
    for j = 1, p do z[k] = z[k] + row[j] * theta[(k - 1) * p + j] end
  end
  return z
end

describe("the softmax loss", function()
  it("has the value and slopes of its formula, also where exponentials overflow", function()
    local l = pn.loss.softmax { classes = 3 }
    local cases = { { { 0.3, -1, 2 }, 2 }, { { 0, 0, 0 }, 1 }, { { 1000, -1000, 999 }, 3 }, { { -800, -801, -802.5 }, 1 } }
    for _, case in ipairs(cases) do
      local value, slope = softmax(case[1], case[2])
      local z = pn.mat { { case[1][1] }, { case[1][2] }, { case[1][3] } }
      local got, slopes = l:evaluate(z, { case[2] })
      assert.is_near(value, got[1], 4e-15 * math.max(1, value))
      for k = 1, 3 do assert.is_near(slope[k], slopes:get(k, 1), 1e-15) end
    end
  end)

  it("is the logistic loss of the difference for two classes", function()
    local l, two = pn.loss.logistic(), pn.loss.softmax { classes = 2 }
    local value, slope = l:evaluate({ 0.7 }, { 1 })
    local got, slopes = two:evaluate(pn.mat { { 0.2 }, { 0.9 } }, { 2 })
    assert.is_near(value[1], got[1], 1e-15)
    assert.is_near(slope[1], slopes:get(2, 1), 1e-15)
    assert.is_near(-slope[1], slopes:get(1, 1), 1e-15)
  end)

  it("takes whole labels from 1 to the number of classes only", function()
    local l = pn.loss.softmax { classes = 3 }
    assert.equal("1 to 3", l.labels)
    for _, bad in ipairs { 0, 4, 1.5, -1 } do
      assert.error_matches(function() pn.objective { data = pn.data.from({ { 1 } }, { bad }), loss = l } end,
        "softmax needs labels 1 to 3; map them with data:with_labels")
      assert.error_matches(function() l:evaluate(pn.mat.zeros(3, 1), { bad }) end, "must be 1 to 3, got")
    end
    assert.error_matches(function() pn.loss.softmax { classes = 1 } end, "from 2 to 1024, got 1")
    assert.error_matches(function() pn.loss.softmax {} end, "classes")
  end)

  it("names both sizes of a set that does not fit", function()
    local data = random_data(4, 5, 3, 1)
    assert.error_matches(function()
      pn.objective { data = data, loss = pn.loss.softmax { classes = 3 }, set = pn.set.l2_ball { dim = 5 } }
    end, "the set has dimension 5, theta has 3 classes x 5 features = 15")
    local objective = pn.objective { data = data, loss = pn.loss.softmax { classes = 3 } }
    assert.error_matches(function() objective:value { 1, 2, 3 } end,
      "theta has 3 entries, the model has 3 classes x 5 features")
    assert.is_near(math.log(3), objective:value(pn.mat.zeros(3, 5)), 1e-15)
  end)

  it("has an objective whose gradient and Hessian are those of the formula, dense, sparse and float32", function()
    local n, p, classes = 333, 6, 4
    local data, rng = random_data(n, p, classes, 3), pn.rng.seeded(8)
    local theta, v = pn.vec.normal(classes * p, rng), pn.vec.normal(classes * p, rng)
    local i, j, x = {}, {}, {}
    for r = 1, n do
      for c = 1, p do i[#i + 1], j[#j + 1], x[#x + 1] = r, c, data.X:get(r, c) end
    end
    local stores = { data, data:float32(), pn.data.from(pn.sparse { rows = n, cols = p, i = i, j = j, x = x }, data.y) }
    for _, store in ipairs(stores) do
      local value, gradient, product = 0, pn.vec.zeros(classes * p), pn.vec.zeros(classes * p)
      for r = 1, n do
        local row = {}
        for c = 1, p do row[c] = store.sparse and data.X:get(r, c) or store.X:get(r, c) end
        local z = margins_of(row, theta, classes)
        local one, g = softmax(z, data.y[r])
        local h = bend(z, margins_of(row, v, classes))
        value = value + one / n
        for k = 1, classes do
          for c = 1, p do
            local at = (k - 1) * p + c
            gradient[at] = gradient[at] + g[k] * row[c] / n
            product[at] = product[at] + h[k] * row[c] / n
          end
        end
      end
      local objective = pn.objective { data = store, loss = pn.loss.softmax { classes = classes } }
      assert.is_near(value, objective:value(theta), 1e-13)
      assert.is_true((objective:gradient(theta) - gradient):norm(math.huge) < 1e-15 * 20)
      assert.is_true((objective:hvp(theta, v) - product):norm(math.huge) < 1e-14)
      local h = 2 ^ -17
      local along = (objective:gradient(theta + h * v) - objective:gradient(theta - h * v)) / (2 * h)
      assert.is_true((along - objective:hvp(theta, v)):norm(math.huge) < 1e-9)
    end
  end)

  it("counts a class as guessed when its margin is the first of the largest", function()
    local data = pn.data.from({ { 1 }, { -1 }, { 0 } }, { 2, 2, 1 })
    local objective = pn.objective { data = data, loss = pn.loss.softmax { classes = 2 } }
    assert.is_near(2 / 3, objective:accuracy { 0, 1 }, 1e-15)
  end)

  -- Brute force: records at the bound, theta at the edge of the set, all aligned so that the margins reach their ends.
  for _, shape in ipairs { { "l1_ball", "linf", 2 }, { "l2_ball", "l2", 3 }, { "linf_ball", "l1", 5 } } do
    it(("bounds gradient and curvature over an %s with records bounded in %s"):format(shape[1], shape[2]), function()
      local p, classes = 3, shape[3]
      local l, rng = pn.loss.softmax { classes = classes }, pn.rng.seeded(5)
      local data = random_data(2, p, classes, 9, shape[2], 1.25)
      local set = pn.set[shape[1]] { dim = classes * p, radius = 1.5 }
      local bounds = pn.objective { data = data, loss = l, set = set }.bounds
      local largest, stiffest, furthest = { l1 = 0, l2 = 0, linf = 0 }, 0, 0
      for round = 1, 1500 do
        local y, x, theta = rng:integer(classes), pn.vec.normal(p, rng), pn.vec.normal(classes * p, rng)
        if round % 3 == 0 then -- the worst: the margin of y as low as can be, one other as high
          local other = y % classes + 1
          for j = 1, p do
            for k = 1, classes do
              theta[(k - 1) * p + j] = shape[1] == "linf_ball" and (k == y and -1 or 1) * x[j] or
                (k == y and -x[j] or k == other and 1e-3 * x[j] or 0)
            end
          end
        end
        if round % 5 == 0 then theta = theta:map(function(t) return pn.sign(t) end) end
        if round % 7 == 0 then x = x:map(function(t) return pn.sign(t) end) end
        if round % 11 == 0 then x = pn.vec.basis(p, rng:integer(p)) end
        local order = { l1 = 1, l2 = 2, linf = math.huge }
        x = x * (1.25 / x:norm(order[shape[2]]))
        theta = theta * (1.5 / theta:norm(order[shape[1]:match("^[^_]*")]))
        local z = margins_of(x, theta, classes)
        local _, g = softmax(z, y)
        local in_theta = {}
        for k = 1, classes do
          for j = 1, p do in_theta[#in_theta + 1] = g[k] * x[j] end
        end
        local found = norms(in_theta)
        for norm, dual in pairs { l1 = "linf", l2 = "l2", linf = "l1" } do
          assert.is_true(found[dual] <= bounds.lipschitz[norm] * (1 + 1e-14), norm)
          largest[norm] = math.max(largest[norm], found[dual] / bounds.lipschitz[norm])
        end
        local v = pn.vec.normal(classes, rng):table()
        local length = norms(v).l2
        local bent, squares = bend(z, v), 0
        for k = 1, classes do squares = squares + bent[k] * v[k] / length ^ 2 end
        stiffest = math.max(stiffest, squares * x:norm() ^ 2 / bounds.smoothness)
        -- Frank-Wolfe curvature: v^T H v for a v that joins two points of the set
        local a, b = pn.vec.normal(classes * p, rng), theta
        a = a * (1.5 / a:norm(order[shape[1]:match("^[^_]*")]))
        local apart = margins_of(x, a - b, classes)
        local h, total = bend(z, apart), 0
        for k = 1, classes do total = total + h[k] * apart[k] end
        furthest = math.max(furthest, total / bounds.curvature)
      end
      assert.is_true(stiffest <= 1 + 1e-13 and furthest <= 1 + 1e-13)
      -- and they are not idle: the slope is within 45 % of its bound, since the margins bound it separately
      assert.is_true(largest.l1 > 0.55 and largest.l2 > 0.5 and largest.linf > 0.5,
        ("%g %g %g"):format(largest.l1, largest.l2, largest.linf))
      assert.is_true(stiffest > 0.1, tostring(stiffest))
    end)
  end

  -- A model may lie outside its set by 1e-12 of the radius: margins are taken wider by 1e-10.
  it("has the slope bounds 1 - 1/(1 + (K-1) e^w) and the norms that follow", function()
    local wider = 1 + 1e-10
    local range = pn.loss.softmax { classes = 4 }:range({ -0.5, 0.75 })
    local least = 1 / (1 + 3 * math.exp(1.25 * wider))
    assert.is_near(-(1 - least), range.slope[1], 1e-12)
    assert.is_near(1 / (1 + 3 * math.exp(-1.25 * wider)), range.slope[2], 1e-12)
    assert.is_near(math.log(1 + 3 * math.exp(1.25 * wider)), range.value[2], 1e-13)
    assert.is_near(0.5, range.curvature[2], 1e-13)
    -- lipschitz of a record of norm 1 in l2, margins within 1: sqrt(2) (1 - p_y)
    local data = pn.data.from({ { 1 } }, { 1 }):clip_rows("l2", 1)
    local bounds = pn.objective { data = data, loss = pn.loss.softmax { classes = 4 }, set = pn.set.l2_ball { dim = 4 } }.bounds
    local gap = 1 - 1 / (1 + 3 * math.exp(2 * wider))
    assert.is_near(math.sqrt(2) * gap, bounds.lipschitz.l2, 1e-12)
    assert.is_near(2 * gap, bounds.lipschitz.linf, 1e-12)
    assert.is_near(gap, bounds.lipschitz.l1, 1e-12)
  end)

  -- curvature: with the set bounded in linf only through K rows, ||(<x, d_k>)_k||_2 <= sqrt(K) ||x||_1 ||d||_inf
  it("has a Frank-Wolfe curvature that counts every row of an linf ball", function()
    local data = pn.data.from({ { 1 } }, { 1 }):clip_rows("l1", 1)
    local bounds = pn.objective { data = data, loss = pn.loss.softmax { classes = 2 }, set = pn.set.linf_ball { dim = 2 } }.bounds
    -- theta = (1, -1) against (-1, 1): margins (1, -1) and (-1, 1), apart (2, -2); half-way p = 1/2: v^T H v = 4
    assert.is_true(bounds.curvature >= 4)
    assert.is_near(4, bounds.curvature, 1e-9) -- 1/2 (2 sqrt 2)^2
  end)
end)
