-- descent.lua -- what the reproductions of noisy mirror descent share: a problem on which the noise decides, and three sweeps over
-- it, each with its control without noise.  Loaded with dofile by geometry/*.lua; needs penumbra and common.lua.
--
-- The law.  One release of the mean gradient with the whole budget has noise s = 2 L/(n sqrt(2 rho)) in each coordinate.  No
-- private method tells a gradient of size s G apart from its noise over all of C, G the Gaussian width of C = E max <b, theta>:
-- the excess risk is of the order s G.  That law shows only where the signal is of the size of the noise.  With a stronger one the
-- answer is a vertex and the excess falls faster than any power; with a weaker one the start is as good as any answer.  So the
-- problem follows the noise: f(theta) = -a s G <u, theta> with a about 1, u a unit vector, and what is reported is
--     H(a) = mean excess / (s G).
-- By H a run that learns nothing has a, and one that finds the minimum has 0.
--
-- The control is the same plan (steps, potential, average) without noise.  The plan balances the way from the start against the
-- noise, so that with time = 1 the control is of the size of the effect; time = 3 makes it small.  The plan of Theorem 3.2 does
-- not pass this test: its steps are so short that its excess is nearly that of its control.  It is in the tables to show that.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "common.lua")

local descent = { common = common, steps = 64, time = 3 }

-- The loss -y <x, theta>: its slope has size 1 everywhere, its curvature is 0.
local linear = pn.loss.glm(function(z, y) return -y * z end, { labels = { -1, 1 }, name = "linear" })

-- n records, n even, of norm 1 whose mean of y x is slope times the unit vector u, exactly: in pairs y x = +-q u +- w with w at
-- random and orthogonal to u; the count of pairs with -q and then q make the slope.
function descent.records(n, u, slope, seed)
  local rng, p, pairs_, most = pn.rng.seeded(seed), #u, n // 2, 0.8
  if slope > most then error(("a slope of %g needs more records than %d"):format(slope, n), 0) end
  local against = math.floor(pairs_ / 2 * (1 - slope / most))
  local q = slope / (1 - 2 * against / pairs_)
  local X, y = pn.mat.zeros(n, p), pn.vec.zeros(n)
  for i = 1, pairs_ do
    local w, along = pn.vec.normal(p, rng), i <= against and -q or q
    w:axpy(-w:dot(u), u)
    w = math.sqrt(1 - q ^ 2) / w:norm() * w
    for k, sign in ipairs { 1, -1 } do
      local row = 2 * i - 2 + k
      y[row] = sign
      X[row]:axpy(along * sign, u):axpy(1, w)
    end
  end
  return pn.data.from(X, y):clip_rows("l2", 1):clip_labels(-1, 1)
end

-- The noise of one release with the whole budget, under replace_one, L = 1.
function descent.noise(n, rho) return 2 / (n * math.sqrt(2 * rho)) end

-- The objective of n records whose mean loss is -slope <u, theta>.
function descent.objective(set, n, u, slope)
  return pn.objective { data = descent.records(n, u, slope, n), loss = linear, set = set }
end

-- Mean excess of `runs` runs, its standard error, the excess of the control, and the plan.
function descent.compare(objective, options, runs)
  local best = pn.solve.exact(objective, { tol = 1e-9 }).value
  local plan = pn.solve.mirror_descent.plan(objective, options)
  local mean, standard_error = common.excess(plan, runs, best)
  local theory = options.preset == "theory"
  local control = pn.solve.mirror_descent(objective, { privacy = false, iterations = plan.iterations, potential = options.potential,
    step = plan.lines["step eta"], form = theory and "printed" or "lazy", average = theory and "all" or "tail", progress = false })
  return mean, standard_error, control.value - best, plan
end

-- ---- the three sweeps ----

local function column(rows, key)
  local values = {}
  for i, row in ipairs(rows) do values[i] = row[key] end
  return values
end

-- One measurement at { n =, value =, a = }; in units of s G what has no unit of its own.
local function measure(experiment, place)
  local set, u = experiment.geometry(place.value)
  local potential = pn.potential.for_set(set)
  local width, s = pn.width(set, { draws = 20000, rng = pn.rng.seeded(1) }).value, descent.noise(place.n, experiment.rho)
  local unit = s * width
  local objective = descent.objective(set, place.n, u, place.a * unit)
  local mean, standard_error, control, plan = descent.compare(objective, { rho = experiment.rho, iterations = descent.steps,
    time = descent.time, potential = potential }, experiment.runs)
  local row = { n = place.n, value = place.value, a = place.a, width = width, unit = unit, excess = mean, error = standard_error,
    control = control, bound = plan.bound, H = mean / unit, H_error = standard_error / unit, H_control = control / unit }
  if place.theory then
    local theory, _, still = descent.compare(objective, { rho = experiment.rho, potential = potential, preset = "theory" },
      math.ceil(experiment.runs / 4))
    row.theory, row.theory_control = theory / unit, still / unit
  end
  return row
end

local function sweep(experiment, out, name, places)
  local rows = {}
  for i, place in ipairs(places) do
    local row = measure(experiment, place)
    rows[i] = row
    out:row(name, row.n, row.value, row.a, row.width, row.excess, row.error, row.control, row.bound, row.H, row.theory or "",
      row.theory_control or "")
    common.expect_silently(row.excess < row.bound, "%s = %g, n = %d: mean excess %.3g below the bound %.3g", experiment.parameter,
      row.value, row.n, row.excess, row.bound)
    if row.a >= 1 then
      common.control(row.excess, row.control, "%s = %g, n = %d, a = %g", experiment.parameter, row.value, row.n, row.a)
    end
  end
  return rows
end

-- A run that learns nothing has excess / gap = 1 at every signal.
local function check_signal(rows)
  local first, last = rows[1].H / rows[1].a, rows[#rows].H / rows[#rows].a
  common.expect(last < first and last < 0.5, "the share of the gap that is left falls from %.2f at a = %g to %.2f at a = %g", first,
    rows[1].a, last, rows[#rows].a)
end

-- Every n has the same draws, so the slope is -1 unless something beside s enters.
local function check_n(rows)
  local slope = common.slope(column(rows, "n"), column(rows, "excess"))
  common.expect(math.abs(slope + 1) < 0.05, "the excess falls like n^%.3f, a fixed: -1 +- .05", slope)
end

-- The order is s G over the whole family; where G spans a factor of 4 or more and the potential stays the same, a slope says more.
local function check_value(rows, experiment)
  local low, high = math.huge, 0
  for _, row in ipairs(rows) do low, high = math.min(low, row.H), math.max(high, row.H) end
  common.expect(low > 0.25 and high < 1, "over %s the excess is between %.2f and %.2f of s G", experiment.parameter, low, high)
  local slope = common.slope(column(rows, "width"), column(rows, "excess"))
  if experiment.slope then
    common.expect(math.abs(slope - 1) < 0.2, "the excess grows like G^%.2f: 1 +- .2", slope)
  else
    print(("  the excess grows like G^%.2f"):format(slope))
  end
  local theory, still = 0, 0
  for _, row in ipairs(rows) do theory, still = theory + row.theory / #rows, still + row.theory_control / #rows end
  print(("  Theorem 3.2's steps: %.2f of s G on average, and %.2f without noise"):format(theory, still))
end

local function panel(rows, x, y, scale, options)
  local errors = column(rows, y == "H" and "H_error" or "error")
  options.series = {
    { label = "private", x = column(rows, x), y = column(rows, y), error = errors, colour = 0 },
    { label = "without noise", x = column(rows, x), y = column(rows, y == "H" and "H_control" or "control"), colour = 1 },
  }
  if scale then
    local law = {}
    for i, row in ipairs(rows) do law[i] = rows[1][y] / rows[1].unit * row.unit end
    options.series[3] = { label = "like s G", x = column(rows, x), y = law, dashed = 2, colour = 2 }
  end
  return options
end

-- Controls may be 0, which has no logarithm: figures have linear axes of y for H and show the control from 1e-4 of s G on.
local function visible(rows)
  for _, row in ipairs(rows) do
    row.H_control = math.max(row.H_control, 0)
    row.control = math.max(row.control, 1e-4 * row.unit)
  end
  return rows
end

-- experiment: name, title, rho, runs; parameter (its name); at (value of the first two sweeps), n (of the first and the last);
-- sizes, values; slope (whether the last sweep has one); geometry(value) -> set, unit vector u with max <u, theta> = 1 over it.
function descent.run(experiment)
  print(experiment.title)
  local out = common.table(experiment.name, { "sweep", "n", experiment.parameter, "a", "width", "excess", "error", "control",
    "bound", "excess/sG", "theory/sG", "its_control" })
  local by_signal, by_n, by_value = {}, {}, {}
  for i, a in ipairs { 0.5, 0.75, 1, 1.5, 2 } do by_signal[i] = { n = experiment.n, value = experiment.at, a = a } end
  for i, n in ipairs(experiment.sizes) do by_n[i] = { n = n, value = experiment.at, a = 1 } end
  for i, value in ipairs(experiment.values) do by_value[i] = { n = experiment.n, value = value, a = 1, theory = true } end
  by_signal = sweep(experiment, out, "a", by_signal)
  check_signal(by_signal)
  by_n = sweep(experiment, out, "n", by_n)
  check_n(by_n)
  by_value = sweep(experiment, out, experiment.parameter, by_value)
  check_value(by_value, experiment)
  out:close()
  local at = ("%s = %g"):format(experiment.parameter, experiment.at)
  common.figure { name = experiment.name, title = experiment.title, panels = {
    panel(visible(by_signal), "a", "H", false, { title = at, xlabel = "signal a, in s G", ylabel = "excess risk / (s G)",
      key = "right center" }),
    panel(visible(by_n), "n", "excess", true, { title = at .. ", a = 1", xlabel = "n", ylabel = "excess risk", logx = true,
      logy = true, key = "left center Left reverse samplen 2" }),
    panel(visible(by_value), "width", "excess", true, { title = ("n = %d, a = 1"):format(experiment.n), xlabel = "width G",
      ylabel = "excess risk", logx = true, logy = true, ticks = false, key = false }) } }
end

return descent
