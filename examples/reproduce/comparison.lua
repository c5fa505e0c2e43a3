-- comparison.lua -- what the comparison tables of variance reduction share: records whose constants are known, runs of each
-- method at one certified budget, a sweep over n and one over p, slopes beside the table's rates, and the figure. Loaded with
-- dofile by variance_reduced/*.lua; needs penumbra and common.lua.
--
-- Rows have norm at most 1, so a logistic loss has gradients of norm at most G = 1 and is L = 1/4 smooth, whatever the records
-- are. Excess risk is printed as median and quartiles over seeded runs; work as gradients of single records divided by n
-- ("passes"), as fit.gradients counts them.  A run of a method that has more records than `largest` is left out: its work grows
-- faster than n.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local comparison = { common = common }

-- n records of norm 1 in R^p: `margin` with the label's sign (wrong in one of ten) along the diagonal of the first `support`
-- axes, the rest of the length spread evenly over what is orthogonal to it, or unevenly: axis j with standard deviation
-- spread^((j-1)/(p-1)).
function comparison.records(options)
  local n, p, margin, spread, support = options.n, options.p, options.margin or 0.5, options.spread, options.support or 1
  local rng, direction = pn.rng.seeded(options.seed or 1), pn.vec.zeros(p)
  for j = 1, support do direction[j] = 1 / math.sqrt(support) end
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, n do
    y[i] = rng:uniform() < 0.5 and -1 or 1
    local sign = rng:uniform() < 0.1 and -y[i] or y[i]
    local row = pn.vec.normal(p, rng)
    if spread then
      for j = 2, p do row[j] = row[j] * spread ^ ((j - 1) / (p - 1)) end
    end
    row:axpy(-row:dot(direction), direction)
    X[i]:axpy(math.sqrt(1 - margin ^ 2) / row:norm(), row):axpy(sign * margin, direction)
  end
  return pn.data.from(X, y):clip_rows("l2", 1)
end

-- ---- one method at one place ----

-- Median and quartiles of the excess over `runs` seeded runs of a plan, passes over the data and seconds of a run; `score`: the
-- mean of score(fit), if given.
function comparison.measure(plan, runs, best, score)
  local passes, sum, start = 0, 0, os.clock()
  local median, low, high = common.quartiles(runs, function(seed)
    local fit = plan:run { rng = pn.rng.seeded(seed) }
    passes, sum = passes + fit.gradients / plan.objective.n, sum + (score and score(fit) or 0)
    return fit.value - best
  end)
  return { excess = median, low = low, high = high, passes = passes / runs, seconds = (os.clock() - start) / runs,
    epsilon = plan.epsilon, plan = plan, score = sum / runs }
end

-- The method's plan at the budget, with the options that it asks for.
function comparison.plan(method, objective, budget)
  local options = {}
  for name, value in pairs(budget) do options[name] = value end
  for name, value in pairs(method.options and method.options(objective) or {}) do options[name] = value end
  return pn.solve[method.solver].plan(objective, options)
end

local function column(rows, key)
  local values = {}
  for i, row in ipairs(rows) do values[i] = row[key] end
  return values
end
comparison.column = column

-- Where the budget is too small to get away from the start the excess has no slope, and where more than a fifth of it is there
-- without noise, too, the slope is not that of the noise: those places are left out.
local function away(rows, share)
  local kept = {}
  for _, row in ipairs(rows) do
    if row.excess < share * row.start and row.control <= row.excess / 5 then kept[#kept + 1] = row end
  end
  return kept
end

-- ---- sweeps ----

-- places: a list of { n =, p = }.  -> rows of every method, in order, by the method's label.
local function sweep(experiment, out, key, places)
  local rows = {}
  for _, place in ipairs(places) do
    local f = experiment.objective(place.n, place.p)
    local best = pn.solve.exact(f, { tol = experiment.tol or 1e-12 }).value
    local start = f:value(pn.vec.zeros(place.p)) - best
    for _, method in ipairs(experiment.methods) do
      local only = method.only and method.only[key]
      if place.n <= (method.largest or math.huge) and (only == nil or only[place[key]]) then
        local row = comparison.measure(comparison.plan(method, f, experiment.budget), experiment.runs, best)
        row.n, row.p, row.start, row.method = place.n, place.p, start, method
        row.control = common.still(row.plan, best, method.control or method.options and method.options(f))
        rows[method] = rows[method] or {}
        table.insert(rows[method], row)
        out:row(key, method.label, row.n, row.p, experiment.kappa or "-", row.epsilon, row.excess, row.low, row.high,
          row.control, row.passes, row.seconds)
        common.expect_silently(row.epsilon <= experiment.budget.epsilon * (1 + 1e-12), "%s: certified epsilon %g", method.label,
          row.epsilon)
      end
    end
  end
  return rows
end

local function slope_or_dash(rows, key, value)
  if #rows < 2 then return "-" end
  return common.slope(column(rows, key), column(rows, value))
end

-- Slopes of the excess and of the passes beside the table's; -> slopes[label] = { n =, p =, passes = }, nil where there are too
-- few places.
local function slopes(experiment, by_n, by_p)
  local out, found = common.table(experiment.name .. "_slopes", { "method", "in_n", "table_n", "in_p", "table_p", "passes_in_n",
    "table_passes" }, { method = 22 }), {}
  for _, method in ipairs(experiment.methods) do
    local rate = method.rate or {}
    local share, in_n, in_p = experiment.away or 1 / 8, by_n[method] or {}, by_p[method] or {}
    local n, p = slope_or_dash(away(in_n, share), "n", "excess"),
      slope_or_dash(away(in_p, share), "p", "excess")
    local passes = slope_or_dash(in_n, "n", "passes")
    out:row(method.label, n, rate.n or "-", p, rate.p or "-", passes, rate.passes or "-")
    found[method.label] = { n = tonumber(n), p = tonumber(p), passes = tonumber(passes) }
  end
  out:close()
  return found
end

-- ---- figure ----

local function series_of(experiment, rows, key, value)
  local list = {}
  for k, method in ipairs(experiment.methods) do
    local of = rows[method]
    if of then
      list[#list + 1] = { label = method.label, x = column(of, key), y = column(of, value), colour = k - 1,
        low = value == "excess" and column(of, "low") or nil, high = value == "excess" and column(of, "high") or nil }
    end
  end
  return list
end

-- The line of the lower bound, if the experiment has one, at the places of the first method.
local function add_lower(experiment, series, rows, key)
  if not experiment.lower then return series end
  local x, y = {}, {}
  for i, row in ipairs(rows[experiment.methods[1]]) do x[i], y[i] = row[key], experiment.lower(row.n, row.p) end
  series[#series + 1] = { label = experiment.lower_label, x = x, y = y, dashed = true, colour = 6 }
  return series
end

local function figure(experiment, by_n, by_p)
  local function panel(title, xlabel, ylabel, series)
    return { title = title, xlabel = xlabel, ylabel = ylabel, logx = true, logy = true, series = series }
  end
  local n, p = add_lower(experiment, series_of(experiment, by_n, "n", "excess"), by_n, "n"),
    add_lower(experiment, series_of(experiment, by_p, "p", "excess"), by_p, "p")
  local passes = series_of(experiment, by_n, "n", "passes")
  common.figure { name = experiment.name, title = experiment.title, legend = 280, panels = {
    panel(("p = %d"):format(experiment.p), "records n", "excess risk", n),
    panel(("n = %d"):format(experiment.n), "features p", "excess risk", p),
    panel(("p = %d"):format(experiment.p), "records n", "gradients / n", passes) } }
end

-- experiment: name, title, budget, runs, objective(n, p), methods (the first at every place), sizes (at p), dims (at n), and
-- what may be: kappa, lower(n, p) with lower_label, tol, away (slopes are those of places with less than this share of the
-- start's excess, and with a control of a fifth of the excess at most).  A method: label, solver, options(objective), control
-- (options of its control, by default the same), rate = { n =, p =, passes = } of the table, largest n, only = { n = { [value] =
-- true } or p = ... }.  -> slopes by label, rows by n and by p.
function comparison.run(experiment)
  print(experiment.title)
  local out = common.table(experiment.name, { "sweep", "method", "n", "p", "kappa", "epsilon", "excess", "quartile1", "quartile3",
    "control", "passes", "seconds" }, { method = 22 })
  local at_n, at_p = {}, {}
  for i, n in ipairs(experiment.sizes) do at_n[i] = { n = n, p = experiment.p } end
  for i, p in ipairs(experiment.dims) do at_p[i] = { n = experiment.n, p = p } end
  local by_n, by_p = sweep(experiment, out, "n", at_n), sweep(experiment, out, "p", at_p)
  out:close()
  local found = slopes(experiment, by_n, by_p)
  figure(experiment, by_n, by_p)
  return found, by_n, by_p
end

return comparison
