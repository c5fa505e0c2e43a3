-- 17_tuning.lua -- the lesson on private tuning: the best of ten private runs is not as private as one, what ten known runs cost,
-- how a secret number of runs bounds the price, and pn.tune.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local exp, log = math.exp, math.log
local DELTA = 1e-6

-- The probability that a score of this count, with Laplace noise of scale 1, is at most t.
local function chance(count, t)
  return t < count and 0.5 * exp(t - count) or 1 - 0.5 * exp(count - t)
end

-- The best of k scores of a count, from a stream.
local function best_of(source)
  return function(k, count, rng)
    local best = -math.huge
    rng = rng or source
    for _ = 1, k do
      best = math.max(best, count + log((1 - rng:uniform()) / (1 - rng:uniform())))
    end
    return best
  end
end

local A, B = chance(100, 101), chance(101, 101)
local g = 0.1
local right = {
  shown = 10 * log(A / B),
  hidden = log(g * A / (1 - (1 - g) * A)) - log(g * B / (1 - (1 - g) * B)),
  known = 12 * log(A / B),
}

local function small()
  local d = pn.data.synthetic.logistic { n = 4000, p = 5, signal = 10, noise = 0.05, seed = 1 }:clip_rows("l2", 1)
  return pn.objective { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 5, radius = 10 } }
end

local function check_shown(env)
  local x = env.shown
  if type(x) ~= "number" then return false, "shown should be a number" end
  if kit.near(x, right.shown, 1e-3) then return true end
  if kit.near(x, right.shown / 10, 1e-3) then return false, "that is what one score shows. All ten have to be low" end
  if kit.near(x, -right.shown, 1e-3) then return false, "the smaller probability is on top" end
  if kit.near(x, exp(right.shown), 0.1) then return false, "that is the ratio; epsilon is its logarithm" end
  return false, "the probability of ten independent scores is a product"
end

local function check_sigma(env)
  local one, x = pn.calibrate.gaussian { epsilon = 1, delta = DELTA, sensitivity = 1 }, env.sigma
  if type(x) ~= "number" then return false, "sigma should be a number" end
  if kit.near(x, one * 10 ^ 0.5, 0.01 * one) then return true end
  if kit.near(x, one, 0.01 * one) then return false, "that pays for one run. There are ten" end
  if kit.near(x, one * 10, 0.01 * one) then return false, "Gaussian costs add in 1/sigma^2: not ten times the noise" end
  return false, "start from the noise of a single release with this epsilon and delta"
end

local function check_hidden(env)
  local x = env.hidden
  if type(x) ~= "number" then return false, "hidden should be a number" end
  if kit.near(x, right.hidden, 1e-3) then return true end
  if kit.near(x, -right.hidden, 1e-3) then return false, "the smaller probability is on top" end
  if kit.near(x, right.shown, 1e-3) then return false, "that is for exactly ten runs" end
  if kit.near(x, exp(right.hidden), 1e-2) then return false, "that is the ratio; epsilon is its logarithm" end
  return false, "put F = chance(100, 101) into the formula, then F = chance(101, 101), and compare"
end

local function check_known(env)
  local x = env.known
  if type(x) ~= "number" then return false, "known should be a number" end
  if kit.near(x, right.known, 1e-3) then return true end
  if kit.near(x, -right.known, 1e-3) then return false, "the smaller probability is on top" end
  if kit.near(x, right.shown, 1e-3) then return false, "that is for ten runs" end
  if kit.near(x, right.hidden, 1e-3) then return false, "that is while the number of runs is secret" end
  return false, "the coins fall alike on both data sets, so their probability cancels. What is left is the ratio of twelve scores"
end

local function check_cheap(env)
  local ok, ratio, mean, seen = pcall(function()
    return env.cheap.mu / env.cheap.mu_single, env.cheap.mean, env.cheap.chance
  end)
  if not ok or type(ratio) ~= "number" then return false, "cheap should be what pn.tune.plan returned" end
  local text = tostring(env.cheap)
  if not text:find("epsilon 2 at delta 1e-06", 1, true) then return false, "the price of the whole search stays (2, 1e-6)" end
  if ratio < 0.75 then return false, ("with mean = %g a run has %.3g of the mu of a single fit"):format(mean, ratio) end
  if seen < 0.25 then return false, ("a search that short sees a good configuration with probability %.3g only"):format(seen) end
  return true
end

local function check_best(env)
  local ok, price, theta, configuration = pcall(function() return env.best.price, env.best.theta, env.best.configuration end)
  if not ok or type(price) ~= "table" or not configuration then return false, "best should be what pn.tune returned" end
  if price.simulated then return false, "its noise is seeded: whoever knows the seed can take it off again" end
  if not (price.epsilon and price.epsilon <= 2 + 1e-9 and price.delta <= DELTA * (1 + 1e-9)) then
    return false, "its price is above (2, 1e-6)"
  end
  return kit.is_vec(theta, 5), "it has no model of five numbers"
end

