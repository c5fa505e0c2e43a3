-- frank_wolfe_spec.lua -- private Frank-Wolfe: its plan, its steps, its law, its charges.
-- Figures without another source are worked out in closed form beside them.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)
local thorough_it = tier.it(it)

-- A LASSO objective with |x_ij| <= 1, |y| <= 1 over the l1 ball.
local function lasso(n, p, radius, seed)
  local data = pn.data.synthetic.lasso { n = n, p = p, seed = seed or 1 }
  return pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = p, radius = radius or 1 } }
end

local function line(plan, name)
  local value = plan.lines[name]
  assert(value ~= nil, "the plan has no line '" .. name .. "'")
  return value
end

local function close(expected, got, relative)
  assert.is_true(math.abs(got - expected) <= relative * math.abs(expected),
    ("expected %.10g within %g, got %.10g"):format(expected, relative, got))
end

describe("the plan of private Frank-Wolfe", function()
  local objective = lasso(10000, 100)

  it("certifies LASSO's worst-case sensitivity 2r(r+1)/n and curvature 4r^2", function()
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.1 })
    close(4 / 10000, line(plan, "sensitivity Delta"), 1e-12)
    close(4, line(plan, "curvature Gamma"), 1e-12)
    assert.equal(200, line(plan, "vertices k"))
  end)

  it("chooses T, scale and bound as the theorem does under rho = 0.1 by preset = \"theory\"", function()
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.1, preset = "theory" })
    assert.equal(225, plan.iterations)
    assert.equal("exponential", line(plan, "selection"))
    close(0.0134164079, line(plan, "Gumbel scale beta"), 1e-8)
    close(0.106326678, plan.bound, 1e-8)
  end)

  it("gives the three published scales at T = 100, epsilon 1, delta 1e-6", function()
    local rho = pn.calibrate.rho { epsilon = 1, delta = 1e-6 }
    local gumbel = pn.solve.frank_wolfe.plan(objective, { rho = rho, iterations = 100 })
    local laplace = pn.solve.frank_wolfe.plan(objective, { rho = rho, iterations = 100, selection = "laplace" })
    local paper = pn.solve.frank_wolfe.plan(objective,
      { epsilon = 1, delta = 1e-6, iterations = 100, calibration = "paper" })
    close(0.0181235085, line(gumbel, "Gumbel scale beta"), 1e-6)
    close(0.0362470169, line(laplace, "noise scale"), 1e-6)
    close(0.0210260871, line(paper, "noise scale"), 1e-8)
  end)

  it("is at least as tight under (epsilon, delta) as the zCDP conversion alone", function()
    local plan = pn.solve.frank_wolfe.plan(objective, { epsilon = 1, delta = 1e-6, iterations = 100 })
    local beta = line(plan, "Gumbel scale beta")
    assert.is_true(beta <= 0.0181235085 * (1 + 1e-6) and beta > 0.0181235085 * 0.97)
    assert.is_true(plan.epsilon <= 1 and plan.epsilon > 0.9999)
  end)

  it("says that the article's calibration is unproven and what is proven instead", function()
    local plan = pn.solve.frank_wolfe.plan(objective,
      { epsilon = 1, delta = 1e-6, iterations = 100, calibration = "paper" })
    assert.is_false(plan.proven)
    assert.is_truthy(tostring(plan):find("unproven", 1, true))
    -- zCDP of 100 x (eps0 = 0.0380)^2/2 converts to 1.797; the Laplace curve that is charged is a little smaller.
    assert.is_true(plan.epsilon > 1.70 and plan.epsilon <= 1.797)
  end)

  it("prefers permute-and-flip under a pure epsilon and the exponential mechanism under rho", function()
    local pure = pn.solve.frank_wolfe.plan(objective, { epsilon = 1 })
    assert.equal("permute_and_flip", line(pure, "selection"))
    assert.equal("exponential", line(pn.solve.frank_wolfe.plan(objective, { rho = 0.01 }), "selection"))
    assert.is_true(pure.epsilon <= 1)
  end)

  it("explains itself in 80 columns and spends nothing", function()
    local ledger = pn.ledger { rho = 0.1 }
    local text = tostring(pn.solve.frank_wolfe.plan(objective, { ledger = ledger }))
    for row in text:gmatch("[^\n]+") do assert.is_true(#row <= 80, "longer than 80: " .. row) end
    assert.is_truthy(text:find("replace_one", 1, true))
    assert.equal(0.1, ledger.remaining)
  end)

  it("is re-planned with some options changed", function()
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.1 })
    assert.equal(50, plan:with { iterations = 50 }.iterations)
    assert.equal(28, plan.iterations)
    assert.equal(225, plan:with { preset = "theory" }.iterations)
  end)

  it("has an eighth of the theorem's steps where their noise costs no more than there is to gain", function()
    -- LASSO of radius r: Gamma = 4 r^2, Delta = 2 r (r + 1)/n, and at theta = 0 no loss is above 1/2.
    local seen = {}
    for _, r in ipairs { 1, 10 } do
      local wide = lasso(1000, 100, r)
      for _, rho in ipairs { 0.01, 0.1, 1, 5, 10, 100 } do
        local a = 2 * r * (r + 1) / 1000 * math.log(200) / math.sqrt(2 * rho)
        local best = math.max(1, math.floor((16 * r ^ 2 / a) ^ (2 / 3) + 0.5))
        local few = math.max(1, math.floor(best / 8 + 0.5))
        local pays = a * math.sqrt(few) <= 0.5
        local plan = pn.solve.frank_wolfe.plan(wide, { rho = rho })
        assert.equal(pays and few or best, plan.iterations, ("r = %g, rho = %g"):format(r, rho))
        close(8 * r ^ 2 / (plan.iterations + 2) + a * math.sqrt(plan.iterations), plan.bound, 1e-9)
        local theory = plan:with { preset = "theory" }
        assert.equal(best, theory.iterations)
        assert.is_nil(theory.lines["theory preset"])
        if pays and few < best then close(theory.bound, line(plan, "theory preset"), 1e-9) end
        seen[pays] = (seen[pays] or 0) + 1
      end
    end
    assert.is_true(seen[true] > 3 and seen[false] > 3)
  end)

  it("has the theorem's steps where nothing was measured: pure epsilon, the article's noise, a step of one's own", function()
    for _, options in ipairs { { epsilon = 50 }, { epsilon = 1, delta = 1e-6, calibration = "paper" },
      { rho = 10, step = 0.1 } } do
      local plan = pn.solve.frank_wolfe.plan(objective, options)
      assert.is_true(plan.iterations > 8)
      assert.equal(plan:with { preset = "theory" }.iterations, plan.iterations)
    end
  end)

  it("halves the sensitivity under zero_out and refuses add_remove", function()
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.1, neighbours = "zero_out" })
    close(2 / 10000, line(plan, "sensitivity Delta"), 1e-12)
    assert.has_error(function() pn.solve.frank_wolfe.plan(objective, { rho = 0.1, neighbours = "add_remove" }) end)
  end)
