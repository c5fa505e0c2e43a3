-- sparse_records.lua -- records for the tests of kept gradients: some twelve of 600 features in each, few of them popular; the
-- label follows three of them.  Used by: frank_wolfe_sparse_spec.lua, frank_wolfe_kept_sets_spec.lua.
local pn = require "penumbra"

local of = { N = 400, P = 600 }

local rng, i, j, x, y, rows = pn.rng.seeded(5), {}, {}, {}, {}, {}
for r = 1, of.N do
  local row = {}
  for _ = 1, 12 do row[math.min(of.P, math.floor(of.P ^ rng:uniform()))] = 2 * rng:uniform() - 1 end
  for column, value in pairs(row) do i[#i + 1], j[#j + 1], x[#x + 1] = r, column, value end
  rows[r] = {}
  for column = 1, of.P do rows[r][column] = row[column] or 0 end
  y[r] = math.max(-1, math.min(1, (row[2] or 0) - (row[5] or 0) + (row[9] or 0) + 0.2 * (rng:uniform() - 0.5)))
end

function of.bounded(data) return data:clip_rows("linf", 1):clip_labels(-1, 1) end

of.X, of.y, of.rows = pn.sparse { rows = of.N, cols = of.P, i = i, j = j, x = x }, y, rows
of.sparse, of.dense = of.bounded(pn.data.from(of.X, y)), of.bounded(pn.data.from(rows, y))

return of
