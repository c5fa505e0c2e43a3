-- mutants_oracle.lua -- audits of the oracle's questions and of a user's solver, for mutants.lua.
--   law      one answer, on the pair of data sets that the question tells apart best
--   batches  one record of four at a time is not the same one each time (no statistics but a chance of 4^-39)
--   spent    the ledger's total is the price of each answer times their number (no statistics)
--   again    a step that asks more, or asks elsewhere when it is tried again, gets nothing (no statistics)
--   share    noise of 1/share (no statistics)
--   order    a question that the ledger refuses gives nothing (no statistics)
-- Depends on: penumbra, tests/tools/oracle_pairs.lua.  Used by: mutants.lua.
local pn = require "penumbra"
local worst = require "tests.tools.oracle_pairs"

local DELTA = 1e-3
local zero = { 0 }

local function solver(step, queries)
  return pn.solver { name = "asks", queries = queries, step = step }
end

-- What the ledger has been charged for two steps that ask once each, in shares of their price.
local function overcharge(name, options)
  local ledger, both = pn.ledger { rho = 1e9, teaching = true }, {}
  local ask = pn.oracle { objective = worst[name].neighbours[1], ledger = ledger, rng = pn.rng.seeded(1) }
  for k = 1, 2 do
    worst[name].ask(ask, options)
    both[k] = ledger.spent
  end
  return both[1] <= 0 or math.abs(both[2] / both[1] - 2) > 1e-6, ("%g %g"):format(both[1], both[2])
end

-- Whether a run answers a step that asks twice, or at two points when it is tried again.
local function answers_more(name)
  local point, twice = zero, false
  local plan = solver(function(_, ask)
    ask:gradient(point)
    if twice then ask:gradient(point) end
    error "again"
  end, { gradient = 1 }).plan(worst[name].neighbours[1], { rho = 0.1, iterations = 2 })
  local walk, said = plan:steps { ledger = pn.ledger { rho = 1 } }, {}
  local function step()
    said[#said + 1] = select(2, pcall(walk.step, walk))
  end
  step()
  point = { 0.5 }
  step()
  point, twice = zero, true
  step()
  local refused = said[2]:find("at another point", 1, true) and said[3]:find("more often than its plan pays for", 1, true)
  return not refused, table.concat(said, "; ")
end

-- Whether 40 answers about one record of two kinds, nearly without noise, are about one kind.
local function one_batch(name)
  local low, high = math.huge, -math.huge
  solver(function(_, ask)
    local g = ask:gradient(zero, { batch = 1 })[1]
    low, high = math.min(low, g), math.max(high, g)
  end)(worst[name].neighbours[1], { rho = 1e7, iterations = 40, rng = pn.rng.seeded(1), progress = false })
  return high - low < 0.5, ("%g to %g"):format(low, high)
end

-- Whether a question of twice the share has noise other than half.
local function shares_alike(name)
  local function ratio(share) -- of the noise of a gradient of that share to that of a value
    local noise
    solver(function(_, ask)
      noise = ask:noise "gradient" / ask:noise "value"
    end, { gradient = { share = share }, value = 1 })(worst[name].neighbours[1], { rho = 0.1, iterations = 1, progress = false })
    return noise
  end
  local halved = ratio(2) / ratio(1)
  return math.abs(halved - 0.5) > 1e-6, ("%g"):format(halved)
end

return function(audit)
  local function question(name)
    local choice = not worst[name].score
    local delta = choice and 0 or DELTA
    local kinds = {}
    function kinds.law()
      local f, claimed, neighbours = worst.asker(name, { rho = 0.5 }, delta)
      return audit(f, { neighbours = neighbours, trials = choice and 60000 or 20000, delta = delta, epsilon = claimed,
        gaussian = not choice, confidence = 1 - 1e-9 })
    end
    function kinds.spent() return overcharge(name, { rho = 0.01 }) end
    function kinds.order()
      local ask = pn.oracle { objective = worst[name].neighbours[1], rng = pn.rng.seeded(1),
        ledger = pn.ledger { rho = 1e-6, teaching = true } }
      local answered = pcall(worst[name].ask, ask, { rho = 0.5 })
      return answered, ""
    end
    function kinds.batches() return one_batch(name) end
    function kinds.again() return answers_more(name) end
    function kinds.share() return shares_alike(name) end
    return function() return kinds end
  end

  local out = {}
  for name, of in pairs(worst) do
    if type(of) == "table" then out["ask_" .. name] = question(name) end
  end
  return out
end
