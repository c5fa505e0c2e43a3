-- experiment_result.lua -- what an experiment measured: rows, aggregates, a table that prints, a plot, a CSV file.
-- Depends on: penumbra.files when asked to write; penumbra.plot when asked to plot.  Used by: penumbra.experiment.
local result = {}

local methods = {}

local function refuse(format, ...)
  error(("experiment: " .. format):format(...), 0)
end

local function contains(list, wanted)
  for _, item in ipairs(list) do
    if item == wanted then return true end
  end
  return false
end

-- ---- numbers ----

-- Of a sorted list, between neighbours linearly (Hyndman, Fan 1996, type 7).
local function quantile(sorted, share)
  local at = 1 + (#sorted - 1) * share
  local low = math.floor(at)
  local high = math.min(low + 1, #sorted)
  return sorted[low] + (at - low) * (sorted[high] - sorted[low])
end

local summary_class = {} -- what an aggregate holds for a measure; prints as "median [low, high]"

local function summary(values, interval)
  local sorted, sum = table.move(values, 1, #values, 1, {}), 0
  table.sort(sorted)
  for _, value in ipairs(sorted) do sum = sum + value end
  return setmetatable({ median = quantile(sorted, 0.5), low = quantile(sorted, (1 - interval) / 2),
    high = quantile(sorted, (1 + interval) / 2), mean = sum / #sorted, least = sorted[1], most = sorted[#sorted],
    count = #sorted }, summary_class)
end

-- ---- measures ----

-- Names of what runs returned as numbers, in order.
local function measures_of(runs)
  local found, names = {}, {}
  for _, run in ipairs(runs) do
    for name, value in pairs(run.values or {}) do
      if type(value) == "number" and not found[name] then
        found[name] = true
        names[#names + 1] = name
      end
    end
  end
  table.sort(names)
  return names
end

local function group_key(row, by)
  local parts = {}
  for i, name in ipairs(by) do parts[i] = ("%q"):format(row[name]) end
  return table.concat(parts, "\t")
end

local function read_by(self, by)
  if by == nil then return self.names end
  if type(by) == "string" then by = { by } end
  for _, name in ipairs(by) do
    if not contains(self.names, name) then
      refuse("by: there is no setting '%s'; there are %s", tostring(name), table.concat(self.names, ", "))
    end
  end
  return by
end

local function read_interval(interval)
  if interval == nil then return 0.5 end
  if type(interval) ~= "number" or not (interval > 0 and interval < 1) then
    refuse("interval must be a share between 0 and 1, got %s", tostring(interval))
  end
  return interval
end

local function check_names(owner, options, known)
  if options ~= nil and type(options) ~= "table" then refuse("%s takes a table of options, got %s", owner, type(options)) end
  for name in pairs(options or {}) do
    if not contains(known, name) then
      refuse("%s: unknown option '%s'; it takes %s", owner, tostring(name), table.concat(known, ", "))
    end
  end
  return options or {}
end

-- result:aggregate{by=, interval=} -> list of {settings ..., count=, failed=, MEASURE = {median=, low=, high=, mean=, ...}}
function methods:aggregate(options)
  options = check_names("aggregate", options, { "by", "interval" })
  local by, interval = read_by(self, options.by), read_interval(options.interval)
  local groups, order = {}, {}
  for _, run in ipairs(self.runs) do
    local key = group_key(run.row, by)
    local group = groups[key]
    if not group then
      group = { values = {}, row = { count = 0, failed = 0 } }
      for _, name in ipairs(by) do group.row[name] = run.row[name] end
      groups[key], order[#order + 1] = group, group
    end
    if run.message then
      group.row.failed = group.row.failed + 1
    elseif run.values then
      group.row.count = group.row.count + 1
      for _, name in ipairs(self.measures) do
        local value = run.values[name]
        if type(value) == "number" and value == value then
          group.values[name] = group.values[name] or {}
          table.insert(group.values[name], value)
        end
      end
    end
  end
  local rows = {}
  for i, group in ipairs(order) do
    for name, values in pairs(group.values) do group.row[name] = summary(values, interval) end
    rows[i] = group.row
  end
  return rows
end

-- ---- printing ----

local WIDTH, MOST_ROWS, MOST_TABLES = 80, 40, 3

local function short(value, digits)
  if math.type(value) == "float" then
    if value % 1 == 0 and math.abs(value) < 1e9 then return ("%d"):format(value) end -- counts
    return ("%." .. (digits or 4) .. "g"):format(value)
  end
  return tostring(value)
end

local function counted(count, what) return ("%d %s%s"):format(count, what, count == 1 and "" or "s") end

-- A summary in a cell: the median and its interval.
local function summary_text(m, digits)
  local median = short(m.median, digits)
  return m.count == 1 and median or ("%s [%s, %s]"):format(median, short(m.low, digits), short(m.high, digits))
end

-- The same for a table; of runs without the measure, or with NaN, it says how many are left.
local function measure_text(m, runs, digits)
  if not m then return "-" end
  return summary_text(m, digits) .. (m.count < runs and (", %d of %d"):format(m.count, runs) or "")
end

summary_class.__tostring = function(m) return summary_text(m, 3) end

local function length(text) return utf8.len(text) or #text end

local function cut(text, most)
  if length(text) <= most then return text end
  return text:sub(1, (utf8.offset(text, most - 2) or most - 1) - 1) .. "..."
end

local function widths_of(rows, columns)
  local widths, sum = {}, 0
  for c = 1, columns or #rows[1] do
    widths[c] = 0
    for _, row in ipairs(rows) do widths[c] = math.max(widths[c], length(row[c])) end
    sum = sum + widths[c] + 2
  end
  return widths, sum
end

-- Long settings are cut until they leave room for measures.
local function cut_settings(rows, settings)
  local most = 24
  while most >= 6 and select(2, widths_of(rows, settings)) > WIDTH // 2 do
    for _, row in ipairs(rows) do
      for c = 1, settings do row[c] = cut(row[c], most) end
    end
    most = most - 2
  end
end

-- One line a row: the settings, then the columns from `first` to `last`; numbers stand to the right, the `left` first columns to
-- the left.
local function put_block(lines, rows, widths, left, settings, first, last)
  for _, row in ipairs(rows) do
    local cells = {}
    for c = 1, last do
      if c <= settings or c >= first then
        local space = (" "):rep(widths[c] - length(row[c]))
        cells[#cells + 1] = c <= left and row[c] .. space or space .. row[c]
      end
    end
    lines[#lines + 1] = ("  " .. table.concat(cells, "  ")):gsub("%s+$", "")
  end
end

-- Aligned columns, in up to three tables below one another that repeat the first `settings`; and how many columns have been shown.
local function align(rows, left, settings)
  local widths = widths_of(rows)
  local _, fixed = widths_of(rows, settings)
  local lines, shown, tables = {}, settings, 0
  while shown < #widths and tables < MOST_TABLES do
    local used, last = fixed, shown
    while last < #widths and used + widths[last + 1] + 2 <= WIDTH do
      last = last + 1
      used = used + widths[last] + 2
    end
    if last == shown then break end
    put_block(lines, rows, widths, left, settings, shown + 1, last)
    shown, tables = last, tables + 1
  end
  if shown == settings then put_block(lines, rows, widths, left, settings, settings + 1, settings) end
  return lines, shown, tables
end

local function cells_of(self, aggregated, digits)
  local rows = {}
  local head = table.move(self.names, 1, #self.names, 1, {})
  for _, measure in ipairs(self.measures) do head[#head + 1] = measure end
  local uneven = #self.failures > 0 or self.missing > 0 -- else the first line says how many
  if uneven then table.insert(head, #self.names + 1, "runs") end
  rows[1] = table.move(head, 1, #head, 1, {})
  for i, group in ipairs(aggregated) do
    if i > MOST_ROWS then break end
    local cells = {}
    for _, name in ipairs(self.names) do cells[#cells + 1] = group[name] == nil and "-" or short(group[name]) end
    if uneven then
      cells[#cells + 1] = group.failed > 0 and ("%d, %d failed"):format(group.count, group.failed) or tostring(group.count)
    end
    for _, measure in ipairs(self.measures) do cells[#cells + 1] = measure_text(group[measure], group.count, digits) end
    rows[#rows + 1] = cells
  end
  cut_settings(rows, #self.names)
  return rows, head, #self.names + (uneven and 1 or 0)
end

-- With four digits, or with fewer where that makes a single table of them.
local function table_lines(self)
  local aggregated = self:aggregate()
  local lines, shown, head
  for _, digits in ipairs { 4, 3, 2, 4 } do
    local rows, settings, tables
    rows, head, settings = cells_of(self, aggregated, digits)
    lines, shown, tables = align(rows, #self.names, settings)
    if shown == #head and tables <= 1 then break end
  end
  if #aggregated > MOST_ROWS then lines[#lines + 1] = ("  ... and %d more rows"):format(#aggregated - MOST_ROWS) end
  if shown < #head then lines[#lines + 1] = "  not shown: " .. table.concat(head, ", ", shown + 1) end
  return lines
end

local function in_words(self)
  local lines = { ("experiment: %s, %s a row%s"):format(counted(#self.runs, "run"), counted(self.repeats, "repeat"),
    self.simulated and "; seeded: simulated noise, no privacy" or "") }
  if self.stopped then
    lines[2] = ("  stopped: %s missing%s"):format(counted(self.missing, "run"),
      self.path and "; start it again and it goes on from" or "")
    lines[3] = self.path and "  " .. self.path
  end
  if self.older > 0 then
    lines[#lines + 1] = ("  %s kept from another version of run; another path= does all again"):format(counted(self.older, "run"))
  end
  if #self.measures > 0 then lines[#lines + 1] = "  median [quartiles]" end
  for _, line in ipairs(table_lines(self)) do lines[#lines + 1] = line end
  local failures = self.failures
  if #failures > 0 then
    lines[#lines + 1] = ("  %d failed; the first: %s"):format(#failures, failures[1].message:gsub("\n.*", ""))
  end
  return table.concat(lines, "\n")
end

-- ---- files and plots ----

-- A number with as many digits as tell it from all others; NaN and Inf as spreadsheets and statistics programs read them.
local function exact(value)
  if value ~= value then return "NaN" end
  if value == math.huge or value == -math.huge then return value > 0 and "Inf" or "-Inf" end
  for digits = 15, 16 do
    local text = ("%." .. digits .. "g"):format(value)
    if tonumber(text) == value then return text end
  end
  return ("%.17g"):format(value)
end

local function field(value)
  if value == nil then return "" end
  local text = math.type(value) == "float" and exact(value) or tostring(value)
  return text:find '[,"\r\n]' and '"' .. text:gsub('"', '""') .. '"' or text
end

-- result:save("x.csv"): a line a run (RFC 4180): settings, rep, measures, seconds, message.
function methods:save(path)
  if type(path) ~= "string" then refuse("save takes the path of a .csv file, got %s", type(path)) end
  local columns, values = {}, {}
  for _, run in ipairs(self.runs) do
    for name in pairs(run.values or {}) do values[name] = true end
  end
  for name in pairs(values) do columns[#columns + 1] = name end
  table.sort(columns)
  local head = table.move(self.names, 1, #self.names, 1, {})
  head[#head + 1] = "rep"
  table.move(columns, 1, #columns, #head + 1, head)
  head[#head + 1], head[#head + 2] = "seconds", "message"
  local lines = { table.concat(head, ",") }
  for _, run in ipairs(self.runs) do
    if run.values then
      local cells = {}
      for _, name in ipairs(self.names) do cells[#cells + 1] = field(run.row[name]) end
      cells[#cells + 1] = field(run.rep)
      for _, name in ipairs(columns) do cells[#cells + 1] = field(run.values[name]) end
      cells[#cells + 1], cells[#cells + 2] = ("%.6g"):format(run.seconds), field(run.message)
      lines[#lines + 1] = table.concat(cells, ",")
    end
  end
  local written, why = require "penumbra.files".put(path, table.concat(lines, "\n") .. "\n")
  if not written then refuse("%s", why) end
end

local PLOT = { "x", "y", "by", "interval", "title", "xlabel", "ylabel", "logx", "logy", "file", "as", "width", "height" }

-- What line and band are; runs with all values of a setting that is not in the picture are taken together.
local function band_title(self, options, along)
  local interval, others = read_interval(options.interval), {}
  for _, name in ipairs(self.names) do
    if not contains(along, name) then others[#others + 1] = name end
  end
  return ("median and %s of the runs%s"):format(interval == 0.5 and "quartiles" or ("central %.4g %%"):format(100 * interval),
    #others > 0 and " over all " .. table.concat(others, ", ") or "")
end

-- result:plot{x=, y=, by=, interval=, logx= ...}: medians against a setting with bands, a line for each `by`.
function methods:plot(options)
  options = check_names("plot", options, PLOT)
  local x, y = options.x or self.names[1], options.y or self.measures[1]
  if not contains(self.names, x) then
    refuse("plot: there is no setting '%s'; there are %s", tostring(x), table.concat(self.names, ", "))
  end
  if not contains(self.measures, y) then
    refuse("plot: there is no measure '%s'; there are %s", tostring(y), table.concat(self.measures, ", "))
  end
  local by = options.by and read_by(self, options.by) or {}
  local along = table.move(by, 1, #by, 2, { x })
  local lines, order = {}, {}
  for _, row in ipairs(self:aggregate { by = along, interval = options.interval }) do
    if type(row[x]) ~= "number" then refuse("plot: values of %s must be numbers, got %s", x, tostring(row[x])) end
    if row[y] then
      local key = group_key(row, by)
      if not lines[key] then
        local words = {}
        for i, name in ipairs(by) do words[i] = ("%s = %s"):format(name, short(row[name])) end
        lines[key] = { label = #words > 0 and table.concat(words, ", ") or y, points = {} }
        order[#order + 1] = lines[key]
      end
      table.insert(lines[key].points, { row[x], row[y].median, row[y].low, row[y].high })
    end
  end
  local call = { xlabel = options.xlabel or x, ylabel = options.ylabel or y }
  call.title = options.title or band_title(self, options, along)
  for _, name in ipairs { "logx", "logy", "file", "as", "width", "height" } do call[name] = options[name] end
  for i, line in ipairs(order) do
    table.sort(line.points, function(a, b) return a[1] < b[1] end)
    call[i] = { x = {}, y = {}, low = {}, high = {}, label = line.label }
    for k, point in ipairs(line.points) do
      call[i].x[k], call[i].y[k], call[i].low[k], call[i].high[k] = point[1], point[2], point[3], point[4]
    end
  end
  return require "penumbra.plot".line(call)
end

-- ---- the object ----

local class = { __name = "experiment", __tostring = in_words, __index = methods, __len = function(self) return #self.rows end }

-- What runs returned under a name that is a setting's or one of ours is called result_NAME.
local function rename(runs, settings)
  local taken = { rep = true, seconds = true, message = true, count = true, failed = true }
  for _, name in ipairs(settings) do taken[name] = true end
  for _, run in ipairs(runs) do
    local values = {}
    for name, value in pairs(run.values or {}) do values[taken[name] and "result_" .. name or name] = value end
    run.values = run.values and values
  end
end

function result.new(self)
  self.rows, self.failures, self.missing = {}, {}, 0
  rename(self.runs, self.names)
  for _, run in ipairs(self.runs) do
    if not run.values then
      self.missing = self.missing + 1
    else
      local row = { rep = run.rep, seconds = run.seconds, message = run.message }
      for name, value in pairs(run.values) do row[name] = value end
      for name, value in pairs(run.row) do row[name] = value end
      self.rows[#self.rows + 1] = row
      if run.message then self.failures[#self.failures + 1] = row end
    end
  end
  if #self.failures > 0 and #self.failures == #self.runs then
    error(("experiment: all %d runs failed; the first: %s"):format(#self.runs, self.failures[1].message), 0)
  end
  self.measures = measures_of(self.runs)
  return setmetatable(self, class)
end

return result
