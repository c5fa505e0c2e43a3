-- strongly_convex.lua -- the table of methods for smooth strongly convex risks: excess risk and gradients of single records at
-- one certified budget, against n and p.  Every method has its default plan, except that SVRG also runs as printed (noise on
-- every direction, full gradient included) and SGD also as Bassily, Smith and Thakurta have it: n^2 steps of 1/(mu t) on single
-- records and their last point, with the noise that the accountant asks for.
--   penumbra examples/reproduce/variance_reduced/strongly_convex.lua [folder]
-- Source: Wang, Ye, Xu (2017), first table.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local comparison = dofile(here .. "../comparison.lua")
local common = comparison.common

local kappa = 10

local methods = {
  { label = "DP-SVRG", solver = "svrg", rate = { n = -2, p = 1, passes = 0 } },
  { label = "DP-SVRG, as printed", solver = "svrg", options = function() return { form = "printed" } end, only = { p = {} } },
  { label = "gradient descent", solver = "gradient_descent", rate = { n = -2, p = 1 } },
  { label = "objective perturbation", solver = "objective_perturbation", rate = { n = -2, p = 1 } },
  { label = "output perturbation", solver = "output_perturbation", rate = { n = -2, p = 1, passes = 0 } },
  { label = "SGD, n^2 steps", solver = "sgd", rate = { n = -2, p = 1, passes = 1 }, largest = common.size(300, 1024),
    only = { p = {} }, options = function(f)
      return { batch = 1, iterations = f.n * f.n, schedule = "inverse", output = "last" }
    end },
  { label = "SGD, batches", solver = "sgd", rate = { n = -2, p = 1 } },
}

local found, by_n = comparison.run {
  name = "strongly_convex", title = "Strongly convex: logistic losses + l2, kappa = 10, epsilon = 1, delta = 1e-6",
  budget = { epsilon = 1, delta = 1e-6 }, runs = common.size(5, 20), methods = methods, kappa = kappa,
  sizes = common.size({ 256, 4096, 16384 }, { 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536 }), p = 20,
  dims = common.size({ 8, 32 }, { 5, 10, 20, 40, 80, 160 }), n = common.size(8192, 32768),
  objective = function(n, p)
    return pn.objective { data = comparison.records { n = n, p = p, seed = n + p }, loss = pn.loss.logistic(),
      reg = pn.reg.l2(0.25 / kappa) }
  end,
  lower = function(n, p) return math.min(1, p / n ^ 2) end, lower_label = "lower bound, min(1, p/(n eps)^2)",
}

-- Seeded runs; the ranges leave room for other seeds.
local function within(label, key, low, high)
  local slope = found[label][key]
  common.expect(slope and slope > low and slope < high, "%s: excess like %s^%.2f", label, key, slope or 0 / 0)
end
for _, label in ipairs { "DP-SVRG", "objective perturbation", "output perturbation", "SGD, batches" } do
  within(label, "n", -2.6, -1.6)
  within(label, "p", 0.6, 1.6)
end
local function last(k)
  local rows = by_n[methods[k]]
  return rows[#rows]
end
for k = 1, 3 do common.control(last(k).excess, last(k).control, "n = %d, %s", last(k).n, methods[k].label) end
common.expect(last(3).passes > 5 * last(1).passes, "gradient descent takes %.1f times the gradients of DP-SVRG",
  last(3).passes / last(1).passes)
common.expect(last(2).excess > 5 * last(1).excess, "as printed, SVRG has %.0f times the risk for the same gradients",
  last(2).excess / last(1).excess)
