-- exact_spec.lua -- pn.solve.exact with regularisers that have kinks, over unbounded sets and without a set: against closed forms,
-- coordinate descent and optimality conditions worked out here.  Without kinks over bounded sets: frank_wolfe_spec.lua and others.
local pn = require "penumbra"
local refused_with = require("tests.tools.refusal").refused_with

local N, DIM = 40, 6

-- Features in [-1, 1], labels of a sparse model with errors; the loss is (z - y)^2 / 2.
local function make_data()
  local rng = pn.rng.seeded(5)
  local X, y = {}, {}
  for i = 1, N do
    X[i] = {}
    for j = 1, DIM do X[i][j] = 2 * rng:uniform() - 1 end
    y[i] = 2 * X[i][1] - X[i][2] + 0.5 * X[i][3] + 0.6 * rng:uniform() - 0.3
  end
  return X, y
end

local X, Y = make_data()
local data = pn.data.from(X, Y)

local function objective(reg, set, loss)
  return pn.objective{data = data, loss = loss or pn.loss.squared(), reg = reg, set = set}
end

-- The gradient of the mean squared loss.
local function slope(theta)
  local g = {}
  for j = 1, DIM do g[j] = 0 end
  for i = 1, N do
    local z = 0
    for j = 1, DIM do z = z + X[i][j] * theta[j] end
    for j = 1, DIM do g[j] = g[j] + (z - Y[i]) * X[i][j] / N end
  end
  return g
end

local function column(j)
  local sum = 0
  for i = 1, N do sum = sum + X[i][j] ^ 2 / N end
  return sum
end

-- Coordinate descent for (1/n) sum (<x, theta> - y)^2 / 2 + a ||theta||_1 + b/2 ||theta||^2 over low <= theta_j <= high.
local function coordinate_descent(a, b, low, high)
  local theta, square = {}, {}
  for j = 1, DIM do theta[j], square[j] = 0, column(j) end
  for _ = 1, 300 do
    for j = 1, DIM do
      local at = square[j] * theta[j] - slope(theta)[j]
      local soft = at > a and at - a or at < -a and at + a or 0
      theta[j] = math.min(math.max(soft / (square[j] + b), low), high)
    end
  end
  return theta
end

local function all(number)
  local v = {}
  for j = 1, DIM do v[j] = number end
  return v
end

local function near(want, got, tolerance)
  for j = 1, #want do assert.near(want[j], got[j], tolerance) end
end

-- From a coarse tolerance to a fine one: gap is kept, and bounds value - the least value, which is known to 1e-13.
local function check_gap(f, least)
  for _, tol in ipairs{1, 1e-2, 1e-4, 1e-7, 1e-10} do
    local got = pn.solve.exact(f, {tol = tol})
    assert.is_true(got.gap >= 0 and got.gap <= tol)
    assert.is_true(got.value - least <= got.gap + 1e-13)
    assert.near(f:value(got.theta), got.value, 1e-15)
  end
end

