-- mirror_descent_interpolation.lua -- noisy mirror descent over the ball of (1 - alpha) l1 + alpha l2 with the mixed potential: the excess
-- risk falls like 1/n, and alpha carries the width G from that of l1 (0) to that of l2 (1).
--   penumbra examples/reproduce/geometry/mirror_descent_interpolation.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 and section 3.3, with a potential in place of the one asserted there.
local pn = require "penumbra"
local descent = dofile((arg[0]:match "^(.*)/" or ".") .. "/../descent.lua")
local size, dim = descent.common.size, 30

descent.run {
  name = "mirror_descent_interpolation", title = ("Mirror descent over (1 - alpha) l1 + alpha l2 <= 1 in R^%d: mixed potential"):format(dim),
  rho = 0.2, runs = size(4, 30),
  parameter = "alpha", at = 0.5, linear = true, sizes = size({ 64, 128, 256 }, { 64, 128, 256, 512 }),
  n = size(128, 256), values = size({ 0, 0.5, 1 }, { 0, 0.1, 0.25, 0.5, 0.75, 0.9, 1 }),
  geometry = function(alpha)
    return pn.set.interpolation_ball { dim = dim, alpha = alpha, radius = 1 }, pn.vec.basis(dim, 1)
  end,
}
