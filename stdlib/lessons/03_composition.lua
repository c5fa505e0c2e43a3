-- 03_composition.lua -- the lesson on composition: a private answer asked for often enough is no secret; how costs add, by basic
-- and advanced composition, zCDP, Renyi orders and privacy loss distributions; ledgers for questions that depend on answers.
-- Depends on: penumbra.  Used by: penumbra.lesson.
local pn = require "penumbra"

local secret = 137

-- A Laplace draw of scale b: for simulation only.
local function laplace(source, b)
  local u = source:uniform() - 0.5
  return -b * (u < 0 and -1 or 1) * math.log(1 - 2 * math.abs(u))
end

local function near(x, y, tolerance)
  return type(x) == "number" and math.abs(x - y) <= tolerance
end

local function epsilon_of(kind, event, count)
  return (pn.accountant[kind] {}:add(event, count):epsilon(1e-6))
end

local function laplace_event()
  return pn.event.laplace { scale = 10, sensitivity = 1 }
end

local function gaussian_event()
  return pn.event.gaussian { sigma = 20, sensitivity = 1 }
end

local function check_count(env)
  if near(env.count, secret, 1e-9) then return true end
  if type(env.count) ~= "number" then return false, "count should be a number" end
  if env.count ~= math.floor(env.count) then return false, "people come in whole numbers" end
  return false, ("%.0f people is not how many there are"):format(env.count)
end

local function check_spent(env)
  if near(env.spent, 2000, 1e-6) then return true end
  if near(env.spent, 0.1, 1e-9) then return false, "that is what one answer costs" end
  return false, "every one of the 20000 answers cost 0.1, and costs add"
end

local function check_tight(env)
  local x, tight, renyi = env.tight, epsilon_of("pld", laplace_event(), 100), epsilon_of("rdp", laplace_event(), 100)
  if type(x) ~= "number" then return false, "tight should be a number" end
  if near(x, tight, 0.005 * tight) then return true end
  if near(x, renyi, 0.002 * renyi) then return false, "that is certified, too, but another accountant certifies less" end
  if near(x, epsilon_of("pld", pn.event.pure { epsilon = 0.1 }, 100), 0.005) then
    return false, "that holds for any mechanism of epsilon 0.1. Laplace noise is kinder than the worst one"
  end
  if x < tight then return false, ("%.4g is less than 100 releases cost"):format(x) end
  return false, ("%.4g holds, but less is certified"):format(x)
end

local function check_rho(env)
  local x = env.rho
  if near(x, 0.125, 1e-6) then return true end
  if near(x, 1 / 800, 1e-9) then return false, "that is the rho of one release" end
  if near(x, 100 / 400, 1e-6) then return false, "there is a 2 in it: Delta^2 / (2 sigma^2)" end
  return false, "add up Delta^2 / (2 sigma^2) over 100 releases, with Delta = 1 and sigma = 20"
end

