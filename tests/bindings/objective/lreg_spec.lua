-- lreg_spec.lua -- how pn.reg takes its options, evaluates and hands out its bounds.  Numbers are closed forms of the formulas
-- in the table; tests/runtime/objective/regularisers/regulariser_test.c checks the mathematics in depth.
local pn = require "penumbra"

describe("pn.reg", function()
  it("has one constructor for each name, which the reference explains", function()
    local names = pn.reg.names()
    assert.is_true(#names >= 7)
    for _, name in ipairs(names) do
      assert.equal("function", type(pn.reg[name]))
      assert.truthy(pn.reference()["reg." .. name].signature:find("pn.reg." .. name, 1, true))
    end
    assert.equal("pn.reg.l2(lambda) -> reg", pn.reference()["reg.l2"].signature)
    assert.equal("pn.reg.elastic_net{l1=, l2=} -> reg", pn.reference()["reg.elastic_net"].signature)
  end)

  it("takes a single option as a number or in a table", function()
    for _, name in ipairs{"l1", "l2", "nonconvex"} do
      assert.equal(pn.reg[name]{lambda = 0.5}:value{1, -3}, pn.reg[name](0.5):value{1, -3})
    end
    assert.equal(2.5, pn.reg.l2(0.5):value{1, -3})
    assert.equal(2.0, pn.reg.l1(0.5):value{1, -3})
    assert.equal(0.5 * (1 / 2 + 9 / 10), pn.reg.nonconvex(0.5):value{1, -3})
    assert.equal(0.0, pn.reg.none():value{1, -3})
  end)

  it("names the option that is wrong, and its value", function()
    assert.has_error(function() pn.reg.l2(0) end, "reg.l2: lambda must be a positive number, got 0")
    assert.has_error(function() pn.reg.l1{lambda = -1} end, "reg.l1: lambda must be a positive number, got -1")
    assert.has_error(function() pn.reg.nonconvex(0 / 0) end,
      "reg.nonconvex: lambda must be a positive number, got nan")
    assert.has_error(function() pn.reg.l2{lamda = 1} end, "reg.l2: unknown option 'lamda'; it takes lambda")
    assert.has_error(function() pn.reg.none(3) end, "reg.none: takes no options, got 3")
    assert.has_error(function() pn.reg.l2(1, 2) end,
      "reg.l2: expected lambda, or one table of options, got 2 arguments")
    assert.has_error(function() pn.reg.group{lambda = 1} end, "reg.group: give either size= or groups=, got neither")
  end)

  it("takes groups by size or by a number for each coordinate", function()
    local w = {3, 4, 0, 2}
    assert.equal(5 + 2, pn.reg.group{lambda = 1, size = 2, weights = {1, 1}}:value(w))
    assert.equal(4 + math.sqrt(13), pn.reg.group{lambda = 1, groups = {1, 2, 2, 1}, weights = {1, 1}}:value(w))
  end)

  it("traces a typed formula", function()
    local r = pn.reg.separable(function(w) return pn.log(1 + w ^ 2) end)
    assert.equal("separable", r.name)
    assert.equal("log(w^2 + 1)", r.formula)
    assert.equal("2*w/(w^2 + 1)", r.slope_formula)
    assert.is_true(math.abs(r:value{1, 2} - math.log(10)) < 1e-15)
    assert.equal(pn.vec{1, 0.8}, r:gradient{1, 2})
    assert.has_error(function() pn.reg.separable(3) end, "reg.separable: expected a function, got 3")
  end)

  it("gives a typed formula the values and bounds of the same built-in one", function()
    local typed = pn.reg.separable(function(w) return 0.25 * (w ^ 2 / (1 + w ^ 2)) end)
    local built, w = pn.reg.nonconvex(0.25), pn.vec{-2, 0.3, 0, 7}
    assert.equal(built:value(w), typed:value(w))
    assert.equal(built:gradient(w), typed:gradient(w))
    assert.same(built:bounds(), typed:bounds())
  end)
end)

describe("a regulariser", function()
  it("prints its name and formula", function()
    assert.truthy(tostring(pn.reg.l2(0.5)):find("l2 regulariser: r(w) = lambda/2 ||w||_2^2", 1, true))
    assert.truthy(tostring(pn.reg.l2(0.5)):find("the sum of 0.25*w^2 over the coordinates w", 1, true))
    assert.truthy(tostring(pn.reg.group{lambda = 2, size = 3}):find("2 times the sum of sqrt|g| ||w_g||", 1, true))
    assert.is_nil(pn.reg.nuclear{lambda = 1, rows = 2, cols = 2}.formula)
  end)

  it("has the subgradient of smallest norm at its kinks", function()
    assert.equal(pn.vec{0, 0.5, -0.5}, pn.reg.l1(0.5):gradient{0, 2, -3})
    assert.equal(pn.vec{0, 0, 0.6, 0.8}, pn.reg.group{lambda = 1, size = 2, weights = {1, 1}}:gradient{0, 0, 3, 4})
    assert.equal(pn.vec{0, 0}, pn.reg.nuclear{lambda = 1, rows = 1, cols = 2}:gradient{0, 0})
  end)

  it("multiplies by its Hessian", function()
    assert.equal(pn.vec{0.5, -1}, pn.reg.l2(0.5):hvp({3, 4}, {1, -2}))
    assert.equal(pn.vec{0, 0}, pn.reg.l1(0.5):hvp({3, 0}, {1, -2}))
    assert.has_error(function() pn.reg.nuclear{lambda = 1, rows = 1, cols = 2}:hvp({1, 2}, {1, 2}) end,
      "reg.nuclear: there are no Hessian-vector products; reg.l2 and reg.nonconvex have them")
  end)

  it("certifies its bounds over all reals or a range", function()
    local b = pn.reg.l2(0.5):bounds{-2, 1}
    assert.same({0.5, 0.5, 0.5, 0.0, 1.0, true}, {b.smoothness, b.largest_curvature, b.strong_convexity,
      b.hessian_lipschitz, b.gradient, b.convex})
    assert.is_nil(b.missing)
    b = pn.reg.nonconvex(1):bounds()
    assert.is_true(b.gradient >= 3 * math.sqrt(3) / 8 and b.gradient < 3 * math.sqrt(3) / 8 + 1e-8)
    assert.is_true(b.smoothness >= 2 and b.smoothness < 2 + 1e-8)
    assert.is_true(b.strong_convexity <= -0.5 and b.strong_convexity > -0.5 - 1e-8)
    assert.is_false(b.convex)
    b = pn.reg.l1(1):bounds()
    assert.equal(math.huge, b.smoothness)
    assert.equal("slope: it jumps at w = 0", b.missing)
  end)

  it("refuses what is no range", function()
    local r = pn.reg.l2(1)
    assert.has_error(function() r:bounds(3) end,
      "r:bounds: the range of the coordinates must be an interval {lo, hi}, got 3")
    assert.has_error(function() r:bounds{1} end,
      "r:bounds: the range of the coordinates must be an interval {lo, hi}; entry 2 is nil")
    assert.has_error(function() r:bounds{2, 1} end,
      "reg.l2: the range of the coordinates must be an interval {lo, hi} with lo <= hi, got {2, 1}")
  end)

  it("names sizes that do not fit and numbers that are not finite", function()
    assert.has_error(function() pn.reg.group{lambda = 1, size = 2}:value{1, 2, 3} end,
      "reg.group: groups of 2 coordinates do not divide the 3 of w")
    assert.has_error(function() pn.reg.nuclear{lambda = 1, rows = 2, cols = 2}:gradient{1} end,
      "reg.nuclear: a matrix of 2 x 2 has 4 entries, w has 1")
    assert.has_error(function() pn.reg.l2(1):hvp({1, 2}, {1}) end, "r:hvp: w has 2 entries, v has 1")
    assert.has_error(function() pn.reg.l2(1):value(pn.vec{1, 1e308} * 10) end,
      "r:value: w must hold finite numbers, got inf at entry 2")
  end)

  it("adds its value and gradient to an objective", function()
    local d = pn.data.from({{1, 0}, {0, 1}}, {1, -1})
    local plain = pn.objective{data = d, loss = pn.loss.logistic()}
    local with = pn.objective{data = d, loss = pn.loss.logistic(), reg = pn.reg.l2(0.5)}
    local w = pn.vec{1, 2}
    assert.is_true(math.abs(with:value(w) - plain:value(w) - 1.25) < 1e-15)
    assert.is_true((with:gradient(w) - plain:gradient(w) - 0.5 * w):norm() < 1e-15)
    assert.is_true((with:hvp(w, w) - plain:hvp(w, w) - 0.5 * w):norm() < 1e-15)
  end)

  it("refuses an objective that it does not fit", function()
    local d = pn.data.from({{1, 0, 2}, {0, 1, 1}}, {1, -1})
    assert.has_error(function()
      pn.objective{data = d, loss = pn.loss.logistic(), reg = pn.reg.group{lambda = 1, size = 2}}
    end, "reg.group: groups of 2 coordinates do not divide the 3 of w")
  end)
end)

describe("pn.reg.quadratic", function()
  local A, c = pn.mat { { 2, 1 }, { 1, 3 } }, pn.vec { 1, -2 }

  it("is (lambda/2) (w - c)' A (w - c), with its gradient and Hessian", function()
    local r, w = pn.reg.quadratic { A = A, center = c, lambda = 0.5 }, pn.vec { 3, 1 }
    local g = 0.5 * (A * (w - c))
    assert.near(0.5 * (w - c):dot(g), r:value(w), 1e-13)
    assert.same(g:table(), r:gradient(w):table())
    assert.same((0.5 * (A * w)):table(), r:hvp(c, w):table())
    assert.equal(0, r:value(c))
    assert.near(0.5 * w:dot(A * w), pn.reg.quadratic { A = A }:value(w), 1e-13)
  end)

  it("is one term for each block of several margins", function()
    local r = pn.reg.quadratic { A = A, center = { 1, -2, 0, 5 } }
    assert.near(0.5 * (pn.vec { 2, 3 }):dot(A * pn.vec { 2, 3 }) + 0.5 * (pn.vec { 1, 1 }):dot(A * pn.vec { 1, 1 }),
      r:value { 3, 1, 1, 6 }, 1e-13)
  end)

  it("has the ends of A's spectrum for its bounds, and adds them to an objective without a sensitivity", function()
    local r = pn.reg.quadratic { A = A, center = c, lambda = 2 }
    local b, root = r:bounds { -1, 1 }, math.sqrt(5)
    assert.near(5 + root, b.smoothness, 1e-12)
    assert.near(5 - root, b.strong_convexity, 1e-12)
    assert.is_true(b.smoothness >= 5 + root - 1e-15 and b.strong_convexity <= 5 - root + 1e-15 and b.convex)
    assert.near(2 * (1 * 2 + 3 * 3), b.gradient, 1e-12) -- row 2: |w1 - 1| <= 2, |w2 + 2| <= 3
    assert.equal(0, b.hessian_lipschitz)
    local d = pn.data.synthetic.logistic { n = 50, p = 2, seed = 1 }:clip_rows("l2", 1)
    local plain = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 2, radius = 5 } }
    local with = pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 2, radius = 5 }, reg = r }
    assert.equal(plain.bounds.lipschitz.l2, with.bounds.lipschitz.l2)
    assert.near(5 - root, with.bounds.strong_convexity, 1e-12)
    local theta = pn.solve.exact(with).theta
    assert.is_true(with:gradient(theta):norm() < 1e-3)
  end)

  it("refuses what is no prior", function()
    for message, options in pairs {
      ["reg.quadratic: A must be square, got 1 x 2"] = { A = { { 1, 2 } } },
      ["reg.quadratic: A must be symmetric, got 2 at (2, 1) and 1 at (1, 2)"] = { A = { { 1, 1 }, { 2, 1 } } },
      ["reg.quadratic: A must be positive semidefinite, its least eigenvalue is -1"] = { A = { { 1, 0 }, { 0, -1 } } },
      ["reg.quadratic: center has 3 entries, which is no multiple of the 2 rows of A"] = { A = A, center = { 1, 2, 3 } },
      ["reg.quadratic: lambda must be a positive number, got 0"] = { A = A, lambda = 0 },
    } do
      assert.has_error(function() pn.reg.quadratic(options) end, message)
    end
    local r = pn.reg.quadratic { A = A, center = c }
    assert.has_error(function() r:value { 1, 2, 3, 4 } end, "reg.quadratic: center has 2 entries, w has 4")
    assert.has_error(function() pn.reg.quadratic { A = A }:value { 1, 2, 3 } end,
      "reg.quadratic: the 2 rows of A do not divide the 3 entries of w")
  end)
end)
