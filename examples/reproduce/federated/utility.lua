-- utility.lua -- what a federated private lasso costs: excess risk against n, K, tau, epsilon and the uplink.
-- Median and quartiles over seeded runs, above the optimum of the l1 ball ("excess") and above that of the set in which a mode
-- moves ("own"): for mode "product" the product of the parties' balls.  Beside it the private Frank-Wolfe that has all columns in
-- one place, with the same data and budget, no noise, and theta = 0, which needs no data at all.
-- Columns are dense (+-1 everywhere) or have 64 entries, whatever n is.  No 64 entries of n records can move the loss by more than
-- 64 r/n: with columns of that kind everything decays like 1/n, theta = 0, too.
--   penumbra examples/reproduce/federated/utility.lua [folder]
-- Source: Lou, Cheung (2018), Algorithm 2, as corrected; its mode "paper" is simulated, and neither private nor feasible.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local runs, d, delta, few = common.size(3, 11), common.size(16, 40), 1e-6, 64
local tab = common.table("utility",
  { "columns", "n", "K", "tau", "epsilon", "sketch", "m", "mode", "T", "excess", "low", "high", "own", "bound", "estimate",
    "uplink" },
  { mode = 17, columns = 7, sketch = 8, n = 6, K = 3, tau = 4, epsilon = 7, m = 6, T = 5 })

-- ---- data ----

