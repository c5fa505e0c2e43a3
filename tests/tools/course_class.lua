-- course_class.lua -- what the tests of courses share: a course in a folder of its own, and the submissions of simulated learners.
-- Depends on: penumbra.course.submission, penumbra.lesson.files, program.lua.  Used by: tests/stdlib/course/*_spec.lua.
local files = require "penumbra.lesson.files"
local program = require "tests.tools.program"
local submission = require "penumbra.course.submission"

local class = {}

class.begun = 1796000000 -- 2026-11-30 00:53:20 UTC, when the first learner begins

-- A folder with a course of these rows of `lessons`; class.remove(folder) takes it away.
function class.course(rows, more)
  local folder = os.tmpname()
  os.remove(folder)
  os.execute("mkdir -p " .. program.quote(folder .. "/lessons"))
  program.write_all(folder .. "/course.lua", ('title, id = "A course", "c0ffee"\nlessons = {%s}\n%s\n'):format(rows, more or ""))
  return folder
end

function class.remove(folder)
  os.execute("rm -rf " .. program.quote(folder))
end

-- The text of a submission of entries {kind, lesson, step, text}, a minute apart, with all of its tags.
function class.text(name, entries, course, begun)
  local lines = { submission.begun(course or "c0ffee", name) }
  local head = submission.parse(lines[1])
  local tag = head.tag
  for k, entry in ipairs(entries) do
    lines[k + 1], tag = submission.line(head, tag, entry[1], entry[2], entry[3], entry[4], (begun or class.begun) + 60 * k)
  end
  return table.concat(lines)
end

-- What a learner who knows the answers types in a lesson, as far as step `last`; mistakes: wrong answers before.  Its field
-- `passes`: how many steps pass by it.
function class.entries(name, last, mistakes)
  local lesson, entries = files.find(name), { passes = 0 }
  for k = 1, math.min(last or math.huge, #lesson.steps) do
    local step = lesson.steps[k]
    entries[#entries + 1] = { k == 1 and "begin" or "at", name, step.id }
    if mistakes and step.wrong then entries[#entries + 1] = { "typed", name, step.id, step.wrong[1] } end
    local asks = step.code or step.answer
    entries[#entries + 1] = { asks and "right" or "read", name, step.id, asks }
    entries.passes = entries.passes + (asks and 1 or 0)
  end
  return entries
end

-- Grade files {name = text} of the course; the rows by "name lesson" (with passed, steps, late, remark), the CSV, stderr, status.
function class.grade(folder, texts, words)
  local command = { "exec", program.quote(program.path), "course grade", program.quote(folder) }
  for name, text in pairs(texts) do
    program.write_all(("%s/%s.txt"):format(folder, name), text)
    command[#command + 1] = program.quote(("%s/%s.txt"):format(folder, name))
  end
  local out, err, code = program.shell(table.concat(command, " ") .. " " .. (words or ""))
  local rows = {}
  for line in out:gmatch "[^\n]+" do
    local name, lesson, passed, steps, late, remark = line:match '^"?([^,]-)"?,([%w_]+),(%d+),(%d+),(%d+),"?(.-)"?$'
    if name then
      rows[name .. " " .. lesson] = { passed = tonumber(passed), steps = tonumber(steps), late = tonumber(late), remark = remark }
    end
  end
  return rows, out, err, code
end

return class
