-- sgd_spec.lua -- stochastic gradient descent: what its batches cost, the law of its noise, where it ends up, and what it refuses.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

-- Rows of l2 norm 1 with labels -1 and 1.
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

local function problem(n, p, parts)
  parts = parts or {}
  return pn.objective {data = classification(n, p, 5), loss = parts.loss or pn.loss.logistic(), set = parts.set,
    reg = parts.reg}
end

local function ball(p, radius)
  return pn.set.l2_ball {dim = p, radius = radius or 1}
end

-- n records that are all the same: a batch's mean gradient is that of all of them, whoever is in it.
local function same_records(n, p)
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, n do
    X:set(i, 1, 1)
    y[i] = 1
  end
  return pn.objective {data = pn.data.from(X, y):clip_rows("l2", 1), loss = pn.loss.logistic()}
end

local function multiplier(of, event)
  of.event = event
  return (pn.calibrate.noise(of))
end

describe("the plan of sgd", function()
  it("has the noise that the accountant gives for the sampling that runs", function()
    local obj, T, n = problem(2000, 3), 150, 2000
    local function sampled(how)
      return function(z)
        how.event = pn.event.gaussian {sigma = z, sensitivity = 1, neighbours = how.neighbours}
        local one = how.q and pn.event.poisson_sampled(how) or pn.event.fixed_sampled(how)
        return pn.event.repeated(one, T)
      end
    end
    local budget = {epsilon = 0.8, delta = 1e-7, iterations = T, batch = 120}
    -- sigma of the mean is z (2 G) / b for fixed batches and z G / b for coins
    local plan = pn.solve.sgd.plan(obj, budget)
    local z = multiplier({epsilon = 0.8, delta = 1e-7}, sampled {batch = 120, n = n, neighbours = "replace_one"})
    assert.is_near(1, plan.sigma * 120 / 2 / z, 1e-5)
    assert.is_true(plan.epsilon <= 0.8 and plan.epsilon > 0.79999)
    for _, relation in ipairs {"replace_one", "zero_out"} do
      local poisson = plan:with {sampling = "poisson", neighbours = relation}
      z = multiplier({epsilon = 0.8, delta = 1e-7}, sampled {q = 120 / n, neighbours = relation})
      assert.is_near(1, poisson.sigma * 120 / z, 1e-5)
    end
    assert.equal("poisson", plan:with({neighbours = "zero_out"}).lines.sampling:match "%a+")
    -- 150 batches of 120 are 9 passes of 17; each costs one Gaussian release: sqrt(9) 2 G / (b mu)
    local shuffled = plan:with {sampling = "shuffled"}
    local sigma = pn.calibrate.gaussian {epsilon = 0.8, delta = 1e-7, sensitivity = 2 * math.sqrt(9)}
    assert.is_near(1, shuffled.sigma * 120 / sigma, 1e-5)
  end)

  it("prices the whole run by its loss distribution when asked to", function()
    local obj = problem(2000, 3)
    local plan = pn.solve.sgd.plan(obj, {epsilon = 1, delta = 1e-6, iterations = 200, batch = 100})
    local pld = plan:with {accountant = "pld"}
    assert.is_true(pld.sigma < plan.sigma and pld.sigma > 0.8 * plan.sigma)
    local z = multiplier({epsilon = 1, delta = 1e-6, accountant = "pld"}, function(z)
      return pn.event.repeated(pn.event.fixed_sampled {batch = 100, n = 2000,
        event = pn.event.gaussian {sigma = z, sensitivity = 1}}, 200)
    end)
    assert.is_near(1, pld.sigma * 100 / 2 / z, 1e-3)
    assert.truthy(tostring(pld):gsub("%s+", " "):find("privacy loss distribution", 1, true))
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6}
    local fit = pld:run {ledger = ledger, on_step = function(state) return state.step < 3 end}
    assert.is_near(pld.epsilon, fit.privacy.epsilon, 1e-12) -- all of it was charged before the first step
    assert.is_near(pld.epsilon, ledger.spent, 1e-9)
  end)

  it("has the article's constants, says what they really cost and asks for no more", function()
    -- mirror-descent.md section 8.4: n = 10^4, epsilon = 1, delta = 1e-6; 0.078 is certified after n^2 steps
    local obj = problem(10000, 3, {loss = pn.loss.hinge(), set = ball(3)})
    local plan = pn.solve.sgd.plan(obj, {epsilon = 1, delta = 1e-6, calibration = "paper"})
    assert.equal(10 ^ 8, plan.iterations)
    assert.equal(1, plan.lines["batch b"])
    assert.is_near(math.sqrt(32 * math.log(1e10) * math.log(1e6)), plan.sigma, 1e-9)
    assert.is_near(0.078, plan.epsilon, 5e-4)
    -- eta_t = D/sqrt(t (G^2 + p sigma^2)), the last point; 2 D M (2 + ln T)/sqrt(T) by Shamir and Zhang
    local M = math.sqrt(1 + 3 * plan.sigma ^ 2)
    assert.is_near(2 / M, plan.lines["step eta"], 1e-9)
    assert.is_near(2 * 2 * M * (2 + math.log(1e8)) / 1e4, plan.bound, 1e-7)
    local short = plan:with {iterations = 50}
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6, teaching = true}
    local fit = short:run {ledger = ledger, rng = pn.rng.seeded(1)}
    assert.is_near(short.epsilon, ledger.spent, 1e-9)
    for t = 1, 50 do
      assert.is_near(2 / M / math.sqrt(t), fit.trace[t].step_size, 1e-12)
    end
  end)

  it("warns that zCDP gives no credit for batches, and charges none", function()
    local obj = problem(1000, 3)
    local plan = pn.solve.sgd.plan(obj, {rho = 0.1, batch = 100, iterations = 50})
    assert.truthy(tostring(plan):gsub("%s+", " "):find("no credit for the secrecy", 1, true))
    assert.is_near(0.1, plan.rho, 1e-6)
    assert.is_near(2 / 100 * math.sqrt(50 / 0.2), plan.sigma, 1e-6) -- (2 G/b) sqrt(T/(2 rho))
    local whole = pn.solve.sgd.plan(obj, {rho = 0.1, iterations = 50})
    assert.equal(1000, whole.lines["batch b"])
    assert.is_nil(tostring(whole):find("no credit", 1, true))
  end)

  it("charges for the rounding of sums over as many records as a batch can have", function()
    -- Noise so small that its lattice adds nothing: what is left above 2 G (of coins: G) is the error of sums, about b^2 2^-53 a
    -- coordinate, and 2^-40.
    local obj = problem(1000, 100)
    local function above(options, contributions)
      options.rho, options.iterations = 1e8, 1
      local event = tostring(pn.solve.sgd.plan(obj, options).event)
      return tonumber(event:match "sensitivity=([%d.e-]+)") - contributions
    end
    local whole, part = above({batch = 1000}, 2), above({batch = 100}, 2)
    assert.is_true(whole > 1e-9 and part > 1e-11 and part < whole / 50)
    assert.is_true(above({batch = 10, sampling = "poisson"}, 1) > 1e-9)
  end)

  it("says how noise and gradients depend on batch and steps", function()
    local plan = pn.solve.sgd.plan(problem(2000, 3), {epsilon = 1, delta = 1e-6, batch = 100, iterations = 64})
    for name, change in pairs {["with b/2"] = {batch = 50}, ["with 2 b"] = {batch = 200},
      ["with 2 T"] = {iterations = 128}} do
      local sigma = tonumber(plan.lines[name]:match "sigma (%S+)")
      assert.is_near(1, plan:with(change).sigma / sigma, 1e-3)
    end
    assert.equal(6400, plan.gradients)
    assert.equal(6400, plan.lines.gradients)
    local epochs = pn.solve.sgd.plan(plan.objective, {epsilon = 1, delta = 1e-6, batch = 100, epochs = 2.5})
    assert.equal(50, epochs.iterations)
  end)

  it("takes batches whose noise is near that of all records", function()
    for _, epsilon in ipairs {0.1, 1} do
      local plan = pn.solve.sgd.plan(problem(20000, 3), {epsilon = epsilon, delta = 1e-8})
      local T, b = plan.iterations, plan.lines["batch b"]
      local all = 2 / 20000 * math.sqrt(T) * pn.calibrate.gaussian {epsilon = epsilon, delta = 1e-8, sensitivity = 1}
      assert.is_true(b < 20000 and plan.sigma < 1.2 * all)
      assert.is_true(T * b >= 4 * 20000)
      -- as many steps of 1/L as take the time (15/p) G/(L s), s sqrt(T) the noise of all
      assert.is_near(5 * math.sqrt(T) / all, T, 1.01)
      -- and the time that fits the variance of a batch, so that steps are somewhat shorter: 5 G/L over the root of it and 3 T
      local variance = 3 * plan.sigma ^ 2 + (20000 - b) / 19999 / b
      assert.is_near(5 * 4 / math.sqrt(variance / (3 * T)), T * plan.lines["step eta"], 1e-6 * T)
      assert.is_nil(plan.lines["momentum beta"])
    end
  end)

  law("predicts the excess risk of its defaults within a factor of 5, and that smaller batches do worse", function()
    local data = pn.data.synthetic.logistic {n = 20000, p = 20, sparsity = 5, seed = 1}:clip_rows("l2", 1)
    local obj = pn.objective {data = data, loss = pn.loss.logistic()}
    local inside = pn.objective {data = data, loss = pn.loss.logistic(), set = ball(20, 60)}
    local best = pn.solve.exact(inside, {tol = 1e-6}).value
    local last
    for _, batch in ipairs {2000, 100} do
      local plan, sum = pn.solve.sgd.plan(obj, {epsilon = 0.3, delta = 1e-9, batch = batch}), 0
      for seed = 1, 10 do sum = sum + plan:run({rng = pn.rng.seeded(seed)}).value - best end
      assert.is_true(plan.predicted < 5 * sum / 10 and plan.predicted > sum / 10 / 5)
      assert.is_true(not last or plan.predicted > last)
      last = plan.predicted
    end
  end)

  it("warns of a step beyond 2/L and refuses what it cannot do, before anything is spent", function()
    local obj = problem(50, 3)
    local plan = pn.solve.sgd.plan
    assert.truthy(tostring(plan(obj, {rho = 1, step = 8.1})):find("2/L", 1, true))
    assert.is_nil(tostring(plan(obj, {rho = 1, step = 7.9})):find("2/L", 1, true))
    local unbounded = pn.objective {data = pn.data.from({{1}, {2}}, {1, -1}), loss = pn.loss.logistic()}
    local budget = {epsilon = 1, delta = 1e-6}
    local function with(options)
      for name, value in pairs(budget) do options[name] = value end
      return options
    end
    local cases = {
      {"batch = 51 is larger than the number of records n = 50", function() plan(obj, with {batch = 51}) end},
      {"give either epochs or iterations", function() plan(obj, with {epochs = 1, iterations = 2}) end},
      {"needs a delta", function() plan(obj, {epsilon = 1}) end},
      {"makes n secret", function() plan(obj, with {neighbours = "add_remove"}) end},
      {"has a proof for neighbours=\"replace_one\" only", function()
        plan(obj, with {neighbours = "zero_out", sampling = "fixed"})
      end},
      {"sampling must be", function() plan(obj, with {sampling = "with_replacement"}) end},
      {"give strong_convexity= or step=", function() plan(obj, with {schedule = "inverse"}) end},
      {"give output=\"average\"", function() plan(obj, with {output = "last", tail = 1}) end},
      {"stated for epsilon and delta", function() plan(obj, {rho = 1, calibration = "paper"}) end},
      {"batch must be 1, got 2", function() plan(obj, with {calibration = "paper", batch = 2}) end},
      {"leave sampling out", function() plan(obj, with {calibration = "paper", sampling = "poisson"}) end},
      {"prices epsilon at delta", function() plan(obj, {rho = 1, accountant = "pld"}) end},
      {"goes with calibration=\"tight\"", function() plan(obj, with {calibration = "paper", accountant = "pld"}) end},
      {"clip", function() plan(unbounded, with {}) end},
      {"give step=", function() plan(unbounded, {privacy = false}) end},
      {"steps are too many", function() plan(obj, with {epochs = 1e13}) end},
      {"least", function() plan(obj, {rho = 1e-30}) end},
      {"the article takes T = n^2 = 1.6e+09 steps", function()
        local many = pn.objective {data = pn.data.synthetic.logistic {n = 40000, p = 1, sparsity = 1, seed = 1}:clip_rows("l2", 1),
          loss = pn.loss.logistic()}
        plan(many, with {calibration = "paper"})
      end},
    }
    for _, case in ipairs(cases) do
      local ok, message = pcall(case[2])
      assert.is_false(ok, case[1])
      assert.truthy(tostring(message):find(case[1], 1, true), tostring(message))
    end
  end)
