-- formulas.lua -- the losses of one margin once more, by hand: value, three derivatives in z, the places where any of them may
-- be extreme or break, and the same loss as a user would type it.  Independent of the runtime: plain Lua and textbook calculus.
-- Used by: the specs beside it.
local exp, log, sqrt, abs, max = math.exp, math.log, math.sqrt, math.abs, math.max

local function sigma(x)
  if x >= 0 then return 1 / (1 + exp(-x)) end
  return exp(x) / (1 + exp(x))
end
local function softplus(x) -- log(1 + e^x) to full precision: Lua has no log1p
  if x > 35 then return x + exp(-x) end
  local e = exp(x)
  local u = 1 + e
  return u == 1 and e or log(u) * e / (u - 1)
end
local function sign(x) return x > 0 and 1 or x < 0 and -1 or 0 end

-- places: margins (for label 1; -1 mirrors them) where a derivative up to the third has a maximum, minimum or break.
local inflection = log(2 + sqrt(3)) -- sigma'' is extreme where sigma (1 - sigma) = 1/6
local third = log((1 + sqrt(2 / 3)) / (1 - sqrt(2 / 3))) -- sigma''' where it is 1/12

-- A loss of the residual r = z - y from f and its derivatives in r.
local function of_residual(f, places)
  local out = { labels = "real", residual = true, places = places, order = f }
  for k, name in ipairs { "value", "slope", "curvature", "third" } do
    out[name] = function(z, y) return f[k](z - y) end
  end
  return out
end

-- A loss of t = y z from f and its derivatives in t, labels -1 and 1.
local function of_margin(f, places)
  local out = { labels = "binary", places = places }
  for k, name in ipairs { "value", "slope", "curvature", "third" } do
    out[name] = function(z, y) return y ^ (k - 1) * f[k](y * z) end
  end
  return out
end

local function zero() return 0 end

local M = {}

function M.squared()
  local out = of_residual({ function(r) return r * r / 2 end, function(r) return r end, function() return 1 end, zero }, { 0 })
  out.convex, out.smooth, out.twice_smooth = true, true, true
  out.typed = function() return function(z, y) return (z - y) ^ 2 / 2 end end
  return out
end

function M.huber(options)
  local d = options.delta or 1
  local out = of_residual({
    function(r) return abs(r) <= d and r * r / 2 or d * (abs(r) - d / 2) end,
    function(r) return abs(r) <= d and r or d * sign(r) end,
    function(r) return abs(r) <= d and 1 or 0 end, zero }, { -d, 0, d })
  out.convex, out.smooth = true, true
  out.typed = function(pn)
    return function(z, y)
      local r = z - y
      return pn.where(pn.le(pn.abs(r), d), r ^ 2 / 2, d * (pn.abs(r) - d / 2))
    end
  end
  return out
end

function M.absolute()
  local out = of_residual({ abs, sign, zero, zero }, { 0 })
  out.convex = true
  out.typed = function(pn) return function(z, y) return pn.abs(z - y) end end
  return out
end

function M.quantile(options)
  local tau = options.tau
  local out = of_residual({
    function(r) return max(-tau * r, (1 - tau) * r) end,
    function(r) return r < 0 and -tau or r > 0 and 1 - tau or -tau end, -- at the kink: of the first argument of max
    zero, zero }, { 0 })
  out.convex = true
  out.typed = function(pn) return function(z, y) return pn.max(tau * (y - z), (tau - 1) * (y - z)) end end
  return out
end

function M.cauchy(options)
  local c = options.scale or 1
  local out = of_residual({
    function(r)
      local u = (r / c) ^ 2
      local v = 1 + u
      return c * c / 2 * (v == 1 and u or log(v) * u / (v - 1))
    end,
    function(r) return r / (1 + (r / c) ^ 2) end,
    function(r) local u = (r / c) ^ 2 return (1 - u) / (1 + u) ^ 2 end,
    function(r) local u = r / c return 2 * u * (u * u - 3) / (c * (1 + u * u) ^ 3) end },
    { 0, c, -c, sqrt(3) * c, -sqrt(3) * c, (sqrt(2) - 1) * c, (1 - sqrt(2)) * c, (sqrt(2) + 1) * c, -(sqrt(2) + 1) * c })
  out.convex, out.smooth, out.twice_smooth = false, true, true
  out.typed = function(pn) return function(z, y) return c * c / 2 * pn.log1p(((z - y) / c) ^ 2) end end
  return out
end

function M.poisson()
  return {
    labels = "real", convex = true, smooth = true, twice_smooth = true,
    value = function(z, y) return exp(z) - y * z end,
    slope = function(z, y) return exp(z) - y end,
    curvature = function(z) return exp(z) end,
    third = function(z) return exp(z) end,
    places_for = function(y) return y > 0 and { log(y) } or {} end,
    typed = function(pn) return function(z, y) return pn.exp(z) - y * z end end,
  }
end

function M.logistic()
  local out = of_margin({
    function(t) return softplus(-t) end,
    function(t) return -sigma(-t) end,
    function(t) return sigma(t) * sigma(-t) end,
    function(t) return sigma(t) * sigma(-t) * (sigma(-t) - sigma(t)) end }, { 0, inflection, -inflection })
  out.convex, out.smooth, out.twice_smooth = true, true, true
  out.typed = function(pn) return function(z, y) return pn.log(1 + pn.exp(-y * z)) end end
  return out
end

function M.sigmoid()
  local out = of_margin({
    function(t) return sigma(-t) end,
    function(t) return -sigma(t) * sigma(-t) end,
    function(t) return -sigma(t) * sigma(-t) * (sigma(-t) - sigma(t)) end,
    function(t) return -sigma(t) * sigma(-t) * (1 - 6 * sigma(t) * sigma(-t)) end },
    { 0, inflection, -inflection, third, -third })
  out.convex, out.smooth, out.twice_smooth = false, true, true
  out.typed = function(pn) return function(z, y) return 1 / (1 + pn.exp(y * z)) end end
  return out
end

function M.hinge()
  local out = of_margin({
    function(t) return max(1 - t, 0) end,
    function(t) return t <= 1 and -1 or 0 end, -- at the kink: of the first argument of max
    zero, zero }, { 1 })
  out.convex = true
  out.typed = function(pn) return function(z, y) return pn.max(1 - y * z, 0) end end
  return out
end

function M.smooth_hinge(options)
  local w = options.width or 1
  local out = of_margin({
    function(t) local s = 1 - t return s <= 0 and 0 or s <= w and s * s / (2 * w) or s - w / 2 end,
    function(t) local s = 1 - t return s <= 0 and 0 or s <= w and -s / w or -1 end,
    function(t) local s = 1 - t return s <= 0 and 0 or s <= w and 1 / w or 0 end, zero }, { 1, 1 - w })
  out.convex, out.smooth = true, true
  out.typed = function(pn)
    return function(z, y)
      local t = 1 - y * z
      return pn.where(pn.le(t, 0), 0, pn.where(pn.le(t, w), t ^ 2 / (2 * w), t - w / 2))
    end
  end
  return out
end

-- Every loss with the options that the specs try.
M.cases = {
  { "squared", {} }, { "logistic", {} }, { "hinge", {} }, { "smooth_hinge", {} }, { "smooth_hinge", { width = 0.3 } },
  { "huber", {} }, { "huber", { delta = 0.7 } }, { "absolute", {} }, { "quantile", { tau = 0.3 } }, { "poisson", {} },
  { "sigmoid", {} }, { "cauchy", {} }, { "cauchy", { scale = 2.5 } },
}

local function title(name, options)
  local key = next(options)
  return key and ("%s{%s=%g}"):format(name, key, options[key]) or name
end

-- for name, loss, formula, title in M.each(pn)
function M.each(pn)
  local i = 0
  return function()
    i = i + 1
    local case = M.cases[i]
    if case then
      local name, options = case[1], case[2]
      return name, pn.loss[name](options), M[name](options), title(name, options)
    end
  end
end

-- The exact {low, high} of `part` over z in [z1, z2] and labels in [y1, y2], by looking wherever it may be extreme.
function M.extremes(formula, part, z, y)
  local low, high = math.huge, -math.huge
  local function look(a, b)
    local number = formula[part](a, b)
    low, high = math.min(low, number), math.max(high, number)
  end
  local function around(place, a, b, see) -- a break counts from both sides
    for _, d in ipairs { 0, -1e-9, 1e-9 } do
      if place + d >= a and place + d <= b then see(place + d) end
    end
  end
  if formula.residual then
    local a, b = z[1] - y[2], z[2] - y[1]
    look(a, 0)
    look(b, 0)
    for _, place in ipairs(formula.places) do around(place, a, b, function(r) look(r, 0) end) end
    return low, high
  end
  for _, label in ipairs(y) do
    if formula.labels ~= "binary" or abs(label) == 1 then
      look(z[1], label)
      look(z[2], label)
      for _, place in ipairs(formula.places or formula.places_for(label)) do
        around(formula.places and label * place or place, z[1], z[2], function(at) look(at, label) end)
      end
    end
  end
  return low, high
end

-- The admissible labels of a loss, for samples.
function M.some_labels(formula) return formula.labels == "binary" and { -1, 1 } or { -2.5, -1, 0, 0.3, 2 } end

return M
