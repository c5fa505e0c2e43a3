-- paid_spec.lua -- fit:intervals with a Hessian that is paid for: the law of gradient descent and of objective perturbation against
-- computations written apart and seeded runs; the price; coverage; analysts.
-- False alarms: 1e-6 a bound or less; of coverage by tests/tools/coverage.lua.
local pn = require "penumbra"
local coverage = require "tests.tools.coverage"
local refused = require("tests.tools.refusal").refused
local scores = require "penumbra.scores"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local function sample(seed, n, p, one)
  local rng = pn.rng.seeded(seed)
  local X, y = {}, pn.vec.zeros(n)
  for i = 1, n do
    local x, z = rng:sphere(p), 0
    for j = 1, p do z = z + one * x[j] end
    X[i], y[i] = x, rng:uniform() < 1 / (1 + math.exp(-z)) and 1 or -1
  end
  return pn.data.from(pn.mat(X), y):clip_rows("l2", 1):clip_labels(-1, 1)
end

local function objective(d, parts)
  local all = { data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = d.p, radius = 40 } }
  for name, part in pairs(parts or {}) do all[name] = part end
  return pn.objective(all)
end

-- ---- the laws ----

-- The answer to noise 1 at step `at` and none else, and with at = 0 to a start at 1 from the minimum, by the steps themselves.
local function impulse(at, how, h, m)
  local x, before, average = at == 0 and 1 or 0, at == 0 and 1 or 0, 0
  for t = 1, how.iterations do
    local y = x + how.momentum * (x - before)
    local next = (y - how.step * (h * y + (t == at and 1 or 0))) / (1 + how.step * m)
    before, x = x, next
    local share = (1 + how.tail) / (t + how.tail)
    average = average + share * (x - average)
  end
  return how.output == "average" and average or x
end

local HOWS = {
  { iterations = 7, step = 0.9, output = "last", tail = 0, momentum = 0 },
  { iterations = 9, step = 0.7, output = "last", tail = 0, momentum = 0.6 },
  { iterations = 12, step = 0.5, output = "average", tail = 0, momentum = 0 },
  { iterations = 11, step = 0.8, output = "average", tail = 3, momentum = 0.4 },
}

local function plan_of(how, o, epsilon)
  return pn.solve.gradient_descent.plan(o, { epsilon = epsilon, delta = 1e-6, iterations = how.iterations, step = how.step,
    output = how.output, momentum = how.momentum, tail = how.output == "average" and how.tail or nil })
end

describe("the law of gradient descent", function()
  it("is the sum over the noise of each step", function()
    local o = objective(sample(1, 60, 2, 1), { reg = pn.reg.l2(0.1) })
    for _, how in ipairs(HOWS) do
      local plan = plan_of(how, o, 5)
      for _, h in ipairs { 0.01, 0.2, 1.1 } do
        local sum = 0
        for t = 1, how.iterations do sum = sum + impulse(t, how, h, 0.1) ^ 2 end
        local variance, left = scores.response(plan, h, 0.1)
        assert.near(plan.sigma ^ 2 * sum, variance, 1e-10 * variance)
        assert.near(impulse(0, how, h, 0.1), left, 1e-12)
      end
    end
  end)

  -- Exactly linear in its noise.  The mean of 2400 squares, in deviations, has the deviation .029: five of these see a sigma that
  -- is 10 % off, whose mean is 1.21 or .81.
  law("is what seeded runs do on least squares", function()
    local d, runs = sample(2, 60, 2, 0.5), 1200
    local o = pn.objective { data = d, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 2, radius = 500 } }
    local how = HOWS[4]
    local plan, H, best = plan_of(how, o, 200000), o:hessian(pn.vec.zeros(2)), pn.solve.exact(o, { tol = 1e-12 }).theta
    local values, V = H:eigen()
    local squares, off, each = 0, { 0, 0 }, {}
    for k = 1, 2 do each[k] = { scores.response(plan, values[k], 0) } end
    for run = 1, runs do
      local z = V:t() * (plan:run { rng = pn.rng.seeded(run), progress = false }.theta - best)
      local start = V:t() * (best * -1)
      for k = 1, 2 do
        local one = (z[k] - each[k][2] * start[k]) / math.sqrt(each[k][1])
        squares, off[k] = squares + one ^ 2, off[k] + one
      end
    end
    assert.near(1, squares / runs / 2, 5 * math.sqrt(2 / (2 * runs)))
    for k = 1, 2 do assert.near(0, off[k] / math.sqrt(runs), 5.1) end -- two normal numbers: 7e-7
  end)

  it("is none of a random point, and of a loss with kinks", function()
    local d = sample(3, 200, 2, 1)
    local L = pn.ledger { rho = 10 }
    local fit = pn.solve.gradient_descent(objective(d), { rho = 1, output = "random" })
    refused("a random point of its path", fit.intervals, fit, { ledger = L, rho = 1 })
    fit = pn.solve.gradient_descent(pn.objective { data = d, loss = pn.loss.hinge(), set = pn.set.l2_ball { dim = 2 } },
      { rho = 1, output = "average" })
    refused("kinks", fit.intervals, fit, { ledger = L, rho = 1, target = "records" })
    assert.equal(0, L.spent)
  end)
