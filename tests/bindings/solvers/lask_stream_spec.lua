-- lask_stream_spec.lua -- ask:prefix is pn.tree, fed with gradients that are certified and with the participations that its
-- batches have: the same noise from the same stream, the same price.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

local n, p, horizon = 60, 3, 12
local data = pn.data.synthetic.logistic { n = n, p = p, seed = 4 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = p, radius = 100 } }

local function lessons() return pn.ledger { rho = 100, teaching = true } end
local function oracle(ledger) return pn.oracle { objective = obj, ledger = ledger, rng = pn.rng.seeded(3) } end

local function with(options, more)
  local out = {}
  for k, v in pairs(options) do out[k] = v end
  for k, v in pairs(more) do out[k] = v end
  return out
end

-- A lower-triangular C of no named family.
local own = {}
for i = 1, horizon do
  own[i] = {}
  for j = 1, horizon do own[i][j] = j <= i and 1 / (1 + (i - j) ^ 1.5) or 0 end
end

local methods = {
  binary = { factorization = "binary" }, honaker = { factorization = "binary", estimator = "honaker" },
  sqrt = { factorization = "sqrt" }, banded = { factorization = "banded", bands = 3 },
  blt = { factorization = "blt", buffers = 2 }, ["a matrix of one's own"] = { factorization = "matrix", matrix = pn.mat(own) },
}

-- The points that are pushed: what a solver would move through.
local points = {}
for t = 1, horizon do points[t] = pn.vec { 0.1 * t, math.sin(t), 1 / t } end

for name, method in pairs(methods) do
  describe("a running sum by " .. name, function()
    it("of all records has the noise and the price of a tree in whose every leaf a record is", function()
      for _, price in ipairs { { rho = 0.5 }, { epsilon = 1, delta = 1e-6 } } do
        local ledger = lessons()
        local sums = oracle(ledger):prefix(with(with(method, price), { horizon = horizon }))
        local tree = pn.tree(with(with(method, price), { dim = p, horizon = horizon, sensitivity = 2 / n, bound = 1,
          rng = pn.rng.seeded(3), participations = horizon, separation = 1 }))
        for t = 1, horizon do
          local mine, theirs = sums:push(points[t]), tree:push(obj:gradient(points[t]))
          assert.near(0, (mine - theirs):norm(math.huge), 1e-6 * (1 + theirs:norm(math.huge)))
          assert.is_true((theirs - t * obj:gradient(points[1])):norm() > 0.01) -- there is noise, or other points
        end
        local whole = ledger.spent
        assert.is_true(whole > 0)
        assert.near(tree.rho, whole, 1e-6 * whole)
        assert.error(function() sums:push(points[1]) end) -- beyond the horizon
        assert.equal(whole, ledger.spent)
      end
    end)

    it("of batches in several passes has those of a tree with their participations and separation", function()
      for _, size in ipairs { 10, 20, 60 } do
        local ledger, between = lessons(), n // size
        local passes = horizon // between
        local sums = oracle(ledger):prefix(with(method,
          { rho = 0.5, horizon = horizon, batch = { scheme = "shuffled", size = size } }))
        local tree = pn.tree(with(method, { dim = p, horizon = horizon, sensitivity = 2 / size, bound = 1, rho = 0.5,
          rng = pn.rng.seeded(3), participations = passes, separation = passes > 1 and between or nil }))
        sums:push(points[1])
        assert.near(tree.rho, ledger.spent, 1e-6 * tree.rho)
        local noise = tonumber(tostring(sums):match "last sum%s+(%S+)")
        assert.near(math.sqrt(tree:variance(horizon)), noise, 1e-4 * noise)
      end
    end)
  end)
end

describe("a running sum of batches", function()
  it("without privacy adds up every record once a pass", function()
    local seen = {}
    local solver = pn.solver { name = "pass", step = function(s, ask)
      seen[s.step] = ask:prefix { factorization = "sqrt", batch = { scheme = "shuffled", size = 20 } }:push(pn.vec { 1, 2, 3 })
    end }
    solver(obj, { privacy = false, iterations = 6, rng = pn.rng.seeded(1), progress = false })
    local mean = obj:gradient(pn.vec { 1, 2, 3 })
    for pass = 1, 2 do assert.near(0, (seen[3 * pass] - 3 * pass * mean):norm(), 1e-12) end
    assert.is_true((seen[1] - mean):norm() > 1e-3) -- a batch is not everybody
  end)

  it("has a price by sigma, too, which is the noise of the last sum", function()
    local ledger = lessons()
    local sums = oracle(ledger):prefix { factorization = "banded", bands = 3, horizon = horizon, sigma = 0.25 }
    assert.near(0.25, tonumber(tostring(sums):match "last sum%s+(%S+)"), 1e-6)
    sums:push(points[1])
    assert.is_true(ledger.spent > 0)
  end)

  it("is refused what its kind cannot have", function()
    local ask = oracle(lessons())
    refused("are \"shuffled\": an order that is drawn once", ask.prefix, ask,
      { horizon = 4, rho = 1, batch = { scheme = "poisson", size = 9 } })
    refused("matrix has 12 rows, and a run pushes 5 times", ask.prefix, ask,
      { factorization = "matrix", matrix = pn.mat(own), horizon = 5, rho = 1 })
    refused("say what this answer may cost", ask.prefix, ask, { horizon = 4 })
    refused("horizon", ask.prefix, ask, { rho = 1 })
  end)
end)

describe("a watch", function()
  it("says above as often as it was made for, is charged once, and then ends", function()
    local ledger = pn.ledger { rho = 1e6 }
    local ask = pn.oracle { objective = obj, ledger = ledger }
    local watch = ask:watch { threshold = 0.5, answers = 2, epsilon = 400 } -- so dear that noise decides nothing
    local near, far = pn.vec { 0, 0, 0 }, pn.vec { 40, 40, 40 }
    assert.is_true(obj:value(near) > 0.69 and obj:value(far) > 1)
    local low = ask:watch { threshold = 5, answers = 1, epsilon = 400 }
    local before = ledger.spent
    for _ = 1, 5 do assert.is_false(low:above(near)) end
    local once = ledger.spent - before
    assert.is_true(once > 0)
    assert.is_true(watch:above(near))
    assert.is_true(watch:above(far))
    local spent = ledger.spent
    refused("the watch has answered \"above\" 2 times, as often as it was planned for", watch.above, watch, near)
    assert.equal(spent, ledger.spent)
  end)
end)
