-- advise/probe.lua -- probe= of pn.advise: which set fits is in the records, and a share a of the budget asks them.
-- Depends on: penumbra.core, penumbra.selection (bindings/solvers/lselection.c), penumbra.advise.sets, penumbra.passing.
-- Used by: penumbra.advise.
--
-- Of a rho, 4/5 fit the starred solvers of the M sets, in equal parts, and 1/5 releases the mean losses of the M + 1 candidates,
-- theta = 0 before them, as one question of `values`: each record's loss is clipped to [lo, hi], its certified range over the
-- margins that any of the sets allows, so a record that is replaced moves a mean by (hi - lo)/n and the vector by sqrt(M + 1) times
-- that in l2.  Under zero_out it is the larger of that and what leaving a record out moves (oracle/question_value.c).
--
-- The whole probe is one event, charged once and before any noise, to a ledger of the whole budget: a slice of the caller's.  Its
-- filter bounds what is left: the final fit may depend on what the probe released.  Fits of the probe are given to nobody.
local pn = require "penumbra.core"
local passing = require "penumbra.passing"
local selection = require "penumbra.selection"
local sets = require "penumbra.advise.sets"

local SHARE = 0.1 -- of the budget, where probe = true
local FITS = 4 / 5 -- of the probe's rho
local CLEAR = 2 * math.sqrt(2) -- deviations of a loss: two of a difference of losses

local probe = {}

local function fail(...) error("advise: " .. (...):format(select(2, ...)), 0) end

-- The share; nil without a probe.
function probe.share(options)
  local share = options.probe
  if not share then
    if options.rng ~= nil then fail "rng= belongs to the probe; leave it out without probe=" end
    return nil
  end
  if share == true then return SHARE end
  if type(share) ~= "number" or not (share > 0 and share < 1) then
    fail("probe must be true or a share of the budget between 0 and 1, got %s", tostring(share))
  end
  return share
end

-- ---- the budget ----

-- What pays where no ledger is named: the data set's own (pn.budget), which answers to no numbers only where there is one.
local function budget_of(data)
  local found, ledger = pcall(pn.budget, { data = data })
  if not found and passing(ledger) then error(ledger, 0) end
  return found and ledger or nil
end

-- {rho=} or {epsilon=, delta=}: as given, or what the ledger has left.
local function amount(options, parent)
  if options.rho then return { rho = options.rho } end
  local delta = options.delta or parent and parent.delta
  if options.epsilon then return { epsilon = options.epsilon, delta = delta } end
  if parent and parent.rho then return { rho = parent.remaining } end
  if parent and parent.epsilon and not parent.alpha then return { epsilon = parent.remaining, delta = parent.delta } end
  fail "the probe has no budget: give {epsilon=, delta=} or {rho=}, and ledger="
end

-- The ledger of the whole budget, and its rho.
local function open(options, data, simulated)
  local parent = options.ledger or not simulated and budget_of(data) or nil
  local budget = amount(options, parent)
  if budget.epsilon and not (budget.delta and budget.delta > 0) then
    fail "the noise of the probe is Gaussian, which needs a delta > 0; give delta=, or rho="
  end
  local rho = budget.rho or pn.calibrate.gaussian { epsilon = budget.epsilon, delta = budget.delta } ^ -2 / 2
  budget.parent, budget.neighbours = parent, options.neighbours or parent and parent.neighbours
  if not parent then budget.teaching = simulated end
  return pn.ledger(budget), rho
end

-- The options of the plans without what pays for them.
local function without_budget(options)
  local out = {}
  for name, value in pairs(options) do out[name] = value end
  out.epsilon, out.delta, out.rho, out.ledger, out.progress = nil, nil, nil, nil, false
  return out
end

-- ---- plans ----

-- A plan of the best solver over the set that can be planned at this budget, and its row; nil and why.
local function plan_over(group, budget)
  local why
  for _, row in ipairs(group.rows) do
    if sets.figure(row) then
      local planned, plan = sets.attempt(pn.solve[row.solver].plan, group.objective, budget)
      if planned then return plan, row end
      why = why or sets.reason(plan)
    end
  end
  return nil, why
end