end)

describe("what private Frank-Wolfe refuses", function()
  local objective = lasso(100, 5)
  local plan = pn.solve.frank_wolfe.plan

  it("names what is missing, contradictory or unknown", function()
    refused("no privacy budget", plan, objective, {})
    refused("not both", plan, objective, { rho = 1, epsilon = 1 })
    refused("delta is given without epsilon", plan, objective, { delta = 1e-6 })
    refused("privacy=false takes no epsilon", plan, objective, { privacy = false, epsilon = 1 })
    refused("unknown option 'epsilom'", plan, objective, { epsilom = 1 })
    refused("epsilon must be a positive number, got -1", plan, objective, { epsilon = -1, delta = 1e-6 })
    refused("delta must be", plan, objective, { epsilon = 1, delta = 1 })
    refused("iterations must be a whole number from 1", plan, objective, { rho = 1, iterations = 0 })
    refused("\"best\", \"exponential\", \"permute_and_flip\" or \"laplace\"", plan, objective, { rho = 1, selection = "x" })
    refused("start has 2 entries, the data has 5 features", plan, objective, { rho = 1, start = { 0, 0 } })
    refused("start is not in the constraint set", plan, objective, { rho = 1, start = { 9, 0, 0, 0, 0 } })
  end)

  it("refuses a sensitivity that nothing enforces, and says what to do", function()
    local data = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 0.5, 1.5 })
    local set = pn.set.l1_ball { dim = 2, radius = 1 }
    refused("clip_rows", plan, pn.objective { data = data, loss = pn.loss.squared(), set = set }, { rho = 1 })
    data = data:clip_rows("linf", 1)
    refused("clip_labels", plan, pn.objective { data = data, loss = pn.loss.squared(), set = set }, { rho = 1 })
    data = data:clip_labels(-1, 1)
    assert.is_true(plan(pn.objective { data = data, loss = pn.loss.squared(), set = set }, { rho = 1 }).iterations >= 1)
    refused("no constraint set", plan, pn.objective { data = data, loss = pn.loss.squared() }, { rho = 1 })
  end)

  it("refuses a loss whose labels do not fit and a set of another dimension", function()
    local data = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 0.5, 1.5 })
    refused("labels=\"binary\"", pn.objective, { data = data, loss = pn.loss.logistic() })
    refused("dimension 3, the data has 2", pn.objective,
      { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 3 } })
  end)

  it("warns when delta is above 1/n", function()
    assert.is_truthy(tostring(plan(objective, { epsilon = 1, delta = 0.5 })):find("above 1/n", 1, true))
  end)
