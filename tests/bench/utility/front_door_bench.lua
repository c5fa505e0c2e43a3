-- front_door_bench.lua -- pn.model at its defaults beside the other solvers on the same rows, set and clip, and beside peers
-- (utility_peer.py) at the same relation.
--   penumbra tests/bench/utility/front_door_bench.lua [data=diabetes,...] [epsilon=0.1,...] [solvers=newton,...] [runs=N]
--     [peers=no]
-- A cell is the mean loss of the records held out (log loss; half the squared error of labels in [-1, 1]), +- the standard error
-- over the runs.  Bold: below the front door by two standard errors.  "no privacy": the minimum of the training loss over the same
-- set; "constant" the best constant prediction, without privacy too.  Noise is seeded so that the tables repeat; its law is that of
-- secure noise.  Needs PENUMBRA_DATA; peers need numpy and scipy ($PYTHON), and diffprivlib's a path to it in $DIFFPRIVLIB.
package.path = "tests/bench/utility/?.lua;" .. package.path
local pn = require "penumbra"
local peers = require "utility_peers"

local folder = os.getenv "PENUMBRA_DATA"
if not folder or folder == "" then
  print "skipped: PENUMBRA_DATA is not set"
  return
end

local asked = {
  data = "diabetes,winequality,cal_housing,breast_cancer,ijcnn1", epsilon = "0.1,1,4", runs = "8", peers = "yes",
  solvers = "newton,gradient_descent,sgd,objective_perturbation,accelerated_mirror_descent,sufficient_statistics",
}
for _, word in ipairs(arg or {}) do
  local key, value = word:match "^(%a+)=(.*)$"
  if not asked[key] then error("front_door_bench: unknown argument " .. word, 0) end
  asked[key] = value
end

