-- mutants.lua -- adversarial audits of every mechanism, for a module that may carry a deliberate fault (core/mutant.h).
-- Usage: lua mutants.lua MECHANISM KIND [SHARE]; prints one line, "caught" or "passed" and numbers.
--   law    repeated releases on the two data sets that this mechanism tells apart best
--   reuse  releases from which the same noise, used twice, would cancel, or would decide alone
--   steps  the same of the second step of a solver
--   order  a release that the ledger refuses must give nothing
-- Depends on: penumbra, mutants_continual.lua, mutants_second_order.lua, mutants_least_squares.lua, mutants_oracle.lua,
-- mutants_paid.lua, mutants_tune.lua.  Used by: mutants_spec.lua.
local pn = require "penumbra"

local CONFIDENCE = 1 - 1e-8
local share = tonumber(arg[3] or 1) -- of the trials, for faults that show sooner

local function teaching()
  return pn.ledger { rho = 1e12, teaching = true }
end

local function audit(f, options)
  if options.trials > 1000 then options.trials = math.floor(options.trials * share) end -- few are taken whole
  options.confidence, options.rng, options.progress = options.confidence or CONFIDENCE, pn.rng.seeded(20), false
  local result = pn.audit(f, options)
  return result.violated, ("%.4f %.4f"):format(result.epsilon_lower, result.claimed)
end

-- Something came out although the ledger, which has less than any of the mechanisms here costs, refuses.
local function refuses(m, x)
  local ledger = pn.ledger { rho = 1e-6, teaching = true }
  local released = pcall(m.release, m, x, { ledger = ledger, rng = pn.rng.seeded(1) })
  return released, ("spent %g"):format(ledger.spent)
end

local function releaser(m)
  local options = { ledger = teaching() }
  return function(x, rng)
    options.rng = rng
    return (m:release(x, options))
  end
end

-- ---- noise added to a number ----

local function additive(m, trials, delta)
  local release = releaser(m)
  local function options(count)
    return { neighbours = { 0, 1 }, trials = count, delta = delta, event = m.event }
  end
  return {
    law = function()
      return audit(release, options(trials))
    end,
    reuse = function() -- the second release holds nothing private: what it shares with the first, it gives away
      return audit(function(x, rng)
        return release(x, rng) - release(0, rng)
      end, options(2000))
    end,
    order = function()
      return refuses(m, 1)
    end,
  }
end

-- Gaussian noise is audited where delta is large, because there an event that tells is not rare.
local DELTA = 0.1

-- ---- a choice among scores ----

-- first, second: neighbouring scores at which the choice of candidate 1 is as telling as it gets.
local function selection(m, first, second, trials)
  local release = releaser(m)
  return {
    law = function()
      return audit(function(scores, rng)
        return release(scores, rng) == 1
      end, { neighbours = { first, second }, trials = trials, event = m.event })
    end,
    reuse = function() -- with known noise some public offset of candidate 1 decides between the two
      return audit(function(scores, rng)
        local offset, moved = rng:integer(16), {}
        for i, score in ipairs(scores) do
          moved[i] = score + (i == 1 and offset / 2 - 4.25 or 0)
        end
        return offset .. ":" .. release(moved, rng)
      end, { neighbours = { first, second }, trials = 16000, event = m.event })
    end,
    order = function()
      return refuses(m, first)
    end,
  }
end

-- ---- sparse vector ----

-- Ten values that all move up and one that moves down: "ten times below, then above" needs a high threshold and high noise.
local function sparse_vector()
  local m = pn.mechanism.sparse_vector { epsilon = 3, sensitivity = 1 }
  local release = releaser(m)
  local function stream(low, last)
    local values = {}
    for i = 1, 10 do
      values[i] = low
    end
    values[11] = last
    return values
  end
  return {
    law = function()
      return audit(function(values, rng)
        return release(values, rng)[11] == true
      end, { neighbours = { stream(-0.5, 0.5), stream(0.5, -0.5) }, trials = 520000, event = m.event })
    end,
    reuse = function()
      return audit(function(value, rng)
        local offset = rng:integer(16)
        return offset .. ":" .. tostring(release({ value + offset / 2 - 4.25 }, rng)[1])
      end, { neighbours = { 0, 1 }, trials = 16000, event = m.event })
    end,
    order = function()
      return refuses(m, { 0, 1 })
    end,
  }
