-- experiment.lua -- pn.experiment: a function run for every combination of settings, many times, on all processors; what
-- was measured as a table.  Each run has a stream of its own that depends on the seed, the settings and the repeat alone,
-- so neither the number of processes nor an interruption changes a number.
-- Depends on: penumbra.core, penumbra.workers (bindings/core/lworkers.c), penumbra.experiment.record, penumbra.experiment.result,
-- penumbra.stopped.  Used by: penumbra (pn.experiment).
local pn = require "penumbra.core"
local record = require "penumbra.experiment.record"
local result = require "penumbra.experiment.result"
local stopped = require "penumbra.stopped"

local experiment = {}

local MOST = 1000000 -- runs

local function refuse(format, ...)
  error(("experiment: " .. format):format(...), 0)
end

-- ---- options ----

local params = {
  { name = "run", expects = "a function(row, rng)", required = true,
    doc = "what is measured: called with one setting of each name (and row.rep, the repeat) and a stream; returns a number "
      .. "or a table of numbers, strings and booleans by name; a name that is a setting's, or count, failed, message, rep or "
      .. "seconds, becomes result_NAME" },
  { name = "grid", expects = "a table of name = {values}",
    doc = "settings: every combination is run; a single value stands for a list of one" },
  { name = "rows", expects = "a list of tables of name = value", doc = "settings one by one, in place of grid" },
  { name = "repeats", expects = "a whole number from 1", default = 1, doc = "how many times each row is run" },
  { name = "seed", expects = "a whole number, or false", default = 1,
    doc = "streams are derived from it, the row and the repeat: noise is then simulated; false gives secure streams" },
  { name = "paired", expects = "true or false", default = "false",
    doc = "all rows of a repeat get the same stream, to be compared with less noise" },
  { name = "processes", expects = "a whole number from 1 to 256",
    doc = "how many work at once; one per processor when left out.  1: in this process, where a debugger sees it and its "
      .. "ledgers can be charged" },
  { name = "path", expects = "the path of a file",
    doc = "keep what is done there, and go on from it: an interrupted experiment that is started again runs only what is missing, "
      .. "and warns when kept results come from another text of run" },
  { name = "progress", expects = "true, false or a function(done, total)", default = "true", doc = "as for solvers" },
}

local function whole(options, name, low, high)
  local value = options[name]
  if value ~= nil and not (math.type(value) == "integer" and value >= low and value <= high) then
    refuse("%s must be a whole number from %d to %d, got %s", name, low, high, tostring(value))
  end
  return value
end

local function check_options(options)
  if type(options) ~= "table" then refuse("expected a table of options, got %s", type(options)) end
  local known, names = {}, {}
  for i, param in ipairs(params) do known[param.name], names[i] = true, param.name end
  for name in pairs(options) do
    if not known[name] then refuse("unknown option '%s'; it takes %s", tostring(name), table.concat(names, ", ")) end
  end
  if type(options.run) ~= "function" then refuse("run must be a function(row, rng), got %s", type(options.run)) end
  if (options.grid == nil) == (options.rows == nil) then refuse "give grid or rows, one of them" end
  whole(options, "repeats", 1, MOST)
  whole(options, "processes", 1, 256)
  if options.seed ~= nil and options.seed ~= false and math.type(options.seed) ~= "integer" then
    refuse("seed must be a whole number or false, got %s", tostring(options.seed))
  end
  if options.path ~= nil and type(options.path) ~= "string" then refuse("path must be a string, got %s", type(options.path)) end
end

-- ---- rows ----

local function check_setting(name, value)
  local kind = type(value)
  if type(name) ~= "string" or not name:match "^[%a_][%w_]*$" then
    refuse("a setting's name must be a word, got %s", tostring(name))
  end
  if name == "rep" then refuse "a setting may not be called rep, which is the repeat" end
  if kind ~= "number" and kind ~= "string" and kind ~= "boolean" then
    refuse("values of %s must be numbers, strings or booleans, which tell rows apart; got a %s.  "
      .. "Keep other things in a table by name", name, kind)
  end
end

