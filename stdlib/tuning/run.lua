-- tuning/run.lua -- what pn.tune.plan says and pn.tune does: the price, the parts, the runs and the best of them.
-- Depends on: penumbra.selection (bindings/solvers/lselection.c), penumbra.passing, penumbra.stopped,
-- penumbra.tuning.price, .read, .show.
-- Used by: penumbra.tuning.
local error, next, pcall, setmetatable, tostring, type = error, next, pcall, setmetatable, tostring, type
local exp, floor, huge, log, match = math.exp, math.floor, math.huge, math.log, string.match
local format = string.format
local price = require "penumbra.tuning.price"
local read = require "penumbra.tuning.read"
local selection = require "penumbra.selection"
local show = require "penumbra.tuning.show"
local passing = require "penumbra.passing"
local stopped = require "penumbra.stopped"

local BEST = 0.1 -- of all configurations
local PADDED = 1 - 1e-3 -- quantile of the number of runs that padding goes to

local function fail(...) error("tune: " .. format(...), 0) end

-- ---- the parts ----

local function objective_of(with, o, data)
  local all = o.objective
  return with.objective { data = data, loss = all.loss, set = all.set, reg = all.reg, clip = all.clip }
end

local function part(with, o)
  local data = o.objective.data
  if data.n < 2 * o.holdout then
    fail("holdout = %d of %d records leaves too few on one side; give 2 to %d", o.holdout, data.n, floor(data.n / 2))
  end
  local train, held = selection.parts(data, o.holdout)
  return objective_of(with, o, train), objective_of(with, o, held), train.n, held.n
end

-- ---- configurations ----

local function plan_one(p, configuration, budget)
  local options = { neighbours = p.neighbours, ledger = selection.own_budget, progress = false }
  for name, value in next, budget do options[name] = value end
  for name, value in next, p.options do options[name] = value end
  for name, value in next, configuration do options[name] = value end
  return p.plan_of(p.train, options)
end

local function reason(message)
  return match(tostring(message), "^[^:]*:%d+: (.*)$") or tostring(message)
end

local function at_end(axis, i)
  if axis.values then return axis.values[i] end
  local value = i == 1 and axis.lo or axis.hi
  return axis.whole and floor(value + 0.5) or value
end

local function unplanned(configuration, why)
  fail("a run with %s cannot be planned: %s", show.configuration(configuration), why)
end

local function plan_or_fail(p, configuration, budget)
  local ok, plan = pcall(plan_one, p, configuration, budget)
  if ok then return plan end
  if passing(plan) then error(plan, 0) end
  unplanned(configuration, reason(plan))
end

-- f(configuration) for every combination of the lists, and of the ends of ranges.
local function each(p, f, at, configuration)
  local name = p.grid.names[at]
  if not name then return f(configuration) end
  local axis = p.grid.axes[name]
  for i = 1, axis.values and #axis.values or 2 do
    configuration[name] = at_end(axis, i)
    each(p, f, at + 1, configuration)
  end
  configuration[name] = nil
end

