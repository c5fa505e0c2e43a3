-- sparse_records.lua -- records for the tests of kept gradients: some twelve of 600 features in each, few of them popular; the
-- label follows three of them.  And the laws that vertices are chosen by.
-- Used by: frank_wolfe_sparse_spec.lua, frank_wolfe_kept_sets_spec.lua.
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

-- Nodes and weights of Gauss and Legendre on [0, 1].
local nodes = {}
for k = 1, 48 do
  local z, slope = math.cos(math.pi * (k - 0.25) / 48.5), nil
  for _ = 1, 30 do
    local p, before = 1, 0
    for n = 1, 48 do p, before = ((2 * n - 1) * z * p - (n - 1) * before) / n, p end
    slope = 48 * (z * p - before) / (z * z - 1)
    z = z - p / slope
  end
  nodes[k] = { t = (1 + z) / 2, w = 1 / ((1 - z * z) * slope * slope) }
end

-- The chances of candidates with these weights, the largest 1, by permute-and-flip: w_i times the integral over t in [0, 1] of the
-- product of all other 1 - t w_j, which is the chance that i comes first of those whose coin comes up.
function of.flip(weights)
  local chances = {}
  for k = 1, #weights do chances[k] = 0 end
  for _, node in ipairs(nodes) do
    local product = 1
    for _, w in ipairs(weights) do product = product * (1 - node.t * w) end
    for k, w in ipairs(weights) do chances[k] = chances[k] + node.w * w * product / (1 - node.t * w) end
  end
  return chances
end

-- Those of choosing in proportion to the weights.
function of.softmax(weights)
  local sum, chances = 0, {}
  for _, w in ipairs(weights) do sum = sum + w end
  for k, w in ipairs(weights) do chances[k] = w / sum end
  return chances
end

-- The law and the scale of the noise of a plan.
function of.law_of(plan)
  if plan.lines.selection == "permute_and_flip" then return of.flip, plan.lines["noise scale"] end
  return of.softmax, plan.lines["Gumbel scale beta"]
end

return of
