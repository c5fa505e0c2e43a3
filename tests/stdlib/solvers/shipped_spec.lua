-- shipped_spec.lua -- what holds for every solver of stdlib/solvers: found, planned, run, refused and taught as those in C.
local pn = require "penumbra"
local program = require "tests.tools.program"
local refusals = require "tests.tools.refusal"
local tier = require "tests.tools.tier"
local refusal, refused = refusals.refusal, refusals.refused
local law = tier.law(it)
local shipped = require "penumbra.solvers"

local n, p = 5000, 10
local data = pn.data.synthetic.logistic { n = n, p = p, seed = 3 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball { dim = p, radius = 30 } }
local best = pn.solve.exact(obj).value
local start = obj:value(pn.vec.zeros(p)) - best

-- Every solver whose file is there.
local names = {}
for path in program.shell "ls stdlib/solvers":gmatch "([%w_]+)%.lua" do
  if path ~= "init" and path ~= "choose" then names[#names + 1] = path end
end

local function each(body)
  for _, name in ipairs(names) do body(name, pn.solve[name], require("penumbra.solvers." .. name)) end
end

-- What is left of the start's excess at epsilon 2 where it is more than a twentieth: one pass, and where clips settle first.
local left = { ftrl = 0.2, adaptive_clipping = 0.1 }

describe("a shipped solver", function()
  it("is a file of less than 60 lines that is named as it is, and listed", function()
    assert.same(shipped.names, names)
    assert.is_true(#names >= 8)
    each(function(name, _, made)
      local lines = select(2, program.shell("cat stdlib/solvers/" .. name .. ".lua"):gsub("\n", ""))
      assert.is_true(lines < 60, name .. " has " .. lines .. " lines")
      assert.equal(name, made.name)
    end)
  end)

  it("has a doc, a source, and words for every option", function()
    each(function(name, _, made)
      local entry = pn.reference()["solve." .. name]
      assert.equal(made.doc, entry.doc)
      assert.equal(made.source .. ".  A pn.solver, to be read in stdlib/solvers/" .. name .. ".lua.", entry.source)
      assert.equal("paid", entry.reveals)
      assert.equal("nothing", pn.reference()["solve." .. name .. ".plan"].reveals)
      local documented = {}
      for _, param in ipairs(entry.params) do documented[param.name] = param end
      for option in pairs(made.options) do assert.is_string(made.about[option], name .. ": " .. option) end
      for option in pairs(made.about) do assert.equal(made.options[option], documented[option].default) end
      for _, option in ipairs { "epsilon", "start", "ledger", "on_step" } do assert.is_table(documented[option], option) end
      assert.is_nil(documented.tail)
      local text = program.capture(function() pn.help("solve." .. name) end)
      assert.truthy(text:find("pn.solve." .. name .. "(obj, {options})", 1, true))
    end)
  end)

  law("is planned within about 4 s of work by default, and says first what it was held back from", function()
    -- a pass over 1,600,000 records of 4 columns is estimated at 4e-6 + 4e-8 + 1.6e6 (1.5e-8 + 4 x 2.5e-10) = 0.0256 s; 400
    -- steps take 10.2 s, or as much as batches of the records do
    local large = 1600000
    local records = pn.data.from(pn.mat.zeros(large, 4), pn.vec.ones(large)):clip_rows("l2", 1)
    local huge = pn.objective { data = records, loss = pn.loss.logistic() }
    local few = { ftrl = true, matrix_factorization_sgd = true } -- 1 and 16 passes, whatever their steps
    each(function(name, solve)
      local plan = solve.plan(huge, { epsilon = 1e4, delta = 1e-6 })
      assert.is_true(plan.seconds <= 4, name)
      if few[name] then
        assert.equal(400, plan.iterations)
        assert.is_nil(plan.lines["held back, s"])
      else
        assert.equal("held back, s", plan.lines[1].name, name)
        assert.is_true(plan.lines["held back, s"] > 10, name)
        assert.is_true(plan.seconds > 2, name)
        local given = plan:with { iterations = 400 }
        assert.equal(400, given.iterations)
        assert.is_nil(given.lines["held back, s"])
        assert.is_true(given.seconds > 10, name)
        assert.is_nil(plan:with { batch = { size = 1000 } }.lines["held back, s"])
      end
      local small = solve.plan(obj, { epsilon = 1, delta = 1e-8 })
      assert.is_nil(small.lines["held back, s"], name)
    end)
  end)

  it("comes near to the minimum without privacy", function()
    each(function(name, solve)
      local fit = solve(obj, { privacy = false, rng = pn.rng.seeded(1) })
      local excess = fit.value - best
      -- one pass is one pass: a record is seen once
      assert.is_true(excess < (name == "ftrl" and 0.05 or 0.02) * start, ("%s: %g of %g is left"):format(name, excess, start))
    end)
  end)

  it("learns with privacy, costs what was asked and repeats a seed", function()
    each(function(name, solve)
      local plan = solve.plan(obj, { epsilon = 2, delta = 1e-8 })
      assert.is_true(plan.epsilon <= 2 and plan.epsilon > 1.94, name .. ": " .. plan.epsilon)
      local ledger = pn.ledger { epsilon = 2, delta = 1e-8, teaching = true }
      local fit = plan:run { rng = pn.rng.seeded(1), ledger = ledger }
      assert.is_true(ledger.spent <= 2 and ledger.spent > 1.4, name .. " spent " .. ledger.spent)
      local excess = fit.value - best
      assert.is_true(excess < (left[name] or 0.05) * start, ("%s: %g of %g is left"):format(name, excess, start))
      assert.equal(0, (plan:run { rng = pn.rng.seeded(1) }.theta - fit.theta):norm())
    end)
  end)

  law("is more accurate with more budget, under both relations", function()
    for _, neighbours in ipairs { "replace_one", "zero_out" } do
      each(function(name, solve)
        local function excess(epsilon)
          local plan, sum = solve.plan(obj, { epsilon = epsilon, delta = 1e-8, neighbours = neighbours }), 0
          for seed = 1, 4 do sum = sum + plan:run { rng = pn.rng.seeded(seed) }.value - best end
          return sum / 4
        end
        local little, much = excess(0.3), excess(10)
        assert.is_true(much < little / 2, ("%s, %s: %g and %g"):format(name, neighbours, little, much))
      end)
    end
  end)

  it("refuses options that it does not have, with those that it has", function()
    each(function(name, solve, made)
      local function plan(options)
        options.epsilon, options.delta = 1, 1e-8
        return function()
          local planned = solve.plan(obj, options) -- no tail call: errors stand at this line
          return planned
        end
      end
      local message = select(2, pcall(plan { momentun = 1 }))
      assert.truthy(message:find("shipped_spec.lua:%d+: solve." .. name .. ".plan: unknown option 'momentun'; it takes epsilon"),
        message)
      for option in pairs(made.options) do assert.truthy(message:find(option, 1, true)) end
      for option, default in pairs(made.options) do
        message = refusal(plan { [option] = type(default) == "string" and "no" or -1, iterations = 4 })
        local factors = option == "factorization" and message:find("factorization", 1, true)
        assert.truthy(factors or message:find(name .. ".plan: " .. option .. " must be ", 1, true), message)
      end
      refused("iterations", plan { iterations = 0 })
      refused("tight", plan { calibration = "paper" })
      refused("expected a pn.objective", solve.plan, 3, {})
      refused("add_remove", plan { neighbours = "add_remove" })
    end)
  end)

  it("is there for an analyst's script, and refuses seeds and ledgers there", function()
    local ledger = pn.ledger { epsilon = 5, delta = 1e-6 }
    local curator = pn.curator { data = { people = data }, ledger = ledger, process = tier.thorough }
    each(function(name)
      local call = ("pn.solve.%s(obj, {%%s})"):format(name)
      local prelude = [[
        local obj = pn.objective{data = data.people, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = 10, radius = 30}}
      ]]
      local result = curator:run(prelude .. "return #" .. call:format "epsilon = 0.3, delta = 1e-8" .. ".theta", "a")
      assert.equal("10", result.answer, name .. ": " .. tostring(result.error))
      for _, option in ipairs { "rho = 0.001, rng = pn.rng.seeded(1)", "rho = 0.001, ledger = budget", "privacy = false" } do
        result = curator:run(prelude .. "return " .. call:format(option), "a")
        assert.is_false(result.ok, name .. " takes " .. option)
        assert.truthy(result.error:find "not available", result.error)
      end
    end)
  end)

  it("takes a start, stops when on_step says so, and keeps to its set", function()
    local ball = pn.objective { data = data, loss = pn.loss.logistic(), set = pn.set.l1_ball { dim = p, radius = 1 } }
    each(function(name, solve)
      local from = pn.vec.basis(p, 1) * 0.5
      local plan = solve.plan(ball, { epsilon = 1, delta = 1e-8, iterations = 20, start = from })
      local steps = 0
      local fit = plan:run { rng = pn.rng.seeded(1), on_step = function() steps = steps + 1 return steps < 15 end }
      assert.equal(15, steps)
      assert.is_true(fit.theta:norm(1) <= 1 + 1e-9, name)
    end)
  end)
end)