end)

describe("the law of objective perturbation", function()
  it("is that of the linear term and of the answer's own noise", function()
    local plan = pn.solve.objective_perturbation.plan(objective(sample(4, 500, 2, 1)), { epsilon = 2, delta = 1e-6 })
    local b, own, d = plan.lines["std of b, sigma/n"], plan.lines["answer noise"], plan.lines["lambda = Lam/n"]
    local variance, left = scores.response(plan, 0.2, 0.05)
    assert.near((b / (0.25 + d)) ^ 2 + own ^ 2, variance, 1e-9 * variance)
    assert.near(d / (0.25 + d), left, 1e-12)
  end)
end)

-- ---- the price ----

describe("intervals that are paid for", function()
  local o = objective(sample(5, 2000, 2, 1), { reg = pn.reg.l2(0.01) })

  it("charge the ledger what was asked, once, and the released Hessian serves again", function()
    for _, solver in ipairs { "gradient_descent", "sgd", "objective_perturbation" } do
      local L = pn.ledger { rho = 3 }
      local fit = pn.solve[solver](o, { epsilon = 1, delta = 1e-6 })
      local t = fit:intervals { ledger = L, rho = 0.5 }
      assert.near(0.5, L.spent, 1e-6)
      assert.equal("approx", t.kind)
      local again = fit:intervals { released = t.released, target = "records", debias = true }
      assert.near(0.5, L.spent, 1e-6)
      assert.is_true(again[1].sd_privacy > 0 and t[1].sd_sampling > 0)
      local H = o:hessian(fit.theta)
      for i = 1, 2 do
        for j = 1, 2 do
          local exact = H[i][j] - (i == j and 0.01 or 0)
          assert.near(exact, t.released.matrix[i][j], 6 * t.released.noise) -- 4 numbers: 8e-9
        end
      end
    end
  end)

  it("have the covariance of the law at the released Hessian", function()
    for _, solver in ipairs { "gradient_descent", "objective_perturbation" } do
      local fit = pn.solve[solver](o, { epsilon = 4, delta = 1e-6 })
      local t = fit:intervals { ledger = pn.ledger { rho = 10 }, rho = 10, target = "records", level = 0.9 }
      local values, V = t.released.matrix:eigen()
      for j = 1, 2 do
        local sum = 0
        for k = 1, 2 do sum = sum + V[j][k] ^ 2 * scores.response(fit.plan, values[k], 0.01) end
        assert.near(math.sqrt(sum), t[j].sd_privacy, 1e-9 * t[j].sd_privacy)
        assert.near(1.6448536269514722 * t[j].sd_privacy, t[j].high - t[j].estimate, 1e-9)
      end
    end
  end)

  it("know the deviation of what they were given", function()
    local L = pn.ledger { rho = 1e9, teaching = true }
    local fit = pn.solve.gradient_descent(o, { epsilon = 1, delta = 1e-6 })
    local H, on, beside, runs = o:hessian(fit.theta), 0, 0, 400
    for run = 1, runs do
      local c = fit:intervals { ledger = L, rho = 0.1, rng = pn.rng.seeded(run) }.released
      on = on + ((c.matrix[1][1] + 0.01 - H[1][1]) / c.noise) ^ 2 + ((c.matrix[2][2] + 0.01 - H[2][2]) / c.noise) ^ 2
      beside = beside + 2 * ((c.matrix[1][2] - H[1][2]) / c.noise) ^ 2
    end
    -- of 800 and of 400 squares: five deviations of their means
    assert.near(1, on / runs / 2, 5 * math.sqrt(2 / (2 * runs)))
    assert.near(1, beside / runs, 5 * math.sqrt(2 / runs))
  end)

  it("pay for nothing where the call is wrong", function()
    local L = pn.ledger { rho = 0.1 }
    local fit = pn.solve.gradient_descent(o, { epsilon = 1, delta = 1e-6 })
    refused("give ledger= and rho=", fit.intervals, fit)
    refused("give rho, or epsilon", fit.intervals, fit, { ledger = L })
    refused("ledger must be a pn.ledger", fit.intervals, fit, { rho = 0.1 })
    refused("of intervals of the same fit", fit.intervals, fit, { released = {} })
    refused("Remaining 0.1", fit.intervals, fit, { ledger = L, rho = 0.2 })
    local squared = pn.objective { data = o.data, loss = pn.loss.squared(), set = pn.set.l2_ball { dim = 2, radius = 5 } }
    local other = pn.solve.gradient_descent(squared, { epsilon = 1, delta = 1e-6 })
    refused("solve.sufficient_statistics has both", other.intervals, other, { ledger = L, rho = 0.1 })
    local walk = pn.solve.gradient_descent.plan(o, { epsilon = 1, delta = 1e-6, iterations = 5 }):steps()
    walk:step()
    local stopped = walk:fit()
    refused("after 1 of 5 steps", stopped.intervals, stopped, { ledger = L, rho = 0.1 })
    assert.equal(0, L.spent)
  end)

  it("are analysts' from the curator's ledger, which they do not name", function()
    local ledger = pn.ledger { epsilon = 4, delta = 1e-5 }
    local curator = pn.curator { data = { d = sample(6, 1000, 2, 1) }, ledger = ledger }
    local answer = curator:run [[
      local o = pn.objective { data = data.d, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 2, radius = 40 } }
      local fit = pn.solve.gradient_descent(o, { epsilon = 1, delta = 1e-6 })
      local before = budget.spent
      local t = fit:intervals { epsilon = 1, delta = 1e-6, target = "records" }
      local free = pn.solve.newton(o, { epsilon = 1, delta = 1e-6 })
      local between = budget.spent
      string.format = nil
      print(free:intervals())
      return budget.spent == between and between > before, #t, getmetatable(t),
        pcall(fit.intervals, fit, { ledger = 1, epsilon = 1, delta = 1e-6 })
    ]]
    assert.truthy(answer.ok, answer.answer)
    assert.truthy(answer.answer:find("true\t2\tfalse\tfalse", 1, true), answer.answer)
    assert.truthy(answer.answer:find("everything is charged to the curator's", 1, true), answer.answer)
    assert.truthy(answer.output:find("intervals of 95 %", 1, true), answer.output)
  end)

  it("are those of models, too", function()
    local d = sample(7, 3000, 2, 1)
    local m = pn.model.logistic { data = d, epsilon = 2, delta = 1e-6 }
    local paid = m.plan.solver ~= "newton" and { ledger = pn.ledger { rho = 1 }, rho = 0.5 } or nil
    assert.equal(2, #m:intervals(paid))
  end)
end)

