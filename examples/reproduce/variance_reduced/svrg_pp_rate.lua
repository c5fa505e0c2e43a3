-- svrg_pp_rate.lua -- two promises about variance reduction.
--   1. SVRG++ on convex problems: excess in proportion to p^(1/2)/n where noise counts, with eta times all steps chosen as in the
--      article: t in proportion to n epsilon/(p ln(1/delta))^(1/2).  What is left of the start falls like 1/t, noise adds
--      p s^2 t.
--   2. SVRG with the steps of its theorem (eta = 1/(48 L), m = 192 kappa + 1), without noise: an epoch at least halves the gap.
-- One fixed problem cannot show the first rate unless it is hard at every size: with one curvature h the start is forgotten
-- within t = 1/h and the excess falls like n^-2.  So curvatures are spread evenly in logarithms over four decades, of sum L = 1
-- (spectrum.lua), and the minimiser has equal parts in all p directions: some of them always have a curvature near 1/t.  Huber
-- loss, whose residuals stay where it is quadratic.
-- As the article weighs steps and noise, half of the excess is there without noise, and slopes are those of the balance.  Runs
-- here take three times that t, after which a tenth is: the rest is the effect of privacy.  The control is the same plan
-- without noise, with a fifth of the excess at most.
--   "defaults" are the plan's own epochs, steps and batches; t does not follow p there.
--   penumbra examples/reproduce/variance_reduced/svrg_pp_rate.lua [folder]
-- Source: Wang, Ye, Xu (2017), Algorithms 1 and 2, Theorems 4.2 and 4.4.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")
local spectrum = dofile(here .. "../spectrum.lua")

local budget = { epsilon = 1, delta = 1e-6 }
local longer = 3 -- than the time at which what is left of the start and what noise adds are alike

-- ---- 1. SVRG++ ----

-- The minimiser is (1, 1, ..)/p^(1/2), where every loss is 0.
local function hard(n, p)
  local data = spectrum.records(n, p, function() return 1 / math.sqrt(p) end)
  return pn.objective { data = data, loss = pn.loss.huber { delta = 1 } }
end

-- Four epochs of 2 m, 4 m, 8 m and 16 m steps that take t together, each at most 1/(2 L) long.
local function paper_shape(n, p)
  local t = longer * n * budget.epsilon / (6 * math.sqrt(p * math.log(1 / budget.delta)))
  local inner = math.ceil(t / (30 * 0.5))
  return { epochs = 4, inner = inner, step = t / (30 * inner) }
end

local function measure(f, shape, runs)
  local options = { epsilon = budget.epsilon, delta = budget.delta }
  for key, value in pairs(shape) do options[key] = value end
  local plan = pn.solve.svrg_pp.plan(f, options)
  local mean, spread = common.excess(plan, runs, 0)
  local inner, batch = plan.lines["inner steps m"], plan.lines["batch b"]
  local free = pn.solve.svrg_pp(f, { privacy = false, rng = pn.rng.seeded(1), epochs = plan.iterations, inner = inner,
    batch = batch, step = plan.lines["step eta"] })
  common.control(mean, free.value, "svrg_pp, n = %d, p = %d", f.n, f.p)
  return { mean = mean, spread = spread, free = free.value, inner = inner, batch = batch, gradients = plan.lines.gradients }
end

print(("svrg_pp, epsilon = %g, delta = %g: mean excess, and that of the same steps without noise"):format(budget.epsilon,
  budget.delta))
local rows = common.table("svrg_pp_rate", { "steps", "n", "p", "m", "batch", "gradients", "excess", "std_error", "noise_free" })

