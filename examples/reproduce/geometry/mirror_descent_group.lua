-- mirror_descent_group.lua -- noisy mirror descent over the grouped l1 ball (sum of the l2 norms of blocks of k) with the block
-- potential: where the signal is of the size of the noise, the excess risk is of the order s G; with the size of the blocks the
-- width G grows from that of l1, about sqrt(2 ln p), to that of l2, about sqrt p.
--   penumbra examples/reproduce/geometry/mirror_descent_group.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), section 3.3, with ln m for m blocks in place of ln(p/k).
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size, dim = descent.common.size, 256

descent.run {
  name = "mirror_descent_group",
  title = ("Mirror descent over l1 of blocks of k in dimension %d: block potential"):format(dim),
  rho = 1, runs = size(10, 40),
  parameter = "k", at = 4, n = size(64, 128), sizes = size({ 256, 512 }, { 128, 256, 512, 1024, 2048 }),
  values = size({ 1, 16, 256 }, { 1, 4, 16, 64, 256 }),
  geometry = function(k)
    local u = pn.vec.zeros(dim) -- one whole block
    for j = 1, k do u[j] = 1 / math.sqrt(k) end
    return pn.set.group_ball { dim = dim, k = k, radius = 1 }, u
  end,
}
