-- lsolver_spec.lua -- solvers of a user's own: definitions, plans, runs, walks, how they end, and what the rest of the library
-- makes of them.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

local data = pn.data.synthetic.logistic { n = 400, p = 3, seed = 4 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 3, radius = 1 } }
local budget = { epsilon = 1, delta = 1e-6, iterations = 5, progress = false }

local function with(options)
  local out = {}
  for k, v in pairs(budget) do out[k] = v end
  for k, v in pairs(options) do out[k] = v end
  return out
end

local function solver(step, more)
  local parts = { name = "mine", step = step }
  for k, v in pairs(more or {}) do parts[k] = v end
  return pn.solver(parts)
end

local function descend(s, ask)
  s.x = s.set:project(s.x - 0.5 * ask:gradient(s.x))
end

describe("a definition", function()
  it("is refused with what is wrong", function()
    local function step() end
    refused("pn.solver: step must be a function, got nil", pn.solver, { name = "s" })
    refused("pn.solver: step must be a function, got ", pn.solver, { name = "s", step = 3 })
    refused("pn.solver: start must be a function", pn.solver, { name = "s", step = step, start = {} })
    refused("pn.solver: answer must be a function", pn.solver, { name = "s", step = step, answer = 1 })
    refused("pn.solver: name must be 1 to 31 letters, digits or _, got nil", pn.solver, { step = step })
    refused("pn.solver: name must be 1 to 31 letters", pn.solver, { name = "a b", step = step })
    refused("pn.solver: name must be 1 to 31 letters", pn.solver, { name = ("a"):rep(32), step = step })
    refused("pn.solver: unknown field the string \"stp\"", pn.solver, { name = "s", step = step, stp = step })
    refused("pn.solver: options must be a table", pn.solver, { name = "s", step = step, options = 3 })
    refused("pn.solver: options are named, got the key 1", pn.solver, { name = "s", step = step, options = { 3 } })
    refused("pn.solver: options.iterations must be a whole number from 1, got the string \"a\"", pn.solver,
      { name = "s", step = step, options = { iterations = "a" } })
    refused("pn.solver: about must be a table with names as keys, got 3", pn.solver, { name = "s", step = step, about = 3 })
    refused("pn.solver: expected a table, as pn.solver{name=, step=}, got 3", pn.solver, 3)
    local many = {}
    for i = 1, 24 do many["option" .. i] = i end
    pn.solver { name = "s", step = step, options = many }
    many.one_more = 1
    refused("pn.solver: options has more than 24 names", pn.solver, { name = "s", step = step, options = many })
    for _, name in ipairs { "epsilon", "rho", "privacy", "start", "ledger", "rng", "progress", "on_step" } do
      refused(("pn.solver: every solver has the option '%s'; take another name"):format(name), pn.solver,
        { name = "s", step = step, options = { [name] = 1 } })
    end
  end)

  it("is what it was when it was made, and says which options it has", function()
    local options, about = { rate = 0.5, deep = 2 }, { rate = "length of a step" }
    local own = pn.solver { name = "mine", doc = "Steps.", step = descend, options = options, about = about }
    options[true], options[2], options.epsilon, about.deep = 1, 3, 4, "changed later"
    local calls = "    mine(obj, {epsilon=, delta=, iterations=}) fits, mine.plan(obj, ...) plans"
    assert.equal("solver mine: Steps.\n" .. calls .. "\n    deep = 2\n    rate = 0.5: length of a step", tostring(own))
    assert.equal(5, own.plan(obj, budget).iterations)
    assert.equal("solver mine\n" .. calls, tostring(solver(descend)))
  end)

  it("is refused by a plan that cannot be made", function()
    refused("mine: the number of steps is missing; give iterations=", solver(descend), obj, { epsilon = 1, delta = 1e-6 })
    refused("mine: the step asks nothing of the records", solver(function() end), obj, budget)
    refused("mine: queries must be a table", solver(descend, { queries = 3 }), obj, budget)
    refused("mine: queries: there is no question the string \"foo\"; there are gradient, moment,",
      solver(descend, { queries = { foo = 1 } }), obj, budget)
    refused("mine: queries: mean is priced by its arguments", solver(descend, { queries = { mean = 1 } }), obj, budget)
    refused("mine: Gaussian noise needs a delta", solver(descend), obj, { epsilon = 1, iterations = 3 })
    refused("mine: calibration must be \"tight\"", solver(descend), obj, with { calibration = "paper" })
    refused("unknown option 'rate'", solver(descend), obj, with { rate = 1 })
    refused("makes n secret", solver(descend), obj, with { neighbours = "add_remove" })
    refused("no privacy budget", solver(descend), obj, { iterations = 3 })
    refused("mine: expected a pn.objective", solver(descend), {}, budget)
    refused("are too many; a run asks at most 2^48 times", solver(descend, { queries = { gradient = { count = 2 ^ 32 } } }), obj,
      with { iterations = 2 ^ 32 })
  end)

  it("says which options there are, its own last and in order", function()
    local own = solver(descend, { options = { zeta = 1, iterations = 3, alpha = 2, mid = 3 } })
    refused("mine: unknown option 'foo'; it takes epsilon, delta, rho, privacy, neighbours, calibration, iterations, start, "
      .. "ledger, rng, progress, on_step, batch, accountant, alpha, mid, zeta", own, obj, with { foo = 1 })
  end)

  it("is refused where one of its functions plans or runs the same solver, and works again after", function()
    for _, inside in ipairs { "step", "start", "answer", "iterations" } do
      for _, way in ipairs { "plan", "call" } do
        local own, mistake = nil, true
        local parts = { name = "mine", step = descend }
        parts[inside] = function(s, ask)
          if mistake then return way == "plan" and own.plan(obj, budget) or own(obj, budget) end
          if inside == "step" then return descend(s, ask) end
          return inside == "answer" and s.x or 5
        end
        own = pn.solver(parts)
        local given = with {}
        if inside == "iterations" then given.iterations = nil end
        refused("mine: a step of mine plans or runs mine; it asks `ask`, and moves s.x", own, obj, given)
        mistake = false
        assert.equal(5, own(obj, given).steps)
      end
    end
  end)

  it("hands its own errors to the caller, from start, step and answer", function()
    local boom = { "boom" }
    local function raise() error(boom) end
    for _, parts in ipairs { { step = raise }, { step = descend, start = raise }, { step = descend, answer = raise } } do
      parts.name = "mine"
      local ok, err = pcall(pn.solver(parts), obj, budget)
      assert.is_false(ok)
      assert.equal(boom, err)
    end
  end)

  it("has options with defaults, and iterations among them", function()
    local seen
    local own = solver(function(s, ask) seen = s.options descend(s, ask) end, { options = { rate = 2, iterations = 7 } })
    assert.equal(7, own(obj, { epsilon = 1, delta = 1e-6, progress = false }).steps)
    assert.equal(2, seen.rate)
    own(obj, with { rate = 3 })
    assert.equal(3, seen.rate)
    assert.equal(3, own.plan(obj, with { iterations = 3 }).iterations)
  end)
end)

