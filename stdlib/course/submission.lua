-- course_submission.lua -- what a learner hands in: a text file with a line for everything that happened in the lessons of a
-- course, the answers as they were typed among it.  Each line ends in a tag, a keyed hash of the line and of the tag before it, so
-- that a line that was changed, moved or taken out shows, as does another name.  The key is derived from the head of the file:
-- whoever reads this program can compute tags.  They show edits by hand; what counts is that answers pass when played again.
-- Depends on: penumbra.workers (BLAKE2b), penumbra.files, penumbra.lesson.progress.  Used by: penumbra.course.play, _grade.
local number = require "penumbra.workers".number
local progress = require "penumbra.lesson.progress"

local submission = {}

local FIRST = "penumbra submission 1"
local MOST_BYTES = 4 << 20 -- of a file
local MOST_ENTRY = 1 << 16 -- of an entry
local MOST_NAME = 80 -- of a name
local BACK = 60 -- seconds that a clock may be set back by
submission.MOST_BYTES = MOST_BYTES

local kinds = { begin = true, at = true, typed = true, right = true, skipped = true, read = true, reset = true, ["end"] = true }

-- ---- texts ----

-- An entry on one line: line ends, other control characters and backslashes as \n and \ddd.
local function escaped(text)
  return (text:gsub("[%c\\]", function(c) return c == "\n" and "\\n" or ("\\%03d"):format(c:byte()) end))
end

local function unescaped(text)
  return (text:gsub("\\(n?)(%d?%d?%d?)", function(line_end, digits)
    if line_end == "n" then return "\n" .. digits end
    local code = #digits == 3 and tonumber(digits)
    return code and code < 256 and string.char(code) or "\\" .. digits
  end))
end

local function tag_of(key, before, line)
  return ("%016x"):format(number(key .. "\n" .. before .. "\n" .. line))
end

local function key_of(head)
  return ("%s\n%s\n%s"):format(head.course, head.name, head.nonce)
end

local function head_text(head)
  return ("%s\ncourse %s\nname %s\nnonce %s\n"):format(FIRST, head.course, head.name, head.nonce)
end

-- nil, or what is wrong with a learner's name.
function submission.unfit(name)
  if name == "" or name:find "^%s" or name:find "%s$" then return "a name is a word or several, without spaces around it" end
  if #name > MOST_NAME then return ("a name has at most %d bytes, this one has %d"):format(MOST_NAME, #name) end
  if not utf8.len(name) or name:find "%c" then return "a name is UTF-8 without control characters" end
end

-- ---- reading ----

-- The lines that have an end, one by one: patterns would look at a long one without end again and again.  Then nil, and whether
-- anything is left.
local function lines_of(text)
  local at = 1
  return function()
    local line_end = text:find("\n", at, true)
    if not line_end then return nil, at <= #text end
    local line = text:sub(at, line_end - 1)
    at = line_end + 1
    return line
  end
end

local function parse_head(next_line)
  local head = {}
  if next_line() ~= FIRST then return nil, ("it is not a submission: its first line is not '%s'"):format(FIRST) end
  for _, field in ipairs { "course", "name", "nonce", "opens" } do
    head[field] = (next_line() or ""):match("^" .. field .. " (.+)$")
    if not head[field] then return nil, ("its head is cut off or was changed: the line '%s ...' is missing"):format(field) end
  end
  if #head.name > MOST_NAME then return nil, ("its head was changed: a name has at most %d bytes"):format(MOST_NAME) end
  return head
end

local function parse_line(line)
  local body, tag = line:match "^(.*) #(%x+)$"
  local kind, lesson, step, time, text = (body or ""):match "^(%l+) ([%w_-]+) ([%w_-]+) (%d+) (.*)$"
  if not kinds[kind] or #tag ~= 16 or #time > 12 then return nil end
  return { kind = kind, lesson = lesson, step = step, time = tonumber(time), text = unescaped(text), tag = tag, body = body }
end

local function add_flaw(made, format, ...)
  made.flaws = made.flaws + 1
  made.flaw = made.flaw or format:format(...)
end

