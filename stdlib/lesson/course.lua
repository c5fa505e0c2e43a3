-- lesson_course.lua -- a lesson that is being taken: where it is, the environment it runs in, what was typed.  It needs no
-- terminal: course:enter(text) is what the lesson answers; course:mode() is for the prompt.
-- Depends on: penumbra.lesson.world, _code, _judge, _progress, _show, _commands, penumbra.prompt.show.
-- Used by: penumbra.lesson, penumbra.lesson.check.
local code = require "penumbra.lesson.code"
local commands = require "penumbra.lesson.commands"
local judge = require "penumbra.lesson.judge"
local look = require "penumbra.lesson.show"
local progress = require "penumbra.lesson.progress"
local world = require "penumbra.lesson.world"

local course = {}
course.__index = course

local function same(text) return text end

-- options: path (of the progress file, nil keeps nothing) or keeper (as progress.keeper makes them), write, paint and result
-- (stdout's, and how it paints; without, enter() returns what is said), on_leave, next_lesson.
function course.new(lesson, options)
  options = options or {}
  local self = setmetatable({
    lesson = lesson, keeper = options.keeper or progress.keeper(options.path), sink = options.write, paint = options.paint or same,
    result = options.result or same, on_leave = options.on_leave,
    next_lesson = options.next_lesson, at = 0, finished = false, collected = {},
  }, course)
  self.record = self.keeper.read(lesson.name) or progress.record()
  self.env, self.originals = world.new(function(text)
    self.wrote, self.wrote_now = true, true
    self:say(text)
  end)
  self.lessons_world = world.of_lessons()
  self:fresh()
  return self
end

function course:say(text)
  if self.silent then return end
  if self.sink then
    self.sink(text)
  else
    self.collected[#self.collected + 1] = text
  end
end

function course:note(text, role)
  self:say(self.paint(text, role or "dim") .. "\n")
end

function course:step()
  return self.lesson.steps[self.at]
end

function course:find(id)
  for i, step in ipairs(self.lesson.steps) do
    if step.id == id or tostring(i) == id then return i end
  end
end

-- ---- running code ----

-- Run a function with nothing said, by the lesson or by anyone who uses io.write.
local function quietly(self, body, ...)
  local write, silent = io.write, self.silent
  self.silent = true
  rawset(io, "write", function() return io.stdout end)
  local results = table.pack(pcall(body, ...))
  rawset(io, "write", write)
  self.silent = silent
  return table.unpack(results, 1, results.n)
end

local function run_in(text, env)
  return assert(code.compile(text, env))()
end

local function set_up(lesson, env)
  if lesson.setup then lesson.setup(env) end
end

-- The environment as the lesson begins.
function course:fresh()
  world.set_names(self.env, {})
  world.renew(self.env)
  self.journal, self.ran, self.lesson_names = {}, {}, {}
  local fine, message = quietly(self, set_up, self.lesson, self.env)
  if not fine then
    error(("lesson: the setup of '%s' failed: %s"):format(self.lesson.name, tostring(message)), 0)
  end
  for name in next, self.env do self.lesson_names[name] = true end
end

-- The names after the first `count` entries of the journal, made anew.
local function replay(self, count)
  local env = world.new(function() end)
  quietly(self, set_up, self.lesson, env)
  for i = 1, count do
    quietly(self, run_in, self.journal[i], env)
  end
  return env
end

-- Copies of names that share nothing with them; what can only be made anew is, by a replay of the journal.
local function separate(self, names, count)
  local copies, made = world.copy_names(names, self.originals), nil
  for name, value in next, names do
    if world.is_stateful(value) then
      made = made or replay(self, count)
      copies[name] = rawget(made, name) or value
    end
  end
  return copies
end

-- The code or answer of a step, run in the environment as it is.
function course:run_reference(step)
  local text = step.code or step.answer
  local results = table.pack(pcall(run_in, text, self.env))
  if results[1] then self.journal[#self.journal + 1] = text end
  return results
end

-- Have everything run that stands before step k, so that its names are there.
function course:prepare(k)
  for i = 1, k - 1 do
    local step = self.lesson.steps[i]
    if not self.ran[step.id] and (step.code or step.answer) then
      quietly(self, self.run_reference, self, step)
      self.ran[step.id] = true
    end
    for name in next, code.names_of(step) do self.lesson_names[name] = true end
  end
end

-- The environment as the step began, with a text run in it; the learner's own is not touched.
function course:try_code(text)
  local env = world.new(function() end)
  world.set_names(env, separate(self, self.begun.names, self.begun.journal))
  quietly(self, run_in, text, env)
  return env
end

-- ---- steps ----

local function shallow(env)
  local names = {}
  for name, value in next, env do names[name] = value end
  return names
end

function course:remember()
  self.begun = { copies = world.copy_names(self.env, self.originals), names = shallow(self.env), journal = #self.journal }
  self.judged, self.followed, self.wrote = self.begun.names, "", false
end

local function say_unsaved(self, fine, message)
  if fine == nil and not self.told_unsaved then
    self.told_unsaved = true
    self:note(("(progress is not kept: %s)"):format(message), "warning")
  end
end

function course:save()
  say_unsaved(self, self.keeper.write(self.lesson.name, self.record))
end

-- Tell the keeper what happened at this step: "begin" (with the names as the lesson makes them), "at" (it was opened), "typed" (an
-- entry ran), "right" (one passed), "skipped", "read" (a text), "reset", "end" (of the lesson).
function course:log(kind, text)
  say_unsaved(self, self.keeper.note(kind, self.lesson.name, self:step().id, text))
end

-- Names of the lesson that were changed on the way and are not this step's own go back to what they were.
function course:restore_names()
  local step, restored = self:step(), {}
  local own = code.names_of(step)
  for name in next, self.lesson_names do
    if not own[name] and not rawequal(rawget(self.env, name), self.begun.names[name]) then
      rawset(self.env, name, self.begun.names[name])
      restored[#restored + 1] = name
    end
  end
  if #restored > 0 then
    table.sort(restored)
    self:note(("(the lesson's own again: %s)"):format(table.concat(restored, ", ")))
  end
  world.renew(self.env)
end

local ANSWER = 3 -- lines that an entry has mostly shown before the next step

function course:draw()
  local step = self:step()
  if not step.plot then return end
  self:say "\n"
  local window, _, lines = require "penumbra.plot.show", look.step(step, 1, 1, same):gsub("\n", "")
  window.reserved = lines + 1 + ANSWER -- what else belongs on the screen: the text, the line below the picture, what came before
  local fine, message = pcall(step.plot, world.view(self.env, self.originals, self.lessons_world))
  window.reserved = 0
  if not fine then
    if require "penumbra.stopped"(message) then error(message, 0) end
    self:note(("(no picture: %s)"):format(tostring(message)), "warning")
  end
end

function course:show_step()
  local step = self:step()
  self:say(look.step(step, self.at, #self.lesson.steps, self.paint))
  self:draw()
  self:say(look.next_line(step, self.paint))
end

-- Go to step k and show it.
function course:open(k)
  local begins = self.at == 0
  if not begins then self:restore_names() end
  self:prepare(k)
  self.at, self.hints, self.tries = k, 0, 0
  self.record.at = self:step().id
  self:remember()
  self:save()
  self:log(begins and "begin" or "at")
  self:show_step()
end

-- Begin at a step's id, or where the learner was, or at the first step that is not done.
function course:start(id)
  local k = self:find(id or self.record.at)
  if id and not k then
    error(('lesson: "%s" has no step "%s"; `where` lists them'):format(self.lesson.name, id), 0)
  end
  local lesson = self.lesson
  self:say(look.head(lesson, self.paint))
  if k and k > 1 and not id then
    self:note(("(on with step %d of %d; `reset lesson` starts over)"):format(k, #lesson.steps))
  end
  self:open(k or 1)
  return self
end

function course:mark(how, kind, entry)
  local id = self:step().id
  self:log(kind, entry)
  self.ran[id] = true
  if self.record.done[id] ~= "done" then self.record.done[id] = how end
end

function course:leave()
  if self.finished then return end
  self.finished = true
  self:save()
  if self.on_leave then self.on_leave() end
end

function course:advance()
  if self.at < #self.lesson.steps then
    return self:open(self.at + 1)
  end
  self.record.at = nil
  self:log "end"
  local passed, count = look.count(self.lesson, self.record)
  self:note(("\nThe end of \"%s\": %d of %d steps."):format(self.lesson.title, passed, count), "good")
  if passed < count then
    self:say(("lesson \"%s\" comes back to the others; `where` lists them there.\n"):format(self.lesson.name))
  end
  if self.next_lesson then self:say(('Next: lesson "%s"\n'):format(self.next_lesson)) end
  self:leave()
end

-- ---- judging ----

local function refuse(self, step, why)
  if not why then return end
  if why:find "still to come" then
    self:note(("(%s)"):format(why))
    return
  end
  self:say(look.said(step.ask and "Not yet:" or "But:", "warning", why:find "[.!?)]$" and why or why .. ".", self.paint))
  self.tries = self.tries + 1
  if step.ask and self.tries == 2 and step.hint then
    self:note "(`hint` helps, `skip` shows an answer)"
  end
end

-- The numbers and words that a step was there to set, which its entry has not shown itself.
function course:show_set(step)
  local show, names, values = require "penumbra.prompt.show", {}, {}
  for _, name in ipairs(step.ask and code.wanted(step) or code.asked_for(step)) do
    local value = rawget(self.env, name)
    local kind = type(value)
    if kind == "number" or kind == "boolean" or kind == "string" and #value <= 60 then
      names[#names + 1], values[#values + 1] = name, show.texts(value)
    end
  end
  if #names > 0 then self:note(("%s = %s"):format(table.concat(names, ", "), table.concat(values, ", "))) end
end

local function pass(self, step, shown, entry)
  if step.ask then self:note("Right.", "good") end
  if not shown then self:show_set(step) end
  self:mark("done", "right", entry)
  self:advance()
end

-- An entry ended in an error; what it had done by then may be what was asked for.
local function after_error(self, message, entry)
  if self.sandbox or self.finished or require "penumbra.stopped"(message) then
    return false
  elseif not judge.despite_error(self) then
    self:log("typed", entry)
    return false
  end
  self:note(tostring(message), "error")
  pass(self, self:step(), false, entry)
  return true
end

-- After an entry ran: values (with n), or the message of its error.  true: nothing is left to print.
function course:after(ok, values, entry)
  local wrote = self.wrote_now
  self.wrote_now = false
  if not ok then
    return after_error(self, values, entry)
  end
  if not entry:find ";%s*$" then self:show_values(values, entry) end
  local step = self:step()
  if self.sandbox or self.finished then
    return true
  end
  self.journal[#self.journal + 1] = entry
  if step.code or step.ask then
    local passed, why = judge(self, entry, values)
    self.judged = shallow(self.env)
    if passed then
      pass(self, step, wrote or values.n > 0, entry)
    else
      self:log("typed", entry)
      refuse(self, step, why)
    end
  else
    self:log("typed", entry)
  end
  return true
end

function course:show_values(values, entry)
  local show = require "penumbra.prompt.show"
  local plain = {}
  for i = 1, values.n do
    plain[i] = self.originals[values[i]] or values[i]
  end
  if values.n > 0 then self:say(self.result(show.texts(table.unpack(plain, 1, values.n))) .. "\n") end
  local name = values.n == 1 and values[1] == nil and entry and entry:match "^%s*([%a_][%w_]*)%s*$"
  local near = name and require "penumbra.errors".near_global(name, self.env)
  if near then self:note(("(there is no `%s`; did you mean `%s`?)"):format(name, near)) end
  if values.n > 0 and values[1] ~= nil then rawset(self.env, "_", values[1]) end
end

-- ---- playing around ----

function course:play()
  self.sandbox = { names = shallow(self.env) }
  world.set_names(self.env, separate(self, self.sandbox.names, #self.journal))
end

function course:stop_playing()
  world.set_names(self.env, self.sandbox.names)
  world.renew(self.env)
  self.sandbox = nil
end

-- The names as they were when this step began.
function course:reset()
  self:log "reset"
  local begun = self.begun
  world.set_names(self.env, begun.copies)
  for name, value in next, separate(self, begun.names, begun.journal) do
    if world.is_stateful(value) then rawset(self.env, name, value) end
  end
  world.renew(self.env)
  for i = #self.journal, begun.journal + 1, -1 do self.journal[i] = nil end
  self.hints, self.tries = 0, 0
  self:remember()
end

-- Everything from the beginning.
function course:reset_lesson()
  self.record = progress.record()
  self:fresh()
  self.at = 0
  self:open(1)
end

-- Show and run the answer.
function course:skip()
  local step = self:step()
  self.wrote_now = false
  if step.code or step.answer then
    self:say(look.code(step.code or step.answer, self.paint) .. "\n")
    local results = self:run_reference(step)
    local values = table.pack(table.unpack(results, 2, results.n))
    if not results[1] or step.check and not judge.check(self, values) then
      self:note "(with your names as they were this did not work; the lesson's own are back)"
      self:fresh()
      self:prepare(self.at)
      self:remember()
      results = self:run_reference(step)
      values = table.pack(table.unpack(results, 2, results.n))
    end
    if results[1] then self:show_values(values) else self:note(tostring(results[2]), "error") end
    if values.n == 0 and not self.wrote_now then self:show_set(step) end
  end
  local asks = step.code or step.ask
  self:mark(asks and "skipped" or "done", asks and "skipped" or "read")
  self:advance()
end

-- ---- driving ----

function course:command(entry)
  if self.finished then return false end
  return commands.run(self, entry)
end

function course.is_command(_, entry)
  return commands.is_command(entry)
end

function course:prompt()
  return self.sandbox and ("%s play> "):format(self.lesson.name)
    or ("%s %d/%d> "):format(self.lesson.name, self.at, #self.lesson.steps)
end

-- What the prompt needs (penumbra.prompt's modes).
function course:mode()
  return {
    name = "lesson", env = self.env,
    prompt = function() return self:prompt() end,
    is_command = commands.is_command,
    command = function(entry) return self:command(entry) end,
    after = function(ok, values, entry) return self:after(ok, values, entry) end,
    leave = function() self:command "leave" end,
  }
end

-- An entry as a person types it; what the prompt would do with it.
local function enter(self, text)
  if self:command(text) then return end
  local chunk, message = code.compile(text, self.env)
  local results = chunk and table.pack(pcall(chunk)) or { false, message, n = 2 }
  local quiet = self:after(results[1], results[1] and table.pack(table.unpack(results, 2, results.n)) or results[2], text)
  if not results[1] and not quiet then
    self:note(tostring(results[2]), "error")
  end
end

-- Run body; what was said, by the lesson or with io.write.
function course:collect(body, ...)
  local write, sink = io.write, self.sink
  self.sink, self.collected = nil, {}
  rawset(io, "write", function(...)
    self:say(table.concat { ... })
    return io.stdout
  end)
  local fine, message = pcall(body, ...)
  rawset(io, "write", write)
  self.sink = sink
  if not fine then error(message, 0) end
  return table.concat(self.collected)
end

function course:enter(text)
  return self:collect(enter, self, text)
end

function course:type(text)
  enter(self, text)
end

return course
