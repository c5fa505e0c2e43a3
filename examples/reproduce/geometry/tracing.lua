-- tracing.lua -- the attack behind the lower bound: who minimises the loss on a fingerprinting code tells who is in the data.
-- Nine users have a row each of a Tardos code, and one of them is left out of the data.  The attacker knows the code's
-- biases and sees theta; a score for each user is high when the signs of theta follow that user's row.
--   1. The non-private minimiser: the removed user scores below all others, in nearly every draw.  (Scores in the data have a
--      mean of about 70; that of the removed user has mean 0 and a variance of at most p0 = 30^2, so one draw in 25 or so is
--      an exception.)
--   2. A private run at epsilon = 0.1: the scores of both kinds have the same law.  What the attacker can win is bounded by
--      privacy: the data sets that lack one user or the other are neighbours on which the two change roles, so P(present
--      scores higher) = p is at most e^epsilon (1 - p) + delta, which gives p <= (e^epsilon + delta)/(1 + e^epsilon), 0.525
--      here.
--   3. The budget at which tracing begins: the same area under the curve against epsilon.
-- The sizes (w = 8, p = k = 1024, p0 = 900) are those at which tracing works on a laptop; the lemma wants few informative columns.
--   penumbra examples/reproduce/geometry/tracing.lua [folder]
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 5.9; Tardos (2008).
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local users, delta = 8, 1e-7 -- delta below 1/n^2 = 9e-7
local draws = common.size(4, 25)

-- draws instances, each without another user.
local function instances()
  local made = {}
  for seed = 1, draws do
    local f = pn.data.synthetic.fingerprint { users = users, p = 1024, informative = 900, ridge = 1024, seed = seed }
    local removed = seed % (users + 1) + 1
    local objective = pn.objective { data = f:dataset(removed), loss = pn.loss.squared(),
      set = pn.set.l1_ball { dim = f.p, radius = 1 } }
    made[seed] = { f = f, removed = removed, objective = objective, exact = pn.solve.exact(objective, { tol = 1e-7 }) }
  end
  return made
end

-- Scores of those who are in the data, of the one who is not, and in how many of the pairs the former is higher (ties count half).
local function attack(at, theta, into)
  local scores = at.f:trace(theta)
  local out = scores[at.removed]
  into.out[#into.out + 1] = out
  local lowest = true
  for user = 1, users + 1 do
    if user ~= at.removed then
      into.present[#into.present + 1] = scores[user]
      into.higher = into.higher + (scores[user] > out and 1 or scores[user] == out and 0.5 or 0)
      lowest = lowest and scores[user] > out
    end
  end
  into.lowest = into.lowest + (lowest and 1 or 0)
end

local function nothing()
  return { out = {}, present = {}, higher = 0, lowest = 0, excess = 0 }
end

-- One or more private runs on each instance.
local function private(made, epsilon, runs)
  local found = nothing()
  for d, at in ipairs(made) do
    local plan = pn.solve.frank_wolfe.plan(at.objective, { epsilon = epsilon, delta = delta, preset = "theory" })
    found.steps = plan.iterations
    for run = 1, runs do
      local fit = plan:run { rng = pn.rng.seeded(1000 * d + run) }
      attack(at, fit.theta, found)
      found.excess = found.excess + (fit.value - at.exact.value) / (runs * #made)
    end
  end
  return found
end

local function average(list)
  local sum = 0
  for _, x in ipairs(list) do sum = sum + x end
  return sum / #list
end

-- What privacy allows of that, on average over codes, in which all users are alike.
local function limit(epsilon)
  return (1 + delta * math.exp(-epsilon)) / (1 + math.exp(-epsilon))
end

-- The area under the curve of an attacker who calls the higher scores present.
local function area(found)
  return found.higher / #found.present
end

local function row(rows, who, found)
  rows:row(who, found.steps or "", found.excess, average(found.present), average(found.out), area(found),
    found.lowest / #found.out)
end

-- ---- the figure: fraction of users with a score up to x ----

local function below(label, list, dashed, colour)
  local x, y = {}, {}
  table.sort(list)
  for i, score in ipairs(list) do x[i], y[i] = score, i / #list end
  return { label = label, x = x, y = y, dashed = dashed, colour = colour }
end

local made = instances()
local runs = common.size(5, 20)
print(("tracing %d draws of %d + 1 users, p = k = 1024, n = %d"):format(draws, users, made[1].f.n))
local rows = common.table("tracing", { "run", "T", "excess", "present", "removed", "area", "lowest" })
local open = nothing()
for _, at in ipairs(made) do attack(at, at.exact.theta, open) end
row(rows, "minimiser", open)
common.expect(open.lowest >= 0.8 * draws and area(open) > 0.95,
  "in %d of %d draws the removed user scores below every user in the data", open.lowest, draws)
common.expect(average(open.present) > 45 and math.abs(average(open.out)) < 4 * math.sqrt(900 / draws),
  "scores of mean %.1f in the data, and %.1f, which is about 0, outside it", average(open.present), average(open.out))

local epsilons, areas, limits = {}, {}, {}
local hidden
for i, epsilon in ipairs(common.size({ 0.1, 10000 }, { 0.1, 1, 10, 100, 1000, 10000 })) do
  local found = private(made, epsilon, i == 1 and runs or epsilon > 10 and 1 or common.size(1, 4))
  row(rows, ("eps %g"):format(epsilon), found)
  epsilons[i], areas[i], limits[i] = epsilon, area(found), limit(epsilon)
  hidden = hidden or found
end
rows:close()
-- Eight pairs of a run share the removed user's score: the error of the mean is at most that of one pair a run.
local error_of_mean = 0.5 / math.sqrt(#hidden.out)
common.expect(area(hidden) < limit(0.1) + 5 * error_of_mean and area(hidden) > 0.5 - 5 * error_of_mean,
  "at epsilon = 0.1 the area is %.3f: chance, or at most %.3f, within five standard errors of %.3f", area(hidden), limit(0.1),
  error_of_mean)
common.expect(areas[#areas] > areas[1], "at epsilon = %g the area is %.3f", epsilons[#areas], areas[#areas])
common.figure { name = "tracing", title = "Scores of the tracing attack", panels = {
  { title = "Scores", xlabel = "score", ylabel = "fraction of users up to it",
    key = "outside top center maxrows 2", series = {
    below("minimiser: removed", open.out, 1, 1), below("minimiser: in the data", open.present, 1, 0),
    below("eps = 0.1: removed", hidden.out, 2, 1), below("eps = 0.1: in the data", hidden.present, 2, 0),
  } },
  { title = "Area under the attacker's curve", xlabel = "epsilon", ylabel = "area", logx = true,
    key = "outside top center maxrows 2", series = {
    { label = "private Frank-Wolfe", x = epsilons, y = areas },
    { label = "what privacy allows", x = epsilons, y = limits, dashed = true },
  } },
} }