end)

describe("Frank-Wolfe without noise", function()
  it("keeps the O(Gamma/T) bound on LASSO and ends close to the minimum", function()
    local objective = lasso(200, 20, 1, 3)
    local exact = pn.solve.exact(objective, { tol = 1e-10 })
    local gamma = objective:exact_curvature()
    local last = math.huge
    for _, steps in ipairs { 10, 100, 1000 } do
      local fit = pn.solve.frank_wolfe(objective, { privacy = false, iterations = steps })
      local excess = fit.value - exact.value
      assert.is_true(excess >= -1e-9 and excess <= 2 * gamma / (steps + 2))
      assert.is_true(excess < 0.25 * last)
      assert.is_true(fit.nonzeros <= steps)
      last = excess
    end
    assert.is_true(last < 2e-5)
  end)

  it("stalls with the article's constant step", function()
    local objective = lasso(200, 20, 1, 3)
    local best = pn.solve.exact(objective, { tol = 1e-10 }).value
    -- From a far vertex: the start keeps about 1/e of its weight for ever.
    local start = pn.vec.zeros(20)
    start[20] = -1
    local options = { privacy = false, iterations = 1000, start = start }
    local good = pn.solve.frank_wolfe(objective, options).value - best
    options.step = "paper"
    local stalled = pn.solve.frank_wolfe(objective, options).value - best
    assert.is_true(stalled > 1e-3 and good < 1e-5)
  end)

  it("leaves exactly (1 - 1/(T+2))^T of the start with the constant step", function()
    -- One feature, labels 1: the gradient always points the same way, as for a linear loss.
    local data = pn.data.from({ { 1 }, { 1 } }, { 1, 1 }):clip_rows("linf", 1)
    local objective = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 1 } }
    local fit = pn.solve.frank_wolfe(objective, { privacy = false, iterations = 10, step = "paper", start = { -1 } })
    local kept = (1 - 1 / 12) ^ 10
    close(1 - 2 * kept, fit.theta[1], 1e-12)
    assert.equal(1, pn.solve.frank_wolfe(objective, { privacy = false, iterations = 1, start = { -1 } }).theta[1])
  end)

  it("knows the exact curvature of a quadratic", function()
    local function curvature(X)
      local data = pn.data.from(X, pn.vec.zeros(#X))
      return pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = #X[1] } }
          :exact_curvature()
    end
    close(8 / 3, curvature { { 1, 0 }, { 0, 1 }, { 1, 1 } }, 1e-14)
    close(4, curvature { { 1, -1, 1 }, { -1, -1, 1 }, { 1, 1, 1 }, { -1, 1, -1 }, { 1, 1, -1 } }, 1e-14)
  end)

  it("runs over sets that are no polytope", function()
    local data = pn.data.synthetic.lasso { n = 100, p = 4, seed = 2 }
    local objective = pn.objective { data = data, loss = pn.loss.squared(), set = 2 * pn.set.simplex { dim = 4 } }
    local fit = pn.solve.frank_wolfe(objective, { privacy = false, iterations = 300 })
    close(2, fit.theta:sum(), 1e-9)
    assert.is_true(fit.value - pn.solve.exact(objective).value < 1e-2)
  end)
end)

describe("the steps of private Frank-Wolfe", function()
  it("stay in the set, add at most one vertex each, and weigh step t by 2(t+1)/(T(T+1))", function()
    local objective = lasso(500, 30, 2)
    local fit = pn.solve.frank_wolfe(objective, { rho = 0.5, iterations = 40 })
    assert.equal(40, fit.steps)
    assert.is_true(fit.theta:norm(1) <= 2 + 1e-12 and fit.nonzeros <= 40)
    local vertices, built = objective.set:vertices(), pn.vec.zeros(30)
    for t, row in ipairs(fit.trace) do
      built:axpy(2 * t / (40 * 41), vertices[row.atom])
      close(2 / (t + 1), row.step_size, 1e-15)
    end
    assert.is_true((built - fit.theta):norm(math.huge) < 1e-13)
  end)

  it("count n per-record gradients each", function()
    local fit = pn.solve.frank_wolfe(lasso(500, 30), { rho = 0.5, iterations = 7 })
    assert.equal(3500, fit.gradients)
    assert.equal(3500, fit.trace[7].gradients)
  end)

  it("never move a score by more than Delta when one record is replaced", function()
    local n, p, radius = 20, 6, 1.5
    local delta = 2 * radius * (radius + 1) / n
    local rng = pn.rng.seeded(77)
    local set = pn.set.l1_ball { dim = p, radius = radius }
    local largest = 0
    for pair = 1, 1000 do
      local rows, labels = {}, {}
      for i = 1, n + 1 do
        rows[i] = {}
        for j = 1, p do rows[i][j] = 2 * rng:uniform() - 1 end
        labels[i] = 2 * rng:uniform() - 1
      end
      local theta = pn.vec.zeros(p)
      theta[1 + pair % p] = pair % 2 == 0 and radius or -radius
      local function scores(last)
        local X, y = {}, {}
        for i = 1, n - 1 do X[i], y[i] = rows[i], labels[i] end
        X[n], y[n] = rows[last], labels[last]
        local data = pn.data.from(X, y):clip_rows("linf", 1):clip_labels(-1, 1)
        return radius * pn.objective { data = data, loss = pn.loss.squared(), set = set }:gradient(theta)
      end
      largest = math.max(largest, (scores(n) - scores(n + 1)):norm(math.huge))
    end
    assert.is_true(largest <= delta)
    assert.is_true(largest > 0.3 * delta)
  end)

  it("attain Delta at theta = r e_1 with records that differ in all but the first feature", function()
    local n, p, radius = 4, 3, 1
    local theta = pn.vec { radius, 0, 0 }
    local function score(last)
      local X, y = {}, {}
      for i = 1, n - 1 do X[i], y[i] = { 0, 0, 0 }, 0 end
      X[n], y[n] = last, -1
      local data = pn.data.from(X, y):clip_rows("linf", 1):clip_labels(-1, 1)
      return radius * pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = p } }
          :gradient(theta)[2]
    end
    close(2 * radius * (radius + 1) / n, math.abs(score { 1, 1, 1 } - score { 1, -1, -1 }), 1e-15)
  end)

  law("choose the vertex by the exponential law, with the planned scale", function()
    -- One feature, two vertices.  P(+1) = 1/(1 + exp(-(score difference) eps0/(2 Delta))).
    -- 32,000 draws: false alarm 1e-6 at 4.9 standard errors; a scale off by 1.1 moves P by 0.0211, 9.8 of them.
    local data = pn.data.from({ { 1 }, { 1 }, { 1 }, { -1 } }, { 1, 1, 1, 1 }):clip_rows("linf", 1)
    local objective = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 1 } }
    local draws, hits = 32000, 0
    local plan = pn.solve.frank_wolfe.plan(objective, { epsilon = 2.2, iterations = 1, selection = "exponential" })
    local slope = 1 / (1 + math.exp(-1)) -- the certified |l'| on the unit ball
    local delta = 2 * slope / 4
    close(delta, line(plan, "sensitivity Delta"), 1e-9)
    local difference = 2 * 0.25 -- gradient at 0 is -(3 - 1)/(2 * 4) = -1/4; scores are +-1/4
    local expected = 1 / (1 + math.exp(-difference * 2.2 / (2 * delta)))
    local rng = pn.rng.seeded(5)
    for _ = 1, draws do
      if plan:run { rng = rng, progress = false }.theta[1] > 0 then hits = hits + 1 end
    end
    local error = math.sqrt(expected * (1 - expected) / draws)
    assert.is_true(math.abs(hits / draws - expected) < 4.9 * error,
      ("%.5f against %.5f +- %.5f"):format(hits / draws, expected, error))
    local mutant = 1 / (1 + math.exp(-difference * 2.2 / (2 * delta) / 1.1))
    assert.is_true(math.abs(mutant - expected) > 9.6 * error)
  end)

  it("can be walked one at a time", function()
    local plan = pn.solve.frank_wolfe.plan(lasso(100, 5), { rho = 0.5, iterations = 3 })
    local walk, seen = plan:steps(), {}
    for state in walk do seen[#seen + 1] = state.step end
    assert.same({ 1, 2, 3 }, seen)
    assert.equal(3, walk:fit().steps)
    assert.is_nil(walk:step())
  end)
end)

