-- tree.lua -- how many people have come by so far, day after day, told from a running sum with noise.
--   penumbra examples/tree.lua
-- Of each person the counts see at most 4 visits, at least a week apart.  Whether a person's visits count or not is protected.
local pn = require "penumbra"
local path = os.tmpname()
os.remove(path)

-- 1. A year is paid for once, at the first push.  Without one person each day's count is less by at most 1.
local ledger = pn.ledger { epsilon = 2, delta = 1e-6, neighbours = "zero_out" }
local stream = pn.tree { dim = 1, horizon = 364, sensitivity = 1, participations = 4, separation = 7,
  epsilon = 1, delta = 1e-6, ledger = ledger }
print(stream)

-- 2. Day by day.  Half way the program might end: the stream goes into a file, from which it goes on, once.
local rng, exact = pn.rng.seeded(1), 0
local function days(from, to)
  for day = from, to do
    local visitors = 200 + math.floor(100 * rng:uniform())
    exact = exact + visitors
    local noisy = stream:push(visitors, { sensitivity = 1 })[1]
    if day % 52 == 0 then
      print(("day %3d  %8.0f  (exact %6d, standard deviation %.1f)"):format(day, noisy, exact, math.sqrt(stream:variance(day))))
    end
  end
end
days(1, 182)
stream:save(path)
stream = pn.tree.resume(path)
print("\n" .. select(2, pcall(pn.tree.resume, path)):gsub(path, "the file") .. "\n")
days(183, 364)
os.remove(path)
print("\n" .. tostring(ledger))
