-- geometry_gain.lua -- what the potential is worth: noisy mirror descent with the entropy of the set's vertices against the
-- squared l2 norm, over the simplex and the l1 ball, on the problem of descent.lua with the signal s sqrt(2 ln p), and by how long
-- a run goes on.
--
-- The bounds of Theorem 3.2 are sqrt((G2^2 + R2^2) D2_2 / ((G1^2 + R1^2) D2_1)) apart, about sqrt p / ln p.  Both potentials have
-- to come from the start to a vertex; the Euclidean one has noise trace K = p against K = 1, so that its time sqrt(2 D2/K)/s is
-- sqrt(p / (2 ln p)) times shorter, and at its own time it is still near the start, with noise or without.  That is no effect of
-- the noise.  With more time it comes to the vertices, too, where its noise has few directions left: the trace K = p is that of the
-- interior, which such a run leaves at once.
--   penumbra examples/reproduce/geometry/geometry_gain.lua [folder]        QUICK=1 for a look
-- Source: Talwar, Thakurta, Zhang (2014), Theorem 3.2 and the comparison with the l2 geometry after it.
local pn = require "penumbra"
local here = debug.getinfo(1, "S").source:match "^@(.*/)" or "./"
local descent = dofile(here .. "../descent.lua")
local common = descent.common

local n, rho, runs = 128, 1, common.size(10, 80)
local dims = common.size({ 30, 300 }, { 30, 300, 3000 })
local times = { 1, 3, 10, 30, 100 }

local sets = {
  { name = "simplex", set = function(p) return pn.set.simplex { dim = p, radius = 1 } end },
  { name = "l1 ball", set = function(p) return pn.set.l1_ball { dim = p, radius = 1 } end },
}

-- What is left of the gap, by potential and time: mean, standard error, control.
local function compare(family, p, out)
  local set, rows = family.set(p), {}
  local gap = descent.noise(n, rho) * math.sqrt(2 * math.log(p))
  local objective = descent.objective(set, n, pn.vec.basis(p, 1), gap)
  for i, time in ipairs(times) do
    local row = { time = time }
    for name, potential in pairs { own = (pn.potential.for_set(set)), l2 = pn.potential.euclidean {} } do
      local mean, standard_error, control, plan = descent.compare(objective, { rho = rho, iterations = descent.steps, time = time,
        potential = potential }, runs)
      row[name] = { left = mean / gap, error = standard_error / gap, control = control / gap, bound = plan.bound / gap }
    end
    rows[i] = row
    out:row(family.name, p, time, row.own.left, row.own.error, row.own.control, row.l2.left, row.l2.error, row.l2.control,
      row.own.bound, row.l2.bound)
  end
  return rows
end

local function check(family, p, rows)
  local own, l2, longest = rows[2].own, rows[2].l2, rows[#rows]
  common.control(own.left, own.control, "%s, p = %d, entropy", family.name, p)
  common.expect(own.left > 0.25 and own.left < 0.8, "%s, p = %d: the entropy leaves %.2f +- %.2f of the gap at time 3", family.name,
    p, own.left, own.error)
  print(("  the Euclidean potential leaves %.2f at its time 3, of which %.2f without noise"):format(l2.left, l2.control))
  common.control(longest.l2.left, longest.l2.control, "%s, p = %d, Euclidean at time %g", family.name, p, longest.time)
  common.expect(longest.l2.left < longest.own.left + 4 * longest.l2.error,
    "%s, p = %d: at time %g it leaves %.2f +- %.2f, the entropy %.2f: the same, within 4 errors", family.name, p, longest.time,
    longest.l2.left, longest.l2.error, longest.own.left)
end

local out = common.table("geometry_gain", { "set", "p", "time", "own", "own_error", "own_control", "l2", "l2_error", "l2_control",
  "own_bound", "l2_bound" })
local panels = {}
for k, family in ipairs(sets) do
  local series, dashed = {}, {}
  for i, p in ipairs(dims) do
    local rows = compare(family, p, out)
    check(family, p, rows)
    for j, name in ipairs { "own", "l2" } do
      local left, errors, control = {}, {}, {}
      for t, row in ipairs(rows) do left[t], errors[t], control[t] = row[name].left, row[name].error, row[name].control end
      local label = ("%s, p = %d"):format(name == "own" and "entropy" or "Euclidean", p)
      table.insert(series, { label = label, x = times, y = left, error = errors, colour = 2 * i - 3 + j })
      table.insert(dashed, { label = "", x = times, y = control, dashed = 2, colour = 2 * i - 3 + j })
    end
  end
  for _, one in ipairs(dashed) do table.insert(series, one) end
  panels[k] = { title = family.name .. "; dashed: without noise", xlabel = "time, in sqrt(2 D2/K)/s",
    ylabel = "share of the gap left", logx = true, series = series }
end
out:close()
common.figure { name = "geometry_gain", title = ("The potential and the time, n = %d, rho = %g"):format(n, rho), legend = 200,
  panels = panels }
