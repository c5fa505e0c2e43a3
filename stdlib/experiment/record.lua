-- experiment_record.lua -- the file of an experiment: what is done is there, a line a run, so that an interrupted experiment
-- goes on where it was.  Values are written as Lua literals (numbers to the last bit); a torn last line is forgotten.
-- Depends on: penumbra.files.  Used by: penumbra.experiment.
local record = {}

local FIRST = "penumbra experiment 1"
local NOT_THERE = 2 -- ENOENT

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

local function text_of(path)
  local file <close>, why, number = io.open(path, "rb")
  if not file then return number ~= NOT_THERE and fail(path, "%s", (why:gsub("^.-: ", ""))) or "" end
  local text
  text, why = file:read "a"
  return text or fail(path, "%s", why)
end

local function must(written, why)
  if not written then error("experiment: " .. why, 0) end
end

-- The runs that the file has, which is made where there is none.  `seed` is part of what an experiment is; `code`, a word that
-- stands for the function, is noted.
function record.open(path, seed, code)
  local head, text, files = ("%s seed=%s"):format(FIRST, tostring(seed)), text_of(path), require "penumbra.files"
  local first, note = text:match "^([^\n]*)\n", ("code\t%s\n"):format(code)
  if text == "" then
    must(files.put(path, head .. "\n" .. note))
    return {}
  elseif not (first and first:sub(1, #FIRST) == FIRST) then
    fail(path, "the file exists and is not a record of an experiment; give another path")
  elseif first ~= head then
    fail(path, "it was begun with %s, this experiment has seed=%s; give that seed or another path",
      first:sub(#FIRST + 2), tostring(seed))
  end
  local done, last = read_runs(text)
  if text:sub(-1) ~= "\n" then -- a part of a line: with an end, it would be a run with a part of its values
    text = text:sub(1, -#(text:reverse():match "^[^\n]*") - 1)
    must(files.put(path, text))
  end
  if code ~= last then must(files.append(path, note)) end
  return done
end

-- All of the line, or an error.
function record.add(path, run)
  must(require "penumbra.files".append(path, line_of(run) .. "\n"))
end

return record
