-- 05_noisy_descent.lua -- the lesson on private gradient descent: two gradients give a record away and a fitted model its members;
-- clipping, noise in every step, and why more steps are not better.
-- Depends on: penumbra.  Used by: penumbra.lesson.
local pn = require "penumbra"

local P, MEMBERS = 300, 40

-- 80 people with 300 features each, simulated; who of them is a member, and the model's losses in that order.
local function small()
  local all = pn.data.synthetic.logistic { n = 80, p = P, sparsity = 5, signal = 5, noise = 0.1, seed = 5 }:clip_rows("l2", 1)
  local inside, outside = all:split(0.5, pn.rng.seeded(1))
  local function over(data)
    return pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = P, radius = 100 } }
  end
  return over(inside), over(outside), pn.rng.seeded(3):permutation(80)
end

-- The losses of all 80, shuffled.
local function losses_of(inside, outside, order, theta)
  local a, b, mixed = inside:losses(theta), outside:losses(theta), {}
  for i, k in ipairs(order) do mixed[i] = k <= MEMBERS and a[k] or b[k - MEMBERS] end
  return pn.vec(mixed)
end

-- How many guesses of 80 are right.
local function score_of(order, guess)
  local right = 0
  for i, k in ipairs(order) do right = right + ((guess[i] == true) == (k <= MEMBERS) and 1 or 0) end
  return right
end

local function large()
  local d = pn.data.synthetic.logistic { n = 5000, p = 20, sparsity = 5, signal = 10, noise = 0.05, seed = 5 }
  return pn.objective { data = d:clip_rows("l2", 1), loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 20, radius = 20 } }
end

local function near(x, y, tolerance)
  return type(x) == "number" and math.abs(x - y) <= tolerance
end

local function is_vec(v, n)
  return (pcall(function() return v:dot(pn.vec.zeros(n)) end))
end

local function check_record(env)
  if not is_vec(env.x, P) then return false, "x should be a vector of 300 numbers" end
  local truth = env.obj.data.X[1]
  local off = (env.x - truth):norm()
  if off < 1e-6 then return true end
  if (env.x + truth):norm() < 1e-6 then return false, "that is -x. Mind the sign of the slope, and of the label" end
  if near(env.x:dot(truth) / env.x:norm(), 1, 1e-6) then return false, "the direction is right, the length is not" end
  return false, ("x is off by %.3g in l2 norm"):format(off)
end

local function check_guess(env)
  if type(env.guess) ~= "table" then return false, "guess should be a table of 80 times true or false" end
  for i = 1, 80 do
    if type(env.guess[i]) ~= "boolean" then return false, ("guess[%d] should be true or false"):format(i) end
  end
  local right = env.score(env.guess)
  if right >= 76 then return true end
  return false, ("%d of 80 are right"):format(right)
end

local function check_clip(env)
  if type(env.clip) ~= "function" then return false, "clip should be a function of g and C" end
  local source = pn.rng.seeded(9)
  for k = 1, 8 do
    local g, C = pn.vec.normal(5, source) * (k / 2), 2
    local length, clipped = g:norm(), env.clip(g:copy(), C)
    if not is_vec(clipped, 5) then return false, "clip(g, C) should return a vector as long as g" end
    if length <= C and (clipped - g):norm() > 1e-9 then
      return false, ("A gradient of norm %.3g is within C = 2 and should stay as it is"):format(length)
    elseif clipped:norm() > C + 1e-9 then
      return false, ("A gradient of norm %.3g comes out with norm %.3g, above C = 2"):format(length, clipped:norm())
    elseif length > C and (clipped - g * (C / length)):norm() > 1e-9 then
      return false, "it keeps the bound, but changes the direction, or shrinks more than it must"
    end
  end
  return true
end

