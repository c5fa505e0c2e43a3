-- noise.lua -- what a price means for a model, from public numbers: mu of the Gaussian mechanism that it pays for, and how large
-- the noise of one released gradient is.
-- Depends on: penumbra.passing.  Used by: penumbra.model.kinds, penumbra.model.public.
local passing = require "penumbra.passing"

local error, pcall, sqrt, huge = error, pcall, math.sqrt, math.huge

local noise = {}

-- Infinite without privacy, and for a price that is none, which the plan refuses in its own words; and how often a record counts.
function noise.price(with, options, delta)
  local c = options.neighbours == "zero_out" and 1 or 2
  if options.rho then return sqrt(2 * options.rho), c end
  if not options.epsilon then return huge, c end
  local fine, sigma = pcall(with.sigma, { epsilon = options.epsilon, delta = delta, sensitivity = 1 })
  if not fine and passing(sigma) then error(sigma, 0) end
  return fine and 1 / sigma or huge, c
end

-- r = c sqrt(p)/(n mu): the norm of the noise of one released gradient beside the largest that a record may have.
function noise.part(with, options, d, delta)
  local mu, c = noise.price(with, options, delta)
  return c * sqrt(d.p) / (d.n * mu)
end

return noise
