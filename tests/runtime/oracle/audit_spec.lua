-- audit_spec.lua -- audits of every question on the neighbours that are worst for it: none gives away more than was charged, and
-- those of all records give away more than half of it, so that what is charged is not far too much either.
-- Confidence 1 - 1e-8 a bound; 13 questions at three prices, and batches: the chance of a false alarm is below 1e-6.
local pn = require "penumbra"
local tier = require "tests.tools.tier"
local law = tier.law(it)
local worst = require "tests.tools.oracle_pairs"

local DELTA, CONFIDENCE = 1e-3, 1 - 1e-8

local function audit(name, options, trials)
  local choice = not worst[name].score
  local delta = choice and 0 or DELTA
  local f, claimed, neighbours = worst.asker(name, options, delta)
  return pn.audit(f, { neighbours = neighbours, trials = trials, delta = delta, epsilon = claimed,
    gaussian = not choice and not options.batch, confidence = CONFIDENCE, rng = pn.rng.seeded(5), progress = false })
end

local names = {}
for name, of in pairs(worst) do
  if type(of) == "table" then names[#names + 1] = name end
end
table.sort(names)

for k, name in ipairs(names) do
  describe("an audit of " .. name, function()
    local choice = not worst[name].score
    for j, rho in ipairs { 0.1, 0.5, 2 } do
      local here = tier.it(law, j == 2 and k % 4 == 1) -- of every fourth one price in the fast tier
      here(("stays below what is charged and above half of it: rho %g"):format(rho), function()
        local result = audit(name, { rho = rho }, choice and 60000 or j == 1 and 15000 or 8000)
        assert.is_false(result.violated)
        assert.is_true(result.epsilon_lower > 0.5 * result.claimed, ("%g of %g"):format(result.epsilon_lower, result.claimed))
      end)
    end
  end)
end

describe("an audit of batches", function()
  local sampled = { "gradient", "moment", "difference", "hvp", "convex_hvp", "hessian" }
  for k, name in ipairs(sampled) do
    for j, scheme in ipairs { "fixed", "poisson", "shuffled" } do
      if name ~= "hessian" or scheme == "fixed" then
        tier.it(law, j == 1 and k == 1)(("stays below what is charged: %s, %s"):format(name, scheme), function()
          -- much is left to a single answer, so that what the batch hides is small
          assert.is_false(audit(name, { rho = 2, batch = { scheme = scheme, size = 2 } }, 20000).violated)
        end)
      end
    end
  end
end)
