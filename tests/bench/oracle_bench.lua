-- oracle_bench.lua -- what a step costs more in Lua than in C: gradient descent as a solver of a user's, of one gradient a step,
-- beside solve.gradient_descent of the same plan.  Runs alternate; a difference is the median over pairs.  Limits: 10 us a step
-- on a9a, 1 % of a step on Covertype.  A gradient takes far longer than clocks agree about, so the difference is that on sixteen
-- records of the same columns.
-- Needs PENUMBRA_DATA with a9a.gz and covtype.libsvm.binary.gz.
local pn = require "penumbra"

local folder = os.getenv("PENUMBRA_DATA")
if not folder or folder == "" then
  print("skipped: PENUMBRA_DATA is not set")
  return
end

local own = pn.solver{name = "own", step = function(s, ask)
  s.x = s.set:project(s.x - 0.5 * ask:gradient(s.x))
end}

local function median(list)
  table.sort(list)
  return (list[(#list + 1) // 2] + list[#list // 2 + 1]) / 2
end

-- Seconds of processors a step: of both, and the median of their difference.
local function compare(data, steps, pairs_)
  local obj = pn.objective{data = data, loss = pn.loss.logistic(), set = pn.set.l2_ball{dim = data.p, radius = 2}}
  local request = {rho = 1, iterations = steps}
  local plans = {own.plan(obj, request), pn.solve.gradient_descent.plan(obj, {rho = 1, iterations = steps, step = 0.5, momentum = 0,
    output = "last"})}
  assert(plans[1].rho == plans[2].rho)
  local took, apart = {{}, {}}, {}
  for pair = 1, pairs_ do
    for turn = 1, 2 do
      local k = (pair + turn) % 2 + 1
      collectgarbage()
      local begun = os.clock()
      plans[k]:run{progress = false}
      took[k][pair] = (os.clock() - begun) / steps
    end
    apart[pair] = took[1][pair] - took[2][pair]
  end
  return median(took[1]), median(took[2]), median(apart)
end

local failed = false
local function report(what, measured, limit, format)
  local over = measured > limit
  failed = failed or over
  print((what .. ": " .. format .. " (limit " .. format .. ")%s"):format(measured, limit, over and "  OVER" or ""))
end

local a9a = pn.data.libsvm(folder .. "/a9a.gz", {labels = "binary"}):clip_rows("l2", 1)
local _, step = compare(a9a, 100, 3)
local _, _, more = compare(a9a:take(16), 4000, 9)
print(("a9a, %d x %d: %.0f us a step in C, %.1f more in Lua"):format(a9a.n, a9a.p, 1e6 * step, 1e6 * more))
report("  more in Lua, us a step", 1e6 * more, 10, "%.1f")

local covertype = pn.data.libsvm(folder .. "/covtype.libsvm.binary.gz", {labels = "binary", sparse = false}):clip_rows("l2", 1)
_, step = compare(covertype, 10, 3)
_, _, more = compare(covertype:take(16), 4000, 9)
print(("Covertype, %d x %d: %.0f us a step in C, %.1f more in Lua"):format(covertype.n, covertype.p, 1e6 * step, 1e6 * more))
report("  more in Lua, %% of a step", 100 * more / step, 1, "%.3f")
os.exit(not failed)