-- Shares of the best of ten.
local function bests(env)
  local series = { bins = 40, title = "The best of ten scores, 3000 times each", xlabel = "best score" }
  for k, count in ipairs { 100, 101 } do
    local samples, rng = {}, pn.rng.seeded(20 + k)
    for i = 1, 3000 do samples[i] = env.best_of(10, count, rng) end
    series[k] = { samples = samples, label = "count " .. count }
  end
  pn.plot.histogram(series)
end

-- Price against the number of runs, each with Gaussian noise of sigma = 10.
local function prices()
  local one = pn.event.gaussian { sigma = 10, sensitivity = 1 }
  local x, fixed, secret = { 2, 3, 5, 10, 20, 50, 100, 200 }, {}, {}
  for i, k in ipairs(x) do
    fixed[i] = pn.event.repeated(one, k):epsilon(DELTA)
    secret[i] = pn.event.selection { event = one, law = "geometric", mean = k }:epsilon(DELTA)
  end
  pn.plot.line { { x = x, y = fixed, label = "known number" }, { x = x, y = secret, label = "secret number" },
    logx = true, logy = true, title = "Price of the best run", xlabel = "runs (expected)", ylabel = "epsilon" }
end

return {
  name = "tuning",
  title = "Private tuning",
  minutes = 15,
  about = "Why the best of many private runs is not private for free, and how to pay for the choice.",
  source = "Liu, Talwar (2019); Papernot, Steinke (2022); Koskela, Redberg, Wang (2024)",
  setup = function(env)
    env.chance, env.best_of, env.obj = chance, best_of(pn.rng.seeded(17)), small()
  end,
  steps = {
    { id = "setting", text = [[
A clinic trains a model with ten settings. Each run releases a score: the
number of test patients for whom the model is right, plus Laplace noise of
scale 1. One patient moves that number by 1 at most, so a run is 1-private.

The clinic publishes the best of the ten scores and throws the others away. It
says: "One number is published. It comes from a 1-private run. So what we
publish is 1-private." Is it?]] },

    { id = "look", text = [[
Assume that all ten settings are equally good. They are right for 100 test
patients, or for 101: Dana's record decides. best_of(10, count) is what the
clinic publishes. (All noise is seeded here: this lesson is a simulation.)]],
      code = [[best_of(10, 100), best_of(10, 100), best_of(10, 101)]], check = kit.looked() },

    { id = "picture", text = [[
A few numbers show nothing. So look at many, above all at the left ends:]],
      plot = bests },

    { id = "event", text = [[
A low best is telling. The best of ten is at most 101 only if all ten scores
are. chance(count, t) is the probability that one score is at most t:
chance(100, 101) = 0.816 and chance(101, 101) = 0.5.]],
      ask = "Set `shown` to the logarithm of P/P', where P is the probability that the best of ten is at most 101 if the count "
        .. "is 100, and P' if it is 101.",
      answer = [[shown = 10 * log(chance(100, 101) / chance(101, 101))]],
      wrong = { [[shown = log(chance(100, 101) / chance(101, 101))]], [[shown = 10 * log(chance(101, 101) / chance(100, 101))]],
        [[shown = (chance(100, 101) / chance(101, 101))^10]], [[shown = 1]] },
      hint = { "P is chance(100, 101)^10.", "The logarithm of a tenth power is ten times the logarithm." },
      check = check_shown },

    { id = "audit", text = [[
4.9, where the clinic promised 1: the best is at most 101 in 13 percent of all
searches on 100, and in 0.1 percent on 101. An audit finds it, too:]],
      code = [[clinic = function(count, source) return best_of(10, count, source) end
print(pn.audit(clinic, {neighbours={100, 101}, trials=5000, epsilon=1,
  rng=rng.seeded(1)}))]], defines = { "clinic" } },

    { id = "hidden-runs", text = [[
The claim is refuted. The nine other scores are not published, but the best
tells about them: they were lower. Ten runs looked at the records, and all ten
have to be paid for. For pure runs the sum is epsilon = 10.

Gaussian noise adds up more slowly: ten runs with noise sigma cost what one
run with sigma / sqrt(10) costs.]],
      ask = "Set `sigma` to the noise of each of ten scores of sensitivity 1, for which all ten are (1, 1e-6)-private together.",
      answer = [[sigma = sqrt(10) * calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=1}]],
      wrong = { [[sigma = calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=1}]],
        [[sigma = 10 * calibrate.gaussian{epsilon=1, delta=1e-6, sensitivity=1}]], [[sigma = 1]] },
      hint = { "calibrate.gaussian{epsilon=, delta=, sensitivity=} is the noise of one release.", "Times sqrt(10)." },
      check = check_sigma },

    { id = "stopping", text = [[
There is a cheaper way (Liu, Talwar 2019). After each run a coin decides: stop
with probability g, or run again. The number of runs is random, 1/g on
average, and stays secret. Only the best run is published.

With a chance F that one score is at most t, the best is at most t with
probability g F / (1 - (1 - g) F). A low best can now mean that there were few
runs.]],
      ask = "Set `hidden` to the same logarithm as before, for t = 101 and a secret number of runs with g = 0.1.",
      answer = [[g = 0.1
function low(F) return g * F / (1 - (1 - g) * F) end
hidden = log(low(chance(100, 101)) / low(chance(101, 101)))]],
      wrong = { [[hidden = shown]], [[hidden = 1]],
        [[function low(F) return 0.1 * F / (1 - 0.9 * F) end
hidden = low(chance(100, 101)) / low(chance(101, 101))]] },
      hint = { "Write a function low(F) with the formula.", "log(low(chance(100, 101)) / low(chance(101, 101)))" },
      check = check_hidden },

    { id = "price", text = [[
1.2 in place of 4.9. That is one event. A theorem bounds all events: if each
run is epsilon-private, then with this coin the best is 3 epsilon-private, no
matter how many runs are expected (Liu, Talwar 2019). The library's bound is a
little sharper; here for 10 expected runs and for 1000:]],
      code = [[run = event.pure{epsilon=1}
ten = event.selection{event=run, law="geometric", mean=10}
thousand = event.selection{event=run, law="geometric", mean=1000}
ten:epsilon(0), (thousand:epsilon(0))]], defines = { "run", "ten", "thousand" }, check = kit.looked("ten", "thousand") },

    { id = "gaussian", text = [[
Runs with Gaussian noise have a similar bound, which grows slowly with the
number of runs. Here each run has sigma = 10 and sensitivity 1.]],
      plot = prices },

    { id = "secrecy", text = [[
The bound needs the secret. Suppose that the clinic shows its progress: "run
12, stopping; best score 100.6". The coins fall alike on both data sets. They
now explain nothing, because everybody saw them.]],
      ask = "Set `known` to the logarithm of P/P' for the event \"stopped after 12 runs, and the best is at most 101\".",
      answer = [[known = 12 * log(chance(100, 101) / chance(101, 101))]],
      wrong = { [[known = hidden]], [[known = 10 * log(chance(100, 101) / chance(101, 101))]],
        [[known = 12 * log(chance(101, 101) / chance(100, 101))]] },
      hint = { "P is the probability of the coins, 0.9^11 * 0.1, times that of twelve scores at most 101.",
        "The coins cancel in P/P'. Twelve scores are left." },
      check = check_known },

    { id = "plan", text = [[
5.9, above the 3 of the theorem. So pn.tune has no progress= and tells nobody
how many runs there were. It trains on four fifths of the records, scores each
model on the rest with noise, and charges the whole price before the first
run. A plan costs nothing. `obj` is a logistic model of 4000 records:]],
      code = [[search = {solver="gradient_descent", objective=obj, score="accuracy",
  epsilon=2, delta=1e-6, mean=10,
  grid={step={0.1, 1, 10}, iterations={10, 30}}}
plan = pn.tune.plan(search)
plan.mu, plan.mu_single, plan.chance]], defines = { "search", "plan" }, check = kit.looked("search", "plan") },

    { id = "shorter", text = [[
mu is sensitivity over noise: larger is more exact. A run of the search has mu
= 0.30. One fit without a search would have 0.45 for the same price, on all
records. And with 10 runs the chance that the best of the six settings is seen
is 0.53. mean= is the expected number of runs.]],
      ask = "Set `cheap` to the plan of a shorter search: mu is at least 0.75 of mu_single, and chance at least 0.25.",
      answer = [[search.mean = 4
cheap = pn.tune.plan(search)]],
      wrong = { [[cheap = plan]], [[search.mean = 1.2 cheap = pn.tune.plan(search)]],
        [[search.mean = 4 search.epsilon = 4 cheap = pn.tune.plan(search)]] },
      hint = { "Change search.mean and plan again.", "Try search.mean = 3, 4, 5." },
      check = check_cheap },

    { id = "train", text = [[
A search pays only where the settings differ by more than that factor in mu.
Here steps of 0.1 hardly move in 10 iterations, so it may.]],
      ask = "Set `best` to a search by pn.tune for (2, 1e-6), with noise that nobody knows.",
      answer = [[best = pn.tune(search)]],
      wrong = { [[search.rng = rng.seeded(1) best = pn.tune(search)]], [[best = plan]],
        [[search.epsilon = 3 best = pn.tune(search)]] },
      hint = { "pn.tune takes the table that pn.tune.plan took.", "best = pn.tune(search), and no rng= in it." },
      check = check_best },

    { id = "bias", text = [[
print(best) shows the configuration, the price and a score. The score is the
best of several and therefore too high. Ten runs that are equally good, with a
true count of 100, have this best score on average (simulated):]],
      code = [[sum = 0
for i = 1, 2000 do sum = sum + best_of(10, 100) end
sum / 2000]], defines = { "sum" }, check = kit.looked "sum" },

    { id = "end", text = [[
About 102.2: the winner was lucky. Judge it on records that took no part.

Whatever looked at the records and had a say in what is published is part of
the price: runs that were thrown away, settings tried last week, a seed that
gave a nice model. First ask what costs nothing: plan:tune{...} compares
settings by their predicted risk, without a look at the records. Where that
cannot decide, pn.tune pays for the choice.]] },
  },
}
