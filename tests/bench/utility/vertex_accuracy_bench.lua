-- vertex_accuracy_bench.lua -- held-out accuracy of private Frank-Wolfe over an l1 ball on sparse records, by kept gradients and by
-- gradients computed anew, beside the same solver without privacy and the largest class.
-- Usage: PENUMBRA_DATA=... build/penumbra tests/bench/utility/vertex_accuracy_bench.lua [RADIUS]
-- Rows have unit l2 norm, four of five records train, delta = 1/n^2; means of RUNS seeded runs, which are a simulation.
-- Depends on: penumbra, utility_data.lua.  Run with `make bench`, which gives no data: then it does nothing.
local pn = require "penumbra"
local source = dofile "tests/bench/utility/utility_data.lua"

local RADIUS, RUNS, FLOOR_STEPS = tonumber(arg and arg[1]) or 10, 3, 2000

local function share_right(fit, held)
  local margins, right = held.X * fit.theta, 0
  for i = 1, held.n do
    if (margins[i] >= 0) == (held.y[i] > 0) then right = right + 1 end
  end
  return right / held.n
end

local function mean_accuracy(obj, held, options)
  local total = 0
  for run = 1, RUNS do
    options.rng = pn.rng.seeded(run)
    total = total + share_right(pn.solve.frank_wolfe(obj, options), held)
  end
  return total / RUNS
end

local function row(name)
  local all = source.load(name, "binary"):add_bias() -- classes are rare: an intercept, as one more feature
  local train, held = all:split(0.8, pn.rng.seeded(1))
  local obj = pn.objective { data = train, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = all.p, radius = RADIUS } }
  local positive = 0
  for i = 1, held.n do positive = positive + (held.y[i] > 0 and 1 or 0) end
  local cells = { ("%.3f"):format(math.max(positive, held.n - positive) / held.n) }
  for _, epsilon in ipairs { 1, 10 } do
    for _, gradient in ipairs { "exact", "linearised" } do
      local options = { epsilon = epsilon, delta = 1 / train.n ^ 2, gradient = gradient, progress = false }
      cells[#cells + 1] = ("%.3f"):format(mean_accuracy(obj, held, options))
    end
  end
  local floor = pn.solve.frank_wolfe(obj, { privacy = false, iterations = FLOOR_STEPS, progress = false })
  cells[#cells + 1] = ("%.3f"):format(share_right(floor, held))
  print(("| %s, %d x %d | %s |"):format(name, train.n, train.p, table.concat(cells, " | ")))
end

if source.folder then
  print "| data | largest class | eps 1 | eps 1, linearised | eps 10 | eps 10, linearised | without privacy |"
  print "|---|---:|---:|---:|---:|---:|---:|"
  for _, name in ipairs { "dorothea", "news20", "reuters" } do row(name) end
end
