-- 16_sampling.lua -- the lesson on amplification by sampling: a public batch gives a vote away, secret Poisson batches hide it,
-- what the accountant says at each rate, what sampling gains, and what the price becomes when the batches are known.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local N, DAYS, DELTA = 1000, 300, 1e-6
local DANA = -1 -- her vote

-- The sums of a batch of 20 that never changes, with noise of sigma = 3; and what the 19 others in it add up to.
local function fixed_batch()
  local others = 5
  return others, pn.vec.normal(DAYS, pn.rng.seeded(16)) * 3 + (others + DANA)
end

local function secret_batches()
  local sampler, coins, lists = pn.sampler.poisson { n = N, q = 0.02 }, pn.rng.seeded(4), {}
  for day = 1, DAYS do lists[day] = sampler:draw(coins) end
  return lists
end

-- The most days that one member was drawn on.
local function most_days(lists)
  local times, most = {}, 0
  for _, list in ipairs(lists) do
    for _, member in ipairs(list) do
      times[member] = (times[member] or 0) + 1
      most = math.max(most, times[member])
    end
  end
  return most
end

local function known_days(count)
  return pn.event.repeated(pn.event.gaussian { sigma = 3, sensitivity = 2 }, count):epsilon(DELTA)
end

-- The price of all days at rate q, under replace_one.
local function price(q, sigma)
  local day = pn.sampler.poisson { n = N, q = q }:event { sigma = sigma, contribution = 1 }
  return (pn.event.repeated(day, DAYS):epsilon(DELTA))
end

local function check_dana(env)
  local vote = env.dana
  if vote == DANA then return true end
  if vote == -DANA then return false, "with that vote the batch would sum to a number on the other side of `others`" end
  if type(vote) == "number" and vote ~= 0 then return false, "that is an estimate with noise. A vote is 1 or -1" end
  return false, "dana should be 1 or -1"
end

local function check_shift(env)
  local x = env.shift
  if type(x) ~= "number" then return false, "shift should be a number" end
  if kit.near(math.abs(x), 0.04, 1e-9) then return true end
  if kit.near(math.abs(x), 2, 1e-9) then return false, "that is the change on a day on which she is drawn. Most days she is not" end
  if kit.near(math.abs(x), 0.02, 1e-9) then return false, "a vote that turns from -1 to 1 changes by more than 1" end
  if kit.near(math.abs(x), 12, 1e-9) then return false, "that is the sum over all days. The question is about one answer" end
  return false, "the change when she is drawn, times the probability of that"
end

local function check_small(env)
  local x, right = env.small, math.log(1 + 0.02 * (math.exp(1) - 1))
  if kit.near(x, right, 1e-5) then return true end
  if type(x) ~= "number" then return false, "small should be a number" end
  if kit.near(x, 0.02, 1e-9) then return false, "q times epsilon is too little: e^epsilon - 1 is larger than epsilon" end
  if kit.near(x, math.exp(right), 1e-5) then return false, "that is e^epsilon of the release; epsilon is its logarithm" end
  return false, "put epsilon = 1 and q = 0.02 into the rule"
end

local function check_q(env)
  local q = env.q
  if type(q) ~= "number" then return false, "q should be a number" end
  if not (q > 0 and q <= 1) then return false, "a rate is above 0 and at most 1" end
  local cost = price(q, 2)
  if cost > 1 + 1e-6 then return false, ("300 days at this rate cost epsilon = %.3g"):format(cost) end
  if cost < 0.97 then return false, ("they cost epsilon = %.3g only; a larger rate is affordable"):format(cost) end
  return true
end

local function check_worst(env)
  local most, x = most_days(secret_batches()), env.worst
  if type(x) ~= "number" then return false, "worst should be a number" end
  if kit.near(x, known_days(most), 0.01) then return true end
  if kit.near(x, most, 1e-9) then return false, "that is how often this member was drawn. What do so many releases cost?" end
  if kit.near(x, known_days(6), 0.01) then return false, "6 days is the average. One member was drawn more often" end
  if kit.near(x, known_days(DAYS), 0.01) then return false, "nobody was drawn on all 300 days" end
  if kit.near(x, price(0.02, 3), 0.01) then return false, "that is the price while the batches are secret" end
  return false, "count the days of each member, and repeat the noisy sum as often as the largest count"
end

-- What 300 releases cost against the rate.
local function rates()
  local series = { title = "300 noisy sums at delta = 1e-6", xlabel = "sampling rate q", ylabel = "epsilon" }
  series.logx, series.logy = true, true
  for k, sigma in ipairs { 2, 5 } do
    local x, y = {}, {}
    for i, q in ipairs { 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1 } do x[i], y[i] = q, price(q, sigma) end
    series[k] = { x = x, y = y, label = ("sigma = %d"):format(sigma) }
  end
  pn.plot.line(series)
