-- schedule_spec.lua -- step sizes as lists and functions of the step: the runs of one number where they say the same, their own
-- sizes where they do not, nothing but step numbers for the function, and no bound.
local pn = require "penumbra"
local law = require("tests.tools.tier").law(it)

local T = 4
local dense = pn.data.synthetic.logistic { n = 200, p = 4, seed = 3 }:clip_rows("l2", 1)

local function l1_ball() return pn.set.l1_ball { dim = 4, radius = 1 } end
local function objective(reg, set)
  return pn.objective { data = dense, loss = pn.loss.logistic(), set = set or l1_ball(), reg = reg }
end

local ridge = pn.reg.l2(0.1)
local simplex = pn.set.simplex { dim = 4, radius = 1 } -- whose potential is the entropy

-- name, objective, options besides step and iterations, a step
local runs = {
  { "gradient_descent", objective(), {}, 0.5 },
  { "gradient_descent", objective(ridge), {}, 0.5 },
  { "gradient_descent", objective(), { output = "last", momentum = 0.5 }, 0.5 },
  { "gradient_descent", objective(), { output = "random" }, 0.5 },
  { "sgd", objective(), { batch = 20 }, 0.5 },
  { "sgd", objective(), { output = "last", momentum = 0.5 }, 0.5 },
  { "mirror_descent", objective(), {}, 0.5 },
  { "mirror_descent", objective(nil, simplex), {}, 0.5 },
  { "accelerated_mirror_descent", objective(), {}, 0.5 },
  { "accelerated_mirror_descent", objective(ridge, pn.set.l2_ball { dim = 4, radius = 1 }), { ystep = "printed" }, 0.5 },
  { "frank_wolfe", objective(), {}, 0.25 },
  { "frank_wolfe_convex", objective(), {}, 0.25 },
  { "svrg", objective(), { inner = 5 }, 0.5 },
  { "svrg", objective(ridge), {}, 0.5 },
  { "svrg_pp", objective(), {}, 0.5 },
}
local budgets = { { privacy = false }, { epsilon = 1, delta = 1e-6 } }

local function laid_over(...)
  local out = {}
  for _, of in ipairs { ... } do
    for name, value in pairs(of) do out[name] = value end
  end
  return out
end

-- visit(name, plan_of): plan_of(step, more) makes the plan of a case with that step.
local function each_run(visit)
  for _, case in ipairs(runs) do
    for _, budget in ipairs(budgets) do
      visit(case[1], function(step, more)
        return pn.solve[case[1]].plan(case[2], laid_over({ iterations = T, step = step }, case[3], budget, more or {}))
      end, case[4])
    end
  end
end

local function run(plan) return plan:run { rng = pn.rng.seeded(5), progress = false } end

