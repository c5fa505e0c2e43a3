-- evaluation/show.lua -- how an answer of pn.evaluate prints itself.
-- Depends on: penumbra.wrap.  Used by: penumbra.evaluation.
local concat, format, sub = table.concat, string.format, string.sub
local wrap = require "penumbra.wrap"

local names = { accuracy = "accuracy", auc = "AUC", log_loss = "log loss", positives = "label 1", rmse = "RMSE" }

local function number(x) return format("%.4g", x) end

return function(e)
  local about = e.neighbours == "add_remove" and "about " or ""
  local lines = { format("evaluation of %s%.0f records%s", about, e.records,
    e.simulated and ": a simulation, seeded noise" or "") }
  lines[2] = format("  %-10s %10s   %2g %% interval         noise   sampling", "figure", "value", 100 * e.confidence)
  for _, one in ipairs(e.figures) do
    lines[#lines + 1] = format("  %-10s %10s   %-22s %6s   %8s", names[one.name] or one.name, number(one.value),
      number(one.low) .. " to " .. number(one.high), format("%.2g", one.noise), format("%.2g", one.sampling))
  end
  if e.no_auc then lines[#lines + 1] = "  AUC        none: " .. e.no_auc end
  lines[#lines + 1] = format("  privacy    %s", e.privacy)
  if e.warning then lines[#lines + 1] = sub(wrap("  warning    ", e.warning, 13), 1, -2) end
  lines[#lines + 1] = "  Intervals cover the privacy noise and the sampling of these records.  They do"
  lines[#lines + 1] = "  not hold for a model that was chosen by figures of the same records."
  return concat(lines, "\n")
end