end

-- ---- a solver ----

-- Frank-Wolfe on an interval has two vertices and, in one step, makes one choice between them.
local function frank_wolfe()
  local function objective(labels)
    local data = pn.data.from({ { 1 }, { 1 } }, labels):clip_rows("linf", 1):clip_labels(-1, 1)
    return pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 1, radius = 0.01 } }
  end
  local function plan(labels, steps)
    return pn.solve.frank_wolfe.plan(objective(labels),
      { epsilon = 2, iterations = steps, selection = "permute_and_flip" })
  end
  local ledger = teaching()
  local function up(run, rng)
    return run:run { ledger = ledger, rng = rng, progress = false }.theta[1] > 0
  end
  return {
    law = function()
      return audit(up, { neighbours = { plan({ 1, 1 }, 1), plan({ 1, -1 }, 1) }, trials = 40000, epsilon = 2 })
    end,
    reuse = function()
      local neighbours = { {}, {} }
      for offset = 1, 8 do
        for i, y in ipairs { 1, -1 } do
          neighbours[i][offset] = plan({ (offset - 4.5) / 4, y }, 1)
        end
      end
      return audit(function(plans, rng)
        local offset = rng:integer(8)
        return offset .. ":" .. tostring(up(plans[offset], rng))
      end, { neighbours = neighbours, trials = 6000, epsilon = 2 })
    end,
    order = function() -- the budget ends after the first step
      local budget, steps = pn.ledger { epsilon = 2, teaching = true }, 0
      local finished = pcall(function()
        local walk = plan({ 1, 1 }, 2):steps { ledger = budget, rng = pn.rng.seeded(1) }
        for _ in walk do
          steps = steps + 1
          budget:close()
        end
      end)
      return finished or steps > 1, ("steps %d"):format(steps)
    end,
  }
end

-- Output perturbation of one number: two records, one of them null, the other pulls it one way or the other, without end.
local function output_perturbation()
  local function plan(label)
    local data = pn.data.from({ { label ~= 0 and 1 or 0 }, { 0 } }, { label, 0 }):clip_rows("l2", 1)
    return pn.solve.output_perturbation.plan(pn.objective { data = data, loss = pn.loss.huber { delta = 1 } },
      { epsilon = 1, delta = DELTA, iterations = 1, step = 1 })
  end
  local ledger = teaching()
  local function released(run, rng)
    return run:run { ledger = ledger, rng = rng, progress = false }.theta[1]
  end
  local up, still, down = plan(1e6), plan(0), plan(-1e6)
  local function options(trials)
    return { neighbours = { up, down }, trials = trials, delta = DELTA, event = up.event }
  end
  return {
    law = function()
      return audit(released, options(60000))
    end,
    reuse = function()
      return audit(function(run, rng)
        return released(run, rng) - released(still, rng)
      end, options(2000))
    end,
  }
end

