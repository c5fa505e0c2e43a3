-- lesson_check.lua -- is a lesson well made?  check(file) looks at its form, try(file) plays it too: every answer must pass, every
-- wrong answer must be refused with a reason.
-- Depends on: penumbra.lesson.code, _course, _files, _show.  Used by: penumbra.lesson, tests of the lessons.
local code = require "penumbra.lesson.code"
local course = require "penumbra.lesson.course"
local files = require "penumbra.lesson.files"
local look = require "penumbra.lesson.show"

local checker = {}

local WIDTH, CODE = 78, 76 -- columns of texts, and of code, which is shown indented by four
local SCREEN, PICTURE = 24, 13 -- lines of a small terminal, and those that a picture should have of them

local fields = {
  lesson = {
    name = "string", title = "string", minutes = "number", about = "string", source = "string", setup = "function", steps = "table",
    number = "number", file = "string",
  },
  step = { id = "string", text = "string", code = "string", defines = "table", ask = "string", answer = "string", wrong = "table",
    hint = "table", check = "function", plot = "function" },
}

local function add_fields(problems, where, t, known)
  for key, value in pairs(t) do
    local kind = known[key]
    if not kind then
      problems:add("%s: '%s' is not a field of it", where, tostring(key))
    elseif type(value) ~= kind and not (key == "hint" and type(value) == "string") then
      problems:add("%s: %s should be a %s, it is a %s", where, key, kind, type(value))
    end
  end
end

local function check_text(problems, where, text, width)
  if type(text) ~= "string" then return end
  if not utf8.len(text) then
    problems:add("%s: the text is not UTF-8", where)
    return
  end
  local number = 0
  for line in (text .. "\n"):gmatch "(.-)\n" do
    number = number + 1
    if utf8.len(line) > width then
      problems:add("%s: line %d has %d columns, more than %d", where, number, utf8.len(line), width)
    elseif line:find "[%c]" then
      problems:add("%s: line %d holds a tab or another control character", where, number)
    end
  end
end

local function check_quotes(problems, where, ...)
  for _, text in ipairs { ... } do
    if select(2, tostring(text):gsub("`", "")) % 2 == 1 then problems:add("%s: a ` is opened and not closed", where) end
  end
end

-- What is shown of a step should be on the screen as a whole, a picture with it.
local function check_height(problems, where, step)
  if type(step.text or step.ask) ~= "string" then return end
  local _, lines = look.step(step, 1, 1, function(text) return text end):gsub("\n", "")
  local room = SCREEN - 1 - lines - (step.plot and PICTURE or 0) -- the prompt is a line, too
  if room < 0 then
    problems:add("%s: it is %d lines higher than a screen of %d%s", where, -room, SCREEN,
      step.plot and (", with %d for the picture"):format(PICTURE) or "")
  end
end

local function check_code(problems, where, what, text)
  if type(text) ~= "string" then return end
  local chunk, message = code.compile(text, {})
  if not chunk then
    problems:add("%s: its %s does not compile: %s", where, what, message)
  end
end

local function check_exercise(problems, where, step)
  for _, key in ipairs { "answer", "wrong", "hint", "check" } do
    if step[key] == nil then
      problems:add("%s: an exercise needs `%s`", where, key)
    end
  end
  if step.code then
    problems:add("%s: an exercise has `answer`, not `code`", where)
  end
  if type(step.wrong) == "table" then
    if #step.wrong == 0 then problems:add("%s: `wrong` needs at least one wrong answer", where) end
    for _, text in ipairs(step.wrong) do check_code(problems, where, "wrong answer", text) end
  end
end

local function check_step(problems, where, step)
  add_fields(problems, where, step, fields.step)
  check_text(problems, where, step.text, WIDTH)
  check_quotes(problems, where, step.text or "", step.ask or "")
  check_quotes(problems, where, table.unpack(type(step.hint) == "table" and step.hint or { step.hint }))
  if tostring(step.ask):find "\n" then check_text(problems, where .. ", ask", step.ask, WIDTH) end
  check_text(problems, where .. ", code", step.code, CODE)
  check_text(problems, where .. ", answer", step.answer, CODE)
  check_code(problems, where, "code", step.code)
  check_code(problems, where, "answer", step.answer)
  check_height(problems, where, step)
  if step.ask then
    check_exercise(problems, where, step)
  elseif not step.text then
    problems:add("%s: it has no text", where)
  end
end

local function check_ids(problems, steps)
  local seen = {}
  for i, step in ipairs(steps) do
    local id = type(step) == "table" and step.id
    if type(id) ~= "string" or not id:match "^%l[%l%d-]*$" then
      problems:add("step %d: `id` should be a word of small letters, digits and -, as \"first-call\"", i)
    elseif seen[id] then
      problems:add("step %d: the id '%s' is step %d's, too", i, id, seen[id])
    else
      seen[id] = i
    end
  end
