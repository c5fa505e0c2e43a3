-- mirror_descent_bench.lua -- how far the default plan of mirror_descent is above the minimum, beside Theorem 3.2's plan and
-- beside the best of eleven multiples of the default's step, which is fitted to the runs and so no plan that anybody has.
-- Synthetic problems over four sets at p = 100 and 1000.  Then the potentials of accelerated_mirror_descent over the l1 ball.
-- Then mirror steps with potentials of a user's functions at p = 10000, beside the time that the functions take themselves
-- (limit: three times that, six times where a call takes under 15 us), and plans and fits over sets made of sets.
-- The Frank-Wolfe solvers beside their theory's number of steps and the best of nine shares of it.  With PENUMBRA_DATA all that
-- for logistic losses on a9a, ijcnn1, reuters and news20.  Seeded: a simulation.
-- Run with `build/penumbra tests/bench/utility/mirror_descent_bench.lua [word ...]`: only cells whose names hold one of the words.
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

-- call(name, objective, budget, runs) for every synthetic problem that is wanted.
local function each_synthetic(kind, call)
  for _, set in ipairs { "simplex", "l1", "l2", "group" } do
    for _, p in ipairs { 100, 1000 } do
      for _, loss in ipairs { "linear", "sparse", "logistic" } do
        for _, s in ipairs { 0.02, 0.005 } do
          local name = ("%s%s %d, %s, s %g"):format(kind, set, p, loss, s)
          if wanted(name) then
            local data, of = losses[loss](p, p)
            local objective = pn.objective { data = data, loss = of, set = sets[set](p) }
            local moved = 2 * objective.bounds.lipschitz.l2 / n
            call(name, objective, { rho = moved ^ 2 / (2 * s ^ 2) }, runs)
          end
        end
      end
    end
  end
end

print "| problem | T | U | default | its bound | theory | tuned | at | (default - tuned)/U |"
print "|---|---:|---:|---:|---:|---:|---:|---:|---:|"
each_synthetic("", measure)

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

-- ---- steps of a user's functions ----

-- Vector functions, as a user would write them; x:dot(x) and its likes are one loop in C.
local functions = {
  { "x^2/2", function(x) return x:dot(x) / 2 end, function(x) return 1 * x end },
  { "x^2/2 + x^4/4", function(x) return x:dot(x) / 2 + (x * x):dot(x * x) / 4 end, function(x) return x + x * x * x end },
  { "x^2/2, inverse", function(x) return x:dot(x) / 2 end, function(x) return 1 * x end, function(u) return 1 * u end },
}

local function called_back(value, gradient, inverse)
  local inside = { calls = 0, seconds = 0 }
  local function timed(f)
    return f and function(x)
      local begun = os.clock()
      local result = f(x)
      inside.seconds = inside.seconds + os.clock() - begun
      inside.calls = inside.calls + 1
      return result
    end
  end
  return pn.potential.custom { strong_convexity = 1, value = timed(value), gradient = timed(gradient),
    inverse_gradient = timed(inverse) }, inside
end

-- Seconds of the fastest of 30 steps, those inside the functions in it, and calls.
local function fastest(P, inside, C, x, g, eta)
  local best, own, calls = math.huge, 0, 0
  for _ = 1, 30 do
    inside.seconds, inside.calls = 0, 0
    local begun = os.clock()
    P:mirror_step(x, g, eta, C)
    local took = os.clock() - begun
    if took < best then best, own, calls = took, inside.seconds, inside.calls end
  end
  return best, own, calls
end

print "\n| step of functions, p = 10000 | ms | inside the functions | calls | ratio |"
print "|---|---:|---:|---:|---:|"
for _, functions_of in ipairs(functions) do
  for _, set in ipairs { "l1", "simplex", "l2", "box", "free" } do
    local name = ("functions, %s, %s"):format(functions_of[1], set)
    if wanted(name) then
      local p, rng = 10000, pn.rng.seeded(1)
      local C = set == "box" and pn.set.linf_ball { dim = p } or set == "free" and pn.set.free { dim = p } or sets[set](p)
      local P, inside = called_back(functions_of[2], functions_of[3], functions_of[4])
      local g, back = 0.3 * pn.vec.normal(p, rng), 0.3 * pn.vec.normal(p, rng)
      local best, own, calls = fastest(P, inside, C, P:mirror_step(P:start(C), g, -10, C), back, 10)
      print(("| %s | %.3f | %.3f | %d | %.1f%s |"):format(name, 1e3 * best, 1e3 * own, calls, best / own,
        best > (own / calls < 1.5e-5 and 6 or 3) * own and "  OVER" or ""))
    end
  end
