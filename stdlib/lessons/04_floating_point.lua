-- 04_floating_point.lua -- the lesson on noise in doubles: textbook Laplace noise reaches other doubles from 0 than from 1, so an
-- answer often tells the input for certain; the same attack on lattice noise is a guess.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local UNIT = 2.0 ^ -53

-- As in textbooks: f plus Laplace noise of scale 1, from a uniform double and a coin.
local function new_naive(seed)
  local source = pn.rng.seeded(seed)
  return function(f)
    local u = 1 - source:uniform() -- in (0, 1], a multiple of 2^-53
    local sign = source:uniform() < 0.5 and -1 or 1
    return f + sign * math.log(u)
  end
end

-- Whether naive(f) can be y at all: the uniform number is one of nine multiples of 2^-53.
local function reachable(y, f)
  local guess = math.floor(math.exp(-math.abs(y - f)) / UNIT + 0.5)
  local sign = y >= f and -1 or 1
  for k = guess - 4, guess + 4 do
    if k >= 1 and f + sign * math.log(k * UNIT) == y then return true end
  end
  return false
end

local function identify(y)
  local zero, one = reachable(y, 0), reachable(y, 1)
  if zero ~= one then return zero and 0 or 1 end
end

local function near(x, y, tolerance)
  return type(x) == "number" and math.abs(x - y) <= tolerance
end

local function check_grid(env)
  local grid = env.grid
  if type(grid) ~= "number" or not (grid > 0) then return false, "grid should be a positive number" end
  local naive, seen = new_naive(21), 0
  while seen < 200 do
    local y = naive(1)
    if y > 0 and y <= 0.25 then
      seen = seen + 1
      if (y / grid) % 1 ~= 0 then return false, ("%a is an output, and no multiple of %a"):format(y, grid) end
    end
  end
  if grid == UNIT then return true end
  return false, "all are multiples of it, but of a larger power of two as well"
end

local function check_undo(env)
  if type(env.undo) ~= "function" then return false, "undo should be a function of y and f" end
  for _, case in ipairs { { 0.7, 0 }, { -1.3, 0 }, { 1.9, 1 }, { 0.2, 1 } } do
    local y, f = case[1], case[2]
    local u = env.undo(y, f)
    if not near(u, math.exp(-math.abs(y - f)), 1e-9) then
      if near(u, -math.abs(y - f), 1e-9) then return false, "that is ln u; what is u?" end
      if type(u) == "number" and not (u > 0 and u <= 1) then
        return false, ("undo(%g, %g) is %.4g, and u is between 0 and 1. The noise has a sign"):format(y, f, u)
      end
      return false, ("undo(%g, %g) is %s, from which naive would not get there"):format(y, f, tostring(u))
    end
  end
  return true
end

local function check_identify(env)
  if type(env.identify) ~= "function" then return false, "identify should be a function of y" end
  local naive, named, wrong = new_naive(22), 0, 0
  for i = 1, 400 do
    local verdict = env.identify(naive(i % 2))
    if verdict ~= nil and verdict ~= i % 2 then wrong = wrong + 1 end
    if verdict == i % 2 then named = named + 1 end
  end
  if wrong > 0 then return false, ("it was wrong in %d of 400 cases. Say nothing unless you are certain"):format(wrong) end
  if named < 200 then return false, ("it was never wrong, but named only %d of 400"):format(named) end
  return true
end

local function check_epsilon(env)
  if env.epsilon == math.huge then return true end
  if near(env.epsilon, 1, 1e-9) then return false, "that is what real numbers would give. Here P[naive(1) = y] is 0 for some y" end
  return false, "P[naive(0) = y] <= exp(epsilon) P[naive(1) = y] must hold where the right side has probability 0"
end

