-- rules_spec.lua -- the update rule of each shipped solver, beside what it comes to when its own part is taken away.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local n, p = 2000, 8
local data = pn.data.synthetic.logistic { n = n, p = p, seed = 7 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = p, radius = 5 } }
local solve = pn.solve

local function run(name, options)
  options.epsilon, options.delta = options.privacy == nil and 1 or nil, options.privacy == nil and 1e-8 or nil
  options.iterations = options.iterations or 12
  return solve[name].plan(obj, options):run { rng = pn.rng.seeded(5) }
end

local function same(a, b, what)
  assert.is_true((a.theta - b.theta):norm() <= 1e-12 * (1 + b.theta:norm()), what)
end

local plain = run("gradient_descent", { step = 2, output = "last" })

describe("what a shipped solver does", function()
  it("is gradient descent without momentum, with one block, to the last digit", function()
    same(run("heavy_ball", { momentum = 0, rate = 2, output = "last" }), plain, "heavy_ball")
    same(run("nesterov", { momentum = 0, rate = 2, output = "last" }), plain, "nesterov")
    same(run("noisy_sgd", { momentum = 0, rate = 2, output = "last", size = n }), plain, "noisy_sgd")
    same(run("coordinate_descent", { momentum = 0, rate = 2, output = "last", blocks = 1 }), plain, "coordinate_descent")
    assert.equal(plain.plan.sigma, run("heavy_ball", {}).plan.sigma)
  end)

  it("keeps that share of the last step", function()
    local one = run("heavy_ball", { privacy = false, momentum = 0.5, rate = 2, output = "last", iterations = 1 })
    local two = run("heavy_ball", { privacy = false, momentum = 0.5, rate = 2, output = "last", iterations = 2 })
    local expected = one.theta + 0.5 * one.theta - 2 * obj:gradient(one.theta)
    assert.is_true((two.theta - expected):norm() < 1e-12)
    local ahead = run("nesterov", { privacy = false, momentum = 0.5, rate = 2, output = "last", iterations = 2 })
    local point = 1.5 * one.theta
    assert.is_true((ahead.theta - (point - 2 * obj:gradient(point))):norm() < 1e-12)
  end)

  it("answers with the mean of the last half, or the last point", function()
    local sum = pn.vec.zeros(p)
    for t = 1, 6 do
      local at = run("heavy_ball", { privacy = false, output = "last", iterations = t, momentum = 0.3, rate = 1 })
      if t > 3 then sum = sum + at.theta end
    end
    local mean = run("heavy_ball", { privacy = false, iterations = 6, momentum = 0.3, rate = 1 })
    assert.is_true((mean.theta - sum * (1 / 3)):norm() < 1e-12)
  end)

  it("takes rates as a number, a vector or a function of the step", function()
    local number = run("noisy_sgd", { rate = 1.5 })
    same(run("noisy_sgd", { rate = pn.vec.ones(12) * 1.5 }), number, "vec")
    same(run("noisy_sgd", { rate = function() return 1.5 end }), number, "function")
    local falling = run("noisy_sgd", { rate = function(step) return 1.5 / step end })
    assert.is_true((falling.theta - number.theta):norm() > 1e-3)
    same(run("noisy_sgd", { rate = pn.vec.linspace(1, 12, 12):map(function(t) return 1.5 / t end) }), falling, "falling")
    refused("12 of them in a vector, a function of the step or \"auto\", got 3 in a vector", run, "noisy_sgd",
      { rate = { 1, 1, 1 } })
    refused("got something else", run, "noisy_sgd", { rate = pn.loss.logistic() })
    refused("got nil at step 1", run, "noisy_sgd", { rate = function() end })
    refused("got -1 at step 1", run, "noisy_sgd", { rate = function() return -1 end })
  end)

  it("draws batches of the size that was asked for, or of one that the noise makes up for", function()
    assert.truthy(tostring(run("noisy_sgd", { size = 100 }).plan):find("fixed batches of 100", 1, true))
    local shuffled = run("noisy_sgd", { batch = { scheme = "shuffled", size = 50 } })
    assert.truthy(tostring(shuffled.plan):find("shuffled batches of 50", 1, true))
    assert.truthy(tostring(run("noisy_sgd", { neighbours = "zero_out" }).plan):find("poisson batches", 1, true))
  end)

  it("divides by the root of the mean square, less the variance of the noise", function()
    local first = run("adam", { privacy = false, rate = 0.1, floor = 1e-9, iterations = 1 })
    local sign = obj:gradient(pn.vec.zeros(p)):map(function(g) return g / pn.sqrt(g * g) end)
    assert.is_true((first.theta + 0.1 * sign):norm() < 1e-6)
    -- gradients that are all noise: a third of the squares or more is above the variance; uncorrected, roots would be the noise
    local noisy = solve.adam.plan(obj, { epsilon = 1e-3, delta = 1e-8, iterations = 40, rate = 1e-3, floor = 1e-4, beta2 = 0.9 })
    local travel = noisy:run { rng = pn.rng.seeded(1) }.theta:norm()
    assert.is_true(travel > 0.5, "moves as far as the floor lets it: " .. travel)
  end)

  it("moves one block in a step, along all answers since it last moved", function()
    local one = run("coordinate_descent", { privacy = false, momentum = 0, rate = 1, output = "last", iterations = 1 })
    local g = obj:gradient(pn.vec.zeros(p))
    for j = 1, p do assert.is_true(math.abs(one.theta[j] + (j <= p // 2 and g[j] or 0)) < 1e-14) end
    local two = run("coordinate_descent", { privacy = false, momentum = 0, rate = 1, output = "last", iterations = 2 })
    local kept = g + obj:gradient(one.theta)
    for j = 1, p do assert.is_true(math.abs(two.theta[j] - (j <= p // 2 and one.theta[j] or -kept[j])) < 1e-14) end
    refused("whole number", run, "coordinate_descent", { blocks = 1.5 })
    refused("blocks must be a number from 1 to below 9, got 9", run, "coordinate_descent", { blocks = 9 })
  end)

  it("finds a clip that does not depend on how generous the objective's is", function()
    local long = data.X * 5
    local raw = pn.data.from(long, data.y):clip_labels(-1, 1)
    local excess = {}
    for i, clip in ipairs { 10, 1000 } do
      local wide = pn.objective { data = raw, loss = pn.loss.logistic(), clip = clip, set = pn.set.l2_ball { dim = p, radius = 2 } }
      local best, sum = pn.solve.exact(pn.objective { data = raw:clip_rows("l2", 6), loss = pn.loss.logistic(),
        set = pn.set.l2_ball { dim = p, radius = 2 } }).value, { 0, 0 }
      for k, name in ipairs { "adaptive_clipping", "heavy_ball" } do
        local plan = solve[name].plan(wide, { epsilon = 2, delta = 1e-8 })
        for seed = 1, 4 do sum[k] = sum[k] + (plan:run { rng = pn.rng.seeded(seed) }.value - best) / 4 end
      end
      excess[i] = sum
    end
    assert.is_true(excess[2][1] < 2 * excess[1][1], "with 1000: " .. excess[2][1] .. ", with 10: " .. excess[1][1])
    assert.is_true(excess[2][1] < 0.2 * excess[2][2], "heavy_ball pays for the clip: " .. excess[2][2])
  end)

  it("sees each record once, or once a pass, and pays once", function()
    local once = run("ftrl", { iterations = 20 }).plan
    assert.truthy(tostring(once):find("shuffled batches of 100", 1, true))
    assert.truthy(tostring(once):find("events%s+1 x gaussian"))
    local passes = run("matrix_factorization_sgd", { iterations = 20, epochs = 4 }).plan
    assert.truthy(tostring(passes):find("shuffled batches of 400", 1, true))
    local all = run("ftrl", { privacy = false, momentum = 0, rate = 1, iterations = 1, output = "last" })
    assert.is_true((all.theta + obj:gradient(pn.vec.zeros(p))):norm() < 1e-12)
  end)
end)
