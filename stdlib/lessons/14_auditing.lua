-- 14_auditing.lua -- the lesson on audits: a mechanism that has half of its noise, how events show it, luck and confidence, power,
-- mechanisms that lie only where nobody looks, and audits of the library's own.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

-- The counts of the lesson: Laplace noise for epsilon = 1, times factor(count), from rng or a stream of its own.
local function counter(factor)
  local mechanism = pn.mechanism.laplace { epsilon = 1, sensitivity = 1 }
  local ledger, own = pn.ledger { rho = 1e9, teaching = true }, pn.rng.seeded(1)
  return function(count, rng)
    local released = mechanism:release(count, { ledger = ledger, rng = rng or own })
    return count + factor(count) * (released - count)
  end
end

local asked = setmetatable({}, { __mode = "k" }) -- the last two different counts that a watched mechanism was given

local function watched(mechanism)
  local last = {}
  local function watching(count, rng)
    if count ~= last[1] then last[1], last[2] = count, last[1] end
    return mechanism(count, rng)
  end
  asked[watching] = last
  return watching
end

local function constant(factor)
  return function() return factor end
end

-- Of `runs` answers, the share in an event.
local function share(source)
  return function(mechanism, count, event, runs)
    local inside = 0
    runs = runs or 10000
    for _ = 1, runs do
      if event(mechanism(count, source)) then inside = inside + 1 end
    end
    return inside / runs
  end
end

-- The best of 30 thresholds, as seen in `runs` answers on 100 and on 101: what an auditor without scruples would report.
local function hunt(source)
  return function(mechanism, runs)
    local best, a, b = 0, {}, {}
    for i = 1, runs do a[i], b[i] = mechanism(100, source), mechanism(101, source) end
    for k = 1, 30 do
      local t, p, q = 95 + k / 5, 0, 0
      for i = 1, runs do
        if a[i] <= t then p = p + 1 end
        if b[i] <= t then q = q + 1 end
      end
      if q > 0 then best = math.max(best, math.log(p / q)) end
    end
    return best
  end
end

local function is_result(v)
  return pcall(function() return v.epsilon_lower, v.violated, v.claimed end)
end

local function check_estimate(env)
  local e = env.estimate
  if type(e) ~= "number" then return false, e == nil and "estimate is still to come" or "estimate should be a number" end
  if near(e, 2, 0.17) then return true end
  if near(e, -2, 0.17) then return false, "the smaller share is on top" end
  if near(e, math.exp(2), 1.4) then return false, "that is the ratio; epsilon is its logarithm" end
  if e > 2.17 then return false, "so rare an event that mostly luck was counted" end
  return false, ("%.3g: another event shows more. Below 100 the two densities differ by the same factor everywhere"):format(e)
end

local function check_most(env)
  local m = env.most
  local a = 0.025 ^ (1 / 5000)
  local truth = math.log(a / (1 - a))
  if near(m, truth, 2e-3) then return true end
  if m == nil then return false, "most is still to come" end
  if near(m, math.log(0.95 ^ (1 / 5000) / (1 - 0.95 ^ (1 / 5000))), 2e-2) then
    return false, "0.95 is the chance that nothing goes wrong; what may go wrong on each side is 0.025"
  end
  if near(m, math.log(5000), 0.01) then
    return false, "an event that was not seen in 5000 runs can well have a chance of 1/5000, or more"
  end
  if near(m, math.log(1 / (1 - a)), 2e-4) then return false, "close: p1 is not certain to be 1 either" end
  return false, "ln(p1/p2) with p1^5000 = 0.025 and (1 - p2)^5000 = 0.025"
end

local function check_caught(env)
  local r = env.caught
  if not r then return false, "caught is still to come" end
  if not is_result(r) then return false, "caught should be what pn.audit returned" end
  if r.claimed == nil then return false, "no claim was tested: see epsilon= of pn.audit" end
  if not near(r.claimed, 1, 1e-6) then return false, ("the claim is epsilon = 1, you tested %g"):format(r.claimed) end
  if r.confidence < 0.95 - 1e-9 then
    return false, ("with confidence %g an honest seller is accused too easily"):format(r.confidence)
  end
  if not r.violated then return false, ("it shows %.3f only; the claim stands"):format(r.epsilon_lower) end
  if r.epsilon_lower > 1.3 then return false, "that is not slight's: it has at most epsilon = 1.25" end
  return true
end

