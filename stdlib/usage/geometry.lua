-- geometry.lua -- examples for sets, norms, potentials, proximal operators and widths.
-- Depends on: nothing.  Used by: penumbra.usage.
local usage = {}

-- Sets: name -> options; what one asks of a set is the same for all.
local BOUNDED = [[
    C = pn.set.NAME{ARGS}
    print(C, C.radius)
    value, vertex = C:support(pn.vec.basis(C.dim, 1))
    print(value, C:project(3 * pn.vec.ones(C.dim)))]]
local UNBOUNDED = [[
    C = pn.set.NAME{ARGS}
    x = C:project(pn.vec.linspace(-1, 1, C.dim))
    print(C, x, C:contains(x, 1e-9))]]

local function sets(template, list)
  for name, args in pairs(list) do
    usage["set." .. name] = template:gsub("NAME", name):gsub("ARGS", (args:gsub("%%", "%%%%")))
  end
end

sets(BOUNDED, {
  birkhoff = "n = 2", box = "lower = {0, -1}, upper = {1, 1}", diamond = "lower = {0, -1}, upper = {1, 1}",
  ellipsoid = "center = {0, 0}, axes = {2, 1}", group_ball = "dim = 4, k = 2, radius = 1", hypersimplex = "dim = 4, k = 2",
  interpolation_ball = "dim = 4, alpha = 0.5, radius = 1", k_support = "dim = 4, k = 2, radius = 1",
  ksparse_polytope = "dim = 4, k = 2, radius = 1", l1_ball = "dim = 4, radius = 2", l2_ball = "dim = 4, radius = 2",
  linf_ball = "dim = 4, radius = 2", lp_ball = "dim = 4, q = 1.5, radius = 2", nuclear_ball = "rows = 2, cols = 3, radius = 1",
  ordered_l1_ball = "weights = {3, 2, 1}, radius = 1", permutahedron = "dim = 3", point = "at = {1, 2}",
  polyhedron = "A = {{1, 0}, {0, 1}, {-1, -1}}, b = {1, 1, 0}", polytope = "vertices = {{0, 0}, {1, 0}, {0, 1}}",
  simplex = "dim = 4, radius = 1", spectrahedron = "n = 2", spectral_ball = "rows = 2, cols = 3, radius = 1",
  top_k_ball = "dim = 4, k = 2, radius = 1", unit_hypersimplex = "dim = 4, k = 2", unit_simplex = "dim = 4",
  unit_spectrahedron = "n = 2", weighted_l1_ball = "weights = {1, 2, 4}, radius = 1",
})
sets(UNBOUNDED, {
  affine = "A = {{1, 1, 1}}, b = {1}", exponential_cone = "", free = "dim = 3", halfspace = "normal = {1, 1}, offset = 0",
  hyperplane = "normal = {1, 1}, offset = 1", hyperslab = "normal = {1, 1}, lower = 0.5, upper = 1", nonnegative = "dim = 3",
  psd_cone = "n = 2", rotated_second_order_cone = "dim = 3", second_order_cone = "dim = 3",
})
usage["set.custom"] = [[
    ring = pn.set.custom{dim = 2, radius = 2, support = function(g) return 2 * g / g:norm() end}
    print(ring, ring:project{3, 4})
    print(pn.check(ring).ok)]]
for _, library in ipairs { "set", "norm", "potential", "prox" } do
  usage[library .. ".names"] = ('    print(table.concat(pn.%s.names(), " "))'):format(library)
end

-- Norms.
for name, args in pairs {
  l1 = "", l2 = "", linf = "", lp = "1.5", group = "2", interpolation = "0.5", nuclear = "2, 2", spectral = "2, 2",
  minkowski = "pn.set.l1_ball{dim = 4} + pn.set.l2_ball{dim = 4}",
} do
  usage["norm." .. name] = ([[
    N = pn.norm.%s(%s)
    print(N, N{1, 2, 3, 4})
    print(N:dual(), N:dual(){1, 2, 3, 4})]]):format(name, args)
end

usage["norm.custom"] = [[
    N = pn.norm.custom{dim = 2, radius = 0.5, value = function(v) return 2 * v:norm() end,
      support = function(g) return 0.5 / math.max(g:norm(), 1e-300) * g end}
    print(N{3, 4}, N:dual(){3, 4}, pn.check(N).ok)]]

-- Potentials.
for name, of in pairs {
  euclidean = { "", "l2_ball{dim = 4}" }, entropy = { "", "simplex{dim = 4}" }, lp = { "q = 1.5", "l1_ball{dim = 4}" },
  group = { "dim = 4, k = 2", "group_ball{dim = 4, k = 2}" },
  interpolation = { "dim = 4, alpha = 0.5", "interpolation_ball{dim = 4, alpha = 0.5}" },
  quadratic = { "A = {{2, 0}, {0, 1}}", "l2_ball{dim = 2}" },
  schatten = { "rows = 2, cols = 2", "nuclear_ball{rows = 2, cols = 2}" },
} do
  usage["potential." .. name] = ([[
    P = pn.potential.%s{%s}
    C = pn.set.%s
    print(P, C)
    print(P:mirror_step(P:start(C), pn.vec.basis(C.dim, 1), 0.5, C))]]):format(name, of[1], of[2])
end
usage["potential.for_set"] = [[
    print(pn.potential.for_set(pn.set.simplex{dim = 4}))
    print(pn.potential.for_set(pn.set.nuclear_ball{rows = 2, cols = 2}))
    print(pn.potential.for_set(pn.set.simplex{dim = 4}:product(pn.set.l2_ball{dim = 2})))]]
