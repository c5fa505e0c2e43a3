-- newton_bench.lua -- private Newton on a9a and Covertype: seconds and held-out accuracy, beside a vectorised numpy run of the
-- same method (newton_peer.py) and this library's other private solvers at their defaults, all at the same epsilon and
-- delta = 1/n^2.  The limit: a run takes no longer than the peer's.
-- a9a is tested on its own test file, Covertype on one record in five, drawn by seed.  Rows are in the unit l2 ball.
-- Covertype's numeric columns are centred and divided by 4 deviations, both as covtype.info prints them, and its one-hot
-- columns divided by 4.
-- Needs PENUMBRA_DATA with a9a.gz, a9a.t.gz and covtype.libsvm.binary.gz; $PYTHON has numpy and scipy.
local pn = require "penumbra"

local folder = os.getenv("PENUMBRA_DATA")
if not folder or folder == "" then
  print("skipped: PENUMBRA_DATA is not set")
  return
end
local seeds = tonumber(arg and arg[1]) or 5
local epsilons = {0.1, 1}

local function file(name)
  return folder .. "/" .. name
end

-- ---- the peer ----

local function peer(train, test)
  local pipe = io.popen(("%s tests/bench/utility/newton_peer.py '%s' '%s' %s 2>&1"):format(os.getenv("PYTHON") or "python3", train,
    test, table.concat(epsilons, ",")))
  local found = {}
  for line in pipe:lines() do
    local epsilon, clock, busy, right = line:match("^(%S+) ([%d.e-]+) ([%d.e-]+) ([%d.e-]+)$")
    if epsilon then
      found[tonumber(epsilon)] = {clock = tonumber(clock), busy = tonumber(busy), right = tonumber(right)}
    end
  end
  pipe:close()
  return found
end

-- ---- data ----

local function a9a()
  local train = pn.data.libsvm(file "a9a.gz", {labels = "binary"})
  local test = pn.data.libsvm(file "a9a.t.gz", {labels = "binary", cols = train.p})
  return train:clip_rows("l2", 1), test:clip_rows("l2", 1)
end

local function covertype()
  local mean = {2959.36, 155.65, 14.10, 269.43, 46.42, 2350.15, 212.15, 223.32, 142.53, 1980.29}
  local deviation = {279.98, 111.91, 7.49, 212.55, 58.30, 1559.25, 26.77, 19.77, 38.27, 1324.19}
  local low, high = {}, {}
  for j = 1, 54 do
    low[j] = j <= 10 and mean[j] - 4 * deviation[j] or -4
    high[j] = j <= 10 and mean[j] + 4 * deviation[j] or 4
  end
  local all = pn.data.libsvm(file "covtype.libsvm.binary.gz", {labels = "binary", sparse = false})
  return all:rescale(low, high):clip_rows("l2", 1):split(0.8, pn.rng.seeded(1))
end

-- ---- ours ----

local function measure(solver, train, test, options)
  local obj = pn.objective {data = train, loss = pn.loss.logistic()}
  local held = pn.objective {data = test, loss = pn.loss.logistic()}
  local plan = pn.solve[solver].plan(obj, options)
  local best = {clock = math.huge, busy = math.huge, right = 0}
  for seed = 1, seeds do
    local begun = os.clock()
    local fit = plan:run {rng = pn.rng.seeded(seed)}
    best.clock = math.min(best.clock, fit.seconds)
    best.busy = math.min(best.busy, os.clock() - begun)
    best.right = best.right + held:accuracy(fit.theta) / seeds
  end
  return best
end

local over = false

local function show(name, epsilon, method, t, limit)
  local line = ("%-10s epsilon %-4g %-36s %8.3f s, %8.3f s of processors, accuracy %.4f"):format(name, epsilon, method,
    t.clock, t.busy, t.right)
  if limit and t.clock > limit then
    over = true
    line = line .. "  OVER"
  end
  print(line)
end

local function compare(name, train, test, numpy)
  for _, epsilon in ipairs(epsilons) do
    local delta = 1 / train.n ^ 2
    local t = numpy[epsilon]
    if t then show(name, epsilon, "numpy, 5 gradients and Hessians", t) end
    show(name, epsilon, "newton", measure("newton", train, test, {epsilon = epsilon, delta = delta}), t and t.clock)
    show(name, epsilon, "newton, neighbours=\"zero_out\"", measure("newton", train, test,
      {epsilon = epsilon, delta = delta, neighbours = "zero_out"}), t and t.clock)
    for _, solver in ipairs {"objective_perturbation", "gradient_descent", "sgd"} do
      show(name, epsilon, solver, measure(solver, train, test, {epsilon = epsilon, delta = delta}))
    end
  end
end

do
  local train, test = a9a()
  compare("a9a", train, test, peer(file "a9a.gz", file "a9a.t.gz"))
end
local train, test = covertype()
compare("covertype", train, test, peer(file "covtype.libsvm.binary.gz", "-"))
if over then os.exit(1) end
