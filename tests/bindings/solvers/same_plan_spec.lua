-- same_plan_spec.lua -- solvers written in Lua have the plan of the built-in ones that they restate, and take the same steps: to
-- the last digit.
local pn = require "penumbra"

local data = pn.data.synthetic.logistic { n = 2000, p = 6, seed = 5 }:clip_rows("l2", 1)

local descent = pn.solver { name = "descent", options = { eta = 0.5 },
  step = function(s, ask)
    s.x = s.set:project(s.x - s.options.eta * ask:gradient(s.x))
  end }
local descent_options = { step = 0.5, momentum = 0, output = "last" }

local towards = pn.solver { name = "towards",
  step = function(s, ask)
    local size, vertex = 2 / (s.step + 1), ask:vertex(s.x)
    s.x = (1 - size) * s.x + size * vertex
  end }

local function seeded()
  return { rng = pn.rng.seeded(11), progress = false }
end

local function with(options, more)
  local out = {}
  for k, v in pairs(options) do out[k] = v end
  for k, v in pairs(more) do out[k] = v end
  return out
end

local function events_of(plan)
  return tostring(plan):match "events%s+(.-%))"
end

local requests = {
  { epsilon = 1, delta = 1e-7, iterations = 37 }, { epsilon = 0.1, delta = 1e-10, iterations = 200 },
  { epsilon = 60, delta = 1e-7, iterations = 9 }, { rho = 0.05, iterations = 64 },
  { epsilon = 0.7, delta = 1e-7, iterations = 20, neighbours = "zero_out" },
}

for what, obj in pairs {
  ["over an l2 ball"] = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 6, radius = 2 } },
  ["without a set, with clip="] = pn.objective { data = data, loss = pn.loss.squared(), clip = 0.5 },
} do
  describe("gradient descent in Lua " .. what, function()
    for _, request in ipairs(requests) do
      it(("costs what the built-in one does: %s %g, %d steps"):format(request.rho and "rho" or "epsilon",
        request.rho or request.epsilon, request.iterations), function()
        local mine, theirs = descent.plan(obj, request), pn.solve.gradient_descent.plan(obj, with(request, descent_options))
        assert.equal(theirs.iterations, mine.iterations)
        assert.equal(theirs.epsilon, mine.epsilon)
        assert.equal(theirs.rho, mine.rho)
        assert.truthy(events_of(theirs))
        assert.equal(events_of(theirs), events_of(mine)) -- count, sigma, sensitivity and draws, with all their digits
      end)
    end

    it("takes the same steps under the same stream", function()
      local request = { rho = 0.5, iterations = 25 }
      local mine = descent.plan(obj, request):run(seeded())
      local theirs = pn.solve.gradient_descent.plan(obj, with(request, descent_options)):run(seeded())
      assert.is_true(theirs.theta:norm() > 0.01)
      assert.equal(0, (mine.theta - theirs.theta):norm(math.huge))
      assert.equal(theirs.privacy.rho, mine.privacy.rho)
    end)
  end)
end

describe("Frank-Wolfe in Lua", function()
  local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = 6, radius = 2 } }

  for _, request in ipairs(requests) do
    it(("costs what the built-in one does: %s %g, %d steps"):format(request.rho and "rho" or "epsilon",
      request.rho or request.epsilon, request.iterations), function()
      local mine, theirs = towards.plan(obj, request), pn.solve.frank_wolfe.plan(obj, with(request, { selection = "exponential" }))
      assert.equal(theirs.epsilon, mine.epsilon)
      assert.equal(theirs.rho, mine.rho)
      assert.truthy(events_of(theirs))
      assert.equal(events_of(theirs), events_of(mine)) -- epsilon of a step with all its digits
    end)
  end

  it("has the pure epsilon, too, and takes the same steps under the same stream", function()
    local request = { epsilon = 3, iterations = 30 }
    local mine, theirs = towards.plan(obj, request), pn.solve.frank_wolfe.plan(obj, with(request, { selection = "exponential" }))
    assert.equal(events_of(theirs), events_of(mine))
    local a, b = mine:run(seeded()), theirs:run(seeded())
    assert.equal(theirs.iterations, mine.iterations)
    assert.is_true(b.theta:norm() > 0.01)
    assert.equal(0, (a.theta - b.theta):norm(math.huge))
    assert.equal(b.privacy.epsilon, a.privacy.epsilon)
  end)
end)
