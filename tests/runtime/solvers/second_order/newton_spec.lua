-- newton_spec.lua -- private Newton: numbers of the plan, the law of its noise, minima against closed forms, charges, refusals,
-- and accuracy on a9a and Covertype.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local solve = pn.solve.newton
local loss = pn.loss

local function classification(n, p, seed)
  return pn.data.synthetic.logistic {n = n, p = p, seed = seed or 5}:clip_rows("l2", 1)
end

local function logistic(n, p, parts)
  parts = parts or {}
  return pn.objective {data = parts.data or classification(n, p), loss = parts.loss or loss.logistic(), set = parts.set,
    reg = parts.reg, clip = parts.clip}
end

local function distance(a, b)
  local sum = 0
  for j = 1, #a do sum = sum + (a[j] - b[j]) ^ 2 end
  return math.sqrt(sum)
end

-- What the lines say that the run costs, as mu^2 of the exact Gaussian curve; losses of one margin, whose matrices have
-- one sensitivity.
local function matrices_mu(lines)
  return lines.matrices * (lines["sensitivity D_H"] / lines["majorant noise"]) ^ 2
end

local function squared_mu(plan)
  local lines, later = plan.lines, plan.lines["D_g differences"] or plan.lines["D_g later"]
  local sum = (lines["D_g at the start"] / lines["start noise"]) ^ 2 + matrices_mu(lines)
  return later and sum + (plan.iterations - 1) * (later / lines["later noise"]) ^ 2 or sum
end

