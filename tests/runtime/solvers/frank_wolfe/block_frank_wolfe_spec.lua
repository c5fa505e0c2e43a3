-- block_frank_wolfe_spec.lua -- the bound's recursion, the numbers of the spec, and runs against their bounds.
-- Runs are seeded.  The bounds hold for expectations: means over 20 seeds are compared with them, and are far below.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

local D = 8

local function data(n, d, seed)
  local rng, rows, y = pn.rng.seeded(seed or 3), {}, {}
  for i = 1, n do
    rows[i], y[i] = {}, 3 * rng:uniform() - 1
    for j = 1, d do rows[i][j] = 2 * rng:uniform() - 1 end
  end
  return pn.data.from(rows, y):clip_rows("linf", 1):clip_labels(-2, 2)
end

local function objective(set, options)
  local parts = { data = data(40, D), loss = pn.loss.squared(), set = set or pn.set.linf_ball { dim = D, radius = 1 } }
  for k, v in pairs(options or {}) do parts[k] = v end
  return pn.objective(parts)
end

local function samplings()
  local weights = { .3, .2, .1, .1, .1, .1, .05, .05 }
  local half = {}
  for j = 1, D do half[j] = 0.5 end
  return {
    full = pn.sampling.full { blocks = D },
    serial = pn.sampling.serial { blocks = D },
    weighted = pn.sampling.serial { blocks = D, p = weights },
    nice = pn.sampling.nice { blocks = D, tau = 3 },
    distributed = pn.sampling.distributed { blocks = D, groups = 2, tau = 2 },
    coins = pn.sampling.custom { blocks = D, p = half, draw = function(rng)
      local out = {}
      for j = D, 1, -1 do if rng:uniform() < 0.5 then out[#out + 1] = j end end
      return out
    end },
  }
end

local function plan(obj, options)
  options.privacy = false
  return pn.solve.block_frank_wolfe.plan(obj, options)
end

-- The number of a line of the explanation.
local function line(of, name)
  return tonumber(tostring(of):match("\n  " .. name:gsub("%W", "%%%0") .. " +(%S+)"))
end

local function bound(options)
  return plan(objective(), options).bound
end

local zeros = {}
for j = 1, D do zeros[j] = 0 end

describe("the bound of block_frank_wolfe", function()
  it("is 0.481538462 for h0 = 2, C = 5, p = 1/2, T = 100 and e = 0.01", function()
    -- e = sum p_i oracle_error = 4 oracle_error
    local s = pn.sampling.nice { blocks = D, tau = 4 }
    local B = bound { sampling = s, gap = 2, curvature = 5, iterations = 100, oracle_error = 0.0025 }
    assert.near(0.481538462, B, 5e-10)
    -- the same by gradient_error: every diameter is 2
    B = bound { sampling = s, gap = 2, curvature = 5, iterations = 100, gradient_error = 0.00125 }
    assert.near(0.481538462, B, 5e-10)
  end)

  it("is above its recursion taken with equality, by as little as 1 %", function()
    local largest = 0
    for tenths, blocks in pairs { [1] = { 20, 2 }, [5] = { 8, 4 }, [10] = { 8, 8 } } do
      local d, tau = blocks[1], blocks[2]
      local obj = pn.objective { data = data(5, d), loss = pn.loss.squared(), set = pn.set.linf_ball { dim = d, radius = 1 } }
      local p, s = tenths / 10, pn.sampling.nice { blocks = d, tau = tau }
      for _, problem in ipairs { { 2, 5, 0 }, { 2, 5, 0.01 }, { 0.1, 5, 0.001 }, { 40, 1, 0 } } do
        local h, C, e = table.unpack(problem)
        local h0 = h
        for t = 1, 16384 do
          local gamma = 2 / (p * (t - 1) + 2)
          h = (1 - gamma * p) * h + gamma * e + gamma ^ 2 * C / 2
          if t & (t - 1) == 0 then
            local B = plan(obj, { sampling = s, gap = h0, curvature = C, iterations = t, oracle_error = e / tau }).bound
            assert.is_true(h <= B * (1 + 1e-12), ("p=%g t=%d: %g above %g"):format(p, t, h, B))
            largest = math.max(largest, h / B)
          end
        end
      end
    end
    assert.is_true(largest > 0.99 and largest <= 1)
  end)

  law("of compensated steps begins late, at t0 = 59, and is above its recursion with the worst block", function()
    local p, C, d = { .7, .2, .07, .03 }, {}, 4
    local bend = 0
    for i = 1, d do
      C[i] = 100 * p[i] ^ 2
      bend = bend + C[i] / (d * d * p[i])
    end
    local obj = pn.objective { data = data(5, d), loss = pn.loss.squared(), set = pn.set.linf_ball { dim = d, radius = 1 } }
    local s, h, largest = pn.sampling.serial { blocks = d, p = p }, 1, 0
    for t = 1, 16384 do
      local now = 2 * d / (t - 1 + 59 + 2 * d)
      h = (1 - now / d) * h + now ^ 2 * bend / 2
      for i = 1, d do assert.is_true(now / (d * p[i]) <= 1) end
      if t & (t - 1) == 0 then
        local made = plan(obj, { sampling = s, step = "compensated", gap = 1, curvature = bend, iterations = t })
        assert.equal(59, line(made, "late start t0"))
        assert.is_true(h <= made.bound)
        largest = math.max(largest, h / made.bound)
      end
    end
    assert.is_true(largest > 0.99)
    assert.equal(0, line(plan(obj, { sampling = pn.sampling.serial { blocks = d }, step = "compensated" }), "late start t0"))
  end)

  it("takes h0 and C from public numbers when they are not given", function()
    local made = plan(objective(), { iterations = 100 })
    local obj = objective()
    local best = pn.solve.exact(obj, { tol = 1e-9 }).value
    assert.is_true(line(made, "start gap h0") >= obj:value(zeros) - best)
    assert.is_true(line(made, "curvature C") * 1.00001 >= pn.curvature(obj, pn.sampling.full { blocks = D }).value)
    assert.near(2 * (line(made, "start gap h0") + line(made, "curvature C")) / 102, made.bound, 1e-4 * made.bound)
    local wide = pn.objective { data = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 1, 2 }), loss = pn.loss.squared(),
      set = pn.set.linf_ball { dim = 2, radius = 1 } }
    local none = plan(wide, {})
    assert.is_nil(none.bound)
    assert.matches("excess risk bound +none", tostring(none))
    assert.is_number(plan(wide, { gap = 1, curvature = 2 }).bound)
  end)
