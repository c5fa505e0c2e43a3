-- lesson_live.lua -- a lesson in a notebook: its environment as a mode of the prompt, in which cells run in any order and as often
-- as one likes.  A cell that begins with the line "-- Exercise: ID" is judged by the names as it leaves them; `lesson` there has
-- check, hint, skip and picture.
-- Depends on: penumbra.lesson.code, _judge, _show, _world.  Used by: penumbra.lesson.
local code = require "penumbra.lesson.code"
local judge = require "penumbra.lesson.judge"
local look = require "penumbra.lesson.show"
local world = require "penumbra.lesson.world"

local live = {}
live.__index = live

-- The first line of the cell of an exercise.
function live.mark(id)
  return "-- Exercise: " .. id
end

local function marked(entry)
  return entry:match "^%s*%-%-%s*[Ee]xercise:%s*([%w_-]+)"
end

-- Whether a cell has no code, only comments.
local function is_empty(entry)
  return not entry:gsub("%-%-%[(=*)%[.-%]%1%]", ""):gsub("%-%-[^\n]*", ""):find "%S"
end

local function same(text) return text end

local function say(text)
  io.write(text, "\n")
end

local function shallow(env)
  local names = {}
  for name, value in next, env do names[name] = value end
  return names
end

-- ---- judging ----

local function conclude(self, step, passed, why)
  self.state[step.id] = passed and (self.shown[step.id] and "skipped" or "right") or "wrong"
  if passed then
    say "Right."
  else
    why = why or "not what is asked for"
    io.write(look.said("Not yet:", "warning", why:find "[.!?)]$" and why or why .. ".", same))
  end
end

local function leave_open(self, step)
  self.state[step.id] = nil
  say(('Exercise "%s" is open: write the answer below the first line of its cell, and run it.'):format(step.id))
end

local function judge_values(self, step, values)
  local passed, why, remedy = judge.exercise(self, step, values)
  conclude(self, step, passed, remedy or why)
end

