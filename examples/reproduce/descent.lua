-- descent.lua -- what the reproductions of noisy mirror descent share: records, a sweep over n, a sweep over the parameter of the
-- geometry. Loaded with dofile by geometry/mirror_descent_*.lua; needs penumbra and common.lua.
--
-- What a run can show.  With T where the two parts of M are equal, the bound is M sqrt(2 D2/T) = D2/(eta T) + eta M^2/2, in equal
-- parts: the way from the start to the answer, and the noise with the steps' curvature.  On a problem with a fixed slope (the
-- hinge loss below is linear where |<x, theta>| <= 1) the first part is met nearly exactly, while the average over T points takes
-- most of the noise away: the mean excess is near half the bound, at every n and in every geometry, and so falls like 1/n and
-- grows with p as the bound does.  The squared loss flattens towards its minimum, which no worst case does: it is further below
-- the bound.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local descent = { common = common }

-- n records with labels -1 and 1 in the unit l2 ball: margin 0.8 along the unit vector `direction` (wrong in one record of ten),
-- the rest of the row's length spread evenly over what is orthogonal to it.  Clipping certifies the Lipschitz constant: 1 for the
-- hinge loss, 2 for the squared loss where |<x, theta>| <= 1.
function descent.records(n, direction, seed)
  local rng, p, margin = pn.rng.seeded(seed), #direction, 0.8 -- p > 1
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, n do
    y[i] = rng:uniform() < 0.5 and -1 or 1
    local sign = rng:uniform() < 0.1 and -y[i] or y[i]
    local row = pn.vec.normal(p, rng)
    row:axpy(-row:dot(direction), direction)
    X[i]:axpy(math.sqrt(1 - margin ^ 2) / row:norm(), row):axpy(sign * margin, direction)
  end
  return pn.data.from(X, y):clip_rows("l2", 1):clip_labels(-1, 1)
end

