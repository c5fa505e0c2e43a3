-- votes.lua -- settings chosen by votes: records are people who say which of two candidates they like better, or whether they
-- like one.
-- Person i has an ideal z_i in R^8 and minds a setting x by u(x, z_i) = min(||x - z_i||_1/sqrt(8), 2.5), which is piecewise
-- linear, with a threshold beyond which all is alike, and 1-Lipschitz.  Seven of ten have ideals about a, three about -a, so the
-- problem is not convex; one of ten votes for the contrary.  Runs start at 0.  Answers as losses that a black box can have:
--   scores      u itself.  L = 1 holds.
--   votes       1 or -1 for one of two candidates.  The loss is 1e9 u with L = 1 declared: (l(x + mu v) - l(x - mu v))/(2 mu) is
--               far beyond L, and the clip leaves its sign: exactly a vote.  Where u is alike at both, 0: an abstention.
--   one vote    the same, with directions = "one": each person is asked a single time.
--   thumbs      1 (down) where u > 1.8, else 0.  The loss jumps, but its differences over 2 mu are at most 1/(2 mu) = L: nothing is
--               clipped.
-- Votes and thumbs change all at once: what is left of the difference of two such gradients after its clip is not that difference,
-- so prefix sums of them are no gradients, and of "votes, sums" nothing is proved.  Scores are shown with both oracles.
--   thumbs, tuned     epochs and rounds that do well here, in place of those with the least bound: its slope is far below L
-- Reported of the answer, on 4,000 other people: how much they mind it, how much of what could be won is, and how many like it
-- better than the start (of those who do not find both alike).
--   penumbra examples/reproduce/zeroth_order/votes.lua [folder]
-- Source: Zhang, Tran, Cutkosky (2024), which has feedback of this kind among its motives.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local d, cap, limit, mu = 8, 2.5, 1.8, 0.5
local n, seeds = common.size(4000, 10000), common.size(1, 3)
local a = pn.vec { 1, -1, 1, 1, -1, 1, -1, -1 } * 0.8

local function people(count, seed, contrary)
  local rng = pn.rng.seeded(seed)
  local Z, y = pn.mat.zeros(count, d), pn.vec.zeros(count)
  for i = 1, count do
    Z[i]:axpy(rng:uniform() < 0.7 and 1 or -1, a):axpy(0.3, pn.vec.normal(d, rng))
    y[i] = rng:uniform() < contrary and -1 or 1
  end
  return pn.data.from(Z, y)
end

-- u at the rows of thetas.
local columns, row_sum = {}, pn.vec.zeros(d) + 1 / math.sqrt(d)
local function minded(thetas, z)
  local m = thetas.rows
  columns[m] = columns[m] or (pn.vec.zeros(m) + 1):reshape(m, 1)
  local off = (thetas - columns[m] * z:reshape(1, d)):vec()
  local far = ((off * off) ^ 0.5):reshape(m, d) * row_sum
  local over = far - cap
  return (far + cap - (over * over) ^ 0.5) * 0.5
end

local function down(v) return pn.where(pn.gt(v, limit), 1, 0) end

local function objective(data, values, lipschitz)
  return pn.objective { data = data, loss = pn.loss.black_box { values = values, lipschitz = lipschitz } }
end

local voters, others = people(n, 1, 0.1), people(common.size(1000, 4000), 2, 0)
local score = objective(others, minded, 1)
local answers = {
  scores = objective(voters, function(thetas, z, y) return minded(thetas, z) * y end, 1),
  votes = objective(voters, function(thetas, z, y) return minded(thetas, z) * (1e9 * y) end, 1),
  thumbs = objective(voters, function(thetas, z, y) return minded(thetas, z):map(down) * y end, 1 / (2 * mu)),
}

local start = pn.vec.zeros(d)
local at_start = score:losses(start)
local best = pn.solve.zeroth_order(objective(people(n, 3, 0), minded, 1), { privacy = false, distance = 2, output = "last",
  rng = pn.rng.seeded(1) }).theta
local most, least = score:value(start), score:value(best)

