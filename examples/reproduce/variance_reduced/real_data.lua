-- real_data.lua -- the comparison on census records (a9a, 32,561 of them, 123 features, rows in the unit l2 ball): strongly
-- convex, convex over an l2 ball, and over an l1 ball; excess risk, accuracy on the test set and gradients of single records at
-- epsilon 0.1 and 1, delta = 1/n^2, every method with its default plan.  control: the same plan without noise.  It has a quarter to
-- nearly all of the excess, since plans end where noise would cost more than the rest of the way: what is compared is gradients.
--   PENUMBRA_DATA=FOLDER penumbra examples/reproduce/variance_reduced/real_data.lua [folder]
-- FOLDER holds a9a.gz and a9a.t.gz (LIBSVM text).  Without it the script says so and ends.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local comparison = dofile(here .. "../comparison.lua")
local common = comparison.common

local folder = os.getenv "PENUMBRA_DATA"
if not folder or folder == "" then
  print "skipped: real_data needs PENUMBRA_DATA, a folder with a9a.gz and a9a.t.gz"
  return
end

local kappa, radius = 300, 20

-- A full record is 14 ones, so no feature exceeds 1/sqrt(14) in the unit ball.
local function load(name)
  return pn.data.libsvm(folder .. "/" .. name, { cols = 123 }):clip_rows("l2", 1):clip_rows("linf", 1 / math.sqrt(14))
end
local train, test = load "a9a.gz", load "a9a.t.gz"
if common.quick then train = train:split(0.1, pn.rng.seeded(1)) end
local score = pn.objective { data = test, loss = pn.loss.logistic() }

local svrg, svrg_pp = { label = "DP-SVRG", solver = "svrg" }, { label = "DP-SVRG++", solver = "svrg_pp" }
local descent, batches = { label = "gradient descent", solver = "gradient_descent" }, { label = "SGD, batches", solver = "sgd" }
local objective_, output = { label = "objective perturbation", solver = "objective_perturbation" },
  { label = "output perturbation", solver = "output_perturbation" }
local accelerated = { label = "accelerated", solver = "accelerated_mirror_descent" }
local vertices, noisy = { label = "Frank-Wolfe, private", solver = "frank_wolfe" },
  { label = "Frank-Wolfe, noisy", solver = "frank_wolfe_convex" }
local colours = { svrg, descent, objective_, output, batches, svrg_pp, accelerated, vertices, noisy }
for k, method in ipairs(colours) do method.colour = k - 1 end

local problems = {
  { name = "strongly convex", title = ("+ l2, kappa = %d"):format(kappa), methods = { svrg, descent, objective_, output, batches },
    objective = { reg = pn.reg.l2(0.25 / kappa) } },
  { name = "l2 ball", title = ("over the l2 ball of radius %d"):format(radius),
    methods = { svrg_pp, svrg, descent, objective_, output, batches, accelerated },
    objective = { set = pn.set.l2_ball { dim = 123, radius = radius } } },
  { name = "l1 ball", title = ("over the l1 ball of radius %d"):format(2 * radius),
    methods = { accelerated, objective_, vertices, noisy },
    objective = { set = pn.set.l1_ball { dim = 123, radius = 2 * radius } } },
}

print(("a9a: %d records, %d features, logistic losses, delta = 1/n^2"):format(train.n, train.p))
local out = common.table("real_data", { "problem", "method", "epsilon", "certified", "excess", "quartile1", "quartile3", "control",
  "accuracy", "passes", "seconds" }, { problem = 15, method = 22 })
local panels, found = {}, {}
for k, problem in ipairs(problems) do
  local f = pn.objective { data = train, loss = pn.loss.logistic(), reg = problem.objective.reg, set = problem.objective.set }
  local exact = pn.solve.exact(f, { tol = 1e-7 })
  out:row(problem.name, "without privacy", "-", "-", 0, 0, 0, 0, score:accuracy(exact.theta), "-", "-")
  local series = {}
  for _, method in ipairs(problem.methods) do
    local line = { label = method.label, x = {}, y = {}, low = {}, high = {}, colour = method.colour }
    for i, epsilon in ipairs { 0.1, 1 } do
      local plan = comparison.plan(method, f, { epsilon = epsilon, delta = 1 / train.n ^ 2 })
      local at = comparison.measure(plan, common.size(3, 20), exact.value, function(fit) return score:accuracy(fit.theta) end)
      at.control = common.still(plan, exact.value, method.options and method.options(f))
      out:row(problem.name, method.label, epsilon, at.epsilon, at.excess, at.low, at.high, at.control, at.score, at.passes,
        at.seconds)
      common.expect_silently(at.epsilon <= epsilon * (1 + 1e-12), "%s: certified epsilon %g", method.label, at.epsilon)
      found[problem.name .. method.label .. epsilon] = at
      line.x[i], line.y[i], line.low[i], line.high[i] = at.passes, at.excess, at.low, at.high
    end
    series[#series + 1] = line
  end
  panels[k] = { title = problem.title, xlabel = "gradients / n", ylabel = "excess risk", logx = true, logy = true, series = series,
    ticks = false, key = "outside below Left reverse samplen 1 maxrows 4" }
end
out:close()
common.figure { name = "real_data", title = "a9a: epsilon = 0.1 (upper) and 1 (lower ends)", panels = panels }

local function of(method, epsilon) return found["l2 ball" .. method.label .. epsilon] end
local slow = of(descent, 1)
for _, method in ipairs { accelerated, svrg, batches } do
  local fast = of(method, 1)
  common.expect(slow.passes > common.size(1.5, 3) * fast.passes and fast.excess < 2 * slow.excess,
    "epsilon = 1, l2 ball: gradient descent takes %.1f times the gradients of %s, which has %.2f times the risk",
    slow.passes / fast.passes, method.label, fast.excess / slow.excess)
end
if not common.quick then -- of all records
  for _, method in ipairs { descent, batches, accelerated, svrg } do
    local low, high = of(method, 0.1).score, of(method, 1).score
    common.expect(low >= 0.811 and high >= 0.84, "l2 ball, %s: test accuracy %.4f at epsilon 0.1 and %.4f at 1", method.label,
      low, high)
  end
end