describe("solve.exact with kinks", function()
  it("finds the lasso of coordinate descent, exact zeros among it", function()
    local f = objective(pn.reg.l1(0.1), pn.set.box{lower = all(-50), upper = all(50)})
    local want = coordinate_descent(0.1, 0, -50, 50)
    local got = pn.solve.exact(f, {tol = 1e-12})
    near(want, got.theta, 1e-8)
    local zeros = 0
    for j = 1, DIM do
      zeros = zeros + (want[j] == 0 and 1 or 0)
      assert.equal(want[j] == 0, got.theta[j] == 0)
    end
    assert.is_true(zeros >= 2 and zeros < DIM)
    check_gap(f, f:value(want))
  end)

  it("finds the lasso in a box and in a ball that cut it off", function()
    local lower = {-0.3, -0.3, 0.1, -0.3, 0.2, -0.3}
    local f = objective(pn.reg.l1(0.05), pn.set.box{lower = lower, upper = all(0.7)})
    local got = pn.solve.exact(f, {tol = 1e-13})
    local g = slope(got.theta)
    for j = 1, DIM do -- 0 lies in g + 0.05 d|theta| + the normals of [lower, 0.7]
      local w = got.theta[j]
      local least, most = g[j] + (w > 0 and 0.05 or -0.05), g[j] + (w < 0 and -0.05 or 0.05)
      if w <= lower[j] then least = -math.huge end
      if w >= 0.7 then most = math.huge end
      assert.is_true(w >= lower[j] and w <= 0.7)
      assert.is_true(least <= 1e-6 and most >= -1e-6, ("coordinate %d: %g in [%g, %g]"):format(j, w, least, most))
    end
    f = objective(pn.reg.l1(0.05), pn.set.l2_ball{dim = DIM, radius = 0.8})
    got = pn.solve.exact(f, {tol = 1e-13})
    g = slope(got.theta)
    local w, along = got.theta, 0
    assert.near(0.8, w:norm(), 1e-12)
    for j = 1, DIM do along = along - (g[j] * w[j] + 0.05 * math.abs(w[j])) / 0.64 end -- the multiplier of the ball
    assert.is_true(along > 0)
    for j = 1, DIM do
      local rest = g[j] + along * w[j]
      if w[j] ~= 0 then rest = rest + 0.05 * (w[j] > 0 and 1 or -1) end
      assert.is_true(math.abs(rest) <= (w[j] ~= 0 and 1e-6 or 0.05 + 1e-6))
    end
  end)

  it("meets a set by Dykstra's iteration where there is no closed form", function()
    local f = objective(pn.reg.l1(0.02), pn.set.l1_ball{dim = DIM, radius = 1.5})
    local got = pn.solve.exact(f, {tol = 1e-10})
    -- over that ball the term is 0.02 * 1.5 wherever the ball binds, so the minimum is that without it
    local plain = pn.solve.exact(objective(nil, pn.set.l1_ball{dim = DIM, radius = 1.5}), {tol = 1e-12})
    local size = 0
    for j = 1, DIM do size = size + math.abs(got.theta[j]) end
    assert.near(1.5, size, 1e-11)
    near(plain.theta, got.theta, 1e-4)
    assert.near(plain.value + 0.03, got.value, 2e-10)
  end)

  it("finds the elastic net of coordinate descent, without a set and over an unbounded one", function()
    local reg = pn.reg.elastic_net{l1 = 0.1, l2 = 0.2}
    local f, want = objective(reg), coordinate_descent(0.1, 0.2, -math.huge, math.huge)
    local got = pn.solve.exact(f, {tol = 1e-14})
    near(want, got.theta, 3e-7) -- a gap of 1e-14 is a distance of at most sqrt(2 gap/0.2)
    for j = 1, DIM do assert.equal(want[j] == 0, got.theta[j] == 0) end
    check_gap(f, f:value(want))
    f = objective(reg, pn.set.nonnegative{dim = DIM})
    want = coordinate_descent(0.1, 0.2, 0, math.huge)
    near(want, pn.solve.exact(f, {tol = 1e-14}).theta, 3e-7)
    check_gap(f, f:value(want))
  end)

  -- One record, 1 at 0.01: a slope of nearly -0.099 all over [0, 1], so that 0, where the search begins, is good enough for 0.5.
  it("bounds the error over the whole set by the slope that is left", function()
    local f = pn.objective{data = pn.data.from({{0.01}}, {10}), loss = pn.loss.squared(), reg = pn.reg.l1(1e-3),
      set = pn.set.box{lower = {-1}, upper = {1}}}
    local got = pn.solve.exact(f, {tol = 0.5})
    assert.equal(0, got.theta[1])
    assert.near(2 * 0.099, got.gap, 1e-3)
    assert.near(0.099, got.value - f:value{1}, 1e-3)
    assert.near(1, pn.solve.exact(f, {tol = 1e-9}).theta[1], 1e-7)
  end)

  it("satisfies the conditions of the group lasso", function()
    local groups, weights = {{1, 4}, {2, 3, 6}, {5}}, {1, 2, 0.5}
    local f = objective(pn.reg.group{lambda = 0.15, groups = {1, 2, 2, 1, 3, 2}, weights = weights},
      pn.set.l2_ball{dim = DIM, radius = 50})
    local got = pn.solve.exact(f, {tol = 1e-13})
    local g, zeros = slope(got.theta), 0
    for k, group in ipairs(groups) do
      local size, rest = 0, 0
      for _, j in ipairs(group) do size = size + got.theta[j] ^ 2 end
      size = math.sqrt(size)
      for _, j in ipairs(group) do
        rest = rest + (g[j] + (size > 0 and 0.15 * weights[k] * got.theta[j] / size or 0)) ^ 2
      end
      zeros = zeros + (size == 0 and 1 or 0)
      assert.is_true(math.sqrt(rest) <= (size > 0 and 1e-6 or 0.15 * weights[k] + 1e-6))
    end
    assert.is_true(zeros > 0 and zeros < 3)
  end)

  -- With the features sqrt(p) e_j and labels sqrt(p) M_j the loss is ||W - M||^2 / 2, and the minimum is the proximal point of M;
  -- M as in variance-reduced.md section 9, item 1.
  it("shrinks the singular values under the nuclear norm", function()
    local rows, M = {}, {3, 0, 4, 5}
    for j = 1, 4 do
      rows[j] = {0, 0, 0, 0}
      rows[j][j] = 2
      M[j] = 2 * M[j]
    end
    local f = pn.objective{data = pn.data.from(rows, M), loss = pn.loss.squared(),
      reg = pn.reg.nuclear{lambda = 1, rows = 2, cols = 2}, set = pn.set.l2_ball{dim = 4, radius = 20}}
    near({2.10557281, 0.44721360, 3.55278640, 4.10557281}, pn.solve.exact(f, {tol = 1e-13}).theta, 1e-6)
    f = pn.objective{data = pn.data.from(rows, M), loss = pn.loss.squared(),
      reg = pn.reg.nuclear{lambda = 6, rows = 2, cols = 2}, set = pn.set.l2_ball{dim = 4, radius = 20}}
    local W = pn.solve.exact(f, {tol = 1e-13}).theta -- singular values 3 sqrt 5 and sqrt 5: one is left
    assert.near(0, W[1] * W[4] - W[2] * W[3], 1e-9)
    assert.near(3 * math.sqrt(5) - 6, W:norm(), 1e-6)
  end)

  it("takes logistic regression as well", function()
    local labels = {}
    for i = 1, N do labels[i] = Y[i] > 0 and 1 or -1 end
    local f = pn.objective{data = pn.data.from(X, labels), loss = pn.loss.logistic(),
      reg = pn.reg.elastic_net{l1 = 0.1, l2 = 0.01}}
    local got = pn.solve.exact(f, {tol = 1e-13})
    local smooth = pn.objective{data = pn.data.from(X, labels), loss = pn.loss.logistic(), reg = pn.reg.l2(0.01)}
    local g, zeros = smooth:gradient(got.theta), 0
    for j = 1, DIM do
      local w = got.theta[j]
      zeros = zeros + (w == 0 and 1 or 0)
      assert.is_true(w == 0 and math.abs(g[j]) <= 0.1 + 1e-6 or math.abs(g[j] + (w > 0 and 0.1 or -0.1)) <= 1e-6)
    end
    assert.is_true(zeros > 0 and zeros < DIM)
  end)
end)

