-- batch_spec.lua -- batch= of the solvers that ask for gradients of all records by default: the price is that of the sampling that
-- runs, as sgd and a solver in Lua have it; what is charged, drawn and shown, and what is refused.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local solvers = { "gradient_descent", "mirror_descent", "accelerated_mirror_descent", "frank_wolfe_convex" }
local n, p = 2000, 6
local data = pn.data.synthetic.logistic { n = n, p = p, seed = 5 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = p, radius = 2 } }

local function with(options, more)
  local out = {}
  for name, value in pairs(options) do out[name] = value end
  for name, value in pairs(more or {}) do out[name] = value end
  return out
end

local function each(visit)
  for _, name in ipairs(solvers) do visit(name, pn.solve[name]) end
end

local function seeded(seed) return { rng = pn.rng.seeded(seed or 3), progress = false } end
local function events_of(plan) return tostring(plan):match "events%s+(.-%))\n" end

local asking = pn.solver { name = "asking", options = { eta = 0.5 },
  step = function(s, ask) s.x = s.set:project(s.x - s.options.eta * ask:gradient(s.x)) end }

local budgets = {
  { epsilon = 1, delta = 1e-7, iterations = 37 }, { epsilon = 0.2, delta = 1e-9, iterations = 200 },
  { rho = 0.05, iterations = 64 },
  { epsilon = 0.7, delta = 1e-7, iterations = 20, neighbours = "zero_out" },
}

