-- oracles_spec.lua -- what an objective computes for every loss: gradients against differences of values, Hessian products against
-- differences of gradients, batches against a plain loop, factors and losses against l:evaluate, differences against values.
local pn = require "penumbra"
local formulas = require "tests.runtime.objective.losses.formulas"
local refused = require("tests.tools.refusal").refused

local n, p = 1100, 9 -- several blocks of 256 and a part of one, several chunks

local function sparse_of(X)
  local i, j, x = {}, {}, {}
  for r = 1, #X do
    for c = 1, #X[r] do
      if X[r][c] ~= 0 then i[#i + 1], j[#j + 1], x[#x + 1] = r, c, X[r][c] end
    end
  end
  return pn.sparse { rows = #X, cols = #X[1], i = i, j = j, x = x }
end

local function records(binary)
  local rng, X, y = pn.rng.seeded(21), {}, {}
  for i = 1, n do
    X[i] = {}
    for j = 1, p do X[i][j] = rng:uniform() < 0.6 and math.floor(2048 * rng:uniform() - 1024) / 512 or 0 end -- exact floats
    y[i] = binary and (rng:uniform() < 0.5 and -1 or 1) or 2 * rng:uniform() - 1
  end
  return X, y
end

-- Every storage of the same numbers.
local function stores(X, y)
  local dense, sparse = pn.data.from(X, y), pn.data.from(sparse_of(X), y)
  return { dense = dense, sparse = sparse, ["float32 dense"] = dense:float32(), ["float32 sparse"] = sparse:float32() }
end

local theta = pn.vec { 0.31, -0.22, 0.53, 0.04, 0.41, -0.17, 0.29, -0.36, 0.13 }
local v = pn.vec { -0.5, 0.25, 0.75, 1, -0.3, 0.2, 0.6, -0.9, 0.1 }

local function near(want, got, tolerance, what)
  local gap = (want - got):norm(math.huge)
  assert.is_true(gap <= tolerance, ("%s: off by %g"):format(what, gap))
end

local function dot(row, w)
  local sum = 0
  for j = 1, #row do sum = sum + row[j] * w[j] end
  return sum
end

-- sum over rows of weight(i) x_i
local function weighted(X, rows, weight)
  local sums = {}
  for j = 1, p do sums[j] = 0 end
  for _, i in ipairs(rows) do
    local w = weight(i)
    for j = 1, p do sums[j] = sums[j] + w * X[i][j] end
  end
  return pn.vec(sums)
end

local function everyone()
  local rows = {}
  for i = 1, n do rows[i] = i end
  return rows
end

-- A batch that repeats records, in no order, with a block that is not full.
local function odd_batch()
  local rng, rows = pn.rng.seeded(4), {}
  for k = 1, 777 do rows[k] = rng:integer(n) end
  for k = 700, 720 do rows[k] = n end
  rows[1], rows[2] = 1, 1
  return rows
end

for _, l, formula, title in formulas.each(pn) do
  describe("the objective of " .. title, function()
    local X, y = records(formula.labels == "binary")
    local z, bent = {}, {}
    for i = 1, n do z[i], bent[i] = dot(X[i], theta), dot(X[i], v) end
    local values, slopes, curvatures = l:evaluate(z, y)

    for storage, data in pairs(stores(X, y)) do
      local objective = pn.objective { data = data, loss = l }

      it("has the sums of a plain loop, over everything and over batches, " .. storage, function()
        local rows = odd_batch()
        local choices = { { everyone(), nil, n }, { rows, rows, #rows }, { rows, { rows = rows, denominator = 13.5 }, 13.5 } }
        for _, choice in ipairs(choices) do
          local list, batch, over = choice[1], choice[2], choice[3]
          local value = 0
          for _, i in ipairs(list) do value = value + values[i] end
          local size = math.max(1, math.abs(value / over))
          assert.is_near(value / over, objective:value(theta, batch), 1e-12 * size)
          local slack = 1e-12 * #list / over
          near(weighted(X, list, function(i) return slopes[i] end) / over, objective:gradient(theta, batch), slack, "gradient")
          near(weighted(X, list, function(i) return curvatures[i] * bent[i] end) / over, objective:hvp(theta, v, batch),
            2 * slack, "hvp")
        end
      end)

      it("gives every record's loss and factor, " .. storage, function()
        -- margins are summed in another order here: 1e-14 apart, which matters on neither side of a kink here
        near(values, objective:losses(theta), 1e-12, "losses")
        near(slopes, objective:factors(theta), 1e-12, "factors")
      end)

      it("has differences that are those of its values, " .. storage, function()
        local U = pn.mat { v:table(), pn.vec.basis(p, 3):table(), pn.vec.zeros(p):table() }
        local batch = odd_batch()
        for _, radius in ipairs { 0.5, 1e-3 } do
          for _, rows in ipairs { false, batch } do
            local got = objective:differences(theta, U, radius, rows or nil)
            for k = 1, 3 do
              local u = U[k]:copy()
              local want = (objective:value(theta + radius * u, rows or nil) - objective:value(theta - radius * u, rows or nil)) /
                (2 * radius)
              assert.is_near(want, got[k], 1e-12 / radius)
            end
          end
        end
      end)
    end

    it("has a gradient that is the difference of its values, and a Hessian that is that of its gradients", function()
      local objective, h = pn.objective { data = stores(X, y).dense, loss = l }, 2 ^ -17
      local gradient, product = objective:gradient(theta), objective:hvp(theta, v)
      -- A kink or a break of the slope within h of a margin makes a difference of its own: no margin lies so near to one.
      for j = 1, p do
        local e = h * pn.vec.basis(p, j)
        assert.is_near((objective:value(theta + e) - objective:value(theta - e)) / (2 * h), gradient[j], 2e-9)
      end
      near((objective:gradient(theta + h * v) - objective:gradient(theta - h * v)) / (2 * h), product, 1e-8, "hvp")
    end)
  end)
end

describe("a batch", function()
  local X, y = records(true)
  local objective = pn.objective { data = pn.data.from(X, y), loss = pn.loss.logistic() }

  it("may be empty", function()
    assert.equal(0, objective:value(theta, {}))
    assert.is_true(objective:gradient(theta, {}) == pn.vec.zeros(p))
    assert.is_true(objective:hvp(theta, v, { rows = {}, denominator = 5 }) == pn.vec.zeros(p))
    assert.is_true(objective:differences(theta, pn.mat { v:table() }, 1, {}) == pn.vec.zeros(1))
  end)

  it("leaves the regulariser out, which the whole objective has", function()
    local all = pn.objective { data = pn.data.from(X, y), loss = pn.loss.logistic(), reg = pn.reg.l2(0.5) }
    local square = theta:dot(theta) / 4
    assert.is_near(objective:value(theta) + square, all:value(theta), 1e-14)
    assert.is_near(objective:value(theta, { 1, 2 }), all:value(theta, { 1, 2 }), 0)
    near(objective:gradient(theta) + 0.5 * theta, all:gradient(theta), 1e-15, "gradient")
    near(objective:gradient(theta, { 3 }), all:gradient(theta, { 3 }), 0, "batch gradient")
    near(objective:hvp(theta, v) + 0.5 * v, all:hvp(theta, v), 1e-15, "hvp")
    near(objective:hvp(theta, v, { 3 }), all:hvp(theta, v, { 3 }), 0, "batch hvp")
  end)

  local function no_batch(text, batch)
    for _, call in ipairs { "value", "gradient" } do refused(text, objective[call], objective, theta, batch) end
  end

  it("names a record that does not exist, and sizes that make no sense", function()
    no_batch("a batch names record 1101 of 1100", { 1, 1101 })
    no_batch("a record number of the batch must be a whole number", { 0 })
    no_batch("a record number of the batch must be a whole number", { 1.5 })
    no_batch("a record number of the batch must be a whole number", { "x" })
    no_batch("denominator of a batch must be a positive number, got 0", { rows = { 1 }, denominator = 0 })
    no_batch("denominator of a batch must be a positive number, got -2", { rows = { 1 }, denominator = -2 })
    no_batch("denominator must be a finite number", { rows = { 1 }, denominator = math.huge })
    no_batch("a batch is a list of record numbers or {rows=, denominator=}, got 3", 3)
  end)

  it("does not take a misspelt field for an empty batch", function()
    no_batch("it has the string \"row\"", { row = { 1, 2 } })
    no_batch("it has the string \"denom\"", { rows = { 1 }, denom = 2 })
    no_batch("without gaps", { [1] = 1, [3] = 2 })
  end)
end)

describe("differences", function()
  local X, y = records(false)
  local objective = pn.objective { data = pn.data.from(X, y), loss = pn.loss.squared() }

  it("want a positive radius and directions of the right size", function()
    local U = pn.mat { v:table() }
    for _, radius in ipairs { 0, -1 } do
      assert.error_matches(function() objective:differences(theta, U, radius) end, "must be a positive number, got")
    end
    assert.error_matches(function() objective:differences(theta, U, 0 / 0) end, "finite")
    assert.error_matches(function() objective:differences(theta, pn.mat { { 1, 2 } }, 1) end,
      "a direction has 2 entries, theta has 9")
    assert.error_matches(function() objective:differences(theta, (v * 1e308 * 10):reshape(1, p), 1) end,
      "directions must hold finite numbers, got .*inf at entry 1")
  end)

  it("are those of a line, whatever the radius", function()
    local one = pn.objective { data = pn.data.from({ { 2 } }, { 0 }), loss = pn.loss.glm(function(z) return 3 * z end) }
    for _, radius in ipairs { 1e-200, 1e-3, 1e200, 1e307 } do
      assert.is_near(6, one:differences({ 0 }, pn.mat { { 1 } }, radius)[1], 1e-12)
    end
    local half = pn.objective { data = pn.data.from({ { 0.5 } }, { 0 }), loss = pn.loss.glm(function(z) return z end) }
    assert.is_near(0.5, half:differences({ 0 }, pn.mat { { 1 } }, 1.7e308)[1], 1e-15) -- twice the radius overflows
  end)
end)

describe("an objective refuses", function()
  local objective = pn.objective { data = pn.data.from({ { 1, 2 }, { 3, 4 } }, { 1, -1 }), loss = pn.loss.logistic() }

  it("points that are not finite, with their position, in every method", function()
    local bad, U = pn.vec { 0, 1 } / 0, pn.mat { { 1, 1 } }
    bad[1] = 0
    for _, call in ipairs {
      function() return objective:value(bad) end, function() return objective:gradient(bad) end,
      function() return objective:hvp(bad, { 1, 1 }) end, function() return objective:hvp({ 1, 1 }, bad) end,
      function() return objective:losses(bad) end, function() return objective:factors(bad) end,
      function() return objective:accuracy(bad) end, function() return objective:differences(bad, U, 1) end,
    } do
      assert.error_matches(call, "must hold finite numbers, got inf at entry 2")
    end
  end)

  it("sizes that do not fit, naming both", function()
    for _, call in ipairs { "value", "gradient", "losses", "factors", "accuracy" } do
      assert.error_matches(function() objective[call](objective, { 1, 2, 3 }) end,
        "objective:" .. call .. ": theta has 3 entries, the data has 2 features")
    end
    assert.error_matches(function()
      pn.objective { data = objective.data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 3 } }
    end, "the set has dimension 3, the data has 2 features")
  end)

  it("a clip that makes no sense", function()
    for _, clip in ipairs { -1, 0, 1e-200, 1e200 } do
      assert.error_matches(function()
        pn.objective { data = objective.data, loss = pn.loss.squared(), clip = clip }
      end, "clip must be a .*number.*, got " .. ("%g"):format(clip):gsub("[-+]", "%%%0"))
    end
  end)
end)