end

return {
  name = "sampling",
  title = "Amplification by sampling",
  minutes = 15,
  about = "Why a secret random batch costs less than the whole data set, and why a public batch does not.",
  source = "Kasiviswanathan et al. (2008); Abadi et al. (2016); Balle, Barthe, Gaboardi (2018); Zhu, Dong, Wang (2022)",
  setup = function(env)
    env.others, env.answers = fixed_batch()
    env.lists = secret_batches()
  end,
  steps = {
    { id = "setting", text = [[
A club has 1000 members. Each of them votes yes (1) or no (-1) on a question.
On each of 300 evenings the office publishes the sum of a batch of 20 votes,
with Gaussian noise of sigma = 3. The votes stay the same.

The office says: "A batch holds one member in 50. So a release tells little
about anybody, and we charge the price of a random batch at q = 0.02." The
batch is the first 20 names of the public list, every evening.]] },

    { id = "claim", text = [[
This is the office's calculation. A sampler knows what a noisy sum over its
batches costs. contribution = 1, because a vote has absolute value 1.]],
      code = [[s = sampler.poisson{n=1000, q=0.02}
day = s:event{sigma=3, contribution=1}
claim = event.repeated(day, 300):epsilon(1e-6)
claim]], defines = { "s", "day", "claim" }, check = kit.looked("s", "day", "claim") },

    { id = "attack", text = [[
The office claims epsilon = 1.05 at delta = 1e-6 for all 300 evenings.

Dana is the seventh on the list, so her vote is in every batch. You know how
the 19 others of the batch voted: their votes sum to `others`. `answers` is
a vector of the 300 published numbers (simulated with seeded noise).]],
      ask = "Set `dana` to Dana's vote, 1 or -1. Use `answers` and `others`.",
      answer = [[dana = answers:mean() > others and 1 or -1]],
      wrong = { [[dana = answers:mean() > others and -1 or 1]], [[dana = answers:mean() - others]], [[dana = 0]] },
      hint = { "The mean of many answers has little noise. Compare it with `others`.",
        "answers:mean() is the sum of all 20 votes, nearly. Is it above others or below?" },
      check = check_dana },

    { id = "truth", text = [[
The noise of the mean of 300 answers is 3 / sqrt(300) = 0.17. The two possible
sums are 2 apart, so the attacker errs less than once in a million times.

No coin decided whether Dana is in the batch. Nothing was sampled as far as an
attacker is concerned, and her record pays for a plain noisy sum every day. A
vote that is replaced moves such a sum by 2:]],
      code = [[truth = event.repeated(
  event.gaussian{sigma=3, sensitivity=2}, 300):epsilon(1e-6)
truth]], defines = { "truth" }, check = kit.looked "truth" },

    { id = "coins", text = [[
The truth is epsilon = 121, not 1.05. The defence is to make the claim true.

Poisson sampling: every evening each member enters the batch by a separate
coin of probability q. The coins stay secret. The size of the batch follows
from the coins, so it differs from day to day and stays secret, too. (These
coins are seeded, as a simulation; a release takes them from rng.secure().)]],
      code = [[coins = rng.seeded(1)
batch = s:draw(coins)
#batch, #s:draw(coins), #s:draw(coins)]], defines = { "coins", "batch" }, check = kit.looked("coins", "batch") },

    { id = "shift", text = [[
Now Dana is in a batch only when her coin says so, and nobody sees the coin.
The attacker averages again. How much of her vote is left in the average?]],
      ask = "Set `shift` to the change of one day's expected answer when Dana's vote turns from -1 to 1.",
      answer = [[shift = 0.02 * 2]],
      wrong = { [[shift = 2]], [[shift = 0.02]], [[shift = 0.02 * 2 * 300]], [[shift = 0]] },
      hint = { "On a day on which she is drawn, the sum moves by 2. On the other days it does not move.",
        "The expectation is the probability of being drawn times 2." },
      check = check_shift },

    { id = "rule", text = [[
A shift of 0.04 is lost in noise of 0.17. A single answer does not help
either: with probability 1 - q it has nothing to do with Dana at all.

For a pure mechanism the rule is short. A release that is epsilon-private for
the records of the batch is ln(1 + q (e^epsilon - 1))-private for all records,
under add_remove (Balle, Barthe, Gaboardi 2018).]],
      ask = "Set `small` to the cost of a 1-private release on a secret batch of rate q = 0.02.",
      answer = [[small = log(1 + 0.02 * (exp(1) - 1))]],
      wrong = { [[small = 0.02]], [[small = 1 + 0.02 * (exp(1) - 1)]], [[small = 1]] },
      hint = { "exp(1) is e^epsilon. Take the logarithm at the end.", "log(1 + q * (exp(1) - 1))" },
      check = check_small },

    { id = "limits", text = [[
0.034 in place of 1: a factor of 30. The gain depends on epsilon. A batch that
pays epsilon = 10 still costs ln(1 + 0.02 (e^10 - 1)) = 6.1. Sampling does not
rescue a release that has too little noise: on the days on which a record is
drawn, its release would show it.

For Gaussian noise there is no such short rule. The accountant integrates the
mixture of the two laws, drawn and not drawn (Mironov, Talwar, Zhang 2019;
Zhu, Dong, Wang 2022 for replace_one).]] },

    { id = "rates", text = [[
Here is what it says of 300 evenings, for two sizes of noise. q = 1 is the sum
of all records. With enough noise epsilon falls in proportion to q.]],
      plot = rates },

    { id = "choose", text = [[
The office wants epsilon = 1 for the 300 evenings, at delta = 1e-6 and with
sigma = 2. calibrate.rate{epsilon=, delta=, event=function(q) ... end} finds
the largest rate for which the event costs no more than that.]],
      ask = "Set `q` to the largest rate that the office can afford (to 3 percent of epsilon).",
      answer = [[q = calibrate.rate{epsilon=1, delta=1e-6, event=function(q)
  local s = sampler.poisson{n=1000, q=q}
  return event.repeated(s:event{sigma=2, contribution=1}, 300)
end}]],
      wrong = { [[q = 0.02]], [[q = 1 / 300]], [[q = 13]] },
      hint = { "The function makes a sampler of rate q, asks it for its event with sigma = 2, and repeats that 300 times.",
        "return event.repeated(sampler.poisson{n=1000, q=q}:event{sigma=2, contribution=1}, 300)" },
      check = check_q },

    { id = "gain", text = [[
What is gained? To estimate the sum of all votes, the sum of a batch is
divided by q, and its noise with it. Compare with noise on the sum of all
1000 votes at the same price. Both numbers are noise for each member:]],
      code = [[full = calibrate.noise{epsilon=1, delta=1e-6, event=function(sigma)
  return event.repeated(event.gaussian{sigma=sigma, sensitivity=2}, 300)
end}
full / 1000, 2 / (q * 1000)]], defines = { "full" }, check = kit.looked "full" },

    { id = "work", text = [[
0.157 and 0.158: the noise is the same. In addition, a batch of 13 votes
differs from the vote of the club by chance, and the sum of all 1000 does not.
So sampling makes no answer better. It makes answers cheaper to compute: 13
records a day, not 1000. That is why private training of large models draws
batches: as many steps with about the same noise, and far fewer records read.]] },

    { id = "lists", text = [[
To show that the coins are fair, the office now publishes each day's batch
on the day after: `lists`[1], ..., `lists`[300] are tables of the members who
were drawn (q = 0.02, sigma = 3). Whoever reads the lists knows on which days
a member was in, and that no other day tells about this member.]],
      ask = "Set `worst` to the true epsilon at delta = 1e-6 of the 300 days, for the member who was drawn most often.",
      answer = [[times = vec.zeros(1000)
for _, list in ipairs(lists) do
  for _, member in ipairs(list) do times[member] = times[member] + 1 end
end
day = event.gaussian{sigma=3, sensitivity=2}
worst = event.repeated(day, (times:max())):epsilon(1e-6)]],
      wrong = { [[worst = event.repeated(event.gaussian{sigma=3, sensitivity=2}, 6):epsilon(1e-6)]],
        [[worst = event.repeated(event.gaussian{sigma=3, sensitivity=2}, 300):epsilon(1e-6)]],
        [[worst = claim]], [[worst = 15]] },
      hint = { "Count how often each member stands in the lists, and take the largest count.",
        "event.repeated(event.gaussian{sigma=3, sensitivity=2}, count):epsilon(1e-6)" },
      check = check_worst },

    { id = "end", text = [[
epsilon = 16, fifteen times the claim, and the noise is still the same. The
price at rate q holds only while the batches are secret: the lists, the sizes,
the seed, and what follows from them, such as how long a step took.

Other samplers have other laws. sampler.fixed draws a set of fixed size anew
each time. sampler.shuffled goes through all records in disjoint batches.
`help "sampler"` lists them. solve.sgd draws its batches in secret, and its
plan states the rate and the price.]] },
  },
}
