-- methods.lua -- ten ways to estimate gradients, each with the sizes of its least bound: is the order of the methods
-- that runs have the
-- order of their bounds?  Variance-reduced with iid or orthogonal directions and prefix sums by tree, honaker, sqrt or blt; naive
-- with one direction a record or orthogonal ones.
--   1. Runs on three losses of which the gradient of the smoothed population objective is known to quadrature.  What is bounded is
-- measured: the norm of the mean of that gradient over an epoch's points, averaged over epochs.  Each is below its BOUND, and of
-- two methods whose bounds differ by more than 1.5 the one with the smaller bound has the smaller measurement, but
-- for a few of nearly
-- equal measurements.  A bound above the steepest gradient that the objective has anywhere promises as much as that gradient.
--     edge     |x_1 - z/10|: one steep direction, d - 1 flat ones (not smooth)
--     capped   sum_i min(|x_i - z_i/10|, 1)/sqrt(d) (neither smooth nor convex; a black box)
--     sphere   min(|<a, x> - z/10|, 1), a uniform on the sphere (neither; records disagree)
-- z is standard normal; all are 1-Lipschitz, with the minimum at 0.
-- Nearly all of what is measured is there without noise ("still", the same sizes and steps): the sizes of the least bound make
-- short ways.  So the order is that of the sizes that methods can afford, and no effect of the noise of these very runs; a line
-- says how many pairs noise sets apart.
--   2. The error of the oracle by round, beside its noise, which is exact, and the bound with sampling: a sawtooth
--      for the tree, smooth
-- for sqrt, level for fresh gradients.
--   penumbra examples/reproduce/zeroth_order/methods.lua [folder]
-- rho is the article's: rho^2/2 of zero-concentrated privacy.
-- Source: Zhang, Tran, Cutkosky (2024), Algorithms 1 to 3, Theorem 4.9; orthogonal directions, the other sums and
-- the constants of the
-- bounds are not the article's.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local spread = 0.1

-- ---- gradients by quadrature ----

local function below(x) return 0.5 * (1 + pn.erf(x / math.sqrt(2))) end -- P(z < x)

-- E h(v), v with density in proportion to (1 - v^2)^power on [-1, 1]: one coordinate of a point in the ball of R^(2
-- power + 1), or on
-- the sphere of R^(2 power + 3).
local function mean_over(power)
  local nodes, v, weight, total = 400, {}, {}, 0
  for i = 1, nodes do
    local angle = math.pi * ((i - 0.5) / nodes - 0.5)
    v[i], weight[i] = math.sin(angle), math.cos(angle) ^ (2 * power + 1)
    total = total + weight[i]
  end
  return function(h)
    local sum = 0
    for i = 1, nodes do sum = sum + weight[i] * h(v[i]) end
    return sum / total
  end
end

-- An odd function, interpolated on [-reach, reach]; and its largest value.
local function tabulated(h, reach)
  local count, y, largest = 2000, {}, 0
  for i = 0, count do
    y[i] = h(reach * i / count)
    largest = math.max(largest, math.abs(y[i]))
  end
  return function(x)
    local a = math.min(math.abs(x) / reach, 1) * count
    local i = math.min(math.floor(a), count - 1)
    local value = y[i] + (a - i) * (y[i + 1] - y[i])
    return x < 0 and -value or value
  end, largest
end

local function integral(h, reach)
  local steps, sum = 2000, 0
  for i = 1, steps do sum = sum + h((i - 0.5) * reach / steps) end
  return sum * reach / steps
end

-- E over z of the slope of |s - z/10|, and of min(|s - z/10|, 1).
local function slope_absolute(s) return 2 * below(s / spread) - 1 end
local function slope_capped(s) return 2 * below(s / spread) - below((s - 1) / spread) - below((s + 1) / spread) end

-- ---- problems ----
-- Each: objective, start, gap = F(start) - F(0), and gradient(mu) -> function(x) -> grad F_mu(x), and the steepest gradient.

