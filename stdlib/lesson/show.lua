-- lesson_show.lua -- how lessons look: steps, code, lists; 80 columns, with colour through `paint`.
-- Depends on: penumbra.wrap.  Used by: penumbra.lesson, penumbra.lesson.course, penumbra.lesson.commands.
local wrap = require "penumbra.wrap"

local look = {}

local WIDTH = 78

-- Without the line ends around it.
local function trim(text)
  return (text:gsub("^%s*\n", ""):gsub("%s+$", ""))
end
look.trim = trim

-- `names` in backquotes stand out; without colour the quotes stay.
local function prose(text, paint)
  return (text:gsub("%s+$", ""):gsub("`([^`]+)`", function(name)
    local painted = paint(name, "name")
    return painted ~= name and painted or "`" .. name .. "`"
  end))
end
look.prose = prose

-- A sentence or two after a painted lead, filled into lines; indented lines, which are code, stay as they are.
function look.said(lead, role, text, paint)
  text = trim(text)
  local first, indent = lead == "" and "" or lead .. " ", lead == "" and 0 or 2
  local filled = text:find "\n%s" and lead .. "\n" .. text or trim(wrap(first, text, indent))
  return paint(filled:sub(1, #lead), role) .. prose(filled:sub(#lead + 1), paint) .. "\n"
end

function look.code(text, paint)
  local lines = {}
  for line in (trim(text) .. "\n"):gmatch "(.-)\n" do
    lines[#lines + 1] = line == "" and "" or "    " .. paint(line, "name")
  end
  return table.concat(lines, "\n")
end

-- What stands above the first step: what the lesson is about, and whose work it is.
function look.head(lesson, paint)
  local about = look.said("", "heading", lesson.about or "", paint):gsub("%s+$", "")
  local source = lesson.source and paint(trim(wrap("From: ", lesson.source, 6)), "dim") .. "\n" or ""
  return ("\n%s\n%s\n%s"):format(paint(lesson.title, "heading"), about, source)
end

function look.kind(step)
  return step.ask and "exercise" or step.code and "code" or step.plot and "picture" or "text"
end

-- "-- 3 of 12: scale ------"
function look.heading(number, count, id, paint)
  local text = ("-- %d of %d: %s "):format(number, count, id)
  return paint(text .. ("-"):rep(WIDTH - #text), "heading")
end

-- What is shown of a step on entering it, but for its picture.
function look.step(step, number, count, paint)
  local parts = { look.heading(number, count, step.id, paint) }
  if step.text then parts[#parts + 1] = prose(trim(step.text), paint) end
  if step.ask then
    parts[#parts + 1] = "\n" .. trim(look.said("Exercise:", "heading", step.ask, paint))
  elseif step.code then
    parts[#parts + 1] = "\n" .. look.code(step.code, paint)
  end
  return "\n" .. table.concat(parts, "\n") .. "\n"
end

function look.next_line(step, paint)
  if step.ask then
    return paint("(type your answer; `hint`, `skip`, `play`, `help`)\n", "dim")
  elseif step.code then
    return paint("(type that, or your own version of it)\n", "dim")
  end
  return paint("(Enter goes on)\n", "dim")
end

local marks = { done = "x", skipped = "~" }

-- How many of a lesson's steps a record has, and how many there are.
function look.count(lesson, record)
  local passed = 0
  for _, step in ipairs(lesson.steps) do
    if record and record.done[step.id] then passed = passed + 1 end
  end
  return passed, #lesson.steps
end

function look.where(lesson, record, at, paint)
  local lines = { paint(("%s: x done, ~ skipped, > here; `goto ID` goes there"):format(lesson.title), "heading") }
  for i, step in ipairs(lesson.steps) do
    local mark = marks[record.done[step.id]] or " "
    local line = (" %s %s %2d  %-24s %s"):format(i == at and ">" or " ", mark, i, step.id, look.kind(step))
    lines[i + 1] = i == at and paint(line, "name") or line
  end
  return table.concat(lines, "\n") .. "\n"
end

-- Cut to a width, where a line would be too long.
local function cut(text, width)
  return #text > width and text:sub(1, width - 3) .. "..." or text
end

-- The list that lesson() prints: a line for each, so that all fit on a screen; `note` of a lesson stands below its line.
function look.list(lessons, records, paint, title)
  local gap = (" "):rep(math.max(1, 24 - (utf8.len(title) or #title)))
  local lines = { paint(title, "heading") .. gap .. 'lesson "NAME" starts one or goes on with it' }
  local next_name
  for _, lesson in ipairs(lessons) do
    local passed, count = look.count(lesson, records[lesson.name])
    local state = lesson.problem and "broken" or ("%d/%d"):format(passed, count)
    next_name = next_name or (passed < count and not lesson.problem and lesson.name)
    local line = ("%2d  %-18s %-41s %2s min %6s"):format(lesson.number, cut(lesson.name, 18), cut(lesson.title, 41),
      lesson.minutes or "?", state)
    lines[#lines + 1] = count > 0 and passed == count and paint(line, "good") or line
    if lesson.note then lines[#lines + 1] = paint("    " .. lesson.note, "dim") end
    if lesson.problem then lines[#lines + 1] = paint("    " .. cut(lesson.problem:gsub("%s+", " "), WIDTH - 4), "dim") end
  end
  if next_name then
    lines[#lines + 1] = ('Next: lesson "%s"'):format(next_name)
  end
  return table.concat(lines, "\n") .. "\n"
end

look.help = [[
In a lesson
  next, Enter    go on              back           one step back
  hint           a hint, then more  skip           show and run the answer
  repeat         this text again    where          all steps, and what is done
  goto ID        go to a step       play           try things; `back` returns
  reset          your names as they were when this step began
  reset lesson   start the lesson over
  leave, Ctrl-D  back to the session; the lesson keeps your place
Everything else is Lua, in an environment of the lesson's own.  help "NAME"
tells about any part of Penumbra.
]]

return look
