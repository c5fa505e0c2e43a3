-- ranges.lua -- pn.recipe.estimate: ranges of columns that nobody knows, from the records, for a price.
-- Depends on: penumbra.call, penumbra.cell (bindings/core/lprint.c).  Used by: penumbra.model.
--
-- Of each open column two quantiles, tail and 1 - tail, are released by the exponential mechanism over a grid that is the same
-- for every file: 0 and +-2^(k/2), k = -40 .. 120.  A record moves the rank of a candidate by at most 1, so a quantile at epsilon
-- costs epsilon^2/8 as zCDP; k columns at rho have epsilon = sqrt(8 rho/(2 k)) each, or epsilon/(2 k) of a pure epsilon.  Most
-- of the grid lies beyond the records, where all candidates have the same rank: weights exp(-1/2) a step away from 0, which are
-- public, keep their number from winning.
--
-- With probability 0.95 the rank is off by at most (2/epsilon) ln(G/0.05) beyond the best candidate, G the size of the grid.
-- Where twice that exceeds tail n the quantile would say nothing of the records: n is public, and the call is refused before
-- anything is spent.  A range that is wrong costs accuracy, never privacy: values are clipped to it.
local call = require "penumbra.call"
local cell = require "penumbra.cell"

local shown = call.shown
local error, ipairs, next, pairs, setmetatable, type = error, ipairs, next, pairs, setmetatable, type
local concat, format, sort = table.concat, string.format, table.sort
local abs, ceil, log, sqrt, huge = math.abs, math.ceil, math.log, math.sqrt, math.huge

local ranges = {}

local TAIL, SHARE, LEAN = 0.05, 0.1, 0.5
local FAR = 2.0 ^ 62 -- values beyond are clipped to it before they are ranked