describe("s, of a step,", function()
  it("has what is public, and the oracle has, too", function()
    local s, a
    solver(function(state, ask)
      s, a = state, { n = ask.n, dim = ask.dim, relation = ask.relation, set = ask.set, noise = ask:noise "gradient",
        spent = ask.spent, left = ask.left, lipschitz = ask.bounds.lipschitz.l2 }
      descend(state, ask)
    end)(obj, budget)
    assert.equal(400, s.n)
    assert.equal(3, s.dim)
    assert.equal(5, s.steps)
    assert.equal(5, s.step)
    assert.equal("logistic", s.objective.loss)
    assert.equal(obj.bounds.smoothness, s.objective.bounds.smoothness)
    assert.equal(400, a.n)
    assert.equal("replace_one", a.relation)
    assert.equal(tostring(obj.set), tostring(a.set))
    assert.equal(obj.bounds.lipschitz.l2, a.lipschitz)
    assert.is_true(a.noise > 0 and a.spent > 0 and a.left > 0)
    for _, value in pairs(s) do assert.is_nil(tostring(value):find("objective", 1, true)) end
  end)

  it("has a set that is all of the space where there is none", function()
    local free = pn.objective { data = data, loss = pn.loss.logistic() }
    solver(function(s, ask)
      assert.equal(0, (s.set:project(pn.vec { 9, 9, 9 }) - pn.vec { 9, 9, 9 }):norm())
      descend(s, ask)
    end)(free, budget)
  end)

  it("begins at start=, or the centre of the set", function()
    local first
    local own = solver(function(s, ask)
      if s.step == 1 then first = s.x end
      descend(s, ask)
    end)
    own(obj, with { start = { 0.1, 0.2, 0.3 } })
    assert.same({ 0.1, 0.2, 0.3 }, { first[1], first[2], first[3] })
    own(obj, budget)
    assert.equal(0, first:norm())
    refused("start is not in the constraint set", own, obj, with { start = { 3, 0, 0 } })
  end)
end)