-- The certified range of a record's loss over all of them.
local function range_of(groups)
  local low, high = math.huge, -math.huge
  for _, group in ipairs(groups) do
    local value = group.objective.bounds.value
    low, high = math.min(low, value[1]), math.max(high, value[2])
  end
  if not (high - low < math.huge) then
    fail "the probe clips a record's loss to its range, which is not bounded here: clip the labels, or give bounded sets"
  end
  return { low, high }
end

-- The question of the losses at points[count], which a later step fills: plan, and released = {losses=, sd=} once it has run.
local function losses_plan(with, points, clip, budget)
  local released = {}
  local question = pn.solver { name = "probe", step = function(_, ask)
    released.losses, released.sd = ask:values(points, { clip = clip }), ask:noise "values"
  end }
  budget.iterations = 1
  return question.plan(pn.objective { data = with.data, loss = with.loss }, budget), released
end

-- The sets that have a star, with a plan each at its part of the budget.
local function candidates(groups, budget, rho)
  local out, count, why = {}, 0, "no set has a star"
  for _, group in ipairs(groups) do count = count + (group.star and 1 or 0) end
  budget.rho = FITS * rho / math.max(count, 1)
  for _, group in ipairs(groups) do
    local plan, reason = nil, nil
    if group.star then plan, reason = plan_over(group, budget) end
    if plan then
      out[#out + 1] = { group = group, plan = plan, objective = group.objective }
    elseif group.star then
      group.unprobed, why = reason, reason
    end
  end
  if #out == 0 then fail("nothing can be probed, and nothing was spent: %s", why) end
  return out
end

-- ---- the run ----

local function fit_of(plan, rng)
  local fit = plan:run { rng = rng, ledger = selection.own_budget, progress = false }
  if fit.stopped == "interrupted" or fit.stopped == "limit" then
    fail "the user stopped the probe: it reports nothing, and its price stays charged"
  end
  return fit
end

-- One event for all of it.
local function event_of(chosen, question)
  local events = { question.event }
  for _, one in ipairs(chosen) do events[#events + 1] = one.plan.event end -- nil where no record has a part in the fit
  return pn.event.compose(events)
end

-- The released losses, by candidate; the set that is clearly below the start, or nil.
local function judge(chosen, released)
  local best
  for k, one in ipairs(chosen) do
    one.group.probe_loss = released.losses[k + 1]
    if not best or one.group.probe_loss < best.probe_loss then best = one.group end
  end
  return best.probe_loss < released.losses[1] - CLEAR * released.sd and best or nil
end

-- The best set's row once more, planned for what is left.
local function final_row(group, budget)
  local plan, row = plan_over(group, budget)
  if not plan then return nil end
  local out = {}
  for name, value in pairs(row) do out[name] = value end
  out.plan, out.bound, out.predicted, out.iterations = plan, plan.bound, plan.predicted, plan.iterations
  return out
end

-- rows.probe = {share=, rho=, start=, sd=, simulated=, ...}, rows.ledger and rows.best; with = {data=, loss=, options=}.
function probe.run(rows, with, share, tell)
  local rng = with.options.rng
  local simulated = rng ~= nil and rng.simulated
  local ledger, rho = open(with.budget, with.data, simulated)
  local budget = without_budget(with.budget)
  budget.neighbours, budget.ledger = ledger.neighbours, selection.own_budget
  local chosen = candidates(rows.sets, budget, share * rho)
  local points = {}
  for k = 0, #chosen do points[k + 1] = pn.vec.zeros(with.dim) end
  local clip = range_of(chosen)
  local question, released = losses_plan(with, points, clip,
    { rho = (1 - FITS) * share * rho, neighbours = ledger.neighbours, ledger = selection.own_budget })
  local event = event_of(chosen, question)
  local paid, why = sets.attempt(selection.charge, { ledger = ledger }, event, "advise: probe", rng, with.data)
  if not paid then error(sets.reason(why), 0) end
  for k, one in ipairs(chosen) do
    tell(k - 1)
    points[k + 1] = fit_of(one.plan, rng).theta
  end
  tell(#chosen)
  fit_of(question, rng)
  local best = judge(chosen, released)
  budget = without_budget(with.budget)
  budget.ledger = ledger
  rows.ledger = ledger
  rows.probe = { share = share, event = event, start = released.losses[1], sd = released.sd, clip = clip, simulated = simulated,
    set = best and best.set }
  rows.best = best and final_row(best, budget)
end

return probe
