-- tuning/read.lua -- the options of pn.tune: what is taken, copied without metamethods, and what is refused and why.
-- Depends on: nothing.  Used by: penumbra.tuning.run.
local error, math_type, next, rawget, rawlen, tostring, type = error, math.type, next, rawget, rawlen, tostring, type
local format, sort, concat, huge, ln_2 = string.format, table.sort, table.concat, math.huge, math.log(2)

local MOST = 1000 -- combinations, which are all planned beforehand
local DEPTH = 3

local function fail(...) error("tune: " .. format(...), 0) end

local function is_number(x) return type(x) == "number" and x > -huge and x < huge end

local refused = {}
for _, name in next, { "runs", "repeats", "trials", "count", "K" } do
  refused[name] = "a number of runs that is fixed, or known to anyone, costs as much as all of them; give mean, the expected number"
end
for _, name in next, { "progress", "on_step", "trace" } do
  refused[name] = "it would tell how many runs there were, on whose secrecy the price rests"
end
for _, name in next, { "data", "train", "valid", "test", "parts" } do
  refused[name] = "give the objective of all records; one of each `holdout` in a row is held out, by its position alone"
end

local known = {}
for _, name in next, { "solver", "objective", "grid", "options", "score", "range", "epsilon", "delta", "neighbours", "ledger",
  "accountant", "mean", "target", "holdout", "pad", "rng" } do
  known[name] = true
end

-- What a run has of the search, and no script says.
local of_the_search = {}
for _, name in next, { "epsilon", "delta", "rho", "privacy", "neighbours", "ledger", "rng", "progress", "on_step", "accountant" } do
  of_the_search[name] = true
end

local function check_name(name, where)
  if type(name) ~= "string" then fail("expected option = value in %s, got the key %s", where, tostring(name)) end
  if of_the_search[name] then
    fail("%s belongs to the search as a whole, not to %s; each run has its share of epsilon and delta", name, where)
  end
end

-- Anything but functions; tables are copied.
local function plain(value, name, depth)
  local kind = type(value)
  if kind == "function" then
    fail("%s must not be a function: a run must be the same whatever earlier runs gave, and a function could read them", name)
  end
  if kind ~= "table" then return value end
  if depth == 0 then fail("%s has tables inside tables inside tables", name) end
  local copy = {}
  for key, part in next, value do copy[key] = plain(part, name, depth - 1) end
  return copy
end

-- ---- the grid ----

local function range(values, name)
  local lo, hi, log, whole = rawget(values, "lo"), rawget(values, "hi"), rawget(values, "log"), rawget(values, "whole")
  for key in next, values do
    if key ~= "lo" and key ~= "hi" and key ~= "log" and key ~= "whole" then
      fail("grid.%s: a range is {lo=, hi=, log=true, whole=true}; it has %s, too", name, tostring(key))
    end
  end
  if not (is_number(lo) and is_number(hi) and lo < hi) then fail("grid.%s: lo must be a number below hi", name) end
  if log and not (lo > 0) then fail("grid.%s: log needs lo above 0, got %g", name, lo) end
  return { lo = lo, hi = hi, log = log and true or false, whole = whole and true or false }
end

local function list(values, name)
  local copy, n = {}, rawlen(values)
  if n == 0 then fail("grid.%s has no values to try; give one at least", name) end
  for key in next, values do
    if math_type(key) ~= "integer" or key < 1 or key > n then
      fail("grid.%s must be a list, or a range {lo=, hi=}; it has the key %s", name, tostring(key))
    end
  end
  for i = 1, n do
    local value = rawget(values, i)
    local kind = type(value)
    if kind == "function" then plain(value, "grid." .. name, 0) end
    if kind ~= "number" and kind ~= "string" and kind ~= "boolean" then
      fail("grid.%s: value %d must be a number, a text or a boolean, got a %s", name, i, kind)
    end
    copy[i] = value
  end
  return { values = copy }
end

