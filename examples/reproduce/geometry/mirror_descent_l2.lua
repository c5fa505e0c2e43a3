-- mirror_descent_l2.lua -- noisy mirror descent over the l2 ball, which is noisy gradient descent: where the signal is of the
-- size of the noise, the excess risk is a third of s G, s = 2/(n sqrt(2 rho)), and the width G of the ball is sqrt p, nearly.
--   penumbra examples/reproduce/geometry/mirror_descent_l2.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), section 3.1 with the unit l2 ball as Q.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size = descent.common.size

descent.run {
  name = "mirror_descent_l2",
  title = "Mirror descent over the l2 ball: squared l2 norm",
  rho = 1, runs = size(10, 40),
  parameter = "p", at = 16, n = size(64, 256), sizes = size({ 256, 512 }, { 128, 256, 512, 1024, 2048 }),
  values = size({ 16, 64, 256 }, { 16, 64, 256, 1024 }), slope = true,
  geometry = function(p)
    return pn.set.l2_ball { dim = p, radius = 1 }, pn.vec.ones(p) / math.sqrt(p)
  end,
}
