-- exact_answers_spec.lua -- without privacy every question is answered with what the objective computes: dense, sparse, in single
-- precision, of several classes, with regularisers and clipped gradients.
local pn = require "penumbra"
local asking = require "tests.tools.asking"

local dense = pn.data.synthetic.logistic { n = 150, p = 4, seed = 3 }:clip_rows("l2", 1)

local function sparse_of(data)
  local X, i, j, x = data.X, {}, {}, {}
  for r = 1, data.n do
    for c = 1, data.p do
      if (r + c) % 2 == 0 then i[#i + 1], j[#j + 1], x[#x + 1] = r, c, X[r][c] end
    end
  end
  return pn.data.from(pn.sparse { rows = data.n, cols = data.p, i = i, j = j, x = x }, data.y):clip_rows("l2", 1)
end

local function objective(data, rest)
  rest.data, rest.loss = data, rest.loss or pn.loss.logistic()
  if not rest.open then rest.set = rest.set or pn.set.l1_ball { dim = data.p, radius = 2 } end
  rest.open = nil
  return pn.objective(rest)
end

local objectives = {
  dense = objective(dense, {}),
  sparse = objective(sparse_of(dense), {}),
  ["single precision"] = objective(dense:float32(), {}),
  ["an l2 regulariser"] = objective(dense, { reg = pn.reg.l2(0.3) }),
  ["an l1 regulariser"] = objective(dense, { reg = pn.reg.l1(0.2), open = true }),
  ["a nonconvex regulariser"] = objective(dense, { reg = pn.reg.nonconvex(0.2) }),
  ["clipped gradients"] = objective(dense, { clip = 0.2, open = true }),
}

local x, y, u = pn.vec { 0.3, -0.2, 0.4, 0.1 }, pn.vec { -0.1, 0.5, 0, 0.2 }, pn.vec { 0.6, 0, -0.8, 0 }

local function same(want, got, tolerance)
  assert.is_true(asking.distance(want, got) <= (tolerance or 1e-12), tostring(want) .. " against " .. tostring(got))
end

for name, obj in pairs(objectives) do
  describe("an exact answer with " .. name, function()
    local clipped = name == "clipped gradients"

    it("is the objective's gradient, value and the values of several points", function()
      same(obj:gradient(x), asking.exact(obj, function(ask) return ask:gradient(x) end))
      same(obj:value(x), asking.exact(obj, function(ask) return ask:value(x) end))
      same(pn.vec { obj:value(x), obj:value(y) }, asking.exact(obj, function(ask) return ask:values { x, y } end))
      same(pn.vec { obj:value(x), obj:value(y) }, asking.exact(obj, function(ask) return ask:values(pn.mat { x, y }) end))
    end)

    it("is the difference of two gradients", function()
      if clipped then return end
      same(obj:gradient(x) - obj:gradient(y), asking.exact(obj, function(ask) return ask:difference(x, y) end))
    end)

    it("is the Hessian and its products", function()
      if clipped then return end
      same(obj:hessian(x), asking.exact(obj, function(ask) return ask:hessian(x) end))
      same(obj:hvp(x, u), asking.exact(obj, function(ask) return ask:hvp(x, u) end))
    end)

    it("is a moment, a mean and the differences along directions of the losses", function()
      local data, bare = obj.data, objective(obj.data, { open = true })
      local moment, mean, phi = pn.vec.zeros(4), 0, function(z, label) return pn.tanh(z - label) end
      for i = 1, data.n do
        local row = pn.vec.zeros(data.p)
        for j = 1, data.p do
          local entry = (name ~= "sparse" or (i + j) % 2 == 0) and dense.X[i][j] or 0
          row[j] = entry
        end
        local value = pn.tanh(row:dot(x) - data.y[i])
        moment, mean = moment + value * row / data.n, mean + value / data.n
      end
      local rounding = name == "single precision" and 1e-6 or 1e-12
      same(moment, asking.exact(obj, function(ask) return ask:moment(phi, x) end), rounding)
      same(mean, asking.exact(obj, function(ask) return ask:mean(phi, x) end), rounding)
      local along = (bare:value(x + 0.1 * u) - bare:value(x - 0.1 * u)) / 0.2
      same(pn.vec { along }, asking.exact(obj, function(ask) return ask:differences(x, { u }, { radius = 0.1 }) end))
    end)

    it("is the vertex toward which f falls fastest, and the point with the least loss", function()
      if obj.set then
        local vertex, number = asking.exact(obj, function(ask) return ask:vertex(x) end)
        local gradient = obj:gradient(x)
        assert.near(-gradient:norm(math.huge) * 2, vertex:dot(gradient), 1e-12)
        assert.is_true(number >= 1 and number <= 8)
      end
      local points = { x, y, 3 * y, -2 * x }
      local chosen, best = asking.exact(obj, function(ask) return ask:choose(points) end), nil
      local bare = objective(obj.data, { open = true }) -- the loss alone
      for k, point in ipairs(points) do best = (not best or bare:value(point) < bare:value(points[best])) and k or best end
      assert.equal(best, chosen)
    end)

    it("of a whole batch is that of all records", function()
      local all = asking.exact(obj, function(ask) return ask:gradient(x) end)
      for _, scheme in ipairs { "fixed", "shuffled", "poisson" } do
        local of = { batch = { scheme = scheme, size = 150 } }
        same(all, asking.exact(obj, function(ask) return ask:gradient(x, of) end))
      end
    end)
  end)
end

describe("an exact answer about several classes", function()
  local data = pn.data.synthetic.classification { n = 90, p = 3, classes = 3, seed = 1 }:clip_rows("l2", 1)
  local obj = pn.objective { data = data, loss = pn.loss.softmax { classes = 3 }, set = pn.set.l2_ball { dim = 9, radius = 2 },
    reg = pn.reg.l2(0.1) }
  local at, v = pn.vec { 1, 0, -1, 0.5, 0.2, 0, 0, 0.3, -0.4 }, pn.vec { 0, 1, 0, 0, -1, 0, 0.5, 0, 0 }

  it("is what the objective computes", function()
    same(obj:gradient(at), asking.exact(obj, function(ask) return ask:gradient(at) end))
    same(obj:value(at), asking.exact(obj, function(ask) return ask:value(at) end))
    same(obj:hvp(at, v), asking.exact(obj, function(ask) return ask:hvp(at, v) end))
    same(obj:hessian(at), asking.exact(obj, function(ask) return ask:hessian(at) end))
    same(obj:gradient(at) - obj:gradient(v), asking.exact(obj, function(ask) return ask:difference(at, v) end))
  end)

  it("refuses questions of one margin", function()
    for _, question in ipairs { "moment", "mean" } do
      local ok, message = pcall(asking.exact, obj, function(ask) return ask[question](ask, pn.tanh, pn.vec { 0, 0, 0 }) end)
      assert.is_false(ok)
      assert.matches(question .. ": the loss must have one margin and nothing else, and softmax has 3", message, 1, true)
    end
  end)
end)

describe("a batch without privacy", function()
  local obj = objectives.dense

  it("has the expectation of all records", function()
    -- 3000 batches of 30 of 150, by Bernstein at a chance of 1e-7 for all 12 numbers: a coordinate has variance of at most 1/30
    -- and, of coins that fell for all, is at most 5.
    local tail = math.log(2 * 12 / 1e-7) / 3000
    local margin = math.sqrt(2 * tail / 30) + 2 * 5 * tail / 3
    for _, scheme in ipairs { "fixed", "shuffled", "poisson" } do
      local mean = pn.vec.zeros(4)
      pn.solver { name = "batches", step = function(_, ask)
        mean = mean + ask:gradient(x, { batch = { scheme = scheme, size = 30 } }) / 3000
      end }(obj, { privacy = false, iterations = 3000, rng = pn.rng.seeded(4), progress = false })
      local want = obj:gradient(x)
      for j = 1, 4 do assert.near(want[j], mean[j], margin, scheme) end
    end
  end)
end)
