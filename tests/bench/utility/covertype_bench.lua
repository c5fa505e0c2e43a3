-- covertype_bench.lua -- epochs of private logistic regression on Covertype against a vectorised numpy loop with batches of 1,000
-- (covertype_peer.py), seconds on the clock and of processors.  The limit is on the same number of epochs, by gradient_descent,
-- which reads rows in order, and by stochastic gradients of the peer's kind (batches of 1,000 drawn anew without replacement, every
-- record's part bounded, noise on every step), which wait for memory at random rows and miss it.
-- Needs PENUMBRA_DATA with covtype.libsvm.binary.gz; $PYTHON has numpy.
local pn = require "penumbra"

local folder = os.getenv("PENUMBRA_DATA")
if not folder or folder == "" then
  print("skipped: PENUMBRA_DATA is not set")
  return
end
local path = folder .. "/covtype.libsvm.binary.gz"
local epochs = tonumber(arg and arg[1]) or 20

-- ---- the peer ----

local function peer()
  local pipe = io.popen(("%s tests/bench/utility/covertype_peer.py '%s' %d"):format(os.getenv("PYTHON") or "python3", path, epochs))
  local times = {}
  for line in pipe:lines() do
    local name, clock, busy = line:match("^(%a+) ([%d.e-]+) ([%d.e-]+)$")
    if name then times[name] = {clock = tonumber(clock), busy = tonumber(busy)} end
  end
  return pipe:close() and times.choice and times or nil
end

-- ---- ours ----

local raw = pn.data.libsvm(path, {labels = "binary", sparse = false})
local unit = raw:clip_rows("l2", 1)
local single = unit:float32()
local delta = 1 / unit.n ^ 2

-- The plan is made outside of the clock, as loading is; the least of three runs.
local function measure(solver, data, options, clip)
  local obj = pn.objective{data = data, loss = pn.loss.logistic(), clip = clip}
  options.epsilon, options.delta = 1, delta
  local plan = pn.solve[solver].plan(obj, options)
  local best = {clock = math.huge, busy = math.huge}
  for _ = 1, 3 do
    local begun = os.clock()
    local fit = plan:run{}
    best.clock = math.min(best.clock, fit.seconds)
    best.busy = math.min(best.busy, os.clock() - begun)
  end
  return best
end

local function sgd(sampling)
  return {batch = 1000, epochs = epochs, sampling = sampling}
end

local numpy = peer()
local rows = {
  {"sgd, fixed batches of 1,000", "sgd", unit, sgd("fixed"), limit = 4},
  {"the same, gradients clipped", "sgd", raw, sgd("fixed"), 1},
  {"the same, float32 rows", "sgd", single, sgd("fixed")},
  {"sgd, shuffled batches of 1,000", "sgd", unit, sgd("shuffled")},
  {"svrg, an epoch of inner steps each", "svrg", unit, {epochs = epochs, batch = 1000, inner = unit.n // 1000}},
  {"gradient_descent", "gradient_descent", unit, {iterations = epochs}, limit = 20},
  {"the same, float32 rows", "gradient_descent", single, {iterations = epochs}},
}
if not numpy then print("no numpy: times without a ratio") end
for _, name in ipairs{"choice", "permutation", "factored"} do
  local t = numpy and numpy[name]
  if t then print(("numpy, %-34s %8.3f s, %8.3f s of processors"):format(name, t.clock, t.busy)) end
end
local over = false
for _, row in ipairs(rows) do
  local t = measure(row[2], row[3], row[4], row[5])
  local line = ("%-40s %8.3f s, %8.3f s of processors"):format(row[1], t.clock, t.busy)
  if numpy then
    local ratio = numpy.choice.clock / t.clock
    line = line .. ("; numpy / this: %5.1f on the clock, %5.1f of processors"):format(ratio, numpy.choice.busy / t.busy)
    if row.limit then
      local bad = ratio < row.limit
      over = over or bad
      line = line .. (" (at least %d)%s"):format(row.limit, bad and "  OVER" or "")
    end
  end
  print(line)
end
if over then os.exit(1) end
