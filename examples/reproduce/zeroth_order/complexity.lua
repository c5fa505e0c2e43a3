-- complexity.lua -- how many records a (delta, eps)-stationary point costs: M(eps), where the least bound over all
-- sizes of a method
-- falls to eps.  Two terms: what learning takes, from plans without privacy, and what privacy adds, from plans at so small a
-- rho that it is all.  The article's orders for the variance-reduced oracle: d/(delta eps^3) without privacy, and with it
-- d^(3/2)/(rho delta eps^2) for independent directions, d/(rho delta eps^2) for orthogonal ones; for the naive
-- oracle with its best batch
-- d/(delta eps^3), with orthogonal directions 1/(delta eps^3), and d^(3/2)/(rho delta eps^3) or d/(rho delta eps^3).  rho is the
-- article's: rho^2/2 of zero-concentrated privacy.
-- Slopes of what privacy adds are those of privacy where the same bound without it asks for a fifth of the records at most: its
-- control.
--   Nothing is run.  A plan with target= says how many records it would need, doubled until the bound is met;
--   between two powers of two
-- M is interpolated from the least targets that each of them meets.
--   penumbra examples/reproduce/zeroth_order/complexity.lua [folder]
-- Source: Zhang, Tran, Cutkosky (2024), Theorem 4.9; orthogonal directions and the constants of the bounds are not the article's.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local halvings = common.size(5, 8) -- of the interval that a least target is in

local methods = {
  { name = "VR iid tree", oracle = "variance_reduced", directions = "iid",
    prefix = { factorization = "binary", estimator = "plain" } },
  { name = "VR orth tree", oracle = "variance_reduced", directions = "orthogonal",
    prefix = { factorization = "binary", estimator = "plain" } },
  { name = "VR orth sqrt", oracle = "variance_reduced", directions = "orthogonal", prefix = { factorization = "sqrt" } },
  { name = "naive one", oracle = "naive", directions = "one" },
  { name = "naive orth", oracle = "naive", directions = "orthogonal" },
}

-- Exponents of d, eps, delta and rho.
local orders = {
  learning = { ["VR iid tree"] = { d = 1, eps = -3, delta = -1 }, ["VR orth tree"] = { d = 1, eps = -3, delta = -1 },
    ["VR orth sqrt"] = { d = 1, eps = -3, delta = -1 }, ["naive one"] = { d = 1, eps = -3, delta = -1 },
    ["naive orth"] = { d = 0, eps = -3, delta = -1 } },
  privacy = { ["VR iid tree"] = { d = 1.5, eps = -2, delta = -1, rho = -1 },
    ["VR orth tree"] = { d = 1, eps = -2, delta = -1, rho = -1 },
    ["VR orth sqrt"] = { d = 1, eps = -2, delta = -1, rho = -1 }, ["naive one"] = { d = 1.5, eps = -3, delta = -1, rho = -1 },
    ["naive orth"] = { d = 1, eps = -3, delta = -1, rho = -1 } },
}

-- ---- M(eps) ----

local objectives = {}
local function objective(d) -- two records, of which nothing is read
  objectives[d] = objectives[d] or pn.objective { data = pn.data.from(pn.mat.zeros(2, d), pn.vec.zeros(2)),
    loss = pn.loss.black_box { lipschitz = 1, value = function() return 0 end } }
  return objectives[d]
end

-- A power of two, or math.huge.
local function doubled(method, at, target)
  local options = { gap = 1, stationarity = at.delta, target = target, oracle = method.oracle, directions = method.directions,
    prefix = method.prefix, rho = at.rho and at.rho ^ 2 / 2 }
  if not at.rho then options.privacy = false end
  local text = tostring(pn.solve.zeroth_order.plan(objective(at.d), options)):gsub("%s+", " ")
  local records = tonumber(text:match "would need (%S+) records")
  return records and 2.0 ^ math.floor(math.log(records, 2) + 0.5) or math.huge
end

-- The least target that `records` meet, to 2^(1/2^halvings).
local function least_target(method, at, target, records)
  local above, below = target, target
  while doubled(method, at, above) > records do above = above * 2 end
  while doubled(method, at, below) <= records do below = below / 2 end
  for _ = 1, halvings do
    local middle = math.sqrt(above * below)
    if doubled(method, at, middle) <= records then above = middle else below = middle end
  end
  return math.sqrt(above * below)
end

local function needed(method, at)
  local records = doubled(method, at, at.eps)
  if records == math.huge then
    error(("complexity: no number of records brings the bound of %s to %g"):format(method.name, at.eps))
  end
  local of, of_half = least_target(method, at, at.eps, records), least_target(method, at, at.eps, records / 2)
  return records / 2 * 2 ^ math.min(1, math.max(0, math.log(of_half / at.eps) / math.log(of_half / of)))
end

-- ---- sweeps ----

