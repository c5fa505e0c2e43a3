-- stopped_runs_spec.lua -- a run that somebody stops states what holds wherever he stops it.  Runs that were stopped once stated
-- the price of the steps taken, which holds only for a number of steps that was fixed before the first.
local pn = require "penumbra"

local data = pn.data.synthetic.lasso { n = 400, p = 3, seed = 1 }:clip_rows("linf", 1):clip_labels(-1, 1)
local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 3, radius = 1 } }
local free = pn.objective { data = data, loss = pn.loss.squared(), clip = 1 }
local polytope = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 3, radius = 1 } }

-- ---- the attack: the best of all rules for when to stop ----

local STEP, LOW, HIGH = 0.04, -6, 8
local POINTS = math.floor((HIGH - LOW) / STEP + 0.5) + 1

-- The law of a step's privacy loss, N(mu^2/2, mu^2), on the grid.
local function kernel_of(mu)
  local reach, weights, sum = math.ceil((7 * mu + mu * mu / 2) / STEP), {}, 0
  for j = -reach, reach do
    weights[j] = math.exp(-((j * STEP - mu * mu / 2) / mu) ^ 2 / 2)
    sum = sum + weights[j]
  end
  for j = -reach, reach do weights[j] = weights[j] / sum end
  return weights, reach
end

-- max over stopping times t of E (1 - exp(stated[t] - L_t))_+, L_t the loss of the first t steps: the hockey-stick divergence
-- of all that the one who stops has seen, at the epsilon that is stated to him.  By backward induction over the loss so far.
local function worst_divergence(mu, stated)
  local weights, reach = kernel_of(mu)
  local value = {}
  for i = 1, POINTS do value[i] = 0 end
  for t = #stated, 0, -1 do
    local now = {}
    for i = 1, POINTS do
      local go_on = 0
      if t < #stated then
        for j = -reach, reach do
          go_on = go_on + weights[j] * value[math.min(math.max(i + j, 1), POINTS)]
        end
      end
      local stop = t > 0 and 1 - math.exp(stated[t] - (LOW + (i - 1) * STEP)) or 0
      now[i] = math.max(stop, go_on, 0)
    end
    value = now
  end
  return value[math.floor(-LOW / STEP + 0.5) + 1]
end

describe("the epsilon of a run that is stopped when its releases are telling", function()
  -- Exact, so without false alarms.  Every step is one Gaussian release of the same mu (charged_rho is t mu^2/2), and the iterates
  -- tell all of it.  The grid is right to 0.2%: .00999 at the plan's epsilon, whatever the rule; .0317 at the price of the steps.
  local steps, delta = 30, 0.01

  it("holds at every stopping time, and the price of the steps taken does not", function()
    local plan = pn.solve.gradient_descent.plan(objective, { epsilon = 2, delta = delta, iterations = steps })
    local walk, stated, charged, mu = plan:steps(), {}, {}, nil
    for t = 1, steps do
      walk:step()
      local privacy = walk:fit().privacy
      stated[t], charged[t] = privacy.epsilon, privacy.charged_epsilon or privacy.epsilon
      mu = math.sqrt(2 * (privacy.charged_rho or privacy.rho) / t)
    end
    assert.is_near(2, plan.epsilon, 1e-3)
    local whole = worst_divergence(mu, stated)
    assert.is_true(whole <= 1.005 * delta, ("divergence %.4f at the stated epsilon, delta %.2f"):format(whole, delta))
    assert.is_true(whole >= 0.99 * delta, "the grid sees nothing")
    local naive = worst_divergence(mu, charged)
    assert.is_true(naive > 3 * delta, ("%.4f: the attack has no power"):format(naive))
  end)
end)

-- ---- every way to stop, every kind of solver ----

local solvers = {
  { "gradient_descent", objective, {} }, { "sgd", objective, { batch = 40 } }, { "frank_wolfe", polytope, {} },
  { "sgd", objective, { batch = 40, accountant = "pld" } }, { "mirror_descent", objective, {} },
  { "accelerated_mirror_descent", objective, {} }, { "newton", objective, {} }, { "svrg", objective, { iterations = 60 } },
  { "zeroth_order", free, { iterations = false, rounds = 4, first_batch = 8, batch = 4, epochs = 2, passes = 3 } },
}

local budgets = { { epsilon = 1, delta = 1e-6 }, { rho = 0.1 } }

local function plan_of(case, budget)
  local options = { iterations = 8 }
  for _, more in ipairs { case[3], budget } do
    for name, value in pairs(more) do options[name] = value or nil end
  end
  return pn.solve[case[1]].plan(case[2], options)
end

