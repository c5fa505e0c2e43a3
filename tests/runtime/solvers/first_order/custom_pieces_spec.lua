-- custom_pieces_spec.lua -- to a solver, pieces that a user writes are those that it knows: same plans, same noise, same answers.
local pn = require "penumbra"

local p = 5

local function data()
  return (pn.data.synthetic.logistic {n = 400, p = p, seed = 2}):clip_rows("l2", 1)
end

local function disc_by(names)
  local parts = {
    dim = p, radius = 1.5, symmetric = true,
    support = function(g) return 1.5 / g:norm() * g end,
    project = function(v) local n = v:norm() return n > 1.5 and 1.5 / n * v or 1 * v end,
    contains = function(v) return v:norm() <= 1.5 end,
  }
  local given = {dim = parts.dim, radius = parts.radius, symmetric = true}
  for _, name in ipairs(names) do given[name] = parts[name] end
  return pn.set.custom(given)
end

local function problem(set)
  return pn.objective {data = data(), loss = pn.loss.logistic(), set = set}
end

describe("a set of a user's functions", function()
  local ball = pn.set.l2_ball {dim = p, radius = 1.5}

  it("gives mirror descent the built-in ball's plan and answer", function()
    local known = pn.solve.mirror_descent.plan(problem(ball), {rho = 0.5, iterations = 60})
    for _, names in ipairs {{"support", "project", "contains"}, {"project"}} do
      local own = pn.solve.mirror_descent.plan(problem(disc_by(names)), {rho = 0.5, iterations = 60})
      assert.is_near(known.bound, own.bound, 1e-9)
      assert.is_near(known.lines["noise sigma"], own.lines["noise sigma"], 1e-9)
      local a, b = known:run {rng = pn.rng.seeded(3)}, own:run {rng = pn.rng.seeded(3)}
      assert.is_true((a.theta - b.theta):norm() < 1e-9)
    end
  end)

  it("needs no projection of its own for mirror descent", function()
    local known = pn.solve.mirror_descent(problem(ball), {rho = 0.5, iterations = 20, rng = pn.rng.seeded(3)})
    local own = pn.solve.mirror_descent(problem(disc_by {"support"}), {rho = 0.5, iterations = 20, rng = pn.rng.seeded(3)})
    assert.is_true((known.theta - own.theta):norm() < 1e-5)
  end)

  it("gives Frank-Wolfe on noisy gradients the built-in ball's answer, and a bound from its own width", function()
    local options = {rho = 0.5, iterations = 40}
    local known = pn.solve.frank_wolfe_convex.plan(problem(ball), options)
    local own = pn.solve.frank_wolfe_convex.plan(problem(disc_by {"support"}), options)
    -- Monte Carlo, from above: at most 2 x 2 % of the radius more.
    assert.is_true(own.bound >= known.bound and own.bound < known.bound + 0.06 * own.lines["noise sigma"] * 1.5 * 2)
    local a, b = known:run {rng = pn.rng.seeded(5)}, own:run {rng = pn.rng.seeded(5)}
    assert.is_true((a.theta - b.theta):norm() < 1e-12)
  end)

  it("serves the exact minimum and non-private Frank-Wolfe", function()
    local best = pn.solve.exact(problem(ball), {tol = 1e-9}).value
    assert.is_near(best, pn.solve.exact(problem(disc_by {"support", "project"}), {tol = 1e-9}).value, 1e-9)
    local fit = pn.solve.frank_wolfe(problem(disc_by {"support"}), {privacy = false, iterations = 400})
    assert.is_true(fit.value - best <= fit.plan.bound)
  end)

  it("ends a run with the user's own error, having paid for what was released", function()
    local calls = 0
    local set = pn.set.custom {dim = p, radius = 1.5, project = function(v)
      calls = calls + 1
      if calls > 60 then error {code = 42} end
      local n = v:norm()
      return n > 1.5 and 1.5 / n * v or 1 * v
    end}
    local plan = pn.solve.mirror_descent.plan(problem(set), {rho = 0.5, iterations = 200})
    local ledger = pn.ledger {rho = 0.5}
    local ok, problem_of_user = pcall(plan.run, plan, {ledger = ledger})
    assert.is_false(ok)
    assert.equal(42, problem_of_user.code)
    assert.is_true(ledger.remaining < 0.5 and ledger.remaining > 0)
  end)

  it("is refused where a private run would hand its functions what is not paid for", function()
    assert.error_matches(function()
      pn.solve.objective_perturbation.plan(problem(disc_by {"support", "project"}), {epsilon = 1, delta = 1e-6})
    end, "function")
  end)
end)

describe("a potential of a user's functions", function()
  it("takes the steps of the entropy that it copies", function()
    local function entropy(x)
      local sum = 0
      for i = 1, #x do
        if x[i] < 0 then return math.huge end
        sum = sum + (x[i] > 0 and x[i] * math.log(x[i]) or 0)
      end
      return sum
    end
    local function slope(x)
      local g = pn.vec.zeros(#x)
      for i = 1, #x do g[i] = 1 + math.log(math.max(x[i], 1e-300)) end
      return g
    end
    local own = pn.potential.custom {dim = p, strong_convexity = 1, norm = pn.norm.l1(), value = entropy, gradient = slope,
      range = math.log(p)}
    local simplex = pn.set.simplex {dim = p}
    local obj = problem(simplex)
    local options = {rho = 0.5, iterations = 15, step = 0.2, potential = pn.potential.entropy {}}
    local known = pn.solve.mirror_descent.plan(obj, options):run {rng = pn.rng.seeded(9)}
    options.potential = own
    local fit = pn.solve.mirror_descent.plan(obj, options):run {rng = pn.rng.seeded(9)}
    -- Steps of functions end within bound/(100 L), which moves later gradients by a quarter of that at most: t = 3.
    local d = fit.plan.bound / (100 * fit.plan.lines["Lipschitz L"])
    assert.is_true((known.theta - fit.theta):norm() < 1.75 * d)
  end)
end)
