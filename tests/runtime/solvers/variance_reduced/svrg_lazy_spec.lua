-- svrg_lazy_spec.lua -- steps of svrg on sparse data without noise: the same iterates as on dense data, whatever the regulariser,
-- the set and the tail, and a plan that says which steps they are.
local pn = require "penumbra"

local n, p = 60, 240

-- Three entries a row, one of them in few columns that many rows share.
local function rows(seed)
  local rng = pn.rng.seeded(seed)
  local dense, entries, y = {}, {rows = n, cols = p, i = {}, j = {}, x = {}}, {}
  for i = 1, n do
    dense[i] = {}
    for j = 1, p do dense[i][j] = 0 end
    for k = 1, 3 do
      local j = k == 1 and rng:integer(6) or rng:integer(p)
      dense[i][j] = 0.8 * rng:uniform() - 0.4
    end
    y[i] = i % 2 == 0 and 1 or -1
  end
  for i = 1, n do
    for j = 1, p do
      if dense[i][j] ~= 0 then
        local k = #entries.i + 1
        entries.i[k], entries.j[k], entries.x[k] = i, j, dense[i][j]
      end
    end
  end
  return dense, entries, y
end

local function data_of(X, y)
  return pn.data.from(X, y):clip_rows("l2", 1)
end

local dense_rows, entries, labels = rows(1)
local sparse_matrix = pn.sparse(entries)
local dense, sparse = data_of(pn.mat(dense_rows), labels), data_of(sparse_matrix, labels)

local function vec(f)
  local v = {}
  for j = 1, p do v[j] = f(j) end
  return pn.vec(v)
end

local box = pn.set.box{lower = vec(function(j) return -0.02 * (j % 5) end), upper = vec(function(j) return 0.015 * (j % 7) end)}
local start = vec(function(j) return 0.1 * math.sin(j) end)

local function run(name, data, parts, options)
  local all = {privacy = false, epochs = 3, inner = 150, step = 0.3, start = start, rng = pn.rng.seeded(5)}
  for k, v in pairs(options or {}) do all[k] = v end
  local rng = all.rng
  all.rng = nil
  if parts.set then all.start = parts.set:project(start) end
  local obj = pn.objective{data = data, loss = parts.loss or pn.loss.logistic(), reg = parts.reg, set = parts.set}
  local plan = pn.solve[name].plan(obj, all)
  return plan:run{rng = rng}, plan
end

local function kind_of(plan)
  return tostring(plan):match("steps are%s+(%a+)")
end

local function expect_same(name, parts, options)
  options = options or {}
  options.rng = pn.rng.seeded(5)
  local want = run(name, dense, parts, options)
  options.rng = pn.rng.seeded(5)
  local got, plan = run(name, sparse, parts, options)
  assert.are.equal("lazy", kind_of(plan))
  assert.are.equal(want.gradients, got.gradients)
  local most, moved = 0, 0
  for j = 1, p do
    most = math.max(most, math.abs(want.theta[j] - got.theta[j]))
    moved = math.max(moved, math.abs(want.theta[j] - start[j]))
  end
  assert.is_true(most <= 1e-12, ("apart by %g"):format(most))
  assert.is_true(moved > 1e-3)
  return got
end

local regularisers = {
  none = {},
  l2 = {reg = pn.reg.l2(0.05)},
  strong = {reg = pn.reg.l2(30)},
  l1 = {reg = pn.reg.l1(0.002)},
  elastic_net = {reg = pn.reg.elastic_net{l1 = 0.001, l2 = 0.05}},
}
local sets = {free = false, box = box, nonnegative = pn.set.nonnegative{dim = p}}

