-- mirror_descent_l2.lua -- noisy mirror descent over the l2 ball, which is noisy gradient descent: the excess risk falls like 1/n
-- and grows with the dimension like sqrt((G^2 + R^2) D2) = sqrt((p + 1)/2), nearly.
--   penumbra examples/reproduce/geometry/mirror_descent_l2.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 with the unit l2 ball as Q.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size = descent.common.size

descent.run {
  name = "mirror_descent_l2", title = "Mirror descent over the l2 ball: squared l2 norm",
  rho = 1, runs = size(5, 30),
  parameter = "p", at = 20, sizes = size({ 64, 128, 256 }, { 32, 64, 128, 256, 512 }),
  n = 256, values = size({ 4, 16, 64 }, { 4, 16, 64, 256, 1024 }),
  geometry = function(p)
    return pn.set.l2_ball { dim = p, radius = 1 }, pn.vec.ones(p) / math.sqrt(p)
  end,
}
