-- conformance_spec.lua -- what every set of pn.set must do, by itself and scaled, shifted and both.
-- A new set joins through pn.set.names(); a line in `examples` adds cases to what its parameters suggest.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local defaults = require "tests.tools.defaults"

-- Options for each set: a small case, a larger one, and the edge of a single coordinate.
local examples = {
  l1_ball = {{dim = 4, radius = 2}, {dim = 19, radius = 0.5}, {dim = 1, radius = 3}, {dim = 3, center = {1, -2, 4}}},
  l2_ball = {{dim = 4, radius = 2}, {dim = 19, radius = 0.5}, {dim = 1, radius = 3}, {dim = 3, center = {1, -2, 4}}},
  linf_ball = {{dim = 4, radius = 2}, {dim = 19, radius = 0.5}, {dim = 1, radius = 3}, {dim = 3, center = {1, -2, 4}}},
  box = {{lower = {-1, 0, -3}, upper = {2, 5, -1}}, {lower = {1, 2}, upper = {1, 4}}, {lower = {-2}, upper = {7}}},
  simplex = {{dim = 4, radius = 2}, {dim = 19, radius = 0.5}, {dim = 1, radius = 3}},
  polytope = {
    {vertices = {{1, 0}, {0, 1}, {-1, -1}}},
    {vertices = {{3, 1, 0}, {4, 1, 0}, {3, 2, 0}, {3.2, 1.2, 0}, {3, 1, 0}}}, -- flat, with a repeat and an inner point
    {vertices = {{5, -6, 7}}},
    {vertices = {{1, 1, 1}, {1, -1, 1}, {-1, 1, 1}, {-1, -1, 1}, {1, 1, -1}, {1, -1, -1}, {-1, 1, -1}, {-1, -1, -1}}},
  },
  hypersimplex = {{dim = 4, k = 2, radius = 2}, {dim = 19, k = 5}, {dim = 3, k = 3}, {dim = 1, k = 1, radius = 3}},
  unit_hypersimplex = {{dim = 4, k = 2, radius = 2}, {dim = 19, k = 15}, {dim = 3, k = 3}, {dim = 1, k = 1, radius = 3}},
  ksparse_polytope = {{dim = 4, k = 2, radius = 2}, {dim = 19, k = 5}, {dim = 3, k = 3}, {dim = 1, k = 1, radius = 3}},
  weighted_l1_ball = {
    {weights = {1, 2, 0.5, 4}, radius = 2}, {weights = {3}}, {weights = {1, 1, 7}, center = {1, -2, 4}},
    {weights = {5, 1, 1, 2, 2, 3, 0.3, 1, 1}, radius = 0.5},
  },
  diamond = {
    {lower = {-1, -2, -3}, upper = {1, 2, 3}}, {lower = {-1, 0, -3, 2}, upper = {2, 5, -1, 2}}, {lower = {-2}, upper = {7}},
  },
  unit_simplex = {{dim = 4, radius = 2}, {dim = 19, radius = 0.5}, {dim = 1, radius = 3}},
  lp_ball = {
    {dim = 4, q = 3, radius = 2}, {dim = 19, q = 1.25, radius = 0.5}, {dim = 1, q = 1.5, radius = 3},
    {dim = 3, q = 7.5, center = {1, -2, 4}}, {dim = 6, q = 1.9999}, {dim = 5, q = 1}, {dim = 5, q = 2},
    {dim = 5, q = math.huge, radius = 2}, {dim = 5, q = 300}, {dim = 5, q = 1.01},
  },
  group_ball = {
    {dim = 6, k = 2, radius = 2}, {dim = 19, k = 5, radius = 0.5}, {dim = 4, k = 4}, {dim = 4, k = 1}, {dim = 1, k = 1},
    {dim = 3, k = 2, center = {1, -2, 4}},
  },
  interpolation_ball = {
    {dim = 4, alpha = 0.5, radius = 2}, {dim = 19, alpha = 0.1, radius = 0.5}, {dim = 1, alpha = 0.7, radius = 3},
    {dim = 3, alpha = 0.9, center = {1, -2, 4}}, {dim = 5, alpha = 0}, {dim = 5, alpha = 1}, {dim = 5, alpha = 1e-9},
    {dim = 5, alpha = 1 - 1e-12},
  },
  k_support = {
    {dim = 4, k = 2, radius = 2}, {dim = 19, k = 5, radius = 0.5}, {dim = 5, k = 1}, {dim = 5, k = 5}, {dim = 1, k = 1},
    {dim = 3, k = 2, center = {1, -2, 4}},
  },
  ordered_l1_ball = {
    {weights = {3, 2, 1.5, 0}, radius = 2}, {weights = {1, 1, 1, 1, 1}}, {weights = {2}, radius = 3},
    {weights = {9, 8, 7, 6, 5, 4, 3, 2, 1}, radius = 0.5},
  },
  top_k_ball = {{dim = 4, k = 2, radius = 2}, {dim = 19, k = 5}, {dim = 3, k = 3}, {dim = 5, k = 1}, {dim = 1, k = 1}},
  permutahedron = {{dim = 5}, {vector = {3, -1, 0.5, 2, -1, -3.5}}, {vector = {2, 2, 2}}, {vector = {7}}},
  nuclear_ball = {
    {rows = 3, cols = 4, radius = 2}, {rows = 5, cols = 2}, {rows = 1, cols = 6, radius = 0.5}, {rows = 4, cols = 1},
    {rows = 1, cols = 1, radius = 3}, {rows = 2, cols = 2, center = {1, -2, 4, 0}},
  },
  spectral_ball = {
    {rows = 3, cols = 4, radius = 2}, {rows = 5, cols = 2}, {rows = 1, cols = 6, radius = 0.5}, {rows = 4, cols = 1},
    {rows = 1, cols = 1, radius = 3}, {rows = 2, cols = 2, center = {1, -2, 4, 0}},
  },
  spectrahedron = {{n = 2, radius = 2}, {n = 4}, {n = 1, radius = 3}},
  unit_spectrahedron = {{n = 2, radius = 2}, {n = 4}, {n = 1, radius = 3}},
  psd_cone = {{n = 1}, {n = 2}, {n = 4}},
  birkhoff = {{n = 1}, {n = 2}, {n = 5}},
  ellipsoid = {
    {axes = {1, 2, 0.25, 4}}, {axes = {3}}, {axes = {2, 0, 1}}, {axes = {1, 2}, center = {3, -4}},
    {matrix = {{1, 2, 0}, {0, 1, -1}, {3, 0, 1}}}, {matrix = {{1}, {2}, {-2}}, center = {1, 0, 1}}, -- a segment
    {matrix = {{1, 2, 3}, {2, 4, 1}}},
  },
  point = {{at = {1, -2, 3}}, {at = {0, 0}}, {at = {-7}}},
  affine = {
    {A = {{1, 1, 1}}, b = {1}}, {A = {{1, 2, 0, 1}, {0, 1, 1, -1}, {1, 3, 1, 0}}, b = {1, 2, 3}},
    {A = {{1, 1}, {1, -1}}, b = {3, 1}}, -- a point
    {A = {{1, -1, 2}}, b = {0}}, {A = {{0, 0}}, b = {0}},
  },
  free = {{dim = 3}, {dim = 1}},
  halfspace = {{normal = {1, -2, 2}, offset = 3}, {normal = {0, 5}, offset = -4}, {normal = {-2}, offset = 1}},
  hyperslab = {
    {normal = {1, -2, 2}, lower = -1, upper = 3}, {normal = {0, 5}, lower = 2, upper = 4},
    {normal = {-2}, lower = -1, upper = 5}, {normal = {3, 4}, lower = -1, upper = 1},
  },
  hyperplane = {{normal = {1, -2, 2}, offset = 3}, {normal = {0, 5}, offset = 0}, {normal = {-2}, offset = 5}},
  nonnegative = {{dim = 4}, {dim = 1}},
  second_order_cone = {{dim = 4}, {dim = 2}, {dim = 1}},
  rotated_second_order_cone = {{dim = 4}, {dim = 2}, {dim = 7}},
  exponential_cone = {{}},
  polyhedron = {
    {A = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}, b = {1, 2, 1, 0.5}}, -- a box
    {A = {{1, 1, 1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}, {1, 1, 1}}, b = {2, 0, 0, 0, 2}}, -- a pyramid, one row twice
    {A = {{1, 1, 1}, {-1, -1, -1}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, b = {1, -1, 0, 0, 0}}, -- a triangle: flat
    {A = {{1, 2}, {-3, 1}, {1, -4}}, b = {4, -1, 2}}, {A = {{2}, {-1}}, b = {6, -1}},
    {A = {{1, 2, -1}, {0, 1, 1}}, b = {4, -1}}, {A = {{0, 0}, {-1, 1}}, b = {1, 0}}, -- unbounded
  },
}
for _, name in ipairs(pn.set.names()) do
  examples[name] = examples[name] or defaults("set", name)
