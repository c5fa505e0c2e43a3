-- least_squares_bench.lua -- solve.sufficient_statistics beside newton, AdaSSP as it was published, and the best constant.
--   penumbra tests/bench/utility/least_squares_bench.lua [data=wine,...] [epsilon=0.1,...] [runs=N] [delta=1e-6]
--     [radius=R] [ball=B]
--     [options=damping:1.5,...]
-- A cell is the mean excess of the mean squared error, x 1000 (labels in [-1, 1]), over that of least squares without privacy on
-- the same rows, +- the standard error over the runs.  Columns are scaled to [-1, 1] by ranges from data sheets and units, rows
-- clipped to R (by default sqrt(d): none is; the tighter, the less noise: try sqrt(d)/2), and a constant stands beside them.
-- ball=B: all over the l2 ball of that radius, newton without clip=, too.
-- Noise is seeded so that the tables repeat; its law is that of secure noise.  Needs PENUMBRA_DATA.
local pn = require "penumbra"

local folder = os.getenv "PENUMBRA_DATA"
if not folder or folder == "" then
  print "skipped: PENUMBRA_DATA is not set"
  return
end

local asked = {
  data = "wine,abalone,cpusmall,cal_housing", epsilon = "0.1,1,4", runs = "25", delta = "1e-6",
  radius = "", ball = "", options = "",
}
for _, word in ipairs(arg or {}) do
  local key, value = word:match "^(%a+)=(.*)$"
  if not asked[key] then error("least_squares_bench: unknown argument " .. word, 0) end
  asked[key] = value
end

-- ---- data ----

local function zeros(count)
  local list = {}
  for j = 1, count do list[j] = 0 end
  return list
end

local sources = {
  -- Grams and milligrams a litre, percent; marks from 0 to 10.
  wine = {
    file = "winequality-red.csv.gz", labels = { 0, 10 },
    low = { 4, 0, 0, 0, 0, 0, 0, 0.985, 2.7, 0, 8 }, high = { 16, 2, 1, 20, 0.7, 80, 300, 1.005, 4.1, 2.2, 15 },
  },
  -- Scaled to [-1, 1] by who prepared the file; rings.
  abalone = {
    file = "abalone.libsvm.gz", labels = { 0, 30 }, low = { -1, -1, -1, -1, -1, -1, -1, -1 }, high = { 1, 1, 1, 1, 1, 1, 1, 1 },
  },
  -- Calls, blocks and pages a second, words of free memory of one machine; percent.
  cpusmall = {
    file = "cpusmall.libsvm.gz", labels = { 0, 100 }, low = zeros(12),
    high = { 2000, 1000, 13000, 6000, 6000, 30, 70, 3e6, 2e6, 3000, 13000, 2.5e6 },
  },
  -- Degrees of the state, years, counts of a census block, 10,000 dollars; dollars.
  cal_housing = {
    file = "cal_housing.csv.gz", labels = { 0, 500001 },
    low = { -125, 32, 0, 0, 0, 0, 0, 0 }, high = { -114, 42, 60, 10000, 2000, 5000, 2000, 10 },
  },
}

-- Rows within the unit ball and a constant, labels in [-1, 1].
local function load(name)
  local of = sources[name] or error("least_squares_bench: no data set is called " .. name, 0)
  local path = folder .. "/" .. of.file
  local rows = of.file:find "csv" and pn.data.csv(path, name == "wine" and { sep = ";" } or nil) or pn.data.libsvm(path)
  local low, high = of.labels[1], of.labels[2]
  local radius = tonumber(asked.radius) or math.sqrt(rows.p)
  rows = rows:rescale(of.low, of.high):clip_rows("l2", radius)
  rows = pn.data.from(rows.X * (1 / radius), rows.y):clip_rows("l2", 1)
  return rows:with_labels((rows.y - (low + high) / 2) * (2 / (high - low))):clip_labels(-1, 1):add_bias()
end

-- ---- AdaSSP ----

local function gauss(rng)
  return math.sqrt(-2 * math.log(1 - rng:uniform())) * math.cos(2 * math.pi * rng:uniform())
end

-- X^T X, X^T y of rows without noise.
local function moments_of(data)
  local X, y, d = data.X, data.y, data.p
  local A, b = {}, {}
  for i = 1, d do A[i], b[i] = {}, 0 end
  local columns = {}
  for j = 1, d do columns[j] = X * pn.vec.basis(d, j) end
  for i = 1, d do
    for j = 1, d do A[i][j] = columns[i]:dot(columns[j]) end
    b[i] = columns[i]:dot(y)
  end
  return A, b
end

-- x with A x = b, by elimination.
local function solved(A, b)
  local d, M = #b, {}
  for i = 1, d do
    M[i] = table.move(A[i], 1, d, 1, {})
    M[i][d + 1] = b[i]
  end
  for k = 1, d do
    local best = k
    for i = k + 1, d do if math.abs(M[i][k]) > math.abs(M[best][k]) then best = i end end
    M[k], M[best] = M[best], M[k]
    for i = 1, d do
      local f = i ~= k and M[i][k] / M[k][k] or 0
      if f ~= 0 then for j = k, d + 1 do M[i][j] = M[i][j] - f * M[k][j] end end
    end
  end
  local x = {}
  for k = 1, d do x[k] = M[k][d + 1] / M[k][k] end
  return x
