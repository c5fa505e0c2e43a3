-- softmax_second_order_spec.lua -- solvers of second order on a loss of several margins: dim = classes x p, one Hessian of that
-- order. Losses are summed from their definition in plain Lua; seeds are fixed.
local pn = require "penumbra"

local classes, p, n, radius = 3, 3, 4000, 2

-- Class k lies along axis k; labels 1 .. classes.
local function records()
  local X, y, rng = pn.mat.zeros(n, p), pn.vec.zeros(n), pn.rng.seeded(5)
  for i = 1, n do
    local x = pn.vec.normal(p, rng)
    y[i] = i % classes + 1
    x[y[i]] = x[y[i]] + 1
    X[i]:axpy(1, x)
  end
  return pn.data.from(X, y):clip_rows("l2", radius)
end

local data = records()
local obj = pn.objective {data = data, loss = pn.loss.softmax {classes = classes}, reg = pn.reg.nonconvex(1e-3)}
local start = pn.vec.zeros(classes * p)
for j = 1, classes * p do start[j] = 2 * math.sin(j) end

-- zeta so small that every certificate has to hold; much budget, since records are few
local common = {rho = 50, failure = 1e-7, tolerance = {gradient = 0.15, hessian = 0.3}, start = start, hessian_lipschitz = 2}
local function with(more)
  local out = {}
  for name, value in pairs(common) do out[name] = value end
  for name, value in pairs(more) do out[name] = value or nil end
  return out
end

local solvers = {
  {"second_order", with {smoothness = 2, gap = 3}},
  {"second_order", with {smoothness = 2, gap = 3, line_search = true}},
  {"second_order", with {smoothness = 2, gap = 3, eigen = "lanczos"}},
  {"second_order", with {smoothness = 2, gap = 3, batch = 2000, rho = false, epsilon = 30, delta = 1e-5}},
  {"trust_region", with {tolerance = {gradient = 0.15}, gap = 3}},
}

describe("solvers of second order on softmax", function()
  it("release gradients and Hessians in all margins, at sensitivities of the whole record", function()
    for _, row in ipairs {solvers[1], solvers[5]} do
      local lines = tostring(pn.solve[row[1]].plan(obj, row[2]))
      local moved_gradient = tonumber(lines:match("sensitivity D_g%s+(%S+)"))
      local moved_hessian = tonumber(lines:match("sensitivity D_H%s+(%S+)"))
      -- ||p - e_y|| is at most sqrt(2), ||diag(p) - p p^T||_F at most 1/2: both where two classes tie or trade places
      assert.is_near(2 * math.sqrt(2) * radius / n, moved_gradient, 1e-5 * moved_gradient)
      assert.is_near(math.sqrt(2) * 0.5 * radius ^ 2 / n, moved_hessian, 1e-5 * moved_hessian)
    end
  end)

  it("come to points of which their certificates are true", function()
    for k, row in ipairs(solvers) do
      local plan, certified = pn.solve[row[1]].plan(obj, row[2]), 0
      for seed = 1, 5 do
        local fit = plan:run {rng = pn.rng.seeded(seed)}
        local at, found = pn.second_order_gap(obj, fit.theta), fit.certificate
        assert.equal(classes * p, #fit.theta)
        assert.is_true(at.value < obj:value(start))
        if fit.stopped == "certified" then
          certified = certified + 1
          assert.is_true(at.gradient_norm <= found.gradient_norm, row[1] .. " " .. k)
          assert.is_true(at.eigenvalue >= found.eigenvalue)
        end
      end
      assert.is_true(certified >= 4, row[1] .. " " .. k .. ": certified " .. certified)
    end
  end)

  it("take newton, too, whose six steps lower the loss", function()
    local convex = pn.objective {data = data, loss = pn.loss.softmax {classes = classes}}
    local fit = pn.solve.newton(convex, {epsilon = 1, delta = 1e-5, rng = pn.rng.seeded(1)})
    assert.equal(classes * p, #fit.theta)
    assert.is_true(convex:value(fit.theta) < 0.9 * math.log(classes))
  end)
end)
