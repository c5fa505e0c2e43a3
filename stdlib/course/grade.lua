-- course_grade.lua -- submissions of a course, graded: every answer is played again (penumbra.course.replay), on all processors.
-- Depends on: penumbra.workers, penumbra.course.alike, _csv, _replay, _submission.  Used by: penumbra.programs.course.
local alike = require "penumbra.course.alike"
local csv = require "penumbra.course.csv"
local replay = require "penumbra.course.replay"
local submission = require "penumbra.course.submission"
local workers = require "penumbra.workers"

local grade = {}

-- ---- in processes ----

-- What replay.play found, as a text that comes back from a process, and back.
local function packed(made)
  local lines = { ("skipped %d\n"):format(made.skipped) }
  for step, how in pairs(made.passed) do
    lines[#lines + 1] = ("pass %s %d %s\n"):format(step, how.time, how.shown and "shown" or "-")
  end
  for _, step in ipairs(made.failed) do lines[#lines + 1] = ("fail %s\n"):format(step) end
  for _, one in ipairs(made.stopped) do lines[#lines + 1] = ("stop %s %s\n"):format(one.step, one.why) end
  if made.cut then lines[#lines + 1] = "cut -\n" end
  return table.concat(lines)
end

local function unpacked(text)
  local made = { passed = {}, failed = {}, stopped = {}, skipped = 0 }
  for what, step, rest in text:gmatch "(%l+) (%S+) ?([^\n]*)\n" do
    if what == "skipped" then made.skipped = tonumber(step) end
    if what == "pass" then made.passed[step] = { time = tonumber(rest:match "%d+"), shown = rest:find "shown" ~= nil } end
    if what == "fail" then table.insert(made.failed, step) end
    if what == "stop" then table.insert(made.stopped, { step = step, why = rest }) end
    if what == "cut" then made.cut = true end
  end
  return made
end

-- Play jobs {lesson=, entries=} on all processors; each gets `made`.
local function play_all(jobs, limits)
  if #jobs == 0 then return end
  workers.map(#jobs, math.min(#jobs, workers.processors()), function(k)
    return packed(replay.play(jobs[k].lesson, jobs[k].entries, limits))
  end, function(k, fine, text)
    if not fine then error(text, 0) end
    jobs[k].made = unpacked(text)
  end, false, 0)
end

-- ---- what can be graded ----

-- Which steps of each lesson pass with the lesson's own answers where no file may be touched: by the name of the lesson
-- {[step] = true}, and `count`.  Others are not graded; not_graded: their steps, by the name of the lesson.
function grade.gradable(made, limits)
  replay.prepare()
  local jobs, steps, not_graded = {}, {}, {}
  for k, lesson in ipairs(made.lessons) do jobs[k] = { lesson = lesson, entries = replay.reference(lesson) } end
  play_all(jobs, limits)
  for k, lesson in ipairs(made.lessons) do
    local fit, unfit = { count = 0, steps = {} }, {}
    for _, step in ipairs(lesson.steps) do
      if jobs[k].made.passed[step.id] then
        fit.steps[step.id], fit.count = true, fit.count + 1
      elseif step.code or step.answer then
        unfit[#unfit + 1] = step.id
      end
    end
    steps[lesson.name], not_graded[lesson.name] = fit, #unfit > 0 and unfit or nil
  end
  return steps, not_graded
end

-- ---- rows ----

local function listed(remarks, format, list)
  if #list > 0 then remarks[#remarks + 1] = format:format(table.concat(list, " ")) end
end

-- The row of one lesson; `made` is nil where the learner did nothing in it.
local function lesson_row(name, lesson, fit, made)
  if not made then return { name, lesson.name, 0, fit.count, 0, "not begun" } end
  local passed, late, failed, shown, remarks = 0, 0, {}, {}, {}
  for _, step in ipairs(lesson.steps) do
    local how = fit.steps[step.id] and made.passed[step.id]
    passed = passed + (how and 1 or 0)
    if how and how.shown then shown[#shown + 1] = step.id end
    late = late + (how and lesson.due and how.time > lesson.due and 1 or 0)
  end
  for _, step in ipairs(made.failed) do
    if fit.steps[step] then failed[#failed + 1] = step end
  end
  listed(remarks, "MARKED RIGHT BUT FAILS: %s", failed)
  for _, one in ipairs(made.stopped) do
    remarks[#remarks + 1] = ("stopped, %s: %s"):format(one.why, one.step)
  end
  listed(remarks, "right after the answer was shown: %s", shown)
  if made.skipped > 0 then remarks[#remarks + 1] = ("skipped: %d"):format(made.skipped) end
  if made.cut then remarks[#remarks + 1] = "too many entries: only the first 4000 were played" end
  return { name, lesson.name, passed, fit.count, late, table.concat(remarks, "; ") }, #failed
end

local function submission_remarks(one, failed)
  local remarks = {}
  if one.flaw then
    remarks[1] = ("EDITED: %s%s"):format(one.flaw, one.flaws > 1 and (" (and %d more)"):format(one.flaws - 1) or "")
  end
  if failed > 0 then remarks[#remarks + 1] = ("MARKED RIGHT BUT FAILS: %d"):format(failed) end
  if one.set_back then remarks[#remarks + 1] = ("the clock went back at line %d"):format(one.set_back) end
  return remarks
end

local function add_rows(rows, made, one, steps, more)
  local passed, count, late, failed = 0, 0, 0, 0
  for _, lesson in ipairs(made.lessons) do
    local job = one.jobs[lesson.name]
    local row, wrong = lesson_row(one.name, lesson, steps[lesson.name], job and job.made)
    rows[#rows + 1] = row
    passed, count, late, failed = passed + row[3], count + row[4], late + row[5], failed + (wrong or 0)
  end
  local remarks = submission_remarks(one, failed)
  table.move(more, 1, #more, #remarks + 1, remarks)
  rows[#rows + 1] = { one.name, "total", passed, count, late, table.concat(remarks, "; ") }
end

-- ---- all of it ----

local function read_all(made, paths)
  local good, bad = {}, {}
  for _, path in ipairs(paths) do
    local one, why = submission.read(path)
    if one and one.course ~= made.id then
      one, why = nil, ("%s: it belongs to another course (%s), not to this one (%s)"):format(path, one.course, made.id)
    end
    if one then one.path, good[#good + 1] = path, one else bad[#bad + 1] = { path = path, why = why } end
  end
  return good, bad
end

local function jobs_of(made, good)
  local jobs = {}
  for _, one in ipairs(good) do
    one.jobs = {}
    for _, entry in ipairs(one.entries) do
      local lesson = made.by_name[entry.lesson]
      local job = lesson and one.jobs[lesson.name]
      if lesson and not job then
        job = { lesson = lesson, entries = {} }
        jobs[#jobs + 1], one.jobs[lesson.name] = job, job
      end
      if job then table.insert(job.entries, entry) end
    end
  end
  return jobs
end

-- The CSV of a course's submissions, from the paths of their files; limits: seconds, megabytes.  Also which steps are not graded
-- (as grade.gradable), the files that are no submission of this course, {path=, why=}, and how many were graded.
function grade.grade(made, paths, limits)
  local good, bad = read_all(made, paths)
  local steps, not_graded = grade.gradable(made, limits)
  play_all(jobs_of(made, good), limits)
  local rows, more = { { "name", "lesson", "passed", "steps", "late", "remark" } }, alike(good, made.lessons)
  for k, one in ipairs(good) do add_rows(rows, made, one, steps, more[k]) end
  for _, one in ipairs(bad) do rows[#rows + 1] = { one.path, "total", 0, 0, 0, "NOT GRADED: " .. one.why } end
  return csv(rows), not_graded, bad, #good
end

return grade
