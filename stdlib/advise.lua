-- advise.lua -- pn.advise(data, loss, budget): which set and which solver promise the smallest excess risk.  Only
-- plans are made, from public sizes and certified bounds: nothing is spent, no record is looked at.
-- Depends on: penumbra.core, penumbra.brief, penumbra.frame (bindings/core/lprogress.c), penumbra.stopped, penumbra.wrap.
-- Used by: penumbra (pn.advise).
local brief = require "penumbra.brief"
local frame = require "penumbra.frame"
local pn = require "penumbra.core"
local stopped = require "penumbra.stopped"
local wrap = require "penumbra.wrap"

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

-- What is asked unless told otherwise: not what picks one of the others, nor what is never private, nor what needs parties that
-- hold the columns.
local function usual_solvers()
  local names = {}
  for _, name in ipairs(all_solvers()) do
    if name ~= "auto" and name ~= "block_frank_wolfe" and name ~= "federated_frank_wolfe" then names[#names + 1] = name end
  end
  return names
end

-- ---- rows ----

-- The sentence of an error, without position and owner.
local function reason(message)
  return (tostring(message):gsub("^[^:]*:%d+: ", ""):gsub("^solve%.[%w_]+: ", ""))
end

-- As pcall, but Ctrl-C is no reason: it ends the advice.
local function attempt(f, ...)
  local ok, result = pcall(f, ...)
  if not ok and stopped(result) then error(result, 0) end
  return ok, result
end

local function consider(objective, set, width, solver, budget)
  local row = { set = set, width = width, solver = solver, source = pn.reference()["solve." .. solver].source }
  local ok, plan = attempt(pn.solve[solver].plan, objective, budget)
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

-- At most `width` columns of a set's text.
local function short(set, width)
  local text = brief(set)
  return #text <= width and text or text:sub(1, width - 3) .. "..."
end

local function table_lines(rows, lines)
  local width, names = 3, 6
  for _, row in ipairs(rows) do names = math.max(names, row.bound and #row.solver or 0) end
  local most = 80 - 30 - names -- what the other columns leave
  for _, row in ipairs(rows) do width = math.max(width, #short(row.set, most)) end
  local format = "%s %-" .. width .. "s %7s  %-" .. names .. "s %6s %9s"
  lines[#lines + 1] = format:format(" ", "set", "width", "solver", "steps", "risk <=")
  for k, row in ipairs(rows) do
    if row.bound then
      lines[#lines + 1] = format:format(k == 1 and "*" or " ", short(row.set, most), number(row.width), row.solver,
        row.iterations, number(row.bound))
    end
  end
end

local function filled(text)
  return (wrap("  ", text, 4):gsub("\n$", ""))
end

-- Entries of a list by key, and the keys in order.
local function group(order, groups, key, entry)
  if not groups[key] then
    order[#order + 1], groups[key] = key, {}
  end
  table.insert(groups[key], entry)
end

-- Where each solver's figures come from, and why others have none: each thing once.
local function reasons(rows, lines)
  local order, sets, sources = {}, {}, {}
  for _, row in ipairs(rows) do
    if row.bound and not sources[row.solver] then
      sources[row.solver] = true
      lines[#lines + 1] = filled(("%s: %s; %s"):format(row.solver, row.theorem, row.source))
    elseif not row.bound then
      group(order, sets, row.solver .. ": " .. row.reason:gsub(", not [%w_]+;", ";"), row.set.name)
    end
  end
  local causes, solvers = {}, {}
  for _, key in ipairs(order) do
    local solver, why = key:match "^(.-): (.*)$"
    group(causes, solvers, ("over %s: %s"):format(table.concat(sets[key], ", "), why), solver)
  end
  for _, cause in ipairs(causes) do
    lines[#lines + 1] = filled(("no figure for %s %s"):format(table.concat(solvers[cause], ", "), cause))
  end
end

-- A simplex is the smallest set of its radius and so comes first, but few models have weights >= 0 of a known sum.
local function any_sign(rows)
  for _, row in ipairs(rows.best and rows.best.set.name:find "simplex" and rows or {}) do
    if row.bound and row.set.symmetric then
      return filled(("    unless weights are known to be >= 0 with this sum: solve.%s over %s, risk <= %s"):format(
        row.solver, brief(row.set), number(row.bound)))
    end
  end
end

-- Solvers that no bound ranks, where a plan of theirs can be made: what else speaks for them.
local unranked = {
  { "sufficient_statistics", "for the squared loss one release of all second moments was ahead of gradients without clip= "
    .. "over nearly every ball that was tried; it needs no set: solve.sufficient_statistics(pn.objective{data=, loss=}, budget)" },
  { "newton", "newton has no bound to be ranked by, yet few steps suffice it and it was ahead on ill-conditioned records "
    .. "of moderate dimension; it needs no set: solve.newton(pn.objective{data=, loss=}, budget)" },
  { "second_order", "the loss is not convex: second_order certifies a second-order stationary point in place of a risk; "
    .. "it needs no set: solve.second_order(pn.objective{data=, loss=}, budget)" },
}

-- The first of them that fits: a warning says that noise leaves nothing of its second derivatives.
local function beyond_ranking(rows)
  for _, candidate in ipairs(unranked) do
    for _, row in ipairs(rows) do
      local plan = row.solver == candidate[1] and row.plan
      if plan and not tostring(plan):find("\n  warning ", 1, true) and rows.convex == (row.solver ~= "second_order") then
        return filled(candidate[2])
      end
    end
  end
end

function ranking:__tostring()
  local lines = { ("advice for %s: predicted excess risk"):format(self.problem) }
  table_lines(self, lines)
  local best = self[1]
  lines[#lines + 1] = best and best.bound
    and filled(("* recommended: solve.%s over %s"):format(best.solver, brief(best.set)))
    or "  nothing can be recommended: no plan has a bound"
  lines[#lines + 1] = any_sign(self)
  lines[#lines + 1] = beyond_ranking(self)
  lines[#lines + 1] =
    filled "The risk is that over the best point of the same set; a smaller set is safer and may fit worse."
  reasons(self, lines)
  return table.concat(lines, "\n")
end

-- Bounds first, smallest first; then by name and in the order of the sets, so that the order is always the same.
local function before(a, b)
  if (a.bound ~= nil) ~= (b.bound ~= nil) then return a.bound ~= nil end
  if a.bound and a.bound ~= b.bound then return a.bound < b.bound end
  if a.solver ~= b.solver then return a.solver < b.solver end
  return a.place < b.place
end

-- What some plan takes; the options of a run are nobody's here, but for these two.
local function plan_options()
  local known = { ledger = true, progress = true }
  for _, solver in ipairs(all_solvers()) do
    for _, param in ipairs(pn.reference()["solve." .. solver .. ".plan"].params) do
      known[param.name:match "^[^.]*"] = true
    end
  end
  return known
end

local function expect(value, class, what)
  local metatable = type(value) == "userdata" and debug.getmetatable(value)
  if not metatable or metatable.__name ~= class then
    local got = type(value) == "table" and "a table" or metatable and "a " .. metatable.__name
      or type(value) == "function" and "a function; call it" or type(value) == "string" and ('"%s"'):format(value)
      or tostring(value)
    error(("advise: %s must be a %s, got %s"):format(what, class, got), 0)
  end
end

local function read_options(options)
  if type(options) ~= "table" then
    error("advise: give a budget, as {epsilon=, delta=} or {rho=}", 0)
  end
  local budget, known = {}, plan_options()
  for name, value in pairs(options) do
    if not own_options[name] and not known[name] then
      error(("advise: unknown option '%s'; it takes epsilon, delta, rho, neighbours, ledger, radius, sets, solvers, "
        .. "progress, and what the solvers' plans take"):format(tostring(name)), 0)
    end
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

-- A row for each solver over one set.  Its width and the plans report as well, when they last.
local function consider_set(rows, place, set, solvers, with)
  with.tell(#rows)
  local fits, objective = attempt(pn.objective, { data = with.data, loss = with.loss, set = set })
  if not fits then
    error("advise: " .. reason(objective):gsub("^objective: ", ""), 0)
  end
  local ok, width = attempt(pn.width, set, { tol = 0.02, progress = with.budget.progress })
  for _, solver in ipairs(solvers) do
    with.tell(#rows)
    rows[#rows + 1] = consider(objective, set, ok and width.value or nil, solver, with.budget)
    rows[#rows].place = place
  end
end

-- pn.advise(data, loss, {epsilon=, delta=, rho=, radius=, sets=, solvers=})
function advise.run(data, loss, options)
  expect(data, "pn.dataset", "data")
  expect(loss, "pn.loss", "loss")
  local budget = read_options(options)
  local classes = loss.margins
  local dim = data.p * (classes and classes > 0 and classes or 1) + (loss.extra or 0)
  local radius = options.radius == nil and 1 or options.radius
  if type(radius) ~= "number" or not (radius > 0 and radius < math.huge) then
    error(("advise: radius must be a positive number, got %s"):format(tostring(radius)), 0)
  end
  local sets = options.sets and expect_list(options.sets, "sets") or default_sets(dim, radius)
  local solvers = options.solvers and expect_list(options.solvers, "solvers") or usual_solvers()
  local rows = setmetatable({ problem = ("%s loss on %d x %d records"):format(loss.name, data.n, data.p),
    convex = loss.convex }, ranking)
  for _, solver in ipairs(solvers) do
    if type(solver) ~= "string" or not pn.reference()["solve." .. solver .. ".plan"] then
      error(('advise: there is no solver "%s"; known are %s'):format(tostring(solver), table.concat(all_solvers(), ", ")), 0)
    end
  end
  frame("advise", #sets * #solvers, options.progress, function(tell)
    for place, set in ipairs(sets) do
      consider_set(rows, place, set, solvers, { data = data, loss = loss, budget = budget, tell = tell })
    end
  end)
  local missing = true
  for _, row in ipairs(rows) do missing = missing and not row.plan end
  if missing then -- the budget itself is wrong, or the data has no bounds: the first reason says it
    error(("advise: no plan can be made: %s"):format(rows[1].reason), 0)
  end
  table.sort(rows, before)
  rows.best = rows[1].bound and rows[1] or nil
  return rows
end

advise.rows = {
  advise = {
    signature = 'pn.advise(data, loss, {epsilon=, delta=, rho=, radius=, sets=, solvers=, progress=}) -> ranking',
    doc = 'Plan every solver over every set and rank them by the excess risk that its theorem predicts from width, n, p and the '
      .. 'budget.  Spends nothing and looks at no record.  sets: a list; by default the l2, l1, simplex, group and interpolation '
      .. 'balls of the given radius (1).  solvers: a list of names; by default all private ones of records in one place.  '
      .. 'The ranking prints itself; '
      .. 'ranking[i] = {set=, width=, solver=, bound=, iterations=, theorem=, source=, plan=, reason=}, ranking.best the first '
      .. 'with a bound: ranking.best.plan:run() trains.  Other options go to the plans (neighbours=, iterations= ...).',
    reveals = 'nothing',
    kind = 'function',
  },
}

return advise
