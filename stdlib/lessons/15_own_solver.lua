-- 15_own_solver.lua -- the lesson on private optimizers of one's own: five lines that ask for gradients, a plan before anything is
-- spent, what is refused, momentum, and a run that stops when it hears nothing but noise.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local asked = { epsilon = 1, delta = 1e-6 }

local function large()
  local d = pn.data.synthetic.logistic { n = 5000, p = 20, sparsity = 5, signal = 10, noise = 0.05, seed = 5 }
  return pn.objective { data = d:clip_rows("l2", 1), loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 20, radius = 20 } }
end

-- A plan by the solver `made`, or nil and what is wrong.
local function plan_of(made, name, iterations, options)
  if made == nil then return nil, name .. " is still to come" end
  local given = options or { epsilon = 1, delta = 1e-6 }
  given.iterations = iterations
  local ok, plan = pcall(function() return made.plan(large(), given) end)
  if ok then return plan end
  return nil, ("%s should be a pn.solver that can be planned: %s"):format(name, tostring(plan))
end

local function check_sigma(env)
  local one = env.plan and env.plan.sigma
  if type(env.sigma) ~= "number" then return false, "sigma is still to come" end
  if kit.near(env.sigma, 2 * one, 0.01 * one) then return true end
  if kit.near(env.sigma, 4 * one, 0.01 * one) then return false, "costs add in 1/sigma^2, so not 4 times as much noise" end
  if kit.near(env.sigma, one, 0.01 * one) then return false, "four times as many answers for the same budget cannot be as exact" end
  return false, "T answers of noise sigma cost what one costs with sigma / sqrt(T)"
end

local function check_twice(env)
  local plan, why = plan_of(env.twice, "twice", 60)
  if not plan then return false, why end
  local said = tostring(plan)
  if not said:find "2 times a step" then return false, "its plan pays for one gradient a step: look at print(twice.plan(...))" end
  local ok, message = pcall(plan.run, plan, { rng = pn.rng.seeded(1) })
  return ok, not ok and "its plan is right, but its run is refused: " .. tostring(message) or nil
end

-- The point after three steps without noise.
local function after_three(made)
  local plan, why = plan_of(made, "heavy_ball", 3, { privacy = false })
  if not plan then return nil, why end
  local ok, fit = pcall(plan.run, plan, {})
  if not ok then return nil, "its run fails: " .. tostring(fit) end
  return fit.theta
end

local function check_heavy_ball(env)
  local obj, x, v = large(), pn.vec.zeros(20), pn.vec.zeros(20)
  local plain = { [0] = x }
  for t = 1, 3 do
    v = 0.9 * v - 2 * obj:gradient(x)
    x = x + v
    plain[t] = plain[t - 1] - 2 * obj:gradient(plain[t - 1])
  end
  local theta, why = after_three(env.heavy_ball)
  if not theta then return false, why end
  if (theta - x):norm() < 1e-9 then return true end
  if (theta - plain[3]):norm() < 1e-9 then return false, "it is gradient descent: nothing of the last step is kept" end
  return false, "after three steps without noise it is somewhere else; v starts at 0, rate 2, momentum 0.9"
end

local function check_patient(env)
  local plan, why = plan_of(env.patient, "patient", 100)
  if not plan then return false, why end
  local ledger = pn.ledger { epsilon = 1, delta = 1e-6, teaching = true }
  local ok, fit = pcall(plan.run, plan, { rng = pn.rng.seeded(3), ledger = ledger })
  if not ok then return false, tostring(fit) end
  local steps = #fit.trace
  if steps == 100 then return false, "it does not stop: 100 steps, and all of the budget" end
  if steps < 15 then return false, ("it stops after step %d, far from the minimum"):format(steps) end
  local excess = env.big:value(fit.theta) - pn.solve.exact(env.big).value
  if excess > 0.15 then return false, ("it stops too early: the excess is %.3g"):format(excess) end
  return true
end

local function check_fit(env)
  local flaw = kit.flaw(env.fit, asked)
  if flaw then return false, flaw end
  if pn.solve[env.fit.plan.solver] and not env.fit.plan.solver:find "heavy_ball" then
    return false, ("it comes from %s, not from a solver of yours"):format(env.fit.plan.solver)
  end
  local excess = env.big:value(env.fit.theta) - pn.solve.exact(env.big).value
  if excess <= 0.05 then return true end
  return false, ("it is private, and its excess risk %.3g. More time, rate times steps, or less of it does better"):format(excess)
end

