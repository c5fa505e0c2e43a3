-- coverage.lua -- what share of intervals of 95 % may cover, over so many runs, before a test says that they do not.
-- The coefficients of a run are not independent, so that runs are counted: a run's share of covered coefficients lies in
-- [0, 1] and has the mean .95, and for all such numbers Chernoff's bound holds, by which the mean of N runs is beyond q, on
-- either side, with probability exp(-N KL(q, .95)) at most.  Here that is 1e-6.
-- Depends on: nothing.  Used by: specs.
local coverage = {}

local NOMINAL = 0.95

local function far(q, runs)
  local above = q < 1 and (1 - q) * math.log((1 - q) / (1 - NOMINAL)) or 0
  return runs * (q * math.log(q / NOMINAL) + above) > math.log(1e6)
end

local function search(near, beyond, runs)
  for _ = 1, 60 do
    local q = (near + beyond) / 2
    if far(q, runs) then beyond = q else near = q end
  end
  return beyond
end

-- The share below which none falls.
function coverage.floor(runs) return search(NOMINAL, 1e-9, runs) end

-- The share above which none rises; infinite where so few runs say nothing.
function coverage.ceiling(runs) return far(1, runs) and search(NOMINAL, 1, runs) or math.huge end

return coverage
