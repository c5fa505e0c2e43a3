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

-- A step is an epoch: the gradient at the snapshot y has a part of the budget to itself, differences on batches share the rest.
local reduced = pn.solver { name = "reduced", options = { inner = 12, batch = 200, eta = 0.5, anchor = 0.4 },
  queries = function(s)
    return { gradient = { budget = s.options.anchor, batch = false },
      difference = { count = s.options.inner, batch = s.options.batch } }
  end,
  step = function(s, ask)
    local y, x, average = s.y or s.x, s.y or s.x, nil
    local v = ask:gradient(y, { batch = false })
    for k = 0, s.options.inner - 1 do
      x = s.set:project(x - s.options.eta * (ask:difference(x, y, { batch = s.options.batch }) + v))
      local weight = 4 / (3 + k + 1)
      average = average and (1 - weight) * average + weight * x or x
    end
    s.x, s.y = average, average
  end }

describe("svrg in Lua", function()
  local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = 6, radius = 2 } }
  local walks = { inner = 12, batch = 200, step = 0.5, restart = "average" }
  local theirs_have = with(walks, { anchor_share = 0.4, reach = 1 })

  for _, request in ipairs {
    { epsilon = 1, delta = 1e-7, iterations = 6 }, { epsilon = 0.2, delta = 1e-9, iterations = 15 },
    { rho = 0.05, iterations = 9 }, { epsilon = 0.7, delta = 1e-7, iterations = 4, neighbours = "zero_out" },
  } do
    for _, accountant in ipairs(request.rho and { "rdp" } or { "rdp", "pld" }) do
      it(("costs what the built-in one does: %s %g, %d epochs, by %s"):format(request.rho and "rho" or "epsilon",
        request.rho or request.epsilon, request.iterations, accountant), function()
        local mine = reduced.plan(obj, with(request, { accountant = accountant }))
        local theirs = pn.solve.svrg.plan(obj, with(with(request, theirs_have), { accountant = accountant }))
        local mine_says, theirs_say = tostring(mine), tostring(theirs)
        assert.equal(theirs.iterations, mine.iterations)
        assert.equal(theirs_say:match "snapshot noise%s+(%S+)", mine_says:match "gradient%s+(%S+)")
        local z, sum = tonumber(theirs_say:match "multiplier z%s+(%S+)"), mine_says:match "difference%s+(%S+)"
        local terms = request.neighbours == "zero_out" and 1 or 2
        assert.near(terms * z / 200, tonumber(sum), 2e-5 * tonumber(sum)) -- the lines have six digits
        local kind = request.rho and "rho" or "epsilon"
        assert.near(theirs[kind], mine[kind], 1e-9 * theirs[kind])
        if accountant == "rdp" then
          local digits = {}
          for _, says in ipairs { mine_says, theirs_say } do
            local flat = says:gsub("%s+", "")
            digits[#digits + 1] = { flat:match "gaussian%(sigma=([%d.e-]+)",
              flat:match "[fp][io][xi][es][ds][^%d]+.-sigma=([%d.e-]+)" }
          end
          assert.same(digits[2], digits[1])
          assert.truthy(digits[1][1] and digits[1][2])
        end
      end)
    end
  end

  it("takes the same steps under the same stream, to the rounding of its sums", function()
    for _, private in ipairs { { rho = 5, iterations = 4 }, { privacy = false, iterations = 4 } } do
      local mine = reduced.plan(obj, private):run(seeded())
      local theirs = pn.solve.svrg.plan(obj, with(private, private.rho and theirs_have or walks)):run(seeded())
      assert.is_true(theirs.theta:norm() > 0.01)
      assert.near(0, (mine.theta - theirs.theta):norm(math.huge), 1e-12)
    end
  end)
end)

describe("Newton's method in Lua", function()
  local obj = pn.objective { data = data, loss = pn.loss.logistic(), reg = pn.reg.l2(0.01) }
  local start = pn.vec { 30, 0, 0, 0, 0, 0 } -- so far out that no slope is known to be less than 1 there

  for _, request in ipairs(requests) do
    it(("costs what the built-in one does: %s %g, %d steps"):format(request.rho and "rho" or "epsilon",
      request.rho or request.epsilon, request.iterations), function()
      local T, part = request.iterations, 0.3
      local steps = pn.solver { name = "steps", step = function(s, ask)
        local g = ask:gradient(s.x, { share = math.sqrt((1 - part) * (1 / T)) })
        local h = ask:hessian(s.x, { share = math.sqrt(part / T) })
        s.x = s.x - g / (1 + h[1])
      end }
      local mine = steps.plan(obj, with(request, { start = start }))
      local theirs = pn.solve.newton.plan(obj, with(request, { start = start, hessians = T,
        hessian_share = part, gradients = "full" }))
      local sigmas = {}
      for k, plan in ipairs { mine, theirs } do
        sigmas[k] = {}
        for sigma in tostring(plan):gmatch "gaussian%(sigma=([%d.e-]+)" do table.insert(sigmas[k], tonumber(sigma)) end
        table.sort(sigmas[k])
      end
      assert.equal(2, #sigmas[1])
      for _, at in ipairs { 1, #sigmas[2] } do -- its pass for both rounds otherwise than one for each: 1e-9 of a sensitivity
        local own = sigmas[1][at == 1 and 1 or 2]
        assert.near(sigmas[2][at], own, 1e-8 * own)
      end
      local kind = request.rho and "rho" or "epsilon"
      assert.near(theirs[kind], mine[kind], 2e-6 * theirs[kind])
    end)
  end
end)
