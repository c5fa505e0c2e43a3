-- mirror_descent_group.lua -- noisy mirror descent over the grouped l1 ball (sum of the l2 norms of blocks of k) with the block
-- potential: the excess risk falls like 1/n; with the size of the blocks the width G grows from that of l1, about sqrt(2 ln p),
-- to that of l2, about sqrt p, while the potential's range D2 falls from e ln p to 1/2.  At p = 256 both ends promise about the
-- same.
--   penumbra examples/reproduce/geometry/mirror_descent_group.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 and section 3.3, with ln m for m blocks in place of ln(p/k).
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size, dim = descent.common.size, 256

descent.run {
  name = "mirror_descent_group", title = ("Mirror descent over l1 of blocks of k in dimension %d: block potential"):format(dim),
  rho = 1, runs = size(5, 30),
  parameter = "k", at = 4, sizes = size({ 64, 128, 256 }, { 32, 64, 128, 256, 512 }),
  n = 128, values = size({ 1, 16, 256 }, { 1, 4, 16, 64, 256 }),
  geometry = function(k)
    local direction = pn.vec.zeros(dim) -- one whole block
    for j = 1, k do direction[j] = 1 / math.sqrt(k) end
    return pn.set.group_ball { dim = dim, k = k, radius = 1 }, direction
  end,
}