local problems = {}

function problems.edge(d, M, rng)
  local rows, columns, ones = {}, {}, {}
  for i = 1, M do rows[i], columns[i], ones[i] = i, 1, 1 end
  local X = pn.sparse { rows = M, cols = d, i = rows, j = columns, x = ones }
  local start = pn.vec.zeros(d)
  start[1] = 1
  return { start = start, gap = integral(slope_absolute, 1),
    objective = pn.objective { data = pn.data.from(X, pn.vec.normal(M, rng) * spread):clip_rows("l2", 1),
      loss = pn.loss.absolute() },
    gradient = function(mu)
      local over = mean_over((d - 1) / 2)
      local slope, largest = tabulated(function(s) return over(function(v) return slope_absolute(s + mu * v) end) end, 4)
      return function(x)
        local g = pn.vec.zeros(d)
        g[1] = slope(x[1])
        return g
      end, largest
    end }
end

function problems.capped(d, M, rng)
  local root, columns, share = math.sqrt(d), {}, pn.vec.ones(d) / math.sqrt(d)
  local function values(points, z)
    local m = points.rows
    columns[m] = columns[m] or pn.vec.ones(m):reshape(m, 1)
    return pn.min(pn.abs((points - columns[m] * z:reshape(1, d)):vec()), 1):reshape(m, d) * share
  end
  local start = pn.vec.zeros(d)
  for i = 1, d do start[i] = (i % 2 == 0 and 1 or -1) / root end
  return { start = start, gap = root * integral(slope_capped, 1 / root),
    objective = pn.objective { loss = pn.loss.black_box { values = values, lipschitz = 1 },
      data = pn.data.from((pn.vec.normal(M * d, rng) * spread):reshape(M, d), pn.vec.zeros(M)) },
    gradient = function(mu)
      local over = mean_over((d - 1) / 2)
      local slope, largest = tabulated(function(s) return over(function(v) return slope_capped(s + mu * v) end) end, 4)
      return function(x)
        local g = pn.vec.zeros(d)
        for i = 1, d do g[i] = slope(x[i]) / root end
        return g
      end, largest
    end }
end

function problems.sphere(d, M, rng)
  local X, reach = pn.mat.zeros(M, d), 0.9 * math.sqrt(d)
  for i = 1, M do
    local a, row = rng:sphere(d), X[i]
    for j = 1, d do row[j] = a[j] end
  end
  local over_sphere = mean_over((d - 3) / 2)
  local function radial(slope) return function(r) return over_sphere(function(a) return a * slope(r * a) end) end end
  return { start = pn.vec.ones(d) * (reach / math.sqrt(d)), gap = integral(radial(slope_capped), reach),
    objective = pn.objective { data = pn.data.from(X, pn.vec.normal(M, rng) * spread):clip_rows("l2", 1),
      loss = pn.loss.glm(function(z, y) return pn.min(pn.abs(z - y), 1) end) },
    gradient = function(mu)
      local over = mean_over((d - 1) / 2)
      local smoothed = tabulated(function(s) return over(function(v) return slope_capped(s + mu * v) end) end, 4 * reach)
      local slope, largest = tabulated(radial(smoothed), 4 * reach)
      return function(x)
        local r = x:norm()
        return x * (r > 0 and slope(r) / r or 0)
      end, largest
    end }
end

-- ---- methods ----

local sums = { tree = { factorization = "binary", estimator = "plain" },
  honaker = { factorization = "binary", estimator = "honaker" },
  sqrt = { factorization = "sqrt" }, blt = { factorization = "blt" } }
