-- mirror_descent_nuclear.lua -- noisy mirror descent over m x m matrices of nuclear norm at most 1 with the spectral potential:
-- where the signal is of the size of the noise, the excess risk is of the order s G, and the width G grows as 2 sqrt m, not as the
-- m of p = m^2 coordinates.
--   penumbra examples/reproduce/geometry/mirror_descent_nuclear.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), section 3.4.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size = descent.common.size

descent.run {
  name = "mirror_descent_nuclear",
  title = "Mirror descent over m x m matrices of nuclear norm 1: spectral potential",
  rho = 1, runs = size(10, 40),
  parameter = "m", at = 5, n = size(64, 128), sizes = size({ 256, 512 }, { 128, 256, 512, 1024, 2048 }),
  values = size({ 5, 10 }, { 5, 10, 20 }),
  geometry = function(m)
    return pn.set.nuclear_ball { rows = m, cols = m, radius = 1 }, pn.vec.basis(m * m, 1)
  end,
}
