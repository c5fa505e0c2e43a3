-- equality_spec.lua -- Lua takes z == 0 for false when z is a symbol, without asking: a loss that compares so took one branch for
-- good.
local pn = require "penumbra"

local function refused(f, ...)
  for _, make in ipairs {function() return pn.loss.glm(f) end, ...} do
    local ok, message = pcall(make)
    assert.is_false(ok)
    assert.truthy(message:find("decides == and ~=", 1, true) or message:find("cannot be decided", 1, true), message)
  end
end

describe("a formula that compares by ==", function()
  it("is refused where a number is compared with", function()
    refused(function(z, y) return z == 0 and 5 or z * y end)
    refused(function(z, y) return y == 1 and z or -z end)
    refused(function(z) if z ~= 0 then return z end return 1 end)
  end)

  it("is refused where symbols are compared", function()
    refused(function(z, y) return z == y and 1 or z end)
  end)

  it("is refused as a regulariser and as a potential", function()
    assert.error_matches(function() pn.reg.separable(function(w) return w == 0 and 1 or w * w end) end, "decides == and ~=")
    assert.error_matches(function()
      pn.potential.separable(function(t) return t == 1 and 7 or t * t end)
    end, "decides == and ~=")
  end)

  it("may ask for what is no number, since all numbers take that branch alike", function()
    assert.equal("z*y", pn.loss.glm(function(z, y) return z ~= z and 0 or z * y end).formula)
  end)

  it("hands on an error that the function has for numbers only", function()
    local mark = {}
    local ok, message = pcall(pn.loss.glm, function(z)
      if type(z) == "number" then error(mark) end
      return z
    end)
    assert.is_false(ok)
    assert.equal(mark, message)
  end)
end)
