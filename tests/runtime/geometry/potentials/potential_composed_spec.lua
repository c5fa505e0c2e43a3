-- potential_composed_spec.lua -- potentials of products, sums and images: what noise costs, and steps that are those of the
-- parts.
local pn = require "penumbra"

local function uniform_data(n, p)
  return pn.data.from(pn.mat.zeros(n, p), pn.vec.ones(n)):clip_rows("l2", 1)
end

-- The mean of the points of a run without privacy whose gradient is theta - target.
local function run(C, target, eta, potential, steps)
  local obj = pn.objective {data = uniform_data(10, C.dim), loss = pn.loss.hinge(), set = C}
  return pn.solve.mirror_descent(obj, {privacy = false, iterations = steps or 30, step = eta, potential = potential,
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

describe("the potential of an image", function()
  local function matrix(rows, cols, seed)
    local rng, out = pn.rng.seeded(seed), {}
    for i = 1, rows do out[i] = pn.vec.normal(cols, rng):table() end
    return out
  end
  local function diagonal(numbers, shift)
    local out = {}
    for i = 1, #numbers do
      out[i] = {}
      for j = 1, #numbers do out[i][j] = (i + (shift or 0) - 1) % #numbers + 1 == j and numbers[j] or 0 end
    end
    return out
  end
  -- The least cost of the potential that fits the set and the Euclidean one, with the latter's advantage in a tie.
  local function own_cost(C)
    local euclidean = cost(pn.potential.euclidean {center = C:center()}, C)
    local fitting = cost(pn.potential.for_set(C), C)
    return euclidean < 1.05 * fitting and euclidean or fitting
  end
  local function apply(A, x)
    local out = {}
    for i = 1, #A do out[i] = pn.vec(A[i]):dot(x) end
    return pn.vec(out)
  end
  local bodies = {
    pn.set.l2_ball {dim = 12, radius = 2}, pn.set.l1_ball {dim = 12}, pn.set.simplex {dim = 12, radius = 3},
    pn.set.group_ball {dim = 12, k = 2}, pn.set.interpolation_ball {dim = 12, alpha = 0.3}, pn.set.linf_ball {dim = 12},
    pn.set.nuclear_ball {rows = 3, cols = 4}, pn.set.l1_ball {dim = 7}:product(pn.set.l2_ball {dim = 5}),
    pn.set.l1_ball {dim = 12} + pn.set.l2_ball {dim = 12},
    pn.set.l1_ball {dim = 12}:intersect(pn.set.linf_ball {dim = 12, radius = 0.2}),
  }

  it("costs by the identity, a rotation of coordinates and a scaling what the set itself costs", function()
    local ones, twos = {}, {}
    for j = 1, 12 do ones[j], twos[j] = 1, 2 end
    for _, C in ipairs(bodies) do
      local want = own_cost(C)
      local images = {C:image(diagonal(ones)), C:image(diagonal(ones, 5)), (0.5 * C):image(diagonal(twos)) + pn.vec.ones(12)}
      for _, image in ipairs(images) do
        local got = cost(pn.potential.for_set(image), image)
        assert.is_near(want, got, 1e-9 * want, tostring(C))
      end
    end
  end)

  it("costs r |A|_F over an l2 ball and r A sqrt(2 ln 2p) over an l1 ball, A the longest column", function()
    local A = matrix(9, 12, 5)
    local squares, longest = 0, 0
    for j = 1, 12 do
      local column = 0
      for i = 1, 9 do column = column + A[i][j] ^ 2 end
      squares, longest = squares + column, math.max(longest, column)
    end
    local C = pn.set.l2_ball {dim = 12, radius = 2}:image(A)
    local P = pn.potential.for_set(C)
    assert.is_near(2 * math.sqrt(squares), cost(P, C), 1e-9)
    assert.is_near(squares, P:noise_trace(C), 1e-9 * squares)
    assert.equal("image", P.name)
    assert.is_true(P.lifted)
    assert.equal(12, P.dim)
    C = pn.set.l1_ball {dim = 12, radius = 2}:image(A) -- few columns: Euclidean
    assert.is_near(2 * math.min(math.sqrt(longest * 2 * math.log(24)), math.sqrt(squares)), cost(pn.potential.for_set(C), C), 1e-9)
    C = (pn.set.l2_ball {dim = 12} + pn.set.l2_ball {dim = 12, radius = 2}):image(A)
    assert.is_near(3 * math.sqrt(squares), cost(pn.potential.for_set(C), C), 1e-9)
    C = pn.set.l2_ball {dim = 12}:image(diagonal({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})):image(A)
    local scaled = 0
    for i = 1, 9 do
      for j = 1, 12 do scaled = scaled + (j * A[i][j]) ^ 2 end
    end
    assert.is_near(math.sqrt(scaled), cost(pn.potential.for_set(C), C), 1e-9)
  end)

  it("is the entropy of the vertices' weights where these fit a list", function()
    local A, longest = matrix(9, 60, 5), 0
    for j = 1, 60 do
      local column = 0
      for i = 1, 9 do column = column + A[i][j] ^ 2 end
      longest = math.max(longest, column)
    end
    local C = pn.set.l1_ball {dim = 60, radius = 2}:image(A)
    assert.is_near(2 * math.sqrt(longest * 2 * math.log(120)), cost(pn.potential.for_set(C), C), 1e-9)
    assert.equal("polytope", pn.potential.for_set(C).name)
  end)

  it("weighs the parts of what is mapped by what is seen of them", function()
    local A = matrix(8, 70, 2)
    for i = 1, 8 do
      for j = 1, 50 do A[i][j] = 30 * A[i][j] end
    end
    local longest, squares = 0, 0
    for j = 1, 70 do
      local column = 0
      for i = 1, 8 do column = column + A[i][j] ^ 2 end
      longest, squares = math.max(longest, j <= 50 and column or 0), squares + (j > 50 and column or 0)
    end
    local C = pn.set.l1_ball {dim = 50}:product(pn.set.l2_ball {dim = 20}):image(A)
    assert.is_near(math.sqrt(longest * 2 * math.log(100)) + math.sqrt(squares), cost(pn.potential.for_set(C), C), 1e-6)
  end)

  it("has for points those of the set that is mapped, and what they are mapped on", function()
    local A, s = matrix(9, 12, 5), pn.vec.linspace(-1, 1, 9)
    for k, inner in ipairs(bodies) do
      local C = -2 * inner:image(A) + s
      local P = pn.potential.for_set(C)
      if P.name == "image" then
        local x = P:mirror_step(P:start(C), pn.vec.linspace(-3, 2, P.dim), 0.3, C)
        if P.dim == 12 then
          assert.is_true((-2 * inner):contains(x, 1e-9))
          assert.is_true((P:theta(x) - apply(A, x) - s):norm() < 1e-12)
        end
        assert.is_true(C:contains(P:theta(x), 1e-6), k)
      end
    end
  end)

  -- min ||theta - target||^2/2: at the minimum <target - theta, v - theta> <= 0 for all v.
  it("leads to the minimum over the image", function()
    local A, target = matrix(9, 12, 5), pn.vec.linspace(-1, 2, 9)
    for _, inner in ipairs {bodies[1], bodies[4], bodies[8], bodies[9], bodies[9]:image(matrix(12, 12, 8))} do
      local C = 0.3 * inner:image(A)
      local P = pn.potential.for_set(C)
      assert.equal("image", P.name)
      local theta = run(C, target, 0.3 / P:noise_trace(C), P, 3000)
      local away = target - theta
      assert.is_true(C:support(away) - away:dot(theta) < 1e-2 * (1 + target:norm() * C.radius), tostring(inner))
    end
  end)

  it("is what mirror descent and accelerated mirror descent take by default, private or not", function()
    local A = matrix(20, 30, 3)
    local data = pn.data.synthetic.logistic {n = 500, p = 20, seed = 2}:clip_rows("l2", 1)
    for _, inner in ipairs {pn.set.l2_ball {dim = 30}, pn.set.group_ball {dim = 30, k = 3},
      pn.set.l1_ball {dim = 30} + pn.set.l2_ball {dim = 30, radius = 0.2}} do
      local C = inner:image(A)
      local obj = pn.objective {data = data, loss = pn.loss.logistic(), set = C}
      for _, name in ipairs {"mirror_descent", "accelerated_mirror_descent"} do
        local plan = pn.solve[name].plan(obj, {rho = 0.1, iterations = 30})
        assert.matches("image", plan.lines.potential, 1, true)
        assert.is_number(plan.bound)
        for _, budget in ipairs {{privacy = false}, {rho = 0.1, rng = pn.rng.seeded(1)}} do
          budget.iterations = 30
          local fit = pn.solve[name](obj, budget)
          assert.is_true(C:contains(fit.theta, 1e-6 * C.radius))
        end
      end
    end
  end)

  it("leaves images that are one point, and of sets without end, to others", function()
    local zero = matrix(3, 4, 1)
    for i = 1, 3 do zero[i] = {0, 0, 0, 0} end
    local C = pn.set.l2_ball {dim = 4}:image(zero)
    assert.equal("euclidean", pn.potential.for_set(C).name)
    local obj = pn.objective {data = uniform_data(10, 3), loss = pn.loss.logistic(), set = C}
    assert.is_near(0, pn.solve.mirror_descent(obj, {privacy = false, iterations = 5}).theta:norm(), 1e-12)
  end)

  -- Over {x in the ball : |A x + s| <= 1/2} the step from the origin along -c is the point nearest to c: <c - x, v - x> <= 0.
  it("steps over what another set leaves of a moved image", function()
    local A, s, rng = matrix(9, 12, 5), pn.vec.linspace(-0.1, 0.2, 9), pn.rng.seeded(2)
    local inner = pn.set.l2_ball {dim = 12, radius = 0.3}
    local moved = inner:image(A) + s
    local C, P = moved:intersect(pn.set.l2_ball {dim = 9, radius = 0.5}), pn.potential.for_set(moved)
    assert.equal("image", P.name)
    local start, c = P:start(C), pn.vec.linspace(-3, 2, 12)
    local x = P:mirror_step(start, -1 * c, 1, C)
    assert.is_near(0.5, P:theta(x):norm(), 1e-6)
    assert.is_true(C:contains(P:theta(x), 1e-9) and inner:contains(x, 1e-12))
    for _ = 1, 300 do
      local v = 0.3 * pn.vec.normal(12, rng)
      v = inner:project(v + x)
      while P:theta(v):norm() > 0.5 do v = 0.9 * v end
      assert.is_true((c - x):dot(v - x) <= 1e-6, (c - x):dot(v - x))
    end
  end)

  it("refuses images of other sets, and other images", function()
    local A = matrix(3, 4, 1)
    local P = pn.potential.for_set(pn.set.l2_ball {dim = 4}:image(A))
    A[2][2] = A[2][2] + 1
    local other = pn.set.l2_ball {dim = 4}:image(A)
    for _, C in ipairs {other, pn.set.l2_ball {dim = 3}} do
      local ok, message = pcall(P.start, P, C)
      assert.is_false(ok)
      assert.matches("the potential of an image", message, 1, true)
    end
  end)
end)
