-- logistic_loss_spec.lua -- ln(1 + exp(-y z)), beyond what conformance_spec.lua asks of every loss.
local pn = require "penumbra"

-- t = -y z, softplus(t), sigmoid(t), sigmoid'(t), from 40-digit arithmetic (mpmath)
local reference = {
  {-700, 9.85967654375977086e-305, 9.85967654375977086e-305, 9.85967654375977086e-305},
  {-40, 4.24835425529158899e-18, 4.24835425529158898e-18, 4.24835425529158896e-18},
  {-1, 0.313261687518222834, 0.268941421369995121, 0.196611933241481853},
  {0, 0.693147180559945309, 0.5, 0.25},
  {0.5, 0.974076984180106681, 0.622459331201854565, 0.235003712201594489},
  {1, 1.31326168751822283, 0.731058578630004879, 0.196611933241481853},
  {30, 30.0000000000000936, 0.999999999999906424, 9.3576229688384233e-14},
  {700, 700, 1, 9.85967654375977086e-305},
}

describe("the logistic loss", function()
  local l = pn.loss.logistic()

  it("agrees with 40-digit arithmetic to a few units in the last place, on both sides", function()
    for _, row in ipairs(reference) do
      local t = row[1]
      local value, slope, curvature = l:evaluate({-t, t}, {1, -1})
      for i, sign in ipairs {-1, 1} do
        assert.is_near(1, value[i] / row[2], 1.5e-15)
        assert.is_near(1, sign * slope[i] / row[3], 1.5e-15)
        assert.is_near(1, curvature[i] / row[4], 1.5e-15)
      end
    end
  end)

  it("is linear far on the wrong side and zero far on the right one", function()
    local value, slope, curvature = l:evaluate({1e3, -1e3, 1e308}, {-1, -1, 1})
    assert.equal(1000, value[1])
    assert.equal(0, value[2])
    assert.equal(0, value[3])
    assert.equal(1, slope[1])
    assert.is_true(slope[2] == 0)
    assert.equal(0, curvature[1])
  end)

  it("has |slope| <= 1 / (1 + e^-r) over margins in [-r, r]", function() -- frank-wolfe.md section 5
    local range = l:range({-2, 2}, {-1, 1})
    assert.is_near(0.880797077977882444, range.slope[2], 1e-14)
    assert.is_near(-0.880797077977882444, range.slope[1], 1e-14)
    assert.is_near(0.25, range.curvature[2], 1e-9)
    assert.is_true(range.curvature[2] >= 0.25)
    assert.is_near(0.104993585403506509, range.curvature[1], 1e-14)
    assert.is_near(2.12692801104297250, range.value[2], 1e-14)
  end)

  it("knows the sign of the slope when only one label occurs", function()
    local plus, minus = l:range({-1, 2}, {1, 1}), l:range({-1, 2}, {-1, -1})
    assert.is_near(-0.731058578630004879, plus.slope[1], 1e-14)
    assert.is_near(-0.119202922022117556, plus.slope[2], 1e-14)
    assert.is_near(0.268941421369995121, minus.slope[1], 1e-14)
    assert.is_near(0.880797077977882444, minus.slope[2], 1e-14)
  end)

  it("takes only the labels -1 and 1 from an interval, which may be unbounded", function()
    assert.same(l:range({-1, 2}, {-1, 1}), l:range({-1, 2}, {-math.huge, math.huge}))
    assert.has_error(function() l:range({-1, 1}, {0, 0.5}) end,
      "loss.logistic: the labels must be -1 and 1, got the interval {0, 0.5}")
  end)

  it("never leaves its bounds, however wide the margin", function()
    local range = l:range({-1e300, 1e300}, {-1, 1})
    assert.same({-1, 1}, range.slope)
    assert.equal(0, range.curvature[1])
    assert.is_near(0.25, range.curvature[2], 0.001) -- a search over 1e300 / 1e-3 ends before it is tight
    assert.is_true(range.curvature[2] >= 0.25)
    assert.equal(0, range.value[1])
  end)
end)
