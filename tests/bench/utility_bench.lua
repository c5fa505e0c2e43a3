-- utility_bench.lua -- excess risk of the solvers at their defaults over data sets, budgets and both neighbouring relations, beside peers
-- (utility_peer.py) with the same rows, relation and accounting.
--   penumbra tests/bench/utility_bench.lua [loss=logistic] [data=a9a,...] [solvers=sgd,...] [epsilon=0.1,...] [relations=...] [runs=N]
-- A cell is mean excess over the minimum without privacy, +- standard error of the mean over the runs, and seconds of a run.  A cell that
-- ends with "^" is above the cell of the next smaller epsilon by two standard errors; "!" is above the start by two standard errors.
-- Noise is seeded so that the tables repeat; its law is that of secure noise.  Needs PENUMBRA_DATA.
package.path = "tests/bench/?.lua;" .. package.path
local pn = require "penumbra"
local data = require "utility_data"

if not data.folder then
  print "skipped: PENUMBRA_DATA is not set"
  return
end

-- ---- what is asked ----

local usual = {
  data = "a9a,ijcnn1,reuters,news20,covertype,cal_housing,abalone,cpusmall",
  solvers = "sgd,gradient_descent,newton,svrg,svrg_pp,objective_perturbation,output_perturbation,accelerated_mirror_descent,"
      .. "mirror_descent,frank_wolfe",
  epsilon = "0.1,1,4,10,30",
  relations = "replace_one,zero_out",
  runs = "5",
  loss = "logistic",
  verbose = "",
}
local asked = {}
for _, word in ipairs(arg or {}) do
  local key, value = word:match "^(%a+)=(.*)$"
  if not usual[key] then error("utility_bench: unknown argument " .. word, 0) end
  asked[key] = value
end

local function list(key)
  local found = {}
  for word in (asked[key] or usual[key]):gmatch "[^,]+" do found[#found + 1] = tonumber(word) or word end
  return found
end

-- ---- problems ----

-- kind: of labels; make: the loss, of the number of classes; clip, ball: what a loss without bounded slopes needs.
local losses = {
  logistic = { kind = "binary", make = function() return pn.loss.logistic() end },
  hinge = { kind = "binary", make = function() return pn.loss.hinge() end },
  huber = { kind = "real", make = function() return pn.loss.huber { delta = 0.5 } end },
  squared = { kind = "real", make = function() return pn.loss.squared() end, clip = 1 },
  squared_ball = { kind = "real", make = function() return pn.loss.squared() end, ball = 2 },
  poisson = { kind = "count", make = function() return pn.loss.poisson() end, ball = 3 },
  softmax = { kind = "class", make = function(classes) return pn.loss.softmax { classes = classes } end },
}
local loss = losses[asked.loss or usual.loss] or error("utility_bench: unknown loss " .. tostring(asked.loss), 0)

-- Solvers that need a bounded set get one that holds the minimiser or nearly so; frank_wolfe the README's ball.
local function set_for(solver, dim, n, epsilon)
  if solver == "frank_wolfe" then return pn.set.l1_ball { dim = dim, radius = 2 * (n * epsilon) ^ (1 / 3) } end
  if solver:match "mirror" then return pn.set.l2_ball { dim = dim, radius = loss.ball or 10 } end
  return loss.ball and pn.set.l2_ball { dim = dim, radius = loss.ball } or nil
end

local function objective(rows, classes, solver, epsilon)
  local dim = rows.p * (classes or 1)
  return pn.objective { data = rows, loss = loss.make(classes), clip = loss.clip, set = set_for(solver, dim, rows.n, epsilon) }
end

-- The least value: of the set that the loss needs, else of a ball so wide that the minimum over it is that over all but for 1e-4.
local function least(rows, classes)
  local dim = rows.p * (classes or 1)
  local set = pn.set.l2_ball { dim = dim, radius = loss.ball or 300 }
  local obj = pn.objective { data = rows, loss = loss.make(classes), set = set }
  local ok, fit = pcall(pn.solve.exact, obj, { tol = 1e-4, max_iterations = 3000 })
  return ok and fit.value or error(fit, 0), fit.gap, obj:value(pn.vec.zeros(dim))
end

-- ---- runs ----

local function mean_and_error(values)
  local sum, squares = 0, 0
  for _, v in ipairs(values) do sum = sum + v end
  local mean = sum / #values
  for _, v in ipairs(values) do squares = squares + (v - mean) ^ 2 end
  return mean, math.sqrt(squares / math.max(#values - 1, 1) / #values)
end

-- {mean=, error=, seconds=} of excess, or {reason=}.
local function cell(rows, classes, plain, solver, relation, epsilon, best)
  local ok, plan = pcall(function()
    local obj = objective(rows, classes, solver, epsilon)
    return pn.solve[solver].plan(obj, { epsilon = epsilon, delta = 1 / rows.n ^ 2, neighbours = relation })
  end)
  if not ok then return { reason = tostring(plan) } end
  local excesses, seconds = {}, math.huge
  for run = 1, list "runs"[1] do
    local fit = plan:run { rng = pn.rng.seeded(run) }
    excesses[run], seconds = plain:value(fit.theta) - best, math.min(seconds, fit.seconds)
  end
  local mean, err = mean_and_error(excesses)
  if asked.verbose then print(plan) end
  return { mean = mean, error = err, seconds = seconds }
end

local function marks(at, before, start)
  local text = ""
  if before and before.mean and at.mean - before.mean > 2 * math.sqrt(at.error ^ 2 + before.error ^ 2) then text = "^" end
  if at.mean - start > 2 * at.error then text = text .. "!" end
  return text
end

local function line(solver, row, start)
  local out, before = { ("%-27s"):format(solver) }, nil
  for k, at in ipairs(row) do
    out[k + 1] = at.mean and ("%.4f ±%.4f%s (%.2f)"):format(at.mean, at.error, marks(at, before, start), at.seconds) or "-"
    before = at
  end
  print("| " .. table.concat(out, " | ") .. " |")
  for _, at in ipairs(row) do
    if at.reason then
      print("  " .. solver .. ": " .. at.reason)
      break
    end
  end
end

for _, name in ipairs(list "data") do
  local rows, classes = data.load(name, loss.kind)
  local best, gap, start = least(rows, classes)
  local plain = pn.objective { data = rows, loss = loss.make(classes), set = pn.set.l2_ball { dim = rows.p * (classes or 1), radius = 1e6 } }
  print(("\n%s, %s: n = %d, p = %d; minimum %.5f (gap %.1e), excess of the start %.4f"):format(name, asked.loss or usual.loss,
    rows.n, rows.p, best, gap, start - best))
  for _, relation in ipairs(list "relations") do
    print("| " .. relation .. " | " .. table.concat(list "epsilon", " | ") .. " |")
    for _, solver in ipairs(list "solvers") do
      local row = {}
      for k, epsilon in ipairs(list "epsilon") do row[k] = cell(rows, classes, plain, solver, relation, epsilon, best) end
      line(solver, row, start - best)
    end
  end
end
