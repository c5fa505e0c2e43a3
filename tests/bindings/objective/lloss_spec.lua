-- lloss_spec.lua -- how pn.loss takes its options and hands out its methods.
local pn = require "penumbra"

describe("pn.loss", function()
  it("has one constructor for each name, which the reference explains", function()
    local names = pn.loss.names()
    assert.is_true(#names >= 2)
    for _, name in ipairs(names) do
      assert.equal("function", type(pn.loss[name]))
      assert.truthy(pn.reference()["loss." .. name].signature:find("pn.loss." .. name, 1, true))
    end
  end)

  it("names an option that a loss does not take", function()
    assert.has_error(function() pn.loss.squared{delta = 1} end, "loss.squared: unknown option 'delta'; it takes none")
  end)

  it("says that options come in a table", function()
    assert.has_error(function() pn.loss.squared(3) end, "loss.squared: expected one table of options, got 3")
  end)
end)

describe("a loss", function()
  local l = pn.loss.logistic()

  it("prints its name and formula", function()
    assert.truthy(tostring(l):find("logistic loss", 1, true))
    assert.truthy(tostring(l):find("ln(1 + exp(-y z))", 1, true))
  end)

  it("names both lengths when margins and labels do not fit", function()
    assert.has_error(function() l:evaluate({1, 2}, {1}) end, "l:evaluate: z has 2 entries, y has 1")
  end)

  it("refuses labels other than -1 and 1, with their position", function()
    assert.has_error(function() l:evaluate({1, 2}, {1, 0}) end,
      "l:evaluate: the labels of logistic must be -1 and 1, got 0 at entry 2")
  end)

  it("refuses margins that are not finite, with their position", function()
    assert.has_error(function() l:evaluate(pn.vec{1, 1e308} * 10, {1, 1}) end,
      "l:evaluate: z must hold finite numbers, got inf at entry 2")
  end)

  it("wants intervals as {lo, hi}", function()
    assert.has_error(function() l:range(1, {-1, 1}) end, "l:range: z must be an interval {lo, hi}, got number")
    assert.has_error(function() l:range({0, 1}, {1}) end,
      "l:range: y must be an interval {lo, hi}; entry 2 is nil")
  end)

  it("evaluates an empty block", function()
    local value, slope, curvature = l:evaluate({}, {})
    assert.equal(0, #value + #slope + #curvature)
  end)
end)
