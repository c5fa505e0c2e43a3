-- lesson.lua -- lesson() lists the lessons, lesson "name" takes one: at the prompt as a mode of it, elsewhere by reading stdin.
-- Depends on: penumbra.lesson.files, _code, _course, _live, _progress, _show, penumbra.colour; penumbra.prompt where it runs.
-- Used by: penumbra (pn.lesson).
local colour = require "penumbra.colour"
local code = require "penumbra.lesson.code"
local course = require "penumbra.lesson.course"
local files = require "penumbra.lesson.files"
local look = require "penumbra.lesson.show"
local progress = require "penumbra.lesson.progress"

local lesson = {}

local function say(text)
  io.write(text)
  io.stdout:flush()
end

-- Which lessons there are, and who keeps progress in them; penumbra.course.play puts those of a course here.
local shelf = {
  title = "Lessons", all = files.all, find = files.find,
  records = function() return progress.read(progress.path()) end,
  keeper = function() return progress.keeper(progress.path()) end,
}

function lesson.use(other)
  shelf = other
end

local function list()
  say(look.list(shelf.all(), shelf.records(), colour.paint, shelf.title))
end

-- The name of the first lesson after `which` that is not done.
local function after(which)
  local records = shelf.records()
  for _, other in ipairs(which.number and shelf.all() or {}) do
    local passed, count = look.count(other, records[other.name])
    if other.number > which.number and passed < count then
      return other.name
    end
  end
end

-- A lesson to be driven by calls of enter(): by its name, number, file or the table that its file returns.  options: path of the
-- progress file (none: nothing is kept).
function lesson.course(which, options)
  return course.new(type(which) == "table" and which or files.find(which), options)
end

-- Whether a text is only the beginning of an entry.
local function unfinished(text)
  local _, message = code.compile(text, {})
  return message ~= nil and message:find "<eof>$" ~= nil
end

-- A loop of its own, where no prompt of ours runs.
local function read_entries(taken)
  local some = false
  while not taken.finished do
    say(taken:prompt())
    local entry = io.read "l"
    while entry and unfinished(entry) and not taken:is_command(entry) do
      say "..> "
      local more = io.read "l"
      if not more then break end
      entry = entry .. "\n" .. more
    end
    if not entry then
      say(some and "\n" or "\nStandard input has ended.  To pipe the entries of a lesson in, run `penumbra -i`.\n")
      taken:command "leave"
    else
      some = true
      taken:type(entry)
    end
  end
end

-- The prompt, where one was opened.
local function prompt_here()
  local prompt = package.loaded["penumbra.prompt"]
  return type(prompt) == "table" and prompt.opened and prompt.terminal ~= nil and prompt or nil
end

-- The lesson's environment for the cells of a notebook.
local function open_notebook(which, options)
  local prompt = prompt_here()
  if type(options) ~= "table" or not options.notebook then
    error("lesson: in a notebook expected lesson(NAME, {notebook = true})", 0)
  elseif not prompt then
    error("lesson: {notebook = true} is for notebooks, and no notebook or prompt runs here", 0)
  end
  require "penumbra.lesson.live".open(files.find(which), prompt, open_notebook)
end

local function take(which, step)
  local modes = prompt_here()
  local options = { keeper = shelf.keeper(), write = say, paint = colour.paint, result = colour.result, next_lesson = after(which) }
  options.on_leave = modes and function() modes.pop_mode() end
  local taken = course.new(which, options)
  taken:start(step)
  if modes then
    modes.push_mode(taken:mode())
  else
    read_entries(taken)
  end
end

function lesson.run(...)
  local which, step = ...
  if select("#", ...) == 0 then
    list()
    return
  elseif type(step) == "table" then
    open_notebook(which, step)
    return
  elseif step ~= nil and type(step) ~= "string" then
    error(("lesson: expected the id of a step or {notebook = true}, got %s"):format(type(step)), 2)
  end
  take(shelf.find(which), step)
end

-- Check a lesson's file: true, or nil and all that is wrong with it.
function lesson.check(which)
  return require "penumbra.lesson.check".check(which)
end

-- Check it and play it with its right and its wrong answers: true, or nil and all that is wrong with it.
function lesson.try(which)
  return require "penumbra.lesson.check".try(which)
end

lesson.rows = {
  lesson = {
    signature = "pn.lesson(name, step)",
    doc = 'Take a lesson: lesson() lists them with your progress, lesson "gaussian" starts one or goes on where you left it, '
      .. 'lesson("gaussian", "scale") begins at a step, and a file\'s path takes a lesson of your own.  What is typed in a lesson '
      .. 'runs in an environment of its own; `help` there lists the commands.  Progress is kept in $PENUMBRA_PROGRESS or '
      .. '~/.local/share/penumbra/lessons.  `penumbra lesson export` makes notebooks and handouts; the notebooks begin with '
      .. 'lesson("gaussian", {notebook = true}), after which cells run in the lesson\'s environment in any order, and '
      .. 'lesson.check(), lesson.check(ID), lesson.hint(ID), lesson.skip(ID) and lesson.picture(ID) are there.  `penumbra course` '
      .. 'makes a course of lessons with deadlines, and grades what a class hands in.',
    reveals = "nothing", touches = "files, modules",
    kind = "function",
  },
}

return lesson
