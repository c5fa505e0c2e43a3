-- tuning/show.lua -- how plans and answers of pn.tune print themselves.
-- Depends on: nothing.  Used by: penumbra.tuning.run.
local next, setmetatable, tostring, type = next, setmetatable, tostring, type
local format, sort, concat = string.format, table.sort, table.concat

local show = {}

local function told(value)
  return type(value) == "number" and format("%.6g", value) or tostring(value)
end

-- "rate = 0.1, steps = 20"
function show.configuration(configuration)
  local parts = {}
  for name, value in next, configuration do parts[#parts + 1] = name .. " = " .. told(value) end
  sort(parts)
  return #parts > 0 and concat(parts, ", ") or "no option"
end

-- How many combinations a grid has; nil where there is a range.
function show.count(grid)
  local count = 1
  for _, name in next, grid.names do
    local values = grid.axes[name].values
    if not values then return nil end
    count = count * #values
  end
  return count
end

local function runs_of(plan)
  if plan.target then
    return format("until the %s reaches %.6g; given up after each other run with probability 1/%.6g", plan.score, plan.target,
      plan.mean)
  end
  return format("%.6g expected, a coin of probability 1/%.6g after each; at most %d with probability 0.99", plan.mean, plan.mean,
    plan.q99)
end

local plan = { __name = "tune.plan" }

function plan.__tostring(p)
  local lines = { format("plan: tune %s by private selection; nothing is spent yet", p.solver) }
  local function line(name, ...) lines[#lines + 1] = format("  %-15s", name) .. format(...) end
  if p.warning then line("warning", "%s", p.warning) end
  line("guarantee", "epsilon %.6g at delta %.3g, %s, whatever the number of runs", p.epsilon, p.delta, p.neighbours)
  line("charged", "once, before the first run: %s", tostring(p.charged))
  line("runs", "%s", runs_of(p))
  line("configurations", "%s", p.configurations and format("%d, one drawn uniformly for each run", p.configurations)
    or "ranges, one point drawn for each run")
  line("chance", "%.3f that one of the best 10 %% of configurations is seen", p.chance)
  line("parts", "%d records train, %d score: one of each %d in a row, by its position", p.train, p.held, p.holdout)
  if p.run_epsilon then
    line("a run", "epsilon %.6g for its model, by Renyi curves, and for its score: it costs the larger of both", p.run_epsilon)
  else
    line("mu of a run", "%.6g for its model, and for its score: it costs the larger of both", p.mu)
  end
  line("score", "%s, noise of deviation %.3g%s", p.score, p.deviation, p.score == "rmse" and " before the root" or "")
  if p.run_epsilon then
    line("instead", "one fit at the default configuration with epsilon %.6g, %.3g times as much, on all records", p.epsilon,
      p.epsilon / p.run_epsilon)
  else
    line("instead", "one fit at the default configuration with epsilon %.6g: mu %.6g, %.3g times as much, on all records",
      p.epsilon, p.mu_single, p.mu_single / p.mu)
  end
  line("", "a search pays only where configurations differ by more than that")
  if p.pad then line("padded", "runs that are thrown away follow, so that time does not tell how many counted") end
  lines[#lines + 1] = "  how many runs there were is told to nobody; plan:tune compares predicted risks and costs nothing"
  return concat(lines, "\n")
end

function show.plan(fields) return setmetatable(fields, plan) end

show.answer = { __name = "tune.answer" }

function show.answer.__tostring(a)
  local price = a.price
  local cost = format("%s at delta %.3g, %s%s", price.simulated and "simulated: no privacy, nominally epsilon "
    .. told(price.nominal_epsilon) or "epsilon " .. told(price.epsilon), price.delta, price.neighbours,
    price.simulated and "" or ", for the whole search")
  if not a.found then return format("tune: no run was found to reach the target of %s\n  price          %s", a.score_name, cost) end
  return concat({
    "tune: " .. show.configuration(a.configuration) .. (a.plan.warning and format("\n  %-14s %s", "warning", a.plan.warning) or ""),
    format("  %-14s %s", "selection score", a.failed and "none: every run that counted had failed; theta is the start"
      or format("%s %.6g, with noise, and biased upwards: it is the best of several", a.score_name, a.score)),
    format("  %-14s %d numbers; intervals for them are not valid after selection", "theta", #a.theta),
    format("  %-14s %s", "price", cost),
  }, "\n")
end

return show