-- One measurement; set, direction and potential (nil: the set's own) are those of geometry(value).
local function measure(experiment, loss, n, value, runs)
  local set, direction, potential = experiment.geometry(value)
  potential = potential or (pn.potential.for_set(set)) -- a plan by itself would take the Euclidean one where that is better
  local objective = pn.objective { data = descent.records(n, direction, n), loss = pn.loss[loss](), set = set }
  local plan = pn.solve.mirror_descent.plan(objective, { rho = experiment.rho, potential = potential, preset = "theory" })
  local best = pn.solve.exact(objective, { tol = 1e-9 }).value
  local first = pn.solve.mirror_descent(objective, { privacy = false, iterations = 1, potential = potential, preset = "theory" })
  local mean, standard_error = common.excess(plan, runs, best)
  local width, radius, range = plan.lines["width G of Q"], plan.lines["radius R of Q"], plan.lines["range D2"]
  return {
    loss = loss, n = n, value = value, T = plan.iterations, width = width, range = range, start = first.value - best,
    mean = mean, error = standard_error, bound = plan.bound, shape = math.sqrt((width ^ 2 + radius ^ 2) * range),
  }
end

local function column(rows, key)
  local values = {}
  for i, row in ipairs(rows) do values[i] = row[key] end
  return values
end

-- Measures a list of { n =, value = } with one loss and writes the rows; `predicted` continues from the first row by law(row).
local function sweep(experiment, table_, name, loss, places, law)
  local rows = {}
  for i, place in ipairs(places) do
    local row = measure(experiment, loss, place.n, place.value, experiment.runs)
    rows[i] = row
    row.predicted = rows[1].mean * law(row) / law(rows[1])
    table_:row(name, loss, row.n, row.value, row.T, row.width, row.range, row.start, row.mean, row.error, row.bound,
      row.mean / row.bound, row.predicted)
  end
  return rows
end

-- Three series of one loss in a panel: measured, predicted and bound over `key`.
local function add_series(panel, rows, key, colour)
  local x, loss = column(rows, key), rows[1].loss
  table.insert(panel, { label = loss .. ", measured", x = x, y = column(rows, "mean"), error = column(rows, "error"),
    colour = colour })
  if loss == "hinge" then
    table.insert(panel, { label = loss .. ", predicted", x = x, y = column(rows, "predicted"), marks = true, colour = 2 })
  end
  table.insert(panel, { label = loss .. ", bound", x = x, y = column(rows, "bound"), dashed = 2, colour = colour })
end

local function check_bounds(rows, what)
  local worst = 0
  for _, row in ipairs(rows) do worst = math.max(worst, row.mean / row.bound) end
  common.expect(worst < 1, "%s loss, every %s: measured mean below the bound (largest ratio %.2f)", rows[1].loss, what, worst)
end

-- Where the budget is too small to get away from the start, the excess is that of the start and has no slope: those sizes are
-- left out.
local function away_from_start(rows)
  local kept = {}
  for _, row in ipairs(rows) do
    if row.mean < row.start / 2 then kept[#kept + 1] = row end
  end
  common.expect(#kept >= 2, "%s loss: the excess is under half of the start's at %d of %d sizes", rows[1].loss, #kept, #rows)
  return kept
end

-- The bound's slope is -1.  Measured: [-1.3, -0.6] for the loss with a fixed slope; what flattens towards its minimum may fall
-- faster.
local function check_n(rows)
  check_bounds(rows, "n")
  local bound = common.slope(column(rows, "n"), column(rows, "bound"))
  common.expect(math.abs(bound + 1) < 0.05, "slope of the bound in n is -1: %.3f", bound)
  local kept = away_from_start(rows)
  local measured, least = common.slope(column(kept, "n"), column(kept, "mean")), rows[1].loss == "hinge" and -1.3 or -2.1
  common.expect(measured > least and measured < -0.6, "slope of the %s loss's excess in n lies in [%g, -0.6]: %.3f", rows[1].loss,
    least, measured)
end

-- Hinge only: the squared loss's optimum, and with it how benign it is, moves with the geometry.
local function check_value(rows, experiment)
  check_bounds(rows, experiment.parameter)
  if rows[1].loss ~= "hinge" then return end
  local worst = 1
  for _, row in ipairs(rows) do worst = math.max(worst, row.mean / row.predicted, row.predicted / row.mean) end
  common.expect(worst < 1.5, "excess in %s follows sqrt((G^2 + R^2) D2) within a factor 1.5: %.2f", experiment.parameter, worst)
end

-- experiment: name, title, rho, runs; parameter (its name); sizes (n) at the value `at`; values at the size `n`;
-- geometry(value) -> set, unit vector, potential or nil.
function descent.run(experiment)
  print(experiment.title)
  local out = common.table(experiment.name, { "sweep", "loss", "n", experiment.parameter, "T", "width", "D2", "start", "excess",
    "error", "bound", "ratio", "predicted" })
  local by_n, by_value, in_n, in_value = {}, {}, {}, {}
  for i, n in ipairs(experiment.sizes) do by_n[i] = { n = n, value = experiment.at } end
  for i, value in ipairs(experiment.values) do by_value[i] = { n = experiment.n, value = value } end
  for k, loss in ipairs(experiment.losses or { "hinge", "squared" }) do
    local rows = sweep(experiment, out, "n", loss, by_n, function(row) return 1 / row.n end)
    add_series(in_n, rows, "n", k - 1)
    check_n(rows)
    rows = sweep(experiment, out, experiment.parameter, loss, by_value, function(row) return row.shape end)
    add_series(in_value, rows, "value", k - 1)
    check_value(rows, experiment)
  end
  out:close()
  local function panel(xlabel, title, series, key, linear)
    return { title = title, xlabel = xlabel, ylabel = "excess risk", logx = not linear, logy = true, key = key, series = series }
  end
  common.figure { name = experiment.name, title = experiment.title, panels = {
    panel("n", ("%s = %g"):format(experiment.parameter, experiment.at), in_n, "bottom left Left reverse samplen 2"),
    panel(experiment.parameter, ("n = %d"):format(experiment.n), in_value, false, experiment.linear) } }
end

return descent
