-- lbound_spec.lua -- pn.bound: ranges in, certified extremes out.
local pn = require "penumbra"
local refusal = require("tests.tools.refusal").refusal

local function has(part, message)
  assert.is_truthy(message:find(part, 1, true), ("%q is not in %q"):format(part, message))
end

-- An interval that holds x and is narrow, relatively to the larger of the magnitudes of both extremes.
local function encloses(interval, x, scale)
  assert.equal(2, #interval)
  assert.is_true(interval[1] <= x and x <= interval[2], ("%.17g is outside {%.17g, %.17g}"):format(x, interval[1], interval[2]))
  assert.is_true(interval[2] - interval[1] <= 1e-6 * scale, "wider than 1e-6")
end

local function bounds(least, most, f, ranges)
  local result, scale = pn.bound(f, ranges), math.max(math.abs(least), math.abs(most))
  encloses(result.min, least, scale)
  encloses(result.max, most, scale)
  assert.is_true(result.converged)
  assert.is_true(math.type(result.boxes) == "integer" and result.boxes >= 1)
  return result
end

describe("pn.bound", function()
  -- The extremes are closed forms, in the comments where they are not evident.
  it("encloses the extremes over intervals", function()
    bounds(-0.25, 2, function(t) return t ^ 2 - t end, { t = { -1, 1 } })
    bounds(math.exp(-1), math.exp(1), pn.exp, { whatever = { -1, 1 } })
    bounds(math.log(2), 1 + math.log(1 + math.exp(-1)), function(z) return pn.softplus(z) end, { z = { 0, 1 } })
    bounds(-3, 3, function(a, b) return a * b end, { a = { -1, 1 }, b = { 1, 3 } })
    bounds(0, 1, function(z) return pn.where(pn.lt(pn.abs(z), 1), z ^ 2, 1) end, { z = { -5, 5 } })
    bounds(0.25, 0.25, function(z) return 0.25 end, { z = { -5, 5 } }) -- luacheck: ignore 212
    bounds(7, 7, function() return 7 end, {})
    bounds(2, 6, function(a, ...) return 2 * a end, { a = { 1, 3 } }) -- luacheck: ignore 212
    bounds(2, 6, function(...) return 2 * ... end, { x = { 1, 3 } })
  end)

  it("takes infinite ends", function()
    bounds(-0.5, 0.5, function(t) return t / (1 + t ^ 2) end, { t = { -math.huge, math.huge } })
    bounds(0, 1, function(t) return pn.sigmoid(t) end, { t = { -math.huge, math.huge } })
    bounds(0, 1, function(t) return pn.exp(-t) end, { t = { 0, math.huge } })
  end)

  it("takes a list of values, fields lo and hi, and a number", function()
    local f = function(z, y) return (z - y) ^ 2 end
    bounds(0, 4, f, { z = { -1, 1 }, y = { -1, 1 } })
    bounds(0, 4, f, { z = { lo = -1, hi = 1 }, y = { values = { -1, 1 } } })
    bounds(4, 16, f, { z = { -1, 1 }, y = 3 })
    bounds(4, 4, f, { z = 1, y = 3 })
    -- over the interval the smallest is 0, at 0; over the list it is 1
    bounds(1, 4, function(y) return y ^ 2 end, { y = { values = pn.vec { -1, 2 } } })
    bounds(0, 4, function(y) return y ^ 2 end, { y = { -1, 2 } })
    bounds(9, 9, function(y) return y ^ 2 end, { y = { values = { -3 } } })
  end)

  it("does not depend on the caller's list afterwards", function()
    local values = pn.vec { 1, 2 }
    bounds(1, 4, function(y)
      values[1], values[2] = 100, 200
      return y ^ 2
    end, { y = { values = values } })
  end)

  it("prints itself, and its parts", function()
    local result = pn.bound(function(t) return 2 * t end, { t = { 1, 2 } })
    assert.equal("{2.0, 2.0}", tostring(result.min))
    assert.matches("^{boxes = %d+, converged = true, max = {4.0, 4.0}, min = {2.0, 2.0}}$", tostring(result))
  end)

  it("is sound on a grid: no value lies outside", function()
    local functions = {
      function(z) return pn.log1p(z ^ 2 / 2) * pn.cos(3 * z) end,
      function(z) return pn.tanh(z) * pn.erf(z - 0.5) / (1 + pn.abs(z)) end,
      function(z) return pn.max(0, 1 - z) ^ 2 + pn.min(z, 0.25) end,
      function(z) return pn.where(pn.ge(z, 0.3), pn.sqrt(1 + z), pn.expm1(z)) end,
    }
    for _, f in ipairs(functions) do
      local result = pn.bound(f, { z = { -2, 2 } })
      local values = pn.vec.linspace(-2, 2, 10001):map(f)
      assert.is_true(result.min[1] <= values:min() and values:max() <= result.max[2])
      assert.is_true(result.min[2] <= values:min() + 1e-4 and values:max() - 1e-4 <= result.max[1])
    end
  end)

  it("says what is unbounded or undefined, and where, once", function()
    local message = refusal(pn.bound, function(t) return pn.log(t) end, { t = { 0, 1 } })
    assert.matches("^bound: log%(t%) is unbounded where t is in %[0, ", message)
    message = refusal(pn.bound, function(t) return pn.log(t) end, { t = { -1, 1 } })
    assert.matches("^bound: log%(t%) may be undefined where t is in %[%-1, ", message)
    has("bound: ", refusal(pn.bound, function(t) return t end, { t = { 0, math.huge } }))
  end)

  it("refuses ranges that are not for the parameters, and lists them", function()
    local f = function(z, y) return z + y end
    local all = { -1, 1 }
    has("bound: the function has no parameter 'x'; its parameters: z and y", refusal(pn.bound, f, { z = all, y = all, x = all }))
    has("bound: the function has no parameter '1'", refusal(pn.bound, f, { all, z = all, y = all }))
    has("bound: no range is given for y; give {y = {lo, hi}, ...}", refusal(pn.bound, f, { z = all }))
    has("bound: no range is given for z and y", refusal(pn.bound, f, {}))
    local one = function() return 1 end
    has("bound: the function has no parameter 't'; its parameters: nothing", refusal(pn.bound, one, { t = all }))
    has("expected a table of ranges, as in {t = {lo, hi}}, got nil", refusal(pn.bound, f))
    has("bound: expected a function, got a table", refusal(pn.bound, { z = all }))
    has("the parameters of the function have no names", refusal(pn.bound, pn.max, { a = all, b = all }))
    has("the parameters of the function have no names", refusal(pn.bound, pn.exp, {}))
    has("the parameters of the function have no names", refusal(pn.bound, pn.exp, { all }))
  end)

  it("refuses ranges that make no sense, by name", function()
    local function refused(range)
      return refusal(pn.bound, function(t) return t end, { t = range })
    end
    local wanted = "bound: the range of t must be {lo, hi} with lo <= hi"
    has(wanted .. ", got {2, 1}", refused { 2, 1 })
    has(wanted .. ", got {inf, inf}", refused { math.huge, math.huge })
    has(wanted .. ", got {-inf, -inf}", refused { -math.huge, -math.huge })
    has("that does not hold two numbers", refused { 0 / 0, 1 })
    has("that does not hold two numbers", refused { 1, "2" })
    has("that does not hold two numbers", refused { lo = 1, high = 2 })
    has("for a list write {values = {...}}", refused { 1, 2, 3 })
    has(wanted, refused { 1 })
    has(wanted, refused {})
    has("or a number, got the string \"x\"", refused "x")
    has("or a number, got inf", refused(math.huge))
    has("or a number, got a pn.vec", refused(pn.vec { 1, 2 }))
    has("bound: the values of t must be at least one", refused { values = {} })
    has("bound: the values of t: entry 2 must be a number, got string", refused { values = { 1, "2" } })
    has("bound: the values of t: entry 1 must be a finite number, got inf", refused { values = { math.huge } })
    has("bound: the values of t: entry 2 must be a finite number, got inf", refused { values = pn.vec { 1, 1 } / pn.vec { 1, 0 } })
    has("bound: the values of t must be a list of numbers, got 3", refused { values = 3 })
    has("with more than its values", refused { values = { 1 }, lo = 1 })
  end)

  it("traces, with the errors of a trace", function()
    local line = debug.getinfo(1, "l").currentline + 1
    local message = refusal(pn.bound, function(t) return t > 0 and t or 0 end, { t = { 0, 1 } })
    assert.matches("^bound: .*lbound_spec.lua:" .. line .. ": t > 0 cannot be decided while the function is traced", message)
    has("bound: the function returned nil", refusal(pn.bound, function(t) local _ = t end, { t = { 0, 1 } }))
    local boom = {}
    local ok, err = pcall(pn.bound, function() error(boom) end, {})
    assert.is_false(ok)
    assert.equal(boom, err)
  end)
end)

describe("e:bound", function()
  it("bounds an expression and its derivatives, and leaves them alone", function()
    local e = pn.trace(function(z, y) return pn.softplus(-y * z) end)
    local ranges = { z = { -2, 2 }, y = { values = { -1, 1 } } }
    local text, slope = tostring(e), e:derivative "z"
    local result = e:bound(ranges)
    encloses(result.max, math.log(1 + math.exp(2)), 2)
    encloses(result.min, math.log(1 + math.exp(-2)), 2)
    encloses(slope:bound(ranges).max, 1 / (1 + math.exp(-2)), 1) -- sigmoid(2)
    encloses(slope:derivative("z"):bound(ranges).max, 0.25, 0.25) -- sigmoid' at 0
    assert.equal(text, tostring(e))
    assert.equal(tostring(result), tostring(e:bound(ranges)))
    local message = refusal(e.bound, e, { z = { 0, 1 } })
    has("e:bound: no range is given for y", message)
    has("bound: log(t) is unbounded", refusal(function()
      return pn.trace(function(t) return pn.log(t) end):bound { t = { 0, 1 } }
    end))
  end)
end)
