-- 02_gaussian.lua -- the lesson on the Gaussian mechanism: weak noise is averaged away; how much noise an (epsilon, delta) needs,
-- exactly and by the classical rule, which is wrong above epsilon 1; what delta is; a budget against averaging.
-- Depends on: penumbra.  Used by: penumbra.lesson.
local pn = require "penumbra"

-- 1000 numbers in [0, 1], simulated.
local function values()
  local source, v = pn.rng.seeded(2), {}
  for i = 1, 1000 do v[i] = source:uniform() ^ 2 end
  return pn.vec(v)
end

local function near(x, y, tolerance)
  return type(x) == "number" and math.abs(x - y) <= tolerance
end

local function classical(epsilon, delta)
  return math.sqrt(2 * math.log(1.25 / delta)) / epsilon
end

-- The delta at epsilon of Gaussian noise sigma on a query of sensitivity 1.
local function delta_of(sigma, epsilon)
  return pn.accountant.pld {}:add(pn.event.gaussian { sigma = sigma, sensitivity = 1 }):delta(epsilon)
end

local function check_guess(env)
  local truth = env.truth
  if env.guess == truth then return false, "that is the truth, which no attacker has: noisy_mean() is all there is to ask" end
  if near(env.guess, truth, 0.0005) then return true end
  if type(env.guess) ~= "number" then return false, "guess should be a number" end
  return false, ("guess is off by %.2g, more than one person's 0.0005"):format(math.abs(env.guess - truth))
end

local function check_classical(env)
  local s, right = env.classical, classical(1, 1e-6) / 1000
  if near(s, right, 1e-3 * right) then return true end
  if near(s, 1000 * right, right) then return false, "the sensitivity is missing in it" end
  if near(s, right ^ 2 * 1000, 1e-3 * right) then return false, "there is a root in the rule" end
  if near(s, math.sqrt(2 * math.log(1.25e-6)), 1e-3) or s ~= s then return false, "ln(1.25/delta), not ln(1.25 delta)" end
  return false, "it should be sqrt(2 ln(1.25/delta)) sensitivity / epsilon, with the values above"
end

local function check_true_delta(env)
  local d, right = env.true_delta, delta_of(classical(10, 1e-6), 10)
  if near(d, right, 0.01 * right) then return true end
  if near(d, 1e-6, 1e-9) then return false, "that is what the rule promises. What does its noise achieve?" end
  if type(d) ~= "number" then return false, "true_delta should be a number" end
  return false, ("true_delta is %.3g; compute the delta at epsilon = 10 of that noise"):format(d)
end

local function check_published(env)
  local x = env.published
  if near(x, 10, 1e-6) then return true end
  if near(x, 0.01, 1e-9) then return false, "that is the chance of one person" end
  return false, "1000 people, and each is published with probability 1/100"
end

local function check_mechanism(env)
  local fine, event = pcall(function() return env.m.event end)
  if not fine or not event then return false, "m should be a mechanism, as mechanism.gaussian{...} makes one" end
  local acc = pn.accountant.pld {}
  local epsilon = acc:add(event):epsilon(1e-6)
  if not (epsilon <= 0.5 * (1 + 1e-6)) then -- the lattice adds about 1e-8 to a sigma for 0.5 exactly
    return false, ("one release costs epsilon = %.4g at delta 1e-6"):format(epsilon)
  elseif epsilon < 0.45 then
    return false, ("it costs epsilon = %.4g only: more noise than the budget asks for"):format(epsilon)
  end
  if not tostring(event):find "gaussian" then return false, "its noise is not Gaussian" end
  local scale = env.m.scale
  if not near(scale, 0.00805762, 0.0009) then
    return false, ("it costs as much, for a query of another sensitivity: its noise is %.3g"):format(scale)
  end
  return true
end

local function rules()
  local x, exact, rule = {}, {}, {}
  for k = 0, 40 do
    local epsilon = 0.1 * 10 ^ (k / 40 * 2.5)
    x[k + 1], rule[k + 1] = epsilon, classical(epsilon, 1e-6)
    exact[k + 1] = pn.calibrate.gaussian { epsilon = epsilon, delta = 1e-6, sensitivity = 1 }
  end
  pn.plot.line { { x = x, y = exact, label = "needed" }, { x = x, y = rule, label = "classical rule" }, logx = true, logy = true,
    title = "Noise for delta = 1e-6", xlabel = "epsilon", ylabel = "sigma / sensitivity" }
end