-- {names=, axes=, count=}: names in a fixed order, for each a list or a range; count: of those that are planned beforehand.
local function grid(given)
  if type(given) ~= "table" then fail("grid must be a table of option = {values}, got a %s", type(given)) end
  local names, axes, count = {}, {}, 1
  for name, values in next, given do
    check_name(name, "grid")
    if type(values) == "function" then plain(values, "grid." .. name, 0) end
    if type(values) ~= "table" then values = { values } end
    local axis = rawget(values, "lo") ~= nil and range(values, name) or list(values, name)
    names[#names + 1], axes[name] = name, axis
    count = count * (axis.values and #axis.values or 2)
  end
  if #names == 0 then fail("grid is empty; give option = {values}, as grid = {step = {0.1, 1}}") end
  if count > MOST then fail("grid: expected at most %d combinations, got %d; give fewer values, or ranges", MOST, count) end
  sort(names)
  return { names = names, axes = axes, count = count }
end

-- ---- the rest ----

local scores = { accuracy = true, log_loss = true, rmse = true }

local function read_score(out, given)
  local name, cut = rawget(given, "score"), rawget(given, "range")
  if type(name) == "function" then
    fail('score must be "accuracy", "log_loss" or "rmse": what a function computes from records would not be paid for')
  end
  if not scores[name] then fail('score must be "accuracy", "log_loss" or "rmse", got %s', tostring(name)) end
  if name == "rmse" and cut == nil then fail("range is missing; give the error at which rmse cuts, from what is public") end
  if cut ~= nil and not (is_number(cut) and cut > 0) then fail("range must be a positive number, got %s", tostring(cut)) end
  if name == "accuracy" and cut ~= nil then fail("range belongs to log_loss and rmse; accuracy has none") end
  out.score, out.range = name, cut or (name == "log_loss" and 4 * ln_2 or 1)
end

local function read_numbers(out, given)
  local mean, holdout, target = rawget(given, "mean"), rawget(given, "holdout"), rawget(given, "target")
  for _, name in next, { "epsilon", "delta" } do
    local value = rawget(given, name)
    if not (is_number(value) and value > 0 and (name == "epsilon" or value < 1)) then
      fail("%s must be %s, got %s", name, name == "epsilon" and "a positive number" or "a number in (0, 1)", tostring(value))
    end
    out[name] = value
  end
  if mean ~= nil and not is_number(mean) then fail("mean must be a number above 1, got %s", tostring(mean)) end
  if holdout ~= nil and not (math_type(holdout) == "integer" and holdout >= 2) then
    fail("holdout must be a whole number from 2, got %s: one of each `holdout` records in a row is held out, by its position, "
      .. "because a choice by labels, or by anything else in the records, would tell of them unpaid", tostring(holdout))
  end
  if target ~= nil and not is_number(target) then fail("target must be a number, got %s", tostring(target)) end
  out.mean, out.holdout, out.target = mean or 10, holdout or 5, target
end

local function read_names(out, given, plan_of)
  local solver, accountant, neighbours = rawget(given, "solver"), rawget(given, "accountant"), rawget(given, "neighbours")
  if type(solver) ~= "string" or not plan_of[solver] then
    fail("solver must be the name of a solver of pn.solve, as \"gradient_descent\", got %s", type(solver) == "string"
      and format('"%s"', solver) or "a " .. type(solver) .. "; steps of a script's own could read earlier runs")
  end
  if accountant ~= nil and accountant ~= "profile" and accountant ~= "rdp" then
    fail('accountant must be "profile" or "rdp", got %s', tostring(accountant))
  end
  if neighbours ~= nil and neighbours ~= "replace_one" and neighbours ~= "zero_out" then
    fail('neighbours must be "replace_one" or "zero_out", which leave each record its place and their number public, got %s',
      tostring(neighbours))
  end
  out.solver, out.accountant, out.neighbours = solver, accountant, neighbours
end

-- A copy of what was given that nobody else has.
return function(given, plan_of)
  if type(given) ~= "table" then
    fail("expected a table of options, got a %s; plan:tune{...}, of a plan, compares predicted risks, for nothing", type(given))
  end
  local out, names = {}, {}
  for name in next, known do names[#names + 1] = name end
  sort(names)
  for name in next, given do
    if refused[name] then fail("%s is not taken: %s", name, refused[name]) end
    if not known[name] then fail("unknown option '%s'; it takes %s", tostring(name), concat(names, ", ")) end
  end
  if type(rawget(given, "objective")) ~= "userdata" then fail("objective must be a pn.objective") end
  read_names(out, given, plan_of)
  read_score(out, given)
  read_numbers(out, given)
  out.grid, out.options = grid(rawget(given, "grid")), {}
  local fixed = rawget(given, "options")
  if fixed ~= nil and type(fixed) ~= "table" then fail("options must be a table, the solver's options, got a %s", type(fixed)) end
  for name, value in next, fixed or {} do
    check_name(name, "options")
    out.options[name] = plain(value, "options." .. name, DEPTH)
  end
  out.objective, out.ledger, out.rng, out.pad = rawget(given, "objective"), rawget(given, "ledger"), rawget(given, "rng"),
    rawget(given, "pad") and true or false
  return out
end
