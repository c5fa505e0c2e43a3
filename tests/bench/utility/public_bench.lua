-- public_bench.lua -- what public= of pn.model gains: held-out error with and without, and of the public model alone.
-- A fifth of each data set is held out, of the rest the share (3 %, or $PUBLIC_SHARE) is declared public.  Prints a table in
-- Markdown of mean and standard error over the seeds.
-- Run: PENUMBRA_DATA=folder penumbra tests/bench/utility/public_bench.lua [set kind]
package.path = (arg[0]:match "^(.*)/[^/]*$" or ".") .. "/?.lua;" .. package.path
local pn = require "penumbra"
local sets = require "utility_data"

local SEEDS, MOST = 8, 20000
local share = tonumber(os.getenv "PUBLIC_SHARE") or 0.03

-- The public records of the north alone: from about 37.8 degrees, which are .1 as latitudes are scaled and rows clipped.
local function northern(d)
  local X, y = {}, {}
  for i = 1, d.n do
    if d.X:get(i, 2) > 0.1 then X[#X + 1], y[#y + 1] = d.X[i]:table(), d.y[i] end
  end
  return pn.data.from(pn.mat(X), pn.vec(y)):clip_rows("l2", 1):clip_labels(-1, 1)
end

local cases = arg[1] and { { arg[1], arg[2] } } or
    { { "abalone", "linear" }, { "cal_housing", "linear" }, { "abalone", "logistic" }, { "ijcnn1", "logistic" },
      { "cal_housing", "linear", northern } }

-- What is asked of public=, but for the records.
local off = { offset = false, moment = false, prior = false }
local function only(kind, names)
  local all = {}
  for name, value in pairs(off) do all[name] = value end
  for _, name in ipairs(names) do all[name] = true end
  if kind == "logistic" then all.offset = nil end
  return all
end

local variants = {
  { "start", {} }, { "offset", { "offset" } }, { "start, moment", { "moment" } }, { "start, prior", { "prior" } },
  { "offset, moment", { "offset", "moment" } }, { "offset, prior", { "offset", "prior" } },
  { "start, moment, prior", { "moment", "prior" } }, { "offset, moment, prior", { "offset", "moment", "prior" } },
}

local function load(name, kind)
  local d = sets.load(name, kind == "linear" and "real" or "binary")
  return d.n > MOST and d:shuffle(pn.rng.seeded(1)):take(MOST) or d
end

-- Root mean square error, or log loss.
local function error_of(kind, test, theta)
  local value = pn.objective { data = test, loss = kind == "linear" and pn.loss.squared() or pn.loss.logistic() }:value(theta)
  return kind == "linear" and math.sqrt(2 * value) or value
end

local function summary(list)
  local mean, square = 0, 0
  for _, x in ipairs(list) do mean = mean + x / #list end
  for _, x in ipairs(list) do square = square + (x - mean) ^ 2 end
  return ("%.4f ±%.4f"):format(mean, math.sqrt(square / #list / (#list - 1)))
end

local function run(name, kind, epsilon, of)
  local d, found, order = load(name, kind), {}, {}
  local function add(what, value)
    if not found[what] then found[what], order[#order + 1] = {}, what end
    table.insert(found[what], value)
  end
  for seed = 1, SEEDS do
    local test, rest = d:split(0.2, pn.rng.seeded(seed))
    local open, secret = rest:split(share, pn.rng.seeded(seed))
    if of then open = of(open) end
    local function train(public)
      return pn.model[kind] { data = secret, test = false, epsilon = epsilon, public = public, rng = pn.rng.seeded(100 + seed) }
    end
    add("none", error_of(kind, test, train().fit.theta))
    for k, variant in ipairs(variants) do
      if kind == "linear" or not variant[1]:find "offset" then
        local public = only(kind, variant[2])
        public.data = open
        local m = train(public)
        if k == 1 then add("public model alone", error_of(kind, test, m.public.theta)) end
        add(variant[1], error_of(kind, test, m.fit.theta))
      end
    end
  end
  return found, order
end

for _, case in ipairs(cases) do
  local low, order = run(case[1], case[2], 0.1, case[3])
  local high = run(case[1], case[2], 1, case[3])
  print(("\n%s, %s%s\n\n| public= | epsilon 0.1 | 1 |\n|---|---|---|"):format(case[1], case[2],
    case[3] and ", public records of the north" or ""))
  for _, what in ipairs(order) do print(("| %s | %s | %s |"):format(what, summary(low[what]), summary(high[what]))) end
end
