-- course_template.lua -- the files of a new course: what the lecturer edits.
-- Depends on: nothing.  Used by: penumbra.programs.course.
local template = {}

-- course.lua; %TITLE% and %ID% are filled in.
template.course = [==[
-- A course of lessons.  Edit this file; `penumbra course check DIR` says what is wrong with it, plays every lesson with its own
-- answers, and lists what will be graded.  It is read as data: it may compute, but it opens no files.

title = "%TITLE%"

-- Written by `penumbra course new`.  Submissions carry it, so leave it as it is once learners have begun.
id = "%ID%"

-- The lessons, in order: the name of one of Penumbra's (`penumbra -e 'lesson()'` lists them) or a file of your own in this folder.
-- `due` is the last minute that counts as in time, by the clock of the machine that grades: "2026-12-08" (the whole day),
-- "2026-12-08 18:00", or "2026-12-08 18:00 +01:00" in a zone of its own.  Without `due` nothing is late.
lessons = {
  { "neighbours" },
  { "gaussian" },
  { "composition" },
  -- { "frank_wolfe", due = "2026-12-08 18:00" },
  -- { "lessons/first.lua" }, -- a lesson of your own; it needs the budget below
}

-- The budget of the class, for lessons of your own: they find it as the ledger `class`, and the part of it that a learner may spend
-- as the ledger `slice`.  Both are for teaching, so that seeded noise may be charged to them.
-- budget = { epsilon = 3, delta = 1e-6, slice = 1 }
]==]

template.lesson = [==[
-- first.lua -- a lesson of your own, to be changed.  Play it with `penumbra course play DIR` once course.lua lists it.
-- A step has a text; with `code` it asks for that code or what does the same, with `ask` it is an exercise: `answer` must pass
-- `check`, every one of `wrong` must fail it.  `lesson.try` (help "lesson") plays a lesson with all of these.
local pn = require "penumbra"

return {
  name = "first", title = "A first release", minutes = 5,
  about = "How to pay for one private number from a slice of a class's budget.",
  source = "Dwork et al. (2006)",
  setup = function(env) env.votes = pn.vec { 1, 0, 1, 1, 0, 1 } end, -- names that the learner finds
  steps = {
    { id = "count", text = "`votes` holds six votes.", code = "n = votes:sum()", defines = { "n" } },

    { id = "noise", text = "One vote moves `n` by at most 1.",
      ask = "Set `m` to a Laplace mechanism of epsilon = 0.5 for `n`, and bound = 10.",
      answer = "m = mechanism.laplace{epsilon=0.5, sensitivity=1, bound=10}",
      wrong = { "m = mechanism.laplace{epsilon=5, sensitivity=1, bound=10}" },
      hint = { "mechanism.laplace{epsilon=, sensitivity=, bound=}", "Its sensitivity is 1." },
      check = function(env) -- of copies of the learner's names; true, or false and what is off
        local fine, price = pcall(function() return pn.ledger { epsilon = 100 }:price(env.m.event) end)
        if not fine then return false, "m should be a mechanism" end
        return math.abs(price - 0.5) < 1e-6, ("one release of it costs epsilon = %.3g"):format(price)
      end },

    { id = "pay", text = "`slice` is a ledger: your part of the class's budget.",
      ask = "Release `n` by `m`, and pay for it from `slice`.",
      answer = "released = m:release(n, {ledger=slice})",
      wrong = { "released = n" },
      hint = { "m:release(value, {ledger=})" },
      check = function(env)
        if env.slice.spent == 0 then return false, "nothing is charged to slice" end
        return env.slice.spent < 1, "slice has nothing left"
      end },

    { id = "law", text = "This is how the noise falls:",
      plot = function() pn.plot.histogram { mechanism = pn.mechanism.laplace { scale = 2, sensitivity = 1 } } end },
  },
}
]==]

return template
