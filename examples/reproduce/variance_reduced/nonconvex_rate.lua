-- nonconvex_rate.lua -- noisy gradient descent without convexity: the answer is an iterate drawn at random, and what is promised
-- is its squared gradient,  E ||grad F(x_m)||^2 <= 2 L gap0/T + p sigma^2.  With sigma = s sqrt(T), s the noise of one release,
-- the best T gives 2 s (2 L gap0 p)^(1/2), which is in proportion to (L p ln(1/delta))^(1/2) G/(n epsilon): slope -1 in n and
-- 1/2 in p.
--   Sigmoid and Cauchy losses with the regulariser sum of lambda w^2/(1 + w^2), neither convex.  Record i has the feature 0.6
-- along e_1 that agrees with the label four times of five, and 0.8 along one of the other coordinates in turn.  The regulariser
-- bends every coordinate upwards near 0, so the noise of each counts whatever p is.
-- Measured: at the answers, and averaged over every point of a few runs, which is what the expectation over m means: an answer
-- is seldom one of the first points, which have by far the largest gradients.
--   penumbra examples/reproduce/variance_reduced/nonconvex_rate.lua [folder]
-- Source: Wang, Ye, Xu (2017), Algorithm 4, for functions that are not convex; constants as proven.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local budget = { epsilon = 1, delta = 1e-6 }

-- longer: multiplies the plan's steps.  Its T weighs both terms of the bound alike, and of the sigmoid loss half of the squared
-- gradient is there without noise.  With three times the steps a tenth is: what is left is the effect of privacy.
local problems = {
  { name = "sigmoid", longer = 3, loss = pn.loss.sigmoid(), regulariser = pn.reg.nonconvex(0.05) },
  { name = "Cauchy", longer = 1, loss = pn.loss.cauchy { scale = 1 }, regulariser = pn.reg.nonconvex(0.25) },
}

local function records(n, p)
  local rng = pn.rng.seeded(n)
  local i, j, x, y = {}, {}, {}, pn.vec.zeros(n)
  for k = 1, n do
    y[k] = rng:uniform() < 0.5 and 1 or -1
    i[2 * k - 1], j[2 * k - 1], x[2 * k - 1] = k, 1, 0.6 * (rng:uniform() < 0.2 and -y[k] or y[k])
    i[2 * k], j[2 * k], x[2 * k] = k, 2 + k % (p - 1), 0.8
  end
  return pn.data.from(pn.sparse { rows = n, cols = p, i = i, j = j, x = x }, y):clip_rows("l2", 1)
end

-- Mean squared gradient over the points of a run that a gradient was taken at: the start, and the end of each step but
-- the last.
local function along(plan, seed)
  local f = plan.objective
  local sum, x = f:gradient(pn.vec.zeros(f.p)):norm() ^ 2, nil
  for state in plan:steps { rng = pn.rng.seeded(seed) } do
    if x then sum = sum + f:gradient(x):norm() ^ 2 end
    x = state.theta:copy()
  end
  return sum / plan.iterations
end

local function measure(problem, n, p, runs)
  local f = pn.objective { data = records(n, p), loss = problem.loss, reg = problem.regulariser }
  local balanced = pn.solve.gradient_descent.plan(f, { epsilon = budget.epsilon, delta = budget.delta })
  local unit, T = balanced.lines["noise sigma"] / math.sqrt(balanced.iterations), problem.longer * balanced.iterations
  local plan = pn.solve.gradient_descent.plan(f, { epsilon = budget.epsilon, delta = budget.delta, iterations = T })
  local gap = plan.lines["start gap"]
  local whole = pn.solve.gradient_descent.plan(f, { epsilon = budget.epsilon, delta = budget.delta, output = "last",
    iterations = T }) -- the same steps, but the point of each can be seen
  if gap < f:value(pn.vec.zeros(p)) * (1 - 1e-9) then error "the plan's start gap is below the truth: no loss is below 0" end
  local row = { n = n, p = p, T = T, bound = 2 * unit * math.sqrt(2 * f.bounds.smoothness * gap * p),
    balanced = balanced.lines["squared gradient"], plan_bound = plan.lines["squared gradient"] }
  row.mean, row.spread = common.mean(runs, function(seed)
    return f:gradient(plan:run { rng = pn.rng.seeded(1000 * (n + p) + seed) }.theta):norm() ^ 2
  end)
  row.along, row.along_spread = common.mean(8, function(seed) return along(whole, seed) end)
  row.still = along(pn.solve.gradient_descent.plan(f, { privacy = false, output = "last", iterations = T,
    step = whole.settings.step }), 1)
  common.control(row.along, row.still, "%s, n = %d, p = %d", problem.name, n, p)
  return row
