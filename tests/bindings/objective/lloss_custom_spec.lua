-- lloss_custom_spec.lua -- losses made of a user's function: what pn.loss.glm refuses and how.
local pn = require "penumbra"
local refused = require("tests.tools.refusal").refused

describe("pn.loss.glm", function()
  local function no_loss(text, ...)
    refused(text, pn.loss.glm, ...)
  end
  local function fine(z, y) return (z - y) ^ 2 end

  it("wants a function that gives a number or an expression", function()
    no_loss("loss.glm", nil)
    no_loss("loss.glm", 3)
    no_loss("nil", function() end)
    no_loss("a table", function() return {} end)
    no_loss("the string", function() return "x" end)
    no_loss("true", function() return true end)
    assert.equal("7", pn.loss.glm(function() return 7 end).formula)
  end)

  it("hands on what the function raises", function()
    local mine = { "mine" }
    local ok, problem = pcall(pn.loss.glm, function() error(mine) end)
    assert.is_false(ok)
    assert.equal(mine, problem)
  end)

  it("points at a comparison of a symbol and names pn.where", function()
    no_loss("where", function(z) if z > 0 then return z end return 0 end)
  end)

  it("reads labels as a list or a range, and refuses the rest", function()
    assert.equal("real", pn.loss.glm(fine).labels)
    assert.equal("-1 and 1", pn.loss.glm(fine, { labels = { -1, 1 } }).labels)
    assert.equal("0, 1 and 2", pn.loss.glm(fine, { labels = { 0, 1, 2 } }).labels)
    assert.equal("in [0, 2.5]", pn.loss.glm(fine, { labels = { lo = 0, hi = 2.5 } }).labels)
    no_loss("labels must be a list of the values that occur", fine, { labels = "binary" })
    no_loss("an empty table", fine, { labels = {} })
    no_loss("entry 2", fine, { labels = { 1, "x" } })
    no_loss("entry 1", fine, { labels = { 0 / 0 } })
    no_loss("entry 2", fine, { labels = { 1, math.huge } })
    no_loss("a range without lo < hi", fine, { labels = { lo = 1, hi = 1 } })
    no_loss("a range without lo < hi", fine, { labels = { lo = 0 } })
    no_loss("a range without lo < hi", fine, { labels = { lo = 0, hi = math.huge } })
    no_loss("unknown option 'label'", fine, { label = { 0, 1 } })
    local many = {}
    for i = 1, 65 do many[i] = i end
    no_loss("labels lists 65 values, at most 64 fit", fine, { labels = many })
  end)

  it("refuses labels outside of its list or range where it is evaluated and where it is certified", function()
    local listed, ranged = pn.loss.glm(fine, { labels = { 0, 1 } }), pn.loss.glm(fine, { labels = { lo = 0, hi = 2 } })
    assert.error_matches(function() listed:evaluate({ 1 }, { 2 }) end, "the labels of glm must be 0 and 1, got 2 at entry 1")
    assert.error_matches(function() ranged:evaluate({ 1, 1 }, { 2, 2.1 }) end, "must be in %[0, 2%], got 2.1 at entry 2")
    assert.error_matches(function() ranged:range({ 0, 1 }, { 3, 4 }) end, "the labels must be in %[0, 2%], got the interval {3, 4}")
    assert.error_matches(function() listed:range({ 0, 1 }, { 0.25, 0.75 }) end, "the labels must be 0 and 1, got the interval")
    -- of an interval they take what they admit: (z - y)^2 over z in [0, 1] with y = 1, and with y in [1, 2]
    assert.is_near(1, listed:range({ 0, 1 }, { 0.5, 9 }).value[2], 1e-9)
    assert.is_near(4, ranged:range({ 0, 1 }, { 1, 9 }).value[2], 1e-8)
  end)

  it("says which part is undefined or unbounded, and where", function()
    local log = pn.loss.glm(function(z, y) return y * pn.log(z + 1) end)
    assert.error_matches(function() log:range({ -2, 2 }, { -1, 1 }) end, "log%(z %+ 1%)")
    assert.is_near(math.log(3), log:range({ 0, 2 }, { -1, 1 }).value[2], 1e-9)
    local range = pn.loss.glm(function(z) return pn.exp(z) end):range({ -math.huge, math.huge }, { 0, 1 })
    assert.equal(math.huge, range.slope[2])
    assert.truthy(range.missing:find("exp(z) is unbounded where z is in [-inf, inf]", 1, true), range.missing)
  end)

  it("takes expressions that are large, and refuses those that are too large", function()
    local big = pn.loss.glm(function(z)
      local sum = z
      for k = 1, 400 do sum = sum + pn.sin(k * z) / k end
      return sum
    end)
    local value = big:evaluate({ 0.5 }, { 1 })
    local want = 0.5
    for k = 1, 400 do want = want + math.sin(k * 0.5) / k end
    assert.is_near(want, value[1], 1e-12)
    no_loss("operations", function(z)
      local sum = z
      for k = 1, 60000 do sum = sum + pn.sin(k * z) end
      return sum
    end)
  end)
end)
