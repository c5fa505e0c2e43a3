-- geometry.lua -- why the constraint set is worth choosing: the error of private learning follows its width, not the dimension.
--   penumbra examples/geometry.lua              SEED=1 repeats the noise, which is then worth nothing
local pn = require "penumbra"
local rng = pn.rng.seeded(3)
local noise = os.getenv "SEED" and function(run) return pn.rng.seeded(tonumber(os.getenv "SEED") + run) end
  or pn.rng.secure -- what a release needs

-- 1. Sparse records: 300 texts of 11 words out of 2,000; one word tells the label, wrong in one text of ten.
local n, p = 300, 2000
local S, y = { rows = n, cols = p, i = {}, j = {}, x = {} }, {}
for i = 1, n do
  y[i] = rng:uniform() < 0.5 and -1 or 1
  local row = { (rng:uniform() < 0.1 and -1 or 1) * y[i] * 0.8 }
  for _ = 1, 10 do row[2 + rng:uniform() * (p - 1) // 1] = (rng:uniform() < 0.5 and -1 or 1) * 0.19 end
  for j, x in pairs(row) do
    table.insert(S.i, i)
    table.insert(S.j, math.tointeger(j))
    table.insert(S.x, x)
  end
end
local data = pn.data.from(pn.sparse(S), pn.vec(y)):clip_rows("l2", 1)
print(data)

-- 2. Sets, picked or composed; each finds its norm, its potential and its width.
local l1, l2 = pn.set.l1_ball { dim = p }, pn.set.l2_ball { dim = p }
local capped = l1:intersect(pn.set.linf_ball { dim = p, radius = 0.5 }) -- no word may weigh more than a half
for _, C in ipairs { l2, l1, capped } do
  local potential, why = pn.potential.for_set(C)
  local width = pn.width(C, { tol = 0.1 })
  print(("\n%s\n  potential  %s\n  why        %s\n  width      %.2f by %s; sqrt(p) is %.1f"):format(C, potential, why,
    width.value, width.method, math.sqrt(p)))
end

-- 3. What the theorems promise for every set and solver.  Nothing is spent.
local budget = { epsilon = 2, delta = 1 / n ^ 2 }
print()
print(pn.advise(data, pn.loss.hinge(), { epsilon = 2, delta = 1 / n ^ 2, sets = { l2, l1 } }))

-- 4. The same set and budget in two geometries: the one that fits the l1 ball, and the Euclidean one.  The plans are the article's,
-- whose bound has the widths in it.
local objective = pn.objective { data = data, loss = pn.loss.hinge(), set = l1 }
local function run(potential)
  budget.potential, budget.preset = potential, "theory"
  local plan, excess, runs = pn.solve.mirror_descent.plan(objective, budget), 0, 5
  for k = 1, runs do excess = excess + plan:run { rng = noise(k) }:excess(1e-4) / runs end -- looks at the exact data
  print(("  %-14s width of the norm's ball %6.2f, %4d steps, excess risk %.3f (bound %.3f)"):format(
    potential.name, plan.lines["width G of Q"], plan.iterations, excess, plan.bound))
  return excess, plan.bound
end
print "\nmirror descent over the l1 ball, mean of 5 runs:"
local fitting, promised = run((pn.potential.for_set(l1)))
local euclidean, euclidean_bound = run(pn.potential.euclidean {})
print(("  the widths promise %.1f times less excess risk, the runs had %.1f times less"):format(
  euclidean_bound / promised, euclidean / fitting))
