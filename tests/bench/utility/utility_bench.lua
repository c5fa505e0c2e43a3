-- utility_bench.lua -- excess risk of the solvers at their defaults over data sets, budgets and both neighbouring relations, beside
-- peers (utility_peer.py) with the same rows, relation and accounting.
--   penumbra tests/bench/utility/utility_bench.lua [loss=logistic] [data=a9a,...|all] [solvers=sgd,...|all] [epsilon=0.1,...]
--     [relations=...] [runs=N] [peers=no] [verbose=yes]
-- A cell is mean excess over the minimum without privacy, +- standard error of the mean over the runs, and seconds of a run.
-- "^": above the cell of the next smaller epsilon by two standard errors; "!": above the start by as much; bold: a peer below all
-- solvers by as much.  Noise is seeded so that the tables repeat; its law is that of secure noise.  Needs PENUMBRA_DATA; peers need
-- numpy and scipy ($PYTHON).
package.path = "tests/bench/utility/?.lua;" .. package.path
local pn = require "penumbra"
local data = require "utility_data"
local peers = require "utility_peers"

if not data.folder then
  print "skipped: PENUMBRA_DATA is not set"
  return
end

-- ---- what is asked ----

-- "all" of data and solvers stands for these.
local every = {
  data = "a9a,ijcnn1,reuters,news20,covertype,cal_housing,abalone,cpusmall",
  solvers = "auto,newton,objective_perturbation,sgd,gradient_descent,svrg,svrg_pp,accelerated_mirror_descent,mirror_descent,"
      .. "output_perturbation,frank_wolfe,heavy_ball,nesterov,adam,coordinate_descent,noisy_sgd,adaptive_clipping,ftrl,"
      .. "matrix_factorization_sgd",
}
local usual = {
  data = "abalone,cal_housing",
  solvers = "auto,newton,objective_perturbation,sgd,gradient_descent",
  epsilon = "0.1,1,10",
  relations = "replace_one,zero_out",
  runs = "5",
  peers = "yes",
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
  local text = asked[key] == "all" and every[key] or asked[key] or usual[key]
  for word in text:gmatch "[^,]+" do found[#found + 1] = tonumber(word) or word end
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
local kind = asked.loss or usual.loss
local loss = losses[kind] or error("utility_bench: unknown loss " .. kind, 0)

-- Solvers that need a bounded set get one that holds the minimiser or nearly so; frank_wolfe the handbook's ball.
local function set_for(solver, dim, n, epsilon)
  if solver == "frank_wolfe" then return pn.set.l1_ball { dim = dim, radius = 2 * (n * epsilon) ^ (1 / 3) } end
  if solver:match "mirror" then return pn.set.l2_ball { dim = dim, radius = loss.ball or 10 } end
  return loss.ball and pn.set.l2_ball { dim = dim, radius = loss.ball } or nil
end

local function objective(rows, classes, solver, epsilon)
  local dim = rows.p * (classes or 1)
  return pn.objective { data = rows, loss = loss.make(classes), clip = loss.clip, set = set_for(solver, dim, rows.n, epsilon) }
end

-- The least value over the ball that the loss needs, else over one that is so wide that nothing is lost; and the start's.  Where
-- the minimum is not certified within the iterations, the least value that a run without privacy finds.
local function least(rows, classes)
  local dim = rows.p * (classes or 1)
  local set = pn.set.l2_ball { dim = dim, radius = loss.ball or 300 }
  local obj = pn.objective { data = rows, loss = loss.make(classes), set = set }
  local start = obj:value(pn.vec.zeros(dim))
  for _, tol in ipairs { 1e-6, 1e-4 } do
    local ok, fit = pcall(pn.solve.exact, obj, { tol = tol, max_iterations = 3000 })
    if ok then return fit.value, ("gap %.0e"):format(fit.gap), start end
  end
  local found = pn.solve.sgd(obj, { privacy = false, epochs = 200, rng = pn.rng.seeded(1) })
  return obj:value(found.theta), "found, not certified", start
end

-- ---- runs ----

-- {mean=, error=, seconds=} of excess, or {reason=}.
local function cell(problem, solver, relation, epsilon)
  local rows = problem.rows
  local ok, plan = pcall(function()
    local obj = objective(rows, problem.classes, solver, epsilon)
    return pn.solve[solver].plan(obj, { epsilon = epsilon, delta = 1 / rows.n ^ 2, neighbours = relation })
  end)
  if not ok then return { reason = tostring(plan) } end
  local excesses, seconds = {}, math.huge
  for run = 1, list "runs"[1] do
    local fit = plan:run { rng = pn.rng.seeded(run) }
    excesses[run], seconds = problem.plain:value(fit.theta) - problem.best, math.min(seconds, fit.seconds)
  end
  if asked.verbose then print(plan) end
  return peers.cell(excesses, seconds)
end

-- ---- tables ----

local function distance(a, b) return 2 * math.sqrt(a.error ^ 2 + b.error ^ 2) end

local function marks(at, before, start)
  local text = ""
  if before and before.mean and at.mean - before.mean > distance(at, before) then text = "^" end
  if at.mean - start > 2 * at.error then text = text .. "!" end
  return text
end

-- Is `at` below every cell of its column in `rows_of`, by two standard errors?
local function leads(at, k, ours)
  for _, row in pairs(ours) do
    local other = row[k]
    if other.mean and other.mean - at.mean <= distance(at, other) then return false end
  end
  return true
end

local function line(name, row, start, ours)
  local out, before = { ("%-27s"):format(name) }, nil
  for k, at in ipairs(row) do
    local format = ours and at.mean and leads(at, k, ours) and "**%.5f ±%.5f**%s (%.2f)" or "%.5f ±%.5f%s (%.2f)"
    out[k + 1] = at.mean and format:format(at.mean, at.error, marks(at, before, start), at.seconds) or "-"
    before = at
  end
  print("| " .. table.concat(out, " | ") .. " |")
end

local function solver_rows(problem, relation)
  local ours = {}
  for _, solver in ipairs(list "solvers") do
    local row = {}
    for k, epsilon in ipairs(list "epsilon") do row[k] = cell(problem, solver, relation, epsilon) end
    line(solver, row, problem.start)
    for _, at in ipairs(row) do
      if at.reason then
        print("  " .. solver .. ": " .. at.reason)
        break
      end
    end
    ours[solver] = row
  end
  return ours
end

local function peer_rows(problem, relation, ours)
  local columns, names = {}, {}
  for k, epsilon in ipairs(list "epsilon") do
    columns[k] = peers.run { rows = problem.rows, text = data.text(problem.name), loss = kind, relation = relation,
      epsilon = epsilon, delta = 1 / problem.rows.n ^ 2, runs = list "runs"[1], minus = problem.best }
  end
  for name in pairs(columns[1]) do names[#names + 1] = name end
  table.sort(names)
  for _, name in ipairs(names) do
    local row = {}
    for k, column in ipairs(columns) do row[k] = column[name] end
    line("peer: " .. name, row, problem.start, ours)
  end
end

local with_peers = (asked.peers or usual.peers) == "yes" and loss.kind ~= "class"
for _, name in ipairs(list "data") do
  local rows, classes = data.load(name, loss.kind)
  local best, gap, start = least(rows, classes)
  local wide = pn.set.l2_ball { dim = rows.p * (classes or 1), radius = 1e6 }
  local problem = {
    name = name, rows = rows, classes = classes, best = best, start = start - best,
    plain = pn.objective { data = rows, loss = loss.make(classes), set = wide },
  }
  print(("\n%s, %s: n = %d, p = %d; minimum %.5f (%s), excess of the start %.4f"):format(name, kind,
    rows.n, rows.p, best, gap, start - best))
  for _, relation in ipairs(list "relations") do
    print("| " .. relation .. " | " .. table.concat(list "epsilon", " | ") .. " |")
    print("|---|" .. ("---|"):rep(#list "epsilon"))
    local ours = solver_rows(problem, relation)
    if with_peers then peer_rows(problem, relation, ours) end
  end
end
