-- 12_saddle_points.lua -- the lesson on second derivatives: gradient descent that stands still at a saddle, negative curvature,
-- what one record moves in a Hessian, how its noise makes saddles of its own, and private certificates.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

-- Measurements that have lost their sign: each label is <x, truth>^2.
local function signless()
  local truth = pn.vec { 1, -0.5 }
  local rows = pn.data.synthetic.lasso { n = 50000, p = 2, sparsity = 1, noise = 0.1, seed = 3 }:clip_rows("l2", 1)
  local z = rows.X * truth
  local data = pn.data.from(rows.X, z * z):clip_rows("l2", 1):clip_labels(0, 4)
  local loss = pn.loss.glm(function(margin, y)
    local u = margin ^ 2 - y
    return u ^ 2 / (1 + u ^ 2)
  end, { name = "sign-free" })
  return pn.objective { data = data, loss = loss, reg = pn.reg.l2(0.01) }, truth
end

-- Steps of plain gradient descent from theta until the objective is below 0.15, or nil after 500.
local function steps_until_low(obj)
  return function(theta)
    for k = 0, 500 do
      if obj:value(theta) < 0.15 then return k end
      theta = theta - 0.5 * obj:gradient(theta)
    end
  end
end

-- The least eigenvalue of a symmetric 2 x 2 matrix.
local function least(a, b, c)
  return (a + c) / 2 - ((a - c) ^ 2 / 4 + b * b) ^ 0.5
end

-- The mean least eigenvalue, over 2000 draws, of a 2 x 2 matrix of 0 with isotropic noise sigma.
local function ghost(source)
  return function(sigma)
    local sum = 0
    for _ = 1, 2000 do
      local e = pn.vec.normal(3, source)
      sum = sum + least(sigma * e[1], sigma * e[2] / 2 ^ 0.5, sigma * e[3])
    end
    return sum / 2000
  end
end

local function landscape(env)
  local z, x = {}, pn.vec.linspace(-1.5, 1.5, 31)
  for i = 1, 31 do
    z[i] = {}
    for j = 1, 31 do z[i][j] = env.obj:value(pn.vec { x[j], x[i] }) end
  end
  pn.plot.heat { z = z, x = x, y = x, title = "The objective", xlabel = "theta_1", ylabel = "theta_2" }
end

local function check_step(env)
  local t, want = env.t, 2 * 0.432 / 3
  if near(t, want, 2e-3) then return true end
  if type(t) ~= "number" then return false, t == nil and "t is still to come" or "t should be a number" end
  if near(t, 0.432 / 3, 2e-3) then return false, "half of it: the derivative of M t^3/6 is M t^2/2" end
  if near(t, -want, 2e-3) then return false, "a length is positive; the sign went into the direction" end
  if near(t, 3 * 0.432 / 3, 2e-3) then return false, "there the bound is 0 again: nothing is gained" end
  return false, "set the derivative of lambda t^2/2 + M t^3/6 to 0"
end

local function check_sensitivity(env)
  local convex, either = env.convex, env.either
  local a, n = 0.25, 50000
  if not convex then return false, "convex is still to come" end
  if not either then return false, "either is still to come" end
  if near(convex, 2 ^ 0.5 * a / n, 1e-9) and near(either, 2 * a / n, 1e-9) then return true end
  if near(convex, 2 * a / n, 1e-9) then
    return false, "convex: valid, but too much. Of two positive semidefinite matrices neither can be minus the other"
  end
  if near(convex, a / n, 1e-9) then return false, "convex: a record is replaced, so one matrix goes and another comes" end
  if near(convex, 2 ^ 0.5 * a / n, 1e-9) then
    return false, "convex is right. With slopes of either sign the two matrices may lie on one line"
  end
  return false, "convex: how long is diag(a, -a), the difference for two orthogonal records, in Frobenius norm? Then divide by n"
end

local function check_fit(env)
  local flaw = kit.flaw(env.fit, { epsilon = 1, delta = 1e-8 })
  if flaw then return false, flaw end
  local fine, certificate = pcall(function() return env.fit.certificate end)
  if not (fine and certificate) then return false, "it has no certificate: it never looked at a Hessian" end
  if certificate.status ~= "certified" then return false, "it used up its steps without a certificate; once more, or more steps" end
  if certificate.gradient_norm > 0.1 or certificate.eigenvalue < -0.6 then
    return false, ("it certifies a gradient of at most %.3f and an eigenvalue of at least %.3f only: the saddle passes, too")
      :format(certificate.gradient_norm, certificate.eigenvalue)
  end
  return true
