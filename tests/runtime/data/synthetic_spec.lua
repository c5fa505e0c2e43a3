-- synthetic_spec.lua -- data with a known truth.  Tolerances of statistics are 5 standard errors (false alarm 5.7e-7
-- each, were the seeds not fixed); what a factor 1.1 in a scale would change is stated beside each.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal
local synthetic = pn.data.synthetic

local function places_of(truth)
  local places = {}
  for j = 1, #truth do
    if truth[j] ~= 0 then
      places[#places + 1] = j
    end
  end
  return places
end

local function error_of(fn, ...)
  local message = refusal(fn, ...)
  return message:match("data%.synthetic.*") or message:match("synthetic.*")
end

describe("synthetic lasso data", function()
  it("has features -1 and 1, equally often", function()
    local d = synthetic.lasso { n = 2000, p = 50, seed = 3 }
    local sum, X = 0, d.X
    for i = 1, d.n do
      for j = 1, d.p do
        local x = X:get(i, j)
        assert(x == 1 or x == -1)
        sum = sum + x
      end
    end
    assert.near(0, sum / 1e5, 5 / math.sqrt(1e5))
  end)

  it("has a truth of `sparsity` entries of one size and the l1 norm asked for", function()
    local _, truth = synthetic.lasso { n = 5, p = 200, sparsity = 8, signal = 2, seed = 4 }
    local places, positive = places_of(truth), 0
    assert.equal(200, #truth)
    assert.equal(8, #places)
    for _, j in ipairs(places) do
      assert.equal(0.25, math.abs(truth[j]))
      positive = positive + (truth[j] > 0 and 1 or 0)
    end
    assert.is_true(positive > 0 and positive < 8) -- both signs occur with this seed; all alike has probability 1/128
    local _, other = synthetic.lasso { n = 5, p = 200, sparsity = 8, signal = 2, seed = 5 }
    assert.are_not.same(places, places_of(other))
  end)

  it("has labels <x, theta*> plus noise of the standard deviation asked for", function()
    local n = 20000
    local d, truth = synthetic.lasso { n = n, p = 20, signal = 0.2, noise = 0.1, seed = 6 }
    local residual = d.y - d.X * truth -- |y| <= 0.2 + 8 noise: nothing is clipped
    local deviation = math.sqrt(residual:dot(residual) / n)
    assert.near(0, residual:sum() / n, 5 * 0.1 / math.sqrt(n))
    assert.near(1, deviation / 0.1, 5 / math.sqrt(2 * n)) -- 0.025; a factor 1.1 is 4 times as far
    for j = 1, 20 do -- mean of x_j y is theta_j; variance of y about 0.1^2 + 5 (0.2/5)^2 = 0.018
      local mean = d.X:t()[j]:dot(d.y) / n
      assert.near(truth[j], mean, 5 * math.sqrt(0.018 / n))
    end
  end)

  it("clips labels to [-1, 1] and enforces its bounds", function()
    local d = synthetic.lasso { n = 500, p = 9, noise = 5, seed = 7 }
    local s = d:summary()
    assert.same({ -1, 1 }, { s.label_min, s.label_max })
    assert.same({ l1 = 9, l2 = 3, linf = 1, labels = { -1, 1 } }, d.bounds)
    assert.is_true(s.other_labels > 0)
  end)

  it("is exact without noise", function()
    local d, truth = synthetic.lasso { n = 50, p = 6, sparsity = 4, noise = 0, signal = 1, seed = 8 }
    assert.same((d.X * truth):table(), d.y:table()) -- multiples of 1/4: sums are exact
  end)

  it("is the same for the same seed and takes 1 by default", function()
    local a, b = synthetic.lasso { n = 30, p = 10 }, synthetic.lasso { n = 30, p = 10, seed = 1 }
    local c = synthetic.lasso { n = 30, p = 10, seed = 2 }
    assert.same(a.y:table(), b.y:table())
    assert.is_true(a.X == b.X)
    assert.is_false(a.X == c.X)
  end)

  it("takes the whole width when it is below the default sparsity", function()
    local _, truth = synthetic.lasso { n = 4, p = 3 }
    assert.equal(3, #places_of(truth))
  end)

  it("refuses options that make no sense", function()
    assert.equal("data.synthetic.lasso: unknown option 'm'; it takes n, p, sparsity, noise, signal, seed, progress",
      error_of(synthetic.lasso, { n = 3, p = 3, m = 1 }))
    assert.matches("data.synthetic.lasso: .*p", error_of(synthetic.lasso, { n = 3 }))
    assert.matches("noise must be a number >= 0, got %-1", error_of(synthetic.lasso, { n = 3, p = 3, noise = -1 }))
    assert.equal("synthetic.lasso: sparsity must be from 1 to p = 3, got 4",
      error_of(synthetic.lasso, { n = 3, p = 3, sparsity = 4 }))
    assert.equal("data.synthetic.lasso: seed must be a whole number, got 1.5",
      error_of(synthetic.lasso, { n = 3, p = 3, seed = 1.5 }))
  end)
end)

describe("synthetic logistic data", function()
  it("has labels -1 and 1, enforced", function()
    local d = synthetic.logistic { n = 100, p = 4, seed = 2 }
    local s = d:summary()
    assert.same({ -1, 1, 0 }, { s.label_min, s.label_max, s.other_labels })
    assert.same({ l1 = 4, l2 = 2, linf = 1, labels = { -1, 1 } }, d.bounds)
    assert.matches("labels %-1 or 1", tostring(d))
  end)

  it("follows the sigmoid of the score, flipped with the probability asked for", function()
    -- One non-zero: scores are +-2.  P(y = sign of the score) = s (1 - 0.2) + (1 - s) 0.2 with s = 1/(1 + e^-2):
    -- 0.728478.  A factor 1.1 in the noise gives 0.7132, in the signal 0.7401.
    local n = 200000
    local d, truth = synthetic.logistic { n = n, p = 2, sparsity = 1, signal = 2, noise = 0.2, seed = 9 }
    local score, agree = d.X * truth, 0
    local y = d.y
    for i = 1, n do
      agree = agree + (score[i] * y[i] > 0 and 1 or 0)
    end
    assert.near(0.728478, agree / n, 5 * math.sqrt(0.7285 * 0.2715 / n))
  end)

  it("takes noise from 0 to 1 only", function()
    assert.matches("noise must be a number from 0 to 1, got 1.5",
      error_of(synthetic.logistic, { n = 3, p = 3, noise = 1.5 }))
  end)
end)
