-- curator_tune_spec.lua -- pn.tune in the scripts of analysts: one charge, one answer, and nothing of the runs that lost; what
-- scripts try to get runs for nothing, or other runs than were paid for.
local pn = require "penumbra"
local tier = require "tests.tools.tier"

local function curator(epsilon)
  local data = pn.data.synthetic.logistic { n = 400, p = 5, seed = 3 }:clip_rows("l2", 1)
  local ledger = pn.ledger { epsilon = epsilon or 4, delta = 1e-6 }
  return pn.curator { data = { adult = data }, ledger = ledger, memory = 64, seconds = 20, instructions = 100000000, threads = 1,
    process = tier.thorough }, ledger
end

local prelude = [[
local obj = pn.objective{data=data.adult, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=5, radius=1}}
local search = {solver="gradient_descent", objective=obj, grid={step={0.1, 1}, iterations={3}}, score="accuracy",
  epsilon=1, delta=1e-6}
]]

local function run(code, made)
  return (made or curator()):run(prelude .. code, "a")
end

describe("an analyst's pn.tune", function()
  it("is charged once, for the whole search, and tells a model", function()
    local made, ledger = curator()
    local result = run([[
      local plan = pn.tune.plan(search)
      assert(budget.spent == 0 and plan.accountant == "rdp")
      local answer = pn.tune(search)
      print(answer)
      return #answer.theta, answer.configuration.iterations, answer.price.private, #answer.theta == 5 and answer.score ~= nil
    ]], made)
    assert.is_true(result.ok, result.error)
    assert.equal("5\t3\ttrue\ttrue", result.answer)
    local report = ledger:report()
    assert.same({ 1, 1 }, { #report, report[1].count })
    assert.truthy(tostring(report[1].event):find "^selection%(gaussian")
    assert.is_true(ledger.spent > 0.9 and ledger.spent <= 1)
  end)

  it("runs solvers that are Lua, whatever a script puts in the place of pn.solver", function()
    local made, ledger = curator()
    local result = run([[
      local called = false
      local own = pn.solver{name="own", step=function(s, ask) called = true s.x = ask:gradient(s.x) end}
      rawset(pn, "solver", function() called = true return own end)
      search.solver, search.grid = "heavy_ball", {rate={0.1, 1}}
      search.options = {iterations=3}
      local answer = pn.tune(search)
      return called, #answer.theta
    ]], made)
    assert.is_true(result.ok, result.error)
    assert.equal("false\t5", result.answer)
    assert.equal(1, #ledger:report())
  end)

  it("calls nothing that a script has put in the library's place", function()
    local made, ledger = curator()
    local result = run([[
      local called = {}
      local function spy(name, of, what)
        return function(...) called[#called + 1] = name return of[what](...) end
      end
      local free = pn.event.gaussian{sigma=1e6, sensitivity=1}
      rawset(pn.event, "selection", function() called[#called + 1] = "selection" return free end)
      rawset(pn.event, "gaussian", function() called[#called + 1] = "gaussian" return free end)
      rawset(pn.calibrate, "epsilon", function() called[#called + 1] = "calibrate" return 100 end)
      rawset(pn.calibrate, "gaussian", function() called[#called + 1] = "sigma" return 1 end)
      rawset(pn, "objective", function() called[#called + 1] = "objective" return obj end)
      rawset(pn.solve.gradient_descent, "plan", function() called[#called + 1] = "plan" end)
      rawset(pn.rng, "secure", function() called[#called + 1] = "rng" end)
      for _, name in ipairs{"format", "find", "sub"} do string[name] = spy(name, {[name] = string[name]}, name) end
      for name in pairs(table) do table[name] = spy(name, {[name] = table[name]}, name) end
      for name, f in pairs(math) do
        if type(f) == "function" then math[name] = spy(name, {[name] = f}, name) end
      end
      local answer = pn.tune(search)
      local plan = tostring(pn.tune.plan(search)) .. tostring(answer)
      return #called, called[1]
    ]], made)
    assert.is_true(result.ok, result.error)
    assert.equal("0\tnil", result.answer)
    assert.is_true(ledger.spent > 0.9)
  end)

  it("is refused what would tell more, and costs nothing then", function()
    local made, ledger = curator()
    for _, row in ipairs {
      { "search.rng = pn.rng.seeded(1)", "not available to analysts" },
      { "search.progress = print", "how many runs" },
      { "search.on_step = print", "how many runs" },
      { "search.ledger = budget", "everything is charged to the curator's" },
      { "search.score = function() end", "would not be paid for" },
      { "search.grid.step = function() end", "a function could read them" },
      { "search.options = {step = function() end} search.grid.step = nil", "a function could read them" },
      { "search.options = {ledger = obj}", "belongs to the search" },
      { "search.options = {privacy = false}", "belongs to the search" },
      { "search.solver = pn.solver{name='own', step=function() end}", "could read earlier runs" },
      { "search.rng = obj", "pn.rng" },
      { "search.epsilon = nil", "epsilon must be" },
      { "search.epsilon = 100", "Requested" },
      { "search.solver, search.grid = 'sgd', { step = { lo = 1, hi = 2 } }", "grid.step is a range" },
    } do
      local result = run(row[1] .. " return pn.tune(search)", made)
      assert.is_false(result.ok, row[1])
      assert.truthy(result.error:find(row[2], 1, true), row[1] .. " says: " .. result.error)
    end
    assert.equal(0, ledger.spent)
  end)

  it("gives no plan or fit away with which to run for nothing", function()
    local made, ledger = curator()
    local result = run([[
      local answer, seen, classes = pn.tune(search), {}, {}
      local function walk(value)
        if type(value) == "userdata" then classes[#classes + 1] = tostring(value):sub(1, 9) end
        if type(value) ~= "table" or seen[value] then return end
        seen[value] = true
        for key, part in next, value do walk(key) walk(part) end
      end
      walk(answer)
      table.sort(classes)
      return table.concat(classes, "|")
    ]], made)
    assert.is_true(result.ok, result.error)
    assert.equal("selection|selection|vec(5): -", (result.answer:gsub("vec%(5%): .*", "vec(5): -")))
    assert.equal(1, #ledger:report())
  end)
end)