local function assert_same(first, second, what)
  for j = 1, #first.theta do assert.equal(first.theta[j], second.theta[j], what) end
  assert.equal(#first.trace, #second.trace, what)
  for t, row in ipairs(first.trace) do
    assert.equal(row.step_size, second.trace[t].step_size, what)
    assert.equal(row.value, second.trace[t].value, what)
  end
end

local function refusal(plan_of, ...)
  local ok, err = pcall(plan_of, ...)
  assert.is_false(ok)
  return tostring(err)
end

describe("a schedule of steps", function()
  law("of equal numbers is the run with that number, to the last bit, privately or not", function()
    each_run(function(name, plan_of, eta)
      local one = run(plan_of(eta))
      assert_same(one, run(plan_of(pn.vec { eta, eta, eta, eta })), name .. ", vec")
      assert_same(one, run(plan_of { eta, eta, eta, eta }), name .. ", list")
      assert_same(one, run(plan_of(function() return eta end)), name .. ", function")
    end)
  end)

  it("given as a function is the list of what it returns, which is another run than one number's", function()
    each_run(function(name, plan_of, eta)
      local falling = run(plan_of(function(t) return eta / t end))
      local list = run(plan_of { eta, eta / 2, eta / 3, eta / 4 })
      local apart = 0
      assert_same(falling, list, name)
      local other = run(plan_of(eta))
      for j = 1, #list.theta do apart = apart + math.abs(other.theta[j] - list.theta[j]) end
      assert.is_true(apart > 0 or list.theta:norm() == 0, name) -- a random output may be the start, which is 0
    end)
  end)

  it("shows in the trace the size of each step", function()
    each_run(function(name, plan_of, eta)
      local fit = run(plan_of { eta, eta / 2, eta / 3, eta / 4 })
      local other = run(plan_of(eta)) -- of accelerated_mirror_descent the option is a scale
      for t, row in ipairs(fit.trace) do
        assert.is_true(math.abs(row.step_size * t / other.trace[t].step_size - 1) < 1e-15, name)
      end
    end)
  end)

  it("asks the function once for each step, in order, while the plan is made, and never in a run", function()
    each_run(function(name, plan_of, eta)
      local asked = {}
      local plan = plan_of(function(t, ...)
        assert.equal(0, select("#", ...))
        assert.equal("integer", math.type(t))
        asked[#asked + 1] = t
        return eta
      end)
      assert.same({ 1, 2, 3, 4 }, asked, name)
      run(plan)
      run(plan)
      assert.equal(T, #asked, name)
    end)
  end)

  it("asks for as many steps as the plan has chosen", function()
    for _, case in ipairs(runs) do
      local asked = 0
      local plan = pn.solve[case[1]].plan(case[2], laid_over({ epsilon = 1, delta = 1e-6 }, case[3],
        { step = function(t) asked = math.max(asked + 1, t) return case[4] end }))
      assert.equal(plan.iterations, asked, case[1])
    end
    local plan = pn.solve.sgd.plan(objective(), { epochs = 2, batch = 50, privacy = false, step = { 1, 2, 3, 4, 5, 6, 7, 8 } })
    assert.equal(8, plan.iterations)
  end)

  it("says what the steps are and has no bound and no prediction", function()
    each_run(function(name, plan_of, eta)
      local plan = plan_of { eta, eta, eta, eta / 10 }
      local text = tostring(plan):gsub("%s+", " ")
      assert.is_nil(plan.bound, name)
      assert.is_nil(plan.predicted, name)
      assert.is_nil(plan.settings.step, name)
      assert.matches(("step %%a+ %%a? ?%g to %g as given, from the first step to the last; at most %g"):format(eta, eta / 10, eta),
        text, 1, false)
    end)
  end)

  it("costs what the same steps cost with one number", function()
    each_run(function(name, plan_of, eta)
      local one, list = plan_of(eta), plan_of { eta, eta, eta, eta / 2 }
      assert.equal(one.epsilon, list.epsilon, name)
      assert.equal(one.sigma, list.sigma, name)
    end)
  end)

  it("warns of its longest step", function()
    for _, name in ipairs { "gradient_descent", "sgd", "svrg" } do
      local options = { privacy = false, iterations = 2, step = { 1, 1e4 } }
      assert.matches("step = 10000 is beyond", tostring(pn.solve[name].plan(objective(), options)):gsub("%s+", " "), 1, true)
    end
  end)
end)

describe("what is no schedule", function()
  it("is refused for its length, with both numbers", function()
    each_run(function(name, plan_of, eta)
      local short = refusal(plan_of, { eta, eta, eta })
      assert.matches("solve." .. name .. ".plan: step is a list of 3 numbers, and the run has 4 steps", short, 1, true)
      assert.matches("list of 5 numbers, and the run has 4", refusal(plan_of, pn.vec { eta, eta, eta, eta, eta }), 1, true)
      assert.matches("step is an empty list", refusal(plan_of, {}), 1, true)
    end)
  end)

  it("is refused for a number that is no step, with its place", function()
    each_run(function(name, plan_of, eta)
      for _, bad in ipairs { 0, -1, 0 / 0, 1 / 0 } do
        local got = bad ~= bad and "nan" or ("%g"):format(bad)
        local text = refusal(plan_of, function(t) return t == 4 and bad or eta end)
        assert.matches("solve." .. name .. ".plan: step must be a ", text, 1, true)
        assert.matches(("got %s at step 4"):format(got), text, 1, true)
        assert.matches(got, refusal(plan_of, { eta, eta, bad, eta }), 1, true)
      end
      assert.matches("got 0 at step 3", refusal(plan_of, pn.vec { eta, eta, 0, eta }), 1, true)
    end)
    for _, name in ipairs { "frank_wolfe", "frank_wolfe_convex" } do
      local plan_of = function(step) return pn.solve[name].plan(objective(), { privacy = false, iterations = 2, step = step }) end
      assert.matches("step must be a number above 0, at most 1, got 1.5 at step 2", refusal(plan_of, { 1, 1.5 }), 1, true)
      assert.matches("at most 1", refusal(plan_of, 1.5), 1, true)
      assert.equal(1, plan_of({ 1, 1 }):run().trace[2].step_size)
    end
  end)

  it("is refused for its type", function()
    each_run(function(_, plan_of, eta)
      assert.matches("entry 2 must be a number", refusal(plan_of, { eta, "a", eta, eta }), 1, true)
      assert.matches("step must", refusal(plan_of, "fast"), 1, true)
      assert.matches("step must", refusal(plan_of, true), 1, true)
      assert.matches("step must", refusal(plan_of, l1_ball()), 1, true)
      assert.matches("step must return a number, got nil at step 1", refusal(plan_of, function() end), 1, true)
      assert.matches("got the string", refusal(plan_of, function() return "0.1" end), 1, true)
    end)
  end)

  it("hands back the error that the function raises", function()
    local boom = { "boom" }
    each_run(function(name, plan_of)
      local ok, err = pcall(plan_of, function(t) if t == 3 then error(boom) end return 0.1 end)
      assert.is_false(ok)
      assert.equal(boom, err, name)
    end)
  end)

  it("is refused beside another option that sets the steps", function()
    local two = { privacy = false, iterations = 2, step = { 0.1, 0.1 } }
    local function with(name, more) return refusal(pn.solve[name].plan, objective(), laid_over(two, more)) end
    assert.matches("leave schedule out", with("sgd", { schedule = "sqrt" }), 1, true)
    assert.matches("leave step out", with("mirror_descent", { strongly_convex = 1 }), 1, true)
    assert.matches("give step one number", refusal(pn.solve.svrg.plan, objective(ridge), laid_over(two, { preset = "theory" })),
      1, true)
  end)

  it("cannot close what the plan is made of", function()
    local obj = objective()
    local ledger = pn.ledger { epsilon = 3, delta = 1e-5 }
    local plan = pn.solve.sgd.plan(obj, { iterations = 2, epsilon = 1, delta = 1e-6, ledger = ledger, step = function()
      pcall(function() local _ <close> = obj end)
      pcall(function() local _ <close> = ledger end)
      collectgarbage()
      local fit = pn.solve.gradient_descent(obj, { iterations = 2, privacy = false, step = function() return 0.1 end })
      return fit.trace[2].step_size
    end })
    assert.equal(0.1, plan:run({ progress = false }).trace[1].step_size)
  end)
end)

describe("plans with a schedule", function()
  it("change and are tuned", function()
    local plan = pn.solve.gradient_descent.plan(objective(),
      { epsilon = 1, delta = 1e-6, iterations = 3, step = { 0.1, 0.2, 0.3 } })
    assert.is_number(plan:with({ step = 0.5 }).bound)
    assert.matches("list of 3 numbers, and the run has 5", refusal(plan.with, plan, { iterations = 5 }), 1, true)
    assert.equal(5, plan:with({ iterations = 5, step = function() return 0.1 end }).iterations)
    local best, tried = plan:tune { step = { 0.1, 0.5 } }
    assert.equal(2, #tried)
    assert.is_number(best.predicted)
    best, tried = plan:tune { step = { 0.1, { 0.1, 0.2, 0.3 }, function(t) return 1 / t end } }
    assert.equal(3, #tried)
    assert.equal(0.1, best.settings.step)
    assert.equal("no risk is predicted", tried[3].reason)
  end)

  it("leave fits that are saved and read again", function()
    local fit = run(pn.solve.sgd.plan(objective(),
      { epsilon = 1, delta = 1e-6, iterations = 3, step = function(t) return 1 / t end }))
    local path = os.tmpname()
    fit:save(path)
    local read = pn.load(path)
    os.remove(path)
    assert_same(fit, read, "read")
    assert.equal(1 / 3, read.trace[3].step_size)
  end)

  it("need no record where none has a part", function()
    local none = pn.objective { data = dense, loss = pn.loss.glm(function(_, y) return y * y end, { labels = { -1, 1 } }),
      set = l1_ball(), reg = ridge }
    local asked = 0
    local fit = run(pn.solve.gradient_descent.plan(none, { epsilon = 1, delta = 1e-6, iterations = 3,
      step = function() asked = asked + 1 return 0.1 end }))
    assert.equal(3, asked)
    assert.equal(0.1, fit.trace[3].step_size)
  end)

  it("make lazy steps of svrg of the size of their epoch", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    for i = 1, 60 do file:write(("%d %d:0.5 %d:0.5\n"):format(i % 2 == 0 and 1 or -1, 1 + i % 40, 41 + i * 7 % 40)) end
    file:close()
    local rows = pn.data.libsvm(path, { cols = 80 }):clip_rows("l2", 1)
    os.remove(path)
    local lists = {}
    for i = 1, rows.n do
      lists[i] = {}
      for j = 1, rows.p do lists[i][j] = 0 end
      lists[i][1 + i % 40], lists[i][41 + i * 7 % 40] = 0.5, 0.5
    end
    local labels = {}
    for i = 1, rows.n do labels[i] = i % 2 == 0 and 1 or -1 end
    local same = pn.data.from(lists, labels):clip_rows("l2", 1)
    local options = { privacy = false, epochs = 3, inner = 100, batch = 1, step = { 2, 1, 0.25 } }
    local function fit(data)
      local plan = pn.solve.svrg.plan(pn.objective { data = data, loss = pn.loss.logistic(), reg = pn.reg.l1(0.001) }, options)
      return run(plan), plan
    end
    local lazy, plan = fit(rows)
    local plain = fit(same)
    assert.equal("lazy", plan.lines["steps are"])
    for j = 1, 80 do assert.is_true(math.abs(lazy.theta[j] - plain.theta[j]) < 1e-9) end
    assert.equal(0.25, lazy.trace[3].step_size)
  end)

  it("say in help what a step may be", function()
    for _, name in ipairs { "sgd", "gradient_descent", "mirror_descent", "accelerated_mirror_descent", "svrg", "svrg_pp",
      "frank_wolfe", "frank_wolfe_convex" } do
      local expects
      for _, param in ipairs(pn.reference()["solve." .. name].params) do
        if param.name == "step" then expects = param.expects end
      end
      assert.matches("a list of one for each step, or a function of the step", expects, 1, true)
    end
  end)
end)

describe("a curator's script", function()
  local function answer(code)
    local curator = pn.curator { data = { adult = dense }, ledger = pn.ledger { epsilon = 4, delta = 1e-6 }, memory = 64,
      seconds = 20, instructions = 20000000, threads = 1 }
    return curator:run([[
      local obj = pn.objective{data=data.adult, loss=pn.loss.logistic(), set=pn.set.l1_ball{dim=4, radius=1}}
    ]] .. code, "a")
  end

  it("has schedules by list and by function", function()
    local result = answer [[
      local asked = 0
      local fit = pn.solve.sgd(obj, {rho=0.001, iterations=3, step=function(t) asked = asked + 1 return 1 / t end})
      local other = pn.solve.frank_wolfe(obj, {rho=0.001, iterations=2, step={1, 0.5}})
      return asked, fit.trace[3].step_size, other.trace[2].step_size]]
    assert.is_true(result.ok, result.error)
    assert.equal("3\t" .. 1 / 3 .. "\t0.5", result.answer)
  end)

  it("ends at its limit of instructions inside the function", function()
    local result = answer "return pn.solve.sgd.plan(obj, {rho=0.001, iterations=3, step=function() while true do end end})"
    assert.is_false(result.ok)
  end)
end)
