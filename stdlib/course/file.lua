-- course_file.lua -- a course: the file course.lua of its folder, read as data, with its lessons loaded.
-- Depends on: penumbra, penumbra.programs.config, penumbra.lesson.files, penumbra.course.deadline.
-- Used by: penumbra.course.play, _grade, penumbra.programs.course.
local config = require "penumbra.programs.config"
local deadline = require "penumbra.course.deadline"
local files = require "penumbra.lesson.files"

local course = {}

local budget_fields = {
  { name = "epsilon", kinds = "positive", required = true, doc = "what the class may spend in all" },
  { name = "delta", kinds = "number", doc = "with epsilon, from 0 to below 1" },
  { name = "slice", kinds = "positive", required = true, doc = "the epsilon of it that each learner may spend" },
}

local fields = {
  { name = "title", kinds = "text", required = true, doc = "the name of the course" },
  { name = "id", kinds = "text", required = true, doc = "what `penumbra course new` wrote; it keeps courses apart" },
  { name = "lessons", kinds = "table", required = true, doc = 'a list, such as {{"gaussian", due="2026-12-08 18:00"}}' },
  { name = "budget", kinds = "table", fields = budget_fields, doc = "of the class" },
}

-- A lesson of one's own lies in the folder of the course, wherever that is.
local function load_lesson(folder, name, place)
  if not name:find "%.lua$" then
    if name:find "/" then config.fail("%s: '%s' is neither the name of a lesson nor a .lua file", place, name) end
    local fine, lesson = pcall(files.find, name)
    if not fine then config.fail("%s: %s", place, (tostring(lesson):gsub("^lesson: ", ""))) end
    return lesson, false
  end
  if name:find "^/" or name:find "%.%." then
    config.fail("%s: '%s' must lie in the folder of the course, such as lessons/mine.lua", place, name)
  end
  local fine, lesson = pcall(function() return files.must_be_named(files.load(folder .. "/" .. name), name) end)
  if not fine then config.fail("%s: %s", place, (tostring(lesson):gsub("^lesson: ", ""))) end
  return lesson, true
end

-- The setup of a lesson of one's own, whose learner finds two ledgers: `class` and, of it, `slice`.
local function with_budget(setup, budget)
  local pn = require "penumbra"
  return function(env)
    env.class = pn.ledger { epsilon = budget.epsilon, delta = budget.delta, teaching = true }
    env.slice = pn.ledger { parent = env.class, name = "slice", epsilon = budget.slice, delta = budget.delta, teaching = true }
    if setup then setup(env) end
  end
end

local function row_of(value, k, place)
  place = ("%s: lessons[%d]"):format(place, k)
  if type(value) == "string" then value = { value } end
  if type(value) ~= "table" then config.fail('%s: expected a name or {"name", due="..."}, got a %s', place, type(value)) end
  for key in pairs(value) do
    if key ~= 1 and key ~= "due" then config.fail("%s: unknown field '%s'; it takes a name and due", place, tostring(key)) end
  end
  if type(value[1]) ~= "string" then config.fail('%s: the name of a lesson is missing, as in {"gaussian"}', place) end
  local due, why
  if value.due ~= nil then
    due, why = deadline.parse(value.due)
    if not due then config.fail("%s: due: %s", place, why) end
  end
  return value[1], due, value.due, place
end

-- A copy of the lesson as the course has it: with its number there, and when it is due.
local function add_lesson(made, value, k, path)
  local name, due, text, place = row_of(value, k, path)
  local lesson, own = load_lesson(made.folder, name, place)
  local copy = {}
  for key, part in pairs(lesson) do copy[key] = part end
  copy.number, copy.file, copy.due = k, own and name or nil, due
  copy.title = type(copy.title) == "string" and copy.title or copy.name
  copy.note = due and (os.time() > due and "was due " or "due ") .. text
  if own and made.budget then copy.setup = with_budget(lesson.setup, made.budget) end
  if made.by_name[copy.name] then
    config.fail("%s: its name, '%s', is that of lessons[%d], too", place, copy.name, made.by_name[copy.name].number)
  end
  made.lessons[k], made.by_name[copy.name] = copy, copy
end

-- The course in a folder: folder, title, id, budget, lessons (with number, due, note) and by_name.  Raises what is wrong with it.
function course.read(folder)
  local path = folder:gsub("/+$", "") .. "/course.lua"
  local file, why, number = io.open(path, "rb")
  if not file and number ~= 2 then config.fail("%s", why) end -- not ENOENT
  if not file then config.fail("%s is not there; `penumbra course new %s` makes a course", path, folder) end
  file:close()
  local fine, made = pcall(config.read, path)
  if not fine then config.fail("%s", (tostring(made):gsub("%.lua:(%d+): ", ".lua, line %1: ", 1))) end
  config.check(made, fields, path)
  if not made.id:find "^[%w-]+$" then config.fail("%s: id must be letters, digits and -, got '%s'", path, made.id) end
  if #made.lessons == 0 then config.fail("%s: lessons is empty: a course has at least one", path) end
  local delta = made.budget and made.budget.delta
  if delta and not (delta >= 0 and delta < 1) then
    config.fail("%s: budget: delta must be from 0 to below 1, got %g", path, delta)
  end
  local rows = made.lessons
  made.folder, made.lessons, made.by_name = folder:gsub("/+$", ""), {}, {}
  for k, value in ipairs(rows) do add_lesson(made, value, k, path) end
  return made
end

-- A lesson of the course by its name or number, or the file that it is in.
function course.find(made, which)
  for _, lesson in ipairs(made.lessons) do
    if lesson.name == which or lesson.number == which or lesson.file == which or tostring(lesson.number) == which then
      return lesson
    end
  end
  local names = {}
  for k, lesson in ipairs(made.lessons) do names[k] = lesson.name end
  error(("lesson: this course has no lesson '%s'; it has %s"):format(tostring(which), table.concat(names, ", ")), 0)
end

return course
