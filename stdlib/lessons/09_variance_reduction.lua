-- 09_variance_reduction.lua -- the lesson on fewer gradients: the floor of stochastic gradients, the snapshot that removes it, what
-- one record moves in a difference of gradients, and private SVRG in its anchored and its printed form.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

local function logistic(n)
  return pn.data.synthetic.logistic { n = n, p = 20, seed = 1 }:clip_rows("l2", 1)
end

local function objective(d)
  return pn.objective { data = d, loss = pn.loss.logistic(), reg = pn.reg.l2(0.25 / 99) }
end

-- Four objectives that part the first 200 records, and the one of all 200.
local function parts()
  local d, made = logistic(200), {}
  local X, y = d.X, d.y
  for k = 1, 4 do
    local rows, labels = {}, {}
    for i = 1, 50 do rows[i], labels[i] = X[50 * (k - 1) + i], y[50 * (k - 1) + i] end
    made[k] = objective(pn.data.from(pn.mat(rows), labels):clip_rows("l2", 1))
  end
  return made, objective(d)
end

-- direction(x, y, v, batch) is v at x = y, and its mean over a partition is the gradient of all.
local function check_direction(env)
  if not env.direction then return false, "direction is still to come" end
  local batches, all = parts()
  local source = pn.rng.seeded(12)
  local x, y = source:sphere(20), source:sphere(20)
  local v, mean = all:gradient(y), pn.vec.zeros(20)
  for _, batch in ipairs(batches) do
    local ok, g = pcall(env.direction, x, y, v, batch)
    if not ok then return false, "direction raises an error: " .. tostring(g) end
    if not pcall(function() mean:axpy(0.25, g) end) then return false, "direction should return a vector as long as x" end
  end
  local right = all:gradient(x)
  if (mean - right):norm() > 1e-9 then
    if (mean - (2 * v - right)):norm() < 1e-9 then return false, "the sign of the difference: it leads from y to x" end
    return false, "the mean over all batches is not the gradient at x"
  end
  if (env.direction(y, y, v, batches[1]) - v):norm() > 1e-9 then
    return false, "right on average, but at x = y it should be exactly v, whatever the batch"
  end
  return true
end

local function check_moves(env)
  local far, close = env.far, env.close
  if not (far and close) then return false, (far and "close" or "far") .. " is still to come" end
  if near(far, 0.08, 1e-6) and near(close, 2e-4, 1e-7) then return true end
  if near(far, 0.04, 1e-6) then return false, "a difference has two gradients of the record, at x and at y, and both may move" end
  if not near(far, 0.08, 1e-6) then
    return false, "far: the record's difference is at most 2 G long, before it and after it is replaced"
  end
  if near(close, 1e-4, 1e-7) then return false, "close: replaced, the record's difference can go from one end to the other" end
  return false, "close: the length of one record's difference is at most L ||x - y|| there"
end

local function check_count(env)
  local n, T, m, b = 10000, env.plan.settings.epochs, env.plan.settings.inner, env.plan.settings.batch
  local c = env.count
  if near(c, T * (n + 2 * m * b), 0.5) then return true end
  if near(c, T * (n + m * b), 0.5) then return false, "each record of a batch is evaluated twice, at x and at the snapshot" end
  if near(c, T * n + 2 * m * b, 0.5) then return false, "every epoch has its inner steps" end
  if near(c, T * (n + 2 * m), 0.5) then return false, "an inner step takes a batch, not one record" end
  return false, "an epoch takes n for the snapshot, and m steps of b records"
end

local function check_fit(env)
  local flaw = kit.flaw(env.fit, { epsilon = 1, delta = 1e-9 })
  if flaw then return false, flaw end
  local gradients = env.fit.gradients
  if gradients > 10 * 10000 then return false, ("it evaluated %.3g n gradients"):format(gradients / 10000) end
  if gradients < 20000 or env.fit.plan.objective.n ~= 10000 then return false, "that has hardly looked at obj's records" end
  return true
