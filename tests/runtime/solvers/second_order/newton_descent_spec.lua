-- newton_descent_spec.lua -- private Newton where a Hessian says nothing of what follows: huber beyond delta, softmax at the start,
-- Poisson, clipped squares. What it comes to falls with epsilon, is never above the start, and has a plan at any epsilon.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal
local tier = require "tests.tools.tier"
local law = tier.law(it)

local solve, loss = pn.solve.newton, pn.loss
local n, p = 4000, 5

-- Rows in the unit ball, their last entry 1/2; z = <x, 4 w> of a fixed w, plus a little noise.
local function records(label)
  local X, y, rng = pn.mat.zeros(n, p), pn.vec.zeros(n), pn.rng.seeded(3)
  local w = {2, -1.5, 1, 0.5, 0.8}
  for i = 1, n do
    local x, z = pn.vec.normal(p, rng), 0
    x[p] = 2
    x = x * 0.25
    for j = 1, p do z = z + 2 * w[j] * x[j] end
    X[i]:axpy(1, x)
    y[i] = label(z, i)
  end
  return pn.data.from(X, y):clip_rows("l2", 1)
end

local function sign(z) return z >= 0.6 and 1 or -1 end
local signs = records(sign):clip_labels(-1, 1)
local reals = records(function(z) return math.max(-1, math.min(1, 0.4 * z)) end):clip_labels(-1, 1)
local counts = records(function(z) return math.floor(math.exp(math.min(z, 1.5))) end):clip_labels(0, 5)
local classes = records(function(z, i) return i % 40 == 0 and 4 or z < -0.5 and 1 or z < 2 and 2 or 3 end)

local problems = {
  ["huber, all residuals beyond delta"] = {data = signs, loss = loss.huber {delta = 0.2}},
  ["logistic"] = {data = signs, loss = loss.logistic()},
  ["smooth hinge"] = {data = signs, loss = loss.smooth_hinge()},
  ["softmax of unequal classes"] = {data = classes, loss = loss.softmax {classes = 4}},
  ["squared with clip"] = {data = reals, loss = loss.squared(), clip = 1},
  ["squared over a ball"] = {data = reals, loss = loss.squared(), set = pn.set.l2_ball {dim = p, radius = 5}},
  ["poisson over a ball"] = {data = counts, loss = loss.poisson(), set = pn.set.l2_ball {dim = p, radius = 3}},
}

local seeds = 20

-- Mean and standard error of the logarithm of what runs come to above the minimum.
local function excess(obj, judge, minimum, budget)
  local sum, squares, plan = 0, 0, solve.plan(obj, budget)
  for seed = 1, seeds do
    local over = judge:value(plan:run {rng = pn.rng.seeded(seed), progress = false}.theta) - minimum
    local log = math.log(math.max(over, 1e-12))
    sum, squares = sum + log, squares + log ^ 2
  end
  local mean = sum / seeds
  return mean, math.sqrt(math.max(0, squares / seeds - mean ^ 2) / (seeds - 1))
end

