-- prox_sum_spec.lua -- sums of functions under pn.prox: the numbers of the specification, closed forms against Dykstra's iteration,
-- groups that overlap.  What every operator must do is asked of sums and groups in prox_spec.lua.
local pn = require "penumbra"
local refused_with = require("tests.tools.refusal").refused_with

local P = pn.prox

local function near(want, got, tolerance)
  assert.equal(#want, #got)
  for i = 1, #want do
    assert.near(want[i], got[i], tolerance or 1e-12)
  end
end

-- The same operator, of which a sum knows nothing but its numbers.
local function opaque(prox)
  return P.custom{prox = function(v, step) return prox(v, step) end, value = function(v) return prox:value(v) end}
end

local function ball(radius, dim) return P.indicator(pn.set.l2_ball{dim = dim or 3, radius = radius}) end
local function box(lower, upper) return P.box{lower = lower, upper = upper} end

describe("variance-reduced.md section 9, item 1", function()
  local y = {3, -1, 0.5}

  it("has the operators of the table", function()
    near({2, 0, 0}, P.l1(1)(y, 1))
    near({2.06295743, -0.68765248, 0.34382624}, P.l2(1)(y, 1), 5e-9)
    near({1.25, -0.25, 0}, P.elastic_net{l1 = 0.5, l2 = 1}(y, 1))
    near({2, -1, 0.5}, P.linf(1)(y, 1))
    near({2, 0, 0}, P.indicator(pn.set.l1_ball{dim = 3, radius = 2})(y, 1))
    near({1, 0, 0}, P.indicator(pn.set.simplex{dim = 3})(y, 1))
    near({2.10557281, 0.44721360, 3.55278640, 4.10557281}, P.nuclear{lambda = 1, rows = 2, cols = 2}({3, 0, 4, 5}, 1), 5e-9)
  end)

  it("has the sums of the table, by Dykstra's iteration and in closed form", function()
    local clip = box({-1, -1, -1}, {2, 2, 2})
    near({2, -0.5, 0}, (P.l1(0.5) + clip)(y, 1))
    near({2, -0.5, 0}, (clip + P.l1(0.5))(y, 1))
    near({2, -0.5, 0}, (opaque(P.l1(0.5)) + clip)(y, 1))
    local above = P.indicator(pn.set.nonnegative{dim = 3} + {0.8, 0.8, 0.8})
    near({0.98488578, 0.8, 0.8}, (ball(1.5) + above)(y, 1), 5e-9)
    near({0.98488578, 0.8, 0.8}, (above + ball(1.5))(y, 1), 5e-9)
  end)
end)

describe("prox.sum", function()
  local rng = pn.rng.seeded(11)

  local function random_vector(n, scale)
    local v = {}
    for j = 1, n do v[j] = scale * (2 * rng:uniform() - 1) end
    return v
  end

  -- Each pair of prox_sum.c, and a square with what is no pair of anything.
  local pairs_of = {
    {P.l1(0.4), box({-1, 0, -0.5, 0.3}, {0, 2, 0.5, 0.9})},
    {P.l1(0.4), P.indicator(pn.set.nonnegative{dim = 4})},
    {P.l1(0.4), P.indicator(2 * pn.set.linf_ball{dim = 4} + {1, 0, 0, -2})},
    {P.l1(0.4), P.indicator(-1 * pn.set.nonnegative{dim = 4})},
    {P.elastic_net{l1 = 0.4, l2 = 2}, box({-1, 0, -0.5, 0.3}, {0, 2, 0.5, 0.9})},
    {P.huber{delta = 0.3, lambda = 2}, box({-1, 0, -0.5, 0.3}, {0, 2, 0.5, 0.9})},
    {P.l1(0.4), P.l2(0.6)},
    {P.linf(0.4), P.l2(0.6)},
    {P.nuclear{lambda = 0.4, rows = 2, cols = 2}, P.l2(0.6)},
    {P.norm{norm = pn.norm.group(2), lambda = 0.4}, P.l2(0.6)},
    {P.l1(0.4), ball(0.7, 4)},
    {P.group{lambda = 0.4, k = 3}, ball(0.7, 4)},
    {P.indicator(pn.set.nonnegative{dim = 4}), ball(0.7, 4)},
    {P.indicator(pn.set.second_order_cone{dim = 4}), P.l2(0.6)},
    {P.l1(0.4), P.group{lambda = 0.5, k = 3}},
    {P.l1(0.4), P.groups{groups = {{1, 4}, {3}}, lambda = 0.5}},
    {P.indicator(pn.set.nonnegative{dim = 4}), P.group{lambda = 0.5, k = 2}},
    {P.squared_l2(1.5), P.indicator(pn.set.simplex{dim = 4})},
    {P.elastic_net{l1 = 0.2, l2 = 3}, P.squared_l2(0.5)},
    {P.elastic_net{l1 = 0, l2 = 3}, P.linf(0.5)},
  }

  it("has closed forms that Dykstra's iteration agrees with", function()
    for _, pair in ipairs(pairs_of) do
      local a, b = pair[1], pair[2]
      local closed, other = {a + b, b + a}, opaque(a) + opaque(b)
      for _, scale in ipairs{0, 0.5, 3} do
        for _, step in ipairs{0.3, 2} do
          local v = random_vector(4, scale)
          local want = other(v, step)
          near(want, closed[1](v, step), 1e-9)
          near(want, closed[2](v, step), 1e-9)
        end
      end
    end
  end)

  -- A square has no part in the iteration: the closed form stays exact where Dykstra's would need 1e8 rounds.
  it("takes a square in one step, also a very large one", function()
    near({1 / (1 + 1e8), 0}, (P.l1(1) + P.squared_l2(1e8))({2, 0.5}, 1), 1e-22)
    near({0, 0}, (P.l1(1) + P.squared_l2(1e308))({2, 0.5}, 1e308), 1e-300)
    near({1, 1}, (box({1, 1}, {2, 2}) + P.squared_l2(1e308))({2, 0.5}, 1e308), 0)
    near({1, 1}, (box({1, 1}, {2, 2}) + P.squared_l2(1e308) + P.squared_l2(1e308))({2, 0.5}, 1e308), 0)
    near({0.5, -0.25}, (P.squared_l2(1) + P.squared_l2(2))({2, -1}, 1))
    near({2, -1}, (P.elastic_net{l1 = 0, l2 = 0} + P.elastic_net{l1 = 0, l2 = 0})({2, -1}, 1), 0)
  end)

  it("does not care how a sum of several is put together", function()
    local a, b, c, d = P.l1(0.3), P.linf(0.2), P.squared_l2(0.5), box({-0.1, -1, -1, 0.2}, {1, 1, 1, 1})
    for _ = 1, 5 do
      local v = random_vector(4, 2)
      local want = P.sum{a, b, c, d}(v, 0.7)
      near(want, (a + b + c + d)(v, 0.7), 1e-10)
      near(want, ((d + c) + (b + a))(v, 0.7), 1e-10)
      near(want, (d + (opaque(a) + (b + c)))(v, 0.7), 1e-10)
    end
  end)

  it("ends in the last of its sets", function()
    local set = pn.set.l2_ball{dim = 4, radius = 0.9}
    for _, parts in ipairs{{P.indicator(set), P.huber{}}, {P.huber{}, P.indicator(set)}, {P.indicator(set), P.linf(0.3)},
      {box({0.1, -1, -1, -1}, {1, 1, 1, 1}), P.indicator(set)}} do
      for _ = 1, 10 do
        local x = P.sum(parts)(random_vector(4, 3), 0.5)
        assert.is_true(x:norm() <= 0.9 * (1 + 4e-16))
      end
    end
  end)

  it("stops after the first round in which the second operator has nothing to do", function()
    local calls = 0
    local first = P.custom{prox = function(v, step)
      calls = calls + 1
      return P.l1(1)(v, step)
    end}
    near({3, 0}, (first + ball(9, 2))({4, 0.5}, 1), 0)
    assert.equal(1, calls)
  end)

  it("has the sum of the values, and 0 where a sum of sets has its result", function()
    local v = {1, -2, 0.5}
    assert.near(0.3 * 3.5 + 0.25 * 5.25, (P.l1(0.3) + P.squared_l2(0.5)):value(v), 1e-14)
    assert.equal(math.huge, (P.l1(0.3) + ball(1)):value(v))
    local both = ball(1.5) + box({0.8, 0.8, 0.8}, {9, 9, 9})
    assert.equal(math.huge, both:value(v))
    local x = both({3, -1, 0.5}, 1)
    assert.near(((3 - x[1]) ^ 2 + 1.8 ^ 2 + 0.3 ^ 2) / 2, both:envelope({3, -1, 0.5}, 1), 1e-10)
    assert.has_error(function() (P.l1(1) + P.l1(1):conjugate()):value(v) end,
      "P:value: conjugate of l1(lambda=1) has no value, only prox(v, step)")
  end)

  it("gives up on sets that do not meet, and leaves v alone", function()
    local apart = box({0, 0}, {1, 1}) + box({2, 2}, {3, 3})
    local v = pn.vec{5, 5}
    refused_with("prox.sum: Dykstra's iteration has not met 1e-12 (1 + ||v||) in 10000 rounds; do the sets meet?", apart, v, 1)
    near({5, 5}, v, 0)
  end)

  it("hands back the error of a part, and keeps its parts alive", function()
    local boom = {"boom"}
    local bad = P.custom{prox = function() error(boom) end} + P.linf(1)
    local ok, err = pcall(bad, {1, 2}, 1)
    assert.is_false(ok)
    assert.equal(boom, err)
    local nested = (P.custom{prox = function(v, step) return v / (1 + step) end} + P.l1(1)) + P.linf(0.5)
    collectgarbage()
    collectgarbage()
    assert.equal(2, #nested({3, 1}, 1))
  end)

  it("says what it is", function()
    assert.equal("l1(lambda=1) + l2(lambda=2) + squared_l2(lambda=5) prox",
      tostring(P.squared_l2(3) + P.elastic_net{l1 = 1, l2 = 2} + P.l2(2)))
    assert.equal("squared_l2(lambda=3) prox", tostring(P.squared_l2(1) + P.squared_l2(2)))
    local sum = ball(2) + P.l1(1)
    assert.equal("l1(lambda=1) + indicator(l2_ball(dim=3, radius=2)) prox", tostring(sum))
    assert.same({"sum", 3}, {sum.name, sum.dim})
    assert.is_nil((P.l1(1) + P.l2(1)).dim)
    sum = P.sum{ball(2), P.linf(1), ball(1), P.l1(1)} -- sets last, in their order
    assert.equal("linf(lambda=1) + l1(lambda=1) + indicator(l2_ball(dim=3, radius=2)) +\n" ..
      "    indicator(l2_ball(dim=3, radius=1)) prox",
      tostring(sum))
  end)

  it("refuses what is no sum of operators", function()
    refused_with("prox.sum: expected a list of proximal operators, got 3", P.sum, 3)
    refused_with("prox.sum: give at least 2 operators, got 1", P.sum, {P.l1(1)})
    refused_with("prox.sum: expected proximal operators, got 3 at entry 2", P.sum, {P.l1(1), 3})
    refused_with("P + Q: expected two proximal operators, got 3", function() return P.l1(1) + 3 end)
    refused_with("prox.sum: the operators have 3 and 2 entries, they must be equal", P.sum, {ball(1), P.l1(1), ball(1, 2)})
    refused_with("prox: v has 2 entries, the operator has 3", ball(1) + P.l1(1), {1, 2}, 1)
  end)
end)

describe("prox.groups", function()
  it("shrinks disjoint groups one by one and leaves the rest alone", function()
    local v = {3, -1, 4, 0.5, 2}
    local prox = P.groups{groups = {{1, 3}, {2}}, lambda = 0.5}
    local factor = 1 - 0.5 * math.sqrt(2) / 5
    near({3 * factor, -0.5, 4 * factor, 0.5, 2}, prox(v, 1), 1e-15)
    assert.near(0.5 * (math.sqrt(2) * 5 + 1), prox:value(v), 1e-15)
    prox = P.groups{groups = {{1, 3}, {2}}, weights = {2, 3}}
    near({3 * 0.6, 0, 4 * 0.6, 0.5, 2}, prox(v, 1), 1e-15)
    assert.near(13, prox:value(v), 1e-14)
    assert.near(1e200, P.groups{groups = {{1, 2}}, weights = {1}}:value{6e199, 8e199}, 1e186)
  end)

  it("solves overlapping groups as the sum of operators of each", function()
    local groups, weights = {{1, 2, 3}, {3, 4}, {4, 5, 1}, {2}}, {1, 0.5, 2, 0.1}
    local prox, parts = P.groups{groups = groups, weights = weights, lambda = 0.4}, {}
    for g, group in ipairs(groups) do
      parts[g] = opaque(P.groups{groups = {group}, weights = {weights[g]}, lambda = 0.4})
    end
    local rng = pn.rng.seeded(12)
    for _ = 1, 10 do
      local v = {}
      for j = 1, 5 do v[j] = 4 * rng:uniform() - 2 end
      near(P.sum(parts)(v, 0.8), prox(v, 0.8), 1e-9)
      assert.near(P.sum(parts):value(v), prox:value(v), 1e-13)
    end
  end)

  -- By hand: x = (a, b, a) by symmetry; from v = (2, 1, 2) with weights 1, (1 + 1/r) a = 2 and (1 + 2/r) b = 1, r^2 = a^2 + b^2,
  -- have a = 2r/(r + 1), b = r/(r + 2), and 4/(r + 1)^2 + 1/(r + 2)^2 = 1 at r = 1.11200...
  it("meets an overlap worked out by hand", function()
    local low, high = 1, 2
    for _ = 1, 60 do
      local r = (low + high) / 2
      if 4 / (r + 1) ^ 2 + 1 / (r + 2) ^ 2 > 1 then low = r else high = r end
    end
    local a, b = 2 * low / (low + 1), low / (low + 2)
    near({a, b, a}, P.groups{groups = {{1, 2}, {2, 3}}, weights = {1, 1}}({2, 1, 2}, 1), 1e-11)
  end)

  it("refuses lists that are no groups", function()
    refused_with("prox.groups: groups is missing; give a list of lists of coordinates, as in {{1, 2}, {2, 3}}", P.groups, {})
    refused_with("prox.groups: groups must be a list of lists of coordinates, as in {{1, 2}, {2, 3}}, got an empty table", P.groups,
      {groups = {}})
    refused_with("prox.groups: groups must be a list of lists of coordinates, as in {{1, 2}, {2, 3}}, got 3", P.groups,
      {groups = 3})
    refused_with("prox.groups: group 2 must be a list of coordinates, got 2", P.groups, {groups = {{1}, 2}})
    refused_with("prox.groups: group 1 must hold whole numbers from 1, got 0", P.groups, {groups = {{1, 0}}})
    refused_with("prox.groups: group 1 must hold whole numbers from 1, got 1.5", P.groups, {groups = {{1.5}}})
    refused_with("prox.groups: group 2 is empty", P.groups, {groups = {{1}, {}}})
    refused_with("prox.groups: group 1 has coordinate 2 twice", P.groups, {groups = {{2, 1, 2}}})
    refused_with("prox.groups: group 1 has coordinate 4, dim is 3", P.groups, {groups = {{1, 4}}, dim = 3})
    refused_with("prox.groups: weights has 2 entries, there are 1 groups", P.groups, {groups = {{1}}, weights = {1, 2}})
    refused_with("prox.groups: weights must be positive numbers, got 0 at entry 2", P.groups,
      {groups = {{1}, {2}}, weights = {1, 0}})
    refused_with("prox.groups: lambda must be a positive number, got -1", P.groups, {groups = {{1}}, lambda = -1})
    refused_with("prox.groups: v has 1 entries, the groups name entry 2", P.groups{groups = {{1, 2}}}, {1}, 1)
    refused_with("prox.groups: v has 1 entries, the groups name entry 2", P.groups{groups = {{1, 2}}}.value,
      P.groups{groups = {{1, 2}}}, {1})
  end)
end)