describe("what private Frank-Wolfe spends", function()
  local objective = lasso(1000, 10)

  it("charges a ledger step by step and states the whole", function()
    local ledger = pn.ledger { rho = 0.5 }
    local fit = pn.solve.frank_wolfe(objective, { ledger = ledger, iterations = 8 })
    close(0.5, fit.privacy.rho, 1e-5)
    assert.is_true(fit.privacy.rho <= 0.5 and fit.privacy.private)
    close(fit.privacy.rho, 0.5 - ledger.remaining, 1e-12)
  end)

  it("fits a plan for (epsilon, delta) into a ledger of exactly that size", function()
    for _, steps in ipairs { 1, 3, 100 } do
      local ledger = pn.ledger { epsilon = 1, delta = 1e-8 }
      local fit = pn.solve.frank_wolfe(objective, { epsilon = 1, delta = 1e-8, iterations = steps, ledger = ledger })
      assert.equal(steps, fit.steps)
      assert.is_nil(fit.stopped)
      assert.is_true(fit.privacy.epsilon <= 1)
    end
  end)

  it("is refused before anything is computed when the ledger does not cover it", function()
    local ledger = pn.ledger { rho = 0.1 }
    local ok, message = pcall(pn.solve.frank_wolfe, objective, { rho = 0.2, ledger = ledger })
    assert.is_false(ok)
    for _, word in ipairs { "Requested", "Remaining", "Difference" } do
      assert.is_truthy(message:find(word, 1, true), message)
    end
    assert.equal(0.1, ledger.remaining)
    assert.equal(5, pn.solve.frank_wolfe(objective, { rho = 0.1, ledger = ledger, iterations = 5 }).steps)
  end)

  it("has paid for the steps that were made, and no other, when on_step stops it", function()
    local ledger = pn.ledger { rho = 1 }
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 1, iterations = 10, ledger = ledger })
    local fit = plan:run { on_step = function(state) return state.step < 4 end }
    assert.equal("interrupted", fit.stopped)
    assert.equal(4, fit.steps)
    close(0.4, fit.privacy.charged_rho, 1e-5)
    assert.equal(plan.rho, fit.privacy.rho)
    close(0.6, ledger.remaining, 1e-5)
  end)

  it("hands back the caller's own error value, with the steps before it charged", function()
    local ledger, boom = pn.ledger { rho = 1 }, { "boom" }
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 1, iterations = 10, ledger = ledger })
    local ok, err = pcall(plan.run, plan, { on_step = function(state) if state.step == 2 then error(boom) end end })
    assert.is_false(ok)
    assert.equal(boom, err)
    close(0.8, ledger.remaining, 1e-5)
  end)

  it("refuses seeded noise on a real ledger and marks it everywhere else", function()
    local ok, message = pcall(pn.solve.frank_wolfe, objective,
      { rho = 0.1, ledger = pn.ledger { rho = 1 }, rng = pn.rng.seeded(1) })
    assert.is_false(ok)
    assert.is_truthy(message:find("seeded", 1, true))
    local fit = pn.solve.frank_wolfe(objective, { epsilon = 1, delta = 1e-6, rng = pn.rng.seeded(1) })
    assert.is_true(fit.privacy.simulated)
    assert.is_false(fit.privacy.private)
    assert.equal(math.huge, fit.privacy.epsilon)
    assert.is_truthy(tostring(fit):find("no privacy", 1, true))
    assert.is_number(fit.trace[1].value)
  end)

  it("repeats itself exactly from the same seed", function()
    local first = pn.solve.frank_wolfe(objective, { rho = 1, rng = pn.rng.seeded(9) })
    local second = pn.solve.frank_wolfe(objective, { rho = 1, rng = pn.rng.seeded(9) })
    assert.is_true(first.theta == second.theta)
  end)

  it("keeps raw values out of a real private trace", function()
    local row = pn.solve.frank_wolfe(objective, { rho = 1, iterations = 2 }).trace[1]
    assert.is_nil(row.value)
    assert.is_nil(row.gap)
    assert.is_number(row.atom)
  end)