describe("newton", function()
  for name, parts in pairs(problems) do
    law("comes nearer to the minimum with more budget: " .. name, function()
      local obj = pn.objective(parts)
      local judge = pn.objective {data = parts.data, loss = parts.loss, set = parts.set}
      local minimum = judge:value(solve(judge, {privacy = false}).theta)
      local start = judge:value(pn.vec.zeros(p * (name:find "softmax" and 4 or 1))) - minimum
      for _, neighbours in ipairs {"replace_one", "zero_out"} do
        local before, off = math.log(start), 0
        for _, epsilon in ipairs {0.5, 5, 50} do
          local mean, error = excess(obj, judge, minimum, {epsilon = epsilon, delta = 1e-7, neighbours = neighbours})
          -- Tenfold budgets: the means of 20 logarithms lie more than eight standard errors apart, which Student's t with 19
          -- degrees exceeds with probability 1e-7 where they are the same.
          assert.is_true(mean + 8 * math.sqrt(error ^ 2 + off ^ 2) < before,
            ("%s, epsilon %g: %g (%g) after %g"):format(neighbours, epsilon, mean, error, before))
          before, off = mean, error
        end
      end
    end)
  end

  it("runs on every loss, set and relation, to below the start", function()
    for name, parts in pairs(problems) do
      local obj = pn.objective(parts)
      local start = obj:value(pn.vec.zeros(p * (name:find "softmax" and 4 or 1)))
      for _, neighbours in ipairs {"replace_one", "zero_out"} do
        local plan = solve.plan(obj, {epsilon = 50, delta = 1e-7, neighbours = neighbours})
        local theta = plan:run {rng = pn.rng.seeded(1), progress = false}.theta
        assert.is_true(obj:value(theta) < start, name)
        assert.is_true(not parts.set or parts.set:contains(theta, 1e-9), name)
      end
    end
  end)

  it("finds the minimum of huber without privacy from where all second derivatives are 0", function()
    local obj = pn.objective {data = signs, loss = loss.huber {delta = 0.2}}
    local fit = solve(obj, {privacy = false})
    assert.equal("converged", fit.stopped)
    local slope = obj:gradient(fit.theta)
    assert.is_true(slope:dot(slope) < 1e-12)
    assert.is_true(obj:value(fit.theta) < 0.7 * obj:value(pn.vec.zeros(p)))
  end)

  it("stays at the start where releases are nothing but noise", function()
    local few = pn.objective {data = records(sign):take(60):clip_labels(-1, 1), loss = loss.huber {delta = 0.2}}
    local plan, stayed, worst = solve.plan(few, {epsilon = 0.05, delta = 1e-5}), 0, 0
    for seed = 1, 40 do
      local theta = plan:run {rng = pn.rng.seeded(seed), progress = false}.theta
      local length = math.sqrt(theta:dot(theta))
      stayed = stayed + (length == 0 and 1 or 0)
      worst = math.max(worst, length)
    end
    -- The noise of a release is some hundred times what a record can add: runs that trusted it would come to that length over an
    -- eigenvalue of at most 1. A step is worth taking by accident only, where the sum of 5 squares is above its mean.
    assert.is_true(stayed >= 5, stayed .. " stayed")
    assert.is_true(worst < 1e4)
  end)

  it("has a plan at any epsilon, which a ledger of its price admits", function()
    local data = pn.data.synthetic.logistic {n = 3000, p = 40, seed = 2}:clip_rows("l2", 1)
    for _, row in ipairs {{"newton", {}}, {"trust_region", {tolerance = {gradient = 0.3}, gap = 1}}} do
      local obj = pn.objective {data = data, loss = loss.logistic()}
      for _, epsilon in ipairs {30, 55, 100, 300, 1000} do
        local options = {epsilon = epsilon, delta = 1e-7}
        for k, v in pairs(row[2]) do options[k] = v end
        local plan = pn.solve[row[1]].plan(obj, options)
        assert.is_true(plan.epsilon <= epsilon)
        assert.is_true(plan:run {ledger = pn.ledger {epsilon = epsilon, delta = 1e-7}}.privacy.private)
      end
    end
  end)
end)

describe("regression with newton", function()
  local function message(f, ...)
    return (refusal(f, ...):gsub("%s+", " "))
  end

  it("is led to a clip where nothing bounds slopes, by what gradients are at the start", function()
    local text = message(solve.plan, pn.objective {data = reals, loss = loss.squared()}, {epsilon = 1, delta = 1e-7})
    assert.truthy(text:find("clip=1,", 1, true), text) -- labels in [-1, 1], unit rows
    local wide = pn.objective {data = reals:clip_labels(-3, 2), loss = loss.squared()}
    assert.truthy(message(solve.plan, wide, {epsilon = 1, delta = 1e-7}):find("clip=", 1, true))
  end)

  it("is warned of a wide set whose slopes drown what is to be found, and of no other", function()
    local function warned(parts, epsilon)
      local plan = solve.plan(pn.objective(parts), {epsilon = epsilon, delta = 1e-7})
      return (tostring(plan):gsub("%s+", " ")):match("give the objective clip=(%S+)")
    end
    local ball = {data = reals, loss = loss.squared(), set = pn.set.l2_ball {dim = p, radius = 10}}
    assert.equal("1", warned(ball, 0.3))
    assert.is_nil(warned(ball, 300))
    assert.is_nil(warned({data = reals, loss = loss.squared(), clip = 1}, 0.3))
    assert.is_nil(warned({data = signs, loss = loss.logistic()}, 0.3))
  end)
end)
