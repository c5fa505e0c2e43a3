-- progress.lua -- which steps of which lessons are done, kept between sessions in a small text file:
--   at LESSON STEP     where the learner is        done LESSON STEP, skipped LESSON STEP    how a step was passed
-- A line that is not understood is left out; steps go by their ids, so that new ones in a lesson lose nothing.
-- Depends on: penumbra.files.  Used by: penumbra.lesson, penumbra.lesson.course.
local progress = {}

local MOST = 1000000 -- bytes of a file that are read
local HEAD = "# Penumbra: how far the lessons are.  Delete this file to start over.\n"

-- $PENUMBRA_PROGRESS (empty: keep nothing), or the user's data folder; nil when there is none.
function progress.path()
  local own = os.getenv "PENUMBRA_PROGRESS"
  if own then
    return own ~= "" and own or nil
  end
  local data, home = os.getenv "XDG_DATA_HOME", os.getenv "HOME"
  if data and data:sub(1, 1) == "/" then
    return data .. "/penumbra/lessons"
  end
  return home and home ~= "" and home .. "/.local/share/penumbra/lessons" or nil
end

function progress.record()
  return { done = {}, at = nil }
end

local NOT_THERE = { [2] = true, [20] = true } -- ENOENT, ENOTDIR

-- All records, by the names of the lessons; empty without a file.  Then why a file that is there could not be read.
function progress.read(path)
  if not path then return {} end
  local records, file, why, number = {}, io.open(path, "r")
  if not file then
    return records, not NOT_THERE[number] and why or nil
  end
  local size = file:seek "end" or MOST -- room is made for all that is asked for
  file:seek "set"
  local text
  text, why = file:read(math.min(size, MOST))
  file:close()
  if why then return records, ("%s: %s"):format(path, why) end
  local whole = (text or ""):match "^.*\n" or "" -- a line without an end would be tried from each of its bytes
  for line in whole:gmatch "[^\n]+" do
    local what, name, id = line:match "^(%l+) ([%w_-]+) ([%w_-]+)$"
    if name then
      records[name] = records[name] or progress.record()
      if what == "at" then records[name].at = id end
      if what == "done" or what == "skipped" then records[name].done[id] = what end
    end
  end
  return records
end

local function sorted_keys(t)
  local keys = {}
  for key in pairs(t) do keys[#keys + 1] = key end
  table.sort(keys)
  return keys
end

local function text_of(records)
  local lines = {}
  for _, name in ipairs(sorted_keys(records)) do
    local record = records[name]
    if record.at then lines[#lines + 1] = ("at %s %s\n"):format(name, record.at) end
    for _, id in ipairs(sorted_keys(record.done)) do
      lines[#lines + 1] = ("%s %s %s\n"):format(record.done[id], name, id)
    end
  end
  return HEAD .. table.concat(lines)
end

-- Keep the record of one lesson and leave those of the others as they are in the file now.  true, or nil and why not.
function progress.write(path, name, record)
  local files, folder, records, why = require "penumbra.files", path:match "^(.+)/[^/]*$", progress.read(path)
  if why then return nil, why end
  records[name] = record
  if folder then
    local there
    there, why = files.folder(folder)
    if not there then return nil, why end
  end
  return files.put(path, text_of(records))
end

-- Who keeps the progress of a lesson that is being taken: read(name) -> its record or nil; write(name, record) -> true, or nil and
-- why not; note(kind, lesson, step, text): what happened, for keepers that want to know more than records.  Without a path nothing
-- is kept.
function progress.keeper(path)
  return {
    read = function(name) return progress.read(path)[name] end,
    write = function(name, record)
      if not path then return true end
      return progress.write(path, name, record)
    end,
    note = function() return true end,
  }
end

return progress
