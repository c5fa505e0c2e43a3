-- check_functions.lua -- what every norm, potential and proximal operator promises.  Depends on: nothing but their methods.
-- Used by: penumbra.check.  Laws return their worst violation, relative; nil where they do not apply.

local function worst_of(values)
  local worst = 0
  for _, value in ipairs(values) do
    if value ~= value then return value end
    worst = math.max(worst, value)
  end
  return worst
end

-- The worst of rows { violation, what is to be said of it, ... }: its violation, and that said.
local function worst_row(rows)
  local worst, at = 0, nil
  for _, row in ipairs(rows) do
    if worst == worst and not (row[1] <= worst) then worst, at = row[1], row end -- NaN stays
  end
  if not at then return 0 end
  local said = {}
  for k = 3, #at do said[k - 2] = type(at[k]) == "number" and ("%.10g"):format(at[k]) or tostring(at[k]) end
  return worst, at[2]:format(table.unpack(said))
end

local function list()
  local laws = {}
  return laws, function(name, test, tolerance)
    laws[#laws + 1] = { name, test, tolerance }
  end
end

local DIM = 5 -- for pieces that take any dimension

local function dim_of(piece, probe)
  local dim = probe.set and probe.set.dim or piece.dim
  return dim and dim > 0 and dim or DIM
end

-- ---- norms ----

local norm, norm_law = list()

norm_law("norm: positive, homogeneous, N(x + y) <= N(x) + N(y)", function(N, probe)
  local off, dim = {}, dim_of(N, probe)
  local zero = N(0 * probe.normal(dim))
  off[1] = { math.abs(zero), "N(0) = %s", zero }
  for _ = 1, probe.count do
    local x, y = probe.normal(dim), probe.normal(dim)
    local a, b = N(x), N(y)
    if not (a > 0) then return math.huge, "N(x) = " .. tostring(a) .. " for x = " .. tostring(x) end
    local sum, multiple = N(x + y), N(-2.5 * x)
    off[#off + 1] = { (sum - a - b) / (a + b), "N(x + y) = %s above N(x) + N(y) = %s at x = %s, y = %s", sum, a + b, x, y }
    off[#off + 1] = { math.abs(multiple - 2.5 * a) / (2.5 * a), "N(-2.5 x) = %s, 2.5 N(x) = %s at x = %s", multiple, 2.5 * a, x }
  end
  return worst_row(off)
end)

norm_law("dual norm: |<x, y>| <= N(x) N*(y), attained on the unit ball", function(N, probe)
  local off, dim = {}, dim_of(N, probe)
  local dual, ball = N:dual(), N:ball(dim)
  for _ = 1, probe.count do
    local x, y = probe.normal(dim), probe.normal(dim)
    local bound, product = N(x) * dual(y), math.abs(x:dot(y))
    off[#off + 1] = { (product - bound) / bound, "|<x, y>| = %s above N(x) N*(y) = %s at x = %s, y = %s", product, bound, x, y }
    local value, v = ball:support(y)
    local star, reached = dual(y), N(v)
    off[#off + 1] = { math.abs(value - star) / value, "N*(y) = %s, max <x, y> = %s at y = %s", star, value, y }
    off[#off + 1] = { reached - 1, "N(v) = %s above 1 for the point v = %s that supports the ball at y = %s", reached, v, y }
  end
  return worst_row(off)
end)

norm_law("the dual of the dual is the norm", function(N, probe)
  local off, dim = {}, dim_of(N, probe)
  local back = N:dual():dual()
  for _ = 1, probe.count do
    local x = probe.normal(dim)
    off[#off + 1] = math.abs(back(x) - N(x)) / N(x)
  end
  return worst_of(off)
end)

-- ---- potentials ----

local potential, potential_law = list()

-- What lifted potentials have for points: where random steps over the set lead.
local function lifted_points(P, probe)
  local out = {}
  for _ = 1, probe.set and probe.count or 0 do
    local x = P:mirror_step(P:start(probe.set), probe.normal(P.dim), 1, probe.set)
    if pcall(P.gradient, P, x) then out[#out + 1] = x end
  end
  return out
end

-- Points where the potential is finite: of the set that was given, else of the unit ball of its norm, else of its positive part.
local function points(P, probe)
  if P.lifted then return lifted_points(P, probe) end
  local dim = dim_of(P, probe)
  local ball = probe.set or P.norm:ball(dim)
  local out = {}
  for attempt = 1, 4 * probe.count do
    local x = probe.set and ball:sample(probe.rng) or 0.9 * ball:sample(probe.rng)
    if attempt > probe.count and not probe.set then
      for j = 1, dim do x[j] = math.abs(x[j]) + 1e-3 end
      x = x * (0.9 / math.max(P.norm(x), 1e-300)) -- into the ball again
    end
    if P:value(x) < math.huge and pcall(P.gradient, P, x) then out[#out + 1] = x end
    if #out == probe.count then break end
  end
  return out
end

potential_law("gradient is the derivative of the value", function(P, probe)
  local off, step = {}, 1e-6
  local X = points(P, probe)
  if #X < 3 then return math.huge, "fewer than 3 points of the set are in the domain" end
  for k = 2, #X do
    local x = 0.5 * (X[k] + X[k - 1])
    local direction = X[k] - X[k - 1]
    local size = direction:norm()
    if size > 0 then
      direction = direction / size
      local h = step * math.max(size, 1e-3)
      local up, down = P:value(x + h * direction), P:value(x - h * direction)
      local slope = P:gradient(x):dot(direction)
      local numeric = (up - down) / (2 * h)
      if up < math.huge and down < math.huge then
        off[#off + 1] = math.abs(numeric - slope) / (math.abs(slope) + math.abs(numeric) + 1)
      end
    end
  end
  return worst_of(off), "finite differences of value and gradient disagree"
end, 1e-4)

potential_law("strong convexity is at least what is declared, in the declared norm", function(P, probe)
  local off = {}
  local X = points(P, probe)
  for k = 2, #X do
    local x, y = X[k], X[k - 1]
    for _, t in ipairs { 1, 0.1, 0.01 } do
      local z = y + t * (x - y)
      local half = P.strong_convexity * P.norm(P:theta(z - y)) ^ 2 / 2
      local divergence = P:bregman(z, y)
      local noise = 1e-13 * (math.abs(P:value(z)) + math.abs(P:value(y))) -- a difference of large values
      if half > 0 and noise < 1e-5 * half then
        off[#off + 1] = (half - divergence - noise) / half
      end
    end
  end
  return worst_of(off), "D(x, y) is below strong_convexity N(x - y)^2 / 2"
end, 1e-3)

potential_law("inverse gradient inverts the gradient", function(P, probe)
  local X = points(P, probe)
  if #X == 0 or not pcall(P.inverse_gradient, P, P:gradient(X[1])) then return nil, "no inverse gradient" end
  local off = {}
  for _, x in ipairs(X) do
    local back = P:inverse_gradient(P:gradient(x))
    off[#off + 1] = (back - x):norm() / math.max(x:norm(), 1e-3)
  end
  return worst_of(off)
end, 1e-6)

-- y minimises Psi - <c, .> over C: <c - grad Psi(y), v - y> <= 0 for every v, so for the support point.
potential_law("mirror steps over the set are optimal", function(P, probe)
  local C = probe.set
  if not C then return nil, "give set= to test steps over it" end
  local off = {}
  for _, x in ipairs(points(P, probe)) do
    local g, eta = probe.normal(#x), 0.1 + probe.uniform()
    local y = P:mirror_step(x, g, eta, C)
    if not C:contains(P:theta(y), probe.tolerance * math.max(C.radius, 1)) then
      return math.huge, "the step left the set: " .. tostring(y)
    end
    local ok, slope = pcall(P.gradient, P, y)
    if ok and not P.lifted then -- at the edge of the domain there is none
      local c = P:gradient(x) - eta * g
      local away = c - slope
      local value = C:support(away)
      off[#off + 1] = (value - away:dot(y)) / ((c:norm() + slope:norm()) * math.max(C.radius, 1e-300))
    end
  end
  return worst_of(off), "there is a better point of the set"
end, 1e-6)

-- ---- proximal operators ----

local prox, prox_law = list()

prox_law("prox(v) minimises f + ||x - v||^2 / (2 step)", function(f, probe)
  local off, dim = {}, dim_of(f, probe)
  for _ = 1, probe.count do
    local v, step = 2 * probe.normal(dim), 0.1 + 2 * probe.uniform()
    local x = f(v, step)
    local function objective(z) return f:value(z) + (z - v):norm() ^ 2 / (2 * step) end
    local best = objective(x)
    if best == math.huge then return math.huge, "prox(v) is outside the domain" end
    for _, size in ipairs { 1, 1e-2, 1e-4 } do
      local z = x + size * probe.normal(dim)
      off[#off + 1] = (best - objective(z)) / (1 + math.abs(best))
      off[#off + 1] = (best - objective(x + size * (v - x))) / (1 + math.abs(best))
    end
  end
  return worst_of(off), "there is a better point"
end)

prox_law("prox is nonexpansive", function(f, probe)
  local off, dim = {}, dim_of(f, probe)
  for _ = 1, probe.count do
    local a, b = 2 * probe.normal(dim), 2 * probe.normal(dim)
    off[#off + 1] = ((f(a, 0.7) - f(b, 0.7)):norm() - (a - b):norm()) / (a - b):norm()
  end
  return worst_of(off)
end)

return { norm = norm, potential = potential, prox = prox }
