-- lasso.lua -- private LASSO by Frank-Wolfe with private choices of a vertex: measured risk between the paper's two bounds.
--   1. Against n on a benign instance (p = 100, rho = 0.5, +-1 features, 5-sparse truth): below the plan's bound, whose slope
--      is -2/3, and falling faster, about like 1/n, since this instance is well conditioned.
--   2. Against n on the family behind the lower bound, a fingerprinting code (data.synthetic.fingerprint): no private run
--      does better than n^(-2/3) up to logarithms.
--   3. Against p at fixed n: the bound grows like (ln p)^(2/3), the measured risk between that and (ln p)^(4/3), far from a root.
-- The noise is seeded (an experiment on synthetic data, not a release), so the tables repeat exactly.
--   penumbra examples/reproduce/geometry/lasso.lua [folder]
-- Source: Talwar, Thakurta, Zhang (2014), Algorithm 4, Theorems 5.8 and 5.9.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local function over_l1(data)
  return pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = data.p, radius = 1 } }
end

-- The lower bound of Theorem 5.9 with its constants: data sets of n = m^3/ln m records with w = m/ln m users, tau = 0.001 and
-- tau' <= 0.001; a loss below 1.1 tau w is traced, theta* has at most 1.004 tau w, and f is the loss over 2 n.  Proven from
-- w = 1000 (n above 1e11) on and for eps <= 0.1; here it is only continued to sizes that fit in memory.
local function lower_bound(n)
  local low, high = 3, 1e6
  for _ = 1, 100 do
    local m = math.sqrt(low * high)
    if m ^ 3 / math.log(m) < n then low = m else high = m end
  end
  return 0.096 * 0.001 * low / math.log(low) / (2 * n)
end

-- ---- 1. against n, benign ----

local function against_n()
  print "private LASSO, p = 100, rho = 0.5: mean excess risk against n"
  local rows = common.table("lasso", { "n", "T", "excess", "std_error", "control", "bound", "lower_bound" })
  local n, mean, spread, bound, lower = {}, {}, {}, {}, {}
  for exponent = 10, common.size(13, 16) do
    local data = pn.data.synthetic.lasso { n = 1 << exponent, p = 100, sparsity = 5, signal = 1, seed = exponent }
    local plan = pn.solve.frank_wolfe.plan(over_l1(data), { rho = 0.5, preset = "theory" })
    local i = #n + 1
    n[i], lower[i] = data.n, lower_bound(data.n)
    mean[i], spread[i], bound[i] = common.excess(plan, common.size(6, 60))
    local control = common.still(plan)
    rows:row(n[i], plan.iterations, mean[i], spread[i], control, bound[i], lower[i])
    common.control(mean[i], control, "n = %d", n[i])
    common.expect(mean[i] + 4 * spread[i] < bound[i] and mean[i] > lower[i], "between the two bounds")
  end
  rows:close()
  local slope = common.slope(n, mean)
  common.expect(slope >= -1.3 and slope <= -0.6, "log-log slope %.3f in [-1.3, -0.6]", slope)
  common.expect(math.abs(common.slope(n, bound) + 2 / 3) < 0.02, "the bound's own slope %.3f is -2/3", common.slope(n, bound))
  common.figure { name = "lasso", title = "Private LASSO on a benign instance, p = 100, rho = 0.5", xlabel = "records n",
    ylabel = "excess risk", logx = true, logy = true, key = "outside top center maxrows 3", series = {
      { label = "bound of the plan", x = n, y = bound, dashed = true },
      { label = "measured", x = n, y = mean, error = spread },
      { label = "lower bound, worst case", x = n, y = lower, dashed = true },
    } }
end

-- ---- 2. against n, on the lower bound's family ----

