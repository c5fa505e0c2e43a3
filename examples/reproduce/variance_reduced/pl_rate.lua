-- pl_rate.lua -- noisy gradient descent under the Polyak-Lojasiewicz condition ||grad F||^2 >= 2 mu (F - F*), which asks for no
-- convexity: the excess of the last point falls like n^-2 and grows like p, up to a logarithm of n.  Two problems whose mu is
-- known, neither strongly convex:
--   waves    record i has the one feature e_j, j = i mod p, logistic loss and the regulariser sum w^2/5 + 0.15 (1 - cos 2w).
--            F is a sum of functions of one coordinate, each with a stretch where it bends downwards; its mu is a minimum
--            over a fine grid.  L, G and mu do not depend on n, nor (nearly) on p.
--   flat     least squares whose rows span 4 of p dimensions: mu is the least nonzero eigenvalue, 1/4.  Gradients are clipped at
--            2, more than any of them reaches on the way, so they are exact.
-- Beside the runs: the recursion E gap' <= (1 - mu/L) gap + p sigma^2/(2 L) over the plan's T steps from the true gap at the
-- start, and what the article states, the same with ln^2 n in place of ln n.
--   penumbra examples/reproduce/variance_reduced/pl_rate.lua [folder]
-- Source: Wang, Ye, Xu (2017), Algorithm 4, for functions of Polyak-Lojasiewicz type.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local budget = { epsilon = 4, delta = 1e-6 }

-- ---- the two problems: { objective=, mu=, L=, start=, best= } ----

local function softplus(z) return math.max(z, 0) + math.log(1 + math.exp(-math.abs(z))) end

-- Value and slope of F in one of p coordinates, three labels of four being 1.
local function wave(w, p)
  local up = 1 / (1 + math.exp(-w))
  return (0.75 * softplus(-w) + 0.25 * softplus(w)) / p + 0.2 * w * w + 0.15 * (1 - math.cos(2 * w)),
    (up - 0.75) / p + 0.4 * w + 0.3 * math.sin(2 * w)
end

-- Its least value, and the least slope^2 / (2 excess).  Beyond |w| = 6 the ratio is above that of the square alone.
local function wave_constants(p)
  local least, low, high = math.huge, 0, 1
  for _ = 1, 100 do -- the only zero of the slope, which rises there
    local middle = (low + high) / 2
    local _, slope = wave(middle, p)
    if slope < 0 then low = middle else high = middle end
  end
  local best = wave(low, p)
  for i = -60000, 60000 do
    local value, slope = wave(i / 10000, p)
    if value - best > 1e-7 then least = math.min(least, slope * slope / (2 * (value - best))) end
  end
  return best, least
end

local waves_regulariser = pn.reg.separable(function(w) return 0.2 * w * w + 0.15 * (1 - pn.cos(2 * w)) end)

local function waves(n, p)
  local i, j, x, y = {}, {}, {}, pn.vec.zeros(n)
  for k = 1, n do
    i[k], j[k], x[k] = k, (k - 1) % p + 1, 1
    y[k] = (k - 1) // p % 4 == 0 and -1 or 1
  end
  local best, mu = wave_constants(p)
  local X = pn.sparse { rows = n, cols = p, i = i, j = j, x = x }
  local objective = pn.objective { data = pn.data.from(X, y):clip_rows("l2", 1), loss = pn.loss.logistic(),
    reg = waves_regulariser }
  local start = pn.vec.zeros(p)
  start[1] = 2.5 -- beyond the stretch that bends downwards
  return { objective = objective, mu = mu, L = objective.bounds.smoothness, start = start, best = p * best }
end

-- Rows e_1 .. e_4 in turn, turned by a rotation so that no coordinate is special; labels <row, truth> + noise.
local function flat(n, p)
  local rng = pn.rng.seeded(p)
  local Q = pn.mat.zeros(4, p)
  for j = 1, 4 do
    local row = pn.vec.normal(p, rng)
    for k = 1, j - 1 do row:axpy(-row:dot(Q[k]), Q[k]) end
    Q[j]:axpy(1 / row:norm(), row)
  end
  local X, y, sums = pn.mat.zeros(n, p), pn.vec.zeros(n), { 0, 0, 0, 0 }
  for i = 1, n do
    local j = (i - 1) % 4 + 1
    X[i]:axpy(1, Q[j])
    y[i] = (j % 2 == 0 and 1 or -1) + 0.1 * (2 * rng:uniform() - 1)
    sums[j] = sums[j] + y[i]
  end
  local theta = pn.vec.zeros(p)
  for j = 1, 4 do theta:axpy(sums[j] / (n / 4), Q[j]) end
  local objective = pn.objective { data = pn.data.from(X, y):clip_rows("l2", 1), loss = pn.loss.squared(), clip = 2 }
  return { objective = objective, mu = 1 / 4, L = 1, start = pn.vec.zeros(p), best = objective:value(theta) }
