-- synthetic_matrices_spec.lua -- data whose truth is a matrix.  Tolerances of statistics are 5 standard errors (false alarm 5.7e-7
-- each, were the seeds not fixed).
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal
local synthetic = pn.data.synthetic

local function error_of(fn, ...)
  local message = refusal(fn, ...)
  return message:match("data%.synthetic.*") or message:match("synthetic.*")
end

local function distance(a, b)
  return (a - b):norm()
end

-- P(N(0, 1) < x)
local function normal_cdf(x)
  return 0.5 * (1 + pn.erf(x / math.sqrt(2)))
end

local function best_class(margins)
  local best = 1
  for k = 2, #margins do best = margins[k] > margins[best] and k or best end
  return best
end

describe("synthetic classification data", function()
  it("has means on a regular simplex, the separation apart and equally far from 0", function()
    for _, of in ipairs { { 2, 1 }, { 3, 2 }, { 3, 7 }, { 6, 5 }, { 5, 40 } } do
      local K, p = of[1], of[2]
      local _, truth = synthetic.classification { n = 1, p = p, classes = K, separation = 2.5, seed = 3 }
      assert.same({ K, p }, { truth.rows, truth.cols })
      for k = 1, K do
        assert.near(2.5 * math.sqrt((K - 1) / (2 * K)), truth[k]:norm(), 1e-13)
        for l = 1, k - 1 do assert.near(2.5, distance(truth[k], truth[l]), 1e-13) end
      end
    end
  end)

  it("keeps the radius where there are more classes than a simplex has corners", function()
    local _, truth = synthetic.classification { n = 1, p = 2, classes = 5, separation = 2, seed = 3 }
    for k = 1, 5 do assert.near(2 * math.sqrt(4 / 10), truth[k]:norm(), 1e-13) end
    assert.is_true(distance(truth[1], truth[2]) > 1e-3)
  end)

  it("has records around the mean of their class, with variance 1", function()
    local n, K, p = 30000, 3, 4
    local d, truth = synthetic.classification { n = n, p = p, classes = K, separation = 4, seed = 5 }
    local X, y = d.X, d.y
    local count, sum, square = {}, {}, 0
    for k = 1, K do count[k], sum[k] = 0, pn.vec.zeros(p) end
    for i = 1, n do
      local k = math.tointeger(y[i])
      count[k] = count[k] + 1
      sum[k]:axpy(1, X[i])
      square = square + (X[i] - truth[k]):norm() ^ 2
    end
    for k = 1, K do
      assert.near(1 / K, count[k] / n, 5 * math.sqrt(2 / 9 / n))
      for j = 1, p do assert.near(truth[k][j], sum[k][j] / count[k], 5 / math.sqrt(count[k])) end
    end
    assert.near(1, square / (n * p), 5 * math.sqrt(2 / (n * p))) -- a factor 1.1 in the deviation gives 1.21; 5 errors are 0.02
  end)

  it("is told apart by its truth as well as by anything: of two classes with error Phi(-separation/2)", function()
    local n, separation = 100000, 2
    local d, truth = synthetic.classification { n = n, p = 3, classes = 2, separation = separation, seed = 6 }
    local right, y = 0, d.y
    local z = d.X * truth:t()
    for i = 1, n do right = right + (best_class(z[i]) == y[i] and 1 or 0) end
    local exact = normal_cdf(separation / 2) -- 0.8413; a separation of 2.2 gives 0.8643, 20 standard errors off
    assert.near(exact, right / n, 5 * math.sqrt(exact * (1 - exact) / n))
  end)

  it("has for theta* of the softmax loss its truth, where the gradient vanishes on average", function()
    local n, K, p = 200000, 3, 2
    local d, truth = synthetic.classification { n = n, p = p, classes = K, separation = 2, seed = 7 }
    local obj = pn.objective { data = d, loss = pn.loss.softmax { classes = K }, set = pn.set.l2_ball { dim = K * p, radius = 5 } }
    local gradient = obj:gradient(truth:vec())
    -- an entry is the mean of (p_k - [y = k]) x_j: variance at most E x_j^2 <= 1 + mu_j^2
    local mu = truth[1]:norm()
    for j = 1, K * p do assert.near(0, gradient[j], 5 * math.sqrt((1 + mu * mu) / n)) end
    assert.is_true(obj:gradient(0.5 * truth:vec()):norm() > 0.05) -- elsewhere it does not
  end)

  it("changes labels to the others, with the probability asked for", function()
    local n, K = 50000, 4
    local d, truth = synthetic.classification { n = n, p = 6, classes = K, separation = 30, noise = 0.3, seed = 8 }
    local seen, y = {}, d.y
    local z = d.X * truth:t()
    for i = 1, n do -- at 30 deviations the mean tells the class before the change
      local off = (math.tointeger(y[i]) - best_class(z[i])) % K
      seen[off] = (seen[off] or 0) + 1
    end
    assert.near(0.7, seen[0] / n, 5 * math.sqrt(0.21 / n))
    for off = 1, K - 1 do assert.near(0.1, seen[off] / n, 5 * math.sqrt(0.09 / n)) end
  end)

  it("enforces the range of the labels and nothing else", function()
    local d = synthetic.classification { n = 50, p = 3, seed = 2 }
    assert.same({ labels = { 1, 3 } }, d.bounds)
    assert.matches("labels in %[1, 3%]", tostring(d))
  end)

  it("is the same for the same seed and takes 1 by default", function()
    local a, first = synthetic.classification { n = 20, p = 5 }
    local b, second = synthetic.classification { n = 20, p = 5, seed = 1 }
    local c = synthetic.classification { n = 20, p = 5, seed = 2 }
    assert.is_true(a.X == b.X and a.y == b.y and first == second)
    assert.is_false(a.X == c.X)
  end)

  it("refuses options that make no sense", function()
    assert.equal("data.synthetic.classification: unknown option 'm'; it takes n, p, classes, separation, noise, seed, progress",
      error_of(synthetic.classification, { n = 3, p = 3, m = 1 }))
    assert.equal("synthetic.classification: n and p must be at least 1 and classes at least 2, got n = 3, p = 3, classes = 1",
      error_of(synthetic.classification, { n = 3, p = 3, classes = 1 }))
    assert.matches("separation must be .*positive", error_of(synthetic.classification, { n = 3, p = 3, separation = 0 }))
    assert.matches("noise must be .* got 1.5", error_of(synthetic.classification, { n = 3, p = 3, noise = 1.5 }))
    assert.is_false((pcall(synthetic.classification, { n = 3, p = 1 << 40, classes = 1 << 40 })))
  end)
end)

