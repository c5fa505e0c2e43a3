-- frank_wolfe_choices_spec.lua -- private Frank-Wolfe over sets whose vertices are made of several choices: the plan in closed
-- form, exact vertices without noise, the law and the price of a step, risk below its bound.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused
local tier = require "tests.tools.tier"
local law = tier.law(it)

local set = pn.set
local sets = {
  cube = set.linf_ball { dim = 6, radius = 0.5 },
  box = set.box { lower = { 0, -1, 0.5, 0 }, upper = { 1, 0.25, 0.5, 0.01 } }, -- the third is a point
  hypersimplex = set.hypersimplex { dim = 6, k = 2, radius = 0.25 },
  unit_hypersimplex = set.unit_hypersimplex { dim = 6, k = 3, radius = 0.25 },
  ksparse = set.ksparse_polytope { dim = 6, k = 2, radius = 0.25 },
  product = set.simplex { dim = 3 }:product(set.linf_ball { dim = 2, radius = 0.5 }),
  sum = set.l1_ball { dim = 4, radius = 0.5 } + set.linf_ball { dim = 4, radius = 0.1 },
  moved = -0.5 * (set.simplex { dim = 4 } + set.hypersimplex { dim = 4, k = 2, radius = 0.5 }) + { 0.25, 0.25, 0.25, 0.25 },
  image = set.linf_ball { dim = 3, radius = 0.25 }:image { { 1, 0, 0.5 }, { 1, 1, 0 }, { 0, -1, 1 }, { 0, 0.5, 0.5 } },
}
local names = {}
for name in pairs(sets) do names[#names + 1] = name end
table.sort(names)

-- |x_ij| <= 1, |y| <= 1.
local function lasso(over, n, seed)
  local data = pn.data.synthetic.lasso { n = n, p = over.dim, seed = seed or 1 }
  return pn.objective { data = data, loss = pn.loss.squared(), set = over }
end

local function close(expected, got, relative)
  assert.is_true(math.abs(got - expected) <= relative * math.abs(expected),
    ("expected %.10g within %g, got %.10g"):format(expected, relative, got))
end

describe("the plan of private Frank-Wolfe over a cube", function()
  local objective = lasso(sets.cube, 4000)
  -- |x_j| <= 1 and |<x, theta>| <= 3: every entry of a record's gradient is at most 4; replacing one moves the gradient by at most
  -- 8/n in each of 6 entries, and each of the 6 scores of an end, +-g/2, by half of that.
  local l1, l2 = 6 * 0.5 * 8 / 4000, math.sqrt(6) * 0.5 * 8 / 4000

  it("bounds what a record does to all choices together", function()
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.5, iterations = 50 })
    close(l1, plan.lines["sensitivity l1"], 1e-9)
    close(l2, plan.lines["sensitivity l2"], 1e-9)
    assert.equal(6, plan.lines["choices of a step"])
    local half = pn.solve.frank_wolfe.plan(objective, { rho = 0.5, iterations = 50, neighbours = "zero_out" })
    close(l2 / 2, half.lines["sensitivity l2"], 1e-9)
  end)

  -- theta = A v with |v_j| <= 1/2: |<x, theta>| <= 2, an entry of a record's gradient is at most 3, and both columns of A have
  -- l1 norm 2: replacing a record moves each score, +-(A^T g)_j/2, by at most 6/n.
  it("bounds what a record does to choices over an image", function()
    local image = set.linf_ball { dim = 2, radius = 0.5 }:image { { 1, 0 }, { 1, 1 }, { 0, -1 } }
    local plan = pn.solve.frank_wolfe.plan(lasso(image, 4000), { rho = 0.5, iterations = 50 })
    close(math.sqrt(2) * 6 / 4000, plan.lines["sensitivity l2"], 1e-9)
    close(2 * 6 / 4000, plan.lines["sensitivity l1"], 1e-9)
    assert.equal(2, plan.lines["choices of a step"])
  end)

  it("has scale, steps and bound as worked out by hand, under rho and under a pure epsilon", function()
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.5 })
    local one, c = l2 / math.sqrt(2 * 0.5), 6 * 0.278464542761
    close((4 * 36 / (one * c)) ^ (2 / 3), plan.iterations, 1e-3)
    close(one * math.sqrt(plan.iterations), plan.lines["Gumbel scale beta"], 1e-4)
    close(2 * 36 / (plan.iterations + 2) + one * math.sqrt(plan.iterations) * c, plan.bound, 1e-4)
    assert.is_true(plan.rho <= 0.5 and plan.rho > 0.4999)
    local pure = pn.solve.frank_wolfe.plan(objective, { epsilon = 1, iterations = 20 })
    close(2 * l1 * 20, pure.lines["noise scale"], 1e-4)
    assert.equal("permute_and_flip", pure.lines.selection)
    assert.equal("exponential", plan.lines.selection)
    local asked = pn.solve.frank_wolfe.plan(objective, { epsilon = 1, iterations = 20, selection = "exponential" })
    assert.equal("exponential", asked.lines.selection)
    assert.equal(pure.lines["noise scale"], asked.lines["Gumbel scale beta"])
    assert.truthy(tostring(pure.event):find("pure(epsilon=", 1, true), tostring(pure.event))
    assert.truthy(tostring(asked.event):find("exponential(epsilon=", 1, true), tostring(asked.event))
    assert.equal(plan.iterations, pn.solve.frank_wolfe.plan(objective, { rho = 0.5, preset = "theory" }).iterations)
    assert.is_true(pure.epsilon <= 1 and pure.epsilon > 0.9999)
    local both = pn.solve.frank_wolfe.plan(objective, { epsilon = 1, delta = 1e-6, iterations = 50 })
    assert.is_true(both.epsilon <= 1 and both.epsilon > 0.999)
  end)

  it("is ahead of noise on the gradient over the cube, and says where that is ahead", function()
    local gradient = pn.solve.frank_wolfe_convex.plan(objective, { rho = 0.5 })
    local choices = pn.solve.frank_wolfe.plan(objective, { rho = 0.5 })
    assert.is_true(choices.bound < 0.6 * gradient.bound, ("%g and %g"):format(choices.bound, gradient.bound))
    assert.is_nil(choices.lines["smaller noise"])
    -- rows of l2 norm 1: a record moves any k entries of the gradient together by what it moves one by
    local data = pn.data.synthetic.lasso { n = 4000, p = 60, seed = 1 }:clip_rows("l2", 1)
    local f = pn.objective { data = data, loss = pn.loss.squared(), set = set.hypersimplex { dim = 60, k = 30, radius = 0.1 } }
    local plan, other = pn.solve.frank_wolfe.plan(f, { rho = 0.5 }), pn.solve.frank_wolfe_convex.plan(f, { rho = 0.5 })
    assert.equal("frank_wolfe_convex", plan.lines["smaller noise"])
    assert.is_true(other.bound < plan.bound)
  end)

  it("prints lines of at most 80 columns", function()
    for row in tostring(pn.solve.frank_wolfe.plan(objective, { rho = 0.5 })):gmatch "[^\n]+" do
      assert.is_true(#row <= 80, row)
    end
  end)
end)

