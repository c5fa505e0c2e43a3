-- custom_set_spec.lua -- sets by a user's functions: as good as the others, and tried before anything is spent.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal

local function to_ball(v, radius)
  local size = v:norm()
  return size > radius and v * (radius / size) or v
end

local function on_ball(g, radius)
  local size = g:norm()
  return size > 0 and g * (radius / size) or g
end

local function near(want, got, tolerance)
  assert.is_true((pn.vec(want) - got):norm() <= tolerance, tostring(got))
end

describe("a custom set", function()
  local by_support = pn.set.custom{dim = 3, radius = 2, support = function(g) return on_ball(g, 2) end}
  local by_project = pn.set.custom{dim = 3, radius = 2, symmetric = true, name = "mine",
    project = function(v) return to_ball(v, 2) end}
  local ball = pn.set.l2_ball{dim = 3, radius = 2}

  it("does what the same set of the table does, by its support or by its projection", function()
    for _, C in ipairs {by_support, by_project} do
      for _, g in ipairs {{1, 2, 2}, {-3, 0, 0.5}, {0, 0, 1e-3}, {1e6, -1, 0}} do
        local value, point = C:support(g)
        assert.is_near(2 * pn.vec(g):norm(), value, 1e-9 * pn.vec(g):norm())
        near(select(2, ball:support(g)), point, 2e-5) -- the value is flat at the maximum
        near(ball:project(g), C:project(g), 1e-8 + 1e-9 * pn.vec(g):norm())
        assert.is_near(ball:gauge(g), C:gauge(g), 1e-7 * ball:gauge(g))
        assert.is_near(ball:dual_norm(g), C:dual_norm(g), 1e-9 * ball:dual_norm(g))
      end
      assert.is_true(C:contains{0, 2, 0})
      assert.is_false(C:contains{0, 2.001, 0})
      assert.equal(4, C.diameter)
      near({0, 0, 0}, C:center(), 1e-12)
      assert.is_near(pn.width(ball).value, pn.width(C, {draws = 3000}).value, 0.15)
      assert.is_true(C:contains((C:sample(pn.rng.seeded(1))), 1e-7))
    end
    assert.is_true(by_project.symmetric)
    assert.equal("mine(dim=3, radius=2): l2 radius 2, diameter 4, width: C:width()", tostring(by_project))
    assert.equal("custom", by_support.name)
  end)

  it("keeps what the conformance check asks for", function()
    for _, C in ipairs {by_support, by_project, 2 * by_support + {1, 2, 3}, by_support + by_project} do
      local report = tostring(pn.check(C))
      assert.truthy(report:find("keeps all promises", 1, true), report)
    end
  end)

  it("has an exact support by projections over a polytope", function()
    local simplex = pn.set.simplex{dim = 5}
    local C = pn.set.custom{dim = 5, radius = 1, project = function(v) return simplex:project(v) end}
    local value, point = C:support{0.1, -2, 0.7, 0.7 - 1e-3, 0}
    assert.is_near(0.7, value, 1e-12)
    near({0, 0, 1, 0, 0}, point, 1e-9)
  end)

  it("finds a center, or checks the one that is given", function()
    local function shifted(center, contains)
      return pn.set.custom{dim = 2, radius = 20, center = center, contains = contains,
        project = function(v) return to_ball(v - {10, 0}, 1) + {10, 0} end}
    end
    assert.is_true(shifted():contains(shifted():center()))
    near({10.5, 0}, shifted{10.5, 0}:center(), 0)
    assert.error_matches(function() shifted{0, 0} end, "center is not in the set")
    near({10, 0}, shifted({10, 0}, function() return false end):center(), 0) -- the projection leaves it where it is
    assert.error_matches(function() pn.set.custom{dim = 2, contains = function() return false end,
      support = function(g) return on_ball(g, 1) end} end, "contains refuses a point made of what support returned")
    local far = pn.set.custom{dim = 2, radius = 20, support = function(g) return on_ball(g, 1) + {10, 0} end}
    near({10, 0}, far:center(), 1e-12)
  end)

  it("may be unbounded, and then says what it has not", function()
    local U = pn.set.custom{dim = 2, project = function(v) return {math.max(v[1], 0), math.max(v[2], 0)} end}
    assert.is_false(U.bounded)
    assert.equal("custom(dim=2, unbounded): unbounded", tostring(U))
    near({0, 2}, U:project{-1, 2}, 0)
    assert.is_true(U:contains{3, 0})
    assert.error_matches(function() U:support{1, 1} end, "no support function")
    assert.error_matches(function() pn.width(U) end, "unbounded")
  end)

  it("takes whatever can be called", function()
    local callable = setmetatable({}, {__call = function(_, v) return to_ball(v, 1) end})
    near({1, 0}, pn.set.custom{dim = 2, radius = 1, project = callable}:project{5, 0}, 1e-15)
  end)
end)

