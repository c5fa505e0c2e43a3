-- advise/init.lua -- pn.advise(data, loss, budget): which solver promises the smallest excess risk over each set.  Only plans are
-- made, from public sizes and certified bounds: nothing is spent, no record is looked at, but where probe= asks for it.
-- Depends on: penumbra.core, penumbra.frame (bindings/core/lprogress.c), penumbra.advise.sets, .probe, .show.
-- Used by: penumbra (pn.advise).
local frame = require "penumbra.frame"
local pn = require "penumbra.core"
local probe = require "penumbra.advise.probe"
local sets = require "penumbra.advise.sets"

local advise = {}

-- The budget, and what says where to look.
local own_options = { sets = true, radius = true, radii = true, solvers = true, probe = true, rng = true }

-- What some plan takes; the options of a run are nobody's here, but for these two.
local function plan_options()
  local known = { ledger = true, progress = true }
  for _, solver in ipairs(sets.solvers()) do
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
      error(("advise: unknown option '%s'; it takes epsilon, delta, rho, neighbours, ledger, radius, radii, sets, solvers, "
        .. "probe, rng, progress, and what the solvers' plans take"):format(tostring(name)), 0)
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

-- The radii of the default sets; nil where the caller's own sets take their place.  The second: nobody has chosen it.
local function read_radii(options)
  local radius, radii = options.radius, options.radii
  if radius ~= nil and radii ~= nil then error("advise: give radius= or radii=, not both", 0) end
  if options.sets ~= nil and (radius or radii) ~= nil then
    error("advise: radius= and radii= size the default sets; leave them out beside sets=", 0)
  end
  local list = radii == nil and { radius == nil and 1 or radius } or expect_list(radii, "radii")
  for _, each in ipairs(list) do
    if type(each) ~= "number" or not (each > 0 and each < math.huge) then
      error(("advise: %s must be %s, got %s"):format(radii and "radii" or "radius",
        radii and "positive numbers" or "a positive number", tostring(each)), 0)
    end
  end
  return list, radius == nil and radii == nil
end

local function read_sets(options, dim)
  local radii, guess = read_radii(options)
  if options.sets then return expect_list(options.sets, "sets") end
  return sets.usual(dim, radii), guess and radii[1] or nil
end

local function read_solvers(options)
  local names = options.solvers and expect_list(options.solvers, "solvers") or sets.usual_solvers()
  for _, name in ipairs(names) do
    if type(name) ~= "string" or not pn.reference()["solve." .. name .. ".plan"] then
      error(('advise: there is no solver "%s"; known are %s'):format(tostring(name), table.concat(sets.solvers(), ", ")), 0)
    end
  end
  return names
end