end

return {
  name = "saddle_points",
  title = "Saddle points",
  minutes = 12,
  about = "Where gradients vanish and nothing is solved, and how to leave it privately.",
  source = "Gao, Wright (2023), Differentially private optimization for smooth nonconvex ERM; Wright, Recht (2022); "
    .. "Jin et al. (2017)",
  setup = function(env)
    env.obj, env.truth = signless()
    env.wait, env.ghost = steps_until_low(env.obj), ghost(pn.rng.seeded(6))
    env.short = { epsilon = 1, delta = 1e-8, tolerance = { gradient = 0.04, hessian = 0.1 }, smoothness = 4, hessian_lipschitz = 3,
      iterations = 60 }
  end,
  steps = {
    { id = "stuck", text = [[
50,000 synthetic measurements y = <x, theta>^2: they have lost their sign.
Which theta made them? `obj` measures the misfit; `truth` is the answer.

Gradient descent from 0, without any noise, 60 steps:]],
      code = [[
stuck = solve.gradient_descent(obj, {privacy=false, step=0.5,
  iterations=60})
stuck.theta, stuck.value, obj:value(truth)]], check = kit.looked "stuck" },

    { id = "why", text = [[
It has not moved. 0.289 is far above 0.006, and no step would ever have been
taken. If theta fits, then so does -theta, and half-way between the two the
gradient is 0 by symmetry:]],
      code = [[
zero = vec{0, 0}
obj:gradient(zero):norm(), obj:value(truth), obj:value(-truth)]], check = kit.looked "zero" },

    { id = "picture", text = [[
The landscape has two valleys, and between them a pass. A stopping rule that
looks at gradients only is content on the pass.]],
      plot = landscape },

    { id = "hessian", text = [[
What it misses is the second derivative. Along a direction p the objective
bends by p^T H p, and the least that this can be is the least eigenvalue of
the Hessian H. second_order_gap(obj, theta) tells it, with its direction.
(From the exact data: nothing for an analyst to see.)]],
      code = [[
gap = second_order_gap(obj, zero)
gap.gradient_norm, gap.eigenvalue, gap.direction]], check = kit.looked "gap" },

    { id = "slow", text = [[
It is -0.432: a strict saddle. A descent that starts a little aside does get
away. wait(theta) counts the steps of gradient descent until the value is
below 0.15. Start 0.1, 10^-3, 10^-6 and 10^-9 off the pass:]],
      code = [[
for _, far in ipairs{0.1, 1e-3, 1e-6, 1e-9} do
  print(far, wait(far * gap.direction))
end]] },

    { id = "step", text = [[
It takes 10, 33, 69 and 104 steps: each factor of 1000 costs another 35 or so,
since a step multiplies the distance by 1 + 0.5 x 0.432 only. Nothing in the
gradients says that it will end.

So use the direction. For a step t along it (signed such that the gradient
does not object), f changes by at most lambda t^2/2 + M t^3/6, where M bounds
how fast the Hessian changes.]],
      ask = [[
Set `t` to the step that is best by this bound, for lambda = -0.432 and, say,
M = 3.]],
      answer = [[
t = 2 * 0.432 / 3]],
      wrong = { [[t = 0.432 / 3]], [[t = 3 * 0.432 / 3]], [[t = -2 * 0.432 / 3]] },
      hint = { "The derivative is lambda t + M t^2/2.", "2 |lambda| / M" },
      check = check_step },

    { id = "jump", text = [[
The best step is 0.288. The bound promises a decrease of
2 |lambda|^3 / (3 M^2) = 0.006:]],
      code = [[
there = t * gap.direction
obj:value(zero) - obj:value(there), wait(there)]], check = kit.looked "there" },

    { id = "moves", text = [[
It decreased by as much as 0.019, and four steps of gradient descent do the
rest, which took 104 from 1e-9 and would never end from 0.

Now privately. The Hessian of a record is a x x^T, a the second derivative of
its loss; say |a| <= 1/4 and ||x|| <= 1. Noise on a matrix hides a change in
Frobenius norm. How far can replacing one of n = 50,000 records move the mean
of these? It depends: where losses are convex, every a is at least 0.]],
      ask = [[
Set `convex` to the largest change for convex losses, and `either` to that
for losses that bend either way.]],
      answer = [[
convex, either = sqrt(2) * 0.25 / 50000, 2 * 0.25 / 50000]],
      wrong = {
        [[convex, either = 2 * 0.25 / 50000, 2 * 0.25 / 50000]],
        [[convex, either = 0.25 / 50000, 2 * 0.25 / 50000]],
        [[convex, either = sqrt(2) * 0.25 / 50000, sqrt(2) * 0.25 / 50000]],
      },
      hint = { "Old minus new. For a >= 0 the worst are two orthogonal records: the difference is diag(a, -a).",
        "sqrt(2) a/n for the one; with a and -a on the same x, 2 a/n for the other." },
      check = check_sensitivity },

    { id = "ghosts", text = [[
Neither of them depends on the dimension. But noise on a matrix has
eigenvalues of its own. ghost(sigma) adds it to a Hessian that is 0, so no
saddle at all, and tells the least eigenvalue that is then seen, on average:]],
      code = [[
ghost(0.05), ghost(0.5)]] },

    { id = "threshold", text = [[
The noise makes saddles out of nothing, for large d about sqrt(2 d) sigma
deep. So a released eigenvalue should count only below a threshold that the
noise hardly reaches. That is the whole method (Gao, Wright):

  release a gradient; if it is long, step along it;
  if it is short, release a Hessian; if its least eigenvalue is below the
  threshold, step along that direction; else stop, and certify.]] },

    { id = "run", text = [[
`short` holds the options: epsilon = 1, delta = 1e-8, tolerances 0.04 for
gradients, 0.1 for eigenvalues. Step lengths rest on claimed constants, and
privacy does not. Seeded, so a simulation:]],
      code = [[
plan = solve.second_order.plan(obj, short)
sim = plan:run{rng=rng.seeded(1)}
for _, row in ipairs(sim.trace) do
  print(row.step, row.kind, row.gradient_norm, row.eigenvalue or "")
end]], defines = { "plan", "sim" } },

    { id = "certificate", text = [[
The first step already leaves the saddle: the eigenvalue that was released,
-0.54, said that 0 is no solution. After 13 steps it is done. The certificate
says what holds with probability 0.9, given how large the noise can be. The
exact values (raw) beside it, and what was paid:]],
      code = [[
c, g = sim.certificate, second_order_gap(obj, sim.theta)
print(c.gradient_norm, g.gradient_norm)
print(c.eigenvalue, g.eigenvalue)
print(sim.privacy.charged_epsilon, sim.privacy.nominal_epsilon)]], defines = { "c", "g" } },

    { id = "train", text = [[
0.359 of epsilon = 1 was charged: a run pays for what it released, and this
one ended early. (Whether it ends depends on released numbers only.)

A warning. Without tolerances the plan aims at twice its typical noise. With
G and M as certified here that is so coarse that the saddle itself passes: a
certificate of a gradient below 0.2 or so and eigenvalues above -2. It is
true, and says nothing. Read certificates.]],
      ask = [[
Train for real: `fit` at epsilon = 1, delta = 1e-8, with a certificate of a
gradient of at most 0.1 and no eigenvalue below -0.6.]],
      answer = [[
fit = solve.second_order(obj, short)
print(fit)]],
      wrong = {
        [[fit = solve.second_order(obj, {epsilon=1, delta=1e-8})]],
        [[fit = solve.gradient_descent(obj, {epsilon=1, delta=1e-8, iterations=60})]],
        [[fit = sim]],
      },
      hint = { "The options of the simulated run, without its rng.", "solve.second_order(obj, short)" },
      check = check_fit },

    { id = "noisy", text = [[
Is it needed? The noise of private gradient descent pushes it off a saddle,
too. Spend the same budget without a Hessian:]],
      code = [[
noisy = solve.gradient_descent(obj, {epsilon=1, delta=1e-8, step=0.5,
  iterations=60, output="last", rng=rng.seeded(1)})
noisy.value, noisy.theta]], check = kit.looked "noisy" },

    { id = "end", text = [[
It arrives, too. The difference is in what you know afterwards. The more
records, the less noise, and the longer gradients linger at a saddle (you saw
how: about 35 steps for each factor of 1000). And a run of gradients never
says that it arrived; a released Hessian, with its error bound, does.]] },
  },
}
