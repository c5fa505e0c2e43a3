-- 19_local_privacy.lua -- the lesson on randomized response: direct questions expose and are answered with lies, coins that give an
-- epsilon, the estimate and its deviation, the central model, and what repeated questions tell.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local N, RATE = 1000, 0.3 -- people, and the share of them who took drugs
local VARIANCE = 0.75 * 0.25 -- of one randomized answer, whatever its truth is

-- Whether each of n people took drugs; Dana is number 4.
local function truths()
  local source, list = pn.rng.seeded(19), {}
  for i = 1, N do list[i] = source:uniform() < RATE end
  list[4] = true
  return list
end

-- Said to an interviewer who writes names down: half of those who did deny it, but not Dana.
local function asked_directly(list)
  local source, said = pn.rng.seeded(20), {}
  for i, truth in ipairs(list) do said[i] = truth and (i == 4 or source:uniform() < 0.5) end
  return said
end

local function respond(truth, rng)
  if rng:uniform() < 0.75 then return truth end
  return not truth
end

local function share(list)
  local yes = 0
  for _, answer in ipairs(list) do yes = yes + (answer and 1 or 0) end
  return yes / #list
end

-- How often answer(truth, rng) is true to the truth, of 20,000.
local function honesty(answer, truth)
  local source, kept = pn.rng.seeded(5), 0
  for _ = 1, 20000 do
    local said = answer(truth, source)
    if type(said) ~= "boolean" then return nil end
    kept = kept + (said == truth and 1 or 0)
  end
  return kept / 20000
end

-- A fair answer leaves the band of 0.016 with probability below 2e-7: 5.2 deviations of 0.0031.
local function check_answer(env)
  if type(env.answer) ~= "function" then return false, "answer should be a function of truth and rng" end
  local yes, no = honesty(env.answer, true), honesty(env.answer, false)
  if not (yes and no) then return false, "it should return true or false" end
  if kit.near(yes, 0.75, 0.016) and kit.near(no, 0.75, 0.016) then return true end
  if yes == 1 and no == 1 then return false, "that is a direct answer" end
  if kit.near(yes, no, 0.02) then return false, ("it keeps to the truth with probability %.2f"):format(yes) end
  return false, ("a yes stays a yes with probability %.2f, a no a no with %.2f. They should be treated alike"):format(yes, no)
end

local function check_epsilon(env)
  local x = env.epsilon
  if kit.near(x, math.log(3), 1e-3) then return true end
  if type(x) ~= "number" then return false, "epsilon should be a number" end
  if kit.near(x, 3, 1e-6) then return false, "that is the ratio of the two probabilities; epsilon is its logarithm" end
  if kit.near(x, math.log(0.75 / 0.5), 1e-3) then return false, "the other probability is that of a yes if the truth is no" end
  if kit.near(x, -math.log(3), 1e-3) then return false, "the smaller probability is on top" end
  return false, "compare the probability of a yes for the two truths"
end

local function check_estimate(env)
  local x, s = env.estimate, share(env.heard)
  if type(x) ~= "number" then return false, "estimate should be a number" end
  if kit.near(x, 2 * s - 0.5, 1e-6) then return true end
  if kit.near(x, s, 1e-6) then return false, "that is the share of yes, pulled towards one half by the coins" end
  if kit.near(x, share(env.direct), 1e-6) then return false, "that is what people said to the interviewer" end
  if kit.near(x, s / 0.75, 1e-6) then return false, "some of the yes come from people whose truth is no" end
  return false, "solve s = 3/4 f + 1/4 (1 - f) for f"
end

local function check_deviation(env)
  local x, right = env.deviation, 2 * (VARIANCE / N) ^ 0.5
  if type(x) ~= "number" then return false, "deviation should be a number" end
  if kit.near(x, right, 1e-3) then return true end
  if kit.near(x, right / 2, 1e-3) then return false, "that is of s. The estimate is 2 s - 1/2" end
  if kit.near(x, right ^ 2, 1e-5) then return false, "that is the variance; the deviation is its root" end
  if kit.near(x, 2 * (0.24 / N) ^ 0.5, 1e-4) then return false, "that adds the luck of which people are asked; they are given" end
  return false, "twice the deviation of a share of n answers, each of variance 3/16"
end

local function check_people(env)
  local x = env.people
  if type(x) ~= "number" then return false, "people should be a number" end
  local central = 2 ^ 0.5 / (N * math.log(3))
  local right = 4 * VARIANCE / central ^ 2
  if kit.near(x / right, 1, 0.05) then return true end
  if x < 1 then return false, "somebody should be asked" end
  local reached = 2 * (VARIANCE / x) ^ 0.5
  if reached > central then return false, ("with %.6g people the deviation is %.3g"):format(x, reached) end
  return false, "that is enough, but fewer people would do"