describe("the plan of newton", function()
  local obj = logistic(1000, 3)
  local budget = {epsilon = 1, delta = 1e-5}
  local mu2 = (2 / 1000 * 10 / 0.0746126327) ^ 2 -- of the exact curve at (1, 1e-5), from item 3 of mirror-descent.md section 5

  it("knows that slopes at 0 are one half, and within one half of that elsewhere", function()
    local lines = solve.plan(obj, budget).lines
    assert.is_near(1 / 1000, lines["D_g at the start"], 1e-11)
    assert.is_near(1 / 1000, lines["D_g differences"], 1e-11)
    assert.is_near(math.sqrt(2) / 4 / 1000, lines["sensitivity D_H"], 1e-11)
    local zeroed = solve.plan(obj, {epsilon = 1, delta = 1e-5, neighbours = "zero_out"}).lines
    assert.is_near(0.5 / 1000, zeroed["D_g at the start"], 1e-11)
    assert.is_near(0.25 / 1000, zeroed["sensitivity D_H"], 1e-11)
  end)

  it("takes slopes in several margins as a vector", function()
    local function softmax(rows, labels)
      return pn.objective {data = pn.data.from(rows, labels):clip_rows("l2", 1), loss = loss.softmax {classes = 3}}
    end
    local function moved(start, row, label, other, other_label) -- a record replaced by another, of two
      local fixed = {0, 0}
      return distance(softmax({fixed, row}, {1, label}):gradient(start),
        softmax({fixed, other}, {1, other_label}):gradient(start))
    end
    local function lines(start)
      return solve.plan(softmax({{0, 0}, {1, 0}}, {1, 2}),
        {rho = 1, iterations = 2, start = start, gradients = "differences"}).lines
    end
    local zero = pn.vec.zeros(6)
    assert.is_near(math.sqrt(2 / 3), moved(zero, {1, 0}, 2, {-1, 0}, 2), 1e-12) -- |p - e_y| at p = (1, 1, 1)/3
    assert.is_true(lines(zero)["D_g at the start"] >= math.sqrt(2 / 3))
    -- rows that are nearly the same, and probabilities 1 of different classes
    local far, c, s = pn.vec {0, 8e4, 0, -8e4, 0, -8e4}, math.cos(1e-3), math.sin(1e-3)
    assert.is_near(math.sqrt(2), moved(far, {c, s}, 2, {-c, s}, 2), 1e-5)
    assert.is_true(lines(far)["D_g at the start"] >= math.sqrt(2))
    -- at a far point a record's slopes are anything but those of the start
    assert.is_true(lines(far)["D_g differences"] >= 2 * math.sqrt(2) - 1e-5)
  end)

  it("knows what slopes are at another start", function()
    local x, norm = {0.3, -0.4, 1.2}, 1.3
    local lines = solve.plan(obj, {epsilon = 1, delta = 1e-5, start = x, gradients = "differences"}).lines
    assert.truthy(solve.plan(obj, {epsilon = 1, delta = 1e-5, start = x}).lines["D_g later"]) -- 2 s^2 > 1
    local s = 1 / (1 + math.exp(-norm))
    assert.is_near(2 * s / 1000, lines["D_g at the start"], 1e-10)
    assert.is_near(2 * s / 1000, lines["D_g differences"], 1e-10) -- from 1 - s or s to 0 or 1
  end)

  it("spends what was asked for and not more, whatever the shape", function()
    for _, options in ipairs {{}, {iterations = 1}, {iterations = 9, hessians = 3}, {hessian_share = 0.7, start_share = 0.1},
      {gradients = "full"}, {hessian_noise = "packed"}, {neighbours = "zero_out"}, {hessians = 6}} do
      local with = {epsilon = 1, delta = 1e-5}
      for k, v in pairs(options) do with[k] = v end
      local plan = solve.plan(obj, with)
      assert.is_true(plan.epsilon <= 1 and plan.epsilon > 0.999)
      assert.is_near(mu2, squared_mu(plan), 1e-4 * mu2)
      with.epsilon, with.delta, with.rho = nil, nil, 0.3
      local rho = solve.plan(obj, with)
      assert.is_true(rho.rho <= 0.3 and rho.rho > 0.3 * 0.999)
      assert.is_near(0.6, squared_mu(rho), 6e-4)
    end
    for _, epsilon in ipairs {0.01, 0.1, 3, 20} do
      local plan = solve.plan(obj, {epsilon = epsilon, delta = 1e-6})
      assert.is_true(plan.epsilon <= epsilon and plan.epsilon > 0.999 * epsilon)
    end
  end)

  it("splits the budget by the shares", function()
    local plan = solve.plan(obj, {epsilon = 1, delta = 1e-5, hessian_share = 0.4, start_share = 0.3})
    local lines = plan.lines
    assert.is_near(0.4, matrices_mu(lines) / mu2, 1e-4)
    assert.is_near(0.18, (lines["D_g at the start"] / lines["start noise"]) ^ 2 / mu2, 1e-4)
  end)

  it("costs no less with the price of zCDP", function()
    local paper = solve.plan(obj, {epsilon = 1, delta = 1e-5, calibration = "paper"})
    assert.is_true(paper.epsilon < 1)
    -- rho = (sqrt(1 + ln 1e5) - sqrt(ln 1e5))^2, mu^2 = 2 rho
    local rho = (math.sqrt(1 + math.log(1e5)) - math.sqrt(math.log(1e5))) ^ 2
    assert.is_near(2 * rho, squared_mu(paper), 1e-4 * rho)
  end)

  it("releases gradients in full where differences have more noise", function()
    local data = pn.data.from({{1, 0}, {0, 1}}, {1, -1}):clip_rows("l2", 1):clip_labels(-1, 1)
    local plan = solve.plan(pn.objective {data = data, loss = loss.huber {delta = 0.2}}, budget)
    assert.truthy(plan.lines["D_g later"])
    assert.is_nil(plan.lines["D_g differences"])
    assert.truthy(solve.plan(logistic(1000, 3, {clip = 0.5}), budget).lines["D_g later"])
  end)

  it("raises eigenvalues to the norm of the noise, or to what r has", function()
    local plan = solve.plan(obj, {epsilon = 1, delta = 1e-5, damping = 2})
    assert.is_near(2 * plan.lines["majorant noise"] * math.sqrt(6), plan.lines["least eigenvalue"], 1e-12)
    assert.is_near(5, solve.plan(logistic(1000, 3, {reg = pn.reg.l2(5)}), budget).lines["least eigenvalue"], 1e-9)
  end)

  it("says when the Hessian is lost in its noise", function()
    assert.truthy(tostring(solve.plan(logistic(50, 30), {epsilon = 0.1, delta = 1e-4})):find("nothing is left of it", 1, true))
    assert.is_nil(tostring(solve.plan(logistic(20000, 3), budget)):find("nothing is left of it", 1, true))
  end)

  it("refuses what it is not for, and says what is", function()
    refused("solve.second_order", solve.plan, logistic(50, 3, {loss = loss.sigmoid()}), budget)
    refused("solve.gradient_descent", solve.plan, logistic(50, 3, {loss = loss.hinge()}), budget)
    refused("solve.gradient_descent", solve.plan, logistic(50, 3, {reg = pn.reg.l1(0.1)}), budget)
    refused("clip", solve.plan, logistic(0, 0, {data = pn.data.from({{1, 0}, {0, 1}}, {1, -1})}), budget)
    refused("delta", solve.plan, obj, {epsilon = 1})
    refused("paper", solve.plan, obj, {rho = 1, calibration = "paper"})
    refused("add_remove", solve.plan, obj, {epsilon = 1, delta = 1e-5, neighbours = "add_remove"})
    refused("hessians must be at most the number of steps, 2, got 3", solve.plan, obj,
      {epsilon = 1, delta = 1e-5, iterations = 2, hessians = 3})
    refused("hessian_share", solve.plan, obj, {epsilon = 1, delta = 1e-5, hessian_share = 1})
    refused("damping", solve.plan, obj, {epsilon = 1, delta = 1e-5, damping = -1})
    refused("start has 2 entries", solve.plan, obj, {epsilon = 1, delta = 1e-5, start = {1, 2}})
    refused("no privacy budget", solve.plan, obj, {})
  end)
end)