-- Densities of the answer on two neighbours, in units of the sensitivity.
local function bells(env)
  local ratio, x, here, there = env.sigma * 1000, {}, {}, {}
  for k = -60, 60 do
    local t = k / 20 * ratio
    x[#x + 1] = t
    local top = 1 / (ratio * math.sqrt(2 * math.pi))
    here[#x], there[#x] = top * math.exp(-(t / ratio) ^ 2 / 2), top * math.exp(-((t - 1) / ratio) ^ 2 / 2)
  end
  pn.plot.line { { x = x, y = here, label = "answer on D" }, { x = x, y = there, label = "answer on a neighbour" },
    title = "One release at epsilon = 1, delta = 1e-6", xlabel = "distance from q(D), in sensitivities", ylabel = "density" }
end

return {
  name = "gaussian",
  title = "The Gaussian mechanism",
  minutes = 12,
  about = "Noise that looks large enough and is not, how much is, and what the small delta stands for.",
  source = "Balle, Wang (2018), Theorem 8; Dwork, Roth (2014), Appendix A",
  setup = function(env)
    local source = pn.rng.seeded(5)
    local v = values()
    local truth = v:sum() / #v
    env.truth = truth
    env.noisy_mean = function() return truth + 0.01 * pn.vec.normal(1, source)[1] end
  end,
  steps = {
    { id = "weak", text = [[
Each of 1000 people gave one number in [0, 1], and you want the mean. Under
replace_one its sensitivity is 1/1000.

noisy_mean() answers with Gaussian noise of standard deviation 0.01: ten times
the sensitivity. Surely that hides everyone. (This noise is seeded, which
makes it a simulation; the mechanism at the end of the lesson is the real
one.)]],
      code = [[one = noisy_mean()]], defines = { "one" } },

    { id = "average", text = [[
Whoever may ask once may ask again, and independent errors cancel: the mean of
k answers has standard deviation 0.01 / sqrt(k).

One person moves the mean by at most 0.001, so whoever knows the other 999
numbers and the mean to within 0.0005 sees whether the last one is 0 or 1.]],
      ask = "Set `guess` to a number within 0.0005 of the true mean, by calls of noisy_mean() alone.",
      answer = [[guess = 0
for i = 1, 10000 do guess = guess + noisy_mean() / 10000 end]],
      wrong = { [[guess = 0.5]], [[guess = noisy_mean() + 0.05]], [[guess = noisy_mean]] },
      hint = { "How many answers until 0.01 / sqrt(k) is well below 0.0005?",
        "10000 answers give an error of about 0.0001. Add them up in a loop and divide." },
      check = check_guess },

    { id = "two-things", text = [[
So noise does not protect merely because it is larger than the sensitivity.
Two questions remain: how much noise does ONE answer need, and what do many
cost together? This lesson is about the first; the next one about the second.

Noise N(0, sigma^2) on a query of l2 sensitivity Delta is (epsilon, delta)-DP
if and only if, with mu = Delta / sigma (Balle and Wang 2018, Theorem 8),
  Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu) <= delta,
where Phi is the distribution function of N(0, 1).]] },

    { id = "calibrate", text = [[
`calibrate.gaussian` solves that for the least sigma. For our mean, at epsilon
= 1 and delta = 1e-6, it is 4.2 times the sensitivity: one answer of
noisy_mean(), with its 10 times, would have done no harm.]],
      code = [[sigma = calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=1/1000}]], defines = { "sigma" },
      check = function(env)
        return near(env.sigma, 0.00422468, 1e-5), "sigma is something else: it should be 0.0042247"
      end },

    { id = "bells", text = [[
Where is the privacy? The answers on two neighbours are drawn from two bells a
sensitivity apart. One answer hardly tells which of the two it came from.]], plot = bells },

    { id = "classical", text = [[
Textbooks have a simpler rule (Dwork and Roth 2014, Appendix A), proven for
epsilon < 1:
  sigma = sqrt(2 ln(1.25 / delta)) Delta / epsilon.
It is sufficient there, not necessary.]],
      ask = "Set `classical` to the sigma of this rule for the mean of 1000 numbers in [0, 1], at epsilon = 1 and delta = 1e-6.",
      answer = [[classical = sqrt(2 * log(1.25 / 1e-6)) * (1/1000) / 1]],
      wrong = { [[classical = sqrt(2 * log(1.25 / 1e-6))]], [[classical = 2 * log(1.25 / 1e-6) / 1000]], [[classical = sigma]] },
      hint = { "Delta is 1/1000; log is the natural logarithm here.", "sqrt(2 * log(1.25 / delta)) times Delta over epsilon." },
      check = check_classical },

    { id = "more", text = [[
The rule adds a quarter more noise than the same promise needs: a quarter more
error, and nobody is protected better by it. Divide the two sigmas.]],
      code = [[ratio = classical / sigma]], defines = { "ratio" } },

    { id = "rules", text = [[
The picture shows noise over sensitivity by both formulas, at delta = 1e-6.
For small epsilon the rule asks for more than is needed. Further right, near
epsilon = 8.8, the curves cross.]], plot = rules },

    { id = "broken", text = [[
Beyond the crossing the rule gives LESS noise than its promise needs. It is
often used there all the same, since nothing in the formula warns. How wrong
is it? The delta of Gaussian noise at any epsilon comes from an accountant:

    acc = accountant.pld{}
    acc:add(event.gaussian{sigma=..., sensitivity=1})
    acc:delta(epsilon)]],
      ask = "Take the classical sigma for epsilon = 10, delta = 1e-6 and sensitivity 1. Set `true_delta` to the delta that it "
        .. "really has at epsilon = 10.",
      answer = [[acc = accountant.pld{}
rule = sqrt(2 * log(1.25 / 1e-6)) / 10
acc:add(event.gaussian{sigma=rule, sensitivity=1})
true_delta = acc:delta(10)]],
      wrong = { [[true_delta = 1e-6]],
        [[acc = accountant.pld{}
acc:add(event.gaussian{sigma=sqrt(2*log(1.25/1e-6)), sensitivity=1})
true_delta = acc:delta(10)]],
        [[acc = accountant.pld{}
acc:add(event.gaussian{sigma=sqrt(2*log(1.25/1e-6))/10, sensitivity=1})
true_delta = acc:delta(1)]] },
      hint = { "First the sigma: sqrt(2 ln(1.25/delta)) / 10. Then an accountant with one event.",
        "Ask the accountant for its delta at epsilon 10, the one that was promised." },
      check = check_true_delta },

    { id = "twice", text = [[
The true delta is 1.9e-6 instead of 1e-6; at epsilon = 20 it is 1.6e-4, 161
times the promise.

What does a delta mean? An (epsilon, delta) promise may fail altogether with
probability delta. Here is a mechanism that is (0, delta)-DP: publish each
record in full with probability delta, independently, and nothing else.]],
      ask = "Set `published` to how many of 1000 people that mechanism publishes, on average, at delta = 1/100.",
      answer = [[published = 1000 * 1/100]],
      wrong = { [[published = 0.01]], [[published = 1]], [[published = 1000]] },
      hint = { "Each person is published with probability delta.", "n times delta." },
      check = check_published },

    { id = "small-delta", text = [[
Ten people are exposed, although epsilon is 0 on paper. Therefore delta has to
be much smaller than 1/n: 1e-6 for a thousand people is sound, 1/n is not.

Gaussian noise is kinder than that: it never publishes a record. Its delta is
the tail where the loss exceeds epsilon, and a little more epsilon makes it
very much smaller. But the definition alone promises no more.]] },

    { id = "mechanism", text = [[
Now the real thing. A mechanism draws its noise from the operating system's
randomness, exactly, as a whole number of tiny steps (lesson 4 says why), and
charges what rounding costs. help "mechanism.analytic_gaussian" and help
"mechanism.gaussian" tell how to make one. The event m.event is its cost.]],
      ask = "Make a mechanism `m` with Gaussian noise for the mean of the 1000 numbers: one release should cost at most "
        .. "epsilon = 0.5 at delta = 1e-6, and not less than 0.45: noise that nobody asked for is error.",
      answer = [[m = mechanism.analytic_gaussian{epsilon=0.5, delta=1e-6, sensitivity=1/1000}]],
      wrong = { [[m = mechanism.analytic_gaussian{epsilon=0.5, delta=1e-6, sensitivity=1}]],
        [[m = mechanism.gaussian{sigma=sigma, sensitivity=1/1000}]], [[m = mechanism.gaussian{sigma=1, sensitivity=1/1000}]],
        [[m = 0.008]] },
      hint = { "The sensitivity is 1/1000, as before.",
        "analytic_gaussian takes epsilon, delta and sensitivity, and finds sigma." },
      check = check_mechanism },

    { id = "release", text = [[
A release is paid from a ledger before its noise is drawn. Now repeat the
averaging attack with a budget of epsilon = 1: ask as long as the ledger lets
you.]],
      code = [[L = pn.ledger{epsilon=1, delta=1e-6}
count = 0
while pcall(m.release, m, truth, {ledger=L}) do count = count + 1 end]], defines = { "L", "count" } },

    { id = "end", text = [[
Two answers (type `count`), then it refuses. Their mean is no better than what
epsilon = 1 buys at once: whatever is averaged, the ledger has charged it.

Sigma follows from sensitivity, epsilon and delta by an exact formula; the
classical rule wastes noise below epsilon = 1 and breaks its promise above
8.8; delta is the probability that a promise may fail, so it stays far below
1/n.

Next: what many releases cost together.]] },
  },
}