local function list(key)
  local found = {}
  for word in asked[key]:gmatch "[^,]+" do found[#found + 1] = tonumber(word) or word end
  return found
end

-- ---- recipes: what is publicly known of the columns, never their values ----

-- The columns of a data set under the names prefix1, prefix2, ..., and its labels under `label`.
local function columns_of(data, prefix, label)
  local columns = { [label] = {} }
  for j = 1, data.p do columns[prefix .. j] = (data.X * pn.vec.basis(data.p, j)):table() end
  for i = 1, data.n do columns[label][i] = tostring(math.tointeger(data.y[i])) end
  return columns
end

local function numbered(prefix, low, high)
  local features = {}
  for j = 1, #high do features[prefix .. j] = { low[j] or low[1], high[j] } end
  return features
end

local sources = {
  -- Years, 1 or 2, kg/m^2, mm of mercury, six values of blood serum; a progression of the disease that is scored up to 350.
  diabetes = {
    kind = "linear", file = "diabetes.csv.gz", label = { target = { 0, 350 } },
    features = { age = { 18, 90 }, sex = { 1, 2 }, bmi = { 15, 50 }, bp = { 50, 150 }, s1 = { 80, 350 }, s2 = { 30, 250 },
      s3 = { 10, 100 }, s4 = { 1, 10 }, s5 = { 2.5, 7 }, s6 = { 50, 150 } },
  },
  -- Concentrations in g or mg a litre, pH and per cent, as oenology has them; grades.
  winequality = {
    kind = "linear", file = "winequality-red.csv.gz", csv = { sep = ";" }, label = { quality = { 0, 10 } },
    features = { ["fixed acidity"] = { 3, 17 }, ["volatile acidity"] = { 0, 2 }, ["citric acid"] = { 0, 1 },
      ["residual sugar"] = { 0, 20 }, chlorides = { 0, 0.7 }, ["free sulfur dioxide"] = { 0, 80 },
      ["total sulfur dioxide"] = { 0, 300 }, density = { 0.985, 1.01 }, pH = { 2.5, 4.5 }, sulphates = { 0, 2.5 },
      alcohol = { 7, 16 } },
  },
  -- Degrees of the state, years, counts of a census block, 10,000 dollars; dollars, cut at 500,001.
  cal_housing = {
    kind = "linear", file = "cal_housing.csv.gz", label = { medianHouseValue = { 0, 500001 } },
    features = { longitude = { -125, -114 }, latitude = { 32, 42 }, housingMedianAge = { 0, 60 }, totalRooms = { 0, 10000 },
      totalBedrooms = { 0, 2000 }, population = { 0, 5000 }, households = { 0, 2000 }, medianIncome = { 0, 15 } },
  },
  -- Ten measures of nuclei in pictures: their mean, standard error and largest value; ranges are round numbers above.
  breast_cancer = {
    kind = "logistic", label = { diagnosis = { "0", "1" } },
    columns = function()
      return columns_of(pn.data.csv(folder .. "/breast_cancer.csv.gz", { header = true }), "m", "diagnosis")
    end,
    features = numbered("m", { 0 }, { 40, 50, 250, 3000, 0.2, 0.5, 0.5, 0.3, 0.4, 0.1, 3, 5, 25, 600, 0.05, 0.2, 0.5, 0.1, 0.1,
      0.05, 50, 60, 300, 5000, 0.3, 1.5, 1.5, 0.4, 0.7, 0.3 }),
  },
  -- Ten flags and twelve signals around 0 of an engine, scaled to about 1 by who prepared the file; its first
  -- 20,000 records, whose flags go round: every tenth has the same one.
  ijcnn1 = {
    kind = "logistic", label = { misfire = { "-1", "1" } },
    columns = function()
      return columns_of(pn.data.libsvm(folder .. "/ijcnn1.gz", { cols = 22, sparse = false }):take(20000), "x", "misfire")
    end,
    features = numbered("x", { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 },
      { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 }),
  },
}

local losses = { linear = "squared", logistic = "logistic" }

-- ---- runs ----

local function load(name)
  local of = sources[name] or error("front_door_bench: no data set is called " .. name, 0)
  local data = of.columns and of.columns() or folder .. "/" .. of.file
  local function model(epsilon, run)
    local options = { data = data, csv = of.csv, recipe = { label = of.label, features = of.features }, epsilon = epsilon,
      rng = pn.rng.seeded(run) }
    if not epsilon then options.privacy = false end
    return pn.model[of.kind](options)
  end
  local plain = model(nil, 1)
  local wide = pn.set.l2_ball { dim = plain.train.p, radius = 1e6 }
  local test = pn.objective { data = plain.test, loss = pn.loss[losses[of.kind]](), set = wide }
  return { name = name, kind = of.kind, model = model, train = plain.train, test = plain.test, set = plain.plan.objective.set,
    value = function(theta) return test:value(theta) end }
end

-- Of the least training loss over the set of the models, and of the best constant.
local function controls(at)
  local loss = pn.loss[losses[at.kind]]()
  local plain = pn.objective { data = at.train, loss = loss, set = at.set }
  local ok, fit = pcall(pn.solve.exact, plain, { tol = 1e-6, max_iterations = 20000 })
  local only, one = pn.vec.zeros(at.train.p), at.train.X * pn.vec.basis(at.train.p, at.train.p)
  local mean = at.train.y:sum() / at.train.n
  only[at.train.p] = (at.kind == "linear" and mean or math.log((1 + mean) / (1 - mean))) / one[1]
  return ok and at.value(fit.theta) or 0 / 0, at.value(only)
end

local function ours(at, epsilon)
  local values, solver = {}, nil
  for run = 1, list "runs"[1] do
    local m = at.model(epsilon, run)
    values[run], solver, at.delta, at.objective = at.value(m.fit.theta), m.plan.solver, m.delta, m.plan.objective
  end
  local cell = peers.cell(values)
  cell.solver = solver
  return cell
end

local function other(at, solver, epsilon)
  local values, objective = {}, at.objective
  if solver == "sufficient_statistics" then -- which takes no clip=
    objective = pn.objective { data = at.train, loss = pn.loss[losses[at.kind]](), set = at.set }
  end
  local ok, plan = pcall(pn.solve[solver].plan, objective, { epsilon = epsilon, delta = at.delta })
  if not ok then return nil end
  for run = 1, list "runs"[1] do values[run] = at.value(plan:run { rng = pn.rng.seeded(run) }.theta) end
  return peers.cell(values)
end

-- ---- the table ----

local function shown(cell, front)
  if not cell then return "-" end
  local text = (cell.mean < 10 and "%.4f ±%.4f" or "%.3g ±%.1g"):format(cell.mean, cell.error)
  local ahead = front and front.mean - cell.mean > 2 * math.sqrt(front.error ^ 2 + cell.error ^ 2)
  return ahead and "**" .. text .. "**" or text
end

local function row(name, cells, front)
  local out = { ("%-26s"):format(name) }
  for k = 1, #list "epsilon" do out[k + 1] = shown(cells[k], front and front[k]) end
  print("| " .. table.concat(out, " | ") .. " |")
end

local function peer_rows(at, front)
  local rows, names = {}, {}
  for k, epsilon in ipairs(list "epsilon") do
    local found = peers.run { rows = at.train, test = at.test, loss = losses[at.kind], relation = "replace_one", epsilon = epsilon,
      delta = at.delta, runs = list "runs"[1] }
    for name, cell in pairs(found) do
      if not rows[name] then rows[name], names[#names + 1] = {}, name end
      rows[name][k] = cell
    end
  end
  table.sort(names)
  for _, name in ipairs(names) do row("peer: " .. name, rows[name], front) end
end

for _, name in ipairs(list "data") do
  local at = load(name)
  local best, constant = controls(at)
  print(("\n%s, %s: n = %d, p = %d, %d held out; no privacy %.4f, constant %.4f\n"):format(name, at.kind, at.train.n, at.train.p,
    at.test.n, best, constant))
  print("| " .. at.kind .. " | " .. table.concat(list "epsilon", " | ") .. " |")
  print("|---|" .. ("---|"):rep(#list "epsilon"))
  local front, others, chosen = {}, {}, {}
  for _, solver in ipairs(list "solvers") do others[solver] = {} end
  for k, epsilon in ipairs(list "epsilon") do
    front[k] = ours(at, epsilon)
    chosen[k] = front[k].solver
    for _, solver in ipairs(list "solvers") do others[solver][k] = other(at, solver, epsilon) end
  end
  row("pn.model", front)
  print("|   which takes | " .. table.concat(chosen, " | ") .. " |")
  for _, solver in ipairs(list "solvers") do row(solver, others[solver], front) end
  if asked.peers == "yes" then peer_rows(at, front) end
end
