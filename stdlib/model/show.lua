-- show.lua -- what a model of pn.model prints: what it is, what was chosen and why, the price, the coefficients, what next.
-- Depends on: penumbra.cell (bindings/core/lprint.c), penumbra.passing, penumbra.wrap.  Used by: penumbra.model.
local cell = require "penumbra.cell"
local passing = require "penumbra.passing"
local wrap = require "penumbra.wrap"

local abs, concat, format, gmatch, sort = math.abs, table.concat, string.format, string.gmatch, table.sort

local MOST = 6 -- coefficients

-- The lines of the fit's own text that say its price.
local function price(fit)
  local lines, taken = {}, false
  for line in gmatch(tostring(fit), "[^\n]+") do
    local head = string.match(line, "^  (%S+)")
    local indented = string.match(line, "^     ")
    if not indented then taken = head == "privacy" or head == "so" end
    if taken then lines[#lines + 1] = line end
  end
  return lines
end

-- Why solve.auto took the solver, in its plan's words.
local function why(plan)
  for _, line in ipairs(plan.lines) do
    if line.name == "solver" then return line.formula or "" end
  end
  return ""
end

local function number(x)
  return x and format("%.4g", x) or ""
end

local function coefficients(model, lines)
  local fine, all = pcall(function() return model.fit:coefficients() end)
  if not fine and passing(all) then error(all, 0) end
  if not fine or #all == 0 or all[1].class then return end
  local order = {}
  for k = 1, #all do order[k] = k end
  if #all > MOST then
    sort(order, function(a, b)
      local x, y = abs(all[a].scaled or 0), abs(all[b].scaled or 0)
      if x ~= y then return x > y end
      return a < b
    end)
  end
  lines[#lines + 1] = #all > MOST and format("  coefficients, the %d largest of %d as scaled", MOST, #all) or "  coefficients"
  lines[#lines + 1] = format("    %-28s %12s %12s", "feature", "scaled", "original")
  for k = 1, math.min(MOST, #order) do
    local one = all[order[k]]
    local line = format("    %s %12s %12s", cell(one.name, 28), number(one.scaled), number(one.original))
    lines[#lines + 1] = (string.gsub(line, " +$", ""))
  end
end

local function add(lines, head, text)
  lines[#lines + 1] = string.sub(wrap(format("  %-8s ", head), text, 11), 1, -2)
end

local function records(model)
  if not model.test then return format("all %d train the model; none is held out", model.train.n) end
  return format("%d train the model; of each %d in a row one is held out, %d in all (m.test)", model.train.n, model.every,
    model.test.n)
end

return function(model)
  local label = model.recipe and model.recipe:label()
  local lines = { format("model: %s%s", model.what, label and ", label " .. label.name or "") }
  for _, warning in ipairs(model.warnings) do add(lines, "warning", warning) end
  add(lines, "solver", format("%s: %s", model.plan.solver, why(model.plan)))
  add(lines, "records", records(model))
  if model.public then
    add(lines, "public", format("%d records, declared public by the caller: not covered by the guarantee.  %s",
      model.public.records, model.public.text:gsub("^%l", string.upper)))
  end
  if model.ranges then
    for line in gmatch(tostring(model.ranges), "[^\n]+") do lines[#lines + 1] = "  " .. line end
  end
  if model.clip then
    add(lines, "clip", format("each record's gradient is scaled down to l2 norm %.4g, which limits the noise", model.clip))
  end
  for _, line in ipairs(price(model.trained)) do lines[#lines + 1] = line end
  if model.together then
    add(lines, "together", format("ranges and fit, composed: %.4g of %s", model.together.spent, model.together.rho
      and format("rho = %.4g", model.together.rho) or format("epsilon = %.4g", model.together.epsilon)))
  end
  if model.default_delta then add(lines, "delta", format("%.4g = 1/n^2, since none was given", model.default_delta)) end
  coefficients(model, lines)
  add(lines, "next", model.recipe and 'm:predict("new.csv"), m:coefficients(), m:evaluate{epsilon=...}, m:card(), m:save("m.model")'
    or 'm:predict(data), m:coefficients(), m:evaluate{epsilon=...}, m:card(), m:save("m.model")')
  return concat(lines, "\n")
end