local function check_sly(env)
  local r = env.sly
  if not r then return false, "sly is still to come" end
  if not is_result(r) then return false, "sly should be what pn.audit returned" end
  if not (r.claimed and near(r.claimed, 1, 1e-6)) then return false, "the claim is epsilon = 1: see epsilon= of pn.audit" end
  local a, b = table.unpack(asked[env.sneaky] or {})
  if not b then return false, "that is not an audit of sneaky" end
  if math.abs(a - b) ~= 1 then return false, ("%g and %g are not neighbours: one person changes a count by 1"):format(b, a) end
  if r.violated then return true end
  return false, ("%.3f on these two counts. It is honest there; where would an author save on noise?"):format(r.epsilon_lower)
end

local function check_own(env)
  local r = env.own
  if not r then return false, "own is still to come" end
  if not is_result(r) then return false, "own should be what pn.audit returned" end
  if not r.claimed then return false, "no claim was tested: see event= of pn.audit" end
  if r.violated then return false, "refuted, so this is not the mechanism with the claim that its event makes" end
  if not near(r.claimed, 2, 0.01) then
    return false, ("the claim tested is epsilon = %.3g; two, is asked for"):format(r.claimed)
  end
  if r.epsilon_lower < 1.2 then
    return false, ("it shows %.3f, far below the claim: weak neighbours, or few runs"):format(r.epsilon_lower)
  end
  return true
end

