-- norm_spec.lua -- what every norm of pn.norm must do, and the values of each.
-- A new norm joins through pn.norm.names(); one whose unit ball is not yet among pn.set.names() is left out.
local pn = require "penumbra"
local defaults = require "tests.tools.defaults"
local refused_with = require("tests.tools.refusal").refused_with

local N = pn.norm

local known = {}
for _, name in ipairs(pn.set.names()) do
  known[name] = true
end

-- Norms by name, each with the number of entries to try it on, and the ball that it needs.
local examples = {
  l1 = {{N.l1(), 5}, {N.l1(), 1}},
  l2 = {{N.l2(), 5}, {N.l2(), 1}},
  linf = {{N.linf(), 5}, {N.linf(), 1}},
  lp = {{N.lp(1), 4}, {N.lp(1.5), 5}, {N.lp(2), 4}, {N.lp(7), 4}, {N.lp(1.5), 1}},
  group = {{N.group(2), 5}, {N.group(1), 4}, {N.group(4), 4}},
  interpolation = {{N.interpolation(0.5), 5}, {N.interpolation(0), 4}, {N.interpolation(1), 4}, {N.interpolation(0.3), 1}},
  nuclear = {{N.nuclear(2, 3), 6}, {N.nuclear(3, 1), 3}},
  spectral = {{N.spectral(2, 3), 6}, {N.spectral(3, 1), 3}},
  minkowski = {
    {N.minkowski(pn.set.polytope{vertices = {{1, 0}, {0, 1}, {-1, -1}}}), 2},
    {N.minkowski(pn.set.simplex{dim = 4, radius = 2}), 4},
    {N.minkowski(3 * pn.set.linf_ball{dim = 3}), 3},
    {N.minkowski(pn.set.box{lower = {-1, -2, 1}, upper = {1, 5, 2}}), 3},
  },
}
for _, name in ipairs(N.names()) do
  if not examples[name] then
    local guessed = defaults("norm", name)
    examples[name] = guessed and {{N[name](guessed[1]), 4}}
  end
end

