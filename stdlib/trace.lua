-- trace.lua -- the trace of a fit as text: a row a step, the middle left out where there are many.
-- Depends on: nothing.  Used by: bindings/solvers/lfit.c (tostring(fit.trace)).
local ENDS = 5 -- rows shown at either end

local columns = { "step", "kind", "atom", "step_size", "value", "gap", "certificate", "gradient_norm", "eigenvalue",
  "gradients" }

local function cell(value)
  return math.type(value) == "float" and ("%.4g"):format(value) or tostring(value == nil and "" or value)
end

local function shown(trace)
  local list = {}
  for i = 1, #trace do
    if #trace <= 2 * ENDS or i <= ENDS or i > #trace - ENDS then list[#list + 1] = i end
  end
  return list
end

local function column_of(trace, name, list)
  local cells, width, known = {}, #name, false
  for k, i in ipairs(list) do
    cells[k] = cell(trace[i][name])
    width, known = math.max(width, #cells[k]), known or trace[i][name] ~= nil
  end
  return known and { name = name, cells = cells, width = width } or nil
end

return function(trace)
  local list, lines = shown(trace), { ("trace: %d row%s"):format(#trace, #trace == 1 and "" or "s") }
  local heads, used = {}, {}
  for _, name in ipairs(columns) do
    local column = column_of(trace, name, list)
    used[#used + 1] = column
    if column then heads[#heads + 1] = (" "):rep(column.width - #name) .. name end
  end
  if #list > 0 then lines[2] = "  " .. table.concat(heads, "  ") end
  for k, i in ipairs(list) do
    local cells = {}
    for c, column in ipairs(used) do cells[c] = (" "):rep(column.width - #column.cells[k]) .. column.cells[k] end
    if k > 1 and i > list[k - 1] + 1 then lines[#lines + 1] = "  ..." end
    lines[#lines + 1] = "  " .. table.concat(cells, "  ")
  end
  return table.concat(lines, "\n")
end