-- Descent on the line with steps of 1: the first shows the mean of two clipped gradients of size 1, which is all that it claims.
local function descent(solver, own)
  local function plan(labels, steps, more)
    local data = pn.data.from({ { 1 }, { 1 } }, labels):clip_rows("linf", 1)
    local objective = pn.objective { data = data, loss = pn.loss.squared(), clip = 1 }
    local all = { epsilon = 1, delta = DELTA, iterations = steps, start = { 0 } }
    for _, options in ipairs { own, more } do
      for name, value in pairs(options) do all[name] = value end
    end
    return pn.solve[solver].plan(objective, all)
  end
  local ledger = teaching()
  local function answer(run, rng)
    local ok, fit = pcall(run.run, run, { ledger = ledger, rng = rng, progress = false })
    return ok and fit.theta[1] or 1e6 -- a run that fails shows that, too
  end
  local function options(neighbours, trials)
    return { neighbours = neighbours, trials = trials, delta = DELTA, epsilon = 1 }
  end
  return {
    law = function()
      return audit(answer, options({ plan({ 4, 4 }, 1), plan({ 4, -4 }, 1) }, 60000))
    end,
    printed = function() -- the y-step of accelerated mirror descent alone
      local first, second = plan({ 4, 4 }, 1, { ystep = "printed" }), plan({ 4, -4 }, 1, { ystep = "printed" })
      return audit(answer, options({ first, second }, 4000))
    end,
    reuse = function()
      local public = plan({ 4, -4 }, 1)
      return audit(function(run, rng)
        return answer(run, rng) - answer(public, rng)
      end, options({ plan({ 4, 4 }, 1), public }, 2000))
    end,
    steps = function() -- without noise the second step goes from any point within 1 of the labels onto them
      return audit(function(run, rng)
        return math.abs(answer(run, rng) - 1) < 0.01
      end, options({ plan({ 1, 1 }, 2), plan({ 1, -1 }, 2) }, 4000))
    end,
    order = function() -- the budget ends after the first step
      local budget, steps = pn.ledger { epsilon = 2, delta = DELTA, teaching = true }, 0
      local finished = pcall(function()
        local walk = plan({ 1, 1 }, 2):steps { ledger = budget, rng = pn.rng.seeded(1) }
        for _ in walk do
          steps = steps + 1
          budget:close()
        end
      end)
      return finished or steps > 1, ("steps %d"):format(steps)
    end,
  }
end

-- One step on one of two records, where the other one pulls down and this one pulls up, or down like it: as bad as batches get.
local function sgd()
  local function plan(labels, options)
    local rows = {}
    for i, label in ipairs(labels) do rows[i] = { label ~= 0 and 1 or 0 } end
    local data = pn.data.from(rows, labels):clip_rows("l2", 1)
    for name, value in pairs { batch = 1, step = 1, output = "last" } do options[name] = value end
    return pn.solve.sgd.plan(pn.objective { data = data, loss = pn.loss.huber { delta = 1 } }, options)
  end
  local function tight(labels)
    return plan(labels, { epsilon = 1, delta = DELTA, iterations = 1, accountant = "pld" })
  end
  local function released(run, rng) -- each run with a budget of its own: the price of a loss distribution is no sum
    return run:run { rng = rng, progress = false }.theta[1]
  end
  local apart, alike, still = tight { 1e6, -1e6 }, tight { -1e6, -1e6 }, tight { 0, 0 }
  local function options(trials)
    return { neighbours = { apart, alike }, trials = trials, delta = DELTA, event = apart.event }
  end
  return {
    law = function()
      return audit(released, options(40000))
    end,
    reuse = function()
      return audit(function(run, rng)
        return released(run, rng) - released(still, rng)
      end, options(2000))
    end,
    batches = function() -- 18 steps of constant slopes: their sum would tell more if the batch were the same one each time
      local function long(first)
        return plan({ first, 1e6, 1e6, 1e6 }, { epsilon = 1, delta = DELTA, iterations = 18, accountant = "pld" })
      end
      return audit(released, { neighbours = { long(1e6), long(-1e6) }, trials = 30000, delta = DELTA, epsilon = 1 })
    end,
    order = function() -- the budget ends after the first step
      local budget, steps = pn.ledger { epsilon = 2, delta = DELTA, teaching = true }, 0
      local finished = pcall(function()
        for _ in plan({ 1e6, -1e6 }, { epsilon = 2, delta = DELTA, iterations = 2 }):steps {
          ledger = budget, rng = pn.rng.seeded(1) } do
          steps = steps + 1
          budget:close()
        end
      end)
      return finished or steps > 1, ("steps %d"):format(steps)
    end,
  }
