-- 21_class_budget.lua -- the lesson on budgets of many: a budget for each asker bounds nothing that they learn together; a budget
-- of the data with a slice for each does, and what slices that add up, or do not, mean for who gets an answer.
-- Depends on: penumbra, penumbra.lessons.kit.  Used by: penumbra.lesson.
local pn = require "penumbra"
local kit = require "penumbra.lessons.kit"

local FAILED = 23 -- of 80, the secret

local function check_failed(env)
  local x = env.failed
  if x == FAILED then return true end
  if type(x) ~= "number" then return false, "failed should be a number" end
  if x ~= math.floor(x) then return false, "people come in whole numbers" end
  return false, ("%.0f people is not how many failed"):format(x)
end

local function check_spent(env)
  local x = env.spent
  if kit.near(x, 200, 1e-6) then return true end
  if kit.near(x, 1, 1e-9) then return false, "that is what each student may spend" end
  if kit.near(x, 400, 1e-6) then return false, "that is the number of answers; each costs 0.5" end
  return false, "add up what every answer cost, whoever asked for it"
end

local function check_answered(env)
  local x = env.answered
  if type(x) ~= "number" then return false, "answered should be a number" end
  local fine, left = pcall(function() return env.class.remaining end)
  if not fine then return false, "class should be the ledger" end
  if left > 0.4 then return false, ("the class has %.3g left: somebody can still ask"):format(left) end
  if x == 5 then return true end
  if x == 60 then return false, "most of those requests are refused; count the answers" end
  return false, x == 6 and "Ada's answer came before" or "each answer costs 0.5 of what the class had left, 2.5"
end

local function check_share(env)
  local x = env.share
  if kit.near(x, 0.1, 1e-6) then return true end
  if type(x) ~= "number" then return false, "share should be a number" end
  if x > 0.1 then return false, ("30 slices of %.3g add up to %.3g"):format(x, 30 * x) end
  return false, "that is safe, but the class has more to give"
end

local function check_sigma(env)
  local x = env.sigma
  if kit.near(x, 10, 1e-3) then return true end
  if kit.near(x, (1 / 0.3) ^ 0.5, 1e-3) then return false, "that spends the whole budget on the answer of one student" end
  if kit.near(x, 100, 1e-6) then return false, "that is sigma squared" end
  return false, "solve 1 / (2 sigma^2) = rho for the rho of one student"
end

-- The deviation of each answer where every student gets one, by the size of the class.
local function deviations()
  local students, laplace, gaussian = { 1, 2, 5, 10, 20, 30, 50, 100, 200 }, {}, {}
  for k, n in ipairs(students) do
    laplace[k] = 2 ^ 0.5 * n / 3
    gaussian[k] = (n / (2 * 0.15)) ^ 0.5
  end
  pn.plot.line { { x = students, y = laplace, label = "Laplace, epsilon = 3" },
    { x = students, y = gaussian, label = "Gaussian, rho = 0.15" }, logx = true, logy = true,
    title = "One answer for each student", xlabel = "students", ylabel = "deviation of an answer" }
end