-- A cell that ended in an error may have done what was asked for by then, as a loop that spends until it is refused.
local function judge_error(self, step, message, entry)
  local ran = code.compile(entry, {}) and not require "penumbra.stopped"(message)
  local wanted, changed = code.wanted(step), false
  for _, name in ipairs(wanted) do
    changed = changed or not rawequal(rawget(self.env, name), self.before[name])
  end
  local passed = ran and (changed or #wanted == 0) and judge.exercise(self, step, { n = 0 })
  if not passed then
    self.state[step.id] = "wrong"
    return false
  end
  say(tostring(message))
  conclude(self, step, true)
  return true
end

-- After a cell ran: values (with n), or the message of its error.  true: there is no error to show.
local function after(self, fine, values, entry)
  local id = marked(entry)
  local step = self.exercises[id]
  if fine then
    for i = 1, values.n do values[i] = self.originals[values[i]] or values[i] end
  end
  if id and not step then
    say(('(this lesson has no exercise "%s"; lesson.check() lists them)'):format(id))
  elseif step and not fine then
    return judge_error(self, step, values, entry)
  elseif step and is_empty(entry) then
    leave_open(self, step)
  elseif step then
    judge_values(self, step, values)
  end
end

-- ---- what a notebook calls ----

local words = {}

local function named(self, owner, id, what)
  local step = self[what][id]
  if step then return step end
  local names = {}
  for _, other in ipairs(self.lesson.steps) do
    if self[what][other.id] then names[#names + 1] = other.id end
  end
  error(('lesson.%s: expected the name of %s (%s), got %s'):format(owner,
    what == "exercises" and "an exercise" or "a picture", table.concat(names, ", "),
    type(id) == "string" and '"' .. id .. '"' or type(id)), 3)
end

-- Which exercises are in a state, as "a, b".
local function in_state(self, state)
  local names = {}
  for _, step in ipairs(self.lesson.steps) do
    if step.ask and self.state[step.id] == state then names[#names + 1] = step.id end
  end
  return table.concat(names, ", "), #names
end

local function summary(self)
  local _, right = in_state(self, "right")
  local all = 0
  for _ in pairs(self.exercises) do all = all + 1 end
  if right == all then return say(("All %d exercises are right."):format(all)) end
  local parts = { ("%d of %d exercises are right"):format(right, all) }
  for _, row in ipairs { { "skipped", "skipped" }, { "wrong", "not yet right" }, { nil, "open" } } do
    local names, count = in_state(self, row[1])
    if count > 0 then parts[#parts + 1] = row[2] .. ": " .. names end
  end
  say(table.concat(parts, "; ") .. ".")
end

-- Judge an exercise by the names as they are; without one, list what is done.
function words.check(self, ...)
  if select("#", ...) == 0 then return summary(self) end
  local step = named(self, "check", (...), "exercises")
  for _, name in ipairs(code.wanted(step)) do
    if rawget(self.env, name) ~= nil then return judge_values(self, step, { n = 0 }) end
  end
  if #code.wanted(step) == 0 then return judge_values(self, step, { n = 0 }) end
  leave_open(self, step)
end

-- The next hint; after the last one the first again.
function words.hint(self, id)
  local step = named(self, "hint", id, "exercises")
  local hints = type(step.hint) == "string" and { step.hint } or step.hint or {}
  if #hints == 0 then return say(('There is no hint for "%s".'):format(id)) end
  local k = (self.hints[id] or 0) % #hints + 1
  self.hints[id] = k
  io.write(look.said(("Hint %d of %d:"):format(k, #hints), "heading", hints[k], same))
end

-- Show an answer and run it.
function words.skip(self, id)
  local step = named(self, "skip", id, "exercises")
  self.shown[id] = true
  say(look.code(step.answer, same))
  local results = table.pack(pcall(assert(code.compile(step.answer, self.env))))
  if not results[1] and not judge.exercise(self, step, { n = 0 }) then error(results[2], 0) end
  judge_values(self, step, table.pack(table.unpack(results, 2, results[1] and results.n or 1)))
end

function words.picture(self, id)
  local step = named(self, "picture", id, "pictures")
  local fine, message = pcall(step.plot, world.view(self.env, self.originals, self.lessons_world))
  if fine then return end
  if require "penumbra.stopped"(message) then error(message, 0) end
  local reason = tostring(message):gsub("^[^\n]-:%d+: ", "")
  error(('lesson.picture: "%s" needs what the cells above it make: %s'):format(id, reason), 0)
end

local function words_of(self, open)
  local lesson = {}
  for name, word in pairs(words) do
    lesson[name] = function(...) return word(self, ...) end
  end
  return { lesson = setmetatable(lesson, {
    __call = function(_, ...) return open(...) end,
    __tostring = function() return "lesson: check(), check(ID), hint(ID), skip(ID), picture(ID)" end,
  }) }
end

-- ---- opening ----

local function mode_of(self)
  return {
    name = "notebook", env = self.env,
    prompt = function() return self.lesson.name .. "> " end,
    command = function() -- before each entry
      self.before = shallow(self.env)
      return false
    end,
    after = function(...) return after(self, ...) end,
  }
end

-- Have what is typed from now on run in the lesson's environment, as it begins.  open(...): what `lesson(...)` does there.
function live.open(lesson, prompt, open)
  local self = { lesson = lesson, exercises = {}, pictures = {}, state = {}, hints = {}, shown = {}, before = {} }
  local count = 0
  for _, step in ipairs(lesson.steps) do
    if step.ask then self.exercises[step.id], count = step, count + 1 end
    if step.plot then self.pictures[step.id] = step end
  end
  self.env, self.originals = world.new(function(text) io.write(text) end, words_of(self, open))
  self.lessons_world = world.of_lessons()
  if lesson.setup then lesson.setup(self.env) end
  local mode = prompt.mode()
  if mode and mode.name == "notebook" then prompt.pop_mode() end
  prompt.push_mode(mode_of(self))
  say(("%s: %d exercises.  lesson.check() lists what is done."):format(lesson.title or lesson.name, count))
end

return live
