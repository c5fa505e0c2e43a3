-- second_order_losses_spec.lua -- which losses the three solvers of second order take, and what they say of the others: why, by
-- name, also where nothing bounds the records.
local pn = require "penumbra"

local function data(clipped)
  local out = pn.data.from({{0.6, 0}, {0, 0.8}, {0.3, -0.4}, {-0.5, 0.1}}, {1, -1, 1, -1})
  return clipped and out:clip_rows("l2", 1) or out
end

local without_noise = {
  second_order = {privacy = false, smoothness = 1, hessian_lipschitz = 1, gap = 1, tolerance = {gradient = 0.1}},
  trust_region = {privacy = false, hessian_lipschitz = 1, gap = 1, tolerance = {gradient = 0.1}},
  newton = {privacy = false},
}

local function planned(solver, loss, clipped, options)
  return pcall(pn.solve[solver].plan, pn.objective {data = data(clipped), loss = loss}, options or without_noise[solver])
end

local function refused(pattern, loss)
  for solver in pairs(without_noise) do
    for _, clipped in ipairs {true, false} do
      local fine, message = planned(solver, loss, clipped)
      assert.is_false(fine)
      message = tostring(message)
      assert.is_truthy(message:find("^solve." .. solver .. ".plan: "), message)
      assert.is_truthy(message:find(pattern), message)
    end
  end
end

describe("solvers of second order", function()
  it("name the kink of a loss, not that it is unbounded", function()
    for _, loss in ipairs {pn.loss.absolute(), pn.loss.hinge(), pn.loss.quantile {tau = 0.3},
      pn.loss.glm(function(z, y) return pn.abs(z - y) end)} do
      refused("slope.* jumps", loss)
      for solver in pairs(without_noise) do
        assert.is_nil(tostring(select(2, planned(solver, loss, false))):find("unbounded"))
      end
    end
  end)

  it("name a jump of the loss itself, and where it is undefined", function()
    refused("not known to be continuous", pn.loss.glm(function(z) return pn.where(pn.gt(z, 0), z, 1) end))
    refused("log%(z%) may be undefined", pn.loss.glm(function(z) return pn.log(z) end))
  end)

  it("send black boxes to zeroth_order", function()
    for solver in pairs(without_noise) do
      local box = pn.loss.black_box {value = function() return 0 end, lipschitz = 1}
      local fine, message = planned(solver, box, true)
      assert.is_false(fine)
      assert.is_truthy(tostring(message):find("solve.zeroth_order") or tostring(message):find("black box"), tostring(message))
    end
  end)

  it("take huber, whose curvature jumps, where nothing rests on a third derivative", function()
    local loss, budget = pn.loss.huber {delta = 0.5}, {epsilon = 1, delta = 1e-3}
    for solver in pairs(without_noise) do assert.is_true(planned(solver, loss, true)) end
    assert.is_true(planned("newton", loss, true, budget))
    for _, solver in ipairs {"second_order", "trust_region"} do
      local fine, message = planned(solver, loss, true, budget)
      assert.is_false(fine)
      assert.is_truthy(tostring(message):find("hessian_lipschitz="), tostring(message))
    end
  end)
end)