local function check_k(env)
  local k = env.k
  if k == 22 then return true end
  if type(k) ~= "number" or k ~= math.floor(k) then return false, "k should be a whole number" end
  if k > 1e6 then return false, "so many cost far more than epsilon = 1" end
  if k > 22 then
    return false, ("%d of them cost epsilon = %.3f"):format(k, epsilon_of("pld", gaussian_event(), k // 1))
  end
  return false, k == 19 and "19 is as far as Renyi orders certify. Who certifies more?" or "more of them fit"
end

local function check_ledger(env)
  local L = env.L
  local fine, covered, epsilon, spent = pcall(function() return L:covers(gaussian_event()), L.epsilon, L.spent end)
  if not fine then return false, "L should be the ledger" end
  if epsilon ~= 1 then return false, "the ledger that was opened had epsilon = 1" end
  if spent == 0 then return false, "Nothing is charged to it" end
  if covered then return false, ("it still covers one: remaining %.3g"):format(L.remaining) end
  return true
end

-- The total loss of 100 Laplace releases, many times.
local function losses()
  local source, sums = pn.rng.seeded(3), {}
  for i = 1, 1000 do
    local sum = 0
    for _ = 1, 100 do
      local y = laplace(source, 10)
      sum = sum + (math.abs(y - 1) - math.abs(y)) / 10
    end
    sums[i] = sum
  end
  pn.plot.histogram { { samples = pn.vec(sums), label = "loss of 100 releases" }, bins = 30,
    title = "Basic composition says: at most 10", xlabel = "ln P[answers | D] / P[answers | E]" }
end

local function growth()
  local x = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000 }
  local basic, advanced, renyi, tight = {}, {}, {}, {}
  for i, k in ipairs(x) do
    basic[i] = 0.1 * k
    advanced[i] = epsilon_of("advanced", pn.event.pure { epsilon = 0.1 }, k)
    renyi[i] = epsilon_of("rdp", laplace_event(), k)
    tight[i] = epsilon_of("pld", laplace_event(), k)
  end
  pn.plot.line { { x = x, y = basic, label = "basic" }, { x = x, y = advanced, label = "advanced" },
    { x = x, y = renyi, label = "Renyi" }, { x = x, y = tight, label = "loss distribution" }, logx = true, logy = true,
    title = "Laplace, 0.1 each, delta = 1e-6", xlabel = "releases", ylabel = "epsilon" }
end

return {
  name = "composition",
  title = "Composition and accountants",
  minutes = 15,
  about = "What many private answers cost together: four ways to add up, and a ledger for the impatient.",
  source = "Dwork, Rothblum, Vadhan (2010); Bun, Steinke (2016); Mironov (2017); Feldman, Zrnic (2021)",
  setup = function(env)
    local source = pn.rng.seeded(11)
    env.ask = function() return secret + laplace(source, 10) end
  end,
  steps = {
    { id = "one", text = [[
How many employees have asked for psychological help? ask() answers with
Laplace noise of scale 10: since one person changes the count by at most 1,
that is private with epsilon = 0.1, a strict promise. (Seeded noise: this part
is a simulation.)]],
      code = [[a = ask()]], defines = { "a" } },

    { id = "many", text = [[
But nobody has said that ask() may be called once only. Its noise has standard
deviation 10 sqrt(2) = 14.1; that of the mean of k answers is 14.1 / sqrt(k).]],
      ask = "Set `count` to the exact number of employees, by calls of ask() alone.",
      answer = [[sum = 0
for i = 1, 20000 do sum = sum + ask() end
count = math.floor(sum / 20000 + 0.5)]],
      wrong = { [[count = 100]], [[count = ask() + 40]], [[count = "137"]] },
      hint = { "You need an error well below 1/2 and round then: how many answers are that?",
        "20000 answers have an error of 0.1. math.floor(x + 0.5) rounds." },
      check = check_count },

    { id = "basic", text = [[
There are 137, to the person. Each of the answers was private. Together they
were not.

Basic composition (Dwork et al. 2006): what answers k questions, the i-th with
(epsilon_i, delta_i), is (sum of epsilon_i, sum of delta_i)-DP. Privacy is a
budget, and asking spends it.]],
      ask = "Set `spent` to the epsilon of 20000 answers of ask(), by basic composition.",
      answer = [[spent = 20000 * 0.1]],
      wrong = { [[spent = 0.1]], [[spent = 200]], [[spent = 20000 * 10]] },
      hint = { "One answer costs sensitivity / scale = 0.1.", "Add 0.1 up, 20000 times." },
      check = check_spent },

    { id = "loss", text = [[
exp(2000) says that the promise is void. But for a hundred questions, is 0.1 x
100 = 10 really the price? It assumes the worst answer every time.

The privacy loss of an answer y is ln P[y | D] / P[y | E]. It is random, as y
is: never above 0.1 here, often below, nearly half of the time negative.
Losses of independent answers add up, and then they partly cancel.]] },

    { id = "losses", text = [[
The picture shows the total loss of 100 answers, simulated 1000 times.]], plot = losses },

    { id = "advanced", text = [[
The total is nowhere near 10. Dwork, Rothblum and Vadhan (2010) made that a
theorem: k answers of epsilon each are (e', delta')-DP for every delta' > 0,
with

  e' = k epsilon (exp(epsilon) - 1) + epsilon sqrt(2 k ln(1/delta')).

For a small delta', sqrt(k) takes the place of k. Compare with 10:]],
      code = [[acc = accountant.advanced{}
acc:add(event.pure{epsilon=0.1}, 100)
advanced = acc:epsilon(1e-6)]], defines = { "acc", "advanced" } },

    { id = "tight", text = [[
This uses no more than "each costs 0.1". An accountant that knows the noise
does better. `event.laplace{scale=10, sensitivity=1}` describes one answer;
these add up exact descriptions:

  accountant.rdp{}   Renyi divergences, order by order (Mironov 2017)
  accountant.pld{}   the distribution of the loss itself (Koskela et al. 2020)]],
      ask = "Set `tight` to the least epsilon that an accountant certifies for 100 such answers at delta = 1e-6.",
      answer = [[acc = accountant.pld{}
acc:add(event.laplace{scale=10, sensitivity=1}, 100)
tight = acc:epsilon(1e-6)]],
      wrong = { [[acc = accountant.rdp{}
acc:add(event.laplace{scale=10, sensitivity=1}, 100)
tight = acc:epsilon(1e-6)]], [[tight = 10]], [[acc = accountant.pld{}
acc:add(event.laplace{scale=10, sensitivity=1}, 10)
tight = acc:epsilon(1e-6)]], [[tight = advanced]] },
      hint = { "acc:add(event, 100), then acc:epsilon(delta).", "Try both; one of them follows the loss itself." },
      check = check_tight },

    { id = "growth", text = [[
10 by basic composition, 6.31 by the advanced theorem, 4.98 by Renyi orders,
4.69 by the loss distribution: the same 100 answers, the same noise. Only the
arithmetic differs. Here is how they grow.]], plot = growth },

    { id = "rho", text = [[
Gaussian noise has no pure epsilon, but a unit that simply adds: rho of zCDP
(Bun and Steinke 2016). One release of sensitivity Delta with noise sigma has

  rho = Delta^2 / (2 sigma^2),

its Renyi divergence of order alpha is rho alpha, and rho values add up.]],
      ask = "Set `rho` to the total of 100 releases with sigma = 20, each of sensitivity 1.",
      answer = [[rho = 100 * 1 / (2 * 20^2)]],
      wrong = { [[rho = 1 / (2 * 20^2)]], [[rho = 100 / 20^2]], [[rho = 100 * 20]] },
      hint = { "One of them is 1 / (2 * 400).", "100 times that." },
      check = check_rho },

    { id = "convert", text = [[
At the end rho becomes (epsilon, delta). Basic composition, with the delta cut
into 100 parts, would say 23.9.]],
      code = [[e = event.gaussian{sigma=20, sensitivity=1}
z = accountant.zcdp{}
z:add(e, 100)
converted = z:epsilon(1e-6)]], defines = { "e", "z", "converted" } },

    { id = "how-many", text = [[
The epsilon is 2.42; the loss distribution gives 2.25. A tighter price pays
for more releases from the same budget. calibrate.steps{epsilon=, delta=,
accountant=, event=} tells how many releases of an event fit; accountant= is
"rdp", "zcdp", "pld" or "advanced".]],
      ask = "Set `k` to the largest number of releases of `e` that are within epsilon = 1 at delta = 1e-6.",
      answer = [[k = calibrate.steps{epsilon=1, delta=1e-6, accountant="pld", event=e}]],
      wrong = { [[k = calibrate.steps{epsilon=1, delta=1e-6, accountant="rdp", event=e}]], [[k = 4]], [[k = 23]] },
      hint = { "The accountant that certified least for Laplace noise is the one that lets most releases pass.",
        "accountant=\"pld\"" },
      check = check_k },

    { id = "adaptive", text = [[
22 releases fit; Renyi orders would allow 19, basic composition 4.

All of these count releases that were fixed beforehand. A person looks at an
answer and then decides what to ask, and when to stop. That needs a filter,
which stays valid whatever is chosen on the way (Rogers et al. 2016; Feldman
and Zrnic 2021). A ledger is one: it admits a charge, or refuses.]],
      code = [[L = pn.ledger{epsilon=1, delta=1e-6}
L:spend(e, "a first look", 5)]], defines = { "L" },
      check = function(env)
        local fine, spent = pcall(function() return env.L.spent end)
        if not fine then return false, "L is still to come" end
        return spent > 0, "the five looks are still to come"
      end },

    { id = "exhaust", text = [[
L:covers(e) says whether another release fits, L:spend(e, label) charges it
and refuses with an error when it does not.]],
      ask = "Spend `L` until it covers no further release of `e`.",
      answer = [[while L:covers(e) do L:spend(e, "another look") end]],
      wrong = { [[L:spend(e, "once more")]], [[L = pn.ledger{epsilon=0.01, delta=1e-6}]], [[L = nil]] },
      hint = { "A loop: as long as it covers one, spend one.", "while L:covers(e) do ... end" },
      check = check_ledger },

    { id = "gaussian-filter", text = [[
The ledger admitted 15: the freedom to decide on the way costs something here.
For Gaussian noise alone a filter on mu^2 = (Delta / sigma)^2 loses nothing
(Smith and Thakurta 2022; Koskela, Tobaben and Honkela 2023). How far does it
get?]],
      code = [[G = pn.ledger{epsilon=1, delta=1e-6, filter="gaussian"}
looks = 0
while G:covers(e) do G:spend(e, "a look") looks = looks + 1 end]], defines = { "G", "looks" } },

    { id = "end", text = [[
It admits 22 (type `looks`, and `L:report()` for what the first one holds).

Costs add. How well depends on what is added: bounds on epsilon, Renyi
divergences, or the loss itself. An accountant prices what is planned; a
ledger guards what is decided on the way, and every private call of Penumbra
pays one.

Next: an attack that none of this arithmetic can see.]] },
  },
}
