-- common.lua -- what the reproductions share: sweeps with repeats, slopes, a table that is printed and saved, a figure by gnuplot.
-- Each script writes NAME.csv and NAME.svg into the folder given as its first argument (the current one by default).
-- QUICK=1 in the
-- environment takes the small sizes.  Loaded with dofile: it needs penumbra and nothing else.
local pn = require "penumbra"
local show = require "penumbra.plot.show"

local common = { quick = os.getenv "QUICK" ~= nil }
local folder = arg and arg[1] or "."

-- a when QUICK, else b.
function common.size(a, b)
  if common.quick then return a end
  return b
end

-- Mean and standard error of sample(seed) over seeds 1 .. runs.
function common.mean(runs, sample)
  local sum, squares = 0, 0
  for seed = 1, runs do
    local value = sample(seed)
    sum, squares = sum + value, squares + value * value
  end
  local mean = sum / runs
  return mean, runs > 1 and math.sqrt(math.max(squares / runs - mean * mean, 0) / (runs - 1)) or 0
end

-- Median and quartiles of sample(seed) over seeds 1 .. runs, interpolated between order statistics.
function common.quartiles(runs, sample)
  local values = {}
  for seed = 1, runs do values[seed] = sample(seed) end
  table.sort(values)
  local function quantile(share)
    local place = 1 + share * (runs - 1)
    local below = math.floor(place)
    return values[below] + (place - below) * ((values[below + 1] or values[below]) - values[below])
  end
  return quantile(0.5), quantile(0.25), quantile(0.75)
end