describe("solve.exact without kinks", function()
  it("finds ridge regression without a set", function()
    local f, want = objective(pn.reg.l2(0.3)), coordinate_descent(0, 0.3, -math.huge, math.huge)
    near(want, pn.solve.exact(f, {tol = 1e-14}).theta, 3e-7)
    check_gap(f, f:value(want))
  end)

  it("finds it over sets without bounds", function()
    local f, want = objective(pn.reg.l2(0.3), pn.set.nonnegative{dim = DIM}), coordinate_descent(0, 0.3, 0, math.huge)
    local got = pn.solve.exact(f, {tol = 1e-14})
    near(want, got.theta, 3e-7)
    check_gap(f, f:value(want))
    f, want = objective(pn.reg.l2(0.3), pn.set.free{dim = DIM}), coordinate_descent(0, 0.3, -math.huge, math.huge)
    near(want, pn.solve.exact(f, {tol = 1e-14}).theta, 3e-7)
  end)

  it("bounds the error by the duality gap over a bounded set, as it is", function()
    local set = pn.set.l2_ball{dim = DIM, radius = 1}
    local f = objective(pn.reg.l2(0.3), set)
    local got = pn.solve.exact(f, {tol = 1e-6})
    local g = f:gradient(got.theta)
    assert.near(g:dot(got.theta) + set:support(-1 * g), got.gap, 1e-14)
  end)

  it("covers the minimum where the objective is not convex and the search ends at a saddle", function()
    local rows = pn.data.synthetic.lasso{n = 500, p = 2, sparsity = 1, noise = 0.1, seed = 3}:clip_rows("l2", 1)
    local z = rows.X * pn.vec{1, -0.5}
    local even = pn.loss.glm(function(s, y) return (s ^ 2 - y) ^ 2 / (1 + (s ^ 2 - y) ^ 2) end) -- 0 is a saddle
    local f = pn.objective{data = pn.data.from(rows.X, z * z):clip_rows("l2", 1):clip_labels(0, 4), loss = even,
      set = pn.set.l2_ball{dim = 2, radius = 2}}
    local got = pn.solve.exact(f)
    assert.is_true(got.value - f:value{1, -0.5} > 0.2)
    assert.is_true(got.gap >= got.value - f:value{1, -0.5} and got.gap <= got.value)
  end)

  it("adds what a bent regulariser can hide, and nothing to a convex objective", function()
    local set = pn.set.l2_ball{dim = DIM, radius = 1}
    local bent = objective(pn.reg.nonconvex(1e-3), set)
    local got = pn.solve.exact(bent, {tol = 1e-9})
    assert.is_near(1e-3 / 2 / 2 * 4, got.gap, 1e-8) -- eigenvalues are at least -1e-3/2, the diameter is 2
    assert.is_true(pn.solve.exact(objective(pn.reg.l2(0.3), set), {tol = 1e-9}).gap <= 1e-9)
  end)
end)

