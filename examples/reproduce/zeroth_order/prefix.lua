-- prefix.lua -- private prefix sums by themselves: how much noise each method leaves on the sum of the first t of T leaves.
-- All are at the same guarantee (the article's rho = 1, which is 1/2 of zero-concentrated privacy) and leaf
-- sensitivity 1, so that the
-- variance of one coordinate is the factor that methods are compared by.
--   1. Factors over t at T = 1024, by t:variance and measured on streams of zeros (every coordinate is a run of its own): the
-- tree goes up and down with the number of ones in t and drops at every power of two; the factorizations rise like a logarithm.
--   2. Largest and mean factor for T = 8 to 16,384, beside closed forms, where there are such, and the bound that no
--      factorization's
-- mean factor is below.
--   penumbra examples/reproduce/zeroth_order/prefix.lua [folder]
-- Source: Dwork, Naor, Pitassi, Rothblum (2010); Chan, Shi, Song (2011); Honaker (2015); Hay et al. (2010); Henzinger, Upadhyay,
-- Upadhyay (2023); Dvijotham et al. (2024).
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local methods = {
  { name = "tree", factorization = "binary", estimator = "plain" },
  { name = "honaker", factorization = "binary", estimator = "honaker" },
  { name = "full", factorization = "binary", estimator = "full" },
  { name = "sqrt", factorization = "sqrt" },
  { name = "blt", factorization = "blt" },
  { name = "banded", factorization = "banded", bands = 8, fit = "optimal" },
}

local function stream(method, T, dim)
  return pn.tree { dim = dim or 1, horizon = T, sensitivity = 1, rho = 0.5, factorization = method.factorization,
    estimator = method.estimator, bands = method.bands and math.min(method.bands, T), fit = method.fit, bound = 1,
    rng = pn.rng.seeded(T) }
end

-- ---- 1. over t ----

local T, dim = common.size(64, 1024), common.size(2000, 4000)

-- Mean square of a release's coordinates: all leaves are zero.
local function measured(method)
  local tree, zero, found = stream(method, T, dim), pn.vec.zeros(dim), {}
  for t = 1, T do
    local release = tree:push(zero)
    found[t] = release:dot(release) / dim
  end
  if method.estimator ~= "full" then return found end
  local all = tree:all() -- what is released on the way is the tree's
  for t = 1, T do found[t] = all[t]:dot(all[t]) / dim end
  return found
end

print(("variance of prefix t, T = %d: exact, and over %d coordinates"):format(T, dim))
local rows = common.table("prefix", { "T", "method", "t", "exact", "measured" })
local exact, seen = {}, {}
for _, method in ipairs(methods) do
  local name, worst = method.name, 0
  exact[name], seen[name] = stream(method, T):variances():table(), measured(method)
  for t = 1, T do
    worst = math.max(worst, math.abs(seen[name][t] / exact[name][t] - 1))
    if t & (t - 1) == 0 or t & (t + 1) == 0 then rows:row(T, name, t, exact[name][t], seen[name][t]) end
  end
  -- a mean of `dim` squares is off by 7 standard deviations with probability below 1e-8 for 6 x 1024 of them together 1e-6
  common.expect(worst < 7 * math.sqrt(2 / dim), "%s: measured within %.3f of exact at every t", name, worst)
end

local function rises(name)
  for t = 2, T do
    if exact[name][t] < exact[name][t - 1] * (1 - 1e-12) then return false end
  end
  return true
end
local drops = true
for k = 2, math.log(T, 2) - 1 do -- from all ones to one, at 2^k
  drops = drops and math.abs(exact.tree[1 << k] / exact.tree[(1 << k) - 1] * k - 1) < 1e-6
end
common.expect(drops, "the tree's variance falls by the factor k at t = 2^k")
common.expect(rises "sqrt" and rises "blt", "that of sqrt and blt never falls")
rows:close()
local half = T // 2
common.expect(math.abs((exact.sqrt[T] - exact.sqrt[half]) / (exact.sqrt[T] * math.log(2) / math.pi)
  * (math.log(16 * T) + 0.5772157) / math.pi - 1) < 0.01, "sqrt grows by ln(2)/pi of z's variance when t doubles")

-- ---- 2. over T ----

-- Largest and mean factor of tree, honaker, full and sqrt, from closed forms (tree-mechanism: popcounts, inverse-variance weights,
-- least squares, sums of squared binomials), and the least mean factor of any factorization.
local published = {
  [8] = { tree = { 9, 5.25 }, honaker = { 6.7143, 3.7857 }, full = { 4.0381, 2.7429 }, sqrt = { 2.9528, 2.5149 }, least = 2.0689 },
  [16] = { tree = { 16, 8.5 }, honaker = { 11.0857, 5.8095 }, full = { 5.6114, 3.7565 }, sqrt = { 3.7787, 3.2285 },
    least = 2.6518 },
  [256] = { tree = { 64, 32.0625 }, honaker = { 38.4111, 19.2369 }, full = { 14.1160, 9.6239 }, sqrt = { 8.0148, 7.1224 },
    least = 6.1080 },
  [1024] = { tree = { 100, 50.0195 }, honaker = { 58.0286, 29.0241 }, full = { 19.6986, 13.5878 }, sqrt = { 10.7096, 9.6708 },
    least = 8.4657, blt = { 10.7122, 9.6727 }, banded = { 137.11 } },
  [16384] = { tree = { 196, 98.0017 }, honaker = { 109.2464, 54.6241 }, sqrt = { 17.2654, 15.9431 }, least = 14.3710,
    blt = { 17.3298, 15.9901 } },
}

local function least_mean(leaves) -- nuclear norm of the matrix of ones on and below the diagonal, over T, squared
  local sum = 0
  for j = 1, leaves do sum = sum + 0.5 / math.sin((2 * j - 1) * math.pi / (4 * leaves + 2)) end
  return (sum / leaves) ^ 2
end

print "\nlargest and mean factor"
local factors = common.table("prefix_factors", { "T", "method", "largest", "mean", "largest_known", "mean_known", "least_mean" },
  { largest_known = 13, mean_known = 10 })
local sizes = common.size({ 8, 16, 256 }, { 8, 16, 64, 256, 1024, 4096, 16384 })
local curves, found = {}, {}
for _, leaves in ipairs(sizes) do
  local known, least = published[leaves] or {}, least_mean(leaves)
  for _, method in ipairs(methods) do
    local name = method.name
    if name ~= "full" or leaves <= 4096 then
      local all = stream(method, leaves):variances()
      local largest, mean, beside = all:max(), all:sum() / leaves, known[name] or {}
      found[leaves .. name] = { largest, mean }
      factors:row(leaves, name, largest, mean, beside[1] or "", beside[2] or "", least)
      for i, value in ipairs { largest, mean } do
        common.expect_silently(not beside[i] or math.abs(value / beside[i] - 1) < 1e-4, "%s at T = %d: %.6g, known %.6g", name,
          leaves, value, beside[i] or 0)
      end
      common.expect_silently(mean >= least, "%s at T = %d: mean %.6g below %.6g", name, leaves, mean, least)
      curves[name] = curves[name] or { x = {}, y = {} }
      curves[name].x[#curves[name].x + 1], curves[name].y[#curves[name].y + 1] = leaves, mean
    end
  end
  common.expect_silently(not known.least or math.abs(least / known.least - 1) < 1e-4, "least mean at T = %d", leaves)
end
factors:close()

local compared = 0
for leaves, known in pairs(published) do
  for name, beside in pairs(known) do compared = compared + (type(beside) == "table" and found[leaves .. name] and 1 or 0) end
end
common.expect(compared >= 11, "%d pairs of factors are the known ones within 1e-4", compared)
local last = sizes[#sizes]
local top = { sqrt = found[last .. "sqrt"], blt = found[last .. "blt"], honaker = found[last .. "honaker"] }
common.expect(top.blt[1] / top.sqrt[1] < 1.005, "T = %d: 4 buffers have %.5f times sqrt's largest factor", last,
  top.blt[1] / top.sqrt[1])
common.expect(top.honaker[1] / top.sqrt[1] > 4, "T = %d: honaker has %.2f times sqrt's largest factor", last,
  top.honaker[1] / top.sqrt[1])
common.expect(top.sqrt[2] / least_mean(last) < 1.25, "T = %d: sqrt's mean factor is %.3f of the least there is", last,
  top.sqrt[2] / least_mean(last))

-- ---- figure ----

local function over_t()
  local series, shown = {}, math.min(T, 128)
  for k, name in ipairs { "tree", "honaker", "full", "sqrt" } do
    local x, y, some, dots = {}, {}, {}, {}
    for t = 1, shown do x[t], y[t] = t, exact[name][t] end
    for t = 1, shown, 4 do some[#some + 1], dots[#dots + 1] = t, seen[name][t] end
    series[#series + 1] = { label = name, x = x, y = y, dashed = 1, colour = k - 1 }
    series[#series + 1] = { label = name .. ", measured", x = some, y = dots, marks = true, colour = k - 1 }
  end
  return { title = ("first %d of %d leaves"):format(shown, T),
    xlabel = "t", ylabel = "variance of prefix t, s = 1, rho = 1", logy = true,
    series = series }
end

local function over_horizons()
  local series, least = {}, {}
  for k, name in ipairs { "tree", "honaker", "full", "sqrt", "blt" } do
    series[k] = { label = name, x = curves[name].x, y = curves[name].y, colour = k - 1, dashed = name == "blt" and 2 or nil }
  end
  for i, leaves in ipairs(sizes) do least[i] = least_mean(leaves) end
  series[#series + 1] = { label = "least of all", x = sizes, y = least, dashed = 3, colour = 6 }
  return { title = "mean over t; dotted: least of all, dashed: blt",
    xlabel = "T", ylabel = "mean variance, s = 1, rho = 1", logx = true, logy = true,
    series = series }
end

common.figure { name = "prefix", legend = 200, title = "Noise of private prefix sums", panels = { over_t(), over_horizons() } }
