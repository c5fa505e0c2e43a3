-- mutants_second_order.lua -- audits of second_order, trust_region and newton, for mutants.lua, on the pairs of data sets that each
-- query tells apart best.  A claim is not what the plan promises: it is what the ledger was charged for what the two data sets give
-- differently.
--   law       gradients; of trust_region gradient and Hessian together
--   hessian   Hessians alone
--   beside    the entry of a Hessian beside the diagonal
--   twice     Hessians at two points, from which noise used twice would cancel
--   search    the index of the step that a line search accepts
--   value     the number of iterations that a released value leaves
--   batch     gradients on batches that nobody knows
--   steps     both gradients of a run of newton
--   reuse     as in mutants.lua
--   spent     the ledger's total is the sum over all that was released, whatever was released (no statistics)
--   order     what the ledger refuses gives nothing: first, second and third charge of a step (no statistics)
-- Depends on: penumbra.  Used by: mutants.lua.
local pn = require "penumbra"

local DELTA = 0.1
local FAR = 1e6 -- a label from which a loss of bounded slope has its largest one, and no curvature

-- ---- problems ----

local huber = pn.loss.huber { delta = 1 }
-- loss: huber, or one of labels within [-1, 1].
local function objective(rows, labels, loss, reg)
  local data = pn.data.from(rows, labels):clip_rows("l2", 1)
  return pn.objective { data = loss == huber and data or data:clip_labels(-1, 1), loss = loss, reg = reg }
end

local function line(labels, loss, reg) -- records on the line, all at 1
  local rows = {}
  for i = 1, #labels do rows[i] = { 1 } end
  return objective(rows, labels, loss, reg)
end

-- Curvature of either sign, 1 at 0, where there is no slope: a record moves a Hessian by all that is charged for.
local bowl = pn.loss.glm(function(z, y) return y * pn.sqrt(1 + z ^ 2) end, { labels = { lo = -1, hi = 1 } })

local downwards = pn.reg.separable(function(w) return -50 * w ^ 2 end) -- of curvature -100 everywhere

local function merged(first, second)
  local out = {}
  for _, options in ipairs { first, second or {} } do
    for name, value in pairs(options) do out[name] = value end
  end
  return out
end

local LOW, HIGH = 1e-3, 1e6 -- targets that no released gradient is below, or above

-- gradient: LOW for gradient steps, HIGH for Hessians.
local function second_order(problem, gradient, options)
  return pn.solve.second_order.plan(problem, merged({ rho = 1, iterations = 1, start = { 0 }, gap = 1, smoothness = 1,
    hessian_lipschitz = 1, tolerance = { gradient = gradient, hessian = 1 } }, options))
end

local function trust_region(problem, options)
  return pn.solve.trust_region.plan(problem, merged({ rho = 1, iterations = 1, start = { 0 }, gap = 1,
    hessian_lipschitz = 1, tolerance = { gradient = LOW } }, options))
end

local function newton(problem, options)
  return pn.solve.newton.plan(problem, merged({ rho = 0.5, iterations = 1, start = { 0 } }, options))
end

-- ---- what runs show, and what is charged ----

