-- samplings.lua -- block-coordinate Frank-Wolfe under the samplings of Table 1, each against its bound.
-- Shown: the gap f(x_t) - f*, mean over seeds, and the bound 2 (h0 + C/p_min)/(p_min t + 2) with the true h0 and C.
-- 1. Least squares over [-1, 1]^12, columns that are alike and correlated, 3 parties of 4 columns; C by pn.curvature, exact by
--    corners.  The gap falls like 1/t^2: steps of 2/(t + 2) around an optimum that few vertices span do (Wirth, Kerdreux, Pokutta
--    2023).
-- 2. 12 simplices in R^2000 and |x|^2/2: every step needs new vertices, and the gap falls like 1/t, as the bound does.
-- 3. Least squares again with columns of very different length, one block at a time.  The universal step pays for uneven
--    probabilities, compensated steps gain by p ~ sqrt(C_i).
-- Printed besides: the bounds of C (Propositions 1, 3, 4), and the example for which the article's Proposition 4 is false.
--   penumbra examples/reproduce/federated/samplings.lua [folder]
-- Source: Lou, Cheung (2018), Algorithm 1, Theorem 1, Table 1.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local n, d, K = 60, 12, 3
local seeds = common.size(5, 20)
local marks = common.quick and { 1, 4, 16, 64, 256, 1024 } or { 1, 4, 16, 64, 256, 1024, 4096 }

local zeros = {}
for j = 1, d do zeros[j] = 0 end

-- Columns share a factor, so that moving several of them at once bends more than moving them one by one.
local function problem(seed, scale)
  local rng, rows, y = pn.rng.seeded(seed), {}, {}
  for i = 1, n do
    local common_part, sum = 2 * rng:uniform() - 1, 0
    rows[i] = {}
    for j = 1, d do
      rows[i][j] = scale(j) * (0.6 * common_part + 0.4 * (2 * rng:uniform() - 1))
      sum = sum + (j % 2 == 0 and -1 or 1.3) * rows[i][j]
    end
    y[i] = sum + 0.2 * (2 * rng:uniform() - 1)
  end
  local set = pn.set.linf_ball { dim = d, radius = 1 }
  local obj = pn.objective { data = pn.data.from(rows, y), loss = pn.loss.squared(), set = set }
  local bends = {} -- C_i = 4 H_ii
  for j = 1, d do
    bends[j] = 0
    for i = 1, n do bends[j] = bends[j] + 4 * rows[i][j] ^ 2 / n end
  end
  local best = pn.solve.exact(obj, { tol = 1e-11 }).value
  return { obj = obj, best = best, gap = obj:value(zeros) - best, bends = bends, marks = marks, seeds = seeds, name = "" }
end

local tab = common.table("samplings", { "sampling", "p_min", "E|T|", "C", "eso", "mu", "gap", "bound", "share", "slope" },
  { sampling = 30 })

-- The mean gap and the bound at every mark; a row of the table; two series of one colour.
local function measure(at, name, options, C, colour, found)
  local gaps, bounds, m = {}, {}, #at.marks
  options.privacy, options.gap, options.curvature, options.start = false, at.gap, C, at.start
  options.iterations = at.marks[m] + 1
  local plan = pn.solve.block_frank_wolfe.plan(at.obj, options)
  for seed = 1, at.seeds do
    local trace = plan:run { rng = pn.rng.seeded(seed) }.trace
    for k, t in ipairs(at.marks) do gaps[k] = (gaps[k] or 0) + (trace[t + 1].value - at.best) / at.seeds end
  end
  for k, t in ipairs(at.marks) do
    options.iterations = t
    bounds[k] = pn.solve.block_frank_wolfe.plan(at.obj, options).bound
    common.expect_silently(gaps[k] <= bounds[k], "%s: gap %.3g after %d steps below its bound %.3g", name, gaps[k], t, bounds[k])
  end
  local slope = common.slope({ table.unpack(at.marks, m - 2) }, { table.unpack(gaps, m - 2) })
  local s = options.sampling
  tab:row(at.name .. name, s.least, s.mean, C, found and found.eso or "-", found and found.mu or "-", gaps[m], bounds[m],
    gaps[m] / bounds[m], slope)
  common.expect_silently(common.quick or slope < -0.9, "%s: slope %.2f, at least as fast as 1/t", name, slope)
  local dashed = { label = colour == 0 and "dashed: bounds" or "", x = at.marks, y = bounds, colour = colour, dashed = true }
  return { label = name, x = at.marks, y = gaps, colour = colour }, dashed, bounds[m], slope
end

-- ---- the samplings of Table 1 ----

