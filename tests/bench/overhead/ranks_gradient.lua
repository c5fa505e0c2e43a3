-- ranks_gradient.lua -- milliseconds of one full gradient on all ranks of mpirun, printed by rank 0: of the wall, the best of
-- some batches; and of this rank's processor, the mean, which other work on the machine changes little.
-- RECORDS: how many there are of 100 features, 300000 by default.  BATCH: of steps on so many records, of which each rank holds its
-- share, without noise.
-- Used by: ranks_bench.sh.
local pn = require "penumbra"
local ranks = pn.ranks()
local data = pn.data.synthetic.logistic { n = tonumber(os.getenv "RECORDS") or 300000, p = 100, seed = 3 }
local batch = tonumber(os.getenv "BATCH")
if batch then data = data:clip_rows("l2", 1):share(ranks) end
local objective = pn.objective { data = data, loss = pn.loss.logistic(), ranks = ranks }
local theta = pn.vec.zeros(100)
local BATCHES, GRADIENTS = 6, 25

-- In hundredths of a second, of the wall.
local function now()
  local file <close> = assert(io.open "/proc/uptime")
  return file:read "n"
end

local function run(count)
  if not batch then
    for _ = 1, count do objective:gradient(theta) end
  else
    pn.solve.sgd(objective, { privacy = false, batch = batch, iterations = count, rng = pn.rng.seeded(1), progress = false })
  end
end

local best = math.huge
run(1)
local clock = os.clock()
for _ = 1, BATCHES do
  ranks:barrier()
  local begin = now()
  run(GRADIENTS)
  best = math.min(best, now() - begin)
end
clock = (os.clock() - clock) / BATCHES
if ranks.rank == 0 then print(("%.3f %.3f"):format(1000 * best / GRADIENTS, 1000 * clock / GRADIENTS)) end