end

local function check_dana(env)
  if env.dana == true then return true end
  if env.dana == false then return false, "her most frequent answer is another" end
  return false, "dana should be true or false"
end

-- Estimates of a share of 0.3 from 400 people each, by both models at epsilon = ln 3.
local function both_models()
  local source, here, there = pn.rng.seeded(6), {}, {}
  for k = 1, 200 do
    local yes, sum = 0, 0
    for i = 1, 400 do
      local truth = i <= 120
      yes, sum = yes + (respond(truth, source) and 1 or 0), sum + (truth and 1 or 0)
    end
    here[k] = 2 * yes / 400 - 0.5
    there[k] = (sum + math.log((1 - source:uniform()) / (1 - source:uniform())) / math.log(3)) / 400
  end
  pn.plot.histogram { { samples = here, label = "local" }, { samples = there, label = "central" }, bins = 40,
    title = "200 surveys of 400 people, 30 % yes", xlabel = "estimate" }
end

return {
  name = "local_privacy",
  title = "Randomized response and local privacy",
  minutes = 15,
  about = "How people can answer a question that nobody may ask them, and what that costs in accuracy.",
  source = "Warner (1965); Kasiviswanathan et al. (2008); Duchi, Jordan, Wainwright (2013); Erlingsson et al. (2014)",
  setup = function(env)
    local list, source = truths(), pn.rng.seeded(21)
    env.direct, env.heard, env.daily, env.share = asked_directly(list), {}, {}, share
    for i, truth in ipairs(list) do env.heard[i] = respond(truth, source) end
    for day = 1, 201 do env.daily[day] = respond(list[4], source) end
  end,
  steps = {
    { id = "direct", text = [[
An interviewer asks 1000 employees: "Did you take drugs in the last year?" The
answers go into the table `direct`, one for each number on the payroll. Dana
has number 4. The company promises to publish the share of yes only. (The
employees are simulated: each took drugs with probability 0.3.)]],
      code = [[direct[4], share(direct)]], check = kit.looked() },

    { id = "failure", text = [[
Two failures. Dana's yes is on a disk: for an administrator, a thief and a
court, whatever is published. And the share is 0.15, half of the truth,
because people know this: half of those who took drugs said no.

In the central model of the lessons before, a trusted curator holds the data
and adds noise to answers. Here nobody is trusted. Each person must add the
noise before anything leaves the hand: the local model.]] },

    { id = "answer", text = [[
Warner's method (1965): each person draws a coin in private. With probability
3/4 the answer is the truth, otherwise its opposite.

rng:uniform() draws a number in [0, 1), which is below 3/4 with probability
3/4.]],
      ask = "Write a function `answer(truth, rng)` that returns such an answer, true or false, to a truth that is true or false.",
      answer = [[function answer(truth, rng)
  if rng:uniform() < 0.75 then return truth end
  return not truth
end]],
      wrong = { [[function answer(truth, rng) return truth end]],
        [[function answer(truth, rng) return rng:uniform() < 0.75 end]],
        [[function answer(truth, rng) if rng:uniform() < 0.5 then return truth end return not truth end]],
        [[function answer(truth, rng) return rng:uniform() end]] },
      hint = { "if rng:uniform() < 0.75 then ... end", "`not truth` is the opposite of truth." },
      check = check_answer },

    { id = "epsilon", text = [[
Now a yes proves nothing: an administrator who finds it can be wrong. How much
does it tell? The neighbours are the two truths of one person. A yes has
probability 3/4 if the truth is yes, and 1/4 if it is no. A no, the reverse.]],
      ask = "Set `epsilon` to the epsilon of one answer.",
      answer = [[epsilon = log(0.75 / 0.25)]],
      wrong = { [[epsilon = 3]], [[epsilon = log(0.75 / 0.5)]], [[epsilon = log(0.25 / 0.75)]], [[epsilon = 0.75]] },
      hint = { "The logarithm of the ratio of the two probabilities of a yes.", "log(0.75 / 0.25)" },
      check = check_epsilon },

    { id = "audit", text = [[
ln 3 = 1.1. An audit asks your function 10,000 times for each truth (with
seeded coins), and compares:]],
      code = [[print(pn.audit(answer, {neighbours={true, false}, trials=10000,
  epsilon=log(3), rng=rng.seeded(1)}))]] },

    { id = "survey", text = [[
All 1000 are asked again, and answer in this way. `heard` holds what the
company hears (simulated). There is little reason to lie now.]],
      code = [[heard[4], share(heard)]], check = kit.looked() },

    { id = "estimate", text = [[
The share of yes is 0.402. Is it the share of people who took drugs? No,
the coins turned answers round. If the true share is f, the share of yes is on
average s = 3/4 f + 1/4 (1 - f).]],
      ask = "Set `estimate` to the estimate of f from `heard`.",
      answer = [[estimate = 2 * share(heard) - 0.5]],
      wrong = { [[estimate = share(heard)]], [[estimate = share(direct)]], [[estimate = share(heard) / 0.75]] },
      hint = { "s = 1/4 + f/2. Solve it for f.", "f = 2 s - 1/2" },
      check = check_estimate },

    { id = "deviation", text = [[
0.304, from answers that are wrong in one case of four. How far from the share
among these 1000 people may it be? Whatever the truth is, an answer is yes
with probability 3/4 or 1/4, so its variance is 3/4 * 1/4 = 3/16. The variance
of the share of yes among n independent answers is 3/16 / n.]],
      ask = "Set `deviation` to the standard deviation of the estimate 2 s - 1/2.",
      answer = [[deviation = 2 * sqrt(3 / 16 / 1000)]],
      wrong = { [[deviation = sqrt(3 / 16 / 1000)]], [[deviation = 4 * 3 / 16 / 1000]],
        [[deviation = 2 * sqrt(0.4 * 0.6 / 1000)]], [[deviation = 1]] },
      hint = { "Twice a number has twice its deviation.", "2 * sqrt(3 / 16 / 1000)" },
      check = check_deviation },

    { id = "central", text = [[
0.027: the estimate is good to about 0.055. What would a trusted curator reach
at the same epsilon? One person moves the share by 1/1000. Laplace noise of
scale 1/(1000 epsilon) has the deviation sqrt(2) times its scale:]],
      code = [[central = sqrt(2) / (1000 * log(3))
central, deviation / central]], defines = { "central" }, check = kit.looked "central" },

    { id = "picture", text = [[
0.0013, which is 21 times less. The noise of a curator is added once. In the
local model every person adds some, and n noises grow as sqrt(n).]],
      plot = both_models },

    { id = "people", text = [[
The central deviation falls as 1/n, the local one as 1/sqrt(n) (Duchi, Jordan,
Wainwright 2013 show that no local method gains more than a constant factor).
More people are the remedy, if there are enough of them.]],
      ask = "Set `people` to the number of people who must be asked in the local model for the deviation `central` (to 5 percent).",
      answer = [[people = 4 * 3 / 16 / central^2]],
      wrong = { [[people = 1000 * deviation / central]], [[people = 1000]], [[people = 1e9]] },
      hint = { "Solve 2 sqrt(3 / 16 / people) = central for people.",
        "The deviation has to fall by a factor of 21, so the number grows by the square of that." },
      check = check_people },

    { id = "again", text = [[
450,000 people, for what a curator does with 1000. That is why local
privacy is found where there are millions of phones or browsers.

There is a trap left. A browser asks the same question every day and draws a
fresh coin each time. `daily` holds what Dana's said on 201 days.]],
      ask = "Set `dana` to Dana's truth, true or false, from `daily`.",
      answer = [[dana = share(daily) > 0.5]],
      wrong = { [[dana = share(daily) < 0.5]], [[dana = share(daily)]], [[dana = "yes"]] },
      hint = { "Three answers of four are true. What is the majority?", "share(daily) is the share of yes." },
      check = check_dana },

    { id = "ledger", text = [[
Each answer costs epsilon = 1.1, and 201 of them cost 221. Local answers need
a budget as well, kept by the person's own device. Either it refuses, or it
keeps the first coin and repeats the same answer (Erlingsson et al. 2014):]],
      code = [[L = pn.ledger{epsilon=2.2}
e = event.pure{epsilon=log(3)}
L:spend(e, "drugs, day 1")
L:spend(e, "drugs, day 2")
ok, why = pcall(L.spend, L, e, "drugs, day 3")
ok]], defines = { "L", "e", "ok", "why" } },

    { id = "end", text = [[
Randomized response needs no trust: the truth never leaves the person. The
price is noise of order 1/(epsilon sqrt(n)) rather than 1/(epsilon n).

Two roads lead between the models. With secure aggregation the server sees
sums only, so that the noise of all together may be that of one curator
(lesson "federated"). And a shuffler that takes the names off makes the same
answers more private, for each hides among all: that is amplification again.]] },
  },
}
