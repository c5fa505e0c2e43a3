-- check_spec.lua -- pn.check passes what keeps its promises and names the promise that is broken.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

-- The names of the laws that failed.
local function failures(report)
  local out = {}
  for _, row in ipairs(report) do
    if row.ok == false then out[#out + 1] = row.name end
  end
  return table.concat(out, "; ")
end

local function fails(report, ...)
  assert.is_false(report.ok)
  local found = failures(report)
  for _, name in ipairs {...} do
    assert.truthy(found:find(name, 1, true), ("'%s' should have failed; failed: %s"):format(name, found))
  end
end

-- A disc of radius 2 by functions, with one of them replaced.
local function disc(changes)
  local parts = {
    dim = 3, radius = 2, symmetric = true,
    support = function(g) local n = g:norm() return n > 0 and 2 / n * g or 0 * g end,
    project = function(v) local n = v:norm() return n > 2 and 2 / n * v or v end,
    contains = function(v) return v:norm() <= 2 end,
  }
  for name, value in pairs(changes or {}) do parts[name] = value end
  return pn.set.custom(parts)
end

describe("pn.check of a set", function()
  it("passes a custom set that keeps its promises", function()
    local report = pn.check(disc())
    assert.is_true(report.ok, tostring(report))
    assert.equal("", failures(report))
    assert.truthy(tostring(report):find("keeps all promises", 1, true))
  end)

  it("passes a point, which has no size, and a ball whose radius squared is no double", function()
    for _, set in ipairs {pn.set.point {at = {0, 0}}, pn.set.point {at = {1, 2}}, pn.set.l2_ball {dim = 2, radius = 1e-200}} do
      local report = pn.check(set)
      assert.is_true(report.ok, tostring(report))
    end
  end)

  it("passes custom sets with only a support function or only a projection", function()
    assert.is_true(pn.check(disc {project = false or nil, contains = nil}).ok)
    local parts = {dim = 3, radius = 2, support = function(g) return 2 / math.max(g:norm(), 1e-300) * g end}
    local report = pn.check(pn.set.custom(parts), {tolerance = 1e-5})
    assert.is_true(report.ok, tostring(report))
    report = pn.check(pn.set.custom {dim = 3, radius = 2, project = function(v)
      local n = v:norm()
      return n > 2 and 2 / n * v or v
    end}, {tolerance = 1e-5})
    assert.is_true(report.ok, tostring(report))
  end)

  -- What making a custom set finds out by itself, and what only probing does.
  it("is not even reached by sets that break a promise at the first try", function()
    local function no_disc(changes, text)
      refused(text, disc, changes)
    end
    no_disc({project = function(v) return 0.5 * v / math.max(1, v:norm()) end}, "leave points of the set where they are")
    no_disc({radius = 1.5}, "the radius of the set is said to be 1.5")
    no_disc({support = function() return pn.vec {0, 0} end}, "support must return a vector of 3 numbers")
    no_disc({support = function() return {0, 0, 0 / 0} end}, "support")
    no_disc({support = 3}, "support must be a function")
  end)

  it("finds a support point that is not the largest", function()
    local function lazy(g) return g[1] >= 0 and pn.vec {2, 0, 0} or pn.vec {-2, 0, 0} end
    fails(pn.check(disc {support = lazy}), "no point of the set lies beyond its support")
  end)

  it("finds a projection that is in the set but not nearest", function()
    local function inside(v)
      local n = v:norm()
      return n > 2 and pn.vec {2 * v[1] / n, v[2] / n, math.sqrt(math.max(0, 4 - (4 * v[1] ^ 2 + v[2] ^ 2) / n ^ 2))} or v
    end
    fails(pn.check(disc {project = inside}), "projections are nearest")
  end)

  it("finds a membership test that takes too much", function()
    fails(pn.check(disc {contains = function(v) return v:norm() <= 3 end}), "points beyond a supporting plane")
  end)

  it("finds a radius that is too small for some points only", function()
    -- An ellipse, longest along a direction that the first try does not take.
    local function support(g)
      local s = pn.vec {g[1], 9 * g[2], g[3]}
      local n = math.sqrt(s:dot(g))
      return n > 0 and s / n or 0 * g
    end
    fails(pn.check(pn.set.custom {dim = 3, radius = 2.9, support = support}), "radius")
  end)

  it("reports an error of a user's function as the failure that it is", function()
    local asked = 0
    local set = disc {support = function(g)
      asked = asked + 1
      if asked > 8 then error "no more" end
      local n = g:norm()
      return n > 0 and 2 / n * g or 0 * g
    end}
    local report = pn.check(set)
    assert.is_false(report.ok)
    assert.truthy(tostring(report):find("no more", 1, true), tostring(report))
  end)
end)

describe("pn.check of a potential", function()
  local function half_square(changes)
    local parts = {
      dim = 3, strong_convexity = 1, norm = pn.norm.l2(),
      value = function(x) return x:dot(x) / 2 end,
      gradient = function(x) return 1 * x end,
      inverse_gradient = function(u) return 1 * u end,
    }
    for name, value in pairs(changes or {}) do parts[name] = value end
    return pn.potential.custom(parts)
  end

  it("passes one that keeps its promises, and its steps over a set", function()
    local report = pn.check(half_square(), {set = pn.set.l2_ball {dim = 3}, tolerance = 1e-6})
    assert.is_true(report.ok, tostring(report))
  end)

  it("passes the built-in ones over the sets that they fit", function()
    for _, set in ipairs {
      pn.set.simplex {dim = 4}, pn.set.l1_ball {dim = 5, radius = 2}, pn.set.group_ball {dim = 6, k = 2},
      pn.set.interpolation_ball {dim = 4, alpha = 0.5}, pn.set.nuclear_ball {rows = 2, cols = 3}, pn.set.l2_ball {dim = 3},
    } do
      local report = pn.check(pn.potential.for_set(set), {set = set, tolerance = 1e-6})
      assert.is_true(report.ok, tostring(report))
    end
  end)

  it("finds a constant that is declared too large", function()
    fails(pn.check(half_square {strong_convexity = 1.1}), "strong convexity")
    -- l2 strong convexity 1 is 1/3 in the l1 norm of 3 coordinates.
    fails(pn.check(half_square {norm = pn.norm.l1()}), "strong convexity")
    assert.is_true(pn.check(half_square {norm = pn.norm.l1(), strong_convexity = 1 / 3}).ok)
  end)

  it("finds a wrong gradient and a wrong inverse", function()
    fails(pn.check(half_square {gradient = function(x) return 1.01 * x end}), "gradient is the derivative")
    fails(pn.check(half_square {inverse_gradient = function(u) return 1.01 * u end}), "inverse gradient")
  end)
end)

describe("pn.check of a norm of one's own", function()
  -- ||(v1, 2 v2, 3 v3)||_2, whose dual is ||(g1, g2/2, g3/3)||_2.
  local function weighted(v) return math.sqrt(v[1] ^ 2 + (2 * v[2]) ^ 2 + (3 * v[3]) ^ 2) end
  local function best(g)
    local u = pn.vec {g[1], g[2] / 2, g[3] / 3}
    local n = u:norm()
    return n > 0 and pn.vec {u[1] / n, u[2] / n / 2, u[3] / n / 3} or 0 * g
  end
  local function make(change)
    local parts = {dim = 3, radius = 1, value = weighted, support = best}
    for name, value in pairs(change or {}) do parts[name] = value end
    return pn.norm.custom(parts)
  end
  local function said(change, ...)
    local report = pn.check(make(change))
    assert.is_false(report.ok)
    for _, text in ipairs {...} do assert.truthy(tostring(report):find(text, 1, true), tostring(report)) end
  end

  it("passes one that is a norm with its dual", function()
    local N = make()
    assert.is_near(math.sqrt(1 + 16 + 81), N {1, 2, 3}, 1e-12)
    assert.is_near(math.sqrt(1 + 1 + 1), N:dual() {1, 2, 3}, 1e-12)
    assert.equal(3, N.dim)
    assert.is_true(pn.check(N).ok, tostring(pn.check(N)))
    assert.is_true(pn.check(N:ball()).ok)
    assert.equal(N, N:dual():dual())
  end)

  it("says where a wrong one fails, with the point and the values", function()
    said({value = function(v) return weighted(v) ^ 2 end}, "N(-2.5 x) = ", ", 2.5 N(x) = ", "at x = ")
    said({value = function(v) return v[1] >= 0 and weighted(v) or 1.2 * weighted(v) end}, "N(-2.5 x) = ", "at x = ")
    said({value = function(v) return math.sqrt(math.abs(v[1])) ^ 2 + 0.3 * weighted(v) end}, "FAIL dual norm", " at ")
    said({value = function(v) return 0.9 * weighted(v) end}, "|<x, y>| = ", "above N(x) N*(y) = ")
    said({support = function(g) return 0.8 * best(g) end}, "FAIL dual norm")
    -- not convex: ||.||_{1/2}, with the support function of the l1 ball, its hull
    said({
      value = function(v) return (math.sqrt(math.abs(v[1])) + math.sqrt(math.abs(v[2])) + math.sqrt(math.abs(v[3]))) ^ 2 end,
      support = function(g) return (select(2, pn.set.l1_ball {dim = 3}:support(g))) end,
    }, "N(x + y) = ", "above N(x) + N(y) = ", "at x = ", ", y = ")
  end)

  it("refuses functions that are missing, or return what cannot be", function()
    refused("norm.custom: support is missing", pn.norm.custom, {dim = 3, radius = 1, value = weighted})
    refused("norm.custom: value is missing", pn.norm.custom, {dim = 3, radius = 1, support = best})
    refused("norm.custom: radius", pn.norm.custom, {dim = 3, value = weighted, support = best})
    refused("norm.custom: expected a table", pn.norm.custom, 3)
    refused("norm.custom: value must return a finite number >= 0, got -1", make, {value = function() return -1 end})
    refused("norm.custom: value must return a number", make, {value = function() return "x" end})
    refused("norm.custom: support must return a vector of 3 numbers", make, {support = function() return {1} end})
    refused("norm.custom: the unit ball", make, {radius = 0.1})
    local boom = {"boom"}
    local ok, err = pcall(make, {value = function() error(boom) end})
    assert.is_false(ok)
    assert.equal(boom, err)
  end)

  it("lives as long as what is made of it, and clips no rows", function()
    local D
    do
      local N <close> = make()
      D = N:dual()
    end
    collectgarbage()
    collectgarbage()
    assert.is_near(math.sqrt(3), D {1, 2, 3}, 1e-12)
    local data = pn.data.from({{1, 2, 3}, {4, 5, 6}}, {1, -1})
    assert.has_error(function() data:clip_rows(make(), 1) end)
  end)
end)

describe("pn.check of norms and proximal operators", function()
  it("passes the built-in ones", function()
    for _, N in ipairs {pn.norm.l1(), pn.norm.lp(3), pn.norm.group(2), pn.norm.nuclear(2, 3), pn.norm.l2():dual()} do
      local report = pn.check(N)
      assert.is_true(report.ok, tostring(report))
    end
    for _, f in ipairs {pn.prox.l1(0.3), pn.prox.squared_l2(2), pn.prox.indicator(pn.set.simplex {dim = 4})} do
      local report = pn.check(f)
      assert.is_true(report.ok, tostring(report))
    end
  end)

  it("finds an operator that does not minimise", function()
    local f = pn.prox.custom {
      prox = function(v, step) return v / (1 + 2 * step) end,
      value = function(x) return x:dot(x) / 2 end, -- whose operator is v / (1 + step)
    }
    fails(pn.check(f), "minimises")
  end)
end)

describe("pn.check", function()
  it("refuses what it cannot check, and options that it does not know", function()
    assert.error_matches(function() pn.check(3) end, "expected a set, norm, potential or prox, got number")
    assert.error_matches(function() pn.check(pn.loss.squared()) end, "got pn.loss")
    local C = pn.set.l2_ball {dim = 2}
    assert.error_matches(function() pn.check(C, {probe = 1}) end, "unknown option 'probe'")
    assert.error_matches(function() pn.check(C, {probes = 0}) end, "whole number from 3, got 0")
    assert.error_matches(function() pn.check(C, 7) end, "expected a table of options, got number")
    assert.error_matches(function() pn.check(C, {tolerance = -1}) end, "positive number, got %-1")
  end)

  it("ends when the user stops it, and takes no stop for a broken promise", function()
    local calls = 0
    local C = pn.set.custom {dim = 2, radius = 1, support = function(g)
      calls = calls + 1
      if calls > 50 then error "interrupted" end -- as Ctrl-C at the prompt raises it
      return g:norm() > 0 and g / g:norm() or g
    end}
    assert.error_matches(function() pn.check(C) end, "interrupted$")
  end)

  it("gives the same report for the same seed", function()
    local C = pn.set.k_support {dim = 6, k = 2}
    assert.equal(tostring(pn.check(C, {seed = 3})), tostring(pn.check(C, {seed = 3})))
  end)
end)