local function check_step(env)
  local step = env.step
  if type(step) ~= "number" or not (step >= 2.0 ^ -45 and step < math.huge) then
    return false, "step should be a number, 2^-45 or more"
  end
  local m, L = pn.mechanism.laplace { epsilon = 1, sensitivity = 1 }, pn.ledger { epsilon = 1000 }
  for i = 1, 200 do
    local y = m:release(i % 2, { ledger = L })
    local quotient = y / step
    if quotient ~= math.floor(quotient) then
      return false, ("%.17g is an output for %d, and no multiple of it"):format(y, i % 2)
    end
  end
  return true
end

local function check_counts(env)
  local right, wrong = env.right, env.wrong
  if type(right) ~= "number" or type(wrong) ~= "number" then return false, "right and wrong should be numbers" end
  if right + wrong < 400 or right + wrong > 1400 then
    return false, ("it names about 800 of 2000 answers, you have %g"):format(right + wrong)
  end
  if right < 0 or wrong < 0 then return false, "they are counts, which are not negative" end
  if wrong < 100 then return false, "so rarely wrong it is with the naive noise; this is about safe(f)" end
  if right / (right + wrong) > 0.80 then return false, "no attack is right so often at epsilon = 1" end
  if right < wrong then return false, "it is right more often than wrong: did the two change places?" end
  return true
end

-- Against y, the share of answers for which count(y, f) holds.
local function shares(draw, f, holds, total)
  local x, hits, all = {}, {}, {}
  for k = 1, 24 do x[k], hits[k], all[k] = -3 + 7 * (k - 0.5) / 24, 0, 0 end
  for _ = 1, total do
    local y = draw(f)
    local k = math.floor((y + 3) / 7 * 24) + 1
    if k >= 1 and k <= 24 then
      all[k] = all[k] + 1
      hits[k] = hits[k] + (holds(identify(y)) and 1 or 0)
    end
  end
  for k = 1, 24 do hits[k] = all[k] > 0 and hits[k] / all[k] or 0 end
  return x, hits
end

-- A 95 percent interval for the rate of what was seen k times in n (Wilson 1927).
local function interval(k, n)
  local z2 = 1.959964 ^ 2
  local middle, half = (k + z2 / 2) / (n + z2), math.sqrt(z2 * (k * (n - k) / n + z2 / 4)) / (n + z2)
  return middle - half, middle + half
end

local function certainty()
  local naive = new_naive(23)
  local x, zero = shares(naive, 0, function(verdict) return verdict == 0 end, 6000)
  local _, one = shares(naive, 1, function(verdict) return verdict == 1 end, 6000)
  pn.plot.line { { x = x, y = zero, label = "input 0" }, { x = x, y = one, label = "input 1" },
    title = "Naive noise: share of answers that give the input away", xlabel = "answer y", ylabel = "share" }
end

local function confusion()
  local m, L = pn.mechanism.laplace { epsilon = 1, sensitivity = 1 }, pn.ledger { epsilon = 100000 }
  local function safe(f) return (m:release(f, { ledger = L })) end
  local x, right = shares(safe, 1, function(verdict) return verdict == 1 end, 6000)
  local _, wrong = shares(safe, 1, function(verdict) return verdict == 0 end, 6000)
  pn.plot.line { { x = x, y = right, label = "says 1" }, { x = x, y = wrong, label = "says 0" },
    title = "Lattice noise, input 1: what the attack says", xlabel = "answer y", ylabel = "share" }
end

