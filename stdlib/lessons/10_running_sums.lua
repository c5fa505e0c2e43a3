-- 10_running_sums.lua -- the lesson on counters: differences of prefixes against reused noise, averages against fresh noise, what a
-- new noise for each prefix costs, and the tree, its better estimators and the factorizations that came after it.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local near = kit.near

local days = 1024

local function prefix(v)
  local sums, sum = pn.vec.zeros(#v), 0
  for i = 1, #v do
    sum = sum + v[i]
    sums[i] = sum
  end
  return sums
end

local function visits()
  local r, v = pn.rng.seeded(1), pn.vec.zeros(days)
  for i = 1, days do v[i] = r:integer(5) - 1 end
  return v
end

local function tree_of(options)
  options.dim, options.horizon, options.sensitivity, options.rho = 1, days, 1, 0.5
  options.rng = pn.rng.seeded(2)
  return pn.tree(options)
end

local function check_stolen(env)
  local stolen, truth = env.stolen, visits():slice(2, days)
  local ok, size = pcall(function() return #stolen, stolen:dot(pn.vec.zeros(#stolen)) end)
  if not ok then return false, stolen == nil and "stolen is still to come" or "stolen should be a vector" end
  if size == days then
    return false, "1024 numbers: of day 1 there is no difference, since nothing comes before it"
  elseif size ~= days - 1 then
    return false, ("stolen has %d entries; there are 1023 days to be told"):format(size)
  end
  if (stolen - truth):norm(math.huge) < 1e-6 then return true end
  if (stolen + truth):norm(math.huge) < 1e-6 then return false, "all signs are turned round" end
  return false, "these are not the visits of days 2 to 1024"
end

local function check_fresh(env)
  local s = env.sigma
  if near(s, 32, 1e-6) then return true end
  if near(s, 1, 1e-6) then return false, "that pays for one prefix; a record of day 1 is in all 1024 of them" end
  if near(s, 1024, 1e-6) then return false, "rho is quadratic: the l2 norm of 1024 changes of 1 each is not 1024" end
  if near(s, 64, 1e-6) or near(s, 45.254834, 1e-3) then
    return false, "a visit is there or not, a change of 1 in every prefix, and rho is 1/2"
  end
  return false, "rho = Delta^2 / (2 sigma^2), where Delta is how far one visit moves all prefixes together, in l2"
end

local function check_blocks(env)
  local truth = { [1] = 1, [6] = 2, [7] = 3, [8] = 1, [100] = 3, [512] = 1, [1000] = 6, [1023] = 10 }
  for _, t in ipairs { 1, 6, 7, 8, 100, 512, 1000, 1023 } do
    local ok, got = pcall(env.blocks, t)
    if not ok then return false, "blocks raises an error: " .. tostring(got) end
    if not near(got, truth[t], 1e-9) then
      return false, ("blocks(%d) is not %s; the bits of %d tell which blocks make up days 1 to %d"):format(t, tostring(got), t, t)
    end
  end
  return true
end

local function check_weight(env)
  local v = env.v
  if near(v, 8 / 15, 1e-4) then return true end
  if v == nil then return false, "v is still to come" end
  if near(v, 1, 1e-9) then return false, "that is the node by itself; its children know something, too" end
  if near(v, 4 / 7, 1e-4) then return false, "that is a block of 4; one level more" end
  if near(v, 8, 1e-9) or near(v, 1 / 9, 1e-4) then
    return false, "the eight leaves are not all there is below: the levels between have measurements of their own"
  end
  if near(v, 0.5, 1e-4) then return false, "that is the limit for ever larger blocks" end
  return false, "1/v_i = 1 + 1/(2 v_(i-1)), from v_0 = 1"
end

local function check_year(env)
  local t = env.year
  local ok, worst = pcall(function() return t:variance(t.horizon or 365) end)
  if not t then return false, "year is still to come" end
  if not ok then return false, "year should be a pn.tree with a horizon" end
  if not t.horizon or t.horizon < 365 then return false, "a year has 365 days" end
  if t.dim ~= 1 then return false, "one number a day is counted" end
  if t.simulated then return false, "its noise is seeded: whoever knows the seed can take it off again" end
  if t.neighbours ~= "zero_out" then
    return false, "it protects against another change than a visit that counts or not: see neighbours="
  end
  if t.event:epsilon(1e-6) > 1 + 1e-9 then return false, "at delta = 1e-6 it costs more than epsilon = 1" end
  worst = math.max(worst, (t:variances(365):max()))
  if worst > 15 ^ 2 then
    return false, ("private, but on its worst day the noise has a standard deviation of %.1f"):format(worst ^ 0.5)
  end
  if worst < 12 ^ 2 then return false, "so little noise does not cover a change of 1 in a day's count" end
  return true
end

local function curves()
  local x, series = pn.vec.linspace(1, days, days), {}
  local fresh, leaf = pn.vec.ones(days) * 32, x:map(function(t) return t ^ 0.5 end)
  series[1] = { x = x, y = fresh, label = "fresh noise" }
  series[2] = { x = x, y = leaf, label = "noise on each day" }
  for _, row in ipairs { { "tree", factorization = "binary", estimator = "plain" },
    { "tree, honaker", factorization = "binary", estimator = "honaker" }, { "square root", factorization = "sqrt" } } do
    local label = table.remove(row, 1)
    series[#series + 1] = { x = x, y = tree_of(row):variances(days):map(function(t) return t ^ 0.5 end), label = label }
  end
  series.title, series.xlabel, series.ylabel = "Noise on the running sum, rho = 0.5", "day", "standard deviation"
  series.logx, series.logy = true, true
  pn.plot.line(series)
end

return {
  name = "running_sums",
  title = "The tree mechanism",
  minutes = 15,
  about = "What a thousand running sums cost, and how little they have to.",
  source = "Dwork, Naor, Pitassi, Rothblum (2010); Chan, Shi, Song (2011); Honaker (2015); Henzinger, Upadhyay, Upadhyay (2023)",
  setup = function(env)
    local v, r = visits(), pn.rng.seeded(8)
    env.visits, env.prefix = v, prefix
    env.released = prefix(v) + 100 * pn.vec.normal(1, pn.rng.seeded(4))[1]
    env.fresh = function(sums, sigma) return sums + sigma * pn.vec.normal(#sums, r) end
    env.others = v - pn.vec.basis(days, 1)
    env.make = function(options) return tree_of(options) end
  end,
  steps = {
    { id = "counter", text = [[
A clinic counts visitors, and publishes each evening how many have come so
far: 1024 evenings, 1024 running sums. Whether one person's visit counted or
not is to be hidden; a visit moves its day's count by 1 and every later sum
with it.

A first idea. Draw one noise, large, standard deviation 100, and add it to
every sum. No sum can be told to within 100. `released` is that series:]],
      code = [[
released:slice(1, 8)]] },

    { id = "steal", text = [[
Each number by itself is well hidden. But they all hide behind the same
noise.]],
      ask = [[
Set `stolen` to the exact counts of days 2 to 1024, from `released` alone.]],
      answer = [[
stolen = released:slice(2) - released:slice(1, 1023)
print(stolen:slice(1, 8), visits:slice(2, 9))]],
      wrong = {
        [[stolen = released:slice(1, 1023) - released:slice(2)]],
        [[stolen = released - 100]],
        [[stolen = released:slice(2)]],
      },
      hint = { "What is left of the noise when one evening is taken from the next?",
        "v:slice(2) is v without its first entry, v:slice(1, 1023) without its last." },
      check = check_stolen },

    { id = "average", text = [[
Every count is revealed exactly. Noise that is used twice for different data
is no noise.

Next, draw fresh noise for every evening, of standard deviation 10: much more
than the 1 by which a visit moves a sum. An attacker knows all visits but one:
`others` are the counts without Ada, who may have come on day 1. He subtracts
what he knows, and takes the mean.]],
      code = [[
with = fresh(prefix(visits), 10) - prefix(others)
without = fresh(prefix(others), 10) - prefix(others)
with:sum() / 1024, without:sum() / 1024]], check = kit.looked("with", "without") },

    { id = "cost", text = [[
The mean has a standard deviation of 10/32 = 0.31 only, and tells 1 from 0 in
19 cases of 20: he has 1024 looks at Ada's visit. All sums together are one
vector, which her visit moves by 1 in every entry.]],
      ask = [[
Set `sigma` to the standard deviation that fresh noise needs for all 1024
sums together to be rho-zCDP with rho = 1/2, where rho = Delta^2 / (2
sigma^2).]],
      answer = [[
sigma = sqrt(1024)]],
      wrong = { [[sigma = 1]], [[sigma = 1024]], [[sigma = 2 * sqrt(1024)]] },
      hint = { "Delta is the l2 norm of a vector of 1024 ones.", "Delta = sqrt(1024), and with rho = 1/2 sigma is Delta." },
      check = check_fresh },

    { id = "middle", text = [[
Sigma is 32, and grows like sqrt(T). The other extreme: noise of standard
deviation 1 on each day's count, and sums of those. A visit is in one count
only: rho = 1/2, too. But evening t adds up t noises: sqrt(t), which is 32
again at the end.

Here a visit is in too many releases, there a release has too many noises.
Between them: measure blocks of 1, 2, 4, 8, ... days, each once, with its own
noise. A visit is in one block of each length. And a running sum?]] },

    { id = "blocks", text = [[
Days 1 to 7 are [1-4], [5-6], [7]: three blocks. Days 1 to 8 are one. The
blocks are aligned: those of length 4 are [1-4], [5-8], [9-12], ...]],
      ask = [[
Write the function `blocks`(t): the least number of such blocks that make up
days 1 to t.]],
      answer = [[
function blocks(t)
  return t == 0 and 0 or t % 2 + blocks(t // 2)
end]],
      wrong = {
        [[function blocks(t) return t end]],
        [[function blocks(t) return math.floor(log(t) / log(2)) + 1 end]],
        [[function blocks(t) return t % 2 + t // 2 end]],
      },
      hint = { "Write t in binary: 7 is 111, 8 is 1000, 100 is 1100100.",
        "Count the ones: t % 2 is the last bit, t // 2 has the others." },
      check = check_blocks },

    { id = "tree", text = [[
At most 10 for t < 1024. And a visit is in 10 blocks, as long as the block of
all 1024 days is never made (evening 1024 adds its two halves). So
sigma = sqrt(10) on each block, and at most 10 of them in a sum: a standard
deviation of at most 10, where it was 32. The number of bits of T takes the
place of its root: this is the tree mechanism. (The rng is seeded, which makes
this a simulation.)]],
      code = [[
t = tree{dim=1, horizon=1024, sensitivity=1, rho=0.5,
  factorization="binary", rng=rng.seeded(2)}
t.sigma, sqrt(t:variance(8)), sqrt(t:variance(1023))]], check = kit.looked "t" },

    { id = "differences", text = [[
But the tree uses noise again! [1-4] is in evenings 4, 5, 6 and 7. That is
the same noise for the same data: showing the same number again tells nothing
new. Try the attack on a tree of the same kind (`make` makes one). How far
off are the counts?]],
      code = [[
t, sums = make{factorization="binary"}, vec.zeros(1024)
for i = 1, 1024 do sums[i] = t:push(visits[i])[1] end
off = sums:slice(2) - sums:slice(1, 1023) - visits:slice(2)
off:norm() / sqrt(1023)]], check = kit.looked("t", "sums", "off") },

    { id = "picture", text = [[
The error is 4.6 visitors, root mean square, where it was 0: successive
evenings differ in a block or more, with noise of its own. Standard deviations
against the day: the tree drops at powers of two. Two curves below it are yet
to be explained.]],
      plot = curves },

    { id = "honaker", text = [[
The tree knows more than it uses. The sum of a block of two days has been
measured twice: by its own node (variance 1, in units of sigma^2), and by its
two leaves (variance 2). The best mean of the two has 1/v = 1/1 + 1/2. Level
by level

    1/v_i = 1 + 1/(2 v_(i-1)),    v_0 = 1        (Honaker 2015).]],
      ask = [[
Set `v` to the variance of the best estimate of a block of 8 days.]],
      answer = [[
v = 1 for i = 1, 3 do v = 1 / (1 + 1 / (2 * v)) end]],
      wrong = { [[v = 1]], [[v = 4 / 7]], [[v = 1 / 9]] },
      hint = { "A block of 2 has v_1 = 2/3. A block of 8 is two levels up.", "Apply the rule three times, from v = 1." },
      check = check_weight },

    { id = "better", text = [[
It is 8/15, nearly half, and no further privacy is spent: it is a different
mean of the same measurements. All trees of `make` have the same price.]],
      code = [[
for _, estimator in ipairs{"plain", "honaker", "full"} do
  s = make{factorization="binary", estimator=estimator}
  print(estimator, sqrt(s:variances(1024):max()))
end]], defines = { "s" } },

    { id = "factor", text = [[
("full" also looks at later days: only after the end.) The tree is a way to
write the matrix A of running sums as a product R C. Measure C x with noise,
and apply R: the price is in the columns of C, the error in the rows of R.
Other products do better. Take C = R = the square root of A (Henzinger,
Upadhyay, Upadhyay 2023). Or "blt", which comes within 0.03 % of it here and
keeps five numbers in place of 1024:]],
      code = [[
for _, name in ipairs{"sqrt", "blt"} do
  s = make{factorization=name}
  print(name, sqrt(s:variances(1024):max()), s.memory)
end]], defines = { "s" } },

    { id = "banded", text = [[
The deviation is 3.27 in place of 32, at the same rho. What about people who
come more than once? If a person comes up to 16 times, at least 64 days apart,
all of these pay for it. A banded C, of which only 64 diagonals are not 0,
keeps his visits from meeting in a row:]],
      code = [[
for _, name in ipairs{"binary", "sqrt", "banded"} do
  s = make{factorization=name, participations=16, separation=64}
  print(name, sqrt(s:variances(1024):max()))
end]], defines = { "s" } },

    { id = "year", text = [[
The deviations are 58, 25 and 23. Banded matrices are what private training
over several epochs uses.

Your turn: a year of one count a day. A person counts on one day at most, by
1, and what is hidden is whether he counted (neighbours="zero_out").]],
      ask = [[
Make `year`, a tree for 365 days at epsilon = 1, delta = 1e-6, not simulated,
whose noise has a standard deviation of at most 15 on every day.]],
      answer = [[
year = tree{dim=1, horizon=365, sensitivity=1, epsilon=1, delta=1e-6,
  neighbours="zero_out"}
print(year, sqrt(year:variance(365)))]],
      wrong = {
        [[year = tree{dim=1, horizon=365, sensitivity=1, epsilon=1, delta=1e-6,
  neighbours="zero_out", factorization="binary"}]],
        [[year = tree{dim=1, horizon=365, sensitivity=1, epsilon=1, delta=1e-6,
  neighbours="zero_out", rng=rng.seeded(1)}]],
        [[year = tree{dim=1, horizon=365, sensitivity=1, epsilon=1, delta=1e-6}]],
        [[year = tree{dim=1, horizon=365, sensitivity=0.5, epsilon=1, delta=1e-6,
  neighbours="zero_out"}]],
      },
      hint = { "Left out, factorization= is chosen by horizon and dim, and rng= is secure.",
        "tree{dim=1, horizon=365, sensitivity=1, epsilon=1, delta=1e-6, neighbours=\"zero_out\"}" },
      check = check_year },

    { id = "end", text = [[
It costs the same whether one sum is published or 365: the first push pays
for all.

Keep two things. Noise may be shown again with the same data, and never with
other data. And before adding noise to answers, look for other questions, of
which each record is in few, and from which each answer takes few.]] },
  },
}
