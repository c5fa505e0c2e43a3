-- learning.lua -- a network learned privately from values of its loss: two layers, four rectified units, hinge loss, which is
-- neither convex nor smooth, as a black box in batch form.
--   quadrants   16,000 records uniform in [-1, 1]^4, labelled by the sign of x_1 x_2, which no linear rule tells: d = 25 weights
--   houses      blocks of California, above or below 180,000 dollars, 8 features scaled by public ranges: d = 41, n = 16,512
--               (PENUMBRA_DATA=FOLDER with cal_housing.csv.gz; left out without it)
-- The slope of such a loss in its weights has no bound.  L = 1/2 is declared and what is beyond is clipped: each difference is L a
-- unit at most, in d orthonormal directions, along which a slope of norm 2.5 has about 1/2.
-- Every run starts at normal weights, drawn anew for each seed; its answer is scored on records that it has not seen.
--   as it comes       zeroth_order with nothing but the start
--   zeroth_order      told distance = sqrt(d), the size of the weights it starts at, and output = "last"
--   prefix sums       the same, with oracle = "variance_reduced"
--   naive             zeroth_order_naive, the article's: one direction a record, fresh batches; told the same.  At the middle
--                     budget with other batches than its own, too
--   4 passes          prefix sums over each record four times, each paid for out of the same budget
--   without privacy   zeroth_order told the same
-- "still" is the control of a run: the same steps and batches without noise.  What zeroth_order gains on the naive method is for
-- the larger part there without noise, so it is said of the methods at a budget, not of privacy.
-- The measure of stationarity is at radius 1/2, of 200 training records, before and after a run; it is not private.
--   penumbra examples/reproduce/zeroth_order/learning.lua [folder]
-- Source: Zhang, Tran, Cutkosky (2024); orthogonal directions and sums by the square-root factorization are not the article's.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local common = dofile(here .. "../common.lua")

local units, slope, radius = 4, 0.5, 0.5

-- ---- the network ----

-- A function (thetas, x) -> the scores of one record for the weights in each row of thetas: p weights and a threshold for every
-- unit, what each unit counts, and a constant.  One product: the record's features stand in the rows of A.
local function network(p, d)
  local rows, ones = 2 * units + 1, pn.vec.zeros(units) + 1
  local A, inputs, last = pn.mat.zeros(rows, d), {}, pn.vec.zeros(p)
  for j = 1, units do
    inputs[j] = A[j]:slice((j - 1) * (p + 1) + 1, j * (p + 1) - 1)
    A:set(j, j * (p + 1), 1)
    A:set(units + j, units * (p + 1) + j, 1)
  end
  A:set(rows, d, 1)
  return function(thetas, x)
    local m, change = thetas.rows, x - last
    for j = 1, units do inputs[j]:axpy(1, change) end
    last = x
    local all = (A * thetas:t()):vec()
    local z = all:slice(1, units * m)
    local active = (z + (z * z) ^ 0.5) * 0.5
    local counted = (active * all:slice(units * m + 1, 2 * units * m)):reshape(units, m)
    return counted:t() * ones + all:slice(2 * units * m + 1)
  end
end

-- The training objective, a part of it, and what is scored on the others: mean hinge loss and share of right answers.
local function problem(train, test)
  local p = train.p
  local d = units * (p + 2) + 1
  local scores = network(p, d)
  local function hinge(thetas, x, y)
    local short = 1 - scores(thetas, x) * y
    return (short + (short * short) ^ 0.5) * 0.5
  end
  local function wrong(thetas, x, y)
    return (scores(thetas, x) * y):map(function(s) return pn.where(pn.gt(s, 0), 0, 1) end)
  end
  local loss = pn.loss.black_box { values = hinge, dim = d, lipschitz = slope, name = "network" }
  local errors = pn.loss.black_box { values = wrong, dim = d, name = "errors" }
  local function of(data, l) return pn.objective { data = data, loss = l or loss } end
  local ones = 0
  for i = 1, test.n do ones = ones + (test.y[i] > 0 and 1 or 0) end
  return { d = d, n = train.n, train = of(train), part = of((train:split(200 / train.n, pn.rng.seeded(3)))), test = of(test),
    errors = of(test, errors), trivial = math.max(ones, test.n - ones) / test.n }
end

local function quadrants(n, seed)
  local rng = pn.rng.seeded(seed)
  local X, y = pn.mat.zeros(n, 4), pn.vec.zeros(n)
  for i = 1, n do
    for j = 1, 4 do X:set(i, j, 2 * rng:uniform() - 1) end
    y[i] = X:get(i, 1) * X:get(i, 2) > 0 and 1 or -1
  end
  return pn.data.from(X, y)
