-- course_play.lua -- a learner at work on a course: at the prompt, lesson() lists its lessons and lesson "NAME" takes one; what is
-- typed there goes into the submission.
-- Depends on: penumbra.lesson, penumbra.course.file, _submission.  Used by: penumbra.programs.course.
local course = require "penumbra.course.file"
local lesson = require "penumbra.lesson"
local submission = require "penumbra.course.submission"

-- The keeper of progress (as penumbra.lesson.progress makes them) whose file is a submission.
local function keeper_of(path, head)
  local function records()
    local made = submission.read(path)
    return made and submission.records(made.entries) or {}
  end
  return records, {
    read = function(name) return records()[name] end,
    write = function() return true end, -- all of it comes by note
    note = function(kind, name, step, text) return submission.append(path, head, kind, name, step, text) end,
  }
end

-- Have lesson() and lesson "NAME" be about the course `made`; name: the learner's, where the file at `path` is to be begun.  The
-- submission, or nil and why not.
return function(made, path, name)
  local head, why = submission.open(path, made.id, name)
  if not head then return nil, why end
  if head.course ~= made.id then
    return nil, ("%s: it belongs to another course (%s), not to this one (%s)"):format(path, head.course, made.id)
  elseif name and name ~= head.name then
    return nil, ("%s: it is the work of %s; --file names another"):format(path, head.name)
  elseif head.flaw then
    return nil, ("%s: it was edited (%s), so what comes now would not count; go on with a copy from before"):format(path, head.flaw)
  end
  local records, keeper = keeper_of(path, head)
  lesson.use {
    title = made.title, records = records,
    all = function() return made.lessons end,
    find = function(which) return course.find(made, which) end,
    keeper = function() return keeper end,
  }
  return head
end
