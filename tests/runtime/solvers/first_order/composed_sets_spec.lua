-- composed_sets_spec.lua -- mirror descent and its accelerated form with default options over sets made of sets, and with a
-- potential of the caller's over sets of any kind.
local pn = require "penumbra"
local tier = require "tests.tools.tier"

local SOLVERS = {"mirror_descent", "accelerated_mirror_descent"}

local function objective(n, C)
  local rng = pn.rng.seeded(1)
  local X, y, w = pn.mat.zeros(n, C.dim), pn.vec.zeros(n), pn.vec.normal(C.dim, rng)
  for i = 1, n do
    local row = pn.vec.normal(C.dim, rng)
    row = row / row:norm()
    for j = 1, C.dim do X:set(i, j, row[j]) end
    y[i] = row:dot(w) > 0 and 1 or -1
  end
  return pn.objective {data = pn.data.from(X, y):clip_rows("l2", 1), loss = pn.loss.logistic(), set = C}
end

-- ||x||^2/2 + sum x_j^4/4, of which nothing is known but these functions.
local function custom(p)
  return pn.potential.custom {dim = p, strong_convexity = 1, value = function(x) return x:dot(x) / 2 + (x * x):dot(x * x) / 4 end,
    gradient = function(x) return x + x * x * x end}
end

