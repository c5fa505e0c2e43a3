-- lloss_margins_spec.lua -- pn.loss.margins: losses of several margins and further parameters.  Gradients and Hessians against
-- central differences, multinomial regression against pn.loss.softmax, certified bounds against random points, refusals, private
-- training.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- ---- losses ----

local function network(k, name)
  return pn.loss.margins {
    k = k, extra = k + 1, labels = { -1, 1 }, name = name,
    f = function(z, w, y)
      local s = w[k + 1]
      for j = 1, k do s = s + w[j] * pn.tanh(z[j]) end
      return pn.softplus(-y * s)
    end,
  }
end

local function multinomial(k)
  local labels = {}
  for j = 1, k do labels[j] = j end
  return pn.loss.margins {
    k = k, labels = labels, name = "multinomial",
    f = function(z, _, y)
      local chosen = z[k]
      for j = k - 1, 1, -1 do chosen = pn.where(pn.le(y, j), z[j], chosen) end
      return pn.logsumexp(z) - chosen
    end,
  }
end

-- P(y <= j) = sigmoid(t_j - z) with t_1 = w_1, t_j = t_{j-1} + exp(w_j).  Between two thresholds that is
-- sigmoid(a) - sigmoid(b) = sigmoid(a) sigmoid(-b) (1 - exp(b - a)), a - b = exp(w_j): nothing cancels.
local function ordinal(classes)
  local labels = {}
  for j = 1, classes do labels[j] = j end
  return pn.loss.margins {
    k = 1, extra = classes - 1, labels = labels, name = "ordinal",
    f = function(z, w, y)
      local t, loss = w[1], pn.softplus(z[1] - w[1])
      for j = 2, classes - 1 do
        local gap = pn.exp(w[j])
        local between = pn.softplus(z[1] - t - gap) + pn.softplus(t - z[1]) - pn.log(-pn.expm1(-gap))
        loss, t = pn.where(pn.le(y, j - 1), loss, between), t + gap
      end
      return pn.where(pn.le(y, classes - 1), loss, pn.softplus(t - z[1]))
    end,
  }
end

-- Two experts for a number, mixed by a gate: ln of the mixture's density up to a constant.
local mixture = pn.loss.margins {
  k = 3, extra = 2, labels = { lo = -1, hi = 1 }, name = "mixture",
  f = function(z, w, y)
    local one, two = -(y - z[1]) ^ 2 / 2 - w[1], -(y - z[2]) ^ 2 / 2 - w[2]
    return -pn.logsumexp { one - pn.softplus(-z[3]), two - pn.softplus(z[3]) }
  end,
}

-- y = sum_j z_j z_{r+j}: a factorization machine of rank r
local function factorization(r)
  return pn.loss.margins {
    k = 2 * r, labels = { lo = -1, hi = 1 }, name = "factorization",
    f = function(z, _, y)
      local s = -y
      for j = 1, r do s = s + z[j] * z[r + j] end
      return s ^ 2 / 2
    end,
  }
end

-- ---- data ----

