-- prox_spec.lua -- what every operator of pn.prox must do, and the closed forms of each.
-- A new operator joins through pn.prox.names(); a line in `examples` adds cases to what its parameters suggest.
local pn = require "penumbra"
local defaults = require "tests.tools.defaults"
local refused_with = require("tests.tools.refusal").refused_with

local P = pn.prox

-- Operators with the number of entries to try them on.
local examples = {
  l1 = {{P.l1(0.7), 5}, {P.l1(3), 1}},
  l2 = {{P.l2(0.7), 5}, {P.l2(3), 1}},
  linf = {{P.linf(0.7), 5}, {P.linf(0.1), 7}, {P.linf(3), 1}},
  squared_l2 = {{P.squared_l2(0.7), 5}},
  elastic_net = {{P.elastic_net{l1 = 0.4, l2 = 1.5}, 5}, {P.elastic_net{l1 = 0, l2 = 2}, 3}, {P.elastic_net{l1 = 0, l2 = 0}, 3}},
  group = {{P.group{lambda = 0.5, k = 2}, 5}, {P.group{lambda = 0.5, k = 1}, 3}, {P.group{lambda = 1, k = 9}, 4}},
  nuclear = {{P.nuclear{lambda = 0.5, rows = 2, cols = 3}, 6}, {P.nuclear{lambda = 0.5, rows = 4, cols = 2}, 8},
    {P.nuclear{lambda = 1, rows = 1, cols = 3}, 3}},
  norm = {{P.norm{norm = pn.norm.l1(), lambda = 0.5}, 4}, {P.norm{norm = pn.norm.l2()}, 4},
    {P.norm{norm = pn.norm.linf()}, 4}, {P.norm{norm = pn.norm.nuclear(2, 3)}, 6},
    {P.norm{norm = pn.norm.spectral(2, 3), lambda = 0.3}, 6}, {P.norm{norm = pn.norm.interpolation(0.4)}, 5},
    {P.norm{norm = pn.norm.group(2), lambda = 0.5}, 5}, {P.norm{norm = pn.norm.group(2):dual(), lambda = 0.5}, 5},
    {P.norm{norm = pn.norm.lp(1.5)}, 4}, {P.norm{norm = pn.norm.interpolation(0.4):dual()}, 4}},
  huber = {{P.huber{}, 5}, {P.huber{delta = 0.3, lambda = 2}, 5}},
  box = {{P.box{lower = {-1, 0, 0.2}, upper = {1, 0, 3}}, 3}},
  indicator = {{P.indicator(pn.set.l1_ball{dim = 4}), 4}, {P.indicator(pn.set.simplex{dim = 4, radius = 2}), 4},
    {P.indicator(2 * pn.set.l2_ball{dim = 3} + {1, 0, 0}), 3}},
  custom = {{P.custom{prox = function(v, step) return v / (1 + step) end, value = function(v) return v:dot(v) / 2 end}, 4}},
  groups = {{P.groups{groups = {{1, 3}, {4}}, lambda = 0.7}, 5}, {P.groups{groups = {{1, 2, 3}, {3, 4}, {4, 1}}}, 4},
    {P.groups{groups = {{1, 2}, {2, 3}}, weights = {0.2, 3}, dim = 3}, 3}},
  sum = {{P.l1(0.7) + P.squared_l2(2), 4}, {P.squared_l2(1) + P.squared_l2(2), 4},
    {P.l1(0.4) + P.box{lower = {-1, 0.5, -2}, upper = {1, 2, -1}}, 3}, {P.l1(0.4) + P.l2(0.5), 4},
    {P.indicator(pn.set.nonnegative{dim = 4}) + P.group{lambda = 1, k = 2}, 4},
    {P.indicator(pn.set.l2_ball{dim = 3, radius = 1.5}) + P.box{lower = {0.2, -1, 0.2}, upper = {2, 2, 2}}, 3},
    {P.l1(0.7) + P.indicator(pn.set.l2_ball{dim = 3} + {1, -0.5, 0}), 3},
    {P.elastic_net{l1 = 0.3, l2 = 1} + P.indicator(pn.set.simplex{dim = 4}), 4},
    {P.nuclear{lambda = 0.5, rows = 2, cols = 2} + P.l1(0.3), 4},
    {P.sum{P.l1(0.3), P.linf(0.5), P.indicator(pn.set.l1_ball{dim = 3, radius = 2})}, 3}},
}
for _, name in ipairs(P.names()) do
  if not examples[name] then
    local guessed = defaults("prox", name)
    examples[name] = guessed and {{P[name](guessed[1]), 4}}
  end
