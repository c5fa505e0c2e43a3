-- exact_newton_spec.lua -- pn.solve.exact by Newton steps: across losses, regularisers and storage, against optimality
-- conditions worked out here, nested searches in the plane, closed forms of orthogonal designs, and the accelerated gradients
-- that solve the same l1 problem when it is written as groups of one.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local N, DIM = 60, 7

local rng = pn.rng.seeded(11)
local X, real, binary, counts, classes = {}, {}, {}, {}, {}
for i = 1, N do
  X[i] = {}
  for j = 1, DIM do X[i][j] = rng:uniform() < 0.4 and 0 or 2 * rng:uniform() - 1 end
  real[i] = 1.5 * X[i][1] - X[i][2] + 0.5 * X[i][3] + rng:uniform() - 0.5
  binary[i] = real[i] + rng:uniform() - 0.5 > 0 and 1 or -1
  counts[i] = (rng:uniform() < 0.5 and 1 or 0) + (real[i] > 0.5 and 2 or 0)
  classes[i] = real[i] > 0.4 and 3 or real[i] > -0.4 and 2 or 1
end

local losses = {
  logistic = {pn.loss.logistic(), binary}, smooth_hinge = {pn.loss.smooth_hinge{width = 0.5}, binary},
  squared = {pn.loss.squared(), real}, huber = {pn.loss.huber{delta = 0.3}, real},
  poisson = {pn.loss.poisson(), counts}, softmax = {pn.loss.softmax{classes = 3}, classes},
}

