-- lesson_commands.lua -- the words that a learner types: next, back, hint, skip, reset, play, leave, where, goto, repeat, help.
-- Depends on: penumbra.lesson.show.  Used by: penumbra.lesson.course.
local look = require "penumbra.lesson.show"

local commands = {}
local run = {}

function run.next(course)
  local step = course:step()
  if (step.code or step.ask) and not course.record.done[step.id] then
    course:note(step.ask and "This step waits for an answer: `hint` helps, `skip` shows one." or
      "This step waits for its code: type it, or `skip` has it run.", "warning")
    return
  end
  course:mark("done", "read")
  course:advance()
end

function run.back(course)
  if course.at == 1 then
    course:note "This is the first step."
    return
  end
  course:open(course.at - 1)
end

function run.hint(course)
  local step = course:step()
  local hints = type(step.hint) == "string" and { step.hint } or step.hint or {}
  if course.hints >= #hints then
    course:note(#hints == 0 and "There is no hint for this step." or "That was the last hint: `skip` shows an answer.")
    return
  end
  course.hints = course.hints + 1
  course:say(look.said(("Hint %d of %d:"):format(course.hints, #hints), "heading", hints[course.hints], course.paint))
end

function run.skip(course)
  course:skip()
end

function run.reset(course, argument)
  if argument == "lesson" then
    course:reset_lesson()
    return
  end
  course:reset()
  course:note "(as it was when this step began)"
end

function run.play(course)
  course:play()
  course:note "(a copy to try things in; `back` returns to the lesson, which stays as it is)"
end

function run.leave(course)
  local passed, count = look.count(course.lesson, course.record)
  course:note(('%d of %d steps; lesson "%s" goes on from here.'):format(passed, count, course.lesson.name))
  course:leave()
end

function run.where(course)
  course:say(look.where(course.lesson, course.record, course.at, course.paint))
end

run["goto"] = function(course, argument)
  local k = course:find(argument)
  if not k then
    course:note(("There is no step '%s'; `where` lists them."):format(argument), "warning")
    return
  end
  course:open(k)
end

run["repeat"] = function(course)
  course:show_step()
end

function run.help(course)
  course:say(look.prose(look.help, course.paint) .. "\n")
end

run.exit, run.quit = run.leave, run.leave

local takes = { reset = { lesson = true }, ["goto"] = "any" }
local playing = { leave = true, help = true, exit = true, quit = true }

-- In the sandbox only the ways out are commands.
local function run_playing(course, word)
  if word == "back" or word == "done" then
    course:stop_playing()
    course:note "(back in the lesson, as it was)"
    course:say(look.next_line(course:step(), course.paint))
  elseif word == "leave" then
    course:stop_playing()
    run.leave(course)
  elseif playing[word] then
    run[word](course)
  else
    course:note "You are playing; `back` returns to the lesson."
  end
end

-- The command that an entry is, with its argument: `hint`, `hint()`, `goto scale`, `reset "lesson"`.
local function parse(entry)
  local word, argument = entry:match "^%s*(%l+)%s*%(?%s*[\"']?([%w_-]*)[\"']?%s*%)?%s*;?%s*$"
  local known = word and (run[word] or word == "done")
  if not known then
    return nil
  elseif argument == "" then
    return takes[word] ~= "any" and word or nil
  end
  local allowed = takes[word]
  if allowed == "any" or allowed and allowed[argument] then
    return word, argument
  end
end

function commands.is_command(entry)
  return parse(entry) ~= nil
end

-- Whether the entry was a command, which is done then.
function commands.run(course, entry)
  if entry:match "^%s*$" then
    local step = course:step()
    if course.sandbox then return true end
    if (step.code or step.ask) and not course.record.done[step.id] then
      course:say(look.next_line(step, course.paint))
    else
      run.next(course)
    end
    return true
  end
  local word, argument = parse(entry)
  if not word or word == "done" and not course.sandbox then
    return false
  elseif course.sandbox then
    run_playing(course, word)
  else
    run[word](course, argument)
  end
  return true
end

return commands