local function data(n, p, labels, seed)
  local rng, X, y = pn.rng.seeded(seed), {}, {}
  for i = 1, n do
    X[i] = {}
    for j = 1, p do X[i][j] = rng:uniform() < 0.4 and 0 or 2 * rng:uniform() - 1 end
    y[i] = labels and labels[rng:integer(#labels)] or 2 * rng:uniform() - 1
  end
  local d = pn.data.from(X, y):clip_rows("l2", 1.2)
  return labels and d or d:clip_labels(-1, 1)
end

local function to_sparse(d)
  local i, j, x, X = {}, {}, {}, d.X
  for r = 1, d.n do
    for c = 1, d.p do
      if X[r][c] ~= 0 then i[#i + 1], j[#j + 1], x[#x + 1] = r, c, X[r][c] end
    end
  end
  local s = pn.data.from(pn.sparse { rows = d.n, cols = d.p, i = i, j = j, x = x }, d.y):clip_rows("l2", 1.2)
  return d.y[1] == math.floor(d.y[1]) and s or s:clip_labels(-1, 1)
end

local function identity(n)
  local rows = pn.mat.zeros(n, n)
  for j = 1, n do rows[j][j] = 1 end
  return rows
end

local function tanh(x)
  return 1 - 2 / (math.exp(2 * x) + 1)
end

local function point(dim, seed, size)
  return pn.rng.seeded(seed):sphere(dim) * (size or 1)
end

local cases = {
  { network(4, "network"), { -1, 1 } }, { multinomial(5), { 1, 2, 3, 4, 5 } }, { ordinal(4), { 1, 2, 3, 4 } },
  { mixture }, { factorization(2) },
}

local function open(case, options)
  local loss, p = case[1], 6
  local d, dim = data(120, p, case[2], 5), loss.margins * p + loss.extra
  options = options or {}
  options.data, options.loss = options.convert and options.convert(d) or d, loss
  options.convert = nil
  return pn.objective(options), dim
end

local function each(body)
  for _, case in ipairs(cases) do body(case, case[1].name) end
end

-- ---- tests ----

describe("pn.loss.margins", function()
  it("has theta's rows of features and then its further parameters", function()
    local loss = network(4, "my net")
    assert.equal(4, loss.margins)
    assert.equal(5, loss.extra)
    assert.equal("my net", loss.name)
    assert.equal("-1 and 1", loss.labels)
    assert.is_false(loss.convex)
    assert.truthy(loss.formula:find("tanh(z4)", 1, true), loss.formula)
    assert.truthy(tostring(loss):find("my net loss: l(z, w, y) = ", 1, true), tostring(loss))
    assert.is_nil(loss.slope_formula)
    local obj, dim = open(cases[1])
    assert.equal(29, dim)
    assert.equal(29, #obj:gradient(pn.vec.zeros(29)))
    refused("the model has 4 margins x 6 features + 5 further parameters = 29", obj.value, obj, pn.vec.zeros(24))
    refused("theta has 4 margins x 6 features + 5 further parameters = 29", open, cases[1], { set = pn.set.l2_ball { dim = 24 } })
  end)

  it("of one margin alone is pn.loss.glm", function()
    local function f(z, y) return pn.log1p((z - y) ^ 2) end
    local one = pn.loss.margins { k = 1, f = function(z, _, y) return f(z[1], y) end }
    local glm = pn.loss.glm(f)
    assert.same({ one:evaluate({ 0.3, -1 }, { 0, 1 }) }, { glm:evaluate({ 0.3, -1 }, { 0, 1 }) })
    assert.same(one:range({ -1, 1 }, { -1, 1 }), glm:range({ -1, 1 }, { -1, 1 }))
    assert.is_not_nil(one.slope_formula)
  end)

  it("evaluates a matrix with a row for each input", function()
    local value, slope = network(1):evaluate({ { 0.5 }, { -2 }, { 0.25 } }, { -1 })
    local s, t = 0.25 - 2 * tanh(0.5), tanh(0.5)
    local g = 1 / (1 + math.exp(-s))
    assert.is_near(math.log(1 + math.exp(s)), value[1], 1e-14)
    assert.is_near(g * -2 * (1 - t * t), slope[1][1], 1e-14)
    assert.is_near(g * t, slope[2][1], 1e-14)
    assert.is_near(g, slope[3][1], 1e-14)
    local loss = network(1)
    refused("a row for each of 1 margins and 2 further parameters, got 2", loss.evaluate, loss, { { 0.5 }, { -2 } }, { -1 })
  end)

  it("has the gradients that central differences of its values show", function()
    each(function(case, name)
      local obj, dim = open(case)
      for seed = 1, 3 do
        local theta, g, h = point(dim, seed), obj:gradient(point(dim, seed)), 1e-5
        local shown = obj:differences(theta, identity(dim), h)
        for j = 1, dim do
          local e = pn.vec.zeros(dim)
          e[j] = h
          assert.is_near((obj:value(theta + e) - obj:value(theta - e)) / (2 * h), g[j], 2e-9, name)
          assert.is_near(shown[j], g[j], 2e-9, name)
        end
      end
    end)
  end)

  it("has the products with Hessians that central differences of its gradients show", function()
    each(function(case, name)
      local obj, dim = open(case)
      local theta, v, h = point(dim, 1), point(dim, 2), 1e-5
      local want = (obj:gradient(theta + v * h) - obj:gradient(theta - v * h)) / (2 * h)
      assert.is_true((obj:hvp(theta, v) - want):norm() < 2e-9 * (1 + want:norm()), name)
      if case[1].extra == 0 then
        local full = obj:hessian(theta)
        assert.is_true((full * v - obj:hvp(theta, v)):norm() < 1e-13 * (1 + want:norm()), name)
      else
        refused("further parameters, is not formed", obj.hessian, obj, theta)
      end
    end)
  end)

  it("has the least eigenvalue that pn.second_order_gap finds by these products, unless its slope jumps", function()
    local obj, dim = open(cases[1])
    local theta, full = point(dim, 2), pn.mat.zeros(dim, dim)
    for j = 1, dim do
      local e = pn.vec.zeros(dim)
      e[j] = 1
      local column = obj:hvp(theta, e)
      for i = 1, dim do full[i][j] = column[i] end
    end
    local gap = pn.second_order_gap(obj, theta)
    assert.is_near(full:eigen()[1], gap.eigenvalue, 1e-9)
    local kinked = pn.loss.margins { k = 2, f = function(z) return pn.max(z[1], z[2]) end, labels = { 1 } }
    local d = pn.data.from({ { 1 } }, { 1 })
    refused("its slope may jump", pn.second_order_gap, pn.objective { data = d, loss = kinked }, { 0, 0 })
    refused("further parameters", pn.curvature, open(cases[1], { set = pn.set.linf_ball { dim = 29 } }),
      pn.sampling.nice { blocks = 29, tau = 2 })
  end)

  it("gives the same for sparse data, nearly so for float32, and for batches what they say", function()
    each(function(case, name)
      local obj, dim = open(case)
      local sparse = open(case, { convert = to_sparse })
      local single = open(case, { convert = function(d) return d:float32() end })
      local theta, v = point(dim, 4), point(dim, 5)
      local g = obj:gradient(theta)
      assert.is_true((sparse:gradient(theta) - g):norm() < 1e-15, name)
      assert.is_true((single:gradient(theta) - g):norm() < 1e-7, name)
      assert.is_true((sparse:hvp(theta, v) - obj:hvp(theta, v)):norm() < 1e-14, name)
      assert.is_near(obj:value(theta), sparse:value(theta), 1e-15)
      local rows, sum = {}, pn.vec.zeros(dim)
      for i = 1, 120 do rows[i] = i end
      assert.is_true((obj:gradient(theta, { rows = rows, denominator = 120 }) - g):norm() < 1e-15, name)
      for i = 1, 120 do sum = sum + obj:gradient(theta, { rows = { i }, denominator = 1 }) end
      assert.is_true((sum / 120 - g):norm() < 1e-14, name)
    end)
  end)

  it("gives a record's factors, which make its gradient", function()
    local obj = open(cases[1])
    local theta = point(29, 7)
    local factors, g = obj:factors(theta), obj:gradient(theta)
    assert.equal(9, factors.rows)
    local sums = pn.vec.zeros(9)
    for k = 1, 9 do
      for i = 1, 120 do sums[k] = sums[k] + factors[k][i] / 120 end
    end
    for k = 5, 9 do assert.is_near(sums[k], g[24 + k - 4], 1e-15) end
  end)

  it("is softmax regression when its formula is", function()
    local mine, theirs = multinomial(5), pn.loss.softmax { classes = 5 }
    local d = data(300, 6, { 1, 2, 3, 4, 5 }, 3)
    local a, b = pn.objective { data = d, loss = mine }, pn.objective { data = d, loss = theirs }
    for seed = 1, 5 do
      local theta, v = point(30, seed, 3), point(30, seed + 50)
      assert.is_near(b:value(theta), a:value(theta), 4e-15)
      assert.is_true((a:gradient(theta) - b:gradient(theta)):norm() < 1e-15)
      assert.is_true((a:hvp(theta, v) - b:hvp(theta, v)):norm() < 1e-15)
    end
    refused("nothing says which label the margins of multinomial mean", a.accuracy, a, pn.vec.zeros(30))
  end)
end)

describe("what is certified of pn.loss.margins", function()
  -- Every record's gradient at random points of the set stays within the bounds, and so does its value.
  it("holds at random points of the set", function()
    each(function(case, name)
      local obj, dim = open(case, { set = pn.set.l2_ball { dim = case[1].margins * 6 + case[1].extra, radius = 1.5 } })
      local bounds = obj.bounds
      assert.equal("certified", bounds.source, name)
      for seed = 1, 10 do
        local theta = point(dim, seed, 1.5)
        local values = obj:losses(theta)
        for i = 1, 120, 7 do
          local g = obj:gradient(theta, { rows = { i }, denominator = 1 })
          assert.is_true(g:norm() <= bounds.lipschitz.l2, name)
          assert.is_true(g:norm(math.huge) <= bounds.lipschitz.l1, name)
          assert.is_true(g:norm(1) <= bounds.lipschitz.linf, name)
          assert.is_true(values[i] >= bounds.value[1] and values[i] <= bounds.value[2], name)
        end
        local v = point(dim, seed + 90)
        assert.is_true(obj:hvp(theta, v):norm() <= bounds.smoothness, name)
      end
      assert.is_true(bounds.smooth and bounds.continuous, name)
      assert.is_false(bounds.convex)
    end)
  end)

  -- l = w tanh z over a box with |z| <= 1.2 (rows of l1 norm 1.2, entries of at most 1) and w in [0.5, 2]
  it("takes the range of a further parameter from the set's own coordinate", function()
    local loss = pn.loss.margins { k = 1, extra = 1, f = function(z, w) return w[1] * pn.tanh(z[1]) end, labels = { 1 } }
    local d = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 1, 1 }):clip_rows("l1", 1.2)
    local set = pn.set.box { lower = { -1, -1, 0.5 }, upper = { 1, 1, 0.75 } }
    local bounds = pn.objective { data = d, loss = loss, set = set }.bounds
    local z, w = 0.75, tanh(1.2)
    assert.is_near(math.sqrt((z * 1.2) ^ 2 + w ^ 2), bounds.lipschitz.l2, 1e-9)
    assert.is_near(z * 1.2 + w, bounds.lipschitz.linf, 1e-9)
    assert.is_near(0.75 * w, bounds.value[2], 1e-9)
  end)

  it("is enforced of slopes, also where theta lies outside of the set", function()
    local loss = pn.loss.margins { k = 1, extra = 1, f = function(z, w) return z[1] * w[1] end, labels = { 1 } }
    local d = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 1, 1 }):clip_rows("l2", 1)
    local set = pn.set.box { lower = { -1, -1, 0.25 }, upper = { 1, 1, 0.5 } }
    local obj = pn.objective { data = d, loss = loss, set = set }
    local g = obj:gradient({ 100, 0, 30 }, { 1 })
    assert.is_near(0.5, g[1], 1e-9)
    assert.is_near(math.sqrt(2), g[3], 1e-9) -- |z| <= sqrt(2), the box's l2 radius but for w, at most
    assert.is_true(g:norm() <= obj.bounds.lipschitz.l2)
  end)

  it("counts how further parameters bend, which no record makes smaller", function()
    local loss = pn.loss.margins { k = 1, extra = 1, f = function(z, w) return z[1] + w[1] ^ 2 end, labels = { 1 } }
    local d = pn.data.from({ { 1 }, { 0 } }, { 1, 1 }):clip_rows("l2", 0.125)
    local obj = pn.objective { data = d, loss = loss, set = pn.set.l2_ball { dim = 2 } }
    assert.is_near(2, obj.bounds.smoothness, 1e-9)
    assert.is_near(2, obj:hvp({ 0, 0 }, { 0, 1 })[2], 1e-15)
    assert.is_near(2 * 4 * (1 + 0.125 ^ 2), obj.bounds.curvature, 1e-9) -- the diameter 2 in (z, w)
  end)

  it("says what is missing, and clip= makes up for it", function()
    local obj = open(cases[1])
    assert.is_nil(obj.bounds.source)
    assert.truthy(obj.bounds.missing:find("no constraint set", 1, true), obj.bounds.missing)
    obj = open(cases[1], { clip = 0.05 })
    assert.equal("clipped", obj.bounds.source)
    local theta, longest = point(29, 3, 5), 0
    for i = 1, 120 do
      longest = math.max(longest, obj:gradient(theta, { rows = { i }, denominator = 1 }):norm())
    end
    assert.is_true(longest <= 0.05 and longest > 0.05 * (1 - 1e-12))
    refused("norm 0.05 have no Hessian", obj.hvp, obj, theta, theta)
    local real = pn.loss.margins { k = 2, extra = 1, f = function(z, w, y) return (w[1] * z[1] * z[2] - y) ^ 2 end }
    local X = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 1, 2 }):clip_rows("l2", 1)
    local set = pn.set.l2_ball { dim = 5 }
    local missing = pn.objective { data = X, loss = real, set = set }.bounds.missing
    assert.truthy(missing:find("no bound on the labels is enforced", 1, true), missing)
  end)

  it("knows what may jump: what z or w decide, not what the label decides", function()
    local function smooth(f, labels)
      local loss = pn.loss.margins { k = 2, extra = 1, f = f, labels = labels or { -1, 1 } }
      local d = data(20, 2, { -1, 1 }, 1)
      return pn.objective { data = d, loss = loss, set = pn.set.l2_ball { dim = 5 } }.bounds
    end
    local bounds = smooth(function(z, w, y) return pn.where(pn.le(y, 0), z[1], w[1] * z[2]) end)
    assert.is_true(bounds.continuous and bounds.smooth)
    bounds = smooth(function(z, w, y) return pn.max(z[1], w[1]) + y * z[2] end)
    assert.is_true(bounds.continuous)
    assert.is_false(bounds.smooth)
    assert.equal(math.huge, bounds.smoothness)
    bounds = smooth(function(z, w, y) return pn.where(pn.le(z[1], w[1]), z[2], y) end)
    assert.is_false(bounds.continuous)
    assert.equal("certified", bounds.source) -- by its slopes
    bounds = smooth(function(z, w) return pn.sign(z[1]) + w[1] * z[2] end)
    assert.is_false(bounds.continuous or bounds.smooth)
    bounds = smooth(function(z, w) return z[1] / (z[2] + w[1]) end)
    assert.is_nil(bounds.source)
  end)
