-- convex.lua -- the table of methods for smooth convex risks without strong convexity: excess risk and gradients of single
-- records at one certified budget, against n and p.  Logistic losses over an l2 ball whose boundary holds the minimum.  Every
-- method has its default plan, except that SGD also runs as Bassily, Smith and Thakurta have it: n^2 steps of D/sqrt(t (G^2 + p
-- sigma^2)) on single records and their last point, with the noise that the accountant asks for.
--   penumbra examples/reproduce/variance_reduced/convex.lua [folder]
-- Source: Wang, Ye, Xu (2017), second table.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local comparison = dofile(here .. "../comparison.lua")
local common = comparison.common

local methods = {
  { label = "DP-SVRG++", solver = "svrg_pp", rate = { n = -1, p = 1 / 2, passes = 0 } },
  { label = "DP-SVRG", solver = "svrg" },
  { label = "gradient descent", solver = "gradient_descent", rate = { n = -1, p = 1 / 2 } },
  { label = "objective perturbation", solver = "objective_perturbation", rate = { n = -1, p = 1 / 2 } },
  { label = "output perturbation", solver = "output_perturbation", rate = { n = -2 / 3, p = 1 / 3, passes = 2 / 3 } },
  { label = "SGD, n^2 steps", solver = "sgd", rate = { n = -1, p = 1 / 2, passes = 1 }, largest = common.size(300, 1024),
    only = { p = {} }, options = function(f)
      return { batch = 1, iterations = f.n * f.n, schedule = "sqrt", output = "last" }
    end },
  { label = "SGD, batches", solver = "sgd", rate = { n = -1, p = 1 / 2 } },
  { label = "accelerated", solver = "accelerated_mirror_descent", rate = { n = -1, p = 1 / 2, passes = 1 / 2 } },
}

local found, by_n = comparison.run {
  name = "convex", title = "Convex: logistic losses over the l2 ball of radius 2, epsilon = 1, delta = 1e-6",
  budget = { epsilon = 1, delta = 1e-6 }, runs = common.size(5, 20), methods = methods, tol = 1e-9,
  sizes = common.size({ 256, 4096, 16384 }, { 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 }), p = 20,
  dims = common.size({ 8, 32 }, { 5, 10, 20, 40, 80, 160 }), n = common.size(4096, 16384),
  objective = function(n, p)
    return pn.objective { data = comparison.records { n = n, p = p, seed = n + p }, loss = pn.loss.logistic(),
      set = pn.set.l2_ball { dim = p, radius = 2 } }
  end,
  lower = function(n, p) return math.min(1, math.sqrt(p) / n) end, lower_label = "lower bound, min(1, sqrt(p)/(n eps))",
}

-- Seeded runs; the ranges leave room for other seeds.  DP-SVRG++ grows faster than the table's p^(1/2): nothing is checked
-- there.
for _, case in ipairs { { "gradient descent", -1.4, -0.8, 0.3, 1 },
  { "SGD, batches", -1.4, -0.8, 0.3, 1 }, { "output perturbation", -0.9, -0.35, 0.3, 1 },
  { "DP-SVRG++", -2.2, -0.8 }, { "objective perturbation", -2.2, -0.8, 0.3, 1.9 } } do
  local label, steepest, flattest, least, most = table.unpack(case)
  local n, p = found[label].n, found[label].p
  common.expect_silently(common.quick or n and p, "%s: three places at least whose control is small", label)
  if n then common.expect(n > steepest and n < flattest, "%s: excess like n^%.2f", label, n) end
  if p and least then common.expect(p > least and p < most, "%s: excess like p^%.2f", label, p) end
end
local function last(k)
  local rows = by_n[methods[k]]
  return rows[#rows]
end
local fast, descent, slow = last(1), last(3), last(5)
for _, row in ipairs { fast, descent, slow } do common.control(row.excess, row.control, "n = %d, %s", row.n, row.method.label) end
common.expect(fast.excess < descent.excess and descent.passes > 2 * fast.passes,
  "n = %d: DP-SVRG++ has %.2f times the risk of gradient descent, which takes %.1f times the gradients", fast.n,
  fast.excess / descent.excess, descent.passes / fast.passes)
common.expect(slow.excess > 5 * fast.excess, "and output perturbation %.0f times the risk of DP-SVRG++", slow.excess / fast.excess)