-- The states of a run.
local function walk(plan, rng, ledger)
  local states = {}
  for state in plan:steps { ledger = ledger, rng = rng, progress = false } do states[#states + 1] = state end
  return states
end

local function charged(plan, seed)
  local ledger = pn.ledger { rho = 1e12, teaching = true }
  walk(plan, pn.rng.seeded(seed or 1), ledger)
  return ledger.spent
end

-- On the line steps go against the gradient, whose size is shown: where it is known how a step went, so is the gradient.
local function gradient_at(state, from)
  return state.theta[1] > from and -state.gradient_norm or state.gradient_norm
end

local function gaussian(rho)
  return pn.event.gaussian { sigma = 1 / math.sqrt(2 * rho), sensitivity = 1 }
end

-- ---- line search ----

-- Six tests, of steps from 1e9 down to 0.15, each a hundredth of the one before, along a line on which nine records fall by just
-- what each test asks for.  The tenth falls at all steps but the shortest and rises there, or the other way round; at the start its
-- slope is 0, either way.
local TESTS, ASKED = 6, 0.05 -- c_g
local SHORTEST = 0.15 -- gbar_g is 0.015

local function searching()
  local loss = pn.loss.glm(function(z, y)
    local tenth = pn.sqrt(1e-6 + z ^ 2) - 2 * pn.sqrt(1 + z ^ 2)
    local others = ASKED * z + (1 - ASKED) * 1e-4 * pn.tanh(1e4 * z)
    return y * tenth + (1 - y ^ 2) * others
  end, { labels = { lo = -1, hi = 1 } })
  return function(y)
    return second_order(line({ y, 0, 0, 0, 0, 0, 0, 0, 0, 0 }, loss), LOW, { rho = 6, line_search = true,
      smoothness = 2 * (1 - 0.1 - ASKED) / 0.015, c_g = ASKED, beta_g = 0.01, b0 = 100 ^ (TESTS - 0.5) })
  end
end

-- ---- the ledger's total ----

local bumpy = pn.objective { data = pn.data.synthetic.logistic { n = 400, p = 3, seed = 2 }:clip_rows("l2", 1),
  loss = pn.loss.logistic(), reg = pn.reg.nonconvex(0.5) }

local function once(z)
  return pn.event.gaussian { sigma = z, sensitivity = 1 }
end

-- What the states of a run say that was released, at multiplier z_of(t) in step t.
local function released_by(states, z_of, searches)
  local events = {}
  for t, state in ipairs(states) do
    local z = z_of(t)
    events[#events + 1] = once(z)
    if state.kind ~= "gradient" then events[#events + 1] = once(z) end
    if searches and state.kind ~= "done" then events[#events + 1] = pn.event.sparse_vector { epsilon = 1 / z } end
  end
  return events
end

-- Multipliers of m releases an iteration, T iterations, that together cost rho (second-order.md, section 3).
local function multiplier(m, T, rho)
  return math.sqrt(m * T / (2 * rho))
end

local function as_planned(plan)
  return function() return plan.lines["multiplier z"] end
end

-- Runs that between them take every branch: the solver, its options, kinds of steps that have to occur, multipliers by step.
local branches = {
  { "second_order", { rho = 1, iterations = 30 }, "gradient curvature done", as_planned },
  { "second_order", { rho = 1, iterations = 30, line_search = true }, "gradient curvature done", as_planned },
  { "second_order", { rho = 1, iterations = 12, phases = 2, first_iterations = 2 }, "gradient curvature", function()
    return function(t, spent) return t <= 2 and multiplier(2, 2, 0.75) or multiplier(2, 12, 1 - spent[2]) end
  end },
  { "second_order", { rho = 1, iterations = 12, line_search = true, phases = 2, first_iterations = 2 }, "gradient curvature",
    function() return function(t, spent) return t <= 2 and multiplier(3, 2, 0.75) or multiplier(3, 12, 1 - spent[2]) end end },
  { "second_order", { rho = 1, iterations = 12, floor = 0, value_share = 0.1, tolerance = { gradient = 1e-3, hessian = 0.5 } },
    "gradient", function(_, states)
      return function(t) return t == 0 and multiplier(1, 1, 0.1) or multiplier(2, #states, 0.9) end
    end },
  { "second_order", { epsilon = 1, delta = 1e-5, iterations = 6, line_search = true, batch = 40 }, "gradient", as_planned },
  { "trust_region", { rho = 1, iterations = 5, tolerance = { gradient = 0.02 } }, "boundary", as_planned },
  { "trust_region", { epsilon = 1, delta = 1e-5, iterations = 5, tolerance = { gradient = 0.02 }, batch = 40 }, "boundary",
    as_planned },
}

local function ledgers(options)
  local budget = { teaching = true, delta = options.delta, epsilon = options.epsilon and 8, rho = options.rho and 8 }
  return pn.ledger(budget), pn.ledger(budget)
end

local function spend(ledger, events, batch)
  for _, event in ipairs(events) do
    ledger:spend(batch and pn.event.fixed_sampled { batch = batch, n = 400, event = event } or event, "expected")
  end
end

-- nil, or what is wrong with a run of the branch.
local function wrong_total(branch)
  local solver, given, kinds, multipliers = table.unpack(branch)
  local options = merged({ start = { 2, 2, -2 }, tolerance = { gradient = 0.2, hessian = 0.05 } }, given)
  if not options.floor then options.gap = 1 end
  local plan = pn.solve[solver].plan(bumpy, options)
  local ledger, other = ledgers(options)
  local states, seen, spent = {}, {}, {}
  local walked = plan:steps { ledger = ledger, rng = pn.rng.seeded(5), progress = false }
  for state in walked do
    states[#states + 1], seen[state.kind], spent[#spent + 1] = state, true, ledger.spent
  end
  local z_of = multipliers(plan, states)
  local events = released_by(states, function(t) return z_of(t, spent) end, options.line_search)
  if options.value_share then events[#events + 1] = once(z_of(0)) end
  spend(other, events, options.batch)
  local fit = walked:fit()
  local paid = options.rho and fit.privacy.charged_rho or fit.privacy.charged_epsilon
  for kind in kinds:gmatch("%a+") do
    if not seen[kind] then return solver .. ": no step of kind " .. kind .. " in " .. #states end
  end
  if math.abs(ledger.spent / other.spent - 1) > 1e-5 then
    return ("%s: spent %.9g, released %.9g"):format(solver, ledger.spent, other.spent)
  end
  if not (paid >= other.spent * (1 - 1e-5) and (options.epsilon or paid <= other.spent * (1 + 1e-5))) then
    return ("%s: says %.9g, released %.9g"):format(solver, paid, other.spent)
  end
end

-- ---- a ledger that refuses ----

-- nil, or what a first step gave for which the ledger had only `rho` left, since others spent the rest when the run had begun; it
-- has to have paid `paid`, for what came before.
local function gives(plan, rho, paid)
  local budget, steps = pn.ledger { rho = 4, teaching = true }, 0
  local walked = plan:steps { ledger = budget, rng = pn.rng.seeded(1), progress = false }
  budget:spend(pn.event.zcdp { rho = 4 - rho }, "others")
  local finished, why = pcall(function()
    for _ in walked do steps = steps + 1 end
  end)
  local fit, own = walked:fit(), budget.spent - (4 - rho)
  local given = finished or steps > 0 or #fit.trace > 0 or fit.theta[1] ~= 0
  if given or math.abs(own - paid) > 1e-6 then
    return ("%d steps, spent %g for %g: %s"):format(steps, own, paid, tostring(why))
  end
end

-- What is left is half of the first charge, or half of each later one beyond those before it: `charges` are
-- the prices in their order, of which a run pays all that can.
local function refuses(plan, charges, together)
  local sum = 0
  for _, charge in ipairs(charges) do
    local wrong = gives(plan, sum + charge / 2, together and 0 or sum)
    if wrong then return true, wrong end
    sum = sum + charge
  end
  local all = charged(plan)
  return math.abs(all - sum) > 1e-5, ("pays %g of %g"):format(all, sum)
end

return function(audit, teaching)
  local ledger = teaching()

  local function compare(first, second, trials, claim, released)
    local pure = type(claim) ~= "number"
    return audit(released, { neighbours = { first, second }, trials = trials, delta = pure and 0 or DELTA,
      event = pure and claim or gaussian(claim) })
  end

  local function first_state(run, rng)
    return walk(run, rng, ledger)[1]
  end

  local function theta(run, rng)
    return run:run { ledger = ledger, rng = rng, progress = false }.theta[1]
  end

  local up, apart, still = line({ FAR, FAR }, huber), line({ FAR, -FAR }, huber), line({ 0, 0 }, huber)
  local dome, saddle = line({ 1, 1 }, bowl), line({ 1, -1 }, bowl)

  -- From `score`, whose noise is that of the second run, too, where it is used twice.
  local function reused(first, second, score)
    return compare(first, second, 2000, charged(first), function(run, rng)
      return score(run, rng) - score(second, rng)
    end)
  end

  local second = {}
  function second.law()
    local first, other = second_order(up, LOW), second_order(apart, LOW)
    return compare(first, other, 60000, charged(first), theta)
  end
  function second.reuse()
    return reused(second_order(up, LOW), second_order(still, LOW), theta)
  end
  function second.hessian()
    local first, other = second_order(dome, HIGH), second_order(saddle, HIGH)
    return compare(first, other, 20000, charged(first) - first.lines["gradient costs"], function(run, rng)
      return first_state(run, rng).eigenvalue
    end)
  end
  -- In the plane r bends down by 500 along the first axis and hardly at all along the second: the eigenvector turns towards the
  -- second in proportion to the entry beside the diagonal.
  function second.beside()
    local root, start = math.sqrt(0.5), { 1, 10 }
    local function plan(side)
      local rows, labels = { { root, side * root }, { 0, 0 } }, { root * (1 + side * 10), 0 }
      return second_order(objective(rows, labels, huber, pn.reg.nonconvex(1000)), 1e9, { start = start,
        hessian_lipschitz = 1e6, hessian_noise = "frobenius" })
    end
    local first, other = plan(1), plan(-1)
    return compare(first, other, 36000, charged(first) - first.lines["gradient costs"], function(run, rng)
      local at = first_state(run, rng).theta
      return (at[2] - start[2]) / (at[1] - start[1])
    end)
  end
  -- Both steps are long, and where they lead the loss is flat.
  function second.twice()
    local function plan(labels)
      return second_order(line(labels, bowl, downwards), 1e9, { iterations = 2 })
    end
    local first, other = plan { 1, 1 }, plan { 1, -1 }
    return compare(first, other, 2000, charged(first) - 2 * first.lines["gradient costs"], function(run, rng)
      local states = walk(run, rng, ledger)
      return states[2].eigenvalue - states[1].eigenvalue
    end)
  end
  function second.search()
    local plan = searching()
    local first, other = plan(-1), plan(1)
    local epsilon = math.sqrt(2 * math.max(charged(first) - first.lines["gradient costs"], 1e-12))
    return compare(first, other, 30000, pn.event.pure { epsilon = epsilon }, function(run, rng)
      return math.abs(first_state(run, rng).step_size / SHORTEST - 1) < 1e-9
    end)
  end
  -- A loss of label/2 + something, and steps whose promise of 0.25 each leaves as many as the released value says.
  function second.value()
    local loss = pn.loss.glm(function(z, y) return y / 2 + pn.sqrt(1 + z ^ 2) end, { labels = { lo = -1, hi = 1 } })
    local function plan(labels)
      return pn.solve.second_order.plan(line(labels, loss), { rho = 1, value_share = 0.5, floor = 0, start = { 0 },
        smoothness = 1e-6, hessian_lipschitz = 1, tolerance = { gradient = 8.7e-4, hessian = 10 }, failure = 0.99 })
    end
    local first, other = plan { 1, 1 }, plan { 1, -1 }
    return compare(first, other, 12000, 2 * charged(first) - 1, function(run, rng) -- of the rest, half is for Hessians
      return #walk(run, rng, ledger)
    end)
  end
  function second.batch() -- the price of a batch is no rho: its event, as the ledger names it
    local function plan(labels)
      return pn.solve.second_order.plan(line(labels, huber), { epsilon = 2, delta = DELTA, batch = 1, iterations = 1,
        start = { 0 }, gap = 1, smoothness = 1, hessian_lipschitz = 1, tolerance = { gradient = LOW, hessian = 1 } })
    end
    local first, other, budget = plan { FAR, -FAR }, plan { -FAR, -FAR }, pn.ledger { epsilon = 9, delta = DELTA, teaching = true }
    walk(first, pn.rng.seeded(1), budget)
    local row = budget:report()[1]
    local pattern = "^fixed_sampled%(batch=1, n=2, event=gaussian%(sigma=([%d.e-]+), sensitivity=([%d.e-]+)"
    local sigma, sensitivity = row.event:match(pattern)
    local event = pn.event.gaussian { sigma = tonumber(sigma), sensitivity = tonumber(sensitivity) }
    return audit(function(run, rng)
      return run:run { rng = rng, progress = false }.theta[1]
    end, { neighbours = { first, other }, trials = 10000, delta = DELTA,
      event = pn.event.fixed_sampled { batch = 1, n = 2, event = event } })
  end
  function second.spent()
    for _, branch in ipairs(branches) do
      local wrong = wrong_total(branch)
      if wrong then return true, wrong end
    end
    return false, "all"
  end
  function second.order() -- gradient, search; gradient, Hessian, search
    local downhill = second_order(up, LOW, { line_search = true })
    local bent = second_order(line({ -1, -1 }, bowl, downwards), 1e9, { line_search = true })
    local third = downhill.lines["gradient costs"]
    local leaked, numbers = refuses(downhill, { third, third })
    if leaked then return leaked, numbers end
    return refuses(bent, { third, third, third })
  end

  -- A record moves the gradient by nearly all, and the Hessian by as much as convex losses of one number allow, 1/sqrt(2) of what
  -- is charged for: together 0.86 of the whole mu.
  local third = {}
  local flat, curved = line({ FAR, FAR }, huber), line({ -0.99, FAR }, huber)
  function third.law()
    local first, other = trust_region(curved), trust_region(flat)
    return compare(first, other, 40000, charged(first), function(run, rng)
      local state = first_state(run, rng)
      return gradient_at(state, 0) + state.eigenvalue
    end)
  end
  function third.hessian()
    local first, other = trust_region(dome), trust_region(saddle)
    return compare(first, other, 20000, charged(first) / 2, function(run, rng)
      return first_state(run, rng).eigenvalue
    end)
  end
  function third.reuse()
    return reused(trust_region(up), trust_region(still), function(run, rng)
      return gradient_at(first_state(run, rng), 0)
    end)
  end
  function third.order() -- both charges or none
    local plan = trust_region(up)
    local half = 1 / (2 * plan.lines["multiplier z"] ^ 2)
    return refuses(plan, { half, half }, true)
  end

  local fourth = {}
  local null = objective({ { 0 }, { 1 } }, { 0, FAR }, huber) -- whose first record has neither slope nor curvature at 0
  local bent = objective({ { 1 }, { 1 } }, { 0, FAR }, huber)
  local function rho_of(plan, sensitivity, noise)
    return (plan.lines[sensitivity] / plan.lines[noise]) ^ 2 / 2
  end
  local function hessian_rho(plan)
    return rho_of(plan, "sensitivity D_H", plan.lines["majorant noise"] and "majorant noise" or "Hessian noise")
  end
  function fourth.law()
    local first, other = newton(up), newton(apart)
    return compare(first, other, 20000, charged(first) - hessian_rho(first), function(run, rng)
      return gradient_at(first_state(run, rng), 0)
    end)
  end
  function fourth.hessian()
    local first, other = newton(bent, { rho = 6 }), newton(null, { rho = 6 })
    return compare(first, other, 40000, hessian_rho(first), function(run, rng)
      return first_state(run, rng).eigenvalue
    end)
  end
  function fourth.steps() -- and the second gradient, which comes with a gain of about a half
    local first, other = newton(up, { iterations = 2 }), newton(apart, { iterations = 2 })
    return compare(first, other, 10000, charged(first) - hessian_rho(first), function(run, rng)
      local states = walk(run, rng, ledger)
      return gradient_at(states[1], 0) + 1.25 * gradient_at(states[2], states[1].theta[1])
    end)
  end
  function fourth.order()
    local plan = newton(up)
    return refuses(plan, { rho_of(plan, "D_g at the start", "start noise"), hessian_rho(plan) }, true)
  end

  return {
    second_order = function() return second end,
    trust_region = function() return third end,
    newton = function() return fourth end,
  }
end
