-- saddle.lua -- past a strict saddle of an empirical risk: second-order descent, the same without its Hessians (it ends at the
-- first small gradient), and noisy gradient descent, all at one budget.  Half of the records want their score away from 0, on
-- either side; the others want it at 0; the two sides are balanced, so that 0 is a saddle to which gradients lead.  Noisy gradients
-- leave saddles, too: measured is after how many steps, over the number of records and the curvature, and what the Hessians add.
--   penumbra examples/reproduce/second_order/saddle.lua [folder]
-- Noise is seeded; nothing here is a private release.  A copy of the figure is beside this file. Source: Gao, Wright,
-- Differentially private optimization for smooth nonconvex ERM; for noisy gradients Jin, Ge, Netrapalli, Kakade, Jordan, How to
-- escape saddle points efficiently.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local n, dim, epsilon, delta = 20000, 20, 1, 1e-6
local runs, iterations = common.size(3, 30), 40
local gradient, hessian = 0.04, 0.1 -- the targets
local away_share, shift = 0.5, math.sqrt(0.75)

local loss = pn.loss.glm(function(z, y) return y * pn.exp(-z ^ 2 / 2) + (1 - y) * (pn.sqrt(1 + z ^ 2) - 1) end,
  { labels = { 0, 1 }, name = "two kinds" })

-- Rows of norm 1.  Those of label 1 come in pairs, shift e_1 + v and shift e_1 - v, which makes f even in w_1; the others have no
-- first coordinate.
local function records()
  local rng, X, y = pn.rng.seeded(5), pn.mat.zeros(n, dim), pn.vec.zeros(n)
  local away, first = 2 * math.floor(away_share * n / 2), pn.vec.basis(dim, 1)
  for i = 1, n do
    local v = pn.vec.normal(dim, rng)
    v[1] = 0
    if i > away then
      X[i]:axpy(1 / v:norm(), v)
    else
      y[i] = 1
      X[i]:axpy(shift, first)
      X[i]:axpy(1, i % 2 == 0 and first * shift - X[i - 1] or v * (math.sqrt(1 - shift ^ 2) / v:norm()))
    end
  end
  return pn.data.from(X, y):clip_rows("l2", 1):clip_labels(0, 1)
end

local data, start = records(), pn.vec.zeros(dim)
for j = 2, dim do start[j] = j % 2 == 0 and 0.15 or -0.15 end

-- The saddle at 0 has the curvature ridge - 3/8 along w_1.
local function problem(ridge)
  local obj = pn.objective { data = data, loss = loss, reg = pn.reg.l2(ridge) }
  local saddle, side = pn.second_order_gap(obj, pn.vec.zeros(dim)), start:copy()
  side[1] = 1
  local floor = pn.solve.gradient_descent(obj, { privacy = false, start = side, iterations = 2000, output = "last" }).value
  return { obj = obj, saddle = saddle.value, curvature = saddle.eigenvalue, flat = saddle.gradient_norm, floor = floor }
end

-- One budget, two shares an iteration or one gradient a step: the noise of every release is the same.
local methods = {
  { name = "second order" },
  { name = "gradients only", targets = { gradient = gradient, hessian = 100 } }, -- no Hessian is that negative
  { name = "noisy gradient descent", steps = 2 * iterations },
  { name = "gradient descent's plan", default = true }, -- in the table only
}

-- mu^2/2 of the budget by the exact Gaussian curve, as these plans count it.
local whole

-- `times` more records, as far as noise is concerned: it falls as rho grows by the square.  `steps` of gradient descent, with the
-- noise of as many as the budget is for.
local function plan_of(method, obj, times, steps)
  local o = { epsilon = not times and epsilon or nil, delta = not times and delta or nil, rho = times and whole * times ^ 2,
    start = start }
  if method.default then return pn.solve.gradient_descent.plan(obj, o) end
  if method.steps then
    o.iterations, o.output = steps or method.steps, "last"
    if times then o.rho = o.rho * o.iterations / method.steps end
    return pn.solve.gradient_descent.plan(obj, o)
  end
  o.iterations, o.gap, o.tolerance = iterations, 1, method.targets or { gradient = gradient, hessian = hessian }
  return pn.solve.second_order.plan(obj, o)
end

local never = 1e9 -- of runs that end at the saddle

