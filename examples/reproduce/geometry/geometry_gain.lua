-- geometry_gain.lua -- what the geometry of the set is worth: on sparse problems with p = 10 .. 10,000 at fixed n, noisy mirror
-- descent with the potential of the l1 norm against the squared l2 norm on the same data, set and budget.  The widths predict the
-- gain
--     sqrt((G2^2 + R2^2) D2_2 / ((G1^2 + R1^2) D2_1)),
-- G2 ~ sqrt p the width of the l2 ball, G1 ~ sqrt(2 ln p) that of the l1 ball, D2_1 = O(ln p): below 1 for small p, where the
-- logarithms cost more than sqrt p, and about sqrt p / ln p for large p.
--   penumbra examples/reproduce/geometry/geometry_gain.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 and the comparison with the l2 geometry after it.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local n, rho, filled = 500, common.size(0.25, 1), 8
local dims = common.size({ 10, 100, 1000 }, { 10, 100, 1000, 10000 })

-- n records of unit l2 norm: the first columns and the label are marked(rng), and `filled` other columns, at random, are
-- Gaussian.
local function sparse_records(p, marked, seed)
  local rng = pn.rng.seeded(seed)
  local i, j, x, labels = {}, {}, {}, {}
  local function put(row, column, value) i[#i + 1], j[#j + 1], x[#x + 1] = row, column, value end
  for row = 1, n do
    local values, label = marked(rng)
    local left, taken = 1, #values
    for column, value in ipairs(values) do
      put(row, column, value)
      left = left - value ^ 2
    end
    local count = math.min(filled, p - taken)
    local rest, seen = pn.vec.normal(count, rng), {}
    rest = math.sqrt(left) / rest:norm() * rest
    for k = 1, count do
      local column
      repeat column = taken + 1 + math.floor(rng:uniform() * (p - taken)) until not seen[column]
      seen[column] = true
      put(row, column, rest[k])
    end
    labels[row] = label
  end
  return pn.data.from(pn.sparse { rows = n, cols = p, i = i, j = j, x = x }, labels):clip_rows("l2", 1):clip_labels(-1, 1)
end

-- One coordinate tells the label, but for one record in ten; the best point is a corner of the simplex.
local function one_tells(rng)
  local label = rng:uniform() < 0.5 and -1 or 1
  return { 0.8 * (rng:uniform() < 0.1 and -label or label) }, label
end

-- Two coordinates tell it, each but for one record in ten of its own; the best point lies between two corners.
local function two_tell(rng)
  local label = rng:uniform() < 0.5 and -1 or 1
  local values = {}
  for k = 1, 2 do values[k] = 0.6 * (rng:uniform() < 0.1 and -label or label) end
  return values, label
end

local function simplex(p) return pn.set.simplex { dim = p, radius = 1 } end
local function l1_ball(p) return pn.set.l1_ball { dim = p, radius = 1 } end

-- Over the l1 ball the powers that the article has, in the sharper form of blocks of one; the entropy of 2p weights costs
-- less still.
local function fitting(set)
  if set.name == "l1_ball" then return pn.potential.group { dim = set.dim, radius = set.radius } end
  return (pn.potential.for_set(set))
end

local problems = {
  { name = "simplex, hinge", law = "simplex", loss = "hinge", marked = one_tells, set = simplex },
  { name = "l1 ball, hinge", law = "l1 ball", loss = "hinge", marked = one_tells, set = l1_ball },
  { name = "l1 ball, logistic", loss = "logistic", marked = two_tell, set = l1_ball },
}

-- The plan caps its steps by the cost n p of dense data (it may not count what is stored: that depends on the records); these are
-- sparse, so the steps are those of the theorem, from the plan's own width.
local function plan_for(objective, potential)
  local plan = pn.solve.mirror_descent.plan(objective, { rho = rho, potential = potential, preset = "theory" })
  local shape = plan.lines["width G of Q"] ^ 2 + plan.lines["radius R of Q"] ^ 2
  plan = plan:with { iterations = math.max(math.ceil(rho * n ^ 2 * plan.lines["radius R of Q"] ^ 2 / (2 * shape)), 1) }
  return plan, math.sqrt(shape * plan.lines["range D2"])
end

local function compare(problem, p, out)
  local data = sparse_records(p, problem.marked, p)
  local objective = pn.objective { data = data, loss = pn.loss[problem.loss](), set = problem.set(p) }
  local best = pn.solve.exact(objective, { tol = 1e-9 }).value
  local own, own_shape = plan_for(objective, fitting(objective.set))
  local l2, l2_shape = plan_for(objective, pn.potential.euclidean {})
  local runs = common.size(3, p >= 10000 and 6 or 12)
  local own_mean, own_error, own_bound = common.excess(own, runs, best)
  local l2_mean, l2_error, l2_bound = common.excess(l2, runs, best)
  local gain, error = l2_mean / own_mean, math.sqrt((own_error / own_mean) ^ 2 + (l2_error / l2_mean) ^ 2)
  local row = { own = own_mean, l2 = l2_mean, own_bound = own_bound, l2_bound = l2_bound, gain = gain, error = gain * error,
    predicted = l2_shape / own_shape }
  out:row(problem.name, p, own.iterations, l2.iterations, own_mean, own_error, own_bound, l2_mean, l2_error, l2_bound, row.gain,
    l2_bound / own_bound, row.predicted)
  return row
end

local function check(problem, rows)
  local worst, apart = 0, 1
  for _, row in ipairs(rows) do
    worst = math.max(worst, row.own / row.own_bound, row.l2 / row.l2_bound)
    apart = math.max(apart, row.gain / row.predicted, row.predicted / row.gain)
  end
  common.expect(worst < 1, "%s: every mean below its bound (largest ratio %.2f)", problem.name, worst)
  for k = 2, #rows do
    common.expect(rows[k].gain > rows[k - 1].gain, "%s: the gain grows from p = %d to %d: %.2f, %.2f", problem.name, dims[k - 1],
      dims[k], rows[k - 1].gain, rows[k].gain)
  end
  common.expect(rows[#rows].gain > 1 + 4 * rows[#rows].error, "%s: at p = %d the geometry of l1 is better: %.2f +- %.2f",
    problem.name, dims[#rows], rows[#rows].gain, rows[#rows].error)
  print(("  measured and predicted gain are at most a factor %.2f apart"):format(apart))
end

local function column(rows, key)
  local values = {}
  for k, row in ipairs(rows) do values[k] = row[key] end
  return values
end

local out = common.table("geometry_gain", { "problem", "p", "T_own", "T_l2", "own", "own_error", "own_bound", "l2", "l2_error",
  "l2_bound", "gain", "bounds_gain", "width_gain" })
local series = {}
for k, problem in ipairs(problems) do
  local rows = {}
  for i, p in ipairs(dims) do rows[i] = compare(problem, p, out) end
  check(problem, rows)
  table.insert(series, { label = problem.name .. ", measured", x = dims, y = column(rows, "gain"), error = column(rows, "error"),
    colour = k - 1 })
  if problem.law then
    table.insert(series, { label = problem.law .. ", predicted", x = dims, y = column(rows, "predicted"), dashed = 2,
      colour = k - 1 })
  end
end
out:close()
common.figure { name = "geometry_gain", title = ("Euclidean over l1 excess risk, n = %d, rho = %g"):format(n, rho), xlabel = "p",
  ylabel = "gain", logx = true, logy = true, key = "top left Left reverse", series = series }