local methods = {}
for _, name in ipairs { "naive orth", "naive one", "VR orth sqrt", "VR orth blt", "VR orth honaker", "VR orth tree", "VR iid sqrt",
  "VR iid blt", "VR iid honaker", "VR iid tree" } do
  local oracle, directions, sum = name:match "(%S+) (%S+) ?(%S*)"
  methods[#methods + 1] = { name = name, oracle = oracle == "VR" and "variance_reduced" or "naive", prefix = sums[sum],
    directions = directions == "orth" and "orthogonal" or directions, sum = sum }
end

local delta = 0.5 -- of stationarity; mu is half of it

-- The method with the sizes of its least bound, which the plan of any method lists.
local function planned(problem, method, rho, listed)
  local line
  for _, each in ipairs(listed.lines) do line = each.name == method.name and each or line end
  local K, T, B1, B2 = line.formula:match "K=(%d+) T=(%d+) B1=(%d+) B2=(%d+)"
  K, T, B1, B2 = math.tointeger(K), math.tointeger(T), math.tointeger(B1), math.tointeger(B2)
  local naive = method.oracle == "naive"
  local plan = pn.solve.zeroth_order.plan(problem.objective, { rho = rho ^ 2 / 2, gap = problem.gap, stationarity = delta,
    start = problem.start, output = "random", oracle = method.oracle, directions = method.directions, prefix = method.prefix,
    rounds = T, epochs = K, batch = B2, first_batch = not naive and B1 or nil, smoothing = delta / 2, radius = delta / (T + 1) })
  local e = plan.lines["oracle error e"] -- the step of the bound, also where it promises nothing
  local G = naive and math.sqrt(1 + e * e) or 1 + e
  plan = plan:with { step = delta / (T + 1) / (G * math.sqrt(T)) }
  return plan, { K = K, T = T, B1 = B1, B2 = B2, bound = plan.bound or plan.lines.BOUND }
end

-- A square root of 2^15 rounds takes as long as all others: blt is as good.
local function is_slow(method, sizes, d) return method.sum == "sqrt" and sizes.T ^ 2 / 2 * d * sizes.K > 1e10 end

-- The control: the same sizes and steps without noise.
local function without_noise(problem, method, plan)
  local same = { privacy = false, gap = problem.gap, stationarity = delta, start = problem.start, output = "random",
    oracle = method.oracle, directions = method.directions, prefix = method.prefix }
  for name, value in pairs(plan.settings) do same[name] = value end
  return pn.solve.zeroth_order.plan(problem.objective, same)
end

local function measure(plan, gradient, T, seed)
  local total, mean, epochs = 0, nil, 0
  for state in plan:steps { rng = pn.rng.seeded(seed) } do
    local g = gradient(state.point)
    if mean then mean:axpy(1, g) else mean = g end
    if state.step % T == 0 then
      total, mean, epochs = total + mean:norm() / T, nil, epochs + 1
    end
  end
  return total / epochs
end

-- ---- 1. the order ----

local cases = common.size({ { "edge", 5, 1e4, 1, 2 }, { "capped", 5, 3e3, 2, 1 } }, {
  { "edge", 5, 1e4, 1, 6 }, { "edge", 5, 1e5, 0.1, 1 }, { "edge", 5, 1e5, 1, 1 }, { "edge", 20, 1e5, 1, 1 },
  { "edge", 54, 1e5, 1, 1 },
  { "capped", 5, 1e4, 1, 4 }, { "capped", 5, 1e5, 1, 1 }, { "capped", 20, 1e5, 1, 1 }, { "sphere", 5, 1e4, 1, 4 },
  { "sphere", 5, 1e5, 1, 1 }, { "edge", 5, 1e6, 0.1, 1 } })

print "norm of the smoothed gradient averaged over the points of a run, and its bound; rho is the article's"
local rows = common.table("methods", { "loss", "d", "M", "rho", "method", "K", "T", "B1", "B2", "measured", "std_error", "still",
  "bound", "promised" }, { method = 15 })
local compared, by_noise, reversed, furthest, most, figure = 0, 0, 0, 1, 0, {}
local lowest, highest = math.huge, 0 -- what is left without noise, as a part of what is measured

