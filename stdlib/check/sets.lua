-- check_sets.lua -- what every convex set promises.  Depends on: nothing but the methods of a set.  Used by: penumbra.check.
-- Each law returns its worst violation relative to the size of the numbers, nil where it does not apply.

-- What the method returns after true, or false when the set says that it has no such thing (or none in that
-- direction).  An error of a
-- user's own function is no such saying, and goes on.
local function ask(C, method, ...)
  local answer = table.pack(pcall(C[method], C, ...))
  if not answer[1] then
    if not tostring(answer[2]):find("C:" .. method .. ":", 1, true) then error(answer[2], 0) end
    return false
  end
  return table.unpack(answer, 1, answer.n)
end

local function has(C, method, ...)
  return (ask(C, method, ...))
end

-- A single point at 0 has no size: probes are then of size 1.
local function size_of(C)
  return C.bounded and C.radius > 0 and C.radius or 1
end

-- Support points in random directions, projections, mixtures of them, and the centre.
local function members(C, probe)
  local out = { C:center() }
  for _, g in ipairs(probe.directions(C.dim)) do
    local ok, _, x = ask(C, "support", g)
    if ok then out[#out + 1] = x end
    local projected, y = ask(C, "project", 3 * size_of(C) / g:norm() * g)
    if projected then out[#out + 1] = y end
  end
  local extreme = #out
  for _ = 1, probe.count do
    local t = probe.uniform()
    out[#out + 1] = t * out[probe.rng:integer(extreme)] + (1 - t) * out[probe.rng:integer(extreme)]
  end
  return out
end

local function worst_of(values)
  local worst = 0
  for _, value in ipairs(values) do
    if value ~= value then return value end
    worst = math.max(worst, value)
  end
  return worst
end

local laws = {}

local function law(name, test, tolerance)
  laws[#laws + 1] = { name, test, tolerance }
end

local function supported(C)
  return has(C, "support", 0 * C:center())
end

law("support is attained at a point of the set", function(C, probe)
  if not supported(C) then return nil, "no support function" end
  local off, outside = {}, nil
  for _, g in ipairs(probe.directions(C.dim)) do
    local ok, value, x = ask(C, "support", g)
    if ok then
      off[#off + 1] = math.abs(value - g:dot(x)) / (g:norm() * size_of(C))
      if not C:contains(x, probe.tolerance * size_of(C)) then outside = x end
    end
  end
  if outside then return math.huge, "a support point is not in the set: " .. tostring(outside) end
  return worst_of(off), "value and <g, point> differ"
end)

law("support is convex and positively homogeneous", function(C, probe)
  if not supported(C) or not C.bounded then return nil, "needs a bounded set with a support function" end
  local off, G = {}, probe.directions(C.dim)
  for k = 2, #G do
    local f, g = G[k - 1], G[k]
    local scale = (f:norm() + g:norm()) * size_of(C)
    off[#off + 1] = ((C:support(f + g)) - (C:support(f)) - (C:support(g))) / scale
    off[#off + 1] = math.abs((C:support(3.5 * g)) - 3.5 * (C:support(g))) / (3.5 * scale)
  end
  return worst_of(off), "h(f + g) exceeds h(f) + h(g), or h(3.5 g) is not 3.5 h(g)"
end)

law("no point of the set lies beyond its support", function(C, probe)
  if not supported(C) then return nil, "no support function" end
  local off, inside = {}, members(C, probe)
  for _, g in ipairs(probe.directions(C.dim)) do
    local ok, value = ask(C, "support", g)
    for _, x in ipairs(ok and inside or {}) do
      off[#off + 1] = (g:dot(x) - value) / (g:norm() * size_of(C))
    end
  end
  return worst_of(off)
end)

law("the centre, and mixtures of points, are in the set", function(C, probe)
  for _, x in ipairs(members(C, probe)) do
    if not C:contains(x, probe.tolerance * size_of(C)) then
      return math.huge, "outside: " .. tostring(x)
    end
  end
  return 0
end)

law("points beyond a supporting plane are outside", function(C, probe)
  if not supported(C) then return nil, "no support function" end
  for _, g in ipairs(probe.directions(C.dim)) do
    local ok, _, x = ask(C, "support", g)
    if ok and C:contains(x + 0.02 * size_of(C) / g:norm() * g, probe.tolerance * size_of(C)) then
      return math.huge, "contains accepts a point beyond the support in direction " .. tostring(g)
    end
  end
  return 0
end)

law("projections are in the set and stay where they are", function(C, probe)
  if not has(C, "project", C:center()) then return nil, "no projection" end
  local off = {}
  for k = 1, probe.count do
    local z = size_of(C) * 10 ^ (k % 3 - 1) * probe.normal(C.dim)
    local P = C:project(z)
    if not C:contains(P, probe.tolerance * (size_of(C) + z:norm())) then
      return math.huge, "the projection of " .. tostring(z) .. " is outside"
    end
    off[#off + 1] = (C:project(P) - P):norm() / (size_of(C) + z:norm())
  end
  return worst_of(off), "P(P(z)) differs from P(z)"
end)

-- The strongest test of a projection: the support point in the direction z - P(z).
law("projections are nearest: <z - P, v - P> <= 0 for all points v", function(C, probe)
  if not has(C, "project", C:center()) then return nil, "no projection" end
  local off, inside = {}, members(C, probe)
  for k = 1, probe.count do
    local z = size_of(C) * 10 ^ (k % 3 - 1) * probe.normal(C.dim)
    local P = C:project(z)
    local away = z - P
    local scale = size_of(C) + z:norm() -- its square may be no double
    local ok, _, v = ask(C, "support", away)
    if ok then off[#off + 1] = (away / scale):dot((v - P) / scale) end
    for i = 1, math.min(#inside, 20) do
      off[#off + 1] = (away / scale):dot((inside[i] - P) / scale)
    end
  end
  return worst_of(off), "there is a nearer point"
end)

law("gauge is the smallest multiple with the point inside", function(C, probe)
  if not has(C, "gauge", C:center()) then return nil, "no gauge" end
  local off = {}
  for _, x in ipairs(members(C, probe)) do
    -- Multiples of rounding tell nothing: where 0 is on the border, a point that is 0 but for it may be in no multiple.
    local counts = x:norm() > 1e-9 * size_of(C)
    local t = counts and C:gauge(x) or 0
    if counts then
      off[#off + 1] = t - 1
      off[#off + 1] = math.abs(C:gauge(2 * x) - 2 * t) / (1 + t)
    end
    if t > 1e-3 then
      if not C:contains(x / t, 10 * probe.tolerance * size_of(C)) then
        return math.huge, "x / gauge(x) is outside for x = " .. tostring(x)
      end
      if C:contains(x / (0.97 * t), 1e-12 * size_of(C)) then
        return math.huge, "a smaller multiple contains x = " .. tostring(x)
      end
    end
  end
  return worst_of(off), "gauge above 1 in the set, or not homogeneous"
end)

law("gauge and support are dual: <x, y> <= gauge(x) h(y)", function(C, probe)
  if not has(C, "gauge", C:center()) or not supported(C) or not C.bounded then return nil, "needs both" end
  local off = {}
  for _ = 1, probe.count do
    local x, y = probe.normal(C.dim), probe.normal(C.dim)
    local gauge, support = C:gauge(x), C:support(y)
    if gauge < math.huge and support >= 0 then
      off[#off + 1] = (x:dot(y) - gauge * support) / (x:norm() * y:norm() + gauge * support)
    end
  end
  return worst_of(off)
end)

law("radius and diameter bound the points", function(C, probe)
  if not C.bounded then return nil, "unbounded" end
  local off, inside = {}, members(C, probe)
  for _, kind in ipairs { { "l1", 1 }, { "l2", 2 }, { "linf", math.huge } } do
    local radius, diameter = C:radius_in(kind[1]), C:diameter_in(kind[1])
    for i, x in ipairs(inside) do
      off[#off + 1] = (x:norm(kind[2]) - radius) / (radius + 1e-300)
      if i > 1 then
        off[#off + 1] = ((x - inside[i - 1]):norm(kind[2]) - diameter) / (diameter + size_of(C))
      end
    end
  end
  return worst_of(off), "a point is farther out than radius, or two are farther apart than diameter"
end)

law("samples are in the set", function(C, probe)
  if not has(C, "sample", probe.rng) then return nil, "no sampler" end
  for _ = 1, probe.count do
    local x = C:sample(probe.rng)
    if not C:contains(x, probe.tolerance * size_of(C)) then return math.huge, "outside: " .. tostring(x) end
  end
  return 0
end)

law("asking twice gives the same answer", function(C, probe)
  local g = probe.normal(C.dim)
  for _, method in ipairs { "support", "project" } do
    if has(C, method, g) then
      local a, b = { C[method](C, g) }, { C[method](C, g) }
      if not (a[#a] == b[#b]) then return math.huge, method .. " gave two answers" end
    end
  end
  return 0
end)

return laws