-- The duals whose ball can be made join as norms of their own.
local function with_duals(cases)
  local out = {}
  for _, case in ipairs(cases) do
    out[#out + 1] = case
    out[#out + 1] = {case[1]:dual(), case[2]}
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

-- luassert only when it fails: the loops below ask very often.
local function holds(condition, text)
  if not condition then
    assert.is_true(condition, text)
  end
end

local function close(want, got, tolerance, text)
  holds(math.abs(want - got) <= tolerance * (1 + math.abs(want)), text)
end

-- Gauges by bisection are good to 1e-9 relative.
local tolerance = 4e-9

for name, cases in pairs(examples) do
  local ball = name .. "_ball"
  local there = name == "minkowski" or known[ball]
  local describe_it = there and describe or function() end

  describe_it("norm." .. name, function()
    it("is a norm, and so is its dual", function()
      local rng = pn.rng.seeded(1)
      for _, case in ipairs(with_duals(cases)) do
        local norm, n = case[1], case[2]
        local text = tostring(norm)
        assert.equal(0, norm(random_vector(rng, n, 0)), text)
        for _ = 1, 30 do
          local x, y = random_vector(rng, n, 3), random_vector(rng, n, 0.5)
          local nx = norm(x)
          holds(nx > 0, text)
          holds(norm(combine(1, x, 1, y)) <= (nx + norm(y)) * (1 + tolerance), text)
          close(2.5 * nx, norm(combine(-2.5, x, 0, x)), tolerance, text)
          close(nx, norm:value(x), 0, text)
        end
      end
    end)

    it("bounds <x, y> by its dual, with equality at support points of the ball", function()
      local rng = pn.rng.seeded(2)
      for _, case in ipairs(cases) do
        local norm, n, dual = case[1], case[2], case[1]:dual()
        local text = tostring(norm)
        local unit = norm:ball(n)
        for _ = 1, 20 do
          local x, y = random_vector(rng, n, 2), random_vector(rng, n, 2)
          holds(math.abs(dot(x, y)) <= norm(x) * dual(y) * (1 + tolerance), text)
          local value, point = unit:support(y)
          local at = combine(1, point, 0, point)
          close(value, dual(y), tolerance, text)
          close(1, norm(at), 1e-7, text) -- on the sphere
          close(dot(at, y), dual(y), tolerance, text)
        end
      end
    end)

    it("is the dual of its dual", function()
      for _, case in ipairs(cases) do
        local norm, n = case[1], case[2]
        assert.is_true(norm:dual():dual() == norm, tostring(norm))
        assert.equal(tostring(norm), tostring(norm:dual():dual()))
        local x = random_vector(pn.rng.seeded(3), n, 1)
        assert.equal(norm(x), norm:dual():dual()(x))
      end
    end)

    it("has a unit ball that is where it is at most 1", function()
      local rng = pn.rng.seeded(4)
      for _, case in ipairs(with_duals(cases)) do
        local norm, n = case[1], case[2]
        local unit = norm:ball(n)
        assert.equal(n, unit.dim)
        for _ = 1, 20 do
          local x = random_vector(rng, n, 1)
          local size = norm(x)
          holds(unit:contains(combine(1 / size, x, 0, x), 1e-7), tostring(norm))
          holds(not unit:contains(combine(1.01 / size, x, 0, x), 1e-9), tostring(norm))
        end
      end
    end)

    it("clips rows, and what is recorded of them holds", function()
      local rng = pn.rng.seeded(5)
      for _, case in ipairs(with_duals(cases)) do
        local norm, n = case[1], case[2]
        local rows, labels = {}, {}
        for i = 1, 40 do
          rows[i], labels[i] = random_vector(rng, n, i % 7), 0
        end
        local clipped = pn.data.from(rows, labels):clip_rows(norm, 1.5)
        for i = 1, 40 do
          local row = combine(1, clipped.X[i], 0, rows[i])
          local before = norm(rows[i])
          close(math.min(before, 1.5), norm(row), 1e-8, tostring(norm))
          local v = pn.vec(row)
          holds(v:norm(1) <= clipped.bounds.l1 and v:norm() <= clipped.bounds.l2 and
            v:norm(math.huge) <= clipped.bounds.linf, tostring(norm))
        end
        local unit = norm:ball(n)
        holds(clipped.bounds.l2 <= 1.5 * unit:radius_in("l2") * (1 + 1e-12), tostring(norm))
      end
    end)
  end)
end

describe("norms", function()
  local v = {3, -1, 0.5, 2}

  it("have an example each", function()
    for _, name in ipairs(N.names()) do
      assert.is_table(examples[name], name)
    end
  end)

  it("have the values of the specification", function()
    assert.equal(6.5, N.l1()(v))
    assert.near(math.sqrt(14.25), N.l2()(v), 1e-15)
    assert.equal(3, N.linf()(v))
    assert.near(4, N.nuclear(2, 2){3, 0, 0, 1}, 1e-14)
    assert.near(3, N.spectral(2, 2){3, 0, 0, 1}, 1e-14)
    if known.lp_ball then
      assert.near((3 ^ 1.5 + 1 + 0.5 ^ 1.5 + 2 ^ 1.5) ^ (1 / 1.5), N.lp(1.5)(v), 1e-13)
    end
    if known.group_ball then
      assert.near(math.sqrt(10) + math.sqrt(4.25), N.group(2)(v), 1e-14)
      assert.near(math.sqrt(10), N.group(2):dual()(v), 1e-14)
    end
    if known.interpolation_ball then -- geometry.md section 4
      assert.near(5.137458609, N.interpolation(0.5)(v), 1e-9)
      assert.near(3.071796770, N.interpolation(0.5):dual()(v), 1e-9)
    end
    -- conv(C u -C) of the triangle is the hexagon with the vertices +-(1, 0), +-(0, 1), +-(1, 1)
    local hexagon = N.minkowski(pn.set.polytope{vertices = {{1, 0}, {0, 1}, {-1, -1}}})
    assert.near(1, hexagon{1, 1}, 1e-8)
    assert.near(2, hexagon{1, -1}, 1e-8)
    assert.near(1, hexagon{1, 0.5}, 1e-8)
    assert.equal(2, hexagon:dual(){1, 1})
    assert.equal(1, hexagon:dual(){1, -1})
    assert.near(6.5 / 2, N.minkowski(pn.set.simplex{dim = 4, radius = 2})(v), 1e-12)
  end)

  it("are infinite outside the span of a flat ball", function()
    local flat = N.minkowski(pn.set.polytope{vertices = {{1, 1}, {-1, -1}}})
    assert.equal(math.huge, flat{1, -1})
    local clipped = pn.data.from({{1, -1}, {3, 3}}, {0, 0}):clip_rows(flat, 1)
    assert.same({0, 0}, {clipped.X:get(1, 1), clipped.X:get(1, 2)})
    assert.near(1, clipped.X:get(2, 1), 1e-8)
  end)

  it("neither overflow nor underflow on the way", function()
    assert.near(5e200, N.l2(){3e200, 4e200}, 1e186)
    assert.near(5e-200, N.l2(){3e-200, 4e-200}, 1e-214)
  end)

  it("name their duals", function()
    assert.is_true(N.l1():dual() == N.linf() and N.linf():dual() == N.l1() and N.l2():dual() == N.l2())
    assert.is_true(N.lp(3):dual() == N.lp(1.5) and N.lp(1):dual() == N.linf())
    assert.is_true(N.nuclear(2, 3):dual() == N.spectral(2, 3) and N.spectral(2, 3):dual() == N.nuclear(2, 3))
    assert.equal("dual of group(k=4) norm", tostring(N.group(4):dual()))
    assert.equal("dual of interpolation(alpha=0.5) norm", tostring(N.interpolation(0.5):dual()))
    assert.equal("dual of minkowski(l1_ball(dim=2, radius=1)) norm", tostring(N.minkowski(pn.set.l1_ball{dim = 2}):dual()))
  end)

  it("say what they are, and whether they are the same", function()
    assert.equal("l1 norm", tostring(N.l1()))
    assert.equal("lp(q=1.5) norm", tostring(N.lp(1.5)))
    assert.equal("nuclear(rows=2, cols=3) norm", tostring(N.nuclear{rows = 2, cols = 3}))
    assert.equal(6, N.nuclear(2, 3).dim)
    assert.equal(2, N.minkowski(pn.set.l1_ball{dim = 2}).dim)
    assert.is_nil(N.group(2).dim)
    assert.is_false(N.group(2) == N.group(3))
    assert.is_false(N.group(2) == N.group(2):dual())
    assert.is_false(N.lp(1.5) == N.lp(1.6))
    assert.is_false(N.l1() == 3)
    local set = pn.set.l1_ball{dim = 2}
    assert.is_true(N.minkowski(set) == N.minkowski(set))
    assert.is_false(N.minkowski(set) == N.minkowski(pn.set.l1_ball{dim = 2}))
    assert.equal("linf_ball(dim=3, radius=1)", tostring(N.linf():ball(3)):match "^[^:]*")
    assert.equal(6, N.nuclear(2, 3):ball().dim)
  end)

  it("refuse what is none, and say what would be", function()
    local exponent = "norm.lp: q must be a finite number from 1 (norm.linf() is the limit), got "
    refused_with("norm.l1: takes no options, got 2", N.l1, 2)
    refused_with(exponent .. "0.5", N.lp, 0.5)
    refused_with(exponent .. "inf", N.lp, math.huge)
    refused_with(exponent .. "nan", N.lp, 0 / 0)
    refused_with('norm.lp: q must be a positive number, got the string "x"', N.lp, "x")
    refused_with("norm.lp: q is missing; give a positive number (the exponent, from 1; norm.linf() is the limit)", N.lp)
    refused_with("norm.group: k must be a whole number from 1, got 0", N.group, 0)
    refused_with("norm.group: k must be a whole number from 1, got 1.5", N.group{k = 2} and N.group, 1.5)
    refused_with("norm.interpolation: alpha must be a number from 0 to 1, got 1.5", N.interpolation, 1.5)
    refused_with("norm.nuclear: cols is missing; give a whole number from 1 (columns of the matrix)", N.nuclear, 2)
    refused_with("norm.nuclear: expected rows, cols, or one table of options, got 3 arguments", N.nuclear, 2, 3, 4)
    refused_with("norm.spectral: rows x cols, 1099511627776 x 1099511627776, must be at most 2^48", N.spectral, 1 << 40, 1 << 40)
    refused_with("norm.minkowski: expected a pn.set, got 3", N.minkowski, 3)
    refused_with("norm.minkowski: expected a pn.set, got nothing", N.minkowski)
    refused_with("N:value: v has no entries, a norm needs at least one", N.l2(), {})
    refused_with("N:value: v has 1 entries, the norm has 6", N.nuclear(2, 3), {1})
    refused_with("N:value: v must hold finite numbers, got inf at entry 2", N.l2(), pn.vec{0, 1e308} * 10)
    refused_with("N:ball: dim must be a whole number from 1, got nothing", N.l2().ball, N.l2())
    refused_with("N:ball: the ball has 5 entries, the norm has 6", N.nuclear(2, 3).ball, N.nuclear(2, 3), 5)
    if known.free then
      refused_with("norm.minkowski: the set must be bounded, free is not", N.minkowski, pn.set.free{dim = 2})
    end
  end)

  it("keep a set of a user's functions alive", function()
    if not pn.reference()["set.custom"] then return end
    local norm = N.minkowski(pn.set.custom{dim = 2, radius = 1, symmetric = true, support = function(g)
      local size = g:norm()
      return size > 0 and g / size or {1, 0}
    end}):dual():dual():dual()
    collectgarbage()
    collectgarbage()
    assert.near(5, norm{3, 4}, 1e-12)
  end)
end)