describe("a plan", function()
  it("is made again with other options, is printed, and says that it cannot be tuned", function()
    local plan = solver(descend, { options = { rate = 1 } }).plan(obj, budget)
    assert.near(2, plan:with({ epsilon = 2 }).epsilon, 1e-6)
    assert.equal(9, plan:with({ iterations = 9 }).iterations)
    assert.near(1, plan:with({ rate = 4 }).epsilon, 1e-6)
    assert.matches("gradient +[%d.e-]+ +noise on each of 3 numbers, once a step", tostring(plan))
    refused("plan:tune: plans of mine predict no risk; compare", plan.tune, plan, { iterations = { 2, 4 } })
  end)

  it("costs what it says, of several questions too, and spends nothing", function()
    local ledger = pn.ledger { epsilon = 2, delta = 1e-6 }
    local own = solver(function(s, ask)
      local g = ask:gradient(s.x, { batch = { scheme = "poisson", size = 40 } })
      ask:value(s.x)
      ask:hvp(s.x, { 1, 0, 0 }, { share = 2 })
      ask:choose { s.x, -s.x }
      s.x = s.set:project(s.x - g)
    end)
    local plan = own.plan(obj, with { ledger = ledger })
    assert.equal(0, ledger.spent)
    assert.is_true(plan.epsilon <= 1 and plan.epsilon > 0.999)
    local fit = plan:run { progress = false }
    assert.equal(plan.epsilon, fit.privacy.epsilon)
    assert.is_true(ledger.spent <= 1 + 1e-9 and ledger.spent > 0.8)
  end)

  it("gives a question of twice the share half of the noise", function()
    local noise = {}
    solver(function(s, ask)
      noise = { ask:noise "gradient", ask:noise "value" }
      ask:gradient(s.x, { share = 3 })
      ask:value(s.x)
    end)(obj, budget)
    local even = {}
    solver(function(s, ask)
      even = { ask:noise "gradient", ask:noise "value" }
      ask:gradient(s.x)
      ask:value(s.x)
    end)(obj, budget)
    assert.near(3, even[1] / noise[1] / (even[2] / noise[2]), 1e-6)
  end)

  it("pays for a question with a part of the budget alone, and gives the others the rest", function()
    local half = solver(function(s, ask)
      ask:value(s.x, { budget = 0.5 })
      ask:gradient(s.x)
    end)
    local alone = solver(function(s, ask) ask:value(s.x) end).plan(obj, with { epsilon = 0.5, delta = 0.5e-6 })
    local function noise(plan, name) return tonumber(tostring(plan):match("\n%s+" .. name .. "%s+([%d.e-]+)%s+noise")) end
    local plan = half.plan(obj, budget)
    assert.truthy(tostring(plan):find "\n%s+budget%s+0.5%s+of the whole")
    assert.near(noise(alone, "value"), noise(plan, "value"), 1e-4 * noise(plan, "value"))
    assert.is_true(plan.epsilon <= 1 and plan.epsilon > 0.999)
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    half(obj, with { ledger = ledger })
    assert.is_true(ledger.spent > 0.999 and ledger.spent <= 1)
    local all = solver(function(s, ask) ask:gradient(s.x, { budget = 0.5 }) end)
    refused("mine.plan: questions with budget= take 0.5 of the budget, and 0 of 1 questions share the rest",
      all.plan, obj, budget)
    local both = solver(function(s, ask)
      ask:gradient(s.x, { budget = 0.5 })
      ask:value(s.x, { budget = 0.5 })
      ask:hessian(s.x)
    end)
    refused("mine.plan: questions with budget= take 1 of the budget, and 1 of 3 questions share the rest",
      both.plan, obj, budget)
    local calls = 0
    local larger = solver(function(s, ask)
      calls = calls + 1
      ask:gradient(s.x, { budget = calls > 2 and 0.2 or 0.1 })
      ask:value(s.x)
    end)
    refused("mine: the step asks gradient with budget 0.2, and its plan has 0.1", larger, obj,
      with { ledger = pn.ledger { rho = 9 } })
  end)

  it("is priced by its loss distribution, and charged at once, where that is asked for", function()
    local batches = solver(function(s, ask)
      s.x = s.set:project(s.x - 0.3 * ask:gradient(s.x, { batch = 40 }))
      ask:value(s.x, { share = 0.2 })
    end)
    local rdp, pld = batches.plan(obj, budget), batches.plan(obj, with { accountant = "pld" })
    local function multiplier(plan) return tonumber(tostring(plan):match "multiplier z%s+(%S+)") end
    assert.is_true(multiplier(pld) < 0.98 * multiplier(rdp)) -- less noise, or nobody would ask
    assert.is_true(pld.epsilon <= 1 and pld.epsilon > 0.99)
    local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
    local walk, spent = pld:steps { ledger = ledger, progress = false }, {}
    for _ = 1, 3 do
      walk()
      spent[#spent + 1] = ledger.spent
    end
    assert.is_true(spent[1] > 0.99 and spent[1] == spent[3])
    local small = pn.ledger { epsilon = 0.9, delta = 1e-6 }
    refused("Requested epsilon 0.9999", pld.run, pld, { ledger = small, progress = false })
    assert.equal(0, small.spent)
    refused("mine.plan: accountant=\"pld\" prices epsilon at a delta; give them instead of rho", batches.plan, obj,
      { rho = 1, iterations = 3, accountant = "pld" })
    refused("mine.plan: accountant must be \"rdp\" or \"pld\", got", batches.plan, obj, with { accountant = "pdl" })
    local l1 = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 3, radius = 1 } }
    refused("vertex needs accountant=\"rdp\"", solver(function(s, ask) ask:vertex(s.x) end).plan, l1, with { accountant = "pld" })
    refused("adaptive=true needs accountant=\"rdp\"", solver(descend, { adaptive = true }).plan, obj, with { accountant = "pld" })
  end)

  it("has queries that depend on its options", function()
    local often = solver(function(s, ask)
      for _ = 1, s.options.often do s.x = s.set:project(s.x - 0.1 * ask:gradient(s.x)) end
    end, { options = { often = 3 }, queries = function(s) return { gradient = s.options.often } end })
    local three = tostring(often.plan(obj, budget)):match "15 x gaussian%b()"
    assert.truthy(three)
    assert.equal(three, tostring(solver(descend).plan(obj, with { iterations = 15 })):match "15 x gaussian%b()")
    assert.truthy(tostring(often.plan(obj, with { often = 7 })):find("35 x gaussian", 1, true))
    refused("mine: queries must be a table, {gradient = 1}, or a function of s that returns one, got", solver(descend,
      { queries = function() return 3 end }), obj, budget)
  end)

  it("is refused before anything is drawn when the ledger has too little", function()
    local ledger = pn.ledger { epsilon = 0.5, delta = 1e-6 }
    refused("Requested epsilon", solver(descend), obj, with { ledger = ledger })
    assert.equal(0, ledger.spent)
    local later = pn.ledger { epsilon = 1.01, delta = 1e-6 }
    local plan = solver(descend).plan(obj, with { ledger = later })
    solver(descend)(obj, with { epsilon = 0.5, ledger = later })
    local before = later.spent
    refused("Requested epsilon", plan.run, plan, { progress = false })
    assert.equal(before, later.spent)
  end)