local function check_sigma(env)
  local right = pn.calibrate.gaussian { epsilon = 1, delta = 1e-6, sensitivity = 2 / 5000 } * 10
  local s = env.sigma
  if type(s) ~= "number" then return false, "sigma should be a number" end
  if near(s, right, 0.01 * right) then return true end
  if near(s, right / 10, 0.01 * right) then return false, "that pays for one step. There are 100" end
  if near(s, right * 10, 0.1 * right) then return false, "Gaussian costs add in mu^2, so not 100 times as much noise" end
  if near(s, right / 2, 0.01 * right) then return false, "under replace_one a gradient of norm 1 can turn around" end
  return false, ("the noise of each step should be another number than %.4g"):format(s)
end

local function check_walk(env)
  if not (is_vec(env.theta, 20) and type(env.steps) == "number") then return false, "theta and steps are still to come" end
  return env.steps > 0, "the steps themselves are still to come"
end

local function check_fit(env)
  local fine, privacy, theta, plan = pcall(function() return env.fit.privacy, env.fit.theta, env.fit.plan end)
  if not fine or not theta then return false, "fit should be what a solver returned" end
  if not privacy or not privacy.epsilon then return false, "it has no noise and no guarantee" end
  if privacy.simulated then return false, "its noise is seeded, which protects nobody" end
  if privacy.epsilon > 1 + 1e-9 or privacy.delta > 1e-6 * (1 + 1e-9) then return false, "it promises less than (1, 1e-6)" end
  if plan.objective.n ~= 5000 then return false, "it is fitted to other records" end
  if plan.solver ~= "gradient_descent" then return false, ("it comes from %s, not from gradient descent"):format(plan.solver) end
  local excess = env.big:value(theta) - pn.solve.exact(env.big).value
  if excess <= 0.04 then return true end
  return false, ("it is private, and its excess risk %.3g. Other numbers of steps do better"):format(excess)
end

-- Mean excess risk over T, noise seeded.
local function valley(env)
  local best = pn.solve.exact(env.big).value
  local x, y, short, noiseless = { 1, 3, 10, 30, 100, 300, 1000 }, {}, { 1, 3, 10, 30, 100 }, {}
  for i, T in ipairs(x) do
    local options = { epsilon = 1, delta = 1e-6, iterations = T, output = "last", step = 4 }
    y[i] = 0
    for seed = 1, 3 do
      options.rng = pn.rng.seeded(seed)
      y[i] = y[i] + (pn.solve.gradient_descent(env.big, options).value - best) / 3
    end
  end
  for i, T in ipairs(short) do
    noiseless[i] = pn.solve.gradient_descent(env.big, { privacy = false, iterations = T, step = 4 }).value - best
  end
  pn.plot.line { { x = x, y = y, label = "epsilon = 1" }, { x = short, y = noiseless, label = "no noise" },
    logx = true, logy = true, title = "Excess risk after T steps", xlabel = "T", ylabel = "excess risk" }
end

local function setup(env)
  local inside, outside, order = small()
  env.obj, env.big = inside, large()
  local x, rest = inside.data.X, {}
  for i = 2, MEMBERS do rest[i - 1] = x[i]:table() end
  local zero, labels = pn.vec.zeros(P), inside.data.y
  local without = pn.objective { data = pn.data.from(pn.mat(rest), labels:slice(2, MEMBERS):copy()), loss = pn.loss.logistic() }
  env.before, env.after, env.label = inside:gradient(zero), without:gradient(zero), labels[1]
  env.losses_of = function(theta) return losses_of(inside, outside, order, theta) end
  env.score = function(guess) return score_of(order, guess) end
end