describe("solve.exact", function()
  local function no_answer(text, ...)
    refused_with(text, pn.solve.exact, ...)
  end
  local instead = "the gap needs a bounded set or strong convexity: give set=, e.g. a large l2_ball around the "
    .. "solution, or a regulariser with an l2 part"

  it("says what bounds the gap when nothing does", function()
    no_answer("solve.exact: there is no constraint set; " .. instead, objective())
    no_answer("solve.exact: there is no constraint set; " .. instead, objective(pn.reg.l1(0.1), nil, pn.loss.absolute()))
    no_answer("solve.exact: there is no constraint set; " .. instead, objective(pn.reg.group{lambda = 0.1,
      groups = {1, 1, 1, 2, 2, 2}}))
    no_answer("solve.exact: the set nonnegative is unbounded; " .. instead,
      objective(pn.reg.l1(0.1), pn.set.nonnegative{dim = DIM}))
  end)

  it("names the regulariser that it cannot take", function()
    local ball = pn.set.l2_ball{dim = DIM}
    no_answer("solve.exact: a regulariser with kinks needs its proximal map: reg.separable: there is no closed proximal map; where "
      .. "it is smooth its gradient serves, else use none, l2, l1, elastic_net, group or nuclear of pn.reg",
      objective(pn.reg.separable(function(w) return pn.abs(w) end), ball))
    no_answer("solve.exact: the regulariser l1 needs a set with a projection, and custom has none; use an l2_ball or a "
      .. "box around it",
      objective(pn.reg.l1(0.1), pn.set.custom{dim = DIM, radius = 1, support = function(g) return 1 / g:norm() * g end}))
  end)

  it("refuses clipped objectives and a tolerance that is none", function()
    local f = objective(pn.reg.l1(0.1), pn.set.l2_ball{dim = DIM})
    no_answer("solve.exact: tol must be a positive number, got 0", f, {tol = 0})
    f = pn.objective{data = data, loss = pn.loss.squared(), reg = pn.reg.l1(0.1), set = pn.set.l2_ball{dim = DIM}, clip = 1}
    no_answer("solve.exact: clipped gradients are not gradients of f; leave clip= out of the objective", f)
  end)

  it("says when it gives up", function()
    local labels = {}
    for i = 1, N do labels[i] = Y[i] > 0 and 1 or -1 end
    no_answer("solve.exact: the gap is still above tol = 1e-12 after 2 iterations; give a larger tol or max_iterations",
      pn.objective{data = pn.data.from(X, labels), loss = pn.loss.logistic(),
        reg = pn.reg.elastic_net{l1 = 0.1, l2 = 0.01}}, {tol = 1e-12, max_iterations = 2})
    no_answer("solve.exact: the duality gap is still above tol = 1e-12 after 2 iterations; give a larger tol or max_iterations",
      objective(nil, pn.set.l2_ball{dim = DIM}), {tol = 1e-12, max_iterations = 2})
  end)
end)