usage["potential.separable"] = [[
    P = pn.potential.separable(function(t) return t^2 + t^4 end, {domain = {-1, 1}})
    print(P, P:gradient{0.5, -0.5})]]
usage["potential.polytope"] = [[
    C = pn.set.polytope{vertices = {{0, 0}, {1, 0}, {0, 1}}}
    P = pn.potential.polytope{set = C}
    print(P, P:range(C))]]
usage["potential.signed_entropy"] = [[
    P = pn.potential.signed_entropy{dim = 2}
    print(P:mirror_step({0, 0}, {-1, 0.5}, 1, pn.set.l1_ball{dim = 2}))]]
usage["potential.custom"] = [[
    P = pn.potential.custom{dim = 2, strong_convexity = 1, norm = pn.norm.l2(),
      value = function(x) return x:dot(x) / 2 end,
      gradient = function(x) return x end, inverse_gradient = function(u) return u end}
    print(pn.check(P).ok)]]

-- Proximal operators.
for name, call in pairs {
  l1 = "(1)", l2 = "(1)", linf = "(1)", squared_l2 = "(1)", elastic_net = "{l1 = 1, l2 = 0.5}", group = "{lambda = 1, k = 2}",
  nuclear = "{lambda = 1, rows = 2, cols = 2}", box = "{lower = {0, 0, 0, 0}, upper = {1, 1, 1, 1}}",
  indicator = "(pn.set.l1_ball{dim = 4})", huber = "{delta = 1, lambda = 1}", norm = "{norm = pn.norm.l1(), lambda = 1}",
  groups = "{groups = {{1, 2}, {2, 3, 4}}, lambda = 1, dim = 4}", sum = "{pn.prox.l1(1), pn.prox.squared_l2(1)}",
} do
  usage["prox." .. name] = ([[
    P = pn.prox.%s%s
    print(P, P(pn.vec{3, -1, 0.5, 2}, 0.5))]]):format(name, call)
end
usage["prox.custom"] = [[
    shrink = pn.prox.custom{dim = 2, prox = function(v, step) return v / (1 + step) end,
      value = function(v) return v:dot(v) / 2 end}
    print(shrink(pn.vec{3, -1}, 0.5), pn.check(shrink).ok)]]

usage["width"] = [[
    for _, C in ipairs{pn.set.l1_ball{dim = 400}, pn.set.l2_ball{dim = 400}} do
      w = pn.width(C)
      print(C, w.value, w.method)
    end]]
usage["check"] = [[
    ring = pn.set.custom{dim = 2, radius = 2, support = function(g) return 2 * g / g:norm() end}
    print(pn.check(ring))]]

local function method(class, object, calls)
  for name, call in pairs(calls) do
    usage[class .. ":" .. name] = object .. "\n    " .. call
  end
end

method("pn.set", "    C = pn.set.l1_ball{dim = 3, radius = 2}", {
  center = "print(C:center())",
  contains = "print(C:contains{1, -1, 0}, C:contains{3, 0, 0})",
  diameter_in = 'print(C:diameter_in "l1", C:diameter_in "linf")',
  dual_norm = "print(C:dual_norm{1, -5, 2})    -- what gradients are measured in",
  gauge = "print(C:gauge{1, 1, 0}, C:gauge{4, 0, 0})    -- 1 on the boundary",
  hull = "print(C:hull(pn.set.linf_ball{dim = 3}))",
  image = "print(C:image{{1, 1, 0}, {0, 1, 1}})",
  intersect = "D = C:intersect(pn.set.nonnegative{dim = 3})\n    print(D, D:project{1, -1, 3})",
  norm = "print(C:norm(), C:norm(){1, 1, 1})",
  polar = "print(C:polar())",
  product = "print(C:product(pn.set.l2_ball{dim = 2}))",
  project = "print(C:project{3, -1, 0.2})",
  radius_in = 'print(C:radius_in "l2")',
  sample = "print(C:sample(pn.rng.seeded(1)))",
  support = "value, point = C:support{1, -5, 2}    -- the largest <g, x>, and where\n    print(value, point)",
  vertex_scores = "print(C:vertex_scores{1, -5, 2})",
  vertices = "print(C:vertices())",
  width = "print(C:width().value, C:width{method = \"quadrature\"}.method)",
})
method("pn.norm", "    N = pn.norm.lp(1.5)", {
  ball = "print(N:ball(3))",
  dual = "print(N:dual())",
  value = "print(N:value{3, 4}, N{3, 4})",
})
method("pn.potential", "    P, C = pn.potential.entropy{}, pn.set.simplex{dim = 3}", {
  bregman = "print(P:bregman({0.2, 0.3, 0.5}, {1/3, 1/3, 1/3}))",
  gradient = "print(P:gradient{0.2, 0.3, 0.5})",
  inverse_gradient = "x = pn.vec{0.2, 0.3, 0.5}\n    print(P:inverse_gradient(P:gradient(x)))",
  mirror_step = "print(P:mirror_step({1/3, 1/3, 1/3}, {1, 0, -1}, 0.5, C))",
  range = "print(P:range(C), math.log(3))",
  noise_trace = "print(P:noise_trace(C), 1 - 1 / 3)",
  start = "print(P:start(C))",
  theta = "print(P:theta{0.2, 0.3, 0.5})    -- the point itself: P.lifted is false",
  value = "print(P:value{0.2, 0.3, 0.5})",
})
method("pn.prox", "    P = pn.prox.l1(1)", {
  conjugate = "print(P:conjugate(), P:conjugate()(pn.vec{3, -0.5}, 1))",
  envelope = "print(P:envelope({3, -0.5}, 1))",
  value = "print(P:value{3, -0.5})",
})

return usage
