-- mirror_descent_spec.lua -- noisy mirror descent: numbers of the plan, the law of its noise, risk below the bound, geometry.
local pn = require "penumbra"

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
    local plan = pn.solve.mirror_descent.plan(problem(1000, 100, pn.set.simplex {dim = 100, radius = 1}), {rho = 0.1})
    assert.equal(5851, plan.iterations)
    assert.is_near(0.342081862, plan.lines["noise sigma"], 1e-8)
    assert.is_near(0.0198376347, plan.lines["step eta"], 1e-9)
    assert.is_near(0.0793516009, plan.bound, 1e-8)
    assert.is_near(math.log(100), plan.lines["range D2"], 1e-9)
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
      options.rho = 0.1
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
      bounds[k] = pn.solve.mirror_descent.plan(problem(n, 4, ball(4)), {rho = 1e-4}).bound
    end
    -- The plan takes enough steps at each n, so the slope of ln(bound) in ln(n) is -1.
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
      {"noise= has no guarantee", function() plan(obj, {rho = 1, noise = {covariance = 1}}) end},
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

describe("a run of mirror_descent", function()
  it("adds noise of the planned deviation to every coordinate", function()
    -- Two steps over a large ball: theta = (theta_1 + theta_2)/2 with theta_2 = -eta (gradient + noise), so the noise
    -- can be read off.
    -- 4000 coordinates: the variance is off by more than 11.2 % with probability 6e-7 (5 standard errors); noise that
    -- is 1.1 times as
    -- large or small is found with probability above 0.999.
    local p = 4000
    local obj = problem(20, p, ball(p, 1e6))
    local plan = pn.solve.mirror_descent.plan(obj, {rho = 0.5, iterations = 2, step = 1})
    local fit = plan:run {rng = pn.rng.seeded(11)}
    local noise = fit.theta * -2 - obj:gradient(pn.vec.zeros(p))
    local ratio = noise:norm() ^ 2 / p / plan.lines["noise sigma"] ^ 2
    assert.is_near(1, ratio, 0.112)
  end)

  it("has mean excess risk below the bound", function()
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

  it("reaches the constrained minimum without noise, as fast as the bound says", function()
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

  it("takes noise of a given covariance, without a guarantee", function()
    local obj = problem(20, 3, ball(3, 1e6))
    local covariance = {{4, 2, 0}, {2, 5, 0}, {0, 0, 0}}
    local sum = {0, 0, 0, 0}
    local g = obj:gradient(pn.vec.zeros(3))
    local runs = 20000
    local plan = pn.solve.mirror_descent.plan(obj, {privacy = false, iterations = 2, step = 1, noise = {covariance = covariance}})
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
      dim = 3, strong_convexity = 1, norm = pn.norm.l2(),
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
    assert.is_true((own - euclidean):norm() < 1e-6)
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
    local given = pn.solve.mirror_descent(obj, {epsilon = 1, delta = 1e-6, iterations = 3, step = 0.1})
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
      return pn.solve.mirror_descent.plan(obj, {rho = 0.01, potential = potential}).bound
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