describe("synthetic low-rank data", function()
  it("has a truth of the rank, the nuclear norm and the singular values asked for", function()
    for _, of in ipairs { { 4, 6, 1 }, { 7, 5, 3 }, { 3, 3, 3 }, { 1, 4, 1 } } do
      local _, truth = synthetic.low_rank { rows = of[1], cols = of[2], rank = of[3], n = 1, signal = 1.5, seed = 4 }
      assert.same({ of[1], of[2] }, { truth.rows, truth.cols })
      local _, s = truth:svd()
      for k = 1, #s do assert.near(k <= of[3] and 1.5 / of[3] or 0, s[k], 1e-14) end
      assert.near(1.5, pn.norm.nuclear(of[1], of[2])(truth:vec()), 1e-13)
    end
  end)

  it("has records of fair signs in the order of the nuclear ball, and labels <X, M*>", function()
    local d, truth = synthetic.low_rank { rows = 3, cols = 4, rank = 2, n = 300, noise = 0, seed = 5 }
    local sum, X = 0, d.X
    for i = 1, d.n do
      for j = 1, d.p do
        local x = X:get(i, j)
        assert(x == 1 or x == -1)
        sum = sum + x
      end
      local by_matrix = 0
      for a = 1, 3 do
        for b = 1, 4 do by_matrix = by_matrix + X:get(i, (a - 1) * 4 + b) * truth:get(a, b) end
      end
      assert.near(by_matrix, d.y[i], 1e-14)
    end
    assert.near(0, sum / (d.n * d.p), 5 / math.sqrt(d.n * d.p))
    local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.nuclear_ball { rows = 3, cols = 4, radius = 0.2 } }
    assert.near(0, obj:value(truth:vec()), 1e-25)
  end)

  it("has labels of variance signal^2/rank + noise^2", function()
    local n = 50000
    local d = synthetic.low_rank { rows = 5, cols = 5, rank = 2, n = n, signal = 0.2, noise = 0.1, seed = 6 }
    -- 0.03; |y| = 1 is 5.8 deviations away, so clipping is not seen; kurtosis below 3: variance of y^2 at most 2 * 0.03^2
    assert.near(0.03, d.y:dot(d.y) / n, 5 * 0.03 * math.sqrt(2 / n)) -- 0.00095; noise 0.11 gives 0.0321
    assert.near(0, d.y:sum() / n, 5 * math.sqrt(0.03 / n))
  end)

  it("clips labels and enforces its bounds", function()
    local d = synthetic.low_rank { rows = 3, cols = 3, n = 200, noise = 5, seed = 7 }
    local s = d:summary()
    assert.same({ -1, 1 }, { s.label_min, s.label_max })
    assert.same({ l1 = 9, l2 = 3, linf = 1, labels = { -1, 1 } }, d.bounds)
  end)

  it("is found again by the nuclear ball", function()
    local d, truth = synthetic.low_rank { rows = 5, cols = 4, rank = 1, n = 2000, noise = 0.05, seed = 8 }
    local obj = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.nuclear_ball { rows = 5, cols = 4, radius = 0.2 } }
    local found = pn.solve.exact(obj, { tol = 1e-8 }).theta
    assert.is_true(distance(found, truth:vec()) < 0.1 * truth:vec():norm())
  end)

  it("is the same for the same seed", function()
    local a, b = synthetic.low_rank { rows = 3, cols = 2, n = 9 }, synthetic.low_rank { rows = 3, cols = 2, n = 9, seed = 1 }
    assert.is_true(a.X == b.X and a.y == b.y)
    assert.is_false(a.y == synthetic.low_rank { rows = 3, cols = 2, n = 9, seed = 2 }.y)
  end)

  it("refuses options that make no sense", function()
    assert.equal("data.synthetic.low_rank: unknown option 'p'; it takes rows, cols, n, rank, noise, signal, seed, progress",
      error_of(synthetic.low_rank, { rows = 3, cols = 3, n = 3, p = 1 }))
    assert.equal("synthetic.low_rank: rank must be from 1 to 2, the smaller of rows and cols, got 3",
      error_of(synthetic.low_rank, { rows = 2, cols = 5, n = 3, rank = 3 }))
    assert.matches("noise must be .* got %-1", error_of(synthetic.low_rank, { rows = 2, cols = 2, n = 3, noise = -1 }))
    assert.matches("cols", error_of(synthetic.low_rank, { rows = 2, n = 3 }))
  end)
end)
