-- composed_callbacks_spec.lua -- user's functions inside compositions: what they raise or return wrongly reaches the caller,
-- through every operation, and parts may be forgotten while the composition lives.
local pn = require "penumbra"

local boom = {"boom"}
local faults = {
  {function() error(boom) end, function(e) return e == boom end},
  {function() return "x" end, "support"}, {function() return {1, 2} end, "2"}, {function() return {0 / 0, 1, 2} end, "nan"},
  {function() return nil end, "support"}, {function(g) coroutine.yield() return g end, "yield"},
}
local uses = {
  function(C) return C:support{1, 2, 3} end,
  function(C) return (C + C):project{3, 3, 3} end,
  function(C) return C:hull(pn.set.l1_ball{dim = 3}):gauge{1, 1, 1} end,
  function(C) return C:intersect(pn.set.l2_ball{dim = 3}):support{1, 2, 3} end,
  function(C) return C:image{{1, 2, 3}, {0, 1, 0}}:contains{0.1, 0.1} end,
  function(C) return C:product(C):sample(pn.rng.seeded(1)) end,
  function(C) return C:polar():support{1, 2, 3} end,
}

describe("functions of a user inside compositions", function()
  it("reach the caller with what went wrong", function()
    for i, fault in ipairs(faults) do
      for k, use in ipairs(uses) do
        local ok, e = pcall(function() return use(pn.set.custom{dim = 3, radius = 1, support = fault[1]}) end)
        local told = type(fault[2]) == "function" and fault[2](e)
        told = told or type(fault[2]) == "string" and tostring(e):find(fault[2], 1, true)
        assert.is_true(not ok and told and true, ("fault %d, use %d: %s"):format(i, k, tostring(e)))
        collectgarbage()
      end
    end
  end)

  it("live as long as what is made of them", function()
    local C
    do
      local part = pn.set.custom{dim = 3, radius = 1, support = function(g)
        return g:norm() > 0 and (1 / g:norm()) * g or g
      end}
      C = ((part + pn.set.l1_ball{dim = 3}):hull(-2 * part)):polar()
    end
    collectgarbage()
    collectgarbage()
    local value, y = C:support{0, 0, 2} -- the gauge of the hull there: both bodies reach 2 along e3
    assert.is_near(1, value, 1e-7)
    assert.is_near(0.5, y[3], 1e-7)
  end)
end)
