-- mirror_descent_spec.lua -- noisy mirror descent: numbers of the plan, the law of its noise, risk below the bound, geometry.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- Rows of l2 norm at most 1 with labels -1 and 1.
local function classification(n, p, seed)
  local rng = pn.rng.seeded(seed)
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, n do
    local row = pn.vec.normal(p, rng)
    row = row / row:norm()
    for j = 1, p do X:set(i, j, row[j]) end
    y[i] = row[1] + 0.3 * rng:uniform() > 0.1 and 1 or -1
  end
  return pn.data.from(X, y):clip_rows("l2", 1)
end

local function problem(n, p, set, loss)
  return pn.objective {data = classification(n, p, 5), loss = loss or pn.loss.hinge(), set = set}
end

local function ball(p, radius)
  return pn.set.l2_ball {dim = p, radius = radius or 1}
end

describe("the plan of mirror_descent", function()
  it("has the noise of the tight and of the article's calibration", function()
    -- mirror-descent.md section 5: L = 1 (hinge), n = 10000, T = 1000, epsilon 1, delta 1e-6
    local obj = problem(10000, 3, ball(3))
    local budget = {epsilon = 1, delta = 1e-6, iterations = 1000}
    local plan = pn.solve.mirror_descent.plan(obj, budget)
    assert.is_near(1, plan.lines["Lipschitz L"], 1e-12)
    assert.is_near(0.0267192153, plan.lines["noise sigma"], 1e-9)
    assert.is_true(plan.epsilon <= 1 and plan.epsilon > 0.999999)
    local zcdp = pn.solve.mirror_descent.plan(obj, {rho = 0.0243559704, iterations = 1000})
    assert.is_near(0.0286557830, zcdp.lines["noise sigma"], 1e-9)
    local paper = plan:with {calibration = "paper"}
    assert.is_near(0.370709049, paper.lines["noise sigma"], 1e-8)
    assert.is_true(paper.epsilon < 0.1)
  end)

  it("has the steps, the step size and the bound of the theorem", function()
    -- L = 1, R = 1, G = l1 width at p = 100, n = 1000, rho = 0.1, entropy with D2 = ln 100
    local obj = problem(1000, 100, pn.set.simplex {dim = 100, radius = 1})
    local plan = pn.solve.mirror_descent.plan(obj, {rho = 0.1, preset = "theory"})
    assert.equal(5851, plan.iterations)
    assert.is_near(0.342081862, plan.lines["noise sigma"], 1e-8)
    assert.is_near(0.0198376347, plan.lines["step eta"], 1e-9)
    assert.is_near(0.0793516009, plan.bound, 1e-8)
    assert.is_near(math.log(100), plan.lines["range D2"], 1e-9)
    assert.matches("printed", plan:with {form = "lazy"} and tostring(pn.solve.mirror_descent.plan(obj, {rho = 0.1,
      form = "printed"})), 1, true)
  end)

  it("takes the theorem's steps with the article's noise, and other steps only when asked", function()
    local obj = problem(1000, 100, pn.set.simplex {dim = 100, radius = 1})
    local options = {epsilon = 1, delta = 1e-6, iterations = 50, calibration = "paper"}
    local function step(preset)
      options.preset = preset
      return pn.solve.mirror_descent.plan(obj, options).lines["step eta"]
    end
    assert.equal(step "theory", step(nil))
    assert.is_true(step "practical" > 2 * step(nil))
  end)

  it("does not change with the units of the set", function()
    -- theta in a ball r times as large with rows r times as small is the same problem.
    local data = classification(500, 4, 3)
    local small = pn.objective {data = data, loss = pn.loss.hinge(), set = ball(4)}
    local X, y = data.X / 8, data.y
    local shrunk = pn.data.from(X, y):clip_rows("l2", 1 / 8)
    local large = pn.objective {data = shrunk, loss = pn.loss.hinge(), set = ball(4, 8)}
    local a = pn.solve.mirror_descent.plan(small, {rho = 0.2})
    local b = pn.solve.mirror_descent.plan(large, {rho = 0.2})
    assert.equal(a.iterations, b.iterations)
    assert.is_near(a.bound, b.bound, 1e-9 * a.bound)
    local ta = a:run {rng = pn.rng.seeded(1)}.theta
    local tb = b:run {rng = pn.rng.seeded(1)}.theta
    assert.is_true((ta - tb / 8):norm() < 1e-9)
  end)

  it("takes the potential with the smaller bound, and says what the other would cost", function()
    local function plan(p, options)
      options.rho, options.preset = 0.1, "theory"
      return pn.solve.mirror_descent.plan(problem(300, p, pn.set.simplex {dim = p}), options)
    end
    for p, name in pairs {[4] = "euclidean", [400] = "entropy"} do
      local chosen = plan(p, {})
      assert.truthy(chosen.lines.potential:find(name, 1, true))
      assert.is_true(chosen.lines["gain of geometry"] > 1)
      local entropy = plan(p, {potential = pn.potential.entropy {}})
      local euclidean = plan(p, {potential = pn.potential.euclidean {center = pn.vec.ones(p) / p}})
      assert.is_near(math.min(entropy.bound, euclidean.bound), chosen.bound, 1e-12)
      local larger = math.max(entropy.bound, euclidean.bound)
      assert.is_near(larger / chosen.bound, chosen.lines["gain of geometry"], 1e-6 * larger / chosen.bound)
    end
    -- Over the l1 ball the article's are powers: D2 = e ln p/(1 + 1/ln p).
    local l1 = pn.solve.mirror_descent.plan(problem(300, 400, pn.set.l1_ball {dim = 400}), {rho = 0.1, preset = "theory"})
    assert.matches("group(dim=400, k=1", l1.lines.potential, 1, true)
    assert.is_near(math.exp(1) * math.log(400) / (1 + 1 / math.log(400)), l1.lines["range D2"], 1e-9)
    -- A start of one's own on a polytope: weights on vertices have none.
    local obj = problem(50, 2, pn.set.polytope {vertices = {{1, 0}, {0, 1}, {-1, -1}}})
    assert.truthy(pn.solve.mirror_descent.plan(obj, {rho = 1, start = {0.1, 0.1}}).lines.potential:find("euclidean", 1, true))
  end)

  it("warns when its bound promises nothing, and only then", function()
    local obj = problem(50, 3, ball(3)) -- L = 1, diameter 2
    local weak, strong = pn.solve.mirror_descent.plan(obj, {rho = 1e-4}), pn.solve.mirror_descent.plan(obj, {rho = 1})
    assert.is_true(weak.bound > 2 and strong.bound < 2)
    assert.truthy(tostring(weak):find("promises nothing", 1, true))
    assert.is_nil(tostring(strong):find("promises nothing", 1, true))
  end)

  it("bounds the risk in proportion to 1/n", function()
    local bounds = {}
    for k, n in ipairs {1000, 4000, 16000} do
      bounds[k] = pn.solve.mirror_descent.plan(problem(n, 4, ball(4)), {rho = 1e-4, preset = "theory"}).bound
    end
    -- The theorem's plan takes enough steps at each n, so the slope of ln(bound) in ln(n) is -1.
    assert.is_near(-1, math.log(bounds[3] / bounds[1]) / math.log(16), 0.05)
  end)

  it("refuses what it cannot do, before anything is spent", function()
    local obj = problem(50, 3, ball(3))
    local plan = pn.solve.mirror_descent.plan
    local cases = {
      {"no constraint set", function() plan(problem(50, 3, nil), {rho = 1}) end},
      {"needs a delta", function() plan(obj, {epsilon = 1}) end},
      {"makes n secret", function() plan(obj, {rho = 1, neighbours = "add_remove"}) end},
      {"stated for epsilon and delta", function() plan(obj, {rho = 1, calibration = "paper"}) end},
      {"strongly_convex sets the steps", function() plan(obj, {rho = 1, step = 1, strongly_convex = 1}) end},
      {"strongly_convex sets the steps", function() plan(obj, {rho = 1, preset = "practical", strongly_convex = 1}) end},
      {"time= multiplies the time", function() plan(obj, {rho = 1, time = 2, step = 1}) end},
      {"time= multiplies the time", function() plan(obj, {rho = 1, time = 2, preset = "theory"}) end},
      {"time must be", function() plan(obj, {rho = 1, time = 0}) end},
      {"noise= gives no guarantee", function() plan(obj, {rho = 1, noise = {covariance = 1}}) end},
      {"covariance is 1 x 2", function() plan(obj, {privacy = false, noise = {covariance = pn.vec {1, 2}}}) end},
      {"must be >= 0", function() plan(obj, {privacy = false, noise = {covariance = -1}}) end},
      {"symmetric", function()
        plan(obj, {privacy = false, noise = {covariance = {{1, 2, 0}, {0, 1, 0}, {0, 0, 1}}}})
      end},
      {"unknown option 'noise.sigma'", function() plan(obj, {privacy = false, noise = {sigma = 1}}) end},
      {"noise must be a table", function() plan(obj, {privacy = false, noise = 3}) end},
      {"its domain is x >= 0, and l1_ball has other points", function()
        plan(problem(50, 3, pn.set.l1_ball {dim = 3}), {rho = 1, potential = pn.potential.entropy {}})
      end},
      {"start is not in the constraint set", function() plan(obj, {rho = 1, start = {2, 0, 0}}) end},
      {"the potential has 4 coordinates, the set has 3", function()
        plan(obj, {rho = 1, potential = pn.potential.group {dim = 4, k = 2}})
      end},
      {"start", function()
        local simplex = pn.set.simplex {dim = 3, radius = 1}
        plan(problem(50, 3, simplex), {rho = 1, start = {1, 0, 0}, potential = pn.potential.entropy {}})
      end},
    }
    for _, case in ipairs(cases) do
      local ok, message = pcall(case[2])
      assert.is_false(ok, case[1])
      assert.truthy(tostring(message):find(case[1], 1, true), tostring(message))
    end
  end)
end)