end)

describe("a run of sgd", function()
  it("draws without privacy as well, and says that this guarantees nothing", function()
    local fit = pn.solve.sgd(problem(60, 3), {privacy = false, batch = 6, epochs = 3})
    assert.is_nil(fit.privacy)
    assert.equal(180, fit.gradients)
    assert.matches("guarantees nothing", tostring(fit), 1, true)
    assert.matches("guarantees nothing", tostring(fit.plan), 1, true)
    local softmax = pn.objective {data = pn.data.from({{1, 0}, {0, 1}, {-1, 0}}, {1, 2, 3}):clip_rows("l2", 1),
      loss = pn.loss.softmax {classes = 3}}
    assert.equal(6, #pn.solve.sgd(softmax, {epsilon = 1, delta = 1e-6, iterations = 3}).theta)
  end)

  it("adds noise of the planned deviation to the mean over a batch", function()
    -- One step from 0 over identical records: theta = -eta (gradient + noise), whichever batch was drawn.
    -- 4000 coordinates: the variance is off by more than 11.2 % with probability 6e-7 (5 standard errors); noise that is 1.1 times
    -- as large or small is found with probability above 0.999.
    local p = 4000
    local obj = same_records(40, p)
    local gradient = obj:gradient(pn.vec.zeros(p))
    for _, how in ipairs {{batch = 10}, {batch = 40}, {batch = 10, sampling = "shuffled"}, {batch = 40, sampling = "poisson"}} do
      how.rho, how.iterations, how.step, how.output = 0.5, 1, 1, "last"
      local plan = pn.solve.sgd.plan(obj, how)
      local noise = plan:run({rng = pn.rng.seeded(11)}).theta * -1 - gradient
      assert.is_near(1, noise:norm() ^ 2 / p / plan.sigma ^ 2, 0.112)
    end
  end)

  it("counts the gradients of single records, expected ones where their number is secret", function()
    local obj = problem(300, 3)
    local fit = pn.solve.sgd(obj, {epsilon = 1, delta = 1e-6, batch = 20, iterations = 30})
    assert.equal(600, fit.gradients)
    local coins = pn.solve.sgd(obj, {epsilon = 1, delta = 1e-6, batch = 20, iterations = 30, sampling = "poisson"})
    assert.equal(600, coins.gradients)
    local open = pn.solve.sgd(obj, {privacy = false, batch = 20, iterations = 30, sampling = "poisson", rng = pn.rng.seeded(1)})
    assert.is_true(open.gradients ~= 600 and math.abs(open.gradients - 600) < 150)
    -- 300 = 42 batches of 7 and one of 6
    local passes = pn.solve.sgd(obj, {privacy = false, batch = 7, epochs = 2, sampling = "shuffled"})
    assert.equal(86, passes.plan.iterations)
    assert.equal(600, passes.gradients)
  end)

  it("reaches the minimum without noise, over sets and with regularisers, with exact zeros for l1", function()
    local cases = {
      {set = ball(6, 2)}, {set = pn.set.simplex {dim = 6}}, {set = pn.set.l1_ball {dim = 6, radius = 1}},
      {reg = pn.reg.l2(0.05)}, {reg = pn.reg.l1(0.02)}, {reg = pn.reg.l1(0.02), set = ball(6)},
    }
    for k, parts in ipairs(cases) do
      local obj = problem(400, 6, parts)
      local inside = problem(400, 6, {reg = parts.reg, set = parts.set or ball(6, 50)})
      local best = pn.solve.exact(inside, {tol = 1e-9}).value
      local whole = pn.solve.sgd(obj, {privacy = false, batch = 400, iterations = 3000, output = "last"})
      assert.is_near(best, whole.value, 1e-6, "case " .. k)
      local sampled = pn.solve.sgd(obj, {privacy = false, batch = 20, epochs = 100, rng = pn.rng.seeded(k)})
      assert.is_near(best, sampled.value, 5e-3, "case " .. k)
    end
    local sparse = pn.solve.sgd(problem(400, 6, {reg = pn.reg.l1(0.02)}),
      {privacy = false, batch = 400, iterations = 3000, output = "last"}).theta
    local zeros = 0
    for j = 1, 6 do zeros = zeros + (sparse[j] == 0 and 1 or 0) end
    assert.is_true(zeros >= 3 and sparse[1] ~= 0)
  end)

  it("takes subgradients of a loss with kinks", function()
    local obj = problem(400, 4, {loss = pn.loss.hinge(), set = ball(4, 2)})
    local best = pn.solve.exact(pn.objective {data = obj.data, loss = pn.loss.smooth_hinge {width = 1e-3}, set = ball(4, 2)},
      {tol = 1e-5}).value
    local fit = pn.solve.sgd(obj, {privacy = false, batch = 20, epochs = 400, rng = pn.rng.seeded(2)})
    assert.is_near(best, fit.value, 0.01)
    assert.is_true(fit.value - best < fit.plan.bound)
  end)

  law("has mean excess risk below the bound, by every schedule and output", function()
    local obj = problem(2000, 5, {set = ball(5)})
    local kinks = problem(2000, 5, {loss = pn.loss.hinge(), set = ball(5)})
    local best = pn.solve.exact(obj, {tol = 1e-9}).value
    local low = pn.solve.exact(pn.objective {data = kinks.data, loss = pn.loss.smooth_hinge {width = 1e-3}, set = ball(5)},
      {tol = 1e-5}).value - 1e-3
    local cases = {
      {obj, best, {}}, {obj, best, {tail = 0}}, {obj, best, {sampling = "poisson"}}, {obj, best, {schedule = "sqrt"}},
      {obj, best, {schedule = "sqrt", output = "average"}}, {kinks, low, {}}, {kinks, low, {schedule = "sqrt"}},
    }
    for k, case in ipairs(cases) do
      local options = case[3]
      options.epsilon, options.delta, options.iterations, options.batch = 1, 1e-6, 200, 100
      local plan, sum = pn.solve.sgd.plan(case[1], options), 0
      for seed = 1, 20 do
        local fit = plan:run {rng = pn.rng.seeded(seed)}
        assert.is_true(case[1].set:contains(fit.theta, 1e-10))
        sum = sum + fit.value - case[2]
      end
      assert.is_true(sum / 20 < plan.bound, ("case %d: %g above %g"):format(k, sum / 20, plan.bound))
    end
  end)

  it("states a bound only where one is known", function()
    local budget = {epsilon = 1, delta = 1e-6, iterations = 20, batch = 100}
    local function bound(obj, options)
      for name, value in pairs(budget) do options[name] = value end
      return pn.solve.sgd.plan(obj, options).bound
    end
    local obj = problem(500, 3, {set = ball(3)})
    assert.is_number(bound(obj, {}))
    assert.is_nil(bound(obj, {sampling = "shuffled"}))
    assert.is_nil(bound(obj, {output = "last"}))
    assert.is_nil(bound(obj, {step = 4.1})) -- beyond 1/L
    assert.is_nil(bound(problem(500, 3), {}))
    assert.is_nil(bound(obj, {schedule = "inverse", strong_convexity = 0.1}))
    assert.is_nil(bound(obj, {prox = pn.prox.l1 {lambda = 0.1}}))
  end)

  it("averages its points as it says", function()
    -- Identical records and all of them in every batch: no chance left.  The average of x_1 .. x_4 with weights t^0, and as
    -- Shamir and Zhang's with tail 3.
    local obj = same_records(5, 2)
    local function fit(options)
      options.privacy, options.batch, options.step = false, 5, 1
      return pn.solve.sgd(obj, options).theta[1]
    end
    local points = {}
    for t = 1, 4 do points[t] = fit {iterations = t, output = "last"} end
    assert.is_near((points[1] + points[2] + points[3] + points[4]) / 4, fit {iterations = 4, tail = 0}, 1e-14)
    local mean = 0
    for t = 1, 4 do mean = mean + 4 / (t + 3) * (points[t] - mean) end
    assert.is_near(mean, fit {iterations = 4, tail = 3}, 1e-14)
  end)

  it("steps by its schedule", function()
    local obj = problem(50, 3, {reg = pn.reg.l2(0.5)})
    local function trace(options)
      options.privacy, options.iterations, options.batch = false, 9, 5
      return pn.solve.sgd(obj, options).trace
    end
    local constant, root = trace {step = 0.5}, trace {step = 0.5, schedule = "sqrt"}
    local inverse = trace {schedule = "inverse"}
    for t = 1, 9 do
      assert.equal(0.5, constant[t].step_size)
      assert.is_near(0.5 / math.sqrt(t), root[t].step_size, 1e-15)
      assert.is_near(1 / (0.5 * t), inverse[t].step_size, 1e-12) -- mu = 0.5, certified
    end
  end)

  it("charges a ledger once a step, before the noise, and repeats with its seed", function()
    local obj = problem(500, 4)
    local plan = pn.solve.sgd.plan(obj, {epsilon = 1, delta = 1e-6, iterations = 40, batch = 50})
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6}
    local stopped = plan:run {ledger = ledger, on_step = function(state) return state.step < 10 end}
    assert.equal(10, #stopped.trace)
    assert.equal(10, ledger:report().entries and ledger:report().entries[1].count or ledger:report()[1].count)
    assert.is_near(ledger.spent, stopped.privacy.charged_epsilon, 1e-9)
    assert.is_true(stopped.privacy.charged_epsilon < 0.7)
    assert.equal(plan.epsilon, stopped.privacy.epsilon)
    local a, b = plan:run {rng = pn.rng.seeded(1)}, plan:run {rng = pn.rng.seeded(1)}
    assert.is_true(a.theta == b.theta)
    assert.is_false(a.theta == plan:run({rng = pn.rng.seeded(2)}).theta)
    local secure = plan:run()
    assert.is_near(plan.epsilon, secure.privacy.epsilon, 1e-12)
    assert.is_true(secure.privacy.private)
    assert.is_false(a.privacy.private)
  end)

  it("pays a ledger's file for a 64th of the run at a time, and says what it paid", function()
    local path = os.tmpname()
    os.remove(path)
    local ledger <close> = pn.ledger {epsilon = 1, delta = 1e-6, path = path}
    local plan = pn.solve.sgd.plan(problem(500, 4), {epsilon = 1, delta = 1e-6, iterations = 640, batch = 20})
    local fit = plan:run {ledger = ledger, on_step = function(state) return state.step < 25 end}
    local paid = pn.event.repeated(pn.event.fixed_sampled {batch = 20, n = 500,
      event = pn.event.gaussian {sigma = 20 * plan.sigma, sensitivity = 2}}, 30) -- 25 steps are three tens
    assert.is_near((paid:epsilon(1e-6)), fit.privacy.charged_epsilon, 1e-7)
    assert.is_near(ledger.spent, fit.privacy.charged_epsilon, 1e-9)
    assert.equal(plan.epsilon, fit.privacy.epsilon)
    ledger:close()
    os.remove(path)
    os.remove(path .. ".key")
  end)

  it("stops when a budget ends or the points leave every range, and says so", function()
    local obj = problem(500, 4)
    local plan = pn.solve.sgd.plan(obj, {epsilon = 1, delta = 1e-6, iterations = 40, batch = 50})
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6}
    local fit = plan:run {ledger = ledger, on_step = function(state)
      if state.step == 7 then ledger:close() end
    end}
    assert.equal("budget", fit.stopped)
    assert.equal(7, #fit.trace)
    local far = pn.objective {data = pn.data.from({{100}, {-100}}, {1, -1}), loss = pn.loss.squared()}
    local lost = pn.solve.sgd(far, {privacy = false, step = 1e10, batch = 1, iterations = 100})
    assert.equal("diverged", lost.stopped)
    assert.is_true(#lost.trace < 100)
  end)

  it("keeps what is not private out of its trace", function()
    for _, sampling in ipairs {"fixed", "poisson"} do
      local fit = pn.solve.sgd(problem(200, 4), {epsilon = 1, delta = 1e-6, iterations = 5, batch = 10, sampling = sampling})
      for t = 1, 5 do
        assert.is_nil(fit.trace[t].value)
        assert.is_nil(fit.trace[t].gap)
        assert.equal(10 * t, fit.trace[t].gradients)
      end
    end
  end)
end)
