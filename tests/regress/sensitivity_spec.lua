-- sensitivity_spec.lua -- ways in which one record, or one option, once changed what was taken for public.
local pn = require "penumbra"

-- n records (+-1, 1) with the given labels, in sparse storage when asked for.
local function plan_of(y, low, high)
  local X = {}
  for i = 1, #y do X[i] = { i % 2 == 0 and 1 or -1, 1 } end
  local data = pn.data.from(X, y):clip_rows("linf", 1)
  if low then data = data:clip_labels(low, high) end
  local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 2, radius = 1 } }
  return pn.solve.frank_wolfe.plan(objective, { rho = 1 })
end

local function binary_labels()
  local y = {}
  for i = 1, 100 do y[i] = i % 3 == 0 and 1 or -1 end
  return y
end

describe("the sensitivity of a plan", function()
  it("is that of the declared labels, not of labels that happen to be all -1 or 1", function()
    local y = binary_labels()
    local with_ones = tostring(plan_of(y, -100, 100))
    y[1] = 50 -- a neighbour
    local neighbour = plan_of(y, -100, 100)
    assert.equal(tostring(neighbour), with_ones)
    -- 2 r (r + 100) / n
    assert.near(2.02, neighbour.lines["sensitivity Delta"], 1e-12)
  end)

  it("is refused for a squared loss over labels that nothing bounds, also when all are -1 or 1", function()
    assert.error_matches(function() plan_of(binary_labels()) end, "no bound on the labels is enforced")
  end)

  it("covers a start only within the set, however small that is", function()
    local X, y = {}, {}
    for i = 1, 300 do X[i], y[i] = { 1, 1 }, 0 end
    local data = pn.data.from(X, y):clip_rows("linf", 1):clip_labels(-1e-12, 1e-12)
    local objective = pn.objective { data = data, loss = pn.loss.squared(),
      set = pn.set.l1_ball { dim = 2, radius = 1e-10 } }
    local plan = pn.solve.frank_wolfe.plan
    assert.error_matches(function() plan(objective, { rho = 1, start = { 1.09e-9, 0 } }) end, "not in the constraint set")
    assert.equal(7, plan(objective, { rho = 1, iterations = 7, start = { 1e-10, 0 } }).iterations)
  end)

  -- One gradient sums over up to n records; the lattice of scores follows the rounding of that sum once n is large.
  it("and the lattice of scores are the same for neighbours with other numbers of non-zeros", function()
    local n, p = 200000, 2
    local function lattice(full) -- both features in the first `full` records, none in the others
      local i, j, x, y = {}, {}, {}, {}
      for k = 1, 2 * full do i[k], j[k], x[k] = (k + 1) // 2, 2 - k % 2, 1 end
      for k = 1, n do y[k] = 0 end
      local X = pn.sparse { rows = n, cols = p, i = i, j = j, x = x }
      local data = pn.data.from(X, y):clip_rows("linf", 1):clip_labels(-1, 1)
      local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = p } }
      return tostring(pn.solve.frank_wolfe.plan(objective, { rho = 1 }))
    end
    local few = lattice(7)
    assert.equal(few, lattice(8))
    assert.equal(few, lattice(n))
  end)

  -- n = 2e6 records of one feature in 64 chunks: a sum of 31488 rows (blocks of 256), then of 64 chunks, and 8 roundings;
  -- slopes up to 2; the inner product with a vertex adds 1 + 4.  Whether the Gram matrix pays depends on the data, so neighbours
  -- may take different ways, and its error is added: blocks of 1024, so 1024 + 1953 + 1 + 8 + 5.  A unit is the power
  -- of two at twice the sum or above it.
  it("is taken between scores whose unit is above twice their rounding error, and printed as it is used", function()
    local n = 2000000
    local X = pn.sparse { rows = n, cols = 1, i = { 1 }, j = { 1 }, x = { 1 } }
    local data = pn.data.from(X, pn.vec.zeros(n)):clip_rows("linf", 1):clip_labels(-1, 1)
    local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 1 } }
    local lattice = pn.solve.frank_wolfe.plan(objective, { rho = 1 }).lines["score lattice"]
    local twice = 2 * (31565 + 2991) * 1.01 * 2 * 2 ^ -53
    assert.equal(2 ^ math.ceil(math.log(twice, 2)), lattice)
    assert.is_true(lattice > 4 / n * 2 ^ -20)
  end)
end)