return {
  name = "floating_point",
  title = "The floating-point attack",
  minutes = 15,
  about = "Textbook noise in doubles tells its input for certain more often than not, and noise on a lattice does not.",
  source = "Mironov (2012); Jin, McMurtry, Rubinstein, Ohrimenko (2022); Haney et al. (2022)",
  setup = function(env)
    env.naive, env.reachable, env.interval = new_naive(4), reachable, interval
  end,
  steps = {
    { id = "textbook", text = [[
Is a certain person in the data? The count is 0 or 1, its sensitivity is 1.
naive(f) adds Laplace noise of scale 1, as textbooks and many programs do:

  u = a uniform double in (0, 1]    sign = a fair coin, -1 or 1
  return f + sign * log(u)

In real numbers it is exactly 1-private. (It is seeded: a simulation.)]],
      code = [[y = naive(1)]], defines = { "y" } },

    { id = "doubles", text = [[
But a computer has no real numbers. The uniform double is one of 2^53
multiples of 2^-53, so naive(f) has at most 2^54 different answers; and every
operation is rounded to 53 significant bits.

The proof of 1-privacy compares densities. Here there are none: there is a
finite set of answers for f = 0, another one for f = 1. Are they equal?]] },

    { id = "grid", text = [[
Look at answers of naive(1) in (0, 1/4]. They are 1 + log(u), and log(u) is
between -1 and -3/4. Doubles of that size are multiples of 2^-53; 1 is a
multiple of it; so is what is left. But doubles near 1/8 could be much finer.]],
      ask = "Set `grid` to the largest power of two of which all answers of naive(1) in (0, 1/4] are multiples.",
      answer = [[grid = 2^-53]],
      wrong = { [[grid = 2^-52]], [[grid = 2^-60]], [[grid = 0]], [[grid = 2^-20]] },
      hint = { "It is in the text above: the spacing of doubles between 1/2 and 1.", "2^-53" },
      check = check_grid },

    { id = "unreachable", text = [[
naive(0) gets into the same interval as -log(u) with u near 1: other numbers,
most of them no such multiples. An answer that is not a multiple cannot have
come from 1, and no statistics are needed to say so.

In general: given y, could naive(f) have returned it? Only one u is possible,
up to rounding.]],
      ask = "Write a function `undo(y, f)` that returns the u in (0, 1] with f + log(u) = y or f - log(u) = y, in real numbers.",
      answer = [[function undo(y, f) return exp(-abs(y - f)) end]],
      wrong = { [[function undo(y, f) return exp(y - f) end]], [[function undo(y, f) return -abs(y - f) end]],
        [[function undo(y, f) return log(abs(y - f)) end]], [[undo = 3]] },
      hint = { "log(u) is never positive, so |y - f| = -log(u), whatever the coin was.", "Solve |y - f| = -log(u) for u." },
      check = check_undo },

    { id = "reachable", text = [[
reachable(y, f) does the rest: it takes the nine multiples of 2^-53 around
undo(y, f), computes the answer for each as naive does, and looks whether one
is y to the last bit. This is Mironov's attack (2012). Our answer came from 1:]],
      code = [[from0, from1 = reachable(y, 0), reachable(y, 1)]], defines = { "from0", "from1" } },

    { id = "identify", text = [[
For every answer of naive(f), reachable(y, f) is true, of course. When the
other one is false, the input is known for certain.]],
      ask = "Write a function `identify(y)` that returns 0 or 1 when the input is certain, and nil otherwise.",
      answer = [[function identify(y)
  local zero, one = reachable(y, 0), reachable(y, 1)
  if zero and not one then return 0 end
  if one and not zero then return 1 end
end]],
      wrong = { [[function identify(y) return y < 0.5 and 0 or 1 end]], [[function identify(y) return nil end]],
        [[function identify(y) if reachable(y, 0) then return 0 end end]], [[identify = reachable]] },
      hint = { "0 is certain when y can be reached from 0 and cannot from 1.",
        "local zero, one = reachable(y, 0), reachable(y, 1), and two ifs." },
      check = check_identify },

    { id = "count", text = [[
It was never wrong in 400 answers. How often does it give a verdict? Ask it
about 1000 answers from each input. interval(k, n) is a 95 percent interval
for the rate of what was seen k times in n.]],
      code = [[
hits, errors = 0, 0
for i = 1, 2000 do
  local input, verdict = i % 2, identify(naive(i % 2))
  if verdict == input then hits = hits + 1
  elseif verdict then errors = errors + 1 end
end
hits, errors, interval(hits, 2000)]], check = kit.looked("hits", "errors") },

    { id = "certainty", text = [[
Nearly 2 of 3 answers give their input away (60 percent from 1, 67 from 0),
without one error, and all with "epsilon = 1". The picture shows where those
answers lie:]], plot = certainty },

    { id = "infinite", text = [[
What is naive's guarantee, then? Pure epsilon-DP asks for all y that
P[naive(0) = y] <= exp(epsilon) P[naive(1) = y], and the same exchanged.]],
      ask = "Set `epsilon` to the least epsilon for which naive is epsilon-private.",
      answer = [[epsilon = math.huge]],
      wrong = { [[epsilon = 1]], [[epsilon = 53 * log(2)]], [[epsilon = 1e9]] },
      hint = { "There are y with probability above 0 from 0, and probability 0 from 1.", "No finite number: math.huge." },
      check = check_epsilon },

    { id = "no-repair", text = [[
Nor does a delta help: it would have to be about 2/3. Things that do not help:

  other formulas    polar, Box-Muller, ziggurat Gaussians (Jin et al. 2022)
  a grid for noise  when the value is not on it as well (Haney et al. 2022)

Rounding y coarsely does help, with care and a proof: snapping (Mironov 2012).

No accountant sees any of this: all of them compute with real numbers.]] },

    { id = "lattice", text = [[
What helps is to leave doubles: round the VALUE to a whole number of tiny
steps first, draw a whole number from the exact discrete law, add the two as
integers, and multiply by the step at the end. A mechanism here does that.
(The budget is absurd, since we want to measure.)]],
      code = [[m = mechanism.laplace{epsilon=1, sensitivity=1}
L = pn.ledger{epsilon=100000}
function safe(f) return (m:release(f, {ledger=L})) end]], defines = { "m", "L", "safe" } },

    { id = "step", text = [[
Print `m`: it says how far apart the steps are, as a fraction of m.scale
(which is a bit above 1, since rounding the value adds to its sensitivity).
Every answer is a multiple of one step, whichever the input.]],
      ask = "Set `step` to that step: a number, not below 2^-45, of which all answers of safe(0) and of safe(1) are multiples.",
      answer = [[step = m.scale * 2^-40]],
      wrong = { [[step = 2^-30]], [[step = m.scale]], [[step = 0]], [[step = 2^-53]] },
      hint = { "Type m, and read \"rounded to multiples of\".", "m.scale times 2 to that power." },
      check = check_step },

    { id = "try-again", text = [[
So both inputs have the same answers, all multiples of the step, and every one
has a probability above 0 from either: that is what the proof needs. Run the
attack all the same.]],
      ask = "Run identify on 1000 answers of safe(0) and 1000 of safe(1). Set `right` and `wrong` to how often it named the true "
        .. "input, and the other one.",
      answer = [[right, wrong = 0, 0
for i = 1, 2000 do
  local input = i % 2
  local verdict = identify(safe(input))
  if verdict == input then right = right + 1
  elseif verdict then wrong = wrong + 1 end
end
print(right, wrong, interval(right, right + wrong))]],
      wrong = { [[right, wrong = 2000, 0]], [[right, wrong = 1000, 0]], [[right, wrong = 0, 0]] },
      hint = { "The loop of the count before, with safe in place of naive.",
        "if verdict == input then right = right + 1 elseif verdict then wrong = wrong + 1 end" },
      check = check_counts },

    { id = "confusion", text = [[
Where it gives a verdict it is right in 63 cases of 100, with noise as weak as
before: worse than guessing 1 above y = 1/2 and 0 below, which is right in 70.
When both inputs are equally likely, no attack at epsilon = 1 is right in more
than exp(1) / (1 + exp(1)) = 73. Its verdicts on answers to input 1:]], plot = confusion },

    { id = "end", text = [[
A proof about real numbers does not protect doubles. The set of answers has to
be the same for every input, and the law on it exact; with integers one can
have both. Penumbra's mechanisms and solvers draw all private noise so, and
charge what the rounding adds.

Next: noise in an algorithm with many steps, gradient descent.]] },
  },
}
