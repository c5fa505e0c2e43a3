-- ranges.lua -- pn.recipe.estimate: ranges and levels of columns that nobody knows, from the records, for a price.
-- Depends on: penumbra.call, penumbra.cell (bindings/core/lprint.c).  Used by: penumbra.model.
--
-- Of each open column two quantiles, tail and 1 - tail, are released by the exponential mechanism over a grid that is the same
-- for every file: 0 and +-2^(k/2), k = -40 .. 120.  A record moves the rank of a candidate by at most 1, so a quantile at epsilon
-- costs epsilon^2/8 as zCDP; k columns at rho have epsilon = sqrt(8 rho/(2 k)) each, or epsilon/(2 k) of a pure epsilon.  Most
-- of the grid lies beyond the records, where all candidates have the same rank: weights exp(-1/2) a step away from 0, which are
-- public, keep their number from winning.
--
-- Levels of a column are released by pn.query.levels, all columns at once and first: a ledger sets the part of delta for them aside
-- at its first charge.  Columns share the price alike: of rho each, a range has two quantiles at sqrt(4 rho), levels epsilon =
-- sqrt(2 rho), since a pure epsilon costs epsilon^2/2 at most; of a pure epsilon each, a range has half of it for each quantile.
--
-- With probability 0.95 the rank is off by at most (2/epsilon) ln(G/0.05) beyond the best candidate, G the size of the grid.
-- Where twice that exceeds tail n the quantile would say nothing of the records: n is public, and the call is refused before
-- anything is spent.  A range that is wrong costs accuracy, never privacy: values are clipped to it.
local call = require "penumbra.call"
local cell = require "penumbra.cell"

local shown = call.shown
local error, ipairs, next, pairs, setmetatable, type = error, ipairs, next, pairs, setmetatable, type
local concat, format, insert, sort = table.concat, string.format, table.insert, table.sort
local abs, ceil, log, sqrt, huge = math.abs, math.ceil, math.log, math.sqrt, math.huge

local ranges = {}

local TAIL, SHARE, LEAN = 0.05, 0.1, 0.5
local PART = 0.2 -- of a model's delta for levels: its ledger sets half of delta aside for such events, and counts them twice
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

local function is_category(spec)
  return spec == "category" or type(spec) == "table" and spec.levels == "private"
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