end

-- Excess risk without noise against gradients / n.
local function exact_curves()
  local obj = objective(logistic(10000))
  local best = pn.solve.exact(obj, { tol = 1e-12 }).value
  local function curve(label, solver, key, values, options)
    local x, y = {}, {}
    for k, value in ipairs(values) do
      local o = { privacy = false, rng = solver ~= "gradient_descent" and pn.rng.seeded(1) or nil, [key] = value }
      for name, option in pairs(options) do o[name] = option end
      local fit = pn.solve[solver](obj, o)
      x[k], y[k] = fit.gradients / obj.n, math.max(fit.value - best, 1e-12)
    end
    return { x = x, y = y, label = label }
  end
  pn.plot.line { curve("sgd", "sgd", "iterations", { 500, 1000, 2000, 5000, 10000, 14000 },
      { batch = 10, step = 1, output = "last" }),
    curve("gradient descent", "gradient_descent", "iterations", { 1, 2, 4, 7, 10, 14 }, {}),
    curve("svrg", "svrg", "epochs", { 1, 2, 3, 4, 5, 6 }, { inner = 400, batch = 10 }),
    title = "Without privacy", xlabel = "gradients / n", ylabel = "excess risk", logy = true }
end

-- The same at epsilon = 1: mean of three simulated runs.
local function private_curves()
  local obj = objective(logistic(10000))
  local best = pn.solve.exact(obj, { tol = 1e-12 }).value
  local function curve(label, solver, key, values, options)
    local x, y = {}, {}
    for k, value in ipairs(values) do
      local o = { epsilon = 1, delta = 1e-9, [key] = value }
      for name, option in pairs(options) do o[name] = option end
      local plan, mean = pn.solve[solver].plan(obj, o), 0
      for seed = 1, 3 do mean = mean + (plan:run { rng = pn.rng.seeded(seed) }.value - best) / 3 end
      x[k], y[k] = plan.gradients / obj.n, mean
    end
    return { x = x, y = y, label = label }
  end
  pn.plot.line { curve("gradient descent", "gradient_descent", "iterations", { 5, 10, 20, 40, 80, 158 }, {}),
    curve("svrg", "svrg", "epochs", { 1, 2, 3 }, { accountant = "rdp", inner = 149, batch = 64 }),
    title = "epsilon = 1, delta = 1e-9", xlabel = "gradients / n", ylabel = "excess risk", logx = true, logy = true }
end

