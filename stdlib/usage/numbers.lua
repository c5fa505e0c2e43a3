-- numbers.lua -- examples for numbers: vec, mat, sparse, element-wise functions, traced formulas, rng.
-- Depends on: nothing.  Used by: penumbra.usage.
local usage = {
  ["vec"] = [[
    v = pn.vec{3, 4}
    print(v, #v, v[2], v:norm())
    print(2 * v - 1, v * v)]],
  ["vec.zeros"] = [[
    v = pn.vec.zeros(4)
    v[2] = 1
    print(v)]],
  ["vec.ones"] = [[
    print(pn.vec.ones(3), pn.vec.ones(10):sum())]],
  ["vec.basis"] = [[
    e2 = pn.vec.basis(4, 2)
    print(e2, e2:dot{10, 20, 30, 40})]],
  ["vec.linspace"] = [[
    t = pn.vec.linspace(0, 1, 5)
    print(t, t:map(function(x) return x^2 end))]],
  ["vec.normal"] = [[
    v = pn.vec.normal(1000, pn.rng.seeded(1))
    print(v:sum() / #v, v:norm())]],
  ["mat"] = [[
    A = pn.mat{{2, 1}, {1, 3}}
    print(A.rows, A.cols, A[1], A:get(2, 2))
    print(A * pn.vec{1, 0}, A * A)]],
  ["mat.zeros"] = [[
    A = pn.mat.zeros(2, 3)
    A:set(1, 3, 7)
    print(A, A[1][3])]],
  ["sparse"] = [[
    S = pn.sparse{rows = 2, cols = 3, i = {1, 2, 2}, j = {1, 1, 3}, x = {5, 6, 7}}
    print(S, S.nnz, S * pn.vec{1, 1, 1})]],
  ["load"] = [[
    pn.vec{1, 2, 3}:save("v.npy")
    print(pn.load("v.npy"))]],
  ["version"] = [[
    print(pn.version)]],
  ["where"] = [[
    v = pn.vec{-2, 0.5, 3}
    print(pn.where(pn.gt(v, 0), v, 0))
    hinge = pn.trace(function(z) return pn.where(pn.lt(z, 1), 1 - z, 0) end)
    print(hinge, hinge:derivative("z"))]],
  ["clamp"] = [[
    print(pn.clamp(pn.vec{-5, 0.3, 9}, -1, 1))]],
  ["max"] = [[
    print(pn.max(2, 7, 5), pn.max(pn.vec{1, 5}, pn.vec{4, 2}))]],
  ["min"] = [[
    print(pn.min(2, 7, 5), pn.min(pn.vec{1, 5}, 3))]],
  ["trace"] = [[
    f = pn.trace(function(z, y) return pn.log1p(pn.exp(-y * z)) end)
    print(f)
    print(f:derivative("z"))]],
  ["bound"] = [[
    b = pn.bound(function(t) return t * pn.sin(t) end, {t = {0, 6}})
    print(b.min[1], b.min[2], b.max[1], b.max[2])]],
  ["rng.secure"] = [[
    rng = pn.rng.secure()
    print(rng, rng:uniform())]],
  ["rng.seeded"] = [[
    rng = pn.rng.seeded(42)
    print(rng:uniform(), rng.simulated)
    print(pn.rng.seeded(42):uniform())]],
  ["pn.rng:uniform"] = [[
    rng = pn.rng.seeded(1)
    print(rng:uniform(), rng:uniform())]],
  ["pn.rng:integer"] = [[
    rng = pn.rng.seeded(1)
    print(rng:integer(6), rng:integer(6))]],
  ["pn.rng:permutation"] = [[
    print(table.concat(pn.rng.seeded(1):permutation(5), " "))]],
  ["pn.rng:sphere"] = [[
    u = pn.rng.seeded(1):sphere(3)
    print(u, u:norm())]],
  ["pn.rng:ball"] = [[
    u = pn.rng.seeded(1):ball(3)
    print(u, u:norm() <= 1)]],
  ["pn.rng:split"] = [[
    rng = pn.rng.seeded(1)
    print(rng:split(1):uniform(), rng:split(2):uniform())]],
  ["pn.expression:derivative"] = [[
    f = pn.trace(function(t) return t^3 + pn.exp(t) end)
    print(f:derivative("t"))]],
  ["pn.expression:bound"] = [[
    f = pn.trace(function(t) return t^2 - t end)
    print(f:bound{t = {0, 2}}.min[1])]],
}

local function give(template, names)
  for _, name in ipairs(names) do
    usage[name] = (template:gsub("NAME", name))
  end
end

give([[
    print(pn.NAME(0.5), pn.NAME(pn.vec{0.25, 1, 2}))
    f = pn.trace(function(t) return pn.NAME(t) end)
    print(f, f:derivative("t"))]],
  { "exp", "log", "log1p", "expm1", "sqrt", "abs", "sign", "relu", "tanh", "sigmoid", "softplus", "erf", "sin", "cos" })
give([[
    print(pn.NAME(1, 2), pn.NAME(pn.vec{1, 2, 3}, 2))
    print(pn.trace(function(t) return pn.where(pn.NAME(t, 0), -t, t) end))]],
  { "lt", "le", "gt", "ge" })

-- Methods of vectors and matrices: the object, then one call.
local function method(class, object, calls)
  for name, call in pairs(calls) do
    usage[class .. ":" .. name] = object .. "\n    " .. call
  end
end

method("pn.vec", "    v = pn.vec{3, -4, 1}", {
  argmax = "print(v:argmax(), v[v:argmax()])",
  axpy = "v:axpy(2, pn.vec{1, 1, 1})    -- in place: v <- v + 2 w\n    print(v)",
  copy = "w = v:copy()\n    w[1] = 0\n    print(v, w)",
  dot = "print(v:dot{1, 1, 1}, v:dot(v))",
  map = "print(v:map(function(t) return t^2 + 1 end))    -- traced once, run in C",
  max = "print(v:max())                                  -- the value and where it stands",
  mean = "print(v:mean())",
  min = "print(v:min())",
  norm = "print(v:norm(), v:norm(1), v:norm(math.huge))",
  quantile = "print(v:quantile(0.5), v:quantile{0.25, 0.75})",
  sort = "print(v:sort())",
  std = "print(v:std())",
  reshape = "A = pn.vec.linspace(1, 6, 6):reshape(2, 3)  -- a view: the numbers are shared\n    print(A)",
  save = 'v:save("v.npy")\n    print(pn.load("v.npy") == v)',
  scale = "print(v:scale(10))",
  slice = "print(v:slice(2, 3))",
  sum = "print(v:sum())",
  table = 'print(table.concat(v:table(), " "))',
})
method("pn.mat", "    A = pn.mat{{2, 1}, {1, 3}}", {
  copy = "B = A:copy()\n    B:set(1, 1, 0)\n    print(A:get(1, 1), B:get(1, 1))",
  get = "print(A:get(1, 2))",
  map = "print(A:map(function(t) return pn.log(t) end))",
  save = 'A:save("a.npy")\n    print(pn.load("a.npy"))',
  set = "A:set(1, 2, 0)\n    print(A)",
  solve = "x = A:solve{3, 5}\n    print(x, A * x)",
  svd = "U, s, V = A:svd()\n    print(s)",
  eigen = "w, V = A:eigen()\n    print(w)",
  t = "print(pn.mat{{1, 2, 3}}:t(), A:t())",
  vec = "print(A:vec())",
})
method("pn.sparse", "    S = pn.sparse{rows = 2, cols = 3, i = {1, 2}, j = {3, 1}, x = {5, 6}}", {
  dense = "print(S:dense())",
  t = "print(S:t() * pn.vec{1, 1})",
})

return usage
