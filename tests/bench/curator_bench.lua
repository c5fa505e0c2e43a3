-- curator_bench.lua -- what a process of its own adds to an analyst's script: alternating runs of the same script in the
-- curator's process and in one of its own, for a script that only answers and for one that trains; and a run on records of
-- 100 MB, which are mapped, not copied.  The limit is 20 ms a script, and for a script that reads its records a quarter of a
-- microsecond for each of their pages: a new process finds none of them in its tables.
local pn = require "penumbra"
local seconds = require("penumbra.workers").seconds

local LIMIT, PAGE, RUNS = 0.020, 0.25e-6, 40
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

local small = pn.data.synthetic.logistic { n = 2000, p = 10, seed = 1 }:clip_rows("l2", 1)
local large = pn.data.synthetic.logistic { n = 250000, p = 50, seed = 1 }:clip_rows("l2", 1)
local fine = true
print(("%-40s %10s %10s %10s"):format("a script", "inside", "own", "added"))
for _, row in ipairs { { "that answers", small, "return 1" }, { "that trains on 160 kB", small, train },
                       { "that answers, with 100 MB of records", large, "return 1" },
                       { "that trains on 100 MB", large, train } } do
  local inside, own = measure(row[2], row[3])
  local pages = row[3] == train and row[2].n * row[2].p * 8 / 4096 or 0
  local over = own - inside > LIMIT + PAGE * pages
  fine = fine and not over
  print(("%-40s %7.1f ms %7.1f ms %7.1f ms%s"):format(row[1], 1e3 * inside, 1e3 * own, 1e3 * (own - inside),
    over and "  OVER" or ""))
end
os.exit(fine)