-- ---- coverage ----

describe("coverage", function()
  for k, case in ipairs { { "gradient_descent", 1 }, { "objective_perturbation", 1 }, { "gradient_descent", 0.3 },
    { "objective_perturbation", 0.3 } } do
    tier.it(law, k == 1)(("of %s is what it says at epsilon = %g, debiased"):format(case[1], case[2]), function()
      local p, one, runs = 2, 1 / math.sqrt(2), tier.times(30, 300)
      local n, records, population, control = tier.times(2000, 10000), 0, 0, 0
      for run = 1, runs do
        local o = objective(sample(200 + run, n, p, one), { reg = pn.reg.l2(1e-3) })
        local best = pn.solve.newton(o, { privacy = false, progress = false }).theta
        local L = pn.ledger { rho = 100, teaching = true }
        local fit = pn.solve[case[1]](o, { epsilon = case[2], delta = 1e-6, rng = pn.rng.seeded(run), progress = false })
        local t = fit:intervals { ledger = L, rho = 0.1 * fit.plan.epsilon ^ 2 / 20, rng = pn.rng.seeded(1000 + run),
          debias = true }
        local r = fit:intervals { released = t.released, debias = true, target = "records" }
        for j = 1, p do
          local each, width = 1 / (p * runs), 1.96 * t[j].sd_sampling
          records = records + (r[j].low <= best[j] and best[j] <= r[j].high and each or 0)
          population = population + (t[j].low <= one and one <= t[j].high and each or 0)
          control = control + (math.abs(t[j].estimate - one) <= width and each or 0)
        end
      end
      if os.getenv "PN_SHOW" then
        print(("%s, epsilon %g: records %.3f population %.3f V_S alone %.3f"):format(case[1], case[2], records, population,
          control))
      end
      for _, share in ipairs { records, population } do
        assert.is_true(share >= coverage.floor(runs) and share <= coverage.ceiling(runs), share)
      end
      if case[2] < 1 then assert.is_true(control < coverage.floor(runs), control) end
    end)
  end
end)