-- Ways to end a run after its second step; each returns the fit and the ledger.
local function stopping(seen)
  return function(state)
    seen[#seen + 1] = state.step
    return #seen < 2
  end
end

local ways = {
  { "on_step returns false", function(plan, ledger)
    return plan:run { ledger = ledger, on_step = stopping {} }
  end },
  { "the walk is left", function(plan, ledger)
    local walk = plan:steps { ledger = ledger }
    walk:step()
    walk:step()
    return walk:fit()
  end },
  { "another one takes the budget", function(plan, ledger)
    local other = 0
    local fit = plan:run { ledger = ledger, on_step = function(state)
      if state.step == 2 then
        other = ledger.remaining * (1 - 1e-9)
        ledger:spend(pn.event.zcdp { rho = other }, "another")
      end
    end }
    return fit, other
  end, only_rho = true },
}

local function ledger_for(budget)
  if budget.rho then return pn.ledger { rho = 1 } end
  return pn.ledger { epsilon = 50, delta = 1e-3 }
end

local function states_the_plan(plan, fit, charged)
  local privacy = fit.privacy
  assert.is_true(fit.steps < plan.iterations)
  assert.equal(plan.epsilon, privacy.epsilon)
  assert.equal(plan.rho, privacy.rho)
  if charged then assert.is_near(charged, privacy.charged_rho or privacy.rho, 1e-9) end
end

describe("a run that is stopped", function()
  for _, case in ipairs(solvers) do
    for _, budget in ipairs(budgets) do
      for _, way in ipairs(ways) do
        local possible = budget.rho and case[3].accountant == nil or not budget.rho and not way.only_rho
        local what = ("%s %s, in %s, when %s"):format(case[1], case[3].accountant or "", budget.rho and "rho" or "epsilon", way[1])
        if possible then
          it("states its whole plan, and its ledger what was charged: " .. what, function()
            local plan, ledger = plan_of(case, budget), ledger_for(budget)
            local fit, other = way[2](plan, ledger)
            states_the_plan(plan, fit, budget.rho and ledger.spent - (other or 0))
          end)
        end
      end
    end
  end

  it("says so in its print-out, and in that of its model file", function()
    local plan = pn.solve.gradient_descent.plan(objective, { epsilon = 1, delta = 1e-6, iterations = 8 })
    local walk = plan:steps()
    walk:step()
    local words = "this epsilon is the whole plan's, because whoever stopped the run\n           could see what it had released"
    assert.truthy(tostring(walk:fit()):find(words, 1, true))
    local paid = ("\n  paid     epsilon = %.4g, delta = 1e-06: the price of 1 step\n"):format(walk:fit().privacy.charged_epsilon)
    assert.truthy(tostring(walk:fit()):find(paid, 1, true))
    assert.is_true(walk:fit().privacy.charged_epsilon < 0.5 * plan.epsilon)
    local path = os.tmpname()
    walk:fit():save(path)
    local loaded = pn.load(path)
    os.remove(path)
    assert.equal(plan.epsilon, loaded.privacy.epsilon)
    assert.truthy(tostring(loaded):find(words, 1, true))
    assert.truthy(tostring(loaded):find(paid, 1, true))
    assert.is_nil(tostring(plan:run()):find("whole plan", 1, true))
    assert.is_nil(tostring(plan:run()):find("  paid ", 1, true))
    local rho = pn.solve.gradient_descent.plan(objective, { rho = 0.1, iterations = 8 })
    local stopped = rho:run { on_step = stopping {} }
    assert.truthy(tostring(stopped):find("this rho is the whole plan's", 1, true))
    assert.truthy(tostring(stopped):find(("  paid     rho = %.4g: "):format(stopped.privacy.charged_rho), 1, true))
  end)

  it("states 0 when it was stopped before its first release", function()
    local fit = pn.solve.gradient_descent.plan(objective, { rho = 0.1, iterations = 8 }):steps():fit()
    assert.equal(0, fit.privacy.rho)
    assert.is_nil(tostring(fit):find("whole plan", 1, true))
  end)

  it("states nothing without privacy, and a walk to the end states what the run does", function()
    local exact = pn.solve.gradient_descent.plan(objective, { privacy = false, iterations = 8 })
    assert.is_nil(exact:run { on_step = stopping {} }.privacy)
    local plan = pn.solve.gradient_descent.plan(objective, { epsilon = 1, delta = 1e-6, iterations = 8 })
    local walk = plan:steps()
    for _ in walk do end
    assert.same(plan:run().privacy, walk:fit().privacy)
    assert.is_nil(walk:fit().privacy.charged_epsilon)
  end)

  it("states its whole plan to a curator's analyst", function()
    local ledger = pn.ledger { epsilon = 5, delta = 1e-5 }
    local curator = pn.curator { data = { people = data }, ledger = ledger, process = false }
    local result = curator:run([[
      local o = pn.objective{data=data.people, loss=pn.loss.squared(), set=pn.set.l2_ball{dim=3, radius=1}}
      local plan = pn.solve.gradient_descent.plan(o, {epsilon=1, delta=1e-6, iterations=8})
      local walk = plan:steps()
      walk:step()
      return walk:fit().privacy.epsilon == plan.epsilon]], "analyst")
    assert.equal("true", result.answer, result.error)
  end)
end)