describe("newton without privacy", function()
  it("solves a least squares problem in one step", function()
    local data = pn.data.from({{1, 0}, {1, 1}, {0, 2}}, {1, 2, -1}) -- normal equations (2 1; 1 5) w = (3, 0)
    local fit = solve(pn.objective {data = data, loss = loss.squared()}, {privacy = false})
    assert.is_near(15 / 9, fit.theta[1], 1e-12)
    assert.is_near(-3 / 9, fit.theta[2], 1e-12)
    assert.is_true(#fit.trace <= 3)
    assert.equal("converged", fit.stopped)
  end)

  it("finds the log odds", function()
    local rows, y = {}, {}
    for i = 1, 10 do rows[i], y[i] = {1}, i <= 9 and 1 or -1 end
    local obj = pn.objective {data = pn.data.from(rows, y), loss = loss.logistic()}
    for _, start in ipairs {0, -6, 12} do -- full steps would leave for infinity from the last two
      assert.is_near(math.log(9), solve(obj, {privacy = false, start = {start}}).theta[1], 1e-7)
    end
  end)

  it("finds the minimum over a ball, and with a regulariser", function()
    for _, parts in ipairs {{set = pn.set.l2_ball {dim = 4, radius = 0.7}}, {set = pn.set.simplex {dim = 4}},
      {reg = pn.reg.l2(0.05)}, {reg = pn.reg.l2(0.05), set = pn.set.l1_ball {dim = 4, radius = 0.5}}} do
      local obj = logistic(400, 4, parts)
      local exact, fit = pn.solve.exact(obj, {tol = 1e-10}), solve(obj, {privacy = false})
      assert.is_true(obj:value(fit.theta) <= obj:value(exact.theta) + 1e-9)
      assert.is_true(distance(exact.theta, fit.theta) < 1e-4)
    end
  end)
end)

describe("private newton", function()
  local function seeded(plan, seed)
    return plan:run {rng = pn.rng.seeded(seed), progress = false}
  end

  it("comes to the minimum when the budget is huge, over sets and with regularisers too", function()
    for _, parts in ipairs {{}, {reg = pn.reg.l2(0.05)}, {set = pn.set.l2_ball {dim = 4, radius = 0.7}}, {clip = 10},
      {reg = pn.reg.l2(0.3), set = pn.set.l1_ball {dim = 4, radius = 0.5}}} do
      local obj = logistic(400, 4, parts)
      local exact = solve(obj, {privacy = false})
      for _, hessians in ipairs {1, 12} do
        local plan = solve.plan(obj, {rho = 1e8, iterations = 12, hessians = hessians})
        assert.is_true(distance(exact.theta, seeded(plan, 3).theta) < (hessians == 1 and 2e-2 or 1e-3))
      end
    end
  end)

  it("minimises a quadratic in one step but for its noise", function()
    local data = pn.data.from({{1, 0}, {0.6, 0.8}, {0, 1}}, {1, -0.5, 0.25}):clip_rows("l2", 1):clip_labels(-1, 1)
    local obj = pn.objective {data = data, loss = loss.squared(), set = pn.set.l2_ball {dim = 2, radius = 50}}
    local exact = solve(obj, {privacy = false})
    assert.is_true(distance(exact.theta, seeded(solve.plan(obj, {rho = 1e8, iterations = 1}), 1).theta) < 1e-3)
  end)

  -- With every eigenvalue raised to `least` a step is -g/least where g is far above its noise, so that nothing is damped,
  -- and the answers show the noise of the gradients.
  -- 4,000 draws of a chi-square over its mean: beyond 1 +- 0.13 with probability below 1e-7 (deviation 0.0224).
  local function variance(plan, mean, count)
    local sum, draws = 0, 0
    for seed = 1, count do
      local theta = seeded(plan, seed).theta
      for j = 1, #theta do
        sum, draws = sum + (theta[j] - mean[j]) ^ 2, draws + 1
      end
    end
    return sum / draws
  end

  it("has the noise of the plan in its first step", function()
    local obj = logistic(60, 10)
    local plan = solve.plan(obj, {rho = 20, iterations = 1, damping = 1e6})
    local least, mean = plan.lines["least eigenvalue"], {}
    local gradient = obj:gradient {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
    for j = 1, 10 do mean[j] = -gradient[j] / least end
    assert.is_near(1, variance(plan, mean, 400) / (plan.lines["start noise"] / least) ^ 2, 0.13)
  end)

  it("goes on with what it knows where a difference has far more noise", function()
    local obj = logistic(60, 10)
    local plan = solve.plan(obj, {rho = 20, iterations = 2, damping = 1e6, start_share = 0.999})
    local least, mean, zero = plan.lines["least eigenvalue"], {}, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0}
    local gradient = obj:gradient(zero)
    -- Half of the least eigenvalue is what a step is predicted to change of the gradient: the second one is half of the
    -- first.  The gain is 0, since steps are short and what differences share counts with the start.
    for j = 1, 10 do mean[j] = -1.5 * gradient[j] / least end
    assert.is_near(1, variance(plan, mean, 400) / (1.5 * plan.lines["start noise"] / least) ^ 2, 0.13)
  end)

  it("charges a ledger for what it released, step by step", function()
    local obj = logistic(500, 3)
    local ledger = pn.ledger {epsilon = 1, delta = 1e-5}
    local fit = solve(obj, {epsilon = 1, delta = 1e-5, ledger = ledger})
    assert.is_true(fit.privacy.epsilon <= 1 and fit.privacy.epsilon > 0.999)
    assert.is_true(ledger.spent > 0.999)
    refused("", solve, obj, {epsilon = 0.01, delta = 1e-5, ledger = ledger})
    local early = pn.ledger {epsilon = 1, delta = 1e-5}
    local walk = solve.plan(obj, {epsilon = 1, delta = 1e-5, ledger = early}):steps()
    walk()
    assert.is_true(early.spent > 0.3 and early.spent < 0.95)
  end)

  it("gives the same answer again from the same seed, whatever the threads, and another one from another", function()
    local plan = solve.plan(logistic(3000, 5), {epsilon = 1, delta = 1e-6, hessians = 2})
    local a, b, c = seeded(plan, 7).theta, seeded(plan, 7).theta, seeded(plan, 8).theta
    assert.equal(0, distance(a, b))
    assert.is_true(distance(a, c) > 0)
  end)

  it("says before the run what matrices of many coordinates take", function()
    local function warnings(columns)
      local d = pn.data.synthetic.logistic { n = 50, p = columns, seed = 1 }:clip_rows("l2", 1)
      return tostring(pn.solve.newton.plan(pn.objective { data = d, loss = pn.loss.logistic() }, { epsilon = 1, delta = 1e-6 }))
    end
    assert.truthy(warnings(4000):gsub("%s+", " "):find("has 4000 x 4000 numbers (0.13 GB)", 1, true))
    assert.is_nil(warnings(1000):find("eigenvalues take", 1, true))
  end)

  it("stays in its set", function()
    local set = pn.set.l2_ball {dim = 3, radius = 0.4}
    local plan = solve.plan(logistic(100, 3, {set = set}), {epsilon = 0.1, delta = 1e-4})
    for seed = 1, 20 do
      local theta = seeded(plan, seed).theta
      assert.is_true(distance(theta, {0, 0, 0}) <= 0.4 * (1 + 1e-9))
    end
  end)

  it("shows what was released and no raw value in a real run", function()
    local fit = solve(logistic(500, 3), {epsilon = 1, delta = 1e-5})
    assert.equal(10, #fit.trace)
    for _, row in ipairs(fit.trace) do
      assert.is_true(row.value == nil or row.value ~= row.value)
      assert.is_true(row.gradient_norm > 0)
    end
    assert.equal("newton", fit.trace[1].kind)
    assert.equal("gradient", fit.trace[2].kind)
    assert.equal("newton", fit.trace[3].kind)
  end)
end)

local folder = os.getenv "PENUMBRA_DATA"

if folder and folder ~= "" then
  local function load(name, options)
    options.labels = "binary"
    return pn.data.libsvm(folder .. "/" .. name, options)
  end

  local function mean_accuracy(solver, train, test, options, seeds)
    local obj = pn.objective {data = train, loss = loss.logistic()}
    local held, sum = pn.objective {data = test, loss = loss.logistic()}, 0
    options.delta = 1 / train.n ^ 2
    local plan = pn.solve[solver].plan(obj, options)
    for seed = 1, seeds do
      sum = sum + held:accuracy(plan:run {rng = pn.rng.seeded(seed), progress = false}.theta) / seeds
    end
    return sum
  end

  -- With default options.  Least means are five deviations of a mean below what more runs had: with fresh seeds false alarms
  -- would have probability 3e-7.
  local function at_least(least, train, test, options, seeds)
    local mean = mean_accuracy("newton", train, test, options, seeds)
    assert.is_true(mean >= least, ("%g at epsilon %g, not %g"):format(mean, options.epsilon, least))
    return mean
  end

  describe("private newton on census data (a9a)", function()
    local train = load("a9a.gz", {cols = 123}):clip_rows("l2", 1)
    local test = load("a9a.t.gz", {cols = 123}):clip_rows("l2", 1)

    it("classifies the test file", function()
      -- 40 runs: 0.8233 (deviation 0.0074), 0.8474 (0.0013), 0.8359 (0.0038), 0.8497 (0.0009); 5/sqrt(10) deviations less
      at_least(0.8116, train, test, {epsilon = 0.1}, 10)
      at_least(0.8453, train, test, {epsilon = 1}, 10)
      at_least(0.8299, train, test, {epsilon = 0.1, neighbours = "zero_out"}, 10)
      at_least(0.8482, train, test, {epsilon = 1, neighbours = "zero_out"}, 10)
    end)
  end)

  describe("private newton on Covertype", function()
    -- covtype.info: mean and deviation of the ten numeric columns.  (x - mean)/(4 deviations), one-hot columns / 4, unit rows.
    local centre = {2959.36, 155.65, 14.10, 269.43, 46.42, 2350.15, 212.15, 223.32, 142.53, 1980.29}
    local spread = {279.98, 111.91, 7.49, 212.55, 58.30, 1559.25, 26.77, 19.77, 38.27, 1324.19}
    local low, high = {}, {}
    for j = 1, 54 do
      low[j] = j <= 10 and centre[j] - 4 * spread[j] or -4
      high[j] = j <= 10 and centre[j] + 4 * spread[j] or 4
    end
    local all = load("covtype.libsvm.binary.gz", {sparse = false}):rescale(low, high):clip_rows("l2", 1)
    local train, test = all:split(0.8, pn.rng.seeded(1))

    it("classifies a fifth that is held out", function()
      -- 6 runs: 0.7464 (deviation 0.0015), 0.7557 (0.0005); the deviation of 12 earlier ones was 0.0035
      at_least(0.7386, train, test, {epsilon = 0.1}, 5)
      at_least(0.7545, train, test, {epsilon = 1}, 5)
    end)

    it("does so better than others at epsilon 0.1, where they are a hundredth and more behind", function()
      -- At epsilon 1 newton and sgd come as near to what is there without privacy, 0.7564, as runs differ: 0.7558 and 0.7555;
      -- objective perturbation has 0.7542.
      local mean = mean_accuracy("newton", train, test, {epsilon = 0.1}, 4) -- 0.7498
      assert.is_true(mean > mean_accuracy("objective_perturbation", train, test, {epsilon = 0.1}, 4) + 0.005) -- 0.7385
      assert.is_true(mean > mean_accuracy("sgd", train, test, {epsilon = 0.1}, 4) + 0.005) -- 0.7343
    end)
  end)
end