-- `entries` entries +-1 in every column; five columns with weight +-0.2, label noise of deviation 0.1.
local function sparse_columns(n, entries, seed)
  local rng, i, j, x, y = pn.rng.seeded(seed), {}, {}, {}, {}
  for row = 1, n do y[row] = 0.1 * math.sqrt(12) * (rng:uniform() - 0.5) end
  for column = 1, d do
    local weight, stride = column % (d // 5) == 1 and 0.2 or 0, n // entries
    for entry = 0, entries - 1 do
      local row, value = entry * stride + 1 + math.floor(rng:uniform() * stride), rng:uniform() < 0.5 and -1 or 1
      local k = #i + 1
      i[k], j[k], x[k] = row, column, value
      y[row] = y[row] + weight * value
    end
  end
  return pn.data.from(pn.sparse { rows = n, cols = d, i = i, j = j, x = x }, y):clip_rows("linf", 1):clip_labels(-1, 1)
end

local function over(data, set)
  return pn.objective { data = data, loss = pn.loss.squared(), set = set }
end

-- The least over the product of K balls of radius 1/K.
local function product_optimum(data, K)
  local set, left = nil, data.p
  for k = 1, K do
    local columns = left // (K - k + 1) + (left % (K - k + 1) > 0 and 1 or 0)
    local ball = pn.set.l1_ball { dim = columns, radius = 1 / K }
    left, set = left - columns, set and set:product(ball) or ball
  end
  return pn.solve.exact(over(data, set), { tol = 1e-8 }).value
end

local function problem(kind, n)
  local data = kind == "dense" and pn.data.synthetic.lasso { n = n, p = d, sparsity = 5, signal = 1, seed = 3 }
    or sparse_columns(n, few, 3)
  local obj = over(data, pn.set.l1_ball { dim = d, radius = 1 })
  local best = pn.solve.exact(obj, { tol = 1e-8 }).value
  return { kind = kind, n = n, data = data, obj = obj, best = best, zero = obj:value(pn.vec.zeros(d)) - best, least = {} }
end

local function own_optimum(at, K, mode)
  if mode ~= "product" then return at.best end
  at.least[K] = at.least[K] or product_optimum(at.data, K)
  return at.least[K]
end

-- ---- one line of the table ----

-- Options of the run, and `K`, `name`.  The plan, the median and its quartiles, above the l1 ball's optimum.
local function measure(at, o)
  local K, mode = o.K or 4, o.mode or "product"
  local transport = pn.federated.in_process { parties = K }
  local private = o.privacy ~= false
  local plan = pn.solve.federated_frank_wolfe.plan(at.obj, {
    transport = transport, mode = mode, sampled = o.tau, clip = o.clip, iterations = o.T, privacy = o.privacy, stay = o.stay,
    sketch = o.sketch or { kind = "identity" }, rho = o.rho,
    epsilon = private and not o.rho and (o.epsilon or 4) or nil, delta = private and not o.rho and delta or nil,
  })
  local times, uplink = private and (o.runs or runs) or 1, 0
  local mid, low, high = common.quartiles(times, function(seed)
    local value = plan:run { rng = pn.rng.seeded(seed), progress = false }.value
    uplink = uplink + transport.uplink.scalars / times -- of this run: counting begins anew with each
    return value - at.best
  end)
  local own = mid + at.best - own_optimum(at, K, mode)
  local bound = plan.bound or 0 / 0
  local told = bound == bound
  tab:row(at.kind, at.n, K, o.tau or "all", private and (o.rho and "rho " .. o.rho or o.epsilon or 4) or "-",
    o.sketch and o.sketch.kind or "identity", o.sketch and o.sketch.m or at.n, o.name or mode, plan.iterations,
    mid, low, high, own, told and bound or "-",
    plan.predicted and plan.predicted > 0 and plan.predicted or "-", math.floor(uplink + 0.5))
  if told then
    common.expect_silently(own < bound and high < bound, "%s, n = %d, %s: excess %.3g below its bound %.3g", at.kind, at.n,
      o.name or mode, high, bound)
  end
  return { mid = mid, low = low, high = high, own = own, bound = bound, uplink = uplink, T = plan.iterations }
end

local function central(at, epsilon)
  local plan = pn.solve.frank_wolfe.plan(at.obj, { epsilon = epsilon, delta = delta, preset = "theory" })
  local mid, low, high = common.quartiles(runs, function(seed)
    return plan:run { rng = pn.rng.seeded(seed), progress = false }.value - at.best
  end)
  tab:row(at.kind, at.n, 1, "all", epsilon, "-", "-", "one place", plan.iterations, mid, low, high, mid, plan.bound, "-", "-")
  common.expect_silently(high < plan.bound, "one place, n = %d: excess %.3g below its bound %.3g", at.n, high, plan.bound)
  return { mid = mid, low = low, high = high, own = mid, bound = plan.bound }
end

-- A series of a figure, grown point by point.
local function series(label, colour, dashed)
  return { label = label, colour = colour, dashed = dashed, x = {}, y = {}, low = not dashed and {} or nil,
    high = not dashed and {} or nil }
end
local function add(to, x, found)
  local k = #to.x + 1
  to.x[k], to.y[k] = x, found.mid
  if to.low then to.low[k], to.high[k] = found.low, found.high end
end

-- ---- against n ----

local sizes = common.quick and { 500, 2000 } or { 2000, 4000, 8000, 16000 }
local slopes, panels = {}, {}
for _, kind in ipairs { "dense", "sparse" } do
  local s = { series("product", 0), series("product, clip = 0", 1), series("ball", 2), series("paper (not private)", 3),
    series("one place", 4), series("no noise, product", 6, true), series("theta = 0", 7, true) }
  local own, unclipped, zero = {}, {}, {}
  for k, n in ipairs(sizes) do
    local at = problem(kind, n)
    local found = measure(at, {})
    add(s[1], n, found)
    own[k], zero[k] = found.own, at.zero
    found = measure(at, { clip = 0, name = "product, clip = 0" })
    add(s[2], n, found)
    unclipped[k] = found.own
    add(s[3], n, measure(at, { mode = "ball" }))
    add(s[4], n, measure(at, { mode = "paper", sketch = { kind = "sparse", m = 64 }, runs = common.size(1, 3),
      T = common.quick and 20 or nil }))
    add(s[5], n, central(at, 4))
    add(s[6], n, measure(at, { privacy = false, T = common.size(50, 200), name = "no noise" }))
    add(s[7], n, { mid = at.zero })
    tab:row(kind, n, "-", "-", "-", "-", "-", "theta = 0", 0, at.zero, at.zero, at.zero, at.zero, "-", "-", 0)
  end
  slopes[kind] = { own = common.slope(sizes, own), unclipped = common.slope(sizes, unclipped), zero = common.slope(sizes, zero) }
  panels[#panels + 1] = { title = kind == "dense" and "dense columns" or few .. " entries a column", xlabel = "records n",
    ylabel = "excess risk", logx = true, logy = true, series = s }
end

-- A budget for which the bound says something: no plan of epsilon = 4 has one below h0.
for _, n in ipairs(sizes) do
  local found = measure(problem("dense", n), { rho = 2000, name = "product, rich", runs = common.size(2, 3),
    T = common.size(50, 200) })
  common.expect_silently(found.bound < 0.5, "n = %d: the bound %.3g promises something", n, found.bound)
end
common.expect(true, "excess is below the plan's bound wherever it has one, at every n")
if not common.quick then -- two small sizes have no slope
  common.expect(slopes.sparse.own < slopes.dense.own - 0.2,
    "T from the plan: sparse columns decay faster, slope %.2f against %.2f of dense ones", slopes.sparse.own, slopes.dense.own)
  common.expect(slopes.sparse.unclipped < slopes.dense.unclipped - 0.2,
    "without clip, too: %.2f against %.2f; and theta = 0 has %.2f and %.2f", slopes.sparse.unclipped, slopes.dense.unclipped,
    slopes.sparse.zero, slopes.dense.zero)
end

-- ---- against K, tau, epsilon, uplink ----

local at = problem("dense", common.size(1000, 8000))
local price = {}
local function panel(title, xlabel, list)
  price[#price + 1] = { title = title, xlabel = xlabel, ylabel = "excess risk", logx = true, logy = true, series = list }
end
local one = central(at, 4)

local by_K = { series("product", 0), series("ball", 2), series("one place", 4, true), series("optimum of the product", 6, true) }
for _, K in ipairs(common.quick and { 1, 4 } or { 1, 2, 4, 8, 16 }) do
  add(by_K[1], K, measure(at, { K = K }))
  add(by_K[2], K, measure(at, { K = K, mode = "ball" }))
  add(by_K[3], K, one)
  if K > 1 then add(by_K[4], K, { mid = own_optimum(at, K, "product") - at.best }) end
end
panel("dense, against K", "parties K", by_K)

local by_tau = {}
for _, tau in ipairs(common.quick and { 1, 4 } or { 1, 2, 5, 10 }) do
  by_tau[#by_tau + 1] = { tau, measure(at, { tau = tau }), measure(at, { tau = tau, mode = "ball", stay = tau < d // 4 }) }
end
common.expect(by_tau[1][2].mid > by_tau[#by_tau][2].mid,
  "one column of each party in a round costs: %.3g with tau = 1, %.3g with all", by_tau[1][2].mid, by_tau[#by_tau][2].mid)

local by_budget = { series("product", 0), series("ball", 2), series("one place", 4), series("theta = 0", 7, true) }
for _, epsilon in ipairs(common.quick and { 1, 8 } or { 0.5, 1, 2, 4, 8, 16 }) do
  add(by_budget[1], epsilon, measure(at, { epsilon = epsilon }))
  add(by_budget[2], epsilon, measure(at, { epsilon = epsilon, mode = "ball" }))
  add(by_budget[3], epsilon, central(at, epsilon))
  add(by_budget[4], epsilon, { mid = at.zero })
end
panel("dense, against the budget", "epsilon", by_budget)

local by_uplink = { series("gaussian sketch", 0), series("sparse sketch", 1), series("identity", 2) }
for k, kind in ipairs { "gaussian", "sparse", "identity" } do
  for _, m in ipairs(kind == "identity" and { at.n } or common.quick and { 32 } or { 16, 64, 256, 1024 }) do
    local found = measure(at, { sketch = { kind = kind, m = kind ~= "identity" and m or nil },
      runs = kind == "gaussian" and common.size(1, 7) or nil })
    add(by_uplink[k], found.uplink, found)
  end
end
by_uplink[4] = series("one place", 4, true)
add(by_uplink[4], by_uplink[1].x[1], one)
add(by_uplink[4], by_uplink[3].x[1], one)
panel("dense, against the uplink", "scalars up", by_uplink)
price[#price].ticks = false
tab:close()

common.figure { name = "utility", title = ("Federated private lasso, d = %d, K = 4, epsilon = 4: median and quartiles"):format(d),
  panels = panels, legend = 230 }
for _, one_panel in ipairs(price) do one_panel.key = "outside top center maxrows 2" end
common.figure { name = "utility_price", title = ("Dense columns, n = %d, d = %d, epsilon = 4, K = 4"):format(at.n, d),
  panels = price }
