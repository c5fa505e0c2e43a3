-- lasso_rate.lua -- how the excess risk of private LASSO falls with n: p = 100, rho = 0.5, n = 2^10 .. 2^16, 60 runs a size.
-- The noise is seeded (this is an experiment on synthetic data, not a release), so the table repeats exactly.
--   penumbra examples/lasso_rate.lua [runs]
local pn = require "penumbra"

local runs = tonumber(arg and arg[1] or 60)
local sizes, means = {}, {}

print "      n      T   mean excess    std.error       bound"
for exponent = 10, 16 do
  local n = 1 << exponent
  local data = pn.data.synthetic.lasso { n = n, p = 100, sparsity = 5, seed = exponent }
  local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 100, radius = 1 } }
  local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.5 })
  local minimum = pn.solve.exact(objective, { tol = 1e-9 }).value
  local sum, squares = 0, 0
  for run = 1, runs do
    local excess = plan:run { rng = pn.rng.seeded(1000 * exponent + run) }.value - minimum
    sum, squares = sum + excess, squares + excess ^ 2
  end
  local mean = sum / runs
  local error = math.sqrt(math.max(squares / runs - mean ^ 2, 0) / runs)
  sizes[#sizes + 1], means[#means + 1] = n, mean
  print(("%7d %6d %13.6f %12.6f %11.4f"):format(n, plan.iterations, mean, error, plan.bound))
  assert(mean < plan.bound, "the mean excess risk must stay below the plan's bound")
end

-- Least squares of log(mean) on log(n).
local sx, sy, sxx, sxy = 0, 0, 0, 0
for i = 1, #sizes do
  local x, y = math.log(sizes[i]), math.log(means[i])
  sx, sy, sxx, sxy = sx + x, sy + y, sxx + x * x, sxy + x * y
end
print(("log-log slope %.3f; the bound's own is -2/3, this benign instance allows about -1"):format(
  (#sizes * sxy - sx * sy) / (#sizes * sxx - sx * sx)))