local function sorted_names(t)
  local names = {}
  for name in pairs(t) do names[#names + 1] = name end
  table.sort(names, function(a, b) return tostring(a) < tostring(b) end)
  return names
end

-- Every combination; the last name turns fastest.
local function combinations(grid)
  if type(grid) ~= "table" then refuse("grid must be a table of name = {values}, got %s", type(grid)) end
  local rows, names = { {} }, sorted_names(grid)
  for _, name in ipairs(names) do
    local values, longer = type(grid[name]) == "table" and grid[name] or { grid[name] }, {}
    if #values == 0 then refuse("%s has no values", name) end
    if #rows * #values > MOST then refuse("more than %d rows", MOST) end
    for _, row in ipairs(rows) do
      for _, value in ipairs(values) do
        check_setting(name, value)
        local copy = {}
        for key, old in pairs(row) do copy[key] = old end
        copy[name] = value
        longer[#longer + 1] = copy
      end
    end
    rows = longer
  end
  return rows, names
end

local function listed(rows)
  if type(rows) ~= "table" or #rows == 0 then refuse "rows must be a list of at least one table of name = value" end
  local names, copies = {}, {}
  for i, row in ipairs(rows) do
    if type(row) ~= "table" then refuse("row %d must be a table, got %s", i, type(row)) end
    copies[i] = {}
    for name, value in pairs(row) do
      check_setting(name, value)
      names[name], copies[i][name] = true, value
    end
  end
  return copies, sorted_names(names)
end

-- ---- runs ----

-- What has to be done: key, row, repeat, stream.  The key says the settings and the repeat, whatever else is in the grid.
local function make_runs(rows, repeats)
  local runs, seen = {}, {}
  for _, row in ipairs(rows) do
    local settings = record.pack(row)
    if seen[settings] then refuse("two rows are the same: %s", settings == "" and "no settings" or settings:gsub("\t", ", ")) end
    seen[settings] = true
    for rep = 1, repeats do
      runs[#runs + 1] = { key = ("%s\trep=%d"):format(settings, rep), row = row, rep = rep }
    end
  end
  if #runs > MOST then refuse("%d runs; at most %d are done", #runs, MOST) end
  return runs
end

local function stream_of(run, options)
  if options.seed == false then return pn.rng.secure() end
  local workers = require "penumbra.workers"
  local word = options.paired and ("rep=%d"):format(run.rep) or run.key
  return pn.rng.seeded(options.seed or 1):split(workers.number(word))
end

-- What run returned as values by name.
local function values_of(...)
  local values = ...
  if type(values) == "number" then values = { value = values } end
  if type(values) ~= "table" then
    error(("run must return a number or a table of values by name, got %s"):format(type(values)), 0)
  end
  for name, value in pairs(values) do
    local kind = type(value)
    if type(name) ~= "string" or not name:match "^[%a_][%w_]*$" then
      error(("run returned a value without a name: names must be words, got %s"):format(tostring(name)), 0)
    elseif kind ~= "number" and kind ~= "string" and kind ~= "boolean" then
      error(("run returned a %s as %s; numbers, strings and booleans can be kept"):format(kind, name), 0)
    end
  end
  return values
end

-- In whatever process: the answer as text, "seconds<tab>name=literal ...".
local function answer(run, options)
  local row = { rep = run.rep }
  for name, value in pairs(run.row) do row[name] = value end
  local clock = require "penumbra.workers".seconds
  local begun = clock()
  local values = values_of(options.run(row, stream_of(run, options)))
  return ("%q\n"):format(clock() - begun) .. record.pack(values)
end

-- What a ledger says that is charged in another process than its own, and what would be right.
local COPY, REMEDY = "copy of a child process", "open it in run, or give processes=1, which runs in this process"

local function finish(run, fine, text)
  if fine then
    local seconds, rest = text:match "^([^\n]*)\n(.*)$"
    run.seconds, run.values = load("return " .. seconds, "=seconds", "t", {})(), record.unpack(rest)
  else
    run.seconds, run.message, run.values = 0, text .. (text:find(COPY, 1, true) and "; " .. REMEDY or ""), {}
  end
end

local function run_here(open, options, note)
  for i, run in ipairs(open) do
    local ok, text = xpcall(answer, function(message)
      return stopped(message) and message or tostring(message)
    end, run, options)
    if not ok and stopped(text) then error(text, 0) end
    note(i, ok, text)
  end
end

local function run_in_processes(open, done, processes, options, note)
  require "penumbra.workers".map(#open, math.min(processes, #open), function(i) return answer(open[i], options) end, note,
    options.progress, done)
end

-- Runs what is open; the reason when it was stopped.
local function perform(open, done, options)
  local processes = options.processes
  local function note(i, fine, text)
    finish(open[i], fine, text)
    if options.path then record.add(options.path, open[i]) end
  end
  if #open == 0 then return nil end
  local ok, why
  if processes == 1 then
    ok, why = pcall(run_here, open, options, note)
  else
    processes = processes or require "penumbra.workers".processors()
    ok, why = pcall(run_in_processes, open, done, processes, options, note)
  end
  if not ok and not stopped(why) then error(why, 0) end
  return not ok and "stopped by the user" or nil
end

-- ---- pn.experiment ----

-- The lines of a function in a file or a string, spaces aside; its instructions where they cannot be read; or that it is C.
local function text_of(f)
  local from = debug.getinfo(f, "S")
  if from.what == "C" then return "C" end
  local file = from.source:sub(1, 1) == "@" and io.open(from.source:sub(2), "rb")
  local text = file and file:read "a" or not from.source:find "^[@=]" and from.source
  if file then file:close() end
  if not text then return string.dump(f, true) end
  local lines, number = {}, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    if from.linedefined == 0 or number >= from.linedefined and number <= from.lastlinedefined then lines[#lines + 1] = line end
  end
  return (table.concat(lines, "\n"):gsub("%s+", " "))
end

-- A word that stands for the function and the version of the library.
local function code_of(run)
  return ("%x"):format(require "penumbra.workers".number(tostring(pn.version) .. text_of(run)))
end

-- Takes what is kept; gives what is open, and how many are kept, and how many of them are of another code.
local function sort_out(runs, kept, code)
  local open, again, older = {}, 0, 0
  for _, run in ipairs(runs) do
    local before = kept[run.key]
    if before and not before.message then
      run.seconds, run.values, again = before.seconds, before.values, again + 1
      older = older + (before.code and before.code ~= code and 1 or 0)
    else
      open[#open + 1] = run
    end
  end
  return open, again, older
end

function experiment.run(options)
  check_options(options)
  local rows, names
  if options.grid then rows, names = combinations(options.grid) else rows, names = listed(options.rows) end
  local runs = make_runs(rows, options.repeats or 1)
  local code = options.path and code_of(options.run)
  local kept = options.path and record.open(options.path, options.seed == nil and 1 or options.seed, code) or {}
  local open, again, older = sort_out(runs, kept, code)
  local stop = perform(open, again, options)
  return result.new { runs = runs, names = names, repeats = options.repeats or 1, stopped = stop, kept = again, older = older,
    simulated = options.seed ~= false, path = options.path }
end

experiment.rows = {
  experiment = {
    kind = "function",
    reveals = "raw",
    signature = "pn.experiment{run=, grid=, rows=, repeats=, seed=, paired=, processes=, path=, progress=} -> result",
    doc = "Run a function for every combination of settings, `repeats` times, on all processors, and collect what it returns.  "
      .. "Each run gets a row of settings and a stream of its own, which depends on the seed, the settings and the repeat alone: "
      .. "more processes, another order or an interruption change no number.  An error in a run is kept as its row's message "
      .. "and the others go on; when all fail, the first one is raised.  Runs in other processes see what was there when the "
      .. "experiment began, and can charge no ledger but one that they open.  The result prints as a table of medians and "
      .. "quartiles; result:aggregate{by=, interval=} (which holds that share of the runs, half when left out; it is not "
      .. "a confidence interval), result:plot{x=, y=, by=}, result:save(path) as CSV; result.rows has all.",
    params = params,
    example = [[
      result = pn.experiment{grid = {n = {10, 100, 1000}}, repeats = 20, progress = false, run = function(row, rng)
        local v = pn.vec.normal(row.n, rng)
        return {error = math.abs(v:sum() / row.n)}
      end}
      print(result)
      print(result:plot{x = "n", y = "error", logx = true, logy = true, as = "text"})]],
  },
}

return experiment