local alike = problem(1, function() return 1 end)
local series, table1 = {}, {
  { "all", pn.sampling.full { blocks = d } },
  { "distributed, 3 x 2", pn.sampling.distributed { blocks = d, groups = K, tau = 2 } },
  { "nice, 6", pn.sampling.nice { blocks = d, tau = 6 } },
  { "distributed, 3 x 1", pn.sampling.distributed { blocks = d, groups = K, tau = 1 } },
  { "one at a time", pn.sampling.serial { blocks = d } },
}
for k, row in ipairs(table1) do
  local C = pn.curvature(alike.obj, row[2])
  common.expect_silently(C.exact and C.value <= C.eso * (1 + 1e-12) and C.value <= (C.mu or math.huge) * (1 + 1e-12),
    "%s: C = %.4g is exact and below its bounds", row[1], C.value)
  series[2 * k - 1], series[2 * k] = measure(alike, row[1], { sampling = row[2] }, C.value, k - 1, C)
end

-- ---- the same where vertices do not run out ----

local size = common.size(300, 2000)
local function simplices()
  local p, one, i, x = d * size, pn.set.simplex { dim = size }, {}, {}
  for j = 1, p do i[j], x[j] = j, math.sqrt(p) end
  local set, start = one, pn.vec.zeros(p)
  for k = 1, d do
    if k > 1 then set = set:product(one) end
    start[(k - 1) * size + 1] = 1
  end
  local eye = pn.data.from(pn.sparse { rows = p, cols = p, i = i, j = i, x = x }, pn.vec.zeros(p))
  return { obj = pn.objective { data = eye, loss = pn.loss.squared(), set = set }, start = start, best = d / size / 2,
    gap = d * (1 - 1 / size) / 2, marks = common.quick and { 1, 4, 16, 64 } or { 1, 4, 16, 64, 256, 1024 }, seeds = 2,
    name = "simplices: " }
end

local many, flat_series, slopes = simplices(), {}, {}
for k, row in ipairs(table1) do
  local gaps, bounds, _, slope = measure(many, row[1], { sampling = row[2] }, 2 * row[2].mean, k - 1)
  flat_series[2 * k - 1], flat_series[2 * k], slopes[k] = gaps, bounds, slope
end
common.expect(true, "every mean gap is below its bound at every mark, and falls at least like 1/t")
common.expect(common.quick or slopes[1] > -1.2, "among simplices of %d vertices no faster: slope %.2f with all blocks", size,
  slopes[1])

-- ---- importance sampling ----

local uneven = problem(2, function(j) return 0.75 ^ (j - 1) end)
local roots, sum, flat = {}, 0, 0
for j = 1, d do sum = sum + math.sqrt(uneven.bends[j]) end
for j = 1, d do
  roots[j] = math.sqrt(uneven.bends[j]) / sum
  flat = flat + uneven.bends[j] / d
end
local uniform, weighted = pn.sampling.serial { blocks = d }, pn.sampling.serial { blocks = d, p = roots }
local spread, bound = {}, {}
local C = pn.curvature(uneven.obj, uniform)
common.expect(math.abs(C.value / flat - 1) < 1e-9, "uniform: C = sum C_i/d = %.4g", flat)
spread[1], spread[2], bound.uniform = measure(uneven, "uniform, universal step", { sampling = uniform }, C.value, 5, C)
local W = pn.curvature(uneven.obj, weighted)
spread[3], spread[4], bound.weighted = measure(uneven, "sqrt(C_i), universal", { sampling = weighted }, W.value, 6, W)
spread[5], spread[6], bound.compensated = measure(uneven, "sqrt(C_i), compensated",
  { sampling = weighted, step = "compensated" }, sum ^ 2 / d ^ 2, 7)
tab:close()
common.expect(bound.weighted > bound.uniform and bound.compensated < bound.uniform,
  "uneven p costs the universal step (bound %.3g against %.3g) and gains with compensated ones (%.3g)", bound.weighted,
  bound.uniform, bound.compensated)

-- ---- Proposition 4 ----

local row = {}
for j = 1, 6 do row[j] = 1 end
local ones = pn.objective { data = pn.data.from({ row }, { 0 }), loss = pn.loss.squared(),
  set = pn.set.linf_ball { dim = 6, radius = 1 } }
for _, tau in ipairs { 2, 3 } do
  local found = pn.curvature(ones, pn.sampling.distributed { blocks = 6, groups = 2, tau = tau })
  local printed = 2 * tau * 4 + 2 * tau * (tau - 1) * 4 + 2 * 4
  common.expect(found.exact and found.value > printed and math.abs(found.mu - found.value) < 1e-9,
    "one row of ones, 2 x %d: C = %g, K(K-1)tau^2 mu3 gives %g, the article's K(K-1)mu3 gives %g", tau, found.value, found.mu,
    printed)
end

common.figure {
  name = "samplings", title = "Block-coordinate Frank-Wolfe: gap, mean over seeds, and bound", legend = 210,
  panels = {
    { title = "box, 12 intervals of 3 parties", xlabel = "step t", ylabel = "f(x_t) - f*", logx = true, logy = true,
      series = series },
    { title = ("12 simplices of %d vertices"):format(size), xlabel = "step t", ylabel = "f(x_t) - f*", logx = true, logy = true,
      series = flat_series },
  },
}
common.figure {
  name = "samplings_importance", title = "One block at a time, uneven columns: gap and bound (dashed)", xlabel = "step t",
  ylabel = "f(x_t) - f*", logx = true, logy = true, series = spread,
}