-- By the public law: uniform over the combinations, and over ranges or their logarithms.
local function draw(p, rng)
  local configuration = {}
  for _, name in next, p.grid.names do
    local axis = p.grid.axes[name]
    local value
    if axis.values then
      value = axis.values[rng:integer(#axis.values)]
    else
      local u = rng:uniform()
      value = axis.log and exp(log(axis.lo) + u * (log(axis.hi) - log(axis.lo))) or axis.lo + u * (axis.hi - axis.lo)
      if axis.whole then value = floor(value + 0.5) end
    end
    configuration[name] = value
  end
  return configuration
end

-- ---- the plan ----

local function first_configuration(p)
  local configuration = {}
  for _, name in next, p.grid.names do configuration[name] = at_end(p.grid.axes[name], 1) end
  return configuration
end

-- By Renyi orders where a solver would charge its loss distribution: an event with a delta of its own, which selection cannot take.
local function accountant_of(o, p)
  local budget = { epsilon = o.epsilon, delta = o.delta, accountant = "rdp" }
  local ok, plan = pcall(plan_one, p, first_configuration(p), budget)
  if not ok and passing(plan) then error(plan, 0) end
  return ok and "rdp" or nil
end

local function plans_at(p, budget)
  local plans = {}
  each(p, function(configuration) plans[#plans + 1] = plan_or_fail(p, configuration, budget) end, 1, {})
  return plans
end

-- Whether every configuration's noise is Gaussian alone, as planned for the whole price.
local function all_gaussian(with, o, p)
  local budget, all = { rho = with.sigma { epsilon = o.epsilon, delta = o.delta } ^ -2 / 2 }, true
  each(p, function(configuration) all = price.is_gaussian(plan_or_fail(p, configuration, budget)) and all end, 1, {})
  return all
end

local function price_of(with, o, p)
  if all_gaussian(with, o, p) then
    local cost = price.gaussian(with, o)
    each(p, function(configuration)
      local wrong = cost.wrong(plan_or_fail(p, configuration, cost.budget))
      if wrong then unplanned(configuration, wrong) end
    end, 1, {})
    return cost
  end
  for _, name in next, p.grid.names do
    if not p.grid.axes[name].values then
      fail("grid.%s is a range, but the price of %s may differ at each of its points; give a list of values", name, o.solver)
    end
  end
  return price.mixed(with, o, accountant_of(o, p), function(budget) return plans_at(p, budget) end)
end

local function prepare(with, given)
  local o = read(given, with.plan_of)
  local relation = selection.neighbours(given, o.objective.data)
  if relation and o.neighbours and relation ~= o.neighbours then
    fail('neighbours is "%s" and the ledger\'s "%s"; make both the same', o.neighbours, relation)
  end
  o.neighbours = o.neighbours or relation or "replace_one"
  if o.neighbours == "add_remove" then
    fail('a ledger for "add_remove" neighbours makes the number of records secret, by which scores are divided; use "replace_one"')
  end
  o.accountant = o.accountant or (relation and "rdp" or "profile")
  o.law = o.target and "known_target" or "geometric"
  local p = { solver = o.solver, grid = o.grid, options = o.options, neighbours = o.neighbours, plan_of = with.plan_of[o.solver] }
  p.train, p.held, p.train_n, p.held_n = part(with, o)
  p.cost = price_of(with, o, p)
  local ok, deviation, dim = pcall(selection.check, p.held, o.score, o.range, p.cost.mu, o.neighbours)
  p.dim = dim
  if not ok then fail("%s", reason(deviation)) end
  return o, p, deviation
end

function show.plan_of(with, o, p, deviation)
  local q99, chance = selection.law(o.law, o.mean, 0.99, BEST)
  return show.plan { solver = o.solver, epsilon = o.epsilon, delta = o.delta, neighbours = o.neighbours, accountant = o.accountant,
    mu = p.cost.mu, mu_single = 1 / with.sigma { epsilon = o.epsilon, delta = o.delta }, run_epsilon = p.cost.budget.epsilon,
    mean = o.mean, q99 = q99, chance = chance, law = o.law, target = o.target, score = o.score, deviation = deviation,
    event = p.cost.event, charged = p.cost.charged,
    train = p.train_n, held = p.held_n, holdout = o.holdout, configurations = show.count(p.grid), pad = o.pad,
    warning = selection.weak(o.epsilon) }
end

-- ---- one run ----

-- As pcall, but what stops the search is no failure of a run.
local function attempt(f, ...)
  local ok, result = pcall(f, ...)
  if not ok and stopped(result) then fail "stopped by the user: nothing is told, and the price stays charged" end
  return ok, result
end

local function train(p, configuration, rng)
  local plan = plan_one(p, configuration, p.cost.budget)
  if p.cost.wrong(plan) then error("unpriced", 0) end
  local fit = plan:run { rng = rng, ledger = selection.own_budget, progress = false }
  if fit.stopped == "interrupted" or fit.stopped == "limit" then error("stopped by the user", 0) end
  return fit.theta:copy()
end

-- {configuration=, theta=, score=, order=, coin=}; of a run that failed the worst order and no score.
local function one_run(o, p, rng)
  local run = { configuration = draw(p, rng), coin = rng:uniform(), order = -huge }
  local trained, theta = attempt(train, p, run.configuration, rng)
  if not trained then return run end
  local scored, score = attempt(selection.score, p.held, o.score, o.range, p.cost.mu, o.neighbours, theta, rng)
  if not scored then return run end
  run.theta, run.score, run.order = theta, score, o.score == "accuracy" and score or -score
  return run
end

local function better(run, best)
  if not best or run.order ~= best.order then return not best or run.order > best.order end
  return run.coin > best.coin
end

-- ---- the search ----

-- The run that is told, or nil where a target was not reached.
local function search(o, p, rng)
  local least = o.pad and selection.law(o.law, o.mean, PADDED, BEST) or 0
  local target = o.target and (o.score == "accuracy" and o.target or -o.target)
  local best, over, made = nil, false, 0
  repeat
    local run = one_run(o, p, rng)
    made = made + 1
    if not over then
      local reached = target and run.order >= target
      if reached or not target and better(run, best) then best = run end
      over = reached or selection.stops(o.law, o.mean, rng)
    end
  until over and made >= least
  return best
end

local function start_of(with, p)
  local zeros = with.zeros(p.dim)
  local set = p.train.set
  local ok, inside = pcall(function() return set:project(zeros) end)
  return set and ok and inside or zeros
end

local tune = {}

function tune.plan(with, given)
  return show.plan_of(with, prepare(with, given))
end

function tune.run(with, given)
  local o, p, deviation = prepare(with, given)
  local rng = o.rng or with.secure()
  if type(rng) ~= "userdata" then fail("rng must be a pn.rng, got a %s", type(rng)) end
  local plan = show.plan_of(with, o, p, deviation)
  local paid, why = pcall(selection.charge, { ledger = o.ledger }, p.cost.charged, "tune: " .. o.solver, rng, o.objective.data)
  if not paid then error(stopped(why) and why or reason(why), 0) end
  local best = search(o, p, rng)
  local simulated = rng.simulated
  local answer = { found = best ~= nil, score_name = o.score, plan = plan, failed = best and not best.theta or nil,
    price = { epsilon = simulated and huge or o.epsilon, nominal_epsilon = simulated and o.epsilon or nil, delta = o.delta,
      neighbours = o.neighbours, accountant = o.accountant, simulated = simulated, private = not simulated } }
  if best then
    answer.configuration, answer.score = best.configuration, best.score
    answer.theta = best.theta or start_of(with, p)
  end
  return setmetatable(answer, show.answer)
end

return tune