end

print(("gradient descent, epsilon = %g, delta = %g: squared gradient at a random point"):format(budget.epsilon, budget.delta))
local rows = common.table("nonconvex_rate",
  { "loss", "n", "p", "T", "at_answers", "std_error", "along_runs", "along_error", "without_noise", "plan_bound",
    "closed_form" })

-- The measured columns of one sweep; checks each point.
local function sweep(problem, sizes)
  local s, ratio, share, off = {}, 0, 0, 0
  for i, size in ipairs(sizes) do
    local row = measure(problem, size.n, size.p, size.runs)
    rows:row(problem.name, row.n, row.p, row.T, row.mean, row.spread, row.along, row.along_spread, row.still,
      row.plan_bound, row.bound)
    ratio = math.max(ratio, (row.mean + 4 * row.spread) / row.plan_bound)
    share = share + row.mean / row.along / #sizes
    off = math.max(off, math.abs(row.balanced / row.bound - 1))
    for key, value in pairs(row) do
      s[key] = s[key] or {}
      s[key][i] = value
    end
  end
  common.expect(ratio < 1, "%s: measured + 4 standard errors is at most %.3f of the bound", problem.name, ratio)
  common.expect(off < 0.02, "%s: the bound of the plan's own T is 2 s (2 L gap0 p)^(1/2) within %.2g", problem.name, off)
  common.expect(math.abs(share - 1) < 0.2, "%s: answers have on average %.3f of the mean along whole runs", problem.name, share)
  return s
end

local function expect_slope(name, s, key, promised)
  local measured, runs, bound = common.slope(s[key], s.mean), common.slope(s[key], s.along), common.slope(s[key], s.plan_bound)
  common.expect(math.abs(measured - promised) <= 0.2 and math.abs(runs - promised) <= 0.2,
    "%s: slope in %s %.3f at answers, %.3f along runs, %g +- 0.2 promised", name, key, measured, runs, promised)
  common.expect(math.abs(bound - promised) <= 0.05, "%s: slope in %s of the bound %.3f", name, key, bound)
end

local function panel(key, title, label, found)
  local series = {}
  for k, problem in ipairs(problems) do
    local s = found[problem.name]
    series[#series + 1] = { label = problem.name .. ": bound", x = s[key], y = s.plan_bound, dashed = true, colour = k - 1 }
    series[#series + 1] = { label = problem.name .. ": at answers", x = s[key], y = s.mean, error = s.spread, colour = k - 1 }
  end
  return { title = title, xlabel = label, ylabel = "squared gradient", logx = true, logy = true,
    key = "outside top center maxrows 2 samplen 2", series = series }
end

local against_n, against_p, middle = {}, {}, 2048
for _, problem in ipairs(problems) do
  local of_n, of_p = {}, {}
  for exponent = common.size(10, 8), common.size(12, 13) do
    of_n[#of_n + 1] = { n = 1 << exponent, p = 16, runs = common.size(50, math.min(100, (1 << 18) // (1 << exponent))) }
  end
  for exponent = 2, common.size(6, 8), 2 do of_p[#of_p + 1] = { n = middle, p = 1 << exponent, runs = common.size(50, 100) } end
  against_n[problem.name], against_p[problem.name] = sweep(problem, of_n), sweep(problem, of_p)
  expect_slope(problem.name, against_n[problem.name], "n", -1)
  expect_slope(problem.name, against_p[problem.name], "p", 0.5)
end
rows:close()
common.figure { name = "nonconvex_rate", title = "Noisy gradient descent without convexity, epsilon = 1", panels = {
  panel("n", "p = 16", "records n", against_n), panel("p", ("n = %d"):format(middle), "features p", against_p) } }
