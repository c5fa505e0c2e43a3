-- accelerated_rate.lua -- accelerated mirror descent in three geometries (the l2 ball with the Euclidean potential, the l1 ball
-- with a power of a norm near l1, the simplex with entropy), on least squares with curvatures spread over four decades.
--   1. Without noise: the gap after T steps is below 8 L_C B/(T + 1)^2 and falls like it.
--   2. At epsilon = 1: excess against the number T of steps, which are gradients of all records, beside mirror descent with the
--      same potential and budget.  Acceleration is not about less risk: it needs orders of magnitude fewer steps for the same.
--      Beside each the control, the same plan without noise.  Both plans weigh their way from the start against the noise, so the
--      control is a good part of the excess, and no slope in n or p is read off.
--   penumbra examples/reproduce/variance_reduced/accelerated_rate.lua [folder]
-- Source: Wang, Ye, Xu (2017), Algorithm 3, corrected; Talwar, Thakurta, Zhang (2014) for mirror descent.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")
local spectrum = dofile(here .. "../spectrum.lua")

local budget = { epsilon = 1, delta = 1e-6 }

-- The minimiser: `truth`, on the boundary of the set.  On the l1 ball and the simplex of p = 32 four coordinates, one of each
-- decade.
local geometries = {
  { name = "l2 ball", set = function(p) return pn.set.l2_ball { dim = p, radius = 1 } end,
    truth = function(_, p) return 1 / math.sqrt(p) end },
  { name = "l1 ball", set = function(p) return pn.set.l1_ball { dim = p, radius = 1 } end,
    truth = function(j) return j % 8 == 1 and (-1) ^ (j // 8) / 4 or 0 end },
  { name = "simplex", set = function(p) return pn.set.simplex { dim = p } end,
    truth = function(j) return j % 8 == 1 and 1 / 4 or 0 end },
}

local function problem(geometry, n, p)
  local records = spectrum.records(n, p, function(j) return geometry.truth(j, p) end)
  return pn.objective { data = records, loss = pn.loss.squared(), set = geometry.set(p) }
end

-- ---- 1. without noise ----

local function against_steps()
  print "accelerated_mirror_descent without noise: gap after T steps"
  local rows, series = common.table("accelerated_rate", { "geometry", "T", "gap", "promised", "mirror_descent" }), {}
  for k, geometry in ipairs(geometries) do
    local f, s, worst = problem(geometry, 64, 32), { T = {}, gap = {}, bound = {} }, 0
    for exponent = 0, common.size(8, 10) do
      local options, i = { privacy = false, iterations = 1 << exponent, potential = pn.potential.for_set(f.set) }, exponent + 1
      local plan = pn.solve.accelerated_mirror_descent.plan(f, options)
      local T, L, B = plan.iterations, plan.lines["smoothness L_C"], plan.lines["distance B"]
      s.T[i], s.gap[i], s.bound[i] = T, plan:run().value, 8 * L * B / (T + 1) ^ 2
      worst = math.max(worst, s.gap[i] / s.bound[i], math.abs(plan.bound / s.bound[i] - 1))
      options.preset = "theory"
      rows:row(geometry.name, T, s.gap[i], s.bound[i], pn.solve.mirror_descent(f, options).value)
    end
    local last = #s.T
    local rate = math.log(s.gap[last] / s.gap[last - 2]) / math.log(4)
    common.expect(worst < 1, "%s: at most %.3f of 8 L_C B/(T + 1)^2, which is the plan's bound", geometry.name, worst)
    common.expect(rate < -1.5, "%s: slope %.2f over the last two doublings of T", geometry.name, rate)
    series[2 * k - 1] = { label = geometry.name .. ": bound", x = s.T, y = s.bound, dashed = true, colour = k - 1 }
    series[2 * k] = { label = geometry.name, x = s.T, y = s.gap, colour = k - 1 }
  end
  rows:close()
  return { title = "without noise", xlabel = "steps T", ylabel = "gap", logx = true, logy = true,
    key = "outside top center maxrows 3 samplen 2", series = series }
end

-- ---- 2. at a budget ----

local solvers = { "accelerated_mirror_descent", "mirror_descent" }
local short = { accelerated_mirror_descent = "accelerated", mirror_descent = "mirror descent" }

-- Excess after T steps; T nil: the plan's own number.
local function measure(f, solver, T)
  local plan = pn.solve[solver].plan(f, { epsilon = budget.epsilon, delta = budget.delta, iterations = T,
    potential = pn.potential.for_set(f.set), preset = solver == "mirror_descent" and "theory" or nil })
  local mean, spread = common.excess(plan, common.size(8, plan.iterations > 10000 and 8 or 30), 0)
  local printed = solver == "mirror_descent"
  local still = common.still(plan, 0, { potential = pn.potential.for_set(f.set), form = printed and "printed" or nil,
    average = printed and "all" or nil })
  return { T = plan.iterations, mean = mean, spread = spread, still = still, bound = plan.bound }
end

local function compare(rows, geometry)
  local f, found, worst, series = problem(geometry, 1 << 13, 32), {}, 0, {}
  for k, solver in ipairs(solvers) do
    local s, own = { T = {}, mean = {}, spread = {}, bound = {} }, measure(f, solver)
    local list = {}
    for exponent = 2, common.size(8, 12), k do list[#list + 1] = 1 << exponent end
    list[#list + 1] = own.T
    table.sort(list)
    for i, T in ipairs(list) do
      local row = T == own.T and own or measure(f, solver, T)
      s.T[i], s.mean[i], s.spread[i], s.bound[i] = T, row.mean, row.spread, row.bound
      rows:row(geometry.name, short[solver], T, row.mean, row.spread, row.still, row.bound)
      worst = math.max(worst, (row.mean + 4 * row.spread) / row.bound)
    end
    found[solver] = own
    series[2 * k - 1] = { label = "its bound", x = s.T, y = s.bound, dashed = true, colour = k - 1 }
    series[2 * k] = { label = short[solver], x = s.T, y = s.mean, error = s.spread, colour = k - 1 }
  end
  local fast, slow = found.accelerated_mirror_descent, found.mirror_descent
  common.expect(worst < 1, "%s: measured + 4 standard errors is at most %.3f of the bounds", geometry.name, worst)
  common.expect(slow.T > 50 * fast.T and fast.mean < 1.3 * (slow.mean + 3 * slow.spread),
    "%s: the plans take %d and %d steps, a ratio of %.0f; excess %.3g and %.3g", geometry.name, fast.T, slow.T, slow.T / fast.T,
    fast.mean, slow.mean)
  print(("  %s: without noise %.2f and %.2f of that are left"):format(geometry.name, fast.still / fast.mean,
    slow.still / slow.mean))
  common.expect(fast.bound < slow.bound, "%s: the plans' bounds are %.3g and %.3g", geometry.name, fast.bound, slow.bound)
  return { title = geometry.name .. ", epsilon = 1, n = 8192", xlabel = "steps T", ylabel = "excess risk", logx = true,
    logy = true, key = "outside top center maxrows 3 samplen 2", series = series }
end

local panels = { against_steps() }
print(("epsilon = %g, delta = %g: mean excess after T steps, the plan's own T among them"):format(budget.epsilon, budget.delta))
local rows = common.table("accelerated_rate_private", { "geometry", "solver", "T", "excess", "std_error", "control", "bound" })
for k = 1, common.size(1, #geometries) do panels[#panels + 1] = compare(rows, geometries[k]) end
rows:close()
common.figure { name = "accelerated_rate", title = "Accelerated mirror descent, p = 32", panels = panels }
