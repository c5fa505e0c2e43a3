-- settings_spec.lua -- every solver says what shapes its plans, and a plan made of that again is the same plan.
local pn = require "penumbra"
local shipped = require "penumbra.solvers"

local n, p = 4000, 5
local data = pn.data.from(pn.mat.zeros(n, p), pn.vec.ones(n)):clip_labels(-1, 1):clip_rows("l2", 1)

local function objective(more)
  more.data, more.loss = data, more.loss or pn.loss.logistic()
  return pn.objective(more)
end

local plain = objective {}
local ball, simplex = objective {set = pn.set.l2_ball {dim = p, radius = 2}}, objective {set = pn.set.simplex {dim = p}}
local box = objective {set = pn.set.linf_ball {dim = p, radius = 1}}
local cross = objective {loss = pn.loss.squared(), set = pn.set.l1_ball {dim = p, radius = 1}}
local bent = objective {reg = pn.reg.nonconvex(1e-3)}
local squared = objective {loss = pn.loss.squared(), set = pn.set.l2_ball {dim = p, radius = 1}}

-- Of solvers that need more than a smooth convex loss; the rest are planned over R^p.
local objectives = {
  frank_wolfe = simplex, frank_wolfe_convex = ball, mirror_descent = ball, accelerated_mirror_descent = ball,
  federated_frank_wolfe = cross, trust_region = bent, second_order = bent, sufficient_statistics = squared, block_frank_wolfe = box,
}

local function options_of(name)
  if name == "block_frank_wolfe" then return {privacy = false} end -- it has no private form
  local transport = name == "federated_frank_wolfe" and pn.federated.in_process {parties = 2} or nil
  return {epsilon = name == "second_order" and 30 or 1, delta = 1e-8, transport = transport}
end

-- All that plan; of auto, the solver that it picks.
local names = {}
for name in pairs(pn.reference()) do
  local solver = name:match "^solve%.([%w_]+)%.plan$"
  if solver then names[#names + 1] = solver end
end
table.sort(names)

local function remade(plan, objective_of, options)
  local again = {}
  for name, value in pairs(plan.settings) do again[name] = value end
  for name, value in pairs(options) do again[name] = value end
  return pn.solve[plan.solver].plan(objective_of, again)
end

describe("the settings of a plan", function()
  it("are said by every solver, and make the same plan again", function()
    local seen = 0
    for _, name in ipairs(names) do
      local of, options = objectives[name] or plain, options_of(name)
      local plan = pn.solve[name].plan(of, options)
      assert.is_not_nil(next(plan.settings), name .. " says none")
      local same = remade(plan, of, options)
      assert.equal(plan.iterations, same.iterations, name)
      assert.equal(plan.gradients, same.gradients, name)
      assert.same(plan.settings, same.settings, name)
      if plan.sigma then assert.is_near(1, same.sigma / plan.sigma, 1e-9, name) end
      if plan.event then assert.equal(tostring(plan.event), tostring(same.event), name) end
      seen = seen + 1
    end
    assert.is_true(seen >= 18 + #shipped.names, ("%d solvers"):format(seen))
  end)

  it("are what was given, too", function()
    local function given(name, of, options)
      for option, value in pairs(options_of(name)) do options[option] = value end
      return pn.solve[name].plan(of, options).settings
    end
    assert.same({iterations = 7, step = 0.5}, given("frank_wolfe", simplex, {iterations = 7, step = 0.5}))
    assert.same({iterations = 7, step = 0.5}, given("frank_wolfe_convex", ball, {iterations = 7, step = 0.5}))
    assert.same({iterations = 7}, given("frank_wolfe", simplex, {iterations = 7, step = function(t) return 1 / t end}))
    assert.same({iterations = 9, step = 0.25}, given("mirror_descent", ball, {iterations = 9, step = 0.25}))
    assert.same({iterations = 9, time = 2}, given("mirror_descent", ball, {iterations = 9, time = 2}))
    assert.same({lambda = 0.25, split = 0.75, tolerance = 1e-3},
      given("objective_perturbation", plain, {lambda = 0.25, split = 0.75, tolerance = 1e-3}))
    assert.same({iterations = 8, momentum = 0.5}, given("heavy_ball", plain, {iterations = 8, momentum = 0.5}))
    local own = pn.solver {name = "own", options = {iterations = 3, rate = 2, word = "x", many = 0.5},
      step = function(s, ask) s.x = s.x - s.options.rate * ask:gradient(s.x) end}
    assert.same({iterations = 3, rate = 1, many = 0.5}, own.plan(plain, {epsilon = 1, delta = 1e-8, rate = 1}).settings)
  end)
end)