local function grid()
  local points = {}
  for k = 120, -40, -1 do points[#points + 1] = -2.0 ^ (k / 2) end
  points[#points + 1] = 0.0
  for k = -40, 120 do points[#points + 1] = 2.0 ^ (k / 2) end
  return points
end

local function fail(...) error("recipe.estimate: " .. format(...), 0) end

-- ---- which columns are open ----

local function is_open(spec)
  return spec == "number" or type(spec) == "table" and spec.range == "private"
end

-- Of a table of features: names in order, what is said of each, and whether it is a list.
local function features_of(features)
  local names, specs = {}, {}
  if type(features) ~= "table" then fail("recipe needs features = {column = ...}, got %s", type(features)) end
  if #features > 0 then
    for k, one in ipairs(features) do
      if type(one) ~= "table" or type(one.name) ~= "string" then fail("feature %d of the list needs name =", k) end
      names[k], specs[one.name] = one.name, one
    end
    return names, specs, true
  end
  for name, spec in next, features do names[#names + 1], specs[name] = name, spec end
  sort(names)
  return names, specs, false
end

-- Open columns, the label's last: {name=, spec=, label=}.
function ranges.open_of(recipe)
  local open, names, specs = {}, features_of(recipe.features)
  for _, name in ipairs(names) do
    if is_open(specs[name]) then open[#open + 1] = { name = name, spec = specs[name] } end
  end
  if type(recipe.label) == "table" then
    local name, spec = next(recipe.label)
    if type(name) == "string" and is_open(spec) then open[#open + 1] = { name = name, spec = spec, label = true } end
  end
  return open
end

-- ---- the price ----

local function each_epsilon(options, queries)
  local epsilon, rho = options.epsilon, options.rho
  if (epsilon == nil) == (rho == nil) then fail("give epsilon or rho, the price of all ranges together") end
  for name, value in pairs { epsilon = epsilon, rho = rho } do
    if type(value) ~= "number" or not (value > 0 and value < huge) then
      fail("%s must be a positive number, got %s", name, shown(value))
    end
  end
  return epsilon and epsilon / queries or sqrt(8 * rho / queries)
end

local function check_records(n, epsilon, tail, points)
  local least = ceil(2 * (2 / epsilon) * log(points / 0.05) / tail)
  if n < least then
    fail("%d records are too few: a quantile at epsilon = %.3g needs %d; state the ranges of more columns, or give their "
      .. "estimation a larger price", n, epsilon, least)
  end
end

-- ---- the answers ----

-- The raw values of open columns as a data set, and the scale of each column.
local function records(with, recipe, open, options)
  local list = {}
  for k, one in ipairs(open) do
    local missing = type(one.spec) == "table" and one.spec.missing or recipe.missing
    if missing == "indicator" then missing = 0 end
    list[k] = { name = one.name, -FAR, FAR, missing = missing }
  end
  local reader = with.recipe { features = list, intercept = false, norm = "linf", na = recipe.na }
  local scale = {}
  for k, feature in ipairs(reader:features()) do scale[k] = feature.scale end
  local data = options.data
  return type(data) == "table" and reader:data(data) or reader:data(data, options.csv), scale
end

local function quantile(with, d, column, points, scale, q, epsilon, ledger, rng)
  local candidates = {}
  for k, point in ipairs(points) do candidates[k] = point * scale end
  local answer = with.quantile { data = d, column = column, candidates = candidates, q = q, epsilon = epsilon, lean = LEAN,
    ledger = ledger, rng = rng, label = "recipe.estimate" }
  for k, candidate in ipairs(candidates) do
    if candidate == answer.value then return points[k] end
  end
end

local function copy(t)
  local out = {}
  for k, v in pairs(t) do out[k] = v end
  return out
end

-- The recipe with any ranges in the open columns: what is wrong with its other parts shows before anything is paid.
function ranges.trial(with, recipe)
  local any = {}
  for _, one in ipairs(ranges.open_of(recipe)) do any[one.name] = { low = -FAR, high = FAR, label = one.label } end
  return with.recipe(ranges.filled(recipe, any))
end

-- `spec` with the range.
local function closed(spec, low, high)
  local out = type(spec) == "table" and copy(spec) or {}
  out.range, out[1], out[2] = nil, low, high
  return out
end

function ranges.filled(recipe, found)
  local out, names, specs, listed = copy(recipe), features_of(recipe.features)
  out.ranges, out.features = nil, {}
  for k, name in ipairs(names) do
    local range = found[name]
    local spec = range and not range.label and closed(specs[name], range.low, range.high) or specs[name]
    out.features[listed and k or name] = spec
  end
  for name, range in pairs(found) do
    if range.label then out.label = { [name] = closed(out.label[name], range.low, range.high) } end
  end
  return out
end

local report = { __name = "pn.ranges", __metatable = false }

function report.__tostring(r)
  local lines = { format("ranges, estimated: quantiles %.3g and %.3g, epsilon = %.4g for each", r.tail, 1 - r.tail, r.epsilon) }
  for _, one in ipairs(r) do
    lines[#lines + 1] = format("  %s %10.6g to %.6g", cell(one.name, 16), one.low, one.high)
  end
  return concat(lines, "\n")
end

ranges.params = {
  { name = "data", expects = "a path or a table of columns", required = true, doc = "a CSV file with the open columns" },
  { name = "recipe", expects = "a table", required = true, doc = "as pn.recipe takes it, with open columns" },
  { name = "epsilon", expects = "a number", required = false, doc = "pure price of all ranges together; this or rho" },
  { name = "rho", expects = "a number", required = false, doc = "the price as zCDP: less noise where there are many columns" },
  { name = "ledger", expects = "a pn.ledger", required = true, doc = "pays; replace_one or zero_out" },
  { name = "tail", expects = "a number", required = false, default = TAIL, doc = "share of records beyond each end, about" },
  { name = "csv", expects = "a table", required = false, doc = "how the file is read: {sep=, decimal=, encoding=, header=}" },
  { name = "rng", expects = "a pn.rng", required = false, doc = "a secure stream; a seeded one makes it a simulation" },
}

local function check_options(options)
  call.check("recipe.estimate", ranges.params, options)
  if type(options.recipe) ~= "table" then fail("recipe must be a table, as pn.recipe takes it, got %s", type(options.recipe)) end
  if type(options.data) ~= "string" and type(options.data) ~= "table" then
    fail("data must be the path of a CSV file or a table of columns, got %s", type(options.data))
  end
  local tail = options.tail or TAIL
  if type(tail) ~= "number" or not (tail > 0 and tail < 0.5) then
    fail("tail must be a number between 0 and 0.5, got %s", shown(tail))
  end
  return tail
end

-- price(n): the epsilon of each of so many quantiles, and the ledger.
function ranges.run(with, options, price)
  local tail, points = check_options(options), grid()
  local open = ranges.open_of(options.recipe)
  if #open == 0 then
    fail('no column is open; say "number", or {range = "private", missing = ...}, of those whose range nobody knows')
  end
  local d, scale = records(with, options.recipe, open, options)
  local epsilon, ledger = price(d.n, 2 * #open)
  if ledger.neighbours == "add_remove" then
    fail("under add_remove the number of records is private, and ranks are of it; use replace_one or zero_out")
  end
  check_records(d.n, epsilon, tail, #points)
  if not ledger:covers(with.event { epsilon = epsilon }, 2 * #open) then
    fail("the ledger does not cover %d quantiles at epsilon = %.4g; nothing was charged", 2 * #open, epsilon)
  end
  local found, out = {}, { epsilon = epsilon, tail = tail }
  for column, one in ipairs(open) do
    local low = quantile(with, d, column, points, scale[column], tail, epsilon, ledger, options.rng)
    local high = quantile(with, d, column, points, scale[column], 1 - tail, epsilon, ledger, options.rng)
    if low > high then low, high = high, low end
    if low > 0 and low < high / 1024 then low = 0 end -- one of the tiny candidates about 0
    if high < 0 and high > low / 1024 then high = 0 end
    if low == high then -- a range needs two ends
      local half = low == 0 and 1 or abs(low) / 2
      low, high = low - half, high + half
    end
    found[one.name] = { low = low, high = high, label = one.label }
    out[column] = { name = one.name, low = low, high = high }
  end
  return with.recipe(ranges.filled(options.recipe, found)), setmetatable(out, report)
end

-- pn.recipe.estimate
function ranges.estimate(with, options)
  return ranges.run(with, options, function(_, queries)
    local epsilon = each_epsilon(options, queries)
    if not options.ledger then fail("ledger is missing; give ledger = pn.ledger{epsilon = ...}, which is charged") end
    return epsilon, options.ledger
  end)
end

-- For a model: a share of its price, as zCDP, from the ledger that pays for both.
function ranges.part(with, options, ledger_of)
  local share = options.share or SHARE
  if type(share) ~= "number" or not (share > 0 and share < 1) then
    fail("share must be a number between 0 and 1, got %s", shown(share))
  end
  local paid
  local recipe, found = ranges.run(with, { data = options.data, recipe = options.recipe, csv = options.csv, rng = options.rng },
    function(n, queries)
      paid = ledger_of(n)
      local rho = options.rho or 1 / (2 * with.sigma { epsilon = options.epsilon, delta = paid.delta, sensitivity = 1 } ^ 2)
      return sqrt(8 * share * rho / queries), paid
    end)
  return recipe, found, paid
end

-- The largest epsilon of Gaussian noise that the ledger has room for beside the ranges: composed with them, which is more than
-- what it has left for anything.
function ranges.rest(with, ledger)
  local delta, low, high = ledger.delta, ledger.remaining, ledger.epsilon
  for _ = 1, 40 do
    local middle = (low + high) / 2
    local event = with.gaussian { sigma = with.sigma { epsilon = middle, delta = delta, sensitivity = 1 }, sensitivity = 1 }
    if ledger:covers(event) then low = middle else high = middle end
  end
  return low * (1 - 1e-5) -- plans round their noise up a little
end

return ranges