local function wins(theta)
  local now, better, worse = score:losses(theta), 0, 0
  for i = 1, #now do
    if now[i] < at_start[i] then better = better + 1 elseif now[i] > at_start[i] then worse = worse + 1 end
  end
  return better / math.max(better + worse, 1)
end

local sums = { oracle = "variance_reduced" }
local methods = {
  { name = "scores, sums", of = "scores", options = sums },
  { name = "scores", of = "scores", options = { oracle = "naive" } },
  { name = "votes", of = "votes", options = { oracle = "naive" } },
  { name = "one vote", of = "votes", options = { oracle = "naive", directions = "one" } },
  { name = "thumbs", of = "thumbs", options = { oracle = "naive", smoothing = mu } },
  { name = "thumbs, tuned", of = "thumbs", options = { oracle = "naive", smoothing = mu, rounds = 16, epochs = 4,
    directions = "orthogonal" } },
  { name = "votes, sums", of = "votes", options = sums },
}
local epsilons = common.size({ 8 }, { 0.5, 2, 8 })

print(("%d voters, one of ten contrary; %.3f minded at the start, %.3f at the best point known; %d seeds"):format(n, most, least,
  seeds))
local out = common.table("votes", { "answers", "epsilon", "minded", "won", "liked_better", "answers_each", "epochs", "rounds",
  "batch", "noise", "seconds" }, { answers = 14 })

local function run(method, epsilon)
  local options = { distance = 2, output = "last", start = start, privacy = epsilon and true or false }
  if epsilon then options.epsilon, options.delta = epsilon, 1 / n ^ 2 end
  for name, value in pairs(method.options) do options[name] = value end
  local plan, clock = pn.solve.zeroth_order.plan(answers[method.of], options), os.clock()
  local found = { minded = 0, liked = 0, won = 0 }
  for seed = 1, seeds do
    local fit = plan:run { rng = pn.rng.seeded(seed) }
    found.minded, found.liked = found.minded + score:value(fit.theta) / seeds, found.liked + wins(fit.theta) / seeds
    found.asked = fit.gradients / plan.lines["records used"]
  end
  found.won = (most - found.minded) / (most - least)
  local lines = plan.lines
  out:row(method.name, epsilon or "none", found.minded, found.won, found.liked, found.asked, lines["epochs K"], lines["rounds T"],
    lines["batch B"] or lines["batch B2"], lines["noise of a round"] or 0, (os.clock() - clock) / seeds)
  return found
end

local found = {}
for _, method in ipairs(methods) do
  found[method.name] = {}
  for _, epsilon in ipairs(epsilons) do found[method.name][epsilon] = run(method, epsilon) end
  found[method.name].open = run(method)
end
out:close()

-- ---- figure ----

local shown = { "scores, sums", "scores", "votes", "one vote", "thumbs", "thumbs, tuned" }
local series = {}
for k, name in ipairs(shown) do
  local line = { label = name, x = {}, y = {}, colour = k - 1 }
  for i, epsilon in ipairs(epsilons) do line.x[i], line.y[i] = epsilon, found[name][epsilon].won end
  series[k] = line
end
common.figure { name = "votes", title = ("Settings chosen by %d voters, d = %d, delta = 1/n^2"):format(n, d), xlabel = "epsilon",
  ylabel = "part of what could be won", logx = true, series = series }

-- ---- what is promised ----

local function expect_won(name, epsilon, least_won)
  local at = epsilon and found[name][epsilon] or found[name].open
  common.expect(at.won > least_won, "%s, %s: %.3f of what could be won, and %.3f like it better", name,
    epsilon and ("epsilon = %g"):format(epsilon) or "without privacy", at.won, at.liked)
end

expect_won("votes", nil, 0.9)
expect_won("votes", 8, 0.85)
if common.quick then return end
expect_won("scores, sums", 2, 0.9)
for _, name in ipairs { "votes", "one vote" } do
  expect_won(name, 0.5, 0.7)
  expect_won(name, 2, 0.9)
end
expect_won("thumbs", 8, 0.6)
expect_won("thumbs, tuned", 8, 0.7)
for _, name in ipairs(shown) do
  common.expect(found[name][8].liked > 0.7, "%s, epsilon = 8: %.3f of the others like it better than the start", name,
    found[name][8].liked)
end
