-- exact_bench.lua -- solve.exact beside liblinear's Newton method (-s 0, l2) and newGLMNET (-s 6, l1): logistic loss,
-- lambda = 1/n, no set.  Seconds of both are those of the processor, ours of all threads; liblinear's with reading the file,
-- and without: less a run that stops at once.  Accuracy is equal: of liblinear, the largest stopping tolerance of a ladder whose
-- model is within `tol` of the minimum, which solve.exact certifies.  The limit: 1.5 times liblinear's seconds without reading.
-- Needs PENUMBRA_DATA with a9a.gz, ijcnn1.gz and reuters.money-fx.train.libsvm.gz; liblinear-train (Debian: liblinear-tools)
-- and zcat.
local pn = require "penumbra"

local folder = os.getenv("PENUMBRA_DATA")
if not folder or folder == "" then
  print("skipped: PENUMBRA_DATA is not set")
  return
end
if not os.execute("command -v liblinear-train >/dev/null 2>&1") then
  print("skipped: liblinear-train is not installed")
  return
end
local LADDER = {1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9}
local text, model = os.tmpname(), os.tmpname()

local function peer(kind, tolerance)
  local best = math.huge
  for _ = 1, 3 do
    local pipe = io.popen(("bash -c 'TIMEFORMAT=\"%%U %%S\"; time liblinear-train -q -s %d -e %g %s %s' 2>&1"):format(kind,
      tolerance, text, model))
    local user, system = pipe:read("a"):match("([%d.]+) ([%d.]+)%s*$")
    pipe:close()
    best = math.min(best, user + system)
  end
  return best
end

-- The model that liblinear left, for labels -1 and 1.
local function weights(p)
  local theta, sign, count = pn.vec.zeros(p), 1, nil
  for line in io.lines(model) do
    if line:match "^label" then sign = line:match "^label 1" and 1 or -1 end
    if count then
      count = count + 1
      theta[count] = sign * tonumber(line)
    elseif line == "w" then
      count = 0
    end
  end
  return theta
end

local function ours(objective, tol)
  local best, found = math.huge, nil
  for _ = 1, 5 do
    local start = os.clock()
    found = pn.solve.exact(objective, {tol = tol})
    best = math.min(best, os.clock() - start)
  end
  return best, found
end

local function compare(name, data, what, kind)
  local objective = pn.objective{data = data, loss = pn.loss.logistic(), reg = pn.reg[what](1 / data.n)}
  local reading, minimum = peer(kind, 1e10), pn.solve.exact(objective, {tol = 1e-12}).value
  local step = 1
  for _, tol in ipairs{1e-3, 1e-5, 1e-8} do
    local seconds, found = ours(objective, tol)
    local time, excess
    repeat
      time = peer(kind, LADDER[step])
      excess = objective:value(weights(data.p)) - minimum
      step = step + 1
    until excess <= tol or step > #LADDER
    step = step - 1
    print(("%-10s %-2s  %.0e  %8.4f  %.1e  %9.4f %9.4f  %.1e  %6.2f"):format(name, what, tol, seconds, found.gap, time,
      time - reading, excess, seconds / (time - reading)))
  end
end

print("data       r   tol      exact s      gap  liblinear  - reading  excess   ratio")
for _, name in ipairs{"a9a", "ijcnn1", "reuters.money-fx.train.libsvm"} do
  local path = ("%s/%s.gz"):format(folder, name)
  assert(os.execute(("zcat '%s' > '%s'"):format(path, text)))
  local data = pn.data.libsvm(path)
  compare(name:match "^[^.]*", data, "l2", 0)
  compare(name:match "^[^.]*", data, "l1", 6)
end
os.remove(text)
os.remove(model)