describe("the functions of a custom set", function()
  local function message(options)
    options.dim, options.radius = 3, options.radius or 1
    return refusal(pn.set.custom, options)
  end
  local function returning(value) return function() return value end end

  it("are tried at once, and what is wrong is said", function()
    for want, options in pairs {
      ['support must return a vector of 3 numbers, got the string "x"'] = {support = returning "x"},
      ["support must return a vector of 3 numbers, got nil"] = {support = returning(nil)},
      ["support must return a vector of 3 numbers, got 2 of them"] = {support = returning{1, 2}},
      ["support must return a vector of 3 numbers, got 4 of them"] = {support = returning(pn.vec{1, 2, 3, 4})},
      ['support must return a vector of 3 numbers, got the string "2" at entry 2'] = {support = returning{1, "2", 3}},
      ["support must return finite numbers, got nan at entry 3"] = {support = returning{0, 0, 0 / 0}},
      ["project must return finite numbers, got inf at entry 1"] = {project = returning{math.huge, 0, 0}},
      ["support returned a point of l2 norm 3, but the radius of the set is said to be 1"] = {support = returning{0, 3, 0}},
      ["project returned a point of l2 norm 5"] = {project = returning{3, 4, 0}},
      ["is it the smallest?"] = {support = function(g) return on_ball(-1 * g, 1) end},
      ["symmetric says that C = -C"] = {symmetric = true, support = returning{1, 0, 0}},
      ["project must leave points of the set where they are; it moves one that it returned"] =
        {project = function(v) return 0.3 * v end},
      ["it moves one that support returned"] = {support = function(g) return on_ball(g, 1) end,
        project = function(v) return to_ball(v, 0.5) end},
      ["contains must return true or false, got 1"] = {contains = returning(1), project = function(v) return to_ball(v, 1) end},
      ["support must be a function, got 3"] = {support = 3},
      ["give support=function(g) -> point, project=function(v) -> point, or both"] = {contains = returning(true)},
      ["radius must be a number >= 0, got -1"] = {radius = -1, support = returning{0, 0, 0}},
      ["center has 2 entries, dim is 3"] = {center = {1, 2}, support = returning{0, 0, 0}},
      ["name must be a string, got 7"] = {name = 7, support = returning{0, 0, 0}},
      ["unknown option 'suport'"] = {suport = returning{0, 0, 0}},
    } do
      local got = message(options)
      assert.truthy(got:find(want, 1, true), got)
    end
    assert.error_matches(function() pn.set.custom() end, "expected a table of options, got n")
    assert.error_matches(function() pn.set.custom{} end, "dim is missing")
  end)

  it("hand their own error to whoever called, then and later", function()
    local mine, broken = {"mine"}, true
    local function f(g)
      if broken then error(mine) end
      return on_ball(g, 1)
    end
    local ok, got = pcall(pn.set.custom, {dim = 2, radius = 1, support = f})
    assert.is_false(ok)
    assert.equal(mine, got)
    broken = false
    local C = pn.set.custom{dim = 2, radius = 1, support = f}
    local D = 2 * C + {1, 1}
    broken = true
    for _, call in ipairs {
      function() C:support{1, 0} end, function() C:project{5, 0} end, function() C:contains{1, 0} end, function() C:gauge{1, 0} end,
      function() C:dual_norm{1, 0} end, function() C:sample() end, function() pn.width(C) end, function() D:support{1, 0} end,
      function() D:project{9, 9} end, function() (C + D):support{1, 1} end, function() pn.width(C + D) end,
      function() C:hull(D):support{1, 1} end, function() C:product(D):support{1, 1, 2, 3} end,
    } do
      ok, got = pcall(call)
      assert.is_false(ok)
      assert.equal(mine, got)
    end
    broken = false
    assert.equal(3, (D:support{1, 0}))
  end)

  it("are looked at in every later call, too", function()
    local out = {0, 0}
    local C = pn.set.custom{dim = 2, radius = 1, support = function() return out end}
    for want, wrong in pairs {["got nan at entry 2"] = {0, 0 / 0}, ["l2 norm 7"] = {7, 0}, ["got 1 of them"] = {1}} do
      out = wrong
      local ok, got = pcall(C.support, C, {1, 0})
      assert.is_false(ok)
      assert.truthy(got:find(want, 1, true), got)
    end
  end)

  it("get copies", function()
    local g = pn.vec{3, 4}
    local C = pn.set.custom{dim = 2, radius = 5, support = function(v)
      local point = on_ball(v, 1)
      v[1], v[2] = 99, 99
      return point
    end}
    C:support(g)
    assert.is_true(g == pn.vec{3, 4})
  end)

  it("live as long as anything made of the set", function()
    local made
    do
      local C = pn.set.custom{dim = 2, radius = 1, support = function(g) return on_ball(g, 1) end}
      made = {2 * C, -C, C + {0, 0}, C + C, C:hull(pn.set.simplex{dim = 2}), C:image{{1, 0}, {0, 1}},
        C:intersect(pn.set.l2_ball{dim = 2, radius = 0.5}), pn.set.l2_ball{dim = 2} + C}
    end
    collectgarbage()
    collectgarbage()
    for _, D in ipairs(made) do
      assert.is_true((D:support{1, 0}) > 0.4)
    end
    local product = pn.set.custom{dim = 1, radius = 1, support = function(g) return on_ball(g, 1) end}:product(made[1])
    collectgarbage()
    assert.is_near(3, (product:support{1, 0, 1}), 1e-12)
  end)

  it("may close and collect what they see", function()
    local C, g
    C = pn.set.custom{dim = 2, radius = 1, support = function(v)
      for _, thing in pairs {C = C, g = g, v = v} do
        local _ <close> = thing
      end
      collectgarbage()
      return {0.5, 0.25}
    end}
    g = pn.vec{1, 1}
    assert.equal(0.75, (C:support(g)))
    assert.equal(0.75, (C:support(pn.vec{1, 1})))
    assert.equal(0, pn.width(C, {draws = 10}).low)
  end)

  it("may be collected with a set that they mention", function()
    local weak = setmetatable({}, {__mode = "v"})
    do
      local C
      C = pn.set.custom{dim = 1, radius = 1, support = function(g) return C and on_ball(g, 1) or {0} end}
      weak[1] = C
    end
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak[1])
  end)

  it("may call sets, their own too, and run in coroutines", function()
    local depth, C = 0, nil
    C = pn.set.custom{dim = 2, radius = 1, support = function(g)
      depth = depth + 1
      if C and depth < 3 then C:support(g) end
      depth = depth - 1
      return on_ball(g, 1)
    end}
    assert.is_near(5, (C:support{3, 4}), 1e-12)
    local value = coroutine.wrap(function() coroutine.yield(1) return (C:support{3, 4}) end)
    value()
    assert.is_near(5, value(), 1e-12)
  end)
end)