local function sweep(name, sizes, shape_of)
  local s = { n = {}, p = {}, mean = {}, spread = {}, free = {} }
  for i, size in ipairs(sizes) do
    local n, p = size[1], size[2]
    local row = measure(hard(n, p), shape_of(n, p), common.size(60, math.max(20, math.min((1 << 20) // n, 60))))
    rows:row(name, n, p, row.inner, row.batch, row.gradients, row.mean, row.spread, row.free)
    s.n[i], s.p[i], s.mean[i], s.spread[i], s.free[i] = n, p, row.mean, row.spread, row.free
  end
  local most = 0
  for i, free in ipairs(s.free) do most = math.max(most, free / s.mean[i]) end
  common.expect(most <= 1 / 5, "%s steps: without noise there is %.2f of the excess at most", name, most)
  return s
end

local function defaults() return {} end

local function expect_slope(name, s, key, promised)
  local slope = common.slope(s[key], s.mean)
  common.expect(math.abs(slope - promised) <= 0.2, "%s: slope %.3f in %s, %g +- 0.2 promised", name, slope, key, promised)
end

local function panel(key, title, label, paper, own)
  local line, middle = {}, (#paper[key] + 1) // 2
  for i, x in ipairs(paper[key]) do line[i] = paper.mean[middle] * (x / paper[key][middle]) ^ (key == "n" and -1 or 0.5) end
  return { title = title, xlabel = label, ylabel = "excess risk", logx = true, logy = true,
    key = "outside top center maxrows 2 samplen 2", series = {
      { label = key == "n" and "slope -1" or "slope 1/2", x = paper[key], y = line, dashed = 3, colour = 2 },
      { label = "article's steps", x = paper[key], y = paper.mean, error = paper.spread, colour = 0 },
      { label = "without noise", x = paper[key], y = paper.free, dashed = true, colour = 0 },
      { label = "defaults", x = own[key], y = own.mean, error = own.spread, colour = 1 },
    } }
end

local function against_n()
  local sizes = {}
  for exponent = 12, common.size(14, 16) do sizes[#sizes + 1] = { 1 << exponent, 16 } end
  local paper, own = sweep("article", sizes, paper_shape), sweep("defaults", sizes, defaults)
  expect_slope("article's steps", paper, "n", -1)
  print(("  defaults: slope %.3f in n"):format(common.slope(own.n, own.mean)))
  return panel("n", "SVRG++, p = 16", "records n", paper, own)
end

local function against_p()
  local sizes, n = {}, common.size(1 << 13, 1 << 14)
  for exponent = 3, common.size(5, 7) do sizes[#sizes + 1] = { n, 1 << exponent } end
  local paper, own = sweep("article", sizes, paper_shape), sweep("defaults", sizes, defaults)
  expect_slope("article's steps", paper, "p", 0.5)
  print(("  defaults: slope %.3f in p"):format(common.slope(own.p, own.mean)))
  return panel("p", ("SVRG++, n = %d"):format(n), "features p", paper, own)
end

-- ---- 2. the theorem's steps, without noise ----

-- Squared loss with an elastic net: mu is that of the regulariser.
local function lasso(condition)
  local n, p, rng = 500, 40, pn.rng.seeded(3)
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, n do
    local row = pn.vec.normal(p, rng)
    X[i]:axpy(1 / row:norm(), row)
    y[i] = 2 * (X:get(i, 1) - X:get(i, 2) + X:get(i, 3)) + 0.1 * (2 * rng:uniform() - 1)
  end
  return pn.objective { data = pn.data.from(X, y):clip_rows("l2", 1), loss = pn.loss.squared(),
    reg = pn.reg.elastic_net { l1 = 0.003, l2 = 1 / condition } }
end

-- Gap after each epoch, mean over runs, down to what a double can tell; and how many entries of the last answer are exactly 0.
local function gaps(f, plan, runs)
  local best, sums, zeros = pn.solve.exact(f, { tol = 1e-13 }).value, {}, 0
  for seed = 1, runs do
    local theta
    for state in plan:steps { rng = pn.rng.seeded(seed) } do
      theta = state.theta
      sums[state.step] = (sums[state.step] or 0) + (f:value(theta) - best) / runs
    end
    for j = 1, f.p do zeros = zeros + (theta[j] == 0 and 1 or 0) end
  end
  return sums, zeros / runs
end

local function epochs_panel()
  print "svrg, preset theory, without noise: gap after each epoch on an elastic net"
  local out = common.table("svrg_pp_rate_epochs", { "kappa", "m", "epoch", "gap", "of_the_last" })
  local series = {}
  for k, condition in ipairs { 10, 100 } do
    local f = lasso(condition)
    local plan = pn.solve.svrg.plan(f, { privacy = false, preset = "theory", epochs = 6 })
    local start = f:value(pn.vec.zeros(f.p)) - pn.solve.exact(f, { tol = 1e-13 }).value
    local found, zeros = gaps(f, plan, common.size(1, 4))
    local x, y, promised, worst = { 0 }, { start }, { start }, 0
    for epoch, gap in ipairs(found) do
      if gap < 1e-13 then break end
      local share = gap / y[epoch]
      out:row(condition, plan.lines["inner steps m"], epoch, gap, share)
      x[epoch + 1], y[epoch + 1], promised[epoch + 1], worst = epoch, gap, start / 2 ^ epoch, math.max(worst, share)
    end
    common.expect(#x > 4 and worst < 0.5, "kappa = %d: an epoch leaves at most %.3f of the gap", condition, worst)
    common.expect(zeros >= 1, "kappa = %d: %.1f of %d entries are exactly 0", condition, zeros, f.p)
    series[#series + 1] = { label = ("kappa %d: promised"):format(condition), x = x, y = promised, dashed = true,
      colour = k - 1 }
    series[#series + 1] = { label = ("kappa %d: measured"):format(condition), x = x, y = y, colour = k - 1 }
  end
  out:close()
  return { title = "SVRG without noise, the theorem's steps", xlabel = "epoch", ylabel = "gap", logy = true,
    key = "outside top center maxrows 2 samplen 2", series = series }
end

local first, second = against_n(), against_p()
rows:close()
common.figure { name = "svrg_pp_rate", title = "Variance reduction: rates, epsilon = 1",
  panels = { first, second, epochs_panel() } }
