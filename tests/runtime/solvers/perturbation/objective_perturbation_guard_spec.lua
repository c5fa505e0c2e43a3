-- objective_perturbation_guard_spec.lua -- what must not reach a caller of objective perturbation, and what its offset must
-- hold: sets of a user's functions, sets whose support is approximate, sets far from the origin, progress.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local law = require("tests.tools.tier").law(it)
local solve = pn.solve.objective_perturbation

local n, p = 200, 3
local budget = { epsilon = 1, delta = 1e-6 }

local function over(set)
  local data = pn.data.synthetic.logistic { n = n, p = set and set.dim or p, seed = 1 }:clip_rows("l2", 1)
  return pn.objective { data = data, loss = pn.loss.logistic(), set = set }
end

local function no_solution(set, text)
  local ledger = pn.ledger { epsilon = 1, delta = 1e-6 }
  local before = ledger.remaining
  refused(text, solve, over(set), { ledger = ledger })
  assert.equal(before, ledger.remaining)
end

local function offset(set, options)
  return solve.plan(over(set), options or budget).lines["offset a"]
end

describe("objective perturbation over a set", function()
  it("shows no point to functions of a user, alone or inside another set", function()
    local calls = 0
    local mine = pn.set.custom { dim = p, radius = 1,
      project = function(v) calls = calls + 1 return v:norm() <= 1 and v or v / v:norm() end,
      support = function(g) calls = calls + 1 return g / g:norm() end }
    local box = pn.set.box { lower = { -1, -1, -1 }, upper = { 1, 1, 1 } }
    for _, set in ipairs { mine, 2 * mine, mine + { 1, 0, 0 }, mine:intersect(box) } do
      local f = over(set)
      calls = 0
      local ok, message = pcall(solve, f, budget)
      assert.is_false(ok)
      assert.matches("functions of yours", message, 1, true)
      assert.equal(0, calls)
    end
    no_solution(mine, "not private yet")
    assert.is_true(#solve(over(mine), { privacy = false, lambda = 0.1 }).theta == p) -- without privacy they may see all
  end)

  it("rests no certificate on an approximate support that nothing bounds", function()
    local ball, box = pn.set.l2_ball { dim = p, radius = 1 }, pn.set.l1_ball { dim = p, radius = 1.2 }
    no_solution(ball:intersect(box), "no certificate can rest on it")
    no_solution(0.5 * ball:intersect(box), "no certificate can rest on it")
    no_solution(ball:intersect(box):product(ball), "no certificate can rest on it")
    no_solution(ball:hull(box):product(ball), "no certificate can rest on it") -- no projection of its own
    no_solution(ball:hull(box):polar(), "no certificate can rest on it")
    assert.equal(2 * p, #solve(over(ball:product(box)), budget).theta) -- both parts by formulas
  end)

  it("has what a support point may miss in its tolerance: n L radius times the share, at least four times", function()
    local function nuclear(tolerance)
      return pn.set.nuclear_ball { rows = 3, cols = 3, radius = 1, tolerance = tolerance }
    end
    local options = { rho = 0.5, lambda = 0.01 }
    for _, tolerance in ipairs { 1e-10, 1e-6, 0.3 } do
      local plan = solve.plan(over(nuclear(tolerance)), options)
      assert.is_true(plan.lines["tolerance tau"] >= 4 * n * tolerance * (1 - 1e-9))
      assert.is_true(plan.lines["offset a"] ^ 2 * 0.01 * n / 2 >= plan.lines["tolerance tau"] * (1 - 1e-9))
    end
  end)

  it("grows its tolerance with the distance from the origin, where the two products of the gap cancel", function()
    -- <g, x> and max <-g, s> are of the size n L 1e7 and rounded by 2^-53 of it
    local body = pn.set.lp_ball { dim = p, radius = 1, q = 3 }
    local far = body + { 1e7, 0, 0 }
    local plan = solve.plan(over(far), budget)
    assert.is_true(plan.lines["tolerance tau"] >= 4 * n * 1e7 * 2 ^ -53 * (p + 2))
    assert.is_true(offset(far) > 100 * offset(body))
  end)

  law("certifies by a norm, 2^-40 n L unless rounding is more, where the projection's error is known", function()
    -- so that a = 2^-40 n L/Lam; by the gap it would be sqrt(2^-39 n L diameter/Lam), which is 4e-6
    local options = { epsilon = 1, delta = 1e-6, lambda = 0.02 }
    for _, set in ipairs { pn.set.l2_ball { dim = p }, pn.set.l1_ball { dim = p }, pn.set.simplex { dim = p },
                           pn.set.unit_simplex { dim = p }, pn.set.linf_ball { dim = p },
                           pn.set.box { lower = { 0, -1, 0 }, upper = { 1, 1, 2 } }, 0.5 * pn.set.l1_ball { dim = p },
                           pn.set.l2_ball { dim = 1 }:product(pn.set.simplex { dim = 2 }) } do
      local lines = solve.plan(over(set), options).lines
      local a = 2 ^ -40 * lines["Lipschitz L"] / 0.02
      assert.is_near(a, lines["offset a"], 1e-8 * a)
    end
    local lines = solve.plan(over(pn.set.lp_ball { dim = p, q = 1.5 }), options).lines -- whose projection iterates
    local a = (2 ^ -39 * lines["Lipschitz L"] * 2 / 0.02) ^ 0.5
    assert.is_true(lines["offset a"] >= a * (1 - 1e-9) and lines["offset a"] < 1.5 * a)
  end)

  it("has four times what rounding a far projection hides in its tolerance", function()
    -- M = n beta + Lam; the projection is off by 2^-51 (||z|| + shift + radius + shift), the residual by 3 M times that, and the
    -- gradient by less than the same again
    local shift, lambda = 1e9, 0.02
    local far = pn.set.linf_ball { dim = p, radius = 1 } + { shift, 0, 0 }
    local tolerance = offset(far, { rho = 0.5, lambda = lambda }) * lambda * n
    local most = 4 * 3 * n * (0.25 + lambda) * 2 ^ -51 * 3 * shift
    assert.is_true(tolerance > most and tolerance < 2 * most)
  end)

  it("returns a minimum without noise that is within its offset, on the border and inside", function()
    -- Among forty tolerances some searches end just below theirs: one that stopped at twice its tolerance would be seen.
    local f, lambda = over(pn.set.l2_ball { dim = p, radius = 20 }), 0.02
    for _, set in ipairs { pn.set.l2_ball { dim = p, radius = 0.7 }, pn.set.l1_ball { dim = p, radius = 0.7 },
                           pn.set.simplex { dim = p }, pn.set.linf_ball { dim = p, radius = 0.3 } } do
      local g = over(set)
      local best = solve(g, { privacy = false, lambda = lambda }).theta
      for k = 1, 40 do
        local tau = 1e-8 * 1.7 ^ k
        local theta = solve(g, { privacy = false, lambda = lambda, tolerance = tau }).theta
        assert.is_true((theta - best):norm() <= (2 * tau / (lambda * n)) ^ 0.5)
      end
    end
    local closest = 0
    for k = 1, 40 do
      local tau = 1e-8 * 1.7 ^ k
      local theta = solve(f, { privacy = false, lambda = lambda, tolerance = tau }).theta
      local size = (n * (f:gradient(theta) + lambda * theta)):norm()
      local tolerance = (2 * tau * lambda * n) ^ 0.5
      assert.is_true(size <= tolerance)
      closest = math.max(closest, size / tolerance)
    end
    assert.is_true(closest > 0.5, closest)
  end)
end)

describe("a real run of objective perturbation", function()
  it("reports no progress of the minimum, which takes as many steps as the records make it", function()
    local heard = {}
    local function hear(_, _, label)
      heard[#heard + 1] = label
      os.execute "sleep 0.03" -- reports come at most every 20 ms, by a clock on the wall: let none be left out
    end
    for _, set in ipairs { false, pn.set.l2_ball { dim = p, radius = 1 } } do
      solve(over(set or nil), { epsilon = 1, delta = 1e-6, progress = hear })
    end
    for _, label in ipairs(heard) do assert.is_true(label ~= "objective perturbation") end
    solve(over(), { epsilon = 1, delta = 1e-6, progress = hear, rng = pn.rng.seeded(1) })
    local told = false -- a simulated one does, so that the above can fail
    for _, label in ipairs(heard) do told = told or label == "objective perturbation" end
    assert.is_true(told)
  end)
end)

describe("a minimum without noise on the answer", function()
  it("claims no guarantee anywhere, not even that of secure noise", function()
    for _, options in ipairs { { epsilon = 1, delta = 1e-6 }, { rho = 0.5 } } do
      options.approximate = false
      local plan = solve.plan(over(), options)
      assert.matches("guarantee%s+none", tostring(plan))
      assert.equal(math.huge, plan.rho)
      assert.equal(options.epsilon and math.huge or nil, plan.epsilon)
      local fit = plan:run { rng = pn.rng.seeded(1) }
      assert.is_false(fit.privacy.private)
      assert.equal(math.huge, fit.privacy.nominal_rho)
      assert.equal(options.epsilon and math.huge or nil, fit.privacy.nominal_epsilon)
      assert.matches("inf", tostring(fit), 1, true)
      assert.is_false((pcall(plan.run, plan)))
    end
  end)
end)

describe("the tolerance of objective perturbation", function()
  it("is that of the gap where the search ends, whatever it is", function()
    -- Without privacy the minimum itself is returned.  Among forty tolerances some searches end just below theirs: one that
    -- stopped at 1.2 times its tolerance would be seen.
    local ball = pn.set.lp_ball { dim = p, radius = 0.7, q = 3 }
    local f, lambda, closest = over(ball), 0.02, 0
    for k = 1, 40 do
      local tau = 1e-6 * 1.3 ^ k
      local theta = solve(f, { privacy = false, lambda = lambda, tolerance = tau }).theta
      local g = n * (f:gradient(theta) + lambda * theta)
      local gap = g:dot(theta) + ball:support(-1 * g)
      assert.is_true(gap <= tau)
      closest = math.max(closest, gap / tau)
    end
    assert.is_true(closest > 0.9)
  end)
end)

describe("the charge of objective perturbation over a set", function()
  it("holds the answer's noise beside the linear term's, at any split", function()
    local f = over(pn.set.l2_ball { dim = p, radius = 1 })
    for _, split in ipairs { 0.5, 0.9 } do
      local ledger = pn.ledger { rho = 0.5 }
      local plan = solve.plan(f, { ledger = ledger, split = split, lambda = 0.05, tolerance = 1e-6 })
      local s, jl = plan.lines["noise ratio s"], plan.lines["Jacobian Jl"]
      local mu = s * math.sqrt(1 / split - 1) -- the share of the answer
      assert.is_near(0.5, jl + s * s / 2 + s * math.sqrt(math.pi / 2) + mu * mu / 2, 2e-6)
      assert.is_true(mu * mu / 2 > 1e-3)
      plan:run()
      assert.is_true(plan.rho <= 0.5)
      assert.is_near(0.5, plan.rho, 1e-5) -- noise to 1e-5
      assert.is_near(0, ledger.remaining, 1e-5)
    end
  end)
end)
