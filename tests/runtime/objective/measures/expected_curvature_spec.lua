-- expected_curvature_spec.lua -- pn.curvature against numbers of the spec and against brute force over corners and vertices in Lua.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local function random_rows(seed, n, d, scale)
  local rng, rows, y = pn.rng.seeded(seed), {}, {}
  for i = 1, n do
    rows[i], y[i] = {}, 2 * rng:uniform() - 1
    for j = 1, d do rows[i][j] = (scale and scale[j] or 1) * (2 * rng:uniform() - 1) end
  end
  return rows, y
end

local function objective(rows, y, set, more)
  local options = { data = pn.data.from(rows, y), loss = pn.loss.squared(), set = set }
  for k, v in pairs(more or {}) do options[k] = v end
  return pn.objective(options)
end

local function ones(d, set)
  local row = {}
  for j = 1, d do row[j] = 1 end
  return objective({ row }, { 0 }, set)
end

local function linf(d) return pn.set.linf_ball { dim = d, radius = 1 } end

-- X^T X / n
local function gram(rows)
  local H, d = {}, #rows[1]
  for i = 1, d do
    H[i] = {}
    for j = 1, d do
      local sum = 0
      for _, x in ipairs(rows) do sum = sum + x[i] * x[j] end
      H[i][j] = sum / #rows
    end
  end
  return H
end

-- max over signs of sum_ij s_i s_j P_ij H_ij w_i w_j, one corner after the other
local function by_corners(H, w, s)
  local d, best = #H, 0
  for code = 0, 2 ^ d - 1 do
    local z, value = {}, 0
    for i = 1, d do z[i] = ((math.tointeger(code) >> (i - 1)) & 1 == 1) and w[i] or -w[i] end
    for i = 1, d do for j = 1, d do value = value + z[i] * z[j] * s:pair(i, j) * H[i][j] end end
    best = math.max(best, value)
  end
  return best
end

local function close(want, got, tol) assert.near(want, got, (tol or 1e-9) * math.max(1, math.abs(want))) end