end

-- Variance reduction in the plane.  Everything that a run shows passes through a proximal step, and here that is the analyst's: it
-- notes each point it is given and answers as it likes, so that one run shows v + noise in its first step and differences + noise
-- in the others.  Snapshots are at 0; the iterates of all other steps are at (apart, 0).  Records lie nearly across that line, on
-- one side of it or the other, where differences of gradients of convex losses are as unlike as they get.
local function reduced(solver, how)
  local side = math.sqrt(1 - how.along ^ 2)
  local at, seen = pn.vec { how.apart, 0 }, {}
  local function look(v)
    seen[#seen + 1] = -v[2] -- steps are of size 1, and all points have a 0 there
    return at
  end
  local function plan(sides)
    local rows, labels = {}, {}
    for i, s in ipairs(sides) do
      rows[i] = s == 0 and { 0, 0 } or { how.along, s * side }
      labels[i] = s == 0 and 0 or how.label
    end
    local data = pn.data.from(rows, labels):clip_rows("l2", 1)
    local options = { step = 1, tail = 0, restart = "last", start = { 0, 0 }, prox = pn.prox.custom { prox = look, dim = 2 } }
    for name, value in pairs(how.options) do options[name] = value end
    options.inner = solver == "svrg_pp" and how.steps // 2 or how.steps
    return pn.solve[solver].plan(pn.objective { data = data, loss = pn.loss.huber { delta = 1 } }, options)
  end
  local function directions(run, rng) -- of the steps, one after the other
    seen = {}
    run:run { rng = rng, progress = false }
    return seen
  end
  return plan, directions
end

-- v: half of a sum of two gradients of length 1, one of which is turned around.
local function snapshots(solver)
  local plan, directions = reduced(solver, { along = 0, apart = 1, label = 1e6, steps = 2, options = {
    epsilon = 1, delta = DELTA, epochs = 1, batch = 2, anchor_share = 0.98, accountant = "pld" } })
  local up, down, still = plan { 1, 0 }, plan { -1, 0 }, plan { 0, 0 }
  local function released(run, rng)
    return directions(run, rng)[1]
  end
  local function options(trials)
    return { neighbours = { up, down }, trials = trials, delta = DELTA, epsilon = 1 }
  end
  return {
    law = function()
      return audit(released, options(60000))
    end,
    reuse = function()
      return audit(function(run, rng)
        return released(run, rng) - released(still, rng)
      end, options(2000))
    end,
    order = function() -- the budget ends after the first epoch
      local budget, epochs = pn.ledger { epsilon = 2, delta = DELTA, teaching = true }, 0
      local twice = up:with { epsilon = 2, epochs = 2, anchor_share = 0.5, accountant = "rdp" }
      local finished = pcall(function()
        for _ in twice:steps { ledger = budget, rng = pn.rng.seeded(1) } do
          epochs = epochs + 1
          budget:close()
        end
      end)
      return finished or epochs > 1, ("epochs %d"):format(epochs)
    end,
  }
end

-- The differences of 18 steps, of which the first is made at the snapshot and shows nothing: each record's is of length 2 tau
-- before it is clipped, and then 1.96 tau from its neighbour's.
local function differences(solver, batch, sides, trials, relation)
  local plan, directions = reduced(solver, { along = 0.2, apart = 1, label = 0, steps = 18, options = { neighbours = relation,
    epsilon = 1, delta = DELTA, epochs = 1, batch = batch, anchor_share = 0.01, accountant = "pld", reach = 0.1 } })
  local neighbours = { plan(sides[1]), plan(sides[2]) }
  return function()
    return audit(function(run, rng)
      local along, sum = directions(run, rng), 0
      for t = 2, #along do sum = sum + along[t] - along[1] end
      return sum
    end, { neighbours = neighbours, trials = trials, delta = DELTA, epsilon = 1 })
  end
end

-- The printed form, whose price is far above what any two data sets show: at least its noise is what the plan says, here on
-- records that say nothing.  3600 draws: the ratio of variances is below 0.87 with chance 1e-8.
local function printed(solver)
  local plan, directions = reduced(solver, { along = 0, apart = 0, label = 0, steps = 18, options = {
    epsilon = 1, delta = DELTA, epochs = 1, batch = 1, form = "printed" } })
  return function()
    local run, rng, sum = plan { 0, 0, 0, 0 }, pn.rng.seeded(20), 0
    for _ = 1, 200 do
      for _, along in ipairs(directions(run, rng)) do sum = sum + (along / run.sigma) ^ 2 end
    end
    return sum / 3600 < 0.87, ("%.4f"):format(sum / 3600)
  end
end

local function variance_reduced(solver)
  local kinds = snapshots(solver)
  kinds.inner = differences(solver, 2, { { 1, 0 }, { -1, 0 } }, 12000)
  kinds.printed = printed(solver)
  -- a coin of rate 1/2 for each of two records, of which one becomes null
  kinds.coins = differences(solver, 1, { { 1, 0 }, { 0, 0 } }, 30000, "zero_out")
  -- one of four at a time: the sum tells less than it would, were it the same one each time
  kinds.batches = differences(solver, 1, { { 1, 1, 1, 1 }, { -1, 1, 1, 1 } }, 30000)
  return kinds
end

-- ---- the table: each where it is nearly tight ----

local mechanisms = {
  gaussian = function()
    return additive(pn.mechanism.gaussian { sigma = 1, sensitivity = 1 }, 60000, DELTA)
  end,
  analytic_gaussian = function()
    return additive(pn.mechanism.analytic_gaussian { epsilon = 1, delta = DELTA, sensitivity = 1 }, 60000, DELTA)
  end,
  laplace = function()
    return additive(pn.mechanism.laplace { epsilon = 2, sensitivity = 1 }, 40000, 0)
  end,
  permute_and_flip = function()
    local m = pn.mechanism.permute_and_flip { epsilon = 2, sensitivity = 1 }
    return selection(m, { 0, 0 }, { -1, 1 }, 40000)
  end,
  report_noisy_max = function() -- Laplace noise: with four candidates the best of the others is above 0 nearly always
    local m = pn.mechanism.report_noisy_max { scale = 1, sensitivity = 1 }
    return selection(m, { 0, 0, 0, 0 }, { -1, 1, 1, 1 }, 100000)
  end,
  exponential = function() -- tight where the choice is rare
    local m = pn.mechanism.exponential { epsilon = 3, sensitivity = 1 }
    return selection(m, { 0, 0.7 }, { -1, 1.7 }, 200000)
  end,
  sparse_vector = sparse_vector,
  frank_wolfe = frank_wolfe,
  output_perturbation = output_perturbation,
  gradient_descent = function()
    return descent("gradient_descent", { step = 1, output = "last" })
  end,
  accelerated_mirror_descent = function() -- of whose steps 2 makes the first and the second of two this long
    return descent("accelerated_mirror_descent", { step = 2 })
  end,
  sgd = sgd,
  svrg = function()
    return variance_reduced("svrg")
  end,
  svrg_pp = function()
    return variance_reduced("svrg_pp")
  end,
}

for _, room in ipairs { "continual", "second_order", "least_squares", "oracle", "paid", "tune" } do
  for name, make in pairs(require("tests.regress.mutants_" .. room)(audit, teaching)) do
    mechanisms[name] = make
  end
end

local caught, numbers = mechanisms[arg[1]]()[arg[2]]()
print(caught and "caught" or "passed", numbers)
