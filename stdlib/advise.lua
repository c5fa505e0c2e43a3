-- advise.lua -- pn.advise(data, loss, budget): which set and which solver promise the smallest excess risk.  Only
-- plans are made, from
-- public sizes and certified bounds: nothing is spent, no record is looked at.
-- Depends on: penumbra.core.  Used by: penumbra (pn.advise).
local pn = require "penumbra.core"

local advise = {}

-- The budget, and what says where to look.
local own_options = { sets = true, radius = true, solvers = true }

-- ---- candidates ----

local function default_sets(p, radius)
  local sets = {
    pn.set.l2_ball { dim = p, radius = radius },
    pn.set.l1_ball { dim = p, radius = radius },
    pn.set.simplex { dim = p, radius = radius },
  }
  local k = math.floor(math.sqrt(p))
  if k > 1 then
    sets[#sets + 1] = pn.set.group_ball { dim = p, k = k, radius = radius }
    sets[#sets + 1] = pn.set.interpolation_ball { dim = p, alpha = 0.5, radius = radius }
  end
  return sets
end

local function all_solvers()
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

-- ---- rows ----

-- The sentence of an error, without position and owner.
local function reason(message)
  return (tostring(message):gsub("^[^:]*:%d+: ", ""):gsub("^solve%.[%w_]+: ", ""))
end

local function consider(objective, set, width, solver, budget)
  local row = { set = set, width = width, solver = solver, source = pn.reference()["solve." .. solver].source }
  local ok, plan = pcall(pn.solve[solver].plan, objective, budget)
  if not ok then
    row.reason = reason(plan)
    return row
  end
  row.plan, row.bound, row.iterations = plan, plan.bound, plan.iterations
  for _, line in ipairs(plan.lines) do
    if line.name == "excess risk bound" then
      row.theorem = line.formula
      row.reason = not plan.bound and line.formula or nil
    end
  end
  row.reason = row.reason or not row.bound and "no bound on the excess risk" or nil
  return row
end

-- ---- the answer ----

local ranking = {}
ranking.__index = ranking

local function number(x)
  return x and ("%.4g"):format(x) or "-"
end

function ranking:__tostring()
  local lines = { ("advice for %s: predicted excess risk over each set"):format(self.problem) }
  lines[#lines + 1] = ("  %-34s %9s  %-22s %8s %11s"):format("set", "width", "solver", "steps", "risk <=")
  for k, row in ipairs(self) do
    if row.bound then
      lines[#lines + 1] = ("%s %-34s %9s  %-22s %8d %11s"):format(k == 1 and "*" or " ", tostring(row.set):sub(1, 34),
        number(row.width), row.solver, row.iterations, number(row.bound))
    end
  end
  for _, row in ipairs(self) do
    if not row.bound then
      lines[#lines + 1] = ("  %s, %s: %s"):format(tostring(row.set):sub(1, 34), row.solver, row.reason)
    end
  end
  local best = self[1]
  if best and best.bound then
    lines[#lines + 1] = ("  * recommended: solve.%s over %s"):format(best.solver, best.set)
    lines[#lines + 1] = ("    risk <= %s: %s"):format(number(best.bound), best.theorem)
    lines[#lines + 1] = ("    %s"):format(best.source)
  else
    lines[#lines + 1] = "  nothing can be recommended: no plan has a bound"
  end
  lines[#lines + 1] = "  The risk is that over the best point of the same set; a smaller set is safer and may fit worse."
  return table.concat(lines, "\n")
end

-- Bounds first, smallest first; then by name, so that the order is always the same.
local function before(a, b)
  if (a.bound ~= nil) ~= (b.bound ~= nil) then return a.bound ~= nil end
  if a.bound and a.bound ~= b.bound then return a.bound < b.bound end
  return a.solver < b.solver
end

local function read_options(options)
  if type(options) ~= "table" then
    error("advise: give a budget, as {epsilon=, delta=} or {rho=}", 0)
  end
  local budget = {}
  for name, value in pairs(options) do
    if not own_options[name] then budget[name] = value end -- the solvers know their own options
  end
  return budget
end

local function expect_list(value, name)
  if type(value) ~= "table" or #value == 0 then
    error(("advise: %s must be a list with at least one entry, got %s"):format(name, type(value)), 0)
  end
  return value
end

-- pn.advise(data, loss, {epsilon=, delta=, rho=, radius=, sets=, solvers=})
function advise.run(data, loss, options)
  local budget = read_options(options)
  local classes = type(loss) == "userdata" and loss.margins or 1
  local dim = data.p * (classes and classes > 0 and classes or 1)
  local radius = options.radius == nil and 1 or options.radius
  if type(radius) ~= "number" or not (radius > 0 and radius < math.huge) then
    error(("advise: radius must be a positive number, got %s"):format(tostring(radius)), 0)
  end
  local sets = options.sets and expect_list(options.sets, "sets") or default_sets(dim, radius)
  local solvers = options.solvers and expect_list(options.solvers, "solvers") or all_solvers()
  local rows = setmetatable({ problem = ("%s loss on %d x %d records"):format(loss.name, data.n, data.p) }, ranking)
  for _, set in ipairs(sets) do
    local objective = pn.objective { data = data, loss = loss, set = set }
    local ok, width = pcall(pn.width, set)
    for _, solver in ipairs(solvers) do
      if type(solver) ~= "string" or not pn.reference()["solve." .. solver .. ".plan"] then
        error(("advise: there is no solver %s; known are %s"):format(tostring(solver), table.concat(all_solvers(), ", ")), 0)
      end
      rows[#rows + 1] = consider(objective, set, ok and width.value or nil, solver, budget)
    end
  end
  local missing = true
  for _, row in ipairs(rows) do missing = missing and not row.plan end
  if missing then -- the budget itself is wrong, or the data has no bounds: the first reason says it
    error(("advise: no plan can be made: %s"):format(rows[1].reason), 0)
  end
  table.sort(rows, before)
  rows.best = rows[1].bound and rows[1] or nil
  return rows
end

return advise