end)

describe("a run", function()
  it("ends early by \"done\" where the solver may, is charged for what ran, and states the plan's epsilon", function()
    local function until_third(s, ask)
      descend(s, ask)
      if s.step == 3 then return "done" end
    end
    local whole, part = pn.ledger { epsilon = 2, delta = 1e-6 }, pn.ledger { epsilon = 2, delta = 1e-6 }
    solver(descend)(obj, with { iterations = 3, epsilon = 0.7, ledger = whole })
    local own = solver(until_third, { adaptive = true })
    local plan = own.plan(obj, with { ledger = part })
    assert.matches("may stop early +yes", tostring(plan))
    local fit = plan:run { progress = false }
    assert.equal(3, fit.steps)
    assert.equal("done", fit.stopped)
    assert.equal(plan.epsilon, fit.privacy.epsilon)
    local three = pn.ledger { epsilon = 2, delta = 1e-6 }
    local walk = solver(descend).plan(obj, budget):steps { ledger = three }
    for _ = 1, 3 do walk:step() end
    assert.equal(three.spent, part.spent)
    refused("a solver that may stop early must be made with adaptive = true", solver(until_third), obj, budget)
  end)

  it("is refused what a step returns besides", function()
    for _, rubbish in ipairs { 17, "stop", true, {} } do
      refused("mine: step must return nothing, or \"done\", got", solver(function(s, ask) descend(s, ask) return rubbish end), obj,
        budget)
    end
  end)

  it("stops as diverged at a point that is not finite, and answers the one before", function()
    local fit = solver(function(s, ask)
      local g = ask:gradient(s.x)
      s.x = s.step < 3 and s.x - 0.1 * g or s.x * 1e200 * 1e200
    end)(obj, budget)
    assert.equal("diverged", fit.stopped)
    assert.equal(3, fit.steps)
    assert.is_true(fit.theta:norm() > 0 and fit.theta:norm() < 10)
    assert.near(1, fit.privacy.epsilon, 1e-6)
  end)

  it("refuses an x of another size or kind", function()
    refused("mine: s.x, or what answer returns, must have 3 entries, got 2",
      solver(function(s, ask) ask:gradient(s.x) s.x = pn.vec { 1, 2 } end), obj, budget)
    refused("mine: s.x, or what answer returns, must be a vector of 3 numbers, got nil",
      solver(function(s, ask) ask:gradient(s.x) s.x = nil end), obj, budget)
    refused("mine: the point must have 3 entries, got 2", solver(function(_, ask) ask:gradient { 1, 2 } end), obj, budget)
    refused("mine: the point must be a vector of 3 numbers, got ", solver(function(_, ask) ask:gradient(true) end), obj, budget)
  end)

  it("answers with what `answer` makes of s", function()
    local fit = solver(descend, { answer = function() return { 1, 2, 3 } end })(obj, budget)
    assert.same({ 1, 2, 3 }, { fit.theta[1], fit.theta[2], fit.theta[3] })
  end)

  it("is walked, traced, cancelled by on_step, and repeats under a seed", function()
    local plan = solver(descend).plan(obj, budget)
    local points = {}
    for state in plan:steps { rng = pn.rng.seeded(1) } do points[#points + 1] = state end
    assert.equal(5, #points)
    assert.equal(400 * 5, points[5].gradients)
    assert.near(obj:value { 0, 0, 0 }, points[1].value, 1e-12) -- simulated: it may be shown
    local fit = plan:run { rng = pn.rng.seeded(1), progress = false }
    assert.equal(0, (fit.theta - points[5].theta):norm())
    assert.equal(5, #fit.trace)
    local real = plan:run { progress = false }
    local shown = real.trace[1].value
    assert.is_true(shown == nil or shown ~= shown)
    local stopped = plan:run { progress = false, on_step = function(state) return state.step < 2 end }
    assert.equal("interrupted", stopped.stopped)
    assert.equal(2, stopped.steps)
    assert.equal(plan.epsilon, stopped.privacy.epsilon)
    assert.is_true(stopped.privacy.charged_epsilon == nil or stopped.privacy.charged_epsilon < 1)
  end)

  it("stops where others have used the budget up", function()
    local ledger = pn.ledger { rho = 0.1 }
    local plan = solver(descend).plan(obj, { rho = 0.08, iterations = 8, ledger = ledger })
    local other = pn.oracle { objective = obj, ledger = ledger }
    local fit = plan:run { progress = false, on_step = function(state)
      if state.step == 3 then other:value({ 0, 0, 0 }, { rho = 0.0399 }) end
      return true
    end }
    assert.equal("budget", fit.stopped)
    assert.equal(6, fit.steps)
    assert.near(0.0999, ledger.spent, 1e-6)
    assert.equal(plan.rho, fit.privacy.rho)
  end)

  it("does not hide an empty budget from a step that catches it", function()
    local ledger, caught = pn.ledger { rho = 0.1 }, 0
    local plan = solver(function(s, ask)
      local ok = pcall(ask.gradient, ask, s.x)
      caught = caught + (ok and 0 or 1)
    end).plan(obj, { rho = 0.08, iterations = 8, ledger = ledger })
    local other = pn.oracle { objective = obj, ledger = ledger }
    local fit = plan:run { progress = false, on_step = function(state)
      if state.step == 3 then other:value({ 0, 0, 0 }, { rho = 0.0399 }) end
      return true
    end }
    assert.equal(2, caught)
    assert.equal(8, fit.steps)
    assert.equal(plan.rho, fit.privacy.rho)
    assert.is_true(ledger.spent <= 0.1)
  end)

  it("is made where no record has a part in the answer, too", function()
    local flat = pn.objective { data = data, loss = pn.loss.glm(function(z) return 0 * z end), set = obj.set, reg = pn.reg.l2(1) }
    local fit = solver(function(s, ask)
      assert(not pcall(obj.gradient, obj, s.x))
      descend(s, ask)
      descend(s, { gradient = function(_, x) return ask:gradient(x, { batch = 10 }) end })
    end)(flat, with { start = { 0.5, 0, 0 } })
    assert.is_true(fit.theta:norm() < 1e-3)
  end)
end)

describe("a solver of a user's", function()
  local own = solver(descend)

  law("is compared in an experiment, and audited", function()
    local result = pn.experiment { grid = { epsilon = { 0.5, 5 } }, repeats = 2, progress = false, processes = 1,
      run = function(row, rng)
        return obj:value(own(obj, { epsilon = row.epsilon, delta = 1e-6, iterations = 4, rng = rng, progress = false }).theta)
      end }
    assert.equal(4, #result.rows)
    for _, row in ipairs(result.rows) do assert.is_nil(row.failed) end
    local function neighbour(label)
      return pn.objective { data = pn.data.from({ { 1 }, { 0 } }, { label, 1 }):clip_rows("l2", 1), loss = pn.loss.hinge(),
        set = pn.set.l2_ball { dim = 1, radius = 1 } }
    end
    local plan = own.plan(neighbour(1), { epsilon = 1, delta = 1e-3, iterations = 2 })
    local audit = pn.audit(function(objective, rng)
      return own(objective, { epsilon = 1, delta = 1e-3, iterations = 2, rng = rng, progress = false }).theta[1]
    end, { neighbours = { neighbour(1), neighbour(-1) }, trials = 1000, delta = 1e-3, epsilon = plan.epsilon,
      confidence = 1 - 1e-7, rng = pn.rng.seeded(6), progress = false })
    assert.is_false(audit.violated)
  end)

  it("leaves a fit that is saved and read again", function()
    local path = os.tmpname()
    local fit = own(obj, budget)
    fit:save(path)
    local again = pn.load(path)
    assert.equal(0, (again.theta - fit.theta):norm())
    assert.equal(fit.privacy.epsilon, again.privacy.epsilon)
    assert.matches("mine", tostring(again.plan))
    os.remove(path)
  end)

  it("may be forgotten: its plans, walks and fits hold it", function()
    local function made()
      return pn.solver { name = "gone", step = descend }.plan(obj, budget)
    end
    local walk = made():steps {}
    collectgarbage()
    collectgarbage()
    for _ in walk do collectgarbage() end
    assert.matches("gone", tostring(walk:fit().plan))
  end)
end)