local function samplings(d)
  local p, sum = {}, 0
  for i = 1, d do p[i] = i sum = sum + i end
  for i = 1, d do p[i] = p[i] / sum end
  local coin, pairs_of = {}, {}
  for i = 1, d do coin[i] = 0.2 + 0.6 * i / d end
  for i = 1, d do
    pairs_of[i] = {}
    for j = 1, d do pairs_of[i][j] = i == j and coin[i] or coin[i] * coin[j] end
  end
  local function toss(rng)
    local out = {}
    for i = 1, d do if rng:uniform() < coin[i] then out[#out + 1] = i end end
    return out
  end
  return {
    full = pn.sampling.full { blocks = d },
    serial = pn.sampling.serial { blocks = d },
    weighted = pn.sampling.serial { blocks = d, p = p },
    nice = pn.sampling.nice { blocks = d, tau = math.max(d // 2, 1) },
    distributed = pn.sampling.distributed { blocks = d, groups = 2, tau = d // 2 > 1 and 2 or 1 },
    coins = pn.sampling.custom { blocks = d, p = coin, pairs = pn.mat(pairs_of), draw = toss },
  }, pn.sampling.custom { blocks = d, p = coin, draw = toss }
end

describe("the expected curvature", function()
  it("of one row of ones with two parties is 64 and 144, where the printed Proposition 4 says 40 and 80", function()
    local obj = ones(6, linf(6))
    for tau, want in pairs { [2] = 64, [3] = 144 } do
      local C = pn.curvature(obj, pn.sampling.distributed { blocks = 6, groups = 2, tau = tau })
      assert.is_true(C.exact)
      close(want, C.value)
      close(want, C.mu) -- the corrected bound is tight there
      close(want, C.eso)
      local printed = 2 * tau * 4 + 2 * tau * (tau - 1) * 4 + 2 * 4
      assert.equal(tau == 2 and 40 or 80, printed)
      assert.is_true(C.value > printed)
    end
  end)

  it("is that of every corner, for every sampling and box", function()
    local rows, y = random_rows(5, 9, 6, { 1, 2, .3, 1, 1, .1 })
    local lower, upper = { -1, 0, 2, -3, 0, -1 }, { 1, .5, 2, -1, 4, 0 } -- the third is fixed
    local H, w = gram(rows), {}
    for j = 1, 6 do w[j] = upper[j] - lower[j] end
    local box = pn.set.box { lower = lower, upper = upper }
    for _, set in ipairs { box, 1 * box + { 1, 2, 3, 4, 5, 6 } } do
      local obj = objective(rows, y, set)
      for name, s in pairs(samplings(6)) do
        local C = pn.curvature(obj, s)
        assert.is_true(C.exact, name)
        close(by_corners(H, w, s), C.value)
        assert.is_true(C.eso >= C.value * (1 - 1e-12), name)
        assert.is_true((C.mu or math.huge) >= C.value * (1 - 1e-12), name)
        assert.is_true(C.set_curvature >= C.value * (1 - 1e-12), name)
      end
    end
    local full = pn.sampling.full { blocks = 6 }
    close(4 * by_corners(H, w, full), pn.curvature(objective(rows, y, -2 * box), full).value)
  end)

  it("of full sampling is the curvature over the vertices", function()
    local rows, y = random_rows(6, 7, 3)
    local vertices = {}
    for a = -1, 1, 2 do for b = -1, 1, 2 do for c = -1, 1, 2 do vertices[#vertices + 1] = { a, b, c } end end end
    local whole = objective(rows, y, pn.set.polytope { vertices = pn.mat(vertices) }):exact_curvature()
    close(whole, pn.curvature(objective(rows, y, linf(3)), pn.sampling.full { blocks = 3 }).value)
  end)

  it("of serial sampling on [-1, 1]^d is (4/d) trace(A^T A), equal to the ESO bound, in any dimension", function()
    for _, d in ipairs { 1, 7, 40 } do
      local rows, y = random_rows(d, 11, d)
      local H, trace = gram(rows), 0
      for j = 1, d do trace = trace + H[j][j] end
      local C = pn.curvature(objective(rows, y, linf(d)), pn.sampling.serial { blocks = d })
      close(4 / d * trace, C.value)
      close(C.value, C.eso)
      assert.is_true(C.exact)
    end
  end)

  it("agrees between distributed with tau = c and full, and between one group and nice", function()
    local rows, y = random_rows(8, 5, 6)
    local obj = objective(rows, y, linf(6))
    local function same(a, b)
      local A, B = pn.curvature(obj, a), pn.curvature(obj, b)
      close(A.value, B.value)
      close(A.eso, B.eso)
    end
    same(pn.sampling.distributed { blocks = 6, groups = 3, tau = 2 }, pn.sampling.full { blocks = 6 })
    same(pn.sampling.distributed { blocks = 6, groups = 1, tau = 4 }, pn.sampling.nice { blocks = 6, tau = 4 })
    local C = pn.curvature(obj, pn.sampling.full { blocks = 6 })
    close(C.set_curvature, C.value)
  end)

  it("is bounded from above where corners are too many", function()
    -- blocks that nothing couples: A^T A is diagonal, and the truth is known in any dimension
    local d, rows, y = 24, {}, {}
    for i = 1, d do
      rows[i], y[i] = {}, 0
      for j = 1, d do rows[i][j] = i == j and 1 + j / d or 0 end
    end
    local obj, truth = objective(rows, y, linf(d)), 0
    for j = 1, d do truth = truth + 4 * (1 + j / d) ^ 2 / d end
    for _, s in ipairs { pn.sampling.full { blocks = d }, pn.sampling.nice { blocks = d, tau = 5 },
      pn.sampling.distributed { blocks = d, groups = 4, tau = 2 } } do
      local C = pn.curvature(obj, s)
      close(s.least * truth, C.value)
      close(s.least * truth, C.eso) -- lambda'(A^T A) = 1
    end
    -- coupled ones: between a lower bound by random corners and the bounds of the propositions
    local tight, labels = random_rows(3, 30, d)
    local H = gram(tight)
    local s, rng = pn.sampling.nice { blocks = d, tau = 6 }, pn.rng.seeded(1)
    local C, seen = pn.curvature(objective(tight, labels, linf(d)), s), 0
    for _ = 1, 200 do
      local z, value = {}, 0
      for i = 1, d do z[i] = rng:uniform() < .5 and 2 or -2 end
      for i = 1, d do for j = 1, d do value = value + z[i] * z[j] * s:pair(i, j) * H[i][j] end end
      seen = math.max(seen, value)
    end
    assert.is_false(C.exact)
    assert.is_true(C.value >= seen and C.value <= math.min(C.eso, C.mu, C.set_curvature) * (1 + 1e-12))
  end)

  it("takes the worst for pairs that are not declared", function()
    local rows, y = random_rows(12, 8, 5)
    local known, unknown = samplings(5)
    local obj = objective(rows, y, linf(5))
    local sure, open = pn.curvature(obj, known.coins), pn.curvature(obj, unknown)
    assert.is_true(sure.exact)
    assert.is_false(open.exact)
    assert.is_true(open.value >= sure.value)
    assert.is_nil(open.mu)
  end)

  -- ---- products ----

  local function differences(vertices)
    local out = {}
    for a = 1, #vertices do
      for b = 1, #vertices do
        if a ~= b then
          local u = {}
          for j = 1, #vertices[a] do u[j] = vertices[a][j] - vertices[b][j] end
          out[#out + 1] = u
        end
      end
    end
    return out
  end

  local function cross(r, d)
    local out = {}
    for j = 1, d do
      for sign = -1, 1, 2 do
        local v = {}
        for k = 1, d do v[k] = k == j and sign * r or 0 end
        out[#out + 1] = v
      end
    end
    return out
  end

  -- over all combinations of the lists of three blocks
  local function by_vertices(H, lists, s)
    local first, best = { 0 }, 0
    for i, list in ipairs(lists) do first[i + 1] = first[i] + #list[1] end
    local function product(i, u, j, v)
      local sum = 0
      for a = 1, #u do for b = 1, #v do sum = sum + u[a] * H[first[i] + a][first[j] + b] * v[b] end end
      return sum
    end
    for _, u in ipairs(lists[1]) do
      for _, v in ipairs(lists[2]) do
        for _, w in ipairs(lists[3]) do
          local z, value = { u, v, w }, 0
          for i = 1, 3 do for j = 1, 3 do value = value + s:pair(i, j) * product(i, z[i], j, z[j]) end end
          best = math.max(best, value)
        end
      end
    end
    return best
  end

  it("of products of polytopes is that of every combination of vertices", function()
    local rows, y = random_rows(21, 10, 7)
    local H = gram(rows)
    local l1, simplex, box = pn.set.l1_ball { dim = 2, radius = 2 }, pn.set.simplex { dim = 3 },
      pn.set.box { lower = { -1, 0 }, upper = { 1, 3 } }
    local lists = {
      differences(cross(2, 2)),
      differences { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
      { { 2, 3 }, { 2, -3 }, { -2, 3 }, { -2, -3 } },
    }
    local flat = l1:product(simplex):product(box)
    local moved = l1:product(simplex:product(box) + { 1, 2, 3, 4, 5 })
    for _, set in ipairs { flat, moved } do
      local obj = objective(rows, y, set)
      for _, s in ipairs { pn.sampling.full { blocks = 3 }, pn.sampling.serial { blocks = 3, p = { .5, .3, .2 } },
        pn.sampling.nice { blocks = 3, tau = 2 }, pn.sampling.distributed { blocks = 3, groups = 2, tau = 1 } } do
        local C = pn.curvature(obj, s)
        assert.is_true(C.exact, s.name)
        close(by_vertices(H, lists, s), C.value)
        assert.is_true(C.eso >= C.value * (1 - 1e-12) and (C.mu or math.huge) >= C.value * (1 - 1e-12))
      end
    end
    close(4 * pn.curvature(objective(rows, y, flat), pn.sampling.full { blocks = 3 }).value,
      pn.curvature(objective(rows, y, -2 * flat), pn.sampling.full { blocks = 3 }).value)
  end)

  -- A hypersimplex, a sum of a simplex and a square, and k-sparse signs: no list of vertices, but choices make them.
  local function made_of_choices()
    local pairs_of_three, shifted, sparse = { { 2, 2, 0 }, { 2, 0, 2 }, { 0, 2, 2 } }, {}, {}
    for _, corner in ipairs { { 1, 0 }, { 0, 1 } } do
      for a = -1, 1, 2 do for b = -1, 1, 2 do
        shifted[#shifted + 1] = { corner[1] + 0.25 * a, corner[2] + 0.25 * b }
      end end
    end
    for a = -1, 1, 2 do for b = -1, 1, 2 do sparse[#sparse + 1] = { a / 2, b / 2 } end end
    return pn.set.hypersimplex { dim = 3, k = 2, radius = 2 },
      pn.set.simplex { dim = 2 } + pn.set.linf_ball { dim = 2, radius = 0.25 },
      pn.set.ksparse_polytope { dim = 2, k = 2, radius = 0.5 }, { pairs_of_three, shifted, sparse }
  end

  it("of products of sets whose vertices are made of choices is that of every combination", function()
    local rows, y = random_rows(25, 12, 7)
    local hyper, sum, sparse, vertices = made_of_choices()
    local lists, H = {}, gram(rows)
    for i, list in ipairs(vertices) do lists[i] = differences(list) end
    local obj = objective(rows, y, hyper:product(sum):product(sparse))
    for name, s in pairs(samplings(3)) do
      local C, truth = pn.curvature(obj, s), by_vertices(H, lists, s)
      assert.is_true(C.exact, name)
      close(truth, C.value)
      assert.is_true(C.eso >= truth * (1 - 1e-12) and (C.mu or math.huge) >= truth * (1 - 1e-12), name)
    end
  end)

  -- sup over x, s, gamma of E (2/gamma^2) [f(x + gamma (s - x)_T) - f(x) - gamma <(s - x)_T, grad f(x)>] for a quadratic f
  -- is reached at vertices, by every gamma: all pairs of them, all draws of two blocks of three.
  it("is the supremum that steps between vertices reach", function()
    local rows, y = random_rows(26, 9, 6)
    local hyper = pn.set.hypersimplex { dim = 3, k = 2, radius = 1 }
    local set = hyper:product(pn.set.simplex { dim = 2, radius = 0.5 }):product(pn.set.box { lower = { -1 }, upper = { 2 } })
    local obj, first, points, worst = objective(rows, y, set), { 1, 4, 6, 7 }, {}, { 0, 0 }
    for _, a in ipairs { { 1, 1, 0 }, { 1, 0, 1 }, { 0, 1, 1 } } do
      for _, b in ipairs { { 0.5, 0 }, { 0, 0.5 } } do
        for _, c in ipairs { -1, 2 } do points[#points + 1] = { a[1], a[2], a[3], b[1], b[2], c } end
      end
    end
    for _, x in ipairs(points) do
      local f, g = obj:value(x), obj:gradient(x)
      for _, v in ipairs(points) do
        for k, gamma in ipairs { 0.25, 1 } do
          local sum = 0
          for _, drawn in ipairs { { 1, 2 }, { 1, 3 }, { 2, 3 } } do
            local z, along = { table.unpack(x) }, 0
            for _, block in ipairs(drawn) do
              for j = first[block], first[block + 1] - 1 do
                z[j] = x[j] + gamma * (v[j] - x[j])
                along = along + g[j] * (v[j] - x[j])
              end
            end
            sum = sum + (obj:value(z) - f - gamma * along) / 3
          end
          worst[k] = math.max(worst[k], 2 / gamma ^ 2 * sum)
        end
      end
    end
    local C = pn.curvature(obj, pn.sampling.nice { blocks = 3, tau = 2 })
    assert.is_true(C.exact)
    close(C.value, worst[1])
    close(C.value, worst[2])
  end)

  -- Proposition 2: with serial sampling the sum of the blocks' curvatures over d, the product curvature; with tau of d no
  -- more than the mean over draws of the curvature of what is drawn.
  it("keeps to the product curvature and to the expected set curvature", function()
    local rows, y = random_rows(27, 14, 7)
    local hyper, sum, sparse, vertices = made_of_choices()
    local H, first, lists = gram(rows), { 0, 3, 5, 7 }, {}
    for i, list in ipairs(vertices) do
      lists[i] = differences(list)
      lists[i][#lists[i] + 1] = {}
      for j = 1, #list[1] do lists[i][#lists[i]][j] = 0 end    -- a block that is not drawn
    end
    local function bend(drawn)    -- the curvature of a product of some blocks
      local best, chosen = 0, {}
      local function go(i)
        if i > 3 then
          local value, z = 0, {}
          for b = 1, 3 do for j = 1, #chosen[b] do z[first[b] + j] = chosen[b][j] end end
          for a = 1, 7 do for b = 1, 7 do value = value + z[a] * H[a][b] * z[b] end end
          best = math.max(best, value)
        elseif not drawn[i] then
          chosen[i] = lists[i][#lists[i]]
          go(i + 1)
        else
          for _, u in ipairs(lists[i]) do
            chosen[i] = u
            go(i + 1)
          end
        end
      end
      go(1)
      return best
    end
    local obj = objective(rows, y, hyper:product(sum):product(sparse))
    local product = bend { true } + bend { false, true } + bend { false, false, true }
    local serial = pn.curvature(obj, pn.sampling.serial { blocks = 3 })
    close(product / 3, serial.value)
    assert.is_true(serial.exact)
    local mean = (bend { true, true } + bend { true, false, true } + bend { false, true, true }) / 3
    local nice = pn.curvature(obj, pn.sampling.nice { blocks = 3, tau = 2 })
    assert.is_true(nice.value <= mean * (1 + 1e-12) and nice.value > 0.8 * mean)
  end)

  it("of long lists is that of their farthest two vertices", function()
    local d, r = 40, 1.5
    local rows, y = random_rows(28, 50, d + 1)
    local H, farthest = gram(rows), 0
    for i = 1, d do for j = 1, d do
      farthest = math.max(farthest, i == j and 4 * H[i][i] or H[i][i] + H[j][j] + 2 * math.abs(H[i][j]))
    end end
    local set = pn.set.l1_ball { dim = d, radius = r }:product(pn.set.box { lower = { 0 }, upper = { 3 } })
    local C = pn.curvature(objective(rows, y, set), pn.sampling.serial { blocks = 2, p = { 0.25, 0.75 } })
    assert.is_true(C.exact)
    close(0.25 * r ^ 2 * farthest + 0.75 * 9 * H[d + 1][d + 1], C.value)
  end)

  it("of intervals that are factors is that of their box", function()
    local rows, y = random_rows(22, 10, 3)
    local function interval(a, b) return pn.set.box { lower = { a }, upper = { b } } end
    local product = interval(-1, 1):product(interval(0, 2)):product(interval(1, 4))
    local box = pn.set.box { lower = { -1, 0, 1 }, upper = { 1, 2, 4 } }
    local s = pn.sampling.nice { blocks = 3, tau = 2 }
    local C = pn.curvature(objective(rows, y, product), s)
    close(pn.curvature(objective(rows, y, box), s).value, C.value)
    assert.equal("corners", C.method)
  end)

  it("of balls is bounded by eigenvalues and diameters", function()
    -- A^T A = I: every block has C_i = 4 r^2
    local rows, y = {}, {}
    for i = 1, 4 do
      rows[i], y[i] = { 0, 0, 0, 0 }, 0
      rows[i][i] = 2
    end
    local set = pn.set.l2_ball { dim = 2, radius = 1 }:product(pn.set.l2_ball { dim = 2, radius = 3 })
    local C = pn.curvature(objective(rows, y, set), pn.sampling.full { blocks = 2 })
    assert.is_true(C.value >= 40 * (1 - 1e-12)) -- the truth, 4 + 36
    close(64, C.value, 1e-6) -- (2 + 6)^2: pairs by Cauchy and Schwarz
    assert.is_false(C.exact)
    local serial = pn.curvature(objective(rows, y, set), pn.sampling.serial { blocks = 2 })
    close(20, serial.value, 1e-6)
  end)

  it("adds what a regulariser bends, and bounds other losses", function()
    local rows, y = random_rows(31, 9, 5)
    local s = pn.sampling.serial { blocks = 5 }
    local plain = pn.curvature(objective(rows, y, linf(5)), s)
    local with = pn.curvature(objective(rows, y, linf(5), { reg = pn.reg.l2 { lambda = 0.7 } }), s)
    close(plain.value + 0.7 * 4, with.value)
    assert.is_true(with.exact)
    local signs = {}
    for i, value in ipairs(y) do signs[i] = value < 0 and -1 or 1 end
    local logistic = pn.curvature(objective(rows, signs, linf(5), { loss = pn.loss.logistic() }), s)
    close(plain.value / 4, logistic.value, 1e-6) -- l'' <= 1/4
    assert.is_false(logistic.exact)
  end)

  it("of other losses bounds what steps really do", function()
    local rows, y = random_rows(32, 6, 4)
    for i, value in ipairs(y) do y[i] = value < 0 and -1 or 1 end
    local obj = objective(rows, y, linf(4), { loss = pn.loss.logistic() })
    local s, rng = pn.sampling.nice { blocks = 4, tau = 2 }, pn.rng.seeded(2)
    local C, worst = pn.curvature(obj, s).value, 0
    for _ = 1, 300 do
      local gamma, x, v = 0.05 + 0.95 * rng:uniform(), {}, {}
      for j = 1, 4 do x[j], v[j] = 2 * rng:uniform() - 1, rng:uniform() < .5 and -1 or 1 end
      local f, g, sum = obj:value(x), obj:gradient(x), 0
      for a = 1, 3 do
        for b = a + 1, 4 do -- the six subsets of two
          local z, along = { table.unpack(x) }, 0
          for _, j in ipairs { a, b } do
            z[j] = x[j] + gamma * (v[j] - x[j])
            along = along + g[j] * (v[j] - x[j])
          end
          sum = sum + (obj:value(z) - f - gamma * along) / 6
        end
      end
      worst = math.max(worst, 2 / gamma ^ 2 * sum)
    end
    assert.is_true(worst <= C and worst > 0.05 * C)
  end)

  it("from public numbers is never below that of the records", function()
    local function public(obj, s)
      for line in tostring(pn.solve.block_frank_wolfe.plan(obj, { privacy = false, sampling = s, gap = 1 })):gmatch "[^\n]+" do
        local value = line:match "curvature C'? +(%S+)"
        if value then return tonumber(value) end
      end
    end
    -- reached by a row of ones under clip_rows("linf", 1)
    local worst = pn.objective { data = pn.data.from({ { 1, 1, 1, 1, 1, 1 } }, { 0 }):clip_rows("linf", 1):clip_labels(-1, 1),
      loss = pn.loss.squared(), set = linf(6) }
    assert.near(16, public(worst, pn.sampling.nice { blocks = 6, tau = 2 }), 1e-3)
    local rows, y = random_rows(41, 12, 6)
    local balls = pn.set.l1_ball { dim = 3, radius = 1 }:product(pn.set.l2_ball { dim = 2, radius = 2 })
    balls = balls:product(pn.set.box { lower = { 0 }, upper = { 1 } })
    local made = pn.set.hypersimplex { dim = 3, k = 2 }:product(pn.set.simplex { dim = 2 }
      + pn.set.linf_ball { dim = 2, radius = 0.25 }):product(pn.set.l1_ball { dim = 1, radius = 2 })
    for _, clip in ipairs { { "linf", 1 }, { "l2", 1 }, { "l1", 2 } } do
      local data = pn.data.from(rows, y):clip_rows(clip[1], clip[2]):clip_labels(-1, 1)
      for name, s in pairs(samplings(3)) do
        local obj = pn.objective { data = data, loss = pn.loss.squared(), set = made }
        assert.is_true(public(obj, s) * 1.00001 >= pn.curvature(obj, s).value, clip[1] .. " choices " .. name)
      end
      for d, set in pairs { [6] = linf(6), [3] = balls } do
        local obj = pn.objective { data = data, loss = pn.loss.squared(), set = set }
        for name, s in pairs(samplings(d)) do
          assert.is_true(public(obj, s) * 1.00001 >= pn.curvature(obj, s).value, clip[1] .. " " .. name)
        end
      end
    end
  end)

  -- Entries of at most 1: a block adds the square of its l1 diameter, 2 of a simplex and 4 of two of three coordinates.
  it("of a plan is the product curvature over d where blocks move one by one", function()
    local rows, y = random_rows(42, 12, 6)
    local set = pn.set.simplex { dim = 3 }:product(pn.set.hypersimplex { dim = 3, k = 2, radius = 2 })
    local obj = pn.objective { data = pn.data.from(rows, y):clip_rows("linf", 1):clip_labels(-1, 1),
      loss = pn.loss.squared(), set = set }
    local function planned(s)
      return pn.solve.block_frank_wolfe.plan(obj, { privacy = false, sampling = s }).lines["curvature C"]
    end
    close((4 + 16) / 2, planned(pn.sampling.serial { blocks = 2 }))
    close((2 + 4) ^ 2, planned(pn.sampling.full { blocks = 2 }))
    close((4 + 3 * 16) / 4, planned(pn.sampling.serial { blocks = 2, p = { 0.25, 0.75 } }))
  end)

  it("refuses what it has no answer for, in words", function()
    local rows, y = random_rows(1, 4, 3)
    local s = pn.sampling.full { blocks = 3 }
    local function no_curvature(text, obj, sampling)
      refused(text, pn.curvature, obj, sampling)
    end
    local ball = pn.set.l1_ball { dim = 3, radius = 1 }
    no_curvature("l1_ball is not a product of blocks; use a box, a linf_ball or a product", objective(rows, y, ball), s)
    no_curvature("without a set", pn.objective { data = pn.data.from(rows, y), loss = pn.loss.squared() }, s)
    no_curvature("the sampling has 2 blocks, the set has 3", objective(rows, y, linf(3)), pn.sampling.full { blocks = 2 })
    no_curvature("nothing bounds the curvature of the loss",
      objective(rows, { 1, 1, -1, 1 }, linf(3), { loss = pn.loss.hinge() }), s)
  end)
end)
