-- outside_spec.lua -- gradients at points beyond the declared radius, where a user's functions may lead: a record still adds no
-- more than its certified bound, whichever way gradients are computed.
local pn = require "penumbra"

local p, n = 2, 50

local function scaled(v, t)
  return {v[1] * t, v[2] * t}
end

-- A ball whose functions overstep its radius by what is let pass for their rounding.
local function overstepping(beyond)
  local reach = 1
  local C = pn.set.custom {dim = p, radius = 1,
    project = function(v) return v:norm() <= reach and v or scaled(v, reach / v:norm()) end,
    support = function(g) return scaled(g, reach / g:norm()) end}
  reach = 1 + beyond
  return C
end

local function objective(C, first, label)
  local rows, y = {}, {}
  for i = 1, n do rows[i], y[i] = {1e-3 * math.sin(i), 1e-3 * math.cos(i)}, 0 end
  rows[1], y[1] = first, label
  local data = pn.data.from(rows, y):clip_rows("l2", 1):clip_labels(-1, 1)
  return pn.objective {data = data, loss = pn.loss.squared(), set = C}
end

-- Twice what one record adds, over the planned sensitivity.
local function ratio(C, theta, prepared)
  local with, without = objective(C, {1, 0}, -1), objective(C, {0, 0}, 0)
  if prepared then -- a long run forms the Gram matrix, which stays
    for _, f in ipairs {with, without} do pn.solve.mirror_descent(f, {privacy = false, iterations = 5000}) end
  end
  local plan = pn.solve.mirror_descent.plan(with, {rho = 1, iterations = 5000})
  return 2 * (with:gradient(theta) - without:gradient(theta)):norm() / plan.lines["sensitivity Delta"]
end

describe("the gradient outside of the set", function()
  it("keeps the certified sensitivity, by a pass and by the Gram matrix", function()
    local C = overstepping(9.9e-10)
    local theta = C:project {5, 0}
    assert.is_true(theta:norm() > 1 + 9e-10)
    for _, prepared in ipairs {false, true} do
      assert.is_true(ratio(C, theta, prepared) <= 1)
      assert.is_true(ratio(C, theta, prepared) > 1 - 1e-9) -- and it is attained
      assert.is_true(ratio(C, {40, -30}, prepared) <= 1)
    end
  end)

  it("is the clamped one at neighbours that differ in sign, at a far point", function()
    local C = overstepping(0)
    local a, b = objective(C, {1, 0}, -1), objective(C, {-1, 0}, -1)
    for _, f in ipairs {a, b} do pn.solve.mirror_descent(f, {privacy = false, iterations = 5000}) end
    local plan = pn.solve.mirror_descent.plan(a, {rho = 1})
    for _, theta in ipairs {{1e6, 0}, {-1e6, 1}, {3, 4}} do
      assert.is_true((a:gradient(theta) - b:gradient(theta)):norm() <= plan.lines["sensitivity Delta"])
    end
  end)
end)
