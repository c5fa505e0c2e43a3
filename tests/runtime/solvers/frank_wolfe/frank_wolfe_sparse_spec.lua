-- frank_wolfe_sparse_spec.lua -- private Frank-Wolfe on sparse records of the squared loss, whose gradient is kept in
-- whole numbers: beside the same records stored densely, where it is computed anew in every step.
local pn = require "penumbra"

local N, P, RADIUS = 400, 600, 2

-- Some twelve of 600 features in a record, few of them popular; the label follows three of them.
local function records()
  local rng, i, j, x, y, rows = pn.rng.seeded(5), {}, {}, {}, {}, {}
  for r = 1, N do
    local row = {}
    for _ = 1, 12 do row[math.min(P, math.floor(P ^ rng:uniform()))] = 2 * rng:uniform() - 1 end
    for column, value in pairs(row) do i[#i + 1], j[#j + 1], x[#x + 1] = r, column, value end
    rows[r] = {}
    for column = 1, P do rows[r][column] = row[column] or 0 end
    y[r] = math.max(-1, math.min(1, (row[2] or 0) - (row[5] or 0) + (row[9] or 0) + 0.2 * (rng:uniform() - 0.5)))
  end
  return pn.sparse { rows = N, cols = P, i = i, j = j, x = x }, rows, y
end

local X, rows, y = records()

local function bounded(data) return data:clip_rows("linf", 1):clip_labels(-1, 1) end

local sparse = bounded(pn.data.from(X, y))
local dense = bounded(pn.data.from(rows, y))

local function objective(data, set, loss)
  return pn.objective { data = data, loss = loss or pn.loss.squared(), set = set or pn.set.l1_ball { dim = P, radius = RADIUS } }
end

local function ledger() return pn.ledger { rho = 1e14, teaching = true } end

local function fit(data, rho, set, steps)
  return pn.solve.frank_wolfe(objective(data, set),
    { rho = rho, iterations = steps or 60, rng = pn.rng.seeded(3), ledger = ledger() })
end

local function kept(plan) return plan.lines.gradient == "whole numbers" end

local nowhere = pn.vec.zeros(P)

describe("private Frank-Wolfe on sparse records", function()
  it("keeps its gradient where it can, and says so before it runs", function()
    local function plan(data, set, options, loss)
      local with = { rho = 1, iterations = 30 }
      for name, value in pairs(options or {}) do with[name] = value end
      return pn.solve.frank_wolfe.plan(objective(data, set, loss), with)
    end
    assert.is_true(kept(plan(sparse)))
    assert.is_true(kept(plan(sparse, -2 * pn.set.l1_ball { dim = P })))
    assert.is_true(kept(plan(sparse:float32())))
    assert.is_false(kept(plan(dense)))
    assert.is_false(kept(plan(sparse, pn.set.simplex { dim = P })))
    assert.is_false(kept(plan(sparse, pn.set.l1_ball { dim = P, center = nowhere + 0.001 })))
    assert.is_false(kept(plan(sparse, nil, { selection = "laplace" })))
    assert.is_false(kept(plan(sparse, nil, { step = "paper" })))
    assert.is_false(kept(plan(sparse, nil, { iterations = 65536 })))
    assert.is_false(kept(plan(sparse, nil, nil, pn.loss.huber())))
  end)

  it("walks as over dense records where the noise is next to nothing, also in a reflected ball", function()
    for _, set in ipairs { pn.set.l1_ball { dim = P, radius = RADIUS }, -RADIUS * pn.set.l1_ball { dim = P } } do
      local exact = pn.solve.frank_wolfe(objective(dense, set), { privacy = false, iterations = 60 })
      local theta = fit(sparse, 1e13, set).theta
      assert.is_true((theta - exact.theta):norm(math.huge) < 1e-12)
      assert.is_true((fit(dense, 1e13, set).theta - exact.theta):norm(math.huge) < 1e-12)
      assert.is_true(theta:norm(1) <= RADIUS * (1 + 1e-12))
    end
  end)

  it("is charged and priced as over dense records", function()
    local a, b = fit(sparse, 0.5), fit(dense, 0.5)
    assert.equal(tostring(b.privacy), tostring(a.privacy))
    local plan = pn.solve.frank_wolfe.plan(objective(sparse), { rho = 0.5, iterations = 60 })
    local twin = pn.solve.frank_wolfe.plan(objective(dense), { rho = 0.5, iterations = 60 })
    for _, name in ipairs { "epsilon per step", "sensitivity Delta", "Gumbel scale beta", "risk from noise" } do
      assert.equal(twin.lines[name], plan.lines[name])
    end
    assert.equal(twin.bound, plan.bound)
    local budget = pn.ledger { rho = 1 }
    pn.solve.frank_wolfe(objective(sparse), { ledger = budget, rho = 0.25, iterations = 7 })
    assert.is_true(math.abs(budget.remaining - 0.75) < 1e-5)
  end)

  it("shows the loss of every step under seeded noise", function()
    local a = fit(sparse, 0.5)
    local f = objective(sparse)
    assert.is_true(math.abs(a.trace[1].value - f:value(nowhere)) < 1e-12)
    assert.is_true(a.trace[60].value == a.trace[60].value)
  end)

  it("takes its first vertex by the law of its plan", function()
    -- P(vertex) is proportional to exp(score/beta): 4000 runs, the best two vertices, false alarm
    -- 1e-6 a cell at 4.9 standard errors; noise times 0.8 moves the first by more than ten of them.
    local f = objective(sparse)
    local plan = pn.solve.frank_wolfe.plan(f, { rho = 0.25, iterations = 1 })
    local g, beta, weights, sum = f:gradient(nowhere), plan.lines["Gumbel scale beta"], {}, 0
    for j = 1, P do
      for sign = -1, 1, 2 do
        local w = math.exp(-sign * RADIUS * g[j] / beta)
        weights[#weights + 1] = { j = j, sign = sign, w = w }
        sum = sum + w
      end
    end
    table.sort(weights, function(a, b) return a.w > b.w end)
    local runs, counts, chosen = 4000, { 0, 0 }, ledger()
    for seed = 1, runs do
      local theta = plan:run { rng = pn.rng.seeded(seed), ledger = chosen }.theta
      for k = 1, 2 do
        if theta[weights[k].j] == weights[k].sign * RADIUS then counts[k] = counts[k] + 1 end
      end
    end
    assert.is_true(weights[1].w / sum > 0.2 and weights[1].w / sum < 0.8, weights[1].w / sum)
    for k = 1, 2 do
      local p = weights[k].w / sum
      local off = math.abs(counts[k] / runs - p) / math.sqrt(p * (1 - p) / runs)
      assert.is_true(off < 4.9, ("vertex %d: %g standard errors"):format(k, off))
    end
  end)

  it("chooses among all vertices alike where records say nothing", function()
    -- Empty features, 2000 runs: half of the vertices are negative, a quarter of the features come first; 4.9 standard errors.
    local empty = bounded(pn.data.from(pn.sparse { rows = N, cols = P, i = {}, j = {}, x = {} }, y))
    local plan = pn.solve.frank_wolfe.plan(objective(empty), { rho = 1, iterations = 1 })
    local negative, early, book = 0, 0, ledger()
    for seed = 1, 2000 do
      local theta = plan:run { rng = pn.rng.seeded(seed), ledger = book }.theta
      for j = 1, P do
        if theta[j] ~= 0 then
          negative = negative + (theta[j] < 0 and 1 or 0)
          early = early + (j <= P / 4 and 1 or 0)
        end
      end
    end
    assert.is_true(math.abs(negative / 2000 - 0.5) < 4.9 * math.sqrt(0.25 / 2000))
    assert.is_true(math.abs(early / 2000 - 0.25) < 4.9 * math.sqrt(0.1875 / 2000))
  end)
end)