local function compare(found, name)
  for _, a in ipairs(found) do
    for _, b in ipairs(found) do
      if b.promised > 1.5 * a.promised then
        compared = compared + 1
        if math.abs(b.still - a.still) <= (b.measured - a.measured) / 5 then by_noise = by_noise + 1 end
        if b.measured <= a.measured then
          reversed, furthest = reversed + 1, math.max(furthest, a.measured / b.measured)
          print(("  %s: %s promises %.3f and has %.3f, %s promises %.3f and has %.3f"):format(name, a.name, a.promised, a.measured,
            b.name, b.promised, b.measured))
        end
      end
    end
  end
end

local function run(case)
  local loss, d, M, rho, seeds = table.unpack(case)
  M = math.floor(M)
  local problem = problems[loss](d, M, pn.rng.seeded(M + d))
  local gradient, steepest = problem.gradient(delta / 2)
  local listed = pn.solve.zeroth_order.plan(problem.objective, { rho = rho ^ 2 / 2, gap = problem.gap, stationarity = delta,
    start = problem.start })
  local found = {}
  for _, method in ipairs(methods) do
    local plan, sizes = planned(problem, method, rho, listed)
    if not is_slow(method, sizes, d) then
      local mean, error = common.mean(seeds, function(seed) return measure(plan, gradient, sizes.T, seed) end)
      local still = measure(without_noise(problem, method, plan), gradient, sizes.T, 1)
      lowest, highest = math.min(lowest, still / mean), math.max(highest, still / mean)
      local promised = math.min(sizes.bound, steepest)
      rows:row(loss, d, M, rho, method.name, sizes.K, sizes.T, sizes.B1, sizes.B2, mean, error, still, sizes.bound,
        promised)
      common.expect_silently(mean + 4 * error < sizes.bound, "%s, d = %d, M = %d, rho = %g, %s: measured %.4f, bound %.4f",
        loss, d, M,
        rho, method.name, mean, sizes.bound)
      most = math.max(most, (mean + 4 * error) / sizes.bound)
      found[#found + 1] = { name = method.name, measured = mean, still = still, promised = promised }
      local series = figure[loss] or { label = loss, x = {}, y = {}, marks = true }
      figure[loss], series.x[#series.x + 1], series.y[#series.y + 1] = series, sizes.bound, mean
    end
  end
  compare(found, ("%s, d = %d, M = %d, rho = %g"):format(loss, d, M, rho))
end

for _, case in ipairs(cases) do run(case) end
rows:close()
common.expect(most < 1, "measured + 4 standard errors is at most %.3f of the bound", most)
common.expect(reversed <= common.size(0.2, 0.1) * compared and furthest < 1.1,
  "of %d pairs whose promises differ by more than 1.5, %d are the other way round, by a factor of %.3f at most", compared, reversed,
  furthest)
print(("  %d of them differ by noise: without it the difference is a fifth at most; it leaves %.2f to %.2f of the norms"):format(
  by_noise, lowest, highest))

-- ---- 2. the oracle's error by round ----

local d, T, B1, B2, K = 5, 64, 16, 1, common.size(30, 400)
local edge = problems.edge(d, K * (B1 + (T - 1) * B2), pn.rng.seeded(3))
local edge_gradient = edge.gradient(delta / 2)

-- The noise, exactly, and what sampling adds at most: V1/B1 + (t - 1) V2/B2 at the mean square 7/6 D^2 of steps.
local function predicted(method, plan)
  local noise, bound = {}, {}
  if method.oracle == "naive" then
    for t = 1, T do
      noise[t] = plan.lines["noise of a round"] ^ 2
      bound[t] = noise[t] + d / (d - 1) / B2
    end
    return noise, bound
  end
  local tree = { dim = 1, horizon = T, rho = 0.5,
    sensitivity = math.max(plan.lines["sensitivity s1"], plan.lines["sensitivity s2"]) }
  for key, value in pairs(method.prefix) do tree[key] = value end
  local variances, orthogonal = pn.tree(tree):variances(), method.directions == "orthogonal"
  local ratio = plan.lines["ball D"] / plan.lines["smoothing mu"]
  for t = 1, T do
    noise[t] = d * variances[t]
    bound[t] = noise[t] + (d / (d - 1) + (orthogonal and 0 or 1 - 1 / d)) / B1
      + (t - 1) * d * (orthogonal and 1 or 2 - 1 / d) * 7 / 6 * ratio ^ 2 / B2
  end
  return noise, bound
end

local function oracle(method)
  local naive = method.oracle == "naive"
  local plan = pn.solve.zeroth_order.plan(edge.objective, { rho = 0.5, gap = edge.gap, start = edge.start, stationarity = delta,
    output = "random", oracle = method.oracle, directions = method.directions, prefix = method.prefix, rounds = T, epochs = K,
    batch = B2, first_batch = not naive and B1 or nil, smoothing = delta / 2, radius = delta / (T + 1) })
  local noise, bound = predicted(method, plan)
  local seen = {}
  for t = 1, T do seen[t] = 0 end
  for state in plan:steps { rng = pn.rng.seeded(7) } do
    local t = (state.step - 1) % T + 1
    seen[t] = seen[t] + (state.estimate - edge_gradient(state.point)):norm() ^ 2 / K
  end
  return seen, noise, bound
end

print "\nmean square error of the oracle in round t of an epoch: edge, d = 5, rho = 1, T = 64, B1 = 16, B2 = 1"
local by_round = common.table("methods_error", { "method", "t", "measured", "noise", "bound" }, { method = 12 })
local series, room = {}, 6 * math.sqrt(2 / (d * K)) -- six standard deviations of a mean of d K squares
for _, name in ipairs { "VR orth tree", "VR orth honaker", "VR orth sqrt", "naive orth" } do
  local method
  for _, each in ipairs(methods) do method = each.name == name and each or method end
  local seen, noise, bound = oracle(method)
  local low, high, rounds = math.huge, 0, {}
  for t = 1, T do
    rounds[t] = t
    low, high = math.min(low, seen[t] / noise[t]), math.max(high, seen[t] / bound[t])
    if t & (t - 1) == 0 or t & (t + 1) == 0 then by_round:row(name, t, seen[t], noise[t], bound[t]) end
  end
  common.expect(low > 1 - room and high < 1 + room,
    "%s: in every round at least %.3f of the noise and at most %.3f of the bound", name,
    low, high)
  local colour = #series // 2
  series[#series + 1] = { label = name, x = rounds, y = seen, marks = true, colour = colour }
  series[#series + 1] = { label = name .. ": bound", x = rounds, y = bound, dashed = 1, colour = colour }
end
by_round:close()

-- ---- figure ----

local function against_bounds()
  local all, least, most_bound = {}, math.huge, 0
  for _, loss in ipairs { "edge", "capped", "sphere" } do
    local one = figure[loss]
    for i = 1, one and #one.x or 0 do least, most_bound = math.min(least, one.x[i]), math.max(most_bound, one.x[i]) end
    all[#all + 1] = one
  end
  all[#all + 1] = { label = "the bound", x = { least, most_bound }, y = { least, most_bound }, dashed = true, colour = 6 }
  return { name = "methods", title = "Smoothed gradient of zeroth-order runs, all methods and sizes", xlabel = "BOUND",
    ylabel = "measured", logx = true, logy = true, ticks = false, key = "inside left top", series = all }
end

common.figure(against_bounds())
common.figure { name = "methods_error", title = "Mean squared error of the oracle by round, T = 64, rho = 1", xlabel = "round t",
  ylabel = "mean square error", logy = true, ticks = false, series = series }
