-- mirror_descent_bench.lua -- how far the default plan of mirror_descent is above the minimum, beside Theorem 3.2's plan and
-- beside the best of eleven multiples of the default's step, which is fitted to the runs and so no plan that anybody has.
-- Synthetic problems over four sets at p = 100 and 1000.  Then the potentials of accelerated_mirror_descent over the l1 ball.
-- With PENUMBRA_DATA logistic losses on a9a, ijcnn1, reuters and news20, and there the Frank-Wolfe solvers beside their best
-- number of steps.  Seeded: a simulation.
-- Run with `build/penumbra tests/bench/mirror_descent_bench.lua [word ...]`: only cells whose names hold one of the words.
-- Figures in tests/bench/README.md.
local pn = require "penumbra"

local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local n, runs = 200, 3
local multiples = {}
for k = -5, 5 do multiples[#multiples + 1] = 2 ^ k end

-- ---- problems ----

-- Unit rows with `told` in their first columns and four more at random, and labels.
local function rows(p, seed, told)
  local rng = pn.rng.seeded(seed)
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, n do
    local values, label = told(rng)
    local left = 1
    for j, value in ipairs(values) do
      X:set(i, j, value)
      left = left - value ^ 2
    end
    for _ = 1, 4 do
      local j = #values + 1 + math.floor(rng:uniform() * (p - #values))
      X:set(i, j, math.sqrt(left / 4) * (rng:uniform() < 0.5 and -1 or 1))
    end
    y[i] = label
  end
  return pn.data.from(X, y):clip_rows("l2", 1)
end

-- One column tells the label, but for one record in ten.
local function one(rng)
  local label = rng:uniform() < 0.5 and -1 or 1
  return { 0.6 * (rng:uniform() < 0.1 and -label or label) }, label
end

-- y = <x, theta> for three weights.
local function three(rng)
  local values, sum = {}, 0
  for j, weight in ipairs { 0.5, 0.3, 0.2 } do
    values[j] = rng:uniform() < 0.5 and -0.5 or 0.5
    sum = sum + weight * values[j]
  end
  return values, sum
end

local losses = {
  linear = function(p, seed)
    return rows(p, seed, one):clip_labels(-1, 1), pn.loss.glm(function(z, y) return 1 - y * z end, { labels = { -1, 1 } })
  end,
  sparse = function(p, seed) return rows(p, seed, three):clip_labels(-0.5, 0.5), pn.loss.squared() end,
  logistic = function(p, seed) return rows(p, seed, one), pn.loss.logistic() end,
}

local sets = {
  simplex = function(p) return pn.set.simplex { dim = p } end,
  l1 = function(p, radius) return pn.set.l1_ball { dim = p, radius = radius or 1 } end,
  l2 = function(p, radius) return pn.set.l2_ball { dim = p, radius = radius or 1 } end,
  group = function(p) return pn.set.group_ball { dim = p, k = 10 } end,
}

-- ---- runs ----

local function excess(plan, best, count)
  local sum = 0
  for seed = 1, count do sum = sum + plan:run({ rng = pn.rng.seeded(seed), progress = false }).value - best end
  return sum / count
end

local function measure(name, objective, budget, count)
  local best = pn.solve.exact(objective, { tol = 1e-10 }).value
  local plan = pn.solve.mirror_descent.plan(objective, budget)
  local lines = plan.lines
  local U = lines["noise of all s"] * math.sqrt(2 * lines["range D2"] * lines["noise trace K"])
  local own, article, tuned, at = excess(plan, best, count), excess(plan:with { preset = "theory" }, best, count), math.huge, 1
  for _, factor in ipairs(multiples) do
    local other = excess(plan:with { iterations = plan.iterations, step = lines["step eta"] * factor }, best, math.min(count, 2))
    if other < tuned then tuned, at = other, factor end
  end
  print(("| %s | %d | %.2g | %.2g | %.2g | %.2g | %.2g | %g | %.2f |"):format(name, plan.iterations, U, own, plan.bound or 0 / 0,
    article, tuned, at, (own - tuned) / U))
end

local function wanted(name)
  for _, word in ipairs(arg) do
    if name:find(word, 1, true) then return true end
  end
  return #arg == 0
end

print "| problem | T | U | default | its bound | theory | tuned | at | (default - tuned)/U |"
print "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
for _, set in ipairs { "simplex", "l1", "l2", "group" } do
  for _, p in ipairs { 100, 1000 } do
    for _, loss in ipairs { "linear", "sparse", "logistic" } do
      for _, s in ipairs { 0.02, 0.005 } do
        local name = ("%s %d, %s, s %g"):format(set, p, loss, s)
        if wanted(name) then
          local data, of = losses[loss](p, p)
          local objective = pn.objective { data = data, loss = of, set = sets[set](p) }
          local moved = 2 * objective.bounds.lipschitz.l2 / n
          measure(name, objective, { rho = moved ^ 2 / (2 * s ^ 2) }, runs)
        end
      end
    end
  end
end

-- The accelerated method's choice, beside both potentials.
print "\n| accelerated_mirror_descent | default | Euclidean | entropy | default / the better |"
print "|---|---:|---:|---:|---:|"
for _, p in ipairs { 25, 100, 400, 1600 } do
  for _, loss in ipairs { "sparse", "logistic" } do
    local name = ("accelerated, l1 %d, %s, s 0.005"):format(p, loss)
    if wanted(name) then
      local data, of = losses[loss](p, p)
      local objective = pn.objective { data = data, loss = of, set = sets.l1(p) }
      local rho, best = (2 * objective.bounds.lipschitz.l2 / n / 0.005) ^ 2 / 2, pn.solve.exact(objective, { tol = 1e-10 }).value
      local found = {}
      for i, potential in ipairs { false, pn.potential.euclidean(), pn.potential.signed_entropy { dim = p } } do
        found[i] = excess(pn.solve.accelerated_mirror_descent.plan(objective, { rho = rho, potential = potential or nil }), best, 4)
      end
      print(("| l1 %d, %s, s 0.005 | %.2g | %.2g | %.2g | %.2f |"):format(p, loss, found[1], found[2], found[3],
        found[1] / math.min(found[2], found[3])))
    end
  end
end

-- The default number of steps beside the best of eleven multiples of it, which is fitted to the runs, and without noise.
local function frank_wolfe(name, objective, budget)
  local best = pn.solve.exact(objective, { tol = 1e-8 }).value
  for _, solver in ipairs { "frank_wolfe", "frank_wolfe_convex" } do
    local plan, tuned, at = pn.solve[solver].plan(objective, budget), math.huge, 1
    local T = plan.iterations
    for _, factor in ipairs(multiples) do
      local other = excess(plan:with { iterations = math.max(1, math.floor(T * factor + 0.5)) }, best, 2)
      if other < tuned then tuned, at = other, factor end
    end
    local still = pn.solve[solver](objective, { privacy = false, iterations = T, progress = false }).value - best
    print(("| %s, %s | %d | %.2g | %.2g | %.2g | %.2g | %g |"):format(name, solver, T, plan.bound or 0 / 0, excess(plan, best, 2),
      still, tuned, at))
  end
end

local folder = os.getenv "PENUMBRA_DATA"
if folder and folder ~= "" then
  local files = dofile(here .. "utility_data.lua")
  local function each(radii, call)
    for _, file in ipairs { "a9a", "ijcnn1", "reuters", "news20" } do
      for set, radius in pairs(radii) do
        local name = ("%s, %s of radius %d"):format(file, set, radius)
        if wanted(name) then
          local data = files.load(file, "binary")
          local objective = pn.objective { data = data, loss = pn.loss.logistic(), set = sets[set](data.p, radius) }
          call(name, objective, { epsilon = 1, delta = 1 / data.n ^ 2 }, 2)
        end
      end
    end
  end
  print "\n| problem | T | U | default | its bound | theory | tuned | at | (default - tuned)/U |"
  print "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
  each({ l1 = 10, l2 = 5 }, measure)
  print "\n| Frank-Wolfe | T | its bound | default | without noise | tuned | at |"
  print "|---|---:|---:|---:|---:|---:|---:|"
  each({ l1 = 10 }, frank_wolfe)
end
