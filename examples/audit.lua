-- audit.lua -- does a mechanism keep what it promises?  Lower bounds on epsilon from what it does.
--   penumbra examples/audit.lua
local pn = require "penumbra"

-- Audits repeat releases thousands of times, so they are paid from a teaching ledger and draw seeded noise: same law.
-- With these seeds they say the same each time; where rng= is left out, nobody chooses the seed.
local ledger = pn.ledger { rho = 1e9, teaching = true }

-- 1. The Laplace mechanism, on two neighbouring answers of a counting query.
local laplace = pn.mechanism.laplace { epsilon = 1, sensitivity = 1 }
print "the Laplace mechanism with epsilon = 1"
print(pn.audit(function(count, rng)
  return (laplace:release(count, { ledger = ledger, rng = rng }))
end, { neighbours = { 100, 101 }, trials = 50000, event = laplace.event, confidence = 0.999, rng = pn.rng.seeded(1) }))

-- 2. A home-made one whose author halved the noise "because counts only go up".
print "\nthe same noise times one half, sold as epsilon = 1"
print(pn.audit(function(count, rng)
  local released = laplace:release(count, { ledger = ledger, rng = rng })
  return count + (released - count) / 2
end, { neighbours = { 100, 101 }, trials = 50000, epsilon = 1, confidence = 0.999, rng = pn.rng.seeded(2) }))

-- 3. A Gaussian sum, audited in one run: each canary is a record that adds 1 to a coordinate of its own.
local canaries = 5000
local sums = pn.ledger { rho = 1e9, teaching = true, neighbours = "add_remove" }
local gaussian = pn.mechanism.gaussian { sigma = 0.5, sensitivity = 1, dim = canaries, neighbours = "add_remove" }
print(("\nGaussian noise of standard deviation 0.5 on %d canaries, in one run"):format(canaries))
print(pn.audit(function(included, rng)
  local sum = pn.vec.zeros(canaries)
  for i, present in ipairs(included) do
    sum[i] = present and 1 or 0
  end
  return (gaussian:release(sum, { ledger = sums, rng = rng }))
end, { canaries = canaries, guesses = 500, delta = 1e-5, event = gaussian.event, confidence = 0.999,
  rng = pn.rng.seeded(3) }))