end)

describe("what pn.loss.margins refuses", function()
  local function no_loss(text, options)
    refused(text, pn.loss.margins, options)
  end
  local function sum(z) return z[1] + z[2] end

  it("names what is wrong with its options", function()
    no_loss("loss.margins: k is missing", { f = sum })
    no_loss("loss.margins: k must be a whole number from 1, got 0", { k = 0, f = sum })
    no_loss("k", { k = -1, f = sum })
    no_loss("k", { k = 1.5, f = sum })
    no_loss("loss.margins: extra must be a whole number from 0, got -1", { k = 2, extra = -1, f = sum })
    no_loss("extra must be a whole number from 0, got 0.5", { k = 2, extra = 0.5, f = sum })
    no_loss("extra must be a whole number from 0, got a table", { k = 2, extra = {}, f = sum })
    assert.equal(0, pn.loss.margins { k = 2, extra = 0, f = sum }.extra)
    no_loss("k + extra must be at most 255, got k = 200 and extra = 56", { k = 200, extra = 56, f = sum })
    no_loss("loss.margins: f must be a function of z, w and y, got nil", { k = 2 })
    no_loss("f must be a function of z, w and y, got the string", { k = 2, f = "sum" })
    no_loss("unknown option 'extras'", { k = 2, f = sum, extras = 1 })
    no_loss("loss.margins: labels must be a list", { k = 2, f = sum, labels = 3 })
    no_loss("name must be", { k = 2, f = sum, name = "" })
  end)

  it("says which entry of z or w is not there", function()
    no_loss("there is no z[3], z has 2 entries", { k = 2, f = function(z) return z[3] end })
    no_loss("there is no w[1], w has 0 entries", { k = 2, f = function(_, w) return w[1] end })
    no_loss("there is no a[0], a has 2 entries", { k = 2, f = function(a) return a[0] + 1 end })
    no_loss("there is no z[x], z has 2 entries", { k = 2, f = function(z) return z.x end })
    no_loss("lloss_margins_spec.lua", { k = 2, f = function(z) return z[3] end })
  end)

  it("lets loops over z and w go as over any list", function()
    local loss = pn.loss.margins { k = 3, extra = 2, f = function(z, w, y)
      local s = #z + #w - 5 - y
      for _, x in ipairs(z) do s = s + x end
      local a, b = table.unpack(w)
      return s + a * b
    end }
    assert.equal(1 + 2 + 3 + 20 - 7, loss:evaluate({ { 1 }, { 2 }, { 3 }, { 4 }, { 5 } }, { 7 })[1])
  end)

  it("wants one expression", function()
    no_loss("returned nil", { k = 2, f = function() end })
    no_loss("it must return an expression of z, w and y", { k = 2, f = function(z) return z end })
    no_loss("2 values", { k = 2, f = function(z) return z[1], z[2] end })
    no_loss("finite", { k = 2, f = function() return 0 / 0 end })
    no_loss("inf", { k = 2, f = function(z) return z[1] * math.huge end })
    no_loss("write pn.where", { k = 2, f = function(z) if z[1] > 0 then return z[2] end return 0 end })
    local mine = {}
    local fine, problem = pcall(pn.loss.margins, { k = 2, f = function() error(mine) end })
    assert.is_false(fine)
    assert.equal(mine, problem)
  end)

  it("sees comparisons that Lua decides by itself", function()
    local f = function(z, _, y) if y == 2 then return z[2] end return z[1] end
    no_loss("where y = 2 the function gives another number", { k = 2, f = f, labels = { 1, 2 } })
    no_loss("where y = 1 the function gives another number",
      { k = 2, f = function(z, _, y) return y == 1 and z[2] or z[1] end })
  end)

  it("refuses expressions that are too large, and does without second derivatives that are", function()
    no_loss("more than 50000 operations", { k = 2, f = function(z)
      local s = z[1]
      for j = 1, 60000 do s = s + pn.sin(j * z[2]) end
      return s
    end })
    no_loss("loss.margins: the gradient: the expression has more than 50000 operations", { k = 2, f = function(z)
      local s = z[1]
      for _ = 1, 12000 do s = pn.tanh(0.9 * s + z[2]) end
      return s
    end })
    local function grid(z, w)
      local s = 0
      for j = 1, 60 do for i = 1, 60 do s = s + pn.tanh(z[i] * w[j]) end end
      return s
    end
    no_loss("loss.margins: the gradient: the expression keeps 3661 intermediate values", { k = 60, extra = 60, f = grid })
    local loss = pn.loss.margins { k = 30, extra = 30, f = function(z, w)
      local s = 0
      for j = 1, 30 do for i = 1, 30 do s = s + pn.tanh(z[i] * w[j]) end end
      return s
    end, labels = { 1 } }
    local obj = pn.objective { data = pn.data.from({ { 1 } }, { 1 }):clip_rows("l2", 1), loss = loss }
    refused("too many operations", obj.hvp, obj, point(60, 1), point(60, 2))
    assert.equal(60, #obj:gradient(point(60, 1)))
  end)

  it("says where it is undefined", function()
    local loss = pn.loss.margins { k = 1, extra = 1, f = function(z, w) return z[1] * pn.log(w[1]) end, labels = { 1 } }
    local d = pn.data.from({ { 1 } }, { 1 }):clip_rows("l2", 1)
    local missing = pn.objective { data = d, loss = loss, set = pn.set.l2_ball { dim = 2 } }.bounds.missing
    assert.truthy(missing:find("log(w1) may be undefined where w1 is in", 1, true), missing)
    local fine = pn.objective { data = d, loss = loss, set = pn.set.box { lower = { -1, 1 }, upper = { 1, 2 } } }
    assert.equal("certified", fine.bounds.source)
  end)
end)

describe("solvers of pn.loss.margins", function()
  -- Class 1 within, class -1 around it: no linear model does better than 60 of 100 there.
  local function rings(n, seed)
    local rng, X, y = pn.rng.seeded(seed), {}, {}
    for i = 1, n do
      local inner = i % 2 == 0
      local r, angle = inner and 0.35 * rng:uniform() or 0.7 + 0.3 * rng:uniform(), 2 * math.pi * rng:uniform()
      X[i], y[i] = { r * math.cos(angle) / 1.42, r * math.sin(angle) / 1.42, 0.7 }, inner and 1 or -1
    end
    return pn.data.from(X, y):clip_rows("l2", 1)
  end

  local function right(theta, d, k)
    local count = 0
    for i = 1, d.n do
      local x, y = d.X[i], d.y[i]
      local s = theta[3 * k + k + 1]
      for j = 1, k do s = s + theta[3 * k + j] * tanh(x:dot(theta:slice(3 * j - 2, 3 * j))) end
      count = count + ((s >= 0) == (y > 0) and 1 or 0)
    end
    return count / d.n
  end

  law("train a small network, without privacy and with it", function()
    local k, n = 6, 20000
    local d, test = rings(n, 1), rings(500, 2)
    local obj = pn.objective { data = d, loss = network(k, "net"), clip = 1 }
    local start = point(4 * k + 1, 8, 4)
    local options = { iterations = 300, step = 4, start = start, output = "last" }
    local function run(solver, more)
      local all = {}
      for key, value in pairs(options) do all[key] = value end
      for key, value in pairs(more) do all[key] = value end
      return right(pn.solve[solver](obj, all).theta, test, k)
    end
    local control = run("gradient_descent", { privacy = false })
    assert.is_true(control > 0.97, "control " .. control)
    local paid = run("gradient_descent", { epsilon = 2, delta = 1e-6, rng = pn.rng.seeded(5) })
    assert.is_true(paid > 0.9, "gradient_descent " .. paid)
    paid = run("sgd", { epsilon = 2, delta = 1e-6, batch = 500, rng = pn.rng.seeded(6) })
    assert.is_true(paid > 0.9, "sgd " .. paid)
  end)
end)