-- k Hadamard records, p = k columns, w = k^(1/3) users, so that w/n is about n^(-2/3), and 2 w^2 columns that carry the code.
local function fingerprint(k, seed)
  local users = math.floor(k ^ (1 / 3) + 0.5)
  return pn.data.synthetic.fingerprint { users = users, p = k, informative = 2 * users ^ 2 // 1, ridge = k, seed = seed }
end

-- What theta = 0 costs is about w/(2n): the level that needs no data.  To get clearly below it signs must follow the users,
-- who are then traced.  Frank-Wolfe at these n chooses almost at random: theta is a mean of T vertices with ||theta||^2 =
-- 4/(3T), whose ridge costs 2/(3T) on top of the level, and T grows like (n/ln p)^(2/3).  Mirror descent hardly leaves its
-- start, theta = 0.
local function against_family()
  print "the fingerprinting family: mean excess risk against n"
  local budget = { epsilon = 0.1, delta = 1e-8 } -- delta = o(1/n^2), the theorem's condition
  local rows = common.table("lasso_fingerprint",
    { "n", "users", "T", "bound", "rho_0.5", "eps_0.1", "mirror_0.1", "theta_0", "lower_bound", "n^(-2/3)" })
  local s = { n = {}, bound = {}, rich = {}, poor = {}, mirror = {}, level = {}, rate = {}, lower = {} }
  for exponent = 8, common.size(10, 12) do
    local f = fingerprint(1 << exponent, exponent)
    local objective = over_l1(f:dataset(1))
    local best = pn.solve.exact(objective, { tol = 1e-7 }).value
    local level = objective:value(pn.vec.zeros(f.p)) - best
    local rich = pn.solve.frank_wolfe.plan(objective, { rho = 0.5, preset = "theory" })
    local runs = common.size(4, exponent == 12 and 8 or 20)
    local i = #s.n + 1
    s.n[i], s.bound[i], s.level[i] = f.n, rich.bound, level
    s.rich[i] = common.excess(rich, runs, best)
    s.poor[i] = common.excess(pn.solve.frank_wolfe.plan(objective, budget):with { preset = "theory" }, runs, best)
    s.mirror[i] = common.excess(pn.solve.mirror_descent.plan(objective, budget):with { preset = "theory" }, 2, best)
    s.lower[i], s.rate[i] = lower_bound(f.n), f.n ^ (-2 / 3)
    rows:row(f.n, f.users, rich.iterations, s.bound[i], s.rich[i], s.poor[i], s.mirror[i], level, s.lower[i], s.rate[i])
    common.expect(math.min(s.rich[i], s.poor[i], s.mirror[i]) > 0.9 * level and level > s.lower[i],
      "no private run beats theta = 0 by a tenth, and that is above the lower bound")
    common.expect(s.rich[i] < s.bound[i], "below the upper bound")
  end
  rows:close()
  local zero, rich = common.slope(s.n, s.level), common.slope(s.n, s.rich)
  common.expect(zero > -0.72 and zero < -0.5, "theta = 0 has slope %.3f, -2/3 up to logarithms and rounding of w", zero)
  common.expect(rich > -2 / 3 - 0.05 and rich < -0.5, "measured slope %.3f at rho = 0.5: -2/3 up to logarithms", rich)
  common.figure { name = "lasso_fingerprint", title = "Private LASSO on the lower bound's family, p = k, about n^(1/3) users",
    xlabel = "records n",
    ylabel = "excess risk", logx = true, logy = true, key = "outside top center maxrows 4", series = {
      { label = "plan's bound, rho = 0.5", x = s.n, y = s.bound, dashed = true, colour = 0 },
      { label = "Frank-Wolfe, rho = 0.5", x = s.n, y = s.rich, colour = 0 },
      { label = "Frank-Wolfe, eps = 0.1", x = s.n, y = s.poor, colour = 1 },
      { label = "n^(-2/3)", x = s.n, y = s.rate, dashed = 3, colour = 3 },
      { label = "mirror descent, eps = 0.1", x = s.n, y = s.mirror, colour = 4 },
      { label = "theta = 0", x = s.n, y = s.level, dashed = true, colour = 2 },
      { label = "lower bound, continued", x = s.n, y = s.lower, dashed = 4, colour = 3 },
    } }
end

-- ---- 3. against p ----

-- The bound grows like (ln p)^(2/3).  The measured risk of this instance lies far below it and grows faster, since it has two
-- parts.  Choices at random make theta scatter, which costs about 2/(3T), in proportion to (ln p/n)^(2/3).  And to be chosen
-- often enough among 2 p vertices the right ones need a gradient of about beta ln(2p), beta the noise's scale: that leaves a
-- bias whose square, as beta^2 is in proportion to T/n^2, falls like (ln p/n)^(4/3).  So the slope against ln p is between
-- 2/3 and 4/3, and so it is against 1/n.

local function against_p()
  local n = 4096
  print(("private LASSO, n = %d, rho = 0.5: mean excess risk against p"):format(n))
  local rows = common.table("lasso_dimension", { "p", "T", "excess", "std_error", "bound" })
  local at, p, log_p, mean, spread, bound = {}, {}, {}, {}, {}, {}
  for i, columns in ipairs(common.size({ 100, 200 }, { 25, 50, 100, 200, 400, 800 })) do
    local data = pn.data.synthetic.lasso { n = n, p = columns, sparsity = 5, signal = 1, seed = 21 }
    local plan = pn.solve.frank_wolfe.plan(over_l1(data), { rho = 0.5, preset = "theory" })
    p[i], log_p[i], at[columns] = columns, math.log(columns), i
    mean[i], spread[i], bound[i] = common.excess(plan, common.size(12, 60))
    rows:row(columns, plan.iterations, mean[i], spread[i], bound[i])
    common.expect(mean[i] < bound[i], "below the bound")
  end
  rows:close()
  local ratio = mean[at[200]] / mean[at[100]]
  common.expect(ratio < 1.4, "p from 100 to 200 changes the mean by %.0f %%, less than 40 %%", 100 * (ratio - 1))
  common.expect(common.slope(log_p, bound) < 2 / 3, "the bound grows like (ln p)^%.2f, at most 2/3", common.slope(log_p, bound))
  if not common.quick then -- twelve runs of two sizes say little about a slope
    local slope = common.slope(log_p, mean)
    common.expect(slope > 2 / 3 and slope < 4 / 3, "the measured risk grows like (ln p)^%.2f, between 2/3 and 4/3", slope)
    common.expect(common.slope(p, mean) < 0.4, "or p^%.2f: no root", common.slope(p, mean))
  end
  common.figure { name = "lasso_dimension", title = "Private LASSO, n = 4096, rho = 0.5", xlabel = "features p",
    ylabel = "excess risk", logx = true, logy = true, key = "outside top center maxrows 3", series = {
      { label = "bound of the plan", x = p, y = bound, dashed = true },
      { label = "measured", x = p, y = mean, error = spread },
    } }
end

against_n()
against_family()
against_p()