end

-- Ranges come from units, not from the values.
local function houses(folder)
  local data = pn.data.csv(folder .. "/cal_housing.csv.gz"):rescale({ -125, 32, 1, 0, 0, 0, 0, 0 },
    { -114, 42, 52, 10000, 2000, 5000, 2000, 12 })
  local y = data.y:copy()
  for i = 1, #y do y[i] = y[i] > 180000 and 1 or -1 end
  return data:with_labels(y):split(0.8, pn.rng.seeded(1))
end

-- ---- runs ----

local function start_of(f, seed) return pn.vec.normal(f.d, pn.rng.seeded(100 + seed)) end

-- The control: the same steps and batches, of the same draws, without noise.
local function without_noise(method, plan, options, seed)
  local same = { privacy = false, rng = pn.rng.seeded(seed), progress = false }
  for _, more in ipairs { method.options or {}, plan.settings } do
    for name, value in pairs(more) do same[name] = value end
  end
  for _, name in ipairs { "start", "distance", "output" } do same[name] = options[name] end
  return pn.solve[method.solver or "zeroth_order"](plan.objective, same).theta
end

local function run(f, method, budget, seeds)
  local risk, right, still, seconds, first, plan = 0, 0, 0, 0, nil, nil
  for seed = 1, seeds do
    local options = { start = start_of(f, seed) }
    if method.told then options.distance, options.output = math.sqrt(f.d), "last" end
    for _, more in ipairs { method.options or {}, budget } do
      for name, value in pairs(more) do options[name] = value end
    end
    local clock = os.clock()
    plan = pn.solve[method.solver or "zeroth_order"].plan(f.train, options)
    local fit = plan:run { rng = pn.rng.seeded(seed) }
    seconds, first = seconds + (os.clock() - clock) / seeds, first or fit.theta
    risk, right = risk + f.test:value(fit.theta) / seeds, right + (1 - f.errors:value(fit.theta)) / seeds
    still = still + (method.still and 1 - f.errors:value(without_noise(method, plan, options, seed)) or 0) / seeds
  end
  return { risk = risk, right = right, seconds = seconds, theta = first, plan = plan, still = method.still and still }
end

local function stationarity(f, theta)
  return pn.stationarity(f.part, theta, { radius = radius, samples = common.size(20, 100), rng = pn.rng.seeded(1) })
end

local told = { name = "zeroth_order", told = true, colour = 1, still = true }
local sums = { name = "prefix sums", told = true, options = { oracle = "variance_reduced" }, measure = true, colour = 2,
  still = true }
local naive = { name = "naive", told = true, solver = "zeroth_order_naive", colour = 3, still = true }
local plain = { name = "as it comes", colour = 0 }
local open = { name = "without privacy", told = true, measure = true }
local again = { name = "4 passes", told = true, options = { oracle = "variance_reduced", passes = 4 } }
local function batches(count)
  return { name = ("naive, batch %d"):format(count), told = true, solver = "zeroth_order_naive", options = { batch = count } }
end

local out = common.table("learning", { "data", "method", "epsilon", "risk", "right", "still", "rho",
  "epochs", "rounds", "batch", "noise",
  "stationarity", "seconds" }, { method = 16, stationarity = 12 })

local function row(f, method, epsilon, seeds)
  local budget = { privacy = false }
  if epsilon then budget = { epsilon = epsilon, delta = 1 / f.n ^ 2 } end
  local found = run(f, method, budget, seeds)
  local lines = found.plan.lines
  found.mean = method.measure and stationarity(f, found.theta).mean
  out:row(f.name, method.name, epsilon or "none", found.risk, found.right, found.still or "-",
    epsilon and found.plan.rho or "-", lines["epochs K"],
    lines["rounds T"], lines["batch B"] or lines["batch B2"], lines["noise of a round"] or 0, found.mean or "-", found.seconds)
  if epsilon then
    common.expect_silently(found.plan.epsilon <= epsilon * (1 + 1e-12), "%s: certified epsilon %g", method.name, found.plan.epsilon)
  end
  return found
end

-- ---- the comparison ----

local function compare(f, epsilons, methods, seeds)
  print(("%s: n = %d, d = %d; %.3f of the test records are right by the trivial rule; %d seeds"):format(f.name, f.n, f.d, f.trivial,
    seeds))
  local found, before = {}, stationarity(f, start_of(f, 1)).mean
  local risk, right = 0, 0
  for seed = 1, seeds do
    local theta = start_of(f, seed)
    risk, right = risk + f.test:value(theta) / seeds, right + (1 - f.errors:value(theta)) / seeds
  end
  out:row(f.name, "start", "-", risk, right, "-", "-", "-", "-", "-", "-", before, 0)
  for _, epsilon in ipairs(epsilons) do
    found[epsilon] = {}
    for _, method in ipairs(methods) do
      found[epsilon][method] = row(f, method, epsilon, seeds)
    end
  end
  found.before, found.open = before, row(f, open, nil, seeds)
  return found