end

local function new_problems()
  local problems = {}
  function problems:add(format, ...)
    self[#self + 1] = format:format(...)
  end
  return problems
end

local function check_form(problems, lesson)
  add_fields(problems, "lesson", lesson, fields.lesson)
  for _, key in ipairs { "name", "title", "minutes", "about", "source" } do
    if lesson[key] == nil then problems:add("lesson: `%s` is missing", key) end
  end
  if type(lesson.name) == "string" and not lesson.name:match "^%l[%l%d_-]*$" then
    problems:add("lesson: its name should be a word of small letters, got '%s'", lesson.name)
  end
  check_ids(problems, lesson.steps)
  local exercises, plots = 0, 0
  for i, step in ipairs(lesson.steps) do
    if type(step) ~= "table" then
      problems:add("step %d should be a table, it is a %s", i, type(step))
    else
      check_step(problems, ("step %d (%s)"):format(i, tostring(step.id)), step)
      exercises = exercises + (step.ask and 1 or 0)
      plots = plots + (step.plot and 1 or 0)
    end
  end
  if #lesson.steps == 0 then problems:add("lesson: it has no steps") end
  if exercises == 0 then problems:add("lesson: it has no exercise, a step with `ask`") end
  if plots == 0 then problems:add("lesson: it has no picture, a step with `plot`") end
end

local function load_lesson(which, problems)
  if type(which) == "table" then return which end
  local fine, lesson = pcall(files.find, which)
  if not fine then
    problems:add("%s", tostring(lesson))
    return nil
  end
  return lesson
end

local function verdict(problems)
  if #problems == 0 then return true end
  return nil, table.concat(problems, "\n")
end

-- The form of a lesson (a file's path, a name, or its table): true, or nil and a line for each problem.
function checker.check(which)
  local problems = new_problems()
  local lesson = load_lesson(which, problems)
  if lesson then check_form(problems, lesson) end
  return verdict(problems)
end

-- ---- playing ----

local function shorten(text)
  return (text:gsub("%s+", " "):sub(1, 60))
end

-- A code step goes by the names that it makes, so it must make them anew.
local function check_defines(problems, where, step, before, env)
  for _, name in ipairs(step.code and code.asked_for(step) or {}) do
    if rawequal(before[name], rawget(env, name)) then
      problems:add("%s: its code leaves %s as it was, by which nobody passes", where, name)
    end
  end
end

-- A wrong answer must leave the learner at the step, told why.
local function try_wrong(problems, where, taken, step, text)
  local at, said = taken.at, taken:enter(text)
  if taken.at ~= at or taken.finished then
    problems:add("%s: the wrong answer passes: %s", where, shorten(text))
    return false
  elseif not said:find "Not yet:%s+%S" then
    problems:add("%s: no reason is given for the wrong answer: %s\n  %s", where, shorten(text), shorten(said))
  end
  local answer = step.answer:gsub("%s+", "")
  if #answer > 3 and said:gsub("%s+", ""):find(answer, 1, true) then
    problems:add("%s: the reason tells the answer: %s", where, shorten(said))
  end
  taken:enter "reset"
  return true
end

local function try_step(problems, taken, i, step)
  local where = ("step %d (%s)"):format(i, step.id)
  if taken.at ~= i then
    problems:add("%s: it is not reached", where)
    return false
  end
  for _, text in ipairs(step.wrong or {}) do
    if not try_wrong(problems, where, taken, step, text) then return false end
  end
  local before = taken.begun.names
  local said = taken:enter(step.code or step.answer or "")
  check_defines(problems, where, step, before, taken.env)
  local last = i == #taken.lesson.steps
  if last and not taken.finished or not last and taken.at ~= i + 1 then
    problems:add("%s: its %s does not pass:\n  %s", where, step.code and "code" or "answer", said)
    return false
  elseif said:find "%(no picture" then
    problems:add("after %s: %s", where, said:match "%(no picture[^\n]*")
  end
  return true
end

-- The form, and a play of the whole lesson.
function checker.try(which)
  local problems = new_problems()
  local lesson = load_lesson(which, problems)
  if not lesson then return verdict(problems) end
  check_form(problems, lesson)
  if #problems > 0 then return verdict(problems) end
  local taken = course.new(lesson)
  taken:collect(taken.start, taken)
  for i, step in ipairs(lesson.steps) do
    if not try_step(problems, taken, i, step) then break end
  end
  return verdict(problems)
end

return checker
