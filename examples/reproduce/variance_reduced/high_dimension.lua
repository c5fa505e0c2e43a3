-- high_dimension.lua -- the table of methods for high dimension: excess risk and gradients of single records at one certified budget
-- over the l1 ball, against n and p.  Its Gaussian width grows like (ln p)^(1/2), so the table's rates hardly depend on p.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local comparison = dofile(here .. "../comparison.lua")
local common = comparison.common

local methods = {
  { label = "accelerated", solver = "accelerated_mirror_descent", rate = { n = -1, passes = 1 / 2 } },
  { label = "objective perturbation", solver = "objective_perturbation", rate = { n = -1 } },
  { label = "Frank-Wolfe, private", solver = "frank_wolfe", rate = { n = -2 / 3, passes = 2 / 3 } },
  { label = "Frank-Wolfe, noisy", solver = "frank_wolfe_convex", rate = { n = -2 / 3, passes = 2 / 3 } },
  { label = "mirror descent", solver = "mirror_descent", rate = { n = -1, passes = 2 }, largest = common.size(2000, 4096) },
}

local found = comparison.run {
  name = "high_dimension", title = "High dimension: logistic losses over the l1 ball of radius 4, epsilon = 1, delta = 1e-6",
  budget = { epsilon = 1, delta = 1e-6 }, runs = common.size(5, 20), methods = methods, tol = 1e-8, away = 3 / 4,
  sizes = common.size({ 512, 2048 }, { 1024, 2048, 4096, 8192, 16384, 32768 }), p = 100,
  dims = common.size({ 20, 80 }, { 25, 100, 400, 1600 }), n = common.size(1024, 4096),
  objective = function(n, p)
    return pn.objective { data = comparison.records { n = n, p = p, seed = n + p, support = 5 }, loss = pn.loss.logistic(),
      set = pn.set.l1_ball { dim = p, radius = 4 } }
  end,
  lower = function(n, p) return math.min(1, math.sqrt(2 * math.log(2 * p)) / n) end, lower_label = "width / (n eps)",
}