end

local function random_vector(rng, n, scale)
  local out = {}
  for i = 1, n do
    out[i] = scale * (2 * rng:uniform() - 1)
  end
  return out
end

local function distance2(x, y)
  local sum = 0
  for i = 1, #x do
    sum = sum + (x[i] - y[i]) ^ 2
  end
  return sum
end

local function dot(x, y)
  local sum = 0
  for i = 1, #x do
    sum = sum + x[i] * y[i]
  end
  return sum
end

local function near(want, got, tolerance)
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.near(want[i], got[i], tolerance or 1e-12)
  end
end

-- luassert only when it fails: the loops below ask very often.
local function holds(condition, text)
  if not condition then
    assert.is_true(condition, text)
  end
end

local steps = {0.05, 1, 7}

-- Calls check(prox, v, step, x = prox(v, step)) for vectors of several sizes, the zero vector among them.
local function each_case(cases, rng, check)
  for _, case in ipairs(cases) do
    local prox, n = case[1], case[2]
    for _, scale in ipairs{0, 0.3, 3, 50} do
      for _, step in ipairs(steps) do
        local v = random_vector(rng, n, scale)
        check(prox, v, step, prox(v, step))
      end
    end
  end
end

for name, cases in pairs(examples) do
  describe("prox." .. name, function()
    it("beats every other point at f(x) + ||x - v||^2 / (2 step)", function()
      local rng = pn.rng.seeded(1)
      each_case(cases, rng, function(prox, v, step, x)
        local best = prox:envelope(v, step)
        local f = prox:value(x)
        if f < math.huge then
          assert.near(best, f + distance2(x, v) / (2 * step), 1e-9 * (1 + math.abs(best)))
        end
        for _, size in ipairs{1e-3, 0.1, 2} do
          for _ = 1, 8 do
            local y = random_vector(rng, #v, size)
            for i = 1, #v do y[i] = y[i] + x[i] end
            -- strong convexity: beyond the minimum by at least the square of the distance
            local other = prox:value(y) + distance2(y, v) / (2 * step)
            holds(other >= best + distance2(x, y) / (2 * step) - 1e-9 * (1 + math.abs(best)), tostring(prox))
          end
        end
      end)
    end)

    it("steps along a subgradient: f(y) >= f(x) + <v - x, y - x> / step", function()
      local rng = pn.rng.seeded(2)
      each_case(cases, rng, function(prox, v, step, x)
        local fx = prox:envelope(v, step) - distance2(x, v) / (2 * step)
        for _, scale in ipairs{0, 0.5, 5} do
          local y = prox(random_vector(rng, #v, scale), 0.1) -- where f is finite
          local fy = prox:value(y)
          local slope = 0
          for i = 1, #v do slope = slope + (v[i] - x[i]) * (y[i] - x[i]) / step end
          holds(fy >= fx + slope - 1e-8 * (1 + math.abs(fx) + math.abs(slope)), tostring(prox))
        end
      end)
    end)

    it("is firmly nonexpansive", function()
      local rng = pn.rng.seeded(3)
      each_case(cases, rng, function(prox, v, step, x)
        local w = random_vector(rng, #v, 4)
        local y = prox(w, step)
        local inner = 0
        for i = 1, #v do inner = inner + (x[i] - y[i]) * (v[i] - w[i]) end
        holds(distance2(x, y) <= inner + 1e-9 * (1 + inner), tostring(prox))
      end)
    end)

    it("splits v between itself and its conjugate", function()
      local rng = pn.rng.seeded(4)
      each_case(cases, rng, function(prox, v, step, x)
        local dual = prox:conjugate()
        local scaled = {}
        for i = 1, #v do scaled[i] = v[i] / step end
        local y = dual(scaled, 1 / step)
        for i = 1, #v do
          holds(math.abs(x[i] + step * y[i] - v[i]) <= 1e-9 * (1 + math.abs(v[i])), tostring(prox))
        end
        near(x, dual:conjugate()(v, step), 0)
        -- Fenchel: f(x) + f*(y) = <x, y> with f*(y) >= <z, y> - f(z) for the z at hand
        local fx = prox:envelope(v, step) - distance2(x, v) / (2 * step)
        local z = prox(random_vector(rng, #v, 3), 1)
        holds(dot(z, y) - prox:value(z) <= dot(x, y) - fx + 1e-8 * (1 + math.abs(dot(x, y)) + math.abs(fx)), tostring(prox))
      end)
    end)

    it("leaves v alone", function()
      local prox, n = cases[1][1], cases[1][2]
      local v = pn.vec(random_vector(pn.rng.seeded(5), n, 3))
      local copy = v:copy()
      prox(v, 1)
      prox:conjugate()(v, 1)
      assert.is_true(v == copy)
    end)
  end)
end

describe("proximal operators", function()
  local v = {3, -1, 0.5, 2}

  it("has an example of every operator", function()
    for _, name in ipairs(P.names()) do
      assert.is_table(examples[name], name)
    end
  end)

  -- By hand, from the optimality conditions.
  it("has the closed forms of its table", function()
    near({2.5, -0.5, 0, 1.5}, P.l1(0.5)(v, 1))
    near({2.5, -0.5, 0, 1.5}, P.l1(1)(v, 0.5))
    local norm = math.sqrt(14.25)
    near({3 - 3 / norm, -1 + 1 / norm, 0.5 - 0.5 / norm, 2 - 2 / norm}, P.l2(1)(v, 1))
    near({0, 0, 0, 0}, P.l2(4)(v, 1), 0)
    near({1.5, -0.5, 0.25, 1}, P.squared_l2(1)(v, 1))
    near({1.25, -0.25, 0, 0.75}, P.elastic_net{l1 = 0.5, l2 = 1}(v, 1))
    near({2, -1, 0.5, 2}, P.linf(1)(v, 1)) -- 1 is taken from the largest
    near({1.5, -1, 0.5, 1.5}, P.linf(2)(v, 1)) -- and then from two
    near({0, 0, 0, 0}, P.linf(6.5)(v, 1))
    near({3 - 3 / math.sqrt(10), -1 + 1 / math.sqrt(10), 0, 0}, P.group{lambda = 1, k = 2}({3, -1, 0.5, 0.8}, 1))
    near({2, 0, 0, 0}, P.nuclear{lambda = 1, rows = 2, cols = 2}({3, 0, 0, 1}, 1))
    near({0.25, -0.5, 0.5, 1.5}, P.huber{}({0.5, -1, 1, 2.5}, 1))
    near({1, 0, 0.5, 1}, P.box{lower = {0, 0, 0, 0}, upper = {1, 1, 1, 1}}(v, 9), 0)
    near({1, 0, 0, 0}, P.indicator(pn.set.l1_ball{dim = 4})(v, 9)) -- geometry.md section 4
  end)

  it("agrees between the operator of a norm and that of its name", function()
    near(P.l1(0.3)(v, 2), P.norm{norm = pn.norm.l1(), lambda = 0.3}(v, 2))
    near(P.l2(0.3)(v, 2), P.norm{norm = pn.norm.l2(), lambda = 0.3}(v, 2))
    near(P.group{lambda = 0.3, k = 2}(v, 2), P.norm{norm = pn.norm.group(2), lambda = 0.3}(v, 2), 1e-10)
    -- (1 - t a/||u||_2)_+ u with u the soft threshold of v at t (1 - a): geometry.md section 2.6
    -- the last but one leaves next to nothing, the last nothing: N*(v) = 3.0718
    for _, t in ipairs{0.01, 1, 2, 3, 3.07, 3.08} do
      near(P.l2(0.5 * t)(P.l1(0.5 * t)(v, 1), 1), P.norm{norm = pn.norm.interpolation(0.5), lambda = t}(v, 1), 1e-9)
    end
    near(P.nuclear{lambda = 0.3, rows = 2, cols = 2}(v, 2), P.norm{norm = pn.norm.nuclear(2, 2), lambda = 0.3}(v, 2))
  end)

  it("gives the values of its functions", function()
    assert.near(6.5, P.l1(1):value(v), 1e-15)
    assert.near(2 * math.sqrt(14.25), P.l2(2):value(v), 1e-14)
    assert.equal(6, P.linf(2):value(v))
    assert.near(14.25, P.squared_l2(2):value(v), 1e-14)
    assert.near(6.5 + 14.25, P.elastic_net{l1 = 1, l2 = 2}:value(v), 1e-14)
    assert.near(math.sqrt(10) + math.sqrt(4.25), P.group{lambda = 1, k = 2}:value(v), 1e-14)
    assert.near(4, P.nuclear{lambda = 1, rows = 2, cols = 2}:value{3, 0, 0, 1}, 1e-14)
    assert.near(0.125 + 0.5 + 2, P.huber{}:value{0.5, -1, 2.5}, 1e-15)
    assert.equal(math.huge, P.indicator(pn.set.l2_ball{dim = 4}):value(v))
    assert.equal(0, P.box{lower = {0}, upper = {1}}:value{1})
    assert.near(0.5 * 2.5 + 0.125 + 0.125, P.l1(0.5):envelope({3}, 1) + P.l1(0.5):envelope({0.5}, 1), 1e-15)
  end)

  it("takes a projection to be in its set, whatever the set says", function()
    if not pn.reference()["set.custom"] then return end
    local set = pn.set.custom{dim = 1, radius = 1, project = function() return {0.5} end, contains = function() return false end}
    assert.near(0.125, P.indicator(set):envelope({1}, 1), 1e-15)
  end)

  it("goes to the limits of its steps", function()
    local tiny, huge = 5e-324, 1e308
    for _, name in ipairs{"l1", "l2", "linf", "squared_l2"} do
      near(v, P[name](0.5)(v, tiny), 1e-15)
      near({0, 0, 0, 0}, P[name](1e308)(v, huge), 1e-300)
    end
    near({0, 0, 0, 0}, P.norm{norm = pn.norm.linf(), lambda = 1e308}(v, huge), 0)
    near(v, P.elastic_net{l1 = 0, l2 = 0}(v, huge), 0)
  end)

  it("says what it is", function()
    assert.equal("l1(lambda=0.5) prox", tostring(P.l1(0.5)))
    assert.equal("elastic_net(l1=1, l2=2) prox", tostring(P.elastic_net{l1 = 1, l2 = 2}))
    assert.equal("nuclear(lambda=1, rows=2, cols=3) prox", tostring(P.nuclear{lambda = 1, rows = 2, cols = 3}))
    assert.equal("conjugate of group(lambda=1, k=2) prox", tostring(P.group{lambda = 1, k = 2}:conjugate()))
    assert.equal("norm(linf, lambda=2) prox", tostring(P.norm{norm = pn.norm.linf(), lambda = 2}))
    assert.equal("indicator(l2_ball(dim=4, radius=1)) prox", tostring(P.indicator(pn.set.l2_ball{dim = 4})))
    assert.equal("custom(dim=3) prox", tostring(P.custom{dim = 3, prox = print}))
    assert.same({"nuclear", 6}, {P.nuclear{lambda = 1, rows = 2, cols = 3}.name, P.nuclear{lambda = 1, rows = 2, cols = 3}.dim})
    assert.is_nil(P.l1(1).dim)
  end)

  it("refuses what is not its kind, and says what would be", function()
    refused_with("prox.l1: lambda is missing; give a positive number (weight of the term)", P.l1)
    refused_with("prox.l1: lambda must be a positive number, got -1", P.l1, -1)
    refused_with('prox.l2: lambda must be a positive number, got the string "x"', P.l2, "x")
    refused_with("prox.l1: expected lambda, or one table of options, got 2 arguments", P.l1, 1, 2)
    refused_with("prox.group: expected one table of options, got 2 arguments", P.group, 1, 2)
    refused_with("prox.group: k must be a whole number from 1, got 0", P.group, {lambda = 1, k = 0})
    refused_with("prox.elastic_net: l2 must be a number >= 0, got -1", P.elastic_net, {l1 = 1, l2 = -1})
    refused_with("prox.indicator: set is missing; give a pn.set (the set, which must have a projection)", P.indicator)
    refused_with("prox.indicator: set must be a pn.set, got 3", P.indicator, 3)
    refused_with("prox.norm: norm must be a pn.norm, got 3", P.norm, {norm = 3})
    refused_with("prox.box: set.box: lower must be <= upper, got 1 > 0 at entry 1", P.box, {lower = {1}, upper = {0}})
    refused_with("prox.nuclear: norm.nuclear: rows x cols, 1099511627776 x 1099511627776, must be at most 2^48", P.nuclear,
      {lambda = 1, rows = 1 << 40, cols = 1 << 40})
    refused_with("prox: step must be a positive number, got 0", P.l1(1), v, 0)
    refused_with("prox: step must be a positive number, got -1", P.l1(1), v, -1)
    refused_with("prox: step must be a positive number, got inf", P.l1(1), v, math.huge)
    refused_with("prox: step must be a positive number, got nan", P.l1(1), v, 0 / 0)
    refused_with("prox: step must be a positive number, got nothing", P.l1(1), v)
    refused_with("prox: v has no entries, there must be at least one", P.l1(1), {}, 1)
    refused_with("prox: v has 4 entries, the operator has 6", P.nuclear{lambda = 1, rows = 2, cols = 3}, v, 1)
    local bad = pn.vec{1, 1}
    bad = bad * 1e308 * 10
    refused_with("prox: v must hold finite numbers, got inf at entry 1", P.l1(1), bad, 1)
    refused_with("P:value: v must hold finite numbers, got inf at entry 1", P.l1(1).value, P.l1(1), bad)
    refused_with("P:envelope: v has no entries, there must be at least one", P.l1(1).envelope, P.l1(1), {}, 1)
    local dual = P.l1(1):conjugate()
    refused_with("P:value: conjugate of l1(lambda=1) has no value, only prox(v, step)", dual.value, dual, v)
  end)
end)

describe("prox.custom", function()
  it("hands its function a copy and the step", function()
    local seen
    local prox = P.custom{prox = function(v, step)
      seen = {#v, v[1], step}
      v[1] = 99
      return {7, 8}
    end}
    local v = pn.vec{1, 2}
    near({7, 8}, prox(v, 0.25), 0)
    assert.same({2, 1, 0.25}, seen)
    assert.equal(1, v[1])
  end)

  it("hands back the caller's own error value", function()
    local boom = {"boom"}
    local prox = P.custom{prox = function() error(boom) end, value = function() error(boom) end}
    for _, call in ipairs{prox, prox.value, prox.envelope} do
      local ok, err = pcall(call, call == prox and {1} or prox, call == prox and 1 or {1}, 1)
      assert.is_false(ok)
      assert.equal(boom, err)
    end
    local ok, err = pcall(prox:conjugate(), {1}, 1)
    assert.is_false(ok)
    assert.equal(boom, err)
  end)

  it("refuses results that are no vector of that length", function()
    local function result(what)
      return select(2, pcall(P.custom{prox = function() return what end}, {1, 2}, 1))
    end
    assert.matches("prox.custom: prox must return a vector of 2 numbers, got 1 of them", result{1}, 1, true)
    assert.matches("prox.custom: prox must return finite numbers, got inf at entry 2", result{1, math.huge}, 1, true)
    assert.matches("prox.custom: prox must return a vector of 2 numbers, got 3", result(3), 1, true)
    assert.has_error(function() P.custom{} end,
      "prox.custom: prox is missing; give a function(v, step) that returns a vector")
    assert.has_error(function() P.custom{prox = 3} end, "prox.custom: prox must be a function, got 3")
    assert.has_error(function() P.custom{prox = print}:value{1} end, "P:value: prox.custom was given no value= function")
    assert.has_error(function() P.custom{prox = print, dim = 2}({1}, 1) end, "prox: v has 1 entries, the operator has 2")
  end)

  it("stays alive in what is made of it", function()
    local dual = P.custom{prox = function(v, step) return v / (1 + step) end}:conjugate()
    collectgarbage()
    collectgarbage()
    near({0.5}, dual({1}, 1), 1e-15)
    near({0.5}, dual:conjugate()({1}, 1), 1e-15)
  end)
end)
