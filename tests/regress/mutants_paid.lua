-- mutants_paid.lua -- audits of what is paid for after a fit, and of mirror descent by its default plan, for mutants.lua.
--   law    one release, on the two data sets that it tells apart best
--   order  a release that the ledger refuses gives nothing (no statistics)
-- Depends on: penumbra, tests/tools/oracle_pairs.lua.  Used by: mutants.lua.
local pn = require "penumbra"
local worst = require "tests.tools.oracle_pairs"

local DELTA = 1e-3
local UNIT = pn.event.gaussian { sigma = 1, sensitivity = 1 }:epsilon(DELTA) -- what rho = 1/2 buys

-- Intervals that pay for a Hessian, of fits on the pair that Hessians tell apart best.
local function intervals(audit, teaching)
  local fits = {}
  for k, objective in ipairs(worst.hessian.neighbours) do
    fits[k] = pn.solve.gradient_descent(objective, { rho = 1e-6, iterations = 1, step = 1e-9, output = "last",
      rng = pn.rng.seeded(1), progress = false })
  end
  local function release(fit, ledger, rng)
    return fit:intervals { target = "records", ledger = ledger, rho = 0.5, rng = rng }.released.matrix:get(1, 1)
  end
  return {
    law = function()
      local ledger = teaching()
      return audit(function(fit, rng) return release(fit, ledger, rng) end, { neighbours = fits, trials = 20000,
        gaussian = true, confidence = 1 - 1e-9, delta = DELTA, epsilon = UNIT })
    end,
    order = function()
      local ledger = pn.ledger { rho = 1e-6, teaching = true }
      local released = pcall(release, fits[1], ledger, pn.rng.seeded(1))
      return released, ("spent %g"):format(ledger.spent)
    end,
  }
end

-- The second point of a default run is the first gradient, which has the noise of half of the budget.
local function mirror_descent(audit, teaching)
  local function plan(labels)
    local data = pn.data.from({ { 1 }, { 1 } }, labels):clip_rows("linf", 1)
    return pn.solve.mirror_descent.plan(pn.objective { data = data, loss = pn.loss.squared(), clip = 1,
      set = pn.set.l2_ball { dim = 1, radius = 1e4 } }, { rho = 1, iterations = 2 })
  end
  return {
    law = function()
      local ledger, up = teaching(), plan { 4, 4 }
      return audit(function(run, rng)
        return run:run { ledger = ledger, rng = rng, progress = false }.theta[1]
      end, { neighbours = { up, plan { 4, -4 } }, trials = 60000, delta = DELTA, confidence = 1 - 1e-9,
        epsilon = UNIT })
    end,
    order = function() -- the budget ends after the first step
      local budget, steps = pn.ledger { rho = 2, teaching = true }, 0
      local finished = pcall(function()
        for _ in plan({ 4, 4 }):steps { ledger = budget, rng = pn.rng.seeded(1) } do
          steps = steps + 1
          budget:close()
        end
      end)
      return finished or steps > 1, ("steps %d"):format(steps)
    end,
  }
end

return function(audit, teaching)
  return {
    intervals = function() return intervals(audit, teaching) end,
    mirror_descent = function() return mirror_descent(audit, teaching) end,
  }
end
