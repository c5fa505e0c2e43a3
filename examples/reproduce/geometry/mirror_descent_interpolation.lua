-- mirror_descent_interpolation.lua -- noisy mirror descent over the ball of (1 - alpha) l1 + alpha l2 with the mixed potential:
-- where the signal is of the size of the noise, the excess risk is of the order s G, and alpha carries the width G from that of l1
-- (0) to that of l2 (1).
--   penumbra examples/reproduce/geometry/mirror_descent_interpolation.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), section 3.3, with a potential in place of the one asserted there.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size, dim = descent.common.size, 30

descent.run {
  name = "mirror_descent_interpolation",
  title = ("Mirror descent over (1 - alpha) l1 + alpha l2 <= 1 in dimension %d: mixed potential"):format(dim),
  rho = 1, runs = size(10, 40),
  parameter = "alpha", at = 0.5, n = size(64, 128), sizes = size({ 256, 512 }, { 128, 256, 512, 1024, 2048 }),
  values = size({ 0, 0.5, 1 }, { 0, 0.25, 0.5, 0.75, 1 }),
  geometry = function(alpha)
    return pn.set.interpolation_ball { dim = dim, alpha = alpha, radius = 1 }, pn.vec.basis(dim, 1)
  end,
}
