-- asking.lua -- questions about the records, asked without privacy, and what they are certified to show of one record.
-- Depends on: penumbra.  Used by: specs of the oracle and of users' solvers.
local pn = require "penumbra"
local asking = {}

-- A solver whose step calls ask(oracle), once.
local function once(ask)
  return pn.solver { name = "once", step = function(_, oracle) ask(oracle) end }
end

-- What ask(oracle) returns in a run without privacy.
function asking.exact(objective, ask)
  local answer
  once(function(oracle) answer = table.pack(ask(oracle)) end)(objective, { privacy = false, iterations = 1, progress = false })
  return table.unpack(answer, 1, answer.n)
end

-- The certified sensitivity of the question of that name, for an answer at length 1: of numbers in l2, of scores each; from
-- the noise and the price, rho = (Delta/sigma)^2/2, or epsilon^2/8 for a choice with Gumbel scale 2 Delta/epsilon.
function asking.sensitivity(objective, name, ask, neighbours)
  local ledger, scale = pn.ledger { rho = 1, neighbours = neighbours }, nil
  once(function(oracle)
    ask(oracle)
    scale = oracle:noise(name)
  end)(objective, { rho = 0.5, iterations = 1, ledger = ledger, progress = false })
  local choice = name == "vertex" or name == "choose"
  return scale * (choice and math.sqrt(8 * ledger.spent) / 2 or math.sqrt(2 * ledger.spent)), scale
end

-- The numbers of an answer as a list: of a symmetric matrix packed, entries beside the diagonal times sqrt(2), so that the l2
-- norm is that of Frobenius.
function asking.numbers(answer)
  if type(answer) == "number" then return { answer } end
  local out = {}
  if pcall(function() return answer.rows > 0 end) then
    for i = 1, answer.rows do
      for j = 1, i do out[#out + 1] = answer[i][j] * (i == j and 1 or math.sqrt(2)) end
    end
    return out
  end
  for j = 1, #answer do out[j] = answer[j] end
  return out
end

function asking.distance(a, b)
  local sum = 0
  a, b = asking.numbers(a), asking.numbers(b)
  for j = 1, #a do sum = sum + (a[j] - b[j]) ^ 2 end
  return math.sqrt(sum)
end

return asking