return {
  name = "noisy_descent",
  title = "Gradient descent with noise",
  minutes = 15,
  about = "What gradients and fitted models tell about records, and how to pay for every step of a descent.",
  source = "Bassily, Smith, Thakurta (2014); Abadi et al. (2016); Wang, Ye, Xu (2017)",
  setup = setup,
  steps = {
    { id = "setting", text = [[
40 people have 300 features each, of l2 norm 1 in all, and a label -1 or 1. A
logistic model theta is trained on them: loss ln(1 + exp(-y <x, theta>)).

Records never leave the server, only gradients do: means over all people. That
is how "your data stay with you" is often meant. At theta = 0, `before` is the
mean gradient of the 40, and `after` that of 39, once one person has left.]] },

    { id = "gradient", text = [[
The gradient of one person's loss at theta = 0 is -y x / 2. All 300 features
stand in it. The one who left had the label `label`.]],
      ask = "Set `x` to the 300 features of the person who left, from `before`, `after` and `label`.",
      answer = [[g = 40 * before - 39 * after
x = -2 * label * g]],
      wrong = { [[x = before - after]], [[x = 40 * before - 39 * after]], [[x = 2 * label * (40 * before - 39 * after)]],
        [[x = 0]] },
      hint = { "As with salaries: 40 means less 39 means is one person's gradient g.",
        "g = -label * x / 2; solve it for x. A label times itself is 1." },
      check = check_record },

    { id = "leak", text = [[
You have every feature, to the last digit. A gradient is an aggregate like any
other: it has neighbours, and they differ visibly.

Then let us hide the gradients, and publish the final model only. We train it
without noise:]],
      code = [[model = solve.gradient_descent(obj,
  {privacy=false, iterations=2000, step=4})
losses = losses_of(model.theta)]], defines = { "model", "losses" } },

    { id = "members", text = [[
`losses` are the model's losses on 80 people in random order: the 40 whom it
was trained on, and 40 others of the same kind. Who was in the data?
Membership may itself be the secret: they may all be patients. Look at
`losses`. (The count of right answers is score(guess).)]],
      ask = "Make a table `guess` of 80 values, true for members: at least 76 should be right.",
      answer = [[guess = {}
for i = 1, 80 do guess[i] = losses[i] < 0.02 end]],
      wrong = { [[guess = {} for i = 1, 80 do guess[i] = true end]],
        [[guess = {} for i = 1, 80 do guess[i] = losses[i] < 0.7 end]],
        [[guess = {} for i = 1, 80 do guess[i] = losses[i] > 0.02 end]], [[guess = {true, false}]] },
      hint = { "A model that has learned its records by heart has small losses on them.",
        "Compare losses[i] with a threshold: sort them and look for the gap, between 0.01 and 0.03." },
      check = check_guess },

    { id = "both", text = [[
One comparison gets all 80 right: the largest loss of a member is 0.009, the
smallest of the others 0.029. So both leak, the gradients on the way and the
final model. What has to be bounded is the influence of one person on every
step.]] },

    { id = "unbounded", text = [[
The gradient of a logistic loss is as long as the record at most. Here records
have norm 1; in real data one of norm 1000 turns up, and moves the mean 1000
times as far. Noise for that would bury everything.

So long gradients are scaled down to a length C, the others left as they are:
clipping (Abadi et al. 2016). Here clip_rows has bounded the records, and so
the gradients.]],
      ask = "Write a function `clip(g, C)`: the vector g itself when its l2 norm is at most C, and g scaled down to norm C "
        .. "otherwise.",
      answer = [[function clip(g, C)
  return g * min(1, C / g:norm())
end]],
      wrong = { [[function clip(g, C) return g * (C / g:norm()) end]], [[function clip(g, C) return g end]],
        [[function clip(g, C) return clamp(g, -C, C) end]], [[function clip(g, C) return g * 0 end]] },
      hint = { "The factor is C / g:norm() for long ones, and 1 for the others.", "min(1, C / g:norm())" },
      check = check_clip },

    { id = "sigma", text = [[
`big` is an objective with 5000 people and gradients of norm 1 at most. One of
them replaced moves the mean gradient by at most 2/5000. Gaussian noise in
every step, 100 steps: costs add as mu^2 = (Delta / sigma)^2, so 100 steps
with sigma cost what one step costs with sigma / 10.]],
      ask = "Set `sigma` to the noise in each of 100 steps for which all of them together are (1, 1e-6)-private.",
      answer = [[one = calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=2/5000}
sigma = one * sqrt(100)]],
      wrong = { [[sigma = calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=2/5000}]],
        [[sigma = calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=1/5000} * 10]],
        [[sigma = calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=2/5000} * 100]] },
      hint = { "calibrate.gaussian gives sigma for one release; its sensitivity is 2/5000.", "For T releases, times sqrt(T)." },
      check = check_sigma },

    { id = "by-hand", text = [[
Private gradient descent, by hand: a step along the noisy mean gradient, as
long as the ledger covers one more.]],
      code = [[m = mechanism.gaussian{sigma=sigma, sensitivity=2/5000, dim=20}
L = pn.ledger{epsilon=1, delta=1e-6, filter="gaussian"}
theta, steps = vec.zeros(20), 0
while L:covers(m.event) do
  theta = theta - 4 * m:release(big:gradient(theta), {ledger=L})
  steps = steps + 1
end]], defines = { "m", "L", "theta", "steps" }, check = check_walk },

    { id = "excess", text = [[
The ledger allowed 99 steps, where real numbers would have allowed 100:
rounding to the lattice is charged. How good is theta? The owner of the data
may compare with the best model there is; the start, theta = 0, has an excess
risk of 0.334.]],
      code = [[excess = big:value(theta) - solve.exact(big).value]], defines = { "excess" } },

    { id = "valley", text = [[
The excess is near 0.02. Without noise, more steps are always better. With a
budget, every further step makes all of them noisier: sigma grows as sqrt(T).
Excess risk against T (seeded noise, means of three runs; each run costs
epsilon = 1):]], plot = valley },

    { id = "optimum", text = [[
With few steps the descent does not arrive; with many, noise drowns the
gradient. The best T lies between, and one must not search for it with the
data: every look costs. A plan predicts from public numbers, and spends
nothing.]],
      code = [[plan = solve.gradient_descent.plan(big, {epsilon=1, delta=1e-6})]], defines = { "plan" } },

    { id = "train", text = [[
Type `plan` to see its steps, noise and prediction, a reason for each. Now the
real thing, as you would do it in earnest.]],
      ask = "Set `fit` to a fit of `big` by gradient descent that is (1, 1e-6)-private, with noise that nobody knows, and has "
        .. "an excess risk of at most 0.04.",
      answer = [[fit = plan:run()]],
      wrong = { [[fit = solve.gradient_descent(big, {privacy=false})]],
        [[fit = solve.gradient_descent(big, {epsilon=1, delta=1e-6, iterations=3})]],
        [[fit = solve.gradient_descent(big, {epsilon=1, delta=1e-6, rng=rng.seeded(1)})]],
        [[fit = solve.gradient_descent(big, {epsilon=5, delta=1e-6})]] },
      hint = { "A plan knows how to run: help \"pn.plan:run\".", "plan:run(), or solve.gradient_descent with its default T." },
      check = check_fit },

    { id = "attack-again", text = [[
And the 40 people? They get the same protection; but 40 people cannot drown
the noise that hides one of them, so nothing can be learned from them. The
attack, with the best threshold it could have (the score of random guesses is
40):]],
      code = [[private = solve.gradient_descent(obj,
  {epsilon=1, delta=1e-4, iterations=50})
losses, best = losses_of(private.theta), 0
for k = 1, 400 do
  for i = 1, 80 do guess[i] = losses[i] < k / 100 end
  best = max(best, score(guess))
end]], defines = { "private", "losses", "best" } },

    { id = "end", text = [[
The score is about 45, and only in hindsight: the best of all thresholds on
losses that say nothing gets that far, too. At epsilon = 1 no attack on one
person can be right with more than exp(1) / (1 + exp(1)) = 73 percent (and
delta).

A gradient is an answer to be paid for. Clip to bound one person's part, add
noise to every step, count all steps, and choose their number beforehand. With
small random batches each step is cheaper still: `help "solve.sgd"`.]] },
  },
}
