-- advise/sets.lua -- what pn.advise plans: the sets, the solvers, and a row for each solver over each set, ranked set by set.
-- Depends on: penumbra.core, penumbra.passing.  Used by: penumbra.advise, penumbra.advise.probe.
--
-- A risk is that over the best point of its set, so figures of different sets are about different best models: solvers over one set
-- compare, sets do not.  What a set can do at most is its reach (obj.bounds.reach).
local pn = require "penumbra.core"
local passing = require "penumbra.passing"

local NOTHING = 1 / 2 -- of the reach: a risk so large leaves nothing that is sure to be learned
local SMALL = 0.05 -- of the loss at the start: a reach below it moves no predictions

local sets = {}

-- Balls of each radius.  No set that allows one sign only: few models are known to have weights >= 0.
function sets.usual(p, radii)
  local out = {}
  local k = math.floor(math.sqrt(p))
  for _, radius in ipairs(radii) do
    out[#out + 1] = pn.set.l2_ball { dim = p, radius = radius }
    out[#out + 1] = pn.set.l1_ball { dim = p, radius = radius }
    if k > 1 then
      out[#out + 1] = pn.set.group_ball { dim = p, k = k, radius = radius }
      out[#out + 1] = pn.set.interpolation_ball { dim = p, alpha = 0.5, radius = radius }
    end
  end
  return out
end

function sets.solvers()
  local names = {}
  for name, entry in pairs(pn.reference()) do
    local solver = entry.reveals == "paid" and name:match "^solve%.([%w_]+)$"
    if solver and pn.reference()["solve." .. solver .. ".plan"] then
      names[#names + 1] = solver
    end
  end
  table.sort(names)
  return names
end

-- What is asked unless told otherwise: not what picks one of the others, nor what is never private, nor what needs parties that
-- hold the columns.
function sets.usual_solvers()
  local names = {}
  for _, name in ipairs(sets.solvers()) do
    if name ~= "auto" and name ~= "block_frank_wolfe" and name ~= "federated_frank_wolfe" then names[#names + 1] = name end
  end
  return names
end

-- ---- rows ----

-- The sentence of an error, without position and owner.
function sets.reason(message)
  return (tostring(message):gsub("^[^:]*:%d+: ", ""):gsub("^solve%.[%w_]+: ", ""))
end

-- As pcall, but Ctrl-C and want of memory are no reasons: they end the advice.
function sets.attempt(f, ...)
  local ok, result = pcall(f, ...)
  if not ok and passing(result) then error(result, 0) end
  return ok, result
end

-- What a row is ranked by.
function sets.figure(row)
  return row.predicted or row.bound
end

local function consider(objective, solver, budget)
  local row = { set = objective.set, solver = solver, source = pn.reference()["solve." .. solver].source }
  local ok, plan = sets.attempt(pn.solve[solver].plan, objective, budget)
  if not ok then
    row.reason = sets.reason(plan)
    return row
  end
  row.plan, row.bound, row.predicted, row.iterations = plan, plan.bound, plan.predicted, plan.iterations
  for _, line in ipairs(plan.lines) do
    if line.name == "excess risk bound" then
      row.theorem = plan.bound and line.formula
      row.reason = not plan.bound and line.formula or nil
    elseif line.name:find "^predicted" then
      row.prediction = line.formula
    end
  end
  row.reason = not sets.figure(row) and (row.reason or "no bound on the excess risk") or nil
  return row
end

-- Figures first, smallest first; then by name, so that the order is always the same.
local function before(a, b)
  local x, y = sets.figure(a), sets.figure(b)
  if (x ~= nil) ~= (y ~= nil) then return x ~= nil end
  if x and x ~= y then return x < y end
  return a.solver < b.solver
end

-- The largest loss at margin 0; nil where the loss does not say.
local function loss_at_start(loss, labels)
  local ok, range = sets.attempt(loss.range, loss, { 0, 0 }, labels)
  local most = ok and range.value[2] or math.huge
  return most < math.huge and most or nil
end

-- Why no solver over the set is to be recommended; nil where one is.
local function withheld(group)
  local best = group.rows[1]
  local figure, reach, start = sets.figure(best), group.reach, group.start
  if not figure then return "no plan over it has a figure" end
  if reach and start and reach < SMALL * start then
    return ("too small a set to move predictions: the loss at the start is up to %.3g"):format(start)
  end
  if reach and figure >= NOTHING * reach then
    return best.predicted and "nothing can be learned over it at this budget"
      or "no bound is below half of its reach, so nothing is sure to be learned over it at this budget"
  end
end

-- {set=, rows=, reach=, start=, width=, star=, why=}: solvers over one set, best first.  Its width and the plans report as well,
-- when they last.
function sets.group(set, solvers, with, told)
  local fits, objective = sets.attempt(pn.objective, { data = with.data, loss = with.loss, set = set })
  if not fits then
    error("advise: " .. sets.reason(objective):gsub("^objective: ", ""), 0)
  end
  local ok, width = sets.attempt(pn.width, set, { tol = 0.02, progress = with.budget.progress })
  local group = { set = set, objective = objective, rows = {}, reach = objective.bounds.reach,
    start = loss_at_start(with.loss, with.data.bounds.labels), width = ok and width.value or nil }
  for _, solver in ipairs(solvers) do
    told()
    local row = consider(objective, solver, with.budget)
    row.width, row.reach = group.width, group.reach
    group.rows[#group.rows + 1] = row
  end
  table.sort(group.rows, before)
  group.why = withheld(group)
  if not group.why then
    group.star = group.rows[1]
    group.star.best_of_set = true
  end
  return group
end

return sets