end

local function panel(f, found, epsilons, methods)
  local function flat(label, value, colour)
    local line = { label = label, x = {}, y = {}, dashed = true, colour = colour }
    for i, epsilon in ipairs(epsilons) do line.x[i], line.y[i] = epsilon, value end
    return line
  end
  local series = {}
  for k, method in ipairs(methods) do
    local line = { label = method.name, x = {}, y = {}, colour = method.colour }
    for i, epsilon in ipairs(epsilons) do line.x[i], line.y[i] = epsilon, found[epsilon][method].right end
    series[k] = line
  end
  series[#series + 1] = flat("without privacy", found.open.right, 7)
  series[#series + 1] = flat("trivial", f.trivial, 6)
  return { title = ("%s, d = %d, n = %d"):format(f.name, f.d, f.n), xlabel = "epsilon", ylabel = "right on the test set",
    logx = true, series = series }
end

local methods = { plain, told, sums, naive }
local easy = problem(quadrants(common.size(2000, 16000), 1), quadrants(common.size(500, 3000), 2))
easy.name = "quadrants"
local epsilons = common.size({ 16 }, { 1, 4, 16 })
local middle = epsilons[math.max(1, #epsilons - 1)]
local seeds = common.size(1, 3)
local found = compare(easy, epsilons, methods, seeds)
local panels = { panel(easy, found, epsilons, methods) }
local best_naive = found[middle][naive]
for _, count in ipairs(common.size({ 100 }, { 80, 1250 })) do
  local other = row(easy, batches(count), middle, seeds)
  if other.right > best_naive.right then best_naive = other end
end

local best = row(easy, again, middle, seeds)

local folder, hard = os.getenv "PENUMBRA_DATA", nil
if folder and folder ~= "" and not common.quick then
  hard = problem(houses(folder))
  hard.name = "houses"
  hard.found = compare(hard, { 1, 4 }, { told, sums, naive }, 2)
  panels[2] = panel(hard, hard.found, { 1, 4 }, { told, sums, naive })
end
out:close()
common.figure { name = "learning", title = "A network of four rectified units from values of its loss, delta = 1/n^2",
  panels = panels, legend = 170 }

-- ---- what is promised ----

local function expect_better(a, b, by, what, ...)
  common.expect(a > b + by, "%s: %.3f right instead of %.3f", what:format(...), a, b)
end

local function expect_ahead(at, a, b, by, what, ...)
  expect_better(at[a].right, at[b].right, by, what, ...)
  print(("  without noise: %.3f instead of %.3f"):format(at[a].still, at[b].still))
end

local top = epsilons[#epsilons]
common.expect(found.open.mean < found.before / 2, "without privacy the measure of stationarity falls from %.3f to %.3f",
  found.before, found.open.mean)
if common.quick then
  local right = math.max(found[top][told].right, found[top][sums].right)
  expect_better(right, easy.trivial, 0.1, "epsilon = %g, beside the trivial rule", top)
  return
end
for _, epsilon in ipairs(epsilons) do
  local at = found[epsilon]
  expect_better(at[sums].right, easy.trivial, 0.15, "epsilon = %g, prefix sums beside the trivial rule", epsilon)
  expect_ahead(at, told, naive, 0.05, "epsilon = %g, zeroth_order beside the naive method", epsilon)
  common.expect(at[sums].mean < 0.75 * found.before,
    "epsilon = %g: prefix sums lower the measure of stationarity from %.3f to %.3f", epsilon, found.before, at[sums].mean)
end
expect_ahead(found[1], sums, naive, 0.1, "epsilon = 1, prefix sums beside the naive method")
expect_better(found[middle][sums].right, best_naive.right, 0.05, "epsilon = %g, prefix sums beside the naive method's best batch",
  middle)
expect_better(best.right, found[middle][sums].right, 0.02, "epsilon = %g, four passes beside one", middle)
expect_better(found.open.right, best.right, -0.03, "without privacy, beside four passes at epsilon = %g", middle)
if hard then
  for _, epsilon in ipairs { 1, 4 } do
    local at = hard.found[epsilon]
    expect_better(at[sums].right, hard.trivial, 0.15, "houses, epsilon = %g, prefix sums beside the trivial rule", epsilon)
    expect_ahead(at, sums, naive, 0.1, "houses, epsilon = %g, prefix sums beside the naive method", epsilon)
  end
end