-- Lower bounds against the number of runs, for three sizes of noise.
local function powers()
  local series = { title = "What an audit shows", xlabel = "trials", ylabel = "epsilon, at least", logx = true }
  for _, factor in ipairs { 0.5, 0.8, 1 } do
    local mechanism, x, y = counter(constant(factor)), {}, {}
    for k, trials in ipairs { 100, 300, 1000, 3000, 10000 } do
      x[k] = trials
      y[k] = pn.audit(mechanism, { neighbours = { 100, 101 }, trials = trials, progress = false,
        rng = pn.rng.seeded(1) }).epsilon_lower
    end
    series[#series + 1] = { x = x, y = y, label = ("noise times %g"):format(factor) }
  end
  pn.plot.line(series)
end

return {
  name = "auditing",
  title = "Auditing",
  minutes = 15,
  about = "Catching a mechanism that lies, and knowing what a pass is worth.",
  source = "Jagielski, Ullman, Oprea (2020); Clopper, Pearson (1934); Steinke, Nasr, Jagielski (2023)",
  setup = function(env)
    env.sold = counter(constant(0.5))
    env.honest = counter(constant(1))
    env.slight = counter(constant(0.8))
    env.sneaky = watched(counter(function(count) return count <= 1 and 0.5 or 1 end))
    env.share, env.hunt = share(pn.rng.seeded(2)), hunt(pn.rng.seeded(3))
  end,
  steps = {
    { id = "claim", text = [[
You buy a program that releases counts. Its seal says "epsilon = 1, Laplace
noise". You cannot read its source. You can run it, on counts of your own, as
often as you like. Here it is: `sold`(count). (All noise of this lesson is
seeded, so that it repeats.)]],
      code = [[
sold(100), sold(100), sold(101)]],
      check = kit.looked() },

    { id = "histogram", text = [[
There is noise, undoubtedly. Is it enough? No single answer can say. The
promise is P(answer on D in S) <= e^epsilon P(answer on D' in S) for every
event S, on neighbouring data. So look at many answers, on a count of 100 and
on 101.]],
      plot = function(env)
        local a, b, r = {}, {}, pn.rng.seeded(4)
        for i = 1, 4000 do a[i], b[i] = env.sold(100, r), env.sold(101, r) end
        pn.plot.histogram { { samples = a, label = "on 100" }, { samples = b, label = "on 101" }, bins = 40,
          title = "4000 answers each", xlabel = "answer" }
      end },

    { id = "event", text = [[
Any one event gives a bound from below: epsilon >= ln(P/P'). The art is to
choose it. share(sold, 100, event) runs sold 10,000 times on 100 and tells
how often event(answer) was true. Try the answers below 99:]],
      code = [[
function low(a) return a < 99 end
share(sold, 100, low), share(sold, 101, low)]], check = kit.looked "low" },

    { id = "estimate", text = [[
The shares are 0.0685 and 0.0098: a ratio of 7, where e is allowed. That looks
bad for a seal of epsilon = 1. But the second share rests on 98 runs.]],
      ask = [[
Choose an event that is frequent on 100 and as telling as any. Set `estimate`
to the epsilon that it suggests.]],
      answer = [[
function event(a) return a <= 100 end
estimate = log(share(sold, 100, event) / share(sold, 101, event))]],
      wrong = {
        [[function event(a) return a <= 100.5 end
estimate = log(share(sold, 100, event) / share(sold, 101, event))]],
        [[function event(a) return a <= 100 end
estimate = log(share(sold, 101, event) / share(sold, 100, event))]],
        [[function event(a) return a <= 100 end
estimate = share(sold, 100, event) / share(sold, 101, event)]],
      },
      hint = { "Between 100 and 101 the ratio of the densities changes; up to 100 it is the same everywhere.",
        "The event a <= 100, and the logarithm of the ratio of its two shares." },
      check = check_estimate },

    { id = "luck", text = [[
It suggests about 2, twice what was sold. Is that a case for court? The
defence asks: how do you know that it was not luck? You looked for the event
that accuses best.

Give `honest`, which has the noise it should, to an auditor who tries 30
thresholds on 200 runs and reports the largest ln(P/P') he saw:]],
      code = [[
hunt(honest, 200), hunt(honest, 200), hunt(honest, 200)]], check = kit.looked() },

    { id = "repair", text = [[
It reports 1.1, 2.1 and 2.3: an innocent mechanism, accused three times. There
are two repairs.

Choose the event on one half of the runs, and count it on the other half.
And replace the shares by confidence bounds: p1 from below for the first, p2
from above for the second, each wrong with probability 0.025 at most (Clopper,
Pearson 1934, exact for any N). Then epsilon >= ln(p1/p2) is wrong with
probability 0.05 at most, whatever the mechanism is. That is an audit:]],
      code = [[
function check(mechanism)
  return pn.audit(mechanism, {neighbours={100, 101}, trials=10000,
    epsilon=1, rng=rng.seeded(1)})
end
print(check(sold))
print(check(honest))]], defines = { "check" } },

    { id = "power", text = [[
The first claim is refuted, the second is not. But the audit says 1.90 where 2
is true, and 0.92 where 1 is. An audit that is seldom wrong must stay below
the truth.

How far can it get at all? Take the worst case, a mechanism without noise: the
event happened in all N = 5000 counted runs on one side and in none on the
other. The bounds are then p1^N = 0.025 and (1 - p2)^N = 0.025.]],
      ask = [[
Set `most` to the largest epsilon that 5000 counted runs can ever show.]],
      answer = [[
p1 = 0.025^(1/5000)
p2 = 1 - p1
most = log(p1 / p2)]],
      wrong = {
        [[most = log(5000)]],
        [[p1 = 0.95^(1/5000) most = log(p1 / (1 - p1))]],
        [[most = log(1 / (1 - 0.025^(1/5000)))
most = most - 0.1]],
      },
      hint = { "Solve both equations: p1 is the N-th root of 0.025, and p2 is 1 - p1.", "log(p1 / p2)" },
      check = check_most },

    { id = "limit", text = [[
pn.audit agrees, on a mechanism that just tells the count:]],
      code = [[
naked = pn.audit(function(count) return count end,
  {neighbours={100, 101}, trials=10000})
naked.epsilon_lower, most]], check = kit.looked "naked" },

    { id = "picture", text = [[
At most 7.21, though the truth is infinite: about ln(N/3.7), so each further
unit of epsilon needs e times the runs. The bounds as the runs increase, for
the noise of the seal times 0.5, 0.8 and 1. True are 2, 1.25 and 1.]],
      plot = powers },

    { id = "slight", text = [[
Few runs show little: with 100, even half the noise passes more often than
not, by the luck of the seed. A pass with few runs is no evidence. `slight`
has noise times 0.8, so epsilon = 1.25.]],
      ask = [[
Set `caught` to an audit of slight that refutes the claim epsilon = 1 with
confidence 0.95 or more.]],
      answer = [[
caught = pn.audit(slight, {neighbours={100, 101}, trials=20000, epsilon=1,
  rng=rng.seeded(1)})
print(caught)]],
      wrong = {
        [[caught = pn.audit(slight, {neighbours={100, 101}, trials=200, epsilon=1,
  rng=rng.seeded(1)})]],
        [[caught = pn.audit(slight, {neighbours={100, 101}, trials=20000, epsilon=1, confidence=0.5,
  rng=rng.seeded(1)})]],
        [[caught = pn.audit(slight, {neighbours={100, 101}, trials=20000, epsilon=0.9,
  rng=rng.seeded(1)})]],
        [[caught = pn.audit(sold, {neighbours={100, 101}, trials=10000, epsilon=1,
  rng=rng.seeded(1)})]],
      },
      hint = { "The call of before, with slight. What in it decides how close to 1.25 the bound gets?",
        "trials = 20000, and epsilon = 1 as the claim." },
      check = check_caught },

    { id = "sneaky", text = [[
An audit looks where it is pointed: at two data sets that the auditor made
up. The promise is about all pairs. `sneaky` passes at 100 and 101, with as
many runs as you like; and it is not private.]],
      ask = [[
Find two neighbouring counts on which its claim, epsilon = 1, is refuted:
set `sly` to that audit.]],
      answer = [[
sly = pn.audit(sneaky, {neighbours={0, 1}, trials=10000, epsilon=1,
  rng=rng.seeded(1)})
print(sly)]],
      wrong = {
        [[sly = pn.audit(sneaky, {neighbours={100, 101}, trials=10000, epsilon=1,
  rng=rng.seeded(1)})]],
        [[sly = pn.audit(sneaky, {neighbours={9, 10}, trials=10000, epsilon=1,
  rng=rng.seeded(1)})]],
      },
      hint = { "Small counts are where noise hurts most: an author may have spared them.",
        "Try the neighbours {0, 1}, then {1, 2}, {2, 3}." },
      check = check_sly },

    { id = "mechanism", text = [[
Now the library itself. A mechanism carries its claim as an event, and
`event=` hands that to the audit. Audits repeat a release thousands of times,
so they pay from a teaching ledger.]],
      ask = [[
Audit a Laplace mechanism of this library that promises epsilon = 2: set
`own` to a result that tests its event, on counts that differ by 1, and shows
at least 1.2.]],
      answer = [[
m = pn.mechanism.laplace{epsilon=2, sensitivity=1}
purse = pn.ledger{rho=1e9, teaching=true}
function release(count, rng)
  return (m:release(count, {ledger=purse, rng=rng}))
end
own = pn.audit(release, {neighbours={10, 11}, trials=10000, event=m.event,
  rng=rng.seeded(1)})
print(own)]],
      wrong = {
        [[m = pn.mechanism.laplace{epsilon=2, sensitivity=1}
purse = pn.ledger{rho=1e9, teaching=true}
own = pn.audit(function(count, rng)
  return (m:release(count, {ledger=purse, rng=rng}))
end, {neighbours={10, 10.5}, trials=10000, event=m.event,
  rng=rng.seeded(1)})]],
        [[m = pn.mechanism.laplace{epsilon=2, sensitivity=1}
purse = pn.ledger{rho=1e9, teaching=true}
own = pn.audit(function(count, rng)
  return (m:release(count, {ledger=purse, rng=rng}))
end, {neighbours={10, 12}, trials=10000, event=m.event,
  rng=rng.seeded(1)})]],
        [[m = pn.mechanism.laplace{epsilon=1, sensitivity=1}
purse = pn.ledger{rho=1e9, teaching=true}
own = pn.audit(function(count, rng)
  return (m:release(count, {ledger=purse, rng=rng}))
end, {neighbours={10, 11}, trials=10000, event=m.event,
  rng=rng.seeded(1)})]],
      },
      hint = { "m = pn.mechanism.laplace{epsilon=2, sensitivity=1}; return (m:release(count, {ledger=purse, rng=rng})).",
        "pn.audit(release, {neighbours={10, 11}, trials=10000, event=m.event}) with purse = pn.ledger{rho=1e9, teaching=true}." },
      check = check_own },

    { id = "one-run", text = [[
Thousands of runs are too many where a run is a training of hours. Steinke,
Nasr and Jagielski (2023) need one: put m canaries into the data, each by the
toss of a coin, and guess from the output which are there. Each right guess
is a piece of evidence. 2000 canaries, each adds 1 to a coordinate of its own
of a Gaussian sum with sigma = 0.5:]],
      code = [[
purse = pn.ledger{rho=1e9, teaching=true, neighbours="add_remove"}
m = pn.mechanism.gaussian{sigma=0.5, sensitivity=1, dim=2000,
  neighbours="add_remove"}
function once(included, rng)
  sum = vec.zeros(2000)
  for i = 1, 2000 do sum[i] = included[i] and 1 or 0 end
  return (m:release(sum, {ledger=purse, rng=rng}))
end
print(pn.audit(once, {canaries=2000, guesses=200, delta=1e-5,
  event=m.event, rng=rng.seeded(1)}))]], defines = { "once" } },

    { id = "end", text = [[
The claim is not refuted, and the bound stays further below it than with two
data sets: that is the price of a single run.

An audit that accuses is a proof, up to its confidence. One that passes is
none: it speaks of the neighbours, the events and the runs that were tried.
Proofs make mechanisms private; audits find the bug between the proof and the
program. The tests of this library audit every mechanism, and plant faults to
see that the audits would find them.]] },
  },
}