-- A run, and what exact data say of its points: after how many releases, value, least eigenvalue.
local function watched(method, at, seed, times, steps)
  local fit_plan, path, released = plan_of(method, at.obj, times, steps), {}, 0
  local left, count, halfway = nil, 0, at.saddle - 0.25 * (at.saddle - at.floor)
  local fit = fit_plan:run { rng = pn.rng.seeded(seed), on_step = function(state)
    count = count + 1
    released = released + ((state.kind == "curvature" or state.kind == "done") and 2 or 1)
    if times then
      if not left and at.obj:value(state.theta) < halfway then left = count end
      return not left
    end
    local gap = pn.second_order_gap(at.obj, state.theta)
    if not left and gap.value < halfway then left = count end
    path[#path + 1] = { released = released, value = gap.value, eigenvalue = gap.eigenvalue }
  end }
  return { fit = fit, path = path, left = left or never, released = released, last = path[#path] }
end

-- Median and quartiles over the runs of what they have after each of 0 .. 2 iterations releases.
local function curves(found, at, what)
  local first = pn.second_order_gap(at.obj, start)[what]
  local line, longest = { x = {}, y = {}, low = {}, high = {} }, 0
  for _, run in ipairs(found) do longest = math.max(longest, run.released) end
  for spent = 0, longest, 2 do
    local k = #line.x + 1
    line.x[k] = spent
    line.y[k], line.low[k], line.high[k] = common.quartiles(#found, function(seed)
      local value = first
      for _, point in ipairs(found[seed].path) do
        if point.released <= spent then value = point[what] end
      end
      return value
    end)
  end
  return line
end

local function count_of(found, test)
  local number = 0
  for _, run in ipairs(found) do number = number + (test(run) and 1 or 0) end
  return number
end

local at = problem(0.1)
whole = plan_of(methods[1], at.obj).lines["budget"]
print(("%d records in %d dimensions; saddle: f = %.4f, gradient %.1e, curvature %.3f; least value %.4f"):format(n, dim, at.saddle,
  at.flat,
  at.curvature, at.floor))
local out = common.table("saddle", { "part", "method", "times_n", "curvature", "left_after", "quartile1", "quartile3", "value",
  "eigenvalue", "certified",
  "releases" }, { method = 22 })

local function steps_cell(steps)
  return steps < never / 2 and steps or "never"
end

-- ---- one budget ----

local values, eigenvalues, all = {}, {}, {}
for k, method in ipairs(methods) do
  local found = {}
  local left, low, high = common.quartiles(runs, function(seed)
    found[seed] = watched(method, at, seed)
    return found[seed].left
  end)
  local value = common.quartiles(runs, function(seed) return found[seed].last.value end)
  local least = common.quartiles(runs, function(seed) return found[seed].last.eigenvalue end)
  local releases = common.quartiles(runs, function(seed) return found[seed].released end)
  local certified = count_of(found, function(run) return run.fit.stopped == "certified" end)
  out:row("budget", method.name, 1, at.curvature, steps_cell(left), steps_cell(low), steps_cell(high), value, least,
    (method.steps or method.default) and "-" or certified / runs, releases)
  all[k] = found
  if method.default then break end
  values[k], eigenvalues[k] = curves(found, at, "value"), curves(found, at, "eigenvalue")
  values[k].label, values[k].colour, eigenvalues[k].label, eigenvalues[k].colour = method.name, k - 1, method.name, k - 1
end

-- ---- how long noise takes ----

local walks = { { label = methods[1].name, colour = 0 }, { label = methods[3].name, colour = 2 } }
local function leaving(part, which, here_at, times)
  local method = methods[which]
  local left, low, high = common.quartiles(runs, function(seed) return watched(method, here_at, seed, times, 160).left end)
  out:row(part, method.name, times, here_at.curvature, left, low, high, "-", "-", "-", "-")
  return left, low, high
end
for k, which in ipairs { 1, 3 } do
  local line = walks[k]
  line.x, line.y, line.low, line.high = {}, {}, {}, {}
  for i, times in ipairs(common.size({ 1, 100 }, { 1, 3, 10, 30, 100, 1000 })) do
    line.x[i] = times * n
    line.y[i], line.low[i], line.high[i] = leaving("records", which, at, times)
  end
end
local bent = {} -- that is 10 times the records
for _, ridge in ipairs(common.size({}, { 0.2, 0.25 })) do
  local flatter = problem(ridge)
  bent[#bent + 1] = { curvature = flatter.curvature, second = leaving("curvature", 1, flatter, 10), first = leaving("curvature",
    3, flatter, 10) }
end
out:close()

common.figure { name = "saddle", font = 18, legend = 270,
  title = ("A strict saddle, epsilon = %g: medians and quartiles of %d runs"):format(epsilon, runs),
  panels = {
    { title = "value", xlabel = "releases (80 are the budget)", ylabel = "f", series = values, ticks = false },
    { title = "least eigenvalue of the Hessian", xlabel = "releases", ylabel = "eigenvalue", series = eigenvalues, ticks = false },
    { title = "steps before the saddle is left", xlabel = "records (their noise)", ylabel = "steps", logx = true, series = walks,
      ticks = false },
  } }

-- At steps 1/G the way from the saddle grows by 1 + |lam|/G a step: so many make up for a tenth of the noise.
local per_decade = math.log(10) / math.log(1 - at.curvature / (1 + 0.1))
local second, first = walks[1], walks[2]
local decades = math.log(first.x[#first.x] / first.x[1], 10)
local slope = (first.y[#first.y] - first.y[1]) / decades
local stuck = count_of(all[2], function(run) return run.fit.stopped == "certified" and run.last.eigenvalue < -0.2 end)
common.expect(stuck >= 0.8 * runs, "without Hessians %d of %d runs end at the saddle, least eigenvalue below -0.2", stuck, runs)
local settled = count_of(all[1], function(run) return run.fit.stopped == "certified" and run.last.eigenvalue > 0 end)
common.expect(settled >= 0.95 * runs, "second-order descent: %d of %d runs certify, at a point with a positive least eigenvalue",
  settled, runs)
common.expect(count_of(all[1], function(run)
  local c, gap = run.fit.certificate, pn.second_order_gap(at.obj, run.fit.theta)
  return gap.gradient_norm <= c.gradient_norm and gap.eigenvalue >= c.eigenvalue
end) >= 0.9 * runs, "certificates hold in at least nine of ten runs")
common.expect(second.y[#second.y] <= second.y[1] + 2, "it leaves after %.0f steps, and after %.0f with %g times the records",
  second.y[1],
  second.y[#second.y], first.x[#first.x] / first.x[1])
common.expect(slope > 0.7 * per_decade and slope < 1.3 * per_decade,
  "noise leaves it too, after %.0f steps; each tenfold n delays it by %.1f steps (growth by 1 + |lam|/G a step: %.1f)",
    first.y[1], slope,
  per_decade)
for _, row in ipairs(bent) do
  print(("  curvature %.3f, 10 times the records: left after %.0f steps with Hessians, %.0f without"):format(row.curvature,
    row.second, row.first))
end
