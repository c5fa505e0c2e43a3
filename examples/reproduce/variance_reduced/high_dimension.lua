-- high_dimension.lua -- the table of methods for high dimension: excess risk and gradients of single records at one certified
-- budget over the l1 ball, against n and p.  Its Gaussian width grows like (ln p)^(1/2), so the table's rates hardly depend on
-- p.  The accelerated method by default takes entropy where noise costs that less than half of what it costs Euclidean
-- steps, from some 30 features on; against p it also runs with the Euclidean one throughout.
--   penumbra examples/reproduce/variance_reduced/high_dimension.lua [folder]
-- Source: Wang, Ye, Xu (2017), third table.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local comparison = dofile(here .. "../comparison.lua")
local common = comparison.common

local methods = {
  { label = "accelerated", solver = "accelerated_mirror_descent", rate = { n = -1, passes = 1 / 2 } },
  { label = "accelerated, Euclidean", solver = "accelerated_mirror_descent", only = { n = { [2048] = true, [4096] = true } },
    options = function() return { potential = pn.potential.euclidean() } end },
  { label = "objective perturbation", solver = "objective_perturbation", rate = { n = -1 } },
  { label = "Frank-Wolfe, private", solver = "frank_wolfe", rate = { n = -2 / 3, passes = 2 / 3 } },
  { label = "Frank-Wolfe, noisy", solver = "frank_wolfe_convex", rate = { n = -2 / 3, passes = 2 / 3 } },
  { label = "mirror descent", solver = "mirror_descent", rate = { n = -1, passes = 2 }, largest = 4096,
    options = function() return { preset = "theory" } end, control = { form = "printed", average = "all" } },
}

local found, by_n = comparison.run {
  name = "high_dimension", title = "High dimension: logistic losses over the l1 ball of radius 4, epsilon = 1, delta = 1e-6",
  budget = { epsilon = 1, delta = 1e-6 }, runs = common.size(5, 20), methods = methods, tol = 1e-8, away = 3 / 4,
  sizes = common.size({ 2048, 8192 }, { 1024, 2048, 4096, 8192, 16384, 32768 }), p = 100,
  dims = common.size({ 20, 80 }, { 25, 100, 400, 1600 }), n = common.size(1024, 4096),
  objective = function(n, p)
    return pn.objective { data = comparison.records { n = n, p = p, seed = n + p, support = 5 }, loss = pn.loss.logistic(),
      set = pn.set.l1_ball { dim = p, radius = 4 } }
  end,
  lower = function(n, p) return math.min(1, math.sqrt(2 * math.log(2 * p)) / n) end, lower_label = "width / (n eps)",
}

-- Seeded runs; the ranges leave room for other seeds.
local a = found.accelerated
common.expect(a.n > -1.6 and a.n < -0.8, "accelerated: excess like n^%.2f", a.n)
common.expect(math.abs(a.passes - 1 / 2) < 0.1, "accelerated: gradients / n like n^%.2f", a.passes)
for _, label in ipairs { "Frank-Wolfe, private", "Frank-Wolfe, noisy" } do
  common.expect(math.abs(found[label].passes - 2 / 3) < 0.1, "%s: gradients / n like n^%.2f", label, found[label].passes)
end
local slow = by_n[methods[6]]
slow = slow[#slow]
-- Of the accelerated method with the Euclidean potential: over entropy it takes more and shorter steps.
for _, row in ipairs(by_n[methods[2]]) do
  if row.n == slow.n then
    common.expect(slow.passes > 10 * row.passes,
      "n = %d: mirror descent takes %.0f times the gradients of the Euclidean accelerated method", slow.n, slow.passes / row.passes)
    print(("  at %.1f times its risk, of which %.2f is there without noise, and %.2f of the other's: no effect of privacy"):format(
      slow.excess / row.excess, slow.control / slow.excess, row.control / row.excess))
  end
end