local sweeps = {
  { by = "d", values = common.size({ 32, 256 }, { 16, 32, 64, 128, 256 }), eps = 0.1, delta = 0.5, rho = 0.02 },
  { by = "eps", values = common.size({ 0.2, 0.05 }, { 0.4, 0.2, 0.1, 0.05, 0.025 }), d = 16, delta = 0.5, rho = 4e-3 },
  { by = "delta", values = common.size({ 0.2, 0.05 }, { 0.4, 0.2, 0.1, 0.05 }), d = 16, eps = 0.1, rho = 4e-3 },
  { by = "rho", values = common.size({ 1e-2, 1e-3 }, { 3e-2, 1e-2, 3e-3, 1e-3 }), d = 16, eps = 0.1, delta = 0.5 },
}

print "records that a stationary point costs by the bounds, L = 1, gap = 1"
local rows = common.table("complexity", { "method", "term", "by", "d", "eps", "delta", "rho", "records" },
  { method = 12, term = 8 })

local function sweep(of, method, private)
  local found = { x = {}, y = {} }
  for i, value in ipairs(of.values) do
    local at = { d = of.d, eps = of.eps, delta = of.delta, rho = private and of.rho or nil }
    at[of.by] = value
    found.x[i], found.y[i] = value, needed(method, at)
    if private then
      at.rho = nil
      common.control(found.y[i], needed(method, at), "%s, %s = %g", method.name, of.by, value)
      at.rho = of.by == "rho" and value or of.rho
    end
    rows:row(method.name, private and "privacy" or "learning", of.by, at.d, at.eps, at.delta, at.rho or "none", found.y[i])
  end
  return found
end

local function expect_order(term, of, method, found)
  local measured, order = common.slope(found.x, found.y), orders[term][method.name][of.by]
  local slack = term == "learning" and 0.15 or 0.3 -- logarithms of T are in the second, and steepen it
  common.expect(math.abs(measured - order) <= slack, "%s, %s: slope %.3f in %s, order %g",
    method.name, term, measured, of.by, order)
end

local found = {}
for _, of in ipairs(sweeps) do
  for _, method in ipairs(methods) do
    for _, private in ipairs { false, true } do
      if private or of.by ~= "rho" then
        local term = private and "privacy" or "learning"
        local series = sweep(of, method, private)
        found[of.by .. term .. method.name] = series
        expect_order(term, of, method, series)
      end
    end
  end
end
rows:close()

-- ---- where privacy is free ----

-- By the article where rho >= sqrt(d) eps, for independent directions; the terms for orthogonal ones meet at rho = eps.
print "\nrecords with privacy over records without, against rho over what makes it free"
local free = common.table("complexity_free", { "method", "d", "eps", "rho", "rho_free", "ratio" }, { method = 12 })
local curves, limits = {}, { 0, 0 }
for k, method in ipairs { methods[1], methods[3] } do
  for _, d in ipairs(common.size({ 4 }, { 4, 16, 64 })) do
    local eps, curve = 0.1, { label = ("%s, d = %d"):format(method.name, d), x = {}, y = {}, colour = #curves }
    local without = needed(method, { d = d, eps = eps, delta = 0.5 })
    for i, share in ipairs(common.size({ 0.1, 1, 10 }, { 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30 })) do
      local at_one = method.directions == "iid" and math.sqrt(d) * eps or eps
      local ratio = needed(method, { d = d, eps = eps, delta = 0.5, rho = share * at_one }) / without
      free:row(method.name, d, eps, share * at_one, at_one, ratio)
      curve.x[i], curve.y[i] = share, ratio
      if share == 1 then limits[k] = math.max(limits[k], ratio) end
      common.expect_silently(share < 10 or ratio < 1.6,
        "%s, d = %d: %.3f times the records at %g times the rho that makes privacy free",
        method.name, d, ratio, share)
    end
    curves[#curves + 1] = curve
  end
end
free:close()
common.expect(limits[1] < 8 and limits[2] < 8,
  "at that rho, records are at most %.2f (iid, tree) and %.2f (orthogonal, sqrt) times as many",
  limits[1], limits[2])

-- ---- figure ----

local function panel(by, label)
  local series = {}
  for k, method in ipairs(methods) do
    local with, without = found[by .. "privacy" .. method.name], found[by .. "learning" .. method.name]
    series[#series + 1] = { label = method.name, x = with.x, y = with.y, colour = k - 1 }
    if without then
      series[#series + 1] = { label = method.name .. ", without privacy", x = without.x, y = without.y,
        dashed = true, colour = k - 1 }
    end
  end
  return { title = "against " .. by, xlabel = label, ylabel = "records M", logx = true, logy = true, key = false, series = series }
end

local first = panel("d", "dimension d")
first.key = nil
common.figure { name = "complexity", legend = 240, panels = { first, panel("eps", "eps") },
  title = "Records of a (delta, eps)-stationary point by the bounds, delta = 0.5; "
    .. "left eps = 0.1, rho = 0.02, right d = 16, rho = 0.004" }
common.figure { name = "complexity_free", title = "Records with privacy over records without, eps = 0.1, delta = 0.5", logx = true,
  logy = true, ticks = false, xlabel = "rho over sqrt(d) eps (iid), over eps (orthogonal)", ylabel = "ratio of records",
  key = "inside right top", series = curves }
