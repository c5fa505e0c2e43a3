-- compositions.lua -- random sets, and sets made of sets, by the public algebra.  Depends on: penumbra.
-- Used by: tests/runtime/geometry/algebra/compositions_spec.lua.
local pn = require "penumbra"

local compositions = {}

-- Uniform in [low, high], with two digits so that printed cases can be typed.
local function number(rng, low, high)
  return math.floor(100 * (low + (high - low) * rng:uniform()) + 0.5) / 100
end

local function vector(rng, n, low, high)
  local out = {}
  for j = 1, n do
    out[j] = number(rng, low, high)
  end
  return out
end

local function matrix(rng, rows, cols)
  local out = {}
  for i = 1, rows do
    out[i] = vector(rng, cols, -1, 1)
  end
  return out
end

compositions.vector, compositions.matrix, compositions.number = vector, matrix, number

local function radius(rng)
  return number(rng, 0.5, 2)
end

local function square(n)
  local side = math.floor(math.sqrt(n) + 0.5)
  return side * side == n and side or nil
end

local function descending(rng, n)
  local out = vector(rng, n, 0.1, 2)
  table.sort(out, function(a, b) return a > b end)
  return out
end

-- ||x||_1 <= 1 by hand, with `what` of its functions.
local function custom(dim, what)
  local ball = pn.set.l1_ball{dim = dim}
  local all = {
    support = function(g) return select(2, ball:support(g)) end,
    project = function(v) return ball:project(v) end,
    contains = function(x, tol) return ball:contains(x, tol) end,
  }
  local options = {dim = dim, radius = 1, symmetric = true, name = "mine"}
  for _, name in ipairs(what) do
    options[name] = all[name]
  end
  return pn.set.custom(options)
end

