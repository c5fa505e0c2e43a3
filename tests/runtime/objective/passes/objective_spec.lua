-- objective_spec.lua -- the mean loss: value, gradient and Hessian products against sums written out in Lua; bounds.
local pn = require "penumbra"
local program = require "tests.tools.program"

local function close(expected, got, tolerance)
  assert.is_true(math.abs(got - expected) <= tolerance, ("expected %.17g, got %.17g"):format(expected, got))
end

-- n records with p features in [-1, 1], about `density` of them present; labels -1 or 1.
local function records(n, p, seed, density)
  local rng = pn.rng.seeded(seed)
  local rows, labels = {}, {}
  for i = 1, n do
    rows[i] = {}
    for j = 1, p do rows[i][j] = rng:uniform() < (density or 1) and 2 * rng:uniform() - 1 or 0 end
    labels[i] = rng:uniform() < 0.5 and -1 or 1
  end
  return rows, labels
end

local function sparse(rows)
  local i, j, x = {}, {}, {}
  for r, row in ipairs(rows) do
    for c, value in ipairs(row) do
      if value ~= 0 then i[#i + 1], j[#j + 1], x[#x + 1] = r, c, value end
    end
  end
  return pn.sparse { rows = #rows, cols = #rows[1], i = i, j = j, x = x }
end

local formulas = {
  squared = {
    value = function(z, y) return (z - y) ^ 2 / 2 end,
    slope = function(z, y) return z - y end,
    curvature = function() return 1 end,
  },
  logistic = {
    value = function(z, y) return math.log(1 + math.exp(-y * z)) end,
    slope = function(z, y) return -y / (1 + math.exp(y * z)) end,
    curvature = function(z) return 1 / (1 + math.exp(-z)) / (1 + math.exp(z)) end,
  },
}

local function dot(row, theta)
  local sum = 0
  for j = 1, #row do sum = sum + row[j] * theta[j] end
  return sum
end

-- (1/n) sum_i weight(z_i, y_i) x_i
local function mean_of_rows(rows, labels, theta, weight)
  local out = {}
  for j = 1, #rows[1] do out[j] = 0 end
  for i, row in ipairs(rows) do
    local w = weight(dot(row, theta), labels[i], row) / #rows
    for j = 1, #row do out[j] = out[j] + w * row[j] end
  end
  return pn.vec(out)
end

for name, formula in pairs(formulas) do
  -- Sizes around the block and vector widths, more rows than one chunk holds.
  for _, size in ipairs { { 1, 1 }, { 7, 3 }, { 64, 8 }, { 300, 17 }, { 1000, 54 }, { 70, 130 } } do
    local n, p = size[1], size[2]
    describe(("the %s objective on %d x %d"):format(name, n, p), function()
      local rows, labels = records(n, p, n + p, 0.5)
      local theta, v = pn.vec.normal(p, pn.rng.seeded(1)), pn.vec.normal(p, pn.rng.seeded(2))
      local stores = { dense = pn.data.from(rows, labels), sparse = pn.data.from(sparse(rows), labels) }
      for storage, data in pairs(stores) do
        local objective = pn.objective { data = data, loss = pn.loss[name]() }
        it("has the mean loss as its value, " .. storage, function()
          local sum = 0
          for i, row in ipairs(rows) do sum = sum + formula.value(dot(row, theta), labels[i]) end
          close(sum / n, objective:value(theta), 1e-12 * (1 + sum / n))
        end)
        it("has the mean record gradient as its gradient, " .. storage, function()
          local expected = mean_of_rows(rows, labels, theta, formula.slope)
          assert.is_true((objective:gradient(theta) - expected):norm(math.huge) < 1e-13 * p)
        end)
        it("multiplies by its Hessian, " .. storage, function()
          local expected = mean_of_rows(rows, labels, theta, function(z, y, row)
            return formula.curvature(z, y) * dot(row, v)
          end)
          assert.is_true((objective:hvp(theta, v) - expected):norm(math.huge) < 1e-12 * p)
        end)
      end
    end)
  end
end

describe("an objective", function()
  it("gives the same gradient through the Gram matrix as by a pass", function()
    local data = pn.data.synthetic.lasso { n = 3000, p = 40, seed = 4 }
    local set = pn.set.l1_ball { dim = 40 }
    local objective = pn.objective { data = data, loss = pn.loss.squared(), set = set }
    local theta = pn.vec.normal(40, pn.rng.seeded(3)) / 20
    local value, gradient = objective:value(theta), objective:gradient(theta)
    objective:exact_curvature() -- forms the Gram matrix
    close(value, objective:value(theta), 1e-13)
    assert.is_true((objective:gradient(theta) - gradient):norm(math.huge) < 1e-13)
  end)

  it("gives the same bits on one thread and on all", function()
    local script = os.tmpname()
    local file = assert(io.open(script, "w"))
    file:write [[
      local pn = require "penumbra"
      local data = pn.data.synthetic.logistic { n = 20000, p = 30, seed = 6 }
      local g = pn.objective { data = data, loss = pn.loss.logistic() }:gradient(pn.vec.ones(30) / 9)
      for j = 1, 30 do io.write(("%a "):format(g[j])) end
      local net = pn.loss.margins { k = 3, extra = 2, labels = { -1, 1 }, f = function(z, w, y)
        return pn.softplus(-y * (w[1] * pn.tanh(z[1]) + w[2] * pn.tanh(z[2]) * z[3])) end }
      local obj = pn.objective { data = data, loss = net, clip = 0.1 }
      g = obj:gradient(pn.vec.ones(92) / 9)
      for j = 1, 92 do io.write(("%a "):format(g[j])) end ]]
    file:close()
    local outputs = {}
    for _, threads in ipairs { 1, 2, 5 } do
      local pipe = assert(io.popen(("PENUMBRA_THREADS=%d %s %s"):format(threads, program.interpreter(), script)))
      outputs[#outputs + 1] = pipe:read "a"
      pipe:close()
    end
    os.remove(script)
    assert.is_true(#outputs[1] > 300)
    assert.equal(outputs[1], outputs[2])
    assert.equal(outputs[1], outputs[3])
  end)

  it("counts a margin of zero as label 1 in its accuracy", function()
    local data = pn.data.from({ { 1 }, { -1 }, { 0 }, { 2 } }, { 1, 1, 1, -1 })
    local objective = pn.objective { data = data, loss = pn.loss.logistic() }
    assert.equal(0.5, objective:accuracy { 1 })
    assert.equal(0.75, objective:accuracy { 0 })
  end)

  it("certifies its bounds by the chain from record bound and set to slope and curvature", function()
    local data = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 1, -1 }):clip_rows("linf", 0.5)
    local objective = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 2, radius = 4 } }
    local bounds = objective.bounds
    local slope = 1 / (1 + math.exp(-2)) -- |z| <= 4 x 0.5
    close(2, bounds.margin, 1e-12)
    close(slope, bounds.slope, 1e-9)
    close(0.5 * slope, bounds.lipschitz.l1, 1e-9)
    close(math.sqrt(0.5) * slope, bounds.lipschitz.l2, 1e-9) -- l2 <= sqrt(2) linf
    close(0.25 * 0.5, bounds.smoothness, 1e-9)
    close(0.25 * (8 * 0.5) ^ 2, bounds.curvature, 1e-8) -- diameter 8 in l1
    assert.equal("certified", bounds.source)
  end)

  it("never lets a real record exceed them", function()
    local data = pn.data.synthetic.logistic { n = 50, p = 6, seed = 8 }:clip_rows("l2", 1)
    local set = pn.set.l1_ball { dim = 6, radius = 3 }
    local rng, largest = pn.rng.seeded(4), 0
    local bounds = pn.objective { data = data, loss = pn.loss.logistic(), set = set }.bounds
    for i = 1, 50 do
      local one = pn.objective { data = data:take(i), loss = pn.loss.logistic(), set = set }
      local before = i > 1 and pn.objective { data = data:take(i - 1), loss = pn.loss.logistic(), set = set }
      for vertex = 1, 12 do
        local theta = set:vertices()[vertex] * rng:uniform()
        local gradient = i * one:gradient(theta)
        if before then gradient = gradient - (i - 1) * before:gradient(theta) end -- of record i alone
        largest = math.max(largest, gradient:norm())
      end
    end
    assert.is_true(largest <= bounds.lipschitz.l2 * (1 + 1e-12))
    assert.is_true(largest > 0.5 * bounds.lipschitz.l2)
  end)

  it("says what is missing when nothing can be certified", function()
    local data = pn.data.from({ { 1 } }, { 0.5 })
    local objective = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 1 } }
    assert.is_nil(objective.bounds.source)
    assert.is_truthy(objective.bounds.missing:find("clip_rows", 1, true))
    assert.is_truthy(tostring(objective):find("not certified", 1, true))
  end)

  it("names sizes and positions that do not fit", function()
    local objective = pn.objective { data = pn.data.from({ { 1, 2 } }, { 1 }), loss = pn.loss.logistic() }
    local function message(...) return select(2, pcall(...)) end
    assert.is_truthy(message(objective.value, objective, { 1, 2, 3 }):find("3 entries, the data has 2", 1, true))
    assert.is_truthy(message(objective.hvp, objective, { 1, 2 }, { 1 }):find("v has 1 entries", 1, true))
    local huge = pn.vec { 1, 1 } / 0
    assert.is_truthy(message(objective.value, objective, huge):find("entry 1", 1, true))
  end)
