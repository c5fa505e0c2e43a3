-- lset_spec.lua -- how pn.set takes its options and hands out its methods.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

describe("pn.set", function()
  it("has one constructor for each name, which the reference explains", function()
    local names = pn.set.names()
    assert.is_true(#names >= 6)
    for _, name in ipairs(names) do
      assert.equal("function", type(pn.set[name]))
      assert.truthy(pn.reference()["set." .. name].signature:find("^pn%.set%." .. name .. "[{(]"))
    end
  end)

  it("names an unknown option and lists the known ones", function()
    assert.has_error(function() pn.set.simplex{dim = 2, size = 1} end,
      "set.simplex: unknown option 'size'; it takes dim, radius")
  end)

  it("names a missing option", function()
    local ok, message = pcall(pn.set.l1_ball)
    assert.is_false(ok)
    assert.truthy(message:find("set.l1_ball: dim is missing", 1, true), message)
  end)

  it("takes 1 as the radius that is not given", function()
    assert.equal(1, pn.set.l1_ball{dim = 7}.radius)
  end)
end)

describe("what is made of sets", function()
  local C, D = pn.set.l2_ball{dim = 2, radius = 3}, pn.set.simplex{dim = 2}

  it("has the support that the operation says", function()
    local g = {1, -2}
    local c, d = (C:support(g)), (D:support(g))
    assert.is_near(2 * c, ((2 * C):support(g)), 1e-14)
    assert.is_near(2 * c, ((C * 2):support(g)), 1e-14)
    assert.is_near((D:support{-1, 2}), ((-D):support(g)), 1e-14)
    assert.is_near((D:support{-1, 2}) * 3, ((-3 * D):support(g)), 1e-14)
    assert.is_near(c + 5 - 14, ((C + {5, 7}):support(g)), 1e-13)
    assert.is_near(c + 5 - 14, (({5, 7} + C):support(g)), 1e-13)
    assert.is_near(c - 5 + 14, ((C - pn.vec{5, 7}):support(g)), 1e-13)
    assert.is_near(c + d, ((C + D):support(g)), 1e-14)
    assert.is_near(math.max(c, d), (C:hull(D):support(g)), 1e-14)
    assert.is_near(c + d, (C:product(D):support{1, -2, 1, -2}), 1e-14)
    assert.equal(4, C:product(D).dim)
    assert.is_near((C:support{-1, 3}), (C:image{{1, 0}, {1, 0}, {0, 1}}:support{-2, 1, 3}), 1e-9)
    assert.equal(3, C:image{{1, 0}, {1, 0}, {0, 1}}.dim)
    assert.is_near(pn.vec(g):norm() / 3, (C:polar():support(g)), 1e-12)
    assert.is_true((C:intersect(D):project{5, 0} - pn.vec{1, 0}):norm() < 1e-8)
  end)

  it("says what it is not made of", function()
    refused("C:product: D must be a pn.set, got 7", C.product, C, 7)
    refused("C:hull: D must be a pn.set, got nothing", C.hull, C)
    refused("C:intersect: D must be a pn.set, got a table", C.intersect, C, {})
    refused("v must be a vector or another pn.set, got 1", function() return C + 1 end)
    refused("C - v: v must be a vector, got a pn.set", function() return C - D end)
    refused("factor must be a number, got the string \"2\"", function() return "2" * C end)
    refused("factor must be a number, got a pn.set; the set of pairs is C:product(D)", function() return C * C end)
    refused("factor", function() return 0 * C end)
    refused("C has dimension 2, D has 3", function() return C + pn.set.simplex{dim = 3} end)
    refused("C has dimension 2, D has 3", C.hull, C, pn.set.simplex{dim = 3})
    refused("columns", C.image, C, {{1, 2, 3}})
    refused("origin", D.polar, D)
    refused("no point in common", C.intersect, C, C + {100, 0})
  end)
end)

describe("the measures of a set", function()
  local C, D = pn.set.l1_ball{dim = 4, radius = 2}, pn.set.simplex{dim = 4}

  it("are exact in a norm over vertices and over multiples of its ball, else bounds", function()
    assert.is_near(2, C:radius_in(pn.norm.l1()), 1e-12)
    assert.is_near(2, C:radius_in(pn.norm.group(2)), 1e-12)
    assert.is_near(3, (3 * C):radius_in(C:norm()), 1e-12)
    local L = pn.set.l2_ball{dim = 4}
    assert.is_near(1, L:radius_in(pn.norm.l2()), 1e-12)
    assert.is_near(2, L:radius_in(pn.norm.l1()), 1e-12)
    local bound = L:radius_in(pn.norm.interpolation(0.5)) -- the truth is (sqrt 4 + 1)/2, at the vector of equal entries
    assert.is_true(bound >= 1.5 - 1e-12 and bound <= 2 + 1e-7, bound)
    local group = L:radius_in(pn.norm.group(2)) -- sqrt 2
    assert.is_true(group >= math.sqrt(2) - 1e-12 and group <= 2 + 1e-7, group)
    assert.equal(math.huge, pn.set.free{dim = 4}:radius_in(pn.norm.group(2)))
    assert.error_matches(function() C:radius_in(pn.norm.nuclear(3, 3)) end, "9.*4")
  end)

  it("include its own norm and the dual of that", function()
    local v = pn.vec{1, -2, 0, 0.5}
    assert.is_near(C:gauge(v), C:norm()(v), 1e-14)
    assert.is_near(4, C:dual_norm(v), 1e-14)
    assert.is_near(2, D:dual_norm(v), 1e-14)
    assert.is_near(D:dual_norm(v), D:norm():dual()(v), 1e-12)
  end)

  it("tell symmetric from not and bounded from not", function()
    assert.is_true(C.symmetric and C.bounded and D.bounded)
    assert.is_false(D.symmetric or (C + {1, 0, 0, 0}).symmetric)
    assert.is_false(pn.set.free{dim = 2}.bounded)
  end)

  it("include points of it, the same for the same seed", function()
    local x, uniform = D:sample(pn.rng.seeded(5))
    assert.is_true(D:contains(x))
    assert.is_true(x == (D:sample(pn.rng.seeded(5))))
    assert.equal("boolean", type(uniform))
    assert.is_true(C:contains((C:sample())))
  end)
end)

describe("a set", function()
  local C = pn.set.l1_ball{dim = 3, radius = 2}

  it("knows its name and dimension", function()
    assert.equal("l1_ball", C.name)
    assert.equal(3, C.dim)
    assert.equal("integer", math.type(C.dim))
    assert.equal("scaled", (2 * C).name)
    assert.equal("shifted", (C + {1, 1, 1}).name)
    -- E max |b_i| of three standard normals, times 2: the integral of 1 - erf(t/sqrt(2))^3 is 1.32639
    assert.equal("l1_ball(dim=3, radius=2): l2 radius 2, diameter 4, width 2.653", tostring(C))
    assert.equal("simplex(dim=3, radius=1): l2 radius 1, diameter 1.414, width 0.8463", -- 3/(2 sqrt(pi))
      tostring(pn.set.simplex{dim = 3}))
    assert.equal("product(l1_ball(dim=3, radius=2), intersection(l1_ball(dim=3, radius=2),\n" ..
      "    linf_ball(dim=3, radius=1)))\n  l2 radius 2.646, diameter 5.292, width: C:width()",
      tostring(C:product(C:intersect(pn.set.linf_ball{dim = 3}))))
  end)

  it("leaves the vector that it projects as it was", function()
    local v = pn.vec{3, 0, 0}
    assert.equal(2, C:project(v)[1])
    assert.equal(3, v[1])
  end)

  it("names the norms that it knows", function()
    assert.has_error(function() C:radius_in("l3") end,
      'C:radius_in: norm must be "l1", "l2", "linf" or a pn.norm, got the string "l3"')
    assert.has_error(function() C:diameter_in(2) end, 'C:diameter_in: norm must be "l1", "l2" or "linf", got 2')
  end)

  it("refuses NaN and infinity with their position", function()
    for _, method in ipairs {"support", "project", "contains", "gauge"} do
      local ok, message = pcall(C[method], C, pn.vec{1, 2, 1e308} * 10)
      assert.is_false(ok)
      assert.truthy(message:find("must hold finite numbers, got inf at entry 3", 1, true), message)
    end
  end)

  it("refuses a negative tolerance", function()
    assert.has_error(function() C:contains({1, 0, 0}, -1) end, "C:contains: tol must be a number >= 0, got -1")
  end)

  it("allows 1e-9 by default in contains", function()
    assert.is_true(C:contains{2 + 5e-10, 0, 0})
    assert.is_false(C:contains{2 + 2e-9, 0, 0})
  end)

  it("refuses a list of vertices too long to be one", function()
    local ok, message = pcall(function() return pn.set.l1_ball{dim = 100000}:vertices() end)
    assert.is_false(ok)
    assert.truthy(message:find("C:vertices: 200000 vertices of 100000 entries", 1, true), message)
  end)

  it("cannot be changed and has no other fields", function()
    assert.has_error(function() C.dim = 4 end)
    assert.has_error(function() return C.girth end)
  end)

  it("is closed by a to-be-closed variable and says so afterwards", function()
    local kept
    do
      local D <close> = pn.set.simplex{dim = 2}
      kept = D
    end
    local ok, message = pcall(function() return kept:center() end)
    assert.is_false(ok)
    assert.truthy(message:find("closed", 1, true), message)
  end)
end)

describe("a polytope by a function", function()
  it("is that of the matrix of what the function returns, called once for each vertex", function()
    local called = {}
    local options = { count = 3, vertices = function(i)
      called[#called + 1] = i
      return i == 2 and pn.vec { 2, -1 } or { i, i * i }
    end }
    local C, D = pn.set.polytope(options), pn.set.polytope { vertices = { { 1, 1 }, { 2, -1 }, { 3, 9 } } }
    assert.same({ 1, 2, 3 }, called)
    assert.is_true(C:vertices() == D:vertices())
    assert.equal(D.radius, C.radius)
    assert.equal("function", type(options.vertices)) -- the caller's table stays as it was
    assert.equal(3, options.count)
    assert.same({ 1, 2, 3 }, called)
  end)

  it("is one that private Frank-Wolfe chooses from", function()
    local data = pn.data.synthetic.lasso { n = 500, p = 2, seed = 1 }
    local C = pn.set.polytope { count = 8, vertices = function(i) return { math.cos(i), math.sin(i) } end }
    local objective = pn.objective { data = data, loss = pn.loss.squared(), set = C }
    assert.is_true(C:contains(pn.solve.frank_wolfe(objective, { rho = 0.5, iterations = 5 }).theta))
  end)

  it("says what is wrong with the function or what it returns", function()
    local function make(f, count) return pn.set.polytope { vertices = f, count = count } end
    local function plane(i) return { i, 1 } end
    refused("set.polytope: count is missing", make, plane)
    refused("set.polytope: count must be a whole number from 1, got 0", make, plane, 0)
    refused("set.polytope: count must be a whole number from 1, got 2.5", make, plane, 2.5)
    refused("set.polytope: count must be a whole number from 1, got the string", make, plane, "3")
    refused("set.polytope: vertices(2) must return a vector, got nil", make, function(i) return ({ { 1 } })[i] end, 2)
    refused("set.polytope: vertices(2) has 1 numbers, vertices(1) has 2", make, function(i) return ({ { 1, 2 }, { 1 } })[i] end, 2)
    refused("set.polytope: vertices(1) has no numbers", make, function() return {} end, 2)
    local function infinite(i) return pn.vec { 1, 1 } / (2 - i) end
    refused("set.polytope: vertices(2) must hold finite numbers, got inf at entry 1", make, infinite, 2)
    refused("set.polytope: vertices(1): entry 2 must be a finite number, got inf", make, function() return { 1, 1 / 0 } end, 2)
    refused("set.polytope: 10000000 vertices of 2 numbers are more than the 10000000 numbers", make, plane, 10000000)
    refused("set.polytope: 20000000 vertices of 1 numbers", make, plane, 20000000)
    refused("unknown option 'count'", make, { { 1, 2 } }, 1)
    local boom = { "boom" }
    local ok, err = pcall(make, function() error(boom) end, 2)
    assert.is_false(ok)
    assert.equal(boom, err)
  end)
end)