describe("private Frank-Wolfe by several choices", function()
  for _, name in ipairs(names) do
    local objective = lasso(sets[name], 2000)

    it("makes the exact vertices where the noise is next to nothing: " .. name, function()
      local huge = { rho = 1e13, iterations = 25, ledger = pn.ledger { rho = 1e14, teaching = true }, rng = pn.rng.seeded(1) }
      local exact = pn.solve.frank_wolfe(objective, { privacy = false, iterations = 25 })
      assert.is_true((pn.solve.frank_wolfe(objective, huge).theta - exact.theta):norm(math.huge) < 1e-12)
    end)

    it("ends in the set, below its bound on average, and the same without noise near the minimum: " .. name, function()
      local best = pn.solve.exact(objective, { tol = 1e-6 }).value
      local plan, sum, runs = pn.solve.frank_wolfe.plan(objective, { rho = 2, iterations = 60 }), 0, 20
      for seed = 1, runs do
        local theta = plan:run { rng = pn.rng.seeded(seed) }.theta
        assert.is_true(sets[name]:contains(theta, 1e-9))
        sum = sum + objective:value(theta) - best
      end
      -- The bound is on the mean over the noise; losses are within the reach of the set, most runs are far below it.
      assert.is_true(sum / runs < plan.bound, ("%g, bound %g"):format(sum / runs, plan.bound))
      local control = pn.solve.frank_wolfe(objective, { privacy = false, iterations = 60 })
      assert.is_true(control.value - best <= 2 * plan.lines["curvature Gamma"] / 62)
      assert.is_true(control.value - best < 0.02)
    end)
  end

  law("takes each end by its law, at the scale of the plan", function()
    -- At theta = 0 the gradient is -mean(y x), for both features: +-0.25.  P(upper end) = 1/(1 + exp(-2 (h |g|)/b)), and by
    -- permute-and-flip 1 - exp(-2 (h |g|)/b)/2, each by itself: 24,000 draws of two, false alarm 1e-6 a cell at 4.9 standard
    -- errors; noise times 0.8 moves P by more than 10 of them.
    local data = pn.data.from({ { 1, -1 }, { 1, -1 }, { 1, -1 }, { -1, 1 } }, { 0.5, 0.5, 0.5, 0.5 })
      :clip_rows("linf", 1):clip_labels(-1, 1)
    local over = set.linf_ball { dim = 2, radius = 0.1 }
    local function softmax(scale) return 1 / (1 + math.exp(-2 * 0.1 * 0.25 / scale)) end
    local function flip(scale) return 1 - math.exp(-2 * 0.1 * 0.25 / scale) / 2 end
    for _, case in ipairs { { softmax, "Gumbel scale beta", rho = 0.5 }, { flip, "noise scale", epsilon = 3 } } do
      local plan = pn.solve.frank_wolfe.plan(pn.objective { data = data, loss = pn.loss.squared(), set = over },
        { rho = case.rho, epsilon = case.epsilon, iterations = 1 })
      local beta, rng, draws, counts = plan.lines[case[2]], pn.rng.seeded(3), 24000, { 0, 0, 0, 0 }
      local chance, book = case[1], pn.ledger { rho = 1e9, teaching = true }
      for _ = 1, draws do
        local theta = plan:run { rng = rng, progress = false, ledger = book }.theta
        local cell = (theta[1] > 0 and 1 or 3) + (theta[2] < 0 and 0 or 1)
        counts[cell] = counts[cell] + 1
      end
      local p = chance(beta)
      for cell, want in ipairs { p * p, p * (1 - p), (1 - p) * p, (1 - p) * (1 - p) } do
        local error = math.sqrt(want * (1 - want) / draws)
        assert.is_true(math.abs(counts[cell] / draws - want) < 4.9 * error,
          ("%s %d: %g against %g"):format(case[2], cell, counts[cell] / draws, want))
      end
      assert.is_true(math.abs(chance(0.8 * beta) ^ 2 - p * p) > 9.8 * math.sqrt(p * p * (1 - p * p) / draws))
    end
  end)

  it("charges each step before it is made, and makes none that is not paid for", function()
    local objective = lasso(sets.cube, 500)
    local ledger = pn.ledger { rho = 0.5 }
    local plan = pn.solve.frank_wolfe.plan(objective, { rho = 0.5, iterations = 8 })
    local fit = plan:run { ledger = ledger }
    close(plan.rho, ledger.spent, 1e-9)
    assert.is_true(fit.privacy.private)
    local short, steps = pn.ledger { rho = 0.5 }, 0
    local finished = pcall(function()
      for _ in plan:steps { ledger = short } do
        steps = steps + 1
        if steps == 3 then short:close() end
      end
    end)
    assert.is_false(finished)
    assert.equal(3, steps)
  end)

  law("gives away no more than it is charged for, and more than half of it", function()
    -- One step over an interval, where the three other records lean to one side; confidence 1 - 1e-8.
    local function plan(label)
      local data = pn.data.from({ { 1 }, { 1 }, { 1 }, { -1 } }, { label, 1, 1, 1 }):clip_rows("linf", 1):clip_labels(-1, 1)
      local over = set.linf_ball { dim = 1, radius = 0.01 }
      return pn.solve.frank_wolfe.plan(pn.objective { data = data, loss = pn.loss.squared(), set = over },
        { epsilon = 2, iterations = 1 })
    end
    local ledger = pn.ledger { rho = 1e12, teaching = true }
    local result = pn.audit(function(run, rng) return run:run { ledger = ledger, rng = rng, progress = false }.theta[1] > 0 end,
      { neighbours = { plan(1), plan(-1) }, trials = 12000, epsilon = 2, confidence = 1 - 1e-8, rng = pn.rng.seeded(5),
        progress = false })
    assert.is_false(result.violated)
    assert.is_true(result.epsilon_lower > 1, tostring(result.epsilon_lower))
  end)

  it("refuses what it does not have, and says what to use", function()
    local plan = pn.solve.frank_wolfe.plan
    local function over(name) return lasso(name, 100) end
    refused("solve.frank_wolfe_convex", plan, over(set.l2_ball { dim = 3 }), { rho = 1 })
    refused("l2_ball is none of these", plan, over(set.simplex { dim = 2 }:product(set.l2_ball { dim = 3 })), { rho = 1 })
    refused("selection=\"laplace\" is for a list of vertices", plan, over(sets.cube), { rho = 1, selection = "laplace" })
    refused("selection=\"permute_and_flip\" over linf_ball needs a pure epsilon", plan, over(sets.cube),
      { rho = 1, selection = "permute_and_flip" })
    refused("preset=\"practical\" is for a list of vertices", plan, over(sets.cube), { rho = 1, preset = "practical" })
    refused("preset=\"practical\" is for a list of vertices", plan, over(sets.product), { epsilon = 1, preset = "practical" })
    refused("calibration=\"paper\" is for a list", plan, over(sets.cube), { epsilon = 1, delta = 1e-6, calibration = "paper" })
    refused("add_remove", plan, over(sets.cube), { rho = 1, neighbours = "add_remove" })
    refused("too small", plan, over(sets.cube), { rho = 1e-30, iterations = 10 })
    local open = pn.objective { data = pn.data.from({ { 1 }, { 2 } }, { 1, 2 }), loss = pn.loss.squared(),
      set = set.linf_ball { dim = 1 } }
    refused("clip_rows", plan, open, { rho = 1 })
  end)
end)
