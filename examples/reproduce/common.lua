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

-- A table with these columns, saved as NAME.csv; row(...) prints as it goes.
function common.table(name, columns)
  local path = folder .. "/" .. name .. ".csv"
  local file, problem = io.open(path, "w")
  if not file then error(("reproduce: cannot write %s: %s"):format(path, problem), 0) end
  file:write(table.concat(columns, ","), "\n")
  local widths, heads = {}, {}
  for i, column in ipairs(columns) do
    widths[i] = math.max(#column, 10)
    heads[i] = (" "):rep(widths[i] - #column) .. column
  end
  print("  " .. table.concat(heads, "  "))
  return setmetatable({ file = file, widths = widths, path = path }, table_methods)
end

function table_methods:row(...)
  local cells, saved = { ... }, {}
  for i, value in ipairs(cells) do
    local text = cell(value)
    saved[i] = type(value) == "number" and ("%.10g"):format(value) or text
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

-- figure { name=, title=, xlabel=, ylabel=, logx=, logy=, series = { { label=, x=, y=, error=, dashed= }, ... } } -> NAME.svg
function common.figure(options)
  local path = folder .. "/" .. options.name .. ".svg"
  if not has_gnuplot() then
    print("  figure: none, since gnuplot is not installed (Debian: gnuplot-nox)")
    return
  end
  local pipe = assert(io.popen("gnuplot 2>&1", "w"))
  pipe:write(("set terminal svg size 760,500 font 'Helvetica,14'\nset output %s\nset title %s\nset xlabel %s\nset ylabel %s\n")
    :format(quoted(path), quoted(options.title), quoted(options.xlabel), quoted(options.ylabel)))
  pipe:write("set key outside right top\nset grid lc rgb '#dddddd'\nset border 3\nset tics nomirror\n")
  if options.logx then pipe:write "set logscale x\n" end
  if options.logy then pipe:write "set logscale y\nset format y '%.0e'\n" end
  local plots = {}
  for k, series in ipairs(options.series) do
    pipe:write(("$data%d << EOD\n"):format(k))
    for i = 1, #series.x do
      pipe:write(("%.10g %.10g %.10g\n"):format(series.x[i], series.y[i], series.error and series.error[i] or 0))
    end
    pipe:write "EOD\n"
    local style = series.dashed and "with lines dashtype 2 lw 2" or series.error and "with yerrorlines lw 2 pt 7 ps 0.6"
      or "with linespoints lw 2 pt 7 ps 0.6"
    plots[k] = ("$data%d using 1:2%s title %s %s"):format(k, series.error and not series.dashed and ":3" or "",
      quoted(series.label), style)
  end
  pipe:write("plot ", table.concat(plots, ", "), "\n")
  if not pipe:close() then error("reproduce: gnuplot failed on " .. path, 0) end
  print("  figure: " .. path)
end

return common