-- {name, set, potential}
local function cases(p)
  local l1, l2 = pn.set.l1_ball {dim = p, radius = 2}, pn.set.l2_ball {dim = p, radius = 1}
  local box, half = pn.set.linf_ball {dim = p, radius = math.max(0.1, 4 / p)},
    pn.set.halfspace {normal = pn.vec.linspace(-1, 1, p), offset = -0.2}
  local own = pn.set.custom {dim = p, radius = 1, support = function(g) return g / math.max(g:norm(), 1e-300) end,
    project = function(x) return x / math.max(1, x:norm()) end}
  local M, eye = {}, pn.mat.zeros(p, p)
  for i = 1, p do
    M[i] = pn.vec.normal(p // 2, pn.rng.seeded(i)):table()
    eye:set(i, i, 1)
  end
  local blocks = pn.set.group_ball {dim = p // 2, k = 2, radius = 0.1}
  return {
    {"an image of an l2 ball", pn.set.l2_ball {dim = p // 2, radius = 0.1}:image(M)},
    {"a moved image of blocks x l2",
      blocks:product(pn.set.l2_ball {dim = p - p // 2, radius = 0.5}):image(eye) + pn.vec.ones(p) / p},
    {"(l1 + l2) n box", (l1 + 0.1 * l2):intersect(pn.set.linf_ball {dim = p, radius = 0.4})},
    {"l1 n box", l1:intersect(box)}, {"l2 n box", l2:intersect(box)}, {"l1 n l2", l1:intersect(0.5 * l2)},
    {"simplex n halfspace", pn.set.simplex {dim = p}:intersect(half)}, {"simplex x l2", pn.set.simplex {dim = p}:product(l2)},
    {"l1 + l2", l1 + l2}, {"a moved intersection", 2 * l1:intersect(box) + pn.vec.ones(p) / p},
    {"a custom potential over a custom set", own, custom(p)}, {"a custom potential over l1 n box", l1:intersect(box), custom(p)},
    {"a custom potential over l1 + l2", l1 + l2, custom(p)},
  }
end

-- No point of C is that much better, by the slope at theta.
local function gap(obj, C, theta)
  local away = -1 * obj:gradient(theta)
  return C:support(away) - away:dot(theta)
end

describe("over sets made of sets, with default options,", function()
  it("runs end in the set, and without noise within the bound of the minimum", function()
    for k, case in ipairs(cases(40)) do
      local name, C, potential = table.unpack(case)
      local obj = objective(300, C)
      local lowest, ends = -math.huge, {}
      for _, solver in ipairs(SOLVERS) do
        local noisy = pn.solve[solver].plan(obj, {rho = 1, potential = potential}):run {rng = pn.rng.seeded(1)}
        assert.is_true(C:contains(noisy.theta, 1e-9), name)
        assert.is_nil(noisy.remark, name)
        if k % tier.draws(1, 5) > 0 then goto next_solver end -- long runs; under sanitizers of every fifth set
        local fit = pn.solve[solver](obj, {privacy = false, potential = potential})
        assert.is_true(C:contains(fit.theta, 1e-9), name)
        local value = obj:value(fit.theta)
        ends[solver] = {value = value, bound = fit.plan.bound}
        lowest = math.max(lowest, value - gap(obj, C, fit.theta))
        ::next_solver::
      end
      for solver, at in pairs(ends) do -- the bounds of the cases that have none are below this, were they known
        local above, most = at.value - lowest, (at.bound or 3e-3) + 1e-9
        assert.is_true(above <= most, ("%s, %s: %.3g above, at most %.3g"):format(name, solver, above, most))
      end
    end
  end)

  it("plans in 1000 dimensions are made, with a risk to expect", function()
    for _, case in ipairs(cases(1000)) do
      local plan = pn.solve.mirror_descent.plan(objective(20, case[2]), {rho = 1, potential = case[3]})
      assert.is_true(plan.predicted > 0 and plan.predicted < math.huge, case[1])
    end
  end)

  it("steps of functions over a sum of balls of 1000 coordinates end", function()
    local C = pn.set.l1_ball {dim = 1000, radius = 2} + pn.set.l2_ball {dim = 1000}
    local obj = objective(20, C)
    local fit = pn.solve.mirror_descent.plan(obj, {rho = 1, iterations = 5, potential = custom(1000)}):run {rng = pn.rng.seeded(1)}
    assert.is_true(C:contains(fit.theta, 1e-9))
    assert.is_nil(fit.remark)
  end)

  it("plans take the potential of one of the sets where noise costs less in it", function()
    local function chosen(C)
      return pn.solve.mirror_descent.plan(objective(300, C), {rho = 1})
    end
    local function ball(p, radius) return pn.set.l1_ball {dim = p}:intersect(pn.set.linf_ball {dim = p, radius = radius}) end
    local wide = chosen(ball(100, 0.05))
    assert.matches("signed_entropy", wide.lines.potential, 1, true)
    assert.is_near(math.log(200), wide.lines["range D2"], 1e-9)
    assert.equal(1, wide.lines["noise trace K"])
    assert.is_number(wide.bound)
    -- sqrt(2 ln 200) against sqrt(100 x 100) b: the box is small enough at b = 0.03
    assert.matches("euclidean", chosen(ball(100, 0.03)).lines.potential, 1, true)
    local capped = pn.set.simplex {dim = 50}:intersect(pn.set.linf_ball {dim = 50, radius = 0.2})
    assert.matches("entropy", chosen(capped).lines.potential)
  end)

  it("plans take lifted potentials over what another set leaves, where noise costs less in them", function()
    local p = 60
    local l1, box = pn.set.l1_ball {dim = p}, pn.set.linf_ball {dim = p, radius = 0.2}
    local sum = l1 + pn.set.l2_ball {dim = p, radius = 0.1}
    local plan = pn.solve.mirror_descent.plan(objective(300, sum:intersect(box)), {rho = 1})
    assert.matches("sum%(.*signed_entropy", plan.lines.potential)
    local D2, K = plan.lines["range D2"], plan.lines["noise trace K"]
    assert.is_near(math.sqrt(2 * math.log(2 * p)) + 0.1 * math.sqrt(p), math.sqrt(2 * D2 * K), 1e-9)
    assert.is_number(plan.bound)
    local vertices, rng = {}, pn.rng.seeded(4)
    for i = 1, p do
      local v = pn.vec.normal(p, rng)
      vertices[i], vertices[p + i] = (v / v:norm()):table(), (-1 / v:norm() * v):table()
    end
    local polytope = pn.set.polytope {vertices = vertices}
    local meeting = polytope:intersect(box)
    plan = pn.solve.mirror_descent.plan(objective(300, meeting), {rho = 1})
    assert.matches("polytope%(entropy of 120 weights", plan.lines.potential)
    assert.is_near(math.log(2 * p), plan.lines["range D2"], 1e-9)
    assert.is_near(1, plan.lines["noise trace K"], 1e-9)
    for _, budget in ipairs {{privacy = false}, {rho = 1, rng = pn.rng.seeded(1)}} do
      budget.iterations = 30
      assert.is_true(meeting:contains(pn.solve.mirror_descent(objective(300, meeting), budget).theta, 1e-9))
    end
    local small = pn.solve.mirror_descent.plan(objective(300, polytope:intersect(0.1 * box)), {rho = 1})
    assert.matches("euclidean", small.lines.potential)
    -- the polytope's weights are equal at the origin, at the border of this halfspace
    local half = pn.set.halfspace {normal = pn.vec.ones(p), offset = 0}
    assert.matches("euclidean", pn.potential.for_set(polytope:intersect(half)).name)
    local beyond = pn.set.halfspace {normal = pn.vec.ones(p), offset = -0.1}
    local P = pn.potential.polytope {set = polytope}
    local ok, message = pcall(P.mirror_step, P, pn.vec.ones(120) / 120, pn.vec.zeros(120), 1, polytope:intersect(beyond))
    assert.is_false(ok)
    assert.matches("is least at a point of polytope that is not in the sets which this meets", message, 1, true)
  end)

  it("steps that do not come as near as asked are counted, and end in the set all the same", function()
    local C = pn.set.l1_ball {dim = 30}:intersect(pn.set.l2_ball {dim = 30, radius = 0.25})
    local target = pn.vec.normal(30, pn.rng.seeded(2))
    local fit = pn.solve.mirror_descent(objective(50, C), {privacy = false, iterations = 20, step = 300,
      potential = pn.potential.signed_entropy {dim = 30}, noise = {covariance = 1e-6, oracle = function() return target end}})
    local late, of, reached, asked = fit.remark:match "^(%d+) of (%d+) steps stopped at gap (%S+) %(asked (%S+)%)$"
    assert.is_true(tonumber(late) > 0 and tonumber(late) <= 20)
    assert.equal("20", of)
    assert.is_true(tonumber(reached) > tonumber(asked))
    assert.is_true(tostring(fit):find(fit.remark, 1, true) ~= nil)
    assert.is_true(C:contains(fit.theta, 1e-9))
    assert.is_nil(pn.solve.mirror_descent(objective(50, C), {privacy = false, iterations = 5}).remark)
  end)
end)
