-- sample_complexity.lua -- how many records mirror descent needs to learn a fixed signal privately: the least n at which the mean
-- excess is a quarter of the gap, over the simplex and over the l2 ball.  The order is s G = gap, so n grows like G: over the
-- simplex like sqrt(ln p), over the l2 ball like sqrt p.
--   penumbra examples/reproduce/geometry/sample_complexity.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), sections 3.1 and 3.2, with the problem of descent.lua.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local common = descent.common

local rho, gap = 1, 0.1
-- s G <= gap where n is the first of a family's sizes; each is 5 % larger than the last.
local ratio = 1.05

local families = {
  { name = "simplex", dims = common.size({ 30, 300 }, { 30, 100, 300, 1000, 3000 }), tolerance = 0.3, runs = common.size(20, 200),
    law = function(p) return math.sqrt(math.log(p)) end,
    geometry = function(p) return pn.set.simplex { dim = p, radius = 1 }, pn.vec.basis(p, 1) end },
  { name = "l2 ball", dims = common.size({ 64, 256 }, { 64, 128, 256, 512, 1024 }), tolerance = 0.6, runs = common.size(10, 40),
    law = math.sqrt,
    geometry = function(p) return pn.set.l2_ball { dim = p, radius = 1 }, pn.vec.ones(p) / math.sqrt(p) end },
}

-- Mean excess and its control at n.
local function excess(set, u, n, runs)
  return descent.compare(descent.objective(set, n, u, gap), { rho = rho, iterations = descent.steps, time = descent.time,
    potential = (pn.potential.for_set(set)) }, runs)
end

-- The least even n of the grid, from the one where s G = 2 gap, at which the mean excess is a quarter of the gap.
local function least(set, u, runs)
  local width = pn.width(set).value
  local n = descent.noise(1, rho) * width / (2 * gap)
  for _ = 1, 100 do
    local even = 2 * math.ceil(n / 2)
    local mean, standard_error, control = excess(set, u, even, runs)
    if mean <= gap / 4 then return even, width, mean, standard_error, control end
    n = n * ratio
  end
  error "the excess does not fall below a quarter of the gap"
end

print(("Records for an excess of a quarter of the gap %g, rho = %g"):format(gap, rho))
local out = common.table("sample_complexity", { "set", "p", "width", "n", "excess", "error", "control" })
local series = {}
for k, family in ipairs(families) do
  local records, predicted = {}, {}
  for i, p in ipairs(family.dims) do
    local set, u = family.geometry(p)
    local n, width, mean, standard_error, control = least(set, u, family.runs)
    out:row(family.name, p, width, n, mean, standard_error, control)
    common.control(mean, control, "%s, p = %d", family.name, p)
    records[i], predicted[i] = n, (records[1] or n) * family.law(p) / family.law(family.dims[1])
  end
  local last = #family.dims
  local grown, law = records[last] / records[1], predicted[last] / predicted[1]
  common.expect(math.abs(grown - law) < family.tolerance, "%s: from p = %d to %d n grows %.2f times: %.2f +- %g", family.name,
    family.dims[1], family.dims[last], grown, law, family.tolerance)
  table.insert(series, { label = family.name, x = family.dims, y = records, colour = k - 1 })
  table.insert(series, { label = k == 1 and "like sqrt(ln p)" or "like sqrt p", x = family.dims, y = predicted, dashed = 2,
    colour = k - 1 })
end
out:close()
common.figure { name = "sample_complexity", title = ("records for an excess of %g, rho = %g"):format(gap / 4, rho), xlabel = "p",
  ylabel = "n", logx = true, logy = true, key = "top left Left reverse", series = series }
