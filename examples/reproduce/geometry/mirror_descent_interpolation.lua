-- mirror_descent_interpolation.lua -- noisy mirror descent over the ball of (1 - alpha) l1 + alpha l2 with the mixed potential:
-- the excess risk falls like 1/n, and alpha carries the width G from that of l1 (0) to that of l2 (1).
--   penumbra examples/reproduce/geometry/mirror_descent_interpolation.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 and section 3.3, with a potential in place of the one asserted there.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size, dim = descent.common.size, 30

-- The potential is not largest at the coordinate vectors when alpha is near 1, and the bound holds for the farthest point: the
-- records point to the one whose first k coordinates are equal, k such that the potential is largest.  (The squared loss jumps
-- where that point leaves the axes: it is another problem there.)
local function farthest(alpha)
  local potential, norm = pn.potential.interpolation { dim = dim, alpha = alpha }, pn.norm.interpolation(alpha)
  local best, most = nil, -1
  for k = 1, dim do
    local v = pn.vec.zeros(dim)
    for j = 1, k do v[j] = 1 end
    local value = potential:value(v / norm(v))
    if value > most then best, most = v / v:norm(), value end
  end
  return best
end

descent.run {
  name = "mirror_descent_interpolation",
  title = ("Mirror descent over (1 - alpha) l1 + alpha l2 <= 1 in dimension %d: mixed potential"):format(dim),
  rho = 1, runs = size(3, 30),
  parameter = "alpha", at = 0.5, linear = true, sizes = size({ 64, 128, 256 }, { 32, 64, 128, 256 }),
  n = 128, values = size({ 0, 0.5, 1 }, { 0, 0.1, 0.25, 0.5, 0.75, 0.9, 1 }),
  geometry = function(alpha)
    return pn.set.interpolation_ball { dim = dim, alpha = alpha, radius = 1 }, farthest(alpha)
  end,
}