local function add_line(made, line, key, at)
  local entry = parse_line(line)
  if not entry then return add_flaw(made, "line %d cannot be read", at) end
  if not made.head_changed and entry.tag ~= tag_of(key, made.tag, entry.body) then
    add_flaw(made, "line %d does not fit its tag: it, or a line before it, was changed or removed", at)
  end
  if entry.time < made.latest - BACK then made.set_back = made.set_back or at end
  made.latest = math.max(made.latest, entry.time)
  made.tag = entry.tag
  made.entries[#made.entries + 1] = entry
end

-- A submission from its text: course, name, nonce, entries {kind=, lesson=, step=, time=, text=}; flaw: what shows that it was
-- edited, and flaws, how many such places there are; set_back: the line at which the clock went back.  Or nil and why not.
function submission.parse(text)
  local next_line = lines_of((text:gsub("\r\n", "\n"))) -- as mail programs make them
  local made, why = parse_head(next_line)
  if not made then return nil, why end
  local key, at = key_of(made), 5
  made.entries, made.flaws, made.latest, made.tag = {}, 0, 0, made.opens
  if made.opens ~= tag_of(key, "", head_text(made)) then
    made.head_changed = true -- and no tag of a line fits
    add_flaw(made, "its head (course, name, nonce) was changed")
  end
  local line, cut = next_line()
  while line do
    at = at + 1
    add_line(made, line, key, at)
    line, cut = next_line()
  end
  if cut then add_flaw(made, "line %d is cut off", at + 1) end
  return made
end

-- The whole text of a file that is not too large, or nil and why not.
local function text_of(path)
  local file, why = io.open(path, "rb")
  if not file then return nil, why end
  local text
  text, why = file:read(MOST_BYTES + 1)
  file:close()
  if why then return nil, ("%s: %s"):format(path, why) end
  if not text then return nil, path .. ": it is empty" end
  if #text > MOST_BYTES then
    return nil, ("%s: it has more than %d megabytes, which no submission has"):format(path, MOST_BYTES >> 20)
  end
  return text
end

function submission.read(path)
  local text, why = text_of(path)
  if not text then return nil, why end
  local made
  made, why = submission.parse(text)
  return made, why and ("%s: %s"):format(path, why)
end

-- The records of the lessons, by their names, as penumbra.lesson.progress has them.
function submission.records(entries)
  local records = {}
  for _, entry in ipairs(entries) do
    local record = records[entry.lesson] or progress.record()
    records[entry.lesson] = record
    if entry.kind == "begin" or entry.kind == "at" then record.at = entry.step end
    if entry.kind == "end" then record.at = nil end
    if entry.kind == "right" or entry.kind == "read" then record.done[entry.step] = "done" end
    if entry.kind == "skipped" then record.done[entry.step] = record.done[entry.step] or "skipped" end
  end
  return records
end

-- ---- writing ----

local function random_hex(bytes)
  local file <close> = assert(io.open("/dev/urandom", "rb"))
  return (file:read(bytes):gsub(".", function(c) return ("%02x"):format(c:byte()) end))
end
submission.random_hex = random_hex

-- The text of a submission in which nothing has happened.
function submission.begun(course, name)
  local head = { course = course, name = name, nonce = random_hex(16) }
  return head_text(head) .. ("opens %s\n"):format(tag_of(key_of(head), "", head_text(head)))
end

-- The line that comes after the tag `before`, and its own tag; time in seconds since 1970.
function submission.line(head, before, kind, lesson, step, text, time)
  local body = ("%s %s %s %d %s"):format(kind, lesson, step, time, escaped(text or ""))
  local tag = tag_of(key_of(head), before, body)
  return ("%s #%s\n"):format(body, tag), tag
end

-- Add a line to the file, after whatever its last one is now: a learner may have two terminals.
function submission.append(path, head, kind, lesson, step, text)
  if text and #text > MOST_ENTRY then
    return nil, ("an entry of more than %d kilobytes goes into no submission"):format(MOST_ENTRY >> 10)
  end
  local file <close>, why = io.open(path, "rb")
  if not file then return nil, why end
  file:seek("end", -17)
  local last
  last, why = file:read(17)
  if why then return nil, ("%s: %s"):format(path, why) end
  local before = (last or ""):match "^(%x+)\n$"
  if not before then return nil, ("%s does not end as a submission does"):format(path) end
  local line = submission.line(head, before, kind, lesson, step, text, os.time())
  return require "penumbra.files".append(path, line, true)
end

-- The submission at `path`, to go on with, made for this learner where there is none.  A last line that a crash cut off is dropped.
function submission.open(path, course, name)
  local put = require "penumbra.files".put
  local file, unreadable, code = io.open(path, "rb")
  if file then
    file:close()
  elseif code ~= 2 then -- not ENOENT
    return nil, unreadable
  else
    if not name then return nil, ('%s is not there yet: --name "YOUR NAME" begins it'):format(path) end
    local fine, why = put(path, submission.begun(course, name))
    if not fine then return nil, why end
  end
  local text, why = text_of(path)
  if text and text:sub(-1) ~= "\n" then
    text = text:sub(1, -#(text:reverse():match "^[^\n]*") - 1)
    local fine
    fine, why = put(path, text)
    if not fine then return nil, why end
  end
  if not text then return nil, why end
  local made
  made, why = submission.parse(text)
  return made, why and ("%s: %s"):format(path, why)
end

return submission
