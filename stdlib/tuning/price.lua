-- tuning/price.lua -- what one run of pn.tune may spend, so that the best of a secret number of runs costs the price asked.
-- Depends on: penumbra.selection (bindings/solvers/lselection.c), penumbra.passing.  Used by: penumbra.tuning.run.
--
-- One run draws a configuration by a public law, trains on the records that are not held out, and scores on those that are.  A
-- record is in one part, so that of two neighbours either both train alike and the scores differ, or the scores are what follows
-- from models that differ: the run costs the larger of the two, at whatever configuration, which is part of what it gives.
--   gaussian  every configuration is Gaussian noise of at most mu^2 in all, and so is the score: the run is one event of mu.
--   mixed     each configuration is planned for the same epsilon; the run is event.either of what they are and of the score's.
-- event.selection prices the best of a secret number of such runs.
local error, pcall, tostring = error, pcall, tostring
local floor, format, huge = math.floor, string.format, math.huge
local selection = require "penumbra.selection"
local passing = require "penumbra.passing"

local UP = 1 + 2 ^ -38 -- what sums of squares may be off by
local DRAWS = 2 ^ 30 -- of lattice noise in one run, at most: what their distance from the ideal law costs does not show
local DISTINCT = 64 -- events that the configurations may be
local TRIES, NEAR = 12, 0.98 -- of the search for a run's epsilon, and where it ends

local price = {}

local function fail(...) error("tune: " .. format(...), 0) end

local function charged(with, o, event)
  if o.accountant == "rdp" then return event end
  return with.approximate { epsilon = o.epsilon, delta = o.delta, neighbours = o.neighbours }
end

local function gaussian(with, o, mu, draws)
  return with.gaussian { sigma = 1 / (mu * UP), sensitivity = 1, draws = draws, neighbours = o.neighbours }
end

local function selected(with, o, event)
  return with.selection { event = event, law = o.law, mean = o.mean, neighbours = o.neighbours }
end

-- The largest mu of Gaussian noise that costs epsilon.
local function calibrate(with, o, epsilon, accountant, event)
  local ok, mu = pcall(with.calibrate,
    { epsilon = epsilon, delta = o.delta, progress = false, accountant = accountant, event = event })
  if ok then return mu end
  if passing(mu) then error(mu, 0) end
  fail("no noise makes the best of about %g runs cost epsilon %g at delta %g: %s", o.mean, o.epsilon, o.delta, tostring(mu))
end

-- ---- Gaussian noise alone ----

-- What is wrong with a plan; nil for nothing.
local function not_of_mu(plan, most)
  local event = plan.event
  if not event then return nil end -- no record has a part in the answer
  local mu, draws = selection.gaussian(event)
  if not mu then return "its releases are not Gaussian noise alone: " .. plan.solver .. " is charged as " .. tostring(event) end
  if mu > most * UP then return format("it costs mu %.17g where a run has %.17g", mu, most) end
  if draws + 1 > DRAWS then return format("it draws %g numbers where a run may draw %g", draws, DRAWS) end
end

-- {budget=, mu=, event=, charged=, wrong=}: what a run's plan is given, the mu of its score, the event of the whole search, what is
-- charged for it, and what wrong(plan) says of a plan that a run must not take.
function price.gaussian(with, o)
  local function event(mu) return selected(with, o, gaussian(with, o, mu, floor(DRAWS))) end
  local mu = calibrate(with, o, o.epsilon, o.accountant == "profile" and "pld" or "rdp", event)
  return { budget = { rho = mu ^ 2 / 2 }, mu = mu, event = event(mu), charged = charged(with, o, event(mu)),
    wrong = function(plan) return not_of_mu(plan, mu) end }
end

-- ---- whatever a solver is charged as ----

local function known(events, event)
  for i = 1, #events do
    if selection.same(events[i], event) then return true end
  end
  return false
end

-- Every event once.
local function distinct(plans)
  local events = {}
  for i = 1, #plans do
    local event = plans[i].event
    if event and not known(events, event) then events[#events + 1] = event end
  end
  if #events > DISTINCT then
    fail("the grid's configurations cost %d different curves; give a grid with at most %d", #events, DISTINCT)
  end
  return events
end

-- One event that is at least all of them, as a balanced tree.
local function worst(with, o, events, first, last)
  if first == last then return events[first] end
  local middle = (first + last) // 2
  return with.either { first = worst(with, o, events, first, middle), second = worst(with, o, events, middle + 1, last),
    neighbours = o.neighbours }
end

local function mixed_at(with, o, accountant, plans_at, epsilon)
  local budget = { epsilon = epsilon, delta = o.delta, accountant = accountant }
  local mu = calibrate(with, o, epsilon, "rdp", function(mu) return gaussian(with, o, mu, 1) end)
  local events = distinct(plans_at(budget))
  local all = { gaussian(with, o, mu, 1) }
  for i = 1, #events do all[i + 1] = events[i] end
  local event = selected(with, o, worst(with, o, all, 1, #all))
  return { budget = budget, mu = mu, event = event, charged = charged(with, o, event),
    wrong = function(plan)
      if plan.event and not known(events, plan.event) then return "it costs another curve than when it was priced" end
    end }
end

-- As price.gaussian; accountant is an option of the plans or nil, and plans_at(budget) has those of all configurations.  The
-- search's price grows with a run's epsilon, and nearly in proportion.
function price.mixed(with, o, accountant, plans_at)
  local epsilon, best = o.epsilon / 3, nil
  for _ = 1, TRIES do
    local tried = mixed_at(with, o, accountant, plans_at, epsilon)
    local cost = tried.event:epsilon(o.delta)
    if cost <= o.epsilon and (not best or epsilon > best.budget.epsilon) then best = tried end
    if cost <= o.epsilon and cost >= NEAR * o.epsilon then break end
    epsilon = cost < huge and epsilon * (o.epsilon / cost) * (1 + NEAR) / 2 or epsilon / 2
  end
  if not best then fail("no noise makes the best of about %g runs cost epsilon %g at delta %g", o.mean, o.epsilon, o.delta) end
  return best
end

-- Whether a plan's noise is Gaussian alone.
function price.is_gaussian(plan)
  return not plan.event or selection.gaussian(plan.event) ~= nil
end

return price
