-- mirror_descent_simplex.lua -- noisy mirror descent over the simplex with the entropy: the excess risk falls like 1/n and grows
-- with the dimension like sqrt((G^2 + R^2) D2) = O(ln p), G the width of the l1 ball and D2 = ln p.
--   penumbra examples/reproduce/geometry/mirror_descent_simplex.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 and section 3.2.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size = descent.common.size

descent.run {
  name = "mirror_descent_simplex", title = "Mirror descent over the simplex: entropy",
  rho = 1, runs = size(5, 30),
  parameter = "p", at = 20, sizes = size({ 64, 128, 256 }, { 32, 64, 128, 256, 512 }),
  n = 128, values = size({ 5, 20, 80 }, { 5, 20, 80, 320, 1280 }),
  geometry = function(p)
    return pn.set.simplex { dim = p, radius = 1 }, pn.vec.basis(p, 1)
  end,
}
