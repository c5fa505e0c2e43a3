-- typed_rounding_spec.lua -- objective perturbation took every slope to be right to 2^-46 of its bound, typed formulas too: with
-- u = (z + 1e8) - 1e8 in the loss 20 runs of 20 ended without a certificate, after they had been paid for.
local pn = require "penumbra"
local law = require("tests.tools.tier").law(it)

local data = (pn.data.synthetic.logistic {n = 300, p = 3, sparsity = 1, seed = 1}):clip_rows("l2", 1)
local ball = pn.set.l2_ball {dim = 3, radius = 5}

local function shifted(big)
  return pn.loss.glm(function(z, y)
    local u = (z + big) - big
    return (u - y) ^ 2 / 2
  end, {labels = {-1, 1}})
end

local function plan(loss, set, reg)
  local obj = pn.objective {data = data, loss = loss, set = set, reg = reg}
  return pn.solve.objective_perturbation.plan(obj, {epsilon = 1, delta = 1e-6})
end

describe("objective perturbation of a typed loss", function()
  law("leaves room for what rounding does to a formula that cancels", function()
    local rough, fine = plan(shifted(1e8), ball), plan(shifted(0), ball)
    for _ = 1, 20 do
      assert.is_true(rough:run().privacy.private)
    end
    -- Slopes to within 2 units of 1e8: 3e-8, where the fine formula has 5 x 2^-46 = 9e-14.
    assert.is_true(rough.lines["tolerance tau"] > 1e6 * fine.lines["tolerance tau"])
    assert.is_true(rough.lines["answer noise"] > fine.lines["answer noise"])
  end)

  it("refuses before anything is paid what no certificate can rest on", function()
    local ledger = pn.ledger {epsilon = 1, delta = 1e-6}
    local obj = pn.objective {data = data, loss = shifted(1e12), set = ball}
    assert.error_matches(function() pn.solve.objective_perturbation(obj, {ledger = ledger}) end,
      "rounding may take the slope of the loss glm off by .*use a loss of pn%.loss, or use gradient_descent")
    assert.equal(0, ledger.spent)
  end)

  law("plans formulas that do not cancel as it always did", function()
    local typed = pn.loss.glm(function(z, y) return pn.log1p(pn.exp(-y * z)) end, {labels = {-1, 1}})
    for _, set in ipairs {ball, false} do
      local a, b = plan(typed, set or nil), plan(pn.loss.logistic(), set or nil)
      for _, name in ipairs {"tolerance tau", "offset a", "noise ratio s", "lambda = Lam/n"} do
        assert.equal(b.lines[name], a.lines[name])
      end
    end
  end)

  it("bounds kinks of the slope, with a set and without, labels listed or in a range", function()
    local function huber(z, y)
      local r = pn.abs(z - y)
      return pn.where(pn.le(r, 0.3), r * r / 2, 0.3 * (r - 0.15))
    end
    local table_ = plan(pn.loss.huber {delta = 0.3}, ball).lines["tolerance tau"]
    assert.is_true(plan(pn.loss.glm(huber, {labels = {-1, 1}}), ball):run().privacy.private)
    assert.is_true(plan(pn.loss.glm(huber, {labels = {-1, 1}})):run().privacy.private)
    data = data:clip_labels(-1, 1)
    local there = plan(pn.loss.glm(huber, {labels = {lo = -1, hi = 1}}), ball)
    assert.is_true(there.lines["tolerance tau"] <= 1.001 * table_)
  end)

  it("looks at typed regularisers, too", function()
    local function reg(big) return pn.reg.separable(function(w) return ((w + big) - big) ^ 2 / 20 end) end
    local fine = plan(pn.loss.logistic(), ball, reg(0))
    assert.is_true(fine:run().privacy.private)
    assert.is_true(plan(pn.loss.logistic(), ball, reg(1e8)).lines["tolerance tau"] > fine.lines["tolerance tau"])
    assert.error_matches(function() plan(pn.loss.logistic(), ball, reg(1e13)) end, "of the regulariser")
    assert.error_matches(function() plan(pn.loss.logistic(), nil, reg(0)) end, "of the regulariser .*give set=")
  end)
end)