describe("a batch of a first-order solver", function()
  it("has the noise and the event of sgd's and of a solver in Lua, to the last digit", function()
    local compared = 0
    for _, budget in ipairs(budgets) do
      for _, scheme in ipairs { "poisson", "fixed", "shuffled" } do
        if not (scheme == "fixed" and budget.neighbours) then
          local batch = { scheme = scheme, rate = 0.05 }
          local sgd = pn.solve.sgd.plan(obj, with(budget, { sampling = scheme, batch = 100 }))
          local lua = asking.plan(obj, with(budget, { batch = batch }))
          each(function(name, solver)
            local plan = solver.plan(obj, with(budget, { batch = batch }))
            for _, other in ipairs { sgd, lua } do
              assert.equal(other.sigma, plan.sigma, name)
              assert.equal(other.epsilon, plan.epsilon, name)
              assert.equal(other.rho, plan.rho, name)
              assert.equal(other.gradients, plan.gradients, name)
              assert.truthy(events_of(plan))
              assert.equal(events_of(other), events_of(plan), name)
              compared = compared + 1
            end
          end)
        end
      end
    end
    assert.equal(2 * 4 * 11, compared)
  end)

  it("has less noise than without its secrecy, and the same plan by any way of saying its size", function()
    each(function(name, solver)
      local budget = { epsilon = 1, delta = 1e-7, iterations = 50 }
      local plan = solver.plan(obj, with(budget, { batch = 200 }))
      for _, batch in ipairs { { size = 200 }, { rate = 0.1 }, { scheme = "fixed", size = 200 } } do
        assert.equal(tostring(plan), tostring(solver.plan(obj, with(budget, { batch = batch }))), name)
      end
      local shuffled = solver.plan(obj, with(budget, { batch = { scheme = "shuffled", size = 200 } }))
      assert.is_true(plan.sigma < shuffled.sigma, name)
      assert.equal("poisson", solver.plan(obj, with(budget, { batch = 200, neighbours = "zero_out" })).lines.sampling, name)
    end)
  end)

  it("takes the steps of a solver in Lua under the same stream", function()
    for _, budget in ipairs { { rho = 0.5 }, { privacy = false } } do
      local options = with(budget, { iterations = 25, batch = { scheme = "poisson", size = 300 } })
      local mine = asking.plan(obj, options):run(seeded(11))
      local theirs = pn.solve.gradient_descent(obj, with(with(options, { step = 0.5, momentum = 0, output = "last" }), seeded(11)))
      assert.is_true(theirs.theta:norm() > 0.01)
      assert.equal(0, (mine.theta - theirs.theta):norm(math.huge))
      assert.equal(mine.gradients, theirs.gradients)
    end
  end)

  it("adds noise of the planned deviation to the mean over it", function()
    -- Identical records: a batch's mean gradient is that of all, whoever is in it.  p coordinates: the variance is off by more than
    -- 11.2 % with probability 6e-7.
    local wide = 4000
    local X, y = pn.mat.zeros(40, wide), pn.vec.ones(40)
    for i = 1, 40 do X:set(i, 1, 1) end
    local same = pn.objective { data = pn.data.from(X, y):clip_rows("l2", 1), loss = pn.loss.logistic(),
      set = pn.set.l2_ball { dim = wide, radius = 1000 } }
    local gradient = same:gradient(pn.vec.zeros(wide))
    -- the answer after these steps is -(gradient + noise) times that
    local ways = {
      gradient_descent = { { iterations = 1, step = 1, output = "last" }, 1 },
      mirror_descent = { { iterations = 2, step = 1, preset = "theory" }, 0.5 }, -- the mean of the first two points
      accelerated_mirror_descent = { { iterations = 1, step = 1 } },
    }
    for name, way in pairs(ways) do
      for scheme, size in pairs { fixed = 10, shuffled = 10, poisson = 40 } do
        local batch = { scheme = scheme, size = size }
        local plan = pn.solve[name].plan(same, with(way[1], { rho = 0.5, batch = batch }))
        local fit = plan:run(seeded(11))
        local noise = fit.theta * (-1 / (way[2] or fit.trace[1].step_size)) - gradient
        assert.is_near(1, noise:norm() ^ 2 / wide / plan.sigma ^ 2, 0.112, name)
      end
    end
    -- Of a vertex only the direction is seen: noise across the gradient, in units of the gradient, which noise along it moves by
    -- 5 standard deviations, 8 %, with probability 6e-7 more: (1.112 x 1.083^2).
    local plan = pn.solve.frank_wolfe_convex.plan(same, { rho = 20, iterations = 1, batch = { scheme = "fixed", size = 10 } })
    local theta = plan:run(seeded(11)).theta
    local across = (theta:norm() ^ 2 / theta[1] ^ 2 - 1) * gradient[1] ^ 2
    assert.is_near(1, across / wide / plan.sigma ^ 2, 0.112 + 6 * plan.sigma * 2 / math.abs(gradient[1]))
  end)

  it("is charged as the plan says, once a batch, and no more where the run ends early", function()
    each(function(name, solver)
      local plan = solver.plan(obj, { epsilon = 1, delta = 1e-6, iterations = 40, batch = 100 })
      local whole, early = pn.ledger { epsilon = 1, delta = 1e-6 }, pn.ledger { epsilon = 1, delta = 1e-6 }
      plan:run { ledger = whole, progress = false }
      assert.is_near(plan.epsilon, whole.spent, 1e-9, name)
      local fit = plan:run { ledger = early, progress = false, on_step = function(state) return state.step < 10 end }
      local ten = pn.event.repeated(pn.event.fixed_sampled { batch = 100, n = n,
        event = pn.event.gaussian { sigma = 100 * plan.sigma, sensitivity = 2 * obj.bounds.lipschitz.l2 } }, 10)
      assert.is_near((ten:epsilon(1e-6)), early.spent, 1e-6, name)
      assert.is_near(early.spent, fit.privacy.charged_epsilon, 1e-9, name)
      assert.equal(plan.epsilon, fit.privacy.epsilon, name)
    end)
  end)

  it("is paid for in a ledger's file before it is drawn, some at a time", function()
    each(function(name, solver)
      local path = os.tmpname()
      os.remove(path)
      local ledger <close> = pn.ledger { epsilon = 1, delta = 1e-6, path = path }
      local plan = solver.plan(obj, { epsilon = 1, delta = 1e-6, iterations = 128, batch = 50 })
      local fit = plan:run { ledger = ledger, progress = false, on_step = function(state) return state.step < 5 end }
      local paid = pn.event.repeated(pn.event.fixed_sampled { batch = 50, n = n,
        event = pn.event.gaussian { sigma = 50 * plan.sigma, sensitivity = 2 * obj.bounds.lipschitz.l2 } }, 6)
      assert.is_near((paid:epsilon(1e-6)), ledger.spent, 1e-6, name)
      assert.is_near(ledger.spent, fit.privacy.charged_epsilon, 1e-9, name)
      ledger:close()
      os.remove(path)
      os.remove(path .. ".key")
    end)
  end)

  it("of all records is the run without one, without privacy", function()
    each(function(name, solver)
      local plain = solver(obj, { privacy = false, iterations = 8, progress = false })
      for _, batch in ipairs { n, { scheme = "poisson", rate = 1 }, { scheme = "shuffled", rate = 1 } } do
        local fit = solver(obj, { privacy = false, iterations = 8, batch = batch, progress = false })
        assert.is_true((plain.theta - fit.theta):norm(math.huge) < 1e-13, name)
        assert.equal(plain.gradients, fit.gradients)
      end
    end)
  end)

  it("is drawn without privacy, too, and says nothing of the values", function()
    each(function(name, solver)
      local options = { privacy = false, iterations = 6, batch = { scheme = "fixed", size = 20 } }
      local plan = solver.plan(obj, options)
      local fit, again, other = plan:run(seeded(1)), plan:run(seeded(1)), plan:run(seeded(2))
      assert.is_true(fit.theta == again.theta, name)
      assert.is_false(fit.theta == other.theta, name)
      assert.equal(120, plan.gradients, name)
      assert.equal(120, fit.gradients, name)
      for _, row in ipairs(fit.trace) do
        assert.is_nil(row.value, name)
        assert.is_nil(row.gap, name)
      end
    end)
  end)

  it("has no bound, and a prediction to compare by", function()
    each(function(name, solver)
      for _, budget in ipairs { { epsilon = 1, delta = 1e-7 }, { epsilon = 1, delta = 1e-7, iterations = 30 } } do
        local plan = solver.plan(obj, with(budget, { batch = 200 }))
        assert.is_nil(plan.bound, name)
        assert.matches("gradients of batches", tostring(plan), 1, true)
        assert.is_true(plan.predicted > 0, name)
        assert.equal(200, plan.settings.batch, name)
        assert.equal(200 * plan.iterations, plan.gradients, name)
      end
    end)
  end)

  it("is one of what plan:with and plan:tune change", function()
    each(function(name, solver)
      local plan = solver.plan(obj, { epsilon = 1, delta = 1e-7, batch = 200, iterations = 30 })
      local smaller = plan:with { batch = { scheme = "poisson", size = 100 } }
      assert.equal(3000, smaller.gradients, name)
      assert.equal("poisson", smaller.lines.sampling, name)
      assert.is_nil(smaller.settings.batch, name) -- where it is no number
      local best, rows = plan:tune { batch = { 50, 200, { scheme = "poisson", rate = 0.5 } } }
      assert.equal(3, #rows, name)
      assert.is_true(best.predicted <= 1.02 * math.min(rows[1].predicted, rows[2].predicted, rows[3].predicted), name)
      assert.is_false(tostring(rows):find "table:" ~= nil, name)
    end)
  end)

  it("takes regularisers, kinks, momentum and random outputs as gradients of all do", function()
    local lasso = pn.objective { data = data, loss = pn.loss.logistic(), reg = pn.reg.l1(0.01) }
    local hinge = pn.objective { data = data, loss = pn.loss.hinge(), set = pn.set.l2_ball { dim = p, radius = 2 } }
    local budget = { epsilon = 4, delta = 1e-6, batch = 200, iterations = 20 }
    for _, case in ipairs {
      { "gradient_descent", lasso, { momentum = 0.5 } }, { "gradient_descent", hinge, { output = "average" } },
      { "gradient_descent", obj, { output = "random" } }, { "accelerated_mirror_descent", lasso, {} },
      { "mirror_descent", hinge, {} }, { "accelerated_mirror_descent", obj, { ystep = "printed" } },
    } do
      local plan = pn.solve[case[1]].plan(case[2], with(budget, case[3]))
      assert.equal(4000, plan:run(seeded()).gradients)
    end
  end)

  it("that cannot be is refused before anything is spent", function()
    each(function(name, solver)
      local function no(text, more)
        refused(("solve.%s.plan: %s"):format(name, text), solver.plan, obj, with({ epsilon = 1, delta = 1e-7 }, more))
      end
      no("calibration=\"paper\" is about gradients of all records; leave batch out", { batch = 10, calibration = "paper" })
      no("batches of scheme \"fixed\" have a proof for neighbours=\"replace_one\" only",
        { batch = { scheme = "fixed", size = 10 }, neighbours = "zero_out" })
      no("neighbours=\"add_remove\" makes n secret", { batch = 10, neighbours = "add_remove" })
      no("a batch has 1 to 2000 records, got 2001", { batch = 2001 })
      no("batch.size must be a whole number from 1, got 0", { batch = 0 })
      no("batch.size must be a whole number from 1, got 2.5", { batch = 2.5 })
      no("batch.rate must be a number above 0, at most 1, got 2", { batch = { rate = 2 } })
      no("a batch needs size=, a number of records, or rate=", { batch = { scheme = "fixed" } })
      no("a batch needs size=, a number of records, or rate=, above 0 and at most 1, not both",
        { batch = { size = 3, rate = 0.5 } })
      no("batch.scheme must be \"fixed\", \"poisson\" or \"shuffled\", got \"x\"", { batch = { scheme = "x", size = 3 } })
      no("unknown option 'batch.sise'; batch takes scheme, size, rate", { batch = { sise = 3 } })
      for _, batch in ipairs { "ten", {}, true } do
        no("batch must be a number or a table of options, as batch={scheme=, size=, rate=}, got", { batch = batch })
      end
      refused("Gaussian noise needs a delta", solver.plan, obj, { epsilon = 1, batch = 10 })
      refused("the least is rho", solver.plan, obj, { rho = 1e-300, batch = 10, iterations = 10 })
    end)
    refused("batch= draws records, which noise.oracle does not ask; leave one of them out", pn.solve.mirror_descent.plan, obj,
      { privacy = false, batch = 10, noise = { covariance = pn.mat { { 1 } }, oracle = function(theta) return theta end } })
  end)
end)

describe("a curator's script with batches", function()
  it("is charged what the plan costs", function()
    each(function(name)
      local ledger = pn.ledger { epsilon = 4, delta = 1e-6 }
      local curator = pn.curator { data = { people = data }, ledger = ledger, memory = 64, seconds = 20, instructions = 20000000,
        threads = 1, process = false }
      local result = curator:run(([[
        local obj = pn.objective{data=data.people, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=6, radius=2}}
        local plan = pn.solve.%s.plan(obj, {epsilon=1, delta=1e-6, iterations=10, batch={scheme="poisson", rate=0.1}})
        local fit = plan:run()
        return plan.epsilon, fit.trace[3].value, plan.gradients]]):format(name), "a")
      assert.is_true(result.ok, result.error)
      local epsilon, value, gradients = result.answer:match "^(%S+)\t(%S+)\t(%S+)$"
      assert.equal("nil", value, name)
      assert.equal(2000, tonumber(gradients), name)
      assert.is_near(tonumber(epsilon), ledger.spent, 1e-6, name)
    end)
  end)
end)