-- Open columns, those without levels last: {name=, spec=, label=, category=}.
function ranges.open_of(recipe)
  local open, names, specs = {}, features_of(recipe.features)
  for _, name in ipairs(names) do
    if is_open(specs[name]) then open[#open + 1] = { name = name, spec = specs[name] } end
  end
  if type(recipe.label) == "table" then
    local name, spec = next(recipe.label)
    if type(name) == "string" and is_open(spec) then open[#open + 1] = { name = name, spec = spec, label = true } end
  end
  for _, name in ipairs(names) do
    if is_category(specs[name]) then open[#open + 1] = { name = name, spec = specs[name], category = true } end
  end
  return open
end

-- ---- the price ----

-- What each quantile and each column's levels cost, of a price for all `columns` together.
local function by_rho(rho, columns)
  return sqrt(4 * rho / columns), sqrt(2 * rho / columns)
end

local function by_price(options, columns)
  local epsilon, rho = options.epsilon, options.rho
  if (epsilon == nil) == (rho == nil) then fail("give epsilon or rho, the price of all ranges together") end
  for name, value in pairs { epsilon = epsilon, rho = rho } do
    if type(value) ~= "number" or not (value > 0 and value < huge) then
      fail("%s must be a positive number, got %s", name, shown(value))
    end
  end
  if rho then return by_rho(rho, columns) end
  return epsilon / columns / 2, epsilon / columns
end

local function check_records(n, price, tail, points, ranges_open, relation)
  local least = ceil(2 * (2 / price.epsilon) * log(points / 0.05) / tail)
  if ranges_open > 0 and n < least then
    fail("%d records are too few: a quantile at epsilon = %.3g needs %.10g; state the ranges of more columns, or give their "
      .. "estimation a larger price", n, price.epsilon, least)
  end
  if price.columns == 0 then return end
  local threshold = 1 + (relation == "replace_one" and 2 or 1) * log(price.columns / (2 * price.delta)) / price.levels
  if n < 2 * threshold then
    fail("%d records are too few: a level would have to come %.10g times to be kept, at epsilon = %.3g and delta = %.3g of "
      .. "a column; state the levels of more columns, or give their estimation a larger price", n, ceil(threshold), price.levels,
      price.delta / price.columns)
  end
end

-- Of so many quantiles and columns of levels, as one event: what the ledger has to cover.
local function whole(with, price, quantiles)
  local parts, relation = {}, price.ledger.neighbours
  if price.columns > 0 then
    parts[1] = with.repeated(with.approximate { epsilon = price.levels, delta = price.delta / price.columns,
      neighbours = relation }, price.columns)
  end
  if quantiles > 0 then
    parts[#parts + 1] = with.repeated(with.event { epsilon = price.epsilon, neighbours = relation }, quantiles)
  end
  return #parts == 1 and parts[1] or with.compose(parts)
end

-- ---- the answers ----

-- The raw values of open columns as a data set, and the scale of each column.
local function records(with, recipe, open, options)
  local list = {}
  for k, one in ipairs(open) do
    local missing = type(one.spec) == "table" and one.spec.missing or recipe.missing
    if one.category then
      list[k] = { name = one.name, "-", missing = "indicator" }
    else
      list[k] = { name = one.name, -FAR, FAR, missing = missing == "indicator" and 0 or missing }
    end
  end
  local reader = with.recipe { features = list, intercept = false, norm = "linf", na = recipe.na }
  local scale = {}
  for k, feature in ipairs(reader:features()) do scale[k] = feature.scale end -- ranges come first, a feature each
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

-- Those of all columns, which pn.recipe takes: {"flag"} alone would be something else, and holes have a feature of that name.
local function levels(with, recipe, open, options, price)
  local names, found = {}, {}
  for _, one in ipairs(open) do
    if one.category then names[#names + 1] = one.name end
  end
  if #names == 0 then return found end
  local answer = with.levels { data = options.data, columns = names, epsilon = price.levels * price.columns, delta = price.delta,
    na = recipe.na, csv = options.csv, ledger = price.ledger, rng = options.rng, label = "recipe.estimate" }
  for _, one in ipairs(open) do
    local missing, kept = type(one.spec) == "table" and one.spec.missing or recipe.missing, {}
    for _, level in ipairs(answer.levels[one.name] or kept) do
      if level ~= "missing" or missing ~= "indicator" then kept[#kept + 1] = level end
    end
    if #kept == 1 and (kept[1] == "flag" or kept[1] == "date") then kept[2] = "-" end
    if one.category then found[one.name] = { levels = kept, threshold = answer.threshold } end
  end
  return found
end

local function copy(t)
  local out = {}
  for k, v in pairs(t) do out[k] = v end
  return out
end

-- The recipe with any ranges in the open columns: what is wrong with its other parts shows before anything is paid.
function ranges.trial(with, recipe)
  local any = {}
  for _, one in ipairs(ranges.open_of(recipe)) do
    any[one.name] = one.category and { levels = { "-" } } or { low = -FAR, high = FAR, label = one.label }
  end
  return with.recipe(ranges.filled(recipe, any))
end

-- `spec` with the range, or with the levels; nil for a column of which no level came often enough.
local function closed(spec, found)
  local out = type(spec) == "table" and copy(spec) or {}
  out.range, out.levels = nil, nil
  if not found.levels then out[1], out[2] = found.low, found.high end
  for k, level in ipairs(found.levels or {}) do out[k] = level end
  return #out > 0 and out or nil
end

function ranges.filled(recipe, found)
  local out, names, specs, listed = copy(recipe), features_of(recipe.features)
  out.ranges, out.features = nil, {}
  for _, name in ipairs(names) do
    local range = found[name]
    local spec = specs[name]
    if range and not range.label then spec = closed(spec, range) end
    if spec ~= nil then out.features[listed and #out.features + 1 or name] = spec end
  end
  if next(out.features) == nil then fail("no level of any column came often enough to be kept, and there are no other columns") end
  for name, range in pairs(found) do
    if range.label then out.label = { [name] = closed(out.label[name], range) } end
  end
  return out
end

local report = { __name = "pn.ranges", __metatable = false }

function report.__tostring(r)
  local lines = {}
  for _, one in ipairs(r) do
    if not one.levels then lines[#lines + 1] = format("  %s %10.6g to %.6g", cell(one.name, 16), one.low, one.high) end
  end
  if lines[1] then
    insert(lines, 1, format("ranges, estimated: quantiles %.3g and %.3g, epsilon = %.4g for each", r.tail, 1 - r.tail, r.epsilon))
  end
  if r.threshold then
    lines[#lines + 1] = format("levels, estimated: those of %.0f records or more by a noisy count, epsilon = %.4g, delta = %.3g",
      r.threshold, r.levels_epsilon, r.delta)
  end
  for _, one in ipairs(r) do
    if one.levels then
      lines[#lines + 1] = format("  %s %s", cell(one.name, 16), one.levels[1] and #one.levels .. " and \"other\""
        or "none: the column was left out")
    end
  end
  return concat(lines, "\n")
end

ranges.params = {
  { name = "data", expects = "a path or a table of columns", required = true, doc = "a CSV file with the open columns" },
  { name = "recipe", expects = "a table", required = true, doc = "as pn.recipe takes it, with open columns" },
  { name = "epsilon", expects = "a number", required = false, doc = "pure price of all ranges together; this or rho" },
  { name = "rho", expects = "a number", required = false, doc = "the price as zCDP: less noise where there are many columns" },
  { name = "delta", expects = "a number", required = false, doc = "with open levels: their delta, for all columns together" },
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

-- The two ends, in order and apart.
local function ends(low, high)
  if low > high then low, high = high, low end
  if low > 0 and low < high / 1024 then low = 0 end -- one of the tiny candidates about 0
  if high < 0 and high > low / 1024 then high = 0 end
  if low == high then -- a range needs two ends
    local half = low == 0 and 1 or abs(low) / 2
    low, high = low - half, high + half
  end
  return low, high
end

-- What the recipe is to say of the price.
local function paid(open, price, quantiles, options)
  local names = {}
  for k, one in ipairs(open) do names[k] = one.name end
  return { columns = names, epsilon = quantiles * price.epsilon + price.columns * price.levels, delta = price.delta,
    rho = price.columns == 0 and quantiles * price.epsilon ^ 2 / 8 or nil, neighbours = price.ledger.neighbours,
    simulated = options.rng ~= nil and options.rng.simulated }
end

local function count(open)
  local columns = 0
  for _, one in ipairs(open) do
    if one.category then columns = columns + 1 end
  end
  return columns, #open - columns
end

-- price(n, open, categories): {epsilon= of each quantile, levels= the epsilon of a column's, delta= of all levels, ledger=}.
function ranges.run(with, options, price_of)
  local tail, points = check_options(options), grid()
  local open = ranges.open_of(options.recipe)
  if #open == 0 then
    fail('no column is open; say "number" of those whose range nobody knows, "category" of those whose levels nobody knows, or '
      .. '{range = "private", missing = ...}, {levels = "private", missing = ...}')
  end
  ranges.trial(with, options.recipe)
  local columns, numbers = count(open)
  local d, scale = records(with, options.recipe, open, options)
  local price = price_of(d.n, #open, columns)
  price.columns, price.delta = columns, columns > 0 and price.delta or 0
  if price.ledger.neighbours == "add_remove" then
    fail("under add_remove the number of records is private, and ranks are of it; use replace_one or zero_out")
  end
  if columns > 0 and not (price.ledger.delta and price.ledger.delta > 0) then
    fail("levels need a delta, and the ledger has none: state the levels, or give pn.ledger{epsilon =, delta =}")
  end
  check_records(d.n, price, tail, #points, numbers, price.ledger.neighbours)
  if not price.ledger:covers(whole(with, price, 2 * numbers)) then
    local parts = {}
    if numbers > 0 then parts[1] = format("%d quantiles at epsilon = %.4g", 2 * numbers, price.epsilon) end
    if columns > 0 then
      parts[#parts + 1] = format("the levels of %d columns at epsilon = %.4g and delta = %.3g each", columns, price.levels,
        price.delta / columns)
    end
    fail("the ledger does not cover %s; nothing was charged", concat(parts, " and "))
  end
  local found = levels(with, options.recipe, open, options, price)
  local out = { epsilon = price.epsilon, tail = tail }
  if columns > 0 then out.levels_epsilon, out.delta = price.levels, price.delta / columns end
  for column, one in ipairs(open) do
    if one.category then
      out[column] = { name = one.name, levels = found[one.name].levels }
      out.threshold = found[one.name].threshold
    else
      local low, high = ends(quantile(with, d, column, points, scale[column], tail, price.epsilon, price.ledger, options.rng),
        quantile(with, d, column, points, scale[column], 1 - tail, price.epsilon, price.ledger, options.rng))
      found[one.name] = { low = low, high = high, label = one.label }
      out[column] = { name = one.name, low = low, high = high }
    end
  end
  local recipe = ranges.filled(options.recipe, found)
  recipe.estimated = paid(open, price, 2 * numbers, options)
  return with.recipe(recipe), setmetatable(out, report)
end

-- pn.recipe.estimate
function ranges.estimate(with, options)
  return ranges.run(with, options, function(_, open, categories)
    local epsilon, each = by_price(options, open)
    if not options.ledger then fail("ledger is missing; give ledger = pn.ledger{epsilon = ...}, which is charged") end
    local delta = options.delta
    if categories > 0 and not (type(delta) == "number" and delta > 0 and delta < 1) then
      fail("levels need delta, the probability that one is released which a single record has: a number between 0 and 1, got %s; "
        .. "or state the levels", shown(delta))
    end
    return { epsilon = epsilon, levels = each, delta = delta, ledger = options.ledger }
  end)
end

-- For a model: a share of its price, as zCDP, from the ledger that pays for both.
function ranges.part(with, options, ledger_of)
  local share = options.share or SHARE
  if type(share) ~= "number" or not (share > 0 and share < 1) then
    fail("share must be a number between 0 and 1, got %s", shown(share))
  end
  local paid_from
  local recipe, found = ranges.run(with, { data = options.data, recipe = options.recipe, csv = options.csv, rng = options.rng },
    function(n, open, categories)
      if categories > 0 and options.rho then
        fail("levels need a delta, and a budget of rho has none: state the levels, or give epsilon in place of rho")
      end
      paid_from = ledger_of(n)
      local rho = options.rho or 1 / (2 * with.sigma { epsilon = options.epsilon, delta = paid_from.delta, sensitivity = 1 } ^ 2)
      local epsilon, each = by_rho(share * rho, open)
      return { epsilon = epsilon, levels = each, delta = categories > 0 and PART * paid_from.delta or nil, ledger = paid_from }
    end)
  return recipe, found, paid_from
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
