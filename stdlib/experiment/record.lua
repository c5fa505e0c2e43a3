-- experiment_record.lua -- the file of an experiment: what is done is there, a line a run, so that an interrupted experiment
-- goes on where it was.  Values are written as Lua literals (numbers to the last bit); a torn last line is forgotten.
-- Depends on: nothing.  Used by: penumbra.experiment.
local record = {}

local FIRST = "penumbra experiment 1"

local function literal(value)
  return (("%q"):format(value):gsub("\\\n", "\\n"))
end

-- "name=literal", tab between, names in order.
function record.pack(values)
  local names, parts = {}, {}
  for name in pairs(values) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do
    parts[i] = ("%s=%s"):format(name, literal(values[name]))
  end
  return table.concat(parts, "\t")
end

function record.unpack(text)
  local values = {}
  for part in text:gmatch "[^\t]+" do
    local name, value = part:match "^([%a_][%w_]*)=(.*)$"
    local chunk = name and load("return " .. value, "=record", "t", {})
    if not chunk then return nil end
    local ok, result = pcall(chunk)
    if not ok then return nil end
    values[name] = result
  end
  return values
end

-- A tab within a string stands as \9, or it would end the value.
local function safe(text)
  return (text:gsub("\t", "\\9"))
end

local function fail(path, format, ...)
  error(("experiment: %s: " .. format):format(path, ...), 0)
end

-- One line of a run: its key, whether it went well, seconds, and its values or message.
local function line_of(run)
  local values = run.message and { message = run.message } or run.values
  local parts = {}
  for name, value in pairs(values) do parts[#parts + 1] = ("%s=%s"):format(name, safe(literal(value))) end
  table.sort(parts)
  return ("%s\t%s\t%s\t%s"):format(safe(literal(run.key)), run.message and "failed" or "done", literal(run.seconds),
    table.concat(parts, "\t"))
end

local function run_of(line)
  local key, state, seconds, rest = line:match "^([^\t]*)\t(%a+)\t([^\t]*)\t?(.*)$"
  local head = key and record.unpack(("key=%s\tseconds=%s"):format(key, seconds))
  local values = head and record.unpack(rest)
  if not values or not head.key or (state ~= "done" and state ~= "failed") then return nil end
  return { key = head.key, seconds = head.seconds, message = state == "failed" and values.message or nil, values = values }
end

-- The runs of a file's text by their keys, each with the code that did it: of the line "code<tab>..." before it.
local function read_runs(text)
  local done, code = {}, nil
  local whole = text:match "^.*\n" or "" -- a last line that is torn would be tried from each of its bytes
  for line in whole:gmatch "[^\n]+" do
    code = line:match "^code\t(%S+)$" or code
    local run = run_of(line)
    if run then done[run.key], run.code = run, code end
  end
  return done, code
end

-- The runs that the file has, and the file open for more.  `seed` is part of what an experiment is; `code`, a word that stands for
-- the function, is noted.
function record.open(path, seed, code)
  local head, done = ("%s seed=%s"):format(FIRST, tostring(seed)), {}
  local file, whole, last = io.open(path, "rb"), 0, nil
  if file then
    local text = file:read "a" or ""
    file:close()
    whole = #text
    local first = text:match "^([^\n]*)\n"
    if whole > 0 and not (first and first:sub(1, #FIRST) == FIRST) then
      fail(path, "the file exists and is not a record of an experiment; give another path")
    elseif first and first ~= head then
      fail(path, "it was begun with %s, this experiment has seed=%s; give that seed or another path",
        first:sub(#FIRST + 2), tostring(seed))
    end
    done, last = read_runs(text)
    whole = text:find "[^\n]$" and -1 or whole
  end
  local out, why = io.open(path, "ab")
  if not out then fail(path, "%s", (why:gsub("^.-: ", ""))) end
  if whole == 0 then out:write(head, "\n") elseif whole < 0 then out:write "\n" end
  if code ~= last then out:write("code\t", code, "\n") end
  out:flush()
  return done, out
end

function record.add(out, run)
  out:write(line_of(run), "\n")
  out:flush()
end

return record
