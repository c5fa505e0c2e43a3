-- mirror_descent_polytope.lua -- noisy mirror descent over the hull of k random unit vectors with the lifted entropy (weights
-- on the vertices): where the signal is of the size of the noise, the excess risk is of the order s G, and G stays below sqrt p
-- however many vertices there are.
--   penumbra examples/reproduce/geometry/mirror_descent_polytope.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), section 3.2, in its lifted form.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local size, dim = descent.common.size, 50

-- k unit vectors, the same first ones for every k; the minimum is at the first.
local function vertices(k)
  local rng, V = pn.rng.seeded(1), pn.mat.zeros(k, dim)
  for i = 1, k do
    local v = pn.vec.normal(dim, rng)
    V[i]:axpy(1 / v:norm(), v)
  end
  return V
end

descent.run {
  name = "mirror_descent_polytope",
  title = ("Mirror descent over the hull of k points in dimension %d: lifted entropy"):format(dim),
  rho = 1, runs = size(10, 40),
  parameter = "k", at = 32, n = size(64, 128), sizes = size({ 256, 512 }, { 128, 256, 512, 1024, 2048 }),
  values = size({ 32, 128 }, { 8, 32, 128, 512, 2048 }),
  geometry = function(k)
    local V = vertices(k)
    return pn.set.polytope { vertices = V }, V[1]:copy()
  end,
}