-- Bounded sets of the table: name = function(rng, n) -> set of dimension n, or nil when there is none.
compositions.leaves = {
  l1_ball = function(rng, n) return pn.set.l1_ball{dim = n, radius = radius(rng)} end,
  l2_ball = function(rng, n) return pn.set.l2_ball{dim = n, radius = radius(rng)} end,
  linf_ball = function(rng, n) return pn.set.linf_ball{dim = n, radius = radius(rng), center = vector(rng, n, -1, 1)} end,
  box = function(rng, n) return pn.set.box{lower = vector(rng, n, -2, 0), upper = vector(rng, n, 0, 2)} end,
  simplex = function(rng, n) return pn.set.simplex{dim = n, radius = radius(rng)} end,
  unit_simplex = function(rng, n) return pn.set.unit_simplex{dim = n, radius = radius(rng)} end,
  polytope = function(rng, n) return pn.set.polytope{vertices = matrix(rng, rng:integer(2 * n + 1), n)} end,
  hypersimplex = function(rng, n) return pn.set.hypersimplex{dim = n, k = rng:integer(n), radius = radius(rng)} end,
  unit_hypersimplex = function(rng, n) return pn.set.unit_hypersimplex{dim = n, k = rng:integer(n), radius = radius(rng)} end,
  ksparse_polytope = function(rng, n) return pn.set.ksparse_polytope{dim = n, k = rng:integer(n), radius = radius(rng)} end,
  permutahedron = function(rng, n) return pn.set.permutahedron{vector = vector(rng, n, -1, 1)} end,
  weighted_l1_ball = function(rng, n) return pn.set.weighted_l1_ball{weights = vector(rng, n, 0.5, 2)} end,
  diamond = function(rng, n) return pn.set.diamond{lower = vector(rng, n, -2, -0.1), upper = vector(rng, n, 0.1, 2)} end,
  lp_ball = function(rng, n) return pn.set.lp_ball{dim = n, q = number(rng, 1, 6), radius = radius(rng)} end,
  group_ball = function(rng, n) return pn.set.group_ball{dim = n, k = rng:integer(n), radius = radius(rng)} end,
  interpolation_ball = function(rng, n) return pn.set.interpolation_ball{dim = n, alpha = number(rng, 0, 1)} end,
  k_support = function(rng, n) return pn.set.k_support{dim = n, k = rng:integer(n), radius = radius(rng)} end,
  ordered_l1_ball = function(rng, n) return pn.set.ordered_l1_ball{weights = descending(rng, n)} end,
  top_k_ball = function(rng, n) return pn.set.top_k_ball{dim = n, k = rng:integer(n)} end,
  ellipsoid = function(rng, n) return pn.set.ellipsoid{axes = vector(rng, n, 0.2, 2), center = vector(rng, n, -1, 1)} end,
  linear_ellipsoid = function(rng, n) return pn.set.ellipsoid{matrix = matrix(rng, n, n)} end,
  point = function(rng, n) return pn.set.point{at = vector(rng, n, -1, 1)} end,
  nuclear_ball = function(rng, n) return n % 2 == 0 and pn.set.nuclear_ball{rows = 2, cols = n // 2, radius = radius(rng)} end,
  spectral_ball = function(rng, n) return n % 2 == 0 and pn.set.spectral_ball{rows = n // 2, cols = 2, radius = radius(rng)} end,
  spectrahedron = function(_, n) return square(n) and pn.set.spectrahedron{n = square(n)} end,
  unit_spectrahedron = function(_, n) return square(n) and pn.set.unit_spectrahedron{n = square(n)} end,
  birkhoff = function(_, n) return square(n) and pn.set.birkhoff{n = square(n)} end,
  custom_support = function(_, n) return custom(n, {"support"}) end,
  custom_project = function(_, n) return custom(n, {"project", "contains"}) end,
  custom_all = function(_, n) return custom(n, {"support", "project", "contains"}) end,
}

-- Unbounded ones, for intersections.
compositions.unbounded = {
  halfspace = function(rng, n) return pn.set.halfspace{normal = vector(rng, n, 0.1, 1), offset = number(rng, 0.1, 1)} end,
  hyperslab = function(rng, n) return pn.set.hyperslab{normal = vector(rng, n, 0.1, 1), lower = -0.5, upper = 1} end,
  hyperplane = function(rng, n) return pn.set.hyperplane{normal = vector(rng, n, 0.1, 1), offset = 0} end,
  nonnegative = function(_, n) return pn.set.nonnegative{dim = n} end,
  free = function(_, n) return pn.set.free{dim = n} end,
  affine = function(rng, n) return n > 1 and pn.set.affine{A = matrix(rng, 1, n), b = {0}} end,
  second_order_cone = function(_, n) return pn.set.second_order_cone{dim = n} end,
  rotated_second_order_cone = function(_, n) return n > 1 and pn.set.rotated_second_order_cone{dim = n} end,
  exponential_cone = function(_, n) return n == 3 and pn.set.exponential_cone{} end,
  psd_cone = function(_, n) return square(n) and pn.set.psd_cone{n = square(n)} end,
  polyhedron = function(rng, n) return pn.set.polyhedron{A = matrix(rng, n + 2, n), b = vector(rng, n + 2, 0.1, 1)} end,
}

local function sorted_names(of)
  local out = {}
  for name in pairs(of) do
    out[#out + 1] = name
  end
  table.sort(out)
  return out
end

compositions.leaf_names = sorted_names(compositions.leaves)
compositions.unbounded_names = sorted_names(compositions.unbounded)

local function pick(rng, of, names, n)
  local set, name
  repeat
    name = names[rng:integer(#names)]
    set = of[name](rng, n)
  until set
  return set, name
end

-- deep: without those for which every projection, or every support point, is itself a search that calls back.
function compositions.leaf(rng, n, deep)
  local set, name
  repeat
    set, name = pick(rng, compositions.leaves, compositions.leaf_names, n)
  until not (deep and (name == "custom_support" or name == "custom_project"))
  return set, name
end

-- Each operation: function(rng, n, part) -> function that makes a set of dimension n or raises why not; text.
-- part(n) makes a set and its text.
local operations = {}

function operations.sum(_, n, part)
  local C, c = part(n)
  local D, d = part(n)
  return function() return C + D end, ("(%s + %s)"):format(c, d)
end

function operations.scale(rng, n, part)
  local C, c = part(n)
  local factor = (rng:uniform() < 0.5 and -1 or 1) * number(rng, 0.3, 3)
  return function() return factor * C end, ("%g %s"):format(factor, c)
end

function operations.shift(rng, n, part)
  local C, c = part(n)
  local v = vector(rng, n, -1, 1)
  return function() return C + v end, ("(%s + v)"):format(c)
end

-- The second is moved so that both have points in common, and sometimes an unbounded one.
function operations.intersect(rng, n, part)
  local C, c = part(n)
  local D, d
  if rng:uniform() < 0.3 then
    D, d = pick(rng, compositions.unbounded, compositions.unbounded_names, n)
  else
    D, d = part(n)
  end
  return function()
    local moved = D + (C:center() - D:center() + 0.1 * math.min(C.radius, D.radius, 1) / math.sqrt(n) * pn.vec.normal(n, rng))
    return C:intersect(rng:uniform() < 0.5 and moved or D + (C:center() - D:center()))
  end, ("(%s n moved %s)"):format(c, d)
end

function operations.product(rng, n, part)
  local first = rng:integer(n)
  if first == n then
    return operations.scale(rng, n, part)
  end
  local C, c = part(first)
  local D, d = part(n - first)
  return function() return C:product(D) end, ("(%s x %s)"):format(c, d)
end

function operations.hull(_, n, part)
  local C, c = part(n)
  local D, d = part(n)
  return function() return C:hull(D) end, ("conv(%s, %s)"):format(c, d)
end

function operations.image(rng, n, part)
  local from = rng:integer(n + 2)
  local C, c = part(from)
  local A = matrix(rng, n, from)
  return function() return C:image(A) end, ("A[%d x %d] %s"):format(n, from, c)
end

-- Moved so that the origin is inside, where the set has an inside.
function operations.polar(_, n, part)
  local C, c = part(n)
  return function() return (C - C:center()):polar() end, ("polar(%s - center)"):format(c)
end

compositions.operations = operations
compositions.operation_names = sorted_names(operations)

-- A set of `depth` operations one inside the other and its text; refused ones go to refused[] and become their first part.
function compositions.random(rng, n, depth, refused, inner)
  local deep = inner or depth > 1
  local name = compositions.operation_names[rng:integer(#compositions.operation_names)]
  local first
  local function part(m)
    local deeper = depth > 1 and (not first or rng:uniform() < 0.5)
    local C, c
    if deeper then
      C, c = compositions.random(rng, m, depth - 1, refused, true)
    else
      C, c = compositions.leaf(rng, m, deep)
    end
    first = first or {C, c}
    return C, c
  end
  local make, text = operations[name](rng, n, part)
  local ok, set = pcall(make)
  if ok and set.bounded then
    return set, text
  elseif ok then -- the polar of a flat set
    set = "unbounded"
  end
  refused[#refused + 1] = {text = text, message = tostring(set)}
  if first[1].dim == n then
    return first[1], first[2]
  end
  return compositions.leaf(rng, n, deep)
end

return compositions
