-- custom_set.lua -- a constraint of one's own: weights that never fall from one age group to the next, with a bounded length.
--   penumbra examples/custom_set.lua            SEED=1 repeats the noise, which is then worth nothing
local pn = require "penumbra"
local seed = tonumber(os.getenv "SEED" or nil)
local function noise(run) return seed and pn.rng.seeded(seed + run) or pn.rng.secure() end
local n, p, radius = 1500, 20, 2

-- 1. The nearest rising vector: neighbours that fall are replaced by their mean, until none do.
local function rising(v)
  local means, counts = {}, {}
  for j = 1, #v do
    local mean, count = v[j], 1
    while #means > 0 and means[#means] > mean do
      local last, many = table.remove(means), table.remove(counts)
      mean, count = (last * many + mean * count) / (many + count), many + count
    end
    means[#means + 1], counts[#counts + 1] = mean, count
  end
  local out = {}
  for k, mean in ipairs(means) do
    for _ = 1, counts[k] do out[#out + 1] = mean end
  end
  return pn.vec(out)
end

-- 2. The set from functions.  Rising vectors are a cone, so both maps go through its projection.
local C = pn.set.custom {
  dim = p, radius = radius, name = "rising",
  project = function(v)
    local x = rising(v)
    return x:norm() > radius and x * (radius / x:norm()) or x
  end,
  support = function(g) -- the point with the largest <g, x>; its opposite serves Frank-Wolfe
    local x = rising(g)
    return x:norm() > 0 and x * (radius / x:norm()) or x
  end,
  contains = function(v)
    for j = 2, p do
      if v[j] < v[j - 1] - 1e-9 then return false end
    end
    return v:norm() <= radius + 1e-9
  end,
}
print(pn.check(C))

-- What the check finds in a set whose support forgets the radius.
local wrong = pn.set.custom { dim = p, radius = radius, project = function(v) return C:project(v) end, support = rising }
print(("\nwith a wrong support: ok = %s"):format(pn.check(wrong).ok))

-- 3. Fewer directions, less noise.
local ball = pn.set.l2_ball { dim = p, radius = radius }
print(("\nwidth %.2f; of the whole ball %.2f"):format(pn.width(C, { tol = 0.05 }).value, pn.width(ball).value))

-- 4. Records: one of 20 age groups each, and an outcome in [-1, 1] that rises with age, with noise.
local rng = pn.rng.seeded(5)
local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
for i = 1, n do
  local group = 1 + math.floor(rng:uniform() * p)
  X:set(i, group, 1)
  y[i] = 0.5 * pn.tanh((group - 12) / 3) + 0.4 * (rng:uniform() - 0.5)
end
local data = pn.data.from(X, y):clip_rows("l2", 1):clip_labels(-1, 1)

-- 5. A potential of one's own, for mirror descent: squared distance that trusts the ends less.
local scale = pn.vec.linspace(1, 2, p)
local potential = pn.potential.custom {
  value = function(x) return 0.5 * (x * scale):dot(x) end,
  gradient = function(x) return x * scale end,
  inverse_gradient = function(u) return u / scale end,
  strong_convexity = 1, dim = p,
}
print(pn.check(potential, { set = ball }))

-- 6. Private training over it, with solvers that know nothing of its kind.
local budget = { epsilon = 1, delta = 1 / n ^ 2 }
local function mean_excess(name, set, options)
  local objective = pn.objective { data = data, loss = pn.loss.squared(), set = set }
  local truth = pn.solve.exact(pn.objective { data = data, loss = pn.loss.squared(), set = ball }, { tol = 1e-6 }).value
  local sum, runs = 0, 10
  local plan = pn.solve[name].plan(objective, budget):with(options or {})
  for run = 1, runs do sum = sum + plan:run { rng = noise(run) }.value - truth end -- looks at the exact data
  print(("  %-20s over %-8s excess risk %.4f"):format(name, set.name, sum / runs))
end
print "\nmean of 10 runs:"
for _, set in ipairs { ball, C } do mean_excess("frank_wolfe_convex", set) end
for _, set in ipairs { ball, C } do mean_excess("mirror_descent", set, { iterations = 100 }) end
mean_excess("mirror_descent", C, { iterations = 100, potential = potential })
