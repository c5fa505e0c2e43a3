-- potential_pair_spec.lua -- potentials of products and sums: what noise costs, and steps that are those of the parts.
local pn = require "penumbra"

local function uniform_data(n, p)
  return pn.data.from(pn.mat.zeros(n, p), pn.vec.ones(n)):clip_rows("l2", 1)
end

-- The mean of the points of a run without privacy whose gradient is theta - target.
local function run(C, target, eta, potential)
  local obj = pn.objective {data = uniform_data(10, C.dim), loss = pn.loss.hinge(), set = C}
  return pn.solve.mirror_descent(obj, {privacy = false, iterations = 30, step = eta, potential = potential,
    noise = {covariance = 1, oracle = function(theta) return theta - target end}}).theta
end

local function cost(P, C)
  return math.sqrt(2 * P:range(C) * P:noise_trace(C))
end

describe("the potential of a product", function()
  local simplex, ball = pn.set.simplex {dim = 50, radius = 1}, pn.set.l2_ball {dim = 20, radius = 1}

  it("costs what its parts cost, added up", function()
    local C = simplex:product(ball)
    local P = pn.potential.for_set(C)
    assert.is_near(7.24117, cost(P, C), 5e-6)
    assert.is_near(math.sqrt(2 * 0.98 * math.log(50)) + math.sqrt(20), cost(P, C), 1e-9)
    local nested = (C:product(pn.set.l1_ball {dim = 30}))
    assert.is_near(cost(P, C) + math.sqrt(2 * math.log(60)), cost(pn.potential.for_set(nested), nested), 1e-9)
    assert.equal("product", P.name)
    assert.is_false(P.lifted)
  end)

  it("takes for each part the potential in which noise costs least", function()
    assert.matches("euclidean, .* euclidean", tostring(pn.potential.for_set(pn.set.l1_ball {dim = 5}:product(ball))))
    assert.matches("signed_entropy, .* euclidean", tostring(pn.potential.for_set(pn.set.l1_ball {dim = 6}:product(ball))))
  end)

  it("moves each part as that part moves alone, in its own time", function()
    local targets = {pn.vec.linspace(-1, 1, 50), pn.vec.linspace(0.5, 2, 20)}
    local both = pn.vec.zeros(70)
    for j = 1, 50 do both[j] = targets[1][j] end
    for j = 1, 20 do both[50 + j] = targets[2][j] end
    for _, factor in ipairs {1, 2} do
      local A, B = factor * simplex, factor * ball
      local C = factor * simplex:product(ball)
      local P = pn.potential.for_set(C)
      local theta = run(C, both, 0.7, P)
      for k, part in ipairs {A, B} do
        local own = pn.potential.for_set(part)
        local weight = math.sqrt(own:noise_trace(part) / own:range(part))
        local alone = run(part, targets[k], 0.7 / weight, own)
        local off = (theta:slice(k == 1 and 1 or 51, k == 1 and 50 or 70) - alone):norm(math.huge)
        assert.is_true(off <= 1e-12, off)
      end
      assert.is_true(C:contains(theta, 1e-12))
    end
  end)

  it("is what mirror descent takes by default", function()
    local C = simplex:product(ball)
    local obj = pn.objective {data = uniform_data(1000, 70), loss = pn.loss.logistic(), set = C}
    local plan = pn.solve.mirror_descent.plan(obj, {rho = 0.1})
    assert.matches("product", plan.lines.potential, 1, true)
    assert.is_near(7.24117 * plan.lines["noise of all s"] / 4, plan.predicted, 1e-5 * plan.predicted)
    assert.is_number(plan.bound)
  end)

  it("leaves a part of one point, and parts without a range, alone", function()
    local point = pn.set.box {lower = {1, 2}, upper = {1, 2}}
    local C = point:product(ball)
    local P = pn.potential.for_set(C)
    assert.is_near(math.sqrt(20), cost(P, C), 1e-9)
    assert.equal("euclidean", pn.potential.for_set(pn.set.free {dim = 2}:product(ball)).name)
  end)
end)

describe("the potential of a sum", function()
  local C = pn.set.l1_ball {dim = 40, radius = 2} + pn.set.l2_ball {dim = 40, radius = 0.5}

  it("costs what its terms cost, added up, and has both for points", function()
    local P = pn.potential.for_set(C)
    assert.is_near(2 * math.sqrt(2 * math.log(80)) + 0.5 * math.sqrt(40), cost(P, C), 1e-9)
    assert.is_true(P.lifted)
    assert.equal(80, P.dim)
    local x = P:mirror_step(P:start(C), pn.vec.linspace(-3, 2, 80), 5, C)
    assert.is_true(x:slice(1, 40):norm(1) <= 2 * (1 + 1e-12) and x:slice(41, 80):norm() <= 0.5 * (1 + 1e-12))
    assert.is_true((P:theta(x) - x:slice(1, 40) - x:slice(41, 80)):norm() < 1e-14)
    assert.is_true(C:contains(P:theta(x), 1e-9))
  end)

  it("leads to the minimum over the sum", function()
    -- min ||theta - target||^2/2: at the minimum <target - theta, v - theta> <= 0 for all v.
    local target = pn.vec.linspace(-1, 2, 40)
    local obj = pn.objective {data = uniform_data(10, 40), loss = pn.loss.hinge(), set = C}
    local theta = pn.solve.mirror_descent(obj, {privacy = false, iterations = 4000, step = 0.5,
      potential = (pn.potential.for_set(C)),
      noise = {covariance = 1, oracle = function(at) return at - target end}}).theta
    local away = target - theta
    assert.is_true(C:support(away) - away:dot(theta) < 2e-3)
  end)

  it("refuses a set of other parts", function()
    local P = pn.potential.for_set(C)
    local ok, message = pcall(P.start, P, pn.set.l2_ball {dim = 40})
    assert.is_false(ok)
    assert.matches("l2_ball is not one of such parts", message, 1, true)
    ok, message = pcall(P.theta, P, pn.vec.zeros(40))
    assert.is_false(ok)
    assert.matches("40 entries, the potential has 80", message, 1, true)
  end)
end)
