-- mirror_descent_simplex.lua -- noisy mirror descent over the simplex with the entropy: where the signal is of the size of the
-- noise, the excess risk is half to three quarters of s G, and the width G of the simplex grows as sqrt(2 ln p).
--   penumbra examples/reproduce/geometry/mirror_descent_simplex.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), section 3.2.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size = descent.common.size

descent.run {
  name = "mirror_descent_simplex",
  title = "Mirror descent over the simplex: entropy",
  rho = 1, runs = size(10, 40),
  parameter = "p", at = 30, n = size(64, 128), sizes = size({ 256, 512 }, { 128, 256, 512, 1024, 2048 }),
  values = size({ 30, 300 }, { 30, 100, 300, 1000, 3000 }),
  geometry = function(p)
    return pn.set.simplex { dim = p, radius = 1 }, pn.vec.basis(p, 1)
  end,
}
