-- lifetime_spec.lua -- objects that a run uses stay alive, whatever happens to the tables, scopes and coroutines that held
-- them.  Each case once read freed memory (seen under the address sanitizer) or leaked.
local pn = require "penumbra"

local set = pn.set.l1_ball { dim = 5, radius = 1 }

local function objective()
  return pn.objective { data = pn.data.synthetic.lasso { n = 200, p = 5, seed = 1 }, loss = pn.loss.squared(), set = set }
end

local function plan_of(more)
  local options = { rho = 0.1, iterations = 5 }
  for key, value in pairs(more or {}) do options[key] = value end
  return pn.solve.frank_wolfe.plan(objective(), options)
end

-- A value that `make` made, and a function that leaves the scope it was closed by.
local function scoped(make)
  local routine = coroutine.create(function()
    local value <close> = make()
    coroutine.yield(value)
  end)
  local _, value = coroutine.resume(routine)
  return value, function() assert(coroutine.close(routine)) end
end

local function collect()
  collectgarbage()
  collectgarbage()
end

describe("a walk", function()
  it("pays from its ledger after the scope that would have closed it", function()
    local ledger, leave = scoped(function() return pn.ledger { rho = 1 } end)
    local walk = plan_of():steps { ledger = ledger }
    leave()
    assert.equal(1, walk:step().step)
    assert.near(0.02, ledger.spent, 1e-6)
  end)

  it("keeps ledger and rng themselves, not the table they came in", function()
    local options = { ledger = pn.ledger { rho = 1, teaching = true }, rng = pn.rng.seeded(1) }
    local walk = plan_of():steps(options)
    options.ledger, options.rng = nil, nil
    collect()
    for step = 1, 5 do assert.equal(step, walk:step().step) end
    assert.is_nil(walk:step())
  end)
end)

describe("a run", function()
  it("keeps its ledger and rng open through its callbacks", function()
    local ledger, leave_ledger = scoped(function() return pn.ledger { rho = 1, teaching = true } end)
    local rng, leave_rng = scoped(function() return pn.rng.seeded(1) end)
    local fit = plan_of():run { ledger = ledger, rng = rng, on_step = function()
      pcall(leave_ledger)
      pcall(leave_rng)
      collect()
    end }
    assert.equal(5, fit.steps)
    assert.near(0.1, ledger.spent, 1e-6)
  end)

  it("of the exact solver keeps its objective open through nested runs and closing scopes", function()
    local closing, leave = scoped(objective)
    local calls = 0
    local best = pn.solve.exact(closing, { progress = function()
      calls = calls + 1
      if calls == 1 then
        pn.solve.exact(closing, { progress = false })
        leave()
      end
    end })
    assert.is_true(calls > 0 and best.gap <= 1e-8)
  end)

  it("may start another on the same objective while the Gram matrix is being formed", function()
    local data = pn.data.synthetic.lasso { n = 40000, p = 100, seed = 1 }
    local both = pn.objective { data = data, loss = pn.loss.squared(), set = pn.set.l1_ball { dim = 100 } }
    local plan, nested = pn.solve.frank_wolfe.plan(both, { rho = 0.1, iterations = 500 }), 0
    local fit = plan:run { progress = function(_, _, label)
      if label:find "Gram" and nested == 0 then
        nested = 1
        assert.equal(500, plan:run({ progress = false }).steps)
      end
    end }
    assert.equal(1, nested)
    assert.equal(500, fit.steps)
  end)
end)

describe("options", function()
  it("must not come from a function that can give another object each time", function()
    local shifting = setmetatable({ rho = 0.1 }, { __index = function() return nil end })
    assert.error_matches(function() pn.solve.frank_wolfe.plan(objective(), shifting) end, "__index")
    assert.error_matches(function() pn.objective(setmetatable({}, { __index = {} })) end, "__index")
    assert.error_matches(function() plan_of():run(setmetatable({}, { __index = {} })) end, "__index")
  end)

  it("of plan:run are checked by name, so that no ledger is passed over", function()
    local ledger = pn.ledger { rho = 1 }
    assert.error_matches(function() plan_of():run { leger = ledger } end, "unknown option 'leger'")
    assert.error_matches(function() plan_of():run(ledger) end, "one table of options")
    assert.equal(0, ledger.spent)
  end)
end)

describe("metatables of objects", function()
  it("show a name and nothing that frees the object", function()
    for _, value in ipairs { set, plan_of(), pn.ledger { rho = 1 }, pn.vec { 1 }, pn.rng.seeded(1) } do
      local shown = getmetatable(value)
      assert.is_string(shown.__name)
      assert.is_nil(shown.__gc)
      assert.is_nil(shown.__close)
    end
  end)
end)

describe("planning", function()
  -- Multiplying by 1 - 1e-15 does not change the smallest numbers: this once ran forever.
  it("ends for budgets next to zero", function()
    for _, budget in ipairs { { epsilon = 5e-324, delta = 1e-6 }, { epsilon = 5e-324 }, { rho = 5e-324 } } do
      budget.iterations = 5
      assert.error_matches(function() pn.solve.frank_wolfe.plan(objective(), budget) end, "too small")
    end
    assert.equal(0, pn.calibrate.rho { epsilon = 5e-324, delta = 1e-6 })
  end)
end)
