-- private_lasso.lua -- a sparse linear model under (epsilon, delta)-differential privacy, from data to the bill.
--   penumbra examples/private_lasso.lua                 synthetic data, where the truth is known
--   DATA=my.libsvm.gz penumbra examples/private_lasso.lua
--   EPSILON=0.5 RADIUS=2 penumbra examples/private_lasso.lua
local pn = require "penumbra"

local epsilon = tonumber(os.getenv "EPSILON" or 1)
local radius = tonumber(os.getenv "RADIUS" or 1)
local path = os.getenv "DATA"

-- 1. The data.  Public bounds are enforced by clipping before anything else looks at a record.
local data, truth
if path then
  data = (path:match "%.csv" and pn.data.csv or pn.data.libsvm)(path)
else
  data, truth = pn.data.synthetic.lasso { n = 20000, p = 100, sparsity = 5, seed = 7 }
end
data = data:clip_rows("linf", 1):clip_labels(-1, 1)
print(data)
if path then print "  (features and labels beyond [-1, 1] were clipped: rescale yours by public ranges first)" end

-- 2. The objective: mean squared error over the l1 ball.  Its bounds are certified, not hoped for.
local objective = pn.objective {
  data = data,
  loss = pn.loss.squared(),
  set = pn.set.l1_ball { dim = data.p, radius = radius },
}

-- 3. The budget and the plan.  Nothing is spent yet, and every number comes with its formula.
local ledger = pn.ledger { epsilon = 2 * epsilon, delta = 1 / data.n ^ 2 }
local plan = pn.solve.frank_wolfe.plan(objective, { epsilon = epsilon, delta = 1 / data.n ^ 2, ledger = ledger })
print()
print(plan)

-- 4. The run: each step is charged before its noise is drawn.
local fit = plan:run()
print()
print(fit)

-- 5. How good is it?  This looks at the exact data: an experiment, not a release.
local exact = pn.solve.exact(objective, { tol = 1e-7 })
print(("\n  for the experimenter only (computed without privacy)"))
print(("  risk %.6f, minimum %.6f, excess %.6f; the plan's bound was %.4f"):format(fit.value, exact.value,
  fit.value - exact.value, plan.bound))

-- The coordinates that carry most of the weight, against the ones that should.
local order = {}
for j = 1, data.p do order[j] = j end
table.sort(order, function(a, b) return math.abs(fit.theta[a]) > math.abs(fit.theta[b]) end)
if truth then
  local found, wanted = 0, 0
  for j = 1, data.p do wanted = wanted + (truth[j] ~= 0 and 1 or 0) end
  for rank = 1, wanted do found = found + (truth[order[rank]] ~= 0 and 1 or 0) end
  print(("  support: %d of the %d true coordinates are the %d largest"):format(found, wanted, wanted))
end
io.write "  largest coordinates:"
for rank = 1, math.min(5, data.p) do io.write((" %d (%.3f)"):format(order[rank], fit.theta[order[rank]])) end
print()

-- 6. What is left.
print()
print(ledger)