end

-- The least eigenvalue, by inverse iteration from below: A is positive semidefinite.
local function least_eigenvalue(A)
  local d, x, shifted, value = #A, {}, {}, 0
  for i = 1, d do
    x[i], shifted[i] = math.cos(i), table.move(A[i], 1, d, 1, {})
    shifted[i][i] = shifted[i][i] + 1e-9
  end
  for _ = 1, 200 do
    x = solved(shifted, x)
    local norm = 0
    for i = 1, d do norm = norm + x[i] ^ 2 end
    value = 1 / math.sqrt(norm)
    for i = 1, d do x[i] = x[i] * value end
  end
  return value
end

-- Wang (2018), Algorithm 2: thirds of epsilon and delta, neighbours that add or remove a record, rows within R, labels within 1.
local function adassp(A, b, eigenvalue, R, epsilon, delta, rng)
  local d, each = #b, epsilon / 3
  local root = math.sqrt(math.log(6 / delta))
  local floor = math.max(eigenvalue + root / each * R ^ 2 * gauss(rng) - root ^ 2 / each * R ^ 2, 0)
  local ridge = math.max(0, math.sqrt(d * math.log(6 / delta) * math.log(2 * d ^ 2 / 0.05)) * R ^ 2 / each - floor)
  local noisy, right = {}, {}
  for i = 1, d do noisy[i] = {} end
  for i = 1, d do
    for j = i, d do
      noisy[i][j] = A[i][j] + root / each * R ^ 2 * gauss(rng)
      noisy[j][i] = noisy[i][j]
    end
    noisy[i][i] = noisy[i][i] + ridge
    right[i] = b[i] + root / each * R * gauss(rng)
  end
  return pn.vec(solved(noisy, right))
end

-- ---- the table ----

local function cell(sum, squares, runs)
  local mean = sum / runs
  return ("%8.3g +-%-7.2g"):format(1e3 * mean, 1e3 * math.sqrt(math.max(0, squares / runs - mean ^ 2) / math.max(runs - 1, 1)))
end

local function measure(runs, risk, best, solve)
  local sum, squares = 0, 0
  for k = 1, runs do
    local excess = 2 * risk:value(solve(pn.rng.seeded(k))) - best
    sum, squares = sum + excess, squares + excess ^ 2
  end
  return cell(sum, squares, runs)
end

local runs, delta, ball = tonumber(asked.runs), tonumber(asked.delta), tonumber(asked.ball)
local more = {}
for key, value in asked.options:gmatch "([%w_]+):([%d.]+)" do more[key] = tonumber(value) end

local row = "%-13s %7s %8s  %-17s  %-17s  %-17s  %-8s %s"
print(("mean squared error, x 1000, above that of least squares; delta %g, %d runs, replace_one"):format(delta, runs))
print(row:format("data", "epsilon", "OLS", "one release", "newton, clip=1", ball and "newton, ball" or "AdaSSP 2018", "constant",
  "predicted"))

local function problem(data, clip)
  local set = ball and pn.set.l2_ball { dim = data.p, radius = ball } or nil
  return pn.objective { data = data, loss = pn.loss.squared(), set = set, clip = clip }
end

local function table_of(name)
  local data = load(name)
  local plain, clipped = problem(data), problem(data, 1)
  local best = 2 * plain:value(pn.solve.sufficient_statistics(plain, { privacy = false, progress = false }).theta)
  local constant = pn.vec.zeros(data.p)
  constant[data.p] = data.y:sum() / data.n
  local A, b = moments_of(data)
  local eigenvalue = least_eigenvalue(A)
  for text in asked.epsilon:gmatch "[%d.]+" do
    local epsilon = tonumber(text)
    local function by(solver, objective, own)
      return measure(runs, plain, best, function(rng)
        local options = { epsilon = epsilon, delta = delta, rng = rng, progress = false }
        for key, value in pairs(own or {}) do options[key] = value end
        options.ledger = pn.ledger { epsilon = epsilon, delta = delta, teaching = true }
        return solver(objective, options).theta
      end)
    end
    local third = ball and by(pn.solve.newton, plain) or measure(runs, plain, best, function(rng)
      return adassp(A, b, eigenvalue, math.sqrt(2), epsilon, delta, rng)
    end)
    print(row:format(name, text, ("%.3g"):format(1e3 * best), by(pn.solve.sufficient_statistics, plain, more),
      by(pn.solve.newton, clipped), third, ("%.3g"):format(1e3 * (2 * plain:value(constant) - best)),
      ("%.3g"):format(2e3 * pn.solve.sufficient_statistics.plan(plain, { epsilon = epsilon, delta = delta }).predicted)))
  end
end

for name in asked.data:gmatch "[%w_]+" do table_of(name) end