end)

describe("private LASSO", function()
  it("has a mean excess risk below the planned bound that falls about like 1/n", function()
    -- 12 runs a size; the accepted slopes are those of the full table in examples/reproduce/geometry/lasso.lua.
    local sizes, means = { 1024, 4096, 16384 }, {}
    for s, n in ipairs(sizes) do
      local objective = lasso(n, 100, 1, 11)
      local best = pn.solve.exact(objective, { tol = 1e-9 }).value
      local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.5, preset = "theory" })
      local function mean(of)
        local total = 0
        for run = 1, 12 do total = total + of:run { rng = pn.rng.seeded(run) }.value - best end
        return total / 12
      end
      means[s] = mean(plan)
      assert.is_true(means[s] < plan.bound)
      assert.is_true(mean(plan:with { preset = "practical" }) < 0.8 * means[s])
    end
    local slope = math.log(means[3] / means[1]) / math.log(sizes[3] / sizes[1])
    assert.is_true(slope >= -1.3 and slope <= -0.6, "slope " .. slope)
  end)

  it("plans T as published for n = 2^10 .. 2^16", function()
    for e, steps in pairs { [10] = 84, [11] = 134, [12] = 212, [13] = 337 } do
      assert.equal(steps, pn.solve.frank_wolfe.plan(lasso(2 ^ e // 1, 100), { rho = 0.5, preset = "theory" }).iterations)
    end
  end)

  thorough_it("pays for dimension by its logarithm only", function()
    -- 24 runs a size gave a ratio of 2.17 (and equal steps for every doubling between); growth like the root is 2.83.  An eighth
    -- of the steps leaves .26 and .36 of it.
    local means = {}
    for i, p in ipairs { 100, 800 } do
      local objective = lasso(4096, p, 1, 21)
      local best = pn.solve.exact(objective, { tol = 1e-7 }).value
      local plan, total = pn.solve.frank_wolfe.plan(objective, { rho = 0.5, preset = "theory" }), 0
      for run = 1, 24 do total = total + plan:run { rng = pn.rng.seeded(run) }.value - best end
      means[i] = total / 24
    end
    assert.is_true(means[2] < 2.5 * means[1])
  end)
end)

describe("the warning of private Frank-Wolfe about its noise", function()
  local function text_of(plan)
    return (tostring(plan):gsub("%s+", " "))
  end
  local function is_warned(plan)
    return text_of(plan):find("choices are mostly noise", 1, true) ~= nil
  end
  local function over(data, radius, options)
    local f = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = data.p, radius = radius } }
    options.delta = options.epsilon and 1 / data.n ^ 2
    return pn.solve.frank_wolfe.plan(f, options), f
  end
  local function from_lines(lines, p)
    local name = os.tmpname()
    local file = assert(io.open(name, "w"))
    file:write(table.concat(lines, "\n"), "\n")
    file:close()
    local data = pn.data.libsvm(name, { cols = p, labels = "binary" }):clip_rows("l2", 1)
    os.remove(name)
    return data
  end
  -- 40 words of a text in which a word's chance falls like 1/rank, but for a fifth that tell the topic.
  local function texts(n, p)
    local draw, lines = pn.rng.seeded(5), {}
    local function next_one() return draw:uniform() end
    for i = 1, n do
      local y, row, columns, parts = next_one() < 0.5, {}, {}, {}
      for _ = 1, 40 do
        local v = next_one()
        local j = v < 0.2 and 1 + math.floor(v * 250) + (y and 0 or 50) or math.min(p, math.floor(p ^ next_one()))
        row[j] = (row[j] or 0) + 1
      end
      for j in pairs(row) do columns[#columns + 1] = j end
      table.sort(columns)
      for k, j in ipairs(columns) do parts[k] = ("%d:%d"):format(j, row[j]) end
      lines[i] = (y and "+1 " or "-1 ") .. table.concat(parts, " ")
    end
    return from_lines(lines, p)
  end

  law("names what to take instead, from public numbers only", function()
    -- n, p and row bound of a collection of 15935 texts with 62061 words, whose counts no plan can see.
    local lines = {}
    for i = 1, 15935 do lines[i] = (i % 2 == 0 and "+1 " or "-1 ") .. (i % 7 + 1) .. ":1" end
    local data = from_lines(lines, 62061)
    for _, radius in ipairs { 1, 50.3 } do
      local plan = over(data, radius, { epsilon = 1 })
      assert.is_true(is_warned(plan))
      local text = text_of(plan)
      assert.matches(("solve.gradient_descent over l2_ball{radius=%.3g}, or epsilon >= "):format(radius), text, 1, true)
      assert.is_true(text:find("warning", 1, true) < text:find("records n", 1, true))
      -- ln k x scale against radius x sqrt(2 ln k / p), and a quarter of that at the epsilon that is named.
      local gain = radius * line(plan, "slope bound s") * math.sqrt(2 * math.log(2 * 62061) / 62061)
      assert.is_true(line(plan, "risk from noise") > gain)
      local named = tonumber(text:match("epsilon >= ([%d.e+]+)"))
      local there, below = over(data, radius, { epsilon = named * 1.01 }), over(data, radius, { epsilon = named / 1.03 })
      assert.is_false(is_warned(there))
      assert.is_true(line(there, "risk from noise") <= 0.25 * gain and line(below, "risk from noise") > 0.25 * gain)
    end
    -- From wherever the search starts, and of either kind of budget, it is named to 2 %, and printed to 0.5 %.
    local gain = 50.3 * line(over(data, 50.3, { epsilon = 1 }), "slope bound s") * math.sqrt(2 * math.log(2 * 62061) / 62061)
    for i, start in ipairs { 1, 0.01, 0.37, 0.0041, 0.11, 0.0023 } do
      local kind = i % 2 == 0 and "rho" or "epsilon"
      local named = tonumber(text_of(over(data, 50.3, { [kind] = start })):match(kind .. " >= ([%d.e+-]+)"))
      local there, below = over(data, 50.3, { [kind] = named * 1.005 }), over(data, 50.3, { [kind] = named / 1.026 })
      assert.is_true(line(there, "risk from noise") <= 0.25 * gain and line(below, "risk from noise") > 0.25 * gain, start)
    end
    assert.is_nil(text_of(over(data, 1, { epsilon = 0.01 })):find("gradient_descent", 1, true)) -- its noise is 16 slopes
    assert.is_true(is_warned(pn.solve.frank_wolfe.plan(pn.objective { data = data, loss = pn.loss.logistic(),
      set = pn.set.l1_ball { dim = data.p, radius = 1 } }, { epsilon = 1 }))) -- a pure epsilon
  end)

  thorough_it("is true of sparse texts: a run that is warned of ends at its start, a quarter of the noise ends below", function()
    -- Seeded, so that it repeats.  A few steps over the larger ball overshoot, whatever the noise.
    local warned, fine = 0, 0
    for _, shape in ipairs { { 3000, 500 }, { 2000, 3000 } } do
      local data = texts(shape[1], shape[2])
      for _, radius in ipairs { 1, 10 } do
        local _, f = over(data, radius, { epsilon = 1 })
        local start = math.log(2)
        local best = pn.solve.frank_wolfe(f, { privacy = false, iterations = 300 }).value
        for _, epsilon in ipairs { 0.1, 1, 10, 100 } do
          for _, steps in ipairs(radius == 1 and { 8, 40, 160 } or { 160, 400 }) do
            local plan = over(data, radius, { epsilon = epsilon, iterations = steps })
            local gain = radius * line(plan, "slope bound s") * math.sqrt(2 * math.log(2 * data.p) / data.p)
            local sum = 0
            for run = 1, 4 do sum = sum + f:value(plan:run { rng = pn.rng.seeded(run) }.theta) / 4 end
            local reached = (start - sum) / (start - best)
            if is_warned(plan) then
              warned = warned + 1
              assert.is_true(sum > start * 0.97 and reached < 0.15, ("%g of %g reached"):format(reached, start - best))
            elseif line(plan, "risk from noise") < 0.25 * gain then
              fine = fine + 1
              assert.is_true(reached > 0.1, ("%g of %g reached"):format(reached, start - best))
            end
          end
        end
      end
    end
    assert.is_true(warned >= 8 and fine >= 8, ("%d warned, %d fine"):format(warned, fine))
  end)

  it("is not made where Frank-Wolfe finds its way", function()
    for _, n in ipairs { 1024, 65536 } do
      assert.is_false(is_warned(pn.solve.frank_wolfe.plan(lasso(n, 100), { rho = 0.5 })))
    end
    local simplex = pn.objective { data = pn.data.synthetic.lasso { n = 10000, p = 100, seed = 1 }, loss = pn.loss.squared(),
      set = pn.set.simplex { dim = 100 } }
    assert.is_false(is_warned(pn.solve.frank_wolfe.plan(simplex, { epsilon = 1, delta = 1e-8 })))
    local folder = os.getenv "PENUMBRA_DATA"
    if not folder or folder == "" then return end
    local a9a = pn.data.libsvm(folder .. "/a9a.gz", { cols = 123 }):clip_rows("l2", 1)
    for epsilon, how in pairs { [0.1] = { 30, 9 }, [1] = { 64, 66 }, [10] = { 138, 465 } } do
      assert.is_false(is_warned(over(a9a, how[1], { epsilon = epsilon, iterations = how[2] })))
    end
  end)
end)