-- "epsilon 1, delta 1e-06", as given.
local function budget_text(budget)
  local parts = {}
  for _, name in ipairs { "epsilon", "delta", "rho" } do
    if type(budget[name]) == "number" then parts[#parts + 1] = ("%s %g"):format(name, budget[name]) end
  end
  return #parts > 0 and table.concat(parts, ", ") or budget.ledger ~= nil and "what its ledger has left" or "without privacy"
end

-- All rows, set by set.
local function flatten(rows)
  local planned = false
  for _, group in ipairs(rows.sets) do
    for _, row in ipairs(group.rows) do
      rows[#rows + 1] = row
      planned = planned or row.plan ~= nil
    end
  end
  if not planned then -- the budget itself is wrong, or the data has no bounds: the first reason says it
    error(("advise: no plan can be made: %s"):format(rows[1].reason), 0)
  end
end

local ranking = {}
ranking.__index = ranking

function ranking:__tostring() return require "penumbra.advise.show"(self) end

-- Plans for all sets, and the probe if there is one; reports as it goes.
local function consider(rows, where, solvers, with, share)
  local done = 0
  frame("advise", #where * #solvers, with.options.progress, function(tell)
    local function told()
      tell(done)
      done = done + 1
    end
    for _, set in ipairs(where) do rows.sets[#rows.sets + 1] = sets.group(set, solvers, with, told) end
  end)
  flatten(rows)
  if not share then return end
  frame("advise: probe", #where + 1, with.options.progress, function(tell) probe.run(rows, with, share, tell) end)
end

-- pn.advise(data, loss, {epsilon=, delta=, rho=, radius=, radii=, sets=, solvers=, probe=, ledger=, rng=})
function advise.run(data, loss, options)
  expect(data, "pn.dataset", "data")
  expect(loss, "pn.loss", "loss")
  local budget, share = read_options(options), probe.share(options)
  local classes = loss.margins
  local dim = data.p * (classes and classes > 0 and classes or 1) + (loss.extra or 0)
  local where, guess = read_sets(options, dim)
  local rows = setmetatable({ problem = ("%s loss on %d x %d records"):format(loss.name, data.n, data.p),
    budget = budget_text(budget), convex = loss.convex, guess = guess, sets = {} }, ranking)
  consider(rows, where, read_solvers(options), { data = data, loss = loss, budget = budget, options = options, dim = dim }, share)
  if not share then rows.best = #where == 1 and rows.sets[1].star or nil end
  return rows
end

advise.rows = {
  advise = {
    signature = 'pn.advise(data, loss, {epsilon=, delta=, rho=, radius=, radii=, sets=, solvers=, '
      .. 'probe=, ledger=, rng=, progress=}) -> ranking',
    doc = 'Plan every solver over every set and rank the solvers set by set, by the excess risk that their plans predict, else by '
      .. 'the bound of their theorem, from n, p, the set and the budget.  Spends nothing and looks at no record.  sets: a list; '
      .. 'by default the l2, l1, group and interpolation balls of the given radius (1), or of each of radii.  solvers: a list of '
      .. 'names; by default all private ones of records in one place.  A risk is that over the best point of its set, so it '
      .. 'compares solvers over one set, and never sets: a smaller set always promises less risk, and may fit worse.  The best '
      .. 'solver of a set has best_of_set = true, unless what it predicts is half or more of reach, the most that the mean loss '
      .. 'can fall over the set (obj.bounds.reach), or reach is below 0.05 of the loss at the start.  '
      .. 'The ranking prints itself; ranking[i] = {set=, width=, reach=, solver=, predicted=, bound=, iterations=, theorem=, '
      .. 'source=, plan=, reason=, best_of_set=}, set by set, best first; a row without a figure has the reason, which is '
      .. 'counted and not printed.  ranking.best is the best row where one set was asked about, '
      .. 'else nil: ranking.best.plan:run() trains.  Other options go to the plans (neighbours=, iterations= ...).  '
      .. 'probe = 0.1 (or true) spends that share of the budget, as rho, to ask the records which set fits: 4/5 of it fit the '
      .. 'starred solver of each of the M sets in equal parts, 1/5 releases the mean losses of these models and of theta = 0, '
      .. 'each record clipped to the range of its loss, with Gaussian noise: one record moves them by range x sqrt(M + 1)/n at '
      .. 'most (zero_out: or the largest size of a loss for the range, where that is more).  One charge pays for all of it '
      .. 'before any '
      .. 'noise is drawn, to a slice of ledger= (or of pn.budget) that has the whole budget: ranking.ledger.  ranking.best is then '
      .. 'the set of the least released loss, where that is below theta = 0 by two deviations of their difference, planned with '
      .. 'what ranking.ledger has left; else nil.  ranking.probe = {share=, start=, sd=, clip=, event=, simulated=, set=}, and '
      .. 'each of ranking.sets has set=, reach=, star=, why=, probe_loss=.  The fits of the probe have less budget than the final '
      .. 'one, so it favours sets that need little.  rng: a seeded stream makes the probe a simulation; a ledger of teaching '
      .. 'takes it.',
    reveals = 'paid', touches = 'modules',
    kind = 'function',
  },
}

return advise
