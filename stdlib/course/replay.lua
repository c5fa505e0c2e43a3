-- course_replay.lua -- what a learner typed in a lesson, typed again: in a process of its own that may touch no file, with limits
-- of time and memory, and judged by the checks of the lesson as the grader has it.  The marks of a submission count for nothing.
-- Depends on: penumbra.confined, penumbra.terminal (the program's), penumbra.lesson.course.  Used by: penumbra.course.grade.
local course = require "penumbra.lesson.course"

local replay = {}

local MOST_ENTRIES = 4000 -- of a learner in a lesson
local RUNS = 3 -- noise is drawn anew in each, so that a right answer may fail by chance
local MOST_STOPPED = 2 -- entries of a lesson that are left out because they used up the limits

-- ---- modules ----

local function preload(folder, prefix)
  local names, why = require "penumbra.terminal".files(folder)
  if why then error(("%s: %s"):format(folder, why), 0) end
  for _, name in ipairs(names) do
    local module = name:match "^([%w_]+)%.lua$"
    if name:find "/$" then
      preload(folder .. name, prefix .. name:sub(1, -2) .. ".")
    elseif module then
      local whole = module == "init" and prefix:sub(1, -2) or prefix .. module
      package.preload[whole] = package.preload[whole] or loadfile(folder .. name, "t")
    end
  end
end

-- Modules load when they are first used, which a process that may open no file could not do.
function replay.prepare()
  local path = package.searchpath("penumbra", package.path)
  if path then preload(path:match "^(.*/)[^/]*$", "penumbra.") end
end

-- ---- playing ----

-- A lesson that is taken from a step on, without its pictures.
local function begin(lesson, k)
  local taken = course.new(lesson)
  taken.draw = function() end
  taken:collect(taken.open, taken, k)
  return taken
end

-- The lesson at the step of an entry; nil where there is no such step.
local function taken_at(taken, lesson, entry)
  for k, step in ipairs(lesson.steps) do
    if step.id == entry.step then
      if not taken or taken.finished or entry.kind == "begin" then return begin(lesson, k) end
      if taken.at ~= k then taken:collect(taken.open, taken, k) end
      return taken
    end
  end
end

local plays = { begin = true, typed = true, right = true, skipped = true, reset = true }
local commands = { skipped = "skip", reset = "reset" }

-- Type the entries, but for those in `left_out`.  tell(word, k): "at" before entry k, "pass" when it passes its step, "full" when
-- it has used up the memory, which what comes after it would lack.
local function type_all(lesson, entries, left_out, tell)
  local taken
  for k, entry in ipairs(entries) do
    if plays[entry.kind] and not left_out[k] then
      tell("at", k)
      local now = taken_at(taken, lesson, entry)
      taken = now or taken
      if now and entry.kind ~= "begin" then
        local before = now.record.done[entry.step]
        local _, said = pcall(now.enter, now, commands[entry.kind] or entry.text)
        if before ~= "done" and now.record.done[entry.step] == "done" then tell("pass", k) end
        if type(said) == "string" and said:find("not enough memory", 1, true) then return tell("full", k) end
      end
    end
  end
end

-- One run: the entries that passed, {[k] = true}; the last that was reached; why it was stopped there, if it was.
local function run(lesson, entries, left_out, limits)
  local told, why = require "penumbra.confined".run(function(tell)
    type_all(lesson, entries, left_out, function(word, k) tell(("%s %d\n"):format(word, k)) end)
  end, limits.seconds, limits.megabytes)
  local passed, at = {}, 0
  for what, k in told:gmatch "(%l+) (%d+)\n" do
    if what == "pass" then passed[tonumber(k)] = true end
    if what == "at" then at = tonumber(k) end
    if what == "full" then why = "memory" end
  end
  return passed, why and at or #entries, why
end

-- The steps that entries are marked "right" for, as far as they were reached and played, and which no run has passed yet.
local function open_claims(entries, made, reached, left_out)
  local open = {}
  for k = 1, reached do
    local entry = entries[k]
    if entry.kind == "right" and not made.passed[entry.step] and not left_out[k] then open[entry.step] = true end
  end
  return open
end

local words = { time = "took too long", output = "took too long", memory = "took too much memory", error = "failed",
  crash = "crashed" }

-- Add what a run found to `made`.
local function add(made, entries, passed)
  local shown = {}
  for k, entry in ipairs(entries) do
    if entry.kind == "skipped" then shown[entry.step] = true end
    if passed[k] and not made.passed[entry.step] then
      made.passed[entry.step] = { time = entry.time, shown = shown[entry.step] or false }
    end
  end
end

-- Play the entries of a lesson: passed = {[step] = {time=, shown=}}, failed = {step, ...}: marked right, and not so; stopped =
-- {{step=, why=}, ...}; skipped: how many steps were; cut: whether there were more entries than are played.
function replay.play(lesson, entries, limits)
  local made = { passed = {}, failed = {}, stopped = {}, skipped = 0, cut = #entries > MOST_ENTRIES }
  local left_out, runs, reached, open = {}, 0, 0
  entries = table.move(entries, 1, math.min(#entries, MOST_ENTRIES), 1, {})
  repeat
    local passed, at, why = run(lesson, entries, left_out, limits)
    add(made, entries, passed)
    reached = math.max(reached, at)
    if why then
      made.stopped[#made.stopped + 1] = { step = entries[at] and entries[at].step or lesson.name, why = words[why] }
      left_out[at] = true
    else
      runs = runs + 1
    end
    open = open_claims(entries, made, reached, left_out)
  until #made.stopped > MOST_STOPPED or at == 0 or runs == RUNS or runs > 0 and not next(open)
  local skipped = {}
  for _, entry in ipairs(entries) do skipped[entry.step] = skipped[entry.step] or entry.kind == "skipped" end
  for _, step in ipairs(lesson.steps) do
    if open[step.id] then made.failed[#made.failed + 1] = step.id end
    if skipped[step.id] and not made.passed[step.id] then made.skipped = made.skipped + 1 end
  end
  return made
end

-- What the lesson's own code and answers would look like in a submission.
function replay.reference(lesson)
  local entries = { { kind = "begin", step = lesson.steps[1].id } }
  for _, step in ipairs(lesson.steps) do
    if step.code or step.answer then
      entries[#entries + 1] = { kind = "right", step = step.id, text = step.code or step.answer, time = 0 }
    end
  end
  return entries
end

return replay
