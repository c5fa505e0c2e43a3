-- solver_kept_spec.lua -- a plan, a walk and a fit outlive the pn.solver that they are of, which nobody else holds.
local pn = require "penumbra"

local data = pn.data.synthetic.logistic { n = 100, p = 3, seed = 1 }:clip_rows("l2", 1)
local obj = pn.objective { data = data, loss = pn.loss.logistic() }

local function plan()
  return pn.solver {
    name = "short_lived_solver", source = "a source that is nowhere else",
    step = function(s, ask) s.x = s.x - ask:gradient(s.x, { clip = 1 }) end,
  }.plan(obj, { rho = 0.1, iterations = 3 })
end

-- What is free is overwritten.
local function collect()
  for _ = 1, 3 do
    collectgarbage()
    for i = 1, 200 do assert(pn.solver { name = "other" .. i, step = function() end }) end
  end
end

describe("a solver of a user's own", function()
  it("is kept by its plan", function()
    local made = plan() -- nothing else holds its solver
    collect()
    assert.equal("short_lived_solver", made.solver)
    assert.truthy(tostring(made):find("a source that is nowhere else", 1, true))
    local ledger = pn.ledger { rho = 1, teaching = true }
    local fit = made:run { rng = pn.rng.seeded(1), ledger = ledger }
    collect()
    assert.truthy(tostring(fit):find("short_lived_solver", 1, true))
    assert.truthy(tostring(ledger:report()):find("short_lived_solver", 1, true))
    local walk = plan():steps { rng = pn.rng.seeded(1) }
    collect()
    assert.equal(1, walk:step().step)
  end)
end)
