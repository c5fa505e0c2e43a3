-- mirror_descent_nuclear.lua -- noisy mirror descent over m x m matrices of nuclear norm at most 1 with the spectral potential:
-- the excess risk falls like 1/n and grows with m like sqrt((G^2 + R^2) D2) = O(sqrt(m ln m)), not like the m of p = m^2
-- coordinates.
--   penumbra examples/reproduce/geometry/mirror_descent_nuclear.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 and section 3.4.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size = descent.common.size

descent.run {
  name = "mirror_descent_nuclear", title = "Mirror descent over m x m matrices of nuclear norm 1: spectral potential",
  rho = 1, runs = size(5, 30),
  parameter = "m", at = 4, sizes = size({ 64, 128, 256 }, { 32, 64, 128, 256, 512 }),
  n = 128, values = size({ 2, 4, 8 }, { 2, 4, 8, 16, 24 }),
  geometry = function(m)
    return pn.set.nuclear_ball { rows = m, cols = m, radius = 1 }, pn.vec.basis(m * m, 1)
  end,
}