end)

describe("block_frank_wolfe", function()
  law("stays below its bound for every sampling, and falls at least like 1/t", function()
    local obj = objective()
    local best = pn.solve.exact(obj, { tol = 1e-10 }).value
    local gap = obj:value(zeros) - best
    local marks = { 10, 30, 100, 300, 1000 }
    local function check(name, options)
      local sums = {}
      for seed = 1, 20 do
        local trace = plan(obj, options):run { rng = pn.rng.seeded(seed) }.trace
        for k, t in ipairs(marks) do sums[k] = (sums[k] or 0) + (trace[t + 1].value - best) / 20 end
      end
      for k, t in ipairs(marks) do
        options.iterations = t
        local B = plan(obj, options).bound
        assert.is_true(sums[k] < B, ("%s: %g after %d steps, the bound is %g"):format(name, sums[k], t, B))
      end
      local slope = math.log(sums[#marks] / sums[3]) / math.log(marks[#marks] / marks[3])
      assert.is_true(slope < -0.9 and slope > -3.5, ("%s: slope %g"):format(name, slope))
    end
    for name, s in pairs(samplings()) do
      check(name, { sampling = s, gap = gap, iterations = 1001, curvature = pn.curvature(obj, s).value })
    end
    local s = samplings().weighted
    local H, bend = {}, 0 -- C_i = 4 H_ii
    local serial = pn.curvature(obj, pn.sampling.serial { blocks = D }).value
    for j = 1, D do
      local w = {}
      for k = 1, D do w[k] = k == j and 1 - 7e-9 or 1e-9 end
      H[j] = pn.curvature(obj, pn.sampling.serial { blocks = D, p = w }).value
      bend = bend + H[j] / (D * D * s:inclusion(j))
    end
    assert.near(serial, (H[1] + H[2] + H[3] + H[4] + H[5] + H[6] + H[7] + H[8]) / D, 1e-6)
    check("compensated", { sampling = s, step = "compensated", gap = gap, iterations = 1001, curvature = bend })
  end)

  it("falls no faster than 1/t where every step needs new vertices", function()
    local size, one = 400, pn.set.simplex { dim = 400 }
    local rows, start = { i = {}, x = {} }, pn.vec.zeros(2 * size)
    for j = 1, 2 * size do rows.i[j], rows.x[j] = j, math.sqrt(2 * size) end
    start[1], start[size + 1] = 1, 1
    local eye = pn.sparse { rows = 2 * size, cols = 2 * size, i = rows.i, j = rows.i, x = rows.x }
    local obj = pn.objective { loss = pn.loss.squared(), set = one:product(one), data = pn.data.from(eye, pn.vec.zeros(2 * size)) }
    for _, s in ipairs { pn.sampling.full { blocks = 2 }, pn.sampling.serial { blocks = 2 } } do
      local made = plan(obj, { sampling = s, start = start, iterations = 201, gap = 1, curvature = 2 * s.mean })
      local trace = made:run { rng = pn.rng.seeded(1) }.trace
      local function gap(t) return trace[t + 1].value - 1 / size end
      local slope = math.log(gap(200) / gap(25)) / math.log(8)
      assert.is_true(slope < -0.8 and slope > -1.25, s.name .. ": " .. slope)
      assert.is_true(gap(200) < made.bound and gap(200) > made.bound / 20)
    end
  end)

  it("leaves blocks outside of T as they were, bit for bit, and moves those inside to their vertices", function()
    local last
    local half = {}
    for j = 1, D do half[j] = 0.5 end
    local s = pn.sampling.custom { blocks = D, p = half, draw = function(rng)
      last = {}
      for j = 1, D do if rng:uniform() < 0.5 then last[#last + 1] = j end end
      return last
    end }
    local obj, before, t, drawn = objective(), pn.vec(zeros), 0, 0
    plan(obj, { sampling = s, iterations = 60 }):run { rng = pn.rng.seeded(4), on_step = function(state)
      local theta = state.theta
      local inside, gamma, g = {}, 2 / (0.5 * t + 2), obj:gradient(before)
      for _, j in ipairs(last) do inside[j] = true end
      for j = 1, D do
        local want = before[j]
        if inside[j] then want = want * (1 - gamma) + gamma * (g[j] > 0 and -1 or 1) end
        assert.equal(want, theta[j])
      end
      before, t, drawn = pn.vec(theta), t + 1, drawn + #last
    end }
    assert.equal(60, t)
    assert.is_true(drawn > 150 and drawn < 330)
  end)

  it("with all blocks in T is frank_wolfe on the product set, bit for bit", function()
    local sets = {
      pn.set.linf_ball { dim = D, radius = 0.7 },
      2 * pn.set.box { lower = { -1, 0, 0, -1, 0, 0, 0, 0 }, upper = { 1, 1, 2, 0, 1, 1, .1, 0 } } + { 1, 0, 0, 0, 0, 0, 0, -1 },
      pn.set.l1_ball { dim = 3, radius = 1 }:product(pn.set.simplex { dim = 2 }:product(pn.set.l2_ball { dim = 3, radius = 2 })),
    }
    local function blocks(set, tau)
      local ok = pcall(pn.curvature, objective(set), pn.sampling.full { blocks = 3 })
      return pn.sampling.nice { blocks = ok and 3 or D, tau = ok and 3 or D }, pn.sampling.full { blocks = ok and 3 or D }, tau
    end
    for _, set in ipairs(sets) do
      local obj = objective(set)
      local want = pn.solve.frank_wolfe(obj, { privacy = false, iterations = 300 })
      local nice, full = blocks(set)
      for _, s in ipairs { nice, full } do
        local got = pn.solve.block_frank_wolfe(obj, { privacy = false, iterations = 300, sampling = s })
        for j = 1, D do assert.equal(want.theta[j], got.theta[j]) end
        assert.equal(want.value, got.value)
        assert.near(want.trace[300].gap, got.trace[300].gap, 1e-12)
      end
    end
  end)

  it("finds the blocks of products that are scaled and shifted inside of one another", function()
    local inner = pn.set.simplex { dim = 2 }:product(pn.set.box { lower = { -1, 0, 0 }, upper = { 1, 2, 1 } }) + { 1, 2, 3, 4, 5 }
    local obj = objective(-0.5 * pn.set.l1_ball { dim = 3, radius = 1 }:product(inner) + { 0, 0, 0, 1, 1, 1, 1, 1 })
    local want = pn.solve.frank_wolfe(obj, { privacy = false, iterations = 50 })
    local got = pn.solve.block_frank_wolfe(obj, { privacy = false, iterations = 50 })
    for j = 1, D do assert.near(want.theta[j], got.theta[j], 1e-9) end
    assert.is_true(got.theta[4] < 0.6) -- 1 - 0.5 (1 + s)
  end)

  it("takes an inexact oracle and inexact vertices, and keeps to the bound that declares them", function()
    local obj = objective()
    local best = pn.solve.exact(obj, { tol = 1e-10 }).value
    local gap, s = obj:value(zeros) - best, pn.sampling.nice { blocks = D, tau = 4 }
    local C, rng = pn.curvature(obj, s).value, pn.rng.seeded(9)
    local function oracle(theta)
      local g = obj:gradient(theta)
      for j = 1, D do g[j] = g[j] + 0.05 * (rng:uniform() < 0.5 and -1 or 1) end
      return g
    end
    local made = plan(obj, { sampling = s, iterations = 2000, gap = gap, curvature = C, gradient_error = 0.05, oracle = oracle })
    assert.near(2 * (gap + 2 * C) / 1002 + 8 * 0.05 * 2, made.bound, 1e-9)
    local fit = made:run { rng = pn.rng.seeded(1) }
    assert.is_true(fit.value - best < made.bound)
    assert.is_true(fit.value - best > 1e-4) -- the error is there
    assert.equal(0, fit.gradients)
    -- a custom factor whose support point misses the best one by up to 0.1
    local sloppy = pn.set.custom { dim = 4, radius = 2, support = function(g)
      local point = {}
      for j = 1, 4 do point[j] = (g[j] < 0 and -1 or 1) * 0.9 end
      return point
    end, project = function(v)
      local point = {}
      for j = 1, 4 do point[j] = math.max(-1, math.min(1, v[j])) end
      return point
    end, contains = function(v)
      for j = 1, 4 do if math.abs(v[j]) > 1 + 1e-9 then return false end end
      return true
    end }
    local product = objective(sloppy:product(pn.set.linf_ball { dim = 4, radius = 1 }))
    local inexact = pn.solve.block_frank_wolfe(product, { privacy = false, iterations = 2000, oracle_error = 0.1,
      sampling = pn.sampling.serial { blocks = 2 }, rng = pn.rng.seeded(2) })
    for j = 1, 4 do assert.is_true(math.abs(inexact.theta[j]) <= 0.9 + 1e-12) end
    assert.is_nil(plan(obj, { oracle = function(theta) return theta end }).bound) -- of unknown error
  end)

  it("repeats a seeded run, and draws from a secure stream without a seed", function()
    local obj, s = objective(), pn.sampling.nice { blocks = D, tau = 3 }
    local made = plan(obj, { sampling = s, iterations = 50 })
    local a, b = made:run { rng = pn.rng.seeded(1) }, made:run { rng = pn.rng.seeded(1) }
    local c = made:run { rng = pn.rng.seeded(2) }
    local same, other = true, true
    for j = 1, D do
      same = same and a.theta[j] == b.theta[j]
      other = other and a.theta[j] == c.theta[j]
    end
    assert.is_true(same)
    assert.is_false(other)
    assert.equal(50, #made:run().trace)
  end)

  it("plans enough steps for rarely drawn blocks", function()
    assert.equal(100, line(plan(objective(), {}), "steps T"))
    assert.equal(800, line(plan(objective(), { sampling = pn.sampling.serial { blocks = D } }), "steps T"))
    local weights = { 1 - 7e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6, 1e-6 }
    assert.equal(100000, line(plan(objective(), { sampling = pn.sampling.serial { blocks = D, p = weights } }), "steps T"))
  end)

  it("refuses what makes no sense, in words", function()
    local function no_solution(text, options, obj)
      if options.privacy == nil then options.privacy = false end
      refused(text, pn.solve.block_frank_wolfe, obj or objective(), options)
    end
    no_solution("the sampling has 3 blocks, the set has 8", { sampling = pn.sampling.full { blocks = 3 } })
    no_solution("l1_ball is not a product of blocks", {}, objective(pn.set.l1_ball { dim = D, radius = 1 }))
    no_solution("for one block at a time", { step = "compensated", sampling = pn.sampling.nice { blocks = D, tau = 2 } })
    no_solution("step=\"compensated\" is for one block at a time", { step = "compensated" })
    no_solution("sampling must be a pn.block_sampling, got a table", { sampling = {} })
    no_solution("has no private form", { privacy = true, epsilon = 1 })
    no_solution("has no private form", { privacy = true })
    no_solution("oracle must return a vector of 8 numbers", { oracle = function() return { 1 } end })
    no_solution("boom", { oracle = function() error "boom" end })
    local p = {}
    for j = 1, D do p[j] = 0.5 end
    local function bad(draw) return { sampling = pn.sampling.custom { blocks = D, p = p, draw = draw } } end
    no_solution("draw must return block numbers from 1 to 8, got 9 at entry 1", bad(function() return { 9 } end))
    no_solution("gave block 2 twice", bad(function() return { 2, 1, 2 } end))
    no_solution("draw must return a list", bad(function() return 3 end))
    no_solution("kaput", bad(function() error "kaput" end))
    assert.is_true(plan(objective(), bad(function() return {} end)):run().value > 0) -- no block at all is a step, too
  end)
end)
