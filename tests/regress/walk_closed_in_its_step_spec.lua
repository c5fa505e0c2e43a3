-- walk_closed_in_its_step_spec.lua -- a function that a step calls could close the walk whose step it is, a crash, or step it.
local pn = require "penumbra"

local p, solvers = 50, {"gradient_descent", "sgd", "svrg", "svrg_pp", "accelerated_mirror_descent", "zeroth_order",
  "zeroth_order_naive", "second_order"}

-- A walk of three steps, each of which calls `meddle` once.
local function walk_with(name, ledger, meddle)
  if name:find("zeroth_order", 1, true) then
    local data = pn.data.from(pn.mat.zeros(3, 2), pn.vec.zeros(3))
    local loss = pn.loss.black_box {values = function(points) meddle() return pn.vec.zeros(points.rows) end, lipschitz = 1}
    local options = {rho = 0.5, rounds = 3, epochs = 1, batch = 1}
    if name == "zeroth_order" then options.first_batch = 1 end
    return pn.solve[name].plan(pn.objective {data = data, loss = loss}, options):steps {ledger = ledger}
  end
  local data = pn.data.synthetic.logistic {n = 60, p = p, seed = 2}:clip_rows("l2", 1)
  if name == "second_order" then -- a projection in place of a proximal operator
    local open -- the start is projected, too, before there is a walk
    local ball = pn.set.custom {dim = p, radius = 1, support = function(g) return g / g:norm() end,
      project = function(v)
        if open then meddle() end
        return v:norm() <= 1 and v or v / v:norm()
      end}
    local walk = pn.solve.second_order.plan(pn.objective {data = data, loss = pn.loss.logistic(), set = ball},
      {rho = 0.5, iterations = 3, tolerance = {gradient = 1e-4}}):steps {ledger = ledger}
    open = true
    return walk
  end
  local prox = pn.prox.custom {dim = p, prox = function(v) meddle() return v end}
  local options = {rho = 0.5, iterations = 3, prox = prox}
  if name:find("svrg", 1, true) then options.inner, options.batch = 2, 6 end
  return pn.solve[name].plan(pn.objective {data = data, loss = pn.loss.logistic()}, options):steps {ledger = ledger}
end

describe("a function that a step calls", function()
  for _, name in ipairs(solvers) do
    it("cannot pull the walk away from under it: " .. name, function()
      local ledger, walk, steps = pn.ledger {rho = 0.5}, nil, 0
      walk = walk_with(name, ledger, function() local _ <close> = walk end)
      for _ in walk do steps = steps + 1 end
      assert.equal(3, steps)
      assert.is_true(walk:fit().privacy.rho >= 0.5 - ledger.remaining - 1e-12)
    end)

    it("cannot make a step inside of it: " .. name, function()
      local ledger, walk, steps, said = pn.ledger {rho = 0.5}, nil, 0, {}
      walk = walk_with(name, ledger, function() said[#said + 1] = select(2, pcall(walk)) end)
      for _ in walk do steps = steps + 1 end
      assert.equal(3, steps)
      assert.is_true(#said >= 3)
      for _, message in ipairs(said) do
        assert.matches("a walk cannot be stepped from inside of its own step", message, 1, true)
      end
    end)
  end
end)
