-- second_order_spec.lua -- runs of second-order descent: the worked saddle and Covertype without noise, what private runs
-- charge however they end, their phases, and what they refuse.  Expected numbers: second-order.md, section 11, and closed
-- forms beside them.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)

local data = pn.data.synthetic.logistic {n = 400, p = 3, seed = 2}:clip_rows("l2", 1)
local plain = pn.objective {data = data, loss = pn.loss.logistic(), reg = pn.reg.nonconvex(1e-3)}
-- Of negative curvature away from 0: from (2, 2, -2) some steps along it, and then down.
local bumpy = pn.objective {data = data, loss = pn.loss.logistic(), reg = pn.reg.nonconvex(0.5)}

local function options(o, more)
  local out = {start = {2, 2, -2}, tolerance = {gradient = 0.2, hessian = 0.05}, gap = 1, iterations = 60}
  for k, v in pairs(o or {}) do out[k] = v end
  for k, v in pairs(more or {}) do out[k] = v end
  if not out.rho and not out.epsilon and out.privacy == nil then out.rho = 1 end
  return out
end

local function run(obj, o, seed)
  o = options(o)
  local plan = pn.solve.second_order.plan(obj, o)
  local ledger = pn.ledger {rho = o.rho, epsilon = o.epsilon, delta = o.delta, teaching = true}
  return plan:run {ledger = ledger, rng = pn.rng.seeded(seed or 1)}, ledger, plan
end

local function kinds(fit)
  local seen = {gradient = 0, curvature = 0, done = 0}
  for _, row in ipairs(fit.trace) do seen[row.kind] = seen[row.kind] + 1 end
  return seen
end