return {
  name = "variance_reduction",
  title = "Variance reduction",
  minutes = 15,
  about = "Why stochastic gradients get stuck, and how a snapshot frees them.",
  source = "Johnson, Zhang (2013); Wang, Ye, Xu (2017), Algorithms 1 and 2",
  setup = function(env)
    env.d = logistic(10000)
    env.obj = objective(env.d)
    env.exact = pn.solve.exact(env.obj, { tol = 1e-12 })
    env.best = env.exact.value
  end,
  steps = {
    { id = "floor", text = [[
A gradient of all records is right and expensive: n evaluations. A gradient
of ten is cheap and wrong. `obj` is a logistic loss over 10,000 synthetic
records with a little l2 regularisation; its curvature varies by a factor of
up to 100. `best` is its minimum.

No privacy yet. Stochastic gradient descent on batches of 10, for 1, 5 and 20
times n gradients in all, and the excess over the minimum:]],
      code = [[
for _, T in ipairs{1000, 5000, 20000} do
  fit = solve.sgd(obj, {privacy=false, iterations=T, batch=10, step=1,
    output="last", rng=rng.seeded(1)})
  print(fit.gradients / d.n, fit.value - best)
end]], defines = { "fit" } },

    { id = "why", text = [[
The excess is 0.0045, 0.0035 and 0.0032: twenty times the work hardly lowers
it. A shorter step lowers that floor, and is slower. Where does it come from?
At the minimum the mean of all gradients is 0. Those of single records are
not. Record i's gradient is factor_i x_i with ||x_i|| = 1 here, so the mean
square is quickly had:]],
      code = [[
f = obj:factors(exact.theta)
f:dot(f) / d.n]], check = kit.looked "f" },

    { id = "difference", text = [[
It is 0.18, at the very point where we want to stand still. Now compare each
record with itself at a nearby point y: the change of its gradient.]],
      code = [[
for _, far in ipairs{1, 0.1, 0.01} do
  y = exact.theta + far * rng.seeded(2):sphere(20)
  change = f - obj:factors(y)
  print(far, change:dot(change) / d.n)
end]], defines = { "y", "change" } },

    { id = "direction", text = [[
At a tenth of the distance it is a hundred times smaller. So take v, the
gradient of all at a snapshot y, once. Then step along v plus a batch's change
since y. On average over batches that is the gradient at x, and near y it
hardly varies: SVRG (Johnson, Zhang 2013).]],
      ask = [[
Write the function `direction`(x, y, v, batch). A batch is an objective of
its own: batch:gradient(x) is its mean gradient.]],
      answer = [[
function direction(x, y, v, batch)
  return batch:gradient(x) - batch:gradient(y) + v
end]],
      wrong = {
        [[function direction(x, y, v, batch) return batch:gradient(x) end]],
        [[function direction(x, y, v, batch) return batch:gradient(y) - batch:gradient(x) + v end]],
        [[function direction(x, y, v, batch) return batch:gradient(x) + v end]],
      },
      hint = { "The change of the batch's gradient since y, plus v.",
        "batch:gradient(x) - batch:gradient(y) + v" },
      check = check_direction },

    { id = "svrg", text = [[
Each epoch takes a new snapshot where the last one ended, and 400 steps on
batches of 10 from there. One, two and four epochs:]],
      code = [[
for _, T in ipairs{1, 2, 4} do
  fit = solve.svrg(obj, {privacy=false, epochs=T, inner=400, batch=10,
    rng=rng.seeded(1)})
  print(fit.gradients / d.n, fit.value - best)
end]], defines = { "fit" } },

    { id = "picture", text = [[
After 7.2 n gradients the excess is below 1e-10. There is no floor: as x and
y come together, the variance goes. Gradient descent has none either, but
14 n gradients are only 14 steps.]],
      plot = exact_curves },

    { id = "step-length", text = [[
A word on the constant. Wang, Ye, Xu ask for eta <= 1/(12 L). Their own
condition, with a = eta L and L/mu = 100 here, is that the factor of an epoch
is below 1/2:]],
      code = [[
function factor(a, m)
  return 100 / (a * (1 - 8*a) * m) + 8*a * (m + 1) / ((1 - 8*a) * m)
end
factor(1/12, 1e9), factor(1/24, 1e9), factor(1/48, 19201)]], check = kit.looked "factor" },

    { id = "moves", text = [[
At 1/12 no number of steps suffices; eta must be below 1/(24 L), and 1/(48 L)
needs m > 192 L/mu. In practice 1/(4 L) works, with no claim.

Now privacy. Every record's gradient is at most G = 1 long, so replacing a
record moves v by 2G/n. And the batch's mean change? A record's own change is
at most 2G long, and at most L ||x - y||, whichever is less.]],
      ask = [[
A batch of 50, and the record is in it. How far can replacing it move the
mean change? Set `far` for x far from y, `close` for ||x - y|| = 0.02. G = 1,
L = 0.25.]],
      answer = [[
far, close = 2 * 2 / 50, 2 * 0.25 * 0.02 / 50]],
      wrong = {
        [[far, close = 2 / 50, 0.25 * 0.02 / 50]],
        [[far, close = 4 / 50, 0.25 * 0.02 / 50]],
        [[far, close = 4 / 50, 4 / 50]],
      },
      hint = { "One record's change has length at most t = min(2 G, L ||x - y||); it may turn from one end to the other.",
        "2 t / 50, with t = 2 for the one and t = 0.25 * 0.02 for the other." },
      check = check_moves },

    { id = "forms", text = [[
So near the snapshot a step needs 400 times less noise. But v is in every
step, too, and v moves by 2G/n whether the record is in the batch or not. The
article adds fresh noise to the whole direction, so v pays T m times: the
printed form. The anchored form releases v once an epoch, with noise, and
then only changes. Same budget, same steps:]],
      code = [[
for _, form in ipairs{"printed", "anchored"} do
  o = {epsilon=1, delta=1e-9, epochs=2, inner=149, batch=64, form=form}
  o.accountant, o.rng = "rdp", rng.seeded(1)
  print(form, solve.svrg(obj, o).value - best)
end]], defines = { "o" } },

    { id = "count", text = [[
The excess is 0.047 in the printed form and 0.0019 in the anchored one, which
is the default. Each record's change is clipped to the length that is paid
for, so that a wrong L biases the answer, and leaks nothing.

And the work? `plan` below is the default plan at this budget.]],
      code = [[
budget = {epsilon=1, delta=1e-9, accountant="rdp"}
plan = solve.svrg.plan(obj, budget)
plan.settings.epochs, plan.settings.inner, plan.settings.batch]], check = kit.looked("budget", "plan") },

    { id = "gradients", text = [[
T = 2 epochs, m = 149 inner steps, batches of b = 64. Count evaluations of
one record's gradient at one point: the measure in which methods are
compared.]],
      ask = [[
Set `count` to the number of gradients that this plan evaluates; n is 10,000.]],
      answer = [[
count = 2 * (10000 + 2 * 149 * 64)
print(count, plan.gradients)]],
      wrong = {
        [[count = 2 * (10000 + 149 * 64)]],
        [[count = 2 * (10000 + 2 * 149)]],
        [[count = 2 * 149 * 64]],
      },
      hint = { "An epoch: n for the snapshot, then m steps, each with b records at two points.",
        "T (n + 2 m b)" },
      check = check_count },

    { id = "compare", text = [[
That is 5.8 n. Compare other solvers at the same budget, by their default
plans:]],
      code = [[
for _, name in ipairs{"gradient_descent", "sgd", "svrg"} do
  p = solve[name].plan(obj, {epsilon=1, delta=1e-9})
  fit = p:run{rng=rng.seeded(2)}
  print(name, p.gradients / d.n, fit.value - best)
end]], defines = { "p", "fit" } },

    { id = "private-picture", text = [[
One run says little about such small differences. Means of three runs, and
gradient descent with fewer steps, too (which nobody could have chosen by
looking, as looking is not private):]],
      plot = private_curves },

    { id = "train", text = [[
The same risk for a fraction of the gradients, where the problem is badly
conditioned. With few gradients needed anyway, or n epsilon small, there is
little to save.]],
      ask = [[
Train `fit` on obj at epsilon = 1, delta = 1e-9, with at most 10 n gradients.]],
      answer = [[
fit = solve.svrg(obj, {epsilon=1, delta=1e-9})
print(fit)
print(fit.gradients / d.n)]],
      wrong = {
        [[fit = solve.gradient_descent(obj, {epsilon=1, delta=1e-9})]],
        [[fit = solve.svrg(obj, {epsilon=1, delta=1e-9, rng=rng.seeded(1)})]],
        [[fit = solve.svrg(obj, {privacy=false, epochs=2})]],
      },
      hint = { "plan.gradients tells before anything is spent. Whose default was below 10 n?",
        "solve.svrg(obj, {epsilon=1, delta=1e-9})" },
      check = check_fit },

    { id = "end", text = [[
Without strong convexity there is SVRG++ (`solve.svrg_pp`): every epoch has
twice the steps of the one before, and goes on from its last point.

To remember: variance that comes from comparing records with each other can be
removed by comparing each with itself. And what one record can move shrinks
along with it, so that the noise of privacy fades as the run converges.]] },
  },
}