end)

describe("solve.exact", function()
  it("finds the least-squares solution inside the ball and the edge outside", function()
    -- X = I, y = (0.2, 0.1): inside the unit ball the minimum is y; in the ball of radius 0.2 it is y - 0.05 each.
    local data = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 0.2, 0.1 })
    local function minimum(radius)
      return pn.solve.exact(pn.objective { data = data, loss = pn.loss.squared(),
        set = pn.set.l1_ball { dim = 2, radius = radius } }, { tol = 1e-13 }).theta
    end
    assert.is_true((minimum(1) - pn.vec { 0.2, 0.1 }):norm() < 1e-6)
    assert.is_true((minimum(0.2) - pn.vec { 0.15, 0.05 }):norm() < 1e-6)
  end)

  it("certifies its answer by the duality gap and says when it cannot", function()
    local data = pn.data.synthetic.logistic { n = 400, p = 10, seed = 5 }
    local objective = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 10, radius = 3 } }
    local found = pn.solve.exact(objective, { tol = 1e-9 })
    assert.is_true(found.gap <= 1e-9)
    close(found.value, objective:value(found.theta), 1e-15)
    local ok, err = pcall(pn.solve.exact, objective, { tol = 1e-12, max_iterations = 1 })
    assert.is_false(ok)
    assert.is_truthy(err:find("max_iterations", 1, true))
  end)

  it("works over a polytope given by its vertices", function()
    local data = pn.data.from({ { 1, 0 }, { 0, 1 } }, { 1, 1 })
    local triangle = pn.set.polytope { vertices = { { 0, 0 }, { 1, 0 }, { 0, 1 } } }
    local found = pn.solve.exact(pn.objective { data = data, loss = pn.loss.squared(), set = triangle }, { tol = 1e-4 })
    close(0.125, found.value, 1e-4) -- at (1/2, 1/2): mean of (1/2)^2/2
  end)
end)

describe("the parts of an objective", function()
  local data = pn.data.synthetic.logistic { n = 50, p = 4, sparsity = 2, seed = 1 }
  local loss, reg, set = pn.loss.logistic(), pn.reg.l2(0.1), pn.set.l1_ball { dim = 4 }

  local function parts(options)
    options.data, options.loss = data, loss
    local objective = pn.objective(options)
    assert.equal(data, objective.data)
    assert.equal(loss, objective.loss)
    return objective
  end

  it("are those that were given, whichever were left out", function()
    local objective = parts { set = set, reg = reg, clip = 0.5 }
    assert.equal(set, objective.set)
    assert.equal(reg, objective.reg)
    assert.equal(0.5, objective.clip)
    objective = parts { reg = reg }
    assert.is_nil(objective.set)
    assert.equal(reg, objective.reg)
    objective = parts { set = set }
    assert.equal(set, objective.set)
    assert.is_nil(objective.reg)
    assert.is_nil(objective.clip)
  end)
end)
