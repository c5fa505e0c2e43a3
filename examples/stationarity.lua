-- stationarity.lua -- how near to a stationary point one is, where the loss has kinks and flat parts: the capped absolute residual.
--   penumbra examples/stationarity.lua
-- Gradients need not go to 0 at the minimum of a loss with kinks; mixtures of the gradients near it do.  Goldstein's measure is the
-- least norm of a mixture of gradients within a radius.  It is computed from the exact data: a diagnosis, not a release.
local pn = require "penumbra"

local data = pn.data.synthetic.lasso { n = 500, p = 5, sparsity = 3, noise = 0.1, seed = 7 }
local capped = pn.loss.glm(function(z, y) return pn.min(pn.abs(z - y), 1) end, { name = "capped absolute" })
local obj = pn.objective { data = data, loss = capped }

local theta = pn.vec { 0, 0, 0, 0, 0 }
print " steps    value  |gradient|     mean     hull"
for k = 0, 20 do
  if k % 5 == 0 then
    local s = pn.stationarity(obj, theta, { radius = 0.02, samples = 500, rng = pn.rng.seeded(1) })
    print(("%6d %8.4f %11.4f %8.4f %8.4f"):format(k, obj:value(theta), obj:gradient(theta):norm(), s.mean, s.hull))
  end
  theta = theta - 0.2 / math.sqrt(k + 1) * obj:gradient(theta)
end
print(pn.stationarity(obj, theta, { radius = 0.02, samples = 500, rng = pn.rng.seeded(1) }))
