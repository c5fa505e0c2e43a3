-- common.lua -- what the reproductions share: sweeps with repeats, slopes, a table that is printed and saved, a figure by gnuplot.
-- Each script writes NAME.csv and NAME.svg into the folder given as its first argument (the current one by default).
-- QUICK=1 in the
-- environment takes the small sizes.  Loaded with dofile: it needs penumbra and nothing else.
local pn = require "penumbra"

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
  local file, problem = io.open(path, "w")
  if not file then error(("reproduce: cannot write %s: %s"):format(path, problem), 0) end
  file:write(table.concat(columns, ","), "\n")
  local widths, heads = {}, {}
  for i, column in ipairs(columns) do
    widths[i] = math.max(#column, wide and wide[column] or 10)
    heads[i] = (" "):rep(widths[i] - #column) .. column
  end
  print("  " .. table.concat(heads, "  "))
  return setmetatable({ file = file, widths = widths, path = path }, table_methods)
end

function table_methods:row(...)
  local cells, saved = { ... }, {}
  for i, value in ipairs(cells) do
    local text = cell(value)
    saved[i] = type(value) == "number" and ("%.10g"):format(value)
      or text:find '[,"]' and '"' .. text:gsub('"', '""') .. '"' or text
    cells[i] = (" "):rep(self.widths[i] - #text) .. text
  end
  self.file:write(table.concat(saved, ","), "\n")
  print("  " .. table.concat(cells, "  "))
end

function table_methods:close()
  self.file:close()
  print("  table: " .. self.path)
end

-- ---- figures ----

local function has_gnuplot()
  return os.execute "command -v gnuplot >/dev/null 2>&1"
end

local function quoted(text)
  return '"' .. text:gsub('["\\]', "\\%0") .. '"'
end

local colours = { "#0b5fa5", "#c8502a", "#2f8f4e", "#8455a8", "#8a6d1d", "#d23f8c", "#7a7a7a", "#000000" }

-- Ticks at the values of x themselves when they are few: powers of two say more than powers of ten.
local function write_ticks(pipe, series)
  local x, marks = series.x, {}
  if #x > 9 then return end
  for i = 1, #x do marks[i] = ("%.10g"):format(x[i]) end
  pipe:write("set xtics (", table.concat(marks, ", "), ")\n")
end

local function style_of(series, k)
  local colour = colours[(series.colour or k - 1) % #colours + 1]
  if series.dashed then
    return ("with lines dashtype %d lw 2 lc rgb '%s'"):format(series.dashed == true and 2 or series.dashed, colour)
  end
  if series.marks then return ("with points pt 2 ps 0.9 lw 2 lc rgb '%s'"):format(colour) end
  return ("with %s lw 2 pt 7 ps 0.6 lc rgb '%s'"):format((series.error or series.low) and "yerrorlines" or "linespoints", colour)
end

local function columns_of(series)
  if series.dashed or series.marks then return "1:2" end
  return series.low and "1:2:3:4" or series.error and "1:2:3" or "1:2"
end

-- Labels at 1, 2 and 5 times the powers of ten: few would fall into less than three decades.
local function write_log_labels(pipe, low, high)
  local marks = {}
  for power = math.floor(math.log(low, 10)), math.floor(math.log(high, 10)) do
    for _, digit in ipairs { 1, 2, 5 } do
      if high / low < 1000 or digit == 1 then marks[#marks + 1] = ("%.10g"):format(digit * 10.0 ^ power) end
    end
  end
  pipe:write("set ytics (", table.concat(marks, ", "), ")\n")
end

-- The range of one axis over all series, a little wider than the data.
local function write_range(pipe, axis, panel, log)
  local low, high = math.huge, -math.huge
  for _, series in ipairs(panel.series) do
    for i = 1, #series.x do
      local value = series[axis][i]
      local down, up = value, value
      if axis == "y" and series.low then down, up = series.low[i], series.high[i] end
      low, high = math.min(low, down), math.max(high, up)
    end
  end
  local factor, pad = (high / low) ^ 0.05, 0.05 * (high - low)
  if log and low > 0 then
    factor = math.max(factor, 1.1)
    low, high = low / factor, high * factor
    if axis == "y" then write_log_labels(pipe, low, high) end
  else
    low, high = low - pad, high + pad
  end
  if low < high then pipe:write(("set %srange [%.10g:%.10g]\n"):format(axis, low, high)) end
end

-- One panel: { title=, xlabel=, ylabel=, logx=, logy=, key=, series= } as in common.figure.
local function write_panel(pipe, panel, number, legend)
  pipe:write(("set title %s\nset xlabel %s\nset ylabel %s\n"):format(quoted(panel.title), quoted(panel.xlabel),
    quoted(panel.ylabel)))
  pipe:write "unset logscale\nset format '%g'\nset xtics auto\nset ytics auto\n"
  write_range(pipe, "x", panel, panel.logx)
  write_range(pipe, "y", panel, panel.logy)
  pipe:write((panel.key == false or legend and number > 1) and "unset key\n" or ("set key %s\n"):format(panel.key or legend
    or "outside right top"))
  if panel.logx then
    pipe:write "set logscale x\n"
    if panel.ticks ~= false then write_ticks(pipe, panel.series[1]) end
  end
  if panel.logy then pipe:write "set logscale y\n" end
  local plots = {}
  for k, series in ipairs(panel.series) do
    local block = ("$data%d_%d"):format(number, k)
    pipe:write(block, " << EOD\n")
    for i = 1, #series.x do
      local third = series.low and series.low[i] or series.error and series.error[i] or 0
      pipe:write(("%.10g %.10g %.10g %.10g\n"):format(series.x[i], series.y[i], third, series.high and series.high[i] or 0))
    end
    pipe:write "EOD\n"
    plots[k] = ("%s using %s title %s %s"):format(block, columns_of(series),
      quoted(series.label), style_of(series, k))
  end
  pipe:write("plot ", table.concat(plots, ", "), "\n")
end

-- figure { name=, title=, xlabel=, ylabel=, logx=, logy=, key=, series = { { label=, x=, y=, error= or low= and high=, dashed=,
-- marks=, colour= }, ... } } -> NAME.svg; or figure { name=, title=, panels = { { title=, xlabel=, ..., series= }, ... } } side by
-- side.  `dashed` is true or a gnuplot dash type, `marks` shows crosses without a line; series of one `colour` (0 .. 7) belong
-- together.  `key` says where the legend is, in gnuplot's words; false: nowhere.  `ticks` = false: none at the values of the first
-- series.  `legend`, of several panels: the first panel's legend, that many pixels wide, right of the last.  `font`: its size,
-- 14 by default.
function common.figure(options)
  local path = folder .. "/" .. options.name .. ".svg"
  if not has_gnuplot() then
    print("  figure: none, since gnuplot is not installed (Debian: gnuplot-nox)")
    return
  end
  local panels = options.panels or { options }
  local pipe = assert(io.popen("env -u LD_PRELOAD gnuplot 2>&1", "w"))
  local plots, legend = #panels == 1 and 760 or 560 * #panels, options.legend or 0
  pipe:write(("set terminal svg size %d,500 font 'Helvetica,%d' noenhanced background '#ffffff'\nset output %s\n"):format(
    plots + legend, options.font or 14, quoted(path)))
  pipe:write "set grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\n"
  if options.panels then
    pipe:write(("set multiplot layout 1,%d title %s"):format(#panels, quoted(options.title)))
    if legend > 0 then -- margins of the panels, in shares of the whole
      local grow = (options.font or 14) / 14
      pipe:write((" margins %.4f,%.4f,%.4f,%.4f spacing %.4f"):format(100 * grow / (plots + legend),
        (plots - 20) / (plots + legend),
        0.14 * grow, 1 - 0.16 * grow, 110 * grow / (plots + legend)))
    end
    pipe:write "\n"
  end
  local key = legend > 0 and ("at screen %.4f,0.84 left top Left reverse samplen 2"):format(plots / (plots + legend))
  for number, panel in ipairs(panels) do write_panel(pipe, panel, number, key) end
  if options.panels then pipe:write "unset multiplot\n" end
  if not pipe:close() then error("reproduce: gnuplot failed on " .. path, 0) end
  print("  figure: " .. path)
end

return common
