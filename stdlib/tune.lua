-- tune.lua -- plan:tune(grid): the combination of options whose plan predicts the least risk.  Only plans are made, from public
-- sizes and certified bounds: nothing is spent, no record is looked at, so the choice costs no privacy.  (pn.tune, in tuning/,
-- trains, scores and pays.)
-- Depends on: penumbra.frame (bindings/core/lprogress.c), penumbra.passing, penumbra.wrap.
-- Used by: bindings/solvers/lsolve.c (plan:tune).
local frame = require "penumbra.frame"
local passing = require "penumbra.passing"
local wrap = require "penumbra.wrap"

local MOST = 10000 -- combinations
local WITHIN = 1.02

-- ---- the grid ----

-- Half, once and twice each number that shapes the plan.
local function around(plan)
  local grid = {}
  for name, value in pairs(plan.settings) do
    local values = {}
    for _, factor in ipairs{0.5, 1, 2} do
      local v = factor * value
      values[#values + 1] = math.type(value) == "integer" and math.max(1, math.floor(v + 0.5)) or v
    end
    grid[name] = values
  end
  if not next(grid) then
    error("plan:tune: nothing is known that shapes a plan of " .. plan.solver .. "; give option = {values}", 0)
  end
  return grid
end

-- Names in a fixed order, and lists of values; a single value stands for a list of one.
local function axes(grid)
  local names, lists, count = {}, {}, 1
  for name, values in pairs(grid) do
    if type(name) ~= "string" then
      error(("plan:tune: expected option = {values}, got the key %s"):format(tostring(name)), 0)
    end
    if type(values) ~= "table" then values = {values} end
    if #values == 0 then error(("plan:tune: %s has no values to try; give one at least"):format(name), 0) end
    names[#names + 1], lists[name] = name, values
    count = count * #values
  end
  if count > MOST then
    error(("plan:tune: expected at most %d combinations, got %d; give fewer values"):format(MOST, count), 0)
  end
  table.sort(names)
  return names, lists, count
end

-- Calls visit(options) for every combination.
local function each(names, lists, visit, at, options)
  at, options = at or 1, options or {}
  if at > #names then
    local copy = {}
    for name, value in pairs(options) do copy[name] = value end
    return visit(copy)
  end
  for _, value in ipairs(lists[names[at]]) do
    options[names[at]] = value
    each(names, lists, visit, at + 1, options)
  end
end

-- ---- comparing ----

-- Loss distributions take long: plans that they price are compared by Renyi orders, and the one that is chosen is priced as it was.
local function try(plan, options)
  local priced = options
  if plan.accountant == "pld" and options.accountant == nil then
    priced = {accountant = "rdp"}
    for name, value in pairs(options) do priced[name] = value end
  end
  local ok, made = pcall(plan.with, plan, priced)
  if not ok then
    if passing(made) then error(made, 0) end
    return {options = options, reason = (tostring(made):gsub("^[^:]*:%d+: ", ""):gsub("^solve%.[%w_]+: ", ""))}
  end
  return {options = options, plan = made, predicted = made.predicted or made.bound, gradients = made.gradients,
    sigma = made.sigma, reason = not (made.predicted or made.bound) and "no risk is predicted" or nil}
end

local function before(a, b)
  if (a.predicted == nil) ~= (b.predicted == nil) then return a.predicted ~= nil end
  if a.predicted ~= b.predicted then return a.predicted < b.predicted end
  return (a.gradients or math.huge) < (b.gradients or math.huge)
end

-- The cheapest of those that are as good as the best, first.
local function choose(rows, within)
  table.sort(rows, before)
  local best = 1
  for i, row in ipairs(rows) do
    local good = row.predicted and row.predicted <= within * rows[1].predicted
    if good and (row.gradients or math.huge) < (rows[best].gradients or math.huge) then best = i end
  end
  table.insert(rows, 1, table.remove(rows, best))
end

-- The chosen row again, at the price that the plan asked for.
local function finish(plan, row)
  local made = plan:with(row.options)
  return {options = row.options, plan = made, predicted = made.predicted or made.bound, gradients = made.gradients,
    sigma = made.sigma}
end

-- ---- printing ----

local function number(x)
  return x and ("%.4g"):format(x) or "-"
end

-- A value of an option; of a group its parts, by name.
local function told(value)
  if type(value) == "number" then return number(value) end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for name, part in pairs(value) do parts[#parts + 1] = ("%s=%s"):format(name, told(part)) end
  table.sort(parts)
  return table.concat(parts, ", ") .. " "
end

local function show(rows)
  local lines = {("tune: %d plans, the least predicted risk first"):format(#rows)}
  local head = {}
  for _, name in ipairs(rows.names) do head[#head + 1] = ("%-11s"):format(name) end
  lines[2] = "  " .. table.concat(head) .. ("%-11s%-11s%-11s"):format("predicted", "gradients", "sigma")
  for i, row in ipairs(rows) do
    if i > 10 then
      lines[#lines + 1] = ("  ... and %d more"):format(#rows - 10)
      break
    end
    local cells = {}
    for _, name in ipairs(rows.names) do
      local value = row.options[name]
      cells[#cells + 1] = ("%-11s"):format(told(value))
    end
    lines[#lines + 1] = "  " .. table.concat(cells) .. ("%-11s%-11s%-11s"):format(number(row.predicted), number(row.gradients),
      number(row.sigma))
    if row.reason then lines[#lines + 1] = wrap("      ", row.reason, 6):sub(1, -2) end
  end
  return table.concat(lines, "\n")
end

-- ---- plan:tune ----

return function(plan, grid)
  if grid ~= nil and type(grid) ~= "table" then
    error(("plan:tune: expected a table of option = {values}, got %s"):format(type(grid)), 0)
  end
  local options, within, progress = {}, WITHIN, nil
  for name, values in pairs(grid or {}) do
    if name == "within" then within = values elseif name == "progress" then progress = values else options[name] = values end
  end
  if type(within) ~= "number" or not (within >= 1) then
    error(("plan:tune: within must be a number >= 1, got %s"):format(tostring(within)), 0)
  end
  local names, lists, count = axes(next(options) and options or around(plan))
  local rows = setmetatable({names = names}, {__tostring = show, __name = "tune"})
  frame(("%s: tune"):format(plan.solver), count, progress, function(tell)
    local least
    each(names, lists, function(combination)
      tell(#rows, least)
      local row = try(plan, combination)
      rows[#rows + 1] = row
      if row.predicted and row.predicted < (least or math.huge) then least = row.predicted end
    end)
  end)
  choose(rows, within)
  if not rows[1].predicted then
    if rows[1].plan then
      error(("plan:tune: plans of %s predict no risk; compare those that plan:with{...} returns by their lines, or pay "
        .. "for a choice by the records: pn.tune{...}"):format(
        plan.solver), 0)
    end
    error(("plan:tune: none of %d plans predicts a risk; the first one: %s; pn.tune{...} trains, scores and pays instead"):format(
      #rows, rows[1].reason), 0)
  end
  if plan.accountant == "pld" then rows[1] = finish(plan, rows[1]) end
  return rows[1].plan, rows
end