describe("the default plan of mirror_descent", function()
  local plan_of = pn.solve.mirror_descent.plan

  -- Rows of l2 norm 1, curvature 1/4, n = 1000.
  local function smooth(set, extra)
    local parts = extra or {}
    parts.data, parts.loss, parts.set = classification(1000, set.dim, 5), pn.loss.logistic(), set
    return pn.objective(parts)
  end

  it("has the time, the steps and the bound of its derivation", function()
    -- For L = 1: s = .00447214, t = 682.033, U = s sqrt(2 D2 K) = .0135042.  On margins up to 1 L is less, and scales them.
    local obj = smooth(pn.set.simplex {dim = 100, radius = 1})
    local plan = plan_of(obj, {rho = 0.1})
    local L = plan.lines["Lipschitz L"]
    assert.is_near(0.99, plan.lines["noise trace K"], 1e-12)
    assert.is_near(4.60517, plan.lines["range D2"], 5e-6)
    assert.is_near(0.00447214 * L, plan.lines["noise of all s"], 5e-9)
    assert.is_near(682.033 / L, plan.lines["time t"], 5e-3)
    local T = plan.iterations
    assert.equal(math.ceil(682.033 / L), T)
    assert.is_near(682.033 / L / T, plan.lines["step eta"], 1e-6)
    local k, h = 1, T - T // 2
    for j = h + 1, T do k = k + 1 / j end
    assert.is_near(0.0135042 * L * (0.5 + k / 2 / (1 - plan.lines["step eta"] / 4)), plan.bound, 1e-7)
    assert.is_near(0.0135042 * L / 4, plan.predicted, 1e-7)
    assert.is_near(0.0793516009 * L, plan.lines["theory preset"], 1e-3)
  end)

  it("has them in a set in which slopes come up to 1", function()
    local obj = smooth(pn.set.simplex {dim = 100, radius = 40})
    local plan = plan_of(obj, {rho = 0.1})
    local lines = plan.lines
    assert.is_near(0.00447214, lines["noise of all s"], 5e-9)
    assert.is_near(682.033 * 40, lines["time t"], 5e-3 * 40)
    assert.is_near(1600 * 4.60517, lines["range D2"], 1e-2)
    assert.equal(math.ceil(682.033 * 40), plan.iterations)
  end)

  it("does not change with the units of the set", function()
    local data = classification(500, 6, 3)
    for _, set in ipairs {pn.set.simplex {dim = 6, radius = 1}, pn.set.l1_ball {dim = 6, radius = 1}, ball(6),
      pn.set.group_ball {dim = 6, k = 2, radius = 1}} do
      local halved = pn.data.from(data.X / 2, data.y):clip_rows("l2", 1 / 2)
      local potential = pn.potential.for_set(set)
      local a = plan_of(pn.objective {data = data, loss = pn.loss.logistic(), set = set}, {rho = 0.01, potential = potential})
      local twice = 2 * set
      local b = plan_of(pn.objective {data = halved, loss = pn.loss.logistic(), set = twice},
        {rho = 0.01, potential = (pn.potential.for_set(twice))})
      assert.equal(a.iterations, b.iterations)
      assert.is_near(a.bound, b.bound, 1e-9 * a.bound)
      assert.is_near(a.predicted, b.predicted, 1e-9 * a.predicted)
      local ta, tb = a:run {rng = pn.rng.seeded(1)}.theta, b:run {rng = pn.rng.seeded(1)}.theta
      assert.is_true((ta - tb / 2):norm() < 1e-9)
    end
  end)

  it("takes longer for time=, in the same steps until they are long", function()
    local obj = smooth(pn.set.simplex {dim = 50, radius = 1})
    local one, two, four = plan_of(obj, {rho = 0.1}), plan_of(obj, {rho = 0.1, time = 2}), plan_of(obj, {rho = 0.1, time = 4})
    assert.equal(one.lines["step eta"], plan_of(obj, {rho = 0.1, time = 1}).lines["step eta"])
    assert.equal(one.iterations, two.iterations)
    assert.equal(one.sigma, two.sigma)
    assert.is_near(2 * one.lines["step eta"], two.lines["step eta"], 1e-12)
    assert.is_near(2 * one.iterations, four.iterations, 1)
    assert.is_near(4 * one.lines["time t"], four.lines["time t"], 1e-6 * one.lines["time t"])
    local few = plan_of(obj, {rho = 0.1, iterations = 10}) -- steps of 1/(2 beta)
    assert.is_near(10 / (2 * 0.25), few.lines["time t"], 1e-6)
  end)

  it("takes the potential in which noise costs least", function()
    local function chosen(set)
      local plan = plan_of(smooth(set), {rho = 0.1})
      local name = tostring(plan.lines.potential):match "^[%a_]+"
      local cost = math.sqrt(2 * plan.lines["range D2"] * plan.lines["noise trace K"])
      return name, cost
    end
    -- sqrt(2 ln p (1 - 1/p)) and sqrt(2 ln 2p) against sqrt(p) times the radius about the centre; a tie of 5 % is Euclidean
    assert.equal("entropy", (chosen(pn.set.simplex {dim = 40})))
    assert.equal("euclidean", (chosen(pn.set.l1_ball {dim = 5})))
    assert.equal("signed_entropy", (chosen(pn.set.l1_ball {dim = 6})))
    local _, cost = chosen(pn.set.l1_ball {dim = 40, radius = 3})
    assert.is_near(3 * math.sqrt(2 * math.log(80)), cost, 1e-9)
    assert.equal("euclidean", (chosen(ball(40))))
    -- Too few steps for the time of entropy, D2/t = 100 ln 100/128, are enough for Euclidean ones: 50/128.
    local wide = smooth(pn.set.l1_ball {dim = 50, radius = 10})
    assert.matches("signed_entropy", plan_of(wide, {rho = 1e-3}).lines.potential, 1, true)
    assert.matches("euclidean", plan_of(wide, {rho = 1e3, iterations = 64}).lines.potential, 1, true)
  end)

  it("measures no width, and asks a set of a user's for no support point", function()
    local calls = 0
    local set = pn.set.custom {dim = 3, radius = 1,
      support = function(g) calls = calls + 1 return g / math.max(g:norm(), 1e-300) end,
      project = function(x) return x / math.max(1, x:norm()) end,
    }
    local obj = smooth(set)
    calls = 0
    local plan = plan_of(obj, {rho = 0.1})
    assert.is_number(plan.bound)
    assert.equal(0, calls)
  end)

  it("plans with a guess of the range where nothing bounds it, and with a declared one", function()
    local function custom(range)
      return pn.potential.custom {dim = 3, strong_convexity = 1, range = range,
        value = function(x) return x:dot(x) / 2 end, gradient = function(x) return 1 * x end}
    end
    local cube = pn.set.linf_ball {dim = 3, radius = 1.5}
    local capped = pn.set.l1_ball {dim = 3, radius = 2}:intersect(cube)
    for set, range in pairs {[ball(3, 2)] = 2, [ball(3, 2):intersect(cube)] = 2, [capped] = (1.5 ^ 2 + 0.5 ^ 2) / 2} do
      local obj = smooth(set)
      local plan = plan_of(obj, {rho = 0.1, potential = custom()})
      local D2 = plan.lines["range D2"]
      assert.is_true(D2 >= range / 4 and D2 <= 4 * range, D2)
      if set == capped then -- at most what the vertices of the l1 ball have
        assert.is_near(2, D2, 1e-6)
        assert.is_number(plan.bound)
      else
        assert.is_nil(plan.bound)
        assert.matches("guess from 64 points", tostring(plan):gsub("%s+", " "), 1, true)
      end
      assert.is_number(plan.predicted)
      for _, options in ipairs {{potential = custom(range)}, {potential = custom(), range = range}} do
        options.rho = 0.1
        local declared = plan_of(obj, options)
        assert.is_near(range, declared.lines["range D2"], 1e-12)
        assert.is_number(declared.bound)
      end
      local small = 0.9 * range
      for _, options in ipairs {{potential = custom(small)}, {potential = custom(), range = small}} do
        options.rho = 0.1
        local ok, message = pcall(plan_of, obj, options)
        assert.is_false(ok)
        local above = tonumber(tostring(message):match "the potential is ([%d.]+) above")
        assert.is_true(above > small and above <= range * (1 + 1e-6), tostring(message))
      end
    end
    local ok, message = pcall(plan_of, smooth(ball(3)), {rho = 0.1, range = 1})
    assert.is_false(ok)
    assert.matches("range= belongs to potential=", tostring(message), 1, true)
    ok, message = pcall(plan_of, smooth(ball(3)), {rho = 0.1, potential = pn.potential.custom {strong_convexity = 1,
      value = function(x) return x[1] > 0.5 and math.huge or x:dot(x) / 2 end, gradient = function(x) return 1 * x end}})
    assert.is_false(ok)
    assert.matches("not finite at a point of the set", tostring(message), 1, true)
  end)

  it("bounds the range of a formula over any set by the box around it", function()
    local psi = pn.potential.separable(function(t) return t * t / 2 + t ^ 4 end)
    assert.is_near(3 * (0.5 + 1), psi:range(ball(3)), 1e-6)
    assert.is_near(2, psi:noise_trace(pn.set.l2_ball {dim = 2}), 1e-9)
  end)

  it("warns where noise may be larger than all there is to gain, and only there", function()
    local weak, strong = smooth(ball(100)), smooth(pn.set.simplex {dim = 10})
    assert.matches("larger than all there is to gain", tostring(plan_of(weak, {rho = 1e-4})):gsub("%s+", " "), 1, true)
    assert.is_nil(tostring(plan_of(strong, {rho = 0.1})):find("there is to gain", 1, true))
    local capped = plan_of(weak, {rho = 1e-6})
    assert.is_true(capped.predicted <= math.log(2) * (1 + 1e-9))
  end)

  it("bounds the risk of losses with kinks by their slopes", function()
    local plan = plan_of(problem(1000, 100, pn.set.simplex {dim = 100, radius = 1}), {rho = 0.1})
    local t, T, k = plan.lines["time t"], plan.iterations, 1
    for j = T - T // 2, T - 1 do k = k + 1 / j end
    assert.equal(5851, T)
    assert.is_near(682.033, t, 5e-3)
    assert.is_near(4.60517 / t + k * (t * 0.00447214 ^ 2 * 0.99 + t / T) / 2, plan.bound, 1e-6)
    -- fewer steps take less time, by their root
    local half = plan:with {iterations = T // 4}
    assert.is_near(t / 2, half.lines["time t"], 1e-3 * t)
  end)

  it("knows the bound of a step that is given, and where it is too long", function()
    local obj = smooth(pn.set.simplex {dim = 100, radius = 1})
    local own = plan_of(obj, {rho = 0.1})
    local given = plan_of(obj, {rho = 0.1, iterations = own.iterations, step = own.lines["step eta"]})
    assert.is_near(own.bound, given.bound, 1e-9)
    local long = plan_of(obj, {rho = 0.1, iterations = 50, step = 4})
    assert.is_nil(long.bound)
    assert.matches("too long", tostring(long), 1, true)
  end)
end)

describe("a run of mirror_descent", function()
  it("adds noise of the planned deviation to every coordinate", function()
    -- Two steps over a large ball: theta = (theta_1 + theta_2)/2 with theta_2 = -eta (gradient + noise), so the noise
    -- can be read off.
    -- 4000 coordinates: the variance is off by more than 11.2 % with probability 6e-7 (5 standard errors); noise that
    -- is 1.1 times as
    -- large or small is found with probability above 0.999.
    local p = 4000
    local obj = problem(20, p, ball(p, 1e6))
    local plan = pn.solve.mirror_descent.plan(obj, {rho = 0.5, iterations = 2, step = 1, average = "all"})
    local fit = plan:run {rng = pn.rng.seeded(11)}
    local noise = fit.theta * -2 - obj:gradient(pn.vec.zeros(p))
    local ratio = noise:norm() ^ 2 / p / plan.lines["noise sigma"] ^ 2
    assert.is_near(1, ratio, 0.112)
  end)

  law("has mean excess risk below the bound", function()
    for _, set in ipairs {ball(10), pn.set.simplex {dim = 10, radius = 1}, pn.set.l1_ball {dim = 10, radius = 2}} do
      local obj = problem(2000, 10, set, pn.loss.logistic())
      local plan = pn.solve.mirror_descent.plan(obj, {rho = 0.05, iterations = 200})
      local best, sum = pn.solve.exact(obj, {tol = 1e-9}).value, 0
      for seed = 1, 30 do
        local fit = plan:run {rng = pn.rng.seeded(seed)}
        assert.is_true(set:contains(fit.theta, 1e-10))
        sum = sum + fit.value - best
      end
      assert.is_true(sum / 30 < plan.bound)
    end
  end)

  law("reaches the constrained minimum without noise, as fast as the bound says", function()
    for _, set in ipairs {pn.set.simplex {dim = 8, radius = 1}, ball(8)} do
      local obj = problem(300, 8, set, pn.loss.logistic())
      local best = pn.solve.exact(obj, {tol = 1e-10}).value
      for _, T in ipairs {10, 100, 1000, 10000} do
        local fit = pn.solve.mirror_descent(obj, {privacy = false, iterations = T})
        assert.is_true(fit.value - best <= fit.plan.bound)
      end
      local fit = pn.solve.mirror_descent(obj, {privacy = false, iterations = 10000})
      assert.is_true(fit.value - best < 0.02)
    end
  end)

  it("is within D2/t of the minimum without noise, on the mean of all points and of the later half", function()
    for _, set in ipairs {pn.set.simplex {dim = 8, radius = 1}, ball(8), pn.set.l1_ball {dim = 8, radius = 2},
      pn.set.group_ball {dim = 8, k = 2, radius = 2}, pn.set.nuclear_ball {rows = 2, cols = 4, radius = 2}} do
      local obj = problem(300, 8, set, pn.loss.logistic())
      local best = pn.solve.exact(obj, {tol = 1e-11}).value
      for _, average in ipairs {"all", "tail"} do
        local fit = pn.solve.mirror_descent(obj, {privacy = false, iterations = 100, average = average,
          potential = (pn.potential.for_set(set))})
        local lines = fit.plan.lines
        assert.is_near(100 / (2 * lines["smoothness beta"]), lines["time t"], 1e-9)
        assert.is_true(fit.value - best <= lines["range D2"] / lines["time t"] + 1e-12)
      end
    end
  end)

  it("steps from the sum of its gradients, which for entropies is the printed step", function()
    local function run(set, form, potential)
      local obj = problem(100, set.dim, set, pn.loss.logistic())
      return pn.solve.mirror_descent.plan(obj, {rho = 0.01, iterations = 40, form = form, potential = potential,
        step = 0.5}):run {rng = pn.rng.seeded(3)}.theta
    end
    local simplex, l1 = pn.set.simplex {dim = 5, radius = 1}, pn.set.l1_ball {dim = 5, radius = 2}
    for _, set in ipairs {simplex, l1} do
      local potential = pn.potential.for_set(set)
      assert.is_true((run(set, "lazy", potential) - run(set, "printed", potential)):norm() < 1e-9)
    end
    local euclidean = pn.potential.euclidean {}
    assert.is_true((run(ball(5), "lazy", euclidean) - run(ball(5), "printed", euclidean)):norm() > 1e-3)
  end)

  it("over the l1 ball has the steps of weights on its vertices", function()
    local p, radius = 6, 1.5
    local vertices = pn.mat.zeros(2 * p, p)
    for j = 1, p do
      vertices:set(j, j, radius)
      vertices:set(p + j, j, -radius)
    end
    local function run(set, step)
      local obj = problem(100, p, set, pn.loss.logistic())
      return pn.solve.mirror_descent.plan(obj, {rho = 0.01, iterations = 60, step = step,
        potential = (pn.potential.for_set(set))}):run {rng = pn.rng.seeded(2)}.theta
    end
    -- Psi of the l1 ball is radius^2 times that of the weights
    local direct, lifted = run(pn.set.l1_ball {dim = p, radius = radius}, 0.4 * radius ^ 2),
      run(pn.set.polytope {vertices = vertices}, 0.4)
    assert.is_true((direct - lifted):norm() < 1e-12)
    local P, C = pn.potential.signed_entropy {dim = 3}, pn.set.l1_ball {dim = 3}
    local far = P:mirror_step({0, 0, 0}, {-1e4, 1e4, 1}, 1, C)
    assert.is_near(0.5, far[1], 1e-12)
    assert.is_near(-0.5, far[2], 1e-12)
    assert.is_near(0, far[3], 1e-12)
  end)

  it("answers with the mean of the later half, and before its beginning with the mean so far", function()
    local obj = problem(100, 3, ball(3), pn.loss.logistic())
    local plan = pn.solve.mirror_descent.plan(obj, {privacy = false, iterations = 4, step = 0.3})
    local points, theta = {}, pn.vec.zeros(3)
    for k = 1, 4 do
      theta = theta - 0.3 * obj:gradient(theta) -- inside the ball, where lazy steps are gradient steps
      points[k] = theta
    end
    local walk = plan:steps()
    walk:step()
    walk:step()
    assert.is_true((walk:fit().theta - (points[1] + points[2]) / 2):norm() < 1e-12)
    assert.is_true((plan:run().theta - (points[3] + points[4]) / 2):norm() < 1e-12)
    local all = plan:with {average = "all"}:run().theta
    assert.is_true((all - (points[1] + points[2] + points[3] + points[4]) / 4):norm() < 1e-12)
  end)

  it("follows the schedule for strong convexity and stays below its bound", function()
    local obj = pn.objective {data = classification(300, 5, 2), loss = pn.loss.logistic(), reg = pn.reg.l2(0.5), set = ball(5)}
    local best = pn.solve.exact(obj, {tol = 1e-11}).value
    for _, T in ipairs {10, 100, 1000} do
      local fit = pn.solve.mirror_descent(obj, {privacy = false, iterations = T, strongly_convex = 0.5})
      assert.is_true(fit.value - best <= fit.plan.bound)
      assert.is_near(2 / (0.5 * 2), fit.trace[1].step_size, 1e-12)
      assert.is_near(2 / (0.5 * (T + 1)), fit.trace[T].step_size, 1e-12)
    end
  end)

  law("takes noise of a given covariance, without a guarantee", function()
    local obj = problem(20, 3, ball(3, 1e6))
    local covariance = {{4, 2, 0}, {2, 5, 0}, {0, 0, 0}}
    local sum = {0, 0, 0, 0}
    local g = obj:gradient(pn.vec.zeros(3))
    local runs = 20000
    local plan = pn.solve.mirror_descent.plan(obj, {privacy = false, iterations = 2, step = 1, average = "all",
      noise = {covariance = covariance}})
    assert.truthy(tostring(plan):find("not private", 1, true))
    for seed = 1, runs do
      local b = plan:run {rng = pn.rng.seeded(seed)}.theta * -2 - g
      sum[1], sum[2], sum[3] = sum[1] + b[1] ^ 2, sum[2] + b[1] * b[2], sum[3] + b[2] ^ 2
      assert.is_near(0, b[3], 1e-9)
    end
    -- Standard errors: 4 sqrt(2/20000) = 0.04, sqrt((20 + 4)/20000) = 0.035, 5 sqrt(2/20000) = 0.05; five of each.
    assert.is_near(4, sum[1] / runs, 0.2)
    assert.is_near(2, sum[2] / runs, 0.175)
    assert.is_near(5, sum[3] / runs, 0.25)
    local fit = plan:run {rng = pn.rng.seeded(1)}
    assert.is_nil(fit.privacy)
    assert.matches("guarantees nothing", tostring(fit), 1, true)
    assert.matches("guarantees nothing", tostring(plan), 1, true)
  end)

  it("takes gradient samples from an oracle, whose covariance bounds the risk", function()
    local obj = problem(200, 3, ball(3), pn.loss.logistic())
    local rng, calls = pn.rng.seeded(8), 0
    local function oracle(theta)
      calls = calls + 1
      return obj:gradient(theta) + 0.2 * pn.vec.normal(3, rng)
    end
    local plan = pn.solve.mirror_descent.plan(obj,
      {privacy = false, iterations = 400, noise = {covariance = 0.04, oracle = oracle}})
    collectgarbage()
    local best = pn.solve.exact(obj, {tol = 1e-9}).value
    local fit = plan:run()
    assert.equal(400, calls)
    assert.is_nil(fit.privacy)
    assert.is_true(fit.value - best < plan.bound)
    assert.is_near(0.2, plan.lines["noise root"], 1e-12)
    local function run(answer)
      return pcall(pn.solve.mirror_descent, obj, {privacy = false, iterations = 3, noise = {covariance = 1, oracle = answer}})
    end
    local _, message = run(function() return {1, 2} end)
    assert.truthy(tostring(message):find("oracle must return a vector of 3 numbers", 1, true), tostring(message))
    _, message = run(function() error("no gradient today") end)
    assert.truthy(tostring(message):find("no gradient today", 1, true))
    _, message = run(3)
    assert.truthy(tostring(message):find("must be a function", 1, true), tostring(message))
    local ok
    ok, message = pcall(pn.solve.mirror_descent.plan, obj, {privacy = false, noise = {oracle = function() return {0, 0, 0} end}})
    assert.is_false(ok)
    assert.truthy(message:find("needs noise.covariance", 1, true), message)
  end)

  it("keeps a custom potential that only its options held", function()
    local options = {privacy = false, iterations = 20, step = 0.1, potential = pn.potential.custom {
      dim = 3, strong_convexity = 1, norm = pn.norm.l2(), range = 0.5,
      value = function(x) return x:dot(x) / 2 end, gradient = function(x) return 1 * x end,
    }}
    local obj = problem(200, 3, ball(3), pn.loss.logistic())
    local plan = pn.solve.mirror_descent.plan(obj, options)
    options.potential = nil
    collectgarbage()
    collectgarbage()
    local own = plan:run().theta
    local euclidean = pn.solve.mirror_descent(obj, {privacy = false, iterations = 20, step = 0.1,
      potential = pn.potential.euclidean {}}).theta
    -- Each step is an iteration that ends within d = bound/(100 L), which moves the gradients of the next by d/4: t = 2.
    assert.is_true((own - euclidean):norm() < 1.5 * plan.bound / (100 * plan.lines["Lipschitz L"]))
  end)

  it("on a polytope of unit vectors is the simplex's", function()
    local eye = pn.mat {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}
    local direct = problem(300, 4, pn.set.simplex {dim = 4, radius = 1})
    local lifted = problem(300, 4, pn.set.polytope {vertices = eye})
    local function run(obj)
      local options = {rho = 0.1, iterations = 50, step = 0.3, potential = (pn.potential.for_set(obj.set))}
      return pn.solve.mirror_descent.plan(obj, options):run {rng = pn.rng.seeded(4)}
    end
    local a, b = run(direct), run(lifted)
    assert.is_true((a.theta - b.theta):norm() < 1e-12)
  end)

  it("charges a ledger once a step, before the noise, and repeats with its seed", function()
    local obj = problem(200, 4, ball(4))
    local plan = pn.solve.mirror_descent.plan(obj, {epsilon = 1, delta = 1e-6, iterations = 20})
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6}
    local stopped = plan:run {ledger = ledger, on_step = function(state) return state.step < 5 end}
    assert.equal(5, #stopped.trace)
    assert.is_true(stopped.privacy.charged_epsilon < 0.6)
    assert.equal(plan.epsilon, stopped.privacy.epsilon) -- who stopped it had seen five steps
    assert.is_true(ledger.remaining > 0.3)
    local a, b = plan:run {rng = pn.rng.seeded(1)}, plan:run {rng = pn.rng.seeded(1)}
    assert.is_true(a.theta == b.theta)
    assert.is_false(a.theta == plan:run {rng = pn.rng.seeded(2)}.theta)
    assert.is_true(plan:run().privacy.private)
    assert.is_false(a.privacy.private)
  end)

  it("sets the measured excess risk beside the theorem's bound, and names the curve that it was priced by", function()
    local obj = problem(200, 4, ball(4), pn.loss.logistic())
    local fit = pn.solve.mirror_descent(obj, {epsilon = 1, delta = 1e-6, iterations = 30, rng = pn.rng.seeded(1)})
    local measured, bound = fit:excess(1e-9)
    assert.is_near(fit.value - pn.solve.exact(obj, {tol = 1e-9}).value, measured, 1e-12)
    assert.equal(fit.plan.bound, bound)
    assert.equal("gaussian", fit.privacy.accountant)
    assert.truthy(tostring(fit.plan):gsub("%s+", " "):find("exact Gaussian curve", 1, true))
    local given = pn.solve.mirror_descent(obj, {epsilon = 1, delta = 1e-6, iterations = 3, step = 0.1, preset = "theory"})
    assert.same({"number", "nil"}, {type((given:excess())), type((select(2, given:excess())))})
    assert.error_matches(function() fit:excess(-1) end, "tol")
  end)

  it("pays for dimension by its logarithm over the l1 ball, by its root in the Euclidean geometry", function()
    -- The bound tends to (2 L/(n sqrt(2 rho))) sqrt(2 D2 (G^2 + R^2)): D2 and G^2 are about ln p for blocks of one, 1/2 and p
    -- for the Euclidean potential.
    local function bound(p, potential)
      local data = pn.data.synthetic.logistic {n = 4000, p = p, seed = 1}:clip_rows("l2", 1)
      local obj = pn.objective {data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball {dim = p, radius = 1}}
      potential = potential or (pn.potential.for_set(obj.set))
      return pn.solve.mirror_descent.plan(obj, {rho = 0.01, potential = potential, preset = "theory"}).bound
    end
    local euclidean = pn.potential.euclidean()
    local fit_last, flat_last = bound(64), bound(64, euclidean)
    for p = 128, 512, 128 do
      local fit, flat = bound(p), bound(p, euclidean)
      local doubling = math.log(p / 64) / math.log(2)
      assert.is_true(fit / fit_last < 1.25 ^ doubling)
      assert.is_true(math.abs(math.log(flat / flat_last) / math.log(2) / doubling - 0.5) < 0.06)
    end
  end)

  it("keeps what is not private out of its trace", function()
    local fit = pn.solve.mirror_descent(problem(200, 4, ball(4)), {rho = 0.5, iterations = 5})
    assert.is_nil(fit.trace[1].value)
    assert.is_nil(fit.trace[1].gap)
    assert.is_number(pn.solve.mirror_descent(problem(200, 4, ball(4)), {privacy = false, iterations = 5}).trace[1].value)
  end)
end)