local function sparse()
  local i, j, x = {}, {}, {}
  for r = 1, N do
    for c = 1, DIM do
      if X[r][c] ~= 0 then i[#i + 1], j[#j + 1], x[#x + 1] = r, c, X[r][c] end
    end
  end
  return pn.sparse{rows = N, cols = DIM, i = i, j = j, x = x}
end

local function store(how, y)
  local data = pn.data.from(how == "sparse" and sparse() or X, y)
  return how == "float32" and data:float32() or data
end

-- ||the least subgradient||^2 of (smooth + l1 ||theta||_1); `smooth` has no kinks.
local function left(smooth, theta, l1)
  local g, sum = smooth:gradient(theta), 0
  for j = 1, #theta do
    local w, r = theta[j]
    if w ~= 0 then r = g[j] + (w > 0 and l1 or -l1) else r = math.max(math.abs(g[j]) - l1, 0) end
    sum = sum + r ^ 2
  end
  return sum
end

describe("Newton steps of solve.exact", function()
  for name, of in pairs(losses) do
    it("find the minimum of " .. name .. ", with l2, elastic net and l1, dense, sparse and of floats", function()
      local loss, y = table.unpack(of)
      for _, how in ipairs{"dense", "sparse", "float32"} do
        local data = store(how, y)
        local function objective(reg, set) return pn.objective{data = data, loss = loss, reg = reg, set = set} end
        local l2 = objective(pn.reg.l2(0.02))
        local ridge = pn.solve.exact(l2, {tol = 1e-13})
        assert.is_true(left(l2, ridge.theta, 0) / 0.04 <= 1.001e-13)
        local net = pn.solve.exact(objective(pn.reg.elastic_net{l1 = 0.03, l2 = 0.02}), {tol = 1e-13})
        assert.is_true(left(l2, net.theta, 0.03) / 0.04 <= 1.001e-13)
        assert.is_true(net.gap <= 1e-13)
        -- the same as groups of one over a ball that does not bind, by accelerated gradients
        local p, groups, weights = #ridge.theta, {}, {}
        for j = 1, p do groups[j], weights[j] = j, 1 end
        local ball = pn.set.l2_ball{dim = p, radius = 20}
        local slow = pn.solve.exact(objective(pn.reg.group{lambda = 0.03, groups = groups, weights = weights}, ball),
          {tol = 1e-9})
        local fast = pn.solve.exact(objective(pn.reg.l1(0.03), ball), {tol = 1e-11})
        assert.is_true(fast.theta:norm() < 20 and fast.gap <= 1e-11)
        assert.near(slow.value, fast.value, 1e-9)
        assert.is_true(fast.value <= slow.value + 1e-11)
        if name ~= "poisson" then -- whose values have no floor when margins have none
          local free = pn.solve.exact(objective(pn.reg.l1(0.03)), {tol = 1e-11})
          assert.is_true(free.gap <= 1e-11)
          assert.near(fast.value, free.value, 2e-11)
        end
      end
    end)
  end

  -- Ternary search in one coordinate inside of one in the other: the function is convex, its minimum in [-4, 4]^2.
  law("are within the gap of a nested search in the plane", function()
    local function search(f)
      local low, high = -4, 4
      for _ = 1, 90 do
        local a, b = low + (high - low) / 3, high - (high - low) / 3
        if f(a) < f(b) then high = b else low = a end
      end
      return (low + high) / 2, f((low + high) / 2)
    end
    local rows = {}
    for i = 1, N do rows[i] = {X[i][1], X[i][2]} end
    for _, case in ipairs{{"logistic", pn.reg.l1(0.05)}, {"huber", pn.reg.l1(0.02)}, {"squared", pn.reg.l2(0.1)},
      {"smooth_hinge", pn.reg.elastic_net{l1 = 0.05, l2 = 0.1}}} do
      local f = pn.objective{data = pn.data.from(rows, losses[case[1]][2]), loss = losses[case[1]][1], reg = case[2]}
      local _, least = search(function(a)
        local _, value = search(function(b) return f:value{a, b} end)
        return value
      end)
      for _, tol in ipairs{1, 1e-2, 1e-4, 1e-7, 1e-10} do
        local got = pn.solve.exact(f, {tol = tol})
        assert.is_true(got.gap >= 0 and got.gap <= tol)
        assert.is_true(got.value - least <= got.gap + 1e-13) -- rounding of the search: values near 1
        assert.near(f:value(got.theta), got.value, 1e-15)
      end
    end
  end)

  -- With the records sqrt(n) e_i and squared loss f = ||theta - c||^2/2 + const, c = y/sqrt(n): the minimum is soft(c, l1).
  -- More features than a Hessian is formed for in full, so that there is a working set, which has to grow from one l1 to the next.
  law("find the support that an orthogonal design has, all along a path", function()
    local n = 2500
    local rows, columns, values, y, c = {}, {}, {}, pn.vec.zeros(n), {}
    for i = 1, n do
      rows[i], columns[i], values[i] = i, i, math.sqrt(n)
      c[i] = 2 * rng:uniform() - 1
      y[i] = math.sqrt(n) * c[i]
    end
    local data = pn.data.from(pn.sparse{rows = n, cols = n, i = rows, j = columns, x = values}, y)
    for _, l1 in ipairs{1.1, 0.9, 0.5, 0.1, 0.01} do
      local got = pn.solve.exact(pn.objective{data = data, loss = pn.loss.squared(), reg = pn.reg.l1(l1)}, {tol = 1e-12})
      for j = 1, n do
        local want = math.abs(c[j]) > l1 and c[j] - (c[j] > 0 and l1 or -l1) or 0
        assert.near(want, got.theta[j], 2e-6) -- ||theta - want||^2/2 <= gap
        assert.equal(want == 0, got.theta[j] == 0)
      end
    end
  end)

  it("answer where the minimum over the set is inside, and leave it where it is not", function()
    local data = store("dense", binary)
    local function solve(radius, reg)
      return pn.solve.exact(pn.objective{data = data, loss = pn.loss.logistic(), reg = reg,
        set = pn.set.l2_ball{dim = DIM, radius = radius}}, {tol = 1e-10})
    end
    for _, reg in ipairs{pn.reg.l2(0.02), pn.reg.l1(0.02)} do
      local inside = solve(50, reg)
      local f = pn.objective{data = data, loss = pn.loss.logistic(), reg = reg}
      assert.near(pn.solve.exact(f, {tol = 1e-12}).value, inside.value, 1.1e-10)
      local radius = 0.6 * inside.theta:norm()
      local cut = solve(radius, reg)
      assert.near(radius, cut.theta:norm(), 1e-4)
      assert.is_true(cut.value > inside.value + 1e-4 and cut.gap <= 1e-10)
    end
    -- without a regulariser, inside: the Frank-Wolfe gap of the point
    local f = pn.objective{data = store("dense", real), loss = pn.loss.squared(), set = pn.set.l2_ball{dim = DIM, radius = 9}}
    local got = pn.solve.exact(f, {tol = 1e-12})
    local g = f:gradient(got.theta)
    assert.near(g:dot(got.theta) + 9 * g:norm(), got.gap, 1e-14)
    assert.is_true(g:norm() <= 1e-13)
  end)

  it("take features that repeat each other", function()
    local rows = {}
    for i = 1, N do rows[i] = {X[i][1], X[i][1], X[i][2], -X[i][2], 0, 1, X[i][1] + X[i][2]} end
    local data = pn.data.from(rows, binary)
    for _, l1 in ipairs{0.1, 1e-2, 1e-4} do
      local f = pn.objective{data = data, loss = pn.loss.logistic(), reg = pn.reg.l1(l1)}
      local got = pn.solve.exact(f, {tol = 1e-12})
      assert.is_true(got.gap <= 1e-12)
      local smooth = pn.objective{data = data, loss = pn.loss.logistic()}
      for j, g in ipairs(smooth:gradient(got.theta):table()) do
        assert.is_true(math.abs(g) <= l1 * (1 + 1e-6), ("entry %d: %g"):format(j, g))
      end
      assert.equal(0, got.theta[5])
    end
  end)
end)
