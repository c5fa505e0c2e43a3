-- mutants_least_squares.lua -- audits of least squares by one release, for mutants.lua.
--   law  the released moments, along the difference of the two records that are furthest apart
-- Depends on: penumbra.  Used by: mutants.lua.
local pn = require "penumbra"

local DELTA, TAU, KAPPA = 1e-3, math.sqrt(0.5), 0.5

-- (x, y) of length 1 beside a constant, with <u, z> = -kappa^2 in u = (x, tau y).
local records = { { { 1, 0 }, 1 }, { { -0.75, math.sqrt(1 - 0.75 ^ 2) }, 1 } }

local function objective(record)
  local data = pn.data.from({ record[1], { 0, 0 } }, { record[2], 0 }):clip_rows("l2", 1):clip_labels(-1, 1):add_bias()
  return pn.objective { data = data, loss = pn.loss.squared() }
end

local function moved()
  local v, D = {}, {}
  for k, record in ipairs(records) do v[k] = { record[1][1], record[1][2], KAPPA, TAU * record[2] } end
  for i = 1, 4 do
    D[i] = {}
    for j = 1, 4 do D[i][j] = v[1][i] * v[1][j] - v[2][i] * v[2][j] end
  end
  return D
end

return function(audit, teaching)
  local kinds, neighbours = {}, { objective(records[1]), objective(records[2]) }
  local function released(obj, rng, ledger)
    return pn.solve.sufficient_statistics(obj, { rho = 0.5, ledger = ledger, rng = rng, progress = false }).moments.matrix
  end
  function kinds.law()
    local D, ledger = moved(), teaching()
    local once = pn.ledger { epsilon = 1e6, delta = DELTA, teaching = true }
    released(neighbours[1], pn.rng.seeded(1), once)
    return audit(function(obj, rng)
      local M, sum = released(obj, rng, ledger), 0
      for i = 1, 4 do
        for j = 1, 4 do sum = sum + M[i][j] * D[i][j] end
      end
      return sum
    end, { neighbours = neighbours, trials = 60000, delta = DELTA, epsilon = once.spent, gaussian = true, confidence = 1 - 1e-9 })
  end
  return { sufficient_statistics = function() return kinds end }
end