describe("second_order without noise", function()
  -- (w_0^2 - 1)^2/4 + w_1^2/2 as the mean of two records.
  local saddle = pn.objective {
    data = pn.data.from({{1, 0}, {0, 1}}, {1, 0}),
    loss = pn.loss.glm(function(z, y) return y * (z ^ 2 - 1) ^ 2 / 2 + (1 - y) * z ^ 2 end),
  }
  local how = {privacy = false, tolerance = {gradient = 0.055, hessian = 0.22}, smoothness = 2, hessian_lipschitz = 6,
    gap = 1, start = {0, 0.5}}

  it("leaves the saddle along its curvature and ends at the minimum after 11 iterations (item 7)", function()
    local fit = pn.solve.second_order(saddle, how)
    local values = {0.28125, 0.2578125, 0.2519531, 0.2504883, 0.1980191, 0.1476455}
    for k, value in ipairs(values) do assert.is_near(value, fit.trace[k + 1].value, 5e-8) end
    assert.equal(11, #fit.trace)
    for k = 1, 4 do assert.equal("gradient", fit.trace[k].kind) end
    assert.equal("curvature", fit.trace[5].kind)
    assert.is_near(-1, fit.trace[5].eigenvalue, 1e-14)
    assert.is_near(1 / 3, fit.trace[5].step_size, 1e-14)
    assert.equal("done", fit.trace[11].kind)
    assert.equal("certified", fit.stopped)
    assert.is_near(0.99854, math.abs(fit.theta[1]), 5e-6)
    assert.is_near(0.00097656, fit.theta[2], 5e-9)
  end)

  it("goes along the curvature to the side where f falls", function()
    for _, side in ipairs {-1, 1} do
      how.start = {side * 0.002, 0.5}
      local fit = pn.solve.second_order(saddle, how)
      assert.equal("certified", fit.stopped)
      assert.is_true(kinds(fit).curvature > 0)
      assert.is_near(side, fit.theta[1], 0.05)
    end
    how.start = {0, 0.5}
  end)

  it("gives a certificate that is the gradient and the eigenvalue themselves", function()
    local fit = pn.solve.second_order(saddle, how)
    local c = fit.certificate
    assert.equal("certified", c.status)
    assert.equal(1, c.probability)
    assert.is_near(0, c.gradient_error, 1e-12)
    assert.is_near(0, c.hessian_error, 1e-12)
    -- (w_0^3 - w_0, w_1) and min(3 w_0^2 - 1, 1)
    local w = math.abs(fit.theta[1])
    assert.is_near(math.sqrt((w ^ 3 - w) ^ 2 + 0.0009765625 ^ 2), c.gradient_norm, 1e-12)
    assert.is_near(1, c.eigenvalue, 1e-12)
    assert.same({0.055, -0.22}, {c.gradient_target, c.eigenvalue_target})
  end)

  it("finds the same by Lanczos steps and by products", function()
    for _, eigen in ipairs {"lanczos", "matrix_free"} do
      how.eigen = eigen
      local fit = pn.solve.second_order(saddle, how)
      assert.equal(11, #fit.trace)
      assert.is_near(0.99854, math.abs(fit.theta[1]), 5e-6)
      -- two steps see all of a Hessian of order 2; the error stays within tau = eps_H/10
      assert.is_true(fit.certificate.hessian_error >= 0 and fit.certificate.hessian_error <= 1e-12)
      assert.is_near(1, fit.certificate.eigenvalue, 1e-12)
    end
    how.eigen = nil
  end)

  it("says that it ran out of iterations", function()
    how.iterations = 4
    local fit = pn.solve.second_order(saddle, how)
    assert.equal(4, fit.steps)
    assert.equal("iterations", fit.stopped)
    assert.equal("iterations", fit.certificate.status)
    assert.is_nil(fit.certificate.gradient_norm)
    assert.is_nil(fit.certificate.eigenvalue)
    how.iterations = nil
  end)

  it("searches for longer steps that lower f by what the tests ask for", function()
    how.line_search = true
    local fit = pn.solve.second_order(saddle, how)
    assert.equal("certified", fit.stopped)
    assert.is_true(kinds(fit).curvature >= 1)
    for k = 1, #fit.trace - 1 do
      local row, fall = fit.trace[k], fit.trace[k].value - fit.trace[k + 1].value
      local asked = row.kind == "gradient" and 0.6 * row.step_size * row.gradient_norm ^ 2
        or 0.125 * row.step_size ^ 2 * math.abs(row.eigenvalue)
      assert.is_true(fall >= asked - 1e-12)
    end
    how.line_search = nil
  end)

  it("stays in the set", function()
    local d = pn.data.from({{1, 0}, {0, 1}}, {1, 1}):clip_rows("l2", 1)
    local obj = pn.objective {data = d, loss = pn.loss.logistic(), set = pn.set.l2_ball {dim = 2, radius = 0.5}}
    local fit = pn.solve.second_order(obj, {privacy = false, tolerance = {gradient = 0.01}, iterations = 40})
    assert.is_near(0.5, fit.theta:norm(), 1e-12) -- the minimum is at infinity
  end)
end)

describe("second_order with noise", function()
  it("charges for what it released: every gradient, and a Hessian where one was looked at", function()
    for seed = 1, 6 do
      local fit, ledger, plan = run(bumpy, {rho = 20}, seed)
      local seen = kinds(fit)
      assert.equal("certified", fit.stopped)
      assert.is_true(seen.gradient > 0 and seen.curvature > 0 and seen.done == 1)
      -- T iterations of two equal shares: rho/(2 T) each.
      local cost = (#fit.trace + seen.curvature + seen.done) * 20 / (2 * plan.iterations)
      assert.is_near(cost, 20 - ledger.remaining, cost * 1e-4)
      assert.is_near(cost, fit.privacy.charged_rho, cost * 1e-4)
    end
  end)

  it("adds a search to every step that moves, and none to the last", function()
    for seed = 1, 6 do
      local fit, ledger, plan = run(bumpy, {rho = 20, line_search = true}, seed)
      local seen = kinds(fit)
      local cost = (2 * #fit.trace - seen.done + seen.curvature + seen.done) * 20 / (3 * plan.iterations)
      assert.is_near(cost, 20 - ledger.remaining, cost * 1e-4)
      assert.is_near(cost, fit.privacy.charged_rho, cost * 1e-4)
    end
  end)

  it("states the whole budget, whose end is read off the releases", function()
    local plan = pn.solve.second_order.plan(bumpy, options {rho = 20})
    local fit = plan:run {}
    assert.is_near(20, fit.privacy.rho, 1e-6)
    assert.is_true(fit.privacy.charged_rho < 20)
    assert.is_false(fit.privacy.simulated)
    for _, row in ipairs(fit.trace) do assert.is_nil(row.value) end
  end)

  law("never asks a ledger of just its budget for more, however it ends", function()
    local budgets = {{rho = 0.02}, {epsilon = 0.3, delta = 1e-5}}
    local variants = {{}, {line_search = true}, {phases = 2}, {phases = 2, line_search = true}, {batch = 40},
      {batch = 40, line_search = true, phases = 2}, {gap = false, value_share = 0.1},
      {gap = false, value_share = 0.1, phases = 2, line_search = true, use_filter = true}, {use_filter = true},
      {hessian_noise = "packed"}, {svt = "value", line_search = true}}
    for _, budget in ipairs(budgets) do
      for _, variant in ipairs(variants) do
        for seed = 1, 3 do
          local o = options(budget, variant)
          if o.gap == false then o.gap = nil end
          o.tolerance, o.iterations = {gradient = 0.01, hessian = 0.01}, 25
          local plan = pn.solve.second_order.plan(bumpy, o)
          local ledger = pn.ledger {rho = o.rho, epsilon = o.epsilon, delta = o.delta, teaching = true}
          local walk, last = plan:steps {ledger = ledger, rng = pn.rng.seeded(seed)}, nil
          for state in walk do last = state end -- a refusal by the ledger would raise
          local fit = walk:fit()
          assert.is_true(fit.stopped == "budget" or fit.stopped == "certified" or last.kind == "done" or fit.steps > 0)
          assert.is_true(fit.certificate.status == "budget" or fit.certificate.status == "certified")
          if fit.certificate.status == "budget" then assert.is_nil(fit.certificate.gradient_norm) end
          assert.is_true(ledger.remaining >= 0)
        end
      end
    end
  end)

  it("spends a budget that never suffices to the end of T, and with use_filter nearly all of it", function()
    local o = {rho = 1e-3, tolerance = {gradient = 1e-4, hessian = 1e-3}, iterations = 30}
    local fit, ledger = run(plain, o)
    assert.same({30, "budget", "budget"}, {fit.steps, fit.stopped, fit.certificate.status})
    assert.is_near(0.5e-3, ledger.remaining, 1e-8) -- the Hessians that no step looked at
    o.use_filter = true
    fit, ledger = run(plain, o)
    assert.is_true(fit.steps >= 58 and fit.steps <= 60) -- each left iteration has to fit whole
    assert.is_true(ledger.remaining < 1e-3 / 30)
  end)

  it("gives phase 2 what phase 1 has left", function()
    local o = {rho = 1e-3, tolerance = {gradient = 1e-4, hessian = 1e-3}, iterations = 25, phases = 2}
    local fit, ledger = run(plain, o)
    -- Phase 1: five gradients of 3/4 rho in ten shares.  Phase 2: half of the 5/8 that are left, in 25 gradients.
    assert.equal(30, fit.steps)
    assert.equal("budget", fit.stopped)
    assert.is_near(1e-3 * 5 / 16, ledger.remaining, 1e-8)
    o.first_share, o.first_iterations = 0.5, 10
    fit, ledger = run(plain, o)
    assert.equal(35, fit.steps)
    assert.is_near(1e-3 * 3 / 8, ledger.remaining, 1e-8)
  end)

  it("goes on from the point of phase 1", function()
    local o = {rho = 5, tolerance = {gradient = 0.001, hessian = 0.03}, iterations = 9, phases = 2}
    local plan = pn.solve.second_order.plan(plain, options(o))
    local before
    for state in plan:steps {rng = pn.rng.seeded(4)} do
      if before then
        -- a step of 1/G along what was released
        assert.is_near(state.step_size * state.gradient_norm, (state.theta - before):norm(), 1e-9)
      end
      before = state.theta:copy()
    end
  end)

  it("certifies with the noise of the release that passed", function()
    local fit, _, plan = run(bumpy, {rho = 20}, 3)
    local c, T, d, zeta = fit.certificate, plan.iterations, 3, 0.1
    local z = math.sqrt(T / 20) -- two equal shares of rho/T, each 1/(2 z^2)
    local gradient = 2 / 400 * z * (math.sqrt(d) + math.sqrt(2 * math.log(2 * T / zeta)))
    local hessian = math.sqrt(2) / 4 / 400 * z * (math.sqrt(2 * d) + math.sqrt(2 * math.log(2 * T / zeta)))
    assert.equal("certified", c.status)
    assert.is_near(0.9, c.probability, 1e-12)
    assert.is_near(gradient, c.gradient_error, gradient * 1e-4)
    assert.is_near(hessian, c.hessian_error, hessian * 1e-4)
    assert.is_near(c.released_gradient_norm + c.gradient_error, c.gradient_norm, 1e-12)
    assert.is_near(math.max(c.released_eigenvalue - c.hessian_error, -0.25), c.eigenvalue, 1e-12) -- public: -1/2 the weight of r
    assert.equal(c.released_gradient_norm, fit.trace[#fit.trace].gradient_norm)
    assert.equal(c.released_eigenvalue, fit.trace[#fit.trace].eigenvalue)
    assert.is_true(c.released_gradient_norm <= 0.2 / 1.1 and c.released_eigenvalue >= -0.05 / 1.1)
  end)

  it("lowers f by what is proven at every move while the noise is as small as the theorem asks (item 11)", function()
    -- G = 1/4 + 2/2, M = .096225 + 4.6685593/2; eps_g = .2/1.1, eps_H = .05/1.1
    local G, M, g, h = 1.25, 0.0962250 + 2.33427965, 0.2 / 1.1, 0.05 / 1.1
    local least = math.min(0.8 * g ^ 2 / (2 * G), 0.3 * h ^ 3 / M ^ 2)
    for seed = 1, 10 do
      local fit = run(bumpy, {rho = 1e9}, seed)
      assert.is_true(kinds(fit).curvature > 0 and kinds(fit).gradient > 0)
      for k = 1, #fit.trace - 1 do assert.is_true(fit.trace[k].value - fit.trace[k + 1].value >= least) end
    end
  end)

  it("finishes in phase 1 where the target is loose", function()
    local fit, _, plan = run(bumpy, {rho = 2000, phases = 2, line_search = true})
    assert.equal("certified", fit.stopped)
    assert.is_true(fit.steps <= math.ceil(math.sqrt(plan.iterations)))
  end)

  it("draws a batch for every query: other trajectories, no raw values, more error", function()
    local fit = run(bumpy, {rho = 20, batch = 100}, 1)
    for _, row in ipairs(fit.trace) do assert.is_nil(row.value) end
    assert.is_true(fit.certificate.gradient_error > 0.3) -- sampling alone
    local seen = kinds(fit)
    assert.equal(100 * (#fit.trace + seen.curvature + seen.done), fit.gradients)
  end)

  it("shows raw values of simulated runs on all records", function()
    local fit = run(bumpy, {rho = 20}, 1)
    assert.is_true(fit.privacy.simulated)
    for _, row in ipairs(fit.trace) do assert.is_number(row.value) end
    assert.is_near(bumpy:value(pn.vec {2, 2, -2}), fit.trace[1].value, 1e-12)
  end)

  it("refuses products without a stored Hessian under real noise, before anything is charged", function()
    local plan = pn.solve.second_order.plan(bumpy, options {rho = 20, eigen = "matrix_free"})
    local ledger = pn.ledger {rho = 20}
    assert.error_matches(function() plan:run {ledger = ledger} end, "rounding of a product depends on the records")
    assert.equal(20, ledger.remaining)
    local fit, teaching = run(bumpy, {rho = 20, eigen = "matrix_free"}, 1)
    local seen = kinds(fit)
    local cost = (#fit.trace + seen.curvature + seen.done) * 20 / (2 * plan.iterations)
    assert.equal("certified", fit.stopped)
    assert.is_near(cost, 20 - teaching.remaining, cost * 1e-4)
  end)

  it("ends as interrupted runs do when it is stopped, with what was paid for", function()
    local plan = pn.solve.second_order.plan(bumpy, options {rho = 20, tolerance = {gradient = 1e-3, hessian = 0.01}})
    local ledger = pn.ledger {rho = 20, teaching = true}
    local walk = plan:steps {ledger = ledger, rng = pn.rng.seeded(1)}
    walk()
    walk()
    local fit = walk:fit()
    assert.equal(2, fit.steps)
    assert.is_near(20 - ledger.remaining, fit.privacy.charged_rho, 1e-9)
    assert.equal("unfinished", fit.certificate.status)
    assert.is_nil(fit.certificate.gradient_norm)
  end)

  it("is refused by a ledger that does not cover it, which then stays whole", function()
    local plan = pn.solve.second_order.plan(bumpy, options {rho = 20})
    local ledger = pn.ledger {rho = 19}
    assert.error_matches(function() plan:run {ledger = ledger} end, "Requested rho 20")
    assert.equal(19, ledger.remaining)
  end)

  -- T = ceil((f(w0) + z + shift - floor)/decrease) shows z, and no run ends before T: the noise is far above eps_g.  Of 400
  -- draws 63.5 +- 7.3 are below -sigma; beyond 5 deviations: false alarm below 1e-6.  Noise of one sign never is.
  law("releases the value at the start with noise of both signs (item 12)", function()
    local p, n = 12, 400
    local obj = pn.objective {data = pn.data.synthetic.logistic {n = n, p = p, seed = 3}:clip_rows("l2", 1),
      loss = pn.loss.logistic()}
    local start = pn.vec.ones(p) / 4
    local rho, share, exact = 0.01, 0.1, obj:value(start)
    local floor, decrease = exact - 0.2, 0.8 * (0.15 / 1.1) ^ 2 / 2 -- G = 1; gradient steps decide
    local sigma = start:norm() / n / math.sqrt(2 * share * rho) -- the loss at w0 has range ||w0|| over all records
    local plan = pn.solve.second_order.plan(obj, {rho = rho, value_share = share, floor = floor, start = start,
      tolerance = {gradient = 0.15, hessian = 1}, smoothness = 1, hessian_lipschitz = 1})
    local below, less = 0, 0
    for seed = 1, 400 do
      local fit = plan:run {rng = pn.rng.seeded(seed)}
      assert.equal("budget", fit.stopped)
      local z = (fit.steps - 0.5) * decrease - (exact - floor) - sigma * math.sqrt(2 * math.log(10))
      below = below + (z < -sigma and 1 or 0)
      less = less + (fit.steps < (exact - floor) / decrease and 1 or 0)
    end
    assert.is_true(below >= 63.5 - 5 * 7.4 and below <= 63.5 + 5 * 7.4)
    assert.is_true(less <= 40 + 5 * 6) -- zeta = .1, at most
  end)
end)

local folder = os.getenv "PENUMBRA_DATA"

if folder and folder ~= "" then
  describe("second_order on Covertype", function()
    local obj = pn.objective {data = require "tests.runtime.solvers.engine.covertype"(folder), loss = pn.loss.logistic(),
      reg = pn.reg.nonconvex(1e-3)}
    local start = pn.vec.zeros(54)
    for j = 1, 54 do start[j] = math.sin(j) end

    it("takes the steps that were worked out without noise from w_j = sin j (item 8)", function()
      local expected = {{0.03, false, 34, 0.690568}, {0.03, true, 4, 0.686771}, {0.01, false, 331, 0.630576},
        {0.01, true, 29, 0.629904}}
      for _, row in ipairs(expected) do
        local fit = pn.solve.second_order(obj, {privacy = false, tolerance = {gradient = row[1]}, smoothness = 1,
          hessian_lipschitz = 1, gap = 0.5, start = start, line_search = row[2]})
        assert.equal("certified", fit.stopped)
        assert.equal(row[3], fit.steps)
        assert.is_near(row[4], fit.value, 5e-7)
        assert.is_near(0.732957, fit.trace[1].value, 5e-7)
        assert.is_near(0.046153, fit.trace[1].gradient_norm, 5e-7)
      end
    end)
  end)
end