describe("lazy svrg", function()
  for name, parts in pairs(regularisers) do
    for set_name, set in pairs(sets) do
      it(("makes the dense steps: %s, %s"):format(name, set_name), function()
        for tail = 0, 3 do
          expect_same("svrg", {reg = parts.reg, set = set or nil}, {tail = tail})
        end
        expect_same("svrg_pp", {reg = parts.reg, set = set or nil}, {inner = 40})
      end)
    end
  end

  it("makes the dense steps of a batch whose rows share columns", function()
    for _, parts in pairs(regularisers) do
      expect_same("svrg", {reg = parts.reg, set = box}, {batch = 8})
    end
    expect_same("svrg", {loss = pn.loss.squared(), reg = pn.reg.l1(0.002)}, {batch = 5})
  end)

  it("takes prox= of the same forms", function()
    expect_same("svrg", {reg = pn.reg.l2(0.05)}, {prox = pn.prox.l1(0.002)})
    expect_same("svrg", {}, {prox = pn.prox.box{lower = vec(function() return -0.01 end), upper = vec(function() return 0.02 end)}})
  end)

  it("makes the dense steps where no step is missed for long, and where thousands are", function()
    expect_same("svrg", regularisers.elastic_net, {inner = 1})
    expect_same("svrg", regularisers.elastic_net, {inner = 9001, epochs = 1})
    expect_same("svrg", regularisers.l1, {inner = 9001, epochs = 1, tail = 3})
  end)

  it("has the exact zeros of the l1 norm", function()
    local theta, zeros = expect_same("svrg", {reg = pn.reg.l1(0.01)}, {inner = 3000, tail = 0}).theta, 0
    for j = 1, p do
      if theta[j] == 0 then zeros = zeros + 1 end
    end
    assert.is_true(zeros > 0)
  end)

  it("stores single numbers as it likes", function()
    local options = {rng = pn.rng.seeded(5)}
    local want = run("svrg", dense:float32(), regularisers.l1, options)
    options.rng = pn.rng.seeded(5)
    local got, plan = run("svrg", sparse:float32(), regularisers.l1, options)
    assert.are.equal("lazy", kind_of(plan))
    for j = 1, p do assert.is_near(want.theta[j], got.theta[j], 1e-12) end
  end)

  it("stops with the last answer when it diverges", function()
    local fit, plan = run("svrg", sparse, {loss = pn.loss.squared()}, {step = 1e6, epochs = 100})
    assert.are.equal("lazy", kind_of(plan))
    assert.are.equal("diverged", fit.stopped)
    for j = 1, p do assert.is_true(fit.theta[j] == fit.theta[j]) end
  end)

  -- Records e_j, labels 100: the minimum of a mean of (theta_j - 100)^2/2 + 0.01/count ||theta||^2/2 has the entries 100/1.01.
  it("goes on to coordinates of any size", function()
    local count, at, x = 200, {}, {}
    for i = 1, count do at[i], x[i] = i, 1 end
    local unit = pn.data.from(pn.sparse{rows = count, cols = count, i = at, j = at, x = x}, pn.vec.zeros(count) + 100)
    local obj = pn.objective{data = unit:clip_rows("l2", 1):clip_labels(0, 100), loss = pn.loss.squared(),
      reg = pn.reg.l2(0.01 / count)}
    local plan = pn.solve.svrg.plan(obj, {privacy = false, epochs = 30})
    local fit = plan:run{rng = pn.rng.seeded(3)}
    assert.are.equal("lazy", kind_of(plan))
    assert.is_nil(fit.stopped)
    for j = 1, count do assert.is_near(100 / 1.01, fit.theta[j], 0.1) end
  end)

  it("goes on where a cancelled run stopped", function()
    local obj = pn.objective{data = sparse, loss = pn.loss.logistic(), reg = pn.reg.l1(0.002)}
    local plan = pn.solve.svrg.plan(obj, {privacy = false, epochs = 3, inner = 150, step = 0.3})
    local whole, walk = plan:run{rng = pn.rng.seeded(2)}, plan:steps{rng = pn.rng.seeded(2)}
    for _ = 1, 3 do walk() end
    assert.is_true(whole.theta == walk:fit().theta)
  end)
end)

describe("a plan of svrg on sparse data says that its steps are dense", function()
  local function says(reason, parts, options)
    local all = {privacy = false, inner = 5}
    for k, v in pairs(options or {}) do all[k] = v end
    for k, v in pairs(all) do if v == "none" then all[k] = nil end end
    local obj = pn.objective{data = parts.data or sparse, loss = parts.loss or pn.loss.logistic(), reg = parts.reg, set = parts.set}
    local text = tostring(pn.solve.svrg.plan(obj, all))
    assert.matches("steps are%s+dense", text)
    assert.matches(reason, text, 1, true)
  end

  it("under noise", function()
    says("noise falls on", {}, {privacy = "none", epsilon = 1, delta = 1e-6, batch = 10})
  end)

  it("when the set or the operator couples coordinates", function()
    says("no closed form", {set = pn.set.l2_ball{dim = p, radius = 1}})
    says("no closed form", {}, {prox = pn.prox.huber{}})
  end)

  it("when the weights of the average are no polynomial", function()
    says("tail", {}, {tail = 0.5})
    says("tail", {}, {tail = 4})
  end)

  it("when a batch has many entries", function()
    says("touches", {}, {batch = 20})
  end)
end)