end

-- ---- sets made of sets ----

local function rotation(p)
  local A = pn.mat.zeros(p, p)
  for i = 1, p do
    for j = 1, p do A:set(i, j, math.cos(i * j) / math.sqrt(p)) end
  end
  return A
end

local composed = {
  { "l1 n box", function(p) return pn.set.l1_ball { dim = p }:intersect(pn.set.linf_ball { dim = p, radius = 0.1 }) end },
  { "l1 n l2", function(p) return pn.set.l1_ball { dim = p, radius = 2 }:intersect(pn.set.l2_ball { dim = p, radius = 0.5 }) end },
  { "l1 + l2", function(p) return pn.set.l1_ball { dim = p, radius = 2 } + pn.set.l2_ball { dim = p } end },
  { "l1 x l2", function(p) return pn.set.l1_ball { dim = p // 2 }:product(pn.set.l2_ball { dim = p - p // 2 }) end },
  { "image of l2", function(p) return pn.set.l2_ball { dim = p }:image(rotation(p)) end },
  { "hull of l2 and l1", function(p) return pn.set.l2_ball { dim = p, radius = 0.5 }:hull(pn.set.l1_ball { dim = p }) end },
}

print "\n| plans over sets made of sets, p = 200 | mirror_descent, ms | theory | frank_wolfe_convex | objective_perturbation |"
print "|---|---:|---:|---:|---:|"
for _, set in ipairs(composed) do
  local name = "composed, " .. set[1]
  if wanted(name) then
    local p, took = 200, {}
    local data, of = losses.logistic(p, p)
    local objective = pn.objective { data = data, loss = of, set = set[2](p) }
    for i, kind in ipairs { { "mirror_descent" }, { "mirror_descent", "theory" }, { "frank_wolfe_convex" },
      { "objective_perturbation" } } do
      local begun = os.clock()
      local made = pcall(pn.solve[kind[1]].plan, objective, { epsilon = 1, delta = 1e-6, preset = kind[2] })
      took[i] = made and ("%.1f"):format(1e3 * (os.clock() - begun)) or "refused"
    end
    print(("| %s | %s |"):format(name, table.concat(took, " | ")))
  end
end

-- ---- Frank-Wolfe ----

local function frank_wolfe_head()
  print "\n| Frank-Wolfe | start | T | default | without noise | its bound | theory's T | theory | without noise | tuned | at T |"
  print "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
end

-- The default number of steps beside the theory's and the best of nine shares of that, which is fitted to the runs.
local function frank_wolfe(name, objective, budget, count)
  local best = pn.solve.exact(objective, { tol = 1e-8 }).value
  local solvers = { "frank_wolfe_convex" }
  if pcall(pn.solve.frank_wolfe.plan, objective, budget) then table.insert(solvers, 1, "frank_wolfe") end
  for _, solver in ipairs(solvers) do
    local plan, tuned, at = pn.solve[solver].plan(objective, budget), math.huge, 1
    local theory = plan:with { preset = "theory" }
    for k = -7, 1 do
      local T = math.max(1, math.floor(theory.iterations * 2 ^ k + 0.5))
      local other = excess(plan:with { iterations = T }, best, math.min(count, 2))
      if other < tuned then tuned, at = other, T end
    end
    local function still(of)
      return pn.solve[solver](objective, { privacy = false, iterations = of.iterations, progress = false }).value - best
    end
    print(("| %s, %s | %.2g | %d | %.2g | %.2g | %.2g | %d | %.2g | %.2g | %.2g | %d |"):format(name, solver,
      objective:value(objective.set:center()) - best, plan.iterations, excess(plan, best, count),
      still(plan), plan.bound or 0 / 0, theory.iterations, excess(theory, best, count), still(theory), tuned, at))
  end
end

frank_wolfe_head()
each_synthetic("Frank-Wolfe, ", frank_wolfe)

local folder = os.getenv "PENUMBRA_DATA"
if folder and folder ~= "" then
  local files = dofile(here .. "utility_data.lua")
  local function each(kind, radii, call)
    for _, file in ipairs { "a9a", "ijcnn1", "reuters", "news20" } do
      for set, radius in pairs(radii) do
        local name = ("%s%s, %s of radius %d"):format(kind, file, set, radius)
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
  each("", { l1 = 10, l2 = 5 }, measure)
  frank_wolfe_head()
  each("Frank-Wolfe, ", { l1 = 10 }, frank_wolfe)
end
