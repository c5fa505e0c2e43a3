-- unbounded_set_spec.lua -- objectives over sets without bounds: certified where the loss allows it, else told what is
-- missing, and refused before any budget is spent.
local pn = require "penumbra"

local unbounded = {
  pn.set.free{dim = 2}, pn.set.halfspace{normal = {1, 1}, offset = 1}, pn.set.affine{A = {{1, -1}}, b = {0}},
  pn.set.nonnegative{dim = 2}, pn.set.second_order_cone{dim = 2} + {1, 2},
  3 * pn.set.hyperplane{normal = {0, 1}, offset = 2},
}

local function records()
  return pn.data.from({{1, 2}, {3, 4}, {-1, 0.5}}, {1, -1, 1})
end

local function over(set, loss, more)
  local options = {data = records():clip_rows("l2", 1):clip_labels(-1, 1), loss = loss, set = set}
  for name, value in pairs(more or {}) do
    options[name] = value
  end
  return pn.objective(options)
end

describe("an unbounded set", function()
  it("leaves a bounded slope certified and a growing one named, without NaN", function()
    for _, C in ipairs(unbounded) do
      local logistic, squared = over(C, pn.loss.logistic()), over(C, pn.loss.squared())
      local certified, growing = logistic.bounds, squared.bounds
      assert.equal("certified", certified.source)
      assert.equal(math.huge, certified.curvature)
      assert.is_near(1, certified.lipschitz.l2, 1e-9)
      assert.is_nil(growing.source)
      assert.truthy(tostring(growing.missing):find("unbounded", 1, true), growing.missing)
      for _, bounds in ipairs{certified, certified.lipschitz, growing} do
        for name, value in pairs(bounds) do
          assert.is_true(type(value) ~= "number" or value == value, name)
        end
      end
    end
  end)

  it("is no obstacle to values, gradients and clipping", function()
    for _, C in ipairs(unbounded) do
      assert.is_near(math.log(2), over(C, pn.loss.logistic()):value{0, 0}, 1e-15)
      assert.equal("clipped", over(C, pn.loss.squared(), {clip = 1}).bounds.source)
    end
  end)

  it("is refused by Frank-Wolfe and by the exact solver, before anything is charged", function()
    for _, C in ipairs(unbounded) do
      local objective = over(C, pn.loss.logistic())
      local ledger = pn.ledger{rho = 1}
      for _, options in ipairs{{privacy = false}, {rho = 0.5}, {ledger = ledger, rho = 0.5}} do
        local ok, message = pcall(pn.solve.frank_wolfe, objective, options)
        assert.is_false(ok)
        assert.truthy(tostring(message):find("the set must be bounded", 1, true), message)
        assert.equal(1, ledger.remaining)
      end
      local ok, message = pcall(pn.solve.exact, objective)
      assert.is_false(ok)
      assert.truthy(tostring(message):find("needs a bounded set", 1, true), message)
    end
  end)
end)
