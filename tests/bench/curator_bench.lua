-- curator_bench.lua -- what a process of its own adds to an analyst's script: alternating runs of the same script in the
-- curator's process and in one of its own, for a script that only answers and for one that trains; and a run on records of
-- 100 MB, which are mapped, not copied.  A process of its own is a start of the program: the limit is 1.3 of those, measured in
-- the same run, and 4 where the script reads 24,414 pages of records, of which a new process has none in its tables.
local pn = require "penumbra"
local seconds = require("penumbra.workers").seconds

local LIMIT, LIMIT_PAGES, RUNS = 1.3, 4, 40
local train = [[
  local obj = pn.objective{data=data.d, loss=pn.loss.logistic(), set=pn.set.l2_ball{dim=data.d.p, radius=1}}
  return #pn.solve.gradient_descent(obj, {rho=1e-6, iterations=3}).theta]]

local function median(times)
  table.sort(times)
  return times[(#times + 1) // 2]
end

local function measure(data, code)
  local ledger, times, curators = pn.ledger { rho = 10 }, { {}, {} }, {}
  for k = 1, 2 do
    curators[k] = pn.curator { data = { d = data }, ledger = ledger, process = k == 2, threads = 1, memory = 512 }
    assert(curators[k]:run(code).ok)
  end
  for _ = 1, RUNS do
    for k = 1, 2 do
      local begun = seconds()
      assert(curators[k]:run(code).ok)
      times[k][#times[k] + 1] = seconds() - begun
    end
  end
  return median(times[1]), median(times[2])
end

local function start()
  local times = {}
  for k = 1, RUNS do
    local begun = seconds()
    os.execute((os.getenv "PENUMBRA" or "build/penumbra") .. " -e ''")
    times[k] = seconds() - begun
  end
  return median(times)
end

local small = pn.data.synthetic.logistic { n = 2000, p = 10, seed = 1 }:clip_rows("l2", 1)
local large = pn.data.synthetic.logistic { n = 250000, p = 50, seed = 1 }:clip_rows("l2", 1)
local fine, begin = true, start()
print(("%-40s %10s %10s %10s"):format("a script", "inside", "own", "added"))
for _, row in ipairs { { "that answers", small, "return 1" }, { "that trains on 160 kB", small, train },
                       { "that answers, with 100 MB of records", large, "return 1" },
                       { "that trains on 100 MB", large, train } } do
  local inside, own = measure(row[2], row[3])
  local limit = row[2] == large and row[3] == train and LIMIT_PAGES or LIMIT
  local over = own - inside > limit * begin
  fine = fine and not over
  print(("%-40s %7.1f ms %7.1f ms %7.1f ms, %.2f starts of %.1f ms (limit %.1f)%s"):format(row[1], 1e3 * inside, 1e3 * own,
    1e3 * (own - inside), (own - inside) / begin, 1e3 * begin, limit, over and "  OVER" or ""))
end
os.exit(fine)