end


-- ---- measurement ----

-- T steps of E gap' <= (1 - mu/L) gap + p sigma^2/(2 L).
local function recursion(problem, gap, T, sigma)
  for _ = 1, T do
    gap = (1 - problem.mu / problem.L) * gap + problem.objective.p * sigma ^ 2 / (2 * problem.L)
  end
  return gap
end

-- The expected excess of least squares in closed form: every direction of the 4 has curvature 1/4, and the step is 1.
local function quadratic(gap, T, sigma)
  local q = 0.75 ^ (2 * T)
  return q * gap + 4 * sigma ^ 2 / 8 * (1 - q) / (1 - 0.75 ^ 2)
end

-- One size.  More runs where they are cheap: an excess of few directions varies much.
local function measure(name, problem)
  local f, runs = problem.objective, common.size(48, math.max(16, math.min((1 << 20) // problem.objective.n, 64)))
  local plan = pn.solve.gradient_descent.plan(f, { epsilon = budget.epsilon, delta = budget.delta, pl = problem.mu,
    start = problem.start })
  local T, sigma, gap = plan.iterations, plan.lines["noise sigma"], f:value(problem.start) - problem.best
  local mean, spread = common.excess(plan, runs, problem.best)
  common.control(mean, common.still(plan, problem.best, { start = problem.start }), "%s, n = %d, p = %d", name, f.n, f.p)
  local public = recursion(problem, plan.lines["start gap"], T, sigma) / plan.lines["predicted excess"]
  return { n = f.n, p = f.p, T = T, sigma = sigma, mean = mean, spread = spread,
    recursion = recursion(problem, gap, T, sigma), prediction_error = math.abs(public - 1), per_step = mean / T,
    deviation = name == "flat" and math.abs(mean - quadratic(gap, T, sigma)) / spread or 0 }
end

print(("gradient descent, epsilon = %g, delta = %g: mean excess of the last point"):format(budget.epsilon, budget.delta))
local rows = common.table("pl_rate", { "problem", "n", "p", "T", "sigma", "excess", "std_error", "recursion" })

-- One row for each { n, p } of sizes, as columns.
local function sweep(name, make, sizes)
  local s, worst = { name = name }, { ratio = 0, prediction_error = 0, deviation = 0 }
  for i, size in ipairs(sizes) do
    local row = measure(name, make(size[1], size[2]))
    rows:row(name, row.n, row.p, row.T, row.sigma, row.mean, row.spread, row.recursion)
    row.ratio = (row.mean + 4 * row.spread) / row.recursion
    for key, value in pairs(row) do
      s[key] = s[key] or {}
      s[key][i] = value
      if worst[key] then worst[key] = math.max(worst[key], value) end
    end
  end
  common.expect(worst.ratio < 1, "%s: measured + 4 standard errors is at most %.3f of the recursion", name, worst.ratio)
  common.expect(worst.prediction_error < 1e-6, "%s: from the plan's start gap the recursion ends at its prediction, within %.1g",
    name, worst.prediction_error)
  if name == "flat" then
    common.expect(worst.deviation < 5, "flat: at most %.2f standard errors from the closed form", worst.deviation)
  end
  return s
end

local function expect_slope(s, key, promised)
  local slope, of_recursion = common.slope(s[key], s.mean), common.slope(s[key], s.recursion)
  common.expect(math.abs(slope - promised) <= 0.2, "%s: slope %.3f in %s is %g +- 0.2", s.name, slope, key, promised)
  common.expect(math.abs(of_recursion - promised) <= 0.2, "%s: slope %.3f of the recursion", s.name, of_recursion)
  local of_step = common.slope(s[key], s.per_step)
  common.expect(math.abs(of_step - promised) <= 0.1, "%s: slope %.3f of excess / T, which has no logarithm", s.name, of_step)
end

local function lines(s, key, colour)
  return { label = s.name .. ": recursion", x = s[key], y = s.recursion, dashed = true, colour = colour },
    { label = s.name .. ": measured", x = s[key], y = s.mean, error = s.spread, colour = colour }
end

local function panel(key, title, label, of_waves, of_flat)
  local a, b = lines(of_waves, key, 0)
  local c, d = lines(of_flat, key, 1)
  return { title = title, xlabel = label, ylabel = "excess risk", logx = true, logy = true,
    key = "outside top center maxrows 2 samplen 2", series = { a, b, c, d } }
end

local function against_n()
  local sizes = {}
  for exponent = 12, common.size(14, 17) do sizes[#sizes + 1] = { 1 << exponent, 16 } end
  local of_waves, of_flat = sweep("waves", waves, sizes), sweep("flat", flat, sizes)
  expect_slope(of_waves, "n", -2)
  expect_slope(of_flat, "n", -2)
  return of_waves, of_flat
end

-- The rank of `flat` stays 4, so noise in the other directions moves the answer but not its risk: the bound grows with p, the
-- excess does not.
local function against_p()
  local sizes, n = {}, common.size(1 << 11, 1 << 12)
  for exponent = 2, common.size(5, 7) do sizes[#sizes + 1] = { n, 1 << exponent } end
  local of_waves, of_flat = sweep("waves", waves, sizes), sweep("flat", flat, sizes)
  expect_slope(of_waves, "p", 1)
  local slope = common.slope(of_flat.p, of_flat.mean)
  common.expect(math.abs(slope) < 0.3, "flat: slope %.3f in p; what counts there is the rank", slope)
  return of_waves, of_flat
end

-- The least end of the recursion over T, with sigma = s sqrt(T).
local function least_recursion(problem, gap, s)
  local least, best = math.huge, 0
  local q, floor = 1 - problem.mu / problem.L, problem.objective.p * s ^ 2 / (2 * problem.mu)
  for T = 1, 2000 do
    local risk = q ^ T * gap + floor * T * (1 - q ^ T)
    if risk < least then least, best = risk, T end
  end
  return least, best
end

-- (n/n_1)^2 times the risk at n, over that at n_1: constant but for logarithms.  T is (L/mu) ln(c n^2), and the variance of a
-- step is in proportion to T: one logarithm.  Beyond the sizes that were run by the formula alone.
local function logarithms(measured)
  local problem = waves(1 << 12, 16)
  local f, first = problem.objective, measured.n[1]
  local gap, unit = f:value(problem.start) - problem.best, measured.sigma[1] / math.sqrt(measured.T[1]) * first
  local x, bound, one, two, T = {}, {}, {}, {}, {}
  for exponent = 12, 52, 4 do
    local n, i = 2.0 ^ exponent, #x + 1
    local of_log = math.log(n) / math.log(first)
    x[i], one[i], two[i] = n, of_log, of_log ^ 2
    bound[i], T[i] = least_recursion(problem, gap, unit / n)
    bound[i] = bound[i] * (n / first) ^ 2
  end
  for i = #x, 1, -1 do bound[i], T[i] = bound[i] / bound[1], T[i] / T[1] end
  local last = #x
  local mid = (last + 1) // 2
  local bend = (bound[last] - bound[mid]) / (bound[mid] - bound[1]) -- 1 for a line over ln n; (ln n)^2: 1.5
  common.expect(math.abs(bend - 1) < 0.1, "n^2 x recursion is a line over ln n: its second half rises %.3f times its first", bend)
  common.expect(bound[last] < 0.6 * two[last], "over n = 2^12 to 2^52 it grows by %.2f, T by %.2f, (ln n)^2 by %.2f",
    bound[last], T[last], two[last])
  local scaled, spread = {}, {}
  for i, n in ipairs(measured.n) do
    local factor = (n / first) ^ 2 / measured.mean[1]
    scaled[i], spread[i] = factor * measured.mean[i], factor * measured.spread[i]
  end
  return { title = "waves: n^2 x risk, relative to n = 4096", xlabel = "records n", ylabel = "growth", logx = true,
    key = "outside top center maxrows 2 samplen 2", series = {
      { label = "recursion", x = x, y = bound, dashed = true, colour = 0 },
      { label = "measured", x = measured.n, y = scaled, error = spread, colour = 0 },
      { label = "(ln n)^2", x = x, y = two, dashed = 3, colour = 2 },
      { label = "ln n", x = x, y = one, dashed = 4, colour = 3 },
    } }
end

local waves_n, flat_n = against_n()
local waves_p, flat_p = against_p()
rows:close()
common.figure { name = "pl_rate", title = "Noisy gradient descent under the Polyak-Lojasiewicz condition", panels = {
  panel("n", "p = 16", "records n", waves_n, flat_n),
  panel("p", ("n = %d"):format(waves_p.n[1]), "features p", waves_p, flat_p),
  logarithms(waves_n),
} }
