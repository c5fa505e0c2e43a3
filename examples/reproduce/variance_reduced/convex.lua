-- convex.lua -- the table of methods for smooth convex risks without strong convexity: excess risk and gradients of single records at
-- one certified budget, against n and p.  Logistic losses over an l2 ball whose boundary holds the minimum.
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

local found = comparison.run {
  name = "convex", title = "Convex: logistic losses over the l2 ball of radius 2, epsilon = 1, delta = 1e-6",
  budget = { epsilon = 1, delta = 1e-6 }, runs = common.size(5, 20), methods = methods, tol = 1e-9,
  sizes = common.size({ 256, 2048, 8192 }, { 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 }), p = 20,
  dims = common.size({ 8, 32 }, { 5, 10, 20, 40, 80, 160 }), n = common.size(4096, 16384),
  objective = function(n, p)
    return pn.objective { data = comparison.records { n = n, p = p, seed = n + p }, loss = pn.loss.logistic(),
      set = pn.set.l2_ball { dim = p, radius = 2 } }
  end,
  lower = function(n, p) return math.min(1, math.sqrt(p) / n) end, lower_label = "lower bound, min(1, sqrt(p)/(n eps))",
}