-- Mean excess over the number of steps: rate 2, with and without momentum 0.9, noise seeded.
local function race(env)
  local best, x, series = pn.solve.exact(env.big).value, { 5, 10, 20, 40, 80, 160, 320 }, {}
  for k, momentum in ipairs { 0, 0.9 } do
    local y = {}
    for i, T in ipairs(x) do
      y[i] = 0
      for seed = 1, 3 do
        local options = { epsilon = 1, delta = 1e-6, iterations = T, rate = 2, momentum = momentum, rng = pn.rng.seeded(seed) }
        y[i] = y[i] + (env.big:value(pn.solve.heavy_ball(env.big, options).theta) - best) / 3
      end
    end
    series[k] = { x = x, y = y, label = momentum == 0 and "gradient descent" or "momentum 0.9" }
  end
  series.title, series.xlabel, series.ylabel = "Excess risk after T steps, epsilon = 1", "T", "excess risk"
  series.logx, series.logy = true, true
  pn.plot.line(series)
end

return {
  name = "own_solver",
  title = "Write a private optimizer",
  minutes = 15,
  about = "A solver of your own in five lines: what it asks is certified, priced and charged before it is answered.",
  source = "Polyak (1964); Bassily, Smith, Thakurta (2014); Feldman, Zrnic (2021)",
  setup = function(env) env.big = large() end,
  steps = {
    { id = "setting", text = [[
`big` is an objective with 5000 people. A private optimizer is two things: a
rule by which a point moves, which is public, and questions about the people,
which are answered with noise and paid for.

The second half is easy to get wrong: sensitivities, noise for T answers,
rounding, the ledger. Here an oracle has it. You write the rule:]],
      code = [[gd = pn.solver{name="gd", options={rate=2},
  step=function(s, ask)
    s.x = s.x - s.options.rate * ask:gradient(s.x)
  end}]], defines = { "gd" } },

    { id = "plan", text = [[
`s` is what the run knows: the point s.x, options, public facts; `ask` has the
answers. gd is a solver like any other. For its plan one step is tried against
an oracle that answers zeros and writes down what is asked: nobody's data are
touched, nothing is spent.]],
      code = [[plan = gd.plan(big, {epsilon=1, delta=1e-6, iterations=60})
plan]], defines = { "plan" }, check = kit.looked "plan" },

    { id = "sigma", text = [[
60 gradients, each with noise sigma on every coordinate, are (1, 1e-6)-private
together. plan.sigma has the number.]],
      ask = "Set `sigma` to the noise that 240 steps for the same budget would have; no new plan is needed.",
      answer = [[sigma = 2 * plan.sigma]],
      wrong = { [[sigma = plan.sigma]], [[sigma = 4 * plan.sigma]], [[sigma = 0]] },
      hint = { "What T answers cost is T / sigma^2, up to a factor.", "Four times as many answers, the same T / sigma^2." },
      check = check_sigma },

    { id = "run", text = [[
A run charges each answer before it is drawn. The ledger is gone from 1 to
nearly 0 when all 60 are given.]],
      code = [[L = pn.ledger{epsilon=1, delta=1e-6}
fit = plan:run{ledger=L}
excess = big:value(fit.theta) - solve.exact(big).value
L.remaining]], defines = { "L", "fit", "excess" }, check = kit.looked("L", "fit", "excess") },

    { id = "greedy", text = [[
Now a rule that cheats. When it was tried it asked one gradient; from step 2
on it asks two, and takes their mean: half the variance, for nothing.]],
      code = [[greedy = pn.solver{name="greedy", step=function(s, ask)
  local g = ask:gradient(s.x)
  if s.step > 1 then g = (g + ask:gradient(s.x)) / 2 end
  s.x = s.x - 2 * g
end}
ok, why = pcall(greedy, big,
  {epsilon=1, delta=1e-6, iterations=60})
why]], defines = { "greedy", "ok", "why" }, check = kit.looked("greedy", "why") },

    { id = "twice", text = [[
The run was refused before the answer was drawn. The ledger holds what was
spent until then, and no more. A rule may ask less than it said, and then pays
less. If it wants to ask more it must say so: by asking it in the first step
as well, or by queries={gradient=2} beside step.]],
      ask = "Make `twice`, a solver that takes the mean of two gradients at s.x in every step, and whose plan says so.",
      answer = [[twice = pn.solver{name="twice", step=function(s, ask)
  local g = (ask:gradient(s.x) + ask:gradient(s.x)) / 2
  s.x = s.x - 2 * g
end}]],
      wrong = { [[twice = gd]], [[twice = greedy]], [[twice = 2]],
        [[twice = pn.solver{name="twice", queries={gradient=1}, step=function(s, ask)
            s.x = s.x - (ask:gradient(s.x) + ask:gradient(s.x)) end}]] },
      hint = { "greedy, without the `if`.", "local g = (ask:gradient(s.x) + ask:gradient(s.x)) / 2" },
      check = check_twice },

    { id = "raw", text = [[
There are two answers now, each with more noise: their mean is as exact as one
was. And what if the rule does not ask at all, but looks? You own the data, so
big:gradient works at this prompt. In a private step it does not:]],
      code = [[sly = pn.solver{name="sly", queries={gradient=1}, step=function(s, ask)
  s.x = s.x - 2 * big:gradient(s.x)
end}
seen, why = pcall(sly, big, {epsilon=1, delta=1e-6, iterations=60})
why = why:match "[^;]*"
why]], defines = { "sly", "seen", "why" }, check = kit.looked("sly", "why") },

    { id = "heavy-ball", text = [[
Here is a better rule. Gradient descent crawls along flat valleys; a heavy
ball keeps going (Polyak 1964):

  v <- 0.9 v - 2 gradient(x)        x <- x + v

The velocity v starts at 0. start = function(s) ... end, beside step, prepares
s; any name in s is yours, s.v say. 0 * s.x is a vector of zeros.]],
      ask = "Write `heavy_ball`, a solver with that rule, rate 2 and momentum 0.9.",
      answer = [[heavy_ball = pn.solver{name="heavy_ball", options={rate=2, momentum=0.9},
  start=function(s) s.v = 0 * s.x end,
  step=function(s, ask)
    s.v = s.options.momentum * s.v - s.options.rate * ask:gradient(s.x)
    s.x = s.x + s.v
  end}]],
      wrong = { [[heavy_ball = gd]], [[heavy_ball = pn.solver{name="heavy_ball", step=function(s) s.x = 0 * s.x end}]],
        [[heavy_ball = pn.solver{name="heavy_ball", start=function(s) s.v = 0 * s.x end, step=function(s, ask)
            s.v = 0.9 * s.v + 2 * ask:gradient(s.x) s.x = s.x + s.v end}]] },
      hint = { "start=function(s) s.v = 0 * s.x end", "s.v = 0.9 * s.v - 2 * ask:gradient(s.x), then s.x = s.x + s.v." },
      check = check_heavy_ball },

    { id = "race", text = [[
The noise of a step lives as long as the step does: with momentum 0.9, ten
times. What is gained, then, is steps, each of which is a pass over all
people. Excess risk against T (means of three runs; the answer is the mean of
the last half):]], plot = race },

    { id = "patient", text = [[
How many steps? One may look at what was released. The mean of the last ten
or so gradients, m <- 0.9 m + 0.1 g, has 0.23 times the noise of one, whose
length is about ask:noise "gradient" * s.dim^0.5. When m is shorter than 0.3
times that, little is to be heard any more. With adaptive = true a step may
return "done": only what ran is charged, and the guarantee holds although the
answers decide when it ends (Feldman, Zrnic 2021).]],
      ask = "Make `patient`, adaptive: steps of 4 along the gradient, done when m, from 0, is that short after step 20 or later.",
      answer = [[patient = pn.solver{name="patient", adaptive=true,
  start=function(s) s.m = 0 * s.x end,
  step=function(s, ask)
    local g = ask:gradient(s.x)
    local noise = ask:noise "gradient" * s.dim^0.5
    s.x, s.m = s.x - 4 * g, 0.9 * s.m + 0.1 * g
    if s.step > 20 and s.m:norm() < 0.3 * noise then return "done" end
  end}]],
      wrong = { [[patient = gd]], [[patient = pn.solver{name="patient", step=function(s, ask)
          s.x = s.x - 2 * ask:gradient(s.x) return "done" end}]],
        [[patient = pn.solver{name="patient", adaptive=true, step=function(s, ask)
          s.x = s.x - 2 * ask:gradient(s.x) return "done" end}]] },
      hint = { "The rule of gd with g and s.m kept, start=function(s) s.m = 0 * s.x end, and adaptive=true beside name.",
        "if s.step > 20 and s.m:norm() < 0.3 * ask:noise \"gradient\" * s.dim^0.5 then return \"done\" end" },
      check = check_patient },

    { id = "train", text = [[
Now train in earnest, with secure noise and a real budget. solve.heavy_ball,
nesterov, adam and five more are solvers like yours, each a file to read
(stdlib/solvers).]],
      ask = "Set `fit` to a fit of `big` by your heavy_ball or another solver of yours: (1, 1e-6)-private, excess at most 0.05.",
      answer = [[fit = heavy_ball(big, {epsilon=1, delta=1e-6, iterations=40})]],
      wrong = { [[fit = heavy_ball(big, {privacy=false, iterations=40})]],
        [[fit = heavy_ball(big, {epsilon=1, delta=1e-6, iterations=40, rng=rng.seeded(1)})]],
        [[fit = heavy_ball(big, {epsilon=1, delta=1e-6, iterations=1})]],
        [[fit = solve.gradient_descent(big, {epsilon=1, delta=1e-6})]] },
      hint = { "A solver is called as those of pn.solve: heavy_ball(big, {...}).", "20 to 80 iterations do." },
      check = check_fit },

    { id = "end", text = [[
What the oracle guarantees: an answer's sensitivity is proved from the loss,
or enforced by a clip; all of a step's questions are priced together before
the run; each is charged before it is drawn; a step that fails and is tried
again gets the same answer and pays nothing; what was not planned is refused.

There are more questions: batches, Hessians, vertices, quantiles, running
sums. help "pn.oracle" lists them, help "solver" says what a rule may have.]] },
  },
}