-- Slope of ln y against ln x by least squares.
function common.slope(x, y)
  local sx, sy, sxx, sxy = 0, 0, 0, 0
  for i = 1, #x do
    local a, b = math.log(x[i]), math.log(y[i])
    sx, sy, sxx, sxy = sx + a, sy + b, sxx + a * a, sxy + a * b
  end
  return (#x * sxy - sx * sy) / (#x * sxx - sx * sx)
end

-- What the paper promises, checked: ends the script with an error when it is not so.
function common.expect(holds, what, ...)
  local text = what:format(...)
  print(("  %s  %s"):format(holds and "as promised:" or "NOT AS PROMISED:", text))
  if not holds then error("not as promised: " .. text, 0) end
end

-- The same without a line where it holds: for what is checked at every place.
function common.expect_silently(holds, what, ...)
  if not holds then common.expect(false, what, ...) end
end

-- An effect of privacy has a control: the same plan without noise.  It may have a fifth of the effect at most.
function common.control(effect, control, what, ...)
  common.expect_silently(control <= effect / 5, "%s: without noise %.3g is left, a fifth of %.3g at most", what:format(...),
    control, effect)
end

-- What a plan was made with that has no place in its control.
local of_noise = { objective_perturbation = { "split" }, svrg = { "form" } }

-- Excess risk of the plan's control: the same run (steps, batches), without noise; `more`: what else it was planned with.
function common.still(plan, best, more)
  local options = { privacy = false, progress = false }
  for name, value in pairs(plan.settings) do options[name] = value end
  for name, value in pairs(more or {}) do options[name] = value end
  for _, name in ipairs(of_noise[plan.solver] or {}) do options[name] = nil end
  if plan.solver == "mirror_descent" then options.step, options.time = plan.lines["step eta"], nil end -- a time needs noise
  return pn.solve[plan.solver](plan.objective, options).value - (best or pn.solve.exact(plan.objective, { tol = 1e-9 }).value)
end

-- The excess risk of a plan's runs, mean over seeds, and the plan's own bound.
function common.excess(plan, runs, best)
  best = best or pn.solve.exact(plan.objective, { tol = 1e-9 }).value
  local mean, standard_error = common.mean(runs, function(seed)
    return plan:run { rng = pn.rng.seeded(seed) }.value - best
  end)
  return mean, standard_error, plan.bound
end

-- ---- tables ----

local table_methods = {}
table_methods.__index = table_methods

local function cell(value)
  if type(value) ~= "number" or math.type(value) == "integer" then return tostring(value) end
  return ("%.5g"):format(value)
end

-- A table with these columns, saved as NAME.csv; row(...) prints as it goes.  widths: column -> characters, for those with words.
function common.table(name, columns, wide)
  local path = folder .. "/" .. name .. ".csv"
  local widths, heads = {}, {}
  for i, column in ipairs(columns) do
    widths[i] = math.max(#column, wide and wide[column] or 10)
    heads[i] = (" "):rep(widths[i] - #column) .. column
  end
  print("  " .. table.concat(heads, "  "))
  return setmetatable({ lines = { table.concat(columns, ",") }, widths = widths, path = path }, table_methods)
end

function table_methods:row(...)
  local cells, saved = { ... }, {}
  for i, value in ipairs(cells) do
    local text = cell(value)
    saved[i] = type(value) == "number" and ("%.10g"):format(value)
      or text:find '[,"]' and '"' .. text:gsub('"', '""') .. '"' or text
    cells[i] = (" "):rep(self.widths[i] - #text) .. text
  end
  self.lines[#self.lines + 1] = table.concat(saved, ",")
  print("  " .. table.concat(cells, "  "))
end

function table_methods:close()
  local written, problem = require "penumbra.files".put(self.path, table.concat(self.lines, "\n") .. "\n")
  if not written then error("reproduce: cannot write " .. problem, 0) end
  print("  table: " .. self.path)
end

-- ---- figures ----

-- Places of x as ticks when they are few: powers of two say more than powers of ten.
local function ticks_of(panel)
  local x, marks = panel.series[1].x, {}
  if not panel.logx or panel.ticks == false or #x > 9 then return end
  for i = 1, #x do marks[i] = ("%.10g"):format(x[i]) end
  return marks
end

local function layer_of(series, k)
  local low, high = series.low, series.high
  if series.error and not low then
    low, high = {}, {}
    for i = 1, #series.y do low[i], high[i] = series.y[i] - series.error[i], series.y[i] + series.error[i] end
  end
  if series.dashed or series.marks then low, high = nil, nil end
  return {
    kind = series.marks and not series.dashed and "points" or "line", x = series.x, y = series.y, low = low, high = high,
    label = series.label, colour = (series.colour or k - 1) + 1, dashed = series.dashed, marks = not series.dashed,
  }
end

-- A panel as what penumbra draws.
local function figure_of(panel)
  local layers = {}
  for k, series in ipairs(panel.series) do layers[k] = layer_of(series, k) end
  return {
    title = panel.title, xlabel = panel.xlabel, ylabel = panel.ylabel, logx = panel.logx, logy = panel.logy, key = panel.key,
    xticks = ticks_of(panel), layers = layers,
  }
end

-- figure { name=, title=, xlabel=, ylabel=, logx=, logy=, key=, series = { { label=, x=, y=, error= or low= and high=, dashed=,
-- marks=, colour= }, ... } } -> NAME.svg; or figure { name=, title=, panels = { { title=, xlabel=, ..., series= }, ... } } side by
-- side.  `dashed` is true or a gnuplot dash type, `marks` shows crosses without a line; series of one `colour` (0 .. 6) belong
-- together.  `key` says where the legend is, in gnuplot's words; false: nowhere.  `ticks` = false: none at the values of the first
-- series.  `legend`, of several panels: the first panel's legend, that many pixels wide, right of the last.  `font`: its size,
-- 14 by default.
function common.figure(options)
  local path = folder .. "/" .. options.name .. ".svg"
  if not show.installed() then
    print("  figure: none, since gnuplot is not installed (Debian: gnuplot-nox)")
    return
  end
  local figure = options.panels and { title = options.title, panels = {}, legend = options.legend } or figure_of(options)
  figure.font = options.font
  for k, panel in ipairs(options.panels or {}) do figure.panels[k] = figure_of(panel) end
  local plots = options.panels and #options.panels > 1 and 560 * #options.panels or 760
  show.figure("reproduce", figure, { file = path, width = plots + (options.legend or 0), height = 500 })
  print("  figure: " .. path)
end

return common