return {
  name = "class_budget",
  title = "A budget for a class",
  minutes = 15,
  about = "Why a budget belongs to the data and not to who asks, and how a class shares one.",
  source = "McSherry (2009); Bun, Steinke (2016); Rogers, Roth, Ullman, Vadhan (2016)",
  setup = function(env)
    local source = pn.rng.seeded(27)
    local count = pn.mechanism.laplace { epsilon = 0.5, sensitivity = 1, bound = 1000 }
    env.ask = function(ledger)
      local fine, answer = pcall(count.release, count, FAILED, { ledger = ledger, rng = source })
      if not fine then error(answer, 0) end
      return answer
    end
  end,
  steps = {
    { id = "own", text = [[
A lecturer has last year's exam: who of 80 people failed is secret. A class of
200 is to learn on it how to ask. Each student gets a ledger of epsilon = 1,
and ask(L) answers how many failed, with Laplace noise of epsilon = 0.5, and
charges L. (The noise is seeded, so this is a simulation; `teaching` ledgers
allow that.)]],
      code = [[mine = pn.ledger{epsilon=1, teaching=true}
a, b = ask(mine), ask(mine)]], defines = { "mine", "a", "b" } },

    { id = "refused", text = [[
Two answers, some people apart. A third one is refused:]],
      code = [[ok, why = pcall(ask, mine)
why]], defines = { "ok", "why" }, check = kit.looked("why") },

    { id = "together", text = [[
So every student is kept to epsilon = 1. But they sit in one room, and nobody
forbids them to talk. Play the whole class: a new ledger for each of the 200,
two answers from each.]],
      ask = "Set `failed` to the exact number of people who failed, by answers of ask() that such ledgers pay for.",
      answer = [[sum = 0
for i = 1, 200 do
  L = pn.ledger{epsilon=1, teaching=true}
  sum = sum + ask(L) + ask(L)
end
failed = math.floor(sum / 400 + 0.5)]],
      wrong = { [[failed = 20]], [[failed = (a + b) / 2]], [[failed = "23"]] },
      hint = { "A loop over 200 students: make a ledger, add up two answers.", "math.floor(sum / 400 + 0.5) is the rounded mean." },
      check = check_failed },

    { id = "spent", text = [[
To the person, and not one ledger was overdrawn. Privacy asks what all answers
about the same records tell together. Who has asked does not come into it: a
secret that 200 people hold a piece of each is out as soon as they compare.]],
      ask = "Set `spent` to the epsilon of all these answers together, by basic composition.",
      answer = [[spent = 200 * 2 * 0.5]],
      wrong = { [[spent = 1]], [[spent = 400]], [[spent = 0.5]] },
      hint = { "400 answers of 0.5 each.", "200 ledgers of 1 each, all spent." },
      check = check_spent },

    { id = "slice", text = [[
A budget belongs to the data. There is one ledger for the class, and each
student gets a slice: a ledger with `parent` and `name`. A charge needs room
in the slice and in what is above it, and both pay.]],
      code = [[class = pn.ledger{epsilon=3, teaching=true}
ada = pn.ledger{parent=class, name="ada", epsilon=1}
ask(ada)
ada.spent, class.spent]], defines = { "class", "ada" }, check = kit.looked("class", "ada") },

    { id = "first-come", text = [[
Slices may add up to more than the class has: most students do not use all of
theirs. The class's ledger holds whatever they do. But then who comes first is
served first. Take a class of 30.]],
      ask = 'Give 30 students, "s1" to "s30", slices of `class` with epsilon = 1, let each ask twice, and set `answered` to how '
        .. "many of these 60 requests are answered.",
      answer = [[answered = 0
for i = 1, 30 do
  slice = pn.ledger{parent=class, name="s" .. i, epsilon=1}
  for k = 1, 2 do
    if pcall(ask, slice) then answered = answered + 1 end
  end
end]],
      wrong = { [[answered = 60]], [[answered = 5]], [[for i = 1, 30 do
  slice = pn.ledger{parent=class, name="s" .. i, epsilon=1}
  for k = 1, 2 do pcall(ask, slice) end
end
answered = 6]] },
      hint = { "pcall(ask, slice) is true where there was an answer.", "Count with answered = answered + 1 in two loops." },
      check = check_answered },

    { id = "who", text = [[
Five: two students got both answers, one got one, and 27 got none. A refusal
says which of the two budgets is empty; this one is not the student's fault.]],
      code = [[late = pn.ledger{parent=class, name="s30"}
fine, why = pcall(ask, late)
reason = why:match "^(.-): "
reason]], defines = { "late", "reason" }, check = kit.looked("late", "reason") },

    { id = "fair", text = [[
(An existing name gives the same slice again, so nobody gets a second one.)

If everybody is to get what was promised, whoever comes first, the slices have
to add up to no more than the class has.]],
      ask = "Set `share` to the largest epsilon of 30 equal slices of a class's epsilon = 3 that all can be spent.",
      answer = [[share = 3 / 30]],
      wrong = { [[share = 1]], [[share = 3]], [[share = 0.05]] },
      hint = { "30 of them add up to 3.", "3 / 30" },
      check = check_share },

    { id = "size", text = [[
An answer of epsilon = 0.1 has Laplace noise of scale 10: on a count of some
twenty people that is not much of an answer. This is how the noise of one
answer for each grows with the class, pure and with Gaussian noise.]], plot = deviations },

    { id = "gaussian", text = [[
A budget in rho, of zCDP, is split in the same way, but noise then grows as
the root of the class. rho = 0.15 is worth about epsilon = 3 at delta = 1e-6.
One answer of sensitivity 1 with Gaussian noise sigma costs 1 / (2 sigma^2).]],
      ask = "Set `sigma` to the least noise by which 30 students get an answer each from a class's rho = 0.15.",
      answer = [[sigma = sqrt(1 / (2 * 0.15 / 30))]],
      wrong = { [[sigma = sqrt(1 / (2 * 0.15))]], [[sigma = 1 / (2 * 0.15 / 30)]], [[sigma = 30]] },
      hint = { "Each of them has rho = 0.15 / 30.", "sigma = sqrt(1 / (2 rho))" },
      check = check_sigma },

    { id = "rho", text = [[
10, where Laplace noise had deviation 14. The ledger agrees:]],
      code = [[e = event.gaussian{sigma=sigma, sensitivity=1}
group = pn.ledger{rho=0.15, teaching=true}
served = 0
for i = 1, 40 do
  s = pn.ledger{parent=group, name="s" .. i, rho=0.15/30}
  if pcall(s.spend, s, e, "a count") then served = served + 1 end
end
served]], defines = { "e", "group", "served" }, check = kit.looked("served") },

    { id = "once", text = [[
Better still is to ask less often. What everybody needs is bought once, by the
lecturer, and handed out: reading an answer again costs nothing, in whatever
way it is used. Slices are for the questions in which students differ.]],
      code = [[handout = pn.ledger{epsilon=3, teaching=true}
exam = mechanism.laplace{epsilon=2, sensitivity=1, bound=1000}
handout:covers(exam.event), handout:price(exam.event)]], defines = { "handout", "exam" }, check = kit.looked "handout" },

    { id = "end", text = [[
A budget is the data's. Slices share it out: as promises that all can be kept,
or as limits of which not all can be used.

`teaching` is for exercises that are to come out the same: noise of a known
seed protects nobody, and every statement says so. On real records leave it
out, keep the class's ledger in a file (`path=`), and let students ask through
a curator, from which nothing comes that was not paid for:
`guide "host untrusted analysts"`. To run a course of these lessons:
`guide "teach and explore"`.]] },
  },
}
