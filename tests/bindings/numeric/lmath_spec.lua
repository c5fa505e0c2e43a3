-- lmath_spec.lua -- functions for numbers and vectors.
local pn = require "penumbra"
local refused_like = require("tests.tools.refusal").refused_like
local vec = pn.vec

local function near(want, got, relative)
  if want ~= got then
    assert.is_true(math.abs(got - want) <= relative * math.abs(want), ("%.17g is not near %.17g"):format(got, want))
  end
end

describe("functions", function()
  -- Digits of the last column: Wolfram's definitions evaluated with 50 digits, rounded.
  local cases = {
    { "exp", 1, 2.718281828459045 },
    { "exp", -745.2, 0 },
    { "log", 10, 2.302585092994046 },
    { "log", 0, -math.huge },
    { "log1p", 1e-10, 9.9999999995e-11 },
    { "expm1", 1e-10, 1.00000000005e-10 },
    { "sqrt", 2, 1.4142135623730951 },
    { "abs", -3, 3 },
    { "sign", -2, -1 },
    { "sign", 0, 0 },
    { "sign", 1e-300, 1 },
    { "relu", -2, 0 },
    { "relu", 2, 2 },
    { "tanh", 0.5, 0.46211715726000976 },
    { "sigmoid", 0, 0.5 },
    { "sigmoid", 2, 0.8807970779778824 },
    { "sigmoid", -1000, 0 },
    { "sigmoid", -700, 9.85967654375977e-305 },
    { "softplus", 0, 0.6931471805599453 },
    { "softplus", 1000, 1000 },
    { "softplus", -40, 4.248354255291589e-18 },
    { "erf", 0.5, 0.5204998778130465 },
    { "sin", 1, 0.8414709848078965 },
    { "cos", 1, 0.5403023058681398 },
  }

  it("agree with reference values, for a number and within a vector alike", function()
    for _, case in ipairs(cases) do
      local f, x, want = pn[case[1]], case[2], case[3]
      near(want, f(x), 1e-15)
      local v = f(vec { x, 0.25, x, 0.5, x, 0.75, x, 1, x })
      assert.equal(9, #v)
      for i = 1, 9, 2 do
        assert.equal(f(x), v[i])
      end
      assert.equal(f(0.25), v[2])
    end
  end)

  it("take a list, leave their argument alone and pass NaN on", function()
    local v = vec { -1, 1 }
    assert.same({ 0, 1 }, pn.relu(v):table())
    assert.same({ -1, 1 }, v:table())
    assert.same({ 1, 1 }, pn.abs({ -1, 1 }):table())
    for _, name in ipairs { "exp", "log", "sqrt", "sign", "relu", "sigmoid", "softplus", "erf", "tanh" } do
      local y = pn[name](0 / 0)
      assert.are_not.equal(y, y)
    end
  end)

  it("refuse other things by name", function()
    refused_like("exp takes a number or a vector, got string", pn.exp, "1")
    refused_like("log takes a number or a vector, got nil", pn.log)
    refused_like("sqrt takes a number or a vector, got boolean", pn.sqrt, true)
  end)

  it("min, max and clamp work entry by entry and spread numbers", function()
    assert.equal(1, pn.min(3, 1, 2))
    assert.equal(3, pn.max(3, 1, 2))
    assert.same({ 1, 2, 2 }, pn.min(vec { 1, 5, 3 }, 2):table())
    assert.same({ 4, 5, 3 }, pn.max(vec { 1, 5, 3 }, { 4, 1, 1 }, 2):table())
    assert.same({ 2, 4, 3 }, pn.clamp(vec { 1, 5, 3 }, 2, 4):table())
    assert.same({ 2, 5, 1 }, pn.clamp(vec { 1, 5, 3 }, { 2, 2, 0 }, { 9, 9, 1 }):table())
    assert.equal(2, pn.clamp(7, 1, 2))
    local nan = pn.min(0 / 0, 1)
    assert.are_not.equal(nan, nan)
    nan = pn.max(1, 0 / 0)
    assert.are_not.equal(nan, nan)
    refused_like("min takes two or more", pn.min, vec { 1, 2 })
    refused_like("max takes two or more", pn.max)
    refused_like("clamp: low must not be above high, got 3 and 2", pn.clamp, 1, 3, 2)
    refused_like("vec min vec: the vectors have 2 and 3 entries", pn.min, vec { 1, 2 }, vec { 1, 2, 3 })
    refused_like("max%(vec, nil%) is not defined", pn.max, vec { 1 }, nil)
  end)

  it("compare numbers to a boolean and vectors to ones and zeros", function()
    assert.is_true(pn.lt(1, 2))
    assert.is_false(pn.ge(1, 2))
    local v = vec { 1, 2, 3 }
    assert.same({ 1, 0, 0 }, pn.lt(v, 2):table())
    assert.same({ 1, 1, 0 }, pn.le(v, 2):table())
    assert.same({ 0, 0, 1 }, pn.gt(v, 2):table())
    assert.same({ 0, 1, 1 }, pn.ge(v, 2):table())
    assert.same({ 1, 1, 0 }, pn.gt(vec { 3, 3, 3 }, v):table())
    refused_like("lt%(vec, string%) is not defined", pn.lt, v, "2")
  end)

  it("where chooses entry by entry, or as a whole by a boolean", function()
    local v = vec { -2, 0, 3 }
    assert.same({ 2, 0, 3 }, pn.where(pn.lt(v, 0), -v, v):table())
    assert.same({ 1, 0, 0 }, pn.where(pn.lt(v, 0), 1, 0):table())
    assert.equal(v, pn.where(true, v, 0))
    assert.equal(7, pn.where(pn.gt(1, 2), v, 7))
    refused_like("where: the condition has 3 entries, the choice 2", pn.where, v, vec { 1, 2 }, 0)
    refused_like("where: the condition has 3 entries, the choice 1", pn.where, v, 0, { 1 })
    refused_like("where: the condition must come from lt, le, gt or ge", pn.where, 1, 2, 3)
    refused_like("where%(vec, string, number%) is not defined", pn.where, v, "a", 1)
    refused_like("where", pn.where, 1, v, v)
  end)
end)

describe("the reference", function()
  it("documents every function, method and operator of the numbers", function()
    local reference = pn.reference()
    for _, name in ipairs {
      "vec", "vec.zeros", "vec.normal", "pn.vec:dot", "pn.vec.__add", "pn.vec", "mat", "mat.zeros", "pn.mat:svd",
      "pn.mat.rows", "sparse", "pn.sparse:t", "exp", "min", "where", "clamp", "lt", "load",
    } do
      local entry = reference[name]
      assert.is_table(entry, name)
      assert.is_string(entry.signature, name)
      assert.is_string(entry.doc, name)
      assert.is_string(entry.reveals, name)
    end
    assert.equal("pn.vec{1, 2, 3} -> vec", reference["vec"].signature)
    assert.equal("raw", reference["load"].reveals)
  end)
end)