end

local norms = {"l1", "l2", "linf"}
local dual = {l1 = "linf", l2 = "l2", linf = "l1"}

local function norm(x, kind)
  local sum, largest = 0, 0
  for i = 1, #x do
    local size = math.abs(x[i])
    sum = sum + (kind == "l2" and size * size or size)
    largest = math.max(largest, size)
  end
  return kind == "linf" and largest or kind == "l2" and math.sqrt(sum) or sum
end

local function dot(a, b)
  local sum = 0
  for i = 1, #a do
    sum = sum + a[i] * b[i]
  end
  return sum
end

local function combine(a, x, b, y)
  local out = {}
  for i = 1, #x do
    out[i] = a * x[i] + b * y[i]
  end
  return out
end

local function random_vector(rng, n, scale)
  local out = {}
  for i = 1, n do
    out[i] = scale * (2 * rng:uniform() - 1)
  end
  return out
end

local function directions(rng, n)
  local out = {}
  for k = 1, 12 do
    out[k] = random_vector(rng, n, 1)
  end
  out[#out + 1] = random_vector(rng, n, 0) -- the zero vector
  local basis = random_vector(rng, n, 0)
  basis[n] = -1
  out[#out + 1] = basis
  return out
end

-- Points of the set: its center, support points, and mixtures of them.
local function members(C, rng)
  local center = C:center()
  local out = {combine(1, center, 0, center)} -- as plain tables, which are read faster
  for _, g in ipairs(directions(rng, C.dim)) do
    local _, x = C:support(g)
    out[#out + 1] = combine(1, x, 0, x)
  end
  for _ = 1, 12 do
    local t = rng:uniform()
    out[#out + 1] = combine(t, out[rng:integer(#out)], 1 - t, out[rng:integer(#out)])
  end
  return out
end

local function rows_of(A)
  local out = {}
  for i = 1, A.rows do
    out[i] = {}
    for j = 1, A.cols do
      out[i][j] = A:get(i, j)
    end
  end
  return out
end

local function has(C, method, v)
  return (pcall(C[method], C, v))
end

-- luassert only when it fails: the loops below ask a hundred thousand times.
local function holds(condition)
  if not condition then
    assert.is_true(condition, "a property of the set does not hold")
  end
end

local function near(want, got, tolerance)
  if not (math.abs(want - got) <= tolerance) then
    assert.is_near(want, got, tolerance)
  end
end

-- Each check gets the set, a stream, and the size of its numbers, to which tolerances are relative.
local checks = {}

checks["attains its support at a point of the set"] = function(C, rng, size)
  for _, g in ipairs(directions(rng, C.dim)) do
    local value, x = C:support(g)
    near(value, dot(g, x), 1e-12 * size * C.dim)
    holds(C:contains(x, 1e-12 * size * C.dim))
  end
end

checks["has no point beyond its support"] = function(C, rng, size)
  local inside = members(C, rng)
  for _, g in ipairs(directions(rng, C.dim)) do
    local value = C:support(g)
    for _, x in ipairs(inside) do
      holds(dot(g, x) <= value + 1e-12 * size * C.dim)
    end
  end
end

checks["has a support that is convex and positively homogeneous"] = function(C, rng, size)
  local all = directions(rng, C.dim)
  for k = 2, #all do
    local f, g = all[k - 1], all[k]
    local h = C:support(combine(1, f, 1, g))
    holds(h <= C:support(f) + C:support(g) + 1e-12 * size * C.dim)
    near(3.5 * C:support(g), (C:support(combine(3.5, g, 0, g))), 1e-12 * size * C.dim)
  end
end

checks["contains mixtures of its points and nothing beyond a supporting plane"] = function(C, rng, size)
  for _, x in ipairs(members(C, rng)) do
    holds(C:contains(x, 1e-12 * size * C.dim))
  end
  for _, g in ipairs(directions(rng, C.dim)) do
    local length = norm(g, "l2")
    if length > 0 then
      local _, x = C:support(g)
      holds(not C:contains(combine(1, x, 0.01 * size / length, g), 1e-9))
    end
  end
end

checks["bounds its points by radius and diameter, and is no larger than it says"] = function(C, rng, size)
  local inside = members(C, rng)
  for _, kind in ipairs(norms) do
    local radius, diameter = C:radius_in(kind), C:diameter_in(kind)
    for i, x in ipairs(inside) do
      holds(norm(x, kind) <= radius * (1 + 1e-14) + 1e-12 * size)
      for j = 1, i - 1 do
        holds(norm(combine(1, x, -1, inside[j]), kind) <= diameter * (1 + 1e-14) + 1e-12 * size)
      end
    end
    holds(diameter <= 2 * radius * (1 + 1e-12))
  end
  assert.equal(C:radius_in("l2"), C.radius)
  assert.equal(C:diameter_in("l2"), C.diameter)
end

checks["projects to the nearest point"] = function(C, rng, size)
  if not has(C, "project", C:center()) then
    return
  end
  for k = 1, 24 do
    local v = random_vector(rng, C.dim, size * 10 ^ (k % 4 - 1))
    local p = C:project(v)
    local away = combine(1, v, -1, p)
    local _, s = C:support(away)
    local scale = size + norm(v, "l2")
    holds(C:contains(p, 1e-11 * scale))
    -- <v - Pv, s - Pv> <= 0 for all s of the set, at the s where it is largest
    holds(dot(away, combine(1, s, -1, p)) <= 1e-10 * scale * scale)
    holds(norm(combine(1, C:project(p), -1, p), "linf") <= 1e-11 * scale)
  end
  for _, x in ipairs(members(C, rng)) do
    holds(norm(combine(1, C:project(x), -1, x), "linf") <= 1e-11 * size * C.dim)
  end
end

-- Gauges in closed form; those of other sets come from bisection or a linear program, to 1e-9.
local closed_gauge = {l1_ball = true, l2_ball = true, linf_ball = true, box = true, simplex = true}

checks["has a gauge that is the smallest multiple with the point inside"] = function(C, rng, size)
  if not has(C, "gauge", C:center()) then
    return
  end
  local slack = closed_gauge[C.name] and 1e-12 or 4e-9
  for _, x in ipairs(members(C, rng)) do
    local t = C:gauge(x)
    holds(t <= 1 + slack)
    near(2 * t, C:gauge(combine(2, x, 0, x)), 2 * slack)
    if t > 1e-6 then
      holds(C:contains(combine(1 / t, x, 0, x), 10 * slack * size * C.dim))
      holds(not C:contains(combine(1 / (0.99 * t), x, 0, x), 1e-9))
    end
  end
  for _, v in ipairs(directions(rng, C.dim)) do
    local t = C:gauge(v)
    if t == math.huge then
      for _, factor in ipairs {0.01, 1, 100} do
        holds(not C:contains(combine(factor, v, 0, v), 1e-9))
      end
    elseif t > 0 then
      holds(C:contains(combine(1 / t, v, 0, v), 10 * slack * size * C.dim))
    end
  end
end

checks["scores its vertices as inner products about one common point"] = function(C, rng, size)
  local V = C:vertices()
  if not V then
    return
  end
  V = rows_of(V)
  for _, g in ipairs(directions(rng, C.dim)) do
    local scores, radius = C:vertex_scores(g)
    local best, h = 1, C:support(g)
    assert.equal(#V, #scores)
    for i = 1, #V do
      best = scores[i] > scores[best] and i or best
      local difference = dot(combine(1, V[i], -1, V[1]), g)
      near(difference, scores[i] - scores[1], 1e-12 * size * C.dim)
      for _, kind in ipairs(norms) do
        holds(math.abs(scores[i]) <= radius[kind] * norm(g, dual[kind]) * (1 + 1e-12))
      end
    end
    near(h, dot(V[best], g), 1e-12 * size * C.dim)
  end
end

checks["has an atom radius that is the largest distance of a vertex from the common point"] = function(C, rng, size)
  local V = C:vertices()
  if not V then
    return
  end
  V = rows_of(V)
  local offsets = {} -- v_i - c, read off the scores of the unit vectors
  local radius
  for j = 1, C.dim do
    local unit = random_vector(rng, C.dim, 0)
    unit[j] = 1
    offsets[j], radius = C:vertex_scores(unit)
  end
  for _, kind in ipairs(norms) do
    local largest = 0
    for i = 1, #V do
      local offset = {}
      for j = 1, C.dim do
        offset[j] = offsets[j][i]
      end
      largest = math.max(largest, norm(offset, kind))
    end
    near(largest, radius[kind], 1e-12 * size)
  end
end

checks["takes radius and diameter at its vertices"] = function(C, _, size)
  local V = C:vertices()
  if not V then
    return
  end
  V = rows_of(V)
  for _, kind in ipairs(norms) do
    local radius, diameter = 0, 0
    for i = 1, #V do
      holds(C:contains(V[i], 1e-12 * size))
      radius = math.max(radius, norm(V[i], kind))
      for k = 1, i - 1 do
        diameter = math.max(diameter, norm(combine(1, V[i], -1, V[k]), kind))
      end
    end
    near(radius, C:radius_in(kind), 1e-12 * size)
    near(diameter, C:diameter_in(kind), 1e-12 * size)
  end
end

checks["refuses vectors of another length and names both lengths"] = function(C)
  local long = {}
  for i = 1, C.dim + 2 do
    long[i] = 0
  end
  for _, method in ipairs {"support", "project", "contains"} do
    local ok, message = pcall(C[method], C, long)
    assert.is_false(ok)
    assert.truthy(message:find(("has %d entries, the set has %d"):format(C.dim + 2, C.dim), 1, true), message)
  end
end

checks["prints itself in a line or two of 80 columns with dimension and size"] = function(C)
  local text = tostring(C)
  assert.truthy(text:find("dim=" .. C.dim, 1, true), text)
  assert.truthy(text:find(C.bounded and ("l2 radius %.4g"):format(C.radius) or "unbounded", 1, true), text)
  for line in text:gmatch "[^\n]+" do assert.is_true(#line <= 80, text) end
end

-- What is left to ask of a set without bounds.  Its numbers are of the size of its center.
local unbounded_checks = {}

-- Points of the set: projections, and mixtures of them.
local function projections(C, rng, size)
  local out = {}
  for k = 1, 16 do
    out[k] = C:project(random_vector(rng, C.dim, size * 10 ^ (k % 4 - 1)))
    out[k] = combine(1, out[k], 0, out[k])
  end
  for _ = 1, 12 do
    local t = rng:uniform()
    out[#out + 1] = combine(t, out[rng:integer(#out)], 1 - t, out[rng:integer(#out)])
  end
  return out
end

unbounded_checks["says that it has no radius and no diameter"] = function(C)
  for _, kind in ipairs(norms) do
    assert.equal(math.huge, C:radius_in(kind))
    assert.equal(math.huge, C:diameter_in(kind))
  end
  assert.is_nil(C:vertices())
end

unbounded_checks["contains its center, its projections and their mixtures"] = function(C, rng, size)
  holds(C:contains(C:center(), 1e-12 * size))
  for _, x in ipairs(projections(C, rng, size)) do
    holds(C:contains(x, 1e-11 * (size + norm(x, "l2"))))
  end
end

-- v - Pv makes no acute angle with a step to a point of the set: then Pv is the nearest.  The support of v - Pv, where it is
-- found to be finite, is attained at Pv.
unbounded_checks["projects to the nearest point, and supports where that ends"] = function(C, rng, size)
  local inside = projections(C, rng, size)
  for k = 1, 24 do
    local v = random_vector(rng, C.dim, size * 10 ^ (k % 4 - 1))
    local p = C:project(v)
    local away, scale = combine(1, v, -1, p), size + norm(v, "l2")
    holds(norm(combine(1, C:project(p), -1, p), "linf") <= 1e-11 * scale)
    for _, x in ipairs(inside) do
      holds(dot(away, combine(1, x, -1, p)) <= 1e-10 * scale * (scale + norm(x, "l2")))
    end
    if norm(away, "l2") > 1e-6 * scale then
      holds(not C:contains(v, 1e-9 * scale))
      local value, x = C:support(away)
      near(dot(away, p), value, 1e-10 * scale * scale)
      near(dot(away, x), value, 1e-10 * scale * scale)
      holds(C:contains(x, 1e-11 * scale))
    else
      holds(C:contains(v, 1e-6 * scale))
    end
  end
end

-- No direction is both: either <g, x> is bounded by the support, or some member walks off along it.
unbounded_checks["refuses a support that is infinite, and exceeds no finite one"] = function(C, rng, size)
  local refused = 0
  for _, g in ipairs(directions(rng, C.dim)) do
    local ok, value = pcall(C.support, C, g)
    if ok then
      for _, x in ipairs(projections(C, rng, size)) do
        holds(dot(g, x) <= value + 1e-11 * (size + norm(x, "l2")) * C.dim)
      end
    else
      refused = refused + 1
      assert.truthy(value:find("unbounded", 1, true), value)
      local center, far = C:center(), C:project(combine(1, C:center(), 1e6 * size, g))
      holds(dot(g, combine(1, far, -1, center)) > 1e-3 * size)
    end
  end
  holds(refused > 0)
end

unbounded_checks["has a gauge that is the smallest multiple with the point inside"] = function(C, rng, size)
  if not has(C, "gauge", C:center()) then
    return
  end
  local tried = projections(C, rng, size)
  for _, v in ipairs(directions(rng, C.dim)) do
    tried[#tried + 1] = v
  end
  for k, v in ipairs(tried) do
    local t, length = C:gauge(v), norm(v, "l2")
    holds(t >= 0)
    if k <= 16 then
      holds(t <= 1 + 1e-9)
    end
    if t == math.huge then
      for _, factor in ipairs {0.01, 1, 100} do
        holds(not C:contains(combine(factor, v, 0, v), 1e-13 * factor * length))
      end
    elseif t > 1e-6 then
      holds(C:contains(combine(1 / t, v, 0, v), 1e-10 * (size + length / t)))
    elseif length > 0 then -- a multiple as large as one likes
      holds(C:contains(combine(1e3, v, 0, v), 1e-9 * (size + 1e3 * length)))
    end
  end
end

for _, title in ipairs {
  "refuses vectors of another length and names both lengths", "prints itself in one line with its dimension",
} do
  unbounded_checks[title] = checks[title]
end

local function ramp(n, slope)
  local out = {}
  for i = 1, n do
    out[i] = slope * (i - 2.25)
  end
  return out
end

local variants = {
  {"as it is", function(C) return C end},
  {"scaled", function(C) return 2.5 * C end},
  {"shifted", function(C) return C + ramp(C.dim, 0.75) end},
  {"shifted, scaled and shifted back", function(C) return 0.3 * (C - ramp(C.dim, 1.5)) * 2 + ramp(C.dim, -0.2) end},
}

describe("every set", function()
  it("has an example in this file", function()
    for _, name in ipairs(pn.set.names()) do
      assert.truthy(examples[name], "pn.set." .. name .. " has no example: add one to `examples` in conformance_spec.lua")
    end
  end)

  it("has documentation, a source and options that the reference shows", function()
    for _, name in ipairs(pn.set.names()) do
      local entry = pn.reference()["set." .. name]
      assert.truthy(entry and #entry.doc > 0 and #entry.source > 0, name)
      assert.truthy(name == "exponential_cone" or #entry.params > 0, name) -- which has nothing to choose
      assert.equal("nothing", entry.reveals)
    end
  end)
end)

-- The last has what those between it and the first have.
local tried = tier.thorough and variants or {variants[1], variants[#variants]}

for _, name in ipairs(pn.set.names()) do
  for _, variant in ipairs(tried) do
    describe(name .. ", " .. variant[1] .. ",", function()
      for title, check in pairs(checks) do
        it(title, function()
          for k, options in ipairs(examples[name] or {}) do
            local C = variant[2](pn.set[name](options))
            if C.radius < math.huge then
              local ok, problem = pcall(check, C, pn.rng.seeded(1000 + k), math.max(C.radius, 1))
              assert(ok, ("%s (example %d): %s"):format(C, k, tostring(problem)))
            end
          end
        end)
      end
      for title, check in pairs(unbounded_checks) do
        it(title .. ", without bounds", function()
          for k, options in ipairs(examples[name] or {}) do
            local C = variant[2](pn.set[name](options))
            if C.radius == math.huge then
              local ok, problem = pcall(check, C, pn.rng.seeded(1000 + k), math.max(norm(C:center(), "l2"), 1))
              assert(ok, ("%s (example %d): %s"):format(C, k, tostring(problem)))
            end
          end
        end)
      end
    end)
  end
end
